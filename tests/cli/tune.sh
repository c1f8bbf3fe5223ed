#!/usr/bin/env bash
# xlm-mpi: fine-tuning and scoring: the same on any number of ranks and after a stop, learned, and what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
xlm_train job.conf --set train.steps=40 >train.log 2>&1 || { tail -n 3 train.log >&2; exit 99; }

# conllu FILE: a file of pairs as CoNLL-U, the tag in MISC, with lines that are to be passed over.
conllu() {
    awk -F '\t' 'NF == 0 { n = 0; print "1.1\tnothing\t_\tX\tX\t_\t_\t_\t_\tNP=O"; print ""; next }
        !n { print "# a sentence"; print "1-2\tboth\t_\t_\t_\t_\t_\t_\t_\t_" }
        { printf "%d\t%s\t_\t%s\tN\t_\t_\t_\t_\t%s\n", ++n, $1, $1 == "." ? "PUNCT" : $2 == "O" ? "VERB" : "NOUN",
            $2 == "O" ? "SpaceAfter=No" : "X=1|NP=" $2 }' "$1"
}
head -n 400 text.en >train.en
tail -n 200 text.en | head -n 100 >dev.en
tail -n 100 text.en >test.en
for part in train dev test; do phrases $part.en >$part.tsv; done
tail -n 100 text.xx >test.xx
phrases test.xx >xx.tsv

cat >tune.conf <<'JOB'
[tune]
model = out/latest
train = train.tsv
dev = dev.tsv
language = en
output = tag
epochs = 4
batch = 16
length = 24
learning_rate = 6e-3

[task tagging]
JOB
steps=100 # 400 / 16 · 4

# tune RANKS OUTPUT [OPTION...]
tune() {
    local n=$1 output=$2
    shift 2
    ranks "$n" xlm_tune tune.conf --set "tune.output=$output" "$@"
}
# same A B: of two runs.
same() {
    cmp <(rows "$1") <(rows "$2") || fail "metrics of $1 and $2 are not the same bits"
    for link in latest best; do
        [ "$(readlink "$1/$link")" = "$(readlink "$2/$link")" ] ||
            fail "$link of $1 is $(readlink "$1/$link"), of $2 $(readlink "$2/$link")"
        [ "$(digest "$1/$link")" = "$(digest "$2/$link")" ] || fail "parameters of $1/$link and $2/$link are not the same bits"
    done
}
# score FILE MEASURE: of the table that xlm_eval --csv wrote.
score() { awk -F, -v measure="$2" '$1 == "measure" && $2 == measure { print $8 }' "$1"; }
# dev DIR MEASURE: "step value" of each look at the development set.
dev() { values "$1" dev "$2" score en; }

# ---- ranks, stops ----
logged tag-1.log tune 1 tag-1 --set tune.evaluate_every=10 --set tune.keep=2
[ "$(losses tag-1 | wc -l)" -eq $steps ] || fail "$(losses tag-1 | wc -l) steps instead of $steps"
# All of these steps are made on 2 ranks below (again), and those of one epoch on 4.
for n in 1 4; do
    logged first-$n.log tune $n first-$n --set tune.epochs=1 --set tune.evaluate_every=10 --set tune.keep=2
    [ "$(losses first-$n | wc -l)" -eq 25 ] || fail "$n ranks: $(losses first-$n | wc -l) steps instead of 25"
    same first-1 first-$n
done
logged other.log tune 1 other --set tune.seed=2 --set tune.epochs=1
# Development examples, some hundred tokens a pass, take more memory than micro-batches of training, or less.
estimated other.log
logged large.log tune 1 large --set tune.epochs=1 --set tune.batch=256 --set tune.micro_batches=1
estimated large.log
other_text <(losses tag-1 | head -n 5) <(losses other | head -n 5) || fail "another seed gives the same losses"

# The best is the first of the highest scores, is named, and stays beside the two newest.
best=$(dev tag-1 span_f1 | sort -s -k2,2gr | head -n 1)
[ "$(dev tag-1 span_f1 | wc -l)" -eq 10 ] || fail "looks at dev: $(dev tag-1 span_f1)"
[ "$(readlink tag-1/best)" = "$(checkpoint "${best% *}")" ] || fail "best points at $(readlink tag-1/best), it is $best"
grep -q "best on dev: .* at step ${best% *}, tag-1/best" tag-1.log ||
    fail "the log does not name the best: $(grep best tag-1.log)"
for step in 90 100 "${best% *}"; do checkpoint "$step"; echo; done | sort -u | cmp - <(cd tag-1 && ls checkpoint-*) ||
    fail "checkpoints: $(ls tag-1), best $best"

# Stopped by a signal, twice, and resumed on other numbers of ranks.
start 2 xlm_tune tune.conf --set tune.output=stopped --set tune.evaluate_every=10 --set tune.keep=2 >stopped.log 2>&1
until_true has_steps stopped 20
kill -USR1 "$launcher"
ended
[ "$code" -eq 75 ] || [ "$code" -eq 0 ] || fail "stopped: exit code $code: $(tail -n 3 stopped.log)"
# What it began with is needed no more.
mv out gone
tune 1 stopped --set tune.evaluate_every=10 --set tune.keep=2 >>stopped.log 2>&1 || fail "$(tail -n 3 stopped.log)"
expect 66 'out/latest' xlm_tune tune.conf --set tune.output=stopped --resume never
expect 66 'out/latest' xlm_tune tune.conf --set tune.output=new
logged by-file.log tune 1 by-file --resume stopped/latest
mv gone out
same tag-1 stopped
# From a checkpoint in the middle, the later ones gone.
logged whole.log tune 1 whole --set tune.evaluate_every=10 --set tune.keep=20
same tag-1 whole
for n in 1 2; do
    cp -r whole from-$n
    rm from-$n/"$(checkpoint 100)" from-$n/"$(checkpoint 90)" from-$n/"$(checkpoint 80)" from-$n/"$(checkpoint 70)"
    logged from-$n.log tune $n from-$n --set tune.evaluate_every=10 --set tune.keep=20
    grep -q 'resumed from .* at step 60' from-$n.log || fail "$(head from-$n.log)"
    same whole from-$n
done
tune 1 whole --set tune.evaluate_every=10 --set tune.keep=20 >again.log 2>&1 && grep -q 'nothing to do' again.log &&
    grep -q 'best on dev' again.log ||
    fail "a finished run: $(cat again.log)"
logged never.log tune 1 whole --resume never --set tune.epochs=1
[ -e "whole/previous-1/best" ] && [ "$(readlink whole/best)" = "$(checkpoint 25)" ] || fail "never: $(ls -lR whole)"

# Changed keys are listed, and job.conf does the same again.
logged changed.log tune 1 other --set tune.seed=2 --set tune.epochs=2 --set tune.batch=16 --set tune.weight_decay=0.1 \
    --set "task tagging.choose_by=macro_f1"
cmp <(sed -n 's/^  \(\[.*\)/\1/p' changed.log) - <<'LIST' || fail "changed keys: $(cat changed.log)"
[tune] epochs: 1 -> 2
[tune] weight_decay: 0.01 -> 0.1
[task tagging] choose_by: auto -> macro_f1
LIST
sed 's/^output = .*/output = again/' tag-1/job.conf >again.conf
logged again.log ranks 2 xlm_tune again.conf
same tag-1 again

# The warm-up as a share of the steps, and as their number, which may be more than there are.
for warmup in 0.2 5 1 1000; do
    logged warmup.log tune 1 warmup-$warmup --set tune.epochs=1 --set tune.warmup=$warmup
done
same warmup-0.2 warmup-5
same warmup-1 warmup-1000
other_text <(rows warmup-1) <(rows warmup-5) || fail "warm-ups of 5 and 25 steps are the same"
is_near "$(values warmup-5 train total learning_rate | sed -n 's/^5 //p')" 6e-3 ||
    fail "after the warm-up: $(values warmup-5 train total learning_rate)"

only_in_check_all

# ---- a step laid open ----
before=$(ls -l tag-1 | cksum)
logged dump.log tune 2 tag-1 --set tune.evaluate_every=10 --set tune.keep=2 --dump-step last.h5
[ "$before" = "$(ls -l tag-1 | cksum)" ] && [ "$(attribute /step last.h5)" = 100 ] || fail "a step laid open: $(cat dump.log)"
logged dump.log tune 1 opened --set tune.dropout=0 --dump-step step.h5
estimated dump.log
[ ! -e opened ] || fail "--dump-step made the output directory"
logged opened.log tune 1 opened --set tune.dropout=0 --set tune.epochs=1
[ "$(h5ls -r step.h5/gradients/objectives/tagging | grep -c Dataset)" -eq 2 ] &&
    [ "$(numbers /streams/train/batch/targets step.h5 | wc -l)" = "$(attribute /objectives/tagging/loss/terms step.h5)" ] ||
    fail "what is in the step: $(h5ls -r step.h5)"
loss=$(h5dump -m %.9g -a /loss step.h5 | sed -n 's/^ *(0): //p')
is_near "$loss" "$(losses opened | awk 'NR == 1 { print $2 }')" ||
    fail "loss of the step $loss, of training $(losses opened | head -n 1)"

# ---- what it starts from, and has ----
logged still.log tune 1 still --set tune.learning_rate=0 --set tune.epochs=1
for path in /model/embeddings /model/encoder /vocabulary /languages; do
    same_objects out/latest still/latest $path >differences.txt 2>&1 ||
        fail "$path is not that of the model: $(head -n 3 differences.txt)"
done
h5dump -n tag-1/best >contents.txt
grep -q lm_head contents.txt && fail "the head for words went along"
for path in /objectives/tagging/weight /objectives/tagging/bias /optimiser/first_moment/objectives/tagging/weight /task/labels \
    /task/best; do
    grep -q " $path$" contents.txt || fail "there is no $path: $(cat contents.txt)"
done
h5dump -d /task/labels tag-1/best | grep -q '"B-NP", "I-NP", "O"' || fail "labels: $(h5dump -d /task/labels tag-1/best)"

# ---- scores ----
# evaluate NAME RANKS OPTION...: tables into NAME.out and NAME.csv, predictions into NAME.predicted.
evaluate() {
    local name=$1 n=$2
    shift 2
    ranks "$n" xlm_eval tag-1/best --csv "$name.csv" --predictions "$name.predicted" "$@" >"$name.out" 2>"$name.log" ||
        fail "$name: $(cat "$name.log")"
}
evaluate dev-1 1 --test dev.tsv
is_near "$(score dev-1.csv span_f1)" "${best#* }" || fail "span F1 on dev: $(score dev-1.csv span_f1), in training $best"
is_near "$(score dev-1.csv loss)" "$(dev tag-1 loss | sed -n "s/^${best% *} //p")" ||
    fail "loss on dev: $(score dev-1.csv loss), in training $(dev tag-1 loss)"
for n in 2 4; do
    evaluate dev-$n $n --test dev.tsv
    cmp dev-1.out dev-$n.out && cmp dev-1.csv dev-$n.csv && cmp dev-1.predicted dev-$n.predicted ||
        fail "$n ranks give another result"
done
evaluate test 1 --test test.tsv
cmp test.tsv <(cut -f1,2 test.predicted) || fail "tokens and gold of the predictions are not those of the file"
# by_hand FILE: accuracy, macro F1 without O and F1 of spans, from the predictions.
by_hand() {
    awk -F '\t' '
        # The spans of a sentence, "begin:end", into found: from B- on, or I- where none is open, as far as I- goes on.
        function find_spans(tag, found,    k, begin) {
            split("", found)
            for (k = 1; k <= n + 1; k++) {
                if (begin && (k > n || tag[k] !~ /^I-/)) { found[begin ":" k - 1]; begin = 0 }
                if (k <= n && (tag[k] ~ /^B-/ || (tag[k] ~ /^I-/ && !begin))) begin = k
            }
        }
        function end_sentence(    span) {
            find_spans(gold, gold_spans)
            find_spans(predicted, predicted_spans)
            for (span in gold_spans) { spans_gold++; spans_right += span in predicted_spans }
            for (span in predicted_spans) spans_predicted++
            n = 0
        }
        function f1(right, in_gold, in_predicted) { return 2 * right / (in_gold + in_predicted) }
        NF == 0 { if (n) end_sentence(); next }
        {
            gold[++n] = $2; predicted[n] = $3
            words++
            of_gold[$2]++; of_predicted[$3]++
            if ($2 == $3) { words_right++; of_right[$2]++ }
            tags[$2]; tags[$3]
        }
        END {
            if (n) end_sentence()
            for (tag in tags) if (tag != "O") { sum += f1(of_right[tag], of_gold[tag], of_predicted[tag]); counted++ }
            printf "%.6f %.6f %.6f\n", words_right / words, sum / counted, f1(spans_right, spans_gold, spans_predicted)
        }' "$1"
}
# agree NAME: the table has these numbers.
agree() {
    [ "$(by_hand "$1.predicted")" = "$(score "$1.csv" accuracy) $(score "$1.csv" macro_f1) $(score "$1.csv" span_f1)" ] ||
        fail "$1: $(grep ^measure "$1.csv"), by hand $(by_hand "$1.predicted")"
}
agree test
# What was predicted instead of what, in both tables.
awk -F '\t' 'NF { n[$2 ",,,,," $3]++ } END { for (g in n) print "confusion," g "," n[g] }' test.predicted | sort |
    cmp - <(grep '^confusion' test.csv | grep -v ',0$' | sort) || fail "confusion: $(cat test.csv)"
[ "$(grep -c '^confusion' test.csv)" -eq 9 ] &&
    cmp <(awk '/^gold, predicted/ { n = 3; next } n-- > 0 { print $2, $3, $4 }' test.out) \
        <(awk -F, '$1 == "confusion" { printf "%s%s", $8, ++n % 3 ? " " : "\n" }' test.csv) || fail "$(cat test.out test.csv)"
# It is learned, given time, and does less well in a language of other words and order.
evaluate xx 2 --test xx.tsv --language xx
agree xx
logged longer.log tune 1 longer --set tune.epochs=8 --set tune.learning_rate=3e-3
logged longer-scores.log ranks 1 xlm_eval longer/best --test test.tsv --csv longer.csv
is_between 0.97 "$(score longer.csv span_f1)" 1 && is_between 0 "$(score xx.csv span_f1)" 0.8 ||
    fail "span F1 $(score longer.csv span_f1), zero-shot $(score xx.csv span_f1)"
# 64 sentences are learned by heart, though no tag follows from its word.
awk -F '\t' -v OFS='\t' 'NF { $2 = "t" NR * NR % 5 } !NF && ++n == 64 { exit } { print }' train.tsv >64.tsv
logged 64.log tune 1 64 --set tune.train=64.tsv --set tune.dev=64.tsv --set tune.epochs=100 --set tune.batch=8 \
    --set tune.dropout=0 --set tune.learning_rate=3e-3 --set tune.evaluate_every=200
is_between 0.99 "$(dev 64 accuracy | tail -n 1 | cut -d' ' -f2)" 1 && grep -q '^train: 64 sentences' 64.log ||
    fail "64 sentences: $(grep '^train\|^dev' 64.log)"
evaluate both 1 --test test.tsv --test dev.tsv
cmp <(cat test.tsv dev.tsv) <(cut -f1,2 both.predicted) || fail "two files"

# CoNLL-U gives the same, compressed too.
conllu test.tsv | gzip >test.conllu.gz
evaluate conllu 1 --test test.conllu.gz --set column=NP
cmp test.out conllu.out && cmp test.predicted conllu.predicted ||
    fail "CoNLL-U gives another result: $(cat conllu.log conllu.out)"
conllu train.tsv >train.conllu
conllu dev.tsv >dev.conllu
logged upos.log tune 1 upos --set tune.train=train.conllu --set tune.dev=dev.conllu --set tune.epochs=1
grep -q '^3 labels: NOUN, PUNCT, VERB$' upos.log && [ -n "$(dev upos accuracy)" ] && [ -z "$(dev upos span_f1)" ] ||
    fail "upos: $(cat upos.log)"
ranks 1 xlm_eval upos/best --test test.conllu.gz >upos.out 2>&1 || fail "$(cat upos.out)"
awk '$1 == "accuracy" { exit !($2 + 0 > 97) }' upos.out || fail "parts of speech are not learned: $(cat upos.out)"

# In training, too, words without the key are O, as the help says.
grep -v 'NP=' train.conllu | grep '^[0-9]*[[:blank:]]' >/dev/null || fail "every word has the key"
logged lines.log tune 1 none --dry-run
logged key.log tune 1 none --set tune.train=train.conllu --set tune.dev=dev.conllu --set "task tagging.column=NP" --dry-run
cmp <(grep -e ' labels: ' -e '^train: ' lines.log) <(grep -e ' labels: ' -e '^train: ' key.log) &&
    grep -q ' labels: .*\bO\b' key.log || fail "words without the key: $(cat key.log)"
xlm_tune --help-job=tagging | tr -s '\n# ' ' ' | grep -q 'a word without the key has the tag O' ||
    fail "--help-job=tagging: the key"
# Text without tags is tagged, the same on two ranks as with tags, and not scored: a word on each line, and `_` in CoNLL-U.
awk -F '\t' '{ print $1 }' test.tsv >words.txt
sed 's/NP=[-A-Z]*/X=1/' <(conllu test.tsv) >bare.conllu
for n in 1 2; do
    logged words.log ranks $n xlm_eval tag-1/best --test words.txt --predictions words-$n.predicted
    ! grep -q accuracy words.log && grep -q '^test: no label among [0-9]* words; they are predicted' words.log ||
        fail "text without tags: $(cat words.log)"
    cmp words-$n.predicted <(awk -F '\t' -v OFS='\t' 'NF { $2 = "_" } { print }' test.predicted) ||
        fail "other tags of words without them"
done
logged bare.log xlm_eval tag-1/best --test bare.conllu --set column=NP --predictions bare.predicted
cmp bare.predicted words-1.predicted || fail "CoNLL-U without tags: $(cat bare.log)"
expect 65 'words.txt:1: a line must have the form' ranks 2 xlm_eval tag-1/best --test words.txt --csv none.csv
expect 64 '--csv is a file of scores' xlm_eval tag-1/best --test words.txt --predictions none.out --csv none.csv
expect 65 'words.txt:1: a line must have the form' xlm_tune tune.conf --set tune.output=none --set tune.dev=words.txt
[ ! -e none ] && [ ! -e none.out ] && [ ! -e none.csv ] || fail "something was written for text without tags"
# Some have them: the scores are theirs. Of two texts, one has.
awk -v RS= -v ORS='\n\n' 'NR <= 30' test.tsv >all.tsv
{ cat all.tsv; sed 's/\t.*/\t_/' test.tsv; } >some.tsv
evaluate some 1 --test some.tsv
evaluate all 1 --test all.tsv
cmp <(grep -v loss all.out) some.out && grep -q '^xlm_eval: warning: test: scores are of the [0-9]* of [0-9]* words that' some.log ||
    fail "some tags: $(cat some.log some.out)"
logged two.log ranks 1 xlm_eval tag-1/best --test en:all.tsv --test xx:words.txt --predictions two.tsv --csv two.csv
cmp two.csv all.csv && cmp two.en.tsv all.predicted && [ -s two.xx.tsv ] || fail "two texts, one of them without tags"

# Tags that training does not have are wrong: reported with their number, in all measures and tables, by xlm_tune too.
awk -F '\t' '$1 == "sees" { $2 = "B-VP"; n++ } NF { print $1 "\t" $2; next } { print }' test.tsv >unseen.tsv
unseen=$(grep -c B-VP unseen.tsv)
evaluate unseen 2 --test unseen.tsv
agree unseen
grep -q "warning: tags that the training text does not have count as wrong: $unseen of $(grep -c . unseen.tsv) words, with B-VP" \
    unseen.log || fail "no warning: $(cat unseen.log)"
grep -q "^measure,unseen_tags,,,,$unseen,," unseen.csv && grep -q "^span,VP,0.000000,0.000000,0.000000,$unseen,0," unseen.csv &&
    grep -q "^tag,B-VP,.*,$unseen,0,\$" unseen.csv || fail "tables: $(cat unseen.csv)"
expected=$(awk -v accuracy="$(score test.csv accuracy)" -v unseen="$unseen" -v words="$(grep -c . test.tsv)" \
    'BEGIN { print accuracy - unseen / words }')
[ "$unseen" -gt 5 ] && is_near "$(score unseen.csv accuracy)" "$expected" 0.01 ||
    fail "accuracy: $(score test.csv accuracy), $(score unseen.csv accuracy)"
[ "$(score test.csv unseen_tags)" = "" ] || fail "tags unseen in $(cat test.csv)"
logged unseen-dev.log tune 2 unseen --set tune.dev=unseen.tsv --set tune.epochs=1
grep -q 'warning: tags that the training text' unseen-dev.log && [ -n "$(dev unseen unseen_tags)" ] ||
    fail "$(cat unseen-dev.log)"

# CoNLL-2003: columns between blanks, documents, IOB1.
awk -F '\t' 'NR == 1 { print "-DOCSTART- -X- O O\n" } NF { sub(/^B-/, "I-", $2); print $1, "X", "I-NP", $2; next } { print }' \
    test.tsv >eng.testa
evaluate conll 1 --test eng.testa
cmp <(sed /^language/d test.out) <(sed /^language/d conll.out) && cmp test.predicted conll.predicted &&
    grep -q 'DOCSTART- lines skipped: 1; files with IOB1 tags, which are read as BIO: 1' conll.log ||
    fail "CoNLL-2003 gives another result: $(cat conll.log conll.out)"

# The log names the language that was taken.
grep -q '^language: en, that of training' test.log && grep -q '^language,en,,,,,,$' test.csv &&
    grep -q '^language  *en$' test.out ||
    fail "the language: $(cat test.log test.csv)"
grep -q '^language: xx$' xx.log && grep -q '^language,xx,,,,,,$' xx.csv || fail "the language: $(cat xx.log xx.csv)"
! grep -q warning xx.log test.log || fail "a warning: $(cat xx.log test.log)"
cp test.tsv xx_made-ud-test.tsv
evaluate named 1 --test xx_made-ud-test.tsv
grep -q 'warning: xx_made-ud-test.tsv: its name suggests xx, .* give --language xx' named.log ||
    fail "no warning: $(cat named.log)"
cmp named.out test.out || fail "a file of another name gives another result"

# Examples that do not fit are cut, which the log reports.
logged short.log tune 1 short --set tune.length=6 --set tune.epochs=1
grep -q '^train: 400 sentences, .* cuts between words: [1-9]' short.log || fail "$(head -n 3 short.log)"

# ---- errors: printed once, and nothing is written ----
# wrong CODE PATTERN OPTION...: wrong files (65, 66) are tried on 2 ranks, for one of them may have read what the other has not. A
# wrong option (64) is seen by every rank alike: the first is tried on 2 ranks, the others on one, which needs no mpiexec.
options_tried=no
wrong() {
    local code=$1 pattern=$2 n=1
    shift 2
    if [ "$code" -eq 65 ] || [ "$code" -eq 66 ]; then
        n=2
    elif [ "$code" -eq 64 ] && [ $options_tried = no ]; then
        n=2
        options_tried=yes
    fi
    expect "$code" "$pattern" ranks $n xlm_tune tune.conf --set tune.output=wrong "$@"
    once '^xlm_tune: '
    [ ! -e wrong ] || { fail "something was written: $*"; rm -r wrong; }
}
cut -f1 dev.tsv | sed '/./s/$/\tB-VP/' >other.tsv
wrong 65 'other.tsv:1: neither the tag "B-VP" .* nor any other of .* the training text, which has B-NP, I-NP, O' \
    --set tune.dev=other.tsv
sed '3s/\t/ /' train.tsv >spaces.tsv
wrong 65 'spaces.tsv:3: a line must have the form' --set tune.train=spaces.tsv
cut -f1 train.tsv | sed '/./s/$/\tX/' >one.tsv
wrong 65 'all words have the same tag' --set tune.train=one.tsv
printf 'a\tO\n\xff\tB-NP\n' >latin.tsv
wrong 65 'latin.tsv:2: .*not UTF-8' --set tune.train=latin.tsv
: >empty.tsv
wrong 65 'empty.tsv: there is no word' --set tune.dev=empty.tsv
wrong 66 'none.tsv' --set tune.train=none.tsv
wrong 66 'none.h5' --set tune.model=none.h5
wrong 65 'corpus.h5' --set tune.model=corpus.h5
head -c 20000 "out/$(readlink out/latest)" >cut.h5
wrong 65 'cut.h5' --set tune.model=cut.h5
wrong 78 'no language "zz"; it has en, xx' --set tune.language=zz
wrong 78 'give language = NAME' --set tune.language=
wrong 78 'the model of out/latest has 96 positions' --set tune.length=97
wrong 78 'power of two' --set tune.micro_batches=6
wrong 65 'no word has NER=' --set tune.train=train.conllu --set "task tagging.column=NER"
wrong 78 'choose_by = run_f1 is for tags that are not BIO' --set "task tagging.choose_by=run_f1"
wrong 78 'choose_by = span_f1 is for BIO tags' --set tune.train=train.conllu --set "task tagging.choose_by=span_f1"
wrong 64 'unknown key "epoch"; did you mean "epochs"' --set tune.epoch=3
sed 's/task tagging/task taging/' tune.conf >task.conf
expect 78 'task.conf:12: .*no task "taging"; did you mean "tagging"' xlm_tune task.conf
sed '/^\[task/d' tune.conf >task.conf
expect 78 'one section \[task NAME\]' xlm_tune task.conf
expect 64 'one job file' xlm_tune
expect 64 '^xlm_tune: --help-job: there is no task "./x.so"; it is one of .*"tagging"' xlm_tune --help-job=./x.so
# A run of other labels, or of xlm_train, is not gone on with.
awk -F '\t' 'NF { print $1 "\t" ($2 == "O" ? "O" : "B-X") } !NF' train.tsv >labels.tsv
expect 65 'does not fit the job: its labels are B-NP, I-NP, O; here B-X, O' tune 2 first-4 --set tune.train=labels.tsv \
    --set tune.dev=labels.tsv
expect 65 'does not fit the job: it is not fine-tuned' tune 2 out
# Nor one of other text, be it one word under the same name; the same text may be elsewhere, and compressed.
mkdir elsewhere
gzip -c train.tsv >elsewhere/same.tsv.gz
sed '1s/^[^\t]*/garden/' train.tsv >elsewhere/train.tsv
! cmp -s train.tsv elsewhere/train.tsv || fail 'the other text is the same'
first=(2 first-4 --set tune.epochs=1 --set tune.evaluate_every=10 --set tune.keep=2)
logged same.log tune "${first[@]}" --set tune.train=elsewhere/same.tsv.gz
grep -q 'nothing to do' same.log || fail "the same text elsewhere: $(cat same.log)"
for epochs in 1 2; do
    expect 65 'does not fit the job: it was trained on other text' tune "${first[@]}" --set tune.train=elsewhere/train.tsv \
        --set tune.epochs=$epochs
done
expect 65 'does not fit the job' ranks 2 xlm_train job.conf --set train.output=first-4 --set train.steps=200

# A directory instead of a file: the message names what to give.
mkdir theirs nothing
echo '{}' >theirs/config.json
expect 66 'first-4: is a directory, the output of a run; give first-4/best or first-4/latest$' xlm_eval first-4 --test dev.tsv
wrong 66 ' out: is a directory, the output of a run; give out/latest$' --set tune.model=out
expect 66 ' out: is a directory, .*; give out/latest$' xlm_embed neighbours out --language en the
expect 66 ' out: is the output of a run, not a published model; give out/latest$' xlm_convert out -o theirs.h5
expect 66 'theirs: is a directory, as of a model of transformers; convert it .* with xlm_convert' xlm_eval theirs --test dev.tsv
expect 66 'nothing: is a directory; give a file$' xlm_eval nothing --test dev.tsv

expect 64 'one checkpoint' xlm_eval
expect 64 '--test FILE' xlm_eval tag-1/best
expect 65 'out/latest: is not fine-tuned' ranks 2 xlm_eval out/latest --test dev.tsv
expect 65 'other.tsv:1: neither the tag "B-VP"' ranks 2 xlm_eval tag-1/best --test other.tsv --csv none.csv \
    --predictions none.out
[ ! -e none.csv ] && [ ! -e none.out ] || fail "a table was written of a file with other tags"
[ ! -s expect.out ] || fail "a table was printed of a file with other tags"
expect 64 'no language "zz"' xlm_eval tag-1/best --test dev.tsv --language zz
expect 64 'did you mean "column"' xlm_eval tag-1/best --test dev.tsv --set colum=upos
expect 73 'no-such-directory' xlm_eval tag-1/best --test dev.tsv --csv no-such-directory/a.csv
expect 65 'no language-modelling head' xlm_fill tag-1/best --language en 'the <mask>'
# Training starts from the encoder of a fine-tuned model; the head of the task is left, one for words is drawn.
trained job.conf warm 1 --set train.start=tag-1/best --set train.steps=1
grep -q 'drawn: lm_head/' warm.log && grep -q 'left: objectives/tagging' warm.log &&
    h5ls warm/latest | grep -q '^start' || fail "from a fine-tuned model: $(grep -A3 'started from' warm.log)"
# It draws a head for words, and says what that means for jobs that predict none.
[ "$(grep -c 'the checkpoint has no head for words, and a new one is drawn; .* set head = none' warm.log)" -eq 1 ] ||
    fail "a head that is drawn: $(grep -A3 'started from' warm.log)"

# As an objective on text without a head for words.
expect 78 'no head for words; set head = bert' xlm_train job.conf --set model.head=none --set train.output=wrong
finish
