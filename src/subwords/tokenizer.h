/* xlm-mpi: from lines of text to ids. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A tokenizer normalises lines (text/normalise.h) and splits them into words (text/words.h), both in the segmenter's own way if
 * it has one; segments words into subwords of the vocabulary (subwords/segmenter.h); and looks up their ids. For a synthetic
 * language (subwords/vocabulary.h), whose text is given in the letters of its base and in its own word order, it replaces ids by
 * those of twins. If languages have tokens (xlm/special_tokens.h), it puts that of its language before the ids of a line.
 * It adds no special tokens. A character that the vocabulary does not have becomes the unknown token. The inverse
 * is xlm_vocabulary_decode. */
#ifndef XLM_SUBWORDS_TOKENIZER_H
#define XLM_SUBWORDS_TOKENIZER_H

#include "subwords/vocabulary.h"
#include "text/normalise.h"

typedef struct xlm_tokenizer xlm_tokenizer;

/* vocabulary: borrowed as long as the tokenizer lives. The tokenizer remembers words that it has seen (up to a bounded size). It
 * may be used by one thread at a time. Errors: EX_SOFTWARE when ICU has no data. */
xlm_tokenizer *xlm_tokenizer_new(const xlm_vocabulary *vocabulary, GError **error);
/* NULL is allowed. */
void xlm_tokenizer_free(xlm_tokenizer *tokenizer);

/* Use these splitters, one for each of the first n languages of the vocabulary and in its word mode, rather than new ones, which
 * would have to divide again what these remember. Borrowed as long as the tokenizer lives. */
void xlm_tokenizer_lend_splitters(xlm_tokenizer *tokenizer, xlm_splitter *const *splitters, int n);

const xlm_vocabulary *xlm_tokenizer_vocabulary(const xlm_tokenizer *tokenizer);

/* Append the ids of a line to `ids` (of int32_t). language: id of a language of the vocabulary, which determines word boundaries;
 * -1 for none in particular. [out] words: number of words in the line; may be NULL. Errors: EX_DATAERR, "byte 17: not UTF-8 ...",
 * to be prefixed with file and line; ids are unchanged then. */
bool xlm_tokenizer_encode(xlm_tokenizer *tokenizer, int language, const char *line, size_t size, GArray *ids,
                          size_t *words, GError **error);

/* Append the token of the language, with which a text begins, to `ids`, if languages have tokens. xlm_tokenizer_encode does this
 * for lines that have any ids; the functions below do not. */
void xlm_tokenizer_begin(const xlm_tokenizer *tokenizer, int language, GArray *ids);

/* The same for one word of a sentence whose words are given separately, so that it is cut as in the sentence. inside: it is not
 * the first word, so a space comes before it. */
bool xlm_tokenizer_encode_word(xlm_tokenizer *tokenizer, int language, bool inside, const char *word, size_t size, GArray *ids,
                               size_t *words, GError **error);

/* The words of a normalised line; if the segmenter segments lines, the line counts as one word. [out] words: n of them, valid
 * until the next call for any line. A line of a synthetic language is split like its base language. Errors: EX_SOFTWARE. */
bool xlm_tokenizer_words(xlm_tokenizer *tokenizer, int language, const char *line, size_t size, const xlm_word **words,
                         size_t *n, GError **error);
/* Append the ids of n words of a line, in the given order; those of twins if the language has them. */
void xlm_tokenizer_encode_words(xlm_tokenizer *tokenizer, int language, const char *line, const xlm_word *words, size_t n,
                                GArray *ids);

/* Warn if more than one in twenty of a text's subwords are the unknown token, as all words are in a script that the vocabulary
 * was not made of. text: its name, for the message. The second takes the subwords that the tokenizer has made since its last call,
 * before ids were replaced by those of twins. */
void xlm_warn_unknown(const char *text, int64_t subwords, int64_t unknown);
void xlm_tokenizer_warn_unknown(xlm_tokenizer *tokenizer, const char *text);

/* The number of words in ids [n], which one of the two functions above has made from one line of `words` words. For a segmenter
 * of lines, its marks separate words, and `words` does not matter. */
size_t xlm_tokenizer_count_words(const xlm_tokenizer *tokenizer, const int32_t *ids, size_t n, size_t words);

/* A subword of a text, or its twin, and the bytes [start, end) of the text that it was made from. */
typedef struct xlm_located_subword {
    int32_t id;
    uint32_t start, end;
} xlm_located_subword;

/* xlm_tokenizer_encode with places: append to `subwords` (of xlm_located_subword). The text may have several lines. The place of
 * a subword is that of the characters that it was made from: subwords made from the same character have the same place, white
 * space belongs to no subword, and a subword of white space alone has an empty place, whose end is its start. Places ascend,
 * except where the segmenter's text rules have swapped punctuation marks (XLM: `",`). This is slower, because no word is
 * remembered. EX_SOFTWARE when the segmenting library does not provide enough information. */
bool xlm_tokenizer_locate(xlm_tokenizer *tokenizer, int language, const char *text, size_t size, GArray *subwords,
                          GError **error);

#endif
