/* xlm-mpi: parts of a tokenizer.json. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SUBWORDS_TOKENIZER_PRINT_H
#define XLM_SUBWORDS_TOKENIZER_PRINT_H

#include "subwords/added_tokens.h"
#include "subwords/vocabulary.h"

/* What is said about a special token that came without a word about it: a space before the mask belongs to it. XLM_ADDED_... */
unsigned xlm_tokenizer_special_how(const xlm_vocabulary *vocabulary, int32_t id);
/* An entry of "added_tokens". how: XLM_ADDED_...; a new reference. */
json_t *xlm_tokenizer_print_added(int32_t id, const char *text, unsigned how);
/* The special tokens, "added_tokens"; and the rule that puts them around sequences, "post_processor". New references. */
json_t *xlm_tokenizer_print_specials(const xlm_vocabulary *vocabulary);
json_t *xlm_tokenizer_print_template(const xlm_vocabulary *vocabulary);
/* Change that rule, in a tokenizer.json that has it: the token that closes sequences is `separators` times between two of them. */
void xlm_tokenizer_separate(json_t *tokenizer, int separators);

#endif
