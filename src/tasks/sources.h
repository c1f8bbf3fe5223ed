/* xlm-mpi: lists of files in one or several languages, as users give them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An item of a list is LANG:FILE, or FILE, whose language is then given elsewhere ([tune] language, --language). The part before
 * the first colon is a language unless it contains a slash: a file named a:b is written ./a:b. */
#ifndef XLM_TASKS_SOURCES_H
#define XLM_TASKS_SOURCES_H

#include "tasks/task.h"

/* Settings for reading a list. */
typedef struct xlm_task_list {
    const xlm_vocabulary *vocabulary;
    const char *language; /* of files without LANG:, one of the vocabulary's; NULL: none */
    bool needed;          /* every file must have a language, because the model reads it (xlm_loaded_model_reads_language) */
    const char *what;     /* the list, for messages: "[tune] dev" */
    const char *how;      /* how to give the language of files without one: "language = NAME in [tune]" */
    int exit_code;        /* of errors */
} xlm_task_list;

/* The sources of a list, in its order; g_free. Their paths are borrowed from the items, their names from the vocabulary or the
 * list. items: ends with NULL; [out] n: the number of sources. Errors name the item: a language that the vocabulary does not have,
 * an empty one, no file, no language although one is needed. */
xlm_task_source *xlm_task_sources_read(const xlm_task_list *list, char *const *items, int64_t *n, GError **error);

/* The sources of one text that is scored separately: those of one language. */
typedef struct xlm_task_set {
    const xlm_task_source *sources;
    int64_t n;    /* at least 1 */
    bool unnamed; /* they are listed without LANG: */
} xlm_task_set;

/* Divide a list of development or test files into sets, one for each language and one for all items without a language, in the
 * order in which they first appear. [in, out] sources: [n] those that were read, which are put into this order. Returns a GArray
 * of xlm_task_set, which points into them; g_array_unref. It is an error if two sets have the same language. */
GArray *xlm_task_sets(const xlm_task_list *list, char *const *items, xlm_task_source *sources, int64_t n, GError **error);

/* [out] digest: of the text of sources, in their order: what is in their files once decompressed, whatever these are called;
 * never 0. Errors of xlm_lines_open and xlm_lines_bytes. */
bool xlm_task_sources_digest(const xlm_task_source *sources, int64_t n, uint64_t *digest, GError **error);

/* The name of a source's language in tables and files: "none" without one. */
const char *xlm_task_source_language(const xlm_task_source *source);

/* [out] language: the id of a language of the vocabulary by its name, or -1 for NULL, which is an error if `needed`. how: how to
 * give a language, for the message, which lists the languages; exit_code: of the error. */
bool xlm_task_language(const xlm_vocabulary *vocabulary, const char *name, bool needed, const char *how, int exit_code,
                       int *language, GError **error);

#endif
