/* xlm-mpi: paragraphs of web pages, each known by the id of its element. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Manuals that exist in several languages often have the same id for a paragraph in all of them, so the same id on the same page
 * is a translation. What a paragraph is here:
 *
 *   which elements  p, h1 ... h6, li, dt, dd, td, th, caption, figcaption and blockquote that have an id. If one is inside
 *                   another, the text of the inner one is not part of the outer one's.
 *   its text        what a reader would see of the element's content, as one normalised line (text/normalise.h). Blocks
 *                   and line breaks inside it become a space; scripts and styles are left out.
 *   hidden parts    left out, except for the last of several alternatives: if all of an element's content is hidden child
 *                   elements, a script of the page shows one of them, and the last is for all other readers.
 *
 * HTML of all versions is read, whatever is wrong with it. XHTML is read as XML if it is well-formed and begins with an XML
 * declaration. A page whose bytes are UTF-8 is read as UTF-8, any other in the encoding that it declares. */
#ifndef XLM_FORMATS_HTML_H
#define XLM_FORMATS_HTML_H

#include "base/error.h"

typedef struct xlm_html_paragraph {
    char *id;
    guint occurrence;  /* 0 for the first element of this id on the page, 1 for the second, ... */
    guint occurrences; /* number of elements of this id on the page */
    char *text;        /* not empty */
} xlm_html_paragraph;

typedef struct xlm_html_page {
    GArray *paragraphs; /* xlm_html_paragraph, in the order in which their elements begin */
    bool damaged;       /* something in the page had to be repaired or left out */
} xlm_html_page;

typedef struct xlm_html_reader xlm_html_reader;

/* For one thread at a time. Errors: EX_SOFTWARE. */
xlm_html_reader *xlm_html_reader_new(GError **error);
/* NULL is allowed. */
void xlm_html_reader_free(xlm_html_reader *reader);

/* Read a page of `size` bytes. name: for messages. xlm_html_page_free. NULL only for a page of more than
 * XLM_LINE_MAX bytes (EX_DATAERR). */
xlm_html_page *xlm_html_read(xlm_html_reader *reader, const char *name, const char *bytes, size_t size, GError **error);
/* NULL is allowed. */
void xlm_html_page_free(xlm_html_page *page);

/* The same for a file. Errors: EX_NOINPUT too. */
xlm_html_page *xlm_html_load(xlm_html_reader *reader, const char *path, GError **error);

/* Paths of all pages (.html, .htm, .xhtml, .xht) under a directory, relative to it, in the order of their bytes. Links
 * to directories are not followed. Errors: EX_NOINPUT for a directory that cannot be read, EX_DATAERR when there is no
 * page in it. */
GPtrArray *xlm_html_list_pages(const char *root, GError **error);

#endif
