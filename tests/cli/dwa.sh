#!/usr/bin/env bash
# xlm-mpi: dwa in training: bits, resuming, metrics, memory, what is refused. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
batches_of_eight
long
small_corpus

eight_steps 8 >base.conf
# More pairs than an epoch has, so that they are seen again.
{ sed 's/^type = parallel/&\nshare = 0.1/' base.conf
  printf '\n[objective dwa]\nstream = pairs\nlabel_layer = 1\nbegin = 2\n'; } >dwa.conf

# The same bits on any number of ranks, what it remembers included, and resumed in the middle.
reproduced dwa.conf out 4
for queries in unmasked all-aligned; do
    trained dwa.conf "$queries-1" 1 --set "objective dwa.queries=$queries" --set "objective dwa.filter=off"
    trained dwa.conf "$queries-2" 2 --set "objective dwa.queries=$queries" --set "objective dwa.filter=off"
    same_bits "$queries-1" "$queries-2"
done

# It takes part from step 2 on; metrics of each step, and of held-out pairs, of which nothing is remembered.
[ "$(values out-1 train dwa loss | wc -l)" -eq 6 ] || fail "steps: $(values out-1 train dwa loss)"
for metric in labels_per_pair accuracy; do
    [ "$(values out-1 train dwa/$metric score | wc -l)" -eq 6 ] || fail "$metric of steps: $(grep dwa/ out-1/metrics.csv)"
    is_between 0 "$(value out-1 8 held_out dwa/$metric score all)" 40 || fail "$metric held out: $(grep dwa/ out-1/metrics.csv)"
done
# The log has accuracies in per cent, as those of predicted tokens, and other metrics as they are.
shown() { sed -n "s/^held out, step 8: dwa  *all *$1 \\(.*\\)  ([0-9]* terms)\$/\\1/p" out-1.log; }
[ "$(shown accuracy)" = "$(value out-1 8 held_out dwa/accuracy score all | awk '{ printf "%.2f%%", 100 * $1 }')" ] &&
    [ "$(shown labels_per_pair)" = "$(value out-1 8 held_out dwa/labels_per_pair score all | awk '{ printf "%.4f", $1 }')" ] &&
    grep -q '^step 8/8 .*  dwa/accuracy [0-9.]*%  ' out-1.log || fail "accuracy in the log: $(grep dwa out-1.log | tail -n 5)"
values out-1 train dwa/agreement score | awk '{ n++; bad = bad || $2 < 0 || $2 > 1; } END { exit bad || n < 3 }' ||
    fail "agreement: $(grep dwa/ out-1/metrics.csv)"
[ -z "$(value out-1 8 held_out dwa/agreement score all)" ] || fail "held-out pairs were remembered"
# Nor where they are training pairs of another corpus, whose labels are remembered.
logged half.log xlm_prep --like corpus.h5 --mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.5 -o half.h5
trained dwa.conf both 1 --set train.corpus=corpus.h5,half.h5 --set 'stream pairs.share=1' --set train.steps=20 \
    --set train.evaluate_every=20 --set train.evaluate_instances=200
[ -n "$(values both train dwa/agreement score)" ] && [ -z "$(value both 20 held_out dwa/agreement score all)" ] ||
    fail "held-out pairs that are trained on elsewhere: $(grep dwa/agreement both/metrics.csv)"

# With a learning rate of 0 every labelling is the same as the one before.
trained dwa.conf still 1 --set train.learning_rate=0
values still train dwa/agreement score | awk '{ n++; bad = bad || $2 != 1 } END { exit bad || n < 3 }' ||
    fail "agreement of a model that stands still: $(grep dwa/agreement still/metrics.csv)"

# Its parameters and their moments stay as they are before it takes part, with a decay too, and where a weight has become 0.
for how in 'optimiser=lamb' 'optimiser=adam' 'exchange_parameters=bfloat16'; do
    trained dwa.conf waits 2 --resume never --set "train.$how" --set train.weight_decay=0.1 --set train.keep=9 \
        --set train.checkpoint_every=1 --set train.steps=5 --set 'objective dwa.weight=0:1,3=0'
    for step in 1 3 4; do
        same_objects "waits/$(checkpoint $step)" "waits/$(checkpoint $((step + 1)))" objectives/dwa/query \
            optimiser/first_moment/objectives optimiser/second_moment/objectives || fail "$how: step $((step + 1)) moved dwa"
    done
    other_objects "waits/$(checkpoint 2)" "waits/$(checkpoint 3)" objectives/dwa/query || fail "$how: dwa does not learn"
done

# So do they where the weight is 0 without a list, and in steps that read nothing of its stream.
trained dwa.conf zero 1 --set train.weight_decay=0.1 --set train.keep=9 --set train.checkpoint_every=1 --set train.steps=4 \
    --set 'objective dwa.weight=0'
trained dwa.conf unread 2 --set train.weight_decay=0.1 --set train.keep=9 --set train.checkpoint_every=1 --set train.steps=5 \
    --set 'stream pairs.batch=0:8,3=0'
for at in zero:3 unread:3 unread:4; do
    same_objects "${at%:*}/$(checkpoint "${at#*:}")" "${at%:*}/$(checkpoint $((${at#*:} + 1)))" objectives/dwa/query \
        optimiser/first_moment/objectives optimiser/second_moment/objectives || fail "step after $at moved dwa"
done
other_objects "unread/$(checkpoint 2)" "unread/$(checkpoint 3)" objectives/dwa/query || fail "dwa does not learn before batch is 0"
[ "$(values zero train dwa/accuracy score | wc -l)" -eq 2 ] || fail "with a weight of 0: $(grep dwa zero/metrics.csv)"

# One more forward pass up to the label's layer is in the plan; gradients; memory no more than was estimated.
# (of shorter pairs and a model of some steps, of which rounding hides less)
shallow=(--set train.output=shallow --set 'stream pairs.length=20' --set train.steps=20 --set train.learning_rate=2e-2
    --set train.evaluate_every=0)
logged shallow.log xlm_train dwa.conf "${shallow[@]}"
checked=dwa right_gradients dwa.conf "${shallow[@]}"
grep -q 'objectives/dwa/key/weight' check.txt || fail "gradients: $(cat check.txt)"
# planned JOB OPTION...: GFLOP of a step.
planned() {
    xlm_train "$@" --plan --ranks=1 --set train.output=none --set model.hidden_size=128 --set 'stream pairs.batch=64' >plan.txt \
        2>plan.log || fail "plan: $(tail -n 3 plan.log)"
    sed -n 's/^a step .* \([0-9.]*\) GFLOP .*/\1/p' plan.txt
}
sed '/^\[objective dwa\]/,$d' dwa.conf >plain.conf
plain=$(planned plain.conf)
for begin in 0 7; do
    begun=$(planned dwa.conf --set "objective dwa.begin=$begin")
    awk -v a="$plain" -v b="$begun" 'BEGIN { exit !(a > 0 && b > 1.2 * a) }' ||
        fail "GFLOP of a step: $plain, with dwa from step $begin on $begun"
done
# (A pass without such options is in tests/cli/estimates.sh.)
for more in '--set train.recompute=true' '--set model.dropout=0 --set model.hidden_size=64'; do
    # shellcheck disable=SC2086 # options are words
    trained dwa.conf memory 1 $more --set train.steps=4 --set train.micro_batches=1 --resume never
    estimated memory.log
done

# Impossible settings are refused before training.
refused() { # PATTERN OPTION...
    local pattern=$1
    shift
    expect 78 "objective dwa.*$pattern" xlm_train dwa.conf --set train.output=none "$@"
    [ ! -e none ] || fail "something was made: $(ls none)"
}
refused 'label_layer = 10, but the model has 2 layers' --set 'objective dwa.label_layer=10'
refused 'layer = 3, but the model has 2 layers' --set 'objective dwa.layer=3'
refused 'stream text. has none; set type = parallel' --set 'objective dwa.stream=text'
refused 'masks nothing' --set 'stream pairs.mask=0'
for key in alpha=0.8 itermax_iterations=3; do
    refused 'are for Itermax' --set 'objective dwa.filter=off' --set "objective dwa.$key"
done
expect 64 "alpha = 2: must be a number from 0.5 to 1" xlm_train dwa.conf --set train.output=none --set 'objective dwa.alpha=2'
finish
