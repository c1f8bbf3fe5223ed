/* xlm-mpi: a corpus with the vocabulary of a checkpoint or another corpus. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * With xlm_prep --like FILE, the word mode, case, segmenter, subwords with their ids, and languages are those of FILE, so that a
 * model trained with them can read the new text ([train] start). Counts are those of the new text. The text may be in languages
 * that FILE does not have; they come after its own. With --add-subwords N at most N subwords are added: first characters that
 * FILE does not have, by falling count, then what its segmenter learns from the text of the new languages (from all text if no
 * language is new). They come after FILE's subwords and before twins. */
#ifndef XLM_PREP_LIKE_H
#define XLM_PREP_LIKE_H

#include "prep/options.h"
#include "subwords/vocabulary.h"

/* Take the vocabulary, the word mode and the languages of a checkpoint or corpus. Call it before any text is given. EX_NOINPUT,
 * EX_DATAERR. */
bool xlm_prep_set_like(xlm_prep_options *options, const char *path, GError **error);

/* The same for a tokenizer that was published with a model (subwords/published.h). path: a directory or a file. It has no
 * languages. EX_NOINPUT, EX_DATAERR. */
bool xlm_prep_set_tokenizer(xlm_prep_options *options, const char *path, GError **error);

/* The same for a corpus to which text is added (prep/appended.h): xlm_prep --append. Counts are then the sum of its own and those
 * of the new text, and no subwords are added. Held-out sentences are chosen as in it. */
bool xlm_prep_set_append(xlm_prep_options *options, const char *path, GError **error);

/* Check synthetic languages (synthetic/language.h): text of those of FILE must be made in the same way as FILE's, and new ones
 * must keep the letters of their base. EX_USAGE, and errors of reading a syntax. */
bool xlm_prep_check_like(const xlm_prep_options *options, GError **error);

/* Get the segmenter. [in] learn_from: the words, with weights, from which subwords are learned, or subwords if the segmenter
 * segments lines; not used if none are to be learned. [out] allowed: the subwords that text may become, those of FILE first. Both
 * are owned by the caller. Not collective. */
xlm_segmenter *xlm_prep_like_segmenter(const xlm_prep_options *options, const xlm_word_counts *learn_from,
                                       xlm_word_counts **allowed);
/* Get the subwords in the order of their ids. counted: the subwords of all training text, cut into `allowed`, with their counts.
 * Not collective. */
xlm_word_counts *xlm_prep_like_subwords(const xlm_prep_options *options, const xlm_word_counts *allowed,
                                        const xlm_word_counts *counted);

#endif
