/* xlm-mpi: sentences translated by an encoder and a decoder. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   sentences of ids -> batches by length (translation/batches.h), which the ranks take in turn -> encoder -> search
 * (xlm/search.h)
 *   -> translations, on all ranks
 *
 * A sentence is encoded as the objective seq2seq does in training: `<s> ids </s>`, positions from 0, all of its language. Its
 * translation depends on the sentence, the options and, when sampling, on its number, but not on other sentences, on the size of
 * batches or on the number of ranks. */
#ifndef XLM_TRANSLATION_TRANSLATE_H
#define XLM_TRANSLATION_TRANSLATE_H

#include "base/error.h"
#include "translation/results.h"

/* Those of evaluation: beam 1, length 1.5 n + 10, no links. */
extern const xlm_translation_options xlm_translation_defaults;

/* What translates; borrowed. */
typedef struct xlm_translator {
    const xlm_comm *comm;
    const xlm_model *model;
    xlm_tape *tape;         /* of its parameters, between passes */
    const xlm_special_tokens *specials;
    const xlm_translation_options *options;
    /* Called after each batch of this rank: so many of its own sentences are done, and so many ids written; or NULL. */
    void (*progress)(void *data, int64_t sentences, int64_t tokens);
    void *progress_data;
} xlm_translator;

typedef struct xlm_translation_sources {
    int64_t sentences;      /* S */
    const int64_t *offsets; /* [S + 1] */
    const int32_t *ids;     /* without <s> and </s>: at most xlm_translation_longest of each sentence */
    const int32_t *from, *to; /* [S] language ids */
    uint64_t first;         /* number of the first sentence, of the draws: the others follow it */
} xlm_translation_sources;

/* Maximum number of ids of a sentence: the positions of the model without <s> and </s>. */
int64_t xlm_translation_longest(const xlm_model *model);
/* Can the model translate, and do the options suit it? The message of EX_DATAERR is about the model, and the caller puts its
 * name in front; that of EX_USAGE is about the options. Not collective. */
bool xlm_translation_check(const xlm_model *model, const xlm_special_tokens *specials, const xlm_translation_options *options,
                           GError **error);
/* About the most bytes of the tape that a pass over a batch takes, if sentences have at most so many ids. Not collective. */
uint64_t xlm_translation_bytes(const xlm_translator *translator, int64_t longest);

/* Collective, with the same sources on all ranks, which must have passed xlm_translation_check. All translations on every rank;
 * xlm_translation_set_free (translation/results.h). */
xlm_translation_set *xlm_translate(const xlm_translator *translator, const xlm_translation_sources *sources);

/* The attention of layer `layer` (1 to D) of the decoder to a sentence of the sources while it writes a translation of it, mean
 * over the heads: [tokens + 1 x ids + 2], a row for each token and </s>, columns <s>, ids, </s>. The same bits as in any batch.
 * Memory of the tape, until it begins again. Not collective. */
const xlm_real *xlm_translation_attention(const xlm_translator *translator, const xlm_translation_sources *sources, int64_t sentence,
                                          const xlm_translation *translation, int64_t layer);
/* The most bytes of the tape that it takes, if sentences have at most so many ids. */
uint64_t xlm_translation_attention_bytes(const xlm_translator *translator, int64_t longest, int64_t layer);

#endif
