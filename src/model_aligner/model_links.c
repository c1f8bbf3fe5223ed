/* xlm-mpi: word alignment of sentence pairs by a model's hidden states. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_aligner/model_links.h"

#include <stdio.h>
#include <string.h>
#include <xlm/similarity.h>

#include "aligners/alignment_write.h"
#include "aligners/link_file.h"
#include "aligners/matrix_file.h"
#include "base/log.h"
#include "base/progress.h"
#include "files/path.h"
#include "model/model_file.h"
#include "model_aligner/pair_batches.h"
#include "model_aligner/pair_languages.h"
#include "tensor/parameters.h"

static const char *const methods[] = XLM_LINK_METHODS;

/* The links of one layer for this rank's pairs. */
struct layer_links {
    GString *lines, *scores; /* for the files */
    int64_t links;
    xlm_link_score score;    /* against gold */
};

/* A link of words, and the largest value of its subwords. */
struct word_link {
    xlm_link link; /* first, so that xlm_links_compare compares these */
    float score;
};

struct aligner {
    const xlm_comm *comm;
    const xlm_model_links_options *options;
    xlm_loaded_model *loaded;
    xlm_tape *tape;
    xlm_arena *arena;
    xlm_align_input input;
    xlm_found_links *found; /* for an alignment of a corpus; NULL: not wanted */
    xlm_pair_text *text;
    xlm_pair_form form;
    int64_t first_layer, layers; /* layers first … first + layers - 1 */
    struct layer_links *layer;   /* [layers] */
    xlm_links *gold;
    int64_t scored;              /* number of sentences with gold links, of all ranks */
    int64_t too_long;            /* pairs of all ranks */
    xlm_matrix_file *matrices;
    double encoding;             /* seconds */
};

/* ---- opening ---- */

static bool choose_layers(struct aligner *a, GError **error)
{
    const int64_t asked = a->options->layer, top = a->loaded->config.layers;
    if (!xlm_model_file_has_layer(a->loaded, a->options->checkpoint, asked, error))
        return false;
    a->first_layer = asked == XLM_LAYER_ALL ? 0 : asked == XLM_LAYER_DEFAULT ? (2 * top + 1) / 3 : asked;
    a->layers = asked == XLM_LAYER_ALL ? top + 1 : 1;
    a->layer = g_new0(struct layer_links, a->layers);
    for (int64_t l = 0; l < a->layers; l++)
        a->layer[l] = (struct layer_links){.lines = g_string_new(NULL), .scores = g_string_new(NULL)};
    return true;
}

/* The name of a layer's file; NULL: none is written. g_free. */
static char *path_of_layer(const struct aligner *a, const char *path, int64_t l)
{
    if (path == NULL)
        return NULL;
    return a->layers == 1 ? g_strdup(path) : g_strdup_printf("%s.layer%" G_GINT64_FORMAT, path, l);
}

static bool check_outputs(const struct aligner *a, GError **error)
{
    const xlm_model_links_options *o = a->options;
    const char *const inputs[] = {o->checkpoint, o->gold, o->source.files[0], o->source.files[1]};
    g_autoptr(GPtrArray) outputs = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(outputs, g_strdup(o->matrices));
    g_ptr_array_add(outputs, g_strdup(o->alignment));
    for (int64_t l = 0; l < a->layers; l++) {
        g_ptr_array_add(outputs, path_of_layer(a, o->output, l));
        g_ptr_array_add(outputs, path_of_layer(a, o->scores, l));
    }
    return xlm_path_check_outputs((const char *const *)outputs->pdata, outputs->len, inputs, G_N_ELEMENTS(inputs), error);
}

static bool read_gold(struct aligner *a, GError **error)
{
    const char *path = a->options->gold;
    const int64_t all = xlm_sentence_pairs_total(a->input.pairs);
    if (path == NULL)
        return true;
    if ((a->gold = xlm_links_read(path, a->options->gold_words, XLM_COUNT_FOUND, error)) == NULL)
        return false;
    const bool lines = a->gold->first_sentence == XLM_COUNT_FOUND;
    if (!lines)
        xlm_links_close_gaps(a->gold, path, all);
    if (lines ? a->gold->sentences != all : a->gold->sentences > all)
        return xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " sentences, %s %" G_GINT64_FORMAT
                             "; give gold links of the same sentences", path, a->gold->sentences,
                             a->options->source.files[0], all);
    if (a->gold->offsets[a->gold->sentences] == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: has no links", path);
    for (int64_t s = 0; s < a->gold->sentences; s++)
        a->scored += a->gold->offsets[s + 1] > a->gold->offsets[s];
    xlm_log_info("%s: counts words from %d%s%s", path, a->gold->words, lines ? "" : ", sentences from ",
                 lines ? "" : a->gold->first_sentence == XLM_COUNT_FROM_0 ? "0" : "1");
    return true;
}

/* The form of pairs is the one that the model was trained with. Nothing says how to encode them together if it was with none. */
static void choose_form(struct aligner *a)
{
    const char *trained = a->loaded->pair_form;
    a->form = a->options->apart ? XLM_PAIRS_APART : g_strcmp0(trained, "xlm") == 0 ? XLM_PAIRS_XLM : XLM_PAIRS_BERT;
    if (a->options->apart)
        xlm_log_info("pairs: each sentence is encoded alone");
    else if (trained != NULL)
        xlm_log_info("pairs: encoded in the form %s, as when the model was trained", trained);
    else
        xlm_log_info("pairs: encoded in the form %s, though nothing in %s says that the model was trained with pairs; --encode "
                     "apart encodes each sentence alone", xlm_pair_form_name(a->form), a->options->checkpoint);
}

static bool open_model(struct aligner *a, int languages[2], GError **error)
{
    const char *path = a->options->checkpoint;
    if ((a->loaded = xlm_model_file_read(path, error)) == NULL || !choose_layers(a, error) ||
        (!a->options->source.corpus && !xlm_pair_languages_of_text(a->loaded, &a->options->source, languages, error)) ||
        (a->comm->rank == 0 && !check_outputs(a, error)))
        return false;
    choose_form(a);
    a->tape = xlm_model_file_tape(a->loaded);
    a->arena = xlm_arena_new();
    return true;
}

static bool fits(const struct aligner *a, int64_t pair)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(a->loaded->vocabulary);
    return xlm_pair_fits(a->form, xlm_pair_tokens(a->text, specials, pair, 0), xlm_pair_tokens(a->text, specials, pair, 1),
                         a->loaded->config.positions);
}

/* Count the pairs that are too long, on all ranks. */
static void count_too_long(struct aligner *a)
{
    int64_t first = G_MAXINT64;
    for (int64_t p = 0; p < a->text->pairs; p++) {
        const int64_t n = xlm_pair_size(a->text, p, 0), m = xlm_pair_size(a->text, p, 1);
        if (n == 0 || m == 0 || fits(a, p))
            continue;
        first = MIN(first, a->text->first + p);
        a->too_long++;
    }
    first = -first;
    xlm_comm_max_int64(a->comm, &first, 1);
    xlm_comm_sum_int64(a->comm, &a->too_long, 1);
    if (a->too_long == 0)
        return;
    g_autofree char *place = xlm_sentence_pairs_place(a->input.pairs, -first);
    xlm_log_warn("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " pairs are longer than the model's %" G_GINT64_FORMAT
                 " positions and get no links; the first is %s%s", a->too_long, a->text->all, a->loaded->config.positions, place,
                 a->form == XLM_PAIRS_BERT ? "; encoded apart there is room for more" : "");
}

/* Words of a side of this rank's pair, but for last ones that normalisation leaves nothing of. */
static int64_t words_of(const struct aligner *a, int64_t pair, int side)
{
    const int64_t size = xlm_pair_size(a->text, pair, side);
    return size == 0 ? 0 : g_array_index(a->text->side[side].words, int32_t, xlm_pair_start(a->text, pair, side) + size - 1) + 1;
}

/* How many gold links are of words that the sentences do not have. [out] from_1: even if their numbers were counted from 1. */
static int64_t count_outside(const struct aligner *a, int64_t *from_1)
{
    int64_t outside[] = {0, 0};
    const int64_t end = MIN(a->text->first + a->text->pairs, a->gold->sentences);
    for (int64_t s = a->text->first; s < end; s++) {
        const int64_t n = words_of(a, s - a->text->first, 0), m = words_of(a, s - a->text->first, 1);
        for (const xlm_link *l = a->gold->links + a->gold->offsets[s]; l < a->gold->links + a->gold->offsets[s + 1]; l++) {
            outside[0] += l->source >= n || l->target >= m;
            outside[1] += l->source > n || l->target > m;
        }
    }
    xlm_comm_sum_int64(a->comm, outside, 2);
    *from_1 = outside[1];
    return outside[0];
}

/* Tell of gold links of words that the sentences do not have. If all would have theirs when counted from 1, then the 0 that a file
 * has may be no word; if they are more than a few, the texts are often the other way round. */
static void note_gold_outside(const struct aligner *a)
{
    int64_t from_1;
    if (a->gold == NULL)
        return;
    const char *path = a->options->gold;
    const int64_t all = a->gold->offsets[a->gold->sentences], outside = count_outside(a, &from_1);
    const bool zero = a->options->gold_words == XLM_COUNT_FOUND && a->gold->words == XLM_COUNT_FROM_0 &&
                      a->gold->first_sentence != XLM_COUNT_FOUND;
    if (zero && outside > 0 && from_1 == 0)
        xlm_log_warn("%s: counts words from 0, as it has a 0, but %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " links have "
                     "numbers as large as the sentence has words; if 0 is no word there, say --gold-words-from 1", path, outside, all);
    else if (outside > all / 20)
        xlm_log_warn("%s: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " links are of words that the sentences do not have; "
                     "is %s the other side?", path, outside, all, a->options->source.files[0]);
}

static bool create_matrices(struct aligner *a, GError **error)
{
    const xlm_model_links_options *o = a->options;
    if (o->matrices == NULL)
        return true;
    xlm_matrix_pairs pairs = {.pairs = a->text->pairs};
    g_autofree bool *left_out = g_new(bool, pairs.pairs + 1);
    for (int s = 0; s < 2; s++) {
        const xlm_pair_side *side = &a->text->side[s];
        pairs.side[s] = (xlm_matrix_side){side->language, (const int64_t *)(const void *)side->offsets->data,
                                          (const int32_t *)(const void *)side->ids->data,
                                          (const int32_t *)(const void *)side->words->data};
    }
    for (int64_t p = 0; p < pairs.pairs; p++)
        left_out[p] = !fits(a, p);
    pairs.left_out = left_out;
    a->matrices = xlm_matrix_file_create(a->comm, o->matrices, &pairs, a->loaded->vocabulary, a->first_layer, a->layers, error);
    if (a->matrices == NULL)
        return false;
    const char *values = o->method == XLM_LINK_TRANSPORT ? "A* of optimal transport" : "(1 + cosine) / 2";
    xlm_store *store = xlm_matrix_file_store(a->matrices);
    return xlm_store_set_text(store, "/", "command", o->command, error) &&
           xlm_store_set_text(store, "/", "model", o->checkpoint, error) &&
           xlm_store_set_int(store, "/", "step", a->loaded->step, error) &&
           xlm_store_set_text(store, "/", "method", methods[o->method], error) &&
           xlm_store_set_text(store, "/", "values", values, error) &&
           xlm_store_set_text(store, "/", "encode", xlm_pair_form_name(a->form), error);
}

/* ---- one pair ---- */

/* Turn links of subwords into links of words, each once, in order, with its largest value. */
static void link_words(const int32_t *const words[2], int64_t n, int64_t m, const float *s, const bool *links, GArray *found)
{
    g_array_set_size(found, 0);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            if (links[i * m + j]) {
                const struct word_link link = {{words[0][i], words[1][j], false}, s[i * m + j]};
                g_array_append_val(found, link);
            }
    g_array_sort(found, xlm_links_compare);
    struct word_link *w = (struct word_link *)(void *)found->data;
    guint kept = 0;
    for (guint k = 0; k < found->len; k++)
        if (kept > 0 && xlm_links_compare(&w[kept - 1].link, &w[k].link) == 0)
            w[kept - 1].score = MAX(w[kept - 1].score, w[k].score);
        else
            w[kept++] = w[k];
    g_array_set_size(found, kept);
}

/* Append the line of a pair with these links; found NULL: none. */
static void add_pair(struct aligner *a, int64_t layer, int64_t pair, const GArray *found)
{
    struct layer_links *l = &a->layer[layer];
    const int64_t n = found != NULL ? found->len : 0, number = a->text->first + pair;
    g_autofree xlm_link *links = g_new(xlm_link, MAX(n, 1));
    g_autofree float *scores = g_new(float, MAX(n, 1));
    for (int64_t k = 0; k < n; k++) {
        links[k] = g_array_index(found, struct word_link, k).link;
        scores[k] = g_array_index(found, struct word_link, k).score;
    }
    l->links += n;
    xlm_link_file_append(l->lines, links, n);
    if (a->options->scores != NULL)
        xlm_link_file_append_scores(l->scores, scores, n);
    if (a->found != NULL)
        xlm_found_links_append(a->found, links, scores, n);
    if (a->gold != NULL && number < a->gold->sentences && a->gold->offsets[number] < a->gold->offsets[number + 1]) {
        int64_t offsets[] = {0, n};
        const xlm_links own = {.sentences = 1, .offsets = offsets, .links = links};
        xlm_link_score_add(&l->score, &own, 0, a->gold, number);
    }
}

/* ---- passes ---- */

/* H[first_layer …] of a batch: [layers] variables. */
static xlm_var **encode(struct aligner *a, const xlm_text *text)
{
    const double begin = xlm_clock();
    xlm_tape_begin(a->tape, NULL, false, 0, 0);
    xlm_var **hidden = xlm_model_encode(a->loaded->model, a->tape, text, false, a->first_layer + a->layers - 1, NULL, 0);
    a->encoding += xlm_clock() - begin;
    return hidden + a->first_layer;
}

/* A pair of a pass: numbers of source and target subwords, and its matrices. */
struct shape {
    int64_t n, m;
    float *s;
    bool *links;
};

/* The pairs of a pass in one layer. found: [b->n] links of words. */
static void align_batch(struct aligner *a, int64_t layer, const xlm_pair_batch *b, const xlm_var *hidden, GArray **found)
{
    const int64_t d = a->loaded->config.hidden_size;
    float *states = XLM_TAKE(a->arena, float, b->text.tokens * d);
    struct shape *shape = XLM_TAKE(a->arena, struct shape, b->n);
    xlm_var_read(hidden, 0, b->text.tokens, states);
    for (int64_t i = 0; i < b->n; i++) {
        struct shape *p = &shape[i];
        p->n = xlm_pair_size(a->text, b->pair[i], 0);
        p->m = xlm_pair_size(a->text, b->pair[i], 1);
        p->s = XLM_TAKE(a->arena, float, p->n * p->m);
        p->links = XLM_TAKE(a->arena, bool, p->n * p->m);
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t i = 0; i < b->n; i++) {
        const struct shape *p = &shape[i];
        const int32_t *words[2];
        for (int s = 0; s < 2; s++)
            words[s] = &g_array_index(a->text->side[s].words, int32_t, xlm_pair_start(a->text, b->pair[i], s));
        const float *source = states + b->row[0][i] * d, *target = states + b->row[1][i] * d;
        xlm_similarity_link(a->options->method, p->n, p->m, d, source, target, p->s, p->links);
        link_words(words, p->n, p->m, p->s, p->links, found[i]);
    }
    for (int64_t i = 0; i < b->n && a->matrices != NULL; i++)
        xlm_matrix_file_add(a->matrices, layer, shape[i].n * shape[i].m, shape[i].s);
}

/* The pass that begins with pair *next. Appends the lines of all its pairs. */
static void align_pass(struct aligner *a, int64_t *next, GArray **found)
{
    const int64_t begin = *next;
    xlm_pair_batch b;
    xlm_arena_reset(a->arena);
    xlm_pair_batch_next(a->text, a->form, a->loaded->config.positions, xlm_vocabulary_specials(a->loaded->vocabulary), next,
                        a->arena, &b);
    xlm_var **hidden = b.n > 0 ? encode(a, &b.text) : NULL;
    for (int64_t l = 0; l < a->layers; l++) {
        if (b.n > 0)
            align_batch(a, l, &b, hidden[l], found);
        for (int64_t pair = begin, i = 0; pair < *next; pair++) {
            const bool encoded = i < b.n && b.pair[i] == pair;
            add_pair(a, l, pair, encoded ? found[i] : NULL);
            i += encoded;
        }
    }
}

/* Collective. All passes. Matrices are written by all ranks together whenever there are many. */
static bool align_all(struct aligner *a, GError **error)
{
    GArray *found[XLM_PAIRS_UNIT];
    int64_t next = 0, more = 1;
    bool good = true;
    xlm_progress progress = xlm_progress_begin("aligning", (double)a->text->pairs, "pairs");
    for (int i = 0; i < XLM_PAIRS_UNIT; i++)
        found[i] = g_array_new(FALSE, FALSE, sizeof(struct word_link));
    while (good && more) {
        while (next < a->text->pairs && !(a->matrices != NULL && xlm_matrix_file_full(a->matrices))) {
            align_pass(a, &next, found);
            xlm_progress_show(&progress, (double)next);
        }
        if (a->matrices != NULL)
            good = xlm_matrix_file_write(a->matrices, error);
        more = next < a->text->pairs;
        xlm_comm_max_int64(a->comm, &more, 1);
    }
    for (int i = 0; i < XLM_PAIRS_UNIT; i++)
        g_array_unref(found[i]);
    xlm_progress_end(&progress);
    return good;
}

/* ---- results ---- */

static bool write_file(const struct aligner *a, const char *path, int64_t l, const GString *lines, GError **error)
{
    g_autofree char *name = path_of_layer(a, path, l);
    return xlm_link_file_write(a->comm, name, lines->str, lines->len, error);
}

static bool write_alignment(const struct aligner *a, GError **error)
{
    const xlm_model_links_options *o = a->options;
    const xlm_alignment_origin origin = {.command = o->command, .method = methods[o->method], .model = o->checkpoint,
                                         .symmetrisation = "", .layer = a->first_layer};
    return xlm_alignment_write_words(a->comm, o->alignment, a->input.pairs, a->found, &origin, error);
}

static bool write_files(struct aligner *a, GError **error)
{
    const bool table = a->layers > 1 || a->gold != NULL || a->found != NULL;
    for (int64_t l = 0; l < a->layers; l++) {
        if ((a->options->output != NULL || !table) && !write_file(a, a->options->output, l, a->layer[l].lines, error))
            return false;
        if (a->options->scores != NULL && !write_file(a, a->options->scores, l, a->layer[l].scores, error))
            return false;
    }
    if (a->found != NULL && !write_alignment(a, error))
        return false;
    return a->matrices == NULL || xlm_matrix_file_end(g_steal_pointer(&a->matrices), true, error);
}

/* Sum the numbers of all ranks. */
static void add_up(struct aligner *a)
{
    for (int64_t l = 0; l < a->layers; l++) {
        xlm_link_score *s = &a->layer[l].score;
        int64_t numbers[] = {a->layer[l].links, s->links, s->sure, s->possible, s->links_sure, s->links_possible};
        xlm_comm_sum_int64(a->comm, numbers, G_N_ELEMENTS(numbers));
        a->layer[l].links = numbers[0];
        *s = (xlm_link_score){numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
    }
}

static void print_table(const struct aligner *a)
{
    printf("%5s %12s %9s", "layer", "links", "per pair");
    if (a->gold != NULL)
        printf(" %9s %9s %9s %9s", "AER", "precision", "recall", "F1");
    putchar('\n');
    for (int64_t l = 0; l < a->layers; l++) {
        const struct layer_links *own = &a->layer[l];
        printf("%5" G_GINT64_FORMAT " %12" G_GINT64_FORMAT " %9.2f", a->first_layer + l, own->links,
               (double)own->links / (double)a->text->all);
        if (a->gold != NULL)
            printf(" %8.2f%% %8.2f%% %8.2f%% %8.2f%%", 100 * xlm_link_error_rate(&own->score),
                   100 * xlm_link_precision(&own->score), 100 * xlm_link_recall(&own->score),
                   100 * xlm_link_f1(&own->score));
        putchar('\n');
    }
}

static void report(const struct aligner *a, double begin)
{
    const double seconds = xlm_clock() - begin;
    double sums[] = {a->encoding, seconds};
    xlm_comm_sum_double(a->comm, sums, G_N_ELEMENTS(sums));
    xlm_log_info("%" G_GINT64_FORMAT " pairs, %s: %.1f s, %.1f pairs/s; the encoder took %.0f %% of the time", a->text->all,
                 methods[a->options->method], seconds, (double)a->text->all / seconds, 100 * sums[0] / sums[1]);
    if (a->comm->rank == 0 && (a->layers > 1 || a->gold != NULL))
        print_table(a);
}

/* ---- all ---- */

static bool open_all(struct aligner *a, int languages[2], GError **error)
{
    const xlm_model_links_options *o = a->options;
    GError *failure = NULL;
    open_model(a, languages, &failure);
    if (!xlm_comm_agree_on(a->comm, failure, error))
        return false;
    if (!xlm_align_input_open(a->comm, &o->source, XLM_PAIR_WORK_SUM, XLM_PAIRS_UNIT, &a->input, error))
        return false;
    if (o->alignment != NULL)
        a->found = xlm_found_links_new();
    failure = NULL;
    if (!o->source.corpus || xlm_pair_languages_of_corpus(a->loaded, o->checkpoint, &a->input, languages, &failure))
        read_gold(a, &failure);
    return xlm_comm_agree_on(a->comm, failure, error);
}

static void close_all(struct aligner *a)
{
    for (int64_t l = 0; l < a->layers; l++) {
        g_string_free(a->layer[l].lines, TRUE);
        g_string_free(a->layer[l].scores, TRUE);
    }
    g_free(a->layer);
    xlm_matrix_file_end(a->matrices, false, NULL);
    xlm_pair_text_free(a->text);
    xlm_links_free(a->gold);
    xlm_found_links_free(a->found);
    xlm_align_input_close(&a->input);
    xlm_arena_free(a->arena);
    xlm_tape_free(a->tape);
    xlm_model_file_free(a->loaded);
}

bool xlm_model_links(const xlm_comm *comm, const xlm_model_links_options *options, GError **error)
{
    struct aligner a = {.comm = comm, .options = options};
    int languages[2];
    bool good = open_all(&a, languages, error);
    const double begin = xlm_clock();
    if (good)
        a.text = xlm_pair_text_read(comm, a.input.pairs, a.loaded->vocabulary, languages, options->words, error);
    good = a.text != NULL;
    if (good) {
        count_too_long(&a);
        note_gold_outside(&a);
        good = create_matrices(&a, error) && align_all(&a, error) && write_files(&a, error);
    }
    if (good) {
        add_up(&a);
        report(&a, begin);
    }
    close_all(&a);
    return good;
}
