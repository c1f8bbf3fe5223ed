/* xlm-mpi: a model file rewritten for other subwords and languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In arrays with a row for each subword or language, a word gets the row of the word that is spelt alike in the model
 * (model/row_sources.h); all other arrays are copied. Missing rows come from a second model, of which the first was made by
 * leaving out subwords, or are means of rows of the first, or random. Rows are processed in blocks, so that a model of any size
 * takes the memory of a few blocks; where some are means, also that of the array that these are of. Nothing here is collective. */
#ifndef XLM_MODEL_MODEL_ROWS_H
#define XLM_MODEL_MODEL_ROWS_H

#include "model/model_file.h"

typedef struct xlm_model_rows {
    const char *others; /* a model with rows that the first does not have; NULL: none */
    bool average;       /* rows in neither model are means of rows of the first (as with [train] start_rows = average); else
                         * random */
    uint64_t seed;      /* of the random rows, which are those of a run with this seed */
} xlm_model_rows;

/* Write the model in `path` with another vocabulary to `output`. The state of a run and the parameters of its objectives are left
 * out, except those of a task. Logs how many rows come from where, and the sizes before and after. EX_NOINPUT; EX_DATAERR: not
 * models, or models of different shapes; EX_CANTCREAT, EX_IOERR. */
bool xlm_model_rows_write(const char *path, const xlm_vocabulary *vocabulary, const xlm_model_rows *rows, const char *output,
                          GError **error);

#endif
