/* xlm-mpi: where in a text subwords stand, for all segmenters and the scripts of XQuAD. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Known answers come from elsewhere than the code: by hand, or from GLib's tables of Unicode. Each cluster of a text (a character
 * and the marks behind it) is brought into the segmenter's form by itself, so each byte of all that the segmenter can have seen is
 * of a known cluster; the bytes of a subword are counted off. */
#include "files_fixture.h"
#include "text_fixture.h"

#include <jansson.h>

#include "base/options.h"
#include "subwords/published.h"
#include "subwords/sentencepiece.h"
#include "subwords/tokenizer.h"
#include "tasks/task.h"
#include "tasks/tune_job.h"

typedef struct span {
    size_t start, end;
} span;

/* ---- texts ---- */

/* In XQuAD's nine scripts, of its languages but Romanian, with characters that segmenters change: a half, full-width marks, Thai
 * SARA AM, letters with marks in one character and in two, a nukta, ligatures, words without spaces. */
static const struct {
    const char *language, *text, *answers[3];
} samples[] = {
    {"en", "The Panthers' defense gave up just 308 points, \u00bd of 7\u2044\u2088 in 2015\u2026 (Ca\ufb01e\u0301 Nun\u0303ez)",
     {"Panthers", "308", "Ca\ufb01e\u0301 Nun\u0303ez"}},
    {"de", "Die Stra\u00dfe f\u00fchrt u\u0308ber M\u00fcnchen, 3\u00bc km weit; GRO\u00df & \u00c4hnlich",
     {"f\u00fchrt u\u0308ber M\u00fcnchen", "3\u00bc km", "Stra\u00dfe"}},
    {"es", "\u00bfQui\u00e9n gan\u00f3 la Copa del an\u0303o 2\u00aa en Espa\u00f1a?", {"Copa", "an\u0303o", "Espa\u00f1a"}},
    {"tr", "\u0130stanbul'da I\u015f\u0131k ve g\u00fcne\u015f, \u00c7e\u015fme 12\u00b2 km",
     {"I\u015f\u0131k", "12\u00b2", "\u00c7e\u015fme"}},
    {"vi", "Tr\u01b0\u1eddng \u0110\u1ea1i h\u1ecdc Vi\u1ec7t Nam co\u0301 nha\u0300 o\u031b\u0309 \u0111o\u0301",
     {"\u0110\u1ea1i h\u1ecdc", "o\u031b\u0309", "nha\u0300"}},
    {"el", "\u0397 \u0391\u03b8\u03ae\u03bd\u03b1 \u03b5\u03af\u03bd\u03b1\u03b9 \u03c0\u03c1\u03c9\u03c4\u03b5\u03c5\u03bf\u03c5"
           "\u0301\u03c3\u03b1 \u03a4\u039f\u03a5 \u1f00\u03bd\u03b4\u03c1\u03cc\u03c2",
     {"\u0391\u03b8\u03ae\u03bd\u03b1", "\u03c0\u03c1\u03c9\u03c4\u03b5\u03c5\u03bf\u03c5\u0301\u03c3\u03b1",
      "\u03a4\u039f\u03a5"}},
    {"ru", "\u041c\u043e\u0441\u043a\u0432\u0430 \u2014 \u0441\u0442\u043e\u043b\u0438\u0446\u0430, \u0451\u0436 \u0438 "
           "\u0438\u0306\u043e\u0434 \u21165 \u2026 \u0433\u043e\u0440\u043e\u0434",
     {"\u041c\u043e\u0441\u043a\u0432\u0430", "\u0438\u0306\u043e\u0434", "\u0433\u043e\u0440\u043e\u0434"}},
    {"ar", "\u0627\u0644\u0642\u0627\u0647\u0631\u0629 \u0639\u0627\u0635\u0650\u0645\u064e\u0629 \u0645\u0635\u0631\u060c "
           "\u0623\u064e\u0643\u0652\u0628\u064e\u0631 \ufedf\ufe8e \u0662\u0660\u0661\u0665",
     {"\u0627\u0644\u0642\u0627\u0647\u0631\u0629", "\u0623\u064e\u0643\u0652\u0628\u064e\u0631", "\ufedf\ufe8e"}},
    {"hi", "\u0915\u093e\u0909\u0902\u091f\u093f\u092f\u094b\u0902 \u0911\u095e \u0938\u095c\u0915 \u0915\u094d\u0937\u0947"
           "\u0924\u094d\u0930 \u0967\u0968\u0964",
     {"\u0915\u093e\u0909\u0902\u091f\u093f\u092f\u094b\u0902", "\u0938\u095c\u0915", "\u0915\u094d\u0937\u0947\u0924\u094d\u0930"}},
    {"th", "\u0e19\u0e49\u0e33\u0e15\u0e01 \u0e17\u0e33\u0e07\u0e32\u0e19 \u0e2a\u0e35\u0e48 \u0e08\u0e31\u0e07\u0e2b\u0e27\u0e31"
           "\u0e14 2,700 \u0e44\u0e21\u0e25\u0e4c",
     {"\u0e19\u0e49\u0e33\u0e15\u0e01", "\u0e2a\u0e35\u0e48", "\u0e44\u0e21\u0e25\u0e4c"}},
    {"zh", "\u7b2c\uff11\u540d\uff1a\u5317\u4eac\uff08\u9996\u90fd\uff09\uff0c\u6709\u00bd\u7684\u4eba\u53e3\u2026\u5728\u57ce"
           "\u91cc\u3002",
     {"\u5317\u4eac", "\u9996\u90fd", "\u00bd"}},
};

/* ---- forms of text, by GLib ---- */

typedef enum { BYTES, FORM_C, STRIPPED, MOSES, FORM_KC, ALBERT } form;

static char *normalise(char *text, GNormalizeMode mode)
{
    char *made = g_utf8_normalize(text, -1, mode);
    g_free(text);
    return made;
}

static char *lower(char *text)
{
    char *made = g_utf8_strdown(text, -1);
    g_free(text);
    return made;
}

/* Without the marks: of the category Mn, or those that are combined with another character. */
static char *strip(char *text, bool combined)
{
    GString *out = g_string_new(NULL);
    for (const char *at = text; *at != '\0'; at = g_utf8_next_char(at)) {
        const gunichar c = g_utf8_get_char(at);
        if (combined ? g_unichar_combining_class(c) == 0 : g_unichar_type(c) != G_UNICODE_NON_SPACING_MARK)
            g_string_append_unichar(out, c);
    }
    g_free(text);
    return g_string_free(out, FALSE);
}

/* Moses' marks, as far as the texts above have them. */
static char *replace_marks(char *text)
{
    static const char *const marks[][2] = {{"\uff0c", ","},     {"\uff1a", ":"}, {"\uff08", "("}, {"\uff09", ")"},
                                           {"\u2026", "..."},   {"\u3002", "."}, {"\uff11", "1"}, {"\u2014", "-"},
                                           {"\u2013", "-"}};
    for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
        if (strcmp(text, marks[i][0]) == 0) {
            g_free(text);
            return g_strdup(marks[i][1]);
        }
    return text;
}

static char *bring(form f, const char *text, size_t size)
{
    char *copy = g_strndup(text, size);
    switch (f) {
    case FORM_C:
        return normalise(lower(normalise(copy, G_NORMALIZE_NFC)), G_NORMALIZE_NFC);
    case MOSES:
        copy = replace_marks(copy); /* fall through */
    case STRIPPED:
        return strip(normalise(lower(copy), G_NORMALIZE_NFD), false);
    case FORM_KC:
        return normalise(copy, G_NORMALIZE_NFKC);
    case ALBERT:
        return normalise(lower(strip(normalise(copy, G_NORMALIZE_NFKD), true)), G_NORMALIZE_NFKC);
    default:
        return copy;
    }
}

/* The end of the cluster at text[at]. */
static size_t cluster_end(form f, const char *text, size_t at)
{
    for (size_t end = at;;) {
        end = (size_t)(g_utf8_next_char(text + end) - text);
        const gunichar c = g_utf8_get_char(text + end);
        const bool mark = g_unichar_combining_class(c) != 0 ||
                          ((f == STRIPPED || f == MOSES) && g_unichar_type(c) == G_UNICODE_NON_SPACING_MARK);
        if (f == BYTES || !mark)
            return end;
    }
}

/* Append the form of text[start, end), and the span of each of its bytes but spaces. */
static void append_form(form f, const char *text, size_t start, size_t end, GString *all, GArray *spans)
{
    char *made = bring(f, text + start, end - start);
    for (const char *at = made; *at != '\0'; at++)
        if (!g_ascii_isspace(*at)) {
            const span whole = {start, end};
            g_string_append_c(all, *at);
            g_array_append_val(spans, whole);
        }
    g_free(made);
}

/* All of a text. In Form KC characters of a cluster that do not change one another are of themselves alone. */
static void read_form(form f, const char *text, GString *all, GArray *spans)
{
    for (size_t at = 0, end; text[at] != '\0'; at = end) {
        end = cluster_end(f, text, at);
        if (f == FORM_KC) {
            GString *parts = g_string_new(NULL);
            for (size_t k = at; k < end; k = (size_t)(g_utf8_next_char(text + k) - text)) {
                char *part = bring(f, text + k, (size_t)(g_utf8_next_char(text + k) - text) - k);
                g_string_append(parts, part);
                g_free(part);
            }
            char *whole = bring(f, text + at, end - at);
            const bool apart = strcmp(whole, parts->str) == 0;
            g_free(whole);
            g_string_free(parts, TRUE);
            if (apart)
                end = (size_t)(g_utf8_next_char(text + at) - text);
        }
        append_form(f, text, at, end, all, spans);
    }
}

/* ---- vocabularies of the characters of all texts, and some larger subwords ---- */

/* Each character of all texts in this form. g_ptr_array_unref. */
static GPtrArray *characters(form f)
{
    GHashTable *seen = g_hash_table_new(NULL, NULL);
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        GString *text = g_string_new(NULL);
        GArray *spans = g_array_new(FALSE, FALSE, sizeof(span));
        read_form(f, samples[i].text, text, spans);
        for (const char *at = text->str; *at != '\0'; at = g_utf8_next_char(at))
            if (g_hash_table_add(seen, GUINT_TO_POINTER(g_utf8_get_char(at))))
                g_ptr_array_add(all, g_strndup(at, (gsize)(g_utf8_next_char(at) - at)));
        g_array_unref(spans);
        g_string_free(text, TRUE);
    }
    g_hash_table_unref(seen);
    return all;
}

/* Of files in memory: name, text, ..., NULL. */
static xlm_vocabulary *publish(const char *name, const char *text, const char *name_2, const char *text_2, const char *name_3,
                               const char *text_3)
{
    const char *const names[] = {name, name_2, name_3}, *const bytes[] = {text, text_2, text_3};
    const size_t sizes[] = {strlen(text), strlen(text_2), strlen(text_3)};
    GError *error = NULL;
    xlm_tokenizer_files *files = xlm_tokenizer_files_new("dir", 3, names, bytes, sizes, &error);
    xlm_vocabulary *v = files != NULL ? xlm_published_vocabulary(files, NULL, &error) : NULL;
    if (v == NULL)
        fail_msg("%s", error->message);
    xlm_tokenizer_files_free(files);
    return v;
}

static void add_token(GString *json, const char *prefix, const char *token, const char *suffix, int *id)
{
    const bool escape = *token == '"' || *token == '\\';
    g_string_append_printf(json, "%s\"%s%s%s%s\": %d", *id > 0 ? ", " : "{", prefix, escape ? "\\" : "", token, suffix, *id);
    ++*id;
}

/* A byte as GPT-2 writes it: those that can be seen in Latin-1 as themselves, the others from U+0100 on. */
static gunichar visible(int byte)
{
    int hidden = 0;
    for (int b = 0; b < byte; b++)
        hidden += b < 33 || (b > 126 && b < 161) || b == 173;
    return byte < 33 || (byte > 126 && byte < 161) || byte == 173 ? 256 + (gunichar)hidden : (gunichar)byte;
}

static xlm_vocabulary *make_bytes(bool space_first)
{
    static const char merges[] = "\u0120 P\na n\n\u0120 d\n\u0120d e\ne f\n\u0120 g\n\u0120g a\n\u00c3 \u00b1\n\u00e0 \u00b8\n"
                                 "\u00e4 \u00ba\n\u00c2 \u00bd\n";
    static const char *const larger[] = {"\u0120P", "an", "\u0120d", "\u0120de", "ef", "\u0120g", "\u0120ga", "\u00c3\u00b1",
                                         "\u00e0\u00b8", "\u00e4\u00ba", "\u00c2\u00bd"};
    GString *vocabulary = g_string_new(NULL), *character = g_string_new(NULL);
    int id = 0;
    for (int byte = 0; byte < 256; byte++) {
        g_string_truncate(character, 0);
        g_string_append_unichar(character, visible(byte));
        add_token(vocabulary, "", character->str, "", &id);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(larger); i++)
        add_token(vocabulary, "", larger[i], "", &id);
    add_token(vocabulary, "", "<s>", "", &id);
    add_token(vocabulary, "", "</s>", "", &id);
    add_token(vocabulary, "", "<pad>", "", &id);
    g_string_append_c(vocabulary, '}');
    xlm_vocabulary *v = publish("vocab.json", vocabulary->str, "merges.txt", merges, "tokenizer_config.json",
                                space_first ? "{\"add_prefix_space\": true}" : "{}");
    g_string_free(vocabulary, TRUE);
    g_string_free(character, TRUE);
    return v;
}

static xlm_vocabulary *make_gpt2(void) { return make_bytes(false); }
static xlm_vocabulary *make_roberta(void) { return make_bytes(true); }

static xlm_vocabulary *make_wordpiece(void)
{
    GPtrArray *all = characters(STRIPPED);
    GString *tokens = g_string_new("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\npan\n##ther\n##er\n");
    for (guint i = 0; i < all->len; i++)
        g_string_append_printf(tokens, "%s\n##%s\n", (char *)all->pdata[i], (char *)all->pdata[i]);
    xlm_vocabulary *v = publish("vocab.txt", tokens->str, "config.json", "{}", "tokenizer_config.json", "{}");
    g_string_free(tokens, TRUE);
    g_ptr_array_unref(all);
    return v;
}

static xlm_vocabulary *make_xlm(void)
{
    static const char *const first[] = {"<s>", "</s>", "<pad>", "<unk>", "<special0>", "<special1>", "th", "the</w>", "an"};
    GPtrArray *all = characters(MOSES);
    GString *tokens = g_string_new(NULL);
    int id = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
        add_token(tokens, "", first[i], "", &id);
    for (guint i = 0; i < all->len; i++) {
        add_token(tokens, "", all->pdata[i], "", &id);
        add_token(tokens, "", all->pdata[i], "</w>", &id);
    }
    g_string_append_c(tokens, '}');
    xlm_vocabulary *v = publish("vocab.json", tokens->str, "merges.txt", "t h 9\nth e</w> 8\na n 7\n", "config.json",
                                "{\"model_type\": \"xlm\"}");
    g_string_free(tokens, TRUE);
    g_ptr_array_unref(all);
    return v;
}

/* For classes whose vocabularies are not published: all subwords of these words. */
static xlm_vocabulary *make_own(xlm_segmenter *segmenter, const xlm_word_counts *words, bool lowercase)
{
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_ICU, .lowercase = lowercase};
    GError *error = NULL;
    xlm_word_counts *subwords = xlm_segmenter_lists(segmenter) ? xlm_segmenter_list(segmenter, words)
                                                               : xlm_segmenter_count_subwords(segmenter, words, NULL);
    xlm_vocabulary *v = xlm_vocabulary_new(subwords, segmenter, &settings, &error);
    if (v == NULL)
        fail_msg("%s", error->message);
    xlm_word_counts_free(subwords);
    return v;
}

static xlm_vocabulary *make_bpe(void)
{
    GPtrArray *all = characters(FORM_C);
    xlm_word_counts *words = xlm_word_counts_new();
    for (guint i = 0; i < all->len; i++) {
        char *twice = g_strconcat(all->pdata[i], all->pdata[i], NULL);
        xlm_word_counts_add(words, twice, strlen(twice), 1);
        g_free(twice);
    }
    xlm_word_counts_add(words, "the", 3, 1);
    xlm_vocabulary *v = make_own(text_bpe("t h 9\nth e</w> 8\na n 7\n"), words, true);
    xlm_word_counts_free(words);
    g_ptr_array_unref(all);
    return v;
}

/* Learned of the texts, by the library's own rules of text. */
static xlm_vocabulary *make_unigram(bool albert)
{
    const xlm_segmenter_options asked = {.amount = 400};
    xlm_word_counts *lines = xlm_word_counts_new();
    GError *error = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        char *line = albert ? bring(ALBERT, samples[i].text, strlen(samples[i].text)) : g_strdup(samples[i].text);
        xlm_word_counts_add(lines, line, strlen(line), 20);
        g_free(line);
    }
    xlm_segmenter *segmenter = xlm_segmenter_learn(&xlm_segmenter_sentencepiece, &asked, lines, &error);
    if (segmenter == NULL)
        fail_msg("%s", error->message);
    if (albert) {
        GString *bytes = xlm_segmenter_print(segmenter);
        g_string_prepend(bytes, "#1010"); /* lower case, no accents, single spaces, the slow tokenizer */
        xlm_segmenter_unref(segmenter);
        segmenter = xlm_segmenter_parse(&xlm_segmenter_sentencepiece, "albert", bytes->str, bytes->len, &error);
        assert_non_null(segmenter);
        g_string_free(bytes, TRUE);
    }
    xlm_vocabulary *v = make_own(segmenter, lines, false);
    xlm_word_counts_free(lines);
    return v;
}

static xlm_vocabulary *make_xlmr(void) { return make_unigram(false); }
static xlm_vocabulary *make_albert(void) { return make_unigram(true); }

static const struct {
    const char *name;
    xlm_vocabulary *(*make)(void);
    form form;
} segmenters[] = {
    {"GPT-2", make_gpt2, BYTES}, {"RoBERTa", make_roberta, BYTES}, {"WordPiece", make_wordpiece, STRIPPED},
    {"XLM", make_xlm, MOSES},    {"BPE", make_bpe, FORM_C},        {"XLM-R", make_xlmr, FORM_KC},
    {"ALBERT", make_albert, ALBERT},
};

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

/* Answers of whole words are what stands between the ends of the subwords that they are part of. */
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

static void test_scripts(void **state)
{
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(segmenters); i++) {
        xlm_vocabulary *v = segmenters[i].make();
        xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
        for (size_t k = 0; k < G_N_ELEMENTS(samples); k++) {
            GArray *located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword));
            const char *text = samples[k].text;
            assert_true(xlm_tokenizer_locate(t, -1, text, strlen(text), located, NULL));
            check_places(segmenters[i].name, v, segmenters[i].form, text, located);
            if (segmenters[i].form != FORM_KC && segmenters[i].form != ALBERT) /* whose pieces may go on beyond an answer */
                check_answers(segmenters[i].name, k, located);
            g_array_unref(located);
        }
        xlm_tokenizer_free(t);
        xlm_vocabulary_free(v);
    }
}

/* ---- by hand ---- */

/* What in a text its subwords are, "|" between. */
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
    assert_places(make_wordpiece, "o\u0301\u0302o \u0301a", "o\u0301\u0302|o|a"); /* a mark behind a space is of no letter */
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

static void test_any_text(void **state)
{
    (void)state;
    static const char *const parts[] = {"a",      "The",    " ",      "  ",     "\n",     "\u0301", "\u00bd", "\u0e33", "\u2026",
                                        "\u200b", "\u2603", "\u2581", "\u00a8", "2,",     "\u3000", "\u0130", "\"",     "``",
                                        "\uff0c", "<unk>",  "@@",     "</w>",   "##",     "\u0120", "\u00e0", "\U0001f600"};
    for (size_t i = 0; i < G_N_ELEMENTS(segmenters); i++) {
        xlm_vocabulary *v = segmenters[i].make();
        xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
        for (uint32_t trial = 0, k = 0; trial < 300; trial++) {
            GString *text = text_make_word((uint32_t)i, &k, parts, G_N_ELEMENTS(parts), 12);
            check_any(segmenters[i].name, segmenters[i].form, t, text);
            g_string_append_len(text, "\0b", 2);
            check_any(segmenters[i].name, segmenters[i].form, t, text);
            g_string_free(text, TRUE);
        }
        xlm_tokenizer_free(t);
        xlm_vocabulary_free(v);
    }
}

/* ---- what question answering learns ---- */

/* A file of questions: each sample is a context, and is asked for its answers. g_free. */
static char *write_questions(void)
{
    json_t *paragraphs = json_array();
    for (size_t i = 0; i < G_N_ELEMENTS(samples); i++) {
        json_t *questions = json_array();
        for (size_t a = 0; a < G_N_ELEMENTS(samples[i].answers); a++) {
            const char *text = samples[i].text, *answer = samples[i].answers[a];
            json_array_append_new(questions, json_pack("{s: o, s: s, s: [{s: s, s: I}]}", "id",
                                                       json_sprintf("%s%d", samples[i].language, (int)a), "question", "a",
                                                       "answers", "text", answer, "answer_start",
                                                       (json_int_t)g_utf8_pointer_to_offset(text, strstr(text, answer))));
        }
        json_array_append_new(paragraphs, json_pack("{s: s, s: o}", "context", samples[i].text, "qas", questions));
    }
    json_t *root = json_pack("{s: s, s: [{s: o}]}", "version", "1.1", "data", "paragraphs", paragraphs);
    char *json = json_dumps(root, 0), *path = write_file("questions.json", json);
    free(json);
    json_decref(root);
    return path;
}

/* Append the bytes that a subword of byte-level BPE writes as characters. */
static void append_bytes(const char *subword, GString *out)
{
    for (const char *at = subword; *at != '\0'; at = g_utf8_next_char(at))
        for (int byte = 0; byte < 256; byte++)
            if (visible(byte) == g_utf8_get_char(at))
                g_string_append_c(out, (char)byte);
}

/* Do subwords ids[n], decoded, have the form of the answer, spaces aside? */
static bool has_answer(const xlm_vocabulary *v, form f, const int32_t *ids, size_t n, const char *answer)
{
    GString *decoded = g_string_new(NULL), *squeezed = g_string_new(NULL), *form_of_answer = g_string_new(NULL);
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(span));
    for (size_t i = 0; i < n && f == BYTES; i++)
        append_bytes(xlm_vocabulary_words(v)[ids[i]], decoded);
    if (f != BYTES)
        xlm_vocabulary_decode(v, ids, n, decoded);
    for (const char *at = decoded->str; *at != '\0'; at++)
        if (!g_ascii_isspace(*at))
            g_string_append_c(squeezed, *at);
    append_form(f, answer, 0, strlen(answer), form_of_answer, spans);
    const bool has = strstr(squeezed->str, form_of_answer->str) != NULL;
    g_string_free(decoded, TRUE);
    g_string_free(squeezed, TRUE);
    g_string_free(form_of_answer, TRUE);
    g_array_unref(spans);
    return has;
}

/* The subwords from the target of the beginning to that of the end have the answer, and none of them is too many. */
static void check_target(const char *name, const xlm_vocabulary *v, form f, const xlm_batch *b, const char *answer)
{
    int32_t rows[2] = {-1, -1};
    assert_int_equal(b->predicted, 2);
    for (int32_t m = 0; m < b->predicted; m++)
        rows[b->targets[m]] = b->predicted_rows[m];
    assert_true(rows[0] > 0 && rows[1] >= rows[0]);
    const int32_t *ids = b->ids + rows[0];
    const size_t n = (size_t)(rows[1] - rows[0]) + 1;
    if (!has_answer(v, f, ids, n, answer) || has_answer(v, f, ids + 1, n - 1, answer) || has_answer(v, f, ids, n - 1, answer))
        fail_msg("%s: \"%s\" is learned as %zu subwords from %s", name, answer, n, xlm_vocabulary_words(v)[*ids]);
}

static void test_targets(void **state)
{
    (void)state;
    const xlm_task *task = xlm_task_find("answering", NULL);
    char *path = write_questions();
    const xlm_task_source source = {-1, NULL, path};
    for (size_t i = 0; i < G_N_ELEMENTS(segmenters); i++) {
        xlm_vocabulary *v = segmenters[i].make();
        xlm_task_state *options = xlm_task_state_read(task, "test", "", NULL, NULL);
        const xlm_loss self = {.cls = &task->loss, .name = "answering", .state = options};
        const xlm_task_encoder encoder = {.tokenizer = xlm_tokenizer_new(v, NULL), .length = 512, .training = true};
        xlm_examples *examples = xlm_examples_new(xlm_vocabulary_specials(v));
        GString *description = g_string_new(NULL);
        GError *error = NULL;
        void *text = task->read(&self, &source, 1, &error);
        if (text == NULL || !task->encode(&self, text, &encoder, examples, description, &error))
            fail_msg("%s", error->message);
        const int64_t answers = G_N_ELEMENTS(samples[0].answers);
        assert_int_equal(xlm_examples_count(examples), G_N_ELEMENTS(samples) * G_N_ELEMENTS(samples[0].answers));
        xlm_arena *arena = xlm_arena_new();
        for (int64_t k = 0; k < xlm_examples_count(examples); k++) {
            const uint32_t instance = 0;
            xlm_batch b;
            assert_true(xlm_examples_read(examples, 1, &k, &instance, arena, &b, NULL));
            check_target(segmenters[i].name, v, segmenters[i].form, &b, samples[k / answers].answers[k % answers]);
        }
        xlm_arena_free(arena);
        task->read_free(text);
        g_string_free(description, TRUE);
        xlm_examples_free(examples);
        xlm_tokenizer_free(encoder.tokenizer);
        xlm_options_free(task->loss.options, options);
        g_free(options);
        xlm_vocabulary_free(v);
    }
    g_free(path);
}

/* ---- runs of unknown characters ---- */

/* A model with these pieces, without a character map. */
typedef struct model {
    GString *bytes;
    GArray *pieces;
    xlm_sentencepiece *library;
    xlm_piece_rules *rules;
} model;

static model make_model(void)
{
    static const xlm_model_piece pieces[] = {{"<unk>", 0, XLM_PIECE_UNKNOWN}, {"\u2581", -3, XLM_PIECE_NORMAL},
                                             {"a", -2, XLM_PIECE_NORMAL},     {"b", -2.5f, XLM_PIECE_NORMAL},
                                             {"ab", -3, XLM_PIECE_NORMAL},    {"\u2581a", -2.5f, XLM_PIECE_NORMAL},
                                             {"xyz", 0, XLM_PIECE_GIVEN}};
    char *message = NULL;
    model m = {.bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces), NULL, 0)};
    m.pieces = xlm_sentencepiece_pieces(m.bytes->str, m.bytes->len, NULL);
    m.library = xlm_sentencepiece_new(m.bytes->str, m.bytes->len, &message);
    assert_non_null(m.pieces);
    assert_non_null(m.library);
    m.rules = xlm_piece_rules_new(m.bytes->str, m.bytes->len, m.pieces);
    return m;
}

static void free_model(model *m)
{
    xlm_piece_rules_free(m->rules);
    xlm_sentencepiece_free(m->library);
    g_array_unref(m->pieces);
    g_string_free(m->bytes, TRUE);
}

/* Unknown characters as pieces of their bytes: each of these is the whole character. */
static void test_byte_pieces(void **state)
{
    (void)state;
    static const char more[] = "\x12\x03\x98\x02\x01"; /* in the trainer's settings: byte_fallback = true */
    static const char text[] = "a\u2603 \u00bdb";
    static const span expected[] = {{0, 1}, {1, 4}, {1, 4}, {1, 4}, {5, 5}, {5, 7}, {5, 7}, {7, 8}};
    xlm_model_piece pieces[260] = {{(char[]){"<unk>"}, 0, XLM_PIECE_UNKNOWN}, {(char[]){"\u2581a"}, -1, XLM_PIECE_NORMAL},
                                   {(char[]){"b"}, -1, XLM_PIECE_NORMAL}, {(char[]){"\u2581"}, -1, XLM_PIECE_NORMAL}};
    char names[256][8], *message = NULL;
    for (int byte = 0; byte < 256; byte++) {
        g_snprintf(names[byte], sizeof names[byte], "<0x%02X>", (unsigned)byte);
        pieces[4 + byte] = (xlm_model_piece){names[byte], 0, XLM_PIECE_BYTE};
    }
    GString *bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces), NULL, 0);
    g_string_append_len(bytes, more, sizeof more - 1);
    model m = {.bytes = bytes, .pieces = xlm_sentencepiece_pieces(bytes->str, bytes->len, NULL),
               .library = xlm_sentencepiece_new(bytes->str, bytes->len, &message)};
    if (m.library == NULL)
        fail_msg("%s", message);
    m.rules = xlm_piece_rules_new(bytes->str, bytes->len, m.pieces);
    xlm_cut *cut = xlm_cut_new(true);
    xlm_cut_text(m.rules, m.library, text, strlen(text), 1, cut);
    assert_string_equal(cut->pieces->str, "\u2581a <0xE2> <0x98> <0x83> \u2581 <0xC2> <0xBD> b");
    assert_true(xlm_cut_locate(m.rules, text, strlen(text), cut));
    assert_int_equal(cut->ends->len, G_N_ELEMENTS(expected));
    for (uint32_t i = 0, start = 0, end; i < cut->ends->len; i++, start = end) {
        end = g_array_index(cut->ends, uint32_t, i);
        const xlm_origin place = xlm_origins_join(&g_array_index(cut->origins, xlm_origin, start), end - start);
        assert_int_equal(place.start, expected[i].start);
        assert_int_equal(place.end, expected[i].end);
    }
    xlm_cut_free(cut);
    free_model(&m);
}

/* A text in parts is what it is whole. */
static void test_parts(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "b", "ab", " ", "  ", "\u1300", "\u1300\u1301", "!!!", "\u2581", "xyz", "xy"};
    static const size_t lengths[] = {1, 2, 5, 16};
    model m = make_model();
    for (uint32_t trial = 0, k = 0; trial < 2000; trial++) {
        GString *text = text_make_word(77, &k, parts, G_N_ELEMENTS(parts), 20);
        xlm_cut *whole = xlm_cut_new(true), *cut = xlm_cut_new(true);
        xlm_cut_text(m.rules, m.library, text->str, text->len, SIZE_MAX, whole);
        xlm_cut_text(m.rules, m.library, text->str, text->len, lengths[trial % G_N_ELEMENTS(lengths)], cut);
        assert_string_equal(cut->pieces->str, whole->pieces->str);
        assert_string_equal(cut->normal->str, whole->normal->str);
        assert_int_equal(cut->ends->len, whole->ends->len);
        if (cut->ends->len > 0)
            assert_memory_equal(cut->ends->data, whole->ends->data, sizeof(uint32_t) * cut->ends->len);
        assert_true(xlm_cut_locate(m.rules, text->str, text->len, cut));
        assert_int_equal(cut->origins->len, cut->normal->len);
        xlm_cut_free(whole);
        xlm_cut_free(cut);
        g_string_free(text, TRUE);
    }
    free_model(&m);
}

/* The library's work on a run grows with the square of its length, so no part is longer than it may be. */
static void test_long_word(void **state)
{
    (void)state;
    static const char *const marks[] = {"!", "\u1300", "\u0301", "\u3002"};
    enum { MARKS = 100000 };
    model m = make_model();
    for (size_t i = 0; i < G_N_ELEMENTS(marks); i++) {
        GString *text = g_string_new("ab");
        for (int k = 0; k < MARKS; k++)
            g_string_append(text, marks[i]);
        g_string_append(text, "ab");
        size_t parts = 0;
        for (size_t at = 0, n; at < text->len; at += n, parts++) {
            n = xlm_cut_part(m.rules, text->str + at, text->len - at, XLM_PIECES_RUN);
            assert_true(n > 0 && n <= XLM_PIECES_RUN + 8);
        }
        assert_in_range(parts, text->len / (XLM_PIECES_RUN + 8), text->len / XLM_PIECES_RUN + 1);
        xlm_cut *cut = xlm_cut_new(true);
        xlm_cut_text(m.rules, m.library, text->str, text->len, XLM_PIECES_RUN, cut);
        assert_true(xlm_cut_locate(m.rules, text->str, text->len, cut));
        assert_int_equal(cut->ends->len, 4); /* the mark of a word, ab, all marks as one unknown piece, ab */
        assert_int_equal(g_array_index(cut->ends, uint32_t, 2), strlen("\u2581") + text->len - 2);
        xlm_cut_free(cut);
        g_string_free(text, TRUE);
    }
    free_model(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scripts), cmocka_unit_test(test_by_hand),   cmocka_unit_test(test_any_text),
        cmocka_unit_test(test_targets), cmocka_unit_test(test_parts),   cmocka_unit_test(test_byte_pieces),
        cmocka_unit_test(test_long_word),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
