/* xlm-mpi: figures of lines, drawn by gnuplot, inside a page. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * gnuplot gets only numbers, so that no name can be a command to it; titles and names are added by the page. In the SVG that it
 * makes, colours and dashes are replaced by classes of the page's styles, which follow the reader's scheme. */
#ifndef XLM_REPORT_PLOT_H
#define XLM_REPORT_PLOT_H

#include "base/error.h"
#include "report/page.h"

typedef struct xlm_plot_point {
    double x, y;
} xlm_plot_point;

typedef struct xlm_plot {
    char *title, *x, *note;
    bool logarithmic; /* the y axis; what is not above 0 is then not drawn */
    bool marks;       /* the points are marked */
    bool fractions;   /* x need not be whole */
    GPtrArray *lines;
    GArray *best; /* points that are drawn larger, each with the style of its line */
} xlm_plot;

/* title: what is shown, above the figure; x: name of the horizontal axis ("step"); note: below it, or NULL. All are copied.
 * `logarithmic`, `marks` and `fractions` may be set before lines are added. */
xlm_plot *xlm_plot_new(const char *title, const char *x, const char *note);
/* Add a line. points: [xlm_plot_point], x ascending; taken over. Those that are not finite, or beyond 1e30, are not drawn. */
void xlm_plot_add(xlm_plot *plot, const char *label, int style, GArray *points);

/* Draw a point of a line larger, as that of the best checkpoint; a note below the figure says so. */
void xlm_plot_mark_best(xlm_plot *plot, int style, xlm_plot_point point);

/* Append the figure to the page if any line has two points or more, and free the plot in any case. legend: add a list of its
 * lines. EX_UNAVAILABLE if there is no gnuplot, or it fails. */
bool xlm_plot_end(xlm_plot *plot, xlm_page *page, bool legend, GError **error);

/* Is there a gnuplot to call? EX_UNAVAILABLE. */
bool xlm_plot_check(GError **error);

#endif
