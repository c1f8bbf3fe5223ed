/* xlm-mpi: sentences and pairs that rules leave out. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The rules are those of prep/filter_options.h. They look at text as text/normalise.h makes it, also when the segmenter has a
 * normaliser of its own, so that a rule means the same with every vocabulary. Only rules about equal text look at what the
 * segmenter gets, as the split does (prep/split.h). A word is what text/words.h finds: in mode `space` if the vocabulary has this
 * mode and no normaliser of its own, else in mode `icu`.
 *
 * A rule for the text of one language leaves out a pair if either side breaks it. */
#ifndef XLM_PREP_FILTER_H
#define XLM_PREP_FILTER_H

#include "comm/comm.h"
#include "formats/conllu.h"
#include "prep/filter_options.h"

typedef struct xlm_filter xlm_filter;

/* A sentence, or the sides of a pair. */
typedef struct xlm_filter_text {
    const char *raw[2];      /* as it was read, valid UTF-8; NULL with a tree */
    size_t raw_size[2];
    const xlm_conllu *tree;  /* NULL for other text than CoNLL-U */
    const char *const *text; /* [2] normalised, not empty */
    const size_t *size;      /* [2] */
    const uint64_t *digest;  /* [2] of the normalised text without spaces */
    int64_t place;           /* grows along the source; lines of the same record have the same place */
} xlm_filter_text;

/* options: borrowed. EX_SOFTWARE when ICU has no data. */
xlm_filter *xlm_filter_new(const xlm_prep_options *options, GError **error);
/* NULL is allowed. */
void xlm_filter_free(xlm_filter *filter);

/* [out] rule: the number of the first rule that the sentence breaks, XLM_RULES for none. [in, out] kept: how many sentences of
 * this pass over the source the rules before --duplicates have kept on this rank; 0 at its beginning. In every pass a rank must
 * get the same sentences of a source in the same order. EX_DATAERR when the source has changed since the first pass. */
bool xlm_filter_apply(xlm_filter *filter, const xlm_prep_source *source, const xlm_filter_text *text, int64_t *kept, int *rule,
                      GError **error);

/* Must the whole text be read once before the rules can be applied? Until xlm_filter_finish no sentence is a duplicate. */
bool xlm_filter_is_unfinished(const xlm_filter *filter);
/* All text was read once. Collective. */
void xlm_filter_finish(xlm_filter *filter, const xlm_comm *comm);

/* The scripts that --script-share counts for a language, NULL if it has no text. Borrowed. */
const char *xlm_filter_scripts(const xlm_filter *filter, int language);

#endif
