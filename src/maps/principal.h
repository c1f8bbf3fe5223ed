/* xlm-mpi: principal components of vectors that every rank has. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_MAPS_PRINCIPAL_H
#define XLM_MAPS_PRINCIPAL_H

#include "comm/comm.h"

/* [out] scores: [n x k] of the rows of x, [n x width], less their mean, on the k <= width eigenvectors of their covariance with
 * the largest eigenvalues, the largest first, each with its element of largest magnitude positive; share: [k] of the variance
 * that each has, or NULL. By each rank for itself, so that the result does not depend on their number; n >= 2. Errors:
 * EX_DATAERR: all rows are the same; EX_SOFTWARE. Collective. */
bool xlm_principal_components(const xlm_comm *comm, int64_t n, int64_t width, const float *x, int64_t k, float *scores,
                              double *share, GError **error);

#endif
