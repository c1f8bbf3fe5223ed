#!/usr/bin/env bash
# xlm-mpi: noise, of a stream and of a stage from outside: other rows are encoded than were read.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

build_plugin muffle
build_plugin distil
build_plugin echo
{ eight_steps 4 -e '/^.stream pairs/,$d'; printf '[objective mlm]\nstream = text\n'; } >plain.conf
sed 's/^.stream text.$/&\nnoise_shuffle = 3\nnoise_drop = 0.2\nnoise_blank = 0.1/' plain.conf >noisy.conf
{ cat noisy.conf; printf '\n[stage muffle]\nplugin = ./muffle.so\nstream = text\n'; } >muffled.conf
# And an objective that reads the original text.
{ cat muffled.conf; printf '\n[objective echo]\nplugin = ./echo.so\nstream = text\nhow = reverse\n'; } >both.conf
reproduced both.conf out 4
shallow=(--set model.layers=1 --set model.attention_heads=2 --set train.micro_batches=8 --set train.output=shallow)
logged shallow.log xlm_train both.conf "${shallow[@]}"
right_gradients both.conf "${shallow[@]}"
is_between 0 "$(value out-1 8 held_out mlm loss all)" 100 || fail "not evaluated: $(grep held_out out-1/metrics.csv)"
trained plain.conf plain 1
other_text <(values plain train mlm loss) <(values out-1 train mlm loss) || fail "noise changes nothing"

# ---- what is read ----
dump() { # NAME RANKS CONF [OPTION...]
    local name=$1 n=$2
    shift 2
    logged "$name.log" ranks "$n" xlm_train "$@" --dump-step "$name.h5" --set "train.output=$name" --set 'stream text.batch=128'
}
unmasked=(--set 'stream text.mask=0')
{ sed '/^.objective/,$d' noisy.conf; printf '\n[objective echo]\nplugin = ./echo.so\nstream = text\n'; } >quiet.conf
dump noisy 1 quiet.conf "${unmasked[@]}"
dump noisy-2 2 quiet.conf "${unmasked[@]}"
same_objects noisy.h5 noisy-2.h5 >diff.log 2>&1 || fail "dumps of 1 and 2 ranks differ: $(tail -n 3 diff.log)"
none=(--set 'stream text.noise_drop=0' --set 'stream text.noise_shuffle=0' --set 'stream text.noise_blank=0')
dump clean 1 quiet.conf "${unmasked[@]}" "${none[@]}"
dump moved 1 quiet.conf "${unmasked[@]}" --set 'stream text.noise_drop=0' --set 'stream text.noise_blank=0'
dump fewer 1 quiet.conf "${unmasked[@]}" --set 'stream text.noise_shuffle=0' --set 'stream text.noise_blank=0'
dump blank 1 quiet.conf "${unmasked[@]}" --set 'stream text.noise_shuffle=0' --set 'stream text.noise_drop=0'
numbers_of() { numbers "/streams/text/batch/$2" "$1.h5"; }
for name in noisy moved fewer blank; do
    cmp <(numbers_of $name original_text/ids) <(numbers_of clean original) && cmp <(numbers_of $name original_text/offsets) \
        <(numbers_of clean offsets) || fail "$name: the original text is another than without noise"
done
h5ls clean.h5/streams/text/batch | grep -q original_text && fail "without noise there is a text apart"
# words NAME FOLDER: the ids of its sentences, without <s> and </s>, a sentence a line
words() { numbers_of "$1" "$2" | awk '$1 == 0 { next } $1 == 2 { print line; line = ""; next } { line = line $1 " " }'; }
words clean original >clean.txt
for name in noisy moved fewer blank; do words $name ids >$name.txt; done
paste -d '\t' clean.txt moved.txt | awk -F '\t' '
    { n = split($1, a, " "); m = split($2, b, " "); if (n != m) bad = 1
      delete used
      for (i = 1; i <= m; i++) {   # each has come from fewer than three places away
          for (k = i - 2; k <= i + 2; k++) if (k >= 1 && k <= n && a[k] == b[i] && !(k in used)) { used[k]; break }
          if (k > i + 2) bad = 1
          moved += a[i] != b[i]; all++
      } }
    END { exit bad || moved < all / 5 }' || fail "shuffled wrongly: $(paste clean.txt moved.txt | head -n 2)"
paste -d '\t' clean.txt fewer.txt | awk -F '\t' '
    { n = split($1, a, " "); m = split($2, b, " "); if (m < 1) bad = 1
      for (i = k = 1; i <= n; i++) if (k <= m && a[i] == b[k]) k++
      if (k <= m) bad = 1
      all += n; left += m }
    END { exit bad || left / all < 0.77 || left / all > 0.83 }' || fail "left out wrongly: $(paste clean.txt fewer.txt | head -n 2)"
paste -d '\t' clean.txt blank.txt | awk -F '\t' '
    { n = split($1, a, " "); m = split($2, b, " "); if (n != m) bad = 1
      for (i = 1; i <= n; i++) { all++; if (b[i] == 4) blanks++; else if (a[i] != b[i]) bad = 1 } }
    END { exit bad || blanks / all < 0.07 || blanks / all > 0.13 }' || fail "blanked wrongly: $(paste clean.txt blank.txt | head -n 2)"
# Something is left of each sentence; a plugin stage halves about half of the sentences.
dump gone 1 quiet.conf "${unmasked[@]}" --set 'stream text.noise_drop=1'
words gone ids | awk 'NF != 1 { bad = 1 } END { exit bad || NR < 128 }' || fail "not one token is left of each sentence"
{ sed '/^noise/d' quiet.conf; printf '\n[stage muffle]\nplugin = ./muffle.so\nstream = text\n'; } >halves.conf
dump halves 1 halves.conf "${unmasked[@]}"
words halves ids >halves.txt
paste -d '\t' clean.txt halves.txt | awk -F '\t' '
    { n = split($1, a, " "); m = split($2, b, " "); half += m == int((n + 1) / 2) && m < n
      if (index($1, $2) != 1 || (m != n && m != int((n + 1) / 2))) bad = 1 }
    END { exit bad || half < NR / 3 || half > 2 * NR / 3 }' || fail "halved wrongly: $(paste clean.txt halves.txt | head -n 2)"
# Masks are on the text that is left, and its targets are its tokens.
dump masked 1 noisy.conf
paste <(numbers_of masked masked_positions) <(numbers_of masked targets) >targets
numbers_of masked original | awk 'NR == FNR { target[$1] = $2; n++; next } FNR - 1 in target && target[FNR - 1] != $1 { bad = 1 }
    END { exit bad || n < 100 }' targets - || fail "targets are of other rows"

# What a pass takes is estimated with the share of the tokens that noise keeps.
memory=(--set train.steps=3 --set train.micro_batches=1 --set 'stream text.batch=64' --set train.evaluate_every=0)
for keep in 0.1 0.5; do
    trained noisy.conf "memory-$keep" 1 "${memory[@]}" --set "stream text.noise_drop=$keep"
    estimated "memory-$keep.log" 0.1
done
# An annotation of a stage cannot take the place of the original text in a dump.
build_plugin named muffle 's/\.state_size =/.annotations = (const xlm_stage_annotation[]){{"original_text", XLM_AXIS_SEQUENCES}, {NULL, XLM_AXIS_SEQUENCES}}, &/'
expect 78 'an annotation cannot be named "original_text"' xlm_train muffled.conf --set 'stage muffle.plugin=./named.so' --set train.output=none

# ---- refused by name ----
{ cat noisy.conf; printf '\n[objective distil]\nplugin = ./distil.so\nstream = text\n'; } >distil.conf
job_refused 'objective distil.: it reads predicted rows of the original text, and .stream text. has noise' distil.conf
small_resources
eight_steps 4 >pairs.conf
{ cat pairs.conf; printf '\n[objective dwa]\nplugin = dwa\nstream = pairs\n'; } >dwa.conf
job_refused 'objective dwa.: its labels are of the original text, and .stream pairs. has noise' dwa.conf --set 'stream pairs.noise_drop=0.1'
job_refused 'stream pairs.: alignments name tokens that noise moves' pairs.conf --set 'stream pairs.noise_drop=0.1' \
    --set 'stream pairs.alignments=alignment.h5'
plugin_dies 'stage muffle: noise must leave 1 to ' muffle 's/noise->tokens = .*/noise->tokens = 0;/' 'stage muffle' muffled.conf
plugin_dies 'stage muffle: noise must leave 1 to ' muffle 's/noise->tokens = .*/noise->tokens += 1;/' 'stage muffle' muffled.conf
plugin_dies 'stage muffle: noise must leave 1 to ' muffle 's/noise->tokens = .*/noise->ids[0] = -1;/' 'stage muffle' muffled.conf
finish
