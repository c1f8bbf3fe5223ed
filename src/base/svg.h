/* xlm-mpi: pictures in SVG, for browsers and papers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pictures are self-contained: no external fonts, styles or scripts. White background, dark text in the reader's sans-serif font,
 * units of pixels, y downwards.
 *
 *   xlm_svg_begin -> { xlm_svg_text | xlm_svg_line | xlm_svg_box | ... } ... -> xlm_svg_end */
#ifndef XLM_BASE_SVG_H
#define XLM_BASE_SVG_H

#include <glib.h>

/* Colours that colour-blind people can tell apart (Okabe and Ito 2008). There are XLM_SVG_COLOURS of them; after the last comes
 * the first again. */
enum { XLM_SVG_COLOURS = 8 };
const char *xlm_svg_colour(guint number);

/* title: what screen readers say; NULL: none. g_string_free. */
GString *xlm_svg_begin(double width, double height, int font_size, const char *title);
void xlm_svg_end(GString *svg);

/* anchor: "start", "middle" or "end": which part of the text is at x. size: of letters; 0: that of the picture. */
void xlm_svg_text(GString *svg, double x, double y, const char *anchor, int size, const char *text);
/* The same with a white outline, for text over marks and lines. */
void xlm_svg_text_over(GString *svg, double x, double y, const char *anchor, int size, const char *text);
void xlm_svg_line(GString *svg, double x1, double y1, double x2, double y2, const char *colour);
/* fill: a colour, or "none" for the outline alone. tip: shown when the pointer is over it; NULL: none. */
void xlm_svg_box(GString *svg, double x, double y, double width, double height, const char *fill, const char *tip);
/* A mark about 2r wide. shape 0: a disc, 1: a triangle, 2: a square, 3: a diamond; 4 is a disc again, and so on. */
void xlm_svg_mark(GString *svg, double x, double y, double r, guint shape, const char *fill, const char *tip);

#endif
