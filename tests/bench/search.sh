#!/usr/bin/env bash
# xlm-mpi: search beside PyTorch, beside itself without cache, and beside memory. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_ROUNDS  rounds, in which all runs take turns (2); medians over rounds are shown
# XLM_PEERS_BLAS    more directories with a libblas.so.3 that PyTorch is tried with
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
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
    local blas
    for blas in "${libraries[@]}"; do
        env LD_LIBRARY_PATH="$blas" OMP_NUM_THREADS="$1" "$python" "$XLM_SOURCE/tests/bench/peers/search.py" "$@"
    done | sort -g | tail -n 1
}
shopt -s nullglob
libraries=(/usr/lib/*/*/libblas.so.3)
read -ra more <<<"${XLM_PEERS_BLAS-}"
libraries=("${libraries[@]%/*}" "${more[@]}")

section "search, 6 + 6 layers x 512, 64 sentences of 25 tokens, 1 thread"
[[ -n $peer ]] || skipped "PyTorch" "python3-torch is not installed"
((${#libraries[@]} > 0)) || libraries=("")
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

section "search on two processes of one thread at once, beside one"
if (($(nproc) > 1)); then
    one=() two=()
    for ((i = 0; i < rounds; i++)); do
        one+=("$(bench 1 onednn 64 25 5 | cut -d' ' -f1)")
        two+=("$({ bench 1 onednn 64 25 5 & bench 1 onednn 64 25 5; wait; } | awk '{ sum += $1 } END { print sum }')")
    done
    row "beam 5, onednn" "$(median "${two[@]}") tokens/s" "$(median "${one[@]}") tokens/s" \
        "$(quotient "$(median "${two[@]}")" "$(median "${one[@]}")")" ">= 1.9"
else
    skipped "two processes" "one core"
fi
