/* xlm-mpi: sentences, or pairs of them, with a class each. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Three forms of files, plain or gzip, found out by the first line:
 *
 *   header      a line of names between tabs, then a line an item: XNLI, MultiNLI and PAWS-X as they are published, XNLI's
 *               machine-translated training text, GLUE
 *   no header   `label<tab>sentence` or `label<tab>sentence<tab>sentence`
 *   JSON        an object a line (XNLI, MultiNLI)
 *
 * Which columns, or members of the objects, are meant:
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
 * the first of these that is there; and beside it a column or member `language`, by which a file can hold several languages, and
 * `pairID`, `id`, `idx` or `index`, by which translations of an item are found. Where a table has no sentence1, but
 * sentence1_xx, xx being the language that is asked for, that is taken (myXNLI). Quotation marks are part of the text. An item
 * whose gold_label is "-", on which annotators did not agree, is left out. */
#ifndef XLM_TASKS_LABELLED_TEXT_H
#define XLM_TASKS_LABELLED_TEXT_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_labelled_item {
    const char *label;
    const char *sentence[2]; /* UTF-8, not blank; [1] is NULL when there is one sentence */
    const char *id;          /* NULL: none */
    int32_t file;            /* number of the call that read it, from 0 */
    int64_t row;             /* among the items of its language in its file, from 0; those that were left out have one, too */
    int64_t line;            /* of the file */
} xlm_labelled_item;

/* Where items are from. */
typedef struct xlm_labelled_file {
    const char *path;
    const char *language_name; /* as it was asked for; NULL: none was */
    int language;              /* id; -1: none in particular */
    const char *form;          /* for the log: "columns gold_label, sentence1, sentence2; lines of de" */
    bool guessed;              /* no header or option says which column is the label */
    int64_t items, unlabelled, empty; /* taken; left out for their gold_label; left out for a sentence or label without text */
} xlm_labelled_file;

typedef struct xlm_labelled_text {
    GArray *items; /* xlm_labelled_item, all of one sentence or all of two */
    GArray *files; /* xlm_labelled_file */
    GStringChunk *strings;
} xlm_labelled_text;

/* How files are read. */
typedef struct xlm_labelled_options {
    char *const *columns;  /* NULL: found out; else names of the header or of members, or numbers of columns from 1, of the label
                              and of one or two sentences. NULL-terminated */
    bool leave_out_empty;  /* items with a sentence or label without text; else they are refused */
} xlm_labelled_options;

xlm_labelled_text *xlm_labelled_text_new(void);
/* NULL is allowed. */
void xlm_labelled_text_free(xlm_labelled_text *text);

/* Append the items of a file; where it has a column `language`, those of language_name (NULL: all). EX_NOINPUT; EX_CONFIG when
 * the columns that are asked for are not there; EX_DATAERR with file and line for any other form, for an item without label or
 * text, and when there is no item. */
bool xlm_labelled_text_read(xlm_labelled_text *text, const char *path, const char *language_name, int language,
                            const xlm_labelled_options *options, GError **error);

/* Can the first columns of files without header be labels? They cannot, EX_DATAERR with file and line, where a file has more than
 * 64 different ones and more than one for ten items, or more than 8 and more than one for two items: sentences, then. */
bool xlm_labelled_text_check_labels(const xlm_labelled_text *text, GError **error);

/* What to do where the first column of a file without header is not a label: "; columns = 3,1,2 ...", or "" of other files. */
const char *xlm_labelled_file_hint(const xlm_labelled_file *file, const xlm_labelled_item *item);

/* The file that an item is of. */
const xlm_labelled_file *xlm_labelled_file_of(const xlm_labelled_text *text, const xlm_labelled_item *item);

#endif
