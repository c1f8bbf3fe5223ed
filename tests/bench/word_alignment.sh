#!/usr/bin/env bash
# xlm-mpi: speed and error rate of word alignment beside fast_align and eflomal. SPDX-License-Identifier: GPL-3.0-or-later
#
# BENCH_SOURCE, BENCH_TARGET  two tokenised texts, line i of one the translation of line i of the other; else a text and one made
#                    of it word by word are taken, whose links are known
# BENCH_GOLD         links made by people for the last lines of these texts: error rates are shown too; BENCH_GOLD_REVERSE=1 when
#                    they are of the target's words to the source's
# FAST_ALIGN         directory of fast_align and atools, else they are looked for in PATH
# EFLOMAL            command eflomal-align, else it is looked for in PATH
# XLM_BENCH_ROUNDS   rounds, in which the programs take turns (3); medians are shown
# XLM_BENCH_BESIDE   1: one rank of one thread alone, whose processor time is compared with that of the others; less text
#
# Whole processes are compared, from start to end, both directions of each. eflomal has its 3 samplers; it and fast_align use as many
# threads as they want, ours two. Processor time is that of all threads, and for ours that of one rank with one thread.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
PATH=${FAST_ALIGN:+$FAST_ALIGN:}$PATH
eflomal=${EFLOMAL:-eflomal-align}
gold=${BENCH_GOLD:+$(realpath "$BENCH_GOLD")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ -n ${BENCH_SOURCE-} ]]; then
    cp "$BENCH_SOURCE" "$work/source"
    cp "$BENCH_TARGET" "$work/target"
fi
cd "$work"
if [[ -z ${BENCH_SOURCE-} ]]; then
    lines=20000
    [[ ${XLM_BENCH_BESIDE:-} != 1 ]] || lines=6000
    # A word for each word, neighbours exchanged now and then, some words left out. The links of the last lines are kept.
    { made_text || :; } 2>/dev/null | head -n "$lines" >source
    awk -v lines="$lines" 'BEGIN { srand(1) } {
        for (i = 1; i <= NF; i++) from[i] = i
        for (i = 1; i < NF; i++) if (rand() < 0.2) { w = from[i]; from[i] = from[i + 1]; from[i + 1] = w }
        line = ""; words = 0
        for (i = 1; i <= NF; i++) if (NF < 3 || rand() > 0.1) {
            line = line " " $from[i] "x"; words++
            if (NR > lines - 2000) print NR - lines + 2000, from[i], words >"made.gold"
        }
        print substr(line == "" ? " x" : line, 2)
    }' source >target
    gold=$work/made.gold
fi
paste source target | sed 's/\t/ ||| /' >pairs

# measure NAME COMMAND...: appends seconds to NAME.seconds, processor seconds to NAME.processor.
measure() {
    local name=$1
    shift
    TIMEFORMAT='%R %U %S'
    { time "$@" >out 2>log; } 2>measured || { cat log >&2; return 1; }
    awk '{ print $1 }' measured >>"$name.seconds"
    awk '{ print $2 + $3 }' measured >>"$name.processor"
}
# The tests have one thread a rank; the peers take as many as there are cores, unless it is processor time alone that counts.
as_many=(env -u OMP_NUM_THREADS)
[[ ${XLM_BENCH_BESIDE:-} != 1 ]] || as_many=(env)
by_fast_align() {
    "${as_many[@]}" fast_align -i pairs -d -o -v >fast_align.forward
    "${as_many[@]}" fast_align -i pairs -d -o -v -r >fast_align.reverse
}
by_eflomal() { "${as_many[@]}" "$eflomal" --overwrite -s source -t target -f eflomal.forward -r eflomal.reverse; }
# ours METHOD RANKS THREADS
ours() {
    "${launcher[@]}" -n "$2" xlm_align source target --method "$1" --threads "$3" -o "$1.links" --forward "$1.forward" \
        --reverse "$1.reverse"
}
has_fast_align=no has_eflomal=no
! command -v fast_align >/dev/null || has_fast_align=yes
! command -v "$eflomal" >/dev/null || has_eflomal=yes
for ((round = 0; round < ${XLM_BENCH_ROUNDS:-3}; round++)); do
    [[ $has_fast_align = no ]] || measure fast_align by_fast_align
    [[ $has_eflomal = no ]] || measure eflomal by_eflomal
    for method in fertility diagonal; do
        measure "$method-one" ours "$method" 1 1
        [[ ${XLM_BENCH_BESIDE:-} != 1 ]] || continue
        measure "$method" ours "$method" 1 2
        measure "$method-two" ours "$method" 2 1
    done
done
# median_of NAME [seconds|processor]
median_of() { local numbers; mapfile -t numbers <"$1.${2:-seconds}"; median "${numbers[@]}"; }
section "word alignment, both directions"
# against LABEL PEER METHOD HAS GOAL [seconds|processor]
against() {
    if [[ $4 = yes ]]; then
        local of=${6:-seconds} ours peer
        ours=$(median_of "$3" "$of") peer=$(median_of "$2" "$of")
        row "$1" "$ours s" "$peer s" "$(quotient "$peer" "$ours")" "$5"
    else
        skipped "$1" "no $2 in PATH; EFLOMAL and FAST_ALIGN say where they are"
    fi
}
if [[ ${XLM_BENCH_BESIDE:-} != 1 ]]; then
    against "eflomal, 3 samplers, beside fertility" eflomal fertility "$has_eflomal" ">= 1"
    against "fast_align beside diagonal" fast_align diagonal "$has_fast_align" ">= 2"
    for method in fertility diagonal; do
        row "$method: one rank beside two" "$(median_of "$method-two") s" "$(median_of "$method-one") s" \
            "$(quotient "$(median_of "$method-one")" "$(median_of "$method-two")")" ">= 1.8"
    done
fi
against "eflomal beside fertility, processor time" eflomal fertility-one "$has_eflomal" ">= 1" processor
against "fast_align beside diagonal, processor time" fast_align diagonal-one "$has_fast_align" ">= 2" processor
[[ -n $gold ]] || exit 0

# error_rate LINKS: of the lines that gold has, by symmetrisation of NAME.forward and NAME.reverse.
sentences=$(awk '{ print $1 }' "$gold" | sort -u | wc -l)
error_rate() {
    tail -n "$sentences" "$1" >last
    xlm_align score last "$gold" --words-from 0 ${BENCH_GOLD_REVERSE:+--reverse} 2>log | awk 'NR == 2 { print $1 + 0 }'
}
section "alignment error rate, %"
for beside in "fertility eflomal" "diagonal fast_align"; do
    for how in forward reverse intersection union grow-diag grow-diag-final grow-diag-final-and; do
        rates=()
        for name in $beside; do
            [[ -s $name.forward ]] || continue
            xlm_align symmetrise "$name.forward" "$name.reverse" --symmetrise "$how" -o links 2>log
            rates+=("$(error_rate links)")
        done
        if ((${#rates[@]} == 2)); then
            row "${beside#* } beside ${beside% *}: $how" "${rates[@]}" "$(quotient "${rates[0]}" "${rates[1]}")" "<= 1"
        else
            row "${beside% *}: $how" "${rates[0]}" "" ""
        fi
    done
done

# on_page PROGRAM METHOD HAS FILE THEIRS...: what docs/benchmarks.md has of it.
on_page() {
    local program=$1 method=$2 how ours theirs rates=()
    [[ $3 = yes ]] || { unmeasured "$program" "it is not installed"; return 0; }
    peer "$program" "$(version_of "$4")" "$5" "xlm_align source target --method $method --threads 1 -o links" "$6"
    for how in forward reverse grow-diag-final-and; do
        for name in "$method" "$program"; do
            xlm_align symmetrise "$name.forward" "$name.reverse" --symmetrise "$how" -o links 2>log
            rates+=("$(error_rate links)")
        done
    done
    ours=$(median_of "$method-one" processor) theirs=$(median_of "$program" processor)
    beside "$program" "word alignment of $lines pairs of sentences, both directions, method \`$method\`" "s" "$ours" "$theirs" \
        "$(quotient "$theirs" "$ours")" \
        "error rate, %: forward ${rates[0]} and ${rates[1]}, reverse ${rates[2]} and ${rates[3]}, joined ${rates[4]} and ${rates[5]}"
}
[[ -z ${BENCH_SOURCE-} ]] || exit 0
on_page fast_align diagonal "$has_fast_align" "$(command -v fast_align || :)" \
    "FAST_ALIGN=DIR make bench BENCHMARKS=tests/bench/word_alignment.sh" \
    "fast_align -i pairs -d -o -v >forward; fast_align -i pairs -d -o -v -r >reverse"
on_page eflomal fertility "$has_eflomal" "$(command -v "$eflomal" || :)" \
    "EFLOMAL=DIR/eflomal-align make bench BENCHMARKS=tests/bench/word_alignment.sh" \
    "eflomal-align -s source -t target -f forward -r reverse"
