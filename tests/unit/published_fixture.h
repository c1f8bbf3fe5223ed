/* xlm-mpi: what tests of published tokenizers share. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_PUBLISHED_FIXTURE_H
#define XLM_TESTS_PUBLISHED_FIXTURE_H

#include "text_fixture.h"

#include "subwords/published.h"
#include "subwords/tokenizer.h"

/* Files in memory: name, text, name, text, ..., NULL. */
static inline xlm_tokenizer_files *files_of(GError **error, ...)
{
    const char *names[8], *bytes[8];
    size_t sizes[8], n = 0;
    va_list texts;
    va_start(texts, error);
    for (const char *name; (name = va_arg(texts, const char *)) != NULL; n++) {
        names[n] = name;
        bytes[n] = va_arg(texts, const char *);
        sizes[n] = strlen(bytes[n]);
    }
    va_end(texts);
    return xlm_tokenizer_files_new("dir", n, names, bytes, sizes, error);
}

#define READ(ERROR, ...) read_all(files_of(ERROR, __VA_ARGS__, NULL), ERROR)

static inline xlm_vocabulary *read_all(xlm_tokenizer_files *files, GError **error)
{
    xlm_vocabulary *v = files != NULL ? xlm_published_vocabulary(files, NULL, error) : NULL;
    xlm_tokenizer_files_free(files);
    return v;
}

#define REFUSED(MESSAGE, ...)                                                                                                   \
    do {                                                                                                                        \
        GError *why = NULL;                                                                                                     \
        assert_null(READ(&why, __VA_ARGS__));                                                                                   \
        assert_non_null(why);                                                                                                   \
        assert_int_equal(why->code, EX_DATAERR);                                                                                \
        if (strstr(why->message, MESSAGE) == NULL)                                                                              \
            fail_msg("%s", why->message);                                                                                       \
        g_error_free(why);                                                                                                      \
    } while (0)

/* The subwords of a line, and its words. */
static inline void assert_line(const xlm_vocabulary *v, const char *line, const char *subwords, const char *decoded)
{
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GString *out = g_string_new(NULL);
    assert_true(xlm_tokenizer_encode(t, -1, line, strlen(line), ids, NULL, NULL));
    for (guint i = 0; i < ids->len; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? " " : "", xlm_vocabulary_words(v)[g_array_index(ids, int32_t, i)]);
    assert_string_equal(out->str, subwords);
    g_string_truncate(out, 0);
    xlm_vocabulary_decode(v, (const int32_t *)(void *)ids->data, ids->len, out);
    if (decoded != NULL)
        assert_string_equal(out->str, decoded);
    g_string_free(out, TRUE);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
}

/* The subwords of a word that is given singly. */
static inline void assert_word(const xlm_vocabulary *v, bool inside, const char *word, const char *subwords)
{
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GString *out = g_string_new(NULL);
    assert_true(xlm_tokenizer_encode_word(t, -1, inside, word, strlen(word), ids, NULL, NULL));
    for (guint i = 0; i < ids->len; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? " " : "", xlm_vocabulary_words(v)[g_array_index(ids, int32_t, i)]);
    assert_string_equal(out->str, subwords);
    g_string_free(out, TRUE);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
}

/* The parts of a text that are its subwords, separated by "|". */
static inline void assert_places(const xlm_vocabulary *v, const char *text, const char *places)
{
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword)), *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GString *out = g_string_new(NULL);
    assert_true(xlm_tokenizer_encode(t, -1, text, strlen(text), ids, NULL, NULL));
    assert_true(xlm_tokenizer_locate(t, -1, text, strlen(text), located, NULL));
    assert_int_equal(located->len, ids->len);
    for (guint i = 0; i < located->len; i++) {
        const xlm_located_subword *s = &g_array_index(located, xlm_located_subword, i);
        assert_int_equal(s->id, g_array_index(ids, int32_t, i));
        g_string_append_printf(out, "%s%.*s", i > 0 ? "|" : "", (int)(s->end - s->start), text + s->start);
    }
    assert_string_equal(out->str, places);
    g_string_free(out, TRUE);
    g_array_free(located, TRUE);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
}

static inline void assert_specials(const xlm_vocabulary *v, int bos, int pad, int eos, int unk, int mask)
{
    const int expected[] = {bos, pad, eos, unk, mask};
    for (xlm_special s = 0; s < XLM_SPECIAL_TOKENS; s++)
        assert_int_equal(xlm_vocabulary_special(v, s), expected[s]);
}

/* The words that a line is brought into. */
static inline void assert_words(const xlm_vocabulary *v, const char *line, const char *words)
{
    xlm_normaliser *n = xlm_segmenter_normaliser(xlm_vocabulary_segmenter(v), false, NULL);
    const char *normal;
    size_t size;
    assert_true(xlm_normaliser_run(n, line, strlen(line), &normal, &size, NULL));
    assert_string_equal(normal, words);
    assert_int_equal(size, strlen(words));
    xlm_normaliser_free(n);
}

#endif
