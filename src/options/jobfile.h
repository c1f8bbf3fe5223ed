/* xlm-mpi: job files, read and checked for form. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A job file is UTF-8 text of lines of four sorts:
 *
 *     # comment, also with ';' in front
 *     [train]                   a section there is at most one of
 *     [stream mono]             a section of a kind of which there may be several, each with a name
 *     steps = 1000              key and value; blanks around both are dropped, the value is the rest of the line as it
 *                               is (no quotes, no escapes; options/options.h says where a comment may follow)
 *
 * A section or key that occurs twice is an error, and so is a section that the program does not know. What a value
 * means is decided by options/options.h. `--set SECTION.KEY=VALUE` on the command line overrides the file:
 *
 *     --set train.steps=100 --set "stream mono.batch=32"
 *
 * The section is what is before the last '.' ahead of the first '='. If there are two for the same key the later one wins. An
 * override may begin a plain section that the file does not have ([train]), but not a named one: that would most often
 * be a typing error. */
#ifndef XLM_OPTIONS_JOBFILE_H
#define XLM_OPTIONS_JOBFILE_H

#include "base/error.h"

/* A kind of section that a program knows. */
typedef struct xlm_jobfile_kind {
    const char *name; /* "train", "stream"; NULL ends an array */
    bool named;       /* written with a name, [stream NAME], any number of them */
    const char *const *former; /* keys that had another name before: former, present, ..., NULL; they are read, with a warning.
                                  NULL: none */
} xlm_jobfile_kind;

typedef struct xlm_jobfile xlm_jobfile;

/* Read a job file. kinds: what sections there may be. overrides: the arguments of --set, NULL-terminated, or NULL.
 * Not collective. Errors: EX_NOINPUT when the file cannot be read; EX_CONFIG with the line for what is wrong in it;
 * EX_USAGE for an override. xlm_jobfile_free. */
xlm_jobfile *xlm_jobfile_load(const char *path, const xlm_jobfile_kind *kinds, char *const *overrides, GError **error);
/* The same from `length` bytes of text that are called `name` in messages. */
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
/* Keys of a section in the order of the file; {NULL} when there is no such section. g_strfreev. */
char **xlm_jobfile_keys(const xlm_jobfile *job, const char *section);
/* The value as text, NULL when it is not given. g_free. */
char *xlm_jobfile_value(const xlm_jobfile *job, const char *section, const char *key);
/* Where a key is, for the front of a message: "job.conf:12: [train]" or "--set train.steps". key NULL: the section
 * itself; without a line number when the file does not have it. g_free. */
char *xlm_jobfile_place(const xlm_jobfile *job, const char *section, const char *key);

/* Set *error to an error of EX_CONFIG about a section, or a key of it, led by that place. Returns false. */
bool xlm_jobfile_refuse(const xlm_jobfile *job, const char *section, const char *key, GError **error, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

#endif
