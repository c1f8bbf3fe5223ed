/* xlm-mpi: the alignment of a corpus's sentence pairs, one HDF5 file. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * It has the links between the subwords of each sentence pair of a corpus; those of one pair are found by its number, without
 * reading the rest. Layout of alignment.h5 (P pairs, L links; `split` is `train` or `held_out`; <a>-<b> as in the corpus):
 *
 *   /                             format = "xlm-mpi alignment", format_version, program_version, command, description, corpus
 *                                 (path), corpus_digest (of vocabulary and languages, as in checkpoints), method, model (path;
 *                                 "": trained on the text itself), layer (of the model; -1: none), symmetrisation ("": none),
 *                                 seed
 *   /pairs/<a>-<b>/<split>/offsets [P+1] u64: links of pair p are offsets[p] … offsets[p+1]
 *   /pairs/<a>-<b>/<split>/source  [L] u16 (u32 when a sentence has more than 65,536 subwords): subword of the sentence of <a>,
 *                                 from 0, without special tokens
 *   /pairs/<a>-<b>/<split>/target  [L] the same of <b>; links of a pair are in order, by source, then target, each once
 *   /pairs/<a>-<b>/<split>/score   [L] f32, where the method gives scores
 *       attributes of the group:  source, target (languages), pairs, source_sentences, target_sentences, source_tokens,
 *                                 target_tokens (of the corpus's text), sample_digest (of the subwords of some pairs)
 *
 * The attributes say which corpus this is the alignment of; with any other corpus the file is refused. */
#ifndef XLM_ALIGNERS_ALIGNMENT_FILE_H
#define XLM_ALIGNERS_ALIGNMENT_FILE_H

#include "aligners/links.h"
#include "corpus/corpus.h"

#define XLM_ALIGNMENT_FORMAT "xlm-mpi alignment"
enum { XLM_ALIGNMENT_VERSION = 1 };

/* How links were made. Texts are never NULL. */
typedef struct xlm_alignment_origin {
    const char *command, *corpus, *method, *model, *symmetrisation;
    int64_t layer, seed;
} xlm_alignment_origin;

/* Links of the pairs of two languages in one split. */
typedef struct xlm_alignment_pairs {
    char *name; /* "de-en" */
    xlm_split split;
    char *source, *target; /* languages */
    int64_t pairs, links;
    bool scored;
    char *path; /* of the group */
} xlm_alignment_pairs;

typedef struct xlm_alignment_file {
    xlm_store *store;
    uint64_t corpus_digest;
    xlm_alignment_origin origin;
    int n;
    xlm_alignment_pairs *pairs; /* [n] */
    char *texts[5];             /* the texts that the origin points to */
} xlm_alignment_file;

/* Open and check a file; not collective. corpus: the corpus that it must be the alignment of; NULL: any. Attributes, shapes and
 * the first and last offset are checked here, all other numbers when they are read. EX_NOINPUT, EX_DATAERR.
 * xlm_alignment_file_close. */
xlm_alignment_file *xlm_alignment_file_open(const char *path, const xlm_corpus *corpus, GError **error);
void xlm_alignment_file_close(xlm_alignment_file *file); /* NULL is allowed */

/* NULL if there is none. The name may be given in either order. */
const xlm_alignment_pairs *xlm_alignment_file_find(const xlm_alignment_file *file, xlm_split split, const char *name);

/* Links of pairs [first, first + n). sizes: [n] the numbers of subwords of both sentences of each pair, source
 * and target; links outside them are an error. [out] offsets: [n + 1], beginning with 0; *links: [offsets[n]] new memory
 * (g_free); *scores: the same, NULL if the file has none; scores itself may be NULL. EX_DATAERR. */
bool xlm_alignment_file_read(const xlm_alignment_file *file, const xlm_alignment_pairs *pairs, int64_t first, int64_t n,
                             const int64_t (*sizes)[2], uint64_t *offsets, xlm_link **links, float **scores, GError **error);

/* For aligners/alignment_write.c: the path of a group (g_free); a digest of the subwords of some of the corpus's pairs. */
char *xlm_alignment_path(const char *pair, xlm_split split);
bool xlm_alignment_sample(const xlm_corpus *corpus, const xlm_corpus_pairs *pairs, uint64_t *digest, GError **error);

#endif
