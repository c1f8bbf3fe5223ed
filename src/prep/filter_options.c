/* xlm-mpi: the rules that leave out sentences, as options. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/filter_options.h"

#include <string.h>

#include "options/options.h"
#include "text/scripts.h"

#define RULE(field) offsetof(xlm_filter_options, field)
#define NO_LIMIT 9e18

const xlm_option xlm_filter_rules[] = {
    [XLM_RULE_LINE_BYTES] = {"max-line-bytes", XLM_OPTION_INT, "0", 1, NO_LIMIT, NULL,
                             "leave out lines whose text has more bytes before it is normalised", RULE(max_line_bytes)},
    [XLM_RULE_CHARACTERS] = {"max-characters", XLM_OPTION_INT, "0", 1, NO_LIMIT, NULL,
                             "leave out sentences of more characters", RULE(max_characters)},
    [XLM_RULE_MIN_WORDS] = {"min-words", XLM_OPTION_INT, "0", 1, NO_LIMIT, NULL, "leave out sentences of fewer words",
                            RULE(min_words)},
    [XLM_RULE_MAX_WORDS] = {"max-words", XLM_OPTION_INT, "0", 1, NO_LIMIT, NULL, "leave out sentences of more words",
                            RULE(max_words)},
    [XLM_RULE_WORD_CHARACTERS] = {"max-word-characters", XLM_OPTION_INT, "0", 1, NO_LIMIT, NULL,
                                  "leave out sentences with a word of more characters", RULE(max_word_characters)},
    [XLM_RULE_RATIO] = {"max-ratio", XLM_OPTION_REAL, "0", 1, NO_LIMIT, NULL,
                        "leave out pairs of which one side has more than R times as many words as the other", RULE(max_ratio)},
    [XLM_RULE_SCRIPT] = {"script-share", XLM_OPTION_REAL, "0", 0.01, 1, NULL,
                         "leave out sentences of which less than this share of the letters is in a script of their language",
                         RULE(script_share)},
    [XLM_RULE_UNTRANSLATED] = {"untranslated", XLM_OPTION_CHOICE, "keep", 0, 0, "keep|drop",
                               "what to do with pairs whose sides are equal, spaces left aside (default keep)",
                               RULE(untranslated)},
    [XLM_RULE_DUPLICATES] = {"duplicates", XLM_OPTION_CHOICE, "keep", 0, 0, "keep|drop",
                             "what to do with a sentence that equals an earlier one of the monolingual text of its language, or "
                             "a pair that equals an earlier one of its languages, but for spaces (default keep)",
                             RULE(duplicates)},
    [XLM_RULES] = XLM_OPTION_END};

bool xlm_prep_set_rule(xlm_prep_options *options, const char *name, const char *value, GError **error)
{
    for (const xlm_option *rule = xlm_filter_rules; rule->name != NULL; rule++) {
        g_autoptr(GError) wrong = NULL;
        if (strcmp(rule->name, name) == 0)
            return xlm_option_set(rule, value, &options->filter, &wrong) ||
                   xlm_error_set(error, EX_USAGE, "--%s", wrong->message);
    }
    return xlm_error_set(error, EX_USAGE, "--%s: there is no such rule", name);
}

bool xlm_prep_add_script(xlm_prep_options *options, const char *specification, GError **error)
{
    const char *equals = strchr(specification, '=');
    if (equals == NULL || equals == specification || equals[1] == '\0')
        return xlm_error_set(error, EX_USAGE, "--script=%s: the form is --script LANG=CODE[,CODE...]", specification);
    g_autofree char *language = g_strndup(specification, (gsize)(equals - specification));
    if (g_hash_table_contains(options->filter.scripts, language))
        return xlm_error_set(error, EX_USAGE, "--script=%s: language %s is given twice; give all its scripts in one",
                             specification, language);
    xlm_scripts *scripts = xlm_scripts_parse(equals + 1, error);
    if (scripts == NULL) {
        g_prefix_error(error, "--script=%s: ", specification);
        return false;
    }
    g_hash_table_insert(options->filter.scripts, g_steal_pointer(&language), scripts);
    return true;
}

bool xlm_filter_has(const xlm_filter_options *filter, int rule)
{
    const xlm_option *option = &xlm_filter_rules[rule];
    const void *value = (const char *)filter + option->offset;
    return option->type == XLM_OPTION_REAL ? *(const double *)value > 0 : *(const int64_t *)value > 0;
}

bool xlm_filter_has_any(const xlm_filter_options *filter)
{
    bool any = false;
    for (int rule = 0; rule < XLM_RULES; rule++)
        any = any || xlm_filter_has(filter, rule);
    return any;
}

char *xlm_filter_print(const xlm_filter_options *filter, int rule)
{
    g_autofree char *value = xlm_option_print(&xlm_filter_rules[rule], filter);
    return g_strdup_printf("--%s=%s", xlm_filter_rules[rule].name, value);
}

/* ---- checks ---- */

/* Has the language of this name text? */
static bool has_text(const xlm_prep_options *options, const char *name)
{
    guint language;
    return g_ptr_array_find_with_equal_func(options->languages, name, g_str_equal, &language) &&
           xlm_prep_has_text(options, (int)language, false);
}

static bool check_scripts(const xlm_prep_options *options, GError **error)
{
    GHashTableIter each;
    void *language;
    g_hash_table_iter_init(&each, options->filter.scripts);
    while (g_hash_table_iter_next(&each, &language, NULL)) {
        if (options->filter.script_share == 0)
            return xlm_error_set(error, EX_USAGE, "--script says what --script-share counts, which is not given");
        if (!has_text(options, language))
            return xlm_error_set(error, EX_USAGE, "--script: there is no text of %s", (const char *)language);
    }
    for (guint i = 0; i < options->languages->len && options->filter.script_share > 0; i++) {
        const char *name = options->languages->pdata[i];
        xlm_scripts *known = xlm_scripts_of_language(name);
        const bool good = known != NULL || g_hash_table_contains(options->filter.scripts, name) || !has_text(options, name);
        xlm_scripts_free(known);
        if (!good)
            return xlm_error_set(error, EX_USAGE, "--script-share: ICU does not know in which script %s is written; give it with "
                                 "--script %s=CODE, such as Latn", name, name);
    }
    return true;
}

bool xlm_prep_check_rules(const xlm_prep_options *options, GError **error)
{
    static const int of_pairs[] = {XLM_RULE_RATIO, XLM_RULE_UNTRANSLATED};
    const xlm_filter_options *filter = &options->filter;
    if (filter->max_words > 0 && filter->min_words > filter->max_words)
        return xlm_error_set(error, EX_USAGE, "--min-words=%" G_GINT64_FORMAT " is more than --max-words=%" G_GINT64_FORMAT
                             ", so no sentence is left", filter->min_words, filter->max_words);
    for (size_t i = 0; i < G_N_ELEMENTS(of_pairs); i++)
        if (xlm_filter_has(filter, of_pairs[i]) && options->monolingual_sources == (int)options->sources->len)
            return xlm_error_set(error, EX_USAGE, "--%s is a rule for pairs, and there is no --para",
                                 xlm_filter_rules[of_pairs[i]].name);
    return check_scripts(options, error);
}
