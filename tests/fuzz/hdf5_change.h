/* xlm-mpi: a good HDF5 file changed as the fuzz input says. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The input is text, a line a change (I whole numbers, R real numbers, TEXT with the escapes of C):
 *
 *   int, unsigned, two OBJECT@ATTRIBUTE I   the attribute becomes a number: signed, unsigned, or two of them
 *   real OBJECT@ATTRIBUTE R                 text OBJECT@ATTRIBUTE TEXT
 *   remove OBJECT[@ATTRIBUTE]               copy OBJECT OTHER: a copy of it in place of the other
 *   link OBJECT TEXT, outer OBJECT TEXT     in its place a link to an object of the file, to another file
 *   reshape DATASET I [I]                   its elements as so many rows and columns; further elements are 0
 *   missing DATASET I [I]                   so many elements, which are not in the file
 *   outside DATASET                         its elements are in another file
 *   ints, reals, texts DATASET [NUMBER]     elements of another type, all of this value
 *   element DATASET PLACE VALUE             one element
 *   byte PLACE I                            one byte of the file
 *   unsealed /                              the digest of the header stays what it was
 *   choose I                                for targets that have several files or readers
 *
 * All are made but once, `byte` before the digest of the header, so that readers get past it to their own checks.
 * Under libFuzzer hdf5_mutate.c makes such lines from what is in the file. */
#ifndef XLM_TESTS_FUZZ_HDF5_CHANGE_H
#define XLM_TESTS_FUZZ_HDF5_CHANGE_H

#include "fuzz.h"

typedef struct fuzz_original fuzz_original;

/* The good file, which stays as it is. With several, all are read before the first is changed, in the order of `choose`. */
fuzz_original *fuzz_original_read(const char *path);
/* A number below n that the input chooses; 0 when the input is used up. */
int fuzz_choose(const uint8_t *data, size_t size, int n);
/* The valid file with the changes. Returns its path, valid as long as the process, and the same for each call with the same
 * original. A change that cannot be made is added to the outcome (fuzz.h); with XLM_FUZZ_SHOW in the environment all are
 * printed. */
const char *fuzz_original_change(const fuzz_original *original, const uint8_t *data, size_t size);

/* Used by the mutator: what there is to change in a file. hdf5_mutate.c */
typedef struct fuzz_structure fuzz_structure;
fuzz_structure *fuzz_structure_read(int64_t file);
/* Another input of at most `room` bytes, of the structure that the input chooses. Its size. */
size_t fuzz_structure_mutate(fuzz_structure *const *structures, int n, uint8_t *data, size_t size, size_t room, unsigned seed);

#endif
