/* xlm-mpi: n-grams that a sentence shares with others. SPDX-License-Identifier: GPL-3.0-or-later */
#include "translation_scores/ngrams.h"

#include <glib.h>

#include "text/strings.h"

typedef struct ngram {
    int order;
    int64_t count; /* in the hypothesis */
    int64_t seen;  /* in the reference at hand */
    int64_t most;  /* in a reference */
} ngram;

struct xlm_ngrams {
    int orders;
    xlm_strings *strings; /* the bytes of the symbols of an n-gram: orders differ in size */
    GArray *of;           /* ngram, by the number of its string */
};

xlm_ngrams *xlm_ngrams_new(int orders)
{
    xlm_ngrams *n = g_new(xlm_ngrams, 1);
    *n = (xlm_ngrams){orders, xlm_strings_new(), g_array_new(FALSE, FALSE, sizeof(ngram))};
    return n;
}

void xlm_ngrams_free(xlm_ngrams *n)
{
    xlm_strings_free(n->strings);
    g_array_unref(n->of);
    g_free(n);
}

static ngram *get(const xlm_ngrams *n, guint i) { return &g_array_index(n->of, ngram, i); }

void xlm_ngrams_begin(xlm_ngrams *n, const uint32_t *symbols, int64_t size)
{
    xlm_strings_clear(n->strings);
    g_array_set_size(n->of, 0);
    for (int order = 1; order <= n->orders; order++)
        for (int64_t i = 0; i < xlm_ngrams_of(size, order); i++) {
            const uint32_t number = xlm_strings_add(n->strings, (const char *)(symbols + i), (size_t)order * sizeof *symbols);
            if (number == n->of->len) {
                const ngram first = {.order = order};
                g_array_append_val(n->of, first);
            }
            get(n, number)->count++;
        }
}

void xlm_ngrams_see(xlm_ngrams *n, const uint32_t *symbols, int64_t size)
{
    for (guint i = 0; i < n->of->len; i++)
        get(n, i)->seen = 0;
    for (int order = 1; order <= n->orders; order++)
        for (int64_t i = 0; i < xlm_ngrams_of(size, order); i++) {
            const uint32_t number = xlm_strings_find(n->strings, (const char *)(symbols + i), (size_t)order * sizeof *symbols);
            if (number != XLM_NO_STRING) {
                ngram *g = get(n, number);
                g->seen++;
                g->most = MAX(g->most, g->seen);
            }
        }
}

void xlm_ngrams_matches(const xlm_ngrams *n, int64_t *matches)
{
    for (guint i = 0; i < n->of->len; i++) {
        const ngram *g = get(n, i);
        matches[g->order - 1] += MIN(g->count, g->most);
    }
}

void xlm_ngrams_forget(xlm_ngrams *n)
{
    for (guint i = 0; i < n->of->len; i++)
        get(n, i)->most = 0;
}
