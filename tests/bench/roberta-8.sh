# xlm-mpi: corpora, jobs and runs of the training benchmarks; sourced. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
#   made_job DIR STEPS LAYERS WIDTH HEADS MERGES   makes DIR/job.conf, 16 x 128 tokens a step
#   job NAME LAYERS WIDTH HEADS LENGTH SEQUENCES KEY...   makes NAME.conf here, of $corpus: sequences of this length; more keys
#                                                  of [model]
#   roberta_8 DIR STEPS                            the one of the reported speeds: 8 layers, 512 wide, 40,000 merges
#   in_rounds N                                    for a benchmark of some rounds: $steps and $rounds (N) as XLM_BENCH_STEPS and
#                                                  XLM_BENCH_ROUNDS say, and that job in $work, a directory that goes on exit
#   train DIR NAME RANKS THREADS [ARGUMENT...]     runs the job in DIR/NAME with ${launcher[@]}; arguments: xlm_train's
#   rate METRICS UNCOUNTED                         tokens/s by a metrics.csv without its first steps; a step's seconds are
#                                                  those from the end of the one before to its own
#   compare NAME JOB BESIDE GOAL                   a row: the median seconds of a step of JOB.conf beside that of BESIDE.conf,
#                                                  both in this directory, on one thread; the two take turns XLM_BENCH_ROUNDS times
#   has_onednn DIR                                 whether the job there can be run by gemm = onednn
#   flops LOG                                      GFLOP/s of a rank in the steps of a run with --profile
#   hidden LOG                                     share of the reduce-scatter's time that overlaps the backward pass
#
# Corpora are made once a directory: in $XLM_BENCH_CORPORA when it is set, else in DIR.

# The launcher of the MPI that the programs were built with, for more ranks than cores, bound to none of them: as tests/mpirun.sh,
# but without a limit of time.
read -ra launcher <<<"${XLM_MPIEXEC:-mpiexec}"
XLM_TEST_LAUNCHER=$(sh "$XLM_SOURCE/tests/mpirun.sh" --launcher)
[[ $XLM_TEST_LAUNCHER != open-mpi ]] || launcher+=(--oversubscribe --bind-to none)

# made_text [WORDS]: 1,440,000 words by Zipf's law over 60,000 made forms, so many (24) a sentence.
made_text() {
    awk -v words="${1:-24}" 'function draw() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            seed = 11
            for (line = 0; line < 1440000 / words; line++) {
                text = ""
                for (n = 0; n < words; n++) {
                    rank = int(exp(draw() * log(60000))); form = ""
                    for (x = rank * 7919 % 11881376 + 26; x > 0; x = int(x / 26)) form = form sprintf("%c", 97 + x % 26)
                    text = text form " "
                }
                print text
            }
        }'
}

# made_corpus DIR MERGES: its path in $corpus. Short sentences nearly fill sequences of 128 subwords, as those of peers are filled
# that do not mind where a sentence ends.
made_corpus() {
    local directory=${XLM_BENCH_CORPORA:-$1}
    corpus=$directory/corpus-$2.h5
    [[ ! -e $corpus ]] || return 0
    [[ -e $directory/text ]] || made_text 6 >"$directory/text"
    xlm_prep --mono en="$directory/text" --words space --bpe "$2" --held-out 0.001 -o "$corpus" >"$directory/prep.log" 2>&1 ||
        { cat "$directory/prep.log" >&2; return 1; }
}

job() { # NAME LAYERS WIDTH HEADS LENGTH SEQUENCES KEY...
    printf '%s\n' '[model]' "layers = $2" "hidden_size = $3" "attention_heads = $4" "positions = $5" "${@:7}" \
        '[train]' "corpus = $corpus" 'log_every = 1' 'evaluate_instances = 1' 'checkpoint_every = 0' 'warmup = 1' \
        '[stream text]' "length = $5" "batch = $6" '[objective mlm]' 'stream = text' >"$1.conf"
}

made_job() {
    local corpus
    mkdir -p "$1"
    made_corpus "$1" "$6"
    cat >"$1/job.conf" <<JOB
[model]
layers = $3
hidden_size = $4
attention_heads = $5
positions = 128
[train]
corpus = $corpus
output = $1/out
steps = $2
log_every = 1
evaluate_instances = 1
micro_batches = 2
[stream text]
batch = 16
length = 128
[objective mlm]
stream = text
JOB
}

roberta_8() { made_job "$1" "$2" 8 512 8 40000; }

in_rounds() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    # shellcheck disable=SC2034 # for the benchmark
    steps=${XLM_BENCH_STEPS:-5} rounds=${XLM_BENCH_ROUNDS:-$1}
    roberta_8 "$work" "$steps"
}

train() {
    local dir=$1 name=$2 ranks=$3 threads=$4
    shift 4
    "${launcher[@]}" -n "$ranks" xlm_train "$dir/job.conf" --resume never --set "train.threads=$threads" \
        --set "train.output=$dir/$name" "$@" >"$dir/$name.log" 2>&1 || { tail -n 3 "$dir/$name.log" >&2; return 1; }
    rm -f "$dir/$name"/checkpoint-* # half a gigabyte each
}

rate() {
    awk -F, -v uncounted="$2" '$3 == "total" && $1 > uncounted { tokens += $11; seconds += $12 }
        END { if (seconds > 0) printf "%.0f\n", tokens / seconds; else exit 1 }' "$1"
}

has_onednn() { xlm_train "$1/job.conf" --dry-run --set train.gemm=onednn >"$1/dry-run.log" 2>&1; }

# A row of the profile ends in: calls, ms, share, GFLOP/s, GB/s.
flops() {
    awk '/^profile of / { on = 1; next } /^operator / { next } /^gradients:|^peak memory/ { on = 0 }
        on { seconds += $(NF - 3); work += $(NF - 3) * $(NF - 1) }
        END { if (seconds > 0) printf "%.1f\n", work / seconds; else exit 1 }' "$1"
}

hidden() { sed -n 's/^gradients:.* \([0-9]*%\) of that hidden behind the backward pass.*/\1/p' "$1"; }

# step_of JOB: appends the median seconds of a step to JOB.seconds.
step_of() {
    "${launcher[@]}" -n 1 xlm_train "$1.conf" --resume never --set train.threads=1 --set "train.steps=${XLM_BENCH_STEPS:-4}" \
        --set "train.output=$1" >"$1.log" 2>&1 || { tail -n 3 "$1.log" >&2; return 1; }
    local numbers
    mapfile -t numbers < <(awk -F, '$3 == "total" && $1 > 1 { print $12 }' "$1/metrics.csv")
    median "${numbers[@]}" >>"$1.seconds"
    rm -rf "$1"
}
median_of() { local numbers; mapfile -t numbers <"$1.seconds"; median "${numbers[@]}"; }
compare() {
    local round
    for ((round = 0; round < ${XLM_BENCH_ROUNDS:-3}; round++)); do
        step_of "$3"
        step_of "$2"
        say "$2 $(tail -n 1 "$2.seconds") s, $3 $(tail -n 1 "$3.seconds") s"
    done
    row "$1" "$(median_of "$2") s" "$(median_of "$3") s" "$(quotient "$(median_of "$2")" "$(median_of "$3")")" "$4"
    rm "$2.seconds" "$3.seconds"
}
