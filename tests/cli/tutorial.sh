#!/usr/bin/env bash
# xlm-mpi: the commands of docs/tutorial.md, in order, in an empty directory, exactly as in the page; and what the page says comes
# out.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
page=$XLM_SOURCE/docs/tutorial.md

[ "$(commands_of "$page" | grep -c '^mpiexec -n 2 ')" -ge 4 ] || fail "$page: its commands were not found"
pasted "$page" empty tutorial.log
cd empty || exit 99
log=$scratch/tutorial.log

# head shows the text that the page shows.
awk '/^```/ { inside = !inside && $0 == "```text"; next } inside' "$page" >"$scratch/shown"
head -n 2 pairs.en pairs.de | cmp - "$scratch/shown" || fail "the text is not the page's: $(head -n 2 pairs.en pairs.de)"

[ -n "$(pairs_of /dictionary/pairs en-de.h5)" ] && [ -n "$(pairs_of /dictionary/left_out en-de.h5)" ] ||
    fail "the dictionary has not two parts"

# held_out OBJECTIVE STEP: the loss of all languages together.
held_out() {
    awk -F, -v objective="$1" -v step="$2" '
        $1 == step && $2 == "held_out" && $3 == objective && $4 == "all" { print $6 }' run1/metrics.csv
}
# below A B: both are numbers and A < B.
below() { [ -n "$1" ] && [ -n "$2" ] && awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 < b + 0) }'; }
for objective in mlm tlm; do
    below "$(held_out $objective 400)" "$(held_out $objective 0)" &&
        below "$(held_out $objective 600)" "$(held_out $objective 400)" &&
        below "$(held_out $objective 600)" 3 ||
        fail "$objective: held-out losses $(held_out $objective 0), $(held_out $objective 400), $(held_out $objective 600)"
done
align=$(awk -F, '$1 == 600 && $2 == "train" && $3 == "align" { print $6 }' run1/metrics.csv)
below "$align" -0.8 || fail "align is $align"
grep -q 'resumed from run1/checkpoint-00000400.h5 at step 400' "$log" && grep -q 'steps: 400 -> 600' "$log" ||
    fail "the second training did not resume from the first"
[ "$(readlink run1/latest)" = checkpoint-00000600.h5 ] || fail "latest is $(readlink run1/latest)"

# Guesses for the masks are nouns of their language, most of them.
guesses() { awk -v sentence="$1" 'index($0, sentence) == 1 { at = NR } at && NR > at && NR <= at + 5 { print $2 }' "$log"; }
nouns() { sed -n 's/^NOUN //p' words | tr ' ' '\n' | cut -d= -f"$1"; }
[ "$(guesses 'the old <mask>' | grep -cxF -f <(nouns 1))" -ge 3 ] || fail "guesses in English: $(guesses 'the old <mask>')"
[ "$(guesses 'das alte <mask>' | grep -cxF -f <(nouns 2))" -ge 3 ] || fail "guesses in German: $(guesses 'das alte <mask>')"
grep -q '^in dictionary  *[0-9]*  *100.00%' "$log" && [ -s alignment.csv ] ||
    fail "the dictionary's words are not nearest: $(grep '^in dictionary' "$log")"

# The tagger, in English and in German: so many in a hundred tags are right; the most frequent tag is less than 25 of them.
accuracy() { awk '$1 == "accuracy" { sub(/%/, "", $2); print $2 }' "$log" | sed -n "$1p"; }
below 97 "$(accuracy 1)" || fail "accuracy in English: $(accuracy 1)"
below 60 "$(accuracy 2)" || fail "accuracy in German: $(accuracy 2)"
[ -s de.csv ] && [ -L pos/best ] || fail "de.csv or pos/best is not there"
[ "$(grep -c . de.tsv)" -eq "$(grep -c '^[0-9]' test.de.conllu)" ] || fail "de.tsv has $(grep -c . de.tsv) words"

finish
