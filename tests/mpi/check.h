/* xlm-mpi: checks of tests that run on several ranks, where cmocka, which leaves a test by a jump, would leave the others
 * waiting. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * They use `const xlm_comm *comm` of the place where they are. A program fails when `failures` is not 0 on any rank. */
#ifndef XLM_TESTS_MPI_CHECK_H
#define XLM_TESTS_MPI_CHECK_H

#include <stdio.h>
#include <string.h>

#include "comm/comm.h"

static int failures;

#define CHECK(condition)                                                                                              \
    do {                                                                                                              \
        if (!(condition)) {                                                                                           \
            fprintf(stderr, "%s:%d: rank %d of %d: %s\n", __FILE__, __LINE__, comm->rank, comm->ranks, #condition);   \
            failures++;                                                                                               \
        }                                                                                                             \
    } while (0)

#define GOOD(call)                                                                                                    \
    do {                                                                                                              \
        GError *error = NULL;                                                                                         \
        const bool good = (call);                                                                                     \
        if (!good || error != NULL) {                                                                                 \
            fprintf(stderr, "%s:%d: rank %d: %s: %s\n", __FILE__, __LINE__, comm->rank, #call,                        \
                    error != NULL ? error->message : "failed without a message");                                   \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                                             \
        }                                                                                                             \
    } while (0)

/* The call fails on every rank with this code, and a message with both texts in it. */
#define BAD(call, exit_code, text, text2)                                                                             \
    do {                                                                                                              \
        GError *error = NULL;                                                                                         \
        const bool good = (call);                                                                                     \
        CHECK(!good);                                                                                                 \
        CHECK(error != NULL && error->code == (exit_code));                                                           \
        if (error != NULL && (strstr(error->message, text) == NULL || strstr(error->message, text2) == NULL)) {       \
            fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, comm->rank, error->message);                  \
            failures++;                                                                                               \
        }                                                                                                             \
        g_clear_error(&error);                                                                                        \
    } while (0)

#endif
