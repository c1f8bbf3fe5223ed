/* xlm-mpi: what the output directories of runs know. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/runs.h"

#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "base/log.h"
#include "checkpoint/start_record.h"
#include "files/files.h"
#include "job/job_record.h"
#include "model/checkpoint_names.h"
#include "store/store.h"

/* ---- facts ---- */

/* Takes ownership of the value; NULL or "": it is not known. */
static void add_fact(xlm_run *run, const char *name, char *value)
{
    if (value == NULL || *value == '\0') {
        g_free(value);
        return;
    }
    g_ptr_array_add(run->facts, g_strdup(name));
    g_ptr_array_add(run->facts, value);
}

/* When the file was last written, in local time. */
static char *time_of(const char *path)
{
    GStatBuf status;
    if (g_stat(path, &status) != 0)
        return NULL;
    g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(status.st_mtime);
    return time != NULL ? g_date_time_format(time, "%Y-%m-%d %H:%M") : NULL;
}

/* The values of a key in the sections of a kind, those that are not empty: "value", or "name, name (value)" if the sections have
 * names. g_free. */
static char *job_values(const char *job, const char *kind, const char *key)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    GString *found = g_string_new("");
    g_key_file_load_from_data(file, job, strlen(job), G_KEY_FILE_NONE, NULL);
    g_auto(GStrv) sections = g_key_file_get_groups(file, NULL);
    for (char **section = sections; *section != NULL; section++) {
        g_autofree char *value = g_str_has_prefix(*section, kind) ? g_key_file_get_value(file, *section, key, NULL) : NULL;
        if (value == NULL || *g_strstrip(value) == '\0')
            continue;
        const char *name = g_strstrip(*section + strlen(kind));
        g_string_append_printf(found, "%s%s", found->len > 0 ? ", " : "", *name != '\0' ? name : value);
        if (*name != '\0' && strcmp(name, value) != 0)
            g_string_append_printf(found, " (%s)", value);
    }
    return g_string_free(found, FALSE);
}

static double sum_of(const xlm_run *run, const char *name)
{
    const xlm_curve *c = xlm_curves_find(run->curves, name);
    double sum = 0;
    for (guint i = 0; c != NULL && i < c->points->len; i++)
        sum += g_array_index(c->points, xlm_curve_point, i).value;
    return sum;
}

static void add_training_facts(xlm_run *run)
{
    const double seconds = sum_of(run, "train total seconds"), tokens = sum_of(run, "train total tokens");
    const xlm_curve *total = xlm_curves_find(run->curves, "train total loss");
    char text[16];
    if (total != NULL) {
        g_autofree char *asked = run->job != NULL ? job_values(run->job, "train", "steps") : NULL;
        add_fact(run, "Steps", g_strdup_printf("%" G_GINT64_FORMAT "%s%s",
                                               g_array_index(total->points, xlm_curve_point, total->points->len - 1).step,
                                               asked != NULL && *asked != '\0' ? " of " : "", asked != NULL ? asked : ""));
    }
    if (tokens > 0)
        add_fact(run, "Tokens", g_strdup(xlm_log_count(tokens, text)));
    if (seconds > 0) {
        add_fact(run, "Time of its steps", g_strdup(xlm_log_time(seconds, text)));
        if (tokens > 0)
            add_fact(run, "Tokens per second", g_strdup(xlm_log_count(tokens / seconds, text)));
    }
}

/* The measure that checkpoints of a fine-tuning are compared by; NULL: it is not known. g_free. */
static char *measure_of_task(const xlm_run *run)
{
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_key_file_load_from_data(file, run->job, strlen(run->job), G_KEY_FILE_NONE, NULL);
    g_auto(GStrv) sections = g_key_file_get_groups(file, NULL);
    char *measure = NULL;
    for (char **section = sections; *section != NULL && measure == NULL; section++)
        if (g_str_has_prefix(*section, "task "))
            measure = g_key_file_get_value(file, *section, "choose_by", NULL);
    /* The task found it in the labels, and it is the first of its measures. */
    for (guint i = 0; g_strcmp0(measure, "auto") == 0 && i < run->curves->curves->len; i++) {
        const xlm_curve *c = run->curves->curves->pdata[i];
        if (strcmp(c->split, "dev") == 0) {
            g_free(measure);
            measure = g_strdup(c->objective);
        }
    }
    return measure;
}

/* The checkpoint that the link `best` names, and what it was chosen by. */
static void add_best(xlm_run *run)
{
    g_autofree char *path = g_build_filename(run->directory, "best", NULL), *name = g_file_read_link(path, NULL);
    run->best = name != NULL ? xlm_checkpoint_step_of(name) : 0;
    if (run->best <= 0)
        return;
    g_autofree char *by = run->job != NULL ? job_values(run->job, "evaluate", "choose_by") : NULL;
    if (by != NULL && *by == '\0') {
        g_free(by);
        by = measure_of_task(run);
    }
    add_fact(run, "Best checkpoint", g_strdup_printf("%s%s%s", name, by != NULL ? ", by " : "", by != NULL ? by : ""));
}

/* The lock of a run that is running, or that was killed. */
static void add_lock(xlm_run *run)
{
    g_autofree char *path = g_build_filename(run->directory, "lock", NULL);
    g_autofree char *text = NULL;
    gsize size;
    g_autoptr(GKeyFile) lock = g_key_file_new();
    if (xlm_files_load(path, &text, &size, NULL) && g_key_file_load_from_data(lock, text, size, G_KEY_FILE_NONE, NULL)) {
        g_autofree char *host = g_key_file_get_string(lock, "lock", "host", NULL);
        g_autofree char *since = g_key_file_get_string(lock, "lock", "since", NULL);
        if (host != NULL && since != NULL)
            add_fact(run, "Not ended", g_strdup_printf("on %s since %s: at work, or killed", host, since));
    }
}

static void add_model_facts(xlm_run *run, const xlm_store *store)
{
    static const struct { const char *name, *path, *attribute; } numbers[] = {
        {"Layers", "/model", "layers"}, {"Hidden size", "/model", "hidden_size"},
        {"Attention heads", "/model", "attention_heads"}, {"Vocabulary", "/model", "vocabulary"},
        {"Parameters", "/", "parameters"}, {"Seed", "/generator", "seed"}, {"Ranks", "/", "ranks"}};
    uint64_t n;
    g_auto(GStrv) languages = xlm_store_read_strings(store, "/languages", INT32_MAX, &n, NULL);
    if (languages != NULL)
        add_fact(run, "Languages", g_strjoinv(", ", languages));
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        int64_t value;
        if (xlm_store_get_int(store, numbers[i].path, numbers[i].attribute, &value, NULL))
            add_fact(run, numbers[i].name, g_strdup_printf("%" G_GINT64_FORMAT, value));
    }
    xlm_start_record start = {0};
    if (xlm_store_has(store, "/start") && xlm_start_record_read(&start, store, NULL) && start.path != NULL)
        add_fact(run, "Started from", g_strdup_printf("%s, step %" G_GINT64_FORMAT ", SHA-256 %.12s…", start.path, start.step,
                                                      start.sha256 != NULL ? start.sha256 : ""));
    xlm_start_record_clear(&start);
}

static void add_versions(xlm_run *run, const xlm_store *store)
{
    static const struct { const char *name, *attribute; } texts[] = {
        {"xlm-mpi", "program_version"}, {"MPI", "mpi_version"}, {"BLIS", "blis_version"}, {"HDF5", "hdf5_version"}};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        add_fact(run, texts[i].name, xlm_store_get_text(store, "/", texts[i].attribute, NULL));
    g_autofree char *digest = xlm_store_get_text(store, "/", "corpus_digest", NULL);
    if (digest != NULL)
        add_fact(run, "Digest of the corpus", g_strdup_printf("%.16s", digest));
}

/* ---- files ---- */

/* The newest checkpoint that can be opened; those that cannot are noted. */
static xlm_store *open_checkpoint(xlm_run *run, xlm_page *page)
{
    xlm_store *store = NULL;
    g_autoptr(GError) failure = NULL;
    run->steps = xlm_checkpoint_steps(run->directory, &failure);
    if (run->steps == NULL) {
        xlm_page_note(page, "%s", failure->message);
        run->steps = g_array_new(FALSE, FALSE, sizeof(int64_t));
    }
    for (guint i = run->steps->len; i-- > 0 && store == NULL;) {
        g_autoptr(GError) why = NULL;
        g_autofree char *path = xlm_checkpoint_path(run->directory, g_array_index(run->steps, int64_t, i));
        store = xlm_store_open(path, &why);
        if (store != NULL)
            run->checkpoint = g_steal_pointer(&path);
        else
            xlm_page_note(page, "%s", why->message);
    }
    return store;
}

/* The job of the record, with the command that its comment names. */
static void read_record(xlm_run *run)
{
    static const char before[] = "\n# ", after[] = " runs it again.";
    const char *name = xlm_job_record_name(run->directory);
    g_autofree char *path = name != NULL ? g_build_filename(run->directory, name, NULL) : NULL;
    if (path != NULL && xlm_files_load(path, &run->job, NULL, NULL)) {
        const char *begin = strstr(run->job, before), *end = begin != NULL ? strstr(begin, after) : NULL;
        if (end != NULL && memchr(begin + 1, '\n', (size_t)(end - begin - 1)) == NULL)
            run->command = g_strndup(begin + strlen(before), (gsize)(end - begin) - strlen(before));
        add_fact(run, "Last started", time_of(path));
    }
}

static bool read_metrics(xlm_run *run, xlm_page *page, GError **error)
{
    g_autofree char *path = g_build_filename(run->directory, "metrics.csv", NULL);
    run->metrics = g_file_test(path, G_FILE_TEST_EXISTS);
    run->curves = xlm_curves_read(run->metrics ? path : NULL, error);
    if (run->curves != NULL && run->curves->bad > 0)
        xlm_page_note(page, "%s: %" G_GINT64_FORMAT " lines are cut short or damaged, or have numbers that are not finite, which "
                      "are skipped", path, run->curves->bad);
    return run->curves != NULL;
}

static bool read_run(xlm_run *run, xlm_page *page, GError **error)
{
    run->facts = g_ptr_array_new_with_free_func(g_free);
    char *place = realpath(run->directory, NULL);
    run->place = g_strdup(place != NULL ? place : run->directory);
    free(place);
    if (!g_file_test(run->directory, G_FILE_TEST_IS_DIR))
        return xlm_error_set(error, EX_NOINPUT, "%s: there is no such directory; a run is named by its output directory",
                             run->directory);
    if (!read_metrics(run, page, error))
        return false;
    add_fact(run, "Directory", g_strdup(run->directory));
    read_record(run);
    g_autoptr(xlm_store) store = open_checkpoint(run, page);
    if (store != NULL && run->job == NULL)
        run->job = xlm_store_get_text(store, "/job", "text", NULL);
    if (!run->metrics && run->job == NULL && store == NULL)
        return xlm_error_set(error, EX_NOINPUT, "%s: is not an output directory of xlm_train or xlm_tune: it has no "
                             "metrics.csv, no job.conf of a run, and no checkpoint that can be read", run->directory);
    if (!run->metrics)
        xlm_page_note(page, "%s: has no metrics.csv, and so no curves", run->directory);
    xlm_run_inputs_read(&run->inputs, store);
    add_training_facts(run);
    if (run->checkpoint != NULL) {
        add_fact(run, "Newest checkpoint", g_path_get_basename(run->checkpoint));
        add_fact(run, "Written", time_of(run->checkpoint));
    }
    add_best(run);
    add_lock(run);
    if (run->job != NULL) {
        add_fact(run, "Objectives", job_values(run->job, "objective", "plugin"));
        add_fact(run, "Corpus", job_values(run->job, "train", "corpus"));
        add_fact(run, "Fine-tuned model", job_values(run->job, "tune", "model"));
        add_fact(run, "Files of training", job_values(run->job, "tune", "train"));
    }
    if (store != NULL) {
        add_model_facts(run, store);
        add_versions(run, store);
    }
    add_fact(run, "Command", g_strdup(run->command));
    return true;
}

/* ---- all ---- */

static void name_runs(xlm_runs *runs)
{
    g_auto(GStrv) names = g_new0(char *, runs->n + 1);
    for (int i = 0; i < runs->n; i++)
        names[i] = g_path_get_basename(runs->run[i].place);
    for (int i = 0; i < runs->n; i++) {
        bool alone = true;
        for (int k = 0; k < runs->n && alone; k++)
            alone = k == i || strcmp(names[k], names[i]) != 0;
        runs->run[i].label = g_strdup(alone ? names[i] : runs->run[i].directory);
        runs->columns[i] = (xlm_page_column){runs->run[i].label, i};
    }
}

bool xlm_runs_read(xlm_runs *runs, char *const *directories, int n, xlm_page *page, GError **error)
{
    *runs = (xlm_runs){.n = n, .run = g_new0(xlm_run, MAX(n, 1)), .columns = g_new0(xlm_page_column, MAX(n, 1))};
    for (int i = 0; i < n; i++) {
        runs->run[i].directory = directories[i];
        if (!read_run(&runs->run[i], page, error))
            return false;
        for (int k = 0; k < i; k++)
            if (strcmp(runs->run[k].place, runs->run[i].place) == 0)
                return xlm_error_set(error, EX_USAGE, "%s and %s are the same run", directories[k], directories[i]);
    }
    name_runs(runs);
    return true;
}

void xlm_runs_clear(xlm_runs *runs)
{
    for (int i = 0; i < runs->n; i++) {
        xlm_run *run = &runs->run[i];
        g_free(run->place);
        g_free(run->label);
        g_free(run->job);
        g_free(run->command);
        g_free(run->checkpoint);
        xlm_curves_free(run->curves);
        if (run->steps != NULL)
            g_array_unref(run->steps);
        xlm_run_inputs_clear(&run->inputs);
        if (run->facts != NULL)
            g_ptr_array_unref(run->facts);
    }
    g_free(runs->run);
    g_free(runs->columns);
}

/* ---- which run a file is of ---- */

/* jobs/measure writes paths without commas. g_free. */
static char *without_commas(const char *path) { return g_strdelimit(g_strdup(path), ",", '_'); }

/* The run that has this directory, an absolute path; XLM_RUN_UNKNOWN: none. */
static int run_at(const xlm_runs *runs, const char *directory)
{
    char *place = realpath(directory, NULL);
    g_autofree char *plain = without_commas(directory);
    int found = XLM_RUN_UNKNOWN;
    for (int i = 0; i < runs->n && found < 0; i++) {
        g_autofree char *run = without_commas(runs->run[i].place);
        if (place != NULL ? strcmp(runs->run[i].place, place) == 0 : strcmp(run, plain) == 0)
            found = i;
    }
    free(place);
    return found;
}

/* The run of a checkpoint whose path is absolute or begins in the directory base. */
static int find_from(const xlm_runs *runs, const char *base, const char *checkpoint)
{
    g_autofree char *file = g_canonicalize_filename(checkpoint, base), *directory = g_path_get_dirname(file);
    const int run = run_at(runs, directory);
    if (run >= 0)
        return run;
    /* The directory of a path that is only a file's name exists always, so that it says nothing. */
    const bool is_there = g_file_test(file, G_FILE_TEST_EXISTS) ||
                          (strchr(checkpoint, '/') != NULL && g_file_test(directory, G_FILE_TEST_IS_DIR));
    return is_there ? XLM_RUN_OTHER : XLM_RUN_UNKNOWN;
}

/* How many of the last names of two absolute paths are the same. [out] all: all those of b are. */
static int common_names(const char *a, const char *b, bool *all)
{
    g_auto(GStrv) x = g_strsplit(a, "/", -1), y = g_strsplit(b, "/", -1);
    guint i = g_strv_length(x), k = g_strv_length(y);
    int n = 0;
    for (; i > 0 && k > 0 && *x[i - 1] != '\0' && strcmp(x[i - 1], y[k - 1]) == 0; i--, k--)
        n++;
    *all = k == 0 || *y[k - 1] == '\0';
    return n;
}

/* The run whose path ends as the directory does, with the most names; of several the owner, if it is one of them.
 * whole: all names of the directory must be at the end of the path. */
static int find_by_names(const xlm_runs *runs, const char *directory, int owner, bool whole)
{
    int most = 0, found = XLM_RUN_UNKNOWN;
    for (int i = 0; i < runs->n; i++) {
        g_autofree char *run = without_commas(runs->run[i].place);
        bool all;
        const int n = common_names(run, directory, &all);
        if (n == 0 || n < most || (whole && !all))
            continue;
        found = n > most || i == owner ? i : found == owner ? owner : XLM_RUN_UNKNOWN;
        most = n;
    }
    return found;
}

int xlm_runs_holding(const xlm_runs *runs, const char *path)
{
    g_autofree char *directory = g_path_get_dirname(path), *absolute = g_canonicalize_filename(directory, NULL);
    return run_at(runs, absolute);
}

int xlm_runs_find(const xlm_runs *runs, const char *checkpoint, const char *from)
{
    g_autofree char *beside = g_path_get_dirname(from), *directory = g_path_get_dirname(checkpoint);
    g_autofree char *names = g_canonicalize_filename(directory, "/"), *plain = without_commas(names);
    char *place = realpath(beside, NULL);
    g_autofree char *base = g_canonicalize_filename(place != NULL ? place : beside, NULL);
    const int owner = run_at(runs, base);
    free(place);
    int found = find_from(runs, base, checkpoint);
    if (found == XLM_RUN_UNKNOWN && owner >= 0 && find_by_names(runs, plain, owner, true) == owner)
        found = owner;
    if (found == XLM_RUN_UNKNOWN)
        found = find_from(runs, NULL, checkpoint);
    return found == XLM_RUN_UNKNOWN ? find_by_names(runs, plain, owner, false) : found;
}

int64_t xlm_run_last_step(const xlm_run *run)
{
    const xlm_curve *total = run->curves != NULL ? xlm_curves_find(run->curves, "train total loss") : NULL;
    const int64_t trained = total != NULL ? g_array_index(total->points, xlm_curve_point, total->points->len - 1).step : -1;
    const int64_t written = run->steps != NULL && run->steps->len > 0 ? g_array_index(run->steps, int64_t, run->steps->len - 1)
                                                                      : -1;
    return MAX(trained, written);
}

bool xlm_run_has_step(const xlm_run *run, int64_t step)
{
    const int64_t last = xlm_run_last_step(run);
    const guint written = run->steps != NULL ? run->steps->len : 0;
    if (last < 0 || step == last || (written == 0 && step < last))
        return true;
    for (guint i = 0; i < written; i++)
        if (g_array_index(run->steps, int64_t, i) == step)
            return true;
    for (guint i = 0; run->curves != NULL && i < run->curves->curves->len; i++) {
        const xlm_curve *c = run->curves->curves->pdata[i];
        if (!c->every_step && xlm_curve_find(c, step) >= 0)
            return true;
    }
    return false;
}
