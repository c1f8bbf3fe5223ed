/* xlm-mpi: rows of tables, fields separated by commas. SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef XLM_REPORT_CSV_H
#define XLM_REPORT_CSV_H

#include <glib.h>

/* The fields of the line at *at, with or without quotes, within which lines may end; *at moves to the next line. char *[fields];
 * g_ptr_array_unref. */
GPtrArray *xlm_csv_next_row(const char **at);

#endif
