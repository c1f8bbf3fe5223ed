/* xlm-mpi: words with tags, from CoNLL-U, CoNLL-2002 and -2003, and `token<tab>tag` files.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file named .conllu (plain or compressed) is CoNLL-U: ten columns between tabs, an empty line after each sentence, comments with
 * '#'. Multiword tokens (lines 3-4) and empty nodes (lines 5.1) are skipped, because only words are tagged. The tag is the column
 * `upos` or `xpos`, or the value of a key in FEATS or MISC (`NER`), "O" for a word without the key.
 *
 * Any other file has empty lines between sentences, and lines `token<tab>tag`; or, if its first line has no tab, columns that are
 * separated by blanks, as in the shared tasks CoNLL-2000 to 2003 (`token POS chunk tag`, `token tag`): the first is the token,
 * and the tag is the last or the one whose number is `column`. In both forms, lines whose token is -DOCSTART- end a sentence and
 * are skipped.
 *
 * Tags of spans are BIO (a span begins with B-). If the tags of a file are IOB1 (a span begins with I-, and with B- only directly
 * after another span of its type), as in CoNLL-2003's English and German, they are rewritten as BIO. A file is IOB1 if some span
 * begins with I-, and none begins with B- except directly after another span of its type.
 *
 * Text that is only to be predicted may have words without a tag (`untagged`): `_` in CoNLL-U, and in other files a tag that is
 * empty, missing or `_`; a CoNLL-U file in which no word has the key; and files whose lines are only the token, or lack the last
 * column (`column` is one more than they have).
 *
 * All files may be compressed (text/lines.h). */
#ifndef XLM_TASKS_TAGGED_TEXT_H
#define XLM_TASKS_TAGGED_TEXT_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_tagged_word {
    const char *word, *tag; /* UTF-8; a tag may be NULL in text that may be untagged: the word has none */
    int language;           /* id of the file's language; -1: none in particular */
    const char *path;
    int64_t line;
} xlm_tagged_word;

typedef struct xlm_tagged_text {
    GArray *words;         /* xlm_tagged_word */
    GArray *ends;          /* guint: the word after each sentence */
    GStringChunk *strings;
    int64_t document_lines; /* number of lines with -DOCSTART- */
    int64_t rewritten;      /* number of files whose tags were IOB1 */
    bool untagged;          /* set before reading: words without a tag are allowed */
    bool underscore;        /* set before reading: `_` is a tag like others, since a model has learned it */
} xlm_tagged_text;

xlm_tagged_text *xlm_tagged_text_new(void);
/* NULL is allowed. */
void xlm_tagged_text_free(xlm_tagged_text *text);

/* Append a file in a language. column: for CoNLL-U files, the name of the column or key; for columns separated by blanks, a
 * number, or the default "upos", which means the last. EX_CONFIG when it is neither, or there is no such column; EX_NOINPUT;
 * EX_DATAERR with file and line when the file has another form, a word without a tag, or no words. */
bool xlm_tagged_text_read(xlm_tagged_text *text, const char *path, int language, const char *column, GError **error);

#endif
