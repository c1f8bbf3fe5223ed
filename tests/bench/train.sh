#!/usr/bin/env bash
# xlm-mpi: training speed on roberta-8 (8 layers, 512 wide, 40,000 subwords, 16 x 128 tokens a step), ranks and threads in turn.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Prints tokens/s, the share of the GEMM rate that was measured in the same run, and peak memory. XLM_BENCH_STEPS: steps of
# a run (default 6, the first two of which do not count).
set -euo pipefail
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
roberta_8 "$work" "${XLM_BENCH_STEPS:-6}"

run() { # NAME RANKS THREADS
    train "$work" "$1" "$2" "$3"
    local share
    share=$(grep -o '[0-9]*% of GEMM' "$work/$1.log" | sed 1,2d | awk '{ sum += $1; n++ } END { printf "%.0f", sum / n }')
    printf '%-22s %6s tokens/s  %3s%% of GEMM (%s)  %s\n' "$2 ranks x $3 threads" "$(rate "$work/$1/metrics.csv" 2)" "$share" \
        "$(grep -o '[0-9]* GFLOP/s a rank' "$work/$1.log")" "$(grep -o 'peak memory: [0-9.]* GiB' "$work/$1.log")"
}
printf 'roberta-8: '; xlm_train "$work/job.conf" --dry-run 2>&1 | grep -o '[0-9]* parameters.*'
for round in 1 2; do
    run "one-$round" 1 1
    run "threads-$round" 1 2
    run "ranks-$round" 2 1
done
