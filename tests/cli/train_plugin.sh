#!/usr/bin/env bash
# xlm-mpi: an objective built outside of the tree against the installed headers alone. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus

# Nothing but the headers: neither the sources nor the library to link with.
mkdir prefix
make -s -C "$XLM_BUILD" install-xlmincludeHEADERS xlmincludedir="$scratch/prefix/include/xlm" >install.log 2>&1 ||
    fail "$(cat install.log)"
warnings='-Wall -Wextra -Werror'
# shellcheck disable=SC2086 # compilers and flags are words
build() { $XLM_CC -std=c11 $warnings -shared -fPIC -I prefix/include ${XLM_SANITIZE_FLAGS:-} -o "$out" "$in"; }
in=$XLM_SOURCE/tests/plugin/pull-together.c out=pull-together.so
build || fail "the plugin does not compile"
# Nor do the compilers that are not this build's complain, of it or of a table of options in C++.
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    # shellcheck disable=SC2086
    $compiler -std=c11 $warnings -I prefix/include -fsyntax-only "$in" || fail "the plugin does not compile with $compiler"
done
echo '#include <xlm/options.h>
extern const xlm_option none[];
const xlm_option none[] = {XLM_OPTION_END};' >table.cc
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || continue
    # shellcheck disable=SC2086
    $compiler $warnings -I prefix/include -fsyntax-only table.cc || fail "a table of options does not compile with $compiler"
done

cat >>job.conf <<'JOB'

[objective pull]
plugin = ./pull-together.so
stream = text
sharpness = 2
JOB
steps=(--set train.steps=60 --set train.checkpoint_every=30)
trained job.conf out 2 "${steps[@]}"
awk -F, '$2 == "train" && $3 == "pull" { if (!n++) first = $6; last = $6 }
    END { exit !(n == 60 && last < first - 0.2 && last >= -2) }' out/metrics.csv ||
    fail "the plugin's loss does not fall: $(grep ,pull, out/metrics.csv | sed -n '1p;$p')"
h5dump -d /objectives/pull/projection/weight out/latest >weight.txt || fail "its weight is not in the checkpoint"
h5dump -d /objectives/pull/steps out/latest | grep -q '(0): 60' ||
    fail "its state is not in the checkpoint: $(h5dump -d /objectives/pull/steps out/latest)"

# Its metric, the mean cosine, is the loss over -2: in each step's row, in the log, on held-out text.
cosines() {
    awk -F, -v part="$1" '$2 == part && $3 == "pull" && ($4 == "" || $4 == "all") { loss[$1] = $6; terms[$1] = $5 }
        $2 == part && $3 == "pull/cosine" && NF == 13 && $5 == terms[$1] {
            d = $13 + loss[$1] / 2; if (d < 0) d = -d; if (d < 1e-6) n++ }
        $3 == "pull/never" { n = -1 } END { print n + 0 }' out/metrics.csv
}
[ "$(cosines train)" -eq 60 ] || fail "the metric of a step is not the loss over -2: $(grep pull out/metrics.csv | tail -n 4)"
[ "$(cosines held_out)" -eq 2 ] || fail "no metric on held-out text: $(grep held_out,pull out/metrics.csv)"
grep -q 'step 60/60 .*pull/cosine 0\.[0-9]' out.log || fail "no metric in the log: $(grep 'step 60/60' out.log)"
grep -q 'held out, step 60: pull .*cosine 0\.[0-9]' out.log || fail "no metric in the log of held-out text"

# It resumes with its parameters and state, on another number of ranks, to the same bits.
cp -r out half && rm half/checkpoint-00000060.h5
trained job.conf half 1 "${steps[@]}"
h5diff -v1 out/checkpoint-00000060.h5 half/checkpoint-00000060.h5 /objectives /objectives >diff.log 2>&1 ||
    fail "after resuming: $(tail -n 5 diff.log)"
same_bits out half

# A run that starts from this one takes its parameters, as those of the same objective and plugin, and begins with a new state.
still=(--set train.start=out/latest --set train.steps=1 --set train.learning_rate=0)
trained job.conf start 1 "${still[@]}"
h5diff out/latest start/latest /objectives/pull/projection /objectives/pull/projection >diff.log 2>&1 ||
    fail "after starting from it: $(tail -n 5 diff.log)"
h5dump -d /objectives/pull/steps start/latest | grep -q '(0): 1$' || fail "a new run goes on with the state of another"
sed 's/^\[objective pull\]/[objective tug]/' job.conf >tug.conf
trained tug.conf tug 1 "${still[@]}"
grep -q 'drawn: objectives/tug/projection/weight, objectives/tug/projection/bias' tug.log &&
    grep -q 'left: objectives/pull' tug.log || fail "an objective of another name: $(grep -A3 'started from' tug.log)"

# Options are checked by its table, and it may refuse.
expect 64 'did you mean .sharpness' xlm_train job.conf --set 'objective pull.sharpnes=3'
expect 64 'sharpness = 30: must be' xlm_train job.conf --set 'objective pull.sharpness=30'
sed 's/^sharpness = 2/sharpness = high/' job.conf >high.conf
expect 78 'high.conf:[0-9]*: .*sharpness = high' xlm_train high.conf
expect 78 'layer = 7, but the model has 2 layers' xlm_train job.conf --set 'objective pull.layer=7'
expect 78 'reads a stream' xlm_train job.conf --set 'objective pull.stream='
expect 78 'no section \[stream nowhere\]' xlm_train job.conf --set 'objective pull.stream=nowhere'

# Modules that are not what they should be.
expect 78 'missing.so' xlm_train job.conf --set 'objective pull.plugin=./missing.so'
expect 78 'no objective plugin "nonsense".*mlm' xlm_train job.conf --set 'objective pull.plugin=nonsense'
for abi in 'XLM_LOSS_ABI + 1' 2; do
    sed "s/XLM_LOSS_ABI,/$abi,/" "$in" >old.c
    in=old.c out=pull-together.so build && expect 78 'pull-together.so: was built for plugin ABI [24], this program has 3' \
        xlm_train job.conf
    in=$XLM_SOURCE/tests/plugin/pull-together.c
done
sed 's/xlm_loss_pull_together/xlm_loss_other/' "$XLM_SOURCE/tests/plugin/pull-together.c" >other.c
in=other.c out=pull-together.so build && expect 78 'xlm_loss_pull_together' xlm_train job.conf
# Its own options alone, by its path, which needs no job file.
in=$XLM_SOURCE/tests/plugin/pull-together.c out=pull-together.so build
xlm_train --help-job=./pull-together.so >help.txt && grep -q 'plugin = ./pull-together.so' help.txt && grep -q '^  sharpness ' help.txt &&
    ! grep -q learning_rate help.txt || fail "--help-job of a plugin: $(cat help.txt)"
expect 64 '^xlm_train: --help-job: ./none.so: cannot be loaded' xlm_train --help-job=./none.so
xlm_train --help-job >help.txt || fail "--help-job"
grep -q 'plugin = mlm' help.txt || fail "--help-job does not list mlm"
finish
