#!/usr/bin/env bash
# xlm-mpi: Ctrl-C and signals to mpiexec while a step lasts longer than Open MPI leaves the ranks to live: the checkpoint of
# the last finished step comes nevertheless, and the run goes on to the bits of one that was never stopped. MPICH leaves the
# ranks time: there the step is finished.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
for plugin in stand-still contrast; do
    # shellcheck disable=SC2086 # compilers and flags are words
    $XLM_CC -std=c11 -shared -fPIC -I "$XLM_SOURCE/include" ${XLM_SANITIZE_FLAGS:-} \
        -o $plugin.so "$XLM_SOURCE/tests/plugins/$plugin.c" ||
        fail "the plugin $plugin does not compile"
done
# One with a state in f64 that changes in the middle of a step, one with a momentum average and states in f32, f64 and i64.
cat >>job.conf <<'JOB'

[objective still]
plugin = ./stand-still.so
stream = text
weight = 0.1

[objective contrast]
plugin = ./contrast.so
stream = pairs
JOB
# Step 6 lasts as long as there is a file "still".
common=(--set train.steps=8 --set train.keep=100)
trained job.conf whole 1 "${common[@]}" --set train.checkpoint_every=1

is_free() { [ ! -e "$1/lock" ]; }
# lasts RANKS: five steps are done, and on all ranks the next one is under way.
lasts() { until_true stands_on "$1"; }
# in_time COMMAND...: it succeeds within ten minutes.
in_time() {
    for _ in {1..6000}; do
        ! "$@" || return 0
        sleep 0.1
    done
    return 1
}
# finished NAME: what outlives the ranks comes to its end.
finished() { in_time is_free "$1" || fail "$1: still locked: $(cat "$1/lock" "$1/stopped.log")"; }
# The step whose checkpoint there is when the run has been stopped in the sixth.
if is_open_mpi; then reached=5; else reached=6; fi
# ends NAME: what was asked to stop while a step lasted ends, with an exit code other than 0, which under MPICH is xlm_train's
# own.
ends() {
    if is_open_mpi; then
        ended
        [ "$code" -ne 0 ] || fail "$1: exit code 0"
        finished "$1"
        rm still
    else
        until_true grep -q 'signal noted .*finishing the step; a checkpoint is written then' "$1.log"
        sleep 3
        rm still
        ended
        [ "$code" -eq 75 ] || fail "$1: exit code $code instead of 75: $(cat "$1.log")"
        is_free "$1" || fail "$1: still locked"
    fi
}
# told_of_snapshot NAME: the user of Open MPI has been told what will happen to the run, and where it is.
told_of_snapshot() {
    grep -q '^signal noted .*finishing the step; .*'"$1/stopped.log" "$1.log" || fail "$1: nothing is reported: $(cat "$1.log")"
    grep -q "^xlm_train: $1/$(checkpoint $reached) is there; the same command resumes from it" "$1.log" ||
        fail "$1: no news of the checkpoint: $(cat "$1.log" "$1/stopped.log")"
    rm "$1/stopped.log" || fail "$1: no stopped.log"
}
# saved NAME RANKS: the checkpoint of that step and nothing else, the user knows; on RANKS it goes on as if nothing had been.
saved() {
    ! is_open_mpi || told_of_snapshot "$1"
    [ "$(cd "$1" && echo *)" = "$(checkpoint $reached) job.conf latest metrics.csv" ] || fail "$1: $(ls "$1")"
    [ "$(readlink "$1/latest")" = "$(checkpoint $reached)" ] || fail "$1: latest is $(readlink "$1/latest")"
    [ "$(digest "$1/latest")" = "$(digest "whole/$(checkpoint $reached)")" ] || fail "$1: not the state of step $reached"
    [ "$(numbers /objectives/still/steps "$1/latest")" = $reached ] &&
        [ "$(numbers /objectives/contrast/place "$1/latest" | paste -s)" = "$((4 * reached))	$reached" ] ||
            fail "$1: a state of another step"
    [ "$(last_step "$1")" = $reached ] || fail "$1: rows up to $(last_step "$1")"
    logged "$1-resumed.log" ranks "$2" xlm_train job.conf --set "train.output=$1" "${common[@]}"
    same_bits whole "$1"
}
begin() { # NAME RANKS [OPTION...]
    local name=$1 n=$2
    shift 2
    stand_still
    start "$n" xlm_train job.conf --set "train.output=$name" "${common[@]}" "$@" >"$name.log" 2>&1
}

# SIGINT and SIGTERM to mpiexec.
begin int 1
lasts 1
kill -INT "$launcher"
ends int
saved int 2
# With parameters that are rounded on all ranks but their owners.
lamb=(--set train.optimiser=lamb --set train.exchange_parameters=bfloat16)
begin term 4 "${lamb[@]}"
lasts 4
kill -TERM "$launcher"
ends term
trained job.conf whole-lamb 2 "${common[@]}" "${lamb[@]}" --set train.checkpoint_every=1 --set train.steps=$reached
[ "$(digest term/latest)" = "$(digest whole-lamb/latest)" ] || fail "term: not the state of step $reached: $(cat term.log)"

# Ctrl-C at a terminal.
if command -v script >/dev/null; then
    stand_still
    mkfifo keys
    # The shell stays, as a user's does. script writes its log at the end only, unless it is asked to flush.
    script -qefc "trap : INT
        OMPI_MCA_odls_base_sigkill_timeout=1 sh '$XLM_SOURCE/tests/mpirun.sh' 2 xlm_train job.conf ${common[*]} \
            --set train.output=keys-out
        code=\$?; while [ -e keys-out/lock ]; do sleep 0.1; done; exit \$code" keys-out.log <keys >/dev/null 2>&1 &
    launcher=$!
    exec 7>keys
    lasts 2
    printf '\003' >&7
    ends keys-out
    exec 7>&-
    sed -i 's/\r//g' keys-out.log
    saved keys-out 4
fi

# Ctrl-Z and fg of mpiexec, and a SIGCONT without a stop, do not end the run.
begin going 2
lasts 2
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
begin lost 2 --set train.checkpoint_every=3 --resume never
lasts 2
kill -KILL "$(rank_processes | sed -n 2p)"
ended
! is_open_mpi || finished lost
rm still
! is_open_mpi || grep -q 'xlm_train: no checkpoint of step 5 could be made, rank 1 was lost.*; the same command without --resume' \
    lost.log || fail "lost: $(cat lost.log)"
[ -z "$(find lost -name 'stopped-*')" ] && [ "$(readlink lost/latest)" = "$(checkpoint 3)" ] || fail "lost: $(ls lost)"
logged lost-resumed.log ranks 1 xlm_train job.conf --set train.output=lost "${common[@]}"
same_bits whole lost
is_open_mpi || finish

# The process that finishes the run fails: the parts are kept, and the next start begins with them, on any number of ranks;
# damaged, or not of one step, they are never taken.
parts_alone() { # NAME
    mv corpus.h5 elsewhere.h5
    kill -INT "$launcher"
    ended
    in_time grep -qs corpus.h5 "$1/stopped.log" || fail "$1: no corpus was missed: $(cat "$1/stopped.log")"
    mv elsewhere.h5 corpus.h5
    rm still
}
begin parts 4 --set train.checkpoint_every=3
lasts 4
parts_alone parts
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
# Parts of another version are good, and stay.
cp -r parts parts-later
for part in parts-later/stopped-*.part; do printf 9 | dd of="$part" bs=1 seek=13 conv=notrunc status=none; done
expect 78 'was left by another version of xlm-mpi ("xlm-mpi part 9")' ranks 2 xlm_train job.conf --set train.output=parts-later \
    "${common[@]}"
[ "$(find parts-later -name 'stopped-00000005.[0-3].part' | wc -l)" -eq 4 ] || fail "parts-later: $(ls parts-later)"
for n in 1 2; do
    cp -r parts parts-$n
    expect 0 "resumed from what a stopped run left in parts-$n at step 5$" \
        ranks $n xlm_train job.conf --set train.output=parts-$n "${common[@]}"
    same_bits whole parts-$n
done
# The parts are all that there is of their step until it has a checkpoint. What ends the run before that leaves them as they are,
# also where a rank cannot write: here a score is due first.
build_plugin stand-evaluating stand-still \
    's/while (.*is_to_stand/while (pass->scores != NULL \&\& access("again\/lock", F_OK) == 0 \&\& is_to_stand/' # not in estimates
scored=("${common[@]}" --set evaluate.choose_by=loss)
stands() { compgen -G "stands.*" >/dev/null; }
if prlimit --pid $$ >/dev/null 2>&1; then
    begin once 4 "${scored[@]}" --set train.checkpoint_every=3 --set train.evaluate_every=4
    lasts 4
    parts_alone once
    rm -f once/lock
    cp -r once again
    stand_still
    start 4 xlm_train job.conf --set train.output=again "${scored[@]}" --set train.evaluate_every=5 \
        --set "objective still.plugin=./stand-evaluating.so" >again.log 2>&1
    until_true stands && prlimit --pid "$(rank_processes | sed -n 2p)" --fsize=200000 && kill -INT "$launcher"
    ended
    rm still
    for part in once/*.part; do cmp "$part" "again/${part#*/}" || fail "again: $(ls again; cat again.log again/stopped.log)"; done
    for name in once again; do
        expect 0 "resumed from what a stopped run left in $name at step 5$" \
            ranks 2 xlm_train job.conf --set train.output=$name "${scored[@]}" --set train.evaluate_every=5
    done
    same_bits once again
fi
expect 65 'do not fit the job' ranks 1 xlm_train job.conf --set train.output=parts --set train.seed=2
expect 65 'do not fit the job: its model has attention_heads = 4, the job.s 8;' ranks 2 xlm_train job.conf --set train.output=parts \
    --set model.attention_heads=8
expect 0 'resumed from what a stopped run left in parts at step 5$' \
    ranks 3 xlm_train job.conf --set train.output=parts "${common[@]}"
grep -q '^  \[train\] checkpoint_every: 3 -> ' expect.err || fail "parts: changed keys are not listed: $(cat expect.err)"
[ -z "$(find parts -name 'stopped-0*')" ] || fail "parts: left $(ls parts)"
agree whole parts

# What is frozen is in no part, and before the first checkpoint in none of the run: it is in the model that the run began with, and
# of another one under the same name it is not taken. Without frozen parameters that model is needed no more.
for freeze in '' embeddings; do
    frozen=(--set train.start=begin.h5 --set "train.freeze=$freeze")
    cp "whole/$(checkpoint 4)" begin.h5
    trained job.conf "whole-begun$freeze" 1 "${common[@]}" "${frozen[@]}"
    begin "begun$freeze" 2 "${frozen[@]}"
    lasts 2
    parts_alone "begun$freeze"
    cp "whole/$(checkpoint 8)" begin.h5
    if [ -n "$freeze" ]; then
        expect 65 "parts of step 5 .*, of step 4 and SHA-256 $(sha256sum <"whole/$(checkpoint 4)" | cut -d' ' -f1); begin.h5 is an" \
            ranks 2 xlm_train job.conf --set "train.output=begun$freeze" "${common[@]}" "${frozen[@]}"
        expect 65 'parts of step 5 .*; the job names none;' \
            ranks 1 xlm_train job.conf --set "train.output=begun$freeze" "${common[@]}" --set "train.freeze=$freeze"
        cp "whole/$(checkpoint 4)" begin.h5
    fi
    expect 0 "resumed from what a stopped run left in begun$freeze at step 5$" \
        ranks 1 xlm_train job.conf --set "train.output=begun$freeze" "${common[@]}" "${frozen[@]}"
    same_bits "whole-begun$freeze" "begun$freeze"
    cmp <(h5dump -g /start "whole-begun$freeze/latest" | sed 1d) <(h5dump -g /start "begun$freeze/latest" | sed 1d) ||
        fail "begun$freeze: another start: $(h5dump -g /start "begun$freeze/latest")"
done

# The best score so far, of a step whose checkpoint was not there yet when all was killed: it is written, and is the best.
best=(--set model.decoder_layers=1 --set evaluate.translate=en-xx --set evaluate.sentences=4 --set train.evaluate_every=5
    --set train.checkpoint_every=4 --set train.learning_rate=1e-9)
begin best 1 "${best[@]}"
lasts 1
parts_alone best
rm "best/$(checkpoint 5)"
expect 0 'resumed from what a stopped run left in best at step 5$' \
    ranks 1 xlm_train job.conf --set train.output=best "${common[@]}" "${best[@]}"
[ "$(readlink best/best)" = "$(checkpoint 5)" ] || fail "not the best: $(ls -l best; cat expect.err)"
# Where a score is due, the process that finishes the run, which is one, leaves both to the next start.
begin due 1 "${best[@]}" --set train.evaluate_every=4
lasts 1
parts_alone due
ls -I lock due >due.list
expect 0 'due: the score of step 5 is due; the next start of the same command without --resume makes it, and the checkpoint' \
    xlm_train --finish job.conf --set train.output=due "${common[@]}" "${best[@]}" --resume never
ls -I lock due | cmp - due.list || fail "due: $(ls due)"
expect 0 'resumed from what a stopped run left in due at step 5$' \
    ranks 2 xlm_train job.conf --set train.output=due "${common[@]}" "${best[@]}"
[ -e "due/$(checkpoint 5)" ] && [ -z "$(find due -name 'stopped-0*')" ] && grep -q '^5,.*bleu' due/metrics.csv ||
    fail "due: $(ls due; grep '^5,' due/metrics.csv)"
finish
