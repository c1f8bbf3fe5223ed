/* xlm-mpi: weights of a model of the order of dependents. SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic/order_weights.h"

#include <math.h>
#include <string.h>

#include "text/lines.h"
#include "text/strings.h"

/* A feature is one number: its kind in 3 bits, symbols in 12 bits each. Symbols count from 1, so no feature is 0. */
enum { SYMBOL_BITS = 12, MAX_SYMBOLS = (1 << SYMBOL_BITS) - 1 };
static const double MAX_WEIGHT = 1e6;

struct xlm_order_weights {
    xlm_strings *symbols;
    xlm_strings *features; /* by their keys, as bytes */
    GArray *weights;       /* double, by the numbers of the features */
};

static const struct {
    const char *name;
    int min, max; /* symbols */
} kinds[] = {[XLM_ORDER_BI] = {"BI", 2, 2},   [XLM_ORDER_PRE] = {"PRE", 2, 2}, [XLM_ORDER_BFR] = {"BFR", 2, 2},
             [XLM_ORDER_BTW] = {"BTW", 2, 2}, [XLM_ORDER_AFT] = {"AFT", 2, 2},
             [XLM_ORDER_HI] = {"HI", XLM_ORDER_MIN_ROW, XLM_ORDER_MAX_ROW}};

/* ---- the table ---- */

/* HI has a number for each length, so that the symbols of a shorter row are not those of a longer one. */
static uint64_t make_key(xlm_order_feature feature, const uint32_t *symbols, int n)
{
    uint64_t key = (uint64_t)feature + (feature == XLM_ORDER_HI ? (uint64_t)(n - XLM_ORDER_MIN_ROW) : 0);
    for (int i = 0; i < n; i++)
        key = key << SYMBOL_BITS | symbols[i];
    return key;
}

/* ---- reading ---- */

static int find_kind(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The key of a feature; 0 and *what when it is none. */
static uint64_t read_feature(xlm_order_weights *w, const char *feature, const char **what)
{
    g_auto(GStrv) parts = g_strsplit(feature, "_", -1);
    const int n = (int)g_strv_length(parts) - 1, kind = n < 0 ? -1 : find_kind(parts[0]);
    uint32_t symbols[XLM_ORDER_MAX_ROW];
    *what = kind < 0 ? "a feature is of the kind BI, PRE, BFR, BTW, AFT or HI"
            : n < kinds[kind].min || n > kinds[kind].max ? "not as many symbols as its kind has" : NULL;
    for (int i = 0; i < n && *what == NULL; i++) {
        if (*parts[i + 1] == '\0')
            *what = "an empty symbol";
        else
            symbols[i] = xlm_strings_add(w->symbols, parts[i + 1], strlen(parts[i + 1])) + 1;
    }
    if (*what == NULL && xlm_strings_count(w->symbols) > MAX_SYMBOLS)
        *what = "more different symbols than a model can have (4095)";
    return *what == NULL ? make_key((xlm_order_feature)kind, symbols, n) : 0;
}

/* NULL, or what is wrong with the line. */
static const char *read_line(xlm_order_weights *w, char *line)
{
    char *space = strchr(line, ' '), *end;
    if (space == NULL || space == line)
        return "a line must have the form `feature weight`";
    *space = '\0';
    const double weight = g_ascii_strtod(space + 1, &end);
    if (end == space + 1 || *end != '\0' || !isfinite(weight))
        return "the weight is not a number";
    if (fabs(weight) > MAX_WEIGHT)
        return "the weight is not between -1e6 and 1e6"; /* so that no sum of weights overflows */
    const char *what;
    const uint64_t key = read_feature(w, line, &what);
    if (key == 0)
        return what;
    if (xlm_strings_add(w->features, (const char *)&key, sizeof key) < w->weights->len)
        return "this feature occurs twice";
    g_array_append_val(w->weights, weight);
    return NULL;
}

static bool read_all(xlm_order_weights *w, xlm_lines *lines, GError **error)
{
    const char *text, *what = NULL;
    size_t size;
    int got;
    while (what == NULL && (got = xlm_lines_next(lines, &text, &size, error)) == 1) {
        g_autofree char *line = g_strndup(text, size);
        what = read_line(w, g_strchomp(line));
    }
    if (what != NULL)
        return xlm_error_at(error, xlm_lines_path(lines), xlm_lines_number(lines), "%s; are these weights of an order model?",
                            what);
    if (got == 0 && w->weights->len == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: empty; are these weights of an order model?", xlm_lines_path(lines));
    return got == 0;
}

xlm_order_weights *xlm_order_weights_read(const char *path, GError **error)
{
    g_autoptr(xlm_lines) lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return NULL;
    xlm_order_weights *w = g_new0(xlm_order_weights, 1);
    w->symbols = xlm_strings_new();
    w->features = xlm_strings_new();
    w->weights = g_array_new(FALSE, FALSE, sizeof(double));
    if (!read_all(w, lines, error))
        g_clear_pointer(&w, xlm_order_weights_free);
    return w;
}

void xlm_order_weights_free(xlm_order_weights *w)
{
    if (w == NULL)
        return;
    xlm_strings_free(w->symbols);
    xlm_strings_free(w->features);
    g_array_unref(w->weights);
    g_free(w);
}

/* ---- asking ---- */

uint32_t xlm_order_weights_symbol(const xlm_order_weights *w, const char *symbol, size_t size)
{
    const uint32_t i = xlm_strings_find(w->symbols, symbol, size);
    return i == XLM_NO_STRING ? 0 : i + 1;
}

double xlm_order_weights_get(const xlm_order_weights *w, xlm_order_feature feature, const uint32_t *symbols, int n)
{
    for (int i = 0; i < n; i++)
        if (symbols[i] == 0)
            return 0;
    const uint64_t key = make_key(feature, symbols, n);
    const uint32_t i = xlm_strings_find(w->features, (const char *)&key, sizeof key);
    return i == XLM_NO_STRING ? 0 : g_array_index(w->weights, double, i);
}
