/* xlm-mpi: published models of SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads a file of the library (.model), with its own ids or those of fairseq; or a tokenizer.json of the type Unigram, which has
 * the pieces with their scores, a character map, and steps for what the library does by itself. A tokenizer.json of byte pairs
 * with unknown characters as bytes, such as Gemma's, is read in sentencepiece_pairs.c. */
#include <string.h>

#include "subwords/sentencepiece.h"

static const char TOKENIZER[] = "tokenizer.json";

static bool is_unigram(const xlm_tokenizer_files *files)
{
    return g_strcmp0(xlm_tokenizer_model_type(files), "Unigram") == 0;
}

static bool is_ours(const xlm_tokenizer_files *files)
{
    return xlm_tokenizer_file_ending(files, ".model") != NULL || xlm_sentencepiece_is_marian(files) ||
           is_unigram(files) || xlm_sentencepiece_is_pairs(files);
}

/* The ids of XLM-R: after those, the mask, and tokens that were added. */
static bool number_as_xlm_r(const GArray *pieces, const xlm_tokenizer_files *files, const char *name, xlm_published_tokens *tokens,
                            GError **error)
{
    return xlm_sentencepiece_number_as_fairseq(pieces, files, name, tokens, error) &&
           xlm_published_tokens_set(tokens, files, name, (int64_t)pieces->len + 1, "<mask>", error) &&
           xlm_published_tokens_add_added(tokens, files, error);
}

static bool number_as_they_are(const GArray *pieces, const xlm_tokenizer_files *files, const char *name,
                               xlm_published_tokens *tokens, GError **error)
{
    for (guint i = 0; i < pieces->len; i++)
        if (!xlm_published_tokens_set(tokens, files, name, i, g_array_index(pieces, xlm_model_piece, i).text, error))
            return false;
    return xlm_published_tokens_add_added(tokens, files, error);
}

/* The names of fairseq's files have the algorithm in the middle; other files are called sentencepiece.model or spiece.model. */
static bool has_fairseq_name(const char *name)
{
    return g_str_has_prefix(name, "sentencepiece.") && strcmp(name, "sentencepiece.model") != 0;
}

/* Models of other types may have XLM-R's tokenizer (bert: Multilingual MiniLM), and then the name of its file, too. */
static bool is_fairseq(const xlm_tokenizer_files *files, const char *name)
{
    const char *kind = xlm_tokenizer_class_with_rules(files, NULL);
    const char *model = json_string_value(xlm_tokenizer_value(files, "config.json", "model_type", NULL));
    if (kind != NULL)
        return g_str_has_prefix(kind, "XLMRoberta");
    return (model != NULL && g_str_has_prefix(model, "xlm-roberta")) || has_fairseq_name(name);
}

/* Rules that a tokenizer in Python adds to the library and that these files do not contain. */
static bool refuse_others(const xlm_tokenizer_files *files, GError **error)
{
    static const struct {
        const char *kind, *model; /* the beginning of the class, and a type of model whose class it is where none is named and
                                   * whose rules are never the library's alone; NULL: none */
    } others[] = {{"XLNet", "xlnet"},   {"Camembert", "camembert"}, {"MBart", "mbart"}, {"DebertaV2", NULL},
                  {"BigBird", NULL}, {"Rembert", NULL},          {"BertJapanese", NULL}};
    const char *file, *kind = xlm_tokenizer_class_with_rules(files, &file);
    const char *model = json_string_value(xlm_tokenizer_value(files, "config.json", "model_type", NULL));
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        if (kind != NULL && g_str_has_prefix(kind, others[i].kind))
            return xlm_tokenizer_refuse(files, file, 0, error, "a %s changes text or ids by rules of its own, which are not "
                                        "supported", kind);
        if (kind == NULL && others[i].model != NULL && g_strcmp0(model, others[i].model) == 0)
            return xlm_tokenizer_refuse(files, "config.json", 0, error, "the tokenizer of a model of type \"%s\" changes text or "
                                        "ids by rules of its own, which are not supported", model);
    }
    return true;
}

static void read_albert(xlm_pieces *m, const xlm_tokenizer_files *files)
{
    const char *kind = xlm_tokenizer_class_with_rules(files, NULL);
    const char *type = json_string_value(xlm_tokenizer_value(files, "config.json", "model_type", NULL));
    m->is_albert = kind != NULL ? g_str_has_prefix(kind, "Albert") : g_strcmp0(type, "albert") == 0;
    m->albert = (xlm_albert_text){.lower = xlm_tokenizer_flag(files, "do_lower_case", true),
                                  .keep_accents = xlm_tokenizer_flag(files, "keep_accents", false),
                                  .remove_space = xlm_tokenizer_flag(files, "remove_space", true)};
}

static void *adopt_model(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    const char *name = xlm_tokenizer_file_ending(files, ".model");
    size_t size;
    const char *bytes = xlm_tokenizer_file(files, name, &size);
    if (!refuse_others(files, error))
        return NULL;
    g_autoptr(GError) failure = NULL;
    xlm_pieces *m = xlm_pieces_new(g_string_new_len(bytes, (gssize)size), &failure);
    if (m == NULL) {
        xlm_tokenizer_refuse(files, name, 0, error, "%s", failure->message);
        return NULL;
    }
    read_albert(m, files);
    if (xlm_sentencepiece_language_form(files) != NULL ? xlm_sentencepiece_number_languages(m->pieces, files, name, tokens, error)
        : is_fairseq(files, name)                      ? number_as_xlm_r(m->pieces, files, name, tokens, error)
                                                       : number_as_they_are(m->pieces, files, name, tokens, error))
        return m;
    xlm_pieces_free(m);
    return NULL;
}

/* The steps of a single one, or of a sequence; g_ptr_array_unref. sequence: "normalizers". */
static void list_steps(const json_t *step, const char *sequence, GPtrArray *steps)
{
    const json_t *one;
    size_t i;
    if (g_strcmp0(json_string_value(json_object_get(step, "type")), "Sequence") != 0) {
        if (json_is_object(step))
            g_ptr_array_add(steps, (void *)(uintptr_t)step);
        return;
    }
    json_array_foreach(json_object_get(step, sequence), i, one)
        list_steps(one, sequence, steps);
}

/* {"type": "Replace", "pattern": {kind: pattern}, "content": by} */
static bool replaces(const json_t *step, const char *kind, const char *pattern, const char *by)
{
    return xlm_tokenizer_is_type(step, "Replace") &&
           g_strcmp0(json_string_value(json_object_get(json_object_get(step, "pattern"), kind)), pattern) == 0 &&
           g_strcmp0(json_string_value(json_object_get(step, "content")), by) == 0;
}

/* A normalizer does what the library does by itself: a character map, runs of spaces folded, no spaces at the ends, a space before
 * the text; before that possibly ALBERT's text rules: quotation marks, Form KD without marks, lower case. The steps have this
 * order, and any may be missing, as may all. [out] map: its step, or NULL. */
typedef struct text_steps {
    const json_t *map;
    bool one_space;   /* runs of spaces are folded, by the normalizer or by splitting at white space */
    bool space_first; /* by the normalizer or before words */
    bool is_albert;
    xlm_albert_text albert;
} text_steps;

/* ALBERT's rules. Returns the step after them; NULL: they differ from those of its tokenizer. */
static const json_t *const *read_albert_steps(const json_t *const *step, text_steps *read)
{
    if (!replaces(*step, "String", "``", "\""))
        return step;
    read->is_albert = true;
    if (!replaces(*++step, "String", "''", "\""))
        return NULL;
    if (xlm_tokenizer_is_type(*++step, "NFKD")) {
        if (!xlm_tokenizer_is_type(*++step, "StripAccents"))
            return NULL;
        read->albert.keep_accents = 0;
        step++;
    }
    read->albert.lower = xlm_tokenizer_is_type(*step, "Lowercase");
    return step + read->albert.lower;
}

static bool read_normalizer(const json_t *normalizer, text_steps *read)
{
    g_autoptr(GPtrArray) steps = g_ptr_array_new();
    list_steps(normalizer, "normalizers", steps);
    g_ptr_array_add(steps, NULL);
    *read = (text_steps){.albert = {.keep_accents = 1, .remove_space = 1, .fast = 1}};
    const json_t *const *step = read_albert_steps((const json_t *const *)(void *)steps->pdata, read);
    if (step != NULL && xlm_tokenizer_is_type(*step, "Precompiled"))
        read->map = *step++;
    bool good = step != NULL;
    for (; good && *step != NULL && !read->space_first; step++) {
        const bool one_space = replaces(*step, "Regex", " {2,}", " ") || replaces(*step, "Regex", " {2,}", XLM_PIECE_SPACE);
        read->space_first = xlm_tokenizer_is_type(*step, "Prepend") &&
                            g_strcmp0(json_string_value(json_object_get(*step, "prepend")), XLM_PIECE_SPACE) == 0;
        good = one_space || read->space_first || xlm_tokenizer_is_type(*step, "Strip");
        read->one_space = read->one_space || one_space;
    }
    return good && *step == NULL;
}

/* U+2581 for every space, and before the text or not, or before every word after splitting at white space. A space that the
 * normalizer puts first is not put there again, but where there is one already it is a second one, as in the library. */
static bool read_splitter(const json_t *splitter, text_steps *read)
{
    g_autoptr(GPtrArray) steps = g_ptr_array_new();
    list_steps(splitter, "pretokenizers", steps);
    bool good = steps->len > 0;
    read->one_space = read->one_space || steps->len > 1;
    for (guint i = 0; i < steps->len && good; i++) {
        const json_t *step = steps->pdata[i];
        const char *scheme = json_string_value(json_object_get(step, "prepend_scheme"));
        const bool without = json_is_false(json_object_get(step, "add_prefix_space"));
        const bool never = scheme != NULL ? strcmp(scheme, "never") == 0 : without;
        if (i + 1 < steps->len) {
            good = xlm_tokenizer_is_type(step, "WhitespaceSplit");
            continue;
        }
        good = xlm_tokenizer_is_type(step, "Metaspace") && (never || !without) && /* both keys alike */
               (i == 0 || (!never && g_strcmp0(scheme, "first") != 0)) &&
               g_strcmp0(json_string_value(json_object_get(step, "replacement")), XLM_PIECE_SPACE) == 0;
        read->space_first = read->space_first || !never;
    }
    return good;
}

static bool read_steps(const xlm_tokenizer_files *files, text_steps *steps, GError **error)
{
    if (!read_normalizer(xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL), steps))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its normalizer is neither that of SentencePiece (Precompiled, "
                                    "Strip, Replace), nor that with ALBERT's rules before it; give the directory with the .model "
                                    "instead");
    return read_splitter(xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", NULL), steps) ||
           xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its pre_tokenizer is not that of SentencePiece (Metaspace); give "
                                "the directory with the .model instead");
}

/* All tokens with their scores; added tokens are not text. bytes: those that are the names of bytes stand for these. */
static bool read_pieces(const xlm_tokenizer_files *files, bool bytes, GArray *pieces, xlm_published_tokens *tokens, GError **error)
{
    const json_t *vocabulary = xlm_tokenizer_value(files, TOKENIZER, "model", "vocab", NULL), *entry;
    const json_t *unknown = xlm_tokenizer_value(files, TOKENIZER, "model", "unk_id", NULL);
    size_t i;
    json_array_foreach(vocabulary, i, entry) {
        const char *text = json_string_value(json_array_get(entry, 0));
        const json_t *score = json_array_get(entry, 1);
        if (text == NULL || !json_is_number(score))
            return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "token %zu is not [\"text\", score]", i);
        const bool is_unknown = json_is_integer(unknown) && (json_int_t)i == json_integer_value(unknown);
        const xlm_model_piece piece = {g_strdup(text), (float)json_number_value(score),
                                       is_unknown                           ? XLM_PIECE_UNKNOWN
                                       : bytes && xlm_piece_byte(text) >= 0 ? XLM_PIECE_BYTE
                                                                            : XLM_PIECE_NORMAL};
        g_array_append_val(pieces, piece);
        if (!xlm_published_tokens_set(tokens, files, TOKENIZER, (int64_t)i, text, error))
            return false;
    }
    if (!json_is_integer(unknown) || json_integer_value(unknown) < 0 || json_integer_value(unknown) >= (json_int_t)pieces->len)
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "has no vocabulary, or no unknown token (unk_id)");
    json_array_foreach(xlm_tokenizer_value(files, TOKENIZER, "added_tokens", NULL), i, entry) {
        const json_t *id = json_object_get(entry, "id");
        const json_int_t at = json_is_integer(id) ? json_integer_value(id) : -1;
        if (at < 0 || at >= (json_int_t)pieces->len)
            continue;
        xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, (guint)at);
        if (piece->kind == XLM_PIECE_NORMAL)
            piece->kind = XLM_PIECE_CONTROL;
    }
    return xlm_published_tokens_add_added(tokens, files, error);
}

static void *adopt_json(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    g_autoptr(GArray) pieces = xlm_sentencepiece_new_pieces();
    xlm_pieces *m = NULL;
    text_steps steps;
    const bool bytes = json_is_true(xlm_tokenizer_value(files, TOKENIZER, "model", "byte_fallback", NULL));
    if (read_steps(files, &steps, error) && read_pieces(files, bytes, pieces, tokens, error)) {
        const char *base64 = json_string_value(json_object_get(steps.map, "precompiled_charsmap"));
        gsize size = 0;
        g_autofree guchar *map = base64 != NULL && *base64 != '\0' ? g_base64_decode(base64, &size) : NULL;
        const xlm_model_piece *all = (const xlm_model_piece *)(void *)pieces->data;
        g_autoptr(GError) failure = NULL;
        const xlm_model_form form = {.type = XLM_PIECES_UNIGRAM, .space_first = steps.space_first, .one_space = steps.one_space,
                                     .bytes = bytes, .map = (const char *)map, .map_size = size};
        m = xlm_pieces_new(xlm_sentencepiece_write(all, pieces->len, &form), &failure);
        if (m == NULL) {
            xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "as a model of SentencePiece: %s", failure->message);
        } else {
            m->is_albert = steps.is_albert;
            m->albert = steps.albert;
        }
    }
    return m;
}

void *xlm_sentencepiece_adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    static const char *const usual[XLM_SPECIAL_TOKENS] = {"<s> [CLS]", "<pad> [PAD]", "</s> [SEP]",
                                                          "<unk> [UNK]", "<mask> [MASK]"};
    if (!is_ours(files))
        return NULL;
    const bool marian = xlm_sentencepiece_is_marian(files);
    void *m = marian                                             ? xlm_sentencepiece_adopt_marian(files, tokens, error)
              : xlm_tokenizer_file_ending(files, ".model") != NULL ? adopt_model(files, tokens, error)
              : is_unigram(files)                                ? adopt_json(files, tokens, error)
                                                                 : xlm_sentencepiece_adopt_pairs(files, tokens, usual, error);
    if (m != NULL)
        xlm_published_tokens_find_special(tokens, files, usual);
    if (m != NULL && (marian || tokens->language_form != NULL))
        xlm_sentencepiece_find_begin(files, marian ? XLM_PAD : XLM_EOS, tokens);
    return m;
}
