#!/usr/bin/env bash
# xlm-mpi: Ctrl-C and signals to mpiexec while a step lasts longer than Open MPI leaves the ranks to live: the checkpoint of the last
# finished step comes nevertheless, and the run goes on to the bits of one that was never stopped.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
is_open_mpi || { echo "another MPI's launcher leaves ranks time" >&2; exit 77; }
long
small_corpus
# shellcheck disable=SC2086 # compilers and flags are words
$XLM_CC -std=c11 -shared -fPIC -I "$XLM_SOURCE/include" ${XLM_SANITIZE_FLAGS:-} -o stand-still.so "$XLM_SOURCE/tests/plugin/stand-still.c" ||
    fail "the plugin does not compile"
cat >>job.conf <<'JOB'

[objective still]
plugin = ./stand-still.so
stream = text
weight = 0.1
JOB
# Step 6 lasts as long as there is a file "still".
common=(--set train.steps=8 --set train.keep=100)
trained job.conf whole 1 "${common[@]}" --set train.checkpoint_every=1

is_free() { [ ! -e "$1/lock" ]; }
# lasts NAME: five steps are done, the next one is under way.
lasts() { until_true has_steps "$1" 5 && sleep 0.2; }
# finished NAME: what outlives the ranks comes to its end.
finished() {
    for _ in {1..600}; do
        ! is_free "$1" || return 0
        sleep 0.1
    done
    fail "$1: still locked: $(cat "$1/lock" "$1/stopped.log")"
}
# saved NAME LOG: the checkpoint of step 5 and nothing else, the user knows; on RANKS it goes on as if nothing had been.
saved() { # NAME RANKS
    finished "$1"
    rm still
    [ "$(cd "$1" && echo *)" = "$(checkpoint 5) job.conf latest metrics.csv stopped.log" ] || fail "$1: $(ls "$1")"
    [ "$(readlink "$1/latest")" = "$(checkpoint 5)" ] || fail "$1: latest is $(readlink "$1/latest"): $(cat "$1/stopped.log")"
    [ "$(digest "$1/latest")" = "$(digest "whole/$(checkpoint 5)")" ] || fail "$1: not the state of step 5"
    [ "$(numbers /objectives/still/steps "$1/latest")" = 5 ] || fail "$1: a state of another step"
    [ "$(last_step "$1")" = 5 ] || fail "$1: rows up to $(last_step "$1")"
    grep -q '^signal noted .*finishing the step; .*'"$1/stopped.log" "$1.log" || fail "$1: nothing is said: $(cat "$1.log")"
    grep -q "^xlm_train: $1/$(checkpoint 5) is there; the same command goes on" "$1.log" ||
        fail "$1: no news of the checkpoint: $(cat "$1.log" "$1/stopped.log")"
    logged "$1-resumed.log" ranks "$2" xlm_train job.conf --set "train.output=$1" "${common[@]}"
    same_bits whole "$1"
}
begin() { # NAME RANKS [OPTION...]
    local name=$1 n=$2
    shift 2
    : >still
    start "$n" xlm_train job.conf --set "train.output=$name" "${common[@]}" "$@" >"$name.log" 2>&1
}

# SIGINT and SIGTERM to mpiexec.
begin int 1
lasts int
kill -INT "$launcher"
ended
[ "$code" -ne 0 ] || fail "int: exit code 0"
saved int 2
begin term 4 --set train.optimiser=lamb
lasts term
kill -TERM "$launcher"
ended
finished term
trained job.conf whole-lamb 2 "${common[@]}" --set train.optimiser=lamb --set train.checkpoint_every=1 --set train.steps=5
[ "$(digest term/latest)" = "$(digest whole-lamb/latest)" ] || fail "term: not the state of step 5: $(cat term.log term/stopped.log)"

# Ctrl-C at a terminal.
if command -v script >/dev/null; then
    : >still
    mkfifo keys
    # The shell stays, as a user's does.
    script -qec "trap : INT; sh '$XLM_SOURCE/tests/mpirun.sh' 2 xlm_train job.conf ${common[*]} --set train.output=keys-out
        while [ -e keys-out/lock ]; do sleep 0.1; done" keys-out.log <keys >/dev/null 2>&1 &
    launcher=$!
    exec 7>keys
    lasts keys-out
    printf '\003' >&7
    ended
    exec 7>&-
    finished keys-out
    sed -i 's/\r//g' keys-out.log
    saved keys-out 4
fi

# Ctrl-Z and fg of mpiexec, and SIGCONT out of nothing, stop nobody.
begin going 2
lasts going
kill -TSTP "$launcher"
sleep 0.5
kill -CONT "$launcher"
sleep 0.5
kill -CONT "$launcher"
sleep 0.5
rm still
ended
[ "$code" -eq 0 ] && ! grep -q 'signal noted' going.log && same_bits whole going || fail "going: $code: $(cat going.log)"
[ "$(cd going && echo *)" = "$(checkpoint 8) job.conf latest metrics.csv" ] || fail "going: left $(ls going)"

# A rank is lost: nothing can be made of what the others have, which goes; the newest checkpoint stays what it is.
begin lost 2 --set train.checkpoint_every=3
lasts lost
kill -KILL "$(rank_processes | sed -n 2p)"
ended
finished lost
rm still
grep -q 'xlm_train: no checkpoint of step 5 could be made, rank 1 was lost' lost.log || fail "lost: $(cat lost.log)"
[ -z "$(find lost -name 'stopped-*')" ] && [ "$(readlink lost/latest)" = "$(checkpoint 3)" ] || fail "lost: $(ls lost)"

# What finishes the run cannot: the parts stay, and the next start begins with them, on any number of ranks; damaged, or not of one
# step, they are never taken.
begin parts 4 --set train.checkpoint_every=3
lasts parts
mv corpus.h5 elsewhere.h5
kill -INT "$launcher"
ended
until grep -q corpus.h5 parts/stopped.log 2>/dev/null; do sleep 0.1; done
mv elsewhere.h5 corpus.h5
rm still
[ "$(find parts -name 'stopped-00000005.[0-3].part' | wc -l)" -eq 4 ] || fail "parts: $(ls parts)"
for damage in flip lack step; do
    cp -r parts "parts-$damage"
    part=parts-$damage/stopped-00000005.2.part
    case $damage in
    flip) printf '\377' | dd of="$part" bs=1 seek=4000 conv=notrunc status=none ;;
    lack) rm "$part" ;;
    step) mv "$part" "parts-$damage/stopped-00000006.2.part" ;;
    esac
    expect 0 'of step 5 cannot be put together' ranks 1 xlm_train job.conf --set "train.output=parts-$damage" "${common[@]}"
    grep -q 'resumed from .* at step 3$' expect.err || fail "parts-$damage: $(grep -v ^step expect.err)"
    [ -z "$(find "parts-$damage" -name 'stopped-0*')" ] || fail "parts-$damage: left $(ls "parts-$damage")"
done
expect 65 'do not fit the job' ranks 1 xlm_train job.conf --set train.output=parts --set train.seed=2
expect 0 'resumed from what a stopped run left in parts at step 5$' ranks 3 xlm_train job.conf --set train.output=parts "${common[@]}"
grep -q '^  \[train\] checkpoint_every: 3 -> ' expect.err || fail "parts: changed keys are not listed: $(cat expect.err)"
[ -z "$(find parts -name 'stopped-0*')" ] || fail "parts: left $(ls parts)"
agree whole parts
finish
