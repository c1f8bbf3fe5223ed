/* xlm-mpi: fuzz target: weights of the order of dependents. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "synthetic/order_weights.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    GError *error = NULL;
    xlm_order_weights *weights = xlm_order_weights_read(fuzz_write("weights", data, size), &error);
    fuzz_check(weights != NULL, error);
    if (weights == NULL)
        return 0;
    const uint32_t noun = xlm_order_weights_symbol(weights, "NOUN", 4), verb = xlm_order_weights_symbol(weights, "@VERB", 5);
    const uint32_t row[XLM_ORDER_MAX_ROW] = {noun, verb, noun, verb, noun};
    for (int n = XLM_ORDER_MIN_ROW; n <= XLM_ORDER_MAX_ROW; n++)
        fuzz_require(isfinite(xlm_order_weights_get(weights, XLM_ORDER_HI, row, n)), "weights are finite");
    xlm_order_weights_free(weights);
    return 0;
}
