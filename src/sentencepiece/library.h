/* xlm-mpi: the functions of the library SentencePiece that we use, in C. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The library is C++. library.cc is the only C++ file of this project, and other files include only this header. */
#ifndef XLM_SENTENCEPIECE_LIBRARY_H
#define XLM_SENTENCEPIECE_LIBRARY_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct xlm_sentencepiece xlm_sentencepiece; /* never changes after it was made, so any number of threads may use it */

/* A model from the bytes of its file, which sentencepiece/model.h must have checked, because the library does not. NULL with
 * *message; g_free. */
xlm_sentencepiece *xlm_sentencepiece_new(const char *bytes, size_t size, char **message);
/* NULL is allowed. */
void xlm_sentencepiece_free(xlm_sentencepiece *model);
/* Append the pieces of a line, with single spaces between them; a run of unknown characters is one piece. normal, ends: both
 * NULL, or append the normalised line, and the end of each piece in it (uint32_t). */
void xlm_sentencepiece_encode(const xlm_sentencepiece *model, const char *line, size_t size, GString *out, GString *normal,
                              GArray *ends);

/* Learn a unigram model of n pieces, or fewer if there are fewer, after an unknown piece, from lines `text<tab>count`. Ties and
 * the division of work among threads depend only on the order of the lines. Appends the bytes of its file to `model`; false with
 * *message. */
bool xlm_sentencepiece_learn(char *const *lines, size_t count, int64_t n, GString *model, char **message);

#ifdef __cplusplus
}
#endif
#endif
