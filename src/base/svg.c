/* xlm-mpi: pictures as SVG, which a browser shows and a paper prints. SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/svg.h"

#include <string.h>

#include "base/markup.h"

static const char *const colours[XLM_SVG_COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                                     "#56b4e9", "#d55e00", "#f0e442", "#000000"};

const char *xlm_svg_colour(guint number) { return colours[number % XLM_SVG_COLOURS]; }

/* Ends the open element `name`, with a tip if there is one. */
static void close_element(GString *svg, const char *name, const char *tip)
{
    if (tip == NULL) {
        g_string_append(svg, "/>\n");
        return;
    }
    g_string_append(svg, "><title>");
    xlm_markup_append(svg, tip);
    g_string_append_printf(svg, "</title></%s>\n", name);
}

GString *xlm_svg_begin(double width, double height, int font_size, const char *title)
{
    GString *svg = g_string_new(NULL);
    g_string_printf(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                    "font-family=\"sans-serif\" font-size=\"%d\">\n", width, height, width, height, font_size);
    if (title != NULL) {
        g_string_append(svg, "<title>");
        xlm_markup_append(svg, title);
        g_string_append(svg, "</title>\n");
    }
    g_string_append(svg, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    return svg;
}

void xlm_svg_end(GString *svg) { g_string_append(svg, "</svg>\n"); }

static void append_text(GString *svg, double x, double y, const char *anchor, int size, const char *more, const char *text)
{
    g_string_append_printf(svg, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s", x, y, anchor, more);
    if (size > 0)
        g_string_append_printf(svg, " font-size=\"%d\"", size);
    g_string_append_c(svg, '>');
    xlm_markup_append(svg, text);
    g_string_append(svg, "</text>\n");
}

void xlm_svg_text(GString *svg, double x, double y, const char *anchor, int size, const char *text)
{
    append_text(svg, x, y, anchor, size, "", text);
}

void xlm_svg_text_over(GString *svg, double x, double y, const char *anchor, int size, const char *text)
{
    append_text(svg, x, y, anchor, size, " stroke=\"#ffffff\" stroke-width=\"3\" stroke-linejoin=\"round\"", text);
    append_text(svg, x, y, anchor, size, "", text);
}

void xlm_svg_line(GString *svg, double x1, double y1, double x2, double y2, const char *colour)
{
    g_string_append_printf(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x1, y1, x2, y2,
                           colour);
}

void xlm_svg_box(GString *svg, double x, double y, double width, double height, const char *fill, const char *tip)
{
    g_string_append_printf(svg, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s", x, y, width, height,
                           fill, strcmp(fill, "none") == 0 ? " stroke=\"#999999\"" : "");
    close_element(svg, "rect", tip);
}

void xlm_svg_mark(GString *svg, double x, double y, double r, guint shape, const char *fill, const char *tip)
{
    const double s = 0.9 * r, t = 1.2 * r;
    switch (shape % 4) {
    case 0:
        g_string_append_printf(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"", x, y, r, fill);
        close_element(svg, "circle", tip);
        return;
    case 1:
        g_string_append_printf(svg, "<path d=\"M%.1f %.1fl%.1f %.1fh%.1fz\" fill=\"%s\"", x, y - t, -1.1 * t, 1.9 * t, 2.2 * t,
                               fill);
        break;
    case 2:
        g_string_append_printf(svg, "<path d=\"M%.1f %.1fh%.1fv%.1fh%.1fz\" fill=\"%s\"", x - s, y - s, 2 * s, 2 * s, -2 * s,
                               fill);
        break;
    default:
        g_string_append_printf(svg, "<path d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f %.1fz\" fill=\"%s\"", x, y - t, t, t, -t, t,
                               -t, -t, fill);
        break;
    }
    close_element(svg, "path", tip);
}
