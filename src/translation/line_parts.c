/* xlm-mpi: lines of text as sentences that a model can encode. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation/line_parts.h"

xlm_line_parts *xlm_line_parts_new(bool words)
{
    xlm_line_parts *p = g_new0(xlm_line_parts, 1);
    p->ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    p->offsets = g_array_new(FALSE, FALSE, sizeof(int64_t));
    p->first = g_array_new(FALSE, FALSE, sizeof(int64_t));
    if (words)
        p->words = g_array_new(FALSE, FALSE, sizeof(int32_t));
    xlm_line_parts_reset(p);
    return p;
}

void xlm_line_parts_reset(xlm_line_parts *p)
{
    const int64_t zero = 0;
    g_array_set_size(p->ids, 0);
    g_array_set_size(p->offsets, 0);
    g_array_set_size(p->first, 0);
    g_array_append_val(p->offsets, zero);
    g_array_append_val(p->first, zero);
    if (p->words != NULL)
        g_array_set_size(p->words, 0);
    p->divided = 0;
}

void xlm_line_parts_free(xlm_line_parts *p)
{
    if (p == NULL)
        return;
    g_array_unref(p->ids);
    g_array_unref(p->offsets);
    g_array_unref(p->first);
    if (p->words != NULL)
        g_array_unref(p->words);
    g_free(p);
}

/* A line that is being added. */
struct adding {
    xlm_line_parts *parts;
    const xlm_line_encoder *encoder;
    const char *line;
    size_t size;
    GArray *starts; /* size_t: the first byte of each word; NULL: words do not matter */
};

/* ---- words between blanks ---- */

static void find_words(struct adding *a)
{
    const char *word;
    size_t at = 0, size;
    a->starts = g_array_new(FALSE, FALSE, sizeof(size_t));
    while ((size = xlm_word_between_blanks(a->line, a->size, &at, &word)) > 0) {
        const size_t start = (size_t)(word - a->line);
        g_array_append_val(a->starts, start);
    }
}

/* The number of the word that a byte of the line is in, or of the one after it. */
static int32_t word_at(const struct adding *a, size_t byte)
{
    guint low = 0, high = a->starts->len; /* words before low begin at the byte or before it, those from high on after it */
    while (low < high) {
        const guint middle = (low + high) / 2;
        if (g_array_index(a->starts, size_t, middle) <= byte)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)MAX(low, 1) - 1;
}

/* ---- ids ---- */

/* Append the ids of a part of the line, and their words. */
static bool encode(const struct adding *a, size_t start, size_t size, GError **error)
{
    xlm_line_parts *p = a->parts;
    const xlm_line_encoder *e = a->encoder;
    if (a->starts == NULL)
        return xlm_tokenizer_encode(e->tokenizer, e->language, a->line + start, size, p->ids, NULL, error);
    g_autoptr(GArray) located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword));
    if (!xlm_tokenizer_locate(e->tokenizer, e->language, a->line + start, size, located, error))
        return false;
    if (located->len > 0)
        xlm_tokenizer_begin(e->tokenizer, e->language, p->ids);
    while (p->words->len < p->ids->len) {
        const int32_t first = word_at(a, start);
        g_array_append_val(p->words, first);
    }
    for (guint i = 0; i < located->len; i++) {
        const xlm_located_subword *s = &g_array_index(located, xlm_located_subword, i);
        const int32_t word = word_at(a, start + s->start);
        g_array_append_val(p->ids, s->id);
        g_array_append_val(p->words, word);
    }
    return true;
}

static void drop_ids(xlm_line_parts *p, int64_t from)
{
    g_array_set_size(p->ids, (guint)from);
    if (p->words != NULL)
        g_array_set_size(p->words, (guint)from);
}

static void end_part(xlm_line_parts *p, int64_t end)
{
    if (end > g_array_index(p->offsets, int64_t, p->offsets->len - 1))
        g_array_append_val(p->offsets, end);
}

/* Put the token of the language before the id at `at`, as of its word. */
static void begin_part(xlm_line_parts *p, int64_t at, int32_t token)
{
    g_array_insert_val(p->ids, (guint)at, token);
    if (p->words != NULL) {
        const int32_t word = g_array_index(p->words, int32_t, at);
        g_array_insert_val(p->words, (guint)at, word);
    }
}

/* Divide the ids from `from` on between words, and a word that is too long where that is. */
static void cut(const struct adding *a, int64_t from)
{
    xlm_line_parts *p = a->parts;
    const xlm_vocabulary *vocabulary = xlm_tokenizer_vocabulary(a->encoder->tokenizer);
    const int64_t longest = a->encoder->longest;
    const int32_t token = xlm_language_token(xlm_vocabulary_specials(vocabulary), a->encoder->language);
    while (p->ids->len - from > longest) {
        const int32_t *ids = (const int32_t *)(const void *)p->ids->data;
        const int64_t words = from + (token >= 0); /* the first one after the token of the language */
        int64_t at = from + longest;
        while (at > words && xlm_vocabulary_joins(vocabulary, ids[at - 1], ids[at]))
            at--;
        from = at > words ? at : from + longest;
        end_part(p, from);
        if (token >= 0)
            begin_part(p, from, token);
    }
    end_part(p, p->ids->len);
}

static bool refuse(const struct adding *a, int64_t ids, const char *what, const char *remedy, GError **error)
{
    return xlm_error_set(error, EX_DATAERR, "%s of %" G_GINT64_FORMAT " subwords is too long for the model, which takes %"
                         G_GINT64_FORMAT "; %s", what, ids, a->encoder->longest, remedy);
}

static bool divide(const struct adding *a, GError **error)
{
    xlm_line_parts *p = a->parts;
    const xlm_line_encoder *e = a->encoder;
    size_t n;
    const xlm_word *sentence = xlm_sentence_splitter_split(e->sentences, a->line, a->size, &n, error);
    for (size_t i = 0; i < n; i++) {
        const int64_t from = p->ids->len;
        if (!encode(a, sentence[i].start, sentence[i].size, error))
            return false;
        const int64_t ids = p->ids->len - from;
        if (ids > e->longest && e->long_lines != XLM_LONG_CUT)
            return refuse(a, ids, "a sentence", "shorten it, or have long sentences cut", error);
        cut(a, from);
    }
    p->divided++;
    return sentence != NULL;
}

bool xlm_line_parts_add(xlm_line_parts *p, const xlm_line_encoder *encoder, const char *line, size_t size, GError **error)
{
    struct adding a = {.parts = p, .encoder = encoder, .line = line, .size = size};
    const int64_t from = p->ids->len;
    if (p->words != NULL)
        find_words(&a);
    bool good = encode(&a, 0, size, error);
    const int64_t ids = p->ids->len - from;
    if (good && ids > encoder->longest && encoder->long_lines == XLM_LONG_REFUSE) {
        good = refuse(&a, ids, "a line", "shorten it, or have long lines divided", error);
    } else if (good && ids > encoder->longest) {
        drop_ids(p, from);
        good = divide(&a, error);
    } else if (good) {
        end_part(p, p->ids->len);
    }
    const int64_t parts = (int64_t)p->offsets->len - 1;
    g_array_append_val(p->first, parts);
    if (a.starts != NULL)
        g_array_unref(a.starts);
    return good;
}
