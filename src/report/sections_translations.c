/* xlm-mpi: the sections of a report on runs: translations beside their references. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/sections.h"

#include <string.h>

#include "run/dev_translations.h"
#include "text/lines.h"

/* Maximum numbers of rows that are read from a file, of bytes of a row, and of examples that are shown for a direction. */
enum { MOST_ROWS = 2000, LONGEST_ROW = 1 << 16, SHOWN = 50 };

enum { STEP, DIRECTION, SOURCE, REFERENCE, TRANSLATION, FIELDS };

/* The files of a run; translations are numbered FILES · run + file. */
enum { BEST, NEWEST, FILES };
static const char *const files[FILES] = {XLM_BEST_TRANSLATIONS_FILE, XLM_TRANSLATIONS_FILE};

/* A pair of sentences, and its translations by each run. */
typedef struct example {
    char *source, *reference;
    int64_t number;          /* in the file where it was found first, from 0 */
    GPtrArray *translations; /* char * [FILES x runs] NULL: none */
} example;

typedef struct direction {
    char *name, **language; /* [2] */
    GPtrArray *examples;  /* example */
    GHashTable *known;    /* "SOURCE\tREFERENCE\tHOW OFTEN BEFORE": example */
} direction;

typedef struct translations {
    const xlm_sections *sections;
    GPtrArray *directions; /* direction */
    int64_t *step;         /* [FILES x runs] of the translations; -1: there are none */
} translations;

/* ---- memory ---- */

static void free_example(gpointer data)
{
    example *e = data;
    g_free(e->source);
    g_free(e->reference);
    g_ptr_array_unref(e->translations);
    g_free(e);
}

static void free_direction(gpointer data)
{
    direction *d = data;
    g_free(d->name);
    g_strfreev(d->language);
    g_ptr_array_unref(d->examples);
    g_hash_table_unref(d->known);
    g_free(d);
}

/* ---- reading ---- */

/* The languages of "en-de"; NULL: it is no direction. No name of a language has a hyphen. g_strfreev. */
static char **split_direction(const char *name)
{
    g_auto(GStrv) part = g_strsplit(name, "-", 3);
    const bool good = g_strv_length(part) == 2 && xlm_is_language_name(part[0]) && xlm_is_language_name(part[1]);
    return good ? g_steal_pointer(&part) : NULL;
}

static direction *find_direction(translations *t, const char *name)
{
    for (guint i = 0; i < t->directions->len; i++) {
        direction *d = t->directions->pdata[i];
        if (strcmp(d->name, name) == 0)
            return d;
    }
    direction *d = g_new0(direction, 1);
    d->language = split_direction(name);
    d->name = g_strdup(name);
    d->examples = g_ptr_array_new_with_free_func(free_example);
    d->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_ptr_array_add(t->directions, d);
    return d;
}

/* The fields of a row; NULL if it is cut short or damaged. g_strfreev. */
static char **read_row(const xlm_lines *lines, const char *text, size_t length, int64_t *step)
{
    if (length > LONGEST_ROW || !xlm_lines_terminated(lines) || !xlm_lines_check_text(lines, text, length, NULL))
        return NULL;
    g_autofree char *line = g_strndup(text, length);
    g_auto(GStrv) field = g_strsplit(line, "\t", FIELDS + 1);
    const bool good = g_strv_length(field) == FIELDS && g_ascii_string_to_signed(field[STEP], 10, 0, G_MAXINT64, step, NULL);
    g_auto(GStrv) languages = good ? split_direction(field[DIRECTION]) : NULL;
    return languages != NULL ? g_steal_pointer(&field) : NULL;
}

/* The rows of the newest evaluation; others, and damaged ones, count as bad. */
static GPtrArray *read_rows(xlm_lines *lines, int64_t *newest, int64_t *bad, bool *more, GError **error)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    const char *text;
    size_t length;
    *newest = -1;
    *bad = 0;
    *more = false;
    for (int64_t n = 0; xlm_lines_next(lines, &text, &length, error) == 1; n++) {
        int64_t step;
        if (n == MOST_ROWS) {
            *more = true;
            break;
        }
        char **row = read_row(lines, text, length, &step);
        if (row != NULL && step > *newest) {
            *bad += rows->len;
            g_ptr_array_set_size(rows, 0);
            *newest = step;
        }
        if (row != NULL && step == *newest)
            g_ptr_array_add(rows, row);
        else {
            g_strfreev(row);
            ++*bad;
        }
    }
    return rows;
}

/* The same pair may occur several times; its k-th occurrences in the files of several runs are one example. */
static void add_row(translations *t, int place, char **row, GHashTable *seen)
{
    direction *d = find_direction(t, row[DIRECTION]);
    g_autofree char *pair = g_strdup_printf("%s\t%s\t%s", row[DIRECTION], row[SOURCE], row[REFERENCE]);
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(seen, pair)), all = GPOINTER_TO_UINT(g_hash_table_lookup(seen, d->name));
    char *key = g_strdup_printf("%s\t%s\t%u", row[SOURCE], row[REFERENCE], before);
    g_hash_table_insert(seen, g_steal_pointer(&pair), GUINT_TO_POINTER(before + 1));
    g_hash_table_insert(seen, g_strdup(d->name), GUINT_TO_POINTER(all + 1));
    example *e = g_hash_table_lookup(d->known, key);
    if (e == NULL) {
        e = g_new(example, 1);
        *e = (example){g_strdup(row[SOURCE]), g_strdup(row[REFERENCE]), all, g_ptr_array_new_with_free_func(g_free)};
        g_ptr_array_set_size(e->translations, FILES * t->sections->runs->n);
        g_ptr_array_add(d->examples, e);
        g_hash_table_insert(d->known, key, e);
    } else
        g_free(key);
    e->translations->pdata[place] = g_strdup(row[TRANSLATION]);
}

static bool is_head(const char *text, size_t length)
{
    g_autofree char *head = g_strdelimit(g_strdup(XLM_TRANSLATIONS_HEAD), ",", '\t');
    return strlen(head) == length && memcmp(head, text, length) == 0;
}

/* Read one of the files of a run; anything that is wrong with it is noted. */
static void read_file(translations *t, int run, int which, xlm_page *page)
{
    g_autofree char *path = g_build_filename(t->sections->runs->run[run].directory, files[which], NULL);
    g_autoptr(GError) why = NULL;
    const char *text;
    size_t length;
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return;
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, &why);
    const int first = lines != NULL ? xlm_lines_next(lines, &text, &length, &why) : -1;
    if (first < 1 || !is_head(text, length)) {
        if (why != NULL)
            xlm_page_note(page, "%s", why->message);
        else
            xlm_page_note(page, "%s: is no file of translations by xlm_train", path);
        return;
    }
    int64_t bad;
    bool more;
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) rows = read_rows(lines, &t->step[FILES * run + which], &bad, &more, &why);
    /* The newest may be the best: once is enough. */
    const int64_t *step = t->step + FILES * run;
    for (guint i = 0; i < rows->len && (which != BEST || step[BEST] != step[NEWEST]); i++)
        add_row(t, FILES * run + which, rows->pdata[i], seen);
    if (bad > 0)
        xlm_page_note(page, "%s: %" G_GINT64_FORMAT " lines are cut short, damaged or of an older step, and are skipped", path, bad);
    if (more)
        xlm_page_note(page, "%s: has more than %d lines, and the others are left out", path, MOST_ROWS);
    if (why != NULL)
        xlm_page_note(page, "%s", why->message);
}

/* ---- writing ---- */

/* "base, best, step 20": the run, if there are several, and which of its evaluations. g_free. */
static char *label_of(const translations *t, int place)
{
    const xlm_runs *runs = t->sections->runs;
    const int64_t *step = t->step + place / FILES * FILES;
    GString *label = g_string_new(runs->n > 1 ? runs->run[place / FILES].label : "Translation");
    if (place % FILES == BEST)
        g_string_append(label, ", best");
    else if (step[BEST] == step[NEWEST])
        g_string_append(label, ", newest and best");
    else
        g_string_append(label, ", newest");
    g_string_append_printf(label, ", step %" G_GINT64_FORMAT, t->step[place]);
    return g_string_free(label, FALSE);
}

static void write_example(const translations *t, const direction *d, const example *e, char *const *labels)
{
    const bool several = t->sections->runs->n > 1;
    g_autofree xlm_page_text *texts = g_new(xlm_page_text, e->translations->len + 2);
    g_autofree char *heading = g_strdup_printf("Pair %" G_GINT64_FORMAT, e->number);
    int n = 0;
    texts[n++] = (xlm_page_text){"Source", -1, d->language[0], e->source};
    texts[n++] = (xlm_page_text){"Reference", -1, d->language[1], e->reference};
    for (int i = 0; i < (int)e->translations->len; i++)
        if (e->translations->pdata[i] != NULL)
            texts[n++] = (xlm_page_text){labels[i], several ? i / FILES : -1, d->language[1], e->translations->pdata[i]};
    xlm_page_text_group(t->sections->page, heading, n, texts);
}

static void write_direction(const translations *t, const direction *d, char *const *labels)
{
    const guint shown = MIN(d->examples->len, SHOWN);
    g_autoptr(GString) caption = g_string_new(NULL);
    g_string_printf(caption, "%s → %s", d->language[0], d->language[1]);
    if (shown < d->examples->len)
        g_string_append_printf(caption, "; the first %u of %u pairs", shown, d->examples->len);
    xlm_page_texts(t->sections->page, caption->str);
    for (guint i = 0; i < shown; i++)
        write_example(t, d, d->examples->pdata[i], labels);
    xlm_page_texts_end(t->sections->page);
}

bool xlm_section_translations(const xlm_sections *s, GError **error G_GNUC_UNUSED)
{
    const int n = FILES * s->runs->n;
    g_autofree int64_t *step = g_new(int64_t, n);
    g_auto(GStrv) labels = g_new0(char *, n + 1);
    translations t = {.sections = s, .directions = g_ptr_array_new_with_free_func(free_direction), .step = step};
    for (int i = 0; i < n; i++)
        step[i] = -1;
    for (int i = 0; i < s->runs->n; i++) {
        read_file(&t, i, NEWEST, s->page);
        read_file(&t, i, BEST, s->page);
    }
    for (int i = 0; i < n; i++)
        labels[i] = label_of(&t, i);
    if (t.directions->len > 0) {
        xlm_page_section(s->page, "translations", "Examples of translations");
        xlm_page_paragraph(s->page, "Held-out pairs, as words of the vocabulary, as the model translated them in the "
                           "evaluation with the highest score and in the newest one.");
    }
    for (guint i = 0; i < t.directions->len; i++)
        write_direction(&t, t.directions->pdata[i], labels);
    g_ptr_array_unref(t.directions);
    return true;
}
