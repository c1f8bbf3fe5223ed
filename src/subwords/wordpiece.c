/* xlm-mpi: WordPiece, the segmenter of BERT. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Source: Devlin, Chang, Lee, Toutanova, "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
 * NAACL 2019, and the tokenization.py published with it.
 *
 * Lines are processed in this order (a tokenizer.json can turn off each step but the last two):
 *   1. characters of the categories C (controls, formats, private use, unassigned), 0 and U+FFFD are left out, except tabs and
 *      line ends, which are white space
 *   2. each ideograph of the CJK blocks becomes a word
 *   3. lower case (full mapping, final sigma)
 *   4. accents stripped: Form D without the category Mn
 *   5. words between white space
 *   6. each punctuation mark (category P, and what is neither letter nor digit in ASCII) becomes a word
 *
 * A word becomes the longest subword at its beginning, then the longest that continues it with "##" before it, and so on. If
 * there is none, or if the word has more than 100 characters, the whole word is one unknown token. The name of a special token in
 * a text is text.
 *
 * In a file, attributes of /vocabulary: wordpiece_lowercase, wordpiece_strip_accents, wordpiece_ideographs, wordpiece_clean (0 or
 * 1), wordpiece_longest (characters), continuation = "##". */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#include "base/log.h"
#include "base/rng.h"
#include "subwords/segmenter.h"
#include "subwords/vocabulary.h"
#include "subwords/word_store.h"
#include "text/icu.h"

typedef struct wordpiece {
    int64_t lower, strip, ideographs, clean; /* 0 or 1 */
    int64_t longest;                         /* characters of a word */
    char *prefix;                            /* "##" */
} wordpiece;

enum { NUMBERS = 5, LONGEST_DEFAULT = 100, LONGEST_MAX = 1000000 };
static const struct {
    const char *name;
    size_t offset;
    int64_t max;
} numbers[NUMBERS] = {
    {"wordpiece_lowercase", offsetof(wordpiece, lower), 1},          {"wordpiece_strip_accents", offsetof(wordpiece, strip), 1},
    {"wordpiece_ideographs", offsetof(wordpiece, ideographs), 1},    {"wordpiece_clean", offsetof(wordpiece, clean), 1},
    {"wordpiece_longest", offsetof(wordpiece, longest), LONGEST_MAX},
};

static int64_t *number_of(wordpiece *m, int i) { return (int64_t *)(void *)((char *)m + numbers[i].offset); }
static int64_t value_of(const wordpiece *m, int i)
{
    return *(const int64_t *)(const void *)((const char *)m + numbers[i].offset);
}

static void free_model(void *model)
{
    g_free(((wordpiece *)model)->prefix);
    g_free(model);
}

/* ---- lines ---- */

typedef struct folding {
    const wordpiece *model;
    GArray *text, *other; /* UChar */
    GArray *from;         /* xlm_origin of each unit of `text`, when `located` */
    bool located;
    bool space;           /* write a space before the next character of the output */
} folding;

static UChar *units(GArray *text) { return (UChar *)(void *)text->data; }

static bool is_ideograph(UChar32 c)
{
    static const UChar32 blocks[][2] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                                        {0x2B740, 0x2B81F}, {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
    if (c < 0x3400)
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(blocks); i++)
        if (c >= blocks[i][0] && c <= blocks[i][1])
            return true;
    return false;
}

static bool is_dropped(UChar32 c)
{
    if (c == '\t' || c == '\n' || c == '\r')
        return false;
    return c == 0 || c == 0xFFFD || (U_GET_GC_MASK(c) & U_GC_C_MASK) != 0;
}

static bool is_punctuation(UChar32 c)
{
    return c < 0x80 ? g_ascii_ispunct((char)c) : (U_GET_GC_MASK(c) & U_GC_P_MASK) != 0;
}

/* Steps 5 and 6 for one character. origins: NULL if not needed. */
static void put(folding *f, UChar32 c, xlm_origin from, GString *out, GArray *origins)
{
    if (u_isUWhiteSpace(c)) {
        f->space = true;
        return;
    }
    const bool mark = is_punctuation(c);
    if ((f->space || mark) && out->len > 0) {
        g_string_append_c(out, ' ');
        xlm_origins_add(origins, 1, from.start, from.start);
    }
    g_string_append_unichar(out, (gunichar)c);
    xlm_origins_add(origins, U8_LENGTH(c), from.start, from.end);
    f->space = mark;
}

/* A line of ASCII needs no ICU. */
static void fold_ascii(folding *f, const char *text, size_t size, GString *out, GArray *origins)
{
    const wordpiece *m = f->model;
    for (size_t i = 0; i < size; i++) {
        const char c = text[i];
        const xlm_origin from = {(uint32_t)i, (uint32_t)i + 1};
        if (!m->clean || !is_dropped(c))
            put(f, m->lower ? g_ascii_tolower(c) : c, from, out, origins);
    }
}

/* Steps 1 and 2 into f->text. */
static void clean(folding *f, const char *text, int32_t size)
{
    g_array_set_size(f->text, 0);
    g_array_set_size(f->from, 0);
    for (int32_t i = 0; i < size;) {
        const int32_t start = i;
        UChar32 c;
        U8_NEXT_UNSAFE(text, i, c);
        if (f->model->clean && is_dropped(c))
            continue;
        const bool apart = f->model->ideographs && is_ideograph(c);
        UChar unit[U16_MAX_LENGTH + 2];
        int32_t n = 0;
        if (apart)
            unit[n++] = ' ';
        U16_APPEND_UNSAFE(unit, n, c);
        if (apart)
            unit[n++] = ' ';
        g_array_append_vals(f->text, unit, (guint)n);
        xlm_origins_add(f->located ? f->from : NULL, (size_t)n, (size_t)start, (size_t)i);
    }
}

static void take_other(folding *f)
{
    GArray *text = f->text;
    f->text = f->other;
    f->other = text;
}

/* The number of units that a character becomes. Lower case depends on the context only for the final sigma, which has as many
 * units as the other. */
static int32_t lower_size(UChar32 c)
{
    UErrorCode status = U_ZERO_ERROR;
    UChar unit[U16_MAX_LENGTH], small[16];
    int32_t n = 0;
    U16_APPEND_UNSAFE(unit, n, c);
    const int32_t size = u_strToLower(small, G_N_ELEMENTS(small), unit, n, "", &status);
    xlm_icu_demand(status);
    return size;
}

static int32_t decomposed_size(UChar32 c)
{
    UErrorCode status = U_ZERO_ERROR;
    UChar parts[32];
    const int32_t size = unorm2_getDecomposition(unorm2_getNFDInstance(&status), c, parts, G_N_ELEMENTS(parts), &status);
    xlm_icu_demand(status);
    return size >= 0 ? size : U16_LENGTH(c);
}

/* Update f->from for what f->text is about to become. */
static void spread_origins(folding *f, int32_t (*size_of_result)(UChar32 c))
{
    const UChar *unit = units(f->text);
    GArray *from = f->located ? g_array_new(FALSE, FALSE, sizeof(xlm_origin)) : NULL;
    for (int32_t i = 0; from != NULL && i < (int32_t)f->text->len;) {
        const xlm_origin origin = g_array_index(f->from, xlm_origin, i);
        UChar32 c;
        U16_NEXT_UNSAFE(unit, i, c);
        xlm_origins_add(from, (size_t)size_of_result(c), origin.start, origin.end);
    }
    if (from == NULL)
        return;
    g_array_unref(f->from);
    f->from = from;
}

/* Form D reorders the marks of a character, so each gets the bytes of all. */
static void join_marks(folding *f)
{
    const UChar *unit = units(f->text);
    const int32_t n = f->located ? (int32_t)f->text->len : 0;
    xlm_origin *from = (xlm_origin *)(void *)f->from->data;
    for (int32_t start = 0, i = 0; i < n; start = i) {
        UChar32 c;
        U16_NEXT_UNSAFE(unit, i, c);
        const bool space = u_isUWhiteSpace(c); /* marks after it belong to no letter */
        for (int32_t next = i; next < n && !space; i = next) {
            U16_NEXT_UNSAFE(unit, next, c);
            if (u_getCombiningClass(c) == 0)
                break;
        }
        const xlm_origin whole = xlm_origins_join(from + start, (size_t)(i - start));
        for (int32_t k = start; k < i; k++)
            from[k] = whole;
    }
}

/* Steps 3 and 4, from f->text to f->text. */
static void fold_case(folding *f)
{
    UErrorCode status = U_ZERO_ERROR;
    if (f->model->lower) {
        const int32_t n = (int32_t)f->text->len;
        spread_origins(f, lower_size);
        g_array_set_size(f->other, 3 * (guint)n + 1);
        const int32_t made = u_strToLower(units(f->other), (int32_t)f->other->len, units(f->text), n, "", &status);
        xlm_icu_demand(status);
        g_array_set_size(f->other, (guint)made);
        take_other(f);
    }
    if (f->model->strip) {
        const int32_t n = (int32_t)f->text->len;
        spread_origins(f, decomposed_size);
        g_array_set_size(f->other, 4 * (guint)n + 1); /* a unit becomes at most 4 in Form D */
        const int32_t made =
            unorm2_normalize(unorm2_getNFDInstance(&status), units(f->text), n, units(f->other), (int32_t)f->other->len, &status);
        xlm_icu_demand(status);
        g_array_set_size(f->other, (guint)made);
        take_other(f);
        join_marks(f);
    }
}

static void append_words(void *state, const char *text, size_t size, GString *out, GArray *origins)
{
    folding *f = state;
    bool ascii = true;
    for (size_t i = 0; i < size && ascii; i++)
        ascii = (unsigned char)text[i] < 0x80;
    f->space = false;
    f->located = origins != NULL;
    if (ascii) {
        fold_ascii(f, text, size, out, origins);
        return;
    }
    clean(f, text, (int32_t)size);
    fold_case(f);
    const UChar *unit = units(f->text);
    for (guint i = 0; i < f->text->len;) {
        const xlm_origin from = f->located ? g_array_index(f->from, xlm_origin, i) : (xlm_origin){0};
        UChar32 c;
        U16_NEXT_UNSAFE(unit, i, c);
        if (!f->model->strip || u_charType(c) != U_NON_SPACING_MARK)
            put(f, c, from, out, origins);
        else
            xlm_origins_widen(origins, from.start, from.end);
    }
}

static void free_folding(void *state)
{
    folding *f = state;
    g_array_free(f->text, TRUE);
    g_array_free(f->other, TRUE);
    g_array_unref(f->from);
    g_free(f);
}

static xlm_normaliser *new_normaliser(const void *model)
{
    static const xlm_normaliser_form form = {.append = append_words, .free = free_folding};
    folding *f = g_new0(folding, 1);
    f->model = model;
    f->text = g_array_new(FALSE, FALSE, sizeof(UChar));
    f->other = g_array_new(FALSE, FALSE, sizeof(UChar));
    f->from = g_array_new(FALSE, FALSE, sizeof(xlm_origin));
    return xlm_normaliser_new_with(&form, f);
}

/* ---- published tokenizers ---- */

static const char VOCABULARY[] = "vocab.txt", TOKENIZER[] = "tokenizer.json";

/* In older files, such as those of bert-base-uncased, only the mark of continuation tells this type from WordLevel. */
static bool is_ours(const xlm_tokenizer_files *files)
{
    size_t size;
    const char *type = xlm_tokenizer_model_type(files);
    if (xlm_tokenizer_json(files, TOKENIZER) == NULL)
        return xlm_tokenizer_file(files, VOCABULARY, &size) != NULL;
    return type != NULL ? strcmp(type, "WordPiece") == 0
                        : json_is_string(xlm_tokenizer_value(files, TOKENIZER, "model", "continuing_subword_prefix", NULL));
}

/* Other classes have a vocab.txt too, and other rules or lines: BertJapanese, Phobert, Bertweet. */
static bool check_class(const xlm_tokenizer_files *files, GError **error)
{
    static const char *const same[] = {"Bert", "ConvBert", "DPRContextEncoder", "DPRQuestionEncoder", "DPRReader", "DistilBert",
                                       "Electra", "Funnel", "LayoutLM", "Lxmert", "MPNet", "MobileBert", "Realm", "RetriBert",
                                       "SqueezeBert", NULL};
    static const char *const endings[] = {"Tokenizer", "TokenizerFast"};
    const char *file, *kind = xlm_tokenizer_class(files, &file);
    bool good = kind == NULL || xlm_tokenizer_class_is_plain(kind);
    for (size_t i = 0; i < G_N_ELEMENTS(endings) && !good; i++)
        if (g_str_has_suffix(kind, endings[i])) {
            g_autofree char *model = g_strndup(kind, strlen(kind) - strlen(endings[i]));
            good = g_strv_contains(same, model);
        }
    return good || xlm_tokenizer_refuse(files, file, 0, error, "a %s with a %s finds words by rules of its own, which are not "
                                        "known here; those of BertTokenizer are", kind, VOCABULARY);
}

static bool adopt_lines(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    size_t size;
    const char *text = xlm_tokenizer_file(files, VOCABULARY, &size);
    int64_t line = 1;
    if (!check_class(files, error))
        return false;
    for (const char *at = text, *end; at < text + size; at = end + 1, line++) {
        end = memchr(at, '\n', (size_t)(text + size - at));
        if (end == NULL)
            end = text + size;
        g_autofree char *token = g_strndup(at, (gsize)(end - at));
        if (g_str_has_suffix(token, "\r"))
            token[strlen(token) - 1] = '\0';
        const bool good =
            (*token != '\0' && strlen(token) >= (size_t)(end - at) - (end > at && end[-1] == '\r')) ||
            xlm_tokenizer_refuse(files, VOCABULARY, line, error, "is empty or has a byte 0; each line is a token, and its number "
                                 "the token's id");
        const bool valid = good && (g_utf8_validate(token, -1, NULL) ||
                                    xlm_tokenizer_refuse(files, VOCABULARY, line, error, "is not UTF-8"));
        const bool whole = valid && (strpbrk(token, " \t\r\v\f") == NULL ||
                                     xlm_tokenizer_refuse(files, VOCABULARY, line, error, "has white space; each line is a token, "
                                                          "and nothing else"));
        const bool set = whole && xlm_published_tokens_set(tokens, files, VOCABULARY, line - 1, token, error);
        if (!set)
            return false;
    }
    return true;
}

/* A flag of tokenizer.json's normalizer; null: `default_value`. */
static bool flag_of(const json_t *normalizer, const char *key, bool default_value)
{
    const json_t *value = json_object_get(normalizer, key);
    return json_is_boolean(value) ? json_is_true(value) : default_value;
}

/* Classes of BERT's kind change the normalizer of tokenizer.json where tokenizer_config.json says another thing, and then remove
 * accents with lower case unless it says otherwise; plain ones do not read its settings. */
static void read_text_rules(wordpiece *m, const xlm_tokenizer_files *files)
{
    const json_t *normalizer = xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL);
    const char *kind = xlm_tokenizer_class(files, NULL);
    const bool plain = xlm_tokenizer_json(files, TOKENIZER) != NULL && kind != NULL && xlm_tokenizer_class_is_plain(kind);
    const bool lower = flag_of(normalizer, "lowercase", true), ideographs = flag_of(normalizer, "handle_chinese_chars", true);
    m->lower = plain ? lower : xlm_tokenizer_flag(files, "do_lower_case", lower);
    const bool follows = !plain && (m->lower != lower ||
                                    json_is_null(xlm_tokenizer_value(files, "tokenizer_config.json", "strip_accents", NULL)));
    const bool strip = follows ? m->lower : flag_of(normalizer, "strip_accents", m->lower);
    m->strip = plain ? strip : xlm_tokenizer_flag(files, "strip_accents", strip);
    m->ideographs = plain ? ideographs : xlm_tokenizer_flag(files, "tokenize_chinese_chars", ideographs);
    m->clean = flag_of(normalizer, "clean_text", true);
}

static bool adopt_json(wordpiece *m, const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    const json_t *normalizer = xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL);
    const json_t *splitter = xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", NULL);
    const char *types[] = {json_string_value(json_object_get(normalizer, "type")),
                           json_string_value(json_object_get(splitter, "type"))};
    if (g_strcmp0(types[0], "BertNormalizer") != 0 || g_strcmp0(types[1], "BertPreTokenizer") != 0)
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its normalizer is %s and its pre_tokenizer %s; WordPiece is "
                                    "read with BertNormalizer and BertPreTokenizer", types[0] != NULL ? types[0] : "none",
                                    types[1] != NULL ? types[1] : "none");
    const json_t *longest = xlm_tokenizer_value(files, TOKENIZER, "model", "max_input_chars_per_word", NULL);
    const char *prefix =
        json_string_value(xlm_tokenizer_value(files, TOKENIZER, "model", "continuing_subword_prefix", NULL));
    if (json_is_integer(longest))
        m->longest = json_integer_value(longest);
    if (m->longest < 1 || m->longest > LONGEST_MAX)
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "max_input_chars_per_word is not from 1 to %d", LONGEST_MAX);
    if (prefix != NULL) {
        g_free(m->prefix);
        m->prefix = g_strdup(prefix);
    }
    if (*m->prefix == '\0' || strpbrk(m->prefix, " \n") != NULL)
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "continuing_subword_prefix is empty or has a space");
    return xlm_published_tokens_add_object(tokens, files, TOKENIZER,
                                           xlm_tokenizer_value(files, TOKENIZER, "model", "vocab", NULL), error);
}

/* Of vocab.txt: cased models are read wrongly where their setting is missing, which nothing else would show. */
static void note_lower(const wordpiece *m, const xlm_tokenizer_files *files)
{
    if (xlm_tokenizer_json(files, TOKENIZER) == NULL &&
        !json_is_boolean(xlm_tokenizer_value(files, "tokenizer_config.json", "do_lower_case", NULL)))
        xlm_log_info("%s: text is made lower case%s, because there is no do_lower_case; in tokenizer_config.json of a directory it "
                     "can be false", xlm_tokenizer_files_path(files), m->strip ? " and accents are removed" : "");
}

static void *adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    static const char *const usual[XLM_SPECIAL_TOKENS] = {"[CLS]", "[PAD]", "[SEP]", "[UNK]", "[MASK]"};
    if (!is_ours(files))
        return NULL;
    wordpiece *m = g_new0(wordpiece, 1);
    m->longest = LONGEST_DEFAULT;
    m->prefix = g_strdup("##");
    read_text_rules(m, files);
    const bool good = xlm_tokenizer_json(files, TOKENIZER) != NULL ? adopt_json(m, files, tokens, error)
                                                                   : adopt_lines(files, tokens, error);
    if (good && xlm_published_tokens_add_added(tokens, files, error)) {
        xlm_published_tokens_find_special(tokens, files, usual);
        note_lower(m, files);
        return m;
    }
    free_model(m);
    return NULL;
}

/* vocab.txt, one token per line, and BERT's tokenizer. */
static void publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    const wordpiece *m = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    g_autoptr(GString) words = g_string_new(NULL);
    for (int64_t id = 0; id < xlm_vocabulary_size(v); id++)
        g_string_append_printf(words, "%s\n", xlm_vocabulary_words(v)[id]);
    json_object_set_new(files, VOCABULARY, json_stringn(words->str, words->len));
    json_object_set_new(settings, "tokenizer_class", json_string("BertTokenizer"));
    json_object_set_new(settings, "do_lower_case", json_boolean(m->lower));
    json_object_set_new(settings, "strip_accents", json_boolean(m->strip));
    json_object_set_new(settings, "tokenize_chinese_chars", json_boolean(m->ideographs));
    if (strcmp(m->prefix, "##") != 0 || !m->clean || m->longest != LONGEST_DEFAULT)
        g_string_append(notes, "The tokenizer's cleaning of text, mark of continuation, or limit of a word's length is not "
                        "that of BERT's class.\n");
}

/* ---- files ---- */

static GString *print(const void *model)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < NUMBERS; i++)
        g_string_append_printf(text, "%s %" G_GINT64_FORMAT "\n", numbers[i].name, value_of(model, i));
    g_string_append_printf(text, "continuation %s\n", ((const wordpiece *)model)->prefix);
    return text;
}

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    wordpiece *m = g_new0(wordpiece, 1);
    g_autofree char *text = g_strndup(bytes, size);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    bool good = g_strv_length(lines) == NUMBERS + 2 && g_str_has_prefix(lines[NUMBERS], "continuation ");
    for (int i = 0; i < NUMBERS && good; i++) {
        const char *value = g_str_has_prefix(lines[i], numbers[i].name) ? lines[i] + strlen(numbers[i].name) : "";
        gint64 number = 0;
        good = *value == ' ' && g_ascii_string_to_signed(value + 1, 10, 0, numbers[i].max, &number, NULL);
        *number_of(m, i) = number;
    }
    if (good)
        m->prefix = g_strdup(lines[NUMBERS] + strlen("continuation "));
    if (good && *m->prefix != '\0' && m->longest > 0)
        return m;
    free_model(m);
    xlm_error_set(error, EX_DATAERR, "%s: not the settings of WordPiece", name);
    return NULL;
}

static bool save(const void *model, xlm_store *store, const char *path, int rank, GError **error)
{
    (void)rank;
    for (int i = 0; i < NUMBERS; i++)
        if (!xlm_store_set_int(store, path, numbers[i].name, value_of(model, i), error))
            return false;
    return xlm_store_set_text(store, path, "continuation", ((const wordpiece *)model)->prefix, error) &&
           xlm_store_set_text(store, path, "segmentation",
                              "WordPiece: the longest subword of `words` first, then the longest that continues", error);
}

static void *load(const xlm_store *store, const char *path, GError **error)
{
    wordpiece *m = g_new0(wordpiece, 1);
    bool good = true;
    for (int i = 0; i < NUMBERS && good; i++) {
        good = xlm_store_get_int(store, path, numbers[i].name, number_of(m, i), error);
        if (good && (value_of(m, i) < 0 || value_of(m, i) > numbers[i].max))
            good = xlm_word_store_refuse(store, path, "a setting of WordPiece is out of range", error);
    }
    good = good && (m->prefix = xlm_store_get_text(store, path, "continuation", error)) != NULL;
    if (good && (*m->prefix == '\0' || m->longest == 0))
        good = xlm_word_store_refuse(store, path, "a setting of WordPiece is out of range", error);
    if (good && xlm_utf8_check(m->prefix, strlen(m->prefix)) < strlen(m->prefix))
        good = xlm_word_store_refuse(store, path, "a prefix of WordPiece is not UTF-8", error);
    if (good)
        return m;
    free_model(m);
    return NULL;
}

/* ---- marks ---- */

static xlm_word_mark spell(const void *model, const char *subword, GString *out)
{
    const char *prefix = ((const wordpiece *)model)->prefix;
    const bool continues = g_str_has_prefix(subword, prefix);
    if (out != NULL)
        g_string_append(out, subword + (continues ? strlen(prefix) : 0));
    return continues ? XLM_MARKS_NOTHING : XLM_MARKS_BEGIN;
}

/* ---- vocabularies made of others ---- */

static wordpiece *copy(const wordpiece *m)
{
    wordpiece *same = g_memdup2(m, sizeof *m);
    same->prefix = g_strdup(m->prefix);
    return same;
}

/* Wherever text became the longest subword at a place, that subword is kept, so that no shorter one replaces it. */
static void *reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error)
{
    (void)error;
    xlm_segmenter_keep_characters(spell, model, subwords, "", "", kept);
    xlm_segmenter_keep_characters(spell, model, subwords, ((const wordpiece *)model)->prefix, "", kept);
    return copy(model);
}

static char *whole(const void *model, const char *word)
{
    const wordpiece *m = model;
    return g_str_has_prefix(word, m->prefix) || g_utf8_strlen(word, -1) > m->longest ? NULL : g_strdup(word);
}

static void *enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted, xlm_word_counts *added,
                     GError **error)
{
    (void)error;
    for (uint32_t i = 0; i < xlm_word_counts_size(wanted); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(wanted, i, &size);
        xlm_segmenter_add_missing(subwords, subword, size, added);
    }
    return copy(model);
}

/* ---- asking ---- */

static uint32_t size_of(const void *model)
{
    (void)model;
    return NUMBERS + 1;
}

static bool extends(const void *model, const void *larger, GError **error)
{
    GString *text[2] = {print(model), print(larger)};
    const bool same = g_string_equal(text[0], text[1]);
    if (!same)
        xlm_error_set(error, EX_DATAERR, "its settings of WordPiece are %s and there %s",
                      g_strdelimit(g_strchomp(text[0]->str), "\n", ' '), g_strdelimit(g_strchomp(text[1]->str), "\n", ' '));
    for (int i = 0; i < 2; i++)
        g_string_free(text[i], TRUE);
    return same;
}

/* ---- segmenting ---- */

typedef struct cutter {
    const wordpiece *model;
    const xlm_word_counts *allowed;
    size_t longest; /* bytes of the longest of them */
    GString *candidate, *segmented;
} cutter;

static void *open_cutter(const void *model, const xlm_word_counts *allowed)
{
    cutter *c = g_new(cutter, 1);
    *c = (cutter){model, allowed, 0, g_string_new(NULL), g_string_new(NULL)};
    for (uint32_t i = 0; allowed != NULL && i < xlm_word_counts_size(allowed); i++) {
        size_t size;
        xlm_word_counts_word(allowed, i, &size);
        c->longest = MAX(c->longest, size);
    }
    return c;
}

static void close_cutter(void *pointer)
{
    cutter *c = pointer;
    g_string_free(c->candidate, TRUE);
    g_string_free(c->segmented, TRUE);
    g_free(c);
}

/* Bytes of the longest subword at text[size]; 0 when there is none. */
static size_t match(cutter *c, const char *text, size_t size, bool first)
{
    const size_t prefix = first ? 0 : strlen(c->model->prefix), all = size;
    size = MIN(size, c->longest);
    g_string_assign(c->candidate, first ? "" : c->model->prefix);
    g_string_append_len(c->candidate, text, (gssize)size);
    for (; size > 0; size--) {
        if (size < all && (text[size] & 0xC0) == 0x80)
            continue; /* within a character */
        if (xlm_word_counts_index(c->allowed, c->candidate->str, prefix + size) != UINT32_MAX)
            return size;
    }
    return 0;
}

static const char *segment_from(cutter *c, const char *text, size_t size, bool first, size_t *n)
{
    GString *out = c->segmented;
    g_string_truncate(out, 0);
    bool good = c->allowed != NULL && g_utf8_strlen(text, (gssize)size) <= c->model->longest;
    for (size_t at = 0, length; at < size && good; at += length) {
        length = match(c, text + at, size - at, first && at == 0);
        good = length > 0;
        g_string_append(out, at > 0 ? " " : "");
        g_string_append(out, first && at == 0 ? "" : c->model->prefix);
        g_string_append_len(out, text + at, (gssize)length);
    }
    if (!good) {
        g_string_assign(out, first ? "" : c->model->prefix);
        g_string_append_len(out, text, (gssize)size);
    }
    *n = out->len;
    return out->str;
}

static const char *segment(void *pointer, const char *word, size_t size, GArray *places, size_t *n, GError **error)
{
    (void)places;
    (void)error;
    return segment_from(pointer, word, size, true, n);
}

static const char *segment_subword(void *pointer, const char *subword, size_t *n)
{
    cutter *c = pointer;
    const bool first = !g_str_has_prefix(subword, c->model->prefix);
    const char *text = subword + (first ? 0 : strlen(c->model->prefix));
    return segment_from(c, text, strlen(text), first, n);
}

static const xlm_segmenter_change change = {.reduce = reduce, .whole = whole, .enlarge = enlarge};
static const xlm_segmenter_exchange exchange = {.adopt = adopt, .publish = publish};
static const xlm_segmenter_comparison comparison = {.extends = extends};

const xlm_segmenter_class xlm_segmenter_wordpiece = {
    .name = "wordpiece", .unit = "settings", .marks = "## in front: the subword continues with the word",
    .input = XLM_SEGMENTS_WORDS,
    .normalisation = "valid UTF-8, then as BERT: characters of categories C left out, ideographs apart, case and accents as "
                     "the attributes wordpiece_... say, words between white space, punctuation marks apart",
    .normaliser = new_normaliser,
    .print = print, .parse = parse, .save = save, .load = load, .free = free_model, .size = size_of, .spell = spell,
    .open = open_cutter, .close = close_cutter, .segment = segment, .segment_subword = segment_subword,
    .change = &change, .exchange = &exchange, .comparison = &comparison,
};
