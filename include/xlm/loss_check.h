/* xlm-mpi: a check of an objective's gradients against finite differences, in double precision.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only in the library xlm_double, which has the model, the tape and the host of objectives in double precision. A program calls
 * it with the class of a plugin; both are compiled with -DXLM_DOUBLE, which is among the flags of the package:
 *
 *     cc $(pkg-config --cflags xlm-mpi-double) -o check check.c my-loss.c $(pkg-config --libs xlm-mpi-double)
 *
 *     extern const xlm_loss_class xlm_loss_my_loss;
 *     int main(void)
 *     {
 *         char message[500];
 *         const xlm_loss_check check = {.cls = &xlm_loss_my_loss};
 *         if (xlm_loss_check_gradients(&check, stdout, message, sizeof message))
 *             return 0;
 *         fprintf(stderr, "%s\n", message);
 *         return 1;
 *     }
 *
 * xlm_train --check-gradients checks the plugin as the programs load it, in single precision, on a batch of a job. */
#ifndef XLM_LOSS_CHECK_H
#define XLM_LOSS_CHECK_H

#include <xlm/loss.h>

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The class to check, and its input. All but cls may be NULL; everything is borrowed.
 *
 * If no batch is given, a small one is used: four pairs of sentences, one in each sequence, with positions from 0 on either side,
 * of subwords 5 … 23 in languages 0 and 1, with predicted rows and the annotations "translations", "translation_languages" and
 * "links". If no model is given, a small one is used that fits it: 2 encoder layers and 1 decoder layer of hidden size 8, a
 * vocabulary of 24 subwords, 16 positions, language embeddings and token types. */
typedef struct xlm_loss_check {
    const xlm_loss_class *cls;
    const char *const *options;                 /* "key=value", …, NULL; other options have their defaults */
    const xlm_model_config *model;              /* its dropout rates are ignored: dropout is always off */
    const xlm_batch *batch;                     /* its ids, languages and positions must fit the model; both texts have
                                                 * the same rows, unless its noise is set */
    const xlm_loss_stream *stream;              /* what the objective knows about its stream; NULL: a parallel stream of one pair
                                                 * of languages that masks 15 %, with the noise, annotations and dictionary of
                                                 * the batch */
    const xlm_dictionary *dictionary;           /* used for every dictionary that the objective requests; NULL: a small one */
    const xlm_cooccurrence_table *cooccurrence; /* used for every table that it requests; NULL: a small one */
} xlm_loss_check;

/* Opens the objective, calls the hooks of two training steps, so that queues and other declared state are not in their initial
 * state, makes labels, and compares the gradient of its loss with differences of fourth order, for every parameter of the model
 * and of the objective (of a parameter with more than 64 elements, for 64 of them). Parameters are random, and averaged weights
 * differ from the live ones. Constants (xlm_constant) keep their values, and declared state is restored before each pass.
 *
 * [in] check: what to check, borrowed
 * [out] table: receives a row for each parameter; NULL: none is written
 * [out] message: [size] bytes, why the check failed; "" if it did not
 * Returns true if the gradient g and the difference s of every element agree to within 1e-6 max(|g|, |s|, m / 10), where m is the
 * largest gradient of the parameter, but at least 1e-3 max(1, |loss|). Returns false for a gradient that does not, something that
 * the objective or an option refuses, a loss that changes in a second pass, no terms, no gradient, or a batch that does not fit
 * the model. */
bool xlm_loss_check_gradients(const xlm_loss_check *check, FILE *table, char *message, size_t size);

#ifdef __cplusplus
}
#endif
#endif
