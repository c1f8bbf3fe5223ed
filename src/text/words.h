/* xlm-mpi: normalised lines split into words. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two modes:
 *   icu    at word boundaries of Unicode (UAX #29) as ICU tailors them for the language; Thai, Lao, Khmer, Burmese, Chinese and
 *          Japanese by ICU's dictionaries. Punctuation marks and symbols are words of their own, except that @ is a letter, as in
 *          ICU 72, whatever the version of ICU is
 *   space  at spaces, for text that is already tokenised
 *
 * In both, every byte of the line that is not a space is in exactly one word. A splitter remembers how it has divided runs of
 * Chinese, Japanese and Korean characters, in memory that is bounded, because the dictionaries take most of the time. */
#ifndef XLM_TEXT_WORDS_H
#define XLM_TEXT_WORDS_H

#include <stdint.h>

#include "base/error.h"
#include "text/word.h"

typedef enum { XLM_WORDS_ICU, XLM_WORDS_SPACE } xlm_word_mode;

/* "icu" or "space", as in options and in files. */
const char *xlm_word_mode_name(xlm_word_mode mode);
/* False when there is no mode of this name. */
bool xlm_word_mode_find(const char *name, xlm_word_mode *mode);

/* Is a character white space for Python's str.split(): property White_Space, or U+001C ... U+001F? Metrics that are defined by
 * scripts in Python separate words there. */
bool xlm_is_white_space(uint32_t character);

/* The next word of a line, from byte *at on. Words are separated by blanks (space, tab, CR, vertical tab, form feed). Returns its
 * size, 0 when there is none. [in, out] at: becomes the end of the word. [out] word: its beginning in the line. */
size_t xlm_word_between_blanks(const char *line, size_t size, size_t *at, const char **word);

typedef struct xlm_splitter xlm_splitter;

/* [in] language: BCP 47 or ICU name of the language ("de", "zh", "pt-BR"); "" or NULL for none in particular, whose rules are
 * also used for languages that ICU does not know. Mode space ignores it. A splitter may be used by one thread at a time.
 * EX_SOFTWARE when ICU has no rules. */
xlm_splitter *xlm_splitter_new(xlm_word_mode mode, const char *language, GError **error);
/* NULL is allowed. */
void xlm_splitter_free(xlm_splitter *splitter);

/* [in] line: [size] bytes that xlm_normaliser_run has returned, size <= XLM_LINE_MAX. Returns the *n words in order, valid until
 * the next call. */
const xlm_word *xlm_splitter_split(xlm_splitter *splitter, const char *line, size_t size, size_t *n);

/* Splits a text into sentences, at sentence boundaries of Unicode (UAX #29) as ICU tailors them for the language. It does not
 * know abbreviations: "Dr. Smith" may become two sentences. */
typedef struct xlm_sentence_splitter xlm_sentence_splitter;

/* [in] language: as in xlm_splitter_new. May be used by one thread at a time. EX_SOFTWARE when ICU has no rules. */
xlm_sentence_splitter *xlm_sentence_splitter_new(const char *language, GError **error);
/* NULL is allowed. */
void xlm_sentence_splitter_free(xlm_sentence_splitter *splitter);

/* [in] text: UTF-8, size <= XLM_LINE_MAX. Returns the *n sentences in order, which together are the whole text, including white
 * space at their ends; valid until the next call. EX_SOFTWARE. */
const xlm_word *xlm_sentence_splitter_split(xlm_sentence_splitter *splitter, const char *text, size_t size, size_t *n,
                                            GError **error);

#endif
