#!/usr/bin/env bash
# xlm-mpi: co-occurrence counts beside a plain count, on several ranks, in little memory, added to, exported.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus --bpe 120

# expected CORPUS WINDOW: lines "i j X" with i <= j, counted here, sorted; languages weighted by the tokens of the largest.
expected() {
    local language
    for language in en xx; do
        paste -s -d ' ' <(numbers "/train/text/$language/offsets" "$1")
        paste -s -d ' ' <(numbers "/train/text/$language/tokens" "$1")
    done | awk -v window="$2" '
        NR % 2 == 1 { sentences = split($0, offset, " ") - 1; next }
        {
            n = split($0, token, " "); l++; tokens[l] = n; if (n > most) most = n
            for (s = 1; s <= sentences; s++)
                for (p = offset[s] + 1; p <= offset[s + 1]; p++)
                    for (q = p - window; q <= p + window; q++)
                        if (q != p && q > offset[s] && q <= offset[s + 1] && token[p] <= token[q])
                            count[l, token[p] + 0 " " token[q] + 0, q > p ? q - p : p - q]++
        }
        END {
            for (key in count) { split(key, k, SUBSEP); x[k[2]] += most / tokens[k[1]] * count[key] / (k[3] + 1) }
            for (pair in x) printf "%s %.6f\n", pair, x[pair]
        }' | sort -k1,1n -k2,2n
}
# table FILE: the same lines of a table.
table() {
    paste -d ' ' <(numbers /cooccurrence/columns "$1") <(numbers /cooccurrence/counts "$1") >entries.txt
    numbers /cooccurrence/offsets "$1" | awk 'FILENAME == "entries.txt" { entry[n++] = $0; next }
        FNR > 1 { for (; at + 0 < $1; at++) { split(entry[at + 0], e, " "); printf "%d %d %.6f\n", FNR - 2, e[1], e[2] } }' \
        entries.txt -
}
# equal A B: lines `i j X`, X within rounding.
equal() {
    paste -d ' ' "$1" "$2" | awk '{ d = $3 - $6; if ($1 != $4 || $2 != $5 || d > 2e-5 * $3 || -d > 2e-5 * $3) { print; exit 1 } }
        END { if (NR == 0) exit 1 }' >difference || fail "$1 and $2 differ: $(cat difference)"
}
# same_table A B: all but who made it.
same_table() {
    local part
    for part in /cooccurrence /by_language /words; do
        same_objects "$1" "$2" "$part" >difference || fail "$1 and $2 differ in $part: $(head -3 difference)"
    done
}

# ---- the definition, on ranks and threads, and from scratch files ----
for window in 2 5; do
    expected corpus.h5 $window >expected-$window
    logged w.log ranks 1 xlm_cooc corpus.h5 -o cooc-$window.h5 --window $window
    table cooc-$window.h5 >table-$window
    equal expected-$window table-$window
    for n in 2 3 4; do
        logged r.log ranks $n xlm_cooc corpus.h5 -o ranks.h5 --window $window --threads $((n - 1)) --memory 1M
        same_table cooc-$window.h5 ranks.h5
    done
done
[ "$(attribute /window cooc-5.h5)" = 5 ] && [ "$(attribute /weights cooc-5.h5)" = '"inverse"' ] || fail "attributes"
[ "$(attribute /by_language/en/factor cooc-2.h5)" = 1 ] || [ "$(attribute /by_language/xx/factor cooc-2.h5)" = 1 ] ||
    fail "no language is the largest"
numbers /words/totals cooc-2.h5 >totals
awk '{ sum[$1] += $3; if ($1 != $2) sum[$2] += $3 } END { for (i in sum) printf "%d %.4f\n", i, sum[i] }' table-2 | sort -n >sums
awk '$1 > 0 { printf "%d %.4f\n", NR - 1, $1 }' totals >have
paste -d ' ' sums have | awk '{ d = $2 - $4; if ($1 != $3 || d > 1e-2 || d < -1e-2) exit 1 }' ||
    fail "totals are not the sums of the rows"

# ---- more pairs than fit into a mebibyte: scratch files, and several rounds from rank to rank ----
awk 'BEGIN {
    seed = 5
    for (line = 0; line < 12000; line++) {
        for (n = 0; n < 16; n++) {
            seed = (seed * 16807) % 2147483647
            printf "%c%c ", 97 + seed % 22, 97 + int(seed / 22) % 22
        }
        print ""
    }
}' >random
logged l.log xlm_prep --mono en=random --words space --bpe 600 -o large.h5
logged w.log xlm_cooc large.h5 -o whole.h5
for n in 1 3; do
    logged s.log ranks $n xlm_cooc large.h5 -o small.h5 --memory 1M --scratch .
    same_table whole.h5 small.h5
done
[ "$(numbers /cooccurrence/offsets whole.h5 | tail -n 1)" -gt 60000 ] || fail "too few pairs for scratch files"
rm small.h5

# ---- options ----
logged o.log xlm_cooc count corpus.h5 -o even.h5 --weights even --factors none
numbers /by_language/en/counts even.h5 | awk '{ n += $1 } END { print n }' >integers
numbers /by_language/xx/counts even.h5 | awk '{ n += $1 } END { print n }' >>integers
numbers /cooccurrence/counts even.h5 | awk '{ n += $1 } END { print n }' >reals
[ "$(awk '{ n += $1 } END { print n }' integers)" = "$(cat reals)" ] ||
    fail "even weights without factors are not the integers"
logged m.log xlm_cooc corpus.h5 -o few.h5 --max-vocab 10
numbers /cooccurrence/columns few.h5 >columns
[ "$(sort -un columns | wc -l)" -le 10 ] && [ "$(wc -l <columns)" -gt 10 ] || fail "--max-vocab"
table few.h5 | awk 'FILENAME == "table-2" { x[$1, $2] = $3; next } x[$1, $2] != $3 { exit 1 }' table-2 - ||
    fail "what is left out makes others stand nearer"
logged h.log xlm_cooc corpus.h5 -o held.h5 --split held_out
logged dash.log xlm_cooc corpus.h5 -o dash.h5 --split held-out # as users may also write it
same_table held.h5 dash.h5
expect 64 'split=dev: must be train, held_out or all' xlm_cooc corpus.h5 -o none.h5 --split dev
logged a.log ranks 2 xlm_cooc corpus.h5 -o all.h5 --split all

only_in_check_all

# ---- more text: train and then held-out is all at once ----
logged add.log ranks 2 xlm_cooc corpus.h5 --split held-out --add cooc-2.h5 -o added.h5
same_table all.h5 added.h5
cmp <(sed -n 's/.*: \([0-9]* pairs of subwords\)/\1/p' a.log) <(sed -n 's/.*: \([0-9]* pairs of subwords\)/\1/p' add.log) ||
    fail "what was counted: $(cat add.log)"
cp cooc-2.h5 grown.h5
logged grow.log ranks 2 xlm_cooc corpus.h5 --split held-out --add grown.h5 -o grown.h5 --memory 1M
same_table all.h5 grown.h5
[ "$(strings /inputs added.h5 | wc -l)" -eq 2 ] || fail "inputs: $(strings /inputs added.h5)"
logged again.log xlm_cooc corpus.h5 --split held-out --add added.h5 -o twice.h5
grep -q 'counted before' again.log || fail "text that is counted twice is not noticed"
# The subwords that the first corpus left in, 7 words of 10, are counted in another one with counts of its own, and no others: few
# of them are frequent there, and the table does not have what is (garden, in parts).
for _ in {1..40}; do printf 'red house big\nblue car small\n'; done >first
printf 'garden of stars\nlone\n' >>first
yes lone | head -n 39 >>first
{ yes 'red garden' | head -n 20; printf 'red car house\nred lone\n'; } >second
logged l.log xlm_prep --mono en=first --words space --bpe 200 --held-out 0 -o first.h5
logged l.log xlm_prep --mono en=second --like first.h5 --held-out 0 -o second.h5
for bound in '--min-count 10' '--max-vocab 7'; do
    # shellcheck disable=SC2086 # options are words
    logged w.log xlm_cooc first.h5 -o first-cooc.h5 --weights even $bound
    logged w.log ranks 2 xlm_cooc second.h5 --add first-cooc.h5 -o both.h5
    logged w.log xlm_cooc first.h5 -o unbounded.h5 --weights even
    logged w.log xlm_cooc second.h5 --add unbounded.h5 -o all-words.h5
    h5dump -d /words/counted both.h5 | grep -q U8 && [ "$(numbers /words/counted both.h5 | grep -c -x 1)" -eq 7 ] ||
        fail "$bound: subwords of the table: $(numbers /words/counted both.h5 | paste -s -d ' ')"
    # What the unbounded table has of these subwords: all of the text of both.
    paste -d ' ' <(numbers /words/counted both.h5) <(seq 0 1000) | sed -n 's/^1 \([0-9]*\)$/\1/p' >kept
    table all-words.h5 | awk 'FILENAME == "kept" { kept[$1] = 1; next } kept[$1] && kept[$2]' kept - >of-kept
    table both.h5 >of-both
    equal of-kept of-both
    [ "$(wc -l <of-both)" -eq 9 ] && awk '$3 == 1 { n++ } END { exit n != 3 }' of-both || fail "$bound: $(cat of-both)"
done

# ---- what people look at ----
logged top.log xlm_cooc top house cooc-2.h5 -n 3
[ "$(wc -l <top.log)" -eq 4 ] || fail "top: $(cat top.log)"
id=$(strings /vocabulary/words corpus.h5 | grep -n -x house | cut -d: -f1)
awk -v id=$((id - 1)) '$1 == id || $2 == id { if ($3 > most) most = $3 } END { printf "%.3f\n", most }' table-2 >most
[ "$(awk 'NR == 2 { print $2 }' top.log)" = "$(cat most)" ] || fail "top of house: $(cat top.log), $(cat most)"
# By PMI: log p(i, j) / (p(i) p(j)), of the whole matrix, of which the table has one half.
logged pmi.log xlm_cooc top house cooc-2.h5 -n 1 --by pmi
awk -v id=$((id - 1)) '{ x[$1, $2] = x[$2, $1] = $3; sum[$1] += $3; all += $3; if ($1 != $2) { sum[$2] += $3; all += $3 } }
    END {
        for (j in sum)
            if ((id, j) in x && ((p = log(x[id, j] * all / (sum[id] * sum[j]))) > best || best == "")) best = p
        print best
    }' table-2 >best
awk -v best="$(cat best)" 'NR == 2 { d = $3 - best; found = d < 2e-3 && -d < 2e-3 } END { exit !found || best == "" }' pmi.log ||
    fail "top of house by PMI: $(cat pmi.log), $(cat best)"
logged export.log xlm_cooc export cooc-2.h5 -o glove.bin --vocabulary vocabulary.txt
logged name.log xlm_cooc export cooc-2.h5 -o export
cmp export glove.bin || fail "a file named as the command"
[ "$(wc -l <vocabulary.txt)" -eq "$(strings /words/subwords cooc-2.h5 | wc -l)" ] || fail "vocabulary for GloVe"
# glove stops at a word <unk>: the line has another name, that no subword has.
cmp <(strings /words/subwords cooc-2.h5 | sed 's/^<unk>$/[unknown]/') <(cut -d ' ' -f 1 vocabulary.txt) ||
    fail "names for GloVe: $(diff <(strings /words/subwords cooc-2.h5) <(cut -d ' ' -f 1 vocabulary.txt))"
yes '[unknown] [unknown] a' | head -n 50 >named
logged l.log xlm_prep --mono en=named --words space --bpe 40 --held-out 0 -o named.h5
logged w.log xlm_cooc named.h5 -o named-cooc.h5
logged export.log xlm_cooc export named-cooc.h5 -o named.bin --vocabulary named.txt
sed -n 4p named.txt | grep -q '^\[unknown\]_ ' && [ "$(grep -c '^\[unknown\] 100$' named.txt)" -eq 1 ] ||
    fail "a name that a subword has: $(<named.txt)"
# Names with white space are written as bytes: line i is still the subword with id i - 1, and has two fields.
byte_pairs pairs
logged l.log xlm_prep --tokenizer pairs --mono en=text.en --held-out 0 -o pairs.h5 --write-vocab pairs.vocab
logged w.log xlm_cooc pairs.h5 -o pairs-cooc.h5
logged export.log xlm_cooc export pairs-cooc.h5 -o pairs.bin --vocabulary pairs.txt
[ "$(wc -l <pairs.txt)" -eq 293 ] &&
    awk 'NF != 2 { exit 1 }' pairs.txt || fail "names with white space: $(head -n 12 pairs.txt)"
[ "$(sed -n '6,8p;18p' pairs.txt | cut -d ' ' -f 1 | paste -s -d ' ')" = '<0x0A>_ <0x0A><0x0A> <0x09> <0x0A>' ] ||
    fail "names with white space: $(head -n 20 pairs.txt)"
[ "$(sed -n '1,2p;13p' pairs.vocab | cut -d ' ' -f 1 | paste -s -d ' ')" = '<0x0A>_ <0x0A><0x0A> <0x0A>' ] ||
    fail "names with white space: $(head -n 20 pairs.vocab)"
paste -d ' ' <(od -A n -v -t d4 -w16 glove.bin | awk '{ print $1 - 1, $2 - 1 }') \
    <(od -A n -v -t f8 -w16 glove.bin | awk '{ print $2 }') >records
awk '$1 <= $2' records | sort -k1,1n -k2,2n >upper
equal upper table-2
[ "$(awk '$1 < $2' records | wc -l)" -eq "$(awk '$1 > $2' records | wc -l)" ] || fail "GloVe wants both directions"

# ---- errors ----
refuse() { expect "$@"; once '^xlm_cooc: '; }
refuse 64 'no file to write' xlm_cooc corpus.h5
refuse 64 'count takes one corpus' xlm_cooc -o x.h5 --window 2
refuse 64 'window=0' xlm_cooc corpus.h5 -o x.h5 --window 0
refuse 64 'memory=12Q' xlm_cooc corpus.h5 -o x.h5 --memory 12Q
refuse 64 'weights=odd' xlm_cooc corpus.h5 -o x.h5 --weights odd
refuse 64 'window 2' xlm_cooc corpus.h5 -o x.h5 --window 3 --add cooc-2.h5
refuse 66 'none.h5' ranks 2 xlm_cooc none.h5 -o x.h5
refuse 65 'job.conf' xlm_cooc job.conf -o x.h5
refuse 65 'not a table' xlm_cooc corpus.h5 -o x.h5 --add corpus.h5
refuse 73 'nowhere' xlm_cooc corpus.h5 -o nowhere/x.h5
refuse 73 'nowhere' ranks 2 xlm_cooc large.h5 -o x.h5 --scratch nowhere
refuse 64 'both input and output' xlm_cooc corpus.h5 -o ./corpus.h5
refuse 65 'zebra' xlm_cooc top zebra cooc-2.h5
refuse 64 'both input and output' xlm_cooc export cooc-2.h5 -o cooc-2.h5
refuse 64 'two outputs' xlm_cooc export cooc-2.h5 -o x.h5 --vocabulary ./x.h5
refuse 73 'nowhere' ranks 2 xlm_cooc export cooc-2.h5 -o x.h5 --vocabulary nowhere/x
cp corpus.h5 other.h5
small_corpus --bpe 80
refuse 65 'other subwords' xlm_cooc corpus.h5 -o x.h5 --add cooc-2.h5
head -c $(($(stat -c %s cooc-2.h5) / 2)) cooc-2.h5 >cut.h5
refuse 65 'cut.h5' xlm_cooc top house cut.h5
for n in 1 2; do
    # shellcheck disable=SC2016 # expanded by the inner shell
    OMPI_MCA_btl=self,tcp expect 74 'small.h5' sh "$XLM_SOURCE/tests/mpirun.sh" $n \
        sh -c 'ulimit -f 300; exec xlm_cooc large.h5 -o small.h5'
done
# A rank that is killed once it has written to its scratch file: there is much to count then still.
# shellcheck disable=SC2046 # process ids are words
has_scratch_files() { grep -q "$(pwd -P)/.*(deleted)" $(rank_processes | sed 's|.*|/proc/&/maps|') 2>/dev/null; }
for try in {1..5}; do
    start 2 xlm_cooc large.h5 -o small.h5 --window 64 --memory 1M --scratch . >killed.log 2>&1
    until has_scratch_files || ! kill -0 "$launcher" 2>/dev/null; do sleep 0.1; done
    victim=$(rank_processes | sed -n 2p)
    [ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null
    ended
    [ "$code" -eq 0 ] || break
    # Done before it was killed: a larger text takes longer.
    rm small.h5
    cat random random >twice && mv twice random
    logged l.log xlm_prep --mono en=random --words space --bpe 600 -o large.h5
done
[ "$code" -ne 0 ] && [ -n "$victim" ] || fail "a rank was killed: exit code $code, try $try: $(tail -n 3 killed.log)"
[ ! -e x.h5 ] && [ ! -e small.h5 ] && ! ls -A | grep -q unfinished || fail "left: $(ls -A)"
finish
