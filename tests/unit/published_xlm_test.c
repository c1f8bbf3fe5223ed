/* xlm-mpi: published tokenizers of XLM, by cases worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "published_fixture.h"

/* The words of a line of a language: "en: text" -> words. */
static void assert_moses(const xlm_vocabulary *v, const char *language, const char *line, const char *words)
{
    xlm_normaliser *n = xlm_segmenter_normaliser(xlm_vocabulary_segmenter(v), false, NULL);
    const char *normal;
    size_t size;
    const xlm_origin *origins;
    assert_true(xlm_normaliser_set_language(n, language, NULL));
    assert_true(xlm_normaliser_run_origins(n, line, strlen(line), &normal, &size, &origins, NULL));
    assert_string_equal(normal, words);
    for (size_t i = 0; i < size; i++) /* of each byte, a part of the line */
        assert_true(origins[i].start <= origins[i].end && origins[i].end <= strlen(line));
    xlm_normaliser_free(n);
}

#define XLM_SPECIALS                                                                                                            \
    "\"<s>\": 0, \"</s>\": 1, \"<pad>\": 2, \"<unk>\": 3, \"<special0>\": 4, \"<special1>\": 5"
static const char XLM_VOCABULARY[] = "{" XLM_SPECIALS ", \"l\": 6, \"o\": 7, \"w</w>\": 8, \"e\": 9, \"r</w>\": 10, "
                                     "\"lo\": 11, \"low</w>\": 12, \"er</w>\": 13, \".</w>\": 14, \"...</w>\": 15, "
                                     "\"w\": 16, \"l</w>\": 17}";
static const char XLM_MERGES[] = "l o 12\nlo w</w> 7\ne r</w> 5\n. . 3\n.. .</w> 2\n";
static const char XLM_CASED[] = "{\"tokenizer_class\": \"XLMTokenizer\", \"do_lowercase_and_remove_accent\": false, "
                                "\"cls_token\": \"</s>\"}";

static void test_xlm(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_vocabulary *v = READ(&error, "vocab.json", XLM_VOCABULARY, "merges.txt", XLM_MERGES, "config.json",
                             "{\"model_type\": \"xlm\"}");
    if (v == NULL)
        fail_msg("%s", error->message);
    assert_specials(v, 0, 2, 1, 3, 5);
    assert_string_equal(xlm_segmenter_class_of(xlm_vocabulary_segmenter(v))->name, "bpe_xlm");
    assert_line(v, "LOW l\u00f2wer...", "low</w> lo w er</w> ...</w>", "low lower ...");
    assert_line(v, "low.", "low</w> .</w>", "low .");
    assert_line(v, "lox", "lo <unk>", NULL);
    assert_line(v, "l <s>", "l</w> <unk> <unk> <unk>", NULL); /* names of special tokens are text: <, s, > */
    assert_line(v, "\u0301 \t", "", "");
    assert_true(xlm_vocabulary_joins(v, 11, 16));
    assert_false(xlm_vocabulary_joins(v, 12, 11));
    assert_false(xlm_vocabulary_joins(v, 14, 15));
    assert_places(v, "(L\u00d2W) low\u2026er", "(|L\u00d2W|)|low|\u2026|er");
    xlm_vocabulary *loaded = text_reload(v);
    assert_line(loaded, "LOW l\u00f2wer...", "low</w> lo w er</w> ...</w>", "low lower ...");
    assert_true(xlm_vocabulary_digest(loaded) == xlm_vocabulary_digest(v));
    xlm_vocabulary_free(loaded);
    xlm_vocabulary *cased = READ(NULL, "vocab.json", XLM_VOCABULARY, "merges.txt", XLM_MERGES, "tokenizer_config.json",
                                 XLM_CASED);
    assert_specials(cased, 0, 2, 1, 3, 5); /* the first token is not cls_token */
    assert_line(cased, "low Low", "low</w> <unk> o w</w>", NULL);
    assert_true(xlm_vocabulary_digest(v) != xlm_vocabulary_digest(cased));
    assert_false(xlm_segmenter_extends(xlm_vocabulary_segmenter(v), xlm_vocabulary_segmenter(cased), NULL));
    xlm_vocabulary_free(cased);
    xlm_vocabulary_free(v);
}

/* Words by the rules of Moses: of each language its own. */
static void test_xlm_words(void **state)
{
    (void)state;
    static const struct {
        const char *language, *line, *words;
    } cases[] = {
        {"en", "\"Hello,\" said Mr. Smith's dog, No. 5.", "\" Hello , \" said Mr. Smith 's dog , No. 5 ."},
        {"en", "\"So\". No. 'tis 1990's, 5,000 etc. and U.S. (a ) x: 5 %", /* `".` swapped; `) ` and ` %` drawn together */
         "\" So . \" No . ' tis 1990 's , 5,000 etc. and U.S. ( a ) x : 5 %"},
        {"", "it's", "it 's"},  /* without a language, English */
        {"und", "it's", "it 's"},
        {"de", "\u201eNein.\u201d Er ging's an: 1\u00a0000 Euro, z.B. a..b",
         "\" Nein \" . Er ging ' s an : 1,000 Euro , z.B. a .. b"},
        {"xx", "1\u00a0000", "1.000"},
        {"fr", "\u00ab\u00a0L'homme d'aujourd'hui\u00a0\u00bb", "\" L' homme d' aujourd' hui \""},
        {"ro", "\u021aar\u0103 \u00een", "Tara in"},
        {"ru", "\u0419\u043e\u0434, \u2116\u00a05\u2014\u0434\u0430", "\u0419\u043e\u0434 , \u2116 5 - \u0434\u0430"},
        {"ar", "\u0646\u0639\u0645\u061f", "\u0646\u0639\u0645 \u061f"},
        /* the virama is in the word */
        {"hi", "\u0928\u092e\u0938\u094d\u0924\u0947\u0964", "\u0928\u092e\u0938\u094d\u0924\u0947 \u0964"},
        {"ko", "\ud55c\uad6d\uc5b4.", "\ud55c\uad6d\uc5b4 ."},
        {"en", "\ud55c\uad6d\u4e2d.", "\ud55c \uad6d \u4e2d ."},
        {"el", "\u039f\u0394\u039f\u03a3;", "\u039f\u0394\u039f\u03a3 ;"},
        {"en", "\uff08\uff11\uff12\uff09\u3002\u3000a\uff0cb\u3001c", "( 12 ) . a , b , c"},
        {"en", "a\tb zero\u200bwidth \u00adsoft", "ab zerowidth soft"}, /* the category C goes, tabs too */
        {"en", "x . ' y .'", "x . ' y . '"},
        {"en", "a,b,,c 1,2 3, a,", "a , b , , c 1,2 3 , a ,"},
        {"zh-CN", "\u6211\u7231\u5317\u4eac\u3002", "\u6211 \u7231 \u5317\u4eac ."}, /* by ICU's dictionary */
    };
    xlm_vocabulary *v = READ(NULL, "vocab.json", XLM_VOCABULARY, "merges.txt", XLM_MERGES, "tokenizer_config.json", XLM_CASED);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_moses(v, cases[i].language, cases[i].line, cases[i].words);
    xlm_vocabulary_free(v);
    v = READ(NULL, "vocab.json", XLM_VOCABULARY, "merges.txt", XLM_MERGES);
    assert_moses(v, "el", "\u039f\u0394\u039f\u03a3 \u03a3 \u0386\u03b3\u03b9\u03bf\u03c2.",
                 "\u03bf\u03b4\u03bf\u03c2 \u03c3 \u03b1\u03b3\u03b9\u03bf\u03c2 .");
    assert_moses(v, "tr", "\u0130stanbul \u00c9T\u00c9", "istanbul ete");
    xlm_vocabulary_free(v);
    /* Lists of the tokenizer's own take the place of the one built in; a language without a list has the English one. */
    v = READ(NULL, "vocab.json", XLM_VOCABULARY, "merges.txt", XLM_MERGES, "nonbreaking_prefix.de",
             "# of German\nHr\nNr #NUMERIC_ONLY#\n", "nonbreaking_prefix.en", "Smth\n");
    xlm_vocabulary *loaded = text_reload(v);
    assert_moses(loaded, "de", "hr. Hr. Nr. 5 Nr. A Mr. X Smth. Y", "hr . hr. nr. 5 nr . a mr . x smth . y");
    assert_moses(loaded, "fr", "Hr. Mr. X Smth. Y", "hr . mr . x smth. y");
    assert_true(xlm_vocabulary_digest(loaded) == xlm_vocabulary_digest(v));
    xlm_vocabulary_free(loaded);
    xlm_vocabulary_free(v);
}

static void test_xlm_refuses(void **state)
{
    (void)state;
    REFUSED("dir/tokenizer_config.json: a FlaubertTokenizer finds words by rules of its own", "vocab.json", XLM_VOCABULARY,
            "merges.txt", XLM_MERGES, "tokenizer_config.json", "{\"tokenizer_class\": \"FlaubertTokenizer\"}");
    REFUSED("a model of type \"openai-gpt\"", "vocab.json", XLM_VOCABULARY, "merges.txt", XLM_MERGES, "config.json",
            "{\"model_type\": \"openai-gpt\"}");
    REFUSED("nothing says by what rules", "vocab.json", "{\"a</w>\": 0}", "merges.txt", "a b\n");
    REFUSED("dir/merges.txt:2: is not a merge", "vocab.json", XLM_VOCABULARY, "merges.txt", "l o\nlow\n");
    REFUSED("dir/merges.txt:2: has a count", "vocab.json", XLM_VOCABULARY, "merges.txt", "l o\no w 5\n");
    REFUSED("dir/merges.txt:1: its count is not a whole number", "vocab.json", XLM_VOCABULARY, "merges.txt", "l o x\n");
    REFUSED("dir/merges.txt:2: its count is too large", "vocab.json", XLM_VOCABULARY, "merges.txt",
            "l o 9223372036854775807\no w 1\n");
    REFUSED("dir/merges.txt:3: is the merge of an earlier line too", "vocab.json", XLM_VOCABULARY, "merges.txt",
            "l o\no w\nl o\n");
    REFUSED("dir/merges.txt:1: is not UTF-8", "vocab.json", XLM_VOCABULARY, "merges.txt", "l \xff\n");
    REFUSED("dir/nonbreaking_prefix.: is not UTF-8, or its name says no language", "vocab.json", XLM_VOCABULARY, "merges.txt",
            XLM_MERGES, "nonbreaking_prefix.", "Mr\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_xlm),
        cmocka_unit_test(test_xlm_words),
        cmocka_unit_test(test_xlm_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
