/* xlm-mpi: finding items of files that are translations of each other. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Training text in several languages is often one translated text: line i of each file is the same item, or items have the same
 * id in all files. Code-switching (Pan et al. 2021, section 2.3) takes one sentence of a pair from one language and the other
 * from another language, so it must know which items belong together.
 *
 * Items are paired by id if all have one and no two items of a language have the same. Otherwise they are paired by place: the
 * k-th file of one language with the k-th file of the other, and row r with row r. A warning is given if all have ids, but some
 * occur twice. */
#ifndef XLM_TASKS_PARALLEL_ITEMS_H
#define XLM_TASKS_PARALLEL_ITEMS_H

#include <stdint.h>

#include "base/error.h"

typedef enum { XLM_PAIRED_AUTO, XLM_PAIRED_BY_ID, XLM_PAIRED_BY_LINE } xlm_pairing;
/* The same as choices of an option. */
#define XLM_PAIRING_CHOICES "auto|id|line"

typedef struct xlm_parallel_item {
    const char *id;            /* NULL: none */
    int32_t file;              /* index of a file */
    int64_t row;               /* number of the item in the file */
    int64_t line;              /* of the file, for messages */
} xlm_parallel_item;

typedef struct xlm_parallel_file {
    const char *path, *language; /* name; NULL: none in particular */
} xlm_parallel_file;

typedef struct xlm_parallel_items {
    int64_t *partner; /* [items] the item of the pivot language that each item is a translation of; -1 if there is none, and for
                         items of the pivot language itself */
    bool by_id;       /* they were paired by id, not by place */
} xlm_parallel_items;

/* Pair every item that is not in the pivot language with one that is. [in] item: [items], files in order; [in] file: [files].
 * EX_CONFIG when no file is in the pivot language, or all are; EX_DATAERR with file and line, if ids are requested and one is
 * missing or occurs twice in a language. Free with xlm_parallel_items_clear. */
bool xlm_parallel_items_find(xlm_parallel_items *parallel, const xlm_parallel_item *item, int64_t items,
                             const xlm_parallel_file *file, int32_t files, const char *pivot, xlm_pairing pairing,
                             GError **error);
void xlm_parallel_items_clear(xlm_parallel_items *parallel);

#endif
