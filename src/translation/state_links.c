/* xlm-mpi: translations linked with their sentences by the encoder's states. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/state_links.h"

#include <string.h>

#include "tensor/parameters.h"
#include "tensor/tape.h"

struct states {
    const xlm_model *model;
    int64_t layer;
    xlm_text text;    /* the sentences, then the translations */
    xlm_real *values; /* [tokens x d] */
};

/* A sequence `<s> ids </s>`. */
static void lay_out_sequence(xlm_text *text, int32_t sequence, const int32_t *ids, int32_t n, int32_t language,
                             const xlm_special_tokens *specials, int32_t *const arrays[4])
{
    const int32_t first = text->offsets[sequence];
    arrays[0][first] = specials->id[XLM_BOS];
    if (n > 0)
        memcpy(arrays[0] + first + 1, ids, sizeof *ids * (size_t)n);
    arrays[0][first + 1 + n] = specials->id[XLM_EOS];
    for (int32_t i = 0; i < n + 2; i++) {
        arrays[1][first + i] = i;
        arrays[2][first + i] = language;
        arrays[3][first + i] = 0;
    }
}

/* Ids of a translation that the encoder has positions for. */
static int32_t encoded_of(const xlm_model *model, const xlm_translation *t)
{
    return MIN(t->tokens, (int32_t)xlm_model_get_config(model)->positions - 2);
}

static xlm_text lay_out(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials, const xlm_link_input *in)
{
    const int32_t sentences = in->source->sequences, sequences = sentences + in->translations;
    int32_t *offsets = XLM_TAPE_TAKE(tape, int32_t, sequences + 1), *arrays[4];
    memcpy(offsets, in->source->offsets, sizeof *offsets * (size_t)(sentences + 1));
    for (int32_t i = 0; i < in->translations; i++)
        offsets[sentences + i + 1] = offsets[sentences + i] + encoded_of(model, &in->translation[i]) + 2;
    for (int k = 0; k < 4; k++)
        arrays[k] = XLM_TAPE_TAKE(tape, int32_t, offsets[sequences]);
    xlm_text text = {.tokens = offsets[sequences], .sequences = sequences, .offsets = offsets, .ids = arrays[0],
                     .unmasked = arrays[0], .positions = arrays[1], .languages = arrays[2], .unswitched = arrays[2],
                     .types = arrays[3], .specials = specials};
    for (int32_t s = 0; s < sentences; s++)
        lay_out_sequence(&text, s, in->source->ids + offsets[s] + 1, offsets[s + 1] - offsets[s] - 2,
                         in->source->languages[offsets[s]], specials, arrays);
    for (int32_t i = 0; i < in->translations; i++)
        lay_out_sequence(&text, sentences + i, in->translation[i].ids, encoded_of(model, &in->translation[i]),
                         in->languages[in->sentence[i]], specials, arrays);
    return text;
}

static void encode(xlm_tape *tape, void *data)
{
    struct states *s = data;
    const xlm_var *h = xlm_model_encode(s->model, tape, &s->text, false, s->layer, NULL, 0)[s->layer];
    if (!xlm_tape_is_of_shapes(tape))
        memcpy(s->values, h->value, sizeof *s->values * (size_t)(h->rows * h->cols));
}

/* linked: n x m */
static void take_links(xlm_translation *t, int64_t n, int64_t m, const bool *linked, xlm_token_link *links)
{
    t->links = 0;
    for (int32_t target = 0; target < m; target++)
        for (int32_t source = 0; source < n; source++)
            if (linked[source * m + target])
                links[t->links++] = (xlm_token_link){source, target};
    t->link = links;
}

static void link_translation(const struct states *s, xlm_tape *tape, xlm_link_method method, int32_t sentence, int32_t sequence,
                             xlm_translation *t)
{
    const int64_t d = xlm_model_get_config(s->model)->hidden_size, m = encoded_of(s->model, t);
    const int32_t *offsets = s->text.offsets;
    const int64_t n = offsets[sentence + 1] - offsets[sentence] - 2;
    xlm_token_link *links = XLM_TAPE_TAKE(tape, xlm_token_link, 2 * MIN(n, m)); /* of a method that finds the most */
    xlm_real *values = XLM_TAPE_BORROW(tape, xlm_real, n * m);
    bool *linked = XLM_TAPE_BORROW(tape, bool, n * m);
    if (!xlm_tape_is_of_shapes(tape)) {
        xlm_similarity_link(method, n, m, d, s->values + (offsets[sentence] + 1) * d, s->values + (offsets[sequence] + 1) * d,
                            values, linked);
        take_links(t, n, m, linked, links);
    }
    xlm_tape_return(tape, linked);
    xlm_tape_return(tape, values);
}

void xlm_state_links_find(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_translation_options *options, const xlm_link_input *in)
{
    struct states s = {.model = model, .layer = options->link_layer, .text = lay_out(model, tape, specials, in)};
    s.values = XLM_TAPE_NUMBERS(tape, xlm_real, s.text.tokens * xlm_model_get_config(model)->hidden_size);
    const xlm_tape_mode before = xlm_tape_get_mode(tape);
    xlm_tape_mode mode = before;
    mode.rows_alone = true;
    xlm_tape_set_mode(tape, mode);
    xlm_tape_work_inside(tape, encode, &s);
    xlm_tape_set_mode(tape, before);
    for (int32_t i = 0; i < in->translations; i++)
        link_translation(&s, tape, options->link_method, in->sentence[i], in->source->sequences + i, &in->translation[i]);
}
