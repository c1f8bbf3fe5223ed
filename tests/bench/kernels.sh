#!/usr/bin/env bash
# xlm-mpi: rates of GEMM and of each operator at the shapes of roberta-8, on one core and on all.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Rows are of one core; those of all cores together are on standard error.
set -euo pipefail
env -u OMP_NUM_THREADS "$XLM_BUILD/tests/bench/kernels" 1
env -u OMP_NUM_THREADS "$XLM_BUILD/tests/bench/kernels" 0 | grep '^machine'
