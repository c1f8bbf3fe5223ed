/* xlm-mpi: the alignment of a corpus's sentence pairs, one HDF5 file: writing. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/alignment_write.h"

#include "aligners/subword_links.h"

struct xlm_alignment_writer {
    const xlm_comm *comm;
    const xlm_corpus *corpus;
    xlm_store *store;
};

static bool write_origin(const xlm_alignment_writer *w, const xlm_alignment_origin *origin, GError **error)
{
    return xlm_store_set_format(w->store, XLM_ALIGNMENT_FORMAT, XLM_ALIGNMENT_VERSION, "xlm_align", error) &&
           xlm_store_set_text(w->store, "/", "description",
                              "which subwords of two sentences are translations, for each sentence pair of a corpus", error) &&
           xlm_store_set_text(w->store, "/", "command", origin->command, error) &&
           xlm_store_set_text(w->store, "/", "corpus", origin->corpus, error) &&
           xlm_store_set_digest(w->store, "/", "corpus_digest", xlm_corpus_digest(w->corpus), error) &&
           xlm_store_set_text(w->store, "/", "method", origin->method, error) &&
           xlm_store_set_text(w->store, "/", "model", origin->model, error) &&
           xlm_store_set_int(w->store, "/", "layer", origin->layer, error) &&
           xlm_store_set_text(w->store, "/", "symmetrisation", origin->symmetrisation, error) &&
           xlm_store_set_int(w->store, "/", "seed", origin->seed, error);
}

xlm_alignment_writer *xlm_alignment_create(const xlm_comm *comm, const char *path, const xlm_corpus *corpus,
                                           const xlm_alignment_origin *origin, GError **error)
{
    xlm_alignment_writer *w = g_new0(xlm_alignment_writer, 1);
    w->comm = comm;
    w->corpus = corpus;
    if ((w->store = xlm_store_create(comm, path, error)) != NULL && write_origin(w, origin, error))
        return w;
    xlm_alignment_discard(w);
    return NULL;
}

static bool describe_pairs(const xlm_alignment_writer *w, const char *group, const xlm_corpus_pairs *pairs, GError **error)
{
    uint64_t digest = 0;
    GError *failure = NULL;
    if (w->comm->rank == 0)
        xlm_alignment_sample(w->corpus, pairs, &digest, &failure);
    if (!xlm_comm_agree_on(w->comm, failure, error))
        return false;
    xlm_comm_broadcast(w->comm, 0, &digest, sizeof digest);
    return xlm_store_set_text(w->store, group, "source", pairs->source->language, error) &&
           xlm_store_set_text(w->store, group, "target", pairs->target->language, error) &&
           xlm_store_set_int(w->store, group, "pairs", pairs->pairs, error) &&
           xlm_store_set_int(w->store, group, "source_sentences", pairs->source->sentences, error) &&
           xlm_store_set_int(w->store, group, "target_sentences", pairs->target->sentences, error) &&
           xlm_store_set_int(w->store, group, "source_tokens", pairs->source->tokens, error) &&
           xlm_store_set_int(w->store, group, "target_tokens", pairs->target->tokens, error) &&
           xlm_store_set_digest(w->store, group, "sample_digest", digest, error);
}

/* All ranks' rows of a dataset of one extent. */
static bool write_rows(const xlm_alignment_writer *w, const char *group, const char *name, xlm_type type, int64_t all,
                       int64_t first, int64_t n, const void *data, GError **error)
{
    g_autofree char *path = g_strconcat(group, "/", name, NULL);
    const uint64_t dims[1] = {(uint64_t)all};
    return xlm_store_dataset(w->store, path, type, 1, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(w->store, path, (uint64_t)first, (uint64_t)n, data, error);
}

/* One side of the links. */
static bool write_side(const xlm_alignment_writer *w, const char *group, bool source, bool wide, int64_t all, int64_t first,
                       int64_t n, const xlm_link *links, GError **error)
{
    g_autofree void *numbers = g_malloc((size_t)(n + 1) * (wide ? 4 : 2));
    for (int64_t l = 0; l < n; l++) {
        const int32_t number = source ? links[l].source : links[l].target;
        if (wide)
            ((uint32_t *)numbers)[l] = (uint32_t)number;
        else
            ((uint16_t *)numbers)[l] = (uint16_t)number;
    }
    return write_rows(w, group, source ? "source" : "target", wide ? XLM_U32 : XLM_U16, all, first, n, numbers, error);
}

static bool write_offsets(const xlm_alignment_writer *w, const char *group, const xlm_corpus_pairs *pairs, int64_t n,
                          const uint64_t *offsets, int64_t first, GError **error)
{
    /* The end of the last pair is the last rank's. */
    const bool last = w->comm->rank == w->comm->ranks - 1;
    g_autofree uint64_t *own = g_new(uint64_t, n + 1);
    for (int64_t i = 0; i <= n; i++)
        own[i] = offsets[i] + (uint64_t)first;
    const bool good = write_rows(w, group, "offsets", XLM_U64, pairs->pairs + 1, xlm_comm_sum_below(w->comm, n), n + last, own,
                                 error);
    return good;
}

bool xlm_alignment_write(xlm_alignment_writer *writer, xlm_split split, const xlm_corpus_pairs *pairs, int64_t n,
                         const uint64_t *offsets, const xlm_link *links, const float *scores, GError **error)
{
    const int64_t own = (int64_t)offsets[n], first = xlm_comm_sum_below(writer->comm, own);
    int64_t all[2] = {own, n}, max[2] = {0, scores != NULL};
    xlm_comm_sum_int64(writer->comm, all, 2);
    g_assert(all[1] == pairs->pairs);
    for (int64_t l = 0; l < own; l++)
        max[0] = MAX(max[0], MAX(links[l].source, links[l].target));
    xlm_comm_max_int64(writer->comm, max, 2);
    g_autofree char *group = xlm_alignment_path(pairs->name, split);
    const bool wide = max[0] > UINT16_MAX;
    return write_offsets(writer, group, pairs, n, offsets, first, error) &&
           write_side(writer, group, true, wide, all[0], first, own, links, error) &&
           write_side(writer, group, false, wide, all[0], first, own, links, error) &&
           (max[1] == 0 || write_rows(writer, group, "score", XLM_F32, all[0], first, own, scores, error)) &&
           describe_pairs(writer, group, pairs, error);
}

/* ---- links between words ---- */

struct subwords {
    GArray *offsets, *links, *scores; /* uint64_t, xlm_link, float */
    GArray *word[2];                  /* int32_t, of a pair */
};

static bool make_subwords(const xlm_alignment_writer *w, xlm_sentence_pairs *pairs, const uint64_t *offsets,
                          const xlm_link *links, const float *scores, struct subwords *made, GError **error)
{
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(w->corpus);
    const char *text[2];
    size_t size[2];
    int64_t n[2];
    int got;
    uint64_t end = 0;
    g_array_append_val(made->offsets, end);
    if (!xlm_sentence_pairs_rewind(pairs, error))
        return false;
    for (int64_t p = 0; (got = xlm_sentence_pairs_next(pairs, text, size, NULL, error)) > 0; p++) {
        for (int side = 0; side < 2; side++) {
            const int32_t *ids = xlm_sentence_pairs_subwords(pairs, side, &n[side]);
            g_array_set_size(made->word[side], (guint)n[side] + 1);
            xlm_subword_words(vocabulary, ids, n[side], &g_array_index(made->word[side], int32_t, 0));
        }
        xlm_subword_links(links + offsets[p], scores != NULL ? scores + offsets[p] : NULL, (int64_t)(offsets[p + 1] - offsets[p]),
                          &g_array_index(made->word[0], int32_t, 0), n[0], &g_array_index(made->word[1], int32_t, 0), n[1],
                          made->links, made->scores);
        end = made->links->len;
        g_array_append_val(made->offsets, end);
    }
    return got == 0;
}

/* This rank's links of a part of the corpus, whose first pair is `begin` of all. */
static bool write_part(xlm_alignment_writer *w, const xlm_corpus_part *part, int64_t begin, const xlm_sentence_pairs *pairs,
                       const struct subwords *made, bool scored, GError **error)
{
    const int64_t first = xlm_sentence_pairs_first(pairs), last = first + xlm_sentence_pairs_count(pairs);
    const int64_t from = CLAMP(begin, first, last) - first, to = CLAMP(begin + part->pairs->pairs, first, last) - first;
    const uint64_t *offsets = &g_array_index(made->offsets, uint64_t, from);
    g_autofree uint64_t *own = g_new(uint64_t, to - from + 1);
    for (int64_t p = 0; p <= to - from; p++)
        own[p] = offsets[p] - offsets[0];
    const bool good = xlm_alignment_write(w, part->split, part->pairs, to - from, own,
                                          (const xlm_link *)(void *)made->links->data + offsets[0],
                                          scored ? (const float *)(void *)made->scores->data + offsets[0] : NULL, error);
    return good;
}

bool xlm_alignment_write_words(xlm_alignment_writer *writer, xlm_sentence_pairs *pairs, const uint64_t *offsets,
                               const xlm_link *links, const float *scores, GError **error)
{
    struct subwords made = {g_array_new(FALSE, FALSE, sizeof(uint64_t)), g_array_sized_new(FALSE, FALSE, sizeof(xlm_link), 1),
                            g_array_sized_new(FALSE, FALSE, sizeof(float), 1),
                            {g_array_new(FALSE, FALSE, sizeof(int32_t)), g_array_new(FALSE, FALSE, sizeof(int32_t))}};
    GError *failure = NULL;
    make_subwords(writer, pairs, offsets, links, scores, &made, &failure);
    bool good = xlm_comm_agree_on(writer->comm, failure, error);
    int n;
    const xlm_corpus_part *parts = xlm_sentence_pairs_parts(pairs, &n);
    int64_t begin = 0;
    for (int p = 0; p < n && good; begin += parts[p++].pairs->pairs)
        good = write_part(writer, &parts[p], begin, pairs, &made, scores != NULL, error);
    g_array_unref(made.offsets);
    g_array_unref(made.links);
    g_array_unref(made.scores);
    for (int side = 0; side < 2; side++)
        g_array_unref(made.word[side]);
    return good;
}

/* ---- end ---- */

bool xlm_alignment_commit(xlm_alignment_writer *writer, GError **error)
{
    const bool good = xlm_store_commit(writer->store, error);
    g_free(writer);
    return good;
}

void xlm_alignment_discard(xlm_alignment_writer *writer)
{
    if (writer == NULL)
        return;
    xlm_store_discard(writer->store);
    g_free(writer);
}
