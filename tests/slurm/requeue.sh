#!/bin/bash
# xlm-mpi: xlm_train.sbatch on a small Slurm cluster: interrupted, requeued, resumed, and what comes out is what a run
# that was never stopped gives. Skipped where Slurm is not installed. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"

cluster=$(mktemp -d /tmp/xlm-slurm.XXXXXX) || exit 99
trap 'bash "$XLM_SOURCE/tests/slurm/cluster.sh" stop "$cluster"; rm -rf "$scratch" "$cluster"' EXIT
bash "$XLM_SOURCE/tests/slurm/cluster.sh" start "$cluster" 2 || exit
export SLURM_CONF=$cluster/slurm.conf
small_corpus

# The two nodes are one machine, so ranks of the two must not meet in shared memory: over the loopback network.
export OMPI_MCA_btl=self,tcp OMPI_MCA_btl_tcp_if_include=lo
script=$XLM_BUILD/slurm/xlm_train.sbatch
XLM_TRAIN=$(command -v xlm_train)
export XLM_TRAIN

# wait_until SECONDS COMMAND...: until it succeeds.
wait_until() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        if [ $SECONDS -ge $end ]; then return 1; fi
        sleep 0.3
    done
}
state_is() { [ "$(scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p')" = "$2" ]; }

ranks 2 xlm_train job.conf --set train.output=whole >whole.log 2>&1 || fail "the run without Slurm: $(tail -n 3 whole.log)"

# As before a time limit: the script gets SIGUSR1 when some steps are done.
job=$(sbatch --parsable -N 2 "$script" job.conf --set train.output=turns) || fail "sbatch"
log=xlm_train-$job.log
wait_until 300 has_steps turns 20 || fail "no steps: $(cat "$log")"
scancel --batch --signal=USR1 "$job" || fail "the job ended before it could be interrupted"
wait_until 300 state_is "$job" PENDING || fail "the job is not back in the queue: $(cat "$log")"
wait_until 300 state_is "$job" COMPLETED || fail "the second turn did not come to its end: $(cat "$log")"
grep -q 'turn 2' "$log" || fail "there was no second turn"
[ "$(digest whole/latest)" = "$(digest turns/latest)" ] || fail "the interrupted run gave another model"

# A job that somebody cancels stays away.
job=$(sbatch --parsable -N 1 "$script" job.conf --set train.output=cancelled --set train.steps=100000) || fail "sbatch"
wait_until 300 has_steps cancelled 5 || fail "no steps: $(cat "xlm_train-$job.log")"
scancel "$job"
wait_until 300 state_is "$job" CANCELLED || fail "the cancelled job continues"
[ $failures -eq 0 ] || bash "$XLM_SOURCE/tests/slurm/cluster.sh" show "$cluster"
finish
