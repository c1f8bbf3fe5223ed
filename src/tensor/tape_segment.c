/* xlm-mpi: segments of a tape, which the backward pass recomputes. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tensor/tape_internal.h"

struct segment {
    xlm_tape *tape;
    xlm_segment *run;
    const void *data;
    xlm_var *x, *y;
    xlm_tape_mode mode; /* when it began */
};

static xlm_var *run_inside(const struct segment *s)
{
    s->tape->taking = s->tape->inside;
    xlm_tape_set_mode(s->tape, s->mode);
    return s->run(s->tape, s->x, s->data);
}

static void give_back(xlm_tape *tape)
{
    xlm_arena_reset(tape->inside);
    tape->taking = tape->arena;
}

/* The gradient is handed over to the result inside, not shared with it, so that the last operator inside can overwrite it. */
static void segment_backward(void *pointer)
{
    const struct segment *s = pointer;
    xlm_tape *tape = s->tape;
    const guint first = tape->operations->len;
    const xlm_tape_mode mode = tape->mode;
    xlm_grad_pass(run_inside(s), s->y);
    tape_drop_gradient(s->y);
    tape_run_backward(tape, first);
    g_array_set_size(tape->operations, first);
    xlm_tape_set_mode(tape, mode);
    give_back(tape);
}

xlm_var *xlm_tape_segment(xlm_tape *tape, xlm_var *x, xlm_segment *run, const void *data)
{
    /* Without a gradient, nothing inside has to be kept either, whether or not the tape recomputes. */
    if ((!tape->recompute && tape->mode.gradient) || tape->taking == tape->inside)
        return run(tape, x, data);
    struct segment *s = XLM_TAPE_TAKE(tape, struct segment, 1);
    *s = (struct segment){.tape = tape, .run = run, .data = data, .x = x, .mode = tape->mode};
    const guint first = tape->operations->len;
    xlm_var *result = run_inside(s);
    if (result->rows != x->rows)
        xlm_tape_fail("tape_segment", "%" G_GINT64_FORMAT " rows became %" G_GINT64_FORMAT, x->rows, result->rows);
    const int64_t end = tape_end_of_last(tape);
    g_array_set_size(tape->operations, first);
    tape->taking = tape->arena;
    s->y = xlm_tape_record(tape, "segment", result->rows, result->cols, 1, &result, segment_backward, s);
    if (tape->recorded) /* the parameters inside */
        g_array_index(tape->operations, operation, first).end = end;
    s->y->keys = x->keys;
    if (!of_shapes(tape))
        memcpy(s->y->value, result->value, bytes_of(result));
    give_back(tape);
    return s->y;
}

void xlm_tape_work_inside(xlm_tape *tape, xlm_work *work, void *data)
{
    const xlm_tape_mode mode = tape->mode;
    xlm_tape_mode without = mode;
    if (tape->taking == tape->inside)
        xlm_tape_fail("tape_work_inside", "it is called inside a segment");
    without.gradient = false;
    xlm_tape_set_mode(tape, without);
    tape->taking = tape->inside;
    work(tape, data);
    give_back(tape);
    xlm_tape_set_mode(tape, mode);
}
