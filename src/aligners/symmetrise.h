/* xlm-mpi: combining the links of two directions. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A model from source to target gives each target word at most one source word (`forward`), one from target to source each source
 * word at most one target word (`reverse`).
 *
 *   forward, reverse      the links of one direction
 *   intersection, union   links in both, links in either
 *   grow-diag             the intersection, and round by round each link of the union that is next to a link taken, by an edge
 *                         or a corner of the matrix, if one of its words has none (Och and Ney 2003; Koehn et al. 2003)
 *   grow-diag-final       and then the links of forward, then of reverse, of which at least one word has no link yet
 *   grow-diag-final-and   and then those of which both words have no link yet
 *
 * The papers do not specify the order in which links are visited, which matters for links that exclude one another. Here, as in
 * fast_align's atools, a round visits the union by source, then target, and a link that is taken counts immediately. (symal of
 * Moses visits the links that are taken, and the neighbours of each.) */
#ifndef XLM_ALIGNERS_SYMMETRISE_H
#define XLM_ALIGNERS_SYMMETRISE_H

#include "aligners/links.h"

typedef enum {
    XLM_FORWARD, XLM_REVERSE, XLM_INTERSECTION, XLM_UNION, XLM_GROW_DIAG, XLM_GROW_DIAG_FINAL, XLM_GROW_DIAG_FINAL_AND
} xlm_symmetrisation;
enum { XLM_SYMMETRISATIONS = XLM_GROW_DIAG_FINAL_AND + 1 };

const char *xlm_symmetrisation_name(xlm_symmetrisation how);
/* False if there is none of this name. */
bool xlm_symmetrisation_find(const char *name, xlm_symmetrisation *how);
/* All names, for messages: "forward, reverse, ...". */
const char *xlm_symmetrisation_names(void);

/* [in] forward: [target_words] source word or -1; reverse: [source_words] target word or -1. [out] links: room for source_words +
 * target_words, in the order of xlm_links_sort(), each once. Returns how many. Time is about proportional to the words. */
int64_t xlm_symmetrise(xlm_symmetrisation how, const int32_t *forward, int64_t target_words, const int32_t *reverse,
                       int64_t source_words, xlm_link *links);

#endif
