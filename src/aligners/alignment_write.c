/* xlm-mpi: the alignment of a corpus's sentence pairs, one HDF5 file: writing. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/alignment_write.h"

#include "aligners/subword_links.h"

/* ---- found links ---- */

xlm_found_links *xlm_found_links_new(void)
{
    xlm_found_links *found = g_new(xlm_found_links, 1);
    /* Room for one, so that the data of an empty array are not NULL. */
    *found = (xlm_found_links){g_array_new(FALSE, TRUE, sizeof(uint64_t)), g_array_sized_new(FALSE, FALSE, sizeof(xlm_link), 1),
                               g_array_sized_new(FALSE, FALSE, sizeof(float), 1)};
    g_array_set_size(found->offsets, 1);
    return found;
}

void xlm_found_links_append(xlm_found_links *found, const xlm_link *links, const float *scores, int64_t n)
{
    g_array_append_vals(found->links, links, (guint)n);
    g_array_append_vals(found->scores, scores, (guint)n);
    const uint64_t end = found->links->len;
    g_array_append_val(found->offsets, end);
}

void xlm_found_links_free(xlm_found_links *found)
{
    if (found == NULL)
        return;
    g_array_unref(found->offsets);
    g_array_unref(found->links);
    g_array_unref(found->scores);
    g_free(found);
}

/* ---- links between subwords ---- */

static bool write_origin(xlm_store *store, const xlm_corpus *corpus, const xlm_alignment_origin *origin, GError **error)
{
    return xlm_store_set_format(store, XLM_ALIGNMENT_FORMAT, XLM_ALIGNMENT_VERSION, "xlm_align", error) &&
           xlm_store_set_text(store, "/", "description",
                              "which subwords of two sentences are translations, for each sentence pair of a corpus", error) &&
           xlm_store_set_text(store, "/", "command", origin->command, error) &&
           xlm_store_set_text(store, "/", "corpus", origin->corpus, error) &&
           xlm_store_set_digest(store, "/", "corpus_digest", xlm_corpus_digest(corpus), error) &&
           xlm_store_set_text(store, "/", "method", origin->method, error) &&
           xlm_store_set_text(store, "/", "model", origin->model, error) &&
           xlm_store_set_int(store, "/", "layer", origin->layer, error) &&
           xlm_store_set_text(store, "/", "symmetrisation", origin->symmetrisation, error) &&
           xlm_store_set_int(store, "/", "seed", origin->seed, error);
}

xlm_store *xlm_alignment_create(const xlm_comm *comm, const char *path, const xlm_corpus *corpus,
                                const xlm_alignment_origin *origin, GError **error)
{
    xlm_store *store = xlm_store_create(comm, path, error);
    if (store != NULL && !write_origin(store, corpus, origin, error))
        g_clear_pointer(&store, xlm_store_discard);
    return store;
}

static bool describe_pairs(const xlm_comm *comm, xlm_store *store, const char *group, const xlm_corpus *corpus,
                           const xlm_corpus_pairs *pairs, GError **error)
{
    uint64_t digest = 0;
    GError *failure = NULL;
    if (comm->rank == 0)
        xlm_alignment_sample(corpus, pairs, &digest, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, &digest, sizeof digest);
    return xlm_store_set_text(store, group, "source", pairs->source->language, error) &&
           xlm_store_set_text(store, group, "target", pairs->target->language, error) &&
           xlm_store_set_int(store, group, "pairs", pairs->pairs, error) &&
           xlm_store_set_int(store, group, "source_sentences", pairs->source->sentences, error) &&
           xlm_store_set_int(store, group, "target_sentences", pairs->target->sentences, error) &&
           xlm_store_set_int(store, group, "source_tokens", pairs->source->tokens, error) &&
           xlm_store_set_int(store, group, "target_tokens", pairs->target->tokens, error) &&
           xlm_store_set_digest(store, group, "sample_digest", digest, error);
}

static bool write_list(xlm_store *store, const char *group, const char *name, xlm_type type, int64_t n, const void *data,
                       GError **error)
{
    g_autofree char *path = g_strconcat(group, "/", name, NULL);
    return xlm_store_write_parts(store, path, type, 0, n, data, error);
}

/* One side of the links. */
static bool write_side(xlm_store *store, const char *group, bool source, bool wide, int64_t n, const xlm_link *links,
                       GError **error)
{
    g_autofree void *numbers = g_malloc((size_t)(n + 1) * (wide ? 4 : 2));
    for (int64_t l = 0; l < n; l++) {
        const int32_t number = source ? links[l].source : links[l].target;
        if (wide)
            ((uint32_t *)numbers)[l] = (uint32_t)number;
        else
            ((uint16_t *)numbers)[l] = (uint16_t)number;
    }
    return write_list(store, group, source ? "source" : "target", wide ? XLM_U32 : XLM_U16, n, numbers, error);
}

bool xlm_alignment_write(const xlm_comm *comm, xlm_store *store, const xlm_corpus *corpus, xlm_split split,
                         const xlm_corpus_pairs *pairs, const xlm_found_links *found, GError **error)
{
    const int64_t n = found->offsets->len - 1, own = found->links->len;
    const xlm_link *links = (const xlm_link *)(void *)found->links->data;
    int64_t all = n, max = 0;
    xlm_comm_sum_int64(comm, &all, 1);
    g_assert(all == pairs->pairs);
    for (int64_t l = 0; l < own; l++)
        max = MAX(max, MAX(links[l].source, links[l].target));
    xlm_comm_max_int64(comm, &max, 1);
    g_autofree char *group = xlm_alignment_path(pairs->name, split), *offsets = g_strconcat(group, "/offsets", NULL);
    const bool wide = max > UINT16_MAX;
    return xlm_store_write_offsets(store, offsets, n, &g_array_index(found->offsets, uint64_t, 0), error) &&
           write_side(store, group, true, wide, own, links, error) && write_side(store, group, false, wide, own, links, error) &&
           (found->scores == NULL || write_list(store, group, "score", XLM_F32, own, found->scores->data, error)) &&
           describe_pairs(comm, store, group, corpus, pairs, error);
}

/* ---- links between words ---- */

/* Links between the subwords of this rank's pairs. made: [parts] for the pairs of each part of the corpus. */
static bool find_subword_links(xlm_sentence_pairs *pairs, const xlm_found_links *found, const xlm_corpus_part *parts,
                               xlm_found_links **made, GError **error)
{
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(xlm_sentence_pairs_corpus(pairs));
    const uint64_t *offsets = &g_array_index(found->offsets, uint64_t, 0);
    g_autoptr(GArray) source = g_array_new(FALSE, FALSE, sizeof(int32_t)), target = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GArray *const word[2] = {source, target};
    const char *text[2];
    size_t size[2];
    int64_t n[2], number, end_of_part = parts[0].pairs->pairs;
    int got, part = 0;
    if (!xlm_sentence_pairs_rewind(pairs, error))
        return false;
    for (; (got = xlm_sentence_pairs_next(pairs, text, size, &number, error)) > 0; offsets++) {
        while (number >= end_of_part)
            end_of_part += parts[++part].pairs->pairs;
        for (int side = 0; side < 2; side++) {
            const int32_t *ids = xlm_sentence_pairs_subwords(pairs, side, &n[side]);
            g_array_set_size(word[side], (guint)n[side] + 1);
            xlm_subword_words(vocabulary, ids, n[side], &g_array_index(word[side], int32_t, 0));
            if (n[side] > 0 && xlm_is_language_token(xlm_vocabulary_specials(vocabulary), ids[0]))
                g_array_index(word[side], int32_t, 0) = -1; /* of no word */
        }
        xlm_subword_links((const xlm_link *)(void *)found->links->data + offsets[0],
                          (const float *)(void *)found->scores->data + offsets[0], (int64_t)(offsets[1] - offsets[0]),
                          &g_array_index(source, int32_t, 0), n[0], &g_array_index(target, int32_t, 0), n[1], made[part]->links,
                          made[part]->scores);
        if (made[part]->links->len > G_MAXINT32)
            return xlm_error_set(error, EX_UNAVAILABLE, "%s: a rank's part has more than 2^31 links between subwords; give "
                                 "more ranks", xlm_sentence_pairs_path(pairs, 0));
        const uint64_t end = made[part]->links->len;
        g_array_append_val(made[part]->offsets, end);
    }
    return got == 0;
}

bool xlm_alignment_write_words(const xlm_comm *comm, const char *path, xlm_sentence_pairs *pairs, const xlm_found_links *found,
                               const xlm_alignment_origin *origin, GError **error)
{
    const xlm_corpus *corpus = xlm_sentence_pairs_corpus(pairs);
    xlm_alignment_origin of_corpus = *origin;
    of_corpus.corpus = xlm_corpus_path(corpus);
    int n;
    const xlm_corpus_part *parts = xlm_sentence_pairs_parts(pairs, &n);
    xlm_found_links *made[XLM_CORPUS_PARTS] = {NULL};
    for (int p = 0; p < n; p++)
        made[p] = xlm_found_links_new();
    xlm_store *store = xlm_alignment_create(comm, path, corpus, &of_corpus, error);
    GError *failure = NULL;
    if (store != NULL)
        find_subword_links(pairs, found, parts, made, &failure);
    bool good = store != NULL && xlm_comm_agree_on(comm, failure, error);
    for (int p = 0; p < n; p++) {
        good = good && xlm_alignment_write(comm, store, corpus, parts[p].split, parts[p].pairs, made[p], error);
        xlm_found_links_free(made[p]);
    }
    return xlm_store_end(store, good, error);
}
