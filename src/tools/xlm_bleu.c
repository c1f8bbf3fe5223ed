/* xlm-mpi: xlm_bleu, scores of translations compared with references. SPDX-License-Identifier: GPL-3.0-or-later */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "files/new_file.h"
#include "files/path.h"
#include "program/program.h"
#include "translation_scores/bootstrap.h"
#include "translation_scores/scored_files.h"

static const xlm_program program = {
    .name = "xlm_bleu",
    .arguments = "HYPOTHESES REFERENCE...",
    .purpose = "Score translations by BLEU and chrF against one or more references",
    .notes =
        "Line i of HYPOTHESES is the translation of sentence i, line i of each REFERENCE what it is compared with: detokenised\n"
        "text, UTF-8, plain or compressed; one of the files can be standard input, -. A line may be empty.\n\n"
        "Metrics:\n"
        "  bleu        BLEU as sacreBLEU 2 computes it, with its signature\n"
        "  multi-bleu  BLEU as multi-bleu.perl of Moses: words are what is between blanks, for tokenised text; no smoothing\n"
        "  chrf        chrF2: n-grams of 1 to 6 characters, as sacreBLEU 2\n"
        "  chrf++      chrF2++: of 1 and 2 words as well, as sacreBLEU 2\n\n"
        "With several systems, a table compares each with the first, HYPOTHESES: scores, and results of the paired bootstrap:\n"
        "the mean over samples of the test set and the interval that has the middle 95 % of these, for a score and for its\n"
        "difference from the first system; and p, with * for p <= 0.05: how likely so large a difference would be if both\n"
        "systems were equally good. Mean, interval and p are defined as in sacreBLEU; --seed determines the samples.\n\n"
        "Examples:\n"
        "  xlm_bleu output.de newstest.de\n"
        "  xlm_bleu output.de newstest.de --metric bleu,chrf,chrf++ --json\n"
        "  xlm_bleu output.zh test.zh.0 test.zh.1 --tokenize zh\n"
        "  xlm_bleu base.de newstest.de --system gc=gc.de --system mass=mass.de --sentences sentences.tsv\n"
        "  sed 's/@@ //g' output.bpe.de | xlm_bleu - newstest.de.gz --metric multi-bleu\n\n",
    .files =
        "  HYPOTHESES  translations, one sentence per line\n"
        "  REFERENCE   translations by people, one sentence per line\n",
};

#define UNSET G_MININT64

static struct {
    char **systems;
    char *metrics, *words, *smoothing, *sentences;
    double smooth_value;
    gboolean lowercase, whitespace, epsilon, json;
    gint64 samples, seed;
    int width;
} given = {.smooth_value = NAN, .samples = UNSET, .seed = UNSET, .width = 2};

static const GOptionEntry metric_options[] = {
    {"metric", 'm', 0, G_OPTION_ARG_STRING, &given.metrics,
     "metrics, separated by commas: bleu (the default), multi-bleu, chrf, chrf++", "METRIC[,...]"},
    {"lowercase", 0, 0, G_OPTION_ARG_NONE, &given.lowercase, "compare in lower case", NULL},
    {"tokenize", 't', 0, G_OPTION_ARG_STRING, &given.words,
     "words for bleu: as in mteval-v13a (13a, the default), by Unicode's punctuation and symbols as in mteval-v14 (intl), single "
     "Chinese characters (zh), all characters (char), what is between white space (none)", "13a|intl|zh|char|none"},
    {"smooth", 's', 0, G_OPTION_ARG_STRING, &given.smoothing,
     "smoothing for bleu, of orders of n-grams without a match (default: exp)", "exp|floor|add-k|none"},
    {"smooth-value", 0, 0, G_OPTION_ARG_DOUBLE, &given.smooth_value, "value for floor (default 0.1) and add-k (default 1)", "X"},
    {"chrf-whitespace", 0, 0, G_OPTION_ARG_NONE, &given.whitespace, "for chrf, count spaces as characters", NULL},
    {"chrf-eps-smoothing", 0, 0, G_OPTION_ARG_NONE, &given.epsilon,
     "for chrf, average over all orders of n-grams, also those for which the text is too short", NULL},
    {.long_name = NULL}};

static const GOptionEntry options[] = {
    {"system", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.systems,
     "another system's translations, to be compared with HYPOTHESES; may be repeated; a file with = in its name is written "
     "./FILE", "[NAME=]FILE"},
    {"bootstrap", 0, 0, G_OPTION_ARG_INT64, &given.samples,
     "number of samples of the bootstrap, 0: none (default: 1000 if there are several systems, otherwise 0)", "N"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed, "seed of these samples (default 1)", "N"},
    {"sentences", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.sentences,
     "also write the scores of each sentence to this file: sentence<tab>system<tab>score...", "FILE.tsv"},
    {"json", 'j', 0, G_OPTION_ARG_NONE, &given.json, "print the result as JSON", NULL},
    {"width", 'w', 0, G_OPTION_ARG_INT, &given.width, "decimals of scores, except in JSON (default 2)", "N"},
    {.long_name = NULL}};

static const xlm_program_group groups[XLM_PROGRAM_GROUPS] = {{"Scores", metric_options}, {"Options", options}};

/* The scores of a system by one metric. */
typedef struct result {
    int64_t counts[XLM_METRIC_COUNTS];
    double score;
    double *samples; /* [given.samples] NULL: none */
    xlm_bootstrap_interval interval, difference;
    double p;
} result;

typedef struct work {
    GPtrArray *metrics; /* xlm_translation_metric */
    GPtrArray *names, *systems; /* char *: of each system, its name and its file */
    const char *const *references;
    int n_references;
    xlm_sentence_counts counts;
    result *results; /* [systems x metrics] */
} work;

static int n_systems(const work *w) { return (int)w->systems->len; }
static int n_metrics(const work *w) { return (int)w->metrics->len; }
static const xlm_translation_metric *metric_at(const work *w, int m) { return w->metrics->pdata[m]; }
static const xlm_metric_class *class_of(const work *w, int m) { return xlm_translation_metric_class(metric_at(w, m)); }
static result *result_at(const work *w, int s, int m) { return &w->results[s * n_metrics(w) + m]; }

static char *signature_of(const work *w, int m, bool sentence)
{
    return xlm_translation_metric_signature(metric_at(w, m), w->n_references, sentence ? 0 : given.samples, given.seed, sentence);
}

/* ---- the command line ---- */

/* Refuse options of a metric that is not asked for. */
static bool options_are_used(const char *const *names, GError **error)
{
    const bool chrf = g_strv_contains(names, "chrf") || g_strv_contains(names, "chrf++");
    const char *option = given.words != NULL ? "tokenize" : "smooth";
    if ((given.words != NULL || given.smoothing != NULL) && !g_strv_contains(names, "bleu"))
        return xlm_error_set(error, EX_USAGE, "--%s: only the metric bleu has it", option);
    option = given.whitespace ? "chrf-whitespace" : "chrf-eps-smoothing";
    return chrf || !(given.whitespace || given.epsilon) ||
           xlm_error_set(error, EX_USAGE, "--%s: only the metrics chrf and chrf++ have it", option);
}

static bool open_metrics(work *w, GError **error)
{
    static const char *const words[] = {"13a", "intl", "zh", "char", "none", NULL}; /* of xlm_bleu_words, except blanks */
    if (!xlm_program_is_one_of("tokenize", given.words, words, error) ||
        !xlm_program_is_one_of("smooth", given.smoothing, xlm_bleu_smoothings, error))
        return false;
    const xlm_bleu_smoothing smoothing = (xlm_bleu_smoothing)xlm_program_number_of(given.smoothing, xlm_bleu_smoothings);
    const bool has_value = smoothing == XLM_SMOOTH_FLOOR || smoothing == XLM_SMOOTH_ADD_K;
    if (!isnan(given.smooth_value) && !has_value)
        return xlm_error_set(error, EX_USAGE, "--smooth-value: only --smooth=floor and --smooth=add-k have one");
    if (!isnan(given.smooth_value) && !(given.smooth_value > 0 && isfinite(given.smooth_value)))
        return xlm_error_set(error, EX_USAGE, "--smooth-value=%g: must be a number above 0", given.smooth_value);
    const xlm_metric_options settings = {
        .words = (xlm_bleu_words)xlm_program_number_of(given.words, words),
        .smoothing = smoothing,
        .smooth_value = isnan(given.smooth_value) ? 0 : given.smooth_value,
        .lowercase = given.lowercase,
        .whitespace = given.whitespace,
        .epsilon = given.epsilon,
    };
    char **names;
    if (!xlm_program_list("metric", given.metrics != NULL ? given.metrics : "bleu", 1, G_MAXUINT, "metrics separated by commas",
                          &names, error) ||
        !options_are_used((const char *const *)names, error))
        return false;
    for (char **name = names; *name != NULL; name++) {
        if (g_strv_contains((const char *const *)(name + 1), *name))
            return xlm_error_set(error, EX_USAGE, "--metric=%s: %s is there twice", given.metrics, *name);
        xlm_translation_metric *metric = xlm_translation_metric_new(*name, &settings, error);
        if (metric == NULL) {
            g_prefix_error(error, "--metric: ");
            return false;
        }
        g_ptr_array_add(w->metrics, metric);
    }
    return true;
}

/* Is there such a file, or an archive that it is in, or is it standard input? */
static bool is_there(const char *path)
{
    g_autofree char *archive = NULL;
    return strcmp(path, "-") == 0 || g_file_test(path, G_FILE_TEST_EXISTS) || xlm_path_member(path, &archive) != NULL;
}

/* The sign of "NAME=FILE"; NULL for a FILE that has = in its name: ./FILE, /FILE, or a value that is a file as a whole. EX_USAGE: what
 * follows the sign is a file as well. */
static bool find_sign(const char *value, const char **sign, GError **error)
{
    *sign = g_str_has_prefix(value, "./") || g_path_is_absolute(value) ? NULL : strchr(value, '=');
    if (*sign == NULL || !is_there(value))
        return true;
    const char *rest = *sign + 1;
    if (is_there(rest))
        return xlm_error_set(error, EX_USAGE, "--system=%s: is a file, and so is %s; write ./%s or NAME=%s for the first, %.*s=./%s"
                             " for the second", value, rest, value, value, (int)(*sign - value), value, rest);
    *sign = NULL;
    return true;
}

/* value: "NAME=FILE" or "FILE". */
static bool add_system(work *w, const char *value, GError **error)
{
    const char *sign;
    if (!find_sign(value, &sign, error))
        return false;
    char *name = sign != NULL ? g_strndup(value, (gsize)(sign - value)) : g_strdup(value);
    g_ptr_array_add(w->names, name);
    g_ptr_array_add(w->systems, g_strdup(sign != NULL ? sign + 1 : value));
    for (guint i = 0; i + 1 < w->names->len; i++)
        if (strcmp(w->names->pdata[i], name) == 0)
            return xlm_error_set(error, EX_USAGE, "two systems are named %s; give another name: --system NAME=FILE", name);
    return (*name != '\0' && strpbrk(name, "\t\n") == NULL) ||
           xlm_error_set(error, EX_USAGE, "--system=%s: the name is empty or has a tab or a line end", value);
}

static bool read_options(work *w, int *argc, char ***argv, GError **error)
{
    if (!xlm_program_parse(&program, groups, argc, argv, error))
        return false;
    if (*argc < 3)
        return xlm_error_set(error, EX_USAGE, "%s; see %s --help", *argc < 2 ? "no translations and no reference given" :
                             "no reference given", program.name);
    w->references = (const char *const *)*argv + 2;
    w->n_references = *argc - 2;
    g_ptr_array_add(w->names, g_strdup((*argv)[1]));
    g_ptr_array_add(w->systems, g_strdup((*argv)[1]));
    for (char **value = given.systems; value != NULL && *value != NULL; value++)
        if (!add_system(w, *value, error))
            return false;
    if (given.samples == UNSET)
        given.samples = n_systems(w) > 1 ? 1000 : 0;
    if (!xlm_program_is_in("bootstrap", given.samples, 0, 10000000, error) ||
        !xlm_program_is_in("width", given.width, 0, 15, error))
        return false;
    if (given.seed != UNSET && given.samples == 0)
        return xlm_error_set(error, EX_USAGE, "--seed is for the samples of the bootstrap, and there are none; give --bootstrap=N");
    given.seed = given.seed == UNSET ? 1 : given.seed;
    return open_metrics(w, error);
}

/* sacreBLEU's rule: only BLEU of detokenised text can be compared between papers. */
static void warn_of_tokens(const work *w)
{
    enum { MANY = 100 };
    const bool matters = given.words == NULL || strcmp(given.words, "none") != 0;
    int m = 0;
    while (m < n_metrics(w) && strcmp(class_of(w, m)->name, "bleu") != 0)
        m++;
    if (matters && m < n_metrics(w) && w->counts.apart >= MANY)
        xlm_log_warn("%" G_GINT64_FORMAT " translations end in \" .\", as tokenised text does; BLEU is of detokenised text, or "
                     "of text tokenised elsewhere with --tokenize=none or --metric=multi-bleu", w->counts.apart);
}

/* ---- scores ---- */

static void find_results(work *w)
{
    w->results = g_new0(result, (gsize)n_systems(w) * (gsize)n_metrics(w));
    g_autofree double *differences = g_new(double, (gsize)given.samples + 1);
    for (int m = 0; m < n_metrics(w); m++)
        for (int s = 0; s < n_systems(w); s++) {
            result *r = result_at(w, s, m), *first = result_at(w, 0, m);
            xlm_sentence_counts_sum(&w->counts, s, m, class_of(w, m)->counts, r->counts);
            r->score = xlm_translation_metric_score(metric_at(w, m), r->counts);
            if (given.samples == 0)
                continue;
            r->samples = g_new(double, (gsize)given.samples);
            xlm_bootstrap(metric_at(w, m), xlm_sentence_counts_of(&w->counts, s, m), w->counts.sentences, given.seed,
                          given.samples, r->samples);
            r->interval = xlm_bootstrap_find_interval(r->samples, given.samples);
            for (int64_t i = 0; i < given.samples; i++)
                differences[i] = r->samples[i] - first->samples[i];
            r->difference = xlm_bootstrap_find_interval(differences, given.samples);
            r->p = xlm_bootstrap_p(r->samples, first->samples, given.samples, r->score - first->score);
        }
}

/* Half of the width of an interval, which sacreBLEU shows. */
static double half(const xlm_bootstrap_interval *interval) { return 0.5 * (interval->high - interval->low); }

/* ---- output ---- */

static void print_line(const work *w, int m)
{
    const result *r = result_at(w, 0, m);
    g_autofree char *signature = signature_of(w, m, false);
    g_autoptr(GString) score = g_string_new(NULL);
    g_string_printf(score, "%.*f", given.width, r->score);
    if (r->samples != NULL)
        g_string_append_printf(score, " (\u03bc = %.*f \u00b1 %.*f)", given.width, r->interval.mean, given.width,
                               half(&r->interval));
    g_autofree char *line = xlm_translation_metric_line(metric_at(w, m), r->counts, score->str, signature);
    puts(line);
}

/* A cell of a table, which need not be ASCII, aligned to the right, but in the first column to the left. */
static void print_cell(const char *text, int width, bool first)
{
    const int blanks = MAX(0, width - (int)g_utf8_strlen(text, -1));
    printf("%s%*s%s%*s", first ? "" : "  ", first ? 0 : blanks, "", text, first ? blanks : 0, "");
}

enum { SYSTEM, SCORE, MEAN, INTERVAL, DIFFERENCE, DIFFERENCE_INTERVAL, P, COLUMNS };

static char *number(double value, bool sign) { return g_strdup_printf(sign ? "%+.*f" : "%.*f", given.width, value); }

static char *range(const xlm_bootstrap_interval *interval, bool sign)
{
    g_autofree char *low = number(interval->low, sign), *high = number(interval->high, sign);
    return g_strdup_printf("%s to %s", low, high);
}

/* cells[COLUMNS] of a system, NULL where it has none; g_free. */
static void fill_row(const work *w, int s, int m, char **cells)
{
    const result *r = result_at(w, s, m);
    const bool other = s > 0 && r->samples != NULL;
    cells[SYSTEM] = g_utf8_make_valid(w->names->pdata[s], -1); /* its characters are counted */
    cells[SCORE] = number(r->score, false);
    cells[MEAN] = r->samples != NULL ? number(r->interval.mean, false) : NULL;
    cells[INTERVAL] = r->samples != NULL ? range(&r->interval, false) : NULL;
    cells[DIFFERENCE] = s > 0 ? number(r->score - result_at(w, 0, m)->score, true) : NULL;
    cells[DIFFERENCE_INTERVAL] = other ? range(&r->difference, true) : NULL;
    cells[P] = other ? g_strdup_printf("%.4f%s", r->p, r->p <= 0.05 ? "*" : " ") : NULL;
}

static void print_table(const work *w, int m)
{
    static const char *const head[COLUMNS] = {"system", "score", "mean", "95 %", "difference", "95 %", "p "};
    const int rows = n_systems(w) + 1;
    g_autoptr(GPtrArray) table = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_set_size(table, rows * COLUMNS);
    char **cells = (char **)table->pdata;
    g_autofree char *signature = signature_of(w, m, false);
    int width[COLUMNS] = {0};
    for (int c = 0; c < COLUMNS; c++)
        cells[c] = g_strdup(head[c]);
    for (int s = 0; s < n_systems(w); s++) {
        fill_row(w, s, m, cells + (ptrdiff_t)COLUMNS * (s + 1));
        for (int c = 0; c < COLUMNS; c++)
            if (cells[COLUMNS * (s + 1) + c] != NULL)
                width[c] = MAX(MAX(width[c], (int)strlen(head[c])), (int)g_utf8_strlen(cells[COLUMNS * (s + 1) + c], -1));
    }
    printf("%s%s|%s\n", m > 0 ? "\n" : "", class_of(w, m)->title, signature);
    for (int row = 0; row < rows; row++) {
        int last = COLUMNS - 1;
        while (cells[COLUMNS * row + last] == NULL || width[last] == 0)
            last--;
        for (int c = 0; c <= last; c++)
            if (width[c] > 0)
                print_cell(cells[COLUMNS * row + c] != NULL ? cells[COLUMNS * row + c] : "", width[c], c == 0);
        putchar('\n');
    }
}

static json_t *json_of_interval(const xlm_bootstrap_interval *interval)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "mean", interval->mean, "low", interval->low, "high", interval->high, "half_width",
                     half(interval));
}

/* A name, which need not be UTF-8, as a string of JSON. */
static json_t *json_of_name(const char *name)
{
    g_autofree char *valid = g_utf8_make_valid(name, -1);
    return json_string(valid);
}

static json_t *json_of_result(const work *w, int s, int m)
{
    const result *r = result_at(w, s, m);
    xlm_metric_part parts[XLM_METRIC_PARTS];
    const int n = xlm_translation_metric_parts(metric_at(w, m), r->counts, parts);
    json_t *object = json_pack("{s:o, s:o, s:f}", "name", json_of_name(w->names->pdata[s]), "file",
                               json_of_name(w->systems->pdata[s]), "score", r->score);
    for (int i = 0; i < n; i++)
        json_object_set_new(object, parts[i].name, json_real(parts[i].value));
    if (r->samples != NULL)
        json_object_set_new(object, "bootstrap", json_of_interval(&r->interval));
    if (s > 0)
        json_object_set_new(object, "difference", json_real(r->score - result_at(w, 0, m)->score));
    if (s > 0 && r->samples != NULL) {
        json_object_set_new(object, "difference_bootstrap", json_of_interval(&r->difference));
        json_object_set_new(object, "p", json_real(r->p));
    }
    return object;
}

static void print_json(const work *w)
{
    json_t *references = json_array(), *metrics = json_array();
    for (int r = 0; r < w->n_references; r++)
        json_array_append_new(references, json_of_name(w->references[r]));
    for (int m = 0; m < n_metrics(w); m++) {
        g_autofree char *signature = signature_of(w, m, false);
        json_t *systems = json_array();
        for (int s = 0; s < n_systems(w); s++)
            json_array_append_new(systems, json_of_result(w, s, m));
        json_array_append_new(metrics, json_pack("{s:s, s:s, s:s, s:o}", "metric", class_of(w, m)->name, "title",
                                                 class_of(w, m)->title, "signature", signature, "systems", systems));
    }
    json_t *all = json_pack("{s:I, s:o, s:o}", "sentences", (json_int_t)w->counts.sentences, "references", references, "metrics",
                            metrics);
    json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
    putchar('\n');
    json_decref(all);
}

static bool write_sentences(const work *w, GError **error)
{
    xlm_new_file file;
    if (!xlm_new_file_create(&file, given.sentences, error))
        return false;
    fputs("sentence\tsystem", file.stream);
    for (int m = 0; m < n_metrics(w); m++) {
        g_autofree char *signature = signature_of(w, m, true);
        fprintf(file.stream, "\t%s|%s", class_of(w, m)->title, signature);
    }
    for (int64_t i = 0; i < w->counts.sentences; i++)
        for (int s = 0; s < n_systems(w); s++) {
            fprintf(file.stream, "\n%" G_GINT64_FORMAT "\t%s", i + 1, (const char *)w->names->pdata[s]);
            for (int m = 0; m < n_metrics(w); m++) {
                const int64_t *of = xlm_sentence_counts_of(&w->counts, s, m) + i * class_of(w, m)->counts;
                fprintf(file.stream, "\t%.*f", given.width, xlm_translation_metric_score_sentence(metric_at(w, m), of));
            }
        }
    fputc('\n', file.stream);
    return xlm_new_file_commit(&file, error);
}

/* The file is written first: if that fails, nothing is printed. */
static bool write_results(const work *w, GError **error)
{
    if (given.sentences != NULL && !write_sentences(w, error))
        return false;
    if (given.json)
        print_json(w);
    for (int m = 0; !given.json && m < n_metrics(w); m++)
        if (n_systems(w) > 1)
            print_table(w, m);
        else
            print_line(w, m);
    return xlm_program_flush(error);
}

static void close_work(work *w)
{
    for (int i = 0; w->results != NULL && i < n_systems(w) * n_metrics(w); i++)
        g_free(w->results[i].samples);
    g_free(w->results);
    xlm_sentence_counts_close(&w->counts);
    g_ptr_array_unref(w->metrics);
    g_ptr_array_unref(w->names);
    g_ptr_array_unref(w->systems);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    xlm_log_open(program.name, true);
    work w = {
        .metrics = g_ptr_array_new_with_free_func((GDestroyNotify)xlm_translation_metric_free),
        .names = g_ptr_array_new_with_free_func(g_free),
        .systems = g_ptr_array_new_with_free_func(g_free),
    };
    if (read_options(&w, &argc, &argv, &error)) {
        const char *const *systems = (const char *const *)(void *)w.systems->pdata;
        xlm_translation_metric *const *metrics = (xlm_translation_metric *const *)(void *)w.metrics->pdata;
        const xlm_scored_files files = {systems, w.references, n_systems(&w), w.n_references};
        if (xlm_scored_files_count(&files, metrics, n_metrics(&w), &w.counts, &error)) {
            warn_of_tokens(&w);
            find_results(&w);
            write_results(&w, &error);
        }
    }
    close_work(&w);
    xlm_program_free_options(groups);
    return xlm_error_exit(error);
}
