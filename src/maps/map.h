/* xlm-mpi: a map: points of several languages in a plane, of one model or of several side by side.
 * SPDX-License-Identifier: GPL-3.0-or-later
 *
 * As HDF5 (N points, P pairs):
 *
 *   /                      format = "xlm-mpi map", format_version, program_version, command, content = "words" | "sentences",
 *                          perplexity, theta, iterations, exaggerated, exaggeration, seed
 *   /labels                [N] strings: the words or sentences
 *   /languages             strings
 *   /language              [N] i32: for each point, an index into /languages
 *   /pairs                 [P x 2] i64: points that are translations of one another
 *   /panel.K/coordinates   [N x 2] f64: where t-SNE puts each point in picture K, from 1; attributes of the group: model (its
 *                          path), title, step, kl_divergence, variance (the share that the principal components keep)
 *   /panel.K/component_variance [c] f64: the share of the variance of each component */
#ifndef XLM_MAPS_MAP_H
#define XLM_MAPS_MAP_H

#include "maps/tsne.h"

#define XLM_MAP_FORMAT "xlm-mpi map"
enum { XLM_MAP_VERSION = 1, XLM_MAP_LANGUAGES = 8 }; /* no more languages than there are colours */

typedef struct xlm_map_panel {
    const char *model;  /* its path; NULL in a map that was read from a file */
    char *title;
    int64_t step;
    double divergence;  /* KL(P || Q) */
    int64_t components; /* number of principal components that t-SNE was given */
    double *variance;   /* [components] */
    double *y;          /* [n x 2] */
} xlm_map_panel;

typedef struct xlm_map {
    int64_t n, pairs;
    GPtrArray *labels;    /* char * [n] */
    GArray *language;     /* int32_t [n] */
    GPtrArray *languages; /* char *: names */
    GArray *links;        /* int64_t [pairs x 2] */
    xlm_map_panel *panel;
    int panels;
    const char *content;  /* "words", "sentences"; NULL in a map that was read from a file */
} xlm_map;

/* The map as SVG: a picture for each panel, three in a row at most, lines between pairs, a legend. labelled: how many pairs, or
 * points if there are no pairs, are named; names that would cover others are left out. heading: may be NULL. g_string_free. */
GString *xlm_map_picture(const xlm_map *map, const xlm_tsne_options *options, const char *heading, int64_t labelled);

/* Read such a file, except the models and the content, by one process. EX_NOINPUT, EX_DATAERR; then there is nothing to free.
 * xlm_map_free. */
bool xlm_map_read(const char *path, xlm_map *map, xlm_tsne_options *options, GError **error);
void xlm_map_free(xlm_map *map);

/* By one process alone. EX_CANTCREAT, EX_IOERR. */
bool xlm_map_write(const xlm_map *map, const xlm_tsne_options *options, const char *command, const char *path, GError **error);

#endif
