#!/usr/bin/env bash
# xlm-mpi: files of matrices and maps, labels of a model, with XLM_TEST_LONG=1 every kind of HDF5 file, with each dataset of another
# rank, extent or type: the program that reads it ends with a code of sysexits.h and a message that names the file; tests/fuzz/cases
# tries the readers alone. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long

# changed FILE.h5 OUTPUT UNREAD COMMAND...: in the command, CHANGED.h5 is the changed file. UNREAD: paths of datasets that the
# command does not read. All run side by side, each in a directory of its own, since a program that starts mostly waits.
jobs=0
changed() {
    local output=$2 unread=$3 file directory=$((++jobs)).changed
    file=$(readlink -f "$1")
    shift 3
    mkdir "$directory"
    ln -s "$scratch"/* "$directory/" && rm -f "$directory"/*.changed
    (cd "$directory" && "$XLM_BUILD/tests/fault/changed_files" "$file" CHANGED.h5 "$output" "$unread" -- timeout 60 "$@" \
        >log 2>&1 || printf 'FAIL: %s\n' "$*" >failed) &
}
never='^$'

small_corpus
sed -i 's/^layers = 2/layers = 1/; s/^steps = 100/steps = 4/' job.conf
trained job.conf a 1
model=$(readlink -f a/latest)
head -n 20 text.en >pairs.en && head -n 20 text.xx >pairs.xx
logged align.log xlm_align pairs.en pairs.xx --checkpoint a/latest --layer all --matrices matrices.h5 -o links
logged align.log xlm_align corpus.h5 --languages en,xx --alignment alignment.h5 -o links
logged align.log xlm_align pairs.en pairs.xx --save aligner.h5 -o links
logged map.log xlm_embed map a/latest --sentences corpus.h5 -n 20 --perplexity 3 --iterations 5 --coordinates map.h5 -o map.svg
logged cooc.log xlm_cooc corpus.h5 --window 2 -o cooc.h5

printf "%s\n" house river teacher garden window student book mountain >list
logged export.log xlm_embed export a/latest --language en --words list -o vectors.h5
paste -d ' ' list list >same.txt
sed 's/[aeiou]/y&/g' list | paste -d ' ' list - >en-xx.txt
logged dict.log xlm_dict corpus.h5 --source en --target xx --text en-xx.txt --share 0.5 -o dict.h5

# A run without measurements, for whose figures the page would start gnuplot eight times for each file.
mkdir unmeasured
head -n 1 a/metrics.csv >unmeasured/metrics.csv
if command -v gnuplot >/dev/null; then
    changed matrices.h5 page.html '^/layer.0/|^/languages|^/vocabulary/co|^/(source|target)/words' \
        xlm_report unmeasured --matrices CHANGED.h5 -o page.html
    changed map.h5 page.html "$never" xlm_report unmeasured --map CHANGED.h5 -o page.html
fi
gunzip -c "$XLM_SOURCE/tests/fixtures/1.0/tuned.h5.gz" >tuned.h5
# Of the first class alone, so that no message about the text comes before those about the file.
grep -v '^yes' "$XLM_SOURCE/tests/fixtures/1.0/labelled.tsv" >labelled.tsv
changed tuned.h5 - '^/[^t]|^/task/[^l]|^/task/languages' xlm_eval CHANGED.h5 --test en:labelled.tsv
if [ "${XLM_TEST_LONG-}" = 1 ]; then
    changed corpus.h5 x.h5 '^/(train|held_out|inputs)' xlm_dict CHANGED.h5 --source en --target xx --text en-xx.txt -o x.h5
    changed corpus.h5 x.links '^/held_out/|^/inputs' xlm_align CHANGED.h5 --languages en,xx -o x.links
    changed dict.h5 x.csv '^/inputs' xlm_embed alignment "$model" CHANGED.h5 corpus.h5 --csv x.csv
    changed cooc.h5 x.bin '^/words/totals|^/inputs' xlm_cooc export CHANGED.h5 -o x.bin --vocabulary x.txt
    changed cooc.h5 x.h5 '^/words/(totals|subwords)|^/inputs' xlm_cooc corpus.h5 --window 2 --add CHANGED.h5 -o x.h5
    changed alignment.h5 - "$never" xlm_align show CHANGED.h5 --corpus corpus.h5 --pair 3
    changed aligner.h5 x.links "$never" xlm_align pairs.en pairs.xx --model CHANGED.h5 -o x.links
    changed vectors.h5 x.h5 "$never" xlm_embed procrustes CHANGED.h5 vectors.h5 same.txt -o x.h5
    changed "$model" x.vec '^/optimiser/' xlm_embed export CHANGED.h5 -o x.vec
fi
wait
for log in *.changed/log; do
    cat "$log"
    [ ! -e "${log%log}failed" ] || fail "$(cat "${log%log}failed" "$log")"
done
finish
