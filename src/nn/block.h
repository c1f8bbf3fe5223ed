/* xlm-mpi: blocks; a layer is a list of them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A block is a sublayer f with its residual connection and norm (post-LN, Vaswani et al. 2017):
 *     y = LayerNorm(x + dropout(f(x))).
 * A class describes one kind of block. The parameters of a block begin with its name, (stack, layer, block):
 * "encoder/layer.3/attention" has encoder/layer.3/attention/query/weight and others. */
#ifndef XLM_NN_BLOCK_H
#define XLM_NN_BLOCK_H

#include <xlm/model.h>

#include "tensor/cached_attention.h"
#include "tensor/parameters.h"

enum { XLM_BLOCK_NAME = 96 }; /* bytes of a block's name */

/* What a layer of a decoder has kept of earlier rows, for a search that computes one row of each hypothesis at a time
 * (nn/decoder_cache.h): keys and values of tokens and of the memory; and what each of the n rows of a step is to do with them. */
typedef struct xlm_block_cache {
    xlm_cache_rows tokens, memory;
    const struct xlm_cache_step {
        const int32_t *write;               /* [n] the row of `tokens` that keeps this row's key and value */
        const int32_t *const *tokens;       /* [n] the rows of `tokens` that it attends to, its own among them */
        const int32_t *token_lengths;       /* [n] their number */
        const int32_t *const *memory;       /* [n] the rows of `memory` that it attends to */
        const int32_t *memory_lengths;      /* [n] their number */
    } *step;
} xlm_block_cache;

/* The rows of a packed batch, and those that a layer computes. */
typedef struct xlm_block_rows {
    const int32_t *offsets; /* [sequences + 1] of x */
    int32_t sequences;
    const int32_t *wanted;  /* [n], ascending; NULL: all rows */
    int32_t n;
    const int32_t *wanted_offsets; /* [sequences + 1], of `wanted`; NULL with it */
    const int32_t *visible; /* for each computed row, the number of rows of its sequence that it sees, from the first on; NULL:
                             * all */
    xlm_var *memory;        /* for a decoder: states that it attends to besides x; NULL: none */
    const int32_t *memory_offsets; /* [sequences + 1] of the memory's rows: at least one in each sequence */
    const xlm_block_cache *cache; /* instead of all these: every row attends to what is kept; NULL: nothing is */
    xlm_real *memory_weights; /* for a decoder, of all rows: the attention to the memory, as xlm_memory_weights returns it, is stored
                               * here; NULL: nowhere */
} xlm_block_rows;

typedef struct xlm_block_class {
    const char *name; /* part of the names of its parameters, within a layer */
    void (*declare)(const xlm_model_config *config, const char *block, xlm_parameters *parameters);
    /* x: T x d. The first block of a layer returns the wanted rows; the other blocks get these. */
    xlm_var *(*apply)(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, const xlm_block_rows *rows);
} xlm_block_class;

/* W_o attention(x W_q, x W_k, x W_v) + b_o, within each sequence; weights of d x d:
 * NAME/{query,key,value,output}/{weight,bias}, NAME/layer_norm/{weight,bias}. */
extern const xlm_block_class xlm_self_attention;
/* The same with keys and values of the memory: W_o attention(x W_q, m W_k, m W_v) + b_o; x are the wanted rows. */
extern const xlm_block_class xlm_memory_attention;
/* m W_k + b_k beside m W_v + b_v, for the cache of such a block: rows of m x 2 d, rounded where products are. */
xlm_var *xlm_memory_attention_keys(xlm_tape *tape, const char *block, xlm_var *memory);
/* W₂ GELU(W₁ x + b₁) + b₂, row by row; weights F x d and d x F:
 * NAME/{intermediate,output}/{weight,bias}, NAME/layer_norm/{weight,bias}. */
extern const xlm_block_class xlm_feed_forward_block;

/* The end of a block, LayerNorm(x + dropout(z + b)), with the parameters NAME/output/bias and NAME/layer_norm/{weight,bias}. */
xlm_var *xlm_block_add_and_norm(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *x, xlm_var *z);

#endif
