/* xlm-mpi: reading and writing variables from outside the tape. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tensor/tape_internal.h"

int64_t xlm_var_rows(const xlm_var *x) { return x->rows; }
int64_t xlm_var_cols(const xlm_var *x) { return x->cols; }

double xlm_var_scalar(const xlm_var *x)
{
    if (x->rows != 1 || x->cols != 1)
        xlm_tape_fail("var_scalar", "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " is not 1 x 1", x->rows, x->cols);
    return xlm_var_has_numbers(x) ? (double)x->value[0] : 1;
}

static void check_value(const char *name, const xlm_var *x)
{
    if (x->value == NULL)
        xlm_tape_fail(name, x->rounded != NULL ? "the value exists only in bfloat16"
                                               : "the memory of the value has been taken over by an operator");
}

static void check_rows(const char *name, const xlm_var *x, int64_t first, int64_t n)
{
    if (first < 0 || n < 0 || n > x->rows - first)
        xlm_tape_fail(name, "rows %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, first, first + n, x->rows);
    check_value(name, x);
}

/* Replaces the numbers that a tape of shapes does not have by pseudo-random ones in [-1, 1), so that compared values differ. */
static void pretend(int64_t first, int64_t n, xlm_real *values)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)(first + i) * 0x9e3779b1u;
        bits = (bits ^ bits >> 15) * 0x85ebca77u;
        values[i] = (xlm_real)(int32_t)(bits ^ bits >> 13) / (xlm_real)2147483648.0;
    }
}

/* Zeros for the backward function of a plugin, valid until it returns; the same memory at each call for x. */
static xlm_real *lend(const xlm_var *x)
{
    GHashTable *lent = ((const variable *)x)->tape->lent;
    xlm_real *zeros = g_hash_table_lookup(lent, x);
    if (zeros == NULL)
        g_hash_table_insert(lent, (void *)(uintptr_t)x, zeros = g_malloc0(bytes_of(x)));
    return zeros;
}

void xlm_var_read(const xlm_var *x, int64_t first, int64_t n, xlm_real *values)
{
    check_rows("var_read", x, first, n);
    if (xlm_var_has_numbers(x))
        memcpy(values, x->value + first * x->cols, sizeof *values * (size_t)(n * x->cols));
    else
        pretend(first * x->cols, n * x->cols, values);
}

void xlm_var_write(xlm_var *y, int64_t first, int64_t n, const xlm_real *values)
{
    if (!inner(y)->filled)
        xlm_tape_fail("var_write", "the variable is not the result of xlm_operator");
    check_rows("var_write", y, first, n);
    if (xlm_var_has_numbers(y))
        memcpy(y->value + first * y->cols, values, sizeof *values * (size_t)(n * y->cols));
}

const xlm_real *xlm_var_gradient(const xlm_var *y) { return xlm_var_has_numbers(y) ? y->grad : lend(y); }

xlm_real *xlm_var_input_gradient(xlm_var *x)
{
    if (x->grad == NOTHING)
        xlm_tape_fail("var_input_gradient", "the variable is not one of the inputs that xlm_operator was given, or this is not its "
                      "backward function");
    return x->grad == NULL || xlm_var_has_numbers(x) ? x->grad : lend(x);
}

xlm_var *xlm_detach(xlm_tape *tape, const xlm_var *x)
{
    check_value("detach", x);
    return xlm_constant(tape, x->rows, x->cols, x->value);
}

xlm_var *xlm_tape_hold(xlm_tape *tape, xlm_var *x)
{
    return tape->constants == XLM_CONSTANTS_FREE ? x : xlm_detach(tape, x);
}
