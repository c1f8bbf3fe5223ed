/* xlm-mpi: errors carried as GError whose code is the exit code of sysexits.h. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A function that can fail takes `GError **error` last and returns false or NULL when it does. The code of the error is the exit
 *     code of the program; the message is shown to the user: FILE:LINE: what is wrong; what to do
 * xlm_comm_agree_on() (comm/comm.h) tells all ranks about an error of one rank, and xlm_error_exit() prints it once. */
#ifndef XLM_BASE_ERROR_H
#define XLM_BASE_ERROR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sysexits.h>

#define XLM_ERROR (xlm_error_quark())
GQuark xlm_error_quark(void);

/* Set *error (if error is not NULL) to a new error. exit_code: one of sysexits.h. Returns false, so that a caller can
 * write `return xlm_error_set(error, EX_DATAERR, ...);`. */
bool xlm_error_set(GError **error, int exit_code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The same with EX_DATAERR and "PATH:LINE: " before the message. */
bool xlm_error_at(GError **error, const char *path, int64_t line, const char *format, ...) G_GNUC_PRINTF(4, 5);

/* Append to the message of an error. */
void xlm_error_append(GError *error, const char *text);

/* The exit code of an error: its own code when the error is ours, EX_SOFTWARE otherwise (EX_USAGE for GOption errors, EX_IOERR
 * for GFile errors). */
int xlm_error_exit_code(const GError *error);

/* The end of a program: EX_OK for NULL; else log the error, free it, and give its exit code. */
int xlm_error_exit(GError *error);

#endif
