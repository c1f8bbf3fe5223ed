#!/usr/bin/env bash
# xlm-mpi: word alignment by a model of 12 layers of 768: how much of the time is the encoder's, and what a second rank brings.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# BENCH_PAIRS        how many pairs are aligned (500), of two made lines of 24 words
# XLM_BENCH_ROUNDS   rounds, in which one rank and two take turns (1); medians are shown
#
# The model's numbers are drawn: they do not matter for speed. Layer 8 is compared, so 8 layers are computed.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made_job "$work" 1 12 768 12 20000
xlm_train "$work/job.conf" --set train.micro_batches=1 --set "stream text.batch=1" >"$work/train.log" 2>&1 ||
    { tail -n 3 "$work/train.log" >&2; exit 1; }
pairs=${BENCH_PAIRS:-500}
made_text >"$work/made"
head -n "$pairs" "$work/made" >"$work/source"
tail -n "$pairs" "$work/made" >"$work/target"

# align NAME RANKS ARGUMENT...: appends pairs/s and the encoder's share to NAME.rates.
align() {
    "${launcher[@]}" -n "$2" xlm_align "$work/source" "$work/target" --checkpoint "$work/out/latest" --threads 1 "${@:3}" \
        -o "$work/links" 2>"$work/log" >/dev/null || { cat "$work/log" >&2; return 1; }
    say "$1: $(tail -n 1 "$work/log")"
    sed -n 's#.* \([0-9.]*\) pairs/s; the encoder took \([0-9]*\) % .*#\1 \2#p' "$work/log" >>"$work/$1.rates"
}
# column NAME N: the median over rounds.
column() {
    local numbers
    mapfile -t numbers < <(cut -d' ' -f"$2" "$work/$1.rates")
    median "${numbers[@]}"
}

for ((round = 0; round < ${XLM_BENCH_ROUNDS:-1}; round++)); do
    align one 1
    align two 2
    align all 1 --layer all
done
# share NAME TITLE
share() {
    row "$2: the encoder's share" "$(column "$1" 1) pairs/s" "" "$(quotient "$(column "$1" 2)" 100)" ">= 0.85"
}
section "xlm_align --checkpoint, 12 layers of 768, one thread a rank"
share one "one rank"
share two "two ranks"
share all "one rank, all layers"
row "two ranks beside one" "$(column two 1) pairs/s" "$(column one 1) pairs/s" "$(quotient "$(column two 1)" "$(column one 1)")" \
    ">= 1.8"
