/* xlm-mpi: functions shared by the files of the segmenter BPE. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   bpe_class.c    the class; its `model` is an xlm_bpe (bpe/bpe.h)
 *   bpe_adopt.c    tokenizers that transformers read, into models
 *   bpe_publish.c  and back
 *   bpe_change.c   models with fewer and more merges, also for the segmenter of XLM */
#ifndef XLM_SUBWORDS_BPE_CLASS_H
#define XLM_SUBWORDS_BPE_CLASS_H

#include "bpe/bpe.h"
#include "subwords/segmenter.h"

/* Functions of the class (subwords/segmenter.h) for a tokenizer.json that publish has written. */
void *xlm_bpe_adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error);
void xlm_bpe_publish(const xlm_vocabulary *vocabulary, json_t *files, json_t *settings, GString *notes);
void xlm_bpe_publish_needs(const xlm_vocabulary *vocabulary, xlm_word_counts *added);

/* segment_subword of a class of BPE. A subword that does not end its word is segmented with BPE_WORD_GOES_ON (bpe/codes.h) after
 * it; that comes last, and is not among what is returned. cls: the class whose spell and segment are called; cutter: of that
 * class. */
const char *bpe_segment_subword(const xlm_segmenter_class *cls, void *cutter, const char *subword, size_t *n);

extern const xlm_segmenter_class xlm_segmenter_bpe;

#endif
