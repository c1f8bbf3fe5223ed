#!/bin/sh
# xlm-mpi: run one test program as the Makefile does. SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs of tests/mpi run on 1, 2, 3 and 4 ranks and pass when all do, those of tests/fuzz on their inputs; others run as they
# are.
set -e
case $1 in
*tests/mpi/*)
    for ranks in 1 2 3 4; do
        echo "== $ranks ranks"
        sh "$XLM_SOURCE/tests/mpirun.sh" "$ranks" "$@"
    done ;;
*tests/fuzz/*)
    # On every input there is: seeds, and what once failed.
    target=${1##*/}
    set -- "$@" "$XLM_SOURCE/tests/fuzz/seeds/$target"
    if [ -d "$XLM_SOURCE/tests/fuzz/regressions/$target" ]; then set -- "$@" "$XLM_SOURCE/tests/fuzz/regressions/$target"; fi
    exec "$@" ;;
*) exec "$@" ;;
esac
