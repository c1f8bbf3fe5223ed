#!/usr/bin/env bash
# xlm-mpi: an objective from outside that encodes one text with two dropout masks. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
batches_of_eight
long
small_corpus

build_plugin simcse
build_plugin equal simcse '/view.number = 1/d'
build_plugin far simcse 's/view.number = 1/view.number = 16/'
build_plugin still simcse 's/\.dropout = true/.dropout = false/'
eight_steps 4 >base.conf
section() { printf '\n[objective %s]\nplugin = ./%s.so\nstream = text\n' "$1" "$1"; }
{ cat base.conf; section simcse; } >job2.conf
cosine() { values "$1" train "$2/cosine" score | cut -d' ' -f2 | sort -g | sed -n "$3"; } # of the smallest or largest step

# The same bits on any number of ranks and resumed; two masks, so that no cosine is 1.
reproduced job2.conf out 4
is_between -1 "$(cosine out-1 simcse '$p')" 0.9999 || fail "the masks are equal: $(values out-1 train simcse/cosine score)"
# Without dropout the views are the same numbers; and view 0 is as it was: mlm's bits do not depend on the other.
trained job2.conf dry 1 --set model.dropout=0 --set model.attention_dropout=0
is_between 0.99999 "$(cosine dry simcse 1p)" 1.00001 || fail "two views differ without dropout: $(grep cosine dry/metrics.csv)"
{ cat base.conf; section simcse; printf 'weight = 0\n'; } >idle.conf
trained idle.conf idle 1
trained base.conf base 1
cmp <(values base train mlm loss) <(values idle train mlm loss) || fail "a view with another number changes the draws of number 0"

# Gradients, of a model of some steps, and the memory of a pass.
{ sed '/^.stream pairs/,$d' base.conf; section simcse; } >alone.conf
trained alone.conf alone 1 --set train.learning_rate=5e-3
shallow=(--set train.learning_rate=5e-3 --set model.layers=1 --set model.attention_heads=2 \
    --set train.micro_batches=4 --set "stream text.length=24" --set train.output=shallow)
logged shallow.log xlm_train alone.conf "${shallow[@]}"
checked=simcse right_gradients alone.conf "${shallow[@]}"
trained alone.conf memory 1 --set train.steps=3 --set train.micro_batches=1 --set 'stream text.batch=16'
estimated memory.log
trained alone.conf recomputed 1 --set train.learning_rate=5e-3 --set train.recompute=true
same_bits alone recomputed

# Equal views of one objective are refused, and of two objectives computed once, with one loss.
{ cat base.conf; section equal; } >equal.conf
expect 78 'objective equal.: its views 0 and 1 are equal.*xlm_view.number' ranks 2 xlm_train equal.conf --set train.output=none
once 'objective equal'
{ cat base.conf; section far; } >far.conf
expect 78 'objective far.: a view with number 16' xlm_train far.conf --set train.output=none
{ cat base.conf; section still; } >still.conf
expect 78 'objective still.: a view with number 1; .*without dropout 0' xlm_train still.conf --set train.output=none
[ ! -e none ] || fail "something was written"
sed '/^.objective simcse/,$d' alone.conf >twice.conf
{ section simcse; section simcse | sed 's/objective simcse/objective again/'; } >>twice.conf
trained twice.conf twice 1
cmp <(values twice train simcse loss) <(values twice train again loss) || fail "the same views of two objectives are not one"
finish
