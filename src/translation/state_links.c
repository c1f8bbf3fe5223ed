/* xlm-mpi: translations linked with their sentences by the encoder's states. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/state_links.h"

#include <string.h>

#include "tensor/parameters.h"
#include "tensor/tape.h"

/* Texts of both sides, and the states of their tokens, [tokens x d]. */
struct states {
    const xlm_model *model;
    int64_t layer;
    const xlm_text *text[2]; /* the sentences, the translations */
    xlm_real *values[2];
};

static void encode_side(const struct states *s, int side, xlm_tape *tape)
{
    const xlm_var *h = xlm_model_encode(s->model, tape, s->text[side], false, s->layer, NULL, 0)[s->layer];
    if (!xlm_tape_is_of_shapes(tape))
        memcpy(s->values[side], h->value, sizeof *h->value * (size_t)(h->rows * h->cols));
}

static void encode_sentences(xlm_tape *tape, void *states) { encode_side(states, 0, tape); }
static void encode_translations(xlm_tape *tape, void *states) { encode_side(states, 1, tape); }

/* The tokens of a side that are linked: without <s>, the token of the language if there is one, and </s>. */
struct linked_side {
    int32_t first; /* number of the first one after <s> */
    int64_t n;
    const xlm_real *values; /* [n x d] */
};

static struct linked_side find_side(const struct states *s, int side, int32_t sequence)
{
    const xlm_text *text = s->text[side];
    const int32_t *offsets = text->offsets + sequence, size = offsets[1] - offsets[0];
    const int32_t first = size > 2 && xlm_is_language_token(text->specials, text->ids[offsets[0] + 1]);
    return (struct linked_side){first, size - 2 - first,
                                s->values[side] + (offsets[0] + 1 + first) * xlm_model_get_config(s->model)->hidden_size};
}

/* linked: n x m */
static void take_links(xlm_translation *t, const struct linked_side side[2], const bool *linked, xlm_token_link *links)
{
    const int64_t n = side[0].n, m = side[1].n;
    t->links = 0;
    for (int32_t target = 0; target < m; target++)
        for (int32_t source = 0; source < n; source++)
            if (linked[source * m + target])
                links[t->links++] = (xlm_token_link){side[0].first + source, side[1].first + target};
    t->link = links;
}

static void link_translation(const struct states *s, xlm_tape *tape, xlm_link_method method, int32_t sentence, int32_t number,
                             xlm_translation *t)
{
    const struct linked_side side[2] = {find_side(s, 0, sentence), find_side(s, 1, number)};
    const int64_t n = side[0].n, m = side[1].n, d = xlm_model_get_config(s->model)->hidden_size;
    xlm_token_link *links = XLM_TAPE_TAKE(tape, xlm_token_link, 2 * MIN(n, m)); /* of a method that finds the most */
    xlm_real *values = XLM_TAPE_BORROW(tape, xlm_real, n * m);
    bool *linked = XLM_TAPE_BORROW(tape, bool, n * m);
    if (!xlm_tape_is_of_shapes(tape)) {
        xlm_similarity_link(method, n, m, d, side[0].values, side[1].values, values, linked);
        take_links(t, side, linked, links);
    }
    xlm_tape_return(tape, linked);
    xlm_tape_return(tape, values);
}

void xlm_state_links_find(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_translation_options *options, const xlm_link_input *in)
{
    const xlm_model_config *config = xlm_model_get_config(model);
    const xlm_text translations = xlm_link_input_text(in, tape, specials, (int32_t)config->positions - 2, true);
    struct states s = {.model = model, .layer = options->link_layer, .text = {in->source, &translations}};
    for (int side = 0; side < 2; side++)
        s.values[side] = XLM_TAPE_NUMBERS(tape, xlm_real, s.text[side]->tokens * config->hidden_size);
    const xlm_tape_mode before = xlm_tape_get_mode(tape);
    xlm_tape_mode mode = before;
    mode.rows_alone = true;
    xlm_tape_set_mode(tape, mode);
    xlm_tape_work_inside(tape, encode_sentences, &s);
    xlm_tape_work_inside(tape, encode_translations, &s);
    xlm_tape_set_mode(tape, before);
    for (int32_t i = 0; i < in->translations; i++)
        link_translation(&s, tape, options->link_method, in->sentence[i], i, &in->translation[i]);
}
