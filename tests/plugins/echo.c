/* xlm-mpi: an objective from outside, for tests: a text that label makes. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each sequence is copied, reversed between <s> and </s>, or shortened: some of its words are left out at random. L =
 * mean_s |m_s − c_s|² / d: m are the means of the last hidden states over the words of the made text, with gradient and dropout,
 * c those over the words of the text itself, likewise. A copy has the loss 0 without dropout. */
#include <xlm/loss.h>

#include <string.h>

enum { COPY, REVERSE, SHORTEN };
enum { ORIGINAL, MADE, FIRST };

struct echo {
    int64_t how, length;
    double share;
};

static const xlm_option echo_options[] = {
    {"how", XLM_OPTION_CHOICE, "copy", 0, 0, "copy|reverse|shorten", "what is made of a sequence", offsetof(struct echo, how)},
    {"share", XLM_OPTION_REAL, "0.3", 0, 1, NULL, "of the words that is left out", offsetof(struct echo, share)},
    {"max_tokens", XLM_OPTION_INT, "64", 1, 100000, NULL, "of a sequence that is made", offsetof(struct echo, length)},
    XLM_OPTION_END,
};

static void echo_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const struct echo *echo = self->state;
    xlm_view view = {.text = XLM_TEXT_ORIGINAL, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_ALL, .gradient = true, .dropout = true};
    xlm_declare_view(declaration, &view);
    view.text = XLM_TEXT_MADE;
    xlm_declare_view(declaration, &view);
    const xlm_view first = {.text = XLM_TEXT_MADE, .layer = 1, .rows = XLM_ROWS_FIRST};
    xlm_declare_view(declaration, &first);
    xlm_declare_text(declaration, echo->length);
    xlm_declare_metric(declaration, "kept");
}

/* Which row the i-th of the sequence [begin, end) is made of. */
static int32_t row_of(int64_t how, int32_t begin, int32_t end, int32_t i)
{
    const int32_t last = end - 1 - begin;
    return how == REVERSE && i > 0 && i < last ? begin + last - i : begin + i;
}

static int64_t echo_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct echo *echo = self->state;
    const xlm_text *text = &pass->batch->original;
    int32_t *offsets = xlm_tape_take(tape, sizeof *offsets * (uint64_t)(text->sequences + 1));
    int32_t *ids = xlm_tape_take(tape, sizeof *ids * (uint64_t)text->tokens);
    int32_t *languages = xlm_tape_take(tape, sizeof *languages * (uint64_t)text->tokens);
    int32_t n = 0;
    offsets[0] = 0;
    for (int32_t s = 0; s < text->sequences; s++) {
        const int32_t begin = text->offsets[s], end = text->offsets[s + 1];
        for (int32_t i = 0; i < end - begin; i++) {
            const int32_t row = row_of(echo->how, begin, end, i);
            if (echo->how == SHORTEN && i > 0 && i < end - begin - 1 && xlm_pass_uniform(pass, text->keys[row], 0) < echo->share)
                continue;
            ids[n] = text->ids[row];
            languages[n++] = text->languages[row];
        }
        offsets[s + 1] = n;
    }
    xlm_pass_make_text(pass, offsets, ids, languages, NULL);
    int32_t *kept = xlm_pass_keep(pass, sizeof *kept);
    *kept = n;
    return text->sequences;
}

static xlm_var *mean_of_words(xlm_tape *tape, const xlm_encoded *view)
{
    const xlm_text *text = view->text;
    return xlm_sequence_mean(tape, view->states, text->offsets, text->sequences, xlm_text_rows(tape, text));
}

static xlm_var *echo_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const int32_t *kept = pass->labels;
    const xlm_encoded *made = xlm_pass_view(pass, MADE);
    xlm_var *apart = xlm_subtract(tape, mean_of_words(tape, made), mean_of_words(tape, xlm_pass_view(pass, ORIGINAL)));
    /* The view without gradient is of this text too, and of each sequence's first row. */
    if (made->text->tokens == *kept && xlm_pass_view(pass, FIRST)->text->tokens == *kept)
        xlm_loss_metric(self, "kept", made->text->tokens, pass->batch->original.tokens);
    return xlm_mean(tape, xlm_multiply(tape, apart, apart));
}

const xlm_loss_class xlm_loss_echo = {
    .abi = XLM_LOSS_ABI,
    .name = "echo",
    .summary = "texts that are made of texts",
    .needs_stream = true,
    .options = echo_options,
    .state_size = sizeof(struct echo),
    .declare = echo_declare,
    .label = echo_label,
    .loss = echo_loss,
};
