/* xlm-mpi: scores of tagging. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/tag_scores.h"

#include <string.h>

bool xlm_tags_are_bio(char *const *labels)
{
    bool any = false;
    for (char *const *label = labels; *label != NULL; label++) {
        const bool inside = g_str_has_prefix(*label, "B-") || g_str_has_prefix(*label, "I-");
        if (!inside && strcmp(*label, "O") != 0)
            return false;
        any |= inside;
    }
    return any;
}

/* ---- tags ---- */

static void add_row(xlm_task_scores *scores, const char *kind, const char *name, const xlm_task_row *counts)
{
    if (counts->gold > 0 || counts->predicted > 0)
        xlm_task_scores_add_row(scores, kind, name, counts);
}

static void score_tags(const xlm_tag_pairs *p, const xlm_task_row *tag, xlm_task_scores *scores)
{
    xlm_task_row all = {0};
    double f1 = 0;
    int64_t right = 0, tags = 0;
    for (int64_t c = 0; c < p->classes; c++) {
        right += tag[c].right;
        if ((p->bio && strcmp(p->labels[c], "O") == 0) || tag[c].gold + tag[c].predicted == 0)
            continue;
        all.gold += tag[c].gold, all.predicted += tag[c].predicted, all.right += tag[c].right;
        f1 += xlm_task_f1(&tag[c]);
        tags++;
    }
    xlm_task_scores_add(scores, "accuracy", p->words > 0 ? (double)right / (double)p->words : 0, p->words);
    xlm_task_scores_add(scores, "micro_f1", xlm_task_f1(&all), all.gold);
    xlm_task_scores_add(scores, "macro_f1", tags > 0 ? f1 / (double)tags : 0, tags);
}

/* ---- spans ---- */

/* A span: the words [first, end). type NULL: there is no span. */
typedef struct span {
    int64_t first, end;
    const char *type;
    bool foreign; /* it is a word with a tag that is not BIO */
} span;

static bool is_outside(const char *label) { return strcmp(label, "O") == 0; }
static bool is_foreign(const char *label) { return (*label != 'B' && *label != 'I') || label[1] != '-'; }
static const char *type_of(const char *label) { return is_foreign(label) ? label : label + 2; }

/* The words from `from` on that have the same tag. */
static span next_run(const xlm_tag_pairs *p, const int32_t *tags, int64_t from, int64_t end)
{
    span s = {from, from, from < end ? p->labels[tags[from]] : NULL, false};
    while (s.end < end && tags[s.end] == tags[from])
        s.end++;
    return s;
}

/* The next span in tags [from, end) of one sentence. Of BIO tags it begins with B-, or with I- if the word before is of another
 * type, and continues as long as I- of the same type follows. */
static span next_span(const xlm_tag_pairs *p, const int32_t *tags, int64_t from, int64_t end)
{
    if (!p->bio)
        return next_run(p, tags, from, end);
    while (from < end && is_outside(p->labels[tags[from]]))
        from++;
    if (from == end)
        return (span){end, end, NULL, false};
    const char *first = p->labels[tags[from]];
    span s = {from, from + 1, type_of(first), is_foreign(first)};
    while (!s.foreign && s.end < end && strncmp(p->labels[tags[s.end]], "I-", 2) == 0 &&
           strcmp(p->labels[tags[s.end]] + 2, s.type) == 0)
        s.end++;
    return s;
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The names of the types of spans, sorted, char * within the labels. g_ptr_array_unref. */
static GPtrArray *types_of(const xlm_tag_pairs *p)
{
    GPtrArray *types = g_ptr_array_new();
    for (char *const *label = p->labels; *label != NULL; label++) {
        char *type = p->bio ? (char *)type_of(*label) : *label;
        if (!(p->bio && is_outside(*label)) && !g_ptr_array_find_with_equal_func(types, type, g_str_equal, NULL))
            g_ptr_array_add(types, type);
    }
    g_ptr_array_sort(types, by_name);
    return types;
}

static xlm_task_row *row_of(const GPtrArray *types, xlm_task_row *rows, const char *type)
{
    guint i = 0;
    g_ptr_array_find_with_equal_func((GPtrArray *)types, type, g_str_equal, &i);
    return &rows[i];
}

static void count_spans(const xlm_tag_pairs *p, int64_t first, int64_t end, const GPtrArray *types, xlm_task_row *rows)
{
    for (span s = next_span(p, p->gold, first, end); s.type != NULL; s = next_span(p, p->gold, s.end, end))
        row_of(types, rows, s.type)->gold++;
    span gold = next_span(p, p->gold, first, end);
    for (span s = next_span(p, p->predicted, first, end); s.type != NULL; s = next_span(p, p->predicted, s.end, end)) {
        while (gold.type != NULL && gold.first < s.first)
            gold = next_span(p, p->gold, gold.end, end);
        xlm_task_row *row = row_of(types, rows, s.type);
        row->predicted++;
        row->right += gold.type != NULL && gold.first == s.first && gold.end == s.end && gold.foreign == s.foreign &&
                      strcmp(gold.type, s.type) == 0;
    }
}

static void score_spans(const xlm_tag_pairs *p, xlm_task_scores *scores)
{
    g_autoptr(GPtrArray) types = types_of(p);
    g_autofree xlm_task_row *rows = g_new0(xlm_task_row, types->len);
    xlm_task_row all = {0};
    int64_t first = 0;
    for (int64_t s = 0; s < p->sentences; first = p->ends[s++])
        count_spans(p, first, p->ends[s], types, rows);
    for (guint i = 0; i < types->len; i++) {
        all.gold += rows[i].gold, all.predicted += rows[i].predicted, all.right += rows[i].right;
        if (p->bio)
            add_row(scores, "span", types->pdata[i], &rows[i]);
    }
    xlm_task_scores_add(scores, p->bio ? "span_f1" : "run_f1", xlm_task_f1(&all), all.gold);
    if (p->bio)
        add_row(scores, "span", "all", &all);
}

void xlm_tag_scores(const xlm_tag_pairs *pairs, xlm_task_scores *scores)
{
    g_autofree xlm_task_row *tag = xlm_task_count(pairs->classes, pairs->words, pairs->gold, pairs->predicted);
    score_tags(pairs, tag, scores);
    score_spans(pairs, scores);
    for (int64_t c = 0; c < pairs->classes; c++)
        add_row(scores, "tag", pairs->labels[c], &tag[c]);
}
