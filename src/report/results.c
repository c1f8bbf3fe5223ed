/* xlm-mpi: what was measured of the models of runs. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/csv.h"

#include "files/files.h"

/* What the columns of a kind of table mean. If no column has the name of the measure, each value column is a measure of its own,
 * named PREFIX and the column's name. */
typedef struct kind {
    const char *head;
    const char *prefix, *values[6];
    const char *measure, *details[3], *target; /* columns; NULL: there is none; target: it is "target" */
    bool of_file;                          /* the detail includes the file's name; only the first MAX_ROWS are shown */
    bool may_lack;                         /* a value is empty if there was nothing to measure */
    const char *only;                      /* only rows whose column `kind` is this word */
} kind;

enum { MAX_ROWS = 500 };

static const kind kinds[] = {
    {.head = "checkpoint,step,measure,layer,detail,source,target,value", .values = {"value"}, .measure = "measure",
     .details = {"detail"}},
    {.head = "layer,vector,source,target,pairs,pool,cosine,csls", .prefix = "retrieval_", .values = {"cosine", "csls"},
     .details = {"vector"}},
    {.head = "subwords,source,target,pairs,mean_cosine,shuffled_cosine,words,candidates,cosine,csls", .prefix = "dictionary_",
     .values = {"mean_cosine", "shuffled_cosine", "cosine", "csls"}, .details = {"subwords"}, .may_lack = true},
    {.head = "subwords,number,top1,top5,top10,mrr,shared,source,target", .prefix = "alignment_",
     .values = {"top1", "top5", "top10", "mrr"}, .details = {"subwords"}},
    {.head = "subwords,number,top1,top5,top10,mrr,shared", .prefix = "alignment_", .values = {"top1", "top5", "top10", "mrr"},
     .of_file = true, .details = {"subwords"}},
    {.head = "set,layer,score,neighbours,sources,targets,threshold,pairs,gold,right,precision,recall,f1", .prefix = "mining_",
     .values = {"pairs", "precision", "recall", "f1"}, .of_file = true, .details = {"set", "score"}, .may_lack = true},
    {.head = "map,by,words,candidates,p1,p5,p10,mrr", .prefix = "procrustes_", .values = {"p1", "p5", "p10", "mrr"},
     .of_file = true, .details = {"map", "by"}},
    {.head = "kind,file,section,items,covered,measure,value", .prefix = "likeness_", .values = {"value"}, .measure = "measure",
     .details = {"kind", "file", "section"}, .may_lack = true},
    {.head = "word,measure,rank,neighbour,score", .prefix = "neighbour_", .values = {"score"},
     .of_file = true, .details = {"word", "measure", "neighbour"}},
    {.head = "direction,correlation", .prefix = "cca_", .values = {"correlation"}, .of_file = true, .details = {"direction"}},
    {.head = "direction,variance,share,together", .prefix = "pca_", .values = {"variance", "together"},
     .of_file = true, .details = {"direction"}},
    {.head = "aer,precision,recall,f1,sentences,links,sure,possible", .values = {"aer", "precision", "recall", "f1"}},
    {.head = "kind,name,precision,recall,f1,support,predicted,value", .prefix = "task_", .values = {"value"}, .measure = "name",
     .only = "measure"},
    {.head = "language,kind,name,precision,recall,f1,support,predicted,value", .prefix = "task_", .values = {"value"},
     .measure = "name", .target = "language", .only = "measure"},
};

static void clear_result(gpointer data)
{
    xlm_result *r = data;
    g_free(r->measure);
    g_free(r->detail);
    g_free(r->source);
    g_free(r->target);
}

void xlm_results_begin(xlm_results *results)
{
    results->rows = g_array_new(FALSE, FALSE, sizeof(xlm_result));
    g_array_set_clear_func(results->rows, clear_result);
    results->places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void xlm_results_clear(xlm_results *results)
{
    g_array_unref(results->rows);
    g_hash_table_unref(results->places);
}

/* ---- tables ---- */

static const kind *find_kind(const char *text)
{
    g_autofree char *line = g_strchomp(g_strndup(text, strcspn(text, "\n")));
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(line, kinds[i].head) == 0)
            return &kinds[i];
    return NULL;
}

bool xlm_results_knows(const char *path)
{
    char text[256];
    FILE *file = xlm_files_check_input(path, NULL) ? fopen(path, "r") : NULL;
    const size_t n = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[n] = '\0';
    if (file != NULL)
        fclose(file);
    return find_kind(text) != NULL;
}

/* ---- rows ---- */

typedef struct table {
    const kind *kind;
    char **head;      /* titles of the columns */
    const char *path;
    char *name;       /* of the file */
    int run;          /* -1: each row says whose it is */
    bool named;       /* the user named the run */
    bool one_model;   /* all checkpoints are in one directory */
    xlm_results *results;
    const xlm_runs *runs;
    int64_t bad, others, taken; /* rows that cannot be read; of other models; of the runs */
    int64_t strange;            /* rows of steps that their run does not have; the first of them: */
    int64_t strange_step;
    int strange_run;
    char *strange_checkpoint;
} table;

/* The field of a column; NULL: there is none. */
static const char *field_of(const table *t, const GPtrArray *row, const char *column)
{
    for (guint i = 0; column != NULL && t->head[i] != NULL; i++)
        if (strcmp(t->head[i], column) == 0)
            return row->pdata[i];
    return NULL;
}

static bool read_integer(const char *text, int64_t *value)
{
    *value = -1;
    return text == NULL || *text == '\0' || g_ascii_string_to_signed(text, 10, 0, G_MAXINT32, value, NULL);
}

/* The result of the same run, layer, measure, detail and languages; NULL: there is none. [out] key: g_free. */
static xlm_result *find_result(const xlm_results *results, const xlm_result *r, char **key)
{
    *key = g_strdup_printf("%d\n%" G_GINT64_FORMAT "\n%s\n%s\n%s\n%s", r->run, r->layer, r->measure, r->detail, r->source,
                           r->target);
    const guint place = GPOINTER_TO_UINT(g_hash_table_lookup(results->places, *key)); /* from 1 */
    return place > 0 ? &g_array_index(results->rows, xlm_result, place - 1) : NULL;
}

/* Of two results of the same the newer one counts; one whose step is not known is older. Takes r. */
static void add_result(xlm_results *results, xlm_result r)
{
    char *key;
    xlm_result *other = find_result(results, &r, &key);
    if (other == NULL) {
        g_array_append_val(results->rows, r);
        g_hash_table_insert(results->places, key, GUINT_TO_POINTER(results->rows->len));
        return;
    }
    if (other->step <= r.step) {
        const xlm_result before = *other;
        *other = r;
        r = before;
    }
    clear_result(&r);
    g_free(key);
}

/* Add what a table has. Two tables that say neither step nor text may be of the same model and of other text, or of other options:
 * then the second one's details have the name of its file, in all rows. */
static void add_table(xlm_results *results, xlm_results *own, const char *name)
{
    bool apart = false;
    for (guint i = 0; i < own->rows->len && !apart; i++) {
        const xlm_result *r = &g_array_index(own->rows, xlm_result, i);
        g_autofree char *key = NULL;
        const xlm_result *other = find_result(results, r, &key);
        apart = other != NULL && other->step < 0 && r->step < 0 && other->value != r->value;
    }
    for (guint i = 0; i < own->rows->len; i++) {
        xlm_result *r = &g_array_index(own->rows, xlm_result, i), taken = *r;
        *r = (xlm_result){.run = 0};
        if (apart) {
            char *detail = taken.detail;
            taken.detail = g_strdup_printf("%s, %s", name, detail);
            g_free(detail);
        }
        add_result(results, taken);
    }
}

/* What a row measures: its detail columns, "before, CSLS", after the name of the file if the kind has it or no such columns.
 * g_free. */
static char *read_detail(const table *t, const GPtrArray *row)
{
    GString *text = g_string_new(t->kind->of_file || t->kind->details[0] == NULL ? t->name : "");
    for (size_t i = 0; i < G_N_ELEMENTS(t->kind->details) && t->kind->details[i] != NULL; i++) {
        const char *field = field_of(t, row, t->kind->details[i]);
        g_string_append_printf(text, "%s%s", text->len > 0 && *field != '\0' ? ", " : "", field);
    }
    return g_string_free(text, FALSE);
}

static char *copy(const char *text) { return g_strdup(text != NULL ? text : ""); }

/* Returns false if the value cannot be read. */
static bool take_value(table *t, const GPtrArray *row, const char *column, int run, int64_t step, int64_t layer)
{
    const char *text = field_of(t, row, column), *measure = field_of(t, row, t->kind->measure);
    char *end;
    const double value = g_ascii_strtod(text, &end);
    if (*text == '\0' && t->kind->may_lack)
        return true;
    if (*text == '\0' || *end != '\0' || !isfinite(value))
        return false;
    const char *target = field_of(t, row, t->kind->target != NULL ? t->kind->target : "target");
    const char *prefix = t->kind->prefix != NULL ? t->kind->prefix : "";
    xlm_result r = {.measure = g_strconcat(prefix, measure != NULL ? measure : column, NULL), .detail = read_detail(t, row),
                    .source = copy(field_of(t, row, "source")), .target = copy(target), .layer = layer, .step = step,
                    .run = run, .value = value};
    add_result(t->results, r);
    return true;
}

/* Are the checkpoints of all rows in the same directory? */
static bool is_of_one_model(const table *t, const char *rows)
{
    g_autofree char *first = NULL;
    bool same = true;
    while (*rows != '\0' && same) {
        g_autoptr(GPtrArray) row = xlm_csv_next_row(&rows);
        const char *checkpoint = row->len == g_strv_length(t->head) ? field_of(t, row, "checkpoint") : NULL;
        g_autofree char *directory = checkpoint != NULL ? g_path_get_dirname(checkpoint) : NULL;
        same = directory == NULL || first == NULL || strcmp(first, directory) == 0;
        if (first == NULL)
            first = g_steal_pointer(&directory);
    }
    return same;
}

/* Whose a row is; less than 0: of none of the runs. If the user named a run, rows of one model are of that run whatever their
 * path is; of several models, those are that have its path. */
static int run_of(const table *t, const char *checkpoint)
{
    if (checkpoint == NULL || (t->named && t->one_model))
        return t->run;
    const int run = xlm_runs_find(t->runs, checkpoint, t->path);
    return t->named && run != t->run ? XLM_RUN_OTHER : run;
}

static void leave_out_step(table *t, int run, int64_t step, const char *checkpoint)
{
    if (t->strange++ == 0) {
        t->strange_step = step;
        t->strange_run = run;
        t->strange_checkpoint = g_strdup(checkpoint);
    }
}

static void take_row(table *t, const GPtrArray *row)
{
    const char *checkpoint = row->len == g_strv_length(t->head) ? field_of(t, row, "checkpoint") : NULL;
    const char *of = row->len == g_strv_length(t->head) ? field_of(t, row, "kind") : NULL;
    int64_t step, layer;
    if (t->kind->only != NULL && of != NULL && strcmp(of, t->kind->only) != 0)
        return;
    if (row->len != g_strv_length(t->head) || !read_integer(field_of(t, row, "step"), &step) ||
        !read_integer(field_of(t, row, "layer"), &layer)) {
        t->bad++;
        return;
    }
    const int run = run_of(t, checkpoint);
    if (run < 0) {
        t->others++;
        return;
    }
    if (step >= 0 && !xlm_run_has_step(&t->runs->run[run], step)) {
        leave_out_step(t, run, step, checkpoint);
        return;
    }
    bool good = true;
    for (size_t i = 0; i < G_N_ELEMENTS(t->kind->values) && t->kind->values[i] != NULL; i++)
        good &= take_value(t, row, t->kind->values[i], run, step, layer);
    t->bad += !good;
    t->taken++;
}

/* What to say of rows that were left out. */
static bool end_table(const table *t, xlm_page *page, GError **error)
{
    g_autofree char *strange = NULL;
    if (t->strange > 0) {
        const xlm_run *run = &t->runs->run[t->strange_run];
        strange = g_strdup_printf("%s: %" G_GINT64_FORMAT " lines are of steps that the run does not have, and are left out: %s "
                                  "was at step %" G_GINT64_FORMAT ", and the last step of %s is %" G_GINT64_FORMAT, t->path,
                                  t->strange, t->strange_checkpoint, t->strange_step, run->directory, xlm_run_last_step(run));
    }
    if (t->taken == 0 && t->strange > 0)
        return xlm_error_set(error, EX_DATAERR, "%s; these are measures of another model", strange);
    if (t->taken == 0 && t->others > 0)
        return xlm_error_set(error, EX_DATAERR, "%s: has nothing of the runs; its rows are of other models, by the paths of "
                             "their checkpoints; if they are not, write RUN=%s", t->path, t->path);
    if (strange != NULL)
        xlm_page_note(page, "%s", strange);
    if (t->bad > 0)
        xlm_page_note(page, "%s: %" G_GINT64_FORMAT " lines are damaged, or have numbers that are not finite, and are skipped",
                      t->path, t->bad);
    return true;
}

bool xlm_results_read(xlm_results *results, const char *path, const xlm_runs *runs, int run, bool named, xlm_page *page,
                      GError **error)
{
    g_autofree char *text = NULL;
    gsize size;
    g_autoptr(GError) why = NULL;
    if (!xlm_files_load(path, &text, &size, &why))
        return xlm_error_set(error, EX_NOINPUT, "%s", why->message);
    xlm_results own;
    table t = {.kind = find_kind(text), .path = path, .run = run, .named = named, .results = &own, .runs = runs};
    if (t.kind == NULL)
        return xlm_error_set(error, EX_DATAERR, "%s: is not a table of jobs/measure, xlm_embed, xlm_align score or xlm_eval, by "
                             "its first line", path);
    if (run < 0 && !g_str_has_prefix(t.kind->head, "checkpoint,"))
        return xlm_error_set(error, EX_USAGE, "%s: does not say of which run it is; put it into the run's directory, or write "
                             "RUN=%s", path, path);
    g_auto(GStrv) head = g_strsplit(t.kind->head, ",", -1);
    g_autofree char *name = g_path_get_basename(path);
    t.head = head;
    t.name = name;
    const char *at = text + strcspn(text, "\n");
    at += *at == '\n';
    t.one_model = is_of_one_model(&t, at);
    xlm_results_begin(&own);
    while (*at != '\0') {
        if (t.kind->of_file && t.taken == MAX_ROWS) {
            xlm_page_note(page, "%s: has more than %d lines; the first of them are shown", path, MAX_ROWS);
            break;
        }
        g_autoptr(GPtrArray) row = xlm_csv_next_row(&at);
        take_row(&t, row);
    }
    if (strlen(text) < size)
        xlm_page_note(page, "%s: has a byte 0; what follows it is left out", path);
    add_table(results, &own, name);
    xlm_results_clear(&own);
    const bool good = end_table(&t, page, error);
    g_free(t.strange_checkpoint);
    return good;
}
