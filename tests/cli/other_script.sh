#!/usr/bin/env bash
# xlm-mpi: text in a script that a model's subwords were not made of is warned of wherever text is read for a model, with a share
# counted by hand; other text is not. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus
trained job.conf out 1 --set train.steps=1 --set train.warmup=1

# warned COUNT SHARE TEXT COMMAND...: one warning of this text, or none when the count is 0.
warned() {
    local count=$1 share=$2 text=$3
    shift 3
    logged warned.log "$@"
    [ "$(grep -c 'unknown to the vocabulary' warned.log)" -eq "$count" ] || fail "$*: not $count warnings: $(cat warned.log)"
    [ "$count" -eq 0 ] || grep -q "warning: $text: $share % of its .* subwords are unknown to the vocabulary" warned.log ||
        fail "$*: another warning: $(grep unknown warned.log)"
}
# Each of 7 Cyrillic letters is an unknown subword, and `the`, of the frequent words, is one subword: 7 of 8.
printf 'дом\tNOUN\nреки\tNOUN\nthe\tDET\n\n' >other.tsv
phrases text.en | head -n 60 >en.tsv
tagger_job en.tsv
warned 0 '' '' xlm_tune tune.conf
warned 2 88 train xlm_tune tune.conf --set tune.train=other.tsv --set tune.dev=other.tsv --set tune.output=other
warned 0 '' '' xlm_eval tag/best --test en.tsv
sed 's/\t.*/\tO/' other.tsv >other-o.tsv
warned 1 88 test xlm_eval tag/best --test other-o.tsv

# Pairs of lines, read in parts by ranks: the share is of all of them.
printf 'дом реки\nthe\n' >c
printf 'the old\nthe\n' >d
head -n 2 text.en >e
for n in 1 2; do
    warned 1 88 c ranks $n xlm_align c d --checkpoint out/latest --method argmax --languages en,xx -o links
    warned 0 '' '' ranks $n xlm_align e d --checkpoint out/latest --method argmax --languages en,xx -o links
done
printf 'a\tдом реки\nb\tthe\n' >source.tsv
printf 'a\tthe old house\nb\tthe red\n' >target.tsv
printf 'a\ta\nb\tb\n' >gold
warned 1 88 source.tsv xlm_embed mine out/latest source.tsv target.tsv --languages en,xx --gold gold
warned 1 88 c xlm_embed export out/latest --text c --language en -o vectors.txt
warned 0 '' '' xlm_embed export out/latest --text d --language en -o vectors.txt

# A corpus in the subwords of a model, and one in its own.
warned 0 '' '' xlm_prep --mono en=text.en --mono xx=text.xx --like corpus.h5 -o like.h5
head -n 1 c >cyrillic
warned 1 100 xx xlm_prep --mono en=text.en --mono xx=cyrillic --like corpus.h5 -o like.h5
finish
