#!/usr/bin/env bash
# xlm-mpi: a study of the growth of gains with the model and with the text. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
command -v gnuplot >/dev/null || { echo "left out: there is no gnuplot" >&2; exit 77; }
mkdir -p out/text ud
for file in mono.en en-de.en; do cp text.en out/text/$file; done
for file in mono.de en-de.de; do cp text.xx out/text/$file; done
# In another order than the pairs, and sentences in no pair.
{ sort -r text.xx; seq -f 'the %g th sentence has no translation .' 20; } >out/text/mono.de
for part in train dev test; do
    head -n 16 text.en | awk '{
            print "# text = " $0
            for (i = 1; i <= NF; i++) print i, $i, "_", i % 2 ? "NOUN" : "VERB", "_", "_", "_", "_", "_", "_"
            print ""
        }' OFS='\t' >ud/en_ewt-ud-$part.conllu
done
# On one rank, with small batches and few held-out instances, unless a study says otherwise; and with a key of an objective that not
# every run has.
growth() {
    env XLM_LAUNCH=env SETTINGS='stream text.batch=4; objective dwa.weight=0.5' \
        MEASURE='--instances 8 --length 32 --pos-set epochs=1' STEPS=2 START_STEPS=3 DICTIONARY=none \
        MODELS='3x64 1x128' SHARES='0.5 1' RUNS='mlm:1 mlm+tlm+dwa:1' "$@" "$XLM_SOURCE/jobs/combinations/growth" out ud >log 2>&1
}
growth || fail "growth: $(tail -n 5 log)"
! grep -q 'objective dwa' <(h5dump -a /job/text out/3x64-1/runs/mlm-1-3-2/latest) || fail "mlm has dwa"

# Half of the text is every second line, of both sides of the pairs, and of sentences in no pair; each sentence is counted once.
cmp out/text-0.5/text/en-de.de <(awk 'NR % 2 == 0' text.xx) || fail "half of the pairs"
cmp out/text-1/text/mono.en text.en || fail "all of the text"
{ awk 'NR % 2 == 0' text.xx; seq -f 'the %g th sentence has no translation .' 2 2 20; } | sort -u >half
cmp half <(sort -u out/text-0.5/text/mono.de) || fail "half of the monolingual text"
grep -q ", $(cat <(sort -u out/text-0.5/text/mono.en out/text-0.5/text/ewt.en) half | wc -w) words\$" log || fail "words of half: $(grep words log)"
# Nothing of what the whole text holds out is learned from in a half.
for language in en de; do
    decode out/text-1/corpus.h5 held_out $language | sort -u >held_out
    decode out/text-0.5/corpus.h5 train $language | sort -u >trained
    [ -s held_out ] && [ -s trained ] && [ -z "$(comm -12 held_out trained)" ] ||
        fail "half of $language is trained on held-out text: $(comm -12 held_out trained | head -n 3)"
done
# All shares have the subwords of the whole text, and are measured among its held-out pairs, of which none was learned from.
same_objects out/text-0.5/corpus.h5 out/text-1/corpus.h5 /vocabulary/words >diff.log || fail "subwords: $(head -n 3 diff.log)"
h5ls -r out/text-1/corpus.h5 >listing
held_out=$(sed -n 's|^/held_out/parallel/.*/links *Dataset {\([0-9]*\).*|\1|p' listing)
[ "$(grep -c " looked for among $held_out at a time" log)" -eq 8 ] ||
    fail "of $held_out pairs: $(grep ' looked for among ' log)"
# The sizes are those of the models, with their learning rates and layers of labels.
job_of() { h5dump -a /job/text "out/$1/runs/mlm+tlm+dwa-1-3-2/latest"; }
job_of 3x64-0.5 >job
for line in ' layers = 3' 'hidden_size = 64' 'learning_rate = 0.00141' 'label_layer = 3' 'weight = 0.5'; do
    grep -q "$line\$" job || fail "3x64: the job has no $line"
done
job_of 1x128-1 >job
for line in ' layers = 1' 'hidden_size = 128' 'learning_rate = 0.001' 'label_layer = 1'; do
    grep -q "$line\$" job || fail "1x128: the job has no $line"
done

# Each figure is that of the study, and differences are of the same model, text and seed.
[ "$(head -n 1 out/growth.csv)" = model,words,run,seed,column,value ] || fail "$(head -n 1 out/growth.csv)"
words=$({ sort -u out/text-1/text/mono.en out/text-1/text/ewt.en; sort -u out/text-1/text/mono.de; } | wc -w)
value() { awk -F, -v model="$1" -v words="$2" -v run="$3" '$1 == model && $2 == words && $3 == run && $5 == "mean" { print $6 }' \
    out/growth.csv; }
for model in 3x64 1x128; do
    of=$(awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i } $1 == "mlm+tlm+dwa" { print $column["mean"] }' \
        out/$model-1/scores.tsv)
    [ "$(value $model "$words" mlm+tlm+dwa)" = "$of" ] || fail "$model: $(value $model "$words" mlm+tlm+dwa), not $of"
    less=$(awk -F, -v line=$model -v x="$(awk -v w="$words" 'BEGIN { printf "%.3f", w / 1e6 }')" '
        $1 == "mean: mlm+tlm+dwa less mlm" && $3 == line && $4 == x { print $5 }' out/figures.csv)
    awk -v less="$less" -v a="$of" -v b="$(value $model "$words" mlm)" 'BEGIN { d = less - (a - b); exit !(less != "" && d * d < 1e-6) }' ||
        fail "$model: $less is not $of less $(value $model "$words" mlm)"
done
[ "$(awk -F, '$1 == "mean" && $3 == "mlm 3x64"' out/figures.csv | wc -l)" -eq 2 ] || fail "points: $(grep ^mean, out/figures.csv)"
grep -q '<b>mean: mlm+tlm+dwa less mlm</b>' out/growth.html || fail "no figure of the difference"

# What is finished is not made again; a plan makes nothing.
cp out/growth.csv before.csv
growth || fail "again: $(tail -n 5 log)"
! grep -q '^step ' log && cmp before.csv out/growth.csv || fail "made again"
env XLM_LAUNCH=env STEPS=2 START_STEPS=3 DICTIONARY=none MODELS=2x64 SHARES=1 RUNS=mlm:1 \
    "$XLM_SOURCE/jobs/combinations/growth" --plan out ud >log 2>&1 || fail "plan: $(tail -n 5 log)"
grep -q '^mlm:1  *1 ' log && [ ! -e out/2x64-1/runs/mlm-1-3-2 ] && cmp before.csv out/growth.csv || fail "the plan: $(cat log)"

# From nothing, where runs have other names; a first run with an objective whose settings the model to start from does not have, on
# 2 ranks.
growth START=none MODELS=1x64 SHARES='0.5 1' RUNS='mlm:1 mlm+tlm:1' SETTINGS='stream text.batch=4' ||
    fail "from nothing: $(tail -n 3 log)"
grep -q '<b>mean: mlm+tlm/from-nothing less mlm/from-nothing</b>' out/growth.html || fail "no difference of runs from nothing"
growth MODELS=1x64 SHARES=1 RUNS=mlm+tlm+dwa:2 XLM_LAUNCH="sh $XLM_SOURCE/tests/mpirun.sh 2" || fail "dwa first: $(tail -n 3 log)"
env XLM_LAUNCH=env STEPS=2 START_STEPS=3 DICTIONARY=none MODELS=1x64 SHARES=1 RUNS=mlm+tlm+dwa:1 \
    "$XLM_SOURCE/jobs/combinations/growth" --plan out ud >log 2>&1 || fail "plan of dwa: $(tail -n 5 log)"
expect 64 'no run of RUNS has \[objective dwa\]' env SETTINGS='objective dwa.label_layer=1' RUNS=mlm:1 XLM_LAUNCH=env DICTIONARY=none \
    "$XLM_SOURCE/jobs/small/study" out/1x64-1 ud
# Mistakes of runs and settings are found before anything is made.
expect 64 'no run of RUNS has \[objective align\]' env XLM_LAUNCH=env DICTIONARY=none XLM_FETCH=false RUNS=mlm:1 \
    SETTINGS='objective align.weight=2' "$XLM_SOURCE/jobs/combinations/growth" new ud
[ ! -e new ] || fail "something was made for settings that no run has"

# HOURS are of all runs together: a run gets what those before have left, and without time none begins. A study that sleeps stands
# in for the real one.
cp -r "$XLM_SOURCE/jobs" jobs && chmod -R u+w jobs # that of make distcheck is read-only
cat >jobs/small/study <<'END'
#!/bin/sh
[ "$1" != --check ] || exit 0
echo "$HOURS" >>left
[ "$(wc -l <left)" -lt 2 ] || exit 75
sleep 2
END
printf '%s\n' '#!/bin/sh' >jobs/combinations/compare
code=0
env XLM_LAUNCH=env HOURS=1 MODELS='3x64 1x128' SHARES=1 RUNS=mlm:1 jobs/combinations/growth out ud >log 2>&1 || code=$?
[ "$code" -eq 75 ] &&
    awk '{ hours[NR] = $1 } END { exit !(NR == 2 && hours[1] <= 1 && hours[2] > 0.9 && hours[2] < hours[1]) }' left ||
    fail "hours left: $code: $(cat left) $(tail -n 3 log)"
: >left
expect 75 'growth: the time of HOURS=0.0 is over' env XLM_LAUNCH=env HOURS=0.0 MODELS=3x64 SHARES=1 RUNS=mlm:1 \
    jobs/combinations/growth out ud
[ ! -s left ] || fail "a run begins without time"
expect 64 'MODELS, SHARES and RUNS have one each at least' env XLM_LAUNCH=env LANGUAGE=pt-br RUNS= jobs/combinations/growth out ud
expect 64 'LANGUAGE: pt_br: the name of' env XLM_LAUNCH=env LANGUAGE=pt_br jobs/combinations/growth out ud
expect 64 'HOURS: long: not a number' env XLM_LAUNCH=env HOURS=long jobs/combinations/growth out ud

for wrong in MODELS=big MODELS=2x100 SHARES=2 SHARES=0 SHARES=half MODELS= SHARES= RUNS= LANGUAGE=en_US:en \
    MODELS="$(seq -f '%gx64' -s ' ' 16)"; do
    code=0
    growth "$wrong" || code=$?
    [ "$code" -eq 64 ] || fail "$wrong: $code: $(tail -n 3 log)"
done
expect 64 'there is no such option' "$XLM_SOURCE/jobs/combinations/growth" --what out ud
finish
