#!/bin/bash
# xlm-mpi: speed of BPE beside fastBPE's. SPDX-License-Identifier: GPL-3.0-or-later
#
# FASTBPE      fastBPE's program; else `fastbpe` in PATH; without it only our own times are shown
# BENCH_TEXT   tokenised text, a sentence a line; else some is made
# BENCH_RUNS   how often each is run (3); the shortest run counts
#
# Whole processes are compared: both read the same text and codes and write the same things. Segmentation is measured
# in CPU seconds (fastBPE has several threads) and in seconds on one core.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
export LC_ALL=C
FASTBPE=${FASTBPE:-$(command -v fastbpe || true)}
runs=${BENCH_RUNS:-3}
merges=8000
run=$XLM_BUILD/tests/bench/bpe_run
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
one_core=()
if command -v taskset >/dev/null; then
    mapfile -t allowed < <(processors)
    one_core=(taskset -c "${allowed[0]}")
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
    local n user system real cpu best_cpu='' best_real=''
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

line() { # what, ours, theirs in ms: how many times as fast
    row "$1" "$(seconds "$2")" "$(seconds "$3")" "$(quotient "$3" "$2" 1)" ">= 2"
}
seconds() { awk -v ms="$1" 'BEGIN { printf "%.3f s", ms / 1000 }'; }

text=${BENCH_TEXT:-$scratch/text}
[[ -n ${BENCH_TEXT:-} ]] || make_text >"$text"
say "text: ${BENCH_TEXT:-made} ($(wc -w <"$text") words, $(wc -c <"$text") bytes)"

out=$scratch/codes
measure "${one_core[@]}" "$run" learnbpe $merges "$text"
learn=$cpu_ms
out=$scratch/messages
measure "${one_core[@]}" "$run" applybpe "$scratch/ours" "$text" "$scratch/codes"
apply=$cpu_ms apply_core=$real_ms

section "subwords beside fastBPE, how many times as fast"
if [[ -z $FASTBPE ]]; then
    row "learning $merges merges, CPU" "$(seconds "$learn")" "" ""
    row "segmentation, CPU" "$(seconds "$apply")" \
        "$(awk -v n="$(wc -w <"$text")" -v a="$apply" 'BEGIN { printf "%.1f million words/s", n / a / 1000 }')" ""
    skipped "beside fastBPE" "there is no fastbpe in PATH (or set FASTBPE to its program)"
    unmeasured fastBPE "it is not installed"
    exit 0
fi
out=$scratch/their_codes
measure "${one_core[@]}" "$FASTBPE" learnbpe $merges "$text"
their_learn=$cpu_ms
out=$scratch/messages
measure "${one_core[@]}" "$FASTBPE" applybpe "$scratch/theirs" "$text" "$scratch/codes"
their_apply_core=$real_ms
measure "$FASTBPE" applybpe "$scratch/theirs" "$text" "$scratch/codes"
their_apply=$cpu_ms

line "learning $merges merges, CPU" "$learn" "$their_learn" 2
line "segmentation, CPU" "$apply" "$their_apply" 2
line "segmentation, elapsed on one core" "$apply_core" "$their_apply_core" 2
cmp "$scratch/ours" "$scratch/theirs" >&2 || { say "segmented texts DIFFER"; exit 1; }
say "segmented texts are the same; counts of the first 100 merges: $(cmp -s <(cut -d' ' -f3 "$scratch/codes" | head -n 100) \
    <(cut -d' ' -f3 "$scratch/their_codes" | head -n 100) && echo the same || echo different)"
[[ -z ${BENCH_TEXT-} ]] || exit 0
peer fastBPE "$(version_of "$FASTBPE")" "FASTBPE=DIR/fast make bench BENCHMARKS=tests/bench/bpe.sh" \
    "the code of \`xlm_prep\` alone: \`bpe_run learnbpe $merges text >codes; bpe_run applybpe segmented text codes\`" \
    "fastbpe learnbpe $merges text >codes; fastbpe applybpe segmented text codes"
words=$(awk -v n="$(wc -w <"$text")" 'BEGIN { printf "%.1f million words", n / 1e6 }')
# of_ms MILLISECONDS: seconds without their unit.
of_ms() { awk -v ms="$1" 'BEGIN { printf "%.3f", ms / 1000 }'; }
beside fastBPE "$merges merges learned from $words" "s" "$(of_ms "$learn")" "$(of_ms "$their_learn")" \
    "$(quotient "$their_learn" "$learn")" ""
beside fastBPE "segmentation of $words, fastBPE with its threads" "s" "$(of_ms "$apply")" "$(of_ms "$their_apply")" \
    "$(quotient "$their_apply" "$apply")" "same bytes with the same merges"
