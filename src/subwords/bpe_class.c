/* xlm-mpi: byte-pair encoding as a class of segmenters. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In a file, beside /vocabulary/words:
 *   /vocabulary               attributes: segmentation, continuation = "@@", end_of_word = "</w>"
 *   /vocabulary/codes         [C] strings "left right": merges by rank
 *   /vocabulary/code_counts   [C] i64: count of each pair when it was merged */
#include <string.h>

#include "base/rng.h"
#include "subwords/bpe_change.h"
#include "subwords/bpe_class.h"
#include "subwords/word_store.h"
#include "text/normalise.h"

static const xlm_option options[] = {
    {"bpe", XLM_OPTION_INT, NULL, 1, 10000000, NULL, "learn N merges, for all languages together",
     offsetof(xlm_segmenter_options, amount)},
    {"codes", XLM_OPTION_TEXT, NULL, 0, 0, NULL, "take the merges from a file of fastBPE", offsetof(xlm_segmenter_options, file)},
    XLM_OPTION_END};

/* ---- learning ---- */

static void *learn(const xlm_segmenter_options *asked, const xlm_word_counts *words, GError **error)
{
    (void)error;
    return xlm_bpe_learn(words, (uint32_t)asked->amount);
}

/* The results of the merges from rank `first` on, as in segmented text. */
static void add_results(const xlm_bpe *bpe, uint32_t first, xlm_word_counts *subwords)
{
    g_autoptr(GString) result = g_string_new(NULL);
    for (uint32_t i = first; i < xlm_bpe_size(bpe); i++) {
        const char *left, *right;
        xlm_bpe_code(bpe, i, &left, &right, NULL);
        g_string_printf(result, "%s%s", left, right);
        if (g_str_has_suffix(right, BPE_END))
            g_string_truncate(result, result->len - BPE_END_SIZE);
        else
            g_string_append(result, BPE_CONTINUED);
        xlm_word_counts_add(subwords, result->str, result->len, 0);
    }
}

static void *learn_more(const void *model, const xlm_word_counts *words, uint32_t amount, xlm_word_counts *added)
{
    xlm_bpe *bpe = xlm_bpe_extend(model, words, amount);
    add_results(bpe, xlm_bpe_size(model), added);
    return bpe;
}

/* ---- files ---- */

static GString *print(const void *model) { return xlm_bpe_print(model); }

static void *parse(const char *name, const char *bytes, size_t size, GError **error)
{
    return xlm_bpe_parse(name, bytes, size, error);
}

static bool save_notes(xlm_store *store, const char *path, GError **error)
{
    static const struct {
        const char *object, *name, *text; /* object: member of the group, "" for the group itself */
    } notes[] = {
        {"", "segmentation",
         "byte-pair encoding of words as by fastBPE: merges in the order of `codes`; subwords that are not in `words` are "
         "taken apart again"},
        {"", "continuation", BPE_CONTINUED},
        {"", "end_of_word", BPE_END},
        {"codes", "description", "BPE merges by rank: left and right symbol; </w> is the end of a word"},
        {"code_counts", "description",
         "how often each pair was in the text when it was merged; languages weighted as in learning"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(notes); i++)
        if (!xlm_word_store_note(store, path, notes[i].object, notes[i].name, notes[i].text, error))
            return false;
    return true;
}

static bool save(const void *model, xlm_store *store, const char *path, int rank, GError **error)
{
    const uint32_t n = xlm_bpe_size(model);
    g_autofree int64_t *counts = NULL;
    g_auto(GStrv) codes = bpe_strings(model, &counts);
    return xlm_word_store_save_words(store, path, "codes", n, (const char *const *)codes, error) &&
           xlm_word_store_save_counts(store, path, "code_counts", rank, n, counts, error) &&
           save_notes(store, path, error);
}

/* Make codes from the text of their file, whose reader checks them. */
static xlm_bpe *parse_codes(const xlm_store *store, const char *path, char *const *codes, const int64_t *counts, uint64_t n,
                            GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint64_t i = 0; i < n; i++)
        g_string_append_printf(text, "%s %" G_GINT64_FORMAT "\n", codes[i], counts[i]);
    g_autofree char *name = g_strdup_printf("%s: %s/codes", xlm_store_path(store), path);
    xlm_bpe *bpe = xlm_bpe_parse(name, text->str, text->len, error);
    if (bpe != NULL && xlm_bpe_size(bpe) != n) {
        xlm_word_store_refuse(store, path, "codes have lines within them", error);
        g_clear_pointer(&bpe, xlm_bpe_free);
    }
    return bpe;
}

static void *load(const xlm_store *store, const char *path, GError **error)
{
    uint64_t n;
    g_auto(GStrv) codes = xlm_word_store_load_words(store, path, "codes", &n, error);
    if (codes == NULL)
        return NULL;
    g_autofree int64_t *counts = xlm_word_store_load_counts(store, path, "code_counts", n, error);
    return counts != NULL ? parse_codes(store, path, codes, counts, n, error) : NULL;
}

static void free_model(void *model) { xlm_bpe_free(model); }

/* ---- marks ---- */

static xlm_word_mark spell(const void *model, const char *subword, GString *out)
{
    (void)model;
    const bool continued = g_str_has_suffix(subword, BPE_CONTINUED);
    if (out != NULL)
        g_string_append_len(out, subword, (gssize)(strlen(subword) - (continued ? BPE_CONTINUED_SIZE : 0)));
    return continued ? XLM_MARKS_NOTHING : XLM_MARKS_END;
}

/* ---- vocabularies made of others ---- */

/* Merges are kept: a result that is left out of the vocabulary is split into the parts that it was merged from. */
static void *reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error)
{
    (void)error;
    xlm_segmenter_keep_characters(spell, model, subwords, "", "", kept);
    xlm_segmenter_keep_characters(spell, model, subwords, "", BPE_CONTINUED, kept);
    return bpe_copy(model, NULL);
}

static char *whole(const void *model, const char *word)
{
    (void)model;
    return strstr(word, BPE_END) != NULL || g_str_has_suffix(word, BPE_CONTINUED) ? NULL : g_strdup(word);
}

/* Merge the symbols of a word one by one, from its beginning or from its end. False: another merge already makes such a text. */
static bool fold(xlm_bpe *bpe, char **symbols, bool from_end)
{
    const guint n = g_strv_length(symbols);
    g_autoptr(GString) text = g_string_new(symbols[from_end ? n - 1 : 0]);
    bool good = true;
    for (guint i = 1; i < n && good; i++) {
        const char *next = symbols[from_end ? n - 1 - i : i];
        good = from_end ? bpe_add(bpe, next, strlen(next), text->str, text->len, 0)
                        : bpe_add(bpe, text->str, text->len, next, strlen(next), 0);
        if (from_end)
            g_string_prepend(text, next);
        else
            g_string_append(text, next);
    }
    return good;
}

static bool learn_word(xlm_bpe *bpe, const char *word, GError **error)
{
    bool good = false;
    for (int i = 0; i < 3 && !good; i++) {
        g_auto(GStrv) symbols = bpe_symbols(bpe, word);
        good = g_strv_length(symbols) == 1;
        if (!good && i < 2)
            fold(bpe, symbols, i == 1);
    }
    return good || xlm_error_set(error, EX_DATAERR, "`%s` cannot be added: another merge makes this text from other parts", word);
}

static void *enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted, xlm_word_counts *added,
                     GError **error)
{
    xlm_bpe *bpe = bpe_copy(model, NULL);
    for (uint32_t i = 0; i < xlm_word_counts_size(wanted); i++) {
        size_t size;
        const char *word = xlm_word_counts_word(wanted, i, &size);
        if (xlm_word_counts_index(subwords, word, size) != UINT32_MAX)
            continue;
        xlm_word_counts_add(added, word, size, 0);
        if (!g_str_has_suffix(word, BPE_CONTINUED) && !learn_word(bpe, word, error)) {
            xlm_bpe_free(bpe);
            return NULL;
        }
    }
    return bpe;
}

/* ---- asking ---- */

static uint32_t size_of(const void *model) { return xlm_bpe_size(model); }

static bool check(const void *model, GError **error)
{
    for (uint32_t i = 0; i < xlm_bpe_size(model); i++) {
        const char *left, *right;
        xlm_bpe_code(model, i, &left, &right, NULL);
        if (!xlm_utf8_require("BPE symbol", left, strlen(left), error) ||
            !xlm_utf8_require("BPE symbol", right, strlen(right), error))
            return false;
    }
    return true;
}

static uint64_t digest_of(const void *model, uint64_t digest)
{
    for (uint32_t i = 0; i < xlm_bpe_size(model); i++) { /* each text with its final 0, so that they stay separate */
        const char *left, *right;
        xlm_bpe_code(model, i, &left, &right, NULL);
        digest = xlm_digest(left, strlen(left) + 1, digest);
        digest = xlm_digest(right, strlen(right) + 1, digest);
    }
    return digest;
}

static bool extends(const void *model, const void *larger, GError **error)
{
    const uint32_t n = xlm_bpe_size(model);
    if (xlm_bpe_size(larger) < n)
        return xlm_error_set(error, EX_DATAERR, "it has %u BPE codes, there are %u there", n, xlm_bpe_size(larger));
    for (uint32_t i = 0; i < n; i++) {
        const char *left[2], *right[2];
        xlm_bpe_code(model, i, &left[0], &right[0], NULL);
        xlm_bpe_code(larger, i, &left[1], &right[1], NULL);
        if (strcmp(left[0], left[1]) != 0 || strcmp(right[0], right[1]) != 0)
            return xlm_error_set(error, EX_DATAERR, "its BPE code %u is `%s %s`, there it is `%s %s`", i + 1, left[0], right[0],
                                 left[1], right[1]);
    }
    return true;
}

/* ---- segmenting ---- */

static void *open_cutter(const void *model, const xlm_word_counts *allowed) { return xlm_bpe_cutter_new(model, allowed); }
static void close_cutter(void *cutter) { xlm_bpe_cutter_free(cutter); }

static const char *segment(void *cutter, const char *word, size_t size, GArray *places, size_t *n, GError **error)
{
    (void)places;
    (void)error;
    return xlm_bpe_cutter_word(cutter, word, size, n);
}

const char *bpe_segment_subword(const xlm_segmenter_class *cls, void *cutter, const char *subword, size_t *n)
{
    g_autoptr(GString) text = g_string_new(NULL);
    const bool goes_on = (cls->spell(NULL, subword, text) & XLM_MARKS_END) == 0;
    if (goes_on)
        g_string_append(text, BPE_WORD_GOES_ON);
    const char *cut = cls->segment(cutter, text->str, text->len, NULL, n, NULL);
    const char *last = goes_on ? g_strrstr_len(cut, (gssize)*n, " ") : NULL;
    if (last != NULL)
        *n = (size_t)(last - cut);
    return cut;
}

static const char *segment_subword(void *cutter, const char *subword, size_t *n)
{
    return bpe_segment_subword(&xlm_segmenter_bpe, cutter, subword, n);
}

static const xlm_segmenter_learning learning = {.options = options, .learn = learn, .learn_more = learn_more, .check = check,
                                                .word_bytes = 120, .letter_bytes = 30, .any_order = true};
static const xlm_segmenter_change change = {.reduce = reduce, .whole = whole, .enlarge = enlarge};
static const xlm_segmenter_exchange exchange = {.adopt = xlm_bpe_adopt, .publish = xlm_bpe_publish,
                                                .publish_needs = xlm_bpe_publish_needs};
static const xlm_segmenter_comparison comparison = {.digest = digest_of, .extends = extends};

const xlm_segmenter_class xlm_segmenter_bpe = {
    .name = "bpe", .is_default = true, .unit = "merges", .marks = "@@ at the end: the word continues in the next subword",
    .input = XLM_SEGMENTS_WORDS,
    .print = print, .parse = parse, .save = save, .load = load, .free = free_model, .size = size_of, .spell = spell,
    .open = open_cutter, .close = close_cutter, .segment = segment, .segment_subword = segment_subword,
    .learning = &learning, .change = &change, .exchange = &exchange, .comparison = &comparison,
};
