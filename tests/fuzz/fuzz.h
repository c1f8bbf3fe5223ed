/* xlm-mpi: what fuzz targets share. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A target is a file of this folder with LLVMFuzzerTestOneInput, which hands bytes to a reader, and a line in local.mk. It calls
 * fuzz_begin first. `make check` builds it with replay.c, which runs files (the seeds, and the inputs that once failed); `make
 * fuzz` with libFuzzer, which makes more. */
#ifndef XLM_TESTS_FUZZ_H
#define XLM_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include "comm/comm.h"

/* The target: anything but a return is a failure, and so are memory without bound and more than a minute. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Silence the log, and make the directory of fuzz_write; what is done already is not done again. */
void fuzz_begin(void);
/* MPI of one rank, for readers that are collective; ended with the process. What MPI keeps is no leak. */
const xlm_comm *fuzz_comm(void);
/* Write the bytes into a file of this name, which may be in a folder, in a directory of this process, which is removed when it
 * ends. Its path; valid as long as the process. */
const char *fuzz_write(const char *name, const void *data, size_t size);

/* Abort when a reader did not keep its word: it must have either succeeded or set an error of ours. Frees the error. */
void fuzz_check(bool good, GError *error);
/* Abort, with a message: `what` does not hold. */
void fuzz_require(bool holds, const char *what);

/* The messages of readers about the last input: a line for each fuzz_check that got an error, without the directory of
 * fuzz_write, and for each fuzz_note; "" when all was read. */
const char *fuzz_outcome(void);
void fuzz_note(const char *what, const char *detail);

/* Cut the next part, which ends at a byte 0 or with the input, off the front of the input. */
const char *fuzz_cut(const uint8_t **data, size_t *size, size_t *length);
/* Take one byte off the front, 0 from an empty input. */
uint8_t fuzz_take(const uint8_t **data, size_t *size);

/* Another input of at most `room` bytes, changed by fields and numbers; its size. */
size_t fuzz_fields_mutate(uint8_t *data, size_t size, size_t room, unsigned seed);

#endif
