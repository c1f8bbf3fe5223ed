/* xlm-mpi: the measures of an evaluation by their names. SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/measures.h"

#include <math.h>
#include <string.h>

#include "base/names.h"
#include "options/options.h"

static const char TOTAL[] = "loss";
/* Every objective on held-out text has a loss, and one that predicts masked tokens all three, of all languages and of each. */
static const char *const quantities[] = {"loss", "perplexity", "accuracy", NULL};

bool xlm_measure_rises(const char *name)
{
    g_auto(GStrv) part = g_strsplit(name, "/", -1);
    const char *quantity = part[0] != NULL && part[1] != NULL ? part[1] : name;
    /* WEAM's two losses have their names from before there was a rule. Other names may end as theirs do. */
    static const char *const losses[] = {"multilingual", "cross_lingual", NULL};
    return !g_str_has_suffix(quantity, "loss") && !g_str_has_suffix(quantity, "perplexity") &&
           !g_str_has_suffix(quantity, "entropy") && !g_strv_contains(losses, quantity);
}

/* Is it the loss of an objective in all languages? */
static bool is_in_total(const xlm_evaluation *row) { return row->language < 0 && row->metric == NULL; }

static double weight_of(const xlm_measured *m, const xlm_evaluation *row)
{
    return xlm_loss_weight_at(&m->job->objective[row->objective].weight, m->step);
}

bool xlm_measured_total(const xlm_measured *measured, double *loss)
{
    int objectives = 0;
    *loss = 0;
    for (int i = 0; i < measured->n; i++) {
        const xlm_evaluation *row = &measured->rows[i];
        if (!is_in_total(row))
            continue;
        *loss += weight_of(measured, row) * row->loss;
        objectives++;
    }
    return objectives > 0;
}

void xlm_measured_weights(const xlm_measured *measured, double *weight)
{
    for (int k = 0; k < measured->job->objectives; k++)
        weight[k] = 0;
    for (int i = 0; i < measured->n; i++)
        if (is_in_total(&measured->rows[i]))
            weight[measured->rows[i].objective] = weight_of(measured, &measured->rows[i]);
}

/* What follows "PREFIX/" in the name; NULL: it begins otherwise. */
static const char *after(const char *name, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && name[n] == '/' ? name + n + 1 : NULL;
}

/* Is it a score of translations? */
static bool is_of_translations(const xlm_job *job, const char *name)
{
    if (job->evaluate.translate == NULL)
        return false;
    const char *metric = xlm_evaluate_metrics[job->evaluate.metric], *direction = after(name, metric);
    return strcmp(name, metric) == 0 || (direction != NULL && g_strv_length(job->evaluate.translate) > 1 &&
                                         g_strv_contains((const char *const *)job->evaluate.translate, direction));
}

/* The objective of a measure, -1: it is not of one; [out] rest: the quantity, and the language. */
static int objective_of(const xlm_job *job, const char *name, const char **rest)
{
    for (int k = 0; k < job->objectives; k++)
        if ((*rest = after(name, job->objective[k].name)) != NULL)
            return k;
    return -1;
}

/* Is it a metric of objective k that held-out text can have? */
static bool has_metric(const xlm_host *host, int k, const char *name)
{
    const GPtrArray *names = xlm_host_metric_names(host, k);
    for (guint i = 0; i < names->len; i++)
        if (strcmp(names->pdata[i], name) == 0)
            return xlm_host_metric_is_held_out(host, k, (int)i);
    return false;
}

/* Is objective k evaluated on held-out text? */
static bool is_evaluated(const xlm_run_size *size, int k)
{
    const int stream = size->job->objective[k].stream;
    return stream >= 0 && size->streams->held_out[stream] != NULL;
}

/* Is nothing predicted for objective k in held-out text, which has the last share of `mask`? Then it never has a term there. */
static bool is_unmasked(const xlm_run_size *size, int k)
{
    return is_evaluated(size, k) && xlm_host_views_predicted(size->host, k) &&
           xlm_stream_predicted_share(size->streams->held_out[size->job->objective[k].stream]) <= 0;
}

/* Can objective k have perplexity and accuracy of the tokens that its stream's masking chooses? One that reports an accuracy of its
 * own has none of these. */
static bool may_have_scores(const xlm_host *host, int k)
{
    const GPtrArray *names = xlm_host_metric_names(host, k);
    return xlm_host_views_corruption(host, k) &&
           !g_ptr_array_find_with_equal_func((GPtrArray *)names, "accuracy", g_str_equal, NULL);
}

/* Is it "loss" or, of an objective that may have scores, another quantity or "loss/LANGUAGE" and the like? The tokens of a language
 * are those that have a score: other losses, and metrics, are of all languages. */
static bool is_quantity(const xlm_run_size *size, int k, const char *rest)
{
    if (strcmp(rest, quantities[0]) == 0)
        return true;
    for (const char *const *quantity = quantities; *quantity != NULL && may_have_scores(size->host, k); quantity++) {
        const char *language = after(rest, *quantity);
        if (strcmp(rest, *quantity) == 0 ||
            (language != NULL && g_strv_contains(xlm_vocabulary_language_names(size->vocabulary), language)))
            return true;
    }
    return false;
}

/* "loss, mlm/loss, ...": what an evaluation may have. g_free. */
static char *list_possible(const xlm_run_size *size)
{
    const xlm_job *job = size->job;
    GString *list = g_string_new(TOTAL);
    for (int k = 0; k < job->objectives; k++) {
        if (!is_evaluated(size, k))
            continue;
        for (const char *const *quantity = quantities; *quantity != NULL; quantity++)
            if (quantity == quantities || may_have_scores(size->host, k))
                g_string_append_printf(list, ", %s/%s", job->objective[k].name, *quantity);
        const GPtrArray *names = xlm_host_metric_names(size->host, k);
        for (guint i = 0; i < names->len; i++)
            if (xlm_host_metric_is_held_out(size->host, k, (int)i))
                g_string_append_printf(list, ", %s/%s", job->objective[k].name, (const char *)names->pdata[i]);
    }
    if (job->evaluate.translate != NULL)
        g_string_append_printf(list, ", %s", xlm_evaluate_metrics[job->evaluate.metric]);
    return g_string_free(list, FALSE);
}

/* What there is of one language, as the end of a sentence; empty: nothing. g_free. */
static char *list_by_language(const xlm_run_size *size)
{
    g_autoptr(GPtrArray) scored = g_ptr_array_new();
    for (int k = 0; k < size->job->objectives; k++)
        if (is_evaluated(size, k) && may_have_scores(size->host, k))
            g_ptr_array_add(scored, (char *)size->job->objective[k].name);
    if (scored->len == 0)
        return g_strdup("");
    g_ptr_array_add(scored, NULL);
    g_autofree char *objectives = xlm_names_some((char **)scored->pdata);
    g_autofree char *languages = xlm_names_some((char **)xlm_vocabulary_language_names(size->vocabulary));
    return g_strdup_printf("; loss, perplexity and accuracy of %s also of one language, followed by / and %s", objectives,
                           languages);
}

static bool refuse(const char *name, const xlm_run_size *size, GError **error)
{
    g_autofree char *list = list_possible(size), *by_language = list_by_language(size);
    return xlm_error_set(error, EX_CONFIG, "[evaluate]: choose_by = %s: held-out text has no such measure; there are %s%s", name,
                         list, by_language);
}

static bool refuse_unmasked(const char *name, const xlm_job_objective *objective, GError **error)
{
    return xlm_error_set(error, EX_CONFIG, "[evaluate]: choose_by = %s: nothing is predicted in held-out text, which has the last "
                         "share of mask of [stream %s], 0; let mask end with another one, or choose by a measure of another "
                         "objective", name, objective->stream_name);
}

/* The sum of losses is the same sum at all steps. */
static bool check_total(const xlm_run_size *size, GError **error)
{
    const xlm_job *job = size->job;
    const xlm_job_objective *unmasked = NULL;
    int evaluated = 0;
    for (int k = 0; k < job->objectives; k++) {
        const xlm_job_objective *o = &job->objective[k];
        if (is_unmasked(size, k))
            unmasked = o;
        if (!is_evaluated(size, k) || unmasked == o)
            continue;
        evaluated++;
        if (xlm_loss_weight_changes(&o->weight) || o->weight.begin > 0)
            return xlm_error_set(error, EX_CONFIG, "[evaluate]: choose_by = %s would compare different sums, since the weight of "
                                 "[objective %s] changes; choose by a measure of an objective, such as %s/loss", TOTAL, o->name,
                                 o->name);
    }
    if (evaluated == 0 && unmasked != NULL)
        return refuse_unmasked(TOTAL, unmasked, error);
    return evaluated > 0 || xlm_error_set(error, EX_CONFIG, "[evaluate]: there is no held-out text for any objective; prepare "
                                          "the corpus with xlm_prep --held-out");
}

bool xlm_measures_check(const xlm_run_size *size, char *const *names, GError **error)
{
    const xlm_job *job = size->job;
    for (char *const *name = names; *name != NULL; name++) {
        const char *rest = NULL;
        const int k = objective_of(job, *name, &rest);
        if (strcmp(*name, TOTAL) == 0) {
            if (!check_total(size, error))
                return false;
        } else if (!is_of_translations(job, *name) &&
                   (k < 0 || !is_evaluated(size, k) ||
                    (!is_quantity(size, k, rest) && !has_metric(size->host, k, rest)))) {
            return refuse(*name, size, error);
        } else if (k >= 0 && !is_of_translations(job, *name) && is_unmasked(size, k)) {
            return refuse_unmasked(*name, &job->objective[k], error);
        }
        if (xlm_measure_rises(*name) != xlm_measure_rises(names[0]))
            return xlm_error_set(error, EX_CONFIG, "[evaluate]: choose_by: %s is better when it is %s, and %s when it is %s; a "
                                 "mean of both says nothing", names[0], xlm_measure_rises(names[0]) ? "higher" : "lower", *name,
                                 xlm_measure_rises(*name) ? "higher" : "lower");
    }
    return true;
}

/* ---- values ---- */

/* The value of a row, of a quantity of quantities[] or of a metric; NAN: it has none. */
static double value_of(const xlm_evaluation *row, const char *quantity)
{
    if (row->metric != NULL)
        return strcmp(row->metric, quantity) == 0 ? row->score : NAN;
    return strcmp(quantity, "loss") == 0 ? row->loss : strcmp(quantity, "perplexity") == 0 ? row->perplexity : row->accuracy;
}

static const char *language_of(const xlm_measured *m, const xlm_evaluation *row)
{
    return row->language < 0 ? NULL : xlm_vocabulary_language_names(m->vocabulary)[row->language];
}

/* Of an objective's rows. [out] possible: it has a value, or has none at this step only; false: never. */
static double value_of_objective(const xlm_measured *m, int k, const char *rest, bool *possible)
{
    g_auto(GStrv) part = g_strsplit(rest, "/", 2);
    bool finite = false; /* the loss of all languages, whose row comes first: then what has no value now never has one */
    *possible = true;
    for (int i = 0; i < m->n; i++) {
        const xlm_evaluation *row = &m->rows[i];
        if (row->objective != k)
            continue;
        if (row->language < 0 && row->metric == NULL)
            finite = isfinite(row->loss);
        const bool fits = g_strcmp0(part[1], language_of(m, row)) == 0;
        const bool has = row->metric != NULL ? strcmp(row->metric, part[0]) == 0
                         : g_strv_contains(quantities, part[0]) && (strcmp(part[0], "loss") == 0 || !isnan(row->perplexity));
        if (fits && has)
            return value_of(row, part[0]);
    }
    /* A metric that the objective declares can be without a value now: moco has no accuracy as long as its queue is empty. */
    *possible = !finite || !g_strv_contains(quantities, part[0]) || has_metric(m->host, k, rest);
    return NAN;
}

static double value_of_translations(const xlm_measured *m, const char *name)
{
    for (guint i = 0; m->measures != NULL && i < m->measures->len; i++) {
        const xlm_language_measure *row = &g_array_index(m->measures, xlm_language_measure, i);
        const char *language = after(name, row->measure.name);
        if (row->language == NULL ? strcmp(name, row->measure.name) == 0 : g_strcmp0(language, row->language) == 0)
            return row->measure.value;
    }
    return NAN;
}

/* "mlm/loss, mlm/loss/en, ...": what objective k has. g_free. */
static char *list_measured(const xlm_measured *m, int k)
{
    GString *list = g_string_new(NULL);
    for (int i = 0; i < m->n; i++) {
        const xlm_evaluation *row = &m->rows[i];
        const char *language = language_of(m, row);
        for (const char *const *quantity = quantities; row->objective == k && *quantity != NULL; quantity++)
            if (row->metric == NULL && (quantity == quantities || !isnan(row->perplexity)))
                g_string_append_printf(list, "%s%s/%s%s%s", list->len > 0 ? ", " : "", m->job->objective[k].name, *quantity,
                                       language != NULL ? "/" : "", language != NULL ? language : "");
        if (row->objective == k && row->metric != NULL)
            g_string_append_printf(list, ", %s/%s", m->job->objective[k].name, row->metric);
    }
    return g_string_free(list, FALSE);
}

bool xlm_measures_mean(const xlm_measured *measured, char *const *names, double *score, GError **error)
{
    double sum = 0;
    for (char *const *name = names; *name != NULL; name++) {
        const char *rest;
        double value = NAN;
        bool possible = true;
        const int k = objective_of(measured->job, *name, &rest);
        if (strcmp(*name, TOTAL) == 0)
            value = xlm_measured_total(measured, &value) ? value : NAN;
        else if (is_of_translations(measured->job, *name))
            value = value_of_translations(measured, *name);
        else if (k >= 0)
            value = value_of_objective(measured, k, rest, &possible);
        if (!possible) {
            g_autofree char *list = list_measured(measured, k);
            return xlm_error_set(error, EX_CONFIG, "[evaluate]: choose_by = %s: held-out text has no such measure; of objective "
                                 "%s there are %s", *name, measured->job->objective[k].name, list);
        }
        sum += value;
    }
    *score = sum / g_strv_length((char **)names);
    return true;
}

/* ---- what values depend on ---- */

bool xlm_measures_need_losses(const xlm_job *job, char *const *names)
{
    for (char *const *name = names; *name != NULL; name++)
        if (!is_of_translations(job, *name))
            return true;
    return false;
}

/* What a printed value of a key is to held-out text, which has the last mask of a list, and all languages from the beginning; a
 * file is known by its name alone, since a job may copy it to another directory each time. NULL: no value. g_free. */
static char *value_held_out(const xlm_option *option, const char *value)
{
    if (value == NULL)
        return NULL;
    const char *last = value + strlen(value);
    if (option->type == XLM_OPTION_PIECEWISE || option->type == XLM_OPTION_PIECEWISE_INT) {
        while (last > value && strchr(":=", last[-1]) == NULL)
            last--;
        return g_strdup(last);
    }
    if (option->type != XLM_OPTION_TEXT && option->type != XLM_OPTION_LIST)
        return g_strdup(value);
    g_auto(GStrv) items = g_strsplit(value, ",", -1);
    for (char **item = items; *item != NULL; item++) {
        char *name = g_path_get_basename(*item);
        g_free(*item);
        *item = name;
        if (strcmp(option->name, "languages") == 0)
            (*item)[strcspn(*item, "@")] = '\0';
    }
    return g_strjoinv(",", items);
}

/* All keys of a table but those that are about training alone (NULL-terminated), and but those that have their defaults: a version
 * that adds a key compares its scores with those from before. */
static void add_held_out(GString *text, const xlm_option *table, const void *from, const char *const *training)
{
    for (const xlm_option *o = table; o != NULL && o->name != NULL; o++) {
        if (g_strv_contains(training, o->name))
            continue;
        g_autofree char *printed = xlm_option_print(o, from), *printed_default = xlm_option_print_default(o);
        g_autofree char *value = value_held_out(o, printed), *usual = value_held_out(o, printed_default);
        if (g_strcmp0(value, usual) != 0)
            g_string_append_printf(text, "%s = %s\n", o->name, value);
    }
}

/* Of a stream or a stage of its own. text: GString. */
static void add_stream(void *text, const xlm_option *table, const void *from)
{
    static const char *const training[] = {"batch", "alpha", "share", NULL};
    add_held_out(text, table, from, training);
}

/* What the loss of an objective on held-out text depends on: its own options, and those of its stream and the stream's stages. */
static void add_objective(const xlm_job *job, const xlm_job_objective *objective, GString *text)
{
    static const char *const training[] = {"label_smoothing", NULL}, *const none[] = {NULL};
    g_string_append_printf(text, "[%s] %s\n", objective->name, objective->cls->name);
    add_held_out(text, objective->use.loaded.options, objective->use.state, training);
    if (objective->stream < 0)
        return;
    const xlm_stream_config *config = &job->stream[objective->stream].config;
    xlm_stream_config_tables(config, add_stream, text);
    /* Stages that other objectives bring, which may be left out when the run is resumed. */
    for (int k = 0; k < config->plugins; k++)
        if (strcmp(config->plugin[k].section, "objective") == 0 && config->plugin[k].cls != objective->cls->stage)
            g_string_append_printf(text, "[stage of %s]\n", config->plugin[k].cls->name);
    for (int k = 0; k < job->stages; k++) {
        const xlm_job_stage *stage = &job->stage[k];
        if (strcmp(stage->stream_name, objective->stream_name) != 0)
            continue;
        g_autofree char *plugin = g_path_get_basename(stage->plugin);
        g_string_append_printf(text, "[%s] %s\n", stage->name, plugin);
        add_held_out(text, stage->use.loaded.options, stage->use.state, none);
    }
}

char *xlm_measures_settings(const xlm_job *job, char *const *names)
{
    static const char *const keys[] = {"translate", "sentences", "beam", "length_penalty", "words", NULL};
    GString *text = g_string_new(NULL);
    bool total = false, translations = false;
    g_autofree bool *named = g_new0(bool, MAX(job->objectives, 1));
    for (char *const *name = names; *name != NULL; name++) {
        g_string_append_printf(text, "%s\n", *name);
        total |= strcmp(*name, TOTAL) == 0;
        translations |= is_of_translations(job, *name);
        const char *rest;
        const int k = is_of_translations(job, *name) ? -1 : objective_of(job, *name, &rest);
        if (k >= 0)
            named[k] = true;
    }
    if (xlm_measures_need_losses(job, names)) {
        g_string_append_printf(text, "%" G_GINT64_FORMAT "\n", job->train.evaluate_instances);
        /* Which instances are evaluated depends on how a batch is divided. */
        for (int s = 0; s < job->streams; s++)
            g_string_append_printf(text, "%s %" G_GINT64_FORMAT "\n", job->stream[s].name, xlm_evaluation_block(job, s));
    }
    for (int k = 0; total && k < job->objectives; k++)
        g_string_append_printf(text, "%s %.17g\n", job->objective[k].name, xlm_loss_weight_at(&job->objective[k].weight, 0));
    for (int k = 0; k < job->objectives; k++)
        if (named[k] || (total && job->objective[k].stream >= 0))
            add_objective(job, &job->objective[k], text);
    for (const xlm_option *o = xlm_evaluate_options; translations && o->name != NULL; o++)
        if (g_strv_contains(keys, o->name))
            xlm_option_print_changed(o, &job->evaluate, text);
    return g_string_free(text, FALSE);
}
