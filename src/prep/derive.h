/* xlm-mpi: converting annotated text to a synthetic language. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * CoNLL-U in, CoNLL-U out, the same words in the order of the synthetic language:
 *   words      move with all their columns; ID is counted anew and HEAD follows
 *   DEPS       becomes `_`: enhanced graphs lead to empty nodes, which have no place in another order
 *   tokens     multiword tokens (3-4) and empty nodes (8.1) are left out, and SpaceAfter=No is taken out of MISC: they say how
 *              words were written together
 *   entities   BIO tags, wherever they occur from XPOS on (the whole of a column, or the value of a key of MISC, NER=B-PER), are
 *              made anew: the words of an entity keep its type; where they are together the first has B- and the others I-,
 *              and an entity that is torn apart becomes several
 *   comments   stay; `# text` is written anew; `# xlm_derivation = NAME=BASE:STEPS; seed N` is added
 *
 * FORM keeps the letters of the base, because letters change only after segmentation. Programs read such a file as text of the
 * synthetic language: xlm_tokenizer_encode with that language of the corpus or the model gives twins. */
#ifndef XLM_PREP_DERIVE_H
#define XLM_PREP_DERIVE_H

#include "comm/comm.h"
#include "prep/options.h"

/* Convert derive_input to the only synthetic language and write derive_output. A sentence gets the same order as in a corpus made
 * from the same file with the same steps and seed. Collective. Errors: as xlm_conllu_next and xlm_prep_rewrite. */
bool xlm_prep_derive(const xlm_comm *comm, const xlm_prep_options *options, GError **error);

#endif
