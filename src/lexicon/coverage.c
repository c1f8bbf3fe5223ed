/* xlm-mpi: how much of a language's text a dictionary covers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/coverage.h"

bool xlm_coverage_measure(const xlm_corpus *corpus, const xlm_corpus_text *text, const bool *known,
                          xlm_coverage bands[XLM_FREQUENCY_BANDS], GError **error)
{
    g_autoptr(GArray) list = xlm_frequency_list(corpus, text, error);
    if (list == NULL)
        return false;
    for (int b = 0; b < XLM_FREQUENCY_BANDS; b++) {
        bands[b] = (xlm_coverage){.subwords = xlm_frequency_band_end(list->len, b)};
        for (int64_t i = 0; i < bands[b].subwords; i++) {
            const xlm_frequency *f = &g_array_index(list, xlm_frequency, i);
            bands[b].tokens += f->count;
            bands[b].known += known[f->id];
            bands[b].known_tokens += known[f->id] ? f->count : 0;
        }
    }
    return true;
}
