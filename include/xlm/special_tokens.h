/* xlm-mpi: the special tokens of a vocabulary. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Which ids are special is data of the vocabulary: vocabularies that xlm_prep makes have <s>, <pad>, </s>, <unk> and <mask> as
 * 0 to 4, those of published models have them elsewhere (mBERT 101, 0, 102, 100 and 103; XLM-R's <mask> is the last id). All
 * other ids are ordinary. */
#ifndef XLM_SPECIAL_TOKENS_H
#define XLM_SPECIAL_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* XLM_BOS opens a sequence (BERT's [CLS]), XLM_EOS closes one (BERT's [SEP]). */
typedef enum { XLM_BOS, XLM_PAD, XLM_EOS, XLM_UNK, XLM_MASK, XLM_SPECIAL_TOKENS } xlm_special;

typedef struct xlm_special_tokens {
    int32_t id[XLM_SPECIAL_TOKENS];        /* by xlm_special; XLM_BOS and XLM_EOS may be the same, as in the models of XLM */
    int32_t distinct;                      /* n: how many different ids these are */
    int32_t ascending[XLM_SPECIAL_TOKENS]; /* [n] the different ids in order */
} xlm_special_tokens;

static inline bool xlm_is_special(const xlm_special_tokens *specials, int32_t id)
{
    bool special = false;
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        special |= id == specials->id[i];
    return special;
}

/* The id of the ordinary token that has `number` others, from 0, before it. */
static inline int32_t xlm_ordinary_id(const xlm_special_tokens *specials, int32_t number)
{
    for (int32_t i = 0; i < specials->distinct; i++)
        number += number >= specials->ascending[i];
    return number;
}

/* How many ordinary tokens have smaller ids: for an ordinary id, what xlm_ordinary_id takes. */
static inline int32_t xlm_ordinary_number(const xlm_special_tokens *specials, int32_t id)
{
    int32_t number = id;
    for (int32_t i = 0; i < specials->distinct; i++)
        number -= id > specials->ascending[i];
    return number;
}

#ifdef __cplusplus
}
#endif
#endif
