/* xlm-mpi: xlm_embed map, words or sentences in a plane. SPDX-License-Identifier: GPL-3.0-or-later */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "commands/commands.h"
#include "maps/map.h"
#include "maps/map_items.h"
#include "maps/principal.h"
#include "text/fields.h"

enum { MIN_POINTS = 4, MAX_ITERATIONS = 1000000 };

static struct {
    char *output, *coordinates, *dictionary, *corpus, *sentences, *languages, *heading;
    char **titles;
    gint64 count, components, iterations, seed, layer, labels, most;
    double perplexity, theta, learning_rate;
    gboolean words_alone, unit;
} given = {.count = -1, .components = 50, .iterations = 1000, .seed = 1, .layer = -1, .labels = 12, .perplexity = 30,
           .theta = 0.5};

static char **languages; /* --languages */

static const GOptionEntry what_options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "picture to write, as SVG", "MAP.svg"},
    {"coordinates", 0, XLM_WRITES, G_OPTION_ARG_FILENAME, &given.coordinates, "points, labels and pairs, as HDF5", "MAP.h5"},
    {"dictionary", 'd', XLM_READS, G_OPTION_ARG_FILENAME, &given.dictionary,
     "words and their translations: text in MUSE's format, or a dictionary of xlm_dict", "FILE"},
    {"corpus", 'c', XLM_READS, G_OPTION_ARG_FILENAME, &given.corpus,
     "the most frequent subwords of each language's training text, without those that have no letter", "CORPUS.h5"},
    {"sentences", 0, XLM_READS, G_OPTION_ARG_FILENAME, &given.sentences,
     "held-out sentences and their translations, those longer than the model's positions cut", "CORPUS.h5"},
    {"languages", 'l', 0, G_OPTION_ARG_STRING, &given.languages,
     "the two languages of a dictionary or of sentences; those of --corpus (default: all)", "LANG,LANG"},
    {"count", 'n', 0, G_OPTION_ARG_INT64, &given.count,
     "number of pairs, the first ones (default: all of a dictionary, 500 of sentences), or of words in each language (default "
     "500)", "N"},
    {"title", 0, 0, G_OPTION_ARG_STRING_ARRAY, &given.titles,
     "title of the picture of a checkpoint; one for each, in order (default: path and step)", "TEXT"},
    {"heading", 0, 0, G_OPTION_ARG_STRING, &given.heading, "title of the whole page", "TEXT"},
    {"labels", 0, 0, G_OPTION_ARG_INT64, &given.labels,
     "number of pairs, or of words without pairs, that are labelled (default 12)", "N"},
    {.long_name = NULL}};

static const GOptionEntry how_options[] = {
    {"layer", 0, 0, G_OPTION_ARG_INT64, &given.layer,
     "layer whose hidden states are used, for sentences (default: the last)", "N"},
    {"words-alone", 0, 0, G_OPTION_ARG_NONE, &given.words_alone, "do not add the language embeddings to those of words", NULL},
    {"unit", 0, 0, G_OPTION_ARG_NONE, &given.unit, "divide vectors by their lengths, so that only their directions count", NULL},
    {"components", 0, 0, G_OPTION_ARG_INT64, &given.components,
     "number of principal components that t-SNE uses (default 50, or all if there are fewer)", "N"},
    {"perplexity", 0, 0, G_OPTION_ARG_DOUBLE, &given.perplexity,
     "effective number of neighbours of a point (default 30; at most a third of the points)", "X"},
    {"iterations", 0, 0, G_OPTION_ARG_INT64, &given.iterations,
     "number of steps of t-SNE (default 1000, a quarter of them with P exaggerated)", "N"},
    {"theta", 0, 0, G_OPTION_ARG_DOUBLE, &given.theta,
     "0 to 1: how coarsely distant points are summed (default 0.5); 0: exactly, which is slow", "X"},
    {"learning-rate", 0, 0, G_OPTION_ARG_DOUBLE, &given.learning_rate,
     "learning rate of t-SNE (default: points / 48, at least 50)", "X"},
    {"seed", 0, 0, G_OPTION_ARG_INT64, &given.seed, "seed of the noise in the initial positions (default 1)", "N"},
    {"most", 0, 0, G_OPTION_ARG_INT64, &given.most, "read only the first N words of a file of vectors (default: all)", "N"},
    {.long_name = NULL}};

static bool check_numbers(GError **error)
{
    if ((given.count != -1 && !xlm_program_is_in("count", given.count, 1, G_MAXINT64, error)) ||
        !xlm_program_is_in("components", given.components, 2, G_MAXINT64, error) ||
        !xlm_program_is_in("iterations", given.iterations, 1, MAX_ITERATIONS, error) ||
        !xlm_program_is_in("labels", given.labels, 0, G_MAXINT64, error) ||
        !xlm_program_is_in("most", given.most, 0, G_MAXINT64, error) ||
        (given.layer != -1 && !xlm_program_is_in("layer", given.layer, 0, G_MAXINT64, error)))
        return false;
    if (!(given.perplexity >= 2) || isinf(given.perplexity))
        return xlm_error_set(error, EX_USAGE, "--perplexity=%g: at least 2", given.perplexity);
    if (!(given.theta >= 0 && given.theta <= 1))
        return xlm_error_set(error, EX_USAGE, "--theta=%g: must be in 0 to 1", given.theta);
    return (given.learning_rate >= 0 && !isinf(given.learning_rate)) ||
           xlm_error_set(error, EX_USAGE, "--learning-rate=%g: above 0", given.learning_rate);
}

static bool check(GError **error)
{
    if (given.output == NULL && given.coordinates == NULL)
        return xlm_error_set(error, EX_USAGE, "there is nothing to write; give --output MAP.svg or --coordinates MAP.h5");
    if ((given.dictionary != NULL) + (given.corpus != NULL) + (given.sentences != NULL) != 1)
        return xlm_error_set(error, EX_USAGE, "give one of --dictionary, --corpus and --sentences: what to show");
    if (given.layer >= 0 && given.sentences == NULL)
        return xlm_error_set(error, EX_USAGE, "--layer is for --sentences; words are rows of the word embeddings");
    return (given.corpus != NULL
                ? xlm_program_list("languages", given.languages, 1, XLM_MAP_LANGUAGES, "1 to 8 languages", &languages, error)
                : xlm_program_list("languages", given.languages, 2, 2, "two languages", &languages, error)) &&
           check_numbers(error);
}

static xlm_tsne_options options_of_tsne(void)
{
    xlm_tsne_options o = xlm_tsne_defaults();
    o.perplexity = given.perplexity;
    o.theta = given.theta;
    o.iterations = given.iterations;
    o.exaggerated = given.iterations / 4;
    o.learning_rate = given.learning_rate;
    o.seed = given.seed;
    return o;
}

typedef struct work {
    const xlm_comm *comm;
    int panels;         /* checkpoints */
    char *const *paths; /* [panels] */
    xlm_map_items items;
    float **vectors;    /* [panels] of all items */
    int64_t *width;
    bool *covered;      /* [items] by all */
    xlm_map map;
} work;

/* ---- reading ---- */

static bool read_items(work *w, GError **error)
{
    if (given.dictionary != NULL)
        return xlm_map_items_read_dictionary(&w->items, given.dictionary, w->paths[0], languages, MAX(given.count, 0), error);
    const int64_t count = given.count > 0 ? given.count : 500;
    return given.corpus != NULL ? xlm_map_items_read_words(&w->items, given.corpus, languages, count, error)
                                : xlm_map_items_read_sentences(&w->items, given.sentences, languages, count, error);
}

static bool read_all(work *w, GError **error)
{
    GError *failure = NULL;
    if (given.titles != NULL && g_strv_length(given.titles) != (guint)w->panels)
        xlm_error_set(&failure, EX_USAGE, "there are %u --title for %d checkpoints", g_strv_length(given.titles), w->panels);
    else if (read_items(w, &failure) && w->items.languages->len > XLM_MAP_LANGUAGES)
        xlm_error_set(&failure, EX_USAGE, "%s: has %u languages; select up to %d of them with --languages", w->items.path,
                      w->items.languages->len, XLM_MAP_LANGUAGES);
    if (!xlm_comm_agree_on(w->comm, failure, error))
        return false;
    const guint n = w->items.labels->len;
    const xlm_map_vectors how = {.layer = given.layer, .words_alone = given.words_alone, .unit = given.unit,
                                 .max_words = given.most};
    w->covered = g_new(bool, n + 1);
    for (guint i = 0; i < n; i++)
        w->covered[i] = true;
    for (int p = 0; p < w->panels; p++)
        if (!xlm_map_items_vectors(w->comm, &w->items, w->paths[p], &how, &w->vectors[p], &w->width[p], w->covered,
                                   &w->map.panel[p].step, error))
            return false;
    return true;
}

/* Keeps the items that every panel has, by moving their vectors up. */
static bool keep_covered(work *w, GError **error)
{
    const int64_t all = w->items.labels->len;
    int64_t kept = 0;
    for (int p = 0; p < w->panels; p++) {
        kept = 0;
        for (int64_t i = 0; i < all; i++)
            if (w->covered[i])
                memmove(w->vectors[p] + kept++ * w->width[p], w->vectors[p] + i * w->width[p],
                        sizeof(float) * (size_t)w->width[p]);
    }
    xlm_map_items_keep(&w->items, w->covered);
    if (kept < all)
        xlm_log_warn("%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " %s have no vector and are left out", all - kept, all,
                     w->items.sentences ? "sentences" : "words");
    if (kept < MIN_POINTS)
        return xlm_error_set(error, EX_DATAERR, "%s: there are %" G_GINT64_FORMAT " points that all models have; a map takes %d",
                             w->items.path, kept, MIN_POINTS);
    const double max = xlm_tsne_max_perplexity(kept);
    return given.perplexity <= max ||
           xlm_error_set(error, EX_USAGE, "--perplexity=%g: %" G_GINT64_FORMAT " points have a perplexity of at most %.4g",
                         given.perplexity, kept, floor(100 * max) / 100);
}

/* ---- maps ---- */

static char *make_title(const work *w, int panel)
{
    if (given.titles != NULL)
        return g_strdup(given.titles[panel]);
    return w->map.panel[panel].step > 0 ? g_strdup_printf("%s, step %" G_GINT64_FORMAT, w->paths[panel], w->map.panel[panel].step)
                                        : g_strdup(w->paths[panel]);
}

/* Products of vectors, of columns too, and half the squares of lengths are numbers of float. None is larger than the sum of all
 * squares. Squares of distances are doubles. */
static bool check_lengths(const work *w, int p, GError **error)
{
    double squares = 0;
    for (int64_t i = 0; i < w->map.n * w->width[p]; i++)
        squares += (double)w->vectors[p][i] * (double)w->vectors[p][i];
    return squares <= (double)FLT_MAX || xlm_error_set(error, EX_DATAERR, "the vectors are too long for distances between them; "
                                                       "give --unit");
}

static bool map_panel(work *w, const xlm_tsne_options *o, int p, GError **error)
{
    xlm_map_panel *panel = &w->map.panel[p];
    const int64_t n = w->map.n, components = MIN(given.components, MIN(w->width[p], n - 1));
    g_autofree float *scores = g_new(float, n * components);
    panel->model = w->paths[p];
    panel->title = make_title(w, p);
    panel->components = components;
    panel->variance = g_new(double, components);
    panel->y = g_new(double, 2 * n);
    const double begin = xlm_clock();
    const bool good = check_lengths(w, p, error) &&
                      xlm_principal_components(w->comm, n, w->width[p], w->vectors[p], components, scores, panel->variance, error);
    g_clear_pointer(&w->vectors[p], g_free);
    if (good) {
        panel->divergence = xlm_tsne(w->comm, n, components, scores, o, panel->y);
        xlm_log_info("%s: %" G_GINT64_FORMAT " points, KL %.4f: %.1f s", panel->title, n, panel->divergence, xlm_clock() - begin);
    } else {
        g_prefix_error(error, "%s: ", w->paths[p]);
    }
    return good;
}

static bool write_results(const work *w, const xlm_tsne_options *o, GError **error)
{
    if (given.coordinates != NULL && !xlm_map_write(&w->map, o, xlm_command_line, given.coordinates, error))
        return false;
    return given.output == NULL ||
           xlm_fields_write(given.output, xlm_map_picture(&w->map, o, given.heading, given.labels), error);
}

static void make_map(work *w, GError **error)
{
    const xlm_tsne_options o = options_of_tsne();
    GError *failure = NULL;
    if (!keep_covered(w, error))
        return;
    w->map.n = w->items.labels->len;
    w->map.pairs = w->items.links->len / 2;
    w->map.labels = w->items.labels;
    w->map.language = w->items.language;
    w->map.languages = w->items.languages;
    w->map.links = w->items.links;
    w->map.content = w->items.sentences ? "sentences" : "words";
    for (int p = 0; p < w->panels; p++)
        if (!map_panel(w, &o, p, error))
            return;
    if (w->comm->rank == 0)
        write_results(w, &o, &failure);
    xlm_comm_agree_on(w->comm, failure, error);
}

static void run(const xlm_comm *comm, char *const *arguments, GError **error)
{
    const int panels = (int)g_strv_length((char **)arguments);
    work w = {.comm = comm, .panels = panels, .paths = arguments, .map = {.panels = panels}};
    w.vectors = g_new0(float *, panels);
    w.width = g_new0(int64_t, panels);
    w.map.panel = g_new0(xlm_map_panel, panels);
    if (read_all(&w, error))
        make_map(&w, error);
    for (int p = 0; p < panels; p++) {
        g_free(w.vectors[p]);
        g_free(w.map.panel[p].title);
        g_free(w.map.panel[p].variance);
        g_free(w.map.panel[p].y);
    }
    g_free(w.vectors);
    g_free(w.width);
    g_free(w.covered);
    g_free(w.map.panel);
    xlm_map_items_close(&w.items);
}

const xlm_command xlm_embed_map = {
    .name = "map",
    .arguments = "map CHECKPOINT|VECTORS... --output MAP.svg",
    .purpose = "Draw words or sentences of several languages in a plane, by t-SNE",
    .notes =
        "map: draws the word embeddings of dictionary pairs or of the most frequent subwords, or held-out sentences (the mean of "
        "their subwords' hidden states), reduced to principal components and then, by t-SNE (van der Maaten 2014), to a picture "
        "as SVG: a colour and a mark for each language, lines between translations. Several checkpoints, such as one before and "
        "one after training, are shown side by side with the same points; words that one of them does not have are left out of "
        "all. Ranks and threads share the work; the picture does not depend on their number. Points that are close are "
        "neighbours; distances between groups, and their sizes, mean little.\n\n",
    .examples =
        "  mpiexec -n 2 xlm_embed map run0/latest run1/latest --dictionary en-de.0-5000.txt --languages en,de -o map.svg\n"
        "  xlm_embed map run1/latest --sentences corpus.h5 --layer 8 -o sentences.svg --coordinates sentences.h5\n",
    .title = "Options of map: content",
    .options = what_options,
    .more_title = "Options of map: method",
    .more_options = how_options,
    .precision = true,
    .takes = {"a checkpoint or a file of vectors, or several", 1, G_MAXINT},
    .check = check,
    .run = run,
};
