#!/usr/bin/env bash
# xlm-mpi: translations found among sentences, computed again from exported vectors. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
trained job.conf base 1 --set train.steps=150 --set model.language_embeddings=false --set train.learning_rate=4e-3
# Pairs and sentences without a partner, in another order on the other side; two sets of them.
# numbered FROM N SET: SET.en, SET.xx, SET.gold
numbered() {
    sed -n "$1,$(($1 + $2 - 1))p" distinct.en | awk '{ print "en-" NR "\t" $0 }' >"$3.en"
    sed -n "$(($1 + 10)),$(($1 + $2 + 9))p" distinct.xx | awk '{ print "xx-" NR "\t" $0 }' | sort -k2 >"$3.xx"
    for ((i = 11; i <= $2; i++)); do printf 'en-%d\txx-%d\n' "$i" $((i - 10)); done >"$3.gold"
}
paste text.en text.xx | awk '!seen[$0]++' >distinct
cut -f1 distinct >distinct.en
cut -f2 distinct >distinct.xx
numbered 1 60 training
numbered 101 50 test

# mine NAME RANKS OPTION...
mine() {
    local name=$1 n=$2
    shift 2
    ranks "$n" xlm_embed mine base/latest test.en test.xx --gold test.gold --csv "$name.csv" -o "$name.tsv" "$@" >"$name.out" \
        2>"$name.log" || fail "$name: $(cat "$name.log")"
}
for n in 1 2 4; do
    mine mined-$n $n --training training.en,training.xx,training.gold --layer 1
    cmp mined-1.out mined-$n.out && cmp mined-1.csv mined-$n.csv && cmp mined-1.tsv mined-$n.tsv || fail "$n ranks: other pairs"
done
grep -q '^test,1,margin,4,50,50,.*,40,' mined-1.csv && grep -q '^training,1,margin,4,60,60,.*,50,' mined-1.csv ||
    fail "tables: $(cat mined-1.csv)"

# By the definition, from vectors that xlm_embed export writes. Input: lines "SIDE ID x ..."; prints score, source, target of all
# pairs, the highest score first.
cat >mine.awk <<'AWK'
{
    side = $1; i = ++n[side]; id[side, i] = $2; d = NF - 2; length2 = 0
    for (c = 1; c <= d; c++) length2 += $(c + 2) ^ 2
    for (c = 1; c <= d; c++) x[side, i, c] = $(c + 2) / sqrt(length2)
}
function nearest(side, i,    j, t, best, used) {
    split("", used)
    for (t = 1; t <= k && t <= n[1 - side]; t++) {
        best = 0
        for (j = 1; j <= n[1 - side]; j++) if (!(j in used) && (!best || of(side, i, j) > of(side, i, best))) best = j
        used[best]; near[side, i, t] = best; mean[side, i] += of(side, i, best) / k
    }
}
function of(side, i, j) { return side ? cosine[j, i] : cosine[i, j] }
END {
    for (i = 1; i <= n[0]; i++) for (j = 1; j <= n[1]; j++) {
        s = 0; for (c = 1; c <= d; c++) s += x[0, i, c] * x[1, j, c]
        cosine[i, j] = s
    }
    for (side = 0; side < 2; side++) for (i = 1; i <= n[side]; i++) nearest(side, i)
    for (side = 0; side < 2; side++) for (i = 1; i <= n[side]; i++) {
        best = -9
        for (t = 1; t <= k; t++) {
            j = near[side, i, t]; s = of(side, i, j)
            if (margin) s /= (mean[side, i] + mean[1 - side, j]) / 2
            if (s > best) { best = s; with = j }
        }
        printf "%.9f\t%s\t%s\n", best, side ? id[0, with] : id[0, i], side ? id[1, i] : id[1, with]
    }
}
AWK
# pairs SET MARGIN K [EXPORT-OPTION...]: by hand, into SET.pairs
pairs() {
    local set=$1 margin=$2 k=$3 side=0 language
    shift 3
    for language in en xx; do
        cut -f2 "$set.$language" >lines
        xlm_embed export base/latest --text lines --language $language --layer 1 "$@" >vectors 2>export.log ||
            fail "$(cat export.log)"
        paste -d ' ' <(cut -f1 "$set.$language") <(awk 'NF > 2' vectors) | sed "s/^/$side /"
        side=1
    done | awk -v margin="$margin" -v k="$k" -f mine.awk | sort -s -k1,1gr |
        awk -F '\t' '!($2 in source) && !($3 in target) { print; source[$2]; target[$3] }' >"$set.pairs"
}
# threshold SET: the best, for the gold pairs of the set.
threshold() {
    awk -F '\t' 'FNR == NR { gold[$1, $2]; n++; next } { score[++m] = $1; right += ($2, $3) in gold; of[m] = right }
        END { score[m + 1] = score[m]; for (i = 1; i <= m; i++) { f = 2 * of[i] / (i + n)
            if (f > best) { best = f; at = (score[i] + score[i + 1]) / 2 } }; printf "%.9f\n", at }' "$1.gold" "$1.pairs"
}
# by_hand SET THRESHOLD: pairs, right ones
by_hand() {
    awk -F '\t' -v least="$2" 'FNR == NR { gold[$1, $2]; next } $1 >= least { n++; right += ($2, $3) in gold }
        END { print n + 0, right + 0 }' "$1.gold" "$1.pairs"
}
# column CSV SET N
column() { awk -F, -v row="$2" -v n="$3" '$1 == row { print $n }' "$1"; }
# agree NAME THRESHOLD: the test set's row and pairs are those by hand.
agree() {
    [ "$(column "$1.csv" test 8) $(column "$1.csv" test 10)" = "$(by_hand test "$2")" ] ||
        fail "$1: $(cat "$1.csv"), by hand $(by_hand test "$2")"
    awk -F '\t' -v least="$2" '$1 >= least { print $2, $3 }' test.pairs | sort |
        cmp - <(cut -f2,3 "$1.tsv" | tr '\t' ' ' | sort) ||
        fail "$1: other pairs"
}
pairs training 1 4
pairs test 1 4
best=$(threshold training)
is_near "$(column mined-1.csv training 7)" "$best" 1e-4 || fail "threshold: $(cat mined-1.csv), by hand $best"
agree mined-1 "$best"
awk -F, '$1 == "test" { p = $10 / $8; r = $10 / $9; d = 2 * p * r / (p + r) - $13; exit d * d > 1e-10 }' mined-1.csv ||
    fail "F1: $(cat mined-1.csv)"
is_between 0.05 "$(column mined-1.csv test 13)" 1 || fail "nothing is found: $(cat mined-1.csv)"
pairs test 0 2 --special-tokens
mine cosine 2 --score cosine -k 2 --layer 1 --special-tokens
agree cosine "$(threshold test)"
grep -q 'the threshold is the best one for test.gold itself' cosine.log || fail "$(cat cosine.log)"
mine fixed 1 --score cosine -k 2 --layer 1 --special-tokens --threshold 0.9
agree fixed 0.9
logged plain.log ranks 1 xlm_embed mine base/latest test.en test.xx --threshold 0.9 -o plain.tsv
[ -s plain.tsv ] || fail "no pairs: $(cat plain.log)"
gzip -k test.en
cp test.en.gz zipped.en.gz
logged zipped.log ranks 1 xlm_embed mine base/latest zipped.en.gz test.xx --languages en,xx --threshold 0.9 -o zipped.tsv
cmp plain.tsv zipped.tsv || fail "a compressed file gives other pairs"

# Pooling: the row of <s>, and the maximum.
for how in first max; do
    pairs test 1 3 --pooling $how --special-tokens
    mine $how 2 -k 3 --layer 1 --pooling $how --special-tokens
    agree $how "$(threshold test)"
done
other_text first.tsv max.tsv || fail "--pooling changes nothing"

# Sentences that occur again, as in XTREME's script: they are mined once, and pairs of theirs are not scored, though they keep
# other pairs from their sentences and are gold; so are such as differ by white space at their ends alone.
cp test.gold twice.gold
{
    cat test.en
    sed -n '11p;14p' test.en | sed 's/^en-/en-again-/'
    printf 'en-wide\t%s\342\200\203\n' "$(sed -n 17p test.en | cut -f2)"
} >twice.en
{
    sed -n '3p;20p' test.xx | sed 's/^xx-/xx-before-/'
    cat test.xx
    printf 'xx-space\t%s \n' "$(sed -n 30p test.xx | cut -f2)"
} >twice.xx
for language in en xx; do
    awk -F '\t' '!seen[$2]++' twice.$language >once.$language
    awk -F '\t' '{ text = $2; sub(/ +$/, "", text); sub(/\342\200\203$/, "", text); ids[text] = ids[text] "\n" $1; n[text]++ }
        END { for (text in n) if (n[text] > 1) print substr(ids[text], 2) }' twice.$language
done >repeated
[ "$(wc -l <repeated)" -eq 12 ] || fail "repeated: $(cat repeated)"
pairs once 1 4
awk -F '\t' 'FNR == NR { bad[$1]; next } !($2 in bad) && !($3 in bad)' repeated once.pairs >test.pairs
lost=$(($(wc -l <once.pairs) - $(wc -l <test.pairs)))
[ $lost -gt 0 ] || fail "no pair has a sentence that occurs there again"
cp twice.gold test.gold
best=$(threshold test)
for n in 1 2; do
    logged twice.log ranks $n xlm_embed mine base/latest twice.en twice.xx --gold twice.gold --layer 1 --csv twice.csv \
        -o twice.tsv
    agree twice "$best"
    is_near "$(column twice.csv test 7)" "$best" 1e-4 && [ "$(column twice.csv test 9)" -eq 40 ] || fail "twice: $(cat twice.csv)"
done
grep -q "4 source and 4 target sentences occur there more than once.*; $lost pairs" twice.log || fail "$(cat twice.log)"

# Tatoeba: line i is the translation of line i; XTREME takes the mean over all tokens.
cut -f2 test.en >lines.en
sed -n '101,150p' distinct.xx >lines.xx
for n in 1 2; do
    logged tatoeba-$n.log ranks $n xlm_embed retrieval base/latest lines.en lines.xx --layer 1 --special-tokens \
        --csv tatoeba-$n.csv
done
cmp tatoeba-1.csv tatoeba-2.csv || fail "retrieval on two ranks"
logged without.log xlm_embed retrieval base/latest lines.en lines.xx --layer 1 --csv without.csv
other_text <(grep mean tatoeba-1.csv) <(grep mean without.csv) || fail "special tokens change nothing"
cmp <(grep '<s>' tatoeba-1.csv) <(grep '<s>' without.csv) || fail "special tokens change the vector of <s>"

logged pooled.log ranks 2 xlm_embed retrieval base/latest lines.en lines.xx --layer 1 --pooling first --special-tokens \
    --csv pooled.csv
cmp <(sed 1d pooled.csv) <(grep '<s>' tatoeba-1.csv | sed 's/<s>/first/') || fail "--pooling first: $(cat pooled.csv)"
expect 64 'pooling=last: it is mean, first or max' xlm_embed retrieval base/latest lines.en lines.xx --pooling last
expect 64 'pooling=last: it is mean, first or max' xlm_embed mine base/latest test.en test.xx --threshold 1 --pooling last

# ---- errors ----
# wrong CODE PATTERN SOURCE TARGET GOLD [OPTION...]
wrong() {
    local code=$1 pattern=$2 source=$3 target=$4 gold=$5
    shift 5
    expect "$code" "^xlm_embed: .*$pattern" ranks 1 xlm_embed mine base/latest "$source" "$target" --gold "$gold" -o none.tsv \
        --languages en,xx "$@"
    once '^xlm_embed: .*'"$pattern"
    [ ! -e none.tsv ] || { fail "something was written"; rm none.tsv; }
}
sed '3s/\t/ /' test.en >spaces
wrong 65 'spaces:3: a line must have the form id<tab>sentence' spaces test.xx test.gold
sed '7s/^en-7/en-2/' test.en >twice
wrong 65 'twice:7: the id "en-2" is in line 2 already' twice test.xx test.gold
printf 'en-1\t\xff\n' >latin
wrong 65 'latin:1: .*not UTF-8' latin test.xx test.gold
: >empty
wrong 65 'empty: there is no sentence' test.en empty test.gold
wrong 65 'empty: there is no pair' test.en test.xx empty
printf 'en-1\txx-99\n' >unknown
wrong 65 'unknown:1: there is no target sentence "xx-99"' test.en test.xx unknown
awk '{ print $2 "\t" $1 }' test.gold >turned
wrong 65 'turned:1: there is no source sentence "xx-1"; it is a target sentence' test.en test.xx turned
cat test.gold test.gold >again
wrong 65 'again:41: the pair of "en-11" and "xx-1" occurs there twice' test.en test.xx again
printf 'en-11\txx-1\tmore\n' >three
wrong 65 'three:1: a line must have the form source id<tab>target id' test.en test.xx three
wrong 66 'missing' missing test.xx test.gold
wrong 64 'layer=3: the model of base/latest has 2 layers' test.en test.xx test.gold --layer 3
wrong 64 'must be margin or cosine' test.en test.xx test.gold --score csls
wrong 64 'cannot be combined' test.en test.xx test.gold --threshold 1 --training a,b,c
wrong 64 'three files separated by commas' test.en test.xx test.gold --training a,b
wrong 64 'is not a number' test.en test.xx test.gold --threshold high
wrong 64 'no language "zz"' test.en test.xx test.gold --languages en,zz
expect 64 'give gold pairs' xlm_embed mine base/latest test.en test.xx
finish
