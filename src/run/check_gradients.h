/* xlm-mpi: gradients of a job's objectives against central differences. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For each objective separately, one micro-batch of the next step is encoded as in training, without dropout, and the gradient
 * that the tape computes is compared with differences of the loss itself, as the loaded objective computes it, in the precision
 * of the program: a plugin is checked without changes.
 *
 * In single precision a loss has six or seven digits, and the change due to one element often has none of them. So
 *   - elements are moved one by one (a sample drawn with the seed, half of them the largest), and all elements of a parameter
 *     in a few groups, each element of a group to the side where the loss rises, so that their effects add up. A factor of 1.01
 *     shows in groups, a wrong element alone, or as its share of a group. For the objective's own parameters more elements are
 *     moved alone, and groups are small;
 *   - differences with steps of many sizes are extrapolated (run/derivative.h), and the rounding of a loss is measured: what is
 *     lost in it is printed as such, not taken for agreement.
 * A difference that does not agree, or is unclear, is computed again with other steps before it is reported; one that shorter
 * steps exclude is not.
 *
 * Constants (xlm_constant) keep their values of the unchanged model, because the tape gives them no gradient: targets and
 * negatives that an objective computes from the model are held fixed. Declared state is restored before each pass. */
#ifndef XLM_RUN_CHECK_GRADIENTS_H
#define XLM_RUN_CHECK_GRADIENTS_H

#include "train/workspace.h"

/* Does the job have an objective of that name (NULL: all)? EX_USAGE. */
bool xlm_check_gradients_has(const xlm_job *job, const char *name, GError **error);

/* Check the step that follows `step` updates, for the objective `name`, which must exist, or all (NULL). Collective: the ranks
 * divide the parameters among them. Rank 0 prints tables on standard output. EX_SOFTWARE when a gradient is more than 0.5 % away
 * from the differences, when two passes over the same batch give different losses, and when an objective could not be checked: it
 * begins later, has no terms or no gradient, or rounding hides all of its gradients. Errors of reading. */
bool xlm_check_gradients(const xlm_job *job, const xlm_workspace *workspace, int64_t step, const char *name, GError **error);

#endif
