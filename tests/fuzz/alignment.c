/* xlm-mpi: fuzz target: alignments in HDF5, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include "../unit/corpus_fixture.h"
#include "hdf5_change.h"

#include "aligners/alignment_write.h"

enum { PAIRS = 3, LONGEST = 8 /* subwords of a sentence */ };

static fuzz_original *original;
static xlm_corpus *corpus;

static void make_original(void)
{
    static const int en_lengths[] = {3, 5, 2, 4}, de_lengths[] = {4, 4, 6};
    static const int64_t links[] = {2, 1, 1, 2, 0, 0};
    static const corpus_plan plan = {.text = {[XLM_TRAIN] = {{4, 2, en_lengths}, {3, 1, de_lengths}}},
                                     .pairs = {[XLM_TRAIN] = {{0, 1, PAIRS, links}}}};
    static const xlm_alignment_origin origin = {.command = "xlm_align", .corpus = "c.h5", .method = "ot", .model = "",
                                                .symmetrisation = "union", .layer = -1};
    static const uint64_t offsets[PAIRS + 1] = {0, 2, 2, 5};
    static const xlm_link found[] = {{0, 1, false}, {1, 3, false}, {0, 0, false}, {0, 2, false}, {2, 3, false}};
    static const float scores[] = {0.5f, 1, 0.25f, 0.75f, 1};
    corpus = make_corpus(&plan);
    const char *path = fuzz_write("good.h5", "", 0);
    xlm_found_links *all = xlm_found_links_new();
    for (int p = 0; p < PAIRS; p++)
        xlm_found_links_append(all, found + offsets[p], scores + offsets[p], (int64_t)(offsets[p + 1] - offsets[p]));
    xlm_store *store = xlm_alignment_create(fuzz_comm(), path, corpus, &origin, NULL);
    fuzz_require(store != NULL && xlm_alignment_write(fuzz_comm(), store, corpus, XLM_TRAIN,
                                                      xlm_corpus_find_pairs(corpus, XLM_TRAIN, "en-de", NULL), all, NULL) &&
                     xlm_store_commit(store, NULL), "an alignment can be written");
    xlm_found_links_free(all);
    original = fuzz_original_read(path);
}

/* Links of all pairs, together and one by one, of sentences of LONGEST subwords each. */
static bool read_all(const xlm_alignment_file *file, const xlm_alignment_pairs *pairs, GError **error)
{
    const int64_t n = pairs->pairs;
    int64_t (*sizes)[2] = g_malloc(sizeof *sizes * (size_t)(n + 1));
    uint64_t *offsets = g_new(uint64_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        sizes[i][0] = sizes[i][1] = LONGEST;
    bool good = true;
    for (int64_t first = 0; first <= n && good; first++) {
        xlm_link *links;
        float *scores;
        const int64_t some = first == n ? n : 1;
        good = xlm_alignment_file_read(file, pairs, first == n ? 0 : first, some, (const int64_t (*)[2])sizes, offsets, &links,
                                       &scores, error);
        for (uint64_t l = 0; good && l < offsets[some]; l++)
            fuzz_require(links[l].source >= 0 && links[l].source < LONGEST && links[l].target >= 0 && links[l].target < LONGEST &&
                             (scores == NULL || scores[l] - scores[l] == 0), "links are of the sentences");
        if (good) {
            g_free(links);
            g_free(scores);
        }
    }
    g_free(sizes);
    g_free(offsets);
    return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    if (original == NULL)
        make_original();
    const char *path = fuzz_original_change(original, data, size);
    GError *error = NULL;
    xlm_alignment_file *file = xlm_alignment_file_open(path, corpus, &error);
    fuzz_check(file != NULL, error);
    xlm_alignment_file_close(file);
    error = NULL;
    file = xlm_alignment_file_open(path, NULL, &error);
    bool good = file != NULL;
    for (int i = 0; good && i < file->n; i++)
        good = read_all(file, &file->pairs[i], &error);
    fuzz_check(good, error);
    xlm_alignment_file_close(file);
    return 0;
}
