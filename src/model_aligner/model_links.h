/* xlm-mpi: word alignment of sentence pairs by a model's hidden states. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   text -> subwords by words (pair_text.h) -> passes (pair_batches.h) -> H[layer] -> similarities -> links of subwords
 *   (xlm/similarity.h) -> links of words: two words are linked when any of their subwords are */
#ifndef XLM_MODEL_ALIGNER_MODEL_LINKS_H
#define XLM_MODEL_ALIGNER_MODEL_LINKS_H

#include <xlm/similarity.h>

#include "aligners/align_input.h"
#include "text/words.h"

enum { XLM_LAYER_DEFAULT = -1, XLM_LAYER_ALL = -2 };

typedef struct xlm_model_links_options {
    const char *checkpoint;
    xlm_align_source source;  /* of a corpus: its vocabulary must be the model's. Languages of text are those that the model has;
                                 NULL: none, or the ending of the file's name where it is one of them */
    xlm_word_mode words;      /* xlm_pair_text_read */
    xlm_link_method method;
    int64_t layer;            /* 0 … L, XLM_LAYER_ALL, or XLM_LAYER_DEFAULT: two thirds of L, rounded */
    bool apart;               /* encode each sentence alone; else a pair together, in the form that the model was trained with */
    const char *output;       /* links; for all layers a file each, OUTPUT.layerN. NULL: standard output, or, with gold, an
                                 alignment, or for all layers, nowhere */
    const char *scores;       /* file of the links' scores: the largest A*, or similarity, of their subwords. NULL: none */
    const char *alignment;    /* file of a corpus's alignment; not for all layers. NULL: none */
    const char *gold;         /* gold links to score with. NULL: none */
    const char *matrices;     /* file of matrices (matrix_file.h). NULL: none */
    const char *command;      /* the command line, for attributes */
} xlm_model_links_options;

/* Collective. Align, write, and with gold or for all layers print a table. The same links on any number of ranks. Pairs that are
 * too long for the model have none; how many there are is a warning. Errors: those of reading the files; EX_USAGE: a layer that
 * the model does not have, languages that it does not know or that it needs; EX_DATAERR: gold of other sentences, a corpus of
 * another vocabulary; EX_CANTCREAT, EX_IOERR. */
bool xlm_model_links(const xlm_comm *comm, const xlm_model_links_options *options, GError **error);

#endif
