/* xlm-mpi: code shared by xlm_train and xlm_tune, which run a job file. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_PROGRAM_JOB_PROGRAM_H
#define XLM_PROGRAM_JOB_PROGRAM_H

#include <stdio.h>

#include "program/program.h"
#include "run/run.h"

/* The values of the shared options. */
typedef struct xlm_job_command_line {
    char **overrides;
    char *resume, *dump_step;
    gboolean dry_run, profile, finish;
} xlm_job_command_line;

/* --help-job was given, with a name or without. */
gboolean xlm_job_help_asked(const gchar *option, const gchar *name, gpointer data, GError **error);

/* The shared options as entries of a group; given: an xlm_job_command_line of static storage. The program defines XLM_JOB_PART:
 * what the name of --help-job refers to, an objective or a task. */
#define XLM_JOB_OPTIONS(given)                                                                                            \
    {"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &(given).overrides, "override a key of the job file; may be repeated",     \
     "SECTION.KEY=VALUE"},                                                                                               \
    {"help-job", 0, G_OPTION_FLAG_OPTIONAL_ARG, G_OPTION_ARG_CALLBACK, (void *)xlm_job_help_asked,                       \
     "show every section and key of a job file with type, default and meaning; or only those of one " XLM_JOB_PART,      \
     "[NAME]"}
/* anew: what a run starts from if it does not resume; detail: what the profile shows. */
#define XLM_RUN_OPTIONS(given, anew, detail)                                                                              \
    {"resume", 'r', XLM_READS, G_OPTION_ARG_STRING, &(given).resume,                                                      \
     "where to start: from the newest good checkpoint in the output directory, if there is one (auto, the default); "    \
     "from that FILE; or from " anew ", moving the checkpoints of an earlier run aside (never)", "auto|FILE|never"},     \
    {"dry-run", 'n', 0, G_OPTION_ARG_NONE, &(given).dry_run,                                                              \
     "check everything, show parameters, memory and time, train nothing; the memory of a pass is what the encodings and all " \
     "objectives take on a batch of the largest size", NULL},                                                            \
    {"finish", 0, 0, G_OPTION_ARG_NONE, &(given).finish,                                                                  \
     "train nothing; write a checkpoint from the state that the killed ranks of a run have left, unless a score is due, "  \
     "which the next start makes first; a run starts this automatically if mpiexec leaves the ranks no time", NULL},       \
    {"profile", 0, 0, G_OPTION_ARG_NONE, &(given).profile,                                                                \
     "show at the end where the time of a step went" detail, NULL},                                                     \
    {"dump-step", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &(given).dump_step,                                                 \
     "write the next step (batch, hidden states, losses, parameters, gradients; without dropout) to FILE.h5 and exit",        \
     "FILE.h5"}

typedef struct xlm_job_program {
    const xlm_program *program;
    const xlm_program_group *groups;
    xlm_job_command_line *given;
    /* Checks options of this program that cannot be combined, in addition to the shared ones. EX_USAGE. May be NULL. */
    bool (*check)(GError **error);
    /* What to add to the message that no job file was given, such as which option has taken its name as a value. g_free; NULL:
     * nothing. May be NULL. */
    char *(*explain_no_job)(void);
    /* Prints sections and keys; name: only those of one plugin or task, NULL for all. False with an error if there is none. */
    bool (*print_help)(const char *name, FILE *out, GError **error);
    /* Reads a job file with overrides; NULL with an error. Not collective. */
    void *(*load)(const char *path, char *const *overrides, GError **error);
    void (*free)(void *job);
    /* Collective, like xlm_run. options: from the shared options. */
    bool (*run)(const xlm_comm *comm, void *job, xlm_run_options options, bool *interrupted, GError **error);
} xlm_job_program;

/* The program from the command line to its exit code: EX_TEMPFAIL (75) if it was interrupted. */
int xlm_job_program_main(const xlm_job_program *self, int argc, char **argv);

#endif
