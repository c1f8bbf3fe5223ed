/* xlm-mpi: figures of lines, drawn by gnuplot, inside a page. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/markup.h"

/* Size of a figure and its letters in pixels, before the page scales it; maximum numbers of tics of an axis, and of lines that
 * are described. */
enum { WIDTH = 440, HEIGHT = 270, LETTERS = 13, TICS = 5, DESCRIBED = 12 };
static const double LARGEST = 1e30;

typedef struct line {
    char *label;
    int style;
    GArray *points; /* xlm_plot_point */
} line;

typedef struct best_point {
    int style;
    xlm_plot_point point;
} best_point;
static const char BEST[] = "best checkpoint";

static void free_line(gpointer data)
{
    line *l = data;
    g_free(l->label);
    g_array_unref(l->points);
    g_free(l);
}

xlm_plot *xlm_plot_new(const char *title, const char *x, const char *note)
{
    xlm_plot *plot = g_new0(xlm_plot, 1);
    plot->title = g_strdup(title);
    plot->x = g_strdup(x);
    plot->note = g_strdup(note);
    plot->lines = g_ptr_array_new_with_free_func(free_line);
    plot->best = g_array_new(FALSE, FALSE, sizeof(best_point));
    return plot;
}

void xlm_plot_add(xlm_plot *plot, const char *label, int style, GArray *points)
{
    guint kept = 0;
    for (guint i = 0; i < points->len; i++) {
        const xlm_plot_point p = g_array_index(points, xlm_plot_point, i);
        if (fabs(p.x) <= LARGEST && fabs(p.y) <= LARGEST && (!plot->logarithmic || p.y > 1 / LARGEST))
            g_array_index(points, xlm_plot_point, kept++) = p;
    }
    g_array_set_size(points, kept);
    line *l = g_new(line, 1);
    *l = (line){.label = g_strdup(label), .style = style % XLM_PAGE_STYLES, .points = points};
    if (kept > 0)
        g_ptr_array_add(plot->lines, l);
    else
        free_line(l);
}

void xlm_plot_mark_best(xlm_plot *plot, int style, xlm_plot_point point)
{
    const best_point best = {style % XLM_PAGE_STYLES, point};
    if (fabs(point.y) <= LARGEST && (!plot->logarithmic || point.y > 1 / LARGEST))
        g_array_append_val(plot->best, best);
}

static void free_plot(xlm_plot *plot)
{
    g_array_unref(plot->best);
    g_free(plot->title);
    g_free(plot->x);
    g_free(plot->note);
    g_ptr_array_unref(plot->lines);
    g_free(plot);
}

/* ---- axes ---- */

typedef struct axis {
    double min, max;
} axis;

static void make_room(axis *x, axis *y, xlm_plot_point p)
{
    *x = (axis){fmin(x->min, p.x), fmax(x->max, p.x)};
    *y = (axis){fmin(y->min, p.y), fmax(y->max, p.y)};
}

static void find_axes(const xlm_plot *plot, axis *x, axis *y)
{
    *x = *y = (axis){INFINITY, -INFINITY};
    for (guint i = 0; i < plot->lines->len; i++) {
        const GArray *points = ((const line *)plot->lines->pdata[i])->points;
        for (guint k = 0; k < points->len; k++)
            make_room(x, y, g_array_index(points, xlm_plot_point, k));
    }
    /* A line may be of means, and its best point above all of them. */
    for (guint i = 0; i < plot->best->len; i++)
        make_room(x, y, g_array_index(plot->best, best_point, i).point);
    if (plot->logarithmic) {
        const double ratio = fmax(pow(y->max / y->min, 0.05), 1.1);
        *y = (axis){y->min / ratio, y->max * ratio};
    } else {
        const double room = fmax(0.05 * (y->max - y->min), fmax(0.02 * fabs(y->max), 1e-12));
        /* If no value is below 0, the axis does not go below 0. */
        *y = (axis){y->min >= 0 && y->min < room ? 0 : y->min - room, y->max + room};
    }
    const double room = fmax(0.01 * (x->max - x->min), x->max > x->min ? 0 : 0.5);
    *x = (axis){x->min - room, x->max + room};
}

/* The distance between tics: 1, 2 or 5 times a power of 10, of which at most TICS fit into the range. whole: at least 1, since
 * steps and layers have no fractions. */
static double find_step(double range, bool whole)
{
    const double smallest = range / TICS, power = pow(10, floor(log10(smallest))), ratio = smallest / power;
    const double step = power * (ratio <= 1 ? 1 : ratio <= 2 ? 2 : ratio <= 5 ? 5 : 10);
    return whole ? fmax(step, 1) : step;
}

/* step: the distance to the next tic, from which the label must differ; 0: it is far. */
static void append_tic(GString *script, double value, double step, bool *some)
{
    const double size = fabs(value);
    const char *unit = size >= 1e6 && size < 1e12 ? (size >= 1e9 ? "G" : "M") : size >= 1e4 && size < 1e6 ? "k" : "";
    const double shown = value / (*unit == 'G' ? 1e9 : *unit == 'M' ? 1e6 : *unit == 'k' ? 1e3 : 1);
    char place[G_ASCII_DTOSTR_BUF_SIZE], label[32];
    g_ascii_dtostr(place, sizeof place, value);
    g_autofree char *format = g_strdup_printf("%%.%dg", step > 0 && size > step ? MAX(5, (int)ceil(log10(size / step)) + 1) : 5);
    g_ascii_formatd(label, sizeof label, format, shown);
    g_string_append_printf(script, "%s\"%s%s\" %s", *some ? ", " : "", label, unit, place);
    *some = true;
}

static void append_tics(GString *script, char name, const axis *a, bool whole)
{
    const double step = find_step(a->max - a->min, whole);
    bool some = false;
    g_string_append_printf(script, "set %ctics (", name);
    for (double k = ceil(a->min / step - 1e-9); k * step <= a->max * (1 + 1e-12) && k < 1e15; k++)
        append_tic(script, k * step == 0 ? 0 : k * step, step, &some);
    g_string_append(script, ")\n");
}

/* Powers of 10, as many as there is room for, and 2 and 5 times these if there are fewer than 3 decades; less than 0.7 of a
 * decade has the tics of a linear axis. */
static void append_logarithmic_tics(GString *script, const axis *a)
{
    const double decades = log10(a->max / a->min), apart = ceil(decades / TICS);
    if (decades < 0.7) {
        append_tics(script, 'y', a, false);
        return;
    }
    bool some = false;
    g_string_append(script, "set ytics (");
    for (double k = floor(log10(a->min)); k <= log10(a->max); k += apart)
        for (int digit = 1; digit < 10; digit++) {
            const double value = digit * pow(10, k);
            const bool shown = digit == 1 || (decades < 3 && (digit == 2 || digit == 5));
            if (shown && value >= a->min && value <= a->max)
                append_tic(script, value, 0, &some);
        }
    g_string_append(script, ")\n");
}

/* ---- gnuplot ---- */

/* Twelve digits are more than a figure shows, but whole numbers keep all of theirs: times in microseconds have sixteen. */
static void append_number(GString *script, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(script, g_ascii_formatd(text, sizeof text, fabs(value) < 1e11 ? "%.12g" : "%.17g", value));
}

/* A place on the horizontal axis, in words. */
static void append_place(GString *out, double x)
{
    g_string_append_printf(out, x == floor(x) && fabs(x) < 1e15 ? " at %.0f" : " at %.6g", x);
}

static void append_range(GString *script, char name, const axis *a)
{
    g_string_append_printf(script, "set %crange [", name);
    append_number(script, a->min);
    g_string_append_c(script, ':');
    append_number(script, a->max);
    g_string_append(script, "]\n");
}

/* What gnuplot is given in place of the name of the horizontal axis, which rewrite() puts there. */
#define AXIS "name-of-the-axis"

/* Colours are numbers that rewrite() replaces by classes: blue is 1 + the style of a line; red = 1 is an axis, and with blue = 1
 * a label. */
static GString *make_script(const xlm_plot *plot)
{
    axis x, y;
    find_axes(plot, &x, &y);
    GString *script = g_string_new(NULL);
    g_string_printf(script, "set terminal svg size %d,%d dynamic noenhanced font \"sans-serif,%d\"\n"
                    "unset key\nset grid lt 1 lw 0.5\nset border 3 lc rgb \"#010000\" lw 0.7\nset tics nomirror scale 0.5 "
                    "textcolor rgb \"#010001\"\nset xlabel \"" AXIS "\" textcolor rgb \"#010001\" offset 0,0.4\nset tmargin 0.7\n"
                    "set rmargin 1.5\nset bmargin 2.9\n%s", WIDTH, HEIGHT, LETTERS,
                    plot->logarithmic ? "set logscale y\n" : "");
    append_range(script, 'x', &x);
    append_range(script, 'y', &y);
    append_tics(script, 'x', &x, !plot->fractions);
    if (plot->logarithmic)
        append_logarithmic_tics(script, &y);
    else
        append_tics(script, 'y', &y, false);
    for (guint i = 0; i < plot->lines->len; i++) {
        const GArray *points = ((const line *)plot->lines->pdata[i])->points;
        g_string_append_printf(script, "$line%u << END\n", i);
        for (guint k = 0; k < points->len; k++) {
            append_number(script, g_array_index(points, xlm_plot_point, k).x);
            g_string_append_c(script, ' ');
            append_number(script, g_array_index(points, xlm_plot_point, k).y);
            g_string_append_c(script, '\n');
        }
        g_string_append(script, "END\n");
    }
    for (guint i = 0; i < plot->best->len; i++) {
        const xlm_plot_point p = g_array_index(plot->best, best_point, i).point;
        g_string_append_printf(script, "$best%u << END\n", i);
        append_number(script, p.x);
        g_string_append_c(script, ' ');
        append_number(script, p.y);
        g_string_append(script, "\nEND\n");
    }
    for (guint i = 0; i < plot->lines->len; i++) {
        const line *l = plot->lines->pdata[i];
        g_string_append_printf(script, "%s$line%u with %s lc rgb \"#0000%02x\" lw 1.8 dt 1", i > 0 ? ", " : "plot ", i,
                               plot->marks || l->points->len == 1 ? "linespoints pt 7 ps 0.6" : "lines", 1 + l->style);
    }
    for (guint i = 0; i < plot->best->len; i++)
        g_string_append_printf(script, ", $best%u with points pt 7 ps 1.1 lc rgb \"#0000%02x\"", i,
                               1 + g_array_index(plot->best, best_point, i).style);
    g_string_append_c(script, '\n');
    return script;
}

bool xlm_plot_check(GError **error)
{
    g_autofree char *program = g_find_program_in_path("gnuplot");
    return program != NULL ||
           xlm_error_set(error, EX_UNAVAILABLE,
                         "gnuplot, which draws the figures, is not in PATH; install it (Debian/Ubuntu: gnuplot-nox)");
}

static bool call_gnuplot(char *script, char **svg, GError **error)
{
    char *const arguments[] = {"gnuplot", "-d", script, NULL};
    g_autofree char *complaint = NULL;
    g_autoptr(GError) why = NULL;
    int status = 0;
    bool good = g_spawn_sync(NULL, (char **)arguments, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, svg, &complaint, &status, &why);
    if (!good)
        xlm_error_set(error, EX_UNAVAILABLE, "gnuplot cannot be started: %s", why->message);
    else if (status != 0 || strstr(*svg, "</svg>") == NULL)
        good = xlm_error_set(error, EX_UNAVAILABLE, "gnuplot made no picture; it says: %s", g_strstrip(complaint));
    return good;
}

/* Run gnuplot. It reads the script from a file, so that neither process waits for the other. [out] svg: its picture; g_free. */
static bool run_gnuplot(const GString *script, char **svg, GError **error)
{
    g_autofree char *path = NULL;
    g_autoptr(GError) why = NULL;
    const int file = g_file_open_tmp("xlm_report-XXXXXX", &path, &why);
    bool good = file >= 0 && g_file_set_contents(path, script->str, (gssize)script->len, &why);
    good = good ? call_gnuplot(path, svg, error)
                : xlm_error_set(error, EX_CANTCREAT, "a temporary file for gnuplot: %s", why->message);
    if (file >= 0) {
        close(file);
        g_remove(path);
    }
    return good;
}

/* ---- from gnuplot's picture to the page's ---- */

static void replace_all(GString *text, const char *pattern, const char *with)
{
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    g_autofree char *changed = g_regex_replace_literal(regex, text->str, (gssize)text->len, 0, with, 0, NULL);
    g_string_assign(text, changed);
}

static gboolean make_class(const GMatchInfo *match, GString *out, gpointer data G_GNUC_UNUSED)
{
    g_autofree char *number = g_match_info_fetch(match, 1);
    g_string_append_printf(out, "class='s%d'", atoi(number) - 1);
    return FALSE;
}

static gboolean name_line(const GMatchInfo *match, GString *out, gpointer data)
{
    const xlm_plot *plot = data;
    g_autofree char *number = g_match_info_fetch(match, 1);
    const guint i = (guint)atoi(number) - 1;
    g_string_append(out, "<g><title>");
    if (i < plot->lines->len)
        xlm_markup_append(out, ((const line *)plot->lines->pdata[i])->label);
    else
        g_string_append(out, BEST);
    g_string_append(out, "</title>");
    return FALSE;
}

static void replace_each(GString *text, const char *pattern, GRegexEvalCallback with, const xlm_plot *plot)
{
    g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
    g_autofree char *changed = g_regex_replace_eval(regex, text->str, (gssize)text->len, 0, 0, with, (gpointer)plot, NULL);
    g_string_assign(text, changed);
}

/* Keep only what is drawn: no head, no empty groups, and no definitions, whose ids would occur several times in a page. */
static GString *rewrite(const xlm_plot *plot, const char *svg)
{
    const char *defined = strstr(svg, "</defs>"), *end = g_strrstr(svg, "</svg>");
    GString *drawn = g_string_new("<g>");
    if (defined == NULL || defined > end)
        return drawn;
    g_string_append_len(drawn, defined + strlen("</defs>"), end - defined - (gssize)strlen("</defs>"));
    replace_all(drawn, "<g [^>]*>\\s*</g>\\s*", "");
    replace_each(drawn, "(?:stroke|color)='rgb\\(  0,   0, +([0-9]+)\\)'", make_class, plot);
    replace_all(drawn, "stroke='rgb\\(  1,   0,   0\\)'", "class='axis'");
    replace_all(drawn, "fill=\"rgb\\(1,0,1\\)\"", "class=\"label\"");
    replace_all(drawn, "(?:stroke|color)=\"(?:rgb\\([ 0-9,]*\\)|black|gray|currentColor)\" ?", "");
    replace_all(drawn, "stroke='(?:rgb\\([ 0-9,]*\\)|black|gray|currentColor)' ?", "");
    replace_all(drawn, "<use xlink:href='#gpPt6'", "<circle r='1' stroke='none'");
    replace_each(drawn, "<g id=\"gnuplot_plot_([0-9]+)\" ?><title>[^<]*</title>", name_line, plot);
    replace_all(drawn, "font-family=\"sans-serif\" ", "");
    replace_all(drawn, "[ \\t]*\\n\\s*", "\n");
    g_autoptr(GString) name = g_string_new(NULL);
    xlm_markup_append(name, plot->x);
    g_string_replace(drawn, AXIS, name->str, 0);
    return drawn;
}

/* Describe the figure in words, for readers who cannot see it. */
static void append_description(GString *out, const xlm_plot *plot)
{
    g_string_append_printf(out, "%u %s by ", plot->lines->len, plot->lines->len == 1 ? "line" : "lines");
    xlm_markup_append(out, plot->x);
    g_string_append(out, ". ");
    for (guint i = 0; i < plot->lines->len && i < DESCRIBED; i++) {
        const line *l = plot->lines->pdata[i];
        const xlm_plot_point first = g_array_index(l->points, xlm_plot_point, 0);
        const xlm_plot_point last = g_array_index(l->points, xlm_plot_point, l->points->len - 1);
        char a[32], b[32];
        xlm_markup_append(out, l->label);
        g_string_append_printf(out, ": %s", xlm_page_number(first.y, a));
        append_place(out, first.x);
        if (l->points->len > 1) {
            g_string_append_printf(out, ", %s", xlm_page_number(last.y, b));
            append_place(out, last.x);
        }
        g_string_append(out, ". ");
    }
    for (guint i = 0; i < plot->best->len; i++) {
        const xlm_plot_point p = g_array_index(plot->best, best_point, i).point;
        char a[32];
        g_string_append_printf(out, "%s: %s", BEST, xlm_page_number(p.y, a));
        append_place(out, p.x);
        g_string_append(out, ". ");
    }
}

static void append_figure(xlm_page *page, const xlm_plot *plot, const GString *drawn, bool legend)
{
    const int number = ++page->figures;
    xlm_markup_wrap(page->body, "<figure>\n<figcaption><b>", plot->title, "</b></figcaption>\n");
    if (legend) {
        const guint n = plot->lines->len;
        g_autofree xlm_page_column *entries = g_new(xlm_page_column, n + 1);
        for (guint i = 0; i < n; i++) {
            const line *l = plot->lines->pdata[i];
            entries[i] = (xlm_page_column){l->label, l->style};
        }
        xlm_page_legend(page, (int)n, entries);
    }
    g_string_append_printf(page->body, "<svg class=\"plot\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t%d d%d\">\n"
                           "<title id=\"t%d\">", WIDTH, HEIGHT, number, number, number);
    xlm_markup_append(page->body, plot->title);
    g_string_append_printf(page->body, "</title>\n<desc id=\"d%d\">", number);
    append_description(page->body, plot);
    g_string_append_printf(page->body, "</desc>\n%s</svg>\n", drawn->str);
    if (plot->note != NULL)
        xlm_markup_wrap(page->body, "<p class=\"note\">", plot->note, "</p>\n");
    if (plot->best->len > 0)
        g_string_append_printf(page->body, "<p class=\"note\">A large point is that of the %s.</p>\n", BEST);
    g_string_append(page->body, "</figure>\n");
}

bool xlm_plot_end(xlm_plot *plot, xlm_page *page, bool legend, GError **error)
{
    bool good = true, any = false;
    for (guint i = 0; i < plot->lines->len; i++)
        any |= ((const line *)plot->lines->pdata[i])->points->len > 1;
    if (any) {
        g_autoptr(GString) script = make_script(plot);
        g_autofree char *svg = NULL;
        good = run_gnuplot(script, &svg, error);
        if (good) {
            g_autoptr(GString) drawn = rewrite(plot, svg);
            append_figure(page, plot, drawn, legend);
        }
    }
    free_plot(plot);
    return good;
}
