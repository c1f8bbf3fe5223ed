/* xlm-mpi: translations linked with their sentences by a decoder's attention. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/token_links.h"

#include <string.h>

#include "nn/memory_weights.h"
#include "tensor/parameters.h"
#include "tensor/tape.h"

/* The decoder's text, `<s> ids` of each translation, and for each the states of its sentence. */
struct laid_out {
    xlm_text text;
    xlm_var *memory;
    const int32_t *memory_offsets; /* [translations + 1] */
};

xlm_text xlm_link_input_text(const xlm_link_input *in, xlm_tape *tape, const xlm_special_tokens *specials, int32_t most_ids,
                             bool closed)
{
    int32_t *offsets = XLM_TAPE_TAKE(tape, int32_t, in->translations + 1);
    offsets[0] = 0;
    for (int32_t i = 0; i < in->translations; i++)
        offsets[i + 1] = offsets[i] + 1 + MIN(in->translation[i].tokens, most_ids) + closed;
    const int32_t n = offsets[in->translations];
    int32_t *ids = XLM_TAPE_TAKE(tape, int32_t, n), *positions = XLM_TAPE_TAKE(tape, int32_t, n);
    int32_t *languages = XLM_TAPE_TAKE(tape, int32_t, n), *types = XLM_TAPE_TAKE(tape, int32_t, n);
    for (int32_t i = 0; i < in->translations; i++)
        for (int32_t row = offsets[i]; row < offsets[i + 1]; row++) {
            const int32_t at = row - offsets[i];
            const bool end = closed && row + 1 == offsets[i + 1];
            ids[row] = end ? specials->id[XLM_EOS] : at == 0 ? specials->id[XLM_BOS] : in->translation[i].ids[at - 1];
            positions[row] = at;
            languages[row] = in->languages[in->sentence[i]];
            types[row] = 0;
        }
    return (xlm_text){.tokens = n, .sequences = in->translations, .offsets = offsets, .ids = ids, .unmasked = ids,
                      .positions = positions, .languages = languages, .unswitched = languages, .types = types,
                      .specials = specials};
}

/* The rows of a sentence are repeated for each of its translations. */
static void lay_out_memory(xlm_tape *tape, const xlm_link_input *in, struct laid_out *l)
{
    int32_t *offsets = XLM_TAPE_TAKE(tape, int32_t, in->translations + 1);
    offsets[0] = 0;
    for (int32_t i = 0; i < in->translations; i++)
        offsets[i + 1] = offsets[i] + in->memory_offsets[in->sentence[i] + 1] - in->memory_offsets[in->sentence[i]];
    int32_t *rows = XLM_TAPE_TAKE(tape, int32_t, offsets[in->translations]);
    for (int32_t i = 0; i < in->translations; i++)
        for (int32_t row = offsets[i]; row < offsets[i + 1]; row++)
            rows[row] = in->memory_offsets[in->sentence[i]] + row - offsets[i];
    l->memory_offsets = offsets;
    l->memory = xlm_rows(tape, in->memory, rows, offsets[in->translations]);
}

/* Tokens of languages are not linked.
 * weights: [1 + tokens x m], of the rows <s>, ids of the translation, and the columns <s>, ids of the sentence, </s>. */
static void link_translation(xlm_tape *tape, const xlm_special_tokens *specials, double threshold, const int32_t *source_ids,
                             int32_t m, const xlm_real *weights, xlm_translation *t)
{
    const int32_t begin = m > 2 && xlm_is_language_token(specials, source_ids[1]);
    xlm_token_link *links = XLM_TAPE_TAKE(tape, xlm_token_link, (int64_t)t->tokens * (threshold > 0 ? m - 2 : 1));
    t->links = 0;
    for (int32_t target = 0; target < t->tokens; target++) {
        const xlm_real *weight = weights + (int64_t)target * m + 1;
        int32_t best = begin;
        if (xlm_is_language_token(specials, t->ids[target]))
            continue;
        for (int32_t source = begin; source < m - 2; source++) {
            if (weight[source] > weight[best])
                best = source;
            if (threshold > 0 && (double)weight[source] >= threshold)
                links[t->links++] = (xlm_token_link){source, target};
        }
        if (threshold <= 0)
            links[t->links++] = (xlm_token_link){best, target};
    }
    t->link = links;
}

static const xlm_real *const *find_weights(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials, int64_t layer,
                                           const xlm_link_input *in, struct laid_out *l)
{
    l->text = xlm_link_input_text(in, tape, specials, G_MAXINT32, false);
    lay_out_memory(tape, in, l);
    return xlm_memory_weights(model, tape, &l->text, l->memory, l->memory_offsets, layer);
}

const xlm_real *const *xlm_token_links_weights(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                                               int64_t layer, const xlm_link_input *in)
{
    struct laid_out l;
    return find_weights(model, tape, specials, layer, in, &l);
}

void xlm_token_links_find(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_translation_options *options, const xlm_link_input *in)
{
    struct laid_out l;
    const xlm_real *const *weights = find_weights(model, tape, specials, options->link_layer, in, &l);
    for (int32_t i = 0; i < in->translations && !xlm_tape_is_of_shapes(tape); i++)
        link_translation(tape, specials, options->link_threshold, in->source->ids + in->source->offsets[in->sentence[i]],
                         l.memory_offsets[i + 1] - l.memory_offsets[i], weights[i], &in->translation[i]);
}
