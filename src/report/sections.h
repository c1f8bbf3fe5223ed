/* xlm-mpi: the sections of a report on runs. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Each section is written to the page only if it has something to show. */
#ifndef XLM_REPORT_SECTIONS_H
#define XLM_REPORT_SECTIONS_H

#include "report/results.h"

typedef struct xlm_sections {
    xlm_page *page;
    const xlm_runs *runs;
    const xlm_results *results;
    GPtrArray *matrices, *maps; /* char *: files of xlm_align --matrices, and of xlm_embed map (SVG or HDF5) */
    guint found_matrices, found_maps; /* the first of them that were found, not named: unreadable ones are only noted */
    char **points;              /* tables of points, which figures are drawn of; NULL: none */
    int pairs;                  /* of a file of matrices that are shown */
} xlm_sections;

typedef bool xlm_section(const xlm_sections *s, GError **error);

/* sections_runs.c */
xlm_section xlm_section_runs;       /* what they are, and where they come from */
xlm_section xlm_section_job;        /* keys that differ, and all */
/* sections_curves.c */
xlm_section xlm_section_training;   /* losses, learning rate, norm of the gradient, throughput, by step */
xlm_section xlm_section_held_out;   /* perplexity by language */
xlm_section xlm_section_validation; /* scores of dev text: of fine-tuning, of translations */
/* sections_translations.c */
xlm_section xlm_section_translations; /* examples of translations beside their references */
/* sections_results.c: figures by layer, and a table of the other results. id: "alignment" of words, "retrieval" of sentences,
 * "words" (dictionaries in the embeddings), or "tasks" (scores of fine-tuned models) */
bool xlm_section_results(const xlm_sections *s, const char *id, GError **error);
/* sections_pictures.c */
xlm_section xlm_section_heat_maps;  /* matrices of a few pairs */
xlm_section xlm_section_maps;       /* words or sentences in a plane */
/* sections_figures.c */
xlm_section xlm_section_figures;    /* of tables of points: lines `figure,axis,line,x,y` */

/* Figures between these calls are side by side if there is room. legend: show the runs and their lines first. */
void xlm_sections_open_figures(const xlm_sections *s, bool legend);
void xlm_sections_close_figures(const xlm_sections *s);
/* Are there results of the section with this id? */
bool xlm_sections_have_results(const xlm_sections *s, const char *id);
/* Write those that have no layer as a table: a row for each measure, a column for each run. */
void xlm_sections_write_results(const xlm_sections *s, const char *id);

#endif
