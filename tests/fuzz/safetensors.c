/* xlm-mpi: fuzz target: safetensors files and tables of them. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "foreign/safetensors.h"
#include "fuzz.h"

static void read_all(const xlm_safetensors *tensors)
{
    for (int64_t i = 0; i < xlm_safetensors_count(tensors); i++) {
        const xlm_safetensor *t = xlm_safetensors_get(tensors, i);
        GError *error = NULL;
        fuzz_require(xlm_safetensors_find(tensors, t->name) == t, "a tensor has a name of its own");
        fuzz_require(t->elements >= 0 && t->elements < 1 << 24, "a tensor has no more elements than its file has bytes");
        float *values = g_new(float, MAX(t->elements, 1));
        const bool good = xlm_safetensors_read(t, 0, t->elements, values, &error);
        fuzz_check(good, error);
        for (int64_t k = 0; k < t->elements && good; k++)
            fuzz_require(isfinite(values[k]), "values are finite");
        g_free(values);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    GError *error = NULL;
    const char *name = size > 0 && data[0] == '{' ? "model.safetensors.index.json" : "model.safetensors";
    xlm_safetensors *tensors = xlm_safetensors_open(fuzz_write(name, data, size), &error);
    fuzz_check(tensors != NULL, error);
    if (tensors != NULL)
        read_all(tensors);
    xlm_safetensors_close(tensors);
    return 0;
}
