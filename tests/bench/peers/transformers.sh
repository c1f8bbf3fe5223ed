#!/usr/bin/env bash
# xlm-mpi: models of Hugging Face's layout, converted and computed, against PyTorch in double precision; ours there; both ways.
# SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"
python=/usr/bin/python3
"$python" -c 'import torch, h5py' 2>/dev/null || { echo "skipped: needs python3-torch and python3-h5py"; exit 0; }
models() { "$python" "$XLM_SOURCE/tests/bench/peers/transformers_models.py" "$@"; }
cat >start.conf <<'JOB'
[train]
corpus = corpus.h5
output = out
steps = 20
warmup = 2
[model]
dropout = 0
[stream text]
batch = 8
length = 48
[stream pairs]
type = parallel
batch = 8
length = 48
[objective mlm]
stream = text
[objective tlm]
plugin = mlm
stream = pairs
JOB

# compare NAME KIND [FORM...]: theirs to ours, one step computed by both; ours trained, to theirs, one step computed by both.
compare() {
    local name=$1
    shift
    models make "$1" "$name" "${@:2}" || { fail "$name"; return; }
    logged convert.log xlm_convert "$name" -o "$name.h5"
    logged prep.log xlm_prep --like "$name.h5" --mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx \
        --held-out 0.1 -o corpus.h5
    rm -rf out back "$name.back"
    logged dump.log xlm_train start.conf --set "train.start=$name.h5" --dump-step step.h5
    models check "$name" step.h5 >"$name.checked" || fail "$name: $(cat "$name.checked")"
    logged export.log xlm_convert "$name.h5" -o "$name.back"
    models same "$name" "$name.back" >same.log || fail "$name, there and back: $(cat same.log)"
    logged train.log xlm_train start.conf --set "train.start=$name.h5"
    logged export.log xlm_convert out/latest -o back
    logged dump.log xlm_train start.conf --set "train.start=$name.h5" --resume auto --set train.steps=40 --dump-step step.h5
    models check back step.h5 >"$name.checked" || fail "$name, trained: $(cat "$name.checked")"
    logged convert.log xlm_convert back -o again.h5
    for part in /model /vocabulary /languages; do
        h5diff out/latest again.h5 $part $part >diff.log 2>&1 || fail "$name: ours, theirs, ours: $part: $(head -3 diff.log)"
    done
    echo "$*: $(awk '/layer/ { if ($NF > h) h = $NF; next } /logits/ { if ($NF > z) z = $NF; next } { if ($NF > l) l = $NF }
        END { print "hidden states " h ", logits " z ", losses " l }' "$name.checked")"
}
compare bert bert
compare bert-old bert old sharded
compare bert-half bert f16
compare bert-brain bert bf16
compare roberta roberta
compare xlm-roberta xlm-roberta
compare xlm xlm
compare albert albert
finish
