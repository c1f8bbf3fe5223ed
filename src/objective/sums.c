/* xlm-mpi: sums that passes add their losses and metrics to. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/sums.h"

#include <string.h>

xlm_sums xlm_sums_new(int means, int metrics)
{
    return (xlm_sums){means, metrics, g_new0(double, MAX(means, 1)), g_new0(xlm_metric_sum, MAX(metrics, 1))};
}

void xlm_sums_free(xlm_sums *sums)
{
    g_clear_pointer(&sums->mean, g_free);
    g_clear_pointer(&sums->metric, g_free);
}

void xlm_sums_clear(xlm_sums *sums)
{
    memset(sums->mean, 0, sizeof *sums->mean * (size_t)sums->means);
    memset(sums->metric, 0, sizeof *sums->metric * (size_t)sums->metrics);
}

void xlm_sums_add(xlm_sums *to, const xlm_sums *from)
{
    for (int i = 0; i < to->means; i++)
        to->mean[i] += from->mean[i];
    for (int i = 0; i < to->metrics; i++) {
        to->metric[i].sum += from->metric[i].sum;
        to->metric[i].count += from->metric[i].count;
    }
}

int xlm_sums_numbers(const xlm_sums *sums) { return sums->means + 2 * sums->metrics; }

void xlm_sums_write(const xlm_sums *sums, double *numbers)
{
    for (int i = 0; i < sums->means; i++)
        *numbers++ = sums->mean[i];
    for (int i = 0; i < sums->metrics; i++) {
        *numbers++ = sums->metric[i].sum;
        *numbers++ = sums->metric[i].count;
    }
}

void xlm_sums_read(xlm_sums *sums, const double *numbers)
{
    for (int i = 0; i < sums->means; i++)
        sums->mean[i] = *numbers++;
    for (int i = 0; i < sums->metrics; i++) {
        sums->metric[i].sum = *numbers++;
        sums->metric[i].count = *numbers++;
    }
}
