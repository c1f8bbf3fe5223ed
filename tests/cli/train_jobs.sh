#!/usr/bin/env bash
# xlm-mpi: what job files can say: several streams and objectives, optimisers, schedules, micro-batches, models; and the form of
# metrics.csv. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
micro_batches 8 # so that five ranks have one or two

# run NAME RANKS [OPTION...]: trains job.conf, or $job, into directory NAME.
job=job.conf
run() {
    local name=$1 n=$2
    shift 2
    trained $job "$name" "$n" "$@"
    form "$name"
}
# The rows that metrics.csv may have, as regular expressions: head, a step, an objective in a step, an objective on held-out text.
number='-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?'
name='[^,]+'
terms='[1-9][0-9]*'
cat >rows.form <<FORM
step,split,objective,language,terms,loss,perplexity,accuracy,learning_rate,gradient_norm,tokens,seconds,score
[0-9]+,train,total,,,$number,,,$number,$number,[0-9]+,$number,
[0-9]+,train,$name,,$terms,$number,,,,,,,
[0-9]+,held_out,$name,$name,$terms,$number,$number,$number,,,,,
FORM
# form NAME: metrics.csv has such rows alone, the head first and steps in their order; a perplexity is that of its loss.
form() {
    local file=$1/metrics.csv
    [ "$(head -n 1 "$file")" = "$(head -n 1 rows.form)" ] && [ "$(grep -c '^step' "$file")" -eq 1 ] || fail "head of $file"
    ! grep -vxEf rows.form "$file" && ! grep -E ',train,total,,[^,]' "$file" || fail "rows of $file"
    grep -q ',train,total,' "$file" || fail "no steps in $file"
    sed 1d "$file" | cut -d, -f1 | sort -nc || fail "steps of $file"
    awk -F, '$2 == "held_out" { d = $7 / exp($6) - 1; if (d > 1e-5 || d < -1e-5 || $8 > 1) { print; exit 1 } }' "$file" ||
        fail "perplexities and accuracies of $file"
    # The accuracy of all is that of the languages together; a model of few steps is more often wrong than right.
    awk -F, '$2 == "held_out" && $4 != "all" { n[$1, $3] += $5; right[$1, $3] += $5 * $8 }
        $2 == "held_out" && $4 == "all" { all[$1, $3] = $8; if ($1 < 3 && $8 >= 0.5) bad = 1 }
        END { for (i in all) { d = all[i] - right[i] / n[i]; if (d > 1e-4 || d < -1e-4) bad = 1 } exit bad }' "$file" ||
        fail "accuracies of languages and of all in $file: $(grep held_out "$file")"
}
# same A B: losses, parameters and moments have the same bits.
same() {
    cmp <(losses "$1") <(losses "$2") && [ "$(digest "$1/latest")" = "$(digest "$2/latest")" ] || fail "$1 and $2 differ"
}
# learns NAME: the loss of the last steps is below that of the first.
learns() {
    losses "$1" | awk '{ x[NR] = $2 } END { exit !((x[1] + x[2]) > (x[NR] + x[NR - 1]) * 1.005) }' ||
        fail "$1 does not learn: $(losses "$1" | tr '\n' ';')"
}

# ---- evaluation ----
# Held-out text of each language and pair is looked at, however little of it, and all of it once when there is room for it.
for micro_batches in 1 4; do
    run least-$micro_batches 2 --set train.steps=1 --set train.evaluate_instances=1 --set train.micro_batches=$micro_batches
    run most-$micro_batches 1 --set train.steps=1 --set train.evaluate_instances=100000 --set train.micro_batches=$micro_batches
    for row in mlm,en mlm,xx tlm,en tlm,xx; do
        grep -q ",held_out,$row,[1-9]" least-$micro_batches/metrics.csv ||
            fail "least-$micro_batches: no $row: $(grep held_out least-$micro_batches/metrics.csv)"
    done
done
terms() { awk -F, '$2 == "held_out" { print $1, $3, $4, $5 }' "$1/metrics.csv"; }
cmp <(terms most-1) <(terms most-4) && [ -n "$(terms most-1)" ] ||
    fail "not all held-out text once: $(terms most-1) against $(terms most-4)"

# ---- several streams and objectives ----
sed 's/^language_embeddings = true/&\ntoken_types = true/' job.conf >several.conf
cat >>several.conf <<'JOB'

[stream both]
type = parallel
form = bert
shuffle_sides = true
length = 64
batch = 4

[objective late]
plugin = mlm
stream = both
begin = 5
weight = 2
JOB
# The same, with an objective of weight 0: it is reported and evaluated, and changes no bit.
cp several.conf silent.conf
printf '\n[objective silent]\nplugin = mlm\nstream = text\nweight = 0\n' >>silent.conf
steps=(--set train.steps=8 --set train.evaluate_every=4 --set train.schedule=constant)
job=several.conf
run several 2 "${steps[@]}"
job=silent.conf
run silent 1 "${steps[@]}"
same several silent
cmp <(grep -v ,silent, silent/metrics.csv | cut -d, -f1-11,13) <(rows several) ||
    fail "an objective of weight 0 changes the metrics"
cmp <(grep ,silent, silent/metrics.csv | sed s/silent/mlm/) <(grep ,mlm, silent/metrics.csv) ||
    fail "the losses of the same objective twice differ"
# steps_of OBJECTIVE: in which it was trained.
steps_of() { values several train "$1" loss | cut -d' ' -f1 | paste -s -d' '; }
[ "$(steps_of mlm), $(steps_of tlm), $(steps_of late)" = '1 2 3 4 5 6 7 8, 1 2 3 4 5 6 7 8, 6 7 8' ] ||
    fail "rows of the objectives: $(grep ,train, several/metrics.csv)"
# The loss of a step is the sum of those of the objectives, by their weights.
awk -F, '
    function weight(objective) { return objective == "tlm" ? 0.5 : objective == "late" ? 2 : 1 }
    $2 != "train" { next }
    $3 == "total" { total[$1] = $6; next }
    { sum[$1] += weight($3) * $6 }
    END {
        for (step in total) {
            d = sum[step] / total[step] - 1
            if (d > 1e-8 || d < -1e-8) { print "step", step, sum[step], total[step]; bad = 1 }
        }
        exit bad
    }' several/metrics.csv || fail "losses of the objectives: $(grep ,train, several/metrics.csv)"
# Evaluated before the first step, every four, and at the end: each language, and all of them.
# evaluated OBJECTIVE: "step:language" of its rows.
evaluated() {
    awk -F, -v objective="$1" '$2 == "held_out" && $3 == objective { print $1 ":" $4 }' several/metrics.csv | paste -s -d' '
}
[ "$(evaluated mlm)" = '0:all 0:en 0:xx 4:all 4:en 4:xx 8:all 8:en 8:xx' ] && [ "$(evaluated tlm)" = "$(evaluated mlm)" ] &&
    [ "$(evaluated late)" = '8:all 8:en 8:xx' ] ||
    fail "rows of the evaluations: $(grep held_out several/metrics.csv)"
# The row of all languages has the sum of their terms, and the mean of their losses.
awk -F, '
    $2 != "held_out" { next }
    $4 == "all" { terms[$1, $3] = $5; loss[$1, $3] = $6; next }
    { sum[$1, $3] += $5; losses[$1, $3] += $5 * $6 }
    END {
        for (k in terms) {
            d = losses[k] / sum[k] / loss[k] - 1
            if (sum[k] != terms[k] || d > 1e-5 || d < -1e-5) { print k, terms[k], sum[k], loss[k]; bad = 1 }
        }
        exit bad
    }' several/metrics.csv || fail "all languages: $(grep held_out several/metrics.csv)"
# Other numbers of ranks.
job=several.conf
run three 3 "${steps[@]}"
run five 5 "${steps[@]}"
for n in '3 9 three' '5 10 five'; do
    read -r ranks number log <<<"$n"
    [ "$(grep -c "^micro_batches: $number instead of 8, so that each of $ranks ranks .* to rounding" "$log.log")" -eq 1 ] ||
        fail "$log: $(head -n 3 "$log.log")"
done
grep -q '^micro_batches: .* instead of' several.log && fail "2 ranks: $(grep '^micro_batches' several.log)"
agree several three
agree several five
form several
# A stream that predicts nothing is noticed.
trained job.conf nothing 1 --set train.steps=2 --set "stream text.mask=0" --set "stream pairs.mask=0"
[ "$(grep -c 'warning: step 1: no objective had anything to learn from' nothing.log)" -eq 1 ] ||
    fail "nothing to learn: $(cat nothing.log)"

# ---- micro-batches: fewer instances than micro-batches, one instance a step, one micro-batch ----
job=job.conf
one=(--set "stream text.batch=1" --set "stream pairs.batch=1" --set train.steps=6)
three=(--set "stream text.batch=3" --set "stream pairs.batch=2" --set train.steps=6)
for n in 1 4; do
    run one-$n $n "${one[@]}"
    run few-$n $n "${three[@]}" --set train.micro_batches=4
done
same one-1 one-4
same few-1 few-4
run whole-1 1 "${three[@]}" --set train.micro_batches=1
run whole-4 4 "${three[@]}" --set train.micro_batches=1
agree few-1 whole-1
agree few-1 whole-4
grep -q '^micro_batches: 4 instead of 1, .*, and less where an objective compares' whole-4.log ||
    fail "more ranks than micro_batches are not reported: $(head -n 3 whole-4.log)"

# ---- optimisers and schedules ----
# rates NAME FORMULA: the learning rate of each update s = 0, 1, ...
rates() {
    awk -F, '
        $3 == "total" {
            s = $1 - 1; d = $9 / ('"$2"') - 1
            if (d > 1e-7 || d < -1e-7) { print s, $9, '"$2"'; bad = 1 }
        }
        END { exit bad }' "$1/metrics.csv" || fail "learning rates of $1"
}
for optimiser in adamw adam lamb; do
    run $optimiser-1 1 --set train.optimiser=$optimiser --set train.steps=20 --set train.warmup=5
    run $optimiser-2 2 --set train.optimiser=$optimiser --set train.steps=20 --set train.warmup=5
    same $optimiser-1 $optimiser-2
    rates $optimiser-1 's < 5 ? 0.002 * (s + 1) / 5 : 0.002 * (20 - s) / 15'
    h5dump -a /optimiser/algorithm $optimiser-1/latest | grep -q "\"$optimiser[^a-z]" ||
        fail "the checkpoint does not say $optimiser"
done
learns adamw-1
learns adam-1
for other in adam lamb; do other_text <(losses adamw-1) <(losses $other-1) || fail "$other does what adamw does"; done
run root 1 --set train.schedule=inverse-sqrt --set train.steps=12 --set train.warmup=4
rates root 's < 4 ? 0.002 * (s + 1) / 4 : 0.002 * sqrt(4 / (s + 1))'
run constant 1 --set train.schedule=constant --set train.steps=6 --set train.warmup=0
rates constant 0.002
# Clipping bounds the update, not the norm that is shown.
run clipped 1 --set train.clip=1e-3 --set train.optimiser=lamb --set train.steps=3
awk -F, '$3 == "total" && $10 < 0.01 { exit 1 }' clipped/metrics.csv || fail "the norm shown is the clipped one"
# Moments are of gradients of norm c: after three steps the first one's is (1 - β)|β² g + β h + i|, no more than 0.271 c.
is_between 5e-5 "$(h5dump -y -w 1 -m %.9g -g /optimiser/first_moment clipped/latest | awk '/^ *-?[0-9]/ { s += $1 * $1 } END { print sqrt(s) }')" \
    2.711e-4 || fail "moments of clipped gradients"

# ---- profile: changes nothing, names the operators, and its shares add up ----
run plain 2 --set train.steps=4 --set train.evaluate_every=2
run profiled 2 --set train.steps=4 --set train.evaluate_every=2 --profile
same plain profiled
for row in 'linear' 'linear, backward' 'attention, backward' 'vocab_cross_entropy' 'reduce-scatter, waited for' 'gradient norm' \
    'update'; do
    [ "$(grep -c "^$row  *[1-9]" profiled.log)" -eq 1 ] || fail "no row '$row' in the profile: $(tail -n 30 profiled.log)"
done
grep -q '^profile of 3 steps .*, products by \(BLIS\|oneDNN .*\) in float32$' profiled.log ||
    fail "who multiplies: $(grep '^profile' profiled.log)"
sed -n '/^profile of 3 steps/,/^gradients:/p' profiled.log | awk '
    /%/ && !/^gradients:/ { for (i = 1; i <= NF; i++) if ($i ~ /%$/) sum += $i }
    END { exit !(sum > 98 && sum < 102) }' ||
    fail "shares of the profile: $(tail -n 30 profiled.log)"
awk '/^reduce-scatter, overlapped/ { calls = $3 } END { exit !(calls > 20) }' profiled.log ||
    fail "the reduce-scatter does not run during the backward pass: $(tail -n 30 profiled.log)"

# ---- plan: one line a number of ranks; moments are divided; nothing is written ----
ranks 2 xlm_train job.conf --plan --ranks=2,1,64 --network=1 --set train.output=planned >plan.out 2>plan.log ||
    fail "plan: $(tail -n 3 plan.log)"
# planned RANKS COLUMN: of the table.
planned() { awk -v ranks="$1" -v column="$2" '$1 == ranks { print $column }' plan.out; }
[ "$(awk '$1 == 1 || $1 == 2 || $1 == 64 { print $1 }' plan.out | paste -s -d' ')" = '2 1 64' ] || fail "plan: $(cat plan.out)"
for n in 2 1 64; do
    awk -v ranks=$n '$1 == ranks { exit !(NF == 9 && $3 > 0 && $4 > 0 && $5 > 0 && $9 ~ /^(s|min|h|days)$/) }' plan.out ||
        fail "plan of $n ranks: $(cat plan.out)"
done
is_between 0 "$(planned 2 2)" "$(planned 1 2)" || fail "moments are not divided among ranks: $(cat plan.out)"
is_between 0 "$(planned 1 6)" 0 && is_between 0 "$(planned 2 6)" 0 && ! is_between 0 "$(planned 64 6)" 0 ||
    fail "bytes between nodes: $(cat plan.out)"
[ "$(planned 2 5)" = 100.0% ] || fail "the ranks that were measured are not linear: $(cat plan.out)"
[ ! -e planned ] || fail "a plan wrote $(ls planned)"
expect 64 'is not a number of ranks' xlm_train job.conf --plan --ranks=2,none
expect 64 'cannot be combined' xlm_train job.conf --plan --dry-run
expect 64 'is for --plan' xlm_train job.conf --ranks=2
expect 64 'is for --plan' xlm_train job.conf --network=1
expect 64 'is for training' xlm_train job.conf --profile --dry-run
expect 64 'more than 0' xlm_train job.conf --plan --network=-1
expect 64 'more than 0' xlm_train job.conf --plan --network=0
expect 64 'needs numbers of ranks' xlm_train job.conf --plan --ranks=
# What the run would refuse.
expect 78 'exchange = bfloat16: 6 ranks are not a power of two' ranks 2 xlm_train job.conf --plan --ranks=2,6,12 \
    --set train.exchange=bfloat16
[ ! -s expect.out ] || fail "a plan of 6 ranks: $(cat expect.out)"

# ---- models ----
model() { # NAME RANKS SETTING...
    local name=$1 n=$2 settings=() setting
    shift 2
    for setting in "$@"; do settings+=(--set "model.$setting"); done
    run "$name" "$n" "${settings[@]}" --set train.steps=20 --set train.warmup=5
    learns "$name"
}
has() { h5ls -r "$1/latest" | grep -q "^/model$2 " || fail "$1 has no $2"; }
lacks() { h5ls -r "$1/latest" | grep -q "^/model$2" && fail "$1 has $2"; }
model sinusoidal 1 position_type=sinusoidal position_offset=0
lacks sinusoidal /embeddings/position
model albert 2 share_layers=true embedding_size=16 token_types=true language_embeddings=false
has albert /encoder/layer.shared/attention/query/weight
has albert /embeddings/projection/weight
lacks albert /encoder/layer.1
lacks albert /embeddings/language
model head 1 head=xlm
lacks head /lm_head/dense
model small 2 head=xlm embedding_size=8 layers=1 attention_heads=1 feed_forward_size=5 vocabulary_chunk=3
has small /lm_head/dense/weight
model still 1 dropout=0 attention_dropout=0 layer_norm_epsilon=1e-12
finish
