/* xlm-mpi: xlm_embed, what a model's embeddings are like. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/nearest.h"
#include "tensor/hardware.h"
#include "tools/embed.h"
#include "tools/program.h"

static const xlm_embed_command *const commands[] = {&xlm_embed_alignment, &xlm_embed_export};

char *xlm_embed_command_line;

static gint64 threads;

static const GOptionEntry shared_options[] = {
    {"threads", 0, 0, G_OPTION_ARG_INT64, &threads,
     "threads of each rank (default: the node's cores divided among its ranks)", "N"},
    {.long_name = NULL}};

static const xlm_embed_command *find_command(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(commands)];
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        names[i] = commands[i]->name;
        if (strcmp(names[i], name) == 0)
            return commands[i];
    }
    char *advice = xlm_nearest_advice(name, names, G_N_ELEMENTS(commands));
    xlm_error_set(error, EX_USAGE, "%s: there is no such command; %s", name, advice);
    g_free(advice);
    return NULL;
}

/* Texts of all commands, or of the one that is called. g_free. */
static char *join_texts(const xlm_embed_command *only, const char *between, size_t member)
{
    GString *all = g_string_new(NULL);
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        if (only == NULL || commands[i] == only) {
            const char *text = *(const char *const *)(const void *)((const char *)commands[i] + member);
            g_string_append_printf(all, "%s%s", all->len > 0 ? between : "", text);
        }
    return g_string_free(all, FALSE);
}

/* Options of the command that is called; of all when none is, for --help. */
static bool parse(const xlm_embed_command *called, int *argc, char ***argv, GError **error)
{
    G_STATIC_ASSERT(G_N_ELEMENTS(commands) + 1 < XLM_PROGRAM_GROUPS);
    xlm_program_group groups[XLM_PROGRAM_GROUPS] = {{NULL, NULL}};
    guint n = 0;
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        if (called == NULL || commands[i] == called)
            groups[n++] = (xlm_program_group){commands[i]->title, commands[i]->options};
    groups[n++] = (xlm_program_group){"Options of every command", shared_options};
    char *arguments = join_texts(called, " | ", offsetof(xlm_embed_command, arguments));
    char *texts = join_texts(called, "", offsetof(xlm_embed_command, notes));
    char *examples = join_texts(called, "", offsetof(xlm_embed_command, examples));
    char *notes = g_strconcat(texts, "Examples:\n", examples, "\n", NULL);
    const xlm_program program = {
        .name = "xlm_embed",
        .arguments = arguments,
        .progress = true,
        .purpose = called != NULL ? called->purpose : "Measure and export what a trained model makes of words and sentences",
        .notes = notes,
        .files = "  CHECKPOINT  what xlm_train wrote, OUTPUT/latest for example\n"
                 "  DICT.h5     pairs of xlm_dict\n"
                 "  CORPUS.h5   what xlm_prep wrote\n",
    };
    const bool good = xlm_program_parse(&program, groups, argc, argv, error);
    g_free(arguments);
    g_free(texts);
    g_free(examples);
    g_free(notes);
    return good;
}

/* The command, its options read; NULL with EX_USAGE. */
static const xlm_embed_command *read_command(int *argc, char ***argv, GError **error)
{
    const bool named = *argc > 1 && (*argv)[1][0] != '-';
    const xlm_embed_command *called = named ? find_command((*argv)[1], error) : NULL;
    if ((named && called == NULL) || !parse(called, argc, argv, error))
        return NULL;
    if (called == NULL) {
        char *names = join_texts(NULL, ", ", offsetof(xlm_embed_command, name));
        xlm_error_set(error, EX_USAGE, "say first which command: %s; see xlm_embed --help", names);
        g_free(names);
        return NULL;
    }
    if (threads < 0) {
        xlm_error_set(error, EX_USAGE, "--threads=%" G_GINT64_FORMAT ": at least 1", threads);
        return NULL;
    }
    return called->check(*argc - 2, error) ? called : NULL;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_embed_command_line = xlm_program_command(&(xlm_program){.name = "xlm_embed"}, argv);
    const xlm_embed_command *command = read_command(&argc, &argv, &error);
    xlm_comm comm;
    xlm_comm_open(&comm, "xlm_embed", &argc, &argv);
    if (xlm_comm_agree(&comm, &error)) {
        xlm_hardware hardware;
        xlm_hardware_open(&hardware, (int)threads, comm.local_ranks);
        command->run(&comm, argv + 2, &error);
    }
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
        commands[i]->free_options();
    g_free(xlm_embed_command_line);
    return xlm_comm_close(&comm, error);
}
