/* xlm-mpi: the alignment of a corpus's sentence pairs, one HDF5 file: reading. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/alignment_file.h"

#include <math.h>
#include <string.h>

#include "base/number_digest.h"

char *xlm_alignment_path(const char *pair, xlm_split split)
{
    return g_strdup_printf("/pairs/%s/%s", pair, xlm_split_name(split));
}

static char *member(const xlm_alignment_pairs *pairs, const char *name) { return g_strconcat(pairs->path, "/", name, NULL); }

static bool damaged(const xlm_store *store, const char *path, const char *what, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "%s:%s: %s; the alignment is damaged", xlm_store_path(store), path, what);
}

/* ---- is it of this corpus? ---- */

enum { SAMPLES = 64, SAMPLE_TOKENS = 64 };

static bool sample_sentence(const xlm_corpus_text *text, int64_t sentence, uint64_t *digest, GError **error)
{
    uint64_t ends[2];
    int32_t ids[SAMPLE_TOKENS];
    if (!xlm_corpus_read_offsets(text, sentence, 2, ends, error))
        return false;
    const int64_t n = MIN((int64_t)(ends[1] - ends[0]), SAMPLE_TOKENS);
    if (n > 0 && !xlm_corpus_read_tokens(text, (int64_t)ends[0], n, ids, error))
        return false;
    *digest = xlm_digest_int32(ids, (uint64_t)n, *digest);
    return true;
}

bool xlm_alignment_sample(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, uint64_t *digest, GError **error)
{
    *digest = 0;
    const int64_t samples = MIN(pairs->pairs, SAMPLES);
    for (int64_t s = 0; s < samples; s++) {
        int64_t link[2];
        /* Evenly spread, from the first pair to the last. */
        const int64_t pair = samples > 1 ? (int64_t)((double)s * (double)(pairs->pairs - 1) / (double)(samples - 1)) : 0;
        if (!xlm_corpus_read_links(corpus, pairs, pair, 1, link, error) ||
            !sample_sentence(pairs->source, link[0], digest, error) ||
            !sample_sentence(pairs->target, link[1], digest, error))
            return false;
    }
    return true;
}

static bool other_corpus(const xlm_alignment_file *file, const xlm_corpus *corpus, const char *what, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "%s: is not the alignment of %s, but of another corpus (%s): %s",
                         xlm_store_path(file->store), xlm_corpus_path(corpus), file->origin.corpus, what);
}

/* Check that the corpus has these pairs, of the same sentences. */
static bool check_corpus_pairs(const xlm_alignment_file *file, const xlm_alignment_pairs *p, const xlm_corpus *corpus,
                               GError **error)
{
    bool swapped;
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(corpus, p->split, p->name, &swapped);
    if (pairs == NULL || swapped)
        return other_corpus(file, corpus, "it has other pairs", error);
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {{"pairs", pairs->pairs},
                   {"source_sentences", pairs->source->sentences}, {"target_sentences", pairs->target->sentences},
                   {"source_tokens", pairs->source->tokens}, {"target_tokens", pairs->target->tokens}};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        int64_t value;
        if (!xlm_store_get_int(file->store, p->path, numbers[i].name, &value, error))
            return false;
        if (value != numbers[i].value) {
            g_autofree char *what = g_strdup_printf("%s of %s are %" G_GINT64_FORMAT ", in the corpus %" G_GINT64_FORMAT,
                                                    numbers[i].name, p->path, value, numbers[i].value);
            return other_corpus(file, corpus, what, error);
        }
    }
    uint64_t written, digest;
    return xlm_store_get_digest(file->store, p->path, "sample_digest", &written, error) &&
           xlm_alignment_sample(corpus, pairs, &digest, error) &&
           (digest == written || other_corpus(file, corpus, "it has other sentences, or in another order", error));
}

/* ---- opening ---- */

static bool read_origin(xlm_alignment_file *file, GError **error)
{
    static const char *const names[] = {"command", "corpus", "method", "model", "symmetrisation"};
    xlm_alignment_origin *origin = &file->origin;
    const char **const texts[] = {&origin->command, &origin->corpus, &origin->method, &origin->model, &origin->symmetrisation};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if ((file->texts[i] = xlm_store_get_text(file->store, "/", names[i], error)) == NULL)
            return false;
        *texts[i] = file->texts[i];
    }
    /* What is shown; the others may be names of files in another encoding. */
    if (!g_utf8_validate(origin->method, -1, NULL) || !g_utf8_validate(origin->symmetrisation, -1, NULL))
        return damaged(file->store, "/", "method or symmetrisation is not UTF-8", error);
    return xlm_store_get_digest(file->store, "/", "corpus_digest", &file->corpus_digest, error) &&
           xlm_store_get_int(file->store, "/", "layer", &origin->layer, error) &&
           xlm_store_get_int(file->store, "/", "seed", &origin->seed, error);
}

/* The number of elements of a list. */
static bool read_extent(const xlm_alignment_file *file, const xlm_alignment_pairs *p, const char *name, xlm_type type, int64_t *n,
                        GError **error)
{
    g_autofree char *path = member(p, name);
    xlm_array array = {type, XLM_ANY, 0};
    const bool good = xlm_store_shape(file->store, path, &array, error);
    if (good)
        *n = (int64_t)array.rows;
    return good;
}

static bool read_shapes(const xlm_alignment_file *file, xlm_alignment_pairs *p, GError **error)
{
    int64_t offsets, targets, scores;
    if (!xlm_store_get_int(file->store, p->path, "pairs", &p->pairs, error) ||
        !read_extent(file, p, "offsets", XLM_U64, &offsets, error) ||
        !read_extent(file, p, "source", XLM_U32, &p->links, error) ||
        !read_extent(file, p, "target", XLM_U32, &targets, error))
        return false;
    g_autofree char *score = member(p, "score");
    p->scored = xlm_store_has(file->store, score);
    scores = p->links;
    if (p->scored && !read_extent(file, p, "score", XLM_F32, &scores, error))
        return false;
    if (p->pairs < 0 || offsets - 1 != p->pairs || targets != p->links || scores != p->links)
        return damaged(file->store, p->path, "offsets, source, target and score do not fit together", error);
    g_autofree char *path = member(p, "offsets");
    const xlm_array array = {XLM_U64, (uint64_t)offsets, 0};
    uint64_t ends[2];
    bool good = xlm_store_read(file->store, path, array, 0, 1, &ends[0], error) &&
                xlm_store_read(file->store, path, array, (uint64_t)p->pairs, 1, &ends[1], error);
    if (good && (ends[0] != 0 || ends[1] != (uint64_t)p->links))
        good = damaged(file->store, path, "do not lead from the first link to the last", error);
    return good;
}

static bool open_pairs(xlm_alignment_file *file, const char *name, xlm_split split, GError **error)
{
    xlm_alignment_pairs *p = &file->pairs[file->n++];
    *p = (xlm_alignment_pairs){.name = g_strdup(name), .split = split, .path = xlm_alignment_path(name, split)};
    if ((p->source = xlm_store_get_text(file->store, p->path, "source", error)) == NULL ||
        (p->target = xlm_store_get_text(file->store, p->path, "target", error)) == NULL || !read_shapes(file, p, error))
        return false;
    g_autofree char *own = g_strconcat(p->source, "-", p->target, NULL);
    return strcmp(own, name) == 0 || damaged(file->store, p->path, "has the name of other languages", error);
}

static bool open_all_pairs(xlm_alignment_file *file, GError **error)
{
    g_auto(GStrv) names = xlm_store_list(file->store, "/pairs", error);
    bool good = names != NULL;
    if (good)
        file->pairs = g_new0(xlm_alignment_pairs, 2 * g_strv_length(names) + 1);
    for (char **name = names; good && *name != NULL; name++)
        for (xlm_split split = XLM_TRAIN; split <= XLM_HELD_OUT && good; split++) {
            g_autofree char *path = xlm_alignment_path(*name, split);
            good = !xlm_store_has(file->store, path) || open_pairs(file, *name, split, error);
        }
    return good;
}

static bool check_corpus(const xlm_alignment_file *file, const xlm_corpus *corpus, GError **error)
{
    if (file->corpus_digest != xlm_corpus_digest(corpus))
        return other_corpus(file, corpus, "it has another vocabulary or other languages", error);
    for (int i = 0; i < file->n; i++)
        if (!check_corpus_pairs(file, &file->pairs[i], corpus, error))
            return false;
    return true;
}

xlm_alignment_file *xlm_alignment_file_open(const char *path, const xlm_corpus *corpus, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return NULL;
    xlm_alignment_file *file = g_new0(xlm_alignment_file, 1);
    file->store = store;
    if (xlm_store_check_format(store, XLM_ALIGNMENT_FORMAT, XLM_ALIGNMENT_VERSION, "an alignment", "xlm_align", error) &&
        read_origin(file, error) && open_all_pairs(file, error) && (corpus == NULL || check_corpus(file, corpus, error)))
        return file;
    xlm_alignment_file_close(file);
    return NULL;
}

void xlm_alignment_file_close(xlm_alignment_file *file)
{
    if (file == NULL)
        return;
    xlm_store_close(file->store);
    for (int i = 0; i < file->n; i++) {
        g_free(file->pairs[i].name);
        g_free(file->pairs[i].source);
        g_free(file->pairs[i].target);
        g_free(file->pairs[i].path);
    }
    g_free(file->pairs);
    for (size_t i = 0; i < G_N_ELEMENTS(file->texts); i++)
        g_free(file->texts[i]);
    g_free(file);
}

const xlm_alignment_pairs *xlm_alignment_file_find(const xlm_alignment_file *file, xlm_split split, const char *name)
{
    for (int i = 0; i < file->n; i++) {
        const xlm_alignment_pairs *p = &file->pairs[i];
        g_autofree char *turned = g_strconcat(p->target, "-", p->source, NULL);
        if (p->split == split && (strcmp(name, p->name) == 0 || strcmp(name, turned) == 0))
            return p;
    }
    return NULL;
}

/* ---- links ---- */

static bool bad_pair(const xlm_alignment_file *file, const xlm_alignment_pairs *p, int64_t pair, const char *what, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "%s:%s: pair %" G_GINT64_FORMAT " %s; the alignment is damaged",
                         xlm_store_path(file->store), p->path, pair, what);
}

/* Numbers [first, first + n) of a list that has `all`. */
static bool read_list(const xlm_alignment_file *file, const xlm_alignment_pairs *p, const char *name, xlm_type type, int64_t all,
                      uint64_t first, uint64_t n, void *numbers, GError **error)
{
    g_autofree char *path = member(p, name);
    return n == 0 || xlm_store_read(file->store, path, (xlm_array){type, (uint64_t)all, 0}, first, n, numbers, error);
}

/* offsets of [first, first + n], from 0; *begin: link of the first. */
static bool read_offsets(const xlm_alignment_file *file, const xlm_alignment_pairs *p, int64_t first, int64_t n,
                         const int64_t (*sizes)[2], uint64_t *offsets, uint64_t *begin, GError **error)
{
    bool good = read_list(file, p, "offsets", XLM_U64, p->pairs + 1, (uint64_t)first, (uint64_t)n + 1, offsets, error);
    for (int64_t i = 0; i < n && good; i++) {
        if (offsets[i + 1] < offsets[i] || offsets[i + 1] > (uint64_t)p->links)
            good = bad_pair(file, p, first + i, "has offsets that are out of order", error);
        else if ((double)(offsets[i + 1] - offsets[i]) > (double)sizes[i][0] * (double)sizes[i][1])
            good = bad_pair(file, p, first + i, "has more links than its sentences allow", error);
    }
    if (good) {
        *begin = offsets[0];
        for (int64_t i = 0; i <= n; i++)
            offsets[i] -= *begin;
    }
    return good;
}

static bool check_links(const xlm_alignment_file *file, const xlm_alignment_pairs *p, int64_t pair, const int64_t sizes[2],
                        const uint32_t *source, const uint32_t *target, uint64_t n, GError **error)
{
    for (uint64_t l = 0; l < n; l++) {
        if ((int64_t)source[l] >= sizes[0] || (int64_t)target[l] >= sizes[1])
            return bad_pair(file, p, pair, "has a link to a subword that its sentences have not", error);
        if (l > 0 && (source[l] < source[l - 1] || (source[l] == source[l - 1] && target[l] <= target[l - 1])))
            return bad_pair(file, p, pair, "has links that are out of order", error);
    }
    return true;
}

static bool read_scores(const xlm_alignment_file *file, const xlm_alignment_pairs *p, uint64_t begin, uint64_t n, float *scores,
                        GError **error)
{
    if (!read_list(file, p, "score", XLM_F32, p->links, begin, n, scores, error))
        return false;
    g_autofree char *path = member(p, "score");
    for (uint64_t l = 0; l < n; l++)
        if (!isfinite(scores[l]))
            return damaged(file->store, path, "has a score that is not a number", error);
    return true;
}

bool xlm_alignment_file_read(const xlm_alignment_file *file, const xlm_alignment_pairs *pairs, int64_t first, int64_t n,
                             const int64_t (*sizes)[2], uint64_t *offsets, xlm_link **links, float **scores, GError **error)
{
    uint64_t begin;
    *links = NULL;
    if (scores != NULL)
        *scores = NULL;
    if (!read_offsets(file, pairs, first, n, sizes, offsets, &begin, error))
        return false;
    const uint64_t all = offsets[n];
    uint32_t *words = g_new(uint32_t, 2 * all + 1), *source = words, *target = words + all;
    bool good = read_list(file, pairs, "source", XLM_U32, pairs->links, begin, all, source, error) &&
                read_list(file, pairs, "target", XLM_U32, pairs->links, begin, all, target, error);
    for (int64_t i = 0; i < n && good; i++)
        good = check_links(file, pairs, first + i, sizes[i], source + offsets[i], target + offsets[i],
                           offsets[i + 1] - offsets[i], error);
    if (good && scores != NULL && pairs->scored) {
        *scores = g_new(float, all + 1);
        good = read_scores(file, pairs, begin, all, *scores, error);
        if (!good)
            g_clear_pointer(scores, g_free);
    }
    if (good) {
        *links = g_new(xlm_link, all + 1);
        for (uint64_t l = 0; l < all; l++)
            (*links)[l] = (xlm_link){.source = (int32_t)source[l], .target = (int32_t)target[l]};
    }
    g_free(words);
    return good;
}
