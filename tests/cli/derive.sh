#!/usr/bin/env bash
# xlm-mpi: synthetic languages by xlm_prep: text, pairs and twins that belong together. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# inverted: lines turned round between full stops.
inverted() {
    awk '{ line = ""; part = ""
        for (i = 1; i <= NF; i++) if ($i == ".") { line = line part " ."; part = "" } else part = " " $i part
        line = line part; print substr(line, 2) }'
}
plain() { sed 's/xx://g'; }

# ---- text: two sentences on some lines ----
awk 'NR % 3 == 0 { print $0, "so it is" NR % 10; next } { print }' text.en text.en >mono.en
options=(--mono en=../mono.en --mono de=../text.xx --para en-de=../text.en,../text.xx --derive xx=en:invert,transliterate
    --derive yy=en:invert --derive zz=de:transliterate --words space --bpe 150 --held-out 0.1 --write-twins twins -o made.h5)
for n in 1 2 4; do
    mkdir $n
    (cd $n && ranks $n xlm_prep "${options[@]}" >log 2>&1) || { cat $n/log; fail "$n ranks: exit code"; finish; }
    same_objects 1/made.h5 $n/made.h5 || fail "$n ranks: another corpus"
    cmp 1/twins $n/twins || fail "$n ranks: other twins"
done
made=1/made.h5

# ---- every sentence of the monolingual text has its derived one, at the same place ----
for split in train held_out; do
    monolingual=$(attribute /$split/text/en/monolingual_sentences $made)
    decode $made $split en | head -n "$monolingual" >$split.en
    decode $made $split xx >$split.xx
    decode $made $split yy >$split.yy
    [ -s $split.en ] || fail "$split: no text"
    inverted <$split.en | cmp - $split.yy || fail "$split: yy is not the text turned round"
    plain <$split.xx | cmp - $split.yy || fail "$split: xx is not yy in other letters"
    tr ' ' '\n' <$split.xx | grep -v '^xx:' | head -3 >wrong
    [ ! -s wrong ] || fail "$split: xx has words in letters of en: $(cat wrong)"
    for other in xx yy; do
        pairs_of /$split/parallel/en-$other/links $made >links
        seq 0 $((monolingual - 1)) | awk '{ print $1, $1 }' | cmp - links || fail "$split: links of $other"
        [ "$(attribute /$split/text/$other/monolingual_sentences $made)" = "$monolingual" ] || fail "$split: text of $other"
    done
    decode $made $split de | head -n "$(attribute /$split/text/de/monolingual_sentences $made)" >$split.de
    decode $made $split zz | sed 's/zz://g' | cmp - $split.de || fail "$split: zz is not de in other letters"
done

# ---- twins: of every subword that text of the base uses, and of no other; none of text is left over ----
awk -F '\t' '$2 != "xx:" $1 && $2 != "zz:" $1' 1/twins | head -3 >wrong
[ ! -s wrong ] || fail "twins: $(cat wrong)"
strings /vocabulary/words $made >all
subwords=$(grep -vc '^\(xx\|zz\):' all)
[ "$(wc -l <all)" = $((subwords + $(wc -l <1/twins))) ] || fail "size of the vocabulary"
for pair in en:xx de:zz; do
    { numbers /train/text/${pair%:*}/tokens $made; numbers /held_out/text/${pair%:*}/tokens $made; } | sort -nu |
        awk 'FILENAME == "all" { word[n++] = $0; next } $1 >= 5 { print word[$1] }' all - | sort >used
    grep "	${pair#*:}:" 1/twins | cut -f 1 | sort | cmp - used || fail "${pair#*:}: twins are not of what ${pair%:*} uses"
    [ "$(wc -l <used)" -lt $((subwords - 5)) ] || fail "${pair%:*} uses the whole vocabulary: nothing is tested"
done
pairs_of /vocabulary/made/xx/twins $made |
    awk 'FILENAME == "all" { word[n++] = $0; next } { print word[$1] "\t" word[$2] }' all - | cmp - <(grep '	xx:' 1/twins) ||
    fail "the table of twins"
[ "$(attribute /vocabulary/made/xx/base $made)" = '"en"' ] &&
    [ "$(attribute /vocabulary/made/xx/steps $made)" = '"invert,transliterate"' ] ||
    fail "how xx came about"

# ---- a share of the vocabulary in common ----
for share in 0.25 0.5 1; do
    xlm_prep --mono en=mono.en --derive xx=en:transliterate --shared $share --words space --bpe 150 --held-out 0 -o shared.h5 \
        --write-twins shared >log 2>&1 ||
        { cat log; fail "--shared $share"; }
    awk -v share=$share -v all="$(strings /vocabulary/words shared.h5 | grep -vc '^xx:')" -v twins="$(wc -l <shared)" \
        'BEGIN { n = all - 5; d = twins - n * (1 - share); exit !(d * d < 1) }' || fail "--shared $share: $(wc -l <shared) twins"
    decode shared.h5 train xx | plain | cmp - <(sed '/^$/d' mono.en) || fail "--shared $share: another text"
done
[ "$(strings /vocabulary/words shared.h5 | grep -c xx:)" = 0 ] || fail "--shared 1 makes twins"
xlm_prep --mono en=mono.en --derive xx=en:transliterate --shared 0.5 --seed 1 --words space --bpe 150 --held-out 0 -o s.h5 \
    --write-twins other >log 2>&1
xlm_prep --mono en=mono.en --derive xx=en:transliterate --shared 0.5 --words space --bpe 150 --held-out 0 -o s.h5 \
    --write-twins half >log 2>&1
[ "$(wc -l <other)" = "$(wc -l <half)" ] && ! cmp -s other half || fail "--seed does not draw other twins"

# ---- what is made can be trained on and read, and its dictionary too ----
sed 's/corpus.h5/1\/made.h5/; s/^steps.*/steps = 3/; s/^\[stream text\]/&\nlanguages = en,xx/
    s/^type = parallel/&\nlanguages = en-xx/' job.conf >made.conf
xlm_train made.conf >train.log 2>&1 || fail "training: $(tail -3 train.log)"
xlm_fill out/latest --language xx 'the old <mask> .' >fill.log 2>&1 || fail "xlm_fill: $(cat fill.log)"
xlm_dict $made --source en --target xx --twins 1/twins -o d.h5 >dict.log 2>&1 || fail "xlm_dict: $(cat dict.log)"
grep -q 'xx, all: .*(100.0 %)' dict.log || grep 'xx, all' dict.log | grep -q . || fail "dictionary of twins: $(cat dict.log)"
# The file has the twins of zz too; a dictionary takes those of its languages only, whatever the direction.
[ "$(pairs_of /dictionary/pairs d.h5 | wc -l)" = "$(grep -c '	xx:' 1/twins)" ] || fail "twins of another language in a dictionary"
pairs_of /dictionary/pairs d.h5 | awk 'FILENAME == "all" { word[n++] = $0; next } word[$2] !~ /^xx:/' all - | head -3 >wrong
[ ! -s wrong ] || fail "not of xx: $(cat wrong)"
expect 65 'the right way round' xlm_dict $made --source xx --target en --twins 1/twins -o reversed.h5

# ---- wrong use: once, and nothing written ----
mkdir none
prep=(xlm_prep --mono en=mono.en --words space --bpe 50 -o none/c.h5)
refuse 64 'no text of fr' "${prep[@]}" --derive xx=fr:invert
refuse 64 'no text of xx' "${prep[@]}" --derive xx=en:invert --derive yy=xx:transliterate
refuse 64 'language xx already' ranks 2 "${prep[@]}" --derive xx=en:invert --derive xx=en:transliterate
refuse 64 'language en already' "${prep[@]}" --derive en=en:invert
refuse 64 'form is --derive' "${prep[@]}" --derive xx=en
refuse 64 'not a name of a language' "${prep[@]}" --derive x-x=en:invert
refuse 64 'reverse. is not a step' "${prep[@]}" --derive xx=en:reverse
refuse 64 'invert. is given twice' "${prep[@]}" --derive xx=en:invert,transliterate,invert
refuse 64 'shared=1.5' "${prep[@]}" --derive xx=en:transliterate --shared 1.5
refuse 64 'shared=-0.1' "${prep[@]}" --derive xx=en:transliterate --shared=-0.1
refuse 64 'go with --derive' "${prep[@]}" --derive xx=en:invert --shared 0.5
refuse 64 'go with --derive' "${prep[@]}" --write-twins none/twins
refuse 64 'name it with -o' xlm_prep --mono en=mono.en --bpe 50 --derive xx=en:invert --write-codes none/codes
{ cat mono.en; yes 'xx:the the' | head -n 2000; } >clash.en
refuse 65 'another name' ranks 2 xlm_prep --mono en=clash.en --words space --bpe 60 --held-out 0 -o none/c.h5 \
    --derive xx=en:transliterate --write-twins none/twins
finish
