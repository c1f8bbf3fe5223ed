/* xlm-mpi: which parameters are trained, and how fast. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every parameter has a rate, a factor of the learning rate (tensor/parameters.h). With L layers and decay d = layer_decay, the
 * rate of layer l is d^(L-l): 1 in the top layer, d^L in the embeddings, which are layer 0. The rate of the LM head and of
 * parameters of objectives and tasks is 1. (Layer-wise decay as in ULMFiT, Howard & Ruder 2018, eq. 1, where d = 1 / 2.6, and for
 * BERT in Zhang et al. 2021, "Revisiting few-sample BERT fine-tuning", section 5; some programs give the top layer d and the
 * embeddings d^(L+1), which is the same with another learning rate for the head.) Layers that share their weights count as one
 * layer. A decoder's D layers are above the encoder's: d^(L+D) in the embeddings, d^D in a decoder's own. Weight decay is
 * scaled by the rate too.
 *
 * A frozen parameter has rate 0: its bits do not change, no gradient is computed for it, weight decay does not apply to it, and
 * it does not count in the norm for clipping. The embeddings, or the embeddings and the lowest n layers, can be frozen. The
 * backward pass ends above them, and nothing of frozen layers is kept for it. Dropout in them stays on. Frozen word embeddings
 * are also frozen as the decoder of the LM head, which is tied to them. A decoder, its own embeddings too, is never frozen. */
#ifndef XLM_JOB_RATES_H
#define XLM_JOB_RATES_H

#include "job/optimiser.h"
#include "nn/layer.h"
#include "nn/model.h"
#include "options/jobfile.h"

/* Parse `freeze`, which may be NULL: *frozen is -1 for nothing, 0 for the embeddings, n for the embeddings and n of the `layers`
 * layers of the encoder that have their own weights (xlm_layers_of). EX_CONFIG for anything else; the message has no place. */
bool xlm_rates_read_freeze(const char *freeze, int64_t layers, int64_t *frozen, GError **error);

/* The same for the key `freeze` of a section, which is refused where an adapter learns. EX_CONFIG, with its place in the file. */
bool xlm_rates_check_freeze(const xlm_jobfile *file, const char *section, const char *freeze, bool adapters_learn, int64_t layers,
                            GError **error);

/* Set the rates of all declared parameters, and log what is frozen and the range of rates. head_frozen: also freeze the LM head,
 * because no objective uses it. Errors of xlm_rates_read_freeze. */
bool xlm_rates_set(const xlm_optimiser_config *config, const xlm_model_config *model, bool head_frozen,
                   xlm_parameters *parameters, GError **error);

#endif
