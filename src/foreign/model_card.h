/* xlm-mpi: the card of a model, which people read first. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_FOREIGN_MODEL_CARD_H
#define XLM_FOREIGN_MODEL_CARD_H

#include "model/model_file.h"

/* README.md: metadata (languages, library, kind of use), what the model is, and how it is used. class_name: of transformers.
 * notes: sentences about what differs from xlm-mpi. g_free. */
char *xlm_foreign_model_card(const xlm_loaded_model *model, const char *class_name, bool tokenizer, const char *notes);

#endif
