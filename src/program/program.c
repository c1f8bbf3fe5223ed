/* xlm-mpi: command line, help and standard output of every xlm_* program. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/program.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/exhaustion.h"
#include "base/log.h"
#include "base/signals.h"
#include "checkpoint/run_files.h"
#include "comm/comm.h"
#include "files/files.h"
#include "gemm/hardware.h"
#include "gemm/packed.h"
#include "kernels/kernels.h"
#include "model/model_file.h"
#include "program/version.h"
#include "store/store.h"
#include "text/fields.h"

static const char exit_codes[] =
    "Exit codes:\n"
    "  0   done\n"
    "  64  wrong use of options\n"
    "  65  an input is damaged or has the wrong form\n"
    "  66  an input is missing or cannot be read\n"
    "  69  MPI or a rank was lost, a node has too little memory for the job, or its processor lacks instructions\n"
    "  70  a bug in the program itself\n"
    "  71  the system has no more memory or threads\n"
    "  73  an output cannot be created\n"
    "  74  reading or writing failed, for example because the disk is full\n"
    "  77  permissions are lacking to read an HDF5 file, what a killed run has left, or the list of a directory\n";

/* After those of the program itself, which are smaller. */
static const char exit_codes_of_signals[] =
    "  129, 130, 138, 141, 143, 152\n"
    "      ended by SIGHUP, SIGINT, SIGUSR1, SIGPIPE (the reader of its output, such as head, has closed it), SIGTERM\n"
    "      or SIGXCPU, with the exit code that shells use; unfinished files are removed\n";

static const char environment[] =
    "Environment:\n"
    "  OMP_NUM_THREADS    threads of a rank, if neither the job file nor an option sets them\n"
    "  XLM_KERNELS        avx512, avx2, neon or portable: the inner loops to use; by default the best for the processor.\n"
    "                     Their results differ by rounding\n"
    "  BLIS_ARCH_TYPE     the kernels for matrix products, by BLIS's numbers; results differ by rounding\n"
    "  XLM_STORE_WRITERS  ranks of a node that write a file together (4; of checkpoints and vectors of up to 128 MiB,\n"
    "                     one rank writes all)\n"
    "  XLM_STORE_TIMEOUT  seconds (600) that ranks wait for each other while a file is being closed\n"
    "  XLM_NODE_RANKS     ranks, one after another, that add up and spread among themselves before others, as those of\n"
    "                     a node do by default; powers of two\n"
    "  OMPI_ALLOW_RUN_AS_ROOT, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM\n"
    "                     both 1: mpiexec of Open MPI starts ranks as root, for example in a container\n"
    "  OMPI_MCA_rmaps_base_oversubscribe\n"
    "                     1: mpiexec of Open MPI 4 starts more ranks than slots, like --oversubscribe\n"
    "  PRTE_MCA_rmaps_default_mapping_policy\n"
    "                     :oversubscribe: the same of Open MPI 5\n";

static gboolean help, version;
static char *progress;
static const GOptionEntry standard_options[] = {
    {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "show this help and exit", NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, &version,
     "show the version and commit, libraries with their versions, and the choices on this processor", NULL},
    {.long_name = NULL}};

static const GOptionEntry progress_options[] = {
    {"progress", 0, 0, G_OPTION_ARG_STRING, &progress,
     "how progress is shown: a live line if messages go to a terminal, otherwise one line per interval (auto, the default); a "
     "live line on the terminal, even if messages go to a file (line); one line per interval (log); not at all "
     "(none)", "auto|line|log|none"},
    {.long_name = NULL}};

static char *precision;
static bool precision_given;
static xlm_precision products = XLM_FLOAT32;

static const GOptionEntry precision_options[] = {
    {"precision", 0, 0, G_OPTION_ARG_STRING, &precision,
     "precision of the factors of matrix products, with parameters and in attention (default: float32); bfloat16 halves their "
     "time on processors with AVX512_BF16 or AMX, and changes results slightly", "float32|bfloat16"},
    {.long_name = NULL}};

static bool set_precision(GError **error)
{
    const char *const words[] = {xlm_precision_names[XLM_FLOAT32], xlm_precision_names[XLM_BFLOAT16], NULL};
    g_autofree char *word = g_steal_pointer(&precision);
    precision_given = word != NULL;
    if (!xlm_program_is_one_of("precision", word, words, error))
        return false;
    const xlm_precision which = (xlm_precision)xlm_program_number_of(word, words);
    const char *lacks = which == XLM_BFLOAT16 ? xlm_packed_lacks(XLM_BFLOAT16) : NULL;
    if (lacks != NULL)
        return xlm_error_set(error, EX_UNAVAILABLE, "--precision=bfloat16: %s; use float32", lacks);
    xlm_model_file_set_precision(products = which);
    return true;
}

bool xlm_program_has_precision(void) { return precision_given; }
xlm_precision xlm_program_precision(void) { return products; }

static bool set_progress(GError **error)
{
    static const char *const words[] = {"auto", "line", "log", "none", NULL};
    g_autofree char *word = g_steal_pointer(&progress);
    if (!xlm_program_is_one_of("progress", word, words, error))
        return false;
    xlm_log_set_progress((xlm_progress_mode)xlm_program_number_of(word, words));
    return true;
}

/* ---- files ---- */

enum { FILE_ROLES = XLM_READS | XLM_WRITES | XLM_DIRECTORY, FILE_FLAGS = FILE_ROLES | XLM_REPLACES };

static bool is_array(const GOptionEntry *e)
{
    return e->arg == G_OPTION_ARG_FILENAME_ARRAY || e->arg == G_OPTION_ARG_STRING_ARRAY;
}

/* Is it one of the files that a run keeps in its directory? Options must not replace these. */
static bool is_of_run(const char *path)
{
    g_autofree char *name = g_path_get_basename(path), *directory = g_path_get_dirname(path);
    g_autofree char *metrics = g_build_filename(directory, "metrics.csv", NULL);
    g_autofree char *latest = g_build_filename(directory, "latest", NULL);
    return xlm_run_files_has(name) && g_file_test(path, G_FILE_TEST_EXISTS) && g_file_test(metrics, G_FILE_TEST_EXISTS) &&
           g_file_test(latest, G_FILE_TEST_IS_SYMLINK);
}

/* What endings of names say about a file. Text is of any kind. */
enum { FORM_UNKNOWN, FORM_HDF5, FORM_SVG, FORM_HTML, FORM_TEXT, FORM_OTHER };
static const char *const form_names[] = {NULL, "HDF5", "SVG", "HTML", "text", NULL};
static const struct {
    const char *ending;
    int form;
} endings[] = {
    {".h5", FORM_HDF5}, {".hdf5", FORM_HDF5}, {".svg", FORM_SVG}, {".html", FORM_HTML}, {".htm", FORM_HTML},
    {".csv", FORM_TEXT}, {".tsv", FORM_TEXT}, {".txt", FORM_TEXT}, {".vec", FORM_TEXT}, {".json", FORM_TEXT},
    {".png", FORM_OTHER}, {".jpg", FORM_OTHER}, {".pdf", FORM_OTHER}, {".gz", FORM_OTHER}, {".xz", FORM_OTHER},
    {".bz2", FORM_OTHER}, {".zst", FORM_OTHER}, {".npy", FORM_OTHER}, {".npz", FORM_OTHER}, {".pt", FORM_OTHER},
    {".bin", FORM_OTHER}, {".safetensors", FORM_OTHER}};

static int form_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        if (g_str_has_suffix(name, endings[i].ending))
            return endings[i].form;
    return FORM_UNKNOWN;
}

/* An option writes one form, that of its placeholder ("FILE.svg"): a name that ends as those of another form is a mistake. */
static bool check_form(const char *path, const GOptionEntry *e, GError **error)
{
    const int form = e->flags & XLM_WRITES && e->arg_description != NULL ? form_of(e->arg_description) : FORM_UNKNOWN;
    const int named = form_of(path);
    if (form_names[form] == NULL || named == FORM_UNKNOWN || named == form)
        return true;
    return xlm_error_set(error, EX_USAGE, "%s: --%s writes %s, and the name ends as those of other files; choose one that ends in "
                         "%s", path, e->long_name, form_names[form], strrchr(e->arg_description, '.'));
}

static bool declare_file(const char *path, const char *option, int flags, GError **error)
{
    if (*path == '\0')
        return xlm_error_set(error, EX_USAGE, "%s is empty; give the name of a file", option);
    if (flags & XLM_WRITES && strcmp(path, "-") == 0)
        return xlm_error_set(error, EX_USAGE, "-: is not the name of a file to write (%s); leave the option out where it says that "
                             "its default is standard output, or write ./- for a file of that name", option);
    const int role = (flags & XLM_WRITES ? XLM_FILE_WRITTEN : XLM_FILE_READ) | (flags & XLM_REPLACES ? XLM_FILE_REPLACED : 0);
    if (flags & XLM_WRITES && is_of_run(path))
        return xlm_error_set(error, EX_USAGE, "%s: is a file that a run keeps in its directory, and %s would replace it; choose "
                             "another name", path, option);
    return xlm_files_declare(path, option, role, error);
}

/* FILE, or the part after the sign in LANG=FILE[,FILE] and LANG:FILE. */
static bool declare_value(const GOptionEntry *e, const char *value, GError **error)
{
    g_autofree char *option = g_strconcat("--", e->long_name, NULL);
    const char *sign = is_array(e) ? strpbrk(value, "=:") : NULL;
    g_auto(GStrv) files = g_strsplit(sign != NULL ? sign + 1 : "", ",", -1);
    bool good = (sign != NULL && e->flags & XLM_WRITES) || declare_file(value, option, e->flags, error);
    for (char **file = files; good && *file != NULL; file++)
        good = **file == '\0' || declare_file(*file, option, e->flags, error);
    return good && check_form(value, e, error);
}

static bool declare_option(const GOptionEntry *e, GError **error)
{
    if (e->flags & XLM_DIRECTORY && g_strcmp0(*(char **)e->arg_data, "") == 0)
        return xlm_error_set(error, EX_USAGE, "--%s is empty; give the name of a directory", e->long_name);
    if (!(e->flags & (XLM_READS | XLM_WRITES)))
        return true;
    char *single[] = {is_array(e) ? NULL : *(char **)e->arg_data, NULL};
    for (char **value = is_array(e) ? *(char ***)e->arg_data : single; value != NULL && *value != NULL; value++)
        if (!declare_value(e, *value, error))
            return false;
    return true;
}

/* Files that options and arguments name; those that are read come first. */
static bool declare_files(const xlm_program *program, const xlm_program_group *groups, int argc, char *const *argv,
                          GError **error)
{
    for (int i = 1; i < argc; i++) {
        const int role = program->role != NULL ? program->role(i) : XLM_READS;
        if (role != 0 && !declare_file(argv[i], "an argument", role, error))
            return false;
    }
    for (int pass = 0; pass < 2; pass++)
        for (const xlm_program_group *g = groups; g != NULL && g->title != NULL; g++)
            for (const GOptionEntry *e = g->entries; e->long_name != NULL; e++)
                if ((pass == 1) == ((e->flags & XLM_WRITES) != 0) && !declare_option(e, error))
                    return false;
    return true;
}

static void share_target(const void *comm, char **target) { xlm_comm_broadcast_text(comm, target); }

bool xlm_program_open(const char *name, xlm_comm *comm, int *argc, char ***argv, GError **error)
{
    xlm_comm_open(comm, name, argc, argv);
    if (comm->rank == 0 && *error == NULL)
        xlm_files_check_declared(error);
    if (!xlm_comm_agree(comm, error))
        return false;
    xlm_files_share_targets(share_target, comm);
    return true;
}

/* ---- options ---- */

/* name: "--seed" or "-s". */
static const GOptionEntry *find_entry(const GOptionEntry *entries, const char *name)
{
    const GOptionEntry *e = entries;
    while (!(name[1] == '-' ? strcmp(name + 2, e->long_name) == 0 : name[1] == e->short_name))
        e++;
    return e;
}

/* The value of an option of G_OPTION_ARG_INT or G_OPTION_ARG_INT64. GLib itself would guess the base, so that 010 was 8, and 08 no
 * number. entries: those of its group. */
static gboolean take_integer(const gchar *name, const gchar *text, gpointer entries, GError **error)
{
    const GOptionEntry *e = find_entry(entries, name);
    const bool wide = e->arg == G_OPTION_ARG_INT64;
    const gint64 min = wide ? G_MININT64 : G_MININT, max = wide ? G_MAXINT64 : G_MAXINT;
    g_autoptr(GError) wrong = NULL;
    gint64 number;
    if (!g_ascii_string_to_signed(text, 10, min, max, &number, &wrong)) {
        if (g_error_matches(wrong, G_NUMBER_PARSER_ERROR, G_NUMBER_PARSER_ERROR_OUT_OF_BOUNDS))
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s=%s: must be an integer from %" PRId64 " to %" PRId64,
                        e->long_name, text, min, max);
        else
            g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--%s=%s: must be an integer in decimal digits",
                        e->long_name, text);
        return FALSE;
    }
    if (wide)
        *(gint64 *)e->arg_data = number;
    else
        *(gint *)e->arg_data = (gint)number;
    return TRUE;
}

static void add_group(GOptionContext *context, const xlm_program_group *added)
{
    g_autofree char *heading = g_strconcat(added->title, ":", NULL);
    GOptionGroup *group = g_option_group_new(added->title, heading, added->title, (gpointer)added->entries, NULL);
    /* In the help of several commands, an option that two of them share keeps its name: only one of them is ever called. */
    for (const GOptionEntry *e = added->entries; e->long_name != NULL; e++) {
        GOptionEntry entries[] = {*e, {.long_name = NULL}};
        entries[0].flags = (e->flags & ~FILE_FLAGS) | G_OPTION_FLAG_NOALIAS;
        if ((e->arg == G_OPTION_ARG_FILENAME || e->arg == G_OPTION_ARG_FILENAME_ARRAY) && !(e->flags & FILE_ROLES))
            g_error("--%s: its table does not say whether the file is read or written", e->long_name);
        if (e->arg == G_OPTION_ARG_INT || e->arg == G_OPTION_ARG_INT64) {
            entries[0].arg = G_OPTION_ARG_CALLBACK;
            entries[0].arg_data = (void *)take_integer;
        }
        g_option_group_add_entries(group, entries);
    }
    g_option_context_add_group(context, group);
}

static GOptionContext *make_context(const xlm_program *program, const xlm_program_group *groups)
{
    GOptionContext *context = g_option_context_new(program->arguments);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, program->purpose);
    g_option_context_set_main_group(context, g_option_group_new("main", "", "", NULL, NULL));
    for (; groups != NULL && groups->title != NULL; groups++)
        add_group(context, groups);
    if (program->precision)
        add_group(context, &(const xlm_program_group){"Precision", precision_options});
    if (program->progress)
        add_group(context, &(const xlm_program_group){"Progress", progress_options});
    add_group(context, &(const xlm_program_group){"Other options", standard_options});
    return context;
}

static void print_help(const xlm_program *program, GOptionContext *context)
{
    g_set_prgname(program->name);
    g_autofree char *text = g_option_context_get_help(context, FALSE, NULL);
    /* GOption puts the synopsis on a line of its own and marks options with one character for three dots. */
    const char *synopsis = strstr(text, program->name);
    fputs("Usage: ", stdout);
    fputs(synopsis != NULL ? synopsis : text, stdout);
    /* One empty line before what follows, however the notes end. */
    g_autofree char *notes = g_strchomp(g_strdup(program->notes));
    printf("%s\n\n", notes);
    if (program->files != NULL)
        printf("Files:\n%s\n", program->files);
    printf("%s%s\n%s%s%s", environment, program->environment != NULL ? program->environment : "", exit_codes,
           program->exit_codes != NULL ? program->exit_codes : "", exit_codes_of_signals);
}

/* Checks environment variables of the libraries below, which read them when it is too late for an error of use. */
static bool check_environment(GError **error)
{
    static const char *const numbers[] = {"XLM_STORE_WRITERS", "XLM_STORE_TIMEOUT", "XLM_NODE_RANKS"};
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        const char *given = g_getenv(numbers[i]);
        if (given != NULL && *given != '\0' && !g_ascii_string_to_signed(given, 10, 1, G_MAXINT32, NULL, NULL))
            return xlm_error_set(error, EX_USAGE, "%s=%s: must be an integer from 1 to %d", numbers[i], given, G_MAXINT32);
    }
    return xlm_kernels_check(error) && xlm_hardware_check(error);
}

/* GLib leaves the -- that ends the options in place where an argument after it begins with a dash, such as a file -job.conf. */
static void remove_separator(int *argc, char **argv)
{
    int at = 1;
    while (at < *argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at == *argc)
        return;
    memmove(argv + at, argv + at + 1, sizeof *argv * (size_t)(*argc - at)); /* with the NULL at the end */
    (*argc)--;
}

bool xlm_program_parse(const xlm_program *program, const xlm_program_group *groups, int *argc, char ***argv, GError **error)
{
    signal(SIGXFSZ, SIG_IGN);
    xlm_signals_end_cleanly();
    xlm_files_guard();
    xlm_exhaustion_watch(program->name);
    GOptionContext *context = make_context(program, groups);
    g_autoptr(GError) wrong = NULL;
    const bool good = g_option_context_parse(context, argc, argv, &wrong);
    if (good && help)
        print_help(program, context);
    else if (good && version)
        xlm_version_print(program->name);
    if (good && (help || version))
        exit(xlm_program_printed(program));
    g_option_context_free(context);
    if (good)
        remove_separator(argc, *argv);
    else
        xlm_error_set(error, EX_USAGE, "%s; see %s --help", wrong->message, program->name);
    return good && check_environment(error) && set_precision(error) && set_progress(error) &&
           declare_files(program, groups, *argc, *argv, error);
}

static GPtrArray *lists; /* char ** */

void xlm_program_free_options(const xlm_program_group *groups)
{
    g_clear_pointer(&lists, g_ptr_array_unref);
    for (const xlm_program_group *g = groups; g->title != NULL; g++)
        for (const GOptionEntry *e = g->entries; e->long_name != NULL; e++)
            if (is_array(e))
                g_clear_pointer((char ***)e->arg_data, g_strfreev);
            else if (e->arg == G_OPTION_ARG_STRING || e->arg == G_OPTION_ARG_FILENAME)
                g_clear_pointer((char **)e->arg_data, g_free);
}

char *xlm_program_command(const xlm_program *program, char *const *argv)
{
    g_autofree char *rest = g_strjoinv(" ", (char **)argv + 1);
    return g_strjoin(" ", program->name, rest, NULL);
}

const char *xlm_program_argument(const xlm_program *program, int argc, char *const *argv, const char *what, GError **error)
{
    if (argc == 2)
        return argv[1];
    xlm_error_set(error, EX_USAGE, "one %s is needed; see %s --help", what, program->name);
    return NULL;
}

bool xlm_program_is_in(const char *option, gint64 number, gint64 min, gint64 max, GError **error)
{
    if (number >= min && number <= max)
        return true;
    if (max == G_MAXINT64)
        return xlm_error_set(error, EX_USAGE, "--%s=%" PRId64 ": must be at least %" PRId64, option, number, min);
    return xlm_error_set(error, EX_USAGE, "--%s=%" PRId64 ": must be from %" PRId64 " to %" PRId64, option, number, min, max);
}

bool xlm_program_check_threads(gint64 threads, GError **error) { return xlm_program_is_in("threads", threads, 0, 1024, error); }

bool xlm_program_is_one_of(const char *option, const char *word, const char *const *words, GError **error)
{
    if (word == NULL || g_strv_contains(words, word))
        return true;
    g_autoptr(GString) all = g_string_new(words[0]);
    for (int i = 1; words[i] != NULL; i++)
        g_string_append_printf(all, "%s%s", words[i + 1] != NULL ? ", " : " or ", words[i]);
    return xlm_error_set(error, EX_USAGE, "--%s=%s: must be %s", option, word, all->str);
}

bool xlm_program_list(const char *option, const char *text, guint min, guint max, const char *what, char ***items,
                      GError **error)
{
    if (text == NULL)
        return true;
    if (lists == NULL)
        lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    g_ptr_array_add(lists, *items = g_strsplit(text, ",", -1));
    const guint n = g_strv_length(*items);
    bool good = n >= min && n <= max;
    for (guint i = 0; i < n; i++)
        good = *g_strstrip((*items)[i]) != '\0' && good;
    return good || xlm_error_set(error, EX_USAGE, "--%s=%s: must be %s", option, text, what);
}

int xlm_program_number_of(const char *word, const char *const *words)
{
    int i = 0;
    while (word != NULL && strcmp(words[i], word) != 0)
        i++;
    return i;
}

bool xlm_program_read_memory(const char *text, int64_t *bytes, GError **error)
{
    static const char units[] = "KMG";
    if (text == NULL)
        return true;
    char *end;
    const double number = g_ascii_strtod(text, &end);
    const char *unit = *end != '\0' ? strchr(units, g_ascii_toupper(*end)) : NULL;
    const double value = number * (unit != NULL ? ldexp(1, 10 * (int)(unit - units + 1)) : 1);
    if (end == text || (*end != '\0' && (unit == NULL || end[1] != '\0')) || !(value >= 1 << 20 && value < 1e15))
        return xlm_error_set(error, EX_USAGE, "--memory=%s: must be a number of bytes such as 512M or 4G, at least 1M", text);
    *bytes = (int64_t)value;
    return true;
}

bool xlm_program_flush(GError **error)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    /* Output may have been dropped earlier: then nothing is left to flush, and the reason is lost. */
    return xlm_error_set(error, EX_IOERR, "standard output: %s",
                         errno != 0 ? g_strerror(errno) : "not all output could be written");
}

bool xlm_program_end_table(const xlm_comm *comm, const char *path, GString *csv, GError **error)
{
    GError *failure = NULL;
    if (comm->rank == 0 && xlm_program_flush(&failure) && path != NULL)
        xlm_fields_write(path, g_steal_pointer(&csv), &failure);
    if (csv != NULL)
        g_string_free(csv, TRUE);
    return xlm_comm_agree_on(comm, failure, error);
}

int xlm_program_printed(const xlm_program *program)
{
    GError *error = NULL;
    xlm_log_open(program->name, true);
    xlm_program_flush(&error);
    return xlm_error_exit(error);
}
