/* xlm-mpi: xlm_train, pre-training of cross-lingual language models. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#define XLM_JOB_PART "objective, by its name or the path of its module"
#include "job/rank_inputs.h"
#include "program/job_program.h"
#include "run/check_gradients.h"
#include "run/dev_translations.h"
#include "run/measures.h"
#include "run/plan.h"

static const xlm_program program = {
    .name = "xlm_train",
    .arguments = "JOB.conf",
    .progress = true,
    .purpose = "Train a cross-lingual language model from a job file, on all ranks that mpiexec or srun starts",
    .notes =
        "Checkpoints and metrics.csv are written to the job's output directory. A run that is started again resumes from the\n"
        "newest good checkpoint there, on any number of ranks. On SIGTERM, SIGHUP, SIGINT or SIGUSR1 the step is finished, a\n"
        "checkpoint is written, and the exit code is 75: the same command, without --resume FILE or never, resumes from there.\n"
        "If mpiexec kills the ranks before the step is done, as Open MPI does after Ctrl-C, the checkpoint of the last finished\n"
        "step is written in the background, and stopped.log in the output directory reports it.\n\n"
        "Examples:\n"
        "  mpiexec -n 4 xlm_train job.conf\n"
        "  mpiexec -n 4 xlm_train job.conf --set train.steps=500 --set \"stream mono.batch=64\"\n"
        "  xlm_train job.conf --dry-run\n"
        "  mpiexec -n 2 xlm_train job.conf --plan --ranks=2,16,64,256 --network=25\n"
        "  xlm_train --help-job\n\n",
    .files =
        "  OUTPUT/checkpoint-STEP.h5  model, optimiser and vocabulary after STEP updates; h5dump shows them\n"
        "  OUTPUT/latest              link to the newest checkpoint\n"
        "  OUTPUT/job.conf            all keys of the run, defaults included\n"
        "  OUTPUT/best                with [evaluate]: link to the checkpoint that is the best by its choose_by\n"
        "  OUTPUT/metrics.csv         losses, perplexities, scores and times of the run\n"
        "  OUTPUT/translations.tsv    with translate: the newest translations of some held-out pairs, beside their references\n"
        "  OUTPUT/best-translations.tsv  the same of OUTPUT/best\n"
        "  OUTPUT/attention-*.h5      with translate: what the decoder attended to in them, for xlm_report\n",
    .environment =
        "  XLM_PLUGIN_PATH    folders, separated by colons, that are searched for objectives first\n",
    .exit_codes =
        "  70  also: the loss is not finite, or --check-gradients found a wrong gradient\n"
        "  73  also: another run is writing to the output directory\n"
        "  75  stopped by a signal, checkpoint written\n"
        "  78  an error in the job file\n",
};

static struct {
    xlm_job_command_line job;
    char *ranks;
    double network;
    gboolean plan, check_gradients;
    char *check_only;
} given = {.network = -INFINITY}; /* not given */

static gboolean ask_check(const gchar *option, const gchar *name, gpointer data, GError **error)
{
    (void)option, (void)data, (void)error;
    given.check_gradients = TRUE;
    g_free(given.check_only);
    given.check_only = g_strdup(name);
    return TRUE;
}

static const double NETWORK = 10; /* Gbit/s, by default */

static const GOptionEntry job_options[] = {XLM_JOB_OPTIONS(given.job), {.long_name = NULL}};

static const GOptionEntry run_options[] = {
    XLM_RUN_OPTIONS(given.job, "nothing", ": operators with calls, time, GFLOP/s, GB/s and share"),
    {"check-gradients", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, (void *)ask_check,
     "train nothing; compare the gradients of every objective, or of the one with that NAME, with differences of its loss, on a "
     "micro-batch of the next step without dropout, and show a table; for authors of plugins, with a small model", "[NAME]"},
    {.long_name = NULL}};

static const GOptionEntry plan_options[] = {
    {"plan", 0, 0, G_OPTION_ARG_NONE, &given.plan,
     "train nothing; measure a few passes on the ranks that were started, assumed to be one node, and show memory, speed, bytes "
     "sent and time for the whole job", NULL},
    {"ranks", 0, 0, G_OPTION_ARG_STRING, &given.ranks,
     "with --plan: numbers of ranks to plan for (default 1,2,4,...,256)", "N[,N...]"},
    {"network", 0, 0, G_OPTION_ARG_DOUBLE, &given.network, "with --plan: Gbit/s into and out of a node (default 10)", "GBIT"},
    {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {
    {"Job", job_options},
    {"Run", run_options},
    {"Plan", plan_options},
};

static bool check(GError **error)
{
    const xlm_job_command_line *job = &given.job;
    if (given.plan && (job->dry_run || job->dump_step != NULL || job->resume != NULL || job->profile))
        return xlm_error_set(error, EX_USAGE, "--plan cannot be combined with --dry-run, --dump-step, --resume or --profile");
    if (given.check_gradients && (given.plan || job->dry_run || job->dump_step != NULL || job->profile))
        return xlm_error_set(error, EX_USAGE, "--check-gradients cannot be combined with --plan, --dry-run, --dump-step or "
                                              "--profile");
    if (!given.plan && given.ranks != NULL)
        return xlm_error_set(error, EX_USAGE, "--ranks is for --plan; mpiexec sets the number of ranks of a job");
    if (!given.plan && given.network != -INFINITY)
        return xlm_error_set(error, EX_USAGE, "--network is for --plan");
    if (!(given.network > 0) && given.network != -INFINITY)
        return xlm_error_set(error, EX_USAGE, "--network=%g: must be more than 0 Gbit/s", given.network);
    return true;
}

/* GLib takes the word after an option whose value may be left out as its value. */
static char *explain_no_job(void)
{
    return given.check_only == NULL ? NULL : g_strdup_printf("--check-gradients has taken %s as the name of an objective: put the "
                                                             "option after the job file", given.check_only);
}

/* The numbers of --ranks. */
static GArray *read_ranks(GError **error)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(int));
    g_auto(GStrv) word = g_strsplit(given.ranks != NULL ? given.ranks : "1,2,4,8,16,32,64,128,256", ",", -1);
    if (*word == NULL)
        xlm_error_set(error, EX_USAGE, "--ranks=: needs numbers of ranks");
    for (char **at = word; *at != NULL; at++) {
        gint64 n = 0;
        if (!g_ascii_string_to_signed(*at, 10, 1, 1 << 20, &n, NULL))
            xlm_error_set(error, EX_USAGE, "--ranks=%s: \"%s\" is not a number of ranks, 1 to 1048576", given.ranks, *at);
        if (*error != NULL)
            break;
        const int number = (int)n;
        g_array_append_val(ranks, number);
    }
    return ranks;
}

static bool plan(const xlm_comm *comm, const xlm_job *job, const xlm_training_data *data, GError **error)
{
    g_autoptr(GArray) ranks = read_ranks(error);
    const xlm_plan_options options = {
        .n = (int)ranks->len,
        .ranks = (const int *)(const void *)ranks->data,
        .network = (given.network > 0 ? given.network : NETWORK) / 8e-9,
    };
    return xlm_comm_agree(comm, error) && xlm_plan(comm, job, data, &options, error);
}

typedef struct work {
    xlm_job *job;
    xlm_corpus *corpus;
    xlm_dev_translations *dev; /* NULL: none are asked for */
} work;

static void close_work(void *data)
{
    work *w = data;
    xlm_dev_translations_close(w->dev);
    xlm_corpus_close(w->corpus);
    xlm_job_free(w->job);
    g_free(w);
}

static void *open_work(const char *path, char *const *overrides, GError **error)
{
    work *w = g_new0(work, 1);
    w->job = xlm_job_load(path, overrides, error);
    if (w->job != NULL && xlm_check_gradients_has(w->job, given.check_only, error))
        w->corpus = xlm_corpus_open(w->job->train.corpus, error);
    if (w->corpus != NULL && w->job->evaluate.translate != NULL)
        w->dev = xlm_dev_translations_open(w->job, w->corpus, error);
    if (w->corpus != NULL && (w->dev != NULL || w->job->evaluate.translate == NULL))
        return w;
    close_work(w);
    return NULL;
}

/* What [evaluate] asks for. settings: of xlm_measures_settings. */
static xlm_validation validation_of(const work *w, const char *settings)
{
    const xlm_evaluate_config *c = &w->job->evaluate;
    xlm_validation v = w->dev != NULL ? xlm_dev_translations_validation(w->dev) : (xlm_validation){.split = "held_out"};
    v.losses = true;
    v.choose_by = c->choose_by;
    v.settings = settings;
    v.older = w->dev != NULL && strcmp(c->choose_by[0], xlm_evaluate_metrics[c->metric]) == 0 && c->choose_by[1] == NULL;
    v.state = XLM_CHECKPOINT_BEST_HELD_OUT;
    v.of = XLM_CHECKPOINT_BEST_HELD_OUT_OF;
    v.from = XLM_CHECKPOINT_FROM_BEST_HELD_OUT;
    v.patience = c->patience;
    return v;
}

static bool run(const xlm_comm *comm, void *data, xlm_run_options options, bool *interrupted, GError **error)
{
    const work *w = data;
    uint64_t digest = 0;
    GError *failure = NULL;
    if (!xlm_rank_inputs_check(comm, w->job->text, w->job->train.corpus, xlm_corpus_sizes_digest(w->corpus), error))
        return false;
    if (comm->rank == 0)
        xlm_corpus_text_digest(w->corpus, &digest, &failure);
    if (!xlm_comm_agree_on(comm, failure, error))
        return false;
    xlm_comm_broadcast(comm, 0, &digest, sizeof digest);
    xlm_training_data text = {
        .vocabulary = xlm_corpus_vocabulary(w->corpus), .digest = xlm_corpus_digest(w->corpus), .text_digest = digest,
        .input = xlm_stream_text(w->corpus),
    };
    if (w->dev != NULL)
        text.validation = xlm_dev_translations_plan(w->dev);
    const xlm_job *job = w->job;
    g_autofree char *settings = job->evaluate.given ? xlm_measures_settings(job, job->evaluate.choose_by) : NULL;
    const xlm_validation validation = job->evaluate.given ? validation_of(w, settings) : (xlm_validation){.data = NULL};
    options.validation = job->evaluate.given ? &validation : NULL;
    options.check_gradients = given.check_gradients;
    options.check_only = given.check_only;
    return given.plan ? plan(comm, job, &text, error) : xlm_run(comm, job, &text, &options, interrupted, error);
}

int main(int argc, char **argv)
{
    const xlm_job_program self = {
        .program = &program,
        .groups = option_groups,
        .given = &given.job,
        .check = check,
        .explain_no_job = explain_no_job,
        .print_help = xlm_job_print_help,
        .load = open_work,
        .free = close_work,
        .run = run,
    };
    return xlm_job_program_main(&self, argc, argv);
}
