/* xlm-mpi: published byte-level BPE, by cases worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "published_fixture.h"

static void test_bytes(void **state)
{
    (void)state;
    static const char vocabulary[] = "{"
                                     "\"<s>\": 0, \"<pad>\": 1, \"</s>\": 2, \"<unk>\": 3, \"l\": 4, \"o\": 5, \"w\": 6, "
                                     "\"e\": 7, \"r\": 8, \"\u0120\": 9, \"lo\": 10, \"\u0120lo\": 11, \"er\": 12, "
                                     "\"\u00c3\": 13, \"\u00a4\": 14, \"\u00c3\u00a4\": 15, \"<mask>\": 16}";
    xlm_vocabulary *v = READ(NULL, "vocab.json", vocabulary, "merges.txt",
                             "#version: 0.2\nl o\n\u0120 lo\ne r\n\u00c3 \u00a4\n");
    assert_non_null(v);
    assert_specials(v, 0, 1, 2, 3, 16);
    assert_line(v, "lower lower", "lo w er \u0120lo w er", "lower lower");
    assert_line(v, "\u00e4 low", "\u00c3\u00a4 \u0120lo w", "\u00e4 low");
    assert_line(v, "lox", "lo <unk>", NULL);
    assert_true(xlm_vocabulary_joins(v, 10, 6));
    assert_false(xlm_vocabulary_joins(v, 6, 11));
    /* Words: endings in lower case only, letters, numbers and the rest apart, the last space goes with what follows. */
    assert_words(v, "I'll can't 'S x12ab--\u4f60 3rd", "I 'll \u0120can 't \u0120' S \u0120x 12 ab -- "
                 "\u00e4\u00bd\u0142 \u01203 rd");
    assert_words(v, "a  b\tc  ", "a \u0120 \u0120b \u0109 c \u0120\u0120");
    assert_words(v, "a\t\tb \u00a0!", "a \u0109 \u0109 b \u0120 \u00c2\u0142 !");
    assert_words(v, " \t", "");
    /* Words given singly: the first as it is, the others after a space; none where there is one, and of empty ones. */
    assert_word(v, false, "low", "lo w");
    assert_word(v, true, "low", "\u0120lo w");
    assert_word(v, true, " low", "\u0120lo w");
    assert_word(v, true, "", "");
    xlm_vocabulary *loaded = text_reload(v);
    assert_line(loaded, "lower lower", "lo w er \u0120lo w er", "lower lower");
    xlm_vocabulary_free(loaded);
    xlm_vocabulary_free(v);
    v = READ(NULL, "vocab.json", vocabulary, "merges.txt", "l o\n\u0120 lo\n", "tokenizer_config.json",
             "{\"add_prefix_space\": true}");
    assert_line(v, "low low", "\u0120lo w \u0120lo w", "low low");
    assert_word(v, false, "low", "\u0120lo w");
    assert_word(v, true, "low", "\u0120lo w");
    /* A letter whose bytes are two subwords is whole again in the text; half of one keeps the letter of its byte. */
    assert_line(v, "l\u00e4 low", "\u0120 l \u00c3 \u00a4 \u0120lo w", "l\u00e4 low");
    g_autoptr(GString) half = g_string_new(NULL);
    xlm_vocabulary_decode(v, (const int32_t[]){4, 13, 10}, 3, half);
    assert_string_equal(half->str, "l\u00c3lo");
    xlm_vocabulary_free(v);
    v = READ(NULL, "tokenizer.json",
             "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}, \"model\": "
             "{\"type\": \"BPE\", \"vocab\": {\"l\": 0, \"o\": 1, \"lo\": 2, \"lol\": 3}, \"merges\": [\"l o\", "
             "[\"lo\", \"l\"]]}}");
    assert_line(v, "lolo", "lo lo", "lolo");
    assert_line(v, "lol", "lol", "lol");
    xlm_vocabulary_free(v);
    /* Older files do not name the type of the model, and may have fields of WordPiece too. */
    v = READ(NULL, "tokenizer.json",
             "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}, \"model\": {\"dropout\": null, "
             "\"continuing_subword_prefix\": \"\", \"end_of_word_suffix\": \"\", \"vocab\": {\"l\": 0, \"o\": 1, \"lo\": 2}, "
             "\"merges\": [\"l o\"]}}");
    assert_non_null(v);
    assert_line(v, "lolo", "lo lo", "lolo");
    xlm_vocabulary_free(v);
    REFUSED("dir/merges.txt:2: is not a merge", "vocab.json", "{\"a\": 0}", "merges.txt", "a b\nab\n");
#define BYTE_PAIRS(MODEL) \
    "{\"pre_tokenizer\": {\"type\": \"ByteLevel\"}, \"model\": {\"type\": \"BPE\", \"vocab\": {\"l\": 0}" MODEL "}}"
    REFUSED("(ignore_merges)", "tokenizer.json", BYTE_PAIRS(", \"merges\": [], \"ignore_merges\": true"));
    REFUSED("(dropout)", "tokenizer.json", BYTE_PAIRS(", \"merges\": [], \"dropout\": 0.1"));
    REFUSED("has no merges", "tokenizer.json", BYTE_PAIRS(", \"ignore_merges\": false, \"dropout\": null"));
}

/* add_prefix_space of tokenizer_config.json goes before that of tokenizer.json. */
static void test_bytes_settings(void **state)
{
    (void)state;
    static const struct {
        const char *splitter, *settings, *subwords;
    } cases[] = {
        {"false", "{\"add_prefix_space\": true}", "\u0120lo"},  {"true", "{\"add_prefix_space\": false}", "lo"},
        {"true", "{\"add_prefix_space\": null}", "\u0120lo"},   {"false", "{}", "lo"},
        {"true", "{\"tokenizer_class\": \"RobertaTokenizer\"}", "\u0120lo"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *json = g_strdup_printf(
            "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": %s}, \"model\": {\"type\": \"BPE\", \"vocab\": "
            "{\"l\": 0, \"o\": 1, \"lo\": 2, \"\u0120\": 3, \"\u0120lo\": 4}, \"merges\": [\"l o\", \"\u0120 lo\"]}}",
            cases[i].splitter);
        xlm_vocabulary *v = READ(NULL, "tokenizer.json", json, "tokenizer_config.json", cases[i].settings);
        assert_non_null(v);
        assert_line(v, "lo", cases[i].subwords, "lo");
        xlm_vocabulary_free(v);
    }
}

/* The merge of the lowest rank in all places from left to right, as long as there is one; symbols between spaces. */
static GString *merge_plainly(char **merges, const char *word)
{
    char **symbols = g_new0(char *, strlen(word) + 1);
    guint n = 0;
    for (; word[n] != '\0'; n++)
        symbols[n] = g_strndup(word + n, 1);
    for (;;) {
        size_t best = SIZE_MAX;
        for (guint i = 0; i + 1 < n; i++) {
            char *pair = g_strconcat(symbols[i], " ", symbols[i + 1], NULL);
            for (size_t rank = 0; merges[rank] != NULL && rank < best; rank++)
                if (strcmp(merges[rank], pair) == 0)
                    best = rank;
            g_free(pair);
        }
        if (best == SIZE_MAX)
            break;
        guint kept = 0;
        for (guint i = 0; i < n; i++) {
            char *pair = g_strconcat(symbols[i], " ", i + 1 < n ? symbols[i + 1] : "", NULL);
            if (strcmp(merges[best], pair) == 0) {
                char *both = g_strconcat(symbols[i], symbols[i + 1], NULL);
                g_free(symbols[i]);
                g_free(symbols[++i]);
                symbols[i] = both;
            }
            symbols[kept++] = symbols[i];
            g_free(pair);
        }
        n = kept;
        symbols[n] = NULL;
    }
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < n; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? " " : "", symbols[i]);
    g_strfreev(symbols);
    return out;
}

/* Random merges, and words that they cut. */
static void test_bytes_merges(void **state)
{
    (void)state;
    for (uint32_t trial = 0, k = 0; trial < 60; trial++) {
        GString *vocabulary = g_string_new("{\"<s>\": 0, \"a\": 1, \"b\": 2, \"c\": 3"), *merges = g_string_new(NULL);
        GPtrArray *symbols = g_ptr_array_new_with_free_func(g_free);
        for (const char *letter = "abc"; *letter != '\0'; letter++)
            g_ptr_array_add(symbols, g_strndup(letter, 1));
        for (int i = 0; i < 20; i++) {
            const char *left = symbols->pdata[text_draw(91, k++, symbols->len)];
            const char *right = symbols->pdata[text_draw(91, k++, symbols->len)];
            char *both = g_strconcat(left, right, NULL);
            bool seen = false;
            for (guint s = 0; s < symbols->len && !seen; s++)
                seen = strcmp(symbols->pdata[s], both) == 0;
            if (seen) {
                g_free(both);
                continue;
            }
            g_string_append_printf(merges, "%s %s\n", left, right);
            g_string_append_printf(vocabulary, ", \"%s\": %u", both, symbols->len + 1);
            g_ptr_array_add(symbols, both);
        }
        g_string_append_c(vocabulary, '}');
        xlm_vocabulary *v = READ(NULL, "vocab.json", vocabulary->str, "merges.txt", merges->str);
        assert_non_null(v);
        char **pairs = g_strsplit(merges->str, "\n", -1);
        for (int i = 0; i < 20; i++) {
            static const char *const letters[] = {"a", "b", "c"};
            GString *word = text_make_word(91, &k, letters, 3, 40), *expected = merge_plainly(pairs, word->str);
            assert_line(v, word->str, expected->str, NULL);
            g_string_free(word, TRUE);
            g_string_free(expected, TRUE);
        }
        g_strfreev(pairs);
        xlm_vocabulary_free(v);
        g_ptr_array_unref(symbols);
        g_string_free(vocabulary, TRUE);
        g_string_free(merges, TRUE);
    }
}

/* Does the tokenizer.json that is written of these files say that a space before the mask belongs to it, and of no other token? A
 * model that files before version 4 hold has the texts too. */
static void assert_mask(const char *json, bool takes_space, size_t files_written)
{
    GError *error = NULL;
    xlm_vocabulary *v = READ(&error, "tokenizer.json", json);
    if (v == NULL)
        fail_msg("%s", error->message);
    const int mask = xlm_vocabulary_special(v, XLM_MASK);
    json_auto_t *files = json_object(), *settings = json_object();
    g_autoptr(GString) notes = g_string_new(NULL);
    xlm_segmenter_class_of(xlm_vocabulary_segmenter(v))->exchange->publish(v, files, settings, notes);
    assert_int_equal(json_object_size(files), files_written);
    const json_t *added = json_object_get(json_object_get(files, "tokenizer.json"), "added_tokens"), *token;
    size_t i;
    assert_int_equal(json_array_size(added), 5);
    json_array_foreach(added, i, token) {
        const bool is_mask = json_integer_value(json_object_get(token, "id")) == mask;
        assert_true(json_is_true(json_object_get(token, "special")));
        assert_int_equal(json_is_true(json_object_get(token, "lstrip")), is_mask && takes_space);
    }
    xlm_vocabulary_free(v);
}

/* "The <mask> is": the space is no token of its own, unless the tokenizer that was read says that it is. */
static void test_mask(void **state)
{
    (void)state;
#define MASKED(HOW)                                                                                                             \
    "{\"added_tokens\": [{\"id\": 0, \"content\": \"<s>\", \"special\": true}, {\"id\": 1, \"content\": \"<mask>\", "            \
    "\"special\": true" HOW "}], \"pre_tokenizer\": {\"type\": \"ByteLevel\"}, \"model\": {\"type\": \"BPE\", \"vocab\": "       \
    "{\"<s>\": 0, \"<mask>\": 1, \"<pad>\": 2, \"</s>\": 3, \"<unk>\": 4, \"l\": 5, \"o\": 6, \"lo\": 7}, "                       \
    "\"merges\": [\"l o\"]}}"
    assert_mask(MASKED(", \"lstrip\": true"), true, 3);
    assert_mask(MASKED(""), true, 3);
    assert_mask(MASKED(", \"lstrip\": false"), false, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_bytes_settings),
        cmocka_unit_test(test_bytes_merges),
        cmocka_unit_test(test_mask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
