#!/usr/bin/env bash
# xlm-mpi: word similarity, analogies and neighbours, computed again from exported vectors, and on vectors made by hand.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus --para en-xx=text.en,text.xx --bpe 60
logged train.log xlm_train job.conf --set train.steps=40
model=out/latest
# row CSV KIND FILE SECTION MEASURE: its items, covered, value.
row() { awk -F, -v k="$2" -v f="$3" -v s="$4" -v m="$5" '$1 == k && $2 == f && $3 == s && $6 == m { print $4, $5, $7 }' "$1"; }
# near GOT WANTED: numbers that agree to a few digits.
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(a != "" && d < 1e-5 && d > -1e-5) }'; }

# ---- two words that are asked for, of which a file in lower case has one ----
printf '%s\n' 'queen 1 0' 'king 1 1' >lower.vec
logged two.log xlm_embed neighbours lower.vec queen Queen -k 0
grep -q '^xlm_embed: warning: "Queen" and "queen" have one vector; its neighbours are shown once, as those of "queen"$' two.log ||
    fail "two words with one vector: $(cat two.log)"
logged two.log xlm_embed neighbours lower.vec queen queen -k 0
! grep -q warning two.log || fail "a warning about one word: $(cat two.log)"

# ---- a vector of zeros has no cosine ----
printf '%s\n' 'queen 1 0' 'king 1 1' 'none 0 0' >zero.vec
printf '%s\t%s\t%s\n' queen king 1 queen none 5 none none 2 >zero.tsv
cut -f 1,2 zero.tsv >zero.txt
logged zero.log xlm_embed similarity zero.vec --pairs zero.tsv --dictionary zero.txt --csv zero.csv
grep -q '^xlm_embed: warning: zero.vec: the vectors of 1 words are 0; their pairs are not covered' zero.log &&
    [ "$(cut -d, -f 4,5 zero.csv | sed 1d | sort -u)" = 3,1 ] || fail "a vector of zeros: $(cat zero.log zero.csv)"

# ---- similarity of words of a model: Pearson by the definition, Spearman by xlm_spearman ----
{ printf '# judged by nobody\nWord 1\tWord 2\tHuman (mean)\n'
  i=0
  for pair in house:river teacher:garden window:student book:mountain red:small green:tall quick:quiet house:house old:book; do
      i=$((i + 1))
      printf '%s\t%s\t%d.5\tmore\n' "${pair%:*}" "${pair#*:}" $((i * 7 % 10))
  done
  printf '\nhouse\tσπίτι\t3\n'; } >pairs.tsv
printf '%s\n' house river teacher garden window student book mountain red small green tall quick quiet old >words
xlm_embed export $model --language en --words words -o en.vec 2>export.log || fail "$(cat export.log)"
awk -F'\t' 'NF == 4 && !/^#/ { print $1, $2, $3 }' pairs.tsv >plain
awk 'FILENAME == "en.vec" { if (FNR > 1) { for (c = 2; c <= NF; c++) x[$1, c] = $c; d = NF } next }
    { s = a = b = 0; for (c = 2; c <= d; c++) { s += x[$1, c] * x[$2, c]; a += x[$1, c] ^ 2; b += x[$2, c] ^ 2 }
      printf "%s %.12g\n", $3, s / sqrt(a * b) }' en.vec plain >columns
[ "$(wc -l <columns)" -eq 9 ] || fail "columns: $(cat columns)"
pearson=$(awk '{ n++; x += $1; y += $2; xx += $1 * $1; yy += $2 * $2; xy += $1 * $2 }
    END { printf "%.9f", (n * xy - x * y) / sqrt((n * xx - x * x) * (n * yy - y * y)) }' columns)
spearman=$(xlm_spearman <columns | cut -d' ' -f2)
for n in 1 4; do
    ranks $n xlm_embed similarity $model --languages en --pairs pairs.tsv --csv s$n.csv >s$n.out 2>s.log ||
        fail "$n: $(cat s.log)"
    cmp s$n.out s1.out && cmp s$n.csv s1.csv || fail "$n ranks: another result"
done
read -r items covered value <<<"$(row s1.csv similarity pairs.tsv '' pearson)"
[ "$items $covered" = '10 9' ] && near "$value" "$pearson" || fail "Pearson $pearson: $(cat s1.csv)"
read -r _ _ rho <<<"$(row s1.csv similarity pairs.tsv '' spearman)"
[ "$(printf '%.4f' "$rho")" = "$spearman" ] || fail "Spearman $spearman: $(cat s1.csv)"
read -r _ _ value <<<"$(row s1.csv similarity pairs.tsv '' harmonic_mean)"
near "$value" "$(awk -v p="$pearson" -v s="$rho" 'BEGIN { print p > 0 && s > 0 ? 2 * p * s / (p + s) : 0 }')" ||
    fail "harmonic mean of $pearson and $rho: $(cat s1.csv)"
grep -q '^pairs.tsv  *10  *90.00% ' s1.out || fail "the table: $(cat s1.out)"
# A file of vectors, as text, gzip or HDF5, gives what the model gives; so do SemEval's two files, and blanks between words.
xlm_embed export $model --language en --words words -o en.h5 2>export.log || fail "$(cat export.log)"
gzip -k en.vec
sed 1d en.vec >headless.vec # GloVe's
awk -F'\t' 'NF >= 3 && !/^#/ && !/^Word/ { print $1 "\t" $2 }' pairs.tsv >data.txt
awk -F'\t' 'NF >= 3 && !/^#/ && !/^Word/ { print $3 }' pairs.tsv >gold.txt
tr '\t' ' ' <pairs.tsv | sed 2d >pairs.txt
for vectors in en.vec en.vec.gz en.h5 headless.vec; do
    xlm_embed similarity $vectors --pairs data.txt --keys gold.txt --pairs pairs.txt --keys /dev/null >v.out 2>v.log &&
        fail "keys of no pairs"
    xlm_embed similarity $vectors --pairs data.txt --keys gold.txt --csv v.csv >v.out 2>v.log || fail "$vectors: $(cat v.log)"
    cmp <(cut -d, -f4- v.csv) <(cut -d, -f4- s1.csv) || fail "$vectors: $(cat v.csv)"
    xlm_embed similarity $vectors --pairs pairs.txt --csv v.csv >v.out 2>v.log || fail "$vectors: $(cat v.log)"
    cmp <(cut -d, -f4- v.csv) <(cut -d, -f4- s1.csv) || fail "$vectors, blanks: $(cat v.csv)"
done

# ---- vectors made by hand, of two languages; fastText's lines end in a blank ----
cat >one.vec <<'V'
9 3
man 1 0 0 
woman 1 1 0 
king 1 0 2 
queen 1 1 2 
boy 3 0 0.1 
girl 3 3 0.1 
New_York 0 1 -1 
new 0 0 5 
york 0 -2 0 
V
printf 'Mann 2 0 0\nFrau 1 1 0.1\nK\303\266nig 1 0 2.2\nK\303\266nigin 1 1 2\n' >two.vec
printf 'man Mann\nwoman Frau\nking König\nqueen Königin\ntable Tisch\nNew York\tKönig\nqueen\tnone\n' >dictionary.txt
xlm_embed similarity one.vec two.vec --dictionary dictionary.txt --csv d.csv >d.out 2>d.log || fail "$(cat d.log)"
# cos(man, Mann) = 1, cos(woman, Frau) = 2 / sqrt(2 * 2.01), cos(king, König) = 5.4 / sqrt(5 * 5.84), 1, and New_York.
wanted=$(awk 'BEGIN { printf "%.9f", (1 + 2 / sqrt(4.02) + 5.4 / sqrt(5 * 5.84) + 1 - 2.2 / sqrt(2 * 5.84)) / 5 }')
read -r items covered value <<<"$(row d.csv dictionary dictionary.txt '' mean_cosine)"
[ "$items $covered" = '7 5' ] && near "$value" "$wanted" || fail "cosines, $wanted: $(cat d.csv d.log)"
# Any of the five first words with any of the five second ones; König is in two pairs, and counts twice.
wanted=$(printf '%s\n' '1 0 0 2 0 0' '1 1 0 1 1 0.1' '1 0 2 1 0 2.2' '1 1 2 1 1 2' '0 1 -1 1 0 2.2' | awk '
    { for (c = 1; c <= 3; c++) { x[NR, c] = $c; y[NR, c] = $(c + 3) } }
    END {
        for (i = 1; i <= NR; i++) for (j = 1; j <= NR; j++) {
            d = a = b = 0
            for (c = 1; c <= 3; c++) { d += x[i, c] * y[j, c]; a += x[i, c] ^ 2; b += y[j, c] ^ 2 }
            sum += d / sqrt(a * b)
        }
        printf "%.9f", sum / NR ^ 2
    }')
read -r _ _ value <<<"$(row d.csv dictionary dictionary.txt '' shuffled_cosine)"
near "$value" "$wanted" || fail "shuffled, $wanted: $(cat d.csv)"
# Phrases: as one word, in lower case, or the mean of their words; x y is not covered.
printf 'New York\tman\t1\nnew york\twoman\t2\nNEW\tgirl\t3\nnew man\tking\t4\nx man\tking\t5\n' >phrases
xlm_embed similarity one.vec --pairs phrases --csv p.csv >p.out 2>p.log || fail "$(cat p.log)"
read -r items covered value <<<"$(row p.csv similarity phrases '' pearson)"
wanted=$(awk 'BEGIN { y[1] = 0; y[2] = -1 / sqrt(7.25 * 2); y[3] = 0.1 / sqrt(18.01); y[4] = 5.5 / sqrt(6.5 * 5)
    for (i = 1; i <= 4; i++) { sy += y[i]; yy += y[i] ^ 2; xy += i * y[i] }
    printf "%.9f", (4 * xy - 10 * sy) / sqrt((4 * 30 - 100) * (4 * yy - sy ^ 2)) }')
[ "$items $covered" = '5 4' ] && near "$value" "$wanted" || fail "phrases, $wanted: $(cat p.csv)"

only_in_check_all

# ---- analogies: king - man + woman = queen, whatever is nearest of man, woman and king themselves ----
cat >analogies.txt <<'A'
: family
man woman king queen
boy girl man woman/none
man woman nobody queen
boy girl king girl

: pairs
man	woman/lady
king	queen
A
for n in 1 4; do
    ranks $n xlm_embed similarity one.vec --analogies analogies.txt --csv a$n.csv >a$n.out 2>a.log || fail "$n: $(cat a.log)"
    cmp a$n.out a1.out && cmp a$n.csv a1.csv || fail "$n ranks: another result"
done
[ "$(row a1.csv analogies analogies.txt family accuracy)" = '4 3 0.666667' ] || fail "family: $(cat a1.csv)"
[ "$(row a1.csv analogies analogies.txt pairs accuracy)" = '2 2 1' ] || fail "pairs: $(cat a1.csv)"
[ "$(row a1.csv analogies analogies.txt all accuracy)" = '6 5 0.8' ] || fail "all: $(cat a1.csv)"
# In two languages, as in table 3 of MLM-GC: king - man + Frau; x/|x| by hand.
printf ': mixed\nman king Frau Königin\nman king de:Frau de:Königin\n' >mixed.txt
xlm_embed similarity one.vec two.vec --languages en,de --analogies mixed.txt --csv m.csv >m.out 2>m.log || fail "$(cat m.log)"
wanted=$(awk 'BEGIN { l = sqrt(5); f = sqrt(2.01); x = 1 / l - 1 + 1 / f; y = 1 / f; z = 2 / l + 0.1 / f
    printf "%.9f", (x + y + 2 * z) / sqrt(6 * (x * x + y * y + z * z)) }')
read -r items covered value <<<"$(row m.csv analogies mixed.txt mixed mean_cosine)"
[ "$items $covered" = '2 2' ] && near "$value" "$wanted" || fail "mixed, $wanted: $(cat m.csv)"
[ "$(row m.csv analogies mixed.txt mixed accuracy)" = '2 2 1' ] || fail "mixed: $(cat m.csv)"
# A model: its subwords are candidates, and words of several.
printf ': words\nhouse river book teacher\nold red quick quiet\n' >model.txt
for n in 1 4; do
    ranks $n xlm_embed similarity $model --languages en --corpus corpus.h5 --analogies model.txt >b$n.out 2>b.log ||
        fail "$n: $(cat b.log)"
    cmp b$n.out b1.out || fail "analogies of a model on $n ranks: another result"
done
grep -q '^  words  *2  *100.00%' b1.out || fail "$(cat b1.out)"

# ---- neighbours: by cosine and by CSLS, by the definition ----
for n in 1 4; do
    ranks $n xlm_embed neighbours $model ryiver house --word-language xx --language en --corpus corpus.h5 -n 5 -k 3 \
        --csv n$n.csv >n$n.out 2>n.log || fail "$n: $(cat n.log)"
    cmp n$n.out n1.out && cmp n$n.csv n1.csv || fail "$n ranks: other neighbours"
done
printf 'ryiver\nhouse\n' >asked
for language in en xx; do
    xlm_embed export $model --language $language --corpus corpus.h5 -o all.$language 2>export.log || fail "$(cat export.log)"
done
xlm_embed export $model --language xx --words asked -o asked.vec 2>export.log || fail "$(cat export.log)"
awk -v count=5 -v k=3 '
    function cosine(a, i, b, j,    c, s) { s = 0; for (c = 2; c <= d; c++) s += x[a, i, c] * x[b, j, c]; return s }
    # Mean of the k largest of near[1 ... m].
    function mean(m,    t, i, best, sum, n) {
        sum = n = 0
        for (t = 0; t < k; t++) { best = 0
            for (i = 1; i <= m; i++) if (i in near && (!best || near[i] > near[best])) best = i
            if (!best) break
            sum += near[best]; n++; delete near[best] }
        return sum / n }
    FNR > 1 { i = ++n[FILENAME]; word[FILENAME, i] = $1; d = NF; s = 0
        for (c = 2; c <= NF; c++) s += $c ^ 2
        for (c = 2; c <= NF; c++) x[FILENAME, i, c] = $c / sqrt(s) }
    END {
        for (j = 1; j <= n["all.en"]; j++) {
            for (i = 1; i <= n["all.xx"]; i++)
                if (word["all.xx", i] != word["all.en", j]) near[i] = cosine("all.xx", i, "all.en", j)
            r[j] = mean(n["all.xx"]); delete near }
        for (i = 1; i <= n["asked.vec"]; i++) {
            for (j = 1; j <= n["all.en"]; j++)
                if (word["all.en", j] != word["asked.vec", i]) near[j] = cosine("asked.vec", i, "all.en", j)
            own = mean(n["all.en"]); delete near
            for (csls = 0; csls < 2; csls++) { delete taken
                for (t = 1; t <= count; t++) { best = 0
                    for (j = 1; j <= n["all.en"]; j++) {
                        if (j in taken || word["all.en", j] == word["asked.vec", i]) continue
                        v = cosine("asked.vec", i, "all.en", j); if (csls) v = 2 * v - r[j] - own
                        if (!best || v > most) { best = j; most = v } }
                    taken[best]
                    printf "%s,%s,%d,%s,%.6f\n", word["asked.vec", i], csls ? "csls" : "cosine", t, word["all.en", best], most
                } } }
    }' all.en all.xx asked.vec >hand
cmp <(sed 1d n1.csv | cut -d, -f1-4) <(cut -d, -f1-4 hand) || fail "neighbours: $(cat n1.csv), by hand: $(cat hand)"
paste -d, <(sed 1d n1.csv | cut -d, -f5) <(cut -d, -f5 hand) |
    awk -F, '{ d = $1 - $2; if (d > 3e-6 || d < -3e-6) bad = 1 } END { exit bad || NR != 20 }' ||
    fail "scores: $(cat n1.csv hand)"
[ "$(cut -d, -f4 n1.csv | sort -u | wc -l)" -gt 6 ] || fail "all the same: $(cat n1.csv)"
grep -q '^ryiver =' n1.out || fail "subwords of a word are not shown: $(cat n1.out)"
# Files of vectors; words of a list; the first words alone; by cosine alone.
xlm_embed neighbours one.vec Königin --word-vectors two.vec -n 2 >w.out 2>w.log || fail "$(cat w.log)"
sed -n 3p w.out | grep -q '^   1   1.0000  queen ' || fail "neighbours of a file: $(cat w.out)"
xlm_embed neighbours one.vec queen --most 4 -n 9 -k 0 --csv w.csv >w.out 2>w.log || fail "$(cat w.log)"
[ "$(cut -d, -f2,4 w.csv | tail -n +2 | tr '\n' ' ')" = 'cosine,king cosine,woman cosine,man ' ] || fail "--most: $(cat w.csv)"
# Words are no files.
xlm_embed neighbours one.vec queen --most 4 -n 9 -k 0 --csv queen >w.out 2>w.log || fail "$(cat w.log)"
cmp queen w.csv || fail "a file named as a word"
xlm_embed neighbours $model house --language en --words words -n 3 >w.out 2>w.log || fail "$(cat w.log)"
sed 1,2d w.out | awk '{ print $3; print $5 }' | sort -u | comm -23 - <(sort words) | grep . &&
    fail "no words of the list: $(cat w.out)"

# Files of other words, on each table: there is nothing to show, and a warning says so; once, whatever the ranks.
printf 'no\tsuch\t1\nno\tthing\t2\n' >other.tsv
printf 'no such\nno thing\n' >other.pairs
printf ': none\nno such thing here\n' >other.txt
ranks 2 xlm_embed similarity one.vec --pairs other.tsv --dictionary other.pairs --analogies other.txt >w.out 2>w.log ||
    fail "$(cat w.log)"
[ "$(grep -c 'warning: other[.a-z]*: none of its pairs has vectors' w.log)" -eq 2 ] &&
    [ "$(grep -c 'warning: other.txt: none of its questions has vectors' w.log)" -eq 1 ] || fail "coverage of 0: $(cat w.log)"
xlm_embed similarity one.vec --analogies analogies.txt 2>&1 >/dev/null | grep -q warning && fail "a warning about what is covered"

# ---- what is wrong ----
expect 64 'there is nothing to measure' xlm_embed similarity $model
expect 64 'similarity takes a checkpoint' xlm_embed similarity --pairs pairs.tsv
expect 64 'there are 1 --keys for 2 --pairs' xlm_embed similarity $model --pairs data.txt --pairs data.txt --keys gold.txt
expect 65 'data.txt:1: .*--keys' ranks 2 xlm_embed similarity $model --pairs data.txt
printf 'a\tb\t1\nc\td\tmuch\n' >bad.tsv
for option in dictionary pairs analogies; do
    expect 65 'corpus.h5: is an HDF5 file, where text is read' xlm_embed similarity $model --$option corpus.h5
done
expect 65 'bad.tsv:2: .*not a number' xlm_embed similarity $model --pairs bad.tsv
head -n 4 gold.txt >short.txt
expect 65 'short.txt: there are 4 scores for the 10 pairs of data.txt' \
    xlm_embed similarity $model --pairs data.txt --keys short.txt
printf 'a b c\n' >three.txt
expect 65 'three.txt:1: has 3 words' xlm_embed similarity one.vec --analogies three.txt
seq 1 1001 | sed 's/.*/a& b&/' >long.txt
expect 65 'long.txt:1001: more than 1000 words with answers' xlm_embed similarity one.vec --analogies long.txt
expect 66 none.txt ranks 2 xlm_embed similarity $model --pairs none.txt
expect 66 none.vec xlm_embed similarity none.vec --pairs pairs.tsv
expect 64 'no language "fr"; it has en, xx' xlm_embed similarity $model --pairs pairs.tsv --languages fr
expect 64 '--languages=en,xx,en: must be one or two' xlm_embed similarity $model --pairs pairs.tsv --languages en,xx,en
expect 64 '--corpus=corpus.h5: selects subwords' xlm_embed similarity one.vec --analogies mixed.txt --corpus corpus.h5
expect 64 '--corpus=corpus.h5: give the languages' xlm_embed similarity $model --analogies mixed.txt --corpus corpus.h5
expect 65 'its vectors have 32 numbers, those of one.vec have 3' ranks 2 xlm_embed similarity one.vec en.vec --pairs pairs.tsv
expect 64 'pairs.tsv: is both input and output' xlm_embed similarity $model --pairs pairs.tsv --csv pairs.tsv
printf '2 3\na 1 2 3\nb 1 nan 3\n' >nan.vec
expect 65 'nan.vec:3: .*not finite' xlm_embed similarity nan.vec --pairs pairs.tsv
printf '2 3\na 1 2 3\nb 1 3\n' >ragged.vec
expect 65 'ragged.vec:3: has no word and 3 numbers' xlm_embed similarity ragged.vec --pairs pairs.tsv
printf '3 2\na 1 2\nb 1 x\n' >letters.vec
expect 65 'letters.vec:3: number 2 of its 2' xlm_embed similarity letters.vec --pairs pairs.tsv
printf '3 2\na 1 2\na 1 2\n' >cut.vec
expect 65 'cut.vec: its first line says 3 words' xlm_embed neighbours cut.vec a
expect 65 'corpus.h5' xlm_embed similarity corpus.h5 --pairs pairs.tsv
expect 64 'neighbours takes a checkpoint' xlm_embed neighbours $model
expect 64 '--count=0: must be from 1 to 1000' xlm_embed neighbours $model house --count 0
expect 65 'one.vec: has no vector for "nobody"' ranks 2 xlm_embed neighbours one.vec king nobody
expect 64 '--corpus and --words cannot be combined' xlm_embed neighbours $model house --corpus corpus.h5 --words words
finish
