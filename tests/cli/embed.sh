#!/usr/bin/env bash
# xlm-mpi: alignment and export of a trained model's embeddings, computed again from the files.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
# Some words of both languages: those in the dictionary are no candidates for themselves.
head -n 3 text.en >>text.xx
small_corpus --bpe 400
for word in the old red small green tall quick quiet house river teacher garden window student book mountain \
    sees finds opens likes paints follows; do
    echo "$word $(echo "$word" | sed 's/[aeiou]/y&/g')"
done >en-xx.txt
echo 'house ryiver' >>en-xx.txt # a second translation
xlm_dict corpus.h5 --source en --target xx --text en-xx.txt --share 0.5 -o dict.h5 2>dict.log || { cat dict.log >&2; exit 99; }
sed -i '/^\[stream pairs\]/,$d' job.conf
printf '[objective mlm]\nstream = text\n' >>job.conf
ranks 2 xlm_train job.conf --set train.steps=30 >train.log 2>&1 || { tail -n 3 train.log >&2; exit 99; }

# by_hand LANGUAGE_EMBEDDINGS FROM TO: the table of all, in dictionary and left out, by the definition. FROM and TO:
# columns of the dictionary, and languages in the order of the corpus.
by_hand() {
    local names=(en xx)
    numbers /model/embeddings/word/weight "$model" >word
    if [ "$1" = true ]; then
        numbers /model/embeddings/language/weight "$model" >language
    else
        seq 64 | sed 's/.*/0/' >language
    fi
    numbers "/train/text/${names[$3]}/tokens" corpus.h5 | sort -un >candidates
    { pairs_of /dictionary/pairs dict.h5 | sed 's/$/ 1/'; pairs_of /dictionary/left_out dict.h5 | sed 's/$/ 0/'; } >pairs
    awk -v width=32 -v from="$2" -v to="$3" '
        # The cosine of subwords s and t, each with the embedding of its language added.
        function cosine_of(s, t,    c, x, y, xy, xx, yy) {
            for (c = 0; c < width; c++) {
                x = word[s * width + c] + language[from * width + c]
                y = word[t * width + c] + language[to * width + c]
                xy += x * y; xx += x * x; yy += y * y
            }
            return xy / sqrt(xx * yy)
        }
        # The rank of the nearest translation of s among all candidates but s itself and its other translations.
        function rank_of(s,    t, cosine, best, rank) {
            best = -2
            for (t in candidate) {
                cosine[t] = cosine_of(s, t)
                if ((s, t) in translation && cosine[t] > best) best = cosine[t]
            }
            rank = 1
            for (t in candidate) if (!((s, t) in translation) && t != s && cosine[t] >= best) rank++
            return rank
        }
        function add(row, s, rank) {
            number[row]++; first[row] += rank <= 1; five[row] += rank <= 5; ten[row] += rank <= 10; mean[row] += 1 / rank
            shared[row] += s in candidate && !((s, s) in translation)
        }
        function print_row(row) {
            printf "%s,%d,%.6f,%.6f,%.6f,%.6f,%.6f\n", row, number[row], first[row] / number[row], five[row] / number[row],
                ten[row] / number[row], mean[row] / number[row], shared[row] / number[row]
        }
        FILENAME == "word" { word[words++] = $1; next }
        FILENAME == "language" { language[languages++] = $1; next }
        FILENAME == "candidates" { candidate[$1]; next }
        {
            s = from ? $2 : $1; t = from ? $1 : $2
            translation[s, t]; candidate[t]
            if (!(s in known)) source[++sources] = s
            known[s] = known[s] || $3
        }
        END {
            for (i = 1; i <= sources; i++) {
                s = source[i]; rank = rank_of(s)
                add("all", s, rank)
                add(known[s] ? "in dictionary" : "left out", s, rank)
            }
            print_row("all"); print_row("in dictionary"); print_row("left out")
        }' word language candidates pairs
}

check() { # MODEL LANGUAGE_EMBEDDINGS FROM TO [OPTION...]
    local name=$1 language=$2 from=$3 to=$4
    shift 4
    model=$name/latest
    by_hand "$language" "$from" "$to" >hand.csv
    for n in 1 2 4; do
        ranks $n xlm_embed alignment "$model" dict.h5 corpus.h5 --csv $n.csv "$@" >$n.out 2>$n.log ||
            fail "$n ranks: $(cat $n.log)"
        cmp $n.out 1.out && cmp $n.csv 1.csv || fail "$n ranks: another result"
    done
    sed -n 2,4p 1.csv | cut -d, -f1-7 >here.csv
    same_numbers here.csv hand.csv 1e-5 || fail "$name $*: $(cat here.csv), by hand: $(cat hand.csv)"
}
check out true 0 1
[ "$(cut -d, -f8,9 1.csv | sort -u | tr '\n' ' ')" = 'en,xx source,target ' ] || fail "languages: $(cat 1.csv)"
check out true 1 0 --reverse
[ "$(sed -n 2p 1.csv | cut -d, -f8,9)" = xx,en ] || fail "languages of --reverse: $(cat 1.csv)"
logged plain.log xlm_train job.conf --set model.language_embeddings=false --set train.output=plain --set train.steps=1
check plain false 0 1

# Subwords of both languages took part, and so did others.
awk -F, 'NR == 2 { exit !($7 > 0 && $7 < 1) }' 1.csv || fail "no subword of both languages: $(cat 1.csv)"

# The bands are all there is, the table on standard output says the same, and threads change nothing.
awk -F, 'NR == 2 { all = $2 } NR > 4 { sum += $2 } END { exit !(sum == all && all == 22) }' 1.csv || fail "bands: $(cat 1.csv)"
[ "$(sed -n 2p 1.out | awk '{ print $2 }')" = 22 ] || fail "the table: $(cat 1.out)"
xlm_embed alignment plain/latest dict.h5 corpus.h5 --threads 2 2>/dev/null | cmp - 1.out || fail "two threads give another result"

# ---- export: words ----
# rows_of FILE: "word number number ..." of word2vec's text.
rows_of() { sed 1d "$1"; }
# weights ID...: rows of the word embeddings (and, with $added, of its row of the language embeddings), their mean; of out/latest,
# or $from.
weights() {
    numbers /model/embeddings/word/weight "${from-out/latest}" >word
    numbers /model/embeddings/language/weight "${from-out/latest}" >language
    awk -v d=32 -v added="${added-}" -v ids="$*" '
        FILENAME == "word" { e[n++] = $1; next } { l[m++] = $1 }
        END {
            k = split(ids, id, " ")
            for (c = 0; c < d; c++) {
                x = 0
                for (i = 1; i <= k; i++) x += e[id[i] * d + c] / k
                printf "%.6f ", x + (added != "" ? l[added * d + c] : 0)
            }
            print ""
        }' word language
}
# close A B: two vectors of 32 numbers.
close() { [ "$(wc -w <"$1")" -eq 32 ] && same_numbers "$1" "$2" 2e-5; }
for n in 1 4; do
    ranks $n xlm_embed export out/latest -o vocabulary-$n.vec 2>export.log || fail "$n ranks: $(cat export.log)"
    cmp vocabulary-1.vec vocabulary-$n.vec || fail "$n ranks export other words"
done
strings /vocabulary/words out/latest | sed 1,5d | cmp - <(rows_of vocabulary-1.vec | cut -d' ' -f1) ||
    fail "not all subwords, in order"
[ "$(head -n 1 vocabulary-1.vec)" = "$(rows_of vocabulary-1.vec | wc -l) 32" ] &&
    rows_of vocabulary-1.vec | awk 'NF != 33 { exit 1 }' || fail "no word2vec text: $(head -c 300 vocabulary-1.vec)"
rows_of vocabulary-1.vec | sed -n 3p | cut -d' ' -f2- >got
weights 7 >wanted
close got wanted || fail "row 7 is not that of the model"
xlm_embed export out/latest --special-tokens --language xx 2>export.log >all.vec || fail "$(cat export.log)"
[ "$(sed -n 2p all.vec | cut -d' ' -f1)" = '<s>' ] || fail "no special tokens: $(sed -n 2p all.vec)"
sed -n 9p all.vec | cut -d' ' -f2- >got
added=1 weights 7 >wanted
close got wanted || fail "the language's embedding is not added"
# Subwords of one language, by frequency; only whole words, and all.
xlm_embed export out/latest --language xx --corpus corpus.h5 -o xx.vec 2>export.log || fail "$(cat export.log)"
numbers /train/text/xx/tokens corpus.h5 | awk '$1 > 4' | sort -n | uniq -c | sort -k1,1nr -k2,2n | awk '{ print $2 }' >ids
strings /vocabulary/words out/latest >words
awk 'FILENAME == "words" { word[n++] = $0; next } { print word[$1] }' words ids | cmp - <(rows_of xx.vec | cut -d' ' -f1) ||
    fail "subwords of xx: $(rows_of xx.vec | cut -d' ' -f1 | head)"
printf 'house\n\n two words\n river \n\302\255\n' >list
ranks 2 xlm_embed export out/latest --words list -o list.vec 2>export.log || fail "$(cat export.log)"
[ "$(head -n 1 list.vec)" = '2 32' ] && [ "$(rows_of list.vec | cut -d' ' -f1 | tr '\n' ' ')" = 'house river ' ] &&
    grep -q 'warning: 2 lines of list skipped' export.log || fail "words of a list: $(cat list.vec export.log)"
xlm_embed export out/latest --words list -o list.h5 2>export.log || fail "$(cat export.log)"
[ "$(strings /words list.h5 | tr '\n' ' ')" = 'house river ' ] && [ "$(attribute /vectors list.h5 2>/dev/null)" != '' ] ||
    fail "HDF5: $(h5dump -n 1 list.h5)"

# A word that the model does not know, or not all of, has no vector, as similarity and neighbours have none of it.
printf '漢字\nhouse\nhouse漢\nriver\nहिन्दी\n' >foreign
for layer in '' '--layer 1 --language en'; do
    # shellcheck disable=SC2086 # options
    logged export.log xlm_embed export out/latest --words foreign $layer -o foreign.vec
    [ "$(rows_of foreign.vec | cut -d' ' -f1 | tr '\n' ' ')" = 'house river ' ] &&
        grep -q 'warning: 3 lines of foreign skipped: .*not know' export.log ||
        fail "$layer: $(cut -c1-50 foreign.vec; cat export.log)"
done
xlm_embed export out/latest --words foreign 2>export.log | cmp - list.vec || fail "words that are known have other vectors"
printf 'house\t漢字\t1\nriver\thouse\t2\n' >foreign.pairs
logged model.out xlm_embed similarity out/latest --languages en --pairs foreign.pairs
logged export.log xlm_embed export out/latest --words foreign --language en -o foreign.vec
logged file.out xlm_embed similarity foreign.vec --pairs foreign.pairs
grep -q '50.00%' model.out && grep -q '50.00%' file.out || fail "coverage: $(cat model.out file.out)"
# dump_word WORD MODEL: a step of fine-tuning with the sentence of this word and a full stop: step.h5, and its ids in the file ids.
dump_word() {
    printf '%s\tX\n.\tY\n' "$1" >one.tsv
    printf '%s\n' '[tune]' "model = $2" 'train = one.tsv' 'dev = one.tsv' 'language = en' 'output = tag' 'batch = 1' \
        'length = 20' '[task tagging]' >tune.conf
    logged tune.log xlm_tune tune.conf --dump-step step.h5
    numbers /streams/train/batch/ids step.h5 >ids
    [ "$(wc -l <ids)" -ge 5 ] || fail "the word has one subword: $(cat ids)"
}
# The vector of a word of several subwords is their mean: in a model with too few merges for whole words.
logged prep.log xlm_prep --mono en=text.en --mono xx=text.xx --words space --bpe 40 -o few.h5
logged train.log ranks 1 xlm_train job.conf --set train.corpus=few.h5 --set train.output=few --set train.steps=1
dump_word house few/latest
# shellcheck disable=SC2046 # a word for each id
from=few/latest weights $(sed '1d;$d' ids | sed '$d') >wanted
echo house | xlm_embed export few/latest --words - 2>export.log | sed -n '2s/^[^ ]* //p' >got
close got wanted || fail "a word of several subwords is not their mean: $(cat export.log)"

# ---- export: sentences ----
# A step of fine-tuning reads this one sentence as it is, and has its ids and hidden states.
dump_word housered out/latest
# pooled LAYER HOW SKIP: of the hidden states, without so many rows at both ends.
pooled() {
    numbers "/streams/train/hidden/$1" step.h5 | awk -v d=32 -v how="$2" -v skip="$3" '{ h[n++] = $1 }
        END {
            first = skip; end = n / d - skip
            if (how == "first") end = first + 1
            for (c = 0; c < d; c++) {
                x = how == "max" ? -1e9 : 0
                for (i = first; i < end; i++) {
                    y = h[i * d + c]
                    if (how != "max") x += y / (end - first); else if (y > x) x = y
                }
                printf "%.6f ", x
            }
            print ""
        }'
}
echo 'housered .' >one.txt
for form in '0 mean 1' '1 mean 1' '1 max 0' '2 mean 1' '2 mean 0' '2 max 1' '2 first 1' '2 first 0'; do
    read -r layer how skip <<<"$form"
    all=$([ "$skip" = 1 ] || echo --special-tokens)
    # shellcheck disable=SC2086 # one option or none
    xlm_embed export out/latest --language en --text - --layer $layer --pooling $how $all <one.txt >got 2>export.log ||
        fail "$(cat export.log)"
    pooled $layer $how $skip >wanted
    close got wanted || fail "$form: $(cat got), by hand: $(cat wanted)"
done
# Many lines: of several blocks, some empty, some too long; in order, on any number of ranks, from a pipe and compressed.
{ for _ in 1 2 3 4; do cat text.en; done; echo; paste -s -d' ' text.en; cat one.txt; } >many
gzip -c many >many.gz
for n in 1 4; do
    ranks $n xlm_embed export out/latest --language en --text many -o many-$n.h5 2>many-$n.log ||
        fail "$n ranks: $(cat many-$n.log)"
    same_objects many-1.h5 many-$n.h5 /vectors || fail "$n ranks give other vectors"
done
grep -q 'warning: 1 lines of more than 96 tokens' many-4.log && grep -q 'warning: 1 lines have no subword' many-4.log &&
    [ "$(attribute /cut many-4.h5) $(attribute /layer many-4.h5) $(attribute /pooling many-4.h5)" = '1 2 "mean"' ] ||
    fail "what it says: $(cat many-4.log) $(h5dump -A many-4.h5)"
cat many.gz | ranks 2 xlm_embed export out/latest --language en --text - >many.txt 2>export.log || fail "$(cat export.log)"
[ "$(wc -l <many.txt)" -eq "$(wc -l <many)" ] || fail "$(wc -l <many) lines give $(wc -l <many.txt) vectors"
cmp many.txt <(xlm_embed export out/latest --language en --text many.gz 2>/dev/null) || fail "a pipe gives other vectors"
[ "$(sed -n 2401p many.txt | tr ' ' '\n' | sort -u)" = 0 ] || fail "the vector of an empty line: $(sed -n 2401p many.txt)"
tail -n 1 many.txt >got
pooled 2 mean 1 >wanted
close got wanted || fail "the last line's vector is not its own"
sed -n 2p many.txt >got
sed -n 1802p many.txt >wanted
close got wanted || fail "the same line twice has two vectors"

# ---- what is wrong ----
expect 64 'export takes one checkpoint' xlm_embed export
expect 64 'Unknown option --reverse' xlm_embed export out/latest --reverse
expect 64 'the model has language embeddings; give --language' xlm_embed export out/latest --text one.txt
expect 64 '--layer=3: the model of out/latest has 2 layers' ranks 2 xlm_embed export out/latest --layer 3
expect 64 'mean, first or max' xlm_embed export out/latest --text one.txt --pooling sum
expect 64 '--pooling, --length and --precision are for hidden states' xlm_embed export out/latest --pooling max
expect 64 '--corpus needs --language' xlm_embed export out/latest --corpus corpus.h5
expect 66 'none.txt' ranks 2 xlm_embed export out/latest --language en --text none.txt -o none.h5
printf 'good\nb\377d\n' >latin
for name in none.h5 none.txt; do
    expect 65 'latin:2: byte 2: not UTF-8' ranks 2 xlm_embed export out/latest --language en --text latin -o $name
    once '^xlm_embed: '
    [ -z "$(find . -name 'none*')" ] || fail "something was written: $(find . -name 'none*')"
    expect 73 'no-such-directory' ranks 2 xlm_embed export out/latest -o no-such-directory/$name
done
xlm_prep --mono en=text.en --mono xx=text.xx --words space --bpe 100 -o other.h5 >prep.log 2>&1 || fail "$(cat prep.log)"
expect 64 'give a command first: alignment, .*retrieval' xlm_embed
expect 64 'analogies: there is no such command; it is one of "alignment", "cca"' xlm_embed analogies out/latest
expect 64 'takes a checkpoint, a dictionary and a corpus' xlm_embed alignment out/latest dict.h5
expect 66 'none.h5' xlm_embed alignment none.h5 dict.h5 corpus.h5
expect 66 'none.h5' xlm_embed alignment out/latest none.h5 corpus.h5
expect 65 'other subwords' xlm_embed alignment out/latest dict.h5 other.h5
expect 65 'corpus.h5' xlm_embed alignment out/latest corpus.h5 corpus.h5
expect 73 'no-such-directory' xlm_embed alignment out/latest dict.h5 corpus.h5 --csv no-such-directory/a.csv
finish
