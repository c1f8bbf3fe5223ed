#!/bin/sh
# xlm-mpi: run a program on N ranks of this machine. SPDX-License-Identifier: GPL-3.0-or-later
#
#   tests/mpirun.sh N PROGRAM [ARGUMENT...]
#   tests/mpirun.sh --launcher      open-mpi or other: whose launcher this is
#
# mpiexec replaces this shell, so its process id is this one's and a test can send it signals. A run that hangs is ended
# after XLM_TEST_TIMEOUT seconds (default 600), and fails.
launcher=${XLM_MPIEXEC:-mpiexec}
# XLM_TEST_LAUNCHER: what `mpirun.sh --launcher` printed before.
if [ -z "${XLM_TEST_LAUNCHER-}" ]; then
    XLM_TEST_LAUNCHER=other
    if $launcher --version 2>/dev/null | grep -q -e OpenRTE -e 'Open MPI' -e PRRTE; then XLM_TEST_LAUNCHER=open-mpi; fi
fi
if [ "${1-}" = --launcher ]; then
    echo "$XLM_TEST_LAUNCHER"
    exit 0
fi
if [ $# -lt 2 ]; then
    echo "usage: $0 N PROGRAM [ARGUMENT...]" >&2
    exit 64
fi
ranks=$1
shift
# Ranks on one node need no network. Programs that are started without mpiexec choose for themselves.
OMPI_MCA_btl=${OMPI_MCA_btl:-self,vader}
export OMPI_MCA_btl
if [ "$XLM_TEST_LAUNCHER" = open-mpi ]; then
    # Two mpiexecs that share a directory for their files: the first to end removes it while the second may be starting, which then
    # fails (Open MPI 4.1.4). So each has its own, in that of the test, which removes all.
    if [ -n "${XLM_TEST_SESSIONS-}" ]; then
        OMPI_MCA_orte_tmpdir_base=$XLM_TEST_SESSIONS/$$
        export OMPI_MCA_orte_tmpdir_base
        mkdir -p "$OMPI_MCA_orte_tmpdir_base" || exit 73
    fi
    exec $launcher --timeout "${XLM_TEST_TIMEOUT:-600}" --oversubscribe --bind-to none -n "$ranks" "$@"
fi
# MPICH and its relatives take more ranks than cores, and bind none.
MPIEXEC_TIMEOUT=${XLM_TEST_TIMEOUT:-600}
export MPIEXEC_TIMEOUT
exec $launcher -n "$ranks" "$@"
