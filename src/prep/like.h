/* xlm-mpi: a corpus with the vocabulary of a checkpoint or another corpus. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * xlm_prep --like FILE: words, case, segmenter, subwords with their ids, and languages are those of FILE, so that a model trained
 * with them reads the new text ([train] start). Counts are those of the new text. Text may be in languages that FILE does not
 * have; they come after its own. With --add-subwords N at most N subwords are added: first characters that FILE does not know, by
 * falling count, then what its segmenter learns from the text of the new languages (from all text if there are none). They come
 * after FILE's subwords and before twins. */
#ifndef XLM_PREP_LIKE_H
#define XLM_PREP_LIKE_H

#include "prep/options.h"
#include "subwords/vocabulary.h"

/* Take the vocabulary, the word mode and the languages of a checkpoint or corpus. Call it before any text is given. EX_NOINPUT,
 * EX_DATAERR. */
bool xlm_prep_set_like(xlm_prep_options *options, const char *path, GError **error);

/* The same for a tokenizer that was published with a model (subwords/published.h), a directory or a file. It has no languages. */
bool xlm_prep_set_tokenizer(xlm_prep_options *options, const char *path, GError **error);

/* synthetic languages (synthetic/language.h): the text of those of FILE is made in the same way as FILE's; new ones are in the
 * letters of their base. EX_USAGE, and those of reading a syntax. */
bool xlm_prep_check_like(const xlm_prep_options *options, GError **error);

/* The segmenter, and subwords in the order of their ids. [in] words: of all training text; learn_from: the words, with weights,
 * for which subwords are added; if the segmenter segments lines, subwords instead of words. [out] segmenter, subwords: owned by
 * the caller. Not collective. */
void xlm_prep_like(const xlm_prep_options *options, const xlm_word_counts *words, const xlm_word_counts *learn_from,
                   xlm_segmenter **segmenter, xlm_word_counts **subwords);

#endif
