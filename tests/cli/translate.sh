#!/usr/bin/env bash
# xlm-mpi: text translated by a trained encoder and decoder, and what xlm_translate says to wrong input.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"

# A language of the same words in the same order with other letters: a model learns it in seconds.
sed 's/[aeiou]/y&/g' text.en >text.yy
tail -n 60 text.en >dev.en
tail -n 60 text.yy >dev.yy
xlm_prep --mono en=text.en --mono yy=text.yy --mono xx=text.xx --para en-yy=text.en,text.yy --words space --held-out 0.1 --bpe 120 \
    -o corpus.h5 >prep.log 2>&1 || { cat prep.log >&2; exit 99; }
cat >nmt.conf <<'JOB'
[model]
layers = 1
decoder_layers = 1
hidden_size = 64
attention_heads = 4
positions = 40
language_embeddings = true
dropout = 0
attention_dropout = 0
[train]
corpus = corpus.h5
output = out
steps = 500
learning_rate = 5e-3
warmup = 20
evaluate_every = 0
checkpoint_every = 0
[stream pairs]
type = parallel
form = bert
batch = 32
length = 40
[objective nmt]
plugin = seq2seq
stream = pairs
JOB
logged train.log xlm_train nmt.conf
[ -e out/latest ] || exit 1
translate() { xlm_translate out/latest --from en --to yy "$@"; }

# ---- it translates, in the order of the text, and links words ----
translate dev.en --alignment links >one.out 2>one.log || fail "$(cat one.log)"
right=$(paste -d'|' one.out dev.yy | awk -F'|' '$1 == $2 { n++ } END { print n + 0 }')
[ "$(wc -l <one.out)" -eq 60 ] && [ "$right" -ge 57 ] || fail "of 60 translations $right are right: $(head -n 5 one.out)"
grep -q '60 lines, 60 sentences, .* sentences/s, .* tokens/s' one.log || fail "no summary: $(cat one.log)"
grep -q warning one.log && fail "a warning: $(cat one.log)"
[ "$(wc -l <links)" -eq 60 ] || fail "$(wc -l <links) lines of links"
paste -d'|' dev.en links | awk -F'|' '{
        words = split($1, word, " "); n = split($2, link, " ")
        for (i = 1; i <= n; i++) {
            split(link[i], of, "-"); all++; same += of[1] == of[2]
            if (of[1] >= words || of[1] < before || (of[1] == before && i > 1 && of[2] <= last)) bad = 1
            before = of[1]; last = of[2]
        }
        before = last = 0
    } END { exit bad || all < 60 * 4 || same < 0.8 * all }' || fail "links of a copy are not i-i: $(head -n 3 links)"

# ---- the same bytes on any number of ranks, in any blocks and batches; files, gzip, standard input ----
best() { xlm_translate out/latest --from en --to yy --n-best 3 --scores --beam 4 "$@"; }
best dev.en --alignment links1 >best1.out 2>best.log || fail "$(cat best.log)"
head -n 25 dev.en | gzip >first.gz
tail -n +26 dev.en | sed 's/$/\r/' >rest # with CR LF
for n in 2 4; do
    logged "best$n.log" ranks $n xlm_translate out/latest --from en --to yy --n-best 3 --scores --beam 4 --batch-tokens 400 first.gz rest \
        -o "best$n.out" --alignment "links$n"
    cmp best1.out "best$n.out" || fail "translations on $n ranks differ"
    cmp links1 "links$n" || fail "links on $n ranks differ"
done
printf '\xef\xbb\xbf' | cat - dev.en | best --block 7 --batch-tokens 60 --threads 2 >block.out 2>block.log || fail "$(cat block.log)"
cmp best1.out block.out || fail "translations in blocks of 7 differ"
cut -f3 best1.out | awk 'NR % 3 == 1' | paste -d'|' - one.out | awk -F'|' '$1 != $2 { n++ } END { exit n > 5 }' || fail "the best are others"

# ---- n best: of each line, scores fall; they are log p / (n + 1)^A ----
awk -F'\t' '{ if ($1 == number && ($2 > score || seen[$1, $3])) bad = 1; if ($1 != number && $1 != number + 1) bad = 1
        number = $1; score = $2; seen[$1, $3] = 1 } END { exit bad || NR != 180 || number != 60 }' best1.out ||
    fail "not three of each line, the best first: $(head -n 4 best1.out)"
translate --beam 1 --scores --length-penalty 0 dev.en >sum.out 2>/dev/null
translate --beam 1 --scores dev.en >mean.out 2>/dev/null
paste sum.out mean.out | awk '$1 > $(NF / 2 + 1) + 0 { bad = 1 } END { exit bad }' || fail "a length penalty changes no score"

# ---- samples ----
sample() { xlm_translate out/latest --from en --to yy --sample --n-best 2 --temperature 3 "$@" 2>>sample.log; }
sample dev.en >sample.out
logged sample2.log ranks 2 xlm_translate out/latest --from en --to yy --sample --n-best 2 --temperature 3 --block 9 dev.en -o sample2.out
cmp sample.out sample2.out || fail "samples on 2 ranks differ"
sample --seed 2 dev.en | cmp -s sample.out - && fail "another seed gives the same samples"
awk -F'\t' '$1 == number && $2 != text { n++ } { number = $1; text = $2 } END { exit n < 20 }' sample.out || fail "samples of a line are the same"
translate --beam 1 dev.en >greedy.out 2>/dev/null
xlm_translate out/latest --from en --to yy --sample --top-k 1 dev.en 2>>sample.log | cmp greedy.out - || fail "--top-k 1 is not greedy search"

# ---- bfloat16: the same bytes on 2 ranks, about the same words ----
XLM_BF16_EMULATE=1 translate --precision=bfloat16 dev.en >half.out 2>half.log || fail "$(cat half.log)"
XLM_BF16_EMULATE=1 logged half2.log ranks 2 xlm_translate out/latest --from en --to yy --precision=bfloat16 --batch-tokens 300 dev.en -o half2.out
cmp half.out half2.out || fail "translations in bfloat16 on 2 ranks differ"
paste -d'|' half.out one.out | awk -F'|' '$1 == $2 { n++ } END { exit n < 50 }' || fail "bfloat16 gives other translations"

# ---- empty lines, unknown characters, long lines ----
printf '\nred house .\n \t\nthe river .' | translate --scores --alignment empty.links >empty.out 2>empty.log || fail "$(cat empty.log)"
[ "$(sed -n '1p;3p' empty.out | tr '\n' '|')" = "$(printf '0.000000\t|0.000000\t|')" ] && [ "$(wc -l <empty.out)" -eq 4 ] ||
    fail "empty lines: $(cat empty.out)"
[ "$(sed -n '1p;3p' empty.links | tr -d '\n')" = "" ] && [ "$(wc -l <empty.links)" -eq 4 ] || fail "links of empty lines: $(cat empty.links)"
: >nothing
[ "$(translate nothing 2>nothing.log)" = "" ] && grep -q '0 lines' nothing.log || fail "an empty file: $(cat nothing.log)"
echo 'red ÄÖÜ house .' | translate >/dev/null 2>unknown.log
grep -q 'warning: 3 of .* tokens of the text are unknown' unknown.log || fail "unknown tokens are not reported: $(cat unknown.log)"
# Three sentences together are too long; each is translated as by itself, with the number of its words in the line.
head -n 3 dev.en | sed 's/^./\U&/' >three
sed 's/ *$/ Red house ./' three | tr '\n' ' ' >joined
printf '%s\nred house .\n' "$(cat joined)" >long.en
cat > long.awk <<'AWK'
{ for (i = 1; i <= NF; i++) { line = line (line == "" ? "" : " ") $i; if ($i == ".") { print line; line = "" } } }
AWK
head -n 1 long.en | awk -f long.awk >sentences
translate sentences >sentences.out 2>/dev/null
translate long.en --alignment long.links >long.out 2>long.log || fail "$(cat long.log)"
[ "$(head -n 1 long.out)" = "$(tr '\n' ' ' <sentences.out | sed 's/ $//')" ] || fail "a long line: $(cat long.out) $(cat sentences.out)"
grep -q 'warning: 1 lines of more than 38 tokens were divided' long.log || fail "it does not say that a line was divided: $(cat long.log)"
words=$(head -n 1 long.en | wc -w)
head -n 1 long.links | tr ' ' '\n' | awk -F- -v words="$words" '$1 > 0.7 * words { n++ } $1 >= words { bad = 1 } END { exit bad || n < 3 }' ||
    fail "links of a long line: $(head -n 1 long.links)"
head -c 100000 </dev/zero | sed 's/\x0/red /g; s/^/the /' | cut -c 1-100000 >huge.en
expect 65 'huge.en:1: a sentence of .* subwords is too long for the model, which takes 38' translate huge.en -o huge.out
expect 65 'huge.en:1: a line of .* subwords is too long' translate huge.en --long-lines refuse -o huge.out
expect 65 'long.en:1: a sentence of .* which takes 3;' translate long.en --length 5 -o huge.out
[ ! -e huge.out ] || fail "a file was left"
translate huge.en --long-lines cut --beam 1 >huge.out 2>huge.log || fail "$(cat huge.log)"
[ "$(wc -l <huge.out)" -eq 1 ] && [ "$(wc -w <huge.out)" -gt 20000 ] || fail "a line of 100,000 characters: $(head -c 200 huge.out)"

# ---- languages ----
translate dev.en --to en >/dev/null 2>warn.log
grep -q 'warning: out/latest: its job does not train translation from en to en' warn.log || fail "no warning of a pair never trained: $(cat warn.log)"
xlm_translate out/latest --from yy --to en dev.yy >/dev/null 2>warn.log
grep -q 'does not train translation from yy to en' warn.log || fail "no warning of the other direction: $(cat warn.log)"
mv corpus.h5 away.h5
translate dev.en >/dev/null 2>warn.log
grep -q warning warn.log && fail "a warning without knowing: $(cat warn.log)"
mv away.h5 corpus.h5
expect 64 '--to=de: the model has no such language; it has en, yy, xx' xlm_translate out/latest --from en --to de dev.en
expect 64 'the model has language embeddings; give --from' xlm_translate out/latest --to yy dev.en

# ---- refused by name ----
expect 64 'a checkpoint is needed' xlm_translate
logged encoder.log xlm_train job.conf --set train.steps=1 --set train.output=encoder --set train.warmup=0
expect 65 'encoder/latest: the model has no decoder' xlm_translate encoder/latest --from en --to yy dev.en
expect 65 'not a checkpoint' xlm_translate corpus.h5 --from en --to yy dev.en
expect 66 'missing.en' ranks 2 xlm_translate out/latest --from en --to yy missing.en -o none.out
once 'missing.en'
printf 'red house .\nred \377 house .\n' >bytes.en
expect 65 'bytes.en:2: byte 5: not UTF-8' ranks 2 xlm_translate out/latest --from en --to yy bytes.en -o none.out
once 'bytes.en:2'
printf 'red\nho\0use\n' >zero.en
expect 65 'zero.en:2: a byte of zero' translate zero.en -o none.out
expect 73 'none/none.out' translate dev.en -o none/none.out
[ ! -e none.out ] || fail "a file was left"
expect 64 'a beam of 900 is larger than the vocabulary' translate --beam 900 dev.en
expect 64 '--beam=1001: must be 1 to 1000' translate --beam 1001 dev.en
expect 64 '3 translations of a sentence are more than the beam, 2' translate --beam 2 --n-best 3 dev.en
expect 64 '--beam and --early-stopping search' translate --sample --beam 2 dev.en
expect 64 'are for --sample' translate --top-k 2 dev.en
expect 64 'are for --alignment' translate --alignment-layer 1 dev.en
expect 64 'layer 2: the decoder has 1 layers' translate --alignment-layer 2 --alignment l dev.en
expect 64 '--max-length=1.5: must be two numbers' translate --max-length 1.5 dev.en
expect 64 '--long-lines=some: must be one of split, cut, refuse' translate --long-lines some dev.en
expect 64 '--length=41: the model of out/latest has 40 positions' translate --length 41 dev.en
expect 69 'takes about .* GiB on each rank, and .* GiB are free; lower --batch-tokens' translate --batch-tokens 2000000000 dev.en
if [ -c /dev/full ]; then
    to_full_disk() { translate dev.en >/dev/full; }
    expect 74 'standard output: No space left' to_full_disk
fi
translate --max-length 0,2 dev.en 2>/dev/null | awk 'NF > 2 { bad = 1 } END { exit bad || NR != 60 }' || fail "--max-length is not kept"
finish
