/* xlm-mpi: sections [adapter NAME] of job files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/adapters.h"

#include <stddef.h>
#include <string.h>

#include "nn/adapter.h"

/* A section as it is written. */
struct section {
    int64_t kind, rank;
    double alpha, dropout;
    char **targets;
    bool learn;
};

#define PLACE(member) offsetof(struct section, member)
const xlm_option xlm_adapter_options[] = {
    {"kind", XLM_OPTION_CHOICE, "lora", 0, 0, "lora",
     "lora: y = x Wᵀ + b + (alpha / rank) dropout(x) Aᵀ Bᵀ, with A of rank x in and B of out x rank (Hu et al. 2021)",
     PLACE(kind)},
    {"rank", XLM_OPTION_INT, "8", 1, 1 << 16, NULL, "rank, r", PLACE(rank)},
    {"alpha", XLM_OPTION_REAL, "16", -1e6, 1e6, NULL, "what the adapter adds is multiplied by alpha / rank", PLACE(alpha)},
    {"targets", XLM_OPTION_LIST, "query,value", 0, 0, NULL,
     "linear layers beside which it is: query, key, value, attention_output, intermediate, feed_forward_output", PLACE(targets)},
    {"dropout", XLM_OPTION_REAL, "0", 0, 0.99, NULL, "dropout rate of what the adapter reads", PLACE(dropout)},
    {"learn", XLM_OPTION_FLAG, "true", 0, 0, NULL,
     "let the adapter learn: then the model itself stays as it is; false: an adapter of the model that the run starts from stays "
     "as it is",
     PLACE(learn)},
    XLM_OPTION_END};

static bool read_section(const xlm_jobfile *file, const char *name, xlm_adapter *a, GError **error)
{
    g_autofree char *section = g_strdup_printf("adapter %s", name);
    struct section s = {0};
    GError *why = NULL;
    if (!xlm_options_parse(xlm_adapter_options, file, section, &s, error))
        return false;
    *a = (xlm_adapter){.kind = s.kind, .rank = s.rank, .alpha = s.alpha, .dropout = s.dropout, .learns = s.learn};
    a->targets = xlm_adapter_targets_read(s.targets, &why);
    const bool known = a->targets != 0, fits = g_strlcpy(a->name, name, sizeof a->name) < sizeof a->name;
    xlm_options_free(xlm_adapter_options, &s);
    if (!known) {
        xlm_jobfile_refuse(file, section, "targets", error, "%s", why->message);
        g_error_free(why);
    }
    return known && (fits || xlm_jobfile_refuse(file, section, NULL, error, "the name is longer than %d characters",
                                                XLM_ADAPTER_NAME - 1));
}

bool xlm_job_adapters_read(const xlm_jobfile *file, xlm_adapters *adapters, GError **error)
{
    g_auto(GStrv) names = xlm_jobfile_names(file, "adapter");
    GError *why = NULL;
    *adapters = (xlm_adapters){0};
    if (g_strv_length(names) > XLM_MAX_ADAPTERS)
        return xlm_error_set(error, EX_CONFIG, "%s: %u sections [adapter NAME]; a model can have %d adapters",
                             xlm_jobfile_path(file),
                             g_strv_length(names), XLM_MAX_ADAPTERS);
    for (char **name = names; *name != NULL; name++)
        if (!read_section(file, *name, &adapters->one[adapters->n++], error))
            return false;
    if (xlm_adapters_check(adapters, &why))
        return true;
    xlm_error_set(error, EX_CONFIG, "%s: %s", xlm_jobfile_path(file), why->message);
    g_error_free(why);
    return false;
}

static bool agree(const xlm_adapter *there, const xlm_adapter *here, GError **error)
{
    g_autofree char *why = there != NULL ? xlm_adapter_difference(there, here) : NULL;
    if (there == NULL && !here->learns)
        return xlm_error_set(error, EX_CONFIG,
                             "[adapter %s]: learn = false is for an adapter of the model that the run starts from, "
                             "which has none of this name", here->name);
    return why == NULL || xlm_error_set(error, EX_CONFIG,
                                        "[adapter %s]: the model that the run starts from has another adapter of "
                                        "this name: %s", here->name, why);
}

bool xlm_job_adapters_join(const xlm_adapters *start, xlm_adapters *adapters, GError **error)
{
    for (int64_t k = 0; k < adapters->n; k++)
        if (!agree(start != NULL ? xlm_adapters_find(start, adapters->one[k].name) : NULL, &adapters->one[k], error))
            return false;
    for (int64_t k = 0; start != NULL && k < start->n; k++) {
        if (xlm_adapters_find(adapters, start->one[k].name) != NULL)
            continue;
        if (adapters->n == XLM_MAX_ADAPTERS)
            return xlm_error_set(error, EX_CONFIG,
                                 "[adapter %s]: with those of the model that the run starts from there are more "
                                 "than %d adapters", adapters->one[0].name, XLM_MAX_ADAPTERS);
        adapters->one[adapters->n] = start->one[k];
        adapters->one[adapters->n++].learns = false;
    }
    return true;
}

void xlm_job_adapters_print(const xlm_adapters *adapters, GString *out)
{
    for (int64_t k = 0; k < adapters->n; k++) {
        const xlm_adapter *a = &adapters->one[k];
        g_autofree char *targets = xlm_adapter_targets_print(a->targets);
        g_auto(GStrv) names = g_strsplit(targets, ",", -1);
        const struct section s = {.kind = a->kind, .rank = a->rank, .alpha = a->alpha, .dropout = a->dropout, .targets = names,
                                  .learn = a->learns};
        g_string_append_printf(out, "\n[adapter %s]\n", a->name);
        xlm_options_print(xlm_adapter_options, &s, out);
    }
}

bool xlm_job_adapters_learn(const xlm_adapters *adapters)
{
    for (int64_t k = 0; k < adapters->n; k++)
        if (adapters->one[k].learns)
            return true;
    return false;
}
