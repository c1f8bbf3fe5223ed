/* xlm-mpi: fuzz target: models of word aligners in HDF5, changed by hdf5_change.h; `choose` says the method.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "hdf5_change.h"

#include "aligners/aligner_model.h"

enum { METHODS = 2, SOURCES = 5, TARGETS = 4, PAIRS = 7 };

static fuzz_original *original[METHODS];

/* Counts of any table: some 0, all different. */
static int64_t *make_counts(int64_t n)
{
    int64_t *counts = g_new(int64_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        counts[i] = i % 3 == 2 ? 0 : (i + 1) * XLM_COUNT_UNIT / 2;
    return counts;
}

static fuzz_original *make_original(const xlm_aligner *aligner)
{
    static char *const words[2][SOURCES] = {{"the", "house", "\xc3\xa9t\xc3\xa9", ".", "of course"},
                                            {"das", "Haus", ".", "Sommer"}};
    static const xlm_count_key pairs[PAIRS] = {{0, 0}, {0, 1}, {1, 1}, {2, 3}, {3, 2}, {3, 0}, {4, 3}};
    xlm_word_numbers *numbers[2];
    xlm_count_key keys[PAIRS];
    for (int side = 0; side < 2; side++)
        numbers[side] = xlm_word_numbers_new(fuzz_comm(), words[side], side == 0 ? SOURCES : TARGETS);
    for (int k = 0; k < PAIRS; k++)
        keys[k] = (xlm_count_key){(uint32_t)numbers[0]->numbers[pairs[k].first], (uint32_t)numbers[1]->numbers[pairs[k].second]};
    xlm_shared_counts *shared = xlm_shared_counts_new(fuzz_comm(), numbers[0]->owned, keys, PAIRS, NULL);
    xlm_aligner_record record = {.aligner = aligner, .words = XLM_WORDS_SPACE, .sentence_pairs = 3, .iterations = 4,
                                 .command = "xlm_align", .numbers = {numbers[0], numbers[1]}, .pairs = shared};
    static const int64_t rows[] = {PAIRS, SOURCES, TARGETS, 1}; /* by xlm_table_of */
    for (int t = 0; aligner->tables[t].name != NULL; t++)
        record.sums[t] = make_counts(rows[aligner->tables[t].of] * aligner->tables[t].width);
    const char *path = fuzz_write("good.h5", "", 0);
    fuzz_require(xlm_aligner_model_write(fuzz_comm(), path, &record, NULL), "a model can be written");
    for (int t = 0; aligner->tables[t].name != NULL; t++)
        g_free((int64_t *)record.sums[t]);
    xlm_shared_counts_free(shared);
    for (int side = 0; side < 2; side++)
        xlm_word_numbers_free(numbers[side]);
    return fuzz_original_read(path);
}

/* Properties that its users rely on. */
static void check_model(const xlm_aligner_model *m)
{
    fuzz_require(m->aligner != NULL && m->sentence_pairs >= 0, "a model has a method");
    for (int side = 0; side < 2; side++)
        for (int64_t i = 1; i < m->types[side]; i++)
            fuzz_require(strcmp(m->texts[side][i - 1], m->texts[side][i]) != 0, "words differ");
    for (int64_t k = 0; k < m->rows[XLM_TABLE_PAIRS]; k++) {
        fuzz_require(m->sources[k] < m->types[0] && m->targets[k] < m->types[1], "pairs are of words");
        fuzz_require(k == 0 || m->sources[k] > m->sources[k - 1] ||
                         (m->sources[k] == m->sources[k - 1] && m->targets[k] > m->targets[k - 1]), "pairs differ");
    }
    for (int t = 0; m->aligner->tables[t].name != NULL; t++)
        for (int64_t i = 0; i < m->rows[m->aligner->tables[t].of] * m->aligner->tables[t].width; i++)
            fuzz_require(m->counts[t][i] >= 0 && m->counts[t][i] <= (int64_t)1 << 60, "counts can be added");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    int n;
    const xlm_aligner *const *aligners = xlm_aligners(&n);
    fuzz_require(n == METHODS, "the methods are those of aligners.c");
    const int method = fuzz_choose(data, size, METHODS);
    for (int m = 0; m < METHODS; m++)
        if (original[m] == NULL)
            original[m] = make_original(aligners[m]);
    const char *path = fuzz_original_change(original[method], data, size);
    GError *error = NULL;
    xlm_aligner_model *model = xlm_aligner_model_read(fuzz_comm(), path, &error);
    if (model != NULL)
        check_model(model);
    fuzz_check(model != NULL, error);
    xlm_aligner_model_free(model);
    return 0;
}
