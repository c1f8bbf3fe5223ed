#!/usr/bin/env bash
# xlm-mpi: factors of a co-occurrence table beside its shifted positive PMI, computed here; on several ranks; bad input.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus --bpe 60
logged cooc.log xlm_cooc corpus.h5 -o cooc.h5 --window 2
words=$(numbers /words/totals cooc.h5 | wc -l)

# expected SHIFT SMOOTHING: lines "i j", the element (i, j) of M Mᵀ, M the shifted positive PMI of the table.
expected() {
    paste -d ' ' <(numbers /cooccurrence/columns cooc.h5) <(numbers /cooccurrence/counts cooc.h5) >entries.txt
    numbers /cooccurrence/offsets cooc.h5 | awk -v shift="$1" -v smoothing="$2" '
        FILENAME == "entries.txt" { column[n + 0] = $1; count[n++ + 0] = $2; next }
        FNR > 1 { for (v = FNR - 1; at + 0 < $1; at++) x[v - 1, column[at + 0]] = x[column[at + 0], v - 1] = count[at + 0] }
        END {
            for (key in x) { split(key, k, SUBSEP); total[k[1]] += x[key] }
            for (i in total) contexts += total[i] ^ smoothing
            for (key in x) {
                split(key, k, SUBSEP)
                value = log(x[key] * contexts / (total[k[1]] * total[k[2]] ^ smoothing * shift))
                if (value > 0) m[k[1], k[2]] = value
            }
            for (i = 0; i < v; i++)
                for (j = 0; j < v; j++) {
                    sum = 0
                    for (c = 0; c < v; c++) if ((i, c) in m && (j, c) in m) sum += m[i, c] * m[j, c]
                    printf "%.12f\n", sum
                }
        }' entries.txt -
}
# gram FILE: the same of the vectors W of a file, W Wᵀ.
gram() {
    numbers /vectors "$1" | awk -v v="$words" '{ x[n++] = $1 } END { d = n / v
        for (i = 0; i < v; i++) for (j = 0; j < v; j++) { sum = 0
            for (c = 0; c < d; c++) sum += x[i * d + c] * x[j * d + c]
            printf "%.5f\n", sum } }'
}
# near A B: numbers that differ by 1e-3 at most.
near() {
    paste -d ' ' "$1" "$2" | awk '{ d = $1 - $2; if (NF != 2 || d > 1e-3 || -d > 1e-3) { print NR ": " $0; exit 1 } }
        END { if (NR == 0) exit 1 }' >difference || fail "$1 and $2 differ: $(cat difference)"
}

# With power 1 and all dimensions W Wᵀ = M Mᵀ.
for settings in '1 0.75' '2 1'; do
    read -r shift smoothing <<<"$settings"
    logged f.log xlm_embed factorise cooc.h5 -o all.h5 --rank "$words" --power 1 --shift "$shift" --smoothing "$smoothing"
    expected "$shift" "$smoothing" >wanted
    gram all.h5 >got
    near wanted got
done
grep -q 'memory of a rank: at most' f.log || fail "nothing about memory: $(cat f.log)"
[ "$(attribute /smoothing all.h5)" = 1 ] && [ "$(attribute /shift all.h5)" = 2 ] &&
    [ "$(attribute /vectors all.h5)" = '"shifted positive PMI"' ] || fail "attributes"
# Words without positive PMI, such as <s>.
zeros=$(awk -v v="$words" '(NR - 1) % (v + 1) == 0 && $1 <= 0 { n++ } END { print n }' wanted)
[ "$zeros" -gt 0 ] && grep -q "^$zeros of $words subwords have no pair with .*; their vectors are 0" f.log ||
    fail "not $zeros vectors of zeros: $(cat f.log)"
cmp <(strings /words/subwords cooc.h5) <(strings /words all.h5) && [ "$(strings /words all.h5 | wc -l)" = "$words" ] ||
    fail "other words"

# The same on any number of ranks, and with other powers the same directions.
logged one.log xlm_embed factorise cooc.h5 -o one.h5 --rank 10 --seed 7
for n in 2 4; do
    logged ranks.log ranks $n xlm_embed factorise cooc.h5 -o ranks.h5 --rank 10 --seed 7
    for part in /vectors /singular_values; do
        numbers $part one.h5 >wanted; numbers $part ranks.h5 >got
        paste -d ' ' wanted got | awk '{ d = $1 - $2; if (d > 2e-5 || -d > 2e-5) bad = 1 } END { exit bad || NR == 0 }' ||
            fail "$n ranks: other $part"
    done
done
numbers /singular_values one.h5 | awk '$1 <= 0 || (NR > 1 && $1 > last) { bad = 1 } { last = $1 } END { exit bad || NR == 0 }' ||
    fail "singular values do not fall"
logged zero.log xlm_embed factorise cooc.h5 -o zero.h5 --rank 10 --seed 7 --power 0
paste -d ' ' <(numbers /vectors zero.h5) <(numbers /vectors one.h5) |
    awk -v s="$(numbers /singular_values one.h5 | tr '\n' ' ')" 'BEGIN { split(s, value, " ") }
        { d = $2 - $1 * sqrt(value[(NR - 1) % 10 + 1]); if (d > 1e-4 || -d > 1e-4) exit 1 }' || fail "--power"

# More dimensions than the matrix has: said, with how many these are, by elimination; the others are 0. Few pairs are above so
# large a shift.
expected 8 0.75 >gram.txt
dimensions=$(awk -v v="$words" '{ a[int((NR - 1) / v), (NR - 1) % v] = $1 } END {
    for (rank = 0; rank < v; rank++) {
        top = 0
        for (i = rank; i < v; i++) for (j = rank; j < v; j++) { x = a[i, j] < 0 ? -a[i, j] : a[i, j]
            if (x > top) { top = x; r = i; c = j } }
        if (rank == 0) first = top
        if (top <= 1e-9 * first) break
        for (j = 0; j < v; j++) { x = a[rank, j]; a[rank, j] = a[r, j]; a[r, j] = x }
        for (i = 0; i < v; i++) { x = a[i, rank]; a[i, rank] = a[i, c]; a[i, c] = x }
        for (i = rank + 1; i < v; i++) { x = a[i, rank] / a[rank, rank]
            for (j = rank; j < v; j++) a[i, j] -= x * a[rank, j] }
    }
    print rank }' gram.txt)
[ "$dimensions" -gt 2 ] && [ "$dimensions" -lt "$words" ] || fail "of $words words there are $dimensions dimensions"
for n in 1 2; do
    logged few.log ranks $n xlm_embed factorise cooc.h5 -o few.h5 --rank "$words" --shift 8
    grep -q "warning: cooc.h5: .* has $dimensions dimensions.*--rank $dimensions" few.log ||
        fail "no word of $dimensions dimensions: $(cat few.log)"
    [ "$(attribute /singular_values/rank few.h5)" = "$dimensions" ] || fail "rank: $(attribute /singular_values/rank few.h5)"
    numbers /vectors few.h5 | awk -v d="$dimensions" -v v="$words" '(NR - 1) % v >= d && $1 != 0 { bad = 1 }
        (NR - 1) % v == d - 1 && $1 != 0 { last = 1 } END { exit bad || !last }' || fail "vectors beyond $dimensions dimensions"
done
logged enough.log xlm_embed factorise cooc.h5 -o enough.h5 --rank "$dimensions" --shift 8
! grep -q warning enough.log || fail "a warning without need: $(cat enough.log)"

# More words than a basis has columns, which is made again until the residuals of all s^2 are within the tolerance: 0.5 is reached
# sooner than 1e-7, and s^2 is off by no more than its residual says.
awk 'function draw(n) { seed = (seed * 16807) % 2147483647; return seed % n }
    BEGIN { seed = 9; for (i = 0; i < 3000; i++) { topic = draw(20)
        for (w = 0; w < 8; w++) { k = draw(3) ? 45 * topic + draw(45) : draw(900)
            printf "%c%c%c%c ", 97 + k % 26, 97 + int(k / 26) % 26, 97 + int(k / 676), 97 + k * 7 % 26 }
        print "." } }' >many.en
logged many.log xlm_prep --mono en=many.en --words space --bpe 2000 -o many.h5
logged many.log xlm_cooc many.h5 -o many-cooc.h5 --window 2
for tolerance in 0.5 1e-7; do
    logged many.log xlm_embed factorise many-cooc.h5 -o many-$tolerance.h5 --rank 60 --tolerance $tolerance
    sed -n 's/^singular values .*, \([0-9]*\) products .*/\1/p' many.log >products-$tolerance
done
residual=$(attribute /residual many-0.5.h5)
is_between 1e-5 "$residual" 0.5 && is_between 0 "$(attribute /residual many-1e-7.h5)" 1e-7 &&
    [ "$(cat products-0.5)" -lt "$(cat products-1e-7)" ] ||
    fail "--tolerance: $residual, $(attribute /residual many-1e-7.h5); $(cat products-*) products"
paste -d ' ' <(numbers /singular_values many-0.5.h5) <(numbers /singular_values many-1e-7.h5) |
    awk -v most="$residual" '{ d = $1 ^ 2 / $2 ^ 2 - 1; if (d < 0) d = -d; bad += d > most + 1e-5 } END { exit bad || NR != 60 }' ||
    fail "singular values are off by more than $residual says"

# ---- bad input ----
mkdir none
expect 64 'no file to write' xlm_embed factorise cooc.h5
expect 64 '--rank=0' xlm_embed factorise cooc.h5 -o none/x.h5 --rank 0
expect 64 '--shift=0: must be above 0' xlm_embed factorise cooc.h5 -o none/x.h5 --shift 0
expect 64 '--smoothing=1.5: must be from 0 to 1' xlm_embed factorise cooc.h5 -o none/x.h5 --smoothing 1.5
expect 64 '--tolerance=1: must be above 0 and below 1' xlm_embed factorise cooc.h5 -o none/x.h5 --tolerance 1
expect 64 '--power=inf: must be a finite number' xlm_embed factorise cooc.h5 -o none/x.h5 --power inf
expect 64 '--memory: a rank needs' ranks 2 xlm_embed factorise cooc.h5 -o none/x.h5 --rank 5 --memory 1M
expect 65 "has $words subwords" xlm_embed factorise cooc.h5 -o none/x.h5 --rank 5000
expect 65 'take a smaller one' ranks 2 xlm_embed factorise cooc.h5 -o none/x.h5 --rank 5 --shift 1e9
expect 65 'a table' xlm_embed factorise corpus.h5 -o none/x.h5 --rank 5
expect 66 'missing.h5' ranks 2 xlm_embed factorise missing.h5 -o none/x.h5 --rank 5
expect 64 'cooc.h5' xlm_embed factorise cooc.h5 -o cooc.h5 --rank 5
nothing_in none
finish
