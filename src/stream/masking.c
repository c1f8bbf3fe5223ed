/* xlm-mpi: which tokens are predicted and what stands in their place. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/masking.h"

#include <stdbool.h>
#include <string.h>

static xlm_rng_block draw(const xlm_masking *m, xlm_rng_key key, uint64_t instance, int32_t position)
{
    return xlm_rng_draw(key, (uint32_t)position, (uint32_t)instance, m->stream, (uint32_t)(instance >> 32));
}

/* What stands in the place of a chosen token. Words 1 and 2 of the draw; word 0 has chosen it. */
static int32_t replace(const xlm_masking *m, xlm_rng_block chance, int32_t original)
{
    const double unit = xlm_rng_unit(chance.v[1]);
    if (unit < m->mask_token)
        return XLM_ID_MASK;
    if (unit < m->mask_token + m->mask_random)
        return XLM_SPECIALS + (int32_t)xlm_rng_below(chance.v[2], (uint64_t)(m->vocabulary - XLM_SPECIALS));
    return original;
}

/* Draw a translation of the token at position i, the k-th chosen; when the position is switched, put it there. Returns
 * false when it is not switched. */
static bool translate(const xlm_masking *m, uint64_t instance, int32_t i, int32_t original, int32_t k, const xlm_masked *out)
{
    const xlm_rng_block chance = draw(m, m->switch_key, instance, i);
    const int32_t *list;
    int32_t other;
    const int32_t n = xlm_translations_find(m->translations, original, out->languages[i], &list, &other);
    out->translations[k] = n > 0 ? list[xlm_rng_below(chance.v[1], (uint64_t)n)] : -1;
    if (xlm_rng_unit(chance.v[0]) >= m->switching)
        return false;
    if (n > 0) {
        out->ids[i] = out->translations[k];
        out->languages[i] = other;
    }
    return true;
}

/* The token at position i is the k-th chosen. */
static void choose(const xlm_masking *m, uint64_t instance, int32_t i, int32_t original, int32_t k, int32_t first_row,
                   const xlm_masked *out)
{
    out->rows[k] = first_row + i;
    out->targets[k] = original;
    if (m->translations == NULL || !translate(m, instance, i, original, k, out))
        out->ids[i] = replace(m, draw(m, m->key, instance, i), original);
}

int32_t xlm_mask_sequence(const xlm_masking *masking, uint64_t instance, int32_t n, const int32_t *original,
                          int32_t first_row, const xlm_masked *masked)
{
    memcpy(masked->ids, original, sizeof *masked->ids * (size_t)n);
    if (masking->mask <= 0)
        return 0;
    int32_t chosen = 0, fallback = -1;
    uint32_t smallest = 0;
    for (int32_t i = 0; i < n; i++) {
        if (original[i] < XLM_SPECIALS)
            continue;
        const xlm_rng_block chance = draw(masking, masking->key, instance, i);
        if (xlm_rng_unit(chance.v[0]) < masking->mask) {
            choose(masking, instance, i, original[i], chosen++, first_row, masked);
        } else if (fallback < 0 || chance.v[0] < smallest) {
            fallback = i;
            smallest = chance.v[0];
        }
    }
    if (chosen == 0 && fallback >= 0)
        choose(masking, instance, fallback, original[fallback], chosen++, first_row, masked);
    return chosen;
}
