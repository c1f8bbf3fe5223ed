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
same() { same_objects "$2" "$3" "$1" >diff.log 2>&1 || fail "$1 of $2 and $3: $(head -n 3 diff.log)"; }
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

# ---- what is made of ids fits it: a dictionary, co-occurrence counts, and a model that was trained on one of the two ----
small_resources
logged fits.log xlm_prep --like corpus.h5 --mono en=some.en --mono xx=text.xx --para en-xx=text.en,text.xx -o fits.h5
logged fits.log xlm_cooc fits.h5 --add cooc.h5 -o sum.h5
logged fits.log xlm_cooc corpus.h5,fits.h5 -o at-once.h5
for group in words cooccurrence by_language; do same /$group at-once.h5 sum.h5; done
{ cat job.conf; printf '\n[objective gc]\nstream = text\ncooccurrence = cooc.h5\n[objective align]\ndictionary = dict.h5\n'; } >fits.conf
logged fits.log xlm_train fits.conf --set train.corpus=fits.h5 --set train.output=fits --set train.steps=1
logged fits.log xlm_embed alignment fits/latest dict.h5 corpus.h5

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

# ---- text added to a corpus, with a new language and pairs that hold out some of its training text, as if prepared together ----
head -n 350 text.en >old.en
head -n 350 text.xx >old.xx
tail -n 250 text.en >new.en
{ head -n 100 text.en; tail -n 60 old.en; } >more.en
{ tail -n 100 text.xx; head -n 60 old.xx; } >more.xx
# Sentences that share a translation: where one is held out, the others are in neither split. None of them is in more.*.
sed -n 151,190p text.en >>old.en
for _ in {1..40}; do sed -n 150p text.xx; done >>old.xx
for l in en xx; do cat old.$l more.$l >both.$l; done
split=(--held-out 0.1 --seed 3)
logged old.log xlm_prep --like corpus.h5 --mono en=old.en --mono xx=old.xx --para en-xx=old.en,old.xx "${split[@]}" -o old.h5
logged together.log xlm_prep --like corpus.h5 --mono en=old.en,new.en --mono xx=old.xx --mono yy=text.yy \
    --para en-xx=both.en,both.xx "${split[@]}" -o together.h5
sum=$(sha256sum <old.h5)
for n in 1 3; do
    logged append.log ranks $n xlm_prep --append old.h5 --mono en=new.en --mono yy=text.yy --para xx-en=more.xx,more.en \
        -o appended-$n.h5
    for group in train vocabulary languages assigned; do same /$group together.h5 appended-$n.h5; done
    same /held_out appended-1.h5 appended-$n.h5
done
[ "$(numbers /assigned/left_out old.h5 | wc -l)" -ge 9 ] || fail "hardly a sentence of the old corpus is in neither split"
# What has been compared would have differed: h5diff ends with 0 for a text of another length.
other_objects old.h5 together.h5 /train/text/en/tokens || fail "texts of different lengths are taken for the same"
[ "$sum" = "$(sha256sum <old.h5)" ] || fail "the corpus to which text was added has changed"
grep -q 'old.h5: [1-9][0-9]* sentences of its training text are left out' append.log ||
    fail "nothing is left out: $(cat append.log)"
strings /inputs appended-1.h5 >inputs.txt
grep -q '^corpus.h5: ' inputs.txt && grep -q '^old.h5: ' inputs.txt && [ "$(grep -c '^old.en: ' inputs.txt)" -eq 2 ] &&
    h5dump -a /command appended-1.h5 | tr '\n' ' ' | grep -q 'like corpus.h5.*xlm_prep --append old.h5' ||
    fail "provenance: $(cat inputs.txt)"
# What is held out is held out together too, and the sentences of old.h5 come first; nothing of it is in the training text.
for file in old appended-1 together; do decode $file.h5 held_out en | tr -d ' ' >held-$file.txt; done
decode appended-1.h5 train en | tr -d ' ' | sort -u >train.txt
[ -z "$(sort -u held-appended-1.txt | comm -12 - train.txt)" ] || fail "held-out sentences are in the training text"
[ -z "$(sort -u held-together.txt | comm -13 - <(sort -u held-appended-1.txt))" ] && [ -s held-old.txt ] ||
    fail "sentences are held out that are not when all is prepared together"
[ -z "$(sort -u held-appended-1.txt | comm -13 - <(sort -u held-old.txt))" ] ||
    fail "held-out sentences of the old corpus are lost"
# Part of its text, prepared like it: what old.h5 holds out, or leaves out, is not learned from although its translations are not
# given. Another seed draws anew.
logged part.log xlm_prep --like old.h5 --mono en=old.en "${split[@]}" -o part.h5
for part in held_out train; do decode part.h5 $part en | tr -d ' ' | sort -u >part-$part.txt; done
cmp part-held_out.txt <(sort -u held-old.txt) || fail "what old.h5 holds out is not held out in part of its text"
cmp part-train.txt <(decode old.h5 train en | tr -d ' ' | sort -u) || fail "part of the text has other text to learn from"
logged part.log xlm_prep --like old.h5 --mono en=old.en --held-out 0.1 --seed 4 -o part.h5
logged part.log xlm_prep --like corpus.h5 --mono en=old.en --held-out 0.1 --seed 4 -o again.h5
for group in train held_out assigned; do same /$group again.h5 part.h5; done

only_in_check_all

# A synthetic language goes on.
logged made.log xlm_prep --like made.h5 --mono en=text.en,some.en --derive zz=en:$steps -o together.h5
logged made.log xlm_prep --append made.h5 --mono en=some.en --derive zz=en:$steps -o appended.h5
for group in train held_out vocabulary; do same /$group together.h5 appended.h5; done

# ---- options that cannot be combined with it ----
mkdir none
add=(xlm_prep --append old.h5 --mono en=new.en -o none/c.h5)
for option in --bpe=50 --codes=text.en --add-subwords=5 --words=space --lower; do
    refuse 64 "${option%%=*} cannot be combined with --append" "${add[@]}" $option
done
refuse 64 'seed=4: old.h5 was made with the seed 3' "${add[@]}" --seed 4
refuse 64 'held-out=0.2: old.h5 holds out a share of 0.1' "${add[@]}" --held-out 0.2
refuse 64 'each set a vocabulary' "${add[@]}" --like corpus.h5
refuse 64 'append makes a new corpus of old.h5' xlm_prep --append old.h5 --mono en=new.en --write-vocab none/v
refuse 64 'names of corpora have no commas' xlm_prep --append old.h5,made.h5 --mono en=new.en -o none/c.h5
expect 64 'old.h5: is both input and output' xlm_prep --append old.h5 --mono en=new.en -o old.h5
gzip -dc "$XLM_SOURCE/tests/cli/old_files/corpus.h5.gz" >earlier.h5
refuse 65 'earlier.h5: was made by an earlier version' xlm_prep --append earlier.h5 --mono en=new.en -o none/c.h5
head -c 9000 old.h5 >cut.h5
refuse 65 'cut.h5: ' xlm_prep --append cut.h5 --mono en=new.en -o none/c.h5
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

# ---- long sentences are copied a few at a time, in order: 4 Mi tokens, or one sentence ----
for i in {1..3}; do yes a | head -n 1500000 | tr '\n' ' ' && echo "abc $i"; done >long.en
for i in {1..20}; do echo "abc a $i"; done >short.en
tr a x <short.en >short.xx
old=(--mono en=short.en,long.en,short.en)
logged long.log xlm_prep --mono en=short.en --mono xx=short.xx --words space --bpe 3 "${split[@]}" -o short.h5
logged long.log xlm_prep --like short.h5 "${old[@]}" "${split[@]}" -o old.h5
logged long.log xlm_prep --like short.h5 "${old[@]},short.en" --para en-xx=short.en,short.xx "${split[@]}" -o together.h5
for n in 1 2; do
    logged long.log ranks $n xlm_prep --append old.h5 --mono en=short.en --para en-xx=short.en,short.xx -o appended.h5
    for group in train vocabulary; do same /$group together.h5 appended.h5; done
done
grep -q 'old.h5: [1-9][0-9]* sentences of its training text are left out' long.log || fail "none is left out: $(cat long.log)"
finish
