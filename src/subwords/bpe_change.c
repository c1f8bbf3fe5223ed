/* xlm-mpi: vocabularies of BPE with fewer and more merges. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/bpe_change.h"

#include <string.h>

#include "subwords/segmenter.h"

char **bpe_symbols(const xlm_bpe *bpe, const char *word)
{
    size_t n;
    xlm_bpe_cutter *cutter = xlm_bpe_cutter_new(bpe, NULL);
    g_autofree char *text = g_strdup(xlm_bpe_cutter_word(cutter, word, strlen(word), &n));
    char **symbols = g_strsplit(text, BPE_CONTINUED " ", -1), **last = &symbols[g_strv_length(symbols) - 1];
    char *ended = g_strconcat(*last, BPE_END, NULL);
    g_free(*last);
    *last = ended;
    xlm_bpe_cutter_free(cutter);
    return symbols;
}

/* ---- of XLM ---- */

/* [codes] 1 for those that are needed on the way to one of these subwords. The subwords of a word are merged independently of one
 * another, so text that becomes these subwords needs no other codes, and becomes the same subwords without the others. */
static uint8_t *find_used(const xlm_bpe *bpe, const xlm_word_counts *subwords)
{
    uint8_t *used = g_new0(uint8_t, MAX(xlm_bpe_size(bpe), 1));
    xlm_bpe_cutter *cutter = xlm_bpe_cutter_new(bpe, NULL);
    xlm_bpe_cutter_record(cutter, used);
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint32_t i = 0; i < xlm_word_counts_size(subwords); i++) {
        size_t n;
        g_string_assign(text, xlm_word_counts_word(subwords, i, &n));
        if (bpe_ends_word(text->str, text->len))
            g_string_truncate(text, text->len - BPE_END_SIZE);
        else
            g_string_append(text, BPE_WORD_GOES_ON);
        xlm_bpe_cutter_word(cutter, text->str, text->len, &n);
    }
    xlm_bpe_cutter_free(cutter);
    return used;
}

void bpe_keep_results(const xlm_bpe *bpe, const uint8_t *used, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    g_autoptr(GString) result = g_string_new(NULL);
    for (uint32_t i = 0; i < xlm_bpe_size(bpe); i++) {
        const char *left, *right;
        xlm_bpe_code(bpe, i, &left, &right, NULL);
        g_string_printf(result, "%s%s", left, right);
        if (used[i])
            xlm_segmenter_keep(subwords, result->str, result->len, kept);
    }
}

xlm_bpe *bpe_strict_reduce(const xlm_bpe *bpe, const xlm_word_counts *subwords, xlm_word_counts *kept)
{
    g_autofree uint8_t *needed = find_used(bpe, kept);
    bpe_keep_results(bpe, needed, subwords, kept);
    g_autofree uint8_t *used = find_used(bpe, kept);
    return bpe_copy(bpe, used);
}

/* Merge the last two symbols of a word until one is left, so that only ends of words are merged differently. */
static void learn_word(xlm_bpe *bpe, const char *word, const xlm_word_counts *subwords, xlm_word_counts *added)
{
    for (bool whole = false; !whole;) {
        g_auto(GStrv) symbols = bpe_symbols(bpe, word);
        const guint n = g_strv_length(symbols);
        whole = n == 1 || !bpe_add_pair(bpe, symbols[n - 2], strlen(symbols[n - 2]), symbols[n - 1], strlen(symbols[n - 1]), 0);
        if (!whole) {
            g_autofree char *result = g_strconcat(symbols[n - 2], symbols[n - 1], NULL);
            xlm_segmenter_add_missing(subwords, result, strlen(result), added);
        }
    }
}

xlm_bpe *bpe_strict_enlarge(const xlm_bpe *bpe, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                         xlm_word_counts *added, GError **error)
{
    xlm_bpe *enlarged = bpe_copy(bpe, NULL);
    for (uint32_t i = 0; i < xlm_word_counts_size(wanted); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(wanted, i, &size);
        if (!bpe_ends_word(subword, size)) {
            xlm_error_set(error, EX_DATAERR, "`%s` cannot be added: it is not a whole word", subword);
            xlm_bpe_free(enlarged);
            return NULL;
        }
        g_autofree char *word = g_strndup(subword, size - BPE_END_SIZE);
        learn_word(enlarged, word, subwords, added);
        xlm_segmenter_add_missing(subwords, subword, size, added);
    }
    return enlarged;
}
