/* xlm-mpi: digests of numbers, the same on all machines. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xlm_digest is of bytes, and numbers have their bytes in another order on big-endian machines. Digests that files keep are of the
 * bytes from the lowest to the highest, those of the memory of little-endian machines. */
#ifndef XLM_BASE_NUMBER_DIGEST_H
#define XLM_BASE_NUMBER_DIGEST_H

#include <stdint.h>

/* xlm_digest of n numbers. */
uint64_t xlm_digest_int32(const int32_t *numbers, uint64_t n, uint64_t seed);
uint64_t xlm_digest_int64(const int64_t *numbers, uint64_t n, uint64_t seed);

#endif
