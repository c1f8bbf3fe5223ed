/* xlm-mpi: what a statistical aligner is. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An aligner is one file with an xlm_aligner, and a line in aligners.c. It declares its tables of counts, and works in
 * iterations: for every sentence pair of this rank `expect` adds the expected counts of its words to the tables; their sums over
 * all ranks become the totals, from which `begin` prepares the next iteration; at the end `decode` returns the links of each
 * pair. Everything that ranks share is in the tables, which are written to model files and read from them without the aligner's
 * help.
 *
 * Counts are integers in units of 1 / XLM_COUNT_UNIT, so that totals do not depend on the order in which ranks and threads add.
 * In the direction `forward` source words explain target words; in `reverse` target words explain source words. Arrays of two
 * have forward first. */
#ifndef XLM_ALIGNERS_ALIGNER_H
#define XLM_ALIGNERS_ALIGNER_H

#include "aligners/word_pairs.h"

enum { XLM_COUNT_UNIT = 1 << 16 };

/* The rows of a table: one for each pair of words, source word or target word; or a single row. */
typedef enum { XLM_TABLE_PAIRS, XLM_TABLE_SOURCE, XLM_TABLE_TARGET, XLM_TABLE_WHOLE } xlm_table_of;

typedef struct xlm_table {
    const char *name; /* name in files: "links"; `meaning` says what it counts */
    const char *meaning;
    xlm_table_of of;
    int width;        /* number of counts in a row */
} xlm_table;

enum { XLM_ALIGNER_TABLES = 10 }; /* at most */

/* The state of a training, or of the use of a model, for an aligner. */
typedef struct xlm_alignment_run {
    const xlm_bitext *bitext;
    const xlm_word_pairs *pairs;
    /* [rows x width] In `begin`, the totals of all ranks after the previous iteration, including those of a model; between
     * `begin` and `end`, what this rank adds, initially 0. */
    int64_t *counts[XLM_ALIGNER_TABLES];
    int64_t words[2];   /* number of distinct source and target words in the text of all ranks and the model */
    bool informed;      /* totals are not all 0: there was an iteration, or a model was given */
    bool started_informed; /* a model was given */
    int iteration, iterations;
    bool many_threads;
    bool *first;        /* [pairs of words] true on one of the ranks that have the pair, unless a model has it */
    /* What each cell has added to its pair's total, then what each target word and each source word has to that of the empty
     * word: [cells + target words + source words], for aligners that ask; else NULL. */
    uint16_t *own;
    void *state;        /* the aligner's */
} xlm_alignment_run;

/* Add to a row of a table, from any thread. */
static inline void xlm_table_add(const xlm_alignment_run *run, int table, int64_t place, int64_t count)
{
    int64_t *at = run->counts[table] + place;
    if (run->many_threads) {
        #pragma omp atomic
        *at += count;
    } else {
        *at += count;
    }
}

/* The most probable of n words, the first of equal ones; -1 if the empty word is at least as probable. */
static inline int32_t xlm_most_probable(const float *posterior, int n, float empty)
{
    int32_t at = -1;
    for (int32_t i = 0; i < n; i++)
        if (posterior[i] > empty) {
            empty = posterior[i];
            at = i;
        }
    return at;
}

/* The result of decode for a pair of n source and m target words. */
typedef struct xlm_decoded {
    int32_t *forward;        /* [m] source word of each target word, -1 for none */
    int32_t *reverse;        /* [n] target word of each source word, -1 for none */
    float *forward_posterior; /* [m x n] of source word i for target word j, at j n + i */
    float *reverse_posterior; /* [n x m] of target word j for source word i, at i m + j */
} xlm_decoded;

typedef struct xlm_aligner {
    const char *name, *purpose;
    const xlm_table *tables; /* XLM_ALIGNER_TABLES at most, then one without a name */
    int iterations;          /* default number */
    bool own;                /* wants xlm_alignment_run.own */
    /* Create and free run->state. */
    void (*open)(xlm_alignment_run *run);
    void (*close)(xlm_alignment_run *run);
    /* Collective. Called before the sentence pairs of an iteration, and before decoding, which is iteration `iterations`. */
    void (*begin)(xlm_alignment_run *run);
    /* Called after the sentence pairs of an iteration, before sums; may be NULL. What it adds is summed over all ranks too: a
     * number that all ranks know is to be added on one of them alone. */
    void (*end)(xlm_alignment_run *run);
    /* Called from any thread. workspace: memory of this thread, of the size that `workspace` returns. n, m > 0. */
    void (*expect)(const xlm_alignment_run *run, int64_t sentence, void *workspace);
    /* The same. Sets all of `decoded`. */
    void (*decode)(const xlm_alignment_run *run, int64_t sentence, void *workspace, xlm_decoded *decoded);
    size_t (*workspace)(int n, int m);
} xlm_aligner;

/* All aligners; *n: their number. */
const xlm_aligner *const *xlm_aligners(int *n);
/* NULL with EX_USAGE if there is no aligner of this name; name NULL: the first. */
const xlm_aligner *xlm_aligner_find(const char *name, GError **error);

#endif
