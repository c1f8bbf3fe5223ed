/* xlm-mpi: the line that rules of Moses change, character by character. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   moses_line.c         its characters, and rules that are tables
 *   moses_punctuation.c  steps 1 to 4 (text/moses.h)
 *   moses_words.c        steps 5 to 7, and words by ICU
 *   moses.c              step 8, languages and their abbreviations, the normaliser */
#ifndef XLM_TEXT_MOSES_LINE_H
#define XLM_TEXT_MOSES_LINE_H

#include <unicode/unorm2.h>

#include "text/normalise.h"
#include "text/words.h"

/* A character, and which bytes [start, end) of the line it is of. */
typedef struct moses_letter {
    UChar32 c;
    uint32_t start, end;
} moses_letter;

typedef struct moses {
    bool lower;
    const GPtrArray *abbreviations;
    char *name;              /* of the language, as it was set */
    char language[16];       /* its first part in lower case: "pt" of "pt-BR" */
    GHashTable *listed;      /* its abbreviations -> GINT_TO_POINTER(in front of numbers alone) */
    bool korean;
    xlm_splitter *splitter;  /* NULL: steps 5 to 7 */
    const UNormalizer2 *form_d;
    GArray *text, *other;    /* moses_letter: the line at hand, and what a rule makes of it */
    uint64_t ascii[2], rest; /* characters that it may have: bits of those of ASCII, and of the others by a hash */
    GString *bytes;
} moses;

/* A character that replaces each full stop of several in a row: a control, which step 3 has removed from text. */
enum { ONE_OF_FULL_STOPS = 1 };

/* ---- characters ---- */

bool moses_is_alphabetic(const moses *m, UChar32 c);
bool moses_is_digit(UChar32 c);
bool moses_is_number(UChar32 c);
/* Is the language of the line one of these, "de es fr"? */
bool moses_speaks(const moses *m, const char *languages);

/* ---- the line ---- */

static inline moses_letter *moses_letters(const moses *m) { return (moses_letter *)(void *)m->text->data; }

void moses_read(moses *m, const char *line, size_t size);
/* The line may have this character from now on; may it? */
void moses_note(moses *m, UChar32 c);
bool moses_may_have(const moses *m, UChar32 c);
/* Append a character to what becomes of the line, in the place of those from `first` up to `last`; a space before one; those from
 * `from` up to `to` as they are. widen: the last character but spaces takes the bytes of one that is left
 * out, if it is next to it in the line. take_other: that is the line now. */
void moses_put(moses *m, UChar32 c, const moses_letter *first, const moses_letter *last);
void moses_widen(moses *m, const moses_letter *left_out);
void moses_put_space(moses *m, const moses_letter *before);
void moses_copy(moses *m, guint from, guint to);
void moses_take_other(moses *m);
/* Several spaces become one; white space at the ends is left out. */
void moses_make_one_space(moses *m);
void moses_strip(moses *m);

/* ---- rules: a text where it is between characters of some kinds, and what becomes of it ---- */

typedef enum {
    ANY, /* and none */
    DIGIT,
    NUMBER,
    NOT_NUMBER,
    ALPHABETIC,
    NOT_ALPHABETIC,
    NEITHER, /* alphabetic nor a number */
    SMALL_S,
    CLOSING
} moses_kind;

typedef struct moses_rule {
    moses_kind before; /* such a character goes before, and is of no other place where the rule applies */
    const char *text, *by;
    moses_kind after;
} moses_rule;

/* A rule without a text: several spaces become one. */
#define MOSES_ONE_SPACE {ANY, NULL, NULL, ANY}
/* One after the other. */
void moses_apply(moses *m, const moses_rule *rules, size_t n);
#define MOSES_APPLY(m, RULES) moses_apply(m, RULES, G_N_ELEMENTS(RULES))

/* ---- steps ---- */

/* 1 to 3. */
void moses_normalise_punctuation(moses *m);
/* 4. */
void moses_simplify_romanian(moses *m);
/* 5 to 7; or words by ICU, where m->splitter is one. */
void moses_part_words(moses *m);

#endif
