/* xlm-mpi: a run's metrics.csv (run/report.h) as curves. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/curves.h"

#include <math.h>
#include <string.h>

#include "files/files.h"
#include "run/measures.h"

/* Columns of a row, and their names. */
enum { STEP, SPLIT, OBJECTIVE, LANGUAGE, LOSS, PERPLEXITY, ACCURACY, RATE, NORM, TOKENS, SECONDS, SCORE, COLUMNS };
static const char *const titles[COLUMNS] = {"step", "split", "objective", "language", "loss", "perplexity", "accuracy",
                                            "learning_rate", "gradient_norm", "tokens", "seconds", "score"};

/* Where the columns are. */
typedef struct layout {
    int field[COLUMNS]; /* -1: there is no such column */
    guint fields;
} layout;

static layout read_head(const char *line)
{
    g_auto(GStrv) title = g_strsplit(line, ",", -1);
    layout l = {.fields = g_strv_length(title)};
    for (int c = 0; c < COLUMNS; c++) {
        l.field[c] = -1;
        for (guint i = 0; i < l.fields; i++)
            if (strcmp(g_strstrip(title[i]), titles[c]) == 0)
                l.field[c] = (int)i;
    }
    return l;
}

static void free_curve(gpointer data)
{
    xlm_curve *c = data;
    g_free(c->name);
    g_free(c->split);
    g_free(c->objective);
    g_free(c->language);
    g_array_unref(c->points);
    g_free(c);
}

const xlm_curve *xlm_curves_find(const xlm_curves *curves, const char *name) { return g_hash_table_lookup(curves->names, name); }

/* A step that occurs again, or is not above the one before, replaces all rows from that step on. */
static void add_point(xlm_curve *c, xlm_curve_point point)
{
    while (c->points->len > 0 && g_array_index(c->points, xlm_curve_point, c->points->len - 1).step >= point.step)
        g_array_set_size(c->points, c->points->len - 1);
    g_array_append_val(c->points, point);
}

static bool read_step(const char *text, int64_t *step)
{
    guint64 value;
    const bool good = g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64, &value, NULL);
    *step = good ? (int64_t)value : 0;
    return good;
}

/* false: something else is there. An empty field is not a value, and good. */
static bool read_value(const char *text, bool *there, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    const bool good = *text == '\0' || (*end == '\0' && strspn(text, "0123456789+-.e") == strlen(text) && isfinite(*value));
    *there = good && *text != '\0';
    return good;
}

/* A row: the curves of its columns are created with their first values. */
typedef struct row {
    const char *split, *objective, *language;
    bool training, named; /* named: the curve's name has the language */
} row;

static xlm_curve *get_curve(xlm_curves *curves, const row *r, int column)
{
    static const char *const shown[COLUMNS] = {[LOSS] = "loss", [PERPLEXITY] = "perplexity", [ACCURACY] = "accuracy",
                                               [RATE] = "learning_rate", [NORM] = "gradient_norm", [TOKENS] = "tokens",
                                               [SECONDS] = "seconds"};
    const bool held_out = strcmp(r->split, "held_out") == 0;
    const bool of_one = held_out && *r->language != '\0' && strcmp(r->language, "all") != 0;
    char name[256];
    const int length = g_snprintf(name, sizeof name, "%s %s%s%s%s%s", r->split, r->objective, shown[column] != NULL ? " " : "",
                                  shown[column] != NULL ? shown[column] : "", r->named || of_one ? " " : "",
                                  r->named || of_one ? r->language : "");
    if (length >= (int)sizeof name)
        return NULL;
    xlm_curve *c = g_hash_table_lookup(curves->names, name);
    if (c != NULL)
        return c;
    c = g_new(xlm_curve, 1);
    *c = (xlm_curve){.name = g_strdup(name), .split = g_strdup(r->split), .objective = g_strdup(r->objective),
                     .language = g_strdup(r->language), .quantity = titles[column],
                     .detail = of_one || (column >= RATE && column <= SECONDS),
                     .more = column == ACCURACY || (column == SCORE && xlm_measure_rises(r->objective)),
                     .every_step = r->training,
                     .points = g_array_new(FALSE, FALSE, sizeof(xlm_curve_point))};
    g_ptr_array_add(curves->curves, c);
    g_hash_table_insert(curves->names, c->name, c);
    return c;
}

/* false: some of it is damaged. */
static bool take_row(xlm_curves *curves, const layout *l, char **field)
{
    const char *text[COLUMNS];
    xlm_curve_point point;
    for (int c = 0; c < COLUMNS; c++)
        text[c] = l->field[c] >= 0 ? field[l->field[c]] : "";
    if (*text[SPLIT] == '\0' || *text[OBJECTIVE] == '\0' || !read_step(text[STEP], &point.step))
        return false;
    row r = {.split = text[SPLIT], .objective = text[OBJECTIVE], .language = text[LANGUAGE],
             .training = strcmp(text[SPLIT], "train") == 0};
    /* Other runs may have scores of other languages. */
    r.named = !r.training && strcmp(r.split, "held_out") != 0 && *r.language != '\0';
    bool good = true;
    for (int c = LOSS; c < COLUMNS; c++) {
        bool there;
        good &= read_value(text[c], &there, &point.value);
        xlm_curve *curve = there ? get_curve(curves, &r, c) : NULL;
        if (curve != NULL)
            add_point(curve, point);
        good &= !there || curve != NULL;
    }
    return good;
}

xlm_curves *xlm_curves_read(const char *path, GError **error)
{
    g_autofree char *text = NULL;
    gsize length = 0;
    g_autoptr(GError) why = NULL;
    if (path != NULL && !xlm_files_load(path, &text, &length, &why)) {
        xlm_error_set(error, EX_NOINPUT, "%s", why->message);
        return NULL;
    }
    xlm_curves *curves = g_new0(xlm_curves, 1);
    curves->curves = g_ptr_array_new_with_free_func(free_curve);
    curves->names = g_hash_table_new(g_str_hash, g_str_equal);
    layout l = read_head("step,split,objective,language,terms,loss,perplexity,accuracy,learning_rate,gradient_norm,tokens,"
                         "seconds,score");
    for (char *line = text, *end = text + length, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        const bool cut = next == NULL;
        next = cut ? end : next + 1;
        g_autofree char *text_of_row = g_strndup(line, (gsize)(next - line) - !cut);
        /* A NUL byte would hide what follows it. */
        const bool whole = !cut && strlen(text_of_row) == (size_t)(next - line) - 1;
        if (line == text && whole && g_str_has_prefix(text_of_row, "step,")) {
            l = read_head(text_of_row);
        } else {
            g_auto(GStrv) field = g_strsplit(text_of_row, ",", -1);
            if (!whole || g_strv_length(field) != l.fields || !take_row(curves, &l, field))
                curves->bad++;
        }
    }
    return curves;
}

void xlm_curves_free(xlm_curves *curves)
{
    if (curves == NULL)
        return;
    g_hash_table_unref(curves->names);
    g_ptr_array_unref(curves->curves);
    g_free(curves);
}

static gint by_step(gconstpointer a, gconstpointer b)
{
    const int64_t x = ((const xlm_curve_point *)a)->step, y = ((const xlm_curve_point *)b)->step;
    return (x > y) - (x < y);
}

int xlm_curve_find(const xlm_curve *curve, int64_t step)
{
    const xlm_curve_point wanted = {.step = step};
    guint at;
    return g_array_binary_search(curve->points, &wanted, by_step, &at) ? (int)at : -1;
}

xlm_curve_point xlm_curve_best(const xlm_curve *curve)
{
    xlm_curve_point best = g_array_index(curve->points, xlm_curve_point, 0);
    for (guint i = 1; i < curve->points->len; i++) {
        const xlm_curve_point p = g_array_index(curve->points, xlm_curve_point, i);
        if (curve->more ? p.value > best.value : p.value < best.value)
            best = p;
    }
    return best;
}
