/* xlm-mpi: xlm_cooc export, counts for GloVe. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "commands/commands.h"
#include "files/new_file.h"
#include "lexicon/cooccurrence.h"
#include "text/fields.h"

static struct {
    char *output, *vocabulary;
} given;

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "file of records to write", "FILE"},
    {"vocabulary", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.vocabulary,
     "also write lines `subword count`, like vocab_count", "FILE"},
    {.long_name = NULL}};

/* A record in GloVe's format: line numbers in the vocabulary, from 1, and X. */
struct glove_record {
    int32_t word, context;
    double count;
};
G_STATIC_ASSERT(sizeof(struct glove_record) == 16);

static bool check(GError **error)
{
    return given.output != NULL || xlm_error_set(error, EX_USAGE, "no file to write; give -o FILE");
}

/* Both (i, j) and (j, i), as GloVe's own programs write them. */
static bool write_row(int64_t row, int64_t n, const uint32_t *columns, const double *counts, void *data)
{
    FILE *file = data;
    for (int64_t e = 0; e < n; e++) {
        const struct glove_record pair[2] = {{(int32_t)row + 1, (int32_t)columns[e] + 1, counts[e]},
                                             {(int32_t)columns[e] + 1, (int32_t)row + 1, counts[e]}};
        const size_t records = columns[e] == row ? 1 : 2;
        if (fwrite(pair, sizeof *pair, records, file) != records)
            return false;
    }
    return true;
}

static bool write_records(const xlm_cooccurrence *table, FILE *file, GError **error)
{
    return xlm_cooccurrence_scan(table, write_row, file, error);
}

/* The name of a subword in the vocabulary of glove, which reads words between blanks, and ends when it writes its vectors if one
 * is called <unk>. taken: the names of all lines, which gets this one too. g_free. */
static char *name_for_glove(const char *subword, GHashTable *taken)
{
    GString *name = g_string_new(NULL);
    if (strcmp(subword, "<unk>") == 0)
        g_string_append(name, "[unknown]");
    else
        xlm_fields_append_word(name, subword, strlen(subword));
    if (strcmp(name->str, subword) == 0)
        return g_string_free(name, FALSE);
    while (g_hash_table_contains(taken, name->str))
        g_string_append_c(name, '_');
    g_hash_table_add(taken, g_strdup(name->str));
    return g_string_free(name, FALSE);
}

static bool write_vocabulary(const xlm_cooccurrence *table, FILE *file, GError **error)
{
    g_auto(GStrv) words = xlm_cooccurrence_read_words(table, error);
    g_autofree int64_t *occurrences = words != NULL ? xlm_cooccurrence_read_occurrences(table, error) : NULL;
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    bool good = occurrences != NULL;
    for (int64_t i = 0; i < table->vocabulary && good; i++)
        g_hash_table_add(taken, g_strdup(words[i]));
    for (int64_t i = 0; i < table->vocabulary && good; i++) {
        int64_t count = 0;
        for (int l = 0; l < table->languages; l++)
            count += occurrences[i * table->languages + l];
        g_autofree char *name = name_for_glove(words[i], taken);
        good = fprintf(file, "%s %" G_GINT64_FORMAT "\n", name, count) > 0;
    }
    return good;
}

static bool write_file(const xlm_cooccurrence *table, const char *path,
                       bool (*write)(const xlm_cooccurrence *, FILE *, GError **), GError **error)
{
    xlm_new_file file;
    if (!xlm_new_file_create(&file, path, error))
        return false;
    GError *failure = NULL;
    if (write(table, file.stream, &failure) || failure == NULL)
        return xlm_new_file_commit(&file, error);
    xlm_new_file_discard(&file);
    g_propagate_error(error, failure);
    return false;
}

static bool run(char *const *arguments, GError **error)
{
    xlm_cooccurrence *table = xlm_cooccurrence_open(arguments[0], error);
    const bool good = table != NULL && write_file(table, given.output, write_records, error) &&
                      (given.vocabulary == NULL || write_file(table, given.vocabulary, write_vocabulary, error));
    if (good)
        xlm_log_info("%s: %" G_GINT64_FORMAT " subwords", given.output, table->vocabulary);
    xlm_cooccurrence_close(table);
    return good;
}

const xlm_command xlm_cooc_export = {
    .name = "export",
    .arguments = "export COOC.h5 -o FILE",
    .purpose = "Write a table for GloVe",
    .notes =
        "export: writes records in GloVe's format (two 32-bit integers, line numbers in the vocabulary from 1, and a double), "
        "both (i, j) and (j, i), for its programs shuffle and glove. Line i of --vocabulary is the subword with id i - 1. glove "
        "takes no word <unk>: a subword of this name is written [unknown]. White space and control characters of subwords are "
        "written as bytes, <0x0A> for a line end.\n\n",
    .examples =
        "  xlm_cooc export cooc.h5 -o cooccurrence.bin --vocabulary vocab.txt\n",
    .options = options,
    .takes = {"one table", 1, 1},
    .check = check,
    .run_alone = run,
};
