/* xlm-mpi: whether two answers are equal, and how similar they are. SPDX-License-Identifier: GPL-3.0-or-later */
#include "tasks/answer_rules.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>

#include "text/icu.h"
#include "text/words.h"

/* The articles that are removed in each language, separated by spaces. In Arabic, the article is removed wherever its letters
 * occur. */
static const struct {
    const char *name, *language, *articles;
} rules_of[] = {
    [XLM_ANSWERS_SQUAD] = {"SQuAD", NULL, "a an the"},
    [XLM_ANSWERS_EN] = {"MLQA en", "en", "a an the"},
    [XLM_ANSWERS_ES] = {"MLQA es", "es", "un una unos unas el la los las"},
    [XLM_ANSWERS_HI] = {"MLQA hi", "hi", ""},
    [XLM_ANSWERS_VI] = {"MLQA vi", "vi", "của là cái chiếc những"},
    [XLM_ANSWERS_DE] = {"MLQA de", "de", "ein eine einen einem eines einer der die das den dem des"},
    [XLM_ANSWERS_AR] = {"MLQA ar", "ar", ""},
    [XLM_ANSWERS_ZH] = {"MLQA zh", "zh", ""},
};
static const char arabic_article[] = "ال";

bool xlm_answer_rules_find(const char *language, xlm_answer_rules *rules)
{
    if (language == NULL)
        return false;
    const size_t size = strcspn(language, "-_");
    for (guint i = XLM_ANSWERS_EN; i < G_N_ELEMENTS(rules_of); i++)
        if (size == 2 && g_ascii_strncasecmp(rules_of[i].language, language, size) == 0) {
            *rules = (xlm_answer_rules)i;
            return true;
        }
    return false;
}

const char *xlm_answer_rules_name(xlm_answer_rules rules) { return rules_of[rules].name; }

/* ---- normalising, step by step ---- */

static GString *lower_case(const char *text)
{
    UErrorCode status = U_ZERO_ERROR;
    int32_t size, out;
    g_autofree UChar *lower = xlm_icu_lower_case(text, (int32_t)strlen(text), &size);
    GString *result = g_string_sized_new(3 * (size_t)size + 1);
    u_strToUTF8(result->str, 3 * size + 1, &out, lower, size, &status);
    g_string_set_size(result, (gsize)out);
    return result;
}

static bool is_punctuation(xlm_answer_rules rules, gunichar c)
{
    return (c < 0x80 && g_ascii_ispunct((char)c)) ||
           (rules != XLM_ANSWERS_SQUAD && c >= 0x80 && (U_GET_GC_MASK((UChar32)c) & U_GC_P_MASK) != 0);
}

/* Is it a character of a word, as Python's \w: a letter, a number or an underscore? */
static bool is_of_word(gunichar c)
{
    return c == '_' || (U_GET_GC_MASK((UChar32)c) & U_GC_L_MASK) != 0 ||
           u_getIntPropertyValue((UChar32)c, UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

static void remove_punctuation(xlm_answer_rules rules, GString *text)
{
    char *to = text->str;
    for (const char *at = text->str, *next; *at != '\0'; at = next) {
        next = g_utf8_next_char(at);
        if (!is_punctuation(rules, g_utf8_get_char(at))) {
            memmove(to, at, (size_t)(next - at));
            to += next - at;
        }
    }
    g_string_truncate(text, (gsize)(to - text->str));
}

/* Is word[size] in a list of words that are separated by spaces? */
static bool is_listed(const char *list, const char *word, size_t size)
{
    while (*list != '\0') {
        const size_t n = strcspn(list, " ");
        if (n == size && memcmp(list, word, n) == 0)
            return true;
        list += n + (list[n] == ' ');
    }
    return false;
}

/* Replace articles, which are whole words, by spaces. */
static void remove_articles(xlm_answer_rules rules, GString *text)
{
    const char *articles = rules_of[rules].articles;
    for (char *at = text->str; *at != '\0';) {
        char *end = at;
        while (*end != '\0' && is_of_word(g_utf8_get_char(end)))
            end = g_utf8_next_char(end);
        if (end == at) {
            at = g_utf8_next_char(at);
            continue;
        }
        if (is_listed(articles, at, (size_t)(end - at)))
            memset(at, ' ', (size_t)(end - at));
        at = end;
    }
    if (rules != XLM_ANSWERS_AR)
        return;
    for (char *at = text->str; (at = strstr(at, arabic_article)) != NULL;)
        memset(at, ' ', sizeof arabic_article - 1);
}

/* Is the character a word by itself? */
static bool is_word(xlm_answer_rules rules, gunichar c) { return rules == XLM_ANSWERS_ZH && c >= 0x4E00 && c <= 0x9FA5; }

char **xlm_answer_words(xlm_answer_rules rules, const char *answer)
{
    g_autoptr(GString) text = lower_case(answer);
    remove_punctuation(rules, text);
    remove_articles(rules, text);
    GPtrArray *words = g_ptr_array_new();
    for (const char *at = text->str; *at != '\0';) {
        const char *end = at;
        while (*end != '\0' && !xlm_is_white_space(g_utf8_get_char(end)) && !is_word(rules, g_utf8_get_char(end)))
            end = g_utf8_next_char(end);
        if (end == at && is_word(rules, g_utf8_get_char(at)))
            end = g_utf8_next_char(at);
        if (end > at)
            g_ptr_array_add(words, g_strndup(at, (gsize)(end - at)));
        at = end > at ? end : g_utf8_next_char(at);
    }
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* ---- comparing ---- */

static gint by_text(gconstpointer a, gconstpointer b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The number of words that two answers share; a word counts as often as both have it. a: [n], b: [m]. */
static guint count_shared(char *const *a, guint n, char *const *b, guint m)
{
    if (n == 0 || m == 0)
        return 0;
    g_autofree const char **x = g_memdup2(a, sizeof *a * n), **y = g_memdup2(b, sizeof *b * m);
    qsort(x, n, sizeof *x, by_text);
    qsort(y, m, sizeof *y, by_text);
    guint shared = 0;
    for (guint i = 0, j = 0; i < n && j < m;) {
        const int order = strcmp(x[i], y[j]);
        shared += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return shared;
}

xlm_answer_match xlm_answer_compare(char *const *predicted, char *const *right, bool empty_is_equal)
{
    const guint n = g_strv_length((char **)predicted), m = g_strv_length((char **)right);
    xlm_answer_match match = {.exact = n == m};
    for (guint i = 0; i < n && match.exact > 0; i++)
        match.exact = strcmp(predicted[i], right[i]) == 0;
    const guint shared = count_shared(predicted, n, right, m);
    if (empty_is_equal && (n == 0 || m == 0)) {
        match.f1 = n == m;
    } else if (shared > 0) {
        const double precision = (double)shared / n, recall = (double)shared / m;
        match.f1 = 2 * precision * recall / (precision + recall);
    }
    return match;
}
