#!/usr/bin/env bash
# xlm-mpi: a decoder: translation, denoising and causal language modelling, as a user trains them.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# top [SED OPTION...]: [model] and [train]; then streams and objectives.
top() { eight_steps 4 -e '/^.stream text/,$d' "$@"; }
text() { printf '[stream text]\nbatch = 8\nlength = 48\n'; }
pairs() { printf '[stream pairs]\ntype = parallel\nform = bert\nshuffle_sides = true\nbatch = 8\nlength = 32\n'; }
objective() { printf '[objective %s]\nplugin = %s\nstream = %s\n' "$@"; }
three='s/^layers = .*/&\ndecoder_layers = 3/'
{ top -e "$three"; text; pairs; objective clm clm text; objective seq2seq seq2seq pairs; } >job2.conf

# ---- the same bits on any number of ranks, resumed, recomputed; evaluated; estimated ----
reproduced job2.conf out 4
is_between 1 "$(value out-1 8 held_out seq2seq loss all)" 6 || fail "not evaluated: $(grep held_out out-1/metrics.csv)"
trained job2.conf recomputed 1 --set train.recompute=true
same_bits out-1 recomputed
trained job2.conf memory 1 --set train.steps=3 --set train.micro_batches=1 --set 'stream pairs.batch=32'
estimated memory.log
# Many passes are made of it, so it is small. It has been trained for some steps, because more gradients of a fresh one are lost
# in rounding.
shallow=(--set train.output=shallow --set model.layers=1 --set model.decoder_layers=2 --set model.hidden_size=8
    --set model.attention_heads=2 --set 'stream text.length=8' --set 'stream text.batch=4' --set 'stream pairs.length=16'
    --set 'stream pairs.batch=4' --set train.steps=20 --set train.learning_rate=2e-2 --set train.evaluate_every=0)
logged shallow.log xlm_train job2.conf "${shallow[@]}"
right_gradients job2.conf "${shallow[@]}"
grep -q '^decoder/layer.1/memory_attention/key/weight' check.txt || fail "the decoder's gradients were not checked: $(cat check.txt)"
for n in 1 2; do logged "dump-$n.log" ranks $n xlm_train job2.conf --dump-step "dump-$n.h5" --set "train.output=dump-$n"; done
same_objects dump-1.h5 dump-2.h5 >diff.log 2>&1 || fail "dumps of 1 and 2 ranks differ: $(tail -n 3 diff.log)"
XLM_BF16_EMULATE=1 trained job2.conf rounded 1 --set train.precision=bfloat16
agree out-1 rounded 0.02
trained job2.conf shared 1 --set model.share_layers=true
h5ls -r shared/latest | grep -q '/model/decoder/layer.shared/memory_attention/key/weight' && ! h5ls -r shared/latest | grep -q layer.0 ||
    fail "the layers are not shared: $(h5ls -r shared/latest | grep decoder)"
# same, other PATH FILE PATH FILE: two datasets of numbers; neither is empty.
same() { numbers "$1" "$2" >these && [ -s these ] && cmp -s these <(numbers "$3" "$4"); }
other() { other_text <(numbers "$1" "$2") <(numbers "$3" "$4"); }
h5ls -r out-1/latest | grep -q '/model/decoder/layer.2/memory_attention/value/bias' || fail "no decoder in the checkpoint: $(h5ls -r out-1/latest)"

# ---- it learns to translate, both ways, and to undo noise ----
bare() {
    top -e "$three" | sed 's/^steps = .*/steps = 150/; s/^warmup = .*/warmup = 20/; s/^learning_rate = .*/learning_rate = 3e-3/
        s/^hidden_size = .*/hidden_size = 32/; s/^\(checkpoint_every\|evaluate_every\) = .*/\1 = 0/'
}
dry=(--set model.dropout=0 --set model.attention_dropout=0)
{ bare; pairs; objective nmt seq2seq pairs; } >nmt.conf
trained nmt.conf nmt 1 "${dry[@]}"
is_between 0.5 "$(value nmt 150 train nmt/accuracy score)" 1 ||
    fail "it does not learn to translate: $(values nmt train nmt/accuracy score | tail -n 3)"
# Without language embeddings a decoder cannot know into which language; with one target it need not.
logged untold.log xlm_train nmt.conf --set model.language_embeddings=false --set train.steps=1 --set train.warmup=0 \
    --set train.output=untold
grep -q 'stream pairs. has translations into several languages, and without language embeddings or tokens' untold.log ||
    fail "no warning of a decoder without language: $(cat untold.log)"
head -n 1 text.xx | xlm_translate untold/latest --from xx --to en >/dev/null 2>untold.log
grep -q 'untold/latest: .* into several languages (en-xx,xx-en), and without language embeddings or tokens' untold.log ||
    fail "xlm_translate does not warn of it: $(cat untold.log)"
# A token of the language tells it, too; then the language is asked for.
logged told.log xlm_train nmt.conf --set model.language_embeddings=false --set model.language_tokens=true --set train.steps=1 \
    --set train.warmup=0 --set train.output=told
head -n 1 text.xx >line
expect 64 'the model has language tokens; give --to .one of en, xx' xlm_translate told/latest line
xlm_translate told/latest line --to en >/dev/null 2>>told.log || fail "$(cat told.log)"
! grep -q 'several languages' told.log || fail "a decoder that is told the language: $(cat told.log)"
h5dump -H -d /model/decoder/embeddings/language_token/weight told/latest | grep -q '( 2, 32 )' || fail "the tokens' embeddings"
job_refused 'language_tokens = true is for a decoder without' nmt.conf --set model.language_tokens=true
two=(--bpe 60 --mono en=text.en --mono xx=text.xx --mono yy=text.xx --para en-xx=text.en,text.xx)
for pair in en-yy=text.en,text.xx yy-xx=text.xx,text.xx; do
    logged prep.log xlm_prep "${two[@]}" --para "$pair" -o pairs.h5
    logged ${pair%%=*}.log xlm_train nmt.conf --dry-run --set model.language_embeddings=false --set train.corpus=pairs.h5 \
        --set 'stream pairs.shuffle_sides=false' --set train.output=none
done
grep -q 'translations into several languages' en-yy.log || fail "no warning of two targets: $(cat en-yy.log)"
grep -q 'several languages' yy-xx.log && fail "a warning of one target: $(cat yy-xx.log)"
{ bare; text; objective denoise seq2seq text; } >denoise.conf
noise=(--set 'stream text.mask=0' --set 'stream text.noise_shuffle=3' --set 'stream text.noise_drop=0.1'
    --set 'stream text.noise_blank=0.1')
trained denoise.conf denoise 1 "${dry[@]}" "${noise[@]}" --set train.micro_batches=1 --set 'stream text.length=24'
first=$(value denoise 1 train denoise loss) last=$(value denoise 150 train denoise loss)
is_between 0 "$last" "$(awk -v f="$first" 'BEGIN { print f / 2 }')" || fail "it does not learn to undo noise: from $first to $last"

only_in_check_all

# ---- label smoothing: of training's loss alone; before the first update both models are the same ----
smooth=(--set 'objective clm.label_smoothing=0.1' --set 'objective seq2seq.label_smoothing=0.1')
trained job2.conf smooth 1 "${smooth[@]}"
trained job2.conf smooth-2 2 "${smooth[@]}"
same_bits smooth smooth-2
for name in clm seq2seq; do
    [ "$(value smooth 0 held_out $name loss all)" = "$(value out-1 0 held_out $name loss all)" ] || fail "$name: held-out text is smoothed"
    [ "$(value smooth 1 train $name loss)" != "$(value out-1 1 train $name loss)" ] || fail "$name: training is not smoothed"
    is_near "$(value smooth 1 train $name/cross_entropy score)" "$(value out-1 1 train $name loss)" ||
        fail "$name: the loss without smoothing: $(grep "$name/cross_entropy" smooth/metrics.csv)"
    [ -z "$(values out-1 train $name/cross_entropy score)" ] || fail "$name: a loss without smoothing is reported twice"
done
# (clm is smoothed by the same function)
checked=seq2seq right_gradients job2.conf "${shallow[@]}" "${smooth[@]}"
XLM_BF16_EMULATE=1 trained job2.conf smooth-rounded 1 --set train.precision=bfloat16 "${smooth[@]}"
agree smooth smooth-rounded 0.02
expect 64 'objective clm.*label_smoothing = 1.5: must be a number from 0 to 1' \
    xlm_train job2.conf --set 'objective clm.label_smoothing=1.5' --set train.output=none

# ---- a start without decoder: its layers begin as the encoder's ----
{ top -e 's/^layers = .*/layers = 3/'; text; objective mlm mlm text; } >encoder.conf
trained encoder.conf encoder 1
{ top -e 's/^layers = .*/decoder_layers = 3/'; pairs; objective seq2seq seq2seq pairs; } >start.conf
begin() { # NAME CHOICE [OPTION...]
    logged "$1.log" xlm_train start.conf --dump-step "$1.h5" --set train.start=encoder/latest --set "train.start_decoder=$2" \
        --set "train.output=$1" "${@:3}"
}
decoder=/parameters/decoder/layer.1
own=(--set model.share_embeddings=false)
begin drawn draw "${own[@]}"
begin begun encoder
begin copied copy "${own[@]}"
for part in word position language; do
    same "/parameters/decoder/embeddings/$part/weight" copied.h5 "/model/embeddings/$part/weight" encoder/latest ||
        fail "the decoder's own $part embeddings do not begin as the encoder's"
    other "/parameters/decoder/embeddings/$part/weight" drawn.h5 "/parameters/embeddings/$part/weight" drawn.h5 ||
        fail "the decoder's own $part embeddings were not drawn"
done
same /parameters/decoder/lm_head/dense/weight copied.h5 /model/lm_head/dense/weight encoder/latest || fail "the head does not begin as the encoder's"
h5ls -r begun.h5 | grep -q 'decoder/\(embeddings\|lm_head\)' && fail "a decoder that shares the embeddings has its own"
for part in attention/query/weight attention/output/bias feed_forward/intermediate/weight; do
    same "$decoder/$part" begun.h5 "/parameters/encoder/layer.1/$part" begun.h5 || fail "$part does not begin as the encoder's"
    other "$decoder/$part" drawn.h5 "/parameters/encoder/layer.1/$part" drawn.h5 || fail "$part was not drawn"
done
same "/parameters/encoder/layer.1/attention/query/weight" begun.h5 "/model/encoder/layer.1/attention/query/weight" encoder/latest ||
    fail "the encoder was not taken"
other $decoder/memory_attention/query/weight begun.h5 $decoder/attention/query/weight begun.h5 ||
    fail "attention to the memory was not drawn"
same $decoder/memory_attention/query/weight copied.h5 $decoder/attention/query/weight copied.h5 || fail "attention to the memory was not copied"
grep -q 'of them are the encoder.s, for the decoder' begun.log || fail "it does not say what it has taken: $(cat begun.log)"
trained start.conf started 1 --set train.start=encoder/latest "${own[@]}"
# What a decoder has shared becomes its own, and the model is what it was.
trained job2.conf again 1 --set train.start=out-1/latest --set train.steps=1 --set train.warmup=0 "${own[@]}"
[ "$(value again 0 held_out seq2seq loss all)" = "$(value out-1 8 held_out seq2seq loss all)" ] ||
    fail "with embeddings of its own it does not begin as it was: $(grep ,held_out, again/metrics.csv)"
logged compare.log xlm_compare out-1 again
grep -q '^\[model\] share_embeddings *true *false$' compare.log || fail "xlm_compare: $(grep share compare.log)"
# What is frozen stays, in the encoder; the decoder learns, its own embeddings too.
trained start.conf frozen 1 --set train.start=encoder/latest --set train.freeze=2 "${own[@]}"
for part in embeddings/word encoder/layer.1/attention/query; do
    same "/model/$part/weight" frozen/latest "/model/$part/weight" encoder/latest || fail "$part is frozen, and has changed"
done
for part in encoder/layer.2 decoder/layer.0; do
    other "/model/$part/attention/query/weight" frozen/latest "/model/encoder/layer.${part#*.}/attention/query/weight" \
        encoder/latest || fail "$part has not learned"
done
other /model/decoder/embeddings/word/weight frozen/latest /model/embeddings/word/weight encoder/latest ||
    fail "the decoder's own words have not learned"
grep -q 'model: 3 layers and 3 of the decoder x 16' started.log || fail "the log does not say how deep the decoder is: $(grep model: started.log)"
grep -q '^  10 of them are the encoder.s' again.log && ! grep -q drawn again.log || fail "a decoder that is there was not taken: $(cat again.log)"

# ---- what reads the model ----
# Fewer subwords: rows of the decoder's own tables stay with their subwords.
head -n 20 text.en | cut -d' ' -f1-2 >few.en
logged few.log xlm_prep --like started/latest --mono en=few.en --held-out 0 -o few.h5
logged keep.log xlm_convert started/latest --keep few.h5 -o small.h5
rows_of() { # PARAMETER COLUMNS FILE: subword and row, sorted
    local columns
    columns=$(printf -- '- %.0s' $(seq "$2"))
    # shellcheck disable=SC2086 # columns are words
    paste -d' ' <(strings /vocabulary/words "$3") <(numbers "/model/$1" "$3" | paste -d' ' $columns) | sort
}
for part in embeddings/word/weight=16 lm_head/bias=1; do
    rows_of decoder/${part%=*} ${part#*=} started/latest >before.txt
    rows_of decoder/${part%=*} ${part#*=} small.h5 >after.txt
    [ "$(wc -l <after.txt)" -gt 9 ] && [ "$(wc -l <after.txt)" -lt "$(wc -l <before.txt)" ] && [ -z "$(comm -13 before.txt after.txt)" ] ||
        fail "$part of fewer subwords: $(comm -13 before.txt after.txt | head -n 3)"
done
expect 65 'bert has not a decoder, .* marian has not a norm of the embeddings' xlm_convert out-1/latest -o there
[ ! -e there ] || fail "an export was left"
logged embed.log xlm_embed neighbours out-1/latest the
head -n 60 text.en >tune.text && task_files tune
printf '%s\n' '[tune]' 'model = started/latest' 'train = en:tune.classes' 'dev = en:tune.classes' 'output = tuned' 'epochs = 1' \
    'batch = 8' 'length = 24' 'learning_rate = 1e-3' '[task classification]' >tune.conf
logged tune.log ranks 1 xlm_tune tune.conf
grep -q 'left: decoder/' tune.log || fail "it does not say that the decoder is left: $(cat tune.log)"
h5ls -r tuned/latest 2>/dev/null | grep -q /model/decoder && fail "a tuned model has a decoder"
{ top -e "$three"; text; objective clm clm text; } >unused.conf
logged unused.log xlm_train unused.conf --dry-run --set train.output=none
grep -q 'decoder_layers = 3, and no objective of the job uses the decoder' unused.log || fail "no warning: $(cat unused.log)"
rm -rf none


# What changes only the corrupted text, where nothing reads it: a warning.
warned() { # PATTERN CONF [OPTION...]
    logged warned.log xlm_train "$2" --dry-run --set train.output=none "${@:3}"
    [ "$(grep -c 'has no effect' warned.log)" -eq 1 ] && grep -q "warning: $1" warned.log || fail "${*:2}: $(cat warned.log)"
    rm -rf none
}
for key in mask=0.3 mask=0:0.3,5=0 mask_unit=word replace=mask:1 noise_shuffle=3 noise_drop=0.1 noise_blank=0.1; do
    warned ".stream text.: ${key%%=*} = .*has no effect, because its objectives read the text without masks and noise" unused.conf \
        --set "stream text.$key"
done
warned '.stream pairs.: mask = 0.3 has no effect' job2.conf --set 'stream pairs.mask=0.3'
# Labels may be made of the corrupted text too.
{ cat job2.conf; objective moco moco pairs; } >labels.conf
logged labels.log xlm_train labels.conf --dry-run --set train.output=none --set 'stream pairs.mask=0.3'
grep -q 'warning: .stream pairs.: mask = 0.3 may have no effect' labels.log || fail "labels: $(cat labels.log)"
rm -rf none
{ cat unused.conf; objective mlm mlm text; } >both.conf
for job in 'unused.conf --set stream_text.mask=0.15 --set stream_text.mask_unit=token' 'unused.conf --set stream_text.mask=0' \
    'both.conf --set stream_text.mask=0.3'; do
    read -ra words <<<"$job"
    logged read.log xlm_train --dry-run --set train.output=none "${words[@]/stream_text/stream text}"
    ! grep 'has no effect' read.log || fail "$job: a warning"
    rm -rf none
done
# An objective of the user's may read all of a batch, also where it is found by its bare name.
mkdir mine
(cd mine && build_plugin simcse)
{ cat unused.conf; objective simcse simcse text; } >mine.conf
XLM_PLUGIN_PATH=$PWD/mine:$XLM_PLUGIN_PATH logged read.log xlm_train mine.conf --dry-run --set train.output=none \
    --set 'stream text.mask=0.3'
! grep 'no effect' read.log || fail "a warning beside an objective of the user's"
rm -rf none

# ---- refused by name ----
job_refused 'objective nmt.: it needs a decoder, and the model has none; set decoder_layers' nmt.conf --set model.decoder_layers=0
job_refused 'objective denoise.: .stream text. has neither pairs to translate nor noise' denoise.conf
job_refused 'objective denoise.: .*which has masks beside noise' denoise.conf --set 'stream text.noise_drop=0.1'
job_refused 'start_decoder is for a run that starts from a model' nmt.conf --set train.start_decoder=copy
refused_on=2 job_refused 'the model has no decoder; set decoder_layers' encoder.conf --set train.start=encoder/latest \
    --set train.start_decoder=copy
expect 65 'its model has share_embeddings = true, the job.s false' xlm_train job2.conf --set train.output=out-1 "${own[@]}" \
    --set train.steps=9
job_refused 'share_embeddings = false is for a decoder, and decoder_layers = 0' encoder.conf "${own[@]}"
refused_on=2 job_refused 'share_embeddings = true, but the model of .* has false' start.conf --set train.start=started/latest \
    --set model.share_embeddings=true
trained encoder.conf left 1 --set train.start=started/latest --set model.decoder_layers=0 --set train.steps=1 --set train.warmup=0
h5dump -a /model/share_embeddings left/latest >left.txt 2>&1 && fail "embeddings of a decoder that is not there: $(cat left.txt)"
[ "$(attribute /model/share_embeddings started/latest)" = '"false"' ] || fail "/model: $(h5dump -A -g /model started/latest | head -n 40)"
refused_on=2 job_refused 'decoder_layers = 2, but the model of .* has 3' nmt.conf --set train.start=out-1/latest \
    --set model.decoder_layers=2 --set model.hidden_size=16
finish
