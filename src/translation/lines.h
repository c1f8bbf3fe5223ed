/* xlm-mpi: lines of text translated into lines of text. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A block of lines is encoded (translation/line_parts.h), translated (translation/translate.h) and written: subwords are joined into
 * words, with single spaces between them (xlm_vocabulary_decode). The parts of a line that was divided are joined by a space. */
#ifndef XLM_TRANSLATION_LINES_H
#define XLM_TRANSLATION_LINES_H

#include "translation/line_parts.h"
#include "translation/translate.h"

/* Lines, each with its LF. */
typedef struct xlm_line_block {
    const char *name;   /* of the file, for messages */
    int64_t number;     /* of the first line in it, from 1 */
    int64_t before;     /* number of lines of all files before */
    const char *text;
    size_t size;
} xlm_line_block;

/* What is written of a line: `number<tab>score<tab>text`. */
typedef struct xlm_line_columns {
    bool numbers; /* the number of the line, from 1 in the first file on */
    bool scores;  /* the score of the translation */
} xlm_line_columns;

/* What was translated so far. */
typedef struct xlm_line_counts {
    int64_t lines, parts, ids, unknown; /* ids of the lines, and those of them that are <unk> */
    int64_t written, divided, empty;    /* ids written; lines that were divided; translations without a word, of lines with some */
} xlm_line_counts;

typedef struct xlm_line_translator {
    xlm_translator translator; /* with links if an alignment is asked for */
    xlm_line_encoder encoder;
    int32_t from, to;          /* language ids */
    xlm_line_columns form;
    xlm_line_counts counts;
    xlm_line_parts *parts;     /* with words if an alignment is asked for */
} xlm_line_translator;

/* What a block has: so many lines for each rank, unless the user says otherwise, of which none begins after so many bytes. These are
 * enough for the lines of any number of ranks if they have 256 bytes on average. */
enum { XLM_LINE_BLOCK_LINES = 1024 };
size_t xlm_line_block_bytes(int ranks);

/* Encode the lines of a block into `parts`, and translate nothing. Errors: EX_DATAERR with file and line. */
bool xlm_line_block_encode(xlm_line_translator *lines, const xlm_line_block *block, GError **error);

/* Collective, with the same block on all ranks. Append to `text` one line for each of the translations of a line, n_best or fewer,
 * at least one; and to `alignment` the links between words of the line and of the translation (aligners/link_file.h). Both may be
 * NULL, on ranks that do not write. Errors: EX_DATAERR with file and line, the same on all ranks. */
bool xlm_line_block_translate(xlm_line_translator *lines, const xlm_line_block *block, GString *text, GString *alignment,
                              GError **error);

#endif
