#!/usr/bin/env bash
# xlm-mpi: rates of GEMM and of each operator at the shapes of roberta-8, on one core and on all. SPDX-License-Identifier: GPL-3.0-or-later
set -euo pipefail
for threads in 1 0; do
    env -u OMP_NUM_THREADS "$XLM_BUILD/tests/bench/kernels" "$threads"
done
