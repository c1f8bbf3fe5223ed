/* xlm-mpi: losses on held-out text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "train/pass.h"

/* Sums over the predicted tokens of one language. */
typedef struct tally {
    double terms, loss, correct;
} tally;
enum { TALLY = sizeof(tally) / sizeof(double) };

/* The instances of a stream that are looked at: `blocks` runs of up to `run` instances, evenly spread. */
typedef struct blocks {
    int64_t instances, run, all, blocks;
} blocks;

static blocks spread(const xlm_trainer *t, int s, int64_t most)
{
    blocks b = {.instances = xlm_stream_instances(t->held_out[s])};
    b.run = MAX(1, t->job->stream[s].config.batch / t->job->train.granules);
    b.all = (b.instances + b.run - 1) / b.run;
    b.blocks = MIN(b.all, MAX(1, most / b.run));
    return b;
}

static void add_scores(const xlm_batch *batch, const xlm_score *scores, tally *by_language)
{
    for (int32_t i = 0; i < batch->masked; i++) {
        tally *sum = &by_language[batch->text_languages[batch->masked_rows[i]]];
        sum->terms++;
        sum->loss += scores[i].loss;
        sum->correct += scores[i].correct;
    }
}

/* One block of a stream for objective k: row 0 of `sums` is all languages, row 1 + l language l. metrics: of the objective. */
static bool run_block(xlm_trainer *t, int s, int k, int64_t first, int64_t n, tally *sums, xlm_metric_sum *metrics, GError **error)
{
    xlm_arena_reset(t->arena);
    xlm_batch batch;
    if (!xlm_stream_read_in_order(t->held_out[s], first, n, t->arena, &batch, error))
        return false;
    const xlm_pass_input input = {.stream = s, .batch = &batch, .parts = 1, .only = k};
    const int64_t terms = xlm_pass_count(t, &input, k);
    if (terms == 0)
        return true;
    xlm_score *scores = XLM_TAKE(t->arena, xlm_score, batch.masked);
    for (int32_t i = 0; i < batch.masked; i++)
        scores[i] = (xlm_score){.loss = NAN};
    double *row = g_new0(double, xlm_pass_numbers(t));
    xlm_tape_begin(t->tape, NULL, false, t->setup.seed, 0);
    xlm_pass_run(t, &input, NULL, false, row, scores, NULL);
    sums[0].terms += (double)terms;
    sums[0].loss += row[k];
    memcpy(metrics, xlm_pass_metrics(t, row, k), sizeof *metrics * t->loss[k].metrics->names->len);
    if (batch.masked > 0 && !isnan(scores[0].loss)) {
        add_scores(&batch, scores, sums + 1);
        for (int32_t i = 0; i < batch.masked; i++)
            sums[0].correct += scores[i].correct;
    } else {
        sums[0].correct = NAN;
    }
    g_free(row);
    return true;
}

static void add_row(GArray *rows, int objective, int language, const tally *sum)
{
    if (sum->terms == 0)
        return;
    const double loss = sum->loss / sum->terms;
    const bool scored = !isnan(sum->correct);
    const xlm_evaluation row = {
        .objective = objective,
        .language = language,
        .terms = llround(sum->terms),
        .loss = loss,
        .perplexity = scored ? exp(loss) : NAN,
        .accuracy = scored ? sum->correct / sum->terms : NAN,
    };
    g_array_append_val(rows, row);
}

static void add_metric(GArray *rows, int objective, const char *name, const xlm_metric_sum *sum)
{
    if (sum->count == 0)
        return;
    const xlm_evaluation row = {
        .objective = objective, .language = -1, .terms = llround(sum->count), .metric = name, .score = sum->sum / sum->count,
    };
    g_array_append_val(rows, row);
}

/* Sums of each block apart, brought together and added in the order of the blocks: the same for any number of ranks. */
static void add_blocks(const xlm_comm *comm, double *sums, int64_t n, int64_t width)
{
    xlm_comm_sum_double(comm, sums, (int)(n * width));
    for (int64_t i = 1; i < n; i++)
        for (int64_t w = 0; w < width; w++)
            sums[w] += sums[i * width + w];
}

static bool evaluate_objective(xlm_trainer *t, int k, int64_t most, GArray *rows, GError **error)
{
    const int s = t->job->objective[k].stream, width = 1 + (int)t->config.languages;
    const blocks b = spread(t, s, most);
    const GPtrArray *names = t->loss[k].metrics->names;
    tally *sums = g_new0(tally, b.blocks *width);
    xlm_metric_sum *metrics = g_new0(xlm_metric_sum, b.blocks *names->len);
    xlm_progress progress = xlm_progress_begin("evaluating", (double)b.blocks, "blocks");
    for (int64_t i = t->comm->rank; i < b.blocks && *error == NULL; i += t->comm->ranks) {
        xlm_progress_show(&progress, (double)i);
        const int64_t first = i * b.all / b.blocks * b.run;
        run_block(t, s, k, first, MIN(b.run, b.instances - first), sums + i * width, metrics + i * names->len, error);
    }
    xlm_progress_end(&progress);
    const bool good = xlm_comm_agree(t->comm, error);
    if (good) {
        add_blocks(t->comm, (double *)sums, b.blocks, width * TALLY);
        add_blocks(t->comm, (double *)metrics, b.blocks, 2 * (int64_t)names->len);
        for (int language = -1; language < t->config.languages; language++)
            add_row(rows, k, language, &sums[1 + language]);
        for (guint i = 0; i < names->len; i++)
            add_metric(rows, k, names->pdata[i], &metrics[i]);
    }
    g_free(sums);
    g_free(metrics);
    return good;
}

bool xlm_evaluate(xlm_trainer *trainer, int64_t instances, xlm_evaluation **rows, int *n, GError **error)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(xlm_evaluation));
    GError *failure = NULL;
    for (int k = 0; k < trainer->job->objectives && failure == NULL; k++) {
        const xlm_job_objective *objective = &trainer->job->objective[k];
        if (objective->stream >= 0 && trainer->held_out[objective->stream] != NULL && trainer->step >= objective->begin)
            evaluate_objective(trainer, k, instances, all, &failure);
    }
    *n = (int)all->len;
    *rows = (xlm_evaluation *)g_array_free(all, FALSE);
    if (failure == NULL)
        return true;
    g_free(*rows);
    g_propagate_error(error, failure);
    return false;
}
