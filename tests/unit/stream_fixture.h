/* xlm-mpi: opening and reading streams in tests. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_STREAM_FIXTURE_H
#define XLM_TESTS_STREAM_FIXTURE_H

#include "corpus_fixture.h"

#include "stream/stream.h"

static inline xlm_stream *open_training(const xlm_corpus *corpus, int number, const xlm_stream_config *config, uint64_t seed)
{
    GError *error = NULL;
    xlm_stream *stream = xlm_stream_open(corpus, XLM_TRAIN, "s", number, config, seed, &error);
    must(stream != NULL, error);
    return stream;
}

static inline xlm_batch read_step(xlm_stream *stream, int64_t step, int64_t first, int64_t n, xlm_arena *arena)
{
    xlm_batch batch;
    GError *error = NULL;
    must(xlm_stream_read(stream, step, first, n, arena, &batch, &error), error);
    return batch;
}

static inline xlm_batch read_in_order(xlm_stream *stream, int64_t first, int64_t n, xlm_arena *arena)
{
    xlm_batch batch;
    GError *error = NULL;
    must(xlm_stream_read_in_order(stream, first, n, arena, &batch, &error), error);
    return batch;
}

#endif
