/* xlm-mpi: fuzz target: maps in HDF5, changed by hdf5_change.h. SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "hdf5_change.h"

#include "maps/map.h"

enum { POINTS = 4, PAIRS = 2, PANELS = 2 };

static fuzz_original *make_original(void)
{
    static const char *const labels[POINTS] = {"house", "dog", "Haus", "Hund"}, *const languages[] = {"en", "de"};
    static const int32_t language[POINTS] = {0, 0, 1, 1};
    static const int64_t links[2 * PAIRS] = {0, 2, 1, 3};
    static double y[2 * POINTS] = {-1, 2, 0.5, 1, -1.25, 2, 1, -3}, variance[] = {0.5, 0.25};
    static xlm_map_panel panels[PANELS] = {
        {.model = "a.h5", .title = (char *)"a", .step = 20, .divergence = 0.75, .components = 2, .variance = variance, .y = y},
        {.model = "b.h5", .title = (char *)"b", .step = 40, .divergence = 0.5, .components = 1, .variance = variance, .y = y}};
    xlm_map map = {.n = POINTS, .pairs = PAIRS, .labels = g_ptr_array_new(), .languages = g_ptr_array_new(), .panel = panels,
                   .language = g_array_new(FALSE, FALSE, sizeof *language), .links = g_array_new(FALSE, FALSE, sizeof *links),
                   .panels = PANELS, .content = "words"};
    for (int i = 0; i < POINTS; i++)
        g_ptr_array_add(map.labels, (char *)labels[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(languages); i++)
        g_ptr_array_add(map.languages, (char *)languages[i]);
    g_array_append_vals(map.language, language, POINTS);
    g_array_append_vals(map.links, links, 2 * PAIRS);
    const xlm_tsne_options options = xlm_tsne_defaults();
    const char *path = fuzz_write("good.h5", "", 0);
    fuzz_require(xlm_map_write(&map, &options, "xlm_embed map", path, NULL), "a map can be written");
    g_ptr_array_unref(map.labels);
    g_ptr_array_unref(map.languages);
    g_array_unref(map.language);
    g_array_unref(map.links);
    return fuzz_original_read(path);
}

static void check_map(const xlm_map *map)
{
    for (int64_t i = 0; i < map->n; i++)
        fuzz_require(g_array_index(map->language, int32_t, i) >= 0 &&
                     g_array_index(map->language, int32_t, i) < (int32_t)map->languages->len, "points are of a language");
    for (int64_t i = 0; i < 2 * map->pairs; i++)
        fuzz_require(g_array_index(map->links, int64_t, i) >= 0 && g_array_index(map->links, int64_t, i) < map->n,
                     "pairs are of points");
    for (int p = 0; p < map->panels; p++)
        for (int64_t i = 0; i < 2 * map->n; i++)
            fuzz_require(isfinite(map->panel[p].y[i]), "coordinates are finite");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_begin();
    static fuzz_original *original;
    if (original == NULL)
        original = make_original();
    xlm_map map;
    xlm_tsne_options options;
    GError *error = NULL;
    const bool good = xlm_map_read(fuzz_original_change(original, data, size), &map, &options, &error);
    fuzz_check(good, error);
    if (!good)
        return 0;
    check_map(&map);
    GString *svg = xlm_map_picture(&map, &options, NULL, POINTS);
    g_string_free(svg, TRUE);
    xlm_map_free(&map);
    return 0;
}
