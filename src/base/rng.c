/* xlm-mpi: counter-based random numbers (Philox4x32-10). SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/rng.h"

#include <math.h>

xlm_rng_key xlm_rng_make_key(uint64_t seed, xlm_rng_purpose purpose, uint64_t step)
{
    const xlm_rng_key root = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    const xlm_rng_block b = xlm_rng_draw(root, (uint32_t)step, (uint32_t)(step >> 32), (uint32_t)purpose, 0x786c6d00u);
    return (xlm_rng_key){{b.v[0], b.v[1]}};
}

void xlm_rng_normal(uint32_t w0, uint32_t w1, double out[2])
{
    const double radius = sqrt(-2.0 * log((w0 + 1.0) * (1.0 / 4294967296.0)));
    const double angle = 6.283185307179586476925 * (w1 * (1.0 / 4294967296.0));
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

/* Four rounds of a balanced Feistel network over 2*half_bits bits: a bijection for any round function. */
static uint64_t feistel(xlm_rng_key key, uint64_t x, unsigned half_bits)
{
    const uint64_t mask = (UINT64_C(1) << half_bits) - 1;
    uint64_t left = x >> half_bits, right = x & mask;
    for (uint32_t round = 0; round < 4; round++) {
        const xlm_rng_block f = xlm_rng_draw(key, (uint32_t)right, (uint32_t)(right >> 32), round, 0x7065726du);
        const uint64_t next = left ^ ((f.v[0] | (uint64_t)f.v[1] << 32) & mask);
        left = right;
        right = next;
    }
    return left << half_bits | right;
}

uint64_t xlm_rng_permute(xlm_rng_key key, uint64_t index, uint64_t n)
{
    unsigned half_bits = 1;
    while ((UINT64_C(1) << (2 * half_bits)) < n)
        half_bits++;
    /* The domain is less than four times n, so the walk takes fewer than four steps on average. It ends because the permutation's
     * cycle through `index` returns to `index`, which is below n. */
    do
        index = feistel(key, index, half_bits);
    while (index >= n);
    return index;
}

static const uint64_t DIGEST_BEGIN = UINT64_C(0xcbf29ce484222325), DIGEST_FACTOR = UINT64_C(0x100000001b3);

static inline uint64_t end_digest(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

uint64_t xlm_digest(const void *bytes, uint64_t size, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ DIGEST_BEGIN;
    for (uint64_t i = 0; i < size; i++)
        h = (h ^ p[i]) * DIGEST_FACTOR;
    return end_digest(h);
}

uint64_t xlm_digest_without(unsigned char omitted, const void *bytes, uint64_t size, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ DIGEST_BEGIN;
    for (uint64_t i = 0; i < size; i++) {
        const uint64_t next = (h ^ p[i]) * DIGEST_FACTOR;
        h = p[i] != omitted ? next : h;
    }
    return end_digest(h);
}
