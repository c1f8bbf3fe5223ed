/* xlm-mpi: cutting text into pieces by SentencePiece, with their places. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The library says where in a text a piece begins and ends. But when one character becomes several pieces (U+00BD, a half,
 * becomes three), it gives the place to the last of them only; here all of them get it. For that, the text is normalised again as
 * the library does it: at each place the longest user-defined piece is kept; otherwise the longest text in the model's character
 * map is replaced; otherwise a character is copied. Spaces are then folded, which moves no other character.
 *
 * A run of unknown characters is one unknown piece. The library takes time quadratic in the length of a run, so a line with a run
 * of more than XLM_PIECES_RUN bytes is passed to it in parts, whose pieces are joined here. A part ends between two characters
 * that no piece of the model covers at that place of the line, so the pieces are the same. */
#ifndef XLM_SENTENCEPIECE_CUT_H
#define XLM_SENTENCEPIECE_CUT_H

#include "sentencepiece/library.h"
#include "sentencepiece/model.h"
#include "text/normalise.h"

enum { XLM_PIECES_RUN = 4096 };

/* How a model normalises text, and which characters its pieces have. */
typedef struct xlm_piece_rules xlm_piece_rules;
/* Of a model that xlm_sentencepiece_pieces has read: its form, whose map is borrowed, and its pieces, borrowed. */
xlm_piece_rules *xlm_piece_rules_new(const xlm_model_form *form, const GArray *pieces);
/* NULL is allowed. */
void xlm_piece_rules_free(xlm_piece_rules *rules);

/* A text cut into pieces. */
typedef struct xlm_cut {
    GString *pieces; /* between single spaces */
    /* All three NULL if places are not needed: */
    GString *normal; /* the normalised text that they were cut from */
    GArray *ends;    /* uint32_t: the end of each piece in normal */
    GArray *origins; /* xlm_origin of each byte of normal; that of a mark is empty, at the beginning of the next character */
} xlm_cut;
xlm_cut *xlm_cut_new(bool located);
/* NULL is allowed. */
void xlm_cut_free(xlm_cut *cut);
void xlm_cut_clear(xlm_cut *cut);

/* The end of a part, and the beginning of the next one: there, or a little before, because the mark that the library puts before
 * a part may form a piece with its first characters. */
typedef struct xlm_cut_place {
    size_t end, start; /* bytes of the text */
    size_t skip;       /* bytes of normalised text from start to end */
} xlm_cut_place;

/* The places between the parts of text[size]: in a run of unknown characters, one after every `longest` bytes or a few more.
 * g_array_unref. */
GArray *xlm_cut_places(const xlm_piece_rules *rules, const char *text, size_t size, size_t longest);
/* Cut text[size] part by part. `cut` must be empty. */
void xlm_cut_text(const xlm_piece_rules *rules, const xlm_sentencepiece *library, const char *text, size_t size, size_t longest,
                  xlm_cut *cut);
/* Find the origins of the pieces that xlm_cut_text has made of text[size]. False when the library has normalised the text
 * differently. */
bool xlm_cut_locate(const xlm_piece_rules *rules, const char *text, size_t size, xlm_cut *cut);

#endif
