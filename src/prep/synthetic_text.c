/* xlm-mpi: sentences of synthetic languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/synthetic_text.h"

#include <string.h>

#include "synthetic/permute.h"

struct xlm_maker {
    const xlm_synthetic *made;
    xlm_permuter *permuter; /* NULL without syntax */
    GArray *stop;  /* bool: of each word, is it a full stop? */
    GArray *order; /* uint32_t */
};

xlm_maker *xlm_maker_new(const xlm_synthetic *made, uint64_t seed, GError **error)
{
    xlm_maker *maker = g_new0(xlm_maker, 1);
    maker->made = made;
    maker->stop = g_array_new(FALSE, FALSE, sizeof(bool));
    maker->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (made->weights[0] == NULL ||
        (maker->permuter = xlm_permuter_new(made->weights[0], made->weights[1], seed, error)) != NULL)
        return maker;
    xlm_maker_free(maker);
    return NULL;
}

void xlm_maker_free(xlm_maker *maker)
{
    if (maker == NULL)
        return;
    xlm_permuter_free(maker->permuter);
    g_array_free(maker->stop, TRUE);
    g_array_free(maker->order, TRUE);
    g_free(maker);
}

/* order <- that of the synthetic language, for as many words as there are stops. tree: NULL for plain text. */
static void arrange(xlm_maker *maker, const xlm_conllu *tree, int64_t number, GArray *order)
{
    const guint n = maker->stop->len;
    g_array_set_size(order, n);
    uint32_t *at = (uint32_t *)(void *)order->data;
    for (guint i = 0; i < n; i++)
        at[i] = i;
    for (int i = 0; i < maker->made->orders; i++) {
        if (maker->made->order[i] == XLM_SYNTHETIC_INVERT)
            xlm_synthetic_invert((const bool *)(void *)maker->stop->data, at, n);
        else /* then the source has trees: prepare_options.c sees to it */
            xlm_permuter_order(maker->permuter, tree, number, at);
    }
}

void xlm_maker_order(xlm_maker *maker, const xlm_conllu *tree, int64_t number, GArray *order)
{
    g_array_set_size(maker->stop, tree->words->len);
    for (guint i = 0; i < tree->words->len; i++) {
        const char *form = xlm_conllu_word_at(tree, i)->column[XLM_CONLLU_FORM];
        g_array_index(maker->stop, bool, i) = xlm_synthetic_is_stop(form, strlen(form));
    }
    arrange(maker, tree, number, order);
}

/* Words of plain text, each by itself. */
static void order_words(xlm_maker *maker, const char *text, const xlm_word *words, size_t n, GArray *ordered)
{
    g_array_set_size(maker->stop, (guint)n);
    for (size_t i = 0; i < n; i++)
        g_array_index(maker->stop, bool, i) = xlm_synthetic_is_stop(text + words[i].start, words[i].size);
    arrange(maker, NULL, 0, maker->order);
    for (guint i = 0; i < maker->order->len; i++)
        g_array_append_val(ordered, words[g_array_index(maker->order, uint32_t, i)]);
}

/* What the splitter made of each word of a tree stays together. */
static void order_units(xlm_maker *maker, const xlm_sentence *sentence, const xlm_word *words, size_t n, GArray *ordered)
{
    xlm_maker_order(maker, sentence->tree, sentence->number, maker->order);
    for (guint i = 0; i < maker->order->len; i++) {
        const xlm_word *unit = &sentence->units[g_array_index(maker->order, uint32_t, i)];
        size_t low = 0, high = n; /* the first word that begins with the unit or behind it */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            if (words[middle].start < unit->start)
                low = middle + 1;
            else
                high = middle;
        }
        for (; low < n && words[low].start < unit->start + unit->size; low++)
            g_array_append_val(ordered, words[low]);
    }
}

void xlm_maker_words(xlm_maker *maker, const xlm_sentence *sentence, const xlm_word *words, size_t n, GArray *ordered)
{
    g_array_set_size(ordered, 0);
    if (sentence->tree != NULL)
        order_units(maker, sentence, words, n, ordered);
    else
        order_words(maker, sentence->text[0], words, n, ordered);
}
