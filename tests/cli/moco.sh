#!/usr/bin/env bash
# xlm-mpi: momentum contrast: the same bits on any number of ranks, gradients, memory, what is refused.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
batches_of_eight
long
small_corpus

eight_steps 4 -e 's/^weight = 0.5/&\nbegin = 1/; s/^type = parallel/&\nform = bert\nshuffle_sides = true/' >base.conf
section='\n[objective moco]\nstream = pairs\nprojection = 12\n'
# The queue of 24 is full after three of eight steps.
{ cat base.conf; printf '%bqueue = 24\nmomentum = 0.9\n' "$section"; } >all.conf

# ---- bits ----
checkpoints=4 reproduced all.conf out 4 # with a queue in the middle, too
grep -q 'warning.*objective moco' out-1.log && fail "a warning without need: $(grep 'objective moco' out-1.log)"

# Keys by the order of the instances: those of the last three steps, each once; metrics of every step but for retrieval in the
# empty queue.
[ "$(numbers /objectives/moco/appended out-4/latest)" = 64 ] || fail "keys: $(numbers /objectives/moco/appended out-4/latest)"
[ "$(numbers /objectives/moco/queue out-4/latest | paste -d ' ' - - - - - - - - - - - - | sort -u | grep -vcx '[0 ]*')" = 24 ] ||
    fail "the queue does not have 24 keys"
awk -F, '$2 == "train" && $3 == "moco/accuracy" { n++; if ($1 == 1 || $5 != 8 || $13 < 0 || $13 > 1) bad = 1 }
    $2 == "train" && $3 == "moco/key_norm" { k++; if (!($13 > 0)) bad = 1 }
    $2 == "held_out" && $3 == "moco/accuracy" { e++ } END { exit bad || n != 7 || k != 8 || e != 2 }' out-1/metrics.csv ||
    fail "metrics: $(grep moco out-1/metrics.csv)"
# One that begins with random keys is full at the first step, which has a loss then; the same bits on any number of ranks.
sed 's/^queue = 24/&\nqueue_start = random/' all.conf >random.conf
reproduced random.conf random 4
awk -F, '$2 == "train" && $3 == "moco/accuracy" { n++ } $2 == "train" && $3 == "moco" && $1 == 1 { first = $6 }
    END { exit !(n == 8 && first > 0) }' random-1/metrics.csv || fail "a random queue: $(grep moco random-1/metrics.csv)"
[ "$(value out-1 1 train moco loss)" = 0 ] || fail "an empty queue has a loss: $(value out-1 1 train moco loss)"
[ "$(numbers /objectives/moco/appended random-4/latest)" = 88 ] || fail "keys: $(numbers /objectives/moco/appended random-4/latest)"
# Checkpoints are compared by its accuracy, which the first evaluation does not have, with an empty queue.
{ cat all.conf; printf '[evaluate]\nchoose_by = moco/accuracy\n'; } >best.conf
trained best.conf best 1
[ "$(grep -c 'chosen by moco/accuracy, step [48]: [01]\.' best.log)" -eq 2 ] && [ -e best/best ] ||
    fail "chosen by accuracy: $(tail -n 5 best.log)"
trained best.conf late 1 --set 'objective moco.begin=4'
[ "$(readlink late/best)" = "$(checkpoint 8)" ] || fail "a late queue: best is $(readlink late/best): $(tail -n 5 late.log)"
# A queue that the checkpoint does not fit is refused.
cp -r out-1 other
expect 65 'objectives/moco/queue' xlm_train all.conf --set train.output=other --set 'objective moco.queue=32' --set train.steps=9

# ---- alone: gradients from a full queue; memory of a pass, with a queue that is much of it ----
{ sed -n '1,/^.stream text/p' base.conf | sed '$d'; sed -n '/^.stream pairs/,/^$/p' base.conf; printf '%b' "$section"; } >moco.conf
# (a model of some hundred steps: of a fresh one all is lost in rounding)
set -- --set train.output=moco --set 'objective moco.queue=24' --set train.steps=300 --set train.learning_rate=5e-3 \
    --set train.checkpoint_every=0 --set train.evaluate_every=0
logged moco.log ranks 1 xlm_train moco.conf "$@"
right_gradients moco.conf "$@"
# (A pass without such options is in tests/cli/estimates.sh.)
for more in '--set train.recompute=true' '--set model.dropout=0 --set model.hidden_size=64'; do
    # shellcheck disable=SC2086 # options are words
    trained moco.conf memory 1 $more --set train.steps=33 --set train.micro_batches=1 --set 'stream pairs.batch=64' \
        --set 'stream pairs.length=24' --set 'objective moco.queue=2048' --resume never
    estimated memory.log
done

# ---- a plan, for which all ranks compute the same micro-batch: its keys are appended once ----
ranks 2 xlm_train all.conf --plan --ranks=1,2 --set train.output=none >plan.txt 2>plan.log || fail "plan: $(tail -n 3 plan.log)"
[ "$(awk '$1 == 1 || $1 == 2 { print $1 }' plan.txt | paste -s -d ' ')" = '1 2' ] || fail "plan: $(cat plan.txt)"

# ---- memory: one copy of the queue is there already when what is needed is compared with what is left ----
# fits KIB [OPTION...]: the job, in so much address space. AddressSanitizer maps terabytes.
fits() { (ulimit -v "$1" && xlm_train all.conf --dry-run --set train.output=none "${@:2}") >fits.log 2>&1; }
if [ "${XLM_SANITIZERS-}" != yes ]; then
    too_little=100000 least=6500000
    fits $least || fail "$least KiB are too little: $(tail -n 3 fits.log)"
    while [ $((least - too_little)) -gt 16000 ]; do
        middle=$(((least + too_little) / 2))
        if fits $middle; then least=$middle; else too_little=$middle; fi
    done
    queue=$((1 << 18)) # KiB: 2^20 keys of 64 numbers
    fits $((least + 5 * queue / 2)) --set 'objective moco.queue=1048576' --set 'objective moco.projection=64' ||
        fail "a queue of 0.25 GiB, of which there are two copies, in 0.62 GiB: $(tail -n 3 fits.log)"
    # Where there is no room for the copy, that is said before one is made.
    ! fits $((least + 3 * queue / 4)) --set 'objective moco.queue=1048576' --set 'objective moco.projection=64' &&
        grep -q "^xlm_train: a rank of the job needs about .* GiB left on $(uname -n);" fits.log ||
        fail "a queue of 0.25 GiB, of which there are two copies, in 0.19 GiB: $(tail -n 3 fits.log)"
fi

# ---- what is refused, or warned of, before training ----
# Its metrics and its loss are of all languages together.
for name in moco/accuracy/xx moco/loss/en moco/perplexity; do
    expect 78 "choose_by = $name: .* there are loss, .*, moco/loss, moco/accuracy, moco/key_norm; .* of mlm, tlm also .*en, xx\$" \
        xlm_train best.conf --set evaluate.choose_by=$name --set train.output=none --dry-run
done
{ cat moco.conf; printf '[evaluate]\nchoose_by = moco/accuracy/xx\n'; } >alone.conf
expect 78 'choose_by = moco/accuracy/xx: .* there are loss, moco/loss, moco/accuracy, moco/key_norm$' \
    xlm_train alone.conf --set train.output=none --dry-run
expect 78 'objective moco.: queue = 7, but a step of .stream pairs. has 8 keys' xlm_train all.conf \
    --set 'objective moco.queue=7' --set train.output=none
expect 78 'objective moco.: .*stream text. has none; set type = parallel' xlm_train all.conf --set 'objective moco.stream=text' \
    --set train.output=none
expect 78 'objective moco.: layer = 3, but the model has 2' xlm_train all.conf --set 'objective moco.layer=3' --set train.output=none
expect 0 'objective moco.: sources are always queries' xlm_train all.conf --set 'stream pairs.shuffle_sides=false' --dry-run
expect 0 'objective moco.: a sequence of its stream can hold several pairs' xlm_train all.conf --set 'stream pairs.form=xlm' --dry-run
[ ! -e none ] || fail "something was written"
finish
