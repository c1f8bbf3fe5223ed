/* xlm-mpi: lines of text in one normal form. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A line is normalised in this order:
 *
 *   1. it must be valid UTF-8 (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF)
 *   2. junk is removed: controls (Cc), private use (Co), noncharacters, and U+FFFD, which stands for a character that was lost,
 *      become a space; invisible format characters (Cf: soft hyphen, zero width space, byte order mark, direction marks, ...) are
 *      removed, because they are inside words and would make two words of what a reader sees as one. Format characters that
 *      change what is read are kept: U+200C and U+200D (Persian, Indic scripts, emoji), and those that are visible
 *      (Prepended_Concatenation_Mark). Characters that ICU does not know yet are kept, unless they are to be invisible
 *      (Default_Ignorable_Code_Point)
 *   3. Unicode Normalization Form C
 *   4. if requested, lower case (full mapping, root locale: no Turkish i), and Form C again
 *   5. each run of white space (property White_Space: tab, U+0085, U+00A0, U+2028, U+3000, ...) becomes one U+0020, with none at
 *      the ends
 *
 * A normalised line normalises to itself. Properties of characters are those of the ICU that the program runs with. */
#ifndef XLM_TEXT_NORMALISE_H
#define XLM_TEXT_NORMALISE_H

#include <stdint.h>

#include "base/error.h"

/* Maximum number of bytes of a line, because ICU counts in 32 bits and a line may grow. */
enum { XLM_LINE_MAX = 1 << 26 };

/* Returns the index of the first byte of text[size] that is not valid UTF-8, or `size` if all are valid. If a sequence is cut
 * short or malformed, this is the sequence's first byte. */
size_t xlm_utf8_check(const char *text, size_t size);
/* Is it UTF-8 without a byte 0, so that HDF5 can store it as a text and h5dump can show it? Else EX_DATAERR. what: the kind of
 * text, for the message ("subword"). text: 0-terminated after its `size` bytes. */
bool xlm_utf8_require(const char *what, const char *text, size_t size, GError **error);

/* Is a character removed (rule 2)? Does it become a space (rules 2 and 5)? */
bool xlm_normalise_removes(uint32_t character);
bool xlm_normalise_blanks(uint32_t character);

typedef struct xlm_normaliser xlm_normaliser;

/* lower: also convert to lower case. A normaliser may be used by one thread at a time. EX_SOFTWARE when ICU has no data. */
xlm_normaliser *xlm_normaliser_new(bool lower, GError **error);
/* Where in a text a character of the normalised line comes from: bytes [start, end) of the text. A letter and the marks that Form
 * C combines with it all have the bytes of the whole. The origin of white space is empty, at the beginning of the next
 * character. */
typedef struct xlm_origin {
    uint32_t start, end;
} xlm_origin;

/* Another form of normalised lines, of a segmenter that was published with its own (subwords/segmenter.h). set_language and free
 * may be NULL. */
typedef struct xlm_normaliser_form {
    /* A space at the beginning belongs to the word after it, so a word from the inside of a text must be given with a space. */
    bool keeps_space;
    /* Append the normal form of text[size], which is UTF-8, to `out`, or nothing if the line has no text; and the xlm_origin of
     * each byte to `origins`, unless that is NULL. */
    void (*append)(void *state, const char *text, size_t size, GString *out, GArray *origins);
    /* From now on, lines are in this language; "" for none in particular, as at the beginning. EX_SOFTWARE. */
    bool (*set_language)(void *state, const char *language, GError **error);
    void (*free)(void *state);
} xlm_normaliser_form;

/* form: borrowed. Takes ownership of `state`. */
xlm_normaliser *xlm_normaliser_new_with(const xlm_normaliser_form *form, void *state);
/* Must a word that comes after a space in a text be given with this space (xlm_normaliser_form.keeps_space)? */
bool xlm_normaliser_keeps_space(const xlm_normaliser *normaliser);
/* From now on, lines are in this language, named as in xlm_splitter_new; "" for none in particular. Few forms depend on it.
 * EX_SOFTWARE when ICU has no data. */
bool xlm_normaliser_set_language(xlm_normaliser *normaliser, const char *language, GError **error);
/* NULL is allowed. */
void xlm_normaliser_free(xlm_normaliser *normaliser);

/* Normalise a line. [in] text: [size] bytes; a line end (LF, CR LF) is white space and is removed. [out] *normal: *normal_size
 * bytes, 0-terminated, valid until the next call; it may be empty. Errors: EX_DATAERR, "byte 17: not UTF-8 (0xfc) ...", with
 * bytes counted from 1; the caller adds file and line (g_prefix_error). */
bool xlm_normaliser_run(xlm_normaliser *normaliser, const char *text, size_t size, const char **normal,
                        size_t *normal_size, GError **error);

/* The same with origins. [out] *origins: [*normal_size] for each byte of the normalised line, the origin of its character; valid
 * until the next call. */
bool xlm_normaliser_run_origins(xlm_normaliser *normaliser, const char *text, size_t size, const char **normal,
                                size_t *normal_size, const xlm_origin **origins, GError **error);

/* For forms: append the origin [start, end) for so many bytes of the line, unless origins is NULL. */
void xlm_origins_add(GArray *origins, size_t bytes, size_t start, size_t end);
/* For forms: bytes [start, end) of the text are not in the line, for example a mark that is removed. If they directly follow
 * those of the line's last character, they are added to its origin. */
void xlm_origins_widen(GArray *origins, size_t start, size_t end);
/* One origin that covers n >= 1 origins; if all are empty, the first. */
xlm_origin xlm_origins_join(const xlm_origin *origins, size_t n);

#endif
