/* xlm-mpi: text cut into pieces by SentencePiece, with places. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The library says where in a text a piece begins and ends, but where several pieces are made of one character (U+00BD, a half,
 * becomes three) it gives that to the last of them alone. Here each of them has it. For that the text is normalised once more, as
 * the library does it: at each place the longest piece that was given by the user stays as it is; else the longest text of the
 * model's character map is replaced; else a character is copied. Spaces are then folded, which moves no other character.
 *
 * A run of unknown characters is one unknown piece. The library puts it together in time that grows with the square of its
 * length, so a line with a run of more than XLM_PIECES_RUN bytes is given to it in parts, which are put together here. A part
 * ends between two characters that are in no piece of the model where it occurs in the line, so the pieces are the same. */
#ifndef XLM_SENTENCEPIECE_CUT_H
#define XLM_SENTENCEPIECE_CUT_H

#include "sentencepiece/library.h"
#include "sentencepiece/model.h"
#include "text/normalise.h"

enum { XLM_PIECES_RUN = 4096 };

/* How a model normalises text, and which characters its pieces know. */
typedef struct xlm_piece_rules xlm_piece_rules;
/* bytes[size], a model that xlm_sentencepiece_pieces has read, and its pieces, are borrowed. */
xlm_piece_rules *xlm_piece_rules_new(const char *bytes, size_t size, const GArray *pieces);
/* NULL is allowed. */
void xlm_piece_rules_free(xlm_piece_rules *rules);

/* A text cut into pieces. */
typedef struct xlm_cut {
    GString *pieces; /* between single spaces */
    /* All three NULL if places are not needed: */
    GString *normal; /* what they were cut from */
    GArray *ends;    /* uint32_t: where each ends in normal */
    GArray *origins; /* xlm_origin, of each byte of normal; of marks of words, the empty one where the next character begins */
} xlm_cut;
xlm_cut *xlm_cut_new(bool located);
/* NULL is allowed. */
void xlm_cut_free(xlm_cut *cut);
void xlm_cut_clear(xlm_cut *cut);

/* Where a part ends, and where the next one begins: there, or a little before, since the mark that the library puts in front of
 * it may make a piece with its first characters. */
typedef struct xlm_cut_place {
    size_t end, start; /* bytes of the text */
    size_t skip;       /* bytes of normalised text from start to end */
} xlm_cut_place;

/* The parts of text[size], as the places between them: in a run of unknown characters one after every `longest` bytes or a few
 * more. g_array_unref. */
GArray *xlm_cut_places(const xlm_piece_rules *rules, const char *text, size_t size, size_t longest);
/* Cut text[size], part by part, into an empty `cut`. */
void xlm_cut_text(const xlm_piece_rules *rules, const xlm_sentencepiece *library, const char *text, size_t size, size_t longest,
                  xlm_cut *cut);
/* Find the origins of what xlm_cut_text has made of text[size]. False when the library has normalised it otherwise. */
bool xlm_cut_locate(const xlm_piece_rules *rules, const char *text, size_t size, xlm_cut *cut);

#endif
