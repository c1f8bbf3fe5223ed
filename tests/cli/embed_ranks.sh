#!/usr/bin/env bash
# xlm-mpi: every command of xlm_embed that ranks share gives the same on 1 and 3 ranks, those that share out matrices also on 4 and
# 8, more than there are blocks, the others on 2; numbers to 1e-5 of the largest, signs of directions among them.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# 75 words of 41 numbers in two languages, which lean on one another: matrices of three blocks by two, the last ones not full.
awk 'function draw() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 - 0.5 }
    BEGIN { seed = 15; print "75 41" >"source.vec"; print "75 41" >"target.vec"
        for (i = 1; i <= 75; i++) {
            one = "s" i; other = "t" i
            for (c = 0; c < 41; c++) { x[c] = draw() / (1 + 0.2 * c) + 0.1 }
            for (c = 0; c < 41; c++) {
                one = one sprintf(" %.6f", x[c])
                other = other sprintf(" %.6f", x[40 - c] + 0.05 * draw())
            }
            print one >"source.vec"; print other >"target.vec"
            print "s" i " t" i >(i <= 50 ? "learn.txt" : "test.txt")
            print "s" i "\tt" i % 7 + 1 "\t" i * 31 % 50 >"scored.tsv"
        }
        print ": near" >"questions.txt"
        for (i = 1; i <= 60; i++) print "s" i, "s" i + 3, "s" i + 7, "s" i + 10 >"questions.txt" }'
head -n 12 learn.txt >few.txt
printf '%s\n' 'r1 1 0 0 0 0' 'r2 0 0 3 0 0' >right.vec
printf '%s\n' 'u1 0 2 0 0 0' 'u2 0 0 0 0 1' >right-target.vec
printf 'r1 u1\nr2 u2\n' >right.txt
awk '{ $1 = $1 == "75" ? 75 : "s" NR - 1; print }' target.vec >turned.vec
small_corpus --bpe 100
logged cooc.log xlm_cooc corpus.h5 -o cooc.h5 --window 2

# numbers_of FILE PATH...: of datasets, a line each.
numbers_of() { local path; for path in "${@:2}"; do numbers "$path" "$1"; done; }
# all_of N DIRECTORY: what each command gives on N ranks, a file of numbers or of text each. On 4 and 8 ranks only
# matrices, which two by two share, or two by four; on 2 only what is dealt out by words or points, but neighbours of fewer
# words than ranks also on 8. Other uses of a command of matrices are on 1 and 8.
all_of() {
    local n=$1 to=$2
    mkdir "$to"
    [ "$n" = 2 ] || matrices
    case $n in
    4) ;;
    8) neighbours ;;
    *) words; neighbours ;;
    esac
    rm -f "$to"/*.log "$to"/*.log.out x.h5 y.h5 m.h5
}
run() { local log=$to/$1.log; shift; ranks "$n" xlm_embed "$@" >"$log.out" 2>"$log" || fail "$n ranks, $1: $(cat "$log")"; }
matrices() {
    run procrustes procrustes source.vec target.vec learn.txt --evaluate test.txt --refine 2 -k 3 -o x.h5 --target-output y.h5 \
        --normalise unit,centre,unit --csv "$to/procrustes.csv"
    numbers_of x.h5 /map >"$to/procrustes.map"
    { numbers_of x.h5 /vectors; numbers_of y.h5 /vectors; } >"$to/procrustes.vectors"
    run whiten whiten source.vec -o x.h5
    numbers_of x.h5 /vectors >"$to/whiten.vectors"
    run pca pca source.vec --keep 7 -o x.h5 --csv "$to/pca.csv"
    numbers_of x.h5 /vectors >"$to/pca.coordinates"
    run cca cca source.vec turned.vec --csv "$to/cca.csv"
    cp "$to/cca.log.out" "$to/cca.txt"
    run factorise factorise cooc.h5 -o x.h5 --rank 12 --seed 3
    numbers_of x.h5 /singular_values >"$to/factorise.values"
    numbers_of x.h5 /vectors >"$to/factorise.vectors"
    [ "$n" = 1 ] || [ "$n" = 8 ] || return
    # Fewer pairs than dimensions, and one pair at right angles: what the pairs leave open is the same too.
    run few procrustes source.vec target.vec few.txt --refine 0 -o x.h5
    cp "$to/few.log.out" "$to/few.txt"
    numbers_of x.h5 /map >"$to/few.map"
    numbers_of x.h5 /singular_values >"$to/few.values"
    run right procrustes right.vec right-target.vec right.txt --normalise none --refine 0 -o x.h5
    numbers_of x.h5 /map >"$to/right.map"
    run pca pca source.vec --remove 2 -o x.h5
    numbers_of x.h5 /vectors >"$to/pca.removed"
}
words() {
    run similarity similarity source.vec target.vec --pairs scored.tsv --dictionary test.txt --csv "$to/similarity.csv"
    run analogies similarity source.vec --analogies questions.txt --csv "$to/analogies.csv"
    run map map source.vec --dictionary questions.pairs --perplexity 5 --iterations 50 --coordinates m.h5 -o "$to/map.svg"
    numbers_of m.h5 /panel.1/coordinates /panel.1/component_variance >"$to/map.coordinates"
}
neighbours() { run neighbours neighbours target.vec s3 s40 s75 --word-vectors source.vec -n 20 -k 5 --csv "$to/neighbours.csv"; }
awk '/^s/ { print $1, $2 }' questions.txt >questions.pairs

# as_near A B: texts that agree in all words, and in all numbers to 1e-5 of the largest of the file.
as_near() {
    awk '{ gsub(",", " "); for (i = 1; i <= NF; i++) if ($i ~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) { x = $i < 0 ? -$i : $i + 0
        if (x > most) most = x } } END { printf "%.9g\n", 1e-5 * most }' "$1" >most
    same_numbers "$1" "$2" "$(cat most)"
}

all_of 1 on-1
for n in 2 3 4 8; do
    all_of $n on-$n
    for file in on-$n/*; do
        [ -s "$file" ] || fail "$file is empty"
        as_near "on-1/${file#on-$n/}" "$file" || fail "$n ranks: another $file"
    done
    # What is dealt out by words or points is the same to the bit.
    for file in similarity.csv analogies.csv neighbours.csv map.svg map.coordinates; do
        [ ! -e "on-$n/$file" ] || cmp "on-1/$file" "on-$n/$file" || fail "$n ranks: other bits of $file"
    done
done
for all in 1:20 2:5 3:15 4:10 8:16; do
    [ "$(find on-${all%:*} -type f | wc -l)" -eq ${all#*:} ] || fail "not all is compared: $(ls on-${all%:*})"
done
[ "$(wc -l <on-1/procrustes.map)" -eq 1681 ] && [ "$(wc -l <on-1/whiten.vectors)" -eq 3075 ] &&
    [ "$(wc -l <on-1/neighbours.csv)" -eq 121 ] || fail "the extents: $(wc -l on-1/*)"
finish
