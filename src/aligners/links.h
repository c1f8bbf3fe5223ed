/* xlm-mpi: word alignments as text, and measures of their quality. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A link joins a word of a source sentence and a word of its translation. Files have one of two forms, plain or gzip:
 *
 *   lines       one line per sentence pair, links separated by spaces: `0-0 1-2` (Pharaoh). In gold alignments `i-j` is a sure
 *               link, `i?j` and `ipj` are possible ones
 *   numbered    one line per link: `sentence source target [S|P]` (NAACL 2003); without a letter: S, sure. The lines of a
 *               sentence may be anywhere. A word whose partner has a negative number, `178 22 -99 S`, has no link,
 *               nor has one whose partner is 0, `1 0 5 S`, if the caller says that words are counted from 1 (WPT 2003: NULL)
 *
 * The first line that is not empty shows which form a file has. Words, and sentences of the numbered form, are counted from 0 or
 * from 1; in memory always from 0. */
#ifndef XLM_ALIGNERS_LINKS_H
#define XLM_ALIGNERS_LINKS_H

#include <stdint.h>

#include "base/error.h"
#include "text/lines.h"

typedef struct xlm_link {
    int32_t source, target; /* words, from 0 */
    bool possible;          /* not sure */
} xlm_link;

/* The number of the first one. XLM_COUNT_FOUND: 0 if there is a 0 in the file, else 1. */
typedef enum { XLM_COUNT_FOUND = -1, XLM_COUNT_FROM_0, XLM_COUNT_FROM_1 } xlm_count_from;

/* Links of all sentences: those of sentence s are links[offsets[s] … offsets[s + 1]), by source, then target, each pair of
 * words once (sure when it is both). */
typedef struct xlm_links {
    int64_t sentences;
    int64_t *offsets; /* [sentences + 1] */
    xlm_link *links;
    xlm_count_from words, first_sentence; /* as given or found; first_sentence: of the numbered form, else XLM_COUNT_FOUND */
    int64_t unlinked, first_unlinked;     /* how many lines say that a word has no link; the number of the first */
} xlm_links;

enum { XLM_LINK_MAX_WORD = 1 << 24, XLM_LINK_MAX_SENTENCE = 1 << 22 }; /* maximum numbers */

/* words, sentences: how the file counts. A sentence may have no links; a numbered file ends with the last sentence that has some.
 * EX_NOINPUT; EX_DATAERR with file and line: neither form, a number out of range, a 0 in a file that counts from 1,
 * except as above. xlm_links_free. */
xlm_links *xlm_links_read(const char *path, xlm_count_from words, xlm_count_from sentences, GError **error);
/* Append the links of one line, the one last read of a file of the form `lines`, as they are there: words as the file counts
 * them, in any order. links: of xlm_link. EX_DATAERR with file and line. */
bool xlm_links_read_line(const xlm_lines *lines, const char *text, size_t size, GArray *links, GError **error);
/* The order of links in a sentence: by source, then target. A GCompareFunc of xlm_link. */
gint xlm_links_compare(gconstpointer a, gconstpointer b);
/* Sort the links of a sentence in this order. */
void xlm_links_sort(xlm_link *links, int64_t n);
/* Gold numbers may be those of a larger collection from which these sentences were taken in order: there are fewer sentences than
 * the numbers require, but as many as have gold links. Then the numbers become 0, 1, …, and the log says so. path: of gold, a
 * file of the numbered form. */
void xlm_links_close_gaps(xlm_links *gold, const char *path, int64_t sentences);
void xlm_links_free(xlm_links *links); /* NULL is allowed */

/* A (links), S (sure), P (possible, sure ones among them) of some sentences, and how many links are in both. */
typedef struct xlm_link_score {
    int64_t links, sure, possible, links_sure, links_possible;
} xlm_link_score;

/* Add the counts of one sentence. */
void xlm_link_score_add(xlm_link_score *score, const xlm_links *links, int64_t sentence, const xlm_links *gold,
                        int64_t gold_sentence);
/* |A∩P| / |A|, |A∩S| / |S|, their harmonic mean, and 1 - (|A∩S| + |A∩P|) / (|A| + |S|) (Och and Ney 2003).
 * NAN for 0 / 0. */
double xlm_link_precision(const xlm_link_score *score);
double xlm_link_recall(const xlm_link_score *score);
double xlm_link_f1(const xlm_link_score *score);
double xlm_link_error_rate(const xlm_link_score *score);

#endif
