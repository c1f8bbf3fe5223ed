# xlm-mpi: runs that are killed, for tests; sourced after tests/small.sh. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# $what is what is done at the moment, for messages.
program=$(command -v xlm_train)
[ "$(head -c 4 "$program" | tail -c 3)" = ELF ] || fail "$program: a script, whose processes still_there does not find"

# still_there: processes of this test's runs.
still_there() {
    local process
    for process in /proc/[0-9]*; do
        [[ $process/exe -ef $program && $process/cwd -ef $scratch ]] && echo "${process##*/}"
    done
}
# all_ended: mpiexec, all ranks, and what they have started. mpiexec of Open MPI 4.1 itself may be left waiting for ever, in
# PMIx_server_finalize(), when a rank is lost while it connects: its message is not ours.
all_ended() {
    local half left
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
    # Its directory is in the test's own (mpirun.sh); /tmp may have that of an older process of this number.
    for left in /tmp/ompi.*/"pid.$launcher"; do
        [ ! "$left" -nt "$scratch/text.en" ] || fail "$what: left: $left"
    done
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
