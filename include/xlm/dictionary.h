/* xlm-mpi: a bilingual dictionary of subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_DICTIONARY_H
#define XLM_DICTIONARY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Pairs of vocabulary ids that are translations of each other: token[0][i] in language[0] and token[1][i] in language[1]. A token
 * may have several translations. No pair occurs twice, has the same id on both sides, or contains a special token. Sorted by
 * token[0], then by token[1]. */
typedef struct xlm_dictionary {
    int64_t pairs;           /* n */
    const int32_t *token[2]; /* [n] ids on each side */
    int32_t language[2];     /* language ids of the corpus */
} xlm_dictionary;

#ifdef __cplusplus
}
#endif
#endif
