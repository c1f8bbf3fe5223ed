#!/usr/bin/env bash
# xlm-mpi: what a checkpoint names is not loaded: plugins, objectives and stages, come from the user's own job file alone.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source=tests/small.sh
. "$XLM_SOURCE/tests/small.sh"
small_corpus

# A plugin that leaves a file when it is loaded.
cat >stranger.c <<'C'
#include <xlm/loss.h>
#include <stdio.h>
__attribute__((constructor)) static void loaded(void)
{
    FILE *file = fopen("LOADED", "w");
    if (file != NULL)
        fclose(file);
}
static const xlm_view masked = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED, .gradient = true,
                                .dropout = true};
static void declare(xlm_loss *self, xlm_declaration *declaration)
{
    (void)self;
    xlm_declare_view(declaration, &masked);
}
static xlm_var *loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    (void)self;
    return xlm_mean(tape, xlm_pass_view(pass, 0)->states);
}
const xlm_loss_class xlm_loss_stranger = {.abi = XLM_LOSS_ABI, .name = "stranger", .summary = "leave a file",
                                          .needs_stream = true, .declare = declare, .loss = loss};
C
compile_plugin stranger -std=gnu11
plugin=$PWD/stranger.so
# A stage that does the same.
{ sed '/^static const xlm_view/,$d; s/loss\.h/stage.h/; s/"LOADED"/"STAGED"/' stranger.c; cat <<'C'; } >strange-stage.c
static void apply(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_batch *batch)
{
    (void)self, (void)pass, (void)batch;
}
const xlm_stage_plugin xlm_stage_strange_stage = {.abi = XLM_STAGE_ABI, .name = "strange", .summary = "leave a file", .apply = apply};
C
compile_plugin strange-stage -std=gnu11
{ cat job.conf; printf '\n[objective stranger]\nplugin = %s\nstream = text\n' "$plugin"
    printf '\n[stage strange]\nplugin = %s\nstream = text\n' "$PWD/strange-stage.so"; } >stranger.conf
trained stranger.conf theirs 1 --set train.steps=4 --set train.checkpoint_every=2
[ -e LOADED ] && [ -e STAGED ] || fail "a plugin leaves no file when it is loaded"
rm -f LOADED STAGED
h5dump -a /job/text theirs/latest >text.txt
grep -q -F "plugin = $plugin" text.txt && grep -q -F "plugin = $PWD/strange-stage.so" text.txt ||
    fail "the checkpoint does not name the plugins"

# innocent NAME COMMAND...: it succeeds, and loads nothing.
innocent() {
    local name=$1
    shift
    logged "$name.log" "$@"
    [ ! -e LOADED ] && [ ! -e STAGED ] || fail "$name loads a plugin that a checkpoint names"
    rm -f LOADED STAGED
}
# Resumed by a job of one's own, from the checkpoint by name, from the newest in its directory, and from what killed ranks left.
innocent resume ranks 2 xlm_train job.conf --set train.output=mine --set train.steps=5 --resume theirs/latest
grep -q '\[objective stranger\]: section removed' resume.log || fail "the change is not listed: $(cat resume.log)"
innocent directory ranks 1 xlm_train job.conf --set train.output=theirs --set train.steps=5 --set train.seed=1
grep -q '\[objective stranger\]: section removed' directory.log || fail "the change is not listed: $(cat directory.log)"
grep -q '\[stage strange\]: section removed' directory.log || fail "the stage is not listed: $(cat directory.log)"
# An objective of the same name with another plugin: its keys are compared as they are written.
sed 's/^\[objective mlm\]/[objective stranger]\nplugin = mlm/' job.conf >same.conf
innocent same ranks 1 xlm_train same.conf --set train.output=mine2 --set train.steps=5 --resume "theirs/$(checkpoint 4)"
grep -q -F "[objective stranger] plugin: $plugin -> mlm" same.log || fail "the change is not listed: $(cat same.log)"
# The job itself still loads what it names.
trained stranger.conf theirs2 1 --set train.steps=1
[ -e LOADED ] && [ -e STAGED ] || fail "a job does not load its plugins"
rm -f LOADED STAGED

# Programs that read models and runs.
rm -rf theirs && cp -r theirs2 theirs && rm -f theirs/job.conf # so that the text in the checkpoint is what is read
innocent start ranks 1 xlm_train job.conf --set train.output=started --set train.steps=1 --set train.start=theirs/latest
innocent fill xlm_fill theirs/latest --language en 'the <mask> sees .'
innocent compare xlm_compare theirs mine
{ cat stranger.conf; printf '\n[objective seq2seq]\nstream = pairs\n'; } >decoder.conf
trained decoder.conf decodes 1 --set train.steps=1 --set model.decoder_layers=1
rm -f LOADED STAGED decodes/job.conf
head -n 2 text.en >few.txt
innocent translate xlm_translate decodes/latest --from en --to xx --max-length 0,2 few.txt
innocent embed xlm_embed retrieval theirs/latest corpus.h5
phrases text.en >tags.tsv
cat >tune.conf <<JOB
[tune]
model = theirs/latest
train = tags.tsv
dev = tags.tsv
language = en
output = tag
epochs = 1
batch = 16
length = 24

[task tagging]
JOB
head -n 400 tags.tsv >few.tsv && mv few.tsv tags.tsv && echo >>tags.tsv
innocent tune xlm_tune tune.conf
innocent eval xlm_eval tag/latest --language en --test tags.tsv
if command -v gnuplot >/dev/null; then
    innocent report xlm_report theirs mine -o report.html
fi
finish
