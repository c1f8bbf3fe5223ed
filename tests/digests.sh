#!/usr/bin/env bash
# xlm-mpi: digests of what small jobs compute, to compare two versions. SPDX-License-Identifier: GPL-3.0-or-later
#
#     make digests >before.txt    in a build of the version before a change
#     make digests >after.txt     in a build of the change, on the same machine
#     diff before.txt after.txt   must say nothing where a change should keep all bits
#
# A line for each job: its name and two checksums, of the metrics and of every number of its last checkpoint (parameters, moments,
# averages and states of objectives). Bits depend on the processor and on the libraries, so no digests are kept in the repository.
# Runs of one job on several ranks, resumed or recomputed, must agree among themselves; the script fails when they do not.
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
export XLM_BF16_EMULATE=1
shopt -s lastpipe # a job at the end of a pipeline counts its failure here, and not in a shell of its own
small_corpus
small_resources

# show NAME DIR: the line of a job.
show() { printf '%-16s %s  %s\n' "$1" "$(rows "$2" | cksum)" "$(digest "$2/latest")"; }

# job NAME RANKS [OPTION...]: of the job file on standard input.
job() {
    local name=$1 n=$2
    shift 2
    cat >"$name.conf"
    trained "$name.conf" "$name" "$n" "$@"
    show "$name" "$name"
}

# base: a model and a schedule of eight steps; the job's own keys of [model] and [train] are arguments "section.key=value".
base() {
    sed '/^\[stream text/,$d; s/^language_embeddings.*/&\ntoken_types = true/; s/^steps = 100/steps = 8/
        s/^warmup = 10/warmup = 2/; s/^\(checkpoint_every\|evaluate_every\) = 0/\1 = 4/' job.conf
}
text='[stream text]
batch = 8
length = 48'
switched='[stream switched]
batch = 8
length = 48
dictionary = dict.h5
switching = 0.5'
pairs='[stream pairs]
type = parallel
form = bert
batch = 8
length = 64
shuffle_sides = true
alignments = alignment.h5'
mlm='[objective mlm]
stream = text'
gc='[objective gc]
stream = text
cooccurrence = cooc.h5'
sop='[objective sop]
stream = text'
dict_mlm='[objective dict-mlm]
stream = switched'
align='[objective align]
dictionary = dict.h5'
tlm='[objective tlm]
plugin = mlm
stream = pairs'
dwa='[objective dwa]
stream = pairs
label_layer = 1
begin = 3'
weam='[objective weam]
stream = pairs'
moco='[objective moco]
stream = pairs
queue = 24
projection = 16
momentum = 0.9'
all=("$text" "$switched" "$pairs" "$mlm" "$gc" "$dict_mlm" "$align" "$tlm" "$dwa" "$weam" "$moco")

# with PART...: a job of these streams and objectives.
with() { base; printf '%s\n\n' "$@"; }

# Each objective.
with "$text" "$mlm" | job mlm 1
with "$pairs" "$tlm" | job tlm 1
with "$switched" "$dict_mlm" | job dict-mlm 1
with "$text" "$mlm" "$align" | job align 1
with "$pairs" "$tlm" "$dwa" | job dwa 1
with "$pairs" "$weam" | job weam 1
with "$pairs" "$moco" | job moco 1
with "$text" "$mlm" "$gc" | job gc 1
with "$text" "$mlm" "$sop" | job sop 1

# All together: by ranks, resumed, recomputed; the free order of sums.
with "${all[@]}" | job all-1 1 --set train.gemm=blis
for n in 2 4; do
    with "${all[@]}" | job all-$n $n --set train.gemm=blis
    same_bits all-1 all-$n
done
cp -r all-1 all-resumed
rm "all-resumed/$(readlink all-1/latest)"
with "${all[@]}" | job all-resumed 2 --set train.gemm=blis
same_bits all-1 all-resumed
with "${all[@]}" | job all-recomputed 1 --set train.gemm=blis --set train.recompute=true
same_bits all-1 all-recomputed
with "${all[@]}" | job all-free-order 1 --set train.gemm=blis --set train.reproducible=false

# Other arithmetic, models and optimisers.
if xlm_train all-1.conf --dry-run --set train.gemm=onednn >/dev/null 2>&1; then
    with "${all[@]}" | job all-onednn 1 --set train.gemm=onednn --set model.hidden_size=128
fi
with "${all[@]}" | job all-bfloat16 1 --set train.precision=bfloat16
with "${all[@]}" | job all-bfloat16-2 2 --set train.precision=bfloat16
same_bits all-bfloat16 all-bfloat16-2
with "$text" "$mlm" | job albert 1 --set model.share_layers=true --set model.embedding_size=16
with "$text" "$pairs" "$mlm" "$tlm" | job xlm-form 1 --set model.head=xlm --set "stream pairs.form=xlm" \
    --set "stream pairs.shuffle_sides=false" --set model.position_type=sinusoidal
with "$text" "$mlm" | job lamb 1 --set train.optimiser=lamb

# Tasks, from the model of the first job.
head -n 300 text.en >train.text
tail -n 60 text.en >dev.text
for part in train dev; do task_files $part; done
# task NAME SUFFIX [OPTION...]
task() {
    local name=$1 suffix=$2
    shift 2
    printf '%s\n' '[tune]' 'model = mlm/latest' "train = train.$suffix" "dev = dev.$suffix" 'language = en' "output = $name" \
        'epochs = 1' 'batch = 16' 'length = 48' "[task $name]" >"$name.conf"
    logged "$name.log" ranks 2 xlm_tune "$name.conf" "$@"
    show "$name" "$name"
}
task tagging tsv
task classification classes
task answering json
finish
