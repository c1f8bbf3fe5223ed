/* xlm-mpi: how many right answers subwords can give. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A predicted answer is text from the beginning of a subword to the end of one. A right answer that begins or ends within a subword
 * is out of reach, so the share of those that are not bounds the exact match of any model. */
#ifndef XLM_TASKS_ANSWER_REACH_H
#define XLM_TASKS_ANSWER_REACH_H

#include "tasks/answer_text.h"

/* Log the share of each source of an encoded text, by its rules; a warning, with the first answer out of reach, where it is below
 * 99 %. */
void xlm_answer_reach_report(const xlm_answer_text *text);

#endif
