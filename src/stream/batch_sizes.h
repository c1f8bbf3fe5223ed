/* xlm-mpi: how many instances of a stream each step reads. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A list of steps and whole numbers (options/piecewise.h), with whole numbers between them too: what is linear between two points
 * is rounded to the nearest whole number, halves upwards. The sum over the steps before one is where that step's instances begin
 * in the endless list of the stream's instances. Everything is computed with integers, exactly, from the list alone. Steps are
 * from 0 on, numbers from 0 to XLM_STREAM_MAX_BATCH. */
#ifndef XLM_STREAM_BATCH_SIZES_H
#define XLM_STREAM_BATCH_SIZES_H

#include "options/piecewise.h"

/* The number of a step. */
int64_t xlm_batch_size_at(const xlm_piecewise *sizes, int64_t step);
/* The sum of the numbers of all steps before one; INT64_MAX / 4 if it is larger. */
int64_t xlm_batch_sizes_before(const xlm_piecewise *sizes, int64_t step);
/* The step that instance k >= 0 of the list is read in: the largest for which the sum before it is at most k; if there are not so
 * many instances, the last step of the list. */
int64_t xlm_batch_sizes_step_of(const xlm_piecewise *sizes, int64_t k);
/* The largest number of all steps. */
int64_t xlm_batch_sizes_largest(const xlm_piecewise *sizes);

#endif
