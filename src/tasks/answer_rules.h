/* xlm-mpi: whether two answers are equal, and how similar they are. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers are normalised, and their words are compared:
 *
 *   exact match   1 when both normalised answers are equal
 *   F1            2 P R / (P + R), where P and R are the shares of the words of the predicted and of the right answer that the
 *                 other answer has too (words count as often as they occur); 0 if they share no word
 *
 * The rules of SQuAD (Rajpurkar et al. 2016) normalise in this order: lower case; ASCII punctuation removed; the words a, an, the
 * removed; white space folded. MLQA (Lewis et al. 2020) removes all punctuation of Unicode, and the articles of each of its
 * languages (en, es, hi, vi, de, ar, zh); in Chinese each character from U+4E00 to U+9FA5 is a word. In SQuAD 2.0 a right answer
 * that becomes empty does not count, and F1 of two answers that both become empty is 1.
 *
 * The results are those of the published scripts, apart from differences between versions of Unicode: lower case by the full
 * mappings that depend on no language; \b and \w as in Python, where a combining mark is not a letter. */
#ifndef XLM_TASKS_ANSWER_RULES_H
#define XLM_TASKS_ANSWER_RULES_H

#include <glib.h>
#include <stdbool.h>

typedef enum xlm_answer_rules {
    XLM_ANSWERS_SQUAD,
    XLM_ANSWERS_EN, /* from here on MLQA's */
    XLM_ANSWERS_ES,
    XLM_ANSWERS_HI,
    XLM_ANSWERS_VI,
    XLM_ANSWERS_DE,
    XLM_ANSWERS_AR,
    XLM_ANSWERS_ZH,
} xlm_answer_rules;

/* MLQA's rules for a language ("de", "de-AT", "zh_Hans"); false when it has none, or for NULL. */
bool xlm_answer_rules_find(const char *language, xlm_answer_rules *rules);
/* "SQuAD", "MLQA de": for the log. */
const char *xlm_answer_rules_name(xlm_answer_rules rules);

/* The words of an answer after normalisation. answer: UTF-8. NULL-terminated; g_strfreev. */
char **xlm_answer_words(xlm_answer_rules rules, const char *answer);

typedef struct xlm_answer_match {
    double exact, f1; /* exact: 0 or 1 */
} xlm_answer_match;
/* empty_is_equal: F1 of two answers without words is 1, as in SQuAD 2.0. */
xlm_answer_match xlm_answer_compare(char *const *predicted, char *const *right, bool empty_is_equal);

#endif
