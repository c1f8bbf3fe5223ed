/* xlm-mpi: the vocabulary of a published tokenizer. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SUBWORDS_PUBLISHED_H
#define XLM_SUBWORDS_PUBLISHED_H

#include "subwords/vocabulary.h"

/* All tokens with their published ids, counts 0, no languages but those that the tokenizer names. A missing special token gets an id
 * after all others. [out] added: how many; may be NULL. Errors: those of xlm_tokenizer_files_read; EX_DATAERR when no segmenter
 * class recognises the files, when an id has no token, and when a token occurs twice. */
xlm_vocabulary *xlm_published_read(const char *path, int *added, GError **error);
xlm_vocabulary *xlm_published_vocabulary(const xlm_tokenizer_files *files, int *added, GError **error);

/* What the tokenizer makes of two texts, as "post_processor" of its tokenizer.json says, or else as is usual: with the special
 * tokens of RoBERTa and XLM-R two tokens between them, and all tokens of type 0; otherwise one, and type 1 for the second text. path:
 * as above. */
typedef struct xlm_published_pair {
    int separators;  /* tokens between them: 1 or 2 */
    int second_type; /* of tokens of the second text: 0 or 1 */
} xlm_published_pair;
xlm_published_pair xlm_published_pair_form(const char *path, const xlm_vocabulary *vocabulary);

#endif
