/* xlm-mpi: bfloat16, the upper half of a float. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * 1 bit of sign, 8 of exponent, 7 of mantissa. Kernels (kernels/kernels.h) round many at a time where they are known. */
#ifndef XLM_BASE_BFLOAT16_H
#define XLM_BASE_BFLOAT16_H

#include <stdint.h>
#include <string.h>

static inline float xlm_bfloat16_value(uint16_t half)
{
    const uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Round to nearest, ties to even. Infinities and NaNs are kept. Denormals are kept too; kernels make them zero. */
static inline uint16_t xlm_bfloat16_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float xlm_bfloat16_round(float x) { return xlm_bfloat16_value(xlm_bfloat16_of(x)); }

#endif
