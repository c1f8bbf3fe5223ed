/* xlm-mpi: optimisers, learning-rate schedules and clipping. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A rank holds the moments of the elements it owns (comm/shards.h), and updates these. Sums run over fixed chunks of the flat
 * array of parameters, each computed by its owner, and are added up in the order of the chunks, so the same gradient gives the
 * same update on any number of ranks and threads.
 *
 * Parameters can be kept twice: floats, the masters, which a rank has of the elements that it owns and updates, and the numbers
 * rounded to bfloat16 that all ranks have, send and compute with. */
#ifndef XLM_JOB_OPTIMISER_H
#define XLM_JOB_OPTIMISER_H

#include <stdbool.h>

#include <xlm/options.h>

#include "comm/shards.h"
#include "tensor/parameters.h"

/* The choices, in the order of the words in XLM_OPTIMISER_OPTIONS. */
enum { XLM_OPTIMISER_ADAMW, XLM_OPTIMISER_ADAM, XLM_OPTIMISER_LAMB };
enum { XLM_SCHEDULE_LINEAR, XLM_SCHEDULE_INVERSE_SQRT, XLM_SCHEDULE_CONSTANT, XLM_SCHEDULE_WSD };
enum { XLM_DECAY_LINEAR, XLM_DECAY_SQRT, XLM_DECAY_COSINE };

/* Part of section [train]. */
typedef struct xlm_optimiser_config {
    int64_t algorithm; /* XLM_OPTIMISER_... */
    double learning_rate;
    int64_t schedule; /* XLM_SCHEDULE_... */
    int64_t warmup;   /* steps */
    double decay;     /* of wsd: share of all steps */
    int64_t decay_form; /* of wsd: XLM_DECAY_... */
    double beta1, beta2, epsilon;
    double weight_decay;
    double clip; /* largest global L2 norm of the gradient; 0: none */
    double layer_decay; /* these two determine the rates of parameters: job/rates.h */
    char *freeze;
} xlm_optimiser_config;

/* Rows of an option table for xlm_optimiser_config, except its warmup, which not all jobs give in steps. PLACE(member) is the
 * offset of that member in the table's struct; rate is the default of the learning rate. */
#define XLM_OPTIMISER_OPTIONS(PLACE, rate)                                                                                       \
    {"optimiser", XLM_OPTION_CHOICE, "adamw", 0, 0, "adamw|adam|lamb", "rule by which parameters are updated",                   \
     PLACE(algorithm)},                                                                                                          \
    {"learning_rate", XLM_OPTION_REAL, rate, 0, 10, NULL, "highest learning rate, at the end of the warm-up",                    \
     PLACE(learning_rate)},                                                                                                      \
    {"schedule", XLM_OPTION_CHOICE, "linear", 0, 0, "linear|inverse-sqrt|constant|wsd",                                          \
     "course of the learning rate after the warm-up; wsd: constant, then falling to 0 in the last steps (decay)",                \
     PLACE(schedule)},                                                                                                           \
    {"decay", XLM_OPTION_REAL, "0.1", 0, 1, NULL, "schedule wsd: share of all steps in which the learning rate falls, the last", \
     PLACE(decay)},                                                                                                              \
    {"decay_form", XLM_OPTION_CHOICE, "linear", 0, 0, "linear|1-sqrt|cosine", "schedule wsd: how it falls to 0",                \
     PLACE(decay_form)},                                                                                                         \
    {"beta1", XLM_OPTION_REAL, "0.9", 0, 0.999999, NULL, "decay rate of the first moment", PLACE(beta1)},                        \
    {"beta2", XLM_OPTION_REAL, "0.999", 0, 0.999999, NULL, "decay rate of the second moment", PLACE(beta2)},                     \
    {"epsilon", XLM_OPTION_REAL, "1e-8", 1e-30, 1, NULL, "number added to the root of the second moment", PLACE(epsilon)},       \
    {"weight_decay", XLM_OPTION_REAL, "0.01", 0, 10, NULL, "weight decay, which biases and LayerNorm are spared",                \
     PLACE(weight_decay)},                                                                                                       \
    {"clip", XLM_OPTION_REAL, "1.0", 0, 1e9, NULL, "largest L2 norm of the gradient; 0: no clipping", PLACE(clip)}, \
    {"layer_decay", XLM_OPTION_REAL, "1", 1e-6, 1, NULL,                                                                         \
     "layer-wise decay of the learning rate: layer l of L has learning_rate x layer_decay^(L-l), embeddings as l = 0, heads "    \
     "learning_rate; 1: all have the same",                                                                                      \
     PLACE(layer_decay)},                                                                                                        \
    {"freeze", XLM_OPTION_TEXT, "", 0, 0, NULL,                                                                                  \
     "what is not trained: embeddings, or a number: that many of the encoder's lowest layers, and the embeddings; empty: "      \
     "nothing",                                                                                                                  \
     PLACE(freeze)}

typedef struct xlm_optimiser {
    xlm_optimiser_config config;
    char *name;                          /* name of the algorithm in a job */
    xlm_parameters *parameters;
    xlm_shards shards;
    float *first_moment, *second_moment; /* [shards.own] */
    float *masters;                      /* [shards.own]; NULL: the parameters themselves */
    GArray *stretches;                   /* of the parameters, chunk by chunk; see optimiser.c */
    bool *held;                          /* [parameters] not updated now */
} xlm_optimiser;

/* Creates moments of zero. shards: of an array with the layout of the parameters. */
xlm_optimiser *xlm_optimiser_new(const xlm_optimiser_config *config, xlm_parameters *parameters, const xlm_shards *shards);
void xlm_optimiser_free(xlm_optimiser *optimiser);

/* From now on the present parameters are masters, and all parameters are rounded; also again, after they were replaced. The same
 * on all ranks, not collective. */
void xlm_optimiser_keep_masters(xlm_optimiser *optimiser);
/* Collective. The masters in place of the rounded parameters, on all ranks, until xlm_optimiser_keep_masters is called again;
 * nothing if there are none. */
void xlm_optimiser_show_masters(xlm_optimiser *optimiser);

/* Whether updates from now on leave parameter number p, its moments and its master as they are; at first none is held. The same on
 * all ranks, not collective. */
void xlm_optimiser_hold(xlm_optimiser *optimiser, int parameter, bool held);

/* Learning rate of update number `step` (0, 1, ...) of `steps`: warm-up peak·(step+1)/warmup, then
 *   linear        peak · (steps − step) / (steps − warmup)
 *   inverse-sqrt  peak · sqrt(warmup / (step + 1)), warmup at least 1
 *   constant      peak
 *   wsd           peak · f(x), x = (step − first) / (steps − first), where first is the first step of the last decay · steps
 *                 (rounded), not before the end of the warm-up; f is 1 for x <= 0, and otherwise by decay_form
 *                 linear 1 − x, 1-sqrt 1 − √x, cosine (1 + cos πx) / 2
 * (wsd: Hu et al. 2024, "MiniCPM", section 4; 1-sqrt: Hägele et al. 2024, "Scaling laws and compute-optimal training beyond fixed
 * training durations", section 3.) */
double xlm_learning_rate(const xlm_optimiser_config *config, int64_t step, int64_t steps);

/* L2 norm of the flat gradient, in double precision; each rank sums over its own buckets. NaN or infinite when the gradient is
 * not finite. Collective. */
double xlm_gradient_norm(const xlm_shards *shards, const float *gradient);

/* Update number `step` of the own buckets with the gradient times `factor` (the clipping factor min(1, clip / norm)). The
 * gradient's array may be used as scratch. The other elements of the parameters are then out of date (xlm_shards_all_gather).
 * Collective.
 *   m ← β₁ m + (1−β₁) g,  v ← β₂ v + (1−β₂) g²,  u = (m / (1−β₁ᵗ)) / (sqrt(v / (1−β₂ᵗ)) + ε),  t = step + 1
 *   adamw  w ← w − lr (u + λ w)                         Loshchilov & Hutter 2019
 *   adam   the same with g + λ w instead of g, w ← w − lr u     Kingma & Ba 2015
 *   lamb   r = u + λ w, w ← w − lr (|w| / |r|) r, norms of each parameter; ratio 1 where one is 0    You et al. 2020
 * λ is 0 for parameters without decay (biases and LayerNorm); lr is the learning rate times the parameter's own rate. Parameters
 * whose rate is 0 (tensor/parameters.h) or that are held, and their moments, do not change. */
void xlm_optimiser_update(xlm_optimiser *optimiser, float *gradient, double factor, int64_t step, double learning_rate);

#endif
