/* xlm-mpi: the numbers of a run in files: metrics.csv, and events for TensorBoard. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/metrics_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "files/files.h"
#include "files/new_file.h"
#include "run/events.h"
#include "run/validation.h"

static const char HEADER[] = "step,split,objective,language,terms,loss,perplexity,accuracy,learning_rate,"
                             "gradient_norm,tokens,seconds,score\n";

struct xlm_metrics_file {
    const char *output;
    FILE *rows;
    xlm_events *events; /* NULL: there are none, or they could not be written */
    int64_t evaluated;  /* the last step with rows of held-out text; -1: none */
    bool write_failed, rows_removed, directory_removed; /* each is warned of once */
};

/* Is it a row of losses on held-out text, after the step's number? */
static bool is_held_out(const char *line)
{
    return g_str_has_prefix(line + strspn(line, G_CSET_DIGITS), "," XLM_SPLIT_HELD_OUT ",");
}

/* [out] rows: up to and with `step` of an earlier run's file, g_free; NULL when there is none. [out] evaluated: the last step with
 * losses on held-out text among them; -1: none. */
static bool rows_up_to(const char *path, int64_t step, char **rows, int64_t *evaluated, GError **error)
{
    *evaluated = -1;
    char *text = NULL;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return true;
    g_autoptr(GError) why = NULL;
    if (!xlm_files_load(path, &text, NULL, &why))
        return xlm_error_set(error, xlm_error_exit_code(why), "%s: the rows of the run so far cannot be read: %s; move it away to "
                             "go on without them", path, why->message);
    char *end = text;
    for (char *line = text; *line != '\0';) {
        char *next = strchr(line, '\n');
        if (next == NULL)
            break; /* a line cut short by a crash */
        const int64_t of = g_ascii_isdigit(*line) ? g_ascii_strtoll(line, NULL, 10) : -1;
        if (of > step)
            break;
        if (of >= 0 && is_held_out(line))
            *evaluated = of;
        line = end = next + 1;
    }
    *end = '\0';
    *rows = text;
    return true;
}

/* Earlier rows are written to a new file that replaces the old one, so that they are not lost if the disk is full. */
static FILE *open_rows(const char *output, bool resumed, int64_t step, int64_t *evaluated, GError **error)
{
    g_autofree char *path = g_build_filename(output, "metrics.csv", NULL);
    g_autofree char *rows = NULL;
    if (resumed && !rows_up_to(path, step, &rows, evaluated, error))
        return NULL;
    const char *text = rows != NULL && *rows != '\0' ? rows : HEADER;
    if (!xlm_files_check_output(path, false, error) || !xlm_new_file_replace(path, text, error))
        return NULL;
    FILE *file = fopen(path, "a");
    if (file == NULL)
        xlm_new_file_failed(path, "cannot be written", errno, error);
    return file;
}

/* Rows written to a removed file are lost without an error, and without its directory no checkpoint can be made. When a
 * directory is removed, its files are removed first, so one may be seen a while before the other: each is reported once. */
static void warn_of_removal(xlm_metrics_file *f)
{
    const char *directory = f->output;
    struct stat is;
    if (f->directory_removed || fstat(fileno(f->rows), &is) != 0 || is.st_nlink > 0)
        return;
    if (!g_file_test(directory, G_FILE_TEST_IS_DIR)) {
        f->directory_removed = true;
        xlm_log_warn("%s: was removed while the run writes there; make the directory again before the next checkpoint, or what "
                     "was learned is lost", directory);
    } else if (!f->rows_removed) {
        xlm_log_warn("%s/metrics.csv: was removed while the run writes it; the rows from here on are lost", directory);
    }
    f->rows_removed = true;
}

xlm_metrics_file *xlm_metrics_file_open(const char *output, const char *events, bool resumed, int64_t step, GError **error)
{
    xlm_metrics_file *f = g_new0(xlm_metrics_file, 1);
    bool others = false;
    f->output = output;
    f->evaluated = -1;
    /* The file of events first: a run that cannot begin leaves the rows of an earlier one as they are. */
    if ((events == NULL || (f->events = xlm_events_open(events, resumed ? step + 1 : 0, &others, error)) != NULL) &&
        (f->rows = open_rows(output, resumed, step, &f->evaluated, error)) != NULL) {
        if (others && !resumed)
            xlm_log_warn("%s: has events of an earlier run, in place of which TensorBoard will show those of this one", events);
        return f;
    }
    if (f->events != NULL)
        unlink(xlm_events_path(f->events)); /* it would hide the values of earlier files */
    xlm_metrics_file_close(f);
    return NULL;
}

void xlm_metrics_file_close(xlm_metrics_file *file)
{
    if (file == NULL)
        return;
    if (file->rows != NULL) {
        xlm_metrics_file_flush(file);
        fclose(file->rows);
    }
    xlm_events_close(file->events);
    g_free(file);
}

void xlm_metrics_file_flush(xlm_metrics_file *file)
{
    const bool failed = fflush(file->rows) != 0 || ferror(file->rows);
    if (failed && !file->write_failed)
        xlm_log_warn("%s/metrics.csv: rows were lost: %s", file->output, g_strerror(errno));
    file->write_failed |= failed;
    warn_of_removal(file);
    if (file->events != NULL && !xlm_events_flush(file->events)) {
        xlm_log_warn("%s: events from here on are lost: %s", xlm_events_path(file->events), g_strerror(errno));
        xlm_events_close(file->events);
        file->events = NULL;
    }
}

/* A value among the events, if there are any. */
static void add_event(xlm_metrics_file *file, int64_t step, const char *split, const char *objective, const char *quantity,
                      const char *language, double value)
{
    const bool named = *language != '\0' && strcmp(language, "all") != 0 && strcmp(language, XLM_MEAN_LANGUAGE) != 0;
    if (file->events == NULL)
        return;
    g_autofree char *tag = g_strconcat(split, "/", objective, *quantity != '\0' ? "/" : "", quantity, named ? "/" : "",
                                       named ? language : "", NULL);
    xlm_events_add(file->events, step, tag, value);
}

void xlm_metrics_file_step(xlm_metrics_file *file, int64_t step, const xlm_step_numbers *numbers)
{
    const struct { const char *name; double value; } values[] = {
        {"loss", numbers->loss}, {"learning_rate", numbers->learning_rate}, {"gradient_norm", numbers->gradient_norm},
        {"tokens", (double)numbers->tokens}, {"seconds", numbers->seconds}};
    fprintf(file->rows, "%" G_GINT64_FORMAT ",train,total,,,%.10g,,,%.9g,%.9g,%" G_GINT64_FORMAT ",%.4g,\n", step, numbers->loss,
            numbers->learning_rate, numbers->gradient_norm, numbers->tokens, numbers->seconds);
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
        add_event(file, step, "train", "total", values[i].name, "", values[i].value);
}

void xlm_metrics_file_loss(xlm_metrics_file *file, int64_t step, const char *split, const char *objective, const char *language,
                           int64_t terms, double loss, double perplexity, double accuracy)
{
    fprintf(file->rows, "%" G_GINT64_FORMAT ",%s,%s,%s,%" G_GINT64_FORMAT ",%.10g,", step, split, objective, language, terms,
            loss);
    if (strcmp(split, XLM_SPLIT_HELD_OUT) == 0)
        file->evaluated = step;
    add_event(file, step, split, objective, "loss", language, loss);
    if (isnan(perplexity)) {
        fputs(",,,,,,\n", file->rows);
        return;
    }
    fprintf(file->rows, "%.10g,%.6g,,,,,\n", perplexity, accuracy);
    add_event(file, step, split, objective, "perplexity", language, perplexity);
    add_event(file, step, split, objective, "accuracy", language, accuracy);
}

void xlm_metrics_file_metric(xlm_metrics_file *file, int64_t step, const char *split, const char *objective, const char *metric,
                             const char *language, int64_t count, double value)
{
    fprintf(file->rows, "%" G_GINT64_FORMAT ",%s,%s%s%s,%s,%" G_GINT64_FORMAT ",,,,,,,,%.10g\n", step, split, objective,
            *metric != '\0' ? "/" : "", metric, language, count, value);
    add_event(file, step, split, objective, metric, language, value);
}

int64_t xlm_metrics_file_evaluated(const xlm_metrics_file *file) { return file->evaluated; }
