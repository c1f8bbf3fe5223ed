/* xlm-mpi: in which keys jobs differ. SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/job_changes.h"

#include <stdbool.h>
#include <string.h>

#include "nn/model.h"
#include "options/options.h"

static const char NONE[] = "(none)";

static void free_difference(gpointer data)
{
    xlm_job_difference *d = data;
    g_free(d->section);
    g_free(d->key);
    g_strfreev(d->value);
    g_free(d);
}

static bool is_number(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    return *text != '\0' && *end == '\0';
}

static bool same_value(const char *a, const char *b)
{
    double x, y;
    return strcmp(a, b) == 0 || (is_number(a, &x) && is_number(b, &y) && x == y);
}

/* section's key in each of n jobs, or, with key NULL, whether they have the section; *differ: not the same in all. */
static char **values_of(GKeyFile *const *job, int n, const char *section, const char *key, bool *differ)
{
    char **value = g_new0(char *, n + 1);
    *differ = false;
    for (int i = 0; i < n; i++) {
        if (key != NULL)
            value[i] = g_key_file_get_value(job[i], section, key, NULL);
        else
            value[i] = g_key_file_has_group(job[i], section) ? g_strdup("there") : NULL;
        if (value[i] == NULL)
            value[i] = g_strdup(NONE);
        *differ |= !same_value(value[0], value[i]);
    }
    return value;
}

/* True when it was a difference, which is appended. */
static bool compare(GKeyFile *const *job, int n, const char *section, const char *key, GPtrArray *differences)
{
    bool differ;
    char **value = values_of(job, n, section, key, &differ);
    if (differ) {
        xlm_job_difference *d = g_new(xlm_job_difference, 1);
        *d = (xlm_job_difference){g_strdup(section), g_strdup(key), value};
        g_ptr_array_add(differences, d);
    } else {
        g_strfreev(value);
    }
    return differ;
}

/* Keys of one section, those of job 0 first, each once. A section that a job lacks is one difference. */
static void compare_section(GKeyFile *const *job, int n, const char *section, GPtrArray *differences)
{
    if (compare(job, n, section, NULL, differences))
        return;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int i = 0; i < n; i++) {
        g_auto(GStrv) keys = g_key_file_get_keys(job[i], section, NULL, NULL);
        for (char **key = keys; key != NULL && *key != NULL; key++)
            if (g_hash_table_add(seen, g_strdup(*key)))
                compare(job, n, section, *key, differences);
    }
}

/* Sizes of the model that are 0 become what they mean, where their values can be read. */
static void fill_in_sizes(GKeyFile *job)
{
    xlm_model_config written = {0}, meant;
    bool good = true;
    for (const xlm_option *o = xlm_model_options; o->name != NULL; o++) {
        g_autofree char *text = o->type == XLM_OPTION_INT ? g_key_file_get_value(job, "model", o->name, NULL) : NULL;
        good = (text == NULL || xlm_option_set(o, text, &written, NULL)) && good;
    }
    meant = written;
    xlm_model_fill_in_sizes(&meant);
    for (const xlm_option *o = xlm_model_options; good && o->name != NULL; o++) {
        g_autofree char *before = xlm_option_print(o, &written), *after = xlm_option_print(o, &meant);
        if (strcmp(before, after) != 0 && g_key_file_has_key(job, "model", o->name, NULL))
            g_key_file_set_value(job, "model", o->name, after);
    }
}

GPtrArray *xlm_job_differences(const char *const *text, int n)
{
    GPtrArray *differences = g_ptr_array_new_with_free_func(free_difference);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    GKeyFile **job = g_new(GKeyFile *, n);
    bool good = true;
    for (int i = 0; i < n; i++) {
        job[i] = g_key_file_new();
        good = g_key_file_load_from_data(job[i], text[i], strlen(text[i]), G_KEY_FILE_NONE, NULL) && good;
        fill_in_sizes(job[i]);
    }
    for (int i = 0; i < n && good; i++) {
        g_auto(GStrv) sections = g_key_file_get_groups(job[i], NULL);
        for (char **section = sections; *section != NULL; section++)
            if (g_hash_table_add(seen, g_strdup(*section)))
                compare_section(job, n, *section, differences);
    }
    for (int i = 0; i < n; i++)
        g_key_file_free(job[i]);
    g_free(job);
    if (!good)
        g_clear_pointer(&differences, g_ptr_array_unref);
    return differences;
}
