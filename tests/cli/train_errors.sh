#!/usr/bin/env bash
# xlm-mpi: what xlm_train says to wrong input: once, with the right exit code, and without leaving anything.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

train() { ranks 2 xlm_train "$@"; }
# On one rank, for other keys and options of which two would say the same.
alone() { ranks 1 xlm_train "$@"; }

expect 64 'one job file' train
once 'one job file'
expect 64 'one job file is needed; .*; --check-gradients has taken job.conf as the name of an objective: put the option after' \
    alone --check-gradients job.conf
xlm_train --help >help.txt
[ "$(grep -c -e '--check-gradients=\[NAME\]' -e '--help-job=\[NAME\]' help.txt)" -eq 2 ] ||
    fail "names that may be left out: $(grep NAME help.txt)"
expect 64 '' alone job.conf --no-such-option
expect 66 'missing.conf' train missing.conf
once 'missing.conf'
# Errors of the command line are 64, those of the job file 78, with the line.
expect 64 '--set train.stpes: unknown key "stpes"; did you mean "steps"' train job.conf --set train.stpes=3
once 'did you mean'
expect 64 'steps = many' alone job.conf --set train.steps=many
expect 64 'learning_rate = -1' alone job.conf --set train.learning_rate=-1
expect 64 'stream nowhere' alone job.conf --set "stream nowhere.batch=3"
expect 64 'SECTION.KEY=VALUE' alone job.conf --set steps=3
# The same for what the environment says, on all ranks or on one of them.
wishes=(XLM_KERNELS=foo BLIS_ARCH_TYPE=zen3 BLIS_ARCH_TYPE=9999 XLM_STORE_WRITERS=some XLM_STORE_TIMEOUT=0 XLM_NODE_RANKS=-2)
# BLIS ends the program when it is asked for kernels that it was built without, and does not ask whether the processor has the
# instructions of those that it has. The message lists, as " NUMBER (NAME)", those that can be had.
kernels=$(BLIS_ARCH_TYPE=zen3 xlm_train --version | sed -n 's/^BLIS_ARCH_TYPE=zen3: .* can run:\(.*\); leave it .*/\1/p')
for number in {0..40}; do
    version=$(BLIS_ARCH_TYPE=$number xlm_train --version) || fail "BLIS_ARCH_TYPE=$number ends --version with code $?"
    if [[ $kernels == *" $number ("* ]]; then
        name=${kernels#*" $number ("}
        grep -q "^BLIS .*, ${name%%)*} kernels (the user's" <<<"$version" || fail "BLIS_ARCH_TYPE=$number: $version"
    else
        grep -q "^BLIS_ARCH_TYPE=$number: " <<<"$version" || fail "BLIS_ARCH_TYPE=$number is not refused: $version"
        : "${refused:=BLIS_ARCH_TYPE=$number}"
    fi
done
wishes+=("$refused")
while read -r name instructions; do
    [[ $kernels != *"($name)"* ]] || grep -qw "$instructions" /proc/cpuinfo || fail "$name without $instructions: $kernels"
done <<'end'
skx avx512vl
knl avx512pf
haswell avx2
zen3 fma
bulldozer fma4
end
for wish in "${wishes[@]}"; do
    expect 64 "^xlm_train: $wish: " env "$wish" sh "$XLM_SOURCE/tests/mpirun.sh" 2 xlm_train job.conf
    once "$wish"
done
# shellcheck disable=SC2016 # each rank's own shell
expect 64 '^xlm_train: XLM_KERNELS=foo: .*portable' ranks 2 sh -c \
    '[ "${OMPI_COMM_WORLD_RANK-$PMI_RANK}" != 1 ] || export XLM_KERNELS=foo; exec xlm_train job.conf'
once XLM_KERNELS=foo
# Ranks that read different files, as on disks of their own: another job, or another corpus of the same name.
logged like.log xlm_prep --like corpus.h5 --mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx -o like.h5
for rank in 0 1; do
    mkdir disk$rank
    sed "s|^output = .*|output = $PWD/none|" job.conf >disk$rank/job.conf
    ln -s ../corpus.h5 disk$rank
done
sed -i 's/^learning_rate = .*/learning_rate = 3e-3/' disk1/job.conf
# shellcheck disable=SC2016 # each rank's own shell
on_disks() { ranks 2 sh -c 'cd "disk${OMPI_COMM_WORLD_RANK-$PMI_RANK}" && exec '"$*"; }
expect 78 '^xlm_train: rank 1, on .*another job than rank 0: \[train\] learning_rate is 0*.002 there, 0*.003 here' \
    on_disks xlm_train job.conf
once 'another job'
cp disk0/job.conf disk1
ln -sf ../like.h5 disk1/corpus.h5
expect 65 '^xlm_train: corpus.h5: not the same on rank 1, on .* as on rank 0' on_disks xlm_train job.conf
once 'not the same'
[ ! -e none ] || fail "something was written"
expect 64 '^xlm_fill: XLM_KERNELS=foo: ' env XLM_KERNELS=foo xlm_fill none.h5
expect 0 '' env XLM_KERNELS=foo xlm_fill --help
# wrong CODE PATTERN SED: a job file changed by a command of sed; xlm_train is run by $how.
how=train
wrong() {
    sed "$3" job.conf >wrong.conf
    expect "$1" "$2" $how wrong.conf
    once "$2"
}
wrong 78 'wrong.conf:11: .*unknown key "stpes"; did you mean "steps"' 's/^steps/stpes/'
how=alone
wrong 78 'wrong.conf:11: .*steps = many' 's/^steps = .*/steps = many/'
wrong 78 'wrong.conf:8: unknown section \[trian\]; did you mean "train"' 's/^\[train\]/[trian]/'
wrong 78 'wrong.conf:1: ' 's/^\[model\]/[model/'
wrong 78 'wrong.conf:3: .*is already in line 2' '1a layers = 3'
wrong 78 'steps' '/^steps/d'
wrong 78 'no section \[objective NAME\]' '/^\[objective/,$d'
wrong 78 'no objective names this stream' '/^\[objective tlm/,$d'
wrong 78 'stream' '/^stream = text/d'
wrong 78 'power of two' 's/^micro_batches = 4/micro_batches = 6/'
wrong 78 'attention_heads = 5' 's/^attention_heads.*/attention_heads = 5/'
wrong 78 'positions' 's/^positions.*/positions = 16/'
how=train # what the corpus has
wrong 78 'zz' 's/^\[stream text\]/&\nlanguages = en,zz/'
wrong 78 'en-zz' 's/^\[stream pairs\]/&\nlanguages = en-zz/'
expect 66 'nowhere.h5' train job.conf --set train.corpus=nowhere.h5
once 'nowhere.h5'
# Relative paths are relative to the working directory, which the error says, and what is beside the job file.
once "nowhere.h5: .*relative to the working directory, $PWD\$"
mkdir other
expect 66 "corpus.h5: .*relative to the working directory, $PWD/other, .*next to the job file, $PWD/corpus.h5: " \
    env -C other sh "$XLM_SOURCE/tests/mpirun.sh" 2 xlm_train ../job.conf
once 'relative to the working directory'
expect 66 'start: .*nowhere.h5: .*relative to the working directory' train job.conf --set train.start=nowhere.h5
cat >tune.conf <<END
[tune]
model = nowhere.h5
train = nowhere.tsv
dev = nowhere.tsv
output = tuned
[task classification]
END
expect 66 'nowhere.h5: .*relative to the working directory' ranks 2 xlm_tune tune.conf
once 'relative to the working directory'
# An absolute path needs no such hint, nor does the job file itself.
expect 66 "/nowhere.h5: [^;]*\$" alone job.conf --set train.corpus=/nowhere.h5
expect 66 'missing.conf: [^;]*$' alone missing.conf
(cd other && xlm_train ../job.conf --dry-run --set train.corpus=../corpus.h5) >where.log 2>&1 &&
    [ "$(grep -c "^job: ../job.conf; relative paths in it are relative to the working directory, $PWD/other\$" where.log)" -eq 1 ] ||
    fail "a job file of another folder: $(cat where.log)"
xlm_train job.conf --dry-run >where.log 2>&1 && ! grep '^job: ' where.log || fail "the job file's own folder: $(cat where.log)"
xlm_train --help-job | grep -q 'relative to the working directory' && xlm_tune --help-job | grep -q 'relative to the working' ||
    fail "--help-job does not say what relative paths are relative to"

head -c 5000 corpus.h5 >cut.h5
expect 65 'cut.h5' train job.conf --set train.corpus=cut.h5
cp text.en notes.h5
expect 65 'notes.h5' train job.conf --set train.corpus=notes.h5
expect 65 '' train job.conf --set train.corpus=job.conf

expect 64 'hidden_size = 1' train job.conf --set model.hidden_size=1 --set model.attention_heads=1
expect 69 "GiB on the node $(uname -n) " train job.conf --set model.hidden_size=65536 --set model.layers=96
once 'GiB'
touch file
expect 73 'file/out' train job.conf --set train.output=file/out
[ -z "$(find . -name 'checkpoint*')" ] || fail "something was left: $(find . -name 'checkpoint*')"
[ ! -e out ] || fail "an output directory was made before the errors were found"

# --dry-run shows the size and trains nothing.
train job.conf --dry-run >dry.log 2>&1 || fail "--dry-run: $(tail -3 dry.log)"
grep -q 'parameters' dry.log && grep -q 'memory: ' dry.log || fail "--dry-run does not show parameters and memory: $(cat dry.log)"
grep -q '^time: 100 steps of .*FLOP each take [0-9.]* [a-z]* at the [0-9]* GFLOP/s that GEMM gives' dry.log ||
    fail "--dry-run does not say how long: $(cat dry.log)"
xlm_train job.conf --dry-run --set train.threads=$(($(env -u OMP_NUM_THREADS nproc) + 1)) >many.log 2>&1 &&
    [ "$(grep -c 'warning: a rank has [0-9]* more threads than processors .*set threads in the job' many.log)" -eq 1 ] ||
    fail "more threads than processors: $(cat many.log)"

only_in_check_all

# Threads that OpenMP binds, as in slurm/xlm_train.sbatch, have the processors that the process had before.
bound=(env OMP_PROC_BIND=close OMP_PLACES=cores OMP_NUM_THREADS=2)
if [ "$(env -u OMP_NUM_THREADS nproc)" -ge 2 ]; then
    "${bound[@]}" xlm_train job.conf --dry-run >bound.log 2>&1 || fail "--dry-run with bound threads: $(cat bound.log)"
    ! grep 'more threads' bound.log || fail "bound threads have processors of their own"
fi
one=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')
taskset -c "$one" "${bound[@]}" xlm_train job.conf --dry-run >one.log 2>&1 &&
    grep -q 'a rank has 1 more threads than processors' one.log ||
    fail "two bound threads on one processor: $(cat one.log)"
# Ranks that mpiexec binds to a core each have no more than that, and share none, with a shell between them too. Where Open MPI sees
# the cores, which tests hide from it, and can bind to them.
on_cores() {
    # shellcheck disable=SC2086 # a launcher is words
    timeout "${XLM_TEST_TIMEOUT:-600}" env -u HWLOC_COMPONENTS -u HWLOC_PLUGINS_PATH -u OMPI_MCA_hwloc_base_binding_policy \
        ${XLM_MPIEXEC:-mpiexec} --bind-to core -n 2 "$@"
}
if is_open_mpi && on_cores sh -c 'taskset -cp $$' >cores.txt 2>&1 && [ "$(sed 's/.*: //' cores.txt | sort -u | wc -l)" -eq 2 ]; then
    on_cores sh -c 'xlm_train job.conf --dry-run; true' >cores.log 2>&1 || fail "on a core each: $(cat cores.log)"
    grep -q '^ranks: 2 (2 on this node) x 1 threads' cores.log || fail "not two ranks: $(cat cores.log)"
    ! grep -e 'more threads' -e 'more than its processors' cores.log || fail "a rank on a core of its own lacks processors"
else
    echo "not tested: ranks that are bound to a core each" >&2
fi
# Ranks whose processors have other kernels, as here by request: one warning, with a host and both choices. Alike ones give none.
best=$(xlm_train --version | sed -n 's/^kernels: //p')
if [ "$best" != portable ]; then
    for given in XLM_KERNELS=portable "XLM_KERNELS=$best"; do
        logged unlike.log sh "$XLM_SOURCE/tests/mpirun.sh" 1 xlm_train job.conf --dry-run : \
            -n 1 env "$given" xlm_train job.conf --dry-run
        wanted="warning: rank 1, on $(uname -n), uses XLM_KERNELS=portable .*, but rank 0, on .* XLM_KERNELS=$best"
        warnings=$(grep -c "$wanted" unlike.log)
        case $warnings,$given in
        1,XLM_KERNELS=portable | "0,XLM_KERNELS=$best") ;;
        *) fail "$given on one of two ranks: $(cat unlike.log)" ;;
        esac
    done
fi
[ ! -e out ] || fail "--dry-run made the output directory"

# A loss that is not finite stops the run at its step; the checkpoint before stays. It is of the parameters that gave this, and gives
# it again; an earlier one does not.
# With this rate and decay AdamW multiplies the weights by -99 a step, so they overflow within 25.
expect 70 'step [0-9]*: the .* is not finite' train job.conf --set train.learning_rate=10 --set train.weight_decay=10 \
    --set train.warmup=0 --set train.schedule=constant --set train.checkpoint_every=1
newest=$(readlink out/latest) && h5dump -H "out/$newest" >/dev/null || fail "no good checkpoint after a loss that is not finite"
once 'out/checkpoint-[0-9]*.h5 gives it again; go on from an earlier checkpoint with --resume FILE'
slower=(--set train.schedule=constant --set train.warmup=0 --set train.learning_rate=1e-9 --set train.checkpoint_every=0)
expect 70 "the .* is not finite.*out/$newest gives it again" train job.conf "${slower[@]}"
[ "$(readlink out/latest)" = "$newest" ] || fail "a run that stopped at its first step left $(readlink out/latest)"
earlier=$(cd out && ls checkpoint-*.h5 | grep -vF "$newest" | tail -n 1)
last=$(echo "$earlier" | tr -dc '0-9' | sed 's/5$//; s/^0*//')
logged earlier.log ranks 2 xlm_train job.conf "${slower[@]}" --resume "out/$earlier" --set train.steps=$((last + 2))

# Every program says what it was built from, which libraries it has loaded, and what the processor is given.
built_from='Built from source without its history'
[ ! -s "$XLM_SOURCE/.commit" ] || built_from="Built from the release, commit $(cat "$XLM_SOURCE/.commit")"
if [ -e "$XLM_SOURCE/.git" ] && commit=$(git -C "$XLM_SOURCE" rev-parse --short=12 HEAD); then
    built_from="Built from commit $commit\(, with changes\)*"
elif [ -e "$XLM_SOURCE/.git" ]; then
    built_from='Built from \(commit .*\|source whose history git does not show here\)'
fi
# Where git shows nothing of a clone, as of another user's, what was said before stays.
mkdir clone
echo 'gitdir: nowhere' >clone/.git
says_source() { # LINE
    printf '%s\n' 'srcdir = .' 'MKDIR_P = mkdir -p' "include $XLM_SOURCE/src/program/local.mk" |
        (cd clone && unset MAKEFLAGS MFLAGS MAKELEVEL && "${MAKE:-make}" -f - src/program/source.inc) >make.log 2>&1 ||
        fail "make source.inc: $(cat make.log)"
    grep -qxF "$1" clone/src/program/source.inc || fail "not $1: $(cat clone/src/program/source.inc)"
}
says_source '"Built from source whose history git does not show here"'
echo '"Built from commit 0123456789ab, with changes"' >clone/src/program/source.inc
says_source '"Built from commit 0123456789ab, with changes"'
for program in align bleu compare convert cooc dict embed eval fill pair_html prep report spearman train translate tune; do
    "xlm_$program" --version >version.out || fail "xlm_$program --version"
    for line in "xlm_$program (xlm-mpi) [0-9]*\.[0-9]*\.[0-9]*\$" "$built_from\$" '\(Open MPI\|MPICH\).* [0-9v]*[0-9]' 'HDF5 [0-9]' \
        'BLIS [0-9].* kernels' '\(oneDNN [23]\|no oneDNN: \)' 'GLib [0-9]' 'GSL [0-9]' 'ICU [0-9]' 'Jansson [0-9]' 'libarchive [0-9]' \
        'libxml2 2\.[0-9]*\.[0-9]*$' 'ScaLAPACK (libscalapack.*\.so' 'SentencePiece (libsentencepiece\.so' 'SLEEF (libsleef\.so' \
        'zlib [0-9]' 'processors measured for gemm: [nAI]' 'kernels: [a-z]' 'gemm = auto in float32: \(BLIS\|oneDNN\)$' \
        'search in float32: \(BLIS\|oneDNN\)$' 'precision = bfloat16: \(yes$\|no, .\)'; do
        grep -q "^$line" version.out || fail "xlm_$program --version does not say $line: $(cat version.out)"
    done
done
XLM_KERNELS=portable xlm_train --version | grep -qx 'kernels: portable' || fail "--version does not follow XLM_KERNELS"
BLIS_ARCH_TYPE=zen3 xlm_train --version | grep -q '^BLIS_ARCH_TYPE=zen3: ' || fail "--version does not refuse BLIS_ARCH_TYPE"
cmp <(BLIS_ARCH_TYPE='' xlm_train --version) <(env -u BLIS_ARCH_TYPE xlm_train --version) || fail "an empty BLIS_ARCH_TYPE"
xlm_train --help | grep -q -e '--dump-step' || fail "--help"
if [ -c /dev/full ]; then
    to_full_disk() { "$@" >/dev/full; }
    for what in --help --help-job --version 'job.conf --plan'; do
        # shellcheck disable=SC2086 # a word or two
        expect 74 '^xlm_train: .*standard output: ' to_full_disk xlm_train $what
    done
fi

# What checkpoints are to be compared by, before anything is written.
{ cat job.conf; printf '[evaluate]\npatience = 0\n'; } >best.conf
for name in mlm/los foo mlm/loss/de mlm/loss/en/xx bleu; do
    job_refused "choose_by = $name: held-out text has no such measure; there are loss, mlm/loss, .*tlm/accuracy; .*and en, xx\$" \
        best.conf --set evaluate.choose_by=$name
done
# The objectives' own metrics that held-out text never has, since its loss is without label smoothing, and it is not remembered.
job_refused 'choose_by = mlm/cross_entropy: held-out text has no such measure; there are loss, mlm/loss, [^;]*tlm/accuracy; ' \
    best.conf --set evaluate.choose_by=mlm/cross_entropy --set 'objective mlm.label_smoothing=0.1'
sed 's/^plugin = mlm/plugin = dwa\nlabel_layer = 1/' best.conf >dwa.conf
refused_on=2 job_refused 'choose_by = tlm/agreement: held-out text has no such measure; there are loss, [^;]*, tlm/labels_per_pair, [^;]*; ' \
    dwa.conf --set evaluate.choose_by=tlm/agreement
! grep tlm/perplexity expect.err || fail "dwa has no perplexity: $(cat expect.err)"
job_refused 'choose_by: mlm/loss is better when it is lower, and mlm/accuracy when it is higher' best.conf \
    --set evaluate.choose_by=mlm/loss,mlm/accuracy
# Held-out text has the last share of mask: where nothing is predicted, a measure is refused, but not that of another objective.
ends=(best.conf --set 'stream text.mask=0:0.15,3:0')
for name in mlm/loss tlm/loss,mlm/loss; do
    job_refused 'choose_by = mlm/loss: nothing is predicted in held-out text, .*mask of .stream text., 0; ' "${ends[@]}" \
        --set evaluate.choose_by=$name
done
job_refused 'choose_by = loss: nothing is predicted in held-out text' "${ends[@]}" --set 'stream pairs.mask=0:0.15,3:0'
for name in tlm/loss loss; do
    logged unmasked.log xlm_train "${ends[@]}" --set evaluate.choose_by=$name --set train.output=unmasked --dry-run
done
job_refused 'would compare different sums, since the weight of .objective tlm. changes' best.conf --set 'objective tlm.begin=3'
job_refused 'evaluate.metric: metric is about translations' best.conf --set evaluate.metric=chrf
job_refused 'evaluate.words: words is about BLEU' best.conf --set evaluate.translate=en-xx --set evaluate.metric=chrf++ \
    --set evaluate.words=intl
job_refused 'evaluate.length_penalty: length_penalty is for several hypotheses' best.conf --set evaluate.translate=en-xx \
    --set evaluate.length_penalty=0.6
sed 's/^plugin = mlm/plugin = sop/; /^weight/d; s/^stream = pairs/stream = text/; /^.stream pairs/,/^length/d' best.conf >sop.conf
for name in tlm/perplexity tlm/loss/en tlm/accuracy/en; do
    job_refused "choose_by = $name: held-out text has no such measure; .*mlm/accuracy, tlm/loss, tlm/accuracy; .* of mlm also " \
        sop.conf --set evaluate.choose_by=$name
done
# That a plugin has no scores of the masked tokens that it views is known when it is evaluated.
build_plugin distil
sed 's|= sop$|= ./distil.so|' sop.conf >distil.conf
expect 78 'choose_by = tlm/perplexity: held-out text has no such measure; of objective tlm there are tlm/loss$' \
    train distil.conf --set train.output=distil --set evaluate.choose_by=tlm/perplexity
[ ! -e distil/latest ] || fail "trained by a measure that is not there"
# No room for the first file of a run; what is shown of it goes through a pipe, without that limit.
no_room() { (ulimit -f 1 && exec xlm_train job.conf --set train.output=no-room) 2>&1 | tail -n 1 >&2; return "${PIPESTATUS[0]}"; }
expect 74 '^xlm_train: no-room/job.conf: cannot be written: File too large' no_room
nothing_in no-room
# Events for TensorBoard that cannot be written.
expect 73 'corpus.h5/events: cannot be made' train job.conf --set train.output=sop --set train.tensorboard=corpus.h5/events
once 'cannot be made'
# Where metrics.csv is to be, or was, is a directory: a new run does not begin, and one that resumes says what can be done.
mkdir -p blocked/metrics.csv
expect 73 '^xlm_train: blocked/metrics.csv: is not a regular file' train job.conf --set train.output=blocked
once 'is not a regular file'
[ ! -e blocked/latest ] || fail "trained without metrics.csv: $(ls blocked)"
begun=(--set train.output=begun --set train.checkpoint_every=0 --set train.steps)
logged begun.log train job.conf "${begun[@]}=2"
mv begun/metrics.csv rows.csv && mkdir begun/metrics.csv
expect 74 '^xlm_train: begun/metrics.csv: the rows of the run so far cannot be read: .*; move' train job.conf "${begun[@]}=3"
once 'cannot be read'
expect 66 '^xlm_compare: .*begun/metrics.csv' xlm_compare begun begun
rmdir begun/metrics.csv
logged begun.log train job.conf "${begun[@]}=3"
[ "$(awk -F, '$2 == "train" && $3 == "total" { printf "%d ", $1 }' begun/metrics.csv)" = '3 ' ] ||
    fail "rows after those that were lost: $(cat begun/metrics.csv)"
# What follows -- is the job file, also one whose name begins with a dash.
cp job.conf ./-job.conf
for file in job.conf -job.conf; do
    logged ended.log xlm_train --dry-run --set train.output=none -- "$file"
done
expect 64 'one job file' train -- job.conf --dry-run
finish
