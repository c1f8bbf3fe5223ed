#!/usr/bin/env bash
# xlm-mpi: links of two directions made one, from files. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
head -n 120 text.en >a.en
# Some words are gone, some are there twice.
head -n 120 text.xx | awk '{
    n = split($0, word, " ")
    line = word[1]
    for (i = 2; i <= n; i++) if (NR % 3 != i % 3 || i == n) line = line " " word[i] (NR % 4 == i % 4 ? " " word[i] : "")
    print line }' >a.xx
for how in forward reverse intersection union grow-diag grow-diag-final grow-diag-final-and; do
    logged align.log xlm_align a.en a.xx --method diagonal --iterations 1 --symmetrise $how -o links --forward f --reverse r
    logged join.log xlm_align symmetrise f r --symmetrise $how -o joined
    cmp links joined || fail "$how: $(diff links joined | head -n 4)"
    [ "$how" != union ] || cp links union
done
other_text f r || fail "both directions have the same links"
[ "$(paste -d ' ' f r | tr ' ' '\n' | grep -c -)" -gt "$(tr ' ' '\n' <union | grep -c -)" ] ||
    fail "no link is in both directions"
logged two.log ranks 2 xlm_align symmetrise f r -o two
xlm_align symmetrise f r | cmp - two || fail "standard output, or the default"
cmp two joined || fail "the default is not grow-diag-final-and"
sed -E 's/([0-9]+)-([0-9]+)/\2-\1/g' r >turned
xlm_align symmetrise f turned --reverse-turned | cmp - two || fail "--reverse-turned"
# A dash is no file to write, for no command: it would be one of that name for some and standard output for others.
for command in 'text a.en a.xx' 'symmetrise f r' 'dictionary a.en a.xx f'; do
    # shellcheck disable=SC2086 # words
    expect 64 'is not the name of a file to write (--output); leave the option out' xlm_align $command -o -
    [ ! -s expect.out ] && [ ! -e ./- ] || fail "$command -o -: $(head -n 2 expect.out)"
done
logged dash.log xlm_align symmetrise f r -o ./-
cmp ./- two || fail "./- is not the file of that name"
# Nor is an empty name, as from a variable that is not set.
expect 64 'xlm_align: --output is empty; give the name of a file' xlm_align symmetrise f r -o ''
expect 64 'xlm_align: an argument is empty; give the name of a file' xlm_align symmetrise f '' -o none
expect 64 'xlm_align: --scratch is empty; give the name of a directory' xlm_align a.en a.xx -o none --scratch ''
[ ! -e none ] || fail "an empty name is taken"
# A command's name is no file.
logged name.log xlm_align symmetrise f r -o symmetrise
cmp symmetrise two || fail "a file named as the command"
gzip -k f
xlm_align symmetrise f.gz r | cmp - two || fail "gzip"

# By hand: 1-1 is in both; 0-0 and 2-2 are next to it; 5-4 is next to nothing, and its words have no link.
printf '0-0 1-1 1-2 5-4\n\n' >hand.f
printf '1-1 2-2\n\n' >hand.r
check() {
    xlm_align symmetrise hand.f hand.r --symmetrise "$1" >hand.links
    printf '%s\n\n' "$2" | cmp - hand.links || fail "$1: $(cat hand.links)"
}
check intersection '1-1'
check union '0-0 1-1 1-2 2-2 5-4'
check grow-diag '0-0 1-1 1-2 2-2'
check grow-diag-final-and '0-0 1-1 1-2 2-2 5-4'

# ---- errors ----
mkdir none
refused() { # CODE PATTERN ARGUMENT...
    expect "$1" "^xlm_align: .*$2" xlm_align symmetrise "${@:3}"
    once '^xlm_align: '
    nothing_in none
}
refused 64 'takes links of two directions' f -o none/l
refused 64 'symmetrise=best: must be one of' f r --symmetrise best -o none/l
refused 64 'f: is both input and output' f r -o f
refused 66 'missing' f missing -o none/l
refused 73 'none/no/l' f r -o none/no/l
printf '0-0\n1-1 2-1\n' >many.f
printf '0-0\n1-1 1-2\n' >many.r
printf '0-0\n1-1\n' >one
refused 65 'many.f:2: target word 1 has more than one link; forward links have at most one' many.f one -o none/l
refused 65 'many.r:2: source word 1 has more than one link; reverse links have at most one' one many.r -o none/l
refused 65 'one has 2 lines, f 120' one f -o none/l
printf '0-0\n1+1\n' >bad
expect 65 '^xlm_align: bad:2: ' ranks 2 xlm_align symmetrise one bad -o none/l
once '^xlm_align: '
nothing_in none
printf '1 1 1 S\n2 1 1\n' >numbered
refused 65 'numbered: links need one line per sentence' one numbered -o none/l
finish
