#!/usr/bin/env bash
# xlm-mpi: one run at a time in an output directory: held, stale and lost locks. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
quick() { ranks 1 xlm_train job.conf --set train.steps=3 --set train.schedule=constant "$@"; }
begin() { # NAME: an endless run on two ranks
    start 2 xlm_train job.conf --set "train.output=$1" --set train.steps=1000000 --set train.schedule=constant >"$1.log" 2>&1
}
end_all() { # all ranks, without notice
    # shellcheck disable=SC2046 # process ids are words
    kill -KILL $(rank_processes)
    ended
}

# While a run is at it, others are refused, and it does not notice.
begin out
until_true has_steps out 3
expect 73 "another run writes there: xlm_train, process $(rank_processes | head -n 1) on host $(uname -n)" quick
expect 0 '' quick --dry-run
expect 0 '' quick --dump-step step.h5
[ -e out/lock ] || fail "the lock is gone"
# Killed, it leaves a lock without an owner.
end_all
expect 0 'out: taken over from a run that is gone: xlm_train, process' quick
[ ! -e out/lock ] || fail "a run that has ended leaves its lock"
expect 0 '' quick
! grep -q 'taken over' expect.err || fail "a lock was left: $(cat expect.err)"

# Two in the same instant: one gets it, the other is refused.
for which in 1 2; do
    start 1 xlm_train job.conf --set train.output=both --set train.steps=1000000 --set train.schedule=constant \
        >"both$which.log" 2>&1
    pid[which]=$launcher
done
until [ -n "${one-}" ]; do
    for which in 1 2; do kill -0 "${pid[which]}" 2>/dev/null || one=$which; done
    sleep 0.1
done
code=0
wait "${pid[one]}" || code=$?
[ "$code" -eq 73 ] && grep -q 'both: another run writes there' "both$one.log" || fail "two at once: $code: $(cat "both$one.log")"
launcher=${pid[3 - one]}
until_true has_steps both 2
end_all

# Locks that somebody else left: this host's with a process number that another process has now; another host's, by its last sign
# of life; a batch job's, by Slurm's list of jobs.
by_hand() { # KEY=VALUE...
    printf '[lock]\nprogram=xlm_train\nhost=elsewhere\nprocess=17\nstarted=1\nsince=2001-02-03 04:05:06\n' >out/lock
    printf '%s\n' "$@" >>out/lock
}
by_hand "host=$(uname -n)" "process=$$" "boot=$(cat /proc/sys/kernel/random/boot_id)" "namespace=$(readlink /proc/self/ns/pid)"
expect 0 'taken over from a run that is gone' quick
by_hand
expect 73 'process 17 on host elsewhere since 2001-02-03 04:05:06, last active' quick
touch -d '-10 minutes' out/lock
expect 0 'taken over from a run that is gone' quick
mkdir bin
printf '#!/bin/sh\necho "$*" >>squeue.log\n' >bin/squeue
chmod +x bin/squeue
by_hand slurm_job=4711
# Without mpiexec, which puts its own folder first in PATH when it is started by an absolute path.
alone() { PATH=$PWD/bin:$PATH xlm_train job.conf --set train.steps=3 --set train.schedule=constant; }
expect 0 'taken over .*Slurm job 4711' alone
grep -q 4711 squeue.log || fail "squeue was not asked"
printf 'echo RUNNING\n' >>bin/squeue
by_hand slurm_job=4711
expect 73 'another run writes there: .*Slurm job 4711' alone
# An empty lock is held as long as it is new.
: >out/lock
expect 73 'a program that did not say its name' quick
touch -d '-10 minutes' out/lock
expect 0 'taken over' quick
# What runs left that were killed before they had removed their temporary file: it goes with the next run, but not while its own run
# may be alive, nor anything else of that name.
left() { # FILE [KEY=VALUE...]
    by_hand "${@:2}"
    mv out/lock "out/$1"
}
here=("host=$(uname -n)" "boot=$(cat /proc/sys/kernel/random/boot_id)" "namespace=$(readlink /proc/self/ns/pid)")
read -ra stat <"/proc/$$/stat"
left "lock.$(uname -n).17" "${here[@]}"
left lock.elsewhere.18
touch -d '-10 minutes' out/lock.elsewhere.18
: >out/lock.elsewhere.20
touch -d '-10 minutes' out/lock.elsewhere.20
left "lock.$(uname -n).$$" "${here[@]}" "process=$$" "started=${stat[21]}"
left lock.elsewhere.19
: >out/lock.elsewhere.21
left lock.of.17 && echo mine >out/lock.md
touch -d '-10 minutes' out/lock.of.17 out/lock.md
expect 0 '' quick
[ "$(cd out && LC_ALL=C && printf '%s ' lock*)" = "$(printf '%s\n' lock.elsewhere.19 lock.elsewhere.21 "lock.$(uname -n).$$" lock.md lock.of.17 |
    LC_ALL=C sort | tr '\n' ' ')" ] || fail "temporary files of locks: $(ls out)"
rm out/lock.*
# A lock that cannot be read is not waited for.
mkdir out/lock
expect 73 'out/lock: cannot be read (.*), and may be another run' quick
rmdir out/lock
ln -s nowhere out/lock
expect 73 'out/lock: cannot be read (.*), and may be another run' quick
rm out/lock

# The ranks of a run were killed, but a process still writes its checkpoint: the next start waits for it.
sleep 600 &
writer=$!
read -ra stat <"/proc/$writer/stat"
by_hand "host=$(uname -n)" "process=$$" "boot=$(cat /proc/sys/kernel/random/boot_id)" "namespace=$(readlink /proc/self/ns/pid)" \
    "writer=$writer" "writer_started=${stat[21]}"
start 1 xlm_train job.conf --set train.steps=3 --set train.schedule=constant >waits.log 2>&1
until_true grep -q "out: waiting for process $writer, which still writes the checkpoint" waits.log
sleep 0.5
[ -n "$(rank_processes)" ] || fail "it does not wait: $(cat waits.log)"
kill "$writer"
ended
[ "$code" -eq 0 ] && grep -q 'nothing to do: step 3 of 3' waits.log || fail "waits: $code: $(cat waits.log)"

# A run whose directory was taken over, while it was stopped say, writes nothing there any more.
begin lost
until_true has_steps lost 3
by_hand
mv out/lock lost/lock
# shellcheck disable=SC2046
kill -USR1 $(rank_processes)
ended
[ "$code" -eq 73 ] && grep -q 'another run has taken this output directory over' lost.log ||
    fail "lost: $code: $(tail -n 3 lost.log)"
[ ! -e lost/latest ] && grep -q elsewhere lost/lock || fail "lost: $(ls lost)"
# Nor are examples of translations: it ends before the next evaluation.
start 1 xlm_train job.conf --set train.output=taken --set train.steps=1000000 --set train.schedule=constant \
    --set train.learning_rate=1e-9 --set model.decoder_layers=1 --set evaluate.translate=en-xx --set evaluate.sentences=2 \
    --set train.evaluate_every=10 >taken.log 2>&1
until_true has_steps taken 12
by_hand
mv out/lock taken/lock
for _ in {1..6000}; do # ten minutes, as until_true
    kill -0 "$launcher" 2>/dev/null || break
    sleep 0.1
done
! kill -TERM "$launcher" 2>/dev/null || fail "taken: it goes on: $(tail -n 1 taken.log)"
ended
[ "$code" -eq 73 ] || fail "taken: $code: $(tail -n 3 taken.log)"
finish
