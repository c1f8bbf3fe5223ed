/* xlm-mpi: published tokenizers of BERT, and special tokens, by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "published_fixture.h"

static const char BERT[] = "[PAD]\n[unused1]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\n##a\nwant\n##ed\n,\nthe\n!\n中\n"
                           "国\napfel\nÄpfel\nUN\n";
static const char CASED[] = "{\"do_lower_case\": false}";

static void test_wordpiece_lines(void **state)
{
    (void)state;
    xlm_vocabulary *v = READ(NULL, "vocab.txt", BERT);
    assert_non_null(v);
    assert_specials(v, 3, 0, 4, 2, 5);
    assert_int_equal(xlm_vocabulary_size(v), 20);
    assert_string_equal(xlm_vocabulary_words(v)[1], "[unused1]");
    assert_line(v, "UNaffable, the\twanted  Äpfel!", "un ##aff ##able , the want ##ed apfel !",
                "unaffable , the wanted apfel !");
    assert_line(v, "中国the", "中 国 the", "中 国 the");
    assert_line(v, "unaffablex want [MASK]", "[UNK] want [UNK] [UNK] [UNK]", NULL); /* names of special tokens are text */
    assert_line(v, "", "", "");
    assert_places(v, " UNaffable, the\twanted  A\xCC\x88pfel!\n", "UN|aff|able|,|the|want|ed|A\xCC\x88pfel|!");
    assert_places(v, "\xC2\xAD中国the unaffablex want [MASK]", "中|国|the|unaffablex|want|[|MASK|]");
    assert_places(v, "", "");
    assert_true(xlm_vocabulary_joins(v, 6, 7));
    assert_true(xlm_vocabulary_joins(v, 7, 8));
    assert_false(xlm_vocabulary_joins(v, 8, 6));
    xlm_vocabulary *loaded = text_reload(v);
    assert_line(loaded, "UNaffable", "un ##aff ##able", "unaffable");
    assert_specials(loaded, 3, 0, 4, 2, 5);
    xlm_vocabulary_free(loaded);
    xlm_vocabulary *cased = READ(NULL, "vocab.txt", BERT, "tokenizer_config.json", CASED);
    assert_line(cased, "UNaffable Äpfel apfel", "UN ##aff ##able Äpfel apfel", "UNaffable Äpfel apfel");
    assert_true(xlm_vocabulary_digest(v) != xlm_vocabulary_digest(cased));
    assert_false(xlm_segmenter_extends(xlm_vocabulary_segmenter(v), xlm_vocabulary_segmenter(cased), NULL));
    xlm_vocabulary_free(cased);
    xlm_vocabulary_free(v);
}

/* A word of 100 characters is cut, one of 101 is unknown; characters, not bytes. */
static void test_wordpiece_longest_word(void **state)
{
    (void)state;
    xlm_vocabulary *v = READ(NULL, "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nж\n##ж\n");
    for (int n = 99; n <= 101; n++) {
        GString *word = g_string_new(NULL), *subwords = g_string_new(NULL);
        for (int i = 0; i < n; i++) {
            g_string_append(word, "ж");
            g_string_append(subwords, i == 0 ? "ж" : " ##ж");
        }
        assert_line(v, word->str, n <= 100 ? subwords->str : "[UNK]", NULL);
        g_string_free(word, TRUE);
        g_string_free(subwords, TRUE);
    }
    xlm_vocabulary_free(v);
}

/* Words in 13 scripts: as they are, and folded. */
static void test_wordpiece_scripts(void **state)
{
    (void)state;
    static const struct {
        const char *line, *cased, *uncased;
    } cases[] = {
        {"Die Straße, São-Paulo’s «Œuvre»…",
         "Die Straße , São - Paulo ’ s « Œuvre » …",
         "die straße , sao - paulo ’ s « œuvre » …"},
        {"ΟΔΟΣ Άγιος;", "ΟΔΟΣ Άγιος ;", "οδος αγιος ;"},                   /* final sigma, tonos */
        /* Й is И and a breve; № is a symbol */
        {"Йод ёлка №5",
         "Йод ёлка №5",
         "иод елка №5"},
        /* vowel signs, Arabic punctuation */
        {"الْعَرَبِيَّةُ، نعم؟",
         "الْعَرَبِيَّةُ ، نعم ؟",
         "العربية ، نعم ؟"},
        /* points, maqaf */
        {"שָׁלוֹם־עולם",
         "שָׁלוֹם ־ עולם",
         "שלום ־ עולם"},
        /* virama and e are Mn, i and aa are Mc */
        {"नमस्ते दुनिया।",
         "नमस्ते दुनिया ।",
         "नमसत दनिया ।"},
        /* ii above is Mn */
        {"ภาษาไทยดี",
         "ภาษาไทยดี",
         "ภาษาไทยด"},
        {"我爱a北京。", "我 爱 a 北 京 。", "我 爱 a 北 京 。"},
        /* kana are no ideographs; ga is ka and a mark */
        {"カナと漢字ガ",
         "カナと 漢 字 ガ",
         "カナと 漢 字 カ"},
        {"한국어", "한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"}, /* Form D: conjoining jamo */
        {"ქართული, ენა", "ქართული , ენა", "ქართული , ენა"},
        {"Հայերեն։", "Հայերեն ։", "հայերեն ։"},
        /* pulli is Mn; o is e and aa */
        {"தமிழ் மொழி",
         "தமிழ் மொழி",
         "தமிழ ம\u0bc6\u0bbeழி"},
        {"İstanbul $5 a_b^c", "İstanbul $ 5 a _ b ^ c", "istanbul $ 5 a _ b ^ c"},
        {"a\u200bb\u00adc\u00a0d\u3000e\u2028f\tg", "abc d e f g", "abc d e f g"}, /* formats go, spaces part */
        {"a\ue000b\ufffdc\u0378d\x01" "e", "abcde", "abcde"},              /* private, lost, unassigned, control */
        {"\U00020000\U0001F600x", "\U00020000 \U0001F600x", "\U00020000 \U0001F600x"}, /* beyond 16 bits; an emoji is a symbol */
        {" \u200b ", "", ""},
    };
    xlm_vocabulary *v[] = {READ(NULL, "vocab.txt", BERT, "tokenizer_config.json", CASED), READ(NULL, "vocab.txt", BERT)};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        assert_words(v[0], cases[i].line, cases[i].cased);
        assert_words(v[1], cases[i].line, cases[i].uncased);
    }
    for (int i = 0; i < 2; i++)
        xlm_vocabulary_free(v[i]);
}

#define WORDPIECE_JSON(NORMALIZER, VOCABULARY)                                                                                   \
    "{\"added_tokens\": [{\"id\": 0, \"content\": \"[PAD]\"}, {\"id\": 5, \"content\": \"<gap>\"}],"                            \
    " \"normalizer\": {\"type\": \"BertNormalizer\"" NORMALIZER "}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"},"       \
    " \"model\": {\"type\": \"WordPiece\", \"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 4,"             \
    " \"vocab\": {" VOCABULARY "}}}"

static void test_wordpiece_json(void **state)
{
    (void)state;
    xlm_vocabulary *v = READ(NULL, "tokenizer.json",
                             WORDPIECE_JSON(", \"lowercase\": false, \"strip_accents\": null, \"handle_chinese_chars\": false",
                                            "\"[PAD]\": 0, \"[UNK]\": 1, \"é\": 6, \"##e\": 7, \"[CLS]\": 2, \"[SEP]\": 3, "
                                            "\"[MASK]\": 4, \"E\": 8"));
    assert_non_null(v);
    assert_specials(v, 2, 0, 3, 1, 4);
    assert_int_equal(xlm_vocabulary_size(v), 9);
    assert_string_equal(xlm_vocabulary_words(v)[5], "<gap>");
    assert_line(v, "éeee Eeeee Ee", "é ##e ##e ##e [UNK] E ##e", NULL);
    assert_words(v, "É中国", "É中国");
    xlm_vocabulary_free(v);

    /* Older files do not name the type of the model. */
    v = READ(NULL, "tokenizer.json",
             "{\"normalizer\": {\"type\": \"BertNormalizer\"}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, \"model\": "
             "{\"unk_token\": \"[UNK]\", \"continuing_subword_prefix\": \"##\", \"max_input_chars_per_word\": 100, \"vocab\": "
             "{\"[PAD]\": 0, \"[UNK]\": 1, \"[CLS]\": 2, \"[SEP]\": 3, \"[MASK]\": 4, \"a\": 5, \"##b\": 6}}}");
    assert_non_null(v);
    assert_line(v, "ab B", "a ##b [UNK]", NULL);
    xlm_vocabulary_free(v);
    REFUSED("dir: no tokenizer that is known; it is read", "tokenizer.json", /* a WordLevel model, as it was */
            "{\"model\": {\"unk_token\": \"[UNK]\", \"vocab\": {\"[UNK]\": 0, \"a\": 1}}}");

    REFUSED("dir/tokenizer.json: its normalizer is Lowercase", "tokenizer.json",
            "{\"normalizer\": {\"type\": \"Lowercase\"}, \"model\": {\"type\": \"WordPiece\", \"vocab\": {}}}");
    REFUSED("not a whole number", "tokenizer.json", WORDPIECE_JSON("", "\"a\": 0.5"));
    REFUSED("tokens `a` and `[PAD]` both have the id 0", "tokenizer.json", WORDPIECE_JSON("", "\"a\": 0"));
    REFUSED("no token has the id 1", "tokenizer.json", WORDPIECE_JSON("", "\"[PAD]\": 0"));
    REFUSED("has the id 9223372036854775807, which cannot be", "tokenizer.json",
            WORDPIECE_JSON("", "\"a\": 9223372036854775807"));
    REFUSED("has the id -1, which cannot be", "tokenizer.json", WORDPIECE_JSON("", "\"a\": -1"));
    REFUSED("dir/tokenizer.json:2: not JSON", "tokenizer.json", "{\n\"a\": }");
    REFUSED("has no vocabulary", "tokenizer.json",
            "{\"normalizer\": {\"type\": \"BertNormalizer\"}, \"pre_tokenizer\": {\"type\": \"BertPreTokenizer\"}, "
            "\"model\": {\"type\": \"WordPiece\"}}");
}

/* Settings of tokenizer_config.json go before those of tokenizer.json, one by one, but for a class that does not read them. */
static void test_wordpiece_settings(void **state)
{
    (void)state;
    static const char cased[] = ", \"lowercase\": false, \"strip_accents\": null, \"handle_chinese_chars\": false";
    static const char uncased[] = ", \"lowercase\": true, \"strip_accents\": true, \"handle_chinese_chars\": true";
    static const char unstripped[] = ", \"lowercase\": true, \"strip_accents\": false, \"handle_chinese_chars\": true";
    const struct {
        const char *normalizer, *settings, *words; /* of "É中b" */
    } cases[] = {
        {cased, "{}", "É中b"},
        {cased, "{\"do_lower_case\": null, \"strip_accents\": null, \"tokenize_chinese_chars\": null}", "É中b"},
        {cased, "{\"do_lower_case\": true}", "e中b"},
        {cased, "{\"do_lower_case\": true, \"strip_accents\": false}", "é中b"},
        {cased, "{\"strip_accents\": true}", "E中b"},
        {cased, "{\"tokenize_chinese_chars\": true, \"tokenizer_class\": \"BertTokenizer\"}", "É 中 b"},
        {cased, "{\"do_lower_case\": true, \"tokenizer_class\": \"PreTrainedTokenizerFast\"}", "É中b"},
        {uncased, "{\"model_max_length\": 512}", "e 中 b"},
        {uncased, "{\"do_lower_case\": false}", "É 中 b"},
        {uncased, "{\"do_lower_case\": false, \"strip_accents\": true}", "E 中 b"},
        {unstripped, "{}", "é 中 b"},
        {unstripped, "{\"do_lower_case\": true, \"strip_accents\": null}", "e 中 b"},
        {uncased, "{\"do_lower_case\": false, \"strip_accents\": false, \"tokenize_chinese_chars\": false}", "É中b"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *json = g_strdup_printf(WORDPIECE_JSON("%s", "\"[PAD]\": 0, \"[UNK]\": 1, \"[CLS]\": 2, \"[SEP]\": 3, "
                                                               "\"[MASK]\": 4"), cases[i].normalizer);
        xlm_vocabulary *v = READ(NULL, "tokenizer.json", json, "tokenizer_config.json", cases[i].settings);
        assert_non_null(v);
        assert_words(v, "É中b", cases[i].words);
        xlm_vocabulary_free(v);
    }
}

static void test_wordpiece_refuses(void **state)
{
    (void)state;
    REFUSED("dir/vocab.txt:3: is empty", "vocab.txt", "a\nb\n\nc\n");
    REFUSED("dir/vocab.txt:2: is not UTF-8", "vocab.txt", "a\n\xff\n");
    REFUSED("dir: the token `a` has two ids, 0 and 2", "vocab.txt", "a\nb\na\n");
    REFUSED("dir: has no tokens", "vocab.txt", "");
    REFUSED("dir: no tokenizer that is known", "config.json", "{}");
    REFUSED("its model is WordLevel", "tokenizer.json", "{\"model\": {\"type\": \"WordLevel\"}}");
}

/* A vocab.txt of classes whose rules are BERT's, and of others. */
static void test_wordpiece_class(void **state)
{
    (void)state;
    static const char *const same[] = {"BertTokenizer", "BertTokenizerFast", "ElectraTokenizerFast", "DistilBertTokenizer",
                                       "MPNetTokenizer", "PreTrainedTokenizerFast"};
    static const char *const others[] = {"BertJapaneseTokenizer", "PhobertTokenizer", "BertweetTokenizer", "Bert",
                                         "BertTokenizerX"};
    static const char *const files[] = {"tokenizer_config.json", "config.json"};
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(same); i++) {
        g_autofree char *text = g_strdup_printf("{\"tokenizer_class\": \"%s\"}", same[i / 2]);
        xlm_vocabulary *v = READ(NULL, "vocab.txt", BERT, files[i % 2], text);
        if (v == NULL)
            fail_msg("%s is refused", same[i / 2]);
        assert_line(v, "UNaffable", "un ##aff ##able", NULL);
        xlm_vocabulary_free(v);
    }
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(others); i++) {
        g_autofree char *text = g_strdup_printf("{\"tokenizer_class\": \"%s\"}", others[i / 2]);
        g_autofree char *message = g_strdup_printf("dir/%s: a %s with a vocab.txt finds words by rules", files[i % 2],
                                                   others[i / 2]);
        REFUSED(message, "vocab.txt", BERT, files[i % 2], text);
    }
    /* The class of tokenizer_config.json is that of the tokenizer. */
    xlm_vocabulary *v = READ(NULL, "vocab.txt", BERT, "config.json", "{\"tokenizer_class\": \"BertJapaneseTokenizer\"}",
                             "tokenizer_config.json", "{\"tokenizer_class\": \"BertTokenizer\"}");
    assert_non_null(v);
    xlm_vocabulary_free(v);
    REFUSED("dir/vocab.txt:2: has white space", "vocab.txt", "a\nb 12\n");
    REFUSED("dir/vocab.txt:1: has white space", "vocab.txt", "a\t7\r\nb\r\n");
}

/* Missing special tokens are added at the end; files that name special tokens are believed. */
static void test_special_tokens(void **state)
{
    (void)state;
    GError *error = NULL;
    int added;
    xlm_tokenizer_files *files = files_of(&error, "vocab.txt", "a\n[UNK]\nb\n", NULL);
    xlm_vocabulary *v = xlm_published_vocabulary(files, &added, &error);
    assert_non_null(v);
    assert_int_equal(added, 4);
    assert_specials(v, 3, 4, 5, 1, 6);
    assert_string_equal(xlm_vocabulary_words(v)[6], "<mask>");
    assert_line(v, "b a c", "b a [UNK]", "b a [UNK]");
    xlm_vocabulary_free(v);
    xlm_tokenizer_files_free(files);

    v = READ(NULL, "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nX\n<m>\n", "special_tokens_map.json",
             "{\"mask_token\": {\"content\": \"<m>\"}, \"cls_token\": \"X\", \"pad_token\": \"none\"}");
    assert_specials(v, 5, 0, 3, 1, 6);
    xlm_vocabulary_free(v);
    REFUSED("is the id of another special token too", "vocab.txt", BERT, "special_tokens_map.json",
            "{\"mask_token\": \"[PAD]\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wordpiece_lines),
        cmocka_unit_test(test_wordpiece_longest_word),
        cmocka_unit_test(test_wordpiece_scripts),
        cmocka_unit_test(test_wordpiece_json),
        cmocka_unit_test(test_wordpiece_settings),
        cmocka_unit_test(test_wordpiece_refuses),
        cmocka_unit_test(test_wordpiece_class),
        cmocka_unit_test(test_special_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
