/* xlm-mpi: xlm_align --checkpoint, word alignment by a model's hidden states. SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands/commands.h"
#include "program/pair_options.h"

static struct {
    char *checkpoint, *layer, *encode, *gold, *matrices;
    gint64 gold_words;
} given = {.gold_words = XLM_COUNT_FOUND};

const GOptionEntry xlm_align_model_options[] = {
    {"checkpoint", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.checkpoint,
     "align with the hidden states of this model, as written by xlm_train; --method is then ot (optimal transport, the default), "
     "argmax or itermax (SimAlign)", "MODEL.h5"},
    {"layer", 0, 0, G_OPTION_ARG_STRING, &given.layer,
     "layer whose hidden states are compared: 0 (embeddings) to the number of layers; or all, which prints a table by layer and "
     "writes links to OUTPUT.layerN (default: two thirds of the layers, 8 of 12)", "N|all"},
    {"encode", 0, 0, G_OPTION_ARG_STRING, &given.encode,
     "encode a pair as one sequence, in the form that the model was trained with (together, the default), or each sentence "
     "separately (apart)", "together|apart"},
    {"gold", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.gold,
     "show the alignment error rate against these links, like xlm_align score; without -o the links are not written", "GOLD"},
    {"gold-words-from", 0, 0, G_OPTION_ARG_INT64, &given.gold_words,
     "GOLD counts words from 0 or 1, as for xlm_align score (default: from 0 if it has a 0, else from 1)", "0|1"},
    {"matrices", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.matrices,
     "write the matrix of each pair's subwords, of A* or of similarities, to this file (HDF5)", "FILE.h5"},
    {.long_name = NULL}};

bool xlm_align_model_asked(void) { return given.checkpoint != NULL; }

bool xlm_align_model_read(const char *words, const char *method, const char *alignment, xlm_model_links_options *o,
                          GError **error)
{
    static const char *const encodings[] = {"together", "apart", NULL}, *const modes[] = {"space", "icu", NULL};
    static const char *const methods[] = XLM_LINK_METHODS;
    if (given.checkpoint == NULL)
        return (given.layer == NULL && given.encode == NULL && given.gold == NULL && given.gold_words == XLM_COUNT_FOUND &&
                given.matrices == NULL && !xlm_program_has_precision()) ||
               xlm_error_set(error, EX_USAGE, "--layer, --encode, --gold, --gold-words-from, --matrices and --precision are for "
                             "alignment with a model; give --checkpoint MODEL.h5");
    if (given.gold == NULL && given.gold_words != XLM_COUNT_FOUND)
        return xlm_error_set(error, EX_USAGE, "--gold-words-from is for --gold GOLD");
    *o = (xlm_model_links_options){
        .checkpoint = given.checkpoint, .apart = g_strcmp0(given.encode, "apart") == 0, .gold = given.gold,
        .gold_words = (xlm_count_from)given.gold_words, .matrices = given.matrices, .command = xlm_command_line,
        .words = XLM_WORDS_SPACE,
    };
    if (!xlm_pair_options_from("gold-words-from", given.gold_words, error) ||
        !xlm_program_is_one_of("encode", given.encode, encodings, error) ||
        !xlm_program_is_one_of("words", words, modes, error) ||
        !xlm_pair_options_layer(given.layer, XLM_LAYER_DEFAULT, &o->layer, error))
        return false;
    if (o->layer == XLM_LAYER_ALL && alignment != NULL)
        return xlm_error_set(error, EX_USAGE, "--alignment writes the links of one layer; choose it with --layer");
    if (words != NULL)
        xlm_word_mode_find(words, &o->words);
    if (method != NULL && !g_strv_contains(methods, method))
        return xlm_error_set(error, EX_USAGE, "--method=%s: with --checkpoint it must be ot, argmax or itermax", method);
    o->method = (xlm_link_method)xlm_program_number_of(method, methods);
    return true;
}
