/* xlm-mpi: vocabularies that are made from others. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A published vocabulary has a hundred languages, and a study reads a few. A reduced vocabulary has the special tokens, the
 * subwords of a given text, and those that the segmenter also needs (xlm_segmenter_reduce), in their order. That text
 * therefore becomes the same subwords as before, other text in the same letters becomes existing subwords, and all else is
 * unknown. An enlarged vocabulary has additional words, each a subword after the others; text with these words is then cut
 * differently. The rows of a model are matched to subwords by spelling (model/row_sources.h), so a reduced vocabulary needs no
 * table of its origin.
 *
 * All functions return EX_DATAERR for a segmenter whose class does not support this. what: the option, for messages. */
#ifndef XLM_SUBWORDS_VOCABULARY_CHANGE_H
#define XLM_SUBWORDS_VOCABULARY_CHANGE_H

#include "subwords/vocabulary.h"

/* Remove the unused subwords. used[size]: by id, 0 or 1. A subword and its twins are removed or kept together. */
xlm_vocabulary *xlm_vocabulary_reduce(const xlm_vocabulary *vocabulary, const uint8_t *used, const char *what, GError **error);

/* The subwords of the words in a file, one word per line; each once. EX_NOINPUT; EX_DATAERR with file and line for a line that is
 * not one word to the segmenter. xlm_word_counts_free. */
xlm_word_counts *xlm_vocabulary_read_words(const xlm_vocabulary *vocabulary, const char *path, GError **error);

/* Add those of these subwords and languages (names ended by NULL, or NULL) that the vocabulary does not have. EX_DATAERR for a
 * subword that the segmenter cannot make. */
xlm_vocabulary *xlm_vocabulary_enlarge(const xlm_vocabulary *vocabulary, const xlm_word_counts *wanted,
                                       const char *const *languages, const char *what, GError **error);

/* Add the subwords and languages of `other` that the vocabulary does not have. */
xlm_vocabulary *xlm_vocabulary_unite(const xlm_vocabulary *vocabulary, const xlm_vocabulary *other, const char *what,
                                     GError **error);

#endif
