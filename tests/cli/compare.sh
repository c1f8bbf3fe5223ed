#!/usr/bin/env bash
# xlm-mpi: xlm_compare: keys that differ, curves side by side, damaged metrics. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus
short=(--set train.steps=20 --set train.evaluate_every=5)
trained job.conf a 1 "${short[@]}"
trained job.conf b 1 "${short[@]}" --set train.seed=2 --set train.learning_rate=0.0020
sed '/^\[objective tlm\]/,$d; /^\[stream pairs\]/,/^length/d' job.conf >one.conf
trained one.conf c 1 "${short[@]}" --set train.steps=12
logged two.out xlm_compare a b --lines 4
# keys FILE: of the table of keys, blanks between columns made one.
keys() { sed -n '/^keys/,/^$/{s/  */ /g;/./p}' "$1"; }
cmp <(keys two.out) - <<'KEYS' || fail "keys: $(keys two.out)"
keys a b
[train] output a b
[train] seed 1 2
KEYS
# Sizes that are 0 are shown as what they mean, and so are no difference where another job says the same.
trained job.conf d 1 "${short[@]}" --set model.feed_forward_size=128 --set model.embedding_size=32
trained job.conf e 1 "${short[@]}" --set model.feed_forward_size=64
logged sizes.out xlm_compare a d e --lines 1
cmp <(keys sizes.out) - <<'KEYS' || fail "sizes: $(keys sizes.out)"
keys a d e
[model] feed_forward_size 128 128 64
[train] output a d e
KEYS
# curve FILE NAME: its table.
curve() { awk -v name="$2" '$0 == name { on = 1; next } on && /^$/ { exit } on' "$1" | sed 's/  */ /g'; }
# near A B: the same to the five digits of a table.
near() { awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; exit !(b != "" && d * d < 1e-8 * b * b) }'; }
# Training losses are means since the line above; the others are those in metrics.csv.
[ "$(curve two.out 'train total loss' | awk '$1 + 0 > 0 { printf "%s ", $1 }')" = '5 10 15 20 ' ] || fail "steps: $(cat two.out)"
column=2
for run in a b; do
    near "$(curve two.out 'train total loss' | awk -v c=$column '$1 == 10 { print $c }')" \
        "$(losses $run | awk '$1 > 5 && $1 <= 10 { sum += $2 } END { print sum / 5 }')" ||
        fail "train loss of $run: $(cat two.out)"
    near "$(curve two.out 'held_out mlm perplexity' | awk -v c=$column '$1 == 20 { print $c }')" \
        "$(value $run 20 held_out mlm perplexity all)" ||
        fail "perplexity of $run: $(cat two.out)"
    column=$((column + 1))
done
best=$(values a held_out mlm accuracy all | sort -s -k2,2gr | head -n 1)
[ "$(curve two.out 'held_out mlm accuracy' | awk '$1 == "best" { print $3 }')" = "@${best% *}" ] ||
    fail "best accuracy, $best: $(curve two.out 'held_out mlm accuracy')"

# The same paths in two directories are other files: the model that a run started from, and the text of the corpus.
! grep -q '^began with' two.out || fail "the same corpus: $(sed -n '/^began with/,/^$/p' two.out)"
mkdir x y
cp a/latest x/model.h5
cp b/latest y/model.h5
cp corpus.h5 x/
head -n 300 text.en >y/text.en
xlm_prep --mono en=y/text.en --mono xx=text.xx --like corpus.h5 -o y/corpus.h5 >prep.log 2>&1 || fail "$(cat prep.log)"
for run in x y; do
    cd $run
    trained ../one.conf run 1 --set train.steps=1 --set train.start=model.h5
    cp -r run again
    cd ..
done
logged same.out xlm_compare x/run x/again
grep -qx 'The jobs are the same.' same.out || fail "the same jobs: $(head -n 5 same.out)"
logged began.out xlm_compare x/run y/run x/again
sha() { sha256sum "$1" | cut -c1-16; }
digest_of() { attribute "/$2_digest" "$1/run/latest" | tr -d '"'; }
sed -n '/^began with/,/^$/{s/  */ /g;p}' began.out | sed '/^$/d' | cmp - <(
    echo began with x/run y/run x/again
    echo SHA-256 of the model that it started from "$(sha x/model.h5)" "$(sha y/model.h5)" "$(sha x/model.h5)"
    echo digest of the vocabulary and its counts "$(digest_of x corpus)" "$(digest_of y corpus)" "$(digest_of x corpus)"
    echo digest of the text of the corpus "$(digest_of x text)" "$(digest_of y text)" "$(digest_of x text)"
    echo The keys of the jobs are the same, but not the files that they name.
) || fail "what runs began with: $(head -n 8 began.out)"
! command -v gnuplot >/dev/null || {
    logged report.log xlm_report x/run y/run -o began.html
    grep -qF "<td>$(sha256sum x/model.h5 | cut -d' ' -f1)</td><td>$(sha256sum y/model.h5 | cut -d' ' -f1)</td>" began.html &&
        grep -qF 'The keys of the jobs are the same, but not the files that they name.' began.html || fail "the page of files"
    logged report.log xlm_report x/run x/again -o began.html
    grep -qF 'The jobs are the same.' began.html || fail "the page of the same"
}
for run in x y; do rm $run/run/*.h5; done
logged unknown.out xlm_compare x/run y/run
grep -q '^The keys of the jobs are the same; the files that they name are not compared' unknown.out ||
    fail "without checkpoints: $(head -n 3 unknown.out)"

# Three, one with less in it, one without job.conf, and with damage: common steps, a section that is missing, lines passed over.
rm b/job.conf
{
    head -n 30 b/metrics.csv
    echo '7,train,total,,,nan,,,,,,,'
    printf '\377\0,,,,,,,,,,,,\n'
    sed 1,30d b/metrics.csv
    printf '20,train,tot'
} >damaged.csv
mv damaged.csv b/metrics.csv
xlm_compare a b c >three.out 2>three.err || fail "three runs: $(cat three.err)"
grep -q 'b/metrics.csv: 3 damaged lines skipped' three.err || fail "damage is not reported: $(cat three.err)"
keys three.out | grep -q '^\[objective tlm\] there there (none)$' && keys three.out | grep -q '^\[train\] steps 20 20 12$' ||
    fail "keys of three: $(keys three.out)"
[ "$(curve three.out 'train mlm loss' | awk '$1 + 0 > 0 { last = $1 } END { print last }')" = 12 ] &&
    curve three.out 'train tlm loss' | grep -q '^20 [0-9.]* [0-9.]* -$' || fail "curves of three: $(cat three.out)"
cmp <(curve two.out 'held_out mlm loss') <(curve <(xlm_compare a b --lines 4 2>/dev/null) 'held_out mlm loss') >/dev/null ||
    fail "damage elsewhere changes a curve"
expect 64 'two runs' xlm_compare a
expect 64 'lines=0' xlm_compare a b --lines=0
expect 66 'none: there is no such directory; a run is named by its output directory' xlm_compare a none
expect 66 'a/latest: there is no such directory; a run is named by its output directory' xlm_compare a/latest c
mkdir nothing
expect 66 'nothing/metrics.csv' xlm_compare a nothing
: >c/metrics.csv
xlm_compare a c >empty.out 2>&1 || fail "an empty metrics.csv: $(cat empty.out)"
finish
