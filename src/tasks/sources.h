/* xlm-mpi: files of texts in one language or in several, as users list them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * An item of a list is LANG:FILE, or FILE, which then is in the language that is said elsewhere ([tune] language, --language).
 * What is before the first colon is a language unless there is a slash in it: a file that is named a:b is written ./a:b. */
#ifndef XLM_TASKS_SOURCES_H
#define XLM_TASKS_SOURCES_H

#include "tasks/task.h"

/* What a list is read with. */
typedef struct xlm_task_list {
    const xlm_vocabulary *vocabulary;
    const char *language; /* of files without one, NULL: none; it is one of the vocabulary's */
    bool needed;          /* every file must have one: the model has language embeddings */
    const char *what;     /* the list, for messages: "[tune] dev" */
    const char *how;      /* how to say the language of files without one: "language = NAME in [tune]" */
    int exit_code;        /* of errors */
} xlm_task_list;

/* The sources of a list, in its order; *n: how many. g_free; paths are the items', names the vocabulary's or `language`.
 * Errors name the item: a language that the vocabulary does not have, an empty one, no file, no language where one is needed. */
xlm_task_source *xlm_task_sources_read(const xlm_task_list *list, char *const *items, int64_t *n, GError **error);

/* The sources of one text that is scored by itself: those of one language. */
typedef struct xlm_task_set {
    const xlm_task_source *sources;
    int64_t n;    /* at least 1 */
    bool unnamed; /* they are listed without their language */
} xlm_task_set;

/* For a list of development or test files: each item with a language is a set, all items without one are another, in the order in
 * which they first appear. sources: as they were read, and are put in this order. GArray of xlm_task_set, which points into
 * them; g_array_unref. It is an error when two sets are of the same language. */
GArray *xlm_task_sets(const xlm_task_list *list, char *const *items, xlm_task_source *sources, int64_t n, GError **error);

/* What tables and files call the language of a source: "none" without one. */
const char *xlm_task_source_language(const xlm_task_source *source);

/* Id of a language of the vocabulary, by its name; -1 for NULL, which is an error when needed (the model has language
 * embeddings). how: the option that names one, for the message, which lists those there are; exit_code: of the error. */
bool xlm_task_language(const xlm_vocabulary *vocabulary, const char *name, bool needed, const char *how, int exit_code,
                       int *language, GError **error);

#endif
