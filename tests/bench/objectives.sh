#!/usr/bin/env bash
# xlm-mpi: what objectives cost beside masked language modelling on the same stream. SPDX-License-Identifier: GPL-3.0-or-later
#
#   dwa    beside tlm: one more forward pass, to layer 10 of 12, and the pointers
#   weam   beside mlm on pairs: two more heads
#   moco   beside the query side alone, encoded with gradient: the keys, the queue, the momentum average
#   gc     beside mlm on text: pairs of neighbours
#   sop    beside mlm on text
#   mask_unit = word, span, ngram    beside masks of single tokens
#   back-translation    beside seq2seq on pairs of as many sentences: the text is made first, by greedy search
#
# XLM_BENCH_STEPS   steps of a run (4), the first of which does not count
# XLM_BENCH_ROUNDS  rounds, in which the two of a comparison take turns (3); medians are shown
#
# A model of 12 layers of 768 (for translation 6 + 6 of 512) with 20,000 subwords, one rank of one thread; a step of 32 pairs of two
# made lines of 24 words, or of 16 x 128 tokens of text. Seconds are those of a step, the update included.
set -euo pipefail
. "$XLM_SOURCE/tests/bench/table.sh"
# shellcheck source=tests/bench/roberta-8.sh
. "$XLM_SOURCE/tests/bench/roberta-8.sh"
in_scratch
made_text >made
head -n 20000 made >text.aa
tail -n 20000 made >text.bb
xlm_prep --mono aa=text.aa --mono bb=text.bb --para aa-bb=text.aa,text.bb --words space --bpe 20000 -o corpus.h5 >log 2>&1 ||
    { cat log >&2; exit 1; }
xlm_align corpus.h5 --split all --alignment alignment.h5 >log 2>&1 || { cat log >&2; exit 1; }
xlm_cooc corpus.h5 -o cooccurrence.h5 >log 2>&1 || { cat log >&2; exit 1; }
# shellcheck disable=SC2086 # a compiler is words
$XLM_CC -std=c11 -O2 -shared -fPIC -I "$XLM_SOURCE/include" -o first-side.so "$XLM_SOURCE/tests/bench/first-side.c"

cat >base.conf <<'JOB'
[model]
layers = 12
hidden_size = 768
attention_heads = 12
positions = 256
token_types = true
[train]
corpus = corpus.h5
log_every = 1
evaluate_instances = 1
checkpoint_every = 0
warmup = 1
micro_batches = 2
JOB
part() { # TITLE LINE...
    printf '\n[%s]\n' "$1"
    printf '%s\n' "${@:2}"
}
pairs=('stream pairs' 'type = parallel' 'form = bert' 'length = 256' 'batch = 32')
text=('stream text' 'batch = 16' 'length = 128')
{ cat base.conf; part "${pairs[@]}"; part 'objective tlm' 'plugin = mlm' 'stream = pairs'; } >tlm.conf
{ cat tlm.conf; part 'objective dwa' 'stream = pairs' 'label_layer = 10'; } >dwa.conf
{ cat base.conf; part "${pairs[@]}" 'mask = 0.3'; part 'objective mlm' 'stream = pairs'; } >masked.conf
{ cat base.conf; part "${pairs[@]}" 'mask = 0.3' 'alignments = alignment.h5'; part 'objective weam' 'stream = pairs'; } >weam.conf
{ cat base.conf; part "${pairs[@]}" 'shuffle_sides = true'; part 'objective moco' 'stream = pairs'; } >moco.conf
{ cat base.conf; part "${pairs[@]}"; part 'objective query' 'plugin = ./first-side.so' 'stream = pairs'; } >query.conf
{ cat base.conf; part "${text[@]}"; part 'objective mlm' 'stream = text'; } >mlm.conf
{ cat mlm.conf; part 'objective sop' 'stream = text'; } >sop.conf
for unit in word span ngram; do
    { cat base.conf; part "${text[@]}" "mask_unit = $unit"; part 'objective mlm' 'stream = text'; } >"$unit.conf"
done
translation=(-e 's/^layers.*/layers = 6\ndecoder_layers = 6\nlanguage_embeddings = true/' -e 's/^hidden_size.*/hidden_size = 512/'
    -e 's/^attention_heads.*/attention_heads = 8/')
sed "${translation[@]}" base.conf >translation.conf
{ cat translation.conf; part "${pairs[@]}"; part 'objective nmt' 'plugin = seq2seq' 'stream = pairs'; } >nmt.conf
{ cat translation.conf; part 'stream text' 'batch = 32' 'length = 128' 'join_sentences = false' 'mask = 0'
    part 'objective back' 'plugin = back-translation' 'stream = text' 'source_languages = aa,bb'; } >back.conf
{ cat mlm.conf; part 'objective gc' 'stream = text' 'cooccurrence = cooccurrence.h5'; } >gc.conf

section "seconds of a step, 12 layers of 768, one thread"
compare "tlm + dwa beside tlm" dwa tlm "<= 1.45"
compare "weam beside mlm, on pairs" weam masked "<= 1.1"
compare "moco beside its queries alone" moco query "<= 1.4"
compare "mlm + gc beside mlm" gc mlm "<= 1.05"
compare "mlm + sop beside mlm" sop mlm "<= 1.05"
for unit in word span ngram; do
    compare "masks of ${unit}s beside tokens" "$unit" mlm "<= 1.01"
done
compare "back-translation beside seq2seq" back nmt "<= 2.5"
