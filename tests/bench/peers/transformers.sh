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

# figures FILE: the largest of each kind that `check` has printed.
figures() {
    awk '/layer/ { if ($NF + 0 > h + 0) h = $NF; next } /logits/ { if ($NF + 0 > z + 0) z = $NF; next }
        { if ($NF + 0 > l + 0) l = $NF }
        END { print "hidden states " h ", logits " z ", losses " l }' "$1"
}
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
    echo "$*: $(figures "$name.checked")"
}
phrases text.en | head -n 400 >tags.tsv
awk 'NR <= 60 { print (/the/ ? "with" : "without") "\t" $0 }' text.en >classes.tsv
awk 'BEGIN { printf "{\"version\": \"1.1\", \"data\": [{\"title\": \"t\", \"paragraphs\": [" }
    NR <= 20 { n = split($0, w, " ")
        printf "%s{\"context\": \"%s\", \"qas\": [{\"id\": \"q%d\", \"question\": \"%s ?\",", (NR > 1 ? ", " : ""), $0, NR, w[2]
        printf " \"answers\": [{\"text\": \"%s\", \"answer_start\": 0}]}]}", w[1] }
    END { print "]}]}" }' text.en >answers.json

# task NAME KIND TASK FILE [OPTIONS] [FORM...]: theirs with this head there and back; and NAME.h5, of compare, fine-tuned, to
# theirs, a step computed by both.
task() {
    local t=$1.$3
    rm -rf "$t" "$t.back" "$t.run"
    models make "$2" "$t" "$3" "${@:6}" || { fail "$t"; return; }
    logged import.log xlm_convert "$t" -o "$t.h5"
    logged export.log xlm_convert "$t.h5" -o "$t.back"
    models same "$t" "$t.back" >same.log || fail "$t, there and back: $(cat same.log)"
    printf '%s\n' '[tune]' "model = $1.h5" 'length = 48' "train = $4" "dev = $4" \
        "language = $(strings /languages "$1.h5" | head -n 1)" "output = $t.run" 'epochs = 1' "[task $3]" "${5-}" >tune.conf
    logged tune.log xlm_tune tune.conf
    rm -rf "$t.back"
    logged export.log xlm_convert "$t.run/latest" -o "$t.back"
    logged dump.log xlm_tune tune.conf --set tune.epochs=2 --dump-step step.h5
    models check "$t.back" step.h5 >"$t.checked" || fail "$t: $(cat "$t.checked")"
    echo "$1, $3${6+ ${*:6}}: $(figures "$t.checked")"
}
tasks() {
    task "$1" "$2" tagging tags.tsv
    task "$1" "$2" classification classes.tsv "$([ "$2" = xlm ] || echo head = dense)"
    task "$1" "$2" answering answers.json
}

# modern_tasks NAME [FORM...]
modern_tasks() {
    task "$1" modernbert tagging tags.tsv 'head = dense_norm' "${@:2}"
    task "$1" modernbert classification classes.tsv 'head = dense_norm' "${@:2}"
    task "$1" modernbert classification classes.tsv $'head = dense_norm\npooling = mean' mean "${@:2}"
    task "$1" modernbert answering answers.json 'head = dense_norm' "${@:2}"
}

# surgery NAME: of NAME.h5, the subwords of a few sentences alone. Its hidden states, logits and loss are those of its own
# directory in PyTorch; restored, the loss of a masked batch has the bits that it had.
surgery() {
    local n=$1.small language
    language=$(strings /languages "$1.h5" | head -n 1)
    head -n 200 text.en >few.en
    rm -rf "$n"
    logged prep.log xlm_prep --like "$1.h5" --mono "$language=few.en" --held-out 0.1 -o few.h5
    logged keep.log xlm_convert "$1.h5" --keep few.h5 -o "$n.h5"
    logged prep.log xlm_prep --like "$n.h5" --mono "$language=few.en" --held-out 0.1 -o few2.h5
    logged back.log xlm_convert "$n.h5" --restore "$1.h5" -o "$n.back.h5"
    logged export.log xlm_convert "$n.h5" -o "$n"
    sed '/^.stream pairs/,/^length/d; /^.objective tlm/,$d' start.conf >few.conf
    logged dump.log xlm_train few.conf --set train.corpus=few.h5 --set "train.start=$1.h5" --set train.output=few --dump-step a.h5
    logged dump.log xlm_train few.conf --set train.corpus=few.h5 --set "train.start=$n.back.h5" --set train.output=few \
        --dump-step b.h5
    for part in /objectives /streams /parameters; do
        h5diff a.h5 b.h5 $part $part >diff.log 2>&1 || fail "$1, restored: $part: $(head -n 3 diff.log)"
    done
    logged dump.log xlm_train few.conf --set train.corpus=few2.h5 --set "train.start=$n.h5" --set train.output=few \
        --dump-step c.h5
    models check "$n" c.h5 >"$n.checked" || fail "$n: $(cat "$n.checked")"
    echo "$1, $(sed -n 's/.* of \([0-9]*\) subwords.* \([0-9]*\) are kept.*/\2 of \1 subwords/p' keep.log):" \
        "$(figures "$n.checked")"
}
compare bert bert
tasks bert bert
surgery bert
compare bert-old bert old sharded
compare bert-half bert f16
compare bert-brain bert bf16
compare bert-tanh bert gelu_new
compare roberta roberta
tasks roberta roberta
surgery roberta
compare xlm-roberta xlm-roberta
tasks xlm-roberta xlm-roberta
compare xlm-roberta-xl xlm-roberta-xl
tasks xlm-roberta-xl xlm-roberta-xl
compare xlm xlm
tasks xlm xlm
surgery xlm
compare xlm-sines xlm sinusoidal
compare xlm-alone xlm alone
compare albert albert
tasks albert albert
surgery albert
compare albert-groups albert groups
compare modernbert modernbert
modern_tasks modernbert
compare modernbert-biases modernbert biases gelu_new
modern_tasks modernbert-biases biases gelu_new
compare modernbert-global modernbert global bf16
compare modernbert-new modernbert new_config
finish
