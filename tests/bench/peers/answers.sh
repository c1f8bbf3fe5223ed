#!/usr/bin/env bash
# xlm-mpi: scores of 3,000 random answers in each of 7 languages, beside those of the published scripts, which are not here:
# MLQA's mlqa_evaluation_v1.py (facebookresearch/MLQA) and SQuAD's evaluate-v1.1.py and evaluate-v2.0.py.
# SPDX-License-Identifier: GPL-3.0-or-later
#
#   make tests/bench/answer_scores && tests/bench/peers/answers.sh mlqa=FILE squad1=FILE squad2=FILE
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
[ $# -gt 0 ] || { sed -n 's/^#   //p' "$0" >&2; exit 64; }
# SQuAD's script draws with numpy when asked to, and wants it in any case.
python3 -c 'import numpy' 2>/dev/null || { mkdir "$folder/stub"; : >"$folder/stub/numpy.py"; export PYTHONPATH=$folder/stub; }
python3 "$(dirname "$0")/answers.py" "${XLM_BUILD:-.}/tests/bench/answer_scores" "$folder" "$@"
