/* xlm-mpi: the valid word that a mistyped one was probably meant to be. SPDX-License-Identifier: GPL-3.0-or-later */
#include "options/nearest.h"

#include <string.h>

static char fold(char c) { return c == '-' ? '_' : g_ascii_tolower(c); }

int xlm_edit_distance(const char *a, const char *b)
{
    const size_t rows = strlen(a), cols = strlen(b), width = cols + 1;
    g_autofree int *cost = g_new(int, (rows + 1) * width); /* cost[i][j]: of the first i letters of a into the first j of b */
    for (size_t j = 0; j <= cols; j++)
        cost[j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        int *row = cost + i * width, *above = row - width;
        row[0] = (int)i;
        for (size_t j = 1; j <= cols; j++) {
            const char x = fold(a[i - 1]), y = fold(b[j - 1]);
            row[j] = MIN(MIN(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == fold(b[j - 2]) && y == fold(a[i - 2]))
                row[j] = MIN(row[j], (above - width)[j - 2] + 1);
        }
    }
    return cost[rows * width + cols];
}

const char *xlm_nearest(const char *word, const char *const *candidates, guint n)
{
    const char *nearest = NULL;
    int smallest = (int)strlen(word) / 2 + 1;
    for (guint i = 0; i < n; i++) {
        const int distance = xlm_edit_distance(word, candidates[i]);
        if (distance < smallest) {
            smallest = distance;
            nearest = candidates[i];
        }
    }
    return nearest;
}

char *xlm_nearest_advice(const char *word, const char *const *candidates, guint n)
{
    const char *nearest = xlm_nearest(word, candidates, n);
    if (nearest != NULL)
        return g_strdup_printf("did you mean \"%s\"?", nearest);
    GString *advice = g_string_new(n == 0 ? "there is none to choose from" : "it is one of ");
    for (guint i = 0; i < n; i++)
        g_string_append_printf(advice, "%s\"%s\"", i > 0 ? ", " : "", candidates[i]);
    return g_string_free(advice, FALSE);
}
