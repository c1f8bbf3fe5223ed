#!/usr/bin/env bash
# xlm-mpi: training speed beside PyTorch's, roberta-8 on two cores. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_STEPS   steps of a run (6); the first does not count
# XLM_BENCH_ROUNDS  rounds, in which the four runs take turns (3); medians over rounds are printed
# XLM_PEERS_BLAS    more directories with a libblas.so.3 that PyTorch is tried with, beside Debian's in /usr/lib
#
# PyTorch runs with what makes it fastest here: every BLAS is tried for three steps in both forms, one process of two threads
# and two of one (DistributedDataParallel over gloo), then MKL-DNN in its place and torch.nn.functional.dropout in place of cheaper
# masks (torch_train.py). Its sequences are all of 128 tokens; ours end with a sentence, so a step has fewer tokens.
set -euo pipefail
python=/usr/bin/python3
for module in torch h5py; do
    "$python" -c "import $module" 2>/dev/null || { echo "skipped: python3-$module is not installed"; exit 0; }
done
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
steps=${XLM_BENCH_STEPS:-6} rounds=${XLM_BENCH_ROUNDS:-3}
roberta_8 "$work" "$steps"
echo "load average before: $(cut -d" " -f1-3 /proc/loadavg)" # threads that wait for each other suffer most from other work

ours() { # RANKS THREADS: tokens/s
    train "$work" ours "$1" "$2"
    rate "$work/ours/metrics.csv" 1
}

# torch SETTING PROCESSES THREADS STEPS: tokens/s. A setting is DIRECTORY PRODUCTS DROPOUT [VARIABLE=VALUE]. Memory that was given
# back to the system is paid for again page by page, so malloc keeps it.
torch() {
    local blas products dropout variable
    read -r blas products dropout variable <<<"$1"
    env LD_LIBRARY_PATH="$blas" OMP_NUM_THREADS="$3" MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=$((1 << 40)) GLOO_SOCKET_IFNAME=lo \
        ${variable:+"$variable"} "$python" "$XLM_SOURCE/tests/bench/peers/torch_train.py" "$work/job.conf" "$work/torch.csv" \
        --processes "$2" --threads "$3" --steps "$4" --products "$products" --dropout "$dropout" \
        >"$work/torch.log" 2>&1 || { tail -n 3 "$work/torch.log" >&2; return 1; }
    rate "$work/torch.csv" 1
}

settings=()
read -ra more <<<"${XLM_PEERS_BLAS:-}"
for directory in /usr/lib/*/{openblas,blis}* "${more[@]}"; do
    [[ -e $directory/libblas.so.3 ]] || continue
    settings+=("$directory blas bytes")
    # Neither library takes the 512-bit kernels by itself on every processor that has them; 0 is skx.
    ! grep -qw avx512f /proc/cpuinfo || case ${directory##*/} in
        *openblas*) settings+=("$directory blas bytes OPENBLAS_CORETYPE=SKYLAKEX") ;;
        *blis*) settings+=("$directory blas bytes BLIS_ARCH_TYPE=0") ;;
    esac
done
[[ ${#settings[@]} -gt 0 ]] || { echo "skipped: PyTorch has the reference BLAS only (Debian: libopenblas0-pthread)"; exit 0; }

# fastest PROCESSES THREADS: sets $best.
fastest() {
    local setting speed top=0
    try() {
        speed=$(torch "$1" "$2" "$3" 3)
        printf 'PyTorch, %s x %s, %s: %s tokens/s\n' "$2" "$3" "${1##*/}" "$speed"
        [[ $speed -le $top ]] || { top=$speed best=$1; }
    }
    for setting in "${settings[@]}"; do try "$setting" "$1" "$2"; done
    try "${best/ blas / mkldnn }" "$1" "$2"
    try "${best/ bytes/ torch}" "$1" "$2"
}
fastest 1 2; threads_setting=$best
fastest 2 1; processes_setting=$best

for ((round = 0; round < rounds; round++)); do
    ours 1 2 >>"$work/ours-threads"
    torch "$threads_setting" 1 2 "$steps" >>"$work/torch-threads"
    ours 2 1 >>"$work/ours-ranks"
    torch "$processes_setting" 2 1 "$steps" >>"$work/torch-ranks"
done

median() { sort -n "$work/$1" | awk '{ x[NR] = $1 } END { printf "%.0f\n", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }
peer=$( (median torch-threads; median torch-ranks) | sort -n | tail -n 1)
line() { # NAME FILE
    awk -v name="$1" -v speed="$(median "$2")" -v peer="$peer" -v each="$(tr '\n' ' ' <"$work/$2")" 'BEGIN {
        printf "%-32s %6d tokens/s  %5.2f x  (%s)\n", name, speed, speed / peer, substr(each, 1, length(each) - 1) }'
}
line "xlm-mpi, 1 rank x 2 threads" ours-threads
line "xlm-mpi, 2 ranks x 1 thread" ours-ranks
line "PyTorch, 1 process x 2 threads" torch-threads
line "PyTorch, 2 processes x 1 thread" torch-ranks
