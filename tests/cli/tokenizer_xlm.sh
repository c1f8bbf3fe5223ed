#!/usr/bin/env bash
# xlm-mpi: XLM's tokenizer: corpora on any number of ranks, models converted with it, and its files there and back.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# The merges and subwords of our BPE of the text, in XLM's files.
logged bpe.log xlm_prep --words space --bpe 60 --write-codes codes --write-vocab vocab --mono en=text.en --mono xx=text.xx \
    --held-out 0 -o bpe.h5
mkdir xlm
cp codes xlm/merges.txt
awk 'BEGIN { n = split("<s> </s> <pad> <unk> <special0> <special1> <special2>", special, " ")
             for (i = 1; i <= n; i++) printf "%s\"%s\": %d", (i > 1 ? ", " : "{"), special[i], i - 1 }
     { t = $1; if (!sub(/@@$/, "", t)) t = t "</w>"; if (!seen[t]++) printf ", \"%s\": %d", t, n++ }
     END { print "}" }' vocab <(printf '%s@@\n%s\n' {a..z}{,} 5 5 . . "'" "'") >xlm/vocab.json
printf '{"tokenizer_class": "XLMTokenizer", "do_lowercase_and_remove_accent": true, "cls_token": "</s>"}\n' \
    >xlm/tokenizer_config.json
printf 'Zq\nNr #NUMERIC_ONLY#\n' >xlm/nonbreaking_prefix.xx
text=(--mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.1)
for n in 1 2; do
    logged prep.log ranks $n xlm_prep --tokenizer xlm "${text[@]}" -o "xlm.$n.h5"
done
logged like.log ranks 2 xlm_prep --like xlm.1.h5 "${text[@]}" -o xlm.like.h5
for other in xlm.2.h5 xlm.like.h5; do
    for group in train held_out vocabulary languages; do
        same_objects xlm.1.h5 $other /$group >diff.log 2>&1 || fail "/$group of $other: $(head -n 3 diff.log)"
    done
done
cp xlm.1.h5 corpus.h5
[ "$(attribute /vocabulary/segmenter corpus.h5)" = '"bpe_xlm"' ] || fail "segmenter: $(attribute /vocabulary/segmenter corpus.h5)"
for special in bos=0 eos=1 pad=2 unk=3 mask=5; do
    [ "$(attribute "/vocabulary/${special%=*}" corpus.h5)" = "${special#*=}" ] || fail "$special"
done
strings /vocabulary/abbreviations corpus.h5 | grep -qx 'xx Zq' || fail "no abbreviations"

# Its words are those of the text, which has no marks but the full stop.
logged all.log xlm_prep --tokenizer xlm --mono en=text.en --held-out 0 -o all.h5
decode all.h5 train en | sed -e 's/<\/w>/#/g' -e 's/ //g' -e 's/#/ /g' -e 's/ *$//' | cmp - text.en || fail "the text is another one"
printf '%s\n' 'The Rivér. Zq. It'"'"'s Nr. 5 Nr. A' >marks
for language in en xx; do
    logged marks.log xlm_prep --tokenizer xlm --mono $language=marks --held-out 0 -o marks.h5
    decode marks.h5 train $language | sed -e 's/ //g' -e 's/<\/w>/ /g' >marks.$language
done
# A list of its own for xx, the one that is built in for en. Apostrophes, too, are of a language.
[ "$(cat marks.en)" = "the river . zq . it 's nr. 5 nr. a " ] || fail "en: $(cat marks.en)"
[ "$(cat marks.xx)" = "the river . zq. it ' s nr. 5 nr . a " ] || fail "xx: $(cat marks.xx)"

# A model with it, there and back: its files have the same tokens, merges and settings.
model=(--set model.layers=1 --set model.hidden_size=16 --set model.positions=48 --set model.head=xlm --set model.position_offset=0)
logged train.log ranks 2 xlm_train job.conf "${model[@]}" --set train.steps=5 --set train.output=run
logged export.log xlm_convert run/latest -o hf
cmp xlm/merges.txt hf/merges.txt || fail "merges.txt is another one"
cmp xlm/nonbreaking_prefix.xx hf/nonbreaking_prefix.xx || fail "nonbreaking_prefix.xx is another one"
tokens() { grep -o '"[^"]*": *[0-9]*' "$1" | sort; }
cmp <(tokens xlm/vocab.json) <(tokens hf/vocab.json) || fail "vocab.json is another one"
grep -q '"tokenizer_class": "XLMTokenizer"' hf/tokenizer_config.json &&
    grep -q '"do_lowercase_and_remove_accent": true' hf/tokenizer_config.json &&
    grep -q '"mask_token": "<special1>"' hf/tokenizer_config.json && grep -q '"lang2id": {' hf/tokenizer_config.json ||
    fail "tokenizer_config.json: $(cat hf/tokenizer_config.json)"
grep -q sacremoses hf/README.md || fail "card: $(cat hf/README.md)"
# As it would be published: without our file.
rm hf/xlm_vocabulary.h5
logged import.log xlm_convert hf -o back.h5
same_objects run/latest back.h5 /model >diff.log 2>&1 || fail "model: $(head -n 3 diff.log)"
[ "$(strings /vocabulary/words back.h5)" = "$(strings /vocabulary/words corpus.h5)" ] &&
    [ "$(strings /languages back.h5)" = "$(strings /languages corpus.h5)" ] || fail "words or languages are others"
logged again.log xlm_convert back.h5 -o hf2
for file in merges.txt vocab.json tokenizer_config.json special_tokens_map.json config.json model.safetensors; do
    cmp hf/$file hf2/$file || fail "$file is another one the second time"
done
logged prep.log xlm_prep --like back.h5 "${text[@]}" -o back.corpus.h5
same_objects corpus.h5 back.corpus.h5 /train >diff.log 2>&1 || fail "text by the model that came back: $(head -n 3 diff.log)"

# Refused.
mkdir none
sed -i s/XLMTokenizer/OpenAIGPTTokenizer/ xlm/tokenizer_config.json
refuse 65 'a OpenAIGPTTokenizer finds words by rules of its own' xlm_prep --tokenizer xlm "${text[@]}" -o none/c.h5
rm xlm/tokenizer_config.json
echo 'a b' >>xlm/merges.txt
refuse 65 'merges.txt:61: has no count' ranks 2 xlm_prep --tokenizer xlm "${text[@]}" -o none/c.h5
finish
