#!/usr/bin/env bash
# xlm-mpi: factors of a co-occurrence table, beside scipy.sparse.linalg.svds. SPDX-License-Identifier: GPL-3.0-or-later
#
# BENCH_WORDS, BENCH_PAIRS, BENCH_RANK   of the table (20000, 4000000), 100 dimensions; 100000, 25000000 and 300 for 50 M
#                                        entries, for which SciPy takes many minutes
# BENCH_SCIPY=no                         without SciPy
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
words=${BENCH_WORDS:-20000} pairs=${BENCH_PAIRS:-4000000} rank=${BENCH_RANK:-100}
in_scratch
"$XLM_BUILD/tests/bench/cooc_table" "$words" "$pairs" cooc.h5 >&2
section "factors of shifted positive PMI, $words subwords, rank $rank"
TIMEFORMAT=%R
for n in 1 2; do
    { time "${launcher[@]}" -n $n xlm_embed factorise cooc.h5 -o $n.h5 --rank "$rank" >out 2>log; } 2>seconds.$n
    cat log >&2
done
row "one rank beside two" "$(<seconds.2) s" "$(<seconds.1) s" "$(quotient "$(<seconds.1)" "$(<seconds.2)")"
if [[ ${BENCH_SCIPY:-yes} = no ]] || ! /usr/bin/python3 -c 'import h5py, numpy, scipy' 2>/dev/null; then
    skipped "SciPy's svds" "python3-scipy and python3-h5py are not installed, or BENCH_SCIPY=no"
    exit 0
fi
/usr/bin/python3 "$XLM_SOURCE/tests/bench/peers/factorise.py" cooc.h5 1.h5 >scipy
cat scipy >&2
scipy=$(sed -n 's/^seconds //p' scipy) differ=$(sed -n 's/^values_differ //p' scipy)
row "SciPy's svds beside one rank" "$(<seconds.1) s" "$scipy s" "$(quotient "$scipy" "$(<seconds.1)")"
row "singular values that differ from SciPy's, by" "$differ" "" "$differ" "<= 1e-4"
