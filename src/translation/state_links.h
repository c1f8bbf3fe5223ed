/* xlm-mpi: translations linked with their sentences by the encoder's states. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The encoder reads each sentence and each translation alone, `<s> ids </s>` in its own language. From the states of a layer at
 * the ids, xlm_similarity_link finds the links: those that xlm_align --checkpoint --encode=apart gives the same ids. A translation
 * can have one id more than the encoder has positions for; its last one then has no links. */
#ifndef XLM_TRANSLATION_STATE_LINKS_H
#define XLM_TRANSLATION_STATE_LINKS_H

#include "translation/token_links.h"

/* Sets the links of the translations, memory of the tape. The same bits however many translations there are. */
void xlm_state_links_find(const xlm_model *model, xlm_tape *tape, const xlm_special_tokens *specials,
                          const xlm_translation_options *options, const xlm_link_input *input);

#endif
