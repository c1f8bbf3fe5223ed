/* xlm-mpi: losses on held-out text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "train/evaluate.h"

#include <math.h>
#include <string.h>

#include "base/progress.h"
#include "train/averages.h"
#include "train/hooks.h"

/* Sums over the predicted tokens of one language. */
typedef struct tally {
    double terms, loss, correct;
} tally;
enum { TALLY = sizeof(tally) / sizeof(double) };

/* Instances [first, first + n) of a stream in order. */
typedef struct block {
    int64_t first, n;
} block;

/* Append `wanted` blocks of up to `run` of the n instances from `first` on, evenly spread. */
static void spread(int64_t first, int64_t n, int64_t run, int64_t wanted, GArray *blocks)
{
    const int64_t all = (n + run - 1) / run;
    for (int64_t i = 0; i < wanted; i++) {
        const int64_t start = i * all / wanted * run;
        const block b = {first + start, MIN(run, n - start)};
        g_array_append_val(blocks, b);
    }
}

int64_t xlm_evaluation_block(const xlm_job *job, int s)
{
    return MAX(1, job->stream[s].config.batch / job->train.micro_batches);
}

/* The instances of stream s to evaluate, [train] evaluate_instances or a little more: each component (a language or a pair) has
 * one block at least, and the others are shared out in proportion to what there is of each. */
static GArray *choose_blocks(const xlm_job *job, const xlm_workspace *w, int s)
{
    const xlm_stream *stream = w->streams->held_out[s];
    const int components = xlm_stream_components(stream);
    const int64_t max_instances = job->train.evaluate_instances, run = xlm_evaluation_block(job, s);
    GArray *blocks = g_array_new(FALSE, FALSE, sizeof(block));
    int64_t more = 0, one = 0; /* blocks that there are besides the first of each component; components with any */
    for (int i = 0; i < components; i++) {
        const int64_t n = xlm_stream_component_instances(stream, i);
        more += n > 0 ? (n - 1) / run : 0;
        one += n > 0;
    }
    const int64_t shared_out = CLAMP(max_instances / run - one, 0, more);
    for (int64_t i = 0, first = 0, passed = 0; i < components; i++) {
        const int64_t n = xlm_stream_component_instances(stream, (int)i);
        if (n == 0)
            continue;
        const int64_t before = passed;
        passed += (n - 1) / run;
        const int64_t wanted = more > 0 ? passed * shared_out / more - before * shared_out / more : 0;
        spread(first, n, run, 1 + wanted, blocks);
        first += n;
    }
    return blocks;
}

static void add_scores(const xlm_batch *batch, const xlm_score *scores, tally *by_language)
{
    for (int32_t i = 0; i < batch->predicted; i++) {
        tally *sum = &by_language[batch->corrupted.unswitched[batch->predicted_rows[i]]];
        sum->terms++;
        sum->loss += scores[i].loss;
        sum->correct += scores[i].correct;
    }
}

/* What is evaluated. */
typedef struct evaluation {
    const xlm_job *job;
    const xlm_workspace *workspace;
    int64_t step;
} evaluation;

/* One block of its stream for objective k: row 0 of `sums` is all languages, row 1 + l language l. pass: what the pass adds its
 * sums to; terms: [xlm_host_means], to which its terms are added. averaged: the average that its labels need, or NULL. */
static bool run_block(const evaluation *e, float *averaged, int k, const block *b, tally *sums, xlm_sums *pass, int64_t *terms,
                      GError **error)
{
    const xlm_workspace *w = e->workspace;
    const int s = e->job->objective[k].stream;
    xlm_arena_reset(w->arena);
    xlm_batch batch;
    if (!xlm_stream_read_in_order(w->streams->held_out[s], b->first, b->n, w->arena, &batch, error))
        return false;
    xlm_pass_input input = {.stream = s, .batch = &batch, .parts = 1, .step = e->step, .held_out = true, .only = k};
    xlm_host_count(w->host, &input, w->arena);
    if (xlm_host_loss(w->host, k)->cls->label != NULL) {
        xlm_tape_begin(w->tape, NULL, false, (uint64_t)e->job->train.seed, 0);
        xlm_host_label(w->host, w->tape, &input, xlm_host_average_of(w->host, k), averaged);
    }
    if (!xlm_host_has_terms_of(w->host, k, input.terms))
        return true;
    xlm_score *scores = XLM_TAKE(w->arena, xlm_score, batch.predicted);
    for (int32_t i = 0; i < batch.predicted; i++)
        scores[i] = (xlm_score){.loss = NAN};
    xlm_tape_begin(w->tape, NULL, false, (uint64_t)e->job->train.seed, 0);
    xlm_host_run(w->host, w->tape, &input, NULL, pass, &(xlm_host_outputs){.scores = scores});
    sums[0].terms += (double)input.terms[k];
    sums[0].loss += pass->mean[k];
    for (int i = 0; i < xlm_host_means(w->host); i++)
        terms[i] += input.terms[i];
    if (batch.predicted > 0 && !isnan(scores[0].loss)) {
        add_scores(&batch, scores, sums + 1);
        for (int32_t i = 0; i < batch.predicted; i++)
            sums[0].correct += scores[i].correct;
    } else {
        sums[0].correct = NAN;
    }
    return true;
}

/* terms: of all means of the objective; 0: there is no row. loss: what is reported, also when the model has made it NaN; the
 * perplexity is of the predicted tokens alone. */
static void add_row(GArray *rows, int objective, int language, const tally *sum, int64_t terms, double loss)
{
    if (terms == 0)
        return;
    const bool scored = !isnan(sum->correct) && sum->terms > 0;
    const xlm_evaluation row = {
        .objective = objective,
        .language = language,
        .terms = llround(sum->terms),
        .loss = loss,
        .perplexity = scored ? exp(sum->loss / sum->terms) : NAN,
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

/* Blocks whose sums are in memory at a time, or four a rank if these are more: for all of a large corpus in many languages they
 * would take gigabytes. Few, so that tests have several parts. */
enum { BLOCKS_AT_ONCE = 64 };

/* Tallies of each of n blocks apart, each made by one rank and 0 on the others, brought together and added in the order of the
 * blocks: the same for any number of ranks. */
static void add_blocks(const xlm_comm *comm, double *sums, int64_t n, int64_t width, double *total)
{
    xlm_comm_merge_double(comm, sums, n * width);
    for (int64_t i = 0; i < n; i++)
        for (int64_t w = 0; w < width; w++)
            total[w] += sums[i * width + w];
}

static bool evaluate_objective(const evaluation *e, int k, GArray *rows, GError **error)
{
    const xlm_workspace *w = e->workspace;
    const int width = 1 + (int)w->model->languages, means = xlm_host_means(w->host);
    GArray *blocks = choose_blocks(e->job, w, e->job->objective[k].stream);
    const int64_t n = blocks->len, at_once = MIN(n, MAX(BLOCKS_AT_ONCE, 4 * (int64_t)w->comm->ranks));
    const GPtrArray *names = xlm_host_metric_names(w->host, k);
    g_autofree tally *sums = g_new(tally, at_once * width), *sum = g_new0(tally, width);
    g_autofree xlm_sums *passes = g_new(xlm_sums, at_once);
    g_autofree int64_t *terms = g_new0(int64_t, MAX(means, 1));
    xlm_sums pass = xlm_host_sums_new(w->host);
    bool good = true;
    for (int64_t i = 0; i < at_once; i++)
        passes[i] = xlm_host_sums_new(w->host);
    const int average = xlm_host_average_of(w->host, k);
    float *averaged = average >= 0 ? xlm_averages_gather(w->averages, average, w->gradient) : NULL;
    xlm_progress progress = xlm_progress_begin("evaluating", (double)n, "blocks");
    xlm_tape_hold_parameters(w->tape, true);
    for (int64_t first = 0; good && first < n; first += at_once) {
        const int64_t there = MIN(at_once, n - first);
        memset(sums, 0, sizeof *sums * (size_t)(there * width));
        for (int64_t i = 0; i < there; i++)
            xlm_sums_clear(&passes[i]);
        for (int64_t i = w->comm->rank; i < there && *error == NULL; i += w->comm->ranks) {
            xlm_progress_show(&progress, (double)(first + i));
            run_block(e, averaged, k, &g_array_index(blocks, block, first + i), sums + i * width, &passes[i], terms, error);
        }
        good = xlm_comm_agree(w->comm, error);
        if (good) {
            add_blocks(w->comm, (double *)sums, there, width * TALLY, (double *)sum);
            xlm_exchange_sums(w->comm, passes, there, NULL, 0);
            for (int64_t i = 0; i < there; i++)
                xlm_sums_add(&pass, &passes[i]);
        }
    }
    xlm_tape_hold_parameters(w->tape, false);
    xlm_progress_end(&progress);
    g_array_unref(blocks);
    if (good) {
        xlm_comm_sum_int64(w->comm, terms, means);
        int64_t all = 0;
        for (int i = 0; i < means; i++)
            all += terms[i];
        add_row(rows, k, -1, &sum[0], all, xlm_host_mean_loss(w->host, k, &pass, terms));
        for (int language = 0; language < w->model->languages; language++) {
            const tally *of_language = &sum[1 + language];
            add_row(rows, k, language, of_language, llround(of_language->terms), of_language->loss / of_language->terms);
        }
        for (guint i = 0; i < names->len; i++)
            if (xlm_host_metric_is_held_out(w->host, k, (int)i))
                add_metric(rows, k, names->pdata[i], xlm_host_metric_sums(w->host, &pass, k) + i);
    }
    for (int64_t i = 0; i < at_once; i++)
        xlm_sums_free(&passes[i]);
    xlm_sums_free(&pass);
    return good;
}

bool xlm_evaluate(const xlm_job *job, const xlm_workspace *workspace, int64_t step, xlm_evaluation **rows, int *n, GError **error)
{
    const evaluation e = {.job = job, .workspace = workspace, .step = step};
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(xlm_evaluation));
    GError *failure = NULL;
    for (int k = 0; k < job->objectives && failure == NULL; k++) {
        const xlm_job_objective *objective = &job->objective[k];
        if (objective->stream >= 0 && workspace->streams->held_out[objective->stream] != NULL &&
            xlm_loss_weight_takes_part(&objective->weight, step))
            evaluate_objective(&e, k, all, &failure);
    }
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    *n = (int)all->len;
    *rows = (xlm_evaluation *)g_array_free(g_steal_pointer(&all), FALSE);
    return true;
}
