#!/usr/bin/env bash
# xlm-mpi: rotations, principal directions, whitening and likeness of vectors, by known answers; on several ranks; bad input.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# 60 words of 3 numbers, and the same turned: (x, y, z) becomes (z, -x, y).
awk 'function draw() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 - 0.4 }
    BEGIN { seed = 5; print "60 3" >"source.vec"; print "60 3" >"target.vec"; print "60 3" >"turned.vec"
        for (i = 1; i <= 60; i++) { x = draw(); y = draw(); z = draw()
            printf "s%d %.7f %.7f %.7f\n", i, x, y, z >"source.vec"
            printf "t%d %.7f %.7f %.7f\n", i, z, -x, y >"target.vec"
            printf "s%d %.7f %.7f %.7f\n", i, 2 * z, -2 * x, 2 * y >"turned.vec"
            print "s" i " t" i >(i <= 20 ? "learn.txt" : "test.txt") } }'
# near FILE VALUE...: numbers of a file, one a line, to 1e-5.
near() {
    local file=$1
    shift
    printf '%s\n' "$@" | paste -d ' ' "$file" - |
        awk '{ d = $1 - $2; if (NF != 2 || d > 1e-5 || -d > 1e-5) { print NR ": " $0; exit 1 } }' >difference ||
        fail "$file: $(cat difference)"
}

# (procrustes, cca and pca on several ranks: tests/cli/embed_ranks.sh)
xlm_embed procrustes source.vec target.vec learn.txt --evaluate test.txt --refine 1 -k 1 -o mapped.h5 --csv p.csv \
    --target-output target.h5 >procrustes.out 2>procrustes.log || fail "$(cat procrustes.log)"
numbers /map mapped.h5 >map
near map 0 0 1 -1 0 0 0 1 0
grep -q '^after,cosine,40,60,1.000000,1.000000' p.csv && grep -q '^after,CSLS,40,60,1.000000' p.csv &&
    ! grep -q '^before,cosine,40,60,1.0' p.csv || fail "$(cat p.csv)"
paste -d ' ' <(numbers /vectors mapped.h5) <(numbers /vectors target.h5) |
    awk '{ d = $1 - $2; if (d > 1e-5 || -d > 1e-5) exit 1 }' || fail "mapped vectors are not the target's"
xlm_embed cca source.vec turned.vec --csv cca.csv >cca.out 2>cca.log || fail "$(cat cca.log)"
grep -q '^SVCCA 1.000000' cca.out && grep -q '^linear CKA 1.000000' cca.out || fail "$(cat cca.out)"
grep -q '20 of 20 pairs have vectors' procrustes.log || fail "$(cat procrustes.log)"
ranks 2 xlm_embed similarity mapped.h5 target.h5 --dictionary test.txt >read.out 2>read.log || fail "$(cat read.log)"

# Without their mean, the mapped vectors are in one space with what --target-output writes alone.
logged centred.log xlm_embed procrustes source.vec target.vec learn.txt --refine 0 --normalise unit,centre,unit -o centred.h5
grep -q '^centred.h5: is in one space with the target without its mean, which --target-output writes$' centred.log ||
    fail "nothing about the target without its mean: $(cat centred.log)"
! grep -q 'without its mean' procrustes.log || fail "a word about the mean without need: $(cat procrustes.log)"

# Of one direction each, -1.5 -0.5 0.5 1.5 and -2 -1 0 3 without their means: r = 8 / sqrt(5 * 14), and CKA is its square.
printf '%s\n' 'a 1' 'b 2' 'c 3' 'd 4' >line.vec
printf '%s\n' 'a 1' 'b 2' 'c 3' 'd 6' >other-line.vec
logged line.log xlm_embed cca line.vec other-line.vec
grep -q '^SVCCA 0.956183$' line.log && grep -q '^linear CKA 0.914286$' line.log || fail "one direction: $(cat line.log)"

# Vectors of zeros are words without data, which are no part of a mean or a covariance, and not common to two spaces.
zeros() { # FILE: the same with such words before, between and after others
    sed '1d; 2s/^/n1 0 0 0\n/; 30s/$/\nn2 0 0 0\nn3 0 0 0/; $s/$/\nn4 0 0 0/' "$1"
}
zeros source.vec >source-zeros.vec
zeros turned.vec | sed 's/^n2 0 0 0/n2 1 5 2/; s/^s3 .*/s3 0 0 0/' >turned-zeros.vec
for n in 1 3; do
    logged zeros.log ranks $n xlm_embed cca source-zeros.vec turned-zeros.vec
    grep -q '^source-zeros.vec and turned-zeros.vec: 5 of 64 vectors are 0 and are left out$' zeros.log &&
        grep -q '^vectors 59;' zeros.log && grep -q '^SVCCA 1.000000' zeros.log && grep -q '^linear CKA 1.000000' zeros.log ||
        fail "$n ranks, vectors of zeros: $(cat zeros.log)"
    for file in source source-zeros; do
        logged zeros.log ranks $n xlm_embed pca $file.vec --pairs 500 --csv $file.csv --keep 3 -o $file.h5
        sed -n 's/^mean cosine/&/p; s/^dimensions/&/p' zeros.log >$file.said
    done
    cmp source.said source-zeros.said && cmp source.csv source-zeros.csv &&
        cmp <(strings /words source.h5) <(strings /words source-zeros.h5) || fail "$n ranks: pca of zeros: $(cat zeros.log)"
    numbers /vectors source.h5 | paste -d ' ' - <(numbers /vectors source-zeros.h5) |
        awk '{ d = $1 - $2; if (NF != 2 || d > 1e-5 || -d > 1e-5) exit 1 }' || fail "$n ranks: coordinates beside zeros"
done
logged zeros.log xlm_embed procrustes source-zeros.vec target.vec learn.txt --refine 0 --normalise centre -o zeros.h5
numbers /map zeros.h5 >map
near map 0 0 1 -1 0 0 0 1 0

# Two pairs determine two directions; those of the refinement determine all, and it is their map that is told of.
head -n 2 learn.txt >two.txt
logged two.log xlm_embed procrustes source.vec target.vec two.txt --evaluate test.txt --refine 3 -k 1 -o two.h5
grep -q '^map from 2 pairs, which determine 2 of 3 dimensions' two.log &&
    [ "$(attribute /singular_values/rank two.h5)" = 3 ] && [ "$(attribute /singular_values/pairs two.h5)" -gt 2 ] &&
    ! grep -q 'nearest to the identity' two.log || fail "a map of more pairs: $(attribute /singular_values/rank two.h5) $(cat two.log)"

# Words of a plane, those of the target turned by 35 degrees and up to 12 more or less, some of the pairs wrong: how many
# translations are found, and which pairs refine the map, by the definitions. A word is asked for that has no vector, a pair twice.
awk 'function draw() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    BEGIN { seed = 52; degree = atan2(0, -1) / 180
        for (i = 1; i <= 48; i++) {
            a = 360 * draw() ^ 2; b = a + 35 + 24 * (draw() - 0.5); one = 1 + i % 3; other = 1 + i % 5
            printf "s%d %.7f %.7f\n", i, one * cos(a * degree), one * sin(a * degree) >"plane-source.vec"
            if (i <= 44) printf "t%d %.7f %.7f\n", i, other * cos(b * degree), other * sin(b * degree) >"plane-target.vec"
            if (i <= 20) print "s" i, "t" (i % 4 ? i : i + 9) >"noisy.txt"
            else if (i <= 44) print "s" i, "t" (i % 5 ? i : i - 20) >"asked.txt"
            if (i % 7 == 0) print "s" i, "t" i - 2 >"asked.txt"
        }
        print "s1 none" >"asked.txt"; print "s22 t22" >"asked.txt" }'
cat >plane.awk <<'AWK'
# U Vᵀ of the sum of y xᵀ turns by this angle where the determinant of the sum is positive.
function fit(pairs,    i, m11, m12, m21, m22) {
    m11 = m12 = m21 = m22 = 0
    for (i = 1; i <= pairs; i++) {
        m11 += y[to[i], 1] * x[from[i], 1]; m12 += y[to[i], 1] * x[from[i], 2]
        m21 += y[to[i], 2] * x[from[i], 1]; m22 += y[to[i], 2] * x[from[i], 2]
    }
    if (m11 * m22 <= m12 * m21) print "a reflection"
    return atan2(m21 - m12, m11 + m22)
}
function turn(w,    i, j) {
    for (i = 1; i <= n[1]; i++) for (j = 1; j <= n[2]; j++)
        cosine[i, j] = (cos(w) * x[i, 1] - sin(w) * x[i, 2]) * y[j, 1] + (sin(w) * x[i, 1] + cos(w) * x[i, 2]) * y[j, 2]
}
# The mean of the k largest cosines of a side's word i with the first m of the other.
function nearby(side, i, m,    t, j, best, sum, value, taken) {
    for (j = 1; j <= m; j++) value[j] = side == 1 ? cosine[i, j] : cosine[j, i]
    for (t = 1; t <= k; t++) {
        best = 0
        for (j = 1; j <= m; j++) if (!(j in taken) && (!best || value[j] > value[best])) best = j
        taken[best]; sum += value[best]
    }
    return sum / k
}
# Makes from and to the pairs of words that are each other's nearest by CSLS among the first m, and `mean` their mean cosine.
function find_pairs(m,    side, i, j, v, r, most, nearest, pairs) {
    for (side = 1; side <= 2; side++) {
        for (j = 1; j <= m; j++) r[j] = nearby(3 - side, j, m)
        for (i = 1; i <= m; i++) for (j = 1; j <= m; j++) {
            v = 2 * (side == 1 ? cosine[i, j] : cosine[j, i]) - r[j]
            if (j == 1 || v > most) { most = v; nearest[side, i] = j }
        }
    }
    mean = pairs = 0
    for (i = 1; i <= m; i++) if (nearest[2, nearest[1, i]] == i) {
        from[++pairs] = i; to[pairs] = nearest[1, i]; mean += cosine[i, nearest[1, i]]
    }
    mean /= pairs
    return pairs
}
function measure(when,    csls, i, j, v, r, best, rank, words, p1, p5, p10, mrr) {
    for (csls = 0; csls < 2; csls++) {
        for (j = 1; j <= n[2]; j++) r[j] = csls ? nearby(2, j, csls_words) : 0
        words = p1 = p5 = p10 = mrr = 0
        for (i = 1; i <= n[1]; i++) if (i in asked) {
            best = -9; rank = 1
            for (j = 1; j <= n[2]; j++) { v[j] = (1 + csls) * cosine[i, j] - r[j]; if ((i, j) in right && v[j] > best) best = v[j] }
            for (j = 1; j <= n[2]; j++) rank += !((i, j) in right) && v[j] >= best
            words++; p1 += rank <= 1; p5 += rank <= 5; p10 += rank <= 10; mrr += 1 / rank
        }
        print when, csls ? "CSLS" : "cosine", words, n[2], p1 / words, p5 / words, p10 / words, mrr / words
    }
}
FILENAME ~ /vec$/ {
    side = FILENAME ~ /source/ ? 1 : 2; number[$1] = i = ++n[side]; length_ = sqrt($2 ^ 2 + $3 ^ 2)
    for (c = 1; c <= 2; c++) if (side == 1) x[i, c] = $(c + 1) / length_; else y[i, c] = $(c + 1) / length_
}
FILENAME == "noisy.txt" { from[++pairs] = number[$1]; to[pairs] = number[$2] }
FILENAME == "asked.txt" && $2 in number { asked[number[$1]]; right[number[$1], number[$2]] }
END {
    turn(0); measure("before")
    w = fit(pairs); kept = pairs
    for (round = 0; round <= refine && refine > 0; round++) {
        if (round) { next_w = fit(found); learned = found } else { next_w = w; learned = pairs }
        turn(next_w); found = find_pairs(refine_words)
        if (!round || mean > most) { most = mean; w = next_w; kept = learned; kept_round = round }
    }
    turn(w); measure("after")
    print cos(w), -sin(w), sin(w), cos(w), kept
    print kept_round + 0 >"kept"
}
AWK
for refine in 0 3; do
    logged plane.log xlm_embed procrustes plane-source.vec plane-target.vec noisy.txt --evaluate asked.txt -k 3 --csls-words 15 \
        --refine $refine --refine-words 30 -o plane.h5 --csv plane.csv
    awk -v k=3 -v csls_words=15 -v refine=$refine -v refine_words=30 -f plane.awk plane-source.vec plane-target.vec noisy.txt \
        asked.txt >hand
    { sed 1d plane.csv; numbers /map plane.h5 | paste -d ' ' - - - - |
        sed "s/\$/ $(attribute /singular_values/pairs plane.h5)/"; } >got
    same_numbers got hand 3e-6 || fail "--refine $refine: $(cat got), by hand: $(cat hand)"
done
# Some are found, not all; and the map of the second refinement is better than that of the last.
[ "$(cat kept)" = 2 ] && awk '$1 == "after" { n += $5 > 0 && $5 < $6 && $6 < $7 && $7 < 1 } END { exit n != 2 }' hand ||
    fail "the plane: $(cat kept hand)"

# Four points: the variances are 8/3 and 2/3, the third direction has none.
printf '%s\n' 'a 5 1 7' 'b 1 1 7' 'c 3 2 7' 'd 3 0 7' >cross.vec
xlm_embed pca cross.vec --csv pca.csv --keep 2 -o kept.h5 >pca.out 2>pca.log || fail "$(cat pca.log)"
grep -q '^1,2.66666667,0.800000,0.800000' pca.csv && grep -q '^2,0.666666667,0.200000,1.000000' pca.csv || fail "$(cat pca.csv)"
numbers /vectors kept.h5 >kept
near kept 2 0 -2 0 0 1 0 -1
grep -q '^4 vectors x 2, principal coordinates, written to kept.h5' pca.log || fail "$(cat pca.log)"
xlm_embed pca cross.vec --remove 1 -o left.h5 >pca.out 2>pca.log || fail "$(cat pca.log)"
numbers /vectors left.h5 >left
near left 0 0 0 0 0 0 0 1 0 0 -1 0
for n in 1 4; do
    ranks $n xlm_embed whiten cross.vec --keep 2 -o white.h5 2>white.log || fail "$n ranks: $(cat white.log)"
    numbers /vectors white.h5 >white
    near white 1.2247449 0 -1.2247449 0 0 1.2247449 0 -1.2247449
    [ "$(grep -c '^4 vectors x 2, whitened, written to white.h5' white.log)" -eq 1 ] || fail "$n ranks: $(cat white.log)"
    ranks $n xlm_embed pca source.vec >"pca-$n.out" 2>pca.log || fail "$n ranks: $(cat pca.log)"
    cmp -s pca-1.out "pca-$n.out" || fail "$n ranks: $(diff pca-1.out "pca-$n.out")"
done
grep -q 'dimensions with variance: 3 of 3' pca-1.out && grep -q 'mean cosine of 100000 random pairs' pca-1.out ||
    fail "$(cat pca-1.out)"
awk '{ print $1, $2, $3 }' cross.vec >plane.vec
logged white.log xlm_embed whiten plane.vec -o white.h5
numbers /vectors white.h5 >white
near white 1.2247449 0 -1.2247449 0 0 1.2247449 0 -1.2247449

# A word that all of a file's words must make room for.
{ cat plane.vec; printf '%01001d 1 2\n' 0; } >long.vec
! grep -q 'longest word' white.log || fail "usual words are said to be long: $(cat white.log)"
logged white.log xlm_embed whiten long.vec -o white.h5
grep -q 'warning: the longest word has 1001 bytes, and in the file each of the 5 takes as many: 0.0 MB$' white.log ||
    fail "a word of 1 KB: $(cat white.log)"

# One space with two languages, and the subwords of a dictionary.
small_corpus --para en-xx=text.en,text.xx --bpe 400
logged train.log xlm_train job.conf --set train.steps=1
printf 'house hyoyusye\nred ryed\nold oyld\nriver ryivyer\n' >pairs.txt
logged dict.log xlm_dict corpus.h5 --source en --target xx --text pairs.txt -o dict.h5
ranks 2 xlm_embed procrustes out/latest dict.h5 --corpus corpus.h5 --refine 0 -o joint.h5 >joint.out 2>joint.log ||
    fail "$(cat joint.log)"
grep -q 'warning: dict.h5: the vectors of its pairs have 3 dimensions of 32' joint.log &&
    grep -q '^3 pairs of the dictionary determine 3 of 32 dimensions .*above 1e-06 of the largest' joint.out ||
    fail "nothing about few pairs: $(cat joint.log joint.out)"
[ "$(sed -n '/determine/=' joint.out)" = "$(wc -l <joint.out)" ] || fail "not below the table: $(cat joint.out)"
[ "$(attribute /singular_values/rank joint.h5) $(attribute /singular_values/pairs joint.h5)" = '3 3' ] &&
    is_near "$(attribute /singular_values/threshold joint.h5)" 1e-6 1e-12 &&
    numbers /singular_values joint.h5 | awk '{ n += NR == 1 || ($1 <= last && $1 > -1e-12); last = $1 } END { exit n != 32 || NR != 32 }' ||
    fail "singular values: $(h5dump -d /singular_values joint.h5)"
xlm_embed procrustes out/latest dict.h5 --corpus corpus.h5 --refine 0 2>/dev/null | cmp - joint.out || fail "ranks differ"
# Read from the other side, a dictionary has words in its pairs and in those that were left out: two of en have one of xx.
words_of() { tr ' ' '\n' <text.en | sort -u; }
paste <(words_of) <(words_of | sed 's/[aeiou]/y&/g' | awk 'NR % 2 { word = $0 } { print word }') >doubled.txt
logged dict.log xlm_dict corpus.h5 --source en --target xx --text doubled.txt --share 0.5 -o half.h5
for part in pairs left_out; do pairs_of /dictionary/$part half.h5 | cut -d ' ' -f 2 | sort -u >half.$part; done
unseen=$(comm -13 half.pairs half.left_out | wc -l)
[ "$unseen" -gt 0 ] && [ "$unseen" -lt "$(wc -l <half.left_out)" ] || fail "unseen: $unseen of $(wc -l <half.left_out)"
logged half.log xlm_embed procrustes out/latest half.h5 --languages xx,en --refine 0 --csv half.csv
[ "$(cut -d, -f3 half.csv | sed 1d | sort -u)" = "$unseen" ] && grep -q '^half.h5: of [0-9]* pairs that were left out, ' half.log ||
    fail "$unseen words are not trained on: $(cat half.csv half.log)"
# Without a corpus it is not known which subwords are of which language.
xlm_embed procrustes out/latest dict.h5 --refine 0 >all.out 2>/dev/null
xlm_embed procrustes out/latest dict.h5 2>all.log | cmp - all.out || fail "learned again: $(cat all.log)"
expect 64 'refine=-1: ' xlm_embed procrustes source.vec target.vec learn.txt --refine=-1
expect 64 '--refine=1: in one space it needs --corpus' ranks 2 xlm_embed procrustes out/latest dict.h5 --refine 1
# The map is learned again, by default too. Where all subwords are of both languages, none is taken for its own translation: W would
# leave nearly all in their places, with a trace of 25; that of the identity is 32.
mkdir same && cp text.en text.xx job.conf same && cd same || exit 1
small_corpus --para en-xx=text.en,text.en --bpe 400
logged train.log xlm_train job.conf --set train.steps=1
printf 'house red\nred old\nold river\n' >pairs.txt
logged dict.log xlm_dict corpus.h5 --source en --target xx --text pairs.txt -o dict.h5
ranks 2 xlm_embed procrustes out/latest dict.h5 --corpus corpus.h5 -o same.h5 >same.out 2>same.log || fail "$(cat same.log)"
xlm_embed procrustes out/latest dict.h5 --corpus corpus.h5 --refine 5 2>/dev/null | cmp - same.out || fail "ranks differ"
numbers /map same.h5 | awk 'NR % 33 == 1 { trace += $1 } END { exit !(NR == 1024 && trace < 20) }' ||
    fail "subwords are their own translations: $(cat same.log)"
cd ..
logged cca.log xlm_embed cca out/latest out/latest
grep -q '^linear CKA 1.000000' cca.log || fail "$(cat cca.log)"

only_in_check_all

# Vectors in a plane: 20 pairs, but two dimensions of three.
awk 'NR > 1 { print $1, $2, $3, $2 + $3 }' source.vec >flat.vec
awk 'NR > 1 { print $1, $3, $2, $2 + $3 }' target.vec >flat-target.vec
logged flat.log ranks 8 xlm_embed procrustes flat.vec flat-target.vec learn.txt --refine 0
grep -q 'warning: learn.txt: the vectors of its pairs have 2 dimensions of 3' flat.log ||
    fail "no word of the rank: $(cat flat.log)"
grep -q 'the vectors of its pairs have' procrustes.log && fail "$(cat procrustes.log)"
logged flat.log ranks 3 xlm_embed cca flat.vec flat.vec --variance 1
grep -q ': 2 of 3, 2 of 3$' flat.log && grep -q '^SVCCA 1.000000' flat.log || fail "$(cat flat.log)"

# Few vectors: subspaces of n - 1 dimensions have some in common whatever they are, and so many correlations are 1.
awk 'BEGIN { seed = 3; for (i = 1; i <= 6; i++) { line = "w" i; for (c = 0; c < 8; c++) { seed = (seed * 16807) % 2147483647
    line = line " " seed / 2147483647 }; print line } }' >six-1.vec
awk 'BEGIN { seed = 7; for (i = 1; i <= 6; i++) { line = "w" i; for (c = 0; c < 8; c++) { seed = (seed * 16807) % 2147483647
    line = line " " seed / 2147483647 }; print line } }' >six-2.vec
logged six.log ranks 2 xlm_embed cca six-1.vec six-2.vec --variance 1
grep -q 'warning: 6 vectors have 5 dimensions .* 5 and 5 are kept: 5 of the 5 ' six.log && grep -q '^SVCCA 1.000000' six.log ||
    fail "nothing about n - 1 directions: $(cat six.log)"
logged six.log xlm_embed cca six-1.vec six-2.vec --variance 0.8 --csv six.csv
kept=$(sed -n 's/.*variance: \([0-9]*\) of 8, \([0-9]*\) of 8$/\1 \2/p' six.log)
common=$(($(sed 's/ / + /' <<<"$kept") - 5))
[ $common -gt 0 ] && [ $common -lt 5 ] && grep -q ": $common of the " six.log &&
    [ "$(awk -F, 'NR > 1 && $2 > 0.999999' six.csv | wc -l)" -eq $common ] || fail "$kept: $(cat six.log six.csv)"
logged six.log xlm_embed cca six-1.vec six-2.vec --variance 0.3
! grep -q warning six.log || fail "a warning without need: $(cat six.log)"

# ---- bad input ----
mkdir none
printf 'no such\n' >foreign.txt
{ head -3 source.vec; echo 's3 nan 0 0'; } | sed 1d >nan.vec
expect 65 'of its 1 pairs, none has both words' ranks 2 xlm_embed procrustes source.vec target.vec foreign.txt -o none/x.h5
expect 65 'of its 20 pairs, none has both words' xlm_embed procrustes target.vec source.vec learn.txt -o none/x.h5
# Dictionaries of other languages than the first one's, or than --languages.
expect 64 'pairs.txt: does not name its languages; give those of dict.h5' \
    xlm_embed procrustes out/latest pairs.txt --evaluate dict.h5
expect 65 'dict.h5: has other languages than --languages=en,en$' xlm_embed procrustes out/latest dict.h5 --languages en,en
mkdir three && cp text.en text.xx pairs.txt job.conf three && cd three || exit 1
small_corpus --para en-xx=text.en,text.xx --mono yy=text.xx --bpe 400
logged train.log xlm_train job.conf --set train.steps=1
for language in xx yy; do logged dict.log xlm_dict corpus.h5 --source en --target $language --text pairs.txt -o $language.h5; done
expect 65 'yy.h5: has other languages than xx.h5$' xlm_embed procrustes out/latest xx.h5 --evaluate yy.h5
cd ..
expect 64 'files of vectors do not have' xlm_embed procrustes source.vec target.vec dict.h5 -o none/x.h5
expect 64 'procrustes takes' xlm_embed procrustes source.vec
expect 64 '--languages=en: must be two languages' xlm_embed procrustes out/latest dict.h5 --languages en --corpus corpus.h5
expect 64 '--neighbours=1001: must be from 1 to 1000' xlm_embed procrustes source.vec target.vec learn.txt --neighbours 1001
expect 64 'must be unit, centre or none' xlm_embed procrustes source.vec target.vec learn.txt --normalise length
xlm_prep --mono en=text.en --mono xx=text.xx --words space --bpe 300 -o other.h5 2>/dev/null
logged dict.log xlm_dict other.h5 --source en --target xx --text pairs.txt --subwords first -o other-dict.h5
expect 65 'other-dict.h5' ranks 2 xlm_embed procrustes out/latest other-dict.h5 -o none/x.h5
expect 65 'other-dict.h5' ranks 2 xlm_embed map out/latest --dictionary other-dict.h5 -o none/x.svg
expect 65 'other-dict.h5' ranks 2 xlm_embed dictionary out/latest other-dict.h5
expect 65 'other-dict.h5' ranks 2 xlm_embed similarity out/latest --languages en,xx --dictionary other-dict.h5
expect 65 'in 2 of 3 directions only; --keep 2' ranks 2 xlm_embed whiten cross.vec -o none/x.h5
expect 65 'nan.vec' ranks 2 xlm_embed pca nan.vec
sed '1d; 5s/ .*/ inf 0 0/' target.vec >inf.vec
expect 65 'inf.vec:4: has a number that is not finite' ranks 2 xlm_embed procrustes source.vec inf.vec learn.txt -o none/x.h5
expect 65 'inf.vec:4: has a number that is not finite' ranks 2 xlm_embed whiten inf.vec -o none/x.h5
expect 65 'inf.vec:4: has a number that is not finite' ranks 2 xlm_embed cca target.vec inf.vec
expect 65 'foreign.txt: of its 1 pairs, none' \
    ranks 2 xlm_embed procrustes source.vec target.vec learn.txt -e foreign.txt -o none/x.h5
expect 65 'at least 2' xlm_embed pca source.vec --most 1
printf 'a 1 1\nb 1 1\n' >same.vec
expect 65 'no variance' xlm_embed pca same.vec
expect 64 '--keep=4' xlm_embed pca source.vec --keep 4 -o none/x.h5

# A number that is not finite, near the end of a file of vectors and of the word embeddings of a model: every command that reads
# them names the file and the array.
hex() { od -An -v -tx1 "$1" | tr -d ' \n'; }
# spoil DATASET FROM TO: a copy with a NaN, and the checksum that was there. Fletcher-32 is made of the sum of 16-bit words and of
# the sum of their sums, modulo 65535: neither changes when a word is made less by 2 d, and the words on both sides of it more by
# d. The word is the higher half of a number, so that the others are the lower half of it and of the next.
spoil() {
    local at bytes
    h5dump -d "$1" -b LE -o data.bin "$2" >/dev/null || fail "no $1 in $2"
    at=$(printf '%s\n%s\n' "$(hex "$2")" "$(hex data.bin)" |
        awk 'NR == 1 { file = $0 } NR == 2 { print (index(file, $0) - 1 + length($0)) / 2 - 80 }')
    bytes=$(od -An -tu1 -j $((at)) -N 6 "$2" |
        awk 'function octal(word) { return sprintf("\\%03o\\%03o", int(word / 256), word % 256) }
        { d = ($3 * 256 + $4 - 49279 + 65535) % 65535 * 32768 % 65535 # 49279: the bytes c0 7f
            print octal(($1 * 256 + $2 + d) % 65535) octal(49279) octal(($5 * 256 + $6 + d) % 65535) }')
    cp "$2" "$3"
    # shellcheck disable=SC2059 # octal numbers of the bytes
    printf "$bytes" | dd of="$3" bs=1 seek=$((at)) conv=notrunc 2>/dev/null
    h5dump -d "$1" "$3" 2>&1 | grep -q -w nan || fail "$3 has no NaN"
}
logged export.log xlm_embed export out/latest -o words.h5
spoil /vectors words.h5 nan.h5
spoil /model/embeddings/word/weight out/latest model.h5
for file in nan.h5 model.h5; do
    where='/*vector'
    [ "$file" != model.h5 ] || where=/model/embeddings/word/weight
    not_finite() { expect 65 "^xlm_embed: $file: $where.*\(not finite\|is -*nan\)" ranks $n xlm_embed "$@"; once '^xlm_embed: '; }
    # The commands agree on an error of either file in the same way.
    n=2
    [ "$file" != model.h5 ] || n=1
    not_finite pca "$file" -o none/x.h5
    not_finite whiten "$file" -o none/x.h5
    not_finite cca "$file" words.h5
    not_finite cca words.h5 "$file"
    not_finite procrustes "$file" words.h5 pairs.txt -o none/x.h5
    not_finite procrustes words.h5 "$file" pairs.txt -o none/x.h5
    not_finite similarity "$file" --dictionary pairs.txt
    not_finite neighbours "$file" house
    not_finite neighbours words.h5 house --word-vectors "$file"
    not_finite map "$file" --dictionary pairs.txt -o none/x.svg
done
n=2
not_finite procrustes "$file" dict.h5 -o none/x.h5
not_finite export "$file" -o none/x.h5
not_finite export "$file" --text text.en -o none/x.h5
not_finite map "$file" --sentences corpus.h5 -o none/x.svg
not_finite alignment "$file" dict.h5 corpus.h5
not_finite dictionary "$file" dict.h5
not_finite retrieval "$file" corpus.h5
not_finite mine "$file" mined.en mined.xx --threshold 1 -o none/x.tsv

expect 65 'in the same order' ranks 2 xlm_embed cca source.vec target.vec
expect 65 'has 60 vectors' xlm_embed cca source.vec cross.vec
nothing_in none
finish
