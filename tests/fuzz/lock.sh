# xlm-mpi: one campaign of fuzzing at a time in a folder; sourced. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# lock COMMAND FOLDER...: no other campaign may work in these from now on. What this one starts holds the locks too, so they last as
# long as any of it does; the files stay. Exit code 73 where another one works, and 69 without flock.
lock() {
    local command=$1 folder descriptor
    shift
    command -v flock >/dev/null || { echo "$command: needs flock (Debian/Ubuntu: util-linux)" >&2; exit 69; }
    for folder; do
        exec {descriptor}>>"$folder/lock" || exit 73
        if ! flock -n "$descriptor"; then
            echo "$command: $folder: process $(cat "$folder/lock") works there, a campaign that has not ended" >&2
            exit 73
        fi
        echo $$ >"$folder/lock"
    done
}
