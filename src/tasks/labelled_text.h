/* xlm-mpi: sentences or pairs of sentences, each with a class. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * There are three forms of files, plain or compressed, recognised by the first line:
 *
 *   header      a line of names separated by tabs, then a line for each item: XNLI, MultiNLI and PAWS-X as they are published,
 *               XNLI's machine-translated training text, GLUE
 *   no header   `label<tab>sentence` or `label<tab>sentence<tab>sentence`
 *   JSON        an object on each line (XNLI, MultiNLI)
 *
 * The columns, or members of the objects, are:
 *
 *   label             first sentence   second           of
 *   gold_label        sentence1        sentence2        XNLI, MultiNLI, MNLI of GLUE
 *   label             premise          hypo             XNLI's translations of MultiNLI; "contradictory" is contradiction there
 *   label             premise          hypothesis
 *   label             sentence1        sentence2        PAWS-X, RTE, WNLI
 *   is_duplicate      question1        question2        QQP
 *   Quality           #1 String        #2 String        MRPC
 *   label             question         sentence         QNLI
 *   label             sentence, text                    SST-2
 *
 * The first row of this list that a file has is used; in addition, a column or member `language`, so that a file can have several
 * languages, and `pairID`, `id`, `idx` or `index`, by which translations of an item are found. If a file has no sentence1, but
 * has sentence1_xx, where xx is the requested language, this is used (myXNLI). Quotation marks are part of the text. An item
 * whose gold_label is "-", because annotators did not agree, is left out.
 *
 * Text that is only to be predicted may have items without a label (`unlabelled`): the label is empty, or null in JSON, or there is
 * no column or member of it, or a file without header has sentences alone. */
#ifndef XLM_TASKS_LABELLED_TEXT_H
#define XLM_TASKS_LABELLED_TEXT_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_labelled_item {
    const char *label;       /* NULL, if that is allowed: it has none */
    const char *sentence[2]; /* UTF-8, not blank; [1] is NULL when there is one sentence */
    const char *id;          /* NULL: none */
    int32_t file;            /* number of the call that read it, from 0 */
    int64_t row;             /* number among the items of its language in its file, from 0, counting those that are left out */
    int64_t line;            /* of the file, from 1 */
} xlm_labelled_item;

/* A file of items. */
typedef struct xlm_labelled_file {
    const char *path;
    const char *language_name; /* as requested; NULL: none */
    int language;              /* id; -1: none in particular */
    const char *form;          /* for the log: "columns gold_label, sentence1, sentence2; lines of de" */
    bool guessed;              /* neither a header nor an option says which column is the label */
    int64_t items, unlabelled, empty; /* read; left out because of their gold_label; with a sentence or label without text */
    int64_t parts;             /* lines left out that have too few columns: parts of records broken over lines */
} xlm_labelled_file;

typedef struct xlm_labelled_text {
    GArray *items; /* xlm_labelled_item, all of one sentence or all of two */
    GArray *files; /* xlm_labelled_file */
    GStringChunk *strings;
} xlm_labelled_text;

/* Settings for reading files. */
typedef struct xlm_labelled_options {
    char *const *columns;  /* NULL: determined by the first line; else the columns of the label and of one or two sentences, by
                              their names in the header, names of members, or numbers from 1. NULL-terminated */
    bool leave_out_empty;  /* leave out items with a sentence or label without text, and, of tables with a header, lines with too
                              few columns; else they are refused */
    bool unlabelled;       /* items without a label are allowed, and not left out */
} xlm_labelled_options;

xlm_labelled_text *xlm_labelled_text_new(void);
/* NULL is allowed. */
void xlm_labelled_text_free(xlm_labelled_text *text);

/* Append the items of a file; if it has a column `language`, only those of language_name (NULL: all). EX_NOINPUT; EX_CONFIG when
 * requested columns are missing; EX_DATAERR with file and line for any other form, for an item without label or text, and when
 * there are no items. */
bool xlm_labelled_text_read(xlm_labelled_text *text, const char *path, const char *language_name, int language,
                            const xlm_labelled_options *options, GError **error);

/* Can the first columns of files without header be labels? If a file has more than 64 distinct ones and more than one per ten
 * items, or more than 8 and more than one per two items, they are probably sentences: EX_DATAERR with file and line. */
bool xlm_labelled_text_check_labels(const xlm_labelled_text *text, GError **error);

/* Advice for the case that the first column of a file without header is not the label: "; ... say columns = 3,1,2"; "" for other
 * files. */
const char *xlm_labelled_file_hint(const xlm_labelled_file *file, const xlm_labelled_item *item);

/* The file of an item. */
const xlm_labelled_file *xlm_labelled_file_of(const xlm_labelled_text *text, const xlm_labelled_item *item);

#endif
