#!/usr/bin/env bash
# xlm-mpi: xlm_bleu: known answers, kinds of files, systems side by side, bad input. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
printf '%s\n' 'The cat sat on the mat.' '' 'Ein kleiner Hund' 'the the the the the the the' 'a b c d e' >out
printf '%s\n' 'The cat sat on a mat.' 'x' 'Ein großer Hund bellt laut.' 'the cat is on the mat' 'a b c d e' >ref.0
printf '%s\n' 'A cat was sitting on the mat.' '' 'Ein kleiner Hund' 'there is a cat on the mat' 'a b c x e f' >ref.1
version=$(xlm_bleu --version | sed -n '1s/^xlm_bleu (xlm-mpi) //p')
# is LINE... -- ARGUMENT...: what xlm_bleu prints.
is() {
    local wanted=()
    while [ "$1" != -- ]; do wanted+=("$1"); shift; done
    shift
    xlm_bleu "$@" >is.out 2>&1
    printf '%s\n' "${wanted[@]}" | cmp -s - is.out || fail "xlm_bleu $*: $(cat is.out)"
}

# ---- scores that sacreBLEU 2 gives ----
bleu="BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:xlm-mpi-$version"
line="$bleu = 37.04 68.2/44.4/35.7/30.0 (BP = 0.873 ratio = 0.880 hyp_len = 22 ref_len = 25)"
is "$line" -- out ref.0
is "BLEU|nrefs:2${bleu#*nrefs:1} = 58.5786 77.3/66.7/57.1/40.0 (BP = 1.000 ratio = 1.000 hyp_len = 22 ref_len = 22)" -- \
    out ref.0 ref.1 --width 4
is "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:xlm-mpi-$version = 37.61" \
    "chrF2++|nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:xlm-mpi-$version = 41.00" -- out ref.0 -m chrf,chrf++
is "chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:yes|version:xlm-mpi-$version = 47.15" -- out ref.0 -m chrf --chrf-whitespace
is "chrF2++|nrefs:1|case:mixed|eff:no|nc:6|nw:2|space:no|version:xlm-mpi-$version = 40.99" -- \
    out ref.0 -m chrf++ --chrf-eps-smoothing
# prints PATTERN ARGUMENT...: a line of what xlm_bleu prints.
prints() {
    xlm_bleu "${@:2}" >prints.out 2>&1
    grep -q -e "$1" prints.out || fail "xlm_bleu ${*:2}: no '$1' in $(cat prints.out)"
}
prints '|smooth:add-k\[1.00]|version:.* = 40.62 ' out ref.0 --smooth add-k
# Precisions of 3/4, 1/3, 0/2 and 0/1. A floor of x stands for the matches that are missing: 3/4 1/3 x/2 x/1, 1/32 together at 0.5,
# 1/800 at the default of 0.1. add-k adds k to what is counted from pairs on: 3/4 3/7 1/5 1/3 with k = 0.5, 3/140 together.
echo 'a b c d' >four
echo 'a b x d' >four.ref
prints '|smooth:floor\[0.50]|.* = 42.0448 75.0/33.3/25.0/50.0 ' four four.ref --smooth floor --smooth-value 0.5 --width 4
prints '|smooth:floor\[0.10]|.* = 18.8030 75.0/33.3/5.0/10.0 ' four four.ref --smooth floor --width 4
prints '|smooth:add-k\[0.50]|.* = 38.2603 75.0/42.9/20.0/33.3 ' four four.ref --smooth add-k --smooth-value 0.5 --width 4
# Words as they are cut, and letters: 1-gram precisions of one line.
echo 'It costs 3.5-4 KM, 中文x' >line
for row in '13a:It costs 3.5 - 4 km , 中文x:87.5' 'zh:it costs 3.5 - 4 KM , 中 文 x:90.0' 'intl:it costs 3.5-4 KM , 中文x:83.3' \
    'char:i t c o s t s 3 . 5 - 4 K M , 中 文 x:94.4' 'none:it costs 3.5-4 KM, 中文x:80.0'; do
    IFS=: read -r words text precision <<<"$row"
    echo "$text" >line.ref
    prints "tok:$words|.* $precision/" line line.ref --tokenize "$words"
    prints 'case:lc.* = 100.00 ' line line.ref --tokenize "$words" --lowercase
done
# What multi-bleu.perl prints.
is 'BLEU = 39.38, 66.7/41.2/38.5/33.3 (BP=0.909, ratio=0.913, hyp_len=21, ref_len=23)' -- out ref.0 --metric multi-bleu

# Many lines of tokenised text: a warning, unless words are taken as they are.
for _ in {1..100}; do echo 'a b c d .'; done >tokens
logged tokens.out xlm_bleu tokens tokens -m bleu,multi-bleu
grep -q '100 translations end in " ."' tokens.out || fail "no warning: $(cat tokens.out)"
for options in '-m multi-bleu,chrf' '-t none'; do
    # shellcheck disable=SC2086 # words
    [ "$(xlm_bleu tokens tokens $options 2>&1 | grep -c 'end in')" -eq 0 ] || fail "a warning with $options"
done
[ "$(head -n 99 tokens >fewer && xlm_bleu fewer fewer 2>&1 | wc -l)" -eq 1 ] || fail "a warning for 99 lines"

# ---- kinds of files ----
gzip -k ref.0 && gzip -c out >packed
is "$line" -- out ref.0.gz
is "$line" -- - ref.0 <out
is "$line" -- - ref.0 <packed
is "$line" -- out - <ref.0
{ printf '\357\273\277'; sed 's/$/\r/' out; } >windows
is "$line" -- windows ref.0

# ---- several systems ----
sed 's/^the the.*/the cat is on a mat/' out >better
logged two.out xlm_bleu out ref.0 ref.1 --system better=better --system same=ref.1 -m bleu,chrf --sentences two.tsv
logged again.out xlm_bleu out ref.0 ref.1 --system better=better --system same=ref.1 -m bleu,chrf
logged other.out xlm_bleu out ref.0 ref.1 --system better=better --system same=ref.1 -m bleu,chrf --seed 2
cmp two.out again.out || fail "not the same twice"
cmp -s <(grep -v '|' two.out) <(grep -v '|' other.out) && fail "the seed changes nothing"
# field FILE SYSTEM FIELD: of the table of BLEU.
field() { awk -v name="$2" -v field="$3" '$1 == name { print $field; exit }' "$1"; }
[ "$(field two.out out 2)" = 58.58 ] && [ "$(field two.out same 2)" = 100.00 ] || fail "scores of systems: $(cat two.out)"
grep -qF "BLEU|nrefs:2|bs:1000|seed:1|case" two.out || fail "no samples in the signature: $(cat two.out)"
# The interval of the difference has the difference, and p is below 0.05 where it does not have 0.
read -r score low high difference dlow dhigh p < <(awk '$1 == "better" { print $2, $4, $6, $7, $8, $10, $11; exit }' two.out)
is_between "$low" "$score" "$high" && is_between "$dlow" "$difference" "$dhigh" && is_between 0.001 "$p" 1 ||
    fail "intervals of a system: $(cat two.out)"
# A system with all sentences right is another one; a better fifth of the sentences need not be.
awk '$1 == "same" { n++; bad = bad || $NF !~ /^0.0[0-4].*[*]$/ } $1 == "better" && ($NF <= 0.05 || $NF >= 0.5) { bad = 1 }
    END { exit bad || n != 2 }' two.out || fail "p of systems: $(cat two.out)"
is_near "$difference" "$(awk -v a="$score" 'BEGIN { print a - 58.58 }')" 0.011 || fail "difference: $(cat two.out)"
# A system beside itself: no difference, and no star.
prints '^twin .* +0.00  *+0.00 to +0.00  1.0000 $' out ref.0 --system twin=out
# A file with = in its name, alone or under a name; of two files that can be meant, neither is taken.
mkdir lr=1 1
cp better lr=1/out
for row in lr=1/out:lr=1/out ./lr=1/out:./lr=1/out x=lr=1/out:x; do
    prints "^${row#*:}  *49.89 " out ref.0 --system "${row%:*}" --bootstrap 0
done
cp out 1/out
expect 64 'system=lr=1/out: is a file, and so is 1/out; write ./lr=1/out ' xlm_bleu out ref.0 --system lr=1/out
prints '^./lr=1/out  *49.89 ' out ref.0 --system ./lr=1/out --bootstrap 0
prints '^x  *49.89 ' out ref.0 --system x=lr=1/out --bootstrap 0
prints '^lr  *37.04 ' out ref.0 --system lr=./1/out --bootstrap 0
rm lr=1/out
prints '^lr  *37.04 ' out ref.0 --system lr=1/out --bootstrap 0
cmp <(sed 1d two.tsv | cut -f 1,2) <(for i in 1 2 3 4 5; do printf "$i\t%s\n" out better same; done) &&
    head -n 1 two.tsv | grep -q '^sentence.system.BLEU|nrefs:2|case:mixed|eff:yes|tok:13a|[^|]*|[^|]*.chrF2|nrefs:2|' &&
    [ "$(awk '$2 == "out" && $1 ~ /1|4/ { print $3, $4 }' two.tsv | tr '\n' ' ')" = '79.53 71.42 7.81 14.23 ' ] ||
    fail "sentences: $(cat two.tsv)"
# One system: its interval, if it is asked for.
prints 'bs:200|seed:1|.* = 37.04 (μ = [0-9.]* ± [0-9.]*) 68.2/' out ref.0 --bootstrap 200
prints '^better  *[0-9.]*  *+[0-9.]*$' out ref.0 --system better --bootstrap 0

# ---- JSON: the same numbers ----
xlm_bleu out ref.0 ref.1 --system better=better --system same=ref.1 -m bleu,chrf --json >two.json
# value NAME N: the N-th value of a name in it.
value_of() { sed -n "s/^ *\"$1\": \(.*[^,]\),\{0,1\}$/\1/p" two.json | sed -n "$2p"; }
[ "$(value_of metric 2)" = '"chrf"' ] && [ "$(value_of name 2)" = '"better"' ] && [ "$(value_of sentences 1)" = 5 ] &&
    is_near "$(value_of score 1)" 58.57863 1e-4 && is_near "$(value_of precision_4 1)" 40 1e-4 &&
    is_near "$(value_of reference_words 1)" 22 && is_near "$(value_of p 1)" "$p" 1e-4 &&
    is_near "$(value_of score 2)" "$score" 0.0051 && is_near "$(value_of low 1)" "$(field two.out out 4)" 0.0051 &&
    is_near "$(value_of half_width 1)" "$(awk '$1 == "out" { print ($6 - $4) / 2; exit }' two.out)" 0.0051 || fail "JSON: $(cat two.json)"

# A name that is not UTF-8.
cp out "$(printf 'o\xff')" && cp out "$(printf 'o\xf0')" && xlm_bleu "$(printf 'o\xff')" ref.0 --json >name.json
prints '^o�   *37.04 ' out ref.0 --system "$(printf 'o\xff')"
prints '^o�   *37.04 ' out ref.0 --system "$(printf 'o\xf0')"
grep -q '"file": "o�"' name.json && grep -q '"score": 37.0' name.json || fail "JSON of a name that is not UTF-8: $(cat name.json)"

# ---- bad input ----
expect 64 'seed is for the samples' xlm_bleu out ref.0 --seed 2
expect 64 'no translations' xlm_bleu
expect 64 'no reference' xlm_bleu out
expect 64 'no such metric.*"chrf"' xlm_bleu out ref.0 --metric chfr
expect 64 'twice' xlm_bleu out ref.0 --metric bleu,chrf,bleu
expect 64 '--metric=: must be metrics' xlm_bleu out ref.0 --metric ''
expect 64 '--tokenize: only the metric bleu has it' xlm_bleu out ref.0 --metric chrf,multi-bleu --tokenize zh
expect 64 '--smooth: only the metric bleu has it' xlm_bleu out ref.0 --metric chrf --smooth exp
expect 64 '--chrf-whitespace: only the metrics chrf and chrf++ have it' xlm_bleu out ref.0 --chrf-whitespace
expect 64 'tokenize=15' xlm_bleu out ref.0 --tokenize 15
expect 64 'smooth=log' xlm_bleu out ref.0 --smooth log
expect 64 'smooth-value' xlm_bleu out ref.0 --smooth-value 1
expect 64 'smooth-value=-1' xlm_bleu out ref.0 --smooth floor --smooth-value=-1
expect 64 'bootstrap=-1' xlm_bleu out ref.0 --bootstrap=-1
expect 64 'two systems are named out' xlm_bleu out ref.0 --system out
expect 64 'is empty' xlm_bleu out ref.0 --system =better
expect 64 'width=16' xlm_bleu out ref.0 --width 16
# Integers are decimal, whatever they begin with, as in job files.
prints '|bs:10|seed:10|' out ref.0 --bootstrap 010 --seed 010
prints '|bs:2|seed:8|' out ref.0 --bootstrap 2 --seed 08
for number in 0x3 3.5 '' 3k; do expect 64 "width=$number: must be an integer in decimal" xlm_bleu out ref.0 -w "$number"; done
expect 64 'width=3000000000: must be an integer from -2147483648 to 2147483647' xlm_bleu out ref.0 --width 3000000000
expect 64 'seed=1e9: must be an integer' xlm_bleu out ref.0 --seed 1e9
expect 64 'standard input' xlm_bleu - - <out
expect 64 'both input and output' xlm_bleu out ref.0 --sentences ref.0
expect 66 'none: No such file' xlm_bleu out none
expect 64 'an argument is empty' xlm_bleu '' ref.0
expect 64 'system is empty' xlm_bleu out ref.0 --system ''
expect 66 'none: No such file' xlm_bleu out ref.0 --system x=none
expect 73 '' xlm_bleu out ref.0 --sentences none/x.tsv
[ -z "$(xlm_bleu out ref.0 --sentences none/x.tsv 2>/dev/null)" ] || fail "scores in spite of a file that cannot be written"
head -n 4 ref.1 >short
expect 65 'out has 5 lines, and short has 4' xlm_bleu out ref.0 short
expect 65 'short has 4 lines, and ref.0 has 5' xlm_bleu short ref.0
expect 65 'out has 5 lines, and short has 4' xlm_bleu out ref.0 --system short
: >empty
expect 65 'empty: is empty' xlm_bleu empty empty
expect 65 'empty has 0' xlm_bleu out empty
printf 'a\nb\xff\nc\nd\ne\n' >latin
expect 65 'latin:2: byte 2: not UTF-8' xlm_bleu latin ref.0
expect 65 'latin:2: byte 2: not UTF-8' xlm_bleu out ref.0 latin
printf 'a\nb\0\nc\nd\ne\n' >zero
expect 65 'zero:2: a byte 0' xlm_bleu zero ref.0
# Nothing but empty lines is text, with the score 0.
printf '\n\n' >blank
is "$bleu = 0.00 0.0/0.0/0.0/0.0 (BP = 1.000 ratio = 0.000 hyp_len = 0 ref_len = 0)" -- blank blank
is 'BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)' -- blank blank -m multi-bleu
finish
