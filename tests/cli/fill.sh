#!/usr/bin/env bash
# xlm-mpi: guesses of a trained model, and what xlm_fill says to wrong input. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
batches_of_eight
small_corpus
logged train.log ranks 2 xlm_train job.conf --set train.steps=250

# guesses FILE: the words guessed, one a line, of a sentence with one mask.
guesses() { awk 'NR > 1 { print $2 }' "$1"; }

# Every sentence ends in a full stop.
while IFS='|' read -r language sentence; do
    xlm_fill out/latest --language "$language" "$sentence" >fill.out 2>fill.err || fail "$sentence: $(cat fill.err)"
    [ "$(head -n 1 fill.out)" = "$sentence" ] || fail "the sentence is not shown: $(head -n 1 fill.out)"
    [ "$(guesses fill.out | head -n 1)" = . ] || fail "$sentence: $(cat fill.out)"
    awk 'NR > 1 { if (NF != 2 || $1 !~ /^[0-9.]+%$/ || (NR > 2 && $1 + 0 > before)) exit 1; before = $1 + 0 }
        END { if (NR != 6) exit 1 }' fill.out ||
        fail "not five guesses of falling probability: $(cat fill.out)"
done <<'SENTENCES'
en|old river paints quick river <mask>
en|the house sees the red window <mask>
xx|ryivyer fyinds ryivyer smyall <mask>
SENTENCES
# Within a sentence it is less likely.
xlm_fill out/latest -l en -k 1000 "old river <mask> quick river ." >all.out || fail "--top 1000"
[ "$(guesses all.out | head -n 1)" != . ] || fail "a full stop in the middle: $(head -n 6 all.out)"

# --top: so many, at most the vocabulary without its special tokens; the shares are those of a distribution.
vocabulary=$(attribute /model/vocabulary out/latest)
[ "$(guesses all.out | wc -l)" -eq $((vocabulary - 5)) ] || fail "--top 1000 shows $(guesses all.out | wc -l) of $vocabulary"
[ "$(guesses all.out | sort | uniq -d)" = "" ] && ! guesses all.out | grep -q '^<' || fail "twice, or special: $(cat all.out)"
awk 'NR > 1 { sum += $1 } END { exit !(sum > 97 && sum < 103) }' all.out || fail "shares do not add up to 1: $(cat all.out)"
[ "$(xlm_fill out/latest -l en --top 2 "old river <mask> quick river ." | sed 1d)" = "$(sed -n 2,3p all.out)" ] ||
    fail "--top 2 is not the beginning"

# Several masks, several sentences, and from standard input: empty lines are passed over, CR LF is an end of line.
xlm_fill out/latest -l en "the <mask> sees <mask> house <mask>" "<mask>" >two.out || fail "several masks"
grep -c '^ mask [123]$' two.out | grep -qx 3 && [ "$(wc -l <two.out)" -eq $((1 + 3 * 6 + 1 + 5)) ] ||
    fail "several masks: $(cat two.out)"
printf '\xef\xbb\xbfthe <mask> sees <mask> house <mask>\r\n\n<mask>' | xlm_fill out/latest -l en >stdin.out ||
    fail "from standard input"
cmp two.out stdin.out || fail "standard input and arguments differ"
# Through the link, from another directory, with more threads: the same.
(mkdir elsewhere && cd elsewhere &&
    OMP_NUM_THREADS=2 xlm_fill ../out/latest -l en "the <mask> sees <mask> house <mask>" "<mask>") >there.out
cmp two.out there.out || fail "two threads give other guesses"

# A model without language embeddings needs no language, and takes one.
logged plain.log xlm_train job.conf --set model.language_embeddings=false --set train.output=plain --set train.steps=1
xlm_fill plain/latest "the <mask> ." >plain.out && xlm_fill plain/latest -l xx "the <mask> ." | cmp - plain.out ||
    fail "a model without language embeddings"

fill() { xlm_fill out/latest --language en "$@"; }
expect 64 'a checkpoint is needed' xlm_fill
expect 64 'top=0: must be at least 1' fill --top 0 '<mask>'
expect 64 'top=many: must be an integer' fill --top many '<mask>'
expect 64 'no language "de"; it has en, xx' xlm_fill out/latest --language de '<mask>'
expect 64 'give --language (one of en, xx)' xlm_fill out/latest '<mask>'
expect 65 'sentence 2: there is no <mask> in "the house"' fill '<mask>' 'the house'
expect 65 'sentence 1: there is no <mask> in ""' fill ''
expect 64 'an argument is empty; give the name of a file' xlm_fill '' '<mask>'
expect 65 'sentence 1: byte 8: 0xff is not UTF-8' fill $'<mask> \377'
expect 65 'sentence 1: 102 subwords are too many for a model of 96 positions' fill "<mask>$(printf ' .%.0s' $(seq 99))"
from_input() { printf "$1" | fill; }
expect 65 'standard input:3: there is no <mask>' from_input '<mask>\n\nnone\n'
expect 65 'standard input:1: a byte of zero' from_input '<mask>\0'
from_directory() { fill <.; }
expect 74 'standard input: ' from_directory
if [ -c /dev/full ]; then
    to_full_disk() { fill '<mask>' >/dev/full; }
    expect 74 'standard output: No space left' to_full_disk
fi

expect 66 'missing.h5' xlm_fill missing.h5 -l en '<mask>'
expect 65 'not a checkpoint' xlm_fill corpus.h5 -l en '<mask>'
expect 65 'job.conf' xlm_fill job.conf -l en '<mask>'
cp out/latest cut.h5 && truncate -s 200000 cut.h5
expect 65 'cut.h5' xlm_fill cut.h5 -l en '<mask>'
# The weights of the embeddings are about a tenth of the numbers: some of many places that are damaged are among them, others
# belong to what xlm_fill does not read. It never answers otherwise than the whole file does.
size=$(stat -L -c %s out/latest)
fill 'old <mask> .' >good.out
seen=0
for place in $(seq 1 20); do
    cp out/latest flipped.h5
    printf '\252' | dd of=flipped.h5 bs=1 seek=$((size * place / 21)) conv=notrunc 2>/dev/null
    code=0
    xlm_fill flipped.h5 -l en 'old <mask> .' >flipped.out 2>flipped.err || code=$?
    case $code in
    0) cmp -s good.out flipped.out || fail "damage at $place/21 was not seen: $(cat flipped.out)" ;;
    65) grep -q '^xlm_fill: flipped.h5: ' flipped.err && seen=$((seen + 1)) || fail "damage at $place/21: $(cat flipped.err)" ;;
    *) fail "damage at $place/21: exit code $code: $(cat flipped.err)" ;;
    esac
done
[ $seen -ge 2 ] || fail "of 20 damaged files $seen were refused"
finish
