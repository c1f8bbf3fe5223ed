/* xlm-mpi: messages to the user, from one rank. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only the process that xlm_log_open makes the speaker prints. Lines go to standard error. Results that a user may want to pipe
 * go to standard output; this module does not print them. On a terminal (base/terminal.h) a live line (xlm_log_live) is cut to
 * the width and redrawn in place, and any other line replaces it. Elsewhere live lines are dropped, and callers print one line
 * per interval. base/progress.h does both for a loop. */
#ifndef XLM_BASE_LOG_H
#define XLM_BASE_LOG_H

#include <glib.h>
#include <stdbool.h>

/* [in] program: printed before warnings and errors. [in] speaks: this process prints (rank 0). */
void xlm_log_open(const char *program, bool speaks);
void xlm_log_info(const char *format, ...) G_GNUC_PRINTF(1, 2);
void xlm_log_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
void xlm_log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* How progress is shown: chosen by where messages go; as a live line on the process's terminal, wherever messages go; as one line
 * per interval; not at all. */
typedef enum { XLM_PROGRESS_AUTO, XLM_PROGRESS_LINE, XLM_PROGRESS_LOG, XLM_PROGRESS_NONE } xlm_progress_mode;
/* Call it before the first message; the default is AUTO. */
void xlm_log_set_progress(xlm_progress_mode mode);

/* True when live lines are drawn at this moment: this process is the speaker, and is in the foreground of a terminal. */
bool xlm_log_is_live(void);
/* True when one line per interval must be printed: live lines are not drawn, or are not drawn where messages go. */
bool xlm_log_wants_lines(void);
/* Draw a line of fields with two blanks between them, the most important ones first; fields that do not fit are left out. At most
 * ten lines per second are drawn. */
void xlm_log_live(const char *format, ...) G_GNUC_PRINTF(1, 2);
/* Remove the live line, if there is one. */
void xlm_log_end_live(void);

/* Write a count as a person would, "1.5k" or "23.4M", into text[16]. Returns text. */
const char *xlm_log_count(double value, char text[16]);
/* Write seconds as "1:02:03" or "2:03" into text[16]. Returns text. */
const char *xlm_log_duration(double seconds, char text[16]);
/* Write a duration in the unit that a person would use, "4.2 min", "23 h" or "12 days", into text[16]. Returns text. */
const char *xlm_log_time(double seconds, char text[16]);
/* Seconds of a clock that never goes back. */
double xlm_clock(void);

#endif
