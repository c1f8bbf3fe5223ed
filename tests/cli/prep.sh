#!/usr/bin/env bash
# xlm-mpi: xlm_prep on any number of ranks: the same file, and in it the text that went in.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
for program in xz bzip2; do
    command -v $program >/dev/null || { echo "$program is missing (Debian/Ubuntu: xz-utils bzip2)" >&2; exit 99; }
done

# content FILE: the paths of every dataset but the list of inputs and what rules have left out, and a digest of them.
content() {
    h5ls -r "$1" | awk '$2 == "Dataset" && $1 != "/inputs" && $1 !~ "^/filter/" { print $1 }' >paths
    cat paths
    # shellcheck disable=SC2046 # a path a word
    "$XLM_BUILD/tests/hdf5_digest" "$1" $(cat paths)
}
same_content() {
    content "$1" >content.1 && content "$2" >content.2 && [ "$(wc -l <content.1)" -gt 9 ] && cmp -s content.1 content.2 ||
        fail "$3: $1 and $2 differ: $(diff content.1 content.2)"
}

# ---- the text: enough lines for several blocks; lines that come twice, with several translations, and blank ones ----
awk '{ print; if (NR % 50 == 0) print ""; if (NR % 7 == 0) print "number", NR, "and", $1, "." }' text.en text.en text.en text.en \
    >mono.en
awk '{ print "x" NR % 900, $0 }' text.xx text.xx text.xx >mono.xx
paste -d '\t' text.en text.xx | awk -F '\t' -v OFS='\t' '
    { print $1, $2; if (NR % 5 == 0) print "old house .", $2; if (NR % 40 == 0) print "", "alone ." }' >pairs
cut -f 1 pairs >pairs.en; cut -f 2 pairs >pairs.xx
gzip -c mono.en >mono.en.gz
options=(--mono en=../mono.en --mono xx=../mono.xx --para xx-en=../pairs.xx,../pairs.en --words space --bpe 300 --held-out 0.1
    --write-codes codes --write-vocab vocab -o corpus.h5)

for n in 1 2 3 4; do
    mkdir $n
    (cd $n && ranks $n xlm_prep "${options[@]}" >log 2>&1) || { cat $n/log; fail "$n ranks: exit code"; finish; }
    [ "$(ls $n | sort | tr '\n' ' ')" = "codes corpus.h5 log vocab " ] || fail "$n ranks: also left $(ls $n)"
    same_objects 1/corpus.h5 $n/corpus.h5 || fail "$n ranks: another corpus"
    cmp 1/codes $n/codes && cmp 1/vocab $n/vocab || fail "$n ranks: other codes or vocabulary"
done
corpus=1/corpus.h5

# ---- what went in is there, in its order, once ----
for language in en xx; do
    for split in train held_out; do
        decode $corpus $split $language >$split.$language
        monolingual=$(attribute /$split/text/$language/monolingual_sentences $corpus)
        [ "$(attribute /$split/text/$language/sentences $corpus)" = "$(wc -l <$split.$language)" ] ||
            fail "$split $language: sentences"
        head -n "$monolingual" $split.$language >$split.mono.$language
    done
    [ -s held_out.mono.$language ] || fail "$language: nothing held out"
    # No sentence is in both parts, and none came from elsewhere.
    sort -u train.$language >a; sort -u held_out.$language >b
    [ -z "$(comm -12 a b)" ] || fail "$language: held out and trained on: $(comm -12 a b | head -3)"
    # Left out are blank lines and translations of held-out sentences.
    sort -u mono.$language pairs.$language | sed '/^$/d' | comm -23 - <(sort -u a b) >aside.$language
    grep -vxFf held_out.$language -e '' mono.$language | grep -vxFf aside.$language | cmp - train.mono.$language ||
        fail "$language: not the monolingual text in its order"
    grep -xFf held_out.$language mono.$language | cmp - held_out.mono.$language ||
        fail "$language: not the held-out text in its order"
done
# 1 sentence of 10, and their translations: drawn are those of a digest below the share, so the share is not exact.
awk -v held="$(sort -u mono.xx | grep -cxFf held_out.xx)" -v all="$(sort -u mono.xx | wc -l)" \
    'BEGIN { exit !(held > 0.05 * all && held < 0.25 * all) }' || fail "held out: far from the share"

# ---- pairs ----
for split in train held_out; do
    pairs_of "/$split/parallel/xx-en/links" $corpus | awk -v a=$split.xx -v b=$split.en '
        BEGIN { while ((getline line < a) > 0) x[n++] = line; while ((getline line < b) > 0) y[m++] = line }
        { print y[$2] "\t" x[$1] }' >$split.pairs
    [ "$(attribute /$split/parallel/xx-en/pairs $corpus)" = "$(wc -l <$split.pairs)" ] || fail "$split: number of pairs"
    [ -s $split.pairs ] || fail "$split: no pairs"
    grep -xFf $split.pairs pairs | cmp - $split.pairs || fail "$split: not the pairs in their order"
done
# Training has no translation of a held-out sentence, and every pair with both sides in training is there.
awk -F '\t' 'FILENAME ~ /^held/ { held[FILENAME, $0]; next } FILENAME ~ /^train/ { train[FILENAME, $0]; next }
    ($1 "" != "") && ((("held_out.en", $1) in held && ("train.xx", $2) in train) ||
        (("held_out.xx", $2) in held && ("train.en", $1) in train)) { print }' \
    held_out.en held_out.xx train.en train.xx pairs >leaks
[ ! -s leaks ] || fail "translations of held-out sentences in training: $(head -3 leaks)"
grep -v '^	' pairs | awk -F '\t' '
    FILENAME ~ /^aside.en/ { e[$0]; next } FILENAME ~ /^aside.xx/ { x[$0]; next } FILENAME ~ /^held/ { h[$0]; next }
    !($1 in e) && !($2 in x) && !($1 in h)' aside.en aside.xx held_out.en - | cmp - train.pairs ||
        fail "pairs are missing in training"

# ---- provenance ----
strings /inputs $corpus >inputs
for file in mono.en mono.xx pairs.xx pairs.en; do
    grep -q "^../$file: $(stat -c %s $file) bytes, $(wc -l <$file) lines, SHA-256 $(sha256sum <$file | cut -c 1-64)\$" inputs ||
        fail "provenance of $file: $(cat inputs)"
done
[ "$(attribute /command $corpus)" = "\"xlm_prep ${options[*]}\"" ] || fail "command: $(attribute /command $corpus)"
[ "$(attribute /seed $corpus)" = 0 ] || fail "seed"
# Every dataset says what it is.
h5ls -r $corpus | awk '$2 == "Dataset" { print $1 }' | while read -r path; do
    h5dump -a "$path/description" $corpus >/dev/null 2>&1 || echo "$path"
done >undescribed
[ ! -s undescribed ] || fail "no description: $(cat undescribed)"

# ---- other ways to the same corpus ----
prep() { ranks 2 xlm_prep "$@" >log 2>&1 || { cat log; fail "xlm_prep $*"; }; }
text=(--mono xx=mono.xx --para xx-en=pairs.xx,pairs.en --words space --held-out 0.1)
prep --mono en=mono.en "${text[@]}" --codes 1/codes --vocab 1/vocab -o given.h5
# The counts of a given vocabulary stay; those of --like are of the new text (tests/cli/prep_like.sh).
awk '{ print $1, $2 + 1000 }' 1/vocab >more.vocab
prep --mono en=mono.en "${text[@]}" --codes 1/codes --vocab more.vocab -o more.h5
numbers /vocabulary/counts given.h5 | awk '{ print ($1 > 0 ? $1 + 1000 : 0) }' >given.counts
numbers /vocabulary/counts more.h5 | cmp - given.counts &&
    h5dump -w 500 -a /vocabulary/counts/description more.h5 | grep -q 'of the corpus, or the number in the file of xlm_prep --vocab' ||
    fail "counts of a given vocabulary: $(numbers /vocabulary/counts more.h5 | paste -s -d ' ' | head -c 200)"
tar -cf pairs.tar pairs.xx pairs.en
prep --mono en=mono.en.gz --mono xx=mono.xx --para xx-en=pairs.tar/pairs.xx,pairs.tar/pairs.en --words space --held-out 0.1 \
    --codes 1/codes --write-vocab vocab.counted -o zipped.h5
cmp 1/vocab vocab.counted || fail "vocabulary counted with given codes"
same_content given.h5 zipped.h5 "compressed text and an archive"
# In members of JSON, of which one has two lines and one is null; and in fields.
grep -q '["\\]' mono.en && fail "mono.en has characters that JSON writes otherwise"
{ sed -n '1,2p' mono.en | paste -sd'|' | sed 's/|/\\n/'; echo; tail -n +3 mono.en; } |
    sed 's/.*/{"id": 1, "text": "&"}/; 2s/.*/{"text": null}/' >mono.jsonl
paste pairs.xx pairs.en >pairs.tsv
prep --mono en=jsonl:text:mono.jsonl --mono xx=lines:mono.xx --para xx-en=tsv:1:pairs.tsv,tsv:2:pairs.tsv --words space \
    --held-out 0.1 --codes 1/codes --vocab 1/vocab -o fields.h5
same_content given.h5 fields.h5 "members and fields"
# A translation memory that lacks the empty sides, web pages in gzip of many members, and standard input, compressed.
grep -q '[<&]' pairs && fail "pairs have characters that XML writes otherwise"
awk -F '\t' '
    function variant(language, text) {
        if (NR % 9 == 0) sub(/ /, "\n", text)
        if (NR % 11 == 0) sub(/ /, " <ph>\\&lt;br\\&gt;</ph>", text)
        if (text != "") printf "<tuv xml:lang=\"%s\"><seg>%s</seg></tuv>", language, text
    }
    BEGIN { print "<?xml version=\"1.0\"?>\n<tmx version=\"1.4\"><header/><body>" }
    { printf "<tu>"; variant("EN-us", $1); variant("fr", "non"); variant("xx", $2); print "</tu>" }
    END { print "</body></tmx>" }' pairs >pairs.tmx
xz -k pairs.tmx
{ printf 'WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 6\r\n\r\nabc\nde\r\n\r\n' | gzip
    split -l 700 --filter='cat >page; printf "WARC/1.0\r\nWARC-Type: conversion\r\n" >record
        { printf "Content-Length: $(stat -c %s page)\r\n\r\n"; cat page; printf "\r\n\r\n"; } >>record; gzip <record' mono.en
} >mono.wet.gz
mkdir spool
bzip2 -k mono.xx
prep --mono en=wet:mono.wet.gz --mono xx=- --para xx-en=tmx:xx:pairs.tmx.xz,tmx:en:pairs.tmx.xz --scratch spool \
    --words space --held-out 0.1 --codes 1/codes --vocab 1/vocab -o unpacked.h5 <mono.xx.bz2
same_content given.h5 unpacked.h5 "WET, TMX and standard input"
nothing_in spool
grep -q "^pairs.tmx.xz: $(wc -l <pairs) translation units, $(grep -c '^	' pairs) of them without en\$" log ||
    fail "units: $(cat log)"
strings /inputs unpacked.h5 >inputs
read -r digest _ < <(sha256sum mono.xx.bz2)
grep -q "^standard input: $(stat -c %s mono.xx.bz2) bytes, $(wc -l <mono.xx) lines, SHA-256 $digest\$" inputs &&
    grep -q "^pairs.tmx.xz: [0-9]* bytes, $(wc -l <pairs) translation units, SHA-256" inputs &&
    grep -q "^mono.wet.gz: [0-9]* bytes, $(zcat mono.wet.gz | wc -l) lines, " inputs || fail "provenance: $(cat inputs)"
# Bad lines are left out with their translations, or made UTF-8.
broken() { sed "$1"'s/ /\xff /; '"$2"'s/^/\x00\xc3(/' "$3"; }
broken 5 700 mono.en >broken.en
broken 20 21 pairs.xx >broken.xx
sed '5d; 700d' mono.en >left.en
sed '20d; 21d' pairs.xx >left.xx
sed '20d; 21d' pairs.en >left.pairs.en
bad() { prep --mono en="$1" --mono xx=mono.xx --para "xx-en=$2" --words space --held-out 0.1 --codes 1/codes --vocab 1/vocab "${@:3}"; }
bad broken.en broken.xx,pairs.en --bad-lines skip -o skipped.h5
grep -q 'broken.en: bad lines: 2 left out, 0 repaired; the first is line 5$' log &&
    grep -q 'broken.xx, pairs.en: bad lines: 2 left out, 0 repaired; the first is line 20$' log || fail "bad lines: $(cat log)"
bad left.en left.xx,left.pairs.en -o left.h5
same_content left.h5 skipped.h5 "bad lines that are left out"
bad broken.en broken.xx,pairs.en --bad-lines repair -o repaired.h5
grep -q 'broken.en: bad lines: 0 left out, 2 repaired; the first is line 5$' log || fail "bad lines: $(cat log)"
ufffd=$'\xef\xbf\xbd'
for file in broken.en broken.xx; do sed "s/\xff/$ufffd/; s/\x00/$ufffd/; s/\xc3/$ufffd/" $file >whole.${file#*.}; done
bad whole.en whole.xx,pairs.en -o whole.h5
same_content whole.h5 repaired.h5 "bad lines that are repaired"
# So are lines with too few fields, wherever their last tab is; the line after them is not part of them.
address=$(printf '%0200d' 0)
paste pairs.xx pairs.en | awk -F '\t' -v OFS='\t' -v address="$address" 'NR == 20 { print address $1; next }
    NR == 21 { print address, address, $1; next } { print "u", "v", $1, $2 }' >table
for how in skip repair; do
    bad left.en tsv:3:table,tsv:4:table --bad-lines $how -o fields.h5
    grep -q 'table, .*table: bad lines: 2 left out, 0 repaired; the first is line 20$' log || fail "$how: $(cat log)"
    same_content left.h5 fields.h5 "lines with too few fields, $how"
done
head -n 1000 mono.en >first

only_in_check_all

# What a rule leaves out is as an empty line, is counted, and its translation goes with it.
awk 'NR % 40 == 9 { $0 = NR " is the same" } NR % 90 == 3 { $0 = "short ." } NR % 61 == 5 { $0 = "the the " $0 } { print }' \
    pairs.en >ruled.pairs.en
awk 'NR % 40 == 9 { $0 = NR " is the same" } { print }' pairs.xx >ruled.pairs.xx
h5ls 1/corpus.h5 | grep -q filter && fail "without a rule there is /filter"
for n in 1 3; do
    (cd $n && ranks $n xlm_prep --mono en=../first,../mono.en --mono xx=../mono.xx \
        --para xx-en=../ruled.pairs.xx,../ruled.pairs.en --words space --held-out 0.1 --codes ../1/codes --vocab ../1/vocab \
        --max-line-bytes 55 --min-words 3 --max-words 7 --max-ratio 1.5 --untranslated drop --duplicates drop -o ruled.h5 \
        >log 2>&1) || fail "rules: $(cat $n/log)"
done
same_objects 1/ruled.h5 3/ruled.h5 || fail "rules: another corpus on 3 ranks"
# kept FILE...: the same by awk; how many lines each rule has left out goes to counts, a line for each file.
: >counts
kept() {
    awk -F '\t' 'function words(text) { return split(text, word, " ") }
        function count() { print n[1] + 0, n[2] + 0, n[3] + 0, n[4] + 0, n[5] + 0, n[6] + 0 >>"counts"; delete n }
        FNR == 1 && NR > 1 { count() }
        { pair = NF > 1; a = words($1); b = pair ? words($2) : a; rule = 0 }
        a == 0 || b == 0 { print pair ? "\t" : ""; next }
        length($1) > 55 || length($2) > 55 { rule = 1 }
        !rule && (a < 3 || b < 3) { rule = 2 }
        !rule && (a > 7 || b > 7) { rule = 3 }
        !rule && (a > 1.5 * b || b > 1.5 * a) { rule = 4 }
        !rule && pair && $1 == $2 { rule = 5 }
        !rule && $0 in seen { rule = 6 }
        rule { n[rule]++; print pair ? "\t" : ""; next }
        { seen[$0]; print }
        END { count() }' "$@"
}
kept first mono.en >kept.en
kept mono.xx >kept.xx
paste ruled.pairs.xx ruled.pairs.en | kept - >kept.pairs
cut -f 1 kept.pairs >kept.pairs.xx; cut -f 2 kept.pairs >kept.pairs.en
prep --mono en=kept.en --mono xx=kept.xx --para xx-en=kept.pairs.xx,kept.pairs.en --words space --held-out 0.1 --codes 1/codes \
    --vocab 1/vocab -o kept.h5
same_content kept.h5 1/ruled.h5 "sentences left out by rules"
numbers /filter/left_out 1/ruled.h5 | paste -d ' ' - - - - - - | cmp - counts || fail "/filter/left_out"
[ "$(strings /filter/rules 1/ruled.h5 | paste -sd ' ')" = \
    '--max-line-bytes=55 --min-words=3 --max-words=7 --max-ratio=1.5 --untranslated=drop --duplicates=drop' ] ||
    fail "/filter/rules"
[ "$(strings /filter/sources 1/ruled.h5 | paste -sd '|')" = \
    '../first|../mono.en|../mono.xx|../ruled.pairs.xx, ../ruled.pairs.en' ] ||
    fail "/filter/sources"
tail -n 1 counts | grep -qw 0 && fail "a rule leaves out no pair: $(cat counts)"
grep -qF "ruled.pairs.en: pairs left out: $(paste -d ' ' <(tail -n 1 counts | tr ' ' '\n') <(strings /filter/rules 1/ruled.h5) |
    sed 's/ / by /' | paste -sd ',' | sed 's/,/, /g')" 1/log || fail "counts in the log: $(cat 1/log counts)"
tail -n +1001 mono.en >second
prep --mono en=first,second "${text[@]}" --codes 1/codes --vocab 1/vocab -o files.h5
same_content given.h5 files.h5 "text in two files"
sed 's/$/\r/; 1s/^/\xef\xbb\xbf/; s/ /\t  /' mono.en | head -c -2 >dirty.en
for file in codes vocab; do sed 's/$/\r/; 1s/^/\xef\xbb\xbf/' 1/$file >dirty.$file; done
prep --mono en=dirty.en "${text[@]}" --codes dirty.codes --vocab dirty.vocab -o dirty.h5
same_content given.h5 dirty.h5 "CR LF, byte order mark, tabs, no last line end"
prep --mono en=mono.en "${text[@]}" --bpe 300 --write-codes learnt
[ "$(ls learnt*)" = learnt ] || fail "learning alone leaves more than codes"
(cd 1 && ranks 2 xlm_prep "${options[@]}" --held-out 0.1 --seed 5 >log 2>&1) || fail "--seed"
other_text <(decode $corpus held_out en) held_out.en || fail "--seed changes nothing"
prep --mono en=mono.en "${text[@]}" --held-out 0 --codes learnt -o all.h5
[ "$(attribute /held_out/text/en/sentences all.h5)" = 0 ] || fail "--held-out 0 holds out"
decode all.h5 train en >all.en
{ sed '/^$/d' mono.en; grep -v '^	' pairs | cut -f 1; } | cmp - all.en || fail "--held-out 0 is not the whole text"

# ---- options ----
prep --mono en=mono.en --words space --bpe 300 --max-vocab 60 -o few.h5
[ "$(strings /vocabulary/words few.h5 | wc -l)" = 65 ] || fail "--max-vocab"
prep --mono en=mono.en --words space --bpe 300 --min-count 500 --write-vocab often
awk '$2 < 500 { exit 1 }' often && [ -s often ] || fail "--min-count"
tr 'a-z' 'A-Z' <mono.en >MONO.en
prep --mono en=MONO.en --words space --lower --held-out 0 --codes learnt -o lower.h5
decode lower.h5 train en >lower.en
sed '/^$/d' mono.en | cmp - lower.en || fail "--lower"
# Both languages alike (alpha 0): the words of the small language count as much as those of the large one.
yes 'common common common' | head -n 400 >large; echo 'rare' >small
prep --mono a=large --mono b=small --held-out 0 --bpe 3 --alpha 0 --write-codes codes.0
prep --mono a=large --mono b=small --held-out 0 --bpe 3 --alpha 1 --write-codes codes.1
grep -q 'r e\|a r' codes.0 || fail "--alpha 0: $(cat codes.0)"
[ "$(tail -n 1 codes.1 | awk '{ print $3 }')" = 1200 ] || fail "--alpha 1: $(cat codes.1)"

# ---- words that are not between spaces ----
printf '%s\n' 'ภาษาไทยเป็นภาษาที่ใช้ในประเทศไทย' >some.th
printf '%s\n' '我们在北京大学学习语言。' >some.zh
printf '%s\n' '東京都に住んでいる人は多いです。' >some.ja
printf '%s\n' 'Café, cafe\u0301 — “naïve” #1!' | sed 's/\\u0301/\xcc\x81/' >some.fr
prep --mono th=some.th --mono zh=some.zh --mono ja=some.ja --mono fr=some.fr --held-out 0 --bpe 500 -o asia.h5
for language in th zh ja; do
    decode asia.h5 train $language | tr -d ' ' | cmp - some.$language || fail "$language: another text"
    [ "$(decode asia.h5 train $language | wc -w)" -gt 4 ] || fail "$language: words are not found"
done
[ "$(decode asia.h5 train fr)" = 'Café , café — “ naïve ” # 1 !' ] || fail "fr: $(decode asia.h5 train fr)"

# ---- the same words, with other spaces: on one side of the split ----
awk 'BEGIN { for (i = 0; i < 400; i++) print "Ctrl+ " i "\nCtrl+" i "\nCtrl + " i }' >spaces.en
prep --mono en=spaces.en --held-out 0.3 --bpe 20 -o spaces.h5
decode spaces.h5 held_out en | sort -u >held.spaces
decode spaces.h5 train en | sort -u >train.spaces
[ "$(cat held.spaces train.spaces | wc -l)" -eq 400 ] && [ -s held.spaces ] && [ -z "$(comm -12 held.spaces train.spaces)" ] ||
    fail "sentences of the same words in both splits: $(comm -12 held.spaces train.spaces | head -3)"

# ---- wide tokens: more than 65,536 subwords ----
awk 'BEGIN { for (i = 0; i < 66000; i++) printf "%s%c", "w" i, i % 100 == 99 ? 10 : 32 }' >wide.en
awk '{ for (i = 1; i <= NF; i++) print $i, 1 }' wide.en >wide.vocab
echo 'w 0</w> 1' >one.codes
prep --mono en=wide.en --words space --held-out 0 --codes one.codes --vocab wide.vocab -o wide.h5
h5dump -H -d /train/text/en/tokens wide.h5 | grep -q H5T_STD_U32LE || fail "a large vocabulary does not have wide tokens"
h5dump -H -d /train/text/en/tokens $corpus | grep -q H5T_STD_U16LE || fail "a small vocabulary does not have narrow tokens"

# ---- more words than fit into memory: the same counts, from scratch files; a segmenter from a sample ----
mkdir scratch
few() { # RANKS OUTPUT OPTION...
    ranks "$1" xlm_prep --mono en=wide.en --words space --held-out 0 --bpe 60 --write-codes "$2.codes" --write-vocab "$2.vocab" \
        "${@:3}" >few.log 2>&1 || fail "$1 ranks, ${*:3}: $(cat few.log)"
}
few 2 all
! grep -q 'scratch' few.log || fail "counts that fit go to scratch files: $(cat few.log)"
few 2 sample --sample 0.1
other_text all.codes sample.codes || fail "--sample changes nothing"
drawn=$(sed -n 's/.* merges learned from \([0-9]*\) different words.*/\1/p' few.log)
[ "$drawn" -gt 3300 ] && [ "$drawn" -lt 10000 ] || fail "a sample of a tenth of 66000 words has $drawn"
awk '{ for (i = 1; i <= NF; i++) for (k = 1; k <= length($i); k++) n++ } END { print n }' wide.en >letters
awk '{ gsub("@@", "", $1); n += length($1) * $2 } END { print n }' sample.vocab | cmp - letters ||
    fail "--sample: the vocabulary does not count all text"
for n in 1 3; do
    few $n bounded --sample 0.1 --memory 4M --scratch scratch
    grep -q 'in scratch files' few.log || fail "$n ranks, --memory 4M: nothing in scratch files: $(cat few.log)"
    cmp sample.codes bounded.codes && cmp sample.vocab bounded.vocab || fail "$n ranks: little memory changes the result"
    nothing_in scratch
done
few 1 seeded --sample 0.1 --seed 1
other_text sample.codes seeded.codes || fail "--seed does not change the sample"

# A subword that all of a vocabulary must make room for.
{ cat mono.en; printf 'z%.0s' {1..4096}; echo; } >stretched.en
few 1 usual
grep -q 'longest subword' few.log && fail "a usual vocabulary is said to have a long subword"
logged few.log xlm_prep --mono en=stretched.en --bpe 5000 --held-out 0 -o stretched.h5
grep -q "longest subword has 4[0-9]* bytes, .* of the $(strings /vocabulary/words stretched.h5 | wc -l) takes as many" few.log ||
    fail "a subword of 4 KB: $(cat few.log)"

# ---- segmentation of text, as fastBPE does it ----
known=$XLM_SOURCE/tests/cli/fastbpe_known_answers
for n in 1 3; do
    ranks $n xlm_prep --codes $known/codes --segment $known/text out.$n >log 2>&1 || fail "--segment: $(cat log)"
    cmp $known/segmented out.$n || fail "--segment on $n ranks"
    ranks $n xlm_prep --codes $known/codes --vocab $known/vocabulary --segment $known/text out.$n >log 2>&1 ||
        fail "--segment --vocab"
    cmp $known/segmented_limited out.$n || fail "--segment --vocab on $n ranks"
done
ranks 4 xlm_prep --codes 1/codes --segment mono.en out.mono >log 2>&1 || fail "--segment"
sed 's/@@ //g' out.mono | cmp - mono.en || fail "--segment loses text"
grep -q '@@' out.mono || fail "--segment does nothing"
printf '\xef\xbb\xbfold house\r\n\r\nred' >marked
ranks 2 xlm_prep --codes 1/codes --segment marked out.marked >log 2>&1 || fail "--segment: $(cat log)"
sed 's/@@ //g' out.marked | cmp - marked || fail "--segment changes line ends or the byte order mark"

# ---- help ----
[ "$(xlm_prep --help | head -c 15)" = 'Usage: xlm_prep' ] || fail "--help"
xlm_prep --version | grep -q '^xlm_prep (xlm-mpi) [0-9]' || fail "--version"
finish
