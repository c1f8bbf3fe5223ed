/* xlm-mpi: made text for tests of the text floor. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_TEXT_FIXTURE_H
#define XLM_TESTS_TEXT_FIXTURE_H

#include <glib.h>
#include <string.h>

#include "base/rng.h"

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

#endif
