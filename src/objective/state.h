/* xlm-mpi: numbers of an objective that checkpoints keep. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_OBJECTIVE_STATE_H
#define XLM_OBJECTIVE_STATE_H

#include <stdint.h>

/* Numbers of an objective plugin (xlm_declare_state), the same on all ranks. */
typedef struct xlm_saved_state {
    const char *path; /* "/objectives/<objective>/<name>" */
    double *numbers;
    int64_t n;
} xlm_saved_state;

#endif
