/* xlm-mpi: links between words, and between their subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/subword_links.h"

int32_t xlm_subword_words(const xlm_vocabulary *vocabulary, const int32_t *ids, int64_t n, int32_t *word)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(vocabulary);
    int32_t words = 0;
    for (int64_t i = 0; i < n; i++) {
        /* The token of a language goes with the first word, whatever that is, so that it changes no numbers. */
        const bool first = i == 0 || (i == 1 && xlm_is_language_token(specials, ids[0]));
        if (i == 0 || (!first && !xlm_vocabulary_joins(vocabulary, ids[i - 1], ids[i])))
            words++;
        word[i] = words - 1;
    }
    return words;
}

/* The first of ascending numbers [n] that is not below `number`. */
static int64_t lower_bound(const int32_t *numbers, int64_t n, int32_t number)
{
    int64_t low = 0;
    while (n > 0) {
        const int64_t half = n / 2;
        if (numbers[low + half] < number) {
            low += half + 1;
            n -= half + 1;
        } else
            n = half;
    }
    return low;
}

void xlm_subword_links(const xlm_link *words, const float *scores, int64_t n, const int32_t *source_word, int64_t sources,
                       const int32_t *target_word, int64_t targets, GArray *links, GArray *link_scores)
{
    int64_t first = 0; /* link of the source subword's word */
    for (int64_t i = 0; i < sources; i++) {
        while (first < n && words[first].source < source_word[i])
            first++;
        for (int64_t l = first; l < n && words[l].source == source_word[i]; l++)
            for (int64_t j = lower_bound(target_word, targets, words[l].target);
                 j < targets && target_word[j] == words[l].target; j++) {
                const xlm_link link = {.source = (int32_t)i, .target = (int32_t)j, .possible = words[l].possible};
                g_array_append_val(links, link);
                if (scores != NULL)
                    g_array_append_val(link_scores, scores[l]);
            }
    }
}
