/* xlm-mpi: one corpus file, or several as one, for reading. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/corpus.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/rng.h"
#include "files/files.h"
#include "files/path.h"
#include "subwords/vocabulary_join.h"

/* Sentences in a row of a text that are in a row in one file too. */
struct xlm_text_piece {
    const xlm_corpus_file *file;
    const xlm_file_text *text;
    int64_t first, token;           /* the first sentence and the first token in the corpus */
    int64_t file_first, file_token; /* and in the file */
    int64_t sentences, tokens;
};

/* All pairs of two languages in one file. */
struct xlm_pairs_piece {
    const xlm_corpus_file *file;
    const xlm_file_pairs *pairs;
    bool swapped; /* the file has the languages the other way round */
    int64_t first; /* the first pair in the corpus */
};

struct xlm_corpus {
    char *path;
    GPtrArray *files; /* xlm_corpus_file */
    xlm_vocabulary *vocabulary;
    xlm_corpus_text *text[XLM_SPLITS];
    int text_count[XLM_SPLITS];
    xlm_corpus_pairs *pairs[XLM_SPLITS];
    int pair_count[XLM_SPLITS];
    GPtrArray *pieces; /* the arrays that texts and pairs point to; g_free each */
    uint64_t digest;
};

const char *xlm_corpus_path(const xlm_corpus *corpus) { return corpus->path; }
const xlm_vocabulary *xlm_corpus_vocabulary(const xlm_corpus *corpus) { return corpus->vocabulary; }
uint64_t xlm_corpus_digest(const xlm_corpus *corpus) { return corpus->digest; }

static const xlm_corpus_file *file_at(const xlm_corpus *corpus, guint i) { return corpus->files->pdata[i]; }

bool xlm_corpus_check_unchanged(const xlm_corpus *corpus, GError **error)
{
    bool good = true;
    for (guint i = 0; i < corpus->files->len && good; i++)
        good = xlm_store_check_unchanged(file_at(corpus, i)->store, error);
    return good;
}

static uint64_t add_languages(const xlm_vocabulary *vocabulary, uint64_t digest)
{
    for (const char *const *name = xlm_vocabulary_language_names(vocabulary); *name != NULL; name++)
        digest = xlm_digest(*name, strlen(*name) + 1, digest); /* with the final 0, so that names stay separate */
    return digest;
}

uint64_t xlm_corpus_digest_of(const xlm_vocabulary *vocabulary)
{
    return add_languages(vocabulary, xlm_vocabulary_digest(vocabulary));
}

uint64_t xlm_corpus_subwords_digest_of(const xlm_vocabulary *vocabulary)
{
    return add_languages(vocabulary, xlm_vocabulary_subwords_digest(vocabulary));
}

/* ---- joining texts ---- */

/* Append the sentences [from, to) of a text of a file. A piece without sentences is left out. */
static bool add_piece(GArray *pieces, xlm_corpus_text *text, const xlm_corpus_file *file, const xlm_file_text *of, int64_t from,
                      int64_t to, GError **error)
{
    uint64_t ends[2] = {0, (uint64_t)of->tokens};
    if (from == to)
        return true;
    if ((from > 0 && !xlm_corpus_file_offsets(file, of, from, 1, &ends[0], error)) ||
        (to < of->sentences && !xlm_corpus_file_offsets(file, of, to, 1, &ends[1], error)))
        return false;
    const struct xlm_text_piece piece = {file, of, text->sentences, text->tokens, from, (int64_t)ends[0], to - from,
                                         (int64_t)(ends[1] - ends[0])};
    g_array_append_val(pieces, piece);
    text->sentences += piece.sentences;
    text->tokens += piece.tokens;
    return true;
}

/* The text of a language in all files. */
static bool join_text(xlm_corpus *corpus, xlm_split split, int language, GError **error)
{
    xlm_corpus_text text = {.language = xlm_vocabulary_language_names(corpus->vocabulary)[language], .language_id = language};
    GArray *pieces = g_array_new(FALSE, FALSE, sizeof(struct xlm_text_piece));
    const bool alone = corpus->files->len == 1; /* then both parts are one piece */
    bool good = true;
    for (int part = 0; part < 2 && good; part++) {
        for (guint i = 0; i < corpus->files->len && good; i++) {
            const xlm_file_text *of = xlm_corpus_file_find_text(file_at(corpus, i), split, text.language);
            const int64_t middle = of == NULL ? 0 : alone ? of->sentences : of->monolingual_sentences;
            good = of == NULL || add_piece(pieces, &text, file_at(corpus, i), of, part == 0 ? 0 : middle,
                                           part == 0 ? middle : of->sentences, error);
            if (part == 0 && of != NULL)
                text.monolingual_sentences += of->monolingual_sentences;
        }
    }
    text.piece_count = (int)pieces->len;
    text.pieces = (struct xlm_text_piece *)(void *)g_array_free(pieces, FALSE);
    g_ptr_array_add(corpus->pieces, (void *)(uintptr_t)text.pieces);
    if (good && text.sentences > 0)
        corpus->text[split][corpus->text_count[split]++] = text;
    return good;
}

/* ---- joining pairs ---- */

/* The pairs of two texts in either order; NULL if there are none. */
static xlm_corpus_pairs *pairs_of(const xlm_corpus *corpus, xlm_split split, const xlm_corpus_text *a, const xlm_corpus_text *b)
{
    for (int i = 0; i < corpus->pair_count[split]; i++) {
        xlm_corpus_pairs *pairs = &corpus->pairs[split][i];
        if ((pairs->source == a && pairs->target == b) || (pairs->source == b && pairs->target == a))
            return pairs;
    }
    return NULL;
}

/* Refuses pairs that are called as those of other languages are: "a-b" with "c", "a" with "b-c". */
static xlm_corpus_pairs *new_pairs(xlm_corpus *corpus, xlm_split split, const xlm_file_pairs *of, const xlm_corpus_text *source,
                                   const xlm_corpus_text *target, GError **error)
{
    g_autofree char *turned = g_strconcat(target->language, "-", source->language, NULL);
    const xlm_corpus_pairs *same = xlm_corpus_find_pairs(corpus, split, of->name, NULL);
    if (same == NULL)
        same = xlm_corpus_find_pairs(corpus, split, turned, NULL);
    if (same != NULL) {
        xlm_error_set(error, EX_DATAERR, "%s: the pairs of %s with %s and of %s with %s have one name, %s; prepare the text again "
                      "with other names of languages", corpus->path, same->source->language, same->target->language,
                      source->language, target->language, of->name);
        return NULL;
    }
    xlm_corpus_pairs *pairs = &corpus->pairs[split][corpus->pair_count[split]++];
    *pairs = (xlm_corpus_pairs){.name = of->name, .source = source, .target = target};
    pairs->pieces = g_new0(struct xlm_pairs_piece, corpus->files->len);
    g_ptr_array_add(corpus->pieces, (void *)(uintptr_t)pairs->pieces);
    return pairs;
}

static bool add_pairs(xlm_corpus *corpus, xlm_split split, const xlm_corpus_file *file, const xlm_file_pairs *of, GError **error)
{
    const xlm_corpus_text *source = xlm_corpus_find_text(corpus, split, of->source->language);
    const xlm_corpus_text *target = xlm_corpus_find_text(corpus, split, of->target->language);
    xlm_corpus_pairs *pairs = pairs_of(corpus, split, source, target);
    if (pairs == NULL && (pairs = new_pairs(corpus, split, of, source, target, error)) == NULL)
        return false;
    struct xlm_pairs_piece *piece = (struct xlm_pairs_piece *)(uintptr_t)pairs->pieces + pairs->piece_count++;
    *piece = (struct xlm_pairs_piece){file, of, pairs->source != source, pairs->pairs};
    pairs->pairs += of->pairs;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const xlm_corpus_pairs *)a)->name, ((const xlm_corpus_pairs *)b)->name);
}

static bool join_split(xlm_corpus *corpus, xlm_split split, GError **error)
{
    const int languages = xlm_vocabulary_languages(corpus->vocabulary);
    corpus->text[split] = g_new0(xlm_corpus_text, languages);
    for (int i = 0; i < languages; i++)
        if (!join_text(corpus, split, i, error))
            return false;
    int pairs = 0;
    for (guint i = 0; i < corpus->files->len; i++)
        pairs += file_at(corpus, i)->pair_count[split];
    corpus->pairs[split] = g_new0(xlm_corpus_pairs, pairs);
    for (guint i = 0; i < corpus->files->len; i++)
        for (int p = 0; p < file_at(corpus, i)->pair_count[split]; p++)
            if (!add_pairs(corpus, split, file_at(corpus, i), &file_at(corpus, i)->pairs[split][p], error))
                return false;
    if (corpus->files->len > 1 && pairs > 1)
        qsort(corpus->pairs[split], (size_t)corpus->pair_count[split], sizeof(xlm_corpus_pairs), by_name);
    return true;
}

/* ---- opening ---- */

/* The names of the files. NULL with an error when one is empty. g_strfreev. */
static char **split_path(const char *path, GError **error)
{
    char **names = g_strsplit(path, ",", -1);
    for (char **name = names; *name != NULL; name++)
        g_strstrip(*name);
    if (*names != NULL && !g_strv_contains((const char *const *)names, ""))
        return names;
    g_strfreev(names);
    xlm_error_set(error, EX_USAGE, "%s: the name of a corpus is empty; write a.h5,b.h5", path);
    return NULL;
}

bool xlm_corpus_is_named(const char *path)
{
    char **names = split_path(path, NULL);
    const bool is = names != NULL && xlm_files_is_hdf5(names[0]);
    g_strfreev(names);
    return is;
}

/* Warn when a file holds out other sentences than the first: what one trains on may be held out in the other. */
static void compare_splits(const xlm_corpus_file *first, const xlm_corpus_file *other)
{
    const xlm_store *store[] = {first->store, other->store};
    int64_t seed[2];
    double share[2];
    for (int i = 0; i < 2; i++)
        if (!xlm_store_get_int(store[i], "/", "seed", &seed[i], NULL) ||
            !xlm_store_get_real(store[i], "/", "held_out_share", &share[i], NULL))
            return;
    if (seed[0] != seed[1] || share[0] != share[1])
        xlm_log_warn("%s holds out a share of %g with seed %" G_GINT64_FORMAT ", %s a share of %g with seed %" G_GINT64_FORMAT
                     ": a sentence that is held out in one may be in the training text of the other", xlm_store_path(store[0]),
                     share[0], seed[0], xlm_store_path(store[1]), share[1], seed[1]);
}

/* Open the next file, and join its vocabulary with that of those before. */
static bool add_file(xlm_corpus *corpus, const char *name, GError **error)
{
    xlm_corpus_file *file = xlm_corpus_file_open(name, error);
    if (file == NULL)
        return false;
    g_ptr_array_add(corpus->files, file);
    if (corpus->vocabulary == NULL) {
        corpus->vocabulary = g_steal_pointer(&file->vocabulary);
        return true;
    }
    const char *first = xlm_store_path(file_at(corpus, 0)->store);
    g_autoptr(GError) why = NULL;
    xlm_vocabulary *joined = xlm_vocabulary_join(corpus->vocabulary, file->vocabulary, &why);
    if (joined == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: its vocabulary is not that of %s: %s; prepare its text with xlm_prep --like "
                             "%s", name, first, why->message, first);
    compare_splits(file_at(corpus, 0), file);
    xlm_vocabulary_free(corpus->vocabulary);
    g_clear_pointer(&file->vocabulary, xlm_vocabulary_free);
    corpus->vocabulary = joined;
    return true;
}

static bool open_files(xlm_corpus *corpus, char **names, GError **error)
{
    for (char **name = names; *name != NULL; name++) {
        for (char **before = names; before < name; before++)
            if (xlm_path_same_file(*before, *name))
                return xlm_error_set(error, EX_USAGE, "%s: %s is given twice", corpus->path, *name);
        if (!add_file(corpus, *name, error))
            return false;
    }
    return true;
}

xlm_corpus *xlm_corpus_open(const char *path, GError **error)
{
    g_auto(GStrv) names = split_path(path, error);
    if (names == NULL)
        return NULL;
    g_autoptr(xlm_corpus) corpus = g_new0(xlm_corpus, 1);
    corpus->path = g_strdup(path);
    corpus->files = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_corpus_file_close);
    corpus->pieces = g_ptr_array_new_with_free_func(g_free);
    if (!open_files(corpus, names, error) || !join_split(corpus, XLM_TRAIN, error) || !join_split(corpus, XLM_HELD_OUT, error))
        return NULL;
    corpus->digest = xlm_corpus_digest_of(corpus->vocabulary);
    return g_steal_pointer(&corpus);
}

void xlm_corpus_close(xlm_corpus *corpus)
{
    if (corpus == NULL)
        return;
    for (int split = 0; split < XLM_SPLITS; split++) {
        g_free(corpus->text[split]);
        g_free(corpus->pairs[split]);
    }
    xlm_vocabulary_free(corpus->vocabulary);
    g_ptr_array_unref(corpus->pieces);
    g_ptr_array_unref(corpus->files);
    g_free(corpus->path);
    g_free(corpus);
}

/* ---- what there is ---- */

const xlm_corpus_text *xlm_corpus_texts(const xlm_corpus *corpus, xlm_split split, int *n)
{
    *n = corpus->text_count[split];
    return corpus->text[split];
}

const xlm_corpus_pairs *xlm_corpus_all_pairs(const xlm_corpus *corpus, xlm_split split, int *n)
{
    *n = corpus->pair_count[split];
    return corpus->pairs[split];
}

const xlm_corpus_text *xlm_corpus_find_text(const xlm_corpus *corpus, xlm_split split, const char *language)
{
    for (int i = 0; i < corpus->text_count[split]; i++)
        if (strcmp(corpus->text[split][i].language, language) == 0)
            return &corpus->text[split][i];
    return NULL;
}

const xlm_corpus_pairs *xlm_corpus_find_pairs(const xlm_corpus *corpus, xlm_split split, const char *name, bool *swapped)
{
    for (int i = 0; i < corpus->pair_count[split]; i++) {
        const xlm_corpus_pairs *pairs = &corpus->pairs[split][i];
        g_autofree char *other = g_strdup_printf("%s-%s", pairs->target->language, pairs->source->language);
        const bool as_named = strcmp(pairs->name, name) == 0, turned = strcmp(other, name) == 0;
        if (as_named || turned) {
            if (swapped != NULL)
                *swapped = !as_named;
            return pairs;
        }
    }
    return NULL;
}

/* ---- reading ---- */

bool xlm_corpus_read_offsets(const xlm_corpus_text *text, int64_t first, int64_t n, uint64_t *offsets, GError **error)
{
    for (int64_t i = 0; i < n;) {
        const struct xlm_text_piece *piece = text->pieces, *last = piece + text->piece_count - 1;
        while (piece < last && first + i >= piece[1].first)
            piece++;
        const int64_t at = first + i - piece->first, some = piece < last ? MIN(n - i, piece->sentences - at) : n - i;
        if (!xlm_corpus_file_offsets(piece->file, piece->text, piece->file_first + at, some, offsets + i, error))
            return false;
        for (const int64_t end = i + some; i < end; i++) {
            const int64_t token = (int64_t)offsets[i] - piece->file_token;
            if (token < 0 || token > piece->tokens)
                return xlm_error_set(error, EX_DATAERR, "%s:%s: offset %" G_GINT64_FORMAT " is not between those of the first "
                                     "and the last sentence of its part; the corpus is damaged", xlm_store_path(piece->file->store),
                                     piece->text->offsets_path, piece->file_first + first + i - piece->first);
            offsets[i] = (uint64_t)(piece->token + token);
        }
    }
    return true;
}

bool xlm_corpus_read_tokens(const xlm_corpus_text *text, int64_t first, int64_t n, int32_t *ids, GError **error)
{
    for (int64_t i = 0; i < n;) {
        const struct xlm_text_piece *piece = text->pieces, *last = piece + text->piece_count - 1;
        while (piece < last && first + i >= piece[1].token)
            piece++;
        const int64_t at = first + i - piece->token, some = piece < last ? MIN(n - i, piece->tokens - at) : n - i;
        if (!xlm_corpus_file_tokens(piece->file, piece->text, piece->file_token + at, some, ids + i, error))
            return false;
        i += some;
    }
    return true;
}

bool xlm_corpus_fits(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t sentence, int64_t tokens, GError **error)
{
    return tokens <= INT32_MAX ||
           xlm_error_set(error, EX_DATAERR, "%s: sentence %" G_GINT64_FORMAT " of %s has %" G_GINT64_FORMAT " tokens, more than "
                         "can be read; prepare its text again with --max-words", corpus->path, sentence, text->language, tokens);
}

bool xlm_corpus_read_sentence(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t sentence, GArray *ids, GError **error)
{
    uint64_t ends[2];
    if (!xlm_corpus_read_offsets(text, sentence, 2, ends, error))
        return false;
    const guint before = ids->len;
    const int64_t n = (int64_t)(ends[1] - ends[0]);
    if (!xlm_corpus_fits(corpus, text, sentence, before + n, error))
        return false;
    g_array_set_size(ids, before + (guint)n);
    return n == 0 || xlm_corpus_read_tokens(text, (int64_t)ends[0], n, &g_array_index(ids, int32_t, before), error);
}

/* The number in the corpus of a sentence of a file. */
static int64_t number_of(const xlm_corpus_text *text, const xlm_file_text *of, int64_t sentence)
{
    const struct xlm_text_piece *piece = text->pieces;
    while (piece->text != of || sentence < piece->file_first || sentence >= piece->file_first + piece->sentences)
        piece++;
    return sentence - piece->file_first + piece->first;
}

/* Turns n links of a piece into those of the corpus. */
static void renumber(const xlm_corpus_pairs *pairs, const struct xlm_pairs_piece *piece, int64_t n, int64_t *links)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t source = number_of(piece->swapped ? pairs->target : pairs->source, piece->pairs->source, links[2 * i]);
        const int64_t target = number_of(piece->swapped ? pairs->source : pairs->target, piece->pairs->target, links[2 * i + 1]);
        links[2 * i] = piece->swapped ? target : source;
        links[2 * i + 1] = piece->swapped ? source : target;
    }
}

bool xlm_corpus_read_links(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, int64_t first, int64_t n,
                           int64_t *links, GError **error)
{
    for (int64_t i = 0; i < n;) {
        const struct xlm_pairs_piece *piece = pairs->pieces, *last = piece + pairs->piece_count - 1;
        while (piece < last && first + i >= piece[1].first)
            piece++;
        const int64_t at = first + i - piece->first, some = piece < last ? MIN(n - i, piece->pairs->pairs - at) : n - i;
        if (!xlm_corpus_file_links(piece->file, piece->pairs, at, some, links + 2 * i, error))
            return false;
        if (corpus->files->len > 1)
            renumber(pairs, piece, some, links + 2 * i);
        i += some;
    }
    return true;
}
