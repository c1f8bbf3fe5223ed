/* xlm-mpi: the state of an objective that checkpoints save. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_STATE_H
#define XLM_OBJECTIVE_STATE_H

#include <stddef.h>
#include <stdint.h>
#include <xlm/loss.h>

/* State of an objective plugin (xlm_declare_state), the same on all ranks. */
typedef struct xlm_saved_state {
    const char *path; /* "/objectives/<objective>/<name>" */
    xlm_state_type type;
    void *values;     /* [n], borrowed */
    int64_t n;
    bool optional;    /* older files do not have it; it is then all zeros */
} xlm_saved_state;

static inline size_t xlm_state_bytes(const xlm_saved_state *state)
{
    return (state->type == XLM_STATE_F32 ? sizeof(float) : sizeof(double)) * (size_t)state->n;
}

#endif
