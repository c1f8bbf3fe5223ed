/* xlm-mpi: an objective from outside, for tests: a momentum encoder and a queue. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * InfoNCE of the first side of a pair, in the model, against the second side, in its momentum average, with the keys of former
 * steps as negatives (He et al. 2020). The queue is the same on all ranks: each receives the keys of all. */
#include <xlm/loss.h>

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 8, QUEUE_ROWS = 64 };

struct contrast {
    double momentum, temperature;
    xlm_real queue[QUEUE_ROWS * WIDTH];
    int64_t place[2]; /* rows written so far, steps */
    double sum;       /* of all keys there were */
};

static const xlm_option contrast_options[] = {
    {"momentum", XLM_OPTION_REAL, "0.9", 0, 0.9999, NULL, "of the average", offsetof(struct contrast, momentum)},
    {"temperature", XLM_OPTION_REAL, "0.2", 0.01, 10, NULL, "cosines are divided by it", offsetof(struct contrast, temperature)},
    XLM_OPTION_END,
};

enum { QUERY, KEY };

static void contrast_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct contrast *contrast = self->state;
    const xlm_view query = {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_FIRST, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_FIRST,
                            .gradient = true,
                            .dropout = true};
    const xlm_view key = {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_SECOND, .weights = XLM_WEIGHTS_AVERAGED, .layer = XLM_TOP_LAYER,
                          .rows = XLM_ROWS_FIRST};
    xlm_declare_view(declaration, &query);
    xlm_declare_view(declaration, &key);
    xlm_declare_average(declaration, contrast->momentum);
    xlm_declare_weight(declaration, "projection", WIDTH, self->setup->model->hidden_size);
    xlm_declare_state(declaration, "queue", XLM_STATE_REAL, contrast->queue, QUEUE_ROWS * WIDTH);
    xlm_declare_state(declaration, "place", XLM_STATE_I64, contrast->place, 2);
    xlm_declare_state(declaration, "sum", XLM_STATE_F64, &contrast->sum, 1);
    xlm_declare_publish(declaration, sizeof(xlm_real) * WIDTH);
    xlm_declare_metric(declaration, "accuracy");
}

/* Keys of norm 1, [S x WIDTH]. */
static int64_t contrast_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const int32_t n = pass->batch->corrupted.sequences;
    xlm_var *z = xlm_linear(tape, xlm_pass_view(pass, KEY)->states, xlm_loss_averaged_param(self, tape, "projection"), NULL);
    xlm_real *keys = xlm_pass_keep(pass, sizeof *keys * (uint64_t)(n * WIDTH));
    xlm_var_read(xlm_row_normalise(tape, z), 0, n, keys);
    for (int32_t s = 0; s < n; s++)
        xlm_pass_publish(pass, s, keys + s * WIDTH);
    return n;
}

static xlm_var *contrast_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct contrast *contrast = self->state;
    const int32_t n = pass->batch->corrupted.sequences;
    /* A checkpoint can be anyone's: the place may be any number. */
    const int64_t negatives = (uint64_t)contrast->place[0] < QUEUE_ROWS ? contrast->place[0] : QUEUE_ROWS;
    xlm_real *queue = xlm_tape_take(tape, sizeof *queue * QUEUE_ROWS * WIDTH);
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    for (int i = 0; i < QUEUE_ROWS * WIDTH; i++)
        queue[i] = contrast->queue[i];
    xlm_var *q = xlm_linear(tape, xlm_pass_view(pass, QUERY)->states, xlm_loss_param(self, tape, "projection"), NULL);
    xlm_var *mean = xlm_info_nce(tape, xlm_row_normalise(tape, q), xlm_constant(tape, n, WIDTH, pass->labels),
                                 xlm_constant(tape, negatives, WIDTH, queue), contrast->temperature, scores);
    for (int32_t s = 0; s < n; s++)
        xlm_loss_metric(self, "accuracy", scores[s].correct, 1);
    return mean;
}

static void contrast_publish(xlm_loss *self, const xlm_published *published)
{
    struct contrast *contrast = self->state;
    const xlm_real *keys = published->values;
    for (int64_t i = 0; i < published->rows; i++) {
        if (published->bytes != sizeof *keys * WIDTH || (i > 0 && published->instances[i] <= published->instances[i - 1]))
            abort();
        memcpy(contrast->queue + (uint64_t)contrast->place[0] % QUEUE_ROWS * WIDTH, keys + i * WIDTH, published->bytes);
        contrast->place[0] = (int64_t)(((uint64_t)contrast->place[0] + 1) & INT64_MAX);
        for (int c = 0; c < WIDTH; c++)
            contrast->sum += (double)keys[i * WIDTH + c];
    }
}

static void contrast_after_update(xlm_loss *self, int64_t step)
{
    struct contrast *contrast = self->state;
    contrast->place[1] = step + 1;
}

const xlm_loss_class xlm_loss_contrast = {
    .abi = XLM_LOSS_ABI,
    .name = "contrast",
    .summary = "a sentence finds its translation among former ones (MoCo)",
    .needs_stream = true,
    .options = contrast_options,
    .state_size = sizeof(struct contrast),
    .declare = contrast_declare,
    .label = contrast_label,
    .loss = contrast_loss,
    .publish = contrast_publish,
    .after_update = contrast_after_update,
};
