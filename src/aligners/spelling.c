/* xlm-mpi: how similar the spelling of words is. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/spelling.h"

#include <string.h>

enum { SHORTEST = 4, LONGEST = 64 };

xlm_spelling xlm_spelling_of(const char *word)
{
    glong length;
    gunichar *characters = g_utf8_to_ucs4_fast(word, -1, &length);
    return (xlm_spelling){characters, (int)length};
}

/* A distance above `max` may be returned as any number above it. */
static int edit_distance(const xlm_spelling *a, const xlm_spelling *b, int max)
{
    int above[LONGEST + 1], row[LONGEST + 1];
    for (int j = 0; j <= b->length; j++)
        above[j] = j;
    for (int i = 1; i <= a->length; i++) {
        int min = row[0] = i;
        for (int j = 1; j <= b->length; j++) {
            const int replace = above[j - 1] + (a->characters[i - 1] != b->characters[j - 1]);
            row[j] = MIN(replace, MIN(above[j], row[j - 1]) + 1);
            min = MIN(min, row[j]);
        }
        if (min > max)
            return min;
        memcpy(above, row, sizeof *row * (size_t)(b->length + 1));
    }
    return above[b->length];
}

double xlm_spelling_similarity(const xlm_spelling *a, const xlm_spelling *b)
{
    if (a->length == b->length && memcmp(a->characters, b->characters, sizeof(gunichar) * (size_t)a->length) == 0)
        return 1;
    const int longer = MAX(a->length, b->length), shorter = MIN(a->length, b->length), max = longer / 2;
    if (shorter < SHORTEST || longer > LONGEST || longer - shorter > max)
        return 0;
    const int distance = edit_distance(a, b, max);
    return distance <= max ? 1 - (double)distance / longer : 0;
}
