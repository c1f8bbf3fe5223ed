/* xlm-mpi: the two sides of pairs of words, of one language or of two. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_VECTORS_WORD_SIDES_H
#define XLM_VECTORS_WORD_SIDES_H

#include "vectors/word_space.h"

typedef struct xlm_word_side {
    xlm_word_space *space;
    int language;     /* −1: none */
    const char *name; /* of the language; NULL: none was named */
} xlm_word_side;

/* First and second word of a pair; the two sides are equal if there is one language and one space. */
typedef struct xlm_word_sides {
    xlm_word_side side[2];
    int n; /* 1: they are equal */
} xlm_word_sides;

#endif
