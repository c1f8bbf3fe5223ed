/* xlm-mpi: fuzz target: corpora in HDF5, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include "../unit/corpus_fixture.h"
#include "hdf5_change.h"

static fuzz_original *make_original(void)
{
    static const int en_lengths[] = {3, 5, 2, 4}, de_lengths[] = {4, 4, 6};
    static const int64_t links[] = {2, 1, 1, 2};
    static const corpus_plan plan = {.text = {[XLM_TRAIN] = {{4, 2, en_lengths}, {3, 1, de_lengths}},
                                              [XLM_HELD_OUT] = {{1, 0, en_lengths}}},
                                     .pairs = {[XLM_TRAIN] = {{1, 0, 2, links}}}};
    char *path = write_corpus(&plan);
    fuzz_original *original = fuzz_original_read(path);
    remove_corpus(path);
    return original;
}

/* All of a text. As streams do, offsets first, and of the tokens what they say. */
static bool read_text(const xlm_corpus *corpus, const xlm_corpus_text *text, GError **error)
{
    uint64_t *offsets = g_new(uint64_t, text->sentences + 1);
    bool good = xlm_corpus_read_offsets(text, 0, text->sentences + 1, offsets, error);
    for (int64_t i = 0; i < text->sentences && good; i++) {
        const int64_t n = (int64_t)(offsets[i + 1] - offsets[i]);
        int32_t *ids = g_new(int32_t, n + 1);
        good = xlm_corpus_read_tokens(text, (int64_t)offsets[i], n, ids, error);
        for (int64_t k = 0; k < n && good; k++)
            fuzz_require(ids[k] >= 0 && ids[k] < xlm_vocabulary_size(xlm_corpus_vocabulary(corpus)),
                         "tokens are in the vocabulary");
        g_free(ids);
    }
    g_free(offsets);
    return good;
}

static bool read_pairs(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, GError **error)
{
    int64_t *links = g_new(int64_t, 2 * pairs->pairs + 1);
    const bool good = xlm_corpus_read_links(corpus, pairs, 0, pairs->pairs, links, error);
    for (int64_t i = 0; i < pairs->pairs && good; i++)
        fuzz_require(links[2 * i] >= 0 && links[2 * i] < pairs->source->sentences && links[2 * i + 1] >= 0 &&
                     links[2 * i + 1] < pairs->target->sentences, "links lead to sentences");
    g_free(links);
    return good;
}

static void read_all(const xlm_corpus *corpus)
{
    for (int split = 0; split < 2; split++) {
        int n;
        const xlm_corpus_text *texts = xlm_corpus_texts(corpus, split, &n);
        for (int i = 0; i < n; i++) {
            GError *error = NULL;
            const bool good = read_text(corpus, &texts[i], &error);
            fuzz_check(good, error);
        }
        const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(corpus, split, &n);
        for (int i = 0; i < n; i++) {
            GError *error = NULL;
            const bool good = read_pairs(corpus, &pairs[i], &error);
            fuzz_check(good, error);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static fuzz_original *original;
    if (original == NULL)
        original = make_original();
    GError *error = NULL;
    xlm_corpus *corpus = xlm_corpus_open(fuzz_original_change(original, data, size), &error);
    fuzz_check(corpus != NULL, error);
    if (corpus != NULL)
        read_all(corpus);
    xlm_corpus_close(corpus);
    return 0;
}
