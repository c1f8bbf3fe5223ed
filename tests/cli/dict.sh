#!/usr/bin/env bash
# xlm-mpi: dictionaries of a corpus's subwords from text, dictd files and twin maps. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
# 400 merges: most words of this language are one subword.
small_corpus --bpe 400
languages=(--source en --target xx)

# pairs FILE PATH [CORPUS]: "word word", by name, of the pairs of a dictionary, sorted.
pairs() {
    strings /vocabulary/words "${3-corpus.h5}" >words.txt
    pairs_of "$2" "$1" | awk 'FILENAME == "words.txt" { word[n++] = $0; next } { print word[$1], word[$2] }' words.txt - | sort
}

# ---- text: spaces and tabs, a byte order mark, CR LF, empty lines, several translations, bad lines ----
nouns='house river teacher garden window student book mountain'
{
    printf '\xef\xbb\xbf'
    for noun in $nouns; do echo "$noun $(echo "$noun" | sed 's/[aeiou]/y&/g')"; done
    printf 'red\tryed\r\n\n'
    printf 'red  ryed\n'            # twice
    printf 'red smyall\n'           # a second translation
    printf 'old red\tyold ryed\n'   # several words
    printf 'zebra zyebra\n'         # several subwords
    printf 'quick Q\n'              # a character that the corpus does not have
    printf '. .\n'                  # itself
    printf 'alone\n'                # bad: 17
    printf 'one two three\n'        # bad: 18
    printf 'caf\xe9 x\n'            # bad: 19
    printf 'a\tb\tc\n'              # bad: 20
} >muse.txt
for noun in $nouns; do echo "$noun $(echo "$noun" | sed 's/[aeiou]/y&/g')"; done >wanted.txt
printf 'red ryed\nred smyall\n' >>wanted.txt
sort -o wanted.txt wanted.txt
for n in 1 2 4; do
    ranks $n xlm_dict corpus.h5 "${languages[@]}" --text muse.txt -o dict.h5 >dict.log 2>&1 || fail "$n ranks: $(cat dict.log)"
    mv dict.h5 dict-$n.h5
    same_objects dict-1.h5 dict-$n.h5 || fail "$n ranks: another file"
done
pairs dict-1.h5 /dictionary/pairs | cmp - wanted.txt || fail "pairs: $(pairs dict-1.h5 /dictionary/pairs)"
[ -z "$(pairs_of /dictionary/left_out dict-1.h5)" ] || fail "something is left out of a share of 1"
pairs_of /dictionary/pairs dict-1.h5 | sort -c -k1,1n -k2,2n || fail "not sorted"
grep -q 'read: 15 entries; 4 bad lines' dict.log || fail "entries: $(cat dict.log)"
for left_out in 'entries with several words' 'with a word of several subwords' 'with a word that is not in the vocabulary' \
    'of a word with itself'; do
    grep -q "[ ,]1 $left_out" dict.log || fail "left out, $left_out: $(cat dict.log)"
done
grep -q '0 with a twin of another language' dict.log || fail "left out: $(cat dict.log)"
grep -q 'muse.txt:17: one word alone' dict.log && grep -q 'muse.txt:18: more than two words' dict.log &&
    grep -q 'muse.txt:19: not UTF-8' dict.log ||
    fail "the first bad lines are not shown: $(cat dict.log)"
! grep -q 'muse.txt:20' dict.log || fail "more than three bad lines are shown"
gzip -c muse.txt >muse.gz
xlm_dict corpus.h5 "${languages[@]}" --text muse.gz -o gz.h5 2>gz.log && same_objects dict-1.h5 gz.h5 /dictionary ||
    fail "from gzip: $(cat gz.log)"
[ "$(attribute /source gz.h5)" = '"en"' ] && [ "$(attribute /target gz.h5)" = '"xx"' ] &&
    [ "$(attribute /subwords gz.h5)" = '"one"' ] ||
    fail "attributes: $(h5dump -A gz.h5 | head -40)"
attribute /command gz.h5 | grep -q 'xlm_dict corpus.h5' && attribute /program_version gz.h5 | grep -q xlm_dict ||
    fail "provenance"
h5dump -d /inputs gz.h5 | grep -q "muse.gz: $(stat -c %s muse.gz) bytes, SHA-256 $(sha256sum muse.gz | cut -d' ' -f1)" ||
    fail "inputs: $(h5dump -d /inputs gz.h5)"

# ---- coverage, counted by hand ----
numbers /train/text/en/tokens corpus.h5 | sort -n | uniq -c | sort -k1,1nr -k2,2n | awk '{ print $2, $1 }' >counts.txt
pairs_of /dictionary/pairs dict-1.h5 | cut -d' ' -f1 | sort -u >known.txt
# coverage SHARE NAME: of the most frequent subwords of en, up to that share of them (counts.txt), how many the dictionary has.
coverage() {
    awk -v share="$1" -v name="$2" '
        FILENAME == "known.txt" { known[$1]; next }
        { id[++n] = $1; count[n] = $2 }
        END {
            size = int(share * n)
            if (size < share * n) size++
            for (i = 1; i <= size; i++) {
                tokens += count[i]
                if (id[i] in known) { subwords++; known_tokens += count[i] }
            }
            printf "coverage of en, %s: %d of %d subwords (%.1f %%), ", name, subwords, size, 100 * subwords / size
            printf "%.1f %% of their tokens", 100 * known_tokens / tokens
        }' known.txt counts.txt
}
for band in '0.01 top 1 %' '0.1 top 10 %' '0.5 top 50 %' '1 all'; do
    line=$(coverage "${band%% *}" "${band#* }")
    grep -qF "$line" dict.log || fail "no '$line' in: $(grep coverage dict.log)"
done
[ "$(grep -c 'coverage of xx' dict.log)" -eq 4 ] || fail "coverage of the target: $(cat dict.log)"

# ---- words of several subwords by their first, in a corpus of short ones ----
xlm_prep --mono en=text.en --mono xx=text.xx --words space --bpe 60 --held-out 0.1 -o short.h5 >prep.log 2>&1 ||
    fail "$(cat prep.log)"
xlm_dict short.h5 "${languages[@]}" --text muse.txt -o one.h5 2>one.log || fail "short words: $(cat one.log)"
xlm_dict short.h5 "${languages[@]}" --text muse.txt --subwords first -o first.h5 2>first.log ||
    fail "--subwords first: $(cat first.log)"
pairs one.h5 /dictionary/pairs short.h5 >one.txt
pairs first.h5 /dictionary/pairs short.h5 >more.txt
! grep -q '@@' one.txt && [ "$(wc -l <one.txt)" -lt "$(wc -l <wanted.txt)" ] || fail "--subwords one: $(cat one.txt)"
grep -q '@@ ' more.txt && [ -z "$(comm -23 one.txt more.txt)" ] || fail "--subwords first: $(cat more.txt)"
# Each pair is of the beginnings of the words of one entry.
tr -d @ <more.txt | while read -r source target; do
    grep -q "^$source[^ ]* $target" wanted.txt || echo "$source $target"
done >strange.txt
[ ! -s strange.txt ] || fail "not the first subwords: $(cat strange.txt)"
[ "$(attribute /subwords first.h5)" = '"first"' ] || fail "--subwords first: attribute"
# When few are taken a warning says what would take more; when many are, there is none.
! grep -q 'entries taken' dict.log || fail "advice without need: $(cat dict.log)"
{ echo 'the thye'; awk 'BEGIN { for (i = 0; i < 30; i++) print "zebra" i, "zyebra" i }'; } >long.txt
xlm_dict short.h5 "${languages[@]}" --text long.txt -o long.h5 2>long.log || fail "long words: $(cat long.log)"
grep -q 'warning: only 1 of 31 entries taken (3.2 %): give --subwords first' long.log || fail "no advice: $(cat long.log)"
{ echo 'the thye'; awk 'BEGIN { for (i = 0; i < 30; i++) print "house Q" i }'; } >long.txt
xlm_dict short.h5 "${languages[@]}" --text long.txt --subwords first -o long.h5 2>long.log ||
    fail "other letters: $(cat long.log)"
grep -q 'warning: only 1 of 31 entries taken (3.2 %): .* the text of the corpus' long.log || fail "no advice: $(cat long.log)"

# ---- a share, with a seed: nested, and cut by source word ----
for share in 0.3 0.6; do
    xlm_dict corpus.h5 "${languages[@]}" --text muse.txt --share $share --seed 3 -o share.h5 2>share.log ||
        fail "--share $share: $(cat share.log)"
    pairs share.h5 /dictionary/pairs >in-$share.txt
    pairs share.h5 /dictionary/left_out >out-$share.txt
    sort in-$share.txt out-$share.txt | cmp - wanted.txt || fail "--share $share: both parts together are not the whole"
    [ -z "$(comm -12 <(cut -d' ' -f1 in-$share.txt | sort -u) <(cut -d' ' -f1 out-$share.txt | sort -u))" ] ||
        fail "--share $share: a source word is in both"
    [ "$(cut -d' ' -f1 in-$share.txt | sort -u | wc -l)" -eq "$(awk -v s=$share 'BEGIN { print int(s * 9 + 0.5) }')" ] ||
        fail "--share $share: $(cat in-$share.txt)"
done
[ -z "$(comm -23 in-0.3.txt in-0.6.txt)" ] || fail "a smaller share is not part of a larger one"
others=
for seed in 4 5 6; do
    xlm_dict corpus.h5 "${languages[@]}" --text muse.txt --share 0.3 --seed $seed -o share.h5 2>/dev/null
    pairs share.h5 /dictionary/pairs | cmp -s - in-0.3.txt || others=yes
done
[ -n "$others" ] || fail "other seeds draw the same"

# ---- dictd: an index in base 64, a text in gzip's form ----
digits=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/
base64_of() {
    local n=$1 out=
    while :; do out=${digits:n % 64:1}$out; n=$((n / 64)); [ "$n" -gt 0 ] || break; done
    printf %s "$out"
}
: >small.dict; : >small.index
entry() { # HEADWORD-IN-THE-INDEX TEXT
    local from
    from=$(stat -c %s small.dict)
    printf '%b' "$2" >>small.dict
    printf '%s\t%s\t%s\n' "$1" "$(base64_of "$from")" "$(base64_of $(($(stat -c %s small.dict) - from)))" >>small.index
}
entry 00databaseinfo 'house\nryed\n'
notes='      "old house"  - smyall\n         Note: ryivyer\n   Synonym: {ryivyer}\n\n see: {ryivyer}\n'
entry house "house /haus/ <n>\nhyoyusye <neut>, ryed <adj> [arch.]\n$notes"
entry house 'house\n [Am.] gyardyen (x, y) ; byoyok\n'
entry red 'red /rɛd/ (redder /r/ <>) <adj>\n1. ryed {x}\n2. smyall\n'
entry '' 'old <adj>\nyold red, ryed\n'
entry none 'none\n   Note: nothing\n'
printf 'bad line\nfar\tzzzzz\tB\nodd\t*\tB\n' >>small.index
gzip -c small.dict >small.dict.dz && mv small.dict plain.dict
printf 'house gyardyen\nhouse hyoyusye\nred ryed\n' >first.txt
printf 'house byoyok\nhouse gyardyen\nhouse hyoyusye\nhouse ryed\nold ryed\nred ryed\nred smyall\n' >all.txt
for translations in first all; do
    xlm_dict corpus.h5 "${languages[@]}" --dictd small.index --translations $translations -o dictd.h5 2>dictd.log ||
        fail "--dictd: $(cat dictd.log)"
    pairs dictd.h5 /dictionary/pairs | cmp - $translations.txt ||
        fail "--dictd, $translations: $(pairs dictd.h5 /dictionary/pairs)"
done
grep -q '4 bad lines' dictd.log && grep -q 'small.index:6: leads to an entry without a translation' dictd.log &&
    grep -q 'small.index:7: not .headword' dictd.log && grep -q 'small.index:8: leads beyond the end' dictd.log ||
    fail "bad lines: $(cat dictd.log)"
rm small.dict.dz && mv plain.dict small.dict
xlm_dict corpus.h5 "${languages[@]}" --dictd small -o plain.h5 2>dictd.log &&
    pairs plain.h5 /dictionary/pairs | cmp - first.txt || fail "plain: $(cat dictd.log)"
h5dump -d /inputs plain.h5 | grep -q 'small.dict: ' && h5dump -d /inputs plain.h5 | grep -q 'small.index: ' ||
    fail "inputs: $(h5dump -d /inputs plain.h5)"

# ---- twins: literally; and several files together ----
printf 'house\thyoyusye\nHOUSE\thyoyusye\nred\tryed\nold red\n' >twins.txt
xlm_dict corpus.h5 "${languages[@]}" --twins twins.txt -o twins.h5 2>twins.log || fail "--twins: $(cat twins.log)"
printf 'house hyoyusye\nred ryed\n' | cmp - <(pairs twins.h5 /dictionary/pairs) ||
    fail "--twins: $(pairs twins.h5 /dictionary/pairs)"
grep -q '1 bad lines' twins.log && grep -q '1 with a word that is not in the vocabulary' twins.log ||
    fail "--twins: $(cat twins.log)"
[ "$(attribute /subwords twins.h5)" = '"literal"' ] || fail "--twins: subwords"
xlm_dict corpus.h5 "${languages[@]}" --twins twins.txt --dictd small --text muse.txt -o three.h5 2>three.log ||
    fail "three: $(cat three.log)"
sort -u wanted.txt first.txt | cmp - <(pairs three.h5 /dictionary/pairs) || fail "three: $(pairs three.h5 /dictionary/pairs)"

# ---- wrong input: the exit code, one message, and nothing written ----
dict() { ranks 2 xlm_dict "$@" -o wrong.h5; }
wrong() {
    expect "$@"
    [ "$(grep '^xlm_dict: ' expect.err | grep -vc warning:)" -eq 1 ] || fail "not one message: $(cat expect.err)"
    [ ! -e wrong.h5 ] || fail "something was written"
    [ -z "$(find . -name '*unfinished*')" ] || fail "something was left"
}
# Text without blanks, of which SentencePiece makes subwords that are the mark of a beginning alone: they are nobody's translation.
awk 'BEGIN {
        seed = 7
        n = split("山 水 火 木 金 土 人 口 手 目 天 地 日 月 星 雨 風 雪 花 鳥", sign, " ")
        for (i = 0; i < n; i++) print "w" i "o", sign[i + 1] sign[(i * 7 + 3) % n + 1] >"unspaced.txt"
        for (line = 0; line < 300; line++) {
            text = translation = ""
            for (k = 0; k < 6; k++) {
                seed = (seed * 16807) % 2147483647
                i = k == 0 ? 0 : seed % n
                text = text " w" i "o"
                translation = translation sign[i + 1] sign[(i * 7 + 3) % n + 1]
            }
            print substr(text, 2) >"spaced.en"
            print translation >"unspaced.zh"
        }
    }'
logged prep.log xlm_prep --mono en=spaced.en --mono zh=unspaced.zh --unigram 100 -o unspaced.h5
strings /vocabulary/words unspaced.h5 | grep -qxF '▁' || fail "no subword is the mark alone"
logged dict.log xlm_dict unspaced.h5 --source en --target zh --text unspaced.txt --subwords first -o unspaced-dict.h5
xlm_dict unspaced.h5 --source en --target zh --text unspaced.txt --subwords first >unspaced.pairs 2>dict.log ||
    fail "$(cat dict.log)"
[ "$(wc -l <unspaced.pairs)" -ge 10 ] && ! grep -q '	▁$' unspaced.pairs || fail "a mark is a translation: $(head -n 3 unspaced.pairs)"
printf 'x1 y1\nx2 y2\n' >foreign.txt
wrong 65 'none of 2 entries is in the vocabulary' dict corpus.h5 "${languages[@]}" --text foreign.txt
: >empty.txt
wrong 65 'none of 0 entries' dict corpus.h5 "${languages[@]}" --text empty.txt
printf 'house hyoyusye\n<mask> ryed\n' >special.txt
wrong 65 'special.txt:2: <mask> is a special token' dict corpus.h5 "${languages[@]}" --text special.txt
printf 'house\t</s>\n' >special.txt
wrong 65 'special.txt:1: </s> is a special token' dict corpus.h5 "${languages[@]}" --twins special.txt
wrong 66 'missing.txt' dict corpus.h5 "${languages[@]}" --text missing.txt
wrong 66 'missing.index' dict corpus.h5 "${languages[@]}" --dictd missing
wrong 66 'missing.h5' dict missing.h5 "${languages[@]}" --text muse.txt
wrong 65 'muse.txt' dict muse.txt "${languages[@]}" --text muse.txt
wrong 64 'no text of language "fr"; it has en, xx' dict corpus.h5 --source en --target fr --text muse.txt
wrong 64 'both en' dict corpus.h5 --source en --target en --text muse.txt
for share in 0 -0.5 1.01 nan; do
    wrong 64 'must be in (0, 1\]' dict corpus.h5 "${languages[@]}" --text muse.txt --share=$share
done
wrong 64 'nothing to read' dict corpus.h5 "${languages[@]}"
wrong 64 'must be first or one' dict corpus.h5 "${languages[@]}" --text muse.txt --subwords two
wrong 64 'is for --dictd' dict corpus.h5 "${languages[@]}" --text muse.txt --translations all
head -c 60 muse.gz >cut.gz
wrong 65 'cut.gz' dict corpus.h5 "${languages[@]}" --text cut.gz
head -c 60 <(gzip -c small.dict) >cut.dict.dz && cp small.index cut.index
wrong 65 'cut.dict.dz' dict corpus.h5 "${languages[@]}" --dictd cut
touch file
expect 73 'file/d.h5' xlm_dict corpus.h5 "${languages[@]}" --text muse.txt -o file/d.h5
xlm_dict --help | grep -q 'Usage: xlm_dict' || fail "--help"
finish
