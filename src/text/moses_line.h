/* xlm-mpi: the line that the rules of Moses change, as an array of characters. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   moses_line.c         its characters, and rules that are rows of tables
 *   moses_punctuation.c  steps 1 to 4 (text/moses.h)
 *   moses_words.c        steps 5 to 7, and words by ICU
 *   moses.c              step 8, languages and their abbreviations, the normaliser */
#ifndef XLM_TEXT_MOSES_LINE_H
#define XLM_TEXT_MOSES_LINE_H

#include <unicode/unorm2.h>

#include "text/normalise.h"
#include "text/words.h"

/* A character, and the bytes [start, end) of the original line that it comes from. */
typedef struct moses_letter {
    UChar32 c;
    uint32_t start, end;
} moses_letter;

typedef struct moses {
    bool lower;
    const GPtrArray *abbreviations;
    char *name;              /* of the language, as it was set */
    char language[16];       /* the first part of the name in lower case: "pt" of "pt-BR" */
    GHashTable *listed;      /* the language's abbreviations -> GINT_TO_POINTER(only before numbers) */
    bool korean;
    xlm_splitter *splitter;  /* finds words by ICU; NULL: steps 5 to 7 do */
    const UNormalizer2 *form_d;
    GArray *text, *other;    /* moses_letter: the present line, and the new line that a rule is making from it */
    uint64_t ascii[2], rest; /* which characters the line may have: a bit for each of ASCII, and hashed bits for the others */
    GString *bytes;          /* scratch */
} moses;

/* A control character that replaces each of several full stops in a row. Step 3 has removed such characters from the text. */
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
/* Note that the line may have this character from now on; and ask whether it may have it. */
void moses_note(moses *m, UChar32 c);
bool moses_may_have(const moses *m, UChar32 c);
/* Append to the new line a character that replaces those from `first` to `last`. */
void moses_put(moses *m, UChar32 c, const moses_letter *first, const moses_letter *last);
/* A character is left out of the new line: add its bytes to those of the last character that is no space, if they are
 * adjacent. */
void moses_widen(moses *m, const moses_letter *left_out);
/* Append to the new line a space, whose place is before a character; or the characters [from, to) of the present line. */
void moses_put_space(moses *m, const moses_letter *before);
void moses_copy(moses *m, guint from, guint to);
/* Let the new line become the present one. */
void moses_take_other(moses *m);
/* Fold several spaces into one; remove white space at both ends. */
void moses_make_one_space(moses *m);
void moses_strip(moses *m);

/* ---- rules that replace a text between characters of certain kinds ---- */

typedef enum {
    ANY, /* any character, or none */
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
    moses_kind before;     /* the kind of the character before the text; a character belongs to only one match of a rule */
    const char *text, *by; /* the text, and what replaces it */
    moses_kind after;      /* the kind of the character after the text */
} moses_rule;

/* A rule without a text: several spaces become one. */
#define MOSES_ONE_SPACE {ANY, NULL, NULL, ANY}
/* Apply rules [n], one after another. */
void moses_apply(moses *m, const moses_rule *rules, size_t n);
#define MOSES_APPLY(m, RULES) moses_apply(m, RULES, G_N_ELEMENTS(RULES))

/* ---- steps ---- */

/* Steps 1 to 3. */
void moses_normalise_punctuation(moses *m);
/* Step 4. */
void moses_simplify_romanian(moses *m);
/* Steps 5 to 7; or words by ICU, if m->splitter is not NULL. */
void moses_part_words(moses *m);

#endif
