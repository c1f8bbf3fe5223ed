/* xlm-mpi: settings declared as data. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A module declares its settings in a table of xlm_option. The table is used to read job files into a struct, to check them, to
 * fill in defaults and to print the help. Built-in sections and plugins use the same kind of table:
 *
 *     struct align { double weight; int64_t top; bool cosine; char *dictionary; };
 *     static const xlm_option align_options[] = {
 *         {"top", XLM_OPTION_INT, "10", 1, 1000, NULL, "number of pairs per word", offsetof(struct align, top)},
 *         ...
 *         XLM_OPTION_END};
 */
#ifndef XLM_OPTIONS_H
#define XLM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    XLM_OPTION_INT,    /* int64_t */
    XLM_OPTION_REAL,   /* double */
    XLM_OPTION_FLAG,   /* bool: true or false */
    XLM_OPTION_TEXT,   /* char *, owned by whoever owns the struct; NULL if empty and not required */
    XLM_OPTION_CHOICE, /* int64_t: index into `choices` */
    XLM_OPTION_LIST,   /* char **, owned in the same way, NULL-terminated: text split at commas, without blanks around the
                          items; NULL if empty */
    XLM_OPTION_PIECEWISE, /* xlm_piecewise *, owned in the same way: a number, or STEP:NUMBER,STEP:NUMBER,... */
    XLM_OPTION_PIECEWISE_INT, /* the same, with integers as numbers of the list */
    XLM_OPTION_SET     /* uint32_t: bit 1 << i for word i of `choices`, at least one; written as a list */
} xlm_option_type;

/* A number that depends on the step: linear between the points of a list, constant before the first and after the last. */
typedef struct xlm_piecewise xlm_piecewise;
/* The number at a step.
 * [in] step: number of updates made before it */
double xlm_piecewise_at(const xlm_piecewise *numbers, int64_t step);

typedef struct xlm_option {
    const char *name;          /* as written in a job file; NULL only in XLM_OPTION_END */
    xlm_option_type type;
    const char *default_value; /* as written in a job file; NULL: the option must be given */
    double minimum, maximum;   /* closed range of INT, REAL and the numbers of PIECEWISE[_INT]; both 0: any value */
    const char *choices;       /* CHOICE: "learned|sinusoidal"; SET: "query,key" */
    const char *help;          /* one line: meaning, unit, source */
    size_t offset;             /* of the value in the struct, in bytes */
} xlm_option;

/* The last entry of every table. All members are given, so that no compiler warns about missing ones. */
#define XLM_OPTION_END {NULL, XLM_OPTION_INT, NULL, 0, 0, NULL, NULL, 0}

#ifdef __cplusplus
}
#endif
#endif
