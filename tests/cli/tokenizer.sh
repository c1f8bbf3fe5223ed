#!/usr/bin/env bash
# xlm-mpi: corpora with the tokenizers that models are published with: ids as there, on any number of ranks, and what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
text=(--mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.1)

# same A B: the text and the vocabulary of two corpora.
same() {
    local group
    for group in train held_out vocabulary languages; do
        same_objects "$1" "$2" "/$group" >diff.log 2>&1 || fail "/$group of $1 and $2: $(head -n 3 diff.log)"
    done
}
# prepared NAME TOKENIZER: NAME.h5 is the same on 1 and 4 ranks, and made again like itself on 2.
prepared() {
    local n
    for n in 1 4; do logged "$1.$n.log" ranks $n xlm_prep --tokenizer "$2" "${text[@]}" -o "$1.$n.h5"; done
    same "$1.1.h5" "$1.4.h5"
    logged like.log ranks 2 xlm_prep --like "$1.1.h5" "${text[@]}" -o "$1.like.h5"
    same "$1.1.h5" "$1.like.h5"
    mv "$1.1.h5" "$1.h5"
}
# used NAME MASK: a model is trained on NAME.h5, fine-tuned, and aligns, fills and embeds words, alignment the same on 1 and 2
# ranks, and of the first also the model; its mask is called MASK.
used() {
    local n
    for n in 1 2; do
        if [ $n = 1 ] || [ "$1" = bert ]; then
            logged "$1.train.log" ranks $n xlm_train job.conf --set "train.corpus=$1.h5" --set train.steps=4 \
                --set "train.output=$1.run$n"
            logged "$1.tune.log" ranks $n xlm_tune tune.conf --set "tune.model=$1.run$n/latest" --set "tune.output=$1.tune$n"
        fi
        ranks $n xlm_align a.en a.xx --checkpoint "$1.run1/latest" -o "$1.$n.links" 2>align.log || fail "$1: $(cat align.log)"
    done
    logged align.log xlm_align a.en a.xx --words icu --checkpoint "$1.run1/latest" -o "$1.1.icu"
    cmp "$1.1.links" "$1.2.links" || fail "$1: other links on 2 ranks"
    if [ "$1" = bert ]; then
        same_bits bert.run1 bert.run2
        cmp <(rows bert.tune1) <(rows bert.tune2) || fail "bert: other numbers on 2 ranks"
    fi
    grep -q '6-6' "$1.1.links" && cmp "$1.1.links" "$1.1.icu" || fail "$1: links: $(head -n 3 "$1.1.links" "$1.1.icu")"
    xlm_fill "$1.run1/latest" -l en "the old <mask> sees the house ." >fill.out 2>&1 && [ "$(wc -l <fill.out)" -eq 6 ] ||
        fail "$1: $(cat fill.out)"
    xlm_fill "$1.run1/latest" -l en "the old $2 sees the house ." 2>&1 | cmp - fill.out && grep -qF "old $2 sees" fill.out ||
        fail "$1: a mask is called $2: $(cat fill.out)"
    logged embed.log xlm_embed export "$1.run1/latest" --words words.txt -l en -o "$1.vectors"
}
awk 'NF > 6' text.en | head -n 20 >a.en
awk 'NF > 6' text.xx | head -n 20 >a.xx
head -n 60 text.en | awk '{ for (i = 1; i <= NF; i++) print $i "\t" ($i == "." ? "STOP" : "WORD"); print "" }' >tags.tsv
printf '%s\n' house river old >words.txt
cat >tune.conf <<'JOB'
[tune]
model = out/latest
train = tags.tsv
dev = tags.tsv
language = en
output = tag
epochs = 1
batch = 16
length = 64

[task tagging]
JOB

# ---- WordPiece ----
mkdir bert none
{
    printf '%s\n' '[PAD]' '[unused1]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' .
    awk '{ for (i = 1; i < NF; i++) { print substr($i, 1, 3); if (length($i) > 3) print "##" substr($i, 4) } }' text.en text.xx |
        LC_ALL=C sort -u
} >bert/vocab.txt
prepared bert bert
cmp <(strings /vocabulary/words bert.h5) bert/vocab.txt || fail "ids are not those of vocab.txt"
for special in bos=3 pad=0 eos=4 unk=2 mask=5; do
    [ "$(attribute "/vocabulary/${special%=*}" bert.h5)" = "${special#*=}" ] || fail "$special"
done
grep -q 'bert/vocab.txt: .* SHA-256' <(strings /inputs bert.h5) || fail "inputs: $(strings /inputs bert.h5)"
[ "$(decode bert.h5 held_out en | sed 's/ ##//g')" = "$(xlm_prep --words space --bpe 9 "${text[@]}" -o bpe.h5 2>/dev/null
    decode bpe.h5 held_out en)" ] || fail "the text of bert.h5 is another one"
numbers /vocabulary/counts bert.h5 | tail -n +7 | grep -qx 0 && fail "a subword of the text is not counted"
used bert '[MASK]'
# The tokenizer as one file, and as tokenizer.json.
{
    printf '{"normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"},\n'
    printf '"model": {"type": "WordPiece", "vocab": {'
    awk '{ printf "%s\"%s\": %d", (NR > 1 ? ", " : ""), $0, NR - 1 } END { print "}}}" }' bert/vocab.txt
} >tokenizer.json
for file in bert/vocab.txt tokenizer.json; do
    logged file.log xlm_prep --tokenizer $file "${text[@]}" -o file.h5
    same bert.h5 file.h5
done
# Without a setting the log says that text is changed.
lower='text is made lower case and accents are removed, because there is no do_lower_case'
! grep -q "$lower" file.log || fail "tokenizer.json has the setting: $(cat file.log)"
logged file.log ranks 2 xlm_prep --tokenizer bert/vocab.txt "${text[@]}" -o file.h5
[ "$(grep -c "bert/vocab.txt: $lower" file.log)" -eq 1 ] || fail "nothing is said of lower case: $(cat file.log)"
cp -r bert cased && printf '{"do_lower_case": false}' >cased/tokenizer_config.json
logged file.log xlm_prep --tokenizer cased "${text[@]}" -o file.h5
! grep -q 'lower case' file.log || fail "lower case, with do_lower_case = false: $(cat file.log)"

# ---- SentencePiece: a unigram model is learned, the same on any number of ranks, and is a tokenizer for others ----
for n in 1 4; do
    logged unigram.$n.log ranks $n xlm_prep --unigram 50 "${text[@]}" -o unigram.$n.h5 --write-codes unigram.$n.model
    same unigram.1.h5 unigram.$n.h5
    cmp unigram.1.model unigram.$n.model || fail "another model on $n ranks"
done
cp unigram.1.h5 unigram.h5
[ "$(strings /vocabulary/words unigram.h5 | head -n 5 | tr '\n' ' ')" = '<s> <pad> </s> <unk> <mask> ' ] || fail "special tokens"
[ "$(strings /vocabulary/words unigram.h5 | wc -l)" -eq 55 ] || fail "not 50 subwords: $(cat unigram.1.log)"
strings /vocabulary/words unigram.h5 | grep -qx '▁qui' || fail "not learned: $(strings /vocabulary/words unigram.h5)"
numbers /vocabulary/counts unigram.h5 | awk '{ n += $1 } END { exit !(n > 5000) }' || fail "counts"
# A word of equal letters, for which the library alone takes minutes.
{ cat text.en; head -c 200000 /dev/zero | tr '\0' z; echo; } >stretched.en
logged stretched.log timeout 60 xlm_prep --mono en=stretched.en --unigram 50 --held-out 0 -o stretched.h5
awk '$1 == "en" { exit !($4 > 6000 && $4 < 8000) }' unigram.1.log || fail "words are not counted: $(cat unigram.1.log)"
used unigram '<mask>'
mkdir xlmr plain
cp unigram.1.model plain/spiece.model
cp unigram.1.model xlmr/sentencepiece.bpe.model
printf '{"tokenizer_class": "XLMRobertaTokenizer"}' >xlmr/tokenizer_config.json
prepared plain plain
[ "$(strings /vocabulary/words plain.h5 | head -n 1)" = '<unk>' ] || fail "ids are not those of the model"
logged like.log xlm_prep --like unigram.h5 "${text[@]}" -o like.h5
same unigram.h5 like.h5
logged like.log xlm_prep --tokenizer plain "${text[@]}" --write-codes again.model -o like.h5
cmp unigram.1.model again.model || fail "the model that was given is written as another one"
mkdir albert
cp unigram.1.model albert/spiece.model
printf '{"tokenizer_class": "AlbertTokenizer", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"}' \
    >albert/tokenizer_config.json
logged albert.log xlm_prep --tokenizer albert "${text[@]}" -o albert.h5
for given in '--tokenizer albert' '--like albert.h5' '--tokenizer bert'; do
    # shellcheck disable=SC2086 # options are words
    refuse 64 'write-codes: the segmenter of .*has rules' xlm_prep $given "${text[@]}" --write-codes none/codes -o none/c.h5
done
refuse 64 'its own rules' xlm_prep --unigram 50 --words icu "${text[@]}" -o none/c.h5
refuse 64 'choose subwords' xlm_prep --unigram 50 --min-count 2 "${text[@]}" -o none/c.h5
refuse 65 'cannot learn 3 subwords' ranks 2 xlm_prep --unigram 3 "${text[@]}" -o none/c.h5
refuse 65 'needs text that is segmented word by word' xlm_prep --unigram 50 --mono en=text.en --derive zz=en:invert -o none/c.h5
head -c 500 unigram.1.model >torn.model
refuse 65 'torn.model: byte ' xlm_prep --tokenizer torn.model "${text[@]}" -o none/c.h5
# The class may be in config.json, of a model of another type.
mkdir minilm
cp unigram.1.model minilm/sentencepiece.bpe.model
printf '{"model_type": "bert", "tokenizer_class": "XLMRobertaTokenizer"}' >minilm/config.json
logged minilm.log xlm_prep --tokenizer minilm "${text[@]}" -o minilm.h5
logged minilm.log xlm_prep --tokenizer xlmr "${text[@]}" -o xlmr.h5
same xlmr.h5 minilm.h5
refuse 65 'XLNetTokenizer changes text' eval "sed -i s/XLMRoberta/XLNet/ xlmr/tokenizer_config.json; xlm_prep --tokenizer xlmr \
    ${text[*]} -o none/c.h5"

# ---- byte-level BPE ----
mkdir bytes
{
    printf '{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, ".": 4, "\\u0120": 5, "he": 6, "\\u0120t": 7, "\\u0120the": 8'
    n=9
    for letter in {a..z}; do printf ', "%s": %d' $letter $((n++)); done
    printf ', "<mask>": %d}\n' $n
} >bytes/vocab.json
printf '#version: 0.2\nh e\n\304\240 t\n\304\240t he\n' >bytes/merges.txt
prepared bytes bytes
used bytes '<mask>'
# A word alone has the row that it has after other words, and is not its own neighbour; encoded, it is the first of its line.
echo the >the.txt
logged embed.log xlm_embed export bytes.run1/latest -l en -o rows.vectors
logged embed.log xlm_embed export bytes.run1/latest -l en --words the.txt -o the.vectors
cmp <(sed -n 's/^Ġthe //p' rows.vectors) <(sed -n 's/^the //p' the.vectors) || fail "bytes: the vector of another row"
xlm_embed neighbours bytes.run1/latest the -l en -k 0 -n 50 >near.out 2>embed.log
grep -qw he near.out && ! grep -q Ġthe near.out || fail "bytes: neighbours of another row: $(cat near.out)"
for what in text words; do logged embed.log xlm_embed export bytes.run1/latest -l en --$what the.txt --layer 1 -o the.$what.h5; done
same_objects the.text.h5 the.words.h5 /vectors >diff.log 2>&1 || fail "bytes: encoded in another way: $(head -n 3 diff.log)"
strings /vocabulary/words bytes.h5 | tail -n 1 | grep -qx '<mask>' || fail "the mask is not the last id"
logged all.log xlm_prep --tokenizer bytes --mono en=text.en --held-out 0 -o all.h5
decode all.h5 train en | sed 's/ //g; s/Ġ/ /g' | cmp - text.en || fail "the text of all.h5 is another one"
# Words that are given singly are those of the text.
head -n 20 text.en >few.txt
awk '{ for (i = 1; i <= NF; i++) printf "%d\t%s\t_\t_\t_\t_\t%d\t_\t_\t_\n", i, $i, i - 1; print "" }' few.txt >few.conllu
for form in txt conllu; do logged few.log xlm_prep --tokenizer bytes --mono en=few.$form --held-out 0 -o few.$form.h5; done
same_objects few.txt.h5 few.conllu.h5 /train >diff.log 2>&1 || fail "CoNLL-U is cut in another way: $(head -n 3 diff.log)"
# New pairs hold out sentences of a corpus to which they are added, whose text is compared in the letters of bytes.
head -n 300 text.en >old.en
for l in en xx; do head -n 100 text.$l >pairs.$l; done
logged old.log xlm_prep --tokenizer bytes --mono en=old.en --held-out 0.1 --seed 3 -o old.h5
logged added.log xlm_prep --append old.h5 --para xx-en=pairs.xx,pairs.en -o added.h5
logged together.log xlm_prep --like old.h5 --mono en=old.en --para xx-en=pairs.xx,pairs.en --held-out 0.1 --seed 3 -o together.h5
grep -q 'old.h5: [1-9][0-9]* sentences of its training text are left out' added.log || fail "nothing is left out: $(cat added.log)"
same_objects together.h5 added.h5 /train >diff.log 2>&1 || fail "text is added in another way: $(head -n 3 diff.log)"
# Tokens that were added and are not special: byte-level BPE finds them; of others a warning says once that they are not found, but
# not of words that text becomes.
for name in bytes bert; do cp -r $name $name.added; done
mkdir xlmr.added && cp plain/spiece.model xlmr.added/sentencepiece.bpe.model
sed 's/house/[E1]/' few.txt >marked.txt
for name in bytes bert xlmr; do
    logged added.log xlm_prep --tokenizer $name.added "${text[@]}" -o added.h5
    n=$(strings /vocabulary/words added.h5 | wc -l)
    echo "{\"[E1]\": $n, \"sees\": $((n + 1)), \"[E2]\": $((n + 2)), \"[S]\": $((n + 3))}" >$name.added/added_tokens.json
    echo '{"additional_special_tokens": ["[S]"]}' >$name.added/special_tokens_map.json
    # The library writes a run of unknown characters as one token.
    [ $name != xlmr ] || sed -i 's/"\[E1\]"/"red.house"/; s/"\[E2\]"/"hou.se"/' xlmr.added/added_tokens.json
    logged added.log ranks 2 xlm_prep --tokenizer $name.added --mono en=marked.txt --held-out 0 -o added.h5
    first=$(strings /vocabulary/words added.h5 | sed -n "$((n + 1))p")
    grep -q -F "{\"$first\": $n," $name.added/added_tokens.json || fail "$name: the added token is called $first"
    grep -o "warning: $name.added: .* added tokens.*are not found" added.log >warning
    [ "$(grep -c 'added tokens' added.log)" -eq "$(wc -l <warning)" ] || fail "added tokens: $(cat added.log)"
    case $name in
    bytes) [ ! -s warning ] && decode added.h5 train en | grep -q -F '[E1]' || fail "not found: $(cat warning)" ;;
    bert) [ "$(<warning)" = "warning: bert.added: 2 added tokens, the first of which is \`$first\`, are not found" ] ||
              fail "added tokens that are not found: $(cat added.log)" ;;
    xlmr) [ "$(<warning)" = "warning: xlmr.added: 3 added tokens, the first of which is \`$first\`, are not found" ] ||
              fail "added tokens that are not found: $(cat added.log)" ;;
    esac
done
echo 'a  b' >>bytes/merges.txt
refuse 65 'bytes/merges.txt:5: is not a merge' xlm_prep --tokenizer bytes "${text[@]}" -o none/c.h5

# ---- refused, with nothing written ----
refuse 66 'nowhere' xlm_prep --tokenizer nowhere "${text[@]}" -o none/c.h5
refuse 65 'none: no tokenizer that is known' xlm_prep --tokenizer none "${text[@]}" -o none/c.h5
refuse 64 'its own rules' xlm_prep --tokenizer bert --lower "${text[@]}" -o none/c.h5
refuse 64 'use one of them' xlm_prep --tokenizer bert --like bert.h5 "${text[@]}" -o none/c.h5
refuse 64 'cannot be combined with --tokenizer' xlm_prep --tokenizer bert --bpe 9 "${text[@]}" -o none/c.h5
refuse 64 'cannot continue learning' xlm_prep --tokenizer bert --add-subwords 9 "${text[@]}" -o none/c.h5
mkdir torn
head -c 40 tokenizer.json >torn/tokenizer.json
refuse 65 'torn/tokenizer.json:1: not JSON' xlm_prep --tokenizer torn "${text[@]}" -o none/c.h5
refuse 65 'torn/tokenizer.json:1: not JSON' ranks 2 xlm_prep --tokenizer torn "${text[@]}" -o none/c.h5
finish
