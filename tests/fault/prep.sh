#!/usr/bin/env bash
# xlm-mpi: xlm_prep without room, and stopped: message, exit code, and no file. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# Text whose corpus takes some megabytes.
awk 'BEGIN { for (i = 0; i < 60000; i++) print "sentence", i, "has", i * 7 % 1000, "more words of", i * 31 % 977, "kinds" }' \
    >large.en
mkdir out
echo 's e 1' >codes.given
options=(--mono en=large.en --words space --bpe 200 --write-codes out/codes --write-vocab out/vocab -o out/corpus.h5)

# limited KIB RANKS OPTION...: with a limit on the size of files, for the ranks alone: mpiexec makes files of its own. So does
# Open MPI's shared memory, which is why ranks talk by TCP here, and a rank without mpiexec, which waits for them for ever.
limited() {
    local kib=$1 n=$2
    shift 2
    # shellcheck disable=SC2016 # expanded by the inner shell
    OMPI_MCA_btl=self,tcp sh "$XLM_SOURCE/tests/mpirun.sh" "$n" sh -c 'ulimit -f "$0"; exec xlm_prep "$@"' "$kib" "$@" >log 2>&1
}
# check RANKS WHAT CODE: after a run that should have failed for want of room.
check() {
    [ "$3" -eq 74 ] || [ "$3" -eq 73 ] || fail "$2, $1 ranks: exit code $3: $(head -5 log)"
    [ "$(grep -c '^xlm_prep: out/' log)" -eq 1 ] || fail "$2, $1 ranks: not one message: $(cat log)"
    [ -z "$(ls -A out)" ] || { fail "$2, $1 ranks: left $(ls -A out)"; rm -rf out; mkdir out; }
}

# MPICH keeps shared memory in files whatever is set, and does not start under such a limit.
is_open_mpi || echo "limits on the size of files are left out: they keep this MPI from starting" >&2
if is_open_mpi; then
    for n in 1 2 4; do
        # Limits on the size of a file, in KiB: some stop the codes, some the corpus, at its beginning or near its end.
        for limit in 1 100 700; do
            code=0
            limited $limit $n "${options[@]}" || code=$?
            check $n "limit of $limit KiB" $code
        done
    done
    # The same for the scratch file of compressed text.
    gzip -k large.en
    code=0
    limited 700 2 --mono en=large.en.gz --words space --bpe 200 -o out/corpus.h5 || code=$?
    check 2 "scratch file larger than the limit" $code
    grep -q 'scratch file' log || fail "scratch file: $(cat log)"
    code=0
    limited 8 2 --mono en=large.en --words space --bpe 2000 --write-codes out/codes || code=$?
    check 2 "codes larger than the limit" $code
    for n in 1 2; do
        code=0
        limited 300 $n --mono en=large.en --words space --codes codes.given --memory 4M --scratch out --write-vocab vocab ||
            code=$?
        [ $code -eq 74 ] && [ "$(grep -c '^xlm_prep: out: a scratch file of .*--memory' log)" -eq 1 ] ||
            fail "scratch files larger than the limit, $n ranks: exit code $code: $(head -5 log)"
        [ ! -e vocab ] && [ -z "$(ls -A out)" ] || fail "scratch files larger than the limit: left $(ls -A out vocab)"
    done
fi
ranks 2 xlm_prep "${options[@]}" >log 2>&1 || fail "with room: $(cat log)"
cp out/codes codes
rm -f out/*
if is_open_mpi; then
    code=0
    limited 100 2 --codes codes --segment large.en out/text || code=$?
    check 2 "segmented text larger than the limit" $code
fi

# Stopped by a signal while it writes: the same, with the exit code of what may be tried again.
for _ in 1 2 3 4 5 6 7 8; do cat large.en; done >larger.en
rm -f out/*
files_there() { [ -n "$(ls -A out)" ]; }
stop() { # RANKS SIGNAL OPTION...
    local n=$1 signal=$2 try
    shift 2
    for try in 1 2 3 4 5; do
        start "$n" xlm_prep --codes codes "$@" >log 2>&1
        until_true files_there || return
        # shellcheck disable=SC2046 # one process a word
        kill -s "$signal" $(rank_processes) 2>/dev/null
        ended
        [ "$code" -eq 0 ] || break
        # Done before the signal came: a larger text takes longer.
        rm -f out/*
        cat larger.en larger.en >twice.en && mv twice.en larger.en
    done
    [ "$code" -eq 75 ] || fail "stopped by $signal, $n ranks: exit code $code, try $try: $(head -5 log)"
    [ "$(grep -c '^xlm_prep: stopped by a signal' log)" -eq 1 ] || fail "$signal, $n ranks: not one message: $(cat log)"
    ! files_there || { fail "stopped by $signal, $n ranks: left $(ls -A out)"; rm -f out/*; }
}
stop 1 TERM --mono en=larger.en --words space --held-out 0 -o out/corpus.h5
stop 2 INT --mono en=larger.en --words space --held-out 0 -o out/corpus.h5
stop 2 TERM --segment larger.en out/text

# Stopped while it unpacks: standard input has not come to its end. Signals end the program here as they do by default.
mkfifo pipe
exec 3<>pipe
# Not by start: a shell gives /dev/null to what a function starts in the background.
OMPI_MCA_odls_base_sigkill_timeout=1 sh "$XLM_SOURCE/tests/mpirun.sh" 2 xlm_prep --codes codes --mono en=- --words space \
    -o out/corpus.h5 <pipe >log 2>&1 &
launcher=$!
head -n 1000 large.en >&3
# shellcheck disable=SC2046 # one process a word
until_true files_there && kill -s TERM $(rank_processes) 2>/dev/null
ended
exec 3>&-
[ "$code" -ne 0 ] && ! files_there || fail "stopped while it unpacks: exit code $code, left $(ls -A out)"

# On one rank, by Slurm's notice before the time limit and by a limit on processor time, the exit code is the shell's.
exec 3<>pipe
for signal in USR1:138 XCPU:152; do
    xlm_prep --codes codes --mono en=- --words space -o out/corpus.h5 <pipe >log 2>&1 &
    launcher=$!
    head -n 1000 large.en >&3
    until_true files_there && kill -s "${signal%:*}" "$launcher"
    ended
    [ "$code" -eq "${signal#*:}" ] && ! files_there ||
        fail "${signal%:*} while it unpacks: exit code $code, left $(ls -A out)"
    rm -f out/*
done
exec 3>&-

# A full disk, where one may be made without being root.
if unshare -rm true 2>/dev/null; then
    for n in 1 2; do
        code=0
        # shellcheck disable=SC2016 # expanded by the inner shell
        unshare -rm bash -c \
            'mount -t tmpfs -o size=600k none out || exit
            sh "$XLM_SOURCE/tests/mpirun.sh" "$@"; code=$?; ls -A out >&2; exit $code' \
            - $n xlm_prep "${options[@]}" >log 2>&1 || code=$?
        check $n "full disk" $code
        ! grep -q -e '^corpus' -e '^codes' -e '^vocab' log || fail "full disk, $n ranks: left files: $(cat log)"
    done
else
    echo "prep.sh: no name spaces for users here: full disk not tried"
fi
finish
