/* xlm-mpi: where the time of a step goes. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A profile is a table of rows, each an operator's forward pass, its backward pass, or another part of a step. One row is open
 * at a time: from xlm_profile_enter to the next enter or leave, seconds and the operations of matrix products are its. So an
 * operator's forward pass, which has a beginning on the tape but no end, lasts until the next one begins. A profile of NULL
 * is allowed everywhere and costs nothing. */
#ifndef XLM_TENSOR_PROFILE_H
#define XLM_TENSOR_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct xlm_profile xlm_profile;

typedef struct xlm_profile_row {
    const char *name;
    bool backward;
    int64_t calls;
    double seconds;
    double flops; /* of matrix products, attention's included (xlm_gemm_flops) */
    double bytes; /* of operands and results, each once; what an operator cannot do without */
} xlm_profile_row;

xlm_profile *xlm_profile_new(void);
void xlm_profile_free(xlm_profile *profile);

/* name: a constant; rows are found by it. bytes: of this call. */
void xlm_profile_enter(xlm_profile *profile, const char *name, bool backward, double bytes);
void xlm_profile_leave(xlm_profile *profile);
/* More bytes (or less) of the row that is open. */
void xlm_profile_add_bytes(xlm_profile *profile, double bytes);
/* Forget all calls so far. */
void xlm_profile_reset(xlm_profile *profile);
/* The rows, those that took longest first; valid until the next call. */
const xlm_profile_row *xlm_profile_rows(xlm_profile *profile, int *n);

#endif
