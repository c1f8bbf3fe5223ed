/* xlm-mpi: what a run began with, as its checkpoints record it. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run_inputs.h"

#include <string.h>

#include "checkpoint/start_record.h"

enum { START_SHA256, START_STEP, VOCABULARY, TEXT };
const char *const xlm_run_input_names[XLM_RUN_INPUTS] = {
    [START_SHA256] = "SHA-256 of the model that it started from", [START_STEP] = "step of that model",
    [VOCABULARY] = "digest of the vocabulary and its counts", [TEXT] = "digest of the text of the corpus"};

void xlm_run_inputs_read(xlm_run_inputs *inputs, const xlm_store *store)
{
    xlm_start_record start = {0};
    *inputs = (xlm_run_inputs){{NULL}};
    if (store == NULL)
        return;
    if (xlm_start_record_read(&start, store, NULL)) {
        inputs->value[START_SHA256] = g_strdup(start.path != NULL ? start.sha256 : "(none)");
        inputs->value[START_STEP] = start.path != NULL ? g_strdup_printf("%" G_GINT64_FORMAT, start.step) : g_strdup("(none)");
    }
    xlm_start_record_clear(&start);
    inputs->value[VOCABULARY] = xlm_store_get_text(store, "/", "corpus_digest", NULL);
    inputs->value[TEXT] = xlm_store_get_text(store, "/", "text_digest", NULL);
}

void xlm_run_inputs_clear(xlm_run_inputs *inputs)
{
    for (int i = 0; i < XLM_RUN_INPUTS; i++)
        g_clear_pointer(&inputs->value[i], g_free);
}

bool xlm_run_inputs_differ(const xlm_run_inputs *inputs, int n, int which)
{
    const char *first = NULL;
    bool differ = false;
    for (int i = 0; i < n; i++) {
        const char *value = inputs[i].value[which];
        if (first == NULL)
            first = value;
        differ |= value != NULL && strcmp(first, value) != 0;
    }
    return differ;
}

bool xlm_run_inputs_known(const xlm_run_inputs *inputs, int n)
{
    bool known = true;
    for (int i = 0; i < n; i++)
        known &= inputs[i].value[START_SHA256] != NULL && inputs[i].value[VOCABULARY] != NULL;
    return known;
}
