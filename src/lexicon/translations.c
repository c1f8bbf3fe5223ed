/* xlm-mpi: the translations of a token. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/translations.h"

#include <glib.h>

struct xlm_translations {
    int32_t language[2];
    int32_t *first[2]; /* [vocabulary + 1] into list */
    int32_t *list[2];  /* [pairs] translations of tokens of that side */
};

xlm_translations *xlm_translations_new(const xlm_dictionary *dictionary, int64_t vocabulary)
{
    xlm_translations *t = g_new0(xlm_translations, 1);
    for (int side = 0; side < 2; side++) {
        const int32_t *token = dictionary->token[side], *other = dictionary->token[1 - side];
        int32_t *first = g_new0(int32_t, vocabulary + 2), *list = g_new(int32_t, dictionary->pairs + 1);
        /* first[v + 1] is where the translations of v begin and, after they were inserted, where they end. */
        for (int64_t i = 0; i < dictionary->pairs; i++)
            first[token[i] + 2]++;
        for (int64_t v = 0; v < vocabulary; v++)
            first[v + 2] += first[v + 1];
        for (int64_t i = 0; i < dictionary->pairs; i++)
            list[first[token[i] + 1]++] = other[i];
        t->language[side] = dictionary->language[side];
        t->first[side] = first;
        t->list[side] = list;
    }
    return t;
}

void xlm_translations_free(xlm_translations *translations)
{
    if (translations == NULL)
        return;
    for (int side = 0; side < 2; side++) {
        g_free(translations->first[side]);
        g_free(translations->list[side]);
    }
    g_free(translations);
}

int32_t xlm_translations_find(const xlm_translations *translations, int32_t token, int32_t language, const int32_t **list,
                              int32_t *other)
{
    for (int side = 0; side < 2; side++) {
        if (translations->language[side] != language)
            continue;
        const int32_t *first = translations->first[side];
        *list = translations->list[side] + first[token];
        *other = translations->language[1 - side];
        return first[token + 1] - first[token];
    }
    return 0;
}
