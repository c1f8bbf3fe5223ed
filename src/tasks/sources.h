/* xlm-mpi: lists of files in one or several languages, from users. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An item of a list is LANG:FILE, or FILE, whose language is then given elsewhere ([tune] language, --language). The part before
 * the first colon is a language unless it contains a slash: a file named a:b is written ./a:b. */
#ifndef XLM_TASKS_SOURCES_H
#define XLM_TASKS_SOURCES_H

#include "tasks/task.h"

/* Settings for reading a list. */
typedef struct xlm_task_list {
    const xlm_vocabulary *vocabulary;
    const char *language; /* of files without one, NULL: none; it is one of the vocabulary's */
    bool needed;          /* every file must have one: the model has language embeddings */
    const char *what;     /* the list, for messages: "[tune] dev" */
    const char *how;      /* how to give the language of files without one: "language = NAME in [tune]" */
    int exit_code;        /* of errors */
} xlm_task_list;

/* The sources of a list, in its order; *n: their number. g_free; paths are the items', names the vocabulary's or `language`.
 * Errors name the item: a language that the vocabulary does not have, an empty one, no file, no language where one is needed. */
xlm_task_source *xlm_task_sources_read(const xlm_task_list *list, char *const *items, int64_t *n, GError **error);

/* The sources of one text that is scored separately: those of one language. */
typedef struct xlm_task_set {
    const xlm_task_source *sources;
    int64_t n;    /* at least 1 */
    bool unnamed; /* they are listed without their language */
} xlm_task_set;

/* Divide a list of development or test files into sets, one for each language and one for all items without a language, in the
 * order in which they first appear. sources: those that were read; they are put into this order. GArray of xlm_task_set, which
 * points into them; g_array_unref. It is an error if two sets have the same language. */
GArray *xlm_task_sets(const xlm_task_list *list, char *const *items, xlm_task_source *sources, int64_t n, GError **error);

/* The name of a source's language in tables and files: "none" without one. */
const char *xlm_task_source_language(const xlm_task_source *source);

/* Id of a language of the vocabulary, by its name; -1 for NULL, which is an error when needed (the model has language
 * embeddings). how: the option that names one, for the message, which lists those there are; exit_code: of the error. */
bool xlm_task_language(const xlm_vocabulary *vocabulary, const char *name, bool needed, const char *how, int exit_code,
                       int *language, GError **error);

#endif
