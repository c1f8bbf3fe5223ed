/* xlm-mpi: sentence alignment by momentum contrast (PPA, Pan et al. 2021; MoCo, He et al. 2020).
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * One side of each pair is the query, the other its key; the stream draws which (shuffle_sides = true):
 *
 *     h = H[L] of <s> / |H[L] of <s>|,   z = W2 ReLU(W1 h)            W1: d x d, W2: k x d, without biases
 *     L = −(1/n) Σ_i log [exp(z_i·z⁺_i/τ) / (exp(z_i·z⁺_i/τ) + Σ_j exp(z_i·q_j/τ))]
 *
 * z_i is computed from the query side with the model, z⁺_i from the key side with its momentum average, without gradient and
 * without dropout; W1 and W2 have averages too. q_j are the last `queue` keys of earlier steps: a ring buffer, to which the keys
 * of a step are appended in the order of the instances, the same on every rank. z is not normalised (equation 2 of PPA). With
 * `normalise = true` it is divided by its norm, as in MoCo: then dot products are cosines, and a key cannot have the highest one
 * only because of its norm, which changes from step to step.
 *
 * The queue is empty at first: the loss of the first step, without negatives, is 0, and it rises as the queue fills. With
 * `queue_start = random` it is full at first, as in PPA (section 2) and in MoCo's code, of Q random vectors of norm 1, which keys
 * replace, the first one first. */
#include <xlm/loss.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct moco {
    int64_t size, width, layer;   /* Q keys of k numbers; layer of the states */
    double temperature, momentum;
    bool normalise;
    int64_t start;                /* of the queue */
    void *memory;                 /* of the queue */
    xlm_real *queue;              /* [Q x k] key number i, counted from the first, is in row i mod Q */
    int64_t appended;             /* number of keys so far, including random ones; any number, if a checkpoint says so */
};

static const xlm_option moco_options[] = {
    {"queue", XLM_OPTION_INT, "32000", 1, 1 << 24, NULL, "number of keys of earlier steps that serve as negatives",
     offsetof(struct moco, size)},
    {"queue_start", XLM_OPTION_CHOICE, "empty", 0, 0, "empty|random",
     "what the queue contains at first: nothing, so that the first step has no negatives and a loss of 0; or as many random "
     "vectors of norm 1 as it can hold (MoCo), which keys replace",
     offsetof(struct moco, start)},
    {"temperature", XLM_OPTION_REAL, "0.05", 1e-4, 1e4, NULL, "tau: dot products are divided by it",
     offsetof(struct moco, temperature)},
    {"momentum", XLM_OPTION_REAL, "0.999", 0, 0.999999, NULL,
     "m of the average a of the weights p that computes the keys: a = m a + (1 - m) p after each update",
     offsetof(struct moco, momentum)},
    {"projection", XLM_OPTION_INT, "300", 1, 1 << 16, NULL, "width of keys and queries", offsetof(struct moco, width)},
    {"normalise", XLM_OPTION_FLAG, "false", 0, 0, NULL, "divide keys and queries by their norms (MoCo; PPA does not)",
     offsetof(struct moco, normalise)},
    {"layer", XLM_OPTION_INT, "-1", -1, 1000, NULL, "layer whose state of <s> represents the sentence; -1: the last",
     offsetof(struct moco, layer)},
    XLM_OPTION_END,
};

enum { EMPTY, RANDOM }; /* queue_start */
enum { QUERY, KEY };
static const char HIDDEN[] = "projection/hidden/weight", OUTPUT[] = "projection/output/weight";

/* Warns of properties of the stream that are allowed but not as in the paper. */
static void warn(const xlm_loss_stream *stream, char *message, size_t size)
{
    const bool fixed = stream->parallel && !stream->drawn_sides, several = stream->parallel && stream->several_pairs;
    snprintf(message, size, "%s%s%s",
             fixed ? "sources are always queries and targets keys; the paper draws which (shuffle_sides = true in its stream)"
                   : "",
             fixed && several ? "; " : "",
             several ? "a sequence of its stream can hold several pairs, of which <s> is the sentence (form = bert has one)"
                     : "");
}

static double norm(const xlm_real *x, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

/* Directions drawn uniformly: normal vectors divided by their norms. */
static void fill(const xlm_loss *self, struct moco *moco)
{
    xlm_loss_normal(self, 0, moco->size * moco->width, moco->queue);
    for (int64_t i = 0; i < moco->size; i++) {
        xlm_real *key = moco->queue + i * moco->width;
        const double length = norm(key, moco->width);
        for (int64_t c = 0; c < moco->width && length > 0; c++)
            key[c] = (xlm_real)((double)key[c] / length);
    }
    moco->appended = moco->size;
}

/* A checkpoint can have any number, which is taken as one without a sign, so that rows are always those of the queue. */
static int64_t next_row(const struct moco *moco) { return (int64_t)((uint64_t)moco->appended % (uint64_t)moco->size); }

static int64_t filled_rows(const struct moco *moco)
{
    return (uint64_t)moco->appended < (uint64_t)moco->size ? moco->appended : moco->size;
}

static bool moco_open(xlm_loss *self, char *message, size_t size)
{
    struct moco *moco = self->state;
    const xlm_loss_stream *stream = self->stream;
    if (stream->batch > moco->size) {
        snprintf(message, size, "queue = %lld, but a step of [stream %s] has %lld keys; set queue to no less than batch",
                 (long long)moco->size, stream->name, (long long)stream->batch);
        return false;
    }
    const size_t bytes = sizeof *moco->queue * (size_t)(moco->size * moco->width), line = 64;
    /* An empty queue takes no memory before it is used: the host looks first whether there is enough. */
    moco->memory = calloc(1, bytes + line);
    if (moco->memory == NULL) {
        snprintf(message, size, "no memory for a queue of %lld x %lld numbers; lower queue or projection",
                 (long long)moco->size, (long long)moco->width);
        return false;
    }
    moco->queue = (xlm_real *)(((uintptr_t)moco->memory + line - 1) / line * line);
    if (moco->start == RANDOM)
        fill(self, moco);
    warn(stream, message, size);
    return true;
}

static void moco_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct moco *moco = self->state;
    const int64_t d = self->setup->model->hidden_size, layer = moco->layer < 0 ? XLM_TOP_LAYER : moco->layer;
    const xlm_view query = {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_FIRST, .layer = layer, .rows = XLM_ROWS_FIRST,
                            .gradient = true, .dropout = true};
    const xlm_view key = {.text = XLM_TEXT_ORIGINAL, .side = XLM_SIDE_SECOND, .weights = XLM_WEIGHTS_AVERAGED, .layer = layer,
                          .rows = XLM_ROWS_FIRST};
    xlm_declare_view(declaration, &query);
    xlm_declare_view(declaration, &key);
    xlm_declare_average(declaration, moco->momentum);
    xlm_declare_weight(declaration, HIDDEN, d, d);
    xlm_declare_weight(declaration, OUTPUT, moco->width, d);
    xlm_declare_state(declaration, "queue", XLM_STATE_REAL, moco->queue, moco->size * moco->width);
    xlm_declare_state(declaration, "appended", XLM_STATE_I64, &moco->appended, 1);
    xlm_declare_publish(declaration, sizeof(xlm_real) * (size_t)moco->width);
    xlm_declare_metric(declaration, "accuracy");
    xlm_declare_metric(declaration, "key_norm");
}

/* z, n x k. states: n x d, those of <s>. */
static xlm_var *project(const struct moco *moco, xlm_tape *tape, xlm_var *states, xlm_var *hidden, xlm_var *output)
{
    xlm_var *z = xlm_linear(tape, xlm_relu(tape, xlm_linear(tape, xlm_row_normalise(tape, states), hidden, NULL)), output, NULL);
    return moco->normalise ? xlm_row_normalise(tape, z) : z;
}

/* Computes, keeps and publishes the keys, [S x k]. */
static int64_t moco_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct moco *moco = self->state;
    const int32_t n = pass->batch->corrupted.sequences;
    const xlm_var *z = project(moco, tape, xlm_pass_view(pass, KEY)->states, xlm_loss_averaged_param(self, tape, HIDDEN),
                               xlm_loss_averaged_param(self, tape, OUTPUT));
    xlm_real *keys = xlm_pass_keep(pass, sizeof *keys * (uint64_t)(n * moco->width));
    xlm_var_read(z, 0, n, keys);
    for (int32_t s = 0; s < n; s++)
        xlm_pass_publish(pass, s, keys + s * moco->width);
    return n;
}

static xlm_var *moco_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct moco *moco = self->state;
    const int32_t n = pass->batch->corrupted.sequences;
    const int64_t k = moco->width, filled = filled_rows(moco);
    const xlm_real *keys = pass->labels;
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    xlm_var *z = project(moco, tape, xlm_pass_view(pass, QUERY)->states, xlm_loss_param(self, tape, HIDDEN),
                         xlm_loss_param(self, tape, OUTPUT));
    xlm_var *mean = xlm_info_nce(tape, z, xlm_constant(tape, n, k, keys), xlm_constant_in_place(tape, filled, k, moco->queue),
                                 moco->temperature, scores);
    for (int32_t s = 0; s < n; s++) {
        xlm_loss_metric(self, "key_norm", norm(keys + s * k, k), 1);
        if (filled > 0) /* without negatives, every positive would be the best */
            xlm_loss_metric(self, "accuracy", scores[s].correct, 1);
    }
    return mean;
}

static void moco_publish(xlm_loss *self, const xlm_published *published)
{
    struct moco *moco = self->state;
    const xlm_real *keys = published->values;
    for (int64_t i = 0; i < published->rows; i++) {
        memcpy(moco->queue + next_row(moco) * moco->width, keys + i * moco->width, published->bytes);
        moco->appended = (int64_t)(((uint64_t)moco->appended + 1) & INT64_MAX);
    }
}

static void moco_close(xlm_loss *self)
{
    struct moco *moco = self->state;
    free(moco->memory);
    moco->memory = moco->queue = NULL;
}

const xlm_loss_class xlm_loss_moco = {
    .abi = XLM_LOSS_ABI,
    .name = "moco",
    .summary = "a sentence finds its translation, encoded by a momentum encoder, among those of earlier steps (PPA)",
    .needs_stream = true,
    .options = moco_options,
    .state_size = sizeof(struct moco),
    .open = moco_open,
    .declare = moco_declare,
    .label = moco_label,
    .loss = moco_loss,
    .publish = moco_publish,
    .close = moco_close,
};
