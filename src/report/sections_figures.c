/* xlm-mpi: the section of a report with figures of given points. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "files/files.h"
#include "report/csv.h"
#include "report/plot.h"
#include "report/sections.h"

static const char head[] = "figure,axis,line,x,y";
enum { FIELDS = 5 };

/* A figure of the table, with its lines in the order in which they came. */
typedef struct figure {
    char *title, *axis;
    GPtrArray *labels; /* char * */
    GPtrArray *lines;  /* GArray of xlm_plot_point */
} figure;

static void free_figure(gpointer data)
{
    figure *f = data;
    g_free(f->title);
    g_free(f->axis);
    g_ptr_array_unref(f->labels);
    g_ptr_array_unref(f->lines);
    g_free(f);
}

static figure *find_figure(GPtrArray *figures, const char *title, const char *axis)
{
    for (guint i = 0; i < figures->len; i++) {
        figure *f = figures->pdata[i];
        if (strcmp(f->title, title) == 0 && strcmp(f->axis, axis) == 0)
            return f;
    }
    figure *f = g_new(figure, 1);
    *f = (figure){g_strdup(title), g_strdup(axis), g_ptr_array_new_with_free_func(g_free),
                  g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref)};
    g_ptr_array_add(figures, f);
    return f;
}

/* NULL: the figure has as many lines as there are styles. */
static GArray *find_line(figure *f, const char *label)
{
    for (guint i = 0; i < f->labels->len; i++)
        if (strcmp(f->labels->pdata[i], label) == 0)
            return f->lines->pdata[i];
    if (f->labels->len == XLM_PAGE_STYLES)
        return NULL;
    g_ptr_array_add(f->labels, g_strdup(label));
    g_ptr_array_add(f->lines, g_array_new(FALSE, FALSE, sizeof(xlm_plot_point)));
    return f->lines->pdata[f->lines->len - 1];
}

static bool read_number(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    return *text != '\0' && *end == '\0' && isfinite(*value);
}

/* [out] figures: those of the table. EX_NOINPUT; EX_DATAERR: with the line that is not a point. */
static bool read_figures(const char *path, GPtrArray *figures, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) why = NULL;
    gsize size;
    if (!xlm_files_load(path, &text, &size, &why))
        return xlm_error_set(error, EX_NOINPUT, "%s", why->message);
    if (!g_utf8_validate(text, (gssize)size, NULL))
        return xlm_error_set(error, EX_DATAERR, "%s: is not text in UTF-8", path);
    const char *at = text;
    g_autoptr(GPtrArray) titles = xlm_csv_next_row(&at);
    g_ptr_array_add(titles, NULL);
    g_autofree char *first = g_strjoinv(",", (char **)titles->pdata);
    if (strcmp(first, head) != 0)
        return xlm_error_set(error, EX_DATAERR, "%s: is not a table of points, whose first line is %s", path, head);
    for (int number = 2; *at != '\0'; number++) {
        g_autoptr(GPtrArray) row = xlm_csv_next_row(&at);
        xlm_plot_point point;
        if (row->len != FIELDS || !read_number(row->pdata[3], &point.x) || !read_number(row->pdata[4], &point.y))
            return xlm_error_set(error, EX_DATAERR, "%s: row %d is not a point: %s, the last two finite numbers", path, number, head);
        GArray *line = find_line(find_figure(figures, row->pdata[0], row->pdata[1]), row->pdata[2]);
        if (line == NULL)
            return xlm_error_set(error, EX_DATAERR, "%s: row %d: the figure \"%s\" has more than %d lines", path, number,
                                 (char *)row->pdata[0], XLM_PAGE_STYLES);
        if (line->len > 0 && g_array_index(line, xlm_plot_point, line->len - 1).x >= point.x)
            return xlm_error_set(error, EX_DATAERR, "%s: row %d: x does not rise along the line \"%s\"", path, number,
                                 (char *)row->pdata[2]);
        g_array_append_val(line, point);
    }
    return true;
}

static bool draw(const xlm_sections *s, const figure *f, GError **error)
{
    xlm_plot *plot = xlm_plot_new(f->title, f->axis, NULL);
    plot->marks = plot->fractions = true;
    for (guint i = 0; i < f->lines->len; i++)
        xlm_plot_add(plot, f->labels->pdata[i], (int)i, g_array_ref(f->lines->pdata[i]));
    return xlm_plot_end(plot, s->page, f->lines->len > 1, error);
}

bool xlm_section_figures(const xlm_sections *s, GError **error)
{
    g_autoptr(GPtrArray) figures = g_ptr_array_new_with_free_func(free_figure);
    bool good = true;
    for (char **path = s->points; path != NULL && *path != NULL && good; path++)
        good = read_figures(*path, figures, error);
    if (!good || figures->len == 0)
        return good;
    xlm_page_section(s->page, "figures", "Other figures");
    xlm_sections_open_figures(s, false);
    for (guint i = 0; i < figures->len && good; i++)
        good = draw(s, figures->pdata[i], error);
    xlm_sections_close_figures(s);
    return good;
}
