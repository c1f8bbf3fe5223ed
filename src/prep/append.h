/* xlm-mpi: the sentences of a corpus copied into a new one (xlm_prep --append). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The new corpus has the monolingual sentences of the old one, then new ones; then the sentences of the old one that are only in
 * pairs, then new ones. They are copied as ids. All functions are collective, except the first and the last. */
#ifndef XLM_PREP_APPEND_H
#define XLM_PREP_APPEND_H

#include "corpus/writer.h"
#include "prep/options.h"

typedef struct xlm_prep_copy xlm_prep_copy;

/* Everything is borrowed, and must outlive the copy. */
xlm_prep_copy *xlm_prep_copy_new(const xlm_comm *comm, const xlm_prep_options *options, xlm_corpus_writer *writer);
/* Copy the monolingual text, and its links with synthetic languages: before new text is written. Errors of reading and
 * writing. */
bool xlm_prep_copy_monolingual(xlm_prep_copy *copy, GError **error);
/* Copy the rest: when all new monolingual text is written (xlm_corpus_writer_end_monolingual), before new pairs. */
bool xlm_prep_copy_parallel(xlm_prep_copy *copy, GError **error);
/* NULL is allowed. */
void xlm_prep_copy_free(xlm_prep_copy *copy);

#endif
