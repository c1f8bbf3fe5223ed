/* xlm-mpi: sentences of made languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/prepare_make.h"

struct xlm_maker {
    const xlm_made *made;
    GArray *stop;  /* bool: of each word, is it a full stop? */
    GArray *order; /* uint32_t */
};

xlm_maker *xlm_maker_new(const xlm_made *made, GError **error)
{
    (void)error;
    xlm_maker *maker = g_new0(xlm_maker, 1);
    maker->made = made;
    maker->stop = g_array_new(FALSE, FALSE, sizeof(bool));
    maker->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return maker;
}

void xlm_maker_free(xlm_maker *maker)
{
    if (maker == NULL)
        return;
    g_array_free(maker->stop, TRUE);
    g_array_free(maker->order, TRUE);
    g_free(maker);
}

/* Put maker->order, of n words whose stops are known, into the order of the made language. */
static void arrange(xlm_maker *maker, size_t n)
{
    g_array_set_size(maker->order, (guint)n);
    uint32_t *order = (uint32_t *)(void *)maker->order->data;
    for (size_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (int i = 0; i < maker->made->orders; i++)
        xlm_made_invert((const bool *)(void *)maker->stop->data, order, n);
}

void xlm_maker_words(xlm_maker *maker, const xlm_sentence *sentence, const xlm_word *words, size_t n, GArray *ordered)
{
    g_array_set_size(maker->stop, (guint)n);
    for (size_t i = 0; i < n; i++)
        g_array_index(maker->stop, bool, i) = xlm_made_is_stop(sentence->text[0] + words[i].start, words[i].size);
    arrange(maker, n);
    g_array_set_size(ordered, (guint)n);
    for (size_t i = 0; i < n; i++)
        g_array_index(ordered, xlm_word, i) = words[g_array_index(maker->order, uint32_t, i)];
}
