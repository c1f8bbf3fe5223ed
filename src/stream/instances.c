/* xlm-mpi: instances as stretches of text, and their sparse index. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/instances.h"

enum { BLOCK_INSTANCES = 64, BLOCK_UNITS = 4096 };

void xlm_instances_init(xlm_instances *instances)
{
    *instances = (xlm_instances){.blocks = g_array_new(FALSE, FALSE, sizeof(xlm_block))};
}

void xlm_instances_clear(xlm_instances *instances)
{
    if (instances->blocks != NULL)
        g_array_free(instances->blocks, TRUE);
    *instances = (xlm_instances){0};
}

static xlm_block *block_at(const xlm_instances *instances, guint i)
{
    return &g_array_index(instances->blocks, xlm_block, i);
}

void xlm_instances_add(xlm_instances *instances, const xlm_extent *extent)
{
    xlm_block *last = instances->blocks->len > 0 ? block_at(instances, instances->blocks->len - 1) : NULL;
    const int64_t instance = instances->count++;
    xlm_lengths_add(&instances->lengths, extent->tokens, extent->words);
    if (last != NULL && instance - last->instance < BLOCK_INSTANCES && extent->unit - last->unit < BLOCK_UNITS) {
        last->end = extent->end;
        return;
    }
    const xlm_block block = {instance, extent->unit, extent->token, extent->end};
    g_array_append_val(instances->blocks, block);
}

uint64_t xlm_instances_bytes(const xlm_instances *instances) { return sizeof(xlm_block) * (uint64_t)instances->blocks->len; }

const xlm_block *xlm_instances_find(const xlm_instances *instances, int64_t instance)
{
    guint low = 0, high = instances->blocks->len; /* block low begins at or before the instance, block high after it */
    while (high - low > 1) {
        const guint middle = low + (high - low) / 2;
        if (block_at(instances, middle)->instance <= instance)
            low = middle;
        else
            high = middle;
    }
    return block_at(instances, low);
}
