#!/usr/bin/env bash
# xlm-mpi: whole training steps, roberta-8 (8 layers, 512 wide, 40,000 subwords, 16 x 128 tokens a step), on ranks and threads.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_STEPS   steps of a run (5), the first of which does not count
# XLM_BENCH_ROUNDS  rounds, in which the shapes take turns (2); medians over rounds are shown
#
# With oneDNN, 1 x 2 also runs with gemm = onednn, in the same rounds; and for 1 x 2 it is shown how much of the processor's peak
# a step takes (tests/bench/peak.c, measured after each run).
#
# Each run takes turns with the yardstick of tests/bench/step.c: the model's own matrix products with nothing between them, on as
# many cores in the same way (one process of two threads, two of one). Attention's products are not in the yardstick, but count in
# the run's rate.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
in_rounds 2
with_onednn=false
! has_onednn "$work" || with_onednn=true

# yardstick RANKS THREADS: GFLOP/s of all together.
yardstick() {
    local rank process=()
    for ((rank = 0; rank < $1; rank++)); do
        "$XLM_BUILD/tests/bench/step" "$2" 2 yardstick >"$work/yardstick-$rank" & process+=($!)
    done
    for rank in "${process[@]}"; do wait "$rank"; done
    for ((rank = 0; rank < $1; rank++)); do cat "$work/yardstick-$rank"; done | awk '{ sum += $1 } END { printf "%.1f\n", sum }'
}

# run RANKS THREADS: a yardstick and a run; appends to the shape's columns.
run() {
    local name=$1x$2 speed products share
    products=$(yardstick "$1" "$2")
    train "$work" "$name" "$1" "$2" --profile
    speed=$(awk -v n="$1" -v each="$(flops "$work/$name.log")" 'BEGIN { print n * each }')
    share=$(quotient "$speed" "$products" 3)
    say "$1 ranks x $2 threads: $(rate "$work/$name/metrics.csv" 1) tokens/s, $speed GFLOP/s, yardstick $products"
    echo "$(rate "$work/$name/metrics.csv" 1) $speed $products $share" >>"$work/$name.rounds"
}

# of_peak NAME: the peak, and beside it the latest run in NAME.log; appends to NAME.peak.
of_peak() {
    local peak speed
    peak=$("$XLM_BUILD/tests/bench/peak" 2)
    speed=$(flops "$work/$1.log")
    say "1 x 2, $1: $(rate "$work/$1/metrics.csv" 1) tokens/s, $speed GFLOP/s, peak $peak"
    echo "$(rate "$work/$1/metrics.csv" 1) $speed $peak $(quotient "$speed" "$peak" 3)" >>"$work/$1.peak"
}

# column FILE N: the median over rounds.
column() {
    local numbers
    mapfile -t numbers < <(cut -d' ' -f"$2" "$work/$1")
    median "${numbers[@]}"
}

for ((round = 0; round < rounds; round++)); do
    run 1 1
    run 1 2
    of_peak 1x2
    run 2 1
    ! "$with_onednn" || { train "$work" onednn 1 2 --profile --set train.gemm=onednn; of_peak onednn; }
done

section "training, roberta-8, ranks x threads: GFLOP/s beside the products alone"
for shape in 1x1 1x2 2x1; do
    goal=">= 0.88"
    [[ $shape != 1x1 ]] || goal=
    row "$shape" "$(printf '%.0f tokens/s, %.1f GFLOP/s' "$(column $shape.rounds 1)" "$(column $shape.rounds 2)")" \
        "$(column $shape.rounds 3) GFLOP/s" "$(column $shape.rounds 4)" "$goal"
done
beside_peak() { # NAME TEXT [GOAL]
    row "1x2, $2, beside the peak" "$(printf '%.0f tokens/s, %.1f GFLOP/s' "$(column "$1.peak" 1)" "$(column "$1.peak" 2)")" \
        "$(column "$1.peak" 3) GFLOP/s" "$(column "$1.peak" 4)" "${3:-}"
}
beside_peak 1x2 BLIS
if "$with_onednn"; then
    beside_peak onednn oneDNN ">= 0.8"
else
    skipped "1x2, oneDNN, beside the peak" "$(tail -n 1 "$work/dry-run.log")"
fi
scaling() { # SHAPE [GOAL]
    row "$1 beside 1x1" "$(printf '%.0f tokens/s' "$(column "$1.rounds" 1)")" \
        "$(printf '%.0f tokens/s' "$(column 1x1.rounds 1)")" \
        "$(quotient "$(column "$1.rounds" 1)" "$(column 1x1.rounds 1)")" "${2:-}"
}
scaling 2x1 ">= 1.9"
scaling 1x2
row "reduce-scatter during the backward pass, 2x1" "$(hidden "$work/2x1.log")" "" ""
for shape in 1x1 2x1; do
    peak=$(sed -n 's/^peak memory: \([0-9.]*\) GiB.*/\1/p' "$work/$shape.log")
    estimated=$(sed -n 's/^memory: \([0-9.]*\) GiB a rank.*/\1/p' "$work/$shape.log")
    row "memory estimate, off by, $shape" "$estimated GiB" "$peak GiB at the peak" "$(off "$estimated" "$peak")" "<= 0.15"
done
