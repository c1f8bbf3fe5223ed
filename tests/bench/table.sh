# xlm-mpi: rows of the table of `make bench`; sourced by benchmarks. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# A benchmark writes lines of fields between tabs to standard output, and what else there is to say to standard error:
#   machine NAME VALUE                         what the machine gives, for the head of the table
#   section TITLE
#   row NAME MEASURED BESIDE RATIO [GOAL]      GOAL: ">= 0.88" or "<= 1.05", to be compared with RATIO
#   skipped NAME WHY
# and, for docs/benchmarks.md (tests/bench/page.sh), which the table leaves out:
#   peer PROGRAM VERSION REPEAT OURS THEIRS    a program of others; how to repeat what follows; our command and theirs
#   beside PROGRAM WHAT UNIT OURS THEIRS RATIO AGREEMENT
#                                              UNIT: of the two figures; RATIO: how many times as good ours is, or nothing;
#                                              AGREEMENT: how far the results are the same, or how good both are
#   unmeasured PROGRAM WHY                     in place of both

# A command that fails in $(...) ends it, as one of the script itself does: a figure that is not whole is none.
shopt -s inherit_errexit

tabbed() { local IFS=$'\t'; printf '%s\n' "$*"; }
machine() { tabbed machine "$@"; }
section() { tabbed section "$@"; }
row() { tabbed row "$@"; }
skipped() { tabbed row "$1" "skipped: $2"; }
peer() { tabbed peer "$@"; }
beside() { tabbed beside "$@"; }
unmeasured() { tabbed unmeasured "$@"; }
# leave_out PROGRAM WHY: says that a benchmark beside this program is not run, and ends it.
leave_out() { skipped "$1" "$2"; unmeasured "$1" "$2"; exit 0; }

# version_of FILE: the commit of the repository that the file is in, or the version of Debian's package that it is of.
version_of() {
    local file package
    file=$(realpath "$1")
    if git -C "$(dirname "$file")" log -1 --format='commit %h of %cs' 2>/dev/null; then
        return 0
    elif package=$(dpkg -S "$file" 2>/dev/null); then
        dpkg-query -W -f '${Version} of Debian\n' "${package%%:*}"
    else
        echo 'version not known'
    fi
}

# in_processor_time NAME COMMAND...: appends the processor time of the command and what it starts, in seconds, to NAME.processor.
in_processor_time() {
    local name=$1 TIMEFORMAT='%U %S'
    shift
    { time "$@" >out 2>log; } 2>measured || { cat log >&2; return 1; }
    awk '{ print $1 + $2 }' measured >>"$name.processor"
}
# processor_of NAME: the median of NAME.processor.
processor_of() { local numbers; mapfile -t numbers <"$1.processor"; median "${numbers[@]}"; }

# processors: the numbers of those that this shell may run on, one a line.
processors() {
    awk '$1 == "Cpus_allowed_list:" {
        n = split($2, part, ",")
        for (i = 1; i <= n; i++) { m = split(part[i], end, "-"); for (p = end[1]; p <= end[m]; p++) print p + 0 }
    }' /proc/self/status
}

# in_scratch: the shell is in a new directory, $work, which goes on exit.
in_scratch() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    cd "$work" || return 1
}

say() { printf '%s\n' "$*" >&2; }
# quotient A B [DECIMALS]
quotient() { awk -v a="$1" -v b="$2" -v decimals="${3:-2}" 'BEGIN { if (b > 0) printf "%.*f\n", decimals, a / b; else exit 1 }'; }
# off PREDICTED MEASURED: the relative error.
off() { awk -v a="$1" -v b="$2" 'BEGIN { d = a / b - 1; printf "%.2f\n", d < 0 ? -d : d }'; }
# median NUMBER...
median() { printf '%s\n' "$@" | sort -g | awk '{ x[NR] = $1 } END { print (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }

# print_table FILE: the rows of all benchmarks as a table.
print_table() {
    awk -F'\t' '
        function rating(ratio, goal,  part) {
            split(goal, part, " ")
            if (ratio == "" || goal == "") return goal
            return (part[1] == ">=" ? ratio >= part[2] + 0 : ratio <= part[2] + 0) ? goal : goal "  missed"
        }
        FNR == NR {
            if ($1 == "row") for (i = 2; i <= 4; i++) if ($i !~ /^skipped/ && length($i) > width[i]) width[i] = length($i)
            next
        }
        $1 == "machine" { printf "%-24s %s\n", $2, $3 }
        $1 == "section" { printf "\n%s\n", $2 }
        $1 == "row" && $3 ~ /^(skipped|FAILED)/ { printf "  %-*s  %s\n", width[2], $2, $3 }
        $1 == "row" && $3 !~ /^(skipped|FAILED)/ {
            line = sprintf("  %-*s  %*s  %-*s  %7s  %s", width[2], $2, width[3], $3, width[4], $4, $5, rating($5, $6))
            sub(/ +$/, "", line); print line
        }' "$1" "$1"
}
