#!/usr/bin/env bash
# xlm-mpi: numbers that change with the step. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus

# Shares of masked tokens and a weight jump before and after step 60, and the learning rate falls in the last 50 of 100 steps.
sed -e 's/^warmup = .*/warmup = 10\nschedule = wsd\ndecay = 0.5\ndecay_form = 1-sqrt/' \
    -e '/^\[stream text\]/a mask = 0:0.5,40=0.25,70=0.1' -e 's/^weight = .*/weight = 0:1,40=0.5,70=0.25/' job.conf >phases.conf
trained phases.conf whole 2 --set train.checkpoint_every=60
resumes phases.conf whole 1 4

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
sed -e '/^\[stream text\]/a languages = en,*@30\nalpha = 0:1,60=0' job.conf >late.conf
trained late.conf late 2 --set train.checkpoint_every=60
resumes late.conf late 1 4
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
refused train.decay 1.5 'from 0 to 1'
refused train.decay_form steep 'cosine'
finish
