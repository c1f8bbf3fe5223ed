/* xlm-mpi: parallel and monolingual text of a manual that exists in several languages. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A manual in n languages is n directories with the same pages (html.h) under the same relative paths. Paragraphs are
 * translations of each other if they have the same path and the same id. An id that occurs several times on a page is matched in
 * order if it occurs equally often in both languages, and otherwise not at all.
 *
 *   A-B.A, A-B.B  for each two languages A and B in the order given: line i of one is the translation of line i of the
 *                 other, in the order of the paths and then of A's pages. Left out: pairs of equal texts, and pairs that
 *                 were written before.
 *   mono.A        for each language: its paragraphs in the order of its pages. Left out: texts that were written before.
 *
 * Manuals are translated gradually, and paragraphs that are not translated yet are in the original's language. If the original is
 * known, a paragraph that equals the original's counts as not translated, and is in neither kind of file (except the original's
 * own monolingual text). */
#ifndef XLM_FORMATS_HTML_PAIRS_H
#define XLM_FORMATS_HTML_PAIRS_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_html_pairs xlm_html_pairs;

xlm_html_pairs *xlm_html_pairs_new(void);
/* NULL is allowed. */
void xlm_html_pairs_free(xlm_html_pairs *pairs);

/* Add a language: its name (letters, digits and '_', because it becomes part of names of files) and the directory of its pages.
 * EX_USAGE: a name that is not valid or is given twice. */
bool xlm_html_pairs_add(xlm_html_pairs *pairs, const char *language, const char *root, GError **error);
/* Set the language of the original. root NULL: it is one of those added, EX_USAGE if not; otherwise it is only read, and nothing
 * is written for it. To be called at most once, after the last xlm_html_pairs_add. */
bool xlm_html_pairs_set_original(xlm_html_pairs *pairs, const char *language, const char *root, GError **error);

/* Read all pages and compare them. Errors: EX_NOINPUT, EX_DATAERR (also when a pair of languages or a language would have no
 * line). */
bool xlm_html_pairs_read(xlm_html_pairs *pairs, GError **error);
/* What was found: a line for each language and each pair of languages. g_free. */
char *xlm_html_pairs_report(const xlm_html_pairs *pairs);
/* Write all files into a directory, which is created if necessary: all of them or, on failure, none. EX_CANTCREAT, EX_IOERR. */
bool xlm_html_pairs_write(const xlm_html_pairs *pairs, const char *directory, GError **error);

#endif
