#!/usr/bin/env bash
# xlm-mpi: training beside other programs that want the same cores. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_STEPS   steps of a run (6), the first of which does not count
# XLM_BENCH_ROUNDS  rounds, in which the shapes take turns (2); medians over rounds are shown
#
# A model of 2 layers, 256 wide, first alone and then beside as many busy loops as there are cores: with one thread, which then
# has half a core, and with a thread a core, which have half of all.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
work=$(mktemp -d) loops=()
stop_loops() { [[ ${#loops[@]} -eq 0 ]] || kill "${loops[@]}"; loops=(); }
trap 'stop_loops; rm -rf "$work"' EXIT
made_job "$work" "${XLM_BENCH_STEPS:-6}" 2 256 4 4000
cores=$(env -u OMP_NUM_THREADS nproc)

# measure NAME THREADS: appends tokens/s to NAME.rates.
measure() {
    train "$work" "$1" 1 "$2"
    rate "$work/$1/metrics.csv" 1 >>"$work/$1.rates"
}

for ((round = 0; round < ${XLM_BENCH_ROUNDS:-2}; round++)); do
    measure alone "$cores"
    for ((core = 0; core < cores; core++)); do
        while :; do :; done & loops+=($!)
    done
    measure one 1
    measure crowded "$cores"
    stop_loops
done

median_of() { local numbers; mapfile -t numbers <"$work/$1.rates"; median "${numbers[@]}"; }
section "training beside $cores busy loops on $cores cores"
row "$cores threads, beside 1 thread there" "$(median_of crowded) tokens/s" "$(median_of one) tokens/s" \
    "$(quotient "$(median_of crowded)" "$(median_of one)")"
row "$cores threads, beside the same alone" "$(median_of crowded) tokens/s" "$(median_of alone) tokens/s" \
    "$(quotient "$(median_of crowded)" "$(median_of alone)")" ">= 0.3"
