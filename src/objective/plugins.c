/* xlm-mpi: finding and loading objective plugins. SPDX-License-Identifier: GPL-3.0-or-later */
#include "objective/plugins.h"

#include <string.h>

/* Directories in the order of the search, existing or not; g_ptr_array_unref. */
static GPtrArray *search_path(void)
{
    GPtrArray *path = g_ptr_array_new_with_free_func(g_free);
    const char *given = g_getenv("XLM_PLUGIN_PATH");
    if (given != NULL && *given != '\0') {
        char **items = g_strsplit(given, ":", 0);
        for (char **item = items; *item != NULL; item++)
            if (**item != '\0')
                g_ptr_array_add(path, g_strdup(*item));
        g_strfreev(items);
    }
    char *program = g_file_read_link("/proc/self/exe", NULL);
    if (program != NULL) {
        char *folder = g_path_get_dirname(program), *base = g_path_get_basename(folder);
        /* libtool keeps the programs of a build tree in .libs and the modules in src/losses/.libs. */
        if (strcmp(base, ".libs") == 0)
            g_ptr_array_add(path, g_build_filename(folder, "..", "src", "losses", ".libs", NULL));
        g_ptr_array_add(path, g_build_filename(folder, "..", "lib", "xlm-mpi", "losses", NULL));
        g_free(base);
        g_free(folder);
        g_free(program);
    }
    g_ptr_array_add(path, g_strdup(XLM_PLUGIN_DIR));
    return path;
}

static char *find(const char *name, GError **error)
{
    if (strchr(name, '/') != NULL)
        return g_strdup(name);
    GPtrArray *path = search_path();
    GString *tried = g_string_new(NULL);
    char *found = NULL;
    for (guint i = 0; i < path->len && found == NULL; i++) {
        char *file = g_strdup_printf("%s/%s.so", (const char *)path->pdata[i], name);
        g_string_append_printf(tried, "%s%s", i > 0 ? ", " : "", (const char *)path->pdata[i]);
        if (g_file_test(file, G_FILE_TEST_EXISTS))
            found = file;
        else
            g_free(file);
    }
    if (found == NULL) {
        char **names = xlm_plugin_names();
        char *known = g_strjoinv(", ", names);
        xlm_error_set(error, EX_CONFIG, "no objective plugin \"%s\" in %s; there are: %s; a plugin of your own is named by its "
                      "path (plugin = ./%s.so)", name, tried->str, *known != '\0' ? known : "none", name);
        g_free(known);
        g_strfreev(names);
    }
    g_string_free(tried, TRUE);
    g_ptr_array_unref(path);
    return found;
}

/* "dir/my-loss.so" -> "xlm_loss_my_loss" */
static char *class_symbol(const char *file)
{
    char *base = g_path_get_basename(file);
    char *dot = strrchr(base, '.');
    if (dot != NULL)
        *dot = '\0';
    for (char *c = base; *c != '\0'; c++)
        if (!g_ascii_isalnum(*c))
            *c = '_';
    char *symbol = g_strconcat("xlm_loss_", base, NULL);
    g_free(base);
    return symbol;
}

static bool check_class(const char *file, const xlm_loss_class *cls, GError **error)
{
    if (cls->abi >= XLM_LOSS_ABI_DOUBLE)
        return xlm_error_set(error, EX_CONFIG, "%s: was compiled with -DXLM_DOUBLE, for checks of gradients alone; compile it again "
                             "without", file);
    if (cls->abi != XLM_LOSS_ABI)
        return xlm_error_set(error, EX_CONFIG, "%s: was built for plugin ABI %u, this program has %u; compile it again with this "
                             "version's xlm/loss.h", file, cls->abi, XLM_LOSS_ABI);
    if (cls->name == NULL || cls->summary == NULL || cls->loss == NULL)
        return xlm_error_set(error, EX_CONFIG, "%s: its class lacks a name, a summary or a loss function", file);
    if (cls->label != NULL && (cls->count != NULL || !cls->needs_stream))
        return xlm_error_set(error, EX_CONFIG, "%s: its class has a label function and a count, or reads no stream; label gives "
                             "the number of terms", file);
    if (cls->options != NULL && cls->state_size == 0)
        return xlm_error_set(error, EX_CONFIG, "%s: it declares options but no state_size to hold them", file);
    return true;
}

const xlm_loss_class *xlm_plugin_load(const char *name, GModule **module, GError **error)
{
    char *file = find(name, error);
    if (file == NULL)
        return NULL;
    const xlm_loss_class *cls = NULL;
    *module = g_module_open(file, G_MODULE_BIND_LOCAL);
    if (*module == NULL) {
        xlm_error_set(error, EX_CONFIG, "%s: cannot be loaded: %s", file, g_module_error());
    } else {
        char *symbol = class_symbol(file);
        gpointer address = NULL;
        if (!g_module_symbol(*module, symbol, &address) || address == NULL)
            xlm_error_set(error, EX_CONFIG, "%s: has no objective class \"%s\" (see xlm/loss.h)", file, symbol);
        else if (check_class(file, address, error))
            cls = address;
        g_free(symbol);
        if (cls == NULL) {
            g_module_close(*module);
            *module = NULL;
        }
    }
    g_free(file);
    return cls;
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **xlm_plugin_names(void)
{
    GPtrArray *path = search_path();
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < path->len; i++) {
        GDir *folder = g_dir_open(path->pdata[i], 0, NULL);
        const char *entry;
        while (folder != NULL && (entry = g_dir_read_name(folder)) != NULL) {
            if (!g_str_has_suffix(entry, ".so"))
                continue;
            char *name = g_strndup(entry, strlen(entry) - 3);
            bool known = false;
            for (guint k = 0; k < names->len; k++)
                known |= strcmp(names->pdata[k], name) == 0;
            if (known)
                g_free(name);
            else
                g_ptr_array_add(names, name);
        }
        if (folder != NULL)
            g_dir_close(folder);
    }
    g_ptr_array_unref(path);
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}
