#!/usr/bin/env bash
# xlm-mpi: translations of held-out pairs that are scored during a run ([evaluate]). SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

{ eight_steps 4 -e '/^.stream text/,$d' -e 's/^layers = .*/&\ndecoder_layers = 2/'
  printf '[evaluate]\ntranslate = en-xx,xx-en\nsentences = 20\nexamples = 3\n'
  printf '[stream pairs]\ntype = parallel\nform = bert\nshuffle_sides = true\nbatch = 8\nlength = 32\n'
  printf '[objective nmt]\nplugin = seq2seq\nstream = pairs\n'; } >short.conf
sed 's/^steps = .*/steps = 90/; s/^warmup = .*/warmup = 20/; s/^learning_rate = .*/learning_rate = 3e-3/
    s/^hidden_size = .*/hidden_size = 32/; s/^evaluate_every = .*/evaluate_every = 30/
    s/^checkpoint_every = .*/checkpoint_every = 0/' short.conf >learn.conf

# ---- scores of each evaluation, beside losses; the best checkpoint; the same on any number of ranks, resumed ----
reproduced short.conf out 2 4
for direction in mean en-xx xx-en; do
    [ "$(values out-1 dev bleu score $direction | cut -d ' ' -f 1 | paste -sd ' ')" = '4 8' ] ||
        fail "not the scores of $direction: $(grep ,dev, out-1/metrics.csv)"
done
[ -n "$(value out-1 8 held_out nmt loss all)" ] || fail "no losses beside the scores: $(cat out-1/metrics.csv)"
cmp out-1/translations.tsv out-4/translations.tsv || fail "examples of 1 and 4 ranks differ"
[ "$(wc -l <out-1/translations.tsv)" -eq 7 ] &&
    head -n 1 out-1/translations.tsv | grep -q '^step	direction	source	reference	translation$' ||
    fail "not the examples: $(cat out-1/translations.tsv)"
trained short.conf memory 1 --set train.steps=4 --set train.micro_batches=1 --set 'stream pairs.batch=1' \
    --set evaluate.sentences=0 --set evaluate.beam=8
estimated memory.log

# ---- what xlm_translate and xlm_bleu make of it ----
trained learn.conf learn 2 --set model.dropout=0 --set model.attention_dropout=0 --set evaluate.sentences=0 --set evaluate.beam=2
numbers /held_out/parallel/en-xx/links corpus.h5 | paste - - >links.txt
for l in en xx; do decode corpus.h5 held_out $l >held.$l; done
awk 'FILENAME == "held.en" { en[n++] = $0; next } FILENAME == "held.xx" { xx[m++] = $0; next }
    { print en[$1] >"pairs.en"; print xx[$2] >"pairs.xx" }' held.en held.xx links.txt
best=$(readlink learn/best) step=$(readlink learn/best | sed 's/^checkpoint-0*\(.*\)\.h5$/\1/')
for direction in en-xx xx-en; do
    from=${direction%-*} to=${direction#*-}
    logged translate.log xlm_translate "learn/$best" --from "$from" --to "$to" --beam 2 "pairs.$from" -o "made.$to"
    xlm_bleu "made.$to" "pairs.$to" --json >bleu.json 2>bleu.log || fail "$(cat bleu.log)"
    score=$(sed -n 's/.*"score": *\([0-9.]*\).*/\1/p' bleu.json | head -n 1)
    is_near "$(value learn "$step" dev bleu score $direction)" "$score" 0.01 ||
        fail "$direction: not what xlm_bleu says: $(cat bleu.json; grep ,dev, learn/metrics.csv)"
done
is_between 0.1 "$(value learn "$step" dev bleu score mean)" 100 || fail "no scores: $(grep ,dev, learn/metrics.csv)"
highest=$(values learn dev bleu score mean | sort -k 2 -g | tail -n 1 | cut -d ' ' -f 1)
[ "$highest" = "$step" ] || fail "the best of learn is $best, and the highest score is of step $highest"

# ---- patience; a run that was begun without [evaluate] ----
trained short.conf patient 1 --set train.steps=40 --set train.learning_rate=1e-12 --set evaluate.patience=2
grep -q 'stopped early: no better score' patient.log && [ "$(last_step patient)" = 12 ] || fail "not stopped: $(tail -n 3 patient.log)"
sed '/^.evaluate/,/^examples/d' short.conf >without.conf
trained without.conf later 1 --set train.steps=4 --set train.warmup=2
trained short.conf later 1
[ "$(values later dev bleu score mean | wc -l)" = 1 ] && [ "$(readlink later/best)" = "$(checkpoint 8)" ] ||
    fail "not scored: $(tail -n 3 later.log)"
for metric in chrf chrf++; do
    trained short.conf metric 1 --resume never --set evaluate.metric=$metric --set evaluate.translate=xx-en --set train.steps=4
    is_between 0.01 "$(value metric 4 dev $metric score xx-en)" 100 || fail "no $metric: $(grep ,dev, metric/metrics.csv)"
done

# ---- refused by name ----
job_refused 'evaluate.: translate = en-de: .*corpus.h5 has no such held-out pairs; it has en-xx, xx-en' short.conf \
    --set evaluate.translate=en-de
job_refused 'evaluate.: translate has en-xx twice' short.conf --set evaluate.translate=en-xx,en-xx
job_refused 'evaluate.: translate needs a decoder' short.conf --set model.decoder_layers=0
job_refused 'evaluate.: translate has 2 directions, and without language embeddings' short.conf \
    --set model.language_embeddings=false --set 'stream pairs.shuffle_sides=false'
job_refused 'evaluate.: patience counts evaluations' short.conf --set evaluate.patience=2 --set train.evaluate_every=0
finish
