#!/usr/bin/env bash
# xlm-mpi: what programs take to start, in processor time. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_BENCH_STARTS   starts that a measurement adds up (10)
# XLM_BENCH_ROUNDS   rounds, in which what is compared takes turns (5); medians over rounds are shown
#
# Jobs of a tiny model on few ranks, of which a study starts thousands, beside an MPI program that does nothing. The difference
# between one rank and two is that of mpiexec and of ranks that wait.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
in_scratch
starts=${XLM_BENCH_STARTS:-10}
cat >nothing.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return MPI_Finalize();
}
C
# The compiler wrapper of the MPI that programs are started with: mpicc for mpiexec, mpicc.mpich for mpiexec.mpich.
launcher=$(command -v "${XLM_MPIEXEC%% *}")
"$(dirname "$launcher")/$(basename "$launcher" | sed 's/^mpi\(exec\|run\)/mpicc/')" -O2 -o nothing nothing.c
XLM_TEST_LAUNCHER=$(sh "$XLM_SOURCE/tests/mpirun.sh" --launcher) # which it would ask for at each start
export XLM_TEST_LAUNCHER
seq 2000 | awk '{ print "the house number " $1 " is red ." }' >text.en
xlm_prep --mono en=text.en --bpe 100 --held-out 0.1 -o corpus.h5 2>/dev/null
cat >job.conf <<'JOB'
[model]
layers = 2
hidden_size = 32
attention_heads = 4

[train]
corpus = corpus.h5
output = run
steps = 1
warmup = 0
learning_rate = 1e-3

[stream text]
batch = 4
length = 48

[objective mlm]
stream = text
JOB

# repeat COMMAND...: so many starts, one after another.
repeat() {
    local i
    for ((i = 0; i < starts; i++)); do
        "$@" || return
        rm -rf run
    done
}
on() { local ranks=$1; shift; [[ $ranks = 1 ]] || set -- sh "$XLM_SOURCE/tests/mpirun.sh" "$ranks" "$@"; repeat "$@"; }
for ((round = 0; round < ${XLM_BENCH_ROUNDS:-5}; round++)); do
    in_processor_time help repeat xlm_train --help
    for ranks in 1 2 4; do
        in_processor_time "nothing-$ranks" on "$ranks" ./nothing
        in_processor_time "plan-$ranks" on "$ranks" xlm_train job.conf --dry-run
        in_processor_time "step-$ranks" on "$ranks" xlm_train job.conf
    done
done
# each NAME: of one start.
each() { quotient "$(processor_of "$1")" "$starts" 3; }
section "processor time of a start, beside an MPI program that does nothing on as many ranks"
row "xlm_train --help, without MPI" "$(each help) s" "$(each nothing-1) s" "$(quotient "$(each help)" "$(each nothing-1)")"
for ranks in 1 2 4; do
    row "xlm_train --dry-run, $ranks ranks" "$(each plan-$ranks) s" "$(each nothing-$ranks) s" \
        "$(quotient "$(each plan-$ranks)" "$(each nothing-$ranks)")"
    row "a step of a tiny model, $ranks ranks" "$(each step-$ranks) s" "$(each nothing-$ranks) s" \
        "$(quotient "$(each step-$ranks)" "$(each nothing-$ranks)")"
done
