/* xlm-mpi: a text of three sentence pairs, for tests of aligners. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TESTS_UNIT_ALIGNER_FIXTURE_H
#define XLM_TESTS_UNIT_ALIGNER_FIXTURE_H

#include <math.h>

#include "aligners/bitext.h"

/* Source a b a | (none) | c b, target X Y | (none) | Y: the second pair is not aligned. */
static const xlm_comm alone = {.rank = 0, .ranks = 1};
static xlm_bitext by_hand = {
    .comm = &alone, .pairs = 3, .total = 3,
    .side = {{(int64_t[]){0, 3, 3, 5}, (int32_t[]){0, 1, 0, 2, 1}, 3, (char *[]){"a", "b", "c", NULL}},
             {(int64_t[]){0, 2, 2, 3}, (int32_t[]){0, 1, 1}, 2, (char *[]){"X", "Y", NULL}}},
};

static void assert_near(double a, double b) { if (!(fabs(a - b) < 1e-4)) fail_msg("%g, not %g", a, b); }

#endif
