#!/usr/bin/env bash
# xlm-mpi: principal directions, Procrustes, analogies and neighbours of many vectors, on ranks, beside GEMM and NumPy.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# BENCH_WORDS, BENCH_WIDTH   vectors (250000 x 768); BENCH_PAIRS of them are the dictionary (20000)
# BENCH_RANKS                numbers of ranks ("1 2 4"); they share the cores
# BENCH_ROUNDS               of everything, NumPy and GEMM too, in turn (3); the best of each is compared, since what disturbs a
#                            measurement only ever makes it slower
# BENCH_VECTORS              a directory that keeps the made vectors; default: none
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
words=${BENCH_WORDS:-250000} width=${BENCH_WIDTH:-768} pairs=${BENCH_PAIRS:-20000}
in_scratch
cores=$(env -u OMP_NUM_THREADS nproc)
source=${BENCH_VECTORS:-$work}/source.h5 target=${BENCH_VECTORS:-$work}/target.h5
[[ -e $source && -e $target ]] || "$XLM_BUILD/tests/bench/vectors" make "$words" "$width" "$source" "$target"
for ((i = 0; i < pairs; i++)); do echo "s$i t$i"; done >dictionary.txt
head -n 1000 dictionary.txt >asked.txt
questions=4000
for ((i = 0; i < questions; i++)); do echo "s$i s$((i + 1)) s$((i + 2)) s$((i + 3))"; done >questions.txt
mapfile -t some < <(cut -d' ' -f1 asked.txt)

declare -A best
# shorter NAME SECONDS, faster NAME RATE: keep the best of a name.
shorter() { best[$1]=$(awk -v a="${best[$1]:-1e9}" -v b="$2" 'BEGIN { print (b < a ? b : a) }'); }
faster() { best[$1]=$(awk -v a="${best[$1]:-0}" -v b="$2" 'BEGIN { print (b > a ? b : a) }'); }
# seconds NAME EXPRESSION: what sed finds in the log of the last program.
seconds() {
    local found
    found=$(sed -n "s/$2/\\1/p" log)
    [[ -n $found ]] || { cat log >&2; return 1; }
    shorter "$1" "$found"
}

measure_gemm() {
    local single double
    read -r single double < <("$XLM_BUILD/tests/bench/vectors" rate "$cores")
    faster single "$single"
    faster double "$double"
}
measure_numpy() {
    local directions fit map near
    # The tests have one thread a rank; NumPy takes as many as there are cores, as ours have together.
    read -r directions fit map near < <(env OMP_NUM_THREADS="$cores" \
        /usr/bin/python3 "$XLM_SOURCE/tests/bench/peers/analysis.py" "$source" "$target" "$pairs")
    shorter numpy-directions "$directions"
    shorter numpy-fit "$fit"
    shorter numpy-map "$map"
    shorter numpy-near "$near"
}
# measure RANKS: "NAME RANKS" of each.
measure() {
    local n=$1 threads=$((cores / $1 > 0 ? cores / $1 : 1))
    on() { "${launcher[@]}" -n "$n" xlm_embed "$@" --threads "$threads" >out 2>log || { cat log >&2; return 1; }; }
    on pca "$source" --pairs 0
    seconds "covariance $n" '.*covariance \([0-9.]*\) s.*'
    seconds "eigenvectors $n" '.*eigenvectors \([0-9.]*\) s.*'
    on procrustes "$source" "$target" dictionary.txt -e asked.txt --refine 0 --csls-words 1000 -o mapped.h5
    seconds "fit $n" '.* dimensions: \([0-9.]*\) s$'
    seconds "map $n" '.* words mapped: \([0-9.]*\) s$'
    rm -f mapped.h5
    on similarity "$source" --analogies questions.txt
    seconds "analogies $n" '^\([0-9.]*\) s$'
    on neighbours "$source" "${some[@]}" -k 0
    seconds "near $n" '^among .*: \([0-9.]*\) s$'
}

numpy=no
! /usr/bin/python3 -c 'import h5py, numpy' 2>/dev/null || numpy=yes
for ((round = 0; round < ${BENCH_ROUNDS:-3}; round++)); do
    measure_gemm
    [[ $numpy = no ]] || measure_numpy
    for n in ${BENCH_RANKS:-1 2 4}; do
        measure "$n"
        measure_gemm
    done
    for name in "${!best[@]}"; do echo "$name ${best[$name]};"; done | sort | xargs echo "the best of $((round + 1)):" >&2
done

section "vectors, $words x $width"
# product NAME WHAT TYPE [ROWS]: the rate of a product of all vectors with so many of their width, beside that of GEMM.
product() {
    local rate
    rate=$(awk -v n="$words" -v d="$width" -v s="${best[$1]}" -v m="${4:-$width}" 'BEGIN { printf "%.1f", 2e-9 * n * d * m / s }')
    row "$2" "$rate GFLOP/s" "${best[$3]} GFLOP/s" "$(quotient "$rate" "${best[$3]}")" ">= 0.6"
}
# beside NUMPY WHAT SECONDS
beside() { row "$2" "$3 s" "${best[$1]} s" "$(quotient "${best[$1]}" "$3")"; }
for n in ${BENCH_RANKS:-1 2 4}; do
    product "covariance $n" "covariance beside DGEMM, $n ranks" double
    product "map $n" "mapping beside SGEMM, $n ranks" single
    product "analogies $n" "$questions analogies beside SGEMM, $n ranks" single "$questions"
    product "near $n" "neighbours of ${#some[@]} words beside SGEMM, $n ranks" single "${#some[@]}"
    [[ $numpy = yes ]] || { skipped "NumPy" "python3-numpy and python3-h5py are not installed"; continue; }
    beside numpy-directions "PCA beside NumPy, $n ranks" \
        "$(awk -v a="${best[covariance $n]}" -v b="${best[eigenvectors $n]}" 'BEGIN { print a + b }')"
    beside numpy-fit "map of $pairs pairs beside NumPy, $n ranks" "${best[fit $n]}"
    beside numpy-map "mapping beside NumPy, $n ranks" "${best[map $n]}"
    beside numpy-near "neighbours of ${#some[@]} words beside NumPy, $n ranks" "${best[near $n]}"
done
