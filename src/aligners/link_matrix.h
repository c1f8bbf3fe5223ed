/* xlm-mpi: the links of two sentences, for a person to look at. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * As a matrix: a line for each source word, and two columns for each target word, whose letters are written downwards; a ruler
 * counts the target words in fives.
 *
 *                 h
 *               t o
 *               h u .
 *               e s
 *                 e
 *               0
 *      0 das    ■ · ·
 *      1 Haus   · ■ ·
 *      2 .      · · ■
 *
 * Or as a list: for each source word the words that it is linked to, then the target words without a link. */
#ifndef XLM_ALIGNERS_LINK_MATRIX_H
#define XLM_ALIGNERS_LINK_MATRIX_H

#include "aligners/links.h"

/* Words of both sentences, UTF-8, and links between them, in order; scores: [n], or NULL. */
typedef struct xlm_link_picture {
    const char *const *source, *const *target;
    int64_t sources, targets;
    const xlm_link *links;
    const float *scores;
    int64_t n;
} xlm_link_picture;

/* Append the matrix; if it takes more than `width` columns, return false and append nothing. Links with a score below one half
 * are drawn lighter. Control characters are replaced; long words are cut. */
bool xlm_link_matrix_append(GString *out, const xlm_link_picture *picture, int width);
void xlm_link_list_append(GString *out, const xlm_link_picture *picture);

#endif
