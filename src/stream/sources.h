/* xlm-mpi: the sources of a stream: languages, or pairs of them. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_SOURCES_H
#define XLM_STREAM_SOURCES_H

#include "stream/sampler.h"
#include "stream/stream.h"

typedef struct xlm_sources xlm_sources;

/* Find what config->languages names in the split, or all that there is, and make the indices of instances. name: of
 * the stream, for messages. seed: of config->share. Errors as xlm_stream_open. */
xlm_sources *xlm_sources_open(const xlm_corpus *corpus, xlm_split split, const char *name,
                              const xlm_stream_config *config, uint64_t seed, GError **error);
/* NULL is allowed. */
void xlm_sources_close(xlm_sources *sources);

/* Instances of all sources. */
int64_t xlm_sources_instances(const xlm_sources *sources);
int xlm_sources_count(const xlm_sources *sources);
/* Instances of one of them. */
int64_t xlm_sources_instances_of(const xlm_sources *sources, int source);
/* A sampler over the sources; shares are tokens of monolingual text, pairs of parallel text. The caller frees it. */
xlm_sampler *xlm_sources_sampler(const xlm_sources *sources, double alpha, uint64_t seed, uint32_t stream);
/* Source and [out] instance that stand at place `index` when all sources' instances are put one after another. */
int xlm_sources_at(const xlm_sources *sources, int64_t index, int64_t *instance);
/* Append the spans (GArray of xlm_span) of an instance of a source. target_first: for pairs only. */
bool xlm_sources_find(const xlm_sources *sources, int source, int64_t instance, bool target_first, GArray *spans,
                      GError **error);
/* Append how many instances and what share of the draws each source has, and what was cut or left out. */
void xlm_sources_describe(const xlm_sources *sources, const int32_t *quotas, GString *out);

#endif
