#!/usr/bin/env bash
# xlm-mpi: mistakes of an objective's author are refused or end the program by name. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus
sed '/^.stream pairs/,$d' job.conf >base.conf
{ cat base.conf; printf '\n[objective pull]\nplugin = ./changed.so\nstream = text\n'; } >pull.conf
{ cat base.conf; printf '\n[objective echo]\nplugin = ./changed.so\nstream = text\nhow = copy\n'; } >echo.conf
few=(--set train.steps=2 --set model.layers=1)

# ---- views that a decoder cannot attend to ----
# attends PATTERN SOURCE SED VIEW: SOURCE, changed by SED, declares one more view, of the decoder, which is refused.
attends() {
    local view="const xlm_view more = {.stack = XLM_STACK_DECODER, .layer = 1, $4}; xlm_declare_view(declaration, \\&more);"
    build_plugin changed "$2" "$3; s/xlm_declare_metric/$view &/"
    expect 78 "objective pull.*$1" xlm_train pull.conf --set train.output=none --set model.decoder_layers=1
}
attends 'view 2 is of the decoder with live weights: its memory, view 1, must not' contrast \
    's/\.side = [A-Z_]*,//; /XLM_WEIGHTS_AVERAGED/,/;$/s/XLM_ROWS_FIRST/XLM_ROWS_ALL/' '.memory = 1'
attends 'view 3 is of the decoder without gradient, for label: it cannot attend' echo '' '.memory = 1'
# Through another view, which is for loss.
attends 'view 4 is of the decoder without gradient, for label: it cannot attend' echo \
    's/xlm_declare_text/const xlm_view between = {.stack = XLM_STACK_DECODER, .memory = 1, .layer = 1, .gradient = true};\n    &/
    s/xlm_declare_text/xlm_declare_view(declaration, \&between);\n    &/' '.memory = 3'
# ---- numbers of terms ----
# counts BODY: a change of pull-together that gives it a count of this body.
counts() {
    local head='static int64_t wrong(xlm_loss *self, const xlm_pass *pass) { (void)self; (void)pass;'
    printf 's/^const xlm_loss_class/%s %s }\\n&/\n' "$head" "$1"
    printf 's/\\.loss = pull_loss/.count = wrong, &/\n'
}
plugin_dies 'objective pull: count returned -17 terms' pull-together "$(counts 'return -17;')" 'objective pull' pull.conf \
    "${few[@]}"
plugin_dies 'objective echo: label returned -17 terms' echo '/^static int64_t echo_label/,/^}/s/return [^;]*;/return -17;/' \
    'objective echo' echo.conf "${few[@]}"
plugin_dies 'objective pull: it gives mean 1 -17 terms' pull-together "$(counts 'xlm_pass_terms(pass, 1, -17); return 1;')
    s/xlm_declare_metric(declaration, \"never\")/xlm_declare_mean(declaration, 1)/" 'objective pull' pull.conf "${few[@]}"
# ---- values of means ----
# means TERMS LOSS: a change of pull-together that declares mean 1 with so many terms; LOSS comes before the return of its loss.
means() {
    counts "xlm_pass_terms(pass, 1, $1); return 1;"
    printf 's/xlm_declare_metric(declaration, "never")/xlm_declare_mean(declaration, 1)/\n'
    printf 's/^    return xlm_scale/    %s\\n&/\n' "$2"
}
value='xlm_pass_mean(pass, 1, xlm_mean(tape, cosines));'
plugin_dies 'objective pull: mean 1 has 3 terms, but loss has not given its value' pull-together "$(means 3 '')" \
    'objective pull' pull.conf "${few[@]}"
plugin_dies 'objective pull: it gives the value of mean 1 twice' pull-together "$(means 3 "$value $value")" 'objective pull' \
    pull.conf "${few[@]}"
plugin_dies 'objective pull: it gives mean 1 outside loss, or without terms' pull-together "$(means 0 "$value")" \
    'objective pull' pull.conf "${few[@]}"
plugin_dies 'objective pull: it gives the number of terms of mean 1 in loss' pull-together \
    "$(means 3 "xlm_pass_terms(pass, 1, 5); $value")" 'objective pull' pull.conf "${few[@]}"
build_plugin changed pull-together "$(means 3 "$value")"
trained pull.conf means 1 "${few[@]}"
# ---- a view whose gradient was forgotten ----
build_plugin changed pull-together 's/ \.gradient = true,//'
trained pull.conf constant 1 "${few[@]}"
constant='warning: \[objective pull\]: none of its views has a gradient'
[ "$(grep -c "$constant" constant.log)" -eq 1 ] || fail "not warned once: $(cat constant.log)"
! grep 'has a gradient' means.log || fail "a warning of a view with gradient"
# ---- states ----
# stateless NUMBERS ARGUMENTS: a state that is declared with these arguments after its name is refused.
stateless() {
    plugin_dies "objective pull: its state \"s\" of $1 numbers has no values, or is of no type" pull-together \
        "s/xlm_declare_metric(declaration, \"never\")/xlm_declare_state(declaration, \"s\", $2)/" 'objective pull' pull.conf \
        "${few[@]}"
}
stateless 3 'XLM_STATE_F64, NULL, 3'
stateless -3 'XLM_STATE_F64, \&pull->steps, -3'
stateless 1 '(xlm_state_type)3, \&pull->steps, 1'
# ---- publishing without a stream ----
{ cat base.conf; printf '\n[objective mlm]\nstream = text\n\n[objective bare]\nplugin = ./changed.so\n'; } >bare.conf
plugin_dies 'objective bare: it publishes sequence 0 of 0, without having declared it' pull-together \
    's/xlm_declare_view(declaration, &masked);/(void)masked;/; /needs_stream/d
    s/^    const xlm_batch \*batch = pass->batch;/    xlm_pass_publish(pass, 0, "");\n&/' 'objective bare' bare.conf "${few[@]}"
# ---- tables of options ----
# table PATTERN SED: pull-together with its table changed is refused, by --help-job too.
table() {
    build_plugin changed pull-together "$2"
    expect 78 "\./changed\.so: option $1" xlm_train pull.conf --set train.output=none
    expect 64 "\./changed\.so: option $1" xlm_train --help-job=./changed.so
}
table '"sharpness": its value is not within' 's/sizeof(struct pull)/sizeof(int64_t) + 4/'
table '"sharpness": its value is not within' 's/offsetof(struct pull, sharpness)/(size_t)-4/'
table '"sharpness": it has no help' 's/"factor of the cosine"/NULL/'
table '"word": it has no choices' 's/"word", XLM_OPTION_TEXT/"word", XLM_OPTION_CHOICE/'
table '"word": it has no choices' 's/"word", XLM_OPTION_TEXT, ""/"word", XLM_OPTION_SET, "a"/'
table '"word": its type is not one of' 's/"word", XLM_OPTION_TEXT/"word", (xlm_option_type)99/'
table '"layer": an option before it has the same name' 's/{"word"/{"layer"/'
table '"a word": its name cannot be a key' 's/{"word"/{"a word"/'
table '"": its name cannot be a key' 's/{"word"/{""/'
for key in plugin stream weight begin; do
    build_plugin changed pull-together "s/{\"word\"/{\"$key\"/"
    expect 78 "\[objective pull\]: the plugin has an option \"$key\", which is a key of every section \[objective NAME\]" \
        xlm_train pull.conf --set train.output=none
done
{ cat base.conf; printf '\n[stage spans]\nplugin = ./changed.so\nstream = text\n'; } >stage.conf
build_plugin changed spans 's/{"file"/{"stream"/'
expect 78 "\[stage spans\]: the plugin has an option \"stream\"" xlm_train stage.conf --set train.output=none
# ---- an objective without terms says so, once, when it has had many steps or the run ends ----
warned() { grep -c "warning: objective $1 has had no terms in any of $2 steps" "$3"; }
build_plugin changed pull-together "$(counts 'return 0;')"
trained pull.conf none_short 1 "${few[@]}" --set train.steps=3
[ "$(warned pull 3 none_short.log)" -eq 1 ] || fail "no warning at the end: $(cat none_short.log)"
trained pull.conf none_long 2 "${few[@]}" --set train.steps=101 --set train.log_every=1 \
    --set 'objective pull.begin=1' --set model.hidden_size=8
[ "$(grep -c 'has had no terms' none_long.log)" -eq 1 ] && [ "$(warned pull 100 none_long.log)" -eq 1 ] ||
    fail "not warned once: $(grep -e 'no terms' none_long.log)"
build_plugin changed pull-together "$(counts 'return pass->step < 2 ? 0 : pass->batch->predicted;')"
trained pull.conf late 1 "${few[@]}" --set train.steps=3
! grep 'no terms' late.log || fail "a warning of an objective that has had terms"
{ cat pull.conf; printf '\n[objective mlm]\nstream = text\n'; } >idle.conf
trained idle.conf idle 1 "${few[@]}" --set 'objective pull.begin=5'
! grep 'no terms' idle.log || fail "a warning of an objective that takes no part"
# ---- names that the program itself writes ----
for name in loss perplexity weight; do
    plugin_dies "objective pull: a metric named \"$name\"" pull-together "s/declaration, \"never\"/declaration, \"$name\"/" \
        'objective pull' pull.conf "${few[@]}"
done
{ cat base.conf; printf '\n[objective total]\nplugin = mlm\nstream = text\n'; } >total.conf
job_refused 'total.conf:[0-9]*: \[objective total\]: "total" names the weighted sum of all objectives' total.conf
# ---- names of parameters and states, which are paths in files ----
named() { # PATTERN SED
    plugin_dies "objective pull: $1" pull-together "$2" 'objective pull' pull.conf "${few[@]}"
}
for name in '' x/ a//b ./x 'a b'; do
    named "a parameter or a state cannot be named \"$name\"" "s|\"steps\"|\"$name\"|"
done
named 'parameters and states cannot be named "loss/x"' 's|"steps"|"loss/x"|'
named '"projection/bias" is declared twice' 's|"steps"|"projection/bias"|'
named '"projection/weight" and "projection" cannot both be declared' 's|"steps"|"projection"|'
named '"projection/bias" and "projection/bias/x" cannot both be declared' 's|"steps"|"projection/bias/x"|'
build_plugin changed pull-together 's|"steps"|"projection/weights"|'
trained pull.conf beside 1 "${few[@]}"
# ---- a stage that chooses rows, and does not say how many ----
{ cat pull.conf; printf '\n[stage spans]\nplugin = ./changed.so\nstream = text\nshare = 0.5\n'; } >stage.conf
build_plugin pull pull-together
stage_dies() { # PATTERN SOURCE SED
    plugin_dies "stage spans: $1" "$2" "$3" 'stage spans' stage.conf "${few[@]}" --set 'objective pull.plugin=./pull.so'
}
stage_dies 'apply chooses predicted rows, but its class has no predicted_share' spans '/^    \.predicted_share =/d
    /^static double spans_share/,/^}/d'
stage_dies 'apply chooses predicted rows, but its class has no predicted_share' spans '/^    \.predicted_share =/d
    /^static double spans_share/,/^}/d
    s/^    int32_t \*chosen/    for (int32_t i = 0; i < text->tokens; i++)\n        batch->predicted[i] = false;\n    return;\n&/'
build_plugin changed spans '/^    \.predicted_share =/d; /^static double spans_share/,/^}/d; s/batch->predicted\[i\] = true/(void)0/'
trained stage.conf unchosen 1 "${few[@]}" --set 'objective pull.plugin=./pull.so'
# ---- a stage that changes more of a span than its place, or annotates where it cannot ----
{ cat pull.conf; printf '\n[stage order]\nplugin = ./changed.so\nstream = text\n'; } >order.conf
order_dies() { # PATTERN SED
    plugin_dies "stage order: $1" sentence-order "$2" 'stage order' order.conf "${few[@]}" --set 'objective pull.plugin=./pull.so'
}
order_dies 'arrange may change the places and the sides of spans, but not' 's/side = 1;/side = 1, span[i].tokens++;/'
order_dies 'arrange may change the places and the sides of spans, but not' 's/side = 1;/side = 1, span[i].language ^= 1;/'
order_dies '"swapped" is no annotation of its class, or cannot be given values here' 's/XLM_AXIS_SEQUENCES/XLM_AXIS_TOKENS/'
stage_dies '"quiet" is no annotation of its class, or cannot be given values here' muffle '
    s/noise->tokens = .*/*xlm_stage_annotate(pass, "quiet") = 1;/
    s/\.state_size =/.annotations = (const xlm_stage_annotation[]){{"quiet", XLM_AXIS_SEQUENCES}, {NULL, XLM_AXIS_TOKENS}}, &/'
# ---- a loss that is not finite ----
sick() { printf 's/-pull->sharpness)/pass->step >= %s ? %s : &/' "$1" "$2"; }
build_plugin changed pull-together "$(sick 0 '(double)NAN'); s/^#include <stddef.h>/&\n#include <math.h>/"
expect 70 'step 1: the loss is not finite (objective pull: its loss is nan; ' xlm_train pull.conf "${few[@]}" \
    --set train.output=sick
! grep learning_rate expect.err || fail "the learning rate before the first update: $(cat expect.err)"
rm -rf sick
build_plugin changed pull-together "$(sick 1 '(double)INFINITY'); s/^#include <stddef.h>/&\n#include <math.h>/"
expect 70 'step 2: the loss is not finite (objective pull: its loss is -*[inaf]*; .*lower learning_rate' \
    xlm_train pull.conf "${few[@]}" --set train.output=sick
# A gradient whose square is not: refused, unless it is clipped.
build_plugin changed pull-together "$(sick 0 1e25)"
expect 70 'step 1: the gradient is too large, set clip (loss -*[0-9.]*e+[0-9]*, ' xlm_train pull.conf "${few[@]}" \
    --set train.output=large --set train.clip=0
logged clipped.log xlm_train pull.conf "${few[@]}" --set train.output=large --set train.clip=1
# Parameters that become infinite in the last step, -99 times as large in each: no checkpoint has them.
build_plugin changed pull-together ''
expect 70 'step 20: after the update, the parameter .* is not finite; no checkpoint is written of it; lower learning_rate' \
    ranks 2 xlm_train pull.conf "${few[@]}" --set model.decoder_layers=1 --set train.freeze=1 --set train.learning_rate=10 \
    --set train.weight_decay=10 --set train.warmup=0 --set train.schedule=constant --set train.output=infinite --set train.steps=20
once '^xlm_train: step 20: '
[ "$(cd infinite && echo checkpoint*)" = 'checkpoint*' ] || fail "a checkpoint of infinite parameters: $(ls infinite)"
finish
