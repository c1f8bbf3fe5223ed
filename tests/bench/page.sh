#!/usr/bin/env bash
# xlm-mpi: docs/benchmarks.md from the rows of `make bench`. SPDX-License-Identifier: GPL-3.0-or-later
#
#   page.sh bench.tsv >docs/benchmarks.md
#
# bench.tsv has the lines of tests/bench/table.sh, fields between tabs; those of `machine`, `peer`, `beside` and `unmeasured` are
# read. A program that has neither rows nor a reason why not, a row that is not whole, and a benchmark that failed are refused.
set -euo pipefail
[[ $# -eq 1 && -r $1 ]] || { echo "page.sh: needs one file of rows, tests/bench/bench.tsv of the build tree" >&2; exit 64; }
awk -F'\t' '
    function refuse(what) { printf "%s:%d: %s\n", FILENAME, FNR, what >"/dev/stderr"; refused = 1; exit 65 }
    function is_number(text) { return text ~ /^[0-9]+(\.[0-9]+)?$/ }
    # In a cell of a table a bar ends the cell.
    function cell(text) { gsub(/\|/, "\\|", text); return text }
    function code(text) { return index(text, "`") ? text : "`" text "`" }
    BEGIN {
        programs = split("fast_align eflomal SimAlign GloVe fastBPE PyTorch MUSE sacreBLEU", program, " ")
        for (i = 1; i <= programs; i++) known[program[i]] = 1
        facts = split("date;processor;memory;system;compiler;libraries;xlm-mpi;load average before;load average after", fact, ";")
    }
    $1 == "row" && $3 ~ /^FAILED/ { refuse($2 " failed") }
    $1 == "machine" {
        if (NF != 3 || $3 == "") refuse("not `machine NAME VALUE`")
        machine[$2] = $3
    }
    $1 ~ /^(peer|beside|unmeasured)$/ && !($2 in known) { refuse("no program of this page: " $2) }
    $1 == "peer" {
        if (NF != 6 || $3 == "" || $4 == "" || $5 == "" || $6 == "") refuse("not `peer PROGRAM VERSION REPEAT OURS THEIRS`")
        if ($2 in version) refuse("a second version of " $2)
        version[$2] = $3; repeat_by[$2] = $4; our_command[$2] = $5; their_command[$2] = $6
    }
    $1 == "beside" {
        if (NF != 8 || $3 == "" || $4 == "") refuse("not `beside PROGRAM WHAT UNIT OURS THEIRS RATIO AGREEMENT`")
        if (!($2 in version)) refuse("figures of " $2 " before its version")
        if (!is_number($5) || !is_number($6)) refuse("not two figures: " $5 ", " $6)
        if (!is_number($7)) refuse("not a ratio: " $7)
        # The ratio is that of these figures, rounded to two decimals: of times theirs to ours, of rates ours to theirs.
        expected = $4 == "s" ? $6 / ($5 > 0 ? $5 : 1e-9) : $5 / ($6 > 0 ? $6 : 1e-9)
        if ($7 < 0.999 * expected - 0.005 || $7 > 1.001 * expected + 0.005)
            refuse("the ratio " $7 " is not that of " $5 " and " $6)
        n = ++rows[$2]
        line[$2, n] = "| " $2 ", " version[$2] " | " cell($3) " | " $5 " " $4 " | " $6 " " $4 " | " $7 " | " ($8 == "" ? "not measured here" : cell($8)) " |"
    }
    $1 == "unmeasured" {
        if (NF != 3 || $3 == "") refuse("not `unmeasured PROGRAM WHY`")
        why[$2] = $3
    }
    END {
        if (refused) exit 65
        for (i = 1; i <= facts; i++) if (!(fact[i] in machine)) refuse("nothing says the " fact[i])
        for (i = 1; i <= programs; i++) {
            p = program[i]
            if (rows[p] && p in why) refuse(p " has both figures and a reason why not")
            if (!rows[p] && !(p in why)) refuse("no rows of " p)
        }
        print "# Benchmarks beside other programs"
        print ""
        print "<!-- Made by `make bench-page` (tests/bench/page.sh); change that, not this page. -->"
        print "`make bench-page` measures xlm-mpi beside each of these programs on your machine, and makes this page of the results."
        print "[performance.md](performance.md#measured) has more measurements, in elapsed time too."
        print ""
        print "All figures in seconds are processor time, user and system, of whole processes from start to end with one thread, unless"
        print "the row says otherwise; rates are per second of processor time. No figure is elapsed time, since other programs may run"
        print "on the machine meanwhile: the load average says how many. The programs take turns on the same input; medians over the"
        print "rounds are shown, of fastBPE the shortest run. The ratio says how many times as fast xlm-mpi is. The benchmarks make all"
        print "inputs from fixed seeds. The links of the made pairs of sentences are known, and easier to find than those of real text, so"
        print "that the error rates compare the two programs, and are not to be compared with published ones."
        print "Ratios depend on the size of the input: eflomal, for one, makes more iterations the fewer pairs of sentences there are."
        print ""
        print "| machine | |"
        print "|---|---|"
        for (i = 1; i <= facts; i++) print "| " fact[i] " | " cell(machine[fact[i]]) " |"
        print ""
        print "## Results"
        print ""
        print "| program | measured | xlm-mpi | the program | ratio | same results, quality (xlm-mpi and the program) |"
        print "|---|---|---|---|---|---|"
        for (i = 1; i <= programs; i++) {
            p = program[i]
            if (p in why) print "| " p " | not run: " cell(why[p]) " | | | | |"
            for (n = 1; n <= rows[p]; n++) print line[p, n]
        }
        print ""
        print "## Commands"
        print ""
        print "`DIR` is where the program was built from its repository. Each line repeats the rows of one program, or of two. Without"
        print "`XLM_BENCH_BESIDE=1` the texts are longer, and there are other rows: elapsed time, several ranks and threads."
        print ""
        print "| program | repeated by | xlm-mpi | the program |"
        print "|---|---|---|---|"
        for (i = 1; i <= programs; i++) {
            p = program[i]
            if (p in version)
                print "| " p " | " code("XLM_BENCH_BESIDE=1 " cell(repeat_by[p])) " | " code(cell(our_command[p])) " | " code(cell(their_command[p])) " |"
        }
    }' "$1"
