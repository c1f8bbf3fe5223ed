/* xlm-mpi: ranks share the lines of a source, block by block. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Block b of a source's lines belongs to rank b mod R, which goes there by the index of the text (prep/texts.h). The blocks in
 * order are the file in order, for any R. All blocks have about the same number of bytes, at most 16 MiB, and all ranks have the
 * same number of blocks, because ranks wait for each other. Blocks may be empty. This affects the work of a rank, but never the
 * result.
 *
 * For a CoNLL-U file sentences are divided among the ranks, not lines.
 *
 *   xlm_scan_open -> { xlm_scan_block -> { xlm_scan_line | xlm_scan_tree | xlm_scan_sentence } ... } ...
 *                 -> xlm_scan_finish (collective) */
#ifndef XLM_PREP_SCAN_H
#define XLM_PREP_SCAN_H

#include "comm/comm.h"
#include "formats/conllu.h"
#include "prep/filter.h"
#include "prep/options.h"
#include "prep/split.h"
#include "text/normalise.h"
#include "text/words.h"

typedef struct xlm_scan xlm_scan;

/* A line of a monolingual file, or a pair of lines: [side]. */
typedef struct xlm_scan_text {
    const char *text[2];
    size_t size[2];
} xlm_scan_text;

/* The same, normalised. */
typedef struct xlm_sentence {
    const char *text[2];
    size_t size[2];
    uint64_t digest[2];
    bool empty; /* a side has no text; then digest and assignment are not set */
    bool skipped, repaired; /* as a bad line (prep/options.h); one that is skipped is empty */
    int rule;               /* the number of the rule that leaves it out, then it is empty; XLM_RULES: none does */
    xlm_scan_text raw;      /* before it was normalised; not set for CoNLL-U */
    int64_t line;           /* its number in the file of side 0, from 1 */
    xlm_assignment assignment;
    /* For CoNLL-U: the annotated words, and where they are in the text, in which spaces separate them; a word that normalisation
     * makes empty has the size 0. NULL for other text. */
    const xlm_conllu *tree;
    const xlm_word *units; /* [words of the tree] */
    int64_t number;        /* of the line or sentence in its file, from 0 */
} xlm_sentence;

/* What is needed to read sentences from lines. */
typedef struct xlm_sentence_reader {
    xlm_normaliser *normaliser[2]; /* one for each side, because its result is valid only until its next use */
    const char *const *languages;  /* names of languages, by xlm_prep_source.language */
    xlm_splitter **splitter;       /* of each language, for all passes over the text, because it remembers what it has divided */
    xlm_assignments *assignments;
    xlm_filter *filter;            /* NULL: there are no rules */
    xlm_bad_lines bad_lines; /* of other text than CoNLL-U, whose bad lines are errors */
    struct xlm_word_order **orders; /* one per synthetic language (prep/synthetic_text.h) */
} xlm_sentence_reader;

/* Begin a source, whose text is open (prep/texts.h); not collective. xlm_scan_finish reports errors, also those of opening
 * files. */
xlm_scan *xlm_scan_open(const xlm_comm *comm, const xlm_prep_source *source);
/* Go to this rank's next block. False at the end of the source and after an error. */
bool xlm_scan_block(xlm_scan *scan);
/* The next line of the block, unchanged; valid until the next call. False at the end of the block and after an error. */
bool xlm_scan_line(xlm_scan *scan, xlm_scan_text *line);
/* The same for CoNLL-U. NULL at the end of the block and after an error. */
const xlm_conllu *xlm_scan_tree(xlm_scan *scan);
/* Number of the line or sentence last returned, from 0. */
int64_t xlm_scan_number(const xlm_scan *scan);
/* Did the line that was last returned end with LF? False only for the last line of a file. */
bool xlm_scan_terminated(const xlm_scan *scan);
/* Like xlm_scan_line or xlm_scan_tree, but returns a sentence. A bad line is an error, or is
 * skipped or repaired. A rank gets the same sentences of a source in the same order in every pass, as the filter requires. */
bool xlm_scan_sentence(xlm_scan *scan, const xlm_sentence_reader *reader, xlm_sentence *sentence);
/* Is there nothing more to read, or has reading failed? */
bool xlm_scan_ended(const xlm_scan *scan);
/* Number of bytes read so far from all its files. */
int64_t xlm_scan_position(const xlm_scan *scan);

/* End a scan and free it; collective. If ranks had errors, *error is that of the earliest line, on every rank. EX_DATAERR if a
 * file has become shorter. [out] lines: number of lines of the source; may be NULL. */
bool xlm_scan_finish(xlm_scan *scan, const xlm_comm *comm, int64_t *lines, GError **error);
/* Called with each sentence that is not empty. */
typedef void xlm_sentence_visit(void *data, const xlm_prep_source *source, const xlm_sentence *sentence);
/* Collective: visit this rank's sentences of the sources from `first` on that have text of a language (-1: all languages). what:
 * for the progress line. */
bool xlm_scan_sources(const xlm_comm *comm, const xlm_prep_options *options, guint first, int language, const char *what,
                      const xlm_sentence_reader *reader, xlm_sentence_visit *visit, void *data, GError **error);
/* Free a scan without reporting errors; not collective. NULL is allowed. */
void xlm_scan_close(xlm_scan *scan);

#endif
