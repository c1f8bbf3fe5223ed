#!/usr/bin/env bash
# xlm-mpi: signals before the first step, in a step, in an evaluation, and in showers while a checkpoint is written.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
build_plugin stand-still
printf '%s\n' "[objective still]" "plugin = ./stand-still.so" "stream = text" "weight = 0.1" >>job.conf

begin() { # NAME [OPTION...]
    local name=$1
    shift
    start 2 xlm_train job.conf --set "train.output=$name" --set train.steps=100000 \
        --set train.schedule=constant "$@" >"$name.log" 2>&1
}
# stopped NAME: with 75 and a good checkpoint of its last step.
stopped() {
    ended
    [ "$code" -eq 75 ] || fail "$1: exit code $code instead of 75: $(tail -n 3 "$1.log")"
    [ -z "$(find "$1" -name 'checkpoint-*.h5.*')" ] || fail "$1: left $(find "$1" -name 'checkpoint-*.h5.*')"
    local last
    last=$(last_step "$1")
    grep -q "stopped by a signal at step ${last:-0};" "$1.log" || fail "$1: last step is $last, but: $(tail -n 3 "$1.log")"
    [ -z "$last" ] || [ "$(readlink "$1/latest")" = "$(checkpoint "$last")" ] ||
        fail "$1: latest is $(readlink "$1/latest"), the last step $last"
    ranks 1 xlm_train job.conf --set "train.output=$1" --set train.steps=$((${last:-0} + 1)) --set train.schedule=constant \
        >resume.log 2>&1 ||
        fail "$1: does not continue: $(tail -n 3 resume.log)"
    [ -z "$last" ] || grep -q "resumed from .* at step $last\$" resume.log || fail "$1: $(grep -v '^step' resume.log)"
}

# While it starts: this line of the log comes after all ranks have begun to watch signals.
begin early
until_true grep -q '^model: ' early.log
rank_processes | while read -r process; do kill -USR1 "$process"; done
stopped early

# In the middle of the sixth step, which is made long, also by stopping a rank: the signal is spoken of at once, and the run ends
# with that step, not with the next. SIGCONT is no request to stop.
for which in 1 2 3; do
    stand_still
    begin "held$which" --set train.checkpoint_every=1000000 --set train.evaluate_every=6
    until_true stands_on 2
    second=$(rank_processes | sed -n 2p)
    kill -CONT "$second"
    kill -STOP "$second"
    kill -USR1 "$(rank_processes | sed -n 1p)"
    until_true grep -q '^signal noted .*finishing the step' "held$which.log"
    rm still
    kill -CONT "$second"
    stopped "held$which"
    last=$(sed -n 's/^stopped by a signal at step \([0-9]*\);.*/\1/p' "held$which.log")
    [ "${last:-0}" -eq 6 ] || fail "held$which: asked to stop in step 6, it ended with ${last:-none}"
    # No score needs the evaluation that was due: it is left for when a run goes on, which this one did with evaluate_every = 0.
    ! grep -q '^6,held_out,' "held$which/metrics.csv" || fail "held$which: it was evaluated before it ended"
    grep -q '^to stop: Ctrl-C once' "held$which.log" || fail "held$which: it does not say how to stop it"
done

# While it evaluates, which it does nearly all the time.
begin evaluating --set train.evaluate_every=1 --set train.evaluate_instances=1000000
until_true grep -q '^held out, step 1' evaluating.log
kill -USR1 "$launcher"
stopped evaluating

# One rank alone, whose launcher has nothing else to wait for.
start 1 xlm_train job.conf --set train.output=alone --set train.steps=100000 --set train.schedule=constant >alone.log 2>&1
until_true has_steps alone 5
kill -USR1 "$launcher"
stopped alone

# While it writes a checkpoint, which it does nearly all the time: hundreds of signals, until it has ended.
begin shower --set train.checkpoint_every=1
until_true test -e shower/latest
while kill -0 "$launcher" 2>/dev/null && [ -n "$(rank_processes)" ]; do
    # shellcheck disable=SC2046 # process ids are words
    kill -TERM $(rank_processes) 2>/dev/null
done
stopped shower
finish
