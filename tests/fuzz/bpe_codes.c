/* xlm-mpi: fuzz target: BPE codes, then text that they segment. SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"
#include "subwords/bpe_class.h"

static void read_again(const xlm_bpe *bpe)
{
    GString *text = xlm_bpe_print(bpe), *same = NULL;
    xlm_bpe *again = xlm_bpe_parse("again", text->str, text->len, NULL);
    fuzz_require(again != NULL, "codes that were written can be read");
    same = xlm_bpe_print(again);
    fuzz_require(g_string_equal(text, same), "codes are written as they were read");
    g_string_free(same, TRUE);
    g_string_free(text, TRUE);
    xlm_bpe_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    size_t length;
    const char *codes = fuzz_cut(&data, &size, &length);
    GError *error = NULL;
    xlm_bpe *bpe = xlm_bpe_parse("codes", codes, length, &error);
    fuzz_check(bpe != NULL, error);
    if (bpe == NULL)
        return 0;
    read_again(bpe);
    GString *out = g_string_new(NULL);
    xlm_segmenter *segmenter = xlm_segmenter_new(&xlm_segmenter_bpe, bpe);
    xlm_cutter *cutter = xlm_cutter_new(segmenter, NULL);
    xlm_cutter_text(cutter, (const char *)data, size, out);
    xlm_cutter_free(cutter);
    g_string_free(out, TRUE);
    xlm_segmenter_unref(segmenter);
    return 0;
}
