/* xlm-mpi: a good HDF5 file changed as the fuzz input says. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The input is up to four changes of tests/unit/hostile.h, of 20 bytes each: kind, object, attribute, choice of a value, and two
 * numbers of 8 bytes, or a text in their place. The digest of the header is made anew, so the readers behind it are reached. An
 * input that begins with FUZZ_RAW is a list of bytes instead, of which each has its place in the file (3 bytes). */
#ifndef XLM_TESTS_FUZZ_HDF5_CHANGE_H
#define XLM_TESTS_FUZZ_HDF5_CHANGE_H

#include "fuzz.h"

enum { FUZZ_RAW = 0xff };

typedef struct fuzz_original fuzz_original;

/* The good file, which stays as it is. */
fuzz_original *fuzz_original_read(const char *path);
/* Its copy with the changes. The path, valid as long as the process; of each original the same. With XLM_FUZZ_SHOW in the
 * environment the changes are printed. */
const char *fuzz_original_change(const fuzz_original *original, const uint8_t *data, size_t size);

#endif
