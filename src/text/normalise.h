/* xlm-mpi: lines of text in one normal form. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What a normalised line is, in the order in which it comes about:
 *
 *   1. valid UTF-8 (RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF)
 *   2. without junk: controls (Cc), private use (Co), noncharacters, and U+FFFD, which replaces a character that was
 *      lost before, become a space; invisible formatting (Cf: soft hyphen, zero width space, byte order mark, direction
 *      marks, ...) is removed, since it is inside words and would make two words of one that a reader sees. Kept
 *      are the format characters that change what is read: U+200C and U+200D (Persian, Indic scripts, emoji), and those
 *      that are visible (Prepended_Concatenation_Mark). Characters that ICU does not know yet are kept
 *   3. in Unicode Normalization Form C
 *   4. in lower case if asked for (full mapping, root locale: no Turkish i), and in Form C again
 *   5. one U+0020 for each run of white space (property White_Space: tab, U+0085, U+00A0, U+2028, U+3000, ...), none at
 *      the ends
 *
 * A normalised line normalises to itself. Properties of characters are those of the ICU that the program runs with. */
#ifndef XLM_TEXT_NORMALISE_H
#define XLM_TEXT_NORMALISE_H

#include <stdint.h>

#include "base/error.h"

/* Bytes of the longest line that the text floor takes: ICU counts in 32 bits, and a line may grow. */
enum { XLM_LINE_MAX = 1 << 26 };

/* The first byte of text[size] that cannot be part of UTF-8 where it is, or `size` when all is valid. In a sequence
 * that is cut short or malformed it is the sequence's first byte. */
size_t xlm_utf8_check(const char *text, size_t size);
/* Is it UTF-8 without a byte 0, which HDF5 can hold as a text, and h5dump can show? Else EX_DATAERR. what: "subword". text is
 * 0-terminated after its `size` bytes. */
bool xlm_utf8_require(const char *what, const char *text, size_t size, GError **error);

/* Is a character left out, or made a space (rules 2 and 5)? */
bool xlm_normalise_removes(uint32_t character);
bool xlm_normalise_blanks(uint32_t character);

typedef struct xlm_normaliser xlm_normaliser;

/* lower: lower-case too. To be used by one thread at a time. Errors: EX_SOFTWARE when ICU has no data. */
xlm_normaliser *xlm_normaliser_new(bool lower, GError **error);
/* Where in a text a character of the normalised line comes from: its bytes [start, end). A letter and the marks that Form C
 * treats as one with it all have the bytes of the whole. White space has an empty one, where the next character begins. */
typedef struct xlm_origin {
    uint32_t start, end;
} xlm_origin;

/* Another form that lines are brought into: of a segmenter that was published with its own (subwords/segmenter.h). set_language and
 * free may be NULL. */
typedef struct xlm_normaliser_form {
    /* A space at the beginning belongs to the word after it: words inside a text are to be given with one. */
    bool keeps_space;
    /* Append the normal form of text[size], which is UTF-8, to `out`, nothing when the line holds no text; and the xlm_origin of
     * each byte to `origins`, unless that is NULL. */
    void (*append)(void *state, const char *text, size_t size, GString *out, GArray *origins);
    /* Lines are of this language from now on; "" for none in particular, as at the beginning. EX_SOFTWARE. */
    bool (*set_language)(void *state, const char *language, GError **error);
    void (*free)(void *state);
} xlm_normaliser_form;

/* form: borrowed. Takes over `state`. */
xlm_normaliser *xlm_normaliser_new_with(const xlm_normaliser_form *form, void *state);
/* Must a word that comes after a space in a text be given with it? (xlm_normaliser_form.keeps_space) */
bool xlm_normaliser_keeps_space(const xlm_normaliser *normaliser);
/* Lines are of this language from now on, as xlm_splitter_new takes it, "" for none in particular. It matters to few forms.
 * EX_SOFTWARE when ICU has no data. */
bool xlm_normaliser_set_language(xlm_normaliser *normaliser, const char *language, GError **error);
/* NULL is allowed. */
void xlm_normaliser_free(xlm_normaliser *normaliser);

/* [in] text: size bytes, one line; a line end (LF, CR LF) is white space and falls away. [out] *normal: *normal_size
 * bytes, 0-terminated, valid until the next call; it may be empty.
 * Errors: EX_DATAERR, "byte 17: not UTF-8 (0xfc) ...", bytes counted from 1; the caller puts file and line in front
 * (g_prefix_error). */
bool xlm_normaliser_run(xlm_normaliser *normaliser, const char *text, size_t size, const char **normal,
                        size_t *normal_size, GError **error);

/* The same, and [out] *origins: of each byte of the normalised line, the origin of the character that it belongs to; of a space,
 * the empty one where what follows it begins. [*normal_size], valid until the next call. */
bool xlm_normaliser_run_origins(xlm_normaliser *normaliser, const char *text, size_t size, const char **normal,
                                size_t *normal_size, const xlm_origin **origins, GError **error);

/* For forms: append the same origin for so many bytes, unless origins is NULL. */
void xlm_origins_add(GArray *origins, size_t bytes, size_t start, size_t end);
/* For forms: bytes [start, end) of the text are left out of the line, such as a mark that is stripped. The last character of the
 * line takes them, if they follow it at once. */
void xlm_origins_widen(GArray *origins, size_t start, size_t end);
/* The bytes of n >= 1 origins together; the empty one of the first when all are empty. */
xlm_origin xlm_origins_join(const xlm_origin *origins, size_t n);

#endif
