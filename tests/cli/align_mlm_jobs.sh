#!/usr/bin/env bash
# xlm-mpi: the jobs of the study of ALIGN-MLM: corpora and dictionaries of synthetic languages, and a step of each job on them.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
jobs=$XLM_SOURCE/jobs/align-mlm
small=(--set model.layers=1 --set model.hidden_size=16 --set model.attention_heads=2 --set model.feed_forward_size=32
    --set train.steps=2 --set train.micro_batches=4 --set train.evaluate_every=0 --set train.checkpoint_every=0
    --set "stream text.batch=8" --set "stream text.length=64")

bash "$jobs/corpora" made text.en -- --words space --bpe 400 --held-out 0.1 >made.log 2>&1 ||
    fail "corpora: $(tail -n 3 made.log)"
for name in trans trans-inv trans-inv-shared-25 trans-inv-shared-50; do
    for file in corpus dictionary dictionary-25 dictionary-50; do
        [ -s made/$name/$file.h5 ] || fail "no made/$name/$file.h5"
    done
done
[ ! -e made/trans-syn ] || fail "a syntax without trees"
# pairs FILE PATH: how many.
pairs() { h5dump -H -d "$2" "$1" | sed -n 's/.*SIMPLE { ( \([0-9]*\), 2 ).*/\1/p'; }
all=$(pairs made/trans/dictionary.h5 /dictionary/pairs) quarter=$(pairs made/trans/dictionary-25.h5 /dictionary/pairs)
[ "$all" -eq "$(wc -l <made/trans/twins.txt)" ] && [ $((quarter * 4 - all)) -le 2 ] && [ $((all - quarter * 4)) -le 2 ] ||
    fail "$quarter of $all pairs"
[ $(($(pairs made/trans-inv-shared-50/dictionary.h5 /dictionary/pairs) * 2 - all)) -le 2 ] ||
    fail "half of the vocabulary is not shared"
# Shares of a dictionary are shares of the vocabulary, also where a part of it is shared and has no pairs.
for name in trans-inv-shared-25 trans-inv-shared-50; do
    for share in 25 50; do
        n=$(pairs made/$name/dictionary-$share.h5 /dictionary/pairs)
        [ $((100 * n - share * all)) -le 100 ] && [ $((share * all - 100 * n)) -le 100 ] ||
            fail "$name/dictionary-$share.h5: $n pairs of $all subwords"
    done
done
percent=$(awk -v n="$quarter" -v all="$all" 'BEGIN { printf "%.1f", 100 * n / all }')
grep -q "^dictionary: $quarter of $all source subwords .* ($percent % of the subwords of en)" made.log ||
    fail "the log has other shares: $(grep ^dictionary: made.log)"

# Again: nothing is made twice.
find made -type f -printf '%p %T@\n' | sort >before
bash "$jobs/corpora" made text.en -- --words space --bpe 400 --held-out 0.1 >made.log 2>&1 || fail "again: $(tail -n 3 made.log)"
find made -type f -printf '%p %T@\n' | sort | cmp - before || fail "made again"

run() { # JOB [OPTION...]
    local job=$1
    shift
    trained "$jobs/$job.conf" "$job" 2 "${small[@]}" --set train.corpus=made/trans-inv/corpus.h5 "$@"
    [ "$(last_step $job)" = 2 ] || fail "$job: $(tail -n 3 $job.log)"
}
run mlm
run xlm --set "stream pairs.batch=2" --set "stream pairs.length=32"
grep -q 'outside the share' xlm.log || fail "xlm: no share: $(grep stream xlm.log)"
run dict-mlm --set "stream text.dictionary=made/trans-inv/dictionary-25.h5"
run align-mlm --set "objective align.dictionary=made/trans-inv/dictionary-25.h5"
xlm_embed alignment align-mlm/latest made/trans-inv/dictionary-25.h5 made/trans-inv/corpus.h5 >alignment 2>&1 ||
    fail "alignment: $(cat alignment)"

expect 64 'corpora DIR TEXT' bash "$jobs/corpora" made
finish
