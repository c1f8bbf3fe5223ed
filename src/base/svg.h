/* xlm-mpi: pictures as SVG, which a browser shows and a paper prints. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Self-contained: no fonts, styles or scripts of elsewhere. White ground, dark text in the reader's sans-serif font, units of
 * pixels, y downwards.
 *
 *   xlm_svg_begin -> { xlm_svg_text | xlm_svg_line | xlm_svg_box | ... } ... -> xlm_svg_end */
#ifndef XLM_BASE_SVG_H
#define XLM_BASE_SVG_H

#include <glib.h>

/* Colours that people who see few of them tell apart (Okabe and Ito 2008): XLM_SVG_COLOURS of them, then again from the first. */
enum { XLM_SVG_COLOURS = 8 };
const char *xlm_svg_colour(guint number);

/* title: what programs that read a picture out say; NULL: none. g_string_free. */
GString *xlm_svg_begin(double width, double height, int font_size, const char *title);
void xlm_svg_end(GString *svg);

/* anchor: "start", "middle", "end": what of the text is at x. size: of letters; 0: that of the picture. */
void xlm_svg_text(GString *svg, double x, double y, const char *anchor, int size, const char *text);
/* The same with a white edge, over marks and lines. */
void xlm_svg_text_over(GString *svg, double x, double y, const char *anchor, int size, const char *text);
void xlm_svg_line(GString *svg, double x1, double y1, double x2, double y2, const char *colour);
/* fill: a colour, or "none" for its edge alone. tip: shown under a pointer; NULL: none. */
void xlm_svg_box(GString *svg, double x, double y, double width, double height, const char *fill, const char *tip);
/* A mark of about 2r: shape 0 a disc, 1 a triangle, 2 a square, 3 a diamond, then again. */
void xlm_svg_mark(GString *svg, double x, double y, double r, guint shape, const char *fill, const char *tip);

#endif
