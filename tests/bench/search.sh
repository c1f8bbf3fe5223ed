#!/usr/bin/env bash
# xlm-mpi: search beside PyTorch, beside itself without cache, and beside memory. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_ROUNDS  rounds, in which all runs take turns (2); medians over rounds are shown
# XLM_PEERS_BLAS    more directories with a libblas.so.3 that PyTorch is tried with
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/peers/blas.sh
. "$XLM_SOURCE/tests/bench/peers/blas.sh"
python=/usr/bin/python3
rounds=${XLM_BENCH_ROUNDS:-2}
ways=(blis onednn)
unset OMP_NUM_THREADS
bench() { "$XLM_BUILD/tests/bench/search" "$@"; }
! bench 1 bfloat16 1 1 1 >/dev/null 2>&1 || ways+=(bfloat16)
peer=search_torch
"$python" -c 'import torch' 2>/dev/null || peer=
# search_torch THREADS SENTENCES TOKENS BEAM: tokens/s with the fastest BLAS.
search_torch() {
    local setting directory variable
    for setting in "${settings[@]}"; do
        read -r directory variable <<<"$setting"
        env LD_LIBRARY_PATH="$directory" OMP_NUM_THREADS="$1" ${variable:+"$variable"} \
            "$python" "$XLM_SOURCE/tests/bench/peers/search.py" "$@"
    done | sort -g | tail -n 1
}
mapfile -t settings < <(peers_blas)

section "search, 6 + 6 layers x 512, 64 sentences of 25 tokens, 1 thread"
[[ -n $peer ]] || skipped "PyTorch" "python3-torch is not installed"
[[ ${#settings[@]} -gt 0 ]] || { skipped "PyTorch" "it has the reference BLAS only (Debian: libopenblas0-pthread)"; peer=; }
for beam in 1 5; do
    declare -A ours=()
    theirs=()
    for ((i = 0; i < rounds; i++)); do
        for way in "${ways[@]}"; do
            ours[$way]+="$(bench 1 "$way" 64 25 "$beam" | cut -d' ' -f1) "
        done
        [[ -z $peer ]] || theirs+=("$("$peer" 1 64 25 "$beam")")
    done
    for way in "${ways[@]}"; do
        read -ra rates <<<"${ours[$way]}"
        rate=$(median "${rates[@]}")
        [[ -z $peer ]] || row "beam $beam, $way, beside PyTorch in float32" "$rate tokens/s" "$(median "${theirs[@]}") tokens/s" \
            "$(quotient "$rate" "$(median "${theirs[@]}")")" ">= 3"
    done
done

section "search beside reading all parameters once a step, 1 thread"
for sentences in 1 64; do
    for way in "${ways[@]}"; do
        shares=() made=() read=()
        for ((i = 0; i < rounds; i++)); do
            made+=("$(bench 1 "$way" "$sentences" 25 1 | cut -d' ' -f2)")
            read+=("$(bench 1 read)")
            shares+=("$(quotient "${made[-1]}" "${read[-1]}" 3)")
        done
        row "$sentences sentences, $way" "$(median "${made[@]}") GB/s" "$(median "${read[@]}") GB/s" \
            "$(median "${shares[@]}")" ">= 0.5"
    done
done

section "greedy search beside itself without cache, 16 sentences of 128 tokens, 1 thread"
for way in "${ways[@]}"; do
    read -r with without < <(bench 1 "$way" 16 128 1 again)
    row "$way" "$with s" "$without s" "$(quotient "$without" "$with")" ">= 10"
done

section "xlm_translate on two ranks of one thread, beside one"
if (($(nproc) > 1)); then
    # shellcheck source=tests/bench/roberta-8.sh
    . "$XLM_SOURCE/tests/bench/roberta-8.sh"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cd "$work"
    made_text 24 >made
    head -n 1000 made >text.aa
    tail -n 1000 made >text.bb
    split -n l/2 --additional-suffix=.aa text.aa half-
    xlm_prep --para aa-bb=text.aa,text.bb --words space --bpe 20000 -o corpus.h5 >log 2>&1 || { cat log >&2; exit 1; }
    cat >job.conf <<'JOB'
[model]
layers = 6
decoder_layers = 6
hidden_size = 512
attention_heads = 8
positions = 128
language_embeddings = true
[train]
corpus = corpus.h5
output = model
steps = 1
[stream pairs]
type = parallel
form = bert
batch = 4
length = 128
[objective nmt]
plugin = seq2seq
stream = pairs
JOB
    "${launcher[@]}" -n 1 xlm_train job.conf >log 2>&1 || { tail -n 3 log >&2; exit 1; }
    translate() { # RANKS TEXT OUTPUT [COMMAND...]: tokens/s
        OMP_NUM_THREADS=1 "${@:4}" "${launcher[@]}" -n "$1" xlm_translate model/latest "$2" --from aa --to bb --beam 5 \
            --max-length 1,1 -o "$3" >"$3.log" 2>&1 || { tail -n 3 "$3.log" >&2; return 1; }
        sed -n 's/.* written in .* sentences\/s, \(.*\) tokens\/s$/\U\1/p' "$3.log" | numfmt --from=si
    }
    mapfile -t allowed < <(processors)
    # What the machine does for two programs that know nothing of each other.
    translate_halves() {
        translate 1 half-aa.aa half.aa taskset -c "${allowed[0]}" >rate.aa &
        translate 1 half-ab.aa half.bb taskset -c "${allowed[1]}" >rate.bb
        wait $!
        awk '{ sum += $1 } END { print sum }' rate.aa rate.bb
    }
    one=() two=() halves=()
    for ((i = 0; i < rounds; i++)); do
        one+=("$(translate 1 text.aa out.1)")
        two+=("$(translate 2 text.aa out.2)")
        halves+=("$(translate_halves)")
    done
    cmp out.1 out.2
    row "beam 5" "$(median "${two[@]}") tokens/s" "$(median "${one[@]}") tokens/s" \
        "$(quotient "$(median "${two[@]}")" "$(median "${one[@]}")")" ">= 1.9"
    row "beam 5, beside two programs with half of the text" "$(median "${two[@]}") tokens/s" "$(median "${halves[@]}") tokens/s" \
        "$(quotient "$(median "${two[@]}")" "$(median "${halves[@]}")")" ">= 0.95"
else
    skipped "two ranks" "one core"
fi
