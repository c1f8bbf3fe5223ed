#!/usr/bin/env bash
# xlm-mpi: fine-tuning and scoring in several languages: the choice by their mean, tables, gaps, charts, and what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
trained job.conf out 1 --set train.steps=10
for language in en xx; do
    head -n 100 text.$language >train
    tail -n 200 text.$language | head -n 50 >dev
    tail -n 50 text.$language >test
    for part in train dev test; do phrases $part >$part.$language.tsv; done
done
cat >tune.conf <<'JOB'
[tune]
model = out/latest
train = en:train.en.tsv, xx:train.xx.tsv
dev = en:dev.en.tsv, xx:dev.xx.tsv
output = tag
epochs = 2
evaluate_every = 5
keep = 9
batch = 16
length = 24
learning_rate = 6e-3

[task tagging]
JOB
# tune RANKS OUTPUT [OPTION...]
tune() {
    local n=$1 output=$2
    shift 2
    logged "$output.log" ranks "$n" xlm_tune tune.conf --set "tune.output=$output" "$@"
}

# ---- training ----
for n in 1 2 4; do
    tune $n tag-$n
    same_bits tag-1 tag-$n
done
cp -r tag-1 tag-resumed
rm tag-resumed/"$(checkpoint 26)" tag-resumed/"$(checkpoint 25)" tag-resumed/"$(checkpoint 20)"
tune 2 tag-resumed
grep -q 'resumed from .* at step 15' tag-resumed.log || fail "$(head -n 9 tag-resumed.log)"
same_bits tag-1 tag-resumed
for link in tag-{2,4,resumed}/best; do
    [ "$(readlink "$link")" = "$(readlink tag-1/best)" ] || fail "$link: $(readlink "$link" tag-1/best)"
done
# Both languages are learned from, each token in its own; the checkpoint is chosen by the mean of the first measure.
grep -q '^train: 200 sentences' tag-1.log && grep -q '^dev en: 50 sentences' tag-1.log &&
    grep -q '^dev xx: 50 sentences' tag-1.log || fail "$(cat tag-1.log)"
logged dump.log xlm_tune tune.conf --set tune.output=none --dump-step step.h5
[ "$(numbers /streams/train/batch/languages step.h5 | sort -u | paste -s -d ' ')" = '0 1' ] || fail "languages of a batch"
for measure in span_f1 accuracy loss; do
    paste <(values tag-1 dev $measure score en) <(values tag-1 dev $measure score xx) |
        awk '{ printf "%s %.6f\n", $1, ($2 + $4) / 2 }' |
        cmp - <(values tag-1 dev $measure score mean | awk '{ printf "%s %.6f\n", $1, $2 }') || fail "$measure: means"
done
best=$(values tag-1 dev span_f1 score mean | sort -s -k2,2gr | head -n 1)
[ "$(readlink tag-1/best)" = "$(checkpoint "${best% *}")" ] || fail "best is $(readlink tag-1/best), its mean $best"
grep -q "^dev mean, step ${best% *}: span_f1 .*best so far" tag-1.log || fail "$(grep ^dev tag-1.log)"
[ "$(strings /task/languages tag-1/best | paste -s -d ' ')" = 'en xx' ] || fail "languages of training"
logged compare.out xlm_compare tag-1 tag-2
for curve in 'dev span_f1 mean' 'dev span_f1 en' 'dev span_f1 xx'; do
    grep -q "^$curve\$" compare.out || fail "no curve $curve: $(cat compare.out)"
done

# Files without a language have that of [tune], as they always had, and are one text.
tune 1 old --set tune.train=train.en.tsv --set tune.dev=dev.en.tsv --set tune.language=en
tune 1 new --set tune.train=en:train.en.tsv --set tune.dev=en:dev.en.tsv
same_bits old new
[ "$(strings /task/languages old/best) $(strings /task/languages new/best)" = 'en en' ] || fail "languages of old and new"
tune 1 one --set tune.dev=dev.en.tsv,xx:dev.xx.tsv,train.en.tsv --set tune.language=en
grep -q '^dev en: 150 sentences' one.log && grep -q '^dev xx: 50 ' one.log || fail "$(cat one.log)"

# ---- scores ----
tests=(--test en:test.en.tsv --test xx:test.xx.tsv)
logged eval-1.txt ranks 1 xlm_eval new/best "${tests[@]}" --csv eval-1.csv --chart eval-1.svg --predictions eval-1.tsv
for n in 2 4; do
    logged eval-$n.txt ranks $n xlm_eval new/best "${tests[@]}" --csv eval-$n.csv --chart eval-$n.svg \
        --predictions eval-$n.tsv
    for file in csv svg en.tsv xx.tsv; do cmp eval-1.$file eval-$n.$file || fail "$n ranks: $file"; done
done
# While a run goes on, all ranks read the checkpoint that rank 0 found, though the second one begins later.
mkdir moving
cp tag-1/"$(checkpoint 5)" moving/a.h5
cp tag-1/"$(checkpoint 25)" moving/b.h5
ln -s a.h5 moving/best
phrases text.xx >moving/test.tsv # long enough for both ranks to have some of it
for name in a b; do
    logged moving.txt xlm_eval moving/$name.h5 --test xx:moving/test.tsv --csv moving/$name.csv --predictions moving/$name.tsv
done
cat >moving/launch <<'LAUNCH'
[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" != 1 ] || { sleep 3; ln -sf b.h5 moving/best; }
exec "$@"
LAUNCH
logged moving.txt ranks 2 sh moving/launch xlm_eval moving/best --test xx:moving/test.tsv --csv moving/of.csv \
    --predictions moving/of.tsv
cmp -s moving/a.csv moving/b.csv && fail "both checkpoints predict the same"
name=a # on a slow machine, rank 0 may begin later still
cmp -s moving/a.csv moving/of.csv || name=b
[ "$(readlink moving/best)" = b.h5 ] || fail "the link did not move"
for file in csv tsv; do cmp moving/$name.$file moving/of.$file || fail "ranks of two checkpoints: $file"; done
# The names with languages are compared with the other outputs.
mkdir clash
expect 64 'clash/p.xx.tsv: two outputs have this name' \
    xlm_eval new/best "${tests[@]}" --predictions clash/p.tsv --csv clash/p.xx.tsv
nothing_in clash
# Each language is as when it is scored alone.
for language in en xx; do
    logged alone.txt xlm_eval new/best --test $language:test.$language.tsv --csv alone.csv --predictions alone.tsv
    cmp alone.tsv eval-1.$language.tsv &&
        cmp <(sed -n "s/^$language,//p" eval-1.csv | grep -v ^gap) <(sed '1d; /^language/d' alone.csv) ||
        fail "$language alone: $(cat alone.csv eval-1.csv)"
    grep -q "^language,$language,,,,,,\$" alone.csv || fail "$language: $(cat alone.csv)"
done
# of LANGUAGE KIND MEASURE: in the csv of several.
of() { awk -F, -v language="$1" -v kind="$2" -v name="$3" '$1 == language && $2 == kind && $3 == name { print $NF }' eval-1.csv; }
for measure in span_f1 accuracy macro_f1; do
    en=$(of en measure $measure) xx=$(of xx measure $measure)
    is_near "$(of mean measure $measure)" "$(awk -v a="$en" -v b="$xx" 'BEGIN { print (a + b) / 2 }')" &&
        is_near "$(of mean gap $measure)" "$(awk -v a="$en" -v b="$xx" 'BEGIN { print a - b }')" &&
        is_near "$(of xx gap $measure)" "$(of mean gap $measure)" && [ -z "$(of en gap $measure)" ] ||
        fail "$measure: $(cat eval-1.csv)"
    # The table has the same in per cent.
    column=$(awk -v name=$measure '$1 == "language" { for (i = 2; i <= NF; i++) if ($i == name) print i }' eval-1.txt)
    for row in en xx mean; do
        shown=$(awk -v row=$row -v c="$column" '$1 == row { print $c / 100 }' eval-1.txt)
        is_near "$shown" "$(of $row measure $measure)" 6e-5 || fail "$row $measure: $(cat eval-1.txt)"
    done
    shown=$(sed -n 's/^gap to en */gap /p' eval-1.txt | awk -v c="$column" '{ print $c / 100 }')
    is_near "$shown" "$(of mean gap $measure)" 6e-5 || fail "gap of $measure: $(cat eval-1.txt)"
done
[ "$(of mean measure span_f1)" != "$(of en measure span_f1)" ] || fail "both languages are the same: $(cat eval-1.csv)"
# A bar for each language, and their mean, and each measure that is a share.
bars=$(awk -F, '($1 == "en" || $1 == "xx" || $1 == "mean") && $2 == "measure" && $3 != "loss"' eval-1.csv | wc -l)
bar=$(awk -v x="$(of xx measure span_f1)" 'BEGIN { printf "%.2f%%", 100 * x }')
[ "$(grep -c '<title>' eval-1.svg)" -eq "$bars" ] && ! grep -q '>loss<' eval-1.svg &&
    grep -q "<title>xx, span_f1: $bar</title>" eval-1.svg ||
    fail "bars: $(cat eval-1.svg)"
! command -v xmllint >/dev/null || xmllint --noout eval-1.svg || fail "the chart is no XML"
# No gap where no language of training is tested; the default language is the one that training had.
logged xx.txt xlm_eval new/best --test xx:test.xx.tsv --test test.en.tsv
grep -q '^language: en, that of training' xx.txt && grep -q '^gap to en' xx.txt || fail "$(cat xx.txt)"
tune 1 other --set tune.train=xx:train.xx.tsv --set tune.dev=xx:dev.xx.tsv --set tune.language=en --set tune.epochs=1
logged other.txt xlm_eval other/best --test test.en.tsv
grep -q '^language: en, that of \[tune\] language;' other.txt || fail "$(cat other.txt)"
logged none.txt xlm_eval new/best --test test.xx.tsv --test dev.xx.tsv --language xx
grep -q '^test: 100 sentences' none.txt && ! grep -q '^gap' none.txt || fail "$(cat none.txt)"

# ---- what is refused ----
cp dev.en.tsv a:b.tsv
logged colon.log xlm_eval new/best --test ./a:b.tsv
# wrong PATTERN OPTION...: of xlm_tune.
wrong() {
    local pattern=$1
    shift
    expect 78 "$pattern" xlm_tune tune.conf --set tune.output=none "$@"
    [ ! -e none ] || fail "$pattern: the output directory was made"
}
wrong '^xlm_tune: \[tune\] train: zz:train.xx.tsv: the model has no language "zz"; it has en, xx; .* ./zz:train.xx.tsv' \
    --set tune.train=en:train.en.tsv,zz:train.xx.tsv
wrong '\[tune\] dev: two texts are of the same language, en: dev.en.tsv and test.en.tsv' \
    --set tune.dev=en:dev.en.tsv,en:test.en.tsv
wrong 'two texts are of the same language, en' --set tune.dev=en:dev.en.tsv,test.en.tsv --set tune.language=en
wrong '\[tune\] dev: :dev.en.tsv: the language before the colon is empty' --set tune.dev=:dev.en.tsv
wrong '\[tune\] train: en:: there is no file after the language' --set tune.train=en:
wrong 'no language "a".* ./a:b.tsv' --set tune.dev=a:b.tsv
wrong 'give language = NAME in \[tune\]' --set tune.dev=en:dev.en.tsv,dev.xx.tsv
expect 66 'none.tsv' xlm_tune tune.conf --set tune.output=none --set tune.dev=en:none.tsv
expect 64 '^xlm_eval: --test: de:test.en.tsv: the model has no language "de"' \
    xlm_eval new/best "${tests[@]}" --test de:test.en.tsv --csv none.csv
expect 64 '^xlm_eval: --test: two texts are of the same language, xx' xlm_eval new/best --test xx:test.xx.tsv --test xx:dev.xx.tsv
expect 64 'give --language NAME' xlm_eval tag-1/best --test test.en.tsv
expect 64 '^xlm_eval: --language=en is for files without LANG:' xlm_eval new/best "${tests[@]}" --language en --csv none.csv
[ ! -e none.csv ] || fail "a table was written"
finish
