#!/usr/bin/env bash
# xlm-mpi: --dump-step: what is in the file, and whether losses and gradients are those of training.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# number FILE ATTRIBUTE
number() { h5dump -m %.17g -a "$2" "$1" | sed -n 's/.*(0): //p'; }
# shape FILE DATASET: its extents, "12, 32".
shape() { h5ls "$1$2" | sed -n 's/.*Dataset {\(.*\)}/\1/p'; }
# close A B SHARE: |A − B| <= SHARE · |B|
close() { awk -v a="$1" -v b="$2" -v share="$3" 'BEGIN { d = a - b; exit !(d * d <= share * share * b * b && b * b > 0) }'; }

dump() { # RANKS FILE [OPTION...]
    local n=$1 file=$2
    shift 2
    ranks "$n" xlm_train job.conf --dump-step "$file" "$@" >dump.log 2>&1 || fail "--dump-step: $(tail -n 3 dump.log)"
}

# A dump of the first step too, and no other file is written.
dump 1 first.h5
[ ! -e out ] || fail "--dump-step made the output directory"
[ "$(number first.h5 /step)" = 0 ] || fail "step of the first step: $(number first.h5 /step)"

logged train.log ranks 2 xlm_train job.conf --set train.steps=3 --set model.token_types=true
estimated train.log
before=$(cksum out/*)
dump 1 step.h5 --set model.token_types=true
estimated dump.log
dump 2 two.h5 --set model.token_types=true
[ "$before" = "$(cksum out/*)" ] || fail "--dump-step changed the output directory"
same_objects step.h5 two.h5 || fail "on 2 ranks the file is another"
other_objects first.h5 step.h5 /gradients || fail "two steps are the same"

# ---- what is in it ----
[ "$(number step.h5 /step)" = 3 ] || fail "step: $(number step.h5 /step)"
for stream in text pairs; do
    folder=/streams/$stream/batch
    tokens=$(shape step.h5 $folder/ids) masked=$(shape step.h5 $folder/targets)
    [ "$tokens" -gt 50 ] && [ "$masked" -gt 5 ] && [ "$masked" -lt "$tokens" ] || fail "$stream: $tokens tokens, $masked masked"
    for array in original positions languages types; do
        [ "$(shape step.h5 $folder/$array)" = "$tokens" ] ||
            fail "$folder/$array: $(shape step.h5 $folder/$array) instead of $tokens"
    done
    [ "$(shape step.h5 $folder/masked_positions)" = "$masked" ] ||
        fail "$folder/masked_positions: $(shape step.h5 $folder/masked_positions)"
    [ "$(shape step.h5 $folder/offsets)" = 5 ] || fail "$folder/offsets: $(shape step.h5 $folder/offsets)"
    for layer in 0 1 2; do
        [ "$(shape step.h5 /streams/$stream/hidden/$layer)" = "$tokens, 32" ] ||
            fail "hidden/$layer: $(shape step.h5 /streams/$stream/hidden/$layer)"
    done
    [ "$(h5ls "step.h5/streams/$stream/hidden" | wc -l)" -eq 3 ] || fail "hidden states: $(h5ls "step.h5/streams/$stream/hidden")"
done
[ "$(number step.h5 /objectives/mlm/loss/terms)" = "$(shape step.h5 /streams/text/batch/targets)" ] || fail "terms of mlm"
[ "$(number step.h5 /objectives/tlm/loss/weight)" = 0.5 ] || fail "weight of tlm"
h5dump -a /objectives/tlm/loss/plugin step.h5 | grep -q '"mlm' &&
    h5dump -a /objectives/tlm/loss/stream step.h5 | grep -q '"pairs' || fail "plugin and stream of tlm"
for key in layers hidden_size attention_heads positions vocabulary languages dropout; do
    [ "$(number step.h5 /model/$key)" = "$(number out/latest /model/$key)" ] || fail "/model/$key: $(number step.h5 /model/$key)"
done
arrays() { h5ls -r "$1$2" | grep Dataset; }
arrays step.h5 /parameters >parameters.txt
cmp parameters.txt <(arrays out/latest /model) || fail "parameters are not those of the checkpoint"
cmp parameters.txt <(arrays step.h5 /gradients) || fail "gradients are not those of the parameters"
all() { h5dump -A 0 -g "$2" "$1" | grep '^ *([0-9,]*): '; }
all step.h5 /parameters | cmp - <(all out/latest /model) || fail "parameters are not those of the checkpoint"
# The masked positions are where ids and original differ, or where the original was left; the targets are the originals there.
in_batch() { numbers "/streams/text/batch/$1" step.h5; }
in_batch original >original.txt
in_batch ids >ids.txt
paste <(in_batch masked_positions) <(in_batch targets) |
    awk 'FILENAME == "original.txt" { original[n++] = $1; next } { rows[$1] = 1; if (original[$1] != $2) exit 1 }' \
        original.txt - ||
        fail "targets"
paste ids.txt original.txt | awk '$1 != $2 { print NR - 1 }' >changed.txt
[ -s changed.txt ] && in_batch masked_positions | sort >masked.txt && [ -z "$(sort changed.txt | comm -23 - masked.txt)" ] ||
    fail "ids differ from the originals at other places than the masked ones"

# ---- losses are those of training ----
loss=$(number step.h5 /loss)
mlm=$(h5dump -m %.17g -d /objectives/mlm/loss step.h5 | sed -n 's/.*(0): \([^,]*\)$/\1/p' | head -n 1)
tlm=$(h5dump -m %.17g -d /objectives/tlm/loss step.h5 | sed -n 's/.*(0): \([^,]*\)$/\1/p' | head -n 1)
close "$(awk "BEGIN { printf \"%.12g\", $mlm + 0.5 * $tlm }")" "$loss" 1e-9 || fail "loss $loss is not $mlm + 0.5 · $tlm"
logged next.log ranks 2 xlm_train job.conf --set train.steps=4 --set model.token_types=true --set model.dropout=0 \
    --set model.attention_dropout=0
next() { value out 4 train "$1" loss; }
close "$(next total)" "$loss" 1e-6 && close "$(next mlm)" "$mlm" 1e-6 && close "$(next tlm)" "$tlm" 1e-6 ||
    fail "losses of the next step: $(next total), $(next mlm), $(next tlm); in the file $loss, $mlm, $tlm"

# ---- gradients are the slopes of the loss ----
# A job that reads the same batch at each step, all of a language's text with every word masked. Adam's first update moves
# each parameter by the learning rate against the sign of its gradient, so that the loss falls by the learning rate times Σ |g|.
same=(--set "stream text.languages=en" --set "stream text.mask=1" --set "stream text.replace=mask:1"
    --set "objective tlm.weight=0" --set train.output=slope --set train.schedule=constant --set train.warmup=0 --set train.clip=0
    --set train.weight_decay=0 --set train.epsilon=1e-10 --set model.dropout=0 --set model.attention_dropout=0)
instances=$(sed -n 's/^stream text: .*(en \([0-9]*\),.*/\1/p' train.log)
same+=(--set "stream text.batch=$instances")
rate=1e-5
dump 1 before.h5 "${same[@]}"
logged slope.log ranks 2 xlm_train job.conf "${same[@]}" --set train.steps=1 --set train.learning_rate=$rate
dump 1 after.h5 "${same[@]}"
size=$(all before.h5 /gradients | sed 's/.*): //' | tr ',' '\n' |
    awk 'NF { sum += $1 < 0 ? -$1 : $1 } END { printf "%.9g", sum }')
fall=$(awk "BEGIN { printf \"%.9g\", $(number before.h5 /loss) - $(number after.h5 /loss) }")
close "$fall" "$(awk "BEGIN { printf \"%.9g\", $rate * $size }")" 0.02 ||
    fail "the loss falls by $fall; Σ |g| = $size, learning rate $rate"
echo "fall of the loss $fall, learning rate times the sum of |g|: $rate x $size"

# ---- errors ----
expect 73 'nowhere/step.h5' ranks 2 xlm_train job.conf --dump-step nowhere/step.h5
expect 64 'cannot be combined' ranks 2 xlm_train job.conf --dump-step step.h5 --dry-run
[ -z "$(find . -name '*.h5.*')" ] || fail "left $(find . -name '*.h5.*')"
finish
