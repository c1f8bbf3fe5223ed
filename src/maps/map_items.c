/* xlm-mpi: the words or sentences that a map shows, and their vectors in a model. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/map_items.h"

#include <string.h>

#include "files/files.h"
#include "lexicon/dictionary.h"
#include "lexicon/frequency.h"
#include "retrieval/scored_pairs.h"
#include "vectors/cosines.h"
#include "vectors/sentence_vectors.h"
#include "vectors/word_space.h"

static void open_items(xlm_map_items *items, const char *path, bool subwords)
{
    *items = (xlm_map_items){
        .path = path, .labels = g_ptr_array_new_with_free_func(g_free), .language = g_array_new(FALSE, FALSE, sizeof(int32_t)),
        .languages = g_ptr_array_new_with_free_func(g_free), .named = true, .links = g_array_new(FALSE, FALSE, sizeof(int64_t)),
        .subwords = subwords ? g_array_new(FALSE, FALSE, sizeof(int32_t)) : NULL,
        .ends = subwords ? g_array_new(FALSE, FALSE, sizeof(int64_t)) : NULL,
    };
}

void xlm_map_items_close(xlm_map_items *items)
{
    g_clear_pointer(&items->labels, g_ptr_array_unref);
    g_clear_pointer(&items->language, g_array_unref);
    g_clear_pointer(&items->languages, g_ptr_array_unref);
    g_clear_pointer(&items->links, g_array_unref);
    g_clear_pointer(&items->subwords, g_array_unref);
    g_clear_pointer(&items->ends, g_array_unref);
}

/* Takes the label; the item's subwords were appended before. Returns its number. */
static int64_t add_item(xlm_map_items *items, int32_t language, char *label)
{
    g_ptr_array_add(items->labels, label);
    g_array_append_val(items->language, language);
    if (items->subwords != NULL) {
        const int64_t end = items->subwords->len;
        g_array_append_val(items->ends, end);
    }
    return (int64_t)items->labels->len - 1;
}

static void add_link(xlm_map_items *items, int64_t one, int64_t other)
{
    g_array_append_val(items->links, one);
    g_array_append_val(items->links, other);
}

/* ---- dictionaries ---- */

/* "en" and "de" of "path/en-de.txt"; NULL: the name does not have this form. g_strfreev. */
static char **languages_of_name(const char *path)
{
    g_autofree char *name = g_path_get_basename(path);
    char **parts = NULL;
    const size_t first = strcspn(name, "-."), second = name[first] == '-' ? strcspn(name + first + 1, "-._") : 0;
    if (first >= 2 && first <= 3 && second >= 2 && second <= 3) {
        name[first + 1 + second] = '\0';
        parts = g_strsplit(name, "-", 2);
    }
    return parts;
}

static void name_sides(xlm_map_items *items, char *const *languages)
{
    g_auto(GStrv) found = languages == NULL ? languages_of_name(items->path) : NULL;
    char *const *names = languages != NULL ? languages : found;
    items->named = languages != NULL;
    for (int s = 0; s < 2; s++)
        g_ptr_array_add(items->languages, g_strdup(names != NULL ? names[s] : s == 0 ? "first" : "second"));
}

static bool read_words(xlm_map_items *items, const char *path, char *const *languages, int64_t max_pairs, GError **error)
{
    xlm_pair_list list = {{NULL, NULL}, NULL};
    GHashTable *numbers[2] = {g_hash_table_new(g_str_hash, g_str_equal), g_hash_table_new(g_str_hash, g_str_equal)};
    open_items(items, path, false);
    name_sides(items, languages);
    const bool good = xlm_pair_list_read_dictionary(path, &list, error);
    const int64_t pairs = good ? (max_pairs > 0 ? MIN(max_pairs, list.words[0]->len) : list.words[0]->len) : 0;
    for (int64_t i = 0; i < pairs; i++) {
        int64_t item[2];
        for (int s = 0; s < 2; s++) {
            const char *word = list.words[s]->pdata[i];
            item[s] = (int64_t)GPOINTER_TO_SIZE(g_hash_table_lookup(numbers[s], word)) - 1;
            if (item[s] < 0) {
                item[s] = add_item(items, s, g_strdup(word));
                g_hash_table_insert(numbers[s], items->labels->pdata[item[s]], GSIZE_TO_POINTER((gsize)item[s] + 1));
            }
        }
        add_link(items, item[0], item[1]);
    }
    for (int s = 0; s < 2; s++)
        g_hash_table_unref(numbers[s]);
    xlm_pair_list_close(&list);
    return good;
}

static void add_pairs(xlm_map_items *items, const xlm_dictionary *d, const xlm_vocabulary *vocabulary, int64_t max_pairs,
                      GHashTable *const numbers[2])
{
    for (int64_t i = 0; i < d->pairs && (max_pairs == 0 || (int64_t)items->links->len / 2 < max_pairs); i++) {
        int64_t item[2];
        for (int s = 0; s < 2; s++) {
            const int32_t id = d->token[s][i];
            item[s] = (int64_t)GPOINTER_TO_SIZE(g_hash_table_lookup(numbers[s], GINT_TO_POINTER(id))) - 1;
            if (item[s] < 0) {
                g_array_append_val(items->subwords, id);
                item[s] = add_item(items, s, g_strdup(xlm_vocabulary_words(vocabulary)[id]));
                g_hash_table_insert(numbers[s], GINT_TO_POINTER(id), GSIZE_TO_POINTER((gsize)item[s] + 1));
            }
        }
        add_link(items, item[0], item[1]);
    }
}

static bool read_subwords(xlm_map_items *items, const char *path, const char *checkpoint, int64_t max_pairs, GError **error)
{
    open_items(items, path, true);
    g_autoptr(xlm_loaded_model) loaded = xlm_model_file_read_header(checkpoint, error);
    if (loaded == NULL)
        return false;
    const uint64_t digest = xlm_corpus_digest_of(loaded->vocabulary);
    GHashTable *numbers[2] = {g_hash_table_new(NULL, NULL), g_hash_table_new(NULL, NULL)};
    static const char *const parts[] = {XLM_DICTIONARY_PAIRS, XLM_DICTIONARY_LEFT_OUT};
    bool good = true;
    items->vocabulary = xlm_vocabulary_digest(loaded->vocabulary);
    for (guint p = 0; p < G_N_ELEMENTS(parts) && good; p++) {
        xlm_dictionary *d = xlm_dictionary_read(path, parts[p], loaded->vocabulary, digest, error);
        good = d != NULL;
        for (int s = 0; s < 2 && good && p == 0; s++)
            g_ptr_array_add(items->languages, g_strdup(xlm_vocabulary_language_names(loaded->vocabulary)[d->language[s]]));
        if (good)
            add_pairs(items, d, loaded->vocabulary, max_pairs, numbers);
        xlm_dictionary_free(d);
    }
    if (good && items->links->len == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: has no pairs", path);
    for (int s = 0; s < 2; s++)
        g_hash_table_unref(numbers[s]);
    return good;
}

bool xlm_map_items_read_dictionary(xlm_map_items *items, const char *path, const char *checkpoint, char *const *languages,
                                   int64_t max_pairs, GError **error)
{
    return xlm_files_is_hdf5(path) ? read_subwords(items, path, checkpoint, max_pairs, error)
                                   : read_words(items, path, languages, max_pairs, error);
}

/* ---- corpora ---- */

static bool has_letter(const char *word)
{
    for (; *word != '\0'; word = g_utf8_next_char(word))
        if (g_unichar_isalpha(g_utf8_get_char(word)))
            return true;
    return false;
}

static bool add_frequent(xlm_map_items *items, const xlm_corpus *corpus, const char *name, int64_t max_words, GError **error)
{
    g_autoptr(GArray) list = xlm_frequency_list_of(corpus, name, error);
    if (list == NULL)
        return false;
    const char *const *words = xlm_vocabulary_words(xlm_corpus_vocabulary(corpus));
    int64_t taken = 0;
    for (guint i = 0; i < list->len && taken < max_words; i++) {
        const int32_t id = g_array_index(list, xlm_frequency, i).id;
        if (!has_letter(words[id]))
            continue;
        g_array_append_val(items->subwords, id);
        add_item(items, (int32_t)items->languages->len, g_strdup(words[id]));
        taken++;
    }
    g_ptr_array_add(items->languages, g_strdup(name));
    return true;
}

bool xlm_map_items_read_words(xlm_map_items *items, const char *corpus, char *const *languages, int64_t max_words, GError **error)
{
    open_items(items, corpus, true);
    g_autoptr(xlm_corpus) c = xlm_corpus_open(corpus, error);
    if (c == NULL)
        return false;
    int n = 0;
    const xlm_corpus_text *texts = xlm_corpus_texts(c, XLM_TRAIN, &n);
    bool good = true;
    items->vocabulary = xlm_vocabulary_digest(xlm_corpus_vocabulary(c));
    for (int i = 0; good && languages != NULL && languages[i] != NULL; i++)
        good = add_frequent(items, c, languages[i], max_words, error);
    for (int i = 0; good && languages == NULL && i < n; i++)
        good = texts[i].tokens == 0 || add_frequent(items, c, texts[i].language, max_words, error);
    return good;
}

/* The pair of languages that is asked for, or the only one. */
static const xlm_corpus_pairs *choose_pairs(const xlm_corpus *c, const char *path, char *const *languages, GError **error)
{
    int n = 0;
    const xlm_corpus_pairs *all = xlm_corpus_all_pairs(c, XLM_HELD_OUT, &n);
    if (languages == NULL && n == 1)
        return all;
    g_autofree char *name = languages != NULL ? g_strjoin("-", languages[0], languages[1], NULL) : NULL;
    const xlm_corpus_pairs *found = name != NULL ? xlm_corpus_find_pairs(c, XLM_HELD_OUT, name, NULL) : NULL;
    if (found == NULL && name != NULL)
        xlm_error_set(error, EX_USAGE, "%s: has no held-out pairs of %s", path, name);
    else if (found == NULL)
        xlm_error_set(error, EX_USAGE, "%s: has %d pairs of languages; say --languages SOURCE,TARGET", path, n);
    return found;
}

/* Sentence number `sentence` of a text. */
static bool add_sentence(xlm_map_items *items, const xlm_corpus *c, const xlm_corpus_text *text, int64_t sentence, int side,
                         GError **error)
{
    const guint before = items->subwords->len;
    if (!xlm_corpus_read_sentence(c, text, sentence, items->subwords, error))
        return false;
    GString *label = g_string_new(NULL);
    xlm_vocabulary_decode(xlm_corpus_vocabulary(c), &g_array_index(items->subwords, int32_t, before),
                          items->subwords->len - before, label);
    add_item(items, side, g_string_free(label, FALSE));
    return true;
}

bool xlm_map_items_read_sentences(xlm_map_items *items, const char *corpus, char *const *languages, int64_t max_pairs,
                                  GError **error)
{
    open_items(items, corpus, true);
    items->sentences = true;
    g_autoptr(xlm_corpus) c = xlm_corpus_open(corpus, error);
    if (c == NULL)
        return false;
    items->vocabulary = xlm_vocabulary_digest(xlm_corpus_vocabulary(c));
    const xlm_corpus_pairs *pairs = choose_pairs(c, corpus, languages, error);
    bool good = pairs != NULL;
    const int64_t n = good ? (max_pairs > 0 ? MIN(max_pairs, pairs->pairs) : pairs->pairs) : 0;
    if (good && n == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: has no held-out pairs of %s", corpus, pairs->name);
    g_autofree int64_t *links = g_new(int64_t, MAX(2 * n, 1));
    good = good && xlm_corpus_read_links(c, pairs, 0, n, links, error);
    for (int s = 0; s < 2 && good; s++) {
        const xlm_corpus_text *text = s == 0 ? pairs->source : pairs->target;
        g_ptr_array_add(items->languages, g_strdup(text->language));
        for (int64_t i = 0; i < n && good; i++)
            good = add_sentence(items, c, text, links[2 * i + s], s, error);
    }
    for (int64_t i = 0; i < n && good; i++)
        add_link(items, i, n + i);
    return good;
}

/* ---- vectors ---- */

static bool check_vocabulary(const xlm_map_items *items, const xlm_loaded_model *loaded, const char *path, GError **error)
{
    return items->subwords == NULL || (loaded != NULL && xlm_vocabulary_digest(loaded->vocabulary) == items->vocabulary) ||
           xlm_error_set(error, EX_DATAERR, loaded != NULL ? "%s: was trained with other subwords than %s has"
                                                           : "%s: is a file of vectors, and %s is of subwords of a checkpoint; "
                                                             "give a dictionary of words as text", path, items->path);
}

/* Ids of the items' languages in a space; −1 for a language that it does not know and the user has not named. */
static bool find_languages(const xlm_map_items *items, const xlm_word_space *space, int *languages, GError **error)
{
    for (guint l = 0; l < items->languages->len; l++) {
        GError *unknown = NULL;
        if (xlm_word_space_language(space, items->languages->pdata[l], &languages[l], &unknown))
            continue;
        if (items->named) {
            g_propagate_error(error, unknown);
            return false;
        }
        g_error_free(unknown);
        languages[l] = -1;
    }
    return true;
}

static void make_word_vectors(const xlm_map_items *items, xlm_word_space *space, const int *languages, bool words_alone,
                              float *vectors, bool *covered)
{
    const int64_t n = items->labels->len, width = xlm_word_space_width(space);
    g_autofree int64_t *number = g_new(int64_t, MAX(n, 1));
    for (guint l = 0; l < items->languages->len; l++) {
        xlm_word_set set;
        xlm_word_set_open(&set, space, languages[l]);
        for (int64_t i = 0; i < n; i++) {
            if (g_array_index(items->language, int32_t, i) != (int32_t)l)
                continue;
            number[i] = items->subwords == NULL ? xlm_word_set_add(&set, items->labels->pdata[i])
                                                : xlm_word_set_add_row(&set, g_array_index(items->subwords, int32_t, i));
            covered[i] = covered[i] && number[i] >= 0;
        }
        if (words_alone)
            set.language = -1;
        g_autofree float *own = xlm_word_set_vectors(&set, 0, xlm_word_set_count(&set));
        for (int64_t i = 0; i < n; i++)
            if (g_array_index(items->language, int32_t, i) == (int32_t)l && number[i] >= 0)
                memcpy(vectors + i * width, own + number[i] * width, sizeof *vectors * (size_t)width);
        xlm_word_set_close(&set);
    }
}

/* Collective. The mean of the hidden states of each sentence's subwords, cut to the model's positions. */
static bool make_sentence_vectors(const xlm_comm *comm, const xlm_map_items *items, const xlm_loaded_model *loaded,
                                  const int *languages, int64_t layer, float *vectors, bool *covered, GError **error)
{
    xlm_examples *examples = xlm_examples_new(xlm_vocabulary_specials(loaded->vocabulary));
    const int64_t n = items->labels->len, max_length = loaded->config.positions - 2;
    int64_t first = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t end = g_array_index(items->ends, int64_t, i);
        const int32_t language = MAX(languages[g_array_index(items->language, int32_t, i)], 0);
        covered[i] = covered[i] && end > first;
        xlm_examples_add_sentence(examples, &g_array_index(items->subwords, int32_t, first), end - first, max_length, language);
        first = end;
    }
    const xlm_sentence_encoder encoder = {.comm = comm, .model = loaded->model, .tape = xlm_model_file_tape(loaded),
                                          .layer = layer, .pooling = XLM_POOL_MEAN, .progress = "encoding"};
    const bool good = xlm_sentence_vectors(&encoder, examples, vectors, error);
    xlm_tape_free(encoder.tape);
    xlm_examples_free(examples);
    return good;
}

static void divide_by_lengths(int64_t n, int64_t width, float *vectors)
{
    for (int64_t i = 0; i < n; i++) {
        const double length = xlm_vector_length(width, vectors + i * width);
        for (int64_t c = 0; c < width && length > 0; c++)
            vectors[i * width + c] = (float)((double)vectors[i * width + c] / length);
    }
}

bool xlm_map_items_vectors(const xlm_comm *comm, const xlm_map_items *items, const char *path, const xlm_map_vectors *how,
                           float **vectors, int64_t *width, bool *covered, int64_t *step, GError **error)
{
    GError *failure = NULL;
    g_autofree int *languages = g_new(int, items->languages->len);
    xlm_word_space *space = xlm_word_space_open(path, how->max_words, &failure);
    const xlm_loaded_model *loaded = space != NULL ? xlm_word_space_model(space) : NULL;
    if (space != NULL && check_vocabulary(items, loaded, path, &failure) &&
        find_languages(items, space, languages, &failure) && items->sentences)
        xlm_model_file_has_layer(loaded, path, how->layer, &failure);
    bool good = xlm_comm_agree_on(comm, failure, error);
    if (good) {
        *width = items->sentences ? loaded->config.hidden_size : xlm_word_space_width(space);
        *step = loaded != NULL ? loaded->step : 0;
        *vectors = g_new0(float, MAX(items->labels->len, 1u) * (gsize)*width);
        if (items->sentences)
            good = make_sentence_vectors(comm, items, loaded, languages, how->layer >= 0 ? how->layer : loaded->config.layers,
                                         *vectors, covered, error);
        else
            make_word_vectors(items, space, languages, how->words_alone, *vectors, covered);
        if (good && how->unit)
            divide_by_lengths(items->labels->len, *width, *vectors);
    }
    xlm_word_space_free(space);
    return good;
}

void xlm_map_items_keep(xlm_map_items *items, const bool *covered)
{
    const int64_t n = items->labels->len;
    g_autofree int64_t *number = g_new(int64_t, MAX(n, 1));
    int64_t kept = 0;
    GPtrArray *labels = g_ptr_array_new_with_free_func(g_free);
    GArray *links = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int64_t i = 0; i < n; i++) {
        number[i] = covered[i] ? kept : -1;
        if (!covered[i])
            continue;
        g_ptr_array_add(labels, g_strdup(items->labels->pdata[i]));
        g_array_index(items->language, int32_t, kept++) = g_array_index(items->language, int32_t, i);
    }
    g_array_set_size(items->language, (guint)kept);
    for (guint l = 0; l < items->links->len; l += 2) {
        const int64_t two[] = {number[g_array_index(items->links, int64_t, l)],
                               number[g_array_index(items->links, int64_t, l + 1)]};
        if (two[0] >= 0 && two[1] >= 0)
            g_array_append_vals(links, two, 2);
    }
    g_ptr_array_unref(items->labels);
    g_array_unref(items->links);
    items->labels = labels;
    items->links = links;
}
