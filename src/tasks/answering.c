/* xlm-mpi: extractive question answering. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The head and its loss are in answer_head.h, the encoding of text in answer_text.h, the measures in answer_scores.h.
 *
 * The null threshold is a state of the loss, "null_threshold", so that every checkpoint has it, and xlm_eval reads it from there.
 * It is chosen by the dev files each time they are scored (`decide`). It is infinite, so that all questions are answered, if all
 * questions of the dev files have an answer; it is minus infinite, so that none is answered, if that is best for the dev
 * files. */
#include <math.h>
#include <string.h>

#include "tasks/answer_head.h"
#include "tasks/answer_scores.h"
#include "tasks/answer_reach.h"
#include "tasks/answer_text.h"
#include "tasks/task.h"

enum { RULES_AUTO, RULES_SQUAD, RULES_MLQA, RULES_MLQA_EN /* and on, in the order of xlm_answer_rules */ };
enum { BY_THRESHOLD, NEVER };
enum { BY_F1, BY_EXACT_MATCH };

struct answering {
    xlm_task_state of;
    int64_t stride, separators, question_length, answer_length, n_best;
    int64_t rules, no_answer, head, choose_by;
    char *code_switching;  /* the language that questions are switched with; NULL: none */
    double null_threshold; /* in checkpoints */
};

#define OPTION(member, type, ...) {#member, XLM_OPTION_##type, __VA_ARGS__, offsetof(struct answering, member)}

static const xlm_option answering_options[] = {
    OPTION(stride, INT, "128", 1, 65536, NULL,
     "subwords between the beginnings of two windows over a context that is longer than `length` leaves room for"),
    OPTION(separators, INT, "1", 1, 2, NULL,
     "number of </s> between question and context; RoBERTa and XLM-R are fine-tuned with 2"),
    OPTION(question_length, INT, "64", 1, 65536, NULL,
     "maximum number of subwords of a question, and at most half of what fits in `length`; longer ones are cut at the end"),
    OPTION(answer_length, INT, "30", 1, 65536, NULL, "maximum number of subwords of a predicted answer"),
    OPTION(n_best, INT, "20", 1, 1000, NULL, "number of answers that are kept for a question"),
    OPTION(rules, CHOICE, "auto", 0, 0, "auto|squad|mlqa|mlqa-en|mlqa-es|mlqa-hi|mlqa-vi|mlqa-de|mlqa-ar|mlqa-zh",
     "how answers are compared; squad: SQuAD's rules, which XTREME takes for XQuAD and TyDiQA-GoldP too; mlqa: MLQA's for the "
     "language of the file, one of en, es, hi, vi, de, ar, zh; mlqa-de: MLQA's for German, whatever the file's language is; "
     "auto: MLQA's for files in these languages that say \"version\": \"1.0\", as MLQA's do, else SQuAD's"),
    OPTION(no_answer, CHOICE, "threshold", 0, 0, "threshold|never",
     "threshold: no answer is predicted if the null score exceeds that of the best span by more than a threshold, with which the "
     "dev files are answered best if some of their questions have no answer; never: all questions are answered"),
    OPTION(head, CHOICE, "linear", 0, 0, XLM_HEAD_FORM_CHOICES,
     XLM_HEAD_FORM_HELP "; W: of the two ends of an answer, whose b changes nothing and is not there"),
    OPTION(choose_by, CHOICE, "f1", 0, 0, "f1|exact_match",
     "measure by which the best checkpoint is chosen, and the threshold"),
    OPTION(code_switching, TEXT, "", 0, 0, NULL,
     "a language of the training files: instead of each question in another language that has a translation in this one, by the "
     "same id, train on the question in either language with the context in the other (PPA: en)"),
    XLM_OPTION_END,
};

/* ---- head and loss ---- */

static bool answering_open(xlm_loss *self, char *message, size_t size)
{
    (void)message;
    (void)size;
    ((struct answering *)self->state)->null_threshold = INFINITY;
    return true;
}

static void answering_declare(xlm_loss *self, xlm_declaration *declaration)
{
    struct answering *answering = self->state;
    xlm_answer_declare(self, declaration, (xlm_head_form)answering->head);
    xlm_declare_state(declaration, "null_threshold", XLM_STATE_F64, &answering->null_threshold, 1);
}

static xlm_var *answering_loss(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass)
{
    const struct answering *answering = self->state;
    return xlm_answer_loss(self, tape, pass, (xlm_head_form)answering->head, answering->of.head_dropout);
}

static int64_t answering_width(const xlm_loss *self)
{
    return xlm_answer_width(((const struct answering *)self->state)->n_best);
}

static void answering_predict(xlm_loss *self, xlm_tape *tape, const xlm_pass *pass, double *predictions)
{
    const struct answering *answering = self->state;
    const xlm_head_form form = (xlm_head_form)answering->head;
    xlm_answer_predict(self, tape, pass, form, answering->answer_length, answering->n_best, predictions);
}

/* ---- text ---- */

static bool choose_rules(const struct answering *answering, const xlm_question_source *source, xlm_answer_rules *rules,
                         GError **error)
{
    if (answering->rules >= RULES_MLQA_EN) {
        *rules = (xlm_answer_rules)(XLM_ANSWERS_EN + (answering->rules - RULES_MLQA_EN));
        return true;
    }
    const bool found = xlm_answer_rules_find(source->language, rules);
    if (answering->rules == RULES_MLQA && !found)
        return xlm_error_set(error, EX_CONFIG, "%s: rules = mlqa, but MLQA has rules for en, es, hi, vi, de, ar and zh, and the "
                             "file's language is %s", source->path, source->language != NULL ? source->language : "not said");
    if (!found || answering->rules == RULES_SQUAD ||
        (answering->rules == RULES_AUTO && strcmp(source->version, "1.0") != 0))
        *rules = XLM_ANSWERS_SQUAD;
    return true;
}

static void *answering_read(const xlm_loss *self, const xlm_task_source *sources, int64_t n, GError **error)
{
    xlm_answer_text *text = xlm_answer_text_new();
    text->questions->unanswered = ((const struct answering *)self->state)->of.unlabelled;
    for (int64_t i = 0; i < n; i++) {
        xlm_answer_rules rules;
        if (!xlm_question_text_read(text->questions, sources[i].path, sources[i].name, sources[i].language, error) ||
            !choose_rules(self->state, &g_array_index(text->questions->sources, xlm_question_source, (guint)i), &rules, error)) {
            xlm_answer_text_free(text);
            return NULL;
        }
        g_array_append_val(text->rules, rules);
    }
    return text;
}

static void answering_read_free(void *text) { xlm_answer_text_free(text); }

static xlm_task_items answering_items(const void *text)
{
    xlm_task_items items = {.all = ((const xlm_answer_text *)text)->questions->questions->len, .what = "questions"};
    for (guint q = 0; q < items.all; q++)
        items.gold += !xlm_answer_text_question(text, q)->unknown;
    return items;
}

static bool answering_encode(const xlm_loss *self, void *text, const xlm_task_encoder *encoder, xlm_examples *examples,
                             GString *description, GError **error)
{
    const struct answering *answering = self->state;
    const int64_t min_length = 4 + answering->separators;
    if (encoder->length < min_length)
        return xlm_error_set(error, EX_CONFIG, "length = %" G_GINT64_FORMAT " has no room for the special tokens and a token of "
                             "question and context each; it must be at least %" G_GINT64_FORMAT, encoder->length, min_length);
    const xlm_answer_sequences sequences = {.tokenizer = encoder->tokenizer, .length = encoder->length,
                                            .separators = answering->separators, .stride = answering->stride,
                                            .question_length = answering->question_length, .training = encoder->training,
                                            .code_switching = encoder->training ? answering->code_switching : NULL};
    if (!xlm_answer_text_encode(text, &sequences, examples, description, error))
        return false;
    xlm_answer_reach_report(text);
    return true;
}

/* ---- scores ---- */

/* The candidates of all questions of a text. g_ptr_array_unref. */
static GPtrArray *candidates_of(const xlm_loss *self, const xlm_answer_text *text, const double *predictions)
{
    const struct answering *answering = self->state;
    const int64_t width = answering_width(self);
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_answer_candidates_free);
    for (guint q = 0; q < text->questions->questions->len; q++)
        g_ptr_array_add(all, xlm_answer_candidates_new());
    for (guint w = 0; w < text->windows->len; w++) {
        const xlm_answer_text_window *window = &g_array_index(text->windows, xlm_answer_text_window, w);
        const double *row = predictions + 2 * (int64_t)w * width;
        xlm_answer_candidates *candidates = all->pdata[window->question];
        xlm_answer_candidates_add_null(candidates, xlm_answer_null_score(row));
        xlm_answer_span span;
        for (int64_t i = 0; xlm_answer_span_at(row, i, &span); i++)
            xlm_answer_candidates_add(candidates, text, window, &span);
    }
    for (guint q = 0; q < all->len; q++)
        xlm_answer_candidates_sort(all->pdata[q], answering->n_best);
    return all;
}

/* Append a result for each question whose answers are known. */
static void append_results(const xlm_loss *self, const xlm_answer_text *text, const double *predictions, GArray *results)
{
    g_autoptr(GPtrArray) all = candidates_of(self, text, predictions);
    for (guint q = 0; q < all->len; q++) {
        if (xlm_answer_text_question(text, q)->unknown)
            continue;
        const xlm_answer_result result = xlm_answer_text_result(text, q, all->pdata[q]);
        g_array_append_val(results, result);
    }
}

static const xlm_answer_result *results_of(const GArray *results)
{
    return (const xlm_answer_result *)(const void *)results->data;
}

static bool has_unanswerable(const xlm_answer_result *results, guint n)
{
    for (guint i = 0; i < n; i++)
        if (!results[i].answerable)
            return true;
    return false;
}

static double threshold_of(const struct answering *answering)
{
    return answering->no_answer == NEVER ? INFINITY : answering->null_threshold;
}

/* If it is best to answer nothing, SQuAD 2.0's script returns 0, with which questions with null odds below 0 would be
 * answered. */
static double best_threshold(const struct answering *answering, const xlm_answer_result *results, guint n)
{
    const xlm_answer_threshold best = xlm_answer_best_threshold(n, results, answering->choose_by == BY_F1);
    const double unanswered = xlm_answer_average(n, results, -INFINITY).all.match.exact; /* F1 is the same */
    return unanswered >= best.mean ? -INFINITY : best.threshold;
}

static void answering_decide(xlm_loss *self, int64_t n, void *const *texts, const double *const *predictions)
{
    struct answering *answering = self->state;
    g_autoptr(GArray) results = g_array_new(FALSE, FALSE, sizeof(xlm_answer_result));
    for (int64_t i = 0; i < n; i++)
        append_results(self, texts[i], predictions[i], results);
    answering->null_threshold = INFINITY;
    if (answering->no_answer == BY_THRESHOLD && has_unanswerable(results_of(results), results->len))
        answering->null_threshold = best_threshold(answering, results_of(results), results->len);
}

/* Add the other measures of SQuAD 2.0. */
static void score_unanswerable(const xlm_answer_means *means, const GArray *results, xlm_task_scores *scores)
{
    const xlm_answer_mean *with = &means->answerable, *without = &means->unanswerable;
    const xlm_answer_threshold f1 = xlm_answer_best_threshold(results->len, results_of(results), true),
                               exact = xlm_answer_best_threshold(results->len, results_of(results), false);
    if (with->n > 0) { /* else there is no mean, as in SQuAD 2.0's script; a 0 would enter that of all languages */
        xlm_task_scores_add(scores, "has_ans_f1", with->match.f1, with->n);
        xlm_task_scores_add(scores, "has_ans_exact", with->match.exact, with->n);
    }
    xlm_task_scores_add(scores, "no_ans_f1", without->match.f1, without->n);
    xlm_task_scores_add(scores, "best_f1", f1.mean, results->len);
    xlm_task_scores_add(scores, "best_exact", exact.mean, results->len);
    xlm_task_scores_add_row(scores, "question", "answerable",
                            &(xlm_task_row){.gold = with->n, .predicted = means->all.answered, .right = with->answered});
    xlm_task_scores_add_row(scores, "question", "unanswerable",
                            &(xlm_task_row){.gold = without->n, .predicted = means->all.n - means->all.answered,
                                            .right = without->n - without->answered});
}

static void answering_score(const xlm_loss *self, const void *text, const double *predictions, xlm_task_scores *scores)
{
    const struct answering *answering = self->state;
    g_autoptr(GArray) results = g_array_new(FALSE, FALSE, sizeof(xlm_answer_result));
    append_results(self, text, predictions, results);
    const xlm_answer_means means = xlm_answer_average(results->len, results_of(results), threshold_of(answering));
    const bool by_f1 = answering->choose_by == BY_F1;
    xlm_task_scores_add(scores, by_f1 ? "f1" : "exact_match", by_f1 ? means.all.match.f1 : means.all.match.exact, means.all.n);
    xlm_task_scores_add(scores, by_f1 ? "exact_match" : "f1", by_f1 ? means.all.match.exact : means.all.match.f1, means.all.n);
    if (means.unanswerable.n > 0)
        score_unanswerable(&means, results, scores);
}

/* ---- files of predictions ---- */

static void print_json(json_t *root, GString *out)
{
    char *text = json_dumps(root, JSON_INDENT(1));
    g_string_append_printf(out, "%s\n", text);
    free(text);
    json_decref(root);
}

/* Print {"id": "answer", ...}, as the scripts of SQuAD and MLQA read it; "" is no answer. */
static void answering_print(const xlm_loss *self, const void *pointer, const double *predictions, GString *out)
{
    const xlm_answer_text *text = pointer;
    const double threshold = threshold_of(self->state);
    g_autoptr(GPtrArray) all = candidates_of(self, text, predictions);
    json_t *root = json_object();
    for (guint q = 0; q < all->len; q++) {
        const xlm_answer_candidates *candidates = all->pdata[q];
        json_t *answer = candidates->null_odds > threshold ? json_string("") : xlm_answer_text_best(text, q, candidates);
        json_object_set_new(root, xlm_answer_text_question(text, q)->id, answer);
    }
    print_json(root, out);
}

/* Print {"id": null score − score of the best answer, ...}, as SQuAD 2.0's script reads it with --na-prob-file. */
static void print_null_odds(const xlm_loss *self, const void *pointer, const double *predictions, GString *out)
{
    const xlm_answer_text *text = pointer;
    g_autoptr(GPtrArray) all = candidates_of(self, text, predictions);
    json_t *root = json_object();
    for (guint q = 0; q < all->len; q++)
        json_object_set_new(root, xlm_answer_text_question(text, q)->id,
                            json_real(((const xlm_answer_candidates *)all->pdata[q])->null_odds));
    print_json(root, out);
}

static void print_n_best(const xlm_loss *self, const void *pointer, const double *predictions, GString *out)
{
    const xlm_answer_text *text = pointer;
    g_autoptr(GPtrArray) all = candidates_of(self, text, predictions);
    json_t *root = json_object();
    for (guint q = 0; q < all->len; q++)
        json_object_set_new(root, xlm_answer_text_question(text, q)->id, xlm_answer_text_list(text, q, all->pdata[q]));
    print_json(root, out);
}

static const xlm_task_output answering_outputs[] = {
    {"n_best", "{\"id\": [{\"text\", \"score\", \"probability\"}, ...]}, the best answers of each question", print_n_best},
    {"null_odds", "{\"id\": null score - score of the best answer}, for SQuAD 2.0's script (--na-prob-file)", print_null_odds},
    {NULL, NULL, NULL},
};

const xlm_task xlm_task_answering = {
    .loss = {
        .abi = XLM_LOSS_ABI,
        .name = "answering",
        .summary = "extractive question answering: the span of a context that answers a question (SQuAD, XQuAD, MLQA, TyDiQA)",
        .needs_stream = true,
        .options = answering_options,
        .state_size = sizeof(struct answering),
        .open = answering_open,
        .declare = answering_declare,
        .loss = answering_loss,
    },
    .plain_head = true,
    .read = answering_read,
    .read_free = answering_read_free,
    .items = answering_items,
    .encode = answering_encode,
    .width = answering_width,
    .predict = answering_predict,
    .decide = answering_decide,
    .score = answering_score,
    .print = answering_print,
    .outputs = answering_outputs,
};
