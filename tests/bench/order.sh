#!/usr/bin/env bash
# xlm-mpi: what the fixed order of additions costs beside the free one, roberta-8. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_STEPS     steps of a run (5), the first of which does not count
# XLM_BENCH_ROUNDS    rounds, in which the two orders take turns (1); medians over all steps are compared
# XLM_BENCH_MICRO_BATCHES  ("8")
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
in_rounds 1

# seconds ORDER: the median step of its runs.
seconds() {
    local each
    mapfile -t each < <(awk -F, '$3 == "total" && $1 > 1 { print $12 }' "$work/$1"-*/metrics.csv)
    median "${each[@]}"
}

section "fixed order of additions beside the free one, seconds a step"
for micro_batches in ${XLM_BENCH_MICRO_BATCHES:-8}; do
    for shape in "1 2" "2 1"; do
        read -r ranks threads <<<"$shape"
        for ((round = 0; round < rounds; round++)); do
            train "$work" "fixed-$round" "$ranks" "$threads" --set "train.micro_batches=$micro_batches"
            train "$work" "free-$round" "$ranks" "$threads" --set "train.micro_batches=$micro_batches" \
                --set train.reproducible=false
        done
        fixed=$(seconds fixed) free=$(seconds free)
        row "$micro_batches micro_batches, $ranks x $threads" "$fixed s" "$free s" "$(quotient "$fixed" "$free" 3)" "<= 1.05"
    done
done
