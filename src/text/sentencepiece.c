/* xlm-mpi: SentencePiece, the segmenter of XLM-R. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sources: Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates", ACL 2018
 * (unigram); Kudo, Richardson, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for Neural
 * Text Processing", EMNLP 2018. Lines go to the library of that name whole, and it normalises and segments them as the model
 * says, to the byte.
 *
 * In a file, beside /vocabulary/words:
 *   /vocabulary/sentencepiece_model   [bytes] u8: the model's file, of which there are libraries in many languages
 *   /vocabulary                       attributes albert_lowercase, albert_keep_accents, albert_remove_space = 0 | 1, of ALBERT's
 *                                     tokenizer (text/sentencepiece_albert.h) */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "base/rng.h"
#include "text/sentencepiece_albert.h"
#include "text/segmenter.h"
#include "text/sentencepiece_library.h"
#include "text/sentencepiece_model.h"
#include "text/sentencepiece_publish.h"
#include "text/word_store.h"

static const char SPACE[] = "\xe2\x96\x81"; /* U+2581, in front of a word */
static const char DATASET[] = "sentencepiece_model";
extern const xlm_segmenter_class xlm_segmenter_sentencepiece;

typedef struct pieces_model {
    GString *bytes;
    GArray *pieces; /* xlm_model_piece, by its own ids */
    xlm_sentencepiece *library;
    bool is_albert; /* text is brought into another form before, by these rules */
    xlm_albert_text albert;
} pieces_model;

enum { RULES = 3 };
static const char *const rule_names[RULES] = {"albert_lowercase", "albert_keep_accents", "albert_remove_space"};

static const int64_t *rule_at(const pieces_model *m, int i)
{
    return i == 0 ? &m->albert.lower : i == 1 ? &m->albert.keep_accents : &m->albert.remove_space;
}

static const xlm_option options[] = {
    {"unigram", XLM_OPTION_INT, NULL, 1, 10000000, NULL, "learn a unigram model of N subwords with SentencePiece, for all "
     "languages together", offsetof(xlm_segmenter_options, amount)},
    XLM_OPTION_END};

static void free_model(void *model)
{
    pieces_model *m = model;
    if (m->pieces != NULL)
        g_array_unref(m->pieces);
    g_string_free(m->bytes, TRUE);
    xlm_sentencepiece_free(m->library);
    g_free(m);
}

/* Takes over bytes. */
static void *new_model(GString *bytes, GError **error)
{
    pieces_model *m = g_new0(pieces_model, 1);
    char *message = NULL;
    m->bytes = bytes;
    m->pieces = xlm_sentencepiece_pieces(bytes->str, bytes->len, error);
    if (m->pieces != NULL && (m->library = xlm_sentencepiece_new(bytes->str, bytes->len, &message)) == NULL)
        xlm_error_set(error, EX_DATAERR, "SentencePiece cannot take this model: %s", message);
    g_free(message);
    if (m->library != NULL)
        return m;
    free_model(m);
    return NULL;
}

/* A model of other pieces has the rules of the one that it was made of. NULL is passed on. */
static void *with_rules_of(const pieces_model *from, pieces_model *m)
{
    if (m != NULL) {
        m->is_albert = from->is_albert;
        m->albert = from->albert;
    }
    return m;
}

/* ---- lines ---- */

/* As it stands, for the model normalises it; but lines without a character that can be seen are empty. */
static void append_line(void *state, const char *text, size_t size, GString *out)
{
    (void)state;
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    for (int32_t i = 0; i < (int32_t)size;) {
        UChar32 c;
        U8_NEXT_UNSAFE(text, i, c);
        if (u_isUWhiteSpace(c) || (U_GET_GC_MASK(c) & U_GC_C_MASK) != 0)
            continue;
        g_string_append_len(out, text, (gssize)size);
        return;
    }
}

static xlm_normaliser *new_normaliser(const void *model)
{
    static const xlm_normaliser_form form = {.append = append_line};
    const pieces_model *m = model; /* NULL: one that is still to be learned */
    return m != NULL && m->is_albert ? xlm_albert_normaliser(&m->albert) : xlm_normaliser_new_with(&form, NULL);
}

/* ---- learning ---- */

static void *learn(const xlm_segmenter_options *asked, const xlm_word_counts *words, GError **error)
{
    const uint32_t n = xlm_word_counts_size(words);
    GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        const char *word = xlm_word_counts_word(words, i, &size);
        if (size == 0 || memchr(word, '\0', size) != NULL || xlm_word_counts_count(words, i) < 1)
            continue;
        char *line = g_strdup_printf("%.*s\t%" G_GINT64_FORMAT, (int)size, word, xlm_word_counts_count(words, i));
        for (char *tab = strchr(line, '\t'); tab < strrchr(line, '\t'); tab = strchr(tab, '\t'))
            *tab = ' ';
        g_ptr_array_add(lines, line);
    }
    GString *bytes = g_string_new(NULL);
    char *message = NULL;
    const bool good = xlm_sentencepiece_learn((char *const *)lines->pdata, lines->len, asked->amount, bytes, &message);
    g_ptr_array_unref(lines);
    if (good)
        return new_model(bytes, error);
    xlm_error_set(error, EX_DATAERR, "SentencePiece cannot learn %" G_GINT64_FORMAT " subwords of this text: %s", asked->amount,
                  message);
    g_free(message);
    g_string_free(bytes, TRUE);
    return NULL;
}

/* Those that text can become. */
static void list_subwords(const void *model, xlm_word_counts *subwords)
{
    const GArray *pieces = ((const pieces_model *)model)->pieces;
    for (guint i = 0; i < pieces->len; i++) {
        const xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, i);
        if (piece->kind != XLM_PIECE_UNKNOWN && piece->kind != XLM_PIECE_CONTROL)
            xlm_word_counts_add(subwords, piece->text, strlen(piece->text), 0);
    }
}

/* ---- published tokenizers ---- */

static const char TOKENIZER[] = "tokenizer.json";

static bool is_unigram(const xlm_tokenizer_files *files)
{
    return g_strcmp0(json_string_value(xlm_tokenizer_value(files, TOKENIZER, "model", "type", NULL)), "Unigram") == 0;
}

static bool recognises(const xlm_tokenizer_files *files)
{
    return xlm_tokenizer_file_ending(files, ".model") != NULL || is_unigram(files);
}

/* The ids of a .model's pieces in models of fairseq, such as XLM-R: four special tokens first, which the model's own first three
 * become, all others one further on, and the mask behind them. */
static bool number_as_fairseq(const GArray *pieces, const xlm_tokenizer_files *files, const char *name,
                              xlm_published_tokens *tokens, GError **error)
{
    static const char *const first[] = {"<s>", "<pad>", "</s>", "<unk>"};
    enum { OWN = 3 };
    bool good = true;
    for (size_t i = 0; i < G_N_ELEMENTS(first) && good; i++)
        good = xlm_published_tokens_set(tokens, files, name, (int64_t)i, first[i], error);
    for (guint i = OWN; i < pieces->len && good; i++) {
        const xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, i);
        good = xlm_published_tokens_set(tokens, files, name, (int64_t)i + 1, piece->text, error);
    }
    return good && xlm_published_tokens_set(tokens, files, name, (int64_t)pieces->len + 1, "<mask>", error);
}

static bool number_as_they_are(const GArray *pieces, const xlm_tokenizer_files *files, const char *name,
                               xlm_published_tokens *tokens, GError **error)
{
    for (guint i = 0; i < pieces->len; i++)
        if (!xlm_published_tokens_set(tokens, files, name, i, g_array_index(pieces, xlm_model_piece, i).text, error))
            return false;
    return xlm_published_tokens_add_added(tokens, files, error);
}

/* fairseq puts the name of an algorithm in the middle; other files are called sentencepiece.model or spiece.model. */
static bool has_fairseq_name(const char *name)
{
    return g_str_has_prefix(name, "sentencepiece.") && strcmp(name, "sentencepiece.model") != 0;
}

static bool is_fairseq(const xlm_tokenizer_files *files, const char *name)
{
    const char *kind = json_string_value(xlm_tokenizer_value(files, "tokenizer_config.json", "tokenizer_class", NULL));
    const char *model = json_string_value(xlm_tokenizer_value(files, "config.json", "model_type", NULL));
    if (kind != NULL)
        return g_str_has_prefix(kind, "XLMRoberta");
    return model != NULL ? g_str_has_prefix(model, "xlm-roberta") : has_fairseq_name(name);
}

/* Rules of a tokenizer in Python around the library, which these files do not hold. */
static bool refuse_others(const xlm_tokenizer_files *files, GError **error)
{
    static const char *const others[] = {"XLNet", "Camembert", "MBart", "DebertaV2", "BigBird", "Rembert", NULL};
    const char *kind = json_string_value(xlm_tokenizer_value(files, "tokenizer_config.json", "tokenizer_class", NULL));
    for (int i = 0; kind != NULL && others[i] != NULL; i++)
        if (g_str_has_prefix(kind, others[i]))
            return xlm_tokenizer_refuse(files, "tokenizer_config.json", 0, error, "a %s changes text or ids by rules of its own, "
                                        "which are not supported", kind);
    return true;
}

static void read_albert(pieces_model *m, const xlm_tokenizer_files *files)
{
    const char *kind = json_string_value(xlm_tokenizer_value(files, "tokenizer_config.json", "tokenizer_class", NULL));
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
    GError *failure = NULL;
    pieces_model *m = new_model(g_string_new_len(bytes, (gssize)size), &failure);
    if (m == NULL) {
        xlm_tokenizer_refuse(files, name, 0, error, "%s", failure->message);
        g_error_free(failure);
        return NULL;
    }
    read_albert(m, files);
    if (is_fairseq(files, name) ? number_as_fairseq(m->pieces, files, name, tokens, error)
                                : number_as_they_are(m->pieces, files, name, tokens, error))
        return m;
    free_model(m);
    return NULL;
}

/* One of a sequence of steps, or the step itself: is each of these types? */
static bool has_types(const json_t *step, const char *sequence, const char *const *types)
{
    const char *type = json_string_value(json_object_get(step, "type"));
    if (g_strcmp0(type, "Sequence") != 0)
        return type != NULL && g_strv_contains(types, type);
    const json_t *one;
    size_t i;
    bool good = true;
    json_array_foreach(json_object_get(step, sequence), i, one)
        good = good && has_types(one, sequence, types);
    return good;
}

/* The first step of a type, NULL for none. */
static const json_t *find_step(const json_t *step, const char *sequence, const char *type)
{
    if (g_strcmp0(json_string_value(json_object_get(step, "type")), type) == 0)
        return step;
    const json_t *one, *found = NULL;
    size_t i;
    json_array_foreach(json_object_get(step, sequence), i, one)
        if (found == NULL)
            found = find_step(one, sequence, type);
    return found;
}

/* Is it what the library does by itself? That is: a character map, runs of spaces made one, and U+2581 before every word. */
static bool check_steps(const xlm_tokenizer_files *files, GError **error)
{
    static const char *const normalizers[] = {"Precompiled", "Replace", NULL};
    static const char *const splitters[] = {"Metaspace", "WhitespaceSplit", NULL};
    const json_t *normalizer = xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL);
    const json_t *splitter = xlm_tokenizer_value(files, TOKENIZER, "pre_tokenizer", NULL);
    const json_t *replace = find_step(normalizer, "normalizers", "Replace");
    const json_t *space = find_step(splitter, "pretokenizers", "Metaspace");
    const char *pattern = json_string_value(json_object_get(json_object_get(replace, "pattern"), "Regex"));
    if (normalizer == NULL || !has_types(normalizer, "normalizers", normalizers) ||
        find_step(normalizer, "normalizers", "Precompiled") == NULL ||
        (replace != NULL && (g_strcmp0(pattern, " {2,}") != 0 ||
                             g_strcmp0(json_string_value(json_object_get(replace, "content")), " ") != 0)))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its normalizer is not that of SentencePiece (Precompiled); give "
                                    "the directory with the .model instead");
    if (splitter == NULL || !has_types(splitter, "pretokenizers", splitters) || space == NULL ||
        g_strcmp0(json_string_value(json_object_get(space, "replacement")), SPACE) != 0 ||
        json_is_false(json_object_get(space, "add_prefix_space")))
        return xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "its pre_tokenizer is not that of SentencePiece (Metaspace); "
                                    "give the directory with the .model instead");
    return true;
}

/* All tokens with their scores; those that the file adds are no text. */
static bool read_pieces(const xlm_tokenizer_files *files, GArray *pieces, xlm_published_tokens *tokens, GError **error)
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
                                       is_unknown ? XLM_PIECE_UNKNOWN : XLM_PIECE_NORMAL};
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
    GArray *pieces = xlm_sentencepiece_new_pieces();
    pieces_model *m = NULL;
    if (check_steps(files, error) && read_pieces(files, pieces, tokens, error)) {
        const json_t *normalizer = xlm_tokenizer_value(files, TOKENIZER, "normalizer", NULL);
        const json_t *step = find_step(normalizer, "normalizers", "Precompiled");
        const char *base64 = json_string_value(json_object_get(step, "precompiled_charsmap"));
        gsize size = 0;
        guchar *map = base64 != NULL && *base64 != '\0' ? g_base64_decode(base64, &size) : NULL;
        const xlm_model_piece *all = (const xlm_model_piece *)(void *)pieces->data;
        GError *failure = NULL;
        m = new_model(xlm_sentencepiece_write(all, pieces->len, (const char *)map, size), &failure);
        if (m == NULL) {
            xlm_tokenizer_refuse(files, TOKENIZER, 0, error, "as a model of SentencePiece: %s", failure->message);
            g_error_free(failure);
        }
        g_free(map);
    }
    g_array_unref(pieces);
    return m;
}

static void *adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error)
{
    static const char *const bos[] = {"<s>", "[CLS]", NULL}, *const pad[] = {"<pad>", "[PAD]", NULL},
                      *const eos[] = {"</s>", "[SEP]", NULL}, *const unk[] = {"<unk>", "[UNK]", NULL},
                      *const mask[] = {"<mask>", "[MASK]", NULL};
    static const char *const *const usual[XLM_SPECIAL_TOKENS] = {bos, pad, eos, unk, mask};
    void *m = xlm_tokenizer_file_ending(files, ".model") != NULL ? adopt_model(files, tokens, error)
                                                                 : adopt_json(files, tokens, error);
    if (m != NULL)
        xlm_published_tokens_find_special(tokens, files, usual);
    return m;
}

static void publish(const xlm_vocabulary *v, json_t *files, json_t *settings, GString *notes)
{
    const pieces_model *m = xlm_segmenter_model(xlm_vocabulary_segmenter(v));
    xlm_sentencepiece_publish(v, m->bytes, m->pieces, m->is_albert ? &m->albert : NULL, files, settings, notes);
}

/* ---- files ---- */

/* Rules go before the model's bytes, of which the first is never this one. */
static const char RULES_FIRST = '#';

static GString *print(const void *model)
{
    const pieces_model *m = model;
    GString *text = g_string_new(NULL);
    if (m->is_albert)
        g_string_append_c(text, RULES_FIRST);
    for (int i = 0; i < RULES && m->is_albert; i++)
        g_string_append_c(text, *rule_at(m, i) != 0 ? '1' : '0');
    g_string_append_len(text, m->bytes->str, (gssize)m->bytes->len);
    return text;
}

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    GError *failure = NULL;
    const bool rules = size > RULES && bytes[0] == RULES_FIRST;
    const size_t skip = rules ? 1 + RULES : 0;
    pieces_model *m = new_model(g_string_new_len(bytes + skip, (gssize)(size - skip)), &failure);
    if (m != NULL && rules) {
        m->is_albert = true;
        m->albert = (xlm_albert_text){.lower = bytes[1] == '1', .keep_accents = bytes[2] == '1', .remove_space = bytes[3] == '1'};
    }
    if (m == NULL) {
        xlm_error_set(error, EX_DATAERR, "%s: %s", name, failure->message);
        g_error_free(failure);
    }
    return m;
}

static bool save(const void *model, xlm_store *store, const char *path, int rank, GError **error)
{
    const pieces_model *m = model;
    const uint64_t dims[1] = {m->bytes->len};
    char *whole = xlm_word_store_member(path, DATASET);
    bool good = xlm_store_dataset(store, whole, XLM_U8, 1, dims, XLM_STORE_CHECKED, error) &&
                      xlm_store_write(store, whole, 0, rank == 0 ? dims[0] : 0, m->bytes->str, error) &&
                      xlm_store_set_text(store, whole, "description", "a model of SentencePiece, as its file", error) &&
                      xlm_store_set_text(store, path, "segmentation", "SentencePiece, as sentencepiece_model says", error);
    for (int i = 0; i < RULES && good && m->is_albert; i++)
        good = xlm_store_set_int(store, path, rule_names[i], *rule_at(m, i), error);
    g_free(whole);
    return good;
}

static bool load_rules(pieces_model *m, const xlm_store *store, const char *path, GError **error)
{
    m->is_albert = xlm_store_get_int(store, path, rule_names[0], &m->albert.lower, NULL);
    return !m->is_albert || (xlm_store_get_int(store, path, rule_names[1], &m->albert.keep_accents, error) &&
                             xlm_store_get_int(store, path, rule_names[2], &m->albert.remove_space, error));
}

static void *load(const xlm_store *store, const char *path, GError **error)
{
    uint64_t dims[3];
    char *whole = xlm_word_store_member(path, DATASET);
    const int dimensions = xlm_store_shape(store, whole, dims, error);
    void *m = NULL;
    if (dimensions >= 0 && (dimensions != 1 || dims[0] == 0 || dims[0] > INT32_MAX))
        xlm_word_store_refuse(store, whole, "is not the bytes of a file", error);
    else if (dimensions >= 0) {
        GString *bytes = g_string_sized_new(dims[0]);
        g_string_set_size(bytes, dims[0]);
        GError *failure = NULL;
        if (!xlm_store_read(store, whole, XLM_U8, 0, dims[0], bytes->str, error))
            g_string_free(bytes, TRUE);
        else if ((m = new_model(bytes, &failure)) == NULL) {
            xlm_word_store_refuse(store, whole, failure->message, error);
            g_error_free(failure);
        }
    }
    g_free(whole);
    if (m == NULL || load_rules(m, store, path, error))
        return m;
    free_model(m);
    return NULL;
}

/* ---- asking ---- */

static uint32_t size_of(const void *model)
{
    xlm_word_counts *subwords = xlm_word_counts_new();
    list_subwords(model, subwords);
    const uint32_t n = xlm_word_counts_size(subwords);
    xlm_word_counts_free(subwords);
    return n;
}

static bool joins(const void *model, const char *subword, const char *next)
{
    (void)model;
    (void)subword;
    return !g_str_has_prefix(next, SPACE);
}

/* A word of several pieces begins with the mark, which stands nowhere else but in runs of spaces. */
static void spell(const void *model, const char *subword, GString *out)
{
    (void)model;
    g_string_append(out, subword + (g_str_has_prefix(subword, SPACE) ? strlen(SPACE) : 0));
}

/* ---- segmenting ---- */

typedef struct cutter {
    const pieces_model *model;
    GString *segmented, *pieces;
} cutter;

static void *open_cutter(const void *model, const xlm_word_counts *allowed)
{
    (void)allowed; /* a vocabulary of this class has all subwords of its model */
    cutter *c = g_new(cutter, 1);
    *c = (cutter){model, g_string_new(NULL), g_string_new(NULL)};
    return c;
}

static void close_cutter(void *pointer)
{
    cutter *c = pointer;
    g_string_free(c->segmented, TRUE);
    g_string_free(c->pieces, TRUE);
    g_free(c);
}

static void cut(const void *model, const char *text, size_t size, GString *out)
{
    xlm_sentencepiece_encode(((const pieces_model *)model)->library, text, size, out);
}

static const char *segment(void *pointer, const char *line, size_t size, size_t *n)
{
    cutter *c = pointer;
    g_string_truncate(c->segmented, 0);
    g_string_truncate(c->pieces, 0);
    cut(c->model, line, size, c->model->is_albert ? c->pieces : c->segmented);
    if (c->model->is_albert)
        xlm_albert_cut_commas(c->pieces->str, c->pieces->len, cut, c->model, c->segmented);
    *n = c->segmented->len;
    return c->segmented->str;
}

/* What does not begin a word stays whole, for the model puts the mark in front of what it is given. */
static const char *segment_subword(void *pointer, const char *subword, size_t *n)
{
    cutter *c = pointer;
    if (g_str_has_prefix(subword, SPACE) && strlen(subword) > strlen(SPACE))
        return segment(c, subword + strlen(SPACE), strlen(subword) - strlen(SPACE), n);
    g_string_assign(c->segmented, subword);
    *n = c->segmented->len;
    return c->segmented->str;
}

/* ---- vocabularies made of others ---- */

static const xlm_model_piece *piece_at(const pieces_model *m, guint i) { return &g_array_index(m->pieces, xlm_model_piece, i); }

/* Pieces by their texts. */
static GHashTable *index_pieces(const pieces_model *m)
{
    GHashTable *by_text = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < m->pieces->len; i++)
        g_hash_table_insert(by_text, piece_at(m, i)->text, (void *)(uintptr_t)piece_at(m, i));
    return by_text;
}

/* Of normal pieces those of the least score, which that of unknown characters depends on, and of the highest, likewise of pieces
 * that are given. */
static void keep_extremes(const pieces_model *m, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    const xlm_model_piece *least = NULL, *most = NULL;
    for (guint i = 0; i < m->pieces->len; i++) {
        const xlm_model_piece *piece = piece_at(m, i);
        if (piece->kind != XLM_PIECE_NORMAL)
            continue;
        if (least == NULL || piece->score < least->score)
            least = piece;
        if (most == NULL || piece->score > most->score)
            most = piece;
    }
    if (least == NULL)
        return;
    xlm_segmenter_keep(subwords, least->text, strlen(least->text), kept);
    xlm_segmenter_keep(subwords, most->text, strlen(most->text), kept);
}

/* Byte pairs: append what is made on the way to a piece. Neighbours whose text is the piece of the highest score are merged
 * first, of equal ones the first. */
static void keep_parts(GHashTable *by_text, const char *piece, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    GPtrArray *symbols = g_ptr_array_new_with_free_func(g_free);
    for (const char *at = piece; *at != '\0'; at = g_utf8_next_char(at))
        g_ptr_array_add(symbols, g_strndup(at, (gsize)(g_utf8_next_char(at) - at)));
    for (;;) {
        const xlm_model_piece *best = NULL;
        guint where = 0;
        for (guint i = 0; i + 1 < symbols->len; i++) {
            char *both = g_strconcat(symbols->pdata[i], symbols->pdata[i + 1], NULL);
            const xlm_model_piece *found = g_hash_table_lookup(by_text, both);
            if (found != NULL && (best == NULL || found->score > best->score)) {
                best = found;
                where = i;
            }
            g_free(both);
        }
        if (best == NULL)
            break;
        g_ptr_array_remove_index(symbols, where + 1);
        g_free(symbols->pdata[where]);
        symbols->pdata[where] = g_strdup(best->text);
        xlm_segmenter_keep(subwords, best->text, strlen(best->text), kept);
    }
    g_ptr_array_unref(symbols);
}

/* Whatever is not normal (bytes, pieces that users gave) stays too, and what ALBERT's rules cut again, which no text has
 * whole. */
static void needs(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    const pieces_model *m = model;
    for (guint i = 0; i < m->pieces->len; i++)
        if (piece_at(m, i)->kind != XLM_PIECE_NORMAL ||
            (m->is_albert && xlm_albert_cuts_again(piece_at(m, i)->text, strlen(piece_at(m, i)->text))))
            xlm_segmenter_keep(subwords, piece_at(m, i)->text, strlen(piece_at(m, i)->text), kept);
    keep_extremes(m, subwords, kept);
    xlm_segmenter_keep(subwords, SPACE, strlen(SPACE), kept);
    xlm_segmenter_keep_characters(&xlm_segmenter_sentencepiece, model, subwords, "", "", kept);
    xlm_segmenter_keep_characters(&xlm_segmenter_sentencepiece, model, subwords, SPACE, "", kept);
    if (xlm_sentencepiece_type(m->bytes->str, m->bytes->len) == 1)
        return;
    GHashTable *by_text = index_pieces(m);
    for (uint32_t i = 0; i < xlm_word_counts_size(kept); i++)
        keep_parts(by_text, xlm_word_counts_word(kept, i, NULL), subwords, kept);
    g_hash_table_unref(by_text);
}

static void *reduce(const void *model, const xlm_word_counts *kept, GError **error)
{
    const pieces_model *m = model;
    uint8_t *keep = g_new(uint8_t, m->pieces->len);
    for (guint i = 0; i < m->pieces->len; i++) {
        const xlm_model_piece *piece = piece_at(m, i);
        keep[i] = piece->kind != XLM_PIECE_NORMAL ||
                  xlm_word_counts_index(kept, piece->text, strlen(piece->text)) != UINT32_MAX;
    }
    pieces_model *reduced = new_model(xlm_sentencepiece_change(m->bytes->str, m->bytes->len, keep, NULL, 0), error);
    g_free(keep);
    return with_rules_of(m, reduced);
}

/* The byte that a piece "<0x5A>" stands for; -1: it is text. */
static int byte_of(const pieces_model *m, const char *text)
{
    bool found = false;
    if (!g_str_has_prefix(text, "<0x") || strlen(text) != strlen("<0x5A>"))
        return -1;
    for (guint i = 0; i < m->pieces->len && !found; i++)
        found = piece_at(m, i)->kind == XLM_PIECE_BYTE && strcmp(piece_at(m, i)->text, text) == 0;
    if (!found)
        return -1;
    return g_ascii_xdigit_value(text[3]) << 4 | g_ascii_xdigit_value(text[4]);
}

/* The pieces of a line together are its text as the model normalises it. */
static char *whole(const void *model, const char *word)
{
    const pieces_model *m = model;
    GString *text = g_string_new(NULL), *whole = g_string_new(NULL);
    xlm_sentencepiece_encode(m->library, word, strlen(word), text);
    char **parts = g_strsplit(text->str, " ", -1);
    for (char **part = parts; *part != NULL; part++) {
        const int byte = byte_of(m, *part);
        if (byte < 0)
            g_string_append(whole, *part);
        else
            g_string_append_c(whole, (char)byte);
    }
    g_strfreev(parts);
    g_string_free(text, TRUE);
    char *joined = g_string_free(whole, FALSE);
    if (g_utf8_validate(joined, -1, NULL) && g_str_has_prefix(joined, SPACE) && joined[strlen(SPACE)] != '\0' &&
        strstr(joined + strlen(SPACE), SPACE) == NULL)
        return joined;
    g_free(joined);
    return NULL;
}

/* What an unknown character counts in the library: 10 less than the least of all normal pieces. */
static double score_of_unknown(const pieces_model *m)
{
    double least = 0;
    for (guint i = 0; i < m->pieces->len; i++)
        if (piece_at(m, i)->kind == XLM_PIECE_NORMAL)
            least = MIN(least, (double)piece_at(m, i)->score);
    return least - 10;
}

/* log p of the best pieces of a word, and a little more: so it becomes one where it stands alone, and other words that begin with
 * it change as little as can be. */
static float score_above_parts(const pieces_model *m, GHashTable *by_text, double unknown, const char *word)
{
    static const double ABOVE = 0.01;
    GString *text = g_string_new(NULL);
    double score = ABOVE;
    xlm_sentencepiece_encode(m->library, word + strlen(SPACE), strlen(word) - strlen(SPACE), text);
    char **parts = g_strsplit(text->str, " ", -1);
    for (char **part = parts; *part != NULL; part++) {
        const xlm_model_piece *piece = g_hash_table_lookup(by_text, *part);
        const int byte = byte_of(m, *part);
        if ((byte & 0xC0) != 0x80) /* the bytes of a character are one unknown */
            score += piece != NULL && byte < 0 ? (double)piece->score : unknown;
    }
    g_strfreev(parts);
    g_string_free(text, TRUE);
    return (float)score;
}

/* Unigram models get normal pieces; those of byte pairs pieces as users give them, which are never cut. */
static void *enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted, xlm_word_counts *added,
                     GError **error)
{
    const pieces_model *m = model;
    const bool unigram = xlm_sentencepiece_type(m->bytes->str, m->bytes->len) == 1;
    GHashTable *by_text = index_pieces(m);
    const double unknown = score_of_unknown(m);
    GArray *more = xlm_sentencepiece_new_pieces();
    bool good = true;
    for (uint32_t i = 0; i < xlm_word_counts_size(wanted) && good; i++) {
        size_t size;
        const char *word = xlm_word_counts_word(wanted, i, &size);
        const bool known = g_hash_table_contains(by_text, word);
        if (!known && (size <= strlen(SPACE) || !g_str_has_prefix(word, SPACE))) {
            good = xlm_error_set(error, EX_DATAERR, "`%s` cannot be added: it is no word of SentencePiece", word);
            continue;
        }
        if (!known) {
            const xlm_model_piece piece = {g_strdup(word), unigram ? score_above_parts(m, by_text, unknown, word) : 0,
                                           unigram ? XLM_PIECE_NORMAL : XLM_PIECE_GIVEN};
            g_array_append_val(more, piece);
        }
        if (xlm_word_counts_index(subwords, word, size) == UINT32_MAX)
            xlm_word_counts_add(added, word, size, 0);
    }
    uint8_t *keep = g_new(uint8_t, m->pieces->len);
    memset(keep, 1, m->pieces->len);
    void *enlarged = !good ? NULL
                           : new_model(xlm_sentencepiece_change(m->bytes->str, m->bytes->len, keep,
                                                                (const xlm_model_piece *)(void *)more->data, more->len), error);
    g_free(keep);
    g_array_unref(more);
    g_hash_table_unref(by_text);
    return with_rules_of(m, enlarged);
}

const xlm_segmenter_class xlm_segmenter_sentencepiece = {
    .name = "sentencepiece", .unit = "subwords", .marks = "U+2581 in front: a word begins", .input = XLM_SEGMENTS_LINES,
    .normaliser = new_normaliser,
    .normalisation = "valid UTF-8; with the attributes albert_... quotes, accents and case as of ALBERT's tokenizer; then as the "
                     "model of SentencePiece says",
    .recognises = recognises, .adopt = adopt, .publish = publish, .options = options,
    .options_size = sizeof(xlm_segmenter_options), .learn = learn, .list = list_subwords, .print = print, .parse = parse,
    .save = save, .load = load, .free = free_model, .needs = needs,
    .reduce = reduce, .whole = whole, .enlarge = enlarge, .size = size_of,
    .joins = joins, .spell = spell, .open = open_cutter,
    .close = close_cutter, .segment = segment, .segment_subword = segment_subword,
};
