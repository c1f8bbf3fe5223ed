/* xlm-mpi: what the files of the segmenter SentencePiece share. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   sentencepiece.c          the class: lines, learning, files, segmenting
 *   sentencepiece_pieces.c   the model in memory
 *   sentencepiece_adopt.c    tokenizers as they are published, into models
 *   sentencepiece_publish.c  and back
 *   sentencepiece_change.c   models with fewer and more pieces
 *   sentencepiece_albert.c   ALBERT's rules of text around it
 *   sentencepiece_cut.c      text into pieces, and where in it they are
 *   sentencepiece_model.c    the file of a model
 *   sentencepiece_library.cc the library, which is C++ */
#ifndef XLM_SUBWORDS_SENTENCEPIECE_H
#define XLM_SUBWORDS_SENTENCEPIECE_H

#include "subwords/segmenter.h"
#include "subwords/sentencepiece_albert.h"
#include "subwords/sentencepiece_cut.h"
#include "subwords/sentencepiece_library.h"
#include "subwords/sentencepiece_model.h"

#define XLM_PIECE_SPACE "\xe2\x96\x81" /* U+2581, in front of a word */

/* The `model` of the class. */
typedef struct xlm_pieces {
    GString *bytes;
    GArray *pieces; /* xlm_model_piece, by its own ids */
    xlm_sentencepiece *library;
    xlm_piece_rules *rules;
    bool is_albert; /* text is brought into another form before, by these rules */
    xlm_albert_text albert;
} xlm_pieces;

/* Takes over bytes. NULL with EX_DATAERR, without the name of a file. */
xlm_pieces *xlm_pieces_new(GString *bytes, GError **error);
void xlm_pieces_free(void *model);
xlm_segmenter_spelling xlm_pieces_spell;

static inline const xlm_model_piece *xlm_pieces_at(const xlm_pieces *model, guint i)
{
    return &g_array_index(model->pieces, xlm_model_piece, i);
}

/* Functions of the class (subwords/segmenter.h). */
void *xlm_sentencepiece_adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error);
void xlm_sentencepiece_publish(const xlm_vocabulary *vocabulary, json_t *files, json_t *settings, GString *notes);
void *xlm_sentencepiece_reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error);
char *xlm_sentencepiece_whole(const void *model, const char *word);
void *xlm_sentencepiece_enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                                xlm_word_counts *added, GError **error);

extern const xlm_segmenter_class xlm_segmenter_sentencepiece;

#endif
