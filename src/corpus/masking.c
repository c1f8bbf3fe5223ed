/* xlm-mpi: which tokens are predicted and what stands in their place. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/masking.h"

#include <string.h>

static xlm_rng_block draw(const xlm_masking *m, uint64_t instance, int32_t position)
{
    return xlm_rng_draw(m->key, (uint32_t)position, (uint32_t)instance, m->stream, (uint32_t)(instance >> 32));
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

int32_t xlm_mask_sequence(const xlm_masking *masking, uint64_t instance, int32_t n, const int32_t *original,
                          int32_t first_row, int32_t *ids, int32_t *rows, int32_t *targets)
{
    memcpy(ids, original, sizeof *ids * (size_t)n);
    if (masking->mask <= 0)
        return 0;
    int32_t chosen = 0, fallback = -1;
    uint32_t smallest = 0;
    for (int32_t i = 0; i < n; i++) {
        if (original[i] < XLM_SPECIALS)
            continue;
        const xlm_rng_block chance = draw(masking, instance, i);
        if (xlm_rng_unit(chance.v[0]) < masking->mask) {
            ids[i] = replace(masking, chance, original[i]);
            rows[chosen] = first_row + i;
            targets[chosen++] = original[i];
        } else if (fallback < 0 || chance.v[0] < smallest) {
            fallback = i;
            smallest = chance.v[0];
        }
    }
    if (chosen == 0 && fallback >= 0) {
        ids[fallback] = replace(masking, draw(masking, instance, fallback), original[fallback]);
        rows[0] = first_row + fallback;
        targets[0] = original[fallback];
        chosen = 1;
    }
    return chosen;
}
