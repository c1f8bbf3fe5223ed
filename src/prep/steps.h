/* xlm-mpi: the steps of a preparation (prep/run.h). SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PREP_STEPS_H
#define XLM_PREP_STEPS_H

#include "corpus/writer.h"
#include "prep/report.h"
#include "prep/scan.h"
#include "prep/shared_words.h"
#include "subwords/vocabulary.h"

/* Go to this rank's next block of the scan and append the rewritten block to `out`, which is empty. state: the caller's. */
typedef void xlm_rewrite_block(xlm_scan *scan, GString *out, void *state);

/* Read the source (of one side) and write `path`, block after block in the order of the source, whatever the number of ranks. The
 * file has a temporary name until it is complete. [out] lines: number of lines of the source; may be NULL. Collective. Errors:
 * those of reading, EX_CANTCREAT, EX_IOERR; then there is no file. */
bool xlm_prep_rewrite(const xlm_comm *comm, const xlm_prep_options *options, xlm_prep_source *source, const char *path,
                      xlm_rewrite_block *block, void *state, int64_t *lines, GError **error);

/* Find the sentences that are held out because their translations are: read all pairs, then call xlm_assignments_finish.
 * Collective. */
bool xlm_prep_pairs(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                    GError **error);

/* The words of the training text, or their subwords if a segmenter of lines is given. */
typedef struct xlm_prep_words {
    xlm_shared_words *all;
    xlm_shared_words *sampled; /* of the sentences from which a segmenter is learned; may be `all` */
} xlm_prep_words;

/* Count the words; collective. *words, which is empty before, must be freed also on failure. EX_DATAERR when there are none, and
 * errors of reading and of xlm_shared_words_settle. */
bool xlm_prep_count(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                    xlm_prep_words *words, GError **error);
void xlm_prep_words_free(xlm_prep_words *words);

/* The vocabulary that the options request, the same on every rank, from given files or from the words of the training text.
 * Collective. NULL on failure. */
xlm_vocabulary *xlm_prep_vocabulary(const xlm_comm *comm, const xlm_prep_options *options,
                                    const xlm_sentence_reader *reader, GError **error);

/* Which subwords occur in the text of a language: monolingual and parallel, training and held-out. Only these need twins in a
 * synthetic language. Reads all this text once more; collective. Returns [subwords] 1 or 0, by number, the same on every rank;
 * g_free. NULL on failure, with errors of reading. */
int64_t *xlm_prep_used_subwords(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                                int language, const xlm_segmenter *segmenter, const xlm_word_counts *subwords, GError **error);

/* Encode all sources into the writer; collective. [out] counts: over all ranks. [out] lines[i]: number of lines of source i. */
bool xlm_prep_encode(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                     const xlm_vocabulary *vocabulary, xlm_corpus_writer *writer, xlm_prep_counts *counts,
                     int64_t *lines, GError **error);

typedef struct xlm_provenance xlm_provenance;

/* Start computing the SHA-256 of every input, as it was given, in the background, in a thread of this rank; inputs are
 * distributed over ranks. It takes the sources from xlm_prep_texts_open, and can run during all that is done with them. Not
 * collective. */
xlm_provenance *xlm_provenance_begin(const xlm_comm *comm, const xlm_prep_options *options);
/* Wait for all digests, and write /inputs, the attributes of the root of a corpus file, and /filter if there are rules;
 * collective. lines[i]: number of lines of source i. counts: of all ranks. */
bool xlm_provenance_write(xlm_provenance *provenance, const xlm_comm *comm, const xlm_prep_options *options,
                          const xlm_sentence_reader *reader, const int64_t *lines, const xlm_prep_counts *counts,
                          xlm_store *store, GError **error);
/* Stop computing digests, and free the provenance. NULL is allowed. */
void xlm_provenance_free(xlm_provenance *provenance);

/* Split the words of segment_input, separated by spaces, into subwords, and write the text to segment_output; line ends and
 * blanks are not changed. Collective. */
bool xlm_prep_segment(const xlm_comm *comm, const xlm_prep_options *options, GError **error);

/* Convert derive_input to the only synthetic language of the options, and write derive_output. A sentence gets the same order as
 * in a corpus made from the same file with the same steps and seed. Collective. Errors: as xlm_conllu_next and
 * xlm_prep_rewrite. */
bool xlm_prep_derive(const xlm_comm *comm, const xlm_prep_options *options, GError **error);

#endif
