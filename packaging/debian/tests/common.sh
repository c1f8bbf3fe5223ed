# xlm-mpi: text and MPI for the tests of what is installed. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh disable=SC2034 # the tests read its variables
set -eu

# Where tests of packages run, root starts the ranks, cores are few, and there is no ssh that mpiexec looks for. Open MPI 4, which
# calls itself OpenRTE, can do without; Open MPI 5 has no such component, and has smsc in place of the single copies of vader.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 LC_ALL=C.UTF-8
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_smsc=^cma
if ! command -v ssh >/dev/null && mpiexec --version | grep -q OpenRTE; then export OMPI_MCA_plm=isolated; fi
doc=/usr/share/doc/xlm-mpi
jobs=/usr/share/xlm-mpi/jobs

# Not below AUTOPKGTEST_TMP alone, so that a test can be started by hand as well.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Messages go to standard output, since what is on standard error makes a test fail.
exec 2>&1
fail() {
    echo "FAIL: $*"
    exit 1
}

# make_text: a made language of 3,000 sentences in text.en, and the same with other endings of words in text.xx.
make_text() {
    awk 'BEGIN {
        srand(1)
        split("house garden river stone bread winter summer letter window forest teacher doctor market bridge", noun)
        split("sees finds builds leaves paints needs keeps opens", verb)
        split("old new red small great quiet", adjective)
        for (i = 0; i < 3000; i++)
            print "the " adjective[int(6 * rand()) + 1], noun[int(14 * rand()) + 1], verb[int(8 * rand()) + 1], \
                "the " noun[int(14 * rand()) + 1], "of the " adjective[int(6 * rand()) + 1], noun[int(14 * rand()) + 1]
    }' >text.en
    sed 's/[a-z]\{3,\}/&yo/g' text.en >text.xx
}

# loss RUN STEP: all objectives together.
loss() { awk -F, -v step="$2" '$1 == step && $2 == "train" && $3 == "total" { print $6 }' "$1/metrics.csv"; }
# fell RUN LAST: the loss of its last step is at least a tenth below that of its first.
fell() {
    awk -v first="$(loss "$1" 1)" -v last="$(loss "$1" "$2")" 'BEGIN { exit !(first > 0 && last > 0 && last < 0.9 * first) }' ||
        fail "the loss of $1 goes from $(loss "$1" 1) to $(loss "$1" "$2")"
}
