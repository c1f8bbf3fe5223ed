/* xlm-mpi: the vocabulary of a published tokenizer. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SUBWORDS_PUBLISHED_H
#define XLM_SUBWORDS_PUBLISHED_H

#include "subwords/vocabulary.h"

/* All tokens with their published ids, counts 0, no languages but those that the tokenizer names. A missing special token gets an id
 * after all others. [out] added: how many; may be NULL. Errors: those of xlm_tokenizer_files_read; EX_DATAERR when no segmenter
 * class recognises the files, when an id has no token, and when a token occurs twice. */
xlm_vocabulary *xlm_published_read(const char *path, int *added, GError **error);
xlm_vocabulary *xlm_published_vocabulary(const xlm_tokenizer_files *files, int *added, GError **error);

/* How many tokens the tokenizer has between two texts, 1 or 2: as "post_processor" of its tokenizer.json says; otherwise two with
 * the special tokens of RoBERTa and XLM-R. path: as above. */
int xlm_published_separators(const char *path, const xlm_vocabulary *vocabulary);

#endif
