#!/usr/bin/env bash
# xlm-mpi: maps of words and of sentences: what they show, the same on any number of ranks and threads, what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus --para en-xx=text.en,text.xx --bpe 80
logged train.log xlm_train job.conf --set train.steps=20 --set train.checkpoint_every=10 --set train.keep=5
early=$(ls out/checkpoint-*10.h5) model=out/latest
for word in house river teacher garden window student book mountain red small green tall quick quiet sees opens likes; do
    echo "$word $(echo "$word" | sed 's/[aeiou]/y&/g')"
done >en-xx.txt
echo 'house ryivyer' >>en-xx.txt # a word of two translations is one point
# marks FILE: points of a picture; the legend has one mark a language.
marks() { grep -cE '^<(circle|path d="M[^L"]*z")' "$1"; }
settings=(--iterations 60 --perplexity 5)

# ---- words of a dictionary, before and after training ----
for n in 1 4; do
    ranks $n xlm_embed map "$early" $model --dictionary en-xx.txt "${settings[@]}" -o w$n.svg --coordinates w$n.h5 --labels 4 \
        --heading 'a <b> & "c"' --title before --title after >w$n.out 2>w$n.log || fail "$n ranks: $(cat w$n.log)"
    cmp w$n.svg w1.svg || fail "$n ranks: another picture"
    for panel in 1 2; do
        cmp <(numbers /panel.$panel/coordinates w$n.h5) <(numbers /panel.$panel/coordinates w1.h5) ||
            fail "$n ranks: other points"
    done
done
xlm_embed map "$early" $model --dictionary en-xx.txt "${settings[@]}" -o t.svg --labels 4 --heading 'a <b> & "c"' --title before \
    --title after --threads 3 2>t.log || fail "$(cat t.log)"
cmp t.svg w1.svg || fail "three threads: another picture"
# Of more points than t-SNE takes as a chunk, whose sums are added in the order of the chunks, whichever threads made them.
awk 'BEGIN { for (i = 0; i < 1500; i++) print "p" i, sin(i), cos(3 * i), sin(i * i)
    for (i = 0; i < 1500; i += 2) print "p" i, "p" i + 1 >"p.txt" }' >p.vec
for n in 1 3; do
    xlm_embed map p.vec --dictionary p.txt --languages one,two "${settings[@]}" --threads $n --coordinates p$n.h5 2>p.log ||
        fail "$n threads: $(cat p.log)"
    h5dump -y -w 1 -m %.17g -d /panel.1/coordinates p$n.h5 | tail -n +2 >p$n.txt # every bit, not six digits
done
[ "$(wc -l <p1.txt)" -ge 3000 ] && cmp p1.txt p3.txt || fail "three threads: other points"
! command -v xmllint >/dev/null || xmllint --noout w1.svg || fail "the picture is no XML"
[ "$(marks w1.svg)" -eq $((2 * 34 + 2)) ] || fail "$(marks w1.svg) marks"
grep -q '>a &lt;b&gt; &amp; &quot;c&quot;<' w1.svg || fail "heading: $(head -n 5 w1.svg)"
grep -q '>before<' w1.svg && grep -q '>after<' w1.svg && grep -q '>18 translation pairs<' w1.svg && grep -q '>xx (17)<' w1.svg ||
    fail "texts: $(grep '<text' w1.svg)"
[ "$(grep -o 'M[0-9.]* [0-9.]*L' w1.svg | wc -l)" -eq 36 ] || fail "lines between pairs"
[ "$(grep -c '<title>ryivyer</title>' w1.svg)" -eq 2 ] || fail "points have no names"
[ "$(grep -c 'stroke-linejoin' w1.svg)" -ge 4 ] || fail "no pairs are named"
[ "$(strings /languages w1.h5 | tr '\n' ' ')" = 'en xx ' ] && [ "$(strings /labels w1.h5 | wc -l)" -eq 34 ] || fail "labels"
[ "$(numbers /language w1.h5 | sort -n | uniq -c | tr -s ' \n' ' ')" = ' 17 0 17 1 ' ] || fail "languages of points"
paste -d ' ' <(strings /labels w1.h5) <(seq 0 33) >places
pairs_of /pairs w1.h5 | awk 'FILENAME == "places" { name[$2] = $1; next } { print name[$1], name[$2] }' places - >pairs
cmp pairs en-xx.txt || fail "pairs: $(cat pairs)"
[ "$(attribute /panel.1/title w1.h5)" = '"before"' ] && [ "$(attribute /panel.2/step w1.h5)" = 20 ] &&
    [ "$(attribute /panel.1/step w1.h5)" = 10 ] && [ "$(attribute /perplexity w1.h5)" = 5 ] || fail "attributes"
other_text <(numbers /panel.1/coordinates w1.h5) <(numbers /panel.2/coordinates w1.h5) || fail "two checkpoints, one map"
xlm_embed map "$early" $model --dictionary en-xx.txt "${settings[@]}" --seed 2 --coordinates seed.h5 2>t.log ||
    fail "$(cat t.log)"
other_text <(numbers /panel.1/coordinates w1.h5) <(numbers /panel.1/coordinates seed.h5) || fail "another seed, the same map"

# ---- subwords: a dictionary of xlm_dict, the most frequent; sentences ----
logged dict.log xlm_dict corpus.h5 --source en --target xx --text en-xx.txt --share 0.5 -o dict.h5
xlm_embed map $model --dictionary dict.h5 --iterations 60 --perplexity 3 --coordinates d.h5 2>d.log || fail "$(cat d.log)"
{ pairs_of /dictionary/pairs dict.h5; pairs_of /dictionary/left_out dict.h5; } | wc -l >wanted
[ "$(pairs_of /pairs d.h5 | wc -l)" -eq "$(cat wanted)" ] || fail "pairs of dict.h5"
xlm_embed map $model --corpus corpus.h5 -n 20 "${settings[@]}" --words-alone --unit -o c.svg --coordinates c.h5 2>c.log ||
    fail "$(cat c.log)"
[ "$(marks c.svg)" -eq 42 ] && ! grep -q 'translation pairs' c.svg || fail "of a corpus: $(cat c.log)"
strings /labels c.h5 | grep -q '^[.]$' && fail "a subword without letters"
for n in 1 3; do
    ranks $n xlm_embed map $model --sentences corpus.h5 -n 25 --layer 1 "${settings[@]}" -o s$n.svg --coordinates s$n.h5 \
        2>s.log ||
        fail "$n ranks: $(cat s.log)"
    cmp s$n.svg s1.svg || fail "sentences on $n ranks: another picture"
done
strings /labels s1.h5 | head -n 25 >first
pairs_of /held_out/parallel/en-xx/links corpus.h5 | head -n 25 | cut -d' ' -f1 >links
decode corpus.h5 held_out en >held
while read -r i; do sed -n $((i + 1))p held; done <links | sed 's/ *$//' >sentences
cmp first sentences || fail "sentences: $(head -n 3 first sentences)"

# ---- files of vectors: the shares of variance of what is spread 3, 2 and 1 along the axes ----
awk 'BEGIN { for (i = 0; i < 64; i++) print "w" i, (i % 2 * 2 - 1) * 3 + 7, (int(i / 2) % 2 * 2 - 1) * 2, int(i / 4) % 2 * 2 - 1
    for (i = 0; i + 1 < 64; i += 2) print "w" i, "w" i + 1 >"w.txt"; print "w0 nobody" >"w.txt" }' >w.vec
xlm_embed map w.vec --dictionary w.txt --languages one,two --iterations 600 --perplexity 6 --coordinates v.h5 -o v.svg \
    2>v.log || fail "$(cat v.log)"
grep -q 'warning: 1 of 65 words have no vector' v.log || fail "what is not covered: $(cat v.log)"
numbers /panel.1/component_variance v.h5 | awk -v OFMT=%.6f '{ d = $1 - (4 - NR) ^ 2 / 14; if (d > 1e-6 || d < -1e-6) bad = 1 }
    END { exit bad || NR != 3 }' || fail "variance: $(numbers /panel.1/component_variance v.h5)"
grep -q '3 components, 100% of variance' v.svg || fail "caption: $(grep '<text' v.svg)"
# Of 9, 4 and 1, two components have 13 / 14. Points begin in their plane as before, and move by the learning rate.
short=(xlm_embed map w.vec --dictionary w.txt --languages one,two --perplexity 6 --iterations 20)
logged two.log "${short[@]}" --components 2 --coordinates two.h5 -o two.svg
grep -q '2 components, 93% of variance' two.svg && [ "$(numbers /panel.1/component_variance two.h5 | wc -l)" -eq 2 ] ||
    fail "two components: $(grep '<text' two.svg)"
logged slow.log "${short[@]}" --components 2 --learning-rate 5 --coordinates slow.h5
# size FILE: the mean square of coordinates.
size() { numbers /panel.1/coordinates "$1" | awk '{ s += $1 * $1 } END { print s / NR }'; }
other_text <(numbers /panel.1/coordinates two.h5) <(numbers /panel.1/coordinates slow.h5) &&
    is_between 0 "$(size slow.h5)" "$(size two.h5)" || fail "--learning-rate: $(size slow.h5), $(size two.h5)"
# Eight places, eight points each: what was one point stays together.
paste -d ' ' <(strings /labels v.h5) <(pairs_of /panel.1/coordinates v.h5) >points
awk 'FILENAME == "w.vec" { kind[$1] = $2 " " $3 " " $4; next }
    { x[kind[$1]] += $2 / 8; y[kind[$1]] += $3 / 8; xs[$1] = $2; ys[$1] = $3 }
    END { for (i in xs) { best = -1
            for (k in x) { d = (xs[i] - x[k]) ^ 2 + (ys[i] - y[k]) ^ 2; if (best < 0 || d < best) { best = d; nearest = k } }
            bad += nearest != kind[i] } exit bad > 0 }' w.vec points || fail "groups are torn: $(cat points)"
# KL of the pictures by the definition, P of all points with perplexity 21 by bisection: with --theta 0 it is what the file says,
# and that of coarse sums is off.
for theta in 0 1; do
    logged theta.log xlm_embed map w.vec --dictionary w.txt --languages one,two --iterations 60 --perplexity 21 --theta $theta \
        --coordinates theta-$theta.h5
    [ "$(attribute /theta theta-$theta.h5)" = $theta ] || fail "--theta $theta: $(attribute /theta theta-$theta.h5)"
done
read -r exact coarse <<<"$(paste -d ' ' <(pairs_of /panel.1/coordinates theta-0.h5) <(pairs_of /panel.1/coordinates theta-1.h5) |
    awk 'FILENAME == "w.vec" { n++; for (c = 1; c <= 3; c++) x[n, c] = $(c + 1); next }
        { for (c = 1; c <= 4; c++) y[FNR, c] = $c }
        END {
            for (i = 1; i <= n; i++) {
                low = 0; high = 100
                for (round = 0; round < 40; round++) {
                    beta = (low + high) / 2; sum = mean = 0
                    for (j = 1; j <= n; j++) if (j != i) {
                        d = (x[i, 1] - x[j, 1]) ^ 2 + (x[i, 2] - x[j, 2]) ^ 2 + (x[i, 3] - x[j, 3]) ^ 2
                        e[j] = exp(-beta * d); sum += e[j]; mean += e[j] * beta * d
                    }
                    if (log(sum) + mean / sum > log(21)) low = beta; else high = beta
                }
                for (j = 1; j <= n; j++) if (j != i) { p[i, j] += e[j] / sum / (2 * n); p[j, i] += e[j] / sum / (2 * n) }
            }
            for (c = 1; c <= 3; c += 2) {
                z = kl = 0
                for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) if (j != i) {
                    d = 1 + (y[i, c] - y[j, c]) ^ 2 + (y[i, c + 1] - y[j, c + 1]) ^ 2
                    z += 1 / d; kl += p[i, j] * log(p[i, j] * d)
                }
                printf "%.6f ", kl + log(z)
            }
        }' w.vec -)"
is_near "$exact" "$(attribute /panel.1/kl_divergence theta-0.h5)" 1e-4 || fail "KL $exact, $(cat theta.log)"
! is_near "$coarse" "$(attribute /panel.1/kl_divergence theta-1.h5)" 0.01 &&
    is_near "$coarse" "$(attribute /panel.1/kl_divergence theta-1.h5)" 0.1 ||
    fail "KL of coarse sums: $(attribute /panel.1/kl_divergence theta-1.h5) instead of nearly $coarse"

# ---- what is wrong ----
awk 'NF == 2 { print; next } { print $1, $2 "e25", $3 "e25", $4 "e25" }' w.vec >long.vec
expect 65 'long.vec: the vectors are too long for distances between them; give --unit' xlm_embed map long.vec \
    --dictionary w.txt --languages one,two --iterations 1 --perplexity 6 --coordinates none.h5
xlm_embed map long.vec --unit --dictionary w.txt --languages one,two --iterations 1 --perplexity 6 --coordinates unit.h5 2>unit.log ||
    fail "$(cat unit.log)"
expect 64 'map takes a checkpoint' xlm_embed map -o a.svg --dictionary en-xx.txt
expect 64 'there is nothing to write' xlm_embed map $model --dictionary en-xx.txt
expect 64 'give one of --dictionary, --corpus and --sentences' xlm_embed map $model -o a.svg
expect 64 'give one of' xlm_embed map $model -o a.svg --dictionary en-xx.txt --corpus corpus.h5
expect 64 'there are 1 --title for 2 checkpoints' xlm_embed map $model "$early" -o a.svg --dictionary en-xx.txt --title a
expect 64 '--perplexity=30: 34 points have a perplexity of at most 11' \
    ranks 2 xlm_embed map $model --dictionary en-xx.txt -o a.svg
expect 64 '--perplexity=1: at least 2' xlm_embed map $model --dictionary en-xx.txt -o a.svg --perplexity 1
expect 64 '--theta=2: must be in 0 to 1' xlm_embed map $model --dictionary en-xx.txt -o a.svg --theta 2
expect 64 '--layer=9: the model of out/latest has 2 layers' ranks 2 xlm_embed map $model --sentences corpus.h5 -o a.svg --layer 9
expect 64 'no language "fr"' xlm_embed map $model --dictionary en-xx.txt --languages en,fr -o a.svg
expect 64 '--languages=en: must be two languages' xlm_embed map $model --dictionary en-xx.txt --languages en -o a.svg
expect 64 'en-xx.txt: is both input and output' xlm_embed map $model --dictionary en-xx.txt -o en-xx.txt
expect 66 'none.txt' ranks 2 xlm_embed map $model --dictionary none.txt -o a.svg
expect 65 'w.vec: is a file of vectors' xlm_embed map w.vec --corpus corpus.h5 -o a.svg
expect 65 'no held-out\|has no training text\|there is no training text of fr' xlm_embed map $model --corpus corpus.h5 \
    --languages fr -o a.svg
head -n 3 w.vec | sed 's/ .*/ 1 2 3/' >same.vec
expect 65 'there are 3 points that all models have; a map takes 4' xlm_embed map same.vec --dictionary w.txt -o a.svg
sed 's/ .*/ 1 2 3/' w.vec >same.vec
expect 65 'same.vec: all of the 64 vectors are the same' ranks 2 xlm_embed map same.vec --dictionary w.txt --perplexity 5 -o a.svg
expect 73 'no-such-directory' xlm_embed map w.vec --dictionary w.txt --perplexity 5 -o no-such-directory/a.svg
xlm_prep --mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --words space --bpe 100 --held-out 0.1 -o other.h5 \
    >prep.log 2>&1 || fail "$(cat prep.log)"
expect 65 'out/latest: was trained with other subwords than other.h5 has' \
    ranks 2 xlm_embed map $model --sentences other.h5 -o a.svg
[ ! -e a.svg ] || fail "a picture of what was refused"
finish
