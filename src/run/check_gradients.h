/* xlm-mpi: gradients of a job's objectives against central differences. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For each objective separately, one micro-batch of the next step is encoded as in training, without dropout, and the
 * gradient that the tape computes is compared with differences of the loss itself, as an objective from anywhere computes it, in
 * the precision of the program: a plugin is checked as it is.
 *
 * In single precision a loss has six or seven digits, and the difference made by one element often has none left. So
 *   - elements are moved one by one (a sample drawn with the seed, half of them the largest), and all elements of a parameter
 *     in a few groups, each element of a group to the side where the loss rises, so that their effects add up. A factor of 1.01
 *     shows in groups, a wrong element alone, or as its share of a group. For the objective's own parameters more elements are
 *     moved alone, and groups are small;
 *   - differences with steps of many sizes are extrapolated (run/derivative.h), and the rounding of a loss is measured: what is
 *     lost in it is printed as such, not taken for agreement.
 * A difference that does not agree, or in which nothing is clear, is made again with other steps before it is reported.
 *
 * Constants (xlm_constant) stay what they are in the unchanged model, since the tape gives them no gradient: targets and
 * negatives that an objective computes from the model are held. Declared state is put back before each pass. */
#ifndef XLM_RUN_CHECK_GRADIENTS_H
#define XLM_RUN_CHECK_GRADIENTS_H

#include "train/workspace.h"

/* Has the job an objective of that name (NULL: all are meant)? EX_USAGE. */
bool xlm_check_gradients_has(const xlm_job *job, const char *name, GError **error);

/* Of the step that follows `step` updates, of all objectives or the one called `name`, which is there (NULL: all). Collective:
 * ranks share the parameters. Tables on standard output of rank 0. EX_SOFTWARE when a gradient is further from the differences than 0.5 %, when
 * two passes over the same batch give two losses, and when an objective could not be checked: it begins later, has no terms or no
 * gradient, or rounding hides all of its gradients. Errors of reading. */
bool xlm_check_gradients(const xlm_job *job, const xlm_workspace *workspace, int64_t step, const char *name, GError **error);

#endif
