/* xlm-mpi: which subwords of a vocabulary a language uses. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/used_subwords.h"

#include "prep/report.h"

/* Add the words of one side of this rank's lines. */
static bool add_words(const xlm_comm *comm, const xlm_prep_source *source, int side, const xlm_sentence_reader *reader,
                      xlm_splitter *splitter, xlm_prep_progress *progress, xlm_word_counts *words, GError **error)
{
    xlm_scan *scan = xlm_scan_open(comm, source);
    xlm_sentence sentence;
    while (xlm_scan_block(scan)) {
        while (xlm_scan_sentence(scan, reader, &sentence)) {
            size_t n = 0;
            const xlm_word *word = sentence.empty || sentence.assignment == XLM_ASSIGNED_NEITHER
                                       ? NULL : xlm_splitter_split(splitter, sentence.text[side], sentence.size[side], &n);
            for (size_t i = 0; i < n; i++)
                xlm_word_counts_add(words, sentence.text[side] + word[i].start, word[i].size, 1);
        }
        xlm_prep_progress_show(progress, xlm_scan_position(scan));
    }
    return xlm_scan_finish(scan, comm, NULL, error);
}

/* words <- those of this rank's lines of the language. */
static bool collect_words(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader, int language,
                          xlm_splitter *splitter, xlm_word_counts *words, GError **error)
{
    xlm_prep_progress progress = xlm_prep_progress_begin(options, 0, "looking for subwords that get twins");
    for (guint i = 0; i < options->sources->len; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        for (int side = 0; side < source->sides; side++)
            if (source->language[side] == language &&
                !add_words(comm, source, side, reader, splitter, &progress, words, error))
                return false;
        xlm_prep_progress_next(&progress, source);
    }
    return true;
}

int64_t *xlm_prep_used_subwords(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                                int language, const xlm_segmenter *segmenter, const xlm_word_counts *subwords, GError **error)
{
    GError *failure = NULL;
    g_autoptr(xlm_word_counts) words = xlm_word_counts_new();
    xlm_splitter *splitter = xlm_splitter_new(options->words, options->languages->pdata[language], &failure);
    int64_t *used = NULL;
    if (xlm_comm_agree_on(comm, failure, error) && collect_words(comm, options, reader, language, splitter, words, error)) {
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
    xlm_splitter_free(splitter);
    return used;
}
