/* xlm-mpi: word alignment of sentence pairs by a model's hidden states. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   text -> subwords by words (pair_text.h) -> passes (pair_batches.h) -> H[layer] -> similarities -> links of subwords
 *   (xlm/similarity.h) -> links of words: two words are linked when any of their subwords are */
#ifndef XLM_MODEL_ALIGNER_MODEL_LINKS_H
#define XLM_MODEL_ALIGNER_MODEL_LINKS_H

#include <xlm/similarity.h>

#include "aligners/align_input.h"
#include "aligners/links.h"
#include "text/words.h"

enum { XLM_LAYER_DEFAULT = -1, XLM_LAYER_ALL = -2 };

typedef struct xlm_model_links_options {
    const char *checkpoint;
    xlm_align_source source;  /* the vocabulary of a corpus must be the model's. Languages of text: by their names in the model;
                                 NULL: the ending of the file's name if it is such a name, else none */
    xlm_word_mode words;      /* xlm_pair_text_read */
    xlm_link_method method;
    int64_t layer;            /* 0 … L, XLM_LAYER_ALL, or XLM_LAYER_DEFAULT: two thirds of L, rounded */
    bool apart;               /* encode each sentence alone; else a pair together, in the form that the model was trained with */
    const char *output;       /* file of links; for all layers one each, OUTPUT.layerN. NULL: standard output, but nowhere with
                                 gold, an alignment, or all layers */
    const char *scores;       /* file of the links' scores: the largest A*, or similarity, of their subwords. NULL: none */
    const char *alignment;    /* file of a corpus's alignment; not for all layers. NULL: none */
    const char *gold;         /* gold links to score with. NULL: none */
    xlm_count_from gold_words; /* how gold counts words */
    const char *matrices;     /* file of matrices (matrix_file.h). NULL: none */
    const char *command;      /* the command line, for attributes */
} xlm_model_links_options;

/* Collective. Align, write, and with gold or for all layers print a table. Links are the same on any number of ranks. Pairs that
 * are too long for the model have no links; a warning says how many there are. Errors: those of reading the files; EX_USAGE: a
 * layer that the model does not have, languages that it does not know or that it needs; EX_DATAERR: gold of other sentences, a
 * corpus of another vocabulary; EX_CANTCREAT, EX_IOERR. */
bool xlm_model_links(const xlm_comm *comm, const xlm_model_links_options *options, GError **error);

#endif
