/* xlm-mpi: tokenizers that are published with models, by cases worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "text_fixture.h"

#include "subwords/published.h"
#include "subwords/sentencepiece_model.h"
#include "subwords/tokenizer.h"

/* ---- files ---- */

/* Files in memory: name, text, name, text, ..., NULL. */
static xlm_tokenizer_files *files_of(GError **error, ...)
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

static xlm_vocabulary *read_all(xlm_tokenizer_files *files, GError **error)
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
static void assert_line(const xlm_vocabulary *v, const char *line, const char *subwords, const char *decoded)
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
static void assert_word(const xlm_vocabulary *v, bool inside, const char *word, const char *subwords)
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

/* What in a text its subwords are, "|" between. */
static void assert_places(const xlm_vocabulary *v, const char *text, const char *places)
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

static void assert_specials(const xlm_vocabulary *v, int bos, int pad, int eos, int unk, int mask)
{
    const int expected[] = {bos, pad, eos, unk, mask};
    for (xlm_special s = 0; s < XLM_SPECIAL_TOKENS; s++)
        assert_int_equal(xlm_vocabulary_special(v, s), expected[s]);
}

/* The words that a line is brought into. */
static void assert_words(const xlm_vocabulary *v, const char *line, const char *words)
{
    xlm_normaliser *n = xlm_segmenter_normaliser(xlm_vocabulary_segmenter(v), false, NULL);
    const char *normal;
    size_t size;
    assert_true(xlm_normaliser_run(n, line, strlen(line), &normal, &size, NULL));
    assert_string_equal(normal, words);
    assert_int_equal(size, strlen(words));
    xlm_normaliser_free(n);
}

/* ---- WordPiece ---- */

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

/* Special tokens that there are none of come behind, and files that say which they are are believed. */
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

/* ---- SentencePiece ---- */

/* A tokenizer.json with these steps, as of XLM-R. */
#define UNIGRAM_STEPS(NORMALIZER, SPLITTER, MORE, UNKNOWN)                                                                      \
    "{\"added_tokens\": [{\"id\": 0, \"content\": \"<s>\"}, {\"id\": 3, \"content\": \"<unk>\"}, {\"id\": 10, \"content\": "   \
    "\"<mask>\"}], \"normalizer\": " NORMALIZER ", \"pre_tokenizer\": " SPLITTER ", \"model\": {\"type\": \"Unigram\", "        \
    "\"unk_id\": " UNKNOWN ", \"vocab\": [[\"<s>\", 0], [\"<pad>\", 0], [\"</s>\", 0], [\"<unk>\", 0], [\"\u2581\", -3], "   \
    "[\"\u2581a\", -2], [\"b\", -2.5], [\"ab\", -1], [\"c\", -4], [\"bc\", -6.25]" MORE "]}}"
#define METASPACE "{\"type\": \"Metaspace\", \"replacement\": \"\u2581\", \"add_prefix_space\": true}"
#define SPLIT_METASPACE "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"WhitespaceSplit\"}, " METASPACE "]}"
/* map: its character map in base64. */
#define UNIGRAM_JSON(MAP, MORE, UNKNOWN)                                                                                        \
    UNIGRAM_STEPS("{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"" MAP "\"}", SPLIT_METASPACE, MORE, UNKNOWN)

/* Best sums of scores: "abc" is _ ab c (-8) and not _a bc (-8.25) or _a b c (-8.5); "abb" is _ ab b (-6.5), not _a b b (-7). */
static void test_unigram(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_vocabulary *v = READ(&error, "tokenizer.json", UNIGRAM_JSON("", ", [\"<mask>\", 0]", "3"));
    if (v == NULL)
        fail_msg("%s", error->message);
    assert_specials(v, 0, 1, 2, 3, 10);
    assert_int_equal(xlm_vocabulary_size(v), 11);
    assert_line(v, "abc  abb", "▁ ab c ▁ ab b", "abc abb");
    assert_line(v, "a bc", "▁a ▁ bc", "a bc");
    assert_word(v, true, "a", "▁a");
    assert_line(v, "axyc", "▁a <unk> c", "a <unk> c"); /* a run of unknown characters is one token */
    assert_line(v, "a<s>", "▁a <unk>", NULL);          /* names of special tokens are text */
    assert_line(v, " \u200b\t", "", "");
    assert_places(v, "axyc  a\u200bbc", "a|xy|c|a|\u200b|bc");
    assert_true(xlm_vocabulary_joins(v, 5, 6));
    assert_true(xlm_vocabulary_joins(v, 4, 7));
    assert_false(xlm_vocabulary_joins(v, 6, 5));
    assert_false(xlm_vocabulary_joins(v, 6, 4));
    xlm_vocabulary *loaded = text_reload(v);
    assert_line(loaded, "abc  abb", "▁ ab c ▁ ab b", "abc abb");
    xlm_vocabulary_free(loaded);
    xlm_vocabulary_free(v);
}

/* A character map that writes U+FF41 (EF BD 81) as "a", in base64: a trie of 256 units, each with the exclusive or that leads
 * to the next block, and the byte that leads to it; the value, at unit 4, is the place of the text. g_free. */
static char *wide_a_map(void)
{
    uint8_t map[4 + 1024 + 2] = {0};
    const struct {
        uint32_t at, unit;
    } units[] = {{0xEF, 0xEEu << 10 | 0xEF}, {0xBC, 0xBEu << 10 | 0xBD}, {0x83, 0x87u << 10 | 1 << 8 | 0x81}, {4, 1u << 31}};
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
        for (int k = 0; k < 4; k++)
            map[4 + 4 * units[i].at + k] = (uint8_t)(units[i].unit >> 8 * k);
    map[1] = 1024 >> 8;
    map[4 + 1024] = 'a';
    return g_base64_encode(map, sizeof map);
}

#define STEPS(LIST) "{\"type\": \"Sequence\", \"normalizers\": [" LIST "]}"
#define PRECOMPILED "{\"type\": \"Precompiled\", \"precompiled_charsmap\": \"@MAP@\"}"
#define STRIP "{\"type\": \"Strip\", \"strip_left\": false, \"strip_right\": true}"
#define ONE_SPACE(BY) "{\"type\": \"Replace\", \"pattern\": {\"Regex\": \" {2,}\"}, \"content\": \"" BY "\"}"

/* The steps that are published; the map writes \uFF41 as "a"; ids are those of the library tokenizers 0.23. */
static void test_unigram_steps(void **state)
{
    (void)state;
    static const char mask[] = ", [\"<mask>\", 0]";
    const struct {
        const char *normalizer, *splitter, *cut;
    } forms[] = {
        {STEPS(PRECOMPILED), SPLIT_METASPACE, "\u2581 ab c \u2581 ab b"},
        {STEPS(PRECOMPILED ", " STRIP ", " ONE_SPACE("\u2581")), METASPACE, "\u2581 ab c \u2581 ab b"},
        {STEPS(PRECOMPILED ", " ONE_SPACE(" ")), SPLIT_METASPACE, "\u2581 ab c \u2581 ab b"},
        {STEPS(PRECOMPILED ", " STRIP), METASPACE, "\u2581 ab c \u2581 \u2581 ab b"},
        {STEPS(STRIP ", " ONE_SPACE("\u2581")), METASPACE, "\u2581 <unk> bc \u2581 ab b"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        GError *error = NULL;
        char *map = wide_a_map(), *json = g_strdup_printf(UNIGRAM_STEPS("%s", "%s", "%s", "3"), forms[i].normalizer,
                                                          forms[i].splitter, mask);
        char **parts = g_strsplit(json, "@MAP@", -1);
        g_free(json);
        json = g_strjoinv(map, parts);
        xlm_vocabulary *v = READ(&error, "tokenizer.json", json);
        if (v == NULL)
            fail_msg("%s", error->message);
        assert_line(v, "\uff41bc  abb", forms[i].cut, NULL);
        g_free(map);
        g_free(json);
        g_strfreev(parts);
        xlm_vocabulary_free(v);
    }
    REFUSED("its pre_tokenizer is not", "tokenizer.json",
            UNIGRAM_STEPS(STEPS(STRIP), "{\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"WhitespaceSplit\"}, "
                          "{\"type\": \"Metaspace\", \"replacement\": \"\u2581\", \"prepend_scheme\": \"first\"}]}", "", "3"));
    REFUSED("(byte_fallback)", "tokenizer.json", "{\"model\": {\"type\": \"Unigram\", \"byte_fallback\": true}}");
}

static void test_unigram_refuses(void **state)
{
    (void)state;
    REFUSED("no unknown token (unk_id)", "tokenizer.json", UNIGRAM_JSON("", "", "null"));
    REFUSED("no unknown token (unk_id)", "tokenizer.json", UNIGRAM_JSON("", "", "10"));
    REFUSED("token 10 is not", "tokenizer.json", UNIGRAM_JSON("", ", [\"x\", \"y\"]", "3"));
    REFUSED("SentencePiece cannot take this model", "tokenizer.json",
            UNIGRAM_JSON("", ", [\"<mask>\", 0], [\"ab\", -1]", "3"));
    REFUSED("neither that of SentencePiece (Precompiled", "tokenizer.json",
            "{\"normalizer\": {\"type\": \"NFKC\"}, \"model\": {\"type\": \"Unigram\"}}");
    REFUSED("not that of SentencePiece (Metaspace)", "tokenizer.json",
            "{\"normalizer\": {\"type\": \"Precompiled\"}, \"model\": {\"type\": \"Unigram\"}}");
    /* Character maps: too short; a size of 4 units, which lead out of 4; of 0. */
    REFUSED("size of the character map", "tokenizer.json", UNIGRAM_JSON("AAAA", ", [\"<mask>\", 0]", "3"));
    REFUSED("leads out of it", "tokenizer.json", UNIGRAM_JSON("EAAAAAD8AwAA/AMAAPwDAAD8AwAAAAAA", ", [\"<mask>\", 0]", "3"));
    REFUSED("size of the character map", "tokenizer.json", UNIGRAM_JSON("AAAAAAAAAAA=", ", [\"<mask>\", 0]", "3"));
    REFUSED("dir/x.model: byte 1: a field is longer", "x.model", "\x0a\x7fzz");
    REFUSED("dir/x.model: byte 3: a piece is empty", "x.model", "\x0a\x02\x18\x01");
    REFUSED("has 0 unknown pieces", "x.model", "\x0a\x03\x0a\x01" "a");
    REFUSED("a CamembertTokenizer changes text", "x.model", "", "tokenizer_config.json",
            "{\"tokenizer_class\": \"CamembertTokenizer\"}");
}

/* ---- ALBERT ---- */

static xlm_vocabulary *read_albert(const char *settings)
{
    static const xlm_model_piece pieces[] = {
        {"<pad>", 0, XLM_PIECE_CONTROL}, {"<unk>", 0, XLM_PIECE_UNKNOWN}, {"[CLS]", 0, XLM_PIECE_CONTROL},
        {"[SEP]", 0, XLM_PIECE_CONTROL}, {"[MASK]", 0, XLM_PIECE_CONTROL}, {"\u2581", -2, XLM_PIECE_NORMAL},
        {"\u2581ete", -1, XLM_PIECE_NORMAL}, {"\u25819", -3, XLM_PIECE_NORMAL}, {"9", -4, XLM_PIECE_NORMAL},
        {",", -4, XLM_PIECE_NORMAL}, {"9,", -1, XLM_PIECE_NORMAL}, {"\u25819,", -1, XLM_PIECE_NORMAL},
        {"\"", -3, XLM_PIECE_NORMAL}, {"\u0130", -3, XLM_PIECE_NORMAL}, {"\u00e9", -3, XLM_PIECE_NORMAL},
        {"\u0301", -3, XLM_PIECE_NORMAL}, {"E", -3, XLM_PIECE_NORMAL}, {"te", -3, XLM_PIECE_NORMAL}};
    GString *bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces), NULL, 0);
    const char *const names[] = {"spiece.model", "config.json", "tokenizer_config.json"};
    const char *const texts[] = {bytes->str, "{\"model_type\": \"albert\"}", settings};
    const size_t sizes[] = {bytes->len, strlen(texts[1]), strlen(settings)};
    xlm_vocabulary *v = read_all(xlm_tokenizer_files_new("dir", 3, names, texts, sizes, NULL), NULL);
    g_string_free(bytes, TRUE);
    return v;
}

static void test_albert(void **state)
{
    (void)state;
    xlm_vocabulary *v = read_albert("{}");
    assert_non_null(v);
    assert_specials(v, 2, 0, 3, 1, 4);
    assert_line(v, " \u00c9t\u00e9\tETE\n", "\u2581ete \u2581ete", "ete ete");
    /* A comma behind a digit is apart: of a word's beginning, and of its inside. */
    assert_line(v, "9, 99, 9", "\u25819 , \u25819 9 , \u25819", "9, 99, 9");
    assert_line(v, "``9''", "\u2581 \" 9 \"", "\"9\"");
    assert_line(v, "\u0301 \u200b", "", "");
    assert_places(v, "``\u00c9t\u00e9''  99,\u00e9te", "|``|\u00c9|t\u00e9|''|9|9|,|\u00e9|te");
    xlm_vocabulary *loaded = text_reload(v), *cased = read_albert("{\"do_lower_case\": false, \"keep_accents\": true}");
    assert_line(loaded, "\u00c9t\u00e9 9,", "\u2581ete \u25819 ,", "ete 9,");
    assert_true(xlm_vocabulary_digest(loaded) == xlm_vocabulary_digest(v));
    assert_line(cased, "\u00e9te E", "\u2581 \u00e9 te \u2581 E", "\u00e9te E");
    assert_true(xlm_vocabulary_digest(cased) != xlm_vocabulary_digest(v));
    assert_false(xlm_segmenter_extends(xlm_vocabulary_segmenter(v), xlm_vocabulary_segmenter(cased), NULL));
    /* What ranks tell each other. */
    GString *text = xlm_segmenter_print(xlm_vocabulary_segmenter(cased));
    xlm_segmenter *again = xlm_segmenter_parse(xlm_segmenter_class_of(xlm_vocabulary_segmenter(v)), "again", text->str, text->len,
                                               NULL);
    assert_true(xlm_segmenter_digest(again, 0) == xlm_segmenter_digest(xlm_vocabulary_segmenter(cased), 0));
    g_string_free(text, TRUE);
    xlm_segmenter_unref(again);
    xlm_vocabulary_free(cased);
    xlm_vocabulary_free(loaded);
    xlm_vocabulary_free(v);
}

/* ---- byte-level BPE ---- */

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
    /* Words given singly: the first as it is, the others behind a space; none where there is one, and of empty ones. */
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
    xlm_vocabulary_free(v);
    v = READ(NULL, "tokenizer.json",
             "{\"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": false}, \"model\": "
             "{\"type\": \"BPE\", \"vocab\": {\"l\": 0, \"o\": 1, \"lo\": 2, \"lol\": 3}, \"merges\": [\"l o\", "
             "[\"lo\", \"l\"]]}}");
    assert_line(v, "lolo", "lo lo", "lolo");
    assert_line(v, "lol", "lol", "lol");
    xlm_vocabulary_free(v);
    REFUSED("dir/merges.txt:2: is not a merge", "vocab.json", "{\"a\": 0}", "merges.txt", "a b\nab\n");
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

/* ---- BPE of XLM ---- */

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
    REFUSED("dir/merges.txt:3: is the merge of an earlier line too", "vocab.json", XLM_VOCABULARY, "merges.txt",
            "l o\no w\nl o\n");
    REFUSED("dir/merges.txt:1: is not UTF-8", "vocab.json", XLM_VOCABULARY, "merges.txt", "l \xff\n");
    REFUSED("dir/nonbreaking_prefix.: is not UTF-8, or its name says no language", "vocab.json", XLM_VOCABULARY, "merges.txt",
            XLM_MERGES, "nonbreaking_prefix.", "Mr\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wordpiece_lines),        cmocka_unit_test(test_wordpiece_longest_word),
        cmocka_unit_test(test_wordpiece_scripts),      cmocka_unit_test(test_wordpiece_json),
        cmocka_unit_test(test_wordpiece_refuses),      cmocka_unit_test(test_special_tokens),
        cmocka_unit_test(test_unigram),                cmocka_unit_test(test_unigram_steps),
        cmocka_unit_test(test_unigram_refuses),        cmocka_unit_test(test_albert),
        cmocka_unit_test(test_bytes),                  cmocka_unit_test(test_bytes_merges),
        cmocka_unit_test(test_xlm),
        cmocka_unit_test(test_xlm_words),              cmocka_unit_test(test_xlm_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
