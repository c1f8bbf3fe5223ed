/* xlm-mpi: xlm_train, pre-training of cross-lingual language models. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "tools/program.h"
#include "train/plan.h"
#include "train/run.h"

static const xlm_program program = {
    .name = "xlm_train",
    .arguments = "JOB.conf",
    .purpose = "Train a cross-lingual language model as a job file says, on all ranks that mpiexec or srun starts",
    .notes =
        "Checkpoints and metrics.csv are written to the job's output directory. A run that is started again goes on from the\n"
        "newest good checkpoint there, on any number of ranks. On SIGTERM, SIGINT or SIGUSR1 the step is finished, a\n"
        "checkpoint written, and the exit code is 75: the same command goes on from there.\n"
        "\n"
        "Examples:\n"
        "  mpiexec -n 4 xlm_train job.conf\n"
        "  mpiexec -n 4 xlm_train job.conf --set train.steps=500 --set \"stream mono.batch=64\"\n"
        "  xlm_train job.conf --dry-run\n"
        "  mpiexec -n 2 xlm_train job.conf --plan --ranks=2,16,64,256 --network=25\n"
        "  xlm_train --help-job\n"
        "\n",
    .exit_codes =
        "  75  stopped by a signal, checkpoint written\n"
        "  78  an error in the job file\n",
};

static struct {
    char **overrides;
    char *resume, *dump_step, *ranks;
    double network;
    gboolean dry_run, help_job, profile, plan;
    const char *job;
} said;

static const double NETWORK = 10; /* Gbit/s, when nothing is said */

static const GOptionEntry job_options[] = {
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &said.overrides, "override a key of the job file; may be repeated", "SECTION.KEY=VALUE"},
    {"help-job", 0, 0, G_OPTION_ARG_NONE, &said.help_job, "show every section and key of a job file with type, default and meaning", NULL},
    G_OPTION_ENTRY_NULL};

static const GOptionEntry run_options[] = {
    {"resume", 'r', 0, G_OPTION_ARG_STRING, &said.resume,
     "where to start: from the newest good checkpoint in the output directory, if there is one (auto, the default); from that FILE; or "
     "from nothing, an earlier run's checkpoints being moved aside (never)", "auto|FILE|never"},
    {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &said.dry_run, "check everything, show parameters and memory, train nothing", NULL},
    {"profile", 0, 0, G_OPTION_ARG_NONE, &said.profile,
     "show in the end where the time of a step went: operators with calls, time, GFLOP/s, GB/s and share", NULL},
    {"dump-step", 0, 0, G_OPTION_ARG_FILENAME, &said.dump_step,
     "write the next step (batch, hidden states, losses, parameters, gradients; dropout off) to FILE.h5 and end", "FILE.h5"},
    G_OPTION_ENTRY_NULL};

static const GOptionEntry plan_options[] = {
    {"plan", 0, 0, G_OPTION_ARG_NONE, &said.plan,
     "train nothing; measure a few passes on the ranks that were started, taken for one node's, and show memory, speed, bytes on the "
     "wire and days for the whole job", NULL},
    {"ranks", 0, 0, G_OPTION_ARG_STRING, &said.ranks, "with --plan: numbers of ranks to plan for (default 1,2,4,...,256)", "N[,N...]"},
    {"network", 0, 0, G_OPTION_ARG_DOUBLE, &said.network, "with --plan: Gbit/s into and out of a node (default 10)", "GBIT"},
    G_OPTION_ENTRY_NULL};

static const xlm_program_group option_groups[] = {{"Job", job_options}, {"Run", run_options}, {"Plan", plan_options}, {NULL, NULL}};

static bool read_options(int *argc, char ***argv, GError **error)
{
    bool good = xlm_program_parse(&program, option_groups, argc, argv, error);
    if (good && !said.help_job && *argc != 2)
        good = xlm_error_set(error, EX_USAGE, "one job file is needed; see xlm_train --help");
    said.job = (*argv)[*argc - 1];
    if (good && said.dry_run && said.dump_step != NULL)
        good = xlm_error_set(error, EX_USAGE, "--dry-run and --dump-step do not go together");
    if (good && said.plan && (said.dry_run || said.dump_step != NULL || said.resume != NULL || said.profile))
        good = xlm_error_set(error, EX_USAGE, "--plan does not go with --dry-run, --dump-step, --resume and --profile");
    if (good && said.profile && (said.dry_run || said.dump_step != NULL))
        good = xlm_error_set(error, EX_USAGE, "--profile is for training; it does not go with --dry-run and --dump-step");
    if (good && !said.plan && said.ranks != NULL)
        good = xlm_error_set(error, EX_USAGE, "--ranks is for --plan; mpiexec says on how many ranks a job runs");
    if (good && !said.plan && said.network != 0)
        good = xlm_error_set(error, EX_USAGE, "--network is for --plan");
    if (good && !(said.network >= 0))
        good = xlm_error_set(error, EX_USAGE, "--network=%g: Gbit/s are more than 0", said.network);
    return good;
}

/* The numbers of --ranks. */
static GArray *read_ranks(GError **error)
{
    GArray *ranks = g_array_new(FALSE, FALSE, sizeof(int));
    char **word = g_strsplit(said.ranks != NULL ? said.ranks : "1,2,4,8,16,32,64,128,256", ",", -1);
    for (char **at = word; *at != NULL; at++) {
        gint64 n = 0;
        if (!g_ascii_string_to_signed(*at, 10, 1, 1 << 20, &n, NULL))
            xlm_error_set(error, EX_USAGE, "--ranks=%s: \"%s\" is not a number of ranks, 1 to 1048576", said.ranks, *at);
        if (*error != NULL)
            break;
        const int number = (int)n;
        g_array_append_val(ranks, number);
    }
    g_strfreev(word);
    return ranks;
}

static bool plan(const xlm_comm *comm, const xlm_job *job, const xlm_material *material, GError **error)
{
    GError *failure = NULL;
    GArray *ranks = read_ranks(&failure);
    const xlm_plan_options options = {.n = (int)ranks->len, .ranks = (const int *)(const void *)ranks->data, .network = (said.network > 0 ? said.network : NETWORK) / 8e-9};
    const bool good = xlm_comm_agree(comm, &failure) && xlm_plan(comm, job, material, &options, &failure);
    g_array_unref(ranks);
    if (!good)
        g_propagate_error(error, failure);
    return good;
}

static bool train(const xlm_comm *comm, const xlm_job *job, const xlm_material *material, bool *interrupted, GError **error)
{
    if (said.plan)
        return plan(comm, job, material, error);
    const bool never = g_strcmp0(said.resume, "never") == 0, automatic = said.resume == NULL || strcmp(said.resume, "auto") == 0;
    const xlm_run_options options = {
        .resume = never ? XLM_RESUME_NEVER : automatic ? XLM_RESUME_AUTO : XLM_RESUME_FILE,
        .resume_file = said.resume,
        .dry_run = said.dry_run,
        .dump_step = said.dump_step,
        .profile = said.profile,
    };
    return xlm_run(comm, job, material, &options, interrupted, error);
}

static bool run_job(const xlm_comm *comm, bool *interrupted, GError **error)
{
    GError *failure = NULL;
    xlm_job *job = xlm_job_load(said.job, said.overrides, &failure);
    xlm_corpus *corpus = job != NULL ? xlm_corpus_open(job->train.corpus, &failure) : NULL;
    bool good = xlm_comm_agree(comm, &failure);
    if (good) {
        const xlm_material material = xlm_material_of_corpus(corpus);
        good = train(comm, job, &material, interrupted, error);
    } else {
        g_propagate_error(error, failure);
    }
    xlm_corpus_close(corpus);
    xlm_job_free(job);
    return good;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    const bool good = read_options(&argc, &argv, &error);
    if (good && said.help_job) {
        xlm_job_print_help(stdout);
        return fflush(stdout) == 0 ? EX_OK : EX_IOERR;
    }
    xlm_comm comm;
    bool interrupted = false;
    xlm_comm_open(&comm, program.name, &argc, &argv);
    if (good)
        run_job(&comm, &interrupted, &error);
    g_strfreev(said.overrides);
    g_free(said.resume);
    g_free(said.dump_step);
    g_free(said.ranks);
    const int code = xlm_comm_close(&comm, error);
    return code == EX_OK && interrupted ? EX_TEMPFAIL : code;
}
