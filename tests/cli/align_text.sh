#!/usr/bin/env bash
# xlm-mpi: word alignment by statistics: links beside known ones, on ranks and threads, models kept and used, errors.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# text SEED SENTENCES SUFFIX: source.SUFFIX, target.SUFFIX of a made language word by word, of which some words are missing, some
# added, neighbours change places; gold.SUFFIX has the links.
text() {
    awk -v seed="$1" -v n="$2" -v suffix="$3" '
        function draw(n) { seed = (seed * 16807) % 2147483647; return int(seed / 7) % n }
        function swap(list, i,    kept) { kept = list[i]; list[i] = list[i + 1]; list[i + 1] = kept }
        BEGIN {
            for (s = 1; s <= n; s++) {
                m = 4 + draw(9); line = other = links = ""; k = at = 0
                for (i = 0; i < m; i++) {
                    w = draw(2) ? draw(8) : draw(3) ? 8 + draw(40) : 48 + draw(150)
                    line = line (i ? " " : "") "s" w
                    if (draw(12)) { word[k] = w; from[k++] = i }
                }
                for (i = 0; i + 1 < k; i++) if (!draw(4)) { swap(word, i); swap(from, i); i++ }
                for (i = 0; i < k; i++) {
                    if (!draw(10)) { other = other (at ? " " : "") "und"; at++ }
                    other = other (at ? " " : "") "T" word[i] * 7 % 199
                    links = links (i ? " " : "") from[i] "-" at++
                }
                print line > "source." suffix; print other > "target." suffix; print links > "gold." suffix
            }
        }'
}
text 5 300 a
text 99 60 b
# error_rate LINKS GOLD: in percent.
error_rate() { xlm_align score "$1" "$2" 2>/dev/null | awk 'NR == 2 { print $1 + 0 }'; }
# align OUTPUT RANKS OPTION...: the larger text.
align() { logged "$1.log" ranks "$2" xlm_align source.a target.a -o "$1" "${@:3}"; }
same() { cmp "$1" "$2" || fail "$3: $1 and $2 differ"; }
# same_model A B: but for who made it.
same_model() {
    local part
    for part in /source /target /pairs /whole; do
        same_objects "$1" "$2" "$part" >difference || fail "$1 and $2 differ in $part: $(head -3 difference)"
    done
    for part in method words lower_case sentence_pairs iterations unit; do
        [ "$(attribute /$part "$1")" = "$(attribute /$part "$2")" ] || fail "$1 and $2 differ in $part"
    done
}

# ---- links are found; the same on ranks and threads, and from all kinds of files ----
paste -d'|' source.a target.a | sed 's/|/ ||| /' >both
gzip -k source.a target.a both
for method in fertility diagonal; do
    align $method 1 --method $method --save $method.h5
    error_rate $method gold.a >rate
    case $method in fertility) most=4 ;; *) most=8 ;; esac
    is_between 0 "$(cat rate)" $most || fail "$method: AER of $(cat rate) %"
    align ranks-3 3 --method $method --save ranks.h5
    same $method ranks-3 "3 ranks"
    same_model $method.h5 ranks.h5
    OMP_NUM_THREADS=2 align threads 1 --method $method
    same $method threads "2 threads"
done
align ranks-4 4 --save ranks.h5
same fertility ranks-4 "4 ranks"
same_model fertility.h5 ranks.h5
logged z.log ranks 1 xlm_align source.a.gz target.a.gz -o found
same fertility found "gzip"
logged z.log ranks 2 xlm_align both.gz -o found
same fertility found "one gzip file, 2 ranks"
xlm_align both 2>z.log | cmp - fertility || fail "one file, to standard output: $(cat z.log)"
head -n 5 both >few
logged few.log ranks 1 xlm_align few -o few-1
logged few.log ranks 8 xlm_align few -o few-8
same few-1 few-8 "8 ranks, 5 pairs"

# ---- directions, scores, symmetrisations ----
for how in forward reverse intersection union grow-diag grow-diag-final grow-diag-final-and; do
    logged y.log xlm_align source.b target.b --symmetrise $how -o $how --forward f --reverse r --scores $how.scores
    [ "$(wc -l <$how) $(wc -l <f) $(wc -l <r) $(wc -l <$how.scores)" = "60 60 60 60" ] || fail "$how: not a line a pair"
    paste -d'|' $how $how.scores | awk -F'|' '{ n = split($2, p, " "); if (split($1, links, " ") != n) exit 1
        for (i = 1; i <= n; i++) if (p[i] !~ /^[0-9.e-]+$/ || p[i] < 0 || p[i] > 1.0001) exit 1 }' || fail "$how: scores"
    tr ' ' '\n' <$how | grep -c - >>counts
done
same forward f forward
same reverse r reverse
# A link of both directions has the root of the product of its two posterior probabilities, which are rounded.
scored() {
    paste -d'|' "$1" "$1.scores" | awk -F'|' '{ n = split($1, l, " "); split($2, p, " ")
        for (i = 1; i <= n; i++) print NR ":" l[i], p[i] }' | sort
}
join <(scored forward) <(scored reverse) | join - <(scored intersection) >three
[ "$(wc -l <three)" -ge 200 ] || fail "few links of both directions: $(wc -l <three)"
awk '{ root = sqrt($2 * $3); if ($4 - root > 0.001 || root - $4 > 0.001) { print; exit 1 } if ($2 - $3 > 0.1) unlike++ }
    END { exit !(unlike >= 5) }' three >unlike || fail "scores of both directions: $(cat unlike)"
sort -n -c <(sed -n '3p; 5,6p' counts) || fail "intersection, grow-diag and grow-diag-final do not grow: $(cat counts)"
[ "$(sed -n 4p counts)" -ge "$(sed -n 6p counts)" ] && [ "$(sed -n 7p counts)" -le "$(sed -n 6p counts)" ] || fail "$(cat counts)"

only_in_check_all

# ---- cells in a scratch file ----
for side in source target; do
    for _ in {1..20}; do cat $side.a; done >$side.c
done
logged w.log xlm_align source.c target.c -o whole --iterations 3
logged w.log ranks 2 xlm_align source.c target.c -o parts --iterations 3 --memory 1M --scratch .
same whole parts "scratch file"
logged w.log ranks 1 xlm_align source.c target.c -o parts --iterations 3 --memory 1M
same whole parts "scratch file beside the output"

# ---- models: used as they are, and as a beginning ----
for method in fertility diagonal; do
    for n in 1 3; do
        logged m.log ranks $n xlm_align source.b target.b --model $method.h5 -o used-$n
        logged m.log ranks $n xlm_align source.b target.b --model $method.h5 --iterations 2 --save more-$n.h5 -o more-$n
    done
    same used-1 used-3 "model of $method"
    same more-1 more-3 "more training of $method"
    same_model more-1.h5 more-3.h5
    error_rate used-1 gold.b >rate
    is_between 0 "$(cat rate)" 8 || fail "model of $method: AER of $(cat rate) %"
    [ "$(attribute /sentence_pairs more-1.h5)" = 360 ] || fail "pairs of both texts: $(attribute /sentence_pairs more-1.h5)"
    [ "$(numbers /source/source_links more-1.h5 | awk '{ n += $1 } END { printf "%d", n / 65536 }')" -gt \
        "$(numbers /source/source_links $method.h5 | awk '{ n += $1 } END { printf "%d", n / 65536 + 300 }')" ] ||
        fail "counts of $method do not add up"
    # All words of the text in training are new.
    sed 's/\(.\)\([0-9]\)/\1x\2/g' source.b >new.source
    logged m.log xlm_align new.source target.b --model $method.h5 --iterations 1 --save new.h5 -o new
    logged m.log xlm_align new.source target.b --model new.h5 --scores new.scores
    ! grep -q nan new.scores || fail "scores of new words"
done
# Rare words that occur only with frequent ones: their probabilities are smaller than a float can hold.
printf 's0 s1\ns0\n' >rare.source
printf 'neu1 neu2\nneu1 neu3\n' >rare.target
logged m.log xlm_align source.c target.c --method diagonal --save often.h5
logged m.log xlm_align rare.source rare.target --model often.h5 --iterations 1 --save rare.h5
logged m.log xlm_align rare.source rare.target --model rare.h5 -o rare
cp rare.h5 same.h5
logged m.log xlm_align rare.source rare.target --model same.h5 --iterations 1 --save same.h5

# ---- words ----
tr s S <source.a | awk 'NR % 2 { print toupper($0) } NR % 2 == 0 { print tolower($0) }' >case.source
logged u.log xlm_align case.source target.a --lowercase -o lower
tr S s <source.a >plain.source
tr T t <target.a >plain.target
logged u.log xlm_align plain.source plain.target -o plain
same lower plain "--lowercase"
printf 'a house, two\na house\n' >icu.source
printf 'EIN HAUS , ZWEI\nEIN HAUS\n' >icu.target
logged u.log xlm_align icu.source icu.target --words icu --save icu.h5
strings /source/words icu.h5 | grep -q -x house || fail "--words icu: $(strings /source/words icu.h5)"
logged u.log xlm_align icu.source icu.target --model icu.h5 -o icu
[ "$(attribute /words icu.h5)" = '"icu"' ] || fail "words of the model"
expect 0 'icu.h5: was trained with --words=icu, and so' xlm_align icu.source icu.target --model icu.h5 --lowercase -o icu
! grep -q 'was trained' u.log || fail "warned without cause: $(cat u.log)"

# ---- pairs that are not aligned ----
{ printf '\na b c\n'; awk 'BEGIN { for (i = 0; i < 100000; i++) printf "w%d ", i; print "" }'; echo a; } >odd.source
printf 'x\nA B C\nx y\n  \n' >odd.target
for n in 1 2; do
    expect 0 '2 of 4 pairs have an empty side, the first is line 1' ranks $n xlm_align odd.source odd.target -o odd-$n
    once '1 of 4 pairs have a side of more than 1000 words, the first is line 3'
    [ "$(awk 'NF > 0 { print NR }' odd-$n)" = 2 ] || fail "links of odd pairs: $(cat odd-$n)"
done
printf '\n\n\n' >blank.target
printf 'a b\nb\na\n' >three.source
for method in diagonal fertility; do # a side without any word
    expect 0 '3 of 3 pairs have an empty side' ranks 2 xlm_align three.source blank.target --method $method -o blank
    cmp -s blank.target blank || fail "$method: links of a side without words: $(cat blank)"
done
expect 64 '--threads=1025: must be from 0 to 1024' xlm_align three.source blank.target --threads 1025 -o blank
expect 0 '60 of 60 pairs have a side of more than 1 words' xlm_align source.b target.b --longest 1 -o odd
# Words of more than 1,024 bytes: such a pair is as one of empty lines, and such a word is in no model.
wide() { head -c "$1" /dev/zero | tr '\0' "$2"; }
{ printf 'a b c\n\n'; echo "b $(wide 1024 y)"; echo "new $(wide 1025 z) other"; wide 5000 x; echo; } >wide.source
printf 'A B C\nX\nB Y\nNEW\n\n' >wide.target
{ sed -n 1,3p wide.source; echo; echo; } >rest.source
{ sed -n 1,3p wide.target; echo; echo; } >rest.target
for words in space icu; do
    logged rest.log xlm_align rest.source rest.target --words $words -o rest --save rest.h5
    for n in 1 2; do
        expect 0 '1 of 5 pairs have a word of more than 1024 bytes, the first is line 4; they get no links' \
            ranks $n xlm_align wide.source wide.target --words $words -o wide-$n --save wide-$n.h5
        once '2 of 5 pairs have an empty side, the first is line 2'
        same rest wide-$n "a word of 1,025 bytes, --words $words"
        same_model rest.h5 wide-$n.h5
    done
    [ "$(strings /source/words wide-1.h5 | awk '{ print length() }' | sort -n | xargs)" = "1 1 1 1024" ] ||
        fail "words of the model: $(strings /source/words wide-1.h5)"
    [ "$(strings /target/words wide-1.h5 | sort | xargs)" = "A B C X Y" ] || fail "target: $(strings /target/words wide-1.h5)"
done

# ---- errors ----
mkdir none
refused() { # CODE PATTERN ARGUMENT...
    expect "$1" "^xlm_align: .*$2" "${@:3}"
    once '^xlm_align: '
    nothing_in none
}
a=(source.a target.a)
refused 65 'source.a has 300 lines, target.b' ranks 2 xlm_align source.a target.b -o none/l
grep -q 60 expect.err || fail "both counts: $(cat expect.err)"
sed '70s/$/ s\xff/' source.a >bad
expect 65 "^xlm_align: bad:70: byte $(($(sed -n 70p source.a | wc -c) + 2)): not UTF-8" ranks 3 xlm_align bad target.a -o none/l
nothing_in none
refused 65 'bad:70: byte' xlm_align bad target.a --words icu --save none/m.h5
refused 66 'missing' ranks 2 xlm_align source.a missing -o none/l
refused 73 'none/no/l' xlm_align "${a[@]}" -o none/no/l
refused 73 'none/no/m.h5' xlm_align "${a[@]}" -o none/l --save none/no/m.h5
refused 64 'diagonal.h5: is a model of the method diagonal' ranks 2 xlm_align "${a[@]}" --model diagonal.h5 --method fertility \
    -o none/l
refused 66 'missing.h5' xlm_align "${a[@]}" --model missing.h5 -o none/l
refused 65 'job.conf' xlm_align "${a[@]}" --model job.conf -o none/l
small_corpus
refused 65 'corpus.h5' xlm_align "${a[@]}" --model corpus.h5 -o none/l
head -c $(($(stat -c %s fertility.h5) / 2)) fertility.h5 >cut.h5
refused 65 'cut.h5' ranks 2 xlm_align "${a[@]}" --model cut.h5 -o none/l
refused 64 'method=best' xlm_align "${a[@]}" --method best -o none/l
refused 64 'symmetrise=best' xlm_align "${a[@]}" --symmetrise best -o none/l
refused 64 'iterations=0' xlm_align "${a[@]}" --iterations 0 -o none/l
refused 64 'longest=0' xlm_align "${a[@]}" --longest 0 -o none/l
refused 64 'save with --model' xlm_align "${a[@]}" --model fertility.h5 --save none/m.h5
refused 64 'source.a: is both' xlm_align "${a[@]}" -o ./source.a
refused 64 'fertility.h5: is both' xlm_align "${a[@]}" --model fertility.h5 -o ./fertility.h5
refused 64 'two outputs' xlm_align "${a[@]}" -o none/l --scores ./none/l
refused 64 'memory=2' xlm_align "${a[@]}" --memory 2 -o none/l
refused 73 'nowhere' ranks 2 xlm_align source.c target.c --memory 1M --scratch nowhere -o none/l
printf '\n\n' >empty
expect 65 'no model to save' xlm_align empty empty --save none/m.h5
nothing_in none

# ---- no room, and a rank that is killed ----
if is_open_mpi; then
    # limited KIB PATTERN RANKS ARGUMENT...
    limited() {
        # shellcheck disable=SC2016 # expanded by the inner shell
        OMPI_MCA_btl=self,tcp expect 74 "^xlm_align: .*$2" sh "$XLM_SOURCE/tests/mpirun.sh" "$3" \
            sh -c 'ulimit -f "$0"; exec xlm_align "$@"' "$1" "${@:4}"
        once '^xlm_align: '
        nothing_in none
    }
    limited 40 'none/l' 2 source.c target.c --iterations 1 -o none/l
    limited 8 'none/m.h5' 1 "${a[@]}" --iterations 1 --save none/m.h5
    limited 8 'scratch file' 2 source.c target.c --memory 1M -o none/l
fi
# shellcheck disable=SC2046 # process ids are words
has_scratch_files() { grep -q "$(pwd -P)/.*(deleted)" $(rank_processes | sed 's|.*|/proc/&/maps|') 2>/dev/null; }
for try in {1..5}; do
    start 2 xlm_align source.c target.c --iterations 1000 -o none/l --save none/m.h5 --memory 1M >killed.log 2>&1
    until has_scratch_files || ! kill -0 "$launcher" 2>/dev/null; do sleep 0.1; done
    victim=$(rank_processes | sed -n 2p)
    [ -z "$victim" ] || kill -KILL "$victim" 2>/dev/null
    ended
    [ "$code" -eq 0 ] || break
    # Done before it was killed: a larger text takes longer.
    rm none/l none/m.h5
    for file in source.c target.c; do cat $file $file >twice && mv twice $file; done
done
[ "$code" -ne 0 ] && [ -n "$victim" ] || fail "a rank was killed: exit code $code, try $try: $(tail -n 3 killed.log)"
[ ! -e none/l ] && [ ! -e none/m.h5 ] || fail "left: $(ls -A none)"
finish
