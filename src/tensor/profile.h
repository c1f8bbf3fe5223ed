/* xlm-mpi: where the time of a step goes. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A profile is a table of rows, each an operator's forward pass, its backward pass, or another part of a step. One row is open at
 * a time: the seconds and the operations of matrix products from xlm_profile_enter to the next enter or leave are added to it. So
 * an operator's forward pass, whose beginning is recorded on the tape but not its end, lasts until the next one begins. A profile
 * of NULL is allowed everywhere and costs nothing. */
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
    double bytes; /* of operands and results, each counted once: the minimum that must be moved */
} xlm_profile_row;

xlm_profile *xlm_profile_new(void);
void xlm_profile_free(xlm_profile *profile);

/* Open the row of this name and direction, after closing the one that is open. name: a constant string, borrowed. bytes: that
 * this call moves. */
void xlm_profile_enter(xlm_profile *profile, const char *name, bool backward, double bytes);
/* Close the open row, if there is one. */
void xlm_profile_leave(xlm_profile *profile);
/* Add bytes to those of the open row; negative numbers are allowed. */
void xlm_profile_add_bytes(xlm_profile *profile, double bytes);
/* Forget all calls so far. */
void xlm_profile_reset(xlm_profile *profile);
/* The rows, *n of them, longest time first; valid until the next call. Closes the open row. */
const xlm_profile_row *xlm_profile_rows(xlm_profile *profile, int *n);

#endif
