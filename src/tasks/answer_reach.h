/* xlm-mpi: how many right answers can be given as whole subwords. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A predicted answer is text from the beginning of a subword to the end of one. A right answer that begins or ends inside a
 * subword is out of reach, so the share of the others bounds the exact match of any model. */
#ifndef XLM_TASKS_ANSWER_REACH_H
#define XLM_TASKS_ANSWER_REACH_H

#include "tasks/answer_text.h"

/* For each source of an encoded text, log the share of answers that are within reach, compared by the source's rules; a share
 * below 99 % is logged as a warning, with the first answer that is out of reach. */
void xlm_answer_reach_report(const xlm_answer_text *text);

#endif
