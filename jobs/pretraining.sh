# xlm-mpi: the studies of papers, from text to table; sourced by their scripts. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
#   study [--dry-run | --submit] DIR
#
# Makes the corpora in DIR, trains the runs one after another, measures each with jobs/measure, and shows a table that compares
# with the paper's figures. Existing files are not made again, and a run that was stopped is resumed. A finished run that was made
# with other SETTINGS is refused, and one that was measured with another MEASURE is measured anew.
#
#   --dry-run   shows what would be made and checks the job of every run whose corpus exists (xlm_train --dry-run)
#   --submit    makes the corpora and submits each run to Slurm as a separate job (slurm/xlm_train.sbatch, which puts itself back
#               into the queue until the run is finished); calling the study again without it measures the runs
#
# In the environment, in addition to what the script itself names:
#   RUNS        NAME[:SEED] ..., of the names in the script's table (default: all, seed 1). RUNS= : only corpora and table
#   STEPS       of every run, instead of those in its job, with the same share of them for the warm-up
#   SETTINGS    keys of every job, separated by semicolons: "train.micro_batches=64; stream pairs.batch=512"
#   MEASURE     options of jobs/measure: "--ud UD --gold test.de,test.en,gold.naacl" (by default only the corpus, and of runs that
#               have been measured what is there)
#   SBATCH      options of sbatch with --submit: "-N 16 -t 24:00:00 -p long"
#   JOBS        directory with the job files (that of the script)
#   XLM_LAUNCH, XLM_MPIEXEC   as in runs.sh
#
# The script sets `here`, `paper` and `initial` (the model that every run starts from, "" for none) and has the functions
#   list_runs           lines `NAME | JOB.conf | KEY=VALUE; ... | TABLES | FIGURES`, names without `:`
#   corpus_of NAME      prints the path of the run's corpus
#   make_inputs NAME    makes it and all other inputs of the run, with `make_file`
#   settings_of NAME    appends more keys of the run, KEY=VALUE, to the array more_keys; $corpus may not exist yet

case ${1-} in # before runs.sh, which needs the programs
-h | --help)
    sed -n '/^# xlm-mpi/,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"
    sed -n '/^# Makes the corpora/,/^#   XLM_LAUNCH/s/^# \{0,1\}//p' "$here/../pretraining.sh"
    exit 0
    ;;
esac
# shellcheck source=jobs/runs.sh
. "$here/../runs.sh"

# make_file FILE COMMAND...: unless it exists. Shows the command.
make_file() {
    [[ -z $checking && ! -e $1 ]] || return 0
    say "$1"
    echo "${*:2}"
    [[ -n $dry ]] || { mkdir -p "$(dirname "$1")" && "${@:2}"; }
}

# read_runs: the lines of list_runs, into names and, by name, jobs_of_runs and keys_of_runs.
read_runs() {
    local name job keys rest
    declare -gA jobs_of_runs=() keys_of_runs=() train_of_jobs=()
    names=()
    while IFS='|' read -r name job keys rest; do
        read -r name <<<"$name" # without blanks around it
        read -r job <<<"$job"
        read -r keys <<<"$keys"
        names+=("$name") jobs_of_runs[$name]=$job keys_of_runs[$name]=$keys
    done < <(list_runs)
}
# read_train FILE: "STEPS WARMUP" of the [train] of a job, into train_of_jobs; "-" for what it does not set.
read_train() {
    [[ -n ${train_of_jobs[$1]-} ]] || train_of_jobs[$1]=$(awk '
        /^\[/ { here = $0 == "[train]" } here && $2 == "=" { value[$1] = $3 }
        function show(key) { return key in value ? value[key] : "-" }
        END { print show("steps"), show("warmup") }' <"$1")
}

# settings_in TEXT: the keys in it, separated by semicolons or on lines of their own, one a line, without blanks around the parts.
settings_in() {
    sed 's/^[[:blank:]]*//; s/[[:blank:]]*$//; s/[[:blank:]]*=[[:blank:]]*/=/; /^$/d' <<<"${1//;/$'\n'}"
}
# What a run is made with besides its name and its steps; its file made-with has it.
made_with() { echo "SETTINGS=$(settings_in "${SETTINGS-}" | sort | paste -sd';')"; }

# take RUN: name, seed, job, corpus, model, steps and settings of it.
take() {
    local line lines warmup job_steps more_keys=()
    name=${1%:*} seed=1
    [[ $1 != *:* ]] || seed=${1##*:}
    [[ $seed =~ ^[0-9]+$ ]] || wrong 64 "RUNS: $1: the seed is not a number"
    [[ -n $name && -n ${jobs_of_runs[$name]-} ]] || wrong 64 "RUNS: $1: there is no such run; there are ${names[*]}"
    job=${JOBS:-$here}/${jobs_of_runs[$name]}
    [[ -e $job ]] || wrong 66 "RUNS: $1: there is no $job"
    corpus=$(corpus_of "$name")
    lines=${keys_of_runs[$name]}$'\n'
    [[ -n $checking ]] || settings_of "$name"
    for line in "${more_keys[@]}"; do lines+=$line$'\n'; done
    lines+=${SETTINGS-}
    settings=()
    read_train "$job"
    read -r job_steps warmup <<<"${train_of_jobs[$job]}"
    while IFS= read -r line; do
        settings+=(--set "$line")
        case $line in
        train.steps=*) job_steps=${line#*=} ;;
        train.warmup=*) warmup=${line#*=} ;;
        esac
    done < <(settings_in "$lines")
    steps=${STEPS:-$job_steps}
    [[ -z ${STEPS-} ]] || settings+=(--set "train.steps=$steps"
        --set "train.warmup=$(awk -v w="${warmup/#-/0}" -v s="$steps" -v all="$job_steps" 'BEGIN { printf "%d", w * s / all }')")
    model=$directory/runs/$name-$seed-$steps
    settings+=(--set "train.corpus=$corpus" --set "train.output=$model" --set "train.seed=$seed")
    [[ -z $initial ]] || settings+=(--set "train.start=$START")
}

# ---- one run ----
# measure_run appends what could not be measured as a whole to the array `unmeasured` of run_study; check_run sets its `code` to that
# of a job that is wrong, and the others are checked too.
check_run() {
    say "$name:$seed"
    printf '%q ' xlm_train "$job" "${settings[@]}"
    echo
    if [[ -e $corpus ]]; then
        xlm_train "$job" "${settings[@]}" --dry-run 2>&1 || code=$?
    else
        echo "not checked: $corpus does not exist yet"
    fi
}
submit_run() {
    local script options=()
    script=$(cd "$here/../.." && pwd)/slurm/xlm_train.sbatch
    [[ -e $script ]] || wrong 66 "there is no $script"
    [[ -z ${SBATCH-} ]] || read -ra options <<<"$SBATCH"
    submit_job "${options[@]}" --job-name "$paper-${name//\//-}-$seed" "$script" "$job" "${settings[@]}"
}
note_settings() { mkdir -p "$model" && made_with >"$model/made-with"; }
finished() { [[ -e $model/latest && $(realpath "$model/latest") == */checkpoint-$(printf %08d "$steps").h5 ]]; }
measure_run() {
    local options=() row=${model//,/_}/latest, begun=$model/measure-begun rows=$model/measure-rows with=$model/measured code=0
    read -rd '' -a options <<<"${MEASURE-}" || : # which tells of the end
    if grep -qF -e "$row" "$csv" 2>/dev/null && [[ ! -e $begun ]]; then
        # Without MEASURE, whatever was measured is what is wanted. Rows may be those of a run that was moved away, which had this
        # name; runs of earlier versions have neither file.
        if [[ -e $with ]]; then
            [[ ${#options[@]} -gt 0 && $(<"$with") != "MEASURE=${options[*]}" ]] || return 0
        elif [[ ${#options[@]} -eq 0 && ! -e $model/made-with ]]; then
            return 0
        fi
    fi
    : >"$begun"
    rm -f "$rows"
    "$here/../measure" "$model/latest" --corpus "$corpus" "${options[@]}" --work "$directory/tuned" --csv "$rows" || code=$?
    if grep -qF -e "$row" "$rows" 2>/dev/null; then merge_rows "$rows" "$csv" "$row" "$code"; fi
    rm -f "$rows"
    if [[ $code -eq 0 ]]; then
        echo "MEASURE=${options[*]}" >"$with"
        rm "$begun"
    else
        say "$name:$seed: not all of it could be measured; the same command tries again"
        unmeasured+=("$name:$seed")
    fi
}

# ---- the table: what was measured, and the paper's figures ----
show_table() {
    local run path
    say "$paper: AER (%) and retrieval of sentences (%, mean of all directions, of the mean of the hidden states) of the best" \
        "layer, mean cosine of dictionary pairs, parts of speech zero-shot (micro F1, %); the paper's figures"
    for path in "$directory"/runs/*/*/ "$directory"/runs/*/; do
        [[ -e ${path}latest ]] || continue
        path=${path%/} run=${path#"$directory/runs/"} run=${run%-*}
        echo "${path//,/_}/latest|${run%-*}|${run##*-}|${path##*-}"
    done | awk -F'|' -v csv="$csv" -v runs="$(list_runs)" '
        function trim(x) { gsub(/^ +| +$/, "", x); return x }
        function show(x) { return x == "" ? "-" : x }
        BEGIN {
            while ((getline row_of_csv <csv) > 0) {
                split(row_of_csv, f, ",")
                if (f[3] == "aer" && (!(f[1] in aer) || f[8] < aer[f[1]])) { aer[f[1]] = f[8]; aer_at[f[1]] = f[4] }
                if (f[3] == "retrieval_cosine" && f[5] == "mean") {
                    key = f[1] SUBSEP f[4]; sum[key] += f[8]
                    if (!number[key]++) layers[++found] = key
                }
                if (f[3] == "dictionary_mean_cosine" && f[5] == "all") pairs[f[1]] = sprintf("%.3f", f[8])
                if (f[3] == "pos_micro_f1" && f[6] != f[7]) { pos[f[1]] += f[8]; tests[f[1]]++ }
            }
            for (i = 1; i <= found; i++) {
                split(layers[i], part, SUBSEP); mean = sum[layers[i]] / number[layers[i]]
                if (!(part[1] in got) || mean > got[part[1]]) { got[part[1]] = mean; got_at[part[1]] = part[2] }
            }
        }
        {
            at[$2] = at[$2] $1 "|"
            row[$1] = sprintf("%4s %8s %9s %9s %7s %7s", $3, $4,
                $1 in aer ? sprintf("%.2f@%s", 100 * aer[$1], aer_at[$1]) : "-",
                $1 in got ? sprintf("%.2f@%s", 100 * got[$1], got_at[$1]) : "-", show(pairs[$1]),
                $1 in pos ? sprintf("%.2f", 100 * pos[$1] / tests[$1]) : "-")
        }
        END {
            printf "%-24s %4s %8s %9s %9s %7s %7s   %s\n", "", "seed", "steps", "AER", "retrieval", "pairs", "POS", "paper"
            n = split(runs, line, "\n")
            for (i = 1; i <= n; i++) {
                split(line[i], f, "|")
                figures = "table " trim(f[4]) ": " trim(f[5])
                m = split(at[trim(f[1])], path, "|")
                if (m == 0)
                    printf "%-24s %4s %8s %9s %9s %7s %7s   %s\n", trim(f[1]), "-", "-", "-", "-", "-", "-", figures
                for (k = 1; k < m; k++) printf "%-24s %s   %s\n", trim(f[1]), row[path[k]], figures
            }
        }'
}

# run_study ARGUMENT...: all of it.
run_study() {
    local run mode=train wanted checking code=0 unmeasured=()
    case ${1-} in
    --dry-run | --submit) mode=${1#--}; shift ;;
    -*) wrong 64 "$1: there is no such option" ;;
    esac
    [[ $# -eq 1 ]] || { echo "usage: ${0##*/} [--dry-run | --submit] DIR" >&2; exit 64; }
    dry=$([[ $mode != dry-run ]] || echo 1)
    mkdir -p "$1"
    read_runs
    directory=$(cd "$1" && pwd) csv=$(cd "$1" && pwd)/measures.csv
    read -rd '' -a runs <<<"${RUNS-${names[*]}}" || : # which tells of the end
    if [[ -n $initial ]]; then
        [[ -n ${START-} ]] || wrong 64 "START: name the checkpoint of $initial that the runs begin with. xlm_convert makes
it of the model as its authors have published it (docs/transformers.md)"
        [[ -e $START ]] || wrong 66 "START: $START: there is no such file"
        START=$(realpath "$START")
    fi
    checking=1
    for run in "${runs[@]}"; do take "$run"; done # mistakes are found before days of training
    # Without runs the inputs of all of them are made.
    [[ ${#runs[@]} -gt 0 ]] && wanted=("${runs[@]%:*}") || wanted=("${names[@]}")
    for checking in 1 ''; do
        for run in "${wanted[@]}"; do make_inputs "$run"; done
    done
    for run in "${runs[@]}"; do
        take "$run" # now that corpora are there, which steps may follow from
        [[ $mode = dry-run ]] || ! finished || check_made "$model/made-with" "$(made_with)"
    done
    for run in "${runs[@]}"; do
        take "$run"
        case $mode in
        dry-run) check_run ;;
        submit) finished || { note_settings; submit_run; } ;;
        train)
            if ! finished; then
                say "$run: pre-training"
                note_settings
                "${launcher[@]}" xlm_train "$job" "${settings[@]}"
            fi
            measure_run
            ;;
        esac
    done
    [[ $mode != train ]] || show_table
    [[ ${#unmeasured[@]} -eq 0 ]] || wrong 1 "not all of these runs could be measured: ${unmeasured[*]}"
    return "$code"
}

# list_files WORDS: "en=a.gz de=b.gz" as options --mono (or what $2 says) of xlm_prep, one a line.
list_files() { local word; for word in $1; do printf '%s\n%s\n' "$2" "$word"; done; }
# count_pairs JOB: sets `pairs` to how many of the run's corpus the stream `pairs` of this job would read from START. Runs on the
# same corpus have them counted once.
declare -A counted_pairs=()
count_pairs() {
    local said
    pairs=${counted_pairs[$1 $corpus]-}
    [[ -z $pairs ]] || return 0
    # A job of one step, for which the rate of products is not measured for long.
    said=$(xlm_train "$1" --set "train.corpus=$corpus" --set "train.start=$START" \
        --set train.steps=1 --set train.warmup=0 --dry-run 2>&1) ||
        wrong 65 "$corpus: its pairs cannot be counted: $(grep '^xlm_train: ' <<<"$said" || tail -n 1 <<<"$said")"
    pairs=$(sed -n 's/^stream pairs: \([0-9]*\) instances.*/\1/p' <<<"$said")
    counted_pairs[$1 $corpus]=$pairs
}
