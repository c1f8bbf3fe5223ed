#!/usr/bin/env bash
# xlm-mpi: weam in training: bits, resuming, metrics, memory, what is refused. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
# A poor one: some words have no partner.
logged align.log xlm_align corpus.h5 --split all --method diagonal --iterations 1 --symmetrise intersection --alignment links.h5

eight_steps 8 -e 's/^type = parallel/&\nform = bert\nshuffle_sides = true\nmask = 0.3\nalignments = links.h5/' >base.conf
{ cat base.conf; printf '\n[objective weam]\nstream = pairs\nlambda = 0.5\n'; } >weam.conf

# The same bits on any number of ranks, and resumed in the middle.
reproduced weam.conf out 4

# Both losses apart: each the mean over its own terms, and their weighted sum the objective's loss, in steps and on held-out pairs.
sums() { # SPLIT LANGUAGE
    for column in weam/multilingual weam/cross_lingual; do values out-1 "$1" $column score "$2"; done >scores.txt
    values out-1 "$1" weam loss "$2" | awk '
        FILENAME == "scores.txt" { score[$1] = score[$1] " " $2; next }
        { n++; split(score[$1], s, " "); d = $2 - s[1] - 0.5 * s[2]; if (d < 0) d = -d; if (s[2] == "" || d > 2e-6) bad = 1 }
        END { exit bad || n < 2 }' scores.txt - || fail "$1: $(grep -e ,weam out-1/metrics.csv | head -n 8)"
}
sums train ''
sums held_out all
# Perplexity and accuracy are of the multilingual prediction.
is_near "$(value out-1 8 held_out weam perplexity all)" \
    "$(awk "BEGIN { print exp($(value out-1 8 held_out weam/multilingual score all)) }")" 0.01 ||
    fail "perplexity: $(grep held_out,weam out-1/metrics.csv)"
[ -n "$(value out-1 8 held_out weam accuracy en)" ] || fail "no accuracy by language"
h5ls -r out-1/latest | awk '/^\/objectives\/weam\// && $2 == "Dataset" { n++ } END { exit n != 10 }' ||
    fail "parameters: $(h5ls -r out-1/latest | grep weam)"
h5dump -d /objectives/weam/cross_lingual/layer_norm/weight out-1/latest | grep -q '(0): \(1\|0\.99\)' ||
    fail "a gain does not begin at 1"

# A masked word without partner counts in the first alone.
awk -F, '$2 == "train" && $3 == "weam/cross_lingual" { cross[$1] = $5 } $2 == "train" && $3 == "weam/multilingual" { own[$1] = $5 }
    END { for (s in own) { n++; if (!(cross[s] > 0 && cross[s] <= own[s])) bad = 1; less += cross[s] < own[s] }
          exit bad || n != 8 || !less }' out-1/metrics.csv || fail "terms: $(grep weam/ out-1/metrics.csv)"

# Gradients; a dump with the links; memory no more than was estimated.
checked=weam right_gradients weam.conf --set train.output=out-1
xlm_train weam.conf --dump-step step.h5 --set train.output=out-1 >dump.log 2>&1 || fail "dump: $(tail -n 3 dump.log)"
h5dump -H -d /streams/pairs/batch/links step.h5 | grep -q 'SIMPLE { ( [0-9]*, 2 ) /' || fail "no links in the dump"
{ sed -n '1,/^.stream text/p' base.conf | sed '$d'; sed -n '/^.stream pairs/,/^$/p' base.conf
  printf '\n[objective weam]\nstream = pairs\n'; } >alone.conf
# (A pass without such options is in tests/cli/estimates.sh.)
for more in '--set train.recompute=true' '--set model.dropout=0 --set model.hidden_size=64'; do
    # shellcheck disable=SC2086 # options are words
    trained alone.conf memory 1 $more --set train.steps=3 --set train.micro_batches=1 --resume never
    estimated memory.log
done

# A run does not go on without a head that the objective had.
expect 65 "does not fit the job: it has /objectives/weam/multilingual, and the job has no such parameter" xlm_train weam.conf \
    --set train.output=out-1 --set "objective weam.multilingual=model"

# Impossible settings are refused before training.
refused() { # CODE PATTERN OPTION...
    local code=$1 pattern=$2
    shift 2
    expect "$code" "$pattern" xlm_train weam.conf --set train.output=none "$@"
    [ ! -e none ] || fail "something was made: $(ls none)"
}
refused 78 'stream text. has none; set type = parallel' --set 'objective weam.stream=text'
refused 78 'set form = bert in .stream pairs' --set 'stream pairs.form=xlm'
refused 78 'stream pairs. has no word alignments; give it alignments' --set 'stream pairs.alignments='
refused 78 'stream pairs. masks nothing' --set 'stream pairs.mask=0'
refused 78 'alignments are of pairs; set type = parallel' --set 'stream text.alignments=links.h5'
# Its two losses are better when they are lower.
refused 78 'weam/accuracy is better when it is higher, and weam/cross_lingual when it is lower' \
    --set evaluate.choose_by=weam/accuracy,weam/cross_lingual --set train.evaluate_every=2
refused 66 'nowhere.h5' --set 'stream pairs.alignments=nowhere.h5'
refused 78 'both links.h5 and links.h5 have links of the train pairs .en-xx.; leave one out' \
    --set 'stream pairs.alignments=links.h5,links.h5'
mkdir other
(cd other && tac ../text.en >text.en && tac ../text.xx >text.xx && small_corpus && xlm_align corpus.h5 --split all --method diagonal \
    --alignment links.h5) >other.log 2>&1 || fail "$(tail -n 3 other.log)"
refused 65 'stream pairs.: alignments: other/links.h5: is not the alignment of corpus.h5, but of another corpus' \
    --set 'stream pairs.alignments=other/links.h5'
# An alignment of the training pairs alone: held-out ones are not evaluated, with a warning.
logged align.log xlm_align corpus.h5 --method diagonal --iterations 1 --alignment train.h5
trained weam.conf train 1 --set stream\ pairs.alignments=train.h5
grep -q 'stream pairs is not evaluated: .*no file has links of the held_out pairs' train.log ||
    fail "no warning: $(head -n 12 train.log)"
finish
