/* xlm-mpi: xlm_report, runs as a page of HTML. SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "aligners/matrix_file.h"
#include "base/log.h"
#include "files/files.h"
#include "files/path.h"
#include "maps/map.h"
#include "program/program.h"
#include "report/plot.h"
#include "report/sections.h"
#include "store/store.h"
#include "text/fields.h"

static const xlm_program program = {
    .name = "xlm_report",
    .arguments = "RUN... -o FILE.html",
    .purpose = "Write a report on runs: one self-contained HTML file",
    .notes =
        "RUN is an output directory of xlm_train or xlm_tune, also of a run in progress; up to 24 are shown side by side. The\n"
        "page shows what is available: the origin of a run, keys of the jobs that differ, curves of losses, learning rate,\n"
        "gradient norm and throughput, perplexity of held-out text by language, scores of dev text and of translations, with\n"
        "examples of these beside their references. It runs no script and loads nothing, follows the reader's light or dark\n"
        "scheme, and can be printed.\n\n"
        "Further results are read from files in a run's directory and from those given by --measures, --matrices and --map,\n"
        "which are recognised by their contents: tables of jobs/measure, and of --csv of any command of xlm_embed, of xlm_align\n"
        "score and of xlm_eval; matrices of xlm_align --checkpoint, and of the decoder's attention, which xlm_train writes; maps\n"
        "of xlm_embed map. Rows of jobs/measure name their checkpoints, by paths from the table's directory or from the working\n"
        "directory; any other table belongs to the run in whose directory it is. RUN=FILE says of which run a table is. Rows of\n"
        "steps that the run does not have are left out, with a warning.\n\n"
        "--figures draws other points: each different `figure` of the table is a figure of that title, with a line for each\n"
        "`line`, whose x rise; `axis` is the name of the horizontal axis.\n\n"
        "A point of a long curve is the mean over several steps, for gradient norms the maximum; the figure says over how many.\n"
        "gnuplot draws the figures, and must be in PATH.\n\n"
        "Examples:\n"
        "  xlm_report run1 -o run1.html\n"
        "  xlm_report run1 run2 run3 --measures measure.csv --map map.h5 -o runs.html\n"
        "  xlm_report pos --measures pos=de.csv --title 'Parts of speech' -o pos.html\n\n",
    .files =
        "  RUN/metrics.csv        losses and scores of a run\n"
        "  RUN/job.conf           its job with every key\n"
        "  RUN/checkpoint-*.h5    the newest has versions, ranks, the model's size and the job\n"
        "  RUN/translations.tsv, RUN/best-translations.tsv  translations of held-out pairs\n"
        "  RUN/*.csv, RUN/*.h5, RUN/*.svg  tables, matrices and maps, as above\n",
    .exit_codes =
        "  69  also: gnuplot is not in PATH, or makes no picture\n",
};

static struct {
    char *output, *title;
    char **measures, **matrices, **maps, **figures;
    gint64 pairs;
} given = {.pairs = 3};

static const GOptionEntry options[] = {
    {"output", 'o', XLM_WRITES, G_OPTION_ARG_FILENAME, &given.output, "page to write", "FILE.html"},
    {"title", 0, 0, G_OPTION_ARG_STRING, &given.title, "title of the page (default: the names of the runs)", "TEXT"},
    {"measures", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.measures,
     "a table of measurements; may be repeated", "[RUN=]FILE.csv"},
    {"matrices", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.matrices,
     "matrices of xlm_align --checkpoint or of attention, shown as heat maps; may be repeated", "FILE.h5"},
    {"pairs", 0, 0, G_OPTION_ARG_INT64, &given.pairs,
     "number of pairs of a file of matrices to show, the first ones; 0: none (default 3)", "N"},
    {"map", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.maps,
     "a map of xlm_embed map, coordinates or picture; may be repeated", "FILE.h5|FILE.svg"},
    {"figures", 0, XLM_READS, G_OPTION_ARG_FILENAME_ARRAY, &given.figures,
     "a table of points, `figure,axis,line,x,y`, drawn as figures with lines; may be repeated", "FILE.csv"},
    {.long_name = NULL}};
static const xlm_program_group groups[XLM_PROGRAM_GROUPS] = {{"Options", options}};

static bool read_command_line(int *argc, char ***argv, GError **error)
{
    if (!xlm_program_parse(&program, groups, argc, argv, error))
        return false;
    if (*argc < 2)
        return xlm_error_set(error, EX_USAGE, "at least one run is needed; see %s --help", program.name);
    if (*argc - 1 > XLM_MAX_RUNS)
        return xlm_error_set(error, EX_USAGE, "there are %d runs; at most %d can be distinguished", *argc - 1, XLM_MAX_RUNS);
    if (given.output == NULL)
        return xlm_error_set(error, EX_USAGE, "there is no page to write; give -o FILE.html");
    return xlm_program_is_in("pairs", given.pairs, 0, 1000, error) && xlm_files_check_declared(error) && xlm_plot_check(error);
}

/* ---- files of results ---- */

/* The format of an HDF5 file that is not a checkpoint; NULL if it has none. g_free. */
static char *format_of(const char *path, const char *name)
{
    if (!g_str_has_suffix(name, ".h5") || g_str_has_prefix(name, "checkpoint-"))
        return NULL;
    g_autoptr(xlm_store) store = xlm_store_open(path, NULL);
    return store != NULL ? xlm_store_get_text(store, "/", "format", NULL) : NULL;
}

static bool is_picture(const char *path)
{
    g_autofree char *text = NULL;
    gsize size;
    return xlm_files_load(path, &text, &size, NULL) && strstr(text, "<svg") != NULL;
}

static gint by_name(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Names of the files in a directory, sorted. */
static GPtrArray *list_files(const char *directory)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) open = g_dir_open(directory, 0, NULL);
    for (const char *name; open != NULL && (name = g_dir_read_name(open)) != NULL;)
        g_ptr_array_add(names, g_strdup(name));
    g_ptr_array_sort(names, by_name);
    return names;
}

/* Files in a run's directory that are recognised. */
static void find_files(const xlm_sections *s, xlm_results *results, int run)
{
    const xlm_runs *runs = s->runs;
    g_autoptr(GPtrArray) names = list_files(runs->run[run].directory);
    for (guint i = 0; i < names->len; i++) {
        const char *name = names->pdata[i];
        g_autofree char *path = g_build_filename(runs->run[run].directory, name, NULL), *format = NULL;
        g_autoptr(GError) why = NULL;
        if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
            format = format_of(path, name);
            if (g_str_has_suffix(name, ".csv") && xlm_results_knows(path))
                xlm_results_read(results, path, runs, run, false, s->page, &why);
            else if (g_strcmp0(format, XLM_MATRIX_FILE_FORMAT) == 0)
                g_ptr_array_add(s->matrices, g_strdup(path));
            else if (g_strcmp0(format, XLM_MAP_FORMAT) == 0 || (g_str_has_suffix(name, ".svg") && is_picture(path)))
                g_ptr_array_add(s->maps, g_strdup(path));
        }
        if (why != NULL)
            xlm_page_note(s->page, "%s", why->message);
    }
}

/* Is run i meant by a name, its label or any path of its directory? */
static bool is_run(const xlm_runs *runs, int i, const char *name)
{
    g_autofree char *inside = g_build_filename(name, "metrics.csv", NULL);
    return strcmp(name, runs->run[i].label) == 0 || strcmp(name, runs->run[i].directory) == 0 || xlm_runs_holding(runs, inside) == i;
}

/* The run and the file of "RUN=FILE", both of which may have = in their names: what is before one of the = is a run, and what
 * follows it a file that exists or, if none does and the argument itself is no file, what follows the last such =. [out] run, path:
 * unchanged if no run is named. EX_USAGE: there are several such runs or files. */
static bool find_named_run(const char *argument, const xlm_runs *runs, int *run, const char **path, GError **error)
{
    int found = -1;
    const char *file = NULL;
    bool exists = false;
    for (const char *equals = strchr(argument, '='); equals != NULL; equals = strchr(equals + 1, '=')) {
        g_autofree char *name = g_strndup(argument, (gsize)(equals - argument));
        const bool there = g_file_test(equals + 1, G_FILE_TEST_EXISTS);
        for (int i = 0; i < runs->n; i++) {
            if (!is_run(runs, i, name) || (exists && !there))
                continue;
            if (exists)
                return xlm_error_set(error, EX_USAGE, "%s: can be %s of the run %s and %s of the run %s; write the file that is "
                                     "meant as ./FILE, or its run by another path", argument, file, runs->run[found].label,
                                     equals + 1, runs->run[i].label);
            found = i;
            file = equals + 1;
            exists = there;
        }
    }
    if (found >= 0 && (exists || !g_file_test(argument, G_FILE_TEST_EXISTS))) {
        *run = found;
        *path = file;
    }
    return true;
}

/* "RUN=FILE", or "FILE" of the only run or of the run in whose directory it is. */
static bool read_measures(const char *argument, xlm_results *results, const xlm_runs *runs, xlm_page *page, GError **error)
{
    int run = runs->n == 1 ? 0 : -1;
    const char *path = argument;
    if (!find_named_run(argument, runs, &run, &path, error))
        return false;
    const bool named = path != argument;
    if (run < 0)
        run = xlm_runs_holding(runs, path);
    return xlm_results_read(results, path, runs, run, named, page, error);
}

/* Adds a file that an option names to those of which the first *found were found, unless it is there; one that was found counts as
 * named from then on. */
static void add_named(GPtrArray *files, guint *found, const char *path)
{
    for (guint i = 0; i < files->len; i++)
        if (xlm_path_same_file(files->pdata[i], path)) {
            if (i < *found) {
                (*found)--;
                g_ptr_array_add(files, g_ptr_array_steal_index(files, i));
            }
            return;
        }
    g_ptr_array_add(files, g_strdup(path));
}

/* The results in the files that are found and in those that options name. */
static bool read_files(xlm_sections *s, xlm_results *results, GError **error)
{
    for (int i = 0; i < s->runs->n; i++)
        find_files(s, results, i);
    s->found_matrices = s->matrices->len;
    s->found_maps = s->maps->len;
    for (char **path = given.measures; path != NULL && *path != NULL; path++)
        if (!read_measures(*path, results, s->runs, s->page, error))
            return false;
    for (char **path = given.matrices; path != NULL && *path != NULL; path++)
        add_named(s->matrices, &s->found_matrices, *path);
    for (char **path = given.maps; path != NULL && *path != NULL; path++)
        add_named(s->maps, &s->found_maps, *path);
    return true;
}

/* ---- the page ---- */

static bool write_sections(const xlm_sections *s, GError **error)
{
    return xlm_section_runs(s, error) && xlm_section_job(s, error) && xlm_section_training(s, error) &&
           xlm_section_held_out(s, error) && xlm_section_results(s, "alignment", error) &&
           xlm_section_results(s, "retrieval", error) && xlm_section_results(s, "words", error) &&
           xlm_section_validation(s, error) && xlm_section_translations(s, error) && xlm_section_results(s, "tasks", error) &&
           xlm_section_figures(s, error) && xlm_section_heat_maps(s, error) && xlm_section_maps(s, error);
}

static char *make_title(const xlm_runs *runs)
{
    if (given.title != NULL)
        return g_strdup(given.title);
    if (runs->n > 3)
        return g_strdup_printf("Report on %d runs", runs->n);
    GString *title = g_string_new("Report on ");
    for (int i = 0; i < runs->n; i++)
        g_string_append_printf(title, "%s%s", i > 0 ? ", " : "", runs->run[i].label);
    return g_string_free(title, FALSE);
}

static bool report(char *const *directories, int n, const char *command, GError **error)
{
    xlm_page *page = xlm_page_new();
    xlm_runs runs;
    xlm_results results;
    g_autoptr(GPtrArray) matrices = g_ptr_array_new_with_free_func(g_free), maps = g_ptr_array_new_with_free_func(g_free);
    xlm_sections s = {.page = page, .runs = &runs, .results = &results, .matrices = matrices, .maps = maps,
                      .points = given.figures, .pairs = (int)given.pairs};
    xlm_results_begin(&results);
    bool good = xlm_runs_read(&runs, directories, n, page, error) && read_files(&s, &results, error) && write_sections(&s, error);
    if (good) {
        g_autofree char *title = make_title(&runs);
        good = xlm_fields_write(given.output, xlm_page_end(page, title, command), error);
    }
    xlm_results_clear(&results);
    xlm_runs_clear(&runs);
    xlm_page_free(page);
    return good;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    g_autofree char *command = xlm_program_command(&program, argv);
    xlm_log_open(program.name, true);
    if (read_command_line(&argc, &argv, &error) && report(argv + 1, argc - 1, command, &error))
        xlm_log_info("%s: %d %s", given.output, argc - 1, argc == 2 ? "run" : "runs");
    xlm_program_free_options(groups);
    return xlm_error_exit(error);
}
