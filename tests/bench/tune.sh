#!/usr/bin/env bash
# xlm-mpi: fine-tuning beside pre-training on the same lengths, and scoring beside the forward pass alone.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_STEPS   steps of a run (6), the first of which does not count
# XLM_BENCH_ROUNDS  rounds, in which the two of a comparison take turns (3); medians are shown
#
# 8 layers of 512 with 10,000 subwords, one rank of one thread, 32 sequences a step in 8 micro-batches. Sentences of 4 to 24 words
# are tagged; pre-training reads sequences as long as those are on average. xlm_eval is measured from start to end.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
in_scratch
steps=${XLM_BENCH_STEPS:-6} rounds=${XLM_BENCH_ROUNDS:-3}
made_text >made
head -n 20000 made >text
run() { # LOG COMMAND...
    "${@:2}" >"$1" 2>&1 || { tail -n 3 "$1" >&2; exit 1; }
}
run prep.log xlm_prep --mono en=text --words space --bpe 10000 --held-out 0.001 -o corpus.h5
# tagged N: sentences of 4 to 24 words, the tag by a word's length.
tagged() {
    tail -n "$1" made | awk '{ for (i = 1; i <= 4 + NR * 7 % 21; i++) print $i "\t" length($i) % 5; print "" }'
}
tagged $((32 * steps)) >train.tsv
tagged 40 >dev.tsv
tagged 600 >test.tsv
cat >train.conf <<'JOB'
[model]
layers = 8
hidden_size = 512
attention_heads = 8
positions = 128
[train]
corpus = corpus.h5
output = pre
log_every = 1
evaluate_instances = 1
checkpoint_every = 0
threads = 1
[stream text]
batch = 32
length = 32
[objective mlm]
stream = text
JOB
cat >tune.conf <<'JOB'
[tune]
model = start/latest
train = train.tsv
dev = dev.tsv
output = tuned
epochs = 1
log_every = 1
threads = 1
[task tagging]
JOB
run start.log xlm_train train.conf --set train.steps=1 --set train.output=start
run length.log xlm_tune tune.conf --dry-run
length=$(sed -n 's/^stream train: .* examples of \([0-9]*\)\..* tokens.*/\1/p' length.log)
for ((round = 0; round < rounds; round++)); do
    run pre.log "${launcher[@]}" -n 1 xlm_train train.conf --resume never --set "train.steps=$steps" \
        --set "stream text.length=$length"
    run tuned.log "${launcher[@]}" -n 1 xlm_tune tune.conf --resume never
    rate pre/metrics.csv 1 >>pre.rates
    rate tuned/metrics.csv 1 >>tuned.rates
    say "sequences of $length tokens: fine-tuning $(tail -n 1 tuned.rates) tokens/s, pre-training $(tail -n 1 pre.rates)"
    rm -f pre/checkpoint-*
    rm -rf tuned/previous-*
done
middle() { local numbers; mapfile -t numbers <"$1"; median "${numbers[@]}"; }
# beside NAME A B GOAL: tokens/s.
beside() { row "$1" "$(printf '%.0f' "$2") tokens/s" "$(printf '%.0f' "$3") tokens/s" "$(quotient "$2" "$3")" "$4"; }

section "fine-tuning and scoring, 8 layers of 512, one thread"
beside "fine-tuning beside pre-training" "$(middle tuned.rates)" "$(middle pre.rates)" ">= 0.85"
read -r scored encoded < <("$XLM_BUILD/tests/bench/evaluation" tuned/latest test.tsv 1 "$rounds")
beside "scoring beside the forward pass alone" "$scored" "$encoded" ">= 0.90"
begin=$(date +%s.%N)
run eval.log "${launcher[@]}" -n 1 xlm_eval tuned/latest --test test.tsv --threads 1
tokens=$(sed -n 's/^test: .* words, \([0-9]*\) tokens.*/\1/p' eval.log)
whole=$(awk -v begin="$begin" -v end="$(date +%s.%N)" -v tokens="$tokens" 'BEGIN { printf "%.0f\n", tokens / (end - begin) }')
beside "xlm_eval from start to end beside it" "$whole" "$encoded" ">= 0.90"
