/* xlm-mpi: what a run reads: where its vocabulary and its streams come from. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/material.h"

xlm_material xlm_material_of_corpus(const xlm_corpus *corpus)
{
    return (xlm_material){.vocabulary = xlm_corpus_vocabulary(corpus), .digest = xlm_corpus_digest(corpus), .corpus = corpus};
}

xlm_stream *xlm_material_open_stream(const xlm_material *m, xlm_split split, const char *name, int number,
                                     const xlm_stream_config *config, uint64_t seed, GError **error)
{
    return m->corpus != NULL ? xlm_stream_open(m->corpus, split, name, number, config, seed, error)
                             : xlm_stream_open_examples(m->examples, name, number, config, seed, error);
}
