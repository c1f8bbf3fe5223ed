#!/usr/bin/env bash
# xlm-mpi: runs benchmarks and makes one table of their rows. SPDX-License-Identifier: GPL-3.0-or-later
#
#   run.sh BENCHMARK...     each is a script that can be run alone (tests/bench/table.sh)
#
# The table goes to standard output and to tests/bench/bench.txt of the build tree, what else benchmarks say to
# tests/bench/bench.log beside it, and its rows, between tabs, to tests/bench/bench.tsv, which tests/bench/page.sh reads. Progress
# goes to standard error.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
mkdir -p "$XLM_BUILD/tests/bench"
table=$XLM_BUILD/tests/bench/bench.txt kept=$XLM_BUILD/tests/bench/bench.tsv log=$XLM_BUILD/tests/bench/bench.log
XLM_BENCH_CORPORA=$(mktemp -d)
export XLM_BENCH_CORPORA
rows=$XLM_BENCH_CORPORA/rows
trap 'rm -rf "$XLM_BENCH_CORPORA"' EXIT
: >"$log"
load() { cut -d' ' -f1-3 /proc/loadavg; }

SECONDS=0 status=0 number=0
{
    machine "date" "$(date -u '+%Y-%m-%d %H:%M UTC')"
    xlm_train --version >"$XLM_BENCH_CORPORA/version"
    # Virtual machines often have a name for many processors, which the family and the model tell apart.
    processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | sort -u | head -n 1)
    processor+=$(sed -n 's/^processor: .*\(family.*\)/ (\1)/p' "$XLM_BENCH_CORPORA/version")
    machine "processor" "$processor, $(env -u OMP_NUM_THREADS nproc) cores"
    machine "memory" "$(awk '$1 == "MemTotal:" { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo)"
    machine "system" "$(. /etc/os-release && echo "$PRETTY_NAME"), Linux $(uname -r), $(uname -m)"
    machine "compiler" "$("$XLM_CC" --version | head -n 1)"
    machine "xlm-mpi" "$(sed -n '1s/.*(xlm-mpi) //p; s/^Built from \(commit.*\)/\1/p' "$XLM_BENCH_CORPORA/version" |
        paste -sd';' | sed 's/;/, /g')"
    machine "libraries" "$(sed -nE 's/^(Open MPI v[^,]*|MPICH[^,]*|BLIS .*|oneDNN .*|HDF5 .*)(, package.*)?$/\1/p' \
        "$XLM_BENCH_CORPORA/version" | paste -sd';' | sed 's/;/; /g')"
    machine "load average before" "$(load)" # threads that wait for each other suffer most from other work
} >"$rows"
for benchmark in "$@"; do
    name=${benchmark#"$XLM_SOURCE"/tests/bench/} begin=$SECONDS number=$((number + 1))
    printf '[%d/%d] %-18s' "$number" $# "$name" >&2
    printf '== %s\n' "$name" >>"$log"
    if bash "$benchmark" >"$rows.new" 2>>"$log"; then
        printf ' %4d s\n' $((SECONDS - begin)) >&2
    else
        printf ' FAILED, see %s\n' "$log" >&2
        row "$name" "FAILED, see $log" >>"$rows.new"
        status=1
    fi
    cat "$rows.new" >>"$log"
    cat "$rows.new" >>"$rows"
done
{
    machine "load average after" "$(load)"
    machine "took" "$SECONDS s"
} >>"$rows"
{ grep '^machine' "$rows"; grep -v '^machine' "$rows"; } >"$rows.all"
cp "$rows.all" "$kept"
print_table "$rows.all" | tee "$table"
printf '\nthis table: %s\nall else: %s\n' "$table" "$log"
exit $status
