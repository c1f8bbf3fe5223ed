#!/usr/bin/env bash
# xlm-mpi: scores of word alignments, by hand, in every form of gold links. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"

# Three sentences; the last has no gold links. |A| = 5, |S| = 3, |P| = 5, |A and S| = 2, |A and P| = 4, so AER = 1 - 6/8,
# precision 4/5, recall 2/3, F1 = 2 (4/5) (2/3) / (4/5 + 2/3) = 8/11.
wanted='aer,precision,recall,f1,sentences,links,sure,possible
0.250000,0.800000,0.666667,0.727273,2,5,3,5'
printf '0-0 2-1 3-3\n1-1 0-0\n5-5\n' >links
printf '\xef\xbb\xbf0-0 1-2 2?1\r\n0-0 1p1\r\n\r\n' >lines
awk '{ for (i = 1; i <= NF; i++) { split($i, w, "-"); printf " %d-%d", w[1] + 1, w[2] + 1 } print "" }' links >from1
printf '2 2 2 P\n2 1 1 S\n1 1 1\n1 2 3 S 1.0\n\n1 3 2 P\n' >naacl
awk 'NF { $1--; print }' naacl >zero
awk 'NF { $2--; $3--; print }' naacl >words0
printf '2 2 2 P\n2 1 1 P\n1 1 1\n1 2 3 S\n1 3 2 P\n2 1 1\n1 2 3 S\n' >twice # of two that are equal the sure one counts
{ printf '0001 0007 -99 S\n'; awk 'NF { printf "%04d\t%d %s %s\r\n", $1, $2, $3, $4; if (NR == 2) print "0002 -1 3 P" }' naacl
} >unlinked # words without a link; numbers of four digits, as published
gzip -c naacl >naacl.gz
# scores FILE GOLD [OPTION...]
scores() {
    logged score.log xlm_align score "$@" --csv score.csv
    [ "$(cat score.csv)" = "$wanted" ] || fail "$*: $(cat score.csv score.log)"
}
for gold in lines naacl naacl.gz words0 twice unlinked; do scores links $gold; done
grep -q 'unlinked:1: .*2 such lines' score.log || fail "the log does not name lines without a link: $(cat score.log)"
scores links zero
awk 'NF { $1 = 20 + 3 * $1; print } END { print 40, 9, 9 }' naacl >gaps # sentences 23, 26 and 40 of a larger collection
logged score.log xlm_align score links gaps --csv score.csv
# The third sentence has one more of A, S and P, of which none is in another.
[ "$(sed -n 2p score.csv)" = 0.400000,0.666667,0.500000,0.571429,3,6,4,6 ] || fail "gaps: $(cat score.csv score.log)"
grep -q 'gaps: numbers up to 40 of 3 sentences' score.log || fail "the log does not tell of gaps: $(cat score.log)"
expect 65 'links has 3 sentences, gaps 40' xlm_align score links gaps --gold-sentences-from 1
scores from1 naacl
grep -q 'from1: counts words from 1' score.log || fail "the log does not say how it counts: $(cat score.log)"
scores links naacl --words-from 0 --gold-words-from 1 --gold-sentences-from 1
! grep -q 'counts' score.log || fail "the log says what an option has said: $(cat score.log)"
# Counted from 1, with 0 for NULL: of the form with sentence numbers, when it is known that words are counted from 1.
{ echo 1 0 2 S; cat naacl; echo 2 3 0 P; } >null
scores links null --gold-words-from 1
grep -q 'null:1: .*or 0, taken as no link (2 such lines)' score.log || fail "the log does not name lines with 0: $(cat score.log)"
logged score.log xlm_align score links null
grep -q 'null: counts words from 0, as it has a 0; if 0 is no word there, say --gold-words-from 1' score.log ||
    fail "the log does not say what a 0 may be: $(cat score.log)"
awk '{ for (i = 1; i <= NF; i++) { split($i, w, "-"); printf "%d-%d ", w[2], w[1] } print "" }' links >turned
scores turned naacl --reverse
# A direction that is wrong is told, with the same table; and so are far more links than there is gold for. |A| = 6, |S| = 4,
# |P| = 6; the other way round only one link is right, a sure one.
printf '0-1 1-2 2-3 3-4\n0-0 1-2\n' >slanted
printf '1-0 2-1 3-2 4-3\n0-0 2-1\n' >other
printf '1 1 2\n1 2 3\n1 3 4\n1 4 5 P\n2 1 1\n2 2 3 P\n' >gold
logged score.log xlm_align score other gold --csv score.csv
grep -q 'warning: other: .*AER is 0.00%, not 80.00%: with --reverse?' score.log || fail "no --reverse: $(cat score.log)"
[ "$(sed -n 2p score.csv)" = 0.800000,0.166667,0.250000,0.200000,2,6,4,6 ] || fail "other: $(cat score.csv)"
logged score.log xlm_align score slanted gold --reverse
grep -q 'warning: slanted: .*AER is 0.00%, not 80.00%: without --reverse?' score.log || fail "--reverse: $(cat score.log)"
for right in 'slanted gold' 'other gold --reverse'; do
    # shellcheck disable=SC2086 # arguments
    logged score.log xlm_align score $right
    ! grep -q 'reverse\|are scored' score.log || fail "$right: $(cat score.log)"
done
{ cat slanted; yes 0-0 | head -n 4; } >many
logged score.log xlm_align score many gold --csv score.csv
grep -q 'many has 6 sentences, of which the first 2 are scored: gold ends at number 2' score.log ||
    fail "the log does not tell of many more lines: $(cat score.log)"
[ "$(sed -n 2p score.csv)" = 0.000000,1.000000,1.000000,1.000000,2,6,4,6 ] || fail "many: $(cat score.csv)"
logged ranks.log ranks 2 xlm_align score links lines --csv score.csv
[ "$(cat score.csv)" = "$wanted" ] || fail "2 ranks: $(cat ranks.log)"

logged wrong.log xlm_align score links lines --wrong
printf '1\twrong\t3-3\n1\tmissing\t1-2\n' | cmp - <(grep -P '^\d+\t' wrong.log) || fail "wrong: $(cat wrong.log)"
grep -q '25.00%' wrong.log || fail "table: $(cat wrong.log)"
# A possible link may be missing.
echo '0-0' >one && echo '0-0 1?1 2-2' >possible
logged wrong.log xlm_align score one possible --wrong
printf '1\tmissing\t2-2\n' | cmp - <(grep -P '^\d+\t' wrong.log) || fail "a possible link that is missing: $(cat wrong.log)"

# ---- errors, with the file and the line ----
refuse() { expect "$@"; once '^xlm_align: '; }
refuse 64 'give a command first' xlm_align
refuse 64 'links and gold' xlm_align score links
refuse 64 'words-from=2' xlm_align score links lines --words-from 2
refuse 66 'none' xlm_align score none lines
printf '0-0\n1-x\n' >bad
refuse 65 'bad:2' xlm_align score bad lines
printf '0-0 1-1-1\n' >bad
refuse 65 'bad:1' xlm_align score bad lines
printf '0-99999999999999999999\n' >bad
refuse 65 'bad:1' xlm_align score bad lines
printf '1 1 1\n1 2\n' >bad
refuse 65 'bad:2' xlm_align score links bad
printf '1 1 1 X\n' >bad
refuse 65 'bad:1' xlm_align score links bad
printf '4000000000 1 1\n' >bad
refuse 65 'bad:1' xlm_align score links bad
printf -- '-1 1 1\n' >bad
refuse 65 'bad:1' xlm_align score links bad
printf '1 1 - S\n' >bad
refuse 65 'bad:1' xlm_align score links bad
printf '9 1 1\n' >bad
refuse 65 'links has 3 sentences, bad 9' xlm_align score links bad
head -n 2 lines >short
refuse 65 'links has 3 sentences, short 2' xlm_align score links short
refuse 65 'word 0' xlm_align score links lines --words-from 1
refuse 65 'one line per sentence' xlm_align score naacl lines
: >empty
refuse 65 'no links' xlm_align score empty empty
finish
