/* xlm-mpi: rows of tables. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/csv.h"

#include <stdbool.h>

GPtrArray *xlm_csv_next_row(const char **at)
{
    GPtrArray *fields = g_ptr_array_new_with_free_func(g_free);
    GString *field = g_string_new("");
    const char *c = *at;
    bool quoted = false;
    for (; *c != '\0' && (quoted || *c != '\n'); c++) {
        if (*c == '"' && quoted && c[1] == '"')
            g_string_append_c(field, *c++);
        else if (*c == '"' && (quoted || field->len == 0))
            quoted = !quoted;
        else if (*c == ',' && !quoted)
            g_ptr_array_add(fields, g_strdup(field->str)), g_string_truncate(field, 0);
        else if (*c != '\r')
            g_string_append_c(field, *c);
    }
    *at = *c == '\n' ? c + 1 : c;
    g_ptr_array_add(fields, g_string_free(field, FALSE));
    return fields;
}
