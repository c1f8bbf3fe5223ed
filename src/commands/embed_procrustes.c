/* xlm-mpi: xlm_embed procrustes, which maps one language's vectors onto another's. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   spaces, dictionary -> words of both sides -> vectors, normalised -> W from the pairs, refined -> mapped vectors, measures */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "commands/commands.h"
#include "corpus/corpus.h"
#include "files/files.h"
#include "lexicon/dictionary.h"
#include "maps/procrustes.h"
#include "matrix/matrix.h"
#include "program/space_inputs.h"
#include "retrieval/scored_pairs.h"
#include "vectors/alignment.h"
#include "vectors/cosines.h"
#include "vectors/vector_file.h"

enum { DEFAULT_REFINE = 5 };
#define NOT_GIVEN G_MININT64 /* --refine, which no one writes so */

static struct {
    char *languages, *corpus, *evaluate, *normalise, *output, *target_output, *csv;
    gint64 most, refine, refine_words, csls_words, neighbours;
} given = {.refine = NOT_GIVEN, .refine_words = 15000, .csls_words = 20000, .neighbours = 10};

static char **languages;      /* --languages */
static char **normalisations; /* --normalise */

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output,
     "write the mapped vectors of the source, and the map (HDF5)", "FILE.h5"},
    {"target-output", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.target_output,
     "write the target's vectors, normalised as they were used", "FILE.h5"},
    {"evaluate", 'e', XLM_READS, G_OPTION_ARG_FILENAME, &given.evaluate,
     "pairs of words to evaluate on (default: those that xlm_dict --share left out, otherwise those that the map is learned "
     "from)", "DICTIONARY"},
    {"languages", 'l', 0, G_OPTION_ARG_STRING, &given.languages,
     "names of the languages of source and target in the model (default: those of DICT.h5)", "SOURCE,TARGET"},
    {"corpus", 'c', XLM_READS, G_OPTION_ARG_FILENAME, &given.corpus,
     "for a checkpoint, the words of a language are the subwords of its training text in this corpus (default: "
     "all)", "CORPUS.h5"},
    {"most", 0, 0, G_OPTION_ARG_INT64, &given.most, "read only the first N words of a file of vectors (default: all)", "N"},
    {"normalise", 0, 0, G_OPTION_ARG_STRING, &given.normalise,
     "how the vectors of each side are normalised, in order: unit (length 1), centre (mean 0); none (default: "
     "unit)", "HOW[,HOW]"},
    {"refine", 0, 0, G_OPTION_ARG_INT64, &given.refine,
     "number of times that the map is learned again, from words that are each other's nearest by CSLS; the best is kept (default "
     "5; 0 in one space without --corpus, where it is not known which words are whose)", "N"},
    {"refine-words", 0, 0, G_OPTION_ARG_INT64, &given.refine_words,
     "refine with the first N words of both sides (default 15000)", "N"},
    {"neighbours", 'k', 0, G_OPTION_ARG_INT64, &given.neighbours,
     "number of nearest words that CSLS averages over (default 10)", "K"},
    {"csls-words", 0, 0, G_OPTION_ARG_INT64, &given.csls_words,
     "CSLS searches for them among the first N words of the source (default 20000; 0: all)", "N"},
    {"csv", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.csv, "also write the table to a file", "FILE.csv"},
    {.long_name = NULL}};

static bool check(GError **error)
{
    static const char *const known[] = {"unit", "centre", "none", NULL};
    if (given.normalise == NULL)
        given.normalise = g_strdup("unit");
    bool good = xlm_program_list("normalise", given.normalise, 1, G_MAXUINT, "unit, centre or none", &normalisations, error);
    for (int i = 0; good && normalisations[i] != NULL; i++)
        good = xlm_program_is_one_of("normalise", normalisations[i], known, error);
    return good && xlm_program_is_in("most", given.most, 0, G_MAXINT64, error) &&
           (given.refine == NOT_GIVEN || xlm_program_is_in("refine", given.refine, 0, G_MAXINT64, error)) &&
           xlm_program_is_in("refine-words", given.refine_words, 1, G_MAXINT64, error) &&
           xlm_program_is_in("csls-words", given.csls_words, 0, G_MAXINT64, error) &&
           xlm_program_is_in("neighbours", given.neighbours, 1, XLM_MAX_NEIGHBOURS, error) &&
           xlm_program_list("languages", given.languages, 2, 2, "two languages", &languages, error);
}

/* ---- what is read ---- */

typedef struct work {
    const xlm_comm *comm;
    const char *dictionary;
    char *languages[2];
    xlm_space_inputs in;
    xlm_word_set set[2];
    GArray *pairs, *tested;   /* int32_t source, target, ...: for learning; for evaluation */
    int64_t read, tests_read; /* pairs in the files */
    float *vectors[2];
    bool joint;               /* one space */
    int32_t *self[2];         /* [words of the set] in one space, the number of the same word in the other set; or NULL */
    GString *csv;
} work;

static void add_pair(GArray *pairs, int64_t source, int64_t target)
{
    const int32_t pair[2] = {(int32_t)source, (int32_t)target};
    if (source >= 0 && target >= 0)
        g_array_append_vals(pairs, pair, 2);
}

static bool read_text(work *w, const char *path, GArray *pairs, int64_t *read, GError **error)
{
    xlm_pair_list list = {{NULL}, NULL};
    if (!xlm_pair_list_read_dictionary(path, &list, error))
        return false;
    *read = list.words[0]->len;
    for (guint i = 0; i < list.words[0]->len; i++)
        add_pair(pairs, xlm_word_set_add(&w->set[0], list.words[0]->pdata[i]),
                 xlm_word_set_add(&w->set[1], list.words[1]->pdata[i]));
    xlm_pair_list_close(&list);
    return true;
}

/* A dictionary with other languages than the words of the two sides. */
static bool refuse_languages(const work *w, const char *path, GError **error)
{
    if (given.languages == NULL && w->languages[0] == NULL)
        return xlm_error_set(error, EX_USAGE, "%s: does not name its languages; give those of %s with --languages", w->dictionary,
                             path);
    return xlm_error_set(error, EX_DATAERR, "%s: has other languages than %s%s", path,
                         given.languages != NULL ? "--languages=" : w->dictionary,
                         given.languages != NULL ? given.languages : "");
}

static bool read_part(work *w, const char *path, const char *part, GArray *pairs, int64_t *read, GError **error)
{
    const xlm_loaded_model *loaded = xlm_word_space_model(w->in.spaces[0]);
    xlm_dictionary *d = xlm_dictionary_read(path, part, loaded->vocabulary, xlm_corpus_digest_of(loaded->vocabulary), error);
    if (d == NULL)
        return false;
    const int reverse = d->language[0] != w->in.sides.side[0].language;
    const bool good = (d->language[reverse] == w->in.sides.side[0].language &&
                       d->language[!reverse] == w->in.sides.side[1].language) ||
                      refuse_languages(w, path, error);
    *read = d->pairs;
    for (int64_t i = 0; i < d->pairs && good; i++)
        add_pair(pairs, xlm_word_set_add_row(&w->set[0], d->token[reverse][i]),
                 xlm_word_set_add_row(&w->set[1], d->token[!reverse][i]));
    xlm_dictionary_free(d);
    return good;
}

static bool read_pairs(work *w, const char *path, GArray *pairs, int64_t *read, GArray *left_out, int64_t *left_out_read,
                       GError **error)
{
    if (!xlm_files_is_hdf5(path))
        return read_text(w, path, pairs, read, error);
    if (!w->joint || xlm_word_space_model(w->in.spaces[0]) == NULL)
        return xlm_error_set(error, EX_USAGE, "%s: its pairs are subwords of a vocabulary, which files of vectors do not have; "
                             "use a checkpoint, or a dictionary in text form", path);
    return read_part(w, path, XLM_DICTIONARY_PAIRS, pairs, read, error) &&
           (left_out == NULL || read_part(w, path, XLM_DICTIONARY_LEFT_OUT, left_out, left_out_read, error));
}

/* The languages that were named, or those of a dictionary of xlm_dict; NULL: they are not known. [out] names: g_free. */
static bool find_languages(const char *path, char *names[2], GError **error)
{
    for (int s = 0; s < 2 && languages != NULL; s++)
        names[s] = g_strdup(languages[s]);
    if (languages != NULL || !xlm_files_is_hdf5(path))
        return true;
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    return store != NULL && (names[0] = xlm_store_get_text(store, "/", "source", error)) != NULL &&
           (names[1] = xlm_store_get_text(store, "/", "target", error)) != NULL;
}

static bool check_pairs(const work *w, const char *path, const GArray *pairs, int64_t read, GError **error)
{
    if (pairs->len == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: of its %" G_GINT64_FORMAT " pairs, none has both words in the vectors; is "
                             "it for these languages, in this order?", path, read);
    if (w->comm->rank == 0)
        xlm_log_info("%s: %u of %" G_GINT64_FORMAT " pairs have vectors", path, pairs->len / 2, read);
    return true;
}

/* Of the pairs that xlm_dict left out, keep those whose source word is in no pair that the map is learned from: read in the other
 * direction than it was made, a dictionary has words in both parts. */
static void keep_unseen(const work *w)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    const int32_t *pairs = (const int32_t *)(const void *)w->pairs->data;
    int32_t *tested = (int32_t *)(void *)w->tested->data;
    const guint all = w->tested->len / 2;
    guint kept = 0;
    for (guint i = 0; i < w->pairs->len / 2; i++)
        g_hash_table_add(seen, GINT_TO_POINTER(pairs[2 * i]));
    for (guint i = 0; i < all; i++)
        if (!g_hash_table_contains(seen, GINT_TO_POINTER(tested[2 * i])))
            memmove(tested + 2 * kept++, tested + 2 * i, 2 * sizeof *tested);
    g_array_set_size(w->tested, 2 * kept);
    if (kept < all && w->comm->rank == 0)
        xlm_log_info("%s: of %u pairs that were left out, %u are not evaluated on, since the map is learned from other pairs of "
                     "their words%s", w->dictionary, all, all - kept,
                     kept == 0 ? "; none remains, and the words that it is learned from are evaluated on" : "");
}

static bool read_all(work *w, char *const *arguments, GError **error)
{
    w->joint = arguments[2] == NULL;
    const bool apart = !w->joint || given.corpus != NULL; /* the words of the two languages */
    if (!apart && given.refine > 0)
        return xlm_error_set(error, EX_USAGE, "--refine=%" G_GINT64_FORMAT ": in one space it needs --corpus, which says which "
                             "subwords are of which language", (int64_t)given.refine);
    if (given.refine == NOT_GIVEN)
        given.refine = apart ? DEFAULT_REFINE : 0;
    w->dictionary = arguments[w->joint ? 1 : 2];
    const char *const dictionary = w->dictionary, *const spaces[] = {arguments[0], w->joint ? NULL : arguments[1]};
    if (!find_languages(dictionary, w->languages, error) ||
        !xlm_space_inputs_open(&w->in, spaces, (const char *const *)w->languages, given.corpus, given.most, error))
        return false;
    for (int s = 0; s < 2; s++)
        xlm_space_inputs_add_words(&w->in, s, &w->set[s]);
    if (!read_pairs(w, dictionary, w->pairs, &w->read, given.evaluate == NULL ? w->tested : NULL, &w->tests_read, error) ||
        !check_pairs(w, dictionary, w->pairs, w->read, error))
        return false;
    if (given.evaluate != NULL && (!read_pairs(w, given.evaluate, w->tested, &w->tests_read, NULL, NULL, error) ||
                                   !check_pairs(w, given.evaluate, w->tested, w->tests_read, error)))
        return false;
    if (given.evaluate == NULL)
        keep_unseen(w);
    if (w->tested->len == 0)
        g_array_append_vals(w->tested, w->pairs->data, w->pairs->len);
    return true;
}

/* Subtract the mean of the vectors that are not 0, from these alone: a vector of zeros is that of a word without data. */
static void centre(int64_t n, int64_t width, float *x)
{
    g_autofree double *mean = g_new0(double, width);
    g_autofree bool *used = g_new0(bool, n + 1);
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        used[i] = xlm_vector_length(width, x + i * width) > 0;
        count += used[i];
        for (int64_t c = 0; c < width && used[i]; c++)
            mean[c] += (double)x[i * width + c];
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < width && used[i]; c++)
            x[i * width + c] -= (float)(mean[c] / (double)count);
}

static void normalise(const char *how, int64_t n, int64_t width, float *x)
{
    if (strcmp(how, "centre") == 0) {
        centre(n, width, x);
        return;
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double square = 0;
        for (int64_t c = 0; c < width; c++)
            square += (double)x[i * width + c] * (double)x[i * width + c];
        for (int64_t c = 0; c < width && square > 0; c++)
            x[i * width + c] = (float)((double)x[i * width + c] / sqrt(square));
    }
}

static void make_vectors(work *w)
{
    const int64_t width = xlm_word_space_width(w->in.sides.side[0].space);
    for (int s = 0; s < 2; s++) {
        const int64_t n = xlm_word_set_count(&w->set[s]);
        w->vectors[s] = xlm_word_set_vectors(&w->set[s], 0, n);
        for (int i = 0; normalisations[i] != NULL; i++)
            if (strcmp(normalisations[i], "none") != 0)
                normalise(normalisations[i], n, width, w->vectors[s]);
    }
}

/* In one space, the same word can be on both sides. */
static void find_selves(work *w)
{
    for (int s = 0; s < 2 && w->joint; s++) {
        const int64_t n = xlm_word_set_count(&w->set[s]);
        w->self[s] = g_new(int32_t, MAX(n, 1));
        for (int64_t i = 0; i < n; i++)
            w->self[s][i] = (int32_t)xlm_word_set_find_rows(&w->set[!s], &w->set[s], i);
    }
}

/* ---- measures ---- */

/* Translations of the words to evaluate on, each source word once. */
typedef struct tests {
    int64_t n;
    int32_t *source;   /* [n] rows */
    int64_t *first;    /* [n + 1] */
    int32_t *translations, *self;
} tests;

static gint by_pair(gconstpointer a, gconstpointer b)
{
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

static tests make_tests(const work *w)
{
    const int64_t pairs = w->tested->len / 2;
    g_autofree int32_t *sorted = g_memdup2(w->tested->data, sizeof *sorted * (size_t)(2 * pairs));
    qsort(sorted, (size_t)pairs, 2 * sizeof *sorted, by_pair);
    tests t = {.source = g_new(int32_t, pairs), .first = g_new0(int64_t, pairs + 1), .translations = g_new(int32_t, pairs),
               .self = g_new(int32_t, pairs)};
    for (int64_t i = 0; i < pairs; i++) {
        if (i == 0 || sorted[2 * i] != sorted[2 * i - 2])
            t.source[t.n++] = sorted[2 * i];
        t.translations[i] = sorted[2 * i + 1];
        t.first[t.n] = i + 1;
    }
    for (int64_t i = 0; i < t.n; i++) {
        t.self[i] = w->joint ? w->self[0][t.source[i]] : -1;
        for (int64_t k = t.first[i]; k < t.first[i + 1]; k++)
            if (t.translations[k] == t.self[i])
                t.self[i] = -1;
    }
    return t;
}

static void free_tests(tests *t)
{
    g_free(t->source);
    g_free(t->first);
    g_free(t->translations);
    g_free(t->self);
}

/* Number of source words among which CSLS searches for neighbours. */
static int64_t csls_words(const xlm_procrustes *p) { return given.csls_words > 0 ? MIN(given.csls_words, p->n[0]) : p->n[0]; }

/* Precision at 1, 5 and 10. asked: vectors of the words to evaluate on [t->n x width]; frequent: those of the first source words,
 * among which CSLS searches for neighbours [csls_words x width]. */
static void measure(work *w, const tests *t, const char *when, const xlm_procrustes *p, const float *asked, const float *frequent)
{
    static const char *const by[] = {"cosine", "CSLS"};
    const int64_t d = p->width;
    g_autofree float *hubness = g_new(float, p->n[1]);
    g_autofree int64_t *rank = g_new(int64_t, t->n);
    for (int score = 0; score < 2; score++) {
        xlm_alignment a = {.width = d, .source_vectors = p->vectors[1], .candidate_vectors = frequent, .n = p->n[1],
                           .candidates = csls_words(p), .self = p->self[1]};
        if (score == 1)
            xlm_alignment_neighbours(w->comm, &a, p->neighbours, hubness);
        a = (xlm_alignment){.width = d, .source_vectors = asked, .candidate_vectors = p->vectors[1], .n = t->n,
                            .candidates = p->n[1], .first = t->first, .translations = t->translations, .self = t->self,
                            .hubness = score == 1 ? hubness : NULL};
        xlm_alignment_ranks(w->comm, &a, rank);
        const xlm_alignment_score s = xlm_alignment_summary(t->n, rank, NULL);
        if (w->comm->rank == 0)
            printf("%-8s %-8s %8" G_GINT64_FORMAT " %10" G_GINT64_FORMAT " %8.2f%% %8.2f%% %8.2f%% %9.4f\n", when, by[score],
                   s.tokens, p->n[1], 100 * s.top1, 100 * s.top5, 100 * s.top10, s.reciprocal);
        g_string_append_printf(w->csv, "%s,%s,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%.6f,%.6f,%.6f,%.6f\n", when, by[score],
                               s.tokens, p->n[1], s.top1, s.top5, s.top10, s.reciprocal);
    }
}

/* The same under a map, only for these words; NULL: without a map. */
static void measure_under(work *w, const tests *t, const xlm_procrustes *p, const double *map)
{
    const int64_t d = p->width;
    g_autofree float *asked = g_new(float, t->n * d + 1);
    for (int64_t i = 0; i < t->n; i++)
        memcpy(asked + i * d, p->vectors[0] + t->source[i] * d, sizeof *asked * (size_t)d);
    if (map == NULL) {
        measure(w, t, "before", p, asked, p->vectors[0]);
    } else {
        g_autofree float *asked_mapped = xlm_procrustes_map_all(w->comm, d, map, t->n, asked);
        g_autofree float *frequent_mapped = xlm_procrustes_map_all(w->comm, d, map, csls_words(p), p->vectors[0]);
        measure(w, t, "after", p, asked_mapped, frequent_mapped);
    }
}

/* ---- the map ---- */

/* On rank 0, below the table and in a warning, if the pairs that the map was learned from do not determine all of it. */
static void tell_rank(const work *w, const xlm_word_rotation *r)
{
    const char *pairs = given.refine == 0 ? "pairs of the dictionary" : "pairs of the map that is kept";
    if (r->rank == r->width || w->comm->rank != 0)
        return;
    printf("%" G_GINT64_FORMAT " %s determine %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " dimensions (singular values above "
           "%g of the largest); in the others the map is the one nearest to the identity\n", r->pairs, pairs, r->rank, r->width,
           XLM_ROTATION_THRESHOLD);
    xlm_log_warn("%s: the vectors of %s have %" G_GINT64_FORMAT " dimensions of %" G_GINT64_FORMAT "; in the others the map is the "
                 "nearest to the identity", w->dictionary, given.refine == 0 ? "its pairs" : pairs, r->rank, r->width);
}

static bool learn(const work *w, const xlm_procrustes *p, xlm_word_rotation *r, GError **error)
{
    const double begin = xlm_clock();
    if (!xlm_procrustes_fit(p, w->pairs->len / 2, (const int32_t *)(const void *)w->pairs->data, r, error))
        return false;
    xlm_log_info("map from %u pairs, which determine %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " dimensions: %.2f s",
                 w->pairs->len / 2, r->rank, r->width, xlm_clock() - begin);
    return given.refine == 0 || xlm_procrustes_refine(p, given.refine, given.refine_words, r, error);
}

/* ---- what is written ---- */

/* Each rank maps and writes its own rows, some at a time; NULL: unchanged. */
static bool write_rows(const work *w, xlm_store *store, int64_t n, int64_t d, const float *vectors, const double *map,
                       GError **error)
{
    enum { BLOCK = 8192 };
    int64_t first, own;
    double mapping = 0;
    xlm_matrix_share(w->comm, n, &first, &own);
    const int64_t max_rows = (n + w->comm->ranks - 1) / w->comm->ranks; /* of any rank: all write as often */
    g_autofree float *mapped = map != NULL ? g_new(float, MIN(max_rows, BLOCK) * d) : NULL;
    bool good = true;
    for (int64_t at = 0; at < max_rows && good; at += BLOCK) {
        const int64_t begin = MIN(at, own), now = MIN(own - begin, BLOCK);
        const float *rows = vectors + (first + begin) * d;
        if (map != NULL) {
            xlm_comm_barrier(w->comm); /* measure the time of all ranks, which may share cores */
            const double start = xlm_clock();
            xlm_procrustes_map(d, map, now, rows, mapped);
            xlm_comm_barrier(w->comm);
            mapping += xlm_clock() - start;
            rows = mapped;
        }
        good = xlm_store_write(store, "/vectors", (uint64_t)(first + begin), (uint64_t)now, rows, error);
    }
    if (map != NULL)
        xlm_log_info("%" G_GINT64_FORMAT " words mapped: %.2f s", n, mapping);
    return good;
}

/* W, and the singular values that show how well the pairs determine it. */
static bool write_rotation(const work *w, xlm_store *store, const xlm_word_rotation *r, GError **error)
{
    const uint64_t dims[2] = {(uint64_t)r->width, (uint64_t)r->width};
    int64_t first, own;
    xlm_matrix_share(w->comm, r->width, &first, &own);
    return xlm_store_dataset(store, "/map", XLM_F64, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, "/map", (uint64_t)first, (uint64_t)own, r->map + first * r->width, error) &&
           xlm_store_write_array(store, "/", "singular_values", XLM_F64, (uint64_t)r->width, r->values, error) &&
           xlm_store_set_int(store, "/singular_values", "pairs", r->pairs, error) &&
           xlm_store_set_int(store, "/singular_values", "rank", r->rank, error) &&
           xlm_store_set_real(store, "/singular_values", "threshold", XLM_ROTATION_THRESHOLD, error);
}

/* The vectors of a side, under a map or, if that is NULL, unchanged. */
static bool write_side(const work *w, int s, const char *path, int64_t d, const xlm_word_rotation *r, GError **error)
{
    const int64_t n = xlm_word_set_count(&w->set[s]);
    g_auto(GStrv) words = g_new0(char *, n + 1);
    for (int64_t i = 0; i < n; i++)
        words[i] = xlm_word_set_name(&w->set[s], i);
    xlm_store *store = xlm_vector_store_create(w->comm, path, n, d, (const char *const *)words, xlm_command_line, error);
    const bool good = store != NULL && xlm_store_set_text(store, "/", "content", "words", error) &&
                xlm_store_set_text(store, "/", "vectors", s == 0 ? "mapped" : "normalised", error) &&
                xlm_store_set_text(store, "/", "dictionary", w->dictionary, error) &&
                xlm_store_set_text(store, "/", "normalise", given.normalise, error) &&
                write_rows(w, store, n, d, w->vectors[s], r != NULL ? r->map : NULL, error) &&
                (r == NULL || write_rotation(w, store, r, error));
    return xlm_store_end(store, good, error);
}

/* After `centre` the source is mapped onto a target that no file has unless --target-output writes it. */
static void tell_of_target(void)
{
    bool centred = false;
    for (int i = 0; normalisations[i] != NULL; i++)
        centred = centred || strcmp(normalisations[i], "centre") == 0;
    if (centred && given.output != NULL && given.target_output == NULL)
        xlm_log_info("%s: is in one space with the target without its mean, which --target-output writes", given.output);
}

static bool work_out(work *w, GError **error)
{
    xlm_grid *grid = xlm_grid_open(w->comm);
    const xlm_procrustes p = {.grid = grid, .width = xlm_word_space_width(w->in.sides.side[0].space),
                              .n = {xlm_word_set_count(&w->set[0]), xlm_word_set_count(&w->set[1])},
                              .vectors = {w->vectors[0], w->vectors[1]}, .self = {w->self[0], w->self[1]},
                              .neighbours = (int)given.neighbours};
    xlm_word_rotation *r = xlm_word_rotation_new(p.width);
    tests t = make_tests(w);
    if (w->comm->rank == 0)
        printf("%-8s %-8s %8s %10s %9s %9s %9s %9s\n", "map", "by", "words", "candidates", "P@1", "P@5", "P@10", "MRR");
    measure_under(w, &t, &p, NULL);
    bool good = learn(w, &p, r, error);
    if (good) {
        measure_under(w, &t, &p, r->map);
        tell_rank(w, r);
    }
    free_tests(&t);
    xlm_grid_close(grid);
    good = good && xlm_program_end_table(w->comm, given.csv, g_steal_pointer(&w->csv), error) &&
           (given.output == NULL || write_side(w, 0, given.output, p.width, r, error)) &&
           (given.target_output == NULL || write_side(w, 1, given.target_output, p.width, NULL, error));
    if (good)
        tell_of_target();
    xlm_word_rotation_free(r);
    return good;
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    work w = {.comm = comm, .pairs = g_array_new(FALSE, FALSE, sizeof(int32_t)),
              .tested = g_array_new(FALSE, FALSE, sizeof(int32_t)),
              .csv = g_string_new("map,by,words,candidates,p1,p5,p10,mrr\n")};
    GError *failure = NULL;
    read_all(&w, arguments, &failure);
    if (xlm_comm_agree_on(comm, failure, error)) {
        make_vectors(&w);
        find_selves(&w);
        work_out(&w, error);
    }
    for (int s = 0; s < 2; s++) {
        xlm_word_set_close(&w.set[s]);
        g_free(w.vectors[s]);
        g_free(w.self[s]);
        g_free(w.languages[s]);
    }
    g_array_unref(w.pairs);
    g_array_unref(w.tested);
    if (w.csv != NULL)
        g_string_free(w.csv, TRUE);
    xlm_space_inputs_close(&w.in);
}

const xlm_command xlm_embed_procrustes = {
    .name = "procrustes",
    .arguments = "procrustes CHECKPOINT | VECTORS VECTORS DICTIONARY",
    .purpose = "Map the word vectors of one language onto those of another by a rotation learned from a dictionary",
    .notes =
        "procrustes: computes the orthogonal map W that brings the source's vectors of a dictionary's pairs (MUSE's text, or for "
        "a checkpoint xlm_dict's DICT.h5) closest to the target's, refined as in MUSE (Conneau et al. 2018). Two files of "
        "vectors are two spaces, a checkpoint is one space with both languages. The table shows how often a translation is the "
        "nearest of all target words, or among the nearest 5 and 10, by cosine and by CSLS, before and after.\n\n",
    .examples =
        "  mpiexec -n 2 xlm_embed procrustes de.vec en.vec de-en.0-5000.txt --evaluate de-en.5000-6500.txt -o de-mapped.h5\n"
        "  mpiexec -n 2 xlm_embed procrustes run1/latest en-de.h5 --corpus corpus.h5\n",
    .options = options,
    .takes = {"a checkpoint, or vectors of the source and of the target, and a dictionary", 2, 3},
    .check = check,
    .run = run,
};
