/* xlm-mpi: how many right answers can be given as whole subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/answer_reach.h"

#include <string.h>

#include "base/log.h"

/* How many answers of a source are reproduced by their subwords. */
typedef struct reproduced {
    int64_t answers, equal;
    const xlm_question *question; /* the first question with an answer that is not reproduced; NULL: all are */
    char *right, *instead;        /* that answer, and the text of its subwords; g_free */
} reproduced;

static void compare_answer(const xlm_answer_text *text, const xlm_question *question, const xlm_answer *answer, reproduced *of)
{
    const xlm_answer_rules rules = g_array_index(text->rules, xlm_answer_rules, question->source);
    const xlm_answer_ends ends = xlm_answer_text_ends(text, question, answer);
    g_autofree char *cut = xlm_answer_text_between(text, question, ends);
    bool equal = strcmp(cut, answer->text) == 0;
    if (!equal) {
        g_auto(GStrv) made = xlm_answer_words(rules, cut), right = xlm_answer_words(rules, answer->text);
        equal = ends.last >= 0 && xlm_answer_compare(made, right, false).exact > 0;
    }
    of->answers++;
    of->equal += equal;
    if (equal || of->question != NULL)
        return;
    of->question = question;
    of->right = xlm_question_excerpt(answer->text);
    of->instead = xlm_question_excerpt(cut);
}

/* Log the result for a source. */
static void report_reproduced(const xlm_answer_text *text, const reproduced *of, guint source)
{
    static const double ENOUGH = 99;
    const double share = 100.0 * (double)of->equal / (double)of->answers;
    const xlm_question_source *from = &g_array_index(text->questions->sources, xlm_question_source, source);
    g_autofree char *file = from->language == NULL ? g_strdup(from->path)
                                                   : g_strdup_printf("%s (%s)", from->path, from->language);
    if (share >= ENOUGH) {
        xlm_log_info("%s: subwords reproduce %.2f %% of %" G_GINT64_FORMAT " answers", file, share, of->answers);
        return;
    }
    g_autofree char *place = xlm_question_place(text->questions, of->question);
    xlm_log_warn("%s: subwords reproduce only %.2f %% of %" G_GINT64_FORMAT " answers, so that no model can have a higher exact "
                 "match; the first that they do not: \"%s\", which becomes \"%s\" (%s); use a model whose tokenizer suits the "
                 "language", file, share, of->answers, of->right, of->instead, place);
}

void xlm_answer_reach_report(const xlm_answer_text *text)
{
    g_autofree reproduced *all = g_new0(reproduced, text->questions->sources->len);
    for (guint q = 0; q < text->questions->questions->len; q++) {
        const xlm_question *question = xlm_answer_text_question(text, q);
        for (guint i = 0; i < question->answers; i++)
            compare_answer(text, question, &g_array_index(text->questions->answers, xlm_answer, question->first_answer + i),
                           &all[question->source]);
    }
    for (guint s = 0; s < text->questions->sources->len; s++) {
        if (all[s].answers > 0)
            report_reproduced(text, &all[s], s);
        g_free(all[s].right);
        g_free(all[s].instead);
    }
}
