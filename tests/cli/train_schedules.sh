#!/usr/bin/env bash
# xlm-mpi: numbers that change with the step. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
batches_of_eight
small_corpus

# Shares of masked tokens and a weight jump before and after step 60, and the learning rate falls in the last 50 of 100 steps.
sed -e 's/^hidden_size = .*/hidden_size = 16/' -e 's/^warmup = .*/warmup = 10\nschedule = wsd\ndecay = 0.5\ndecay_form = 1-sqrt/' \
    -e '/^\[stream text\]/a mask = 0:0.5,40=0.25,70=0.1' -e 's/^weight = .*/weight = 0:1,40=0.5,70=0.25/' job.conf >phases.conf
trained phases.conf whole 2 --set train.checkpoint_every=60
resumes phases.conf whole 4

# column OBJECTIVE NUMBER: a column of its rows of training, after the step.
column() { awk -F, -v o="$1" -v n="$2" '$2 == "train" && $3 == o { print $1, $n }' whole/metrics.csv; }
# Rows of step s are after its update, so they have the rate and the share of step s - 1.
column total 9 | awk '{ s = $1 - 1; x = s > 50 ? (s - 50) / 50 : 0; rate = 2e-3 * (s < 10 ? (s + 1) / 10 : 1 - sqrt(x))
    d = $2 - rate; if (d > 1e-8 || d < -1e-8) { print; bad = 1 } } END { exit bad || NR != 100 }' || fail "learning rates"
column tlm/weight 13 | awk '{ s = $1 - 1; if ($2 != (s < 40 ? 1 : s < 70 ? 0.5 : 0.25)) { print; bad = 1 } }
    END { exit bad || NR != 100 }' || fail "weights: $(grep -m 1 weight whole/metrics.csv)"
column 'stream text/mask' 13 | awk '{ s = $1 - 1; if ($NF != (s < 40 ? 0.5 : s < 70 ? 0.25 : 0.1)) { print; bad = 1 } }
    END { exit bad || NR != 100 }' || fail "shares of masked tokens: $(grep -m 1 'text/mask' whole/metrics.csv)"
grep -q 'step 71/100 .*stream text/mask 0.1 ' whole.log || fail "the log: $(grep -m 1 'step 71/' whole.log)"
if [ -n "$(command -v gnuplot)" ]; then
    logged report.log xlm_report whole -o whole.html
    grep -q 'stream text/mask' whole.html || fail "the report does not show the share of masked tokens"
fi
column mlm 5 | awk '{ p = $1 <= 40 ? 1 : $1 <= 70 ? 2 : 3; sum[p] += $2; n[p]++ }
    END { a = sum[1] / n[1]; b = sum[2] / n[2]; c = sum[3] / n[3]; print a, b, c
        exit !(a / b > 1.8 && a / b < 2.2 && b / c > 2.2 && b / c < 2.8) }' >counts || fail "masked tokens: $(cat counts)"

# The second language is drawn from step 30 on, and evenly with the first from step 60 on.
sed -e 's/^hidden_size = .*/hidden_size = 16/' -e '/^\[stream text\]/a languages = en,*@30\nalpha = 0:1,60=0' job.conf >late.conf
trained late.conf late 1 --set train.checkpoint_every=60
resumes late.conf late 2
shares='(en [0-9]*, 100.0 % of the draws; xx [0-9]*, 0.0 % .*; from step 30: en .*, xx .*; from step 60: en 50.0 %, xx 50.0 %)'
grep -q "stream text: .* $shares" late.log || fail "no word of the languages: $(grep 'stream text' late.log)"
awk -F, '$2 == "train" && $3 == "stream text/alpha" && ($1 > 60) != ($13 == 0) { bad = 1 } $3 == "stream text/alpha" { n++ }
    END { exit bad || n != 100 }' late/metrics.csv || fail "alpha: $(grep -m 1 'text/alpha' late/metrics.csv)"
# seen STEP: languages of the batch of a step
seen() {
    rm -rf "at-$1"
    logged at.log xlm_train late.conf --set train.output="at-$1" --set train.steps="$1" --set train.checkpoint_every="$1"
    logged dump.log xlm_train late.conf --set train.output="at-$1" --resume auto --dump-step "at-$1.h5"
    h5dump -d /streams/text/batch/languages -y -w 1 "at-$1.h5" | sed -n 's/^ *\([01]\),\{0,1\}$/\1/p' | sort -u | tr -d '\n'
}
[ "$(seen 29)" = 0 ] || fail "step 29 has languages $(seen 29)"
[ "$(seen 30)" = 01 ] || fail "step 30 has languages $(seen 30)"
for wrong in 'en@1,xx@2:none with an instance begins at step 0' 'en,xx@soon:not NAME@STEP' 'en,xx@-1:not NAME@STEP' \
    'en,yy@3:no monolingual text "yy"'; do
    expect 78 "${wrong#*:}" xlm_train job.conf --dry-run --set "stream text.languages=${wrong%%:*}"
done

# Streams whose batch changes, and does not divide over micro-batches: text falls and ends, pairs begin late. moco makes labels of
# pairs with an average of the parameters, and has a queue that grows with what there was.
sed -e 's/^steps = .*/steps = 24/; s/^checkpoint_every = .*/checkpoint_every = 12/; s/^evaluate_every = .*/evaluate_every = 12/' \
    -e '/^\[stream text\]/,/^batch/ s/^batch = .*/batch = 0:8,8:8,16:3,20=0/' \
    -e '/^\[stream pairs\]/,/^batch/ s/^batch = .*/batch = 0:0,4:0,12:8/' \
    -e '/^type/a form = bert\nshuffle_sides = true' job.conf >shares.conf
printf '[objective moco]\nstream = pairs\nqueue = 32\nprojection = 16\n' >>shares.conf
reproduced shares.conf shares 4
estimated shares-1.log
# changed STREAM: its rows of training, "step batch".
changed() { values shares-1 train "stream $1/batch" score; }
changed text | awk '{ s = $1 - 1; x = s < 8 ? 8 : s < 16 ? int(8 - (s - 8) * 5 / 8 + 0.5) : s < 20 ? 3 : 0
    if ($2 != x) { print; bad = 1 } } END { exit bad || NR != 24 }' || fail "the batch of text: $(changed text | paste -s -d ,)"
changed pairs | awk '{ s = $1 - 1; if ($2 != (s < 4 ? 0 : s < 12 ? s - 4 : 8)) { print; bad = 1 } }
    END { exit bad || NR != 24 }' || fail "the batch of pairs: $(changed pairs | paste -s -d ,)"
grep -q 'step 10/24 .*stream text/batch 7 .*stream pairs/batch 5 ' shares-1.log ||
    fail "the log: $(grep -m 1 'step 10/' shares-1.log)"
if [ -n "$(command -v gnuplot)" ]; then
    logged report.log xlm_report shares-1 -o shares.html
    grep -q 'stream pairs/batch' shares.html || fail "the report does not show the batch of pairs"
fi
# learned OBJECTIVE: first and last step in which it had terms, and number of these steps.
learned() {
    values shares-1 train "$1" terms | awk '$2 > 0 { n++; last = $1; if (n == 1) first = $1 } END { print first, last, n }'
}
[ "$(learned mlm)" = '1 20 20' ] && [ "$(learned tlm)" = '6 24 19' ] && [ "$(learned moco)" = '6 24 19' ] ||
    fail "steps with terms: mlm $(learned mlm), tlm $(learned tlm), moco $(learned moco)"
! grep -q -i -w nan shares-1/metrics.csv || fail "a mean over no terms: $(grep -i -m 1 -w nan shares-1/metrics.csv)"
values shares-1 held_out tlm loss all | awk '$2 > 0 { n++ } END { exit n != 3 }' ||
    fail "pairs are not evaluated at each evaluation"
# An objective whose stream gives a step nothing is not one that has no terms there.
trained shares.conf four 1 --set train.steps=4 --set train.checkpoint_every=4
[ "$(values four train mlm loss | wc -l)" -eq 4 ] && ! grep 'has had no terms' four.log ||
    fail "a warning of an objective whose batch is 0: $(grep 'no terms' four.log)"

# An instance follows that of the step before. dumped NAME STEP BATCH: original ids of the text of a step.
dumped() {
    local with=(--set "train.output=$1" --set "train.steps=$2" --set "train.checkpoint_every=$2" --set "stream text.batch=$3")
    [ "$2" -eq 0 ] || logged "$1.log" xlm_train job.conf "${with[@]}"
    [ "$2" -gt 0 ] || with=(--set "train.output=$1" --set "stream text.batch=$3")
    logged "$1-dump.log" xlm_train job.conf "${with[@]}" --dump-step "$1.h5"
    numbers /streams/text/batch/original "$1.h5"
}
dumped many 0 11 >many.txt
dumped later 1 0:6,1=5 >later.txt
[ -s later.txt ] && cmp later.txt <(tail -n "$(wc -l <later.txt)" many.txt) || fail "other instances follow when a batch changes"
[ "$(numbers /streams/text/batch/offsets later.h5 | wc -l)" -eq 6 ] || fail "a dump of another batch than the step's"
# Streams that a dumped step does not read are not in the dump.
logged no-pairs.log xlm_train shares.conf --set train.output=no-pairs --dump-step no-pairs.h5
h5ls no-pairs.h5/streams | grep -q text && ! h5ls no-pairs.h5/streams | grep -q pairs ||
    fail "the dump: $(h5ls no-pairs.h5/streams)"
expect 70 'objective tlm was not checked: it has no terms at step 1; set the batch' \
    xlm_train shares.conf --set train.output=none --check-gradients=tlm

# A list of one number is that number, and so is one whose numbers are equal. A run goes on with a batch that changes later.
short=(--set train.steps=8 --set train.checkpoint_every=4)
trained job.conf plain 1 "${short[@]}"
trained job.conf listed 1 "${short[@]}" --set 'stream text.batch=3:8'
same_bits plain listed
trained job.conf equal 2 "${short[@]}" --set 'stream text.batch=0:8,5:8'
[ "$(digest plain/latest)" = "$(digest equal/latest)" ] || fail "equal numbers in a list are not the same bits as one"
trained job.conf falls 1 "${short[@]}" --set 'stream text.batch=0:8,4=3'
trained job.conf goes-on 1 "${short[@]}" --set train.steps=4
trained job.conf goes-on 1 "${short[@]}" --set 'stream text.batch=0:8,4=3'
[ "$(digest falls/latest)" = "$(digest goes-on/latest)" ] && differ falls/latest plain/latest ||
    fail "a run whose batch was changed later is another one"

# Estimates are for the largest batches, also where these are the ones of few steps; operations are those of the mean.
sed -e '/^\[stream pairs\]/,/^length/d' -e '/^\[objective tlm\]/,$d' job.conf >text.conf
larger=(--set model.layers=4 --set model.hidden_size=256 --set train.output=none)
logged largest.log xlm_train text.conf --dry-run "${larger[@]}" --set 'stream text.batch=64'
logged rising.log xlm_train text.conf --dry-run "${larger[@]}" --set 'stream text.batch=0:0,50:0,100:64'
# memory LOG: of a rank, but for what is free on the node; flops LOG: those of a step, in millions.
memory() { sed -n 's/^memory: \(.*\); this node.*/\1/p' "$1"; }
flops() { sed -n 's/^time: .* steps of \([0-9.]*\) *\([MG]\)FLOP .*/\1 \2/p' "$1" | awk '{ print $1 * ($2 == "M" ? 1 : 1000) }'; }
memory largest.log | grep -q 'a pass 0.0[1-9]' && [ "$(memory rising.log)" = "$(memory largest.log)" ] ||
    fail "memory is not that of the largest batch: $(memory rising.log), $(memory largest.log)"
# The mean of 50 steps of 0 and 50 that rise to 64 is 15.7.
is_between 0.235 "$(awk -v a="$(flops rising.log)" -v b="$(flops largest.log)" 'BEGIN { print a / b }')" 0.255 ||
    fail "operations of a step: $(flops rising.log), of the largest $(flops largest.log)"
logged largest.txt xlm_train text.conf --plan --ranks=1,4 --set 'stream text.batch=64' "${larger[@]}"
logged rising.txt xlm_train text.conf --plan --ranks=1,4 --set 'stream text.batch=0:0,50:0,100:64' "${larger[@]}"
# gigabytes PLAN: of a rank, for each number of ranks; tokens PLAN: of a step.
gigabytes() { awk '/^ *ranks/ { inside = 1; next } inside { print $1, $2 }' "$1"; }
tokens() { sed -n 's/^a step *\([0-9]*\) tokens.*/\1/p' "$1"; }
[ "$(gigabytes rising.txt | wc -l)" -eq 2 ] && [ "$(gigabytes rising.txt)" = "$(gigabytes largest.txt)" ] &&
    [ "$(tokens rising.txt)" = "$(tokens largest.txt)" ] ||
    fail "the plan: $(cat rising.txt), of the largest batch $(cat largest.txt)"
logged unread.log xlm_train job.conf --dry-run --set train.steps=10 --set 'stream pairs.batch=0:0,10:0,20:8'
grep -q '\[stream pairs\]: batch is 0 in each of the run.s 10 steps' unread.log || fail "no warning: $(cat unread.log)"
expect 78 'stream pairs.batch: batch = 0:0,50:0: is 0 in every step' \
    xlm_train job.conf --dry-run --set 'stream pairs.batch=0:0,50:0'
sed '/^\[stream text\]/,/^batch/ s/^batch = .*/batch = 0/' job.conf >zero.conf
expect 78 'zero.conf:.*stream text.*batch = 0: is 0 in every step' xlm_train zero.conf --dry-run

# The job with mmBERT's phases, for a small model.
logged mmbert.log xlm_train "$XLM_SOURCE/jobs/mmbert-base.conf" --dry-run --set model.layers=2 --set model.hidden_size=24 \
    --set "stream text.languages=en,*@97000" --set train.micro_batches=4 --set "stream text.batch=4" --set "stream text.length=64"
grep -q 'from step 77000: en 100.0 %, xx 0.0 %; from step 97000: en [45]' mmbert.log || fail "mmbert-base.conf: $(cat mmbert.log)"

# refused KEY VALUE WORD: of --set, so the usage is wrong
refused() {
    code=0
    xlm_train job.conf --set "$1=$2" >refused.log 2>&1 || code=$?
    [ "$code" -eq 64 ] && grep -q "${1##*.} = .*$3" refused.log || fail "$1=$2: $code, $(tail -n 2 refused.log)"
}
refused "stream text.mask" 0:0.3,10=1.5 'number = 1.5'
refused "stream text.mask" 0:0.3,10=-0.1 'number = -0.1'
refused "stream text.mask" 0:0.3,10=0.2,5=0.1 'step 5 is not after step 10'
refused "stream text.batch" 0:8,10:-1 'number = -1: must be an integer from 0'
refused "stream text.batch" -1 'must be an integer from 0'
refused "stream text.batch" 0:8,10:2.5 'number = 2.5: must be an integer'
refused "stream text.batch" 0:8,10:4,5:2 'step 5 is not after step 10'
refused train.decay 1.5 'from 0 to 1'
refused train.decay_form steep 'cosine'
finish
