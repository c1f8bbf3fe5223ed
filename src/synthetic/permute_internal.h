/* xlm-mpi: the items of one word, their scores, and draws of their order. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * For permute.c, which describes the items of a word; order_scores.c, which scores their orders; and exact_order.c, which draws
 * one with its probability. */
#ifndef XLM_SYNTHETIC_PERMUTE_INTERNAL_H
#define XLM_SYNTHETIC_PERMUTE_INTERNAL_H

#include <glib.h>

#include "base/rng.h"
#include "synthetic/order_weights.h"
#include "synthetic/permute.h"

enum { VIEWS = 3, BOTH = 0, MAX_ITEMS = XLM_PERMUTE_MAX, CONTEXT = XLM_ORDER_MAX_ROW - 1 };
/* Where two items are: before the head, on both sides of it, after it. */
enum { BEFORE, ACROSS, AFTER, REGIONS };

/* A word and its dependents. The last two symbols are BOS and EOS. */
struct node {
    const xlm_order_weights *weights;
    int n, head;                         /* items; which of them is the head */
    uint32_t symbol[VIEWS][MAX_ITEMS + 2];
    double next[MAX_ITEMS + 2][MAX_ITEMS + 2];     /* BI: item, item after it */
    double pair[REGIONS][MAX_ITEMS][MAX_ITEMS];    /* PRE, and BFR, BTW or AFT: item, item somewhere after it */
    int at[MAX_ITEMS];                        /* the current order: at[place] = item */
    uint32_t row[MAX_ITEMS + 2 * (XLM_ORDER_MAX_ROW - 1)]; /* symbols in that order, with BOS and EOS, for HI */
    /* For exact draws; NAN: not computed yet. */
    GArray *begin; /* uint32_t [2^n]: first state of each set of placed items */
    GArray *sums;  /* double [states]: log of the sum over the orders of the items still to come */
    GArray *pairs; /* double [2^n x n]: set of placed items, next item */
    GArray *rows;  /* double [(n + 2)^(CONTEXT + 1)]: items last placed, the latest first, next item */
};

/* ---- scores of orders (order_scores.c) ---- */

/* Look up the weights that any order may need. BOS is item n, EOS item n + 1. */
void permute_look_up(struct node *node);
/* Number of symbols in the longest row of HI. One fewer are put before the first item and after the last. */
int permute_longest_row(const struct node *node);
/* The sum of the rows of HI that end at row[end]. */
double permute_rows_to(const struct node *node, int end);
/* The score of the current order. permute_pad_row must have been called before. */
double permute_score_order(struct node *node);
void permute_pad_row(struct node *node);

/* ---- draws ---- */

/* i with the probability exp(score[i]) / sum. [in,out] u: uniform in [0, 1); out: where it lies within the share of i. The
 * scores are overwritten; some, not all, may be -INFINITY: these are not drawn. */
int permute_draw(double *score, int n, double *u);
/* In [0, 1), with 53 bits. */
double permute_uniform(xlm_rng_key key, uint32_t word, uint32_t counter);
/* node->at <- an order drawn with its probability; n <= XLM_PERMUTE_EXACT (exact_order.c). */
void permute_draw_exactly(struct node *node, xlm_rng_key key, uint32_t word);

#endif
