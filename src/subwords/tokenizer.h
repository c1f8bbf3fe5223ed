/* xlm-mpi: from lines of text to ids. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Normalise (text/normalise.h), split into words (text/words.h), both as the segmenter says when it has a way of its own, segment
 * into subwords of the vocabulary (subwords/segmenter.h),
 * look up their ids, and exchange them for their twins when the language is a made one (subwords/vocabulary.h): its text is
 * given in the letters of its base, in its own order of words. No special tokens are added; a character that the
 * vocabulary does not have is its unknown token. The inverse is xlm_vocabulary_decode. */
#ifndef XLM_SUBWORDS_TOKENIZER_H
#define XLM_SUBWORDS_TOKENIZER_H

#include "subwords/vocabulary.h"
#include "text/normalise.h"

typedef struct xlm_tokenizer xlm_tokenizer;

/* vocabulary: borrowed for as long as the tokenizer lives. The tokenizer remembers words that it has seen (up to a
 * bounded size). To be used by one thread at a time. Errors: EX_SOFTWARE when ICU has no data. */
xlm_tokenizer *xlm_tokenizer_new(const xlm_vocabulary *vocabulary, GError **error);
/* NULL is allowed. */
void xlm_tokenizer_free(xlm_tokenizer *tokenizer);

const xlm_vocabulary *xlm_tokenizer_vocabulary(const xlm_tokenizer *tokenizer);

/* Append the ids of a line to `ids` (of int32_t). language: id of the vocabulary's languages, which decides on word
 * boundaries; -1 for none in particular. [out] *words: how many words the line has; may be NULL.
 * Errors: EX_DATAERR, "byte 17: not UTF-8 ...", to be prefixed with file and line; then ids are as they were. */
bool xlm_tokenizer_encode(xlm_tokenizer *tokenizer, int language, const char *line, size_t size, GArray *ids,
                          size_t *words, GError **error);

/* The same for one word of a sentence whose words are given singly, so that it is cut as in the sentence. inside: a space goes
 * before it, so it is not the first. */
bool xlm_tokenizer_encode_word(xlm_tokenizer *tokenizer, int language, bool inside, const char *word, size_t size, GArray *ids,
                               size_t *words, GError **error);

/* The words of a normalised line; where the segmenter takes lines, the line as one. [out] *words: n of them, valid until the next
 * call for any line. A synthetic language's line is split as its base's. Errors: EX_SOFTWARE. */
bool xlm_tokenizer_words(xlm_tokenizer *tokenizer, int language, const char *line, size_t size, const xlm_word **words,
                         size_t *n, GError **error);
/* Append the ids of n words of a line, in the order given; twins when the language writes in them. */
void xlm_tokenizer_encode_words(xlm_tokenizer *tokenizer, int language, const char *line, const xlm_word *words, size_t n,
                                GArray *ids);

/* How many words the ids of n words of one line, which the two functions above returned, are: n words, but of a segmenter that
 * takes lines those that its marks tell apart. */
size_t xlm_tokenizer_count_words(const xlm_tokenizer *tokenizer, const int32_t *ids, size_t size, size_t n);

/* A subword of a text, and which bytes [start, end) of the text it was made of; those of a twin, too. */
typedef struct xlm_located_subword {
    int32_t id;
    uint32_t start, end;
} xlm_located_subword;

/* xlm_tokenizer_encode, with places: append to `subwords` (of xlm_located_subword). The text may have several lines. Each has the
 * characters that it was made of: subwords made from the same character of the text have the same place, white space belongs to
 * none, and a subword of white space alone has an empty place, its end is its start. Places rise, but where the segmenter's rules
 * of text have exchanged marks (XLM: `",`). Slower: no word is remembered. EX_SOFTWARE when the library that segments does not
 * say enough of its work. */
bool xlm_tokenizer_locate(xlm_tokenizer *tokenizer, int language, const char *text, size_t size, GArray *subwords,
                          GError **error);

#endif
