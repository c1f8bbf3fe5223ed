/* xlm-mpi: which parameters learn, and how fast. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every parameter has a rate, a factor of the learning rate (tensor/parameters.h). With L layers and decay d = layer_decay, those
 * of layer l have d^(L-l): 1 in the topmost one, d^L in the embeddings, which are layer 0. The LM head, and what objectives and
 * tasks declare, has 1. (Layer-wise decay as in ULMFiT, Howard & Ruder 2018, eq. 1, where d = 1 / 2.6, and for BERT in Zhang et
 * al. 2021, "Revisiting few-sample BERT fine-tuning", section 5; some programs give the topmost layer d, and the embeddings
 * d^(L+1), which is the same with another learning rate for the head.) Layers that share their weights are one layer. Weight
 * decay goes with the rate.
 *
 * A frozen parameter has rate 0: it keeps its bits, no gradient is computed for it, weight decay spares it, it does not count in
 * the norm that is clipped. Frozen are the embeddings, or the lowest n layers and the embeddings; the backward pass ends above
 * them, and of frozen layers nothing is kept for it. Dropout in them stays on. Frozen word embeddings are frozen as the decoder
 * of the LM head too, which is tied to them. */
#ifndef XLM_JOB_RATES_H
#define XLM_JOB_RATES_H

#include "job/optimiser.h"
#include "nn/layer.h"
#include "nn/model.h"

/* What `freeze` says, which may be NULL: *frozen is -1 for nothing, 0 for the embeddings, n for n layers and the embeddings, of
 * `layers` of the encoder that have weights of their own (xlm_layers_of). EX_CONFIG for anything else; the message has no place. */
bool xlm_rates_read_freeze(const char *freeze, int64_t layers, int64_t *frozen, GError **error);

/* Set the rates of all parameters, which are declared; the log says what is frozen, and the range of rates. head_frozen: the LM
 * head, which no objective uses, stays as it is too. Errors of xlm_rates_read_freeze. */
bool xlm_rates_set(const xlm_optimiser_config *config, const xlm_model_config *model, bool head_frozen,
                   xlm_parameters *parameters, GError **error);

#endif
