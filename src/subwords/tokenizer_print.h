/* xlm-mpi: parts of a tokenizer.json. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SUBWORDS_TOKENIZER_PRINT_H
#define XLM_SUBWORDS_TOKENIZER_PRINT_H

#include "subwords/vocabulary.h"

/* New references: the tokens that are special, "added_tokens"; and what puts them around sequences, "post_processor". */
json_t *xlm_tokenizer_print_specials(const xlm_vocabulary *vocabulary);
json_t *xlm_tokenizer_print_template(const xlm_vocabulary *vocabulary);

#endif
