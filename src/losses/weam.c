/* xlm-mpi: WEAM, the word-exchange aligning model (Yang et al. 2021). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * On a parallel stream of the form bert with word alignments, A_ij = 1 where tokens i and j of its pairs are linked (A = Aᵀ):
 *
 *   multilingual    L_mp = −(1/M) Σ_t log p_1(w_t | H[L]_t) over the M masked positions
 *   cross-lingual   H' = Aᵀ H[L], H~ = W_2 H' + b_2, L_cp = −(1/N) Σ_t log p_3(w_t | H~_t) over the N of them that have partners:
 *                   a masked word is predicted from the states of the words that it is aligned to; several states are added up
 *
 * and L = L_mp + λ L_cp, both global means. p_1 and p_3 are the objective's own heads, in the form of BERT's head:
 * softmax(E LayerNorm(GELU(W H + b)) + c); both use the model's output layer, that is its word embeddings E and its bias c. (The
 * paper writes δ(W H + b) and then "linear"; its models start from mBERT, which has this head. With `multilingual = model`, p_1
 * is the model's trained head instead.) */
#include <xlm/loss.h>

#include <stdio.h>
#include <string.h>

enum { LINKED_ROWS, MASKED_ROWS };
enum { HEAD_OWN, HEAD_MODEL };

struct weam {
    double lambda;
    int64_t multilingual;
    int cross_lingual; /* number of the mean */
};

static const xlm_option weam_options[] = {
    {"lambda", XLM_OPTION_REAL, "1", 0, 1e6, NULL, "weight of the cross-lingual prediction beside the multilingual one",
     offsetof(struct weam, lambda)},
    {"multilingual", XLM_OPTION_CHOICE, "own", 0, 0, "own|model",
     "head of the multilingual prediction: the objective's own, or the model's", offsetof(struct weam, multilingual)},
    XLM_OPTION_END,
};

static bool weam_open(xlm_loss *self, char *message, size_t size)
{
    const xlm_loss_stream *stream = self->stream;
    if (!stream->parallel)
        snprintf(message, size, "it exchanges the words of pairs, and [stream %s] has none; set type = parallel there",
                 stream->name);
    else if (stream->several_pairs)
        snprintf(message, size, "it reads one pair per sequence, with consecutive positions; set form = bert in [stream %s]",
                 stream->name);
    else if (!stream->alignments)
        snprintf(message, size, "[stream %s] has no word alignments; give it alignments = FILE.h5, from xlm_align --alignment",
                 stream->name);
    else if (stream->mask == 0)
        snprintf(message, size, "[stream %s] masks nothing; set mask = 0.3 there", stream->name);
    else if (self->setup->model->head == XLM_HEAD_NONE)
        snprintf(message, size, "the model has no head for words; set head = bert or xlm in [model]");
    else {
        if (self->setup->model->language_embeddings)
            snprintf(message, size, "the model has language embeddings; the paper leaves them out, so that words alone tell the "
                     "languages apart (language_embeddings = false)");
        return true;
    }
    return false;
}

static void declare_head(xlm_declaration *declaration, const xlm_model_config *model, const char *prefix)
{
    static const char *const parts[] = {"dense/weight", "dense/bias", "layer_norm/weight", "layer_norm/bias"};
    char name[4][64];
    for (int i = 0; i < 4; i++)
        snprintf(name[i], sizeof name[i], "%s/%s", prefix, parts[i]);
    xlm_declare_weight(declaration, name[0], model->embedding_size, model->hidden_size);
    xlm_declare_bias(declaration, name[1], model->embedding_size);
    xlm_declare_gain(declaration, name[2], model->embedding_size);
    xlm_declare_bias(declaration, name[3], model->embedding_size);
}

static void weam_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct weam *weam = self->state;
    const xlm_model_config *model = self->setup->model;
    xlm_view view = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_LINKED, .gradient = true,
                     .dropout = true};
    xlm_declare_view(declaration, &view);
    view.rows = XLM_ROWS_PREDICTED;
    xlm_declare_view(declaration, &view);
    if (weam->multilingual == HEAD_OWN)
        declare_head(declaration, model, "multilingual");
    xlm_declare_weight(declaration, "exchange/weight", model->hidden_size, model->hidden_size);
    xlm_declare_bias(declaration, "exchange/bias", model->hidden_size);
    declare_head(declaration, model, "cross_lingual");
    weam->cross_lingual = xlm_declare_mean(declaration, weam->lambda);
    xlm_declare_metric(declaration, "multilingual");
    xlm_declare_metric(declaration, "cross_lingual");
    xlm_declare_metric(declaration, "cross_lingual_accuracy");
    xlm_declare_metric(declaration, "with_partner");
}

/* ---- partners ---- */

/* The masked positions that have partners, as indices into the batch's predicted rows, and the partners of each. */
struct partners {
    int32_t n;
    int32_t *masked;  /* [n] */
    int32_t *offsets; /* [n + 1] */
    int32_t *rows;    /* [offsets_n] */
};

static struct partners *find_partners(xlm_tape *tape, const xlm_pass *pass)
{
    const xlm_batch *batch = pass->batch;
    const xlm_annotation *links = xlm_batch_find_annotation(batch, "links");
    const uint64_t number = sizeof(int32_t), masked = (uint64_t)batch->predicted;
    struct partners *p = xlm_pass_keep(pass, sizeof *p);
    *p = (struct partners){.masked = xlm_pass_keep(pass, number * masked), .offsets = xlm_pass_keep(pass, number * (masked + 1)),
                           .rows = xlm_pass_keep(pass, number * 2 * (uint64_t)links->length)};
    int32_t *place = xlm_tape_take(tape, number * (uint64_t)batch->corrupted.tokens); /* index of a row in p->masked, or -1 */
    int32_t *count = xlm_tape_take(tape, number * (uint64_t)batch->corrupted.tokens);
    memset(count, 0, number * (size_t)batch->corrupted.tokens);
    for (int32_t i = 0; i < batch->corrupted.tokens; i++)
        place[i] = -1;
    for (int32_t e = 0; e < 2 * links->length; e++)
        count[links->values[e]]++;
    p->offsets[0] = 0;
    for (int32_t i = 0; i < batch->predicted; i++) {
        const int32_t row = batch->predicted_rows[i];
        if (count[row] == 0)
            continue;
        p->offsets[p->n + 1] = p->offsets[p->n] + count[row];
        place[row] = p->n;
        p->masked[p->n++] = i;
    }
    /* From the last link to the first: each row's partners end up in ascending order. */
    for (int32_t e = links->length; e-- > 0;)
        for (int side = 0; side < 2; side++) {
            const int32_t row = links->values[2 * e + side], partner = links->values[2 * e + 1 - side];
            if (place[row] >= 0)
                p->rows[p->offsets[place[row]] + --count[row]] = partner;
        }
    return p;
}

/* ---- the hooks of a step ---- */

/* Counts the terms; nothing is computed with the model. Which masked positions have partners must be known before `loss`. */
static int64_t weam_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct weam *weam = self->state;
    xlm_pass_terms(pass, weam->cross_lingual, find_partners(tape, pass)->n);
    return pass->batch->predicted;
}

/* The mean of −log p(target | h) with one of the objective's own heads. h: n x d. */
static xlm_var *predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const char *prefix, xlm_var *h,
                        const int32_t *targets, xlm_score *scores)
{
    const xlm_model_config *model = xlm_model_get_config(pass->model);
    char name[64];
#define PART(part) (snprintf(name, sizeof name, "%s/" part, prefix), xlm_loss_param(self, tape, name))
    xlm_var *dense = xlm_linear(tape, h, PART("dense/weight"), NULL); /* n x e */
    xlm_var *activated = xlm_gelu(tape, dense, PART("dense/bias"));
    xlm_var *gain = PART("layer_norm/weight"), *bias = PART("layer_norm/bias");
#undef PART
    xlm_var *normalised = xlm_layer_norm(tape, activated, gain, bias, model->layer_norm_epsilon);
    xlm_var *word_bias = model->output_bias ? xlm_param(tape, "lm_head/bias") : NULL;
    return xlm_vocab_cross_entropy(tape, normalised, xlm_param(tape, "embeddings/word/weight"), word_bias, targets,
                                   model->vocabulary_chunk, scores);
}

/* The indices, among the rows of the view's states, of n rows of its text. */
static const int32_t *number_rows(xlm_tape *tape, const xlm_encoded *view, const int32_t *rows, int32_t n)
{
    if (view->rows == NULL)
        return rows;
    int32_t *number = xlm_tape_take(tape, sizeof *number * (uint64_t)view->text->tokens);
    int32_t *numbers = xlm_tape_take(tape, sizeof *numbers * (uint64_t)n);
    for (int32_t i = 0; i < xlm_var_rows(view->states); i++)
        number[view->rows[i]] = i;
    for (int32_t i = 0; i < n; i++)
        numbers[i] = number[rows[i]];
    return numbers;
}

static void predict_by_partners(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, const struct partners *partners)
{
    const struct weam *weam = self->state;
    const int32_t n = partners->n;
    const xlm_encoded *view = xlm_pass_view(pass, LINKED_ROWS);
    const int32_t *rows = number_rows(tape, view, partners->rows, partners->offsets[n]);
    xlm_var *exchanged = xlm_rows_sum(tape, view->states, partners->offsets, rows, n); /* H', n x d */
    xlm_var *turned = xlm_linear(tape, exchanged, xlm_loss_param(self, tape, "exchange/weight"), /* H~ */
                                 xlm_loss_param(self, tape, "exchange/bias"));
    int32_t *targets = xlm_tape_take(tape, sizeof *targets * (uint64_t)n);
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    for (int32_t i = 0; i < n; i++)
        targets[i] = pass->batch->targets[partners->masked[i]];
    xlm_var *mean = predict(self, tape, pass, "cross_lingual", turned, targets, scores);
    xlm_pass_mean(pass, weam->cross_lingual, mean);
    xlm_loss_metric(self, "cross_lingual", xlm_var_scalar(mean) * n, n);
    for (int32_t i = 0; i < n; i++)
        xlm_loss_metric(self, "cross_lingual_accuracy", scores[i].correct, 1);
}

static xlm_var *weam_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct weam *weam = self->state;
    const xlm_batch *batch = pass->batch;
    const struct partners *partners = pass->labels;
    xlm_var *h = xlm_pass_view(pass, MASKED_ROWS)->states; /* M x d */
    xlm_var *mean = weam->multilingual == HEAD_OWN
                        ? predict(self, tape, pass, "multilingual", h, batch->targets, pass->scores)
                        : xlm_lm_cross_entropy(pass->model, tape, XLM_STACK_ENCODER, h, batch->targets, NULL, pass->scores);
    xlm_loss_metric(self, "multilingual", xlm_var_scalar(mean) * batch->predicted, batch->predicted);
    xlm_loss_metric(self, "with_partner", partners->n, batch->predicted);
    if (partners->n > 0)
        predict_by_partners(self, tape, pass, partners);
    return mean;
}

const xlm_loss_class xlm_loss_weam = {
    .abi = XLM_LOSS_ABI,
    .name = "weam",
    .summary = "predict masked words by themselves and from the words aligned to them in the other language (WEAM)",
    .needs_stream = true,
    .options = weam_options,
    .state_size = sizeof(struct weam),
    .open = weam_open,
    .declare = weam_declare,
    .label = weam_label,
    .loss = weam_loss,
};
