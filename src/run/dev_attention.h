/* xlm-mpi: attention of the decoder while it translates held-out sentences, as a file. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_DEV_ATTENTION_H
#define XLM_RUN_DEV_ATTENTION_H

#include "subwords/vocabulary.h"
#include "translation/translate.h"

/* Of the first n sentences of the sources, which are of one language and are translated to one. */
typedef struct xlm_dev_attention {
    const xlm_translator *translator;
    const xlm_vocabulary *vocabulary;
    const xlm_translation_sources *sources;
    const xlm_translation_set *set; /* their translations, the best of which counts */
    int64_t n;
    const char *model;              /* path of the checkpoint of the step, which need not exist */
    int64_t step;
} xlm_dev_attention;

/* Write a file of matrices (aligners/matrix_file.h). Sources are `<s> ids </s>`, targets the ids of the translation and `</s>`. A
 * value is the share of the attention of the decoder's last layer, averaged over its heads, that a source subword gets when a
 * target subword is written, so columns add up to 1. Sentences without a translation have no matrix. Called by one rank alone.
 * EX_CANTCREAT, EX_IOERR. */
bool xlm_dev_attention_write(const xlm_dev_attention *attention, const char *path, GError **error);

#endif
