#!/usr/bin/env bash
# xlm-mpi: the jobs and the studies of translation, from text to table, with a few steps.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
jobs=$XLM_SOURCE/jobs
export XLM_LAUNCH=env
unset DICTIONARY
rows() { awk -F'\t' -v run="$1" '$1 == run' "$2"; }
# says CHECKPOINT PATTERN...: each is in the job that it records.
says() {
    local pattern
    h5dump -a /job/text "$1" >job.txt || fail "$1 cannot be read"
    for pattern in "${@:2}"; do grep -q -e "$pattern" job.txt || fail "$1: the job has no $pattern"; done
}
# not_seen FILE OTHER: no line is in both.
not_seen() { ! grep -qxFf "$1" "$2" || fail "$2 has sentences of $1: $(grep -xFf "$1" "$2" | head -n 2)"; }

# ---- the small study: text, with a sentence that occurs in two pairs, and some that have no translation ----
mkdir -p out/text
{ cat text.en; sed -n 1p text.en; } >out/text/en-xx.en
{ cat text.xx; echo 'syonyg'; } >out/text/en-xx.xx
{ cat text.en; printf 'the %s often sleeps .\n' house river teacher garden; } >out/text/mono.en
{ cat text.xx; printf '. spyeeyels yonytfyo %s\n' house river teacher; } >out/text/mono.xx
study() { # RUNS [NAME=VALUE...]
    env RUNS="$1" LANGUAGE=xx STEPS=2 START_STEPS=2 TEST_EVERY=100 PAIRS=200 PREP='--words space --bpe 100 --held-out 0.03' \
        SETTINGS='model.layers=1; model.hidden_size=16; model.attention_heads=2; train.evaluate_instances=8' "${@:2}" \
        "$jobs/translation/small/study" out
}
study '' >log 2>&1 || fail "no runs: $(tail -n 5 log)"
echo 'house hyoyusye' >pair.txt
logged dict.log xlm_dict out/corpus.h5 --source en --target xx --text pair.txt --subwords first -o out/dictionary.h5
three='unmt/mass+gc:1 few+back:2 unmt/mlm+align:1'
study "$three" DICTIONARY=here >log 2>&1 || fail "study: $(tail -n 5 log)"
text=out/text
[ "$(wc -l <$text/test.en) $(wc -l <$text/test.xx)" = '6 6' ] || fail "not six test sentences: $(wc -l $text/test.*)"
for file in train sentences; do for l in en xx; do not_seen $text/test.$l $text/$file.$l; done; done
grep -qx 'the house often sleeps .' $text/sentences.en && grep -qx '. spyeeyels yonytfyo house' $text/sentences.xx ||
    fail "sentences without translation are left out"
# No English sentence has its translation among the sentences of the other language, and each about half of the pairs.
paste -d '\t' out/text/en-xx.en out/text/en-xx.xx | awk -F '\t' '
    FILENAME ~ /en$/ { en[$0]; next } FILENAME ~ /xx$/ { xx[$0]; next }
    { n++; a += $1 in en; b += $2 in xx; both += $1 in en && $2 in xx }
    END { exit both || a < n / 3 || a > 2 * n / 3 || b < n / 4 || b > 2 * n / 3 }' $text/sentences.en $text/sentences.xx - ||
    fail "pairs were divided wrongly: $(wc -l $text/*)"
says out/runs/unmt-mass+gc-1-2-2/latest 'source_languages = en,xx' 'start = .*/out/start/mass+gc-1-2/latest' \
    'decoder_layers = 3' 'seed = 1'
! grep -q 'objective denoise' job.txt || fail "mass is followed by denoising"
says out/start/mass+gc-1-2/latest 'mask_unit = fragment' 'plugin = gc'
! grep -q '^\[stream text' job.txt || fail "gc beside mass reads a stream of its own"
says out/runs/unmt-mlm+align-1-2-2/latest 'weight = 0:1,1:0.1,2:0' 'noise_shuffle = 3'
says out/start/mlm+align-1-2/latest 'decoder_layers = 0' 'plugin = align'
says out/runs/few+back-2-2/best 'share = 0.3[0-9]*' 'translate = en-xx,xx-en' 'label_smoothing = 0.1' 'seed = 2'
for run in unmt/mass+gc few+back unmt/mlm+align; do
    rows $run out/scores.tsv | awk -F'\t' '{ for (i = 5; i <= 7; i++) if ($i !~ /^[0-9.]+$/ || $i > 100) bad = 1; way[$4] }
        END { exit bad || NR != 2 || NF != 8 || !("en-xx" in way && "xx-en" in way) }' ||
        fail "scores of $run: $(cat out/scores.tsv)"
done
xlm_bleu out/runs/few+back-2-2/test.xx $text/test.xx --metric chrf --json | grep -q "\"score\": $(rows few+back out/scores.tsv |
    awk -F'\t' '$4 == "en-xx" { print substr($7, 1, length($7) - 1) }')" ||
    fail "not the score of its translations: $(cat out/scores.tsv)"
grep -q '^unmt/mass+gc  *1 .* 28.7 36.5$' out/scores.txt || fail "the table: $(cat out/scores.txt)"

# What is finished is not made again, and what the dictionary was made of is not needed; several seeds have a mean.
cp out/scores.tsv before.tsv
study "$three" >log 2>&1 || fail "again: $(tail -n 5 log)"
! grep -q '^step ' log && cmp before.tsv out/scores.tsv || fail "finished runs were made again"
# What was made with other settings is not taken for what is asked for; the number of pairs is that of runs with few.
for other in PAIRS=100 TEST_EVERY=50 'PREP=--words space --bpe 90 --held-out 0.03' SETTINGS=model.layers=1; do
    expect 64 "was made with .*${other%%=*}=.*; give that again, take another DIR" study few+back:2 "$other"
done
expect 64 'out/start/mlm+align-1-2 was made with SETTINGS=.*evaluate_instances=8;' \
    study unmt/mlm+align:1 STEPS=3 SETTINGS=model.layers=1 DICTIONARY=here
study 'unmt/mlm+align:1' PAIRS=100 DICTIONARY=here >log 2>&1 || fail "without few pairs: $(tail -n 5 log)"
study 'few+back:2 few+back:3' >log 2>&1 || fail "seeds: $(tail -n 5 log)"
grep -q '^few+back  *mean ' out/scores.txt || fail "no mean: $(cat out/scores.txt)"
# The time limit stops a run with a checkpoint, if it has had time to begin; without time none begins.
for hours in 0.001 0.003 0.01 0.03 0.1 0.3; do
    code=0
    study supervised:1 HOURS=$hours STEPS=1000000 >log 2>&1 || code=$?
    [ "$code" -eq 75 ] && grep -q "study: the time of HOURS=$hours is over" log || fail "the time limit: $code: $(tail -n 3 log)"
    [ ! -e out/runs/supervised-1-1000000/latest ] || break
done
[ -e out/runs/supervised-1-1000000/latest ] && [ ! -e out/runs/supervised-1-1000000/finished ] ||
    fail "not stopped: $(tail -n 3 log)"
expect 75 'the time of HOURS=0.0 is over' study supervised:1 HOURS=0.0
[ ! -e out/runs/supervised-1-2 ] || fail "a run has begun without time"

expect 64 'there is no such run' study 'nmt:1'
expect 64 'not NAME:SEED' study 'unmt/:1'
expect 64 'no objective "tlm"' study 'unmt/mlm+tlm:1'
expect 64 'gc is computed at masked words' study 'unmt/gc:1'
expect 64 'align needs a dictionary' study 'unmt/mlm+align:1' DICTIONARY=
expect 64 'align needs a dictionary' study 'unmt/mlm+align:1' DICTIONARY=none
# Before there is text.
expect 66 'DICTIONARY: there is no words.index' env DICTIONARY=words XLM_FETCH=false "$jobs/translation/small/study" new
[ ! -e new ] || fail "something was made without the dictionary"
expect 64 'STEPS: 0: not a number' study few:1 STEPS=0
expect 64 'HOURS: long' study few:1 HOURS=long
expect 64 'LANGUAGE: en' study few:1 LANGUAGE=en
expect 64 'usage' "$jobs/translation/small/study"

# ---- the full-scale jobs of translation, made tiny ----
small=(--set train.corpus=out/corpus.h5 --set evaluate.translate=en-xx,xx-en --set model.layers=1 --set model.decoder_layers=1
    --set model.hidden_size=16 --set model.feed_forward_size=32 --set train.steps=2 --set train.micro_batches=1
    --set train.evaluate_instances=8 --set evaluate.sentences=4 --set "stream pairs.batch=8")
logged base.log xlm_train "$jobs/translation/base.conf" "${small[@]}" --dry-run
trained "$jobs/translation/base-back.conf" base-back 1 "${small[@]}" --set "objective back.source_languages=en,xx" \
    --set "objective back.begin=0" --set "stream text.batch=8"
[ -n "$(values base-back train back loss)" ] || fail "no back-translation: $(tail -n 3 base-back.log)"

# ---- unsupervised translation of MLM-GC: pre-trained by its study, then trained for translation and scored ----
keys='model.layers=1; model.hidden_size=16; model.attention_heads=2; model.feed_forward_size=32'
cp text.xx text.de
export MONO_UNMT_DE='en=text.en de=text.de' PARA_UNMT_DE='en-de=text.en,text.de' STEPS=2
export PREP='--words space --bpe 100 --held-out 0.03' MEASURE='--length 32 --instances 4'
RUNS=unmt-de/mass-gc:3 SETTINGS="$keys; train.micro_batches=2; stream text.batch=8" "$jobs/mlm-gc/study" mlm-gc >log 2>&1 ||
    fail "pre-training: $(tail -n 3 log)"
says mlm-gc/runs/unmt-de/mass-gc-3-2/latest 'plugin = mass' 'cooccurrence = .*cooc-2.h5'
unmt() { START_STEPS=2 "$jobs/mlm-gc/unmt" "$@" mlm-gc >log 2>&1; }
START=mlm-gc/runs/unmt-de/mass-gc-3-2/latest RUNS='de/xlm de/gc de/mass de/mass-gc' unmt --dry-run ||
    fail "dry run: $(tail -n 3 log)"
[ "$(grep -c '^time: ' log)" -eq 4 ] && grep -q 'noisy-other.languages=de' log ||
    fail "not four good jobs: $(grep '^xlm_train: ' log)"
head -n 5 text.en >test.en && head -n 5 text.de >test.de
mkdir 'with blanks' && cp test.en test.de 'with blanks'
export TEST_DE='with blanks/test.en,with blanks/test.de' RAW_DE='with blanks/test.en,with blanks/test.de' DETOKENISE="$PWD/detokenise" RUNS=de/mass-gc:3
printf '%s\n' '#!/bin/sh' 'echo "$1" >>languages' 'sed "s/ \.$/./"' >detokenise && chmod +x detokenise
export SETTINGS='train.micro_batches=2; stream english.batch=4; stream other.batch=4; evaluate.sentences=4'
unmt || fail "unmt: $(tail -n 5 log)"
says mlm-gc/runs/de/mass-gc-3-2/latest 'start = .*/unmt-de/mass-gc-3-2/latest' 'beta2 = 0.997' 'plugin = back-translation'
[ "$(rows de/mass-gc mlm-gc/scores.tsv | cut -f 2-4 | paste -s -d ' ')" = "$(printf '3\t2\tde-en 3\t2\ten-de')" ] ||
    fail "scores: $(cat mlm-gc/scores.tsv)"
grep -q '^de/mass-gc  *3  *2 .*table 4 and 9: 36.5 28.7; 36.3 28.5$' log || fail "the table: $(tail -n 14 log)"
[ "$(paste -s -d ' ' languages)" = 'en de' ] || fail "detokenised: $(cat languages)"
unmt && ! grep -q '^step ' log && [ "$(wc -l <mlm-gc/scores.tsv)" -eq 3 ] || fail "again: $(tail -n 3 log)"
# Another number of lines is no score of 0.
rm mlm-gc/runs/de/mass-gc-3-2/scores.tsv
expect 65 'xlm_bleu: ' env RAW_DE=text.en,text.de START_STEPS=2 "$jobs/mlm-gc/unmt" mlm-gc
[ ! -e mlm-gc/runs/de/mass-gc-3-2/scores.tsv ] || fail "scored: $(cat mlm-gc/runs/de/mass-gc-3-2/scores.tsv)"
expect 66 'make it and the model to begin with: RUNS=unmt-ro/xlm' env RUNS=ro/xlm "$jobs/mlm-gc/unmt" other
expect 66 'TEST_DE: there is no none' env TEST_DE=none,test.de "$jobs/mlm-gc/unmt" mlm-gc
expect 64 'not two files' env TEST_DE=test.de "$jobs/mlm-gc/unmt" mlm-gc
finish
