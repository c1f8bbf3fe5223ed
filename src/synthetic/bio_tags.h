/* xlm-mpi: BIO tags of words that change their order. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_SYNTHETIC_BIO_TAGS_H
#define XLM_SYNTHETIC_BIO_TAGS_H

#include "formats/conllu.h"

/* The place of a tag in the line of a word. */
typedef struct xlm_bio_slot {
    int column;      /* of CoNLL-U */
    const char *key; /* of MISC, "NER="; "" for the whole of the column. Size: */
    size_t key_size;
} xlm_bio_slot;

/* The slots from XPOS on that have a value B-... or I-... for some word. [out] slots: array of xlm_bio_slot, set;
 * keys point into the sentence. */
void xlm_bio_slots(const xlm_conllu *sentence, GArray *slots);

/* A word's tag in a slot: its bytes in the column, 0 of them when it has none. */
const char *xlm_bio_tag(const xlm_conllu_word *word, const xlm_bio_slot *slot, size_t *size);

/* Which letter a word's tag begins with when the words are in another order. [in] order: n indices of words. [out]
 * letters: [n], by place in the new order: 'B', 'I', or 0 for words of no entity. Words belong to one entity if they are
 * consecutive in the sentence, have the same type, and all but the first have I-. */
void xlm_bio_letters(const xlm_conllu *sentence, const xlm_bio_slot *slot, const uint32_t *order, char *letters);

#endif
