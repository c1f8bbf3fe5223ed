/* xlm-mpi: the input for measures of words: a model, a dictionary and a corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PROGRAM_WORD_INPUTS_H
#define XLM_PROGRAM_WORD_INPUTS_H

#include "corpus/corpus.h"
#include "lexicon/dictionary.h"
#include "model/model_file.h"

typedef struct xlm_word_inputs {
    xlm_loaded_model *loaded;
    xlm_corpus *corpus; /* NULL: none was requested */
    xlm_dictionary *in, *left_out; /* pairs of the dictionary, and those that xlm_dict --share left out */
} xlm_word_inputs;

/* path: of the checkpoint, the dictionary and, NULL for none, the corpus, which must have the checkpoint's subwords and
 * languages. Not collective; *inputs must be zero before, and must be closed also after a failure. EX_NOINPUT, EX_DATAERR. */
bool xlm_word_inputs_open(xlm_word_inputs *inputs, const char *const path[3], GError **error);
void xlm_word_inputs_close(xlm_word_inputs *inputs);

#endif
