/* xlm-mpi: what a run began with, as its checkpoints record it. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Jobs name files by paths. The same path is another file in another directory, and at another time; the digests in checkpoints
 * tell them apart. */
#ifndef XLM_RUN_RUN_INPUTS_H
#define XLM_RUN_RUN_INPUTS_H

#include "store/store.h"

enum { XLM_RUN_INPUTS = 4 };
/* What each is: "model that it started from: SHA-256", ... */
extern const char *const xlm_run_input_names[XLM_RUN_INPUTS];

typedef struct xlm_run_inputs {
    char *value[XLM_RUN_INPUTS]; /* "(none)": there was no such file; NULL: not known */
} xlm_run_inputs;

/* store: a checkpoint; NULL: there is none, and nothing is known. */
void xlm_run_inputs_read(xlm_run_inputs *inputs, const xlm_store *store);
void xlm_run_inputs_clear(xlm_run_inputs *inputs);
/* Do n runs differ in one of them, among those of which it is known? */
bool xlm_run_inputs_differ(const xlm_run_inputs *inputs, int n, int which);
/* Is anything known of each of n runs? */
bool xlm_run_inputs_known(const xlm_run_inputs *inputs, int n);

#endif
