#!/usr/bin/env bash
# xlm-mpi: programs that a signal ends while they write leave nothing unfinished; SIGHUP makes xlm_train write its checkpoint, and is
# ignored under nohup; pipes in place of files are refused at once. SPDX-License-Identifier: GPL-3.0-or-later
# Under nohup, all that this starts would ignore SIGHUP.
[[ $(trap -p HUP) != *"''"* ]] || exec env --default-signal=HUP bash "$0" "$@"
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
xlm_train job.conf --set train.steps=2 >train.log 2>&1 || { tail -n 3 train.log >&2; exit 99; }
logged train.log xlm_train job.conf --set train.steps=2 --set train.output=plain --set model.language_embeddings=false
for _ in {1..80}; do cat text.en; done >many.en
for _ in {1..80}; do cat text.xx; done >many.xx
mkdir new
# Small files are unfinished for a few milliseconds only, too few to be seen on a busy machine: as long as there is a file "hold",
# the programs wait before a file that is written goes to the disk, and before one of MPI's own is removed. The libraries of
# sanitizers must be loaded first, so there they do not.
preload=${LD_PRELOAD-}
if [ "${XLM_SANITIZERS-}" != yes ]; then
    cat >slow.c <<'C'
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_while_held(void)
{
    while (access("hold", F_OK) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

int fsync(int descriptor)
{
    static int failures;
    const char *fails = getenv("FSYNC_FAILS"); /* EINTR, the first call; EIO, those of directories */
    char link[40], name[4096];
    struct stat status;
    if (fails != NULL && strcmp(fails, "EINTR") == 0 && failures++ == 0) {
        errno = EINTR;
        return -1;
    }
    if (fails != NULL && strcmp(fails, "EIO") == 0 && fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) {
        errno = EIO;
        return -1;
    }
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    const ssize_t size = readlink(link, name, sizeof name);
    if (size > 0 && memmem(name, (size_t)size, ".unfinished-", 12) != NULL)
        wait_while_held();
    return (int)syscall(SYS_fsync, descriptor);
}

/* Open MPI tries locks with such a file. */
int unlink(const char *name)
{
    if (strstr(name, ".locktest.") != NULL)
        wait_while_held();
    return unlinkat(AT_FDCWD, name, 0);
}
C
    # shellcheck disable=SC2086 # a compiler with its first arguments
    $XLM_CC -D_GNU_SOURCE -shared -fPIC -o slow.so slow.c || fail "slow.c does not compile"
    preload=$PWD/slow.so${LD_PRELOAD:+:$LD_PRELOAD} # a mutant's library (tests/mutants.sh)
fi

is_writing() { compgen -G 'new/*.unfinished-*' >/dev/null; }
ranks_are_there() { mapfile -t processes < <(rank_processes); [ ${#processes[@]} -eq "$1" ]; }
# begin RANKS COMMAND...: returns when there is an unfinished file. The shell has SIGINT ignored in what it starts in the
# background; a user's programs have not. In $processes are the ranks.
begin() {
    local n=$1
    shift
    : >hold
    rm -rf new
    mkdir new
    if [ "$n" = 1 ]; then
        LD_PRELOAD=$preload env --default-signal=INT "$@" >log 2>&1 &
        launcher=$!
        processes=("$launcher")
    else
        LD_PRELOAD=$preload start "$n" "$@" >log 2>&1
        until ranks_are_there "$n" || ! kill -0 "$launcher" 2>/dev/null; do :; done
    fi
    # Nothing is started in this loop, so that it sees a file that is there for a few milliseconds.
    until is_writing || ! kill -0 "$launcher" 2>/dev/null; do :; done
}
# stops RANKS SIGNAL CODE COMMAND...: while there is an unfinished file. What was done before the signal came is tried again.
stops() {
    local n=$1 signal=$2 wanted=$3 try
    shift 3
    for try in {1..8}; do
        begin "$n" "$@"
        kill -s "$signal" "${processes[0]-}" 2>/dev/null
        rm hold
        ended
        [ "$code" -eq 0 ] || break
    done
    [ "$n" != 1 ] || [ "$code" -eq "$wanted" ] || fail "$signal: $*: exit code $code instead of $wanted: $(tail -n 2 log)"
    [ "$code" -ne 0 ] || fail "$signal, $n ranks: $*: never stopped while it wrote, $try tries"
    # A signal that came too late leaves a complete file.
    ! is_writing || fail "$signal, $n ranks: $*: left $(ls -A new)"
}
for n in 1 2; do
    stops $n INT 130 xlm_align many.en many.xx -o new/links --iterations 1
    stops $n TERM 143 xlm_cooc corpus.h5 -o new/cooc.h5 --window 64
    stops $n TERM 143 xlm_embed export out/latest --text many.en --language en -o new/vectors.txt
    stops $n HUP 129 xlm_embed export out/latest --text many.en --language en -o new/vectors.h5
done
for signal in INT:130 TERM:143 HUP:129 USR1:138 XCPU:152; do
    stops 1 ${signal%:*} ${signal#*:} xlm_convert plain/latest -o new/model
done
for signal in HUP:75 INT:75 TERM:75; do
    stops 1 ${signal%:*} ${signal#*:} xlm_prep --mono en=many.en --words space --bpe 50 -o new/corpus.h5
done

# A signal that interrupts fsync is none; a name that cannot be brought to the disk is an error.
if [ -e slow.so ]; then
    for FSYNC_FAILS in EINTR EIO; do
        export FSYNC_FAILS
        code=0 pattern=
        [ "$FSYNC_FAILS" = EINTR ] || { code=74 pattern='its directory cannot be written'; }
        expect $code "$pattern" env LD_PRELOAD="$preload" xlm_align text.en text.xx -o new/links --iterations 1
        expect $code "$pattern" env LD_PRELOAD="$preload" xlm_convert plain/latest -o new/model-$FSYNC_FAILS
        expect $code "$pattern" env LD_PRELOAD="$preload" xlm_embed export out/latest --text text.en --language en -o new/vectors.h5
    done
    unset FSYNC_FAILS
fi

# SIGHUP is a reason to stop with a checkpoint; under nohup it is none.
for n in 1 2; do
    start $n xlm_train job.conf --set train.output=hup$n --set train.steps=100000 --set train.schedule=constant >hup.log 2>&1
    until_true has_steps hup$n 3
    rank_processes | while read -r process; do kill -HUP "$process"; done
    ended
    [ "$code" -eq 75 ] && [ -e hup$n/latest ] || fail "SIGHUP, $n ranks: $code: $(tail -n 3 hup.log)"
done
nohup xlm_train job.conf --set train.output=nohup --set train.steps=100000 --set train.schedule=constant >nohup.log 2>&1 &
launcher=$!
until_true has_steps nohup 3
kill -HUP "$launcher"
until_true has_steps nohup $(($(last_step nohup) + 30))
! grep -q "signal noted" nohup.log || fail "nohup: $(grep "signal noted" nohup.log)"
kill -USR1 "$launcher"
ended
[ "$code" -eq 75 ] && [ -e nohup/latest ] || fail "nohup: $code: $(tail -n 3 nohup.log)"

# A pipe where a file should be: refused by its name, at once.
mkfifo pipe
mkdir locked
mkfifo locked/lock
pipe() { # CODE COMMAND...: with the pipe's name in the message.
    local code=$1
    shift
    expect "$code" 'pipe\|lock' ranks 1 "$@"
}
pipe 73 xlm_train job.conf --set train.output=locked
pipe 66 xlm_train pipe
pipe 66 xlm_train job.conf --set train.corpus=pipe
pipe 66 xlm_prep --mono en=pipe --words space --bpe 20 -o new/corpus.h5
pipe 66 xlm_dict corpus.h5 --source en --target xx --text pipe -o new/dict.h5
pipe 66 xlm_dict pipe --source en --target xx --text text.en -o new/dict.h5
pipe 66 xlm_align pipe text.xx -o new/links
pipe 66 xlm_cooc pipe -o new/cooc.h5
pipe 66 xlm_embed export pipe -o new/vectors
pipe 66 xlm_convert pipe -o new/model
pipe 73 xlm_align text.en text.xx -o pipe
pipe 73 xlm_cooc corpus.h5 -o pipe
pipe 73 xlm_embed export out/latest --language en -o pipe
pipe 73 xlm_prep --mono en=text.en --words space --bpe 20 -o pipe
[ -p pipe ] && [ -p locked/lock ] || fail "a pipe was replaced"
expect 73 '/dev/null' xlm_align text.en text.xx -o /dev/null

# A rank on a node that does not see the file of rank 0: the message names that node, not rank 0's. Where file systems may be
# mounted without being root.
if unshare -rm true 2>/dev/null; then
    rm -rf new && mkdir new
    unseen() { # PATH COMMAND...
        # shellcheck disable=SC2016 # expanded by the inner shell
        expect 73 "$1: the node $(uname -n) does not see the file that rank 0 has made" \
            sh "$XLM_SOURCE/tests/mpirun.sh" 1 "${@:2}" : \
            -n 1 unshare -rm sh -c 'mount -t tmpfs none new && exec "$@"' - "${@:2}"
        nothing_in new
    }
    unseen new/links xlm_align text.en text.xx --iterations 1 -o new/links
    unseen new/cooc.h5 xlm_cooc corpus.h5 -o new/cooc.h5
else
    echo "interrupted.sh: no name spaces for users here: a node that does not see a file is not tried" >&2
fi
finish
