#!/usr/bin/env bash
# xlm-mpi: ranks and launchers that are killed at any time: the job ends, the last checkpoint is good, the run goes on from
# there to the same bits. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
# shellcheck source=tests/killed.sh
. "$XLM_SOURCE/tests/killed.sh"
long
small_corpus
train() { # RANKS OUTPUT STEPS
    ranks "$1" xlm_train job.conf --set "train.output=$2" --set train.steps="$3" --set train.schedule=constant \
        --set train.log_every=1000
}
begin() { # NAME CHECKPOINT_EVERY: an endless run on four ranks
    start 4 xlm_train job.conf --set "train.output=$1" --set train.steps=100000 --set train.schedule=constant \
        --set train.keep=1000 --set train.checkpoint_every="$2" --set train.log_every=1000 >"$1.log" 2>&1
}

# ends NAME SIGNAL PATTERN PROCESS...: sends the signal; the job ends, all of it, with a message and not with success.
ends() {
    local name=$1 signal=$2 pattern=$3
    shift 3
    kill "-$signal" "$@"
    ended
    [ "$code" -ne 0 ] || fail "$name: exit code 0"
    [ -z "$pattern" ] || grep -q -e "$pattern" "$name.log" || fail "$name: no '$pattern' in: $(tail -n 9 "$name.log")"
    for _ in {1..600}; do
        [ -n "$(still_there)" ] || return 0
        sleep 0.5
    done
    fail "$name: still there: $(still_there)"
    # shellcheck disable=SC2046 # process ids are words
    kill -KILL $(still_there)
}

# resumes NAME: with whatever checkpoint it has, on another number of ranks, to the bits of a run that was never stopped.
resumes() {
    local newest
    # One newer than `latest` may be there when the run was killed between the two.
    newest=$(printf '%s\n' "$1"/checkpoint-*.h5 | sed -n '$s/.*checkpoint-0*\(.*\)\.h5$/\1/p')
    [ "${newest:-0}" -gt 0 ] || { fail "$1: no checkpoint: $(ls -l "$1")"; return; }
    train 2 "$1" $((newest + 3)) >"$1-resumed.log" 2>&1 || fail "$1: does not continue: $(tail -n 3 "$1-resumed.log")"
    grep -q "resumed from .* at step [0-9]*\$" "$1-resumed.log" && ! grep -q warning "$1-resumed.log" ||
        fail "$1: $(grep -v '^step' "$1-resumed.log")"
    [ -z "$(find "$1" -name 'checkpoint-*.h5.*')" ] || fail "$1: left $(find "$1" -name 'checkpoint-*.h5.*')"
    reference "$(last_step "$1")"
    cmp <(losses "through-$(last_step "$1")") <(losses "$1") || fail "$1: losses after resuming"
    [ "$(digest "through-$(last_step "$1")/latest")" = "$(digest "$1/latest")" ] || fail "$1: parameters after resuming"
}
reference() { # STEPS
    [ -d "through-$1" ] || train 1 "through-$1" "$1" >"through-$1.log" 2>&1 || fail "$(tail -n 3 "through-$1.log")"
}

# lost RANK: mpiexec's message about it; MPICH's names the process, which is not seen here any more.
lost() { echo "rank $1 .*signal 9\|(signal 9)"; }

# A rank between checkpoints; mpiexec names it.
begin rank 5
until_true test -e rank/latest
ends rank KILL "$(lost '[1-3]')" "$(rank_processes | sed -n 2p)"
resumes rank

# At any time, which is mostly while a checkpoint is written, by several ranks (train_killed.sh has one as well): rank 0, another
# rank, all of them, mpiexec.
for which in 1 2 3 4; do
    XLM_STORE_WRITERS=4 begin "any$which" 1
    until_true test -e "any$which/latest"
    sleep 0.$((which * 17))
    # shellcheck disable=SC2046 # process ids are words
    case $which in
    1) ends any1 KILL "$(lost 0)" "$(rank_processes | sed -n 1p)" ;;
    2) ends any2 KILL "$(lost '[1-3]')" "$(rank_processes | sed -n 4p)" ;;
    3) ends any3 KILL 'signal 9' $(rank_processes) ;;
    4) ends any4 KILL '' "$launcher" ;;
    esac
    resumes "any$which"
done

# SIGTERM to mpiexec: Open MPI passes it on, and kills what is still there after a second. Time enough or not, what
# is under the final names is good.
begin term 5
until_true test -e term/latest
ends term TERM '' "$launcher"
resumes term
finish
