/* xlm-mpi: parallel and monolingual text of a manual in several languages. SPDX-License-Identifier: GPL-3.0-or-later */
#include "formats/html_pairs.h"

#include <string.h>

#include "base/progress.h"
#include "formats/html.h"
#include "text/line_files.h"
#include "text/strings.h"

typedef struct language {
    char *name, *root;
    GPtrArray *paths;   /* all pages, sorted */
    guint next;         /* in paths */
    int64_t damaged;    /* pages */
    xlm_line_file *monolingual;
    xlm_strings *texts; /* that `monolingual` has */
    int64_t untranslated, repeated;

    /* For the path that is being read. */
    xlm_html_page *page;    /* NULL when there is none of this path */
    GHashTable *paragraphs; /* set of the page's xlm_html_paragraph, by id and occurrence */
} language;

/* Two languages, by index, the first as named before the second. */
typedef struct language_pair {
    guint side[2];
    xlm_line_file *files[2];
    xlm_strings *texts; /* pairs that the files have, each as "text\ntext" */
    int64_t equal, untranslated, repeated;
} language_pair;

struct xlm_html_pairs {
    GPtrArray *languages; /* language; the last may be the original alone, which is not written */
    guint outputs;        /* number of languages to write */
    guint original;       /* index, or G_MAXUINT */
    GArray *pairs;        /* language_pair */
    GPtrArray *files;     /* xlm_line_file */
};

static language *get_language(const xlm_html_pairs *pairs, guint i) { return pairs->languages->pdata[i]; }

/* ---- languages ---- */

static guint hash_paragraph(gconstpointer data)
{
    const xlm_html_paragraph *paragraph = data;
    return g_str_hash(paragraph->id) + paragraph->occurrence;
}

static gboolean same_place(gconstpointer a, gconstpointer b)
{
    const xlm_html_paragraph *p = a, *q = b;
    return p->occurrence == q->occurrence && strcmp(p->id, q->id) == 0;
}

static void free_language(gpointer data)
{
    language *l = data;
    g_free(l->name);
    g_free(l->root);
    if (l->paths != NULL)
        g_ptr_array_unref(l->paths);
    xlm_strings_free(l->texts);
    xlm_html_page_free(l->page);
    g_hash_table_destroy(l->paragraphs);
    g_free(l);
}

xlm_html_pairs *xlm_html_pairs_new(void)
{
    xlm_html_pairs *pairs = g_new0(xlm_html_pairs, 1);
    pairs->languages = g_ptr_array_new_with_free_func(free_language);
    pairs->original = G_MAXUINT;
    pairs->pairs = g_array_new(FALSE, FALSE, sizeof(language_pair));
    pairs->files = xlm_line_files_new();
    return pairs;
}

void xlm_html_pairs_free(xlm_html_pairs *pairs)
{
    if (pairs == NULL)
        return;
    for (guint i = 0; i < pairs->pairs->len; i++)
        xlm_strings_free(g_array_index(pairs->pairs, language_pair, i).texts);
    g_array_free(pairs->pairs, TRUE);
    g_ptr_array_unref(pairs->languages);
    g_ptr_array_unref(pairs->files);
    g_free(pairs);
}

static bool is_good_name(const char *name)
{
    return name[0] != '\0' && name[strspn(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_")] == '\0';
}

static guint find_language(const xlm_html_pairs *pairs, const char *name)
{
    for (guint i = 0; i < pairs->languages->len; i++)
        if (strcmp(get_language(pairs, i)->name, name) == 0)
            return i;
    return G_MAXUINT;
}

static bool add_language(xlm_html_pairs *pairs, const char *name, const char *root, GError **error)
{
    if (!is_good_name(name))
        return xlm_error_set(error, EX_USAGE, "%s=%s: the name of a language has letters, digits and '_'", name, root);
    if (find_language(pairs, name) != G_MAXUINT)
        return xlm_error_set(error, EX_USAGE, "%s=%s: language %s is given twice", name, root, name);
    language *l = g_new0(language, 1);
    l->name = g_strdup(name);
    l->root = g_strdup(root);
    l->paragraphs = g_hash_table_new(hash_paragraph, same_place);
    g_ptr_array_add(pairs->languages, l);
    return true;
}

bool xlm_html_pairs_add(xlm_html_pairs *pairs, const char *name, const char *root, GError **error)
{
    if (!add_language(pairs, name, root, error))
        return false;
    language *l = get_language(pairs, pairs->outputs++);
    l->monolingual = xlm_line_files_add(pairs->files, g_strconcat("mono.", name, NULL));
    l->texts = xlm_strings_new();
    for (guint i = 0; i + 1 < pairs->outputs; i++) {
        const char *first = get_language(pairs, i)->name;
        language_pair pair = {.side = {i, pairs->outputs - 1}, .texts = xlm_strings_new()};
        pair.files[0] = xlm_line_files_add(pairs->files, g_strdup_printf("%s-%s.%s", first, name, first));
        pair.files[1] = xlm_line_files_add(pairs->files, g_strdup_printf("%s-%s.%s", first, name, name));
        g_array_append_val(pairs->pairs, pair);
    }
    return true;
}

bool xlm_html_pairs_set_original(xlm_html_pairs *pairs, const char *name, const char *root, GError **error)
{
    if (root != NULL && !add_language(pairs, name, root, error))
        return false;
    pairs->original = find_language(pairs, name);
    return pairs->original != G_MAXUINT ||
           xlm_error_set(error, EX_USAGE, "the original %s is not one of the languages; give its pages too, %s=DIR", name, name);
}

/* ---- pages ---- */

/* The first path that not all languages have passed, or NULL. */
static const char *find_path(const xlm_html_pairs *pairs)
{
    const char *first = NULL;
    for (guint i = 0; i < pairs->languages->len; i++) {
        const language *l = get_language(pairs, i);
        const char *path = l->next < l->paths->len ? l->paths->pdata[l->next] : NULL;
        if (path != NULL && (first == NULL || strcmp(path, first) < 0))
            first = path;
    }
    return first;
}

static bool load_page(xlm_html_reader *reader, language *l, const char *path, GError **error)
{
    g_hash_table_remove_all(l->paragraphs);
    xlm_html_page_free(l->page);
    l->page = NULL;
    if (l->next == l->paths->len || strcmp(l->paths->pdata[l->next], path) != 0)
        return true;
    g_autofree char *file = g_build_filename(l->root, path, NULL);
    l->page = xlm_html_load(reader, file, error);
    if (l->page == NULL)
        return false;
    l->next++;
    l->damaged += l->page->damaged;
    for (guint i = 0; i < l->page->paragraphs->len; i++)
        g_hash_table_add(l->paragraphs, &g_array_index(l->page->paragraphs, xlm_html_paragraph, i));
    return true;
}

/* Is a paragraph of language i the same as the one in its place in the original? */
static bool is_untranslated(const xlm_html_pairs *pairs, guint i, const xlm_html_paragraph *paragraph)
{
    if (pairs->original == G_MAXUINT || pairs->original == i)
        return false;
    const xlm_html_paragraph *source = g_hash_table_lookup(get_language(pairs, pairs->original)->paragraphs, paragraph);
    return source != NULL && strcmp(source->text, paragraph->text) == 0;
}

static bool is_new(xlm_strings *texts, const char *text)
{
    const uint32_t before = xlm_strings_count(texts);
    return xlm_strings_add(texts, text, strlen(text)) == before;
}

static void take_monolingual(const xlm_html_pairs *pairs, guint i)
{
    language *l = get_language(pairs, i);
    for (guint j = 0; l->page != NULL && j < l->page->paragraphs->len; j++) {
        const xlm_html_paragraph *paragraph = &g_array_index(l->page->paragraphs, xlm_html_paragraph, j);
        if (is_untranslated(pairs, i, paragraph))
            l->untranslated++;
        else if (!is_new(l->texts, paragraph->text))
            l->repeated++;
        else
            xlm_line_file_append(l->monolingual, paragraph->text);
    }
}

static void take_pair(const xlm_html_pairs *pairs, language_pair *pair, const xlm_html_paragraph *a, const xlm_html_paragraph *b)
{
    if (strcmp(a->text, b->text) == 0) {
        pair->equal++;
        return;
    }
    if (is_untranslated(pairs, pair->side[0], a) || is_untranslated(pairs, pair->side[1], b)) {
        pair->untranslated++;
        return;
    }
    g_autofree char *both = g_strconcat(a->text, "\n", b->text, NULL);
    if (is_new(pair->texts, both)) {
        xlm_line_file_append(pair->files[0], a->text);
        xlm_line_file_append(pair->files[1], b->text);
    } else
        pair->repeated++;
}

static void take_pairs(const xlm_html_pairs *pairs, language_pair *pair)
{
    const language *a = get_language(pairs, pair->side[0]), *b = get_language(pairs, pair->side[1]);
    for (guint j = 0; a->page != NULL && j < a->page->paragraphs->len; j++) {
        const xlm_html_paragraph *paragraph = &g_array_index(a->page->paragraphs, xlm_html_paragraph, j);
        const xlm_html_paragraph *translation = g_hash_table_lookup(b->paragraphs, paragraph);
        if (translation != NULL && translation->occurrences == paragraph->occurrences)
            take_pair(pairs, pair, paragraph, translation);
    }
}

static bool read_path(const xlm_html_pairs *pairs, xlm_html_reader *reader, const char *path, GError **error)
{
    for (guint i = 0; i < pairs->languages->len; i++)
        if (!load_page(reader, get_language(pairs, i), path, error))
            return false;
    for (guint i = 0; i < pairs->outputs; i++)
        take_monolingual(pairs, i);
    for (guint i = 0; i < pairs->pairs->len; i++)
        take_pairs(pairs, &g_array_index(pairs->pairs, language_pair, i));
    return true;
}

/* If a language has no text, or two have no pair, the directories were probably mixed up. */
static bool check_files(const xlm_html_pairs *pairs, GError **error)
{
    for (guint i = 0; i < pairs->outputs; i++) {
        const language *l = get_language(pairs, i);
        if (l->monolingual->lines == 0)
            return xlm_error_set(error, EX_DATAERR, "%s: no paragraph with an id in %u pages that is not one of the original too",
                                 l->root, l->paths->len);
    }
    for (guint i = 0; i < pairs->pairs->len; i++) {
        const language_pair *pair = &g_array_index(pairs->pairs, language_pair, i);
        const language *a = get_language(pairs, pair->side[0]), *b = get_language(pairs, pair->side[1]);
        if (pair->files[0]->lines == 0)
            return xlm_error_set(error, EX_DATAERR,
                                 "%s, %s: no two paragraphs with the same path and id and different texts; are these the "
                                 "same manual (first pages: %s, %s)?", a->root, b->root, (char *)a->paths->pdata[0],
                                 (char *)b->paths->pdata[0]);
    }
    return true;
}

bool xlm_html_pairs_read(xlm_html_pairs *pairs, GError **error)
{
    for (guint i = 0; i < pairs->languages->len; i++) {
        language *l = get_language(pairs, i);
        l->paths = xlm_html_list_pages(l->root, error);
        if (l->paths == NULL)
            return false;
    }
    xlm_html_reader *reader = xlm_html_reader_new(error);
    bool good = reader != NULL;
    int64_t done = 0;
    xlm_progress progress = xlm_progress_begin("reading", 0, "pages");
    for (const char *path; good && (path = find_path(pairs)) != NULL; done++) {
        good = read_path(pairs, reader, path, error);
        xlm_progress_show(&progress, (double)done);
    }
    xlm_progress_end(&progress);
    xlm_html_reader_free(reader);
    return good && check_files(pairs, error);
}

/* ---- results ---- */

static void report_language(const language *l, GString *report)
{
    g_string_append_printf(report, "%s: %" G_GINT64_FORMAT " paragraphs, %" G_GINT64_FORMAT " words from %u pages",
                           l->monolingual->name, l->monolingual->lines, l->monolingual->words, l->paths->len);
    if (l->damaged > 0)
        g_string_append_printf(report, ", %" G_GINT64_FORMAT " of them with errors in their HTML", l->damaged);
    g_string_append_printf(report, "; left out: %" G_GINT64_FORMAT " not translated, %" G_GINT64_FORMAT " repeated\n",
                           l->untranslated, l->repeated);
}

static void report_pair(const xlm_html_pairs *pairs, const language_pair *pair, GString *report)
{
    const char *a = get_language(pairs, pair->side[0])->name, *b = get_language(pairs, pair->side[1])->name;
    g_string_append_printf(report,
                           "%s-%s: %" G_GINT64_FORMAT " pairs, %" G_GINT64_FORMAT " words %s, %" G_GINT64_FORMAT
                           " words %s; left out: %" G_GINT64_FORMAT " equal, ", a, b, pair->files[0]->lines,
                           pair->files[0]->words, a, pair->files[1]->words, b, pair->equal);
    if (pairs->original != G_MAXUINT && pairs->original != pair->side[0] && pairs->original != pair->side[1])
        g_string_append_printf(report, "%" G_GINT64_FORMAT " not translated, ", pair->untranslated);
    g_string_append_printf(report, "%" G_GINT64_FORMAT " repeated\n", pair->repeated);
}

char *xlm_html_pairs_report(const xlm_html_pairs *pairs)
{
    GString *report = g_string_new(NULL);
    for (guint i = 0; i < pairs->outputs; i++)
        report_language(get_language(pairs, i), report);
    for (guint i = 0; i < pairs->pairs->len; i++)
        report_pair(pairs, &g_array_index(pairs->pairs, language_pair, i), report);
    return g_string_free(report, FALSE);
}

bool xlm_html_pairs_write(const xlm_html_pairs *pairs, const char *directory, GError **error)
{
    return xlm_line_files_write(pairs->files, directory, error);
}
