#!/usr/bin/env bash
# xlm-mpi: objectives from outside that use what the host gives: labels, averages, queues, sides of pairs.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

for plugin in distil contrast sides; do build_plugin $plugin; done
eight_steps 8 -e 's/^weight = 0.5/&\nbegin = 2/' >base.conf
section() { printf '\n[objective %s]\nplugin = ./%s.so\nstream = %s\n' "$1" "$1" "$2"; }
{ cat base.conf; section distil text; section contrast pairs; section sides pairs; } >all.conf

# The same bits on any number of ranks, own parameters, queue and average included, and resumed in the middle.
checkpoints=4 reproduced all.conf out 8 # with averages in the middle, too

# What the hooks were given: 4 instances a step for 8 steps, each once; the step.
[ "$(numbers /objectives/contrast/place out-1/latest | paste -s)" = '32	8' ] ||
    fail "rows and steps: $(numbers /objectives/contrast/place out-1/latest | paste -s)"
# An average is no copy of the parameters, and none of other objectives' is in the file.
h5diff out-1/latest out-1/latest /objectives/contrast/average/embeddings/word/weight /model/embeddings/word/weight >diff.log \
    2>&1 &&
    fail "the average is the model itself"
h5dump -d /objectives/contrast/average/objectives/contrast/projection out-1/latest >projection.txt 2>&1 ||
    fail "no average of the objective's own parameter"
# a <- m a + (1 - m) p: after one update with m = 0.25, 3/4 of the way from the first parameters to the new ones.
one=(--set train.steps=1 --set train.checkpoint_every=1 --set "objective contrast.momentum=0.25")
trained all.conf first 1 "${one[@]}" --set train.learning_rate=0
trained all.conf second 2 "${one[@]}"
path=embeddings/word/weight
paste <(numbers /model/$path first/latest) <(numbers /model/$path second/latest) \
    <(numbers "/objectives/contrast/average/$path" second/latest) | awk '
    { wanted = 0.25 * $1 + 0.75 * $2; d = $3 - wanted; if (d < 0) d = -d; if (d > 1e-6) bad++; if ($1 != $2) moved++ }
    END { exit bad || moved < 10 }' || fail "an average is not m a + (1 - m) p"

# Each alone: gradients, from a checkpoint with a full queue; a dump; the memory of a pass no more than was estimated. (Passes of
# sides and contrast without such options are in tests/cli/estimates.sh.)
for plugin in distil contrast sides; do
    stream=pairs other=text
    [ $plugin = distil ] && stream=text other=pairs
    { sed -n '1,/^.stream text/p' base.conf | sed '$d'; sed -n "/^.stream $stream/,/^\$/p" base.conf; section $plugin $stream; } \
        >$plugin.conf
    trained $plugin.conf $plugin 1
    right_gradients $plugin.conf --set model.layers=2 --set "train.output=$plugin" --set "stream $stream.length=16"
    for n in 1 2; do
        ranks $n xlm_train $plugin.conf --dump-step "$plugin-$n.h5" --set "train.output=$plugin" >dump.log 2>&1 ||
            fail "$plugin: dump: $(tail -n 3 dump.log)"
    done
    same_objects "$plugin-1.h5" "$plugin-2.h5" >diff.log 2>&1 ||
        fail "$plugin: dumps of 1 and 2 ranks differ: $(tail -n 3 diff.log)"
    numbers "/objectives/$plugin/loss" "$plugin-1.h5" | awk '{ exit !($1 == $1 + 0 && $1 != 0) }' ||
        fail "$plugin: no loss in the dump"
    if [ $plugin = contrast ]; then # what the labels were made with, as the checkpoint before the step has it
        for path in queue place sum average; do
            same_objects contrast-2.h5 contrast/latest "/objectives/contrast/$path" >diff.log 2>&1 ||
                fail "$path in the dump is not the checkpoint's: $(tail -n 3 diff.log)"
        done
        arrays() { h5ls -r "$1/objectives/contrast/average" | grep Dataset; }
        arrays contrast/latest >arrays.txt
        [ "$(wc -l <arrays.txt)" -gt 20 ] && cmp arrays.txt <(arrays contrast-2.h5) ||
            fail "averages in the dump: $(arrays contrast-2.h5)"
        h5diff contrast-2.h5 contrast-2.h5 /objectives/contrast/average/embeddings /parameters/embeddings >diff.log 2>&1 &&
            fail "the average in the dump is the model itself"
    fi
    for more in '' '--set train.recompute=true' '--set model.dropout=0 --set model.hidden_size=64'; do
        [ -n "$more" ] || [ $plugin = distil ] || continue
        # shellcheck disable=SC2086 # options are words
        trained $plugin.conf "$plugin-memory" 1 $more --set train.steps=3 --set train.micro_batches=1 --resume never
        estimated "$plugin-memory.log"
    done
done

# Impossible settings are refused.
build_plugin contrast contrast 's/XLM_WEIGHTS_AVERAGED, /XLM_WEIGHTS_AVERAGED, .gradient = true, /'
expect 78 'objective contrast.*a view with averaged weights' xlm_train contrast.conf --set train.output=none
expect 78 'stream text. has none; set type = parallel' xlm_train distil.conf --set 'objective distil.plugin=./sides.so' \
    --set train.output=none
finish
