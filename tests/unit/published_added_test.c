/* xlm-mpi: byte-level BPE with Form C and added tokens, by cases worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "published_fixture.h"

#include "subwords/bpe_bytes.h"
#include "subwords/vocabulary_change.h"

/* A tokenizer of the form of the English ModernBERT's, with few tokens. added: of "added_tokens" before the special ones. */
#define TOKENIZER(NORMALIZER, ADDED)                                                                                            \
    "{\"added_tokens\": [" ADDED                                                                                                \
    "{\"id\": 12, \"content\": \"<|end|>\", \"special\": true, \"normalized\": false}, "                                        \
    "{\"id\": 13, \"content\": \"[UNK]\", \"special\": true}, {\"id\": 14, \"content\": \"[CLS]\", \"special\": true}, "         \
    "{\"id\": 15, \"content\": \"[SEP]\", \"special\": true}, {\"id\": 16, \"content\": \"[PAD]\", \"special\": true}, "         \
    "{\"id\": 17, \"content\": \"[MASK]\", \"special\": true, \"lstrip\": true, \"normalized\": false}], "                      \
    "\"normalizer\": " NORMALIZER ", \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false, "                \
    "\"use_regex\": true}, \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"\u0120\": 2, "                     \
    "\"\u0120a\": 3, \"\u0120\u0120\": 4, \"\u00c3\": 5, \"\u00a9\": 6, \"\u00c3\u00a9\": 7, \"\u0109\": 8}, "                                   \
    "\"merges\": [\"\u0120 a\", \"\u0120 \u0120\", \"\u00c3 \u00a9\"]}}"
#define NFC "{\"type\": \"NFC\"}"
#define FOUND(ID, TEXT, MORE) "{\"id\": " ID ", \"content\": \"" TEXT "\", \"special\": false" MORE "}, "
#define ADDED FOUND("9", "  ", ", \"normalized\": true") FOUND("10", "    ", "") FOUND("11", "a|b", "")
#define BOX "\u2423"

static void assert_modern(const xlm_vocabulary *v)
{
    assert_int_equal(xlm_vocabulary_size(v), 18);
    assert_specials(v, 14, 16, 15, 13, 17);
    /* Of spaces the most at a time; what is left goes with the next word. No two spaces are left for merges. */
    assert_line(v, "a  b", "a " BOX BOX " b", "a  b");
    assert_line(v, "a   a", "a " BOX BOX " \u0120a", "a   a");
    assert_line(v, "    a     a", BOX BOX BOX BOX " a " BOX BOX BOX BOX " \u0120a", "   a     a");
    assert_line(v, "a\t b", "a \u0109 \u0120 b", "a\t b");
    /* Other tokens, also inside of words; names of special ones are text. */
    assert_line(v, "ba|bb a|b", "b a|b b \u0120 a|b", "ba|bb a|b");
    assert_line(v, "a|a|b|", "a [UNK] a|b [UNK]", NULL);
    assert_line(v, "a[SEP]", "a [UNK] [UNK] [UNK] [UNK] [UNK]", NULL);
    /* Letters are composed, and places are those of the text. */
    assert_line(v, "ae\u0301  \u00e9", "a \u00c3\u00a9 " BOX BOX " \u00c3\u00a9", "a\u00e9  \u00e9");
    assert_places(v, "ae\u0301  b a|b\n", "a|e\u0301||b||a|b");
    assert_words(v, "  \n", "");
    assert_words(v, "", "");
}

static xlm_vocabulary *read_again(const xlm_vocabulary *v)
{
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(xlm_vocabulary_segmenter(v));
    json_t *files = json_object(), *settings = json_object();
    g_autoptr(GString) notes = g_string_new(NULL);
    cls->exchange->publish(v, files, settings, notes);
    assert_int_equal(json_object_size(files), 1);
    assert_string_equal(json_string_value(json_object_get(settings, "tokenizer_class")), "PreTrainedTokenizerFast");
    const json_t *tokenizer = json_object_get(files, "tokenizer.json"), *added = json_object_get(tokenizer, "added_tokens");
    assert_int_equal(json_array_size(added), 9);
    for (size_t i = 0; i < 9; i++) { /* in the order of ids, as they came */
        const json_t *token = json_array_get(added, i);
        const char *const texts[] = {"  ", "    ", "a|b", "<|end|>", "[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"};
        assert_string_equal(json_string_value(json_object_get(token, "content")), texts[i]);
        assert_int_equal(json_integer_value(json_object_get(token, "id")), 9 + (int)i);
        assert_int_equal(json_integer_value(json_object_get(json_object_get(json_object_get(tokenizer, "model"), "vocab"),
                                                            texts[i])), 9 + (int)i);
        assert_int_equal(json_is_true(json_object_get(token, "special")), i >= 3);
        assert_int_equal(json_is_true(json_object_get(token, "normalized")), i < 3);
        assert_int_equal(json_is_true(json_object_get(token, "lstrip")), i == 8);
    }
    char *text = json_dumps(tokenizer, 0);
    xlm_vocabulary *again = READ(NULL, "tokenizer.json", text);
    free(text);
    json_decref(files);
    json_decref(settings);
    assert_non_null(again);
    return again;
}

static void test_found(void **state)
{
    (void)state;
    xlm_vocabulary *v = READ(NULL, "tokenizer.json", TOKENIZER(NFC, ADDED));
    assert_non_null(v);
    assert_modern(v);
    assert_false(xlm_vocabulary_joins(v, 0, 9)); /* spaces begin a word, as \u0120 does */
    assert_true(xlm_vocabulary_joins(v, 9, 0));
    assert_true(xlm_vocabulary_joins(v, 0, 11));
    xlm_vocabulary *loaded = text_reload(v), *again = read_again(v);
    assert_modern(loaded);
    assert_modern(again);
    assert_true(xlm_vocabulary_digest(v) == xlm_vocabulary_digest(again));
    xlm_vocabulary_free(loaded);
    xlm_vocabulary_free(again);
    xlm_vocabulary_free(v);
    /* Each part between tokens has a space before it if a line has. */
    g_autofree char *spaced = g_strdup(TOKENIZER("null", ADDED));
    memcpy(strstr(spaced, "false, \"use_regex"), "true , \"use_regex", strlen("true , \"use_regex"));
    v = READ(NULL, "tokenizer.json", spaced);
    assert_line(v, "aa  aa a|b", "\u0120a a " BOX BOX " \u0120a a \u0120 a|b", NULL);
    assert_places(v, "aa  aaa|b", "a|a||a|a|a|b");
    xlm_vocabulary_free(v);
}

/* A token that is not normalized is found before letters are composed; without Form C they are not. */
static void test_form_c(void **state)
{
    (void)state;
    xlm_vocabulary *v = READ(NULL, "tokenizer.json", TOKENIZER(NFC, FOUND("9", "e\u0301|", ", \"normalized\": false")
                                                                    FOUND("10", "\u00e9\u00e9", "") FOUND("11", "x y", "")));
    assert_non_null(v);
    assert_line(v, "\u00e9e\u0301|b", "\u00c3\u00a9 e\u0301| b", NULL);
    assert_line(v, "e\u0301e\u0301x yae\u0301", "\u00e9\u00e9 x" BOX "y a \u00c3\u00a9", "\u00e9\u00e9x ya\u00e9");
    assert_places(v, "ae\u0301\u00e9 x y", "a|e\u0301\u00e9||x y");
    xlm_vocabulary_free(v);
    v = READ(NULL, "tokenizer.json", TOKENIZER("null", ADDED));
    assert_line(v, "ae\u0301", "a [UNK] [UNK] [UNK]", NULL);
    xlm_vocabulary_free(v);
}

/* Tokens that are left out are not found any more. */
static void test_reduced(void **state)
{
    (void)state;
    xlm_vocabulary *v = READ(NULL, "tokenizer.json", TOKENIZER(NFC, ADDED));
    const uint8_t used[18] = {[0] = 1, [10] = 1};
    GError *error = NULL;
    xlm_vocabulary *small = xlm_vocabulary_reduce(v, used, "--keep", &error);
    assert_non_null(small);
    assert_line(small, "    a  a|b", BOX BOX BOX BOX " a \u0120 \u0120 a [UNK] b", NULL);
    assert_int_equal(xlm_vocabulary_find(small, BOX BOX, strlen(BOX BOX)), xlm_vocabulary_special(small, XLM_UNK));
    /* Words are added; a token is there already. */
    g_autofree char *whole = xlm_segmenter_whole(xlm_vocabulary_segmenter(v), "a|b");
    assert_string_equal(whole, "a|b");
    xlm_word_counts *wanted = xlm_word_counts_new();
    xlm_word_counts_add(wanted, "\u0120aab", strlen("\u0120aab"), 0);
    xlm_vocabulary *large = xlm_vocabulary_enlarge(v, wanted, NULL, "--add-words", &error);
    assert_non_null(large);
    assert_line(large, "a  a aab", "a " BOX BOX " a \u0120aab", "a  a aab");
    xlm_word_counts_free(wanted);
    xlm_vocabulary_free(large);
    xlm_vocabulary_free(small);
    xlm_vocabulary_free(v);
}

static void test_refused(void **state)
{
    (void)state;
#define BAD(WHAT, TEXT, MORE) REFUSED(WHAT, "tokenizer.json", TOKENIZER(NFC, ADDED FOUND("18", TEXT, MORE)))
    BAD("the added token `x` is not special and has \"lstrip\"", "x", ", \"lstrip\": true");
    BAD("the added token `x` is not special and has \"rstrip\"", "x", ", \"rstrip\": true");
    BAD("the added token `x` is not special and has \"single_word\"", "x", ", \"single_word\": true");
    BAD("the added token `x`: \"normalized\" is neither true nor false", "x", ", \"normalized\": 1");
    BAD("the added token `x\t` has white space other than spaces", "x\\t", "");
    BAD("has white space other than spaces, or a control", "x\\n", "");
    BAD("has white space other than spaces, or a control", "x\u3000", "");
    BAD("the added token `" BOX "` has a U+2423", BOX, "");
    BAD("the added token `e\u0301` is not in Unicode Form C", "e\u0301", "");
    BAD("the added token `\u0120a` has the letters of other bytes", "\u0120a", "");
    BAD("the added token `\u00c3\u00a9` has the letters of other bytes", "\u00c3\u00a9", "");
    BAD("the token of id 18 is empty", "", "");
    REFUSED("the added token `a|b` is added twice", "tokenizer.json",
            TOKENIZER(NFC, ADDED FOUND("11", "a|b", ", \"normalized\": false")));
    REFUSED("tokens `  ` and `x` both have the id 9", "tokenizer.json", TOKENIZER(NFC, ADDED FOUND("9", "x", "")));
    REFUSED("added token 4 has no text or no id", "tokenizer.json", TOKENIZER(NFC, ADDED "{\"content\": \"x\"}, "));
    REFUSED("a normalizer other than NFC", "tokenizer.json", TOKENIZER("{\"type\": \"NFKC\"}", ADDED));
    /* A token of the model that is written as one is in the vocabulary. */
    REFUSED("the token `" BOX BOX "` has two ids", "tokenizer.json",
            "{\"added_tokens\": [" FOUND("1", "  ", "") "{\"id\": 2, \"content\": \"x\"}], \"pre_tokenizer\": "
            "{\"type\": \"ByteLevel\"}, \"model\": {\"type\": \"BPE\", \"merges\": [], \"vocab\": {\"" BOX BOX "\": 0}}}");
}

/* A file with these strings. */
static void assert_file(const char *message, uint64_t n, const char *const *texts, uint64_t m, const char *const *how)
{
    char *folder = g_dir_make_tmp("xlm-added-XXXXXX", NULL), *path = g_build_filename(folder, "v.h5", NULL);
    GError *error = NULL;
    xlm_store *store = xlm_store_create(NULL, path, &error);
    assert_non_null(store);
    assert_true(xlm_store_write_strings(store, "/v/added_tokens", n, texts, &error));
    assert_true(xlm_store_write_strings(store, "/v/added_how", m, how, &error));
    assert_true(xlm_store_commit(store, &error));
    store = xlm_store_open(path, &error);
    assert_non_null(store);
    xlm_added_tokens *tokens = xlm_added_tokens_new();
    const bool good = xlm_added_tokens_load(tokens, store, "/v", &error);
    assert_true(good == (message == NULL));
    if (!good) {
        assert_int_equal(error->code, EX_DATAERR);
        if (strstr(error->message, message) == NULL)
            fail_msg("%s", error->message);
        g_error_free(error);
    }
    xlm_added_tokens_free(tokens);
    xlm_store_close(store);
    g_unlink(path);
    g_rmdir(folder);
    g_free(path);
    g_free(folder);
}

static void test_files(void **state)
{
    (void)state;
    const char *const texts[] = {"  ", "x y", "[MASK]"};
    const char *const how[] = {"normalized", "plain", "special lstrip rstrip single_word"};
    assert_file(NULL, 3, texts, 3, how);
    assert_file(NULL, 0, texts, 0, how);
    assert_file("different numbers", 3, texts, 2, how);
    assert_file("the added token `x y` is neither plain nor special", 2, texts, 2, (const char *const[]){"plain", "lefts"});
    assert_file("the added token `x y` is neither plain nor special", 2, texts, 2, (const char *const[]){"plain", ""});
    assert_file("the added token `  ` is not special and has \"lstrip\"", 1, texts, 1, (const char *const[]){"lstrip"});
    assert_file("the added token `x\ty` has white space other", 1, (const char *const[]){"x\ty"}, 1, how);
    assert_file("the added token `` has no text", 1, (const char *const[]){""}, 1, how);
}

/* The token that begins first, and of those the longest, by trying all of them everywhere. */
static size_t find_plainly(char **texts, const char *line, const char **best)
{
    for (size_t at = 0;; at++) {
        *best = NULL;
        for (char **text = texts; *text != NULL; text++)
            if (g_str_has_prefix(line + at, *text) && (*best == NULL || strlen(*text) > strlen(*best)))
                *best = *text;
        if (*best != NULL || line[at] == '\0')
            return at;
    }
}

static void test_longest(void **state)
{
    (void)state;
    static const char *const letters[] = {" ", "a", "b"};
    uint32_t k = 0;
    for (int trial = 0; trial < 200; trial++) {
        xlm_added_tokens *tokens = xlm_added_tokens_new();
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        for (int i = 0; i < 12; i++) {
            GString *text = text_make_word(77, &k, letters, 3, 6);
            if (text->len > 0 && xlm_added_tokens_of_text(tokens, text->str) == NULL) {
                assert_null(xlm_added_tokens_add(tokens, text->str, 0));
                g_ptr_array_add(texts, g_strdup(text->str));
            }
            g_string_free(text, TRUE);
        }
        g_ptr_array_add(texts, NULL);
        for (int i = 0; i < 10; i++) {
            GString *line = text_make_word(77, &k, letters, 3, 20);
            const char *best;
            size_t at = 0;
            const size_t expected = find_plainly((char **)texts->pdata, line->str, &best);
            const xlm_added_token *token = xlm_added_tokens_find(tokens, false, line->str, line->len, &at);
            assert_int_equal(at, expected);
            assert_true((token == NULL) == (best == NULL));
            if (token != NULL)
                assert_string_equal(token->text, best);
            at = 0;
            assert_null(xlm_added_tokens_find(tokens, true, line->str, line->len, &at));
            g_string_free(line, TRUE);
        }
        xlm_added_tokens_free(tokens);
    }
}

/* Without a tokenizer.json: added_tokens.json, which says nothing of them, and what other files say. */
static void test_added_file(void **state)
{
    (void)state;
#define READ_ADDED(ERROR, ADDED, SETTINGS)                                                                                      \
    READ(ERROR, "vocab.json", "{\"<s>\": 0, \"<pad>\": 1, \"</s>\": 2, \"<unk>\": 3, \"a\": 4, \"b\": 5, \"\u0120\": 6, "      \
         "\"\u0120b\": 7}", "merges.txt", "\u0120 b\n", "added_tokens.json", ADDED, "tokenizer_config.json", SETTINGS,         \
         "special_tokens_map.json", "{\"mask_token\": \"<mask>\", \"additional_special_tokens\": [\"[S]\"]}")
    static const char added[] = "{\"[E1]\": 9, \"<mask>\": 8, \"a b\": 10, \"[S]\": 11, \"[T]\": 12}";
    GError *error = NULL;
    xlm_vocabulary *v = READ_ADDED(&error, added,
                                   "{\"added_tokens_decoder\": {\"12\": {\"content\": \"[T]\", \"special\": true}}}");
    if (v == NULL)
        fail_msg("%s", error->message);
    assert_specials(v, 0, 1, 2, 3, 8);
    assert_int_equal(xlm_vocabulary_size(v), 13);
    assert_line(v, "a[E1] ba b b", "a [E1] \u0120b a" BOX "b \u0120b", "a[E1] ba b b");
    assert_line(v, "[S]", "<unk> <unk> <unk>", NULL);
    assert_line(v, "[T]", "<unk> <unk> <unk>", NULL);
    xlm_vocabulary_free(v);
    assert_null(READ_ADDED(&error, added, "{\"added_tokens_decoder\": {\"9\": {\"content\": \"[E1]\", \"lstrip\": true}}}"));
    assert_string_equal(error->message, "dir/added_tokens.json: the added token `[E1]` is not special and has \"lstrip\", which is "
                                        "not supported");
    g_error_free(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),   cmocka_unit_test(test_form_c),  cmocka_unit_test(test_reduced),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_files),   cmocka_unit_test(test_longest),
        cmocka_unit_test(test_added_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
