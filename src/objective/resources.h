/* xlm-mpi: files that objectives request, each read once. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each kind of file is a row in the table of readers. To add a kind, write a file with its xlm_resource_reader and a line in
 * readers.c. */
#ifndef XLM_OBJECTIVE_RESOURCES_H
#define XLM_OBJECTIVE_RESOURCES_H

#include <xlm/loss.h>

#include "base/error.h"

struct xlm_vocabulary; /* subwords/vocabulary.h */
struct xlm_store;      /* store/store.h */

/* The corpus that a file must be made for. */
typedef struct xlm_resource_origin {
    const struct xlm_vocabulary *vocabulary;
    uint64_t digest; /* xlm_corpus_digest */
} xlm_resource_origin;

typedef struct xlm_resource_reader {
    const char *kind;   /* the kind in xlm_loss_resource */
    const char *folder; /* the folder of such files in step dumps: "dictionaries" */
    /* Returns the contents, to be freed with `free`; NULL with an error. */
    void *(*read)(const char *path, const xlm_resource_origin *origin, GError **error);
    void (*free)(void *resource);
    uint64_t (*bytes)(const void *resource); /* bytes of memory; NULL: negligible */
    /* For step dumps: a dataset, or a group of several. */
    bool (*write)(struct xlm_store *store, const char *dataset, const void *resource, GError **error);
} xlm_resource_reader;

typedef struct xlm_resources xlm_resources;

/* readers: NULL-terminated, borrowed; origin is copied, its vocabulary borrowed. */
xlm_resources *xlm_resources_new(const xlm_resource_reader *const *readers, const xlm_resource_origin *origin);
/* NULL is allowed. */
void xlm_resources_free(xlm_resources *resources);
/* The contents of a file of this kind, which is read at the first call; owned by the resources. NULL with EX_CONFIG for a kind
 * without a reader, or with the reader's error. */
const void *xlm_resources_get(xlm_resources *resources, const char *kind, const char *path, GError **error);

/* Bytes of memory of all files that were read. */
uint64_t xlm_resources_bytes(const xlm_resources *resources);

/* A file that was read. */
typedef struct xlm_resource {
    const xlm_resource_reader *reader;
    const char *path;
    const void *contents;
} xlm_resource;
/* All files that were read so far, sorted by kind, then by path. Returns their number; g_free the array. */
int xlm_resources_list(const xlm_resources *resources, xlm_resource **list);

#endif
