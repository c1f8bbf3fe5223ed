#!/usr/bin/env bash
# xlm-mpi: a new run from the model of another one. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
trained job.conf base 2 --set train.steps=30

# The keys of [model] are the checkpoint's.
sed '/^layers/,/^language_embeddings/d; s/^steps = .*/steps = 10\nstart = base\/latest/; s/^warmup = .*/warmup = 2/' job.conf \
    >start.conf
# held_out DIR STEP: the rows of an evaluation.
held_out() { awk -F, -v OFS=, -v step="$2" '$2 == "held_out" && $1 == step { $1 = ""; $12 = ""; print }' "$1/metrics.csv"; }
# begins DIR FROM STEP: before its first step, run DIR predicts held-out text as the model of FROM did at STEP.
begins() {
    [ -n "$(held_out "$1" 0)" ] && cmp <(held_out "$1" 0) <(held_out "$2" "$3") ||
        fail "$1 does not begin where $2 ended: $(held_out "$1" 0) instead of $(held_out "$2" "$3")"
}

# ---- the same vocabulary ----
for n in 1 2 4; do
    trained start.conf start-$n $n
    begins start-$n base 30
    same_bits start-1 start-$n
done
grep -q '^started from the model of base/latest, step 30: \([0-9]*\) of \1 parameters taken' start-1.log ||
    fail "what was taken: $(grep -A3 'started from' start-1.log)"
grep -q 'drawn\|left:' start-1.log && fail "nothing was drawn or left: $(grep 'drawn\|left:' start-1.log)"
[ "$(attribute /start/path start-4/latest)" = '"base/latest"' ] && [ "$(attribute /start/step start-4/latest)" = 30 ] &&
    [ "$(attribute /start/sha256 start-4/latest)" = "\"$(sha256sum <base/latest | cut -d' ' -f1)\"" ] ||
    fail "provenance: $(h5dump -g /start start-4/latest)"
h5ls base/latest | grep -q '^start' && fail "a run that drew its parameters says that it started from a model"
for key in layers hidden_size attention_heads positions language_embeddings; do
    [ "$(attribute /model/$key start-1/latest)" = "$(attribute /model/$key base/latest)" ] || fail "$key is not the checkpoint's"
done
# Moments are zero and the seed is the job's: the first update is another one than the next of base.
trained start.conf seed 1 --set train.seed=2 --set train.steps=1
cmp -s <(losses start-1 | head -n 1) <(losses seed) && fail "the seed of the new run changes nothing"
# Settings that may differ; and its own objectives.
trained start.conf other 1 --set train.steps=2 --set model.dropout=0 --set model.vocabulary_chunk=7 --set 'objective tlm.weight=2'
begins other base 30
trained start.conf types 1 --set train.steps=1 --set model.token_types=true
grep -q 'drawn: embeddings/token_type/weight' types.log || fail "what was drawn: $(grep -A3 'started from' types.log)"

# ---- a run that resumes takes nothing from it, and needs it no more ----
trained start.conf half 2 --set train.checkpoint_every=5
same_bits start-1 half
rm "half/$(checkpoint 10)"
mv base gone
trained start.conf half 1
grep -q 'resumed from .* at step 5' half.log || fail "did not resume: $(head -n 9 half.log)"
same_bits start-1 half
[ "$(h5dump -g /start half/latest | sed 1d)" = "$(h5dump -g /start start-1/latest | sed 1d)" ] || fail "/start after resuming"
expect 66 'base/latest' xlm_train start.conf --resume never --set train.output=half
expect 66 'start.conf:[0-9]*: \[train\]: base/latest: ' xlm_train start.conf --set train.output=new
once 'base/latest'
mv gone base

# ---- a run that resumes says so if the file that it began with is another one now ----
# warned PATTERN STEPS: a run that resumes on 2 ranks warns once.
warned() {
    trained start.conf begun 2 --set train.start=replaced.h5 --set "train.steps=$2"
    [ "$(grep -c "warning: replaced.h5: $1" begun.log)" -eq 1 ] || fail "no warning, $1: $(head -n 12 begun.log)"
}
cp base/latest replaced.h5
trained start.conf begun 1 --set train.start=replaced.h5 --set train.steps=3
trained start.conf begun 1 --set train.start=replaced.h5 --set train.steps=3
grep -q 'nothing to do' begun.log && ! grep -q 'replaced.h5: is' begun.log || fail "the same file: $(cat begun.log)"
trained job.conf reseeded 1 --set train.steps=30 --set train.seed=2
cp reseeded/latest replaced.h5
warned 'is another model than the one that the run in begun began with, although both are of step 30;' 3
cp start-1/latest replaced.h5
warned 'is of step 10, and the run in begun began with a model of step 30;' 3
warned 'is of step 10, and the run in begun began with a model of step 30;' 4

# ---- more subwords and languages ----
sed 's/y/ж/g' text.xx >text.yy
logged like.log xlm_prep --like base/latest --mono en=text.en --mono xx=text.xx --mono yy=text.yy --para en-xx=text.en,text.xx \
    --held-out 0.1 --add-subwords 25 -o more.h5
more=(--set train.corpus=more.h5 --set train.steps=4 --set train.checkpoint_every=2)
for n in 1 2 4; do
    trained start.conf more-$n $n "${more[@]}" --set train.start_rows=average
    same_bits more-1 more-$n
done
rm "more-4/$(checkpoint 4)"
trained start.conf more-4 1 "${more[@]}" --set train.start_rows=average
same_bits more-1 more-4
trained start.conf drawn 1 "${more[@]}" --set train.learning_rate=0
trained start.conf mean 1 "${more[@]}" --set train.learning_rate=0 --set train.start_rows=average \
    --set model.decoder_layers=1 --set model.share_embeddings=false
old=$(strings /vocabulary/words corpus.h5 | wc -l) all=$(strings /vocabulary/words more.h5 | wc -l)
[ "$all" -gt "$old" ] || fail "no subwords were added: $(cat like.log)"
grep -q "rows of subwords: $old taken, 0 new as means of others, $((all - old)) new as drawn; 0 left" drawn.log &&
    grep -q 'rows of languages: 2 taken, 0 new as means of others, 1 new as drawn' drawn.log ||
    fail "rows: $(grep -A3 'started from' drawn.log)"
grep -q "rows of subwords: $old taken, [1-9][0-9]* new as means of others, [1-9][0-9]* new as drawn; 0 left" mean.log &&
    grep -q 'rows of languages: 2 taken, 1 new as means of others, 0 new as drawn' mean.log ||
    fail "rows: $(grep -A3 'started from' mean.log)"
! grep -q 'warning: .*stay as drawn' drawn.log || fail "rows that learn: $(grep drawn drawn.log)"
# What is drawn and frozen is warned of: rows, and whole parameters.
trained start.conf frozen 1 "${more[@]}" --set train.steps=1 --set train.freeze=embeddings --set model.token_types=true
grep -q 'warning: drawn, and frozen .* stay as drawn: embeddings/token_type/weight$' frozen.log &&
    grep -q 'warning: new rows are drawn, .*: those of embeddings/word/weight, embeddings/language/weight;' frozen.log ||
    fail "no warning of frozen rows: $(grep drawn frozen.log)"
trained start.conf same-frozen 1 --set train.steps=1 --set train.freeze=embeddings
! grep -q 'warning: .*stay as drawn' same-frozen.log || fail "nothing is drawn: $(grep drawn same-frozen.log)"
# array RUN PARAMETER COUNT: its first numbers, a line each.
array() {
    h5dump -y -w 1 -d "/model/$2" "$1/latest" | sed -n '/DATA/,/}/s/^ *\([-0-9][-0-9.e+]*\),\{0,1\}$/\1/p' | head -n "$3"
}
for run in drawn mean; do
    for parameter in embeddings/word/weight lm_head/bias embeddings/language/weight; do
        case $parameter in *word*) n=$((old * 32)) ;; *bias) n=$old ;; *) n=64 ;; esac
        [ "$(array base $parameter $n | wc -l)" -eq $n ] && cmp <(array base $parameter $n) <(array $run $parameter $n) ||
            fail "$run: rows of $parameter are not the checkpoint's"
    done
    array $run embeddings/language/weight 96 | awk -v run=$run '
        { x[NR] = $1 }
        END {
            for (i = 1; i <= 32; i++) {
                d = x[i + 64] - (x[i] + x[i + 32]) / 2
                off += d * d > 1e-12
                sum += x[i + 64] ^ 2
            }
            exit run == "mean" ? off > 0 : off < 30 || sum < 32 * 0.01 ^ 2 || sum > 32 * 0.04 ^ 2
        }' || fail "$run: the row of the new language: $(array $run embeddings/language/weight 96 | tr '\n' ' ')"
done

# A decoder's own rows begin as the encoder's; only those that are drawn are drawn again.
for parameter in embeddings/word/weight=32 embeddings/language/weight=32 lm_head/bias=1; do
    paste <(numbers /model/decoder/${parameter%=*} mean/latest) <(numbers /model/${parameter%=*} mean/latest) |
        awk -v width=${parameter#*=} -v old="$old" -v parameter=$parameter '
            $1 != $2 { differs[int((NR - 1) / width)] = 1 }
            END {
                for (i in differs) { n++; bad = bad || i < old }
                exit bad || (parameter ~ /word/ ? n < 1 || n >= NR / width - old : n > 0)
            }' ||
        fail "the decoder's own ${parameter%=*} does not begin as the encoder's, with its new rows"
done

# ---- errors, before anything is written ----
expect 78 'start.conf:[0-9]*: .*hidden_size = 64, but the model of base/latest.* has 32\|--set model.hidden_size.*has 32' \
    xlm_train start.conf --set model.hidden_size=64 --set train.output=new
once 'hidden_size'
expect 78 'positions = 200, but .*96' xlm_train start.conf --set model.positions=200 --set train.output=new
expect 78 'language_embeddings = false' xlm_train start.conf --set model.language_embeddings=false --set train.output=new
expect 78 'output directory of this run' xlm_train start.conf --set train.output=base
expect 78 'start_rows = average is for' xlm_train job.conf --set train.start_rows=average --set train.output=new
expect 65 'corpus.h5' xlm_train start.conf --set train.start=corpus.h5 --set train.output=new
cp base/latest damaged.h5
printf 'damage' | dd of=damaged.h5 bs=1 seek=$(($(stat -c %s damaged.h5) / 4)) conv=notrunc 2>/dev/null
expect 65 'damaged.h5' ranks 2 xlm_train start.conf --set train.start=damaged.h5 --set train.output=new
once 'damaged.h5'
xlm_prep --mono en=text.en --words space --bpe 60 -o others.h5 >prep.log 2>&1 || fail "xlm_prep: $(tail -n 1 prep.log)"
for option in '' --dry-run; do
    # shellcheck disable=SC2086 # no option, or one
    expect 65 'base/latest: its vocabulary is not that of others.h5: .*xlm_prep --like base/latest' xlm_train start.conf \
        --set train.corpus=others.h5 --set 'stream pairs.type=monolingual' --set train.output=new $option
    once 'others.h5'
done
[ ! -e new ] || [ -z "$(ls -A new)" ] || fail "left in new: $(ls -A new)"
finish
