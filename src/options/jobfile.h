/* xlm-mpi: job files, read and checked for form. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job file is UTF-8 text of lines of four sorts:
 *
 *     # comment, also with ';' in front
 *     [train]                   a section that occurs at most once
 *     [stream mono]             a section of a kind that may occur several times, each with a name
 *     steps = 1000              key and value; blanks around both are removed, and the value is the rest of the line as it
 *                               is (no quotes, no escapes; options/options.h says after which values a comment may follow)
 *
 * A section or key that occurs twice is an error, and so is a section that the program does not know. What a value
 * means is decided by options/options.h. `--set SECTION.KEY=VALUE` on the command line overrides the file:
 *
 *     --set train.steps=100 --set "stream mono.batch=32"
 *
 * The section is what is before the last '.' that precedes the first '='. Of two overrides of the same key the later one wins. An
 * override may begin a plain section that the file does not have ([train]), but not a named one, which is usually a typing
 * error. */
#ifndef XLM_OPTIONS_JOBFILE_H
#define XLM_OPTIONS_JOBFILE_H

#include "base/error.h"

/* A kind of section that a program knows. */
typedef struct xlm_jobfile_kind {
    const char *name; /* "train", "stream"; NULL ends an array */
    bool named;       /* written with a name, [stream NAME], any number of them */
    const char *const *former; /* renamed keys: former, present, ..., NULL; they are read, with a warning. NULL: none */
} xlm_jobfile_kind;

typedef struct xlm_jobfile xlm_jobfile;

/* Read a job file. kinds: the sections that are allowed. overrides: the arguments of --set, NULL-terminated, or NULL. Not
 * collective. EX_NOINPUT: the file cannot be read; EX_CONFIG: a mistake in it, with its line; EX_USAGE: a mistake in an override.
 * xlm_jobfile_free. */
xlm_jobfile *xlm_jobfile_load(const char *path, const xlm_jobfile_kind *kinds, char *const *overrides, GError **error);
/* The same from `length` bytes of text, which messages call `name`. */
xlm_jobfile *xlm_jobfile_parse(const char *name, const char *text, size_t length, const xlm_jobfile_kind *kinds,
                               char *const *overrides, GError **error);
/* NULL is allowed. */
void xlm_jobfile_free(xlm_jobfile *job);

/* As given to load or parse. */
const char *xlm_jobfile_path(const xlm_jobfile *job);

/* Section names are "train" or "stream mono". */
bool xlm_jobfile_has(const xlm_jobfile *job, const char *section);
/* Names of the sections of a named kind in the order of the file: {"mono", "para", NULL}. g_strfreev. */
char **xlm_jobfile_names(const xlm_jobfile *job, const char *kind);
/* Keys of a section in the order of the file; {NULL} if there is no such section. g_strfreev. */
char **xlm_jobfile_keys(const xlm_jobfile *job, const char *section);
/* The value as text; NULL if it is not given. g_free. */
char *xlm_jobfile_value(const xlm_jobfile *job, const char *section, const char *key);
/* Where a key is, for the beginning of a message: "job.conf:12: [train]" or "--set train.steps". key NULL: the section itself;
 * without a line number if the file does not have it. g_free. */
char *xlm_jobfile_place(const xlm_jobfile *job, const char *section, const char *key);

/* Can the text be a key: letters, digits, '_' and '-'? */
bool xlm_jobfile_is_key(const char *text);

/* Set *error to an EX_CONFIG about a section, or a key of it, which begins with that place. Returns false. */
bool xlm_jobfile_refuse(const xlm_jobfile *job, const char *section, const char *key, GError **error, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

#endif
