/* xlm-mpi: the sections of a report on runs: heat maps of alignment, and maps. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "aligners/matrix_file.h"
#include "base/markup.h"
#include "files/files.h"
#include "maps/map.h"
#include "report/sections.h"
#include "store/store.h"

enum { WIDEST = 40 /* subwords of a side that a heat map has room for */, NAMED = 12 /* points of a map that are named */ };

/* ---- heat maps ---- */

/* A file of matrices. */
typedef struct matrices {
    xlm_store *store;
    char **vocabulary;
    uint64_t words;
    uint64_t pairs;
    int64_t layer;       /* that is shown */
    char *layers;        /* all that there are, "0, 1, 2" */
    char *model, *values, *language[2];
    int64_t step;
} matrices;

static const char *const sides[] = {"source", "target"};

static void close_matrices(matrices *m)
{
    xlm_store_close(m->store);
    g_strfreev(m->vocabulary);
    g_free(m->layers);
    g_free(m->model);
    g_free(m->values);
    for (int side = 0; side < 2; side++)
        g_free(m->language[side]);
}

static gint by_number(gconstpointer a, gconstpointer b) { return *(const int *)a - *(const int *)b; }

/* The layer that xlm_align takes by default, at two thirds of the highest, or the one nearest to it. */
static bool find_layers(matrices *m, GError **error)
{
    char **names = xlm_store_list(m->store, "/", error);
    if (names == NULL)
        return false;
    g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(int));
    GString *all = g_string_new("");
    for (char **name = names; *name != NULL; name++) {
        guint64 number;
        if (!g_str_has_prefix(*name, "layer.") ||
            !g_ascii_string_to_unsigned(*name + strlen("layer."), 10, 0, G_MAXINT16, &number, NULL))
            continue;
        const int layer = (int)number;
        g_array_append_val(found, layer);
    }
    g_array_sort(found, by_number);
    m->layer = -1;
    for (guint i = 0; i < found->len; i++) {
        const int layer = g_array_index(found, int, i), wanted = (2 * g_array_index(found, int, found->len - 1) + 1) / 3;
        if (m->layer < 0 || ABS(layer - wanted) < ABS((int)m->layer - wanted))
            m->layer = layer;
        g_string_append_printf(all, "%s%d", i > 0 ? ", " : "", layer);
    }
    g_strfreev(names);
    m->layers = g_string_free(all, FALSE);
    return m->layer >= 0 || xlm_error_set(error, EX_DATAERR, "%s: has no layer", xlm_store_path(m->store));
}

static bool open_matrices(matrices *m, const char *path, GError **error)
{
    xlm_array rows = {XLM_U32, XLM_ANY, 0};
    *m = (matrices){.store = xlm_store_open(path, error)};
    return m->store != NULL &&
           xlm_store_check_format(m->store, XLM_MATRIX_FILE_FORMAT, XLM_MATRIX_FILE_VERSION, "a file of matrices",
                                  "xlm_align --checkpoint --matrices, or train with [evaluate]", error) &&
           find_layers(m, error) && xlm_store_shape(m->store, "/rows", &rows, error) && (m->pairs = rows.rows, true) &&
           (m->vocabulary = xlm_store_read_strings(m->store, "/vocabulary/words", INT32_MAX, &m->words, error)) != NULL &&
           (m->model = xlm_store_get_text(m->store, "/", "model", error)) != NULL &&
           (m->values = xlm_store_get_text(m->store, "/", "values", error)) != NULL &&
           xlm_store_get_int(m->store, "/", "step", &m->step, error) &&
           (m->language[0] = xlm_store_get_text(m->store, "/source", "language", error)) != NULL &&
           (m->language[1] = xlm_store_get_text(m->store, "/target", "language", error)) != NULL;
}

/* One matrix. */
typedef struct matrix {
    uint32_t size[2];    /* rows, columns */
    const char **label[2];
    float *values;       /* [rows x columns] */
} matrix;

static void clear_matrix(matrix *x)
{
    for (int side = 0; side < 2; side++)
        g_free(x->label[side]);
    g_free(x->values);
}

static bool read_labels(const matrices *m, uint64_t pair, int side, matrix *x, GError **error)
{
    g_autofree char *offsets = g_strconcat("/", sides[side], "/offsets", NULL);
    g_autofree char *subwords = g_strconcat("/", sides[side], "/subwords", NULL);
    const uint32_t n = x->size[side];
    xlm_array all = {XLM_I32, XLM_ANY, 0};
    uint64_t ends[2];
    int32_t id[WIDEST];
    x->label[side] = g_new0(const char *, WIDEST);
    bool good = xlm_store_read(m->store, offsets, (xlm_array){XLM_U64, m->pairs + 1, 0}, pair, 2, ends, error);
    good = good && ((ends[1] >= ends[0] && ends[1] - ends[0] == n) ||
                    xlm_error_set(error, EX_DATAERR, "%s: the %s subwords of pair %" G_GUINT64_FORMAT " are not its matrix's",
                                  xlm_store_path(m->store), sides[side], pair));
    good = good && xlm_store_shape(m->store, subwords, &all, error) &&
           xlm_store_read(m->store, subwords, all, ends[0], n, id, error);
    for (uint32_t i = 0; i < n && good; i++)
        x->label[side][i] = id[i] >= 0 && (uint64_t)id[i] < m->words ? m->vocabulary[id[i]] : "?";
    return good;
}

static bool read_matrix(const matrices *m, uint64_t pair, matrix *x, GError **error)
{
    uint64_t offset;
    const uint64_t n = (uint64_t)x->size[0] * x->size[1];
    xlm_array all = {XLM_F32, XLM_ANY, 0};
    g_autofree char *path = g_strdup_printf("/layer.%" G_GINT64_FORMAT "/values", m->layer);
    x->values = g_new(float, n + 1);
    return xlm_store_read(m->store, "/offsets", (xlm_array){XLM_U64, m->pairs + 1, 0}, pair, 1, &offset, error) &&
           xlm_store_shape(m->store, path, &all, error) &&
           xlm_store_read(m->store, path, all, offset, n, x->values, error) &&
           read_labels(m, pair, 0, x, error) && read_labels(m, pair, 1, x, error);
}

/* A cell: its value in hundredths, on a background that is stronger for larger values of the matrix. */
static void append_cell(GString *out, double value, double lowest, double highest)
{
    const double shade = highest > lowest ? (value - lowest) / (highest - lowest) : 0;
    g_string_append_printf(out, "<td%s style=\"background:rgba(var(--heat),%.2f)\">%.0f</td>",
                           shade > 0.5 ? " class=\"high\"" : "", shade, 100 * value);
}

static void write_matrix(xlm_page *page, const matrices *m, uint64_t pair, const matrix *x)
{
    GString *out = page->body;
    double lowest = INFINITY, highest = -INFINITY;
    for (uint32_t i = 0; i < x->size[0] * x->size[1]; i++)
        if (isfinite(x->values[i]))
            lowest = fmin(lowest, x->values[i]), highest = fmax(highest, x->values[i]);
    g_autofree char *caption = g_strdup_printf("Pair %" G_GUINT64_FORMAT ": %s down, %s to the right, layer %" G_GINT64_FORMAT
                                               ", in hundredths", pair, m->language[0], m->language[1], m->layer);
    xlm_page_scroll(page, caption);
    xlm_markup_wrap(out, "<table class=\"heat\">\n<caption>", caption, "</caption>\n<thead><tr><td></td>");
    for (uint32_t j = 0; j < x->size[1]; j++)
        xlm_markup_wrap(out, "<th scope=\"col\">", x->label[1][j], "</th>");
    g_string_append(out, "</tr></thead>\n<tbody>\n");
    for (uint32_t i = 0; i < x->size[0]; i++) {
        xlm_markup_wrap(out, "<tr><th scope=\"row\">", x->label[0][i], "</th>");
        for (uint32_t j = 0; j < x->size[1]; j++) {
            const double value = x->values[i * x->size[1] + j];
            if (isfinite(value))
                append_cell(out, value, lowest, highest);
            else
                g_string_append(out, "<td>–</td>");
        }
        g_string_append(out, "</tr>\n");
    }
    g_string_append(out, "</tbody>\n</table>\n</div>\n");
}

/* The run of the model or, if its directory was renamed, of the file; less than 0: none, because the path leads to another model,
 * or the run never was at that step. */
static int run_of(const xlm_runs *runs, const matrices *m, const char *path)
{
    const int by_model = xlm_runs_find(runs, m->model, path);
    const int run = by_model == XLM_RUN_UNKNOWN ? xlm_runs_holding(runs, path) : by_model;
    return run >= 0 && xlm_run_has_step(&runs->run[run], m->step) ? run : XLM_RUN_OTHER;
}

/* The first pairs that have a matrix and fit. */
static bool write_matrices(const xlm_sections *s, const matrices *m, const char *path, GError **error)
{
    const int run = run_of(s->runs, m, path);
    g_autofree char *title = g_strdup_printf("%s, step %" G_GINT64_FORMAT ": %s → %s",
                                             run >= 0 ? s->runs->run[run].label : m->model, m->step, m->language[0],
                                             m->language[1]);
    xlm_page_heading(s->page, title);
    xlm_page_paragraph(s->page, "%s. Layers in the file: %s. The stronger the colour, the larger among the values of a pair.",
                       m->values, m->layers);
    const xlm_array sizes = {XLM_U32, m->pairs, 0};
    bool good = true;
    int shown = 0;
    for (uint64_t pair = 0; pair < m->pairs && shown < s->pairs && good; pair++) {
        matrix x = {0};
        good = xlm_store_read(m->store, "/rows", sizes, pair, 1, &x.size[0], error) &&
               xlm_store_read(m->store, "/columns", sizes, pair, 1, &x.size[1], error);
        if (good && x.size[0] > 0 && x.size[1] > 0 && x.size[0] <= WIDEST && x.size[1] <= WIDEST) {
            good = read_matrix(m, pair, &x, error);
            if (good)
                write_matrix(s->page, m, pair, &x);
            clear_matrix(&x);
            shown++;
        }
    }
    if (good && shown == 0)
        xlm_page_paragraph(s->page, "No pair has between 1 and %d subwords on both sides.", WIDEST);
    return good;
}

static bool write_matrix_file(const xlm_sections *s, const char *path, GError **error)
{
    matrices m;
    const bool good = open_matrices(&m, path, error) && write_matrices(s, &m, path, error);
    close_matrices(&m);
    return good;
}

typedef bool file_writer(const xlm_sections *s, const char *path, GError **error);

/* Write what a file shows. If a file that was found, not named by the user, cannot be read, only a note is written. */
static bool write_file(const xlm_sections *s, const char *path, bool found, file_writer *write, GError **error)
{
    const gsize before = s->page->body->len;
    g_autoptr(GError) why = NULL;
    if (write(s, path, &why))
        return true;
    if (!found) {
        g_propagate_error(error, g_steal_pointer(&why));
        return false;
    }
    g_string_truncate(s->page->body, before);
    xlm_page_note(s->page, "%s", why->message);
    return true;
}

bool xlm_section_heat_maps(const xlm_sections *s, GError **error)
{
    bool good = true;
    if (s->matrices->len == 0 || s->pairs == 0)
        return true;
    xlm_page_section(s->page, "heat-maps", "Heat maps of a few sentences");
    for (guint i = 0; i < s->matrices->len && good; i++)
        good = write_file(s, s->matrices->pdata[i], i < s->found_matrices, write_matrix_file, error);
    return good;
}

/* ---- maps ---- */

/* Append an image, in which nothing of an untrusted picture can run or be fetched. title: what it shows, for readers who cannot
 * see it; captioned: and below it. */
static void append_picture(xlm_page *page, const char *svg, gsize size, const char *title, bool captioned)
{
    g_autofree char *coded = g_base64_encode((const guchar *)svg, size);
    g_string_append(page->body, "<figure class=\"wide\">\n<img class=\"map\" alt=\"");
    xlm_markup_append(page->body, title);
    g_string_append_printf(page->body, "\" src=\"data:image/svg+xml;base64,%s\"/>\n", coded);
    if (captioned)
        xlm_markup_wrap(page->body, "<figcaption>", title, "</figcaption>\n");
    g_string_append(page->body, "</figure>\n");
}

static bool write_svg(const xlm_sections *s, const char *path, GError **error)
{
    g_autofree char *text = NULL, *name = g_path_get_basename(path);
    gsize size;
    g_autoptr(GError) why = NULL;
    bool good = xlm_files_load(path, &text, &size, &why);
    if (!good)
        xlm_error_set(error, EX_NOINPUT, "%s", why->message);
    else if (strstr(text, "<svg") == NULL || !g_utf8_validate(text, (gssize)size, NULL))
        good = xlm_error_set(error, EX_DATAERR, "%s: is no SVG", path);
    else
        append_picture(s->page, text, size, name, true);
    return good;
}

/* A picture for each panel, so that they are side by side if there is room, and otherwise one above the other. */
static bool write_map(const xlm_sections *s, const char *path, GError **error)
{
    xlm_page *page = s->page;
    xlm_map map;
    xlm_tsne_options options;
    if (!xlm_map_read(path, &map, &options, error))
        return false;
    g_string_append(page->body, "<div class=\"figures maps\">\n");
    for (int p = 0; p < map.panels; p++) {
        xlm_map one = map;
        one.panels = 1;
        one.panel = &map.panel[p];
        g_autoptr(GString) svg = xlm_map_picture(&one, &options, NULL, NAMED);
        g_autofree char *title = g_strdup_printf("Map: %s", map.panel[p].title);
        append_picture(page, svg->str, svg->len, title, false);
    }
    g_string_append(page->body, "</div>\n");
    xlm_map_free(&map);
    return true;
}

bool xlm_section_maps(const xlm_sections *s, GError **error)
{
    bool good = true;
    if (s->maps->len > 0) {
        xlm_page_section(s->page, "maps", "Maps");
        xlm_page_paragraph(s->page, "Points that are close to one another have vectors that are close; distances between groups "
                           "and the axes have no meaning. Lines connect translations.");
    }
    for (guint i = 0; i < s->maps->len && good; i++) {
        const char *path = s->maps->pdata[i];
        good = write_file(s, path, i < s->found_maps, xlm_files_is_hdf5(path) ? write_map : write_svg, error);
    }
    return good;
}
