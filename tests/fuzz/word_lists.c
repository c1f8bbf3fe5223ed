/* xlm-mpi: fuzz target: vectors as text, pairs with scores, analogies. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The first byte chooses: 0 vectors, 1 the first two vectors, 2 pairs with scores, 3 pairs and keys of one file, 4 analogies,
 * modulo 5. */
#include "fuzz.h"

#include <math.h>

#include "retrieval/analogies.h"
#include "retrieval/scored_pairs.h"
#include "vectors/named_vectors.h"

static void read_vectors(const char *path, int64_t max_words)
{
    GError *error = NULL;
    xlm_named_vectors *v = xlm_named_vectors_read(path, max_words, &error);
    fuzz_check(v != NULL, error);
    for (int64_t i = 0; v != NULL && i < v->n; i++) {
        fuzz_require(xlm_named_vectors_find(v, v->names->pdata[i]) == i, "a word is found");
        fuzz_require(isfinite(v->values[(i + 1) * v->width - 1]), "a number is finite");
    }
    fuzz_require(v == NULL || max_words == 0 || v->n <= max_words, "no more words than are wanted");
    xlm_named_vectors_free(v);
}

static void read_pairs(const char *path, bool keys)
{
    GError *error = NULL;
    xlm_pair_list list = {{NULL, NULL}, NULL};
    const bool good = xlm_scored_pairs_read(path, keys ? path : NULL, &list, &error);
    fuzz_check(good, error);
    fuzz_require(!good || list.words[0]->len == list.scores->len, "every pair has a score");
    xlm_pair_list_close(&list);
}

static void read_analogies(const char *path)
{
    GError *error = NULL;
    xlm_analogies *a = xlm_analogies_read(path, &error);
    fuzz_check(a != NULL, error);
    for (guint i = 0; a != NULL && i < a->questions->len; i++) {
        const xlm_analogy *q = a->questions->pdata[i];
        fuzz_require(q->section >= 0 && (guint)q->section < a->sections->len, "a question has a section");
    }
    xlm_analogies_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    if (size == 0)
        return 0;
    const char *path = fuzz_write("list", data + 1, size - 1);
    switch (data[0] % 5) {
    case 0: read_vectors(path, 0); break;
    case 1: read_vectors(path, 2); break;
    case 2: read_pairs(path, false); break;
    case 3: read_pairs(path, true); break;
    default: read_analogies(path); break;
    }
    return 0;
}
