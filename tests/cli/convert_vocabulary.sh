#!/usr/bin/env bash
# xlm-mpi: models with fewer and with more subwords: text is cut as before, hidden states are the same bits, training goes on, and
# the whole vocabulary comes back; for every segmenter.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
few=(--mono en=few.en --held-out 0.1)
awk '!/[gpv]/ && !/quiet|student|mountain/' text.en | head -n 150 >few.en
head -n 30 text.en >other.en
printf ' %s\n' house redhouse gulp >words.txt

# Tokenizers as they are published.
mkdir bert bytes xlm none
{
    printf '%s\n' '[PAD]' '[unused1]' '[UNK]' '[CLS]' '[SEP]' '[MASK]' .
    awk '{ for (i = 1; i < NF; i++) { print substr($i, 1, 3); if (length($i) > 3) print "##" substr($i, 4) } }
        END { for (i = 97; i < 123; i++) printf "%c\n##%c\n", i, i }' text.en text.xx | LC_ALL=C sort -u
} >bert/vocab.txt
{
    printf '{"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, ".": 4, "\\u0120": 5, "he": 6, "\\u0120t": 7, "\\u0120the": 8'
    printf ', "er": 9, "ver": 10, "\\u0120p": 11, "in": 12, "\\u0120pain": 13, "ts": 14'
    n=15
    for letter in {a..z}; do printf ', "%s": %d' $letter $((n++)); done
    printf ', "<mask>": %d}\n' $n
} >bytes/vocab.json
printf '#version: 0.2\nh e\n\304\240 t\n\304\240t he\ne r\nv er\n\304\240 p\ni n\nt s\n' >bytes/merges.txt
sed -i 's/, "\\u0120pain": 13/, "ow": 13/' bytes/vocab.json
echo 'o w' >>bytes/merges.txt

logged bpe.log xlm_prep --words space --bpe 120 --write-codes xlm/merges.txt --write-vocab vocab --mono en=text.en \
    --mono xx=text.xx --held-out 0 -o bpe.h5
awk 'BEGIN { n = split("<s> </s> <pad> <unk> <special0> <special1> <special2>", special, " ")
             for (i = 1; i <= n; i++) printf "%s\"%s\": %d", (i > 1 ? ", " : "{"), special[i], i - 1 }
     { t = $1; if (!sub(/@@$/, "", t)) t = t "</w>"; if (!seen[t]++) printf ", \"%s\": %d", t, n++ }
     END { print "}" }' vocab <(printf '%s@@\n%s\n' {a..z}{,} . .) >xlm/vocab.json
printf '{"tokenizer_class": "XLMTokenizer", "do_lowercase_and_remove_accent": true}\n' >xlm/tokenizer_config.json

# same GROUP A B
same() { same_objects "$2" "$3" "$1" >diff.log 2>&1 || fail "$1 of $2 and $3: $(head -n 3 diff.log)"; }
# words FILE: its subwords, a line each, read once for a file as it is.
words() {
    [ "$1.words" -nt "$1" ] || { strings /vocabulary/words "$1" >"$1.words.$BASHPID" && mv "$1.words.$BASHPID" "$1.words"; }
    cat "$1.words"
}
# subwords FILE LANG: of the text of a corpus, a subword a line.
subwords() {
    { words "$1"; echo; numbers "/train/text/$2/tokens" "$1"; } |
        awk '!ids && $0 == "" { ids = 1; next } !ids { w[n++] = $0; next } { print w[$1 + 0] }'
}
vectors() { logged "$1.embed" xlm_embed export "$1" --text "$2" -l en -o "$3"; }
model=(--set model.layers=2 --set model.hidden_size=16 --set model.attention_heads=2)

# change NAME OPTION...: of a model on a corpus that xlm_prep makes with these options.
change() {
    local name=$1 size start=1
    [ "$1" != wordpiece ] || start=2
    shift
    logged $name.prep xlm_prep --mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx --held-out 0.1 "$@" -o corpus.h5
    logged $name.train ranks 1 xlm_train job.conf "${model[@]}" --set train.steps=2 --set train.output=$name.run
    cp -L $name.run/latest $name.h5

    # Fewer: the few sentences are cut as before, and have the same hidden states.
    logged $name.like xlm_prep --like $name.h5 "${few[@]}" -o $name.few.h5
    logged $name.keep xlm_convert $name.h5 --keep $name.few.h5 -o $name.small.h5
    size=$(words $name.small.h5 | wc -l)
    [ "$size" -lt "$(words $name.h5 | wc -l)" ] && grep -q "with special tokens.* $size are kept" $name.keep &&
        grep -q 'MB saved' $name.keep || fail "$name: $(cat $name.keep)"
    words $name.small.h5 | grep -F -x -f <(words $name.h5) -c | grep -qx "$size" || fail "$name: subwords that were not there"
    logged $name.again xlm_prep --like $name.small.h5 "${few[@]}" -o $name.few2.h5
    cmp <(subwords $name.few.h5 en) <(subwords $name.few2.h5 en) || fail "$name: the text is cut otherwise"
    vectors $name.h5 few.en $name.1.h5
    vectors $name.small.h5 few.en $name.2.h5
    same /vectors $name.1.h5 $name.2.h5
    # Text of the same letters is as known as it was, or more; guesses are those of before, of subwords that are there, in their
    # proportions.
    printf '%s\n' "${letters[@]}" >letters.en
    for part in h5 small.h5; do
        logged $name.letters xlm_prep --like $name.$part --mono en=letters.en --held-out 0 -o $name.letters.h5
        subwords $name.letters.h5 en | grep -c -F -x -e '<unk>' -e '[UNK]'
    done >$name.unknown
    [ "$(tail -n 1 $name.unknown)" -le "$(head -n 1 $name.unknown)" ] ||
        fail "$name: letters of the corpus are unknown: $(paste -s $name.unknown)"
    xlm_fill $name.h5 -l en -k 1000 'the <mask> .' >$name.fill1 && xlm_fill $name.small.h5 -l en -k 1000 'the <mask> .' \
        >$name.fill2 || fail "$name: fill"
    awk 'NR == FNR { if (FNR > 1) { p[$2] = $1 + 0 } next }
        FNR > 1 { if (!($2 in p)) bad = 1; a[++n] = p[$2]; b[n] = $1 + 0; za += p[$2]; zb += $1 }
        END { for (i = 1; i <= n; i++) { d = a[i] * zb / za - b[i]; if (d * d > (0.06 + 0.06 * zb / za) ^ 2) bad = 1 }
            exit bad || n < 9 }' \
        $name.fill1 $name.fill2 || fail "$name: guesses: $(head -n 5 $name.fill1 $name.fill2)"

    # There and back: identical.
    logged $name.back xlm_convert $name.small.h5 --restore $name.h5 -o $name.back.h5
    for group in /model /vocabulary /languages; do same $group $name.h5 $name.back.h5; done
    # Trained: rows of the smaller model, and of the original for what was left out.
    logged $name.start ranks "$start" xlm_train job.conf "${model[@]}" --set train.steps=2 --set train.start=$name.small.h5 \
        --set train.corpus=$name.few2.h5 --set train.output=$name.run2 --set 'objective tlm.weight=0' \
        --set 'stream pairs.type=monolingual'
    grep -q 'drawn' $name.start && fail "$name: rows are drawn: $(grep drawn $name.start)"
    logged $name.whole xlm_convert $name.run2/latest --restore $name.h5 -o $name.whole.h5
    for group in /vocabulary /languages; do same $group $name.h5 $name.whole.h5; done
    same /model/encoder $name.run2/latest $name.whole.h5
    rows_are $name

    # More: words of their own, and a language.
    logged $name.add xlm_convert $name.small.h5 --add-words words.txt --add-languages de -o $name.more.h5
    strings /languages $name.more.h5 | tail -n 1 | grep -qx de || fail "$name: languages"
    logged $name.more xlm_prep --like $name.more.h5 --mono de=words.txt --held-out 0 -o $name.words.h5
    [ "$(subwords $name.words.h5 de | wc -l)" -eq 3 ] || fail "$name: words are cut: $(subwords $name.words.h5 de)"
    # They are the rows of these words to xlm_embed.
    logged $name.embed xlm_embed export $name.more.h5 -l de -o $name.rows
    logged $name.embed xlm_embed export $name.more.h5 -l de --words words.txt -o $name.vectors
    subwords $name.words.h5 de | awk 'NR == FNR { name = $1; $1 = ""; row[name] = $0; next } { print row[$1] }' $name.rows - |
        cmp - <(sed '1d; s/^[^ ]*//' $name.vectors) || fail "$name: other rows than those of the words"
    words $name.more.h5 | head -n "$size" | cmp - <(words $name.small.h5) || fail "$name: ids have changed"
    logged $name.grown xlm_convert $name.more.h5 --restore $name.h5 -o $name.grown.h5
    words $name.grown.h5 | head -n "$(words $name.h5 | wc -l)" | cmp - <(words $name.h5) || fail "$name: not grown back"
    logged $name.both xlm_convert $name.h5 --keep $name.few.h5 --add-words words.txt --add-languages de -o $name.both.h5
    words $name.both.h5 | tail -n +$((size + 1)) | grep -q . || fail "$name: at once: $(cat $name.both)"
}
# rows_are NAME: each row of NAME.whole.h5 is that of the model that was trained, else that of the original.
rows_are() {
    local file
    for file in $1.h5 $1.run2/latest $1.whole.h5; do
        words "$file" >rows.words
        numbers /model/embeddings/word/weight "$file" | paste -d ' ' $(printf -- '- %.0s' {1..16}) | paste -d '\t' rows.words -
    done >rows.all
    awk -F '\t' -v a="$(words $1.h5 | wc -l)" -v b="$(words $1.run2/latest | wc -l)" '
        NR <= a { old[$1] = $2; next }
        NR <= a + b { new[$1] = $2; moved += new[$1] != old[$1]; next }
        { n++; if ($2 != ($1 in new ? new[$1] : old[$1])) bad = 1; left += !($1 in new) }
        END { exit bad || n != a || !moved || !left }' rows.all || fail "$1: rows of the whole model"
}
# row FILE SUBWORD: its row of the word embeddings, a number a line.
row() {
    local at
    at=$(words "$1" | grep -n -F -x -e "$2" | cut -d: -f1)
    numbers /model/embeddings/word/weight "$1" | sed -n "$((16 * at - 15)),$((16 * at))p"
}

letters=('the denser redness' 'snow in the hall' 'the mountain student')
change wordpiece --tokenizer bert
change unigram --unigram 60
change bytes --tokenizer bytes
change xlm --tokenizer xlm
if command -v spm_train >spm.log; then
    mkdir pairs
    spm_train --model_type=bpe --vocab_size=90 --byte_fallback=false --input=text.en --model_prefix=pairs/spiece >spm.log 2>&1 ||
        fail "spm_train: $(tail -n 1 spm.log)"
    change pairs --tokenizer pairs
fi
# This vocabulary has characters only where text that was learned of left them over, and not those of every word.
letters=('the denser redness' 'snow in the hall')
change bpe --bpe 120

# Subwords with line ends and tabs: text leaves them out, and what is left can be read.
byte_pairs gemma
logged gemma.prep xlm_prep --tokenizer gemma --mono en=text.en --mono xx=text.xx --para en-xx=text.en,text.xx \
    --held-out 0.1 -o gemma.h5
logged gemma.train ranks 1 xlm_train job.conf "${model[@]}" --set train.corpus=gemma.h5 --set train.steps=1 \
    --set train.output=gemma.run
logged gemma.log xlm_embed export gemma.run/latest -o gemma.vec
grep -q 'warning: 3 subwords left out: .* white space or control' gemma.log &&
    [ "$(head -n 1 gemma.vec)" = "$(($(wc -l <gemma.vec) - 1)) 16" ] && awk 'NR > 1 && NF != 17 { exit 1 }' gemma.vec ||
    fail "subwords with white space: $(cat gemma.log; head -n 5 gemma.vec | cut -c 1-40)"
logged gemma.log xlm_embed neighbours gemma.vec the -n 3

# A new row is the mean of the rows of the word's subwords, or drawn by the seed.
echo redhouse >word.txt
n=0
logged parts.log xlm_prep --like wordpiece.small.h5 --mono en=word.txt --held-out 0 -o parts.h5
subwords parts.h5 en >parts.txt
for part in $(<parts.txt); do
    row wordpiece.small.h5 "$part" >part.$((++n))
done
paste -d ' ' part.* | awk '{ s = 0; for (i = 1; i <= NF; i++) s += $i; print s / NF }' >mean.txt
[ "$(wc -l <parts.txt)" -gt 1 ] && same_numbers mean.txt <(row wordpiece.more.h5 redhouse) 2e-6 ||
    fail "not the mean of $(<parts.txt)"
# Rows that means are of are read once, and not the chunk of the file that each is in: beside the draw of as many rows. What processes
# read that a shell has waited for counts as its own.
bytes_read() { # COMMAND...
    local name bytes
    logged reads.log "$@"
    while read -r name bytes; do [ "$name" != rchar: ] || echo "$bytes"; done <"/proc/$BASHPID/io"
}
if [ -r /proc/self/io ]; then
    printf 'redhouse%s\n' {a..o}{a..o} >many.txt
    more=(xlm_convert bpe.h5 --add-words many.txt -o many.h5 --new-rows)
    drawn=$(bytes_read "${more[@]}" draw) averaged=$(bytes_read "${more[@]}" average)
    grep -q ' 22[0-9] means of others' reads.log && [ $((averaged - drawn)) -lt 500000 ] ||
        fail "$((averaged - drawn)) bytes more are read for means: $(cat reads.log)"
fi
for seed in 1 1 2; do
    logged draw.log xlm_convert wordpiece.small.h5 --add-words word.txt --new-rows draw --seed $seed -o drawn.h5
    row drawn.h5 redhouse
done >drawn.txt
grep -q '1 drawn' draw.log || fail "not drawn: $(cat draw.log)"
cmp <(head -n 16 drawn.txt) <(sed -n 17,32p drawn.txt) && ! cmp -s <(head -n 16 drawn.txt) <(tail -n 16 drawn.txt) ||
    fail "drawn: not by the seed"
# To transformers and back; languages with embeddings of their own; a model that was fine-tuned.
logged plain.log ranks 1 xlm_train job.conf "${model[@]}" --set model.language_embeddings=false \
    --set model.position_offset=0 --set train.steps=1 --set train.corpus=wordpiece.few.h5 --set train.output=plain \
    --set 'objective tlm.weight=0' --set 'stream pairs.type=monolingual'
logged dir.log xlm_convert plain/latest --keep wordpiece.few.h5 -o plain.h5
logged dir.log xlm_convert plain.h5 -o dir
logged dir.log xlm_convert dir -o dir.h5
for group in /model /vocabulary /languages; do same $group plain.h5 dir.h5; done
cmp dir/vocab.txt <(words wordpiece.small.h5) || fail "vocab.txt: $(head dir/vocab.txt)"
[ "$(numbers /model/embeddings/language/weight bpe.more.h5 | wc -l)" -eq 48 ] || fail "languages have no rows"
phrases few.en | head -n 400 >tags.tsv
printf '%s\n' '[tune]' 'model = bpe.small.h5' 'length = 64' 'train = tags.tsv' 'dev = tags.tsv' 'language = en' \
    'output = tuned' 'epochs = 1' '[task tagging]' >tune.conf
logged tune.log ranks 1 xlm_tune tune.conf
logged tuned.log xlm_convert tuned/best --restore bpe.h5 -o tagger.h5
for name in tuned/best tagger.h5; do
    logged eval.log xlm_eval $name --test tags.tsv --predictions "predicted.${name##*/}.tsv"
done
cmp predicted.best.tsv predicted.tagger.h5.tsv || fail "the task is lost"

# Refused, with nothing written.
change_refused() {
    expect "$1" "^xlm_convert: .*$2" xlm_convert "${@:3}" -o none/model.h5
    once '^xlm_convert: '
    nothing_in none
}
change_refused 65 'bpe.h5: its vocabulary is not that of unigram.few.h5: .*xlm_prep --like bpe.h5' bpe.h5 --keep unigram.few.h5
change_refused 65 'bpe.h5: its vocabulary is not that of bpe.few2.h5' bpe.h5 --keep bpe.few2.h5
change_refused 65 'not a corpus\|is neither\|is "xlm-mpi model"' bpe.h5 --keep bpe.small.h5
change_refused 65 'wordpiece.h5: has another segmenter' bpe.small.h5 --restore wordpiece.h5
change_refused 66 'missing.h5' bpe.small.h5 --restore missing.h5
change_refused 65 "bpe.small.h5: has .* of the $(words bpe.h5 | wc -l) subwords of bpe.h5, which was not made from it" \
    bpe.h5 --restore bpe.small.h5
sed 's/[aeiou]/ж/g' text.en >text.de
logged parts.log xlm_prep --like bpe.small.h5 --mono de=text.de --add-subwords 40 -o parts.h5
logged parts.log xlm_train job.conf "${model[@]}" --set train.start=bpe.small.h5 --set train.corpus=parts.h5 \
    --set train.output=parts --set train.steps=1 --set 'objective tlm.weight=0' --set 'stream pairs.type=monolingual'
change_refused 65 'bpe.h5: what parts/latest has besides: .*ж.* cannot be added: it is still cut into `[^ ]' \
    parts/latest --restore bpe.h5
change_refused 66 'missing.h5' bpe.h5 --keep missing.h5
printf 'house\nred river\n' >two.txt
echo >none.txt
change_refused 65 'two.txt:2: `red river` is not one word' bpe.h5 --add-words two.txt
change_refused 65 'two.txt:2: ' unigram.h5 --add-words two.txt
change_refused 65 'none.txt: has no words' bpe.h5 --add-words none.txt
change_refused 65 'has all that is to be added already' bpe.h5 --add-languages en
change_refused 65 'has all that is to be added already' wordpiece.more.h5 --add-words words.txt
expect 64 'both input and output' xlm_convert bpe.h5 --keep bpe.few.h5 -o bpe.few.h5
change_refused 64 'restore cannot be combined' bpe.h5 --restore bpe.h5 --add-words word.txt
change_refused 64 'convert it to a file first' dir --keep bpe.few.h5
change_refused 64 '--new-rows=some: must be average or draw' bpe.h5 --add-words word.txt --new-rows some
change_refused 64 '--seed is for rows that are drawn' bpe.h5 --add-words word.txt --seed 2
change_refused 64 '--seed is for rows that are drawn' bpe.h5 --keep bpe.few.h5 --seed 1
change_refused 64 '--add-languages=a,,b: name 2, "",' bpe.h5 --add-languages a,,b
finish
