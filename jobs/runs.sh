# xlm-mpi: what the scripts of jobs/ have in common; sourced. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# After `. runs.sh`: functions (say, wrong; cores; plain_or_compressed, text_of, without_packing; submit_job; of studies dictionary,
# check_language, settings_of_jobs, check_made, within_hours, planned, merge_rows), and
#   launcher   [array] the command that starts the ranks
#   LC_NUMERIC C, and neither LC_ALL nor CDPATH
# In the environment:
#   XLM_LAUNCH    the command that starts the ranks: "mpiexec -n 16"; by default mpiexec with one rank per core. With a
#                 number of ranks it holds here alone; without one ("srun --mpi=pmix") also for jobs of --submit
#   XLM_MPIEXEC   that mpiexec, if several MPIs are installed: "mpiexec.mpich"
#   DICTIONARY    dictionary: a dictd database; none: do without
#   HOURS         within_hours: time limit
#   SETTINGS      settings_of_jobs: keys of every job, separated by semicolons
#   PATH          the programs; if not found there, those of the tree or installation that this file belongs to

# With a decimal comma, as in German, mawk and printf of bash read 0.5 as 0.
[ -z "${LC_ALL-}" ] || export LC_CTYPE="$LC_ALL"
unset LC_ALL
export LC_NUMERIC=C
unset CDPATH # by which cd prints a path, and may find another directory

say() { printf '\n== %s\n' "$*"; }
# wrong CODE MESSAGE: ends the script.
wrong() { echo "${0##*/}: $2" >&2; exit "$1"; }

# plain_or_compressed FILE: this file, or FILE.gz, FILE.xz, ... as the programs read them, whichever is there; fails if none is.
plain_or_compressed() {
    local file
    for file in "$1" "$1".{gz,xz,bz2,zst,lz4,lz,Z}; do
        if [[ -e $file ]]; then echo "$file"; return; fi
    done
    return 1
}
# without_packing FILE: its name without the ending of a compressed file.
without_packing() {
    case $1 in
    *.gz | *.xz | *.bz2 | *.zst | *.lz4 | *.lz | *.Z) echo "${1%.*}" ;;
    *) echo "$1" ;;
    esac
}
# text_of FILE: its text, plain or compressed.
text_of() {
    case $1 in
    *.xz) xz -cd "$1" ;;
    *.bz2) bzip2 -cd "$1" ;;
    *.zst) zstd -cd "$1" ;;
    *.lz4) lz4 -cd "$1" ;;
    *.lz) lzip -cd "$1" ;;
    *.gz | *.Z) gzip -cd "$1" ;;
    *) gzip -cdf "$1" ;;
    esac
}
# freedict LANGUAGE: FreeDict's translations of English words where Debian's packages dict-freedict-eng-... put them; nothing for a
# language that it has none for, or that is not installed.
freedict() {
    local pair path
    # FreeDict's names of languages have three letters.
    for pair in af:afr ar:ara bg:bul cs:ces cy:cym da:dan de:deu el:ell es:spa fi:fin fr:fra ga:gle hi:hin hr:hrv hu:hun id:ind \
        it:ita ja:jpn la:lat lt:lit nl:nld no:nor pl:pol pt:por ro:rom ru:rus sr:srp sv:swe sw:swh tr:tur; do
        [[ ${pair%:*} = "$1" ]] || continue
        path=/usr/share/dictd/freedict-eng-${pair#*:}
        [[ ! -e $path.index ]] || echo "$path"
    done
}
# dictionary LANGUAGE FILE: the dictd database that FILE is to be made of: that of DICTIONARY, by default FreeDict's; nothing for
# none. One that is not there ends the script, unless FILE has been made.
dictionary() {
    local given
    given=${DICTIONARY-$(freedict "$1")}
    [[ $given != none ]] || given=''
    [[ -z $given || -e $2 || -e $given.index ]] ||
        wrong 66 "DICTIONARY: there is no $given.index; none: go on without a dictionary"
    echo "$given"
}
# check_language DIR LANGUAGE: of a study in DIR that has a corpus, it is the other language besides English. DIR/language says so
# since version 1.0; before, only the names of the texts do.
check_language() {
    local file others=''
    [[ -e $1/corpus.h5 ]] || return 0
    if [[ -e $1/language ]]; then
        others=$(<"$1/language")
    elif [[ ! -e $1/text/en-$2.$2 ]]; then
        for file in "$1"/text/en-*; do [[ ! -e $file || ${file##*.} = en ]] || others=${file##*.}; done
    fi
    [[ -z $others || $others = "$2" ]] || wrong 64 "$1 has the corpus of another language: $others; take another DIR for $2"
}
# settings_of_jobs: SETTINGS as options of xlm_train, into the array settings_options.
settings_of_jobs() {
    local line given=${SETTINGS-}
    settings_options=()
    while IFS= read -r line; do
        line=${line#"${line%%[! ]*}"}
        [[ -z $line ]] || settings_options+=(--set "$line")
    done <<<"${given//;/$'\n'}"
}
# check_made FILE WITH: what is finished, or prepared, is not of other settings, which nothing in the table would tell. FILE says
# what it was made with; that of earlier versions is empty.
check_made() {
    local other
    [[ -s $1 ]] || return 0
    other=$({ diff <(echo "$2") "$1" || :; } | sed -n 's/^> //p' | paste -sd' ')
    [[ -z $other ]] || wrong 64 "$(dirname "$1") was made with $other; give that again, take another DIR, or move it away"
}
# check_hours: HOURS is a number, or not given.
check_hours() { [[ ${HOURS-1} =~ ^[0-9]*\.?[0-9]+$ ]] || wrong 64 "HOURS: $HOURS: not a number of hours"; }
# seconds_left: until the limit of HOURS; ends the script if there are none.
seconds_left() {
    awk -v hours="$HOURS" -v gone="$SECONDS" 'BEGIN { s = int(hours * 3600) - gone; print s; exit s <= 0 }' || time_is_over
}
time_is_over() { wrong 75 "the time of HOURS=$HOURS is over; the same command continues"; }
# within_hours COMMAND...: the command starts ranks of xlm_train, which are stopped, with a checkpoint, when the time of HOURS is
# over.
within_hours() {
    local limit=() seconds code=0
    if [[ -n ${HOURS-} ]]; then
        seconds=$(seconds_left)
        limit=(timeout --foreground --signal=USR1 "$seconds")
    fi
    "${limit[@]}" "$@" || code=$?
    [[ $code -ne 124 ]] || time_is_over
    return $code
}
# planned TITLE COMMAND...: the command calls xlm_train; the line of its --plan for as many ranks as are started.
planned() {
    local ranks text
    ranks=$("${launcher[@]}" sh -c 'echo' | wc -l)
    printf '%-32s ' "$1"
    if ! text=$(HOURS='' "${@:2}" --plan --ranks="$ranks" 2>&1) ||
        ! awk -v ranks="$ranks" '$1 == ranks { sub(/^ +/, ""); print; n++ } END { exit n != 1 }' <<<"$text"; then
        printf '\n%s\n' "$text" >&2
        return 1
    fi
}

# merge_rows ROWS CSV BEGINNING CODE: the rows of jobs/measure in ROWS go into the table CSV. They replace all rows there with the
# same beginning, which is that of all in ROWS, or, where a part of the measurement has failed (CODE is not 0), those of what ROWS
# has anew: the others stay until there are others. Other studies may do so at the same time: where there is no flock, or the file
# system has no locks, the rows of one of them may be lost.
merge_rows() {
    local new=$2.new.$$ lock
    exec {lock}>>"${2%.csv}.lock"
    flock "$lock" 2>/dev/null || :
    if [[ -e $2 ]]; then
        # Not -v, in which a backslash of a path would begin an escape sequence.
        beginning=$3 awk -F, -v code="$4" '
            function measure() { return $3 "," $5 "," $6 "," $7 }
            NR == FNR { anew[measure()]; next }
            index($0, ENVIRON["beginning"]) != 1 || (code != 0 && !(measure() in anew))' "$1" "$2" >"$new"
        tail -n +2 "$1" >>"$new"
    else
        cp "$1" "$new"
    fi
    mv "$new" "$2"
    exec {lock}>&-
}

# submit_job OPTION...: sbatch. In an allocation (salloc, srun --pty) variables describe what it has; sbatch would give them to the
# new job, whose script and srun read those that Slurm does not set anew for it.
# An XLM_LAUNCH with a number of ranks starts those of this machine, such as the ones that make corpora: the job script, which sets
# the number itself, would refuse it when its turn comes.
submit_job() {
    local number_of_ranks=' (--?n|--?np|-n[0-9]+|--ntasks|--ntasks=[^ ]*) '
    (
        if [[ " ${XLM_LAUNCH-} " =~ $number_of_ranks ]]; then
            echo "${0##*/}: XLM_LAUNCH=$XLM_LAUNCH holds here alone: options of sbatch (SBATCH) set the ranks of the Slurm job" >&2
            unset XLM_LAUNCH
        fi
        [[ -z ${SLURM_JOB_ID-} ]] || unset "${!SLURM_NTASKS@}" "${!SLURM_CPU@}" "${!SLURM_MEM_@}" "${!SLURM_GPUS@}" \
            "${!SLURM_ARRAY_@}" SLURM_NPROCS SLURM_TRES_PER_TASK SLURM_HINT SLURM_THREADS_PER_CORE SLURM_DISTRIBUTION \
            SLURM_RESTART_COUNT
        sbatch "$@"
    )
}

find_programs() {
    local here bin
    ! command -v xlm_train >/dev/null || return 0
    here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
    for bin in "$here/.." "$here/../../../bin"; do # of a tree that was built; PREFIX/share/xlm-mpi/jobs
        [[ -x $bin/xlm_train ]] || continue
        PATH=$(cd "$bin" && pwd):$PATH
        [[ ! -d $here/../src/losses/.libs || -n ${XLM_PLUGIN_PATH-} ]] || export XLM_PLUGIN_PATH=$here/../src/losses/.libs
        return 0
    done
    wrong 69 "xlm_train is not in PATH"
}

# cores: how many this process may use. The second hardware thread of a core makes matrix products no faster, so it counts as none.
cores() {
    local all
    all=$(env -u OMP_NUM_THREADS nproc) # which takes that variable for a limit
    { lscpu -p=CPU,SOCKET,CORE 2>/dev/null || true; } |
        awk -F, -v all="$all" -v allowed="$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" '
            BEGIN {
                for (n = split(allowed, part, ","); n > 0; n--) {
                    count = split(part[n], ends, "-")
                    for (cpu = ends[1]; cpu <= ends[count]; cpu++) mine[cpu + 0] = 1
                }
            }
            /^[0-9]/ && $3 != "" && $1 in mine && !(($2, $3) in seen) { seen[$2, $3] = 1; found++ }
            END { print (found > 0 && found < all ? found : all) }'
}

find_launcher() {
    local i
    if [[ -n ${XLM_LAUNCH-} ]]; then
        read -ra launcher <<<"$XLM_LAUNCH"
    else
        export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
        # As many ranks as cores, however few slots Open MPI (4, 5 and later) counts; MPICH has no such limit.
        export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
        read -ra launcher <<<"${XLM_MPIEXEC:-mpiexec} -n $(cores)"
    fi
    # Files that it names are found from other directories too: words with a slash, and those after options of files; `core` in
    # --bind-to core is none, although there may be such a file. A path with blanks would be two words in XLM_LAUNCH.
    for i in "${!launcher[@]}"; do
        [[ -f ${launcher[i]} && $PWD != *[[:space:]]* ]] || continue
        if [[ ${launcher[i]} == */* || ($i -gt 0 && ${launcher[i > 0 ? i - 1 : 0]} =~ ^(--?(hostfile|machinefile|rankfile|app)|-f)$) ]]
        then
            launcher[i]=$(realpath -s "${launcher[i]}")
        fi
    done
}

find_programs
find_launcher
