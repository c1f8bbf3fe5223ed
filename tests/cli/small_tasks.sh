#!/usr/bin/env bash
# xlm-mpi: the small study of tasks, from a model to its tables. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
command -v jq >/dev/null || { echo "skipped: needs jq"; exit 77; }
small_corpus
xlm_train job.conf --set train.steps=10 >log 2>&1 || { tail -n 3 log >&2; exit 99; }

# Contexts of three sentences, each asked for the last word of its second; twelve paragraphs in two articles.
mkdir -p xquad data=xnli # awk would take such a name for a variable
questions() { # LANG
    head -n 36 "text.$1" | awk '
        { sentence[(NR - 1) % 3] = $0 }
        NR % 3 == 0 {
            n = split(sentence[1], word, " ")
            context = sentence[0] " " sentence[1] " " sentence[2]
            start = length(sentence[0]) + 1 + length(sentence[1]) - length(word[n - 1] " " word[n])
            before = ", "
            if (NR == 3) before = "{\"version\": \"1.1\", \"data\": [{\"title\": \"a\", \"paragraphs\": ["
            if (NR == 21) before = "]}, {\"title\": \"b\", \"paragraphs\": ["
            printf "%s{\"context\": \"%s\", \"qas\": [{\"id\": \"%d\", \"question\": \"%s\", ", before, context, NR / 3, sentence[1]
            printf "\"answers\": [{\"text\": \"%s\", \"answer_start\": %d}]}]}", word[n - 1], start
        }
        END { print "]}]}" }'
}
for language in en xx; do questions $language >xquad/xquad.$language.json; done
# Header and lines of myXNLI: three pairs of a premise in a row.
for part in dev test; do
    paste text.en text.xx | head -n 90 | awk -F '\t' -v OFS='\t' '
        BEGIN { print "genre", "label", "sentence1_en", "sentence2_en", "sentence1_my", "sentence2_my"
                split("contradiction entailment neutral", label, " ") }
        { print "made", label[NR % 3 + 1], $1, $1, $2, $2 }' >data=xnli/my.genre.$part.tsv
done

study() { # [NAME=VALUE...]
    env XLM_LAUNCH="sh $XLM_SOURCE/tests/mpirun.sh 2" MODEL=out/latest LANGUAGES=xx EPOCHS=1 LENGTH=64 "$@" \
        "$XLM_SOURCE/jobs/small/tasks" study xquad data=xnli >log 2>&1
}
code=0
study LANGUAGES='xx yy' || code=$?
[ "$code" -eq 66 ] && grep -q 'xquad has no xquad.yy.json' log && [ ! -e study ] || fail "no file: $code: $(tail -n 1 log)"
study || fail "$(tail -n 5 log)"
# Each sixth paragraph chooses, the others are learned from; of the pairs each tenth premise.
[ "$(jq '[.data[].paragraphs[].qas[].id | tonumber]' -c study/questions.dev.json)" = '[1,7]' ] ||
    fail "dev: $(jq -c . study/questions.dev.json)"
[ "$(jq '[.data[].paragraphs[].qas[].id | tonumber]' -c study/questions.train.json)" = '[2,3,4,5,6,8,9,10,11,12]' ] ||
    fail "train: $(jq -c . study/questions.train.json)"
[ "$(wc -l <study/inference.train.tsv) $(wc -l <study/inference.dev.tsv)" = '82 10' ] || fail "pairs: $(wc -l study/*.tsv)"
for file in answering-untuned answering-tuned classification-tuned; do
    [ -s study/$file.csv ] || fail "$file was not scored"
done
grep -q "^en  accuracy 33.33%" log || fail "the most frequent class: $(tail -n 1 log)"
grep -q '^en ' log && grep -q '^xx ' log || fail "no table of languages: $(tail -n 20 log)"
# Nothing is made twice; what another model, or other settings, have made is not taken for this one's.
xlm_train job.conf --set train.steps=11 --set train.output=other >log 2>&1 || { tail -n 3 log >&2; exit 99; }
for setting in MODEL=other/latest EPOCHS=2 LENGTH=48; do
    code=0
    study "$setting" || code=$?
    [ "$code" -eq 64 ] && grep -q '/study/answering-tuned has a run with \(model\|epochs\|length\) = ' log ||
        fail "results of another run, $setting: $code: $(tail -n 3 log)"
done
mkdir -p new/model
echo 'steps = 10' >new/model/job.conf
expect 64 '/new/model has a run with steps = 10, not 20\. ' env LANGUAGES=xx START_STEPS=20 \
    "$XLM_SOURCE/jobs/small/tasks" new xquad data=xnli
cp -r data=xnli others
expect 64 '/study has results of other data: ' env LANGUAGES=xx MODEL=out/latest "$XLM_SOURCE/jobs/small/tasks" study xquad others
study MODEL="$PWD/out/latest" || fail "again: $(tail -n 5 log)"
! grep -q '^step ' log || fail "a finished model was tuned again"
finish
