#!/usr/bin/env bash
# xlm-mpi: what happens to a run from outside: a rank that is stopped for a while, an output directory that is removed, another
# corpus under the same name, a corpus cut short or written over, too little address space, more ranks than work.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
steps=(--set train.schedule=constant --set train.steps=40)
begin() { # NAME RANKS [OPTION...]
    local name=$1 n=$2
    shift 2
    start "$n" xlm_train job.conf --set "train.output=$name" --set train.schedule=constant --set train.steps=100000 "$@" \
        >"$name.log" 2>&1
}
# steps_on NAME: thirty more steps are done.
steps_on() { until_true has_steps "$1" $(($(last_step "$1") + 30)); }
# asked_to_stop NAME: it does, with a checkpoint.
asked_to_stop() {
    # shellcheck disable=SC2046 # process ids are words
    kill -USR1 $(rank_processes)
    ended
    [ "$code" -eq 75 ] || fail "$1: exit code $code instead of 75: $(tail -n 3 "$1.log")"
}
# newest NAME: the step of its newest checkpoint.
newest() { printf '%s\n' "$1"/checkpoint-*.h5 | sed -n '$s/.*checkpoint-0*\(.*\)\.h5$/\1/p'; }
# undisturbed NAME [OPTION...]: it goes on from there for three steps, and is the run to which nothing happened.
undisturbed() {
    local name=$1 all
    all=(--set train.schedule=constant --set train.steps=$(($(newest "$1") + 3)) "${@:2}")
    trained job.conf "$name" 2 "${all[@]}"
    grep -q 'resumed from' "$name.log" || fail "$name: $(cat "$name.log")"
    trained job.conf "$name-whole" 1 "${all[@]}"
    same_bits "$name-whole" "$name"
}
# failed NAME CODE PATTERN: all of it has ended, with one message.
failed() {
    ended
    [ "$code" -eq "$2" ] || fail "$1: exit code $code instead of $2: $(grep -v '^step' "$1.log" | tail -n 5)"
    [ "$(grep -v warning "$1.log" | grep -c '^xlm_train: ')" -eq 1 ] && grep -q "^xlm_train: $3" "$1.log" ||
        fail "$1: not one message with '$3': $(grep -v '^step' "$1.log" | tail -n 5)"
}
trained job.conf whole 1 "${steps[@]}"

# A rank is stopped for a while, as on a node that swaps: the others wait, and it is no request to stop.
for rank in 1 2; do
    begin "held$rank" 2
    until_true has_steps "held$rank" 2
    process=$(rank_processes | sed -n ${rank}p)
    kill -STOP "$process"
    sleep 1
    kill -CONT "$process"
    steps_on "held$rank"
    ! grep -q 'signal' <(grep -v '^to stop' "held$rank.log") || fail "held$rank: $(grep signal "held$rank.log")"
    asked_to_stop "held$rank"
    undisturbed "held$rank"
done

# The output directory is removed.
begin removed 2 --set train.checkpoint_every=50
until_true has_steps removed 2
until rm -rf removed; do :; done
failed removed 73 'removed/.*choose a directory that is there'

# It is reported at once, not with the next checkpoint; the user makes it again. A file that goes first is reported too, so that a
# run that looks between the two removals misses neither.
begin again 2
until_true has_steps again 2
rm again/metrics.csv
until_true grep -q 'warning: again/metrics.csv: was removed while the run writes it' again.log
until rm -rf again; do :; done
until_true grep -q 'warning: again: was removed while the run writes there; make the directory again' again.log
mkdir again
# shellcheck disable=SC2046 # process ids are words
kill -USR1 $(rank_processes)
ended
[ "$code" -eq 75 ] && [ "$(grep -c warning again.log)" -eq 2 ] || fail "again: $code: $(grep -v ^step again.log | tail -n 4)"
trained job.conf again 1 --set train.schedule=constant --set train.steps=$(($(newest again) + 3))
grep -q 'resumed from' again.log || fail "again: $(grep -v ^step again.log)"

# The temporary directory of MPI is removed, by mpiexec when it has lost a rank, or by whoever clears /tmp: MPI-IO makes no files
# beside the checkpoints in its stead, which would be left where a rank is killed. Two checkpoints later at least one has been made
# without it.
XLM_STORE_WRITERS=2 begin session 2 --set train.checkpoint_every=8
latest_step() { readlink session/latest | sed 's/^checkpoint-0*\(.*\)\.h5$/\1/'; }
beside=
look() {
    local file
    for file in session/checkpoint-*.h5.*.*; do
        [ ! -e "$file" ] || beside=$file
    done
}
until_true has_steps session 2
is_open_mpi && ! ls -d "$XLM_TEST_SESSIONS/$launcher"/ompi.* >/dev/null && fail "session: Open MPI has it elsewhere"
rm -rf "$XLM_TEST_SESSIONS/$launcher"/ompi.*
last=$(($(latest_step) + 16))
while kill -0 "$launcher" 2>/dev/null && [ "$(($(latest_step)))" -lt $last ]; do
    look
    sleep 0.02
done
# shellcheck disable=SC2046 # process ids are words
kill -USR1 $(rank_processes)
ended
look
[ "$code" -eq 75 ] && [ -z "$beside" ] || fail "session: $code, $beside: $(tail -n 3 session.log)"
cmp <(losses whole | head -n "$(last_step session)") <(losses session | head -n 40) ||
    fail "session: losses are not those of another run"

# Another corpus takes the name: the run goes on with the one that it has opened.
cp corpus.h5 first.h5
begin renamed 2 --set train.evaluate_every=10
until_true has_steps renamed 2
head -c 5000 first.h5 >corpus.h5.new
mv corpus.h5.new corpus.h5
steps_on renamed
asked_to_stop renamed
cp first.h5 corpus.h5
undisturbed renamed --set train.evaluate_every=10

# It is cut short, or another is written into it: that is an error at once, also where all that is read is in memory. With the old
# one back the run goes on. A file that was only touched ends nothing.
for change in cut empty over; do
    cp first.h5 corpus.h5
    readers=2
    [ $change != cut ] || readers=1
    begin $change $readers --set train.checkpoint_every=2
    until_true has_steps $change 3
    case $change in
    cut) truncate -s 20000 corpus.h5 ;;
    empty) : >corpus.h5 ;;
    over) cat first.h5 first.h5 >corpus.h5 ;;
    esac
    failed $change 65 'corpus.h5: was cut short or written over while it was being read: it had .* start again'
    cp first.h5 corpus.h5.new
    mv corpus.h5.new corpus.h5
    undisturbed $change
done
begin touched 1
until_true has_steps touched 2
touch corpus.h5
warns() { grep "warning: corpus.h5: this file has been modified or touched" touched.log; }
until_true warns >warnings
steps_on touched
asked_to_stop touched
[ "$(warns | wc -l)" -eq 1 ] || fail "touched: $(grep -v ^step touched.log)"

# A limit on address space: a message before anything is allocated, and never a crash. AddressSanitizer maps terabytes.
limited() { # KIB RANKS [OPTION...]
    local kib=$1 n=$2
    shift 2
    code=0
    # shellcheck disable=SC2016 # expanded by the inner shell
    sh "$XLM_SOURCE/tests/mpirun.sh" "$n" sh -c 'ulimit -v "$0"; exec xlm_train "$@"' "$kib" job.conf --set train.output=limited \
        --set train.steps=2 \
        --set train.schedule=constant "$@" >limited.log 2>&1 || code=$?
}
if [ "${XLM_SANITIZERS-}" != yes ]; then
    limited 3000000 2 --set model.hidden_size=1024 --set model.layers=32
    [ "$code" -eq 69 ] && grep -q '^xlm_train: .*needs about .* GiB' limited.log ||
        fail "a model larger than the limit: $code: $(head -n 5 limited.log)"
    limited 40000000 2
    [ "$code" -eq 0 ] || fail "a limit that leaves enough: $code: $(head -n 5 limited.log)"
    # The limit below which it is too little depends on the libraries.
    for kib in 230000 260000 300000 350000 400000; do
        limited $kib 1
        case $code in
        0) ;;
        69) grep -q '^xlm_train: a rank of the job needs about .* of address space.* on .* leaves' limited.log ||
            fail "$kib KiB: $(head -n 5 limited.log)" ;;
        71) grep -q -e '^xlm_train: the system gives no more' -e '^xlm_train: .*too little for HDF5' limited.log ||
            fail "$kib KiB: $(head -n 5 limited.log)" ;;
        *) grep -q 'in MPI_Init' limited.log || fail "$kib KiB: $code: $(head -n 5 limited.log)" ;;
        esac
    done
fi

# More ranks than instances and micro-batches, and numbers that divide nothing: ranks without work take part all the same.
few=(--set "stream text.batch=2" --set "stream pairs.batch=1" "${steps[@]}" --set train.checkpoint_every=20)
trained job.conf few 1 "${few[@]}"
most=7
[ "${XLM_TEST_LONG-}" != 1 ] || most=100
for n in 3 $most; do
    trained job.conf "few$n" "$n" "${few[@]}"
    agree few "few$n"
    rm "few$n/$(checkpoint 40)"
    trained job.conf "few$n" 2 "${few[@]}"
    grep -q 'resumed from .* at step 20$' "few$n.log" || fail "few$n: $(head -n 9 "few$n.log")"
    agree few "few$n"
done
finish
