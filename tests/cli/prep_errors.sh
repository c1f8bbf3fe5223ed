#!/usr/bin/env bash
# xlm-mpi: what xlm_prep says to wrong input: once, with the right exit code, and without leaving anything.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
mkdir out

# refuse CODE MESSAGE OPTION...: on $ranks_to_try ranks, one line from xlm_prep, and nothing in out/. (In place of small.sh's.)
refuse() {
    local code=$1 message=$2 n
    shift 2
    for n in $ranks_to_try; do
        expect "$code" "^xlm_prep: .*$message" ranks "$n" xlm_prep "$@"
        once '^xlm_prep: '
        [ ! -s expect.out ] || fail "on standard output: $(head -3 expect.out)"
        nothing_in out
    done
}
text=(--mono en=text.en --words space)
make=("${text[@]}" --bpe 50 --write-codes out/codes -o out/corpus.h5)

# ---- use ----
ranks_to_try='1 3'
refuse 64 '--no-such-option' --no-such-option
refuse 64 'en is given twice' --mono en=text.en --mono en=text.xx --bpe 50 -o out/c.h5
refuse 64 'no subword occurs' "${make[@]}" --min-count 1000000
ranks_to_try=1
refuse 64 'no text' --bpe 50 -o out/c.h5
refuse 64 'nothing to do' "${text[@]}" --bpe 50
refuse 64 'no subwords' "${text[@]}" -o out/c.h5
refuse 64 'unexpected argument' "${make[@]}" text.xx
refuse 64 'pair xx-en is given twice' --para en-xx=text.en,text.xx --para xx-en=text.xx,text.en --bpe 50 -o out/c.h5
refuse 64 'two languages' --para en-en=text.en,text.xx --bpe 50 -o out/c.h5
refuse 64 'form is --para' --para en-xx=text.en --bpe 50 -o out/c.h5
refuse 64 'form is --para' --para en=text.en,text.xx --bpe 50 -o out/c.h5
refuse 64 'form is --mono' --mono text.en --bpe 50 -o out/c.h5
refuse 64 'form is --mono' --mono en=text.en,,text.xx --bpe 50 -o out/c.h5
refuse 64 'not a name of a language' --mono ../en=text.en --bpe 50 -o out/c.h5
refuse 64 'bpe = -3' "${text[@]}" --bpe=-3 -o out/c.h5
refuse 64 'bpe = 0' "${text[@]}" --bpe 0 -o out/c.h5
refuse 64 'many' "${text[@]}" --bpe many -o out/c.h5
refuse 64 'alpha=7' "${make[@]}" --alpha 7
refuse 64 'alpha=nan' "${make[@]}" --alpha nan
refuse 64 'alpha is for learning' "${text[@]}" --codes text.en --alpha 0.7 -o out/c.h5
refuse 64 'sample=0' "${make[@]}" --sample 0
refuse 64 'sample=1.5' "${make[@]}" --sample 1.5
refuse 64 'sample=nan' "${make[@]}" --sample nan
refuse 64 'sample is for learning' "${text[@]}" --codes text.en --sample 0.5 -o out/c.h5
refuse 64 'no sentence with words is in the sample' "${make[@]}" --sample 1e-15
refuse 64 'memory=1K' "${make[@]}" --memory 1K
refuse 64 'memory=much' "${make[@]}" --memory much
refuse 64 'memory is for counting' --codes text.en --segment text.en out/text --memory 1G
refuse 73 'scratch files' "${make[@]}" --scratch no/such
refuse 64 'held-out=1' "${make[@]}" --held-out 1
refuse 64 'held-out=-0.5' "${make[@]}" --held-out=-0.5
refuse 64 'min-count=0' "${make[@]}" --min-count 0
refuse 64 'max-vocab=0' "${make[@]}" --max-vocab 0
refuse 64 'seed=-1' "${make[@]}" --seed=-1
refuse 64 'words=letters' "${text[@]}" --words letters --bpe 50 -o out/c.h5
refuse 64 'use one of the two' "${make[@]}" --codes text.en
refuse 64 'vocab needs the segmenter' "${make[@]}" --vocab text.en
refuse 64 'min-count' "${text[@]}" --codes text.en --vocab text.xx --min-count 5 -o out/c.h5
refuse 64 'only copy' "${text[@]}" --codes text.en --write-codes out/codes
refuse 64 'segment' --segment text.en out/text
refuse 64 'is not the name of a file to write (an argument)' --codes text.en --segment text.en -
refuse 64 'segment' --codes text.en --segment text.en
refuse 64 'segment' --codes text.en --lower --segment text.en out/text
refuse 64 'segment' --codes text.en --bpe 50 --segment text.en out/text
refuse 64 'two outputs' "${text[@]}" --bpe 50 --write-codes out/c -o ./out/c
for name in out/a,b.h5 'out/c.h5 ' ' c.h5'; do
    refuse 64 'names of corpora have no commas' "${text[@]}" --bpe 50 -o "$name"
done
cp text.en kept.en
refuse 64 'both input and output' --mono en=kept.en --bpe 50 -o kept.en
ln -s kept.en link.en
refuse 64 'both input and output' --mono en=kept.en --bpe 50 --write-vocab link.en -o out/c.h5
cmp -s text.en kept.en || fail "an input was written to"

# ---- files that are not there, or not text ----
mkdir directory
refuse 66 'missing.en: No such file' --mono en=missing.en --bpe 50 -o out/c.h5
refuse 66 'directory: is a directory' --mono en=directory --bpe 50 -o out/c.h5
mkfifo pipe
refuse 66 'pipe: not a regular file' --mono en=pipe --bpe 50 -o out/c.h5
refuse 66 'missing.codes: ' "${text[@]}" --codes missing.codes -o out/c.h5
ranks_to_try='1 3'
refuse 73 'nowhere/c.h5: ' "${text[@]}" --bpe 50 -o nowhere/c.h5
refuse 66 'missing.xx: No such file' --para en-xx=text.en,missing.xx --bpe 50 -o out/c.h5
ranks_to_try=1
refuse 73 'nowhere/codes: ' "${text[@]}" --bpe 50 --write-codes nowhere/codes -o out/c.h5
refuse 73 'directory: ' "${text[@]}" --bpe 50 -o directory
refuse 73 'text.en/c.h5: ' "${text[@]}" --bpe 50 -o text.en/c.h5
: >empty; yes '' | head -n 3000 >blank; printf '\u200b\n\u00a0\u3000\n' >invisible
refuse 65 'empty: empty' --mono en=text.en,empty --bpe 50 -o out/c.h5
refuse 65 'blank: empty' --mono en=blank --bpe 50 -o out/c.h5
refuse 65 'invisible: empty' --mono en=text.en,invisible --words space --bpe 50 -o out/c.h5
refuse 65 'all .* held out' --mono en=text.en --bpe 50 --held-out 0.9999999 -o out/c.h5
ranks_to_try='1 3'

# ---- damage near the end, in blocks of different ranks: the first error counts, on any number of ranks ----
cat text.en text.en text.en text.en text.en >long.en
cat text.xx text.xx text.xx text.xx text.xx >long.xx
sed '1700s/.*/na\xefve/; 2900s/.*/\xc3\xa9\xff/' long.en >latin.en
refuse 65 'latin.en:1700: byte 3' --mono en=text.en,latin.en --bpe 50 -o out/c.h5
refuse 65 'latin.en:1700: byte 3' --para en-xx=latin.en,long.xx --bpe 50 -o out/c.h5
refuse 65 'latin.en:1700: byte 3' --para xx-en=long.xx,latin.en --bpe 50 --held-out 0 -o out/c.h5
for bad in '\xc0\xaf' '\xed\xa0\x80' '\xf4\x90\x80\x80' '\xe2\x82'; do
    sed "1234s/.*/ab$bad/" long.en >bad.en
    ranks_to_try=1 refuse 65 'bad.en:1234: byte 3' --mono en=bad.en --bpe 50 -o out/c.h5
done
refuse 65 'long.en has 3000 lines and text.xx has 600' --para en-xx=long.en,text.xx --bpe 50 -o out/c.h5
refuse 65 'text.en has 600 lines and long.xx has 3000' --para en-xx=text.en,long.xx --bpe 50 --held-out 0 -o out/c.h5
head -n 2999 long.xx >short.xx
refuse 65 'long.en has 3000 lines and short.xx has 2999' --para en-xx=long.en,short.xx --bpe 50 -o out/c.h5
gzip -c long.en >whole.gz
head -c "$(($(stat -c %s whole.gz) - 200))" whole.gz >cut.gz
refuse 65 'cut.gz: .*cut short' --mono en=cut.gz --bpe 50 -o out/c.h5
half=$(($(stat -c %s whole.gz) / 2))
{ head -c $half whole.gz; printf 'damage'; tail -c +$((half + 7)) whole.gz; } >damaged.gz
refuse 65 'damaged.gz: damaged' --mono en=damaged.gz --bpe 50 -o out/c.h5

only_in_check_all

# After a damaged header zlib takes the file to have ended: half of it would be left out.
{ cat whole.gz; gzip -c text.en | tail -c +3; } >joined.gz
refuse 65 'joined.gz: what follows .* after line 3000 is not gzip' --mono en=joined.gz --bpe 50 -o out/c.h5
cp long.en plain.gz
ranks_to_try=1 refuse 65 'plain.gz: named .gz' --mono en=plain.gz --bpe 50 -o out/c.h5
tar -cf some.tar long.en text.en
ranks_to_try=1 refuse 65 'some.tar: is an archive .tar., .* as some.tar/NAME: long.en, text.en' --mono en=some.tar --bpe 50 \
    -o out/c.h5
ranks_to_try=1 refuse 66 'some.tar: there is no file text.xx' --mono en=some.tar/text.xx --bpe 50 -o out/c.h5
ranks_to_try=1 refuse 64 'some.tar' --mono en=some.tar/text.en --bpe 50 -o some.tar
# Formats that are more than text, and wrong forms of files.
iconv -f utf-8 -t utf-16le text.en >wide.en
printf '1\tHello\thello\tINTJ\tUH\t_\t0\troot\t_\t_\n\n' >tree.txt
refuse 65 'tree.txt: is CoNLL-U, whose files are named' --mono en=tree.txt --bpe 50 -o out/c.h5
{ printf '# sent_id = 1\n' && cat tree.txt; } >trees.conll
ranks_to_try=1 refuse 65 'trees.conll: is CoNLL-U.*lines:trees.conll' --mono en=trees.conll --bpe 50 -o out/c.h5
{ printf '# text = Hello\n' && cat tree.txt; } >commented.conll
printf '1-2\tzum\t_\t_\t_\t_\t_\t_\t_\t_\n' >joined.conll
printf '# newdoc\n' >bare.conll
for file in commented joined bare; do
    ranks_to_try=1 refuse 65 "$file.conll: is CoNLL-U, whose files are named" --mono en=$file.conll --bpe 50 -o out/c.h5
done
ranks_to_try=1 refuse 65 'wide.en: is UTF-16 or UTF-32; convert the file' --mono en=wide.en --bpe 50 -o out/c.h5
printf '{"text": "a b", "n": 1}\n{"text": 3}\n{"text": "x"\n' >text.jsonl
printf 'a\tb\n\nc\n' >text.tsv
printf '<?xml version="1.0"?>\n<tmx version="1.4">\n' >text.tmx
printf 'WARC/1.0\r\nWARC-Type: conversion\r\n' >text.wet
given() { ranks_to_try=1 refuse "$1" "$2" --mono "en=$3" --bpe 50 -o out/c.h5; }
given 65 'text.jsonl: its lines are JSON; give it as jsonl:FIELD:text.jsonl, or as lines:' text.jsonl
ranks_to_try=1 refuse 65 'standard input: its lines are JSON; give it as jsonl:FIELD:-, or as lines:-' --mono en=- --bpe 50 \
    -o out/c.h5 <text.jsonl
given 65 'text.tsv: its lines have fields between tabs; give it as tsv:COLUMN:text.tsv, or as lines:' text.tsv
for compress in gzip:gz xz:xz bzip2:bz2 zstd:zst lz4:lz4 lzip:lz compress:Z; do
    ! command -v "${compress%:*}" >/dev/null || {
        "${compress%:*}" -c text.tsv >"text.tsv.${compress#*:}"
        given 65 "text.tsv.${compress#*:}: its lines have fields between tabs" "text.tsv.${compress#*:}"
    }
done
printf '[\n  {"text": "a b"}\n]\n' >pretty.json
printf '{\n  "text": "a b"\n}\n' >object.json
printf '[{"text": "a b"},\n{"text": "c"}]\n' >array.json
for file in pretty object array; do
    given 65 "$file.json: is JSON, but not an object in each line; .*lines:$file.json" $file.json
done
given 65 'text.tmx: is XML; give it as tmx:LANG:text.tmx' text.tmx
given 65 'text.wet: is WARC, .*; give it as wet:text.wet' text.wet
# Unpacked text keeps its file and line; of several such files, the first that is wrong counts.
sed -n '1,1800p' latin.en | gzip >latin.gz
printf 'WARC/1.0\nWARC-Type: conversion\nContent-Length: 18\n\none two\nthree \xff\nx\n\n\n' >latin.wet
refuse 65 'latin.gz:1700: byte 3' --mono en=text.en,latin.gz --bpe 50 -o out/c.h5
cp cut.gz cut.too.gz
refuse 65 'cut.gz: .*cut short after line' --mono en=text.en,cut.gz --mono xx=cut.too.gz --bpe 50 -o out/c.h5
given 65 'latin.wet:6: byte 7' wet:latin.wet
given 65 'text.tmx: line [0-9]* of the file: not well-formed XML' tmx:en:text.tmx
given 65 'text.wet:2: record 1 is cut short' wet:text.wet
given 64 'the form is tmx:LANG:FILE' tmx:text.tmx
ranks_to_try=1 refuse 64 'both sides of a pair are of one TMX file' --para en-xx=tmx:en:text.tmx,text.xx --bpe 50 -o out/c.h5
ranks_to_try=1 refuse 64 'WET is for --mono' --para en-xx=wet:text.wet,text.xx --bpe 50 -o out/c.h5
ranks_to_try=1 refuse 73 'scratch files: .* nowhere: No such' --mono en=whole.gz --scratch nowhere --bpe 50 -o out/c.h5
ranks_to_try=3 refuse 65 'standard input:1700: byte 3' --mono en=- --bpe 50 -o out/c.h5 <latin.en
given 65 'text.jsonl:2: "text" is a number, not a string' jsonl:text:text.jsonl
given 65 'text.jsonl:1: "n" is a number, not a string' jsonl:n:text.jsonl
given 65 'text.en:1: column [0-9]*: not JSON' jsonl:text:text.en
given 65 'text.tsv:3: it has 1 field between tabs, and field 2 is wanted' tsv:2:text.tsv
given 64 'the form is jsonl:FIELD:FILE' jsonl:text
given 64 'the form is jsonl:FIELD:FILE' jsonl::text.jsonl
given 64 'the form is tsv:COLUMN:FILE' tsv:0:text.tsv
given 64 'the form is lines:FILE' lines:
ranks_to_try=1 refuse 65 'text.jsonl: its lines are JSON' --mono en=text.jsonl --bad-lines skip --bpe 50 -o out/c.h5
ranks_to_try=1 refuse 65 'text.en: empty, no line has text' --mono en=jsonl:text:text.en --bad-lines repair --bpe 50 -o out/c.h5
ranks_to_try=1 refuse 64 'bad-lines=mend: must be stop, skip or repair' --mono en=text.en --bad-lines mend --bpe 50 -o out/c.h5
ranks_to_try=1 refuse 64 'bad-lines is for --mono and --para' --codes codes --bad-lines skip --segment text.en out/text
# Rules that leave out sentences; tests/unit/filter_test.c has more.
ranks_to_try=1
refuse 64 'max-words = many: must be an integer at least 1' "${make[@]}" --max-words many
refuse 64 'min-words=4 is more than --max-words=3' "${make[@]}" --min-words 4 --max-words 3
refuse 64 'max-ratio is a rule for pairs, and there is no --para' "${make[@]}" --max-ratio 2
refuse 64 'in which script xx is written; give it with --script xx=CODE' --mono xx=text.xx --bpe 50 --script-share 0.5 -o out/c.h5
refuse 64 'script=xx=Lattin: "Lattin" is not a script' --mono xx=text.xx --bpe 50 --script-share 1 --script xx=Lattin -o out/c.h5
refuse 64 'max-words is for --mono and --para' --codes codes --max-words 5 --segment text.en out/text
refuse 64 'script is for --mono and --para' --codes codes --script en=Latn --segment text.en out/text
refuse 64 'held-out is for --mono and --para' --codes codes --held-out 0.5 --segment text.en out/text
refuse 64 'segment goes with --codes and --vocab alone' --codes codes --shared 0.5 --segment text.en out/text
refuse 64 'segment goes with --codes and --vocab alone' --codes codes --add-subwords 7 --segment text.en out/text
refuse 65 'held out, or left out by a rule' "${make[@]}" --min-words 50
ranks_to_try='1 3'
head -c 20000000 /dev/zero | tr '\0' a >line.en
ranks_to_try=1 refuse 65 'line.en:1: line of more than' --mono en=line.en --bpe 50 -o out/c.h5

# ---- codes and vocabulary ----
xlm_prep "${text[@]}" --bpe 50 --write-codes codes --write-vocab vocab >/dev/null 2>&1 || fail "learning"
sed '7s/ [0-9]*$//' codes >damaged.codes
refuse 65 'damaged.codes:7: ' "${text[@]}" --codes damaged.codes -o out/c.h5
ranks_to_try=1 refuse 65 'damaged.codes:7: ' --codes damaged.codes --segment text.en out/text
sed '9s/.*/x y z/' vocab >damaged.vocab
ranks_to_try=1 refuse 65 'damaged.vocab:9: ' "${text[@]}" --codes codes --vocab damaged.vocab -o out/c.h5
sed '9s/.*/\xff 3/' vocab >latin.vocab
expect 65 'latin.vocab: subword' ranks 2 xlm_prep "${text[@]}" --codes codes --vocab latin.vocab -o out/c.h5
# With codes and vocabulary given, text is first read when it is encoded, and the output is open by then.
refuse 65 'latin.en:1700: byte 3' --mono en=text.en,latin.en --words space --codes codes --vocab vocab -o out/c.h5
refuse 65 'long.en has 3000 lines and short.xx has 2999' --para en-xx=long.en,short.xx --words space --codes codes --vocab vocab \
    --held-out 0 -o out/c.h5
refuse 65 'cut.gz: .*cut short' --codes codes --segment cut.gz out/text

# An output that was there before stays as it was.
echo old >old.h5
expect 65 'latin.en:1700' ranks 2 xlm_prep --mono en=latin.en --bpe 50 -o old.h5
[ "$(cat old.h5)" = old ] || fail "a failed run changed the output of another"
if [ "$(id -u)" -ne 0 ]; then
    chmod a-w out; ranks_to_try=2 refuse 73 'Permission denied' "${make[@]}"; chmod u+w out
    cp text.en locked.en; chmod a-r locked.en
    ranks_to_try=2 refuse 66 'locked.en: Permission denied' --mono en=locked.en --bpe 50 -o out/c.h5
fi
finish
