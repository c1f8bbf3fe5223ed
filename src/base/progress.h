/* xlm-mpi: progress of long work. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     xlm_progress p = xlm_progress_begin("scoring", examples, "examples");
 *     for (...) xlm_progress_show(&p, done);
 *     xlm_progress_end(&p);
 *
 * Shows a live line on a terminal, `scoring: 42 % 1.2k examples/s 0:12 left`, and a line every half minute elsewhere (base/log.h
 * decides). Work that ends before the first line is due shows nothing. Rank 0 shows the progress of its own share. */
#ifndef XLM_BASE_PROGRESS_H
#define XLM_BASE_PROGRESS_H

typedef struct xlm_progress {
    const char *what, *unit;
    double total;        /* 0: not known */
    double begin, shown; /* seconds (xlm_clock) */
    const char *other_unit; /* borrowed: the rate of another count is shown too, such as "tokens"; NULL, as it begins: none */
    double other;        /* units of it so far */
} xlm_progress;

/* what: the work, such as "counting words". total: all the work, in units; 0 if unknown. unit: such as "sentences"; "B" for
 * bytes. Both texts are borrowed. */
xlm_progress xlm_progress_begin(const char *what, double total, const char *unit);
/* done: units so far. Call as often as you like. */
void xlm_progress_show(xlm_progress *progress, double done);
/* Removes the live line. */
void xlm_progress_end(xlm_progress *progress);

/* The line that is shown after `seconds`. g_free. */
char *xlm_progress_line(const xlm_progress *progress, double done, double seconds);

#endif
