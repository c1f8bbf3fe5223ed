/* xlm-mpi: xlm_tune, fine-tuning of a trained model for a task. SPDX-License-Identifier: GPL-3.0-or-later */
#define XLM_JOB_PART "task"
#include "program/job_program.h"
#include "tasks/tune.h"

static const xlm_program program = {
    .name = "xlm_tune",
    .arguments = "JOB.conf",
    .progress = true,
    .purpose = "Fine-tune a trained cross-lingual model for a task from a job file, on all ranks that mpiexec or srun starts",
    .notes =
        "A job file has the sections [tune] and [task NAME]:\n\n"
        "  [tune]\n"
        "  model = run1/latest\n"
        "  train = en_ewt-ud-train.conllu.gz\n"
        "  dev = en_ewt-ud-dev.conllu.gz\n"
        "  language = en\n"
        "  output = pos\n\n"
        "  [task tagging]\n"
        "  column = upos\n\n"
        "tagging reads CoNLL-U (files named .conllu, .conllu.gz; multiword tokens and empty nodes are skipped) and lines\n"
        "`token<tab>tag` with empty lines between sentences. Words are split into subwords as in the model's corpus; a word\n"
        "without subwords is read as <unk>. Sentences longer than `length` are cut between words; the log counts them.\n\n"
        "classification reads tables and JSON lines of labelled sentences and pairs of them (XNLI, MultiNLI, PAWS-X, GLUE as\n"
        "published, or lines `label<tab>sentence[<tab>sentence]`); the first line decides the form, which is logged.\n\n"
        "answering reads questions with contexts in SQuAD's JSON (SQuAD 1.1 and 2.0, XQuAD, MLQA, TyDiQA-GoldP), plain or compressed.\n"
        "Contexts that do not fit into `length` are read in windows, `stride` subwords apart.\n\n"
        "Write LANG:FILE for files of other languages: train = en:a.tsv,de:b.tsv trains on both files as one text; with dev =\n"
        "en:c.tsv,de:d.tsv each language is scored separately, and the best checkpoint is chosen by the mean of their first\n"
        "measures.\n\n"
        "After each epoch the dev files are scored; the link `best` in the output directory points to the checkpoint with the\n"
        "best score, `latest` to the newest. A run that is started again resumes from there, on any number of ranks; on\n"
        "SIGTERM, SIGHUP, SIGINT or SIGUSR1 the step is finished, a checkpoint is written, and the exit code is 75. If mpiexec\n"
        "kills the ranks before the step is done, as Open MPI does after Ctrl-C, the checkpoint of the last finished step is\n"
        "written in the background, and stopped.log in the output directory reports it.\n\n"
        "Examples:\n"
        "  mpiexec -n 4 xlm_tune pos.conf\n"
        "  mpiexec -n 4 xlm_tune pos.conf --set tune.epochs=3 --set \"task tagging.column=xpos\"\n"
        "  xlm_tune --help-job\n"
        "  xlm_eval pos/best --test en:en_ewt-ud-test.conllu.gz --test de:de_gsd-ud-test.conllu.gz\n\n",
    .files =
        "  OUTPUT/checkpoint-STEP.h5  the fine-tuned model after STEP updates\n"
        "  OUTPUT/best                link to the checkpoint with the best score on the dev files\n"
        "  OUTPUT/latest              link to the newest checkpoint\n"
        "  OUTPUT/average.h5          with average = K, the mean of K checkpoints\n"
        "  OUTPUT/job.conf            all keys of the run, defaults included\n"
        "  OUTPUT/metrics.csv         losses, scores and times of the run\n",
    .exit_codes =
        "  70  also: the loss is not finite\n"
        "  73  also: another run is writing to the output directory\n"
        "  75  stopped by a signal, checkpoint written\n"
        "  78  an error in the job file\n",
};

static xlm_job_command_line given;

static const GOptionEntry options[] = {XLM_JOB_OPTIONS(given),
                                       XLM_RUN_OPTIONS(given, "the model anew", ", operator by operator"),
                                       {.long_name = NULL}};

static const xlm_program_group option_groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

static void *load(const char *path, char *const *overrides, GError **error) { return xlm_tune_job_load(path, overrides, error); }

static void free_job(void *job) { xlm_tune_job_free(job); }

static bool run(const xlm_comm *comm, void *job, xlm_run_options how, bool *interrupted, GError **error)
{
    return xlm_tune(comm, job, &how, interrupted, error);
}

int main(int argc, char **argv)
{
    const xlm_job_program self = {
        .program = &program,
        .groups = option_groups,
        .given = &given,
        .print_help = xlm_tune_job_print_help,
        .load = load,
        .free = free_job,
        .run = run,
    };
    return xlm_job_program_main(&self, argc, argv);
}
