/* xlm-mpi: the options of segmenters in a preparation. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/segmenter_options.h"

#include <string.h>

#include "options/options.h"

bool xlm_prep_set_segmenter(xlm_prep_options *options, const char *name, const char *value, GError **error)
{
    for (int i = 0; i < xlm_segmenters_count(); i++)
        for (const xlm_option *option = xlm_segmenter_class_options(xlm_segmenter_class_at(i)); option->name != NULL; option++) {
            g_autoptr(GError) wrong = NULL;
            if (strcmp(option->name, name) != 0)
                continue;
            if (xlm_option_set(option, value, options->segmenters[i], &wrong))
                return true;
            return xlm_error_set(error, EX_USAGE, "--%s", wrong->message);
        }
    return xlm_error_set(error, EX_USAGE, "--%s: no segmenter has such an option", name);
}

const xlm_segmenter_options *xlm_prep_segmenter(const xlm_prep_options *options, const xlm_segmenter_class **cls)
{
    const int n = xlm_segmenters_count();
    int chosen = 0;
    for (int i = 0; i < n && options->like != NULL; i++)
        if (xlm_segmenter_class_at(i) == xlm_segmenter_class_of(xlm_vocabulary_segmenter(options->like)))
            chosen = i;
    for (int i = n - 1; i >= 0; i--)
        if (options->segmenters[i]->amount > 0 || options->segmenters[i]->file != NULL)
            chosen = i;
    *cls = xlm_segmenter_class_at(chosen);
    return options->segmenters[chosen];
}

xlm_normaliser *xlm_prep_normaliser(const xlm_prep_options *options, GError **error)
{
    const xlm_segmenter_class *cls;
    xlm_prep_segmenter(options, &cls);
    if (options->like != NULL || cls->normaliser == NULL)
        return xlm_segmenter_normaliser(options->like != NULL ? xlm_vocabulary_segmenter(options->like) : NULL, options->lower,
                                        error);
    return cls->normaliser(NULL);
}

/* ---- names ---- */

/* The names of the given options that choose a segmenter: "--codes". */
static GPtrArray *find_given(const xlm_prep_options *options)
{
    GPtrArray *given = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < xlm_segmenters_count(); i++) {
        const xlm_segmenter_class *cls = xlm_segmenter_class_at(i);
        const struct {
            bool given;
            size_t offset;
        } both[] = {{options->segmenters[i]->amount > 0, offsetof(xlm_segmenter_options, amount)},
                    {options->segmenters[i]->file != NULL, offsetof(xlm_segmenter_options, file)}};
        for (size_t k = 0; k < G_N_ELEMENTS(both); k++)
            if (both[k].given)
                g_ptr_array_add(given, g_strconcat("--", xlm_segmenter_option_name(cls, both[k].offset), NULL));
    }
    return given;
}

bool xlm_prep_check_segmenter(const xlm_prep_options *options, GError **error)
{
    g_autoptr(GPtrArray) given = find_given(options);
    return given->len < 2 ||
           xlm_error_set(error, EX_USAGE, "%s and %s both say what cuts text into subwords; use one of the two",
                         (char *)given->pdata[0], (char *)given->pdata[1]);
}

char *xlm_prep_given_segmenter(const xlm_prep_options *options)
{
    g_autoptr(GPtrArray) given = find_given(options);
    return given->len > 0 ? g_strdup(given->pdata[0]) : NULL;
}

static char *list_options(size_t offset, const char *value)
{
    GString *list = g_string_new(NULL);
    for (int i = 0; i < xlm_segmenters_count(); i++) {
        const char *name = xlm_segmenter_option_name(xlm_segmenter_class_at(i), offset);
        if (name != NULL)
            g_string_append_printf(list, "%s--%s=%s", list->len > 0 ? " or " : "", name, value);
    }
    return g_string_free(list, FALSE);
}

char *xlm_prep_learn_options(void) { return list_options(offsetof(xlm_segmenter_options, amount), "N"); }
char *xlm_prep_file_options(void) { return list_options(offsetof(xlm_segmenter_options, file), "FILE"); }
