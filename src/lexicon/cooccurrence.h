/* xlm-mpi: the file of co-occurrence counts. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * X_ij says how often subword j occurs near subword i in the text of all languages (Ai and Fang 2023, MLM-GC, section 3.2):
 *
 *     X_ij = sum over languages l, distances r = 1 … window of  c_l w_r n_l,r(i, j)
 *
 * n_l,r(i, j): how often j occurs r tokens before or after i within a sentence of language l, an integer; w_r = 1/(r + 1) or as
 * `weights` says; c_l = tokens of the largest language / tokens of l, or 1. X and n are symmetric: an entry is stored once, in
 * the row of the smaller id. For i = j each of the two tokens is the centre of a window once, so two equal neighbours count 2.
 *
 * Layout of cooc.h5, as xlm_cooc writes it (V subwords, L languages, E entries of all languages together, E_l of one):
 *
 *   /                        format = "xlm-mpi co-occurrence", format_version, program_version, command, description,
 *                            corpus_digest (of vocabulary with counts and languages, as in checkpoints), subwords_digest (the
 *                            same without the counts; not in older files), vocabulary (V), window,
 *                            weights = "inverse" | "glove" | "even", factors = "largest" | "none", min_count, max_vocabulary (0:
 *                            all), tokens
 *   /inputs                  [k] strings: path, split, tokens and vocabulary of every corpus that was counted
 *   /languages               [L] strings
 *   /words/subwords          [V] strings, as in the corpus's vocabulary
 *   /words/occurrences       [V x L] i64: how often each subword occurs in the text of each language
 *   /words/totals            [V] f64: sum of X_ij over all j
 *   /words/counted           [V] u8: 1 for the subwords that min_count and max_vocabulary leave in, by the counts of the first
 *                            corpus; text that is added is counted for the same ones (not in older files)
 *   /cooccurrence/offsets    [V+1] u64: entries of row i are offsets[i] … offsets[i+1]
 *   /cooccurrence/columns    [E] u32: j >= i, ascending within a row
 *   /cooccurrence/counts     [E] f64: X_ij
 *   /by_language/<l>/offsets [V+1], columns [E_l], counts [E_l x window] u32 or u64: n_l,r(i, j); attributes of the group:
 *                            language, tokens, factor (c_l)
 *
 * More text is added to the integers, and all else follows from them; so a file does not depend on the number of ranks, nor on
 * whether its text was counted at once or in several runs. */
#ifndef XLM_LEXICON_COOCCURRENCE_H
#define XLM_LEXICON_COOCCURRENCE_H

#include "lexicon/pair_runs.h"
#include "store/store.h"
#include "subwords/vocabulary.h"

#define XLM_COOCCURRENCE_FORMAT "xlm-mpi co-occurrence"
enum { XLM_COOCCURRENCE_VERSION = 1, XLM_COOCCURRENCE_MAX_WINDOW = 64 };

/* How X is computed. */
typedef struct xlm_cooccurrence_rule {
    int64_t window;                     /* 1 … XLM_COOCCURRENCE_MAX_WINDOW */
    const char *weights, *factors;      /* see above; constants */
    int64_t min_count, max_vocabulary;  /* by the counts of the vocabulary; 0: no bound */
} xlm_cooccurrence_rule;

/* Weight of distance r; NAN when `weights` is not one of those above. */
double xlm_cooccurrence_weight(const char *weights, int64_t r);

typedef struct xlm_cooccurrence {
    xlm_store *store;
    uint64_t corpus_digest, subwords_digest; /* subwords_digest: 0 in older files */
    int64_t vocabulary, tokens;
    int64_t entries;          /* E */
    xlm_cooccurrence_rule rule;
    int languages;
    char **language_names;    /* [languages], then NULL */
    int64_t *language_tokens; /* [languages]; 0: no text */
    int64_t *language_entries; /* [languages] pairs that occur in the language */
    char **inputs;            /* NULL-terminated */
    char *texts[2];           /* the texts that the rule points to */
} xlm_cooccurrence;

/* Open and check a file; not collective. Shapes, attributes, and the first and last offset are checked here, all offsets, columns
 * and counts when they are read. EX_NOINPUT, EX_DATAERR. xlm_cooccurrence_close. */
xlm_cooccurrence *xlm_cooccurrence_open(const char *path, GError **error);
void xlm_cooccurrence_close(xlm_cooccurrence *table); /* NULL is allowed */

/* Are the ids of the table those of this vocabulary, and its languages too? */
bool xlm_cooccurrence_fits(const xlm_cooccurrence *table, const xlm_vocabulary *vocabulary);
/* Does a table that fits have as many subwords and languages? Its digests are only its own word. EX_DATAERR. */
bool xlm_cooccurrence_check_size(const xlm_cooccurrence *table, const xlm_vocabulary *vocabulary, GError **error);

/* Entries of rows [first, last) of X: offsets[last - first + 1], beginning with 0; *columns and *counts are new memory (g_free).
 * EX_DATAERR. */
bool xlm_cooccurrence_read(const xlm_cooccurrence *table, int64_t first, int64_t last, uint64_t *offsets, uint32_t **columns,
                           double **counts, GError **error);
/* Call visit(row, n, columns, counts, data) for every row that has entries, in order, reading some million entries at a time;
 * until one returns false, which ends the scan with false and without an error of its own. EX_DATAERR. */
typedef bool xlm_cooccurrence_visit(int64_t row, int64_t n, const uint32_t *columns, const double *counts, void *data);
bool xlm_cooccurrence_scan(const xlm_cooccurrence *table, xlm_cooccurrence_visit *visit, void *data, GError **error);
/* Records (lexicon/pair_runs.h, width: the window) of rows [first, last) of one language, new memory (g_free); *n of them, NULL
 * where there are none. EX_DATAERR. */
bool xlm_cooccurrence_read_language(const xlm_cooccurrence *table, int language, int64_t first, int64_t last, uint64_t **words,
                                    int64_t *n, GError **error);
/* [vocabulary + 1]: where the rows begin; that they ascend is checked when rows are read. g_free. NULL with EX_DATAERR. */
uint64_t *xlm_cooccurrence_read_offsets(const xlm_cooccurrence *table, GError **error);
/* [vocabulary] of /words/counted, 0 or 1; NULL without an error: an older file has none. g_free. NULL with EX_DATAERR. */
uint8_t *xlm_cooccurrence_read_counted(const xlm_cooccurrence *table, GError **error);
/* [vocabulary x languages] of /words/occurrences; [vocabulary] of /words/totals; [vocabulary] subwords, NULL-terminated
 * (g_strfreev). NULL with EX_DATAERR. */
int64_t *xlm_cooccurrence_read_occurrences(const xlm_cooccurrence *table, GError **error);
double *xlm_cooccurrence_read_totals(const xlm_cooccurrence *table, GError **error);
char **xlm_cooccurrence_read_words(const xlm_cooccurrence *table, GError **error);

/* The path of a language's group in the file. g_free. */
char *xlm_cooccurrence_group(const char *language);

#endif
