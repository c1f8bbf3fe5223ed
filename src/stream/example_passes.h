/* xlm-mpi: passes over examples, distributed over ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_STREAM_EXAMPLE_PASSES_H
#define XLM_STREAM_EXAMPLE_PASSES_H

#include "comm/comm.h"
#include "stream/examples.h"

/* The examples of one pass. */
typedef struct xlm_example_run {
    int64_t number;         /* of the run: 0, 1, …; there are at most as many runs as examples */
    int64_t first, n;       /* examples first … first + n − 1 */
    const xlm_batch *batch; /* these examples; its input is the original text, its instances are 0 … n − 1 */
    xlm_arena *arena;       /* memory until the pass ends */
} xlm_example_run;

typedef void xlm_example_pass(void *data, const xlm_example_run *run);

/* Collective. Call `pass` for each run of consecutive examples (xlm_examples_cut). Each run is computed on one rank, so results
 * do not depend on the number of ranks. what: for the progress line, such as "scoring"; NULL: none. Errors of
 * xlm_batch_layout_take. */
bool xlm_examples_pass_over(const xlm_comm *comm, const xlm_examples *examples, const char *what, xlm_example_pass *pass,
                            void *data, GError **error);

/* The maximum of each number over these runs. */
typedef struct xlm_example_run_size {
    int64_t tokens, examples, predicted;
} xlm_example_run_size;
xlm_example_run_size xlm_examples_largest_run(const xlm_examples *examples);

#endif
