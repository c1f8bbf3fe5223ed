/* xlm-mpi: published models of SentencePiece, by cases worked out by hand. SPDX-License-Identifier: GPL-3.0-or-later */
#include "published_fixture.h"

#include "sentencepiece/model.h"

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

/* One whose first unit, which is never read as a value, is marked as one and leads out of the trie. g_free. */
static char *rootless_map(void)
{
    uint8_t map[4 + 1024 + 2] = {0};
    map[1] = 1024 >> 8;
    map[4 + 3] = 0xC0;
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
    REFUSED("not 256 byte pieces", "tokenizer.json",
            "{\"pre_tokenizer\": " METASPACE ", \"model\": {\"type\": \"Unigram\", \"byte_fallback\": true, \"unk_id\": 0, "
            "\"vocab\": [[\"<unk>\", 0], [\"a\", -1], [\"<0x41>\", 0]]}}");
    REFUSED("its normalizer is neither", "tokenizer.json",
            UNIGRAM_STEPS(STEPS("{\"type\": \"Prepend\", \"prepend\": \"\u2581\"}, " STRIP), METASPACE, "", "3"));
}

static char *replaced(const char *text, const char *from, const char *to)
{
    g_auto(GStrv) parts = g_strsplit(text, from, -1);
    return g_strjoinv(to, parts);
}

/* Older files do not name the type of the model. */
static void test_unigram_without_type(void **state)
{
    (void)state;
    g_autofree char *json = replaced(UNIGRAM_JSON("", ", [\"<mask>\", 0]", "3"), "\"type\": \"Unigram\", ", "");
    assert_null(strstr(json, "Unigram"));
    xlm_vocabulary *v = READ(NULL, "tokenizer.json", json);
    assert_non_null(v);
    assert_line(v, "abc", "\u2581 ab c", "abc");
    xlm_vocabulary_free(v);
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
    g_autofree char *map = rootless_map();
    g_auto(GStrv) parts = g_strsplit(UNIGRAM_JSON("@MAP@", ", [\"<mask>\", 0]", "3"), "@MAP@", -1);
    g_autofree char *rootless = g_strjoinv(map, parts);
    REFUSED("leads out of it", "tokenizer.json", rootless);
    REFUSED("dir/x.model: byte 1: a field is longer", "x.model", "\x0a\x7fzz");
    REFUSED("dir/x.model: byte 3: a piece is empty", "x.model", "\x0a\x02\x18\x01");
    REFUSED("has 0 unknown pieces", "x.model", "\x0a\x03\x0a\x01" "a");
    REFUSED("a CamembertTokenizer changes text", "x.model", "", "tokenizer_config.json",
            "{\"tokenizer_class\": \"CamembertTokenizer\"}");
}

/* ---- byte pairs with unknown characters as bytes ---- */

#define MARK_SPACES "{\"type\": \"Replace\", \"pattern\": {\"String\": \" \"}, \"content\": \"\u2581\"}"
#define MERGES "\"\u2581 \u2581\", [\"a\", \"b\"], \"\u2581 ab\", \"b a\", \"ab ab\", \"a bab\""

/* A tokenizer.json as of Gemma: 7 tokens, 256 bytes but for that of the tab, which is there itself, and pieces. g_free. */
static char *byte_pairs(const char *normalizer, const char *merges)
{
    static const char *const first[] = {"<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<h1>", "[@BOS@]"};
    static const char *const last[] = {"\u2581", "a", "b", "\u2581\u2581", "ab", "\u2581ab", "ba", "abab", "never"};
    g_autoptr(GString) vocabulary = g_string_new(NULL);
    int id = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
        g_string_append_printf(vocabulary, "\"%s\": %d, ", first[i], id++);
    for (int byte = 0; byte < 256; byte++)
        if (byte == '\t')
            g_string_append_printf(vocabulary, "\"\\t\": %d, ", id++);
        else
            g_string_append_printf(vocabulary, "\"<0x%02X>\": %d, ", (unsigned)byte, id++);
    for (size_t i = 0; i < G_N_ELEMENTS(last); i++)
        g_string_append_printf(vocabulary, "%s\"%s\": %d", i > 0 ? ", " : "", last[i], id++);
    return g_strdup_printf(
        "{\"added_tokens\": [{\"id\": 0, \"content\": \"<pad>\", \"special\": true}, {\"id\": 1, \"content\": \"<eos>\", "
        "\"special\": true}, {\"id\": 2, \"content\": \"<bos>\", \"special\": true}, {\"id\": 3, \"content\": \"<unk>\", "
        "\"special\": true}, {\"id\": 4, \"content\": \"<mask>\", \"special\": false}, {\"id\": 5, \"content\": \"<h1>\", "
        "\"special\": false}, {\"id\": 266, \"content\": \"\u2581\u2581\", \"special\": false}], \"normalizer\": %s, "
        "\"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"String\": \" \"}, \"behavior\": \"MergedWithPrevious\"}, "
        "\"model\": {\"type\": \"BPE\", \"unk_token\": \"<unk>\", \"byte_fallback\": true, \"vocab\": {%s}, \"merges\": [%s]}}",
        normalizer, vocabulary->str, merges);
}

static const char bos_and_eos[] = "{\"model_max_length\": 1000000000000000019884624838656, \"bos_token\": \"<bos>\", "
                                  "\"eos_token\": \"<eos>\", \"mask_token\": \"<mask>\"}";

static void test_byte_pairs(void **state)
{
    (void)state;
    GError *error = NULL;
    g_autofree char *json = byte_pairs(MARK_SPACES, MERGES);
    xlm_vocabulary *v = READ(&error, "tokenizer.json", json, "tokenizer_config.json", bos_and_eos);
    if (v == NULL)
        fail_msg("%s", error->message);
    assert_specials(v, 2, 0, 1, 3, 4);
    assert_int_equal(xlm_vocabulary_size(v), 272);
    assert_line(v, "ab ab  a", "ab ▁ab ▁▁ a", "ab ab a");
    assert_line(v, "bab abab", "b ab ▁ab ab", "bab abab"); /* by rank: a b before b a, and _ ab before ab ab */
    assert_line(v, "abab", "abab", "abab");
    assert_line(v, "a\u00fcb never", "a <0xC3> <0xBC> b ▁ <0x6E> <0x65> <0x76> <0x65> <0x72>", "a\u00fcb never");
    assert_line(v, "<h1>a<unk>", "<h1> a <0x3C> <0x75> <0x6E> <0x6B> <0x3E>", NULL); /* special tokens are text */
    assert_line(v, "a\tb", "a \t b", NULL);
    assert_word(v, true, "ab", "▁ab");
    assert_word(v, false, "ab", "ab");
    assert_places(v, "a\u00fcb ab", "a|\u00fc|\u00fc|b|ab");
    xlm_vocabulary *loaded = text_reload(v);
    assert_line(loaded, "ab ab  a", "ab ▁ab ▁▁ a", "ab ab a");
    xlm_vocabulary_free(loaded);

    /* Back: the same merges, but that those of a piece are ordered by ids, so the same text becomes the same subwords. */
    json_auto_t *files = json_object(), *settings = json_object();
    g_autoptr(GString) notes = g_string_new(NULL);
    xlm_segmenter_class_of(xlm_vocabulary_segmenter(v))->exchange->publish(v, files, settings, notes);
    assert_string_equal(notes->str, "");
    char *text = json_dumps(json_object_get(files, "tokenizer.json"), 0);
    assert_non_null(text);
    xlm_vocabulary *again = READ(&error, "tokenizer.json", text, "tokenizer_config.json", bos_and_eos);
    if (again == NULL)
        fail_msg("%s", error->message);
    assert_line(again, "bab abab  a\u00fcb<h1>", "b ab ▁ab ab ▁▁ a <0xC3> <0xBC> b <h1>", NULL);
    free(text);
    xlm_vocabulary_free(again);
    xlm_vocabulary_free(v);

    /* Older files do not name the type of the model. */
    g_autofree char *untyped = replaced(json, "\"type\": \"BPE\", ", "");
    v = READ(&error, "tokenizer.json", untyped, "tokenizer_config.json", bos_and_eos);
    assert_non_null(v);
    assert_line(v, "ab ab  a", "ab ▁ab ▁▁ a", "ab ab a");
    xlm_vocabulary_free(v);

    /* Llama's normalizer puts a mark before the text. */
    g_autofree char *prepended = byte_pairs("{\"type\": \"Sequence\", \"normalizers\": [{\"type\": \"Prepend\", \"prepend\": "
                                            "\"\u2581\"}, " MARK_SPACES "]}", MERGES);
    v = READ(&error, "tokenizer.json", prepended, "tokenizer_config.json", bos_and_eos);
    assert_line(v, "ab a", "▁ab ▁ a", "ab a");
    assert_word(v, true, "ab", "▁ab");
    xlm_vocabulary_free(v);
}

static void test_byte_pairs_refuses(void **state)
{
    (void)state;
    g_autofree char *nfc = byte_pairs("{\"type\": \"NFC\"}", MERGES), *unmade = byte_pairs(MARK_SPACES, MERGES ", \"a \u2581\"");
    g_autofree char *unpaired = byte_pairs(MARK_SPACES, "7"), *good = byte_pairs(MARK_SPACES, MERGES);
    g_autofree char *split = replaced(good, "Split", "Whitespace"), *no_unknown = replaced(good, "unk_token", "x_token");
    g_autofree char *no_byte = replaced(good, "<0x41>", "<0xZZ>");
    REFUSED("its normalizer is not that of byte pairs", "tokenizer.json", nfc);
    REFUSED("merge 7 makes no token", "tokenizer.json", unmade);
    REFUSED("merge 1 makes no token", "tokenizer.json", unpaired);
    REFUSED("its pre_tokenizer divides text", "tokenizer.json", split);
    REFUSED("has no unknown token (unk_token)", "tokenizer.json", no_unknown);
    REFUSED("SentencePiece cannot take this model", "tokenizer.json", no_byte);
}

/* ---- XLM-R ---- */

/* A model in a file of this name, with another file. */
static xlm_vocabulary *read_named(const char *name, const char *other, const char *text, GError **error)
{
    static const xlm_model_piece pieces[] = {{"<unk>", 0, XLM_PIECE_UNKNOWN}, {"<s>", 0, XLM_PIECE_CONTROL},
                                             {"</s>", 0, XLM_PIECE_CONTROL}, {"\u2581a", -1, XLM_PIECE_NORMAL},
                                             {"b", -1, XLM_PIECE_NORMAL}};
    GString *bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces),
                                             &(xlm_model_form){XLM_PIECES_UNIGRAM, true, true, false, NULL, 0});
    const char *const names[] = {name, other}, *const texts[] = {bytes->str, text};
    const size_t sizes[] = {bytes->len, strlen(text)};
    xlm_vocabulary *v = read_all(xlm_tokenizer_files_new("dir", 2, names, texts, sizes, error), error);
    g_string_free(bytes, TRUE);
    return v;
}

/* A model with these added_tokens.json. */
static xlm_vocabulary *read_xlm_r(const char *added, GError **error)
{
    return read_named("sentencepiece.bpe.model", "added_tokens.json", added, error);
}

/* Tokens that were added have names, though text does not become them. */
static void test_xlm_r_added(void **state)
{
    (void)state;
    GError *error = NULL;
    xlm_vocabulary *v = read_xlm_r("{\"[E1]\": 7, \"<mask>\": 6}", &error);
    if (v == NULL)
        fail_msg("%s", error->message);
    assert_specials(v, 0, 1, 2, 3, 6);
    assert_int_equal(xlm_vocabulary_size(v), 8);
    assert_string_equal(xlm_vocabulary_words(v)[7], "[E1]");
    assert_line(v, "ab", "\u2581a b", "ab");
    xlm_vocabulary_free(v);
    assert_null(read_xlm_r("{\"[E1]\": 5}", &error));
    assert_string_equal(error->message, "dir/added_tokens.json: tokens `b` and `[E1]` both have the id 5");
    g_error_free(error);
}

/* Ids are fairseq's by the class, of tokenizer_config.json or config.json, and by the file's name where no class says another. */
static void test_xlm_r_class(void **state)
{
    (void)state;
    static const char settings[] = "tokenizer_config.json", config[] = "config.json";
    static const char bpe[] = "sentencepiece.bpe.model", own[] = "spiece.model";
    const struct {
        const char *name, *file, *text, *first;
    } cases[] = {
        {bpe, config, "{\"model_type\": \"bert\", \"tokenizer_class\": \"XLMRobertaTokenizer\"}", "<s>"},
        {own, config, "{\"model_type\": \"bert\", \"tokenizer_class\": \"XLMRobertaTokenizer\"}", "<s>"},
        {bpe, config, "{\"model_type\": \"bert\"}", "<s>"},
        {own, config, "{\"model_type\": \"deberta-v2\"}", "<unk>"},
        {bpe, settings, "{\"tokenizer_class\": \"PreTrainedTokenizerFast\"}", "<s>"},
        {own, config, "{\"model_type\": \"xlm-roberta\"}", "<s>"},
        {own, config, "{\"model_type\": \"bert\"}", "<unk>"},
        {bpe, config, "{\"model_type\": \"xlm-roberta\", \"tokenizer_class\": \"T5Tokenizer\"}", "<unk>"},
        {bpe, settings, "{\"tokenizer_class\": \"T5Tokenizer\"}", "<unk>"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        xlm_vocabulary *v = read_named(cases[i].name, cases[i].file, cases[i].text, &error);
        if (v == NULL)
            fail_msg("%s: %s", cases[i].text, error->message);
        if (strcmp(xlm_vocabulary_words(v)[0], cases[i].first) != 0)
            fail_msg("%s, %s: the first token is %s", cases[i].name, cases[i].text, xlm_vocabulary_words(v)[0]);
        xlm_vocabulary_free(v);
    }
    GError *error = NULL;
    assert_null(read_named(bpe, config, "{\"tokenizer_class\": \"CamembertTokenizer\"}", &error));
    assert_string_equal(error->message, "dir/config.json: a CamembertTokenizer changes text or ids by rules of its own, which are "
                        "not supported");
    g_clear_error(&error);
    assert_null(read_named(bpe, config, "{\"model_type\": \"camembert\"}", &error));
    assert_string_equal(error->message, "dir/config.json: the tokenizer of a model of type \"camembert\" changes text or ids by "
                        "rules of its own, which are not supported");
    g_clear_error(&error);
    assert_null(read_named(bpe, config, "{\"model_type\": \"camembert\", \"tokenizer_class\": \"PreTrainedTokenizerFast\"}",
                           &error));
    assert_non_null(strstr(error->message, "a model of type \"camembert\" changes"));
    g_clear_error(&error);
    assert_null(read_named(own, config, "{\"tokenizer_class\": \"BertJapaneseTokenizer\"}", &error));
    assert_non_null(strstr(error->message, "a BertJapaneseTokenizer changes"));
    g_clear_error(&error);
}

/* The class of config.json decides of ALBERT's rules too. */
static void test_albert_class(void **state)
{
    (void)state;
    xlm_vocabulary *v = read_named("spiece.model", "config.json", "{\"tokenizer_class\": \"AlbertTokenizer\"}", NULL);
    assert_non_null(v);
    assert_line(v, "AB", "\u2581a b", NULL);
    xlm_vocabulary_free(v);
    v = read_named("spiece.model", "config.json", "{\"model_type\": \"albert\", \"tokenizer_class\": \"T5Tokenizer\"}", NULL);
    assert_non_null(v);
    assert_line(v, "b", "<unk> b", NULL);
    assert_line(v, "aB", "\u2581a <unk>", NULL);
    xlm_vocabulary_free(v);
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
    GString *bytes = xlm_sentencepiece_write(pieces, G_N_ELEMENTS(pieces),
                                             &(xlm_model_form){XLM_PIECES_UNIGRAM, true, true, false, NULL, 0});
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
    /* A comma after a digit is apart: of a word's beginning, and of its inside. */
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
    /* The form in which ranks exchange it. */
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

/* The tokenizer.json of a model of this form, without spaces between its parts: of characters and a word that was given. cut: what
 * the model, and then this file alone, make of a line; NULL: not compared. free. */
static char *publish_form(const xlm_model_form *form, const char *given, const char *cut, GString *notes)
{
    g_autoptr(GArray) pieces = xlm_sentencepiece_new_pieces();
    const xlm_model_piece some[] = {{"<unk>", 0, XLM_PIECE_UNKNOWN}, {"a", -2, XLM_PIECE_NORMAL}, {"\u2581", -3, XLM_PIECE_NORMAL},
                                    {"\u2581a", -2.5f, XLM_PIECE_NORMAL}, {(char *)(uintptr_t)given, 0, XLM_PIECE_GIVEN}};
    for (size_t i = 0; i < G_N_ELEMENTS(some); i++) {
        const xlm_model_piece piece = {g_strdup(some[i].text), some[i].score, some[i].kind};
        g_array_append_val(pieces, piece);
    }
    for (unsigned byte = 0; byte < 256 && form->bytes; byte++) {
        const xlm_model_piece piece = {g_strdup_printf("<0x%02X>", byte), 0, XLM_PIECE_BYTE};
        g_array_append_val(pieces, piece);
    }
    GString *model = xlm_sentencepiece_write((const xlm_model_piece *)(void *)pieces->data, pieces->len, form);
    GError *error = NULL;
    xlm_vocabulary *v = read_all(xlm_tokenizer_files_new("dir", 1, (const char *const[]){"x.model"},
                                                         (const char *const[]){model->str}, &model->len, &error), &error);
    if (v == NULL)
        fail_msg("%s", error->message);
    json_auto_t *files = json_object(), *settings = json_object();
    xlm_segmenter_class_of(xlm_vocabulary_segmenter(v))->exchange->publish(v, files, settings, notes);
    assert_string_equal(json_string_value(json_object_get(settings, "tokenizer_class")), "PreTrainedTokenizerFast");
    char *json = json_dumps(json_object_get(files, "tokenizer.json"), JSON_COMPACT | JSON_REAL_PRECISION(6));
    for (int back = 0; back < 2 && cut != NULL; back++) {
        assert_line(v, "  a  xyza\u00e9 ", cut, NULL);
        xlm_vocabulary_free(v);
        if ((v = READ(&error, "tokenizer.json", json)) == NULL)
            fail_msg("%s", error->message);
    }
    xlm_vocabulary_free(v);
    g_string_free(model, TRUE);
    return json;
}

static void assert_within(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no %s in %s", part, text);
}

/* What a model says besides its pieces is in tokenizer.json. */
static void test_forms(void **state)
{
    (void)state;
    static const char one_space[] = "{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"}";
    static const struct {
        xlm_model_form form;
        const char *normalizers, *splitter, *decoder, *cut;
    } cases[] = {
        {{XLM_PIECES_UNIGRAM, true, true, false, NULL, 0}, "@",
         "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":\"Metaspace\","
         "\"replacement\":\"\u2581\",\"add_prefix_space\":true,\"prepend_scheme\":\"always\"}]}",
         "\"decoder\":{\"type\":\"Metaspace\",", "\u2581a \u2581 xyz a <unk>"},
        {{XLM_PIECES_UNIGRAM, true, false, false, NULL, 0}, "{\"type\":\"Prepend\",\"prepend\":\"\u2581\"}",
         "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"add_prefix_space\":false,\"prepend_scheme\":"
         "\"never\",\"split\":false}", "{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]}",
         "\u2581 \u2581 \u2581a \u2581 \u2581 xyz a <unk> \u2581"},
        {{XLM_PIECES_UNIGRAM, false, true, true, NULL, 0}, "{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},@",
         "\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\u2581\",\"add_prefix_space\":false,\"prepend_scheme\":"
         "\"never\",\"split\":false}", "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"ByteFallback\"},",
         "a \u2581 xyz a <0xC3> <0xA9>"},
        {{XLM_PIECES_UNIGRAM, false, false, true, NULL, 0}, "",
         "\"add_prefix_space\":false,\"prepend_scheme\":\"never\",\"split\":false}", "{\"type\":\"ByteFallback\"}",
         "\u2581 \u2581a \u2581 \u2581 xyz a <0xC3> <0xA9> \u2581"}};
    g_autoptr(GString) notes = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        char *json = publish_form(&cases[i].form, "xyz", cases[i].cut, notes);
        g_autofree char *steps = replaced(cases[i].normalizers, "@", one_space);
        g_autofree char *normalizer = g_strconcat("\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[", steps, "]}", NULL);
        assert_within(json, normalizer);
        assert_within(json, cases[i].splitter);
        assert_within(json, cases[i].decoder);
        assert_within(json, cases[i].form.bytes ? "\"byte_fallback\":true" : "\"byte_fallback\":false");
        assert_within(json, "[\"xyz\",-0.1]"); /* as in the library, above that of any other */
        free(json);
    }
    assert_string_equal(notes->str, "");
    /* A word that was given, and that the map would change. */
    g_autofree char *text = wide_a_map();
    gsize size;
    g_autofree guchar *map = g_base64_decode(text, &size);
    const xlm_model_form mapped = {XLM_PIECES_UNIGRAM, true, true, false, (const char *)map, size};
    free(publish_form(&mapped, "xyz", NULL, notes));
    assert_string_equal(notes->str, "");
    free(publish_form(&mapped, "x\uff41z", NULL, notes));
    assert_within(notes->str, "changes characters of words that SentencePiece was given");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unigram),
        cmocka_unit_test(test_unigram_steps),
        cmocka_unit_test(test_unigram_without_type),
        cmocka_unit_test(test_unigram_refuses),
        cmocka_unit_test(test_byte_pairs), cmocka_unit_test(test_xlm_r_added),
        cmocka_unit_test(test_xlm_r_class), cmocka_unit_test(test_albert_class),
        cmocka_unit_test(test_byte_pairs_refuses),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_albert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
