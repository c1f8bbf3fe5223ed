/* xlm-mpi: settings read from job files by a table. SPDX-License-Identifier: GPL-3.0-or-later */
#include "options/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "options/nearest.h"
#include "options/piecewise.h"

/* Where an option's value is in the struct. */
#define VALUE(type, option, base) (*(type *)((char *)(base) + (option)->offset))

#define EACH_OPTION(option, table) \
    for (const xlm_option *option = table; option != NULL && option->name != NULL; option++)

/* ---- ranges ---- */

/* Bounds beyond these are no bounds. */
static bool has_minimum(const xlm_option *o) { return (o->minimum != 0 || o->maximum != 0) && o->minimum > -9e18; }
static bool has_maximum(const xlm_option *o) { return (o->minimum != 0 || o->maximum != 0) && o->maximum < 9e18; }

static void append_bound(GString *out, const xlm_option *option, double bound)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    const bool whole = (option->type == XLM_OPTION_INT || option->type == XLM_OPTION_PIECEWISE_INT) && fabs(bound) < 9e15;
    g_string_append(out, g_ascii_formatd(text, sizeof text, whole ? "%.0f" : "%g", bound));
}

/* "from 1 to 10", "at least 1", "at most 10" or "". */
static char *print_range(const xlm_option *option)
{
    GString *out = g_string_new(NULL);
    if (has_minimum(option)) {
        g_string_append(out, has_maximum(option) ? "from " : "at least ");
        append_bound(out, option, option->minimum);
    }
    if (has_maximum(option)) {
        g_string_append(out, has_minimum(option) ? " to " : "at most ");
        append_bound(out, option, option->maximum);
    }
    return g_string_free(out, FALSE);
}

static bool is_in_range(const xlm_option *option, double value)
{
    return (!has_minimum(option) || value >= option->minimum) && (!has_maximum(option) || value <= option->maximum);
}

/* ---- one value ---- */

static bool refuse_number(const xlm_option *option, const char *text, const char *wanted, GError **error)
{
    g_autofree char *range = print_range(option);
    return xlm_error_set(error, EX_CONFIG, "%s = %s: must be %s%s%s", option->name, text, wanted, *range != '\0' ? " " : "",
                         range);
}

/* Text without the '_' between digits; NULL if it is not an integer. g_free. */
static char *plain_digits(const char *text)
{
    GString *out = g_string_new(NULL);
    const char *p = text;
    if (*p == '-' || *p == '+')
        g_string_append_c(out, *p++);
    bool good = g_ascii_isdigit(*p);
    for (; *p != '\0' && good; p++)
        if (g_ascii_isdigit(*p))
            g_string_append_c(out, *p);
        else
            good = *p == '_' && p[-1] != '_' && g_ascii_isdigit(p[1]);
    return g_string_free(out, !good);
}

static bool set_int(const xlm_option *option, const char *text, void *into, GError **error)
{
    g_autofree char *digits = plain_digits(text);
    errno = 0;
    const int64_t value = digits == NULL ? 0 : g_ascii_strtoll(digits, NULL, 10);
    if (digits == NULL || errno != 0 || !is_in_range(option, (double)value))
        return refuse_number(option, text, "an integer", error);
    VALUE(int64_t, option, into) = value;
    return true;
}

static bool set_real(const xlm_option *option, const char *text, void *into, GError **error)
{
    char *end;
    const double value = g_ascii_strtod(text, &end);
    const bool decimal = *text != '\0' && strspn(text, "0123456789+-.eE") == strlen(text);
    if (!decimal || *end != '\0' || !isfinite(value) || !is_in_range(option, value))
        return refuse_number(option, text, "a number", error);
    VALUE(double, option, into) = value;
    return true;
}

static bool set_flag(const xlm_option *option, const char *text, void *into, GError **error)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (g_ascii_strcasecmp(text, words[i]) == 0) {
            VALUE(bool, option, into) = i % 2 == 1;
            return true;
        }
    return xlm_error_set(error, EX_CONFIG, "%s = %s: must be true or false", option->name, text);
}

static bool set_choice(const xlm_option *option, const char *text, void *into, GError **error)
{
    g_auto(GStrv) words = g_strsplit(option->choices, "|", -1);
    const guint n = g_strv_length(words);
    for (guint i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) {
            VALUE(int64_t, option, into) = i;
            return true;
        }
    g_autofree char *advice = xlm_nearest_advice(text, (const char *const *)words, n);
    return xlm_error_set(error, EX_CONFIG, "%s = %s: is not one of %s; %s", option->name, text, option->choices, advice);
}

static bool set_text(const xlm_option *option, const char *text, void *into, GError **error G_GNUC_UNUSED)
{
    g_free(VALUE(char *, option, into));
    VALUE(char *, option, into) = *text == '\0' ? NULL : g_strdup(text);
    return true;
}

static bool set_list(const xlm_option *option, const char *text, void *into, GError **error)
{
    char **items = *text == '\0' ? NULL : g_strsplit(text, ",", -1);
    for (char **item = items; item != NULL && *item != NULL; item++)
        if (*g_strstrip(*item) == '\0') {
            g_strfreev(items);
            return xlm_error_set(error, EX_CONFIG, "%s = %s: an item of the list is empty; write a,b,c", option->name, text);
        }
    g_strfreev(VALUE(char **, option, into));
    VALUE(char **, option, into) = items;
    return true;
}

static bool refuse_empty_set(const xlm_option *option, GError **error)
{
    return xlm_error_set(error, EX_CONFIG, "%s: none is named; name one or more of %s", option->name, option->choices);
}

static bool set_set(const xlm_option *option, const char *text, void *into, GError **error)
{
    const xlm_option list = {option->name, XLM_OPTION_LIST, NULL, 0, 0, NULL, NULL, 0};
    g_auto(GStrv) words = g_strsplit(option->choices, ",", -1), items = NULL;
    uint32_t bits = 0;
    if (!set_list(&list, text, &items, error))
        return false;
    for (char **item = items; item != NULL && *item != NULL; item++) {
        int i = 0;
        while (words[i] != NULL && strcmp(words[i], *item) != 0)
            i++;
        if (words[i] == NULL)
            return xlm_error_set(error, EX_CONFIG, "%s: \"%s\" is not one of %s", option->name, *item, option->choices);
        bits |= 1u << i;
    }
    if (bits == 0)
        return refuse_empty_set(option, error);
    VALUE(uint32_t, option, into) = bits;
    return true;
}

/* A number of an option that is piecewise linear, as an option of that name. */
static bool read_number(const xlm_option *option, const char *name, const char *text, double *number, GError **error)
{
    const bool whole = option->type == XLM_OPTION_PIECEWISE_INT;
    const xlm_option one = {name, whole ? XLM_OPTION_INT : XLM_OPTION_REAL, NULL, option->minimum, option->maximum, NULL, NULL,
                            0};
    int64_t integer;
    if (!whole)
        return set_real(&one, text, number, error);
    if (!set_int(&one, text, &integer, error))
        return false;
    *number = (double)integer;
    return true;
}

/* One point of a list. [out] at_once: the number before it is kept up to its step. */
static bool read_point(const xlm_option *option, char *item, xlm_piecewise_point *point, bool *at_once, GError **error)
{
    static const xlm_option step = {"step", XLM_OPTION_INT, NULL, 0, 1e12, NULL, NULL, offsetof(xlm_piecewise_point, step)};
    char *colon = strpbrk(item, ":=");
    if (colon == NULL)
        return xlm_error_set(error, EX_CONFIG, "\"%s\" is not of the form STEP:NUMBER or STEP=NUMBER", g_strstrip(item));
    *at_once = *colon == '=';
    *colon = '\0';
    return set_int(&step, g_strstrip(item), point, error) &&
           read_number(option, "number", g_strstrip(colon + 1), &point->value, error);
}

static bool read_points(const xlm_option *option, char **items, GArray *points, GError **error)
{
    for (char **item = items; *item != NULL; item++) {
        xlm_piecewise_point point;
        bool at_once = false;
        if (!read_point(option, *item, &point, &at_once, error))
            return false;
        const int64_t before = points->len > 0 ? g_array_index(points, xlm_piecewise_point, points->len - 1).step : -1;
        if (point.step <= before)
            return xlm_error_set(error, EX_CONFIG, "step %" PRId64 " is not after step %" PRId64, point.step, before);
        if (at_once && points->len > 0 && point.step > before + 1) {
            const xlm_piecewise_point kept = {point.step - 1, g_array_index(points, xlm_piecewise_point, points->len - 1).value};
            g_array_append_val(points, kept);
        }
        g_array_append_val(points, point);
    }
    return true;
}

static bool set_piecewise(const xlm_option *option, const char *text, void *into, GError **error)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(xlm_piecewise_point));
    g_autoptr(GError) wrong = NULL;
    if (strpbrk(text, ":=,") == NULL) {
        xlm_piecewise_point point = {0};
        if (!read_number(option, option->name, text, &point.value, error))
            return false;
        g_array_append_val(points, point);
    } else {
        g_auto(GStrv) items = g_strsplit(text, ",", -1);
        if (!read_points(option, items, points, &wrong))
            return xlm_error_set(error, EX_CONFIG, "%s = %s: %s; write a number, or STEP:NUMBER,STEP:NUMBER,... that is linear "
                                 "between these steps, with STEP=NUMBER where it jumps", option->name, text, wrong->message);
    }
    g_free(VALUE(xlm_piecewise *, option, into));
    VALUE(xlm_piecewise *, option, into) = xlm_piecewise_new((xlm_piecewise_point *)(void *)points->data, points->len);
    return true;
}

/* Text up to a comment after it: the first '#' after a blank. g_free. */
static char *without_comment(const char *text)
{
    const char *end = text;
    while (*end != '\0' && !(*end == '#' && end > text && g_ascii_isspace(end[-1])))
        end++;
    return g_strchomp(g_strndup(text, (gsize)(end - text)));
}

bool xlm_option_set(const xlm_option *option, const char *text, void *into, GError **error)
{
    static bool (*const set[])(const xlm_option *, const char *, void *, GError **) = {
        [XLM_OPTION_INT] = set_int,   [XLM_OPTION_REAL] = set_real,     [XLM_OPTION_FLAG] = set_flag,
        [XLM_OPTION_TEXT] = set_text, [XLM_OPTION_CHOICE] = set_choice, [XLM_OPTION_LIST] = set_list,
        [XLM_OPTION_PIECEWISE] = set_piecewise, [XLM_OPTION_PIECEWISE_INT] = set_piecewise,
        [XLM_OPTION_SET] = set_set,
    };
    const bool is_text = option->type == XLM_OPTION_TEXT || option->type == XLM_OPTION_LIST;
    g_autofree char *value = is_text ? g_strdup(text) : without_comment(text);
    if (is_text && *text == '\0' && option->default_value == NULL)
        return xlm_error_set(error, EX_CONFIG, "%s: is empty; give %s", option->name, option->help);
    return set[option->type](option, value, into, error);
}

static char *print_real(double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    for (int digits = 6; digits <= 17; digits++) {
        char format[8];
        g_snprintf(format, sizeof format, "%%.%dg", digits);
        if (g_ascii_strtod(g_ascii_formatd(text, sizeof text, format, value), NULL) == value)
            break;
    }
    return g_strdup(text);
}

static char *print_number(double value, bool whole)
{
    return whole ? g_strdup_printf("%" PRId64, (int64_t)value) : print_real(value);
}

static char *print_piecewise(const xlm_piecewise *numbers, bool whole)
{
    if (xlm_piecewise_is_constant(numbers))
        return print_number(numbers->point[0].value, whole);
    GString *out = g_string_new(NULL);
    for (int64_t i = 0; i < numbers->points; i++) {
        g_autofree char *value = print_number(numbers->point[i].value, whole);
        g_string_append_printf(out, "%s%" PRId64 ":%s", i > 0 ? "," : "", numbers->point[i].step, value);
    }
    return g_string_free(out, FALSE);
}

static char *print_set(const xlm_option *option, uint32_t bits)
{
    g_auto(GStrv) words = g_strsplit(option->choices, ",", -1);
    GString *out = g_string_new(NULL);
    for (int i = 0; words[i] != NULL; i++)
        if ((bits >> i & 1) != 0)
            g_string_append_printf(out, "%s%s", out->len > 0 ? "," : "", words[i]);
    return g_string_free(out, FALSE);
}

char *xlm_option_print(const xlm_option *option, const void *from)
{
    switch (option->type) {
    case XLM_OPTION_INT:
        return g_strdup_printf("%" PRId64, VALUE(const int64_t, option, from));
    case XLM_OPTION_REAL:
        return print_real(VALUE(const double, option, from));
    case XLM_OPTION_FLAG:
        return g_strdup(VALUE(const bool, option, from) ? "true" : "false");
    case XLM_OPTION_TEXT: {
        const char *text = VALUE(char *const, option, from);
        return g_strdup(text != NULL ? text : "");
    }
    case XLM_OPTION_CHOICE: {
        g_auto(GStrv) words = g_strsplit(option->choices, "|", -1);
        return g_strdup(words[VALUE(const int64_t, option, from)]);
    }
    case XLM_OPTION_LIST: {
        char **items = VALUE(char **const, option, from);
        return items != NULL ? g_strjoinv(",", items) : g_strdup("");
    }
    case XLM_OPTION_PIECEWISE:
    case XLM_OPTION_PIECEWISE_INT:
        return print_piecewise(VALUE(xlm_piecewise *const, option, from), option->type == XLM_OPTION_PIECEWISE_INT);
    case XLM_OPTION_SET:
        return print_set(option, VALUE(const uint32_t, option, from));
    }
    g_assert_not_reached();
}

/* ---- a table ---- */

void xlm_options_print(const xlm_option *table, const void *from, GString *out)
{
    EACH_OPTION(option, table) {
        g_autofree char *value = xlm_option_print(option, from);
        g_string_append_printf(out, *value != '\0' ? "%s = %s\n" : "%s =\n", option->name, value);
    }
}

/* Bytes of the value of each type. */
static const size_t sizes[] = {
    [XLM_OPTION_INT] = sizeof(int64_t),    [XLM_OPTION_REAL] = sizeof(double), [XLM_OPTION_FLAG] = sizeof(bool),
    [XLM_OPTION_TEXT] = sizeof(char *),    [XLM_OPTION_LIST] = sizeof(char **),
    [XLM_OPTION_CHOICE] = sizeof(int64_t), [XLM_OPTION_PIECEWISE] = sizeof(xlm_piecewise *),
    [XLM_OPTION_PIECEWISE_INT] = sizeof(xlm_piecewise *),
    [XLM_OPTION_SET] = sizeof(uint32_t),
};

char *xlm_option_print_default(const xlm_option *option)
{
    xlm_option table[] = {*option, XLM_OPTION_END};
    g_autofree void *value = g_malloc0(sizes[option->type]);
    table->offset = 0;
    if (option->default_value == NULL || !xlm_option_set(table, option->default_value, value, NULL))
        return NULL;
    char *text = xlm_option_print(table, value);
    xlm_options_free(table, value);
    return text;
}

void xlm_option_print_changed(const xlm_option *option, const void *from, GString *out)
{
    g_autofree char *value = xlm_option_print(option, from), *usual = xlm_option_print_default(option);
    if (g_strcmp0(value, usual) != 0)
        g_string_append_printf(out, "%s = %s\n", option->name, value);
}

static void clear(const xlm_option *table, void *into)
{
    EACH_OPTION(option, table)
        memset((char *)into + option->offset, 0, sizes[option->type]);
}

bool xlm_options_have(const xlm_option *table, const char *name)
{
    bool found = false;
    EACH_OPTION(option, table)
        found |= strcmp(option->name, name) == 0;
    return found;
}

/* What is wrong with an option of a table for a struct of so many bytes; NULL: nothing. */
static const char *find_mistake(const xlm_option *option, size_t struct_size)
{
    const bool known = (size_t)option->type < G_N_ELEMENTS(sizes);
    if (!xlm_jobfile_is_key(option->name))
        return "its name cannot be a key of a job file; take letters, digits and \"_-\"";
    if (!known)
        return "its type is not one of xlm_option_type";
    if (option->help == NULL)
        return "it has no help";
    if ((option->type == XLM_OPTION_CHOICE || option->type == XLM_OPTION_SET) && option->choices == NULL)
        return "it has no choices";
    if (option->offset > struct_size || sizes[option->type] > struct_size - option->offset)
        return "its value is not within the state_size bytes of the state";
    return NULL;
}

bool xlm_options_check_table(const xlm_option *table, size_t struct_size, GError **error)
{
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    EACH_OPTION(option, table) {
        const char *mistake = find_mistake(option, struct_size);
        if (mistake == NULL && !g_hash_table_add(names, (void *)option->name))
            mistake = "an option before it has the same name";
        if (mistake != NULL)
            return xlm_error_set(error, EX_CONFIG, "option \"%s\": %s; correct its table", option->name, mistake);
    }
    return true;
}

void xlm_options_free(const xlm_option *table, void *from)
{
    EACH_OPTION(option, table) {
        if (option->type == XLM_OPTION_TEXT)
            g_clear_pointer(&VALUE(char *, option, from), g_free);
        else if (option->type == XLM_OPTION_LIST)
            g_clear_pointer(&VALUE(char **, option, from), g_strfreev);
        else if (option->type == XLM_OPTION_PIECEWISE || option->type == XLM_OPTION_PIECEWISE_INT)
            g_clear_pointer(&VALUE(xlm_piecewise *, option, from), g_free);
    }
}

static bool set_default(const xlm_option *option, void *into, GError **error)
{
    g_autoptr(GError) wrong = NULL;
    return option->default_value == NULL || xlm_option_set(option, option->default_value, into, &wrong) ||
           xlm_error_set(error, EX_SOFTWARE, "the default of an option does not fit it: %s; correct its table", wrong->message);
}

bool xlm_options_defaults(const xlm_option *table, void *into, GError **error)
{
    clear(table, into);
    EACH_OPTION(option, table)
        if (!set_default(option, into, error)) {
            xlm_options_free(table, into);
            return false;
        }
    return true;
}

/* Mistakes on the command line are EX_USAGE, those in the file EX_CONFIG. */
static int exit_code_at(const char *place) { return g_str_has_prefix(place, "--set ") ? EX_USAGE : EX_CONFIG; }

static bool read_one(const xlm_option *option, const xlm_jobfile *job, const char *section, void *into, GError **error)
{
    g_autofree char *text = xlm_jobfile_value(job, section, option->name);
    g_autofree char *place = xlm_jobfile_place(job, section, text != NULL ? option->name : NULL);
    g_autoptr(GError) wrong = NULL;
    if (text == NULL)
        return option->default_value != NULL ||
               xlm_error_set(error, EX_CONFIG, "%s: key \"%s\" is missing; give %s", place, option->name, option->help);
    return xlm_option_set(option, text, into, &wrong) ||
           xlm_error_set(error, exit_code_at(place), "%s: %s", place, wrong->message);
}

bool xlm_options_read(const xlm_option *table, const xlm_jobfile *job, const char *section, void *into, GError **error)
{
    if (!xlm_options_defaults(table, into, error))
        return false;
    EACH_OPTION(option, table)
        if (!read_one(option, job, section, into, error)) {
            xlm_options_free(table, into);
            return false;
        }
    return true;
}

bool xlm_options_check_keys(const xlm_option *const *tables, const xlm_jobfile *job, const char *section, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (; *tables != NULL; tables++)
        EACH_OPTION(option, *tables)
            g_ptr_array_add(names, (void *)option->name);
    g_auto(GStrv) keys = xlm_jobfile_keys(job, section);
    for (char **key = keys; *key != NULL; key++) {
        if (g_ptr_array_find_with_equal_func(names, *key, g_str_equal, NULL))
            continue;
        g_autofree char *place = xlm_jobfile_place(job, section, *key);
        g_autofree char *advice = xlm_nearest_advice(*key, (const char *const *)names->pdata, names->len);
        return xlm_error_set(error, exit_code_at(place), "%s: unknown key \"%s\"; %s", place, *key, advice);
    }
    return true;
}

bool xlm_options_parse(const xlm_option *table, const xlm_jobfile *job, const char *section, void *into, GError **error)
{
    const xlm_option *const tables[] = {table, NULL};
    return xlm_options_check_keys(tables, job, section, error) && xlm_options_read(table, job, section, into, error);
}

/* The number of words of a choice or a set. */
static int64_t count_choices(const xlm_option *option)
{
    int64_t n = 1;
    for (const char *p = option->choices; *p != '\0'; p++)
        n += *p == '|' || *p == ',';
    return n;
}

static bool check_one(const xlm_option *option, const void *from, GError **error)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    switch (option->type) {
    case XLM_OPTION_INT: {
        const int64_t value = VALUE(const int64_t, option, from);
        g_snprintf(text, sizeof text, "%" PRId64, value);
        return is_in_range(option, (double)value) || refuse_number(option, text, "an integer", error);
    }
    case XLM_OPTION_REAL: {
        const double value = VALUE(const double, option, from);
        g_ascii_formatd(text, sizeof text, "%g", value);
        return (isfinite(value) && is_in_range(option, value)) || refuse_number(option, text, "a number", error);
    }
    case XLM_OPTION_CHOICE: {
        const int64_t value = VALUE(const int64_t, option, from);
        return (value >= 0 && value < count_choices(option)) ||
               xlm_error_set(error, EX_CONFIG, "%s: number %" PRId64 " is not one of %s", option->name, value, option->choices);
    }
    case XLM_OPTION_SET: {
        const uint32_t bits = VALUE(const uint32_t, option, from);
        return bits == 0 ? refuse_empty_set(option, error)
                         : bits >> count_choices(option) == 0 ||
                               xlm_error_set(error, EX_CONFIG, "%s: bits %#x are not all of %s", option->name, bits,
                                             option->choices);
    }
    default:
        return true;
    }
}

bool xlm_options_check(const xlm_option *table, const void *from, GError **error)
{
    EACH_OPTION(option, table)
        if (!check_one(option, from, error))
            return false;
    return true;
}

/* ---- help ---- */

enum { COLUMNS = 4, LINE_WIDTH = 118, MIN_MEANING = 40 };

/* Name, type, default and range of an option. g_strfreev. */
static char **print_columns(const xlm_option *option)
{
    char **columns = g_new0(char *, COLUMNS + 1);
    static const char *const types[] = {
        [XLM_OPTION_INT] = "integer", [XLM_OPTION_REAL] = "number",   [XLM_OPTION_FLAG] = "flag",
        [XLM_OPTION_TEXT] = "text",   [XLM_OPTION_CHOICE] = "choice", [XLM_OPTION_LIST] = "list",
        [XLM_OPTION_PIECEWISE] = "piecewise", [XLM_OPTION_PIECEWISE_INT] = "piecewise",
        [XLM_OPTION_SET] = "list",
    };
    columns[0] = g_strdup(option->name);
    columns[1] = g_strdup(types[option->type]);
    columns[2] = g_strdup(option->default_value == NULL    ? "(required)"
                          : *option->default_value == '\0' ? "(empty)"
                                                      : option->default_value);
    columns[3] = option->type == XLM_OPTION_CHOICE ? g_strdup(option->choices)
                 : option->type == XLM_OPTION_FLAG ? g_strdup("true|false")
                                                   : print_range(option);
    return columns;
}

/* Append the words of `text` in lines of at most `width`, all but the first indented by `indent` blanks. */
static void append_wrapped(GString *out, const char *text, int indent, int width)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    int used = 0;
    for (char **word = words; *word != NULL; word++) {
        const int length = (int)g_utf8_strlen(*word, -1);
        if (used > 0 && used + 1 + length > width) {
            g_string_append_printf(out, "\n%*s", indent, "");
            used = 0;
        }
        g_string_append_printf(out, "%s%s", used > 0 ? " " : "", *word);
        used += (used > 0) + length;
    }
    g_string_append_c(out, '\n');
}

void xlm_options_help(const xlm_option *table, GString *out)
{
    int widths[COLUMNS] = {0}, indent = 2;
    EACH_OPTION(option, table) {
        g_auto(GStrv) columns = print_columns(option);
        for (int i = 0; i < COLUMNS; i++)
            widths[i] = MAX(widths[i], (int)strlen(columns[i]));
    }
    for (int i = 0; i < COLUMNS; i++)
        indent += widths[i] + 2;
    EACH_OPTION(option, table) {
        g_auto(GStrv) columns = print_columns(option);
        g_string_append(out, "  ");
        for (int i = 0; i < COLUMNS; i++)
            g_string_append_printf(out, "%-*s  ", widths[i], columns[i]);
        append_wrapped(out, option->help, indent, MAX(LINE_WIDTH - indent, MIN_MEANING));
    }
}
