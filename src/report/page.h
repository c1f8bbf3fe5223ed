/* xlm-mpi: a self-contained page of HTML: no script, no network, no other file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It is also well-formed XML. Its colours follow the reader's scheme, light or dark; it is as wide as the window, and can be
 * printed.
 *
 *   xlm_page_new -> { xlm_page_section -> tables, figures, paragraphs } ... -> xlm_page_end */
#ifndef XLM_REPORT_PAGE_H
#define XLM_REPORT_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

typedef struct xlm_page {
    GString *body;
    GString *contents;  /* links to the sections */
    GPtrArray *notes;   /* char *: what could not be shown, for the end of the page */
    int figures;        /* so far; their numbers are in ids */
} xlm_page;

/* Styles of lines: 6 colours that colour-blind people can tell apart, and 5 kinds of dashes. No two of up to 30 lines have the
 * same colour and dashes. */
enum { XLM_PAGE_STYLES = 30 };

/* A column of a table, or an entry of a legend. */
typedef struct xlm_page_column {
    const char *label;
    int style; /* of its line */
} xlm_page_column;

xlm_page *xlm_page_new(void);
/* Finish the page, and return its text. command: how it was made, shown at the end. g_string_free. */
GString *xlm_page_end(xlm_page *page, const char *title, const char *command);
void xlm_page_free(xlm_page *page);

/* Begin a section, and end the one before. id: the target of links to it, letters and hyphens. */
void xlm_page_section(xlm_page *page, const char *id, const char *title);
/* A heading below the section's. */
void xlm_page_heading(xlm_page *page, const char *title);
void xlm_page_paragraph(xlm_page *page, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Report something that could not be shown: as a warning in the log, and at the end of the page. */
void xlm_page_note(xlm_page *page, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Begin a part that may be wider than the window, and can then be scrolled, also with the keyboard; it ends with </div>. label:
 * what it shows. */
void xlm_page_scroll(xlm_page *page, const char *label);

/* A table: a line of n column headings with the lines of their styles, and a heading before each row. caption: what it shows.
 * corner: heading of the row headings, or NULL.
 *   xlm_page_table -> xlm_page_row ... -> xlm_page_table_end */
void xlm_page_table(xlm_page *page, const char *caption, const char *corner, int n, const xlm_page_column *columns);
/* cells: [columns]; NULL: there is nothing. numbers: align them to the right; otherwise cells that are all the same become
 * one. */
void xlm_page_row(xlm_page *page, const char *heading, int columns, const char *const *cells, bool numbers);
void xlm_page_table_end(xlm_page *page);

/* A table of texts in several languages, in groups, with a line for each text, so that it is readable on a narrow page.
 *   xlm_page_texts -> xlm_page_text_group ... -> xlm_page_texts_end */
typedef struct xlm_page_text {
    const char *heading;
    int style;            /* of a line that is shown with the heading; -1: none */
    const char *language; /* the name of a language, or NULL; the direction of the text is that of its letters */
    const char *text;     /* UTF-8, from anywhere; NULL: there is none */
} xlm_page_text;
void xlm_page_texts(xlm_page *page, const char *caption);
void xlm_page_text_group(xlm_page *page, const char *heading, int n, const xlm_page_text *texts);
void xlm_page_texts_end(xlm_page *page);

/* A list of styles of lines and their labels. */
void xlm_page_legend(xlm_page *page, int n, const xlm_page_column *entries);

/* Preformatted text that is shown when its summary is opened. */
void xlm_page_details(xlm_page *page, const char *summary, const char *text);

/* A number that is short enough for a table: "0.001234", "17.32", "1.230e+07". text[32]. Returns text. */
const char *xlm_page_number(double value, char text[32]);

#endif
