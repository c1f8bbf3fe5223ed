/* xlm-mpi: how often a sentence's translation is the nearest of all. SPDX-License-Identifier: GPL-3.0-or-later */
#include "retrieval/sentence_retrieval.h"

#include <stdio.h>

#include "base/log.h"
#include "base/progress.h"
#include "base/rng.h"
#include "files/path.h"
#include "model/model_file.h"
#include "model_aligner/model_links.h"
#include "model_aligner/pair_batches.h"
#include "model_aligner/pair_languages.h"
#include "text/fields.h"
#include "vectors/alignment.h"
#include "vectors/sentence_vectors.h"

/* The results for one layer and one kind of vectors, by direction: 0 from source to target. */
struct found {
    double cosine[2], csls[2]; /* accuracies, 0 … 1 */
};

struct retrieval {
    const xlm_comm *comm;
    const xlm_retrieval_options *options;
    xlm_loaded_model *loaded;
    xlm_align_input input;
    xlm_pair_text *text;
    int languages[2];
    int64_t first_layer, layers;
    int vectors;              /* vectors of a sentence: the pooled one, and perhaps the row of <s> */
    GArray **own;             /* [layers x vectors x 2 sides] float: vectors of this rank's pairs that were encoded */
    GArray *own_digests[2];   /* uint64_t of their subwords */
    int64_t pairs, left_out;  /* of all ranks: encoded; not */
    int64_t used;             /* of these, in pools */
    uint64_t *digests[2];     /* [pairs] */
    int64_t *right_first[2], *right_end[2]; /* [used] by direction: right answers, as in xlm_alignment */
    int32_t *right[2];
    struct found *found;      /* [layers x vectors] */
};

/* ---- opening ---- */

static bool open_model(struct retrieval *r, GError **error)
{
    const xlm_retrieval_options *o = r->options;
    const char *const inputs[] = {o->checkpoint, o->source.files[0], o->source.files[1]};
    if ((r->loaded = xlm_model_file_read(o->checkpoint, error)) == NULL ||
        !xlm_model_file_has_layer(r->loaded, o->checkpoint, o->layer, error))
        return false;
    r->first_layer = o->layer == XLM_LAYER_ALL ? 0 : o->layer;
    r->layers = o->layer == XLM_LAYER_ALL ? r->loaded->config.layers + 1 : 1;
    return (o->source.corpus || xlm_pair_languages_of_text(r->loaded, &o->source, r->languages, error)) &&
           (r->comm->rank != 0 || xlm_path_check_outputs(&o->csv, 1, inputs, G_N_ELEMENTS(inputs), error));
}

static bool open_all(struct retrieval *r, GError **error)
{
    const xlm_retrieval_options *o = r->options;
    GError *failure = NULL;
    open_model(r, &failure);
    if (!xlm_comm_agree_on(r->comm, failure, error) ||
        !xlm_align_input_open(r->comm, &o->source, XLM_PAIR_WORK_SUM, XLM_PAIRS_UNIT, &r->input, error))
        return false;
    if (o->source.corpus && !xlm_pair_languages_of_corpus(r->loaded, o->checkpoint, &r->input, r->languages, error))
        return false; /* all ranks have the same error */
    r->text = xlm_pair_text_read(r->comm, r->input.pairs, r->loaded->vocabulary, r->languages, XLM_WORDS_SPACE, error);
    if (r->text == NULL)
        return false;
    if (r->text->pairs > G_MAXUINT / r->loaded->config.hidden_size) /* what an array holds */
        xlm_error_set(&failure, EX_UNAVAILABLE, "%s: a rank's part has too many pairs; give more ranks", o->source.files[0]);
    return xlm_comm_agree_on(r->comm, failure, error);
}

static void close_all(struct retrieval *r)
{
    for (int64_t i = 0; i < 2 * r->vectors * r->layers && r->own != NULL; i++)
        g_clear_pointer(&r->own[i], g_array_unref);
    for (int s = 0; s < 2; s++) {
        g_clear_pointer(&r->own_digests[s], g_array_unref);
        g_free(r->digests[s]);
        g_free(r->right_first[s]);
        g_free(r->right_end[s]);
        g_free(r->right[s]);
    }
    g_free(r->own);
    g_free(r->found);
    xlm_pair_text_free(r->text);
    xlm_align_input_close(&r->input);
    xlm_model_file_free(r->loaded);
}

/* ---- vectors ---- */

static int pooled(const struct retrieval *r) { return r->options->pooling >= 0 ? r->options->pooling : XLM_POOL_MEAN; }
static const char *vector_name(const struct retrieval *r, int vector)
{
    return vector == 0 ? xlm_pooling_name(pooled(r)) : "<s>";
}

static int64_t width(const struct retrieval *r) { return r->loaded->config.hidden_size; }

/* This rank's vectors of a layer, counted from the first that was asked for. */
static GArray **own_vectors(const struct retrieval *r, int64_t layer, int vector, int side)
{
    return &r->own[(layer * r->vectors + vector) * 2 + side];
}

/* side: of the sentence that the sequence of the text is. */
static void add_vectors(struct retrieval *r, int64_t layer, const xlm_var *hidden, const xlm_text *text, int64_t sequence,
                        int side, xlm_real *x, double *y)
{
    for (int vector = 0; vector < r->vectors; vector++) {
        GArray *own = *own_vectors(r, layer, vector, side);
        for (int64_t c = 0; c < width(r); c++)
            y[c] = 0;
        if (vector == 0)
            xlm_sentence_pool(pooled(r), hidden, text, sequence, r->options->special_tokens, x, y);
        else
            xlm_sentence_pool(XLM_POOL_FIRST, hidden, text, sequence, true, x, y);
        for (int64_t c = 0; c < width(r); c++) {
            const float value = (float)y[c];
            g_array_append_val(own, value);
        }
    }
}

static void add_batch(struct retrieval *r, xlm_tape *tape, xlm_arena *arena, const xlm_pair_batch *b)
{
    xlm_tape_begin(tape, NULL, false, 0, 0);
    xlm_var **hidden =
        xlm_model_encode(r->loaded->model, tape, &b->text, false, r->first_layer + r->layers - 1, NULL, 0) + r->first_layer;
    xlm_real *x = XLM_TAKE(arena, xlm_real, width(r));
    double *y = XLM_TAKE(arena, double, width(r));
    for (int64_t i = 0; i < b->n; i++)
        for (int s = 0; s < 2; s++) {
            const int64_t n = xlm_pair_size(r->text, b->pair[i], s);
            const int32_t *ids = &g_array_index(r->text->side[s].ids, int32_t, xlm_pair_start(r->text, b->pair[i], s));
            const uint64_t digest = xlm_digest(ids, sizeof *ids * (uint64_t)n, 0);
            g_array_append_val(r->own_digests[s], digest);
            for (int64_t l = 0; l < r->layers; l++)
                add_vectors(r, l, hidden[l], &b->text, 2 * i + s, s, x, y);
        }
}

/* Not collective. The vectors of this rank's pairs. */
static void encode(struct retrieval *r)
{
    xlm_tape *tape = xlm_model_file_tape(r->loaded);
    xlm_arena *arena = xlm_arena_new();
    r->own = g_new(GArray *, 2 * r->vectors * r->layers);
    for (int64_t i = 0; i < 2 * r->vectors * r->layers; i++)
        r->own[i] = g_array_new(FALSE, FALSE, sizeof(float));
    for (int s = 0; s < 2; s++)
        r->own_digests[s] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    xlm_progress progress = xlm_progress_begin("encoding", (double)r->text->pairs, "pairs");
    for (int64_t next = 0; next < r->text->pairs;) {
        xlm_pair_batch b;
        xlm_arena_reset(arena);
        xlm_pair_batch_next(r->text, XLM_PAIRS_APART, r->loaded->config.positions, xlm_vocabulary_specials(r->loaded->vocabulary),
                            &next, arena, &b);
        if (b.n > 0)
            add_batch(r, tape, arena, &b);
        xlm_progress_show(&progress, (double)next);
    }
    xlm_progress_end(&progress);
    xlm_arena_free(arena);
    xlm_tape_free(tape);
}

/* Collective. What all ranks have of an array, in the order of the pairs; g_free. */
static void *gather(const struct retrieval *r, const GArray *own)
{
    void *all;
    const size_t size = g_array_get_element_size((GArray *)own); /* of 64 bits, for vectors may take more than 4 GiB */
    xlm_comm_gather_all(r->comm, own->data, own->len * size, &all, NULL);
    return all;
}

/* ---- right answers ---- */

static gint by_digest(gconstpointer a, gconstpointer b, gpointer digests)
{
    const int32_t i = *(const int32_t *)a, j = *(const int32_t *)b;
    const uint64_t x = ((const uint64_t *)digests)[i], y = ((const uint64_t *)digests)[j];
    return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* For the queries of a direction the rows of the other side, of the same pool, that have the subwords of their translation. They
 * are side by side when rows are ordered by subwords, and all queries that have them share them. pairs are at most 2^31 − 1.
 * repeated: increased by the number of translations that are not the only ones with their subwords. */
static void find_right(struct retrieval *r, int direction, int64_t pool, int64_t *repeated)
{
    const int64_t n = r->used;
    const uint64_t *digests = r->digests[!direction];
    int32_t *order = r->right[direction] = g_new(int32_t, n);
    int64_t *first = r->right_first[direction] = g_new(int64_t, n), *end = r->right_end[direction] = g_new(int64_t, n);
    for (int64_t i = 0; i < n; i++)
        order[i] = (int32_t)i;
    for (int64_t begin = 0; begin < n; begin += pool) {
        g_qsort_with_data(order + begin, (gint)pool, sizeof *order, by_digest, (gpointer)digests);
        for (int64_t i = begin, j; i < begin + pool; i = j) {
            for (j = i; j < begin + pool && digests[order[j]] == digests[order[i]]; j++)
                ;
            for (int64_t k = i; k < j; k++)
                first[order[k]] = i, end[order[k]] = j;
            *repeated += j - i > 1 ? j - i : 0;
        }
    }
}

/* Which pairs take part, and what their right answers are. */
static bool make_pools(struct retrieval *r, GError **error)
{
    const int64_t asked = r->options->pool;
    int64_t repeated[2] = {0, 0};
    r->pairs = r->own_digests[0]->len;
    xlm_comm_sum_int64(r->comm, &r->pairs, 1);
    r->left_out = r->text->all - r->pairs;
    if (r->left_out > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " pairs are left out: no subword on a side, or more than the "
                     "model's %" G_GINT64_FORMAT " positions", r->left_out, r->text->all, r->loaded->config.positions);
    if (r->pairs == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: has no pair that the model can read", r->options->source.files[0]);
    if (r->pairs > G_MAXINT32)
        return xlm_error_set(error, EX_DATAERR, "%s: has more than %d pairs", r->options->source.files[0], G_MAXINT32);
    if (asked > r->pairs)
        return xlm_error_set(error, EX_USAGE, "--pool=%" G_GINT64_FORMAT ": %s has %" G_GINT64_FORMAT " pairs", asked,
                             r->options->source.files[0], r->pairs);
    const int64_t pool = asked > 0 ? asked : r->pairs;
    r->used = r->pairs / pool * pool;
    for (int s = 0; s < 2; s++)
        r->digests[s] = gather(r, r->own_digests[s]);
    for (int direction = 0; direction < 2; direction++)
        find_right(r, direction, pool, &repeated[direction]);
    if (r->used < r->pairs)
        xlm_log_info("%" G_GINT64_FORMAT " pairs after the last whole pool of %" G_GINT64_FORMAT " are left out",
                     r->pairs - r->used, pool);
    if (repeated[0] + repeated[1] > 0)
        xlm_log_info("%" G_GINT64_FORMAT " target and %" G_GINT64_FORMAT " source sentences occur more than once in their pool; "
                     "each is right where one is", repeated[0], repeated[1]);
    return true;
}

/* ---- measuring ---- */

static double accuracy(const xlm_comm *comm, const xlm_alignment *a, int64_t *rank)
{
    xlm_alignment_ranks(comm, a, rank);
    return xlm_alignment_summary(a->n, rank, NULL).top1;
}

/* vectors: [2] sides. */
static void measure(const struct retrieval *r, float *const *vectors, struct found *found)
{
    g_autofree int64_t *rank = g_new(int64_t, r->used);
    g_autofree float *hubness = g_new(float, r->used);
    for (int direction = 0; direction < 2; direction++) {
        xlm_alignment a = {
            .width = width(r), .source_vectors = vectors[direction], .candidate_vectors = vectors[!direction], .n = r->used,
            .candidates = r->used, .first = r->right_first[direction], .end = r->right_end[direction],
            .translations = r->right[direction], .pool = r->options->pool,
        }, reverse = a;
        found->cosine[direction] = accuracy(r->comm, &a, rank);
        reverse.source_vectors = a.candidate_vectors;
        reverse.candidate_vectors = a.source_vectors;
        xlm_alignment_neighbours(r->comm, &reverse, r->options->neighbours, hubness);
        a.hubness = hubness;
        found->csls[direction] = accuracy(r->comm, &a, rank);
    }
}

static void measure_all(struct retrieval *r)
{
    r->found = g_new0(struct found, r->layers * r->vectors);
    for (int64_t l = 0; l < r->layers; l++)
        for (int vector = 0; vector < r->vectors; vector++) {
            float *vectors[2];
            for (int s = 0; s < 2; s++) {
                vectors[s] = gather(r, *own_vectors(r, l, vector, s));
                g_clear_pointer(own_vectors(r, l, vector, s), g_array_unref);
            }
            measure(r, vectors, &r->found[l * r->vectors + vector]);
            for (int s = 0; s < 2; s++)
                g_free(vectors[s]);
        }
}

/* ---- results ---- */

/* "en", or "source" if the model has no languages. */
static const char *name_of(const struct retrieval *r, int side)
{
    const int language = r->languages[side];
    return language >= 0 ? xlm_vocabulary_language_names(r->loaded->vocabulary)[language] : side == 0 ? "source" : "target";
}

static void print_table(const struct retrieval *r)
{
    printf("%5s %-6s %10s %10s %10s %10s\n", "", "", "cosine", "", "CSLS", "");
    g_autofree char *there = g_strconcat(name_of(r, 0), "-", name_of(r, 1), NULL);
    g_autofree char *back = g_strconcat(name_of(r, 1), "-", name_of(r, 0), NULL);
    printf("%5s %-6s %10s %10s %10s %10s\n", "layer", "vector", there, back, there, back);
    for (int64_t l = 0; l < r->layers; l++)
        for (int vector = 0; vector < r->vectors; vector++) {
            const struct found *f = &r->found[l * r->vectors + vector];
            printf("%5" G_GINT64_FORMAT " %-6s %9.2f%% %9.2f%% %9.2f%% %9.2f%%\n", r->first_layer + l, vector_name(r, vector),
                   100 * f->cosine[0], 100 * f->cosine[1], 100 * f->csls[0], 100 * f->csls[1]);
        }
}

static bool write_csv(const struct retrieval *r, GError **error)
{
    GString *text = g_string_new("layer,vector,source,target,pairs,pool,cosine,csls\n");
    for (int64_t l = 0; l < r->layers; l++)
        for (int vector = 0; vector < r->vectors; vector++)
            for (int direction = 0; direction < 2; direction++) {
                const struct found *f = &r->found[l * r->vectors + vector];
                g_string_append_printf(text, "%" G_GINT64_FORMAT ",%s,%s,%s,", r->first_layer + l, vector_name(r, vector),
                                       name_of(r, direction), name_of(r, !direction));
                g_string_append_printf(text, "%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%.6f,%.6f\n", r->used,
                                       r->options->pool > 0 ? r->options->pool : r->used, f->cosine[direction],
                                       f->csls[direction]);
            }
    return xlm_fields_write(r->options->csv, text, error);
}

static bool report(const struct retrieval *r, double begin, GError **error)
{
    GError *failure = NULL;
    xlm_log_info("%" G_GINT64_FORMAT " pairs of %s and %s, looked for among %" G_GINT64_FORMAT " at a time, model of step %"
                 G_GINT64_FORMAT ": %.1f s", r->used, name_of(r, 0), name_of(r, 1),
                 r->options->pool > 0 ? r->options->pool : r->used, r->loaded->step, xlm_clock() - begin);
    if (r->comm->rank == 0) {
        print_table(r);
        if (r->options->csv != NULL)
            write_csv(r, &failure);
    }
    return xlm_comm_agree_on(r->comm, failure, error);
}

bool xlm_sentence_retrieval(const xlm_comm *comm, const xlm_retrieval_options *options, GError **error)
{
    struct retrieval r = {.comm = comm, .options = options, .vectors = options->pooling >= 0 ? 1 : 2};
    const double begin = xlm_clock();
    bool good = open_all(&r, error);
    if (good) {
        encode(&r);
        good = make_pools(&r, error);
    }
    if (good) {
        measure_all(&r);
        good = report(&r, begin, error);
    }
    close_all(&r);
    return good;
}
