/* xlm-mpi: sequences as one vector each, out of a layer of the model. SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sentence_vectors.h"

#include "tensor/parameters.h"

/* Rows [first, end) of h into one, y[d]. x: [d] for a row. */
static void pool(int pooling, const xlm_var *h, int32_t first, int32_t end, xlm_real *x, double *y)
{
    const int64_t d = xlm_var_cols(h);
    if (pooling == XLM_POOL_FIRST)
        end = MIN(end, first + 1);
    for (int32_t row = first; row < end; row++) {
        xlm_var_read(h, row, 1, x);
        for (int64_t c = 0; c < d; c++)
            if (pooling == XLM_POOL_MAX)
                y[c] = row == first ? (double)x[c] : MAX(y[c], (double)x[c]);
            else
                y[c] += (double)x[c];
    }
    for (int64_t c = 0; c < d && pooling == XLM_POOL_MEAN && end > first; c++)
        y[c] /= end - first;
}

/* Examples first … end. vectors: [examples x d] of all. */
static bool run(const xlm_sentence_encoder *e, const xlm_examples *examples, int64_t first, int64_t end, xlm_arena *arena,
                double *vectors, GError **error)
{
    const int64_t n = end - first, d = xlm_model_get_config(e->model)->hidden_size;
    xlm_arena_reset(arena);
    int64_t *example = XLM_TAKE(arena, int64_t, n);
    uint32_t *instance = XLM_TAKE(arena, uint32_t, n);
    for (int64_t i = 0; i < n; i++) {
        example[i] = first + i;
        instance[i] = (uint32_t)i;
    }
    xlm_batch batch;
    if (!xlm_examples_read(examples, n, example, instance, arena, &batch, error))
        return false;
    xlm_tape_begin(e->tape, NULL, false, 0, 0);
    const xlm_var *h = xlm_model_encode(e->model, e->tape, &batch, e->layer, NULL, 0)[e->layer];
    xlm_real *x = XLM_TAKE(arena, xlm_real, d);
    for (int64_t i = 0; i < n; i++)
        pool(e->pooling, h, batch.offsets[i] + !e->special_tokens, batch.offsets[i + 1] - !e->special_tokens, x,
             vectors + (first + i) * d);
    return true;
}

bool xlm_sentence_vectors(const xlm_sentence_encoder *encoder, const xlm_examples *examples, float *vectors, GError **error)
{
    const xlm_sentence_encoder *e = encoder;
    const int64_t size = xlm_examples_count(examples) * xlm_model_get_config(e->model)->hidden_size;
    GArray *cuts = xlm_examples_cut(examples);
    const int64_t *at = (const int64_t *)(const void *)cuts->data, runs = (int64_t)cuts->len - 1;
    double *all = g_new0(double, MAX(size, 1)); /* 0 where another rank's are */
    xlm_arena *arena = xlm_arena_new();
    GError *failure = NULL;
    for (int64_t r = e->comm->rank; r < runs && failure == NULL; r += e->comm->ranks)
        run(e, examples, at[r], at[r + 1], arena, all, &failure);
    const bool good = xlm_comm_agree_on(e->comm, failure, error);
    if (good) {
        for (int64_t first = 0; first < size; first += G_MAXINT32)
            xlm_comm_merge_double(e->comm, all + first, (int)MIN(G_MAXINT32, size - first));
        for (int64_t i = 0; i < size; i++)
            vectors[i] = (float)all[i];
    }
    xlm_arena_free(arena);
    g_array_unref(cuts);
    g_free(all);
    return good;
}
