#!/usr/bin/env bash
# xlm-mpi: what passes take beside what was estimated before the run. SPDX-License-Identifier: GPL-3.0-or-later
. "$XLM_SOURCE/tests/small.sh"
long
export XLM_BF16_EMULATE=1
small_corpus
small_resources
micro_batches 8 # small ones are estimated least well

sed '/^\[stream text/,$d; s/^steps = 100/steps = 18/; s/^\(hidden_size\) = 32/\1 = 64/' job.conf >base.conf
text='[stream text]
batch = 16
length = 48'
pairs='[stream pairs]
type = parallel
form = bert
batch = 16
length = 48
alignments = alignment.h5
mask = 0.25'
# try NAME 'PART...' [OPTION...]: a job of these streams and objectives.
try() {
    local name=$1 parts=$2
    shift 2
    { cat base.conf; printf '%s\n' "$parts"; } >"$name.conf"
    logged "$name.log" xlm_train "$name.conf" --set "train.output=$name" "$@"
    estimated "$name.log" 0.05
}
objective() { printf '\n[objective %s]\nstream = %s\n' "$1" "$2"; }
mlm=$text$(objective mlm text)
try mlm "$mlm"
try recomputed "$mlm" --set train.recompute=true
try bfloat16 "$mlm" --set train.precision=bfloat16
try bfloat16-recomputed "$mlm" --set train.precision=bfloat16 --set train.recompute=true
try micro "$mlm" --set train.micro_batches=4 --set train.steps=24
try frozen "$mlm" --set train.freeze=1
try tlm "$pairs$(objective mlm pairs)"
try xlm "$pairs$(objective mlm pairs)" --set 'stream pairs.form=xlm' --set model.head=xlm
try dwa "$pairs$(objective mlm pairs)$(objective dwa pairs)
label_layer = 1"
try weam "$pairs$(objective weam pairs)"
try moco "$pairs$(objective moco pairs)
queue = 256
projection = 16"
try gc "$text$(objective mlm text)$(objective gc text)
cooccurrence = cooc.h5"
try everything "$text
$pairs$(objective mlm text)$(objective sop text)$(objective weam pairs)$(objective dwa pairs)
label_layer = 1$(objective moco pairs)
queue = 64
projection = 16
[objective align]
dictionary = dict.h5"

# More threads have more scratch, which attention and the inner layer use in turn.
OMP_NUM_THREADS=24 logged threads.log xlm_train mlm.conf --set train.output=threads --set train.precision=bfloat16 \
    --set train.threads=24 --set train.steps=6 --set train.warmup=2
estimated threads.log 0.05

# The index of instances, which a small corpus has little of: four of 64 MiB in place of its own, of the training and the held-out
# text of two streams. The libraries of sanitizers must be loaded first, so with them it is not tried.
cat >index.c <<'C'
#include <stdint.h>
uint64_t xlm_stream_index_bytes(const void *stream)
{
    (void)stream;
    return UINT64_C(64) << 20;
}
C
# shellcheck disable=SC2086 # a compiler with its first arguments
$XLM_CC -shared -fPIC -o index.so index.c || fail "index.c does not compile"
# total [VARIABLE=VALUE]: GiB of a rank.
total() {
    env "$@" xlm_train everything.conf --dry-run --set train.output=dry 2>&1 | sed -n 's/^memory: \([0-9.]*\) GiB a rank.*/\1/p'
}
[ "${XLM_SANITIZERS-}" = yes ] ||
    awk -v small="$(total)" -v large="$(total LD_PRELOAD="$PWD/index.so${LD_PRELOAD:+:$LD_PRELOAD}")" \
        'BEGIN { more = large - small; exit !(small > 0 && more > 0.23 && more < 0.27) }' ||
    fail "the index of instances is not in the estimate"

# A plugin that says nothing of its cost.
for plugin in simcse sides pull-together contrast; do
    build_plugin $plugin
    try $plugin "$pairs
[objective own]
plugin = ./$plugin.so
stream = pairs"
done

# One that learns only when its queue is full, and one whose terms a stage marks.
build_plugin patient contrast '/^    return n;/s/n;/((struct contrast *)self->state)->place[0] < QUEUE_ROWS ? 0 : n;/'
try patient "$pairs
[objective own]
plugin = ./patient.so
stream = pairs"
build_plugin sentence-order
build_plugin order-prediction order-prediction 's/swapped\[s\] >= 0/swapped[s] > 0/'
try order "$text
[stage order]
plugin = ./sentence-order.so
stream = text
[objective own]
plugin = ./order-prediction.so
stream = text" --set model.token_types=true

# What is frozen has no gradients, in whose memory checkpoints are read: a run that resumes takes as much as one that begins, and
# half of what is frozen, 0.19 GiB, is no matter of chance.
peak() { sed -n "s/^peak memory: \([0-9.]*\) GiB.*/\1/p" "$1"; }
sed 's/^layers = .*/layers = 4/; s/^hidden_size = .*/hidden_size = 1024/' mlm.conf >large.conf
large=(--set "stream text.batch=2" --set train.micro_batches=2 --set train.warmup=0 --set train.freeze=4)
trained large.conf large 2 "${large[@]}" --set train.steps=1
logged resumed.log ranks 2 xlm_train large.conf --set train.output=large "${large[@]}" --set train.steps=2
grep -q 'resumed from .* at step 1$' resumed.log || fail "not resumed: $(cat resumed.log)"
[ "${XLM_SANITIZERS-}" = yes ] || awk -v first="$(peak large.log)" -v then="$(peak resumed.log)" \
    'BEGIN { exit !(first > 0 && then < first + 0.1) }' ||
    fail "resumed with frozen parameters: $(peak resumed.log) GiB; begun: $(peak large.log)"

# Averages are gathered where gradients are, all of the model with what is frozen.
gradients() {
    sed "s/^layers = .*/layers = 4/; s/^hidden_size = .*/hidden_size = 1024/" "$1.conf" >"$1-large.conf"
    xlm_train "$1-large.conf" --dry-run --set train.output=dry --set train.freeze=4 2>&1 |
        sed -n "s/^memory: .* gradients \([0-9.]*\),.*/\1/p"
}
awk -v mlm="$(gradients mlm)" -v moco="$(gradients moco)" 'BEGIN { exit !(mlm < 0.1 && moco > 0.19) }' ||
    fail "gradients with freeze: $(gradients mlm) GiB of mlm, $(gradients moco) of moco"

# Averages that make labels are packed too, in one direction: of 4 layers 0.09 GiB. One rank without frozen parameters has those of
# each objective at an address of its own; else they are gathered in one place.
packed() { # NAME RANKS [OPTION...]
    ranks "$2" xlm_train "$1-large.conf" --dry-run --set train.output=dry --set train.precision=bfloat16 "${@:3}" 2>&1 |
        sed -n "s/^memory: .* packed \([0-9.]*\),.*/\1/p"
}
{
    cat moco-large.conf
    printf '%s\n' '' '[objective again]' 'plugin = moco' 'stream = pairs' 'queue = 256' 'projection = 16'
} >two-large.conf
of="$(packed mlm 1) $(packed moco 1) $(packed two 1) $(packed two 2) $(packed two 1 --set train.freeze=1)"
awk '{ for (i = 2; i <= 5; i++) { more = ($i - $1) / 0.094 - (i == 3 ? 2 : 1); bad = bad || more < -0.3 || more > 0.3 } }
    END { exit bad || NF != 5 }' <<<"$of" || fail "packed, GiB: $of"

# Tasks, whose examples are as long as sentences are.
head -n 400 text.en >train.text
tail -n 100 text.en >dev.text
for part in train dev; do task_files $part; done
# task NAME SUFFIX [OPTION...]
task() {
    local name=$1 suffix=$2
    shift 2
    printf '%s\n' '[tune]' 'model = mlm/latest' "train = train.$suffix" "dev = dev.$suffix" 'language = en' \
        'epochs = 1' 'batch = 16' 'length = 48' "[task $name]" >"$name.conf"
    logged "$name.log" xlm_tune "$name.conf" --set "tune.output=$name" "$@"
    estimated "$name.log" 0.05
    logged "$name-half.log" xlm_tune "$name.conf" --set "tune.output=$name-half" --set tune.precision=bfloat16 --set tune.recompute=true "$@"
    estimated "$name-half.log" 0.05
}
task tagging tsv
task classification classes
task answering json
finish
