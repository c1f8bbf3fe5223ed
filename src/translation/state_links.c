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

static void link_translation(const struct states *s, xlm_tape *tape, xlm_link_method method, int32_t sentence, int32_t number,
                             xlm_translation *t)
{
    const int32_t *sources = s->text[0]->offsets + sentence, *targets = s->text[1]->offsets + number;
    const int64_t n = sources[1] - sources[0] - 2, m = targets[1] - targets[0] - 2;
    const int64_t d = xlm_model_get_config(s->model)->hidden_size;
    xlm_token_link *links = XLM_TAPE_TAKE(tape, xlm_token_link, 2 * MIN(n, m)); /* of a method that finds the most */
    xlm_real *values = XLM_TAPE_BORROW(tape, xlm_real, n * m);
    bool *linked = XLM_TAPE_BORROW(tape, bool, n * m);
    if (!xlm_tape_is_of_shapes(tape)) {
        xlm_similarity_link(method, n, m, d, s->values[0] + (sources[0] + 1) * d, s->values[1] + (targets[0] + 1) * d, values,
                            linked);
        take_links(t, n, m, linked, links);
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
