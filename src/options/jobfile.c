/* xlm-mpi: job files, read and checked for form. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * GLib's key files hold the values. They merge what occurs twice, give no line numbers and have no ';' comments. So the text is
 * first read line by line: this finds each error with its line, and makes a clean text for GLib. */
#include "options/jobfile.h"

#include <stdarg.h>
#include <string.h>

#include "base/log.h"
#include "files/files.h"
#include "options/nearest.h"

struct xlm_jobfile {
    char *path;
    const xlm_jobfile_kind *kinds;
    GKeyFile *keys;
    GHashTable *lines; /* "section\nkey" or "section\n" -> line number; FROM_COMMAND_LINE for an override */
};

enum { FROM_COMMAND_LINE = -1 };

/* ---- where things are ---- */

static int find_line(const xlm_jobfile *job, const char *section, const char *key)
{
    g_autofree char *place = g_strconcat(section, "\n", key, NULL);
    return GPOINTER_TO_INT(g_hash_table_lookup(job->lines, place));
}

static void note_line(xlm_jobfile *job, const char *section, const char *key, int line)
{
    g_hash_table_insert(job->lines, g_strconcat(section, "\n", key, NULL), GINT_TO_POINTER(line));
}

char *xlm_jobfile_place(const xlm_jobfile *job, const char *section, const char *key)
{
    const int line = find_line(job, section, key == NULL ? "" : key);
    if (line == FROM_COMMAND_LINE)
        return g_strdup_printf("--set %s.%s", section, key);
    if (line > 0)
        return g_strdup_printf("%s:%d: [%s]", job->path, line, section);
    return g_strdup_printf("%s: [%s]", job->path, section);
}

bool xlm_jobfile_refuse(const xlm_jobfile *job, const char *section, const char *key, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments), *place = xlm_jobfile_place(job, section, key);
    va_end(arguments);
    return xlm_error_set(error, EX_CONFIG, "%s: %s", place, what);
}

/* ---- names ---- */

/* Names become parts of HDF5 paths and of file names. */
static bool is_name(const char *text)
{
    bool good = *text != '\0' && *text != '.';
    for (; *text != '\0' && good; text++)
        good = g_ascii_isalnum(*text) || strchr("_-.", *text) != NULL;
    return good;
}

bool xlm_jobfile_is_key(const char *text) { return is_name(text) && strchr(text, '.') == NULL; }

static const xlm_jobfile_kind *find_kind(const xlm_jobfile *job, const char *name)
{
    const xlm_jobfile_kind *kind = job->kinds;
    while (kind->name != NULL && strcmp(kind->name, name) != 0)
        kind++;
    return kind->name == NULL ? NULL : kind;
}

static bool refuse_kind(const xlm_jobfile *job, const char *place, const char *kind, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const xlm_jobfile_kind *k = job->kinds; k->name != NULL; k++)
        g_ptr_array_add(names, (void *)k->name);
    g_autofree char *advice = xlm_nearest_advice(kind, (const char *const *)names->pdata, names->len);
    return xlm_error_set(error, EX_CONFIG, "%s: unknown section [%s]; %s", place, kind, advice);
}

/* The section that `text`, the text between the brackets, names: "stream mono" with one blank. NULL on error. g_free. */
static char *read_section(const xlm_jobfile *job, const char *place, const char *text, GError **error)
{
    g_autofree char *kind_name = g_strndup(text, strcspn(text, " \t"));
    const char *name = text + strlen(kind_name);
    name += strspn(name, " \t");
    const xlm_jobfile_kind *kind = find_kind(job, kind_name);
    char *section = NULL;
    if (kind == NULL)
        refuse_kind(job, place, kind_name, error);
    else if (!kind->named && *name != '\0')
        xlm_error_set(error, EX_CONFIG, "%s: [%s] is a section without a name; write [%s]", place, text, kind_name);
    else if (kind->named && *name == '\0')
        xlm_error_set(error, EX_CONFIG, "%s: [%s] needs a name; write [%s NAME]", place, kind_name, kind_name);
    else if (kind->named && !is_name(name))
        xlm_error_set(error, EX_CONFIG, "%s: \"%s\" cannot be the name of a section; use letters, digits, '_', '-' and "
                      "'.'", place, name);
    else
        section = kind->named ? g_strconcat(kind_name, " ", name, NULL) : g_strdup(kind_name);
    return section;
}

/* The present name of a key. place: for the warning, if it is a former name. */
static const char *present_name(const xlm_jobfile *job, const char *place, const char *section, const char *key)
{
    g_autofree char *kind_name = g_strndup(section, strcspn(section, " "));
    const xlm_jobfile_kind *kind = find_kind(job, kind_name);
    for (const char *const *pair = kind->former; pair != NULL && *pair != NULL; pair += 2)
        if (strcmp(pair[0], key) == 0) {
            xlm_log_warn("%s: %s is called %s now", place, pair[0], pair[1]);
            return pair[1];
        }
    return key;
}

/* ---- the text ---- */

/* The state while lines are read. */
typedef struct walk {
    xlm_jobfile *job;
    GString *clean; /* what GLib gets */
    char *section;  /* the one that the line is in; NULL before the first */
    int line;
} walk;

static bool walk_header(walk *w, char *text, GError **error)
{
    char *end = strchr(text, ']');
    g_autofree char *place = g_strdup_printf("%s:%d", w->job->path, w->line);
    if (end == NULL || end[1] != '\0')
        return xlm_error_set(error, EX_CONFIG, "%s: \"%s\" is not a section; write [SECTION] or [SECTION NAME] and nothing "
                             "after it", place, text);
    *end = '\0';
    g_free(w->section);
    if ((w->section = read_section(w->job, place, g_strstrip(text + 1), error)) == NULL)
        return false;
    const int before = find_line(w->job, w->section, "");
    if (before > 0)
        return xlm_error_set(error, EX_CONFIG, "%s: section [%s] is already in line %d; join the two", place, w->section, before);
    note_line(w->job, w->section, "", w->line);
    g_string_append_printf(w->clean, "[%s]\n", w->section);
    return true;
}

static bool walk_key(walk *w, char *text, GError **error)
{
    const char *path = w->job->path;
    char *value = strchr(text, '=');
    if (value == NULL)
        return xlm_error_set(error, EX_CONFIG, "%s:%d: \"%s\" is neither [SECTION] nor KEY = VALUE; a comment begins "
                             "with #", path, w->line, text);
    *value++ = '\0';
    const char *key = g_strstrip(text);
    if (!xlm_jobfile_is_key(key))
        return xlm_error_set(error, EX_CONFIG, "%s:%d: \"%s\" cannot be a key; write KEY = VALUE", path, w->line, key);
    if (w->section == NULL)
        return xlm_error_set(error, EX_CONFIG, "%s:%d: key \"%s\" is before the first section; put a [SECTION] "
                             "above it", path, w->line, key);
    g_autofree char *place = g_strdup_printf("%s:%d: [%s]", path, w->line, w->section);
    key = present_name(w->job, place, w->section, key);
    const int before = find_line(w->job, w->section, key);
    if (before > 0)
        return xlm_error_set(error, EX_CONFIG, "%s: key \"%s\" is already in line %d; remove one of the two", place, key, before);
    note_line(w->job, w->section, key, w->line);
    g_string_append_printf(w->clean, "%s=%s\n", key, g_strstrip(value));
    return true;
}

static bool walk_line(walk *w, char *text, GError **error)
{
    text = g_strstrip(text);
    if (*text == '\0' || *text == '#' || *text == ';')
        return true;
    return *text == '[' ? walk_header(w, text, error) : walk_key(w, text, error);
}

/* Checks that text is UTF-8 without NUL; the error names the line. */
static bool check_encoding(const char *path, const char *text, size_t length, GError **error)
{
    const char *end;
    if (g_utf8_validate(text, (gssize)length, &end))
        return true;
    int line = 1;
    for (const char *p = text; p < end; p++)
        line += *p == '\n';
    return xlm_error_set(error, EX_CONFIG, "%s:%d: byte 0x%02x is not UTF-8 text; is this a job file?", path, line,
                         (unsigned char)*end);
}

static bool read_text(xlm_jobfile *job, const char *text, size_t length, GError **error)
{
    if (!check_encoding(job->path, text, length, error))
        return false;
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    const size_t skip = length >= 3 && memcmp(text, byte_order_mark, 3) == 0 ? 3 : 0;
    g_autofree char *copy = g_strndup(text + skip, length - skip);
    g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);
    walk w = {.job = job, .clean = g_string_new(NULL)};
    bool good = true;
    for (char **line = lines; *line != NULL && good; line++) {
        w.line++;
        good = walk_line(&w, *line, error);
    }
    g_autoptr(GError) failure = NULL;
    if (good && !g_key_file_load_from_data(job->keys, w.clean->str, w.clean->len, G_KEY_FILE_NONE, &failure))
        good = xlm_error_set(error, EX_CONFIG, "%s: %s", job->path, failure->message);
    g_string_free(w.clean, TRUE);
    g_free(w.section);
    return good;
}

/* ---- overrides ---- */

static bool refuse_absent(const xlm_jobfile *job, const char *argument, const char *section, GError **error)
{
    gsize n;
    g_auto(GStrv) groups = g_key_file_get_groups(job->keys, &n);
    const char *nearest = xlm_nearest(section, (const char *const *)groups, (guint)n);
    g_autofree char *advice = nearest != NULL ? g_strdup_printf("did you mean [%s]?", nearest) : g_strdup("add it there first");
    return xlm_error_set(error, EX_USAGE, "--set %s: %s has no section [%s]; %s", argument, job->path, section, advice);
}

static bool override(xlm_jobfile *job, const char *argument, GError **error)
{
    const char *equals = strchr(argument, '=');
    const char *dot = equals == NULL ? NULL : g_strrstr_len(argument, equals - argument, ".");
    if (dot == NULL || dot == argument || strchr(argument, '\n') != NULL || !g_utf8_validate(argument, -1, NULL))
        return xlm_error_set(error, EX_USAGE, "--set %s: the form is --set SECTION.KEY=VALUE, as in --set "
                             "train.steps=100 or --set \"stream mono.batch=32\"", argument);
    g_autofree char *place = g_strdup_printf("--set %s", argument);
    g_autofree char *written = g_strndup(argument, (gsize)(dot - argument)), *key = g_strndup(dot + 1, (gsize)(equals - dot - 1));
    g_autofree char *value = g_strdup(equals + 1);
    g_strstrip(key);
    g_strstrip(value);
    g_autofree char *section = read_section(job, place, g_strstrip(written), error);
    bool good = section != NULL;
    if (!good && error != NULL)
        (*error)->code = EX_USAGE;
    if (good && !xlm_jobfile_is_key(key))
        good = xlm_error_set(error, EX_USAGE, "%s: \"%s\" cannot be a key", place, key);
    if (good && strchr(section, ' ') != NULL && !g_key_file_has_group(job->keys, section))
        good = refuse_absent(job, argument, section, error);
    if (good) {
        const char *present = present_name(job, place, section, key);
        g_key_file_set_value(job->keys, section, present, value);
        note_line(job, section, present, FROM_COMMAND_LINE);
    }
    return good;
}

/* ---- opening ---- */

xlm_jobfile *xlm_jobfile_parse(const char *name, const char *text, size_t length, const xlm_jobfile_kind *kinds,
                               char *const *overrides, GError **error)
{
    xlm_jobfile *job = g_new0(xlm_jobfile, 1);
    job->path = g_strdup(name);
    job->kinds = kinds;
    job->keys = g_key_file_new();
    job->lines = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool good = read_text(job, text, length, error);
    for (; good && overrides != NULL && *overrides != NULL; overrides++)
        good = override(job, *overrides, error);
    if (!good) {
        xlm_jobfile_free(job);
        return NULL;
    }
    return job;
}

xlm_jobfile *xlm_jobfile_load(const char *path, const xlm_jobfile_kind *kinds, char *const *overrides, GError **error)
{
    g_autofree char *text = NULL;
    gsize length;
    g_autoptr(GError) failure = NULL;
    if (xlm_files_load(path, &text, &length, &failure))
        return xlm_jobfile_parse(path, text, length, kinds, overrides, error);
    const bool missing = g_error_matches(failure, G_FILE_ERROR, G_FILE_ERROR_NOENT);
    xlm_error_set(error, EX_NOINPUT, "%s: %s", path, missing ? "no such job file" : failure->message);
    return NULL;
}

void xlm_jobfile_free(xlm_jobfile *job)
{
    if (job == NULL)
        return;
    g_key_file_free(job->keys);
    g_hash_table_unref(job->lines);
    g_free(job->path);
    g_free(job);
}

/* ---- reading ---- */

const char *xlm_jobfile_path(const xlm_jobfile *job) { return job->path; }

bool xlm_jobfile_has(const xlm_jobfile *job, const char *section) { return g_key_file_has_group(job->keys, section); }

char **xlm_jobfile_names(const xlm_jobfile *job, const char *kind)
{
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    g_autofree char *start = g_strconcat(kind, " ", NULL);
    g_auto(GStrv) groups = g_key_file_get_groups(job->keys, NULL);
    for (char **group = groups; *group != NULL; group++)
        if (g_str_has_prefix(*group, start))
            g_strv_builder_add(names, *group + strlen(start));
    return g_strv_builder_end(names);
}

char **xlm_jobfile_keys(const xlm_jobfile *job, const char *section)
{
    char **keys = g_key_file_get_keys(job->keys, section, NULL, NULL);
    return keys != NULL ? keys : g_new0(char *, 1);
}

char *xlm_jobfile_value(const xlm_jobfile *job, const char *section, const char *key)
{
    return g_key_file_get_value(job->keys, section, key, NULL);
}
