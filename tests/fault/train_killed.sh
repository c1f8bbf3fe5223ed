#!/usr/bin/env bash
# xlm-mpi: one run that is killed with SIGKILL again and again, at random moments of its start, of its steps and of its writing: a
# rank, all of them, or mpiexec. Each time all of it ends, `latest` can be read, and in the end the run is the one that was never
# killed. SPDX-License-Identifier: GPL-3.0-or-later
#
# 9 moments; 60 with XLM_TEST_LONG=1. XLM_TEST_SEED=N draws others.
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
RANDOM=${XLM_TEST_SEED:-9}
export XLM_TEST_TIMEOUT=180
moments=9
[ "${XLM_TEST_LONG-}" != 1 ] || moments=60
train=(xlm_train job.conf --set train.schedule=constant --set train.keep=100000)

begin() { # RANKS CHECKPOINT_EVERY
    start "$1" "${train[@]}" --set train.steps=100000 --set train.checkpoint_every="$2" >"killed-$moment.log" 2>&1
}
latest() { readlink out/latest; }
has_moved() { [ "$(latest)" != "$1" ]; }
# still_there: processes of this test's runs.
still_there() {
    local link
    for link in /proc/[0-9]*/exe; do
        case $(readlink "$link") in
        */xlm_train | */lt-xlm_train) [ "$(readlink "${link%exe}cwd")" != "$scratch" ] || basename "${link%/exe}" ;;
        esac
    done 2>/dev/null
}
# all_ended: mpiexec, all ranks, and what they have started. mpiexec of Open MPI 4.1 itself may be left waiting for ever, in
# PMIx_server_finalize(), when a rank is lost while it connects: its message is not ours.
all_ended() {
    local half
    for ((half = 0; half < 120; half++)); do
        kill -0 "$launcher" 2>/dev/null || [ -n "$(still_there)" ] || break
        sleep 0.5
    done
    [ -z "$(still_there)" ] || fail "$what: still there: $(still_there)"
    if kill -0 "$launcher" 2>/dev/null; then
        echo "$what: mpiexec does not end although all ranks have" >&2
        kill -KILL "$launcher"
    fi
    # shellcheck disable=SC2046 # process ids are words
    [ -z "$(still_there)" ] || kill -KILL $(still_there)
    ended
    [ "$code" -ne 0 ] || fail "$what: exit code 0"
}
# whom: process ids: of a rank, of all, or of mpiexec, which is alone while it starts.
whom() {
    local ranks
    mapfile -t ranks < <(rank_processes)
    victim=mpiexec
    victims=("$launcher")
    if [ ${#ranks[@]} -gt 0 ]; then
        case $((RANDOM % 3)) in
        0) victim="rank $((RANDOM % ${#ranks[@]}))" victims=("${ranks[${victim#rank }]}") ;;
        1) victim="all ranks" victims=("${ranks[@]}") ;;
        esac
    fi
}

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
