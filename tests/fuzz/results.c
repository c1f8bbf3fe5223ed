/* xlm-mpi: fuzz target: tables of what was measured. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "fuzz.h"
#include "report/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    GError *error = NULL;
    xlm_page_column column = {"run1", 0};
    xlm_run run = {.directory = "run1", .place = (char *)"/runs/run1", .label = (char *)"run1"};
    const xlm_runs runs = {.n = 1, .run = &run, .columns = &column};
    xlm_page *page = xlm_page_new();
    xlm_results results;
    xlm_results_begin(&results);
    const char *path = fuzz_write("results.csv", data, size);
    const bool good = xlm_results_read(&results, path, &runs, 0, false, page, &error);
    fuzz_check(good, error);
    fuzz_require(!good || xlm_results_knows(path), "what is read is known by its first line");
    for (guint i = 0; i < results.rows->len; i++) {
        const xlm_result *r = &g_array_index(results.rows, xlm_result, i);
        fuzz_require(r->run == 0 && isfinite(r->value) && r->layer >= -1 && r->detail != NULL && r->target != NULL,
                     "a result is a finite number of a run");
    }
    for (guint i = 0; i < page->notes->len; i++)
        fuzz_note("damaged rows", page->notes->pdata[i]);
    xlm_results_clear(&results);
    xlm_page_free(page);
    return 0;
}
