/* xlm-mpi: a map: points of several languages in a plane. SPDX-License-Identifier: GPL-3.0-or-later */
#include "maps/map.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/svg.h"
#include "base/terminal.h"
#include "store/store.h"

/* ---- the picture; in pixels ---- */

enum {
    SIDE = 460, GAP = 28, MARGIN = 24, TITLE = 26, CAPTION = 24, HEADING = 34, LEGEND = 34, ROW = 3, LETTERS = 14, SMALL = 12,
    TIPS = 5000,      /* pictures with more points do not show the name of the point under the pointer */
    LABEL_LETTERS = 24
};

/* From the plane to a picture. */
typedef struct frame {
    double left, top;      /* of the picture */
    double x, y, scale;    /* the centre of the points; pixels of 1 */
} frame;

static frame make_frame(const xlm_map *map, const double *y, double left, double top)
{
    double min[2] = {INFINITY, INFINITY}, max[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < 2 * map->n; i++)
        min[i % 2] = fmin(min[i % 2], y[i]), max[i % 2] = fmax(max[i % 2], y[i]);
    const double side = fmax(max[0] - min[0], max[1] - min[1]);
    return (frame){.left = left, .top = top, .x = (min[0] + max[0]) / 2, .y = (min[1] + max[1]) / 2,
                   .scale = side > 0 ? 0.94 * SIDE / side : 0};
}

static double across(const frame *f, double x) { return f->left + SIDE / 2.0 + (x - f->x) * f->scale; }
static double down(const frame *f, double y) { return f->top + SIDE / 2.0 - (y - f->y) * f->scale; }

static void draw_links(GString *svg, const xlm_map *map, const frame *f, const double *y)
{
    if (map->pairs == 0)
        return;
    g_string_append_printf(svg, "<path fill=\"none\" stroke=\"#555555\" stroke-width=\"0.6\" stroke-opacity=\"%.2f\" d=\"",
                           CLAMP(250.0 / (double)map->pairs, 0.12, 0.6));
    for (int64_t p = 0; p < map->pairs; p++) {
        const int64_t i = g_array_index(map->links, int64_t, 2 * p), j = g_array_index(map->links, int64_t, 2 * p + 1);
        g_string_append_printf(svg, "M%.1f %.1fL%.1f %.1f", across(f, y[2 * i]), down(f, y[2 * i + 1]), across(f, y[2 * j]),
                               down(f, y[2 * j + 1]));
    }
    g_string_append(svg, "\"/>\n");
}

static double radius(const xlm_map *map) { return map->n <= 400 ? 3.2 : map->n <= 3000 ? 2.2 : 1.5; }

/* Points are drawn in a random order, so that no language covers another. */
static void draw_points(GString *svg, const xlm_map *map, const frame *f, const double *y)
{
    const xlm_rng_key key = xlm_rng_make_key(0, XLM_RNG_MAP, 1);
    g_string_append(svg, "<g fill-opacity=\"0.8\">\n");
    for (int64_t place = 0; place < map->n; place++) {
        const int64_t i = (int64_t)xlm_rng_permute(key, (uint64_t)place, (uint64_t)map->n);
        const int32_t language = g_array_index(map->language, int32_t, i);
        xlm_svg_mark(svg, across(f, y[2 * i]), down(f, y[2 * i + 1]), radius(map), (guint)language,
                     xlm_svg_colour((guint)language), map->n <= TIPS ? map->labels->pdata[i] : NULL);
    }
    g_string_append(svg, "</g>\n");
}

/* The place of a name that has been drawn: its left end, base line and width; it is SMALL pixels high. */
typedef struct place {
    double x, y, width;
} place;

static bool is_free(const GArray *places, const place *p)
{
    for (guint i = 0; i < places->len; i++) {
        const place *q = &g_array_index(places, place, i);
        if (fabs(p->y - q->y) < SMALL + 3 && p->x < q->x + q->width && q->x < p->x + p->width)
            return false;
    }
    return true;
}

/* A name cut to LABEL_LETTERS characters. g_free. */
static char *short_name(const char *name)
{
    if (g_utf8_strlen(name, -1) <= LABEL_LETTERS)
        return g_strdup(name);
    g_autofree char *begin = g_utf8_substring(name, 0, LABEL_LETTERS - 1);
    return g_strconcat(begin, "…", NULL);
}

/* Draw a name to the right of its point or, near the edge, to the left. False: another name is there. */
static bool draw_name(GString *svg, const xlm_map *map, const frame *f, const double *y, int64_t i, GArray *places)
{
    g_autofree char *name = short_name(map->labels->pdata[i]);
    const double width = 0.6 * SMALL * xlm_terminal_columns(name, strlen(name)), away = radius(map) + 3;
    double x = across(f, y[2 * i]) + away;
    const bool left = x + width > f->left + SIDE;
    place p = {left ? x - 2 * away - width : x, down(f, y[2 * i + 1]) + SMALL / 3.0, width};
    const bool free_here = is_free(places, &p);
    if (free_here) {
        g_array_append_val(places, p);
        xlm_svg_text_over(svg, left ? x - 2 * away : x, p.y, left ? "end" : "start", SMALL, name);
    }
    return free_here;
}

static void draw_names(GString *svg, const xlm_map *map, const frame *f, const double *y, int64_t labelled)
{
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(place));
    const int64_t all = map->pairs > 0 ? map->pairs : map->n, step = MAX(all / MAX(labelled, 1), 1);
    int64_t named = 0;
    for (int64_t start = 0; start < step && named < labelled && start < 4; start++)
        for (int64_t k = start; k < all && named < labelled; k += step) {
            if (map->pairs == 0) {
                named += draw_name(svg, map, f, y, k, places);
            } else if (draw_name(svg, map, f, y, g_array_index(map->links, int64_t, 2 * k), places)) {
                draw_name(svg, map, f, y, g_array_index(map->links, int64_t, 2 * k + 1), places);
                named++;
            }
        }
}

/* If a title is wider than its picture, as paths often are, only its end is shown. g_free. */
static char *fit_title(const char *title)
{
    const int max = (int)(SIDE / (0.55 * LETTERS));
    g_autofree char *valid = g_utf8_make_valid(title, -1);
    if (xlm_terminal_columns(valid, strlen(valid)) <= max)
        return g_steal_pointer(&valid);
    const char *at = valid;
    while (xlm_terminal_columns(at, strlen(at)) >= max)
        at = g_utf8_next_char(at);
    return g_strconcat("…", at, NULL);
}

static void draw_panel(GString *svg, const xlm_map *map, const xlm_tsne_options *o, const xlm_map_panel *panel, double left,
                       double top, int64_t labelled)
{
    const frame f = make_frame(map, panel->y, left, top + TITLE);
    double kept = 0;
    for (int64_t c = 0; c < panel->components; c++)
        kept += panel->variance[c];
    g_autofree char *title = fit_title(panel->title);
    xlm_svg_text(svg, left, top + TITLE - 8, "start", 0, title);
    xlm_svg_box(svg, left, f.top, SIDE, SIDE, "none", NULL);
    draw_links(svg, map, &f, panel->y);
    draw_points(svg, map, &f, panel->y);
    draw_names(svg, map, &f, panel->y, labelled);
    g_autofree char *caption =
        g_strdup_printf("%" G_GINT64_FORMAT " components, %.0f%% of variance; t-SNE, perplexity %g, KL %.2f", panel->components,
                        100 * kept, o->perplexity, panel->divergence);
    xlm_svg_text(svg, left, f.top + SIDE + CAPTION - 8, "start", SMALL, caption);
}

static void draw_legend(GString *svg, const xlm_map *map, double y)
{
    double x = MARGIN + 6;
    for (guint l = 0; l < map->languages->len; l++) {
        const char *name = map->languages->pdata[l];
        int64_t n = 0;
        for (int64_t i = 0; i < map->n; i++)
            n += g_array_index(map->language, int32_t, i) == (int32_t)l;
        g_autofree char *text = g_strdup_printf("%s (%" G_GINT64_FORMAT ")", name, n);
        xlm_svg_mark(svg, x, y - 5, 5, l, xlm_svg_colour(l), NULL);
        xlm_svg_text(svg, x + 11, y, "start", 0, text);
        x += 40 + 0.6 * LETTERS * xlm_terminal_columns(text, strlen(text));
    }
    if (map->pairs > 0) {
        g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT " translation pairs", map->pairs);
        xlm_svg_line(svg, x - 6, y - 5, x + 16, y - 5, "#555555");
        xlm_svg_text(svg, x + 22, y, "start", 0, text);
    }
}

GString *xlm_map_picture(const xlm_map *map, const xlm_tsne_options *options, const char *heading, int64_t labelled)
{
    const int columns = MIN(map->panels, ROW), rows = (map->panels + ROW - 1) / ROW, high = TITLE + SIDE + CAPTION;
    const double top = MARGIN + (heading != NULL ? HEADING : 0), width = 2 * MARGIN + columns * SIDE + (columns - 1) * GAP;
    const double height = top + rows * high + LEGEND;
    GString *svg = xlm_svg_begin(width, height + MARGIN / 2.0, LETTERS, heading);
    if (heading != NULL)
        xlm_svg_text(svg, MARGIN, MARGIN + 14, "start", LETTERS + 4, heading);
    for (int p = 0; p < map->panels; p++)
        draw_panel(svg, map, options, &map->panel[p], MARGIN + p % ROW * (SIDE + GAP), top + (double)(p / ROW) * high, labelled);
    draw_legend(svg, map, height - 8);
    xlm_svg_end(svg);
    return svg;
}

/* ---- the file ---- */

static bool write_panel(xlm_store *store, const xlm_map *map, int number, GError **error)
{
    const xlm_map_panel *panel = &map->panel[number];
    const uint64_t dims[2] = {(uint64_t)map->n, 2};
    double kept = 0;
    for (int64_t c = 0; c < panel->components; c++)
        kept += panel->variance[c];
    g_autofree char *group = g_strdup_printf("/panel.%d", number + 1), *path = g_strconcat(group, "/coordinates", NULL);
    return xlm_store_dataset(store, path, XLM_F64, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, 0, dims[0], panel->y, error) &&
           xlm_store_write_array(store, group, "component_variance", XLM_F64, (uint64_t)panel->components,
                                 panel->variance, error) &&
           xlm_store_set_text(store, group, "model", panel->model, error) &&
           xlm_store_set_text(store, group, "title", panel->title, error) &&
           xlm_store_set_int(store, group, "step", panel->step, error) &&
           xlm_store_set_real(store, group, "kl_divergence", panel->divergence, error) &&
           xlm_store_set_real(store, group, "variance", kept, error);
}

static bool write_origin(xlm_store *store, const xlm_map *map, const xlm_tsne_options *o, const char *command, GError **error)
{
    return xlm_store_set_format(store, XLM_MAP_FORMAT, XLM_MAP_VERSION, NULL, error) &&
           xlm_store_set_text(store, "/", "command", command, error) &&
           xlm_store_set_text(store, "/", "content", map->content, error) &&
           xlm_store_set_real(store, "/", "perplexity", o->perplexity, error) &&
           xlm_store_set_real(store, "/", "theta", o->theta, error) &&
           xlm_store_set_int(store, "/", "iterations", o->iterations, error) &&
           xlm_store_set_int(store, "/", "exaggerated", o->exaggerated, error) &&
           xlm_store_set_real(store, "/", "exaggeration", o->exaggeration, error) &&
           xlm_store_set_int(store, "/", "seed", o->seed, error);
}

static bool write_points(xlm_store *store, const xlm_map *map, GError **error)
{
    const uint64_t dims[2] = {(uint64_t)map->pairs, 2};
    return xlm_store_write_strings(store, "/labels", map->labels->len, (const char *const *)map->labels->pdata, error) &&
           xlm_store_write_strings(store, "/languages", map->languages->len, (const char *const *)map->languages->pdata, error) &&
           xlm_store_write_array(store, "", "language", XLM_I32, (uint64_t)map->n, map->language->data, error) &&
           xlm_store_dataset(store, "/pairs", XLM_I64, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, "/pairs", 0, dims[0], map->links->data, error);
}

bool xlm_map_write(const xlm_map *map, const xlm_tsne_options *options, const char *command, const char *path, GError **error)
{
    xlm_store *store = xlm_store_create(NULL, path, error);
    if (store == NULL)
        return false;
    bool good = write_origin(store, map, options, command, error) && write_points(store, map, error);
    for (int p = 0; p < map->panels && good; p++)
        good = write_panel(store, map, p, error);
    return xlm_store_end(store, good, error);
}

/* The file may be untrusted: numbers that are used as indices are checked. */
static bool check_places(const xlm_store *store, const xlm_map *map, GError **error)
{
    bool good = true;
    for (int64_t i = 0; i < map->n && good; i++) {
        const int32_t language = g_array_index(map->language, int32_t, i);
        good = language >= 0 && language < (int32_t)map->languages->len;
    }
    for (int64_t i = 0; i < 2 * map->pairs && good; i++) {
        const int64_t point = g_array_index(map->links, int64_t, i);
        good = point >= 0 && point < map->n;
    }
    for (int p = 0; p < map->panels && good; p++)
        for (int64_t i = 0; i < 2 * map->n && good; i++)
            good = isfinite(map->panel[p].y[i]);
    return good ||
           xlm_error_set(error, EX_DATAERR, "%s: a language, pair or coordinate is out of its range", xlm_store_path(store));
}

static bool read_panel(const xlm_store *store, xlm_map *map, int number, GError **error)
{
    xlm_map_panel *panel = &map->panel[number];
    xlm_array points = {XLM_F64, (uint64_t)map->n, 2}, variances = {XLM_F64, XLM_ANY, 0};
    g_autofree char *group = g_strdup_printf("/panel.%d", number + 1), *path = g_strconcat(group, "/coordinates", NULL),
                    *components = g_strconcat(group, "/component_variance", NULL);
    const bool good = (panel->y = xlm_store_read_all(store, path, &points, error)) != NULL &&
                      (panel->title = xlm_store_get_text(store, group, "title", error)) != NULL &&
                      xlm_store_get_int(store, group, "step", &panel->step, error) &&
                      xlm_store_get_real(store, group, "kl_divergence", &panel->divergence, error) &&
                      (panel->variance = xlm_store_read_all(store, components, &variances, error)) != NULL;
    panel->components = good ? (int64_t)variances.rows : 0;
    return good;
}

/* The picture counts the characters of these names, so they must be valid. */
static GPtrArray *read_strings(const xlm_store *store, const char *path, GError **error)
{
    uint64_t n = 0;
    g_autofree char **strings = xlm_store_read_strings(store, path, INT32_MAX, &n, error);
    if (strings == NULL)
        return NULL;
    g_autoptr(GPtrArray) read = g_ptr_array_new_with_free_func(g_free);
    bool valid = true;
    for (uint64_t i = 0; i < n; i++) {
        g_ptr_array_add(read, strings[i]);
        valid = valid && g_utf8_validate(strings[i], -1, NULL);
    }
    if (valid)
        return g_steal_pointer(&read);
    xlm_error_set(error, EX_DATAERR, "%s: %s: is not UTF-8", xlm_store_path(store), path);
    return NULL;
}

static bool read_points(const xlm_store *store, xlm_map *map, GError **error)
{
    map->labels = read_strings(store, "/labels", error);
    map->languages = map->labels != NULL ? read_strings(store, "/languages", error) : NULL;
    if (map->languages == NULL)
        return false;
    map->n = map->labels->len;
    const xlm_array numbers = {XLM_I32, (uint64_t)map->n, 0};
    xlm_array pairs = {XLM_I64, XLM_UP_TO(G_MAXINT32 / 2), 2};
    if (map->n == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: /labels: there are none", xlm_store_path(store));
    if (!xlm_store_shape(store, "/pairs", &pairs, error))
        return false;
    map->pairs = (int64_t)pairs.rows;
    map->language = g_array_sized_new(FALSE, FALSE, sizeof(int32_t), (guint)map->n);
    map->links = g_array_sized_new(FALSE, FALSE, sizeof(int64_t), (guint)(2 * map->pairs + 1));
    g_array_set_size(map->language, (guint)map->n);
    g_array_set_size(map->links, (guint)(2 * map->pairs));
    return xlm_store_read(store, "/language", numbers, 0, numbers.rows, map->language->data, error) &&
           xlm_store_read(store, "/pairs", pairs, 0, pairs.rows, map->links->data, error);
}

static bool read_all(const xlm_store *store, xlm_map *map, xlm_tsne_options *options, GError **error)
{
    *options = xlm_tsne_defaults();
    if (!xlm_store_check_format(store, XLM_MAP_FORMAT, XLM_MAP_VERSION, "a map", "xlm_embed map", error) ||
        !xlm_store_get_real(store, "/", "perplexity", &options->perplexity, error) || !read_points(store, map, error))
        return false;
    char name[32] = "/panel.1";
    while (xlm_store_has(store, name))
        g_snprintf(name, sizeof name, "/panel.%d", ++map->panels + 1);
    map->panel = g_new0(xlm_map_panel, map->panels + 1);
    if (map->panels == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: has no panel", xlm_store_path(store));
    for (int p = 0; p < map->panels; p++)
        if (!read_panel(store, map, p, error))
            return false;
    return check_places(store, map, error);
}

bool xlm_map_read(const char *path, xlm_map *map, xlm_tsne_options *options, GError **error)
{
    *map = (xlm_map){0};
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    const bool good = store != NULL && read_all(store, map, options, error);
    if (!good)
        xlm_map_free(map);
    return good;
}

void xlm_map_free(xlm_map *map)
{
    for (int p = 0; p < map->panels && map->panel != NULL; p++) {
        g_free(map->panel[p].title);
        g_free(map->panel[p].variance);
        g_free(map->panel[p].y);
    }
    g_free(map->panel);
    g_clear_pointer(&map->labels, g_ptr_array_unref);
    g_clear_pointer(&map->languages, g_ptr_array_unref);
    g_clear_pointer(&map->language, g_array_unref);
    g_clear_pointer(&map->links, g_array_unref);
    *map = (xlm_map){0};
}
