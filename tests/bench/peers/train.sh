#!/usr/bin/env bash
# xlm-mpi: training speed beside PyTorch's, roberta-8 on two cores. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_STEPS   steps of a run (5); the first does not count
# XLM_BENCH_ROUNDS  rounds, in which all runs take turns (2); medians over rounds are shown
# XLM_PEERS_BLAS    more directories with a libblas.so.3 that PyTorch is tried with, beside Debian's in /usr/lib
# XLM_BENCH_BESIDE  1: only one process of one thread each, in processor time
# XLM_PEERS_ALL     1: also torch.nn.functional.dropout in place of cheaper masks (torch_train.py), always slower so far
#
# PyTorch runs with what makes it fastest here: every BLAS is tried with one process of two threads, then MKL-DNN in its place,
# a step each after one that does not count; what is fastest so is taken for two processes (DistributedDataParallel over gloo)
# too, as the products are the same there. Both are then compared with the faster of PyTorch's two forms. Its sequences are
# all of 128 tokens; ours end with a sentence, so a step has a few tokens less. In both programs a process passes over its share
# of a step's batch at once. Ours in float32 is run with both libraries that there are, and the faster one counts.
#
# Where the processor multiplies bfloat16, our precision = bfloat16 takes turns with PyTorch's autocast in the same rounds.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/peers/blas.sh
. "$XLM_SOURCE/tests/bench/peers/blas.sh"
python=/usr/bin/python3
section "training beside PyTorch, roberta-8, ranks x threads"
for module in torch h5py; do
    "$python" -c "import $module" 2>/dev/null || leave_out PyTorch "python3-$module is not installed"
done
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
in_rounds 2

ours() { # RANKS THREADS PRECISION GEMM: tokens/s
    train "$work" ours "$1" "$2" --set "train.precision=$3" --set "train.gemm=$4" --set "train.micro_batches=$1"
    rate "$work/ours/metrics.csv" 1
}

# torch SETTING PROCESSES THREADS STEPS [PRECISION]: tokens/s. A setting is DIRECTORY PRODUCTS DROPOUT [VARIABLE=VALUE]. Memory
# that was given back to the system is paid for again page by page, so malloc keeps it.
torch() {
    local blas products dropout variable
    read -r blas products dropout variable <<<"$1"
    env LD_LIBRARY_PATH="$blas" OMP_NUM_THREADS="$3" MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=$((1 << 40)) \
        GLOO_SOCKET_IFNAME=lo \
        ${variable:+"$variable"} "$python" "$XLM_SOURCE/tests/bench/peers/torch_train.py" "$work/job.conf" "$work/torch.csv" \
        --processes "$2" --threads "$3" --steps "$4" --products "$products" --dropout "$dropout" --precision "${5:-float32}" \
        >"$work/torch.log" 2>&1 || { tail -n 3 "$work/torch.log" >&2; return 1; }
    rate "$work/torch.csv" 1
}

settings=()
while read -r directory variable; do settings+=("$directory blas bytes${variable:+ $variable}"); done < <(peers_blas)
[[ ${#settings[@]} -gt 0 ]] || leave_out PyTorch "it has the reference BLAS only (Debian: libopenblas0-pthread)"

# ---- one process of one thread each, in processor time: what other programs that run do not lengthen as much ----
ours_alone() { # PRECISION GEMM STEPS
    train "$work" ours 1 1 --set "train.precision=$1" --set "train.gemm=$2" --set train.micro_batches=1 --set "train.steps=$3"
}
torch_alone() { torch "$1" 1 1 "$3" "$2" >/dev/null || [[ $3 = 1 ]]; } # SETTING PRECISION STEPS; one step has no rate
# per_second METRICS NAME COMMAND...: tokens per second of processor time, without starting, ending and the first step, to
# NAME.rates.
per_second() {
    local metrics=$1 name=$2 TIMEFORMAT='%U %S'
    shift 2
    { time "$@" 1; } 2>"$work/first" || { cat "$work/first" >&2; return 1; }
    { time "$@" "$steps"; } 2>"$work/all" || { cat "$work/all" >&2; return 1; }
    say "$name: $(tail -n 1 "$work/first") s for one step, $(tail -n 1 "$work/all") s for $steps"
    tail -qn 1 "$work/first" "$work/all" | awk -F'[ ,]' -v metrics="$metrics" '{ spent[NR] = $1 + $2 } END {
        while ((getline <metrics) > 0) if ($3 == "total" && $1 > 1) tokens += $11
        printf "%.0f\n", tokens / (spent[2] - spent[1]) }' >"$work/$name.rates"
}
of_rates() { cat "$work/$1.rates"; }
if [[ ${XLM_BENCH_BESIDE:-} = 1 ]]; then
    read -r directory variable < <(fastest_blas)
    best="$directory blas bytes${variable:+ $variable}"
    # The time of starting and ending, which is taken off, varies by that of half a step; that of the first run is longer.
    steps=$((steps < 7 ? 7 : steps))
    ours_alone float32 auto 1
    precisions=(float32)
    ! grep -qwE 'avx512_bf16|amx_bf16' /proc/cpuinfo || precisions+=(bfloat16)
    for precision in "${precisions[@]}"; do
        per_second "$work/ours/metrics.csv" "ours-$precision" ours_alone "$precision" auto
        per_second "$work/torch.csv" "torch-$precision" torch_alone "$best" "$precision"
    done
    directory=${directory##*/}
    peer PyTorch "$(version_of "$("$python" -c 'import torch; print(torch.__file__)')"), ${directory%%-*}${variable:+, $variable}" \
        "make bench BENCHMARKS=tests/bench/peers/train.sh" \
        "xlm_train job.conf --set train.threads=1 --set train.micro_batches=1 --set train.precision=PRECISION" \
        "tests/bench/peers/torch_train.py job.conf metrics.csv --threads 1 --precision PRECISION"
    for precision in "${precisions[@]}"; do
        ours=$(of_rates "ours-$precision") theirs=$(of_rates "torch-$precision")
        row "one thread each, $precision, processor time" "$ours tokens/s" "$theirs tokens/s" "$(quotient "$ours" "$theirs")" ""
        beside PyTorch "training, 8 layers x 512, 16 x 128 tokens a step, $precision: $((steps - 1)) steps of one run" tokens/s \
            "$ours" "$theirs" "$(quotient "$ours" "$theirs")" ""
    done
    exit 0
fi

top=0
try() { # SETTING: sets $best.
    local speed
    speed=$(torch "$1" 1 2 2)
    say "PyTorch, 1 x 2, ${1##*/}: $speed tokens/s"
    [[ $speed -le $top ]] || { top=$speed best=$1; }
}
for setting in "${settings[@]}"; do try "$setting"; done
try "${best/ blas / mkldnn }"
[[ ${XLM_PEERS_ALL:-} != 1 ]] || try "${best/ bytes/ torch}"

libraries=(blis)
! has_onednn "$work" || libraries+=(onednn)
half=
! grep -qwE 'avx512_bf16|amx_bf16' /proc/cpuinfo || half=bfloat16
for ((round = 0; round < rounds; round++)); do
    for shape in "1 2" "2 1"; do
        for precision in float32 $half; do
            # shellcheck disable=SC2086 # two words
            {
                if [[ $precision = float32 ]]; then
                    for library in "${libraries[@]}"; do
                        ours $shape float32 "$library" >>"$work/ours-${shape/ /x}-float32-$library"
                    done
                else
                    ours $shape "$precision" auto >>"$work/ours-${shape/ /x}-$precision"
                fi
                torch "$best" $shape "$steps" "$precision" >>"$work/torch-${shape/ /x}-$precision"
            }
        done
    done
done

# speed FILE: the median over rounds.
speed() {
    local each
    mapfile -t each <"$work/$1"
    say "$1: ${each[*]} tokens/s"
    printf '%.0f\n' "$(median "${each[@]}")"
}
# best_of SHAPE: of ours in float32, by whichever library.
best_of() { for library in "${libraries[@]}"; do speed "ours-$1-float32-$library"; done | sort -g | tail -n 1; }

for precision in float32 $half; do
    peer=$( (speed "torch-1x2-$precision"; speed "torch-2x1-$precision") | sort -g | tail -n 1)
    [[ $precision = bfloat16 ]] && goal=">= 1.6" || goal=">= 1.7"
    for shape in 1x2 2x1; do
        ours=$(if [[ $precision = float32 ]]; then best_of "$shape"; else speed "ours-$shape-$precision"; fi)
        row "$shape, $precision, beside the best PyTorch" "$ours tokens/s" "$peer tokens/s" "$(quotient "$ours" "$peer")" "$goal"
        [[ $precision = bfloat16 ]] || continue
        float=$(best_of "$shape")
        row "$shape, $precision, beside our float32" "$ours tokens/s" "$float tokens/s" "$(quotient "$ours" "$float")" ">= 1.8"
    done
    one=$(speed "torch-1x2-$precision") two=$(speed "torch-2x1-$precision")
    row "PyTorch, $precision, 1x2 beside 2x1" "$one tokens/s" "$two tokens/s" "$(quotient "$one" "$two")"
done
say "PyTorch's setting: $best"
