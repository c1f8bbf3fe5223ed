#!/usr/bin/env bash
# xlm-mpi: objectives that learn from a bilingual dictionary: align and dict-mlm. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
micro_batches 8 # a check of gradients that is not lost in rounding
tr ' ' '\n' <text.en | sort -u | grep -v '^\.$' | sed 'h; s/[aeiou]/y&/g; H; x; s/\n/ /' >words.txt
# A text translated word by word, and its links: the jobs learn from the dictionary that they make.
awk '{ for (i = 0; i < NF; i++) printf "%s%d-%d", (i ? " " : ""), i, i; print "" }' text.en >links.txt
sed 's/[aeiou]/y&/g' text.en >vowels.xx
logged links.log ranks 2 xlm_align dictionary text.en vowels.xx links.txt -o linked.txt
grep -v '^\.' linked.txt | tr '\t' ' ' | cmp - <(LC_ALL=C sort words.txt) || fail "from links: $(head -n 4 linked.txt)"
xlm_dict corpus.h5 --source en --target xx --text linked.txt --subwords first -o dict.h5 2>dict.log || fail "$(cat dict.log)"
sed 's/^hidden_size = 32/hidden_size = 16/' job.conf >xlm.conf

# ---- align ----
sed '/^\[stream pairs/,/^$/d; /^\[objective tlm/,$d; s/^language_embeddings.*/language_embeddings = false/' xlm.conf >align.conf
cat >>align.conf <<'JOB'
[objective align]
dictionary = dict.h5
weight = 10
JOB
trained align.conf align-1 1 --set train.checkpoint_every=60
trained align.conf align-2 2 --set train.checkpoint_every=60
same_bits align-1 align-2
resumes align.conf align-2 4
! grep -q 'warning' align-1.log || fail "a warning: $(grep warning align-1.log)"
# The mean cosine rises from about 0 to nearly 1: its loss is the negative. All pairs are in every step.
[ "$(values align-1 train align loss | wc -l)" -eq 100 ] && is_between -0.3 "$(value align-1 1 train align loss)" 0.3 &&
    is_between -1 "$(value align-1 100 train align loss)" -0.9 ||
    fail "the mean cosine does not rise: $(values align-1 train align loss | sed -n '1p;$p')"
pairs=$(pairs_of /dictionary/pairs dict.h5 | wc -l)
[ "$(values align-1 train align terms | cut -d' ' -f2 | sort -u)" = "$pairs" ] ||
    fail "not $pairs terms a step: $(values align-1 train align terms | head -n 2)"
# A step dump has the dictionary, and what the objective was given.
logged dump.log xlm_train align.conf --set train.output=align-1 --dump-step step.h5
cmp <(pairs_of /dictionaries/0 step.h5) <(pairs_of /dictionary/pairs dict.h5) || fail "the dictionary of the step is another"
h5dump -a /objectives/align/loss/options step.h5 | grep -q 'dictionary = dict.h5' || fail "no options of align in the step"
# The gradients of the trained model are those of the losses.
checked() { # CONF DIR OBJECTIVE
    xlm_train "$1" --set "train.output=$2" "--check-gradients=$3" --set "stream text.length=24" >"$2.txt" 2>"$2.check.log" ||
        fail "gradients: $(grep WRONG "$2.txt"; tail -n 1 "$2.check.log")"
    awk -v objective="$3" '/^objective / { now = $2 } /^embeddings.word.weight / && now == objective {
        found = $5 + $6 > $7 && $8 < 4e-3 } END { exit !found }' "$2.txt" || fail "no gradients of $3 in $2.txt: $(cat "$2.txt")"
}
checked align.conf align-1 align
# Without it the first update is another one: the second step's loss of mlm.
sed '/^\[objective align/,$d' align.conf >mlm.conf
trained mlm.conf plain 1 --set train.steps=2
[ "$(value plain 1 train mlm loss)" = "$(value align-1 1 train mlm loss)" ] &&
    [ "$(value plain 2 train mlm loss)" != "$(value align-1 2 train mlm loss)" ] || fail "align changes nothing, or too much"
# With language embeddings it warns, and goes on.
trained align.conf warned 2 --set model.language_embeddings=true --set train.steps=1
[ "$(grep -c 'warning: \[objective align\]: the model has language embeddings' warned.log)" -eq 1 ] ||
    fail "no warning, or not one: $(cat warned.log)"

# ---- dict-mlm, both forms, and on pairs ----
sed '/^\[stream pairs/,/^$/d; /^\[objective/,$d; s/^\[stream text\]/&\ndictionary = dict.h5/' xlm.conf >base.conf
printf '[objective dict]\nplugin = dict-mlm\nstream = text\n' >>base.conf
sed 's/^\[stream text\]/&\nswitching = 0.5/' base.conf >original.conf
{ cat base.conf; echo 'predict = translation'; } >translation.conf
sed 's/^\[stream text\]/&\ntype = parallel\nlanguages = en-xx/' original.conf >pairs.conf
for form in original translation; do
    trained $form.conf $form-1 1 --set train.checkpoint_every=60
    trained $form.conf $form-2 2 --set train.checkpoint_every=60
    same_bits $form-1 $form-2
    resumes $form.conf $form-2 4
    checked $form.conf $form-1 dict
    # It learns; chance is log 120 or so. Held-out text is evaluated by the language that it is of.
    is_between 0 "$(value $form-1 100 held_out dict loss all)" 4 && [ -n "$(value $form-1 100 held_out dict loss en)" ] &&
        [ -n "$(value $form-1 100 held_out dict loss xx)" ] ||
        fail "$form: held-out losses after 100 steps: $(grep held_out $form-1/metrics.csv)"
done
# Tokens count for the language that they are of, switched or not: as many in both forms, which mask the same.
for language in en xx; do
    cmp <(values original-1 held_out dict terms $language) <(values translation-1 held_out dict terms $language) ||
        fail "terms of $language: $(grep held_out original-1/metrics.csv)"
done
for n in 1 2 4; do trained pairs.conf pairs-$n $n --set train.steps=20; done
same_bits pairs-1 pairs-2
same_bits pairs-1 pairs-4
logged dump.log ranks 2 xlm_train original.conf --set train.output=original-1 --dump-step switched.h5
cmp <(pairs_of /streams/text/dictionary switched.h5) <(pairs_of /dictionary/pairs dict.h5) ||
    fail "the stream's dictionary is another"
switched=$(cmp -l <(numbers /streams/text/batch/languages switched.h5) <(numbers /streams/text/batch/text_languages switched.h5) |
    wc -l)
[ "$switched" -gt 0 ] && [ $((2 * switched)) -lt "$(numbers /streams/text/batch/languages switched.h5 | wc -l)" ] ||
    fail "switched tokens do not show in the step: $switched"
differ original-1/latest translation-1/latest || fail "both forms are the same"

# A step laid open: only masked positions are switched, with their languages, to the translations that the file gives.
in_batch() { numbers "/streams/text/batch/$1" $form.h5; }
for form in original translation pairs; do
    logged dump.log ranks 2 xlm_train $form.conf --set train.output=none --set 'stream text.batch=100' \
        --set 'stream text.mask=0.5' --dump-step $form.h5
    paste -d ' ' <(in_batch masked_positions) <(in_batch targets) >masked.txt
    paste -d ' ' <(in_batch ids) <(in_batch original) <(in_batch languages) <(in_batch text_languages) <(in_batch translations) \
        <(in_batch translation_languages) >tokens.txt
    pairs_of /dictionary/pairs dict.h5 >pairs.txt
    awk -v form=$form '
        FILENAME == "pairs.txt" { pair[0, $1, $2]; pair[1, $2, $1]; known[0, $1]; known[1, $2]; next }
        FILENAME == "masked.txt" { target[$1] = $2; next }
        {
            row = n++; text = $4; translation = $5; of[text]++
            has = (text SUBSEP $2) in known
            if (has != (translation >= 0) || has && !((text SUBSEP $2 SUBSEP translation) in pair)) bad = bad " translation:" row
            if ($6 != (has ? 1 - text : -1)) bad = bad " language:" row
            if (!(row in target)) { if ($1 != $2 || $3 != text) bad = bad " unmasked:" row; next }
            if (target[row] != $2) bad = bad " target:" row
            if ($3 != text) { switched++; to[text]++; if ($3 != 1 - text || $1 != translation) bad = bad " switched:" row }
            with += has; masked++
        }
        END {
            share = switched / with
            if (form == "translation" ? switched > 0 : share < 0.4 || share > 0.6 || !to[0] || !to[1]) bad = bad " share:" share
            if (form == "pairs" && (of[0] < 0.4 * n || of[1] < 0.4 * n)) bad = bad " sides"
            print masked, with, switched + 0, bad; exit bad != ""
        }' pairs.txt masked.txt tokens.txt >dump.txt || fail "$form: $(cat dump.txt)"
done

# ---- wrong input ----
train() { ranks 2 xlm_train "$@" --set train.output=wrong; }
wrong() { expect "$@"; [ ! -e wrong ] || fail "something was written"; }
wrong 78 '\[objective align\]: missing.h5: ' train align.conf --set 'objective align.dictionary=missing.h5'
wrong 78 '\[objective align\]: corpus.h5: not a dictionary of xlm_dict' train align.conf \
    --set 'objective align.dictionary=corpus.h5'
wrong 78 'reads no stream; leave stream out' train align.conf --set 'objective align.stream=text'
sed '/^dictionary/d' align.conf >none.conf
wrong 78 'key "dictionary" is missing' train none.conf
wrong 78 '\[objective dict\]: \[stream text\] has no dictionary' train translation.conf --set 'stream text.dictionary='
wrong 78 'switching needs a dictionary' train original.conf --set 'stream text.dictionary='
wrong 78 'predict = original without switching is mlm; set switching = 0.5' train original.conf --set 'stream text.switching=0'
wrong 78 'predict = translation, but \[stream text\] puts translations into the input' train translation.conf \
    --set 'stream text.switching=0.3'
wrong 64 'switching = 1.5: must be a number from 0 to 1' train original.conf --set 'stream text.switching=1.5'
wrong 64 'predict = both' train original.conf --set 'objective dict.predict=both'
wrong 66 '\[stream text\]: missing.h5' train original.conf --set 'stream text.dictionary=missing.h5'
wrong 65 '\[stream text\]: corpus.h5: not a dictionary' train original.conf --set 'stream text.dictionary=corpus.h5'
xlm_prep --mono en=text.en --mono xx=text.xx --words space --bpe 100 -o other.h5 >prep.log 2>&1 || fail "$(cat prep.log)"
xlm_dict other.h5 --source en --target xx --text words.txt --subwords first -o other-dict.h5 2>dict.log || fail "$(cat dict.log)"
wrong 78 'other-dict.h5: made for a corpus with other subwords or languages' train align.conf \
    --set 'objective align.dictionary=other-dict.h5'
wrong 65 '\[stream text\]: other-dict.h5: made for a corpus with other' train original.conf \
    --set 'stream text.dictionary=other-dict.h5'
finish
