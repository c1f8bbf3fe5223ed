#!/usr/bin/env bash
# xlm-mpi: what the parts of newer encoders cost: rotary positions, gates, windows of attention.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   GeGLU of width 1,365 with rotary positions, beside GELU of width 2,048 with learned ones: as many operations. 8 layers of 512.
#   8,192 tokens of text with windows of 128 tokens, as one sequence beside 16 of 512 tokens. 4 layers of 512.
#   a step of 12 layers of 768 with 512 tokens of text a sequence: how near it comes to its products alone.
#   a sequence of 8,192 tokens in a model of ModernBERT base's form with recompute: memory of the process, update included.
#
# XLM_BENCH_STEPS   steps of a run (4), the first of which does not count
# XLM_BENCH_ROUNDS  rounds, in which the two of a comparison take turns (3); medians are shown
#
# One rank; one thread, but for the memory. Seconds are those of a step, the update included.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
in_scratch
made_corpus "$work" 20000

modern=('norm = pre' 'final_norm = true' 'first_norm = false' 'norm_biases = false' 'linear_biases = false'
    'position_type = rotary' 'rotary_theta = 160000' 'gated_feed_forward = true')
window=('rotary_theta_local = 10000' 'attention_window = 128')

section "rotary positions and gates, seconds of a step"
job learned 8 512 8 128 16
job geglu 8 512 8 128 16 'feed_forward_size = 1365' 'position_type = rotary' 'gated_feed_forward = true'
compare "rate of GeGLU, rotary beside GELU, learned" learned geglu ">= 0.95"

section "a window of 128 tokens, seconds of a step of 8,192 tokens"
job w512 4 512 8 512 16 "${modern[@]}" "${window[@]}"
for length in 1024 2048 4096 8192; do
    job "w$length" 4 512 8 "$length" $((8192 / length)) "${modern[@]}" "${window[@]}"
    compare "sequences of $length tokens beside 512" "w$length" w512 "<= 1.05"
done

section "12 layers of 768, sequences of 512 tokens: rate of a step's products, the time of all else included"
job base 12 768 12 512 4 "${modern[@]}" 'feed_forward_size = 2048'
for round in $(seq "${XLM_BENCH_ROUNDS:-3}"); do
    rm -rf base
    "${launcher[@]}" -n 1 xlm_train base.conf --set train.threads=1 --set train.steps="${XLM_BENCH_STEPS:-4}" --set train.output=base 2>&1 |
        sed -n 's/^step .*  \([0-9]*\)% of GEMM.*/\1/p' | sed 1d
done | sort -n >shares
share=$(awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] / 100 }' shares)
row "beside GEMM's rate" "$share" 1 "$share" ">= 0.85"

section "a sequence of 8,192 tokens, ModernBERT base's form (22 layers of 768), recompute"
job long 22 768 12 8192 1 "${modern[@]}" "${window[@]}" 'global_attention_every = 3' 'feed_forward_size = 1152'
"${launcher[@]}" -n 1 xlm_train long.conf --set train.recompute=true --set train.threads=2 --set train.steps=2 \
    --set train.output=long >long.log 2>&1 || { tail -n 3 long.log >&2; exit 1; }
peak=$(sed -n 's/^peak memory: \([0-9.]*\) GiB.*/\1/p' long.log)
row "memory beside 24 GiB, GiB" "$peak" 24 "$(quotient "$peak" 24)" "<= 1"
row "estimated by --plan" "$(sed -n 's/^memory: \([0-9.]*\) GiB a rank.*/\1/p' long.log) GiB" "$peak GiB" ""
