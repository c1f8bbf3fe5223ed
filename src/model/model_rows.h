/* xlm-mpi: a model file with other rows of subwords and languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Arrays with a row for each subword or language get the model's row wherever it has the word, which is found by its spelling
 * (model/row_sources.h); all others are copied. Rows that it does not have come from a second model, whose rows were left out of
 * the first; or they are means of the model's own, or drawn. Rows go a block at a time: a model of any size takes the memory of a
 * few blocks. Nothing here is collective. */
#ifndef XLM_MODEL_MODEL_ROWS_H
#define XLM_MODEL_MODEL_ROWS_H

#include "model/model_file.h"

typedef struct xlm_model_rows {
    const char *others; /* a model that rows come from that the first does not have; NULL: none */
    bool average;       /* the rest: means of rows of the first, as [train] start_rows = average has them; else drawn */
    uint64_t seed;      /* of the draws, which are those of a run of this seed */
} xlm_model_rows;

/* Write the model of `path` with another vocabulary as `output`. The state of a run is left out, and so are the parameters of its
 * objectives, but for those of a task. How many rows come from where, and how many bytes are saved, is logged. EX_NOINPUT;
 * EX_DATAERR: not models, or not of one shape; EX_CANTCREAT, EX_IOERR. */
bool xlm_model_rows_write(const char *path, const xlm_vocabulary *vocabulary, const xlm_model_rows *rows, const char *output,
                          GError **error);

#endif
