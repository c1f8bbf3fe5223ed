/* xlm-mpi: fuzz target: adapter_config.json of adapters of other programs. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "foreign/adapter_directory.h"
#include "fuzz.h"
#include "nn/adapter.h"

enum { WIDTH = 768 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    GError *error = NULL;
    xlm_adapter_directory d = {.path = "adapter", .width = WIDTH};
    const bool good = xlm_adapter_directory_parse(&d, "adapter_config.json", (const char *)data, size, &error);
    fuzz_check(good, error);
    if (good) {
        /* What only the tensors tell. */
        d.adapter.targets = d.form->find != NULL ? 1 : 0;
        strcpy(d.adapter.name, "one");
        const xlm_adapters all = {.n = 1, .one = {d.adapter}};
        fuzz_require(d.adapter.kind != XLM_ADAPTER_BOTTLENECK || d.adapter.size >= 1, "a bottleneck has a size");
        fuzz_require(xlm_adapters_check(&all, NULL), "what was read is an adapter");
    }
    xlm_adapter_directory_clear(&d);
    return 0;
}
