#!/usr/bin/env bash
# xlm-mpi: xlm_report: the contents of the page, that it is well-formed and self-contained, names and damage of all kinds,
# refusals.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# Without gnuplot, and with one that fails: said by name, and no page. In folder bin are the programs that one in the build needs.
mkdir bin
for program in basename cat dirname expr grep ls sed sh tr uname; do
    path=$(command -v "$program") && ln -s "$path" bin/
done
mkdir lone
echo 'step,split,objective,language,terms,loss,perplexity,accuracy,learning_rate,gradient_norm,tokens,seconds,score' >head
cp head lone/metrics.csv
here=$PATH
PATH=$XLM_BUILD:$scratch/bin expect 69 'gnuplot.*is not in PATH' xlm_report lone -o lone.html
PATH=$here
if ! command -v gnuplot >/dev/null; then
    echo "the rest needs gnuplot (Debian/Ubuntu: gnuplot-nox)"
    finish
fi

# page FILE: it is well-formed, and nothing in it is of elsewhere.
page() {
    [ -s "$1" ] || { fail "no $1"; return; }
    ! command -v xmllint >/dev/null || xmllint --noout "$1" 2>lint || fail "$1 is not well-formed: $(head -4 lint)"
    ! grep -nE '<script|<link|<iframe|<object| on[a-z]+=|@import' "$1" || fail "$1 has what it should not"
    ! grep -oE '(src|href)="[^"]{0,40}' "$1" | grep -v -e '="#' -e '="data:image/svg+xml;base64,' || fail "$1 refers to elsewhere"
    ! grep -qE 'rgb\( |stroke=.black|id="gnuplot' "$1" || fail "$1 has colours of gnuplot"
    [ -z "$(grep -oE ' id="[^"]*"' "$1" | sort | uniq -d)" ] || fail "$1: an id comes twice"
}
# reported FILE ARGUMENT...: a page, without complaint; messages are in report.log.
reported() {
    local file=$1
    shift
    logged report.log xlm_report "$@" -o "$file"
    page "$file"
}
# has FILE TEXT...: the page has the text.
has() {
    local file=$1 text
    shift
    for text; do grep -qF -e "$text" "$file" || fail "$file has no $text"; done
}
hasnt() {
    local file=$1 text
    shift
    for text; do ! grep -qF -e "$text" "$file" || fail "$file has $text"; done
}
# cells FILE ROW: of the rows of tables with this heading.
cells() { grep -F "<tr><th scope=\"row\">$2</th>" "$1" | sed 's#.*</th>##; s#</td></tr>##; s#</td># #g; s#<td[^>]*>##g'; }

# ---- runs that were trained ----
small_corpus
short=(--set train.steps=20 --set train.evaluate_every=5)
trained job.conf a 1 "${short[@]}"
sed '/^\[objective tlm\]/,$d; /^\[stream pairs\]/,/^length/d' job.conf >one.conf
trained one.conf b 2 "${short[@]}" --set train.seed=2
reported two.html a b
[ "$(cells two.html Ranks)" = '1 2' ] && [ "$(cells two.html '[train] seed')" = '1 2' ] ||
    fail "ranks or seeds: $(cells two.html Ranks)"
[ "$(cells two.html Parameters)" = "$(attribute /parameters a/latest) $(attribute /parameters b/latest)" ] ||
    [ "$(cells two.html Parameters)" = "$(attribute /parameters a/latest)" ] || fail "parameters: $(cells two.html Parameters)"
[ "$(cells two.html Steps)" = '20 of 20' ] || fail "steps: $(cells two.html Steps)"
last=$(cells two.html 'mlm perplexity, en')
for run in a b; do
    is_near "${last%% *}" "$(value $run 20 held_out mlm perplexity en)" 0.006 || fail "perplexity of $run: $last"
    last=${last#* }
done
# Of runs that were evaluated last at different steps it is said which.
[[ $(cells two.html 'mlm perplexity, en') != *' @ 20'* ]] || fail "steps are shown where there is but one"
cp -r b behind
awk -F, '$1 + 0 <= 10' b/metrics.csv >behind/metrics.csv
reported apart.html a behind
[[ $(cells apart.html 'mlm perplexity, en') == *' @ 20'*' @ 10'* ]] ||
    fail "steps of the last values: $(cells apart.html 'mlm perplexity, en')"
rm -r behind
has two.html 'Loss of mlm</b>' 'Loss of tlm</b>' 'Norm of the gradient</b>' 'Learning rate</b>' 'Throughput' \
    'Perplexity of tlm, xx</b>' '[objective tlm]' 'role="img" aria-labelledby="t1 d1"' '<title id="t1">' \
    '<html lang="en"' 'prefers-color-scheme:dark'
hasnt two.html 'What the runs began with' 'The jobs are the same' 'id="alignment"' 'id="maps"' 'Each point is'
# One run has a line for each language, and what the page says in words is in metrics.csv.
reported one.html a
has one.html 'Perplexity of mlm</b>' '<title>xx</title>' 'hidden_size = 32'
hasnt one.html 'Perplexity of mlm, xx'
value a 5 held_out mlm perplexity xx >wanted
first=$(grep -oE 'xx: [0-9.]+ at 0, [0-9.]+ at 20' one.html | head -n 1)
is_near "$(sed 's/xx: \([0-9.]*\) .*/\1/' <<<"$first")" "$(value a 0 held_out mlm perplexity xx)" 0.006 || fail "words: $first"

# ---- what was measured: in the run's directory, and by name ----
head -n 20 text.en >pairs.en && head -n 20 text.xx >pairs.xx
logged measure.log xlm_align pairs.en pairs.xx --checkpoint a/latest --layer all --matrices a/matrices.h5 -o links
logged measure.log xlm_embed retrieval a/latest corpus.h5 --csv a/retrieval.csv
logged measure.log xlm_embed map a/latest b/latest --sentences corpus.h5 --perplexity 5 --iterations 20 \
    --coordinates map.h5 -o map.svg --title "$(printf 'x%.0s' {1..150}) end" --title b
# A title that is wider than its picture keeps its end.
grep -qE '>…x{20,55} end<' map.svg || fail "titles of maps: $(grep -m 3 '<text' map.svg)"
cat >measure.csv <<'CSV'
checkpoint,step,measure,layer,detail,source,target,value
a/latest,20,aer,0,together,en,xx,0.500000
a/latest,20,aer,1,together,en,xx,0.250000
b/latest,10,aer,1,together,en,xx,0.9
b/latest,20,aer,1,together,en,xx,0.75
b/latest,20,pos_micro_f1,,a<b.conllu,en,xx,0.4321
b/latest,20,aer,0,together,en,xx,nan
c/latest,20,aer,0,together,en,xx,0.1
CSV
mkdir plain-run && cp head plain-run/metrics.csv
reported measured.html a b --measures measure.csv --map map.h5 --map map.svg --pairs 2
[ "$(cells measured.html 'Alignment error rate, %: en → xx, together')" = '25.00 (layer 1) 75.00 (layer 1)' ] ||
    fail "best layers: $(cells measured.html 'Alignment error rate, %: en → xx, together')"
[ "$(cells measured.html 'Parts of speech, micro F1, %: en → xx, a&lt;b.conllu')" = 43.21 ] || fail "no score of tagging"
[ "$(cells measured.html 'Nearest by CSLS is the translation, %: en and xx, both directions, mean' | wc -w)" -eq 3 ] ||
    fail "retrieval: $(grep Nearest measured.html | head -n 3)"
csls() {
    awk -F, -v layer="$1" '$1 == layer && $2 == "mean" { s += 50 * $8 }
        END { printf "%.2f (layer %d)", s, layer }' a/retrieval.csv
}
grep -qF -e "$(csls 0)" -e "$(csls 1)" -e "$(csls 2)" measured.html || fail "retrieval has not the mean of both directions"
[ "$(grep -c '<table class="heat">' measured.html)" -eq 2 ] || fail "heat maps: $(grep -c '<table class="heat">' measured.html)"
has measured.html '<caption>Pair 0: en down, xx to the right, layer 1' 'measure.csv: 1 lines are damaged'
reported unpaired.html a b --pairs 0
hasnt unpaired.html 'heat-maps' 'No pair has'
[ "$(grep -c '<img class="map"' measured.html)" -eq 3 ] || fail "maps: $(grep -c '<img class="map"' measured.html)"
# Where a run lacks a direction, each direction stands by itself, and nothing is called the mean of both.
cat >directions.csv <<'CSV'
checkpoint,step,measure,layer,detail,source,target,value
a/latest,20,retrieval_csls,1,partly,en,xx,0.5
a/latest,20,retrieval_csls,1,partly,xx,en,0.75
b/latest,20,retrieval_csls,1,partly,en,xx,0.25
a/latest,20,retrieval_csls,0,layers,en,xx,0.25
a/latest,20,retrieval_csls,1,layers,en,xx,0.5
a/latest,20,retrieval_csls,1,layers,xx,en,0.75
CSV
reported directions.html a b --measures directions.csv
nearest='Nearest by CSLS is the translation, %'
[ "$(cells directions.html "$nearest: en → xx, partly")" = '50.00 (layer 1) 25.00 (layer 1)' ] &&
    [ "$(cells directions.html "$nearest: xx → en, partly")" = '75.00 (layer 1) –' ] &&
    [[ $(cells directions.html "$nearest: en → xx, layers") == '50.00 (layer 1)'* ]] ||
    fail "one direction: $(grep -F "$nearest" directions.html)"
hasnt directions.html 'both directions, partly' 'both directions, layers'
# A file that is found in a run's directory and named as well is shown once, whatever its path is.
cp map.h5 map.svg b/
ln -s a/matrices.h5 linked.h5
reported twice.html a b --map b/map.h5 --map ./b/map.h5 --map b/map.svg --matrices linked.h5 --pairs 2
[ "$(grep -c '<img class="map"' twice.html)" -eq 3 ] || fail "maps shown twice: $(grep -c '<img class="map"' twice.html)"
[ "$(grep -c '<table class="heat">' twice.html)" -eq 2 ] || fail "matrices shown twice: $(grep -c 'class="heat"' twice.html)"
has twice.html '<h3>a, step 20: en → xx</h3>'
rm b/map.h5 b/map.svg linked.h5
# Numbers of the first heat map are those of the file.
h5dump -y -w 1 -d /layer.1/values -s 0 -c 3 a/matrices.h5 | sed -n 's/^ *\([0-9][-0-9.e]*\),\{0,1\}$/\1/p' |
    awk '{ printf "%.0f ", 100 * $1 }' >wanted
grep -A 5 '<table class="heat">' measured.html | sed -n 's#^<tr><th scope="row">[^<]*</th>##p' | head -n 1 |
    sed 's#</td>#\n#g' | sed 's/.*>//' | head -n 3 | tr '\n' ' ' | cmp - wanted || fail "heat map: $(cat wanted)"
# Three columns are wider than a narrow window, and say so; a run without results of a section has no column there.
hasnt measured.html 'move the table to the side'
reported three.html a b plain-run --measures measure.csv
has three.html '<p class="note more">3 columns: scroll the table sideways to see all'
[ "$(cells three.html 'Alignment error rate, %: en → xx, together')" = '25.00 (layer 1) 75.00 (layer 1)' ] ||
    fail "dashes for a run"
# A table without checkpoints is of the run that is named, or whose directory it lies in.
awk '{ print (/ (sees|finds|opens) / ? "yes" : "no") "\t" $0 }' pairs.en >kinds.tsv
cat >tune.conf <<'JOB'
[tune]
model = a/latest
train = kinds.tsv
dev = kinds.tsv
language = en
output = kinds
epochs = 1
batch = 8
length = 24

[task classification]
JOB
logged tune.log xlm_tune tune.conf
logged eval.log xlm_eval kinds/best --test kinds.tsv --csv xx.csv
accuracy=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "value") at = i }
    $1 == "measure" && $2 == "accuracy" { printf "%.2f", 100 * $at }' xx.csv)
# What its best checkpoint was chosen by is the task's, which a tagger finds by its labels.
printf 'the\tD\nhouse\tN\n\nthe\tD\ndog\tN\n\n' >tags.tsv
sed 's/kinds.tsv/tags.tsv/; s/= kinds/= tags/; s/classification/tagging/' tune.conf >tag.conf
logged tag.log xlm_tune tag.conf
reported tuned.html kinds tags
[ "$(cells tuned.html 'Best checkpoint')" = "$(readlink kinds/best), by accuracy $(readlink tags/best), by accuracy" ] ||
    fail "the best checkpoints of fine-tunings: $(cells tuned.html 'Best checkpoint')"
reported named.html plain-run b --measures b=xx.csv
[ -n "$accuracy" ] && [ "$(cells named.html 'Accuracy, %: xx.csv')" = "$accuracy" ] ||
    fail "accuracy: $accuracy: $(grep -F 'xx.csv' named.html)"

only_in_check_all

# Runs and files with = in their names: what is before one of them is a run. What can be two files of two runs is refused.
cp -r plain-run lr=1
cp -r plain-run lr=1=2
cp xx.csv a=b.csv
reported equals.html lr=1 b --measures lr=1=xx.csv --measures ./b=a=b.csv
[ "$(cells equals.html 'Accuracy, %: xx.csv')" = "$accuracy –" ] &&
    [ "$(cells equals.html 'Accuracy, %: a=b.csv')" = "– $accuracy" ] || fail "a run with =: $(grep -F '.csv<' equals.html)"
cp xx.csv 2=xx.csv
expect 64 'lr=1=2=xx.csv: can be 2=xx.csv of the run lr=1 and xx.csv of the run lr=1=2' \
    xlm_report lr=1 lr=1=2 --measures lr=1=2=xx.csv -o none.html
cp xx.csv other.csv
reported equals.html lr=1 lr=1=2 --measures lr=1=2=./xx.csv --measures lr=1=other.csv
[ "$(cells equals.html 'Accuracy, %: xx.csv')" = "– $accuracy" ] || fail "the longer name: $(grep -F '.csv<' equals.html)"
rm 2=xx.csv
reported equals.html lr=1 lr=1=2 --measures lr=1=2=xx.csv --measures lr=1=other.csv
[ "$(cells equals.html 'Accuracy, %: xx.csv')" = "– $accuracy" ] || fail "the file there is: $(grep -F '.csv<' equals.html)"
# A file in the directory of such a run is that file, unless what follows the other run's name is one, too.
cp -r plain-run lr
cp xx.csv lr=1/
reported equals.html lr lr=1 --measures lr=1/xx.csv --measures lr=other.csv
[ "$(cells equals.html 'Accuracy, %: xx.csv')" = "– $accuracy" ] || fail "a file of lr=1: $(grep -F '.csv<' equals.html)"
rm -r lr lr=1 lr=1=2 a=b.csv other.csv
expect 64 'xx.csv: does not say of which run' xlm_report a b --measures xx.csv -o none.html
cp xx.csv b/
reported lying.html plain-run b
[ "$(cells lying.html 'Accuracy, %: xx.csv')" = "$accuracy" ] || fail "a table in the run's directory is not found"
expect 65 'has nothing of the runs' xlm_report b --measures <(grep -v '^b' measure.csv) -o none.html
expect 65 'text.en: is not a table' xlm_report a --measures text.en -o none.html
expect 65 'not a file of matrices' xlm_report plain-run --matrices map.h5 -o none.html
expect 65 'text.en: is no SVG' xlm_report plain-run --map text.en -o none.html
[ ! -e none.html ] || fail "a page was written in spite of an error"

# ---- whose a row is: tables of several recipes, each of which calls its model model/latest ----
mkdir -p fr/model hi/model
{ cat head; echo '30,train,total,,,4,,,,,,,'; } >fr/model/metrics.csv
{ cat head; echo '40,train,total,,,4,,,,,,,'; } >hi/model/metrics.csv
measured=checkpoint,step,measure,layer,detail,source,target,value
printf '%s\n' $measured model/latest,30,perplexity,,,fr,,11 >fr/measures.csv
printf '%s\n' $measured model/latest,40,perplexity,,,hi,,22 >hi/measures.csv
# apart FILE: each run has its own perplexity, fr's in the first column.
apart() {
    [ "$(cells "$1" 'Perplexity: fr')$(cells "$1" 'Perplexity: hi')" = '11.00 –– 22.00' ] ||
        fail "$1: $(grep -F 'Perplexity: ' "$1")"
}
expect 65 'has nothing of the runs' xlm_report fr/model --measures hi/measures.csv -o none.html
reported parent.html fr/model hi/model --measures fr/measures.csv --measures hi/measures.csv
apart parent.html
reported runs.html fr/model hi/model --measures fr/model/=fr/measures.csv --measures hi/model=hi/measures.csv
apart runs.html
cd fr || exit 99
reported inside.html model ../hi/model --measures measures.csv --measures ../hi/measures.csv
apart inside.html
cp ../hi/measures.csv ../hi/model/
reported found.html model ../hi/model --measures measures.csv
apart found.html
cd .. || exit 99
rm hi/model/measures.csv
# Of a path that leads to nothing, the last names decide, and if they do not, RUN= does; of several models it takes its own.
cp hi/measures.csv moved.csv
expect 65 'has nothing of the runs' xlm_report fr/model hi/model --measures moved.csv -o none.html
reported moved.html hi/model --measures moved.csv
[ "$(cells moved.html 'Perplexity: hi')" = 22.00 ] || fail "a table that was moved: $(grep -F 'Perplexity: ' moved.html)"
reported moved.html fr/model hi/model --measures fr/measures.csv --measures hi/model=moved.csv
apart moved.html
printf '%s\n' $measured /gone/fr/model/latest,30,perplexity,,,fr,,11 /gone/hi/model/latest,40,perplexity,,,hi,,22 >moved.csv
reported moved.html fr/model hi/model --measures moved.csv
apart moved.html
reported moved.html fr/model hi/model --measures hi/model=moved.csv
[ "$(cells moved.html 'Perplexity: hi')" = 22.00 ] ||
    fail "one of several models: $(grep -F 'Perplexity: ' moved.html)"
hasnt moved.html 'Perplexity: fr'
# A step that the run does not have is another model's, whoever says otherwise.
expect 65 'model/latest was at step 40, and the last step of fr/model is 30' \
    xlm_report fr/model --measures fr/model=hi/measures.csv -o none.html
{ cat fr/measures.csv; echo model/latest,40,perplexity,,,hi,,22; } >mixed.csv
logged report.log xlm_report fr/model --measures fr/model=mixed.csv -o mixed.html
has mixed.html 'mixed.csv: 1 lines are of steps that the run does not have, and are left out: model/latest was at step 40'
hasnt mixed.html 'Perplexity: hi'
[ "$(cells mixed.html 'Perplexity: fr')" = 11.00 ] || fail "the rows of its steps: $(grep -F 'Perplexity: ' mixed.html)"
# Matrices in the directory of a run are of the model that they name, if there is one, and of its step.
mkdir one two
cp -r a one/a && cp -r a two/a
rm one/a/matrices.h5
logged matrices.log xlm_align pairs.en pairs.xx --checkpoint two/a/latest --layer 1 --matrices one/a/matrices.h5 -o links
reported matrices.html one/a
has matrices.html '<h3>two/a/latest, step 20: en → xx</h3>'
# A model that is not there any more is the run, renamed, if that was at this step.
mv two gone-two
cp one/a/matrices.h5 fr/model/
reported matrices.html fr/model
has matrices.html '<h3>model, step 20: en → xx</h3>'
sed -i 's/^30,/10,/' fr/model/metrics.csv
reported matrices.html fr/model
has matrices.html '<h3>two/a/latest, step 20: en → xx</h3>'

# ---- every --csv of every program ----
printf 'house hyoyusye\nred ryed\nold oyld\nriver ryivyer\n' >pairs.txt
awk '{ print $1 "\t" $2 "\t" NR }' pairs.txt >scored.tsv
printf ': all\nhouse red old river\n' >questions.txt
logged dict.log xlm_dict corpus.h5 --source en --target xx --text pairs.txt --share 0.5 -o dict.h5
awk '{ print "e" NR "\t" $0 }' pairs.en >mine.en
awk '{ print "x" NR "\t" $0 }' pairs.xx >mine.xx
for ((i = 1; i <= 20; i++)); do printf 'e%d\tx%d\n' $i $i; done >mine.gold
logged gold.log xlm_align pairs.en pairs.xx -o gold.links
mkdir tables
# table NAME PROGRAM...: writes tables/NAME.csv by its --csv.
table() { local name=$1; shift; logged "table-$name.log" "$@" --csv "tables/$name.csv"; }
table retrieval xlm_embed retrieval a/latest corpus.h5
table dictionary xlm_embed dictionary a/latest dict.h5 corpus.h5
table alignment xlm_embed alignment a/latest dict.h5 corpus.h5
table back xlm_embed alignment a/latest dict.h5 corpus.h5 --reverse
table mine xlm_embed mine a/latest mine.en mine.xx --languages en,xx --gold mine.gold
table found xlm_embed mine a/latest mine.en mine.xx --languages en,xx --threshold 0
table procrustes xlm_embed procrustes a/latest dict.h5 --corpus corpus.h5
table similarity xlm_embed similarity a/latest --languages en,xx --pairs scored.tsv --dictionary pairs.txt
table neighbours xlm_embed neighbours a/latest house -n 3 -k 0 --language en
table cca xlm_embed cca a/latest b/latest
table pca xlm_embed pca a/latest
table score xlm_align score gold.links gold.links
table eval xlm_eval kinds/best --test kinds.tsv
table languages xlm_eval kinds/best --test en:kinds.tsv --test xx:kinds.tsv
# Programs that have the option, so that none is forgotten.
[ "$(cat "$XLM_SOURCE"/src/{tools,commands}/*.c | grep -c '{"csv", ')" -eq 11 ] || fail "another --csv: read it here"
for file in tables/*.csv; do
    [ "$(wc -l <"$file")" -ge 2 ] || fail "$file: $(cat "$file" "table-$(basename "$file" .csv).log")"
done
mapfile -t given < <(printf -- '--measures=%s\n' tables/*.csv)
cp -r a plain && rm plain/retrieval.csv
reported all.html plain "${given[@]}"
hasnt all.html 'id="notes"'
has all.html 'Mean cosine of translations: en → xx, all' 'Mean cosine of subwords paired at random: en → xx, all' \
    'A translation is nearest, %: en → xx, all' 'A translation is nearest, %: xx → en, all' \
    'F1 of mined pairs, %: mine.csv, test, margin' 'A translation is nearest under a map, %: procrustes.csv, before, CSLS' \
    'Nearest by CSLS is the translation, %: en and xx, both directions, mean' 'Nearest words: neighbours.csv, house, cosine' \
    'Canonical correlation of direction: cca.csv, 1' 'Variance along direction: pca.csv, 1' \
    'Alignment error rate, %: score.csv' 'Mean cosine: dictionary, pairs.txt' \
    'Pairs mined: found.csv, test, margin' 'Pearson correlation with people: similarity, scored.tsv'
[ "$(cells all.html 'Mean cosine of subwords paired at random: en → xx, all')" = "$(awk -F, '$1 == "all" && $2 == "en" {
    printf "%.4g", $6 }' tables/dictionary.csv)" ] || fail "shuffled cosine: $(cat tables/dictionary.csv)"

# Shares are percentages and counts whole, each in its section, and no measure has only its name in the table.
has all.html 'p of the Spearman correlation: similarity, scored.tsv' 'Macro F1, %: eval.csv' 'Macro F1, %: en, languages.csv'
hasnt all.html '>likeness_' '>macro_f1' '>task_'
macro=$(awk -F, '$1 == "measure" && $2 == "macro_f1" { printf "%.2f", 100 * $NF }' tables/eval.csv)
[ -n "$macro" ] && [ "$(cells all.html 'Macro F1, %: eval.csv')" = "$macro" ] ||
    fail "macro F1: $(cells all.html 'Macro F1, %: eval.csv')"
cells all.html 'Pairs mined: found.csv, test, margin' | grep -qxE '[0-9]+ \(layer [0-9]+\)' ||
    fail "pairs mined: $(cells all.html 'Pairs mined: found.csv, test, margin')"
# The loss of an objective is left out where it is the logarithm of its perplexity, and not where it has a second mean besides.
cp -r plain-run means
for step in 10 20; do
    echo "$step,held_out,mlm,all,9,1.0986123,3,,,,,,"
    echo "$step,held_out,weam,all,9,2.5,3,,,,,,"
done >>means/metrics.csv
reported means.html means
has means.html 'weam loss' 'weam perplexity' 'mlm perplexity'
hasnt means.html 'mlm loss'
# Tables of other text, or of other options, which say neither: none takes the place of the other's rows.
cp -r a two
awk -F, -v OFS=, 'NR > 1 { $7 = $8 = 1 } NR == 1 || $1 == 1 { print }' a/retrieval.csv >two/tatoeba.csv
cp two/tatoeba.csv two/tatoeba2.csv
reported two.html two
nearest='Nearest by CSLS is the translation, %: en and xx, both directions,'
[ "$(cells two.html "$nearest mean")" = "$(cells measured.html "$nearest mean" | cut -d' ' -f 1-3)" ] &&
    [ "$(cells two.html "$nearest tatoeba.csv, mean")" = '100.00 (layer 1)' ] ||
    fail "two tables: $(grep -F "$nearest" two.html | head -n 4)"
# F1 of answers is not that of links.
printf '%s\n' kind,name,precision,recall,f1,support,predicted,value measure,f1,,,,8,,0.25 measure,exact_match,,,,8,,0.125 \
    measure,odd,,,,8,,0.5 >answers.csv
reported answers.html plain-run --measures answers.csv
[ "$(cells answers.html 'Answers to questions, F1, %: answers.csv')" = 25.00 ] &&
    [ "$(cells answers.html 'odd: answers.csv')" = 0.5 ] || fail "answers: $(grep -F answers.csv answers.html)"
hasnt answers.html 'id="alignment"'

{ head -n 1 tables/cca.csv; seq 600 | sed 's/$/,0.5/'; } >long-table.csv
reported many.html plain-run --measures long-table.csv
has many.html 'direction: long-table.csv, 500<' 'long-table.csv: has more than 500 lines'
hasnt many.html 'direction: long-table.csv, 501'

# ---- names, damage, long runs: metrics.csv alone ----
strange="x<i>&\"'y"
mkdir -p "$strange" "other/$strange" long gone
{
    cat head
    for step in 0 5 10; do echo "$step,held_out,<o>&,a\"<b>,10,3.5,33.1,0.2,,,,,"; done
    echo '11,train,total,,,4.25,,,0.001,1.5,100,0.5,'
    echo '12,train,total,,,nan,,,0.001,inf,100,0,'
    echo '13,train,total,,,1e300,,,0.001,1e300,100,0.5,'
    echo '14,train'
    printf '15,\377\0,total,,,4,,,,,,,\n16,train,total,,,3.9,,,0.00'
} >"$strange/metrics.csv"
cp "$strange/metrics.csv" "other/$strange/"
reported strange.html "$strange" "other/$strange" --title '</title><b>&'
has strange.html '&lt;/title&gt;&lt;b&gt;&amp;</title>' 'other/x&lt;i&gt;&amp;&quot;&#39;y' '4 lines are cut short or damaged' \
    '&lt;o&gt;&amp; perplexity, a&quot;&lt;b&gt;'
hasnt strange.html '<i>' '<o>'
# Columns by their names: fewer, in another order; a file of a run that never evaluated.
printf 'step,loss,objective,split\n1,3.5,total,train\n2,3.25,total,train\n' >gone/metrics.csv
reported gone.html gone
has gone.html '3.500 at 1, 3.250 at 2'
hasnt gone.html 'id="held-out"' 'Learning rate' 'damaged'
# A point for so many steps: no more than there is room for, and their means.
awk '{ print } END {
    for (s = 1; s <= 16000; s++) printf "%d,train,total,,,%d,,,0.001,%d,100,0.5,\n", s, s % 2, s == 8000 ? 50 : 2
}' head >long/metrics.csv
reported long.html long
has long.html 'Each point is the mean of up to 100 steps.' 'Each point is the largest of up to 100 steps.'
points=$(sed -n '/<svg class="plot"/,/<\/svg>/p' long.html | grep -oE '[ML][0-9.]+,[0-9.]+' | wc -l)
[ "$points" -ge 480 ] && [ "$points" -le 1000 ] || fail "the points of four figures are $points"
has long.html 'long: 0.5 at 50.5, 0.5 at 15950.5' 'long: 2.000 at 50.5'
cut -d'>' -f2 <(cells long.html 'Tokens per second') | grep -q '^200' || fail "throughput: $(cells long.html 'Tokens per second')"
cp head long/metrics.csv
reported empty.html long
: >long/metrics.csv
reported empty.html long gone

# Scores of fine-tuning: dev text by language, and of the mean of checkpoints.
mkdir tuned
{
    cat head
    for step in 10 20; do printf "$step,dev,micro_f1,%s,9,,,,,,,,0.$step\n" mean en xx; done
    echo '20,dev_average,micro_f1,mean,9,,,,,,,,0.5'
} >tuned/metrics.csv
reported tuned.html tuned
[ "$(cells tuned.html 'micro_f1, xx')" = 0.2 ] && [ "$(cells tuned.html 'micro_f1, mean, of the mean of checkpoints')" = 0.5 ] ||
    fail "scores of dev text: $(grep -F 'micro_f1, ' tuned.html)"
has tuned.html 'micro_f1</b>' 'xx: 0.1 at 10, 0.2 at 20'
# Scores of one language each are not those of the same row.
mkdir of-de of-fr
for language in de fr; do
    { cat head; for step in 1000000 1000001 1000002; do echo "$step,dev,micro_f1,$language,9,,,,,,,,0.$step"; done; } \
        >of-$language/metrics.csv
done
reported apart.html of-de of-fr
[ "$(cells apart.html 'micro_f1, de')" = '0.1 –' ] && [ "$(cells apart.html 'micro_f1, fr')" = '– 0.1' ] ||
    fail "scores of different languages: $(grep -F 'micro_f1, ' apart.html)"
# Places on the axis that differ are not written alike.
has apart.html '1.000001M' 'at 1000002'
# A pipe in place of the lock is not waited for.
mkfifo of-de/lock
timeout 60 xlm_report of-de -o pipe.html 2>pipe.log || fail "a pipe as lock: $(cat pipe.log)"
rm -r of-de of-fr

# ---- translations beside their references: scores by direction, examples of the newest evaluation, texts of any kind ----
mkdir translated later
{
    cat head
    for step in 10 20; do printf "$step,dev,bleu,%s,9,,,,,,,,1.$step\n" mean en-xx xx-en; done
} >translated/metrics.csv
{ cat head; echo '30,dev,bleu,en-xx,9,,,,,,,,7.5'; } >later/metrics.csv
printf 'step\tdirection\tsource\treference\ttranslation\n' | tee later/translations.tsv >translated/translations.tsv
{
    printf '10\ten-xx\told\told\told\n'
    printf '20\ten-xx\t<b>a & b</b>\tשלום "x"\tx<script>y\n20\ten-xx\tsame\tref\tfirst\n20\ten-xx\tsame\tref\tsecond\n'
    printf '20\txx-zh_Hant\tz\t%s\t\n' "$(printf 'w%.0s' {1..2100})"
    printf '20\ten"><i>-xx\ta\tb\tc\n20\ten-xx\ttoo\tfew\nx\ten-xx\ta\tb\tc\n20\ten-xx\t\377\tb\tc\n20\ten-xx\tcut\tof\tf'
} >>translated/translations.tsv
printf '30\ten-xx\tsame\tref\tthird\n' >>later/translations.tsv
reported translated.html translated
has translated.html 'Scores of translations</h2>' 'BLEU</b>' 'xx-en: 1.100 at 10, 1.200 at 20' '<caption>en → xx</caption>' '>Translation, newest, step 20<' \
    '<td dir="auto" lang="en">&lt;b&gt;a &amp; b&lt;/b&gt;</td>' '<td dir="auto" lang="xx">שלום &quot;x&quot;</td>' \
    '<td dir="auto" lang="xx">x&lt;script&gt;y</td>' '<td dir="auto" lang="xx">first</td>' '<td dir="auto" lang="xx">second</td>' \
    'lang="zh-Hant">www' 'www…</td>' '<td class="note">(empty)</td>' \
    'translated/translations.tsv: 6 lines are cut short, damaged or of an older step, and are skipped'
hasnt translated.html '>old<' '<i>' 'cut'$'\t'
# Of two runs, a pair has the translations of both, the first of the same with the first.
reported both.html translated later
has both.html 'later, newest, step 30' 'translated, newest, step 20'
[ "$(grep -oE '>(first|second|third|ref)<' both.html | tr -d '\n')" = '>ref<>first<>third<>ref<>second<' ] ||
    fail "translations of two runs: $(grep 'dir="auto"' both.html)"
# The best ones are beside the newest, and once where they are the same.
{ head -n 1 later/translations.tsv; printf '20\ten-xx\tsame\tref\tfourth\n'; } >later/best-translations.tsv
reported best.html later
has best.html '>Translation, best, step 20<' '>Translation, newest, step 30<'
[ "$(grep -oE '>(third|fourth)<' best.html | tr -d '\n')" = '>fourth<>third<' ] || fail "the best: $(grep 'dir="auto"' best.html)"
cp later/translations.tsv later/best-translations.tsv
reported best.html later
has best.html '>Translation, newest and best, step 30<'
[ "$(grep -c '>third<' best.html)" = 1 ] || fail "the best: $(grep 'dir="auto"' best.html)"
rm later/best-translations.tsv
echo 'step,direction' >later/translations.tsv
reported later.html later
has later.html 'later/translations.tsv: is no file of translations'
hasnt later.html 'id="translations"'

# ---- refusals, which leave what was there ----
echo before >kept.html
mkdir nothing
expect 64 'one run' xlm_report -o kept.html
expect 64 'give -o' xlm_report a
expect 64 'the same run' xlm_report a b ./a -o kept.html
expect 64 'there are 25 runs' xlm_report a a a a a a a a a a a a a a a a a a a a a a a a a -o kept.html
expect 64 'pairs=-1' xlm_report a --pairs=-1 -o kept.html
expect 66 'none: there is no such directory' xlm_report a none -o kept.html
expect 66 'a/metrics.csv: there is no such directory' xlm_report a/metrics.csv -o kept.html
expect 66 'nothing: is not an output directory' xlm_report nothing -o kept.html
expect 66 'none.csv' xlm_report a --measures none.csv -o kept.html
expect 64 'a/metrics.csv' xlm_report a b -o a/metrics.csv
expect 64 'xx.csv' xlm_report b --measures xx.csv -o xx.csv
expect 73 'none/page.html' xlm_report a -o none/page.html
rm bin/sh
printf '#!/bin/sh\necho "no terminal" >&2\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
PATH=$scratch/bin:$PATH expect 69 'gnuplot made no picture; it says: no terminal' xlm_report a -o kept.html
PATH=$here
[ "$(cat kept.html)" = before ] || fail "a failed report has written kept.html"
# A damaged checkpoint is noted, and the one before it is read; so is a map that was found and cannot be read.
cp -r a damaged
cp "damaged/$(checkpoint 20)" "damaged/$(checkpoint 30)"
printf xxxx | dd of="damaged/$(checkpoint 30)" bs=1 seek=200 conv=notrunc 2>dd.log
cp map.h5 damaged/
at=$(h5ls -a -v map.h5/panel.1/coordinates | awk '$1 ~ /^0x/ { print $3; exit }')
printf 'damage' | dd of=damaged/map.h5 bs=1 seek=$((at + 16)) conv=notrunc 2>dd.log
reported damaged.html damaged
has damaged.html "$(checkpoint 30)" ">$(checkpoint 20)<" 'damaged/map.h5: /panel.1/coordinates'
expect 65 'damaged/map.h5: /panel.1/coordinates' xlm_report plain-run --map damaged/map.h5 -o kept.html
# ---- points of other figures, in pages of a run that has hardly any itself ----
{
    echo figure,axis,line,x,y
    printf '%s\n' 'Gain <of> "all",words,"a, b",1,2' 'Gain <of> "all",words,"a, b",4,-3.5' 'Gain <of> "all",words,c,1,2e1' Lone,words,c,1,1
} >points.csv
reported points.html gone --figures points.csv
has points.html '>Other figures</h2>' '<b>Gain &lt;of&gt; &quot;all&quot;</b>' 'a, b: 2.000 at 1, -3.500 at 4.' 'c: 20.00 at 1.'
hasnt points.html '<b>Lone</b>'
# The name of the axis is neither a command to gnuplot nor markup, and x may be a fraction or a large number.
for axis in '`touch made`' 'x" ; system "touch made" #' "x' ; system 'touch made' #" '<script>alert(1)</script>' '$(touch made) &amp; \n'; do
    printf '%s\n' figure,axis,line,x,y "f,\"${axis//\"/\"\"}\",c,0.5,1" "f,\"${axis//\"/\"\"}\",c,0.75,2" >axis.csv
    reported axis.html gone --figures axis.csv
    [ ! -e made ] || { fail "a command: $axis"; rm made; }
    escaped=$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g; s/'\''/\&#39;/g' <<<"$axis")
    [ "$(grep -cF "$escaped" axis.html)" -ge 2 ] || fail "the axis is not named $axis"
done
has axis.html '>0.6<'
printf '%s\n' figure,axis,line,x,y f,time,c,1700000000,1 f,time,c,1700000050,2 >axis.csv
reported large.html gone --figures axis.csv
printf 'figure,axis,line,x,y\nf,x,c\0,1,1\n' >bad.csv
expect 65 'bad.csv: is not text in UTF-8' xlm_report gone --figures bad.csv -o bad.html
printf 'figure,axis,line,x,y\nf,x,\377,1,1\n' >bad.csv
expect 65 'bad.csv: is not text in UTF-8' xlm_report gone --figures bad.csv -o bad.html
while read -r code pattern row; do
    { head -n 2 points.csv; echo "$row"; } >bad.csv
    expect "$code" "bad.csv: row 3.*$pattern" xlm_report gone --figures bad.csv -o bad.html
done <<'ROWS'
65 point f,x,line,1
65 point f,x,line,1,2,3
65 point f,x,line,one,2
65 point f,x,line,1,nan
65 point f,x,line,1,
65 rise Gain <of> "all",words,"a, b",1,5
ROWS
{ head -n 1 points.csv; for i in $(seq 31); do echo "f,x,$i,1,1"; done; } >bad.csv
expect 65 'bad.csv: row 32: .*more than 30 lines' xlm_report gone --figures bad.csv -o bad.html
echo run,value >bad.csv
expect 65 'bad.csv: is not a table of points' xlm_report gone --figures bad.csv -o bad.html
expect 66 'none.csv' xlm_report gone --figures none.csv -o bad.html
[ ! -e bad.html ] || fail "a page of bad points"
finish
