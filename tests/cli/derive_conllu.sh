#!/usr/bin/env bash
# xlm-mpi: synthetic languages of annotated text: CoNLL-U in, CoNLL-U and corpora out. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# rows: the lines of words, of standard input or a file.
rows() { grep -v '^#' "$@"; }
# sentences: words of each sentence on a line.
sentences() {
    rows "$@" | awk -F '\t' 'NF == 0 { print substr(line, 2); line = ""; next } $1 ~ /^[0-9]+$/ { line = line " " $2 }'
}

# ---- one sentence whose derivation is known ----
t() { printf '%s\n' "$*" | tr ' ' '\t'; } # columns between spaces
{
    printf '# sent_id = 1\r\n# text = Old Sam Ford didn’t see it. New York\r\n'
    t 1 Old old ADJ B-X _ 3 amod _ NER=O
    t 2 Sam Sam PROPN NNP _ 3 compound 3:compound NER=B-PER
    t 3 Ford Ford PROPN NNP _ 6 nsubj 6:nsubj NER=I-PER\|Gloss=car
    t 4-5 didn’t _ _ _ _ _ _ _ _
    t 4 did do AUX VBD _ 6 aux _ SpaceAfter=No
    t 5 n’t not PART RB Polarity=Neg 6 advmod _ NER=O\|SpacesAfter=x
    t 6 see see VERB VB _ 0 root 0:root _
    t 6.1 saw see VERB VB _ _ _ 0:root _
    t 7 it it PRON PRP _ 6 obj _ SpaceAfter=No\|Gloss=it
    t 8 . . PUNCT . _ 6 punct _ NER=O
    t 9 New New PROPN I-Y _ 10 compound _ NER=B-LOC
    t 10 York York PROPN I-Y _ 6 parataxis _ NER=I-LOC
    printf '\n\n# lonely comment\n\n# sent_id = 2\n'
    t 1 Paris Paris PROPN NNP _ 0 root _ NER=B-LOC
    t 2 Texas Texas PROPN NNP _ 1 list _ NER=B-LOC
    t 3 Ada Ada PROPN NNP _ 1 list _ NER=I-PER
} >some.conllu
{
    printf '# sent_id = 1\n# text = it see n’t did Ford Sam Old . York New\n'
    printf '# xlm_derivation = xx=en:transliterate,invert; seed 4\n'
    t 1 it it PRON PRP _ 2 obj _ Gloss=it
    t 2 see see VERB VB _ 0 root _ _
    t 3 n’t not PART RB Polarity=Neg 2 advmod _ NER=O
    t 4 did do AUX VBD _ 2 aux _ _
    t 5 Ford Ford PROPN NNP _ 2 nsubj _ NER=B-PER\|Gloss=car
    t 6 Sam Sam PROPN NNP _ 5 compound _ NER=I-PER
    t 7 Old old ADJ B-X _ 5 amod _ NER=O
    t 8 . . PUNCT . _ 2 punct _ NER=O
    t 9 York York PROPN B-Y _ 2 parataxis _ NER=B-LOC
    t 10 New New PROPN I-Y _ 9 compound _ NER=I-LOC
    printf '\n# lonely comment\n# sent_id = 2\n# xlm_derivation = xx=en:transliterate,invert; seed 4\n'
    t 1 Ada Ada PROPN NNP _ 3 list _ NER=B-PER
    t 2 Texas Texas PROPN NNP _ 3 list _ NER=B-LOC
    t 3 Paris Paris PROPN NNP _ 0 root _ NER=B-LOC
    printf '\n'
} >expected.conllu
xlm_prep --derive xx=en:transliterate,invert --seed 4 --derive-conllu some.conllu out.conllu >log 2>&1 ||
    fail "--derive-conllu: $(cat log)"
diff expected.conllu out.conllu || fail "not the sentence expected"
grep -q '2 sentences.* 1 multiword tokens, 1 empty nodes' log || fail "not counted: $(cat log)"
# The text is replaced however its comment is spaced, and no other comment is.
for comment in '# text =' '#text=' '#text =' '# text=' '#  text\t='; do
    sed "s/^# text = /$comment /" some.conllu | xlm_prep --derive xx=en:transliterate,invert --seed 4 --derive-conllu - out.conllu \
        >text.log 2>&1 || fail "$comment: $(cat text.log)"
    diff expected.conllu out.conllu || fail "$comment: not the sentence expected"
done
sed 's/^# text = /# text_en = /' some.conllu >other.conllu
xlm_prep --derive xx=en:transliterate,invert --seed 4 --derive-conllu other.conllu out.conllu >text.log 2>&1
grep -qx '# text_en = Old Sam Ford didn’t see it. New York' out.conllu || fail "# text_en: $(cat text.log out.conllu)"

# ---- a treebank of several blocks, on any number of ranks ----
awk 'BEGIN { OFS = "\t" } {
        print "# sent_id = " NR
        for (i = 1; i <= NF; i++)
            print i, $i, "_", $i == "." ? "PUNCT" : "NOUN", "_", "_", i == 1 ? 0 : 1, i == 1 ? "root" : "dep", "_",
                "NER=" (i % 3 == 0 || $i == "." ? "O" : i % 3 == 1 ? "B-A" : "I-A")
        print "" }' text.en text.en text.en >tree.conllu
cat text.en text.en text.en >lines.en
gzip -c tree.conllu >tree.conllu.gz
for n in 1 2 4; do
    ranks $n xlm_prep --derive xx=en:invert --derive-conllu tree.conllu.gz derived.$n >log 2>&1 || fail "$n ranks: $(cat log)"
    cmp derived.1 derived.$n || fail "$n ranks: another file"
    ranks $n xlm_prep --mono en=tree.conllu.gz --derive xx=en:invert,transliterate --words space --bpe 80 --held-out 0.1 \
        -o tree.h5 >log 2>&1 ||
        fail "corpus on $n ranks: $(cat log)"
    mv tree.h5 tree.$n.h5
    same_objects tree.1.h5 tree.$n.h5 || fail "$n ranks: another corpus"
done
sentences derived.1 | cmp - <(awk '{ for (i = NF - 1; i > 0; i--) printf "%s ", $i; print "." }' lines.en) ||
    fail "not turned round"
ranks 2 xlm_prep --derive en=xx:invert --derive-conllu derived.1 back >log 2>&1
rows back | cmp - <(rows tree.conllu) || fail "there and back: other annotations"
# The words of trees make the same corpus as the same words in lines.
xlm_prep --mono en=lines.en --derive xx=en:invert,transliterate --words space --bpe 80 --held-out 0.1 -o lines.h5 >log 2>&1
for path in /train/text/en/tokens /train/text/xx/tokens /held_out/text/xx/tokens /train/parallel/en-xx/links /vocabulary/words; do
    same_objects tree.1.h5 lines.h5 $path || fail "$path differs between trees and lines"
done
# Words that Unicode takes apart stay together.
{ t 1 see see VERB _ _ 0 root _ _; t 2 a.b@c/d x X _ _ 1 obj _ _; printf '\n'; } >apart.conllu
xlm_prep --mono en=apart.conllu --derive xx=en:invert --bpe 500 --held-out 0 -o apart.h5 >log 2>&1 || fail "$(cat log)"
for language in en xx; do decode apart.h5 train $language >read.$language; done
[ "$(cat read.en)" = "see $(sed 's/ see$//' read.xx)" ] || fail "apart: $(cat read.en read.xx)"

# ---- wrong trees: file and line, once, on any number of ranks, and nothing written ----
mkdir none
# wrong MESSAGE EDIT: tree.conllu with an edit by sed, read by both modes.
wrong() {
    sed "$2" tree.conllu >wrong.conllu
    for n in ${ranks_to_try:-1}; do
        expect 65 "^xlm_prep: wrong.conllu:$1" ranks $n xlm_prep --derive xx=en:invert --derive-conllu wrong.conllu none/out
        once '^xlm_prep: '
        expect 65 "^xlm_prep: wrong.conllu:$1" ranks $n xlm_prep --mono en=wrong.conllu --derive xx=en:invert --bpe 50 \
            -o none/c.h5
        nothing_in none
    done
}
line=$(grep -n '^# sent_id = 1000$' tree.conllu | cut -d : -f 1)
first=$((line + 1)) second=$((line + 2)) third=$((line + 3))
ranks_to_try='1 3' wrong "$second: two roots, words 1 and 2" "$second s/\t1\tdep/\t0\tdep/"
ranks_to_try='1 3' wrong "$second: .*circle" "$second s/\t1\tdep/\t3\tdep/; $third s/\t1\tdep/\t2\tdep/; \$ d"
wrong "$second: .*circle" "$second s/\t1\tdep/\t2\tdep/"
wrong "$first: no root" "$first s/\t0\troot/\t2\troot/"
wrong "$third: HEAD .99. is not a word" "$third s/\t1\tdep/\t99\tdep/"
wrong "$third: HEAD .x. is not a word" "$third s/\t1\tdep/\tx\tdep/"
wrong "$third: HEAD .-1. is not a word" "$third s/\t1\tdep/\t-1\tdep/"
wrong "$third: HEAD is missing" "$third s/\t1\tdep/\t_\tdep/"
wrong "$third: ID .7. where word 3" "$third s/^3/7/"
wrong "$third: 9 columns" "$third s/\t_\tNER/\tNER/"
wrong "$third: 11 columns" "$third s/\$/\tmore/"
wrong "$third: an empty column" "$third s/\t1\tdep/\t\tdep/"
wrong "$second: ID" "$second s/.*/just text/; $second s/ /\t/g; $second s/text/text\t_\t_\t_\t_\t_\t_\t_\t_/"
# The first of two errors is reported.
ranks_to_try='1 2 4' wrong "$second: two roots" "$second s/\t1\tdep/\t0\tdep/; \$! { $((line + 4000)) s/^.*$/x/ }"

printf '# only a comment\n' >comment.conllu
expect 65 'comment.conllu: empty' xlm_prep --derive xx=en:invert --derive-conllu comment.conllu none/out
expect 64 'needs one --derive' xlm_prep --derive-conllu some.conllu none/out
expect 64 'needs one --derive' xlm_prep --derive xx=en:invert --derive yy=en:invert --derive-conllu some.conllu none/out
expect 64 'takes two files' xlm_prep --derive xx=en:invert --derive-conllu some.conllu
expect 64 'seed alone' xlm_prep --derive xx=en:invert --bpe 50 --derive-conllu some.conllu none/out
expect 64 'seed alone' xlm_prep --derive xx=en:invert --add-subwords 5 --derive-conllu some.conllu none/out
expect 64 'seed alone' xlm_prep --derive xx=en:invert --add-subwords 5 --alpha 0.3 --sample 0.5 --derive-conllu some.conllu none/out
expect 64 'held-out is for --mono and --para' xlm_prep --derive xx=en:invert --held-out 0.3 --derive-conllu some.conllu none/out
expect 64 'keeps words' xlm_prep --derive xx=en:invert --lower --derive-conllu some.conllu none/out
expect 64 'both input and output' xlm_prep --derive xx=en:invert --derive-conllu some.conllu ./some.conllu
expect 64 'CoNLL-U is for --mono' xlm_prep --para en-xx=some.conllu,text.xx --bpe 50 -o none/c.h5
expect 66 'missing.conllu: No such' xlm_prep --derive xx=en:invert --derive-conllu missing.conllu none/out
nothing_in none
finish
