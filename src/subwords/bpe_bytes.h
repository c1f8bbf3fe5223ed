/* xlm-mpi: functions shared by the files of the segmenter of byte-level BPE. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   bpe_bytes.c          the class: tokenizers as they are published, segmenting, changed vocabularies
 *   bpe_bytes_words.c    lines into words, and words into letters of bytes
 *   bpe_bytes_publish.c  back to files of transformers */
#ifndef XLM_SUBWORDS_BPE_BYTES_H
#define XLM_SUBWORDS_BPE_BYTES_H

#include "bpe/bpe.h"
#include "subwords/added_tokens.h"
#include "subwords/segmenter.h"

/* The `model` of the class. */
typedef struct xlm_byte_merges {
    bool space_first;  /* a line, or a part of it between added tokens, is read as if there were a space before it */
    bool form_c;       /* text is brought into Form C */
    xlm_added_tokens *added; /* found before words */
    GPtrArray *pairs;  /* char *: "left right", by rank; a pair may occur twice */
    xlm_bpe *bpe;      /* each pair once, in this order */
} xlm_byte_merges;

/* The letter that a byte is written as, and the byte of a letter; -1: of none. */
int32_t xlm_byte_letter(unsigned char byte);
int xlm_byte_of_letter(int32_t letter);
#define XLM_BYTE_SPACE "\xc4\xa0" /* the letter of a space, U+0120 */

/* Does the model have anything that files before version 4 cannot hold? */
static inline bool xlm_byte_merges_is_newer(const xlm_byte_merges *merges)
{
    return merges->form_c || xlm_added_tokens_size(merges->added) > 0;
}

/* Functions of the class (subwords/segmenter.h). */
xlm_normaliser *xlm_byte_words_normaliser(const void *model);
void xlm_byte_merges_publish(const xlm_vocabulary *vocabulary, json_t *files, json_t *settings, GString *notes);
void xlm_byte_merges_publish_needs(const xlm_vocabulary *vocabulary, xlm_word_counts *added);

extern const xlm_segmenter_class xlm_segmenter_bpe_bytes;

#endif
