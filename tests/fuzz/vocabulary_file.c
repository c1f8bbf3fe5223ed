/* xlm-mpi: fuzz target: vocabulary files of fastBPE. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "text/word_counts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    GError *error = NULL;
    xlm_word_counts *counts = xlm_word_counts_parse("vocab", (const char *)data, size, &error);
    fuzz_check(counts != NULL, error);
    if (counts == NULL)
        return 0;
    fuzz_require(xlm_word_counts_total(counts) >= 0, "counts can be added up");
    GString *text = xlm_word_counts_print(counts);
    xlm_word_counts *again = xlm_word_counts_parse("again", text->str, text->len, NULL);
    fuzz_require(again != NULL && xlm_word_counts_size(again) == xlm_word_counts_size(counts) &&
                 xlm_word_counts_total(again) == xlm_word_counts_total(counts), "a vocabulary that was written can be read");
    xlm_word_counts_sort(again);
    xlm_word_counts_free(again);
    g_string_free(text, TRUE);
    xlm_word_counts_free(counts);
    return 0;
}
