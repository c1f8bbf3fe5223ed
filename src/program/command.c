/* xlm-mpi: programs of several commands, such as `xlm_embed alignment`. SPDX-License-Identifier: GPL-3.0-or-later */
#include "program/command.h"

#include <string.h>

#include "gemm/hardware.h"
#include "options/nearest.h"
#include "run/rank_kernels.h"

char *xlm_command_line;

static gint64 threads;
static const xlm_command *called; /* NULL: none */
static int first = 1;             /* index of its first argument in argv */

static const GOptionEntry shared_options[] = {
    {"threads", 0, 0, G_OPTION_ARG_INT64, &threads, XLM_THREADS_HELP, "N"},
    {.long_name = NULL}};

static const xlm_command *find_command(const xlm_command_program *program, const char *name, GError **error)
{
    g_autofree const char **names = g_new0(const char *, program->n);
    const xlm_command *found = NULL;
    for (int i = 0; i < program->n; i++) {
        names[i] = program->commands[i]->name;
        if (strcmp(names[i], name) == 0)
            found = program->commands[i];
    }
    if (found == NULL && program->unnamed) {
        found = program->commands[0];
    } else if (found == NULL) {
        g_autofree char *advice = xlm_nearest_advice(name, names, (size_t)program->n);
        xlm_error_set(error, EX_USAGE, "%s: there is no such command; %s", name, advice);
    }
    return found;
}

/* Texts of all commands, or of the one that is called. g_free. */
static char *join_texts(const xlm_command_program *program, const xlm_command *only, const char *between, size_t member)
{
    GString *all = g_string_new(NULL);
    for (int i = 0; i < program->n; i++)
        if (only == NULL || program->commands[i] == only) {
            const char *text = *(const char *const *)(const void *)((const char *)program->commands[i] + member);
            g_string_append_printf(all, "%s%s", all->len > 0 ? between : "", text);
        }
    return g_string_free(all, FALSE);
}

/* Of an argument of the program: the name of a command is no file, and its other arguments need not be. */
static int role(int argument)
{
    const bool all = called == NULL || called->is_file == NULL;
    return argument >= first && (all || called->is_file(argument - first + 1)) ? XLM_READS : 0;
}

/* Options of the command that is called; of all commands if none is called, for --help. */
static bool parse(const xlm_command_program *p, int *argc, char ***argv, GError **error)
{
    xlm_program_group groups[XLM_PROGRAM_GROUPS] = {{NULL, NULL}};
    g_autoptr(GPtrArray) titles = g_ptr_array_new_with_free_func(g_free);
    int n = 0;
    bool precision = false;
    for (int i = 0; i < p->n; i++)
        if (called == NULL || p->commands[i] == called) {
            const xlm_command *c = p->commands[i];
            precision = precision || c->precision;
            g_assert(n + 3 < XLM_PROGRAM_GROUPS);
            g_ptr_array_add(titles, c->title != NULL ? g_strdup(c->title) : g_strconcat("Options of ", c->name, NULL));
            groups[n++] = (xlm_program_group){titles->pdata[titles->len - 1], c->options};
            if (c->more_options != NULL)
                groups[n++] = (xlm_program_group){c->more_title, c->more_options};
        }
    groups[n++] = (xlm_program_group){"Options of every command", shared_options};
    g_autofree char *arguments = join_texts(p, called, " | ", offsetof(xlm_command, arguments));
    g_autofree char *texts = join_texts(p, called, "", offsetof(xlm_command, notes));
    g_autofree char *examples = join_texts(p, called, "", offsetof(xlm_command, examples));
    g_autofree char *notes = g_strconcat(texts, "Examples:\n", examples, "\n", NULL);
    const xlm_program program = {
        .name = p->name,
        .arguments = arguments,
        .precision = precision,
        .progress = true,
        .role = role,
        .purpose = called != NULL ? called->purpose : p->purpose,
        .notes = notes,
        .files = p->files,
    };
    return xlm_program_parse(&program, groups, argc, argv, error);
}

/* Find the command that is called and read its options. EX_USAGE. */
static bool read_command(const xlm_command_program *program, int *argc, char ***argv, GError **error)
{
    /* --help alone shows all commands; other options before any name belong to the unnamed command. */
    const char *word = *argc > 1 ? (*argv)[1] : NULL;
    const bool named = word != NULL && word[0] != '-';
    const bool options = program->unnamed && *argc > 2 && word[0] == '-';
    called = named ? find_command(program, word, error) : options ? program->commands[0] : NULL;
    first = called != NULL && named && strcmp(called->name, word) == 0 ? 2 : 1;
    if ((named && called == NULL) || !parse(program, argc, argv, error))
        return false;
    if (called == NULL) {
        g_autofree char *names = join_texts(program, NULL, ", ", offsetof(xlm_command, name));
        return xlm_error_set(error, EX_USAGE, "give a command first: %s; see %s --help", names, program->name);
    }
    const int n = *argc - first;
    if (n < called->takes.min || n > called->takes.max)
        return xlm_error_set(error, EX_USAGE, "%s takes %s; see %s %s --help", called->name, called->takes.what, program->name,
                             called->name);
    return xlm_program_check_threads(threads, error) && (called->check == NULL || called->check(error));
}

int xlm_command_main(const xlm_command_program *program, int argc, char **argv)
{
    GError *error = NULL;
    xlm_command_line = xlm_program_command(&(xlm_program){.name = program->name}, argv);
    read_command(program, &argc, &argv, &error);
    xlm_comm comm;
    if (xlm_program_open(program->name, &comm, &argc, &argv, &error)) {
        xlm_hardware hardware;
        xlm_hardware_open(&hardware, (int)threads, comm.local_ranks);
        if (called->run != NULL) {
            if (program->rounds)
                xlm_rank_kernels_compare(&comm, &hardware, xlm_program_precision() != XLM_FLOAT32, xlm_program_precision());
            called->run(&comm, argv + first, &error);
        } else {
            if (comm.rank == 0)
                called->run_alone(argv + first, &error);
            xlm_comm_agree(&comm, &error);
        }
    }
    for (int i = 0; i < program->n; i++) {
        const xlm_command *c = program->commands[i];
        const xlm_program_group groups[] = {{c->name, c->options}, {c->more_title, c->more_options}, {NULL, NULL}};
        xlm_program_free_options(groups);
    }
    g_free(xlm_command_line);
    return xlm_comm_close(&comm, error);
}
