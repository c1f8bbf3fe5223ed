/* xlm-mpi: words with tags, from CoNLL-U and from `token<tab>tag` files. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file named .conllu (or .conllu.gz) is CoNLL-U: ten columns between tabs, an empty line behind each sentence, comments with
 * '#'. Multiword tokens (lines 3-4) and empty nodes (lines 5.1) are passed over: words are what is tagged. The tag is the column
 * `upos` or `xpos`, or the value of a key in FEATS or MISC (`NER`), "O" for a word without the key. Any other file has lines
 * `token<tab>tag`, and empty lines between sentences. Both may be gzip. */
#ifndef XLM_TASKS_TAGGED_TEXT_H
#define XLM_TASKS_TAGGED_TEXT_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_tagged_word {
    const char *word, *tag; /* UTF-8 */
    const char *path;
    int64_t line;
} xlm_tagged_word;

typedef struct xlm_tagged_text {
    GArray *words;         /* xlm_tagged_word */
    GArray *ends;          /* guint: the word behind each sentence */
    GStringChunk *strings;
} xlm_tagged_text;

xlm_tagged_text *xlm_tagged_text_new(void);
/* NULL is allowed. */
void xlm_tagged_text_free(xlm_tagged_text *text);

/* Append a file. column: of CoNLL-U files. EX_NOINPUT; EX_DATAERR with file and line when it has another form, no tag, no
 * word. */
bool xlm_tagged_text_read(xlm_tagged_text *text, const char *path, const char *column, GError **error);

#endif
