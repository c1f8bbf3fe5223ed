/* xlm-mpi: Spearman's rank correlation and Pearson's, by GSL. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/rank_correlation.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

static bool all_one(int64_t n, const double *x)
{
    for (int64_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return false;
    return true;
}

xlm_rank_correlation xlm_rank_correlate(int64_t n, const double *x, const double *y)
{
    if (n < 3)
        g_error("a rank correlation needs 3 pairs or more");
    if (all_one(n, x) || all_one(n, y))
        return (xlm_rank_correlation){.rho = NAN, .p = NAN};
    g_autofree double *work = g_new(double, 2 * n);
    const double rho = gsl_stats_spearman(x, 1, y, 1, (size_t)n, work);
    if (1 - rho * rho < 1e-12)
        return (xlm_rank_correlation){.rho = rho, .p = 0};
    const double freedom = (double)(n - 2), t = fabs(rho) * sqrt(freedom / (1 - rho * rho));
    return (xlm_rank_correlation){.rho = rho, .p = 2 * gsl_cdf_tdist_Q(t, freedom)};
}

double xlm_linear_correlate(int64_t n, const double *x, const double *y)
{
    if (n < 2)
        g_error("a correlation needs 2 pairs or more");
    return all_one(n, x) || all_one(n, y) ? NAN : gsl_stats_correlation(x, 1, y, 1, (size_t)n);
}
