/* xlm-mpi: questions as sequences, and answers cut from contexts. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Between the text of questions (question_text.h) and what the encoder reads: contexts are cut into subwords that keep their
 * places in the context, so that answers, which are given in characters, become targets, and spans of subwords become text of the
 * context again.
 *
 *   xlm_answer_text_new -> xlm_question_text_read -> xlm_answer_text_encode -> { xlm_answer_candidates_add } ... _sort */
#ifndef XLM_TASKS_ANSWER_TEXT_H
#define XLM_TASKS_ANSWER_TEXT_H

#include <jansson.h>

#include "stream/examples.h"
#include "subwords/tokenizer.h"
#include "tasks/answer_scores.h"
#include "tasks/answer_spans.h"
#include "tasks/question_text.h"

/* The window of example i, and so of rows 2i and 2i + 1 of predictions. */
typedef struct xlm_answer_text_window {
    guint question;
    int64_t first; /* the subword of the context at which it begins */
} xlm_answer_text_window;

typedef struct xlm_answer_text {
    xlm_question_text *questions;
    GArray *rules;    /* xlm_answer_rules, of each source */
    GArray *subwords; /* xlm_located_subword, of all contexts, one after another; places are bytes of the context */
    GArray *begins;   /* [contexts + 1] int64_t: the first of each in subwords */
    GArray *windows;  /* xlm_answer_text_window */
} xlm_answer_text;

xlm_answer_text *xlm_answer_text_new(void);
/* NULL is allowed. */
void xlm_answer_text_free(xlm_answer_text *text);
const xlm_question *xlm_answer_text_question(const xlm_answer_text *text, guint question);

/* The settings for making sequences. */
typedef struct xlm_answer_sequences {
    xlm_tokenizer *tokenizer;
    int64_t length;          /* maximum number of tokens of a sequence, including special tokens; at least separators + 4 */
    int64_t separators;      /* </s> between question and context */
    int64_t stride;          /* of windows, subwords */
    int64_t question_length; /* maximum number of subwords of a question */
    bool training;           /* the sequences are for training; else they are scored, and an answer may have no subword */
    const char *code_switching; /* NULL; or a language: instead of a question and context of another language that it has a
                                   translation of, by id, the question of either with the context of the other */
} xlm_answer_sequences;

/* Append the windows of all questions, <s> Q </s> C </s>, with as many </s> between Q and C as `separators` says, all of them of
 * type 0. Two rows of each are predicted, with targets 0 and 1: the first and the last subword of the first right answer, or <s>
 * twice. Once per text. description: appended, for the log, to which goes besides how many answers are in reach
 * (tasks/answer_reach.h). EX_DATAERR with file and place: a context without a subword; in training, a first right answer that no
 * subword is part of. */
bool xlm_answer_text_encode(xlm_answer_text *text, const xlm_answer_sequences *sequences, xlm_examples *examples,
                            GString *description, GError **error);

/* ---- answers as subwords ---- */

/* The first and last subword of the context that an answer is part of; -1, -1: there is none. Once the text is encoded. */
typedef struct xlm_answer_ends {
    int64_t first, last;
} xlm_answer_ends;
xlm_answer_ends xlm_answer_text_ends(const xlm_answer_text *text, const xlm_question *question, const xlm_answer *answer);
/* The text of the context from the first of them to the last, "" for none. g_free. */
char *xlm_answer_text_between(const xlm_answer_text *text, const xlm_question *question, xlm_answer_ends ends);

/* ---- the predicted answers of a question ---- */

typedef struct xlm_answer_candidates {
    GArray *spans;     /* xlm_answer_span, in bytes of the context, [start, end) */
    double null_score; /* the lowest of all windows */
    double null_odds;  /* null_score − score of the best span; DBL_MAX if there is none; set by sort */
} xlm_answer_candidates;

xlm_answer_candidates *xlm_answer_candidates_new(void);
void xlm_answer_candidates_free(xlm_answer_candidates *candidates);
void xlm_answer_candidates_add_null(xlm_answer_candidates *candidates, double score);
/* A span of subwords of a window, from 0. */
void xlm_answer_candidates_add(xlm_answer_candidates *candidates, const xlm_answer_text *text,
                               const xlm_answer_text_window *window, const xlm_answer_span *span);
/* Keep the n best, each once. */
void xlm_answer_candidates_sort(xlm_answer_candidates *candidates, int64_t n);

/* The best answer, "" when there is none, as a string; json_decref. */
json_t *xlm_answer_text_best(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates);
/* All answers, best first, with scores and probabilities: softmax over their scores and the null score. */
json_t *xlm_answer_text_list(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates);
/* The score of the best answer, with its null odds. */
xlm_answer_result xlm_answer_text_result(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates);

#endif
