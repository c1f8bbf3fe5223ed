/* xlm-mpi: messages to the user, from one rank. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only the process that is opened as the speaker (xlm_log_open) prints. Lines go to standard error; results that a user may
 * want to pipe go to standard output and are not this module's. On a terminal (base/terminal.h) a live line (xlm_log_live) is
 * redrawn in place, cut to its width, and gives way to any other line; elsewhere live lines are dropped, and callers print one
 * line an interval. base/progress.h does both for a loop. */
#ifndef XLM_BASE_LOG_H
#define XLM_BASE_LOG_H

#include <glib.h>
#include <stdbool.h>

/* [in] program: printed before warnings and errors. [in] speaks: this process prints (rank 0). */
void xlm_log_open(const char *program, bool speaks);
void xlm_log_info(const char *format, ...) G_GNUC_PRINTF(1, 2);
void xlm_log_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
void xlm_log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* How progress is shown: as the place where messages go suggests; a live line on the terminal that the process belongs to,
 * wherever messages go; a line an interval; not at all. */
typedef enum { XLM_PROGRESS_AUTO, XLM_PROGRESS_LINE, XLM_PROGRESS_LOG, XLM_PROGRESS_NONE } xlm_progress_mode;
/* Before the first message; AUTO otherwise. */
void xlm_log_set_progress(xlm_progress_mode mode);

/* True when live lines are drawn at this moment: this process speaks, and has the foreground of a terminal. */
bool xlm_log_is_live(void);
/* True when a line an interval is to be printed: live lines are not drawn, or elsewhere than where messages go. */
bool xlm_log_wants_lines(void);
/* Draw a line of fields with two blanks between them, the most important ones first: what does not fit is left out. Ten a second
 * are drawn at most. */
void xlm_log_live(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* The live line goes, if there is one. */
void xlm_log_end_live(void);

/* "1.5k", "23.4M": a count for a person, into text[16]. Returns text. */
const char *xlm_log_count(double value, char text[16]);
/* "1:02:03" or "2:03": seconds for a person, into text[16]. Returns text. */
const char *xlm_log_duration(double seconds, char text[16]);
/* "4.2 min", "23 h", "12 days": how long something takes, in the unit that a person would use, into text[16]. Returns text. */
const char *xlm_log_time(double seconds, char text[16]);
/* Seconds of a clock that never goes back. */
double xlm_clock(void);

#endif
