/* xlm-mpi: xlm_spearman, the rank correlation of two columns of numbers. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "program/program.h"
#include "retrieval/rank_correlation.h"
#include "text/lines.h"

static const xlm_program program = {
    .name = "xlm_spearman",
    .arguments = "< PAIRS",
    .purpose = "Rank correlation of two columns of numbers, with its two-tailed p",
    .notes =
        "Reads lines of two numbers from standard input; writes n, rho and p.\n"
        "\n"
        "Examples:\n"
        "  printf '1 3\\n2 5\\n3 4\\n4 9\\n' | xlm_spearman\n"
        "\n",
    .files =
        "  Standard input  two numbers per line\n",
};

static bool add_pair(const char *line, GArray *x, GArray *y)
{
    double a, b;
    int end = 0;
    if (sscanf(line, "%lf %lf %n", &a, &b, &end) != 2 || line[end] != '\0' || !isfinite(a) || !isfinite(b))
        return false;
    g_array_append_val(x, a);
    g_array_append_val(y, b);
    return true;
}

static bool read_pairs(GArray *x, GArray *y, GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open_input(error);
    const char *text;
    size_t length;
    int more = 0;
    bool good = lines != NULL;
    while (good && (more = xlm_lines_next(lines, &text, &length, error)) > 0) {
        g_autofree char *line = g_strndup(text, length);
        good = xlm_lines_check_text(lines, text, length, error) &&
               (add_pair(line, x, y) || XLM_LINES_REFUSE(lines, error, "not two numbers"));
    }
    if (good && more == 0 && x->len < 3)
        good = xlm_error_set(error, EX_DATAERR, XLM_LINES_INPUT ": %u pairs; a correlation needs at least 3", x->len);
    return good && more == 0;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_log_open(program.name, true);
    bool good = xlm_program_parse(&program, NULL, &argc, &argv, &error);
    if (good && argc > 1)
        good = xlm_error_set(&error, EX_USAGE, "%s: pairs are read from standard input", argv[1]);
    g_autoptr(GArray) x = g_array_new(FALSE, FALSE, sizeof(double)), y = g_array_new(FALSE, FALSE, sizeof(double));
    if (good && read_pairs(x, y, &error)) {
        const xlm_rank_correlation c = xlm_rank_correlate(x->len, (double *)x->data, (double *)y->data);
        printf("%u %.4f %.4g\n", x->len, c.rho, c.p);
        xlm_program_flush(&error);
    }
    return xlm_error_exit(error);
}
