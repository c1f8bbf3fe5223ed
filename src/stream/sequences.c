/* xlm-mpi: the sequences of a batch before they are laid out. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/sequences.h"

void xlm_sequences_init(xlm_sequences *sequences)
{
    sequences->spans = g_array_new(FALSE, FALSE, sizeof(xlm_span));
    sequences->ends = g_array_new(FALSE, FALSE, sizeof(guint));
    sequences->instances = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    sequences->tokens = NULL;
}

void xlm_sequences_clear(xlm_sequences *sequences)
{
    g_clear_pointer(&sequences->spans, g_array_unref);
    g_clear_pointer(&sequences->ends, g_array_unref);
    g_clear_pointer(&sequences->instances, g_array_unref);
}

void xlm_sequences_reset(xlm_sequences *sequences)
{
    g_array_set_size(sequences->spans, 0);
    g_array_set_size(sequences->ends, 0);
    g_array_set_size(sequences->instances, 0);
    sequences->tokens = NULL;
}

void xlm_sequences_end(xlm_sequences *sequences, uint32_t instance)
{
    g_array_append_val(sequences->ends, sequences->spans->len);
    g_array_append_val(sequences->instances, instance);
}
