/* xlm-mpi: SentencePiece, the segmenter of XLM-R. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Sources: Kudo, "Subword Regularization: Improving Neural Network Translation Models with Multiple Subword Candidates", ACL 2018
 * (unigram); Kudo, Richardson, "SentencePiece: A simple and language independent subword tokenizer and detokenizer for Neural
 * Text Processing", EMNLP 2018. The library SentencePiece gets whole lines, and normalises and segments them as the model says.
 *
 * In a file, beside /vocabulary/words:
 *   /vocabulary/sentencepiece_model   [bytes] u8: the model's file, which libraries in many languages read
 *   /vocabulary                       attributes albert_lowercase, albert_keep_accents, albert_remove_space, albert_fast = 0 | 1,
 *                                     of ALBERT's tokenizer (sentencepiece/albert.h) */
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include "subwords/sentencepiece.h"
#include "subwords/word_store.h"

static const char SPACE[] = XLM_PIECE_SPACE;
static const char DATASET[] = "sentencepiece_model";

enum { RULES = 4 };
static const char *const rule_names[RULES] = {"albert_lowercase", "albert_keep_accents", "albert_remove_space", "albert_fast"};

static int64_t *rule_at(xlm_albert_text *rules, int i)
{
    return i == 0 ? &rules->lower : i == 1 ? &rules->keep_accents : i == 2 ? &rules->remove_space : &rules->fast;
}

static const xlm_option options[] = {
    {"unigram", XLM_OPTION_INT, NULL, 1, 10000000, NULL, "learn a unigram model of N subwords with SentencePiece, for all "
     "languages together", offsetof(xlm_segmenter_options, amount)},
    XLM_OPTION_END};

/* ---- lines ---- */

/* Lines are not changed, because the model normalises them; but lines without a visible character become empty. */
static void append_line(void *state, const char *text, size_t size, GString *out, GArray *origins)
{
    (void)state;
    bool visible = false;
    while (size > 0 && (text[size - 1] == '\n' || text[size - 1] == '\r'))
        size--;
    for (int32_t i = 0; i < (int32_t)size && !visible;) {
        UChar32 c;
        U8_NEXT_UNSAFE(text, i, c);
        visible = !u_isUWhiteSpace(c) && (U_GET_GC_MASK(c) & U_GC_C_MASK) == 0;
    }
    if (!visible)
        return;
    g_string_append_len(out, text, (gssize)size);
    for (int32_t i = 0; i < (int32_t)size && origins != NULL;) {
        const int32_t start = i;
        UChar32 c;
        U8_NEXT_UNSAFE(text, i, c);
        xlm_origins_add(origins, (size_t)(i - start), (size_t)(u_isUWhiteSpace(c) ? i : start), (size_t)i);
    }
}

static xlm_normaliser *new_normaliser(const void *model)
{
    static const xlm_normaliser_form form = {.append = append_line}, with_space = {.append = append_line, .keeps_space = true};
    const xlm_pieces *m = model; /* NULL: a model that has not been learned yet */
    return m != NULL && m->is_albert ? xlm_albert_normaliser(&m->albert)
                                     : xlm_normaliser_new_with(m == NULL || m->form.space_first ? &form : &with_space, NULL);
}

/* ---- learning ---- */

/* A line `word<tab>count` for each part of a word. The library takes time quadratic in the length of a word that repeats
 * itself, as thousands of equal letters in a row do, so a long one is passed to it in parts. */
static void add_lines(GPtrArray *lines, const char *word, size_t size, int64_t count)
{
    while (size > 0) {
        size_t part = MIN(size, XLM_PIECES_RUN);
        while (part < size && ((unsigned char)word[part] & 0xc0) == 0x80)
            part--;
        char *line = g_strdup_printf("%.*s\t%" G_GINT64_FORMAT, (int)part, word, count);
        for (char *tab = strchr(line, '\t'); tab < strrchr(line, '\t'); tab = strchr(tab, '\t'))
            *tab = ' ';
        g_ptr_array_add(lines, line);
        word += part;
        size -= part;
    }
}

static void *learn(const xlm_segmenter_options *asked, const xlm_word_counts *words, GError **error)
{
    const uint32_t n = xlm_word_counts_size(words);
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        const char *word = xlm_word_counts_word(words, i, &size);
        if (memchr(word, '\0', size) == NULL && xlm_word_counts_count(words, i) >= 1)
            add_lines(lines, word, size, xlm_word_counts_count(words, i));
    }
    GString *bytes = g_string_new(NULL);
    g_autofree char *message = NULL;
    if (xlm_sentencepiece_learn((char *const *)lines->pdata, lines->len, asked->amount, bytes, &message))
        return xlm_pieces_new(bytes, error);
    xlm_error_set(error, EX_DATAERR, "SentencePiece cannot learn %" G_GINT64_FORMAT " subwords of this text: %s", asked->amount,
                  message);
    g_string_free(bytes, TRUE);
    return NULL;
}

/* The pieces that text can become. */
static void list_subwords(const void *model, xlm_word_counts *subwords)
{
    const GArray *pieces = ((const xlm_pieces *)model)->pieces;
    for (guint i = 0; i < pieces->len; i++) {
        const xlm_model_piece *piece = &g_array_index(pieces, xlm_model_piece, i);
        if (piece->kind != XLM_PIECE_UNKNOWN && piece->kind != XLM_PIECE_CONTROL)
            xlm_word_counts_add(subwords, piece->text, strlen(piece->text), 0);
    }
}

/* ---- files ---- */

/* Rules come before the bytes of the model, whose first byte is never this one. */
static const char RULES_FIRST = '#';

static GString *print(const void *model)
{
    const xlm_pieces *m = model;
    xlm_albert_text rules = m->albert;
    GString *text = g_string_new(NULL);
    if (m->is_albert)
        g_string_append_c(text, RULES_FIRST);
    for (int i = 0; i < RULES && m->is_albert; i++)
        g_string_append_c(text, *rule_at(&rules, i) != 0 ? '1' : '0');
    g_string_append_len(text, m->bytes->str, (gssize)m->bytes->len);
    return text;
}

/* With rules it is not a model of SentencePiece, which has no place for them. */
static bool has_file(const void *model) { return !((const xlm_pieces *)model)->is_albert; }

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    g_autoptr(GError) failure = NULL;
    const bool rules = size > RULES && bytes[0] == RULES_FIRST;
    const size_t skip = rules ? 1 + RULES : 0;
    xlm_pieces *m = xlm_pieces_new(g_string_new_len(bytes + skip, (gssize)(size - skip)), &failure);
    if (m == NULL) {
        xlm_error_set(error, EX_DATAERR, "%s: %s", name, failure->message);
        return NULL;
    }
    m->is_albert = rules;
    for (int i = 0; i < RULES && rules; i++)
        *rule_at(&m->albert, i) = bytes[1 + i] == '1';
    return m;
}

static bool save(const void *model, xlm_store *store, const char *path, int rank, GError **error)
{
    const xlm_pieces *m = model;
    const uint64_t dims[1] = {m->bytes->len};
    g_autofree char *whole = xlm_word_store_member(path, DATASET);
    xlm_albert_text rules = m->albert;
    bool good = xlm_store_dataset(store, whole, XLM_U8, 1, dims, XLM_STORE_CHECKED, error) &&
                xlm_store_write(store, whole, 0, rank == 0 ? dims[0] : 0, m->bytes->str, error) &&
                xlm_store_set_text(store, whole, "description", "a model of SentencePiece, as its file", error) &&
                xlm_store_set_text(store, path, "segmentation", "SentencePiece, as sentencepiece_model says", error);
    for (int i = 0; i < RULES && good && m->is_albert; i++)
        good = xlm_store_set_int(store, path, rule_names[i], *rule_at(&rules, i), error);
    return good;
}

static bool load_rules(xlm_pieces *m, const xlm_store *store, const char *path, GError **error)
{
    m->is_albert = xlm_store_get_int(store, path, rule_names[0], &m->albert.lower, NULL);
    for (int i = 1; i < RULES && m->is_albert; i++)
        if (!xlm_store_get_int(store, path, rule_names[i], rule_at(&m->albert, i), error))
            return false;
    return true;
}

static void *load(const xlm_store *store, const char *path, GError **error)
{
    xlm_array array = {XLM_U8, XLM_UP_TO(INT32_MAX), 0};
    g_autofree char *whole = xlm_word_store_member(path, DATASET), *file = xlm_store_read_all(store, whole, &array, error);
    void *m = NULL;
    if (file != NULL && array.rows == 0)
        xlm_word_store_refuse(store, whole, "is not the bytes of a file", error);
    else if (file != NULL) {
        g_autoptr(GError) failure = NULL;
        if ((m = xlm_pieces_new(g_string_new_len(file, (gssize)array.rows), &failure)) == NULL)
            xlm_word_store_refuse(store, whole, failure->message, error);
    }
    if (m == NULL || load_rules(m, store, path, error))
        return m;
    xlm_pieces_free(m);
    return NULL;
}

/* ---- asking ---- */

static uint32_t size_of(const void *model)
{
    g_autoptr(xlm_word_counts) subwords = xlm_word_counts_new();
    list_subwords(model, subwords);
    return xlm_word_counts_size(subwords);
}

/* Bytes are text where they are whole characters. */
static bool spell_word(const void *model, const char *const *subwords, size_t n, GString *out)
{
    const xlm_pieces *m = model;
    const size_t before = out->len;
    for (size_t i = 0; i < n; i++) {
        const int byte = m->form.bytes ? xlm_piece_byte(subwords[i]) : -1;
        if (byte >= 0)
            g_string_append_c(out, (char)byte);
        else
            xlm_pieces_spell(model, subwords[i], out);
    }
    if (memchr(out->str + before, '\0', out->len - before) == NULL &&
        xlm_utf8_check(out->str + before, out->len - before) == out->len - before)
        return true;
    g_string_truncate(out, before);
    return false;
}

/* ---- segmenting ---- */

typedef struct cutter {
    const xlm_pieces *model;
    GString *segmented;
    xlm_cut *cut, *located;
} cutter;

static void *open_cutter(const void *model, const xlm_word_counts *allowed)
{
    (void)allowed; /* a vocabulary of this class has all subwords of its model */
    cutter *c = g_new(cutter, 1);
    *c = (cutter){model, g_string_new(NULL), xlm_cut_new(false), xlm_cut_new(true)};
    return c;
}

static void close_cutter(void *pointer)
{
    cutter *c = pointer;
    g_string_free(c->segmented, TRUE);
    xlm_cut_free(c->cut);
    xlm_cut_free(c->located);
    g_free(c);
}

static bool cut_text(const void *model, const char *text, size_t size, xlm_cut *cut)
{
    const xlm_pieces *m = model;
    xlm_cut_clear(cut);
    xlm_cut_text(m->rules, m->library, text, size, XLM_PIECES_RUN, cut);
    return cut->normal == NULL || xlm_cut_locate(m->rules, text, size, cut);
}

/* Cut into `cut`. False when places are requested and cannot be found. */
static bool cut_line(const cutter *c, const char *line, size_t size, xlm_cut *cut)
{
    const bool again = c->model->is_albert && !c->model->albert.fast;
    return cut_text(c->model, line, size, cut) && (!again || xlm_albert_cut_commas(cut, cut_text, c->model));
}

static const char *segment(void *pointer, const char *line, size_t size, GArray *places, size_t *n, GError **error)
{
    cutter *c = pointer;
    xlm_cut *cut = places != NULL ? c->located : c->cut;
    if (!cut_line(c, line, size, cut)) {
        xlm_error_set(error, EX_SOFTWARE, "the places of subwords are not known: the library SentencePiece has normalised this text "
                      "differently from what the model's character map says; please report it with the library's version");
        return NULL;
    }
    for (uint32_t i = 0, start = 0, end; places != NULL && i < cut->ends->len; i++, start = end) {
        end = g_array_index(cut->ends, uint32_t, i);
        const xlm_origin place = xlm_origins_join(&g_array_index(cut->origins, xlm_origin, start), end - start);
        g_array_append_val(places, place);
    }
    *n = cut->pieces->len;
    return cut->pieces->str;
}

/* A subword that does not begin a word is not cut, because most models put a mark before it. */
static const char *segment_subword(void *pointer, const char *subword, size_t *n)
{
    cutter *c = pointer;
    const size_t skip = c->model->form.space_first ? strlen(SPACE) : 0; /* the model puts it there */
    if (g_str_has_prefix(subword, SPACE) && strlen(subword) > strlen(SPACE))
        return segment(c, subword + skip, strlen(subword) - skip, NULL, n, NULL);
    g_string_assign(c->segmented, subword);
    *n = c->segmented->len;
    return c->segmented->str;
}

static const xlm_segmenter_learning learning = {.options = options, .learn = learn, .list = list_subwords,
                                                .word_bytes = 150, .letter_bytes = 35, .has_file = has_file};
static const xlm_segmenter_change change = {.reduce = xlm_sentencepiece_reduce, .whole = xlm_sentencepiece_whole,
                                            .enlarge = xlm_sentencepiece_enlarge};
static const xlm_segmenter_exchange exchange = {.adopt = xlm_sentencepiece_adopt, .publish = xlm_sentencepiece_publish};

const xlm_segmenter_class xlm_segmenter_sentencepiece = {
    .name = "sentencepiece", .unit = "subwords", .marks = "U+2581 in front: a word begins", .input = XLM_SEGMENTS_LINES,
    .normalisation = "valid UTF-8; with the attributes albert_... quotes, accents and case as of ALBERT's tokenizer; then as the "
                     "model of SentencePiece says",
    .normaliser = new_normaliser,
    .print = print, .parse = parse, .save = save, .load = load, .free = xlm_pieces_free, .size = size_of,
    .spell = xlm_pieces_spell, .spell_word = spell_word, .open = open_cutter, .close = close_cutter, .segment = segment,
    .segment_subword = segment_subword, .learning = &learning, .change = &change, .exchange = &exchange,
};
