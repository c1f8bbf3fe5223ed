#!/usr/bin/env bash
# xlm-mpi: objectives that learn from a bilingual dictionary: align and dict-mlm. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus
tr ' ' '\n' <text.en | sort -u | grep -v '^\.$' | while read -r word; do echo "$word $(echo "$word" | sed 's/[aeiou]/y&/g')"; done >words.txt
xlm_dict corpus.h5 --source en --target xx --text words.txt --subwords first -o dict.h5 2>dict.log || fail "$(cat dict.log)"
cp job.conf xlm.conf

# run CONF NAME RANKS [OPTION...]: trains into directory NAME.
run() {
    local conf=$1 name=$2 n=$3
    shift 3
    ranks "$n" xlm_train "$conf" --set "train.output=$name" "$@" >"$name.log" 2>&1 || fail "$name: $(tail -n 3 "$name.log")"
}
# same A B: metrics and parameters to the bit.
same() {
    cmp <(rows "$1") <(rows "$2") || fail "metrics of $1 and $2 are not the same bits: $(diff <(rows "$1") <(rows "$2") | head -n 4)"
    [ "$(digest "$1/latest")" = "$(digest "$2/latest")" ] || fail "parameters of $1 and $2 are not the same bits"
}
# resumes CONF NAME: from step 60 on other numbers of ranks it becomes what NAME, run with checkpoints at 60 and 100, is.
resumes() {
    local n
    for n in 1 4; do
        cp -r "$2" "$2-from60-$n"
        rm "$2-from60-$n/$(checkpoint 100)"
        run "$1" "$2-from60-$n" $n
        grep -q 'resumed from .* at step 60' "$2-from60-$n.log" || fail "did not resume: $(head -n 9 "$2-from60-$n.log")"
        same "$2" "$2-from60-$n"
    done
}

# ---- align ----
sed '/^\[stream pairs/,/^$/d; /^\[objective tlm/,$d; s/^language_embeddings.*/language_embeddings = false/' xlm.conf >align.conf
cat >>align.conf <<'JOB'
[objective align]
dictionary = dict.h5
weight = 10
JOB
run align.conf align-1 1 --set train.checkpoint_every=60
run align.conf align-2 2 --set train.checkpoint_every=60
run align.conf align-4 4 --set train.checkpoint_every=60
same align-1 align-2
same align-1 align-4
resumes align.conf align-2
! grep -q 'warning' align-1.log || fail "a warning: $(grep warning align-1.log)"
# The mean cosine rises from about 0 to nearly 1: its loss is the negative. All pairs are in every step.
awk -F, '$2 == "train" && $3 == "align" { if (!n++) first = $6; last = $6 } END { exit !(n == 100 && first > -0.3 && last < -0.9 && last >= -1) }' align-1/metrics.csv ||
    fail "the mean cosine does not rise: $(grep ,align, align-1/metrics.csv | sed -n '1p;$p')"
pairs=$(h5dump -H -d /dictionary/pairs dict.h5 | sed -n 's/.*SIMPLE { ( \([0-9]*\), 2 ).*/\1/p')
[ "$(awk -F, '$2 == "train" && $3 == "align" { print $5 }' align-1/metrics.csv | sort -u)" = "$pairs" ] ||
    fail "not $pairs terms a step: $(grep ,align, align-1/metrics.csv | head -2)"
# Without it the words of the two languages stay apart.
sed '/^\[objective align/,$d' align.conf >mlm.conf
run mlm.conf plain 1
[ "$(digest plain/latest)" != "$(digest align-1/latest)" ] || fail "align changes nothing"
# With language embeddings it warns, and goes on.
run align.conf warned 2 --set model.language_embeddings=true --set train.steps=1
[ "$(grep -c 'warning: \[objective align\]: the model has language embeddings' warned.log)" -eq 1 ] || fail "no warning, or not one: $(cat warned.log)"

# ---- wrong input ----
train() { ranks 2 xlm_train "$@" --set train.output=wrong; }
wrong() { expect "$@"; [ ! -e wrong ] || fail "something was written"; }
wrong 78 '\[objective align\]: missing.h5: ' train align.conf --set 'objective align.dictionary=missing.h5'
wrong 78 '\[objective align\]: corpus.h5: not a dictionary of xlm_dict' train align.conf --set 'objective align.dictionary=corpus.h5'
wrong 78 'reads no stream; leave stream out' train align.conf --set 'objective align.stream=text'
sed '/^dictionary/d' align.conf >none.conf
wrong 78 'key "dictionary" is missing' train none.conf
xlm_prep --mono en=text.en --mono xx=text.xx --words space --bpe 100 -o other.h5 >prep.log 2>&1 || fail "$(cat prep.log)"
xlm_dict other.h5 --source en --target xx --text words.txt --subwords first -o other-dict.h5 2>dict.log || fail "$(cat dict.log)"
wrong 78 'other-dict.h5: made for a corpus with other subwords or languages' train align.conf --set 'objective align.dictionary=other-dict.h5'
finish
