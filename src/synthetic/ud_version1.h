/* xlm-mpi: trees of Universal Dependencies 2 as version 1 would have them. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Models of word order that were trained on version 1 know its names and its trees. These changes of version 2 are undone
 * (universaldependencies.org/v2/summary.html, workgroups/v1_to_v2.html):
 *
 *   CCONJ -> CONJ                                    renamed
 *   AUX with the relation cop -> VERB                AUX was extended to copulas
 *   obj -> dobj, fixed -> mwe                        renamed
 *   nsubj:pass, csubj:pass, aux:pass -> nsubjpass, csubjpass, auxpass     made subtypes
 *   obl -> nmod, with its subtype                    split off from nmod
 *   flat:foreign -> foreign; flat, its other subtypes -> name             joined in flat; most of it are names
 *   nmod:desc -> compound                            titles before names, which were compounds
 *   nmod:unmarked -> nmod:npmod                      renamed
 *   orphan -> remnant                                has another head since; only its name is turned back
 *   clf -> compound                                  new; version 1 had no relation for classifiers
 *   advmod, det of a word with Polarity=Neg or PronType=Neg -> neg        neg was taken out
 *   cc and punct before a conjunct: head is that conjunct's head          they hung on the first conjunct
 *
 * Trees and names of version 1 are not changed, so both versions may be given. */
#ifndef XLM_SYNTHETIC_UD_VERSION1_H
#define XLM_SYNTHETIC_UD_VERSION1_H

#include "formats/conllu.h"

typedef struct xlm_ud1_word {
    const char *tag, *relation; /* constants, or columns of the sentence */
    int32_t head;               /* -1: root */
} xlm_ud1_word;

/* [in] tree: has_tree. [out] view: array of xlm_ud1_word, set, one a word. Still a tree. */
void xlm_ud1_view(const xlm_conllu *tree, GArray *view);

#endif
