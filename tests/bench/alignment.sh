#!/usr/bin/env bash
# xlm-mpi: alignment of 40,000 subwords among 40,000 others, 512 wide, on all cores. SPDX-License-Identifier: GPL-3.0-or-later
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
ranks=$(env -u OMP_NUM_THREADS nproc)
read -r seconds gflops < <(OMP_NUM_THREADS=1 "${launcher[@]}" -n "$ranks" \
    "$XLM_BUILD/tests/bench/alignment" 1)
section "xlm_embed alignment, 2 languages of 40,000 subwords x 512"
row "seconds, $ranks ranks" "$seconds s, $gflops GFLOP/s" "" "$seconds" "<= 60"
