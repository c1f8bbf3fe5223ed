#!/usr/bin/env bash
# xlm-mpi: co-occurrence as an objective: the same bits on any number of ranks, gradients, memory, tables that are refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
logged cooc.log xlm_cooc corpus.h5 -o cooc.h5

eight_steps 4 >base.conf
section='\n[objective gc]\nstream = text\ncooccurrence = cooc.h5\n'
{ cat base.conf; printf '%b' "$section"; printf '[objective pairs]\nplugin = gc\nstream = pairs\ncooccurrence = cooc.h5\n'
  printf 'form = embedding\nwindow = 1\n'; } >all.conf

# ---- bits ----
reproduced all.conf out 4
grep -q 'warning.*objective' out-1.log && fail "a warning without need: $(grep 'objective' out-1.log)"
# All neighbours in the training text were counted, so all are known; the loss falls.
awk -F, '$2 == "train" && $3 == "gc/known" { n++; if ($13 != 1) bad = 1 } $2 == "train" && $3 == "gc" { loss[$1] = $6 }
    $2 == "held_out" && $3 == "gc/known" { e++; if (!($13 > 0.5)) bad = 1 }
    END { exit bad || n != 8 || e < 2 || !(loss[8] < loss[1]) }' out-1/metrics.csv || fail "metrics: $(grep gc out-1/metrics.csv)"

# ---- alone: gradients in both forms; memory of a pass ----
{ sed -n '1,/^.stream pairs/p' base.conf | sed '$d'; printf '%b' "$section"; } >gc.conf
for form in hidden embedding; do
    set -- --set train.output=$form --set "objective gc.form=$form"
    logged $form.log ranks 1 xlm_train gc.conf "$@"
    right_gradients gc.conf "$@"
done
# (A pass without such options is in tests/cli/estimates.sh.)
for more in '--set train.recompute=true' '--set model.dropout=0 --set model.hidden_size=64'; do
    # shellcheck disable=SC2086 # options are words
    trained gc.conf memory 1 $more --set train.steps=3 --set train.micro_batches=1 --resume never
    estimated memory.log
done

# ---- what is refused, or warned of, before training ----
refused() { # PATTERN [OPTION...]
    local pattern=$1
    shift
    expect 78 "objective gc.: .*$pattern" xlm_train gc.conf --set train.output=none "$@"
    once 'objective gc.:'
}
table() { refused "$2" --set "objective gc.cooccurrence=$1"; } # FILE PATTERN
table missing.h5 'missing.h5'
table corpus.h5 'corpus.h5'
refused 'window = 3, but cooc.h5 counts neighbours at most 2 apart' --set 'objective gc.window=3'
refused 'embedding_size = 8 is not hidden_size = 16' --set 'objective gc.form=embedding' --set model.embedding_size=8
small_corpus --para en-xx=text.en,text.xx --bpe 100 && mv corpus.h5 foreign.h5
small_corpus
logged cooc.log xlm_cooc foreign.h5 -o foreign-cooc.h5
table foreign-cooc.h5 'foreign-cooc.h5: made for a corpus with other subwords'
logged cooc.log xlm_cooc corpus.h5 -o empty.h5 --min-count 1000000
table empty.h5 'empty.h5: has no pairs of subwords'
if /usr/bin/python3 -c 'import h5py' 2>/dev/null; then
    /usr/bin/python3 - <<'PYTHON' || fail "tables cannot be changed"
import h5py, shutil
def change(name, path, make):
    shutil.copy("cooc.h5", name)
    with h5py.File(name, "r+") as f:
        values = f["cooccurrence/" + path][...]
        f["cooccurrence/" + path][...] = make(values)
def swap(v): # the first two columns of the first row that has two
    v[[0, 1]] = v[[1, 0]]
    return v
def far(v):
    v[len(v) // 2] = 1 << 40
    return v
def none(v):
    v[3] = 0
    return v
change("unsorted.h5", "columns", swap)
change("far.h5", "offsets", far)
change("zero.h5", "counts", none)
PYTHON
    for damaged in unsorted far zero; do table $damaged.h5 "$damaged.h5: .*damaged"; done
fi
expect 78 'objective gc.: .stream text. masks nothing' xlm_train gc.conf --set 'stream text.mask=0' --set train.output=none
expect 0 'objective gc.: the learning rate has no warm-up' xlm_train gc.conf --set train.warmup=0 --dry-run
[ ! -e none ] || fail "something was written"
finish
