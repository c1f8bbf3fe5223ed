/* xlm-mpi: mean of the rows of each sequence. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "kernels/kernels.h"
#include "tensor/tape.h"

struct state {
    xlm_var *x, *y;         /* T x d, S x d */
    const int32_t *offsets; /* [S + 1] */
    const bool *wanted;     /* [T], or NULL: all */
    xlm_real *share;        /* [S] 1 / number of wanted rows; 0 where there are none */
};

/* Threads share the sequences, so that each row is read and written by only one of them. */
static void backward(void *pointer)
{
    const struct state *s = pointer;
    const xlm_kernels *kernel = xlm_kernels_get();
    const int64_t d = s->x->cols;
    const xlm_grad dx = xlm_grad_open(s->x);
    if (!xlm_var_has_numbers(s->y))
        return;
#pragma omp parallel for schedule(static) if (s->x->rows * d > XLM_PARALLEL)
    for (int64_t k = 0; k < s->y->rows; k++)
        for (int64_t i = s->offsets[k]; i < s->offsets[k + 1]; i++)
            if (s->wanted == NULL || s->wanted[i])
                kernel->scale(d, s->share[k], s->y->grad + k * d, dx.at + i * d, dx.add);
            else if (!dx.add)
                kernel->fill(d, 0, dx.at + i * d, false);
}

static void check(const xlm_var *x, const int32_t *offsets, int32_t sequences)
{
    bool good = offsets[0] == 0 && offsets[sequences] == x->rows;
    for (int32_t k = 0; k < sequences; k++)
        good &= offsets[k] <= offsets[k + 1];
    if (!good)
        xlm_tape_fail("sequence_mean", "the offsets of %d sequences do not rise from 0 to the number of rows, %" G_GINT64_FORMAT,
                      sequences, x->rows);
}

static void *copy(xlm_tape *tape, const void *from, size_t bytes) { return memcpy(xlm_tape_take(tape, bytes), from, bytes); }

/* Those of the first rows of sequences; NULL: x has none. */
static const xlm_row_key *first_keys(xlm_tape *tape, const xlm_var *x, const int32_t *offsets, int32_t sequences)
{
    if (x->keys == NULL || x->rows == 0)
        return NULL;
    xlm_row_key *keys = XLM_TAPE_TAKE(tape, xlm_row_key, sequences);
    for (int32_t k = 0; k < sequences; k++)
        keys[k] = x->keys[offsets[k] < x->rows ? offsets[k] : x->rows - 1];
    return keys;
}

xlm_var *xlm_sequence_mean(xlm_tape *tape, xlm_var *x, const int32_t *offsets, int32_t sequences, const bool *wanted)
{
    check(x, offsets, sequences);
    const int64_t d = x->cols;
    struct state *s = XLM_TAPE_TAKE(tape, struct state, 1);
    xlm_var *y = xlm_tape_record(tape, "sequence_mean", sequences, d, 1, &x, backward, s);
    y->keys = first_keys(tape, x, offsets, sequences);
    *s = (struct state){
        .x = x, .y = y, .offsets = copy(tape, offsets, sizeof *offsets * ((size_t)sequences + 1)),
        .wanted = wanted != NULL ? copy(tape, wanted, sizeof *wanted * (size_t)x->rows) : NULL,
        .share = XLM_TAPE_NUMBERS(tape, xlm_real, sequences),
    };
    if (!xlm_var_has_numbers(y))
        return y;
    const xlm_kernels *kernel = xlm_kernels_get();
#pragma omp parallel for schedule(static) if (x->rows * d > XLM_PARALLEL)
    for (int64_t k = 0; k < sequences; k++) {
        xlm_real *row = y->value + k * d;
        int64_t n = 0;
        kernel->fill(d, 0, row, false);
        for (int64_t i = s->offsets[k]; i < s->offsets[k + 1]; i++) {
            if (s->wanted != NULL && !s->wanted[i])
                continue;
            kernel->add(d, row, x->value + i * d, row);
            n++;
        }
        s->share[k] = n > 0 ? 1 / (xlm_real)n : 0;
        kernel->scale(d, s->share[k], row, row, false);
    }
    return y;
}

bool *xlm_text_rows(xlm_tape *tape, const xlm_text *text)
{
    bool *wanted = XLM_TAPE_TAKE(tape, bool, text->tokens);
    for (int32_t i = 0; i < text->tokens; i++)
        wanted[i] = xlm_is_text(text->specials, text->unmasked[i]);
    return wanted;
}
