/* xlm-mpi: an objective that makes a step last as long as a test wants. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * From step `from` on it waits as long as there is a file "still" in the working directory; a process that waits leaves a file
 * "stands.PROCESS" there. It pulls the masked positions' states towards 0, and counts steps in the checkpoint, in the middle of
 * them, so that a snapshot is taken while the state changes. Other plugins change declared state in publish and after_update alone
 * (xlm/loss.h). Here each rank sets the same number, since each has a micro-batch. */
#define _POSIX_C_SOURCE 200809L
#include <xlm/loss.h>

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct still {
    int64_t from;
    double steps;
};

static const xlm_option still_options[] = {
    {"from", XLM_OPTION_INT, "5", 0, 1000000, NULL, "the first step that may last", offsetof(struct still, from)},
    XLM_OPTION_END,
};

static void still_declare(xlm_loss *self, xlm_declaration *declaration)
{
    static const xlm_view masked = {.text = XLM_TEXT_CORRUPTED, .layer = XLM_TOP_LAYER, .rows = XLM_ROWS_PREDICTED,
                                    .gradient = true, .dropout = true};
    struct still *still = self->state;
    xlm_declare_view(declaration, &masked);
    xlm_declare_state(declaration, "steps", XLM_STATE_F64, &still->steps, 1);
}

static bool is_to_stand(void)
{
    if (access("still", F_OK) != 0)
        return false;
    char name[32];
    snprintf(name, sizeof name, "stands.%ld", (long)getpid());
    close(open(name, O_WRONLY | O_CREAT, 0666));
    return true;
}

static xlm_var *still_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    struct still *still = self->state;
    const struct timespec a_while = {.tv_nsec = 20000000};
    if (pass->scores == NULL)
        still->steps = (double)pass->step + 1;
    while (pass->scores == NULL && pass->step >= still->from && is_to_stand())
        nanosleep(&a_while, NULL);
    return xlm_mean(tape, xlm_pass_view(pass, 0)->states);
}

const xlm_loss_class xlm_loss_stand_still = {
    .abi = XLM_LOSS_ABI,
    .name = "stand-still",
    .summary = "wait while there is a file",
    .needs_stream = true,
    .options = still_options,
    .state_size = sizeof(struct still),
    .declare = still_declare,
    .loss = still_loss,
};
