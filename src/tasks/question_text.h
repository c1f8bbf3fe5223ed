/* xlm-mpi: questions, with contexts that have their answers. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Read from JSON in the form of SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), in which XQuAD, MLQA and TyDiQA-GoldP are
 * published too, plain or compressed:
 *
 *   {"version": ..., "data": [{"paragraphs": [{"context": "...", "qas": [
 *     {"id": "...", "question": "...", "answers": [{"text": "...", "answer_start": 17}, ...], "is_impossible": false}]}]}]}
 *
 * answer_start counts characters (Unicode code points) of the context, from 0; the answer's text must be there. A question has no
 * answers if and only if is_impossible is true. Other keys ("title", "plausible_answers") are skipped.
 *
 * Text that is only to be predicted may have questions whose answers are not known (`unanswered`): "answers" is missing or empty,
 * and is_impossible is not true. */
#ifndef XLM_TASKS_QUESTION_TEXT_H
#define XLM_TASKS_QUESTION_TEXT_H

#include <glib.h>
#include <stdint.h>

#include "base/error.h"

typedef struct xlm_question_source {
    const char *path;
    const char *language; /* name, as the user wrote it; NULL: none in particular */
    int language_id;      /* of the vocabulary, or -1 */
    const char *version;  /* version in the file: "1.1", "v2.0"; "" if there is none */
    bool unanswerable;    /* some of its questions have no answer */
} xlm_question_source;

typedef struct xlm_context {
    const char *text;  /* UTF-8 */
    uint32_t size;     /* bytes */
    guint source;      /* of sources */
    const char *place; /* in the file: "data[0].paragraphs[3]" */
} xlm_context;

typedef struct xlm_answer {
    const char *text;
    uint32_t start, end; /* bytes of the context */
} xlm_answer;

typedef struct xlm_question {
    const char *id, *text;
    guint source, context;       /* of sources, contexts */
    guint number;                /* index in "qas" of the context */
    guint first_answer, answers; /* index of its first answer, and their number; 0: the context does not answer it, or */
    bool unknown;                /* what answers it is not known */
} xlm_question;

typedef struct xlm_question_text {
    GArray *sources;   /* xlm_question_source */
    GArray *contexts;  /* xlm_context, in the order of the files */
    GArray *questions; /* xlm_question, likewise */
    GArray *answers;   /* xlm_answer */
    GStringChunk *strings;
    GHashTable *ids;   /* of the questions, by language */
    bool unanswered;   /* set before reading: questions whose answers are not known are allowed */
} xlm_question_text;

xlm_question_text *xlm_question_text_new(void);
/* NULL is allowed. */
void xlm_question_text_free(xlm_question_text *text);

/* Append the contents of a file. language: its name, copied, or NULL. Errors of xlm_json_read; EX_DATAERR with the file, the line
 * and the place in it (xlm_question_place) for missing or wrong values, answers that are not in the context where they should be,
 * ids that a file in the same language has had before, and a file without questions. What was appended before the error stays. */
bool xlm_question_text_read(xlm_question_text *text, const char *path, const char *language, int language_id, GError **error);

/* The place of a question or a context, for messages: "FILE:LINE: data[0].paragraphs[3].qas[1] (id ...)". The line is that of the
 * question's id; the file is read again to find it; if that fails, the line is omitted (xlm_json_line). g_free. */
char *xlm_question_place(const xlm_question_text *text, const xlm_question *question);
char *xlm_context_place(const xlm_question_text *text, const xlm_context *context);
/* A text for messages, shortened if it is long. g_free. */
char *xlm_question_excerpt(const char *text);

#endif
