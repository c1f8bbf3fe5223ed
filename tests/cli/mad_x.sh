#!/usr/bin/env bash
# xlm-mpi: bottleneck adapters of languages and tasks (MAD-X): learned, stacked, and exchanged for another language.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
sed -i '/^language_embeddings/d' job.conf
# shellcheck source=tests/adapters.sh
. "$XLM_SOURCE/tests/adapters.sh"

# ---- beside models of each kind ----
learn post "$(section en 'kind = bottleneck' 'size = 4' 'invertible = true' 'dropout = 0.1'
    section more 'kind = bottleneck')" 'dropout = 0.1'
learn pre "$(section en 'kind = bottleneck' 'size = 3' 'invertible = true'
    section lora 'rank = 1' 'targets = feed_forward_output')" \
    'norm = pre' 'final_norm = true' 'linear_biases = false' 'embedding_size = 9' 'activation = relu'
# Gradients are checked in tests/unit/bottleneck_test.c: differences in single precision are no measure near kinks. It says so,
# here before it refuses an objective that has not begun.
xlm_train pre.conf --check-gradients=mlm --set "objective mlm.begin=9" --set train.output=pre-check >check.log 2>&1 || :
grep -q 'ReLU (activation = relu) has a kink' check.log || fail "no warning: $(tail -n 3 check.log)"
[ "$(attribute /model/adapters post-1/latest)" = '"en,more"' ] || fail "the file names $(attribute /model/adapters post-1/latest)"
[ "$(attribute /model/adapters/en/size post-1/latest)" = 4 ] && [ "$(attribute /model/adapters/more/size post-1/latest)" = 1 ] &&
    [ "$(attribute /model/adapters/en/invertible post-1/latest)" = '"true"' ] || fail "sizes in the file"
for part in encoder/layer.0/feed_forward/up embeddings/invertible/f/up embeddings/invertible/g/up; do
    numbers "/model/adapters/en/$part/bias" post-1/latest | awk '$1 != 0 { n++ } END { exit n == 0 }' ||
        fail "$part did not learn"
done
# New adapters are drawn small: the model computes nearly the same with them.
first() { sed -n 's/^held out, step 0: mlm  *all *loss \([0-9.]*\).*/\1/p' "$1"; }
last() { sed -n 's/^held out, step 8: mlm  *all *loss \([0-9.]*\).*/\1/p' "$1"; }
is_near "$(first post-1.log)" "$(last post-base.log)" 0.02 || fail "before it learns: $(first post-1.log), $(last post-base.log)"

# ---- MAD-X, by the jobs: adapters of two languages, one of a task upon the first of them, which is then exchanged ----
jobs=$XLM_SOURCE/jobs/mad-x
language() { # NAME
    trained "$jobs/language.conf" "$1" 1 --set train.start=post-base/latest --set train.corpus=corpus.h5 --set train.steps=8 \
        --set train.micro_batches=1 --set train.learning_rate=2e-3 --set "stream text.languages=$1" --set "stream text.batch=8" \
        --set "stream text.length=48" --set "adapter language.size=4"
}
language en
language xx
phrases text.en >train.tsv
phrases text.xx >test.tsv
tune() { # NAME [OPTION...]
    xlm_tune "$jobs/ner.conf" --set "tune.output=$1" --set tune.model=en/latest --set tune.train=train.tsv \
        --set tune.dev=train.tsv --set tune.epochs=1 --set tune.batch=64 --set tune.length=24 --set tune.learning_rate=1e-2 \
        --set "adapter ner.size=3" "${@:2}"
}
logged tune.log tune tag
logged tune-2.log sh "$XLM_SOURCE/tests/mpirun.sh" 2 xlm_tune tag/job.conf --set tune.output=tag-2
[ "$(digest tag/best)" = "$(digest tag-2/best)" ] || fail "xlm_tune: other bits on 2 ranks"
kept_body en/latest tag/best
of_language=/model/adapters/language/encoder/layer.1/feed_forward/down/weight
same_objects en/latest tag/best $of_language >diff.log 2>&1 || fail "the adapter of the language was changed: $(head -n 3 diff.log)"
[ "$(attribute /model/adapters tag/best)" = '"language,ner"' ] || fail "order: $(attribute /model/adapters tag/best)"
logged exchange.log xlm_convert tag/best --exchange language=xx/latest -o tag-xx.h5
[ "$(attribute /model/adapters tag-xx.h5)" = '"language,ner"' ] || fail "order: $(attribute /model/adapters tag-xx.h5)"
for name in encoder/layer.1/feed_forward/down/weight embeddings/invertible/g/up/bias; do
    same_objects xx/latest tag-xx.h5 "/model/adapters/language/$name" >diff.log 2>&1 ||
        fail "exchange: $name: $(head -n 3 diff.log)"
done
logged eval.log xlm_eval tag/best --test xx:test.tsv --csv before.csv
logged eval.log xlm_eval tag-xx.h5 --test xx:test.tsv --csv after.csv
other_text <(cut -d, -f3- before.csv) <(cut -d, -f3- after.csv) || fail "the exchange changed nothing"
# There and back is what was there; one of another name has its own.
logged exchange.log xlm_convert tag-xx.h5 --exchange language=en/latest:language -o tag-back.h5
same_objects tag/best tag-back.h5 /model >diff.log 2>&1 || fail "exchange and back: $(head -n 3 diff.log)"
same_objects tag/best tag-back.h5 /objectives >diff.log 2>&1 || fail "exchange and back: $(head -n 3 diff.log)"
logged exchange.log xlm_convert tag/best --exchange language=post-1/latest:en -o tag-en.h5
[ "$(attribute /model/adapters tag-en.h5)" = '"en,ner"' ] || fail "order: $(attribute /model/adapters tag-en.h5)"
! h5ls -r tag-en.h5 | grep -q adapters/language || fail "the old adapter is still there"
# One of the same name that is larger; one that has learned beside another model.
language_of() { # NAME OPTION...
    trained "$jobs/language.conf" "$1" 1 --set train.start=post-base/latest --set train.corpus=corpus.h5 --set train.steps=1 \
        --set train.micro_batches=1 --set "stream text.batch=2" --set "stream text.length=48" "${@:2}"
}
language_of large --set "adapter language.size=30000"
logged exchange.log xlm_convert tag/best --exchange language=large/latest -o tag-large.h5
digest() { "$XLM_BUILD/tests/hdf5_digest" "$1" $of_language; }
[ "$(digest large/latest)" = "$(digest tag-large.h5)" ] || fail "the larger adapter is another"
! grep -q 'other values' exchange.log || fail "a warning: $(cat exchange.log)"
trained post-base.conf another 1 --set train.seed=77
language_of strange --set "adapter language.size=4" --set train.start=another/latest
logged exchange.log xlm_convert tag/best --exchange language=strange/latest -o tag-strange.h5
grep -q 'has learned beside a model with other values than tag/best' exchange.log || fail "no warning: $(cat exchange.log)"

# ---- directories of the library adapters: there and back, the same bits ----
logged hub.log xlm_convert en/latest --adapter language -o hub
[ "$(stat -c %s hub/adapter.safetensors)" -lt 12000 ] || fail "the adapter is large"
there() { # TENSOR SHAPE
    LC_ALL=C tr '{}' '\n\n' <hub/adapter.safetensors | grep -aA 1 "\"$1\"" | tail -n 1 | tr -d ' ' |
        grep -aq "\"shape\":\[$2\]" || fail "hub: no $1 of $2"
}
there roberta.encoder.layer.1.output.adapters.language.adapter_down.0.weight 4,16
there roberta.encoder.layer.0.output.adapters.language.adapter_up.bias 16
there roberta.invertible_adapters.language.F.0.weight 4,8
there roberta.invertible_adapters.language.G.2.bias 8
logged hub.log xlm_convert post-base/latest --add-adapter hub -o hub.h5
same_objects en/latest hub.h5 /model/adapters >diff.log 2>&1 || fail "hub: $(head -n 3 diff.log)"
for file in en/latest hub.h5; do logged embed.log xlm_embed export $file --text text.en --layer 2 -o $file.txt; done
cmp en/latest.txt hub.h5.txt || fail "hub: the model computes something else"
logged hub.log xlm_convert post-base/latest --add-adapter hub --adapter other -o other.h5
[ "$(attribute /model/adapters other.h5)" = '"other"' ] || fail "hub: $(attribute /model/adapters other.h5)"
changed() { # PATTERN SED
    rm -rf changed
    cp -r hub changed
    sed -i "$2" changed/adapter_config.json
    expect 65 "$1" xlm_convert post-base/latest --add-adapter changed -o none.h5
}
changed '"mh_adapter" is true; known here is false' 's/"mh_adapter": false/"mh_adapter": true/'
changed '"non_linearity" is "swish"; known here is "relu"' 's/"relu"/"swish"/'
changed '"residual_before_ln" is not there' 's/"residual_before_ln"/"residuals"/'
changed '"is_parallel" is true, and adapters here have no such property' 's/"is_parallel": false/"is_parallel": true/'
changed '"inv_adapter" is not "nice"' 's/"nice"/"glow"/'
changed '"reduction_factor" is not one number' 's/"reduction_factor": 4/"reduction_factor": {"1": 4}/'
changed 'adapter_down.0.weight" is not 8 x 16' 's/"reduction_factor": 4/"reduction_factor": 2/'
changed 'there is no tensor "roberta.invertible_adapters.l.F.0.weight"' 's/"name": "language"/"name": "l"/'
changed 'invertible_adapters.language.[FG].*is at no place' 's/"nice"/null/'
changed 'no configuration of an adapter' 's/"config"/"settings"/'
cp hub/adapter_config.json changed
sed -i 's/"name": "language"/"name": "a\/b"/' changed/adapter_config.json
expect 65 'changed: "a/b": names of adapters are of at most 47 letters' xlm_convert post-base/latest --add-adapter changed \
    -o none.h5
expect 65 'the model has an adapter language; choose another name' xlm_convert en/latest --add-adapter hub -o none.h5
expect 64 'choose one with --adapter' xlm_convert en/latest --add-adapter hub --adapter a/b -o none.h5
rm -f none.h5
{ eight_steps 1 -e 's/^.model.*/&\nposition_offset = 0\nembedding_size = 8\nshare_layers = true\nactivation = gelu_tanh/'
    section one 'kind = bottleneck'; } >albert.conf
trained albert.conf albert 1
expect 65 'the library adapters: it does not adapt albert models' xlm_convert albert/latest --adapter one -o none

# ---- mistakes ----
wrong() { # PATTERN SED
    sed -e 's/^model = .*/model = en\/latest/; s/^\(train\|dev\) = .*/\1 = train.tsv/; s/^length = .*/length = 24/' -e "$2" \
        "$jobs/ner.conf" >wrong.conf
    expect 78 "$1" xlm_tune wrong.conf --set tune.output=none
}
wrong 'unknown key "rank"' 's/^size.*/rank = 2/'
wrong 'unknown key "invertible"' 's/^kind.*/kind = lora/; s/^size.*/invertible = true/'
wrong 'unknown key "size"' 's/^kind.*//'
wrong 'kind = prefix' 's/^kind.*/kind = prefix/; /^size/d'
wrong 'size = -1' 's/^size.*/size = -1/'
wrong 'size = 4 there, 48 here' 's/^.adapter ner/[adapter language/'
expect 65 'it has adapters, .*or write an adapter by itself (--adapter NAME)' xlm_convert en/latest -o none
expect 65 'adapter language is of kind bottleneck: it is not linear' xlm_convert en/latest --merge-adapters -o none.h5
expect 64 'tag/best: the model has no adapter fr' xlm_convert tag/best --exchange fr=xx/latest:language -o none.h5
expect 64 'xx/latest: the model has no adapter en' xlm_convert tag/best --exchange language=xx/latest:en -o none.h5
expect 64 'must be OLD=FILE' xlm_convert tag/best --exchange language -o none.h5
expect 64 'cannot be combined' xlm_convert tag/best --exchange language=xx/latest --merge-adapters -o none.h5
expect 65 'is of another model than tag.best: its model has .*, the other.s' xlm_convert tag/best --exchange language=pre-1/latest:en -o none.h5
expect 64 'tag/best: the model has another adapter ner' xlm_convert tag/best --exchange language=tag/best:ner -o none.h5
[ ! -e none.h5 ] && [ ! -e none ] || fail "something was written"
finish
