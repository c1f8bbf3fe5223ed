/* xlm-mpi: how a run multiplies: library and precision. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/arithmetic.h"

#include <stdio.h>

#include "tensor/hardware.h"

xlm_arithmetic xlm_arithmetic_wanted(const xlm_train_config *config)
{
    const xlm_precision precision = (xlm_precision)config->precision;
    return (xlm_arithmetic){.packs = precision == XLM_BFLOAT16 || config->gemm == XLM_GEMM_ONEDNN, .precision = precision};
}

bool xlm_arithmetic_choose(const xlm_comm *comm, const xlm_train_config *config, xlm_arithmetic *arithmetic, GError **error)
{
    *arithmetic = xlm_arithmetic_wanted(config);
    GError *failure = NULL;
    const char *lacks = xlm_packed_lacks(arithmetic->precision);
    if (arithmetic->precision == XLM_BFLOAT16 && config->gemm == XLM_GEMM_BLIS)
        xlm_error_set(&failure, EX_CONFIG, "[train] precision = bfloat16: BLIS has no such products; leave gemm = blis out");
    else if (arithmetic->packs && lacks != NULL && arithmetic->precision == XLM_BFLOAT16)
        xlm_error_set(&failure, EX_UNAVAILABLE, "[train] precision = bfloat16: %s; take float32", lacks);
    else if (arithmetic->packs && lacks != NULL)
        xlm_error_set(&failure, EX_UNAVAILABLE, "[train] gemm = onednn: %s; take blis, or auto", lacks);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    if (config->gemm != XLM_GEMM_AUTO || arithmetic->packs)
        return true;
    int64_t unwilling = lacks != NULL || !xlm_hardware_prefers_onednn();
    xlm_comm_max_int64(comm, &unwilling, 1);
    arithmetic->packs = unwilling == 0;
    return true;
}

uint64_t xlm_arithmetic_bytes(xlm_arithmetic arithmetic, int64_t elements)
{
    return arithmetic.packs ? 2 * xlm_packed_bytes(arithmetic.precision, elements, 1) : 0;
}

const char *xlm_arithmetic_name(xlm_arithmetic arithmetic)
{
    static char text[64];
    if (!arithmetic.packs)
        return "BLIS";
    snprintf(text, sizeof text, "%s in %s", xlm_packed_library(), xlm_precision_names[arithmetic.precision]);
    return text;
}
