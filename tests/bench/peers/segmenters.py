#!/usr/bin/env python3
# xlm-mpi: xlm_prep --tokenizer against Debian's python3-sentencepiece, and WordPiece against its rules written once more.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   segmenters.py [TEXT...]        with xlm_prep and h5dump in PATH; works in a directory of its own
#
# Learns a unigram and a byte-pair model with the peer from the sentences below, in 13 scripts, and of TEXT, lays them out as
# XLM-R's directory and as they are, prepares the same text with xlm_prep, and compares all ids. The unigram model is also written
# as a tokenizer.json; ALBERT's rules go around others; both are also laid out as M2M100's, NLLB's and Marian's tokenizers. For
# WordPiece, a vocabulary of the text's characters and short words; cased and uncased. For XLM, Moses's rules as regular
# expressions, of five languages, a vocabulary of characters and pairs, and merges of the most frequent pairs.
import base64, collections, json, os, shutil, struct, subprocess, sys, tempfile, unicodedata

import h5py
import regex
import sentencepiece

SENTENCES = """The quick brown fox can't jump over 13 lazy dogs, it said: "No way…"
Die Straße über Äpfel führt zum Fuß des Hügels; ÜBERALL grünt's.
Η γρήγορη αλεπού πηδά πάνω από τον ΤΕΜΠΕΛΗ ΣΚΥΛΟ; ναι.
Быстрая лиса перепрыгнула через ленивую собаку, ёж удивился №5.
الثعلب البني السريع يقفز فوق الكلب الكسول، أليس كذلك؟ اَلْعَرَبِيَّةُ
השועל החום המהיר קופץ מעל הכלב העצלן, שָׁלוֹם־עולם.
तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है। नमस्ते दुनिया॥
สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ ภาษาไทยดีมาก
敏捷的棕色狐狸跳过了懒狗。我爱北京天安门，２０２４年！
素早い茶色の狐がのろまな犬を飛び越える。カタカナ、ﾊﾝｶｸ、ガギグ
빠른 갈색 여우가 게으른 개를 뛰어넘는다. 한국어 문장입니다!
სწრაფი ყავისფერი მელა ახტება ზარმაც ძაღლს, ქართული ენა.
Արագ շագանակագույն աղվեսը ցատկում է ծույլ շան վրայով։
வேகமான பழுப்பு நரி சோம்பேறி நாயின் மீது தாவுகிறது. தமிழ் மொழி
Ａｂｃ ﬁne ½ ™ \u200bzero\u00adwidth\u00a0space  two   spaces\u3000wide 😀 👍🏽 x² İstanbul
<s> </s> <mask> [MASK] ▁ a▁b ▁▁ ## _ -- ... !!! ab,cd (ef)""".split("\n")


QUOTES = """"Hello," he said. "It's Mr. Smith's dog..." No. 5, no. Art. 7 of pp. 3-4, etc. and so.
He said ``well'' and 'tis the '90s; 5,000 or a,b,c, 3, end, 10,
Sie sagte: \u201eNein.\u201d Er ging. "Ja," sagte er... z.B. 1\u00a0000 Euro.
\u00ab\u00a0Bonjour\u00a0\u00bb, dit-il, l'homme d'aujourd'hui n'est qu'un ( petit ) homme ; 50 % : oui !
U.S.A. is big. He's 5's of it' done.' 'x' rock'n'roll 's 12's '. "a"." b."  c
(a) b ) . c ( d ):e, a..b ...c.... d.. .e ' ' '' ''' ```` "", ,, , ,"
n\u00ba\u00a05 x\u2013y\u2014z \u2018a\u2019 \u201ab\u2019 \u00b4c\u00b4 25\u00a0cm 30\u00a0\u00baC The end.'""".split("\n")


def ids_of(corpus, language="en"):
    with h5py.File(corpus) as f:
        group = f["/train/text/" + language]
        tokens, offsets = group["tokens"][()], group["offsets"][()]
        return [tokens[a:b].tolist() for a, b in zip(offsets, offsets[1:])]


def prepare(directory, text, name, language="en"):
    subprocess.run(["xlm_prep", "--tokenizer", directory, "--mono", f"{language}={text}", "--held-out", "0", "-o", name + ".h5"],
                   check=True, capture_output=True)
    return ids_of(name + ".h5", language)


def compare(what, ours, theirs, lines):
    different = [i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b]
    print(f"{what}: {len(lines)} lines, {sum(map(len, theirs))} subwords, {len(different)} lines differ")
    for i in different[:3]:
        print("   ", repr(lines[i]), "\n    ours  ", ours[i], "\n    theirs", theirs[i])
    return not different and len(ours) == len(theirs) == len(lines)


def fairseq(i):
    return 3 if i == 0 else i + 1


def save(path, value):
    with open(path, "w") as f:
        json.dump(value, f)


def parse_fields(data):
    fields, at = [], 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            fields.append((tag >> 3, varint()))
        else:
            size = varint() if tag & 7 == 2 else 4 if tag & 7 == 5 else 8
            fields.append((tag >> 3, data[at:at + size]))
            at += size
    return fields


def tokenizer_json(model, path):
    """As the library tokenizers writes XLM-R's."""
    with open(model, "rb") as f:
        fields = parse_fields(f.read())
    pieces = [dict(parse_fields(v)) for n, v in fields if n == 1]
    charmap = dict(parse_fields(dict(fields)[3])).get(2, b"")
    vocabulary = [["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0]]
    vocabulary += [[p[1].decode(), struct.unpack("<f", p[2])[0]] for p in pieces[3:]] + [["<mask>", 0.0]]
    special = [0, 1, 2, 3, len(vocabulary) - 1]
    save(path, {"added_tokens": [{"id": i, "content": vocabulary[i][0], "special": True} for i in special],
                "normalizer": {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charmap).decode()},
                "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
                    {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}]},
                "model": {"type": "Unigram", "unk_id": 3, "vocab": vocabulary}})


def pieces_for(lines, size):
    """The size of a vocabulary of pieces, among which each character is one."""
    return max(size, 300 + len(set("".join(lines))))


def sentence_pieces(text, lines):
    good = True
    for kind, size in ("unigram", pieces_for(lines, 700)), ("bpe", pieces_for(lines, 900)):
        sentencepiece.SentencePieceTrainer.train(input=text, model_prefix=kind, model_type=kind, vocab_size=size,
                                                 hard_vocab_limit=False, character_coverage=0.99, minloglevel=2)
        peer = sentencepiece.SentencePieceProcessor(model_file=kind + ".model")
        os.makedirs(kind, exist_ok=True)
        os.replace(kind + ".model", kind + "/x.model")
        theirs = [peer.encode(line) for line in lines]
        good &= compare(kind + " as it is", prepare(kind, text, kind), theirs, lines)
        save(kind + "/tokenizer_config.json", {"tokenizer_class": "XLMRobertaTokenizer"})
        shifted = [[fairseq(i) for i in line] for line in theirs]
        good &= compare(kind + " as XLM-R", prepare(kind, text, kind), shifted, lines)
        if kind == "unigram":
            tokenizer_json(kind + "/x.model", "tokenizer.json")
            good &= compare("tokenizer.json", prepare("tokenizer.json", text, "json"), shifted, lines)
    return good & translators(text, lines)


def translators(text, lines):
    """The models above as the tokenizers of M2M100 (without every tenth piece, which is unknown), NLLB and Marian."""
    unigram, bpe = (sentencepiece.SentencePieceProcessor(model_file=kind + "/x.model") for kind in ("unigram", "bpe"))
    tokens = ["__de__", "__en__"], ["deu_Latn", "eng_Latn"]
    good = True
    for kind, languages in ("M2M100", tokens[0]), ("Nllb", tokens[1]):
        name, n = kind + ".dir", unigram.get_piece_size()
        os.makedirs(name, exist_ok=True)
        shutil.copy("unigram/x.model", name + "/sentencepiece.bpe.model")
        save(name + "/tokenizer_config.json", {"tokenizer_class": kind + "Tokenizer", "additional_special_tokens": languages})
        ids = {p: i for i, p in enumerate(["<s>", "<pad>", "</s>", "<unk>"] +
                                          [unigram.id_to_piece(i) for i in range(3, n) if kind == "Nllb" or i % 10])}
        if kind == "M2M100":
            save(name + "/vocab.json", ids)
        begin = [len(ids) + languages.index("__en__" if kind == "M2M100" else "eng_Latn")]
        theirs = [begin + [ids.get(p, 3) for p in unigram.encode(line, out_type=str)] for line in lines]
        good &= compare(kind, prepare(name, text, kind, "en" if kind == "M2M100" else "eng_Latn"), theirs, lines)
    os.makedirs("marian", exist_ok=True)
    ids = {p: i for i, p in enumerate(dict.fromkeys(
        ["</s>", "<unk>"] + [m.id_to_piece(i) for m in (unigram, bpe) for i in range(3, m.get_piece_size())] + ["<pad>"]))}
    save("marian/vocab.json", ids)
    save("marian/tokenizer_config.json", {"tokenizer_class": "MarianTokenizer", "source_lang": "en", "target_lang": "de"})
    shutil.copy("unigram/x.model", "marian/source.spm")
    shutil.copy("bpe/x.model", "marian/target.spm")
    for side, peer, language in ("source", unigram, "en"), ("target", bpe, "de"):
        theirs = [[ids.get(p, 1) for p in peer.encode(line, out_type=str)] for line in lines]
        good &= compare("Marian, " + side, prepare("marian", text, "marian-" + side, language), theirs, lines)
    return good


# ---- ALBERT's rules around SentencePiece ----

def albert_text(line, lower, keep_accents):
    line = " ".join(line.split()).replace("``", '"').replace("''", '"')
    if not keep_accents:
        line = "".join(c for c in unicodedata.normalize("NFKD", line) if unicodedata.combining(c) == 0)
    return line.lower() if lower else line


def albert_pieces(peer, line):
    out = []
    for piece in peer.encode(line, out_type=str):
        if not (piece.endswith(",") and piece[-2:-1].isdigit()):
            out.append(piece)
            continue
        parts = peer.encode(piece[:-1].replace("▁", ""), out_type=str)
        if not piece.startswith("▁") and parts[0].startswith("▁"):
            parts = [parts[0][1:]] * (parts[0] != "▁") + parts[1:]
        out += parts + [","]
    return [peer.piece_to_id(p) for p in out]


def albert_fast_text(line, lower, keep_accents):
    line = line.replace("``", '"').replace("''", '"')
    if not keep_accents:
        line = "".join(c for c in unicodedata.normalize("NFKD", line) if not unicodedata.category(c).startswith("M"))
    return " ".join("".join(c.lower() for c in line).split()) if lower else " ".join(line.split())


def put_fields(fields):
    """Strings and floats, as parse_fields gives them."""
    out = b""
    for number, value in fields:
        kind = 0 if isinstance(value, int) else 5 if isinstance(value, float) else 2
        out += varint(number << 3 | kind)
        out += varint(value) if kind == 0 else struct.pack("<f", value) if kind == 5 else varint(len(value)) + value
    return out


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def albert_fast(model, lower, keep, lines, name):
    """tokenizer.json alone, as transformers make it of spiece.model: a piece with a comma behind a digit has 100 less."""
    with open(model, "rb") as f:
        fields = parse_fields(f.read())
    out, vocabulary, special = b"", [], []
    for number, value in fields:
        if number == 1:
            p = dict(parse_fields(value))
            text, score, kind = p[1].decode(), struct.unpack("<f", p[2])[0], p.get(3, 1)
            score -= 100 if len(text) > 1 and text[-1] == "," and text[-2].isdigit() else 0
            special += [len(vocabulary)] * (kind in (2, 3))
            vocabulary.append([text, score])
            value = put_fields([(1, p[1]), (2, float(score)), (3, 1 if kind == 4 else kind)])
        if isinstance(value, bytes) and number in (1, 2, 3):
            out += put_fields([(number, value)])
    charmap = dict(parse_fields(dict(fields)[3])).get(2, b"")
    steps = [{"type": "Replace", "pattern": {"String": q}, "content": '"'} for q in ("``", "''")]
    steps += [] if keep else [{"type": "NFKD"}, {"type": "StripAccents"}]
    steps += [{"type": "Lowercase"}] if lower else []
    steps += [{"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charmap).decode()}]
    os.makedirs("fast", exist_ok=True)
    save("fast/tokenizer.json", {
        "added_tokens": [{"id": i, "content": vocabulary[i][0], "special": True} for i in special],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "WhitespaceSplit"}, {"type": "Metaspace", "replacement": "▁", "add_prefix_space": True}]},
        "model": {"type": "Unigram", "unk_id": 1, "vocab": vocabulary}})
    peer = sentencepiece.SentencePieceProcessor(model_proto=out)
    theirs = [peer.encode(albert_fast_text(line, lower, keep)) for line in lines]
    return compare(name + ", tokenizer.json", prepare("fast", "albert.txt", "fast"), theirs, lines)


def albert(lines):
    numbers = [f"in {i}, {i}{i},{i} or x{i}, and ²,{i * 7}, ``{i}'' ''é''" for i in range(60)]
    lines = lines + numbers
    with open("albert.txt", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    good = True
    for lower, keep in (True, False), (False, False), (True, True), (False, True):
        folded = [albert_text(line, lower, keep) for line in lines]
        with open("folded.txt", "w", encoding="utf-8") as f:
            f.write("\n".join(folded) + "\n")
        sentencepiece.SentencePieceTrainer.train(input="folded.txt", model_prefix="albert", minloglevel=2,
                                                 vocab_size=pieces_for(folded, 900),
                                                 hard_vocab_limit=False, user_defined_symbols=["9,", "12,", "x1,"],
                                                 control_symbols=["[CLS]", "[SEP]", "[MASK]"], pad_id=0, unk_id=1, bos_id=-1,
                                                 eos_id=-1)
        peer = sentencepiece.SentencePieceProcessor(model_file="albert.model")
        os.makedirs("albert", exist_ok=True)
        os.replace("albert.model", "albert/spiece.model")
        save("albert/config.json", {"model_type": "albert"})
        save("albert/tokenizer_config.json", {"do_lower_case": lower, "keep_accents": keep})
        theirs = [albert_pieces(peer, albert_text(line, lower, keep)) for line in lines]
        good &= compare(f"ALBERT, {'uncased' if lower else 'cased'}{', accents' * keep}",
                        prepare("albert", "albert.txt", "albert"), theirs, lines)
        good &= albert_fast("albert/spiece.model", lower, keep, lines,
                            f"ALBERT, {'uncased' if lower else 'cased'}{', accents' * keep}")
    return good


# ---- WordPiece by its rules ----

IDEOGRAPHS = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
              (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))


def words_of(line, lower):
    out = ""
    for c in line:
        if c in "\t\n\r " or unicodedata.category(c) == "Zs":
            out += " "
        elif c not in "\0\ufffd" and not unicodedata.category(c).startswith("C"):
            out += f" {c} " if any(a <= ord(c) <= b for a, b in IDEOGRAPHS) else c
    words = []
    for word in out.split():
        if lower:
            word = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if unicodedata.category(c) != "Mn")
        part = ""
        for c in word:
            if (c.isascii() and not c.isalnum()) or unicodedata.category(c).startswith("P"):
                words += [part] * bool(part) + [c]
                part = ""
            else:
                part += c
        words += [part] * bool(part)
    return words


def pieces_of(word, ids):
    out, at = [], 0
    while at < len(word) <= 100:
        for end in range(len(word), at, -1):
            piece = ("##" if at else "") + word[at:end]
            if piece in ids:
                out.append(ids[piece])
                break
        else:
            break
        at = end
    return out if at == len(word) else [ids["[UNK]"]]


def word_pieces(text, lines):
    good = True
    for lower in False, True:
        words = sorted({w for line in lines for w in words_of(line, lower)})
        known = words[::3] + sorted({"##" + w[i:j] for w in words[::2] for i in range(1, len(w)) for j in (i + 1, i + 3)})
        tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        tokens += sorted({c for w in words[::2] for c in w} | set(known))
        os.makedirs("bert", exist_ok=True)
        with open("bert/vocab.txt", "w") as f:
            f.write("\n".join(dict.fromkeys(tokens)) + "\n")
        save("bert/tokenizer_config.json", {"do_lower_case": lower})
        ids = {t: i for i, t in enumerate(dict.fromkeys(tokens))}
        theirs = [[i for w in words_of(line, lower) for i in pieces_of(w, ids)] for line in lines]
        good &= compare("WordPiece, " + ("uncased" if lower else "cased"), prepare("bert", text, "bert"), theirs, lines)
    return good


# ---- XLM by Moses's rules, as regular expressions one after another ----

MARKS = dict(zip("，、”“∶：？《》）！（；」「～’━〈〉【】％０１２３４５６７８９", ",,\"\"::?\"\")!(;\"\"~'-<>[]%0123456789"))
ABBREVIATIONS = {"Mr", "Mrs", "Dr", "Nr", "No #", "Art #", "pp #"}
# Letters: no ideographs, nor Hangul but in Korean, nor anything beyond U+FFFF; viramas and nuktas.
INDIC = "\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0bcd\u0c4d\u0cbc\u0ccd\u0d4d\u0dca"
LETTER = r"[[\p{Alphabetic}" + INDIC + r"]--[\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00010000-\U0010ffff]]"
DOTS = "\ue000\ue001"  # a full stop of several in a row, and the last one of them


def replace(text, *pairs):
    for pattern, by in pairs:
        text = regex.sub(pattern, by, text, flags=regex.V1)
    return text


def normalise_punctuation(text, language):
    text = replace("".join(MARKS.get(c, c) for c in text).replace("…", "..."), (r"[。．]\s*", ". "))
    text = replace(text, ("\r", ""), (r"\(", " ("), (r"\)", ") "), (" +", " "), (r"\) ([.!:?;,])", r")\1"), (r"\( ", "("),
                   (r" \)", ")"), (r"(\d) %", r"\1%"), (" :", ":"), (" ;", ";"), ("`", "'"), ("''", ' " '), ("[„“”]", '"'),
                   ("–", "-"), ("—", " - "), (" +", " "), ("[´‘‚’]", "'"), ("''", '"'))
    text = replace(text, ("\xa0«\xa0|«\xa0", '"'), ("«", '"'), ("\xa0»\xa0|\xa0»", '"'), ("»", '"'), ("\xa0([%:?!;])", r"\1"),
                   ("nº\xa0", "nº "), ("\xa0(ºC|cm)", r" \1"), (",\xa0", ", "), (" +", " "))
    if language == "en":
        text = replace(text, (r'"([,.]+)', r'\1"'))
    if language in ("de", "fr"):
        text = replace(text, (',"', '",'), (r'(\.+)"(\s*[^<])', r'"\1\2'))
    return replace(text, ("(\\d)\xa0(\\d)", r"\1,\2" if language in ("de", "fr") else r"\1.\2")).strip()


def keeps_full_stop(word, behind):
    return (("." in word and regex.search(LETTER, word, flags=regex.V1)) or word in ABBREVIATIONS or
            regex.match(r"\p{Lowercase}", behind) or (word + " #" in ABBREVIATIONS and regex.match("[0-9]", behind)))


def part_apostrophes(text, language, letter):
    a, other, neither = rf"[{letter}{DOTS}]", rf"[^{letter}{DOTS}]", rf"[^{letter}{DOTS}\p{{N}}]"
    if language == "en":
        return replace(text, (f"({other})'({other})", r"\1 ' \2"), (f"({neither})'({a})", r"\1 ' \2"),
                       (f"({a})'({other})", r"\1 ' \2"), (f"({a})'({a})", r"\1 '\2"), (r"(\p{N})'s", r"\1 's"))
    if language == "fr":
        return replace(text, (f"({other})'({other})", r"\1 ' \2"), (f"({other})'({a})", r"\1 ' \2"),
                       (f"({a})'({other})", r"\1 ' \2"), (f"({a})'({a})", r"\1' \2"))
    return text.replace("'", " ' ")


def moses(text, language):
    text = "".join(c for c in normalise_punctuation(text, language) if not unicodedata.category(c).startswith("C"))
    letter = LETTER if language != "ko" else LETTER.replace(r"\uac00-\ud7a3", "")
    text = replace(" ".join(text.split()), (rf"([^{letter}\p{{Nd}}\s.'`,\-])", r" \1 "))
    text = regex.sub(r"\.{2,}", lambda dots: f" {DOTS[0] * (len(dots[0]) - 1)}{DOTS[1]} ", text)
    text = replace(text, (r"([^\p{N}]),", r"\1 , "), (r",([^\p{N}])", r" , \1"), (r"(\p{N}),$", r"\1 , "))
    words = part_apostrophes(text, language, letter).split()
    text = " ".join(w[:-1] + " ." if len(w) > 1 and w[-1] == "." and not keeps_full_stop(w[:-1], b) else w
                    for w, b in zip(words, words[1:] + [""]))
    return replace(text, (r"\.'$", " . ' "), (f"[{DOTS}]", ".")).split()


def strip_accents(words):
    text = unicodedata.normalize("NFD", " ".join(words).lower())
    return "".join(c for c in text if unicodedata.category(c) != "Mn").lower().split()


def merge(word, ranks):
    symbols = list(word[:-1]) + [word[-1] + "</w>"]
    while len(symbols) > 1:
        best = min(zip(symbols, symbols[1:]), key=lambda pair: ranks.get(pair, len(ranks)))
        if best not in ranks:
            break
        at = 0
        while at + 1 < len(symbols):
            if (symbols[at], symbols[at + 1]) == best:
                symbols[at:at + 2] = ["".join(best)]
            at += 1
    return symbols


def xlm_pieces(lines):
    good = True
    lines = lines + QUOTES
    with open("xlm.txt", "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")
    for language, lower in ("en", False), ("en", True), ("de", False), ("fr", False), ("ko", False), ("ru", True):
        words = [moses(line, language) for line in lines]
        if lower:
            words = [strip_accents(w) for w in words]
        pairs = collections.Counter(p for line in words for w in line for p in zip(w, list(w[1:-1]) + [w[-1] + "</w>"]))
        ranks = {p: i for i, (p, n) in enumerate(sorted(pairs.items(), key=lambda x: (-x[1], x[0]))[:300])}
        tokens = ["<s>", "</s>", "<pad>", "<unk>"] + [f"<special{i}>" for i in range(10)]
        characters = sorted({c for line in words for w in line for c in w})
        tokens += list(dict.fromkeys(["".join(p) for p in list(ranks)[::2]] + characters + [c + "</w>" for c in characters[::2]]))
        os.makedirs("xlm", exist_ok=True)
        save("xlm/vocab.json", {t: i for i, t in enumerate(tokens)})
        save("xlm/tokenizer_config.json", {"tokenizer_class": "XLMTokenizer", "do_lowercase_and_remove_accent": lower})
        with open("xlm/merges.txt", "w", encoding="utf-8") as f:
            f.write("".join(f"{a} {b}\n" for a, b in ranks))
        with open("xlm/nonbreaking_prefix.en", "w") as f:
            f.write("".join(a.replace("#", "#NUMERIC_ONLY#") + "\n" for a in sorted(ABBREVIATIONS)))
        ids = {t: i for i, t in enumerate(tokens)}
        theirs = [[ids.get(s, ids["<unk>"]) for w in line for s in merge(w, ranks)] for line in words]
        good &= compare(f"XLM, {language}, {'uncased' if lower else 'cased'}", prepare("xlm", "xlm.txt", "xlm", language), theirs,
                        lines)
    return good


def main():
    lines = list(SENTENCES)
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            lines += [line.rstrip("\n") for line in f if line.strip()]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        with open("text", "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        good = [word_pieces("text", lines), sentence_pieces("text", lines), xlm_pieces(lines),
                albert(lines)]
    sys.exit(0 if all(good) else 1)


main()
