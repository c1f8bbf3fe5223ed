#!/usr/bin/env bash
# xlm-mpi: word alignment by a model's hidden states, worked out again from its matrices, on 1, 2 and 4 ranks.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
logged train.log xlm_train job.conf --set train.steps=40
model=out/latest
head -n 100 text.en >a.en
head -n 100 text.xx >a.xx
# A side that is empty, one of blanks, a pair that is longer than the model's 96 positions, a word that no vocabulary has, and
# a word of which nothing is left.
{
    echo
    echo 'the house'
    yes house | head -n 300 | paste -sd ' '
    echo 'the Ω house'
    printf 'old \xe2\x80\x8b house\n'
} >>a.en
{ echo 'thye hyouyse'; echo '   '; echo hyouyse; echo 'hyouyse thye'; echo 'hyouyse yold'; } >>a.xx
pairs=105
align() { xlm_align a.en a.xx --checkpoint "$model" "$@"; }
# matrices FILE: all that is in it of the pairs.
matrices() {
    local options=(-d /rows -d /columns -d /offsets -g /layer.0 -g /layer.1 -g /layer.2 -g /source -g /target)
    h5dump "${options[@]}" "$1" | sed 1d
}

# ---- the same on 1, 2 and 4 ranks; one layer alone and all of them ----
for method in ot argmax itermax; do
    for n in 1 2 $([ $method = ot ] && echo 4); do
        ranks "$n" xlm_align a.en a.xx --checkpoint "$model" --method "$method" --layer all -o "$method.$n" \
            --scores "$method.$n.s" --matrices "$method.$n.h5" >"table.$n" 2>"log.$n" ||
            fail "$method on $n ranks: $(cat "log.$n")"
        cmp table.1 "table.$n"
        for layer in 0 1 2; do
            for file in "$n.layer$layer" "$n.s.layer$layer"; do
                cmp "$method.1.${file#*.}" "$method.$file" || fail "$method, ${file#*.}: not the same on $n ranks"
            done
        done
        cmp <(matrices "$method.1.h5") <(matrices "$method.$n.h5") || fail "matrices of $method: not the same on $n ranks"
        grep -q "^xlm_align: warning: 1 of $pairs pairs are longer than the model's 96 positions .*line 103" "log.$n" ||
            fail "$n ranks: $(cat "log.$n")"
        [ "$(wc -l <"$method.$n.layer1")" -eq "$pairs" ] || fail "$method: $(wc -l <"$method.$n.layer1") lines"
    done
    align --method "$method" --layer 2 2>/dev/null | cmp - "$method.1.layer2" || fail "--layer 2 of $method"
done
align --layer 0 2>/dev/null | cmp - ot.1.layer0 || fail "--layer 0"
# Two thirds of two layers are one; optimal transport is what is meant.
align 2>/dev/null | cmp - ot.1.layer1 || fail "the default is another layer or method"
[ -z "$(sed -n '101,103p' ot.1.layer1 | tr -d '\n')" ] ||
    fail "links of pairs that cannot be encoded: $(sed -n 101,103p ot.1.layer1)"
# One file of both texts.
paste -d'\t' a.en a.xx | sed 's/\t/ ||| /' >both
xlm_align both --languages en,xx --checkpoint "$model" 2>/dev/null | cmp - ot.1.layer1 || fail "a text of lines with |||"
gzip -k a.en a.xx
xlm_align a.en.gz a.xx.gz --checkpoint "$model" 2>/dev/null | cmp - ot.1.layer1 || fail "gzip"
# The language is before the ending of any compression.
for tool in xz:xz bzip2:bz2 zstd:zst lz4:lz4 lzip:lz compress:Z; do
    ! command -v "${tool%:*}" >/dev/null || {
        for side in en xx; do "${tool%:*}" -c a.$side >"a.$side.${tool#*:}"; done
        xlm_align "a.en.${tool#*:}" "a.xx.${tool#*:}" --checkpoint "$model" 2>/dev/null | cmp - ot.1.layer1 || fail "${tool%:*}"
    }
done

# ---- links, from the matrices by hand ----
values() { h5dump -y -w 1 -m '%.9g' -d "$1" "$2" | sed -n '/ATTRIBUTE/q; s/^ *\([-0-9][-0-9.e+]*\),\{0,1\}$/\1/p'; }
# by_hand METHOD LAYER FILE: links and their scores.
by_hand() {
    local path
    for path in rows columns offsets layer.$2/values source/offsets source/words target/offsets target/words; do
        values "/$path" "$3" | awk -v name="${path%%/*} ${path##*/}" '{ print name, $1 }'
    done | awk -v method="$1" '
        { key = $1 ~ /^layer/ ? "value" : $1 == $2 ? $1 : $1 " " $2; x[key, n[key]++ + 0] = $3 }
        function argmaxes(    i, j) {
            for (i = 0; i < r; i++) { row[i] = 0; for (j = 1; j < c; j++) if (s[i, j] > s[i, row[i]]) row[i] = j }
            for (j = 0; j < c; j++) { col[j] = 0; for (i = 1; i < r; i++) if (s[i, j] > s[col[j], j]) col[j] = i }
        }
        function link(i, j) { linked[i, j] = 1; source[i] = 1; target[j] = 1 }
        function count(all,    k, sum) { for (k in all) sum++; return sum }
        function second(    i, j, k) {
            if (method == "argmax") return
            if (method == "itermax" && (r <= 2 || c <= 2 || count(source) == r || count(target) == c)) return
            for (i = 0; i < r; i++) for (j = 0; j < c; j++) {
                if (method == "itermax" && (i in source) && (j in target)) s[i, j] = 0
                else if ((i, j) in linked) s[i, j] = 0
                else if ((i in source) || (j in target)) s[i, j] *= 0.9
            }
            argmaxes()
            for (i = 0; i < r; i++)
                if (col[row[i]] == i && !(method == "itermax" && (i in source) && (row[i] in target))) new[i] = row[i]
            for (i in new) link(i, new[i])
        }
        END {
            for (p = 0; p < n["rows"]; p++) {
                r = x["rows", p]; c = x["columns", p]; at = x["offsets", p]
                split("", s); split("", linked); split("", source); split("", target); split("", new); split("", best)
                for (i = 0; i < r; i++) for (j = 0; j < c; j++) first[i, j] = s[i, j] = x["value", at + i * c + j] + 0
                if (r > 0) {
                    argmaxes()
                    for (i = 0; i < r; i++) if (col[row[i]] == i) new[i] = row[i]
                    for (i in new) link(i, new[i])
                    split("", new)
                    second()
                }
                most[0] = most[1] = 0
                for (k in linked) {
                    split(k, ij, SUBSEP)
                    a = x["source words", x["source offsets", p] + ij[1]] + 0
                    b = x["target words", x["target offsets", p] + ij[2]] + 0
                    if (a > most[0]) most[0] = a
                    if (b > most[1]) most[1] = b
                    if (!((a, b) in best) || first[ij[1], ij[2]] > best[a, b]) best[a, b] = first[ij[1], ij[2]]
                }
                line = ""
                for (a = 0; a <= most[0]; a++) for (b = 0; b <= most[1]; b++) if ((a, b) in best)
                    line = line (line == "" ? "" : " ") a "-" b ":" sprintf("%.4g", best[a, b])
                print line
            }
        }'
}
# with_scores NAME LAYER: of two files.
with_scores() {
    paste -d'|' "$1.layer$2" "$1.s.layer$2" | awk -F'|' '{
        n = split($1, link, " "); m = split($2, score, " ")
        if (n != m) { print "not as many scores as links"; next }
        line = ""
        for (i = 1; i <= n; i++) line = line (i > 1 ? " " : "") link[i] ":" sprintf("%.4g", score[i])
        print line }'
}
for method in ot argmax itermax; do
    for layer in 0 2; do
        by_hand "$method" "$layer" "$method.1.h5" >by_hand.txt
        with_scores "$method.1" "$layer" | diff by_hand.txt - >difference || fail "$method, layer $layer: $(head -n 6 difference)"
        [ "$(grep -c - by_hand.txt)" -ge 100 ] || fail "$method, layer $layer: few links by hand: $(head -n 3 by_hand.txt)"
    done
done
# Columns of A* add up to 1; cosines are between 0 and 1; words that have no subwords have numbers all the same.
values /rows ot.1.h5 >rows.txt
values /columns ot.1.h5 >columns.txt
values /layer.1/values ot.1.h5 | paste -sd ' ' | cat - <(paste -d ' ' rows.txt columns.txt) | awk '
    NR == 1 { for (i = 1; i <= NF; i++) x[i - 1] = $i; next }
    { for (j = 0; j < $2; j++) {
          sum = 0
          for (i = 0; i < $1; i++) sum += x[at + i * $2 + j]
          if (sum < 0.9999 || sum > 1.0001) bad++
      }
      at += $1 * $2; pairs++ }
    END { exit bad > 0 || at != length(x) || pairs != '$pairs' }' || fail "columns of A* do not add up to 1"
[ "$(attribute /encode ot.1.h5)" = '"xlm"' ] || fail "the form of pairs is not that of the job: $(attribute /encode ot.1.h5)"

# ---- the form of pairs, which what is made of a model keeps ----
# in_form FORM MODEL: how pairs are encoded by default, where the model says that it was trained with some.
in_form() {
    xlm_align a.en a.xx --checkpoint "$2" -o form.links 2>form.log || fail "$2: $(cat form.log)"
    grep -q "pairs: encoded in the form $1, as when the model was trained" form.log || fail "$2: $(grep pairs: form.log)"
}
in_form xlm "$model"
logged form.log xlm_convert "$model" --average "$model" -o mean.h5
logged form.log xlm_convert mean.h5 --add-languages de -o more.h5
sed '/^\[stream pairs\]/,/^$/d; /^\[objective tlm\]/,$d' job.conf >mono.conf
logged form.log xlm_train mono.conf --set train.start=mean.h5 --set train.steps=1 --set train.output=mono
logged form.log xlm_train mono.conf --set train.start=mean.h5 --set train.steps=2 --set train.output=mono
head -n 50 text.en >tagged.en
phrases tagged.en >tagged.tsv
tagger_job tagged.tsv
logged form.log xlm_tune tune.conf --set tune.model=mono/latest
# Objectives for which each sentence of a pair is encoded alone have no form of pairs.
sed '/^\[objective tlm\]/,$d' job.conf >moco.conf
printf '[objective moco]\nstream = pairs\nqueue = 8\n' >>moco.conf
logged form.log xlm_train moco.conf --set train.start=mean.h5 --set train.steps=1 --set "stream pairs.form=bert" \
    --set "stream pairs.shuffle_sides=true" --set train.output=moco
for made in mean.h5 more.h5 mono/latest tag/latest moco/latest; do in_form xlm $made; done
xlm_align a.en a.xx --checkpoint mean.h5 2>/dev/null | cmp - ot.1.layer1 || fail "the mean links in another way"
logged form.log xlm_train job.conf --set train.steps=1 --set "stream pairs.form=bert" --set train.output=bert
in_form bert bert/latest
logged form.log xlm_convert bert/latest --average "$model" -o both.h5
logged form.log xlm_train mono.conf --set train.steps=1 --set train.output=none-seen
for made in both.h5 none-seen/latest; do
    xlm_align a.en a.xx --checkpoint $made -o form.links 2>form.log || fail "$made: $(cat form.log)"
    grep -q "pairs: encoded in the form bert, though nothing in $made says .*; --encode apart" form.log ||
        fail "$made: $(grep pairs: form.log)"
done
align --encode apart 2>&1 >/dev/null | grep -q 'pairs: each sentence is encoded alone' || fail "--encode apart is not in the log"
sed -n 105p ot.1.layer1 | grep -q '2-' || fail "the third word of line 105 has no link: $(sed -n 105p ot.1.layer1)"

# ---- what is compared: hidden states of each sentence alone ----
echo . >dot.en
echo . >dot.xx
xlm_align dot.en dot.xx --checkpoint "$model" --encode apart --method argmax --layer 1 --matrices dot.h5 >dot.links 2>/dev/null
for language in en xx; do
    xlm_embed export "$model" --text dot.$language --language $language --layer 1 2>/dev/null >dot.$language.vector
done
paste <(tr ' ' '\n' <dot.en.vector) <(tr ' ' '\n' <dot.xx.vector) | awk -v found="$(values /layer.1/values dot.h5)" '
    { xy += $1 * $2; xx += $1 * $1; yy += $2 * $2 }
    END { d = found - (1 + xy / sqrt(xx * yy)) / 2; exit !(NR == 32 && d < 1e-6 && d > -1e-6) }' ||
    fail "the similarity of two full stops: $(values /layer.1/values dot.h5)"
[ "$(cat dot.links)" = 0-0 ] || fail "two full stops: $(cat dot.links)"
# Alone, apart, there is room for the long one on neither side; together with others nothing changes.
align --encode apart --layer 1 2>/dev/null >apart.links
sed -n 50p a.en >one.en
sed -n 50p a.xx >one.xx
xlm_align one.en one.xx --checkpoint "$model" --encode apart --layer 1 2>/dev/null | cmp - <(sed -n 50p apart.links) ||
    fail "one pair"

# ---- words, and languages ----
printf 'the house.\n' >words.en
printf 'hyouyse, thye\n' >words.xx
xlm_align words.en words.xx --checkpoint "$model" 2>/dev/null | grep -Eq '^([01]-[01] ?)+$' || fail "words between blanks"
xlm_align words.en words.xx --checkpoint "$model" --words icu --matrices icu.h5 >/dev/null 2>&1 || fail "--words icu"
for side in source target; do
    [ "$(values /$side/words icu.h5 | sort -u | paste -sd ' ')" = '0 1 2' ] ||
        fail "--words icu, $side: $(values /$side/words icu.h5 | paste -sd ' ')"
done
# By the same rules for all languages, as words are numbered by other commands; those of Finnish leave "EU:n" whole.
printf 'the EU:n house.\n' >words.fi
logged fi.log xlm_convert "$model" --add-languages=fi -o fi.h5
logged fi.log xlm_align words.fi words.en --checkpoint fi.h5 --words icu --matrices fi.matrices -o fi.links
[ "$(values /source/words fi.matrices | sort -u | paste -sd ' ')" = '0 1 2 3 4 5' ] ||
    fail "--words icu, Finnish: $(values /source/words fi.matrices | paste -sd ' ')"
echo 5-2 >fi.links
[ "$(xlm_align dictionary words.fi words.en fi.links --words icu 2>fi.log)" = "$(printf '.\t.')" ] || fail "Finnish: $(cat fi.log)"
cp a.en plain
xlm_align plain a.xx --checkpoint "$model" --languages en,xx 2>/dev/null | cmp - ot.1.layer1 || fail "--languages"

# ---- gold ----
sed -e 101,105d ot.1.layer2 | sed 's/ [^ ]*$//' >gold # what layer 2 finds, without the last link
head -n 100 a.en >g.en
head -n 100 a.xx >g.xx
ranks 2 xlm_align g.en g.xx --checkpoint "$model" --layer all --gold gold -o g >table 2>/dev/null || fail "--gold"
for layer in 0 1 2; do
    [ "$(awk -v layer=$layer '$1 == layer { print $4, $5, $6, $7, $2 }' table)" = \
        "$(xlm_align score g.layer$layer gold 2>/dev/null | awk 'NR == 2 { print $1, $2, $3, $4, $6 }')" ] ||
        fail "layer $layer beside gold: $(cat table)"
done
awk '$1 == 2 { if ($6 != "100.00%" || $4 + 0 <= 0) exit 1; n++ } END { exit n != 1 }' table || fail "recall: $(cat table)"
xlm_align g.en g.xx --checkpoint "$model" --gold gold 2>/dev/null | diff - <(sed -n '1p; 3p' table) ||
    fail "one layer beside gold"
# With sentence numbers, words from 1, and 0 for NULL: as without these links, once it is known that 0 is no word.
paste -d'|' g.en g.xx | awk -F'|' '{ print "0-0", (split($1, w, " ") - 1) "-" (split($2, w, " ") - 1) }' >last
awk -F'[ -]' '{ print NR, 1, 1; print NR, $3 + 1, $4 + 1; print NR, 0, 1 }' last >null
xlm_align g.en g.xx --checkpoint "$model" --gold last >last.table 2>last.log || fail "last: $(cat last.log)"
ranks 2 xlm_align g.en g.xx --checkpoint "$model" --gold null >null.table 2>null.log || fail "0 for NULL: $(cat null.log)"
grep -q 'null: counts words from 0, .* 100 of 300 links have numbers as large as .*say --gold-words-from 1' null.log ||
    fail "no warning of NULL: $(cat null.log)"
xlm_align g.en g.xx --checkpoint "$model" --gold null --gold-words-from 1 2>null.log | diff - last.table ||
    fail "--gold-words-from 1: $(cat null.log)"
! grep -q 'warning' null.log || fail "warned of NULL: $(cat null.log)"
# Gold links of the other direction are noticed where sentences have not as many words on both sides.
head -n 60 g.en | sed 's/ [^ ]* [^ ]*$//' >short.en
head -n 60 g.xx >long.xx
awk '{ print "0-" NF - 1, NF - 1 "-" NF - 1 }' long.xx >turned
awk '{ print "0-0", NF - 1 "-0" }' short.en >right
xlm_align short.en long.xx --checkpoint "$model" --gold turned 2>turned.log >/dev/null || fail "turned: $(cat turned.log)"
grep -q 'turned: 60 of 120 links are of words that the sentences do not have; is short.en the other side' turned.log ||
    fail "gold of the other direction: $(grep turned turned.log)"
xlm_align short.en long.xx --checkpoint "$model" --gold right 2>right.log >/dev/null || fail "right: $(cat right.log)"
! grep -q 'do not have' right.log || fail "gold of this direction: $(grep 'do not have' right.log)"

# ---- errors ----
mkdir none
refused() { # CODE PATTERN ARGUMENT...
    expect "$1" "^xlm_align: .*$2" "${@:3}"
    once '^xlm_align: '
    nothing_in none
}
refused 66 'missing.h5' ranks 2 xlm_align a.en a.xx --checkpoint missing.h5 -o none/l
refused 65 'corpus.h5' ranks 2 xlm_align a.en a.xx --checkpoint corpus.h5 -o none/l
refused 66 'a.missing' ranks 2 xlm_align a.en a.missing --checkpoint "$model" --languages en,xx -o none/l
refused 64 'layer=3: the model of .* has 2 layers' ranks 2 xlm_align a.en a.xx --checkpoint "$model" --layer 3 -o none/l
refused 64 'layer=top: ' align --layer top -o none/l
refused 64 'method=best: ' align --method best -o none/l
refused 64 'encode=alone: ' align --encode alone -o none/l
refused 64 'longest, .*are not for alignment with a model' align --longest 10 -o none/l
refused 64 'languages=en: ' align --languages en -o none/l
refused 64 'no language "de"; it has en, xx' align --languages en,de -o none/l
refused 64 'say --languages SOURCE,TARGET, of en, xx' xlm_align both --checkpoint "$model" -o none/l
refused 64 'checkpoint' xlm_align a.en a.xx --layer 1 -o none/l
refused 64 'checkpoint' xlm_align a.en a.xx --gold-words-from 1 -o none/l
refused 64 'gold-words-from is for --gold' align --gold-words-from 1 -o none/l
refused 64 'gold-words-from=2: ' align --gold gold --gold-words-from 2 -o none/l
refused 65 'a.en has 105 lines, text.xx' ranks 2 xlm_align a.en text.xx --checkpoint "$model" -o none/l
refused 65 'gold has 100 sentences, a.en 105' align --gold gold -o none/l
refused 64 'a.en: is both input and output' align -o a.en
refused 64 'none/l: two outputs' align -o none/l --scores none/../none/l
refused 73 'none/no/l' align -o none/no/l
refused 73 'none/no/m.h5' ranks 2 xlm_align a.en a.xx --checkpoint "$model" -o none/l --matrices none/no/m.h5
sed '70s/$/ \xff/' a.en >bad.en
refused 65 'bad.en:70: byte [0-9]*: not UTF-8 (0xff)' ranks 2 xlm_align bad.en a.xx --languages en,xx --checkpoint "$model" \
    -o none/l --matrices none/m.h5
finish
