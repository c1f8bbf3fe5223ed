#!/usr/bin/env bash
# xlm-mpi: tokenizers with converted models: the files that transformers read, and what comes back of them alone.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
text=(--mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.1)
tiny=(--set model.layers=1 --set model.hidden_size=16 --set model.positions=48 --set model.language_embeddings=false)

# whole NAME FILE CLASS [SETTING...]: a model of NAME.h5, a corpus, becomes a directory with this file, for a tokenizer of this
# class; without our own file of the vocabulary it comes back with the same subwords, which cut text as before.
whole() {
    local name=$1 file=$2 class=$3
    shift 3
    logged train.log xlm_train job.conf "${tiny[@]}" "$@" --set train.corpus="$name.h5" --set train.steps=1 \
        --set "train.output=$name.run"
    logged "$name.export" xlm_convert "$name.run/latest" -o "$name.dir"
    [ -s "$name.dir/$file" ] || fail "$name: no $file: $(ls "$name.dir")"
    grep -q "\"tokenizer_class\": \"$class\"" "$name.dir/tokenizer_config.json" ||
        fail "$name: $(cat "$name.dir/tokenizer_config.json")"
    rm "$name.dir/xlm_vocabulary.h5"
    logged import.log xlm_convert "$name.dir" -o "$name.back.h5"
    cmp <(strings /vocabulary/words "$name.h5") <(strings /vocabulary/words "$name.back.h5") || fail "$name: other subwords"
    for special in bos pad eos unk mask; do
        [ "$(attribute /vocabulary/$special "$name.h5")" = "$(attribute /vocabulary/$special "$name.back.h5")" ] ||
            fail "$name: $special is $(attribute /vocabulary/$special "$name.back.h5")"
    done
    logged prep.log xlm_prep --like "$name.back.h5" "${text[@]}" -o "$name.again.h5"
    for split in train held_out; do
        same_objects "$name.h5" "$name.again.h5" /$split/text/en/tokens >diff.log 2>&1 ||
            fail "$name: $split: $(head -n 3 diff.log)"
    done
    logged "$name.twice" xlm_convert "$name.back.h5" -o "$name.dir2"
    cmp "$name.dir/$file" "$name.dir2/$file" || fail "$name: another $file the second time"
}

# tuned NAME SEPARATORS PAIR: NAME.run/latest, fine-tuned on pairs with so many separators, becomes the directory tuned, whose
# tokenizer.json has these ids in a sequence of two texts, or is not there.
awk 'NR <= 40 { print (/the/ ? "with" : "without") "\t" $0 "\t" $0 }' text.en >pairs.tsv
between_texts() { tr -d ' \n' | grep -o '"pair":.*"special_tokens"' | grep -o '"id":"[^"]*"' | paste -s -d ' '; }
tuned() {
    local expected=$3 found=
    rm -rf tuned tuned.run
    printf '[tune]\nmodel = %s.run/latest\nlength = 48\ntrain = pairs.tsv\ndev = pairs.tsv\n' "$1" >tune.conf
    printf 'language = en\noutput = tuned.run\nepochs = 1\n[task classification]\nhead = dense\nseparators = %s\n' "$2" >>tune.conf
    logged tune.log ranks 1 xlm_tune tune.conf
    logged tuned.export xlm_convert tuned.run/latest -o tuned
    [ ! -e tuned/tokenizer.json ] || found=$(between_texts <tuned/tokenizer.json)
    [ "$found" = "$expected" ] || fail "$1, $2 separators: $found"
}
one='"id":"<s>" "id":"A" "id":"</s>" "id":"B" "id":"</s>"'
two='"id":"<s>" "id":"A" "id":"</s>" "id":"</s>" "id":"B" "id":"</s>"'

# Our own numbers of subwords fit no class but tokenizer.json's.
logged unigram.log xlm_prep --unigram 60 "${text[@]}" -o own.h5 --write-codes own.model
whole own tokenizer.json PreTrainedTokenizerFast
grep -q '"type": "Unigram"' own.dir/tokenizer.json && grep -q '"precompiled_charsmap"' own.dir/tokenizer.json ||
    fail "tokenizer.json: $(head -c 500 own.dir/tokenizer.json)"
# Two texts have as many tokens between them as in training, or the card says what the class does.
tuned own 1 "$one"
! grep -q 'Between two texts' tuned/README.md || fail "one separator: $(cat tuned/README.md)"
tuned own 2 "$two"
! grep -q 'Between two texts' tuned/README.md || fail "two separators: $(cat tuned/README.md)"
# One that keeps spaces as they are, by a field of its normaliser, which is the last one: text with runs of them is cut alike.
plain=("${text[@]}")
sed 's/ sees/  sees/; s/ the/   the/' text.en >runs.en
text=(--mono en=runs.en --mono xx=text.xx --para en-xx=runs.en,text.xx --held-out 0.1)
mkdir kept
{ cat own.model; printf '\x1a\x02\x20\x00'; } >kept/spiece.model
logged prep.log xlm_prep --tokenizer kept "${text[@]}" -o kept.h5
[ "$(numbers /train/text/en/tokens kept.h5 | wc -l)" -gt "$(numbers /train/text/en/tokens own.h5 | wc -l)" ] ||
    fail "spaces are folded"
whole kept tokenizer.json PreTrainedTokenizerFast
text=("${plain[@]}")
# The same pieces merged in pairs, with a character map, as a field of the trainer says: transformers have no tokenizer for it, no
# file promises one, and the card does not load one.
mkdir paired
{ cat own.model; printf '\x12\x02\x18\x02'; } >paired/spiece.model
logged prep.log xlm_prep --tokenizer paired "${text[@]}" -o paired.h5
logged train.log xlm_train job.conf "${tiny[@]}" --set train.corpus=paired.h5 --set train.steps=1 --set train.output=paired.run
logged paired.export xlm_convert paired.run/latest -o paired.dir
[ -s paired.dir/sentencepiece.model ] && [ ! -e paired.dir/tokenizer_config.json ] && [ ! -e paired.dir/special_tokens_map.json ] &&
    grep -q 'give them the ids' paired.dir/README.md && ! grep -q AutoTokenizer paired.dir/README.md ||
    fail "byte pairs with a map: $(ls paired.dir; cat paired.dir/README.md)"
# A model whose first three pieces are special, as those of XLM-R: <unk>, <s>, </s>.
published_pieces own.model >three.model
mkdir xlmr albert
cp three.model xlmr/sentencepiece.bpe.model
printf '{"tokenizer_class": "XLMRobertaTokenizer"}' >xlmr/tokenizer_config.json
logged prep.log xlm_prep --tokenizer xlmr "${text[@]}" -o fairseq.h5
whole fairseq sentencepiece.bpe.model XLMRobertaTokenizer
cmp three.model fairseq.dir/sentencepiece.bpe.model || fail "sentencepiece.bpe.model is another one"
tuned fairseq 2 ''
! grep -q 'Between two texts' tuned/README.md || fail "XLM-R, two separators: $(cat tuned/README.md)"
tuned fairseq 1 ''
grep -q '^Between two texts the model was fine-tuned with one </s>, and XLMRobertaTokenizer puts two there\.$' tuned/README.md ||
    fail "XLM-R, one separator: $(cat tuned/README.md)"
# With XLM-R's tokenizer all tokens of two texts have the type 0, whatever types the model has, as multilingual MiniLM: the card of
# a model that was fine-tuned otherwise says so, and a published one gets the first type in its positions, and has no types.
logged train.log xlm_train job.conf "${tiny[@]}" --set train.corpus=fairseq.h5 --set train.steps=1 --set train.output=typed.run \
    --set model.token_types=true --set model.position_offset=0
tuned typed 2 ''
grep -q '^The second of two texts had tokens of type 1 .* XLMRobertaTokenizer gives all the type 0: set token_type_ids yourself' \
    tuned/README.md || fail "types: $(cat tuned/README.md)"
rm tuned/xlm_vocabulary.h5
logged typed.log xlm_convert tuned -o typed.tuned.h5
same_objects tuned.run/latest typed.tuned.h5 /model/embeddings >diff.log 2>&1 || fail "types of a task learned here: $(head -n 3 diff.log)"
logged typed.log xlm_convert typed.run/latest -o typed.dir
logged typed.log xlm_convert typed.dir -o typed.own.h5
same_objects typed.run/latest typed.own.h5 /model >diff.log 2>&1 || fail "our own types: $(head -n 3 diff.log)"
rm typed.dir/xlm_vocabulary.h5
logged typed.log xlm_convert typed.dir -o typed.h5
grep -q 'the tokenizer gives all tokens the type 0; the other type is left out' typed.log || fail "types: $(cat typed.log)"
in_model() { numbers "/model/embeddings/$1/weight" "$2"; }
[ "$(in_model token_type typed.own.h5 | wc -l)" -eq 32 ] && [ -z "$(in_model token_type typed.h5 2>/dev/null)" ] &&
    paste <(in_model position typed.own.h5) <(in_model position typed.h5) | awk -v types="$(in_model token_type typed.own.h5 | head -n 16 | paste -s)" '
        BEGIN { split(types, type) }
        { d = $1 + type[(NR - 1) % 16 + 1] - $2; bad = bad || d > 1e-6 || d < -1e-6 }
        END { exit bad || NR != 48 * 16 }' || fail "the first type is not in the positions"
# ALBERT's rules of text come back with its model.
cp three.model albert/spiece.model
printf '{"tokenizer_class": "AlbertTokenizer", "keep_accents": true}' >albert/tokenizer_config.json
logged prep.log xlm_prep --tokenizer albert "${text[@]}" -o albert.h5
whole albert spiece.model AlbertTokenizer --set model.position_offset=0 --set model.share_layers=true --set model.embedding_size=8
cmp three.model albert.dir/spiece.model || fail "spiece.model is another one"
grep -q '"do_lower_case": true' albert.dir/tokenizer_config.json &&
    grep -q '"keep_accents": true' albert.dir/tokenizer_config.json ||
    fail "rules: $(cat albert.dir/tokenizer_config.json)"
# With one more word, after the mask, it has other ids, and gets tokenizer.json, with these rules as steps; the card says so.
echo redhouse >word.txt
logged more.log xlm_convert albert.back.h5 --add-words word.txt -o more.h5
logged more.log xlm_convert more.h5 -o more
grep -q '"Lowercase"' more/tokenizer.json && ! grep -q '"NFKD"' more/tokenizer.json &&
    grep -q "ALBERT's fast kind" more/README.md ||
    fail "with a word more: $(ls more; head -c 600 more/tokenizer.json; cat more/README.md)"
# ALBERT's tokenizer.json alone: quotation marks, Form KD, marks, lower case, and then the map.
mkdir fast
quote='{"type": "Replace", "pattern": {"String": "%s"}, "content": "\\\\""}, '
steps=$(printf "$quote$quote" '``' "''")'{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"},'
sed "s/\"normalizers\": \[/& $steps/" own.dir/tokenizer.json >fast/tokenizer.json
printf '%s\n' 'THE  ``Rivér'"''"' ΣΑΣ हिन्दी' >marks.1
printf '%s\n' 'the "river" σασ हनद' >marks.2
for n in 1 2; do
    logged prep.log xlm_prep --tokenizer fast --mono en=marks.$n --held-out 0 -o marks.$n.h5
    numbers /train/text/en/tokens marks.$n.h5 >ids.$n
done
[ -s ids.1 ] && cmp ids.1 ids.2 || fail "ALBERT's tokenizer.json: $(paste -s ids.1) and $(paste -s ids.2)"
logged prep.log xlm_prep --tokenizer fast "${text[@]}" -o fast.h5
whole fast tokenizer.json PreTrainedTokenizerFast
grep -q '"StripAccents"' fast.dir/tokenizer.json && ! grep -q 'fast kind' fast.dir/README.md || fail "$(cat fast.dir/README.md)"
mkdir none
for change in 's/{"type": "StripAccents"}, //' 's/{"type": "NFKD"}/{"type": "NFC"}/' "s/, \"pattern\": {\"String\": \"''\"}//"; do
    rm -rf other
    mkdir other
    sed "$change" fast/tokenizer.json >other/tokenizer.json
    refuse 65 'other/tokenizer.json: its normalizer is neither' xlm_prep --tokenizer other "${text[@]}" -o none/c.h5
done
sed -i 's/"add_prefix_space": true/"add_prefix_space": false/' fast/tokenizer.json
refuse 65 'its pre_tokenizer is not' xlm_prep --tokenizer fast "${text[@]}" -o none/c.h5

# Our own BPE: tokenizer.json has a row for each text that merges make on the way to a subword, after the model's rows; with our
# file of the vocabulary the model comes back without these, and without it with them, and cuts text as that tokenizer does.
logged bpe.log xlm_prep --bpe 120 --lower "${text[@]}" -o bpe.h5
logged train.log xlm_train job.conf "${tiny[@]}" --set train.corpus=bpe.h5 --set train.steps=1 --set train.output=bpe.run
logged bpe.export xlm_convert bpe.run/latest -o bpe.dir
V=$(attribute /model/vocabulary bpe.run/latest)
R=$(sed -n 's/.*"vocab_size": \([0-9]*\).*/\1/p' bpe.dir/config.json)
[ "$R" -gt "$V" ] && grep -q "The last $((R - V)) subwords are made on the way" bpe.export &&
    grep -q "The last $((R - V)) subwords" bpe.dir/README.md || fail "bpe: $R rows of $V subwords: $(cat bpe.export)"
grep -q 'no tokenizer of the kind' bpe.export && fail "bpe: $(cat bpe.export)"
[ ! -e bpe.dir/merges.txt ] && grep -q PreTrainedTokenizerFast bpe.dir/tokenizer_config.json || fail "bpe: $(ls bpe.dir)"
# Words that ICU finds with dictionaries are told of for a language that is written so, and not where another quotes it.
{ cat text.en; yes '漢字 house .' | head -n 40; } >quoted.en
sed '/^\[stream pairs\]/,$d' job.conf >quoted.conf
printf '[objective mlm]\nstream = text\n' >>quoted.conf
for languages in en,fr en,zh; do
    logged prep.log xlm_prep --bpe 120 --mono en=quoted.en --mono "${languages#*,}=text.xx" --words icu -o quoted.h5
    strings /vocabulary/words quoted.h5 | grep -q 漢 || fail "no ideograph in the vocabulary"
    rm -rf quoted.run quoted.dir
    logged train.log xlm_train quoted.conf "${tiny[@]}" --set train.corpus=quoted.h5 --set train.steps=1 --set train.output=quoted.run
    logged "$languages.export" xlm_convert quoted.run/latest -o quoted.dir
done
grep -q "finds words by ICU's dictionaries" en,zh.export || fail "en,zh: $(cat en,zh.export)"
! grep -q "ICU's dictionaries" en,fr.export || fail "en,fr: $(cat en,fr.export)"
# With their marks: ids of all rows, ours first; both parts and the result of every merge are there.
sed -n '/"vocab": {/,/}/s/^ *"\(.*\)": \([0-9]*\),*$/\2 \1/p' bpe.dir/tokenizer.json | sort -n >bpe.ids
[ "$(cut -d' ' -f1 bpe.ids)" = "$(seq 0 $((R - 1)))" ] || fail "bpe: ids: $(head -n 3 bpe.ids)"
strings /vocabulary/words bpe.h5 | awk 'NR > 5 && !sub(/@@$/, "") { $0 = $0 "</w>" } { print NR - 1, $0 }' |
    cmp - <(head -n "$V" bpe.ids) || fail "bpe: other ids"
sed -n '/"merges": \[/,/\]/s/^ *"\([^ ]* [^ ]*\)",*$/\1/p' bpe.dir/tokenizer.json >bpe.merges
awk 'NR == FNR { id[$2] = $1; next } !($1 in id && $2 in id && $1 $2 in id) { bad = 1 } END { exit bad || FNR < 90 }' \
    bpe.ids bpe.merges || fail "bpe: a merge makes no token: $(head -n 3 bpe.merges)"
logged import.log xlm_convert bpe.dir -o bpe.back.h5
grep -q "^$((R - V)) rows of subwords that only tokenizer.json needs" import.log || fail "bpe: $(cat import.log)"
for group in /model /vocabulary /languages; do
    same_objects bpe.run/latest bpe.back.h5 $group >diff.log 2>&1 || fail "bpe, there and back: $group: $(head -n 3 diff.log)"
done
rm bpe.dir/xlm_vocabulary.h5
logged import.log xlm_convert bpe.dir -o bpe.all.h5
strings /vocabulary/words bpe.all.h5 | head -n "$V" | cmp - <(strings /vocabulary/words bpe.h5) &&
    [ "$(strings /vocabulary/words bpe.all.h5 | wc -l)" -eq "$R" ] || fail "bpe: subwords of tokenizer.json"
# A row is the mean of those of its parts, and is never guessed. Of one that a merge makes of two subwords:
awk -v v="$V" 'NR == FNR { id[$2] = $1; next }
    id[$1] < v && id[$2] < v && id[$1 $2] >= v { print id[$1], id[$2], id[$1 $2]; exit }' bpe.ids bpe.merges >bpe.three
row() { numbers /model/embeddings/word/weight bpe.all.h5 | sed -n "$((16 * $1 + 1)),$((16 * $1 + 16))p"; }
bias() { numbers /model/lm_head/bias bpe.all.h5 | sed -n "$(($1 + 1))p"; }
read -r left right both <bpe.three || fail "bpe: no row of two others"
paste <(row "$left"; bias "$left") <(row "$right"; bias "$right") <(row "$both"; bias "$both") |
    awk '{ d = ($1 + $2) / 2 - $3 - (NR == 17 ? 30 : 0); if (d * d > 1e-10) bad = 1 } END { exit bad || NR != 17 }' ||
    fail "bpe: row $both is not the mean of $left and $right"
logged prep.log xlm_prep --tokenizer bpe.dir "${text[@]}" -o bpe.again.h5
same_objects bpe.h5 bpe.again.h5 /train/text/en/tokens >diff.log 2>&1 || fail "bpe: $(head -n 3 diff.log)"
# Ids that the library tokenizers 0.23 gives with this file: words that the corpus does not have, marks of direction, ...
printf '%s\n' "The red-house, don't!" $'Th\u200fe \ufeffstu\u00addent\u00a0paints' 'redhouse seest quietly' 'U.S.A. 3.14 RÍVER' \
    'the. mountain_book' >known.en
logged prep.log xlm_prep --tokenizer bpe.dir --mono en=known.en --held-out 0 -o known.h5
numbers /train/text/en/tokens known.h5 | paste -s -d ' ' >known.ids
printf '%s ' '20 44 3 41 3 72 9 69 3 85 3' '20 27 15 58 14' '94 54 72 41 16 60 16 85 91 54 70 13 3' \
    '65 3 16 3 3 5 3 3 3 3 94 3 124 81' '20 5 117 69 3 37' | sed 's/ $/\n/' | cmp - known.ids || fail "bpe: $(cat known.ids)"
# Without the type of the model, as older versions of that library write it.
sed 's/"type": "BPE",//' bpe.dir/tokenizer.json >untyped.json
cmp -s bpe.dir/tokenizer.json untyped.json && fail "bpe: there is no type"
logged prep.log xlm_prep --tokenizer untyped.json --mono en=known.en --held-out 0 -o untyped.h5
numbers /train/text/en/tokens untyped.h5 | paste -s -d ' ' | cmp - known.ids || fail "bpe: other ids without a type"
sed -i 's/"type": "NFC"/"type": "NFKC"/' bpe.dir/tokenizer.json
refuse 65 'no tokenizer that is known: its model is BPE' xlm_prep --tokenizer bpe.dir "${text[@]}" -o none/c.h5

# Byte-level BPE: vocab.json and merges.txt as they came, and tokenizer.json; also where subwords are left out and words added.
mkdir bytes
{
    printf '{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, ".": 4, "\\u0120": 5, "he": 6, "\\u0120t": 7, "\\u0120the": 8'
    printf ', "er": 9, "ver": 10, "\\u0120p": 11, "in": 12, "ow": 13'
    n=14
    for letter in {a..z}; do printf ', "%s": %d' "$letter" $((n++)); done
    printf ', "<mask>": %d}\n' $n
} >bytes/vocab.json
printf '#version: 0.2\nh e\n\304\240 t\n\304\240t he\ne r\nv er\n\304\240 p\ni n\no w\n' >bytes/merges.txt
logged prep.log xlm_prep --tokenizer bytes "${text[@]}" -o bytes.h5
whole bytes tokenizer.json RobertaTokenizer
cmp bytes/merges.txt bytes.dir/merges.txt || fail "merges.txt is another one"
# A space before the mask belongs to it, and to no other special token.
[ "$(tr -d ' \n' <bytes.dir/tokenizer.json | grep -o '"content":"[^"]*","single_word":false,"lstrip":true')" = \
    '"content":"<mask>","single_word":false,"lstrip":true' ] || fail "lstrip: $(head -c 1500 bytes.dir/tokenizer.json)"
tuned bytes 2 "$two"
! grep -q 'Between two texts' tuned/README.md || fail "RoBERTa, two separators: $(cat tuned/README.md)"
tuned bytes 1 "$one"
grep -q 'and RobertaTokenizer puts two there in transformers 5\.$' tuned/README.md ||
    fail "RoBERTa, one separator: $(cat tuned/README.md)"
tokens() { tr -d ' \n{}' <"$1" | sed 's/Ġ/\\u0120/g; s/,"/\n"/g' | LC_ALL=C sort; }
cmp <(tokens bytes/vocab.json) <(tokens bytes.dir/vocab.json) || fail "vocab.json is another one"
rm bytes.dir/tokenizer.json
logged import.log xlm_convert bytes.dir -o bytes.text.h5
same_objects bytes.back.h5 bytes.text.h5 >diff.log 2>&1 || fail "vocab.json and merges.txt: $(head -n 3 diff.log)"
awk '!/[gpv]/' text.en | head -n 50 >few.en
logged prep.log xlm_prep --like bytes.run/latest --mono en=few.en --held-out 0 -o few.h5
printf ' %s\n' redhouse tree >words.txt
logged change.log xlm_convert bytes.run/latest --keep few.h5 -o small.h5
logged change.log xlm_convert small.h5 --add-words words.txt -o grown.h5
for name in small grown; do
    logged $name.export xlm_convert $name.h5 -o $name.dir
    grep -q 'no tokenizer of the kind' $name.export && fail "$name: $(cat $name.export)"
    rm $name.dir/xlm_vocabulary.h5
    logged import.log xlm_convert $name.dir -o $name.back.h5
    cmp <(strings /vocabulary/words $name.h5) <(strings /vocabulary/words $name.back.h5) || fail "$name: other subwords"
    same_objects $name.h5 $name.back.h5 /model/embeddings >diff.log 2>&1 || fail "$name: $(head -n 3 diff.log)"
    for part in h5 back.h5; do
        logged prep.log xlm_prep --like $name.$part --mono en=words.txt --mono xx=few.en --held-out 0 -o $name.$part.ids
        numbers /train/text/en/tokens $name.$part.ids
        numbers /train/text/xx/tokens $name.$part.ids
    done >$name.ids
    awk '{ a[NR] = $1 } END { for (i = 1; i <= NR / 2; i++) if (a[i] != a[i + NR / 2]) exit 1; exit NR < 100 }' $name.ids ||
        fail "$name: text is cut otherwise"
done
[ "$(numbers /train/text/en/tokens grown.h5.ids | wc -l)" -eq 2 ] || fail "added words are cut"

# With Form C and added tokens, as of the English ModernBERT: tokenizer.json alone, with the same tokens.
mkdir modern
{
    printf '{"added_tokens": ['
    n=1000
    for token in '    ' '  ' '|||ADDRESS|||' '[unused0]'; do
        printf '{"id": %d, "content": "%s", "single_word": false, "lstrip": false, "rstrip": false, ' $((n++)) "$token"
        printf '"normalized": true, "special": false}, '
    done
    for token in '<|end|>' '[UNK]' '[CLS]' '[SEP]' '[PAD]'; do
        printf '{"id": %d, "content": "%s", "lstrip": false, "normalized": false, "special": true}, ' $((n++)) "$token"
    done
    printf '{"id": %d, "content": "[MASK]", "lstrip": true, "normalized": false, "special": true}], ' $n
    printf '"normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true}, '
    printf '"model": {"type": "BPE", "vocab": {".": 0, "\\u0120": 1, "\\u0120\\u0120": 2, "he": 3, "\\u00c3": 4, "\\u00a9": 5'
    n=6
    for letter in {a..z}; do printf ', "%s": %d' "$letter" $((n++)); done
    printf '}, "merges": ["\\u0120 \\u0120", "h e"]}}\n'
} | sed "$(for i in {0..9}; do printf 's/"id": %d,/"id": %d,/;' $((1000 + i)) $((32 + i)); done)" >modern/tokenizer.json
spaced=(--mono en=spaced.en --mono xx=text.xx --para en-xx=spaced.en,text.xx --held-out 0.1)
sed 's/ sees/  sees/; s/ the/     the/; s/the old/|||ADDRESS|||[unused0]/; s/house/caf\xc3\xa9 cafe\xcc\x81/' text.en >spaced.en
logged prep.log xlm_prep --tokenizer modern "${spaced[@]}" -o modern.h5
text=("${spaced[@]}")
whole modern tokenizer.json PreTrainedTokenizerFast
[ ! -e modern.dir/vocab.json ] || fail "vocab.json has no Form C"
[ "$(attribute /vocabulary/format_version modern.h5)" = 4 ] && [ "$(attribute /vocabulary/bytes_form_c modern.h5)" = 1 ] ||
    fail "Form C is not in the file"
[ "$(strings /vocabulary/words modern.h5 | sed -n '33,36p' | tr '\n' ' ')" = '␣␣␣␣ ␣␣ |||ADDRESS||| [unused0] ' ] ||
    fail "added tokens: $(strings /vocabulary/words modern.h5 | tail -n 10)"
decode modern.h5 train en | tr ' ' '\n' >decoded
for subword in '␣␣␣␣' '␣␣' '|||ADDRESS|||' '[unused0]'; do
    grep -qxF "$subword" decoded || fail "the text has no $subword"
done
! grep -qxF 'ĠĠ' decoded && [ "$(grep -cxF 'Ã' decoded)" -eq "$(grep -cxF '©' decoded)" ] || fail "spaces or letters are cut"
added() { tr -d '\n' <"$1" | sed 's/.*"added_tokens": *\[//; s/\].*//' | grep -oE '"content": *"[^"]*"'; }
cmp <(added modern/tokenizer.json) <(added modern.dir/tokenizer.json) ||
    fail "other added tokens: $(added modern.dir/tokenizer.json)"
grep -q '"NFC"' modern.dir/tokenizer.json || fail "Form C is not written"
for change in 's/"  ", "single_word": false/"  ", "single_word": true/=`  ` is not special and has "single_word"' \
    's/"    "/"\\t "/=white space other than spaces' 's/"NFC"/"NFD"/=a normalizer other than NFC'; do
    mkdir -p other
    sed "${change%=*}" modern/tokenizer.json >other/tokenizer.json
    refuse 65 "other/tokenizer.json: .*${change##*=}" xlm_prep --tokenizer other "${text[@]}" -o none/c.h5
done
nothing_in none
finish
