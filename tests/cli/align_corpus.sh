#!/usr/bin/env bash
# xlm-mpi: the sentence pairs of a corpus aligned, by statistics and by a model. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
# text_of SPLIT LANGUAGE COLUMN: the sentences of the pairs, in their order, on standard output.
text_of() {
    decode corpus.h5 "$1" "$2" >sentences.txt
    pairs_of "/$1/parallel/en-xx/links" corpus.h5 | awk -v column="$3" '
        FILENAME == "sentences.txt" { sentence[n++] = $0; next } { print sentence[$column] }' sentences.txt -
}
for split in train held_out; do
    text_of $split en 1
done >pairs.en
for split in train held_out; do
    text_of $split xx 2
done >pairs.xx
train=$(pairs_of /train/parallel/en-xx/links corpus.h5 | wc -l)
all=$(wc -l <pairs.en)
[ "$train" -ge 400 ] && [ "$all" -gt "$train" ] || fail "$train pairs of $all to learn from"

# contents FILE: all but the command, and the digest of attributes, which it is one of.
contents() {
    h5dump -m '%.9g' "$1" | awk 'NR == 1 || /ATTRIBUTE "(command|header_digest)"/ { skip = NR > 1; next }
        skip && /^   }/ { skip = 0; next } !skip'
}
# words_of SPLIT LANGUAGE COLUMN: the word of each subword of each pair's sentence, a line a pair.
words_of() {
    strings /vocabulary/words corpus.h5 >words.txt
    numbers "/$1/text/$2/tokens" corpus.h5 >tokens.txt
    numbers "/$1/text/$2/offsets" corpus.h5 >offsets.txt
    pairs_of "/$1/parallel/en-xx/links" corpus.h5 | awk -v column="$3" '
        FILENAME == "words.txt" { text[n++] = $0; next }
        FILENAME == "tokens.txt" { token[t++] = text[$1]; next }
        FILENAME == "offsets.txt" { offset[o++] = $1; next }
        { line = ""; word = 0; s = $column
          for (i = offset[s]; i < offset[s + 1]; i++) { line = line word " "; if (token[i] !~ /@@$/) word++ }
          print line }' words.txt tokens.txt offsets.txt -
}
# by_hand SPLIT LINKS SCORES: "offset" lines, then "source target score" of links between subwords.
by_hand() {
    words_of "$1" en 1 >source.txt
    words_of "$1" xx 2 >target.txt
    paste -d '|' source.txt target.txt "$2" "$3" | awk -F'|' '
        BEGIN { offset[0] = 0 }
        { n = split($1, a, " "); m = split($2, b, " "); k = split($3, link, " "); split($4, score, " ")
          split("", of)
          for (i = 1; i <= k; i++) of[link[i]] = score[i]
          for (i = 1; i <= n; i++) for (j = 1; j <= m; j++)
              if ((a[i] "-" b[j]) in of) line[++lines] = (i - 1) " " (j - 1) " " of[a[i] "-" b[j]]
          offset[NR] = lines + 0 }
        END { for (p = 0; p <= NR; p++) print offset[p]; for (i = 1; i <= lines; i++) print line[i] }'
}
# in_file SPLIT FILE: the same, in the order of the file.
in_file() {
    local path=/pairs/en-xx/$1
    numbers "$path/offsets" "$2"
    paste -d ' ' <(numbers "$path/source" "$2") <(numbers "$path/target" "$2") \
        <(h5dump -y -w 1 -m '%.9g' -d "$path/score" "$2" | sed -n '/ATTRIBUTE/q; s/^ *\([-0-9][-0-9.e+]*\),\{0,1\}$/\1/p') |
        awk '{ print $1, $2, sprintf("%.4g", $3) }'
}
# same_links FILE LINKS SCORES: the alignment has, in both splits, what the lines have.
same_links() {
    local split
    for split in train held_out; do
        if [ $split = train ]; then head -n "$train" "$2" >of.links && head -n "$train" "$3" >of.scores
        else tail -n +$((train + 1)) "$2" >of.links && tail -n +$((train + 1)) "$3" >of.scores; fi
        by_hand $split of.links of.scores | diff - <(in_file $split "$1") >difference ||
            fail "$1, $split: $(head -n 5 difference)"
    done
}

# ---- by statistics ----
for n in 1 2 4; do
    logged "$n.log" ranks "$n" xlm_align corpus.h5 --languages en,xx --split all --alignment "$n.h5" -o "$n.links" \
        --scores "$n.scores"
    cmp 1.links "$n.links" || fail "links on $n ranks"
    cmp 1.scores "$n.scores" || fail "scores on $n ranks"
    cmp <(contents 1.h5) <(contents "$n.h5") || fail "the alignment on $n ranks"
done
[ "$(wc -l <1.links)" -eq "$all" ] || fail "$(wc -l <1.links) lines of links for $all pairs"
same_links 1.h5 1.links 1.scores
# Words are those between spaces of the text that the corpus has.
logged text.log xlm_align pairs.en pairs.xx -o text.links
cmp 1.links text.links || fail "links of the corpus and of its text: $(diff 1.links text.links | head -n 4)"
for expected in 'method "fertility"' 'model "\000"' 'layer -1' 'symmetrisation "grow-diag-final-and"' 'seed 0' \
    'corpus "corpus.h5"'; do
    [ "$(attribute "/${expected%% *}" 1.h5)" = "${expected#* }" ] || fail "$expected: $(attribute "/${expected%% *}" 1.h5)"
done
logged show.log xlm_align show 1.h5 --split held_out --pair 3 --words --list
grep -q "^pair 3 of $((all - train)), en-xx held_out, by fertility, grow-diag-final-and\$" show.log ||
    fail "show: $(cat show.log)"
[ "$(grep -cE '^[0-9]+ .* - [0-9]+ .* \(' show.log)" -eq "$(sed -n "$((train + 4))p" 1.links | wc -w)" ] ||
    fail "not the links of the pair: $(sed -n "$((train + 4))p" 1.links; cat show.log)"

# One split; the other order of languages; nothing but the alignment is written, and nothing printed.
logged train.log ranks 2 xlm_align corpus.h5 --languages xx,en --alignment train.h5 --method diagonal --symmetrise union
grep -q 'has the pair en-xx: links are from en to xx' train.log || fail "the order of languages: $(cat train.log)"
! grep -q '^[0-9]*-[0-9]' train.log || fail "links on standard output"
[ "$(attribute /method train.h5) $(attribute /symmetrisation train.h5)" = '"diagonal" "union"' ] || fail "attributes of train.h5"
expect 65 'has no pairs of held_out' xlm_align show train.h5 --split held-out
# A model of the text aligns the corpus.
logged save.log xlm_align pairs.en pairs.xx --save model.h5 -o trained.links
logged held.log ranks 2 xlm_align corpus.h5 --split held-out --model model.h5 --alignment held.h5 -o held.links
tail -n +$((train + 1)) trained.links | cmp - held.links || fail "links by a model of the same text"
[ "$(attribute /model held.h5)" = '"model.h5"' ] || fail "the model is $(attribute /model held.h5)"
# Pairs that are too long have an empty range.
logged long.log ranks 2 xlm_align corpus.h5 --longest 5 --alignment long.h5 -o long.links --scores long.scores
at=$(awk 'NF > 5 { print NR - 1; exit }' pairs.en)
grep -q "of $train pairs have a side of more than 5 words, the first is pair $at of train;" long.log || fail "$(cat long.log)"
by_hand train long.links long.scores | cmp - <(in_file train long.h5) || fail "long pairs"
[ "$(numbers /pairs/en-xx/train/offsets long.h5 | sed -n "$((at + 1)),$((at + 2))p" | sort -u | wc -l)" -eq 1 ] ||
    fail "pair $at, which is long, has links"

# ---- by a model ----
logged train_model.log xlm_train job.conf --set train.steps=20
for n in 1 4; do
    logged "m$n.log" ranks "$n" xlm_align corpus.h5 --checkpoint out/latest --method argmax --split all \
        --alignment "m$n.h5" -o "m$n.links" --scores "m$n.scores"
    cmp m1.links "m$n.links" || fail "links by a model on $n ranks"
    cmp <(contents m1.h5) <(contents "m$n.h5") || fail "the alignment by a model on $n ranks"
done
same_links m1.h5 m1.links m1.scores
logged text.log xlm_align pairs.en pairs.xx --languages en,xx --checkpoint out/latest --method argmax -o text.links
cmp m1.links text.links || fail "links by a model of the corpus and of its text: $(diff m1.links text.links | head -n 4)"
for expected in 'method "argmax"' 'model "out/latest"' 'layer 1' 'symmetrisation "\000"'; do
    [ "$(attribute "/${expected%% *}" m1.h5)" = "${expected#* }" ] || fail "$expected: $(attribute "/${expected%% *}" m1.h5)"
done

# ---- errors ----
mkdir none
refused() { # CODE PATTERN ARGUMENT...
    expect "$1" "^xlm_align: .*$2" ranks "$n" xlm_align "${@:3}"
    once '^xlm_align: '
    nothing_in none
}
n=2
refused 64 'languages=en,de: not in corpus.h5, where train has en-xx' corpus.h5 --languages en,de --alignment none/a.h5
n=1
refused 64 'languages=en: ' corpus.h5 --languages en --alignment none/a.h5
refused 64 'split=dev: must be train, held_out or all' corpus.h5 --split dev --alignment none/a.h5
refused 64 'words=icu: a corpus is already split into words' corpus.h5 --words icu --alignment none/a.h5
refused 64 'corpus.h5: is both input and output' corpus.h5 --alignment corpus.h5
refused 64 'corpus.h5: is both input and output' corpus.h5 --checkpoint out/latest --alignment corpus.h5
refused 64 'none/a: two outputs' corpus.h5 --alignment none/a -o none/a
refused 64 'alignment: pairs.en is not a corpus; make one with xlm_prep' pairs.en pairs.xx --alignment none/a.h5
refused 64 'split is only for a corpus, and pairs.en is not one' pairs.en pairs.xx --split all -o none/l
refused 64 'languages is only for a corpus, and pairs.en is not one' pairs.en pairs.xx --languages en,xx -o none/l
refused 64 'corpus.h5: is HDF5, not text' pairs.en corpus.h5 -o none/l
refused 64 'writes the links of one layer' corpus.h5 --checkpoint out/latest --layer all --alignment none/a.h5
refused 65 '1.h5: not a corpus' 1.h5 --alignment none/a.h5
refused 66 'missing.h5' missing.h5 --alignment none/a.h5
refused 73 'none/no/a.h5' corpus.h5 --alignment none/no/a.h5
head -c 20000 corpus.h5 >cut.h5
refused 65 'cut.h5' cut.h5 --alignment none/a.h5
# Several pairs; a model of another vocabulary.
mv corpus.h5 first.h5
cp text.xx text.yy
small_corpus --mono yy=text.yy --para en-xx=text.en,text.xx --para yy-en=text.yy,text.en --bpe 100
refused 64 'corpus.h5: has the pairs en-xx, yy-en; say which with --languages' corpus.h5 --alignment none/a.h5
refused 64 'languages=xx,yy: not in corpus.h5, where it has en-xx, yy-en' corpus.h5 --languages xx,yy --split all -o none/l
n=2
refused 65 'out/latest: was trained with another vocabulary or other languages than corpus.h5' corpus.h5 --languages en,xx \
    --checkpoint out/latest --alignment none/a.h5
logged several.log xlm_align corpus.h5 --languages en,yy --alignment several.h5
[ "$(attribute /pairs/yy-en/train/source several.h5)" = '"yy"' ] || fail "the pair is not yy-en: $(h5ls -r several.h5)"
finish
