/* xlm-mpi: the sections of a report on runs: curves. SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/sections.h"

#include <math.h>
#include <string.h>

#include "report/plot.h"
#include "translation_scores/metric.h"

/* Maximum numbers of points of a line, and of lines of a figure. */
enum { POINTS = 160, LINES = 12 };

/* How points that are combined into one are shown. */
typedef enum thinning { MEAN, LARGEST } thinning;

/* Combine the points of a curve into at most POINTS. *each is raised to how many of the curve one of these combines. */
static GArray *thin(const GArray *points, thinning how, guint *each)
{
    GArray *thinned = g_array_new(FALSE, FALSE, sizeof(xlm_plot_point));
    const guint apart = MAX((points->len + POINTS - 1) / POINTS, 1);
    for (guint begin = 0; begin < points->len; begin += apart) {
        const guint n = MIN(apart, points->len - begin);
        xlm_plot_point p = {0, how == LARGEST ? -INFINITY : 0};
        for (guint i = begin; i < begin + n; i++) {
            const xlm_curve_point *q = &g_array_index(points, xlm_curve_point, i);
            p.x += (double)q->step / n;
            p.y = how == LARGEST ? fmax(p.y, q->value) : p.y + q->value / n;
        }
        g_array_append_val(thinned, p);
    }
    *each = MAX(*each, apart);
    return thinned;
}

/* A note about the points; NULL if each is a point of the curve. g_free. */
static char *describe_thinning(thinning how, guint each)
{
    const char *what = how == LARGEST ? "largest" : "mean";
    return each <= 1 ? NULL : g_strdup_printf("Each point is the %s of up to %u steps.", what, each);
}

/* Tokens per second; for combined points, the sum of tokens divided by the sum of seconds. */
static GArray *rate_of(const GArray *tokens, const GArray *seconds)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(xlm_plot_point));
    const guint n = MIN(tokens->len, seconds->len), apart = MAX((n + POINTS - 1) / POINTS, 1);
    for (guint begin = 0; begin < n; begin += apart) {
        const guint count = MIN(apart, n - begin);
        double steps = 0, sum = 0, time = 0;
        for (guint i = begin; i < begin + count; i++) {
            steps += (double)g_array_index(tokens, xlm_curve_point, i).step;
            sum += g_array_index(tokens, xlm_curve_point, i).value;
            time += g_array_index(seconds, xlm_curve_point, i).value;
        }
        const xlm_plot_point p = {steps / count, sum / time};
        if (time > 0)
            g_array_append_val(points, p);
    }
    return points;
}

static const xlm_curve *find_curve(const xlm_sections *s, const char *name)
{
    for (int i = 0; i < s->runs->n; i++) {
        const xlm_curve *c = xlm_curves_find(s->runs->run[i].curves, name);
        if (c != NULL)
            return c;
    }
    return NULL;
}

/* Do these n curves of losses, perplexities or norms, in one figure, need a logarithmic axis? */
static bool spans_decades(const xlm_sections *s, const char *const *names, guint n)
{
    double lowest = INFINITY, highest = 0;
    const char *quantity = find_curve(s, names[0])->quantity;
    if (strcmp(quantity, "loss") != 0 && strcmp(quantity, "perplexity") != 0 && strcmp(quantity, "gradient_norm") != 0)
        return false;
    for (guint j = 0; j < n; j++)
        for (int i = 0; i < s->runs->n; i++) {
            const xlm_curve *c = xlm_curves_find(s->runs->run[i].curves, names[j]);
            for (guint k = 0; c != NULL && k < c->points->len; k++) {
                const double value = g_array_index(c->points, xlm_curve_point, k).value;
                lowest = fmin(lowest, value);
                highest = fmax(highest, value);
            }
        }
    return lowest > 0 && highest > 20 * lowest;
}

/* The value of a run's best checkpoint, on a curve of evaluations. */
static void mark_best(xlm_plot *plot, const xlm_run *run, const xlm_curve *c, int style)
{
    const int at = run->best > 0 && !c->every_step ? xlm_curve_find(c, run->best) : -1;
    if (at < 0)
        return;
    const xlm_curve_point p = g_array_index(c->points, xlm_curve_point, at);
    xlm_plot_mark_best(plot, style, (xlm_plot_point){(double)p.step, p.value});
}

/* One curve, a line for each run. */
static bool draw_curve(const xlm_sections *s, const char *title, const char *name, thinning how, GError **error)
{
    g_autofree GArray **points = g_new0(GArray *, s->runs->n);
    guint each = 1;
    bool marks = false;
    for (int i = 0; i < s->runs->n; i++) {
        const xlm_curve *c = xlm_curves_find(s->runs->run[i].curves, name);
        points[i] = c != NULL ? thin(c->points, how, &each) : NULL;
        marks |= c != NULL && !c->every_step && c->points->len <= LINES;
    }
    g_autofree char *note = describe_thinning(how, each);
    xlm_plot *plot = xlm_plot_new(title, "step", note);
    plot->logarithmic = find_curve(s, name) != NULL && spans_decades(s, &name, 1);
    plot->marks = marks;
    for (int i = 0; i < s->runs->n; i++)
        if (points[i] != NULL) {
            xlm_plot_add(plot, s->runs->run[i].label, i, points[i]);
            mark_best(plot, &s->runs->run[i], xlm_curves_find(s->runs->run[i].curves, name), i);
        }
    return xlm_plot_end(plot, s->page, false, error);
}

/* Does the curve belong to what is drawn? */
typedef bool choice(const xlm_curve *c);

/* Names of the curves that any run has and that are chosen, in their order; borrowed from the runs. */
static GPtrArray *choose(const xlm_sections *s, choice *chosen)
{
    GPtrArray *names = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (int i = 0; i < s->runs->n; i++) {
        const GPtrArray *curves = s->runs->run[i].curves->curves;
        for (guint k = 0; k < curves->len; k++) {
            const xlm_curve *c = curves->pdata[k];
            if (chosen(c) && g_hash_table_add(seen, c->name))
                g_ptr_array_add(names, c->name);
        }
    }
    return names;
}

static bool is_training(const xlm_curve *c) { return c->every_step && !c->detail; }

static bool draw_throughput(const xlm_sections *s, GError **error)
{
    xlm_plot *plot = xlm_plot_new("Throughput, tokens per second", "step", NULL);
    for (int i = 0; i < s->runs->n; i++) {
        const xlm_curve *tokens = xlm_curves_find(s->runs->run[i].curves, "train total tokens");
        const xlm_curve *seconds = xlm_curves_find(s->runs->run[i].curves, "train total seconds");
        if (tokens != NULL && seconds != NULL)
            xlm_plot_add(plot, s->runs->run[i].label, i, rate_of(tokens->points, seconds->points));
    }
    return xlm_plot_end(plot, s->page, false, error);
}

/* The title of a curve of training. g_free. */
static char *title_of(const xlm_curve *c)
{
    if (strcmp(c->quantity, "score") == 0)
        return g_strdup(c->objective);
    return strcmp(c->objective, "total") == 0 ? g_strdup("Loss, weighted sum of all objectives")
                                              : g_strdup_printf("Loss of %s", c->objective);
}

bool xlm_section_training(const xlm_sections *s, GError **error)
{
    static const struct { const char *title, *name; thinning how; } others[] = {
        {"Learning rate", "train total learning_rate", MEAN}, {"Norm of the gradient", "train total gradient_norm", LARGEST}};
    g_autoptr(GPtrArray) names = choose(s, is_training);
    bool good = true;
    if (names->len > 0) {
        xlm_page_section(s->page, "training", "Training");
        xlm_sections_open_figures(s, s->runs->n > 1);
        for (guint i = 0; i < names->len && good; i++) {
            g_autofree char *title = title_of(find_curve(s, names->pdata[i]));
            good = draw_curve(s, title, names->pdata[i], MEAN, error);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(others) && good; i++)
            good = draw_curve(s, others[i].title, others[i].name, others[i].how, error);
        good = good && draw_throughput(s, error);
        xlm_sections_close_figures(s);
    }
    return good;
}

/* ---- curves by language ---- */

static bool belong_together(const xlm_curve *a, const xlm_curve *b)
{
    return strcmp(a->split, b->split) == 0 && strcmp(a->objective, b->objective) == 0 && a->quantity == b->quantity;
}

/* For a single run: a figure of an objective's quantity with a line for each language, which are the curves from `first` on that
 * belong together. Returns the index after them. */
static guint draw_languages(const xlm_sections *s, const GPtrArray *names, guint first, const char *title, bool *good,
                            GError **error)
{
    const xlm_curves *curves = s->runs->run[0].curves;
    const xlm_curve *begin = xlm_curves_find(curves, names->pdata[first]);
    guint end = first, each = 1;
    xlm_plot *plot = xlm_plot_new(title, "step", NULL);
    while (end < names->len && end - first < LINES && belong_together(begin, xlm_curves_find(curves, names->pdata[end])))
        end++;
    plot->logarithmic = spans_decades(s, (const char *const *)names->pdata + first, end - first);
    for (guint k = first; k < end; k++) {
        const xlm_curve *c = xlm_curves_find(curves, names->pdata[k]);
        plot->marks = plot->marks || c->points->len <= LINES;
        const bool all = strcmp(c->language, "all") == 0;
        xlm_plot_add(plot, all ? "all languages" : *c->language != '\0' ? c->language : "all", (int)(k - first),
                     thin(c->points, MEAN, &each));
        mark_best(plot, &s->runs->run[0], c, (int)(k - first));
    }
    *good = xlm_plot_end(plot, s->page, true, error);
    return end;
}

/* The metric of a score of translations; NULL: it is another score. */
static const xlm_metric_class *metric_of(const xlm_curve *c)
{
    int n;
    const xlm_metric_class *const *all = xlm_metric_classes(&n);
    for (int i = 0; i < n && strcmp(c->quantity, "score") == 0; i++)
        if (strcmp(all[i]->name, c->objective) == 0)
            return all[i];
    return NULL;
}

/* "micro_f1", "BLEU". */
static const char *name_of_score(const xlm_curve *c)
{
    const xlm_metric_class *metric = metric_of(c);
    return metric != NULL ? metric->title : c->objective;
}

/* What titles add for scores of the mean of several checkpoints. */
static const char *average_of(const xlm_curve *c)
{
    return g_str_has_suffix(c->split, "_average") ? ", of the mean of checkpoints" : "";
}

/* "Perplexity of mlm", with the language if there are several runs. g_free. */
static char *title_by_language(const xlm_sections *s, const xlm_curve *c)
{
    GString *title = g_string_new(name_of_score(c));
    if (strcmp(c->quantity, "score") != 0)
        g_string_printf(title, "%s of %s", strcmp(c->quantity, "perplexity") == 0 ? "Perplexity" : "Loss", c->objective);
    if (s->runs->n > 1 && *c->language != '\0')
        g_string_append_printf(title, ", %s", strcmp(c->language, "all") == 0 ? "all languages" : c->language);
    g_string_append(title, average_of(c));
    return g_string_free(title, FALSE);
}

/* Move curves that belong together after the first of them. */
static void put_together(const xlm_sections *s, GPtrArray *names)
{
    for (guint i = 0, end; i < names->len; i = end) {
        end = i + 1;
        for (guint k = end; k < names->len; k++)
            if (belong_together(find_curve(s, names->pdata[i]), find_curve(s, names->pdata[k])))
                g_ptr_array_insert(names, (int)end++, g_ptr_array_steal_index(names, k));
    }
}

static bool draw_by_language(const xlm_sections *s, const GPtrArray *names, GError **error)
{
    bool good = true;
    xlm_sections_open_figures(s, s->runs->n > 1);
    for (guint i = 0; i < names->len && good;) {
        g_autofree char *title = title_by_language(s, find_curve(s, names->pdata[i]));
        if (s->runs->n == 1)
            i = draw_languages(s, names, i, title, &good, error);
        else
            good = draw_curve(s, title, names->pdata[i++], MEAN, error);
    }
    xlm_sections_close_figures(s);
    return good;
}

static xlm_curve_point last_of(const xlm_curve *c) { return g_array_index(c->points, xlm_curve_point, c->points->len - 1); }

/* Are the last values of a curve those of different steps? Then the table says of which. */
static bool end_apart(const xlm_sections *s, const char *name)
{
    int64_t step = -1;
    bool apart = false;
    for (int i = 0; i < s->runs->n; i++) {
        const xlm_curve *c = xlm_curves_find(s->runs->run[i].curves, name);
        apart = apart || (c != NULL && step >= 0 && last_of(c).step != step);
        step = c != NULL ? last_of(c).step : step;
    }
    return apart;
}

/* The last value of a curve, with its step, and the best if it is another one. g_free. */
static char *describe_last(const xlm_curve *c, bool with_step)
{
    char number[32];
    const xlm_curve_point end = last_of(c), top = xlm_curve_best(c);
    GString *text = g_string_new(xlm_page_number(end.value, number));
    if (with_step)
        g_string_append_printf(text, " @ %" G_GINT64_FORMAT, end.step);
    if (top.step != end.step && top.value != end.value)
        g_string_append_printf(text, " (%s @ %" G_GINT64_FORMAT ")", xlm_page_number(top.value, number), top.step);
    return g_string_free(text, FALSE);
}

static void write_last(const xlm_sections *s, const char *caption, const GPtrArray *names)
{
    const int n = s->runs->n;
    g_autofree char **cells = g_new0(char *, n + 1);
    xlm_page_table(s->page, caption, NULL, n, s->runs->columns);
    for (guint k = 0; k < names->len; k++) {
        const xlm_curve *any = find_curve(s, names->pdata[k]);
        const bool apart = end_apart(s, names->pdata[k]);
        for (int i = 0; i < n; i++) {
            const xlm_curve *c = xlm_curves_find(s->runs->run[i].curves, names->pdata[k]);
            cells[i] = c != NULL ? describe_last(c, apart) : NULL;
        }
        const bool score = strcmp(any->quantity, "score") == 0;
        g_autofree char *row = g_strdup_printf("%s%s%s%s%s%s", score ? name_of_score(any) : any->objective,
                                               score ? "" : " ", score ? "" : any->quantity,
                                               *any->language != '\0' ? ", " : "", any->language, average_of(any));
        xlm_page_row(s->page, row, n, (const char *const *)cells, true);
        for (int i = 0; i < n; i++)
            g_clear_pointer(&cells[i], g_free);
    }
    xlm_page_table_end(s->page);
}

static bool is_held_out(const xlm_curve *c) { return strcmp(c->split, "held_out") == 0; }
static bool is_drawn(const xlm_curve *c)
{
    return is_held_out(c) && strcmp(c->quantity, "accuracy") != 0 && (strcmp(c->quantity, "loss") != 0 || !c->detail);
}

/* Is a loss the logarithm of a perplexity? It is not when an objective has further means, as weam. */
static bool is_logarithm(const xlm_curve *loss, const xlm_curve *perplexity)
{
    bool same = loss->points->len == perplexity->points->len;
    for (guint i = 0; i < loss->points->len && same; i++) {
        const double value = g_array_index(loss->points, xlm_curve_point, i).value;
        same = fabs(value - log(g_array_index(perplexity->points, xlm_curve_point, i).value)) < 1e-4 * fmax(1, fabs(value));
    }
    return same;
}

/* Does one name stand for the loss of an objective and the other for its perplexity, which shows the same in all runs? */
static bool shows_the_same(const xlm_sections *s, const char *name, const char *other_name)
{
    const xlm_curve *c = find_curve(s, name), *other = find_curve(s, other_name);
    bool same = strcmp(c->quantity, "loss") == 0 && strcmp(other->quantity, "perplexity") == 0 &&
                strcmp(other->objective, c->objective) == 0 && strcmp(other->language, c->language) == 0;
    for (int i = 0; i < s->runs->n && same; i++) {
        const xlm_curve *loss = xlm_curves_find(s->runs->run[i].curves, name),
                        *perplexity = xlm_curves_find(s->runs->run[i].curves, other_name);
        same = loss == NULL || (perplexity != NULL && is_logarithm(loss, perplexity));
    }
    return same;
}

/* Remove the losses of objectives that have perplexities, which show the same. */
static void drop_doubled_losses(const xlm_sections *s, GPtrArray *names)
{
    for (guint i = names->len; i-- > 0;) {
        bool doubled = false;
        for (guint k = 0; k < names->len && !doubled; k++)
            doubled = shows_the_same(s, names->pdata[i], names->pdata[k]);
        if (doubled)
            g_ptr_array_remove_index(names, i);
    }
    put_together(s, names);
}

bool xlm_section_held_out(const xlm_sections *s, GError **error)
{
    g_autoptr(GPtrArray) drawn = choose(s, is_drawn), all = choose(s, is_held_out);
    const bool measured = xlm_sections_have_results(s, "held-out");
    bool good = true;
    if (all->len > 0 || measured)
        xlm_page_section(s->page, "held-out", "Held-out text");
    drop_doubled_losses(s, drawn);
    drop_doubled_losses(s, all);
    if (all->len > 0) {
        good = draw_by_language(s, drawn, error);
        write_last(s, "Last evaluation; in brackets the best, if it was another one", all);
    }
    if (measured)
        xlm_sections_write_results(s, "held-out");
    return good;
}

static bool is_validation(const xlm_curve *c) { return g_str_has_prefix(c->split, "dev"); }

bool xlm_section_validation(const xlm_sections *s, GError **error)
{
    g_autoptr(GPtrArray) names = choose(s, is_validation);
    guint translations = 0;
    bool good = true;
    for (guint i = 0; i < names->len; i++)
        translations += metric_of(find_curve(s, names->pdata[i])) != NULL;
    if (names->len > 0) {
        xlm_page_section(s->page, "dev", translations == names->len ? "Scores of translations"
                                         : translations == 0 ? "Scores of dev text" : "Scores of dev text and of translations");
        if (translations > 0)
            xlm_page_paragraph(s->page, "Translations of held-out pairs, in the words of the vocabulary, of 100. "
                               "xlm_translate and xlm_bleu score original text.");
        put_together(s, names);
        good = draw_by_language(s, names, error);
        write_last(s, "Last evaluation; in brackets the best, if it was another one", names);
    }
    return good;
}
