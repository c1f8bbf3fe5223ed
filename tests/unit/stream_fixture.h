/* xlm-mpi: opening and reading streams in tests. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_STREAM_FIXTURE_H
#define XLM_TESTS_STREAM_FIXTURE_H

#include "corpus_fixture.h"

#include "options/jobfile.h"
#include "stream/stream.h"

/* settings: the contents of section [stream s] of a job file. */
static inline xlm_stream_config read_config(const char *settings)
{
    static const xlm_jobfile_kind kinds[] = {{"stream", true, NULL}, {NULL, false, NULL}};
    char *text = g_strconcat("[stream s]\n", settings, NULL);
    GError *error = NULL;
    xlm_stream_config config;
    xlm_jobfile *job = xlm_jobfile_parse("test", text, strlen(text), kinds, NULL, &error);
    must(job != NULL, error);
    must(xlm_stream_config_read(&config, job, "stream s", &error), error);
    xlm_jobfile_free(job);
    g_free(text);
    return config;
}

static inline xlm_stream *try_open(const xlm_corpus *corpus, xlm_split split, int number, const char *settings, uint64_t seed,
                                   GError **error)
{
    xlm_stream_config config = read_config(settings);
    xlm_stream *stream = xlm_stream_open(xlm_stream_text(corpus), split, "s", number, &config, seed, error);
    xlm_stream_config_clear(&config);
    return stream;
}

static inline xlm_stream *open_training(const xlm_corpus *corpus, int number, const char *settings, uint64_t seed)
{
    GError *error = NULL;
    xlm_stream *stream = try_open(corpus, XLM_TRAIN, number, settings, seed, &error);
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
