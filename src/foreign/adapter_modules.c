/* xlm-mpi: what forms of directories of adapters need: modules, tensors. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "foreign/adapter_directory.h"

const xlm_safetensor *xlm_adapter_directory_find(xlm_adapter_directory *d, const char *name)
{
    const xlm_safetensor *t = xlm_safetensors_find(d->tensors, name);
    if (t != NULL)
        g_hash_table_add(d->used, (void *)(uintptr_t)t);
    return t;
}

bool xlm_adapter_directory_is_nothing(const json_t *value)
{
    return json_is_null(value) || json_is_false(value) || (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

char *xlm_adapter_directory_module(const xlm_adapter_directory *d, const char *linear, xlm_tensor_part *part)
{
    static const char weight[] = ".weight";
    g_autofree char *parameter = g_strconcat(linear, "/weight", NULL);
    char *name = xlm_architecture_tensor(d->architecture, d->bare, parameter, part);
    if (name != NULL && g_str_has_suffix(name, weight))
        name[strlen(name) - strlen(weight)] = '\0';
    return name;
}
