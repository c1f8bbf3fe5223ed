/* xlm-mpi: web pages as files of a directory. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "formats/html.h"

#include "files/files.h"

xlm_html_page *xlm_html_load(xlm_html_reader *reader, const char *path, GError **error)
{
    char *bytes;
    gsize size;
    g_autoptr(GError) cause = NULL;
    if (!xlm_files_load(path, &bytes, &size, &cause)) {
        xlm_error_set(error, EX_NOINPUT, "%s: cannot be read: %s", path, cause->message);
        return NULL;
    }
    xlm_html_page *page = xlm_html_read(reader, path, bytes, size, error);
    g_free(bytes);
    return page;
}

static bool is_page(const char *name)
{
    static const char *const endings[] = {".html", ".htm", ".xhtml", ".xht"};
    const char *ending = strrchr(name, '.');
    for (size_t i = 0; i < G_N_ELEMENTS(endings) && ending != NULL; i++)
        if (g_ascii_strcasecmp(ending, endings[i]) == 0)
            return true;
    return false;
}

/* Add the pages of root/folder and of the folders in it; folder "" is root itself. */
static bool list_folder(const char *root, const char *folder, GPtrArray *pages, GError **error)
{
    g_autofree char *path = g_build_filename(root, folder, NULL);
    g_autoptr(GError) cause = NULL;
    g_autoptr(GDir) entries = g_dir_open(path, 0, &cause);
    if (entries == NULL)
        xlm_error_set(error, EX_NOINPUT, "%s: cannot be read: %s", path, cause->message);
    bool good = entries != NULL;
    for (const char *name; good && (name = g_dir_read_name(entries)) != NULL;) {
        g_autofree char *relative = g_build_filename(folder, name, NULL), *full = g_build_filename(path, name, NULL);
        if (g_file_test(full, G_FILE_TEST_IS_DIR))
            good = g_file_test(full, G_FILE_TEST_IS_SYMLINK) || list_folder(root, relative, pages, error);
        else if (is_page(name))
            g_ptr_array_add(pages, g_strdup(relative));
    }
    return good;
}

static gint compare_paths(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

GPtrArray *xlm_html_list_pages(const char *root, GError **error)
{
    g_autoptr(GPtrArray) pages = g_ptr_array_new_with_free_func(g_free);
    bool good = list_folder(root, "", pages, error);
    if (good && pages->len == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: no page (.html, .htm, .xhtml, .xht) in it; name the directory of the pages",
                             root);
    if (!good)
        return NULL;
    g_ptr_array_sort(pages, compare_paths);
    return g_steal_pointer(&pages);
}
