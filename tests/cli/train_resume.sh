#!/usr/bin/env bash
# xlm-mpi: stopping and going on. SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
long
small_corpus

train() { # RANKS OUTPUT [OPTION...]
    local n=$1 output=$2
    shift 2
    ranks "$n" xlm_train job.conf --set "train.output=$output" "$@"
}

# From a checkpoint at step 60 runs on 1 and 4 ranks go on like the run on 2 that never stopped; on 2 ranks others do below.
trained job.conf whole 2 --set train.checkpoint_every=60
resumes job.conf whole 1 4
# There is nothing left to do, and nothing is done.
rows whole >rows.txt
train 2 whole >again.log 2>&1 || fail "a finished run started again: $(tail -n 3 again.log)"
grep -q 'nothing to do' again.log && cmp rows.txt <(rows whole) || fail "a finished run started again: $(cat again.log)"

# Stopped in the middle by a signal, to mpiexec (which hands SIGUSR1 on) or to one rank alone, and resumed. An evaluation that is due
# is left for when the run goes on if the signal comes in the step before it, which cannot be timed: its rows are removed.
for signal in USR1 TERM INT; do
    start 2 xlm_train job.conf --set "train.output=$signal" --set train.steps=100000 \
        --set train.schedule=constant --set train.evaluate_every=1 \
        --resume "$([ $signal = INT ] && echo never || echo auto)" >"$signal.log" 2>&1
    until_true has_steps "$signal" 5
    case $signal in
    USR1) kill -USR1 "$launcher" ;;
    TERM) kill -TERM "$(rank_processes | tail -n 1)" ;;
    INT) kill -INT "$(rank_processes | head -n 1)" ;;
    esac
    ended
    [ "$code" -eq 75 ] || fail "SIG$signal: exit code $code instead of 75: $(tail -n 3 "$signal.log")"
    # With --resume never the same command would begin anew.
    with=$([ $signal != INT ] || echo ' without --resume')
    grep -q "stopped by a signal at step [0-9]*; the same command$with resumes from there" "$signal.log" &&
        grep -q "a checkpoint is written, from which the same command$with continues" "$signal.log" ||
        fail "SIG$signal: $(grep 'command' "$signal.log")"
    step=$(last_step "$signal")
    [ "$(readlink "$signal/latest")" = "$(checkpoint "$step")" ] ||
        fail "SIG$signal: last step is $step, latest is $(readlink "$signal/latest")"
done
step=$(last_step TERM)
sed -i "/^$step,held_out,/d" TERM/metrics.csv
all=(--set train.steps=$((step + 5)) --set train.schedule=constant --set train.evaluate_every=1)
logged TERM.log train 1 TERM "${all[@]}"
logged through.log train 2 through "${all[@]}"
same_bits through TERM

# The newest K are kept.
logged kept.log train 1 kept --set train.steps=25 --set train.checkpoint_every=5 --set train.keep=2
[ "$(cd kept && echo checkpoint-*)" = "$(checkpoint 20) $(checkpoint 25)" ] || fail "kept: $(ls kept)"

# A damaged checkpoint is named and moved aside, and the one before it is taken.
cp -r kept cut
truncate -s 20000 "cut/$(checkpoint 25)"
cp -r kept flipped
printf 'damage' | dd of="flipped/$(checkpoint 25)" bs=1 seek=$(($(stat -c %s "flipped/$(checkpoint 25)") / 2)) conv=notrunc \
    2>/dev/null
for damaged in cut flipped; do
    logged $damaged.log train 2 $damaged --set train.steps=27
    grep -q "warning: .*$(checkpoint 25).*trying the checkpoint before" $damaged.log ||
        fail "$damaged: the damaged file is not named: $(head -n 8 $damaged.log)"
    grep -q 'resumed from .* at step 20' $damaged.log || fail "$damaged: did not resume from step 20: $(head -n 8 $damaged.log)"
    [ -e "$damaged/previous-1/$(checkpoint 25)" ] || fail "$damaged: not moved aside: $(ls -R $damaged)"
    [ "$(readlink $damaged/latest)" = "$(checkpoint 27)" ] || fail "$damaged: latest points at $(readlink $damaged/latest)"
done
cp -r kept lost
for file in lost/checkpoint-*; do truncate -s 100 "$file"; done
expect 65 "none of its 2 checkpoints is good" train 2 lost --set train.steps=27
[ "$(cd lost && echo *)" = "$(cd kept && echo *)" ] || fail "a run that could not start changed its directory: $(ls lost)"

# A file asked for by name must be good, and there.
expect 65 "$(checkpoint 25)" train 2 other --resume "lost/$(checkpoint 25)"
expect 66 'nothing.h5' train 2 other --resume nothing.h5
expect 65 'not a checkpoint' train 2 other --resume corpus.h5
# By name it may come from another directory; an earlier one than the newest takes the later ones out of the way.
logged other.log train 1 other --resume "whole/$(checkpoint 60)" --set train.steps=61
grep -q 'resumed from whole/.* at step 60' other.log || fail "--resume FILE: $(cat other.log)"
# It has a checkpoint before the first step, from which a later start goes on; also if no step is left to do.
[ "$(cd other && echo checkpoint-*)" = "$(checkpoint 60) $(checkpoint 61)" ] &&
    [ "$(digest "other/$(checkpoint 60)")" = "$(digest "whole/$(checkpoint 60)")" ] || fail "--resume FILE: $(ls other)"
logged ended.log train 2 ended --resume "whole/$(checkpoint 60)" --set train.steps=60
logged ended.log train 1 ended --set train.steps=61
grep -q 'resumed from ended/.* at step 60' ended.log || fail "not gone on with: $(cat ended.log)"
same_bits other ended
cp -r kept back
logged back.log train 1 back --resume "back/$(checkpoint 20)" --set train.steps=21
[ -e "back/previous-1/$(checkpoint 25)" ] && [ "$(readlink back/latest)" = "$(checkpoint 21)" ] ||
    fail "--resume FILE: $(ls -lR back)"

only_in_check_all

# One from elsewhere is of another course than all that are there, which go aside with their rows.
cp -r kept course
logged course.log train 1 course --resume "whole/$(checkpoint 60)" --set train.steps=61 --set train.checkpoint_every=0
[ -e "course/previous-1/$(checkpoint 20)" ] && [ -e course/previous-1/metrics.csv ] &&
    [ "$(cd course && echo checkpoint-*)" = "$(checkpoint 60) $(checkpoint 61)" ] || fail "another course: $(ls -R course)"
# Also if no checkpoint is there to be moved. (A run without one that is begun again by the same command moves nothing.)
cp -r kept alone
rm alone/checkpoint-* alone/latest
logged alone.log train 2 alone --resume "whole/$(checkpoint 60)" --set train.steps=62 --set train.checkpoint_every=0
[ "$(losses alone | cut -d' ' -f1 | tr '\n' ' ')" = '61 62 ' ] || fail "rows of the course before: $(losses alone)"
cmp <(rows kept) <(rows alone/previous-1) && [ -e alone/previous-1/job.conf ] || fail "the rows before are lost: $(ls -R alone)"
rm alone/checkpoint-* alone/latest
logged alone.log train 1 alone --set train.steps=1
[ ! -e alone/previous-2 ] && [ "$(losses alone | wc -l)" -eq 1 ] || fail "begun again: $(ls -R alone)"
# A checkpoint that has gone into an archive, with a link in its place, is still one of the directory's own, by either name.
mkdir archive
for names in 'archived archived' 'by-archive archive'; do
    read -r name from <<<"$names"
    cp -r kept "$name"
    mv "$name/$(checkpoint 20)" archive
    ln -s "../archive/$(checkpoint 20)" "$name"
    logged "$name.log" train 1 "$name" --resume "$from/$(checkpoint 20)" --set train.steps=21
    [ -e "$name/previous-1/$(checkpoint 25)" ] && [ -e "$name/$(checkpoint 20)" ] && [ ! -e "$name/previous-1/metrics.csv" ] &&
        [ "$(losses "$name" | wc -l)" -eq 21 ] || fail "$name: a checkpoint in an archive: $(ls -lR "$name")"
done
# A link of another name to one elsewhere makes it none of the directory's.
cp -r kept linked
ln -s "../whole/$(checkpoint 60)" linked/begin.h5
logged linked.log train 1 linked --resume linked/begin.h5 --set train.steps=61 --set train.checkpoint_every=0
[ -e "linked/previous-1/$(checkpoint 20)" ] && [ -e linked/previous-1/metrics.csv ] || fail "a link: $(ls -lR linked)"
# `latest` is mended where a run was killed before it could set the link, also if nothing is left to do.
cp -r kept behind
ln -sfn "$(checkpoint 20)" behind/latest
: >behind/average.h5.unfinished-a1B2c3
: >behind/scores.csv.unfinished-a1B2c3
logged behind.log train 1 behind --set train.steps=25
grep -q 'nothing to do' behind.log && [ "$(readlink behind/latest)" = "$(checkpoint 25)" ] ||
    fail "latest: $(readlink behind/latest): $(cat behind.log)"
[ ! -e behind/average.h5.unfinished-a1B2c3 ] && [ -e behind/scores.csv.unfinished-a1B2c3 ] || fail "unfinished: $(ls behind)"

# Changes of the job are listed, also defaults and sections, and nothing else: the same number may be written differently.
listed() { sed -n 's/^  \(\[.*\)/\1/p' "$1"; }
cp -r kept changed
sed 's/^learning_rate = 2e-3/learning_rate = 0.0020 # as before/; /^\[objective tlm\]/,$d; /^\[stream pairs\]/,/^length/d' \
    job.conf >one.conf
printf '[objective again]\nplugin = mlm\nstream = text\n' >>one.conf
logged changed.log ranks 2 xlm_train one.conf --set train.output=changed --set train.steps=27 --set train.checkpoint_every=5 \
    --set train.keep=2 --set train.clip=0.5 --set train.optimiser=lamb
cmp <(listed changed.log | sort) <(sort <<'LIST'
[train] output: kept -> changed
[train] steps: 25 -> 27
[train] optimiser: adamw -> lamb
[train] clip: 1 -> 0.5
[stream pairs]: section removed
[objective tlm]: section removed
[objective again]: section added
LIST
) || fail "changed keys: $(listed changed.log)"
logged same.log train 1 changed --resume "kept/$(checkpoint 25)" --set train.steps=25 --set train.checkpoint_every=5 \
    --set train.keep=2
[ "$(listed same.log)" = '[train] output: kept -> changed' ] || fail "an unchanged job: $(cat same.log)"
rm -r changed

# job.conf in the output directory and the text in the checkpoint have every key, and do the same again.
for section in $(sed -n 's/^\[\([a-z]*\).*/\1/p' job.conf | sort -u); do
    xlm_train --help-job |
        awk -v s="[$section" '/^\[/ { on = index($1, s) == 1 && !/plugin =/ } on && /^  [a-z_0-9]+  / { print $1 }'
done | sort -u >keys.txt
[ "$(wc -l <keys.txt)" -gt 40 ] || fail "keys of --help-job: $(cat keys.txt)"
while read -r key; do grep -q "^$key =" kept/job.conf || fail "job.conf lacks $key"; done <keys.txt
head -n 2 kept/job.conf | grep -q 'xlm_train (xlm-mpi [0-9]' || fail "job.conf: $(head -n 2 kept/job.conf)"
settings() { sed -n 's/^ *(0): "//; s/^ *//; /^\[/p; /^[a-z_0-9]* =/p'; }
cmp <(settings <kept/job.conf) <(h5dump -a /job/text kept/latest | settings) ||
    fail "job.conf and the text in the checkpoint differ"
mv kept kept-by-hand
cp kept-by-hand/job.conf again.conf
logged kept.log ranks 2 xlm_train again.conf
same_bits kept kept-by-hand
cmp kept/job.conf again.conf || fail "a record that is run leaves another: $(diff kept/job.conf again.conf)"
rm -r kept-by-hand
# A user's own job.conf in the output directory is left alone.
mkdir own
sed 's/^output.*/output = own/; s/^steps.*/steps = 1/' job.conf >own/job.conf
cp own/job.conf own.conf
logged own.log ranks 1 xlm_train own/job.conf
cmp own/job.conf own.conf && grep -q '^clip = 1$' own/job-as-run.conf || fail "a user's job.conf: $(ls own)"

# One that is whole but of another job does not fit.
for other in model.hidden_size=64 model.layers=3 train.seed=2; do
    expect 65 'does not fit the job: .*another output directory, or --resume never$' train 1 kept --set $other \
        --set train.steps=30
    expect 65 'does not fit the job: .*; use the job that it belongs to, or another checkpoint$' train 1 kept --set $other \
        --resume kept/latest
done
# Nor does one whose parameters fit, where the model would compute something else of them: the key is named, and both values, once
# on 2 ranks too.
n=2
for key in attention_heads=4:8 layer_norm_epsilon=1e-05:1e-12 activation=gelu:gelu_tanh hidden_size=32:64 layers=2:3 \
    share_layers=false:true position_type=learned:sinusoidal head=bert:xlm; do
    values=${key#*=}
    expect 65 "does not fit the job: its model has ${key%%=*} = ${values%:*}, the job's ${values#*:};" train $n kept \
        --set "model.${key%%=*}=${values#*:}" --set train.steps=30
    once 'does not fit the job'
    n=1
done
cp -r kept dropout # and what changes no function may change
logged dropout.log train 1 dropout --set train.steps=28 --set model.dropout=0.2 --set model.attention_dropout=0
# never: the earlier run is moved aside, not deleted.
rows kept >rows.txt
logged never.log train 1 kept --resume never --set train.steps=3
[ -e "kept/previous-1/$(checkpoint 25)" ] && [ -e kept/previous-1/job.conf ] && cmp rows.txt <(rows kept/previous-1) ||
    fail "never: $(ls -R kept)"
[ "$(losses kept | cut -d' ' -f1 | tr '\n' ' ')" = '1 2 3 ' ] || fail "never did not start at step 1"

# ---- the best checkpoint by a measure of held-out text, and the patience ([evaluate] choose_by) ----
{ eight_steps 2 -e 's/^steps = .*/steps = 40\nschedule = constant/; s/^learning_rate = .*/learning_rate = 5e-2/' \
    -e 's/_every = 0/_every = 2/; s/^checkpoint_every = .*/checkpoint_every = 4\nkeep = 100/'
  printf '[evaluate]\nchoose_by = mlm/loss/en,tlm/loss\npatience = 2\n'; } | sed 's/^evaluate_every = 4/evaluate_every = 2/' >best.conf
trained best.conf best 1 --set train.tensorboard=events
# chosen DIR FIRST [PATIENCE]: the best step and the last one, by the rows of DIR from step FIRST on.
chosen() {
    join <(values "$1" held_out mlm loss en) <(values "$1" held_out tlm loss all) | awk -v first="$2" -v most="${3-2}" '
        $1 < first { next }
        !n++ || $2 + $3 < lowest { lowest = $2 + $3; best = $1; since = 0; next }
        ++since == most { last = $1; exit }
        END { print best, last ? last : $1 }'
}
read -r step last <<<"$(chosen best 2)"
[ "$(readlink best/best)" = "$(checkpoint "$step")" ] && [ "$(last_step best)" = "$last" ] && [ "$last" -lt 40 ] &&
    grep -q 'stopped early: no better score on held-out text (mlm/loss/en, tlm/loss) in 2 meas' best.log ||
    fail "best is $(readlink best/best) of $(last_step best) steps instead of $step of $last: $(grep chosen best.log)"
# The state at which the patience was over is there, too, and nothing is left to do.
trained best.conf short 1 --set train.checkpoint_every=0
[ "$(readlink short/latest)" = "$(checkpoint "$last")" ] || fail "the last state: $(ls short)"
trained best.conf short 1 --set train.checkpoint_every=0
grep -q 'nothing to do: step .* is reached, and the patience is over' short.log || fail "trained again: $(cat short.log)"
# Patience is of evaluations, whatever steps were between them.
cp -r best finer
trained best.conf finer 1 --set train.evaluate_every=1 --set evaluate.patience=4
end=$(chosen finer 2 4)
[ "${end#* }" -gt "$last" ] && [ "$(last_step finer)" = "${end#* }" ] || fail "evaluated more often: $(tail -n 3 finer.log)"
# In another directory the best one stays known, and is the checkpoint that is written before the first step.
trained best.conf elsewhere 1 --resume best/best
[ "$(readlink elsewhere/best)" = "$(checkpoint "$step")" ] && [ "$(last_step elsewhere)" = "$last" ] &&
    ! grep -q 'is gone' elsewhere.log || fail "the best one from elsewhere: $(ls -l elsewhere; grep warning elsewhere.log)"
# From the best checkpoint, whose patience has begun, and from one before it, as if the run had been killed before it was there.
for after in "$step" $((step - 1)); do
    cp -r best again
    for file in again/checkpoint-*; do [[ $file < again/$(checkpoint $((after + 1))) ]] || rm "$file"; done
    cp -r events again-events
    trained best.conf again $((1 + (after == step))) --set train.tensorboard=again-events
    same_bits best again
    [ "$(readlink again/best)" = "$(checkpoint "$step")" ] || fail "the best one of a run that was resumed: $(ls -l again)"
    # Its events are the rows, each once, in spite of the steps that the first run had made too.
    "$XLM_BUILD/tests/unit/events_test" again-events/* >events.txt || fail "events cannot be read"
    awk -F '\t|,' '
        FILENAME == "events.txt" && $2 == "start" {
            for (key in found) { split(key, k, " "); if (k[2] >= $1 + 0) delete found[key] }
            next
        }
        FILENAME == "events.txt" { doubled += ($2 " " $1) in found; found[$2 " " $1] = $3; next }
        FNR == 1 { for (i = 1; i <= NF; i++) title[i] = $i; next }
        {
            for (i = 6; i <= NF; i++) {
                name = $2 "/" $3 (title[i] == "score" ? "" : "/" title[i]) ($4 == "" || $4 == "all" ? "" : "/" $4) " " $1
                if ($i == "") continue
                d = $i - found[name]; n++
                if (!(name in found) || d * d > $i * $i * (title[i] == "seconds" ? 1e-6 : 3e-11)) {
                    print name, $i, found[name]
                    bad = 1
                }
                delete found[name]
            }
        }
        END { for (key in found) { print "no row: " key; bad = 1 } exit bad || doubled || n < 100 }
    ' events.txt again/metrics.csv >differ || fail "events and rows differ: $(head -n 3 differ)"
    rm -r again again-events
done
# Until another measure has a best score, `best` and its checkpoint stay: when there is nothing to do, when no checkpoint has a
# score, and when such a run is resumed.
cp -r best stays
# stays STEPS OPTION...: a run after which they are there.
stays() {
    trained best.conf stays 1 --set evaluate.patience=0 --set train.checkpoint_every=1 --set train.keep=1 \
        --set "train.steps=$1" "${@:2}"
    [ "$(readlink stays/best)" = "$(checkpoint "$step")" ] && [ -s stays/best ] ||
        fail "best is gone: $(ls -l stays; cat stays.log)"
}
stays "$last" --set evaluate.choose_by=mlm/accuracy
grep -q 'nothing to do' stays.log && grep -q 'the best of those to come takes its place' stays.log || fail "$(cat stays.log)"
without=(--set evaluate.choose_by=tlm/perplexity --set 'objective tlm.begin=1000')
stays $((last + 2)) "${without[@]}"
stays $((last + 3)) "${without[@]}"
ls stays/checkpoint-* | cmp - <(for s in "$step" $((last + 3)); do echo "stays/$(checkpoint "$s")"; done) ||
    fail "checkpoints: $(ls stays)"
# Another measure: scores are not compared with those of the first one. An objective that takes no part yet has no score.
trained best.conf best 1 --set evaluate.choose_by=mlm/accuracy --set train.steps=$((last + 1)) --set evaluate.patience=0
grep -q 'warning: best: the best checkpoint so far, of step .* was chosen by another measure' best.log &&
    [ "$(readlink best/best)" = "$(checkpoint $((last + 1)))" ] || fail "another measure: $(ls -l best/best; head -n 9 best.log)"
# What held-out text is, and an objective's own options, belong to it; what is about training alone does not, nor do other streams.
# unlike YES STEPS OPTION...: whether scores of the next run of the directory are not compared with those before.
unlike() {
    trained best.conf text 1 --set evaluate.choose_by=mlm/loss --set evaluate.patience=0 --set "train.steps=$2" "${@:3}"
    [ "$(grep -c 'was chosen by another measure or with other settings' text.log)" -eq "$1" ] || fail "$*: $(head -n 9 text.log)"
}
same=(--set 'stream text.mask=0:0.3,3=0.15' --set 'stream text.languages=en,xx@2' --set 'stream text.alpha=0.5'
    --set 'stream pairs.mask=0.4' --set 'objective mlm.label_smoothing=0.1')
unlike 0 4 --set 'stream text.languages=en,xx'
unlike 0 6 "${same[@]}"
unlike 1 8 "${same[@]}" --set 'stream text.mask=0:0.15,3=0.3'
unlike 1 10 "${same[@]}" --set 'stream text.mask=0.3' --set 'stream text.languages=en'
unlike 1 12 "${same[@]}" --set 'stream text.mask=0.3' --set 'stream text.languages=en' \
    --set 'objective mlm.plugin=clm'
# An objective's own option is of it too where a key of streams about training alone has the same name.
{ cat best.conf; printf '[objective dwa]\nstream = pairs\nlabel_layer = 1\n'; } >links.conf
for known in '0 2 0.9' '0 4 0.9' '1 6 0.7'; do
    read -r other steps alpha <<<"$known"
    trained links.conf links 1 --set evaluate.choose_by=dwa/loss --set evaluate.patience=0 --set "train.steps=$steps" \
        --set "objective dwa.alpha=$alpha"
    [ "$(grep -c 'was chosen by another measure or with other settings' links.log)" -eq "$other" ] ||
        fail "alpha of dwa, $known: $(head -n 9 links.log)"
done
trained best.conf late 1 --set evaluate.choose_by=tlm/perplexity --set 'objective tlm.begin=3' --set train.steps=4
[ "$(readlink late/best)" = "$(checkpoint 4)" ] && grep -q 'chosen by tlm/perplexity, step 2: -\{0,1\}nan$' late.log ||
    fail "without a score: $(grep chosen late.log; ls -l late)"
# The held-out loss of the last line is a sum, whose best is that of the evaluations since the same objectives have been summed with
# the same weights: of late those of step 4. Without any score there is no best one.
tail -n 1 late.log | grep -q '; held-out loss [0-9.]*; tlm/perplexity [0-9.]*; checkpoint' || fail "late: $(tail -n 1 late.log)"
trained best.conf none 1 --set evaluate.choose_by=tlm/perplexity --set 'objective tlm.begin=3' --set train.steps=2
tail -n 1 none.log | grep -q '; held-out loss [^;]*; tlm/perplexity -\{0,1\}nan; checkpoint' || fail "none: $(tail -n 1 none.log)"
# sum_is WEIGHT FIRST: with this weight of tlm, which is 0.5 in the evaluations from step FIRST on.
sum_is() {
    local wanted
    trained best.conf sums 1 --resume never --set evaluate.choose_by=mlm/accuracy --set 'objective tlm.begin=3' \
        --set "objective tlm.weight=$1" --set train.steps=24 --set evaluate.patience=0
    wanted=$({ values sums held_out mlm loss all; values sums held_out tlm loss all; } | awk -v first="$2" '
        !($1 in mlm) { mlm[$1] = $2; next }
        $1 < first { next }
        { last = $1; sum[last] = mlm[last] + 0.5 * $2 }
        !best || sum[last] < sum[best] { best = last }
        END { printf "%.4f", sum[last]; if (best != last) printf ", best %.4f at step %d", sum[best], best }')
    tail -n 1 sums.log | grep -q "; held-out loss $wanted; " || fail "weight $1: not $wanted: $(tail -n 1 sums.log)"
}
sum_is 0.5 4
sum_is 0:0.1,5=0.5 6
finish
