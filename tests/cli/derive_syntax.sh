#!/usr/bin/env bash
# xlm-mpi: synthetic languages with the syntax of another one, by xlm_prep. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

sentences() { grep -v '^#' "$1" | awk -F '\t' 'NF == 0 { print substr(line, 2); line = ""; next } { line = line " " $2 }'; }

# ---- weights: objects before verbs (nearly always), adjectives after nouns 4 times out of 5 ----
printf 'PRE_dobj_@ 12\nPRE_@_punct 20\nPRE_nsubj_@ 20\nPRE_nsubj_dobj 20\n' >verbs
printf 'PRE_det_@ 20\nPRE_DET_ADJ 20\nPRE_@NOUN&@_ADJ&amod %.15f\nBI_@NOUN_ADJ 0\n' "$(awk 'BEGIN { print log(4) }')" |
    gzip -c >nouns.gz
syntax=syntax=nouns.gz+verbs

# ---- trees over a made grammar: noun phrases are determiner, adjective, noun ----
awk 'BEGIN { OFS = "\t"
    split("cat dog house river", noun, " "); split("old red small", adjective, " "); split("sees finds likes", verb, " ")
    for (i = 0; i < 4000; i++) {
        print "# sent_id = " i
        print 1, "the", "_", "DET", "_", "_", 3, "det", "_", "_"
        print 2, adjective[1 + i % 3], "_", "ADJ", "_", "_", 3, "amod", "_", "_"
        print 3, noun[1 + i % 4] i % 97, "_", "NOUN", "_", "_", 4, "nsubj", "_", "NER=B-A"
        print 4, verb[1 + i % 3], "_", "VERB", "_", "_", 0, "root", "_", "_"
        print 5, "a", "_", "DET", "_", "_", 7, "det", "_", "_"
        print 6, "new", "_", "ADJ", "_", "_", 7, "amod", "_", "NER=B-B"
        print 7, noun[1 + (i + 1) % 4], "_", "NOUN", "_", "_", 4, "obj", "_", "NER=I-B"
        print 8, ".", "_", "PUNCT", "_", "_", 4, "punct", "_", "_"
        print ""
    } }' >tree.conllu
for n in 1 2 4; do
    ranks $n xlm_prep --derive xx=en:$syntax --derive-conllu tree.conllu syntax.$n >log 2>&1 || fail "$n ranks: $(cat log)"
    cmp syntax.1 syntax.$n || fail "$n ranks: another file"
done
sentences syntax.1 >made.txt
[ "$(wc -l <made.txt)" = 4000 ] || fail "sentences are missing"
# Objects before verbs in all but e^-12; four of five adjectives after their nouns, within 4 standard deviations.
awk '{
        for (i = 1; i <= NF; i++) {
            if ($i ~ /^(sees|finds|likes)$/) verb = i
            if ($i == "new") adjective = i
            if ($i == "a") article = i
        }
        sov += verb == NF - 1; behind += adjective == article + 2
    }
    END { exit !(sov >= NR - 2 && behind > NR * 0.8 - 4 * sqrt(NR * 0.16) && behind < NR * 0.8 + 4 * sqrt(NR * 0.16)) }' \
        made.txt ||
    fail "not the order of the weights: $(head -3 made.txt)"
# The same words, and heads that lead to the same words.
heads() { grep -v '^#' "$1" | awk -F '\t' '$1 == 1 { delete word } NF { word[$1] = $2; head[$1] = $7; next }
    { n = 0; for (i in word) print s + 0, word[i], head[i] == 0 ? "-" : word[head[i]]; delete word; s++ }' | sort; }
heads tree.conllu >heads.before; heads syntax.1 >heads.after
cmp heads.before heads.after || fail "heads do not follow"
# An entity that stays together has one B-.
grep -v '^#' syntax.1 | awk -F '\t' '$10 == "NER=B-B" { b++ } $10 == "NER=I-B" { i++ } END { exit !(b == 4000 && i == 4000) }' ||
    fail "entities"
ranks 1 xlm_prep --derive xx=en:$syntax --seed 1 --derive-conllu tree.conllu other >log 2>&1
other_text <(sentences other) made.txt || fail "--seed does not draw other orders"

# ---- compositions: in the order given ----
for n in 1 3; do
    ranks $n xlm_prep --mono en=tree.conllu --derive xx=en:$syntax,transliterate --derive yy=en:transliterate,$syntax,invert \
        --derive zz=en:$syntax --words space --bpe 60 --held-out 0.1 -o made.h5 >log 2>&1 || fail "compositions: $(cat log)"
    mv made.h5 made.$n.h5
done
same_objects made.1.h5 made.3.h5 || fail "3 ranks: another corpus"
# text SPLIT LANG: its sentences, without the names of languages
text() { decode made.1.h5 "$1" "$2" | sed 's/\(xx\|yy\|zz\)://g'; }
for split in train held_out; do
    text $split zz >zz; text $split xx >xx; text $split yy >yy
    [ -s zz ] || fail "$split: no text"
    cmp xx zz || fail "$split: transliteration changes the order"
    awk '{ for (i = NF - 1; i > 0; i--) printf "%s ", $i; print $NF }' zz | cmp - yy ||
        fail "$split: syntax, invert is not syntax turned round"
done
# The corpus has the orders of the CoNLL-U file made of the same text; held-out sentences go by the text of en.
for split in train held_out; do
    text $split en >en; text $split zz >zz; paste en zz
done >pairs
sentences tree.conllu | paste - made.txt | sort -u >expected
sort -u pairs | cmp - expected || fail "corpus and CoNLL-U file differ"
# A sentence keeps its order when others are left out.
xlm_prep --mono en=tree.conllu --derive zz=en:$syntax --words space --bpe 60 --held-out 0 --max-word-characters 6 \
    --duplicates drop -o ruled.h5 >log 2>&1 || fail "rules: $(cat log)"
decode ruled.h5 train en >en; decode ruled.h5 train zz >zz
sentences tree.conllu | paste - made.txt | grep -vE '[a-z0-9]{7}' |
    awk '{ split($0, side, "\t") } !(side[1] in seen) { seen[side[1]]; print }' >expected
[ -s expected ] && paste en zz | cmp - expected || fail "orders shift when sentences are left out"
weights="nouns.gz: SHA-256 $(sha256sum <nouns.gz | cut -c 1-64); verbs: SHA-256 $(sha256sum <verbs | cut -c 1-64)"
attribute /vocabulary/made/xx/weights made.1.h5 | grep -q "$weights" || fail "no record of the weights"
h5dump -d /inputs made.1.h5 | grep -q "nouns.gz: .* SHA-256 $(sha256sum <nouns.gz | cut -c 1-64)" ||
    fail "weights are not among the inputs"

# ---- wrong input: once, and nothing written ----
mkdir none
prep=(xlm_prep --mono en=tree.conllu --words space --bpe 50 -o none/c.h5 --write-codes none/codes)
sed '3s/ .*/ much/' verbs >number
sed '2s/PRE/PRO/' verbs >kind
sed '4p' verbs >twice
gzip -c verbs | head -c 30 >cut.gz
: >nothing
for n in 1 3; do
    refuse 65 'number:3: the weight is not a number' ranks $n "${prep[@]}" --derive xx=en:syntax=nouns.gz+number
    refuse 65 'kind:2: a feature is of the kind' ranks $n xlm_prep --derive xx=en:syntax=nouns.gz+kind \
        --derive-conllu tree.conllu none/out
done
refuse 65 'twice:5: this feature occurs twice' "${prep[@]}" --derive xx=en:syntax=twice+verbs
refuse 65 'cut.gz: ' "${prep[@]}" --derive xx=en:syntax=cut.gz+verbs
refuse 65 'nothing: empty' "${prep[@]}" --derive xx=en:syntax=nothing+verbs
refuse 66 'missing: No such file' "${prep[@]}" --derive xx=en:syntax=missing+verbs
refuse 64 'two files belong here' "${prep[@]}" --derive xx=en:syntax=verbs
refuse 64 'text.en is not CoNLL-U' xlm_prep --mono en=tree.conllu,text.en --bpe 50 -o none/c.h5 --derive xx=en:$syntax
sed 's/\t[0-9]\t\([a-z]*\)\t_\t/\t_\t\1\t_\t/' tree.conllu >flat.conllu
refuse 65 'flat.conllu:2: HEAD is missing; syntax needs trees' xlm_prep --mono en=flat.conllu --words space --bpe 50 \
    -o none/c.h5 --derive xx=en:$syntax
refuse 65 'flat.conllu:2: HEAD is missing' ranks 2 xlm_prep --derive xx=en:$syntax --derive-conllu flat.conllu none/out
xlm_prep --derive xx=en:invert --derive-conllu flat.conllu flat.out >log 2>&1 || fail "labels without trees: $(cat log)"
refuse 64 'both input and output' xlm_prep --derive xx=en:$syntax --derive-conllu tree.conllu verbs
finish
