/* xlm-mpi: digests of numbers, the same on all machines. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/number_digest.h"

#include <glib.h>

#include "base/rng.h"

uint64_t xlm_digest_int32(const int32_t *numbers, uint64_t n, uint64_t seed)
{
    g_autofree int32_t *ordered = g_new(int32_t, n);
    for (uint64_t i = 0; i < n; i++)
        ordered[i] = GINT32_TO_LE(numbers[i]);
    return xlm_digest(ordered, sizeof *ordered * n, seed);
}

uint64_t xlm_digest_int64(const int64_t *numbers, uint64_t n, uint64_t seed)
{
    g_autofree int64_t *ordered = g_new(int64_t, n);
    for (uint64_t i = 0; i < n; i++)
        ordered[i] = GINT64_TO_LE(numbers[i]);
    return xlm_digest(ordered, sizeof *ordered * n, seed);
}
