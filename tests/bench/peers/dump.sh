#!/usr/bin/env bash
# xlm-mpi: a step of several small models computed again by PyTorch in double precision. SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"
python=/usr/bin/python3
"$python" -c 'import torch, h5py' 2>/dev/null || { echo "skipped: needs python3-torch and python3-h5py"; exit 0; }
small_corpus

# compare KEY=VALUE...: 30 updates, so that weights are not those of the start, and the step after them.
compare() {
    local arguments=() setting
    for setting in "$@"; do arguments+=(--set "model.$setting"); done
    rm -rf out
    xlm_train job.conf "${arguments[@]}" --set train.steps=30 --resume never >log 2>&1 &&
        xlm_train job.conf "${arguments[@]}" --resume auto --dump-step step.h5 >log 2>&1 || { fail "$*: $(tail -3 log)"; return; }
    echo "$*"
    "$python" "$XLM_SOURCE/tests/bench/peers/check_dump.py" step.h5 || fail "$*"
}
compare head=bert attention_heads=1
compare head=xlm vocabulary_chunk=3
compare position_type=sinusoidal token_types=true
compare embedding_size=8 share_layers=true position_offset=0
compare embedding_size=8 head=xlm feed_forward_size=50
finish
