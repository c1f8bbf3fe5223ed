/* xlm-mpi: what is used of the library SentencePiece, in C. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The library is C++; library.cc is the only file of this project that is, and this is all that others see. */
#ifndef XLM_SENTENCEPIECE_LIBRARY_H
#define XLM_SENTENCEPIECE_LIBRARY_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xlm_sentencepiece xlm_sentencepiece; /* does not change once made: any number of threads may use it */

/* A model from the bytes of its file, which sentencepiece/model.h has found sound: the library does not look. NULL with
 * *message, which is the caller's, g_free. */
xlm_sentencepiece *xlm_sentencepiece_new(const char *bytes, size_t size, char **message);
/* NULL is allowed. */
void xlm_sentencepiece_free(xlm_sentencepiece *model);
/* Append the pieces of a line between single spaces; a run of unknown characters is one of them. normal, ends: NULL, both; or
 * append the normalised line, and where in it each piece ends (uint32_t). */
void xlm_sentencepiece_encode(const xlm_sentencepiece *model, const char *line, size_t size, GString *out, GString *normal,
                              GArray *ends);

/* Learn a unigram model of n pieces, or of as many as there are, and an unknown one before them, from lines `text<tab>count`.
 * Ties and the shares of threads are decided by the order of the lines alone. Append the bytes of its file to `model`; false with
 * *message. */
bool xlm_sentencepiece_learn(char *const *lines, size_t count, int64_t n, GString *model, char **message);

#ifdef __cplusplus
}
#endif
#endif
