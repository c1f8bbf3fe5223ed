#!/usr/bin/env bash
# xlm-mpi: stages of streams that are built outside of the tree: sentence-order prediction, and what is predicted.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

build_plugin sentence-order
build_plugin order-prediction
build_plugin spans
build_plugin second spans 's/"chosen"/"other"/g'
stage() { printf '\n[stage order]\nplugin = ./sentence-order.so\nstream = text\n'; }
objective() { printf '\n[objective order]\nplugin = ./order-prediction.so\nstream = text\n'; }
eight_steps 4 -e 's/^language_embeddings.*/&\ntoken_types = true/' >base.conf
{ cat base.conf; stage; objective; } >order.conf

# ---- the same bits on any number of ranks and resumed; ln 2 at first; evaluated ----
reproduced order.conf out 4
is_near "$(value out-1 1 train order loss)" 0.6931 0.02 || fail "the first loss is not ln 2: $(value out-1 1 train order loss)"
is_between 0.01 "$(value out-1 8 held_out order loss all)" 5 || fail "not evaluated: $(grep held_out out-1/metrics.csv)"
trained order.conf recomputed 1 --set train.recompute=true
same_bits out-1 recomputed
# One layer and one sequence a micro-batch, which hides fewer gradients in rounding, and takes a fifth of the time.
shallow=(--set model.layers=1 --set model.attention_heads=2 --set train.micro_batches=8 --set "stream text.length=24"
    --set "stream pairs.length=24")
trained order.conf shallow 1 "${shallow[@]}"
# (what is predicted of text, and of pairs, is chosen by stages below)
checked=order right_gradients order.conf --set train.output=shallow "${shallow[@]}"
grep -q '^objectives/order/weight' check.txt || fail "its weight was not checked: $(cat check.txt)"
# A step in all, its memory as estimated.
trained order.conf memory 1 --set train.steps=3 --set train.micro_batches=1
estimated memory.log

# ---- what is read, in a dump: sentences of a sequence in turn, half of the sequences swapped, sides by place ----
dump() { # NAME RANKS CONF [OPTION...]
    local name=$1 n=$2
    shift 2
    logged "$name.log" ranks "$n" xlm_train "$@" --dump-step "$name.h5" --set "train.output=$name"
}
big=(--set 'stream text.batch=128' --set 'stream text.mask=0.15')
dump with 1 order.conf "${big[@]}"
dump with-2 2 order.conf "${big[@]}"
same_objects with.h5 with-2.h5 >diff.log 2>&1 || fail "dumps of 1 and 2 ranks differ: $(tail -n 3 diff.log)"
dump without 1 base.conf "${big[@]}"
dump other 1 order.conf "${big[@]}" --set train.seed=2
batch() { numbers "/streams/text/batch/$2" "$1.h5"; }
[ "$(batch with swapped | wc -l)" -eq 128 ] || fail "not a number a sequence: $(batch with swapped | wc -l)"
is_between 44 "$(batch with swapped | grep -c '^1$')" 84 || fail "swapped are $(batch with swapped | grep -c '^1$') of 128"
other_text <(batch with swapped) <(batch other swapped) || fail "other seeds swap the same sequences"
cmp <(batch with offsets) <(batch without offsets) && cmp <(batch with positions) <(batch without positions) &&
    cmp <(batch with instances) <(batch without instances) || fail "a stage changes what it should leave"
# sequences NAME: of each, its sentences as "id,id,", one after another, and "|" where the side changes
sequences() {
    batch "$1" offsets >offsets
    paste -d ' ' <(batch "$1" original) <(batch "$1" types) | awk '
        FILENAME == "offsets" { if ($1 > 0) last[$1 - 1] = 1; next }
        {
            if (type != $2) printf "| "
            type = $2
            if ($1 > 0) printf "%s%s", $1, $1 == 2 ? " " : ","
        }
        FNR - 1 in last { print ""; type = 0 }' offsets -
}
sequences with >arranged
sequences without >plain
other_text arranged plain || fail "nothing was arranged"
paste -d '\t' <(batch with swapped) plain arranged | awk -F '\t' '
    $1 == -1 && $2 != $3 { print "a sequence of one sentence was changed"; bad = 1 }
    $1 >= 0 {
        if (split($3, part, "[|] ") != 2) { print "not two parts: " $3; bad = 1 }
        whole = $1 ? part[2] part[1] : part[1] part[2]
        if (whole != $2) { print "not the same sentences: " $2 " and " $3; bad = 1 }
        n[$1]++
    }
    END { exit bad || n[0] < 44 || n[1] < 44 }' >arranged.log || fail "arranged wrongly: $(head -n 3 arranged.log)"
# A step dump is made of what training reads: its loss is that of the next step.
trained order.conf start 1 --set train.steps=1 --set model.dropout=0 --set model.attention_dropout=0
logged next.log xlm_train order.conf --dump-step next.h5 --set train.output=none --set model.dropout=0 \
    --set model.attention_dropout=0
is_near "$(numbers /objectives/order/loss next.h5)" "$(value start 1 train order loss)" || fail "the dump has another loss"

# ---- it learns where the order can be learned: sentences in turn ----
awk 'BEGIN { split("house river teacher garden window student", w, " "); for (i = 0; i < 400; i++)
    print (i % 2 ? "then" : "first"), w[1 + i * 7 % 5], w[1 + i * 3 % 6], "." }' >turns.txt
logged turns.log xlm_prep --mono en=turns.txt --words space --held-out 0 --bpe 200 -o turns.h5
sed '/^.stream text/,$d; s/^steps = .*/steps = 120/; s/^warmup = .*/warmup = 10/; s/^corpus = .*/corpus = turns.h5/
    s/^learning_rate = .*/learning_rate = 3e-3/; s/^\(checkpoint_every\|evaluate_every\) = .*/\1 = 0/' base.conf >learn.conf
{ printf '[stream text]\nbatch = 16\nlength = 12\nmask = 0\n'; stage; objective; } >>learn.conf
trained learn.conf learn 1
is_between 0 "$(value learn 120 train order loss)" 0.1 || fail "it does not learn: $(values learn train order loss | tail -n 1)"
is_between 0.95 "$(value learn 120 train order/accuracy score)" 1 || fail "its accuracy: $(value learn 120 train order/accuracy score)"
trained learn.conf still 1 --set 'stage order.swap=0' --set train.steps=20
is_between 0 "$(value still 20 train order loss)" 0.3 || fail "nothing is swapped: $(values still train order loss | tail -n 1)"

# ---- an objective that brings its stage: sop, without a section [stage NAME], and the same as a module of one's own ----
sed '/^.stage order/,$d; s/^learning_rate = .*/learning_rate = 5e-3/' learn.conf >alone.conf
for name in sop own; do
    { cat alone.conf; printf '[objective order]\nplugin = %s\nstream = text\n' "${name/own/./own.so}"; } >$name.conf
done
own() { # SED
    sed "s/xlm_loss_sop/xlm_loss_own/; $1" "$XLM_SOURCE/src/losses/sop.c" >own.c
    compile_plugin own
}
own ''
trained sop.conf sop 2
is_between 0 "$(value sop 120 train order loss)" 0.1 || fail "sop does not learn: $(values sop train order loss | tail -n 1)"
trained own.conf own 1
same_bits sop own
grep -q '^\[stage' sop/job.conf && fail "the stage of sop is in job.conf"
# Two objectives of the class, one stage.
{ cat sop.conf; printf '[objective twice]\nplugin = sop\nstream = text\nweight = 0\n'; } >twice.conf
trained twice.conf twice 1
cmp <(values sop train order loss) <(values twice train order loss) || fail "the stage works twice"
XLM_BF16_EMULATE=1 trained sop.conf sop-bfloat16 1 --set train.precision=bfloat16 --set train.steps=20

# ---- a stage that chooses what is predicted, beside masking or alone; two stages of one stream ----
spans() { printf '\n[stage %s]\nplugin = ./%s.so\nstream = %s\nshare = 0.2\n' "$1" "$1" "$2"; }
{ cat base.conf; spans spans pairs; spans second text; stage; objective; } >spans.conf
reproduced spans.conf spans 4
trained spans.conf shallow-spans 1 "${shallow[@]}"
checked=tlm right_gradients spans.conf --set train.output=shallow-spans "${shallow[@]}"
dump chosen 1 spans.conf --set 'stream pairs.mask=0' --set 'stream pairs.batch=64'
pairs() { numbers "/streams/pairs/batch/$1" chosen.h5; }
paste <(pairs original) <(pairs ids) <(pairs chosen) | awk '$3 == 1 { print NR - 1, $1; if ($2 != 3) bad = 1 }
    $3 == 0 && $1 != $2 { bad = 1 } $3 == 0 && $1 > 4 { n++ } END { exit bad || n < 200 }' >expected ||
    fail "the input is not as the stage has made it"
cmp <(paste -d ' ' <(pairs masked_positions) <(pairs targets)) expected || fail "other rows are predicted than chosen"
tokens=$(pairs original | awk '$1 > 4' | wc -l)
is_between 0.14 "$(awk -v n="$(wc -l <expected)" -v all="$tokens" 'BEGIN { print n / all }')" 0.26 ||
    fail "chosen are $(wc -l <expected) of $tokens tokens"
trained spans.conf spans-memory 1 --set train.steps=3 --set train.micro_batches=1 --set 'stream pairs.batch=32'
estimated spans-memory.log
# Masking is as without the stage where the stage chooses nothing.
trained spans.conf idle 1 --set 'stage spans.share=0' --set 'stage second.share=0' --set 'stage order.swap=0'
trained base.conf base 1
cmp <(values base train tlm loss | head -n 1) <(values idle train tlm loss | head -n 1) || fail "an idle stage changes draws"

# ---- the example of the documentation ----
block() { awk -v name="<!-- $1 -->" '$0 == name { on = 1; next } on && /^```/ { if (inside++) exit; next } inside' \
    "$XLM_SOURCE/docs/plugins.md"; }
for name in swap-halves which-order; do
    block $name.c >$name.c
    # shellcheck disable=SC2086
    $XLM_CC -std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$XLM_SOURCE/include" ${XLM_SANITIZE_FLAGS:-} -o $name.so $name.c ||
        fail "the example $name.c does not compile"
done
{ sed '/^.stage order/,$d' learn.conf; block stages.conf; } >documented.conf
trained documented.conf documented 1
is_between 0 "$(value documented 120 train order loss)" 0.1 ||
    fail "the example does not learn: $(values documented train order loss | tail -n 1)"

# ---- the record of the job, what changed, help ----
grep -q '^\[stage order\]' out-1/job.conf && grep -q '^swap = 0.5$' out-1/job.conf || fail "no stage in job.conf"
trained out-1/job.conf again 1
same_bits out-1 again
cp -r out-1 changed && rm "changed/$(readlink out-1/latest)"
trained order.conf changed 1 --set 'stage order.swap=0.25'
grep -q '\[stage order\] swap: 0.5 -> 0.25' changed.log || fail "a changed key is not listed: $(head -n 20 changed.log)"
xlm_train --help-job=./sentence-order.so >help.txt && grep -q '^\[stage NAME\] with plugin = ./sentence-order.so' help.txt &&
    grep -q '^  swap ' help.txt || fail "--help-job of a stage: $(cat help.txt)"
xlm_train --help-job >help.txt
awk '/^\[/ { on = /^\[stage NAME\]$/ } on && /^  (plugin|stream) / { n++ } END { exit n != 2 }' help.txt ||
    fail "no [stage NAME] in --help-job"
(export XLM_PLUGIN_PATH=$PWD; xlm_train --help-job >help.txt)
grep -q '^\[stage NAME\] with plugin = spans' help.txt && grep -q '^\[objective NAME\] with plugin = order-prediction' help.txt ||
    fail "--help-job does not list plugins of both kinds in XLM_PLUGIN_PATH"

# ---- errors, by name, once, on two ranks as on one ----
none() { expect "$@" --set train.output=none; }
with() { sed "$2" "$1" >with.conf; } # CONF SED
none 78 'no stage plugin "nonsense"' xlm_train order.conf --set 'stage order.plugin=nonsense'
none 78 'absent.so: cannot be loaded' ranks 2 xlm_train order.conf --set 'stage order.plugin=./absent.so'
once 'absent.so'
none 78 'mlm.so: has no stage class "xlm_stage_mlm" (see xlm/stage.h)' xlm_train order.conf --set 'stage order.plugin=mlm'
none 78 'sentence-order.so: has no objective class "xlm_loss_sentence_order" (see xlm/loss.h)' xlm_train order.conf \
    --set 'objective order.plugin=./sentence-order.so'
none 78 'the stage "masking" is a part of every stream' xlm_train order.conf --set 'stage order.plugin=masking'
none 78 'no section \[stream nowhere\]' xlm_train order.conf --set 'stage order.stream=nowhere'
with order.conf '/^.stage order/,/^$/ { /^stream/d }'
none 78 'with.conf:[0-9]*: \[stage order\]: .*stream' xlm_train with.conf
none 64 'did you mean "*swap' xlm_train order.conf --set 'stage order.swop=1'
none 64 'swap = 2: must be' xlm_train order.conf --set 'stage order.swap=2'
none 78 'stage order.: .*arranges.*stream pairs. has pairs' ranks 2 xlm_train order.conf --set 'stage order.stream=pairs' \
    --set 'objective order.stream=text'
once 'stage order'
with order.conf '/^.stage order/,/^$/d'
none 78 'objective order.: .stream text. does not say' xlm_train with.conf
{ cat order.conf; stage | sed 's/stage order/stage twice/'; } >twice.conf
none 78 'stage twice.: another stage of .stream text. annotates "swapped"' xlm_train twice.conf
with spans.conf '/^share/d'
none 78 'with.conf:[0-9]*: \[stage spans\]: .*share' xlm_train with.conf
none 78 'stage spans.: file = absent cannot be read' ranks 2 xlm_train spans.conf --set 'stage spans.file=absent'
once 'stage spans'
build_plugin changed spans '/^static bool spans_open/,/^}/s/^{/&\n    if (self->setup->held_out) {\n        snprintf(message, size, "not this one");\n        return false;\n    }/'
none 78 'stage spans.: not this one' ranks 2 xlm_train spans.conf --set 'stage spans.plugin=./changed.so'
once 'not this one'
logged warns.log xlm_train spans.conf --dry-run --set 'stage spans.share=1' --set train.output=none
[ "$(grep -c 'stage spans.: share = 1 leaves nothing' warns.log)" -eq 1 ] || fail "no warning, or twice: $(cat warns.log)"
none 78 'objective order.: "sop" arranges the sentences.*.stream pairs. has pairs' ranks 2 xlm_train order.conf \
    --set 'objective order.plugin=sop' --set 'objective order.stream=pairs'
none 78 'objective order.: another stage of .stream text. annotates "swapped"' xlm_train order.conf \
    --set 'objective order.plugin=sop'
none 78 'objective order.: .stream text. has one sentence in a sequence' xlm_train sop.conf \
    --set 'stream text.join_sentences=false'
expect 0 'objective order.: without token types' xlm_train sop.conf --dry-run --set model.token_types=false
bad() { # PATTERN SED: the class changed so is refused
    own "$2"
    none 78 "own.so: $1" xlm_train own.conf
}
bad 'its class brings a stage but reads no stream' '/needs_stream/d'
bad 'its stage was built for plugin ABI 2, this program has 3; .*xlm/stage.h' '/abi = XLM_STAGE_ABI/s/XLM_STAGE_ABI/2/'
bad 'its class lacks a name, a summary, or a function' '0,/\.summary =/{/\.summary =/d}'
own 's/^static const xlm_stage_plugin.*/static bool refuse(xlm_stage *self, char *message, size_t size)\n{\
    if (self->setup->held_out)\n        snprintf(message, size, "not this one");\
    return !self->setup->held_out;\n}\n\n&\n    .open = refuse,/'
with order.conf '/^.stage order/,/^$/d'
none 78 'objective order.: not this one' ranks 2 xlm_train with.conf --set 'objective order.plugin=./own.so'
once 'not this one'
bad 'the stage that its class brings has options' '
    s/^static const xlm_stage_plugin.*/static const xlm_option none[] = {XLM_OPTION_END};\n&/
    s/\.arrange = arrange,/& .options = none, .state_size = 1,/'
refused() { # SOURCE PATTERN SED: the stage changed so is refused
    build_plugin changed "$1" "$3"
    none 78 "changed.so: $2" xlm_train spans.conf --set 'stage spans.plugin=./changed.so'
}
refused spans 'was built for plugin ABI 2, this program has 3; .*xlm/stage.h' 's/XLM_STAGE_ABI,/2,/'
refused spans 'its class lacks a name, a summary, or a function' '/\.name =/d'
refused spans 'an annotation cannot be named "ids"' 's/"chosen"/"ids"/'
refused spans 'an annotation cannot be named "links"' 's/"chosen"/"links"/'
refused spans 'an annotation cannot be named "a/b"' 's/"chosen"/"a\/b"/'
refused spans 'the annotation "chosen" must be of tokens or of sequences' 's/"chosen", XLM_AXIS_TOKENS/"chosen", XLM_AXIS_OWN/'
refused spans 'it declares options but no state_size' '/\.state_size =/d'
# Mistakes of its author end the program with a message.
dies() { plugin_dies "$1" "$2" "$5" "stage $4" "$3"; } # PATTERN SOURCE CONF STAGE SED
dies 'stage order: arrange must leave each span' sentence-order order.conf order 's/span\[i\] = span\[n - 1 - i\]/(void)other/'
dies 'stage order: arrange must leave each span' sentence-order order.conf order 's/side = 1/side = 2/'
dies 'stage spans: "chosed" is no annotation' spans spans.conf spans 's/(pass, "chosen")/(pass, "chosed")/'
dies 'stage spans: token -5 of language' spans spans.conf spans 's/= text->specials->id\[XLM_UNK\]/= -5/'
[ ! -e none ] || fail "something was written"
# Labelled examples have no stages.
cat >tune.conf <<JOB
[tune]
model = out-1/latest
train = tags.tsv
dev = tags.tsv
language = en
output = tag

[stage order]
plugin = ./sentence-order.so
stream = text

[task tagging]
JOB
head -n 20 text.en | while read -r line; do echo "$line" >one; phrases one; done >tags.tsv
expect 78 'tune.conf:[0-9]*: .*stage' xlm_tune tune.conf
finish
