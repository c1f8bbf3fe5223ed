/* xlm-mpi: which of a model's languages sentence pairs are in. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MODEL_ALIGNER_PAIR_LANGUAGES_H
#define XLM_MODEL_ALIGNER_PAIR_LANGUAGES_H

#include "aligners/align_input.h"
#include "model/model_file.h"

/* [out] languages: ids of source and target. For text: by source->languages, or else by the endings of the files' names; -1: none
 * in particular. EX_USAGE: a language that the model does not have, or none where it has language embeddings. */
bool xlm_pair_languages_of_text(const xlm_loaded_model *loaded, const xlm_align_source *source, int languages[2],
                                GError **error);
/* The same for a corpus, whose languages are known. EX_DATAERR: its vocabulary is not the model's. checkpoint: the model's path,
 * for messages. */
bool xlm_pair_languages_of_corpus(const xlm_loaded_model *loaded, const char *checkpoint, const xlm_align_input *input,
                                  int languages[2], GError **error);

#endif
