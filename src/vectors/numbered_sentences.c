/* xlm-mpi: sentences with ids, and which of them are translations: BUCC's files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "vectors/numbered_sentences.h"

#include <string.h>

#include "base/error.h"
#include "base/progress.h"
#include "files/path.h"
#include "text/lines.h"

/* Where the second field of a line begins; NULL: there is no tab after a first one. */
static const char *second_field(const char *line, size_t length)
{
    const char *tab = length > 0 ? memchr(line, '\t', length) : NULL;
    return tab != NULL && tab > line ? tab + 1 : NULL;
}

/* Texts, GBytes: number among the different sentences + 1. */
typedef struct text_index {
    GHashTable *whole, *stripped;
} text_index;

static bool is_space(gunichar c)
{
    return g_unichar_isspace(c) || c == 0x0b || (c >= 0x1c && c <= 0x1f) || c == 0x85;
}

/* Without white space at its ends; text: UTF-8. */
static GBytes *strip(const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end && is_space(g_utf8_get_char(text)))
        text = g_utf8_next_char(text);
    for (const char *last; text < end && is_space(g_utf8_get_char(last = g_utf8_prev_char(end)));)
        end = last;
    return g_bytes_new(text, (gsize)(end - text));
}

/* The number of `text` in the table; `number` if it is new. Takes ownership of text. */
static guint find_or_add(GHashTable *table, GBytes *text, guint number)
{
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(table, text));
    if (before > 0)
        g_bytes_unref(text);
    else
        g_hash_table_insert(table, text, GUINT_TO_POINTER(number));
    return before > 0 ? before : number;
}

/* The last sentence, whose text is UTF-8. */
static void compare_text(xlm_numbered_sentences *s, const text_index *texts, const char *text, size_t length)
{
    const gboolean no = FALSE;
    const int64_t place = (int64_t)s->ids->len - 1;
    const guint number = find_or_add(texts->whole, g_bytes_new(text, length), s->distinct->len + 1);
    const bool new = number > s->distinct->len;
    if (new) {
        g_array_append_val(s->distinct, place);
        g_array_append_val(s->repeated, no);
    }
    const guint like = find_or_add(texts->stripped, strip(text, length), number);
    if (!new || like != number)
        g_array_index(s->repeated, gboolean, number - 1) = g_array_index(s->repeated, gboolean, like - 1) = TRUE;
}

static bool add_sentence(xlm_numbered_sentences *s, const text_index *texts, const xlm_lines *lines, const char *line,
                         size_t length, xlm_tokenizer *tokenizer, int language, GError **error)
{
    const char *sentence = second_field(line, length);
    if (sentence == NULL)
        return XLM_LINES_REFUSE(lines, error, "a line must have the form id<tab>sentence");
    if (!g_utf8_validate(line, sentence - 1 - line, NULL))
        return XLM_LINES_REFUSE(lines, error, "the id is not UTF-8");
    char *id = g_strndup(line, (gsize)(sentence - 1 - line));
    g_ptr_array_add(s->ids, id);
    const int before = GPOINTER_TO_INT(g_hash_table_lookup(s->numbers, id));
    if (before > 0)
        return XLM_LINES_REFUSE(lines, error, "the id \"%s\" is in line %d already", id, before);
    g_hash_table_insert(s->numbers, id, GINT_TO_POINTER((int)s->ids->len));
    g_autoptr(GError) why = NULL;
    if (!xlm_tokenizer_encode(tokenizer, language, sentence, length - (size_t)(sentence - line), s->subwords, NULL, &why)) {
        return XLM_LINES_REFUSE(lines, error, "%s", why->message);
    }
    const int64_t end = s->subwords->len;
    g_array_append_val(s->ends, end);
    compare_text(s, texts, sentence, length - (size_t)(sentence - line));
    return true;
}

xlm_numbered_sentences *xlm_numbered_sentences_read(const char *path, xlm_tokenizer *tokenizer, int language, GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return NULL;
    xlm_numbered_sentences *s = g_new(xlm_numbered_sentences, 1);
    *s = (xlm_numbered_sentences){
        .ids = g_ptr_array_new_with_free_func(g_free), .numbers = g_hash_table_new(g_str_hash, g_str_equal),
        .subwords = g_array_new(FALSE, FALSE, sizeof(int32_t)), .ends = g_array_new(FALSE, FALSE, sizeof(int64_t)),
        .distinct = g_array_new(FALSE, FALSE, sizeof(int64_t)), .repeated = g_array_new(FALSE, FALSE, sizeof(gboolean)),
    };
    const text_index texts = {g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL),
                              g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL)};
    const char *line;
    size_t length;
    int more = 0;
    bool good = true;
    xlm_progress progress = xlm_progress_begin("reading sentences", (double)xlm_path_bytes(path), "B");
    while (good && (more = xlm_lines_next(lines, &line, &length, error)) > 0) {
        good = add_sentence(s, &texts, lines, line, length, tokenizer, language, error);
        xlm_progress_show(&progress, (double)xlm_lines_position(lines));
    }
    xlm_progress_end(&progress);
    good = good && more == 0;
    if (good && s->ids->len == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: there is no sentence", path);
    if (!good)
        g_clear_pointer(&s, xlm_numbered_sentences_free);
    g_hash_table_unref(texts.whole);
    g_hash_table_unref(texts.stripped);
    return s;
}

void xlm_numbered_sentences_free(xlm_numbered_sentences *sentences)
{
    if (sentences == NULL)
        return;
    g_hash_table_unref(sentences->numbers);
    g_ptr_array_unref(sentences->ids);
    g_array_unref(sentences->subwords);
    g_array_unref(sentences->ends);
    g_array_unref(sentences->distinct);
    g_array_unref(sentences->repeated);
    g_free(sentences);
}

int64_t xlm_numbered_sentences_count(const xlm_numbered_sentences *sentences) { return sentences->ids->len; }

int64_t xlm_numbered_sentences_repeated(const xlm_numbered_sentences *sentences)
{
    int64_t n = 0;
    for (guint i = 0; i < sentences->repeated->len; i++)
        n += g_array_index(sentences->repeated, gboolean, i);
    return n;
}

/* The place of an id; -1 with an error. */
static int64_t find(const xlm_lines *lines, xlm_numbered_sentences *const sides[2], int side, const char *id, GError **error)
{
    static const char *const names[] = {"source", "target"};
    const int number = GPOINTER_TO_INT(g_hash_table_lookup(sides[side]->numbers, id));
    if (number > 0)
        return number - 1;
    const bool other = g_hash_table_contains(sides[!side]->numbers, id);
    XLM_LINES_REFUSE(lines, error, "there is no %s sentence \"%s\"%s%s%s", names[side], id, other ? "; it is a " : "",
           other ? names[!side] : "", other ? " sentence" : "");
    return -1;
}

static int64_t *pair_key(int64_t source, int64_t target, int64_t targets)
{
    int64_t *key = g_new(int64_t, 1);
    *key = source * targets + target;
    return key;
}

static bool add_pair(GHashTable *pairs, xlm_numbered_sentences *const sides[2], const xlm_lines *lines, const char *line,
                     size_t length, GError **error)
{
    const char *second = second_field(line, length);
    const size_t rest = second != NULL ? length - (size_t)(second - line) : 0;
    if (rest == 0 || memchr(second, '\t', rest) != NULL || memchr(line, '\0', length) != NULL)
        return XLM_LINES_REFUSE(lines, error, "a line must have the form source id<tab>target id");
    g_autofree char *first = g_strndup(line, (gsize)(second - 1 - line)), *other = g_strndup(second, rest);
    const int64_t source = find(lines, sides, 0, first, error);
    const int64_t target = source >= 0 ? find(lines, sides, 1, other, error) : -1;
    return target >= 0 && (g_hash_table_add(pairs, pair_key(source, target, xlm_numbered_sentences_count(sides[1]))) ||
                           XLM_LINES_REFUSE(lines, error, "the pair of \"%s\" and \"%s\" occurs there twice", first, other));
}

GHashTable *xlm_numbered_pairs_read(const char *path, xlm_numbered_sentences *const sides[2], GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return NULL;
    GHashTable *pairs = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    const char *line;
    size_t length;
    int more = 0;
    bool good = true;
    while (good && (more = xlm_lines_next(lines, &line, &length, error)) > 0)
        good = add_pair(pairs, sides, lines, line, length, error);
    good = good && more == 0;
    if (good && g_hash_table_size(pairs) == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: there is no pair", path);
    if (!good)
        g_clear_pointer(&pairs, g_hash_table_unref);
    return pairs;
}

bool xlm_numbered_pairs_have(GHashTable *pairs, int64_t source, int64_t target, int64_t targets)
{
    const int64_t key = source * targets + target;
    return g_hash_table_contains(pairs, &key);
}
