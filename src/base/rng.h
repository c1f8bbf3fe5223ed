/* xlm-mpi: counter-based random numbers (Philox4x32-10). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every draw of the program is a pure function of (seed, purpose, step, ...). There is no generator state, so a draw depends
 * neither on how many ranks or threads share the work nor on whether the run was resumed. Source: Salmon, Moraes, Dror, Shaw,
 * "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
#ifndef XLM_BASE_RNG_H
#define XLM_BASE_RNG_H

#include <stdint.h>

typedef struct { uint32_t v[2]; } xlm_rng_key;
typedef struct { uint32_t v[4]; } xlm_rng_block;

/* What a draw is for. Each purpose has numbers of its own, so that two uses never share a draw. Append only: changing a number
 * would change what old runs draw. */
typedef enum {
    XLM_RNG_INITIALISE = 1,  /* parameters */
    XLM_RNG_ORDER,           /* order of the instances of an epoch */
    XLM_RNG_LANGUAGE,        /* language of an instance */
    XLM_RNG_MASK,            /* masked positions, and what replaces their tokens */
    XLM_RNG_DROPOUT,
    XLM_RNG_PAIR,            /* which side of a pair comes first */
    XLM_RNG_SHARE,           /* which instances belong to a share of a corpus */
    XLM_RNG_SAMPLE,          /* anything drawn before training */
    XLM_RNG_OBJECTIVE,       /* draws of objective plugins */
    XLM_RNG_DICTIONARY,      /* which subwords belong to a share of a dictionary */
    XLM_RNG_SWITCH,          /* masked positions that are switched to another language, and the translation */
    XLM_RNG_TWINS,           /* which subwords a synthetic language shares with its base */
    XLM_RNG_SYNTAX,          /* orders of words in synthetic languages */
    XLM_RNG_CHECK,           /* which elements of a gradient are checked, and along which directions */
    XLM_RNG_FACTORS,         /* initial factors of a matrix */
    XLM_RNG_VECTOR_PAIRS,    /* random pairs of vectors */
    XLM_RNG_MAP,             /* initial points of a map */
    XLM_RNG_ROTATION,        /* the part of a rotation that nothing else determines */
    XLM_RNG_OBJECTIVE_START, /* initial state of objective plugins */
    XLM_RNG_STAGE,           /* draws of stage plugins */
    XLM_RNG_NOISE,           /* tokens that are moved, left out or blanked */
    XLM_RNG_SEARCH,          /* tokens that a decoder samples */
    XLM_RNG_BOOTSTRAP        /* sentences of a sample that is drawn from a text */
} xlm_rng_purpose;

/* The key of all draws for one purpose at one step (or epoch, or 0). */
xlm_rng_key xlm_rng_make_key(uint64_t seed, xlm_rng_purpose purpose, uint64_t step);

/* Ten rounds of Philox4x32: 128 random bits for the counter (c0, c1, c2, c3) under the key. */
static inline xlm_rng_block xlm_rng_draw(xlm_rng_key key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
    uint32_t k0 = key.v[0], k1 = key.v[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return (xlm_rng_block){{c0, c1, c2, c3}};
}

/* Uniform in [0, 1), 24 bits. */
static inline double xlm_rng_unit(uint32_t word) { return (word >> 8) * (1.0 / 16777216.0); }

/* Uniform in [0, n), n <= 2^32, by multiplication (bias below n / 2^32). */
static inline uint32_t xlm_rng_below(uint32_t word, uint64_t n) { return (uint32_t)((uint64_t)word * n >> 32); }

/* A pair of independent N(0,1) draws from two words (Box-Muller). */
void xlm_rng_normal(uint32_t w0, uint32_t w1, double out[2]);

/* The image of `index` under a pseudo-random permutation of [0, n), 1 <= n < 2^62, that the key selects: a Feistel network on the
 * next even power of two, applied until the result is below n. Needs no memory and O(1) expected time, so an epoch's order can be
 * read by index. */
uint64_t xlm_rng_permute(xlm_rng_key key, uint64_t index, uint64_t n);

/* 64-bit digest of bytes (FNV-1a with a final mix); for provenance and hashing, not for security. */
uint64_t xlm_digest(const void *bytes, uint64_t size, uint64_t seed);
/* The digest of what is left when all bytes of this value are taken out. */
uint64_t xlm_digest_without(unsigned char omitted, const void *bytes, uint64_t size, uint64_t seed);

#endif
