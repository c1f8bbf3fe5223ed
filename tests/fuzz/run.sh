#!/usr/bin/env bash
# xlm-mpi: fuzz every reader for some seconds; see README.md beside this. SPDX-License-Identifier: GPL-3.0-or-later
#
#   tests/fuzz/run.sh SECONDS JOBS TARGET...       by `make fuzz`, which sets SOURCES, CPPFLAGS, LIBS and what tests find
#
# Works in fuzz/: inputs that reach new code stay in fuzz/inputs/TARGET, those that fail in fuzz/failed. It begins with seeds,
# regressions, cases and what earlier campaigns have left in the repository (keep.sh).
#
# A campaign in parts: XLM_FUZZ_TOTAL=SECONDS, if greater than 0, is the time of a whole part instead of SECONDS for each target. It
# is divided among the targets, which begin with the one that was fuzzed least so far, so that parts that were interrupted even
# out; after its share a target's inputs are reduced to those that reach what all together reach. XLM_FUZZ_INPUTS names a folder to
# keep inputs in, outside the build. campaign.tsv in it has a line for each time that a target was fuzzed since keep.sh has taken
# what was found into the repository, and hours.tsv of the repository what was before. A second campaign in either folder,
# or keep.sh while there is one, is refused.
set -u
# shellcheck source=tests/fuzz/lock.sh
. "${BASH_SOURCE[0]%/*}/lock.sh"
seconds=$1 jobs=$2
shift 2
[ "$jobs" -gt 0 ] 2>/dev/null || jobs=$(env -u OMP_NUM_THREADS nproc)
total=${XLM_FUZZ_TOTAL:-0}
directory=${XLM_FUZZ_DIRECTORY:-$XLM_BUILD/fuzz}
kept=${XLM_FUZZ_INPUTS:-$directory/inputs}
mkdir -p "$kept" && kept=$(cd "$kept" && pwd) && mkdir -p "$directory" && cd "$directory" || exit 73
campaign=$kept/campaign.tsv
exec </dev/null
# Two campaigns would take one another's inputs, logs and hours for their own.
lock 'make fuzz' "$kept" "$directory"

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

version=$(git -C "$XLM_SOURCE" describe --always --dirty 2>/dev/null) || version=unknown
if [ ! -e "$campaign" ]; then
    printf 'date\tversion\ttarget\tseconds\tprocessor_seconds\tinputs_tried\tfeatures\tinputs_kept\tfound\n' >"$campaign" || exit 73
fi
hours=$XLM_SOURCE/tests/fuzz/hours.tsv
[ -e "$hours" ] || hours=/dev/null
# times_of TARGET...: a line for each, the seconds of the processor and by the clock in all campaigns so far, and its name; the
# least first.
times_of() {
    awk -F'\t' -v OFS='\t' -v targets="$*" 'FNR > 1 { clock[$3] += $4; processor[$3] += $5 }
        END { n = split(targets, target, " ")
            for (i = 1; i <= n; i++) print processor[target[i]] + 0, clock[target[i]] + 0, target[i] }' \
        "$hours" "$campaign" | sort -n
}

limits=(-timeout=60 -rss_limit_mb=1024 -malloc_limit_mb=512 -max_len=4096 -report_slow_units=60)
# was_busy TARGET FILE: is it a time-out of an input that takes less than 60 s of the processor? A time-out is of the clock: on a busy
# machine an input of two seconds can take a minute, and is not one that failed.
was_busy() {
    case ${2##*/} in *-timeout-*) (ulimit -t 60 && "./$1" "$2" >"$1.again.log" 2>&1) ;; *) false ;; esac
}

# fuzz TARGET: its last lines, and what failed.
fuzz() {
    local target=$1 folders=() folder inputs
    local status=0 found=- times tried features
    mkdir -p "$kept/$target"
    rm -rf "cases/$target" && mkdir -p "cases/$target"
    for inputs in "cases/$target.cases" "kept/$target.tar.xz"; do
        if [ -e "$XLM_SOURCE/tests/fuzz/$inputs" ]; then folders+=("$XLM_SOURCE/tests/fuzz/$inputs"); fi
    done
    # The program that replays inputs writes them.
    if [ ${#folders[@]} -gt 0 ]; then
        "$XLM_BUILD/tests/fuzz/$target" -w "cases/$target" "${folders[@]}" || {
            echo "$target: FAILED: its cases cannot be written"
            echo "$target" >>"$scratch/failures"
            return
        }
        folders=("cases/$target")
    fi
    for folder in seeds regressions; do
        if [ -d "$XLM_SOURCE/tests/fuzz/$folder/$target" ]; then folders+=("$XLM_SOURCE/tests/fuzz/$folder/$target"); fi
    done
    # Its time by the clock and of the processor; 72 is the exit code of libFuzzer when it is interrupted.
    times=$(
        TIMEFORMAT='%R %U %S'
        { time "./$target" -max_total_time="$seconds" "${limits[@]}" -print_final_stats=1 -artifact_prefix="failed/$target-" \
            "$kept/$target" "${folders[@]}" >"$target.log" 2>&1; } 2>&1
    ) || status=$?
    # The library is instrumented, and is loaded: one module is the target's own.
    if ! grep -q '^INFO: Loaded [2-9] modules' "$target.log"; then
        echo "$target: FAILED: ran without the instrumented library; see $directory/$target.log"
        echo "$target" >>"$scratch/failures"
        return
    fi
    tried=$(sed -n 's/^stat::number_of_executed_units: *//p' "$target.log")
    case $status in
    0) echo "$target: $tried inputs, none failed" ;;
    72) echo "$target: interrupted after $tried inputs" ;;
    *)
        found=$(sed -n "s/.*Test unit written to //p" "$target.log" | tail -n 1)
        if was_busy "$target" "$found"; then
            echo "$target: ended after ${tried:-few} inputs by one that took 60 s of the clock, but less of the processor"
            rm "$found"
            found=-
        else
            echo "$target: FAILED: $(grep -m 1 -E '^(SUMMARY|fuzz:|==.*ERROR)' "$target.log"); see $directory/$target.log and" \
                "$found"
            found=${found:-exit code $status}
            echo "$target" >>"$scratch/failures"
        fi
        ;;
    esac
    if [ "$total" -gt 0 ] && [ "$status" -ne 72 ]; then minimise "$target"; fi
    # Of libFuzzer's lines about its progress the last one has the features reached.
    features=$(sed -n 's/^#[0-9].* ft: \([0-9]*\) .*/\1/p' "$target.log" | tail -n 1)
    echo "$(date -u +%FT%TZ) $version $target $times ${tried:--} ${features:--} $(find "$kept/$target" -type f | wc -l) ${found##*/}" |
        awk -v OFS='\t' '{ found = $10; for (i = 11; i <= NF; i++) found = found " " $i
            print $1, $2, $3, $4, $5 + $6, $7, $8, $9, found }' >>"$campaign"
}

# minimise TARGET: the smallest inputs that reach what all of its inputs reach; all are kept when that cannot be found out.
minimise() {
    local target=$1 fewer=$kept/$1.fewer
    rm -rf "$fewer"
    mkdir "$fewer"
    if "./$target" -merge=1 "${limits[@]}" -artifact_prefix="failed/$target-merge-" "$fewer" "$kept/$target" >"$target.merge.log" 2>&1; then
        rm -rf "${kept:?}/$target" && mv "$fewer" "$kept/$target"
    else
        echo "$target: inputs are not reduced; see $directory/$target.merge.log" >&2
        rm -rf "$fewer"
    fi
}

# shellcheck disable=SC2046 # names of targets are words
if [ "$total" -gt 0 ]; then
    seconds=$((total * jobs / $#))
    [ "$seconds" -gt 0 ] || seconds=1
    set -- $(times_of "$@" | cut -f 3)
fi
for target; do
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
    fuzz "$target" &
done
wait
times_of "$@" | awk -F'\t' '{ processor += $1; clock += $2; if (NR == 1) least = $1 }
    END { printf "campaigns: %.2f hours by the clock on %d targets so far, %.2f of processor time, each target at least %.3f\n", \
        clock / 3600, NR, processor / 3600, least / 3600 }'
[ ! -e "$scratch/failures" ]
