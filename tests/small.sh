# xlm-mpi: a small bilingual corpus and job for tests; sourced. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# After `. "$XLM_SOURCE/tests/small.sh"` the shell is in a fresh directory (removed on exit) with
#   text.en, text.xx   600 line-aligned sentences of a made grammar; xx has the same words with other letters, turned round
#   small_corpus       makes corpus.h5 of them; options given to it replace the pairs and their 120 merges
#   job.conf           a tiny model on both, mlm and tlm
set -u
if [ "${XLM_TEST_QUICK-}" = release ] && [ "$(grep -cE 'XLM_(SOURCE|BUILD)|plugin' "$0")" -le 1 ]; then
    echo "left out: reads nothing of the source directory but this file (XLM_TEST_QUICK=release)" >&2
    exit 77
fi
scratch=$(mktemp -d) || exit 99
# Open MPI's files, and what it leaves of runs that are killed (mpirun.sh). Its path is short, as other versions have sockets there.
XLM_TEST_SESSIONS=$(mktemp -d /tmp/xlm-XXXXXX) || exit 99
export XLM_TEST_SESSIONS OMPI_MCA_orte_tmpdir_base=$XLM_TEST_SESSIONS
launcher=
trap '[ -z "$launcher" ] || kill -KILL $(rank_processes) "$launcher" 2>/dev/null; chmod -R u+w "$scratch"
    rm -rf "$scratch" "$XLM_TEST_SESSIONS"' EXIT
cd "$scratch" || exit 99

failures=0
fail() { printf 'FAIL: %s\n' "$*" >&2; failures=$((failures + 1)); }
finish() { [ "$failures" -eq 0 ] || exit 1; exit 0; }

# long: for a script that is much of the time all take; quick checks (XLM_TEST_QUICK) leave it out.
long() { [ -z "${XLM_TEST_QUICK-}" ] || { echo "left out: XLM_TEST_QUICK=$XLM_TEST_QUICK" >&2; exit 77; }; }
# only_in_check_all: what follows in the script is run by `make check-all` alone.
only_in_check_all() {
    [ "${XLM_TEST_ALL-}" = 1 ] || { echo "the rest of this script is run by make check-all" >&2; finish; }
}

# is_open_mpi: whose launcher the tests use. mpirun.sh need not ask each time.
is_open_mpi() { [ "$XLM_TEST_LAUNCHER" = open-mpi ]; }
XLM_TEST_LAUNCHER=$(sh "$XLM_SOURCE/tests/mpirun.sh" --launcher)
export XLM_TEST_LAUNCHER
# ranks N PROGRAM...: runs on N ranks; one needs no mpiexec, which takes its time.
ranks() {
    if [ "$1" = 1 ]; then
        shift
        timeout "${XLM_TEST_TIMEOUT:-600}" "$@"
    else
        sh "$XLM_SOURCE/tests/mpirun.sh" "$@"
    fi
}
# in_german PROGRAM...: in a locale whose numbers have a decimal comma, where it can be made.
in_german() {
    if [ ! -d german ]; then
        mkdir german
        localedef -c -i de_DE -f UTF-8 german/de_DE.UTF-8 >/dev/null 2>&1 ||
            echo "not tested with a decimal comma: localedef has no de_DE" >&2
    fi
    env LOCPATH="$PWD/german" LC_ALL=de_DE.UTF-8 "$@"
}
# start N PROGRAM...: with mpiexec in the background, to be sent signals; then $launcher is mpiexec's process.
start() { OMPI_MCA_odls_base_sigkill_timeout=1 sh "$XLM_SOURCE/tests/mpirun.sh" "$@" & launcher=$!; }
# ended: waits for it; $code is its exit code.
ended() { code=0; wait "$launcher" || code=$?; launcher=; }
# rank_processes: of what was started, in the order of ranks, which is not that of their numbers when these begin anew.
rank_processes() {
    local child rank variable
    for child in $(children "$launcher"); do
        # MPICH's mpiexec starts a proxy, whose children the ranks are.
        case $(cat "/proc/$child/comm" 2>/dev/null) in
        hydra_pmi_proxy) children "$child" ;;
        *) echo "$child" ;;
        esac
    done | while read -r child; do
        rank=0
        { while IFS= read -r -d "" variable; do
            case $variable in
            OMPI_COMM_WORLD_RANK=*) rank=${variable#*=}; break ;;
            PMI_RANK=*) rank=${variable#*=} ;;
            esac
        done <"/proc/$child/environ"; } 2>/dev/null
        echo "$rank $child"
    done | sort -k 1,1n -k 2,2n | cut -d " " -f 2
}
# children PROCESS
children() {
    local parent=$1 file line
    for file in /proc/[0-9]*/stat; do
        { line=$(<"$file"); } 2>/dev/null || continue
        # shellcheck disable=SC2086 # fields after the name, which may have blanks: state, parent, ...
        set -- ${line##*) }
        [ "${2-}" != "$parent" ] || { file=${file%/stat}; echo "${file##*/}"; }
    done
}
# until_true COMMAND...: waits until the command succeeds or what was started has ended without that.
until_true() {
    until "$@"; do
        kill -0 "$launcher" 2>/dev/null || { "$@" && return; fail "ended before: $*"; return 1; }
        sleep 0.1
    done
}

# expect CODE PATTERN COMMAND...: the exit code, and a pattern in what it prints on standard error.
expect() {
    local wanted=$1 pattern=$2 code=0
    shift 2
    "$@" >expect.out 2>expect.err || code=$?
    [ "$code" -eq "$wanted" ] || fail "$* ended with $code instead of $wanted: $(head -5 expect.err)"
    [ -z "$pattern" ] || grep -q -e "$pattern" expect.err || fail "$*: no '$pattern' in: $(head -5 expect.err)"
}

# once PATTERN: matches exactly one line of what the last command of `expect` printed on standard error.
once() { [ "$(grep -c -e "$1" expect.err)" -eq 1 ] || fail "not once: $1: $(cat expect.err)"; }
# nothing_in DIR: no file was left there; what was, goes.
nothing_in() { [ -z "$(ls -A "$1")" ] || { fail "left in $1: $(ls -A "$1")"; rm -rf "$1"; mkdir "$1"; }; }
# refuse CODE PATTERN COMMAND...: one message of xlm_prep, and nothing written into directory none.
refuse() {
    local code=$1 pattern=$2
    shift 2
    expect "$code" "^xlm_prep: .*$pattern" "$@"
    once '^xlm_prep: '
    nothing_in none
}
# job_refused PATTERN CONF [OPTION...]: xlm_train refuses the job with one message of this pattern, and writes nothing; the first
# of a script on 2 ranks, the others, of which all ranks know the same, on one. `refused_on=2 job_refused ...` where a file says
# what is wrong.
refused_on=2
job_refused() {
    local pattern=$1
    shift
    expect 78 "$pattern" ranks "$refused_on" xlm_train "$@" --set train.output=none
    refused_on=1
    once "$pattern"
    [ ! -e none ] || { fail "something was written"; rm -rf none; }
}
# plugin_dies PATTERN SOURCE SED "SECTION NAME" CONF [OPTION...]: a mistake of its author, made by SED in tests/plugins/SOURCE.c, ends
# the job by a signal, with a message of this pattern.
plugin_dies() {
    local pattern=$1 code=0
    build_plugin changed "$2" "$3"
    { (ulimit -c 0; xlm_train "$5" --set "$4.plugin=./changed.so" --set train.output=dies "${@:6}" >dies.log 2>&1) || code=$?; } \
        2>/dev/null
    [ "$code" -gt 128 ] && grep -q "$pattern" dies.log || fail "$2, $3: ended with $code: $(tail -n 3 dies.log)"
    rm -rf dies
}
# logged FILE COMMAND...: what it prints goes to the file; it must succeed.
logged() {
    local log=$1
    shift
    "$@" >"$log" 2>&1 || fail "$log: $(tail -n 3 "$log")"
}

awk -v seed=7 'function draw(n) { seed = (seed * 16807) % 2147483647; return seed % n }
    BEGIN {
        split("the old red small green tall quick quiet", adjective, " ")
        split("house river teacher garden window student book mountain", noun, " ")
        split("sees finds opens likes paints follows", verb, " ")
        for (i = 0; i < 600; i++) {
            n = 0
            for (part = 0; part < 2; part++) {
                for (k = draw(3); k > 0; k--) word[++n] = adjective[1 + draw(8)]
                word[++n] = noun[1 + draw(8)]
                if (part == 0) word[++n] = verb[1 + draw(6)]
            }
            line = word[1]; other = word[n]
            for (k = 2; k <= n; k++) { line = line " " word[k]; other = other " " word[n + 1 - k] }
            print line " ." > "text.en"
            gsub(/[aeiou]/, "y&", other)
            print other " ." > "text.xx"
        }
    }' || exit 99

small_corpus() {
    [ $# -gt 0 ] || set -- --para en-xx=text.en,text.xx --bpe 120
    xlm_prep --mono en=text.en --mono xx=text.xx --words space --held-out 0.1 "$@" -o corpus.h5 >prep.log 2>&1 ||
        { cat prep.log >&2; exit 99; }
}

# small_resources: a dictionary, a word alignment and co-occurrence counts of the corpus: dict.h5, alignment.h5, cooc.h5.
small_resources() {
    tr ' ' '\n' <text.en | sort -u | grep -v '^\.$' | sed 'h; s/[aeiou]/y&/g; H; x; s/\n/ /' >words.txt
    logged dict.log xlm_dict corpus.h5 --source en --target xx --text words.txt --subwords first -o dict.h5
    logged align.log xlm_align corpus.h5 --split all --alignment alignment.h5
    logged cooc.log xlm_cooc corpus.h5 -o cooc.h5
}

# byte_pairs DIRECTORY: a tokenizer as of Gemma, with line ends and a tab among its subwords.
byte_pairs() {
    mkdir "$1"
    echo '{"bos_token": "<bos>", "eos_token": "<eos>", "mask_token": "<mask>"}' >"$1/tokenizer_config.json"
    {
        printf '{"added_tokens": [], "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\342\226\201"},'
        printf '"pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious"},'
        printf '"model": {"type": "BPE", "unk_token": "<unk>", "byte_fallback": true, "merges": ["t h", "th e", ["\\n", "\\n"]],'
        printf '"vocab": {'
        { printf '%s\n' '<pad>' '<eos>' '<bos>' '<unk>' '<mask>' '\n' '\n\n' '\t'; printf '<0x%02X>\n' {0..8} {10..255}
          printf '%s\n' $'\342\226\201' {a..z} . th the; } | awk '{ printf "%s\"%s\": %d", (NR > 1 ? ", " : ""), $0, NR - 1 }'
        printf '}}}\n'
    } >"$1/tokenizer.json"
}

# phrases FILE: token<tab>tag, a noun and the adjectives before it (after it, in inverted sentences) are a span NP.
phrases() {
    awk '{ inside = 0
        for (i = 1; i <= NF; i++) {
            w = $i; gsub(/y/, "", w)
            if (w ~ /^(sees|finds|fnds|opens|likes|paints|follows|\.)$/) { print $i "\tO"; inside = 0 }
            else { print $i "\t" (inside ? "I-NP" : "B-NP"); inside = 1 }
        }
        print "" }' "$1"
}

cat >job.conf <<'JOB'
[model]
layers = 2
hidden_size = 32
attention_heads = 4
positions = 96
language_embeddings = true

[train]
corpus = corpus.h5
output = out
steps = 100
learning_rate = 2e-3
warmup = 10
log_every = 1
evaluate_every = 0
evaluate_instances = 16
checkpoint_every = 0
micro_batches = 4

[stream text]
batch = 4
length = 48

[stream pairs]
type = parallel
batch = 4
length = 32

[objective mlm]
stream = text

[objective tlm]
plugin = mlm
stream = pairs
weight = 0.5
JOB

# micro_batches N: of a step of job.conf, instead of 4.
micro_batches() { sed -i "s/^micro_batches = 4$/micro_batches = $1/" job.conf; }
# batches_of_eight: for what is not seen, or not learnt, of job.conf's batches of four.
batches_of_eight() { sed -i 's/^batch = 4$/batch = 8/' job.conf; }

# tagger_job TEXT: writes tune.conf, which tunes out/latest for an epoch to tag this text, also its dev text, into directory tag.
tagger_job() {
    cat >tune.conf <<JOB
[tune]
model = out/latest
train = $1
dev = $1
language = en
output = tag
epochs = 1
batch = 8
length = 24

[task tagging]
JOB
}

# commands_of PAGE: what a page of docs/ tells its reader to paste into a terminal.
commands_of() { awk '/^```/ { inside = !inside && $0 == "```sh"; next } inside' "$1"; }
# pasted PAGE DIRECTORY LOG: these commands, run in a new directory. Only mpiexec is not the page's: it is that of the tests, which
# takes root and more ranks than cores.
pasted() {
    local words
    mkdir "$2" .bin
    cat >.bin/mpiexec <<'WRAPPER'
#!/bin/sh
[ "$1" = -n ] || { echo "mpiexec of the test: expected -n N PROGRAM" >&2; exit 64; }
ranks=$2
shift 2
exec sh "$XLM_SOURCE/tests/mpirun.sh" "$ranks" "$@"
WRAPPER
    chmod +x .bin/mpiexec
    read -ra words <<<"${XLM_MPIEXEC:-mpiexec}"
    commands_of "$1" >.commands
    # The launcher by its path: the wrapper has its name.
    (cd "$2" && XLM_MPIEXEC="$(command -v "${words[0]}") ${words[*]:1}" PATH=$scratch/.bin:$PATH sh -eux ../.commands) >"$3" 2>&1 ||
        fail "$1: $(tail -n 20 "$3")"
}

# strings PATH FILE: a dataset of strings, a line each. h5dump writes bytes above 127 as \37777777703.
strings() {
    h5dump -y -w 1 -d "$1" "$2" | sed -n '/ATTRIBUTE/q; s/^ *"\(.*\)",\{0,1\}$/\1/p' | sed 's/\\37777777\([0-7]\{3\}\)/\\0\1/g' |
        while IFS= read -r line; do printf '%b\n' "$line"; done
}
# numbers PATH FILE: a dataset of numbers, a line each.
numbers() { h5dump -y -w 1 -d "$1" "$2" | sed -n '/ATTRIBUTE/q; s/^ *\([-0-9][-0-9.e+]*\),\{0,1\}$/\1/p'; }
# pairs_of PATH FILE: a dataset of two columns, "1 2" a line.
pairs_of() { numbers "$1" "$2" | paste -d ' ' - -; }
# attribute PATH FILE
attribute() { h5dump -a "$1" "$2" | sed -n 's/^ *(0): //p'; }
# decode FILE SPLIT LANG: the sentences of a corpus's text as the vocabulary spells them, a line each.
decode() {
    strings /vocabulary/words "$1" >words.txt
    numbers "/$2/text/$3/tokens" "$1" >tokens.txt
    numbers "/$2/text/$3/offsets" "$1" >offsets.txt
    awk 'FILENAME == "words.txt" { word[n++] = $0; next }
        FILENAME == "tokens.txt" { token[t++] = word[$1]; next }
        FNR > 1 {
            line = ""
            for (; at + 0 < $1; at++) line = line token[at + 0] " "
            gsub(/@@ /, "", line); sub(/ $/, "", line)
            print line
        }' words.txt tokens.txt offsets.txt
}

# trained CONF NAME RANKS [OPTION...]: a run into directory NAME, which must succeed; its messages are in NAME.log.
trained() {
    local conf=$1 name=$2 n=$3
    shift 3
    logged "$name.log" ranks "$n" xlm_train "$conf" --set "train.output=$name" "$@"
}
# estimated LOG [MOST]: what a pass took is off its estimate by no more than this share; by default, no more than an eighth above it,
# and the estimate no more than two and a half times of it, since chance chooses the longest micro-batch of a short run.
estimated() {
    sed -n 's/^peak memory: .*a pass \([0-9.]*\) MiB, estimated \([0-9.]*\)$/\1 \2/p' "$1" |
        awk -v most="${2-}" '{ n++; bad = most == "" ? $1 > 1.125 * $2 || $2 > 2.5 * $1 : $2 > (1 + most) * $1 || $2 < (1 - most) * $1 }
            END { exit bad || n != 1 }' || fail "$1: $(grep 'peak memory' "$1" || tail -n 3 "$1")"
}
# compile_plugin NAME [FLAG...]: NAME.so of NAME.c.
compile_plugin() {
    # shellcheck disable=SC2086 # compilers and flags are words
    $XLM_CC -std=c11 -Wall -Wextra -Werror -shared -fPIC -I "$XLM_SOURCE/include" ${XLM_SANITIZE_FLAGS:-} "${@:2}" -o "$1.so" "$1.c" ||
        fail "$1 does not compile"
}
# build_plugin NAME [SOURCE [SED OPTION...]]: NAME.so of tests/plugins/SOURCE.c, by default of its own name, changed.
build_plugin() {
    local name=$1 source=${2-$1}
    shift $(($# < 2 ? $# : 2))
    sed "s/\(xlm_[a-z]*_\)${source//-/_}\([ ;]\)/\1${name//-/_}\2/" "$XLM_SOURCE/tests/plugins/$source.c" |
        if [ $# -gt 0 ]; then sed "$@"; else cat; fi >"$name.c"
    compile_plugin "$name"
}
# stand_still: what is started then, with an objective of tests/plugins/stand-still.c, waits in its sixth step as long as there is
# a file `still`. stands_on RANKS: so many wait.
stand_still() { rm -f stands.*; : >still; }
stands_on() { [ "$(find . -maxdepth 1 -name "stands.*" | wc -l)" -eq "$1" ]; }
# questions FILE: a file of questions as SQuAD's, one for each line: its second word, whose answer is the first.
questions() {
    awk 'BEGIN { printf "{\"version\": \"1.1\", \"data\": [{\"title\": \"made\", \"paragraphs\": [" }
        { printf "%s{\"context\": \"%s\", \"qas\": [{\"id\": \"q%d\", \"question\": \"%s\", " \
            "\"answers\": [{\"text\": \"%s\", \"answer_start\": 0}]}]}", (NR == 1 ? "" : ", "), $0, NR - 1, $2, $1 }
        END { print "]}]}" }' "$1"
}
# task_files PART: of PART.text, files as the tasks read them: PART.tsv (tagging), PART.classes, PART.json (questions).
task_files() {
    phrases "$1.text" >"$1.tsv"
    awk '{ print (/ (sees|finds|opens) / ? "yes" : "no") "\t" $0 }' "$1.text" >"$1.classes"
    questions "$1.text" >"$1.json"
}
# one_step CONF LAYERS WIDTH HEADS [CORPUS [KEY...]]: the job of a model that one step has trained, with more keys of [model].
one_step() {
    printf '%s\n' '[model]' "layers = $2" "hidden_size = $3" "attention_heads = $4" 'positions = 512' 'token_types = true' "${@:6}" \
        '[train]' "corpus = ${5-corpus.h5}" "output = ${1%.conf}" 'steps = 1' 'evaluate_every = 0' \
        '[stream text]' 'batch = 8' 'length = 32' '[objective mlm]' 'stream = text' >"$1"
}
# same_bits A B: metrics of two runs, and their parameters, moments, averages and states of objectives.
same_bits() {
    cmp <(rows "$1") <(rows "$2") ||
        fail "metrics of $1 and $2 are not the same bits: $(diff <(rows "$1") <(rows "$2") | head -n 4)"
    [ "$(digest "$1/latest")" = "$(digest "$2/latest")" ] || fail "parameters of $1 and $2 are not the same bits"
}
# agree A B [MOST]: losses of each step within 1e-4 relative, or MOST.
agree() {
    paste <(losses "$1") <(losses "$2") | awk -v a="$1" -v b="$2" -v most="${3-1e-4}" '
        { d = ($2 - $4) / $2; if (d < 0) d = -d; if ($1 != $3 || d > most || $2 != $2 + 0) { print a, b, $0; bad = 1 } }
        END { exit bad || NR == 0 }' || fail "losses of $1 and $2 differ"
}
# eight_steps N [SED OPTION...]: job.conf for eight steps of N micro-batches, with checkpoints and evaluations after four and eight,
# and a narrower model.
eight_steps() {
    local n=$1
    shift
    sed -e "s/^micro_batches = 4/micro_batches = $n/; s/^steps = 100/steps = 8/; s/^warmup = 10/warmup = 2/" \
        -e 's/^\(checkpoint_every\|evaluate_every\) = 0/\1 = 4/; s/^hidden_size = 32/hidden_size = 16/' "$@" job.conf
}
# reproduced CONF NAME RANKS...: a run into NAME-1 on one rank is, bit by bit, that of each of RANKS, NAME-RANKS, with no
# checkpoint but the last, or one every $checkpoints steps, and also what comes of its last checkpoint but one when it goes on from
# there on 2 ranks, NAME-resumed. So RANKS need not have 2.
reproduced() {
    local conf=$1 name=$2 n step
    shift 2
    trained "$conf" "$name-1" 1
    for n; do
        trained "$conf" "$name-$n" "$n" --set "train.checkpoint_every=${checkpoints:-0}"
        same_bits "$name-1" "$name-$n"
    done
    cp -r "$name-1" "$name-resumed"
    rm "$name-resumed/$(readlink "$name-1/latest")"
    step=$(cd "$name-resumed" && printf '%s\n' checkpoint-*.h5 | sed -n '$s/^checkpoint-0*\(.*\)\.h5$/\1/p')
    trained "$conf" "$name-resumed" 2
    grep -q "resumed from .* at step $step\$" "$name-resumed.log" ||
        fail "$name-resumed: did not resume: $(head -n 9 "$name-resumed.log")"
    same_bits "$name-1" "$name-resumed"
}
# right_gradients CONF [OPTION...]: those of every objective, or of those that $checked names, on 2 ranks; in check.txt is what was
# compared.
right_gradients() {
    local code=0
    ranks 2 xlm_train "$@" "--check-gradients${checked:+=$checked}" >check.txt 2>check.log || code=$?
    [ "$code" -eq 0 ] || fail "gradients of $*: $(grep WRONG check.txt; tail -n 3 check.log)"
    awk '/ x / && $NF != "none" && $5 + $6 > $7 { n++ } END { exit n < 8 }' check.txt ||
        fail "gradients of $*: nothing was compared: $(cat check.txt)"
}
# resumes CONF NAME RANKS...: from its checkpoint at step 60 run NAME becomes, on so many ranks, what it is after 100 steps.
resumes() {
    local conf=$1 name=$2 n from
    shift 2
    for n in "$@"; do
        from=$name-from60-$n
        cp -r "$name" "$from"
        rm "$from/$(checkpoint 100)"
        trained "$conf" "$from" "$n"
        grep -q 'resumed from .* at step 60' "$from.log" ||
            fail "on $n ranks: did not resume at step 60: $(head -n 9 "$from.log")"
        same_bits "$name" "$from"
        [ "$(readlink "$from/latest")" = "$(checkpoint 100)" ] || fail "latest of $from points at $(readlink "$from/latest")"
    done
}

# values DIR SPLIT OBJECTIVE COLUMN [LANGUAGE]: "step value" of the rows of a run's metrics.csv; the column by its name there.
values() {
    awk -F, -v split_="$2" -v objective="$3" -v column="$4" -v language="${5-}" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i; if (!at) exit 1; next }
        $2 == split_ && $3 == objective && $4 == language { print $1, $at }' "$1/metrics.csv"
}
# value DIR STEP SPLIT OBJECTIVE COLUMN [LANGUAGE]: the one of a step.
value() { values "$1" "${@:3}" | sed -n "s/^$2 //p"; }
# losses DIR: "step loss" of every step of a run.
losses() { values "$1" train total loss; }
# is_between LEAST NUMBER MOST: all three are numbers, in this order.
is_between() { awk -v a="$1" -v x="$2" -v b="$3" 'BEGIN { exit !(x != "" && x + 0 == x && a <= x + 0 && x + 0 <= b) }'; }
# is_near A B [MOST]: two numbers that differ by at most MOST, 3e-6 unless it is given.
is_near() {
    awk -v a="$1" -v b="$2" -v most="${3-3e-6}" 'BEGIN { exit !(a != "" && b != "" && a - b <= most && b - a <= most) }'
}
# same_numbers A B MOST: two texts of the same words, but that numbers may differ by MOST. Commas are taken for blanks.
same_numbers() {
    awk -v most="$3" '
        function is_number(x) { return x ~ /^-?[0-9]/ }
        { gsub(",", " ") }
        FILENAME == ARGV[1] { line[++lines] = $0; next }
        {
            if (split(line[FNR], other, " ") != NF) bad = 1
            for (i = 1; i <= NF; i++)
                if (!is_number($i) || !is_number(other[i])) bad = bad || $i != other[i]
                else if ($i - other[i] > most || other[i] - $i > most) bad = 1
            read = FNR
        }
        END { exit bad || lines == 0 || read != lines }' "$1" "$2"
}
# published_pieces MODEL: one of SentencePiece that xlm_prep has learned, with <s> and </s> after its first piece, <unk>, as published
# ones have them.
published_pieces() {
    local first=$((2 + $(head -c 2 "$1" | tail -c 1 | od -An -tu1)))
    head -c "$first" "$1"
    printf '\n\007\n\003<s>\030\003\n\010\n\004</s>\030\003'
    tail -c "+$((first + 1))" "$1"
}
# rows DIR: all that is in metrics.csv but the seconds, which differ.
rows() { cut -d, -f1-11,13 "$1/metrics.csv"; }
# has_steps DIR N: N steps at least are in the metrics.
has_steps() { [ "$(losses "$1" 2>/dev/null | wc -l)" -ge "$2" ]; }
# last_step DIR
last_step() { losses "$1" | tail -n 1 | cut -d' ' -f1; }
# checkpoint STEP: its file's name.
checkpoint() { printf 'checkpoint-%08d.h5' "$1"; }
# digest FILE: of every bit of the parameters and moments of a checkpoint, and of the averages and states of objectives. Made once
# for a file as it is.
mkdir "$scratch/.digests"
digest() {
    local seen
    seen=$scratch/.digests/$(stat -L -c '%i-%s-%.9Z' "$1") || { echo "no $1"; return; }
    [ -s "$seen" ] || "$XLM_BUILD/tests/hdf5_digest" "$1" model optimiser objectives >"$seen" ||
        { rm -f "$seen"; echo "no digest of $1"; return; }
    cat "$seen"
}
# same_objects A B [PATH...]: these datasets or groups of two files, by default all there is, are the same: names, types, extents,
# attributes and every bit of the values. What differs is printed. (h5diff says of datasets of other extents that they cannot be
# compared, and ends as if they were the same.)
same_objects() {
    [ $# -gt 2 ] || set -- "$@" /
    "$XLM_BUILD/tests/hdf5_digest" --same "$@" 2>&1 && return
    local path
    for path in "${@:3}"; do h5diff -c "$1" "$2" "$path" "$path"; done 2>&1
    return 1
}
# other_objects A B PATH...: both files have them all, and one at least is not the same.
other_objects() {
    "$XLM_BUILD/tests/hdf5_digest" --same "$@" >expect.out 2>&1
    [ $? -eq 1 ] || { cat expect.out; return 1; }
}
# other_text A B: two files, or what two processes print: both have something, and it is not the same.
other_text() {
    local a b
    a=$(cat "$1") b=$(cat "$2")
    [ -n "$a" ] && [ -n "$b" ] && [ "$a" != "$b" ]
}
# differ A B: the digests of two checkpoints, both of which have one.
differ() { [ "$(digest "$1")" != "$(digest "$2")" ] && [ "$(digest "$1" | wc -c)" -eq 65 ] && [ "$(digest "$2" | wc -c)" -eq 65 ]; }
