/* xlm-mpi: xlm_compare, differences between training runs. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/terminal.h"
#include "files/files.h"
#include "job/job_changes.h"
#include "job/job_record.h"
#include "model/checkpoint_names.h"
#include "program/program.h"
#include "run/curves.h"
#include "run/run_inputs.h"
#include "store/store.h"

static const xlm_program program = {
    .name = "xlm_compare",
    .arguments = "RUN RUN...",
    .purpose = "Show runs side by side: keys of their jobs that differ, and their curves",
    .notes =
        "RUN is an output directory of xlm_train or xlm_tune. Its job is read from job.conf or else from the newest checkpoint;\n"
        "its curves are in metrics.csv. Since a path can be another file for another run, what runs began with is compared too,\n"
        "by the newest checkpoints: the SHA-256 and step of the model that a run started from, digests of the vocabulary and of\n"
        "the text of the corpus. Files of fine-tuning have no digest there.\n\n"
        "Curves are shown at steps that all runs with that curve have, training losses as means\n"
        "since the step in the line above; last and best are over all steps of each run. Where objectives begin or end during a\n"
        "run, the best step of \"train total loss\" compares different sums.\n\n"
        "Examples:\n"
        "  xlm_compare run1 run2 run3\n"
        "  xlm_compare --lines 40 run1 run2\n\n",
    .files =
        "  RUN/metrics.csv        losses and scores of a run\n"
        "  RUN/job.conf           its job with every key\n"
        "  RUN/checkpoint-*.h5    the newest also has the job\n",
};

static int lines = 12;
static const GOptionEntry options[] = {
    {"lines", 0, 0, G_OPTION_ARG_INT, &lines, "maximum number of steps of a curve to show (default 12)", "N"},
    {.long_name = NULL}};
static const xlm_program_group groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

typedef struct run {
    const char *directory;
    char *job;          /* with every key; NULL: not found */
    xlm_curves *curves;
    xlm_run_inputs inputs;
} run;

/* ---- reading ---- */

/* Read from job.conf, or else from the newest readable checkpoint; NULL if there is none. */
static char *read_job(const char *directory)
{
    const char *name = xlm_job_record_name(directory);
    g_autofree char *path = name != NULL ? g_build_filename(directory, name, NULL) : NULL;
    char *text = NULL;
    if (path != NULL && xlm_files_load(path, &text, NULL, NULL))
        return text;
    g_autoptr(GArray) steps = xlm_checkpoint_steps(directory, NULL);
    for (guint i = steps != NULL ? steps->len : 0; i-- > 0 && text == NULL;) {
        g_autofree char *checkpoint = xlm_checkpoint_path(directory, g_array_index(steps, int64_t, i));
        text = xlm_job_record_of_checkpoint(checkpoint, NULL);
    }
    return text;
}

/* By the newest readable checkpoint. */
static void read_inputs(run *r)
{
    g_autoptr(GArray) steps = xlm_checkpoint_steps(r->directory, NULL);
    g_autoptr(xlm_store) store = NULL;
    for (guint i = steps != NULL ? steps->len : 0; i-- > 0 && store == NULL;) {
        g_autofree char *checkpoint = xlm_checkpoint_path(r->directory, g_array_index(steps, int64_t, i));
        store = xlm_store_open(checkpoint, NULL);
    }
    xlm_run_inputs_read(&r->inputs, store);
}

static bool read_run(run *r, const char *directory, GError **error)
{
    r->directory = directory;
    if (!g_file_test(directory, G_FILE_TEST_IS_DIR))
        return xlm_error_set(error, EX_NOINPUT, "%s: there is no such directory; a run is named by its output directory",
                             directory);
    g_autofree char *path = g_build_filename(directory, "metrics.csv", NULL);
    r->curves = xlm_curves_read(path, error);
    if (r->curves != NULL && r->curves->bad > 0)
        xlm_log_warn("%s: %" G_GINT64_FORMAT " damaged lines skipped", path, r->curves->bad);
    r->job = r->curves != NULL ? read_job(directory) : NULL;
    if (r->curves != NULL && r->job == NULL)
        xlm_log_warn("%s: has neither job.conf nor a readable checkpoint; its job is not compared", directory);
    read_inputs(r);
    return r->curves != NULL;
}

/* ---- jobs ---- */

enum { WIDTH = 16 };

/* In columns; wider texts shift the rest of the line to the right. */
static void print_names(const run *runs, int n, const char *first, int width)
{
    printf("%-*s", width, first);
    for (int i = 0; i < n; i++)
        printf("  %*s", WIDTH, runs[i].directory);
    putchar('\n');
}

/* In columns below their names. */
static void print_differences(const run *runs, int n, const int *place, GPtrArray *differences)
{
    int width = 4;
    for (guint d = 0; d < differences->len; d++) {
        const xlm_job_difference *difference = differences->pdata[d];
        width = MAX(width, (int)(strlen(difference->section) + 3 + (difference->key != NULL ? strlen(difference->key) : 0)));
    }
    print_names(runs, n, "keys", width);
    for (guint d = 0; d < differences->len; d++) {
        const xlm_job_difference *difference = differences->pdata[d];
        g_autofree char *key = g_strdup_printf("[%s]%s%s", difference->section, difference->key != NULL ? " " : "",
                                               difference->key != NULL ? difference->key : "");
        g_autofree char *safe = xlm_terminal_escape(key);
        printf("%-*s", width, safe);
        for (int i = 0; i < n; i++) {
            g_autofree char *value = xlm_terminal_escape(place[i] < 0 ? "?" : difference->value[place[i]]);
            printf("  %*s", WIDTH, *value != '\0' ? value : "(empty)");
        }
        putchar('\n');
    }
}

/* What the runs began with, where it differs, the first digits of digests; below: below another table. Returns whether anything
 * does. */
static bool print_inputs(const run *runs, const xlm_run_inputs *inputs, int n, bool below)
{
    int width = 0;
    for (int which = 0; which < XLM_RUN_INPUTS; which++)
        if (xlm_run_inputs_differ(inputs, n, which))
            width = MAX(width, (int)strlen(xlm_run_input_names[which]));
    if (width > 0 && below)
        putchar('\n');
    if (width > 0)
        print_names(runs, n, "began with", width);
    for (int which = 0; which < XLM_RUN_INPUTS; which++) {
        if (!xlm_run_inputs_differ(inputs, n, which))
            continue;
        printf("%-*s", width, xlm_run_input_names[which]);
        for (int i = 0; i < n; i++) {
            g_autofree char *value = xlm_terminal_escape(inputs[i].value[which] != NULL ? inputs[i].value[which] : "?");
            printf("  %*.*s", WIDTH, WIDTH, value);
        }
        putchar('\n');
    }
    return width > 0;
}

static void print_jobs(const run *runs, int n)
{
    g_autofree const char **text = g_new(const char *, MAX(n, 1));
    g_autofree int *place = g_new(int, MAX(n, 1));
    g_autofree xlm_run_inputs *inputs = g_new(xlm_run_inputs, MAX(n, 1));
    int jobs = 0;
    for (int i = 0; i < n; i++) {
        inputs[i] = runs[i].inputs;
        place[i] = runs[i].job != NULL ? jobs : -1;
        if (runs[i].job != NULL)
            text[jobs++] = runs[i].job;
    }
    g_autoptr(GPtrArray) differences = jobs >= 2 ? xlm_job_differences(text, jobs) : NULL;
    const bool same = differences != NULL && differences->len == 0;
    if (jobs >= 2 && differences == NULL)
        xlm_log_warn("a job cannot be read; jobs are not compared");
    if (differences != NULL && !same)
        print_differences(runs, n, place, differences);
    const bool others = print_inputs(runs, inputs, n, differences != NULL && !same);
    if (same && others)
        printf("The keys of the jobs are the same, but not the files that they name.\n");
    else if (same && xlm_run_inputs_known(inputs, n))
        printf("The jobs are the same.\n");
    else if (same)
        printf("The keys of the jobs are the same; the files that they name are not compared, since not every run has a "
               "checkpoint.\n");
}

/* ---- curves ---- */

/* Steps that all runs with the curve have, thinned out evenly to `lines`, including the last. curve: [n], NULL if a run has
 * none. */
static GArray *common_steps(const xlm_curve *const *curve, int n)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(int64_t));
    GArray *some = g_array_new(FALSE, FALSE, sizeof(int64_t));
    int first = 0;
    while (curve[first] == NULL)
        first++;
    for (guint p = 0; p < curve[first]->points->len; p++) {
        const int64_t step = g_array_index(curve[first]->points, xlm_curve_point, p).step;
        bool common = true;
        for (int i = first + 1; i < n && common; i++)
            common = curve[i] == NULL || xlm_curve_find(curve[i], step) >= 0;
        if (common)
            g_array_append_val(all, step);
    }
    const int64_t shown = MIN(lines, (int64_t)all->len);
    for (int64_t i = 1; i <= shown; i++)
        g_array_append_val(some, g_array_index(all, int64_t, i * all->len / shown - 1));
    return some;
}

/* The value at a step or, for a curve with a value at every step, the mean after step `above`. */
static double value_at(const xlm_curve *c, int64_t above, int64_t step)
{
    const int last = xlm_curve_find(c, step);
    double sum = 0;
    int first = last;
    while (c->every_step && first > 0 && g_array_index(c->points, xlm_curve_point, first - 1).step > above)
        first--;
    for (int p = first; p <= last; p++)
        sum += g_array_index(c->points, xlm_curve_point, p).value;
    return sum / (last - first + 1);
}

static void print_extreme(const xlm_curve *const *curve, int n, const char *name, bool best)
{
    printf("%-12s", name);
    for (int i = 0; i < n; i++) {
        char text[64] = "-";
        if (curve[i] != NULL) {
            const xlm_curve_point p = best ? xlm_curve_best(curve[i])
                                           : g_array_index(curve[i]->points, xlm_curve_point, curve[i]->points->len - 1);
            g_snprintf(text, sizeof text, "%.5g @%" G_GINT64_FORMAT, p.value, p.step);
        }
        printf("  %*s", WIDTH, text);
    }
    putchar('\n');
}

static void print_curve(const run *runs, int n, const char *name)
{
    g_autofree const xlm_curve **curve = g_new(const xlm_curve *, MAX(n, 1));
    bool mean = false;
    for (int i = 0; i < n; i++) {
        curve[i] = xlm_curves_find(runs[i].curves, name);
        mean |= curve[i] != NULL && curve[i]->every_step;
    }
    g_autofree char *safe = xlm_terminal_escape(name);
    printf("\n%s\n", safe);
    print_names(runs, n, "step", 12);
    g_autoptr(GArray) steps = common_steps(curve, n);
    for (guint s = 0; s < steps->len; s++) {
        const int64_t step = g_array_index(steps, int64_t, s), above = s > 0 ? g_array_index(steps, int64_t, s - 1) : -1;
        printf("%-12" G_GINT64_FORMAT, step);
        for (int i = 0; i < n; i++)
            if (curve[i] != NULL)
                printf("  %*.5g", WIDTH, value_at(curve[i], above, step));
            else
                printf("  %*s", WIDTH, "-");
        putchar('\n');
    }
    if (steps->len == 0)
        printf("(no step in common)\n");
    print_extreme(curve, n, "last", false);
    print_extreme(curve, n, mean ? "best step" : "best", true);
}

static void print_curves(const run *runs, int n)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (int i = 0; i < n; i++)
        for (guint k = 0; k < runs[i].curves->curves->len; k++) {
            const xlm_curve *c = runs[i].curves->curves->pdata[k];
            if (!c->detail && g_hash_table_add(seen, c->name))
                print_curve(runs, n, c->name);
        }
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_log_open(program.name, true);
    bool good = xlm_program_parse(&program, groups, &argc, &argv, &error);
    if (good && argc < 3)
        good = xlm_error_set(&error, EX_USAGE, "at least two runs are needed; see %s --help", program.name);
    good = good && xlm_program_is_in("lines", lines, 1, G_MAXINT, &error);
    const int n = good ? argc - 1 : 0;
    run *runs = g_new0(run, MAX(n, 1));
    for (int i = 0; i < n && good; i++)
        good = read_run(&runs[i], argv[i + 1], &error);
    if (good) {
        print_jobs(runs, n);
        print_curves(runs, n);
        xlm_program_flush(&error);
    }
    for (int i = 0; i < n; i++) {
        g_free(runs[i].job);
        xlm_run_inputs_clear(&runs[i].inputs);
        xlm_curves_free(runs[i].curves);
    }
    g_free(runs);
    return xlm_error_exit(error);
}
