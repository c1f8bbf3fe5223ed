/* xlm-mpi: what a training run prints, and metrics.csv. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/report.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "gemm/gemm.h"
#include "model/checkpoint_names.h"
#include "run/measures.h"
#include "run/metrics_file.h"
#include "run/time_left.h"

/* An objective without terms in so many steps is warned about before the run ends: one may have to fill a queue first. */
enum { STEPS_WITHOUT_TERMS = 100 };

/* The last and the best value of what models are compared by, and the steps at which they were measured. */
typedef struct score {
    double last, best;
    int64_t last_step, best_step; /* -1: none */
} score;

struct xlm_report {
    xlm_report_setup of;
    xlm_metrics_file *metrics; /* NULL except on rank 0 */
    /* since the last line of the log */
    double since, flops, paused_at, paused_flops;
    int64_t steps, tokens;
    double loss, *objective_loss;
    int64_t *objective_steps;
    xlm_metric_sum *metric; /* [xlm_host_metrics] */
    double gemm_gflops; /* rate of GEMM: as measured, or the highest since */
    bool gemm_raised;
    xlm_time_left left;
    /* of the run, for the summary */
    double run_seconds, opened_at;
    int64_t run_steps, run_tokens;
    double last_step_at;
    int64_t *steps_without_terms; /* [objectives] in which each was computed since the start or the resumption, before its first
                                     terms; -1: it has had some, or it was warned about */
    score held_out;  /* weighted sum of the objectives' losses; the best of those with the weights of the last one */
    double *weight;  /* [objectives] which these are */
    score validated; /* what checkpoints are compared by */
    char *validated_name;
};

xlm_report *xlm_report_open(const xlm_report_setup *setup, bool resumed, GError **error)
{
    xlm_report *r = g_new0(xlm_report, 1);
    GError *failure = NULL;
    r->of = *setup;
    r->objective_loss = g_new0(double, MAX(setup->job->objectives, 1));
    r->objective_steps = g_new0(int64_t, MAX(setup->job->objectives, 1));
    r->steps_without_terms = g_new0(int64_t, MAX(setup->job->objectives, 1));
    r->weight = g_new0(double, MAX(setup->job->objectives, 1));
    r->metric = g_new0(xlm_metric_sum, MAX(xlm_host_metrics(setup->host), 1));
    if (setup->comm->rank == 0)
        r->metrics = xlm_metrics_file_open(setup->job->train.output, setup->job->train.tensorboard, resumed,
                                           setup->progress->step, &failure);
    if (!xlm_comm_agree_on(setup->comm, failure, error)) {
        xlm_report_close(r);
        return NULL;
    }
    r->since = r->last_step_at = r->opened_at = xlm_clock();
    r->gemm_gflops = setup->gemm_gflops;
    r->held_out.last_step = r->held_out.best_step = r->validated.last_step = -1;
    r->flops = xlm_gemm_flops();
    return r;
}

bool xlm_report_has_evaluation(const xlm_report *report)
{
    int64_t has = report->metrics != NULL && xlm_metrics_file_evaluated(report->metrics) == report->of.progress->step;
    xlm_comm_max_int64(report->of.comm, &has, 1);
    return has != 0;
}

void xlm_report_flush(xlm_report *report)
{
    if (report->metrics != NULL)
        xlm_metrics_file_flush(report->metrics);
}

void xlm_report_close(xlm_report *report)
{
    if (report == NULL)
        return;
    xlm_metrics_file_close(report->metrics);
    g_free(report->objective_loss);
    g_free(report->objective_steps);
    g_free(report->steps_without_terms);
    g_free(report->weight);
    g_free(report->metric);
    g_free(report->validated_name);
    g_free(report);
}

void xlm_report_pause(xlm_report *report)
{
    report->paused_at = xlm_clock();
    report->paused_flops = xlm_gemm_flops();
}

void xlm_report_resume(xlm_report *report)
{
    const double away = xlm_clock() - report->paused_at;
    report->since += away;
    report->last_step_at += away;
    report->flops += xlm_gemm_flops() - report->paused_flops;
}

/* The weight of objective k in the step that is reported; 0 if it took no part. */
static double weight_in_step(const xlm_report *r, int k)
{
    const xlm_loss_weight *weight = &r->of.job->objective[k].weight;
    const int64_t step = r->of.progress->step - 1;
    return xlm_loss_weight_takes_part(weight, step) ? xlm_loss_weight_at(weight, step) : 0;
}

/* A key of a stream that changes with the step. */
typedef struct scheduled {
    const xlm_report *report;
    const char *stream;
    GString *line; /* of the log; NULL: a row of metrics.csv */
} scheduled;

static void show_scheduled(void *data, const char *key, double value)
{
    const scheduled *s = data;
    const int64_t step = s->report->of.progress->step;
    g_autofree char *name = g_strconcat("stream ", s->stream, NULL);
    if (s->line != NULL)
        g_string_append_printf(s->line, "  %s/%s %.4g", name, key, value);
    else
        xlm_metrics_file_metric(s->report->metrics, step, "train", name, key, "", 1, value);
}

static void show_schedules(const xlm_report *r, GString *line)
{
    for (int k = 0; k < r->of.job->streams; k++) {
        scheduled s = {r, r->of.job->stream[k].name, line};
        xlm_stream_config_schedules(&r->of.job->stream[k].config, r->of.progress->step - 1, show_scheduled, &s);
    }
}

static void write_rows(xlm_report *r, const xlm_step_report *s, double seconds)
{
    const xlm_job *job = r->of.job;
    const int64_t step = r->of.progress->step;
    const xlm_step_numbers total = {.loss = s->loss, .learning_rate = s->learning_rate, .gradient_norm = s->gradient_norm,
                                    .tokens = s->tokens, .seconds = seconds};
    xlm_metrics_file_step(r->metrics, step, &total);
    for (int k = 0; k < job->objectives; k++)
        if (xlm_host_has_terms_of(r->of.host, k, s->terms))
            xlm_metrics_file_loss(r->metrics, step, "train", job->objective[k].name, "", s->terms[k],
                                  s->objective_loss[k], NAN, NAN);
    for (int k = 0; k < job->objectives; k++)
        if (xlm_loss_weight_changes(&job->objective[k].weight))
            xlm_metrics_file_metric(r->metrics, step, "train", job->objective[k].name, "weight", "", s->terms[k],
                                    weight_in_step(r, k));
    show_schedules(r, NULL);
    const xlm_metric_sum *sum = s->metric;
    for (int k = 0; k < job->objectives; k++) {
        const GPtrArray *names = xlm_host_metric_names(r->of.host, k);
        for (guint i = 0; i < names->len; i++, sum++)
            if (sum->count > 0)
                xlm_metrics_file_metric(r->metrics, step, "train", job->objective[k].name, names->pdata[i], "",
                                        (int64_t)sum->count, sum->sum / sum->count);
    }
}

/* Each objective's mean loss since the last line, where there are several: "  (mlm 5.1234, tlm 4.9876)". */
static void describe_losses(const xlm_report *r, GString *line)
{
    if (r->of.job->objectives < 2)
        return;
    const char *before = "  (";
    for (int k = 0; k < r->of.job->objectives; k++)
        if (r->objective_steps[k] > 0) {
            g_string_append_printf(line, "%s%s %.4f", before, r->of.job->objective[k].name,
                                   r->objective_loss[k] / (double)r->objective_steps[k]);
            before = ", ";
        }
    g_string_append(line, strcmp(before, ", ") == 0 ? ")" : "");
}

/* "accuracy 51.23%", as that of predicted tokens is shown, "cross_lingual_accuracy 51.23%", "key_norm 1.2345". g_free. */
static char *describe_metric(const char *name, double value)
{
    const bool accuracy = strcmp(name, "accuracy") == 0 || g_str_has_suffix(name, "_accuracy");
    return accuracy ? g_strdup_printf("%s %.2f%%", name, 100 * value) : g_strdup_printf("%s %.4f", name, value);
}

/* Keys of streams and weights that change, as they are now, and metrics since the last line: "  stream text/mask 0.15
 * denoise/weight 0.55  pairs/accuracy 51.23%". */
static void describe_metrics(const xlm_report *r, GString *line)
{
    show_schedules(r, line);
    for (int k = 0; k < r->of.job->objectives; k++)
        if (xlm_loss_weight_changes(&r->of.job->objective[k].weight))
            g_string_append_printf(line, "  %s/weight %.4g", r->of.job->objective[k].name, weight_in_step(r, k));
    const xlm_metric_sum *sum = r->metric;
    for (int k = 0; k < r->of.job->objectives; k++) {
        const GPtrArray *names = xlm_host_metric_names(r->of.host, k);
        for (guint i = 0; i < names->len; i++, sum++)
            if (sum->count > 0) {
                g_autofree char *metric = describe_metric(names->pdata[i], sum->sum / sum->count);
                g_string_append_printf(line, "  %s/%s", r->of.job->objective[k].name, metric);
            }
    }
}

/* The rate of the products since the last line, as a share of the rate of GEMM here. The short measurement at the start is
 * too low if other processes were running; so the rate of a whole interval is used as soon as it is higher. */
static double share_of_gemm(xlm_report *r, double seconds, bool interval)
{
    const double rate = (xlm_gemm_flops() - r->flops) / seconds * 1e-9;
    if (rate > r->gemm_gflops && interval && r->gemm_gflops > 0 && !r->gemm_raised) {
        xlm_log_info("products run at %.0f GFLOP/s, faster than GEMM when it was measured (%.0f): others were at work then; "
                     "%% of GEMM is of the fastest interval from here on", rate, r->gemm_gflops);
        r->gemm_raised = true;
    }
    if (rate > r->gemm_gflops && interval)
        r->gemm_gflops = rate;
    return r->gemm_gflops > 0 ? MIN(rate / r->gemm_gflops, 1) : 0;
}

/* The fields that matter most come first: a terminal shows as many as fit. */
static void print_line(xlm_report *r, const xlm_step_report *s, double now, bool interval)
{
    const xlm_run_progress *progress = r->of.progress;
    const int64_t steps = r->of.job->train.steps;
    const double seconds = MAX(now - r->since, 1e-9), share = share_of_gemm(r, seconds, interval);
    char tokens[16];
    g_autofree char *left = xlm_time_left_text(&r->left, progress->step, steps);
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_printf(line, "step %" G_GINT64_FORMAT "/%" G_GINT64_FORMAT "  loss %.4f  %s tokens/s  %s", progress->step, steps,
                    r->loss / (double)r->steps, xlm_log_count((double)r->tokens / seconds, tokens), left);
    describe_losses(r, line);
    describe_metrics(r, line);
    g_string_append_printf(line, "  lr %.2e  |g| %.2f  %.0f%% of GEMM", s->learning_rate, s->gradient_norm, 100 * share);
    if (interval && xlm_log_wants_lines())
        xlm_log_info("%s", line->str);
    xlm_log_live("%s", line->str);
}

static void start_interval(xlm_report *r, double now)
{
    r->since = now;
    r->flops = xlm_gemm_flops();
    r->steps = r->tokens = 0;
    r->loss = 0;
    memset(r->objective_loss, 0, sizeof(double) * (size_t)r->of.job->objectives);
    memset(r->metric, 0, sizeof *r->metric * (size_t)xlm_host_metrics(r->of.host));
    memset(r->objective_steps, 0, sizeof(int64_t) * (size_t)r->of.job->objectives);
}

static void count_terms(xlm_report *r, const xlm_step_report *step)
{
    for (int k = 0; k < r->of.job->objectives; k++) {
        if (xlm_host_has_terms_of(r->of.host, k, step->terms))
            r->steps_without_terms[k] = -1;
        else if (r->steps_without_terms[k] >= 0 && xlm_job_computes(r->of.job, k, r->of.progress->step - 1))
            r->steps_without_terms[k]++;
    }
}

/* Warns, once each, of objectives that have had no terms in this many steps or more. */
static void warn_without_terms(xlm_report *r, int64_t steps)
{
    for (int k = 0; k < r->of.job->objectives; k++)
        if (r->steps_without_terms[k] >= steps) {
            xlm_log_warn("objective %s has had no terms in any of %" G_GINT64_FORMAT " steps since the run was started or "
                         "resumed, so that the model has learned nothing from it in these", r->of.job->objective[k].name,
                         r->steps_without_terms[k]);
            r->steps_without_terms[k] = -1;
        }
}

void xlm_report_step(xlm_report *report, const xlm_step_report *step)
{
    xlm_report *r = report;
    if (r->metrics == NULL)
        return;
    const double now = xlm_clock(), seconds = MAX(now - r->last_step_at, 1e-9);
    r->last_step_at = now;
    xlm_time_left_count(&r->left, r->of.job, r->of.progress->step - 1, seconds);
    r->run_seconds += seconds;
    r->run_steps++;
    r->run_tokens += step->tokens;
    r->steps++;
    r->tokens += step->tokens;
    r->loss += step->loss;
    for (int k = 0; k < r->of.job->objectives; k++) {
        if (!xlm_host_has_terms_of(r->of.host, k, step->terms))
            continue;
        r->objective_loss[k] += step->objective_loss[k];
        r->objective_steps[k]++;
    }
    for (int i = 0; i < xlm_host_metrics(r->of.host); i++) {
        r->metric[i].sum += step->metric[i].sum;
        r->metric[i].count += step->metric[i].count;
    }
    count_terms(r, step);
    write_rows(r, step, seconds);
    const bool interval = r->of.progress->step % r->of.job->train.log_every == 0 ||
                          r->of.progress->step == r->of.job->train.steps;
    if (interval || xlm_log_is_live())
        print_line(r, step, now, interval);
    xlm_report_flush(r); /* a snapshot of this step may be what the run resumes from */
    if (interval) {
        warn_without_terms(r, STEPS_WITHOUT_TERMS);
        start_interval(r, now);
    }
}

/* Of so many steps. */
static void report_messages(const char *what, const char *pass, const xlm_shards_report *x, int64_t steps)
{
    if (x->seconds > 0)
        xlm_log_info("%s: %.2f MB a step to other ranks, under way for %.2f ms, %.0f%% of that hidden behind the %s pass", what,
                     1e-6 * x->bytes / (double)steps, 1e3 * x->seconds / (double)steps,
                     100 * (1 - MIN(x->waited / x->seconds, 1)), pass);
}

void xlm_report_profile(xlm_profile *profile, const char *arithmetic, const xlm_shards_report *reduce_scatter,
                        const xlm_shards_report *all_gather, int64_t steps)
{
    int n;
    double total = 0;
    const xlm_profile_row *row = xlm_profile_rows(profile, &n);
    for (int i = 0; i < n; i++)
        total += row[i].seconds;
    if (steps < 1 || total <= 0)
        return;
    xlm_log_info("profile of %" G_GINT64_FORMAT " steps of rank 0, %.2f ms each, products by %s", steps,
                 1e3 * total / (double)steps, arithmetic);
    xlm_log_info("%-32s %9s %10s %7s %9s %7s", "operator", "calls", "ms", "share", "GFLOP/s", "GB/s");
    for (int i = 0; i < n; i++) {
        const xlm_profile_row *r = &row[i];
        g_autofree char *name = g_strconcat(r->name, r->backward ? ", backward" : "", NULL);
        xlm_log_info("%-32s %9.1f %10.3f %6.1f%% %9.1f %7.1f", name, (double)r->calls / (double)steps,
                     1e3 * r->seconds / (double)steps, 100 * r->seconds / total, 1e-9 * r->flops / r->seconds,
                     1e-9 * r->bytes / r->seconds);
    }
    report_messages("gradients", "backward", reduce_scatter, steps + 1);
    report_messages("parameters", "forward", all_gather, steps + 1);
}

static void note_held_out(xlm_report *r, const xlm_evaluation *rows, int n)
{
    const xlm_measured measured = {.job = r->of.job, .vocabulary = r->of.vocabulary, .step = r->of.progress->step, .rows = rows,
                                   .n = n};
    double loss;
    if (!xlm_measured_total(&measured, &loss))
        return;
    g_autofree double *weight = g_new(double, r->of.job->objectives);
    xlm_measured_weights(&measured, weight);
    for (int k = 0; k < r->of.job->objectives; k++)
        if (weight[k] != r->weight[k])
            r->held_out.best_step = -1; /* of another sum */
    g_free(r->weight);
    r->weight = g_steal_pointer(&weight);
    r->held_out.last = loss;
    r->held_out.last_step = r->of.progress->step;
    if (isfinite(loss) && (r->held_out.best_step < 0 || loss < r->held_out.best)) {
        r->held_out.best = loss;
        r->held_out.best_step = r->of.progress->step;
    }
}

static void append_score(GString *line, const char *name, const score *s, int64_t step)
{
    if (s->last_step < 0)
        return;
    g_string_append_printf(line, "; %s %.4f", name, s->last);
    if (s->last_step != step)
        g_string_append_printf(line, " at step %" G_GINT64_FORMAT, s->last_step);
    if (s->best_step >= 0 && s->best_step != s->last_step)
        g_string_append_printf(line, ", best %.4f at step %" G_GINT64_FORMAT, s->best, s->best_step);
}

void xlm_report_summary(xlm_report *report)
{
    xlm_report *r = report;
    const xlm_run_progress *progress = r->of.progress;
    const xlm_train_config *c = &r->of.job->train;
    if (r->metrics == NULL)
        return;
    warn_without_terms(r, 1);
    char took[16], tokens[16], rate[16];
    g_autofree char *path = xlm_checkpoint_path(c->output, progress->step);
    g_autoptr(GString) line = g_string_new(NULL);
    g_string_printf(line, "%s: %" G_GINT64_FORMAT " steps in %s, %s tokens, %s tokens/s",
                    progress->step == c->steps ? "finished" : "stopped", r->run_steps,
                    xlm_log_time(xlm_clock() - r->opened_at, took), xlm_log_count((double)r->run_tokens, tokens),
                    xlm_log_count((double)r->run_tokens / MAX(r->run_seconds, 1e-9), rate));
    const bool same = g_strcmp0(r->validated_name, "loss") == 0; /* which is the held-out loss */
    if (!same)
        append_score(line, "held-out loss", &r->held_out, progress->step);
    append_score(line, same ? "held-out loss" : r->validated_name, &r->validated, progress->step);
    if (progress->saved == progress->step)
        g_string_append_printf(line, "; checkpoint %s", path);
    xlm_log_info("%s", line->str);
}

void xlm_report_evaluation(xlm_report *report, const xlm_evaluation *rows, int n)
{
    if (report->metrics == NULL)
        return;
    const xlm_job *job = report->of.job;
    const int64_t step = report->of.progress->step;
    note_held_out(report, rows, n);
    for (int i = 0; i < n; i++) {
        const xlm_evaluation *e = &rows[i];
        const char *objective = job->objective[e->objective].name;
        const char *language = e->language < 0 ? "all" : xlm_vocabulary_language_names(report->of.vocabulary)[e->language];
        if (e->metric != NULL) {
            xlm_metrics_file_metric(report->metrics, step, XLM_SPLIT_HELD_OUT, objective, e->metric, language, e->terms, e->score);
            g_autofree char *metric = describe_metric(e->metric, e->score);
            xlm_log_info("held out, step %" G_GINT64_FORMAT ": %-12s %-5s %s  (%" G_GINT64_FORMAT " terms)", step, objective,
                         language, metric, e->terms);
            continue;
        }
        xlm_metrics_file_loss(report->metrics, step, XLM_SPLIT_HELD_OUT, objective, language, e->terms, e->loss, e->perplexity,
                              e->accuracy);
        if (isnan(e->perplexity)) {
            xlm_log_info("held out, step %" G_GINT64_FORMAT ": %-12s %-5s loss %.4f  (%" G_GINT64_FORMAT " terms)", step,
                         objective, language, e->loss, e->terms);
        } else {
            xlm_log_info("held out, step %" G_GINT64_FORMAT
                         ": %-12s %-5s loss %.4f  perplexity %.2f  accuracy %.2f%%  (%" G_GINT64_FORMAT " tokens)", step,
                         objective, language, e->loss, e->perplexity, 100 * e->accuracy, e->terms);
        }
    }
    xlm_report_flush(report);
}

/* Rows of metrics.csv, and a line of the log for each language. when: "step 8"; best: after the measures of all. */
static void write_measures(xlm_report *r, const char *split, const xlm_validation *validation, const char *when,
                           const GArray *measures, bool best)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint i = 0; i < measures->len; i++) {
        const xlm_language_measure *row = &g_array_index(measures, xlm_language_measure, i);
        const xlm_measure *m = &row->measure;
        const bool of_all = row->language == NULL;
        const char *language = of_all ? validation->language : row->language;
        xlm_metrics_file_metric(r->metrics, r->of.progress->step, split, m->name, "", language, m->terms, m->value);
        g_string_append_printf(line, "%s%s %.4f", line->len > 0 ? "  " : "", m->name, m->value);
        if (i + 1 < measures->len && g_strcmp0(row->language, row[1].language) == 0)
            continue;
        const bool named = !of_all || strcmp(language, XLM_MEAN_LANGUAGE) == 0; /* one of several lines */
        xlm_log_info("%s%s%s, %s: %s%s", validation->split, named ? " " : "", named ? language : "", when, line->str,
                     best && of_all ? "  (best so far)" : "");
        g_string_set_size(line, 0);
    }
    xlm_report_flush(r);
}

void xlm_report_measures(xlm_report *report, const xlm_validation *validation, const GArray *measures, bool best)
{
    if (report->metrics == NULL)
        return;
    g_autofree char *when = g_strdup_printf("step %" G_GINT64_FORMAT, report->of.progress->step);
    write_measures(report, validation->split, validation, when, measures, best);
}

void xlm_report_score(xlm_report *report, const char *name, double score_now, bool best, bool line)
{
    const xlm_run_progress *progress = report->of.progress;
    if (report->metrics == NULL)
        return;
    report->validated = (score){.last = score_now, .last_step = progress->step, .best = progress->best.score,
                                .best_step = progress->best.step > 0 ? (int64_t)progress->best.step : -1};
    g_free(report->validated_name);
    report->validated_name = g_strdup(name);
    if (!line)
        return;
    g_autofree char *other = progress->best.step > 0 ? g_strdup_printf("  (best %.4f at step %.0f)", progress->best.score,
                                                                       progress->best.step) : NULL;
    xlm_log_info("chosen by %s, step %" G_GINT64_FORMAT ": %.4f%s", name, progress->step, score_now,
                 best ? "  (best so far)" : other != NULL ? other : "");
}

void xlm_report_mean(xlm_report *report, const xlm_validation *validation, const GArray *measures, int64_t n)
{
    if (report->metrics == NULL)
        return;
    g_autofree char *split = g_strconcat(validation->split, "_average", NULL);
    g_autofree char *when = g_strdup_printf("mean of %" G_GINT64_FORMAT " checkpoints", n);
    write_measures(report, split, validation, when, measures, false);
}
