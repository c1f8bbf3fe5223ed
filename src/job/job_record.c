/* xlm-mpi: the record of a run's job: job.conf in the output directory, and the text in checkpoints.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/job_record.h"

#include <string.h>

#include "base/log.h"
#include "files/files.h"
#include "files/new_file.h"
#include "job/adapters.h"
#include "job/job_changes.h"
#include "options/options.h"
#include "store/store.h"

static const char FIRST_WORDS[] = "# The job as it runs, with every key.";
static const char *const names[] = {"job.conf", "job-as-run.conf"};

static bool is_there(const char *directory, const char *name)
{
    g_autofree char *path = g_build_filename(directory, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static bool is_record(const char *directory, const char *name)
{
    g_autofree char *path = g_build_filename(directory, name, NULL), *text = NULL;
    return xlm_files_load(path, &text, NULL, NULL) && g_str_has_prefix(text, FIRST_WORDS);
}

const char *xlm_job_record_name(const char *directory)
{
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (is_record(directory, names[i]))
            return names[i];
    return NULL;
}

bool xlm_job_record_write(const xlm_comm *comm, const char *directory, const char *text, GError **error)
{
    GError *failure = NULL;
    if (comm->rank == 0) {
        const bool taken = is_there(directory, names[0]) && !is_record(directory, names[0]);
        const char *name = names[taken];
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autofree char *whole =
            g_strdup_printf("%s Written by %s (xlm-mpi %s), anew whenever the run is started;\n# %s %s runs it again.\n\n%s",
                            FIRST_WORDS, g_get_prgname(), PACKAGE_VERSION, g_get_prgname(), path, text);
        if (taken)
            xlm_log_info("%s/%s is not this program's and stays as it is; the job with every key is in %s", directory, names[0],
                         path);
        /* An earlier record is replaced, even if it is the job file of this run. */
        if (is_record(directory, name) || xlm_files_check_output(path, false, &failure))
            xlm_new_file_replace(path, whole, &failure);
    }
    return xlm_comm_agree_on(comm, failure, error);
}

bool xlm_job_record_model(const char *directory, xlm_model_config *model)
{
    const char *name = xlm_job_record_name(directory);
    g_autofree char *path = name != NULL ? g_build_filename(directory, name, NULL) : NULL;
    xlm_jobfile *file = path != NULL ? xlm_jobfile_load(path, xlm_job_kinds, NULL, NULL) : NULL;
    *model = (xlm_model_config){0};
    const bool good = file != NULL && xlm_options_read(xlm_model_options, file, "model", model, NULL) &&
                      xlm_job_adapters_read(file, &model->adapters, NULL);
    xlm_jobfile_free(file);
    return good;
}

char *xlm_job_record_of_checkpoint(const char *path, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    return store != NULL ? xlm_store_get_text(store, "/job", "text", error) : NULL;
}

static void log_difference(const xlm_job_difference *d)
{
    if (d->key != NULL)
        xlm_log_info("  [%s] %s: %s -> %s", d->section, d->key, *d->value[0] != '\0' ? d->value[0] : "(empty)",
                     *d->value[1] != '\0' ? d->value[1] : "(empty)");
    else
        xlm_log_info("  [%s]: %s", d->section, strcmp(d->value[0], "there") == 0 ? "section removed" : "section added");
}

/* written: a job with every key that there was then, from `source`; NULL: it could not be read, for the reason `why`. It is only
 * text: nothing that it names is loaded or read. */
static void log_changes(const char *written, const GError *why, const char *source, const xlm_job *job)
{
    if (written == NULL) {
        xlm_log_warn("keys of the job that have changed since cannot be listed: %s", why->message);
        return;
    }
    g_autofree char *complete = job->complete != NULL ? job->complete(job, written) : NULL;
    const char *const text[] = {complete != NULL ? complete : written, job->text};
    g_autoptr(GPtrArray) differences = xlm_job_differences(text, 2);
    if (differences == NULL)
        xlm_log_warn("keys of the job that have changed since cannot be listed: the job in %s is damaged", source);
    else if (differences->len > 0)
        xlm_log_info("the job has changed since (then -> now):");
    for (guint i = 0; differences != NULL && i < differences->len; i++)
        log_difference(differences->pdata[i]);
}

void xlm_job_record_log_changes(const char *checkpoint, const xlm_job *job)
{
    g_autoptr(GError) why = NULL;
    g_autofree char *written = xlm_job_record_of_checkpoint(checkpoint, &why);
    log_changes(written, why, checkpoint, job);
}

void xlm_job_record_log_changes_in(const char *directory, const xlm_job *job)
{
    const char *name = xlm_job_record_name(directory);
    g_autofree char *path = g_build_filename(directory, name != NULL ? name : names[0], NULL), *written = NULL;
    g_autoptr(GError) why = NULL;
    xlm_files_load(path, &written, NULL, &why);
    log_changes(written, why, path, job);
}
