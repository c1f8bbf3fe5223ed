#!/usr/bin/env bash
# xlm-mpi: a text that an objective's label makes and its loss encodes. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

build_plugin echo
build_plugin second echo
eight_steps 8 >base.conf
section() { printf '\n[objective %s]\nplugin = ./%s.so\nstream = %s\nhow = %s\n' "$1" "$1" "$2" "$3"; }
dry=(--set model.dropout=0 --set model.attention_dropout=0)

# ---- the same bits on any number of ranks and resumed, beside others ----
{ cat base.conf; section echo pairs reverse; section second text shorten; } >both.conf
reproduced both.conf out 8
trained both.conf recomputed 1 --set train.recompute=true
same_bits out-1 recomputed
is_between 1e-6 "$(value out-1 8 train echo loss)" 10 || fail "nothing is reversed: $(values out-1 train echo loss)"
is_near "$(value out-1 8 train echo/kept score)" 1 1e-9 || fail "a reversed text has another length: $(values out-1 train echo/kept score)"
is_between 0.6 "$(value out-1 8 train second/kept score)" 0.9 || fail "shortened to $(values out-1 train second/kept score)"
is_between 0 "$(value out-1 8 held_out second loss all)" 10 || fail "not evaluated: $(grep held_out out-1/metrics.csv)"
# The draws of other objectives do not depend on it.
{ cat base.conf; section echo pairs reverse; printf 'weight = 0\n'; } >idle.conf
trained idle.conf idle 1
trained base.conf base 1
cmp <(values base train mlm loss) <(values idle train mlm loss) || fail "a made text changes the draws of others"

# ---- a copy has the states of the text, and other dropout masks ----
{ sed '/^.stream pairs/,$d' base.conf; section echo text copy; } >copy.conf
trained copy.conf copied 1 "${dry[@]}"
is_between 0 "$(value copied 8 train echo loss)" 1e-10 || fail "a copy is encoded differently: $(values copied train echo loss)"
trained copy.conf masked 1
is_between 1e-5 "$(value masked 8 train echo loss)" 10 || fail "a copy has the same dropout masks: $(values masked train echo loss)"

# ---- gradients, dumps, memory ----
{ sed '/^.stream pairs/,$d' base.conf; section echo text shorten; } >alone.conf
trained alone.conf alone 1 --set train.learning_rate=5e-3
# Of a shorter text: passes take less time, and the loss of fewer terms has less rounding, so that more comparisons are clear.
shorter=(--set 'stream text.length=24')
right_gradients alone.conf --set train.output=alone "${shorter[@]}"
for n in 1 8; do
    logged "dump-$n.log" ranks $n xlm_train both.conf --dump-step "dump-$n.h5" --set "train.output=dump-$n" --set train.seed=3
done
same_objects dump-1.h5 dump-8.h5 >diff.log 2>&1 || fail "dumps of 1 and 8 ranks differ: $(tail -n 3 diff.log)"
ranks 4 xlm_train alone.conf --check-gradients --set train.output=alone "${shorter[@]}" >check-4.txt 2>check-4.log ||
    fail "gradients on 4 ranks: $(tail -n 3 check-4.log)"
cmp check.txt check-4.txt || fail "the check of gradients on 4 ranks: $(diff check.txt check-4.txt | head -n 4)"
made() { numbers "/objectives/$1/made_text/$2" dump-1.h5; }
original() { numbers "/streams/$1/batch/$2" dump-1.h5; }
cmp <(made echo offsets) <(original pairs offsets) || fail "reversed sequences have other lengths"
other_text <(made echo ids) <(original pairs original) || fail "nothing was reversed in the dump"
cmp <(made echo ids | sort -n) <(original pairs original | sort -n) || fail "a reversed text has other words"
[ "$(made second ids | wc -l)" -eq "$(made second offsets | tail -n 1)" ] || fail "its offsets are of another text"
made second positions | awk -v n="$(made second offsets | wc -l)" '$1 == 0 { zeros++ } END { exit zeros != n - 1 }' ||
    fail "positions do not begin anew in each sequence"
large=(--set train.steps=3 --set train.micro_batches=1 --set 'stream text.batch=16')
trained alone.conf memory 1 "${large[@]}" --set 'objective echo.how=copy'
estimated memory.log 0.1
# What an estimate makes is what it counts: here nothing is left out, in training half of the words.
build_plugin planned echo 's/echo->how == SHORTEN \&\& i > 0/!pass->planned \&\& &/'
trained alone.conf planned 1 "${large[@]}" --set 'objective echo.share=0.5' --set 'objective echo.plugin=./planned.so'
estimate() { sed -n 's/^peak memory: .*estimated \([0-9.]*\)$/\1/p' "$1"; }
[ "$(estimate planned.log)" = "$(estimate memory.log)" ] || fail "not estimated as planned: $(estimate planned.log), $(estimate memory.log)"

# ---- refused by name ----
job_refused 'objective echo.: it makes a text of up to 100000 tokens.*the model has [0-9]* positions' both.conf \
    --set 'objective echo.max_tokens=100000'
refused() { # PATTERN SED
    build_plugin changed echo "$2"
    job_refused "objective echo.: $1" both.conf --set 'objective echo.plugin=./changed.so'
}
refused 'a view of a text that its label makes, which it has not declared' 's/xlm_declare_text(.*;/(void)echo;/'
refused 'it makes a text in label, but the class has no label' '/\.label =/d; s/^static int64_t echo_label/__attribute__((unused)) &/'
refused 'a view of the text that its label makes has no sides and no predicted rows' 's/.rows = XLM_ROWS_FIRST}/.rows = XLM_ROWS_PREDICTED}/'
refused 'a view whose text, side, stack, weights or rows is none of xlm/loss.h' 's/view.text = XLM_TEXT_MADE;/view.rows = (xlm_view_rows)40;/'
refused 'it makes a text of up to 0 tokens a sequence' 's/xlm_declare_text(.*;/(void)echo, xlm_declare_text(declaration, 0);/'
refused 'it needs a decoder, and the model has none; set decoder_layers' 's/view.text = XLM_TEXT_MADE;/&\n    view.stack = XLM_STACK_DECODER;/'
# Mistakes of its author end the program with a message.
dies() { plugin_dies "echo: $1" echo "$2" 'objective echo' both.conf "${@:3}"; } # PATTERN SED [OPTION...]
dies 'the text that its label makes is wrong: its offsets' 's/offsets\[s + 1\] = n;/offsets[s + 1] = 0;/'
dies 'the text that its label makes is wrong: its offsets' '' --set 'objective echo.max_tokens=3'
# Of several sequences, the first has a wrong id.
dies 'the text that its label makes is wrong: it has ids' 's/^    xlm_pass_make_text/    ids[0] = -7;\n&/' --set train.micro_batches=1
dies 'the text that its label makes is wrong: it has ids' 's/ids\[n\] = .*/ids[n] = -1;/'
far='int32_t *far = xlm_tape_take(tape, sizeof *far * (uint64_t)n);\n    for (int32_t i = 0; i < n; i++)\n        far[i] = 96;'
dies 'the text that its label makes is wrong: it has positions that the model does not have' \
    "s/^    xlm_pass_make_text\\(.*\\)NULL/    $far\\n    xlm_pass_make_text\\1far/"
dies 'it views the text that its label makes, and its label has made none' 's/^    xlm_pass_make_text.*/    (void)offsets;/'
dies 'it makes a text outside of label, twice' 's/^    xlm_pass_make_text.*/&\n&/'
dies 'a mean has [0-9]* terms, but its value is NULL' 's/return xlm_mean(.*/return (void)apart, NULL;/'
finish
