/* xlm-mpi: the rules that leave out sentences, as options. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table has a row for each rule, in the order in which the rules are applied. A sentence or pair is left out by the first
 * rule that it breaks, and counted for this rule only. */
#ifndef XLM_PREP_FILTER_OPTIONS_H
#define XLM_PREP_FILTER_OPTIONS_H

#include <xlm/options.h>

#include "prep/options.h"

/* The numbers of the rules: rows of the table. */
enum {
    XLM_RULE_LINE_BYTES,
    XLM_RULE_CHARACTERS,
    XLM_RULE_MIN_WORDS,
    XLM_RULE_MAX_WORDS,
    XLM_RULE_WORD_CHARACTERS,
    XLM_RULE_RATIO,
    XLM_RULE_SCRIPT,
    XLM_RULE_UNTRANSLATED,
    XLM_RULE_DUPLICATES,
    XLM_RULES
};

/* [XLM_RULES + 1] The options of an xlm_filter_options. */
extern const xlm_option xlm_filter_rules[];

/* Set a rule ("max-words"). EX_USAGE when its value is wrong. */
bool xlm_prep_set_rule(xlm_prep_options *options, const char *name, const char *value, GError **error);
/* Take "LANG=CODE[,CODE...]", the scripts of a language. EX_USAGE when it has another form, or the language was given before. */
bool xlm_prep_add_script(xlm_prep_options *options, const char *specification, GError **error);
/* Do the rules agree with each other and with the text? EX_USAGE. */
bool xlm_prep_check_rules(const xlm_prep_options *options, GError **error);

/* Was this rule given? */
bool xlm_filter_has(const xlm_filter_options *filter, int rule);
bool xlm_filter_has_any(const xlm_filter_options *filter);
/* The rule as on a command line: "--max-words=80". g_free. */
char *xlm_filter_print(const xlm_filter_options *filter, int rule);

#endif
