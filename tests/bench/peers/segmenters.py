#!/usr/bin/env python3
# xlm-mpi: xlm_prep --tokenizer against Debian's python3-sentencepiece, and WordPiece against its rules written once more.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   segmenters.py [TEXT...]        with xlm_prep and h5dump in PATH; works in a directory of its own
#
# Learns a unigram and a byte-pair model with the peer from the sentences below, in 13 scripts, and of TEXT, lays them out as
# XLM-R's directory and as they are, prepares the same text with xlm_prep, and compares all ids. The unigram model is also written as a
# tokenizer.json. For WordPiece, a vocabulary of the text's characters and short words; cased and uncased.
import base64, json, os, struct, subprocess, sys, tempfile, unicodedata

import h5py
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


def ids_of(corpus):
    with h5py.File(corpus) as f:
        group = f["/train/text/en"]
        tokens, offsets = group["tokens"][()], group["offsets"][()]
        return [tokens[a:b].tolist() for a, b in zip(offsets, offsets[1:])]


def prepare(directory, text, name):
    subprocess.run(["xlm_prep", "--tokenizer", directory, "--mono", "en=" + text, "--held-out", "0", "-o", name + ".h5"],
                   check=True, capture_output=True)
    return ids_of(name + ".h5")


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


def sentence_pieces(text, lines):
    good = True
    for kind, size in ("unigram", 700), ("bpe", 900):
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


def main():
    lines = list(SENTENCES)
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as f:
            lines += [line.rstrip("\n") for line in f if line.strip()]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        with open("text", "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        good = [word_pieces("text", lines), sentence_pieces("text", lines)]
    sys.exit(0 if all(good) else 1)


main()
