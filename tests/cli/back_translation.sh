#!/usr/bin/env bash
# xlm-mpi: unsupervised translation by denoising and back-translation, as a user trains it.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# ---- XLM's recipe: two streams of text with noise, whose weight falls, and two with back-translation ----
text() { printf '[stream %s]\nlanguages = %s\nbatch = 8\nlength = 32\njoin_sentences = false\nmask = 0\n' "$1" "$2"; }
noise() { printf 'noise_shuffle = 3\nnoise_drop = 0.1\nnoise_blank = 0.1\n'; }
denoise() { printf '[objective noise-%s]\nplugin = seq2seq\nstream = noisy-%s\nweight = 0:1,4:0.5,7:0\n' "$1" "$1"; }
back() { printf '[objective back-%s]\nplugin = back-translation\nstream = %s\nsource_languages = %s\n' "$1" "$1" "$2"; }
top() { eight_steps 4 -e '/^.stream text/,$d' -e 's/^layers = .*/&\ndecoder_layers = 2/' "$@"; }
{ top; for l in en xx; do text noisy-$l $l; noise; text $l $l; denoise $l; done
  back en xx; back xx en; echo temperature = 0.8; } >unmt.conf

reproduced unmt.conf out 4
for name in back-en back-xx; do
    is_between 1 "$(value out-1 8 held_out $name loss all)" 6 || fail "$name is not evaluated: $(grep held_out out-1/metrics.csv)"
    is_between 0.1 "$(value out-1 1 train $name/length_ratio score)" 4 || fail "no length: $(grep $name out-1/metrics.csv)"
done
[ "$(attribute /job/translations out-1/latest)" = '"xx-en,en-xx"' ] || fail "it translates $(attribute /job/translations out-1/latest)"
trained unmt.conf recomputed 1 --set train.recompute=true
same_bits out-1 recomputed
# A rank is killed: the last checkpoint goes on to what a run through is.
long_run=(--set train.schedule=constant --set train.steps)
start 2 xlm_train unmt.conf --set train.output=killed "${long_run[@]}=100000" >killed.log 2>&1
until [ -e killed/latest ] || ! kill -0 "$launcher"; do sleep 0.02; done # not later: it goes on from there
kill -KILL "$(rank_processes | tail -n 1)"
ended
[ "$code" -ne 0 ] || fail "killed, and well: $(tail -n 3 killed.log)"
# It may have been killed between giving a checkpoint its name and pointing at it.
from=$(printf '%s\n' killed/checkpoint-*.h5 | sed -n '$s/.*checkpoint-0*\(.*\)\.h5$/\1/p')
logged go-on.log ranks 2 xlm_train unmt.conf --set train.output=killed "${long_run[@]}=$((from + 2))"
logged through.log ranks 1 xlm_train unmt.conf --set train.output=through "${long_run[@]}=$((from + 2))"
grep -q 'resum' go-on.log || fail "not resumed: $(cat go-on.log)"
same_bits through killed
{ top; text en en; back en xx; } >one.conf
# (through several layers of a decoder: mass.sh, seq2seq.sh)
right_gradients one.conf --set train.output=shallow --set model.layers=1 --set model.decoder_layers=1 \
    --set model.attention_heads=2 --set train.micro_batches=8
for n in 1 2; do logged "dump-$n.log" ranks $n xlm_train unmt.conf --dump-step "dump-$n.h5" --set "train.output=dump-$n"; done
same_objects dump-1.h5 dump-2.h5 >diff.log 2>&1 || fail "dumps of 1 and 2 ranks differ: $(tail -n 3 diff.log)"
made() { numbers "/objectives/back-en/made_text/$1" dump-1.h5; }
[ "$(made languages | sort -u)" = 1 ] || fail "the translations of en are not in xx: $(made languages | sort | uniq -c)"
XLM_BF16_EMULATE=1 trained unmt.conf rounded 1 --set train.precision=bfloat16 --set train.steps=2
is_near "$(value rounded 1 train noise-en loss)" "$(value out-1 1 train noise-en loss)" 0.05 ||
    fail "bfloat16: $(cat rounded/metrics.csv)"

# ---- from a few pairs and much text: it learns from its own translations, and these get a length ----
{ top | sed 's/^steps = .*/steps = 90/; s/^warmup = .*/warmup = 20/; s/^learning_rate = .*/learning_rate = 3e-3/
      s/^hidden_size = .*/hidden_size = 32/; s/^\(checkpoint_every\|evaluate_every\) = .*/\1 = 0/'
  printf '[stream pairs]\ntype = parallel\nform = bert\nshuffle_sides = true\nbatch = 8\nlength = 32\n'
  printf '[stream text]\nbatch = 8\nlength = 32\njoin_sentences = false\nmask = 0\n'
  printf '[objective nmt]\nplugin = seq2seq\nstream = pairs\n[objective back]\nplugin = back-translation\nstream = text\n'
  printf 'source_languages = en,xx\n'; } >learn.conf
trained learn.conf learn 1 --set model.dropout=0 --set model.attention_dropout=0
is_between 0.5 "$(value learn 90 train back/accuracy score)" 1 ||
    fail "it does not learn: $(values learn train back/accuracy score | tail -n 3)"
is_between 0.7 "$(value learn 90 train back/length_ratio score)" 1.3 ||
    fail "lengths of translations: $(values learn train back/length_ratio score | tail -n 3)"
trained learn.conf memory 1 --set train.steps=2 --set train.micro_batches=1 --set 'stream text.batch=32' --resume never
estimated memory.log

# ---- refused by name ----
expect 78 'objective back-xx.*top_k = 100000 is more than the vocabulary has' xlm_train unmt.conf --dry-run \
    --set 'objective back-xx.top_k=100000'
expect 78 'objective back-en.*source_languages' xlm_train <(grep -v '^source_languages' unmt.conf) --dry-run
refused_on=2 job_refused 'objective back-en.: source_languages: the corpus has no language fr' unmt.conf \
    --set 'objective back-en.source_languages=fr'
job_refused 'objective back-en.: .stream en. has text in en, and source_languages has no other' unmt.conf \
    --set 'objective back-en.source_languages=en'
job_refused 'objective back.: .stream text. has text in xx, and source_languages has no other' learn.conf \
    --set 'objective back.source_languages=xx'
job_refused 'set join_sentences = false' unmt.conf --set 'stream en.join_sentences=true'
job_refused 'objective back-en.: without language embeddings or tokens' unmt.conf --set model.language_embeddings=false
finish
