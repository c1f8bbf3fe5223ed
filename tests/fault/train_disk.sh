#!/usr/bin/env bash
# xlm-mpi: no room for a checkpoint, and an output directory that goes away, in the middle of a run.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# begin NAME COMMAND...: an endless run on two ranks in NAME, by way of a command, with options `more`; returns when it has a
# checkpoint.
more=()
begin() {
    name=$1
    shift
    start 2 "$@" xlm_train job.conf --set "train.output=$name" --set train.steps=100000 --set train.schedule=constant \
        --set train.checkpoint_every=50 "${more[@]}" >"$name.log" 2>&1
    until_true test -e "$name/latest" && until_true has_steps "$name" 51
}

# signalled SIGNAL: to all ranks of the run that was begun.
signalled() {
    # shellcheck disable=SC2046 # one process a word
    kill -s "$1" $(rank_processes)
}
is_writing() { [ -n "$(find "$name" -name 'checkpoint-*.h5.*')" ] || [ "$(readlink "$name/latest")" != "$(newest_of "$name")" ]; }
newest_of() { (cd "$1" && printf '%s\n' checkpoint-*.h5 | tail -n 1); }

# between COMMAND...: is run between two checkpoints, while the ranks are stopped. (What fails in the middle of writing a file is
# for store.sh.)
between() {
    local code
    until signalled STOP && ! is_writing; do
        signalled CONT
        sleep 0.02
    done
    "$@"
    code=$?
    signalled CONT
    return $code
}

# failed CODE PATTERN: the run that was begun ended with that code and one message, and left nothing half-written.
failed() {
    ended
    [ "$code" -eq "$1" ] || fail "$name: exit code $code instead of $1: $(tail -n 5 "$name.log")"
    [ "$(grep -c -e "xlm_train: .*$2" "$name.log")" -eq 1 ] ||
        fail "$name: not one message with '$2': $(grep -v '^step' "$name.log" | tail -n 12)"
    [ -z "$(find . -name 'checkpoint-*.h5.*')" ] || fail "$name: left $(find . -name 'checkpoint-*.h5.*')"
}

# continues: its newest checkpoint is good, and the run goes on from there.
continues() {
    local newest
    newest=$(readlink "$name/latest")
    [ "$newest" = "$(newest_of "$name")" ] || fail "$name: latest is $newest: $(ls -l "$name")"
    newest=${newest#checkpoint-}
    newest=$((10#${newest%.h5}))
    ranks 1 xlm_train job.conf --set "train.output=$name" --set train.steps=$((newest + 1)) --set train.schedule=constant \
        >resume.log 2>&1 ||
        fail "$name: does not continue: $(tail -n 3 resume.log)"
    grep -q "resumed from .* at step $newest\$" resume.log && ! grep -q warning resume.log ||
        fail "$name: $(grep -v '^step' resume.log)"
}

# A limit on the size of files, set for one rank only: checkpoints have 400 kB, the metrics a few. The first rank writes so small
# a file alone, unless two are to.
if prlimit --pid $$ >/dev/null 2>&1; then
    for rank in 1 2; do
        XLM_STORE_WRITERS=$([ $rank = 1 ] || echo 2) begin "limit$rank" &&
            between prlimit --pid "$(rank_processes | sed -n ${rank}p)" --fsize=200000
        failed 74 "limit$rank/checkpoint-.*File too large; raise the limit on file sizes"
        continues
    done
    # Rows of the metrics that cannot be written are reported once, and do not end the run.
    more=(--set train.tensorboard=rows/events)
    begin rows && between prlimit --pid "$(rank_processes | sed -n 1p)" --fsize=2000
    failed 74 'rows/checkpoint-.*File too large'
    [ "$(grep -c 'warning: rows/metrics.csv: rows were lost: File too large' rows.log)" -eq 1 ] ||
        fail "rows: $(grep -v '^step' rows.log)"
    [ "$(grep -c 'warning: rows/events/.*: events from here on are lost: File too large' rows.log)" -eq 1 ] ||
        fail "rows: $(grep -v '^step' rows.log)"
    more=()
    continues
else
    echo "no prlimit here: limits on file sizes not tried"
fi

# A disk that holds some checkpoints and not more, where one may be made without being root.
if unshare -rm true 2>/dev/null; then
    mkdir full
    cat >full.sh <<'FULL'
        mount -t tmpfs -o size=2500k none full && cp filler full/ && begin full &&
            failed 74 'full/checkpoint-.*No space left on device' &&
            rm full/filler && continues && tried=1
        [ -n "${tried-}" ] || fail "a full disk was not made, or the run on it did not begin"
        finish
FULL
    head -c 600000 /dev/zero >filler
    export -f begin failed continues newest_of start ended rank_processes until_true fail finish has_steps losses values ranks
    export launcher failures
    unshare -rm bash full.sh || fail "on a full disk"
else
    echo "no name spaces for users here: a full disk is not tried"
fi

# The directory is renamed.
begin gone && between mv gone elsewhere
failed 73 'gone/checkpoint-.*No such file or directory; choose a directory that is there'
mv elsewhere gone
continues

# The directory becomes read-only; also for root, once it has lost its right to read and write everywhere.
powerless=(env)
[ "$(id -u)" -ne 0 ] || powerless=(setpriv --bounding-set=-dac_override,-dac_read_search --inh-caps=-dac_override,-dac_read_search)
mkdir sealed && chmod 555 sealed
if "${powerless[@]}" xlm_train --help >/dev/null 2>&1 && ! "${powerless[@]}" touch sealed/file 2>/dev/null; then
    begin readonly "${powerless[@]}" && between chmod 555 readonly
    failed 73 'readonly/checkpoint-.*Permission denied; choose a directory that is there and may be written to'
    chmod 755 readonly
    continues
    expect 73 'sealed/lock: cannot be made: Permission denied' ranks 2 "${powerless[@]}" xlm_train job.conf \
        --set train.output=sealed
    expect 73 'sealed/deeper' ranks 2 "${powerless[@]}" xlm_train job.conf --set train.output=sealed/deeper
    # What is written is good where it cannot be known whether its name is on the disk: in a directory that cannot be read.
    mkdir -m 1333 box
    "${powerless[@]}" ls box >/dev/null 2>&1 && fail "the directory can be read"
    for n in 1 2; do
        logged box.log ranks $n "${powerless[@]}" xlm_prep --like corpus.h5 --mono en=text.en --held-out 0 -o box/$n.h5
    done
    chmod 755 box
    [ "$(ls -A box | paste -sd ' ')" = '1.h5 2.h5' ] || fail "in a directory that cannot be read: $(ls -A box)"
    same_objects box/1.h5 box/2.h5 /train >diff.log 2>&1 || fail "not the same corpus: $(head -n 3 diff.log)"
    # What cannot be read may be good: the run is neither begun anew nor continued from an earlier checkpoint.
    logged hidden.log ranks 1 xlm_train job.conf --set train.output=hidden --set train.steps=4 --set train.checkpoint_every=2
    list=$(ls hidden) rows=$(cksum <hidden/metrics.csv)
    # hides MODE FILE PATTERN: refused with that message, and nothing is changed.
    hides() {
        chmod "$1" "$2"
        expect 77 "$3" ranks 2 "${powerless[@]}" xlm_train job.conf --set train.output=hidden --set train.steps=5
        chmod 755 "$2"
        once '^xlm_train: '
        [ "$(ls hidden)" = "$list" ] && [ "$(cksum <hidden/metrics.csv)" = "$rows" ] || fail "$3: $(ls hidden)"
    }
    hides 300 hidden 'hidden: cannot be listed: Permission denied'
    hides 000 "hidden/$(checkpoint 4)" "hidden/$(checkpoint 4): cannot be opened: Permission denied; start again when"
    # One that is gone, as a link into an archive that is not there, is passed over.
    ln -sf /none "hidden/$(checkpoint 4)"
    expect 0 'resumed from .* at step 2$' ranks 1 "${powerless[@]}" xlm_train job.conf --set train.output=hidden --set train.steps=5
else
    echo "root writes everywhere here: a directory without the right to write is not tried"
fi
finish
