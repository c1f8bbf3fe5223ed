/* xlm-mpi: where sentences are in a text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/corpus.h"

#include <stdlib.h>

/* GAP: offsets of two sentences are read together if there are at most so many between them, because a separate read costs as
 * much as some thousand numbers. MAX_OFFSETS: approximate maximum number of offsets in memory. */
enum { GAP = 4096, MAX_OFFSETS = 1 << 20 };

typedef struct wanted {
    int64_t sentence, slot; /* slot: its index in the caller's arrays */
} wanted;

static int compare(const void *a, const void *b)
{
    const int64_t x = ((const wanted *)a)->sentence, y = ((const wanted *)b)->sentence;
    return (x > y) - (x < y);
}

/* The n sentences with their slots, in the order of the text. g_free. */
static wanted *sort(int64_t n, const int64_t *sentences)
{
    wanted *list = g_new(wanted, n);
    bool sorted = true;
    for (int64_t i = 0; i < n; i++) {
        list[i] = (wanted){sentences[2 * i], i};
        sorted = sorted && (i == 0 || list[i - 1].sentence <= list[i].sentence);
    }
    if (!sorted)
        qsort(list, (size_t)n, sizeof *list, compare);
    return list;
}

/* xlm_corpus_sentence_offsets for n sentences whose offsets are read together. buffer: scratch, uint64_t. */
static bool locate_run(const xlm_corpus_text *text, int64_t n, const wanted *list, GArray *buffer, int64_t *starts, int64_t *tokens,
                       GError **error)
{
    const int64_t first = list[0].sentence, count = list[n - 1].sentence - first + 2;
    g_array_set_size(buffer, (guint)count);
    const uint64_t *offsets = (const uint64_t *)(void *)buffer->data;
    if (!xlm_corpus_read_offsets(text, first, count, (uint64_t *)(void *)buffer->data, error))
        return false;
    for (int64_t i = 0; i < n; i++) {
        const uint64_t *bounds = offsets + (list[i].sentence - first);
        starts[list[i].slot] = (int64_t)bounds[0];
        tokens[list[i].slot] = (int64_t)(bounds[1] - bounds[0]);
    }
    return true;
}

bool xlm_corpus_sentence_offsets(const xlm_corpus_text *text, int64_t n, const int64_t *sentences, int64_t *starts, int64_t *tokens,
                                 GError **error)
{
    g_autofree wanted *list = sort(n, sentences);
    GArray *buffer = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    bool good = true;
    for (int64_t i = 0, next; i < n && good; i = next) {
        next = i + 1;
        while (next < n && list[next].sentence - list[next - 1].sentence <= GAP &&
               list[next].sentence - list[i].sentence < MAX_OFFSETS)
            next++;
        good = locate_run(text, next - i, list + i, buffer, starts, tokens, error);
    }
    g_array_free(buffer, TRUE);
    return good;
}
