/* xlm-mpi: a batch of three short sequences, for tests of whole models. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_BATCH_FIXTURE_H
#define XLM_TESTS_BATCH_FIXTURE_H

#include <xlm/batch.h>

#include "subwords/special_tokens.h"

enum { V = 13, T = 12, M = 4 }; /* subwords, tokens, masked ones */

/* Three sequences; the third one's positions restart in the middle, as those of an xlm pair do. */
static const int32_t offsets[] = {0, 1, 5, 12}, ids[T] = {5, 0, 4, 6, 2, 0, 7, 2, 0, 4, 9, 2};
static const int32_t positions[T] = {0, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3}, languages[T] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1};
static const int32_t types[T] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}, predicted_rows[M] = {0, 2, 9, 10}, targets[M] = {5, 11, 12, 9};
/* Before words were switched to other languages, which the model does not read. */
static const int32_t unswitched[T] = {1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0};
static const xlm_row_key keys[T] = {{7, 0}, {8, 0}, {8, 1}, {8, 2}, {8, 3}, {9, 0}, {9, 1}, {9, 2}, {9, 3}, {9, 4}, {9, 5},
                                    {9, 6}};

static const xlm_batch batch = {
    .corrupted = {
        .tokens = T, .sequences = 3, .offsets = offsets, .ids = ids, .unmasked = ids, .positions = positions,
        .languages = languages, .unswitched = unswitched, .types = types, .keys = keys, .specials = &xlm_own_special_tokens,
    },
    .predicted = M, .predicted_rows = predicted_rows, .targets = targets,
};

#endif
