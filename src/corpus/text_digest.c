/* xlm-mpi: a digest of samples of a corpus's text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/corpus.h"

#include <string.h>

#include "base/number_digest.h"
#include "base/rng.h"

/* Numbers in a row that are read at a place, and places of a text, evenly spread from its beginning to its end. */
enum { SAMPLE = 32, PLACES = 8 };

/* The first number of the sample at a place of n numbers. */
static int64_t place(int64_t n, int i) { return n <= SAMPLE ? 0 : (int64_t)((double)(n - SAMPLE) * i / (PLACES - 1)); }

static void add_sizes_of_text(const xlm_corpus_text *text, uint64_t *digest)
{
    const int64_t sizes[] = {text->sentences, text->monolingual_sentences, text->tokens};
    *digest = xlm_digest(text->language, strlen(text->language) + 1, *digest);
    *digest = xlm_digest_int64(sizes, G_N_ELEMENTS(sizes), *digest);
}

static void add_sizes_of_pairs(const xlm_corpus_pairs *pairs, uint64_t *digest)
{
    *digest = xlm_digest(pairs->name, strlen(pairs->name) + 1, *digest);
    *digest = xlm_digest_int64(&pairs->pairs, 1, *digest);
}

static bool add_text(const xlm_corpus_text *text, uint64_t *digest, GError **error)
{
    const int64_t n = MIN(text->tokens, SAMPLE);
    int32_t ids[SAMPLE];
    add_sizes_of_text(text, digest);
    for (int i = 0; i < PLACES; i++) {
        if (!xlm_corpus_read_tokens(text, place(text->tokens, i), n, ids, error))
            return false;
        *digest = xlm_digest_int32(ids, (uint64_t)n, *digest);
    }
    return true;
}

static bool add_pairs(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, uint64_t *digest, GError **error)
{
    const int64_t n = MIN(pairs->pairs, SAMPLE);
    int64_t links[2 * SAMPLE];
    add_sizes_of_pairs(pairs, digest);
    for (int i = 0; i < PLACES; i++) {
        if (!xlm_corpus_read_links(corpus, pairs, place(pairs->pairs, i), n, links, error))
            return false;
        *digest = xlm_digest_int64(links, 2 * (uint64_t)n, *digest);
    }
    return true;
}

bool xlm_corpus_text_digest(const xlm_corpus *corpus, uint64_t *digest, GError **error)
{
    *digest = 0;
    for (int split = 0; split < XLM_SPLITS; split++) {
        int texts, pairs;
        const xlm_corpus_text *text = xlm_corpus_texts(corpus, split, &texts);
        const xlm_corpus_pairs *linked = xlm_corpus_all_pairs(corpus, split, &pairs);
        for (int i = 0; i < texts; i++)
            if (!add_text(&text[i], digest, error))
                return false;
        for (int i = 0; i < pairs; i++)
            if (!add_pairs(corpus, &linked[i], digest, error))
                return false;
    }
    return true;
}

uint64_t xlm_corpus_sizes_digest(const xlm_corpus *corpus)
{
    uint64_t digest = xlm_corpus_digest(corpus);
    for (int split = 0; split < XLM_SPLITS; split++) {
        int texts, pairs;
        const xlm_corpus_text *text = xlm_corpus_texts(corpus, split, &texts);
        const xlm_corpus_pairs *linked = xlm_corpus_all_pairs(corpus, split, &pairs);
        for (int i = 0; i < texts; i++)
            add_sizes_of_text(&text[i], &digest);
        for (int i = 0; i < pairs; i++)
            add_sizes_of_pairs(&linked[i], &digest);
    }
    return digest;
}
