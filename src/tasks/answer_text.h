/* xlm-mpi: questions as sequences, and answers cut from contexts. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * This connects the text of questions (question_text.h) with what the encoder reads. Contexts are cut into subwords that keep
 * their places in the context. So answers, which are given in characters, can become targets, and predicted spans of subwords can
 * become text of the context.
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

/* The window of an example; example i has rows 2i and 2i + 1 of the predictions. */
typedef struct xlm_answer_text_window {
    guint question;
    int64_t first; /* the subword of the context at which it begins */
} xlm_answer_text_window;

typedef struct xlm_answer_text {
    xlm_question_text *questions;
    GArray *rules;    /* xlm_answer_rules of each source */
    GArray *subwords; /* xlm_located_subword: of all contexts, one after another; places are bytes of the context */
    GArray *begins;   /* [contexts + 1] int64_t: index in subwords of the first of each context */
    GArray *windows;  /* xlm_answer_text_window, by example */
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
    const char *code_switching; /* NULL; or a language. Then each question of another language is paired with its translation in
                                   this one, which has the same id, and the question of either gets the context of the other */
} xlm_answer_sequences;

/* Append the windows of all questions to `examples`: <s> Q </s> C </s>, with `separators` times </s> between Q and C, which have
 * type 0. For each window two rows are predicted, with targets 0 and 1: the first and the last subword of the first right answer,
 * or twice <s> if the window does not have the whole answer. To be called once for a text. A description for the log is appended
 * to `description`. EX_DATAERR with file and place for a context without a subword and, in training, for a first right answer
 * that overlaps no subword. */
bool xlm_answer_text_encode(xlm_answer_text *text, const xlm_answer_sequences *sequences, xlm_examples *examples,
                            GString *description, GError **error);

/* ---- answers as subwords ---- */

/* The first and the last subword of the context that an answer overlaps; -1, -1 if there is none. For an encoded text. */
typedef struct xlm_answer_ends {
    int64_t first, last;
} xlm_answer_ends;
xlm_answer_ends xlm_answer_text_ends(const xlm_answer_text *text, const xlm_question *question, const xlm_answer *answer);
/* The text of the context from the first to the last of these subwords, "" if there are none. g_free. */
char *xlm_answer_text_between(const xlm_answer_text *text, const xlm_question *question, xlm_answer_ends ends);

/* ---- the predicted answers of a question ---- */

typedef struct xlm_answer_candidates {
    GArray *spans;     /* xlm_answer_span, in bytes of the context, [start, end) */
    double null_score; /* the lowest of all windows */
    double null_odds;  /* null_score − score of the best span; DBL_MAX if there is none; set by xlm_answer_candidates_sort */
} xlm_answer_candidates;

xlm_answer_candidates *xlm_answer_candidates_new(void);
void xlm_answer_candidates_free(xlm_answer_candidates *candidates);
/* Add the null score of a window. */
void xlm_answer_candidates_add_null(xlm_answer_candidates *candidates, double score);
/* Add a span. span: in subwords of the window, from 0. */
void xlm_answer_candidates_add(xlm_answer_candidates *candidates, const xlm_answer_text *text,
                               const xlm_answer_text_window *window, const xlm_answer_span *span);
/* Sort the spans, best first, and keep the n best ones, each once. */
void xlm_answer_candidates_sort(xlm_answer_candidates *candidates, int64_t n);

/* The best answer as a JSON string, "" if there is none; json_decref. */
json_t *xlm_answer_text_best(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates);
/* All answers, best first, with their scores and probabilities, which are the softmax of their scores and the null score.
 * json_decref. */
json_t *xlm_answer_text_list(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates);
/* The result of the best answer, with its null odds. */
xlm_answer_result xlm_answer_text_result(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates);

#endif
