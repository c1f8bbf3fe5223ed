#!/usr/bin/env bash
# xlm-mpi: settings of fine-tuning: what is frozen, rates by layer, averages of checkpoints, early stopping, heads.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
trained job.conf base 1 --set train.steps=20 --set model.layers=3 --set model.hidden_size=16 --set train.evaluate_every=0
# Verbs, nouns and the rest.
tags() {
    awk '{ for (i = 1; i <= NF; i++) print $i "\t" ($i ~ /s$/ ? "VERB" : $i ~ /^(house|river|teacher|garden|book)/ ? "NOUN" : "X")
        print "" }'
}
head -n 160 text.en | tags >train.tsv
tail -n 60 text.en | tags >dev.tsv
cat >tune.conf <<'JOB'
[tune]
model = base/latest
train = train.tsv
dev = dev.tsv
language = en
output = tuned
epochs = 2
batch = 16
length = 24
learning_rate = 6e-3
weight_decay = 0.1
evaluate_every = 4

[task tagging]
JOB
# tuned NAME RANKS [OPTION...]: into directory NAME, messages in NAME.log.
tuned() {
    local name=$1 n=$2
    shift 2
    logged "$name.log" ranks "$n" xlm_tune tune.conf --set "tune.output=$name" "$@"
}
# bits FILE GROUP: of its numbers.
bits() { h5dump -g "$2" "$1" 2>/dev/null | sed 1d | cksum; }
# same A B: of two runs.
same() {
    cmp <(rows "$1") <(rows "$2") || fail "metrics of $1 and $2 are not the same bits"
    for link in latest best; do
        [ "$(readlink "$1/$link")" = "$(readlink "$2/$link")" ] && [ "$(digest "$1/$link")" = "$(digest "$2/$link")" ] ||
            fail "$link of $1 and $2 are not the same"
    done
    [ ! -e "$1/average.h5" ] || [ "$(digest "$1/average.h5")" = "$(digest "$2/average.h5")" ] || fail "averages of $1 and $2 differ"
}
# dev DIR MEASURE [SPLIT]: "step value" of each look at the development set.
dev() { values "$1" "${3-dev}" "$2" score en; }

# ---- what is frozen, rates by layer ----
settings=(--set tune.freeze=1 --set tune.layer_decay=0.5 --set tune.keep_head=true --set tune.average=3
    --set tune.average_of=best --set tune.head_dropout=0.3)
for n in 1 4; do
    tuned all-$n $n "${settings[@]}"
    same all-1 all-$n
done
estimated all-1.log
grep -q '^frozen: the embeddings and the lowest 1 layer, [1-9][0-9]* of' all-1.log || fail "$(grep frozen all-1.log)"
grep -q '^learning rates: 0.006 in the topmost layer and above, times 0.5 .* 0.00075 in the embeddings' all-1.log ||
    fail "$(grep rates all-1.log)"
for group in embeddings encoder/layer.0 lm_head; do
    [ "$(bits base/latest /model/$group)" = "$(bits all-1/latest /model/$group)" ] || fail "/model/$group is not as it was"
done
for group in encoder/layer.1 encoder/layer.2; do
    [ "$(bits base/latest /model/$group)" != "$(bits all-1/latest /model/$group)" ] || fail "/model/$group was not learned"
done
! h5ls -r all-1/latest | grep -q '^/optimiser/.*/embeddings/' || fail "moments of frozen embeddings"
[ "$(attribute /optimiser/frozen all-1/latest)" -gt 10 ] || fail "the file does not say how many are frozen"
# The first update of adamw without decay is the learning rate, whatever the gradient: rates show as they are.
tuned one 1 --set tune.epochs=1 --set tune.batch=160 --set tune.layer_decay=0.5 --set tune.weight_decay=0 --set tune.warmup=0 \
    --set tune.epsilon=1e-30 --set tune.learning_rate=0.015625
# moved PATH: by how much the elements of a parameter that moved did, the median.
moved() {
    paste <(numbers "$1" base/latest) <(numbers "$1" one/latest) |
        awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 0) print d }' | sort -g |
        awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}
for known in "embeddings/word/weight 0.001953125" "encoder/layer.0/attention/query/weight 0.00390625" \
    "encoder/layer.1/feed_forward/output/bias 0.0078125" "encoder/layer.2/attention/value/weight 0.015625"; do
    is_near "$(moved "/model/${known% *}")" "${known#* }" 1e-3 || fail "$known: moved by $(moved "/model/${known% *}")"
done
tuned embeddings 1 --set tune.freeze=embeddings --set tune.epochs=1
[ "$(bits base/latest /model/embeddings)" = "$(bits embeddings/latest /model/embeddings)" ] &&
    [ "$(bits base/latest /model/encoder/layer.0)" != "$(bits embeddings/latest /model/encoder/layer.0)" ] ||
    fail "freeze = embeddings"
tuned encoder 1 --set tune.freeze=3 --set tune.epochs=1
[ "$(bits base/latest /model/encoder)" = "$(bits encoder/latest /model/encoder)" ] &&
    [ "$(dev encoder loss | tail -n 1)" != "$(dev all-1 loss | tail -n 1)" ] || fail "freeze = 3, all layers"
logged recompute.log ranks 1 xlm_tune tune.conf --set tune.output=recompute "${settings[@]}" --set tune.recompute=true
same all-1 recompute

# ---- the mean of checkpoints ----
# Steps 4, 8, ..., 20; the three best and the newest stay.
members=$(dev all-1 accuracy | sort -s -k2,2gr | head -n 3 | sort -n | cut -d' ' -f1)
[ "$(dev all-1 accuracy | wc -l)" -eq 5 ] || fail "looks at dev: $(dev all-1 accuracy)"
{ for step in $members 20; do checkpoint "$step"; echo; done; } | sort -u | cmp - <(cd all-1 && ls checkpoint-*) ||
    fail "checkpoints: $(ls all-1), of the mean are $members"
# mean PATH FILE...: of a dataset's numbers.
mean() {
    local path=$1 file n=$(($# - 1))
    shift
    for file; do numbers "$path" "$file" >"mean.$((n--))"; done
    paste mean.[0-9] | awk '{ sum = 0; for (i = 1; i <= NF; i++) sum += $i; print sum / NF }'
    rm mean.[0-9]
}
# shellcheck disable=SC2046
for path in /objectives/tagging/weight /model/encoder/layer.2/attention/key/weight /model/encoder/layer.0/attention/key/weight; do
    paste <(mean $path $(for step in $members; do echo "all-1/$(checkpoint "$step")"; done)) <(numbers $path all-1/average.h5) |
        awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 2e-6) bad = 1 } END { exit bad || NR == 0 }' || fail "$path is no mean"
done
logged eval.log ranks 2 xlm_eval all-1/average.h5 --test dev.tsv --csv average.csv
is_near "$(awk -F, '$2 == "accuracy" { print $8 }' average.csv)" "$(dev all-1 accuracy dev_average | cut -d' ' -f2)" ||
    fail "accuracy of the mean: $(grep accuracy average.csv), in training $(dev all-1 accuracy dev_average)"
tuned last 1 --set tune.average=2
cp -r last two
(cd last && ls checkpoint-*) | cmp - <(for step in 16 20; do checkpoint $step; echo; done) || fail "the last two: $(ls last)"
# It is there again when it was lost; with more epochs it is another one.
before=$(digest last/average.h5)
[ ${#before} -eq 64 ] || fail "$before"
rm last/average.h5
tuned last 2 --set tune.average=2
[ "$(digest last/average.h5)" = "$before" ] || fail "the mean, made again: $(cat last.log)"
tuned last 1 --set tune.average=2
grep -q 'nothing to do' last.log || fail "$(cat last.log)"
cp last/average.h5 shorter.h5
tuned last 1 --set tune.average=2 --set tune.epochs=3
after=$(digest last/average.h5)
[ ${#after} -eq 64 ] || fail "$after"
[ "$after" != "$before" ] || fail "the mean is that of a shorter run"
# As if the run had been killed between its last checkpoint and the mean.
mv shorter.h5 last/average.h5
tuned last 2 --set tune.average=2 --set tune.epochs=3
[ "$(digest last/average.h5)" = "$after" ] || fail "the mean is still that of a shorter run"

# ---- a stop in between ----
cp -r all-1 middle
tuned whole 1 "${settings[@]}" --set tune.keep=9
for n in 1 2; do
    rm -rf "from-$n"
    cp -r whole "from-$n"
    rm "from-$n/average.h5" "from-$n/$(checkpoint 16)" "from-$n/$(checkpoint 20)"
    tuned "from-$n" $n "${settings[@]}"
    grep -q 'resumed from .* at step 12' "from-$n.log" || fail "$(cat "from-$n.log")"
    same all-1 "from-$n"
done
# The mean of a course that is abandoned goes aside with its checkpoints, and stays if it is of earlier ones.
cp -r whole back
back=(--resume "back/$(checkpoint 12)" "${settings[@]}" --set tune.keep=9 --set tune.weight_decay=0.3)
tuned back 1 "${back[@]}"
[ "$(digest back/previous-1/average.h5)" = "$(digest whole/average.h5)" ] && [ -e "back/previous-1/$(checkpoint 20)" ] &&
    [ "$(digest back/average.h5)" != "$(digest whole/average.h5)" ] || fail "the mean of later checkpoints stays: $(ls -R back)"
tuned back 1 "${back[@]:2}" --resume "back/$(checkpoint 20)"
grep -q "nothing to do" back.log && [ -e back/average.h5 ] && [ ! -e back/previous-2 ] ||
    fail "something went aside: $(ls -R back)"
expect 65 'does not fit the job: it has no /task/averaged' ranks 1 xlm_tune tune.conf --set tune.output=embeddings \
    --set tune.average=2
# The members so far were chosen by average_of: another one is refused, in a run that has ended too, and is nothing without a mean.
for epochs in 2 3; do
    expect 65 "does not fit the job: its average_of is last, the job's best" ranks 1 xlm_tune tune.conf --set tune.output=two \
        --set tune.average=2 --set tune.average_of=best --set tune.epochs=$epochs
done
expect 65 "does not fit the job: its average_of is best, the job's last" ranks 2 xlm_tune tune.conf --set tune.output=from-1 \
    "${settings[@]}" --set tune.average_of=last
tuned embeddings 1 --set tune.freeze=embeddings --set tune.epochs=1 --set tune.average_of=best
grep -q 'nothing to do' embeddings.log || fail "average_of without average: $(cat embeddings.log)"
# Another head is refused, whether it has fewer parameters or more, and what is there stays as it was.
tuned dense 1 --set tune.epochs=1 --set "task tagging.head=dense"
ls -l dense >before.txt
for head in linear:dense_bias dense_norm:norm_weight; do
    expect 65 "does not fit the job: it has .*/objectives/tagging/${head#*:}.*, or --resume never\$" ranks 1 xlm_tune tune.conf \
        --set tune.output=dense --set "task tagging.head=${head%:*}"
    ls -l dense | cmp before.txt - || fail "a run with another head changed the output directory: $(ls -l dense)"
done
tuned linear 1 --set tune.model=dense/latest --set tune.epochs=1 --set "task tagging.head=linear"
h5ls -r linear/latest | grep -q dense_ && fail "a new run with another head has the layers of the model that it starts from"
tuned linear 1 --set tune.model=last/latest --set tune.epochs=1 --set "task tagging.head=linear"
grep -q 'warning: last/latest: is of step 30, and the run in linear began with a model of step 10;' linear.log ||
    fail "no warning of another model: $(cat linear.log)"

# ---- early stopping ----
# Nothing is learned, so the first score is the best.
patient=(--set tune.learning_rate=0 --set tune.epochs=9 --set tune.patience=2)
tuned patient 2 "${patient[@]}"
[ "$(losses patient | wc -l)" -eq 12 ] && [ "$(readlink patient/best)" = "$(checkpoint 4)" ] &&
    [ "$(readlink patient/latest)" = "$(checkpoint 12)" ] || fail "patience: $(cat patient.log)"
grep -q '^stopped early: no better score on dev in 2 measurements' patient.log || fail "$(cat patient.log)"
tuned patient 1 "${patient[@]}"
grep -q 'nothing to do: step 12 of 90 is reached, and the patience is over' patient.log || fail "$(cat patient.log)"
tuned patient 1 "${patient[@]}" --set tune.patience=4
[ "$(losses patient | wc -l)" -eq 20 ] || fail "a patience of 4: $(cat patient.log)"
# It is of evaluations, whatever steps were between them.
tuned patient 1 "${patient[@]}" --set tune.patience=6 --set tune.evaluate_every=1
[ "$(losses patient | wc -l)" -eq 22 ] || fail "evaluated more often: $(cat patient.log)"
tuned learns 1 --set tune.patience=5 --set tune.average=2
[ "$(losses learns | wc -l)" -eq 20 ] || fail "a run that learns is stopped: $(cat learns.log)"

# ---- heads ----
grep -q 'lm_head' <<<"$(h5dump -n last/latest)" && fail "the head for words went along"
tuned head 1 --set tune.keep_head=true --set tune.epochs=1
grep -q '^frozen: the LM head' head.log || fail "$(cat head.log)"
estimated head.log
[ "$(bits base/latest /model/lm_head)" = "$(bits head/latest /model/lm_head)" ] || fail "the LM head has changed"
logged fill.log xlm_fill head/latest --language en "the old <mask> sees the garden ."
expect 65 'keep_head = true' xlm_fill last/latest --language en "the <mask> ."
trained job.conf more 2 --set train.steps=3 --set train.start=head/latest --set model.layers=3 --set model.hidden_size=16
grep -q 'parameters taken' more.log && ! grep -q drawn more.log || fail "pre-training continues: $(cat more.log)"
# Dropout before the head alone.
still=(--set tune.dropout=0 --set tune.epochs=1 --set tune.learning_rate=0)
tuned still 1 "${still[@]}"
tuned same-still 1 "${still[@]}" --set tune.head_dropout=0
tuned dropped 1 "${still[@]}" --set tune.head_dropout=0.5
same still same-still
other_text <(losses still) <(losses dropped) || fail "dropout before the head changes nothing"
cmp <(dev still loss) <(dev dropped loss) || fail "there is dropout in evaluations"

# ---- pre-training ----
for n in 1 2; do
    trained job.conf frozen-$n $n --set train.steps=3 --set train.start=base/latest --set model.layers=3 \
        --set model.hidden_size=16 --set train.freeze=2 --set train.layer_decay=0.9 --set train.weight_decay=0.1
    same_bits frozen-1 frozen-$n
done
[ "$(bits base/latest /model/embeddings)$(bits base/latest /model/encoder/layer.1)" = \
    "$(bits frozen-1/latest /model/embeddings)$(bits frozen-1/latest /model/encoder/layer.1)" ] &&
    [ "$(bits base/latest /model/encoder/layer.2)" != "$(bits frozen-1/latest /model/encoder/layer.2)" ] || fail "pre-training"

# ---- scores of other dev text are not compared ----
mkdir copied
cp dev.tsv copied
# unlike YES EPOCHS OPTION...: whether scores of the next run of the directory are not compared with those before.
unlike() {
    tuned seen 1 --set "tune.epochs=$2" "${@:3}"
    [ "$(grep -c 'was chosen by another measure or with other settings' seen.log)" -eq "$1" ] || fail "$*: $(head -n 9 seen.log)"
}
unlike 0 1
# is_score_of DIR LINE...: the digest in a checkpoint is of these lines. Settings with their defaults are not among them, so that a
# key to come changes no digest of runs without it.
is_score_of() {
    [ "$(numbers /task/best_of "$1/latest")" = $((16#$(printf '%s\n' "${@:2}" | sha256sum | cut -c 1-15))) ] ||
        fail "$1: its digest is not of ${*:2}"
}
is_score_of seen en:dev.tsv 'length = 24'
unlike 0 2 --set tune.dev=en:copied/dev.tsv
unlike 1 3 --set tune.dev=xx:copied/dev.tsv
unlike 1 4 --set tune.dev=xx:dev.tsv --set tune.length=20
trained job.conf wide 1 --set train.steps=1 --set model.positions=128 --set train.evaluate_every=0
tuned usual 1 --set tune.model=wide/latest --set tune.epochs=1 --set tune.length=128 --set 'task tagging.choose_by=macro_f1'
is_score_of usual en:dev.tsv 'choose_by = macro_f1'

# ---- errors ----
# wrong CODE PATTERN OPTION...
wrong() {
    local code=$1 pattern=$2
    shift 2
    expect "$code" "$pattern" ranks 1 xlm_tune tune.conf --set tune.output=wrong "$@"
    once '^xlm_tune: '
    [ ! -e wrong ] || { fail "something was written: $*"; rm -r wrong; }
}
wrong 78 '^xlm_tune: \[tune\]: freeze = 4: must be embeddings, or a number of layers from 1 to 3$' --set tune.freeze=4
wrong 78 'tune.freeze: freeze = all: must be embeddings' --set tune.freeze=all
wrong 78 'average = 1 is the mean of one' --set tune.average=1
wrong 78 'head_dropout is -1' --set tune.head_dropout=-0.5
wrong 64 'layer_decay = 0: must be' --set tune.layer_decay=0
wrong 64 'average = 101: must be' --set tune.average=101
wrong 78 'has no head for words' --set tune.model=last/latest --set tune.keep_head=true
expect 78 'train.freeze: freeze = 4: must be' xlm_train job.conf --set train.freeze=4
finish
