#!/usr/bin/env bash
# xlm-mpi: links of Argmax and Itermax beside SimAlign's own functions. SPDX-License-Identifier: GPL-3.0-or-later
#
# SIMALIGN   simalign/simalign.py of github.com/cisnlp/simalign
# MATRICES   how many random ones (1000), of 1 to 40 rows and columns
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
python=/usr/bin/python3
section "links of the same similarities as SimAlign"
[[ -n ${SIMALIGN-} ]] || { skipped "SimAlign" "SIMALIGN=FILE names its simalign.py"; exit 0; }
"$python" -c 'import numpy' 2>/dev/null || { skipped "SimAlign" "python3-numpy is not installed"; exit 0; }
library=$XLM_BUILD/.libs/libxlm.so
[[ -e $library ]] || { skipped "SimAlign" "there is no shared library"; exit 0; }
read -r matrices argmax argmax_different itermax itermax_different added worst < <(
    "$python" "$XLM_SOURCE/tests/bench/peers/simalign_links.py" "$SIMALIGN" "$library" "${MATRICES:-1000}" || :)
[[ -n ${worst-} ]] || exit 1
say "Itermax adds $added links to those of Argmax; largest difference of a cosine: $worst"
row "Argmax: links, matrices that differ" "$argmax" "$argmax_different of $matrices" "$argmax_different" "<= 0"
row "Itermax: links, matrices that differ" "$itermax" "$itermax_different of $matrices" "$itermax_different" "<= 0"
