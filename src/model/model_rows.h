/* xlm-mpi: a model file with other rows of subwords and languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Arrays with a row for each subword or language get the model's row if it has the word, by spelling (model/row_sources.h); all
 * other arrays are copied. Missing rows come from a second model, from which the first was reduced; or they are means of rows of
 * the model, or random. Rows are processed in blocks, so a model of any size takes the memory of a few blocks. Nothing here is
 * collective. */
#ifndef XLM_MODEL_MODEL_ROWS_H
#define XLM_MODEL_MODEL_ROWS_H

#include "model/model_file.h"

typedef struct xlm_model_rows {
    const char *others; /* a model with rows that the first does not have; NULL: none */
    bool average;       /* other rows are means of rows of the first model, as with [train] start_rows = average; else random */
    uint64_t seed;      /* of the random rows, which are those of a run with this seed */
} xlm_model_rows;

/* Write the model of `path` with another vocabulary as `output`. Leaves out the state of a run and the parameters of its
 * objectives, except those of a task. Logs the numbers of rows by origin, and the saved bytes. EX_NOINPUT; EX_DATAERR: not
 * models, or models of different shapes; EX_CANTCREAT, EX_IOERR. */
bool xlm_model_rows_write(const char *path, const xlm_vocabulary *vocabulary, const xlm_model_rows *rows, const char *output,
                          GError **error);

#endif
