#!/usr/bin/env bash
# xlm-mpi: models with the properties of ModernBERT, XLM-R XL, Marian and M2M100. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

# architecture NAME KEY=VALUE...: the same bits on 1 and 4 ranks, resumed on 2, with recompute and with 2 threads; gradients of
# the objectives that $checked names, or of all, of few and short texts, for many passes are made of them, in a model of the steps
# of $learned, or else a fresh one: of which rounding hides less; bfloat16.
short=(--set 'stream text.length=24' --set 'stream text.batch=4' --set 'stream pairs.batch=4')
learned=(--set train.steps=20 --set train.learning_rate=2e-2 --set train.evaluate_every=0 --set train.checkpoint_every=0)
architecture() {
    local name=$1
    shift
    eight_steps 4 -e "s/^.model.*/&\n$(printf '%s\\n' "$@")/" >"$name.conf"
    reproduced "$name.conf" "$name" 4
    trained "$name.conf" "$name-recompute" 1 --set train.recompute=true --set train.threads=2
    [ "$(digest "$name-1/latest")" = "$(digest "$name-recompute/latest")" ] || fail "$name: other bits with recompute, 2 threads"
    [ ${#learned[@]} -eq 0 ] || trained "$name.conf" "$name-check" 1 "${short[@]}" "${learned[@]}"
    xlm_train "$name.conf" "--check-gradients${checked:+=$checked}" --set "train.output=$name-check" "${short[@]}" "${learned[@]}" \
        >"$name.check" 2>"$name.check.log" || fail "$name: gradients: $(cat "$name.check" "$name.check.log")"
    logged "$name.plan" ranks 1 xlm_train "$name.conf" --plan --set "train.output=$name-plan"
    XLM_BF16_EMULATE=1 trained "$name.conf" "$name-half" 1 --set train.precision=bfloat16
}
architecture modern 'norm = pre' 'final_norm = true' 'first_norm = false' 'norm_biases = false' 'linear_biases = false' \
    'position_type = rotary' 'rotary_theta = 160000' 'rotary_theta_local = 10000' 'attention_window = 8' \
    'global_attention_every = 3' 'gated_feed_forward = true'
XLM_BF16_EMULATE=1 trained modern.conf modern-half-2 2 --set train.precision=bfloat16
same_bits modern-half modern-half-2
# One predicted word of one pair: a loss that bends within the longest steps of differences, which agree on another derivative.
xlm_train modern.conf --check-gradients=tlm --set train.output=modern-one "${short[@]}" --set 'stream pairs.batch=1' \
    --set 'stream pairs.length=24' >one.check 2>one.log ||
    fail "modern: gradients of one term: $(grep WRONG one.check; tail -n 1 one.log)"
grep -q 'loss [0-9.]* of 1 terms' one.check || fail "modern: not one term: $(grep terms one.check)"
# The blocks of the others do the same for pairs as for text, and mlm and tlm are one plugin.
checked=mlm
architecture marian 'embedding_norm = false' 'scale_embeddings = true' 'activation = swish' \
    'position_type = sinusoidal_halves' 'encode_bos = false'
architecture m2m100 'norm = pre' 'final_norm = true' 'embedding_norm = false' 'scale_embeddings = true' \
    'position_type = sinusoidal_fairseq' 'head = xlm' 'output_bias = false' 'encode_bos = false'
learned=()
architecture xl 'norm = pre' 'final_norm = true' 'embedding_norm = false'

# What transformers' architectures do not have is refused, not left out.
lacking() { # NAME TEXT
    expect 65 "$2" xlm_convert "$1-1/latest" -o "$1-exported"
    [ ! -e "$1-exported" ] || fail "$1: an export was begun"
}
lacking modern 'xlm has not norms before the sublayers, modernbert has not language embeddings'
lacking marian 'roberta has not scaled embeddings, .* marian has not models without a decoder'

# Keys without effect.
refused() { expect 78 "$1" xlm_train job.conf --dry-run --set "model.$2" ${3+--set "model.$3"}; }
refused 'rotary_theta = 500 is for position_type = rotary' rotary_theta=500
refused 'rotary_theta_local = 500 is for' rotary_theta_local=500 position_type=rotary
refused 'global_attention_every is for' global_attention_every=2
refused 'first_norm = false is for norm = pre' first_norm=false
refused 'attention_window = 3 is odd' attention_window=3
refused 'attention_window is for models without a decoder' attention_window=4 decoder_layers=1
finish
