/* xlm-mpi: sections [adapter NAME] of job files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/adapters.h"

#include <stddef.h>
#include <string.h>

#include "nn/adapter.h"
#include "options/options.h"

/* What all kinds have, after the settings of theirs. */
static const xlm_option common[] = {
    {"dropout", XLM_OPTION_REAL, "0", 0, 0.99, NULL, "dropout rate of what the adapter reads", offsetof(xlm_adapter, dropout)},
    {"learn", XLM_OPTION_FLAG, "true", 0, 0, NULL,
     "let the adapter learn: then the model itself stays as it is; false: an adapter of the model that the run starts from "
     "stays as it is", offsetof(xlm_adapter, learns)},
    XLM_OPTION_END};

/* "lora|bottleneck" */
static const char *list_kinds(void)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (int i = 0; xlm_adapter_classes[i] != NULL; i++)
        g_string_append_printf(names, "%s%s", i > 0 ? "|" : "", xlm_adapter_classes[i]->name);
    return g_intern_string(names->str);
}

/* The options of a section with adapters of a kind. g_free. */
static xlm_option *table_of(const xlm_adapter_class *class)
{
    const xlm_option kind[] = {{"kind", XLM_OPTION_CHOICE, xlm_adapter_classes[0]->name, 0, 0, list_kinds(), class->help,
                                offsetof(xlm_adapter, kind)}, XLM_OPTION_END};
    const xlm_option *const parts[] = {kind, class->settings, common};
    static const xlm_option end = XLM_OPTION_END;
    GArray *table = g_array_new(FALSE, FALSE, sizeof(xlm_option));
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        for (const xlm_option *option = parts[i]; option->name != NULL; option++)
            g_array_append_val(table, *option);
    g_array_append_val(table, end);
    return (xlm_option *)(void *)g_array_free(table, FALSE);
}

/* The kind that a section names, so that a key of another kind is unknown; the first if it names none that there is. */
static const xlm_adapter_class *class_of(const xlm_jobfile *file, const char *section)
{
    g_autofree char *kind = xlm_jobfile_value(file, section, "kind");
    int i = 0;
    while (xlm_adapter_classes[i] != NULL && g_strcmp0(kind, xlm_adapter_classes[i]->name) != 0)
        i++;
    return xlm_adapter_classes[xlm_adapter_classes[i] != NULL ? i : 0];
}

static bool read_section(const xlm_jobfile *file, const char *name, xlm_adapter *a, GError **error)
{
    g_autofree char *section = g_strdup_printf("adapter %s", name);
    g_autofree xlm_option *table = table_of(class_of(file, section));
    return xlm_options_parse(table, file, section, a, error) &&
           (g_strlcpy(a->name, name, sizeof a->name) < sizeof a->name ||
            xlm_jobfile_refuse(file, section, NULL, error, "the name is longer than %d characters", XLM_ADAPTER_NAME - 1));
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

/* [in, out] here: settings that are not given are those of the other. */
static bool agree(const xlm_adapter *there, xlm_adapter *here, GError **error)
{
    if (there == NULL)
        return here->learns || xlm_error_set(error, EX_CONFIG,
                                             "[adapter %s]: learn = false is for an adapter of the model that the run starts "
                                             "from, which has none of this name", here->name);
    xlm_adapter_complete(here, there);
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
        g_autofree xlm_option *table = table_of(xlm_adapter_classes[a->kind]);
        g_string_append_printf(out, "\n[adapter %s]\n", a->name);
        xlm_options_print(table, a, out);
    }
}

void xlm_job_adapters_help(GString *out)
{
    for (int i = 0; xlm_adapter_classes[i] != NULL; i++) {
        g_autofree xlm_option *table = table_of(xlm_adapter_classes[i]);
        g_string_append_printf(out, "%s  with kind = %s:\n\n", i > 0 ? "\n" : "", xlm_adapter_classes[i]->name);
        xlm_options_help(table, out);
    }
}

bool xlm_job_adapters_learn(const xlm_adapters *adapters)
{
    for (int64_t k = 0; k < adapters->n; k++)
        if (adapters->one[k].learns)
            return true;
    return false;
}
