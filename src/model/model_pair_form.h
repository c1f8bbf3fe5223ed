/* xlm-mpi: the form in which a model was trained with pairs of sentences. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The form is that of `form` in [stream NAME], "xlm" or "bert" (stream/stream_config.c), of the first stream whose pairs an
 * objective of the job has the encoder read as one text; the sentences of moco and seq2seq are read one by one. A file of a model
 * says it in the attribute pair_form of /job, which goes from model to model: what is made of a model, and runs that begin with
 * it and have no such pairs, have its form. */
#ifndef XLM_MODEL_MODEL_PAIR_FORM_H
#define XLM_MODEL_MODEL_PAIR_FORM_H

#include "store/store.h"

/* Collective over the ranks of the store. form NULL writes nothing. */
bool xlm_model_pair_form_write(xlm_store *store, const char *form, GError **error);
/* Not collective. The form that a file says or, of an older file, that of the first stream of pairs of its
 * job; *form NULL: it says none. g_free. EX_DATAERR: it is no form. */
bool xlm_model_pair_form_read(const xlm_store *store, char **form, GError **error);

#endif
