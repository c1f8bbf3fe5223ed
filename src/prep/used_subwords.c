/* xlm-mpi: which subwords of a vocabulary a language uses. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

/* The language whose words are counted, and those that were not looked at yet. */
typedef struct words_of {
    int language;
    xlm_splitter *splitter;
    xlm_word_counts *words;
    size_t memory; /* bytes that these words may take */
    const xlm_segmenter *segmenter;
    const xlm_word_counts *subwords;
    int64_t *used; /* [subwords] */
} words_of;

/* Mark the subwords of the words, and forget the words. */
static void mark(const words_of *of)
{
    g_autoptr(xlm_word_counts) parts = xlm_segmenter_count_subwords(of->segmenter, of->words, of->subwords);
    for (uint32_t i = 0; i < xlm_word_counts_size(parts); i++) {
        size_t size;
        const char *part = xlm_word_counts_word(parts, i, &size);
        const uint32_t subword = xlm_word_counts_index(of->subwords, part, size);
        if (subword != UINT32_MAX)
            of->used[subword] = 1;
    }
    xlm_word_counts_clear(of->words);
}

static void add_words(void *data, const xlm_prep_source *source, const xlm_sentence *sentence)
{
    const words_of *of = data;
    for (int side = 0; side < source->sides; side++) {
        size_t n = 0;
        const xlm_word *word = source->language[side] != of->language || sentence->assignment == XLM_ASSIGNED_NEITHER
                                   ? NULL : xlm_splitter_split(of->splitter, sentence->text[side], sentence->size[side], &n);
        xlm_word_counts_add_words(of->words, sentence->text[side], word, n);
    }
    if (xlm_word_counts_memory(of->words) > of->memory)
        mark(of);
}

int64_t *xlm_prep_used_subwords(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                                int language, const xlm_segmenter *segmenter, const xlm_word_counts *subwords, GError **error)
{
    const uint32_t n = xlm_word_counts_size(subwords);
    g_autoptr(xlm_word_counts) words = xlm_word_counts_new();
    g_autofree int64_t *used = g_new0(int64_t, (size_t)n + 1);
    words_of of = {language, reader->splitter[language], words, (size_t)xlm_prep_memory(options) / 2, segmenter, subwords, used};
    const bool good = xlm_scan_sources(comm, options, 0, language, "looking for subwords that get twins", reader, add_words, &of,
                                       error);
    if (good) {
        mark(&of);
        xlm_comm_max_int64(comm, used, n);
    }
    return good ? g_steal_pointer(&used) : NULL;
}
