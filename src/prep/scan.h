/* xlm-mpi: ranks share the lines of a source, block by block. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Every rank reads the whole of a file, because line ends are only known by looking, and returns the lines of its own
 * blocks: block b belongs to rank b mod R. Blocks in order are the file in order, whatever R is. A block has as many
 * lines as give every rank some blocks even of a small file, 512 at least and 32,768 at most: this changes the work of a
 * rank, never the result.
 *
 * For a CoNLL-U file sentences are divided among the ranks, not lines.
 *
 *   xlm_scan_open -> { xlm_scan_block -> { xlm_scan_line | xlm_scan_tree | xlm_scan_sentence } ... } ...
 *                 -> xlm_scan_finish (collective) */
#ifndef XLM_PREP_SCAN_H
#define XLM_PREP_SCAN_H

#include "comm/comm.h"
#include "formats/conllu.h"
#include "prep/options.h"
#include "prep/split.h"
#include "text/normalise.h"

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
    bool empty; /* a side has no text; then nothing else is set */
    xlm_assignment assignment;
    /* For CoNLL-U: the words as annotated, and their positions in the text, a space between any two; a word that
     * normalisation leaves nothing of has the size 0. NULL for other text. */
    const xlm_conllu *tree;
    const xlm_word *units; /* [words of the tree] */
    int64_t number;        /* of the line or sentence in its file, from 0 */
} xlm_sentence;

/* What sentences are read from lines with. */
typedef struct xlm_sentence_reader {
    xlm_normaliser *normaliser[2]; /* one a side: its result lives until its next use */
    const char *const *languages;  /* their names, by xlm_prep_source.language */
    xlm_assignments *assignments;
    struct xlm_word_order **orders; /* one a synthetic language (prep/synthetic_text.h) */
} xlm_sentence_reader;

/* Begin with a source; not collective. What goes wrong, also in opening files, xlm_scan_finish will say. */
xlm_scan *xlm_scan_open(const xlm_comm *comm, const xlm_prep_source *source);
/* Go to this rank's next block. False at the end of the source and after an error. */
bool xlm_scan_block(xlm_scan *scan);
/* The next line of the block as it is in the file; valid until the next call. False at the end of the block and
 * after an error. */
bool xlm_scan_line(xlm_scan *scan, xlm_scan_text *line);
/* The same for CoNLL-U. NULL at the end of the block and after an error. */
const xlm_conllu *xlm_scan_tree(xlm_scan *scan);
/* Number of the line or sentence last returned, from 0. */
int64_t xlm_scan_number(const xlm_scan *scan);
/* False when the line last returned ends the file without LF. */
bool xlm_scan_terminated(const xlm_scan *scan);
/* The same as xlm_scan_line or xlm_scan_tree, made a sentence of. A line that is not UTF-8 is an error. */
bool xlm_scan_sentence(xlm_scan *scan, const xlm_sentence_reader *reader, xlm_sentence *sentence);
/* True when there is nothing more to read, or no sense in it. */
bool xlm_scan_ended(const xlm_scan *scan);
/* Bytes read so far, of all its files. */
int64_t xlm_scan_position(const xlm_scan *scan);

/* End; collective. When ranks met errors, *error is on every rank that of the earliest line. Two files of different
 * length are an error (EX_DATAERR). [out] *lines: of the source; may be NULL. The scan is gone afterwards. */
bool xlm_scan_finish(xlm_scan *scan, const xlm_comm *comm, int64_t *lines, GError **error);
/* A sentence that is not empty. */
typedef void xlm_sentence_visit(void *data, const xlm_prep_source *source, const xlm_sentence *sentence);
/* Collective: visit this rank's sentences of the sources from `first` on that have text of a language; -1: of all. what: for the
 * display of progress. */
bool xlm_scan_sources(const xlm_comm *comm, const xlm_prep_options *options, guint first, int language, const char *what,
                      const xlm_sentence_reader *reader, xlm_sentence_visit *visit, void *data, GError **error);
/* End without a check; not collective. NULL is allowed. */
void xlm_scan_close(xlm_scan *scan);

#endif
