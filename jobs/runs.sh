# xlm-mpi: what the scripts of jobs/ have in common; sourced. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# After `. runs.sh`: functions, and
#   launcher   [array] the command that starts the ranks
# In the environment:
#   XLM_LAUNCH    the command that starts the ranks: "mpiexec -n 16"; by default mpiexec with one rank per core
#   XLM_MPIEXEC   that mpiexec, if several MPIs are installed: "mpiexec.mpich"
#   PATH          the programs; if not found there, those of the tree or installation that this file belongs to

say() { printf '\n== %s\n' "$*"; }
# wrong CODE MESSAGE: ends the script.
wrong() { echo "${0##*/}: $2" >&2; exit "$1"; }

find_programs() {
    local here bin
    ! command -v xlm_train >/dev/null || return 0
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    for bin in "$here/.." "$here/../../../bin"; do # of a tree that was built; PREFIX/share/xlm-mpi/jobs
        [[ -x $bin/xlm_train ]] || continue
        PATH=$(cd "$bin" && pwd):$PATH
        [[ ! -d $here/../src/losses/.libs || -n ${XLM_PLUGIN_PATH-} ]] || export XLM_PLUGIN_PATH=$here/../src/losses/.libs
        return 0
    done
    wrong 69 "xlm_train is not in PATH"
}

find_launcher() {
    if [[ -n ${XLM_LAUNCH-} ]]; then
        read -ra launcher <<<"$XLM_LAUNCH"
        return
    fi
    export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # As many ranks as cores, however few slots Open MPI (4, 5 and later) counts; MPICH has no such limit.
    export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
    read -ra launcher <<<"${XLM_MPIEXEC:-mpiexec} -n $(env -u OMP_NUM_THREADS nproc)"
}

find_programs
find_launcher
