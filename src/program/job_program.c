/* xlm-mpi: code shared by xlm_train and xlm_tune, which run a job file. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/job_program.h"

#include <string.h>

#include "base/log.h"
#include "checkpoint/snapshot.h"

static struct {
    bool asked;
    char *name; /* NULL: all of the job file */
} help;

gboolean xlm_job_help_asked(const gchar *option, const gchar *name, gpointer data, GError **error)
{
    (void)option, (void)data, (void)error;
    help.asked = true;
    g_free(help.name);
    help.name = g_strdup(name);
    return TRUE;
}

static int print_help(const xlm_job_program *self)
{
    GError *error = NULL;
    if (help.name == NULL)
        printf("Relative paths, here and in --set, are relative to the working directory.\n\n");
    const bool good = self->print_help(help.name, stdout, &error);
    g_clear_pointer(&help.name, g_free);
    if (good)
        return xlm_program_printed(self->program);
    error->code = EX_USAGE;
    g_prefix_error(&error, "--help-job: ");
    xlm_log_open(self->program->name, true);
    return xlm_error_exit(error);
}

static bool check(const xlm_job_command_line *given, GError **error)
{
    if (given->dry_run && given->dump_step != NULL)
        return xlm_error_set(error, EX_USAGE, "--dry-run and --dump-step cannot be combined");
    if (given->profile && (given->dry_run || given->dump_step != NULL))
        return xlm_error_set(error, EX_USAGE, "--profile is for training; it cannot be combined with --dry-run or --dump-step");
    return true;
}

static bool has_job(const xlm_job_program *self, int argc, char *const *argv, GError **error)
{
    if (xlm_program_argument(self->program, argc, argv, "job file", error) != NULL)
        return true;
    g_autofree char *why = argc == 1 && self->explain_no_job != NULL ? self->explain_no_job() : NULL;
    if (why != NULL) {
        char *message = g_strdup_printf("%s; %s", (*error)->message, why);
        g_free((*error)->message);
        (*error)->message = message;
    }
    return false;
}

static bool read_options(const xlm_job_program *self, int *argc, char ***argv, GError **error)
{
    return xlm_program_parse(self->program, self->groups, argc, argv, error) &&
           (help.asked || has_job(self, *argc, *argv, error)) &&
           check(self->given, error) && (self->check == NULL || self->check(error));
}

static xlm_run_options make_options(const xlm_job_command_line *given)
{
    const bool never = !given->finish && g_strcmp0(given->resume, "never") == 0;
    const bool automatic = given->finish || given->resume == NULL || strcmp(given->resume, "auto") == 0;
    return (xlm_run_options){
        .resume = never ? XLM_RESUME_NEVER : automatic ? XLM_RESUME_AUTO : XLM_RESUME_FILE,
        .resume_file = given->resume,
        .dry_run = given->dry_run,
        .profile = given->profile && !given->finish,
        .finish = given->finish,
        .dump_step = given->dump_step,
    };
}

/* ---- relative paths ---- */

static char *directory_of(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    return g_canonicalize_filename(folder, NULL);
}

/* A file that a job names and that does not exist, taken from the error message, which names it between colons; NULL if there is
 * none, or its path is absolute. g_free. */
static char *find_missing(const char *job, char *const *overrides, const char *message)
{
    g_auto(GStrv) part = g_strsplit(message, ": ", -1);
    g_autofree char *text = NULL, *set = overrides != NULL ? g_strjoinv("\n", (char **)overrides) : g_strdup("");
    /* A job from a pipe cannot be read again, and reading another pipe would wait for its writer. */
    if (!g_file_test(job, G_FILE_TEST_IS_REGULAR) || !g_file_get_contents(job, &text, NULL, NULL))
        text = g_strdup("");
    for (char **at = part; *at != NULL; at++)
        if (**at != '\0' && **at != '[' && !g_path_is_absolute(*at) && !g_file_test(*at, G_FILE_TEST_EXISTS) &&
            (strstr(text, *at) != NULL || strstr(set, *at) != NULL))
            return g_strdup(*at);
    return NULL;
}

/* Adds to the error where a file was searched for that the job names by a relative path. */
static void explain_missing(const char *job, char *const *overrides, GError **error)
{
    g_autofree char *missing = find_missing(job, overrides, (*error)->message);
    if (missing == NULL)
        return;
    g_autofree char *here = g_get_current_dir(), *folder = directory_of(job), *beside = g_build_filename(folder, missing, NULL);
    GString *text = g_string_new((*error)->message);
    g_string_append_printf(text, "; relative paths in a job file and in --set are relative to the working directory, %s", here);
    if (g_file_test(beside, G_FILE_TEST_EXISTS))
        g_string_append_printf(text, ", where it does not exist; there is one next to the job file, %s: start the program in "
                               "that folder, or give that path", beside);
    g_free((*error)->message);
    (*error)->message = g_string_free(text, FALSE);
}

/* Once, if the user may expect another folder. */
static void say_where(const char *job)
{
    g_autofree char *here = g_get_current_dir(), *folder = directory_of(job);
    if (strcmp(here, folder) != 0)
        xlm_log_info("job: %s; relative paths in it are relative to the working directory, %s", job, here);
}

static void run_job(const xlm_job_program *self, const char *path, const xlm_comm *comm, bool *interrupted, GError **error)
{
    void *job = self->load(path, self->given->overrides, error);
    const bool loaded = xlm_comm_agree(comm, error);
    if (loaded)
        say_where(path);
    if (loaded && self->run(comm, job, make_options(self->given), interrupted, error)) {
        if (comm->rank == 0)
            xlm_program_flush(error);
        xlm_comm_agree(comm, error);
    }
    if (job != NULL)
        self->free(job);
}

int xlm_job_program_main(const xlm_job_program *self, int argc, char **argv)
{
    GError *error = NULL;
    const bool good = read_options(self, &argc, &argv, &error);
    if (good && help.asked)
        return print_help(self);
    xlm_comm comm;
    bool interrupted = false;
    if (xlm_program_open(self->program->name, &comm, &argc, &argv, &error))
        run_job(self, argv[1], &comm, &interrupted, &error);
    if (error != NULL && argc > 1 && xlm_error_exit_code(error) == EX_NOINPUT)
        explain_missing(argv[1], self->given->overrides, &error);
    if (self->given->finish && error != NULL && comm.rank == 0) {
        const xlm_run_options options = make_options(self->given);
        g_autofree char *line = g_strdup_printf("the checkpoint could not be written (%s); the next start of %s tries again",
                                                error->message, xlm_run_resuming_command(&options));
        xlm_snapshot_print_on_terminal(line);
    }
    xlm_program_free_options(self->groups);
    const int code = xlm_error_exit(error);
    return xlm_comm_close_with(&comm, code == EX_OK && interrupted ? EX_TEMPFAIL : code);
}
