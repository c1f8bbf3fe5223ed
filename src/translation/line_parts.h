/* xlm-mpi: lines of text as sentences that a model can encode. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line is one sentence, as in a corpus. A line that is too long for the model is divided at its sentence ends
 * (text/words.h), and, if asked for, a sentence that is too long for the model between two words. */
#ifndef XLM_TRANSLATION_LINE_PARTS_H
#define XLM_TRANSLATION_LINE_PARTS_H

#include "subwords/tokenizer.h"
#include "text/words.h"

/* What is done with a line that is too long: it is divided at sentence ends, and refused if a sentence is too long; the same, but
 * such a sentence is cut between words; it is refused. */
typedef enum { XLM_LONG_SPLIT, XLM_LONG_CUT, XLM_LONG_REFUSE } xlm_long_lines;

/* Sentences of lines. */
typedef struct xlm_line_parts {
    GArray *ids;     /* int32_t */
    GArray *offsets; /* int64_t [parts + 1] ids of each part; a part has at least one */
    GArray *first;   /* int64_t [lines + 1] parts of each line; a line without subwords has none */
    GArray *words;   /* int32_t, for each id the number of its word in the line, words being what is between blanks; NULL: not asked
                      * for */
    int64_t divided; /* lines that were too long */
} xlm_line_parts;

xlm_line_parts *xlm_line_parts_new(bool words);
/* Without lines again. */
void xlm_line_parts_reset(xlm_line_parts *parts);
/* NULL is allowed. */
void xlm_line_parts_free(xlm_line_parts *parts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(xlm_line_parts, xlm_line_parts_free)

/* How lines are encoded; borrowed. */
typedef struct xlm_line_encoder {
    xlm_tokenizer *tokenizer;
    xlm_sentence_splitter *sentences;
    int language;         /* id, or -1: none in particular */
    int64_t longest;      /* maximum number of ids of a sentence, at least 1, and 2 if the language has a token */
    xlm_long_lines long_lines;
} xlm_line_encoder;

/* Add a line, without its line end. Errors, which the caller puts file and line in front of: EX_DATAERR: not UTF-8, too long. */
bool xlm_line_parts_add(xlm_line_parts *parts, const xlm_line_encoder *encoder, const char *line, size_t size, GError **error);

#endif
