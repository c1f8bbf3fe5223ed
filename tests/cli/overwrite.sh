#!/usr/bin/env bash
# xlm-mpi: no program writes onto a file that it reads, whatever option names it, nor onto a file that a run keeps; outputs are made
# in one way. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
xlm_train job.conf --set train.steps=2 --set train.checkpoint_every=1 >train.log 2>&1 || { tail -n 3 train.log >&2; exit 99; }
printf 'the dythye\nold yyold\nred yryed\nsmall smyall\n' >dict.txt
head -n 20 text.en >few.en
head -n 20 text.xx >few.xx
phrases few.en >few.tsv
printf 'the\nold\nred\n' >words.txt
tagger_job few.tsv
logged setup.log xlm_tune tune.conf
logged setup.log xlm_dict corpus.h5 --source en --target xx --text dict.txt -o dict.h5
logged setup.log xlm_align few.en few.xx -o links.txt --save aligner.h5
logged setup.log xlm_align corpus.h5 --alignment alignment.h5
logged setup.log xlm_cooc corpus.h5 -o cooc.h5
logged setup.log xlm_embed factorise cooc.h5 -o vectors.h5 --rank 4
logged setup.log xlm_embed export out/latest -o vectors.txt --language en
logged setup.log xlm_embed export out/latest -o xx.txt --language xx
ln -s "$PWD/few.tsv" link.tsv
ln -s "$PWD/corpus.h5" link.h5
ln corpus.h5 hard.h5
ln few.en hard.en
ln few.tsv hard.tags
checkpoint=out/checkpoint-00000001.h5
# As runs leave them that translate, and that were killed while they stopped.
for name in translations.tsv best-translations.tsv attention-en-xx.h5 stopped.log; do cp setup.log "tag/$name"; done

# keeps FILE COMMAND...: refused, with the exit code of use or of what cannot be made, and the file is as it was.
keeps() {
    local file=$1 code=0 before after
    shift
    before=$(sha256sum <"$file")
    "$@" >keeps.out 2>keeps.err </dev/null || code=$?
    after=$(sha256sum <"$file")
    [ "$before" = "$after" ] || fail "$*: overwrote $file"
    [ "$code" -eq 64 ] || [ "$code" -eq 73 ] || fail "$*: exit code $code: $(head -n 3 keeps.err)"
    grep -q 'both input and output\|two outputs have this name\|that a run keeps\|of another kind\|is an HDF5 file' keeps.err ||
        fail "$*: refused for another reason: $(head -n 3 keeps.err)"
    [ -z "$(find . -name '*.unfinished-*')" ] || fail "$*: left $(find . -name '*.unfinished-*')"
}

# A program with what it reads, an option that writes, and the files to try, through links too.
while read -r files command; do
    [ -n "$files" ] || continue
    for file in ${files//,/ }; do
        # shellcheck disable=SC2086 # words of a command
        keeps "$file" ${command//@/$file}
    done
done <<TABLE
few.en,corpus.h5 xlm_prep --mono en=few.en --like corpus.h5 -o @
few.en,hard.en xlm_prep --mono en=few.en --words space --bpe 20 -o new.h5 --write-codes @
few.en,hard.en xlm_prep --mono en=few.en --words space --bpe 20 -o new.h5 --write-vocab @
few.en xlm_prep --mono en=few.en --words space --bpe 20 --derive zz=en:transliterate -o new.h5 --write-twins @
few.xx xlm_prep --mono en=few.en --para en-xx=few.en,few.xx --words space --bpe 20 -o @
corpus.h5,link.h5,hard.h5,dict.txt,$checkpoint xlm_dict corpus.h5 --source en --target xx --text dict.txt -o @
corpus.h5,link.h5,hard.h5,out/latest,out/metrics.csv xlm_train job.conf --set train.output=dump --dump-step @
job.conf,out/job.conf xlm_train job.conf --dump-step @
hard.tags,tune.conf,out/latest,tag/best xlm_tune tune.conf --dump-step @
few.tsv,link.tsv,tag/latest,tag/metrics.csv xlm_eval tag/best --test few.tsv --predictions @
few.tsv,link.tsv,tag/latest,tag/job.conf xlm_eval tag/best --test en:few.tsv --csv @
few.tsv,link.tsv,tag/latest xlm_eval tag/best --test few.tsv --chart @
few.tsv,tag/latest xlm_eval tag/best --test few.tsv --output n_best=@
few.en,few.xx,hard.en xlm_align few.en few.xx -o @
tag/translations.tsv,tag/best-translations.tsv,tag/attention-en-xx.h5,tag/stopped.log xlm_align few.en few.xx -o @
few.en,few.xx xlm_align few.en few.xx -o new --forward @
few.en,few.xx xlm_align few.en few.xx -o new --reverse @
few.en,few.xx xlm_align few.en few.xx -o new --scores @
few.en,few.xx,corpus.h5 xlm_align few.en few.xx --save @
few.en,aligner.h5 xlm_align few.en few.xx --model aligner.h5 -o @
corpus.h5,link.h5,hard.h5,cooc.h5 xlm_align corpus.h5 --alignment @
few.en,out/latest xlm_align few.en few.xx --checkpoint out/latest -o @
few.en,out/latest,$checkpoint xlm_align few.en few.xx --checkpoint out/latest --matrices @
links.txt xlm_align score links.txt links.txt --csv @
links.txt xlm_align symmetrise links.txt links.txt -o @
corpus.h5,link.h5,vectors.h5 xlm_cooc corpus.h5 -o @
cooc.h5 xlm_cooc export cooc.h5 -o @
cooc.h5 xlm_cooc export cooc.h5 -o new.bin --vocabulary @
cooc.h5,corpus.h5 xlm_embed factorise cooc.h5 --rank 4 -o @
out/latest,$checkpoint,corpus.h5 xlm_embed export out/latest --language en --corpus corpus.h5 -o @
words.txt xlm_embed export out/latest --language en --words words.txt -o @
few.en xlm_embed export out/latest --language en --text few.en -o @
vectors.txt,xx.txt,dict.txt xlm_embed procrustes vectors.txt xx.txt dict.txt -o @
vectors.txt,xx.txt,dict.txt xlm_embed procrustes vectors.txt xx.txt dict.txt --target-output @
vectors.txt,dict.txt,out/metrics.csv xlm_embed procrustes vectors.txt xx.txt dict.txt --csv @
vectors.txt xlm_embed pca vectors.txt -o @
vectors.txt xlm_embed pca vectors.txt --csv @
vectors.txt xlm_embed whiten vectors.txt -o @
vectors.txt,xx.txt xlm_embed cca vectors.txt xx.txt --csv @
vectors.txt,words.txt xlm_embed neighbours vectors.txt the --csv @ --words words.txt
out/latest,out/metrics.csv xlm_embed alignment out/latest dict.h5 corpus.h5 --csv @
out/latest,corpus.h5 xlm_embed retrieval out/latest corpus.h5 --csv @
out/latest,dict.txt xlm_embed map out/latest --dictionary dict.txt --languages en,xx -o @
out/latest,corpus.h5 xlm_embed map out/latest --corpus corpus.h5 --coordinates @
vectors.txt,dict.txt xlm_embed similarity vectors.txt --pairs dict.txt --csv @
out/latest,$checkpoint,out/metrics.csv,out/job.conf xlm_report out -o @
out/latest,$checkpoint xlm_convert out/latest --add-words words.txt -o @
words.txt xlm_convert out/latest --add-words words.txt -o @
TABLE

# A table that the report finds by itself in the run's directory.
cp setup.log out/table.csv
logged setup.log xlm_embed alignment out/latest dict.h5 corpus.h5 --csv out/table.csv
ln out/table.csv hard.page
keeps out/table.csv xlm_report out -o hard.page

# Files that a run writes into its directory are also compared with those that it has read, except for its own files, which it
# continues.
mkdir own && cp few.tsv own/metrics.csv
keeps own/metrics.csv xlm_tune tune.conf --set tune.train=own/metrics.csv --set tune.output=own
rm -r own && mkdir own && cp few.tsv own/job-as-run.conf && cp tune.conf own/job.conf
keeps own/job-as-run.conf xlm_tune own/job.conf --set tune.dev=own/job-as-run.conf --set tune.output=own
logged again.log xlm_tune tune.conf --set tune.epochs=2
logged again.log xlm_tune tag/job.conf --set tune.epochs=3

# On several ranks it is one message.
expect 64 'corpus.h5: is both input and output' ranks 2 xlm_dict corpus.h5 --source en --target xx --text dict.txt -o corpus.h5
[ "$(grep -c 'both input and output' expect.err)" -eq 1 ] || fail "not one message: $(cat expect.err)"

# A program may replace a file that it has made; a model may continue training in its own file.
for i in 1 2; do
    logged again.log xlm_align few.en few.xx -o links.txt --save aligner.h5
    logged again.log xlm_align few.en few.xx --model aligner.h5 --iterations 1 --save aligner.h5
    logged again.log xlm_cooc corpus.h5 -o cooc.h5
    logged again.log xlm_eval tag/best --test few.tsv --predictions predicted.tsv --csv scores.csv --chart chart.svg
    logged again.log xlm_report out -o out/report.html
    logged again.log xlm_embed export out/latest -o vectors.txt --language en
done

# Outputs are checked before work: a directory that is not there is found at once, and nothing is scored.
expect 73 'nowhere' xlm_eval tag/best --test few.tsv --csv nowhere/scores.csv
[ ! -s expect.out ] || fail "xlm_eval scored before it looked at its output"

# A name that ends as those of another form is refused, and what says nothing of the form is not.
mkdir form
expect 64 'form/x.vec: --output writes HDF5, .* choose one that ends in .h5' xlm_embed whiten vectors.h5 -o form/x.vec
expect 64 'form/x.txt: --coordinates writes HDF5' xlm_embed map out/latest --dictionary dict.txt --coordinates form/x.txt
expect 64 'form/x.csv.gz: --csv writes text, .* choose one that ends in .csv' xlm_embed pca vectors.h5 --csv form/x.csv.gz
expect 64 'form/x.png: --chart writes SVG' xlm_eval tag/best --test few.tsv --chart form/x.png
expect 64 'form/x.pdf: --output writes HTML' xlm_report out -o form/x.pdf
nothing_in form
logged again.log xlm_embed pca vectors.h5 --csv form/x.txt
logged again.log xlm_embed whiten vectors.h5 -o form/x.dat

# Files are made by two functions, which look at what was read: everything else is named here.
(cd "$XLM_SOURCE" && grep -nE --include=*.c -r '[^_]fopen\(|[^_a-zA-Z0-9]open\(|g_mkstemp|mkdtemp|creat\(|g_file_set_contents|H5Fcreate|\bg_f?open\(' \
    src | grep -vE 'fopen\([^)]*"rb?e?"\)|O_RDONLY|O_TMPFILE|->open\(|\.open\(|g_module_open' |
    grep -vE '^src/(base/(unfinished|terminal)|files/large_array|lexicon/pair_runs|report/plot|aligners/link_file)\.c:' |
    grep -vE '^src/((run/(stopping|metrics_file|events)|checkpoint/(snapshot_child|output_lock)|job/job_record)\.c|store/store_(commit|open)\.c):' |
    grep -vE 'static|store_open|/\*') >others
[ ! -s others ] || fail "files are opened to be written by another way: $(cat others)"
finish
