/* xlm-mpi: weights of a model of the order of dependents. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Files of the Galactic Dependencies (Wang and Eisner 2016), plain or compressed: lines `feature weight`, where a feature is
 * its kind and symbols with _ between them:
 *
 *   BI_a_b              a immediately before b
 *   PRE_a_b             a somewhere before b
 *   BFR_a_b, AFT_a_b    the same, both before the head, or both after it
 *   BTW_a_b             a before the head and b after it
 *   HI_a_b_c[_d[_e]]    three to five in a row
 *
 * A symbol represents a dependent: its tag (NOUN), its relation (nsubj), or both (NOUN&nsubj); for the head: @NOUN, @, @NOUN&@;
 * or for what lies outside: BOS and EOS. */
#ifndef XLM_SYNTHETIC_ORDER_WEIGHTS_H
#define XLM_SYNTHETIC_ORDER_WEIGHTS_H

#include <stdint.h>

#include "base/error.h"

typedef struct xlm_order_weights xlm_order_weights; /* does not change once read */

typedef enum { XLM_ORDER_BI, XLM_ORDER_PRE, XLM_ORDER_BFR, XLM_ORDER_BTW, XLM_ORDER_AFT, XLM_ORDER_HI } xlm_order_feature;
enum { XLM_ORDER_MIN_ROW = 3, XLM_ORDER_MAX_ROW = 5 }; /* symbols of HI */

/* EX_NOINPUT; EX_DATAERR with file and line for anything that is not such a line, and for a feature that occurs twice. */
xlm_order_weights *xlm_order_weights_read(const char *path, GError **error);
/* NULL is allowed. */
void xlm_order_weights_free(xlm_order_weights *weights);

/* The number of a symbol, 0 when no feature has it. */
uint32_t xlm_order_weights_symbol(const xlm_order_weights *weights, const char *symbol, size_t size);
/* The weight of a feature, 0 when there is none. n symbols: 2, or 3 to 5 for HI. */
double xlm_order_weights_get(const xlm_order_weights *weights, xlm_order_feature feature, const uint32_t *symbols, int n);

#endif
