/* xlm-mpi: a new run from the model of another one. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/warm_start.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "checkpoint/checkpoint_check.h"
#include "files/files.h"
#include "model/model_attributes.h"
#include "model/row_sources.h"
#include "nn/block.h"
#include "nn/layer.h"

/* A checkpoint that parameters are taken from, and which were taken, drawn and left. */
typedef struct source {
    const xlm_job *job;
    char *path;               /* without symbolic links, so that header and arrays are of one file */
    xlm_loaded_model *loaded; /* without values */
    xlm_store *store;
    xlm_row_sources *subwords, *languages;
    int64_t taken, copied;    /* parameters; copied: of these, for the decoder from the encoder */
    GPtrArray *drawn, *left;  /* char *: names */
    GPtrArray *objectives;    /* const char *: from which parameters were taken */
} source;

/* ---- opening ---- */

static void close_source(source *s)
{
    xlm_store_close(s->store);
    xlm_model_file_free(s->loaded);
    xlm_row_sources_free(s->subwords);
    xlm_row_sources_free(s->languages);
    g_ptr_array_unref(s->drawn);
    g_ptr_array_unref(s->left);
    g_ptr_array_unref(s->objectives);
    free(s->path);
}

static bool check_vocabulary(const source *s, const xlm_vocabulary *vocabulary, GError **error)
{
    const char *start = s->job->train.start;
    g_autoptr(GError) why = NULL;
    if (xlm_vocabulary_extends(s->loaded->vocabulary, vocabulary, &why))
        return true;
    xlm_error_set(error, EX_DATAERR, "%s: its vocabulary is not that of %s: %s; prepare the text with xlm_prep --like %s", start,
                  s->job->train.corpus, why->message, start);
    return false;
}

/* The source must be closed even if this fails. */
static bool open_source(source *s, const xlm_job *job, const xlm_vocabulary *vocabulary, GError **error)
{
    *s = (source){.job = job, .path = realpath(job->train.start, NULL),
                  .drawn = g_ptr_array_new_with_free_func(g_free), .left = g_ptr_array_new_with_free_func(g_free),
                  .objectives = g_ptr_array_new()};
    if (s->path == NULL)
        return xlm_error_set(error, EX_NOINPUT, "%s: %s; give [train] start another checkpoint", job->train.start,
                             g_strerror(errno));
    const bool average = job->train.start_rows == XLM_START_AVERAGE;
    if ((s->loaded = xlm_model_file_read_header(s->path, error)) == NULL || !check_vocabulary(s, vocabulary, error) ||
        (s->store = xlm_store_open(s->path, error)) == NULL)
        return false;
    s->subwords = xlm_row_sources_of_subwords(s->loaded->vocabulary, vocabulary, average);
    s->languages = xlm_row_sources_of_languages(s->loaded->vocabulary, vocabulary, average);
    return true;
}

bool xlm_warm_start_check(const xlm_job *job, const xlm_vocabulary *vocabulary, GError **error)
{
    source s;
    const bool good = open_source(&s, job, vocabulary, error);
    close_source(&s);
    return good;
}

/* ---- parameters of the model ---- */

/* Where the rows of a parameter come from; NULL: it has none for subwords or languages. *cols: numbers in such a row. */
static const xlm_row_sources *rows_of(const source *s, const xlm_parameter *here, int64_t *cols)
{
    *cols = here->cols;
    const char *part = xlm_part_of(here->name);
    if (xlm_part_is_of_languages(part))
        return s->languages;
    if (strcmp(part, "embeddings/word/weight") == 0)
        return s->subwords;
    *cols = 1;
    return strcmp(part, "lm_head/bias") == 0 ? s->subwords : NULL;
}

static bool take(source *s, const xlm_parameter *there, const xlm_parameter *here, float *values, GError **error)
{
    int64_t cols;
    const xlm_row_sources *rows = rows_of(s, here, &cols);
    if (rows == NULL && (there->rows != here->rows || there->cols != here->cols))
        return xlm_error_set(error, EX_DATAERR, "%s: %s is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT " there, %" G_GINT64_FORMAT
                             " x %" G_GINT64_FORMAT " here", s->job->train.start, here->name, there->rows, there->cols,
                             here->rows, here->cols);
    s->taken++;
    if (rows == NULL)
        return xlm_model_file_read_array(s->store, "/model", there, false, values, error);
    g_autofree float *read = g_new(float, there->rows * there->cols);
    const bool good = xlm_model_file_read_array(s->store, "/model", there, false, read, error);
    if (good)
        xlm_row_sources_apply(rows, cols, read, values);
    return good;
}

/* The name of the encoder's parameter from which one of the decoder, which the checkpoint lacks, starts. g_free; NULL: it is
 * drawn. */
static char *find_like(const source *s, const char *name)
{
    static const char memory[] = "memory_attention/", self[] = "attention/";
    const char *rest;
    const xlm_layer layer = xlm_layer_of(name, &rest);
    const bool decoder = s->loaded->config.decoder_layers > 0;
    const int64_t how = s->job->train.start_decoder;
    if (xlm_part_of(name) != name) /* a decoder that is there reads the encoder's */
        return decoder || how != XLM_START_DECODER_DRAW ? g_strdup(xlm_part_of(name)) : NULL;
    const bool to_memory = g_str_has_prefix(rest, memory);
    if (layer.stack != XLM_STACK_DECODER || decoder || how == XLM_START_DECODER_DRAW ||
        (to_memory && how != XLM_START_DECODER_COPY))
        return NULL;
    char like[XLM_BLOCK_NAME];
    g_autofree char *block = to_memory ? g_strconcat(self, rest + strlen(memory), NULL) : g_strdup(rest);
    xlm_layer_name(&s->loaded->config, (xlm_layer){XLM_STACK_ENCODER, layer.number}, block, like, sizeof like);
    return g_strdup(like);
}

static bool take_of_model(source *s, const xlm_parameter *here, float *values, GError **error)
{
    int at = xlm_parameters_find(s->loaded->parameters, here->name);
    if (at < 0) {
        g_autofree char *like = find_like(s, here->name);
        at = like != NULL ? xlm_parameters_find(s->loaded->parameters, like) : -1;
        s->copied += at >= 0;
    }
    if (at >= 0)
        return take(s, xlm_parameters_get(s->loaded->parameters, at), here, values, error);
    g_ptr_array_add(s->drawn, g_strdup(here->name));
    return true;
}

/* ---- parameters of objectives ---- */

/* The name of a module without its folder and ending. g_free. */
static char *plugin_name(const char *plugin)
{
    char *name = g_path_get_basename(plugin);
    if (g_str_has_suffix(name, ".so"))
        name[strlen(name) - 3] = '\0';
    return name;
}

/* The checkpoint's run had an objective of this name and plugin. */
static bool had_objective(const xlm_jobfile *there, const xlm_job_objective *o)
{
    g_autofree char *section = g_strdup_printf("objective %s", o->name);
    bool had = there != NULL && xlm_jobfile_has(there, section);
    if (had) {
        g_autofree char *plugin = xlm_jobfile_value(there, section, "plugin");
        g_autofree char *name = plugin_name(plugin != NULL && *plugin != '\0' ? plugin : o->name);
        g_autofree char *wanted = plugin_name(o->plugin);
        had = strcmp(name, wanted) == 0;
    }
    return had;
}

/* The job file that the checkpoint was trained by; NULL when it is not one of training. */
static xlm_jobfile *read_job(const source *s)
{
    g_autofree char *text = s->loaded->task == NULL ? xlm_store_get_text(s->store, "/job", "text", NULL) : NULL;
    return text != NULL ? xlm_jobfile_parse("job", text, strlen(text), xlm_job_kinds, NULL, NULL) : NULL;
}

/* The checkpoint has this parameter of an objective in this shape. */
static bool has_shape(const source *s, const xlm_parameter *here)
{
    g_autofree char *path = xlm_parameter_path("/model", here);
    return xlm_model_file_check_shape(s->store, path, here, NULL) == XLM_FILE_GOOD;
}

/* The job's objective that declared a parameter. */
static const xlm_job_objective *declared_by(const xlm_job *job, const xlm_parameter *parameter)
{
    for (int k = 0; k < job->objectives; k++) {
        g_autofree char *prefix = g_strdup_printf("objectives/%s/", job->objective[k].name);
        const bool own = g_str_has_prefix(parameter->name, prefix);
        if (own)
            return &job->objective[k];
    }
    g_assert_not_reached();
}

static bool take_of_objective(source *s, const xlm_jobfile *there, const xlm_parameter *here, float *values, GError **error)
{
    const xlm_job_objective *objective = declared_by(s->job, here);
    if (had_objective(there, objective) && has_shape(s, here)) {
        g_ptr_array_add(s->objectives, objective->name);
        return take(s, here, here, values, error);
    }
    g_ptr_array_add(s->drawn, g_strdup(here->name));
    return true;
}

/* ---- all of them ---- */

/* List the parameters of the model, and the objectives, from which the run takes nothing. */
static void list_left(source *s, const xlm_parameters *parameters)
{
    for (int i = 0; i < xlm_parameters_count(s->loaded->parameters); i++) {
        const char *name = xlm_parameters_get(s->loaded->parameters, i)->name;
        if (xlm_parameters_find(parameters, name) < 0)
            g_ptr_array_add(s->left, g_strdup(name));
    }
    g_auto(GStrv) objectives = xlm_store_has(s->store, "/objectives") ? xlm_store_list(s->store, "/objectives", NULL) : NULL;
    for (char **objective = objectives; objective != NULL && *objective != NULL; objective++)
        if (!g_ptr_array_find_with_equal_func(s->objectives, *objective, g_str_equal, NULL))
            g_ptr_array_add(s->left, g_strconcat("objectives/", *objective, NULL));
}

static bool take_all(source *s, bool objectives, xlm_parameters *parameters, GError **error)
{
    xlm_jobfile *there = objectives ? read_job(s) : NULL;
    bool good = true;
    for (int i = 0; i < xlm_parameters_count(parameters) && good; i++) {
        const xlm_parameter *here = xlm_parameters_get(parameters, i);
        float *values = xlm_parameters_values(parameters) + here->start;
        good = g_str_has_prefix(here->name, "objectives/") ? take_of_objective(s, there, here, values, error)
                                                           : take_of_model(s, here, values, error);
    }
    xlm_jobfile_free(there);
    if (good)
        list_left(s, parameters);
    return good;
}

/* ---- the log ---- */

static void log_rows(const char *what, const xlm_row_sources *rows)
{
    if (rows->taken < rows->rows || rows->left > 0)
        xlm_log_info("  rows of %s: %" G_GINT64_FORMAT " taken, %" G_GINT64_FORMAT " new as means of others, %" G_GINT64_FORMAT
                     " new as drawn; %" G_GINT64_FORMAT " left", what, rows->taken, rows->averaged, rows->drawn, rows->left);
}

/* "a, b and 3 more". g_free. */
static char *some_of(const GPtrArray *names)
{
    enum { MAX_SHOWN = 8 };
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < MIN(names->len, MAX_SHOWN); i++)
        g_string_append_printf(text, "%s%s", i > 0 ? ", " : "", (const char *)names->pdata[i]);
    if (names->len > MAX_SHOWN)
        g_string_append_printf(text, " and %u more", names->len - MAX_SHOWN);
    return g_string_free(text, FALSE);
}

static void log_names(const char *what, const GPtrArray *names)
{
    g_autofree char *text = some_of(names);
    if (names->len > 0)
        xlm_log_info("  %s: %s", what, text);
}

static bool is_drawn(const source *s, const char *name)
{
    return g_ptr_array_find_with_equal_func(s->drawn, name, g_str_equal, NULL);
}

/* What is drawn and frozen never learns: whole parameters, and rows of new subwords and languages. */
static void warn_of_frozen(const source *s, const xlm_parameters *parameters)
{
    g_autoptr(GPtrArray) whole = g_ptr_array_new(), some = g_ptr_array_new();
    for (int i = 0; i < xlm_parameters_count(parameters); i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        int64_t cols;
        const xlm_row_sources *rows = rows_of(s, p, &cols);
        if (p->rate <= 0 && is_drawn(s, p->name))
            g_ptr_array_add(whole, p->name);
        else if (p->rate <= 0 && rows != NULL && rows->drawn > 0)
            g_ptr_array_add(some, p->name);
    }
    g_autofree char *names = some_of(whole), *of = some_of(some);
    if (whole->len > 0)
        xlm_log_warn("drawn, and frozen by freeze or beside adapters, so that they stay as drawn: %s", names);
    if (some->len > 0)
        xlm_log_warn("new rows are drawn, and frozen by freeze or beside adapters, so that they stay as drawn: those of "
                     "%s%s", of, s->job->train.start_rows == XLM_START_AVERAGE ? ""
                                 : "; [train] start_rows = average makes them means of others");
}

/* A head that stays as it was drawn would be exported as if it had been trained. Only the objectives know which of them predict
 * words. One that is frozen has its warning. */
static void log_head(const source *s, const xlm_parameters *parameters)
{
    bool drawn = false;
    for (int i = 0; i < xlm_parameters_count(parameters) && !drawn; i++) {
        const xlm_parameter *p = xlm_parameters_get(parameters, i);
        drawn = p->rate > 0 && g_str_has_prefix(p->name, "lm_head/") && is_drawn(s, p->name);
    }
    if (drawn)
        xlm_log_info("  the checkpoint has no head for words, and a new one is drawn; if no objective of this job predicts words, it "
                     "stays so: set head = none in [model]");
}

static void log_start(const source *s, const xlm_parameters *parameters)
{
    xlm_log_info("started from the model of %s, step %" G_GINT64_FORMAT ": %" G_GINT64_FORMAT " of %d parameters taken",
                 s->job->train.start, s->loaded->step, s->taken, xlm_parameters_count(parameters));
    if (s->loaded->config.decoder_layers > 0 && s->job->train.start_decoder != XLM_START_DECODER_ENCODER)
        xlm_log_warn("[train]: start_decoder has no effect: the checkpoint has a decoder, which is taken as it is");
    if (s->copied > 0)
        xlm_log_info("  %" G_GINT64_FORMAT " of them are the encoder's, for the decoder", s->copied);
    log_names("drawn", s->drawn);
    log_head(s, parameters);
    log_names("left", s->left);
    log_rows("subwords", s->subwords);
    if (s->job->model.language_embeddings || s->job->model.language_tokens)
        log_rows("languages", s->languages);
    warn_of_frozen(s, parameters);
}

/* ---- the start ---- */

static bool start_alone(const xlm_job *job, const xlm_vocabulary *vocabulary, bool objectives, xlm_parameters *parameters,
                        xlm_start_record *record, GError **error)
{
    source s;
    char sha256[XLM_SHA256_TEXT];
    const bool good = open_source(&s, job, vocabulary, error) && take_all(&s, objectives, parameters, error) &&
                      xlm_file_sha256(s.path, sha256, NULL, NULL, error);
    if (good) {
        *record = (xlm_start_record){g_strdup(job->train.start), g_strdup(sha256), s.loaded->step,
                                      g_strdup(s.loaded->pair_form)};
        log_start(&s, parameters);
    }
    close_source(&s);
    return good;
}

bool xlm_warm_start(const xlm_comm *comm, const xlm_job *job, const xlm_vocabulary *vocabulary, bool objectives,
                    xlm_parameters *parameters, xlm_start_record *record, GError **error)
{
    GError *failure = NULL;
    xlm_start_record_clear(record);
    if (comm->rank == 0)
        start_alone(job, vocabulary, objectives, parameters, record, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, xlm_parameters_values(parameters), sizeof(float) * (size_t)xlm_parameters_size(parameters));
    xlm_start_record_share(record, comm);
    return true;
}

/* ---- a run that resumes ---- */

/* Files of up to this many bytes are read again whenever a run resumes. That takes seconds for each GiB, and every run of a large
 * model would wait for them, so that only the step of larger ones is compared. */
static const int64_t MAX_READ_AGAIN = (int64_t)256 << 20;

static bool has_other_bytes(const char *path, const xlm_start_record *record)
{
    char sha256[XLM_SHA256_TEXT];
    struct stat is;
    return stat(path, &is) == 0 && is.st_size <= MAX_READ_AGAIN && xlm_file_sha256(path, sha256, NULL, NULL, NULL) &&
           strcmp(sha256, record->sha256) != 0;
}

void xlm_warm_start_compare(const xlm_job *job, const xlm_start_record *record)
{
    const char *start = job->train.start, *output = job->train.output;
    int64_t step;
    g_autoptr(xlm_store) store = xlm_store_open(start, NULL);
    if (record->path == NULL || store == NULL || xlm_model_file_check_format(store, false, &step, NULL) != XLM_FILE_GOOD)
        return;
    static const char advice[] = "the run goes on from its own checkpoint; to begin with this model, give another output "
                                 "directory or --resume never";
    if (step != record->step)
        xlm_log_warn("%s: is of step %" G_GINT64_FORMAT ", and the run in %s began with a model of step %" G_GINT64_FORMAT
                     "; %s", start, step, output, record->step, advice);
    else if (has_other_bytes(start, record))
        xlm_log_warn("%s: is another model than the one that the run in %s began with, although both are of step "
                     "%" G_GINT64_FORMAT "; %s", start, output, step, advice);
}
