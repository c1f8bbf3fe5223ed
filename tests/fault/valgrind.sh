#!/usr/bin/env bash
# xlm-mpi: one small job of each kind under Valgrind's Memcheck: no access to memory that is not the program's, no decision on
# values that were never set, no memory lost. SPDX-License-Identifier: GPL-3.0-or-later
#
#   make valgrind [VALGRIND_JOBS='train tune']    by the names of the functions below; the order is that in which they need files
#
# Not a part of make check: fifty programs take some minutes of processor time. Memcheck tells a program of a processor without
# AVX-512, so that the kernels for AVX2 run, or the portable ones. Each program is one rank of one thread. What libraries lose is in
# tests/valgrind.supp. Reports stay in valgrind/ of the build directory.
command -v valgrind >/dev/null || { echo "make valgrind needs valgrind (Debian/Ubuntu: valgrind)" >&2; exit 69; }
[ "$XLM_SANITIZERS" != yes ] || { echo "make valgrind needs programs without sanitizers" >&2; exit 69; }
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
export XLM_TEST_TIMEOUT=3600
reports=$XLM_BUILD/valgrind
rm -rf "$reports"
mkdir -p "$reports" bin || exit 73

# Each program by its own name is Memcheck that runs it, without those that it starts in turn, such as gnuplot. Slices of GLib
# would hide where a block ends.
export G_SLICE=always-malloc
for program in align bleu compare convert cooc dict embed eval fill prep report spearman train translate tune pair_html; do
    cat >bin/xlm_$program <<END
#!/bin/sh
exec valgrind --error-exitcode=99 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \\
    --keep-debuginfo=yes --child-silent-after-fork=yes --num-callers=40 --gen-suppressions=all \\
    --suppressions='$XLM_SOURCE/tests/valgrind.supp' \\
    --log-file='$reports/$program-%p.log' '$(command -v xlm_$program)' "\$@"
END
    chmod +x bin/xlm_$program
done
PATH=$scratch/bin:$PATH

# A small corpus, and job.conf with a head that a published architecture has, for xlm_convert.
for language in en xx; do
    head -n 80 text.$language >few && mv few text.$language
done
sed -i 's/^steps = 100/steps = 2/; s/^warmup = 10/warmup = 1/; s/^hidden_size = 32/hidden_size = 16/
    s/^language_embeddings.*/&\nhead = xlm/; s/^batch = 8/batch = 4/' job.conf
top() { sed '/^.stream text/,$d' job.conf; }
text='[stream text]
batch = 4
length = 48'
pairs='[stream pairs]
type = parallel
form = bert
batch = 4
length = 64
shuffle_sides = true'

# done_well WHAT COMMAND...: what it prints goes to WHAT.out and WHAT.err; it must succeed, under Memcheck too.
done_well() {
    local what=$1 code=0
    shift
    "$@" >"$what.out" 2>"$what.err" || code=$?
    [ "$code" -eq 0 ] || fail "$what: exit code $code: $(tail -n 3 "$what.err")"
}

prep() {
    small_corpus
    done_well unigram xlm_prep --mono en=text.en --mono xx=text.xx --unigram 60 --held-out 0.1 -o unigram.h5
    done_well derive xlm_prep --mono en=text.en --derive yy=en:invert,transliterate --bpe 60 --held-out 0.1 -o made.h5
}
resources() { small_resources; }
# Two objectives, with an evaluation; resumed; planned.
train() {
    done_well train xlm_train job.conf
    done_well resumed xlm_train job.conf --set train.steps=3 --set train.schedule=constant
    done_well plan xlm_train job.conf --dry-run --set train.output=none
}
# All other objectives for encoders in one job, with their stages.
objectives() {
    {
        top | sed 's/^layers = .*/&\ntoken_types = true/'
        printf '%s\n' "$text" '[stream switched]' 'batch = 4' 'length = 48' 'dictionary = dict.h5' 'switching = 0.5' "$pairs" \
            'alignments = alignment.h5' '[objective mlm]' 'stream = text' '[objective gc]' 'stream = text' \
            'cooccurrence = cooc.h5' '[objective sop]' 'stream = text' '[objective dict-mlm]' 'stream = switched' \
            '[objective align]' 'dictionary = dict.h5' '[objective dwa]' 'stream = pairs' 'label_layer = 1' 'begin = 1' \
            '[objective weam]' 'stream = pairs' '[objective moco]' 'stream = pairs' 'queue = 24' 'projection = 16'
    } >all.conf
    done_well all xlm_train all.conf --set train.output=all
    done_well half env XLM_BF16_EMULATE=1 xlm_train all.conf --set train.output=half --set train.precision=bfloat16 \
        --set train.recompute=true
}
decoder() {
    {
        top | sed 's/^layers = .*/&\ndecoder_layers = 2/'
        printf '%s\n' "$text" "$pairs" '[objective clm]' 'stream = text' '[objective seq2seq]' 'stream = pairs'
    } >decoder.conf
    done_well translator xlm_train decoder.conf --set train.output=translator
    {
        top | sed 's/^layers = .*/&\ndecoder_layers = 2/'
        printf '%s\n' '[stream text]' 'batch = 4' 'length = 32' 'join_sentences = false' 'mask_unit = fragment' 'mask = 0.5' \
            '[objective mass]' 'stream = text'
    } >mass.conf
    done_well mass xlm_train mass.conf --set train.output=mass
    {
        top | sed 's/^layers = .*/&\ndecoder_layers = 2/'
        printf '%s\n' '[stream en]' 'languages = en' 'batch = 4' 'length = 32' 'join_sentences = false' 'mask = 0' \
            '[objective back-translation]' 'stream = en' 'source_languages = xx'
    } >back.conf
    done_well back xlm_train back.conf --set train.output=back
    head -n 6 text.en >few.en
    done_well translate xlm_translate translator/latest --from en --to xx --n-best 2 --scores few.en --alignment links
}
tune() {
    local task
    head -n 24 text.en >train.text
    tail -n 8 text.en >dev.text
    for task in train dev; do task_files $task; done
    for task in tagging=tsv classification=classes answering=json; do
        printf '%s\n' '[tune]' 'model = out/latest' "train = train.${task#*=}" "dev = dev.${task#*=}" 'language = en' \
            "output = ${task%=*}" 'epochs = 1' 'batch = 12' 'length = 48' "[task ${task%=*}]" >"${task%=*}.conf"
        done_well "${task%=*}" xlm_tune "${task%=*}.conf"
        done_well "eval-${task%=*}" xlm_eval "${task%=*}/best" --test "dev.${task#*=}" --csv "${task%=*}.csv" \
            --predictions "${task%=*}.predicted"
    done
}
align() {
    done_well fertility xlm_align text.en text.xx -o fertility.links --scores fertility.scores --save aligner.h5
    done_well diagonal xlm_align text.en text.xx --method diagonal --forward forward.links --reverse reverse.links -o diagonal.links
    head -n 8 text.en >eight.en
    head -n 8 text.xx >eight.xx
    done_well model xlm_align eight.en eight.xx --checkpoint out/latest --matrices matrices.h5 -o model.links
    done_well dictionary xlm_align dictionary text.en text.xx fertility.links -o words.dict
    done_well score xlm_align score fertility.links diagonal.links
    done_well show xlm_align show alignment.h5
    done_well symmetrise xlm_align symmetrise forward.links reverse.links -o both.links
}
cooc() {
    done_well top xlm_cooc top house cooc.h5
    done_well export xlm_cooc export cooc.h5 -o cooc.bin --vocabulary cooc.words
}
embed() {
    head -n 20 text.en | awk '{ print "en-" NR "\t" $0 }' >mine.en
    head -n 20 text.xx | awk '{ print "xx-" NR "\t" $0 }' >mine.xx
    printf 'house\triver\t1\nold\tred\t2\nsees\tfinds\t3\n' >pairs.tsv
    printf 'house river\nold red\nsees finds\nteacher garden\n' >map.txt
    printf '%s\n' house river old red sees finds teacher garden >words
    done_well alignment xlm_embed alignment out/latest dict.h5 corpus.h5 --csv alignment.csv
    done_well cca xlm_embed cca out/latest all/latest
    done_well dictionary xlm_embed dictionary out/latest dict.h5 corpus.h5
    done_well vectors xlm_embed export out/latest --words words --language en -o words.vec
    done_well factorise xlm_embed factorise cooc.h5 --rank 4 -o factors.h5
    done_well map xlm_embed map words.vec --dictionary map.txt --perplexity 2 -o map.svg --coordinates map.h5
    done_well mine xlm_embed mine out/latest mine.en mine.xx --languages en,xx --threshold 0 -o mined.tsv
    done_well neighbours xlm_embed neighbours out/latest house --language en
    done_well pca xlm_embed pca words.vec --keep 2 -o pca.h5
    done_well procrustes xlm_embed procrustes out/latest dict.h5 --corpus corpus.h5
    done_well retrieval xlm_embed retrieval out/latest corpus.h5 --csv retrieval.csv
    done_well similarity xlm_embed similarity out/latest --languages en --pairs pairs.tsv
    done_well whiten xlm_embed whiten words.vec --keep 2 -o white.h5
}
# What reads models, runs and text.
programs() {
    done_well fill xlm_fill out/latest --language en 'the old <mask> sees the river .'
    done_well to xlm_convert out/latest -o published
    done_well from xlm_convert published -o back-again.h5
    done_well bleu xlm_bleu text.xx text.en --metric bleu,multi-bleu,chrf,chrf++
    done_well compare xlm_compare out all
    done_well report xlm_report out all -o report.html
    printf '1 3\n2 5\n3 4\n4 9\n' >columns
    done_well spearman xlm_spearman <columns
    mkdir -p html/en html/xx
    for language in en xx; do
        printf '<html><body><h1 id=h>%s</h1><p id=a>%s</p></body></html>\n' "$language" "$(head -n 1 text.$language)" >html/$language/a.html
    done
    done_well pair-html xlm_pair_html -o paired en=html/en xx=html/xx
}

all='prep resources train objectives decoder tune align cooc embed programs'
kinds=${*:-$all}
for kind in $kinds; do
    [[ " $all " == *" $kind "* ]] || { echo "$kind: there is no such kind of jobs; there are $all" >&2; exit 64; }
done
for kind in $kinds; do
    echo "$kind"
    $kind
done
for report in "$reports"/*.log; do
    grep -q 'ERROR SUMMARY: 0 errors' "$report" || fail "$(grep -m 1 Command "$report"): $report"
done
echo "$(find "$reports" -name '*.log' | wc -l) programs"
finish
