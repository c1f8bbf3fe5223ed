/* xlm-mpi: a page of HTML that needs nothing else: no script, no network, no other file.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Well-formed as XML too. Colours are those of the reader's scheme, light or dark; it is as wide as the window, and prints.
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
    int figures;        /* so far; they number what has an id */
} xlm_page;

/* Styles of lines: 6 colours that people who see few of them tell apart, and 5 kinds of dashes; no two lines of up to 30 have
 * both in common. */
enum { XLM_PAGE_STYLES = 30 };

xlm_page *xlm_page_new(void);
/* The whole page, and the end of it. g_string_free. command: how it was made, which is at the end. */
GString *xlm_page_end(xlm_page *page, const char *title, const char *command);
void xlm_page_free(xlm_page *page);

/* id: of the link to it; a word of letters. Sections end where the next begins. */
void xlm_page_section(xlm_page *page, const char *id, const char *title);
/* A heading below the section's. */
void xlm_page_heading(xlm_page *page, const char *title);
void xlm_page_paragraph(xlm_page *page, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Something that could not be shown: to the log, as a warning, and to the end of the page. */
void xlm_page_note(xlm_page *page, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* A table: a line of column headings, and a heading before each row. caption: what it shows. corner: heading of the row headings,
 * or NULL. style: NULL, or [columns] styles of lines that are shown with the column headings.
 *   xlm_page_table -> xlm_page_row ... -> xlm_page_table_end */
void xlm_page_table(xlm_page *page, const char *caption, const char *corner, int columns, const char *const *headings,
                    const int *style);
/* cells[columns]; NULL: an empty one. numbers: cells are set to the right; others that are all the same are one cell. */
void xlm_page_row(xlm_page *page, const char *heading, int columns, const char *const *cells, bool numbers);
void xlm_page_table_end(xlm_page *page);

/* A table of texts of several languages, in groups, which stays readable on a narrow page: a line for each text.
 *   xlm_page_texts -> xlm_page_text_group ... -> xlm_page_texts_end */
typedef struct xlm_page_text {
    const char *heading;
    int style;            /* of a line that is shown with the heading; -1: none */
    const char *language; /* the name of a language, or NULL; its direction is that of its letters */
    const char *text;     /* UTF-8, from anywhere; NULL: there is none */
} xlm_page_text;
void xlm_page_texts(xlm_page *page, const char *caption);
void xlm_page_text_group(xlm_page *page, const char *heading, int n, const xlm_page_text *texts);
void xlm_page_texts_end(xlm_page *page);

/* A list of lines and what they are. */
void xlm_page_legend(xlm_page *page, int n, const char *const *labels, const int *style);

/* Text after a heading that opens it. */
void xlm_page_details(xlm_page *page, const char *summary, const char *text);

/* A number in so many letters as a table has room for: "0.001234", "17.32", "1.23e+07". text[32]. Returns text. */
const char *xlm_page_number(double value, char text[32]);

#endif
