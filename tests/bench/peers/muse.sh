#!/usr/bin/env bash
# xlm-mpi: translation of words and their similarity beside MUSE's code. SPDX-License-Identifier: GPL-3.0-or-later
#
# MUSE              directory of github.com/facebookresearch/MUSE; needs Debian's python3-torch and python3-scipy; python3-faiss
#                   makes it faster
# BENCH_WORDS, BENCH_WIDTH   vectors of each side (12000 x 300)
# XLM_BENCH_ROUNDS  rounds, in which both take turns (3); medians of processor time are shown
# XLM_PEERS_BLAS    more directories with a libblas.so.3 that MUSE is tried with, beside Debian's in /usr/lib
#
# Whole processes with one thread each, of which both read the same text, with a P@1 between 10 and 90 %: target vectors are
# those of the source with half of their signs changed, and noise; some words are near to all others, so that CSLS and the cosine
# differ.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/peers/blas.sh
. "$XLM_SOURCE/tests/bench/peers/blas.sh"
python=/usr/bin/python3
section "words translated as by MUSE"
[[ -n ${MUSE-} ]] || leave_out MUSE "MUSE names its directory"
"$python" -c 'import torch, scipy' 2>/dev/null || leave_out MUSE "python3-torch or python3-scipy is not installed"
in_scratch
words=${BENCH_WORDS:-12000} width=${BENCH_WIDTH:-300}
awk -v n="$words" -v d="$width" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
    BEGIN {
        srand(5)
        for (j = 0; j < d; j++) mean[j] = normal()
        print n, d >"source.vec"; print n, d >"target.vec"
        for (i = 0; i < n; i++) {
            hub = rand()
            for (j = 0; j < d; j++) x[j] = normal() + hub * mean[j]
            s = "s" i; t = "t" i
            for (j = 0; j < d; j++) {
                s = s sprintf(" %.4f", x[j])
                t = t sprintf(" %.4f", x[j] * (j % 2 ? 1 : -1) + 2.8 * normal())
            }
            print s >"source.vec"; print t >"target.vec"
        }
        for (i = 0; i < n / 4; i++) print "s" i, "t" i >"learn.txt"
        # Some words have two translations.
        for (; i < n / 4 + 1500 && i < n; i++) {
            print "s" i, "t" i >"test.txt"
            if (i % 5 == 0) print "s" i, "t" (i * 7 % n) >"test.txt"
        }
        for (i = 0; i < 2000; i++) printf "s%d\ts%d\t%.3f\n", i, n - 1 - i * 3, 10 * rand() >"similarity.txt"
    }'

by_muse() { # DIRECTORY-OF-BLAS [VARIABLE=VALUE]
    env LD_LIBRARY_PATH="$1" OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1 ${2:+"$2"} "$python" \
        "$XLM_SOURCE/tests/bench/peers/muse.py" "$MUSE" source.vec target.vec learn.txt test.txt similarity.txt
}
ours() {
    xlm_embed procrustes source.vec target.vec learn.txt --evaluate test.txt --refine 0 --csls-words 0 --threads 1
    xlm_embed similarity source.vec --pairs similarity.txt --csv similarity.csv --threads 1 >&2
}
best=$(fastest_blas) || leave_out MUSE "PyTorch has the reference BLAS only (Debian: libopenblas0-pthread)"
say "MUSE with ${best##*/}"
for ((round = 0; round < ${XLM_BENCH_ROUNDS:-3}; round++)); do
    # shellcheck disable=SC2086
    in_processor_time muse by_muse $best
    mv out muse.out
    in_processor_time own ours
    mv out own.out
done

# The rows of both: when, how, P@1, P@5, P@10.
awk '$1 == "before" || $1 == "after" { gsub("%", ""); print $1, $2, $5, $6, $7 }' own.out >own.rows
grep -E '^(before|after) ' muse.out >muse.rows
cat own.out muse.out >&2
[[ $(wc -l <own.rows) -eq 4 && $(wc -l <muse.rows) -eq 4 ]] || exit 1
# A word whose two nearest are as near as float32 can tell may be counted either way.
worst=$(paste -d' ' own.rows muse.rows | awk '$1 != $6 || $2 != $7 { exit 1 }
    { for (i = 3; i <= 5; i++) { d = $i - $(i + 5); if (d < 0) d = -d; if (d > worst) worst = d } } END { printf "%.2f\n", worst }')
# of FILE WHEN HOW: P@1
of() { awk -v when="$2" -v how="$3" '$1 == when && $2 == how { print $3 }' "$1"; }
rho=$(awk -F, '$6 == "spearman" { printf "%.4f\n", $7 }' similarity.csv)
their_rho=$(awk '$1 == "spearman" { print $2 }' muse.out)
[[ -n $rho && -n $their_rho ]] || { head -n 3 similarity.csv >&2; exit 1; }
row "P@1, 5, 10 by cosine and CSLS: largest difference, %" "" "" "$worst" "<= 0.1"
row "Spearman's rho" "$rho" "$their_rho" "" ""
row "processor time" "$(processor_of own) s" "$(processor_of muse) s" "$(quotient "$(processor_of muse)" "$(processor_of own)")" ""
with=$("$python" -c 'import faiss; print("Faiss " + faiss.__version__)' 2>/dev/null || echo "without Faiss")
commands="xlm_embed procrustes source.vec target.vec learn.txt --evaluate test.txt --refine 0 --csls-words 0 --threads 1; "
commands+="xlm_embed similarity source.vec --pairs similarity.txt --threads 1"
peer MUSE "$(version_of "$MUSE/evaluate.py"), $with" "MUSE=DIR make bench BENCHMARKS=tests/bench/peers/muse.sh" \
    "$commands" "load_embeddings, get_word_translation_accuracy (nn, csls_knn_10), Trainer.procrustes, get_spearman_rho"
shares="cosine $(of own.rows after cosine) and $(of muse.rows after cosine), "
shares+="CSLS $(of own.rows after CSLS) and $(of muse.rows after CSLS)"
beside MUSE "words translated by cosine and CSLS before and after a map of $((words / 4)) pairs, word similarity; $words x $width" s \
    "$(processor_of own)" "$(processor_of muse)" "$(quotient "$(processor_of muse)" "$(processor_of own)")" \
    "P@1 after, %: $shares; largest difference of all P@1, 5, 10: $worst; Spearman's rho $rho and $their_rho"
