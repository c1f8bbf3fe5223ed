/* xlm-mpi: finding and loading plugins. SPDX-License-Identifier: GPL-3.0-or-later */
#include "options/plugins.h"

#include <string.h>

#include "files/path.h"
#include "options/options.h"

/* Directories of the modules that belong to the program. */
static void add_own_path(GPtrArray *path)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    if (program != NULL) {
        g_autofree char *folder = g_path_get_dirname(program), *base = g_path_get_basename(folder);
        /* libtool keeps the programs of a build tree in .libs and the modules in src/losses/.libs. */
        if (strcmp(base, ".libs") == 0)
            g_ptr_array_add(path, g_build_filename(folder, "..", "src", "losses", ".libs", NULL));
        g_ptr_array_add(path, g_build_filename(folder, "..", "lib", "xlm-mpi", "losses", NULL));
    }
    g_ptr_array_add(path, g_strdup(XLM_PLUGIN_DIR));
}

/* The directories in the order of the search, whether they exist or not. g_ptr_array_unref. */
static GPtrArray *search_path(void)
{
    GPtrArray *path = g_ptr_array_new_with_free_func(g_free);
    const char *given = g_getenv("XLM_PLUGIN_PATH");
    g_auto(GStrv) items = g_strsplit(given != NULL ? given : "", ":", 0);
    for (char **item = items; *item != NULL; item++)
        if (**item != '\0')
            g_ptr_array_add(path, g_strdup(*item));
    add_own_path(path);
    return path;
}

/* Is the module outside of the program's own directories, under whatever name? */
static bool is_of_user(const char *file)
{
    g_autoptr(GPtrArray) path = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *folder = g_path_get_dirname(file);
    add_own_path(path);
    bool own = false;
    for (guint i = 0; i < path->len; i++)
        own |= xlm_path_same_file(folder, path->pdata[i]);
    return !own;
}

/* The names or the prefixes of the kinds, each followed by `name`, separated by `between`. g_free. */
static char *join(const xlm_plugin_kind *const *kinds, bool prefixes, const char *name, const char *between)
{
    GString *out = g_string_new(NULL);
    for (const xlm_plugin_kind *const *kind = kinds; *kind != NULL; kind++)
        g_string_append_printf(out, "%s%s%s", kind > kinds ? between : "", prefixes ? (*kind)->prefix : (*kind)->name, name);
    return g_string_free(out, FALSE);
}

static void refuse_absent(const xlm_plugin_kind *const *kinds, const char *name, const char *tried, GError **error)
{
    g_auto(GStrv) names = xlm_plugin_names();
    g_autofree char *known = g_strjoinv(", ", names), *wanted = join(kinds, false, "", " or ");
    const char *suffix = g_str_has_suffix(name, ".so") ? "" : ".so";
    xlm_error_set(error, EX_CONFIG, "no %s plugin \"%s\" in %s; modules there: %s; a plugin of your own is named by its path "
                  "(plugin = ./%s%s)", wanted, name, tried, *known != '\0' ? known : "none", name, suffix);
}

static char *find(const xlm_plugin_kind *const *kinds, const char *name, GError **error)
{
    if (strchr(name, '/') != NULL)
        return g_strdup(name);
    g_autoptr(GPtrArray) path = search_path();
    g_autoptr(GString) tried = g_string_new(NULL);
    for (guint i = 0; i < path->len; i++) {
        g_autofree char *file = g_strdup_printf("%s/%s.so", (const char *)path->pdata[i], name);
        g_string_append_printf(tried, "%s%s", i > 0 ? ", " : "", (const char *)path->pdata[i]);
        if (g_file_test(file, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&file);
    }
    refuse_absent(kinds, name, tried->str, error);
    return NULL;
}

/* "dir/my-loss.so" -> "my_loss" */
static char *symbol_name(const char *file)
{
    char *base = g_path_get_basename(file), *dot = strrchr(base, '.');
    if (dot != NULL)
        *dot = '\0';
    return g_strcanon(base, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS, '_');
}

/* Find the class in the module, of the first kind of which it has one. */
static bool find_class(const xlm_plugin_kind *const *kinds, const char *file, xlm_plugin *plugin, GError **error)
{
    g_autofree char *name = symbol_name(file);
    gpointer address = NULL;
    for (const xlm_plugin_kind *const *kind = kinds; *kind != NULL && address == NULL; kind++) {
        g_autofree char *symbol = g_strconcat((*kind)->prefix, name, NULL);
        if (g_module_symbol(plugin->module, symbol, &address) && address != NULL)
            plugin->kind = *kind;
    }
    if (plugin->kind == NULL) {
        g_autofree char *wanted = join(kinds, false, "", " or "), *symbols = join(kinds, true, name, "\" or \"");
        xlm_error_set(error, EX_CONFIG, "%s: has no %s class \"%s\" (see %s)", file, wanted, symbols, kinds[0]->header);
    }
    plugin->cls = address;
    return plugin->kind != NULL;
}

static bool check_class(const char *file, xlm_plugin *plugin, GError **error)
{
    const uint32_t abi = *(const uint32_t *)plugin->cls;
    if (abi >= plugin->kind->abi_double)
        return xlm_error_set(error, EX_CONFIG, "%s: was compiled with -DXLM_DOUBLE, for checks of gradients alone; compile it again "
                             "without", file);
    if (abi != plugin->kind->abi)
        return xlm_error_set(error, EX_CONFIG, "%s: was built for plugin ABI %u, this program has %u; compile it again with this "
                             "version's %s", file, abi, plugin->kind->abi, plugin->kind->header);
    if (!plugin->kind->describe(plugin->cls, file, plugin, error))
        return false;
    if (plugin->options != NULL && plugin->state_size == 0)
        return xlm_error_set(error, EX_CONFIG, "%s: it declares options but no state_size to hold them", file);
    if (xlm_options_check_table(plugin->options, plugin->state_size, error))
        return true;
    g_prefix_error(error, "%s: ", file);
    return false;
}

bool xlm_plugin_load(const xlm_plugin_kind *const *kinds, const char *name, xlm_plugin *plugin, GError **error)
{
    *plugin = (xlm_plugin){0};
    g_autofree char *file = find(kinds, name, error);
    if (file == NULL)
        return false;
    plugin->module = g_module_open(file, G_MODULE_BIND_LOCAL);
    bool good = plugin->module != NULL ||
                xlm_error_set(error, EX_CONFIG, "%s: cannot be loaded: %s", file, g_module_error());
    good = good && find_class(kinds, file, plugin, error) && check_class(file, plugin, error);
    plugin->of_user = is_of_user(file);
    if (!good)
        xlm_plugin_unload(plugin);
    return good;
}

void xlm_plugin_unload(xlm_plugin *plugin)
{
    if (plugin->module != NULL)
        g_module_close(plugin->module);
    *plugin = (xlm_plugin){0};
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

char **xlm_plugin_names(void)
{
    g_autoptr(GPtrArray) path = search_path();
    GPtrArray *names = g_ptr_array_new();
    for (guint i = 0; i < path->len; i++) {
        g_autoptr(GDir) folder = g_dir_open(path->pdata[i], 0, NULL);
        const char *entry;
        while (folder != NULL && (entry = g_dir_read_name(folder)) != NULL) {
            g_autofree char *name = g_str_has_suffix(entry, ".so") ? g_strndup(entry, strlen(entry) - 3) : NULL;
            if (name != NULL && !g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
                g_ptr_array_add(names, g_steal_pointer(&name));
        }
    }
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}
