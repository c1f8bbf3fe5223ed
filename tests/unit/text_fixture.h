/* xlm-mpi: what tests of the text floor share. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_TEXT_FIXTURE_H
#define XLM_TESTS_TEXT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/rng.h"
#include "subwords/bpe_class.h"
#include "subwords/vocabulary.h"

/* The k-th draw of a test, below n. */
static inline uint32_t text_draw(uint32_t test, uint32_t k, uint32_t n)
{
    return xlm_rng_below(xlm_rng_draw(xlm_rng_make_key(11, XLM_RNG_SAMPLE, test), k, 0, 0, 0).v[0], n);
}

/* 1 ... longest of `pieces`, one after another; *k counts draws. g_string_free. */
static inline GString *text_make_word(uint32_t test, uint32_t *k, const char *const *pieces, uint32_t n,
                                      uint32_t longest)
{
    GString *word = g_string_new(NULL);
    for (uint32_t left = 1 + text_draw(test, (*k)++, longest); left > 0; left--)
        g_string_append(word, pieces[text_draw(test, (*k)++, n)]);
    return word;
}

/* Its words, counted. */
static inline xlm_word_counts *text_count(const char *text)
{
    xlm_word_counts *counts = xlm_word_counts_new();
    xlm_word_counts_add_text(counts, text, strlen(text), 1);
    return counts;
}

/* The subwords of a vocabulary for a text with these words. */
static inline xlm_word_counts *text_choose(const xlm_segmenter *segmenter, const xlm_word_counts *words, int64_t min_count,
                                           int64_t max_subwords)
{
    xlm_word_counts *chosen = xlm_segmenter_count_subwords(segmenter, words, NULL);
    if (!xlm_vocabulary_cut(chosen, min_count, max_subwords))
        return chosen;
    xlm_word_counts *parts = xlm_segmenter_count_subwords(segmenter, words, chosen);
    xlm_word_counts *counted = xlm_segmenter_recount(chosen, parts);
    xlm_word_counts_sort(counted);
    xlm_word_counts_free(parts);
    xlm_word_counts_free(chosen);
    return counted;
}

/* A segmenter with these BPE codes. */
static inline xlm_segmenter *text_bpe(const char *codes)
{
    xlm_segmenter *segmenter = xlm_segmenter_parse(&xlm_segmenter_bpe, "codes", codes, strlen(codes), NULL);
    assert_non_null(segmenter);
    return segmenter;
}

/* The vocabulary as a file of its own gives it back; the file is gone at once. */
static inline xlm_vocabulary *text_reload(const xlm_vocabulary *v)
{
    char *folder = g_dir_make_tmp("xlm-text-XXXXXX", NULL), *path = g_build_filename(folder, "v.h5", NULL);
    GError *error = NULL;
    xlm_store *store = xlm_store_create(NULL, path, &error);
    assert_non_null(store);
    assert_true(xlm_vocabulary_save(v, store, "/vocabulary", 0, &error));
    assert_true(xlm_store_commit(store, &error));
    store = xlm_store_open(path, &error);
    assert_non_null(store);
    xlm_vocabulary *loaded = xlm_vocabulary_load(store, "/vocabulary", &error);
    assert_non_null(loaded);
    assert_true(xlm_vocabulary_digest(v) == xlm_vocabulary_digest(loaded));
    assert_null(xlm_vocabulary_load(store, "/elsewhere", &error));
    assert_non_null(error);
    g_error_free(error);
    xlm_store_close(store);
    g_unlink(path);
    g_rmdir(folder);
    g_free(path);
    g_free(folder);
    return loaded;
}

#endif
