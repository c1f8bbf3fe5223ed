#!/usr/bin/env bash
# xlm-mpi: text translated by a trained encoder and decoder, and what xlm_translate says to wrong input.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

page=$XLM_SOURCE/docs/translation.md

# ---- the page: it translates, in the order of the text, and links words ----
pasted "$page" page page.log
awk '/^```/ { inside = !inside && $0 == "```text"; next } inside' "$page" | cmp - <(cd page && head -n 2 pairs.en pairs.de) ||
    fail "the text is not the page's: $(head -n 2 page/pairs.en page/pairs.de)"
right=$(paste -d'|' page/translated.de page/test.de | awk -F'|' '$1 == $2 { n++ } END { print n + 0 }')
[ "$right" -ge 90 ] && grep -q '^+ xlm_bleu translated.de test.de' page.log || fail "of 100 translations $right are right: $(head -n 5 page/translated.de)"
grep -q '100 lines, 100 sentences, .* sentences/s, .* tokens/s' page.log || fail "no summary: $(cat page.log)"
grep -q warning page.log && fail "a warning: $(grep warning page.log)"
[ "$(grep -cx 'the girl today paints the new picture \.' page.log)" -eq 1 ] || fail "the other direction: $(grep girl page.log)"
mv page/translator out
head -n 60 page/test.en >dev.en
translate() { xlm_translate out/latest --from en --to de "$@"; }
translate dev.en --alignment links >one.out 2>one.log || fail "$(cat one.log)"
head -n 60 page/translated.de | cmp - one.out || fail "the translations are not those of all 100 lines on 2 ranks"
[ "$(wc -l <links)" -eq 60 ] || fail "$(wc -l <links) lines of links"
paste -d'|' dev.en one.out links | awk -F'|' '{
        words = split($1, word, " "); others = split($2, other, " "); n = split($3, link, " ")
        before = last = -1
        for (i = 1; i <= n; i++) {
            split(link[i], of, "-"); all++; same += of[1] == of[2]
            if (of[1] >= words || of[2] >= others || of[1] < before || (of[1] == before && of[2] <= last)) bad = 1
            before = of[1]; last = of[2]
        }
    } END { exit bad || all < 60 * 4 || same < 0.65 * all }' || fail "most links are not i-i: $(head -n 3 links)"
translate dev.en --alignment-threshold 0.2 --alignment more >/dev/null 2>&1
[ "$(wc -w <more)" -gt "$(wc -w <links)" ] || fail "a threshold of 0.2 gives $(wc -w <more) links, and not more than $(wc -w <links)"

# ---- links by the encoder's states are those of xlm_align, also of several layers and translations a line ----
cp one.out dev.de
for method in ot argmax itermax; do
    translate dev.en --alignment-method $method --alignment $method.links >again.out 2>again.log || fail "$(cat again.log)"
    cmp one.out again.out || fail "translations are others with links by $method"
    logged align.log xlm_align dev.en dev.de --checkpoint out/latest --method $method --encode apart -o wanted.links
    cmp wanted.links $method.links || fail "links by $method differ from xlm_align's"
done
other_text ot.links argmax.links || fail "optimal transport and Argmax give the same links"
xlm_translate out/latest --from en --to de --n-best 2 dev.en --alignment-method itermax --alignment-layer 0 --batch-tokens 300 \
    --alignment two.links -o two.out 2>two.log || fail "$(cat two.log)"
cut -f2 two.out >two.de
cut -f1 two.out | while read -r line; do sed -n "${line}p" dev.en; done >two.en
logged align.log xlm_align two.en two.de --checkpoint out/latest --method itermax --encode apart --layer 0 -o wanted.links
cmp wanted.links two.links || fail "links of two translations a line by layer 0 differ from xlm_align's"

# ---- the same bytes on any number of ranks, in any blocks and batches; files, gzip, standard input ----
best() { xlm_translate out/latest --from en --to de --n-best 3 --scores --beam 4 "$@"; }
best dev.en --alignment links1 >best1.out 2>best.log || fail "$(cat best.log)"
head -n 25 dev.en | gzip >first.gz
tail -n +26 dev.en | sed 's/$/\r/' >rest # with CR LF
for n in 2 4; do
    logged "best$n.log" ranks $n xlm_translate out/latest --from en --to de --n-best 3 --scores --beam 4 --batch-tokens 400 first.gz rest \
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
# A penalty of 100 favours long translations so much that a search goes on to the maximum length, unless --early-stopping ends it at
# the first two that ended: those of a penalty of -100, with which nothing longer can be better.
two_best() { translate --beam 2 --n-best 2 --length-penalty "$@" < <(head -n 12 dev.en) 2>/dev/null | sort; }
two_best -100 >first.out
two_best 100 --early-stopping >early.out
two_best 100 >longest.out
same=$(comm -12 first.out early.out | wc -l)
[ "$(wc -l <first.out)" -eq 24 ] && [ "$same" -ge 20 ] ||
    fail "with --early-stopping $same of 24 are those that ended first: $(head -n 4 early.out)"
same=$(comm -12 first.out longest.out | wc -l)
[ "$same" -le 4 ] || fail "without --early-stopping $same of 24 are those that ended first"
translate --beam 1 --scores --length-penalty 0 dev.en >sum.out 2>/dev/null
translate --beam 1 --scores dev.en >mean.out 2>/dev/null
paste sum.out mean.out | awk '$1 > $(NF / 2 + 1) + 0 { bad = 1 } $1 < $(NF / 2 + 1) + 0 { n++ } END { exit bad || n == 0 }' || fail "a length penalty changes no score"

# ---- samples ----
sample() { xlm_translate out/latest --from en --to de --sample --n-best 2 --temperature 3 "$@" 2>>sample.log; }
sample dev.en >sample.out
sample --block 9 --batch-tokens 100 dev.en | cmp sample.out - || fail "samples in blocks of 9 differ"
other_text <(sample --seed 2 dev.en) sample.out || fail "another seed gives the same samples"
awk -F'\t' '$1 == number && $2 != text { n++ } { number = $1; text = $2 } END { exit n < 20 }' sample.out || fail "samples of a line are the same"
translate --beam 1 dev.en >greedy.out 2>/dev/null
xlm_translate out/latest --from en --to de --sample --top-k 1 dev.en 2>>sample.log | cmp greedy.out - || fail "--top-k 1 is not greedy search"

# ---- bfloat16: the same bytes in any batches, about the same words ----
XLM_BF16_EMULATE=1 translate --precision=bfloat16 dev.en >half.out 2>half.log || fail "$(cat half.log)"
XLM_BF16_EMULATE=1 translate --precision=bfloat16 --batch-tokens 300 dev.en 2>half.log | cmp half.out - ||
    fail "translations in bfloat16 in batches differ: $(cat half.log)"
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
translate sentences --length 40 >sentences.out 2>/dev/null
translate long.en --length 40 --alignment long.links >long.out 2>long.log || fail "$(cat long.log)"
[ "$(head -n 1 long.out)" = "$(tr '\n' ' ' <sentences.out | sed 's/ $//')" ] || fail "a long line: $(cat long.out) $(cat sentences.out)"
grep -q 'warning: 1 lines of more than 38 tokens were divided' long.log || fail "it does not say that a line was divided: $(cat long.log)"
words=$(head -n 1 long.en | wc -w)
head -n 1 long.links | tr ' ' '\n' | awk -F- -v words="$words" '$1 > 0.7 * words { n++ } $1 >= words { bad = 1 } END { exit bad || n < 3 }' ||
    fail "links of a long line: $(head -n 1 long.links)"
head -c 100000 </dev/zero | sed 's/\x0/red /g; s/^/the /' | cut -c 1-100000 >huge.en
expect 65 'huge.en:1: a sentence of .* subwords is too long for the model, which takes 38' translate huge.en --length 40 -o huge.out
expect 65 'huge.en:1: a line of .* subwords is too long' translate huge.en --length 40 --long-lines refuse -o huge.out
expect 65 'long.en:1: a sentence of .* which takes 3;' translate long.en --length 5 -o huge.out
[ ! -e huge.out ] || fail "a file was left"

only_in_check_all

# Nothing is translated before all lines of the files are known to be good.
cat dev.en huge.en >late.en
for n in 1 2; do
    expect 65 "late.en:$(($(wc -l <dev.en) + 1)): a sentence" ranks "$n" xlm_translate out/latest --from en --to de --block 1 dev.en late.en
    [ ! -s expect.out ] || fail "$n ranks translated before a line that is too long: $(head -n 2 expect.out)"
done
expect 66 'missing.en' translate --block 1 dev.en missing.en
[ ! -s expect.out ] || fail "translated before a file that is not there: $(head -n 2 expect.out)"
tar -cf late.tar late.en
expect 65 'late.en' translate --block 1 dev.en late.tar/late.en
[ ! -s expect.out ] || fail "translated before a member of an archive with a line that is too long: $(head -n 2 expect.out)"
# Standard input cannot be read twice; files beside it are looked through. A file that is called - is not it.
for n in 1 2; do
    expect 65 'late.en:' translate --block 1 - late.en < <(head -n 2 dev.en)
    [ ! -s expect.out ] || fail "translated before a line that is too long in a file beside standard input: $(head -n 2 expect.out)"
    : >-
done
expect 65 'standard input:2: a sentence' translate --block 1 < <(printf 'red house .\n%s\n' "$(cat huge.en)")
[ "$(wc -l <expect.out)" -eq 1 ] || fail "standard input: $(head -c 200 expect.out)"
rm ./-
# A block ends before --block lines when a line of it would begin after 16 MiB.
expect 65 'standard input:3: a byte of zero' translate --block 9 < <(printf '%9000000s\n%9000000s\n\0\n' '' '')
[ "$(wc -l <expect.out)" -eq 2 ] || fail "a large block: $(head -c 200 expect.out)"
translate huge.en --long-lines cut --length 40 --beam 1 >huge.out 2>huge.log || fail "$(cat huge.log)"
[ "$(wc -l <huge.out)" -eq 1 ] && [ "$(wc -w <huge.out)" -gt 20000 ] || fail "a line of 100,000 characters: $(head -c 200 huge.out)"

# ---- languages ----
[ "$(attribute /job/translations out/latest)" = '"en-de,de-en"' ] || fail "the checkpoint does not say what it translates"
xlm_translate out/latest --from en --to en dev.en >/dev/null 2>warn.log
grep -q 'warning: out/latest: .* not trained to translate en into en, only en-de,de-en' warn.log || fail "no warning of a pair: $(cat warn.log)"
# A model that was made of it says so too; of a mean with one that translates something else it is not known.
logged convert.log xlm_convert out/latest --keep page/corpus.h5 -o kept.h5
logged convert.log xlm_convert out/latest --average kept.h5 -o mean.h5
for model in kept mean; do
    xlm_translate $model.h5 --from en --to en dev.en >/dev/null 2>warn.log
    grep -q "warning: $model.h5: .* not trained to translate en into en, only en-de,de-en" warn.log ||
        fail "no warning of a pair, $model: $(cat warn.log)"
done
expect 64 '--to=fr: the model has no such language; it has en, de' xlm_translate out/latest --from en --to fr dev.en
expect 64 'the model has language embeddings; give --from' xlm_translate out/latest --to de dev.en

# ---- refused by name ----
expect 64 'a checkpoint is needed' xlm_translate
expect 64 'standard input, -, is named 2 times, but can be read once' translate - dev.en - <dev.en
expect 64 '--threads=1025: must be from 0 to 1024' translate --threads 1025 dev.en
small_corpus
logged encoder.log xlm_train job.conf --set train.steps=1 --set train.output=encoder --set train.warmup=0
expect 65 'encoder/latest: the model has no decoder' xlm_translate encoder/latest --from en --to xx dev.en
expect 65 'not a checkpoint' xlm_translate corpus.h5 --from en --to xx dev.en
expect 66 'missing.en' ranks 2 xlm_translate out/latest --from en --to de missing.en -o none.out
once 'missing.en'
printf 'red house .\nred \377 house .\n' >bytes.en
expect 65 'bytes.en:2: byte 5: not UTF-8' ranks 2 xlm_translate out/latest --from en --to de bytes.en -o none.out
once 'bytes.en:2'
printf 'red\nho\0use\n' >zero.en
expect 65 'zero.en:2: a byte of zero' translate zero.en -o none.out
expect 73 'none/none.out' translate dev.en -o none/none.out
[ ! -e none.out ] || fail "a file was left"
# The directory of the translations goes meanwhile: the links do not stay unfinished.
mkdir gone
into_nothing() {
    {
        for _ in {1..600}; do [ -z "$(ls -A gone)" ] || break; sleep 0.1; done
        rm -r gone
        cat dev.en
    } | translate -o gone/none.out --alignment none.links
}
expect 73 'gone/none.out: cannot be written: No such file' into_nothing
[ -z "$(find . -name 'none.*')" ] || fail "left: $(ls)"
expect 64 'a beam of 900 is larger than the vocabulary' translate --beam 900 dev.en
expect 64 '--beam=1001: must be from 1 to 1000' translate --beam 1001 dev.en
expect 64 '3 translations of a sentence are more than the beam, 2' translate --beam 2 --n-best 3 dev.en
expect 64 '--beam and --early-stopping search' translate --sample --beam 2 dev.en
expect 64 'are for --sample' translate --top-k 2 dev.en
expect 64 'are for --alignment' translate --alignment-layer 1 dev.en
expect 64 'layer 2: the decoder has 1 layers' translate --alignment-layer 2 --alignment l dev.en
expect 64 'layer 9: the encoder has' translate --alignment-layer 9 --alignment-method ot --alignment l dev.en
expect 64 'is for --alignment-method=attention' translate --alignment-threshold 0.1 --alignment-method ot --alignment l dev.en
expect 64 'must be attention, ot, argmax or itermax' translate --alignment-method x --alignment l dev.en
expect 64 '--max-length=1.5: must be two numbers' translate --max-length 1.5 dev.en
expect 64 '--long-lines=some: must be split, cut or refuse' translate --long-lines some dev.en
expect 64 '--length=65: the model of out/latest has 64 positions' translate --length 65 dev.en
expect 69 'takes about .* GiB on each rank, and .* GiB are free; lower --batch-tokens' translate --batch-tokens 2000000000 dev.en
if [ -c /dev/full ]; then
    to_full_disk() { translate dev.en >/dev/full; }
    expect 74 'standard output: No space left' to_full_disk
fi
translate --max-length 0,2 dev.en 2>/dev/null | awk 'NF > 2 { bad = 1 } END { exit bad || NR != 60 }' || fail "--max-length is not kept"
finish
