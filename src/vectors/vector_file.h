/* xlm-mpi: files of vectors, for other programs. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A path that ends in .h5 or .hdf5 is HDF5:
 *
 *   /          format = "xlm-mpi vectors", format_version, program_version, and what xlm_vector_file_describe adds; for
 *              xlm_embed export: command, model (its path), step, content = "words" | "sentences", language, vectors = "hidden
 *              states" | "word embeddings", of the former layer, pooling, special_tokens; cut (lines that were too long)
 *   /vectors   f32 [N x d]
 *   /words     [N] strings, with names
 *   /map, /singular_values   of xlm_embed procrustes, f64 [d x d] and [d]: docs/files.md
 *
 * Any other file is text: a line for each vector, its numbers separated by blanks, with as many digits as are needed to read the
 * same number again. With names it is the text form of word2vec, which gensim and MUSE read: a line "N d" first, and each
 * vector's line begins with its name, which has no blank.
 *
 * Files are written under a temporary name and renamed when they are complete. */
#ifndef XLM_VECTORS_VECTOR_FILE_H
#define XLM_VECTORS_VECTOR_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "comm/comm.h"
#include "store/store.h"

typedef struct xlm_vector_file xlm_vector_file;

/* Is a file of this path, NULL for standard output, text? */
bool xlm_vector_file_is_text(const char *path);
/* Not collective: one process writes. path NULL: text on standard output. n: the number of vectors, which then have names; -1:
 * unknown, and they have no names. width: d. EX_CANTCREAT, EX_IOERR. */
xlm_vector_file *xlm_vector_file_create(const char *path, int64_t n, int64_t width, GError **error);
/* An attribute. Only HDF5 files have one; other forms have no place for it. */
bool xlm_vector_file_describe(xlm_vector_file *file, const char *name, const char *value, GError **error);
bool xlm_vector_file_describe_number(xlm_vector_file *file, const char *name, int64_t value, GError **error);
/* Append n vectors, [n x width]. names: [n], NULL in a file without; in text no blanks or line ends (xlm_fields_is_word). */
bool xlm_vector_file_add(xlm_vector_file *file, int64_t n, const char *const *names, const float *vectors, GError **error);
/* Give the file its name. It is gone afterwards, also on failure, when nothing is left on disk. */
bool xlm_vector_file_commit(xlm_vector_file *file, GError **error);
/* Remove what was written. NULL is allowed. */
void xlm_vector_file_discard(xlm_vector_file *file);

/* Is it an HDF5 file of vectors? */
bool xlm_vector_store_is(const char *path);
/* Open one. *array: the shape of /vectors; *words: [rows] of /words (g_strfreev), NULL where they have no names. EX_DATAERR. */
xlm_store *xlm_vector_store_open(const char *path, xlm_array *array, char ***words, GError **error);

/* Collective: create an HDF5 file for vectors that are distributed over ranks, with everything except the n rows of /vectors, of
 * which each rank writes its own by xlm_store_write. words: [n], the same on every rank; NULL: vectors without names. command:
 * the program's command line. EX_CANTCREAT, EX_IOERR. */
xlm_store *xlm_vector_store_create(const xlm_comm *comm, const char *path, int64_t n, int64_t width, const char *const *words,
                                   const char *command, GError **error);

#endif
