# xlm-mpi: what every test finds in its environment; read by the Makefile before each. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
#
# Set before by the Makefile: XLM_SOURCE and XLM_BUILD (top directories), XLM_CC (the compiler), XLM_MPIEXEC (the launcher of
# the MPI that was built with), XLM_OPEN_MPI_4 (yes: that is Open MPI 4), XLM_SANITIZERS, XLM_HARDENING, XLM_TEST_QUICK (1: the
# quick part only; release: of it what reads files of the source directory). By `make check-all`: XLM_TEST_ALL=1.

# The programs of the build tree first, and their objectives. What libtool's scripts start comes before these scripts, which take
# longer than many a program.
PATH=$XLM_BUILD:$PATH
if [ -x "$XLM_BUILD/.libs/xlm_train" ]; then
    PATH=$XLM_BUILD/.libs:$PATH
    LD_LIBRARY_PATH=$XLM_BUILD/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
fi
# A libcurl that needs no other libraries (stand_in.sh).
if [ "${XLM_STAND_IN-}" = yes ] && [ -e "$XLM_BUILD/tests/stand_in/made" ]; then
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$XLM_BUILD/tests/stand_in
    export LD_LIBRARY_PATH
fi
XLM_PLUGIN_PATH=$XLM_BUILD/src/losses/.libs
export PATH XLM_PLUGIN_PATH XLM_SOURCE XLM_BUILD XLM_CC XLM_MPIEXEC XLM_SANITIZERS XLM_HARDENING XLM_TEST_QUICK

# Tests run side by side, so each rank is one thread. A test that wants more says so itself.
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
# Threads of the tests that have several wait without work, for the cores are others' too.
OMP_WAIT_POLICY=passive
export OMP_WAIT_POLICY
unset BLIS_NUM_THREADS BLIS_ARCH_TYPE G_MESSAGES_DEBUG XLM_TEST_LAUNCHER

# What the user's shell has for other programs is none of the tests': variables of a batch job or a launcher, by which a program
# takes itself for a rank and mpiexec looks for other nodes; threads bound to cores, or limited; what a test sets itself when it
# means it. LANGUAGE is gettext's here, and a study's in the tests. PMIX_MCA_ are settings of the installation.
# shellcheck disable=SC2046 # names are words
unset LANGUAGE CDPATH OMP_PROC_BIND OMP_PLACES OMP_THREAD_LIMIT OMP_DYNAMIC GOMP_CPU_AFFINITY XLM_LAUNCH XLM_KERNELS \
    XLM_BF16_EMULATE XLM_STORE_WRITERS XLM_STORE_TIMEOUT XLM_NODE_RANKS ALPS_APP_PE FLUX_TASK_RANK \
    $(env | sed -n '/^PMIX_MCA_/d; s/^\(\(SLURM\|PMI\|PMIX\|OMPI_COMM_WORLD\)_[A-Za-z0-9_]*\)=.*/\1/p')

LC_ALL=C.UTF-8
export LC_ALL

# Open MPI: allowed for root, more ranks than cores, ranks that wait give way to ranks that work, not bound to cores
# (two tests side by side would share one). Without CMA, which containers often forbid (smsc: Open MPI 5). Short paths for its
# sockets.
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
OMPI_MCA_hwloc_base_binding_policy=none
OMPI_MCA_btl_vader_single_copy_mechanism=none
OMPI_MCA_smsc=^cma
OMPI_MCA_orte_tmpdir_base=/tmp
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
    OMPI_MCA_mpi_yield_when_idle OMPI_MCA_hwloc_base_binding_policy OMPI_MCA_btl_vader_single_copy_mechanism \
    OMPI_MCA_smsc OMPI_MCA_orte_tmpdir_base
# When a rank has failed, mpiexec sends the others a signal, and then sleeps for a second before it sends SIGKILL. It need not:
# ours end together, after the message, and there are some hundred tests of errors. Tests of signals give it back (small.sh,
# start).
OMPI_MCA_odls_base_sigkill_timeout=0
export OMPI_MCA_odls_base_sigkill_timeout
# Shared memory is all they need, whatever networks the machine has (mpirun.sh). Nothing is bound to a core, so hwloc need not look
# for caches and devices either: it would read some hundred files of /sys in every process, and load libraries.
OMPI_MCA_pml=ob1
HWLOC_PLUGINS_PATH=/nonexistent
HWLOC_COMPONENTS=no_os,stop
export OMPI_MCA_pml HWLOC_PLUGINS_PATH HWLOC_COMPONENTS
# What PMIx knows of a job is in each rank's own memory: files that ranks share take a fifth of the time of starting two.
PMIX_MCA_gds=hash
export PMIX_MCA_gds
# MPICH: ranks that wait give way to ranks that work.
MPIR_CVAR_POLLS_BEFORE_YIELD=1
export MPIR_CVAR_POLLS_BEFORE_YIELD
# mpiexec of Open MPI 4 refuses to start where there is neither ssh nor rsh, even for one host; Open MPI 5 has no such component.
if [ "${XLM_OPEN_MPI_4-}" = yes ] && ! command -v ssh >/dev/null 2>&1 && ! command -v rsh >/dev/null 2>&1; then
    OMPI_MCA_plm=isolated
    export OMPI_MCA_plm
fi
# 64 ranks do not fit into the 64 MB of shared memory that containers have by default; some have none to write to.
if [ ! -w /dev/shm ] || [ "$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }')0" -lt 5120 ]; then
    OMPI_MCA_btl_vader_backing_directory=/tmp
    export OMPI_MCA_btl_vader_backing_directory
fi

if [ "$XLM_SANITIZERS" = yes ]; then
    # Leaks are looked for by tracing the process, which containers may forbid. Whole stacks: MPI unloads its modules before
    # the program ends, and frames above them show whose a block is. Want of memory is the program's to report.
    LSAN_OPTIONS=suppressions=$XLM_SOURCE/tests/sanitizers.supp:print_suppressions=0
    ASAN_OPTIONS=detect_leaks=1:abort_on_error=0:fast_unwind_on_malloc=0:malloc_context_size=50:allocator_may_return_null=1
    UBSAN_OPTIONS=print_stacktrace=1
    export LSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
fi
