/* xlm-mpi: layouts of text. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   monolingual  <s> A </s> B </s> ...
 *   xlm          <s> S1 </s> S2 </s> ... <s> T1 </s> T2 </s> ...   as many pairs as fit into halves of `length` tokens each;
 *                positions restart at the second half (Conneau and Lample 2019)
 *   bert         <s> S </s> T </s>   one pair, at most `length` tokens together; positions run on */
#include "stream/packing.h"

extern const xlm_stage_class xlm_stage_monolingual_spans, xlm_stage_parallel_spans;

static bool fits_together(const int64_t tokens[2], int64_t length) { return 1 + tokens[0] + tokens[1] <= length; }
static bool halves_fit(const int64_t tokens[2], int64_t length) { return 1 + MAX(tokens[0], tokens[1]) <= length; }
static int64_t two_halves(int64_t length) { return 2 * length; }

static bool run_on(const xlm_source *source, const xlm_sequences *sequences, xlm_arena *arena, xlm_batch_layout *batch,
                   GError **error)
{
    return xlm_pack(source, sequences, false, arena, batch, error);
}

static bool restart(const xlm_source *source, const xlm_sequences *sequences, xlm_arena *arena, xlm_batch_layout *batch,
                    GError **error)
{
    return xlm_pack(source, sequences, true, arena, batch, error);
}

const xlm_stage_class xlm_stage_monolingual_layout = {
    .kind = XLM_STAGE_LAYOUT,
    .layout = {.spans = &xlm_stage_monolingual_spans, .several = true, .fits = fits_together, .lay_out = run_on},
};

const xlm_stage_class xlm_stage_xlm_layout = {
    .kind = XLM_STAGE_LAYOUT,
    .name = "xlm",
    .layout = {.spans = &xlm_stage_parallel_spans, .several = true, .fits = halves_fit, .longest = two_halves,
               .lay_out = restart},
};

const xlm_stage_class xlm_stage_bert_layout = {
    .kind = XLM_STAGE_LAYOUT,
    .name = "bert",
    .layout = {.spans = &xlm_stage_parallel_spans, .fits = fits_together, .lay_out = run_on},
};
