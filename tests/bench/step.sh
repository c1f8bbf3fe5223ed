#!/usr/bin/env bash
# xlm-mpi: a model's forward and backward pass beside its own products, on one core and on all.
# SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_ROUNDS  steps that count (2)
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
section "forward and backward beside its matrix products alone (attention's not among them)"
for threads in 1 0; do
    env -u OMP_NUM_THREADS "$XLM_BUILD/tests/bench/step" "$threads" "${XLM_BENCH_ROUNDS:-2}"
done
