#!/usr/bin/env bash
# xlm-mpi: what a pass takes beside what was estimated, for every job file of jobs/. SPDX-License-Identifier: GPL-3.0-or-later
#
# Each job runs for some steps on a small bilingual corpus (tests/small.sh), with the layout, the lengths and the number of
# sequences in a micro-batch that it asks for; models are narrower and have two layers, and a step has two micro-batches.
#
# XLM_BENCH_STEPS   steps of a run (8)
# XLM_BENCH_WIDTH   hidden size (128)
# XLM_BENCH_JOBS    a pattern of job files (*.conf, of jobs/ and its folders but small/)
#
# In float32 and bfloat16 (emulated where the processor cannot), with recomputation and without.
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
# shellcheck source=tests/bench/table.sh
. "$XLM_SOURCE/tests/bench/table.sh"
export XLM_BF16_EMULATE=1
steps=${XLM_BENCH_STEPS:-8} width=${XLM_BENCH_WIDTH:-128} jobs=$XLM_SOURCE/jobs
small_corpus --para en-xx=text.en,text.xx --bpe 1000 >&2
small_resources >&2

# value FILE SECTION KEY
value() {
    awk -v section="[$2" -v key="$3" 'index($0, section) == 1 { on = 1; next } /^\[/ { on = 0 }
        on && $1 == key && $2 == "=" { sub(/^[^=]*= */, ""); print; exit }' "$1"
}
sections() { sed -n "s/^\[$2 \(.*\)\]\$/\1/p" "$1"; } # FILE KIND

one_step model.conf 2 "$width" 4
logged model.log xlm_train model.conf

# compare NAME SECTION PROGRAM...: a row of the four ways.
compare() {
    local name=$1 section=$2 precision recompute
    shift 2
    for precision in float32 bfloat16; do
        for recompute in false true; do
            rm -rf out
            # A run that fails, or does not say what it took.
            if ! "$@" --set "$section.precision=$precision" --set "$section.recompute=$recompute" >run.log 2>&1 ||
                ! read -r taken estimated < <(
                    sed -n 's/^peak memory: .*a pass \([0-9.]*\) MiB, estimated \([0-9.]*\)$/\1 \2/p' run.log
                ); then
                row "$name, $precision, recompute = $recompute" "FAILED, $(tail -n 1 run.log)"
                fail "$name, $precision, recompute = $recompute: $(tail -n 1 run.log)"
                continue
            fi
            row "$name, $precision, recompute = $recompute" "$estimated MiB" "$taken MiB taken" "$(off "$estimated" "$taken")" \
                "<= 0.05"
        done
    done
}

# pretrain FILE NAME: micro-batches of as many sequences as the job has.
pretrain() {
    local file=$1 s k cut batch options=(--set train.corpus=corpus.h5 --set train.output=out --set "train.steps=$steps"
        --set train.warmup=1 --set train.micro_batches=2 --set train.checkpoint_every=0 --set train.evaluate_every=0)
    if [ -n "$(value "$file" model layers)" ]; then
        options+=(--set model.layers=2 --set "model.hidden_size=$width" --set model.attention_heads=4 --set "model.feed_forward_size=$((4 * width))")
    else
        options+=(--set train.start=model/latest)
    fi
    cut=$(value "$file" train micro_batches)
    for s in $(sections "$file" stream); do
        batch=$(value "$file" "stream $s" batch)
        options+=(--set "stream $s.batch=$((2 * ((batch + ${cut:-1} - 1) / ${cut:-1})))")
        [ -z "$(value "$file" "stream $s" dictionary)" ] || options+=(--set "stream $s.dictionary=dict.h5")
        [ -z "$(value "$file" "stream $s" alignments)" ] || options+=(--set "stream $s.alignments=alignment.h5")
        [ -z "$(value "$file" "stream $s" least_side)" ] || options+=(--set "stream $s.least_side=1")
    done
    for k in $(sections "$file" objective); do
        [ -z "$(value "$file" "objective $k" label_layer)" ] || options+=(--set "objective $k.label_layer=1")
        [ -z "$(value "$file" "objective $k" cooccurrence)" ] || options+=(--set "objective $k.cooccurrence=cooc.h5")
        [ -z "$(value "$file" "objective $k" dictionary)" ] || options+=(--set "objective $k.dictionary=dict.h5")
    done
    compare "$2" train xlm_train "$file" "${options[@]}"
}

head -n 300 text.en >part
phrases part >tagged
awk -F '\t' 'NF == 0 { n = 0; print ""; next }
    { printf "%d\t%s\t_\t%s\t_\t_\t_\t_\t_\tNER=%s\n", ++n, $1, $2 == "O" ? "VERB" : "NOUN", $2 }' tagged >tagged.conllu
awk 'BEGIN { split("entailment neutral contradiction", class, " ") } { print class[NR % 3 + 1] "\t" $0 "\t" $1 " " $2 }' part >pairs
awk 'BEGIN { printf "{\"version\": \"1.1\", \"data\": [{\"paragraphs\": [" }
    { printf "%s{\"context\": \"%s\", \"qas\": [{\"id\": \"q%d\", \"question\": \"what %s\", " \
        "\"answers\": [{\"text\": \"%s\", \"answer_start\": 0}]}]}", (NR == 1 ? "" : ", "), $0, NR, $2, $1 }
    END { print "]}]}" }' part >questions

# tune FILE NAME
tune() {
    local file=$1 task options=(--set tune.model=model/latest --set tune.output=out --set tune.epochs=1)
    task=$(sections "$file" task)
    case $task in
    tagging) case $(value "$file" tune train) in *.conllu) options+=(--set tune.train=en:tagged.conllu --set tune.dev=en:tagged.conllu) ;;
        *) options+=(--set tune.train=en:tagged --set tune.dev=en:tagged) ;; esac ;;
    classification) options+=(--set tune.train=en:pairs --set tune.dev=en:pairs) ;;
    answering) options+=(--set tune.train=en:questions --set tune.dev=en:questions) ;;
    esac
    [ -z "$(value "$file" "task $task" code_switching)" ] || options+=(--set "task $task.code_switching=")
    compare "$2" tune xlm_tune "$file" "${options[@]}"
}

section "Memory of passes, estimated before a run and taken in it"
shopt -s nullglob
for file in "$jobs"/*.conf "$jobs"/*/*.conf; do
    name=${file#"$jobs"/}
    # shellcheck disable=SC2254 # a pattern
    case $name in small/*) continue ;; ${XLM_BENCH_JOBS:-*}) ;; *) continue ;; esac
    if grep -q '^\[tune\]' "$file"; then tune "$file" "$name"; else pretrain "$file" "$name"; fi
done
finish
