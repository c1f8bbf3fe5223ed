/* xlm-mpi: one vector for each sequence, from a layer of the model. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/sentence_vectors.h"

#include <string.h>

#include "objective/views.h"
#include "stream/example_passes.h"
#include "tensor/parameters.h"

static const char *const names[XLM_POOLINGS] = {
    [XLM_POOL_MEAN] = "mean", [XLM_POOL_FIRST] = "first", [XLM_POOL_MAX] = "max"};

const char *xlm_pooling_name(int pooling) { return names[pooling]; }

bool xlm_pooling_find(const char *text, int otherwise, int *pooling, GError **error)
{
    *pooling = otherwise;
    for (int p = 0; p < XLM_POOLINGS && text != NULL; p++)
        if (strcmp(text, names[p]) == 0) {
            *pooling = p;
            return true;
        }
    return text == NULL || xlm_error_set(error, EX_USAGE, "--pooling=%s: it is mean, first or max", text);
}

/* The row of the first subword of a sequence: after <s>, and the token of the language if there is one. */
static int64_t first_subword(const xlm_text *text, int64_t sequence)
{
    const int64_t row = text->offsets[sequence] + 1;
    return row + xlm_is_language_token(text->specials, text->ids[row]);
}

void xlm_sentence_pool(int pooling, const xlm_var *h, const xlm_text *text, int64_t sequence, bool special_tokens, xlm_real *x,
                       double *y)
{
    const int64_t d = xlm_var_cols(h), first = special_tokens ? text->offsets[sequence] : first_subword(text, sequence);
    int64_t end = text->offsets[sequence + 1] - !special_tokens;
    if (pooling == XLM_POOL_FIRST)
        end = MIN(end, first + 1);
    for (int64_t row = first; row < end; row++) {
        xlm_var_read(h, row, 1, x);
        for (int64_t c = 0; c < d; c++)
            if (pooling == XLM_POOL_MAX)
                y[c] = row == first ? (double)x[c] : MAX(y[c], (double)x[c]);
            else
                y[c] += (double)x[c];
    }
    for (int64_t c = 0; c < d && pooling == XLM_POOL_MEAN && end > first; c++)
        y[c] /= (double)(end - first);
}

/* The vectors of all passes. */
typedef struct sentence_sums {
    const xlm_sentence_encoder *encoder;
    float *vectors; /* [examples x d] of all examples; 0 for those of other ranks */
} sentence_sums;

static void encode_run(void *data, const xlm_example_run *run)
{
    const sentence_sums *v = data;
    const xlm_sentence_encoder *e = v->encoder;
    const int64_t d = xlm_model_get_config(e->model)->hidden_size;
    xlm_tape_begin(e->tape, NULL, false, 0, 0);
    const xlm_var *h = xlm_encode_view(e->model, e->tape, run->batch, &(xlm_view){.layer = e->layer});
    xlm_real *x = XLM_TAKE(run->arena, xlm_real, d);
    double *y = XLM_TAKE(run->arena, double, d);
    for (int64_t i = 0; i < run->n; i++) {
        memset(y, 0, sizeof *y * (size_t)d);
        xlm_sentence_pool(e->pooling, h, &run->batch->corrupted, i, e->special_tokens, x, y);
        for (int64_t c = 0; c < d; c++)
            v->vectors[(run->first + i) * d + c] = (float)y[c];
    }
}

/* Bring the vectors of all ranks together, some at a time, for as doubles they take twice the memory. */
static void merge(const xlm_comm *comm, int64_t n, float *vectors)
{
    enum { AT_ONCE = 1 << 20 };
    g_autofree double *some = g_new(double, MIN(MAX(n, 1), AT_ONCE));
    for (int64_t first = 0; first < n && comm->ranks > 1; first += AT_ONCE) {
        const int64_t now = MIN(AT_ONCE, n - first);
        for (int64_t i = 0; i < now; i++)
            some[i] = (double)vectors[first + i];
        xlm_comm_merge_double(comm, some, now);
        for (int64_t i = 0; i < now; i++)
            vectors[first + i] = (float)some[i];
    }
}

bool xlm_sentence_vectors(const xlm_sentence_encoder *encoder, const xlm_examples *examples, float *vectors, GError **error)
{
    const int64_t size = xlm_examples_count(examples) * xlm_model_get_config(encoder->model)->hidden_size;
    memset(vectors, 0, sizeof *vectors * (size_t)size);
    const bool good = xlm_examples_pass_over(encoder->comm, examples, encoder->progress, encode_run,
                                             &(sentence_sums){.encoder = encoder, .vectors = vectors}, error);
    if (good)
        merge(encoder->comm, size, vectors);
    return good;
}
