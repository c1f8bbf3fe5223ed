/* xlm-mpi: xlm_cooc top, what occurs near a subword. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/terminal.h"
#include "commands/commands.h"
#include "lexicon/cooccurrence.h"

static struct {
    gint64 number;
    char *by;
} given = {.number = 20};

static const GOptionEntry options[] = {
    {"number", 'n', 0, G_OPTION_ARG_INT64, &given.number, "how many to show (default 20)", "N"},
    {"by", 0, 0, G_OPTION_ARG_STRING, &given.by,
     "order by count (count, the default) or by pointwise mutual information (pmi)", "count|pmi"},
    {.long_name = NULL}};

struct neighbour {
    int64_t id;
    double count, pmi;
};

struct search {
    int64_t id;
    GArray *found; /* struct neighbour */
};

static bool check(GError **error)
{
    static const char *const orders[] = {"count", "pmi", NULL};
    return xlm_program_is_in("number", given.number, 1, G_MAXINT64, error) &&
           xlm_program_is_one_of("by", given.by, orders, error);
}

/* An entry is in the row of the smaller id: in the subword's own row, and in its column of the rows before. */
static bool take(int64_t row, int64_t n, const uint32_t *columns, const double *counts, void *data)
{
    struct search *s = data;
    for (int64_t e = 0; e < n; e++)
        if (row == s->id || columns[e] == s->id) {
            const struct neighbour found = {row == s->id ? columns[e] : row, counts[e], 0};
            g_array_append_val(s->found, found);
        }
    return row < s->id;
}

static gint by_count(gconstpointer a, gconstpointer b)
{
    const struct neighbour *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count ? 1 : -1) : (x->id > y->id) - (x->id < y->id);
}

static gint by_pmi(gconstpointer a, gconstpointer b)
{
    const struct neighbour *x = a, *y = b;
    return x->pmi != y->pmi ? (x->pmi < y->pmi ? 1 : -1) : by_count(a, b);
}

/* log p(i, j) / (p(i) p(j)), with p from X and its sums by row. */
static void add_pmi(const xlm_cooccurrence *table, const struct search *s, const double *totals)
{
    double all = 0;
    for (int64_t i = 0; i < table->vocabulary; i++)
        all += totals[i];
    for (guint i = 0; i < s->found->len; i++) {
        struct neighbour *f = &g_array_index(s->found, struct neighbour, i);
        f->pmi = log(f->count * all / (totals[s->id] * totals[f->id]));
    }
}

static int64_t find_word(const xlm_cooccurrence *table, char *const *words, const char *word, GError **error)
{
    for (int64_t i = 0; i < table->vocabulary; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    xlm_error_set(error, EX_DATAERR, "%s: is not a subword of %s; h5dump -d /words/subwords lists them", word,
                  xlm_store_path(table->store));
    return -1;
}

static bool show(const xlm_cooccurrence *table, const char *word, GError **error)
{
    g_auto(GStrv) words = xlm_cooccurrence_read_words(table, error);
    g_autofree double *totals = words != NULL ? xlm_cooccurrence_read_totals(table, error) : NULL;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(struct neighbour));
    struct search s = {.id = totals != NULL ? find_word(table, words, word, error) : -1, .found = found};
    GError *failure = NULL;
    if (s.id < 0)
        return false;
    xlm_cooccurrence_scan(table, take, &s, &failure);
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    add_pmi(table, &s, totals);
    g_array_sort(found, g_strcmp0(given.by, "pmi") == 0 ? by_pmi : by_count);
    printf("%-24s %14s %8s\n", "subword", "count", "pmi");
    for (guint i = 0; i < found->len && i < given.number; i++) {
        const struct neighbour *f = &g_array_index(found, struct neighbour, i);
        g_autofree char *shown = xlm_terminal_escape(words[f->id]);
        printf("%-24s %14.3f %8.3f\n", shown, f->count, f->pmi);
    }
    return xlm_program_flush(error);
}

static bool run(char *const *arguments, GError **error)
{
    xlm_cooccurrence *table = xlm_cooccurrence_open(arguments[1], error);
    const bool good = table != NULL && show(table, arguments[0], error);
    xlm_cooccurrence_close(table);
    return good;
}

/* The first argument is a subword. */
static bool is_file(int argument) { return argument == 2; }

const xlm_command xlm_cooc_top = {
    .name = "top",
    .arguments = "top SUBWORD COOC.h5",
    .purpose = "Show what occurs near a subword",
    .notes =
        "top: shows the subwords that occur most often near a subword, with X and the pointwise mutual information, log X_ij\n"
        "sum(X) / (sum(X_i) sum(X_j)).\n\n",
    .examples =
        "  xlm_cooc top house cooc.h5 -n 30 --by pmi\n",
    .options = options,
    .takes = {"a subword and a table", 2, 2},
    .is_file = is_file,
    .check = check,
    .run_alone = run,
};
