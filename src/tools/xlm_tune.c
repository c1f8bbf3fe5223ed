/* xlm-mpi: xlm_tune, fine-tuning of a trained model for a task. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "tasks/tune.h"
#include "tools/program.h"

static const xlm_program program = {
    .name = "xlm_tune",
    .arguments = "JOB.conf",
    .purpose = "Fine-tune a trained cross-lingual model for a task, as a job file says, on all ranks that mpiexec or srun starts",
    .notes =
        "A job file has the sections [tune] and [task NAME]:\n"
        "\n"
        "  [tune]\n"
        "  model = run1/latest\n"
        "  train = en_ewt-ud-train.conllu.gz\n"
        "  dev = en_ewt-ud-dev.conllu.gz\n"
        "  language = en\n"
        "  output = pos\n"
        "\n"
        "  [task tagging]\n"
        "  column = upos\n"
        "\n"
        "tagging reads CoNLL-U (files named .conllu, .conllu.gz; multiword tokens and empty nodes are passed over) and lines\n"
        "`token<tab>tag` with empty lines between sentences. Words become subwords as the model's corpus did; one that yields\n"
        "none is read as <unk>. Sentences longer than `length` are cut between words, which the log counts.\n"
        "\n"
        "After each epoch the dev files are scored; the link `best` in the output directory points at the checkpoint that did\n"
        "best, `latest` at the newest. A run that is started again goes on from there, on any number of ranks; on SIGTERM,\n"
        "SIGINT or SIGUSR1 the step is finished, a checkpoint written, and the exit code is 75.\n"
        "\n"
        "Examples:\n"
        "  mpiexec -n 4 xlm_tune pos.conf\n"
        "  mpiexec -n 4 xlm_tune pos.conf --set tune.epochs=3 --set \"task tagging.column=xpos\"\n"
        "  xlm_tune --help-job\n"
        "  xlm_eval pos/best --test de_gsd-ud-test.conllu.gz --language de\n"
        "\n",
    .exit_codes =
        "  75  stopped by a signal, checkpoint written\n"
        "  78  an error in the job file\n",
};

static struct {
    char **overrides;
    char *resume;
    gboolean dry_run, help_job, profile;
    const char *job;
} said;

static const GOptionEntry options[] = {
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &said.overrides, "override a key of the job file; may be repeated",
     "SECTION.KEY=VALUE"},
    {"help-job", 0, 0, G_OPTION_ARG_NONE, &said.help_job,
     "show every section and key of a job file with type, default and meaning", NULL},
    {"resume", 'r', 0, G_OPTION_ARG_STRING, &said.resume,
     "where to start: from the newest good checkpoint in the output directory, if there is one (auto, the default); from that FILE; or "
     "from the model anew, an earlier run's checkpoints being moved aside (never)", "auto|FILE|never"},
    {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &said.dry_run, "check everything, show parameters and memory, train nothing", NULL},
    {"profile", 0, 0, G_OPTION_ARG_NONE, &said.profile, "show in the end where the time of a step went, operator by operator",
     NULL},
    G_OPTION_ENTRY_NULL};

static const xlm_program_group option_groups[] = {{"Options", options}, {NULL, NULL}};

static bool read_options(int *argc, char ***argv, GError **error)
{
    bool good = xlm_program_parse(&program, option_groups, argc, argv, error);
    if (good && !said.help_job && *argc != 2)
        good = xlm_error_set(error, EX_USAGE, "one job file is needed; see xlm_tune --help");
    said.job = (*argv)[*argc - 1];
    if (good && said.profile && said.dry_run)
        good = xlm_error_set(error, EX_USAGE, "--profile is for training; it does not go with --dry-run");
    return good;
}

static bool run_job(const xlm_comm *comm, bool *interrupted, GError **error)
{
    GError *failure = NULL;
    xlm_tune_job *job = xlm_tune_job_load(said.job, said.overrides, &failure);
    const bool never = g_strcmp0(said.resume, "never") == 0, automatic = said.resume == NULL || strcmp(said.resume, "auto") == 0;
    const xlm_run_options run = {
        .resume = never ? XLM_RESUME_NEVER : automatic ? XLM_RESUME_AUTO : XLM_RESUME_FILE,
        .resume_file = said.resume,
        .dry_run = said.dry_run,
        .profile = said.profile,
    };
    bool good = xlm_comm_agree(comm, &failure);
    if (good)
        good = xlm_tune(comm, job, &run, interrupted, error);
    else
        g_propagate_error(error, failure);
    xlm_tune_job_free(job);
    return good;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    const bool good = read_options(&argc, &argv, &error);
    if (good && said.help_job) {
        xlm_tune_job_print_help(stdout);
        return fflush(stdout) == 0 ? EX_OK : EX_IOERR;
    }
    xlm_comm comm;
    bool interrupted = false;
    xlm_comm_open(&comm, program.name, &argc, &argv);
    if (good)
        run_job(&comm, &interrupted, &error);
    g_strfreev(said.overrides);
    g_free(said.resume);
    const int code = xlm_comm_close(&comm, error);
    return code == EX_OK && interrupted ? EX_TEMPFAIL : code;
}
