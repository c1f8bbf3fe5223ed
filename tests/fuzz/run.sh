#!/usr/bin/env bash
# xlm-mpi: fuzz every reader for some seconds; see README.md beside this. SPDX-License-Identifier: GPL-3.0-or-later
#
#   tests/fuzz/run.sh SECONDS JOBS TARGET...       by `make fuzz`, which sets SOURCES, CPPFLAGS, LIBS and what tests find
#
# Works in fuzz/: inputs that reach new code stay in fuzz/inputs/TARGET, those that fail in fuzz/failed.
set -u
seconds=$1 jobs=$2
shift 2
[ "$jobs" -gt 0 ] 2>/dev/null || jobs=$(env -u OMP_NUM_THREADS nproc)
directory=${XLM_FUZZ_DIRECTORY:-$XLM_BUILD/fuzz}
mkdir -p "$directory" && cd "$directory" || exit 73
exec </dev/null

clang=${CLANG:-clang}
printf '#include <stddef.h>\nint LLVMFuzzerTestOneInput(const char *data, size_t size) { return data == NULL && size > 0; }\n' \
    >probe.c
if ! $clang -fopenmp -fsanitize=fuzzer,address,undefined -o probe probe.c >probe.log 2>&1; then
    echo "make fuzz needs clang with libFuzzer and OpenMP (Debian/Ubuntu: clang libclang-rt-14-dev libomp-dev); CLANG=... names" \
        "another one. $directory/probe.log has its messages." >&2
    exit 69
fi
MAKEFLAGS= make --no-print-directory -j"$jobs" -f "$XLM_SOURCE/tests/fuzz/clang.mk" CLANG="$clang" SOURCE="$XLM_SOURCE" \
    SOURCES="$SOURCES" CPPFLAGS="$CPPFLAGS" \
    LIBS="$LIBS" TARGETS="$*" || exit 1

mkdir -p failed
scratch=${TMPDIR-}
if [ -z "$scratch" ] && [ -w /dev/shm ]; then scratch=/dev/shm; fi
scratch=$(mktemp -d "${scratch:-/tmp}/xlm-fuzz-run-XXXXXX") || exit 73
trap 'rm -rf "$scratch"' EXIT
# Suppressed: memory that libraries keep until the end. A kilobyte of input must not make a reader take a gigabyte.
export TMPDIR=$scratch LSAN_OPTIONS=suppressions=$XLM_SOURCE/tests/sanitizers.supp:print_suppressions=0
export ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=1:malloc_context_size=12:quarantine_size_mb=64 \
    UBSAN_OPTIONS=print_stacktrace=1

# A time-out is of the clock, not of the processor's time: on a busy machine an input of a few milliseconds takes seconds.
# fuzz TARGET: its last lines, and what failed.
fuzz() {
    local target=$1 folders=() folder
    mkdir -p "inputs/$target" "cases/$target"
    if [ -e "$XLM_SOURCE/tests/fuzz/cases/$target.cases" ]; then
        "$XLM_BUILD/tests/fuzz/$target" -w "cases/$target" "$XLM_SOURCE/tests/fuzz/cases/$target.cases" || exit 70
        folders+=("cases/$target")
    fi
    for folder in seeds regressions; do
        if [ -d "$XLM_SOURCE/tests/fuzz/$folder/$target" ]; then folders+=("$XLM_SOURCE/tests/fuzz/$folder/$target"); fi
    done
    if "./$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=1024 -malloc_limit_mb=512 -max_len=4096 \
        -print_final_stats=1 \
        -artifact_prefix="failed/$target-" "inputs/$target" "${folders[@]}" >"$target.log" 2>&1; then
        echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$target.log") inputs, none failed"
    else
        echo "$target: FAILED: $(grep -m 1 -E '^(SUMMARY|fuzz:|==.*ERROR)' "$target.log"); see $directory/$target.log and" \
            "$(sed -n "s/.*Test unit written to //p" "$target.log")"
        echo "$target" >>"$scratch/failures"
    fi
}

for target; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    fuzz "$target" &
done
wait
[ ! -e "$scratch/failures" ]
