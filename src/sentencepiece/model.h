/* xlm-mpi: model files of SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model is a message of Protocol Buffers (sentencepiece_model.proto). These of its fields are read here:
 *
 *   1  pieces (repeated): 1 text, 2 score (f32), 3 kind (1 normal, 2 unknown, 3 control, 4 given by the user, 5 unused, 6 byte)
 *   2  trainer: 3 type (1 unigram, 2 byte pairs, 3 word, 4 character), 24 white space as suffix, 35 unknown characters as bytes
 *   3  normaliser: 2 character map, 3 a space before the text, 4 fold spaces, 5 escape white space (as U+2581)
 *   5  denormaliser, which turns pieces into text: the same fields
 *
 * The library checks none of this, and reads beyond the ends of a wrong character map, so files are checked here first. A
 * character map is a 32-bit size, a trie of 32-bit units (a double array of Darts-clone), and 0-terminated texts that its leaves
 * point to. */
#ifndef XLM_SENTENCEPIECE_MODEL_H
#define XLM_SENTENCEPIECE_MODEL_H

#include <stdint.h>

#include "base/error.h"

enum { XLM_PIECE_NORMAL = 1, XLM_PIECE_UNKNOWN, XLM_PIECE_CONTROL, XLM_PIECE_GIVEN, XLM_PIECE_UNUSED, XLM_PIECE_BYTE };

typedef struct xlm_model_piece {
    char *text;
    float score;
    int kind;
} xlm_model_piece;

/* The pieces (xlm_model_piece, by id) of a model that is safe for the library. g_array_unref. EX_DATAERR, "byte 17: ..." or what
 * is wrong with the model; the caller puts the file's name before it. */
GArray *xlm_sentencepiece_pieces(const char *bytes, size_t size, GError **error);
GArray *xlm_sentencepiece_new_pieces(void);

enum { XLM_PIECES_UNIGRAM = 1, XLM_PIECES_PAIRS = 2 };

/* What a model says besides its pieces. */
typedef struct xlm_model_form {
    int64_t type;      /* XLM_PIECES_... */
    bool space_first;  /* a space is put before the text */
    bool one_space;    /* at most one space between words, and none at the ends */
    bool bytes;        /* an unknown character becomes the pieces of its bytes, "<0xE2>" and so on; there are all 256 */
    const char *map;   /* the character map, of map_size bytes; 0: none */
    size_t map_size;
} xlm_model_form;

/* Of a model that xlm_sentencepiece_pieces has read; the map is within `bytes`. */
xlm_model_form xlm_sentencepiece_form(const char *bytes, size_t size);
/* Maximum number of bytes at the beginning of text[size] that such a map replaces; 0: none. [out] output: the replacement,
 * 0-terminated. */
size_t xlm_sentencepiece_map_match(const char *map, size_t map_size, const char *text, size_t size, const char **output);
/* The same model with only those of its pieces that keep[pieces] selects, and n more after them; everything else is copied.
 * g_string_free. */
GString *xlm_sentencepiece_change(const char *bytes, size_t size, const uint8_t *keep, const xlm_model_piece *more, size_t n);

/* The file of a model of n pieces. The character map is not checked. g_string_free. */
GString *xlm_sentencepiece_write(const xlm_model_piece *pieces, size_t n, const xlm_model_form *form);

#endif
