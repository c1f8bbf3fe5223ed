/* xlm-mpi: passes over examples, distributed over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/example_passes.h"

#include "base/progress.h"

static bool read_run(const xlm_examples *examples, xlm_example_run *run, xlm_batch *batch, GError **error)
{
    int64_t *example = XLM_TAKE(run->arena, int64_t, run->n);
    uint32_t *instance = XLM_TAKE(run->arena, uint32_t, run->n);
    for (int64_t i = 0; i < run->n; i++) {
        example[i] = run->first + i;
        instance[i] = (uint32_t)i;
    }
    run->batch = batch;
    return xlm_examples_read(examples, run->n, example, instance, run->arena, batch, error);
}

bool xlm_examples_pass_over(const xlm_comm *comm, const xlm_examples *examples, const char *what, xlm_example_pass *pass,
                            void *data, GError **error)
{
    g_autoptr(GArray) cuts = xlm_examples_cut(examples);
    const int64_t *at = (const int64_t *)(const void *)cuts->data, runs = (int64_t)cuts->len - 1;
    xlm_arena *arena = xlm_arena_new();
    GError *failure = NULL;
    xlm_progress progress = {0};
    if (what != NULL)
        progress = xlm_progress_begin(what, (double)at[runs], "examples");
    for (int64_t r = comm->rank; r < runs && failure == NULL; r += comm->ranks) {
        xlm_example_run run = {.number = r, .first = at[r], .n = at[r + 1] - at[r], .arena = arena};
        xlm_batch batch;
        xlm_arena_reset(arena);
        if (read_run(examples, &run, &batch, &failure))
            pass(data, &run);
        if (what != NULL)
            xlm_progress_show(&progress, (double)at[r + 1]);
    }
    if (what != NULL)
        xlm_progress_end(&progress);
    xlm_arena_free(arena);
    return xlm_comm_agree_on(comm, failure, error);
}

xlm_example_run_size xlm_examples_largest_run(const xlm_examples *examples)
{
    g_autoptr(GArray) cuts = xlm_examples_cut(examples);
    xlm_example_run_size largest = {0};
    for (guint r = 0; r + 1 < cuts->len; r++) {
        const int64_t first = g_array_index(cuts, int64_t, r), end = g_array_index(cuts, int64_t, r + 1);
        largest.examples = MAX(largest.examples, end - first);
        largest.tokens = MAX(largest.tokens, xlm_examples_tokens(examples, end) - xlm_examples_tokens(examples, first));
        largest.predicted = MAX(largest.predicted,
                                xlm_examples_predictions(examples, end) - xlm_examples_predictions(examples, first));
    }
    return largest;
}
