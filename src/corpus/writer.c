/* xlm-mpi: corpus files (corpus.h) written by all ranks together. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/writer.h"

#include "comm/comm.h"

enum { SPLITS = 2 };

static const char *const split_descriptions[SPLITS] = {
    [XLM_TRAIN] = "text to train on",
    [XLM_HELD_OUT] = "text to evaluate on: no sentence of it, and no given translation of one, is in /train"};

struct text {
    const char *group, *tokens_path, *offsets_path;
    int64_t sentences, monolingual_sentences, tokens;
};

struct links {
    const char *group, *path;
    int64_t pairs;
};

struct xlm_corpus_writer {
    const xlm_comm *comm;
    xlm_store *store;
    int languages, pairs;
    bool wide; /* tokens of 32 bits */
    struct text *text[SPLITS];   /* [languages] */
    struct links *links[SPLITS]; /* [pairs] */
    GArray *narrow;              /* uint16_t, scratch: tokens to be written */
    GArray *ends;                /* uint64_t, scratch: offsets to be written */
    GStringChunk *paths;         /* of groups and datasets */
};

xlm_store *xlm_corpus_writer_store(xlm_corpus_writer *writer) { return writer->store; }

static bool describe(xlm_store *store, const char *path, const char *description, GError **error)
{
    return xlm_store_set_text(store, path, "description", description, error);
}

/* GROUP/NAME, which lives as long as the writer. */
static const char *make_path(xlm_corpus_writer *writer, const char *group, const char *name)
{
    g_autofree char *path = g_strconcat(group, "/", name, NULL);
    return g_string_chunk_insert(writer->paths, path);
}

static bool create_text(xlm_corpus_writer *writer, int split, int language, const char *name, GError **error)
{
    struct text *text = &writer->text[split][language];
    g_autofree char *group = g_strdup_printf("/%s/text/%s", xlm_split_name(split), name);
    text->group = g_string_chunk_insert(writer->paths, group);
    text->tokens_path = make_path(writer, text->group, "tokens");
    text->offsets_path = make_path(writer, text->group, "offsets");
    xlm_store *store = writer->store;
    const int flags = XLM_STORE_CHUNKED | XLM_STORE_CHECKED | XLM_STORE_GROWING;
    const uint64_t none = 0, one = 1, zero = 0;
    return xlm_store_dataset(store, text->tokens_path, writer->wide ? XLM_U32 : XLM_U16, 1, &none, flags, error) &&
           describe(store, text->tokens_path, "ids of subwords (index into /vocabulary), all sentences one after "
                    "another, without special tokens", error) &&
           xlm_store_dataset(store, text->offsets_path, XLM_U64, 1, &one, flags, error) &&
           describe(store, text->offsets_path, "sentence i is tokens[offsets[i]] to tokens[offsets[i+1] - 1]", error) &&
           xlm_store_write(store, text->offsets_path, 0, writer->comm->rank == 0, &zero, error) &&
           xlm_store_set_text(store, text->group, "language", name, error) &&
           xlm_store_set_int(store, text->group, "language_id", language, error);
}

static bool create_links(xlm_corpus_writer *writer, int split, int pair, const char *source, const char *target,
                         GError **error)
{
    struct links *links = &writer->links[split][pair];
    g_autofree char *group = g_strdup_printf("/%s/parallel/%s-%s", xlm_split_name(split), source, target);
    links->group = g_string_chunk_insert(writer->paths, group);
    links->path = make_path(writer, links->group, "links");
    const uint64_t none[2] = {0, 2};
    return xlm_store_dataset(writer->store, links->path, XLM_I64, 2, none,
                             XLM_STORE_CHUNKED | XLM_STORE_CHECKED | XLM_STORE_GROWING, error) &&
           describe(writer->store, links->path, "row: sentence of the source language, sentence of the target language "
                    "that is its translation; indices into the text of the same split", error) &&
           xlm_store_set_text(writer->store, links->group, "source", source, error) &&
           xlm_store_set_text(writer->store, links->group, "target", target, error);
}

static bool create_groups(xlm_corpus_writer *writer, const char *const *languages, const int (*pairs)[2],
                          GError **error)
{
    for (int split = 0; split < SPLITS; split++) {
        for (int i = 0; i < writer->languages; i++)
            if (!create_text(writer, split, i, languages[i], error))
                return false;
        for (int i = 0; i < writer->pairs; i++)
            if (!create_links(writer, split, i, languages[pairs[i][0]], languages[pairs[i][1]], error))
                return false;
        g_autofree char *group = g_strconcat("/", xlm_split_name(split), NULL);
        if (!describe(writer->store, group, split_descriptions[split], error))
            return false;
    }
    return true;
}

xlm_corpus_writer *xlm_corpus_writer_create(const xlm_comm *comm, const char *path, int n, const char *const *languages,
                                            int pair_count, const int (*pairs)[2], int64_t subwords, GError **error)
{
    xlm_store *store = xlm_store_create(comm, path, error);
    if (store == NULL)
        return NULL;
    xlm_corpus_writer *writer = g_new0(xlm_corpus_writer, 1);
    writer->comm = comm;
    writer->store = store;
    writer->languages = n;
    writer->pairs = pair_count;
    writer->wide = subwords > 65536;
    writer->paths = g_string_chunk_new(1024);
    writer->narrow = g_array_new(FALSE, FALSE, sizeof(uint16_t));
    writer->ends = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    for (int split = 0; split < SPLITS; split++) {
        writer->text[split] = g_new0(struct text, n);
        writer->links[split] = g_new0(struct links, pair_count);
    }
    if (!create_groups(writer, languages, pairs, error)) {
        xlm_corpus_writer_discard(writer);
        return NULL;
    }
    return writer;
}

static const void *tokens_for_file(xlm_corpus_writer *writer, const GArray *tokens)
{
    if (writer->wide)
        return tokens->data;
    g_array_set_size(writer->narrow, tokens->len);
    const int32_t *wide = (const int32_t *)(void *)tokens->data;
    uint16_t *narrow = (uint16_t *)(void *)writer->narrow->data;
    for (guint i = 0; i < tokens->len; i++)
        narrow[i] = (uint16_t)wide[i];
    return narrow;
}

bool xlm_corpus_writer_text(xlm_corpus_writer *writer, xlm_split split, int language, const xlm_encoded_text *text,
                            int64_t *first, GError **error)
{
    struct text *out = &writer->text[split][language];
    const int64_t tokens_below = out->tokens + xlm_comm_sum_below(writer->comm, text->tokens->len);
    *first = out->sentences + xlm_comm_sum_below(writer->comm, text->lengths->len);
    int64_t total[2] = {text->tokens->len, text->lengths->len};
    xlm_comm_sum_int64(writer->comm, total, 2);
    if (total[1] == 0)
        return true;

    g_array_set_size(writer->ends, text->lengths->len);
    uint64_t end = (uint64_t)tokens_below;
    for (guint i = 0; i < text->lengths->len; i++) {
        end += g_array_index(text->lengths, uint32_t, i);
        g_array_index(writer->ends, uint64_t, i) = end;
    }
    out->tokens += total[0];
    out->sentences += total[1];
    return xlm_store_extend(writer->store, out->tokens_path, (uint64_t)out->tokens, error) &&
           xlm_store_write(writer->store, out->tokens_path, (uint64_t)tokens_below, text->tokens->len,
                           tokens_for_file(writer, text->tokens), error) &&
           xlm_store_extend(writer->store, out->offsets_path, (uint64_t)out->sentences + 1, error) &&
           xlm_store_write(writer->store, out->offsets_path, (uint64_t)*first + 1, text->lengths->len,
                           writer->ends->data, error);
}

bool xlm_corpus_writer_links(xlm_corpus_writer *writer, xlm_split split, int pair, int64_t n, const int64_t *links,
                             GError **error)
{
    struct links *out = &writer->links[split][pair];
    const int64_t first = out->pairs + xlm_comm_sum_below(writer->comm, n);
    int64_t total = n;
    xlm_comm_sum_int64(writer->comm, &total, 1);
    if (total == 0)
        return true;
    out->pairs += total;
    return xlm_store_extend(writer->store, out->path, (uint64_t)out->pairs, error) &&
           xlm_store_write(writer->store, out->path, (uint64_t)first, (uint64_t)n, links, error);
}

void xlm_corpus_writer_end_monolingual(xlm_corpus_writer *writer)
{
    for (int split = 0; split < SPLITS; split++)
        for (int i = 0; i < writer->languages; i++)
            writer->text[split][i].monolingual_sentences = writer->text[split][i].sentences;
}

static bool write_counts(xlm_corpus_writer *writer, GError **error)
{
    for (int split = 0; split < SPLITS; split++) {
        for (int i = 0; i < writer->languages; i++) {
            const struct text *text = &writer->text[split][i];
            if (!xlm_store_set_int(writer->store, text->group, "sentences", text->sentences, error) ||
                !xlm_store_set_int(writer->store, text->group, "monolingual_sentences", text->monolingual_sentences,
                                   error) ||
                !describe(writer->store, text->group, "sentences of one language; the first monolingual_sentences are "
                          "monolingual text, the rest came in with parallel text", error))
                return false;
        }
        for (int i = 0; i < writer->pairs; i++)
            if (!xlm_store_set_int(writer->store, writer->links[split][i].group, "pairs", writer->links[split][i].pairs,
                                   error))
                return false;
    }
    return true;
}

static void free_writer(xlm_corpus_writer *writer)
{
    for (int split = 0; split < SPLITS; split++) {
        g_free(writer->text[split]);
        g_free(writer->links[split]);
    }
    g_string_chunk_free(writer->paths);
    g_array_free(writer->narrow, TRUE);
    g_array_free(writer->ends, TRUE);
    g_free(writer);
}

bool xlm_corpus_writer_commit(xlm_corpus_writer *writer, GError **error)
{
    const bool done = xlm_store_end(writer->store, write_counts(writer, error), error);
    free_writer(writer);
    return done;
}

void xlm_corpus_writer_discard(xlm_corpus_writer *writer)
{
    if (writer == NULL)
        return;
    xlm_store_discard(writer->store);
    free_writer(writer);
}
