/* xlm-mpi: architectures of models as sets of properties, for tests. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TEST_ARCHITECTURE_FIXTURE_H
#define XLM_TEST_ARCHITECTURE_FIXTURE_H

#include "xlm/model.h"

/* Those of the bits 1, 2, 4, ... 128 of p: where norms and biases are, scaled embeddings, gates. Further ones: 2048 and 4096. */
static inline void set_properties(int p, xlm_model_config *c)
{
    c->norm = p & 1 ? XLM_NORM_PRE : XLM_NORM_POST;
    c->final_norm = p & 2;
    c->norm_biases = !(p & 4);
    c->first_norm = !(p & 8 && p & 1);
    c->linear_biases = !(p & 16);
    c->embedding_norm = !(p & 32);
    c->scale_embeddings = p & 64;
    c->gated_feed_forward = p & 128;
    c->encode_bos = !(p & 2048);
    c->output_bias = !(p & 4096);
}

#endif
