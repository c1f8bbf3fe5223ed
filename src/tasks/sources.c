/* xlm-mpi: lists of files in one or several languages, as users give them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/sources.h"

#include <string.h>

#include "text/lines.h"

bool xlm_task_language(const xlm_vocabulary *vocabulary, const char *name, bool needed, const char *how, int exit_code,
                       int *language, GError **error)
{
    *language = name != NULL ? xlm_vocabulary_find_language(vocabulary, name) : -1;
    if (*language >= 0 || (name == NULL && !needed))
        return true;
    g_autofree char *known = g_strjoinv(", ", (char **)xlm_vocabulary_language_names(vocabulary));
    if (name != NULL)
        xlm_error_set(error, exit_code, "the model has no language \"%s\"; it has %s", name, known);
    else
        xlm_error_set(error, exit_code, "the model has %s; give %s (one of %s)",
                      xlm_vocabulary_language_form(vocabulary) != NULL ? "tokens of languages" : "language embeddings", how, known);
    return false;
}

const char *xlm_task_source_language(const xlm_task_source *source) { return source->name != NULL ? source->name : "none"; }

/* Does an item give its language: is there a colon before any slash? */
static bool has_language(const char *item) { return item[strcspn(item, ":/")] == ':'; }

static bool read_source(const xlm_task_list *list, const char *item, xlm_task_source *source, GError **error)
{
    if (!has_language(item)) {
        *source = (xlm_task_source){-1, list->language, item};
        return xlm_task_language(list->vocabulary, list->language, list->needed, list->how, list->exit_code, &source->language,
                                 error);
    }
    const char *path = strchr(item, ':') + 1;
    if (*item == ':')
        return xlm_error_set(error, list->exit_code, "%s: %s: the language before the colon is empty; write LANG:FILE, or FILE "
                             "alone", list->what, item);
    if (*path == '\0')
        return xlm_error_set(error, list->exit_code, "%s: %s: there is no file after the language; write LANG:FILE", list->what,
                             item);
    g_autofree char *name = g_strndup(item, (gsize)(path - 1 - item));
    g_autoptr(GError) why = NULL;
    if (!xlm_task_language(list->vocabulary, name, true, list->how, list->exit_code, &source->language, &why))
        return xlm_error_set(error, list->exit_code, "%s: %s: %s; a file with a colon in its name is written ./%s", list->what,
                             item, why->message, item);
    source->name = xlm_vocabulary_language_names(list->vocabulary)[source->language];
    source->path = path;
    return true;
}

xlm_task_source *xlm_task_sources_read(const xlm_task_list *list, char *const *items, int64_t *n, GError **error)
{
    *n = g_strv_length((char **)items);
    xlm_task_source *sources = g_new0(xlm_task_source, *n);
    for (int64_t i = 0; i < *n; i++)
        if (!read_source(list, items[i], &sources[i], error)) {
            g_free(sources);
            return NULL;
        }
    return sources;
}

/* Add the text of a file, and its end, so that a line cannot go over from one file to the next unnoticed. */
static bool add_text(const char *path, GChecksum *sum, GError **error)
{
    enum { BUFFER = 1 << 16 };
    g_autofree char *bytes = g_malloc(BUFFER);
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    int64_t n = lines != NULL ? 0 : -1;
    while (lines != NULL && (n = xlm_lines_bytes(lines, bytes, BUFFER, error)) > 0)
        g_checksum_update(sum, (const guchar *)bytes, (gssize)n);
    g_checksum_update(sum, (const guchar *)"", 1);
    return n == 0;
}

bool xlm_task_sources_digest(const xlm_task_source *sources, int64_t n, uint64_t *digest, GError **error)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (int64_t i = 0; i < n; i++)
        if (!add_text(sources[i].path, sum, error))
            return false;
    g_autofree char *start = g_strndup(g_checksum_get_string(sum), 16);
    *digest = MAX(g_ascii_strtoull(start, NULL, 16), 1);
    return true;
}

/* ---- sets ---- */

/* Divide sources into sets. A source with a language of its own is a set; all others are one set, in the place of the first. */
static GArray *cut(char *const *items, xlm_task_source *sources, int64_t n)
{
    GArray *sets = g_array_new(FALSE, FALSE, sizeof(xlm_task_set));
    g_autofree xlm_task_source *from = g_memdup2(sources, sizeof *from * (gsize)n);
    bool rest = false; /* the set of those without a language has been made */
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        const bool own = has_language(items[i]);
        if (!own && rest)
            continue;
        const xlm_task_source *first = &sources[at];
        for (int64_t k = i; k < (own ? i + 1 : n); k++)
            if (own || !has_language(items[k]))
                sources[at++] = from[k];
        rest |= !own;
        const xlm_task_set set = {first, &sources[at] - first, !own};
        g_array_append_val(sets, set);
    }
    return sets;
}

GArray *xlm_task_sets(const xlm_task_list *list, char *const *items, xlm_task_source *sources, int64_t n, GError **error)
{
    GArray *sets = cut(items, sources, n);
    for (guint i = 0; i < sets->len; i++)
        for (guint k = 0; k < i; k++) {
            const xlm_task_source *one = g_array_index(sets, xlm_task_set, k).sources;
            const xlm_task_source *other = g_array_index(sets, xlm_task_set, i).sources;
            if (one->language != other->language)
                continue;
            xlm_error_set(error, list->exit_code, "%s: two texts are of the same language, %s: %s and %s; files that are to be "
                          "scored together are listed without a language, which is said by %s", list->what,
                          xlm_task_source_language(other), one->path, other->path, list->how);
            g_array_unref(sets);
            return NULL;
        }
    return sets;
}
