#!/usr/bin/env bash
# xlm-mpi: jobs/grid: what is tried, chosen on dev and shown of the test files, what is not made again, and Slurm's job arrays.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
trained job.conf out 1 --set train.steps=5
for language in en xx; do
    for part in train dev test; do
        case $part in train) lines=1,60 ;; dev) lines=541,570 ;; test) lines=571,600 ;; esac
        sed -n "${lines}p" text.$language >part
        phrases part >$part.$language.tsv
    done
done
cat >tag.conf <<'JOB'
# A job with a grid.
#
# grid: tune.learning_rate = 1e-3 6e-3
# grid: tune.batch = 8 16

[tune]
model = none
train = en:train.en.tsv
dev = en:dev.en.tsv,xx:dev.xx.tsv
output = tag
epochs = 2

# The section goes on.
length = 24
learning_rate = 1

[task tagging]
JOB
export XLM_LAUNCH=env
grid() { "$XLM_SOURCE/jobs/grid" "$@"; }
tests=(--test en:test.en.tsv --test xx:test.xx.tsv)

# ---- what would be run ----
logged absent.log grid --dry-run a tag.conf
[ "$(grep -c 'not checked: there is no none' absent.log)" -eq 20 ] || fail "without the model: $(cat absent.log)"
some=(--seeds "1,2" --vary tune.batch=16 --set tune.model=out/latest)
logged dry.log grid --dry-run "${some[@]}" --vary "task tagging.choose_by=accuracy" a tag.conf
[ "$(grep -c '^xlm_tune ' dry.log)" -eq 4 ] && [ "$(grep -c '^dev xx: 30 sentences' dry.log)" -eq 4 ] &&
    [ -z "$(find a -name metrics.csv)" ] || fail "dry run: $(cat dry.log)"
cmp <(sed '1,/^$/d' 'a/learning_rate=6e-3,batch=16,choose_by=accuracy-seed-2.conf') - <<'JOB' || fail "a job: $(cat a/*2.conf)"
[tune]
model = out/latest
train = en:train.en.tsv
dev = en:dev.en.tsv,xx:dev.xx.tsv
output = a/learning_rate=6e-3,batch=16,choose_by=accuracy-seed-2
epochs = 2

# The section goes on.
length = 24
learning_rate = 6e-3
batch = 16
seed = 2

[task tagging]
choose_by = accuracy
JOB
expect 78 '' grid --dry-run "${some[@]}" --vary tune.length=1000 a tag.conf
mkdir 'with blanks' && cp dev.en.tsv 'with blanks/dev.tsv'
cp tag.conf b=tag.conf # awk would take such a name for a variable
logged blanks.log grid --dry-run --seeds 1 --set tune.model=out/latest --set 'tune.dev=en:with blanks/dev.tsv, xx:dev.xx.tsv' \
    a=b b=tag.conf
grep -qx 'output = a=b/learning_rate=1e-3,batch=8-seed-1' a=b/learning_rate=1e-3,batch=8-seed-1.conf ||
    fail "not its output: $(cat a=b/*1.conf)"
grep -q '^dev xx: 30 sentences' blanks.log && ! grep -q 'not checked' blanks.log || fail "a path with blanks: $(cat blanks.log)"

# ---- from runs to table ----
logged run.log grid "${some[@]}" "${tests[@]}" g tag.conf
# by_hand NUMBERS...: their mean and standard deviation.
by_hand() {
    printf '%s\n' "$@" | awk '{ x[NR] = $1; sum += $1 }
        END { for (i in x) d += (x[i] - sum / NR) ^ 2; printf "%.6f,%.6f\n", sum / NR, sqrt(d / (NR - 1)) }'
}
best=0
for rate in 1e-3 6e-3; do
    name="learning_rate=$rate,batch=16"
    for seed in 1 2; do
        run=g/$name-seed-$seed
        [ "$(readlink "$run/best")" != '' ] || fail "no $run: $(tail -n 5 run.log)"
        dev[seed]=$(values "$run" dev span_f1 score mean | awk '$2 > best { best = $2 } END { print best + 0 }')
        test[seed]=$(awk -F, '$1 == "xx" && $2 == "measure" && $3 == "accuracy" { print $NF }' "$run/scores.csv")
        gap[seed]=$(awk -F, '$1 == "mean" && $2 == "gap" && $3 == "accuracy" { print $NF }' "$run/scores.csv")
        grep -q "^seed = $seed$" "$run/job.conf" || fail "$run/job.conf"
    done
    name=${name/,/ }
    mean=$(by_hand "${dev[1]}" "${dev[2]}")
    for row in "dev,mean,span_f1,2,$mean" "test,xx,accuracy,2,$(by_hand "${test[@]:1}")" \
        "test,gap,accuracy,2,$(by_hand "${gap[@]:1}")"; do
        grep -q "^$name,\(yes\|no\),$row\$" g/grid.csv || fail "$name: no $row: $(cat g/grid.csv)"
    done
    if is_between "$best" "${mean%,*}" 1; then best=${mean%,*} chosen=$name; fi
done
[ "$(awk -F, '$2 == "yes" { print $1 }' g/grid.csv | sort -u)" = "$chosen" ] || fail "chosen, $chosen: $(cat g/grid.csv)"
grep -q "^== On test: $chosen\$" run.log && grep -q "^$chosen .* chosen\$" run.log || fail "$(cat run.log)"
cp g/grid.csv whole.csv
in_german "$XLM_SOURCE/jobs/grid" --table "${some[@]}" "${tests[@]}" g tag.conf >german.log 2>&1 && cmp g/grid.csv whole.csv ||
    fail "with a decimal comma: $(cat german.log)"
# What is there is not made again; other test files are scored; other settings need another directory.
before=$(ls -l --time-style=full-iso g/*/ | cksum)
logged again.log grid "${some[@]}" "${tests[@]}" g tag.conf
[ "$before" = "$(ls -l --time-style=full-iso g/*/ | cksum)" ] || fail "made again: $(cat again.log)"
cmp <(sed -n '/^== On dev/,$p' run.log) <(sed -n '/^== On dev/,$p' again.log) || fail "another table: $(cat again.log)"
for same in ./g/ "$PWD/g"; do
    logged again.log grid "${some[@]}" "${tests[@]}" "$same" tag.conf
    [ "$before" = "$(ls -l --time-style=full-iso g/*/ | cksum)" ] || fail "made again for $same: $(cat again.log)"
done
logged more.log grid --seeds 1,2,3 --table --vary tune.batch=16 --vary tune.learning_rate=6e-3,1e-3 "${tests[@]}" g tag.conf
grep -q '^runs that are not there: 2 of 6$' more.log && ! grep -q chosen more.log || fail "$(cat more.log)"
logged one.log grid "${some[@]}" --vary tune.learning_rate=6e-3 --test xx:test.xx.tsv g tag.conf
[ "$(grep -c '^xx  *span_f1 ' one.log)" -eq 1 ] && ! grep -q '^gap' one.log || fail "$(cat one.log)"
expect 65 'was made with another job' grid "${some[@]}" --set tune.epochs=3 g tag.conf

# Without test files, too, a run is in the table only when it has ended: by its last step, here, or by patience.
cp -r g seeds=2
logged unscored.log grid --table "${some[@]}" seeds=2 tag.conf
cmp <(sed -n '/,dev,/p' whole.csv) <(sed -n '/,dev,/p' seeds=2/grid.csv) || fail "without test files: $(cat unscored.log)"
run=./seeds=2/${chosen/ /,}-seed-1
last=$(awk -F, '$2 == "dev" { last = $1 } END { print last }' $run/metrics.csv)
sed -i "/^$last,dev,/d" $run/metrics.csv # it was ended before the last evaluation
logged unfinished.log grid --table "${some[@]}" seeds=2 tag.conf
grep -q "^$chosen,no,dev,mean,span_f1,1," seeds=2/grid.csv && grep -q '^runs that are not there: 1 of 4$' unfinished.log ||
    fail "an unfinished run is in the table: $(cat seeds=2/grid.csv unfinished.log)"
for keys in 'tune.evaluate_every=1 tune.patience=1' tune.average=2 tune.evaluate_every=2; do
    rm -rf ended
    read -ra keys <<<"$keys"
    ended=("${some[@]}" "${keys[@]/#/--set=}" --seeds 1 --vary tune.learning_rate=1e-3)
    logged ended.log grid "${ended[@]}" ended tag.conf
    grep -q '^step ' ended.log || fail "${keys[*]}: was not trained"
    logged again.log grid "${ended[@]}" ended tag.conf
    ! grep -q 'xlm_tune\|step ' again.log && grep -q ' chosen$' again.log || fail "${keys[*]}: begun again: $(cat again.log)"
done
# Its number of steps is asked for once, and known where it does not fit into memory, which ends xlm_tune as here.
xlm_tune=$(command -v xlm_tune) && mkdir small
cat >small/xlm_tune <<END
#!/bin/sh
echo "\$*" >>asked
"$xlm_tune" "\$@" 2>&1 | sed '/^model: /,\$d'
exit 69
END
chmod +x small/xlm_tune
for way in '' --submit --table; do
    : >asked
    # shellcheck disable=SC2086 # an option or none
    PATH=$PWD/small:$PATH logged again.log grid $way "${ended[@]}" ended tag.conf
    [ "$(wc -l <asked)" -eq 1 ] && grep -q ' chosen$\|all runs are finished' again.log && ! grep -q 'not there' again.log ||
        fail "without memory, grid $way: $(cat asked again.log)"
done
# Of a run with checkpoints it is known without the model as well. Where it cannot be known, this is said, and nothing is begun.
mv out hidden
logged without.log grid "${ended[@]}" ended tag.conf
! grep -q 'xlm_tune\|step ' without.log && grep -q ' chosen$' without.log || fail "without the model: $(cat without.log)"
mv hidden out
mv train.en.tsv hidden
expect 69 '-seed-1: its number of steps is not known, .*train.en.tsv' grid "${ended[@]}" ended tag.conf
logged unknown.log grid --table "${ended[@]}" ended tag.conf
grep -q '^runs of which it is not known whether they have ended: learning_rate=1e-3.*-seed-1$' unknown.log &&
    ! grep -q 'not there' unknown.log || fail "not known: $(cat unknown.log)"
mv hidden train.en.tsv
rm -r ended

# ---- Slurm ----
# Two arrays are submitted; what they would do gives the same numbers.
# Slurm's variables and those of the script that are set here, as in a job, are not the test's.
unset "${!SLURM_@}" XLM_OPTIONS XLM_MIN_NODES
mkdir bin
printf '%s\n' '#!/bin/sh' 'echo 0' >bin/lscpu
cat >bin/sbatch <<'SBATCH'
#!/usr/bin/env bash
printf '<%s>' "$@" >>submitted; echo >>submitted
env | grep ^SLURM_ >>variables
while [ "${1#-}" != "$1" ]; do
    case $1 in
    --array=*) last=${1#--array=1-} ;;
    -*name | -t) shift ;;
    esac
    shift
done
export SLURM_JOB_ID=7 SLURM_JOB_NUM_NODES=1 SLURM_CPUS_ON_NODE=1 SLURM_NTASKS_PER_NODE=1 SLURM_JOB_NODELIST=n1
for SLURM_ARRAY_TASK_ID in $(seq "$last"); do
    SLURM_ARRAY_TASK_ID=$SLURM_ARRAY_TASK_ID bash "$@" >>array.log 2>&1 || exit
done
echo 7
SBATCH
printf '%s\n' '#!/bin/sh' 'shift 2' 'exec "$@"' >bin/launch
chmod +x bin/*
cp -r "$XLM_SOURCE/jobs" jobs && mkdir slurm && cp "$XLM_BUILD/slurm/xlm_train.sbatch" slurm
export SBATCH='-t 1:00:00'
# They get no variables of an allocation that they are submitted from.
allocation=(SLURM_JOB_ID=5 SLURM_CONF=own SLURM_NTASKS=2 SLURM_NPROCS=2 SLURM_NTASKS_PER_NODE=2 SLURM_CPUS_PER_TASK=3
    SLURM_TRES_PER_TASK=cpu=3 SLURM_HINT=nomultithread SLURM_THREADS_PER_CORE=1 SLURM_ARRAY_JOB_ID=5)
PATH=$PWD/bin:$PATH XLM_LAUNCH=launch logged submit.log env "${allocation[@]}" \
    jobs/grid "${some[@]}" --submit "${tests[@]}" s tag.conf
[ "$(sort variables)" = "$(printf '%s\n' SLURM_CONF=own SLURM_CONF=own SLURM_JOB_ID=5 SLURM_JOB_ID=5)" ] ||
    fail "of an allocation: $(cat variables)"
[ "$(wc -l <submitted)" -eq 2 ] &&
    grep -q '^<--parsable><-t><1:00:00><--job-name><s><--array=1-4><.*/xlm_train.sbatch><s/array-[-0-9]*/%a.conf>$' submitted &&
    grep -q '<--dependency=aftercorr:7><--kill-on-invalid-dep=yes>.*<--array=1-4>.*/%a/best><--test><en:test.en.tsv>' submitted ||
    fail "$(cat submitted submit.log)"
logged slurm.log grid --table "${some[@]}" "${tests[@]}" s tag.conf
cmp whole.csv s/grid.csv || fail "by Slurm: $(cat slurm.log array.log | tail -n 20)"
PATH=$PWD/bin:$PATH logged nothing.log jobs/grid "${some[@]}" --submit "${tests[@]}" s tag.conf
grep -q 'all runs are finished' nothing.log && [ "$(wc -l <submitted)" -eq 2 ] || fail "$(cat nothing.log)"
# Without test files as well: the runs of the job array say themselves that they have ended.
PATH=$PWD/bin:$PATH logged nothing.log jobs/grid "${some[@]}" --submit s tag.conf
grep -q 'all runs are finished' nothing.log && [ "$(wc -l <submitted)" -eq 2 ] || fail "without test files: $(cat nothing.log)"

# ---- what is refused ----
expect 64 'usage' grid g
expect 64 'rates: is not KEY=VALUE' grid --vary rates g tag.conf
expect 64 'there is no such option' grid --rates 1 g tag.conf
expect 64 '--seeds 1,x: are not numbers' grid --seeds 1,x g tag.conf
expect 64 '2 occurs twice' grid --seeds 2,1,2 g tag.conf
expect 64 'two settings of the grid are' grid --vary tune.batch=8,8 other tag.conf
expect 66 'none.conf: there is no such file' grid g none.conf
finish
