#!/usr/bin/env bash
# xlm-mpi: event files of [train] tensorboard, read by TensorBoard. SPDX-License-Identifier: GPL-3.0-or-later
#
# A run is stopped after its last checkpoint and resumed, twice; what TensorBoard's own reader then finds in the directory is
# compared with metrics.csv, point by point.
#
# TENSORBOARD  directory of github.com/tensorflow/tensorboard; needs numpy and Debian's protobuf-compiler, python3-protobuf and
#              python3-absl
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
python=/usr/bin/python3
section "event files read by TensorBoard"
[[ -n ${TENSORBOARD-} ]] || { skipped "TensorBoard" "TENSORBOARD names its directory"; exit 0; }
command -v protoc >/dev/null && "$python" -c 'import numpy, google.protobuf, absl' 2>/dev/null ||
    { skipped "TensorBoard" "a package that it needs is not installed"; exit 0; }
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
mkdir reader
cp -r "$TENSORBOARD/tensorboard" reader
(cd reader && find tensorboard -name '*.proto' -exec protoc -I . --python_out=. {} +)
small_corpus
eight_steps 2 >eight.conf
for _ in 1 2 3; do
    "$XLM_BUILD/xlm_train" eight.conf --set train.output=run --set train.tensorboard=events >run.log 2>&1 ||
        { tail -n 3 run.log >&2; exit 1; }
    [[ $(find events -type f | wc -l) = 3 ]] || rm "run/$(checkpoint 8)"
done
PYTHONPATH=reader "$python" "$XLM_SOURCE/tests/bench/peers/event_points.py" events run/metrics.csv >found
IFS=$'\t' read -r theirs ours different worst <found
row "points that TensorBoard finds, and rows have" "$theirs" "$ours" "$different" "<= 0"
row "largest relative error of a value" "$worst" "" "$worst" "<= 1e-6"
