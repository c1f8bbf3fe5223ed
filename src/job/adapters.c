/* xlm-mpi: sections [adapter NAME] of job files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/adapters.h"

#include <stddef.h>
#include <string.h>

#include "nn/adapter.h"

/* A section as it is written. */
struct section {
    int64_t kind, rank, size;
    double alpha, dropout;
    char **targets;
    bool invertible, learn;
};

#define PLACE(member) offsetof(struct section, member)
#define KIND(what) {"kind", XLM_OPTION_CHOICE, "lora", 0, 0, "lora|bottleneck", what, PLACE(kind)}
#define COMMON                                                                                                              \
    {"dropout", XLM_OPTION_REAL, "0", 0, 0.99, NULL, "dropout rate of what the adapter reads", PLACE(dropout)},              \
    {"learn", XLM_OPTION_FLAG, "true", 0, 0, NULL,                                                                          \
     "let the adapter learn: then the model itself stays as it is; false: an adapter of the model that the run starts from " \
     "stays as it is",                                                                                                       \
     PLACE(learn)}
static const xlm_option lora_options[] = {
    KIND("lora: y = x Wᵀ + b + (alpha / rank) dropout(x) Aᵀ Bᵀ beside linear layers, with A of rank x in and B of out x rank "
         "(Hu et al. 2021)"),
    {"rank", XLM_OPTION_INT, "8", 1, 1 << 16, NULL, "rank, r", PLACE(rank)},
    {"alpha", XLM_OPTION_REAL, "16", -1e6, 1e6, NULL, "what the adapter adds is multiplied by alpha / rank", PLACE(alpha)},
    {"targets", XLM_OPTION_LIST, "query,value", 0, 0, NULL,
     "linear layers beside which it is: query, key, value, attention_output, intermediate, feed_forward_output", PLACE(targets)},
    COMMON, XLM_OPTION_END};
static const xlm_option bottleneck_options[] = {
    KIND("bottleneck: f + max(D dropout(h) + d, 0) Uᵀ + u after the feed-forward sublayer f of each layer, with D of size x "
         "hidden_size (Pfeiffer et al. 2020)"),
    {"size", XLM_OPTION_INT, "0", 0, 1 << 20, NULL, "width of the bottleneck, m; 0: hidden_size / 16", PLACE(size)},
    {"invertible", XLM_OPTION_FLAG, "false", 0, 0, NULL,
     "also an invertible adapter after the embeddings, taken back before the product with them: for adapters of languages "
     "(MAD-X)",
     PLACE(invertible)},
    COMMON, XLM_OPTION_END};
static const xlm_option *const tables[] = {lora_options, bottleneck_options}; /* by XLM_ADAPTER_... */

/* The options of a section: those of its kind, so that a key of another kind is unknown. */
static const xlm_option *table_of(const xlm_jobfile *file, const char *section)
{
    g_autofree char *kind = xlm_jobfile_value(file, section, "kind");
    const bool bottleneck = g_strcmp0(kind, xlm_adapter_kinds[XLM_ADAPTER_BOTTLENECK]) == 0;
    return tables[bottleneck ? XLM_ADAPTER_BOTTLENECK : XLM_ADAPTER_LORA];
}

static bool read_section(const xlm_jobfile *file, const char *name, xlm_adapter *a, GError **error)
{
    g_autofree char *section = g_strdup_printf("adapter %s", name);
    const xlm_option *table = table_of(file, section);
    struct section s = {0};
    GError *why = NULL;
    if (!xlm_options_parse(table, file, section, &s, error))
        return false;
    *a = (xlm_adapter){.kind = s.kind, .rank = s.rank, .alpha = s.alpha, .dropout = s.dropout, .size = s.size,
                       .invertible = s.invertible, .learns = s.learn};
    const bool fits = g_strlcpy(a->name, name, sizeof a->name) < sizeof a->name;
    if (s.kind == XLM_ADAPTER_LORA)
        a->targets = xlm_adapter_targets_read(s.targets, &why);
    xlm_options_free(table, &s);
    if (why != NULL) {
        xlm_jobfile_refuse(file, section, "targets", error, "%s", why->message);
        g_error_free(why);
        return false;
    }
    return fits || xlm_jobfile_refuse(file, section, NULL, error, "the name is longer than %d characters", XLM_ADAPTER_NAME - 1);
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

/* [in, out] here: a size that is not given is that of the other. */
static bool agree(const xlm_adapter *there, xlm_adapter *here, GError **error)
{
    if (there == NULL)
        return here->learns || xlm_error_set(error, EX_CONFIG,
                                             "[adapter %s]: learn = false is for an adapter of the model that the run starts "
                                             "from, which has none of this name", here->name);
    if (here->size == 0)
        here->size = there->size;
    g_autofree char *why = xlm_adapter_difference(there, here);
    return why == NULL || xlm_error_set(error, EX_CONFIG,
                                        "[adapter %s]: the model that the run starts from has another adapter of "
                                        "this name: %s", here->name, why);
}

bool xlm_job_adapters_join(const xlm_adapters *start, xlm_adapters *adapters, GError **error)
{
    static const xlm_adapters none;
    const xlm_adapters given = *adapters, *before = start != NULL ? start : &none;
    *adapters = *before;
    for (int64_t k = 0; k < adapters->n; k++)
        adapters->one[k].learns = false;
    for (int64_t k = 0; k < given.n; k++) {
        xlm_adapter here = given.one[k];
        const xlm_adapter *there = xlm_adapters_find(before, here.name);
        if (!agree(there, &here, error))
            return false;
        if (there == NULL && adapters->n == XLM_MAX_ADAPTERS)
            return xlm_error_set(error, EX_CONFIG,
                                 "[adapter %s]: with those of the model that the run starts from there are more "
                                 "than %d adapters", here.name, XLM_MAX_ADAPTERS);
        adapters->one[there != NULL ? there - before->one : adapters->n++] = here;
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
                                  .size = a->size, .invertible = a->invertible, .learn = a->learns};
        g_string_append_printf(out, "\n[adapter %s]\n", a->name);
        xlm_options_print(tables[a->kind], &s, out);
    }
}

void xlm_job_adapters_help(GString *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        g_string_append_printf(out, "%s  with kind = %s:\n\n", i > 0 ? "\n" : "", xlm_adapter_kinds[i]);
        xlm_options_help(tables[i], out);
    }
}

bool xlm_job_adapters_learn(const xlm_adapters *adapters)
{
    for (int64_t k = 0; k < adapters->n; k++)
        if (adapters->one[k].learns)
            return true;
    return false;
}
