/* xlm-mpi: vectors of words, of a model or of a file of vectors. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/word_space.h"

#include <string.h>

#include "files/files.h"
#include "subwords/tokenizer.h"
#include "vectors/named_vectors.h"
#include "vectors/vector_file.h"
#include "vectors/word_vectors.h"

struct xlm_word_space {
    char *path;
    xlm_loaded_model *loaded; /* NULL: a file */
    xlm_tokenizer *tokenizer;
    xlm_named_vectors *vectors; /* NULL: a model */
};

/* ---- the space ---- */

xlm_word_space *xlm_word_space_open(const char *path, int64_t max_words, GError **error)
{
    xlm_word_space *space = g_new0(xlm_word_space, 1);
    space->path = g_strdup(path);
    bool good;
    const bool directory = g_file_test(path, G_FILE_TEST_IS_DIR); /* reading it as a model says what to give instead */
    if (!directory && (!xlm_files_is_hdf5(path) || xlm_vector_store_is(path)))
        good = (space->vectors = xlm_named_vectors_read(path, max_words, error)) != NULL;
    else
        good = (space->loaded = xlm_model_file_read(path, error)) != NULL &&
               (space->tokenizer = xlm_tokenizer_new(space->loaded->vocabulary, error)) != NULL;
    if (!good)
        g_clear_pointer(&space, xlm_word_space_free);
    return space;
}

void xlm_word_space_free(xlm_word_space *space)
{
    if (space == NULL)
        return;
    xlm_tokenizer_free(space->tokenizer);
    xlm_model_file_free(space->loaded);
    xlm_named_vectors_free(space->vectors);
    g_free(space->path);
    g_free(space);
}

const char *xlm_word_space_path(const xlm_word_space *space) { return space->path; }

int64_t xlm_word_space_width(const xlm_word_space *space)
{
    return space->loaded != NULL ? space->loaded->config.embedding_size : space->vectors->width;
}

int64_t xlm_word_space_rows(const xlm_word_space *space)
{
    return space->loaded != NULL ? space->loaded->config.vocabulary : space->vectors->n;
}

const char *xlm_word_space_row_name(const xlm_word_space *space, int32_t row)
{
    return space->loaded != NULL ? xlm_vocabulary_words(space->loaded->vocabulary)[row] : space->vectors->names->pdata[row];
}

bool xlm_word_space_row_is_word(const xlm_word_space *space, int32_t row)
{
    return !xlm_is_row_name(xlm_word_space_row_name(space, row)) &&
           (space->loaded == NULL || xlm_is_text(xlm_vocabulary_specials(space->loaded->vocabulary), row));
}

const xlm_loaded_model *xlm_word_space_model(const xlm_word_space *space) { return space->loaded; }

bool xlm_word_space_language(const xlm_word_space *space, const char *name, int *language, GError **error)
{
    *language = -1;
    if (space->loaded == NULL || name == NULL)
        return true;
    *language = xlm_vocabulary_find_language(space->loaded->vocabulary, name);
    if (*language >= 0)
        return true;
    g_autofree char *all = g_strjoinv(", ", (char **)xlm_vocabulary_language_names(space->loaded->vocabulary));
    xlm_error_set(error, EX_USAGE, "%s: the model has no language \"%s\"; it has %s", space->path, name, all);
    return false;
}

/* ---- rows of a word ---- */

static bool find_subwords(const xlm_word_space *s, int language, const char *word, GArray *rows)
{
    const int32_t unknown = xlm_vocabulary_special(s->loaded->vocabulary, XLM_UNK);
    /* Like most words of a text, as if after another word. */
    if (!xlm_tokenizer_encode_word(s->tokenizer, language, true, word, strlen(word), rows, NULL, NULL))
        return false;
    for (guint i = 0; i < rows->len; i++)
        if (g_array_index(rows, int32_t, i) == unknown)
            return false;
    return rows->len > 0;
}

/* As it is written, or in lower case. */
static bool find_name(const xlm_word_space *s, const char *name, GArray *rows)
{
    int32_t row = (int32_t)xlm_named_vectors_find(s->vectors, name);
    if (row < 0) {
        g_autofree char *lower = g_utf8_strdown(name, -1);
        row = (int32_t)xlm_named_vectors_find(s->vectors, lower);
    }
    if (row >= 0)
        g_array_append_val(rows, row);
    return row >= 0;
}

static bool find_phrase(const xlm_word_space *s, const char *word, GArray *rows)
{
    if (*word == '\0')
        return false;
    if (find_name(s, word, rows))
        return true;
    if (strpbrk(word, " _") == NULL)
        return false;
    g_autofree char *joined = g_strdelimit(g_strdup(word), " ", '_');
    bool found = find_name(s, joined, rows);
    if (!found) {
        g_auto(GStrv) parts = g_strsplit(joined, "_", -1);
        found = true;
        for (int i = 0; parts[i] != NULL && found; i++)
            found = *parts[i] == '\0' || find_name(s, parts[i], rows);
        found = found && rows->len > 0;
    }
    return found;
}

/* NULL: not covered. g_bytes_unref. */
static GBytes *find_rows(const xlm_word_set *set, const char *word)
{
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(int32_t));
    const bool found = set->space->loaded != NULL ? find_subwords(set->space, set->language, word, rows)
                                                  : find_phrase(set->space, word, rows);
    return found ? g_bytes_new(rows->data, rows->len * sizeof(int32_t)) : NULL;
}

/* ---- sets ---- */

void xlm_word_set_open(xlm_word_set *set, xlm_word_space *space, int language)
{
    const int64_t zero = 0;
    *set = (xlm_word_set){
        .space = space, .language = language, .rows = g_array_new(FALSE, FALSE, sizeof(int32_t)),
        .offsets = g_array_new(FALSE, FALSE, sizeof(int64_t)),
        .numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL),
    };
    g_array_append_val(set->offsets, zero);
}

void xlm_word_set_close(xlm_word_set *set)
{
    if (set->rows == NULL)
        return;
    g_array_unref(set->rows);
    g_array_unref(set->offsets);
    g_hash_table_unref(set->numbers);
    *set = (xlm_word_set){0};
}

int64_t xlm_word_set_count(const xlm_word_set *set) { return (int64_t)set->offsets->len - 1; }

static int64_t number_of(const xlm_word_set *set, GBytes *bytes)
{
    return (int64_t)GPOINTER_TO_SIZE(g_hash_table_lookup(set->numbers, bytes)) - 1;
}

/* Takes bytes. */
static int64_t add_rows(xlm_word_set *set, GBytes *bytes)
{
    const int64_t number = number_of(set, bytes);
    if (number >= 0) {
        g_bytes_unref(bytes);
        return number;
    }
    gsize size;
    const int32_t *rows = g_bytes_get_data(bytes, &size);
    g_array_append_vals(set->rows, rows, (guint)(size / sizeof *rows));
    const int64_t end = set->rows->len;
    g_array_append_val(set->offsets, end);
    g_hash_table_insert(set->numbers, bytes, GSIZE_TO_POINTER((gsize)xlm_word_set_count(set)));
    return xlm_word_set_count(set) - 1;
}

int64_t xlm_word_set_add(xlm_word_set *set, const char *word)
{
    GBytes *bytes = find_rows(set, word);
    return bytes != NULL ? add_rows(set, bytes) : -1;
}

int64_t xlm_word_set_add_row(xlm_word_set *set, int32_t row) { return add_rows(set, g_bytes_new(&row, sizeof row)); }

int64_t xlm_word_set_find(const xlm_word_set *set, const char *word)
{
    GBytes *bytes = find_rows(set, word);
    const int64_t number = bytes != NULL ? number_of(set, bytes) : -1;
    g_clear_pointer(&bytes, g_bytes_unref);
    return number;
}

int64_t xlm_word_set_find_rows(const xlm_word_set *set, const xlm_word_set *other, int64_t number)
{
    const int64_t first = g_array_index(other->offsets, int64_t, number);
    const int64_t end = g_array_index(other->offsets, int64_t, number + 1);
    g_autoptr(GBytes) bytes = g_bytes_new(&g_array_index(other->rows, int32_t, first), (gsize)(end - first) * sizeof(int32_t));
    return number_of(set, bytes);
}

char *xlm_word_set_name(const xlm_word_set *set, int64_t number)
{
    const int64_t first = g_array_index(set->offsets, int64_t, number), end = g_array_index(set->offsets, int64_t, number + 1);
    const int32_t *rows = (const int32_t *)(const void *)set->rows->data;
    GString *name = g_string_new(NULL);
    if (set->space->loaded != NULL && end - first > 1)
        xlm_vocabulary_decode(set->space->loaded->vocabulary, rows + first, (size_t)(end - first), name);
    for (int64_t i = first; i < end && (set->space->loaded == NULL || end - first == 1); i++)
        g_string_append_printf(name, "%s%s", i > first ? " " : "", xlm_word_space_row_name(set->space, rows[i]));
    return g_string_free(name, FALSE);
}

float *xlm_word_set_vectors(const xlm_word_set *set, int64_t first, int64_t n)
{
    const xlm_word_space *s = set->space;
    const int64_t *offsets = &g_array_index(set->offsets, int64_t, first), width = xlm_word_space_width(s);
    const int32_t *rows = (const int32_t *)(const void *)set->rows->data;
    float *vectors = g_new(float, MAX(n * width, 1));
    if (s->loaded != NULL)
        xlm_word_vectors(&s->loaded->config, s->loaded->parameters, set->language, n, offsets, rows, vectors);
    else
        xlm_row_means(s->vectors->values, width, NULL, n, offsets, rows, vectors);
    return vectors;
}
