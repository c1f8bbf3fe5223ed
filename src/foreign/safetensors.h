/* xlm-mpi: weights of models of other programs, in safetensors files. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A file is 8 bytes N (little-endian), N bytes of JSON, and the values of all tensors, row by row, little-endian, one tensor
 * after the other. The JSON is an object: a member for each tensor, {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin,
 * end]} with offsets from the end of the JSON, and maybe "__metadata__", an object of texts. Large models are in several files,
 * with a table of which tensor is in which, model.safetensors.index.json: {"weight_map": {"tensor": "file", ...}}.
 * (https://github.com/huggingface/safetensors)
 *
 * Nothing in a file is trusted: its tensors must fill it without gaps and without overlap, have as many bytes as their shapes and
 * types require, and have different names. Values are read when they are asked for, a block at a time, so a model of any size
 * takes the memory of one tensor. Nothing here is collective.
 *
 *   reading   xlm_safetensors_open -> { xlm_safetensors_find -> xlm_safetensors_read } ... -> xlm_safetensors_close
 *   writing   xlm_safetensors_create -> { xlm_safetensors_write } ... -> xlm_safetensors_commit | xlm_safetensors_discard */
#ifndef XLM_FOREIGN_SAFETENSORS_H
#define XLM_FOREIGN_SAFETENSORS_H

#include <stdint.h>

#include "files/new_file.h"

enum { XLM_SAFETENSOR_MAX_DIMENSIONS = 8 };

typedef struct xlm_safetensor {
    const char *name;
    const char *file; /* path of the file that it is in */
    const char *type; /* "F32", "F16", "BF16", "F64"; others, such as "I64", cannot be read as numbers */
    int dimensions;   /* 0: one number */
    int64_t dims[XLM_SAFETENSOR_MAX_DIMENSIONS];
    int64_t elements;
} xlm_safetensor;

/* ---- reading ---- */

typedef struct xlm_safetensors xlm_safetensors;

/* path: a file, a table of files (*.index.json), or a directory that has model.safetensors or such a table. Heads of all files
 * are read and checked. EX_NOINPUT; EX_DATAERR: file and what is wrong, also for a directory that has its weights only in pickled
 * files, which are programs and are not read. */
xlm_safetensors *xlm_safetensors_open(const char *path, GError **error);
void xlm_safetensors_close(xlm_safetensors *tensors); /* NULL is allowed */
/* In order of their names. */
int64_t xlm_safetensors_count(const xlm_safetensors *tensors);
const xlm_safetensor *xlm_safetensors_get(const xlm_safetensors *tensors, int64_t i);
/* NULL when there is none of this name. */
const xlm_safetensor *xlm_safetensors_find(const xlm_safetensors *tensors, const char *name);
/* Elements [first, first + n) as floats. EX_DATAERR: not of a floating-point type, values that are not finite, or too large
 * for a float (F64); EX_IOERR, also when the file has become shorter. */
bool xlm_safetensors_read(const xlm_safetensor *tensor, int64_t first, int64_t n, float *values, GError **error);

/* ---- writing one file ---- */

typedef struct xlm_safetensors_writer {
    xlm_new_file file;
    int64_t left; /* elements that are still to come */
} xlm_safetensors_writer;

/* tensors[n]: names, which differ, dimensions and dims; all are F32. Their values are then written in this order. EX_CANTCREAT;
 * then there is nothing to discard. */
bool xlm_safetensors_create(xlm_safetensors_writer *writer, const char *path, const xlm_safetensor *tensors, int64_t n,
                            GError **error);
/* The next n elements. EX_IOERR. */
bool xlm_safetensors_write(xlm_safetensors_writer *writer, const float *values, int64_t n, GError **error);
/* All elements must have been written. EX_IOERR; the writer cannot be used afterwards. */
bool xlm_safetensors_commit(xlm_safetensors_writer *writer, GError **error);
void xlm_safetensors_discard(xlm_safetensors_writer *writer);

#endif
