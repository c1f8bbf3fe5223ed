#!/usr/bin/env bash
# xlm-mpi: models that translate, of Hugging Face's layout, converted and computed, against PyTorch in double precision; there and
# back. SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"
python=/usr/bin/python3
"$python" -c 'import torch, h5py' 2>/dev/null || { echo "skipped: needs python3-torch and python3-h5py"; exit 0; }
models() { "$python" "$XLM_SOURCE/tests/bench/peers/translation_models.py" "$@"; }
logged unigram.log xlm_prep --unigram 80 --mono en=text.en --mono xx=text.xx -o own.h5 --write-codes own.model
published_pieces own.model >pieces.model
cat >nmt.conf <<'JOB'
[train]
corpus = corpus.h5
output = out
steps = 20
warmup = 2
learning_rate = 0.002
[model]
dropout = 0
attention_dropout = 0
[stream pairs]
type = parallel
form = bert
batch = 8
length = 48
mask = 0
[stream text]
batch = 8
length = 48
[objective nmt]
plugin = seq2seq
stream = pairs
[objective mlm]
stream = text
JOB

# model KIND LANGUAGE LANGUAGE: theirs to ours; a step and translations, computed by both; ours trained, to theirs, the same.
model() {
    local kind=$1 en=$2 xx=$3 of beam
    models make "$kind" "$kind" pieces.model || { fail "$kind"; return; }
    logged import.log xlm_convert "$kind" -o "$kind.h5"
    logged export.log xlm_convert "$kind.h5" -o "$kind.back"
    models same "$kind" "$kind.back" >same.log || fail "$kind, there and back: $(cat same.log)"
    logged again.log xlm_convert "$kind.back" -o again.h5
    for part in /model /vocabulary /languages; do
        h5diff "$kind.h5" again.h5 $part $part >diff.log 2>&1 || fail "$kind: ours, theirs, ours: $part: $(head -3 diff.log)"
    done
    logged prep.log xlm_prep --like "$kind.h5" --mono "$en=text.en" --mono "$xx=text.xx" --para "$en-$xx=text.en,text.xx" \
        --held-out 0.03 -o corpus.h5
    rm -rf out
    logged dump.log xlm_train nmt.conf --set "train.start=$kind.h5" --dump-step step.h5
    models check "$kind" step.h5 >checked.log || fail "$kind: $(cat checked.log)"
    logged train.log xlm_train nmt.conf --set "train.start=$kind.h5"
    logged export.log xlm_convert out/latest -o "$kind.trained"
    logged dump.log xlm_train nmt.conf --set "train.start=$kind.h5" --resume auto --set train.steps=40 --dump-step step.h5
    models check "$kind.trained" step.h5 >>checked.log || fail "$kind, trained: $(cat checked.log)"
    "$python" - corpus.h5 "$en" held.txt <<'PYTHON'
import sys
import h5py
with h5py.File(sys.argv[1], "r") as f:
    words, t = [w.decode() for w in f["vocabulary/words"][...]], f["held_out/text/" + sys.argv[2]]
    ends, ids = t["offsets"][...], t["tokens"][...]
with open(sys.argv[3], "w") as out:
    for a, b in zip(ends[:-1], ends[1:]):
        out.write(" ".join("".join(w for w in (words[i] for i in ids[a:b]) if "_" not in w).split("\u2581")).strip() + "\n")
PYTHON
    for of in "$kind" "$kind.trained"; do
        logged import.log xlm_convert "$of" -o of.h5
        for beam in 1 5; do
            logged translate.log xlm_translate of.h5 --from "$en" --to "$xx" --beam $beam --scores held.txt -o ours.txt
            models translate "$of" corpus.h5 "$en" "$xx" $beam >theirs.txt
            "$python" - ours.txt theirs.txt <<'PYTHON' || fail "$of, beam $beam: other translations"
import sys
a, b = ([l.rstrip("\n").split("\t") for l in open(p)] for p in sys.argv[1:])
worst = max(abs(float(x[0]) - float(y[0])) for x, y in zip(a, b))
good = sum(x[1] == y[1] for x, y in zip(a, b))
print(f"  {good} of {len(a)} translations are the same, scores differ by at most {worst:.1e}")
sys.exit(good < len(a) or len(a) != len(b) or worst > 1e-5)
PYTHON
        done
    done
    echo "$kind: $(paste -sd ' ' checked.log)"
}

model m2m100 en xx
model nllb eng_Latn xxx_Latn
model marian en xx
finish
