#!/usr/bin/env bash
# xlm-mpi: runs of studies compared over seeds and languages: known answers, rows of figures, what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
compare=$XLM_SOURCE/jobs/combinations/compare
# scores LANGUAGE MORE: of two runs with three seeds each; AER of the second less that of the first is 2, 1 and 0 less MORE.
scores() {
    printf 'run\tseed\tAER\tpairs\tppl-en\tppl-%s\tsteps\tprecision\n' "$1"
    for seed in 1 2 3; do
        printf 'mlm\t%s\t%s\t0.5\t10\t20.5\t8\tfloat32\n' $seed $((70 + seed))
        printf 'mlm+gc\t%s\t%s\t0.52\t-\t19\t8\tfloat32\n' $seed $((73 - $2))
    done
    printf 'mlm\tmean\t99\t99\t99\t99\t-\t-\nmlm\tsd\t99\t99\t99\t99\t-\t-\n'
}
mkdir de fr
scores de 0 >de/scores.tsv
scores fr 4 >fr/scores.tsv
# line RUN SECOND: of the tables, with single blanks.
line() { sed 's/  */ /g' table | grep -F "$1 $2 "; }

"$compare" de fr >table || fail "compare: $?"
for wanted in 'mlm de 3 72.0 0.500 10.0 20.5' 'mlm all 6 72.0 0.500 10.0 20.5' 'mlm+gc fr 3 69.0 0.520 - 19.0' \
    'mlm+gc all 6 71.0 0.520 - 19.0'; do
    read -r run language rest <<<"$wanted"
    [ "$(line "$run" "$language")" = "$wanted" ] || fail "means: $(line "$run" "$language"), not $wanted"
done
in_german "$compare" de fr | cmp - table || fail "with a decimal comma"
# Differences of mlm from mlm+gc: -2, -1, 0, 2, 3, 4. How many of their signs give a sum as far from zero as 6, counted one by one;
# that of 0 makes no difference.
by_hand=$(awk 'BEGIN {
    for (a = -1; a < 2; a += 2) for (b = -1; b < 2; b += 2) for (c = -1; c < 2; c += 2) for (d = -1; d < 2; d += 2)
        for (e = -1; e < 2; e += 2) { s = a + 2 * b + 2 * c + 3 * d + 4 * e; all++; n += s >= 6 || s <= -6 }
    printf "%.4f", n / all }')
[ "$(line mlm AER)" = "mlm AER 6 +1.0 2.4 $by_hand" ] || fail "AER: $(line mlm AER), p by hand $by_hand"
# Six differences of one sign: 2 of 64.
[ "$(line mlm ppl)" = 'mlm ppl 6 +1.5 0.0 0.0312' ] || fail "perplexity: $(line mlm ppl)"
[ -z "$(line mlm ppl-en)" ] || fail "what only one run has is compared: $(line mlm ppl-en)"
"$compare" --to mlm de >table
[ "$(line mlm+gc AER)" = 'mlm+gc AER 3 +1.0 1.0 0.5000' ] || fail "beside mlm: $(line mlm+gc AER)"

# Rows are as good as the directories that they are from, and new ones take the place of old ones.
"$compare" --rows de fr >rows.csv
cmp <("$compare" de fr) <("$compare" rows.csv) || fail "rows"
cp rows.csv figures=1.csv # awk would take such a name for a variable
cmp rows.csv <("$compare" --rows figures=1.csv) || fail "rows of rows"
scores de 1 >de/scores.tsv
cmp <("$compare" --rows rows.csv de) <("$compare" --rows de fr) || fail "new rows"

# The page: a table for each language and the differences, and that of the repository is made of its rows.
"$compare" --page rows.csv >page
for wanted in '| objectives | seeds | AER | pairs | ppl-en | ppl |' '| all but gc | 3 | 72.0 ± 1.0 | 0.500 ± 0.000 | 10.0 ± 0.0 | 20.5 ± 0.0 |' \
    '| all | 3 | 73.0 ± 0.0 | 0.520 ± 0.000 | - | 19.0 ± 0.0 |' '| all | 3 | 69.0 ± 0.0 | 0.520 ± 0.000 | - | 19.0 ± 0.0 |' \
    "| all but gc | +1.0 ± 2.4 (6, $(printf %.3f "$by_hand")) | -0.020 ± 0.000 (6, 0.031) | +1.5 ± 0.0 (6, 0.031) |" '## English and French'; do
    grep -qxF -e "$wanted" page || fail "the page has no line $wanted: $(cat page)"
done
printf 'de,mlm+gc+weam,1,8,float32,AER,60\nde,mlm+weam,1,8,float32,AER,61\n' | cat rows.csv - >more.csv
"$compare" --page more.csv >page
grep -qxF '| all but gc | 1 | 61.0 | - | - | - |' page && grep -qxF '| all but gc | +1.0 (1) |' page || fail "all but one: $(cat page)"
# Of more than 14 pairs the probability is not computed, and not shown.
for seed in {4..12}; do printf 'de,mlm,%s,8,float32,AER,72\nde,mlm+gc,%s,8,float32,AER,71\n' $seed $seed; done | cat rows.csv - >more.csv
"$compare" --page more.csv >page
grep -qE '^\| all but gc \| [+]1[.]0 ± [0-9.]+ \(15\) \|' page || fail "fifteen pairs: $(cat page)"
"$compare" --page "$XLM_SOURCE/jobs/combinations/rows.csv" | cmp - "$XLM_SOURCE/docs/combinations.md" ||
    fail "docs/combinations.md is not jobs/combinations/compare --page jobs/combinations/rows.csv"

expect 64 'there is no such option' "$compare" --what de
expect 64 'usage: compare' "$compare"
expect 65 'there is no such run' "$compare" --to weam de
expect 66 'no scores.tsv' "$compare" .
expect 66 'none.csv: cannot be read' "$compare" none.csv
# Runs of a kind are compared with those of the kind, and have its name; those in the same time have steps of their own.
for kind in '' /same-time /from-nothing; do
    for run in mlm mlm+gc mlm+gc+weam; do
        steps=8
        [ "$kind" != /same-time ] || steps=$((8 - ${#run} / 4))
        echo "de,$run$kind,1,$steps,float32,AER,$((80 - ${#run} - ${#kind}))"
    done
done | cat <(head -n 1 rows.csv) - >kinds.csv
"$compare" --page kinds.csv >page || fail "kinds: $?"
for wanted in '| all but weam, same time | 1 | 64.0 |' '| all but weam, same time | +5.0 (1) |' '| all, from nothing | 1 | 56.0 |' \
    '| mlm, from nothing | +8.0 (1) |' '| all but weam | +5.0 (1) |' 'Precision float32, 8 steps.'; do
    grep -qxF -e "$wanted" page || fail "kinds: no line $wanted: $(cat page)"
done
expect 65 'de mlm/same-time seed 1: runs with steps 8 and with steps 7;' \
    "$compare" kinds.csv <(head -n 1 rows.csv; echo de,mlm/same-time,1,7,float32,mean,1)
# Runs that differ in more than their objectives are not compared: other steps, another precision.
expect 65 'de: runs with precision float32 and with precision bfloat16;' "$compare" rows.csv <(head -n 1 rows.csv; echo de,gc,1,8,bfloat16,AER,1)
expect 65 'de: runs with steps 8 and with steps 9;' "$compare" rows.csv <(head -n 1 rows.csv; echo de,gc,1,9,float32,AER,1)
mkdir old
cut -f 1-6 de/scores.tsv >old/scores.tsv
expect 65 'old/scores.tsv has no steps and precision' "$compare" old
echo run,seed >bad.csv
expect 65 'bad.csv: the first line is not' "$compare" bad.csv
for bad in de,mlm,1,8,float32,AER de,mlm,one,8,float32,AER,1 de,mlm,1,8,float32,AER,nan 'de,mlm,1,8,float32,AER,1,2' \
    de,mlm,1,0,float32,AER,1 de,mlm,1,8,,AER,1; do
    { head -n 1 rows.csv; echo "$bad"; } >bad.csv
    expect 65 'bad.csv: line 2: not a figure' "$compare" bad.csv
done
: >bad.csv
expect 65 'bad.csv: is empty' "$compare" bad.csv
finish
