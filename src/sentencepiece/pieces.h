/* xlm-mpi: a model of SentencePiece in memory. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   model.c     the file of a model
 *   library.cc  the library, which is C++
 *   cut.c       text into pieces, and where in it they are
 *   albert.c    ALBERT's rules of text around it */
#ifndef XLM_SENTENCEPIECE_PIECES_H
#define XLM_SENTENCEPIECE_PIECES_H

#include <string.h>

#include <glib.h>

#include "sentencepiece/albert.h"
#include "sentencepiece/cut.h"
#include "sentencepiece/library.h"
#include "sentencepiece/model.h"

#define XLM_PIECE_SPACE "\xe2\x96\x81" /* U+2581, before a word */

/* The byte that a piece of the name "<0xE2>" stands for; -1: it is another piece. */
static inline int xlm_piece_byte(const char *text)
{
    return strlen(text) == 6 && g_str_has_prefix(text, "<0x") && text[5] == '>' && g_ascii_isxdigit(text[3]) &&
                   g_ascii_isxdigit(text[4]) && !g_ascii_islower(text[3]) && !g_ascii_islower(text[4])
               ? g_ascii_xdigit_value(text[3]) << 4 | g_ascii_xdigit_value(text[4])
               : -1;
}

typedef struct xlm_pieces {
    GString *bytes;
    GArray *pieces; /* xlm_model_piece, by the model's own ids */
    xlm_model_form form;
    xlm_sentencepiece *library;
    xlm_piece_rules *rules;
    bool is_albert; /* text is first changed by these rules */
    xlm_albert_text albert;
} xlm_pieces;

/* Takes ownership of bytes. NULL with EX_DATAERR, without the name of a file. */
xlm_pieces *xlm_pieces_new(GString *bytes, GError **error);
/* An xlm_pieces, not NULL. */
/* NULL is allowed. */
void xlm_pieces_free(void *model);

/* Text -> const xlm_model_piece *, borrowed; of equal texts the last. g_hash_table_unref. */
GHashTable *xlm_pieces_by_text(const xlm_pieces *model);
static inline const xlm_model_piece *xlm_pieces_at(const xlm_pieces *model, guint i)
{
    return &g_array_index(model->pieces, xlm_model_piece, i);
}

#endif
