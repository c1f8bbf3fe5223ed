/* xlm-mpi: the library and precision of a run's matrix products. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TRAIN_ARITHMETIC_H
#define XLM_TRAIN_ARITHMETIC_H

#include "comm/comm.h"
#include "gemm/packed.h"
#include "job/job.h"

typedef struct xlm_arithmetic {
    bool packs; /* oneDNN computes products with parameters (gemm/packed.h); else BLIS computes all, in float32 */
    xlm_precision precision;
    bool unmeasured; /* BLIS was chosen because this rank's processor, which could use oneDNN too, has not been measured */
} xlm_arithmetic;

/* In the order of [train] gemm's choices. */
typedef enum { XLM_GEMM_AUTO, XLM_GEMM_BLIS, XLM_GEMM_ONEDNN } xlm_gemm_choice;

/* From [train] gemm, precision and exchange; "auto" is oneDNN for bfloat16, and for float32 where the processors of all ranks
 * were measured to prefer it (gemm/gemm_choice.h), else BLIS. Collective. EX_CONFIG: they cannot be combined with each other or
 * with the number of ranks; EX_UNAVAILABLE: the processor of a rank cannot do it, or its program was built without oneDNN. */
bool xlm_arithmetic_choose(const xlm_comm *comm, const xlm_train_config *config, xlm_arithmetic *arithmetic, GError **error);

/* Can a run on so many ranks exchange gradients as the job says? EX_CONFIG. */
bool xlm_arithmetic_check_ranks(const xlm_train_config *config, int ranks, GError **error);

/* Whether xlm_translate multiplies parameters by oneDNN in float32: where the processors of all ranks were measured to be
 * faster with it, in search or else in training, and can. Collective. */
bool xlm_arithmetic_packs_in_search(const xlm_comm *comm);

/* Bytes of packed parameters with `elements` elements in total. */
uint64_t xlm_arithmetic_bytes(xlm_arithmetic arithmetic, int64_t elements);

/* "oneDNN 2.6.3 in bfloat16"; "BLIS in float32" */
const char *xlm_arithmetic_name(xlm_arithmetic arithmetic);

#endif
