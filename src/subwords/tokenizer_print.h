/* xlm-mpi: parts of a tokenizer.json. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SUBWORDS_TOKENIZER_PRINT_H
#define XLM_SUBWORDS_TOKENIZER_PRINT_H

#include "subwords/vocabulary.h"

/* The special tokens, "added_tokens"; and the rule that puts them around sequences, "post_processor". New references. */
json_t *xlm_tokenizer_print_specials(const xlm_vocabulary *vocabulary);
json_t *xlm_tokenizer_print_template(const xlm_vocabulary *vocabulary);

#endif
