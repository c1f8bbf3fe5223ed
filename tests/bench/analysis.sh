#!/usr/bin/env bash
# xlm-mpi: principal directions, Procrustes, analogies and neighbours of many vectors, on ranks, beside GEMM and NumPy.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# BENCH_WORDS, BENCH_WIDTH   vectors (250000 x 768); BENCH_PAIRS of them are the dictionary (20000)
# BENCH_RANKS                numbers of ranks ("1 2 4"); they share the cores, and GEMM is measured again before each
# BENCH_VECTORS              a directory that keeps the made vectors; default: none
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
words=${BENCH_WORDS:-250000} width=${BENCH_WIDTH:-768} pairs=${BENCH_PAIRS:-20000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cores=$(env -u OMP_NUM_THREADS nproc)
source=${BENCH_VECTORS:-$work}/source.h5 target=${BENCH_VECTORS:-$work}/target.h5
[[ -e $source && -e $target ]] || "$XLM_BUILD/tests/bench/vectors" make "$words" "$width" "$source" "$target"
for ((i = 0; i < pairs; i++)); do echo "s$i t$i"; done >dictionary.txt
head -n 1000 dictionary.txt >asked.txt
questions=4000
for ((i = 0; i < questions; i++)); do echo "s$i s$((i + 1)) s$((i + 2)) s$((i + 3))"; done >questions.txt
mapfile -t some < <(cut -d' ' -f1 asked.txt)
section "vectors, $words x $width"
numpy=
if /usr/bin/python3 -c 'import h5py, numpy' 2>/dev/null; then
    numpy=$(/usr/bin/python3 "$XLM_SOURCE/tests/bench/peers/analysis.py" "$source" "$target" "$pairs")
    say "NumPy: $numpy s (covariance and eigenvectors, map of $pairs pairs, mapping, neighbours of ${#some[@]} words)"
fi
read -r numpy_directions numpy_fit numpy_map numpy_near <<<"${numpy:-0 0 0 0}"
# share SECONDS [ROWS]: GFLOP/s of the product of all vectors with so many of their width, or with a matrix of so many.
share() { awk -v n="$words" -v d="$width" -v s="$1" -v m="${2:-$width}" 'BEGIN { printf "%.1f\n", 2e-9 * n * d * m / s }'; }
for n in ${BENCH_RANKS:-1 2 4}; do
    threads=$((cores / n > 0 ? cores / n : 1))
    read -r single double < <("$XLM_BUILD/tests/bench/vectors" rate "$cores")
    say "GEMM of $cores threads: $single GFLOP/s of floats, $double of doubles"
    "${launcher[@]}" -n "$n" xlm_embed pca "$source" --pairs 0 --threads $threads >out 2>log
    read -r covariance eigen < <(sed -n 's/.*covariance \([0-9.]*\) s, eigenvectors \([0-9.]*\) s.*/\1 \2/p' log)
    "${launcher[@]}" -n "$n" xlm_embed procrustes "$source" "$target" dictionary.txt -e asked.txt --refine 0 \
        --csls-words 1000 --threads $threads -o mapped.h5 >out 2>log
    fit=$(sed -n 's/.* dimensions: \([0-9.]*\) s$/\1/p' log)
    map=$(sed -n 's/.* words mapped: \([0-9.]*\) s$/\1/p' log)
    rm -f mapped.h5
    "${launcher[@]}" -n "$n" xlm_embed similarity "$source" --analogies questions.txt --threads $threads >out 2>log
    analogies=$(sed -n 's/^\([0-9.]*\) s$/\1/p' log)
    "${launcher[@]}" -n "$n" xlm_embed neighbours "$source" "${some[@]}" -k 0 --threads $threads >out 2>log
    near=$(sed -n 's/^among .*: \([0-9.]*\) s$/\1/p' log)
    rate=$(share "$covariance")
    row "covariance beside DGEMM, $n ranks" "$rate GFLOP/s" "$double GFLOP/s" "$(quotient "$rate" "$double")" ">= 0.6"
    rate=$(share "$map")
    row "mapping beside SGEMM, $n ranks" "$rate GFLOP/s" "$single GFLOP/s" "$(quotient "$rate" "$single")" ">= 0.6"
    rate=$(share "$analogies" "$questions")
    row "$questions analogies beside SGEMM, $n ranks" "$rate GFLOP/s" "$single GFLOP/s" "$(quotient "$rate" "$single")" ">= 0.6"
    all=$(awk -v a="$covariance" -v b="$eigen" 'BEGIN { print a + b }')
    if [[ -z $numpy ]]; then
        skipped "NumPy" "python3-numpy and python3-h5py are not installed"
        continue
    fi
    row "PCA beside NumPy, $n ranks" "$all s" "$numpy_directions s" "$(quotient "$numpy_directions" "$all")"
    row "map of $pairs pairs beside NumPy, $n ranks" "$fit s" "$numpy_fit s" "$(quotient "$numpy_fit" "$fit")"
    row "mapping beside NumPy, $n ranks" "$map s" "$numpy_map s" "$(quotient "$numpy_map" "$map")"
    row "neighbours of ${#some[@]} words beside NumPy, $n ranks" "$near s" "$numpy_near s" "$(quotient "$numpy_near" "$near")"
done
