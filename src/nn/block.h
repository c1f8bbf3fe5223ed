/* xlm-mpi: blocks; a layer is a list of them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A block is a sublayer f with its residual connection and norm, which is after it or before it:
 *     post-LN (Vaswani et al. 2017)  y = LayerNorm(x + dropout(f(x)))
 *     pre-LN (Xiong et al. 2020)     y = x + dropout(f(LayerNorm(x)))
 * A class describes one kind of block. The parameters of a block begin with its name, (stack, layer, block):
 * "encoder/layer.3/attention" has encoder/layer.3/attention/query/weight and others. */
#ifndef XLM_NN_BLOCK_H
#define XLM_NN_BLOCK_H

#include <xlm/model.h>

#include "tensor/cached_attention.h"
#include "tensor/parameters.h"
#include "tensor/products.h"

enum { XLM_BLOCK_NAME = 96 }; /* bytes of a block's name */

/* A block of a layer. */
typedef struct xlm_sublayer {
    const char *name;
    bool norm; /* false: f reads x itself, in a pre-LN model (first_norm) */
} xlm_sublayer;

/* What a layer of the decoder keeps of earlier rows, for a search that computes one row of each hypothesis at a time
 * (nn/decoder_cache.h): keys and values of tokens and of the memory. `step` says which of them each of the n rows of the present
 * step reads and writes. */
typedef struct xlm_block_cache {
    xlm_cache_rows tokens, memory;
    const struct xlm_cache_step {
        const int32_t *write;               /* [n] the row of `tokens` that keeps this row's key and value */
        const int32_t *const *tokens;       /* [n] the rows of `tokens` that it attends to, including its own */
        const int32_t *token_lengths;       /* [n] their number */
        const int32_t *const *memory;       /* [n] the rows of `memory` that it attends to */
        const int32_t *memory_lengths;      /* [n] their number */
    } *step;
} xlm_block_cache;

/* The rows of a packed batch, and those that a layer computes. */
typedef struct xlm_block_rows {
    const int32_t *offsets; /* [sequences + 1] of the rows of x */
    int32_t sequences;
    const int32_t *wanted;  /* [n] rows to compute, ascending; NULL: all */
    int32_t n;
    const int32_t *wanted_offsets; /* [sequences + 1] of `wanted`; NULL if that is NULL */
    const xlm_rotation *rotation; /* of queries and keys to x itself, with the positions of all rows; NULL: none */
    const int32_t *visible_from; /* for each computed row, the first row of its sequence that it sees; NULL: 0 */
    const int32_t *visible; /* for each computed row, how many rows of its sequence it sees, from the first on; NULL: all */
    xlm_var *memory;        /* for a decoder: states that it attends to besides x; NULL: none */
    const int32_t *memory_offsets; /* [sequences + 1] of the memory's rows: at least one in each sequence */
    const int32_t *memory_visible_from, *memory_visible; /* as the two above, of the rows of the memory's sequence; NULL: all */
    const xlm_block_cache *cache; /* used instead of all of these: every row attends to what is kept in it; NULL: no cache */
    xlm_real *memory_weights; /* receives the attention of all rows to the memory, as xlm_memory_weights returns it; NULL: not
                               * wanted */
} xlm_block_rows;

typedef struct xlm_block_class {
    const char *name; /* part of the names of its parameters, within a layer */
    void (*declare)(const xlm_model_config *config, const xlm_sublayer *block, xlm_parameters *parameters);
    /* x: T x d. The first block of a layer returns the wanted rows; the other blocks get these. */
    xlm_var *(*apply)(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, const xlm_block_rows *rows);
} xlm_block_class;

/* f(x) = attention(q(x), k(x), v(x)) W_oᵀ + b_o within each sequence, with q(x) = x W_qᵀ + b_q, and k and v in the same way;
 * weights of d x d: NAME/{query,key,value,output}/{weight,bias}, NAME/layer_norm/{weight,bias}. */
extern const xlm_block_class xlm_self_attention;
/* The same with keys and values of the memory m: f(x) = attention(q(x), k(m), v(m)) W_oᵀ + b_o, where x are the wanted rows. */
extern const xlm_block_class xlm_memory_attention;
/* k(m) and v(m) side by side, rows of m x 2 d, for the cache of such a block; in bfloat16 if products are computed in it. */
xlm_var *xlm_memory_attention_keys(const xlm_model *model, xlm_tape *tape, const char *block, xlm_var *memory);
/* f(x) = a(x W₁ᵀ + b₁) W₂ᵀ + b₂, row by row, or with a gate (a(u) ⊙ v) W₂ᵀ + b₂, (u, v) = x W₁ᵀ + b₁; weights F x d, with a gate
 * 2 F x d, and d x F:
 * NAME/{intermediate,output}/{weight,bias}, NAME/layer_norm/{weight,bias}. */
extern const xlm_block_class xlm_feed_forward_block;

/* Declare NAME/layer_norm/{weight,bias}, if the block has a norm. */
void xlm_block_declare_norm(const xlm_model_config *config, const xlm_sublayer *block, xlm_parameters *parameters);
/* What f reads: LayerNorm(x) in a pre-LN model, else x. */
xlm_var *xlm_block_begin(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x);
/* The end of a block, x + dropout(z + b) with the parameter NAME/output/bias, and in a post-LN model its LayerNorm. */
xlm_var *xlm_block_end(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *z);
/* The same for f = dropout(z + b) itself, with what adapters have made of it. */
xlm_var *xlm_block_join(const xlm_model *model, xlm_tape *tape, const xlm_sublayer *block, xlm_var *x, xlm_var *f);

#endif
