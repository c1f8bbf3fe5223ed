#!/usr/bin/env bash
# xlm-mpi: the studies of papers: every run's job is checked (--dry-run), some are trained and are in the table, and each can be
# handed to Slurm.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
jobs=$XLM_SOURCE/jobs

export XLM_LAUNCH="env"
# By it cd prints the path where it goes.
export CDPATH=.:$PWD
# A start with as many layers as the papers' models have, and token types.
cp text.xx text.de && cp text.xx text.es && cp text.xx text.zh
xlm_prep --mono en=text.en --mono de=text.de --mono es=text.es --mono zh=text.zh --para en-de=text.en,text.de --words space \
    --bpe 300 --held-out 0.1 -o start.h5 >prep.log 2>&1 || { cat prep.log >&2; exit 99; }
one_step start.conf 12 16 2 start.h5 'feed_forward_size = 32'
logged start.log xlm_train start.conf
export START=start/latest MONO="en=text.en de=text.de" PARA="en-de=text.en,text.de" PREP='--held-out 0.1'

# checked LOG NUMBER: that many runs were shown, and xlm_train has accepted their jobs.
checked() {
    [ "$(grep -c '^xlm_train ' "$1")" -eq "$2" ] && [ "$(grep -c '^time: ' "$1")" -eq "$2" ] ||
        fail "$1: not $2 good jobs: $(grep -c '^time: ' "$1"), $(grep '^xlm_train: ' "$1"; tail -n 3 "$1")"
}
# run PAPER LOG [OPTION...]: its study in the directory PAPER.
run() {
    local paper=$1 log=$2
    shift 2
    "$jobs/$paper/study" "$@" "$paper" >"$log" 2>&1 || fail "$paper $*: $(tail -n 5 "$log")"
}

# Without corpora the commands are shown; then these are made, and every job is checked.
run xlm-align first.log --dry-run
grep -q 'xlm_prep --like .*start.* --mono en=text.en .* --para en-de=text.en,text.de' first.log && [ ! -e xlm-align/corpus.h5 ] &&
    [ "$(grep -c 'not checked' first.log)" -eq 12 ] || fail "dry run without a corpus: $(head -n 5 first.log)"
RUNS='' run xlm-align made.log
[ -s xlm-align/corpus.h5 ] && grep -q '^filter-off .* table 6: 74.2' made.log || fail "no runs: $(cat made.log)"
# With few steps, for which xlm_train does not measure the rate of products for long, all runs; with its own steps each job file once.
few() { STEPS=$1 run "${@:2}" --dry-run; }
few 1 xlm-align xlm-align.log
checked xlm-align.log 12
RUNS='xlm-align ablation mlm no-dwa no-tlm' run xlm-align own.log --dry-run
checked own.log 5
grep -q 'label_layer=12.*dwa.layer=10\|dwa.label_layer=12.*layer=10' xlm-align.log || fail "layer-10: $(grep dwa xlm-align.log)"

for_weam="en-de=text.en,text.de es-en=text.es,text.en en-zh=text.en,text.zh"
RUNS='' PARA=$for_weam run weam made.log
for language in de es zh; do [ -s weam/$language/alignment.h5 ] || fail "no alignment of $language"; done
run weam weam.log --dry-run
checked weam.log 6
# Two epochs of 32 pairs a step.
pairs=$(sed -n 's/^stream pairs: \([0-9]*\) instances.*/\1/p' weam.log | head -n 1)
grep -q "train.steps=$(((2 * pairs + 31) / 32)) " weam.log || fail "weam: not two epochs of $pairs pairs: $(grep steps weam.log)"

sed 's/$/ and so on and on/' text.en >longer.en
sed 's/$/ os dna no dna no/' text.de >longer.de
export LINES_OF_SIZES='100 150 250'
# With another program than gzip where there is one.
packer=gzip packed=gz
! command -v xz >/dev/null || packer=xz packed=xz
$packer longer.de
RUNS='' PARA="en-de=longer.en,longer.de.$packed" run ppa made.log
run ppa ppa.log --dry-run
checked ppa.log 12
awk '/^xlm_train / && match($0, /train.steps=[0-9]+/) { print substr($0, RSTART + 12, RLENGTH - 12) }' ppa.log | sort -n | uniq |
    awk 'NR > 1 && $1 <= last { exit 1 } { last = $1 } END { exit NR < 3 }' ||
    fail "ppa: steps: $(grep -o 'train.steps=[0-9]*' ppa.log)"

export MONO_DE=$MONO MONO_UNMT_DE=$MONO MONO_UNMT_RO=$MONO MONO_UNMT_NE=$MONO MONO_XNLI=$MONO MONO_ALBERT=en=text.en
export PARA_XNLI="$PARA en-es=text.en,text.es" PREP='--words space --bpe 100 --held-out 0.1'
RUNS='' run mlm-gc made.log
[ "$(attribute /window mlm-gc/de-en/cooc-3.h5)" = 3 ] || fail "window: $(h5dump -A mlm-gc/de-en/cooc-3.h5 | head -n 40)"
export SETTINGS='model.layers=2; model.hidden_size=16; model.attention_heads=2; model.feed_forward_size=32'
few 1 mlm-gc mlm-gc.log
checked mlm-gc.log 30
RUNS='de-en/xlm de-en/gc unmt-de/mass unmt-de/mass-gc xnli/tlm xnli/tlm-gc albert/mlm albert/gc albert/sop' run mlm-gc own.log --dry-run
checked own.log 9
[ "$(grep -c 'cooc-2.h5' mlm-gc.log)" -ge 10 ] || fail "mlm-gc: $(grep -o 'cooc-..h5' mlm-gc.log)"

# A job that is wrong does not keep the others from being checked.
expect 64 '' env RUNS='de-en/xlm de-en/gc unmt-de/mass' STEPS=1 SETTINGS="$SETTINGS; objective gc.weight=0.3" \
    "$jobs/mlm-gc/study" --dry-run mlm-gc
[ "$(grep -c '^xlm_train ' expect.out)" -eq 3 ] && [ "$(grep -c '^time: ' expect.out)" -eq 1 ] &&
    [ "$(grep -c 'has no section \[objective gc\]' expect.out)" -eq 2 ] ||
    fail "after a job that is wrong: $(cat expect.out)"

# One run from text to table; what is finished is not made again.
export RUNS='de-en/gc-0.5:3' STEPS=4 SETTINGS="$SETTINGS; train.micro_batches=2; stream text.batch=4; stream text.length=32"
MEASURE='--length 32' run mlm-gc table.log
grep -q '^de-en/gc-0.5  *3  *4 .*table 1: 0.60' table.log && grep -q ',perplexity,' mlm-gc/measures.csv ||
    fail "the table: $(tail -n 30 table.log)"
grep -q 'weight = 0.5' <(h5dump -a /job/text mlm-gc/runs/de-en/gc-0.5-3-4/latest) || fail "not a weight of 0.5"
cp mlm-gc/measures.csv once.csv
SETTINGS=${SETTINGS//=/ = } MEASURE='--length  32' run mlm-gc again.log
grep -q 'pre-training' again.log && fail "trained again"
env -u MEASURE "$jobs/mlm-gc/study" mlm-gc >again2.log 2>&1 || fail "without MEASURE: $(tail -n 5 again2.log)"
! grep -h ' perplexity ' again.log again2.log && cmp once.csv mlm-gc/measures.csv || fail "measured again"
# A finished run of other settings is not taken for one with these; blanks make no other steps.
expect 64 'runs/de-en/gc-0.5-3-4 was made with SETTINGS=.*; give that again' env MEASURE='--length 32' \
    SETTINGS="$SETTINGS; objective gc.window=1" "$jobs/mlm-gc/study" mlm-gc
SETTINGS="$SETTINGS; train.steps = 7; train.warmup =0" STEPS='' run mlm-gc steps.log --dry-run
grep -q 'train.output=[^ ]*/gc-0.5-3-7 ' steps.log || fail "steps = 7: $(grep train.output steps.log)"
# Rows of a run that was moved away are not those of one that has its name.
sort mlm-gc/measures.csv >whole
rm mlm-gc/runs/de-en/gc-0.5-3-4/measured
sed -i '$d' mlm-gc/measures.csv
env -u MEASURE "$jobs/mlm-gc/study" mlm-gc >again.log 2>&1 || fail "a run made again: $(tail -n 5 again.log)"
sort mlm-gc/measures.csv | cmp - whole && [ ! -e mlm-gc/runs/de-en/gc-0.5-3-4/measure-begun ] ||
    fail "measured anew: $(cat mlm-gc/measures.csv)"

# What cannot be measured is an error, after the table. What was only begun is measured as a whole, and once.
expect 1 'study: not all of these runs could be measured: de-en/gc-0.5:3' env MEASURE='--length 32 --gold none,none,none' \
    "$jobs/mlm-gc/study" mlm-gc
grep -q '^de-en/gc-0.5  *3  *4 .*table 1: 0.60' expect.out || fail "no table: $(cat expect.out)"
[ -e mlm-gc/runs/de-en/gc-0.5-3-4/measure-begun ] || fail "it would not be measured again"
sort mlm-gc/measures.csv | cmp - whole || fail "rows were lost before anything was measured: $(cat mlm-gc/measures.csv)"
sed -i '$d' mlm-gc/measures.csv
MEASURE='--length 32' run mlm-gc again.log
sort mlm-gc/measures.csv | cmp - whole || fail "measured after an error: $(cat mlm-gc/measures.csv)"
# Where one part fails, its earlier rows stay, and the others are measured anew.
head -n 5 text.en >gold.en
head -n 5 text.de >gold.de
awk '{ for (i = 0; i < NF; i++) printf "%d-%d%s", i, NF - 1 - i, i < NF - 1 ? " " : "\n" }' gold.en >gold.links
gold() { # TARGET: measured anew, since MEASURE is another: also by alignments of gold.en and this text.
    MEASURE="--length 32 --gold gold.en,$1,gold.links" "$jobs/mlm-gc/study" mlm-gc
}
gold gold.de >gold.log 2>&1 && grep -q ',aer,' mlm-gc/measures.csv || fail "no alignment: $(tail -n 5 gold.log)"
sort mlm-gc/measures.csv >whole-gold
expect 1 'measure: failed: word alignment of' gold text.de
sort mlm-gc/measures.csv | cmp - whole-gold || fail "after a part that failed: $(cat mlm-gc/measures.csv)"
MEASURE='--length 32' run mlm-gc again.log
sort mlm-gc/measures.csv | cmp - whole || fail "all of a run that was measured anew: $(cat mlm-gc/measures.csv)"

# All pairs of languages of a corpus are measured, and the table has the best layer's mean over them.
RUNS=xnli/tlm:1 STEPS=1 MEASURE='--length 32 --instances 4' \
    SETTINGS="$SETTINGS; stream pairs.batch=4; stream pairs.length=32; train.evaluate_instances=8" run mlm-gc pairs.log
awk -F, '$1 ~ "/xnli/tlm-1-1/" && $3 == "retrieval_cosine" && $5 == "mean" {
        if (!(($6, $7) in way)) { way[$6, $7]; ways++ }
        sum[$4] += $8; n[$4]++
    }
    END {
        for (layer in sum) { bad += n[layer] != 4; if (sum[layer] > best) best = sum[layer] }
        printf "%s%d %.2f\n", bad ? "bad " : "", ways, 25 * best
    }' mlm-gc/measures.csv >pairs
[ "$(cut -d ' ' -f 1 pairs)" = 4 ] && grep -q "^xnli/tlm  *1  *1  *-  *$(cut -d ' ' -f 2 pairs)@" pairs.log ||
    fail "pairs: $(cat pairs) $(grep '^xnli/tlm ' pairs.log)"
grep -q "/xnli/tlm-1-1/latest .* $(cut -d ' ' -f 2 pairs)@" pairs.log || fail "pairs, measure: $(tail -n 20 pairs.log)"

# Each run a job of Slurm's, which gets no variables of an allocation that it is submitted from.
unset "${!SLURM_@}"
mkdir bin
cat >bin/sbatch <<'SBATCH'
#!/bin/sh
env | grep ^SLURM_ >>variables
echo "${XLM_LAUNCH-none}" >launcher
for a in "$@"; do printf "<%s>" "$a"; done >>submitted; echo >>submitted
SBATCH
chmod +x bin/sbatch
allocation=(SLURM_JOB_ID=5 SLURM_CONF=own SLURM_NTASKS=1 SLURM_NPROCS=1 SLURM_NTASKS_PER_NODE=1 SLURM_CPUS_PER_TASK=1
    SLURM_TRES_PER_TASK=cpu=1 SLURM_HINT=nomultithread SLURM_THREADS_PER_CORE=1 SLURM_CPU_BIND=quiet SLURM_MEM_PER_CPU=1)
RUNS='de-en/gc-0.5:3 de-en/xlm:1 xnli/tlm:2' SBATCH='-N 4 -t 1:00:00' PATH=$PWD/bin:$PATH logged submit.log \
    env "${allocation[@]}" "$jobs/mlm-gc/study" --submit mlm-gc
[ "$(wc -l <submitted)" -eq 2 ] && grep -q '^<-N><4><-t><1:00:00><--job-name><mlm-gc-xnli-tlm-2><.*/xlm_train.sbatch>' submitted &&
    grep -q '<--set><stream text.batch=4>' submitted || fail "submitted: $(cat submitted)"
[ "$(sort -u variables)" = "$(printf '%s\n' SLURM_CONF=own SLURM_JOB_ID=5)" ] || fail "of an allocation: $(sort -u variables)"
rm variables
# Outside of one they are options of sbatch, as the user has set them.
RUNS=xnli/tlm:2 SLURM_HINT=nomultithread PATH=$PWD/bin:$PATH run mlm-gc submit.log --submit
[ "$(<variables)" = SLURM_HINT=nomultithread ] || fail "without an allocation: $(<variables)"
# The job script sets the number of ranks: a launcher with one holds here alone.
[ "$(<launcher)" = env ] || fail "without a number of ranks: $(<launcher)"
for given in 'mpiexec -n 2' 'srun --ntasks=2'; do
    RUNS=xnli/tlm:2 XLM_LAUNCH=$given PATH=$PWD/bin:$PATH run mlm-gc submit.log --submit
    [ "$(<launcher)" = none ] && grep -q "XLM_LAUNCH=$given holds here alone" submit.log || fail "$given: $(<launcher)"
done

# Errors.
unset RUNS
expect 64 'START: name the checkpoint of XLM-R base' env -u START "$jobs/xlm-align/study" --dry-run xlm-align
expect 64 'START: name the checkpoint of mBERT' env -u START "$jobs/weam/study" weam
expect 64 'PARA: names no pairs en-es' env PARA=en-de=text.en,text.de "$jobs/weam/study" --dry-run other
expect 66 'none.h5: there is no such file' env START=none.h5 "$jobs/ppa/study" ppa
expect 1 'none.en' env RUNS= PARA=en-de=none.en,text.de "$jobs/ppa/study" unread
echo 'no gzip' >text.en.gz
expect 1 'text.en.gz: not in gzip format' env RUNS= PARA=en-de=text.en.gz,text.de "$jobs/ppa/study" unread
expect 64 'there is no such run; there are xlm-align ablation' env RUNS=tlm "$jobs/xlm-align/study" xlm-align
expect 64 'MONO_UNMT_RO: name the text' env -u MONO_UNMT_RO "$jobs/mlm-gc/study" --dry-run other
expect 64 'usage' "$jobs/mlm-gc/study"
finish
