#!/usr/bin/env bash
# xlm-mpi: a job's losses and bits on different numbers of ranks and threads. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus
micro_batches 8 # ranks add up several, and there are 8 ranks

# run NAME RANKS [OPTION...]: trains $steps steps into directory NAME.
run() {
    local name=$1 n=$2
    shift 2
    trained job.conf "$name" "$n" --set "train.steps=$steps" "$@"
    [ "$(losses "$name" | wc -l)" -eq "$steps" ] ||
        fail "$name: metrics.csv has $(losses "$name" | wc -l) steps instead of $steps"
}

steps=16
run one 1
run two 2
run again 2
run three 3
XLM_STORE_WRITERS=2 run four 4 # the others have one rank write so small a checkpoint
XLM_NODE_RANKS=2 run eight 8 # four nodes: ranks of a node add up first
for other in two three four eight; do agree one "$other"; done

# Micro-batches make the bits the same too, for powers of two.
for other in two again four eight; do same_bits one "$other"; done
run threads 1 --set train.threads=2
[ "$(digest one/latest)" = "$(digest threads/latest)" ] || fail "parameters on 1 and 2 threads are not the same bits"
run recompute 2 --set train.recompute=true
same_bits one recompute
grep -q '^memory: .* a pass .* with recompute' one.log && grep -q '^memory: .* a pass .* without recompute' recompute.log ||
    fail "the log does not say what a pass takes: $(grep '^memory' one.log recompute.log)"
# The free order adds up to the same, in one gradient array instead of log2(micro-batches) + 1, and either order goes on with the
# other's checkpoint.
gradients() { sed -n 's/^memory:.* gradients \([0-9.]*\), .*/\1/p' "$1"; }
plan=(--dry-run --set train.steps=2 --set train.warmup=1 --set model.hidden_size=512 --set model.layers=8)
logged fixed.plan ranks 1 xlm_train job.conf "${plan[@]}"
logged free.plan ranks 1 xlm_train job.conf "${plan[@]}" --set train.reproducible=false
awk -v fixed="$(gradients fixed.plan)" -v free="$(gradients free.plan)" '
    BEGIN { exit !(free > 0.05 && fixed > 3.7 * free && fixed < 4.3 * free) }' ||
    fail "gradients of 8 micro_batches take $(gradients fixed.plan) GiB, in the free order $(gradients free.plan)"
free=(--set train.reproducible=false)
for n in 1 2; do
    run "free-$n" $n "${free[@]}"
    agree one "free-$n"
done
steps=20
for order in true false; do
    cp -r $([ $order = true ] && echo free-1 || echo one) "to-$order"
    run "to-$order" 2 --set "train.reproducible=$order"
    grep -q 'resumed from .* at step 16' "to-$order.log" || fail "the other order does not resume: $(cat "to-$order.log")"
done
steps=16
# A corpus in two files gives the bits of the one that has all the text, and a run goes on with either, but not in another order.
files=(--set train.corpus=a.h5,b.h5)
for l in en xx; do split -l 350 "text.$l" "half.$l."; done
logged a.log xlm_prep --like corpus.h5 --mono en=half.en.aa --mono xx=half.xx.aa --para en-xx=half.en.aa,half.xx.aa \
    --held-out 0.1 -o a.h5
logged b.log xlm_prep --like corpus.h5 --mono xx=half.xx.ab --mono en=half.en.ab --para xx-en=half.xx.ab,half.en.ab \
    --held-out 0.1 -o b.h5
run files 4 "${files[@]}"
same_bits one files
cp -r one to-files
steps=17
run to-files 1 "${files[@]}"
grep -q 'resumed from .* at step 16' to-files.log || fail "a run does not resume with two files: $(cat to-files.log)"
expect 65 'does not fit the job: its corpus has other text, or the same files in another order' ranks 1 xlm_train job.conf \
    --set train.output=files --set train.steps=17 --set train.corpus=b.h5,a.h5
steps=16
# It must be possible to fail: another seed gives other bits.
run seed 1 --set train.seed=2
differ one/latest seed/latest || fail "another seed gave the same parameters"

# It learns: from 4.1 on text that it does not train on.
steps=40
run learn 1
for objective in mlm tlm; do
    is_between 0 "$(value learn $steps held_out $objective loss all)" 3.9 ||
        fail "held-out losses: $(grep held_out learn/metrics.csv)"
done

only_in_check_all

# Many ranks on few cores, one micro-batch each: it works, and it is what two ranks make. With sanitizers they need minutes.
if [ "${XLM_SANITIZERS-}" != yes ]; then
    steps=2 # the second from parameters that all 64 have sent
    large=(--set train.micro_batches=64 --set train.evaluate_instances=1 --set model.layers=1
        --set "stream text.batch=64" --set "stream pairs.batch=64")
    run many 64 "${large[@]}"
    run few 2 "${large[@]}"
    same_bits many few # 64 ranks and 2
fi
finish
