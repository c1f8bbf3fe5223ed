/* xlm-mpi: fuzz target: pairs of sentences to align. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte is even: one file of lines with |||; odd: two files, with a byte 0 between them. */
#include "fuzz.h"

#include "aligners/sentence_pairs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    const int n = 1 + (fuzz_take(&data, &size) & 1);
    const char *files[2];
    size_t length = size;
    const char *text = n == 2 ? fuzz_cut(&data, &size, &length) : (const char *)data;
    files[0] = fuzz_write("source", text, length);
    files[1] = fuzz_write("target", data, size);
    GError *error = NULL;
    xlm_sentence_pairs *pairs = xlm_sentence_pairs_open(fuzz_comm(), files, n, XLM_PAIR_WORK_PRODUCT, 1, &error);
    fuzz_check(pairs != NULL, error);
    for (int turn = 0; pairs != NULL && turn < 2; turn++) {
        const char *side[2];
        size_t sizes[2];
        int64_t number, seen = 0;
        int more;
        error = NULL;
        while ((more = xlm_sentence_pairs_next(pairs, side, sizes, &number, &error)) == 1) {
            fuzz_require(number == seen++, "pairs come in order");
            g_free(g_strndup(side[0], sizes[0]));
            g_free(g_strndup(side[1], sizes[1]));
        }
        fuzz_check(more == 0, error);
        fuzz_require(more < 0 || seen == xlm_sentence_pairs_total(pairs), "there are as many pairs as were found");
        error = NULL;
        const bool good = xlm_sentence_pairs_rewind(pairs, &error);
        fuzz_check(good, error);
    }
    xlm_sentence_pairs_close(pairs);
    return 0;
}
