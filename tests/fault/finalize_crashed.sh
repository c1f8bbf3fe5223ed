#!/usr/bin/env bash
# xlm-mpi: a segmentation fault inside MPI_Finalize does not change how a program ends. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
[ "${XLM_SANITIZERS-}" != yes ] || exit 77 # their library must be loaded first
cat >crash.c <<'C'
#include <signal.h>
int MPI_Finalize(void)
{
    return raise(SIGSEGV);
}
C
# shellcheck disable=SC2086 # a compiler with its first arguments
$XLM_CC -shared -fPIC -o crash.so crash.c || fail "crash.c does not compile"
# code WANTED COMMAND...: with that MPI_Finalize.
code() {
    local wanted=$1 code=0
    shift
    LD_PRELOAD=$PWD/crash.so${LD_PRELOAD:+:$LD_PRELOAD} "$@" >out 2>err || code=$?
    [ "$code" -eq "$wanted" ] || fail "$* ended with $code instead of $wanted: $(cat out err)"
}
code 64 xlm_cooc --no-such-option
grep -q -e '--no-such-option' err || fail "no message: $(cat err)"
code 0 xlm_prep --mono en=text.en --words space --bpe 50 -o corpus.h5
h5dump -H corpus.h5 >/dev/null || fail "the corpus is damaged"
# A run that a signal has stopped says so. metrics.csv is there when it has begun.
sed -i '/^\[stream pairs\]/,/^$/d; /^\[objective tlm\]/,$d' job.conf
LD_PRELOAD=$PWD/crash.so${LD_PRELOAD:+:$LD_PRELOAD} xlm_train job.conf --set train.steps=1000000 --set train.output=run \
    >train.log 2>&1 &
launcher=$!
until_true test -s run/metrics.csv
kill -USR1 $launcher
code=0
wait $launcher || code=$?
launcher=
[ "$code" -eq 75 ] || fail "a run that was stopped ended with $code instead of 75: $(tail -n 3 train.log)"
finish
