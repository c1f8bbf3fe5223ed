/* xlm-mpi: the special tokens of our own vocabularies, and of others. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SUBWORDS_SPECIAL_TOKENS_H
#define XLM_SUBWORDS_SPECIAL_TOKENS_H

#include <xlm/special_tokens.h>

#include "base/error.h"

/* Ids in vocabularies that xlm_prep makes, and in files that do not give their ids. Other code asks the vocabulary
 * (xlm_vocabulary_special). */
enum { XLM_ID_BOS = 0, XLM_ID_PAD = 1, XLM_ID_EOS = 2, XLM_ID_UNK = 3, XLM_ID_MASK = 4, XLM_SPECIALS = 5 };
static const xlm_special_tokens xlm_own_special_tokens = {
    .id = {XLM_ID_BOS, XLM_ID_PAD, XLM_ID_EOS, XLM_ID_UNK, XLM_ID_MASK}, .distinct = XLM_SPECIALS, .ascending = {0, 1, 2, 3, 4},
};
extern const char *const xlm_own_special_names[XLM_SPECIAL_TOKENS]; /* "<s>", "<pad>", "</s>", "<unk>", "<mask>" */

/* "bos", "pad", "eos", "unk", "mask": their names in files and messages. */
const char *xlm_special_name(xlm_special special);

/* [in] id: by xlm_special. EX_DATAERR when one is negative, or two are the same, other than XLM_BOS and one of
 * XLM_EOS and XLM_PAD. */
bool xlm_special_tokens_set(xlm_special_tokens *specials, const int32_t id[XLM_SPECIAL_TOKENS], GError **error);

#endif
