#!/usr/bin/env bash
# xlm-mpi: slurm/xlm_train.sbatch where there is no Slurm (tests/slurm has the rest): a launcher of several words, and the exit code
# of ranks that a signal ends. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
# Tests find nothing of an allocation that they are started in, nor what else a user's shell has for other programs.
env SLURM_JOB_ID=5 SLURM_NTASKS=2 PMI_RANK=0 PMIX_NAMESPACE=5 PMIX_MCA_psec=none OMPI_COMM_WORLD_SIZE=2 LANGUAGE=en_GB:en \
    CDPATH=/ OMP_PLACES=cores XLM_LAUNCH=none XLM_KERNELS=none sh -c '. "$XLM_SOURCE/tests/environment.sh" && env' >found
kept=$(grep -E '^(SLURM_|PMI_|PMIX_(NA|MCA_ps)|OMPI_COMM_|LANGUAGE|CDPATH|OMP_PL|XLM_(LAUNCH|KERNELS))' found)
[ "$kept" = PMIX_MCA_psec=none ] || fail "tests find: $kept"
# Slurm's variables and those of the script that are set here, as in a job, are not the test's.
unset "${!SLURM_@}" XLM_LAUNCH XLM_OPTIONS XLM_MIN_NODES
mkdir bin
# There is one node, of one processor, srun starts nothing, and the job is running until it is put back into the queue.
printf '%s\n' '#!/bin/sh' 'echo 0' >bin/lscpu
printf '%s\n' '#!/bin/sh' 'exit 1' >bin/srun
printf '%s\n' '#!/bin/sh' 'case $1 in requeue) echo "$2" >>requeued ;; esac' 'echo JobState=RUNNING' >bin/scontrol
# The launcher says how it was called, and what srun would pass on; where there is a file `waits`, it stays until the signal, and
# ends with its own code; with `starts`, too, the signal ends it.
cat >bin/launch <<'LAUNCH'
#!/usr/bin/env bash
printf '<%s>' "$@" >launched
echo "${SLURM_EXPORT_ENV-}" >exported
[ -e waits ] || exit 0
[ -e starts ] || trap 'exit 75' USR1
: >ready
while :; do sleep 0.1; done
LAUNCH
chmod +x bin/*
# In this script the ranks have gone before the signal is passed on as a whole.
printf '%s\n' '#!/bin/sh' '! grep -q "^State:.[^Z]" "/proc/$1/status" 2>/dev/null' >bin/has_gone
chmod +x bin/has_gone
sed -e 's|@MPIEXEC@|launch --mca pml ob1|; s|@xlm_mpi_family@|open-mpi|; s|@bindir@|/none|g' \
    -e '/^pass_on() {/,/^}/s|kill -USR1 "$ranks_pid" 2>.dev.null|{ &; until has_gone "$ranks_pid"; do sleep 0.1; done; }|' \
    "$XLM_SOURCE/slurm/xlm_train.sbatch.in" >job.sbatch
grep -q '{ kill .*; done; }$' job.sbatch || fail "the signal is passed on in another way: $(grep ranks_pid job.sbatch)"
export SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=1 SLURM_CPUS_ON_NODE=1 SLURM_NTASKS_PER_NODE=1 SLURM_JOB_NODELIST=n1 XLM_TRAIN=/bin/true
PATH=$PWD/bin:$PATH

logged plain.log bash job.sbatch a.conf
[ "$(<launched)" = '<--mca><pml><ob1><-n><1><--map-by><ppr:1:node:PE=1></bin/true><--resume><auto><a.conf>' ] ||
    fail "the launcher: $(cat launched plain.log)"
[ ! -e requeued ] || fail "a finished job was put back into the queue"

# An srun of one's own gets the ranks and threads of a node as well, which its own options can change.
mkdir own && cp bin/launch own/srun
logged own.log env XLM_LAUNCH="own/srun --mpi=cray_shasta --wait=0" SLURM_CPUS_ON_NODE=8 SLURM_NTASKS_PER_NODE=2 \
    bash job.sbatch a.conf
given='<--ntasks-per-node=2><--cpus-per-task=4><--wait=60>' own='<--mpi=cray_shasta><--wait=0>'
[ "$(<launched)" = "$given$own<-n><2></bin/true><--resume><auto><a.conf>" ] || fail "srun of XLM_LAUNCH: $(cat launched own.log)"
logged own.log env XLM_LAUNCH="bin/launch --mine" bash job.sbatch a.conf
[ "$(<launched)" = '<--mine><-n><1></bin/true><--resume><auto><a.conf>' ] || fail "another launcher: $(cat launched own.log)"

# The number of ranks is the script's; what only looks like it is the launcher's.
for given in '-n 4' '-np 4' '--np 4' -n4 '--ntasks 4' --ntasks=4; do
    rm -f launched
    expect 64 "XLM_LAUNCH=bin/launch $given --mine: leave out ${given%% *};" \
        env XLM_LAUNCH="bin/launch $given --mine" bash job.sbatch a.conf
    [ ! -e launched ] || fail "$given: launched"
done
logged own.log env XLM_LAUNCH="bin/launch --ntasks-per-core=1 -name" bash job.sbatch a.conf

# A bare name is looked up in PATH; the message about what is not there names it.
cp bin/has_gone bin/xlm_other
logged bare.log env XLM_TRAIN=xlm_other bash job.sbatch a.conf
grep -q "<$PWD/bin/xlm_other><--resume>" launched || fail "XLM_TRAIN=xlm_other: $(cat launched bare.log)"
expect 69 'XLM_TRAIN=xlm_none: there is no such program' env XLM_TRAIN=xlm_none bash job.sbatch a.conf

# Variables that the script sets reach the ranks, also where those of the shell that the job was submitted from do not.
SLURM_EXPORT_ENV=NONE logged none.log bash job.sbatch a.conf
[ "$(<exported)" = ALL ] || fail "after sbatch --export=NONE: $(<exported)"

# A node of four cores with two threads each, NODE CPUs of Slurm: as many threads and CPUs as a rank is to get, and what Slurm says.
mkdir two
printf '%s\n' '#!/bin/sh' 'case $1 in -p=CPU) seq 0 7 ;; -p=SOCKET) echo 0 ;; *) seq 0 3 ;; esac' >two/lscpu
printf '%s\n' '#!/bin/sh' '[ "$*" != "show node n1" ] || echo "   CPUAlloc=0 CPUEfctv=$NODE CPUTot=$NODE CPULoad=0.1"' >two/scontrol
chmod +x two/*
while read -r threads cpus given; do
    # shellcheck disable=SC2086 # words
    logged two.log env PATH="$PWD/two:$PATH" XLM_LAUNCH=own/srun SLURMD_NODENAME=n1 $given bash job.sbatch a.conf
    grep -q ", $threads threads each$" two.log && grep -q "^<--ntasks-per-node=1><--cpus-per-task=$cpus>" launched ||
        fail "$given: not $threads threads, $cpus CPUs: $(cat two.log)"
done <<'NODES'
4 8 NODE=8 SLURM_CPUS_ON_NODE=8
2 4 NODE=8 SLURM_CPUS_ON_NODE=8 SLURM_CPUS_PER_TASK=4
4 4 NODE=8 SLURM_CPUS_ON_NODE=8 SLURM_CPUS_PER_TASK=4 SLURM_HINT=nomultithread
4 4 NODE=8 SLURM_CPUS_ON_NODE=8 SLURM_HINT=compute_bound,nomultithread
4 4 NODE=8 SLURM_CPUS_ON_NODE=8 SLURM_THREADS_PER_CORE=1
4 4 NODE=8 SLURM_CPUS_ON_NODE=4 SLURM_THREADS_PER_CORE=1
4 8 NODE=8 SLURM_CPUS_ON_NODE=8 SLURM_HINT=multithread SLURM_THREADS_PER_CORE=2
4 4 NODE=4 SLURM_CPUS_ON_NODE=4
2 2 NODE=4 SLURM_CPUS_ON_NODE=4 SLURM_CPUS_PER_TASK=2 SLURM_HINT=nomultithread
4 8 NODE= SLURM_CPUS_ON_NODE=8
NODES

# A later turn goes on from the output directory, whatever the first one was to resume from; of other programs nothing is known.
for given in 'a.conf --resume x.h5' 'a.conf -r x.h5 -n' '--resume=never -- a.conf'; do
    for turn in 0 1; do
        # shellcheck disable=SC2086 # options are words
        SLURM_RESTART_COUNT=$turn logged turn.log bash job.sbatch $given
        case $turn,$given in
        0,*) wanted=$given ;;
        1,*--\ *) wanted='--resume=never --resume auto -- a.conf' ;;
        1,*) wanted="$given --resume auto" ;;
        esac
        [ "$(sed 's|.*</bin/true><--resume><auto><||; s/></ /g; s/>$//' launched)" = "$wanted" ] ||
            fail "turn $turn, $given: $(cat launched)"
    done
done
XLM_OPTIONS='' SLURM_RESTART_COUNT=1 logged turn.log bash job.sbatch a.conf --resume x.h5
grep -q '<a.conf><--resume><x.h5>$' launched || fail "another program: $(cat launched)"

: >waits
# interrupted SIGNAL WHY: the job gets the signal, and is put back into the queue.
interrupted() {
    rm -f ready requeued
    bash job.sbatch a.conf >signal.log 2>&1 &
    launcher=$!
    until_true [ -e ready ] && kill "-$1" "$launcher"
    ended
    [ "$code" -eq 0 ] && [ "$(cat requeued)" = 7 ] && grep -q "$2; back into the queue" signal.log ||
        fail "$1, a job that is $2: $code: $(cat signal.log)"
}
# After TERM, srun and mpiexec leave the ranks no time: what goes on to them is USR1.
for signal in USR1 TERM; do interrupted $signal 'interrupted with a checkpoint'; done
: >starts
for signal in USR1 TERM; do interrupted $signal 'interrupted while it started'; done
# stopped CODE: near the time limit, a program that would begin anew is not put back into the queue.
stopped() {
    rm -f ready requeued
    XLM_OPTIONS='' bash job.sbatch a.conf >signal.log 2>&1 &
    launcher=$!
    until_true [ -e ready ] && kill -USR1 "$launcher"
    ended
    [ "$code" -eq "$1" ] && [ ! -e requeued ] && grep -q 'stopped before its end.*needs more time' signal.log &&
        ! grep -q checkpoint signal.log || fail "another program, $1: $code: $(cat signal.log)"
}
stopped 138
rm starts
stopped 75
# After preemption it may have that time. With --resume auto among the options it is a program that resumes.
XLM_OPTIONS='' interrupted TERM 'interrupted before its end; it begins anew'
for given in '--progress log --resume=auto' '-r auto'; do
    XLM_OPTIONS=$given interrupted USR1 'interrupted with a checkpoint'
done

# Where no cluster can be started, as here by somebody who is not root, tests/slurm is left out, and says nothing else.
printf '%s\n' '#!/bin/sh' 'echo 1000' >bin/id
chmod +x bin/id
XLM_TEST_QUICK='' expect 77 '^SKIP: ' bash "$XLM_SOURCE/tests/slurm/requeue.sh"
once ''
finish
