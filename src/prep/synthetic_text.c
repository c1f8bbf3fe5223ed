/* xlm-mpi: sentences of synthetic languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/synthetic_text.h"

#include <string.h>

#include "synthetic/permute.h"

struct xlm_word_order {
    const xlm_synthetic *language;
    xlm_permuter *permuter; /* NULL without syntax */
    GArray *stop;  /* bool, scratch: is a word a full stop? */
    GArray *order; /* uint32_t, scratch */
};

xlm_word_order *xlm_word_order_new(const xlm_synthetic *language, uint64_t seed, GError **error)
{
    xlm_word_order *word_order = g_new0(xlm_word_order, 1);
    word_order->language = language;
    word_order->stop = g_array_new(FALSE, FALSE, sizeof(bool));
    word_order->order = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (language->weights[0] == NULL ||
        (word_order->permuter = xlm_permuter_new(language->weights[0], language->weights[1], seed, error)) != NULL)
        return word_order;
    xlm_word_order_free(word_order);
    return NULL;
}

void xlm_word_order_free(xlm_word_order *word_order)
{
    if (word_order == NULL)
        return;
    xlm_permuter_free(word_order->permuter);
    g_array_free(word_order->stop, TRUE);
    g_array_free(word_order->order, TRUE);
    g_free(word_order);
}

/* Set `order` to that of the synthetic language, for as many words as word_order->stop has. tree: NULL for plain text. */
static void arrange(xlm_word_order *word_order, const xlm_conllu *tree, int64_t number, GArray *order)
{
    const guint n = word_order->stop->len;
    g_array_set_size(order, n);
    uint32_t *at = (uint32_t *)(void *)order->data;
    for (guint i = 0; i < n; i++)
        at[i] = i;
    for (int i = 0; i < word_order->language->orders; i++) {
        if (word_order->language->order[i] == XLM_SYNTHETIC_INVERT)
            xlm_synthetic_invert((const bool *)(void *)word_order->stop->data, at, n);
        else /* then the source has trees, which prep/options.c ensures */
            xlm_permuter_order(word_order->permuter, tree, number, at);
    }
}

void xlm_word_order_of_tree(xlm_word_order *word_order, const xlm_conllu *tree, int64_t number, GArray *order)
{
    g_array_set_size(word_order->stop, tree->words->len);
    for (guint i = 0; i < tree->words->len; i++) {
        const char *form = xlm_conllu_word_at(tree, i)->column[XLM_CONLLU_FORM];
        g_array_index(word_order->stop, bool, i) = xlm_synthetic_is_stop(form, strlen(form));
    }
    arrange(word_order, tree, number, order);
}

/* xlm_word_order_apply for plain text, whose words move one by one. */
static void order_words(xlm_word_order *word_order, const char *text, const xlm_word *words, size_t n, GArray *ordered)
{
    g_array_set_size(word_order->stop, (guint)n);
    for (size_t i = 0; i < n; i++)
        g_array_index(word_order->stop, bool, i) = xlm_synthetic_is_stop(text + words[i].start, words[i].size);
    arrange(word_order, NULL, 0, word_order->order);
    for (guint i = 0; i < word_order->order->len; i++)
        g_array_append_val(ordered, words[g_array_index(word_order->order, uint32_t, i)]);
}

/* xlm_word_order_apply for text with trees: the words that the splitter has made from one word of a tree stay together. */
static void order_units(xlm_word_order *word_order, const xlm_sentence *sentence, const xlm_word *words, size_t n,
                        GArray *ordered)
{
    xlm_word_order_of_tree(word_order, sentence->tree, sentence->number, word_order->order);
    for (guint i = 0; i < word_order->order->len; i++) {
        const xlm_word *unit = &sentence->units[g_array_index(word_order->order, uint32_t, i)];
        size_t low = 0, high = n; /* the first word that begins with the unit or after it */
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

void xlm_word_order_apply(xlm_word_order *word_order, const xlm_sentence *sentence, const xlm_word *words, size_t n,
                          GArray *ordered)
{
    g_array_set_size(ordered, 0);
    if (sentence->tree != NULL)
        order_units(word_order, sentence, words, n, ordered);
    else
        order_words(word_order, sentence->text[0], words, n, ordered);
}
