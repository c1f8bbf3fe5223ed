/* xlm-mpi: the subwords of a language's text by frequency. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/frequency.h"

#include <math.h>

#include "base/progress.h"

const double xlm_frequency_bands[XLM_FREQUENCY_BANDS] = {0.01, 0.1, 0.5, 1};

int64_t xlm_frequency_band_end(int64_t n, int b) { return (int64_t)ceil(xlm_frequency_bands[b] * (double)n); }

static gint by_count(gconstpointer a, gconstpointer b)
{
    const xlm_frequency *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static bool count_tokens(const xlm_corpus_text *text, int64_t *counts, GError **error)
{
    enum { BLOCK = 1 << 20 };
    g_autofree int32_t *ids = g_new(int32_t, MIN(BLOCK, text->tokens) + 1);
    bool good = true;
    xlm_progress progress = xlm_progress_begin("counting subwords", (double)text->tokens, "tokens");
    for (int64_t at = 0; at < text->tokens && good; at += BLOCK) {
        const int64_t n = MIN(BLOCK, text->tokens - at);
        xlm_progress_show(&progress, (double)at);
        good = xlm_corpus_read_tokens(text, at, n, ids, error);
        for (int64_t i = 0; i < n && good; i++)
            counts[ids[i]]++;
    }
    xlm_progress_end(&progress);
    return good;
}

GArray *xlm_frequency_list(const xlm_corpus *corpus, const xlm_corpus_text *text, GError **error)
{
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(corpus);
    const int64_t size = xlm_vocabulary_size(vocabulary);
    g_autofree int64_t *counts = g_new0(int64_t, size);
    const bool good = count_tokens(text, counts, error);
    GArray *list = good ? g_array_new(FALSE, FALSE, sizeof(xlm_frequency)) : NULL;
    for (int32_t id = 0; id < size && good; id++)
        if (counts[id] > 0 && xlm_is_text(xlm_vocabulary_specials(vocabulary), id)) {
            const xlm_frequency f = {id, counts[id]};
            g_array_append_val(list, f);
        }
    if (good)
        xlm_frequency_sort(list);
    return list;
}

GArray *xlm_frequency_list_of(const xlm_corpus *corpus, const char *language, GError **error)
{
    const xlm_corpus_text *text = xlm_corpus_find_text(corpus, XLM_TRAIN, language);
    if (text != NULL)
        return xlm_frequency_list(corpus, text, error);
    xlm_error_set(error, EX_DATAERR, "%s: there is no training text of %s", xlm_corpus_path(corpus), language);
    return NULL;
}

void xlm_frequency_sort(GArray *list) { g_array_sort(list, by_count); }

bool xlm_coverage_measure(const xlm_corpus *corpus, const xlm_corpus_text *text, const bool *known,
                          xlm_coverage bands[XLM_FREQUENCY_BANDS], GError **error)
{
    g_autoptr(GArray) list = xlm_frequency_list(corpus, text, error);
    for (int b = 0; b < XLM_FREQUENCY_BANDS && list != NULL; b++) {
        bands[b] = (xlm_coverage){.subwords = xlm_frequency_band_end(list->len, b)};
        for (int64_t i = 0; i < bands[b].subwords; i++) {
            const xlm_frequency *f = &g_array_index(list, xlm_frequency, i);
            bands[b].tokens += f->count;
            bands[b].known += known[f->id];
            bands[b].known_tokens += known[f->id] ? f->count : 0;
        }
    }
    return list != NULL;
}
