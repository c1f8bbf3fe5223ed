#!/usr/bin/env bash
# xlm-mpi: hidden states, losses and translations beside those of XLM's own code. SPDX-License-Identifier: GPL-3.0-or-later
#
# XLM_CODE  directory of github.com/facebookresearch/XLM; needs Debian's python3-torch and python3-h5py
. "$XLM_SOURCE/tests/bench/table.sh"
python=/usr/bin/python3
section "translation as by XLM's code"
[[ -n ${XLM_CODE-} ]] || { skipped "XLM's code" "XLM_CODE names its directory"; exit 0; }
"$python" -c 'import torch, h5py' 2>/dev/null || { skipped "XLM's code" "needs python3-torch and python3-h5py"; exit 0; }
. "$XLM_SOURCE/tests/small.sh"
small_corpus
{ sed 's/^layers = .*/&\ndecoder_layers = 2\nhead = xlm\nposition_offset = 0\ndropout = 0\nattention_dropout = 0/
       s/^steps = .*/steps = 600/
       s/^learning_rate = .*/learning_rate = 3e-3/; /^.stream text/,$d' job.conf
  printf '[stream text]\nbatch = 16\nlength = 48\njoin_sentences = false\nmask = 0\n'
  printf 'noise_shuffle = 3\nnoise_drop = 0.2\nnoise_blank = 0.2\n'
  printf '[stream pairs]\ntype = parallel\nform = bert\nshuffle_sides = true\nbatch = 32\nlength = 32\n'
  printf '[objective nmt]\nplugin = seq2seq\nstream = pairs\n'
  printf '[objective denoise]\nplugin = seq2seq\nstream = text\nweight = 0.2\n'; } >nmt.conf
logged train.log xlm_train nmt.conf
logged dump.log xlm_train nmt.conf --set train.steps=601 --dump-step step.h5
peer() { # STEP OURS BEAM PENALTY EARLY
    "$python" "$XLM_SOURCE/tests/bench/peers/xlm_code.py" "$XLM_CODE" "$1" out/latest corpus.h5 text.200 en xx "${@:2:4}" 2>peer.log |
        while IFS=$'\t' read -r name difference goal; do row "$name" "" "" "$difference" "$goal"; done
}
set -o pipefail
export PYTHONDONTWRITEBYTECODE=1
peer - - 1 1 late || fail "no text"
step=step.h5
for search in '1 1 late' '4 1 late' '5 0.6 late' '3 0 late' '5 1 early'; do
    read -r beam penalty early <<<"$search"
    options=(--beam "$beam" --length-penalty "$penalty")
    [ "$early" = late ] || options+=(--early-stopping)
    logged translate.log xlm_translate out/latest --from en --to xx "${options[@]}" --max-length 0,59 --scores text.200 -o ours
    peer $step ours "$beam" "$penalty" "$early" || fail "$search: $(tail -n 3 peer.log)"
    step=-
done
finish
