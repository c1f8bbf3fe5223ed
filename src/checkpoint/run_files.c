/* xlm-mpi: names of the files that a run keeps in its directory. SPDX-License-Identifier: GPL-3.0-or-later */
#include "checkpoint/run_files.h"

#include <glib.h>

#include "checkpoint/checkpoint.h"

bool xlm_run_files_has(const char *name)
{
    static const char *const whole[] = {"latest", "best", XLM_CHECKPOINT_MEAN, "metrics.csv", "job.conf", "job-as-run.conf",
                                        "lock", "stopped.log", XLM_TRANSLATIONS_FILE, XLM_BEST_TRANSLATIONS_FILE, NULL};
    static const char *const first[] = {"checkpoint-", XLM_ATTENTION_FILES};
    bool has = g_strv_contains(whole, name);
    for (size_t i = 0; i < G_N_ELEMENTS(first); i++)
        has = has || (g_str_has_prefix(name, first[i]) && g_str_has_suffix(name, ".h5"));
    return has;
}
