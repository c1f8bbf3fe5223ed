#!/usr/bin/env bash
# xlm-mpi: 64 ranks, 20 steps of a small job, beside one rank. SPDX-License-Identifier: GPL-3.0-or-later
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made_job "$work" 20 1 64 2 2000
small=(--set train.micro_batches=64 --set "stream text.batch=64" --set "stream text.length=32")
for ranks in 1 64; do
    begin=$EPOCHREALTIME
    train "$work" "on-$ranks" "$ranks" 1 "${small[@]}"
    seconds[ranks]=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
done
losses() { awk -F, '$3 == "total" { print $1, $6 }' "$work/on-$1/metrics.csv"; }
same="the same bits"
cmp -s <(losses 1) <(losses 64) || same=DIFFERENT
section "64 ranks, 20 steps of a small job (1 layer x 64), beside one rank"
row "seconds in all" "${seconds[64]} s" "${seconds[1]} s" "$(quotient "${seconds[64]}" "${seconds[1]}")"
row "losses" "$(losses 64 | wc -l) steps" "$same" ""
row "memory of the largest rank" "$(sed -n 's/^peak memory: \([0-9.]* GiB\).*/\1/p' "$work/on-64.log")" \
    "$(sed -n 's/^peak memory: \([0-9.]* GiB\).*/\1/p' "$work/on-1.log")" ""
[[ $same != DIFFERENT ]]
