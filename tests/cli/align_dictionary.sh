#!/usr/bin/env bash
# xlm-mpi: a bilingual dictionary of the words that links join. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
# Counted by hand: a is linked to x 5 times, once as A, and a link that is there twice counts once; b to y 2 times; d to x and w.
printf '%s\n' 'a b c' 'a b' 'A a' '' 'd a' >source
printf '%s\n' 'x y z' 'x y' 'x x' '' 'x w' >target
printf '%s\n' '0-0 1-1 0-0' '1-1 0-0' '0-0 1?1' '' '1-0 0-1 0-0' >links
cat >scores <<'END_OF_SCORES'
a	x	5	1	0.833333
b	y	2	1	1
d	w	1	0.5	1
d	x	1	0.5	0.166667
END_OF_SCORES
for n in 1 3; do
    logged make.log ranks $n xlm_align dictionary source target links --lowercase -o dict-$n --scores scores-$n
    cmp scores scores-$n || fail "$n ranks: $(cat scores-$n)"
    cut -f 1,2 scores | cmp - dict-$n || fail "$n ranks: $(cat dict-$n)"
done
grep -q '4 entries of 4 pairs of words with 9 links' make.log || fail "log: $(cat make.log)"
paste source target | sed 's/\t/ ||| /' >both
gzip -k links
xlm_align dictionary both links.gz --lowercase 2>make.log | cmp - dict-1 || fail "one text of both, gzip: $(cat make.log)"
# chosen WANTED OPTION...: the entries, on standard output.
chosen() { [ "$(xlm_align dictionary source target links "${@:2}" 2>make.log | tr '\t\n' '- ')" = "$1 " ] || fail "$*"; }
chosen 'A-x a-x b-y d-w d-x'
chosen 'a-x b-y d-w' --mutual
chosen 'A-x a-x b-y d-w' --top 1
chosen 'a-x b-y' --min-count 2
chosen 'A-x a-x b-y' --min-probability 0.51
chosen 'a-x b-y d-w d-x' --words icu --lowercase

# ---- errors ----
mkdir none
launch=''
refused() { # CODE PATTERN ARGUMENT...
    expect "$1" "^xlm_align: .*$2" $launch xlm_align dictionary "${@:3}" -o none/d --scores none/s
    once '^xlm_align: '
    nothing_in none
}
printf '%s\n' '0-0' '' '' '' '0-2' >beyond
refused 65 'beyond:5: link 0-2: the sentence in target has 2 words' source target beyond
printf '%s\n' '3-0' '' '' '' '' >beyond
launch='ranks 2'
refused 65 'beyond:1: link 3-0: the sentence in source has 3 words' source target beyond
head -n 4 links >few
refused 65 'few has 4 lines, source 5' source target few
launch=''
cat links few >many
refused 65 'many has 9 lines, source 5' source target many
printf '%s\n' '0-0' '0=0' '' '' '' >bad
refused 65 'bad:2: not a line of links' source target bad
refused 65 'source has 5 lines, few 4' source few links
refused 65 'none is left' source target links --min-count 6
refused 66 'missing' source target missing
refused 64 'min-probability=1.5: must be in' source target links --min-probability 1.5
refused 64 'min-count' source target links --min-count 0
refused 64 'top' source target links --top=-1
refused 64 'words=no' source target links --words no
finish
