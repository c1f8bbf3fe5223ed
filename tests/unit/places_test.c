/* xlm-mpi: where in a text its subwords are, for all segmenters and scripts. SPDX-License-Identifier: GPL-3.0-or-later */
#include "places_fixture.h"

/* ---- the scripts ---- */

/* Bytes of the text in its form that a subword is. */
static size_t size_of(const xlm_vocabulary *v, form f, int32_t id, GString *spelled)
{
    const char *subword = xlm_vocabulary_words(v)[id];
    g_string_truncate(spelled, 0);
    if (f == BYTES) {
        const char *letters = subword + (g_str_has_prefix(subword, "\u0120") ? strlen("\u0120") : 0);
        return (size_t)g_utf8_strlen(letters, -1);
    }
    xlm_segmenter_spell(xlm_vocabulary_segmenter(v), subword, spelled);
    return spelled->len;
}

/* The places that the bytes of subwords have, against those given. */
static void check_places(const char *name, const xlm_vocabulary *v, form f, const char *text, const GArray *located)
{
    GString *all = g_string_new(NULL), *spelled = g_string_new(NULL);
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(span));
    read_form(f, text, all, spans);
    size_t at = 0;
    for (guint i = 0; i < located->len; i++) {
        const xlm_located_subword *s = &g_array_index(located, xlm_located_subword, i);
        if (s->id == xlm_vocabulary_special(v, XLM_UNK))
            fail_msg("%s: \"%s\": a subword is unknown", name, text);
        const size_t n = size_of(v, f, s->id, spelled);
        assert_true(s->start <= s->end && at + n <= all->len);
        if (f != BYTES && memcmp(all->str + at, spelled->str, n) != 0)
            fail_msg("%s: \"%s\": %s is not at \"%s\"", name, text, spelled->str, all->str + at);
        const span *first = &g_array_index(spans, span, at), *last = n > 0 ? first + n - 1 : first;
        if (n == 0 ? s->start != s->end : s->start != first->start || s->end != last->end)
            fail_msg("%s: \"%s\": subword %u, %s, is \"%.*s\" and not \"%.*s\"", name, text, i, xlm_vocabulary_words(v)[s->id],
                     (int)(s->end - s->start), text + s->start, (int)(last->end - first->start), text + first->start);
        at += n;
    }
    assert_int_equal(at, all->len);
    g_array_unref(spans);
    g_string_free(all, TRUE);
    g_string_free(spelled, TRUE);
}

/* An answer of whole words is all the text of the subwords that it has a part in. */
static void check_answers(const char *name, size_t sample, const GArray *located)
{
    const char *text = samples[sample].text;
    for (size_t a = 0; a < G_N_ELEMENTS(samples[sample].answers); a++) {
        const char *answer = samples[sample].answers[a], *at = strstr(text, answer);
        assert_non_null(at);
        const size_t start = (size_t)(at - text), end = start + strlen(answer);
        size_t from = SIZE_MAX, to = 0;
        for (guint i = 0; i < located->len; i++) {
            const xlm_located_subword *s = &g_array_index(located, xlm_located_subword, i);
            if (s->end > start && s->start < end) {
                from = MIN(from, s->start);
                to = MAX(to, s->end);
            }
        }
        if (from != start || to != end)
            fail_msg("%s: \"%s\" becomes \"%.*s\"", name, answer, (int)(to - from), text + from);
    }
}

static void check_samples(const known_segmenter *s, const xlm_vocabulary *v, xlm_tokenizer *t, const void *data)
{
    (void)data;
    for (size_t k = 0; k < G_N_ELEMENTS(samples); k++) {
        GArray *located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword));
        const char *text = samples[k].text;
        assert_true(xlm_tokenizer_locate(t, -1, text, strlen(text), located, NULL));
        check_places(s->name, v, s->form, text, located);
        if (s->form != FORM_KC && s->form != ALBERT) /* whose pieces may go on beyond an answer */
            check_answers(s->name, k, located);
        g_array_unref(located);
    }
}

static void test_scripts(void **state)
{
    (void)state;
    check_segmenters(check_samples, NULL);
}

/* ---- by hand ---- */

/* The parts of a text that are its subwords, separated by "|". */
static void assert_places(xlm_vocabulary *(*make)(void), const char *text, const char *expected)
{
    xlm_vocabulary *v = make();
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword));
    GString *out = g_string_new(NULL);
    assert_true(xlm_tokenizer_locate(t, -1, text, strlen(text), located, NULL));
    for (guint i = 0; i < located->len; i++) {
        const xlm_located_subword *s = &g_array_index(located, xlm_located_subword, i);
        g_string_append_printf(out, "%s%.*s", i > 0 ? "|" : "", (int)(s->end - s->start), text + s->start);
    }
    assert_string_equal(out->str, expected);
    g_string_free(out, TRUE);
    g_array_unref(located);
    xlm_tokenizer_free(t);
    xlm_vocabulary_free(v);
}

static void test_by_hand(void **state)
{
    (void)state;
    assert_places(make_gpt2, "The Panthers defense gave up", "T|h|e|P|an|t|h|e|r|s|de|f|e|n|s|e|ga|v|e||u|p");
    assert_places(make_roberta, "Panther", "P|an|t|h|e|r");
    assert_places(make_gpt2, "\u00f1\u00bd x", "\u00f1|\u00bd||x");
    assert_places(make_gpt2, "\u0e17", "\u0e17|\u0e17"); /* three bytes, two of them merged */
    assert_places(make_gpt2, "a  b\n c\n", "a|||b|||c");
    assert_places(make_gpt2, "\u00a0a", "||a");
    assert_places(make_wordpiece, "Panther co\u0301 \u0130", "Pan|ther|c|o\u0301|\u0130");
    assert_places(make_wordpiece, "o\u0301\u0302o \u0301a", "o\u0301\u0302|o|a"); /* a mark after a space is of no letter */
    assert_places(make_wordpiece, "a\u2603b c", "a\u2603b|c");                    /* a word is unknown whole */
    assert_places(make_xlm, "THE \u0e2a\u0e35\u0e48", "THE|\u0e2a\u0e35\u0e48");
    assert_places(make_xlm, "a\u2603c\u2026", "a|\u2603|c|\u2026|\u2026|\u2026");
    assert_places(make_xlm, "a \"the\", an", "a|\"|the|,|\"|a|n"); /* of `",` the comma goes first */
    assert_places(make_bpe, "The a\u2603", "The|a|\u2603");
}

/* ---- any text ---- */

/* Places rise, but where XLM exchanges marks, lie in the text and begin and end with characters, and ids are those without
 * places. */
static void check_any(const char *name, form f, xlm_tokenizer *t, const GString *text)
{
    GArray *located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword)), *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    assert_true(xlm_tokenizer_encode(t, -1, text->str, text->len, ids, NULL, NULL));
    assert_true(xlm_tokenizer_locate(t, -1, text->str, text->len, located, NULL));
    assert_int_equal(located->len, ids->len);
    for (guint i = 0; i < located->len; i++) {
        const xlm_located_subword *s = &g_array_index(located, xlm_located_subword, i);
        assert_int_equal(s->id, g_array_index(ids, int32_t, i));
        if (s->start > s->end || s->end > text->len || (f != MOSES && i > 0 && s[-1].start > s->start) ||
            (text->str[s->start] & 0xC0) == 0x80 || (text->str[s->end] & 0xC0) == 0x80)
            fail_msg("%s: \"%s\": subword %u is at [%u, %u)", name, text->str, i, s->start, s->end);
    }
    g_array_unref(located);
    g_array_unref(ids);
}

static void check_random_texts(const known_segmenter *s, const xlm_vocabulary *v, xlm_tokenizer *t, const void *data)
{
    (void)v;
    (void)data;
    static const char *const parts[] = {"a",      "The",    " ",      "  ",     "\n",     "\u0301", "\u00bd", "\u0e33", "\u2026",
                                        "\u200b", "\u2603", "\u2581", "\u00a8", "2,",     "\u3000", "\u0130", "\"",     "``",
                                        "\uff0c", "<unk>",  "@@",     "</w>",   "##",     "\u0120", "\u00e0", "\U0001f600"};
    const uint32_t test = (uint32_t)(s - segmenters);
    for (uint32_t trial = 0, k = 0; trial < 300; trial++) {
        GString *text = text_make_word(test, &k, parts, G_N_ELEMENTS(parts), 12);
        check_any(s->name, s->form, t, text);
        g_string_append_len(text, "\0b", 2);
        check_any(s->name, s->form, t, text);
        g_string_free(text, TRUE);
    }
}

static void test_any_text(void **state)
{
    (void)state;
    check_segmenters(check_random_texts, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
