#!/usr/bin/env bash
# xlm-mpi: links of Argmax and Itermax beside SimAlign's own functions. SPDX-License-Identifier: GPL-3.0-or-later
#
# SIMALIGN   simalign/simalign.py of github.com/cisnlp/simalign
# MATRICES   how many random ones (1000), of 1 to 40 rows and columns
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
python=/usr/bin/python3
section "links of the same similarities as SimAlign"
[[ -n ${SIMALIGN-} ]] || leave_out SimAlign "SIMALIGN=FILE names its simalign.py"
"$python" -c 'import numpy' 2>/dev/null || leave_out SimAlign "python3-numpy is not installed"
library=$XLM_BUILD/.libs/libxlm.so
[[ -e $library ]] || leave_out SimAlign "there is no shared library"
read -r matrices argmax argmax_different itermax itermax_different added worst ours theirs < <(
    "$python" "$XLM_SOURCE/tests/bench/peers/simalign_links.py" "$SIMALIGN" "$library" "${MATRICES:-1000}" || :)
[[ -n ${theirs-} ]] || exit 1
say "Itermax adds $added links to those of Argmax; largest difference of a cosine: $worst"
row "Argmax: links, matrices that differ" "$argmax" "$argmax_different of $matrices" "$argmax_different" "<= 0"
row "Itermax: links, matrices that differ" "$itermax" "$itermax_different of $matrices" "$itermax_different" "<= 0"
peer SimAlign "$(version_of "$SIMALIGN")" "SIMALIGN=DIR/simalign/simalign.py make bench BENCHMARKS=tests/bench/peers/simalign.sh" \
    "the code of \`xlm_align --checkpoint\` as functions of libxlm.so, xlm_similarity_argmax and xlm_similarity_itermax" \
    "get_alignment_matrix and iter_max of simalign.py"
beside SimAlign "links by Argmax and by Itermax from $matrices matrices of 1 to 40 rows and columns, the functions alone" "s" "$ours" "$theirs" \
    "$(quotient "$theirs" "$ours")" \
    "Argmax: $argmax links, $argmax_different matrices differ; Itermax: $itermax links, $itermax_different differ"
