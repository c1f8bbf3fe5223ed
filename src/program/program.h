/* xlm-mpi: command line, help and standard output of every xlm_* program. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Options are read before MPI starts, so that --help and --version work even if MPI does not. Help has the form that man/page.awk
 * turns into a man page and completions/xlm-mpi.bash into completions: headings end in a colon, items are indented by two blanks
 * and separated from their meaning by two, and other lines that are indented by two blanks keep their form. */
#ifndef XLM_PROGRAM_PROGRAM_H
#define XLM_PROGRAM_PROGRAM_H

#include <stdint.h>

#include "comm/comm.h"
#include "gemm/packed.h"

typedef struct xlm_program {
    const char *name;      /* "xlm_prep" */
    const char *arguments; /* the part of the usage line after the name */
    const char *purpose;   /* one line, without a full stop */
    const char *notes;     /* paragraphs after the options: "Examples:\n  ..." */
    bool progress;         /* long-running: has --progress */
    bool precision;        /* it computes with a model: has --precision */
    int (*role)(int argument); /* of argument 1, 2, ...: XLM_READS, XLM_WRITES, or 0 if it is no file. NULL: all are read */
    const char *files;     /* lines about files that the program reads and writes: "  NAME  meaning\n" */
    const char *environment; /* lines about variables that only this program uses, or NULL */
    const char *exit_codes; /* lines about codes that only this program has, or NULL */
} xlm_program;

/* Flags of an option, in addition to GLib's: what is done with the file that it names. Every option of G_OPTION_ARG_FILENAME or
 * ..._FILENAME_ARRAY must have one of the first three; otherwise parsing ends the program. A value LANG=FILE[,FILE] or LANG:FILE
 * names a file after the sign. */
enum {
    XLM_READS = 1 << 16,
    XLM_WRITES = 1 << 17,
    XLM_DIRECTORY = 1 << 18, /* a directory in which files are written or found, or only a location */
    XLM_REPLACES = 1 << 19   /* for two options of a program: one may replace the file that the other reads */
};

/* Elements of an array of groups: more than any program has, so that the unset ones end it. */
enum { XLM_PROGRAM_GROUPS = 24 };

/* What --help says of --threads (gemm/hardware.c chooses them). */
#define XLM_THREADS_HELP "threads of each rank (default: OMP_NUM_THREADS, or the cores that the rank may use)"

/* Options under a separate title in --help. */
typedef struct xlm_program_group {
    const char *title; /* "Text to read" */
    const GOptionEntry *entries;
} xlm_program_group;

/* Reads the options and leaves other arguments in argv. groups[XLM_PROGRAM_GROUPS]: up to one without a title; NULL: none. With
 * --help or --version it prints and ends the program. Otherwise it checks our environment variables (XLM_KERNELS, XLM_STORE_...)
 * and BLIS_ARCH_TYPE on this machine; ranks may differ. From here on, exceeding a limit on file sizes is a write error with a
 * message, not the end of the process, and when a signal ends the program unfinished files are removed. No file or directory has an
 * empty name. Files that are written are compared with those that are read and with those that a run keeps in its directory; names
 * of those that options write must not end as those of another form than the placeholder says ("FILE.h5"), nor be "-", which some
 * users would take for standard output. EX_USAGE. */
bool xlm_program_parse(const xlm_program *program, const xlm_program_group *groups, int *argc, char ***argv, GError **error);

/* Frees the texts that options have set, and the lists that were made of them; once more is allowed. */
void xlm_program_free_options(const xlm_program_group *groups);

/* Starts MPI after the options are read; rank 0 checks that the files that options name can be created. error: that of parsing,
 * which is agreed on. Collective; EX_CANTCREAT. */
bool xlm_program_open(const char *name, xlm_comm *comm, int *argc, char ***argv, GError **error);

/* Was --precision given? */
bool xlm_program_has_precision(void);
/* The precision that it gives; XLM_FLOAT32 without it. */
xlm_precision xlm_program_precision(void);

/* The command line, for attributes of files: argv before it is parsed, with the program's name instead of its path. g_free. */
char *xlm_program_command(const xlm_program *program, char *const *argv);

/* The only argument that parsing has left in argv. what: its name in the error if there is none or more than one ("corpus"). NULL
 * with EX_USAGE. */
const char *xlm_program_argument(const xlm_program *program, int argc, char *const *argv, const char *what, GError **error);

/* Checks of the values of options; option: its name without dashes. EX_USAGE.
 * Is the number in min to max? max = G_MAXINT64: it has no upper limit. */
bool xlm_program_is_in(const char *option, gint64 number, gint64 min, gint64 max, GError **error);
/* Is it a number of threads? 0: the default. */
bool xlm_program_check_threads(gint64 threads, GError **error);
/* Is the word (NULL if it was not given) one of the words, an array ended by NULL? */
bool xlm_program_is_one_of(const char *option, const char *word, const char *const *words, GError **error);
/* Are there min to max items between commas, none empty? what: what they must be, for the message. text NULL: *items is not
 * changed. [out] items: without the blanks around them, ended by NULL; they are freed by xlm_program_free_options. */
bool xlm_program_list(const char *option, const char *text, guint min, guint max, const char *what, char ***items,
                      GError **error);
/* The number of a word that is one of them; 0 for NULL. */
int xlm_program_number_of(const char *word, const char *const *words);
/* Parses the number of bytes of --memory: 512M, 4G, 1.5g, at least 1M. text NULL: *bytes is not changed. EX_USAGE. */
bool xlm_program_read_memory(const char *text, int64_t *bytes, GError **error);

/* Flushes standard output. EX_IOERR if any of it was lost. */
bool xlm_program_flush(GError **error);

/* Collective. The end of a command's output: rank 0 flushes standard output and, if path is not NULL, writes the table of --csv
 * there. Frees csv. EX_IOERR, EX_CANTCREAT. */
bool xlm_program_end_table(const xlm_comm *comm, const char *path, GString *csv, GError **error);

/* The exit code of a program that has printed its output: EX_OK, or EX_IOERR with a message if any of it was lost. For output
 * without MPI. */
int xlm_program_printed(const xlm_program *program);

#endif
