/* xlm-mpi: the form in which a model was trained with pairs of sentences. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/model_pair_form.h"

#include <string.h>

static const char GROUP[] = "/job", NAME[] = "pair_form";

static bool is_value(GKeyFile *job, const char *section, const char *key, const char *wanted)
{
    g_autofree char *value = g_key_file_get_value(job, section, key, NULL);
    return g_strcmp0(value, wanted) == 0;
}

/* Of the text of a job with every key. g_free. */
static char *form_of_job(const char *text)
{
    g_autoptr(GKeyFile) job = g_key_file_new();
    if (!g_key_file_load_from_data(job, text, strlen(text), G_KEY_FILE_NONE, NULL))
        return NULL;
    g_auto(GStrv) sections = g_key_file_get_groups(job, NULL);
    for (char **section = sections; *section != NULL; section++)
        if (g_str_has_prefix(*section, "stream ") && is_value(job, *section, "type", "parallel"))
            return g_strdup(is_value(job, *section, "form", "bert") ? "bert" : "xlm");
    return NULL;
}

bool xlm_model_pair_form_write(xlm_store *store, const char *form, GError **error)
{
    return form == NULL || xlm_store_set_text(store, GROUP, NAME, form, error);
}

bool xlm_model_pair_form_read(const xlm_store *store, char **form, GError **error)
{
    *form = xlm_store_get_text(store, GROUP, NAME, NULL);
    g_autofree char *job = *form == NULL ? xlm_store_get_text(store, GROUP, "text", NULL) : NULL;
    if (job != NULL)
        *form = form_of_job(job);
    if (*form == NULL || strcmp(*form, "bert") == 0 || strcmp(*form, "xlm") == 0)
        return true;
    xlm_error_set(error, EX_DATAERR, "%s: %s: %s = %s, not bert or xlm; the file is damaged", xlm_store_path(store), GROUP, NAME,
                  *form);
    g_clear_pointer(form, g_free);
    return false;
}
