#!/usr/bin/env bash
# xlm-mpi: corpora with the vocabulary of another one: the same ids, counts of their own, more languages and subwords.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# words FILE, codes FILE: of the vocabulary, a line each.
words() { strings /vocabulary/words "$1"; }
codes() { strings /vocabulary/codes "$1"; }
# same GROUP A B: the group of two files.
same() { h5diff "$2" "$3" "$1" "$1" >diff.log 2>&1 || fail "$1 of $2 and $3: $(head -n 3 diff.log)"; }
# counted FILE: the counts of the vocabulary are those of the text to train on.
counted() {
    local text
    for text in $(h5ls "$1/train/text" | cut -d' ' -f1); do numbers "/train/text/$text/tokens" "$1"; done | sort -n | uniq -c |
        awk '$2 > 4 { print $2, $1 }' >seen.txt
    numbers /vocabulary/counts "$1" | awk '$1 > 0 { print NR - 1, $1 }' | cmp - seen.txt ||
        fail "counts of $1 are not of its text"
}

# ---- the same text gives the same corpus, on any number of ranks ----
text=(--mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.1)
for n in 1 3; do
    logged like.log ranks $n xlm_prep --like corpus.h5 "${text[@]}" -o same-$n.h5
    for group in train held_out vocabulary languages; do same /$group corpus.h5 same-$n.h5; done
done
grep -q 'corpus.h5: .* SHA-256 '"$(sha256sum <corpus.h5 | cut -d' ' -f1)" <(strings /inputs same-1.h5) ||
    fail "inputs: $(strings /inputs same-1.h5)"

# ---- other text: ids stay, counts are its own, and the file can be read again ----
awk '/teacher/ && NR < 200 || /quiet river/' text.en >some.en
logged like.log xlm_prep --like corpus.h5 --mono en=some.en --held-out 0 -o some.h5
cmp <(words corpus.h5) <(words some.h5) && cmp <(codes corpus.h5) <(codes some.h5) || fail "another vocabulary"
cmp <(strings /languages corpus.h5) <(strings /languages some.h5) || fail "languages: $(strings /languages some.h5)"
counted some.h5
numbers /vocabulary/counts some.h5 | tail -n +6 | sort -c -n -r 2>/dev/null &&
    fail "the text is too much like the other to show an order"
cmp <(decode some.h5 train en) some.en || fail "the text of some.h5 is not what was given"
logged again.log xlm_prep --like some.h5 "${text[@]}" -o again.h5
for group in train held_out vocabulary; do same /$group corpus.h5 again.h5; done

# ---- a new language: unknown characters are reported; subwords may be appended ----
sed 's/y/ж/g; s/t/ŧ/g' text.xx >text.yy
new=(--mono yy=text.yy --mono en=some.en --held-out 0)
logged unknown.log xlm_prep --like corpus.h5 "${new[@]}" -o unknown.h5
cmp <(words corpus.h5) <(words unknown.h5) || fail "a new language changes the vocabulary"
[ "$(strings /languages unknown.h5 | tr '\n' ' ')" = 'en xx yy ' ] || fail "languages: $(strings /languages unknown.h5)"
awk '$1 == "yy" { exit !($7 + 0 > 10) }' unknown.log || fail "unknown characters are not reported: $(grep '^yy' unknown.log)"
size=$(words corpus.h5 | wc -l)
for n in 1 3; do
    logged added-$n.log ranks $n xlm_prep --like corpus.h5 "${new[@]}" --add-subwords 30 -o added-$n.h5
    for group in train vocabulary; do same /$group added-1.h5 added-$n.h5; done
done
cmp <(words corpus.h5) <(words added-1.h5 | head -n "$size") || fail "old ids have changed"
cmp <(codes corpus.h5) <(codes added-1.h5 | head -n "$(codes corpus.h5 | wc -l)") || fail "old codes have changed"
added=$(($(words added-1.h5 | wc -l) - size))
[ "$added" -gt 20 ] && [ "$added" -le 30 ] || fail "$added subwords added"
words added-1.h5 | tail -n +$((size + 1)) | grep -v '[жŧ]' | head -n 1 | grep -q . ||
    fail "nothing but words with new letters was added: $(words added-1.h5 | tail -n "$added" | tr '\n' ' ')"
awk '$1 == "yy" { exit !($7 == "0.000%") }' added-1.log || fail "characters were not added: $(grep '^yy' added-1.log)"
cmp <(decode added-1.h5 train yy) text.yy || fail "the text of yy is not what was given"
counted added-1.h5
# Fewer than there are unknown characters: the most frequent of them.
logged few.log xlm_prep --like corpus.h5 "${new[@]}" --add-subwords 1 -o few.h5
[ "$(words few.h5 | tail -n +$((size + 1)))" = 'ж@@' ] || fail "one subword: $(words few.h5 | tail -n +$((size + 1)))"

# ---- synthetic languages ----
steps=invert,transliterate
logged made.log xlm_prep --mono en=text.en --derive zz=en:$steps --words space --bpe 60 -o made.h5
logged made.log xlm_prep --like made.h5 --mono en=text.en --derive zz=en:$steps -o remade.h5
for group in train held_out vocabulary; do same /$group made.h5 remade.h5; done
logged made.log xlm_prep --like made.h5 --mono en=text.en --derive ww=en:invert -o more.h5
[ "$(strings /languages more.h5 | tr '\n' ' ')" = 'en zz ww ' ] && [ "$(attribute /vocabulary/made/ww/base more.h5)" = '"en"' ] ||
    fail "another synthetic language: $(h5dump -g /vocabulary/made more.h5 | head)"
cmp <(words made.h5) <(words more.h5) || fail "a synthetic language without letters of its own changes the vocabulary"

# ---- options that cannot be combined with it ----
mkdir none
like=(--like corpus.h5 --mono en=text.en -o none/c.h5)
for option in --bpe=50 --codes=text.en --vocab=text.en --min-count=2 --max-vocab=9 --shared=0.5 --words=icu --words=space \
    --lower; do
    refuse 64 "${option%%=*} cannot be combined with --like" xlm_prep "${like[@]}" $option
done
refuse 64 'alpha is for learning' xlm_prep "${like[@]}" --alpha 0.7
refuse 64 'add-subwords adds to' xlm_prep --mono en=text.en --bpe 50 --add-subwords 3 -o none/c.h5
refuse 64 'add-subwords=0' xlm_prep "${like[@]}" --add-subwords 0
refuse 64 'derive=zz=en:invert: in made.h5 it is zz=en:invert,transliterate' xlm_prep --like made.h5 --mono en=text.en \
    --derive zz=en:invert -o none/c.h5
refuse 64 'derive=vv=en:transliterate: .*no twins' xlm_prep --like made.h5 --mono en=text.en \
    --derive vv=en:transliterate -o none/c.h5
refuse 64 'text.xx: zz is a synthetic language in made.h5' xlm_prep --like made.h5 --mono zz=text.xx -o none/c.h5
refuse 64 'already' xlm_prep "${like[@]}" --derive xx=en:invert
refuse 66 'missing.h5: ' xlm_prep --like missing.h5 --mono en=text.en -o none/c.h5
refuse 65 'text.en: ' ranks 2 xlm_prep --like text.en --mono en=text.en -o none/c.h5
logged dict.log xlm_prep --like corpus.h5 --mono en=text.en -o both.h5
expect 64 'both.h5: is both input and output' xlm_prep --like both.h5 --mono en=text.en -o both.h5
finish
