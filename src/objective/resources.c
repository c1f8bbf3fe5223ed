/* xlm-mpi: files that objectives request, each read once. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/resources.h"

#include <stdlib.h>
#include <string.h>

struct xlm_resources {
    const xlm_resource_reader *const *readers;
    xlm_resource_origin origin;
    GArray *read; /* xlm_resource; paths are owned */
};

xlm_resources *xlm_resources_new(const xlm_resource_reader *const *readers, const xlm_resource_origin *origin)
{
    xlm_resources *r = g_new(xlm_resources, 1);
    *r = (xlm_resources){readers, *origin, g_array_new(FALSE, FALSE, sizeof(xlm_resource))};
    return r;
}

void xlm_resources_free(xlm_resources *resources)
{
    if (resources == NULL)
        return;
    for (guint i = 0; i < resources->read->len; i++) {
        const xlm_resource *r = &g_array_index(resources->read, xlm_resource, i);
        r->reader->free((void *)r->contents);
        g_free((char *)r->path);
    }
    g_array_unref(resources->read);
    g_free(resources);
}

static const xlm_resource_reader *find_reader(const xlm_resources *resources, const char *kind, GError **error)
{
    g_autoptr(GString) known = g_string_new(NULL);
    for (const xlm_resource_reader *const *r = resources->readers; *r != NULL; r++) {
        if (strcmp((*r)->kind, kind) == 0)
            return *r;
        g_string_append_printf(known, "%s%s", known->len > 0 ? ", " : "", (*r)->kind);
    }
    xlm_error_set(error, EX_CONFIG, "the objective asks for a file of kind \"%s\"; this program reads: %s", kind, known->str);
    return NULL;
}

const void *xlm_resources_get(xlm_resources *resources, const char *kind, const char *path, GError **error)
{
    for (guint i = 0; i < resources->read->len; i++) {
        const xlm_resource *r = &g_array_index(resources->read, xlm_resource, i);
        if (strcmp(r->reader->kind, kind) == 0 && strcmp(r->path, path) == 0)
            return r->contents;
    }
    const xlm_resource_reader *reader = find_reader(resources, kind, error);
    const void *contents = reader != NULL ? reader->read(path, &resources->origin, error) : NULL;
    if (contents != NULL) {
        const xlm_resource r = {reader, g_strdup(path), contents};
        g_array_append_val(resources->read, r);
    }
    return contents;
}

uint64_t xlm_resources_bytes(const xlm_resources *resources)
{
    uint64_t bytes = 0;
    for (guint i = 0; i < resources->read->len; i++) {
        const xlm_resource *r = &g_array_index(resources->read, xlm_resource, i);
        bytes += r->reader->bytes != NULL ? r->reader->bytes(r->contents) : 0;
    }
    return bytes;
}

static int by_kind_and_path(const void *a, const void *b)
{
    const xlm_resource *x = a, *y = b;
    const int kinds = strcmp(x->reader->kind, y->reader->kind);
    return kinds != 0 ? kinds : strcmp(x->path, y->path);
}

int xlm_resources_list(const xlm_resources *resources, xlm_resource **list)
{
    const guint n = resources->read->len;
    *list = g_memdup2(resources->read->data, sizeof **list * n);
    if (n > 0)
        qsort(*list, n, sizeof **list, by_kind_and_path);
    return (int)n;
}
