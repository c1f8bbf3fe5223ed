/* xlm-mpi: functions shared by the files of the segmenter SentencePiece. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   sentencepiece.c          the class: lines, learning, files, segmenting; its `model` is an xlm_pieces (sentencepiece/pieces.h)
 *   sentencepiece_adopt.c    tokenizers as they are published, into models
 *   sentencepiece_pairs.c    tokenizer.json of byte pairs, such as Gemma's, into models and back
 *   sentencepiece_ids.c      ids of pieces in vocabularies
 *   sentencepiece_marian.c   tokenizers of Marian, with a model for each side, into models and back
 *   sentencepiece_languages.c  tokenizers whose languages have tokens, such as NLLB's, into models and back
 *   sentencepiece_publish.c  and back
 *   sentencepiece_change.c   models with fewer and more pieces */
#ifndef XLM_SUBWORDS_SENTENCEPIECE_H
#define XLM_SUBWORDS_SENTENCEPIECE_H

#include <string.h>

#include "sentencepiece/pieces.h"
#include "subwords/vocabulary.h"

/* Functions of the class (subwords/segmenter.h). */

/* A word of several pieces begins with the mark, or with several after a run of spaces. */
static inline xlm_word_mark xlm_pieces_spell(const void *model, const char *subword, GString *out)
{
    (void)model;
    const char *text = subword;
    while (g_str_has_prefix(text, XLM_PIECE_SPACE))
        text += strlen(XLM_PIECE_SPACE);
    if (out != NULL)
        g_string_append(out, text);
    return text > subword ? XLM_MARKS_BEGIN : XLM_MARKS_NOTHING;
}

/* Is there a tokenizer.json of byte pairs that writes unknown characters as bytes? */
bool xlm_sentencepiece_is_pairs(const xlm_tokenizer_files *files);
/* usual: see xlm_published_tokens_find_special. An xlm_pieces; NULL with EX_DATAERR. */
void *xlm_sentencepiece_adopt_pairs(const xlm_tokenizer_files *files, xlm_published_tokens *tokens,
                                  const char *const usual[XLM_SPECIAL_TOKENS], GError **error);
/* A new tokenizer.json; NULL: the model maps characters or folds spaces, which a tokenizer of byte pairs there does not. */
json_t *xlm_sentencepiece_print_pairs(const xlm_vocabulary *vocabulary, const xlm_pieces *model);

/* Give the pieces of a .model fairseq's ids: four special tokens, which replace the model's first three, then all other pieces, one
 * further on. */
bool xlm_sentencepiece_number_as_fairseq(const GArray *pieces, const xlm_tokenizer_files *files, const char *name,
                                         xlm_published_tokens *tokens, GError **error);
/* Does the vocabulary have the pieces from `first` on, `shift` ids further on? Bytes at the end may have no id. */
bool xlm_sentencepiece_has_pieces(const xlm_vocabulary *vocabulary, const xlm_pieces *model, guint first, guint shift);

/* Is there a model of SentencePiece for each side, as Marian's models have them? Its files, both ways, as below; publishing, a note
 * instead of them if there are more than two languages; false: the vocabulary has one model for all languages. */
bool xlm_sentencepiece_is_marian(const xlm_tokenizer_files *files);
void *xlm_sentencepiece_adopt_marian(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error);
bool xlm_sentencepiece_publish_marian(const xlm_vocabulary *vocabulary, const xlm_pieces *source, json_t *files,
                                      json_t *settings, GString *notes);

/* The form of the tokens of languages in these files; NULL: languages have none. */
const char *xlm_sentencepiece_language_form(const xlm_tokenizer_files *files);
/* The ids of such a tokenizer, whose pieces are those of the file `name`. EX_DATAERR. */
bool xlm_sentencepiece_number_languages(const GArray *pieces, const xlm_tokenizer_files *files, const char *name,
                                        xlm_published_tokens *tokens, GError **error);
/* <s> becomes the token that the decoder begins with: that which config.json names, or else this one. After
 * xlm_published_tokens_find_special. */
void xlm_sentencepiece_find_begin(const xlm_tokenizer_files *files, xlm_special usual, xlm_published_tokens *tokens);
/* The files of such a tokenizer, or a note that none of them can have these ids; false: languages have no tokens. */
bool xlm_sentencepiece_publish_languages(const xlm_vocabulary *vocabulary, const xlm_pieces *model, json_t *files,
                                         json_t *settings, GString *notes);

void *xlm_sentencepiece_adopt(const xlm_tokenizer_files *files, xlm_published_tokens *tokens, GError **error);
void xlm_sentencepiece_publish(const xlm_vocabulary *vocabulary, json_t *files, json_t *settings, GString *notes);
void *xlm_sentencepiece_reduce(const void *model, const xlm_word_counts *subwords, xlm_word_counts *kept, GError **error);
char *xlm_sentencepiece_whole(const void *model, const char *word);
void *xlm_sentencepiece_enlarge(const void *model, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                                xlm_word_counts *added, GError **error);

extern const xlm_segmenter_class xlm_segmenter_sentencepiece;

#endif
