/* xlm-mpi: word counts, vocabularies and tokenizers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text_fixture.h"

#include "subwords/tokenizer.h"
#include "text/fields.h"

static void assert_counts(const xlm_word_counts *counts, const char *expected)
{
    GString *text = xlm_word_counts_print(counts);
    assert_string_equal(text->str, expected);
    g_string_free(text, TRUE);
}

/* ---- word counts ---- */

static void test_counts_words(void **state)
{
    (void)state;
    xlm_word_counts *counts = text_count("b a  a\n\nb ab\tx a");
    assert_counts(counts, "b 2\na 3\nab\tx 1\n");
    assert_int_equal(xlm_word_counts_total(counts), 6);
    xlm_word_counts_add(counts, "c", 1, 2);
    xlm_word_counts_sort(counts);
    assert_counts(counts, "a 3\nb 2\nc 2\nab\tx 1\n");
    assert_int_equal(xlm_word_counts_find(counts, "c", 1), 2);
    assert_int_equal(xlm_word_counts_find(counts, "ab", 2), -1);
    xlm_word_counts_cut(counts, 2);
    assert_counts(counts, "a 3\nb 2\n");
    assert_int_equal(xlm_word_counts_find(counts, "c", 1), -1);
    xlm_word_counts_add(counts, "c", 1, 1);
    assert_counts(counts, "a 3\nb 2\nc 1\n");
    xlm_word_counts_free(counts);
}

/* Ties by bytes: prefixes first, bytes above 127 last. */
static void test_sorts_by_bytes(void **state)
{
    (void)state;
    xlm_word_counts *counts = text_count("\xC3\xA4 ab a b abc B");
    xlm_word_counts_sort(counts);
    assert_counts(counts, "B 1\na 1\nab 1\nabc 1\nb 1\n\xC3\xA4 1\n");
    xlm_word_counts_free(counts);
}

/* Many words of all lengths, against a table of GLib's. */
static void test_counts_like_glib(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "b", "\xC3\xA4", "abcdefgh", "1", "22"};
    xlm_word_counts *counts = xlm_word_counts_new();
    GHashTable *expected = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint32_t k = 0;
    for (int i = 0; i < 60000; i++) {
        GString *word = text_make_word(1, &k, pieces, G_N_ELEMENTS(pieces), 9);
        gpointer before = g_hash_table_lookup(expected, word->str);
        xlm_word_counts_add(counts, word->str, word->len, 1);
        g_hash_table_insert(expected, g_strdup(word->str), GINT_TO_POINTER(GPOINTER_TO_INT(before) + 1));
        g_string_free(word, TRUE);
    }
    xlm_word_counts_sort(counts);
    assert_int_equal(xlm_word_counts_size(counts), g_hash_table_size(expected));
    for (uint32_t i = 0; i < xlm_word_counts_size(counts); i++) {
        const char *word = xlm_word_counts_word(counts, i, NULL);
        assert_int_equal(xlm_word_counts_count(counts, i), GPOINTER_TO_INT(g_hash_table_lookup(expected, word)));
        assert_int_equal(xlm_word_counts_index(counts, word, strlen(word)), i);
    }
    g_hash_table_unref(expected);
    xlm_word_counts_free(counts);
}

static void test_packs(void **state)
{
    (void)state;
    xlm_word_counts *counts = text_count("a b a"), *other = text_count("b c");
    xlm_word_counts_add(counts, "x\0y", 3, INT64_C(1) << 40);
    size_t size;
    g_autofree void *bytes = xlm_word_counts_pack(counts, &size);
    assert_int_equal(size, 3 * 12 + 1 + 1 + 3);
    assert_true(xlm_word_counts_unpack(other, bytes, size, NULL));
    assert_int_equal(xlm_word_counts_find(other, "b", 1), 2);
    assert_int_equal(xlm_word_counts_find(other, "a", 1), 2);
    assert_true(xlm_word_counts_find(other, "x\0y", 3) == INT64_C(1) << 40);
    assert_int_equal(xlm_word_counts_find(other, "x", 1), -1);
    GError *error = NULL;
    for (guint cut = 1; cut < 13; cut++) {
        assert_false(xlm_word_counts_unpack(other, bytes, cut, &error));
        g_clear_error(&error);
    }
    xlm_word_counts_free(counts);
    xlm_word_counts_free(other);
}

static void assert_bad_words(const char *text, const char *message)
{
    GError *error = NULL;
    assert_null(xlm_word_counts_parse("vocab", text, strlen(text), &error));
    assert_int_equal(error->code, EX_DATAERR);
    assert_true(g_str_has_prefix(error->message, message));
    g_error_free(error);
}

static void test_reads_words(void **state)
{
    (void)state;
    xlm_word_counts *counts = xlm_word_counts_parse("vocab", "lo@@ 3\r\nw 5\nx 0", 15, NULL);
    assert_counts(counts, "lo@@ 3\nw 5\nx 0\n");
    xlm_word_counts_free(counts);
    assert_bad_words("", "vocab: no words");
    assert_bad_words("a 1\nb\n", "vocab:2: ");
    assert_bad_words("a 1\nb x\n", "vocab:2: ");
    assert_bad_words("a 1\nb 1 2\n", "vocab:2: ");
    assert_bad_words("a 1\nb -1\n", "vocab:2: ");
    assert_bad_words("a 1\nb 99999999999999999999\n", "vocab:2: ");
    assert_bad_words("a 1\nb 1\na 1\n", "vocab:3: `a`");
    /* Counts are added up: the sum must not overflow, neither for two words nor for a word that occurs twice. */
    assert_bad_words("a 9223372036854775807\nb 1\n", "vocab:2: the counts are too large to be added up");
    assert_bad_words("a 9223372036854775807\na 1\n", "vocab:2: `a` occurs a second time");
    char *line = g_strnfill(XLM_FIELDS_LONGEST + 1, 'a');
    assert_bad_words(line, "vocab:1: a line of 134217729 bytes");
    g_free(line);
    counts = xlm_word_counts_parse("vocab", "a 9223372036854775806\nb 1", 25, NULL);
    assert_true(xlm_word_counts_total(counts) == INT64_MAX);
    xlm_word_counts_free(counts);
}

static void test_writes_files(void **state)
{
    (void)state;
    char *directory = g_dir_make_tmp("xlm-text-XXXXXX", NULL), *path = g_build_filename(directory, "file", NULL);
    GError *error = NULL;
    xlm_word_counts *counts = text_count("low low lower"), *read;
    assert_true(xlm_word_counts_write(counts, path, NULL));
    assert_non_null(read = xlm_word_counts_read(path, NULL));
    assert_counts(read, "low 2\nlower 1\n");
    xlm_word_counts_free(read);
    assert_true(g_file_set_contents(path, "\xef\xbb\xbflow 2\r\nlower 1\r\n", -1, NULL));
    assert_non_null(read = xlm_word_counts_read(path, NULL));
    assert_counts(read, "low 2\nlower 1\n");
    xlm_segmenter *segmenter = xlm_segmenter_new(&xlm_segmenter_bpe, xlm_bpe_learn(counts, 2)), *again;
    assert_true(xlm_segmenter_write(segmenter, path, NULL));
    assert_non_null(again = xlm_segmenter_read(&xlm_segmenter_bpe, path, NULL));
    xlm_segmenter_unref(again);
    assert_true(g_file_set_contents(path, "\xef\xbb\xbfl o 3\r\nlo w 3\r\n", -1, NULL));
    assert_non_null(again = xlm_segmenter_read(&xlm_segmenter_bpe, path, NULL));
    assert_int_equal(xlm_segmenter_size(again), 2);
    g_unlink(path);
    assert_null(xlm_word_counts_read(path, &error));
    assert_int_equal(error->code, EX_NOINPUT);
    g_clear_error(&error);
    assert_null(xlm_segmenter_read(&xlm_segmenter_bpe, path, &error));
    assert_int_equal(error->code, EX_NOINPUT);
    g_clear_error(&error);
    g_rmdir(directory);
    assert_false(xlm_segmenter_write(segmenter, path, &error));
    assert_int_equal(error->code, EX_CANTCREAT);
    g_error_free(error);
    xlm_segmenter_unref(segmenter);
    xlm_segmenter_unref(again);
    xlm_word_counts_free(counts);
    xlm_word_counts_free(read);
    g_free(path);
    g_free(directory);
}

/* ---- vocabularies ---- */

static const char *const names[] = {"en", "de"};

static xlm_segmenter *parse_codes(void)
{
    return text_bpe("l o 7\nlo w</w> 5\ne s 4\nes t</w> 4\n");
}

static xlm_vocabulary *make_vocabulary(const char *subwords, bool lowercase)
{
    xlm_word_counts *counts = xlm_word_counts_parse("vocab", subwords, strlen(subwords), NULL);
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_ICU, .lowercase = lowercase, .languages = 2,
                                              .language_names = names};
    xlm_vocabulary *v = xlm_vocabulary_new(counts, parse_codes(), &settings, NULL);
    xlm_word_counts_free(counts);
    assert_non_null(v);
    return v;
}

static void test_numbers_subwords(void **state)
{
    (void)state;
    xlm_vocabulary *v = make_vocabulary("b 2\nlow 9\na 2\n<s> 1\nlo@@ 3\n", false);
    static const char *const words[] = {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "low", "lo@@", "a", "b", "<s>"};
    assert_int_equal(xlm_vocabulary_size(v), 10);
    for (int i = 0; i < 10; i++)
        assert_string_equal(xlm_vocabulary_words(v)[i], words[i]);
    assert_int_equal(xlm_vocabulary_counts(v)[XLM_ID_UNK], 0);
    assert_int_equal(xlm_vocabulary_counts(v)[5], 9);
    assert_int_equal(xlm_vocabulary_find(v, "lo@@", 4), 6);
    assert_int_equal(xlm_vocabulary_find(v, "lo", 2), XLM_ID_UNK);
    assert_int_equal(xlm_vocabulary_find(v, "<s>", 3), 9);
    assert_int_equal(xlm_vocabulary_find(v, "<mask>", 6), XLM_ID_UNK);
    assert_true(xlm_vocabulary_joins(v, 6, 5));
    assert_false(xlm_vocabulary_joins(v, 5, 6));
    assert_false(xlm_vocabulary_joins(v, 6, XLM_ID_MASK));
    assert_false(xlm_vocabulary_joins(v, XLM_ID_MASK, 6));
    assert_false(xlm_vocabulary_joins(v, 6, 10));
    assert_false(xlm_vocabulary_joins(v, -1, 6));
    assert_int_equal(xlm_vocabulary_find_language(v, "de"), 1);
    assert_int_equal(xlm_vocabulary_find_language(v, "fr"), -1);
    xlm_vocabulary_free(v);
}

static void test_refuses_bad_texts(void **state)
{
    (void)state;
    GError *error = NULL;
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_SPACE};
    xlm_word_counts *counts = text_count("ok \xC3");
    assert_null(xlm_vocabulary_new(counts, parse_codes(), &settings, &error));
    assert_int_equal(error->code, EX_DATAERR);
    g_error_free(error);
    xlm_word_counts_free(counts);
}

static void test_chooses_subwords(void **state)
{
    (void)state;
    xlm_word_counts *words = xlm_word_counts_new();
    xlm_segmenter *segmenter = parse_codes();
    xlm_word_counts_add(words, "low", 3, 5);
    xlm_word_counts_add(words, "lowest", 6, 3);
    xlm_word_counts_add(words, "est", 3, 1);
    xlm_word_counts *chosen = text_choose(segmenter, words, 1, 0);
    assert_counts(chosen, "low 5\nest 4\nlo@@ 3\nw@@ 3\n");
    xlm_word_counts_free(chosen);
    chosen = text_choose(segmenter, words, 4, 0);
    assert_counts(chosen, "low 5\nest 4\n");
    xlm_word_counts_free(chosen);

    /* If low (5 times) is left out, it becomes lo@@ w: lo@@ then occurs 5 times more often, and comes first. */
    xlm_word_counts_add(words, "lol", 3, 4);
    xlm_word_counts_add(words, "l", 1, 6);
    chosen = text_choose(segmenter, words, 1, 0);
    assert_counts(chosen, "l 10\nlo@@ 7\nlow 5\nest 4\nw@@ 3\n");
    xlm_word_counts_free(chosen);
    chosen = text_choose(segmenter, words, 1, 2);
    assert_counts(chosen, "lo@@ 12\nl 10\n");
    xlm_word_counts_free(chosen);
    xlm_segmenter_unref(segmenter);
    xlm_word_counts_free(words);
}

static void test_saves_and_loads(void **state)
{
    (void)state;
    xlm_vocabulary *v = make_vocabulary("low 9\nlo@@ 3\n\xC3\xA4 2\na 2\n", true), *loaded = text_reload(v);
    assert_int_equal(xlm_vocabulary_size(loaded), 9);
    for (int i = 0; i < 9; i++) {
        assert_string_equal(xlm_vocabulary_words(loaded)[i], xlm_vocabulary_words(v)[i]);
        assert_int_equal(xlm_vocabulary_counts(loaded)[i], xlm_vocabulary_counts(v)[i]);
    }
    assert_int_equal(xlm_vocabulary_languages(loaded), 2);
    assert_string_equal(xlm_vocabulary_language_names(loaded)[1], "de");
    assert_int_equal(xlm_vocabulary_word_mode(loaded), XLM_WORDS_ICU);
    assert_true(xlm_vocabulary_lowercase(loaded));
    GString *codes = xlm_segmenter_print(xlm_vocabulary_segmenter(v)),
            *loaded_codes = xlm_segmenter_print(xlm_vocabulary_segmenter(loaded));
    assert_string_equal(codes->str, loaded_codes->str);
    g_string_free(codes, TRUE);
    g_string_free(loaded_codes, TRUE);
    xlm_vocabulary_free(v);
    xlm_vocabulary_free(loaded);
}

/* No codes and no languages: text that is in subwords already. */
static void test_saves_and_loads_little(void **state)
{
    (void)state;
    const xlm_vocabulary_settings settings = {.words = XLM_WORDS_SPACE};
    xlm_word_counts *counts = text_count("a b a");
    xlm_vocabulary *v = xlm_vocabulary_new(counts, text_bpe(""), &settings, NULL),
        *loaded = text_reload(v);
    assert_int_equal(xlm_vocabulary_languages(loaded), 0);
    assert_int_equal(xlm_vocabulary_word_mode(loaded), XLM_WORDS_SPACE);
    xlm_vocabulary_free(v);
    xlm_vocabulary_free(loaded);
    xlm_word_counts_free(counts);
}

static void test_digest_tells_apart(void **state)
{
    (void)state;
    xlm_vocabulary *v[] = {make_vocabulary("low 9\na 2\n", false), make_vocabulary("low 9\na 2\n", true),
                           make_vocabulary("low 9\na 1\n", false), make_vocabulary("low 9\nb 2\n", false),
                           make_vocabulary("low 9\na 2\nb 2\n", false)};
    for (size_t i = 0; i < G_N_ELEMENTS(v); i++)
        for (size_t j = 0; j < i; j++) { /* the first and the third differ in their counts */
            assert_true(xlm_vocabulary_digest(v[i]) != xlm_vocabulary_digest(v[j]));
            assert_int_equal(xlm_vocabulary_subwords_digest(v[i]) == xlm_vocabulary_subwords_digest(v[j]), i == 2 && j == 0);
        }
    for (size_t i = 0; i < G_N_ELEMENTS(v); i++)
        xlm_vocabulary_free(v[i]);
}

/* ---- text to ids and back ---- */

static void assert_encoded(xlm_tokenizer *t, const xlm_vocabulary *v, int language, const char *line, const char *expected,
                           size_t expected_words)
{
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    size_t words;
    for (int twice = 0; twice < 2; twice++) { /* the second time from memory */
        GString *out = g_string_new(NULL);
        g_array_set_size(ids, 0);
        assert_true(xlm_tokenizer_encode(t, language, line, strlen(line), ids, &words, NULL));
        for (guint i = 0; i < ids->len; i++)
            g_string_append_printf(out, "%s%s", i > 0 ? " " : "", xlm_vocabulary_words(v)[g_array_index(ids, int32_t, i)]);
        assert_string_equal(out->str, expected);
        assert_int_equal(words, expected_words);
        g_string_free(out, TRUE);
    }
    GArray *located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword));
    assert_true(xlm_tokenizer_locate(t, language, line, strlen(line), located, NULL));
    assert_int_equal(located->len, ids->len);
    for (guint i = 0; i < ids->len; i++)
        assert_int_equal(g_array_index(located, xlm_located_subword, i).id, g_array_index(ids, int32_t, i));
    g_array_free(located, TRUE);
    g_array_free(ids, TRUE);
}

/* Subwords of a text as the text has them, "|" between. */
static void assert_located(xlm_tokenizer *t, const char *text, const char *expected)
{
    GArray *located = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword));
    GString *out = g_string_new(NULL);
    assert_true(xlm_tokenizer_locate(t, 0, text, strlen(text), located, NULL));
    for (guint i = 0; i < located->len; i++) {
        const xlm_located_subword *s = &g_array_index(located, xlm_located_subword, i);
        assert_true(s->start < s->end && s->end <= strlen(text));
        g_string_append_printf(out, "%s%.*s", i > 0 ? "|" : "", (int)(s->end - s->start), text + s->start);
    }
    assert_string_equal(out->str, expected);
    g_string_free(out, TRUE);
    g_array_free(located, TRUE);
}

static void test_locates(void **state)
{
    (void)state;
    xlm_vocabulary *v = make_vocabulary("low 9\nest 5\nlo@@ 3\nw@@ 3\n, 2\n\xC3\xA4 1\ne@@ 1\n", true);
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    assert_located(t, "", "");
    assert_located(t, "\xEF\xBB\xBF LOW,\tlow\r\nA\xCC\x88.", "LOW|,|low|A\xCC\x88|.");
    assert_located(t, "(Lo\xC2\xADwest)", "(|Lo|w|est|)");            /* what is invisible between subwords is in neither */
    assert_located(t, "L\xC2\xADowest", "L\xC2\xADo|w|est");         /* and inside of one it stays */
    assert_located(t, "\xE4\xBD\xA0 x", "\xE4\xBD\xA0|x");          /* unknown to the vocabulary */
    assert_located(t, "\xC4\xB0", "\xC4\xB0|\xC4\xB0");             /* one letter, two in lower case */
    xlm_tokenizer_free(t);
    xlm_vocabulary_free(v);
}

static void test_encodes(void **state)
{
    (void)state;
    xlm_vocabulary *v = make_vocabulary("low 9\nest 5\nlo@@ 3\nw@@ 3\n, 2\n\xC3\xA4 1\ne@@ 1\n", true);
    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    assert_encoded(t, v, 0, "", "", 0);
    assert_encoded(t, v, 1, "LOW,  low\r\n", "low , low", 3);
    assert_encoded(t, v, -1, "lowest A\xCC\x88", "lo@@ w@@ est \xC3\xA4", 2);
    assert_encoded(t, v, 0, "es <s> est", "e@@ <unk> <unk> <unk> <unk> est", 5);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GError *error = NULL;
    assert_false(xlm_tokenizer_encode(t, 0, "low \xFF", 5, ids, NULL, &error));
    assert_int_equal(error->code, EX_DATAERR);
    assert_int_equal(ids->len, 0);
    g_error_free(error);

    GString *long_line = g_string_new(NULL);
    for (int i = 0; i < 1 << 18; i++)
        g_string_append(long_line, "lowe");
    size_t words;
    assert_true(xlm_tokenizer_encode(t, 0, long_line->str, long_line->len, ids, &words, NULL));
    assert_int_equal(words, 1);
    assert_int_equal(ids->len, 3 * (1 << 18));
    g_string_free(long_line, TRUE);
    g_array_free(ids, TRUE);
    xlm_tokenizer_free(t);
    xlm_vocabulary_free(v);
}

static void test_decodes(void **state)
{
    (void)state;
    xlm_vocabulary *v = make_vocabulary("low 9\nest 5\nlo@@ 3\nw@@ 3\n", false);
    static const struct {
        int32_t ids[6];
        size_t n;
        const char *text;
    } cases[] = {
        {{0}, 0, ""},
        {{5}, 1, "low"},
        {{0, 7, 8, 6, 5, 2}, 6, "<s> lowest low </s>"},
        {{7, 4, 6}, 3, "lo <mask> est"},
        {{5, 7}, 2, "low lo"},
        {{-1, 99}, 2, "<unk> <unk>"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GString *out = g_string_new("");
        xlm_vocabulary_decode(v, cases[i].ids, cases[i].n, out);
        assert_string_equal(out->str, cases[i].text);
        g_string_free(out, TRUE);
    }
    xlm_vocabulary_free(v);
}

/* ---- special tokens elsewhere ---- */

static const int32_t like_mbert[XLM_SPECIAL_TOKENS] = {3, 0, 4, 2, 8};
static const char *const mbert_names[XLM_SPECIAL_TOKENS] = {"[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"};

/* low 1, est 5, lo@@ 6, w@@ 7, and twins xx:low 9, xx:lo@@ 10 of a synthetic language. */
static xlm_vocabulary *make_elsewhere(const int32_t *ids, GError **error)
{
    static const char text[] = "low 9\nest 5\nlo@@ 3\nw@@ 3\n";
    static const int32_t originals[] = {1, 6};
    static const char *const languages[] = {"en", "xx"};
    const xlm_vocabulary_made made = {.language = 1, .steps = "transliterate", .weights = "", .twins = 2, .originals = originals};
    xlm_special_tokens specials;
    if (!xlm_special_tokens_set(&specials, ids, error))
        return NULL;
    xlm_word_counts *counts = xlm_word_counts_parse("vocab", text, strlen(text), NULL);
    const xlm_vocabulary_settings settings = {.specials = &specials, .special_names = mbert_names, .words = XLM_WORDS_SPACE,
                                              .languages = 2, .language_names = languages, .made_languages = 1, .made = &made};
    xlm_vocabulary *v = xlm_vocabulary_new(counts, parse_codes(), &settings, error);
    xlm_word_counts_free(counts);
    return v;
}

static void assert_elsewhere(const xlm_vocabulary *v)
{
    static const char *const words[] = {"[PAD]", "low", "[UNK]", "[CLS]", "[SEP]", "est", "lo@@", "w@@", "[MASK]", "xx:low",
                                        "xx:lo@@"};
    static const int64_t counts[] = {0, 9, 0, 0, 0, 5, 3, 3, 0, 9, 3};
    assert_int_equal(xlm_vocabulary_size(v), 11);
    int32_t number = 0;
    for (int32_t id = 0; id < 11; id++) {
        assert_string_equal(xlm_vocabulary_words(v)[id], words[id]);
        assert_int_equal(xlm_vocabulary_counts(v)[id], counts[id]);
        assert_int_equal(xlm_vocabulary_is_special(v, id), *words[id] == '[');
        if (*words[id] == '[') {
            assert_int_equal(xlm_vocabulary_find(v, words[id], strlen(words[id])), 2);
            continue;
        }
        assert_int_equal(xlm_vocabulary_find(v, words[id], strlen(words[id])), id);
        assert_int_equal(xlm_ordinary_number(xlm_vocabulary_specials(v), id), number);
        assert_int_equal(xlm_ordinary_id(xlm_vocabulary_specials(v), number++), id);
    }
    for (xlm_special i = 0; i < XLM_SPECIAL_TOKENS; i++)
        assert_int_equal(xlm_vocabulary_special(v, i), like_mbert[i]);
    assert_int_equal(xlm_vocabulary_twins(v, 1)[6], 10);
    assert_int_equal(xlm_vocabulary_twins(v, 1)[8], 8);

    xlm_tokenizer *t = xlm_tokenizer_new(v, NULL);
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    GString *out = g_string_new(NULL);
    static const char line[] = "low lowest z";
    assert_true(xlm_tokenizer_encode(t, 1, line, strlen(line), ids, NULL, NULL));
    xlm_vocabulary_decode(v, (const int32_t *)(void *)ids->data, ids->len, out);
    assert_string_equal(out->str, "xx:low xx:lowest [UNK]");
    g_string_free(out, TRUE);
    g_array_unref(ids);
    xlm_tokenizer_free(t);
}

static void test_specials_elsewhere(void **state)
{
    (void)state;
    xlm_vocabulary *v = make_elsewhere(like_mbert, NULL), *loaded = text_reload(v), *again = text_reload(loaded);
    assert_elsewhere(v);
    assert_elsewhere(loaded);
    assert_elsewhere(again);
    xlm_vocabulary_free(v);
    xlm_vocabulary_free(loaded);
    xlm_vocabulary_free(again);

    static const struct {
        int32_t ids[XLM_SPECIAL_TOKENS];
        const char *why;
    } bad[] = {
        {{3, 0, 4, 4, 8}, "unk = 4"},
        {{3, 2, 4, 2, 8}, "unk = 2"},
        {{3, 3, 3, 2, 8}, "eos = 3"},
        {{3, -1, 4, 2, 8}, "pad = -1"},
        {{3, 0, 4, 2, 11}, "the id 11, in a vocabulary of 11"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        assert_null(make_elsewhere(bad[i].ids, &error));
        assert_int_equal(error->code, EX_DATAERR);
        assert_non_null(strstr(error->message, bad[i].why));
        g_error_free(error);
    }
    xlm_special_tokens specials;
    const int32_t one[XLM_SPECIAL_TOKENS] = {1, 0, 1, 2, 3};
    assert_true(xlm_special_tokens_set(&specials, one, NULL));
    assert_int_equal(specials.distinct, 4);
    assert_int_equal(xlm_ordinary_id(&specials, 0), 4);
    const int32_t marian[XLM_SPECIAL_TOKENS] = {9, 9, 0, 1, 10}; /* its decoder begins with <pad> */
    assert_true(xlm_special_tokens_set(&specials, marian, NULL));
    assert_int_equal(specials.distinct, 4);
    assert_int_equal(xlm_ordinary_id(&specials, 0), 2);
}

/* Files from before the ids were written have the first five words for special tokens. */
static void test_loads_without_ids(void **state)
{
    (void)state;
    static const char *const words[] = {"<s>", "<pad>", "</s>", "<unk>", "<mask>", "low", "lo@@"}, *const codes[] = {"l o"};
    static const int64_t counts[] = {0, 0, 0, 0, 0, 9, 3};
    static const uint64_t n = G_N_ELEMENTS(words), one = 1;
    char *directory = g_dir_make_tmp("xlm-text-XXXXXX", NULL), *path = g_build_filename(directory, "v.h5", NULL);
    GError *error = NULL;
    xlm_store *store = xlm_store_create(NULL, path, &error);
    assert_non_null(store);
    assert_true(xlm_store_write_strings(store, "/vocabulary/words", n, words, &error) &&
                xlm_store_dataset(store, "/vocabulary/counts", XLM_I64, 1, &n, XLM_STORE_CHECKED, &error) &&
                xlm_store_write(store, "/vocabulary/counts", 0, n, counts, &error) &&
                xlm_store_write_strings(store, "/vocabulary/codes", 1, codes, &error) &&
                xlm_store_dataset(store, "/vocabulary/code_counts", XLM_I64, 1, &one, XLM_STORE_CHECKED, &error) &&
                xlm_store_write(store, "/vocabulary/code_counts", 0, 1, counts, &error) &&
                xlm_store_write_strings(store, "/languages", 1, codes, &error) &&
                xlm_store_set_int(store, "/vocabulary", "format_version", 1, &error) &&
                xlm_store_set_int(store, "/vocabulary", "lowercase", 0, &error) &&
                xlm_store_set_int(store, "/vocabulary", "specials", 5, &error) &&
                xlm_store_set_text(store, "/vocabulary", "words", "space", &error) && xlm_store_commit(store, &error));
    store = xlm_store_open(path, &error);
    xlm_vocabulary *v = xlm_vocabulary_load(store, "/vocabulary", &error);
    assert_non_null(v);
    for (xlm_special i = 0; i < XLM_SPECIAL_TOKENS; i++)
        assert_int_equal(xlm_vocabulary_special(v, i), i);
    assert_int_equal(xlm_vocabulary_find(v, "lo@@", 4), 6);
    xlm_vocabulary_free(v);
    xlm_store_close(store);
    g_unlink(path);
    g_rmdir(directory);
    g_free(path);
    g_free(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_words),      cmocka_unit_test(test_sorts_by_bytes),
        cmocka_unit_test(test_counts_like_glib),  cmocka_unit_test(test_packs),
        cmocka_unit_test(test_reads_words),       cmocka_unit_test(test_writes_files),
        cmocka_unit_test(test_numbers_subwords),  cmocka_unit_test(test_refuses_bad_texts),
        cmocka_unit_test(test_chooses_subwords),  cmocka_unit_test(test_saves_and_loads),
        cmocka_unit_test(test_saves_and_loads_little), cmocka_unit_test(test_digest_tells_apart),
        cmocka_unit_test(test_encodes), cmocka_unit_test(test_locates),           cmocka_unit_test(test_decodes),
        cmocka_unit_test(test_specials_elsewhere), cmocka_unit_test(test_loads_without_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
