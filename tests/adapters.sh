# xlm-mpi: adapters of small models, for tests; sourced after tests/small.sh. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash

# kept A B: what A and B have of the model is the same, but for adapters.
kept() {
    local paths
    paths=$(h5ls -r "$1" | sed -n 's/^\(\/model\/[^ ]*\) *Dataset.*/\1/p' | grep -v '^/model/adapters/' |
        grep -e /weight -e /bias | grep -e word -e layer.0 -e lm_head)
    [ "$(wc -l <<<"$paths")" -gt 10 ] || fail "$(wc -l <<<"$paths") arrays compared"
    # shellcheck disable=SC2086 # a path a word
    [ "$("$XLM_BUILD/tests/hdf5_digest" "$1" $paths || echo none)" = "$("$XLM_BUILD/tests/hdf5_digest" "$2" $paths)" ] ||
        fail "$1 and $2 have not the same model"
}
# section NAME KEY=VALUE...: of an adapter.
section() { printf '[adapter %s]\n' "$1"; shift; printf '%s\n' "$@"; }

# learn NAME ADAPTERS KEY...: a model with these keys, NAME-base, and adapters of it: the same bits on any number of ranks, with
# recompute and threads, resumed, and in bfloat16.
learn() { # NAME ADAPTERS KEY...
    local name=$1 sections=$2
    shift 2
    eight_steps 4 -e "s/^.model.*/&\n$(printf '%s\\n' "$@")/" >"$name-base.conf"
    trained "$name-base.conf" "$name-base" 1
    eight_steps 4 -e '/^\[model\]/,/^$/d' -e "s/^.train.*/&\nstart = $name-base\/latest/" >"$name.conf"
    printf '\n%s\n' "$sections" >>"$name.conf"
    reproduced "$name.conf" "$name" 4
    trained "$name.conf" "$name-recompute" 1 --set train.recompute=true --set train.threads=2
    [ "$(digest "$name-1/latest")" = "$(digest "$name-recompute/latest")" ] || fail "$name: other bits with recompute, 2 threads"
    kept "$name-base/latest" "$name-1/latest"
    grep -q 'adapters learn: .*; the model stays as it is' "$name-1.log" || fail "$name: the log does not say so"
    XLM_BF16_EMULATE=1 trained "$name.conf" "$name-half" 1 --set train.precision=bfloat16
    # On 2 ranks the first of a script.
    if [ -z "${in_half-}" ]; then
        in_half=$name-half-2
        XLM_BF16_EMULATE=1 trained "$name.conf" "$in_half" 2 --set train.precision=bfloat16
        same_bits "$name-half" "$in_half"
    fi
    estimated "$name-1.log"
}
# kept_body A B: the same of a model and one that was fine-tuned, whose head for words is gone.
kept_body() { # A B
    same_objects "$1" "$2" /model/embeddings/word/weight /model/encoder/layer.1/attention/query/weight \
        /model/encoder/layer.0/feed_forward/output/bias >diff.log 2>&1 ||
        fail "$1 and $2 have not the same model: $(head -n 3 diff.log)"
}
