#!/usr/bin/env bash
# xlm-mpi: xlm_convert --average: the mean of models, element by element. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus
eight_steps 1 -e 's/^checkpoint_every = .*/checkpoint_every = 2/' >average.conf
trained average.conf run 1 --set train.checkpoint_every=2 --set train.keep=4
of() { checkpoint "$1" | sed 's,^,run/,'; }
logged average.log xlm_convert "$(of 4)" --average "$(of 6)" --average run/latest -o mean.h5
grep -q 'mean.h5: the mean of 3 models' average.log || fail "$(cat average.log)"
for path in encoder/layer.1/attention/value/weight embeddings/word/weight lm_head/bias; do
    paste -d ' ' <(numbers /model/$path mean.h5) <(numbers /model/$path "$(of 4)") <(numbers /model/$path "$(of 6)") \
        <(numbers /model/$path run/latest) | awk '
            { m = ($2 + $3 + $4) / 3; d = $1 - m; if (d < 0) d = -d; if (m < 0) m = -m }
            { bad += d > 1e-5 * m + 1e-8; moved += $1 != $4 }
            END { exit bad || NR < 50 || moved < 20 }' || fail "$path is not the mean"
done
# Of equal ones it is what they are; and it is a model that others read.
logged average.log xlm_convert run/latest --average run/latest -o same.h5
same_objects run/latest same.h5 /model >diff.log 2>&1 || fail "of equal ones: $(head -n 3 diff.log)"
logged start.log xlm_train average.conf --set train.start=mean.h5 --set train.output=next --set train.steps=2
# mistakes
trained average.conf wide 1 --set model.feed_forward_size=20 --set train.steps=2
expect 65 'wide/latest: its model has feed_forward_size = 20, the first one.s' xlm_convert run/latest --average wide/latest -o none.h5
small_corpus --para en-xx=text.en,text.xx --bpe 80
trained average.conf other 1 --set train.steps=2
expect 65 'other/latest: it has another vocabulary than the first model' xlm_convert run/latest --average other/latest -o none.h5
expect 66 'nothing.h5' xlm_convert run/latest --average nothing.h5 -o none.h5
expect 64 'cannot be combined' xlm_convert run/latest --average run/latest --merge-adapters -o none.h5
phrases text.en >train.tsv
printf '%s\n' '[tune]' 'model = run/latest' 'train = train.tsv' 'dev = train.tsv' 'language = en' 'output = tag' 'epochs = 1' \
    'length = 24' '[task tagging]' >tune.conf
logged tune.log xlm_tune tune.conf --set tune.dropout=0 --set tune.batch=256
expect 65 'it was fine-tuned for tagging' xlm_convert tag/best --average tag/best -o none.h5
[ ! -e none.h5 ] || fail "something was written"
finish
