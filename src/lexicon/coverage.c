/* xlm-mpi: how much of a language's text a dictionary covers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/coverage.h"

#include <math.h>

static const double parts[XLM_COVERAGE_BANDS] = {0.01, 0.1, 0.5, 1};

/* A subword of the text. */
typedef struct subword {
    int32_t id;
    int64_t count;
} subword;

static gint by_count(gconstpointer a, gconstpointer b)
{
    const subword *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static bool count_tokens(const xlm_corpus *corpus, const xlm_corpus_text *text, int64_t *counts, GError **error)
{
    enum { PIECE = 1 << 20 };
    const int64_t vocabulary = xlm_vocabulary_size(xlm_corpus_vocabulary(corpus));
    int32_t *ids = g_new(int32_t, MIN(PIECE, text->tokens) + 1);
    bool good = true;
    for (int64_t at = 0; at < text->tokens && good; at += PIECE) {
        const int64_t n = MIN(PIECE, text->tokens - at);
        good = xlm_corpus_read_tokens(corpus, text, at, n, ids, error);
        for (int64_t i = 0; i < n && good; i++)
            if (ids[i] >= 0 && ids[i] < vocabulary)
                counts[ids[i]]++;
            else
                good = xlm_error_set(error, EX_DATAERR, "%s:%s: token %" G_GINT64_FORMAT " is %d, which is not in the vocabulary; the "
                                     "corpus is damaged", xlm_corpus_path(corpus), text->tokens_path, at + i, ids[i]);
    }
    g_free(ids);
    return good;
}

bool xlm_coverage_measure(const xlm_corpus *corpus, const xlm_corpus_text *text, const bool *known,
                          xlm_coverage bands[XLM_COVERAGE_BANDS], GError **error)
{
    const int64_t vocabulary = xlm_vocabulary_size(xlm_corpus_vocabulary(corpus));
    int64_t *counts = g_new0(int64_t, vocabulary);
    const bool good = count_tokens(corpus, text, counts, error);
    GArray *subwords = g_array_new(FALSE, FALSE, sizeof(subword));
    for (int32_t id = XLM_SPECIALS; id < vocabulary; id++)
        if (counts[id] > 0) {
            const subword s = {id, counts[id]};
            g_array_append_val(subwords, s);
        }
    g_array_sort(subwords, by_count);
    for (int b = 0; b < XLM_COVERAGE_BANDS; b++) {
        bands[b] = (xlm_coverage){.part = parts[b], .subwords = (int64_t)ceil(parts[b] * subwords->len)};
        for (int64_t i = 0; i < bands[b].subwords; i++) {
            const subword *s = &g_array_index(subwords, subword, i);
            bands[b].tokens += s->count;
            bands[b].known += known[s->id];
            bands[b].known_tokens += known[s->id] ? s->count : 0;
        }
    }
    g_array_unref(subwords);
    g_free(counts);
    return good;
}
