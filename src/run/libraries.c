/* xlm-mpi: versions of the libraries that a program has loaded. SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "run/libraries.h"

#include <archive.h>
#include <gsl/gsl_version.h>
#include <jansson.h>
#include <libxml/parser.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uvernum.h>
#include <unicode/uversion.h>
#include <zlib.h>

#include "subwords/segmenter.h"

typedef struct search {
    const char *prefix; /* of the name of a file: "libscalapack" */
    char *path;
} search;

static int compare(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    search *s = data;
    g_autofree char *name = g_path_get_basename(info->dlpi_name);
    if (!g_str_has_prefix(name, s->prefix))
        return 0;
    s->path = g_strdup(info->dlpi_name);
    return 1;
}

/* The library by the file that its symbolic links lead to, since the name that the loader asks for has no more than the first number
 * of a version. */
static char *by_file(const char *name, const char *prefix)
{
    search s = {.prefix = prefix};
    dl_iterate_phdr(compare, &s);
    g_autofree char *path = s.path;
    char *whole = path != NULL ? realpath(path, NULL) : NULL;
    g_autofree char *file = path != NULL ? g_path_get_basename(whole != NULL ? whole : path) : NULL;
    free(whole);
    return file != NULL ? g_strdup_printf("%s (%s)", name, file) : g_strdup_printf("%s (linked statically)", name);
}

static char *icu(void)
{
    UVersionInfo version;
    char text[U_MAX_VERSION_STRING_LENGTH];
    u_getVersion(version);
    u_versionToString(version, text);
    return g_strdup_printf("ICU %s", text);
}

static char *jansson(void)
{
#if JANSSON_VERSION_HEX >= 0x020d00
    return g_strdup_printf("Jansson %s", jansson_version_str());
#else
    return g_strdup_printf("Jansson %s (its headers)", JANSSON_VERSION);
#endif
}

/* xmlParserVersion is "21307", or that and more. */
static char *libxml2(void)
{
    const long version = strtol(xmlParserVersion, NULL, 10);
    return g_strdup_printf("libxml2 %ld.%ld.%ld", version / 10000, version / 100 % 100, version % 100);
}

char **xlm_libraries_describe(void)
{
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    g_ptr_array_add(all, g_strdup_printf("GLib %u.%u.%u", glib_major_version, glib_minor_version, glib_micro_version));
    g_ptr_array_add(all, g_strdup_printf("GSL %s", gsl_version));
    g_ptr_array_add(all, icu());
    g_ptr_array_add(all, jansson());
    g_ptr_array_add(all, g_strdup(archive_version_string()));
    g_ptr_array_add(all, libxml2());
    g_ptr_array_add(all, by_file("ScaLAPACK", "libscalapack"));
    g_ptr_array_add(all, by_file("SLEEF", "libsleef"));
    g_ptr_array_add(all, g_strdup_printf("zlib %s", zlibVersion()));
    for (const xlm_segmenter_library *library = xlm_segmenter_libraries; library->name != NULL; library++)
        g_ptr_array_add(all, by_file(library->name, library->file));
    g_ptr_array_add(all, NULL);
    return (char **)g_ptr_array_steal(all, NULL);
}
