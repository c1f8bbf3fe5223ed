/* xlm-mpi: a word as a part of a line. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_TEXT_WORD_H
#define XLM_TEXT_WORD_H

#include <stdint.h>

/* Bytes [start, start + size) of a line; size > 0. */
typedef struct xlm_word {
    uint32_t start, size;
} xlm_word;

#endif
