/* xlm-mpi: a stage from outside, for tests: noise that leaves out the end of a sentence. SPDX-License-Identifier: GPL-3.0-or-later */
#include <xlm/stage.h>

#include <stddef.h>

struct muffle {
    double share;
};

static const xlm_option muffle_options[] = {
    {"share", XLM_OPTION_REAL, "0.5", 0, 1, NULL, "of the sentences, whose second half is left out", offsetof(struct muffle, share)},
    XLM_OPTION_END,
};

static void muffle_noise(xlm_stage *self, const xlm_stage_pass *pass, xlm_stage_noise *noise)
{
    const struct muffle *muffle = self->state;
    if (xlm_stage_uniform(pass, noise->key, 0) < muffle->share)
        noise->tokens = (noise->tokens + 1) / 2;
}

static double muffle_kept(const xlm_stage *self)
{
    const struct muffle *muffle = self->state;
    return 1 - 0.45 * muffle->share; /* of short sentences, more than half stays */
}

const xlm_stage_plugin xlm_stage_muffle = {
    .abi = XLM_STAGE_ABI,
    .name = "muffle",
    .summary = "leaves out the ends of sentences",
    .options = muffle_options,
    .state_size = sizeof(struct muffle),
    .noise = muffle_noise,
    .kept_share = muffle_kept,
};
