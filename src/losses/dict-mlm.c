/* xlm-mpi: masked language modelling with a dictionary (Chaudhary et al. 2020). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * L = −(1/M) Σ_t log p(y_t | H[L]_t) over the M masked positions, with either
 *
 *   predict = original      y_t = w_t, the original token. The stream has switched half of the masked positions: their input is a
 *                           translation of w_t into the other language (DICT-MLM as Tang et al. 2022 ran it)
 *   predict = translation   y_t = a translation of w_t, drawn by the stream, or w_t itself if it has none. The stream masks as
 *                           for mlm and must not switch, because the label would then be in the input
 *
 * The stream has the dictionary; it draws one translation of each token, for labels and for switching. */
#include <xlm/loss.h>

#include <stdio.h>

enum { ORIGINAL, TRANSLATION };

struct dict_mlm {
    int64_t predict;
};

static const xlm_option dict_mlm_options[] = {
    {"predict", XLM_OPTION_CHOICE, "original", 0, 0, "original|translation",
     "what to predict: the token that was masked, on a stream with switching; or its translation, on a stream without it",
     offsetof(struct dict_mlm, predict)},
    XLM_OPTION_END,
};

static bool dict_mlm_open(xlm_loss *self, char *message, size_t size)
{
    const struct dict_mlm *dict_mlm = self->state;
    const xlm_loss_stream *stream = self->stream;
    if (stream->dictionary == NULL)
        snprintf(message, size, "[stream %s] has no dictionary; give it dictionary = FILE.h5, from xlm_dict", stream->name);
    else if (dict_mlm->predict == ORIGINAL && stream->switching == 0)
        snprintf(message, size, "predict = original without switching is mlm; set switching = 0.5 in [stream %s]", stream->name);
    else if (dict_mlm->predict == TRANSLATION && stream->switching > 0)
        snprintf(message, size, "predict = translation, but [stream %s] puts translations into the input; set "
                 "switching = 0 there", stream->name);
    else if (self->setup->model->head == XLM_HEAD_NONE)
        snprintf(message, size, "the model has no head for words; set head = bert or xlm in [model]");
    else
        return true;
    return false;
}

static void dict_mlm_declare(xlm_loss *self, xlm_declaration *declaration)
{
    static const xlm_view masked = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED,
                                    .gradient = true, .dropout = true};
    (void)self;
    xlm_declare_view(declaration, &masked);
}

static xlm_var *dict_mlm_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct dict_mlm *dict_mlm = self->state;
    const xlm_batch *batch = pass->batch;
    xlm_var *h = xlm_pass_view(pass, 0)->states; /* M x d */
    if (dict_mlm->predict == ORIGINAL)
        return xlm_lm_cross_entropy(pass->model, tape, XLM_STACK_ENCODER, h, batch->targets, NULL, pass->scores);
    int32_t *labels = xlm_tape_take(tape, sizeof *labels * (uint64_t)batch->predicted); /* [M] */
    const int32_t *translations = xlm_batch_annotation(batch, "translations"); /* [T] */
    for (int32_t i = 0; i < batch->predicted; i++) {
        const int32_t translation = translations[batch->predicted_rows[i]];
        labels[i] = translation >= 0 ? translation : batch->targets[i];
    }
    return xlm_lm_cross_entropy(pass->model, tape, XLM_STACK_ENCODER, h, labels, NULL, pass->scores);
}

const xlm_loss_class xlm_loss_dict_mlm = {
    .abi = XLM_LOSS_ABI,
    .name = "dict-mlm",
    .summary = "masked language modelling on a stream that switches words to translations, or predicting translations (DICT-MLM)",
    .needs_stream = true,
    .options = dict_mlm_options,
    .state_size = sizeof(struct dict_mlm),
    .open = dict_mlm_open,
    .declare = dict_mlm_declare,
    .loss = dict_mlm_loss,
};
