#!/usr/bin/env bash
# xlm-mpi: a corpus and a checkpoint of an older version (tests/cli/old_files/make) are read, resumed and tuned.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
old=$XLM_SOURCE/tests/cli/old_files
for file in corpus checkpoint; do gzip -dc "$old/$file.h5.gz" >"$file.h5" || exit 99; done
cp "$old/job.conf" job.conf
mkdir then && cp "$old/metrics.csv" then/

# Resumed: the steps that the older version made from here, to rounding, since another processor may round otherwise. Four of its
# eight steps are in the checkpoint.
for n in 1 2; do
    mkdir "out-$n"
    cp checkpoint.h5 "out-$n/$(checkpoint 4)"
    sed '/^5,/,$d' then/metrics.csv >"out-$n/metrics.csv"
    trained job.conf "out-$n" "$n"
    grep -q 'resumed from .* at step 4$' "out-$n.log" || fail "did not resume: $(head -n 9 "out-$n.log")"
    agree then "out-$n"
done
same_bits out-1 out-2
queue=$(h5ls "out-1/$(checkpoint 8)/objectives/moco/queue") && [ -n "$queue" ] || fail "no queue in the new checkpoint"

# Trained anew on the corpus, as the older one was: the same steps.
trained job.conf anew 1 --set train.steps=4
trained job.conf anew 1
agree then anew

# Keys of jobs by their former names: the same run, and a warning for each.
sed -e '/^\[train\]/a granules = 2' -e '/^\[stream text\]/a masking = word' job.conf >former.conf
sed -e '/^\[train\]/a micro_batches = 2' -e '/^\[stream text\]/a mask_unit = word' job.conf >present.conf
for name in former present; do trained $name.conf $name 1 --set train.steps=2; done
same_bits former present
grep -q 'warning: .*granules is called micro_batches now$' former.log &&
    grep -q 'warning: .*masking is called mask_unit now$' former.log || fail "former names: $(head -n 5 former.log)"
! cmp -s <(losses present) <(losses anew | head -n 2) || fail "mask_unit changes nothing, so that its former name shows nothing"

# Read: the corpus by programs that read corpora, the model by those that read models.
paste -d ' ' <(printf 'house\nriver\ngarden\n') <(printf 'hyoyusye\nryivyer\ngyardyen\n') >pairs.txt
logged dict.log xlm_dict corpus.h5 --source en --target xx --text pairs.txt --subwords first -o dict.h5
logged align.log xlm_align corpus.h5 --languages en,xx -o links
[ -s links ] || fail "no links of the pairs of the corpus"
for like in corpus.h5 checkpoint.h5; do
    logged like.log xlm_prep --like "$like" --mono en=text.en -o "like.h5"
done
[ "$(attribute /model/hidden_size checkpoint.h5)" = 4 ] || fail "the checkpoint is another one"
logged fill.log xlm_fill checkpoint.h5 --language en 'the <mask> sees'
logged export.log xlm_embed export checkpoint.h5 --language en -o vectors.h5
trained job.conf start 1 --set train.start=checkpoint.h5

# Tuned.
for i in 1 2 3 4 5 6 7 8; do
    printf 'yes\tthe house sees the river\nno\tthe garden opens\n'
done >train.tsv
cat >tune.conf <<'JOB'
[tune]
model = checkpoint.h5
train = train.tsv
dev = train.tsv
language = en
output = tuned
epochs = 2
batch = 8
length = 20
freeze = embeddings

[task classification]
JOB
logged tune.log xlm_tune tune.conf
logged eval.log xlm_eval tuned/best --test train.tsv
[ "$(numbers /model/embeddings/word/weight tuned/best)" = "$(numbers /model/embeddings/word/weight checkpoint.h5)" ] ||
    fail "the frozen embeddings are not those of the checkpoint"
finish
