#!/usr/bin/env bash
# xlm-mpi: one run that is killed with SIGKILL again and again, at random moments of its start, of its steps and of its writing: a
# rank, all of them, or mpiexec. Each time all of it ends, `latest` can be read, and in the end the run is the one that was never
# killed. SPDX-License-Identifier: GPL-3.0-or-later
#
# 9 moments; 60 with XLM_TEST_LONG=1. XLM_TEST_SEED=N draws others.
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
# shellcheck source=tests/killed.sh
. "$XLM_SOURCE/tests/killed.sh"
long
small_corpus
RANDOM=${XLM_TEST_SEED:-9}
moments=9
[ "${XLM_TEST_LONG-}" != 1 ] || moments=60
train=(xlm_train job.conf --set train.schedule=constant --set train.keep=100000)

begin() { # RANKS CHECKPOINT_EVERY: of so small a checkpoint one rank writes all, but at every other moment two do
    XLM_STORE_WRITERS=$([ $((moment % 2)) = 0 ] || echo 2) start "$1" "${train[@]}" --set train.steps=100000 \
        --set train.checkpoint_every="$2" >"killed-$moment.log" 2>&1
}
latest() { readlink out/latest; }
has_moved() { [ "$(latest)" != "$1" ]; }

# The first checkpoint.
moment=0
logged first.log ranks 2 "${train[@]}" --set train.steps=2
for ((moment = 1; moment <= moments; moment++)); do
    n=$((1 << RANDOM % 3)) before=$(latest) after=$((RANDOM % 6 + 1))
    printf -v pause '0.%03d' $((RANDOM % 200))
    case $((moment % 3)) in
    0)
        when=start
        begin $n 1
        sleep $((RANDOM % 2))
        ;;
    1)
        when=steps
        begin $n 4
        until_true has_steps out $(($(last_step out) + after))
        ;;
    2)
        when=writing # nearly all the time
        begin $n 1
        until_true has_moved "$before"
        ;;
    esac
    sleep "$pause"
    whom
    what="moment $moment, $when and $pause s, $n ranks, $victim"
    kill -KILL "${victims[@]}" || fail "$what: had ended: $(tail -n 5 "killed-$moment.log")"
    all_ended
    { h5dump -y -g /model out/latest && h5dump -y -g /optimiser out/latest; } >/dev/null || fail "$what: latest cannot be read"
    # It may have been killed between giving the checkpoint its name and pointing at it.
    ! grep -e warning -e 'moved aside' "killed-$moment.log" >&2 || fail "$what: what the one before left was taken for damaged"
    # The file of one checkpoint at most, and nothing of MPI-IO beside it.
    [ "$(find out -name 'checkpoint-*.h5.*' | wc -l)" -le 1 ] || fail "$what: $(ls out)"
done

# A last time, to the end; and one that was never killed.
newest=$(printf '%s\n' out/checkpoint-*.h5 | tail -n 1)
newest=${newest#out/checkpoint-}
end=$((10#${newest%.h5} + 3))
logged last.log ranks 2 "${train[@]}" --set train.steps=$end
logged whole.log ranks 1 "${train[@]}" --set train.steps=$end --set train.output=whole
cmp <(losses whole) <(losses out) || fail "losses are not those of a run that was never killed"
[ "$(digest whole/latest)" = "$(digest out/latest)" ] ||
    fail "parameters and moments are not those of a run that was never killed"
[ "$(latest)" = "$(checkpoint $end)" ] || fail "latest is $(latest)"
[ -z "$(find out -name 'checkpoint-*.h5.*' -o -name 'stopped-*' -o -name 'lock*')" ] || fail "left: $(ls out)"
[ -z "$(find out -name 'previous-*')" ] || fail "good checkpoints were set aside: $(ls out)"
echo "$moments moments, $end steps"
finish
