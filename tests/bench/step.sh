#!/usr/bin/env bash
# xlm-mpi: a model's forward and backward pass beside its own products, on one core and on all. SPDX-License-Identifier: GPL-3.0-or-later
set -euo pipefail
for threads in 1 0; do
    env -u OMP_NUM_THREADS "$XLM_BUILD/tests/bench/step" "$threads"
done
