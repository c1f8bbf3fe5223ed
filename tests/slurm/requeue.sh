#!/bin/bash
# xlm-mpi: xlm_train.sbatch on a small Slurm cluster: interrupted, requeued, resumed; nodes lost, and started again on the others;
# what comes out is what a run that was never stopped gives. Skipped where Slurm is not installed.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

cluster=$(mktemp -d /tmp/xlm-slurm.XXXXXX) || exit 99
lose() { bash "$XLM_SOURCE/tests/slurm/cluster.sh" lose "$cluster" "$@"; }
trap 'bash "$XLM_SOURCE/tests/slurm/cluster.sh" stop "$cluster"; rm -rf "$scratch" "$cluster" "$XLM_TEST_SESSIONS"' EXIT
bash "$XLM_SOURCE/tests/slurm/cluster.sh" start "$cluster" 8 || exit
# A stopped process cannot be asked to end.
trap 'lose n8 KILL; bash "$XLM_SOURCE/tests/slurm/cluster.sh" stop "$cluster"; rm -rf "$scratch" "$cluster" "$XLM_TEST_SESSIONS"' EXIT
export SLURM_CONF=$cluster/slurm.conf
small_corpus

# The nodes are one machine, so ranks of several must not meet in shared memory: over the loopback network.
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

# A time limit within which the signal comes at once: the log says why the job is soon in the queue again.
early=$(sbatch --parsable -N 1 -t 2 "$script" job.conf --set train.output=early --set train.steps=1000000) || fail "sbatch"
is_told() { grep -q 'after the start and [0-9]* s before the time limit' "xlm_train-$early.log"; }
wait_until 300 is_told || fail "a short time limit: $(cat "xlm_train-$early.log")"
scancel "$early"

# A job that somebody cancels stays away.
job=$(sbatch --parsable -N 1 "$script" job.conf --set train.output=cancelled --set train.steps=100000) || fail "sbatch"
wait_until 300 has_steps cancelled 5 || fail "no steps: $(cat "xlm_train-$job.log")"
scancel "$job"
wait_until 300 state_is "$job" CANCELLED || fail "the cancelled job continues"

# Nodes are lost, all at once, of three jobs: one of the four of a run, which goes on with two ranks; the one of a job's script;
# one that is not heard of any more, of a job that must not go on with one node. The last two jobs train nothing.
cat >waits <<'WAITS'
#!/bin/sh
echo "waits on $SLURMD_NODENAME"
exec sleep 300
WAITS
cat >dies <<'DIES'
#!/bin/sh
echo "start of a rank"
[ "$SLURM_PROCID" -eq 0 ] || kill -KILL $$
exec sleep 1
DIES
printf '%s\n' '#!/bin/sh' 'echo "start of a rank"' 'exit 70' >refuses
chmod +x waits dies refuses
job=$(sbatch --parsable -w n1,n2,n3,n4 "$script" job.conf --set train.output=lost --set train.checkpoint_every=10) ||
    fail "sbatch"
headless=$(XLM_TRAIN=$PWD/waits sbatch --parsable -w n5,n7 "$script" job.conf) || fail "sbatch"
silent=$(XLM_TRAIN=$PWD/waits XLM_MIN_NODES=2 sbatch --parsable -w n6,n8 "$script" job.conf) || fail "sbatch"
waits() { [ "$(grep -c '^waits on' "xlm_train-$1.log")" -eq 2 ]; }
wait_until 300 has_steps lost 20 || fail "no steps: $(cat "xlm_train-$job.log")"
for idle in "$headless" "$silent"; do wait_until 300 waits "$idle" || fail "did not start: $(cat "xlm_train-$idle.log")"; done
lose n3
lose n5
lose n8 STOP
wait_until 300 state_is "$job" COMPLETED || fail "a lost node: did not come to its end: $(cat "xlm_train-$job.log")"
log=xlm_train-$job.log
grep -q 'turn 1, start 2.*: 2 ranks on 2 nodes (n1,n2)' "$log" || fail "a lost node: no second start on two nodes: $(cat "$log")"
! grep 'turn 2\|start 3' "$log" || fail "a lost node: more than one other start"
grep -q 'resumed from .* at step [1-9][0-9]*$' "$log" || fail "a lost node: not resumed: $(cat "$log")"
[ "$(digest whole/latest)" = "$(digest lost/latest)" ] || fail "a lost node gave another model"
cmp <(rows whole) <(rows lost) || fail "a lost node gave other metrics"

# What is not the fault of a node is not started again: a rank that is killed, and the program's own verdict.
for job in $(for cause in dies refuses; do XLM_TRAIN=$PWD/$cause sbatch --parsable -w n1,n2 "$script" job.conf; done); do
    wait_until 300 state_is "$job" FAILED || fail "did not fail: $(cat "xlm_train-$job.log")"
    [ "$(grep -c 'start of a rank' "xlm_train-$job.log")" -eq 2 ] || fail "started again: $(cat "xlm_train-$job.log")"
done

# sbatch -n says how many ranks there are, which are to be equally many on each node.
if [ "$(nproc)" -ge 2 ]; then
    job=$(XLM_TRAIN=$PWD/refuses sbatch --parsable -w n1,n2 -n 4 "$script" job.conf)
    wait_until 300 state_is "$job" FAILED || fail "-n 4: did not fail: $(cat "xlm_train-$job.log")"
    [ "$(grep -c 'start of a rank' "xlm_train-$job.log")" -eq 4 ] || fail "-n 4: not four ranks: $(cat "xlm_train-$job.log")"
    job=$(XLM_TRAIN=$PWD/refuses sbatch --parsable -w n1,n2 -n 3 "$script" job.conf)
    wait_until 300 state_is "$job" FAILED || fail "-n 3 on two nodes: did not fail: $(cat "xlm_train-$job.log")"
    grep -q 'n 3 on 2 nodes' "xlm_train-$job.log" || fail "-n 3 on two nodes: $(cat "xlm_train-$job.log")"
fi

wait_until 300 state_is "$headless" PENDING || fail "without the node of its script: not back in the queue"
wait_until 300 state_is "$silent" PENDING || fail "with too few nodes: not back in the queue: $(cat "xlm_train-$silent.log")"
grep -q 'lost nodes: n8; 1 of 2 are left' "xlm_train-$silent.log" || fail "with too few nodes: $(cat "xlm_train-$silent.log")"
! grep 'start 2' "xlm_train-$silent.log" || fail "with too few nodes: started again"
scancel "$headless" "$silent"
[ $failures -eq 0 ] || bash "$XLM_SOURCE/tests/slurm/cluster.sh" show "$cluster"
finish
