/* xlm-mpi: a run's metrics.csv (train/report.h) as curves. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/curves.h"

#include <math.h>
#include <string.h>

#include "train/run.h" /* XLM_MEAN_LANGUAGE */

/* Fields of a row. */
enum { STEP, SPLIT, OBJECTIVE, LANGUAGE, TERMS, LOSS, PERPLEXITY, ACCURACY, RATE, NORM, TOKENS, SECONDS, SCORE, FIELDS };

static void free_curve(gpointer data)
{
    xlm_curve *c = data;
    g_free(c->name);
    g_array_unref(c->points);
    g_free(c);
}

static xlm_curve *find(const xlm_curves *curves, const char *name)
{
    for (guint i = 0; i < curves->curves->len; i++) {
        xlm_curve *c = curves->curves->pdata[i];
        if (strcmp(c->name, name) == 0)
            return c;
    }
    return NULL;
}

const xlm_curve *xlm_curves_find(const xlm_curves *curves, const char *name) { return find(curves, name); }

/* A step that comes again, or is not above the one before, takes the place of what was there from it on. */
static void add_point(xlm_curves *curves, char *name, bool more, bool every_step, xlm_curve_point point)
{
    xlm_curve *c = find(curves, name);
    if (c == NULL) {
        c = g_new(xlm_curve, 1);
        *c = (xlm_curve){name, more, every_step, g_array_new(FALSE, FALSE, sizeof(xlm_curve_point))};
        g_ptr_array_add(curves->curves, c);
    } else {
        g_free(name);
    }
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

/* false: something else stands there. An empty field is no value, and good. */
static bool read_value(const char *text, bool *there, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    *there = *text != '\0';
    return !*there || (*end == '\0' && strspn(text, "0123456789+-.e") == strlen(text) && isfinite(*value));
}

static bool take_row(xlm_curves *curves, char **field)
{
    static const struct { int field; const char *name; bool more; } kinds[] = {
        {LOSS, "loss", false}, {PERPLEXITY, "perplexity", false}, {ACCURACY, "accuracy", true}, {SCORE, NULL, true}};
    enum { KINDS = G_N_ELEMENTS(kinds) };
    xlm_curve_point point;
    double value[KINDS];
    bool there[KINDS];
    if (g_strv_length(field) != FIELDS || *field[SPLIT] == '\0' || *field[OBJECTIVE] == '\0' ||
        !read_step(field[STEP], &point.step))
        return false;
    for (int i = 0; i < KINDS; i++)
        if (!read_value(field[kinds[i].field], &there[i], &value[i]))
            return false;
    const bool training = strcmp(field[SPLIT], "train") == 0, held_out = strcmp(field[SPLIT], "held_out") == 0;
    if (held_out && *field[LANGUAGE] != '\0' && strcmp(field[LANGUAGE], "all") != 0)
        return true; /* one language of several */
    /* The means over the languages of a set stand before these, which then have curves of their own. */
    const bool mean = strcmp(field[LANGUAGE], XLM_MEAN_LANGUAGE) == 0;
    curves->several |= mean;
    const char *suffix = curves->several && !training && !held_out ? field[LANGUAGE] : NULL;
    for (int i = 0; i < KINDS; i++) {
        if (!there[i])
            continue;
        point.value = value[i];
        const bool loss = kinds[i].name == NULL && g_str_has_suffix(field[OBJECTIVE], "loss");
        char *name = g_strjoin(" ", field[SPLIT], field[OBJECTIVE], kinds[i].name, NULL);
        if (suffix != NULL) {
            char *of_set = name;
            name = g_strjoin(" ", of_set, suffix, NULL);
            g_free(of_set);
        }
        add_point(curves, name, kinds[i].more && !loss, training, point);
    }
    return true;
}

xlm_curves *xlm_curves_read(const char *path, GError **error)
{
    char *text = NULL;
    gsize length;
    GError *why = NULL;
    if (!g_file_get_contents(path, &text, &length, &why)) {
        xlm_error_set(error, EX_NOINPUT, "%s", why->message);
        g_error_free(why);
        return NULL;
    }
    xlm_curves *curves = g_new0(xlm_curves, 1);
    curves->curves = g_ptr_array_new_with_free_func(free_curve);
    for (char *line = text, *end = text + length, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        const bool cut = next == NULL;
        next = cut ? end : next + 1;
        char *row = g_strndup(line, (gsize)(next - line) - !cut);
        char **field = g_strsplit(row, ",", -1);
        const bool head = line == text && g_str_has_prefix(row, "step,");
        /* A NUL byte would hide what follows it. */
        const bool whole = !cut && strlen(row) == (size_t)(next - line) - 1;
        if (!head && (!whole || !take_row(curves, field)))
            curves->bad++;
        g_strfreev(field);
        g_free(row);
    }
    g_free(text);
    return curves;
}

void xlm_curves_free(xlm_curves *curves)
{
    if (curves == NULL)
        return;
    g_ptr_array_unref(curves->curves);
    g_free(curves);
}

int xlm_curve_find(const xlm_curve *curve, int64_t step)
{
    const xlm_curve_point *p = (const xlm_curve_point *)(const void *)curve->points->data;
    int low = 0, high = (int)curve->points->len;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (p[middle].step < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low < (int)curve->points->len && p[low].step == step ? low : -1;
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
