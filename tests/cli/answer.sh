#!/usr/bin/env bash
# xlm-mpi: question answering: learned by heart, the same on any number of ranks and after a stop, its files, and what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
xlm_train job.conf --set train.steps=40 >train.log 2>&1 || { tail -n 3 train.log >&2; exit 99; }

# questions VERSION MOST EVERY: of lines of text, up to MOST in SQuAD form: contexts of four sentences, and for each verb that
# one of them has, and no other, the question "VERB", answered by what comes before it; EVERY > 0: every so many of the verbs
# that no sentence has is asked for, too.
questions() {
    awk -v version="$1" -v most="$2" -v every="$3" '
        function ask(rest) {
            if (id == most) return
            list = list sprintf("%s{\"id\": \"q%d\", \"question\": \"%s\", %s}", list == "" ? "" : ", ", ++id, verb, rest)
        }
        BEGIN { n = split("sees finds opens likes paints follows", all, " ") }
        { line[NR % 4] = $0 }
        NR % 4 == 0 {
            context = line[1] " " line[2] " " line[3] " " line[0]
            list = ""
            for (v = 1; v <= n; v++) {
                verb = other = all[v]
                gsub(/[aeiou]/, "y&", other)
                if (index(" " context " ", " " other " ") > 0) verb = other
                count = split(" " context " ", part, " " verb " ") - 1
                if (count == 1) {
                    answer = part[1]; sub(/^ /, "", answer); sub(/.* \. /, "", answer)
                    start = length(part[1]) - length(answer) - 1
                    ask(sprintf("\"answers\": [{\"text\": \"%s\", \"answer_start\": %d}]", answer, start))
                } else if (count == 0 && every > 0 && ++missed % every == 0)
                    ask("\"answers\": [], \"is_impossible\": true")
            }
            out = out sprintf("%s{\"context\": \"%s\", \"qas\": [%s]}", out == "" ? "" : ",\n", context, list)
        }
        END { printf "{\"version\": \"%s\", \"data\": [{\"title\": \"made\", \"paragraphs\": [%s]}]}\n", version, out }'
}
head -n 120 text.en | questions 1.1 64 0 >heart.json
head -n 120 text.en | questions v2.0 80 3 >train.json
sed -n '121,160p' text.en | questions v2.0 40 3 >dev.json
sed -n '121,160p' text.xx | questions 1.1 40 0 >xx.json
[ "$(grep -o '"id"' heart.json | wc -l)" -eq 64 ] && grep -q is_impossible dev.json || exit 99

cat >tune.conf <<'JOB'
[tune]
model = out/latest
train = train.json
dev = dev.json
language = en
output = qa
epochs = 3
batch = 8
length = 40
learning_rate = 4e-3

[task answering]
stride = 16
n_best = 5
JOB
# tune RANKS OUTPUT [OPTION...]
tune() {
    local n=$1 output=$2
    shift 2
    ranks "$n" xlm_tune tune.conf --set "tune.output=$output" "$@"
}
# measure OUTPUT NAME LANG: of the last evaluation.
measure() {
    awk -F, -v name="$2" -v language="$3" '$2 == "dev" && $3 == name && $4 == language { last = $NF } END { print last }' \
        "$1/metrics.csv"
}
# at_least A B
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }

# same A B: of two runs.
same() {
    cmp <(rows "$1") <(rows "$2") || fail "metrics of $1 and $2 are not the same bits"
    [ "$(digest "$1/latest")" = "$(digest "$2/latest")" ] || fail "$1 and $2 end with other parameters"
}
# share NAME FILE: a measure as xlm_eval prints it.
share() { awk -v name="$1" '$1 == name { sub(/%/, "", $2); print $2 }' "$2"; }

# ---- 64 questions by heart, which is what xlm_eval then finds, and writes ----
logged heart.log tune 1 heart --set tune.train=heart.json --set tune.dev=heart.json --set tune.dropout=0 --set tune.epochs=80 \
    --set tune.evaluate_every=640 --set tune.length=64 --set tune.learning_rate=6e-3
at_least "$(measure heart f1 en)" 0.95 || fail "64 questions learned by heart: f1 $(measure heart f1 en)"
h5dump -d /objectives/answering/null_threshold heart/latest | grep -q '(0): inf' ||
    fail "a threshold where every question has an answer"
xlm_eval heart/best --test heart.json --predictions heart.pred --output n_best=n.json >heart.out 2>heart.err ||
    fail "$(cat heart.err)"
at_least "$(share exact_match heart.out)" 95 || fail "what was learned by heart: $(cat heart.out)"
# Each answer is as the context has it.
of() { grep -o "\"$1\": \"[^\"]*\"" heart.json | cut -d '"' -f 4; }
right=$(paste -d '|' <(of id) <(of text) |
    sed 's/\(.*\)|\(.*\)/ "\1": "\2"/' | grep -c -F -x -f - <(sed 's/,$//' heart.pred))
[ "$right" -ge 63 ] || fail "of the answers that are written, $right are right"
[ "$(grep -c '"probability"' n.json)" -gt 64 ] || fail "n best: $(head n.json)"

# ---- the memory of a rank has room for the predictions of all dev text ----
questions v2.0 800 1 <text.en >many.json
for n in 1 1000; do
    logged room-$n.log tune 1 room --dry-run --set tune.dev=many.json,xx:xx.json --set "task answering.n_best=$n"
done
memory() { sed -n 's/.*memory: \([0-9.]*\) GiB a rank.*/\1/p' "$1"; }
awk -v few="$(memory room-1.log)" -v many="$(memory room-1000.log)" 'BEGIN { exit !(few > 0 && many - few > 0.03) }' ||
    fail "memory of a rank: $(memory room-1.log), with 1000 answers each $(memory room-1000.log)"

# ---- ranks, stops, and the threshold ----
for n in 1 2 4; do
    tune $n qa-$n --set tune.evaluate_every=10 --set tune.keep=2 >qa-$n.log 2>&1 || fail "$n ranks: $(tail -n 3 qa-$n.log)"
    same qa-1 qa-$n
done
steps=$(awk -F, '$2 == "dev" { last = $1 } END { print last }' qa-1/metrics.csv)
cp -r qa-1 resumed
rm resumed/"$(checkpoint "$steps")"
logged resumed.log tune 2 resumed --set tune.evaluate_every=10 --set tune.keep=2
grep -q 'resumed from' resumed.log || fail "$(head resumed.log)"
same qa-1 resumed
threshold_of() { h5dump -m %.17g -d /objectives/answering/null_threshold "$1" | sed -n '/DATATYPE\|(0)/p'; }
threshold=$(numbers /objectives/answering/null_threshold qa-1/latest)
case $threshold in '' | *inf* | *nan*) fail "threshold: $threshold" ;; esac
for n in 1 2; do
    ranks $n xlm_eval qa-1/latest --test dev.json --csv $n.csv --predictions $n.json --output null_odds=odds-$n.json \
        >eval-$n.out 2>eval-$n.err || fail "$(cat eval-$n.err)"
done
cmp 1.csv 2.csv && cmp 1.json 2.json && cmp odds-1.json odds-2.json || fail "xlm_eval on two ranks"
# A model with other rows answers alike, with the same threshold to the last bit, also where it is infinite.
for name in qa-1 heart; do
    logged $name.keep xlm_convert $name/latest --keep corpus.h5 -o $name.kept.h5
    [ "$(threshold_of $name/latest)" = "$(threshold_of $name.kept.h5)" ] ||
        fail "$name: threshold $(threshold_of $name/latest), converted $(threshold_of $name.kept.h5)"
done
# So has one into which an adapter was merged before.
{ cat tune.conf && printf '[adapter one]\nrank = 2\n'; } >low.conf
logged low.log xlm_tune low.conf --set tune.output=low --set tune.model=heart/latest --set tune.train=heart.json \
    --set tune.dev=heart.json --set tune.epochs=1
logged low.merge xlm_convert low/latest --merge-adapters -o low.merged.h5
logged low.keep xlm_convert low.merged.h5 --keep corpus.h5 -o low.kept.h5
[ "$(threshold_of low/latest)" = "$(threshold_of low.kept.h5)" ] && threshold_of low.kept.h5 | grep -q inf ||
    fail "threshold $(threshold_of low/latest), of the merged model $(threshold_of low.kept.h5)"
xlm_eval qa-1.kept.h5 --test dev.json --predictions kept.json >kept.out 2>&1 || fail "$(cat kept.out)"
cmp 1.json kept.json || fail "answers of a model that was converted"
# So has one that was a model of transformers, which has no threshold, in between: our record of the task keeps it.
for name in qa-1 heart; do
    logged $name.away xlm_convert $name/latest -o $name.there
    logged $name.back xlm_convert $name.there -o $name.back.h5
    [ "$(threshold_of $name/latest)" = "$(threshold_of $name.back.h5)" ] && ! grep -q threshold $name.back ||
        fail "$name: threshold $(threshold_of $name/latest), there and back $(threshold_of $name.back.h5): $(cat $name.back)"
done
xlm_eval qa-1.back.h5 --test dev.json --predictions back.json >back.out 2>&1 || fail "$(cat back.out)"
cmp 1.json back.json || fail "answers of a model that came back from transformers"
# threshold VALUE: qa-1.there with another one.
threshold() {
    rm -rf other
    cp -r qa-1.there other
    sed -i "s/\"null_threshold\": [^,}]*/\"null_threshold\": $1/" other/config.json
    grep -qF "\"null_threshold\": $1" other/config.json || fail "$(cat other/config.json)"
}
threshold '"-inf"'
logged minus.log xlm_convert other -o minus.h5
threshold_of minus.h5 | grep -q '(0): -inf' || fail "-inf: $(threshold_of minus.h5)"
for value in '"nan"' 1e999 true null '[]'; do
    threshold "$value"
    expect 65 'config.json' xlm_convert other -o other.h5
    [ ! -e other.h5 ] || fail "$value: a file is left"
done
threshold '"nan"'
expect 65 'config.json: "null_threshold" is neither a number nor "inf" or "-inf"' xlm_convert other -o other.h5
sed -i 's/"null_threshold"/"other"/' other/config.json
logged without.log xlm_convert other -o without.h5
grep -q 'warning: .*config.json: has no threshold for questions without an answer' without.log || fail "$(cat without.log)"
threshold_of without.h5 | grep -q '(0): inf' || fail "no threshold: $(threshold_of without.h5)"
# It is the dev files' own threshold, at which they are answered best.
for name in f1 best_f1; do
    is_near "$(awk -F, -v name=$name '$1 == "measure" && $2 == name { print $NF }' 1.csv)" "$(measure qa-1 f1 en)" ||
        fail "xlm_eval $name: $(cat 1.csv), in training $(measure qa-1 f1 en)"
done
[ "$(grep -c ': ""' 1.json)" -eq "$(awk -F ': ' -v t="$threshold" 'NF == 2 && $2 + 0 > t + 1e-4' odds-1.json | wc -l)" ] ||
    fail "no answers: $(cat 1.json odds-1.json), threshold $threshold"
xlm_eval qa-1/latest --test dev.json --set no_answer=never --predictions never.json >never.out 2>&1 || fail "$(cat never.out)"
! grep -q ': ""' never.json || fail "no_answer = never: $(cat never.json)"

xlm_eval qa-1/latest --test dev.json --set no_answer=never --set answer_length=1 --predictions short.json >short.out 2>&1 ||
    fail "$(cat short.out)"
grep -q ': "[^"]* ' never.json && grep -q ': "[^"]' short.json && ! grep -q ': "[^"]* ' short.json ||
    fail "answer_length = 1: answers of several words: $(grep ': "[^"]* ' short.json | head -n 3)"

# ---- two languages, and MLQA's rules where they are asked for ----
logged both.out xlm_eval qa-1/best --test en:dev.json --test xx:xx.json --predictions both.json --output null_odds=odds.json \
    --csv both.csv
[ -s both.en.json ] && [ -s both.xx.json ] && [ -s odds.xx.json ] && grep -q '^xx,measure,f1,' both.csv ||
    fail "$(ls; cat both.csv)"
# ---- questions whose answers are not known ----
sed 's/"answers": \[[^]]*\]/"answers": []/g; s/"is_impossible": true/"is_impossible": false/g' dev.json >asked.json
logged asked.log xlm_eval qa-1/latest --test asked.json --predictions asked.pred
cmp asked.pred 1.json || fail "questions without answers are answered otherwise: $(cat asked.log)"
expect 65 'asked.json:1: .*there is no answer' xlm_eval qa-1/latest --test asked.json

# ---- a file without answerable questions has no score of these, which would be 0 in the mean ----
sed 's/"answers": \[[^]]*\]/"answers": []/g; s/, "is_impossible": true//g; s/"answers": \[\]/&, "is_impossible": true/g' dev.json \
    >unanswerable.json
logged un.log xlm_eval qa-1/latest --test en:unanswerable.json --test xx:dev.json --csv un.csv
grep -q '^en,measure,no_ans_f1,' un.csv && grep -q '^xx,measure,has_ans_f1,' un.csv &&
    [ "$(grep has_ans un.csv | grep -v -c '^xx,')" -eq 0 ] || fail "no answerable question: $(cat un.csv)"

expect 64 'has n_best=FILE' xlm_eval qa-1/best --test dev.json --output nothing=x
expect 78 'xx.json: rules = mlqa' xlm_eval qa-1/best --test xx:xx.json --set rules=mlqa --csv none.csv

only_in_check_all

# ---- the share of the answers that subwords reproduce, once for each file ----
said() { # LOG PATTERN: once
    [ "$(grep -c "$2" "$1")" -eq 1 ] || fail "$1 does not say once \`$2\`: $(cat "$1")"
}
said heart.err '^heart.json (en): subwords reproduce 100.00 % of 64 answers$'
for n in 1 2 4; do
    said qa-$n.log '^train.json (en): subwords reproduce 100.00 % of [0-9]* answers$'
    said qa-$n.log '^dev.json (en): subwords reproduce 100.00 % of [0-9]* answers$'
done
said both.out '^dev.json (en): subwords reproduce 100.00 %'
said both.out '^xx.json (xx): subwords reproduce 100.00 %'
# Answers without their first letter, so that they begin within a subword.
awk '{
    out = ""
    while (match($0, /"text": "[^"]*", "answer_start": [0-9]+/)) {
        split(substr($0, RSTART, RLENGTH), part, "\"")
        sub(/: /, "", part[7])
        out = out substr($0, 1, RSTART - 1) "\"text\": \"" substr(part[4], 2) "\", \"answer_start\": " part[7] + 1
        $0 = substr($0, RSTART + RLENGTH)
    }
    print out $0
}' heart.json >within.json
for n in 1 2; do
    ranks $n xlm_eval heart/best --test within.json >within.out 2>within-$n.err || fail "$(cat within-$n.err)"
    said within-$n.err '^xlm_eval: warning: within.json (en): subwords reproduce only [0-9.]* % of 64 answers, .*(id q[0-9]*)'
    tune $n within-$n --set tune.train=within.json --set tune.epochs=1 >within-$n.log 2>&1 || fail "$(tail -n 3 within-$n.log)"
    said within-$n.log '^xlm_tune: warning: within.json (en): subwords reproduce only [0-9.]* % of 64 answers, '
done
cmp within-1.err within-2.err || fail "xlm_eval says something else on two ranks"
reached=$(sed -n 's/.*only \([0-9.]*\) %.*/\1/p' within-1.err)
at_least "$reached" "$(share exact_match within.out)" || fail "exact match of $(share exact_match within.out) with $reached % in reach"

# ---- code-switching: 13 pairs of questions of the same id, and three questions that only the other language has ----
head -n 40 text.en | questions 1.1 13 0 >switch.en.json
head -n 40 text.xx | questions 1.1 16 0 >switch.xx.json
for n in 1 2; do
    tune $n switch-$n --set tune.train=en:switch.en.json,xx:switch.xx.json --set tune.dev=xx:xx.json --set tune.epochs=2 \
        --set 'task answering.code_switching=en' --set 'task answering.separators=2' >switch-$n.log 2>&1 ||
        fail "code-switching on $n ranks: $(tail -n 3 switch-$n.log)"
    grep -q '^train: .*; code-switched with en: 13 pairs of questions, by id' switch-$n.log &&
        [ "$(grep -c 'warning: code-switching: 3 questions .* left out, the first of them switch.xx.json:[0-9]*: .*(id q14)$' \
            switch-$n.log)" -eq 1 ] || fail "code-switching: $(cat switch-$n.log)"
done
same switch-1 switch-2

# ---- what is refused, with nothing written ----
bad() { # CODE PATTERN SED: of training, and of scoring, a file that was changed so
    sed "$3" dev.json >bad.json
    expect "$1" "bad.json:[0-9]*: .*$2" tune 1 none --set tune.train=bad.json
    once '^xlm_tune: '
    expect "$1" "bad.json:[0-9]*: .*$2" xlm_eval qa-1/best --test bad.json --predictions none.json --csv none.csv
    [ ! -e none ] && [ ! -e none.json ] && [ ! -e none.csv ] || fail "written for $2: $(ls)"
}
bad 65 'data.0..paragraphs.0..qas.0. (id q1): the answer .* is not at character' \
    '1s/"answer_start": [0-9]*/"answer_start": 1/'
bad 65 '(id q1): another question' 's/"id": "q[0-9]*"/"id": "q1"/'
bad 65 '(id q1): "question" is missing' '1s/"question"/"query"/'
sed '2s/{//' dev.json >bad.json
expect 65 'bad.json:2: column [0-9]*: not JSON' tune 1 none --set tune.dev=bad.json
[ ! -e none ] || fail "written for bad JSON: $(ls none)"
finish
