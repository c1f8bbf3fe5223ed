#!/usr/bin/env bash
# xlm-mpi: masked sequence to sequence pre-training, as a user trains it. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
# Among the sentences are some of fewer than five tokens.
printf 'the %s sees .\n' house river teacher garden window student book >>text.en
sed 's/[aeiou]/y&/g' text.en | tail -n 7 >>text.xx
small_corpus
logged cooc.log xlm_cooc corpus.h5 -o cooc.h5

# top [SED OPTION...]: [model] and [train]; then the stream and objectives.
top() { eight_steps 4 -e '/^.stream text/,$d' -e 's/^layers = .*/&\ndecoder_layers = 3/' "$@"; }
text() { printf '[stream text]\nbatch = 8\nlength = 32\njoin_sentences = false\nmask_unit = fragment\nmask = 0.5\n'; }
objective() { printf '[objective %s]\nstream = text\n' "$1"; }
# Beside mlm, with embeddings and a head of the decoder's own.
{ top | sed 's/^decoder_layers = .*/&\nshare_embeddings = false/'
  text; objective mass; objective mlm; objective gc; printf 'cooccurrence = cooc.h5\n'; } >all.conf
{ top; text; objective mass; } >mass.conf

# ---- the same bits on any number of ranks, resumed, recomputed; beside mlm and gc, and alone; evaluated; estimated ----
reproduced all.conf out 4
reproduced mass.conf alone 4
for name in out alone; do
    is_between 1 "$(value $name-1 8 held_out mass loss all)" 6 || fail "not evaluated: $(grep held_out $name-1/metrics.csv)"
done
for part in embeddings/word/weight embeddings/position/weight embeddings/language/weight lm_head/dense/weight lm_head/bias; do
    other_text <(numbers /model/$part out-1/latest) <(numbers /model/decoder/$part out-1/latest) ||
        fail "both stacks have the same $part"
    [ "$(numbers /model/decoder/$part out-1/latest | sort -u | wc -l)" -gt 9 ] || fail "the decoder's $part does not learn"
done
is_between 0 "$(value out-1 8 train gc loss)" 100 || fail "no gc: $(tail -n 5 out-1/metrics.csv)"
trained all.conf recomputed 1 --set train.recompute=true
same_bits out-1 recomputed
XLM_BF16_EMULATE=1 trained all.conf rounded 1 --set train.precision=bfloat16
agree out-1 rounded 0.02
# Of a model of some steps: of a fresh one three times as many gradients are lost in rounding.
shallow=(--set train.output=shallow --set model.layers=1 --set model.decoder_layers=2 --set model.attention_heads=2
    --set train.micro_batches=8 --set train.steps=20 --set train.learning_rate=2e-2 --set train.evaluate_every=0)
logged shallow.log xlm_train all.conf "${shallow[@]}"
checked=mass right_gradients all.conf "${shallow[@]}"
grep -q '^decoder/layer.1/memory_attention/key/weight' check.txt && grep -q '^decoder/lm_head/bias' check.txt ||
    fail "the decoder's gradients were not checked: $(cat check.txt)"
large=(--set train.steps=3 --set train.micro_batches=1 --set 'stream text.batch=64')
for more in '' '--set train.recompute=true' '--set model.hidden_size=64 --set model.share_embeddings=false'; do
    # shellcheck disable=SC2086 # options are words
    trained mass.conf memory 1 "${large[@]}" $more --resume never
    estimated memory.log 0.1
done

# ---- a step: which tokens are predicted, from what ----
# follows NAME SPAN, below: whether the decoder reads what is before the predicted tokens, and whether these are fragments.
dumped() { # NAME RANKS [OPTION...]
    logged "$1.log" ranks "$2" xlm_train all.conf --dump-step "$1.h5" --set "train.output=$1" --set 'stream text.batch=128' "${@:3}"
}
of_batch() { numbers "/streams/text/batch/$1" "$2.h5"; }
of_text() { numbers "/objectives/mass/made_text/$1" "$2.h5"; }
columns() { # NAME: rows of the text: number, original, position, language; then rows of the decoder's text
    paste -d ' ' <(of_batch original "$1") <(of_batch positions "$1") <(of_batch text_languages "$1") | sed 's/^/text /'
    of_batch offsets "$1" | sed 's/^/end /'
    of_batch masked_positions "$1" | sed 's/^/predicted /'
    of_text offsets "$1" | sed 's/^/made_end /'
    paste -d ' ' <(of_text ids "$1") <(of_text positions "$1") <(of_text languages "$1") | sed 's/^/made /'
}
follows() { # NAME SPAN: prints "sentences, short ones, tokens predicted, spans"
    columns "$1" | awk -v span="$2" '
        $1 == "text" { id[rows] = $2; position[rows] = $3; language[rows++] = $4 }
        $1 == "end" { end[ends++] = $2 }
        $1 == "predicted" { chosen[$2] = 1 }
        $1 == "made_end" { made_end[made_ends++] = $2 }
        $1 == "made" { made[n] = $2 " " $3 " " $4; n++ }
        function check(r) { bad = bad || made[at] != id[r] " " position[r] " " language[r]; at++ }
        END {
            for (s = 0; s + 1 < ends; s++) {
                words = m = runs = longest = 0
                for (r = end[s]; r < end[s + 1]; r++) {
                    words += id[r] > 4
                    if (!(r in chosen)) { run = 0; continue }
                    bad = bad || id[r] <= 4
                    m++
                    runs += run == 0
                    if (++run > longest) longest = run
                    check(r - 1)
                }
                # Half of an odd number goes to the even one.
                half = words / 2
                if (half != int(half)) half = int(half) % 2 ? int(half) + 1 : int(half)
                bad = bad || m != (words < 5 ? 0 : half) || (span == 0 && runs > 1) || (span == 1 && runs < 1 && m > 0)
                if (m == 0) { short++; check(end[s]) }
                bad = bad || at != made_end[s + 1]
                predicted += m
                all += runs
            }
            print ends - 1, short + 0, predicted, all
            exit bad || n != at || predicted < 100
        }'
}
dumped step-1 1
read -r sentences short predicted runs <<<"$(follows step-1 0 || echo wrong)"
[ "${predicted-}" -gt 100 ] && [ "$short" -gt 0 ] && [ "$runs" -eq $((sentences - short)) ] ||
    fail "not the fragments: $sentences sentences, ${short-} without, ${predicted-} tokens in ${runs-} spans"
[ "$(attribute /objectives/mass/loss/terms step-1.h5)" = "$predicted" ] || fail "terms: $(attribute /objectives/mass/loss/terms step-1.h5)"
for n in 2 4; do
    dumped step-$n $n
    same_objects step-1.h5 step-$n.h5 >diff.log 2>&1 || fail "dumps of 1 and $n ranks differ: $(tail -n 3 diff.log)"
done
dumped spans 1 --set 'stream text.span=1'
read -r sentences short predicted runs <<<"$(follows spans 1 || echo wrong)"
[ "${predicted-}" -gt 100 ] && [ "$runs" -gt $((2 * (sentences - short))) ] || fail "not separate tokens: $predicted in $runs spans"

# ---- it learns: what a fragment is follows from the rest of the sentence ----
awk 'BEGIN { for (i = 0; i < 600; i++) { w = i % 7; line = ""
    for (k = 0; k < 8; k++) line = line sprintf("%c%c ", 97 + w, 97 + (w + k) % 9); print line "." } }' >cycle.en
logged prep.log xlm_prep --mono en=cycle.en --words space --bpe 120 --held-out 0.1 -o cycle.h5
{ top | sed 's/^steps = .*/steps = 120/; s/^warmup = .*/warmup = 20/; s/^learning_rate = .*/learning_rate = 3e-3/
      s/^hidden_size = .*/hidden_size = 32/; s/^\(checkpoint_every\|evaluate_every\) = .*/\1 = 0/; s/^corpus = .*/corpus = cycle.h5/'
  text; objective mass; } >learn.conf
trained learn.conf learn 1 --set model.dropout=0 --set model.attention_dropout=0
is_between 0.9 "$(value learn 120 train mass/accuracy score)" 1 ||
    fail "it does not learn: $(values learn train mass/accuracy score | tail -n 3)"

# ---- refused by name ----
job_refused 'objective mass.: it needs a decoder, and the model has none; set decoder_layers' mass.conf --set model.decoder_layers=0
job_refused 'objective mass.: a sequence of .stream text. can hold several sentences; set join_sentences = false' mass.conf \
    --set 'stream text.join_sentences=true'
job_refused 'objective mass.: .stream text. masks no fragments; set mask = 0.5 and mask_unit = fragment' mass.conf \
    --set 'stream text.mask_unit=token'
job_refused 'objective mass.: .stream text. masks no fragments' mass.conf --set 'stream text.mask_unit=token' --set 'stream text.mask=0'
job_refused 'objective mass.: .stream text. has noise' mass.conf --set 'stream text.noise_drop=0.1'
job_refused 'objective mass.: .stream text. has pairs' mass.conf --set 'stream text.type=parallel' --set 'stream text.join_sentences=true'
job_refused 'stream text.: span cuts a fragment into spans; set mask_unit = fragment' mass.conf --set 'stream text.mask_unit=token' \
    --set 'stream text.span=3'
job_refused 'stream text.: mask_unit says which tokens are masked, and mask = 0 masks none' mass.conf --set 'stream text.mask=0'
job_refused 'stream text.: join_sentences is about monolingual text' mass.conf --set 'stream text.type=parallel'
job_refused 'objective mass.: the model has no head' mass.conf --set model.head=none
logged warned.log xlm_train mass.conf --dry-run --set train.output=none --set 'stream text.mask=0.15'
grep -q 'objective mass.: mask = 0.15 of .stream text. makes short fragments' warned.log || fail "no warning: $(cat warned.log)"
finish
