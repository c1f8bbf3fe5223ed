/* xlm-mpi: one corpus file, for reading. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/corpus_file.h"

#include <string.h>

static const char *const split_names[XLM_SPLITS] = {[XLM_TRAIN] = "train", [XLM_HELD_OUT] = "held_out"};

const char *xlm_split_name(xlm_split split) { return split_names[split]; }

bool xlm_split_find(const char *name, xlm_split *split)
{
    for (int s = 0; s < XLM_SPLITS; s++)
        if (strcmp(name, split_names[s]) == 0 || (s == XLM_HELD_OUT && strcmp(name, "held-out") == 0)) {
            *split = (xlm_split)s;
            return true;
        }
    return false;
}

/* ---- opening ---- */

/* Types and shapes of the datasets. */
static xlm_array offsets_of(int64_t sentences) { return (xlm_array){XLM_U64, (uint64_t)sentences + 1, 0}; }
static xlm_array tokens_of(int64_t tokens) { return (xlm_array){XLM_I32, (uint64_t)tokens, 0}; }
static xlm_array links_of(int64_t pairs) { return (xlm_array){XLM_I64, (uint64_t)pairs, 2}; }

/* The number of rows of a dataset that has the type and columns of `array`; -1 with an error. */
static int64_t rows_of(const xlm_store *store, const char *path, xlm_array array, GError **error)
{
    array.rows = XLM_ANY;
    return xlm_store_shape(store, path, &array, error) ? (int64_t)array.rows : -1;
}

/* Check that numbers of sentences are right, and that offsets, so many, lead from the first token to the last. */
static bool check_text(const xlm_store *store, const xlm_file_text *text, int64_t offsets, GError **error)
{
    uint64_t ends[2] = {0, 0};
    if (offsets < 1 || text->sentences != offsets - 1 || text->monolingual_sentences < 0 ||
        text->monolingual_sentences > text->sentences)
        return xlm_error_set(error, EX_DATAERR, "%s:%s: %" G_GINT64_FORMAT " offsets for %" G_GINT64_FORMAT
                             " sentences, of which %" G_GINT64_FORMAT " are monolingual; the corpus is damaged",
                             xlm_store_path(store), text->offsets_path, offsets, text->sentences, text->monolingual_sentences);
    const xlm_array array = offsets_of(text->sentences);
    if (!xlm_store_read(store, text->offsets_path, array, 0, 1, &ends[0], error) ||
        !xlm_store_read(store, text->offsets_path, array, (uint64_t)text->sentences, 1, &ends[1], error))
        return false;
    if (ends[0] != 0 || ends[1] != (uint64_t)text->tokens)
        return xlm_error_set(error, EX_DATAERR, "%s:%s: lead to token %" G_GUINT64_FORMAT " of %" G_GINT64_FORMAT
                             "; the corpus is damaged", xlm_store_path(store), text->offsets_path, ends[1],
                             text->tokens);
    return true;
}

/* Check that the attributes of the group are those of the language after which it is named. */
static bool check_language(const xlm_store *store, const char *group, int language, const char *name, GError **error)
{
    int64_t id;
    g_autofree char *written = xlm_store_get_text(store, group, "language", error);
    bool good = written != NULL && xlm_store_get_int(store, group, "language_id", &id, error);
    if (good && (id != language || strcmp(written, name) != 0))
        good = xlm_error_set(error, EX_DATAERR, "%s:%s: says that it is language %" G_GINT64_FORMAT ", %s, where %d, %s belongs; "
                             "the corpus is damaged", xlm_store_path(store), group, id, written, language, name);
    return good;
}

static bool open_text(xlm_corpus_file *file, xlm_split split, int language, GError **error)
{
    const xlm_store *store = file->store;
    const char *name = xlm_vocabulary_language_names(file->vocabulary)[language];
    g_autofree char *group = g_strdup_printf("/%s/text/%s", split_names[split], name);
    g_autofree char *tokens = g_strconcat(group, "/tokens", NULL), *sentences = g_strconcat(group, "/offsets", NULL);
    xlm_file_text text = {.language = g_string_chunk_insert(file->strings, name),
                          .tokens_path = g_string_chunk_insert(file->strings, tokens),
                          .offsets_path = g_string_chunk_insert(file->strings, sentences)};
    bool good = true;
    if (xlm_store_has(store, group)) {
        const int64_t offsets = rows_of(store, text.offsets_path, offsets_of(0), error);
        text.tokens = offsets < 0 ? -1 : rows_of(store, text.tokens_path, tokens_of(0), error);
        good = offsets >= 0 && text.tokens >= 0 && check_language(store, group, language, name, error) &&
               xlm_store_get_int(store, group, "sentences", &text.sentences, error) &&
               xlm_store_get_int(store, group, "monolingual_sentences", &text.monolingual_sentences, error) &&
               check_text(store, &text, offsets, error);
    }
    if (good && text.sentences > 0)
        file->text[split][file->text_count[split]++] = text;
    return good;
}

const xlm_file_text *xlm_corpus_file_find_text(const xlm_corpus_file *file, xlm_split split, const char *language)
{
    for (int i = 0; i < file->text_count[split]; i++)
        if (strcmp(file->text[split][i].language, language) == 0)
            return &file->text[split][i];
    return NULL;
}

static bool open_pair(xlm_corpus_file *file, xlm_split split, const char *name, const char *group, GError **error)
{
    const xlm_store *store = file->store;
    g_autofree char *links = g_strconcat(group, "/links", NULL);
    g_autofree char *source = xlm_store_get_text(store, group, "source", error);
    g_autofree char *target = source != NULL ? xlm_store_get_text(store, group, "target", error) : NULL;
    int64_t pairs, rows = -1;
    bool good = target != NULL && xlm_store_get_int(store, group, "pairs", &pairs, error) &&
                (rows = rows_of(store, links, links_of(0), error)) >= 0;
    if (good && rows != pairs)
        good = xlm_error_set(error, EX_DATAERR, "%s:%s: %" G_GINT64_FORMAT " links for %" G_GINT64_FORMAT
                             " pairs; the corpus is damaged", xlm_store_path(store), links, rows, pairs);
    if (good && pairs > 0) {
        g_autofree char *named = g_strconcat(source, "-", target, NULL);
        const xlm_file_text *a = xlm_corpus_file_find_text(file, split, source);
        const xlm_file_text *b = xlm_corpus_file_find_text(file, split, target);
        for (int i = 0; good && i < file->pair_count[split]; i++) {
            const xlm_file_pairs *other = &file->pairs[split][i];
            if ((other->source == a && other->target == b) || (other->source == b && other->target == a))
                good = xlm_error_set(error, EX_DATAERR, "%s:%s: a second group of pairs of %s and %s; the corpus is damaged",
                                     xlm_store_path(store), links, source, target);
        }
        if (!good)
            return false;
        if (a == b && a != NULL)
            good = xlm_error_set(error, EX_DATAERR, "%s:%s: a pair of %s with itself; the corpus is damaged",
                                 xlm_store_path(store), links, source);
        else if (a == NULL || b == NULL)
            good = xlm_error_set(error, EX_DATAERR, "%s:%s: no text in %s; the corpus is damaged",
                                 xlm_store_path(store), links, a == NULL ? source : target);
        else if (strcmp(named, name) != 0)
            good = xlm_error_set(error, EX_DATAERR, "%s:%s: has pairs of %s and %s, whose name is %s; the corpus is damaged",
                                 xlm_store_path(store), group, source, target, named);
        else
            file->pairs[split][file->pair_count[split]++] =
                (xlm_file_pairs){g_string_chunk_insert(file->strings, name), a, b, pairs,
                                 g_string_chunk_insert(file->strings, links)};
    }
    return good;
}

static bool open_split(xlm_corpus_file *file, xlm_split split, GError **error)
{
    const int languages = xlm_vocabulary_languages(file->vocabulary);
    file->text[split] = g_new0(xlm_file_text, languages);
    for (int i = 0; i < languages; i++)
        if (!open_text(file, split, i, error))
            return false;

    g_autofree char *root = g_strdup_printf("/%s/parallel", split_names[split]);
    g_auto(GStrv) names = NULL;
    bool good = true;
    if (xlm_store_has(file->store, root)) {
        names = xlm_store_list(file->store, root, error);
        good = names != NULL;
    }
    if (names != NULL)
        file->pairs[split] = g_new0(xlm_file_pairs, g_strv_length(names));
    for (char **name = names; name != NULL && *name != NULL && good; name++) {
        g_autofree char *group = g_strconcat(root, "/", *name, NULL);
        good = open_pair(file, split, *name, group, error);
    }
    return good;
}

xlm_corpus_file *xlm_corpus_file_open(const char *path, GError **error)
{
    xlm_store *store = xlm_store_open(path, error);
    if (store == NULL)
        return NULL;
    xlm_corpus_file *file = g_new0(xlm_corpus_file, 1);
    file->store = store;
    file->strings = g_string_chunk_new(1024);
    if (xlm_store_check_format(store, XLM_CORPUS_FORMAT, XLM_CORPUS_VERSION, "a corpus", "xlm_prep", error) &&
        (file->vocabulary = xlm_vocabulary_load(store, "/vocabulary", error)) != NULL &&
        open_split(file, XLM_TRAIN, error) && open_split(file, XLM_HELD_OUT, error)) {
        file->subwords = xlm_vocabulary_size(file->vocabulary);
        return file;
    }
    xlm_corpus_file_close(file);
    return NULL;
}

void xlm_corpus_file_close(xlm_corpus_file *file)
{
    if (file == NULL)
        return;
    for (int split = 0; split < XLM_SPLITS; split++) {
        g_free(file->text[split]);
        g_free(file->pairs[split]);
    }
    g_string_chunk_free(file->strings);
    xlm_vocabulary_free(file->vocabulary);
    xlm_store_close(file->store);
    g_free(file);
}

/* ---- reading ---- */

bool xlm_corpus_file_offsets(const xlm_corpus_file *file, const xlm_file_text *text, int64_t first, int64_t n,
                             uint64_t *offsets, GError **error)
{
    if (!xlm_store_read(file->store, text->offsets_path, offsets_of(text->sentences), (uint64_t)first, (uint64_t)n, offsets,
                        error))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (offsets[i] > (i + 1 < n ? offsets[i + 1] : (uint64_t)text->tokens))
            return xlm_error_set(error, EX_DATAERR, "%s:%s: offset %" G_GINT64_FORMAT " is greater than the next one; the corpus "
                                 "is damaged", xlm_store_path(file->store), text->offsets_path, first + i);
    return true;
}

bool xlm_corpus_file_tokens(const xlm_corpus_file *file, const xlm_file_text *text, int64_t first, int64_t n,
                            int32_t *ids, GError **error)
{
    const int64_t vocabulary = file->subwords;
    if (!xlm_store_read(file->store, text->tokens_path, tokens_of(text->tokens), (uint64_t)first, (uint64_t)n, ids, error))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= vocabulary)
            return xlm_error_set(error, EX_DATAERR, "%s:%s: token %" G_GINT64_FORMAT " is %d, which is not in the "
                                 "vocabulary of %" G_GINT64_FORMAT "; the corpus is damaged", xlm_store_path(file->store),
                                 text->tokens_path, first + i, ids[i], vocabulary);
    return true;
}

bool xlm_corpus_file_links(const xlm_corpus_file *file, const xlm_file_pairs *pairs, int64_t first, int64_t n,
                           int64_t *links, GError **error)
{
    if (!xlm_store_read(file->store, pairs->links_path, links_of(pairs->pairs), (uint64_t)first, (uint64_t)n, links, error))
        return false;
    for (int64_t i = 0; i < 2 * n; i++) {
        const xlm_file_text *text = i % 2 == 0 ? pairs->source : pairs->target;
        if (links[i] < 0 || links[i] >= text->sentences)
            return xlm_error_set(error, EX_DATAERR, "%s:%s: pair %" G_GINT64_FORMAT ": a link leads to sentence %" G_GINT64_FORMAT
                                 " of %s, which has %" G_GINT64_FORMAT "; the corpus is damaged", xlm_store_path(file->store),
                                 pairs->links_path, first + i / 2, links[i], text->language, text->sentences);
    }
    return true;
}
