#!/usr/bin/env bash
# xlm-mpi: the study of ALIGN-MLM, from text to table, with few steps. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
# The words' places in the grammar are their tags.
mkdir ud
for part in train dev test; do
    awk -v part=$part '
        BEGIN {
            OFS = "\t"
            n = split("house river teacher garden window student book mountain", word, " ")
            for (i = 1; i <= n; i++) tag[word[i]] = "NOUN"
            n = split("sees finds opens likes paints follows", word, " ")
            for (i = 1; i <= n; i++) tag[word[i]] = "VERB"
            tag["."] = "PUNCT"
        }
        part == "train" ? NR <= 400 : part == "dev" ? NR > 400 && NR <= 500 : NR > 500 {
            for (i = 1; i <= NF; i++)
                print i, $i, "_", $i in tag ? tag[$i] : "ADJ", "_", "_", i == 1 ? 0 : 1, i == 1 ? "root" : "dep", "_", "_"
            print ""
        }' text.en >ud/en_ewt-ud-$part.conllu
done
gzip ud/en_ewt-ud-dev.conllu

# The small jobs with smaller models.
mkdir jobs
for job in "$XLM_SOURCE"/jobs/align-mlm/small/*.conf; do
    sed 's/^layers = .*/layers = 2/; s/^hidden_size = .*/hidden_size = 64/; s/^feed_forward_size = .*/feed_forward_size = 128/
        s/^length = 64/length = 48/' "$job" >"jobs/${job##*/}"
done
study() { # RUNS [NAME=VALUE...]
    local runs=$1
    shift
    env JOBS=jobs CORPORA='--words space --bpe 60' STEPS=40 \
        XLM_LAUNCH=env RUNS="$runs" "$@" "$XLM_SOURCE/jobs/align-mlm/study" out ud text.en
}
row() { awk -v run="$1" '$1 == run && $2 ~ /^[0-9]+$/' log; }

# Without runs: corpora, dictionaries and tagged text of each pair; the table is empty.
study '' >log 2>&1 || fail "no runs: $(tail -n 3 log)"
for pair in trans trans-inv trans-inv-shared-25 trans-inv-shared-50; do
    for file in corpus.h5 twins.txt dictionary-25.h5 dictionary-50.h5 dictionary.h5 train.conllu dev.conllu test.conllu; do
        [ -s "out/$pair/$file" ] || fail "out/$pair/$file was not made"
    done
done
[ "$(wc -l <out/results.csv)" -eq 1 ] || fail "results of no run: $(cat out/results.csv)"

# A run of each method, the first on 2 ranks; what each has beside its job file is in its checkpoint.
runs='trans-inv/mlm:1 trans-inv/xlm@50:1 trans/dict-mlm:1 trans-inv/align-mlm@50:1'
study 'trans/dict-mlm:1' XLM_LAUNCH="sh $XLM_SOURCE/tests/mpirun.sh 2" >log 2>&1 || fail "2 ranks: $(tail -n 3 log)"
[ "$(attribute /ranks out/trans/dict-mlm-1-40/latest)" -eq 2 ] || fail "not on 2 ranks: $(tail -n 3 log)"
study "$runs" >log 2>&1 || fail "runs: $(tail -n 3 log)"
[ "$(wc -l <out/results.csv)" -eq 5 ] || fail "not four results: $(cat out/results.csv)"
for run in trans-inv/mlm trans-inv/xlm@50 trans/dict-mlm trans-inv/align-mlm@50; do
    [ -n "$(row $run)" ] || fail "$run: no row: $(tail -n 12 log)"
done
job() { h5dump -a /job/text "out/trans-inv/$1-1-40/latest"; }
grep -q 'share = 0.5$' <(job xlm@50) || fail "xlm@50: not half of the pairs"
grep -q 'out/trans-inv/dictionary-50.h5' <(job align-mlm@50) || fail "align-mlm@50: not the dictionary of 50 %"
# In 40 steps the dictionary is learned, and nothing else; a tagger knows more than the most frequent tag.
row trans-inv/align-mlm@50 | awk '{ exit !($4 > 40 && $4 - $5 > 30) }' || fail "align-mlm@50: $(row trans-inv/align-mlm@50)"
row trans-inv/mlm | awk '{ d = $8 - ($6 - $7) } $4 > 20 || $6 < 60 || $7 >= $6 || d > 0.11 || d < -0.11 { exit 1 }' ||
    fail "mlm: $(row trans-inv/mlm)"
grep -q '^trans-inv/mlm  *1  .* 0.3 95.0 56.5 38.5$' log || fail "the paper's figures: $(row trans-inv/mlm)"
grep -q '^Spearman of alignment against delta over 4 models: -\{0,1\}[01]\.[0-9]* (p = ' log ||
    fail "no correlation: $(tail -n 1 log)"

# At small scale, on all cores: with the small jobs' vocabulary and model; of a treebank of some sentences.
mkdir few
for part in train dev test; do
    zcat -f ud/en_ewt-ud-$part.conllu* | awk '{ print } NF == 0 && ++sentences == 8 { exit }' >few/en_ewt-ud-$part.conllu
done
env RUNS='trans-inv/align-mlm@100:7' STEPS=2 "$XLM_SOURCE/jobs/align-mlm/small/study" size=small few text.en >log 2>&1 ||
    fail "small: $(tail -n 3 log)"
grep -q '^trans-inv/align-mlm@100,7,2,' size=small/results.csv || fail "small: $(cat size=small/results.csv)"
grep -q '^trans-inv/align-mlm@100  *7 ' log || fail "small: no row: $(cat log)"
model=size=small/trans-inv/align-mlm@100-7-2/latest
cores=$(. "$XLM_SOURCE/jobs/runs.sh" && cores)
[ "$(attribute /ranks "$model")" -eq "$cores" ] || fail "small: on $(attribute /ranks "$model") ranks, not $cores"
h5dump -a /job/text "$model" >text
grep -q 'hidden_size = 128$' text && grep -q 'small/trans-inv/dictionary.h5' text || fail "small: not its job: $(cat text)"

# With the jobs of full scale SHARE also sets how many of 128 instances are pairs, and their share of the loss. The jobs are shown,
# and not trained.
cat >show.sh <<'END'
printf '%s\n' "$@" >given
"$@" --dry-run >shown 2>&1
exit 1
END
for expected in '1 127 1 0.9921875 0.0078125' '10 116 12 0.9062500 0.0937500' '25 102 26 0.7968750 0.2031250' \
    '100 64 64 0.5000000 0.5000000'; do
    read -r share text pairs of_mlm of_tlm <<<"$expected"
    ! study "trans-inv/xlm@$share:1" JOBS="$XLM_SOURCE/jobs/align-mlm" XLM_LAUNCH="bash show.sh" >log 2>&1 ||
        fail "xlm@$share was trained"
    for setting in "stream text.batch=$text" "stream pairs.batch=$pairs" "objective mlm.weight=$of_mlm" \
        "objective tlm.weight=$of_tlm"; do
        grep -qxF "$setting" given || fail "xlm@$share: not $setting: $(cat given log)"
    done
    grep -q '^time: ' shown || fail "xlm@$share: not a good job: $(tail -n 3 shown)"
done
grep -q 'batch = 4$' <(job xlm@50) || fail "xlm@50: not the batches of its own job: $(job xlm@50)"

# Finished parts are not made again; unfinished ones are continued.
cp out/results.csv before.csv
study "$runs" >log 2>&1 || fail "again: $(tail -n 3 log)"
! grep -q 'pre-training' log && cmp before.csv out/results.csv || fail "finished runs were made again"
grep -v dict-mlm before.csv >out/results.csv
study 'trans/dict-mlm:1' >log 2>&1 || fail "going on: $(tail -n 3 log)"
grep -q 'nothing to do' log && cmp <(sort before.csv) <(sort out/results.csv) ||
    fail "gone on with, a run became another: $(diff before.csv out/results.csv)"

# ---- wrong input ----
expect 64 'not PAIR/METHOD' study 'mlm:1'
expect 64 'there is no out/other/corpus.h5' study 'other/mlm:1'
expect 64 'there is no .*/bert.conf' study 'trans-inv/bert:1'
expect 64 'there is no .*/dictionary-30.h5' study 'trans-inv/align-mlm@30:1'
expect 64 'the part of the vocabulary that is shared has no pairs' study 'trans-inv-shared-50/align-mlm@100:1'
expect 64 'mlm has no share' study 'trans-inv/mlm@50:1'
# A mistake in the last run is found before the first begins.
expect 64 'not PAIR/METHOD' study 'trans-inv/mlm:2
other:1'
[ ! -e out/trans-inv/mlm-2-40 ] || fail "trained before all runs were read"
rm ud/en_ewt-ud-test.conllu
expect 66 'ud has no en_ewt-ud-test.conllu' study ''
expect 64 'study DIR TREEBANK TEXT' "$XLM_SOURCE/jobs/align-mlm/study" out ud
expect 64 'study DIR TREEBANK' "$XLM_SOURCE/jobs/align-mlm/small/study" out
cmp <(sort before.csv) <(sort out/results.csv) || fail "wrong input changed the results"
finish
