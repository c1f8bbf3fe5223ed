#!/usr/bin/env bash
# xlm-mpi: scores of translations beside sacreBLEU's and those of multi-bleu.perl. SPDX-License-Identifier: GPL-3.0-or-later
#
# SACREBLEU   directory of github.com/mjpost/sacrebleu; needs numpy and Debian's python3-portalocker, python3-regex,
#             python3-tabulate, python3-colorama, python3-lxml
# MULTI_BLEU  scripts/generic/multi-bleu.perl of github.com/moses-smt/mosesdecoder; without it, it is left out
# TEXTS       files of sentences between blanks, one for each language, such as mono.* of jobs/corpora/libreoffice-help
# NUMBER      how many random texts are scored (500)
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
python=/usr/bin/python3
section "translations scored as by sacreBLEU"
[[ -n ${SACREBLEU-} && -n ${TEXTS-} ]] || { skipped "sacreBLEU" "SACREBLEU names its directory, TEXTS files of text"; exit 0; }
"$python" -c 'import numpy, portalocker, regex, tabulate, colorama, lxml' 2>/dev/null ||
    { skipped "sacreBLEU" "a package of Python that it needs is not installed"; exit 0; }
# shellcheck disable=SC2086 # TEXTS are words
"$python" "$XLM_SOURCE/tests/bench/peers/bleu.py" "$SACREBLEU" "$XLM_BUILD/xlm_bleu" "${MULTI_BLEU:--}" "${NUMBER:-500}" $TEXTS |
    while IFS=$'\t' read -r name scores different worst; do
        row "$name: scores, at most off" "$scores" "$worst" "$different" "<= 0"
    done
