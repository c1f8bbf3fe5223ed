/* xlm-mpi: settings read from job files by a table. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Everything works on a table of xlm_option (xlm/options.h), NULL for one without rows, and the struct that its offsets are into.
 *
 *   a section of one module     xlm_options_parse
 *   a section of several        xlm_options_read for each table, and xlm_options_check_keys with all of them
 *   values kept elsewhere       xlm_option_print and xlm_option_set (attributes of a checkpoint)
 *   --help-job                  xlm_options_help
 *
 * How values are written: INT as decimal digits with an optional sign, '_' between digits allowed (100_000), no 1e5 and
 * no 10k; REAL as any finite decimal number; FLAG as true, false, yes, no, on or off; CHOICE as one of its words; LIST
 * as items between commas, none empty; SET as a LIST of its words, in any order; PIECEWISE as a REAL, or as items STEP:NUMBER in
 * the order of their steps. A comment, which begins with a blank and '#', may follow any value but a TEXT or LIST, of which a '#'
 * is part. A range that reaches 9e18 has no bound on that side. */
#ifndef XLM_OPTIONS_OPTIONS_H
#define XLM_OPTIONS_OPTIONS_H

#include <xlm/options.h>

#include "options/jobfile.h"

/* Set every option in *into to its default, those without one to zero or NULL. What was in *into is overwritten, not
 * freed. EX_SOFTWARE if a default does not fit its own type or range (the table of a plugin may be wrong). */
bool xlm_options_defaults(const xlm_option *table, void *into, GError **error);

/* Set every option in *into to its value in `section` of the job, or to its default. Keys that are not in the table are ignored.
 * *into is overwritten, not freed; on failure nothing in it needs freeing. EX_CONFIG (EX_USAGE for --set): a value that cannot be
 * read or is out of range, or a missing one without default; the message has file, line, section, key, value and what is
 * allowed. */
bool xlm_options_read(const xlm_option *table, const xlm_jobfile *job, const char *section, void *into, GError **error);

/* Is every key of the section in one of the tables (a NULL-terminated array)? If not, the error names the nearest valid key. */
bool xlm_options_check_keys(const xlm_option *const *tables, const xlm_jobfile *job, const char *section, GError **error);

/* Both: check the section's keys against one table and read it. */
bool xlm_options_parse(const xlm_option *table, const xlm_jobfile *job, const char *section, void *into, GError **error);

/* Is every number, choice and set in *from in its range and finite, wherever it comes from: a job file, a checkpoint, a caller?
 * EX_CONFIG: `layers = -1: must be an integer from 1 to 1000`. */
bool xlm_options_check(const xlm_option *table, const void *from, GError **error);

/* Can the table, which a plugin brings, be used with a struct of so many bytes? EX_CONFIG: a name that cannot be a key or occurs
 * twice, an unknown type, a value outside of the struct, no help, no choices where the type has them. Defaults are checked where
 * they are read. */
bool xlm_options_check_table(const xlm_option *table, size_t struct_size, GError **error);
/* Is there an option of this name? */
bool xlm_options_have(const xlm_option *table, const char *name);

/* Free the texts and lists in *from and set them to NULL. Neither the struct nor other values change. */
void xlm_options_free(const xlm_option *table, void *from);

/* Read one value into *into, freeing the text or list that was there. EX_CONFIG: `steps = x: ...`. */
bool xlm_option_set(const xlm_option *option, const char *text, void *into, GError **error);
/* One value as it would be written in a job file; reals with as many digits as it takes to read the same number again;
 * "" for an empty text or list. g_free. */
char *xlm_option_print(const xlm_option *option, const void *from);
/* The default, printed in the same way; NULL: it has none. g_free. */
char *xlm_option_print_default(const xlm_option *option);
/* Append the value as a line `key = value`, unless it is the default: then a key that a table has had only of late is not in a text
 * of values that were given before. */
void xlm_option_print_changed(const xlm_option *option, const void *from, GString *out);

/* Append the values of all options in *from to `out` as lines `key = value` of a job file, which give the same values when read
 * again. The same values always give the same text, however they were written. */
void xlm_options_print(const xlm_option *table, const void *from, GString *out);

/* Append the table to `out`, one or more lines for each option: name, type, default, range or choices, meaning. */
void xlm_options_help(const xlm_option *table, GString *out);

#endif
