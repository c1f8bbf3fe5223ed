/* xlm-mpi: a stage from outside, for tests: it chooses what is predicted, changes the input there, and says where.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pairs of ordinary tokens that follow one another are predicted together, so that `share` of them is in the mean; the input has
 * <unk> in their place. The annotation "chosen" is 1 there and 0 elsewhere. With `file`, which must exist, it refuses to open without
 * it; with share = 1 it warns. */
#include <xlm/stage.h>

#include <stdio.h>

struct spans {
    double share;
    char *file;
};

static const xlm_option spans_options[] = {
    {"share", XLM_OPTION_REAL, NULL, 0, 1, NULL, "share of the ordinary tokens that is predicted", offsetof(struct spans, share)},
    {"file", XLM_OPTION_TEXT, "", 0, 0, NULL, "must exist when it is given", offsetof(struct spans, file)},
    XLM_OPTION_END,
};

static const xlm_stage_annotation spans_annotations[] = {{"chosen", XLM_AXIS_TOKENS}, {NULL, XLM_AXIS_TOKENS}};

static bool spans_open(xlm_stage *self, char *message, size_t size)
{
    const struct spans *spans = self->state;
    FILE *file = spans->file != NULL ? fopen(spans->file, "r") : NULL;
    if (spans->file != NULL && file == NULL) {
        snprintf(message, size, "file = %s cannot be read", spans->file);
        return false;
    }
    if (file != NULL)
        fclose(file);
    if (spans->share >= 1)
        snprintf(message, size, "share = 1 leaves nothing to predict from");
    return true;
}

static void spans_apply(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_batch *batch)
{
    const struct spans *spans = self->state;
    const xlm_text *text = &batch->batch->corrupted;
    int32_t *chosen = xlm_stage_annotate(pass, "chosen");
    for (int32_t s = 0; s < text->sequences; s++)
        for (int32_t row = text->offsets[s], next; row < text->offsets[s + 1]; row = next) {
            next = row + 2 < text->offsets[s + 1] ? row + 2 : text->offsets[s + 1];
            const bool taken = xlm_stage_uniform(pass, text->keys[row], 0) < spans->share;
            for (int32_t i = row; i < next; i++) {
                chosen[i] = taken && xlm_is_text(text->specials, text->unmasked[i]);
                if (chosen[i]) {
                    batch->predicted[i] = true;
                    batch->ids[i] = text->specials->id[XLM_UNK];
                }
            }
        }
}

static double spans_share(const xlm_stage *self)
{
    const struct spans *spans = self->state;
    return spans->share;
}

extern const xlm_stage_plugin xlm_stage_spans;
const xlm_stage_plugin xlm_stage_spans = {
    .abi = XLM_STAGE_ABI,
    .name = "spans",
    .summary = "predict pairs of tokens",
    .options = spans_options,
    .state_size = sizeof(struct spans),
    .annotations = spans_annotations,
    .open = spans_open,
    .apply = spans_apply,
    .predicted_share = spans_share,
};
