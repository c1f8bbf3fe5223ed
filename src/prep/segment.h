/* xlm-mpi: tokenised text to segmented text. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_SEGMENT_H
#define XLM_PREP_SEGMENT_H

#include "comm/comm.h"
#include "prep/options.h"

/* Split the words of segment_input, separated by spaces, into subwords, and write the text to segment_output; line ends and
 * blanks are not changed. Collective. */
bool xlm_prep_segment(const xlm_comm *comm, const xlm_prep_options *options, GError **error);

#endif
