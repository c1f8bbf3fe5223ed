/* xlm-mpi: the library and precision of a run's matrix products. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/arithmetic.h"

#include <stdio.h>

#include "gemm/gemm_choice.h"

/* Whether oneDNN computes float32 if nothing is requested; the same on all ranks. faster: on this one. */
static bool is_faster(const xlm_comm *comm, bool faster)
{
    int64_t slower = !faster || xlm_packed_lacks(XLM_FLOAT32) != NULL;
    xlm_comm_max_int64(comm, &slower, 1);
    return slower == 0;
}

bool xlm_arithmetic_packs_in_search(const xlm_comm *comm)
{
    const xlm_processor processor = xlm_processor_identify();
    const xlm_gemm_row *row = xlm_gemm_row_of(&processor);
    return is_faster(comm, row != NULL && row->packs_in_search);
}

bool xlm_arithmetic_check_ranks(const xlm_train_config *config, int ranks, GError **error)
{
    return config->exchange != XLM_BFLOAT16 || (ranks & (ranks - 1)) == 0 ||
           xlm_error_set(error, EX_CONFIG, "[train] exchange = bfloat16: %d ranks are not a power of two, which the tree of "
                         "additions needs; use float32, or another number of ranks", ranks);
}

bool xlm_arithmetic_choose(const xlm_comm *comm, const xlm_train_config *config, xlm_arithmetic *arithmetic, GError **error)
{
    const xlm_precision precision = (xlm_precision)config->precision;
    const bool measures = precision == XLM_FLOAT32 && config->gemm == XLM_GEMM_AUTO;
    const xlm_processor processor = xlm_processor_identify();
    const xlm_gemm_row *row = xlm_gemm_row_of(&processor);
    const bool packs = precision == XLM_BFLOAT16 || config->gemm == XLM_GEMM_ONEDNN || (measures && is_faster(comm, row != NULL && row->packs));
    const char *lacks = packs ? xlm_packed_lacks(precision) : NULL;
    GError *failure = NULL;
    if (precision == XLM_BFLOAT16 && config->gemm == XLM_GEMM_BLIS)
        xlm_error_set(&failure, EX_CONFIG, "[train] precision = bfloat16: BLIS has no such products; leave gemm = blis out");
    else if (lacks != NULL && precision == XLM_BFLOAT16)
        xlm_error_set(&failure, EX_UNAVAILABLE, "[train] precision = bfloat16: %s; use float32", lacks);
    else if (lacks != NULL)
        xlm_error_set(&failure, EX_UNAVAILABLE, "[train] gemm = onednn: %s; use blis, or auto", lacks);
    else if (config->exchange == XLM_BFLOAT16 && !config->reproducible)
        xlm_error_set(&failure, EX_CONFIG, "[train] exchange = bfloat16: gradients are rounded along the fixed tree of "
                      "additions, which reproducible = false does not have; leave one of the two out");
    else
        xlm_arithmetic_check_ranks(config, comm->ranks, &failure);
    *arithmetic = (xlm_arithmetic){.packs = packs, .precision = precision,
                                   .unmeasured = measures && row == NULL && xlm_packed_lacks(XLM_FLOAT32) == NULL};
    return xlm_comm_agree_on(comm, failure, error);
}

uint64_t xlm_arithmetic_bytes(xlm_arithmetic arithmetic, int64_t elements)
{
    return arithmetic.packs ? 2 * xlm_packed_bytes(arithmetic.precision, elements, 1) : 0;
}

const char *xlm_arithmetic_name(xlm_arithmetic arithmetic)
{
    static char text[64];
    if (!arithmetic.packs)
        return "BLIS in float32";
    snprintf(text, sizeof text, "%s in %s", xlm_packed_library(), xlm_precision_names[arithmetic.precision]);
    return text;
}
