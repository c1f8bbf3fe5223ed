/* xlm-mpi: fuzz target: translations beside references, and every metric of them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "translation_scores/scored_files.h"

static void use(const xlm_sentence_counts *counts, xlm_translation_metric *const *metrics)
{
    for (int s = 0; s < counts->systems; s++)
        for (int m = 0; m < counts->metrics; m++) {
            const int width = xlm_translation_metric_class(metrics[m])->counts;
            int64_t sums[XLM_METRIC_COUNTS];
            xlm_sentence_counts_sum(counts, s, m, width, sums);
            const double score = xlm_translation_metric_score(metrics[m], sums);
            /* Rounding may take the mean of hundreds past a hundred. */
            fuzz_require(score >= 0 && score <= 100 + 1e-9, "a score is from 0 to 100");
            for (int64_t i = 0; i < counts->sentences; i++) {
                const double of =
                    xlm_translation_metric_score_sentence(metrics[m], xlm_sentence_counts_of(counts, s, m) + i * width);
                fuzz_require(of >= 0 && of <= 100 + 1e-9, "a score of a sentence is from 0 to 100");
            }
            xlm_metric_part parts[XLM_METRIC_PARTS];
            fuzz_require(xlm_translation_metric_parts(metrics[m], sums, parts) <= XLM_METRIC_PARTS, "all parts have room");
        }
}

/* The first byte: how words are cut and smoothed, letters, a second reference. Then the files, with a byte 0 between them. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    const uint8_t how = fuzz_take(&data, &size);
    const xlm_metric_options options = {.words = (xlm_bleu_words)((how & 7) % (XLM_BLEU_NONE + 1)), .lowercase = (how & 8) != 0,
                                        .smoothing = (xlm_bleu_smoothing)(how >> 4 & 3), .whitespace = (how & 64) != 0,
                                        .epsilon = (how & 64) != 0};
    static const char *const names[] = {"system", "reference", "other"};
    const char *path[G_N_ELEMENTS(names)];
    const int n = how & 128 ? 3 : 2;
    for (int i = 0; i < n; i++) {
        size_t length = size;
        const char *text = i < n - 1 ? fuzz_cut(&data, &size, &length) : (const char *)data;
        path[i] = fuzz_write(names[i], text, length);
    }
    const xlm_scored_files files = {.systems = path, .references = path + 1, .n_systems = 1, .n_references = n - 1};
    xlm_translation_metric *metrics[8];
    int classes;
    const xlm_metric_class *const *class = xlm_metric_classes(&classes);
    fuzz_require(classes <= (int)G_N_ELEMENTS(metrics), "there is room for all metrics");
    GError *error = NULL;
    for (int m = 0; m < classes; m++) {
        metrics[m] = xlm_translation_metric_new(class[m]->name, &options, &error);
        fuzz_require(metrics[m] != NULL, "the metrics are there");
    }
    xlm_sentence_counts counts;
    const bool good = xlm_scored_files_count(&files, metrics, classes, &counts, &error);
    fuzz_check(good, error);
    if (good)
        use(&counts, metrics);
    xlm_sentence_counts_close(&counts);
    for (int m = 0; m < classes; m++)
        xlm_translation_metric_free(metrics[m]);
    return 0;
}
