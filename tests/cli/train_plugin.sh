#!/usr/bin/env bash
# xlm-mpi: an objective built outside of the tree against the installed headers alone. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# Nothing but the headers: neither the sources nor the library to link with.
mkdir prefix
make -s -C "$XLM_BUILD" install-xlmincludeHEADERS xlmincludedir="$scratch/prefix/include/xlm" >install.log 2>&1 ||
    fail "$(cat install.log)"
warnings='-Wall -Wextra -Werror'
# shellcheck disable=SC2086 # compilers and flags are words
build() { $XLM_CC -std=c11 $warnings -shared -fPIC -I prefix/include ${XLM_SANITIZE_FLAGS:-} -o "$out" "$in"; }
in=$XLM_SOURCE/tests/plugins/pull-together.c out=pull-together.so
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
first=$(value out 1 train pull loss)
[ "$(values out train pull loss | wc -l)" -eq 60 ] &&
    is_between -2 "$(value out 60 train pull loss)" "$(awk "BEGIN { print $first - 0.2 }")" ||
    fail "the plugin's loss does not fall: $(values out train pull loss | sed -n '1p;$p')"
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
same_objects out/checkpoint-00000060.h5 half/checkpoint-00000060.h5 /objectives >diff.log 2>&1 ||
    fail "after resuming: $(tail -n 5 diff.log)"
same_bits out half

# A run that starts from this one takes its parameters, as those of the same objective and plugin, and begins with a new state.
still=(--set train.start=out/latest --set train.steps=1 --set train.learning_rate=0)
trained job.conf start 1 "${still[@]}"
same_objects out/latest start/latest /objectives/pull/projection >diff.log 2>&1 ||
    fail "after starting from it: $(tail -n 5 diff.log)"
h5dump -d /objectives/pull/steps start/latest | grep -q '(0): 1$' || fail "a new run continues with the state of another"
sed 's/^\[objective pull\]/[objective tug]/' job.conf >tug.conf
trained tug.conf tug 1 "${still[@]}"
grep -q 'drawn: objectives/tug/projection/weight, objectives/tug/projection/bias' tug.log &&
    grep -q 'left: objectives/pull' tug.log || fail "an objective of another name: $(grep -A3 'started from' tug.log)"

# Its gradients, and mlm's and tlm's, agree with differences of the losses. (Its table on 2 ranks, and alone, is compared below.)
small=(--set model.layers=1 --set "stream text.length=24" --set train.output=none)
pairs=(--set "stream pairs.length=24")
checks() { # NAME RANKS CONF: what it prints is in NAME.txt; $code
    code=0
    ranks "$2" xlm_train "$3" --check-gradients "${small[@]}" "${@:4}" >"$1.txt" 2>"$1.log" || code=$?
    [ ! -e none ] || fail "--check-gradients made an output directory"
}
checks right 1 job.conf "${pairs[@]}"
[ "$code" -eq 0 ] || fail "right gradients: ended with $code: $(grep WRONG right.txt; tail -n 3 right.log)"
for objective in 'mlm (plugin mlm)' 'tlm (plugin mlm)' 'pull (plugin ./pull-together.so)'; do
    grep -q -F "objective $objective: loss" right.txt || fail "no table of $objective"
done
# All but queries and keys of the first layer, whose gradients are too small at first, and what an objective does not use.
awk '/^objective / { objective = $2 } /^[a-z_]+\/.* x / && !/query|key/ && $NF != "none" { n[objective]++
        if ($5 + $6 <= $7 || $8 > 4e-3) { print; bad = 1 } }
    END { exit bad || n["mlm"] != 22 || n["tlm"] != 22 || n["pull"] != 19 }' right.txt || fail "not all gradients were compared"

# Its own backward pass wrong by a factor, in one element of what it hands on, in one element of its weight's gradient: found.
# Values that it treats as constants are no error. State that it hides is.
sed '/^.stream pairs/,/^.objective pull/ { /^.objective pull/!d }; s/hidden_size = 32/hidden_size = 16/' job.conf >pull.conf
wrong() { # NAME RC PATTERN SED-SCRIPT
    sed "$4" "$XLM_SOURCE/tests/plugins/pull-together.c" >"$1.c"
    cmp -s "$1.c" "$XLM_SOURCE/tests/plugins/pull-together.c" && fail "$1: nothing was changed"
    in=$1.c out=pull-together.so build && checks "$1" 1 pull.conf
    [ "$code" -eq "$2" ] || fail "$1: ended with $code: $(tail -n 2 "$1.log")"
    grep -q -e "$3" "$1.txt" "$1.log" || fail "$1: no '$3' in: $(grep -h -e WRONG -e 'xlm_train: ' "$1.txt" "$1.log")"
}
hands_on='s/+= dy\[i\]/+= '
wrong factor 70 '^embeddings/word/weight .* 9\.[0-9]e-03  WRONG' "${hands_on}1.01f * dy[i]/"
wrong element 70 'objective pull: [0-9]* gradients differ from differences' "${hands_on}i == 7 ? 0 : dy[i]/"
wrong weight 70 '^objectives/pull/projection/weight .*WRONG.* \[0, ' "${hands_on}i == 7 ? 0 : dy[i]/
    s/copy(tape, h)/h/; s/xlm_loss_param(self, tape, \"projection.weight\")/copy(tape, &)/"
wrong constant 0 '^objective pull' \
    's/\(cosine(tape, projected, \)words/\1xlm_detach(tape, words)/'
wrong memory 70 'objective pull: two passes over one batch have losses' '
    s/^static xlm_var \*pull_loss/static int calls;\n&/; s/-pull->sharpness)/-pull->sharpness * ++calls)/'

only_in_check_all

# A loss so small that rounding hides all of its gradients is not checked.
wrong hidden 70 'objective pull was not checked: rounding hides all of its [0-9]* gradients' 's/-pull->sharpness)/-1e-9 * pull->sharpness)/'
# All of its terms may be of a mean that it declares besides the first.
wrong means 0 '^objective pull (plugin .*): loss [-0-9.]* of [1-9][0-9]* terms' '
    s/xlm_declare_metric(declaration, "never")/xlm_declare_mean(declaration, 1)/
    s/^static xlm_var \*pull_loss/static int64_t in_another(xlm_loss *self, const xlm_pass *pass)\n{\n    (void)self;\n@\n&/
    s/@/    xlm_pass_terms(pass, 1, pass->batch->predicted);\n    return 0;\n}\n/
    s/^    return \(xlm_scale(.*)\);$/    xlm_pass_mean(pass, 1, \1);\n    return NULL;/
    s/\.loss = pull_loss/.count = in_another, &/'
# Its loss of each step is reported all the same.
trained job.conf means 1 --set train.steps=2
[ "$(values means train pull loss | grep -c '^[12] -\{0,1\}[0-9]')" -eq 2 ] &&
    grep -q 'step 2/2 .* (mlm [^)]*, pull -\{0,1\}[0-9.]*)' means.log ||
    fail "no loss of terms that are all of another mean: $(grep pull, means/metrics.csv; grep 'step 2/2' means.log)"
in=$XLM_SOURCE/tests/plugins/pull-together.c out=pull-together.so build || fail "the plugin does not compile"
# One objective alone: its table as before.
code=0
ranks 2 xlm_train job.conf --check-gradients=pull "${small[@]}" "${pairs[@]}" >alone.txt 2>alone.log || code=$?
[ "$code" -eq 0 ] || fail "the gradients of one objective: $(tail -n 3 alone.log)"
cmp alone.txt <(sed -n '/^objective pull /,/^$/p' right.txt) || 
    fail "another table of one objective alone, on 2 ranks: $(head -n 3 alone.txt)"
expect 64 'check-gradients=push: the job has no objective of that name; it has mlm, tlm, pull' \
    xlm_train job.conf --check-gradients=push --set train.output=none
# As soon as the job is read.
expect 64 'check-gradients=push: the job has no' xlm_train job.conf --check-gradients=push --set train.corpus=none.h5
expect 64 'check-gradients cannot be combined with' xlm_train job.conf --check-gradients --dry-run
expect 70 'objective pull was not checked: it has no terms at step 1; set its begin = 0' \
    xlm_train pull.conf --check-gradients --set train.output=none --set 'objective pull.begin=5'

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
expect 78 '(plugin = ./nonsense\.so)$' xlm_train job.conf --set 'objective pull.plugin=nonsense.so'
{ echo '#define XLM_DOUBLE'; cat "$in"; } >old.c
in=old.c out=pull-together.so build && expect 78 'pull-together.so: was compiled with -DXLM_DOUBLE' xlm_train job.conf
in=$XLM_SOURCE/tests/plugins/pull-together.c
now=$(sed -n 's/^#define XLM_LOSS_ABI_FLOAT //p' "$XLM_SOURCE/include/xlm/loss.h")
for abi in "$((now + 1))" "$((now - 1))"; do
    sed "s/XLM_LOSS_ABI,/$abi,/" "$in" >old.c
    in=old.c out=pull-together.so build && expect 78 "pull-together.so: was built for plugin ABI $abi, this program has $now" \
        xlm_train job.conf
    in=$XLM_SOURCE/tests/plugins/pull-together.c
done
sed 's/xlm_loss_pull_together/xlm_loss_other/' "$XLM_SOURCE/tests/plugins/pull-together.c" >other.c
in=other.c out=pull-together.so build && expect 78 'xlm_loss_pull_together' xlm_train job.conf
# Its own options alone, by its path, which needs no job file.
in=$XLM_SOURCE/tests/plugins/pull-together.c out=pull-together.so build
xlm_train --help-job=./pull-together.so >help.txt && grep -q 'plugin = ./pull-together.so' help.txt &&
    grep -q '^  sharpness ' help.txt &&
    ! grep -q learning_rate help.txt || fail "--help-job of a plugin: $(cat help.txt)"
expect 64 '^xlm_train: --help-job: ./none.so: cannot be loaded' xlm_train --help-job=./none.so
xlm_train --help-job >help.txt || fail "--help-job"
grep -q 'plugin = mlm' help.txt || fail "--help-job does not list mlm"

# The example of the documentation, by its own commands: it learns, has the same bits on 2 ranks, and right gradients.
block() { awk -v name="<!-- $1 -->" '$0 == name { on = 1; next } on && /^```/ { if (inside++) exit; next } inside' \
    "$XLM_SOURCE/docs/plugins.md"; }
make -s -C "$XLM_BUILD" install-pkgconfigDATA pkgconfigdir="$scratch/prefix/lib/pkgconfig" >install.log 2>&1 ||
    fail "$(cat install.log)"
block sentence-pairs.c >sentence-pairs.c
(
    # A compiler may be given with its first arguments, as "ccache gcc".
    # shellcheck disable=SC2086
    cc() { $XLM_CC -Wall -Wextra -Werror "$@" ${XLM_SANITIZE_FLAGS:-}; }
    pkg-config() { PKG_CONFIG_PATH=prefix/lib/pkgconfig command pkg-config --define-prefix "$@"; }
    eval "$(block compile)"
) >cc.log 2>&1 || fail "the example does not compile: $(cat cc.log)"
{ sed '/^.stream pairs/,/^$/d; /^.objective pull/,$d; s/^micro_batches = 4/micro_batches = 2/' job.conf; block job.conf; } >pairs.conf
trained pairs.conf pairs-1 1 --set train.steps=40
trained pairs.conf pairs-2 2 --set train.steps=40
same_bits pairs-1 pairs-2
awk -F, '$2 == "train" && $3 == "pairs/accuracy" { if ($1 <= 10) early += $13; if ($1 > 30) late += $13 }
    END { exit !(late > early + 1) }' pairs-1/metrics.csv || fail "the example does not learn: $(grep pairs/ pairs-1/metrics.csv)"
code=0
xlm_train pairs.conf --check-gradients "${small[@]}" "${pairs[@]}" --set model.hidden_size=16 --set train.micro_batches=4 \
    >pairs.txt 2>pairs.log || code=$?
[ "$code" -eq 0 ] || fail "gradients of the example: $(grep WRONG pairs.txt; tail -n 2 pairs.log)"
grep -q '^objective pairs (plugin ./sentence-pairs.so): loss' pairs.txt || fail "no table of the example"
finish
