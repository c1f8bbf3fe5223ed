/* xlm-mpi: global co-occurrence modelling (MLM-GC, Ai and Fang 2023). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Next to mlm, on its stream. X_ab says how often subwords a and b occur near each other in the corpus (xlm_cooc); w are the
 * subwords before masking. Over the M masked positions t and their neighbours k = t ± 1 … t ± n in the same sentence,
 *
 *     L = (1/M) Σ_t (1/2n) Σ_k f(x) (H[L]_t · u_k / √d − log x)²,   x = X_{w_t w_k},   f(x) = min(1, (x / x_max)^exponent)
 *
 *   form = hidden      u_k = H[L]_k, also with gradient (equation 3 of the paper)
 *   form = embedding   u_k = E[w_k], the output embedding (appendix D, equation 6)
 *
 * A pair that never co-occurs, X = 0, adds 0, and so do neighbours that a sentence does not have; M and n do not depend on them.
 * A sentence ends at <s> and </s>, because X counts no pairs across them. λ of the paper is the objective's weight. */
#include <xlm/loss.h>

#include <math.h>
#include <stdio.h>

enum { HIDDEN, EMBEDDING };

struct gc {
    char *path;
    int64_t form, window;
    double x_max, exponent;
    const xlm_cooccurrence_table *table;
};

static const xlm_option gc_options[] = {
    {"cooccurrence", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "file of xlm_cooc: how often subwords of this corpus are neighbours",
     offsetof(struct gc, path)},
    {"form", XLM_OPTION_CHOICE, "hidden", 0, 0, "hidden|embedding",
     "what the masked word's hidden state is compared with: the neighbour's hidden state, or its output embedding",
     offsetof(struct gc, form)},
    {"window", XLM_OPTION_INT, "2", 1, 64, NULL, "n: number of neighbours on either side; at most the window of xlm_cooc",
     offsetof(struct gc, window)},
    {"x_max", XLM_OPTION_REAL, "100", 1e-9, 1e18, NULL, "pairs with at least this count X have weight 1",
     offsetof(struct gc, x_max)},
    {"exponent", XLM_OPTION_REAL, "0.75", 0, 10, NULL, "the weight of rarer pairs is (X / x_max) to this power",
     offsetof(struct gc, exponent)},
    XLM_OPTION_END,
};

static bool gc_open(xlm_loss *self, char *message, size_t size)
{
    struct gc *gc = self->state;
    const xlm_model_config *model = self->setup->model;
    gc->table = xlm_loss_resource(self, "cooccurrence", gc->path, message, size);
    if (gc->table == NULL)
        return false;
    if (self->stream->mask == 0)
        snprintf(message, size, "[stream %s] masks nothing, and only masked words are learnt from; raise mask there",
                 self->stream->name);
    else if (gc->table->entries == 0)
        snprintf(message, size, "%s: has no pairs of subwords", gc->path);
    else if (gc->window > gc->table->window)
        snprintf(message, size, "window = %lld, but %s counts neighbours at most %lld apart; lower window, or count with "
                 "xlm_cooc --window %lld", (long long)gc->window, gc->path, (long long)gc->table->window, (long long)gc->window);
    else if (gc->form == EMBEDDING && model->embedding_size != model->hidden_size)
        snprintf(message, size, "form = embedding compares hidden states with embeddings, and embedding_size = %lld is not "
                 "hidden_size = %lld; set form = hidden", (long long)model->embedding_size, (long long)model->hidden_size);
    else {
        if (self->setup->warmup == 0)
            snprintf(message, size, "the learning rate has no warm-up, without which this objective is known to collapse; set "
                     "warmup in [train]");
        return true;
    }
    return false;
}

static void gc_declare(xlm_loss *self, xlm_declaration *declaration)
{
    const struct gc *gc = self->state;
    const xlm_view view = {
        .text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .gradient = true, .dropout = true,
        .rows = gc->form == HIDDEN ? XLM_ROWS_NEAR : XLM_ROWS_PREDICTED, .reach = gc->form == HIDDEN ? gc->window : 0,
    };
    xlm_declare_view(declaration, &view);
    xlm_declare_metric(declaration, "known");
}

/* The pairs of a masked position and a neighbour whose X is not 0. */
struct neighbours {
    int64_t n, all;         /* number of these pairs; number including those with X = 0 */
    int32_t *masked, *near; /* [n] rows of the view; with form = embedding, near are ids */
    xlm_real *logs, *shares; /* [n] log X, f(X) */
};

static void add_pair(const struct gc *gc, struct neighbours *to, int32_t masked, int32_t near, int32_t a, int32_t b)
{
    const double x = xlm_cooccurrence_find(gc->table, a, b);
    to->all++;
    if (!(x > 0))
        return;
    to->masked[to->n] = masked;
    to->near[to->n] = near;
    to->logs[to->n] = (xlm_real)log(x);
    to->shares[to->n++] = (xlm_real)(x < gc->x_max ? pow(x / gc->x_max, gc->exponent) : 1);
}

/* Adds the pairs of a row with its neighbours before (side -1) or after it (side 1) in sequence s, up to the end of the sentence
 * or of the window. */
static void walk(const struct gc *gc, struct neighbours *to, const xlm_text *text, const int32_t *place, int32_t row, int32_t s,
                 int32_t side)
{
    const int32_t bos = text->specials->id[XLM_BOS], eos = text->specials->id[XLM_EOS];
    for (int32_t r = 1; r <= gc->window; r++) {
        const int32_t k = row + side * r;
        if (k < text->offsets[s] || k >= text->offsets[s + 1] || text->unmasked[k] == bos || text->unmasked[k] == eos)
            return;
        add_pair(gc, to, place[row], gc->form == HIDDEN ? place[k] : text->unmasked[k], text->unmasked[row], text->unmasked[k]);
    }
}

/* place: [T] for each row of the batch, its number among the rows of the view. */
static struct neighbours find_neighbours(const struct gc *gc, xlm_tape *tape, const xlm_batch *batch, const int32_t *place)
{
    const xlm_text *text = &batch->corrupted;
    const uint64_t max_pairs = (uint64_t)(2 * gc->window * batch->predicted);
    struct neighbours found = {
        .masked = xlm_tape_take(tape, sizeof(int32_t) * max_pairs), .near = xlm_tape_take(tape, sizeof(int32_t) * max_pairs),
        .logs = xlm_tape_take(tape, sizeof(xlm_real) * max_pairs), .shares = xlm_tape_take(tape, sizeof(xlm_real) * max_pairs),
    };
    for (int32_t i = 0, s = 0; i < batch->predicted; i++) {
        const int32_t row = batch->predicted_rows[i];
        while (text->offsets[s + 1] <= row)
            s++;
        walk(gc, &found, text, place, row, s, -1);
        walk(gc, &found, text, place, row, s, 1);
    }
    return found;
}

static xlm_var *gc_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct gc *gc = self->state;
    const xlm_batch *batch = pass->batch;
    const xlm_encoded *view = xlm_pass_view(pass, 0);
    xlm_var *h = view->states; /* rows x d */
    int32_t *place = xlm_tape_take(tape, sizeof *place * (uint64_t)batch->corrupted.tokens);
    for (int32_t i = 0; i < xlm_var_rows(h); i++)
        place[view->rows != NULL ? view->rows[i] : i] = i;
    const struct neighbours pairs = find_neighbours(gc, tape, batch, place);
    xlm_loss_metric(self, "known", (double)pairs.n, pairs.all);
    if (pairs.n == 0)
        return xlm_constant(tape, 1, 1, &(xlm_real){0});
    xlm_var *others = gc->form == HIDDEN ? h : xlm_param(tape, "embeddings/word/weight"); /* V x d */
    xlm_var *products = xlm_row_pairs_dot(tape, h, pairs.masked, others, pairs.near, pairs.n); /* n x 1 */
    xlm_var *error = xlm_subtract(tape, xlm_scale(tape, products, 1 / sqrt((double)xlm_var_cols(h))),
                                  xlm_constant(tape, pairs.n, 1, pairs.logs));
    xlm_var *mean = xlm_mean(tape, xlm_multiply(tape, xlm_multiply(tape, error, error),
                                                xlm_constant(tape, pairs.n, 1, pairs.shares)));
    return xlm_scale(tape, mean, (double)pairs.n / (double)(2 * gc->window * batch->predicted));
}

const xlm_loss_class xlm_loss_gc = {
    .abi = XLM_LOSS_ABI,
    .name = "gc",
    .summary = "make products of hidden states say how often masked words and their neighbours co-occur (MLM-GC), next to mlm",
    .needs_stream = true,
    .options = gc_options,
    .state_size = sizeof(struct gc),
    .open = gc_open,
    .declare = gc_declare,
    .loss = gc_loss,
};
