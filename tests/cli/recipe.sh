#!/usr/bin/env bash
# xlm-mpi: the recipe, from text to a scored tagger. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
export XLM_BF16_EMULATE=1 # a job of this precision is made, on whatever processor
tagged() { # FILE: sentences as CoNLL-U, with places in the sentence for tags.
    awk '{
            for (i = 1; i <= NF; i++) print i, $i, "_", $i == "." ? "PUNCT" : i % 2 ? "NOUN" : "VERB", "_", "_", "_", "_", "_", "_"
            print ""
        }' OFS='\t' "$1"
}
for part in train dev test; do head -n 40 text.en | tagged - >$part.conllu; done
head -n 20 text.xx | tagged - | gzip >test.xx.conllu.gz
head -n 5 text.en >gold.en
head -n 5 text.xx | head -c -1 >gold.xx # its last line has no end
awk '{ for (i = 1; i <= NF - 1; i++) print NR, i, NF - i, "S"; print NR, NF, NF, "S" }' gold.en >gold.txt
head -n 300 text.en >first.en
tail -n 300 text.xx | gzip >last.xx.gz
paste -d' ' <(head -n 1 text.en | tr ' ' '\n') <(head -n 1 text.xx | tr ' ' '\n') | sort -u >words.txt
cp words.txt words.dict

# What is asked for 2 ranks is planned for them, and measured and trained on one, but where it says so.
export XLM_LAUNCH=env
on_two="sh $XLM_SOURCE/tests/mpirun.sh 2"
small=(--size 1x64 --bpe 120 --passes 12 --ranks 2)
texts=(--text en=first.en --text xx=last.xx.gz)
pairs=(--pairs en-xx=text.en,text.xx)
recipe() { "$XLM_SOURCE/jobs/recipes/recipe" "$@" >log 2>&1; }
objectives() { sed -n 's/^objectives *//p' log; }
key() { awk -v section="[$2]" -v key="$3" '/^\[/ { here = $0 == section } here && $1 == key { print $3 }' "$1/job.conf"; }

# What there is decides what is trained.
printf '#!/bin/sh\nexec "$@"\n' >start
chmod +x start
XLM_LAUNCH=./start recipe "${texts[@]}" "${small[@]}" --passes 2 text || fail "text: $(tail -n 3 log)"
[ "$(objectives)" = mlm ] || fail "text: $(objectives)"
XLM_LAUNCH=./start bash text/run >run.log 2>&1 || fail "text/run: $(tail -n 5 run.log)"
grep -q '^left out: no pairs of sentences are held out$' run.log && ! grep -q ',retrieval' text/measures.csv ||
    fail "retrieval without pairs: $(grep -A2 retrieval run.log)"
[ "$(grep -c ',perplexity,' text/measures.csv)" -eq 3 ] || fail "text: $(cat text/measures.csv)"
recipe "${texts[@]}" --dictionary en-xx=words.dict "${small[@]}" --set ' train.clip = 2' with=dictionary ||
    fail "dictionary: $(tail -n 3 log)"
[ "$(grep '^clip' with=dictionary/job.conf)" = 'clip = 2' ] ||
    fail "clip: $(grep '^clip' with=dictionary/job.conf)"
[ "$(objectives)" = 'mlm align' ] || fail "dictionary: $(objectives)"
[ ! -e with=dictionary/alignment.h5 ] || fail "alignments without pairs"

# From pairs to a scored tagger and aligned words, on 2 ranks; the dictionary is from the alignments.
all=("${texts[@]}" "${pairs[@]}" --tagged en=train.conllu,dev.conllu --test en=test.conllu --test en=dev.conllu --test xx=test.xx.conllu.gz
    --gold en-xx=gold.en,gold.xx,gold.txt --gold-words-from 1 "${small[@]}" --set 'train.evaluate_instances=32')
XLM_LAUNCH=$on_two recipe "${all[@]}" all || fail "all: $(tail -n 3 log)"
[ "$(objectives)" = 'mlm tlm dwa moco weam align' ] || fail "all: $(objectives)"
grep -q -e '--gold [^ ]* --gold-words-from 1 ' all/run || fail "gold links from another number: $(grep -e --gold all/run)"
[ -s all/words.txt ] || fail "no dictionary from the pairs"
steps=$(key all train steps)
grep -q '^measured  *2 ranks' all/plan.log || fail "ranks that measured: $(grep ^measured all/plan.log)"
grep -q "^steps  *$steps, the text is read 1[12].[0-9] times; limited by --passes 12\$" log || fail "steps: $(grep ^steps log)"
[ "${steps:-0}" -ge 20 ] || fail "$steps steps"
# No queue of moco is longer than there are pairs.
learned=$(sed -n 's/^stream pairs: \([0-9]*\) instances.*/\1/p' all/plan.log)
[ "$(key all 'objective moco' queue)" = "$learned" ] && [ "$learned" -lt 600 ] ||
    fail "a queue of $(key all 'objective moco' queue), of $learned pairs"
begin=$((steps * 4 / 5))
for objective in tlm moco weam align; do
    [ "$(key all "objective $objective" begin)" -eq $begin ] || fail "$objective begins at $(key all "objective $objective" begin)"
done
[ "$(key all 'objective dwa' begin)" -gt $begin ] || fail "dwa: $(key all 'objective dwa' begin)"
XLM_LAUNCH=$on_two bash all/run >run.log 2>&1 || fail "all/run: $(tail -n 5 run.log)"
[ "$(wc -l <all/aligned.txt)" -eq 600 ] || fail "$(wc -l <all/aligned.txt) aligned pairs"
[ "$(awk -F, '$2 == "measure" && $3 == "accuracy" { print $1 }' all/tags-1.csv | paste -sd' ')" = 'en xx mean' ] ||
    fail "tagger scored: $(cut -d, -f1-3 all/tags-1.csv | sort -u | paste -sd" ")"
# The second file of a language is scored by itself; the table of one language has no column of it.
grep -q '^measure,accuracy' all/tags-2.csv || fail "the second file of en: $(head -n 3 all/tags-2.csv)"
for measure in aer retrieval_cosine perplexity; do
    grep -q ",$measure," all/measures.csv || fail "no $measure in measures.csv"
done
[ "$(key all train evaluate_instances)" = 32 ] || fail "--set is not in the job: $(cat all/job.conf)"
grep -q '^tagger  *1 minutes at most$' log || fail "time of the tagger: $(grep ^tagger log)"

# What was done is not done again, and measures are of this time.
rows=$(wc -l <all/measures.csv)
echo earlier >all/tags-3.csv
bash all/run >run.log 2>&1 || fail "all/run again: $(tail -n 5 run.log)"
[ "$(wc -l <all/measures.csv)" -eq "$rows" ] || fail "$(wc -l <all/measures.csv) rows of measures instead of $rows"
[ "$(grep -c '^nothing to do' run.log)" -eq 2 ] || fail "done again: $(grep '^step' run.log | tail -n 2)"
[ -e all/tags-1.csv ] && [ ! -e all/tags-3.csv ] || fail "scores: $(ls all/tags-*)"
[ all/aligned.txt -nt all/model/latest ] && ! grep -q aligning run.log || fail "aligned again: $(grep aligning run.log)"
# What cannot be measured does not keep the rest from being made.
mkdir broken
printf '#!/bin/sh\nexit 69\n' >broken/xlm_embed
chmod +x broken/xlm_embed
code=0
PATH=$PWD/broken:$PATH bash all/run >run.log 2>&1 || code=$?
[ "$code" -ne 0 ] && [ -e all/tags-1.csv ] && grep -q '^exit' all/run || fail "without measures: $code: $(tail -n 5 run.log)"
# Fewer steps than the model has leave nothing to train; more leave the rest, in which what had begun goes on. The directory is the
# same one, however it is written.
recipe "${all[@]}" --passes 6 "$PWD/all/" || fail "fewer: $(tail -n 3 log)"
grep -q "^$PWD/all/model has $steps steps already" log && grep -q '^training  *the 0 steps that are left' log ||
    fail "fewer: $(grep -e ^training -e ^all/model log)"
# A tagger of the model before it learned more is not the tagger of the model.
recipe "${all[@]}" --passes 14 --set tune.epochs=2 --set train.precision=bfloat16 all || fail "more: $(tail -n 3 log)"
grep -q "^all/model is there, of $steps steps: the run continues it" log ||
    fail "nothing about the model that is there: $(tail -n 30 log | head -n 10)"
grep -q "^training  *the $(($(key all train steps) - steps)) steps that are left" log || fail "left: $(grep ^training log)"
[ "$(key all 'objective tlm' begin)" -eq $begin ] || fail "tlm pauses until $(key all 'objective tlm' begin)"
bash all/run >run.log 2>&1 || fail "more, run: $(tail -n 5 run.log)"
! grep -q '^nothing to do' run.log || fail "the tagger of the earlier model was taken"
grep -q '^epochs = 2$' all/tagger/job.conf || fail "epochs: $(grep epochs all/tagger/job.conf)"
grep -q '^precision = bfloat16$' all/tagger/job.conf || fail "precision: $(grep precision all/tagger/job.conf)"
[ "$(wc -l <all/measures.csv)" -eq "$rows" ] || fail "more: $(wc -l <all/measures.csv) rows of measures instead of $rows"

# What is there is not made again, and the time decides how many steps there are.
touch -d '2000-01-01' all/corpus.h5
mv all/model all/model-1
recipe "${all[@]}" --passes 100000 --hours 0.01 all || fail "again: $(tail -n 3 log)"
[ "$(stat -c %Y all/corpus.h5)" -lt 1000000000 ] || fail "the corpus was made again"
grep -q 'limited by --hours 0.01$' log || fail "time: $(grep ^steps log)"
minutes=$(sed -n 's/^training  *\([0-9]*\) minutes$/\1/p' log)
[ "${minutes:-9}" -le 1 ] || fail "more than $minutes minutes of 0.6"

# A model in which others have begun later than a plan is long: they take part in what is planned, go on, and take their time.
late=()
for objective in tlm dwa moco weam align; do late+=(--set "objective $objective.begin=120"); done
for stream in text pairs aligned; do late+=(--set "stream $stream.batch=1"); done
(cd all && xlm_train job.conf --set train.steps=121 --set train.warmup=4 --set train.micro_batches=1 --set train.evaluate_every=0 \
    "${late[@]}" >late.log 2>&1) || fail "late: $(tail -n 3 all/late.log)"
rm all/model/job.conf # the checkpoint has it too
mkdir planned
printf '#!/bin/sh\n[ "$3" != --plan ] || cp "$2" "%s"\nexec "$@"\n' "$PWD/planned/" >planning
# Time for about a thousand steps, however fast the machine is.
hours=$(sed -n 's/^a step .* \([0-9.]*\) s of all objectives$/\1/p' log | awk '{ printf "%.6f", $1 / 3.6 }')
XLM_LAUNCH="sh $PWD/planning" recipe "${all[@]}" --passes 1000000 --hours "$hours" all || fail "late: $(tail -n 3 log)"
[ "$(key planned 'objective tlm' begin)" -lt "$(key planned train steps)" ] || fail "planned: $(cat planned/job.conf)"
for objective in tlm dwa moco weam align; do
    [ "$(key all "objective $objective" begin)" -eq 120 ] || fail "late: $objective: $(key all "objective $objective" begin)"
done
sed -n 's/^a step  *\([0-9.]* s of mlm, \)\{0,1\}\([0-9.]*\) s of all objectives$/\1 \2/p' log |
    awk -v steps="$(key all train steps)" -v hours="$hours" '{ all = $NF; mlm = NF > 1 ? $1 : all
        d = steps - (120 + (hours * 3600 * 0.875 - 120 * mlm) / all) }
        END { exit !(NR == 1 && d <= 0 && d > -1.01) }' || fail "late: $(grep -e ^steps -e '^a step' log)"
rm -r all/model
mv all/model-1 all/model

# Steps are measured with the ranks that will train, and a machine that does something else is told of.
mkdir bin
printf '#!/bin/sh\necho " 12:00:00 up 1 day,  2 users,  load average: 9999.50, 1.00, 1.00"\n' >bin/uptime
chmod +x bin/uptime
(unset XLM_LAUNCH && PATH=$PWD/bin:$PATH recipe "${texts[@]}" "${small[@]}" --ranks 1 text) || fail "one rank: $(tail -n 3 log)"
grep -q '^measured  *1 ranks' text/plan.log || fail "ranks that measured: $(grep ^measured text/plan.log)"
# Without --ranks: one for each core, however many hardware threads it has, and if nothing is known of cores, for each of these.
printf '#!/bin/sh\nseq 0 4095 | sed "s/.*/&,0,0/"\n' >bin/lscpu
printf '#!/bin/sh\necho 3\n' >bin/nproc
chmod +x bin/lscpu bin/nproc
counted() { (PATH=$PWD/bin:$PATH && . "$XLM_SOURCE/jobs/runs.sh" && cores && echo "${launcher[*]}") | paste -s -d ' '; }
[[ $(unset XLM_LAUNCH && counted) == "1 "*" -n 1" ]] || fail "one core with several threads: $(counted)"
printf '#!/bin/sh\nseq 0 4095 | sed "s/.*/&,0,&/"\n' >bin/lscpu
# As many as the bits of the mask of those that this process may use, but no more than nproc says.
allowed=$(sed -n "s/^Cpus_allowed:[[:space:]]*//p" /proc/self/status |
    sed "s/[0,]//g; s/[1248]/1/g; s/[3569ac]/11/g; s/[7bde]/111/g; s/f/1111/g")
[[ $(counted) == "$(awk -v n="${#allowed}" 'BEGIN { print n < 3 ? n : 3 }') "* ]] || fail "cores with one thread: $(counted)"
for unknown in 'exit 1' 'seq 0 4095 | sed "s/$/,,/"'; do
    printf '#!/bin/sh\n%s\n' "$unknown" >bin/lscpu
    [[ $(counted) == "3 "* ]] || fail "cores unknown: $unknown: $(counted)"
done
rm bin/lscpu bin/nproc
grep -q 'is busy (load 9999.50)' log || fail "nothing about other programs: $(cat log)"

# Another command for what is there is refused; one text, or none, is that of the pairs; names may have blanks.
expect 64 'corpus.h5 was made by another command' "$XLM_SOURCE/jobs/recipes/recipe" "${texts[@]}" "${small[@]}" all
mkdir 'some where'
cp text.en 'some where/a text.en'
cp text.xx 'some where/a text.xx'
recipe --pairs 'en-xx=some where/a text.en,some where/a text.xx' "${small[@]}" --passes 2 'some where/of pairs' ||
    fail "pairs alone: $(tail -n 3 log)"
bash 'some where/of pairs/run' >run.log 2>&1 || fail "pairs alone: $(tail -n 5 run.log)"
[ "$(grep -c ',perplexity,' 'some where/of pairs/measures.csv')" -eq 3 ] || fail "perplexity of pairs alone"
recipe --text xx=last.xx.gz "${pairs[@]}" "${small[@]}" side || fail "one text: $(tail -n 3 log)"
h5dump -a /train/text/en/language side/corpus.h5 >/dev/null 2>&1 || fail "no text of en: $(h5dump -n side/corpus.h5 | head -30)"
# Words that are given are used, and pairs without any have no dictionary.
printf '%s\n' 'aa bb cc' 'dd ee ff' >few.en
printf '%s\n' 'xx yy zz' 'uu vv ww' >few.xx
cp text.en more.en
recipe --text en=text.en --text xx=text.xx --pairs en-xx=few.en,few.xx "${small[@]}" few || fail "few pairs: $(tail -n 3 log)"
[ "$(objectives)" = 'mlm tlm dwa moco weam' ] || fail "few pairs: $(objectives)"
# Letters that are not of ASCII are words too.
sed 's/a/я/g; s/e/ж/g; s/o/б/g' text.xx >letters.xx
LC_ALL=C recipe --text en=text.en --text xx=letters.xx --bpe 120 --passes 1 --ranks 2 letters || fail "letters: $(tail -n 3 log)"
[ "$(sed -n 's/ words of text.*//p' log)" -eq "$(cat text.en text.xx | wc -w)" ] || fail "words: $(head -n 1 log)"

# Upon a trained model: its size and subwords, and everything from the first step on.
recipe "${texts[@]}" "${pairs[@]}" --dictionary en-xx=words.txt --start all/model/latest --add-subwords 5 --passes 1 --ranks 2 \
    further || fail "further: $(tail -n 3 log)"
[ -z "$(key further model layers)" ] && [ "$(key further train start)" = "$PWD/all/model/latest" ] ||
    fail "start: $(head further/job.conf)"
[ "$(key further 'objective tlm' begin)" -eq 0 ] || fail "tlm begins at $(key further 'objective tlm' begin)"
bash further/run >run.log 2>&1 || fail "further/run: $(tail -n 5 run.log)"
# What the recipe takes for large models follows the width of the model that is there; its positions are the limit.
[ "$(key further 'stream text' length) $(key further 'objective moco' momentum)" = '64 0.99' ] ||
    fail "further: $(cat further/job.conf)"
printf '%s\n' '[train]' 'corpus = all/corpus.h5' 'output = wide' 'steps = 1' '[model]' 'layers = 1' 'hidden_size = 256' \
    'attention_heads = 4' 'positions = 100' '[stream text]' 'batch = 1' 'length = 8' '[objective mlm]' 'stream = text' >wide.conf
xlm_train wide.conf >run.log 2>&1 || fail "wide: $(tail -n 3 run.log)"
recipe "${texts[@]}" "${pairs[@]}" --dictionary en-xx=words.txt --start wide/latest --passes 1 --ranks 2 wider ||
    fail "wider: $(tail -n 3 log)"
[ "$(key wider 'stream text' length) $(key wider 'stream pairs' length)" = '100 100' ] &&
    [ "$(key wider 'objective moco' momentum)" = 0.999 ] || fail "wider: $(cat wider/job.conf)"

# Mistakes are found before anything is made.
refused() { # CODE PATTERN OPTION...
    expect "$1" "$2" "$XLM_SOURCE/jobs/recipes/recipe" "${@:3}" none
    [ ! -e none ] || fail "made in spite of: $2"
}
refused 64 'give --text for both' --text en=first.en
refused 64 'for two languages' "${texts[@]}" --text yy=text.en
refused 64 'is not LANG=FILE' --text first.en
refused 66 'none.en cannot be read' --text en=none.en
refused 64 'is not A-B=FILE' --pairs en=text.en,text.xx
refused 64 'has 1 files, not 2' --pairs en-xx=text.en
refused 64 'is not A-B=FILE, with two languages' --pairs en-en=text.en,text.xx
refused 66 'nothing.txt cannot be read' "${texts[@]}" --dictionary en-xx=nothing.txt
refused 64 'which --tagged trains' "${texts[@]}" --test en=test.conllu
refused 64 'has 1 files, not 2' "${texts[@]}" --tagged en=train.conllu
refused 66 'nothing.h5 cannot be read' "${texts[@]}" --start nothing.h5
refused 65 'text.en: is not a model' "${texts[@]}" --start text.en
refused 64 'are those of the model of --start' "${texts[@]}" --start all/model/latest --bpe 100
refused 64 'goes with --start' "${texts[@]}" --add-subwords 5
refused 64 'not a multiple of 64' "${texts[@]}" --size 2x100
refused 64 'is not LAYERSxWIDTH' "${texts[@]}" --size big
refused 64 '--hours 0: is not a number above 0' "${texts[@]}" --hours 0
refused 64 '--passes 1.5: is not a whole number' "${texts[@]}" --passes 1.5
refused 64 'there is no such option' "${texts[@]}" --what 1
refused 64 'there is no such option' "${texts[@]}" --plan
refused 65 'text.en has no sentences of CoNLL-U' "${texts[@]}" --tagged en=train.conllu,text.en
refused 65 'text.xx has no sentences of CoNLL-U' "${texts[@]}" --tagged en=train.conllu,dev.conllu --test xx=text.xx
refused 65 'gold.en has 5 lines, .*/text.xx 600' "${texts[@]}" --gold en-xx=gold.en,text.xx,gold.txt
refused 65 'gold.xx:1: not a line of links' "${texts[@]}" --gold en-xx=gold.en,gold.xx,gold.xx
refused 64 'is not SECTION.KEY=VALUE' "${texts[@]}" --set precision=bfloat16
refused 64 'is not SECTION.KEY=VALUE' "${texts[@]}" --set $'train.clip=2\nsteps = 5'
refused 64 'unknown key "epocs"' "${texts[@]}" --tagged en=train.conllu,dev.conllu --set tune.epocs=5
refused 78 'unknown key "precison"' "${texts[@]}" --set train.precison=bfloat16
refused 78 'unknown key "dropuot"' "${texts[@]}" --set model.dropuot=0.1
refused 78 'head = wrong: is not one of' "${texts[@]}" --start all/model/latest --set model.head=wrong
refused 64 'the job has no \[objective tlm\]' "${texts[@]}" --set 'objective tlm.weight=2'
refused 64 'no \[objective align\]' "${texts[@]}" --pairs en-xx=tmx:en:a.tmx,tmx:xx:a.tmx --set 'objective align.weight=2'
refused 64 'give NAME.index' "${texts[@]}" --dictionary en-xx=words.dict.dz
touch base.index
refused 66 'no .*/base.dict.dz, which .*/base.index' "${texts[@]}" --dictionary en-xx=base
refused 64 'give NAME.index' "${texts[@]}" --dictionary en-xx=base.dict
refused 64 'epochs = many' "${texts[@]}" --tagged en=train.conllu,dev.conllu --set tune.epochs=many
recipe "${texts[@]}" --help && grep -q -e '--hours H' log || fail "--help after other options: $(head -n 3 log)"
refused 64 'the recipe chooses it' "${texts[@]}" --set 'train.steps = 5'
refused 64 'the recipe chooses it' "${texts[@]}" --set 'stream text.batch=64'
refused 64 'the recipe chooses it' "${texts[@]}" --set tune.output=elsewhere
refused 64 'no tagger without --tagged' "${texts[@]}" --set tune.epochs=2
refused 66 'nowhere/first.en.*cannot be read' --text en=nowhere/first.en --text xx=last.xx.gz
tr -d ' ' <first.en >joined.en
expect 64 'joined.en has hardly any blanks' "$XLM_SOURCE/jobs/recipes/recipe" --text xx=text.en --text en=joined.en none
expect 64 'no directory' "$XLM_SOURCE/jobs/recipes/recipe" "${texts[@]}"
expect 64 'is enough for [0-9]* steps only' "$XLM_SOURCE/jobs/recipes/recipe" "${all[@]}" --passes 100 --hours 0.00001 all
cp first.en first.en.xz
expect 64 'give --size and --bpe' "$XLM_SOURCE/jobs/recipes/recipe" --text en=first.en.xz --text xx=last.xx.gz none
finish
