#!/usr/bin/env bash
# xlm-mpi: one long run on two ranks that is killed again and again, and started again by the same command until it has ended: it
# is, to the bit, the run that was never killed. SPDX-License-Identifier: GPL-3.0-or-later
#
#   make soak [SOAK_STEPS=10000] [SOAK_INTERVAL=5]     steps of the run, mean seconds between two interruptions
#
# Not a part of make check: it takes its time. An interruption is a SIGKILL to a rank, to all of them or to mpiexec, or, once in
# eight, a limit on the size of files, so that the next checkpoint has no room. Once in five, the newest checkpoint is cut off
# before the run is started again, which then goes on from the one before; never the only one there is. XLM_TEST_SEED=N draws
# others.
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
# shellcheck source=tests/killed.sh
. "$XLM_SOURCE/tests/killed.sh"
steps=${1:-10000} interval=${2:-5}
RANDOM=${XLM_TEST_SEED:-9}
export XLM_TEST_TIMEOUT=604800
# Memory that ranks share, which is left where they are killed, goes with the rest.
export OMPI_MCA_btl_vader_backing_directory=$XLM_TEST_SESSIONS
small_corpus

# With states of a stage and of an objective besides those of the parameters: a queue and a momentum average.
{
    sed "s/^steps = 100/steps = $steps/; s/^checkpoint_every = 0/checkpoint_every = $((steps / 50 + 1))/
        s/^evaluate_every = 0/evaluate_every = $((steps / 10 + 1))/
        s/^language_embeddings.*/&\ntoken_types = true/; s/^type = parallel/&\nform = bert\nshuffle_sides = true/" job.conf
    printf '\n%s\n' '[objective moco]' 'stream = pairs' 'queue = 64' 'projection = 16' 'momentum = 0.99'
} >soak.conf
newest() { (cd out && printf '%s\n' checkpoint-*.h5 | sort | tail -n 1); }
# limited: one rank that writes checkpoints may write no file as large as one; the run ends by itself, with a message. Before the
# first step it would be MPI that has no room. A limit that comes while a checkpoint is being written is reported as one of several
# things to look for.
limited() {
    local size rank
    grep -q '^step' "soak-$moment.log" || return 1
    size=$(stat -c %s "out/$(newest)")
    rank=$(rank_processes | sed -n "$((1 + RANDOM % writers))p")
    [ -n "$rank" ] && prlimit --pid "$rank" --fsize=$((size / 2)) 2>/dev/null || return 1
    ended
    local reason='\(File too large\|limit on file sizes\)'
    [ "$code" -eq 74 ] && [ "$(grep -c "xlm_train: out/checkpoint-.*$reason" "soak-$moment.log")" -eq 1 ] ||
        fail "$what: exit code $code: $(grep -v '^step' "soak-$moment.log")"
}

# On one rank, which needs no time for messages.
logged whole.log ranks 1 xlm_train soak.conf --set train.output=whole
[ $failures -eq 0 ] || finish
echo "never killed: $(grep '^finished' whole.log)"
moment=0 killed=0 limits=0 cut=0 idle=0 before='' damaged=''
while :; do
    moment=$((moment + 1))
    # The first rank writes so small a file alone, unless two are to.
    writers=$((1 + moment % 2))
    XLM_STORE_WRITERS=$([ $writers = 1 ] || echo 2) start 2 xlm_train soak.conf >"soak-$moment.log" 2>&1
    # From half of the interval to one and a half.
    milliseconds=$((interval * 500 + interval * (RANDOM % 1000)))
    end=$((SECONDS + milliseconds / 1000))
    while kill -0 "$launcher" 2>/dev/null && [ "$SECONDS" -lt "$end" ]; do sleep 0.2; done
    printf -v pause '0.%03d' $((milliseconds % 1000))
    sleep "$pause"
    if ! kill -0 "$launcher" 2>/dev/null; then
        ended
        [ "$code" -eq 0 ] || fail "start $moment: exit code $code: $(grep -v '^step' "soak-$moment.log" | head -n 20)"
        break
    fi
    # Metrics soon are larger than a checkpoint. The next start writes the rows that they lose again.
    what="start $moment, a limit on files" expected='warning: out/metrics.csv: rows were lost: File too large$'
    if [ -e out/latest ] && [ $((RANDOM % 8)) -eq 0 ] && limited; then
        limits=$((limits + 1))
    else
        whom
        what="start $moment, $victim" expected='^$'
        # Those that end just now are no failure.
        if ! kill -KILL "${victims[@]}" 2>/dev/null; then
            ended
            [ "$code" -eq 0 ] || { fail "$what: exit code $code: $(tail -n 5 "soak-$moment.log")"; finish; }
            moment=$((moment - 1))
            continue
        fi
        all_ended
        killed=$((killed + 1))
    fi
    # The checkpoint that was cut off stays until that of the same step takes its place.
    if [ -e out/latest ] && [ "$(readlink out/latest):$(stat -L -c %i out/latest)" != "$damaged" ]; then
        { h5dump -y -g /model out/latest && h5dump -y -g /optimiser out/latest; } >/dev/null ||
            fail "$what: latest cannot be read"
    fi
    last=$(newest)
    echo "$what: after $((milliseconds / 1000)) s, step $(last_step out), $last;" \
        "$(sed -n 's/^.*\(resumed from .*\)/\1/p' "soak-$moment.log" | head -n 1)"
    # One that got so far has said which checkpoint it could not use.
    if [ -n "$damaged" ] && grep -q 'resumed from' "soak-$moment.log"; then
        grep -q "warning: out/${damaged%:*}: .*; trying the checkpoint before it" "soak-$moment.log" ||
            fail "$what: the damage is not named: $(head -n 9 "soak-$moment.log")"
        damaged=
    elif grep -e warning -e 'moved aside' "soak-$moment.log" | grep -v "$expected" >surprises; then
        fail "$what: $(cat surprises)"
    fi
    [ $failures -eq 0 ] || finish
    if [ "$last" = "$before" ]; then idle=$((idle + 1)); else idle=0; fi
    [ $idle -lt 20 ] || { fail "no checkpoint in 20 starts: the interval is too short"; finish; }
    before=$last
    if [ -z "$damaged" ] && [ $((RANDOM % 5)) -eq 0 ] && [ "$(find out -maxdepth 1 -name 'checkpoint-*.h5' | wc -l)" -ge 2 ]; then
        truncate -s $(($(stat -c %s "out/$last") * (RANDOM % 100) / 100)) "out/$last"
        damaged=$last:$(stat -c %i "out/$last") cut=$((cut + 1))
    fi
done
[ -z "$(find out -name 'checkpoint-*.h5.*' -o -name 'stopped-*' -o -name 'lock*')" ] || fail "left: $(ls out)"
same_bits whole out
[ $failures -eq 0 ] || finish
echo "$steps steps, $moment starts: $killed killed, $limits without room for a checkpoint, the newest checkpoint cut off $cut" \
    "times; the bits of the run that was never killed"
finish
