/* xlm-mpi: a measure of how good a model is. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_RUN_MEASURE_H
#define XLM_RUN_MEASURE_H

#include <stdint.h>

/* Used instead of a language for means over all languages of a set. */
#define XLM_MEAN_LANGUAGE "mean"

typedef struct xlm_measure {
    const char *name; /* "accuracy", lives as long as the program */
    double value;
    int64_t terms;    /* that it is the mean of, or sums over */
} xlm_measure;

/* The same for text of one language of a set. */
typedef struct xlm_language_measure {
    xlm_measure measure;
    const char *language; /* NULL: the whole set */
} xlm_language_measure;

#endif
