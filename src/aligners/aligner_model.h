/* xlm-mpi: the file of a trained word aligner. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It has the counts of all tables of an aligner (aligners/aligner.h). With them text is aligned without training, or a new
 * training starts from them. Layout, as xlm_align --save writes it (V source words, W target words, P pairs of words):
 *
 *   /                        format = "xlm-mpi word aligner", format_version, program_version, command, method, words = "space" |
 *                            "icu", lower_case, sentence_pairs, iterations, unit: counts are integers in units of 1 / unit
 *   /source/words            [V] strings, in order of a digest of their bytes
 *   /source/<table>          [V x width] i64, tables of source words; the same in /target, [W]
 *   /pairs/offsets           [V+1] u64: pairs of source word e are offsets[e] … offsets[e+1]
 *   /pairs/targets           [P] u32: the target word of each, ascending within a source word
 *   /pairs/<table>           [P x width] i64; pairs whose counts are all 0 are left out
 *   /whole/<table>           [1 x width] i64
 *       attribute of each table: meaning
 *
 * The file is the same on any number of ranks. */
#ifndef XLM_ALIGNERS_ALIGNER_MODEL_H
#define XLM_ALIGNERS_ALIGNER_MODEL_H

#include "aligners/aligner.h"
#include "aligners/shared_counts.h"

#define XLM_ALIGNER_FORMAT "xlm-mpi word aligner"
enum { XLM_ALIGNER_VERSION = 1 };

/* A model as it is on one rank: all words, and a part of the counts. The parts of all ranks together are the model. */
typedef struct xlm_aligner_model {
    const xlm_aligner *aligner;
    xlm_word_mode words;
    bool lower;
    int64_t sentence_pairs;
    char **texts[2];         /* source words, target words; g_strfreev */
    int64_t types[2];
    int64_t rows[4];         /* [xlm_table_of] number of rows on this rank */
    int64_t first[4];        /* the number of the first of them */
    uint32_t *sources, *targets; /* [rows[XLM_TABLE_PAIRS]] words of each pair */
    int64_t *counts[XLM_ALIGNER_TABLES]; /* [rows x width] */
} xlm_aligner_model;

/* Collective. The file may be untrusted; everything in it is checked. EX_NOINPUT, EX_DATAERR. */
xlm_aligner_model *xlm_aligner_model_read(const xlm_comm *comm, const char *path, GError **error);
void xlm_aligner_model_free(xlm_aligner_model *model); /* NULL is allowed */

/* The contents of a new file. */
typedef struct xlm_aligner_record {
    const xlm_aligner *aligner;
    xlm_word_mode words;
    bool lower;
    int64_t sentence_pairs, iterations;
    const char *command;
    const xlm_word_numbers *numbers[2];  /* source words, target words */
    const xlm_shared_counts *pairs;
    const int64_t *sums[XLM_ALIGNER_TABLES]; /* of the rows that this rank owns; XLM_TABLE_WHOLE: of all */
} xlm_aligner_record;

/* Collective. EX_CANTCREAT, EX_IOERR. */
bool xlm_aligner_model_write(const xlm_comm *comm, const char *path, const xlm_aligner_record *record, GError **error);

#endif
