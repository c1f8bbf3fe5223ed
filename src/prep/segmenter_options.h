/* xlm-mpi: the options of segmenters in a preparation. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each class of segmenters has its options in a table (subwords/segmenter.h), among them one that says how much to learn and one
 * that names a file with what was learned. These functions cover all classes, so that no other code knows the names of their
 * options. */
#ifndef XLM_PREP_SEGMENTER_OPTIONS_H
#define XLM_PREP_SEGMENTER_OPTIONS_H

#include "prep/options.h"

/* Set an option ("codes") of the class that has it. EX_USAGE when it is out of range, or no class has it. */
bool xlm_prep_set_segmenter(xlm_prep_options *options, const char *name, const char *value, GError **error);

/* The options of the class that is to be learned or read; if there is none, of the class of the vocabulary given with --like, or
 * else of the first class. [out] cls: the class. */
const xlm_segmenter_options *xlm_prep_segmenter(const xlm_prep_options *options, const xlm_segmenter_class **cls);

/* The normaliser of lines for the segmenter. xlm_normaliser_free. */
xlm_normaliser *xlm_prep_normaliser(const xlm_prep_options *options, GError **error);

/* Is at most one segmenter requested? Else EX_USAGE. */
bool xlm_prep_check_segmenter(const xlm_prep_options *options, GError **error);

/* The options of all classes that say how much to learn ("--unigram=N"), and those that name a file ("--codes=FILE"), separated
 * by "or". g_free. */
char *xlm_prep_learn_options(void);
char *xlm_prep_file_options(void);
/* The first given option that chooses a segmenter ("--codes"), NULL for none. g_free. */
char *xlm_prep_given_segmenter(const xlm_prep_options *options);

#endif
