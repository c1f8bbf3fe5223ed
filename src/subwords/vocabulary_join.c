/* xlm-mpi: one vocabulary for several files that have the same subwords. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/vocabulary_join.h"

#include <string.h>

/* ---- what must be the same ---- */

bool xlm_vocabulary_same_word_form(const xlm_vocabulary *vocabulary, const xlm_vocabulary *other, GError **error)
{
    const xlm_word_mode mode[] = {xlm_vocabulary_word_mode(vocabulary), xlm_vocabulary_word_mode(other)};
    if (mode[0] != mode[1])
        return xlm_error_set(error, EX_DATAERR, "its words are found by `%s`, there by `%s`", xlm_word_mode_name(mode[0]),
                             xlm_word_mode_name(mode[1]));
    if (xlm_vocabulary_lowercase(vocabulary) != xlm_vocabulary_lowercase(other))
        return xlm_error_set(error, EX_DATAERR, "its text is %s, there it is %s",
                             xlm_vocabulary_lowercase(vocabulary) ? "in lower case" : "in both cases",
                             xlm_vocabulary_lowercase(other) ? "in lower case" : "in both cases");
    return true;
}

/* Special tokens, subwords and twins, by id. */
static bool check_words(const xlm_vocabulary *v, const xlm_vocabulary *there, GError **error)
{
    const int64_t n = xlm_vocabulary_size(v);
    if (n != xlm_vocabulary_size(there))
        return xlm_error_set(error, EX_DATAERR, "it has %" G_GINT64_FORMAT " subwords, there are %" G_GINT64_FORMAT, n,
                             xlm_vocabulary_size(there));
    for (int64_t id = 0; id < n; id++)
        if (strcmp(xlm_vocabulary_words(v)[id], xlm_vocabulary_words(there)[id]) != 0)
            return xlm_error_set(error, EX_DATAERR, "its subword %" G_GINT64_FORMAT " is `%s`, there it is `%s`", id,
                                 xlm_vocabulary_words(v)[id], xlm_vocabulary_words(there)[id]);
    for (xlm_special i = 0; i < XLM_SPECIAL_TOKENS; i++)
        if (xlm_vocabulary_special(v, i) != xlm_vocabulary_special(there, i))
            return xlm_error_set(error, EX_DATAERR, "its special token %s has the id %d, there it has %d", xlm_special_name(i),
                                 xlm_vocabulary_special(v, i), xlm_vocabulary_special(there, i));
    return true;
}

static bool check_segmenter(const xlm_segmenter *s, const xlm_segmenter *there, GError **error)
{
    const char *name = xlm_segmenter_class_of(s)->name, *other = xlm_segmenter_class_of(there)->name;
    if (strcmp(name, other) != 0)
        return xlm_error_set(error, EX_DATAERR, "its segmenter is %s, there it is %s", name, other);
    return xlm_segmenter_digest(s, 0) == xlm_segmenter_digest(there, 0) ||
           xlm_error_set(error, EX_DATAERR, "its %s are not those there", xlm_segmenter_class_of(s)->unit);
}

bool xlm_vocabulary_same_subwords(const xlm_vocabulary *vocabulary, const xlm_vocabulary *other, GError **error)
{
    return xlm_vocabulary_same_word_form(vocabulary, other, error) && check_words(vocabulary, other, error) &&
           check_segmenter(xlm_vocabulary_segmenter(vocabulary), xlm_vocabulary_segmenter(other), error);
}

/* ---- languages ---- */

static const xlm_vocabulary_made *find_made(const xlm_vocabulary *v, const char *language)
{
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(v, &n);
    for (int i = 0; i < n; i++)
        if (strcmp(xlm_vocabulary_language_names(v)[made[i].language], language) == 0)
            return &made[i];
    return NULL;
}

/* A synthetic language of `first` is one in `other` too, made in the same way, if it is a language there. */
static bool check_made(const xlm_vocabulary *v, const xlm_vocabulary *there, GError **error)
{
    for (const char *const *name = xlm_vocabulary_language_names(v); *name != NULL; name++) {
        const xlm_vocabulary_made *a = find_made(v, *name), *b = find_made(there, *name);
        if (xlm_vocabulary_find_language(there, *name) < 0 || (a == NULL && b == NULL))
            continue;
        if (a == NULL || b == NULL)
            return xlm_error_set(error, EX_DATAERR, "its language %s is %s, there it is not", *name,
                                 a == NULL ? "one of text" : "a synthetic one");
        const char *base = xlm_vocabulary_language_names(v)[a->base], *other = xlm_vocabulary_language_names(there)[b->base];
        if (strcmp(base, other) != 0 || strcmp(a->steps, b->steps) != 0 || a->seed != b->seed)
            return xlm_error_set(error, EX_DATAERR, "its language %s is made of %s by %s with seed %" G_GINT64_FORMAT ", there "
                                 "of %s by %s with seed %" G_GINT64_FORMAT, *name, base, a->steps, a->seed, other, b->steps,
                                 b->seed);
    }
    return true;
}

/* The names of both, those of `first` first. g_ptr_array_unref; the names are borrowed. */
static GPtrArray *join_languages(const xlm_vocabulary *first, const xlm_vocabulary *other)
{
    GPtrArray *names = g_ptr_array_new();
    for (const char *const *name = xlm_vocabulary_language_names(first); *name != NULL; name++)
        g_ptr_array_add(names, (char *)*name);
    for (const char *const *name = xlm_vocabulary_language_names(other); *name != NULL; name++)
        if (xlm_vocabulary_find_language(first, *name) < 0)
            g_ptr_array_add(names, (char *)*name);
    return names;
}

static int find_name(const GPtrArray *names, const char *name)
{
    guint i;
    return g_ptr_array_find_with_equal_func((GPtrArray *)names, name, g_str_equal, &i) ? (int)i : -1;
}

/* Append the synthetic languages of v that are not in `made` yet, with their numbers in `names`. */
static void add_made(const xlm_vocabulary *v, const GPtrArray *names, GArray *made)
{
    int n;
    const xlm_vocabulary_made *of = xlm_vocabulary_made_languages(v, &n);
    for (int i = 0; i < n; i++) {
        xlm_vocabulary_made copy = of[i];
        copy.language = find_name(names, xlm_vocabulary_language_names(v)[of[i].language]);
        copy.base = find_name(names, xlm_vocabulary_language_names(v)[of[i].base]);
        bool known = false;
        for (guint k = 0; k < made->len; k++)
            known = known || g_array_index(made, xlm_vocabulary_made, k).language == copy.language;
        if (!known)
            g_array_append_val(made, copy);
    }
}

/* ---- joining ---- */

/* The subwords with the sum of their counts. NULL with an error when all together cannot be added up. */
static xlm_word_counts *add_counts(const xlm_vocabulary *first, const xlm_vocabulary *other, GError **error)
{
    const xlm_word_counts *a = xlm_vocabulary_subwords(first), *b = xlm_vocabulary_subwords(other);
    g_autoptr(xlm_word_counts) sum = xlm_word_counts_new();
    int64_t total = 0;
    for (uint32_t i = 0; i < xlm_word_counts_size(a); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(a, i, &size);
        const int64_t of_a = xlm_word_counts_count(a, i), of_b = xlm_word_counts_count(b, i);
        if (of_a > INT64_MAX - total || of_b > INT64_MAX - total - of_a) {
            xlm_error_set(error, EX_DATAERR, "the counts of its subwords are too large to be added up");
            return NULL;
        }
        total += of_a + of_b;
        xlm_word_counts_add(sum, subword, size, of_a + of_b);
    }
    return g_steal_pointer(&sum);
}

xlm_vocabulary *xlm_vocabulary_join(const xlm_vocabulary *first, const xlm_vocabulary *other, GError **error)
{
    if (!xlm_vocabulary_same_subwords(other, first, error) || !check_made(other, first, error))
        return NULL;
    const char *names[XLM_SPECIAL_TOKENS];
    xlm_vocabulary_settings settings = xlm_vocabulary_settings_of(first, names);
    g_autoptr(GPtrArray) languages = join_languages(first, other);
    g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(xlm_vocabulary_made));
    add_made(first, languages, made);
    add_made(other, languages, made);
    settings.languages = (int)languages->len;
    settings.language_names = (const char *const *)languages->pdata;
    settings.made = (const xlm_vocabulary_made *)(const void *)made->data;
    settings.made_languages = (int)made->len;
    g_autoptr(xlm_word_counts) sum = add_counts(first, other, error);
    return sum == NULL ? NULL : xlm_vocabulary_new(sum, xlm_segmenter_ref(xlm_vocabulary_segmenter(first)), &settings, error);
}
