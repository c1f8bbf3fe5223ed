#!/bin/bash
# xlm-mpi: a full disk, and writes that fail on one rank in the middle of writing together: never a bad file under the final
# name, never a file left under the temporary one, never a hang. SPDX-License-Identifier: GPL-3.0-or-later
set -u
test=$XLM_BUILD/tests/mpi/store_test
directory=$(mktemp -d)
XLM_TEST_SESSIONS=$(mktemp -d /tmp/xlm-XXXXXX)
export XLM_TEST_SESSIONS
trap 'rm -rf "$directory" "$XLM_TEST_SESSIONS"' EXIT
failed=0
# mpirun.sh need not ask each time.
XLM_TEST_LAUNCHER=$(sh "$XLM_SOURCE/tests/mpirun.sh" --launcher)
export XLM_TEST_LAUNCHER

say() { echo "store.sh: $*" >&2; failed=1; }

# run RANKS FAIL_WRITE: $writers of the ranks write with that failure; the file must be good, or the run must fail and leave
# nothing. They wait for one another $patience seconds, few by default, since some failures leave them waiting. What it prints is in
# $output.
writers=4
run() {
    local code
    output=$(XLM_TEST_FAIL_WRITE=$2 XLM_STORE_WRITERS=$writers XLM_STORE_TIMEOUT=${patience-2} \
        bash "$XLM_SOURCE/tests/mpirun.sh" "$1" "$test" write "$directory/f.h5" 2>&1)
    code=$?
    if [ $code = 0 ]; then
        "$test" check "$directory/f.h5" || say "$1 ranks, write $2 failed: no error, and the file is bad"
    elif [ $code != 74 ] || ! grep -q "^store_test: $directory/f.h5: " <<<"$output"; then
        say "$1 ranks, write $2 failed: exit code $code and: $output"
    elif grep -q 'cannot be [a-z]*; stopping' <<<"$output"; then
        say "$1 ranks, write $2 failed: no reason: $output"
    elif [ -e "$directory/f.h5" ]; then
        say "$1 ranks, write $2 failed: there is a file in the end"
    fi
    rm -f "$directory/f.h5"
    [ -z "$(ls -A "$directory")" ] || say "$1 ranks, write $2 failed: left $(ls -A "$directory")"
    rm -f "$directory"/*
    return $code
}

# Of two ranks each makes some thirty or forty such calls; the last are of the closing.
for rank in 0 1; do
    patience=600 run 2 $rank:1000000 || say "a good disk fails"
    all=$(sed -n 's/^calls: //p' <<<"$output")
    [ "${all:-0}" -ge 20 ] || say "rank $rank makes only ${all:-0} calls"
    calls="3 $((all * 3 / 4))"
    [ "${XLM_TEST_ALL-}" != 1 ] || calls="1 3 $((all / 4)) $((all / 2)) $((all * 2 / 3)) $((all * 3 / 4)) $((all * 7 / 8))"
    for call in $calls; do
        run 2 $rank:$call
        [ $rank = 0 ] && run 4 $rank:$call
    done
done
# A component of Open MPI that does not report every failure.
for call in 2 4 7 10 13; do
    OMPI_MCA_io=ompio OMPI_MCA_fcoll=dynamic run 2 0:$call
done
# A limit on file sizes that comes down when the file is larger already.
for rank in 0 1; do
    for array in 2 4; do
        limit="a limit lowered on rank $rank before array $array"
        patience=600 XLM_TEST_LOWER_LIMIT=$rank:$array run 2 0:1000000 && say "$limit: no error"
        ! grep -q "ranks have waited" <<<"$output" || say "$limit: $output"
    done
done
run 1 0:5 && say "one rank: a failure is not seen"
# One rank writes for both, and ends as both do.
writers=
for call in 2 5 20; do
    run 2 0:$call && say "one writer: a failure of its write $call is not seen"
done
run 2 1:1 || say "a rank that does not write has failed to"
# All calls that bring the file to the disk and give it its size and its name, with one writer and with two.
for writers in 1 2; do
    for name in fsync ftruncate rename directory; do
        calls=$(XLM_TEST_FAIL_WRITE=0:$name:1000000 XLM_STORE_WRITERS=$writers bash "$XLM_SOURCE/tests/mpirun.sh" 2 "$test" write \
            "$directory/f.h5" | sed -n 's/^calls: //p')
        rm -f "$directory/f.h5"
        [ "${calls:-0}" -ge 1 ] || say "$writers writers: no $name"
        for ((call = 1; call <= calls; call++)); do
            run 2 0:$name:$call && say "$writers writers: a failure of $name $call is not seen"
        done
    done
done

# A disk of 1 MB, where one may be made without being root.
if unshare -rm true 2>/dev/null; then
    for ranks in 1 2 4; do
        export XLM_STORE_WRITERS=$((ranks < 4 ? ranks : 0))
        output=$(unshare -rm bash -c \
            'mount -t tmpfs -o size=1m none "$0" && bash "$XLM_SOURCE/tests/mpirun.sh" '$ranks' "$@"
            code=$?; ls -A "$0"; exit $code' "$directory" "$test" write "$directory/f.h5" 2>&1)
        [ $? = 74 ] || say "full disk, $ranks ranks: exit code is not 74: $output"
        [ "$(grep -c 'f.h5: cannot be written: No space left on device' <<<"$output")" = 1 ] ||
            say "full disk, $ranks ranks: $output"
        grep -q '^f\.h5' <<<"$output" && say "full disk, $ranks ranks: left a file"
    done
else
    echo "store.sh: no name spaces for users here: full disk not tried"
fi
exit $failed
