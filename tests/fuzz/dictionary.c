/* xlm-mpi: fuzz target: dictionaries in HDF5, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include "../unit/corpus_fixture.h"
#include "hdf5_change.h"
#include "lexicon/dictionary.h"
#include "lexicon/translations.h"

static xlm_corpus *corpus;
static fuzz_original *original;

static fuzz_original *make_original(void)
{
    static const xlm_dictionary_pair pair[] = {{{6, 7}}, {{6, 9}}, {{20, 30}}, {{1004, 1000}}};
    static const char *const input = "input";
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof *pair), *left_out = g_array_new(FALSE, FALSE, sizeof *pair);
    g_array_append_vals(pairs, pair, G_N_ELEMENTS(pair));
    const xlm_dictionary_record record = {.pairs = pairs, .left_out = left_out, .language = {"en", "de"}, .subwords = "one",
                                          .command = "x", .share = 1, .corpus_digest = xlm_corpus_digest(corpus),
                                          .vocabulary = VOCABULARY, .inputs = (char *[]){(char *)input, NULL}};
    const char *path = fuzz_write("good.h5", "", 0);
    fuzz_require(xlm_dictionary_write(path, &record, NULL), "a dictionary can be written");
    g_array_unref(pairs);
    g_array_unref(left_out);
    return fuzz_original_read(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    if (original == NULL) {
        static const corpus_plan plan = {0};
        corpus = make_corpus(&plan);
        original = make_original();
    }
    const char *path = fuzz_original_change(original, data, size);
    static const char *const parts[] = {XLM_DICTIONARY_PAIRS, XLM_DICTIONARY_LEFT_OUT};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        GError *error = NULL;
        xlm_dictionary *d = xlm_dictionary_read(path, parts[i], xlm_corpus_vocabulary(corpus), xlm_corpus_digest(corpus), &error);
        fuzz_check(d != NULL, error);
        if (d != NULL)
            xlm_translations_free(xlm_translations_new(d, VOCABULARY));
        xlm_dictionary_free(d);
    }
    return 0;
}
