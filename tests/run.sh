#!/bin/sh
# xlm-mpi: run one test program as the Makefile does. SPDX-License-Identifier: GPL-3.0-or-later
#
# Programs of tests/mpi run on 1 and 3 ranks (make check-all: 1, 2, 3 and 4; XLM_TEST_QUICK: 3) and pass when all do, those of
# tests/fuzz on their inputs; others run as they are. With XLM_TEST_QUICK=release those that read nothing of the source directory
# are left out.
set -e
case ${XLM_TEST_QUICK-}/$1 in
release/*tests/fuzz/*) ;;
release/*)
    if ! grep -qs XLM_SOURCE "$XLM_SOURCE/$1.c"; then
        echo "left out: reads nothing of the source directory (XLM_TEST_QUICK=release)"
        exit 77
    fi ;;
esac
case $1 in
*tests/mpi/*)
    numbers='1 3'
    [ "${XLM_TEST_ALL-}" != 1 ] || numbers='1 2 3 4'
    [ -z "${XLM_TEST_QUICK-}" ] || numbers=3
    XLM_TEST_LAUNCHER=$(sh "$XLM_SOURCE/tests/mpirun.sh" --launcher)
    XLM_TEST_SESSIONS=$(mktemp -d /tmp/xlm-XXXXXX)
    trap 'rm -rf "$XLM_TEST_SESSIONS"' EXIT
    export XLM_TEST_LAUNCHER XLM_TEST_SESSIONS
    for ranks in $numbers; do
        echo "== $ranks ranks"
        sh "$XLM_SOURCE/tests/mpirun.sh" "$ranks" "$@"
    done ;;
*tests/fuzz/*)
    # On every input there is: seeds, what once failed, a table of inputs with what must become of them, and what campaigns have
    # kept.
    target=${1##*/}
    for inputs in "seeds/$target" "regressions/$target" "cases/$target.cases" "kept/$target.tar.xz"; do
        if [ -e "$XLM_SOURCE/tests/fuzz/$inputs" ]; then set -- "$@" "$XLM_SOURCE/tests/fuzz/$inputs"; fi
    done
    exec "$@" ;;
*) exec "$@" ;;
esac
