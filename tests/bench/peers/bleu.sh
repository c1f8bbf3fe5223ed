#!/usr/bin/env bash
# xlm-mpi: scores of translations beside sacreBLEU's and those of multi-bleu.perl. SPDX-License-Identifier: GPL-3.0-or-later
#
# SACREBLEU   directory of github.com/mjpost/sacrebleu; needs numpy and Debian's python3-portalocker, python3-regex,
#             python3-tabulate, python3-colorama, python3-lxml
# MULTI_BLEU  scripts/generic/multi-bleu.perl of github.com/moses-smt/mosesdecoder; without it, it is left out
# TEXTS       files of sentences between blanks, one for each language, such as mono.* of jobs/corpora/libreoffice-help; else one
#             is made
# NUMBER      how many random texts are scored (500)
# XLM_BENCH_ROUNDS  rounds, in which whole processes take turns (3) with 30,000 sentences; medians of their processor time are shown
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
python=/usr/bin/python3
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
section "translations scored as by sacreBLEU"
[[ -n ${SACREBLEU-} ]] || leave_out sacreBLEU "SACREBLEU names its directory"
"$python" -c 'import numpy, portalocker, regex, tabulate, colorama, lxml' 2>/dev/null ||
    leave_out sacreBLEU "a package of Python that it needs is not installed"
in_scratch
if [[ -z ${TEXTS-} ]]; then
    { made_text || :; } 2>/dev/null | head -n 30000 | sed 's/ $/ ./; s/ \([a-m]*\) / \1, /3' >text
    TEXTS=$work/text
fi
# shellcheck disable=SC2086 # TEXTS are words
"$python" "$XLM_SOURCE/tests/bench/peers/bleu.py" "$SACREBLEU" "$XLM_BUILD/xlm_bleu" "${MULTI_BLEU:--}" "${NUMBER:-500}" $TEXTS |
    while IFS=$'\t' read -r name scores different worst; do
        row "$name: scores, at most off" "$scores" "$worst" "$different" "<= 0"
        echo "$scores $different" >>compared
    done
read -r scores different < <(awk '{ scores += $1; different += $2 } END { print scores, different }' compared)

# Whole processes with 30,000 sentences, some of whose words are other ones.
[[ -e text ]] || { { made_text || :; } 2>/dev/null | head -n 30000 >text; }
awk 'BEGIN { srand(3) } { for (i = 1; i <= NF; i++) if (rand() < 0.2) $i = $(1 + int(rand() * NF)); print }' text >translation
# sacreBLEU makes the module of its version when it is installed.
by_sacrebleu() {
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$SACREBLEU "$python" -c 'import sys
made = type(sys)("sacrebleu.version")
made.__version__ = "unknown"
sys.modules["sacrebleu.version"] = made
from sacrebleu.sacrebleu import main
main()' text -i translation -m bleu chrf -w 6 -f json
}
ours() { xlm_bleu translation text --metric bleu,chrf --width 6 --json; }
for ((round = 0; round < ${XLM_BENCH_ROUNDS:-3}; round++)); do
    in_processor_time sacrebleu by_sacrebleu
    mv out sacrebleu.json
    in_processor_time xlm_bleu ours
    mv out xlm_bleu.json
done
mapfile -t bleu < <(sed -n 's/^ *"score": \([0-9.]*\),\{0,1\}$/\1/p' sacrebleu.json)
mapfile -t own < <(grep -oE '"score": *[0-9.]+' xlm_bleu.json | grep -oE '[0-9.]+$')
[[ ${#bleu[@]} -eq 2 && ${#own[@]} -eq 2 ]] || { cat sacrebleu.json xlm_bleu.json >&2; exit 1; }
row "30,000 sentences, processor time" "$(processor_of xlm_bleu) s" "$(processor_of sacrebleu) s" \
    "$(quotient "$(processor_of sacrebleu)" "$(processor_of xlm_bleu)")" ""
peer sacreBLEU "$(version_of "$SACREBLEU/sacrebleu/sacrebleu.py")" "SACREBLEU=DIR make bench BENCHMARKS=tests/bench/peers/bleu.sh" \
    "xlm_bleu translation text --metric bleu,chrf --width 6 --json" "sacrebleu text -i translation -m bleu chrf -w 6 -f json"
beside sacreBLEU "BLEU and chrF2 of 30,000 sentences" "s" "$(processor_of xlm_bleu)" "$(processor_of sacrebleu)" \
    "$(quotient "$(processor_of sacrebleu)" "$(processor_of xlm_bleu)")" \
    "$(printf 'BLEU %.4f and %.4f, chrF2 %.4f and %.4f; of %d other scores %d differ by 0.005 or more' \
        "${own[0]}" "${bleu[0]}" "${own[1]}" "${bleu[1]}" "$scores" "$different")"
