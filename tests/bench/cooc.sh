#!/usr/bin/env bash
# xlm-mpi: speed of counting co-occurrence beside GloVe's cooccur. SPDX-License-Identifier: GPL-3.0-or-later
#
# GLOVE              directory of GloVe's programs vocab_count and cooccur, else they are looked for in PATH; without them only
#                    our own times are shown
# BENCH_TEXT         tokenised text, a sentence a line; else some is made, 26 million tokens, or less
# XLM_BENCH_ROUNDS   rounds, in which the programs take turns (3); medians are shown
# XLM_BENCH_BESIDE   1: GloVe and one rank alone, with less text
#
# Whole processes are compared, from start to end: both count the same subwords of the same sentences with a window of 2 and write
# their table. Ours has one thread a rank. With NumPy the numbers in both tables are compared too.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
PATH=${GLOVE:+$GLOVE:}$PATH
in_scratch
if [[ -n ${BENCH_TEXT-} ]]; then
    cp "$BENCH_TEXT" text
else
    made_text >part
    copies=14
    [[ ${XLM_BENCH_BESIDE:-} != 1 ]] || copies=4
    for ((copy = 0; copy < copies; copy++)); do cat part; done >text
fi
xlm_prep --mono en=text --words space --bpe 20000 --held-out 0 --write-codes codes -o corpus.h5 >prep.log 2>&1 ||
    { cat prep.log >&2; exit 1; }
glove=no
if command -v cooccur >/dev/null && command -v vocab_count >/dev/null; then
    glove=yes
    xlm_prep --codes codes --segment text segmented >/dev/null 2>&1
    vocab_count -verbose 0 <segmented >vocabulary 2>/dev/null
fi

# measure NAME COMMAND...: appends seconds to NAME.seconds, processor seconds to NAME.processor; its output stays in `out`.
measure() {
    local name=$1
    shift
    TIMEFORMAT='%R %U %S'
    { time "$@" >out 2>log; } 2>seconds || { cat log >&2; return 1; }
    awk '{ print $1 }' seconds >>"$name.seconds"
    awk '{ print $2 + $3 }' seconds >>"$name.processor"
}
count_by_glove() { cooccur -verbose 0 -window-size 2 -memory 4 -vocab-file vocabulary <segmented; }

for ((round = 0; round < ${XLM_BENCH_ROUNDS:-3}; round++)); do
    [[ $glove = no ]] || { measure glove count_by_glove; mv out glove.records; }
    measure one "${launcher[@]}" -n 1 xlm_cooc corpus.h5 -o one.h5 --threads 1 --weights glove --split all
    [[ ${XLM_BENCH_BESIDE:-} != 1 ]] || continue
    measure two "${launcher[@]}" -n 2 xlm_cooc corpus.h5 -o two.h5 --threads 1
    measure little "${launcher[@]}" -n 1 xlm_cooc corpus.h5 -o little.h5 --threads 1 --memory 32M
done
median_of() { local numbers; mapfile -t numbers <"$1.seconds"; median "${numbers[@]}"; }
section "co-occurrence, window 2"
if [[ $glove = yes ]]; then
    row "GloVe's cooccur beside one rank" "$(median_of one) s" "$(median_of glove) s" \
        "$(quotient "$(median_of glove)" "$(median_of one)")" ">= 5"
else
    skipped "GloVe's cooccur beside one rank" "no cooccur in PATH; GLOVE=DIR names its directory"
fi
if [[ ${XLM_BENCH_BESIDE:-} != 1 ]]; then
    row "one rank beside two" "$(median_of two) s" "$(median_of one) s" "$(quotient "$(median_of one)" "$(median_of two)")" ">= 1.8"
    row "in 32 MiB beside 2 GiB" "$(median_of little) s" "$(median_of one) s" \
        "$(quotient "$(median_of little)" "$(median_of one)")" "<= 2"
fi
[[ -z ${BENCH_TEXT-} ]] || exit 0
[[ $glove = yes ]] || { unmeasured GloVe "it is not installed"; exit 0; }
agreement="not compared: python3-numpy is not installed"
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    xlm_cooc export one.h5 -o one.records --vocabulary one.vocabulary >/dev/null 2>&1
    read -r pairs missing worst < <(/usr/bin/python3 "$XLM_SOURCE/tests/bench/peers/cooc_records.py" one.vocabulary one.records \
        vocabulary glove.records)
    [[ -n ${worst-} ]] || exit 1
    row "counts: pairs, in one table only" "$pairs" "$missing" "$missing" "<= 0"
    row "counts: largest relative difference" "$worst" "" "$worst" "<= 1e-6"
    agreement="$pairs pairs, $missing of them in one table only; largest relative difference of a count: $worst"
fi
peer GloVe "$(version_of "$(command -v cooccur)")" "GLOVE=DIR/build make bench BENCHMARKS=tests/bench/cooc.sh" \
    "xlm_cooc corpus.h5 -o cooc.h5 --weights glove --split all --threads 1" \
    "cooccur -window-size 2 -memory 4 -vocab-file vocabulary <segmented >records"
beside GloVe "co-occurrence of subwords of $((copies * 1440000)) words, window 2" "s" "$(processor_of one)" "$(processor_of glove)" \
    "$(quotient "$(processor_of glove)" "$(processor_of one)")" "$agreement"
