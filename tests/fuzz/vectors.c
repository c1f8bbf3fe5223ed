/* xlm-mpi: fuzz target: vectors in HDF5, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * `choose` says what reads them: 0 words with their vectors, 1 the first two of these, 2 rows, 3 the first two of these. */
#include <math.h>

#include "hdf5_change.h"

#include "vectors/named_vectors.h"
#include "vectors/vector_file.h"
#include "vectors/vector_rows.h"

enum { N = 4, WIDTH = 3 };

static fuzz_original *make_original(void)
{
    static const char *const words[N] = {"house", "dog", "Haus", "\xc3\xa9t\xc3\xa9"};
    static const float values[N * WIDTH] = {0, 1, 2, 0.5f, -1, 1, 1e-3f, 2, 3, 4, 5, 6};
    const char *path = fuzz_write("good.h5", "", 0);
    xlm_vector_file *file = xlm_vector_file_create(path, N, WIDTH, NULL);
    fuzz_require(file != NULL && xlm_vector_file_describe(file, "content", "words", NULL) &&
                 xlm_vector_file_add(file, N, words, values, NULL) && xlm_vector_file_commit(file, NULL),
                 "vectors can be written");
    return fuzz_original_read(path);
}

static void read_named(const char *path, int64_t max_words)
{
    GError *error = NULL;
    xlm_named_vectors *v = xlm_named_vectors_read(path, max_words, &error);
    fuzz_check(v != NULL, error);
    for (int64_t i = 0; v != NULL && i < v->n; i++) {
        fuzz_require(xlm_named_vectors_find(v, v->names->pdata[i]) == i, "a word is found");
        for (int64_t c = 0; c < v->width; c++)
            fuzz_require(isfinite(v->values[i * v->width + c]), "numbers are finite");
    }
    fuzz_require(v == NULL || max_words == 0 || v->n <= max_words, "no more words than are wanted");
    xlm_named_vectors_free(v);
}

static void read_rows(const char *path, int64_t max_words)
{
    GError *error = NULL;
    xlm_vector_rows rows;
    const bool good = xlm_vector_rows_open(fuzz_comm(), path, NULL, max_words, &rows, &error);
    fuzz_check(good, error);
    fuzz_require(!good || (rows.n >= 2 && rows.own == rows.n && rows.width > 0), "there are vectors");
    for (int64_t i = 0; good && i < rows.n * rows.width; i++)
        fuzz_require(isfinite(rows.values[i]), "numbers are finite");
    for (int64_t i = 0; good && rows.words != NULL && i < rows.n; i++)
        fuzz_require(rows.words[i] != NULL, "every vector has a name");
    xlm_vector_rows_close(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static fuzz_original *original;
    if (original == NULL)
        original = make_original();
    const int reader = fuzz_choose(data, size, 4);
    const char *path = fuzz_original_change(original, data, size);
    (reader < 2 ? read_named : read_rows)(path, reader % 2 == 0 ? 0 : 2);
    return 0;
}
