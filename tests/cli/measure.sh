#!/usr/bin/env bash
# xlm-mpi: jobs/measure: every part of it on a small model, and what it says where parts are missing.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus --para en-xx=text.en,text.xx --bpe 400
logged train.log xlm_train job.conf --set train.steps=40
logged other.log xlm_train job.conf --set train.steps=2 --set train.output=other --set 'stream text.mask_unit=span'
for word in the old red small house river teacher; do echo "$word $(echo "$word" | sed 's/[aeiou]/y&/g')"; done >words
logged dict.log xlm_dict corpus.h5 --source en --target xx --text words --share 0.5 -o dict.h5
# xx is en turned round, but for the full stop.
head -n 40 text.en >gold.en
head -n 40 text.xx >gold.xx
awk '{ for (i = 1; i < NF; i++) printf "%d-%d ", i - 1, NF - 1 - i; printf "%d-%d\n", NF - 1, NF - 1 }' gold.en >gold.links
mkdir ud
tag() {
    sed 's/  */\n/g' "$1" | awk '
        NF { t = $1 == "." ? "PUNCT" : $1 ~ /s$/ ? "VERB" : "NOUN"; print $1 "\t" t } $1 == "." { print "" }'
}
tag <(head -n 60 text.en) >train.tsv
tag <(sed -n '61,80p' text.en) >dev.tsv
tag <(sed -n '81,100p' text.en) >test.tsv
tag <(sed -n '81,100p' text.xx) >test-xx.tsv
export XLM_LAUNCH="sh $XLM_SOURCE/tests/mpirun.sh 2"
measure=$XLM_SOURCE/jobs/measure
# On several nodes: TMPDIR is the first one's own, so that nothing the ranks read may be there, nor may a job name a file there.
mkdir own
cat >elsewhere <<'LAUNCH'
for given; do
    case $given in "$PWD"/own/*) echo "no other node has $given" >&2; exit 66 ;; esac
    case $given in *.conf) ! grep -F "$PWD/own/" "$given" >&2 || exit 66 ;; esac
done
exec "$@"
LAUNCH

TMPDIR=$PWD/own XLM_LAUNCH="sh elsewhere $XLM_LAUNCH" \
    $measure out/latest other/latest --gold gold.en,gold.xx,gold.links --corpus corpus.h5 --dictionary dict.h5 --pool=20 \
    --pos-train train.tsv --pos-dev dev.tsv --pos-test en=test.tsv --pos-test xx=test-xx.tsv --pos-set epochs=1 \
    --pos-set length=48 --csv all.csv --work work >log 2>&1 || fail "measure: $(grep -a -B3 xlm_tune log; tail -n 5 log)"
compgen -G '.measure-*' >/dev/null || compgen -G 'work/.measure-*' >/dev/null && fail "left: $(ls -A . work)"
[ "$(head -n 1 all.csv)" = 'checkpoint,step,measure,layer,detail,source,target,value' ] || fail "head: $(head -n 1 all.csv)"
awk -F, 'NF != 8 || $8 !~ /^-?[0-9.]+$/ { exit 1 }' <(sed 1d all.csv) || fail "rows: $(cat all.csv)"
# count MEASURE: rows of the two checkpoints.
count() { echo "$(grep -c "^out/latest,40,$1," all.csv) $(grep -c "^other/latest,2,$1," all.csv)"; }
for rows in 'aer 3' 'retrieval_cosine 12' 'retrieval_csls 12' 'dictionary_mean_cosine 3' 'dictionary_shuffled_cosine 3' \
    'dictionary_cosine 6' 'dictionary_csls 6' 'perplexity 3' 'pos_micro_f1 2'; do
    [ "$(count "${rows% *}")" = "${rows#* } ${rows#* }" ] || fail "$rows: $(count "${rows% *}")"
done
# The numbers are those of the programs.
row() { # MEASURE LAYER DETAIL SOURCE
    awk -F, -v m="$1" -v l="$2" -v d="$3" -v s="$4" '
        $1 == "out/latest" && $3 == m && $4 == l && $5 == d && $6 == s { print $8 }' all.csv
}
xlm_align gold.en gold.xx --checkpoint out/latest --layer 1 --gold gold.links 2>align.log |
    awk '$1 == 1 { print $4 / 100 }' >wanted
is_near "$(row aer 1 together en)" "$(cat wanted)" || fail "AER: $(row aer 1 together en), not $(cat wanted)"
xlm_embed retrieval out/latest corpus.h5 --pool 20 --layer 2 --csv r.csv >r.out 2>&1 || fail "$(cat r.out)"
[ "$(row retrieval_csls 2 mean xx)" = "$(awk -F, '$2 == "mean" && $3 == "xx" { print $8 }' r.csv)" ] ||
    fail "retrieval: $(cat r.csv)"
xlm_embed dictionary out/latest dict.h5 corpus.h5 --csv d.csv >d.out 2>&1 || fail "$(cat d.out)"
[ "$(row dictionary_csls '' 'left out' xx)" = "$(awk -F, '$1 == "left out" && $2 == "xx" { print $10 }' d.csv)" ] ||
    fail "dictionary: $(cat d.csv)"
# Perplexity of text that the run itself measured in the end, in another draw of masks.
awk -v a="$(row perplexity '' '' en)" -v b="$(value out 40 held_out mlm perplexity en)" '
    BEGIN { exit !(a > b / 2 && a < 2 * b) }' ||
    fail "perplexity: $(row perplexity '' '' en), the run's: $(value out 40 held_out mlm perplexity en)"
# That of other, which was trained with spans, is by masks of tokens, which are the default, in instances as long as the text that
# both were trained with.
cat >tokens.conf <<JOB
[train]
corpus = corpus.h5
start = other/latest
output = tokens
steps = 1
learning_rate = 0
evaluate_every = 0
evaluate_instances = 512
[stream text]
batch = 32
length = 48
[objective mlm]
stream = text
JOB
logged tokens.log xlm_train tokens.conf
awk -F, -v wanted="$(value tokens 0 held_out mlm perplexity en)" '$1 == "other/latest" && $3 == "perplexity" && $6 == "en" {
    n++; far = ($8 - wanted) ^ 2 > 1e-8 * wanted ^ 2 } END { exit far || n != 1 }' all.csv ||
    fail "perplexity of other: $(grep 'other.*perplexity' all.csv), by tokens $(value tokens 0 held_out mlm perplexity en)"
xlm_eval work/*out*/best --language xx --test test-xx.tsv --csv e.csv >e.out 2>&1 || fail "$(cat e.out)"
is_near "$(row pos_micro_f1 '' test-xx.tsv en)" "$(awk -F, '$2 == "micro_f1" { print $NF }' e.csv)" || fail "POS: $(cat e.csv)"
# A fine-tuned model has no head for words, and hence no perplexity.
$measure work/*out*/best --corpus corpus.h5 --pool=20 --csv fine.csv >fine.log 2>&1 || fail "fine-tuned: $(tail -n 5 fine.log)"
grep -q '^left out: no LM head$' fine.log && grep -q retrieval_cosine fine.csv && ! grep perplexity fine.csv ||
    fail "the perplexity of a head of random numbers: $(cat fine.log fine.csv)"
# The table: best layers of both.
grep -q "^out/latest .*$(awk -F, '$1 == "out/latest" && $3 == "aer" { print $8 }' all.csv | sort -g | head -n 1 |
    awk '{ printf "%.2f@", 100 * $1 }')" log && grep -q '^other/latest ' log || fail "the table: $(tail -n 4 log)"
grep '^left out: ' log | grep -q -v -e --squad && fail "left out: $(grep '^left out: ' log)"

# Parts follow from what is given; rows are appended. Without programs in the path it finds those beside it, or where installed.
TMPDIR=$PWD/own XLM_LAUNCH="sh elsewhere $XLM_LAUNCH" $measure out/latest --dictionary dict.h5 --csv all.csv >log2 2>&1 ||
    fail "$(tail -n 3 log2)"
in_german "$measure" out/latest --dictionary dict.h5 --csv german.csv >german.log 2>&1 || fail "$(tail -n 3 german.log)"
cmp <(grep '^out/latest' log2) <(grep '^out/latest' german.log) || fail "with a decimal comma: $(cat german.log)"
[ "$(grep -c '^left out: ' log2)" -eq 5 ] && [ "$(grep -c dictionary_shuffled all.csv)" -eq 9 ] || fail "one part: $(cat log2)"
# A run goes on while it is measured: all parts are of the checkpoint that `latest` was at first, as the column step says.
mkdir moving
cp -L out/latest moving/checkpoint-00000040.h5
cp -L other/latest moving/checkpoint-00000002.h5
ln -s checkpoint-00000040.h5 moving/latest
printf '%s\n' "$XLM_LAUNCH \"\$@\"" 'code=$?' 'ln -sf checkpoint-00000002.h5 moving/latest' 'exit $code' >moving/launch
XLM_LAUNCH='sh moving/launch' $measure moving/latest --gold gold.en,gold.xx,gold.links --dictionary dict.h5 --csv moving.csv \
    >log3 2>&1 || fail "$(tail -n 3 log3)"
[ "$(readlink moving/latest)" = checkpoint-00000002.h5 ] && grep -q '^moving/latest,40,aer,' moving.csv &&
    cmp <(sed -n 's/^moving\(.*,dictionary_\)/out\1/p' moving.csv) <(sed 1d german.csv) || fail "two checkpoints: $(cat moving.csv)"
if [ "$XLM_SOURCE" = "$XLM_BUILD" ]; then
    env -u XLM_PLUGIN_PATH -u LD_LIBRARY_PATH PATH="${PATH##*"$XLM_BUILD:"}" "$measure" out/latest --dictionary dict.h5 --csv other.csv >log2 2>&1 ||
        fail "without PATH: $(tail -n 3 log2)"
fi
# A model without a job, of fewer positions than instances have by default.
logged few.log xlm_train job.conf --set train.output=few --set train.steps=1 --set model.positions=60
logged few.log xlm_convert few/latest --keep corpus.h5 -o few.h5
$measure few.h5 --corpus corpus.h5 --instances 32 --csv few.csv >log2 2>&1 && grep -q '(instances of 60 tokens)$' log2 ||
    fail "few positions: $(tail -n 9 log2)"
# Questions: of three contexts, one of which is there twice, those of the letters a and c are one fold, that of b the other.
if command -v jq >/dev/null; then
    ask() { # ID ANSWER
        printf '{"id": "%s", "question": "which one?", "answers": [{"text": "%s", "answer_start": 0}]}' "$@"
    }
    context() { printf '{"context": "%s", "qas": [%s]}' "$1 the old house sees the garden ." "$2"; }
    file() { local IFS=,; printf '{"data": [{"paragraphs": [%s]}]}' "$*"; }
    c=$(context c "$(ask 1 c)") b=$(context b "$(ask 2 'b the')") a=$(context a "$(ask 3 a)")
    again=$(context c "$(ask 4 'c the old')")
    # With another program than gzip where there is one.
    packer=gzip questions=questions.json.gz
    ! command -v xz >/dev/null || packer=xz questions=questions.json.xz
    file "$c" "$b" "$a" "$again" | $packer >$questions
    file "$a" "$c" "$again" >fold-0.json
    file "$b" >fold-1.json
    TMPDIR=$PWD/own XLM_LAUNCH='sh elsewhere' $measure out/latest --squad $questions --folds 2 \
        --squad-set epochs=2 --squad-set length=64 --csv squad.csv --work work >log2 2>&1 || fail "questions: $(tail -n 5 log2)"
    for fold in 0 1; do
        model=$(echo work/*out*-squad-2-$fold)
        grep -q "^train = en:.*/fold-$((1 - fold)).json$" "$model/job.conf" || fail "fold $fold: $(grep train "$model/job.conf")"
        logged fold.log xlm_eval "$model/latest" --language en --test fold-$fold.json --csv fold-$fold.csv
    done
    for score in f1 exact_match; do
        of() { awk -F, -v m=$score '$2 == m { print $NF }' "fold-$1.csv"; }
        wanted=$(awk -v a="$(of 0)" -v b="$(of 1)" 'BEGIN { print (3 * a + b) / 4 }')
        is_near "$(awk -F, -v m="answering_$score" '$3 == m { print $8 }' squad.csv)" "$wanted" ||
            fail "$score: $(cat squad.csv), not $wanted"
    done
    grep -q ',answering_f1,,questions.json in 2 folds,' squad.csv || fail "the questions' name: $(cat squad.csv)"
    expect 65 'has fewer contexts than --folds' "$measure" out/latest --squad $questions --folds 4 --csv none.csv
    expect 65 'words: cannot be divided' "$measure" out/latest --squad words --csv none.csv
    : >empty.json
    expect 65 'empty.json: cannot be divided: it is empty' "$measure" out/latest --squad empty.json --csv none.csv
    mkdir a,b
    expect 64 'may have no comma' "$measure" out/latest --squad $questions --csv a,b/none.csv
    expect 64 'take at least 2' "$measure" out/latest --squad $questions --folds 1 --csv none.csv
fi
# Languages of the names of files, plain or compressed, also in the demonstration, and files of a treebank.
demo=$XLM_SOURCE/jobs/demo/demo
eval "$(sed -n '/^ending() {/,/^}/p; /^treebank() {/p' "$measure"; sed -n '/^ *\(bare\|masked\)() {/,/^ *}/p' "$demo"
    sed -n '/^\(plain_or_compressed\|without_packing\|text_of\)() {/,/^}/p' "$XLM_SOURCE/jobs/runs.sh")"
mkdir trees
[ -z "$(treebank trees xx-ud-test)" ] || fail "a treebank that is not there: $(treebank trees xx-ud-test)"
for end in '' .gz .xz .bz2 .zst .lz4 .lz .Z; do
    [ "$(bare "a.b/text.zh$end")" = zh ] || fail "the language of text.zh$end in the demonstration: $(bare "text.zh$end")"
    : >"trees/xx-ud-test.conllu$end"
    [ "$(treebank trees xx-ud-test)" = "trees/xx-ud-test.conllu$end" ] ||
        fail "the treebank xx-ud-test.conllu$end: $(treebank trees xx-ud-test)"
    rm "trees/xx-ud-test.conllu$end"
    [ "$(ending "a.b/gold.zh$end")" = zh ] && [ -z "$(ending "a.b/gold$end")" ] ||
        fail "the language of gold.zh$end: $(ending "gold.zh$end")"
done
# The demonstration masks a word of a line that is long enough, and one more where none is, as in text without blanks.
printf '%s\n' 'Save as' 'the old house by the river' 'a b c d e f g' >long
printf '%s\n' '' '  ' '文件' '另存为' >short
[ "$(masked long) $(masked short) $(masked /dev/null)" = 'the old house <mask> the river 文件 <mask> <mask>' ] ||
    fail "masked: $(masked long; masked short; masked /dev/null)"
echo 'the old house' >packed
for packer in 'gzip .gz' 'xz .xz' 'bzip2 .bz2' 'zstd .zst' 'lz4 .lz4' 'lzip .lz'; do
    read -r program end <<<"$packer"
    ! command -v "$program" >/dev/null || { "$program" -c packed >"packed$end" && text_of "packed$end" | cmp - packed; } ||
        fail "packed$end is not read"
done
text_of packed | cmp - packed || fail "plain text is not read"
# A part that fails leaves the others.
expect 1 'failed: word alignment of out/latest' "$measure" out/latest --gold gold.en,text.xx,gold.links \
    --dictionary dict.h5 --csv b.csv
expect 1 'failed: word alignment of out/latest' "$measure" out/latest --gold gold.en,gold.xx,gold.links --gold-words-from 1 --csv c.csv
grep -q dictionary_csls b.csv || fail "nothing after the part that failed: $(cat b.csv)"

expect 64 'no checkpoint' "$measure" --corpus corpus.h5
expect 64 'nothing is given' "$measure" out/latest
expect 64 '--gold-words-from 2: is not 0 or 1' "$measure" out/latest --gold-words-from 2
expect 64 '--golden: there is no such option' "$measure" out/latest --golden x
expect 64 '--length: has no value' "$measure" out/latest --corpus corpus.h5 --length ''
expect 64 'is not SOURCE,TARGET,LINKS' "$measure" out/latest --gold gold.en,gold.xx
expect 64 '--pos-train needs' "$measure" out/latest --pos-train train.tsv
expect 66 'none.h5: there is no such file' "$measure" out/latest --corpus none.h5
expect 66 'there is no en_ewt-ud-train' "$measure" out/latest --ud ud
touch ud/en_ewt-ud-{train,dev}.conllu
expect 66 'there is no fr_gsd-ud-test.conllu' "$measure" out/latest --ud-languages=fr --ud=ud
expect 65 'd.csv: is not a table of measure' "$measure" out/latest --dictionary dict.h5 --csv d.csv
$measure --help | grep -q -e '--gold SOURCE,TARGET,LINKS' || fail "no help"
finish
