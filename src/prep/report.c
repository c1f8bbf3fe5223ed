/* xlm-mpi: progress and results of a preparation. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/report.h"

#include "base/log.h"
#include "prep/texts.h"
#include "subwords/tokenizer.h"

/* ---- progress ---- */

static int64_t source_bytes(const xlm_prep_source *source)
{
    int64_t bytes = 0;
    for (int side = 0; side < source->sides; side++)
        bytes += source->text[side]->index->bytes;
    return bytes;
}

xlm_prep_progress xlm_prep_progress_begin(const xlm_prep_options *options, guint first, const char *what)
{
    int64_t bytes = 0;
    for (guint i = first; i < options->sources->len; i++)
        bytes += source_bytes(options->sources->pdata[i]);
    return (xlm_prep_progress){.bytes = xlm_progress_begin(what, (double)bytes, "B")};
}

void xlm_prep_progress_show(xlm_prep_progress *progress, int64_t position)
{
    xlm_progress_show(&progress->bytes, (double)(progress->done + position));
}

void xlm_prep_progress_next(xlm_prep_progress *progress, const xlm_prep_source *source)
{
    progress->done += source_bytes(source);
    xlm_prep_progress_show(progress, 0);
}

/* ---- the table ---- */

xlm_prep_counts *xlm_prep_counts_new(const xlm_prep_options *options)
{
    xlm_prep_counts *counts = g_new0(xlm_prep_counts, 1);
    counts->languages = (int)options->languages->len;
    counts->pairs = xlm_prep_new_pairs_count(options);
    counts->language = g_new0(xlm_language_counts, counts->languages);
    counts->pair = g_new0(xlm_split_counts, counts->pairs);
    counts->sources = (int)options->sources->len;
    counts->bad = g_new0(xlm_bad_counts, counts->sources);
    counts->left_out = g_malloc0((gsize)counts->sources * sizeof *counts->left_out);
    return counts;
}

void xlm_prep_counts_free(xlm_prep_counts *counts)
{
    g_free(counts->language);
    g_free(counts->pair);
    g_free(counts->bad);
    g_free(counts->left_out);
    g_free(counts);
}

void xlm_prep_counts_sum(xlm_prep_counts *counts, const xlm_comm *comm)
{
    /* Both structs are nothing but int64_t. */
    xlm_comm_sum_int64(comm, (int64_t *)counts->language,
                       counts->languages * (int)(sizeof *counts->language / sizeof(int64_t)));
    xlm_comm_sum_int64(comm, (int64_t *)counts->pair, counts->pairs * (int)(sizeof *counts->pair / sizeof(int64_t)));
    xlm_comm_sum_int64(comm, (int64_t *)counts->left_out, (int64_t)counts->sources * XLM_RULES);
    for (int i = 0; i < counts->sources; i++) {
        xlm_bad_counts *bad = &counts->bad[i];
        int64_t first = bad->first > 0 ? -bad->first : -G_MAXINT64;
        xlm_comm_max_int64(comm, &first, 1);
        xlm_comm_sum_int64(comm, (int64_t *)bad, 2);
        bad->first = first > -G_MAXINT64 ? -first : 0;
    }
}

static double ratio(int64_t part, int64_t whole) { return whole > 0 ? (double)part / (double)whole : 0; }

/* "a.en: sentences left out: 3 by --max-words=80, 1 by --duplicates=drop", unless there are none. */
static void print_left_out(const xlm_prep_counts *counts, const xlm_prep_options *options, int i)
{
    const xlm_prep_source *source = options->sources->pdata[i];
    const bool pairs = source->sides == 2;
    g_autoptr(GString) line = g_string_new(NULL);
    for (int rule = 0; rule < XLM_RULES; rule++) {
        g_autofree char *text = xlm_filter_print(&options->filter, rule);
        if (counts->left_out[i][rule] > 0)
            g_string_append_printf(line, "%s%" G_GINT64_FORMAT " by %s", line->len > 0 ? ", " : "", counts->left_out[i][rule],
                                   text);
    }
    if (line->len > 0)
        xlm_log_info("%s%s%s: %s left out: %s", source->text[0]->name, pairs ? ", " : "", pairs ? source->text[1]->name : "",
                     pairs ? "pairs" : "sentences", line->str);
}

void xlm_prep_counts_print(const xlm_prep_counts *counts, const xlm_prep_options *options)
{
    xlm_log_info("%-10s %12s %12s %14s %14s %11s %8s %9s %7s", "language", "sentences", "of pairs", "words", "tokens",
                 "tokens/word", "<unk>", "held out", "empty");
    for (int i = 0; i < counts->languages; i++) {
        const xlm_language_counts *n = &counts->language[i];
        const int64_t from_pairs = n->parallel.train + n->parallel.held_out;
        xlm_log_info("%-10s %12" G_GINT64_FORMAT " %12" G_GINT64_FORMAT " %14" G_GINT64_FORMAT " %14" G_GINT64_FORMAT
                     " %11.3f %7.3f%% %9" G_GINT64_FORMAT " %7" G_GINT64_FORMAT,
                     (const char *)options->languages->pdata[i],
                     n->monolingual.train + n->monolingual.held_out + from_pairs, from_pairs, n->words, n->tokens,
                     ratio(n->tokens, n->words), 100 * ratio(n->unknown, n->tokens),
                     n->monolingual.held_out + n->parallel.held_out, n->monolingual.empty);
    }
    for (int i = 0; i < counts->languages; i++)
        xlm_warn_unknown((const char *)options->languages->pdata[i], counts->language[i].tokens, counts->language[i].unknown);
    for (int i = 0; i < counts->pairs; i++) {
        const xlm_split_counts *n = &counts->pair[i];
        g_autofree char *name = xlm_prep_pair_name(options, i);
        xlm_log_info("%s: %" G_GINT64_FORMAT " pairs, %" G_GINT64_FORMAT " of them held out; left out: %" G_GINT64_FORMAT
                     " with an empty side, %" G_GINT64_FORMAT " with a translation of a held-out sentence",
                     name, n->train + n->held_out, n->held_out, n->empty, n->aside);
    }
    for (int i = 0; i < counts->sources; i++)
        print_left_out(counts, options, i);
    for (int i = 0; i < counts->sources; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        const xlm_bad_counts *bad = &counts->bad[i];
        if (bad->first > 0)
            xlm_log_warn("%s%s%s: bad lines: %" G_GINT64_FORMAT " left out, %" G_GINT64_FORMAT " repaired; the first is line %"
                         G_GINT64_FORMAT, source->text[0]->name, source->sides == 2 ? ", " : "",
                         source->sides == 2 ? source->text[1]->name : "",
                         bad->skipped, bad->repaired, bad->first);
    }
    int64_t aside = 0;
    for (int i = 0; i < counts->languages; i++)
        aside += counts->language[i].monolingual.aside;
    if (aside > 0)
        xlm_log_info("%" G_GINT64_FORMAT " monolingual sentences left out as translations of held-out sentences", aside);
}
