#!/usr/bin/env bash
# xlm-mpi: training speed on roberta-8 (8 layers, 512 wide, 40,000 subwords, 16 x 128 tokens a step), ranks and threads in turn.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Prints tokens/s, the share of the GEMM rate that was measured in the same run, and peak memory. XLM_BENCH_STEPS: steps of
# a run (default 6, the first two of which do not count).
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=${XLM_BENCH_STEPS:-6}

# Words by Zipf's law over 60,000 made forms.
awk 'function draw() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
    BEGIN {
        seed = 11
        for (line = 0; line < 60000; line++) {
            text = ""
            for (n = 0; n < 24; n++) {
                rank = int(exp(draw() * log(60000))); form = ""
                for (x = rank * 7919 % 11881376 + 26; x > 0; x = int(x / 26)) form = form sprintf("%c", 97 + x % 26)
                text = text form " "
            }
            print text
        }
    }' >"$work/text"
xlm_prep --mono en="$work/text" --words space --bpe 40000 --held-out 0.001 -o "$work/corpus.h5" >"$work/prep.log" 2>&1 ||
    { cat "$work/prep.log" >&2; exit 1; }

cat >"$work/job.conf" <<JOB
[model]
layers = 8
hidden_size = 512
attention_heads = 8
positions = 128
[train]
corpus = $work/corpus.h5
output = $work/out
steps = $steps
log_every = 1
evaluate_instances = 1
granules = 2
[stream text]
batch = 16
length = 128
[objective mlm]
stream = text
JOB

run() { # NAME RANKS THREADS
    mpiexec --oversubscribe --bind-to none -n "$2" xlm_train "$work/job.conf" --resume never \
        --set "train.threads=$3" --set "train.output=$work/$1" >"$work/$1.log" 2>&1 || { tail -3 "$work/$1.log" >&2; exit 1; }
    local rate share
    rate=$(awk -F, '$3 == "total" && $1 > 2 { tokens += $11; seconds += $12 } END { printf "%.0f", tokens / seconds }' "$work/$1/metrics.csv")
    share=$(grep -o '[0-9]*% of GEMM' "$work/$1.log" | sed 1,2d | awk '{ sum += $1; n++ } END { printf "%.0f", sum / n }')
    printf '%-22s %6s tokens/s  %3s%% of GEMM (%s)  %s\n' "$2 ranks x $3 threads" "$rate" "$share" \
        "$(grep -o '[0-9]* GFLOP/s a rank' "$work/$1.log")" "$(grep -o 'peak memory: [0-9.]* GiB' "$work/$1.log")"
}
printf 'roberta-8: '; xlm_train "$work/job.conf" --dry-run 2>&1 | grep -o '[0-9]* parameters.*'
for round in 1 2; do
    run "one-$round" 1 1
    run "threads-$round" 1 2
    run "ranks-$round" 2 1
done
