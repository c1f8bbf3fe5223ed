/* xlm-mpi: questions as sequences, and answers cut from contexts. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/answer_text.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "tasks/parallel_items.h"
#include "tasks/task.h"

xlm_answer_text *xlm_answer_text_new(void)
{
    xlm_answer_text *text = g_new(xlm_answer_text, 1);
    text->questions = xlm_question_text_new();
    text->rules = g_array_new(FALSE, FALSE, sizeof(xlm_answer_rules));
    text->subwords = g_array_new(FALSE, FALSE, sizeof(xlm_located_subword));
    text->begins = g_array_new(FALSE, FALSE, sizeof(int64_t));
    text->windows = g_array_new(FALSE, FALSE, sizeof(xlm_answer_text_window));
    return text;
}

void xlm_answer_text_free(xlm_answer_text *text)
{
    if (text == NULL)
        return;
    xlm_question_text_free(text->questions);
    g_array_unref(text->rules);
    g_array_unref(text->subwords);
    g_array_unref(text->begins);
    g_array_unref(text->windows);
    g_free(text);
}

const xlm_question *xlm_answer_text_question(const xlm_answer_text *text, guint question)
{
    return &g_array_index(text->questions->questions, xlm_question, question);
}

static const xlm_context *context_of(const xlm_answer_text *text, const xlm_question *question)
{
    return &g_array_index(text->questions->contexts, xlm_context, question->context);
}

static const xlm_question_source *source_at(const xlm_answer_text *text, guint source)
{
    return &g_array_index(text->questions->sources, xlm_question_source, source);
}

/* Subwords of a context. */
static const xlm_located_subword *subwords_of(const xlm_answer_text *text, guint context, int64_t *n)
{
    const int64_t *begin = &g_array_index(text->begins, int64_t, context);
    *n = begin[1] - begin[0];
    return &g_array_index(text->subwords, xlm_located_subword, begin[0]);
}

/* ---- sequences ---- */

/* Numbers of questions, for the log. */
typedef struct tally {
    int64_t unanswerable, several, lost, cut_questions, empty_questions;
    int64_t pairs, unpaired; /* of code-switching */
} tally;

/* Put the place before the message. Frees place. */
static void prefix_place(GError **error, char *place)
{
    g_prefix_error(error, "%s: ", place);
    g_free(place);
}

static bool locate_contexts(xlm_answer_text *text, xlm_tokenizer *tokenizer, GError **error)
{
    int64_t begin = 0;
    g_array_append_val(text->begins, begin);
    for (guint c = 0; c < text->questions->contexts->len; c++) {
        const xlm_context *context = &g_array_index(text->questions->contexts, xlm_context, c);
        const xlm_question_source *source = source_at(text, context->source);
        if (!xlm_tokenizer_locate(tokenizer, source->language_id, context->text, context->size, text->subwords, error)) {
            prefix_place(error, xlm_context_place(text->questions, context));
            return false;
        }
        if (text->subwords->len == begin) {
            xlm_error_set(error, EX_DATAERR, "\"context\" has no word");
            prefix_place(error, xlm_context_place(text->questions, context));
            return false;
        }
        begin = text->subwords->len;
        g_array_append_val(text->begins, begin);
    }
    return true;
}

/* The bytes of the context from one subword to another. If they are out of order, because the segmenter has exchanged two marks,
 * the bytes of both. */
static xlm_answer_span bytes_between(const xlm_located_subword *first, const xlm_located_subword *last)
{
    const bool exchanged = last->end <= first->start;
    return (xlm_answer_span){.start = exchanged ? MIN(first->start, last->start) : first->start,
                             .end = exchanged ? MAX(first->end, last->end) : last->end};
}

xlm_answer_ends xlm_answer_text_ends(const xlm_answer_text *text, const xlm_question *question, const xlm_answer *answer)
{
    xlm_answer_ends ends = {-1, -1};
    int64_t n;
    const xlm_located_subword *subword = subwords_of(text, question->context, &n);
    for (int64_t i = 0; i < n; i++) {
        if (subword[i].end <= answer->start || subword[i].start >= answer->end)
            continue;
        ends.first = ends.first < 0 ? i : ends.first;
        ends.last = i;
    }
    return ends;
}

char *xlm_answer_text_between(const xlm_answer_text *text, const xlm_question *question, xlm_answer_ends ends)
{
    if (ends.last < 0)
        return g_strdup("");
    int64_t n;
    const xlm_located_subword *subwords = subwords_of(text, question->context, &n);
    const xlm_answer_span bytes = bytes_between(&subwords[ends.first], &subwords[ends.last]);
    return g_strndup(context_of(text, question)->text + bytes.start, (gsize)(bytes.end - bytes.start));
}

/* Find the first right answer. In training, it is an error if it overlaps no subword, because it cannot be learned; in scoring,
 * it is an answer that is never found. */
static bool find_answer(const xlm_answer_text *text, const xlm_question *question, bool training, xlm_answer_ends *ends,
                        GError **error)
{
    *ends = (xlm_answer_ends){-1, -1};
    if (question->answers == 0)
        return true;
    const xlm_answer *answer = &g_array_index(text->questions->answers, xlm_answer, question->first_answer);
    *ends = xlm_answer_text_ends(text, question, answer);
    if (ends->last >= 0 || !training)
        return true;
    xlm_error_set(error, EX_DATAERR, "the answer \"%s\" has no word, so that it cannot be learned", answer->text);
    prefix_place(error, xlm_question_place(text->questions, question));
    return false;
}

/* What all sequences of a question have in common. */
typedef struct question_tokens {
    const GArray *ids; /* int32_t, of the question */
    int32_t language, context_language;
    int64_t separators;
} question_tokens;

static void encode_window(const xlm_located_subword *subwords, const xlm_answer_window *window, const question_tokens *q,
                          const xlm_answer_ends *answer, xlm_examples *examples)
{
    const bool whole = answer->first >= window->first && answer->last < window->first + window->n;
    xlm_examples_add_special(examples, XLM_BOS, q->language, 0);
    for (int32_t target = 0; target < 2 && !whole; target++)
        xlm_examples_predict(examples, target);
    for (guint i = 0; i < q->ids->len; i++)
        xlm_examples_add(examples, g_array_index(q->ids, int32_t, i), q->language, 0);
    for (int64_t k = 0; k < q->separators; k++)
        xlm_examples_add_special(examples, XLM_EOS, q->language, 0);
    for (int64_t i = window->first; i < window->first + window->n; i++) {
        xlm_examples_add(examples, subwords[i].id, q->context_language, 1);
        if (whole && i == answer->first)
            xlm_examples_predict(examples, 0);
        if (whole && i == answer->last)
            xlm_examples_predict(examples, 1);
    }
    xlm_examples_add_special(examples, XLM_EOS, q->context_language, 1);
    xlm_examples_end(examples);
}

/* The number of tokens of a sequence that are left for question and context. */
static int64_t room_of(const xlm_answer_sequences *how) { return how->length - 2 - how->separators; }

/* Set `ids` to the question's subwords, as many as there is room for. */
static bool encode_ids(const xlm_answer_text *text, const xlm_question *question, const xlm_answer_sequences *how, GArray *ids,
                       tally *seen, GError **error)
{
    const xlm_question_source *source = source_at(text, question->source);
    g_array_set_size(ids, 0);
    if (!xlm_tokenizer_encode(how->tokenizer, source->language_id, question->text, strlen(question->text), ids, NULL, error)) {
        prefix_place(error, xlm_question_place(text->questions, question));
        return false;
    }
    const int64_t max_length = MIN(how->question_length, room_of(how) / 2);
    seen->empty_questions += ids->len == 0;
    seen->cut_questions += ids->len > max_length;
    g_array_set_size(ids, (guint)MIN((int64_t)ids->len, max_length));
    return true;
}

/* A question with a context: its own, or that of its translation, from which the answers are then taken too. */
typedef struct asked {
    guint of;        /* the question that the context and the answers belong to */
    GArray *ids;     /* int32_t: of the question */
    GArray *windows; /* xlm_answer_window */
    guint whole;     /* index of the first window with the whole answer; 0 if none has it */
    question_tokens tokens;
    xlm_answer_ends answer;
} asked;

static void asked_init(asked *a)
{
    *a = (asked){.ids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
                 .windows = g_array_new(FALSE, FALSE, sizeof(xlm_answer_window))};
}

static void asked_clear(asked *a)
{
    g_array_unref(a->ids);
    g_array_unref(a->windows);
}

static bool ask(const xlm_answer_text *text, guint number, guint of, const xlm_answer_sequences *how, asked *a, tally *seen,
                GError **error)
{
    const xlm_question *question = xlm_answer_text_question(text, number), *other = xlm_answer_text_question(text, of);
    if (!find_answer(text, other, how->training, &a->answer, error) || !encode_ids(text, question, how, a->ids, seen, error))
        return false;
    a->of = of;
    a->tokens = (question_tokens){
        .ids = a->ids, .language = MAX(source_at(text, question->source)->language_id, 0),
        .context_language = MAX(source_at(text, context_of(text, other)->source)->language_id, 0),
        .separators = how->separators,
    };
    a->whole = 0;
    g_array_set_size(a->windows, 0);
    int64_t n;
    bool whole = false;
    subwords_of(text, other->context, &n);
    for (xlm_answer_window w = {0}; xlm_answer_next_window(n, room_of(how) - a->ids->len, how->stride, &w);) {
        if (!whole && a->answer.first >= w.first && a->answer.last < w.first + w.n) {
            whole = true;
            a->whole = a->windows->len;
        }
        g_array_append_val(a->windows, w);
    }
    seen->several += a->windows->len > 1;
    seen->unanswerable += other->answers == 0 && !other->unknown;
    seen->lost += other->answers > 0 && !whole;
    return true;
}

static void add_window(xlm_answer_text *text, const asked *a, guint number, xlm_examples *examples)
{
    int64_t n;
    const xlm_answer_window *w = &g_array_index(a->windows, xlm_answer_window, number);
    const xlm_answer_text_window window = {a->of, w->first};
    g_array_append_val(text->windows, window);
    encode_window(subwords_of(text, xlm_answer_text_question(text, a->of)->context, &n), w, &a->tokens, &a->answer, examples);
}

static bool encode_questions(xlm_answer_text *text, const xlm_answer_sequences *how, xlm_examples *examples, tally *seen,
                             GError **error)
{
    asked a;
    bool good = true;
    asked_init(&a);
    for (guint q = 0; q < text->questions->questions->len && good; q++) {
        good = ask(text, q, q, how, &a, seen, error);
        for (guint w = 0; w < a.windows->len && good; w++)
            add_window(text, &a, w, examples);
    }
    asked_clear(&a);
    return good;
}

/* ---- code-switching ---- */

/* Find the questions that are translations of each other, which have the same id. */
static bool find_parallel(const xlm_answer_text *text, const char *pivot, xlm_parallel_items *parallel, GError **error)
{
    const guint n = text->questions->questions->len, k = text->questions->sources->len;
    g_autofree xlm_parallel_item *items = g_new0(xlm_parallel_item, n);
    g_autofree xlm_parallel_file *files = g_new0(xlm_parallel_file, k);
    for (guint q = 0; q < n; q++) {
        const xlm_question *question = xlm_answer_text_question(text, q);
        items[q] = (xlm_parallel_item){.id = question->id, .file = (int32_t)question->source};
    }
    for (guint f = 0; f < k; f++)
        files[f] = (xlm_parallel_file){.path = source_at(text, f)->path, .language = source_at(text, f)->language};
    return xlm_parallel_items_find(parallel, items, n, files, (int32_t)k, pivot, XLM_PAIRED_BY_ID, error);
}

/* Add examples of two questions that are translations, each with the context of the other. One window of each comes after the
 * other, and both belong to one step. If one context has fewer windows, its window with the answer is repeated. */
static bool encode_switched(xlm_answer_text *text, guint question, guint partner, const xlm_answer_sequences *how, asked *two,
                            xlm_examples *examples, tally *seen, GError **error)
{
    if (!ask(text, question, partner, how, &two[0], seen, error) || !ask(text, partner, question, how, &two[1], seen, error))
        return false;
    for (guint w = 0; w < MAX(two[0].windows->len, two[1].windows->len); w++)
        for (int side = 0; side < 2; side++)
            add_window(text, &two[side], w < two[side].windows->len ? w : two[side].whole, examples);
    return true;
}

static bool encode_all_switched(xlm_answer_text *text, const xlm_answer_sequences *how, xlm_examples *examples, tally *seen,
                                GError **error)
{
    xlm_parallel_items parallel;
    if (!find_parallel(text, how->code_switching, &parallel, error))
        return false;
    asked two[2];
    for (int side = 0; side < 2; side++)
        asked_init(&two[side]);
    const xlm_question *first = NULL; /* the first one without a partner */
    bool good = true;
    for (guint q = 0; q < text->questions->questions->len && good; q++) {
        const xlm_question *question = xlm_answer_text_question(text, q);
        const int64_t partner = parallel.partner[q];
        if (g_strcmp0(source_at(text, question->source)->language, how->code_switching) == 0)
            continue;
        if (partner >= 0 &&
            (question->answers > 0) == (xlm_answer_text_question(text, (guint)partner)->answers > 0)) {
            good = encode_switched(text, q, (guint)partner, how, two, examples, seen, error);
            seen->pairs++;
            continue;
        }
        seen->unpaired++;
        first = first != NULL ? first : question;
    }
    g_autofree char *place = good && first != NULL ? xlm_question_place(text->questions, first) : NULL;
    if (good && seen->pairs == 0)
        good = xlm_error_set(error, EX_DATAERR, "%s: code_switching = %s has no question of this id, nor of any other", place,
                             how->code_switching);
    if (good && seen->unpaired > 0)
        xlm_log_warn("code-switching: %" G_GINT64_FORMAT " questions could not be paired and are left out, the first of them %s",
                     seen->unpaired, place);
    if (good)
        xlm_examples_keep_together(examples, 2);
    for (int side = 0; side < 2; side++)
        asked_clear(&two[side]);
    xlm_parallel_items_clear(&parallel);
    return good;
}

/* Append the names of the rules of all sources, each once. */
static void describe_rules(const xlm_answer_text *text, GString *out)
{
    for (guint s = 0; s < text->rules->len; s++) {
        const xlm_answer_rules rules = g_array_index(text->rules, xlm_answer_rules, s);
        bool before = false;
        for (guint k = 0; k < s && !before; k++)
            before = g_array_index(text->rules, xlm_answer_rules, k) == rules;
        if (!before)
            g_string_append_printf(out, "%s%s", s > 0 ? ", " : "", xlm_answer_rules_name(rules));
    }
}

static void describe(const xlm_answer_text *text, const xlm_examples *examples, const tally *seen, GString *out)
{
    const int64_t windows = xlm_examples_count(examples);
    g_string_append_printf(out, "%u questions", text->questions->questions->len);
    if (seen->unanswerable > 0)
        g_string_append_printf(out, " (%" G_GINT64_FORMAT " without an answer)", seen->unanswerable);
    g_string_append_printf(out, ", %u contexts, %" G_GINT64_FORMAT " windows, %" G_GINT64_FORMAT " tokens; answers compared by "
                           "the rules of ", text->questions->contexts->len, windows, xlm_examples_tokens(examples, windows));
    describe_rules(text, out);
    xlm_task_note(out, "in several windows", seen->several);
    xlm_task_note(out, "answers that no window has whole", seen->lost);
    xlm_task_note(out, "questions cut", seen->cut_questions);
    xlm_task_note(out, "questions without a word", seen->empty_questions);
}

bool xlm_answer_text_encode(xlm_answer_text *text, const xlm_answer_sequences *sequences, xlm_examples *examples,
                            GString *description, GError **error)
{
    tally seen = {0};
    const bool good = locate_contexts(text, sequences->tokenizer, error) &&
                      (sequences->code_switching != NULL ? encode_all_switched(text, sequences, examples, &seen, error)
                                                         : encode_questions(text, sequences, examples, &seen, error));
    if (good)
        describe(text, examples, &seen, description);
    if (good && seen.pairs > 0)
        g_string_append_printf(description, "; code-switched with %s: %" G_GINT64_FORMAT " pairs of questions, by id",
                               sequences->code_switching, seen.pairs);
    return good;
}

/* ---- candidates ---- */

xlm_answer_candidates *xlm_answer_candidates_new(void)
{
    xlm_answer_candidates *candidates = g_new(xlm_answer_candidates, 1);
    *candidates = (xlm_answer_candidates){g_array_new(FALSE, FALSE, sizeof(xlm_answer_span)), INFINITY, DBL_MAX};
    return candidates;
}

void xlm_answer_candidates_free(xlm_answer_candidates *candidates)
{
    g_array_unref(candidates->spans);
    g_free(candidates);
}

void xlm_answer_candidates_add_null(xlm_answer_candidates *candidates, double score)
{
    candidates->null_score = score < candidates->null_score ? score : candidates->null_score;
}

void xlm_answer_candidates_add(xlm_answer_candidates *candidates, const xlm_answer_text *text,
                               const xlm_answer_text_window *window, const xlm_answer_span *span)
{
    int64_t n;
    const xlm_located_subword *subwords = subwords_of(text, xlm_answer_text_question(text, window->question)->context, &n);
    subwords += window->first;
    xlm_answer_span bytes = bytes_between(&subwords[span->start], &subwords[span->end]);
    bytes.score = span->score;
    g_array_append_val(candidates->spans, bytes);
}

void xlm_answer_candidates_sort(xlm_answer_candidates *candidates, int64_t n)
{
    GArray *spans = candidates->spans;
    xlm_answer_span *span = (xlm_answer_span *)(void *)spans->data;
    guint kept = 0;
    if (spans->len > 0)
        qsort(span, spans->len, sizeof *span, xlm_answer_span_order);
    for (guint i = 0; i < spans->len && kept < n; i++) {
        bool seen = false;
        for (guint k = 0; k < kept && !seen; k++)
            seen = span[k].start == span[i].start && span[k].end == span[i].end;
        if (!seen)
            span[kept++] = span[i];
    }
    g_array_set_size(spans, kept);
    candidates->null_odds = kept > 0 ? MIN(candidates->null_score - span[0].score, DBL_MAX) : DBL_MAX;
}

/* ---- answers ---- */

static const xlm_answer_span *span_at(const xlm_answer_candidates *candidates, guint i)
{
    return &g_array_index(candidates->spans, xlm_answer_span, i);
}

static json_t *cut(const xlm_answer_text *text, guint question, const xlm_answer_span *span)
{
    const xlm_context *context = context_of(text, xlm_answer_text_question(text, question));
    return json_stringn(context->text + span->start, (size_t)(span->end - span->start));
}

json_t *xlm_answer_text_best(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates)
{
    return candidates->spans->len > 0 ? cut(text, question, span_at(candidates, 0)) : json_string("");
}

json_t *xlm_answer_text_list(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates)
{
    json_t *list = json_array();
    const guint n = candidates->spans->len;
    const double highest = n > 0 ? MAX(span_at(candidates, 0)->score, candidates->null_score) : 0;
    double sum = exp(candidates->null_score - highest);
    for (guint i = 0; i < n; i++)
        sum += exp(span_at(candidates, i)->score - highest);
    for (guint i = 0; i < n; i++) {
        const xlm_answer_span *span = span_at(candidates, i);
        json_t *item = json_object();
        json_object_set_new(item, "text", cut(text, question, span));
        json_object_set_new(item, "score", json_real(span->score));
        json_object_set_new(item, "probability", json_real(exp(span->score - highest) / sum));
        json_array_append_new(list, item);
    }
    return list;
}

/* Are the questions of a source compared as in SQuAD 2.0? */
static bool is_second_edition(const xlm_question_source *source)
{
    return source->unanswerable || g_str_has_prefix(source->version, "v2") || g_str_has_prefix(source->version, "2");
}

xlm_answer_result xlm_answer_text_result(const xlm_answer_text *text, guint question, const xlm_answer_candidates *candidates)
{
    const xlm_question *q = xlm_answer_text_question(text, question);
    g_autofree const char **right = g_new(const char *, MAX(q->answers, 1));
    for (guint i = 0; i < q->answers; i++)
        right[i] = g_array_index(text->questions->answers, xlm_answer, q->first_answer + i).text;
    json_auto_t *best = xlm_answer_text_best(text, question, candidates);
    const xlm_answer_rules rules = g_array_index(text->rules, xlm_answer_rules, q->source);
    xlm_answer_result result = xlm_answer_result_of(rules, is_second_edition(source_at(text, q->source)), json_string_value(best),
                                                    q->answers, right);
    result.null_odds = candidates->null_odds;
    return result;
}
