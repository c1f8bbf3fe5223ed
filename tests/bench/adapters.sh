#!/usr/bin/env bash
# xlm-mpi: what adapters cost: time of a step, memory, bytes between ranks. SPDX-License-Identifier: GPL-3.0-or-later
#
#   a step in which LoRA learns (rank 8, queries and values), or a bottleneck adapter of a language with an invertible one (half
#   the width), beside one in which all of the model does: 12 layers of 768, 16 x 128 tokens; and the memory of all, on one rank,
#   without the passes.
#   bytes that two ranks send in a step, by TCP over the loopback interface (Open MPI): the same models.
#   memory of a process in which LoRA learns beside a model of XLM-R large's size (24 layers of 1,024, 250,002 subwords), 8 x 128
#   tokens a step.
#
# XLM_BENCH_STEPS   steps of a run (4), the first of which does not count
# XLM_BENCH_ROUNDS  rounds, in which the two of a comparison take turns (3); medians are shown
#
# One rank, but for the bytes; one thread, but for the memory. Seconds are those of a step, the update included.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
in_scratch
made_corpus "$work" 20000

section "adapters beside training all of the model, seconds of a step"
job whole 12 768 12 128 16
"${launcher[@]}" -n 1 xlm_train whole.conf --set train.steps=1 --set train.output=base >base.log 2>&1 ||
    { tail -n 3 base.log >&2; exit 1; }
sed 's/^corpus.*/&\nstart = base\/latest/' whole.conf >full.conf
{ cat full.conf; printf '[adapter one]\nrank = 8\n'; } >lora.conf
{ cat full.conf; printf '[adapter one]\nkind = bottleneck\nsize = 384\ninvertible = true\n'; } >bottleneck.conf
compare "LoRA beside all of the model" lora full "<= 0.7"
compare "bottleneck, invertible beside all of the model" bottleneck full ""
taken() { # JOB: GiB of the parameters, gradients and moments, by the process's peak less its largest pass
    xlm_train "$1.conf" --set train.threads=1 --set train.steps=2 --set train.output="$1-memory" >"$1.log" 2>&1 ||
        { tail -n 3 "$1.log" >&2; return 1; }
    sed -n 's/^peak memory: \([0-9.]*\) GiB.*a pass \([0-9.]*\) MiB.*/\1 \2/p' "$1.log" |
        awk '{ printf "%.2f\n", $1 - $2 / 1024 }'
}
full=$(taken full)
for adapter in lora bottleneck; do
    some=$(taken $adapter)
    row "memory without the passes, $adapter" "$some GiB" "$full GiB" "$(quotient "$some" "$full")"
done

if [[ $XLM_TEST_LAUNCHER = open-mpi ]]; then
    section "bytes between two ranks, MiB of a step"
    loopback() { awk '$1 == "lo:" { print $2 }' /proc/net/dev; }
    sent() { # JOB STEPS: bytes of the whole run
        local before
        before=$(loopback)
        "${launcher[@]}" -n 2 --mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo xlm_train "$1.conf" \
            --set train.steps="$2" --set train.output="$1-sent-$2" >"$1.log" 2>&1 || { tail -n 3 "$1.log" >&2; return 1; }
        echo $(($(loopback) - before))
    }
    a_step() { # JOB: MiB
        local few many
        few=$(sent "$1" 2)
        many=$(sent "$1" 6)
        awk -v few="$few" -v many="$many" 'BEGIN { printf "%.1f\n", (many - few) / 4 / 1048576 }'
    }
    full=$(a_step full)
    for adapter in lora bottleneck; do
        some=$(a_step $adapter)
        row "$adapter beside all of the model" "$some MiB" "$full MiB" "$(quotient "$some" "$full")"
    done
fi

section "LoRA beside XLM-R large (24 layers of 1,024, 250,002 subwords), 8 x 128 tokens"
mkdir wordpiece
{
    printf '%s\n' '[PAD]' '[UNK]' '[CLS]' '[SEP]' '[MASK]'
    printf '%s\n' {a..z} '##'{a..z}
    seq -f 'subword%.0f' 1 249945
} >wordpiece/vocab.txt
awk 'BEGIN {
    srand(1)
    for (i = 0; i < 4000; i++) {
        line = ""
        for (k = 0; k < 20; k++) line = line sprintf("%c", 97 + int(26 * rand())) (rand() < 0.2 ? " " : "")
        print line
    }
}' >letters.txt
xlm_prep --tokenizer wordpiece --mono en=letters.txt -o large.h5 >prep.log 2>&1 || { tail -n 3 prep.log >&2; exit 1; }
corpus=large.h5
job large 24 1024 16 128 8
run_large() { # JOB [OPTION...]
    "${launcher[@]}" -n 1 xlm_train "$1.conf" --set train.threads=2 --set train.steps=2 --set "train.output=$1" "${@:2}" \
        >"$1.log" 2>&1 || { tail -n 3 "$1.log" >&2; exit 1; }
}
run_large large
{ sed 's/^corpus.*/&\nstart = large\/latest/' large.conf; printf '[adapter one]\nrank = 8\n'; } >small.conf
run_large small
peak=$(sed -n 's/^peak memory: \([0-9.]*\) GiB.*/\1/p' small.log)
whole=$(sed -n 's/^peak memory: \([0-9.]*\) GiB.*/\1/p' large.log)
row "memory beside 6 GiB, GiB" "$peak" 6 "$(quotient "$peak" 6)" "<= 1"
if why=$(xlm_train small.conf --dry-run --set train.steps=2 --set train.output=half --set train.precision=bfloat16 2>&1); then
    run_large small --set train.precision=bfloat16 --set train.output=half
    half=$(sed -n 's/^peak memory: \([0-9.]*\) GiB.*/\1/p' small.log)
    row "the same in bfloat16" "$half" 6 "$(quotient "$half" 6)" "<= 1"
else
    skipped "the same in bfloat16" "$(tail -n 1 <<<"$why")"
fi
row "beside training all of the model" "$peak GiB" "$whole GiB" "$(quotient "$peak" "$whole")"
