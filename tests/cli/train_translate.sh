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
reproduced short.conf out 4
for direction in mean en-xx xx-en; do
    [ "$(values out-1 dev bleu score $direction | cut -d ' ' -f 1 | paste -sd ' ')" = '4 8' ] ||
        fail "not the scores of $direction: $(grep ,dev, out-1/metrics.csv)"
done
[ -n "$(value out-1 8 held_out nmt loss all)" ] || fail "no losses beside the scores: $(cat out-1/metrics.csv)"
cmp out-1/translations.tsv out-4/translations.tsv || fail "examples of 1 and 4 ranks differ"
cmp out-1/best-translations.tsv out-4/best-translations.tsv || fail "best examples of 1 and 4 ranks differ"
[ "$(wc -l <out-1/translations.tsv)" -eq 7 ] &&
    head -n 1 out-1/translations.tsv | grep -q '^step	direction	source	reference	translation$' ||
    fail "not the examples: $(cat out-1/translations.tsv)"
# What the decoder attended to: the same bits; a distribution over the source for each token written.
for direction in en-xx xx-en; do
    file=attention-$direction.h5
    for data in /layer.2/values /rows /columns /source /target; do
        same_objects "out-1/$file" "out-4/$file" $data || fail "$data of $file of 1 and 4 ranks differ"
    done
    [ "$(attribute /step "out-1/$file")" = 8 ] && [ "$(numbers /rows "out-1/$file" | wc -l)" = 3 ] ||
        fail "not the examples: $(h5ls -r "out-1/$file")"
    { numbers /rows "out-1/$file"; numbers /columns "out-1/$file"; numbers /layer.2/values "out-1/$file"; } | awk '
        NR <= 3 { rows[NR] = $1; next }
        NR <= 6 { columns[NR - 3] = $1; next }
        { value[++n] = $1 }
        END {
            for (p = 1; p <= 3; p++) {
                for (j = 1; j <= columns[p]; j++) {
                    for (sum = i = 0; i < rows[p]; i++) { x = value[at + i * columns[p] + j]; sum += x; bad += x < 0 }
                    bad += sum < 0.999 || sum > 1.001
                }
                at += rows[p] * columns[p]
            }
            exit !(n > 0 && at == n && bad == 0)
        }' || fail "$file: $(h5dump -d /layer.2/values "out-1/$file" | head -n 20)"
done
# How many pairs are translated of how many, and whether these are few; a dev set of its own, nearly all of it held out.
held=$(numbers /held_out/parallel/en-xx/links corpus.h5 | wc -l)
grep -q "^.evaluate.: en-xx: 20 of $((held / 2)) held-out pairs are translated for bleu" out-1.log &&
    [ "$(grep -c 'warning: .evaluate.: ..-..: the corpus has only' out-1.log)" -eq $((held < 400 ? 2 : 0)) ] ||
    fail "of $held held-out sentences: $(grep evaluate out-1.log)"
logged dev.log xlm_prep --like corpus.h5 --held-out 0.9 --para en-xx=text.en,text.xx -o dev.h5
logged two.log ranks 2 xlm_train short.conf --dry-run --set train.corpus=corpus.h5,dev.h5 --set train.output=none
pairs=$(sed -n 's/^.evaluate.: en-xx: 20 of \([0-9]*\) held-out pairs.*/\1/p' two.log)
[ "${pairs:-0}" -gt 500 ] && ! grep 'corpus has only' two.log || fail "a dev set of its own: $(cat two.log)"
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
[ "$(cut -f 1 learn/best-translations.tsv | sort -u | paste -sd ' ')" = "$step step" ] &&
    [ "$(awk -F '\t' '$2 == "en-xx" { print $5 }' learn/best-translations.tsv)" = "$(head -n 3 made.xx)" ] ||
    fail "not the best translations: $(cat learn/best-translations.tsv)"
# The heat maps of the newest evaluation are what xlm_translate links by: of each token of the translation the strongest source.
head -n 3 pairs.en >newest.en
logged translate.log xlm_translate "learn/$(readlink learn/latest)" --from en --to xx --beam 2 newest.en -o newest.xx \
    --alignment newest.links
file=learn/attention-en-xx.h5
# Both sides number their words from 0; <s> and </s> are no words.
sources=$(numbers /rows $file | head -n 1) targets=$(numbers /columns $file | head -n 1)
numbers /source/words $file | head -n "$sources" | sed -n '1p; 2p; $p' | paste -sd ' ' | grep -qx -e '-1 0 -1' &&
    numbers /target/words $file | head -n "$targets" | sed -n '1p; $p' | paste -sd ' ' | grep -qx '0 -1' ||
    fail "not the numbers of words: $(h5dump -d /source/words -d /target/words $file | head -n 30)"
for data in /rows /columns /source/words /target/words /layer.2/values; do numbers $data $file | sed "s#^#$data #"; done | awk '
    { x[$1, n[$1]++] = $2 }
    END {
        for (p = 0; p < 3; p++) {
            rows = x["/rows", p]; columns = x["/columns", p]
            for (i = 1; i < rows - 1; i++)
                for (j = 0; j < columns - 1; j++) {
                    for (above = k = 1; k < rows - 1; k++)
                        above = above && x["/layer.2/values", at + k * columns + j] <= x["/layer.2/values", at + i * columns + j]
                    link = x["/source/words", s + i] "-" x["/target/words", t + j]
                    if (above && !((p, link) in seen)) { seen[p, link]; print p, link }
                }
            at += rows * columns; s += rows; t += columns
        }
    }' | sort >newest.maps
awk '{ for (i = 1; i <= NF; i++) print NR - 1, $i }' newest.links | sort | cmp - newest.maps ||
    fail "heat maps and links differ: $(cat newest.links newest.maps)"
if command -v gnuplot >/dev/null; then
    logged report.log xlm_report learn -o learn.html
    for text in 'Scores of translations' 'Examples of translations' '<caption>Pair 0: en down, xx to the right, layer 2'; do
        grep -qF "$text" learn.html || fail "learn.html has no $text"
    done
    [ "$(grep -c '<table class="heat">' learn.html)" -eq 6 ] || fail "heat maps: $(grep -c '<table class="heat">' learn.html)"
    cut -f 5 learn/translations.tsv | sed '1d; s/&/\&amp;/g; s/"/\&quot;/g' | while read -r text; do
        grep -qF "$text</td>" learn.html || echo "$text"
    done >missing
    [ ! -s missing ] || fail "learn.html has not the translations: $(cat missing)"
fi
is_between 0.1 "$(value learn "$step" dev bleu score mean)" 100 || fail "no scores: $(grep ,dev, learn/metrics.csv)"
highest=$(values learn dev bleu score mean | sort -k 2 -g | tail -n 1 | cut -d ' ' -f 1)
[ "$highest" = "$step" ] || fail "the best of learn is $best, and the highest score is of step $highest"

# ---- patience; a run that was begun without [evaluate] ----
trained short.conf patient 1 --set train.steps=40 --set train.learning_rate=1e-12 --set evaluate.patience=2
grep -q 'stopped early: no better score' patient.log && [ "$(last_step patient)" = 12 ] || fail "not stopped: $(tail -n 3 patient.log)"
grep -q '^stopped: 12 steps .*; held-out loss [^;]*; bleu \([0-9.]*\), best \1 at step 4;' patient.log ||
    fail "not the best score in the summary: $(tail -n 1 patient.log)"
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
job_refused 'evaluate.: translate has 2 directions, and without language embeddings or tokens' short.conf \
    --set model.language_embeddings=false --set 'stream pairs.shuffle_sides=false'
refused_on=2 job_refused 'evaluate.: beam = 1000 is larger than the vocabulary, which has [0-9]* tokens that are not special' short.conf \
    --set evaluate.beam=1000
job_refused 'evaluate.patience: patience counts evaluations' short.conf --set evaluate.patience=2 --set train.evaluate_every=0
finish
