/* xlm-mpi: reading and writing variables from outside of the tape. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "tensor/tape.h"

int64_t xlm_var_rows(const xlm_var *x) { return x->rows; }
int64_t xlm_var_cols(const xlm_var *x) { return x->cols; }

double xlm_var_scalar(const xlm_var *x)
{
    if (x->rows != 1 || x->cols != 1)
        xlm_tape_fail("var_scalar", "%" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " is not 1 x 1", x->rows, x->cols);
    return (double)x->value[0];
}

static void check_value(const char *name, const xlm_var *x)
{
    if (x->value == NULL)
        xlm_tape_fail(name, x->rounded != NULL ? "the value is there in bfloat16 alone"
                                               : "the value was given up to the operator that took it");
}

static void check_rows(const char *name, const xlm_var *x, int64_t first, int64_t n)
{
    if (first < 0 || n < 0 || n > x->rows - first)
        xlm_tape_fail(name, "rows %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, first, first + n, x->rows);
    check_value(name, x);
}

void xlm_var_read(const xlm_var *x, int64_t first, int64_t n, xlm_real *values)
{
    check_rows("var_read", x, first, n);
    memcpy(values, x->value + first * x->cols, sizeof *values * (size_t)(n * x->cols));
}

void xlm_var_write(xlm_var *y, int64_t first, int64_t n, const xlm_real *values)
{
    check_rows("var_write", y, first, n);
    memcpy(y->value + first * y->cols, values, sizeof *values * (size_t)(n * y->cols));
}

const xlm_real *xlm_var_gradient(const xlm_var *y) { return y->grad; }
xlm_real *xlm_var_input_gradient(xlm_var *x) { return x->grad; }

xlm_var *xlm_detach(xlm_tape *tape, const xlm_var *x)
{
    check_value("detach", x);
    return xlm_constant(tape, x->rows, x->cols, x->value);
}
