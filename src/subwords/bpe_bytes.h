/* xlm-mpi: functions shared by the files of the segmenter of byte-level BPE. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   bpe_bytes.c          the class: tokenizers as they are published, words, segmenting, changed vocabularies
 *   bpe_bytes_publish.c  back to files of transformers */
#ifndef XLM_SUBWORDS_BPE_BYTES_H
#define XLM_SUBWORDS_BPE_BYTES_H

#include "bpe/bpe.h"
#include "subwords/segmenter.h"

/* The `model` of the class. */
typedef struct xlm_byte_merges {
    bool space_first;  /* a line is read as if there were a space before it */
    GPtrArray *pairs;  /* char *: "left right", by rank; a pair may occur twice */
    xlm_bpe *bpe;      /* each pair once, in this order */
} xlm_byte_merges;

/* Functions of the class (subwords/segmenter.h). */
void xlm_byte_merges_publish(const xlm_vocabulary *vocabulary, json_t *files, json_t *settings, GString *notes);
void xlm_byte_merges_publish_needs(const xlm_vocabulary *vocabulary, xlm_word_counts *added);

extern const xlm_segmenter_class xlm_segmenter_bpe_bytes;

#endif
