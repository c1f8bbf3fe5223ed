/* xlm-mpi: options that say which sentence pairs, of several commands. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/pair_options.h"

#include <string.h>

#include "model_aligner/model_links.h"

bool xlm_pair_options_languages(const char *text, char *languages[2], GError **error)
{
    if (text == NULL)
        return true;
    g_auto(GStrv) names = g_strsplit(text, ",", -1);
    const bool good = g_strv_length(names) == 2 && *names[0] != '\0' && *names[1] != '\0';
    for (int s = 0; s < 2 && good; s++)
        languages[s] = g_strdup(names[s]);
    return good || xlm_error_set(error, EX_USAGE, "--languages=%s: must be the languages of source and target, as in en,de", text);
}

bool xlm_pair_options_split(const char *text, xlm_split otherwise, bool splits[2], GError **error)
{
    const bool all = g_strcmp0(text, "all") == 0;
    xlm_split split = otherwise;
    const bool good = all || text == NULL || xlm_split_find(text, &split);
    for (int s = 0; s < 2; s++)
        splits[s] = all || s == (int)split;
    return good || xlm_error_set(error, EX_USAGE, "--split=%s: must be train, held_out or all", text);
}

bool xlm_pair_options_layer(const char *text, int64_t otherwise, int64_t *layer, GError **error)
{
    guint64 number;
    *layer = text == NULL ? otherwise : XLM_LAYER_ALL;
    if (text == NULL || strcmp(text, "all") == 0)
        return true;
    if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &number, NULL))
        return xlm_error_set(error, EX_USAGE, "--layer=%s: must be the number of a layer, from 0, or all", text);
    *layer = (int64_t)number;
    return true;
}
