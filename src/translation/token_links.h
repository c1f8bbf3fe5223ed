/* xlm-mpi: translations linked with their sentences by a decoder's attention. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A pass over the finished translations gives the attention weights of a layer (nn/memory_weights.h), mean over the heads. Token t
 * of a translation is linked with the id of the sentence that gets the largest weight from the decoder's row that predicts t, or
 * with all that get a given weight. Weights of <s> and </s> are left out. */
#ifndef XLM_TRANSLATION_TOKEN_LINKS_H
#define XLM_TRANSLATION_TOKEN_LINKS_H

#include "translation/translation.h"

/* Translations of sentences, and the states that the decoder attends to. */
typedef struct xlm_link_input {
    int32_t translations;          /* n */
    xlm_translation *translation;  /* [n] whose links are set, memory of the tape */
    const int32_t *sentence;       /* [n] ascending: which of the sentences each is of */
    const int32_t *languages;      /* [sentences] of the translations */
    const xlm_text *source;        /* the sentences as the encoder reads them, for links by states */
    xlm_var *memory;               /* rows x d */
    const int32_t *memory_offsets; /* [sentences + 1]; a sentence has the rows <s>, its ids, </s> */
} xlm_link_input;

/* The translations as a text: `<s>`, at most most_ids ids and, if closed, `</s>` of each, in its language. Memory of the tape. */
xlm_text xlm_link_input_text(const xlm_link_input *input, xlm_tape *tape, const xlm_special_tokens *specials, int32_t most_ids,
                             bool closed);

/* The attention of a layer to the states, while each translation is written: [n], each [1 + tokens x rows of its sentence]; row t is
 * that which predicts token t, or </s>. Memory of the tape; on a tape that computes nothing there are no numbers. */
const xlm_real *const *xlm_token_links_weights(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                                               int64_t layer, const xlm_link_input *input);

void xlm_token_links_find(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_translation_options *options, const xlm_link_input *input);

#endif
