#!/usr/bin/env bash
# xlm-mpi: masked words, spans and n-grams, and masks that depend on the step, as a user trains with them.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
eight_steps 4 -e 's/^.stream text.*/&\nmask_unit = span\nmask = 0:0.5,8:0.1/; s/^.stream pairs.*/&\nmask_unit = word/' >spans.conf
reproduced spans.conf out 4
is_between 1 "$(value out-1 8 held_out mlm loss all)" 6 || fail "not evaluated: $(grep held_out out-1/metrics.csv)"
trained spans.conf memory 1 --set train.steps=3 --set train.micro_batches=1 --set 'stream text.batch=32'
estimated memory.log

# Of a word whose subwords end with "@@", all are predicted or none; a share falls with the step.
strings /vocabulary/words corpus.h5 >words.txt
# whole STREAM DUMP: prints the share of the tokens that is predicted, the number of words of several subwords that are, and that
# of broken ones.
whole() {
    { sed 's/^/word /' words.txt
      numbers "/streams/$1/batch/original" "$2" | sed 's/^/id /'
      numbers "/streams/$1/batch/masked_positions" "$2" | sed 's/^/row /'; } | awk '
        $1 == "word" { word[words++] = $2 }
        $1 == "id" { id[n++] = $2 }
        $1 == "row" { chosen[$2] = 1; predicted++ }
        END {
            special = 5
            for (r = 0; r < n; r++) {
                ordinary += id[r] >= special
                if (id[r] >= special && word[id[r]] ~ /@@$/ && r + 1 < n && id[r + 1] >= special) {
                    several += (r in chosen)
                    broken += (r in chosen) != (r + 1 in chosen)
                }
            }
            printf "%.3f %d %d\n", predicted / ordinary, several, broken
        }'
}
dumped() { # NAME OPTION...
    logged "$1.log" xlm_train spans.conf --dump-step "$1.h5" --set "train.output=$1" --set 'stream text.batch=256' \
        --set 'stream pairs.batch=64' "${@:2}"
}
dumped first
dumped ngrams --set 'stream text.mask_unit=ngram' --set 'stream text.mask=0.2'
for row in 'first text 0.5' 'first pairs 0.15' 'ngrams text 0.2'; do
    read -r name stream share <<<"$row"
    read -r predicted several broken <<<"$(whole "$stream" "$name.h5")"
    is_near "$predicted" "$share" 0.06 && [ "${several:-0}" -gt 20 ] && [ "$broken" = 0 ] ||
        fail "$name, $stream: a share of $predicted instead of $share, ${several-} words of several subwords, ${broken-} broken"
done
logged last.log xlm_train spans.conf --dump-step last.h5 --set train.output=out-1 --set train.steps=9
read -r predicted several broken <<<"$(whole text last.h5)"
is_near "$predicted" 0.1 0.3 && [ "$broken" = 0 ] || fail "after the last step of the list the share is $predicted"
job_refused 'stream text.: mask_unit says which tokens are masked, and mask = 0 masks none' spans.conf --set 'stream text.mask=0:0,5:0'
finish
