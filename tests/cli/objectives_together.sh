#!/usr/bin/env bash
# xlm-mpi: all objectives in one job: it trains, the same bits on any number of ranks, and goes on on another number.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
small_resources

{
    sed '/^\[stream text/,$d; s/^language_embeddings.*/&\ntoken_types = true/; s/^steps = 100/steps = 12/
        s/^warmup = 10/warmup = 4/; s/^checkpoint_every = 0/checkpoint_every = 6/; s/^evaluate_every = 0/evaluate_every = 6/' job.conf
    cat <<'JOB'
[stream text]
batch = 8
length = 48

[stream switched]
batch = 8
length = 48
dictionary = dict.h5
switching = 0.5

[stream pairs]
type = parallel
form = bert
batch = 8
length = 64
shuffle_sides = true
alignments = alignment.h5

[objective mlm]
stream = text

[objective gc]
stream = text
cooccurrence = cooc.h5

[objective sop]
stream = text

[objective dict-mlm]
stream = switched

[objective align]
dictionary = dict.h5

[objective tlm]
plugin = mlm
stream = pairs

[objective dwa]
stream = pairs
label_layer = 1
begin = 3

[objective weam]
stream = pairs

[objective moco]
stream = pairs
queue = 24
projection = 16
momentum = 0.9
JOB
} >all.conf
objectives='mlm gc sop dict-mlm align tlm dwa weam moco'
reproduced all.conf out 4

# Each has a loss in every step that it takes part in: dwa after three updates; moco's first is 0, for its queue is empty.
for objective in $objectives; do
    steps=12
    [ $objective != dwa ] || steps=9
    values out-1 train $objective loss | awk -v steps=$steps -v empty="$([ $objective = moco ] && echo 1)" '
        $2 != $2 + 0 || ($2 == 0) != ($1 == empty) { bad = 1 } END { exit bad || NR != steps }' ||
        fail "$objective: not a loss in each of $steps steps: $(values out-1 train $objective loss | paste -s)"
done
estimated out-1.log

# sop brings the stage of its stream: its loss begins at ln 2.
is_near "$(value out-1 1 train sop loss)" 0.6931 0.02 || fail "the first loss of sop is not ln 2: $(value out-1 1 train sop loss)"
is_between 0.1 "$(value out-1 12 held_out sop loss all)" 5 && is_between 0 "$(value out-1 12 held_out sop/accuracy score all)" 1 &&
    is_between 0 "$(value out-1 12 train sop/accuracy score)" 1 || fail "sop is not evaluated: $(grep ',sop' out-1/metrics.csv)"

# Their order in the job does not matter to what each is given: draws are by name. Without one of them, the first loss of the
# others is the same.
for left_out in gc dwa moco; do
    awk -v section="[objective $left_out]" '/^\[/ { out = $0 == section } !out' all.conf >without.conf
    trained without.conf "without-$left_out" 1 --set train.steps=1 --set train.checkpoint_every=0
    for objective in $objectives; do
        [ $objective != $left_out ] || continue
        [ "$(value out-1 1 train $objective loss)" = "$(value "without-$left_out" 1 train $objective loss)" ] ||
            fail "$objective: another loss without $left_out: $(value out-1 1 train $objective loss)," \
                "$(value "without-$left_out" 1 train $objective loss)"
    done
done
finish
