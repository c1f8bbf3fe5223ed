/* xlm-mpi: messages to the user, from one rank. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Only the rank that xlm_log_open() is told is the speaker prints. Lines go to standard error; results that a user may
 * want to pipe go to standard output and are not this module's. On a terminal a live line (xlm_log_live) is redrawn in
 * place and gives way to any other line; elsewhere live lines are dropped, and callers print one line an interval. */
#ifndef XLM_BASE_LOG_H
#define XLM_BASE_LOG_H

#include <glib.h>
#include <stdbool.h>

/* [in] program: printed before warnings and errors. [in] speaks: this process prints (rank 0). */
void xlm_log_open(const char *program, bool speaks);
void xlm_log_info(const char *format, ...) G_GNUC_PRINTF(1, 2);
void xlm_log_warn(const char *format, ...) G_GNUC_PRINTF(1, 2);
void xlm_log_error(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* True when standard error is a terminal and this process speaks. */
bool xlm_log_is_live(void);
void xlm_log_live(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* "1.5k", "23.4M": a count for a person, into text[16]. Returns text. */
const char *xlm_log_count(double value, char text[16]);
/* "1:02:03" or "2:03": seconds for a person, into text[16]. Returns text. */
const char *xlm_log_duration(double seconds, char text[16]);
/* Seconds of a clock that never goes back. */
double xlm_clock(void);

#endif
