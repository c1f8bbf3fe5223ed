#!/usr/bin/env bash
# xlm-mpi: the links of a sentence pair in a terminal, and alignments that do not fit. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"

small_corpus
align() { logged align.log ranks "$1" "$XLM_BUILD/tests/mpi/alignment_file_test" corpus.h5 en-xx "$2"; }
align 1 a.h5
align 3 three.h5
for name in offsets source target score; do
    cmp <(numbers /pairs/en-xx/train/$name a.h5) <(numbers /pairs/en-xx/train/$name three.h5) || fail "$name on 1 and 3 ranks"
done
h5dump -A a.h5 | grep -q 'H5T_STD_U16LE' || fail "positions are not of 16 bits"
[ "$(attribute /method a.h5)" = '"ot"' ] || fail "no method: $(h5dump -A a.h5 | head -n 20)"

# Words: each in the line of its partner; subwords: as many as both sentences have.
logged show.log xlm_align show a.h5 --pair 17 --words
en=$(sed -n 's/^en: //p' show.log)
decode corpus.h5 train en | grep -qxF "$en" || fail "not a sentence of the corpus: $en"
n=$(wc -w <<<"$en")
[ "$(grep -cE '^ *[0-9]+ [^ ].*(■|□)' show.log)" -eq "$n" ] || fail "not a line for each of $n words: $(cat show.log)"
awk -v n="$n" '/(■|□)/ && /^ *[0-9]/ {
        i = $1; wanted = i == n - 1 ? i : n - 2 - i
        if (NF != n + 2 || $(3 + wanted) !~ /(■|□)/ || gsub(/(■|□)/, "") != 1) exit 1
    }' show.log || fail "links are elsewhere: $(cat show.log)"
logged list.log xlm_align show a.h5 --pair 17 --words --list
paste -d ' ' <(tr ' ' '\n' <<<"$en") <(sed -n 's/^xx: //p' list.log | tr ' ' '\n' | sed '$d' | tac; echo .) |
    while read -r word other; do
        grep -qE "^[0-9]+ $word - [0-9]+ $other \([01]\.[0-9]+\)\$" list.log || echo "$word $other"
    done >missing
[ ! -s missing ] || fail "not in the list: $(cat missing list.log)"
logged narrow.log xlm_align show a.h5 --pair 17 --words --width 15
cmp list.log narrow.log || fail "no list where there is no room for a matrix"
logged subwords.log ranks 2 xlm_align show a.h5 --pair 17
[ "$(grep -c '^ *[0-9]* [^ ].*·' subwords.log)" -ge "$n" ] || fail "subwords: $(cat subwords.log)"

# ---- errors ----
refuse() { expect "$@"; once '^xlm_align: '; }
refuse 64 'takes one alignment' xlm_align show
refuse 64 'counted from 0' xlm_align show a.h5 --pair 100000
refuse 64 'pair=-1: must be at least 0' xlm_align show a.h5 --pair -1
refuse 64 'has en-xx' xlm_align show a.h5 --languages de-en
refuse 64 'split=x' xlm_align show a.h5 --split x
refuse 65 'a.h5: has no pairs of held_out; its pairs are shown with --split train$' xlm_align show a.h5 --split held_out
logged held_out.log xlm_align corpus.h5 --split held_out --alignment held_out.h5
refuse 65 'held_out.h5: has no pairs of train; its pairs are shown with --split held_out$' xlm_align show held_out.h5
logged held_out.log xlm_align show held_out.h5 --split held_out
refuse 65 'not an alignment' xlm_align show corpus.h5
refuse 66 'none.h5' xlm_align show none.h5
mv corpus.h5 moved.h5
refuse 66 'corpus.h5, does not exist; give its path with --corpus' xlm_align show a.h5
logged moved.log xlm_align show a.h5 --pair 17 --words --corpus moved.h5
cmp show.log moved.log || fail "another place of the corpus"
tac text.en >text.en.tac && tac text.xx >text.xx.tac
small_corpus --para en-xx=text.en.tac,text.xx.tac --bpe 120
refuse 65 'another corpus' xlm_align show a.h5
head -c 9000 a.h5 >cut.h5
refuse 65 'cut.h5' xlm_align show cut.h5
finish
