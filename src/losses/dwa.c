/* xlm-mpi: XLM-Align's denoising word alignment (Chi et al. 2021). SPDX-License-Identifier: GPL-3.0-or-later
 *
 * On a parallel stream, next to mlm (tlm), with which it shares the encoding of the corrupted pairs:
 *
 *   label   H = H[label_layer] of the original pair, without gradient and dropout. For source token i and target token j,
 *           K_ij = max(ε, h_i·h_j)^(1/μ), and A* = diag(u) K diag(v) by Sinkhorn's iterations. Links are found by Itermax or,
 *           with filter = off, where A*_ij is the largest number of its row or column (xlm/similarity.h).
 *   loss    q_i = W_q h*_i + b_q, k_j = W_k h*_j + b_k, h* = H[layer] of the corrupted pair, and the mean over queries i, of both
 *           directions, of −(1/|A(i)|) Σ_(j in A(i)) log softmax_j(q_i·k_j / √d), j over the other side, A(i) the links of i.
 *
 * A sentence is the rows of one type between <s> and </s>. If a sequence has several pairs (in the form xlm), sentence n of one
 * side belongs to sentence n of the other: each pair has its own links, and a query chooses among the tokens of its own
 * translation, so that the loss of a pair does not depend on how many pairs are packed with it. */
#include <xlm/loss.h>
#include <xlm/similarity.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES_MASKED, QUERIES_UNMASKED, QUERIES_ALL_ALIGNED };
enum { FILTER_ITERMAX, FILTER_OFF };
/* The defaults of Itermax. */
#define ALPHA 0.9
enum { ITERMAX_ITERATIONS = 2 };
enum { LABEL_VIEW, POINTER_VIEW };
/* Numbers of the draws of a row. */
enum { DRAW_UNMASKED, DRAW_SIDE };

/* ---- agreement of successive labellings: signatures of links ----
 *
 * The links of a pair are a set of (i, j). For each of HASHES hash functions the signature has the smallest hash of all links:
 * two sets have the same smallest hash with a probability of |A ∩ B| / |A ∪ B| (MinHash, Broder 1997). So the share of equal
 * hashes in the signatures of a pair's links, now and the last time, is an unbiased estimate of the Jaccard index of the two
 * sets, whatever the length of the pair. Hashes have 24 bits; a number of the state holds two of them. */
enum { HASHES = 8, STATE_NUMBERS = 1 + HASHES / 2 };

struct dwa {
    int64_t label_layer, layer, queries, filter, sinkhorn_iterations, itermax_iterations;
    double alpha, mu, epsilon;
    int64_t remembered;
    int64_t *memory; /* [remembered x STATE_NUMBERS] the key of a pair, 0: none; and its signature, two hashes in each number */
};

static const xlm_option dwa_options[] = {
    {"label_layer", XLM_OPTION_INT, "10", 0, 1000, NULL, "layer whose hidden states are aligned; 0 are the embeddings",
     offsetof(struct dwa, label_layer)},
    {"layer", XLM_OPTION_INT, "-1", -1, 1000, NULL, "layer whose hidden states the pointer network reads; -1: the last",
     offsetof(struct dwa, layer)},
    {"queries", XLM_OPTION_CHOICE, "masked", 0, 0, "masked|unmasked|all-aligned",
     "positions that look for their partners: the masked ones, 15 % of the others, or one of each link, at random",
     offsetof(struct dwa, queries)},
    {"filter", XLM_OPTION_CHOICE, "itermax", 0, 0, "itermax|off",
     "how links are chosen: by Itermax, or (off) the largest of every row and column", offsetof(struct dwa, filter)},
    {"sinkhorn_iterations", XLM_OPTION_INT, "2", 1, 1000, NULL, "number of iterations of the optimal transport",
     offsetof(struct dwa, sinkhorn_iterations)},
    {"itermax_iterations", XLM_OPTION_INT, "2", 1, 1000, NULL, "number of iterations of Itermax",
     offsetof(struct dwa, itermax_iterations)},
    {"alpha", XLM_OPTION_REAL, "0.9", 0.5, 1, NULL, "factor by which Itermax reduces similarities of words that have a link",
     offsetof(struct dwa, alpha)},
    {"mu", XLM_OPTION_REAL, "1", 1e-3, 1e3, NULL, "regularisation of the optimal transport", offsetof(struct dwa, mu)},
    {"epsilon", XLM_OPTION_REAL, "1e-6", 1e-30, 1e3, NULL, "minimum similarity", offsetof(struct dwa, epsilon)},
    {"remembered", XLM_OPTION_INT, "16384", 0, 16777216, NULL,
     "number of pairs whose last links are kept, for the metric agreement; 0: none", offsetof(struct dwa, remembered)},
    XLM_OPTION_END,
};

static bool dwa_open(xlm_loss *self, char *message, size_t size)
{
    struct dwa *dwa = self->state;
    const xlm_loss_stream *stream = self->stream;
    const int64_t layers = self->setup->model->layers;
    if (!stream->parallel)
        snprintf(message, size, "it aligns the two sides of pairs, and [stream %s] has none; set type = parallel there",
                 stream->name);
    else if (stream->noise)
        snprintf(message, size, "its labels are of the original text, and [stream %s] has noise (noise_shuffle, noise_drop, "
                 "noise_blank, or a stage), which changes the rows", stream->name);
    else if (dwa->label_layer > layers)
        snprintf(message, size, "label_layer = %lld, but the model has %lld layers; set label_layer to one of 0 to %lld",
                 (long long)dwa->label_layer, (long long)layers, (long long)layers);
    else if (dwa->layer > layers)
        snprintf(message, size, "layer = %lld, but the model has %lld layers; set layer to one of 0 to %lld, or -1 for the last",
                 (long long)dwa->layer, (long long)layers, (long long)layers);
    else if (dwa->queries == QUERIES_MASKED && stream->mask == 0)
        snprintf(message, size, "queries = masked, but [stream %s] masks nothing; raise mask there, or set queries = unmasked",
                 stream->name);
    else if (dwa->filter == FILTER_OFF && (dwa->alpha != ALPHA || dwa->itermax_iterations != ITERMAX_ITERATIONS))
        snprintf(message, size, "alpha and itermax_iterations are for Itermax, which filter = off leaves out; set filter = itermax");
    else if (dwa->remembered > 0 &&
             (dwa->memory = calloc((size_t)dwa->remembered, STATE_NUMBERS * sizeof *dwa->memory)) == NULL)
        snprintf(message, size, "no memory for remembered = %lld", (long long)dwa->remembered);
    else
        return true;
    return false;
}

static void dwa_close(xlm_loss *self)
{
    struct dwa *dwa = self->state;
    free(dwa->memory);
}

static void dwa_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct dwa *dwa = self->state;
    const int64_t d = self->setup->model->hidden_size;
    const xlm_view label = {.text = XLM_TEXT_ORIGINAL, .layer = dwa->label_layer, .rows = XLM_ROWS_ALL};
    const xlm_view pointer = {.text = XLM_TEXT_CORRUPTED, .layer = dwa->layer, .rows = XLM_ROWS_ALL, .gradient = true,
                              .dropout = true};
    xlm_declare_view(declaration, &label);
    xlm_declare_view(declaration, &pointer);
    xlm_declare_weight(declaration, "query/weight", d, d);
    xlm_declare_bias(declaration, "query/bias", d);
    xlm_declare_weight(declaration, "key/weight", d, d);
    xlm_declare_bias(declaration, "key/bias", d);
    xlm_declare_metric(declaration, "labels_per_pair");
    xlm_declare_metric(declaration, "accuracy");
    if (dwa->remembered == 0)
        return;
    xlm_declare_publish(declaration, sizeof(int64_t) * STATE_NUMBERS);
    xlm_declare_state(declaration, "remembered", XLM_STATE_I64, dwa->memory, dwa->remembered * STATE_NUMBERS);
    xlm_declare_training_metric(declaration, "agreement"); /* nothing of held-out text is remembered */
}

/* ---- sentences ---- */

/* n rows of a batch, from row `first` on. */
struct sentence {
    int32_t first, n;
};

/* Finds the next sentence of this type in sequence s, from *row on; false: there is none. <unk> counts as a word. */
static bool next_sentence(const xlm_text *text, int32_t s, int32_t type, int32_t *row, struct sentence *found)
{
    const int32_t *id = text->specials->id;
    *found = (struct sentence){0};
    for (; *row < text->offsets[s + 1]; ++*row) {
        const int32_t token = text->unmasked[*row];
        const bool inside = text->types[*row] == type && token != id[XLM_BOS] && token != id[XLM_EOS] &&
                            token != id[XLM_PAD] && !xlm_is_language_token(text->specials, token);
        if (!inside && found->n > 0)
            return true;
        if (inside && found->n++ == 0)
            found->first = *row;
    }
    return found->n > 0;
}

/* A pair of the batch. */
struct pair {
    struct sentence side[2]; /* source and target, by types */
    int32_t sequence;
    bool first;              /* it is the first pair of its sequence */
    bool *links;             /* [n of the source x n of the target] */
};

/* All pairs, [*n], memory of the tape, in the order of the sequences. */
static struct pair *find_pairs(xlm_tape *tape, const xlm_text *text, int64_t *n)
{
    struct pair *pairs = xlm_tape_take(tape, sizeof *pairs * ((uint64_t)text->tokens / 2 + 1));
    *n = 0;
    for (int32_t s = 0; s < text->sequences; s++) {
        int32_t row[2] = {text->offsets[s], text->offsets[s]};
        struct pair pair = {.sequence = s, .first = true};
        while (next_sentence(text, s, 0, &row[0], &pair.side[0]) && next_sentence(text, s, 1, &row[1], &pair.side[1])) {
            pairs[(*n)++] = pair;
            pair.first = false;
        }
    }
    return pairs;
}

/* ---- labels ---- */

/* Find the links of a pair; returns their number. states: T x d. */
static int64_t link_pair(const struct dwa *dwa, xlm_tape *tape, const xlm_real *states, int64_t d, struct pair *pair)
{
    const int64_t n = pair->side[0].n, m = pair->side[1].n;
    const xlm_transport transport = {dwa->epsilon, dwa->mu, (int)dwa->sinkhorn_iterations};
    const xlm_itermax itermax = {dwa->alpha, (int)dwa->itermax_iterations};
    xlm_real *a = xlm_tape_take(tape, sizeof *a * (uint64_t)(n * m));
    pair->links = xlm_tape_take(tape, sizeof *pair->links * (uint64_t)(n * m));
    xlm_similarity_products(n, m, d, states + pair->side[0].first * d, states + pair->side[1].first * d, a);
    xlm_similarity_transport(&transport, n, m, a);
    return dwa->filter == FILTER_ITERMAX ? xlm_similarity_filter(&itermax, n, m, a, pair->links)
                                         : xlm_similarity_argmax(n, m, a, true, pair->links);
}

/* Which rows are queries: [T], memory of the tape. */
static bool *choose_queries(const struct dwa *dwa, xlm_tape *tape, const xlm_pass *pass, const struct pair *pairs, int64_t n)
{
    const xlm_batch *batch = pass->batch;
    const xlm_text *text = &batch->corrupted;
    bool *masked = xlm_tape_take(tape, sizeof *masked * (uint64_t)text->tokens);
    memset(masked, 0, sizeof *masked * (size_t)text->tokens);
    for (int32_t i = 0; i < batch->predicted; i++)
        masked[batch->predicted_rows[i]] = true;
    if (dwa->queries == QUERIES_MASKED)
        return masked;
    bool *chosen = xlm_tape_take(tape, sizeof *chosen * (uint64_t)text->tokens);
    for (int32_t i = 0; i < text->tokens; i++)
        chosen[i] = dwa->queries == QUERIES_UNMASKED && !masked[i] && xlm_pass_uniform(pass, text->keys[i], DRAW_UNMASKED) < 0.15;
    for (int64_t p = 0; p < n && dwa->queries == QUERIES_ALL_ALIGNED; p++) {
        const struct sentence *source = &pairs[p].side[0], *target = &pairs[p].side[1];
        const int64_t width = target->n;
        for (int32_t i = 0; i < source->n; i++)
            for (int32_t j = 0; j < target->n; j++)
                if (pairs[p].links[i * width + j]) {
                    const double draw = xlm_pass_uniform(pass, text->keys[source->first + i], (uint32_t)(DRAW_SIDE + j));
                    chosen[draw < 0.5 ? source->first + i : target->first + j] = true;
                }
    }
    return chosen;
}

/* The labels for `loss`, in the form of xlm_pointer_targets. */
struct labels {
    int64_t pairs, links;     /* numbers of these */
    int64_t compared, agreed; /* numbers of hashes of signatures */
    int32_t *rows;            /* rows of the batch that are queries */
    xlm_pointer_targets targets;
};

/* Adds the queries of side `asking` of a pair, which choose among the tokens of the other side: the chosen rows that have links.
 * The arrays are those of xlm_pointer_targets, of which targets->groups groups are filled in. */
static void add_group(const struct pair *pair, int asking, const bool *chosen, int32_t *rows, xlm_pointer_targets *targets,
                      int32_t *queries, int32_t *first, int32_t *keys, int32_t *offsets, int32_t *labels)
{
    const struct sentence *own = &pair->side[asking], *other = &pair->side[1 - asking];
    const int32_t g = targets->groups;
    const int64_t m = pair->side[1].n;
    int32_t n = queries[g];
    for (int32_t i = 0; i < own->n; i++) {
        int32_t end = offsets[n];
        for (int32_t j = 0; j < other->n && chosen[own->first + i]; j++)
            if (asking == 0 ? pair->links[i * m + j] : pair->links[j * m + i])
                labels[end++] = other->first + j;
        if (end > offsets[n]) {
            rows[n++] = own->first + i;
            offsets[n] = end;
        }
    }
    if (n == queries[g])
        return;
    first[g] = other->first;
    keys[g] = other->n;
    queries[g + 1] = n;
    targets->groups++;
}

/* Makes all groups, in the order of their keys: for each sequence those of the second side, whose keys are the first side, and
 * then those of the first side. */
static struct labels *make_labels(const xlm_pass *pass, const struct pair *pairs, int64_t n, int64_t links, const bool *chosen)
{
    const uint64_t rows = (uint64_t)pass->batch->corrupted.tokens, number = sizeof(int32_t);
    struct labels *labels = xlm_pass_keep(pass, sizeof *labels);
    *labels = (struct labels){.pairs = n, .links = links, .rows = xlm_pass_keep(pass, number * rows)};
    int32_t *queries = xlm_pass_keep(pass, number * (uint64_t)(2 * n + 1));
    int32_t *first = xlm_pass_keep(pass, number * (uint64_t)(2 * n)), *keys = xlm_pass_keep(pass, number * (uint64_t)(2 * n));
    int32_t *offsets = xlm_pass_keep(pass, number * (rows + 1));
    int32_t *of = xlm_pass_keep(pass, number * (uint64_t)(2 * links));
    queries[0] = offsets[0] = 0;
    for (int64_t p = 0, end; p < n; p = end) {
        for (end = p; end < n && pairs[end].sequence == pairs[p].sequence; end++)
            ;
        for (int asking = 1; asking >= 0; asking--)
            for (int64_t q = p; q < end; q++)
                add_group(&pairs[q], asking, chosen, labels->rows, &labels->targets, queries, first, keys, offsets, of);
    }
    labels->targets = (xlm_pointer_targets){labels->targets.groups, queries, first, keys, offsets, of};
    return labels;
}

/* ---- agreement ---- */

/* A hash of x (the finaliser of MurmurHash3). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static const uint64_t number_mask = (1u << 24) - 1;

/* A hash of the text of a pair, 48 bits, never 0. */
static uint64_t key_of(const xlm_text *text, const struct pair *pair)
{
    uint64_t hash = 0;
    for (int side = 0; side < 2; side++) {
        const struct sentence *s = &pair->side[side];
        hash = mix(hash + 1 + (uint64_t)s->n);
        for (int32_t i = 0; i < s->n; i++)
            hash = mix(hash ^ (uint64_t)text->unmasked[s->first + i]);
    }
    hash >>= 16;
    return hash != 0 ? hash : 1;
}

static void sign(const struct pair *pair, uint32_t signature[HASHES])
{
    const int64_t n = pair->side[0].n, m = pair->side[1].n;
    for (uint32_t h = 0; h < HASHES; h++)
        signature[h] = (uint32_t)number_mask;
    for (int64_t e = 0; e < n * m; e++)
        for (uint32_t h = 0; h < HASHES && pair->links[e]; h++) {
            const uint32_t value = (uint32_t)(mix(mix((uint64_t)e) + h) & number_mask);
            signature[h] = value < signature[h] ? value : signature[h];
        }
}

static int64_t *place_of(const struct dwa *dwa, uint64_t key)
{
    return dwa->memory + key % (uint64_t)dwa->remembered * STATE_NUMBERS;
}

/* Only the first pair of each sequence is compared, because a sequence publishes once. */
static void compare_and_publish(const struct dwa *dwa, const xlm_pass *pass, const struct pair *pair, struct labels *labels)
{
    const uint64_t key = key_of(&pass->batch->corrupted, pair);
    const int64_t *last = place_of(dwa, key);
    uint32_t signature[HASHES];
    sign(pair, signature);
    for (int h = 0; h < HASHES && (uint64_t)last[0] == key; h++) {
        labels->compared++;
        labels->agreed += ((uint64_t)last[1 + h / 2] >> h % 2 * 24 & number_mask) == signature[h];
    }
    int64_t next[STATE_NUMBERS] = {(int64_t)key};
    for (int h = 0; h < HASHES; h++)
        next[1 + h / 2] |= (int64_t)signature[h] << h % 2 * 24;
    xlm_pass_publish(pass, pair->sequence, next);
}

static void dwa_publish(xlm_loss *self, const xlm_published *published)
{
    const struct dwa *dwa = self->state;
    const int64_t *row = published->values;
    for (int64_t i = 0; i < published->rows; i++, row += STATE_NUMBERS)
        memcpy(place_of(dwa, (uint64_t)row[0]), row, published->bytes);
}

/* ---- the hooks of a step ---- */

static int64_t dwa_label(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct dwa *dwa = self->state;
    const xlm_var *h = xlm_pass_view(pass, LABEL_VIEW)->states; /* T x d */
    const int64_t d = xlm_var_cols(h);
    int64_t n, links = 0;
    struct pair *pairs = find_pairs(tape, &pass->batch->corrupted, &n);
    xlm_real *states = xlm_tape_take(tape, sizeof *states * (uint64_t)(pass->batch->corrupted.tokens * d));
    xlm_var_read(h, 0, pass->batch->corrupted.tokens, states);
    for (int64_t p = 0; p < n; p++)
        links += link_pair(dwa, tape, states, d, &pairs[p]);
    struct labels *labels = make_labels(pass, pairs, n, links, choose_queries(dwa, tape, pass, pairs, n));
    for (int64_t p = 0; p < n && dwa->remembered > 0; p++)
        if (pairs[p].first)
            compare_and_publish(dwa, pass, &pairs[p], labels);
    return labels->targets.queries[labels->targets.groups];
}

static xlm_var *dwa_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct dwa *dwa = self->state;
    const struct labels *labels = pass->labels;
    xlm_var *h = xlm_pass_view(pass, POINTER_VIEW)->states; /* T x d */
    const int32_t n = labels->targets.queries[labels->targets.groups];
    xlm_var *queries = xlm_rows(tape, h, labels->rows, n); /* n x d */
    xlm_var *q = xlm_linear(tape, queries, xlm_loss_param(self, tape, "query/weight"), xlm_loss_param(self, tape, "query/bias"));
    xlm_var *k = xlm_linear(tape, h, xlm_loss_param(self, tape, "key/weight"), xlm_loss_param(self, tape, "key/bias"));
    xlm_score *scores = xlm_tape_take(tape, sizeof *scores * (uint64_t)n);
    xlm_var *mean = xlm_pointer_cross_entropy(tape, q, k, &labels->targets, scores);
    for (int32_t i = 0; i < n; i++)
        xlm_loss_metric(self, "accuracy", scores[i].correct, 1);
    xlm_loss_metric(self, "labels_per_pair", (double)labels->links, labels->pairs);
    if (dwa->remembered > 0)
        xlm_loss_metric(self, "agreement", (double)labels->agreed, labels->compared);
    return mean;
}

const xlm_loss_class xlm_loss_dwa = {
    .abi = XLM_LOSS_ABI,
    .name = "dwa",
    .summary = "find the aligned word in the other language, with word alignments by the model itself (XLM-Align)",
    .needs_stream = true,
    .options = dwa_options,
    .state_size = sizeof(struct dwa),
    .open = dwa_open,
    .declare = dwa_declare,
    .label = dwa_label,
    .loss = dwa_loss,
    .publish = dwa_publish,
    .close = dwa_close,
};
