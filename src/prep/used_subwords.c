/* xlm-mpi: which subwords of a vocabulary a language uses. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

/* The language whose words are counted, and their counts. */
typedef struct words_of {
    int language;
    xlm_splitter *splitter;
    xlm_word_counts *words;
} words_of;

static void add_words(void *data, const xlm_prep_source *source, const xlm_sentence *sentence)
{
    const words_of *of = data;
    for (int side = 0; side < source->sides; side++) {
        size_t n = 0;
        const xlm_word *word = source->language[side] != of->language || sentence->assignment == XLM_ASSIGNED_NEITHER
                                   ? NULL : xlm_splitter_split(of->splitter, sentence->text[side], sentence->size[side], &n);
        for (size_t i = 0; i < n; i++)
            xlm_word_counts_add(of->words, sentence->text[side] + word[i].start, word[i].size, 1);
    }
}

int64_t *xlm_prep_used_subwords(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                                int language, const xlm_segmenter *segmenter, const xlm_word_counts *subwords, GError **error)
{
    GError *failure = NULL;
    g_autoptr(xlm_word_counts) words = xlm_word_counts_new();
    words_of of = {language, xlm_splitter_new(options->words, options->languages->pdata[language], &failure), words};
    int64_t *used = NULL;
    if (xlm_comm_agree_on(comm, failure, error) &&
        xlm_scan_sources(comm, options, 0, language, "looking for subwords that get twins", reader, add_words, &of, error)) {
        const uint32_t n = xlm_word_counts_size(subwords);
        g_autoptr(xlm_word_counts) parts = xlm_segmenter_count_subwords(segmenter, words, subwords);
        used = g_new0(int64_t, (size_t)n + 1);
        for (uint32_t i = 0; i < n; i++) {
            size_t size;
            const char *subword = xlm_word_counts_word(subwords, i, &size);
            used[i] = xlm_word_counts_find(parts, subword, size) > 0;
        }
        xlm_comm_max_int64(comm, used, n);
    }
    xlm_splitter_free(of.splitter);
    return used;
}
