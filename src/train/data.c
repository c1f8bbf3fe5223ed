/* xlm-mpi: what a run reads: where its vocabulary and its streams come from. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/data.h"

xlm_training_data xlm_training_data_of_corpus(const xlm_corpus *corpus)
{
    return (xlm_training_data){.vocabulary = xlm_corpus_vocabulary(corpus), .digest = xlm_corpus_digest(corpus), .corpus = corpus};
}

xlm_stream *xlm_training_data_open_stream(const xlm_training_data *m, xlm_split split, const char *name, int number,
                                     const xlm_stream_config *config, uint64_t seed, GError **error)
{
    return m->corpus != NULL ? xlm_stream_open(m->corpus, split, name, number, config, seed, error)
                             : xlm_stream_open_examples(m->examples, name, number, config, seed, error);
}
