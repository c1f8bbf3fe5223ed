#!/usr/bin/env bash
# xlm-mpi: the small studies of objectives, from text to table, with a few steps. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
# The study's German is here the other language of the tests. What would be fetched is there already.
mkdir -p out/text ud gold
for file in mono.en en-de.en; do cp text.en out/text/$file; done
for file in mono.de en-de.de; do cp text.xx out/text/$file; done
tagged() { # FILE: sentences as CoNLL-U, with places in the sentence for tags.
    awk '{
            print "# text = " $0
            for (i = 1; i <= NF; i++) print i, $i, "_", $i == "." ? "PUNCT" : i % 2 ? "NOUN" : "VERB", "_", "_", "_", "_", "_", "_"
            print ""
        }' OFS='\t' "$1"
}
for part in train dev test; do head -n 40 text.en | tagged - >ud/en_ewt-ud-$part.conllu; done
# With another program than gzip where there is one.
packer=gzip packed=gz
! command -v xz >/dev/null || packer=xz packed=xz
$packer ud/en_ewt-ud-train.conllu
# A launcher that is no command of PATH.
printf '#!/bin/sh\nexec "$@"\n' >start
chmod +x start
head -n 20 text.xx | tagged - | gzip >ud/de_gsd-ud-test.conllu.gz
head -n 20 text.xx | tagged - | $packer >ud/de_pud-ud-test.conllu.$packed
head -n 5 text.xx >gold/test.de
head -n 5 text.en >gold/test.en
awk '{ for (i = 1; i <= NF - 1; i++) print NR, i, NF - i, "S"; print NR, NF, NF, "S" }' gold/test.en >gold/alignv2.txt

out=out
# A model of few numbers, and few held-out instances and epochs, with one rank unless a study says so.
small='model.layers=2; model.hidden_size=32'
study() { # SCRIPT [NAME=VALUE...]
    env XLM_LAUNCH=env STEPS=4 START_STEPS=6 DICTIONARY=none SETTINGS="$small" \
        MEASURE='--instances 8 --pos-set epochs=1' \
        GOLD="$PWD/gold/test.de,$PWD/gold/test.en,$PWD/gold/alignv2.txt" "${@:2}" \
        "$XLM_SOURCE/jobs/$1/study" "$out" ud >log 2>&1
}
row() { awk -v run="$1" -v seed="$2" '$1 == run && $2 == seed' log; }

# Mistakes are found before anything is made.
for wrong in mlm mlm+:1 mlm+nothing:1 'mlm@x:1'; do
    code=0
    study small RUNS="$wrong" || code=$?
    [ "$code" -eq 64 ] && grep -q '^study: RUNS: ' log || fail "RUNS=$wrong: $code: $(tail -n 3 log)"
done
[ ! -e out/corpus.h5 ] || fail "there is a corpus for runs that cannot be"

# From nothing: the model is the study's own. With text and a language that are given.
out='out=x x' # a blank, in the table too, and what awk takes for a variable
mkdir -p "$out/text"
for file in mono.en en-xx.en; do cp text.en "$out/text/$file"; done
for file in mono.xx en-xx.xx; do cp text.xx "$out/text/$file"; done
cp gold/test.de gold/test.xx
mv ud/{de,xx}_pud-ud-test.conllu.$packed
# The study of masks: what it trains with, and questions where they can be divided.
questions=''
if command -v jq >/dev/null; then
    questions=$PWD/questions.json
    head -n 4 text.en | awk '
        BEGIN { printf "{\"data\": [{\"paragraphs\": [" }
        {
            printf "%s{\"context\": \"%s\", \"qas\": [{", (NR > 1 ? ", " : ""), $0
            printf "\"id\": \"%d\", \"question\": \"which %s\", ", NR, $2
            printf "\"answers\": [{\"text\": \"%s\", \"answer_start\": 0}]}]}", $1
        }
        END { print "]}]}" }' >"$questions"
fi
study masks/small RUNS='mlm-span+gc-embedding:1' LANGUAGE=xx XLM_LAUNCH=./start \
    SETTINGS='model.feed_forward_size=64; model.hidden_size=32' \
    QUESTIONS="$questions" MEASURE='--instances 8 --length 64 --pos-set epochs=1 --folds 2 --squad-set epochs=1' \
    GOLD="$PWD/gold/test.xx,$PWD/gold/test.en,$PWD/gold/alignv2.txt" ||
    fail "masks: $(tail -n 5 log)"
head -n 40 text.en | cmp - "$out/text/ewt.en" || fail "the treebank's sentences: $(head -n 3 "$out/text/ewt.en")"
grep -q '^ .* ppl-xx ' log || fail "the table names no xx: $(tail -n 5 log)"
[ -z "$questions" ] || grep -q ',answering_f1,,questions.json in 2 folds,en,en,' "$out/measures.csv" ||
    fail "no answers: $(cat "$out/measures.csv")"
awk -F'\t' -v asked="$questions" 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i } NR == 2 { f1 = $column["F1"] }
    END { exit !(NR == 2 && (asked == "" ? f1 == "-" : f1 >= 0 && f1 <= 100 && f1 != "-")) }' <"$out/scores.tsv" ||
    fail "scores: $(cat "$out/scores.tsv")"
grep -q ',pos_micro_f1,.*,xx_pud-ud-test.conllu,' "$out/measures.csv" ||
    fail "no parts of speech of xx: $(cat "$out/measures.csv")"
h5dump -a /job/text "$out/runs/mlm-span+gc-embedding-from-nothing-1-6/latest" >job
for line in 'steps = 6' 'form = embedding' 'mask_unit = span' '^ *layers = 4' 'feed_forward_size = 64'; do
    grep -q "$line" job || fail "masks: the job has no $line: $(cat job)"
done
[ "$(grep -c 'stream text\]' job)" -eq 1 ] && ! grep -q 'start = .*latest' job || fail "from nothing: $(cat job)"
# Another study's run of this name has a smaller model, and is not taken for that one.
code=0
study mlm-gc/small RUNS='mlm-span+gc-embedding:1' LANGUAGE=xx GOLD= SETTINGS='model.hidden_size = 32' || code=$?
[ "$code" -eq 64 ] && grep -q 'mlm-span.* has a run with another model: layers = 4, not 6\. ' log ||
    fail "another model: $code: $(tail -n 3 log)"

mv ud/{xx,de}_pud-ud-test.conllu.$packed
# The study of architectures: keys of [model] that an objective's file gives are the run's own. The language has no treebank.
study architectures/small RUNS='mlm-modern:1' LANGUAGE=xx GOLD= SETTINGS='model.layers=2' STEPS=4 ||
    fail "architectures: $(tail -n 5 log)"
h5dump -a /job/text "$out/runs/mlm-modern-from-nothing-1-6/latest" >job
for line in 'feed_forward_size = 341' 'norm = pre' 'position_type = rotary' 'hidden_size = 128' '^ *layers = 2'; do
    grep -q "$line" job || fail "architectures: the job has no $line: $(cat job)"
done
awk -F'\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
    NR == 2 && $1 == "mlm-modern/from-nothing" {
        found = $column["ppl-en"] > 1 && $column["en"] > 0 && $column["gsd"] == "-" && $column["pud"] == "-"
    }
    END { exit !found }' <"$out/scores.tsv" || fail "architectures: $(cat "$out/scores.tsv")"
grep -q 'no xx_gsd-ud-test.conllu and no xx_pud-ud-test.conllu: .*in English only' log || fail "no treebank of xx: $(head -n 3 log)"
expect 64 'mlm-pre has a model of its own' env RUNS=mlm-pre:1 LANGUAGE=xx "$XLM_SOURCE/jobs/small/study" "$out" ud
# A package's name may have a -, which is _ in files and corpora.
cat >fetch <<E
#!/bin/sh
echo "\$*" >"$PWD/asked"
mkdir -p "\$2"
for file in mono.en en-pt_br.en; do cp "$PWD/text.en" "\$2/\$file"; done
for file in mono.pt_br en-pt_br.pt_br; do cp "$PWD/text.xx" "\$2/\$file"; done
E
chmod +x fetch
RUNS=mlm:1 LANGUAGE=pt-br DICTIONARY=none XLM_FETCH=./fetch XLM_LAUNCH=env \
    "$XLM_SOURCE/jobs/small/study" --plan brazil ud >log 2>&1 &&
    grep -q 'en pt-br$' asked && grep -q '^pt_br ' log || fail "pt-br: $(tail -n 5 log)"
out=out

# Objectives of all papers together, as they are: a plan makes passes of the studies' own model.
name=mlm+tlm+dwa-unfiltered@0.5+gc@2+moco+weam
RUNS=$name:3 XLM_LAUNCH=env DICTIONARY=none "$XLM_SOURCE/jobs/combinations/study" --plan out ud >log 2>&1 ||
    fail "plan of all: $(tail -n 5 log)"
grep -q "^$name:3  *1 .* [0-9.]* \(min\|h\)\$" log && [ ! -e out/start-12000 ] || fail "the plan of all: $(cat log)"
for line in '^layers = 6' '^hidden_size = 128'; do
    grep -q "$line\$" out/start-12000.conf || fail "the model: $(cat out/start-12000.conf)"
done
# And trained from one model, on 2 ranks, though there are files 2 and sh; the weights are those given.
: >2
: >sh
study combinations RUNS=$name:3 XLM_LAUNCH="sh $XLM_SOURCE/tests/mpirun.sh 2" \
    SETTINGS="$small; objective dwa.label_layer=2" || fail "combinations: $(tail -n 5 log)"
h5dump -a /job/text out/runs/$name-3-6-4/latest >job
for line in 'weight = 0.5' 'weight = 2' 'filter = off' 'alignments = alignment.h5' 'steps = 4' 'start = .*/out/start-6/latest' \
    'hidden_size = 32' 'seed = 3'; do
    grep -q "$line" job || fail "the job has no $line"
done
row $name 3 | awk '
    NF != 17 || $16 != 4 || $17 != "float32" { bad = 1 }
    { for (i = 3; i <= 16; i++) if ($i != $i + 0 && $i != "-") bad = 1 }
    END { exit bad || NR != 1 }' ||
    fail "row: $(row $name 3): $(tail -n 5 log)"
for column in aer retrieval_cosine perplexity pos_micro_f1; do
    grep -q ",$column," out/measures.csv || fail "$column was not measured"
done

# Others on the same model. What is finished is not made again; several seeds have a mean.
study xlm-align/small RUNS='mlm+tlm:1 mlm+tlm:2' || fail "xlm-align: $(tail -n 5 log)"
! grep -q '^== The model that runs start from' log || fail "the first model was made twice"
awk '$1 == "mlm+tlm" { for (i = 3; i <= 13; i++) if ($i != "-") {
        if ($2 == "mean") mean[i] = $i; else if ($2 != "sd") sum[i] += $i / 2 } }
    END { for (i in sum) { d = sum[i] - mean[i]; if (d > 0.06 || d < -0.06) exit 1; n++ } exit n < 8 }' log ||
    fail "the mean: $(grep '^mlm+tlm ' log)"
# Of two seeds the standard deviation is their distance over the root of two.
awk -F'\t' '$1 == "mlm+tlm" { for (i = 3; i <= 13; i++) cell[$2, i] = $i }
    END {
        for (i = 3; i <= 13; i++) {
            if (cell[1, i] == "-") continue
            d = (cell[1, i] - cell[2, i]) / sqrt(2)
            d = (d < 0 ? -d : d) - cell["sd", i]
            if (d > 0.12 || d < -0.12) exit 1
            n++
        }
        exit n < 8
    }' out/scores.tsv || fail "the standard deviation: $(cat out/scores.tsv)"
grep -q '^mlm+tlm  *1 .* POS 75.2$' log || fail "no figure of the paper: $(row mlm+tlm 1)"
study xlm-align/small RUNS='mlm+tlm:1 mlm+tlm:2' || fail "again: $(tail -n 5 log)"
! grep -q '^step ' log || fail "a finished run was made again"
# A finished run that was made with other settings or measures is not taken for one with these.
for other in 'MEASURE=--instances 9' GOLD= "SETTINGS=$small; train.learning_rate=2e-3" \
    "MEASURE=--instances 8 --pos-set epochs=1 --pool 5"; do
    code=0
    study xlm-align/small RUNS=mlm+tlm:1 "$other" || code=$?
    [ "$code" -eq 64 ] && grep -q "runs/mlm+tlm-1-6-4 was made with ${other%%=*}=.*; give that again, take another DIR" log ||
        fail "another run: $other: $code: $(tail -n 3 log)"
done
study xlm-align/small RUNS=mlm+tlm:1 SETTINGS="$small" MEASURE=$'--instances 8\n--pos-set epochs=1' GOLD="gold/test.de,gold/test.en,gold/alignv2.txt" ||
    fail "the same run: $(tail -n 3 log)"
# Text and gold alignments are of the study's language.
cp gold/test.de gold/test.fr
expect 64 'out has the corpus of another language: de; take another DIR for fr' \
    env LANGUAGE=fr DICTIONARY=none "$XLM_SOURCE/jobs/small/study" out ud
mv out/language language
expect 64 'out has the corpus of another language: de;' env LANGUAGE=fr DICTIONARY=none "$XLM_SOURCE/jobs/small/study" out ud
mv language out
# The first model was made with other settings: new runs do not continue from it.
code=0
study small RUNS=mlm+tlm:4 SETTINGS="$small; train.learning_rate=2e-3" || code=$?
[ "$code" -eq 64 ] && grep -q 'start-6 was made with SETTINGS=model.hidden_size=32;model.layers=2; give that again' log ||
    fail "another start: $code: $(tail -n 3 log)"
# Less text than another study's is compared with it, if it has the same subwords.
mkdir like
logged like.log xlm_prep --mono en=text.en --mono de=text.xx --bpe 60 -o like/corpus.h5
code=0
study small RUNS=mlm+tlm:4 LIKE=like || code=$?
[ "$code" -eq 64 ] && grep -q 'out/corpus.h5 has other subwords than .*/like/corpus.h5; take another DIR' log ||
    fail "like another study: $code: $(tail -n 3 log)"
expect 64 'GOLD: .*the sentences are not of en and de' \
    env DICTIONARY=none GOLD=gold/test.fr,gold/test.en,gold/alignv2.txt "$XLM_SOURCE/jobs/small/study" out ud
expect 66 'GOLD: there is no gold/none.txt' \
    env DICTIONARY=none GOLD=gold/test.de,gold/test.en,gold/none.txt "$XLM_SOURCE/jobs/small/study" out ud
expect 64 'GOLD: gold/test.de: not SOURCE' env DICTIONARY=none GOLD=gold/test.de "$XLM_SOURCE/jobs/small/study" out ud
code=0
study small RUNS=mlm+tlm:4 SETTINGS='model.layers=2; model.hidden_size=64' || code=$?
[ "$code" -eq 64 ] && grep -q '/start-6 has a run with another model: hidden_size = 32, not 64\. ' log ||
    fail "a start with another model: $code: $(tail -n 3 log)"

# Without time nothing begins; a plan trains nothing.
code=0
study xlm-align/small RUNS='mlm+tlm:3' HOURS=0.0 || code=$?
[ "$code" -eq 75 ] && grep -q 'study: the time of HOURS=0.0 is over' log && [ ! -e out/runs/mlm+tlm-3-6-4 ] ||
    fail "no time: $code: $(tail -n 3 log)"
RUNS='mlm-word:1 mlm-ngram+gc:2' START_STEPS=20 XLM_LAUNCH=env DICTIONARY=none \
    "$XLM_SOURCE/jobs/masks/small/study" --plan out ud >log 2>&1 || fail "plan: $(tail -n 5 log)"
[ "$(grep -c '^mlm-[a-z+]*:[12]  *1 .* [0-9.]* \(s\|min\)$' log)" -eq 2 ] && [ ! -e out/runs/mlm-word-from-nothing-1-20 ] ||
    fail "the plan: $(cat log)"
expect 1 'precision = none: ' env RUNS='mlm-word:1' START_STEPS=20 XLM_LAUNCH=env DICTIONARY=none SETTINGS=train.precision=none \
    "$XLM_SOURCE/jobs/masks/small/study" --plan out ud
# As many steps as take the time of other objectives: both are planned in turn, and the median of three quotients counts, once for
# all seeds. Plans of these times stand in for real ones, which differ from minute to minute: 0.5 s, and 0.2, 0.1 and 0.25 s.
mkdir times
cat >times/xlm_train <<'END'
#!/bin/sh
case $* in *--plan*) ;; *) exit 70 ;; esac
for job in "$@"; do [ ! -f "$job" ] || break; done
# What begins with the last step, or later, takes no time.
if grep -q '^\[objective dwa\]' "$job" && case $* in *' objective dwa.begin=400'*) false ;; esac; then seconds=1
elif grep -q '^\[objective tlm\]' "$job"; then seconds=0.5
else
    echo >>"${0%/*}/planned"
    seconds=$(echo 0.2 0.1 0.25 0.2 0.2 | cut -d ' ' -f "$(wc -l <"${0%/*}/planned")")
fi
echo "1 1 $seconds"
END
chmod +x times/xlm_train
PATH=$PWD/times:$PATH SAME_TIME=mlm+tlm RUNS='mlm:1 mlm:2' STEPS=400 START_STEPS=20 SETTINGS="$small" XLM_LAUNCH=env DICTIONARY=none \
    "$XLM_SOURCE/jobs/small/study" --plan out ud >log 2>&1 || fail "the same time: $(tail -n 5 log)"
printf 'mlm/same-time\t400\tmlm+tlm\t1000\n' | cmp - out/same-time.tsv || fail "steps in the same time: $(cat out/same-time.tsv)"
# dwa takes twice the time of the others, and begins after a quarter of the steps: 7/8 of a second each.
PATH=$PWD/times:$PATH SAME_TIME=mlm+tlm RUNS=mlm+tlm+dwa:1 STEPS=400 START_STEPS=20 SETTINGS="$small; objective dwa.begin=100" \
    XLM_LAUNCH=env DICTIONARY=none "$XLM_SOURCE/jobs/small/study" --plan out ud >log 2>&1 || fail "dwa's time: $(tail -n 5 log)"
tail -n 1 out/same-time.tsv | cmp - <(printf 'mlm+tlm+dwa/same-time\t400\tmlm+tlm\t229\n') ||
    fail "steps in the same time, with dwa: $(cat out/same-time.tsv)"
printf 'mlm/same-time\t4\tmlm+tlm\t5\nmlm+tlm+dwa/same-time\t4\tmlm+tlm\t2\n' >>out/same-time.tsv
study small RUNS=mlm:1 SAME_TIME=mlm+tlm || fail "the same time: $(tail -n 5 log)"
[ "$(last_step out/runs/mlm-same-time-1-6-5)" = 5 ] && row mlm/same-time 1 | grep -q . || fail "in the same time: $(cat log)"
[ "$(wc -l <out/same-time.tsv)" -eq 4 ] || fail "what was known was measured again: $(cat out/same-time.tsv)"
study small RUNS='mlm:1 mlm+tlm+dwa:1' SAME_TIME=mlm+tlm SETTINGS="$small; objective dwa.label_layer=1; objective dwa.begin=2" ||
    fail "dwa's time: $(tail -n 5 log)"
h5dump -a /job/text out/runs/mlm+tlm+dwa-same-time-1-6-2/latest | grep -q 'begin = 1$' || fail "dwa begins after another share"
expect 64 'no objective nothing' env RUNS=mlm:1 SAME_TIME=nothing "$XLM_SOURCE/jobs/small/study" out ud
# Runs are compared by what the studies have written.
"$XLM_SOURCE/jobs/combinations/compare" out >compared 2>&1 && grep -qE '^mlm/same-time +de +1 +[0-9.]+ ' compared ||
    fail "compared: $(cat compared)"
# Perplexity is that of instances as long as the studies' text, where a run has none, too.
# Rows that a run of the same name has left, which was moved away or whose measurement was stopped, are not those of this one.
left=$(realpath out)/runs/tlm-1-6-4/latest,4
printf '%s\n' "$left,aer,1,together,de,en,0.000000" "$left,answering_f1,,left,en,en,1.000000" >>out/measures.csv
study small RUNS=tlm:1 || fail "tlm: $(tail -n 5 log)"
row tlm 1 | awk '{ found = $3 > 0 && $14 == "-" } END { exit !(NR == 1 && found) }' && ! grep -q ',left,' out/measures.csv &&
    grep -q '/runs/mlm+tlm-1-6-4/latest,4,aer,' out/measures.csv ||
    fail "rows of a former run: $(head -n 1 out/scores.tsv; row tlm 1)"
[ "$(grep -c ' perplexity .*(instances of 64 tokens)$' log)" -eq 3 ] || fail "instances: $(grep ' perplexity ' log)"
# Ways to fine-tune: all of the model, and adapters of languages and of the task.
study mad-x/small WAYS='full mad-x' SEEDS='1 2' LANGUAGE_STEPS=3 XLM_LAUNCH='env ./start' || fail "mad-x: $(tail -n 5 log)"
grep -qE '^mad-x .*[0-9]\.[0-9] ± +[0-9]' $out/mad-x/scores.txt && [ "$(wc -l <$out/mad-x/scores.tsv)" -eq 12 ] ||
    fail "mad-x: $(cat $out/mad-x/scores.txt)"
# What has another first model or another rate is another run, and not made again.
study mad-x/small WAYS='full mad-x' SEEDS=1 LANGUAGE_STEPS=3 RATES='1e-4 2e-3' || fail "mad-x, other rates: $(tail -n 5 log)"
grep -q '^== full, seed 1$' log && ! grep -q '^== mad-x, ' log && [ "$(wc -l <$out/mad-x/scores.tsv)" -eq 6 ] ||
    fail "mad-x, another rate of full fine-tuning: $(grep '^==' log)"
study mad-x/small WAYS='full mad-x' SEEDS=1 LANGUAGE_STEPS=3 START_STEPS=5 || fail "mad-x, another model: $(tail -n 5 log)"
[ "$(grep -c '^== \(full\|mad-x\), seed 1$' log)" -eq 2 ] && [ "$(grep -c '^== The adapter of ' log)" -eq 2 ] ||
    fail "mad-x: scores of another first model: $(grep '^==' log)"
expect 64 'RATES: 1e-3: not two numbers' env RATES=1e-3 "$XLM_SOURCE/jobs/mad-x/small/study" out ud
expect 64 'WAYS: no way "soft"' env WAYS=soft "$XLM_SOURCE/jobs/mad-x/small/study" out ud
expect 64 'there is no such option' "$XLM_SOURCE/jobs/small/study" --plans out ud
expect 66 'DICTIONARY: there is no words.index' env DICTIONARY=words "$XLM_SOURCE/jobs/small/study" new ud
[ ! -e new ] || fail "something was made without the dictionary"
expect 66 'QUESTIONS: there is no none.json' env QUESTIONS=none.json "$XLM_SOURCE/jobs/small/study" out ud

finish
