/* xlm-mpi: vocabularies that are made of others. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A published vocabulary holds a hundred languages, and a study reads a few. A reduced one has the special tokens, the subwords
 * that a text has become, and those that the segmenter needs besides (xlm_segmenter_reduce), in their order; so that text becomes
 * the same subwords as before, other text in the same letters subwords that are there, and all else is unknown. An enlarged one
 * has words more, each a subword after the others; text in which they are is cut otherwise then. Which row of a model belongs
 * to which subword is found by spelling (model/row_sources.h), so a reduced vocabulary needs no table of where it came from.
 *
 * Errors of all: EX_DATAERR for a segmenter whose class cannot; what: the option, for messages. */
#ifndef XLM_SUBWORDS_VOCABULARY_CHANGE_H
#define XLM_SUBWORDS_VOCABULARY_CHANGE_H

#include "subwords/vocabulary.h"

/* Without the subwords that are not used: used[size] by id, 0 or 1. A subword and its twins go or stay together. */
xlm_vocabulary *xlm_vocabulary_reduce(const xlm_vocabulary *vocabulary, const uint8_t *used, const char *what, GError **error);

/* The subwords that the words of a file would be, one word per line, each once. EX_NOINPUT; EX_DATAERR with file and line for
 * what is not one word to the segmenter. xlm_word_counts_free. */
xlm_word_counts *xlm_vocabulary_read_words(const xlm_vocabulary *vocabulary, const char *path, GError **error);

/* With more subwords, of these those that it does not have, and more languages (names ended by NULL, or NULL), likewise.
 * EX_DATAERR for a subword that the segmenter cannot make. */
xlm_vocabulary *xlm_vocabulary_enlarge(const xlm_vocabulary *vocabulary, const xlm_word_counts *wanted,
                                       const char *const *languages, const char *what, GError **error);

/* With the subwords and languages that `other` has besides. */
xlm_vocabulary *xlm_vocabulary_unite(const xlm_vocabulary *vocabulary, const xlm_vocabulary *other, const char *what,
                                     GError **error);

#endif
