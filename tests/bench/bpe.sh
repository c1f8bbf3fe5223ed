#!/bin/bash
# xlm-mpi: speed of BPE beside fastBPE's. SPDX-License-Identifier: GPL-3.0-or-later
#
# FASTBPE      fastBPE's program; else `fastbpe` in PATH; without it only our own times are printed
# BENCH_TEXT   tokenised text, a sentence a line; else some is made
# BENCH_RUNS   how often each is run (5); the shortest run counts
#
# Whole processes are compared: both read the same text and codes and write the same things. Segmentation is measured
# in CPU seconds (fastBPE has several threads) and in seconds on one core.
set -u
export LC_ALL=C
FASTBPE=${FASTBPE:-$(command -v fastbpe)}
runs=${BENCH_RUNS:-5}
merges=8000
run=$XLM_BUILD/tests/bench/bpe_run
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
one_core=
if command -v taskset >/dev/null; then
    first=$(taskset -cp $$ | sed 's/.*: //; s/[^0-9].*//')
    one_core="taskset -c $first"
fi

# 60,000 words of syllables, a few of them in most places, as in real text (Zipf): about 14 MB.
make_text() {
    awk 'BEGIN {
        srand(7); split("a e i o u en er in ung te ro sta li men kon ver de mi pre tion", syllable, " ")
        for (w = 1; w <= 60000; w++)
            for (s = 1 + int(4 * rand()); s > 0; s--)
                word[w] = word[w] substr("bcdfghjklmnprstvwz", 1 + int(18 * rand()), 1) syllable[1 + int(20 * rand())]
        for (line = 0; line < 90000; line++) {
            for (n = 5 + int(25 * rand()); n > 0; n--)
                printf "%s ", word[1 + int(exp(log(60000) * rand())) % 60000]
            print "."
        }
    }'
}

# Shortest CPU and elapsed seconds of `runs` runs, in milliseconds, of the command; its output goes to $out.
measure() {
    local n user system real cpu best_cpu= best_real=
    for ((n = 0; n < runs; n++)); do
        TIMEFORMAT='%3U %3S %3R'
        { time "$@" >"$out" 2>"$scratch/messages"; } 2>"$scratch/time" || { cat "$scratch/messages" >&2; return 1; }
        read -r user system real <"$scratch/time"
        cpu=$((10#${user/./} + 10#${system/./})) real=$((10#${real/./}))
        [[ -z $best_cpu || $cpu -lt $best_cpu ]] && best_cpu=$cpu
        [[ -z $best_real || $real -lt $best_real ]] && best_real=$real
    done
    cpu_ms=$best_cpu real_ms=$best_real
}

line() { # what, ours, theirs, in ms
    awk -v what="$1" -v ours="$2" -v theirs="$3" -v to_reach="$4" 'BEGIN {
        printf "%-42s %8.3f s %8.3f s %6.1f x   (to reach: %s)\n", what, ours / 1000, theirs / 1000, theirs / (ours > 0 ? ours : 1), to_reach }'
}

text=${BENCH_TEXT:-$scratch/text}
[[ -n ${BENCH_TEXT:-} ]] || make_text >"$text"
echo "text: ${BENCH_TEXT:-made} ($(wc -w <"$text") words, $(wc -c <"$text") bytes)"

out=$scratch/codes
measure $one_core "$run" learnbpe $merges "$text" || exit 1
learn=$cpu_ms
out=$scratch/messages
measure $one_core "$run" applybpe "$scratch/ours" "$text" "$scratch/codes" || exit 1
apply=$cpu_ms apply_core=$real_ms

if [[ -z $FASTBPE ]]; then
    awk -v l=$learn -v a=$apply -v n="$(wc -w <"$text")" -v m=$merges 'BEGIN {
        printf "learning %d merges %.3f s, segmentation %.3f s (%.1f million words/s)\n", m, l / 1000, a / 1000, n / a / 1000 }'
    echo "fastBPE: skipped, there is no fastbpe in PATH (or set FASTBPE to its program)"
    exit 0
fi
out=$scratch/their_codes
measure $one_core "$FASTBPE" learnbpe $merges "$text" || exit 1
their_learn=$cpu_ms
out=$scratch/messages
measure $one_core "$FASTBPE" applybpe "$scratch/theirs" "$text" "$scratch/codes" || exit 1
their_apply_core=$real_ms
measure "$FASTBPE" applybpe "$scratch/theirs" "$text" "$scratch/codes" || exit 1
their_apply=$cpu_ms

printf '%-42s %10s %10s\n' '' xlm-mpi fastBPE
line "learning $merges merges, CPU" "$learn" "$their_learn" 2
line "segmentation, CPU" "$apply" "$their_apply" 2
line "segmentation, elapsed on one core" "$apply_core" "$their_apply_core" 2
if cmp "$scratch/ours" "$scratch/theirs"; then
    echo "segmented texts are the same"
else
    echo "segmented texts DIFFER"
    exit 1
fi
echo "counts of the first 100 merges: $(cmp -s <(cut -d' ' -f3 "$scratch/codes" | head -n 100) \
    <(cut -d' ' -f3 "$scratch/their_codes" | head -n 100) && echo the same || echo different)"
