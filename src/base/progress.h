/* xlm-mpi: progress of long work. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *     xlm_progress p = xlm_progress_begin("scoring", examples, "examples");
 *     for (...) xlm_progress_show(&p, done);
 *     xlm_progress_end(&p);
 *
 * On a terminal a live line, `scoring: 42 %  1.2k examples/s  0:12 left`, elsewhere a line every half minute (base/log.h says
 * which). Work that is done before the first is due shows nothing. Rank 0 shows what it has done of its own share. */
#ifndef XLM_BASE_PROGRESS_H
#define XLM_BASE_PROGRESS_H

typedef struct xlm_progress {
    const char *what, *unit;
    double total;        /* 0: not known */
    double begin, shown; /* seconds (xlm_clock) */
} xlm_progress;

/* what: the work, "counting words". total: all there is to do, in units; 0 when it is not known. unit: "sentences"; "B" for
 * bytes. Both texts are borrowed. */
xlm_progress xlm_progress_begin(const char *what, double total, const char *unit);
/* done: units so far. Call as often as you like. */
void xlm_progress_show(xlm_progress *progress, double done);
/* The live line goes. */
void xlm_progress_end(xlm_progress *progress);

/* The line after `seconds`. g_free. */
char *xlm_progress_line(const xlm_progress *progress, double done, double seconds);

#endif
