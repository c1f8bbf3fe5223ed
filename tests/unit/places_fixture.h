/* xlm-mpi: texts in the scripts of XQuAD, their forms, and segmenters that cut them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Known answers come from elsewhere than the code: by hand, or from GLib's tables of Unicode. Each cluster of a text (a character
 * and the marks after it) is brought into the segmenter's form by itself, so each byte of all that the segmenter can have seen is
 * of a known cluster; the bytes of a subword are counted off. */
#ifndef XLM_TESTS_PLACES_FIXTURE_H
#define XLM_TESTS_PLACES_FIXTURE_H

#include "text_fixture.h"

#include "subwords/published.h"
#include "subwords/sentencepiece.h"
#include "subwords/tokenizer.h"

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

/* From files in memory: name, text, ..., NULL. */
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
    xlm_word_counts *subwords = xlm_segmenter_class_lists(xlm_segmenter_class_of(segmenter)) ? xlm_segmenter_list(segmenter)
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

/* ---- all segmenters ---- */

typedef struct known_segmenter {
    const char *name;
    xlm_vocabulary *(*make)(void);
    form form;
} known_segmenter;

static const known_segmenter segmenters[] = {
    {"GPT-2", make_gpt2, BYTES}, {"RoBERTa", make_roberta, BYTES}, {"WordPiece", make_wordpiece, STRIPPED},
    {"XLM", make_xlm, MOSES},    {"BPE", make_bpe, FORM_C},        {"XLM-R", make_xlmr, FORM_KC},
    {"ALBERT", make_albert, ALBERT},
};

/* Check each of them, with a vocabulary and a tokenizer of its own. */
static void check_segmenters(void (*check)(const known_segmenter *s, const xlm_vocabulary *v, xlm_tokenizer *t, const void *data),
                             const void *data)
{
    for (size_t i = 0; i < G_N_ELEMENTS(segmenters); i++) {
        xlm_vocabulary *v = segmenters[i].make();
        xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
        check(&segmenters[i], v, t, data);
        xlm_tokenizer_free(t);
        xlm_vocabulary_free(v);
    }
}

#endif
