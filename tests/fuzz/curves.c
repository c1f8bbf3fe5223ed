/* xlm-mpi: fuzz target: metrics.csv of runs. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "fuzz.h"
#include "run/curves.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    GError *error = NULL;
    xlm_curves *curves = xlm_curves_read(fuzz_write("metrics.csv", data, size), &error);
    fuzz_check(curves != NULL, error);
    for (guint i = 0; curves != NULL && i < curves->curves->len; i++) {
        const xlm_curve *curve = curves->curves->pdata[i];
        fuzz_require(curve->points->len > 0 && xlm_curves_find(curves, curve->name) == curve,
                     "a curve has points and a name of its own");
        fuzz_require(isfinite(xlm_curve_best(curve).value), "values are finite");
        for (guint k = 0; k < curve->points->len; k++)
            fuzz_require(xlm_curve_find(curve, g_array_index(curve->points, xlm_curve_point, k).step) == (int)k, "steps ascend");
    }
    if (curves != NULL && curves->bad > 0)
        fuzz_note("damaged rows", "some");
    xlm_curves_free(curves);
    return 0;
}
