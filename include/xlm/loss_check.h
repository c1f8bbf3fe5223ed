/* xlm-mpi: the gradients of an objective against differences, in double precision. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * In the library xlm_double alone, which has the encoder, the tape and the host of objectives in double precision. A program
 * calls it with the class of a plugin; both are compiled with -DXLM_DOUBLE, which the flags of the package contain:
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

/* What is checked, and with what. All but cls may be NULL; all of it is borrowed.
 *
 * Without a batch it is a small one of four pairs of sentences as a stream with `layout = xlm` gives them, subwords 5 … 23 of
 * languages 0 and 1, with predicted rows and the annotations "translations", "translation_languages" and "links". The small
 * model has 2 layers of 8 numbers for it, language embeddings and token types. */
typedef struct xlm_loss_check {
    const xlm_loss_class *cls;
    const char *const *options;                 /* "key=value", …, NULL; the others have their defaults */
    const xlm_model_config *model;              /* of a batch that is given; dropout is off, whatever it says */
    const xlm_batch *batch;                     /* its ids, languages and positions must fit the model */
    const xlm_loss_stream *stream;              /* what the objective knows of it; NULL: a parallel one that has all of the above */
    const xlm_dictionary *dictionary;           /* every dictionary that the objective asks for; NULL: a small one */
    const xlm_cooccurrence_table *cooccurrence; /* every table that it asks for; NULL: a small one */
} xlm_loss_check;

/* Open the objective, call the hooks of two training steps, so that queues and other declared state are not as at the beginning,
 * make labels and compare the gradient of its loss with differences of fourth order, for every parameter of the model and of the
 * objective; of large ones, for 64 elements. Parameters are drawn, and averaged weights are others than the live ones. Constants
 * (xlm_constant) are held at what they are, and declared state is put back before each pass.
 *
 * [out] table: a row for each parameter; NULL: none. Returns true when all agree to 1e-6 of their size, or of
 * a tenth of the largest gradient of their parameter where that is more. False, with why in
 * message[size]: the first gradient that is wrong, what an objective or an option refuses, a loss that is another one in the
 * second pass, no terms, no gradient, or a batch that does not fit. */
bool xlm_loss_check_gradients(const xlm_loss_check *check, FILE *table, char *message, size_t size);

#ifdef __cplusplus
}
#endif
#endif
