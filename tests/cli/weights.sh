#!/usr/bin/env bash
# xlm-mpi: weights of objectives that are piecewise linear in the step. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# tlm falls from 1 to a quarter, then to 0, and comes back after the checkpoint of step 4; moco, whose queue is state, comes in and
# leaves.
list=0:1,2:0.25,3:0,5:0,7:2
eight_steps 4 -e "s/^weight = 0.5/weight = $list/; s/^type = parallel/&\nform = bert\nshuffle_sides = true/" >job2.conf
printf '\n[objective moco]\nstream = pairs\nqueue = 24\nprojection = 16\nweight = 1:0,3:0.5,6:0\n' >>job2.conf
reproduced job2.conf out 4

# Losses and weights of the steps that each takes part in: step s has the weight after s - 1 updates.
weights() { values "$1" train "$2/weight" score | paste -s -d, | tr ' ' :; }
[ "$(weights out-1 tlm)" = 1:1,2:0.625,3:0.25,4:0,5:0,6:0,7:1,8:2 ] || fail "weights of tlm: $(weights out-1 tlm)"
steps_of() { values out-1 "$1" "$2" loss "${3-}" | cut -d' ' -f1 | paste -s -d' '; }
[ "$(steps_of train mlm), $(steps_of train tlm), $(steps_of train moco)" = '1 2 3 4 5 6 7 8, 1 2 3 7 8, 3 4 5 6' ] ||
    fail "steps: $(grep ,train, out-1/metrics.csv)"
[ "$(steps_of held_out mlm all), $(steps_of held_out tlm all)" = '0 4 8, 0 8' ] ||
    fail "evaluated: $(grep ,held_out, out-1/metrics.csv)"
grep -q 'step 2/8 .*tlm/weight 0.625 ' out-1.log || fail "the log has no weight: $(grep 'step 2/8' out-1.log)"
# Time is left until the next step in which others take part.
left=$(sed -n 's|^step [0-9]*/8 .* tokens/s  [0-9:]*\(.*\) left\([^(]*\)  (.*|\1\2|p' out-1.log | paste -s -d,)
[ "$left" = ' to step 2,?,?, to step 6, to step 6,?,,' ] || fail "time left: $left: $(grep '^step ' out-1.log)"
[ -z "$(values out-1 train mlm/weight score)" ] || fail "a weight that does not change is reported"
# The loss of a step is the sum, by the weights.
for step in 2 3 5 7; do
    sum=$(value out-1 $step train mlm loss)
    for name in tlm moco; do
        loss=$(value out-1 $step train $name loss)
        sum="$sum + ${loss:-0} * $(value out-1 $step train $name/weight score)"
    done
    is_near "$(awk "BEGIN { printf \"%.10g\", $sum }")" "$(value out-1 $step train total loss)" 1e-7 ||
        fail "the loss of step $step is not $sum: $(value out-1 $step train total loss)"
done

# What the gradient has is the weight of the step, as a constant weight of that number gives it: at the first step, at step 4, where
# tlm takes no part, and in between. Without moco, whose state a constant weight would change.
sed '/^.objective moco/,$d' job2.conf >two.conf
number() { h5dump -m %.17g -a "$2" "$1" | sed -n 's/.*(0): //p'; }
# gradient_is STEP WEIGHT
gradient_is() {
    local run=to-$1
    [ "$1" = 0 ] || trained two.conf "$run" 1 --set "train.steps=$1" --set train.schedule=constant
    logged list.log xlm_train two.conf --dump-step list.h5 --set "train.output=$run" --resume auto
    logged number.log xlm_train two.conf --dump-step number.h5 --set "train.output=$run" --set "objective tlm.weight=$2" --resume auto
    [ "$(number list.h5 /objectives/tlm/loss/weight)" = "$2" ] || fail "weight in the dump of step $1"
    same_objects list.h5 number.h5 /gradients >diff.log 2>&1 ||
        fail "gradients of step $1 are not those with weight $2: $(tail -n 2 diff.log)"
    [ "$1" = 4 ] || same_objects list.h5 number.h5 >diff.log 2>&1 || fail "dumps of step $1 differ: $(tail -n 2 diff.log)"
}
gradient_is 0 1
gradient_is 2 0.25
gradient_is 4 0
gradient_is 6 1
[ "$(number list.h5 /objectives/tlm/loss/terms)" -gt 0 ] || fail "tlm has no terms at step 6"
logged off.log xlm_train two.conf --dump-step off.h5 --set train.output=to-4 --resume auto
[ "$(number off.h5 /objectives/tlm/loss/terms)" = 0 ] || fail "the loss of tlm is computed at step 4"
# Many passes are made of a micro-batch, so it is small.
few=(--set train.micro_batches=8 --set 'stream text.length=16' --set 'stream pairs.length=16')
expect 70 'objective tlm was not checked: it has a weight of 0' xlm_train two.conf --check-gradients --set train.output=to-4 \
    "${few[@]}"
logged check.log xlm_train two.conf --check-gradients --set train.output=to-2 "${few[@]}"
grep -q 'objective tlm' check.log || fail "gradients of tlm were not checked: $(cat check.log)"

# One number in a list, or written as before, is one number; the record of the job and what has changed on resume say what it is.
sed "s/^weight = .*/weight = 0.5/" two.conf >half.conf
trained half.conf half 1 --set train.steps=4
trained half.conf half-list 1 --set train.steps=4 --set 'objective tlm.weight=3:0.50'
same_bits half half-list
[ "$(sed -n 's/^weight = 0/0/p' half-list/job.conf)" = 0.5 ] || fail "the record of a weight: $(grep weight half-list/job.conf)"
[ "$(sed -n 's/^weight = 0:/0:/p' out-1/job.conf)" = "$list" ] || fail "the record of a list: $(grep weight out-1/job.conf)"
trained two.conf half 1
grep -q "\[objective tlm\] weight: 0.5 -> $list\$" half.log || fail "what has changed: $(cat half.log)"
logged compare.txt xlm_compare half half-list
sed 's/  */ /g' compare.txt | grep -q "^\[objective tlm\] weight $list 0.5\$" || fail "xlm_compare: $(cat compare.txt)"
if type gnuplot >/dev/null 2>&1; then
    logged report.log xlm_report out-1 -o report.html
    grep -q 'tlm/weight' report.html || fail "the report has no curve of the weight"
fi

# Estimates have all objectives in a pass that take part in any step, also those that never do together.
trained job2.conf memory 1 --set train.micro_batches=1 --set 'objective moco.weight=0:0,3:0,4:1'
estimated memory.log
logged plan.txt xlm_train job2.conf --plan --ranks=1,2 --set train.output=none
logged dry.log xlm_train job2.conf --dry-run --set train.output=none
trained two.conf never 1 --set train.steps=2 --set 'objective tlm.weight=5:0,9:1'
grep -q 'objective tlm.: its weight is 0 in every step of the run, so it never takes part' never.log ||
    fail "no warning of an objective that never takes part: $(cat never.log)"

# Bad lists.
line=$(grep -n '^weight = 0:1' two.conf | cut -d: -f1)
# refused LIST PATTERN
refused() {
    sed "s/^weight = .*/weight = $1/" two.conf >bad.conf
    job_refused "bad.conf:$line: .objective tlm.: weight = $1: $2" bad.conf
}
refused 0:1,5:0.5,4:0 'step 4 is not after step 5'
refused 0:1,-4:0 'step = -4: must be an integer'
refused 0:1,4:nan 'number = nan: must be a number'
refused 0:1,,4:0 '"" is not of the form STEP:NUMBER'
refused 0:1,4 '"4" is not of the form STEP:NUMBER'
expect 64 '^xlm_train: --set objective tlm.weight: weight = 0:: number = : must be' \
    xlm_train two.conf --set 'objective tlm.weight=0:' --set train.output=none
finish
