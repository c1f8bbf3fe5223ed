#!/usr/bin/env bash
# xlm-mpi: a map of 20,000 words on all cores, beside scikit-learn's t-SNE of the same. SPDX-License-Identifier: GPL-3.0-or-later
#
# WORDS   how many (20000), of 100 numbers in 200 groups
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
words=${WORDS:-20000} python=/usr/bin/python3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
awk -v n="$words" 'BEGIN {
    srand(1)
    for (g = 0; g < 200; g++) for (c = 0; c < 100; c++) centre[g, c] = 3 * (rand() + rand() + rand() - 1.5)
    for (i = 0; i < n; i++) { g = int(rand() * 200); line = "w" i
        for (c = 0; c < 100; c++) line = line sprintf(" %.4f", centre[g, c] + 2 * (rand() + rand() + rand() - 1.5))
        print line }
    for (i = 0; i + 1 < n; i += 2) print "w" i, "w" i + 1 >"pairs.txt" }' >words.vec
unset OMP_NUM_THREADS
begin=$(date +%s.%N)
"$XLM_BUILD/xlm_embed" map words.vec --dictionary pairs.txt --coordinates map.h5 -o map.svg 2>map.log ||
    { cat map.log >&2; exit 1; }
seconds=$(awk -v a="$begin" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
divergence=$(h5dump -a /panel.1/kl_divergence map.h5 | sed -n 's/^ *(0): //p')
section "xlm_embed map, $words words x 100, 1,000 iterations, $(nproc) threads"
row "seconds" "$seconds s" "" "$seconds" "<= 180"
"$python" -c 'import sklearn' 2>/dev/null || { skipped "beside scikit-learn" "python3-sklearn is not installed"; exit 0; }
h5dump -d /panel.1/coordinates -b LE -o coordinates map.h5 >/dev/null
read -r their_divergence their_seconds trust their_trust < <(
    "$python" "$XLM_SOURCE/tests/bench/peers/tsne.py" words.vec coordinates)
row "seconds beside scikit-learn" "$seconds s" "$their_seconds s" "$(quotient "$seconds" "$their_seconds")" "<= 1"
row "KL(P || Q)" "$(printf %.4f "$divergence")" "$their_divergence" "$(quotient "$divergence" "$their_divergence" 4)" "<= 1.02"
row "trustworthiness, 12 neighbours" "$trust" "$their_trust" "$(quotient "$trust" "$their_trust" 4)" ">= 0.98"
