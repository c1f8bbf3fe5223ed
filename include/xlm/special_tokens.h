/* xlm-mpi: the special tokens of a vocabulary. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ids of special tokens belong to the vocabulary: in vocabularies that xlm_prep learns, <s>, <pad>, </s>, <unk> and <mask>
 * are 0 to 4; published models have other ids (mBERT 101, 0, 102, 100 and 103; XLM-R's <mask> is the last id). All other ids are
 * ordinary.
 *
 * In vocabularies of models that translate between many languages (M2M100, NLLB), ordinary tokens name languages: a text in such a
 * language begins, after <s>, with the token of the language. Such a token is no word: it is not masked, moved or counted. */
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
    int32_t id[XLM_SPECIAL_TOKENS];        /* by xlm_special; XLM_BOS may be the same as XLM_EOS (XLM) or XLM_PAD (Marian) */
    int32_t distinct;                      /* n: number of different ids */
    int32_t ascending[XLM_SPECIAL_TOKENS]; /* [n] the different ids, ascending */
    int32_t languages;                     /* number of tokens of languages: of all languages of the vocabulary, or 0 */
    const int32_t *language;               /* [languages] their ids, by language */
    int32_t first_language, last_language; /* the smallest and the largest of them */
} xlm_special_tokens;

static inline bool xlm_is_special(const xlm_special_tokens *specials, int32_t id)
{
    bool special = false;
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        special |= id == specials->id[i];
    return special;
}

/* The id of the token of a language; -1: there is none. */
static inline int32_t xlm_language_token(const xlm_special_tokens *specials, int32_t language)
{
    return language >= 0 && language < specials->languages ? specials->language[language] : -1;
}

static inline bool xlm_is_language_token(const xlm_special_tokens *specials, int32_t id)
{
    if (specials->languages == 0 || id < specials->first_language || id > specials->last_language)
        return false;
    bool found = false;
    for (int32_t i = 0; i < specials->languages; i++)
        found |= id == specials->language[i];
    return found;
}

/* Is a token part of the text, neither special nor the token of a language? */
static inline bool xlm_is_text(const xlm_special_tokens *specials, int32_t id)
{
    return !xlm_is_special(specials, id) && !xlm_is_language_token(specials, id);
}

/* The id of an ordinary token.
 * [in] number: number of ordinary tokens with smaller ids, from 0 */
static inline int32_t xlm_ordinary_id(const xlm_special_tokens *specials, int32_t number)
{
    for (int32_t i = 0; i < specials->distinct; i++)
        number += number >= specials->ascending[i];
    return number;
}

/* The number of ordinary tokens with smaller ids; for an ordinary id, the inverse of xlm_ordinary_id. */
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
