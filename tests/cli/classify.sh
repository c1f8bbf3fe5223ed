#!/usr/bin/env bash
# xlm-mpi: classification of sentences and of pairs: learned, in every form of file, on any number of ranks; code-switching; what
# is refused. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
batches_of_eight
long
small_corpus
xlm_train job.conf --set train.steps=40 >train.log 2>&1 || { tail -n 3 train.log >&2; exit 99; }

# nli LANG FIRST LAST: pairs of sentences `label<tab>S<tab>T`; the label says how many of their verbs are of three.
nli() {
    paste text.en "text.$1" | awk -F '\t' -v first="$2" -v last="$3" '
        function kind(s) { return s ~ /(sees|finds|opens)/ }
        NR % 2 { s = $1; x = $2; next }
        NR / 2 >= first && NR / 2 <= last {
            k = kind(s) + kind($1)
            print (k == 2 ? "entailment" : k == 1 ? "neutral" : "contradiction") "\t" x "\t" $2
        }'
}
nli en 1 200 >train.en.tsv
nli xx 1 200 >train.xx.tsv
nli en 201 250 >dev.tsv
nli en 251 300 >test.en.tsv
nli xx 251 300 >test.xx.tsv
cat >tune.conf <<'JOB'
[tune]
model = out/latest
train = train.en.tsv
dev = dev.tsv
language = en
output = nli
epochs = 8
batch = 16
length = 40
learning_rate = 6e-3

[task classification]
JOB

# tune RANKS OUTPUT [OPTION...]
tune() {
    local n=$1 output=$2
    shift 2
    logged "$output.log" ranks "$n" xlm_tune tune.conf --set "tune.output=$output" "$@"
}
# same A B: of two runs.
same() {
    cmp <(rows "$1") <(rows "$2") || fail "metrics of $1 and $2 are not the same bits"
    [ "$(digest "$1/best")" = "$(digest "$2/best")" ] && [ "$(digest "$1/latest")" = "$(digest "$2/latest")" ] ||
        fail "parameters of $1 and $2 are not the same bits"
}
# resumed RUN [OPTION...]: goes on from its last checkpoint but one on 2 ranks, and becomes the same.
resumed() {
    local run=$1
    shift
    cp -r "$run" "$run-resumed"
    rm "$run-resumed/$(readlink "$run/latest")"
    tune 2 "$run-resumed" "$@"
    grep -q 'resumed from' "$run-resumed.log" || fail "$run-resumed: $(head -n 9 "$run-resumed.log")"
    same "$run" "$run-resumed"
}
# score FILE MEASURE: of the table that xlm_eval --csv wrote.
score() { awk -F, -v measure="$2" '$1 == "measure" && $2 == measure { print $8 }' "$1"; }
# accuracy FILE OPTION...: of the best of run nli on files.
accuracy() {
    local name=$1
    shift
    logged "$name.log" ranks 1 xlm_eval nli/best --csv "$name.csv" --predictions "$name.pred" "$@"
    score "$name.csv" accuracy
}

# ---- ranks, stops, scores ----
tune 1 nli --set tune.keep=3
# Of two epochs, which need not learn it, on 1 and 4 ranks, and resumed on 2.
few=(--set tune.keep=3 --set tune.epochs=2)
for n in 1 4; do tune $n few-$n "${few[@]}"; done
same few-1 few-4
resumed few-1 "${few[@]}"
right=$(accuracy en --test test.en.tsv)
is_between 0.9 "$right" 1 || fail "accuracy $right is not learned: $(tail -n 3 nli.log)"
# Accuracy and macro F1 as predictions have them; the confusion table.
awk -F '\t' 'NR == 1 { exit $1 != "id" || $6 != "p(neutral)" || $8 != "sentence2" }' en.pred || fail "$(head -n 2 en.pred)"
cmp <(cut -f2,7,8 en.pred | sed 1d) test.en.tsv || fail "what is predicted"
is_near "$right" "$(awk -F '\t' 'NR > 1 { n++; r += $2 == $3 } END { print r / n }' en.pred)" || fail "accuracy $right"
is_near "$(score en.csv macro_f1)" "$(awk -F '\t' 'NR > 1 { gold[$2]++; predicted[$3]++; right[$2] += $2 == $3 }
    END { for (c in gold) { n++; f += 2 * right[c] / (gold[c] + predicted[c]) } print f / n }' en.pred)" || fail "$(cat en.csv)"
[ "$(grep -c ^confusion en.csv)" -eq 9 ] && [ "$(grep -c ^class, en.csv)" -eq 3 ] || fail "tables: $(cat en.csv)"
awk -F '\t' 'NR > 1 { p = $4 + $5 + $6; if (p < 0.99999 || p > 1.00001) exit 1 }' en.pred || fail "probabilities: $(cat en.pred)"

# 32 items are learned by heart, whatever their labels are; by the other heads, too.
awk -F '\t' -v OFS='\t' 'NR <= 32 { $1 = "c" (NR * NR % 5); print }' train.en.tsv >32.tsv
for head in linear dense dense_norm; do
    tune 1 over-$head --set tune.train=32.tsv --set tune.dev=32.tsv --set tune.epochs=120 --set tune.batch=8 \
        --set tune.dropout=0 --set tune.learning_rate=3e-3 --set tune.evaluate_every=120 --set "task classification.head=$head"
    is_between 0.99 "$(values over-$head dev accuracy score en | tail -n 1 | cut -d' ' -f2)" 1 ||
        fail "32 items, $head: $(grep '^dev,' over-$head.log)"
done
h5ls -r over-dense/best/objectives | grep -q 'dense_weight *Dataset {32, 32}' || fail "$(h5ls -r over-dense/best/objectives)"
h5ls -r over-dense_norm/best/objectives | grep -q 'norm_weight *Dataset {32}' || fail "$(h5ls -r over-dense_norm/best/objectives)"
# Of the mean over all tokens, with dropout, the same on any number of ranks.
for n in 1 2; do
    tune $n mean-$n --set tune.train=32.tsv --set tune.dev=32.tsv --set tune.epochs=3 --set tune.batch=8 \
        --set tune.head_dropout=0.1 --set "task classification.head=dense_norm" --set "task classification.pooling=mean"
    [ "$n" -eq 1 ] || same mean-1 mean-$n
done

only_in_check_all

# ---- forms of files: all of them give the same ----
{
    printf 'language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpromptID\tpairID\n'
    for language in xx en; do
        awk -F '\t' -v language=$language '{ print language "\t" $1 "\t\t" $2 "\t" $3 "\t1\t" NR
            if (NR == 3) print language "\t-\t\t" $2 "\t" $3 "\t1\t0" }' test.$language.tsv
    done
} >xnli.test.tsv
awk -F '\t' 'NR > 1 { printf "{\"language\": \"%s\", \"gold_label\": \"%s\", \"sentence1\": \"%s\", ", $1, $2, $4
    printf "\"sentence2\": \"%s\", \"annotator_labels\": [\"x\"], \"pairID\": \"\\t%s\"}\r\n", $5, $7 }' xnli.test.tsv |
    gzip >xnli.test.jsonl.gz
{
    printf '\xef\xbb\xbfpremise\thypo\tlabel\r\n'
    awk -F '\t' '{ sub(/contradiction/, "contradictory"); print $2 "\t" $3 "\t" $1 "\r" }' test.en.tsv
} >multinli.test.en.tsv
for file in xnli.test.tsv xnli.test.jsonl.gz multinli.test.en.tsv; do
    is_near "$(accuracy form --test $file --language en)" "$right" 0 && cmp <(cut -f2- form.pred) <(cut -f2- en.pred) ||
        fail "$file: $(cat form.log)"
done
accuracy form --test xnli.test.tsv --language xx >/dev/null
grep -q 'xnli.test.tsv: columns gold_label, sentence1, sentence2; 50 items; left out, for their gold_label is "-": 1' form.log &&
    cmp <(cut -f7,8 form.pred | sed 1d) <(cut -f2,3 test.xx.tsv) || fail "one language of several: $(cat form.log)"
cut -f1,2 train.en.tsv >single.tsv
accuracy both --test en:xnli.test.tsv --test xx:xnli.test.tsv >/dev/null
is_near "$(awk -F, '/^en,measure,accuracy,/ { print $9 }' both.csv)" "$right" 0 &&
    cmp <(cut -f2- both.en.pred) <(cut -f2- en.pred) || fail "two languages of a file: $(cat both.csv)"
tune 1 single --set tune.train=single.tsv --set tune.dev=single.tsv --set tune.epochs=1 \
    --set 'task classification.choose_by=macro_f1'
grep -q '^train: 200 sentences,' single.log && grep -q '^dev, step 13: macro_f1 .* accuracy' single.log ||
    fail "$(cat single.log)"

# ---- code-switching ----
both="--set tune.train=en:train.en.tsv,xx:short.xx.tsv --set tune.epochs=2"
sed 5q train.xx.tsv | sed 's/^[a-z]*/neutral/' >short.xx.tsv
sed 1,5d train.xx.tsv >>short.xx.tsv
echo 'neutral	x	y' >>short.xx.tsv
unpaired=$(paste train.en.tsv short.xx.tsv | awk -F '\t' '$1 != $4' | wc -l)
first=$(paste train.en.tsv short.xx.tsv | awk -F '\t' '$1 != $4 { print NR; exit }')
for n in 1 4; do
    # shellcheck disable=SC2086 # options
    tune $n pairs-$n $both --set 'task classification.code_switching=en' --set tune.keep=3
    same pairs-1 pairs-$n
done
# shellcheck disable=SC2086 # options
resumed pairs-1 $both --set 'task classification.code_switching=en' --set tune.keep=3
grep -q "^train: 401 pairs of sentences; code-switched with en: $((201 - unpaired)) pairs, by line, two examples each" \
    pairs-1.log && grep -q "warning: code-switching: $unpaired items could not be paired .* first of them short.xx.tsv:$first (its translation" \
        pairs-1.log || fail "code-switching: $(cat pairs-1.log)"
# An id occurs twice: the lines are matched by their order, and a warning says so.
for language in en xx; do
    awk -F '\t' 'NR == 1 { print "id\tsentence1\tsentence2\tlabel" } { print NR "\t" $2 "\t" $3 "\t" $1 }' train.$language.tsv \
        >ids.$language.tsv
done
sed -i '4s/^3\t/2\t/' ids.xx.tsv
tune 1 twice --set tune.train=en:ids.en.tsv,xx:ids.xx.tsv --set tune.epochs=1 --set 'task classification.code_switching=en'
grep -q 'warning: ids.xx.tsv:4: id "2" is on ids.xx.tsv:3, too.* (pair_by = line)$' twice.log &&
    grep -q '^train: .*, by line,' twice.log || fail "an id that occurs twice: $(cat twice.log)"
# Each pair is in one batch: both halves of it, in both languages.
# shellcheck disable=SC2086 # options
logged dump.log ranks 2 xlm_tune tune.conf --set tune.output=dump $both --set 'task classification.code_switching=en' \
    --dump-step step.h5
numbers /streams/train/batch/targets step.h5 | paste -d ' ' - - | awk '$1 != $2 { exit 1 } END { exit NR != 8 }' &&
    numbers /streams/train/batch/languages step.h5 | sort -u | paste -s -d ' ' | grep -qx '0 1' ||
    fail "the batch: $(numbers /streams/train/batch/targets step.h5)"

# Words by a dictionary.
paste <(tr ' ' '\n' <text.en | sort -u) <(tr ' ' '\n' <text.en | sort -u | sed 's/[aeiou]/y&/g') >words.tsv
logged dict.log xlm_dict corpus.h5 --source en --target xx --text words.tsv -o dict.h5
for n in 1 4; do
    tune $n words-$n --set tune.epochs=2 --set tune.keep=3 --set 'task classification.dictionary=dict.h5' \
        --set 'task classification.switching=0.5'
    same words-1 words-$n
done
resumed words-1 --set tune.epochs=2 --set tune.keep=3 --set 'task classification.dictionary=dict.h5' \
    --set 'task classification.switching=0.5'
grep -q '^train: .*; words of one subword: [1-9][0-9]*, with a translation in dict.h5: [1-9][0-9]*, of which 50 % are switched' \
    words-1.log || fail "words: $(cat words-1.log)"
logged dump.log ranks 1 xlm_tune tune.conf --set tune.output=dump --set 'task classification.dictionary=dict.h5' \
    --set 'task classification.switching=1' --dump-step step.h5
numbers /streams/train/batch/languages step.h5 | grep -qx 1 || fail "no word was switched"

# ---- errors: printed once, and nothing is written ----
# wrong CODE PATTERN OPTION...
wrong() {
    local code=$1 pattern=$2
    shift 2
    expect "$code" "$pattern" ranks 1 xlm_tune tune.conf --set tune.output=wrong "$@"
    once '^xlm_tune: '
    [ ! -e wrong ] || { fail "something was written: $*"; rm -r wrong; }
}
sed '7s/^[a-z]*/other/' dev.tsv >other.tsv
wrong 65 'other.tsv:7: the training text has no label "other"; it has contradiction, entailment, neutral' \
    --set tune.dev=other.tsv
sed 's/^[a-z]*/neutral/' train.en.tsv >one.tsv
wrong 65 'one.tsv: all items have the same label' --set tune.train=one.tsv
sed '4s/\t[^\t]*$//' train.en.tsv >columns.tsv
wrong 65 'columns.tsv:4: 2 columns between tabs, where the first line has 3' --set tune.train=columns.tsv
sed '4s/\t[^\t]*$/\t /' train.en.tsv >empty.tsv
wrong 65 'empty.tsv:4: the second sentence is empty' --set tune.train=empty.tsv
tune 1 without --set tune.train=empty.tsv --set 'task classification.empty=leave_out' --set tune.epochs=1
grep -q 'empty.tsv: .*199 items; left out for an empty sentence or label: 1' without.log || fail "$(cat without.log)"
{
    printf 'question1\tquestion2\tis_duplicate\n'
    awk -F '\t' -v OFS='\t' 'NR == 3 { print $2; print "b", $3, $1; print "a\tb"; next } { print $2, $3, $1 }' train.en.tsv
} >broken.tsv
tune 1 broken --set tune.train=broken.tsv --set 'task classification.empty=leave_out' --set tune.epochs=1
grep -q 'broken.tsv: .*200 items; lines left out for too few columns: 2' broken.log || fail "$(cat broken.log)"
# The label in the last column, as XTREME's files have it.
awk -F '\t' -v OFS='\t' '{ print $2, $3, $1 }' train.en.tsv >last.tsv
awk -F '\t' -v OFS='\t' '{ print $2, $3, $1 }' dev.tsv >last-dev.tsv
wrong 65 'last.tsv:[0-9]*: the first column has [0-9]* different values in 200 lines, .*say columns = 3,1,2' \
    --set tune.train=last.tsv
wrong 65 'last-dev.tsv:1: the training text has no label .*say columns = 3,1,2$' --set tune.dev=last-dev.tsv
tune 1 last --set tune.train=last.tsv --set tune.dev=last-dev.tsv --set tune.epochs=1 \
    --set 'task classification.columns=3,1,2'
grep -q '^3 labels: contradiction, entailment, neutral$' last.log || fail "$(cat last.log)"
wrong 65 'single.tsv:1: columns asks for column 3, and the line has 2$' --set tune.dev=single.tsv \
    --set 'task classification.columns=1,2,3'
printf '{"label": "a", "text": "b"}\n{"label": "a" "text": "b"}\n' >bad.jsonl
wrong 65 'bad.jsonl:2: byte [0-9]*: invalid JSON' --set tune.train=bad.jsonl
wrong 78 'code_switching = xx: none of the training files' --set 'task classification.code_switching=xx'
wrong 65 'short.xx.tsv:1: .*no id\|train.en.tsv:1: .*no id' --set tune.train=en:train.en.tsv,xx:short.xx.tsv \
    --set 'task classification.code_switching=en' --set 'task classification.pair_by=id'
expect 78 'batch = 15, .* multiple of 2' xlm_tune tune.conf --set tune.output=wrong \
    --set tune.train=en:train.en.tsv,xx:short.xx.tsv --set 'task classification.code_switching=en' --set tune.batch=15
[ ! -e wrong ] || fail "something was written with an odd batch"
wrong 66 'none.h5' --set 'task classification.dictionary=none.h5'
wrong 78 'must be at least 5' --set tune.length=4
# Items of one sentence are none for a model of pairs, and the reverse, also after a conversion.
wrong 65 'single.tsv: has single sentences, and the training text had pairs of sentences$' --set tune.dev=single.tsv
expect 65 'single.tsv: has single sentences, and the training text had pairs' xlm_eval nli/best --test single.tsv
expect 65 'dev.tsv: has pairs of sentences, and the training text had single' ranks 2 xlm_eval single/best --test dev.tsv
[ "$(attribute /task/sentences nli/best)" = 2 ] || fail "the model does not say that it is of pairs"
logged away.log xlm_convert single/best -o single.there
logged back.log xlm_convert single.there -o single.back.h5
[ "$(attribute /task/sentences single.back.h5)" = 1 ] || fail "a model that came back does not say that it is of single sentences"
# Without labels the predictions are the same, and there are no scores.
accuracy labelled --test test.en.tsv >labelled.accuracy
awk -F '\t' -v OFS='\t' '{ $1 = "" } { print }' test.en.tsv >bare.tsv
logged bare.log xlm_eval nli/best --test bare.tsv --predictions bare.pred
cmp <(cut -f 3- bare.pred) <(cut -f 3- labelled.pred) && [ -z "$(cut -f 2 bare.pred | sed '1d;/^$/d')" ] ||
    fail "items without labels: $(head -n 3 bare.pred)"
expect 65 'bare.tsv:1: the label is empty' xlm_eval nli/best --test bare.tsv
expect 65 'other.tsv:7: the training text has no label' ranks 2 xlm_eval nli/best --test other.tsv --csv none.csv
[ ! -e none.csv ] && [ ! -s expect.out ] || fail "a table of other labels"
# Ranks that read different files, as on disks of their own: as many items of other text.
mkdir disk0 disk1
cp test.en.tsv disk0/test.tsv
sed '$d' test.en.tsv >disk1/test.tsv
tail -n 2 test.en.tsv | head -n 1 >>disk1/test.tsv
# shellcheck disable=SC2016 # each rank's own shell
expect 65 '^xlm_eval: CHECKPOINT and --test: not the same on rank 1, on .* as on rank 0' ranks 2 sh -c \
    'cd "disk${OMPI_COMM_WORLD_RANK-$PMI_RANK}" && exec xlm_eval ../nli/best --test test.tsv'
finish
