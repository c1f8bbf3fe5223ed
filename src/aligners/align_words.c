/* xlm-mpi: word alignment of text by a statistical aligner, over all ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/align_words.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "aligners/alignment_write.h"
#include "aligners/link_file.h"
#include "base/log.h"
#include "base/pages.h"
#include "base/progress.h"

struct training {
    const xlm_comm *comm;
    const xlm_align_options *options;
    const xlm_aligner *aligner;
    xlm_aligner_model *model;      /* NULL: none */
    xlm_align_input input;
    xlm_found_links *found;        /* for the alignment of a corpus; NULL: not wanted */
    xlm_bitext *bitext;
    xlm_word_pairs pairs;
    xlm_word_numbers *numbers[2];  /* of the words in this rank's text, then of all words of the model */
    xlm_shared_counts *shared[3];  /* [xlm_table_of] rows of this rank's text, then of its part of the model */
    int64_t text_rows[4];          /* the number of the former */
    int64_t rows[4];               /* the number of both */
    xlm_large_array own;
    xlm_alignment_run run;
    int64_t *sums[XLM_ALIGNER_TABLES]; /* of the rows that this rank owns, after the last iteration; for saving the model */
    size_t workspace;              /* bytes that a thread needs for the largest sentence pair of this rank */
    int64_t max_cells;
};

/* ---- words and pairs of all ranks ---- */

/* The words of the text, then those of the model. */
static xlm_word_numbers *number_words(const struct training *t, int side)
{
    const xlm_bitext_side *text = &t->bitext->side[side];
    const int64_t more = t->model != NULL ? t->model->types[side] : 0;
    g_autofree char **texts = g_new(char *, text->types + more + 1);
    memcpy(texts, text->texts, sizeof *texts * (size_t)text->types);
    if (more > 0)
        memcpy(texts + text->types, t->model->texts[side], sizeof *texts * (size_t)more);
    return xlm_word_numbers_new(t->comm, texts, text->types + more);
}

static uint32_t number_of(const struct training *t, int side, int64_t word) { return (uint32_t)t->numbers[side]->numbers[word]; }

static xlm_count_key *find_keys(const struct training *t, xlm_table_of of)
{
    const xlm_aligner_model *model = t->model;
    const int32_t source_types = t->bitext->side[0].types, target_types = t->bitext->side[1].types;
    xlm_count_key *keys = g_new0(xlm_count_key, t->rows[of]), *at = keys;
    if (of == XLM_TABLE_PAIRS) {
        for (int32_t e = 0; e < source_types; e++)
            for (int64_t k = t->pairs.rows[e]; k < t->pairs.rows[e + 1]; k++)
                *at++ = (xlm_count_key){number_of(t, 0, e), number_of(t, 1, t->pairs.targets[k])};
        for (int64_t k = 0; model != NULL && k < model->rows[of]; k++)
            *at++ = (xlm_count_key){number_of(t, 0, source_types + (int64_t)model->sources[k]),
                                    number_of(t, 1, target_types + (int64_t)model->targets[k])};
        return keys;
    }
    const int side = of == XLM_TABLE_TARGET;
    for (int32_t w = 0; w < t->bitext->side[side].types; w++)
        *at++ = (xlm_count_key){number_of(t, side, w), 0};
    for (int64_t k = 0; model != NULL && k < model->rows[of]; k++)
        *at++ = (xlm_count_key){number_of(t, side, t->bitext->side[side].types + model->first[of] + k), 0};
    return keys;
}

/* A pair of words in the model is not new in the text, whichever rank has that part of the model. */
static void leave_out_known(const struct training *t)
{
    const int64_t n = t->rows[XLM_TABLE_PAIRS], text = t->text_rows[XLM_TABLE_PAIRS];
    g_autofree int64_t *in_model = g_new0(int64_t, n + 1);
    for (int64_t k = text; k < n; k++)
        in_model[k] = 1;
    xlm_shared_counts_sum(t->shared[XLM_TABLE_PAIRS], in_model, 1, NULL);
    for (int64_t k = 0; k < text; k++)
        t->run.first[k] &= in_model[k] == 0;
}

/* In bytes. */
static size_t table_size(const struct training *t, int k)
{
    const xlm_table *table = &t->aligner->tables[k];
    return sizeof(int64_t) * (size_t)(t->rows[table->of] * table->width);
}

static void clear_tables(struct training *t)
{
    for (int k = 0; t->aligner->tables[k].name != NULL; k++)
        memset(t->run.counts[k], 0, table_size(t, k));
}

/* Make the tables, and decide which rank owns which rows. */
static void share_rows(struct training *t)
{
    xlm_alignment_run *run = &t->run;
    const int64_t text[4] = {t->pairs.n, t->bitext->side[0].types, t->bitext->side[1].types, 1};
    for (int side = 0; side < 2; side++)
        t->numbers[side] = number_words(t, side);
    for (int of = XLM_TABLE_PAIRS; of <= XLM_TABLE_WHOLE; of++) {
        t->text_rows[of] = text[of];
        t->rows[of] = text[of] + (t->model != NULL && of != XLM_TABLE_WHOLE ? t->model->rows[of] : 0);
    }
    for (int of = XLM_TABLE_PAIRS; of < XLM_TABLE_WHOLE; of++) {
        g_autofree xlm_count_key *keys = find_keys(t, of);
        /* Not NULL even on a rank without pairs, because finding the first is collective. */
        bool *first = of == XLM_TABLE_PAIRS ? g_new(bool, t->rows[of] + 1) : NULL;
        t->shared[of] = xlm_shared_counts_new(t->comm, t->numbers[of == XLM_TABLE_TARGET]->owned, keys, t->rows[of], first);
        if (first != NULL)
            run->first = first;
    }
    if (t->model != NULL)
        leave_out_known(t);
    for (int k = 0; t->aligner->tables[k].name != NULL; k++)
        run->counts[k] = xlm_pages_take(table_size(t, k), "counts of words"); /* they are read and written in any order */
    clear_tables(t);
}

/* Totals: what all ranks have added in an iteration (nothing before the first), and the model. */
static void sum_tables(struct training *t, bool keep)
{
    for (int k = 0; t->aligner->tables[k].name != NULL; k++) {
        const xlm_table *table = &t->aligner->tables[k];
        const xlm_table_of of = table->of;
        const int64_t from_text = t->text_rows[of] * table->width;
        int64_t *counts = t->run.counts[k];
        if (of == XLM_TABLE_WHOLE) {
            for (int64_t i = 0; t->model != NULL && i < t->model->rows[of] * table->width; i++)
                counts[i] += t->model->counts[k][i];
            xlm_comm_sum_int64(t->comm, counts, table->width);
            if (keep)
                t->sums[k] = g_memdup2(counts, sizeof *counts * (size_t)table->width);
            continue;
        }
        if (t->model != NULL)
            memcpy(counts + from_text, t->model->counts[k], sizeof *counts * (size_t)(t->model->rows[of] * table->width));
        if (keep) {
            int64_t owned;
            xlm_shared_counts_owned(t->shared[of], &owned);
            t->sums[k] = g_new(int64_t, owned * table->width + 1);
        }
        xlm_shared_counts_sum(t->shared[of], counts, table->width, t->sums[k]);
    }
}

/* ---- sentence pairs ---- */

static int64_t cells_of(const struct training *t, int64_t sentence)
{
    return t->pairs.offsets[sentence + 1] - t->pairs.offsets[sentence];
}

/* The end of the sentence pairs from `from` on that are handled before the memory of their cells may be released. */
static int64_t block_end(const struct training *t, int64_t from)
{
    enum { CELLS = 1 << 22, PAIRS = 1 << 14 };
    int64_t to = from + 1;
    while (to < t->bitext->pairs && to - from < PAIRS && t->pairs.offsets[to + 1] - t->pairs.offsets[from] <= CELLS)
        to++;
    return to;
}

static void release(const struct training *t, int64_t from, int64_t to)
{
    const size_t begin = (size_t)t->pairs.offsets[from], cells = (size_t)t->pairs.offsets[to] - begin;
    xlm_large_array_release(&t->pairs.cells, sizeof(uint32_t) * begin, sizeof(uint32_t) * cells);
    xlm_large_array_release(&t->own, sizeof(uint16_t) * begin, sizeof(uint16_t) * cells);
}

static void iterate(struct training *t, xlm_progress *progress)
{
    t->aligner->begin(&t->run);
    clear_tables(t);
    const double done = (double)t->run.iteration * (double)t->pairs.offsets[t->bitext->pairs];
    for (int64_t from = 0, to; from < t->bitext->pairs; from = to) {
        to = block_end(t, from);
        #pragma omp parallel
        {
            g_autofree void *workspace = g_malloc(t->workspace);
            #pragma omp for schedule(dynamic, 8)
            for (int64_t s = from; s < to; s++)
                if (cells_of(t, s) > 0)
                    t->aligner->expect(&t->run, s, workspace);
        }
        release(t, from, to);
        xlm_progress_show(progress, done + (double)t->pairs.offsets[to]);
    }
    if (t->aligner->end != NULL)
        t->aligner->end(&t->run);
    sum_tables(t, t->options->save != NULL && t->run.iteration + 1 == t->run.iterations);
    t->run.informed = true;
}

/* ---- links ---- */

/* Links of one sentence pair, until they are appended to the output. */
struct found {
    xlm_link *links[3]; /* symmetrised, forward, reverse */
    int64_t n[3];
    float *scores;
};

static float score_of(const xlm_decoded *d, const xlm_link *link, int n, int m, xlm_symmetrisation how)
{
    const float forward = d->forward_posterior[(size_t)link->target * n + link->source];
    const float reverse = d->reverse_posterior[(size_t)link->source * m + link->target];
    return how == XLM_FORWARD ? forward : how == XLM_REVERSE ? reverse : sqrtf(forward * reverse);
}

/* Decode a pair of n source and m target words. Ends the program unless each word has a result that is a word of the other side,
 * or none: links are found by these numbers. */
static void decode(const struct training *t, int64_t sentence, int n, int m, void *workspace, xlm_decoded *d)
{
    enum { UNSET = -2 };
    for (int j = 0; j < m; j++)
        d->forward[j] = UNSET;
    for (int i = 0; i < n; i++)
        d->reverse[i] = UNSET;
    t->aligner->decode(&t->run, sentence, workspace, d);
    bool good = true;
    for (int j = 0; j < m; j++)
        good &= d->forward[j] >= -1 && d->forward[j] < n;
    for (int i = 0; i < n; i++)
        good &= d->reverse[i] >= -1 && d->reverse[i] < m;
    if (!good)
        g_error("aligner %s: decode must set for each word the number of a word of the other side, or -1", t->aligner->name);
}

static struct found find_links(const struct training *t, int64_t sentence, xlm_decoded *d, void *workspace)
{
    static const xlm_symmetrisation directions[] = {XLM_FORWARD, XLM_REVERSE};
    const xlm_align_options *o = t->options;
    struct found found = {.n = {0}};
    const int n = xlm_bitext_length(&t->bitext->side[0], sentence), m = xlm_bitext_length(&t->bitext->side[1], sentence);
    if (n == 0)
        return found;
    decode(t, sentence, n, m, workspace, d);
    const xlm_symmetrisation how[] = {o->symmetrisation, directions[0], directions[1]};
    const bool scored = o->scores != NULL || t->found != NULL;
    const bool wanted[] = {o->links != NULL || o->print || scored, o->forward != NULL, o->reverse != NULL};
    for (int k = 0; k < 3; k++)
        if (wanted[k]) {
            found.links[k] = g_new(xlm_link, n + m);
            found.n[k] = xlm_symmetrise(how[k], d->forward, m, d->reverse, n, found.links[k]);
        }
    if (scored) {
        found.scores = g_new(float, found.n[0]);
        for (int64_t i = 0; i < found.n[0]; i++)
            found.scores[i] = score_of(d, &found.links[0][i], n, m, o->symmetrisation);
    }
    return found;
}

static void append_links(const struct training *t, struct found *found, GString *const *lines)
{
    if (t->found != NULL)
        xlm_found_links_append(t->found, found->links[0], found->scores, found->n[0]);
    for (int k = 0; k < 3; k++) {
        if (lines[k] != NULL)
            xlm_link_file_append(lines[k], found->links[k], found->n[k]);
        g_free(found->links[k]);
    }
    if (t->options->scores != NULL)
        xlm_link_file_append_scores(lines[3], found->scores, found->n[0]);
    g_free(found->scores);
}

static void decode_all(struct training *t, xlm_progress *progress, GString *const *lines)
{
    t->run.iteration = t->run.iterations;
    t->aligner->begin(&t->run);
    const double done = (double)t->run.iteration * (double)t->pairs.offsets[t->bitext->pairs];
    for (int64_t from = 0, to; from < t->bitext->pairs; from = to) {
        to = block_end(t, from);
        g_autofree struct found *found = g_new0(struct found, to - from);
        #pragma omp parallel
        {
            g_autofree void *workspace = g_malloc(t->workspace);
            /* A side has no more words than a sentence pair has cells. */
            const int64_t room = t->max_cells + 1;
            g_autofree int32_t *words = g_new(int32_t, 2 * room);
            g_autofree float *posteriors = g_new(float, 2 * room);
            xlm_decoded decoded = {words, words + room, posteriors, posteriors + room};
            #pragma omp for schedule(dynamic, 8)
            for (int64_t s = from; s < to; s++)
                found[s - from] = find_links(t, s, &decoded, workspace);
        }
        for (int64_t s = from; s < to; s++)
            append_links(t, &found[s - from], lines);
        release(t, from, to);
        xlm_progress_show(progress, done + (double)t->pairs.offsets[to]);
    }
}

static bool write_alignment(const struct training *t, GError **error)
{
    const xlm_align_options *o = t->options;
    const xlm_alignment_origin origin = {.command = o->command, .method = t->aligner->name,
                                         .model = o->model != NULL ? o->model : "",
                                         .symmetrisation = xlm_symmetrisation_name(o->symmetrisation), .layer = -1};
    return xlm_alignment_write_words(t->comm, o->alignment, t->input.pairs, t->found, &origin, error);
}

static bool write_links(struct training *t, xlm_progress *progress, GError **error)
{
    const xlm_align_options *o = t->options;
    const char *const path[] = {o->links, o->forward, o->reverse, o->scores};
    GString *lines[G_N_ELEMENTS(path)];
    bool good = true;
    for (size_t k = 0; k < G_N_ELEMENTS(path); k++)
        lines[k] = path[k] != NULL || (k == 0 && o->print) ? g_string_new(NULL) : NULL;
    decode_all(t, progress, lines);
    xlm_progress_end(progress);
    for (size_t k = 0; k < G_N_ELEMENTS(path); k++)
        if (lines[k] != NULL) {
            good = good && xlm_link_file_write(t->comm, path[k], lines[k]->str, lines[k]->len, error);
            g_string_free(lines[k], TRUE);
        }
    return good && (t->found == NULL || write_alignment(t, error));
}

/* ---- the whole ---- */

/* Ends the program if the aligner has more tables than there are places for, or if none ends their list. */
static void check_tables(const xlm_aligner *aligner)
{
    int n = 0;
    while (n <= XLM_ALIGNER_TABLES && aligner->tables[n].name != NULL)
        n++;
    if (n > XLM_ALIGNER_TABLES)
        g_error("aligner %s: it has more than %d tables, or no table without a name after the last one", aligner->name,
                XLM_ALIGNER_TABLES);
}

static bool read_model(struct training *t, GError **error)
{
    const xlm_align_options *o = t->options;
    if (o->model != NULL && (t->model = xlm_aligner_model_read(t->comm, o->model, error)) == NULL)
        return false;
    if (t->model != NULL && o->aligner != NULL && o->aligner != t->model->aligner)
        return xlm_error_set(error, EX_USAGE, "%s: is a model of the method %s, not of %s", o->model, t->model->aligner->name,
                             o->aligner->name);
    t->aligner = o->aligner != NULL ? o->aligner : t->model != NULL ? t->model->aligner : xlm_aligner_find(NULL, NULL);
    check_tables(t->aligner);
    t->run.iterations = o->iterations >= 0 ? (int)o->iterations : t->model != NULL ? 0 : t->aligner->iterations;
    return true;
}

static void log_unaligned(const xlm_bitext *b, const xlm_sentence_pairs *pairs, int64_t longest)
{
    g_autofree char *empty = xlm_sentence_pairs_place(pairs, b->first_empty);
    g_autofree char *long_one = xlm_sentence_pairs_place(pairs, b->first_long);
    g_autofree char *long_word = xlm_sentence_pairs_place(pairs, b->first_long_word);
    if (b->empty > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " pairs have an empty side, the first is %s; they get no links",
                     b->empty, b->total, empty);
    if (b->long_ones > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " pairs have a side of more than %" G_GINT64_FORMAT
                     " words, the first is %s; they get no links (see --longest)", b->long_ones, b->total, longest, long_one);
    if (b->long_words > 0)
        xlm_log_warn("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " pairs have a word of more than %d bytes, the first is %s; they "
                     "get no links", b->long_words, b->total, XLM_BITEXT_WORD_BYTES, long_word);
}

static bool read_text(struct training *t, GError **error)
{
    const xlm_align_options *o = t->options;
    xlm_bitext_options text = o->text;
    if (t->model != NULL) {
        text.words = t->model->words;
        text.lower = t->model->lower;
        if ((o->text.words != XLM_WORDS_SPACE && text.words != o->text.words) || (o->text.lower && !text.lower))
            xlm_log_warn("%s: was trained with --words=%s%s, and so words are found here, whatever the options say", o->model,
                         xlm_word_mode_name(text.words), text.lower ? " --lowercase" : "");
    }
    if (!xlm_align_input_open(t->comm, &o->source, XLM_PAIR_WORK_PRODUCT, 1, &t->input, error) ||
        (t->bitext = xlm_bitext_read(t->comm, t->input.pairs, &text, error)) == NULL)
        return false;
    log_unaligned(t->bitext, t->input.pairs, text.longest);
    if (o->alignment != NULL)
        t->found = xlm_found_links_new();
    else
        xlm_align_input_close(&t->input);
    return true;
}

/* A cell takes 4 bytes, and 2 more if the aligner wants to know what it has added. */
static bool make_arrays(struct training *t, GError **error)
{
    const xlm_bitext *b = t->bitext;
    const int64_t cell = t->aligner->own ? 6 : 4, words = b->side[0].offsets[b->pairs] + b->side[1].offsets[b->pairs];
    GError *failure = NULL;
    if (xlm_word_pairs_make(&t->pairs, b, t->options->memory / cell * 4, t->options->scratch, &failure) && t->aligner->own) {
        const int64_t cells = t->pairs.offsets[b->pairs];
        xlm_large_array_make(&t->own, sizeof(uint16_t) * (size_t)(cells + words),
                             cells * cell > t->options->memory ? t->options->scratch : NULL, &failure);
    }
    for (int64_t s = 0; s < b->pairs && failure == NULL; s++)
        if (cells_of(t, s) > 0) {
            const int n = xlm_bitext_length(&b->side[0], s), m = xlm_bitext_length(&b->side[1], s);
            t->workspace = MAX(t->workspace, t->aligner->workspace(n, m));
            t->max_cells = MAX(t->max_cells, cells_of(t, s));
        }
    if (!xlm_comm_agree_on(t->comm, failure, error))
        return false;
    int64_t all = t->pairs.offsets[b->pairs];
    xlm_comm_sum_int64(t->comm, &all, 1);
    return all > 0 || t->options->save == NULL || t->model != NULL ||
           xlm_error_set(error, EX_DATAERR, "%s: no pair has words on both sides, and few enough: there is no model to save",
                         t->options->source.files[0]);
}

static bool save_model(const struct training *t, GError **error)
{
    xlm_aligner_record record = {
        .aligner = t->aligner,
        .words = t->model != NULL ? t->model->words : t->options->text.words,
        .lower = t->model != NULL ? t->model->lower : t->options->text.lower,
        .sentence_pairs = t->bitext->total + (t->model != NULL ? t->model->sentence_pairs : 0),
        .iterations = t->run.iterations, .command = t->options->command,
        .numbers = {t->numbers[0], t->numbers[1]}, .pairs = t->shared[XLM_TABLE_PAIRS],
    };
    for (int k = 0; k < XLM_ALIGNER_TABLES; k++)
        record.sums[k] = t->sums[k];
    return xlm_aligner_model_write(t->comm, t->options->save, &record, error);
}

static bool train(struct training *t, GError **error)
{
    xlm_alignment_run *run = &t->run;
    run->bitext = t->bitext;
    run->pairs = &t->pairs;
    run->own = t->own.data;
    run->many_threads = omp_get_max_threads() > 1;
    share_rows(t);
    for (int side = 0; side < 2; side++)
        run->words[side] = t->numbers[side]->all;
    if (t->model != NULL)
        sum_tables(t, false);
    run->informed = run->started_informed = t->model != NULL;
    t->aligner->open(run);
    const double cells = (double)t->pairs.offsets[t->bitext->pairs];
    xlm_progress progress = xlm_progress_begin("aligning", (run->iterations + 1) * cells, "cells");
    for (run->iteration = 0; run->iteration < run->iterations; run->iteration++)
        iterate(t, &progress);
    const bool good = write_links(t, &progress, error) && (t->options->save == NULL || save_model(t, error));
    t->aligner->close(run);
    return good;
}

static void free_training(struct training *t)
{
    for (int k = 0; k < XLM_ALIGNER_TABLES; k++) {
        free(t->run.counts[k]);
        g_free(t->sums[k]);
    }
    for (int of = XLM_TABLE_PAIRS; of < XLM_TABLE_WHOLE; of++)
        xlm_shared_counts_free(t->shared[of]);
    g_free(t->run.first);
    for (int side = 0; side < 2; side++)
        xlm_word_numbers_free(t->numbers[side]);
    xlm_large_array_free(&t->own);
    xlm_word_pairs_free(&t->pairs);
    xlm_bitext_free(t->bitext);
    xlm_found_links_free(t->found);
    xlm_align_input_close(&t->input);
    xlm_aligner_model_free(t->model);
}

bool xlm_align_words(const xlm_comm *comm, const xlm_align_options *options, GError **error)
{
    struct training t = {.comm = comm, .options = options};
    const double start = xlm_clock();
    const bool good = read_model(&t, error) && read_text(&t, error) && make_arrays(&t, error) && train(&t, error);
    if (good)
        xlm_log_info("%" G_GINT64_FORMAT " sentence pairs by %s, %d iterations, in %.2f s", t.bitext->total, t.aligner->name,
                     t.run.iterations, xlm_clock() - start);
    free_training(&t);
    return good;
}
