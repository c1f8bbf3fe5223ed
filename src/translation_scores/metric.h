/* xlm-mpi: scores of translations against references: BLEU, chrF. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A metric counts each sentence, and its score is a function of the sums of these counts over a text: 64-bit integers, so that
 * any parts of a text can be counted anywhere and added in any order. xlm_train scores translations like this:
 *
 *   xlm_translation_metric_new("bleu", &(xlm_metric_options){0}, &error)
 *   int64_t counts[XLM_METRIC_COUNTS] = {0};
 *   for each sentence of this rank: xlm_translation_metric_add(metric, hypothesis, references, n, counts)
 *   xlm_comm_sum_int64(comm, counts, XLM_METRIC_COUNTS)
 *   xlm_translation_metric_score(metric, counts)
 *
 * Metrics, all in per cent:
 *   bleu        as sacreBLEU 2 (Post 2018): geometric mean of clipped precisions of 1- to 4-grams times a brevity penalty
 *               (Papineni et al. 2002)
 *   multi-bleu  as multi-bleu.perl of Moses: words between blanks, no smoothing
 *   chrf        chrF2 as sacreBLEU 2: F-score with β = 2 of n-grams of 1 to 6 characters (Popović 2015)
 *   chrf++      chrF2++: of words and pairs of words as well (Popović 2017)
 *
 * A metric is a class: one file with its table, and a line in metrics.c. */
#ifndef XLM_TRANSLATION_SCORES_METRIC_H
#define XLM_TRANSLATION_SCORES_METRIC_H

#include "translation_scores/bleu_words.h"

enum { XLM_METRIC_COUNTS = 24, XLM_METRIC_PARTS = 8 }; /* maximum numbers of counts and of parts that a metric has */

/* What is done if a text has no n-gram of some order in common with its references (Chen and Cherry 2014). exp: the k-th such
 * order has precision 1 / (2^k total); floor: value / total; add-k: the value is added to matches and totals of n > 1. */
typedef enum { XLM_SMOOTH_EXP, XLM_SMOOTH_FLOOR, XLM_SMOOTH_ADD_K, XLM_SMOOTH_NONE } xlm_bleu_smoothing;
/* Their names, and NULL: index xlm_bleu_smoothing. */
extern const char *const xlm_bleu_smoothings[];

/* All zero: sacreBLEU's defaults. */
typedef struct xlm_metric_options {
    xlm_bleu_words words;         /* of bleu */
    xlm_bleu_smoothing smoothing; /* of bleu */
    double smooth_value;          /* of floor and add-k; 0: 0.1 and 1 */
    bool lowercase;
    bool whitespace;              /* of chrf: spaces are characters like others */
    bool epsilon;                 /* of chrf: the mean is over all orders, also those that a side is too short for */
} xlm_metric_options;

/* One of the numbers that a score is computed from, to be shown next to it. */
typedef struct xlm_metric_part {
    const char *name; /* "brevity_penalty" */
    double value;
} xlm_metric_part;

typedef struct xlm_metric_class {
    const char *name, *title; /* for options, "chrf++"; for tables, "chrF2++" */
    int counts;
    void *(*open)(const xlm_metric_options *options);
    void (*close)(void *state);
    /* As the functions below. */
    void (*add)(void *state, const char *hypothesis, const char *const *references, int n, int64_t *counts);
    double (*score)(const void *state, const int64_t *counts, bool sentence);
    int (*parts)(const void *state, const int64_t *counts, xlm_metric_part *parts); /* NULL: it has none */
    /* Append the settings, as sacreBLEU's signatures have them: "case:mixed|eff:no|tok:13a|smooth:exp". */
    void (*settings)(const void *state, bool sentence, GString *out);
    /* Append the line for a text. score: as text, with what belongs to it. */
    void (*line)(const void *state, const int64_t *counts, const char *score, const char *signature, GString *out);
} xlm_metric_class;

/* All metrics; *n: their number. */
const xlm_metric_class *const *xlm_metric_classes(int *n);

typedef struct xlm_translation_metric xlm_translation_metric;

/* EX_USAGE if there is no metric of this name. To be used by one thread at a time. */
xlm_translation_metric *xlm_translation_metric_new(const char *name, const xlm_metric_options *options, GError **error);
/* NULL is allowed. */
void xlm_translation_metric_free(xlm_translation_metric *metric);
const xlm_metric_class *xlm_translation_metric_class(const xlm_translation_metric *metric);

/* Add the counts of a sentence to counts[class->counts]. hypothesis and references[n], n >= 1: UTF-8, 0-terminated, detokenised;
 * they may be empty; white space at their ends does not count. The order of the references matters only for the references of
 * chrf that are equally good. */
void xlm_translation_metric_add(xlm_translation_metric *metric, const char *hypothesis, const char *const *references, int n,
                                int64_t *counts);
/* The score of sums of counts, 0 ... 100. */
double xlm_translation_metric_score(const xlm_translation_metric *metric, const int64_t *counts);
/* The score of the counts of a single sentence: bleu then averages over the orders that the sentence is long enough for. */
double xlm_translation_metric_score_sentence(const xlm_translation_metric *metric, const int64_t *counts);
/* parts[XLM_METRIC_PARTS]; returns how many there are. */
int xlm_translation_metric_parts(const xlm_translation_metric *metric, const int64_t *counts, xlm_metric_part *parts);

/* What tells the settings that a score depends on: "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:xlm-mpi-0.1.0". In the
 * form of sacreBLEU's signatures, but for the version, which is ours. samples: of the bootstrap, drawn with a seed, 0: none.
 * sentence: of scores of single sentences. g_free. */
char *xlm_translation_metric_signature(const xlm_translation_metric *metric, int references, int64_t samples, int64_t seed,
                                       bool sentence);
/* The line for a text, as the program that the metric comes from prints it, without a line end. score: as text. g_free. */
char *xlm_translation_metric_line(const xlm_translation_metric *metric, const int64_t *counts, const char *score,
                                  const char *signature);

#endif
