/* xlm-mpi: vocabularies in HDF5 files. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include <xlm/model.h> /* XLM_MAX_LANGUAGES */

#include "subwords/vocabulary.h"
#include "subwords/word_store.h"

/* Each version can hold something that earlier ones cannot. A file has the lowest version that it needs:
 *   1   special tokens are the first five words, and the segmenter is of the default class
 *   2   special tokens have any ids
 *   3   any segmenter
 *   4   a model of a segmenter that says so: text is brought into a normal form, or has tokens that are found before its words;
 *       languages have tokens, or one of them a segmenter of its own */
enum { FORMAT_VERSION = 4, ANY_SEGMENTER = 3 };

/* Attribute: the form of the tokens of languages. */
static const char LANGUAGE_FORM[] = "language_form";
/* A group, and an attribute: the segmenter of one language, and its id. */
static const char SECOND[] = "second", SECOND_LANGUAGE[] = "second_language";

/* "/languages" beside "/vocabulary". */
static char *languages_path(const char *path)
{
    return g_strdup_printf("%.*s/languages", (int)(strrchr(path, '/') - path), path);
}

/* ---- saving ---- */

static bool save_specials(const xlm_special_tokens *specials, xlm_store *store, const char *path, GError **error)
{
    bool good = xlm_store_set_int(store, path, "specials", specials->distinct, error);
    for (xlm_special i = 0; i < XLM_SPECIAL_TOKENS && good; i++)
        good = xlm_store_set_int(store, path, xlm_special_name(i), specials->id[i], error);
    return good;
}

static int64_t version_of(const xlm_vocabulary *v)
{
    int unused;
    const xlm_segmenter *segmenter = xlm_vocabulary_segmenter(v);
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(segmenter);
    if (xlm_vocabulary_language_form(v) != NULL || xlm_vocabulary_second_segmenter(v, &unused) != NULL)
        return FORMAT_VERSION;
    if (!cls->is_default)
        return cls->format_version != NULL ? cls->format_version(xlm_segmenter_model(segmenter)) : ANY_SEGMENTER;
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    return memcmp(specials->id, xlm_own_special_tokens.id, sizeof specials->id) == 0 ? 1 : 2;
}

static bool save_notes(const xlm_vocabulary *v, xlm_store *store, const char *path, GError **error)
{
    static const char usual[] = "valid UTF-8; controls, private use characters and U+FFFD to space; invisible format characters "
                                "out, except U+200C and U+200D; Unicode Form C; white space folded";
    const xlm_segmenter_class *cls = xlm_segmenter_class_of(xlm_vocabulary_segmenter(v));
    g_autofree char *words = g_strdup_printf("subwords; the index is the id; %s", cls->marks);
    return xlm_store_set_text(store, path, "normalisation", cls->normaliser != NULL ? cls->normalisation : usual, error) &&
           xlm_word_store_note(store, path, "words", "description", words, error) &&
           xlm_word_store_note(store, path, "counts", "description",
                               "how often each subword is in the training text of the corpus, or the number in the file of "
                               "xlm_prep --vocab; 0 for special tokens",
                               error);
}

static bool save_attributes(const xlm_vocabulary *v, xlm_store *store, const char *path, GError **error)
{
    const char *form = xlm_vocabulary_language_form(v);
    return (form == NULL || xlm_store_set_text(store, path, LANGUAGE_FORM, form, error)) &&
           xlm_store_set_int(store, path, "format_version", version_of(v), error) &&
           xlm_store_set_text(store, path, "words", xlm_word_mode_name(xlm_vocabulary_word_mode(v)), error) &&
           xlm_store_set_int(store, path, "lowercase", xlm_vocabulary_lowercase(v), error) &&
           save_specials(xlm_vocabulary_specials(v), store, path, error) && save_notes(v, store, path, error);
}

static bool save_languages(const xlm_vocabulary *v, xlm_store *store, const char *path, GError **error)
{
    g_autofree char *whole = languages_path(path);
    return xlm_store_write_strings(store, whole, (uint64_t)xlm_vocabulary_languages(v), xlm_vocabulary_language_names(v), error) &&
           xlm_store_set_text(store, whole, "description", "names of languages; the index is the id", error);
}

static bool save_twins(const xlm_vocabulary *v, const xlm_vocabulary_made *made, xlm_store *store, const char *group, int rank,
                       GError **error)
{
    const uint64_t dims[2] = {(uint64_t)made->twins, 2};
    const int32_t *twins = xlm_vocabulary_twins(v, made->language);
    g_autofree int32_t *rows = g_new(int32_t, 2 * (size_t)made->twins + 1);
    for (int32_t k = 0; k < made->twins; k++) {
        rows[2 * k] = made->originals[k];
        rows[2 * k + 1] = twins[made->originals[k]];
    }
    g_autofree char *path = xlm_word_store_member(group, "twins");
    return xlm_store_dataset(store, path, XLM_I32, 2, dims, XLM_STORE_CHECKED, error) &&
           xlm_store_write(store, path, 0, rank == 0 ? dims[0] : 0, rows, error) &&
           xlm_store_set_text(store, path, "description", "row: id of a subword, id of its twin", error);
}

static bool save_made(const xlm_vocabulary *v, const xlm_vocabulary_made *made, xlm_store *store, const char *path, int rank,
                      GError **error)
{
    const char *const *names = xlm_vocabulary_language_names(v);
    g_autofree char *group = g_strconcat(path, "/made/", names[made->language], NULL);
    return
        xlm_store_set_text(store, group, "description", "a language made of another one; text of it is written in subwords of "
                           "the base, which are exchanged for their twins", error) &&
        xlm_store_set_text(store, group, "base", names[made->base], error) &&
        xlm_store_set_text(store, group, "steps", made->steps, error) &&
        xlm_store_set_real(store, group, "shared", made->shared, error) &&
        xlm_store_set_int(store, group, "seed", made->seed, error) &&
        (*made->weights == '\0' || xlm_store_set_text(store, group, "weights", made->weights, error)) &&
        (made->twins == 0 || save_twins(v, made, store, group, rank, error));
}

static bool save_all_made(const xlm_vocabulary *v, xlm_store *store, const char *path, int rank, GError **error)
{
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(v, &n);
    for (int i = 0; i < n; i++)
        if (!save_made(v, &made[i], store, path, rank, error))
            return false;
    return true;
}

static bool save_second(const xlm_vocabulary *v, xlm_store *store, const char *path, int rank, GError **error)
{
    int language;
    const xlm_segmenter *second = xlm_vocabulary_second_segmenter(v, &language);
    g_autofree char *group = xlm_word_store_member(path, SECOND);
    return second == NULL || (xlm_segmenter_save(second, store, group, rank, error) &&
                              xlm_store_set_text(store, group, "description", "the segmenter of text of the language whose id is "
                                                 "the attribute second_language of the group above", error) &&
                              xlm_store_set_int(store, path, SECOND_LANGUAGE, language, error));
}

bool xlm_vocabulary_save(const xlm_vocabulary *v, xlm_store *store, const char *path, int rank, GError **error)
{
    const int64_t n = xlm_vocabulary_size(v);
    return xlm_word_store_save_words(store, path, "words", n, xlm_vocabulary_words(v), error) &&
           xlm_word_store_save_counts(store, path, "counts", rank, n, xlm_vocabulary_counts(v), error) &&
           xlm_segmenter_save(xlm_vocabulary_segmenter(v), store, path, rank, error) &&
           save_second(v, store, path, rank, error) &&
           save_languages(v, store, path, error) &&
           save_attributes(v, store, path, error) && save_all_made(v, store, path, rank, error);
}

/* ---- loading ---- */

/* Those of words[all] that are neither special tokens nor twins, which come last. NULL when one is missing or occurs twice. */
static xlm_word_counts *pick_subwords(const xlm_special_tokens *specials, uint64_t twins, char *const *words,
                                      const int64_t *counts, uint64_t all)
{
    if (all > INT32_MAX || all < twins + (uint64_t)specials->distinct ||
        (uint64_t)specials->ascending[specials->distinct - 1] >= all)
        return NULL;
    const int32_t n = (int32_t)(all - twins) - specials->distinct;
    xlm_word_counts *subwords = xlm_word_counts_new();
    for (int32_t i = 0; i < n; i++) {
        const int32_t id = xlm_ordinary_id(specials, i);
        xlm_word_counts_add(subwords, words[id], strlen(words[id]), counts[id]);
    }
    if (xlm_word_counts_size(subwords) != (uint32_t)n)
        g_clear_pointer(&subwords, xlm_word_counts_free);
    return subwords;
}

/* [out] names: those of the special tokens; g_free each. */
static xlm_word_counts *load_subwords(const xlm_store *store, const char *path, const xlm_special_tokens *specials,
                                      uint64_t twins, char *names[XLM_SPECIAL_TOKENS], GError **error)
{
    uint64_t all;
    g_auto(GStrv) words = xlm_word_store_load_words(store, path, "words", &all, error);
    if (words == NULL)
        return NULL;
    g_autofree int64_t *counts = xlm_word_store_load_counts(store, path, "counts", all, error);
    xlm_word_counts *subwords = counts == NULL ? NULL : pick_subwords(specials, twins, words, counts, all);
    for (int i = 0; subwords != NULL && i < XLM_SPECIAL_TOKENS; i++)
        names[i] = g_strdup(words[specials->id[i]]);
    if (counts != NULL && subwords == NULL)
        xlm_word_store_refuse(store, path, "a word is missing or occurs twice", error);
    return subwords;
}

/* Files of version 1 may have no ids; their special tokens are the first words. */
static bool load_specials(const xlm_store *store, const char *path, int64_t version, xlm_special_tokens *specials, GError **error)
{
    int64_t number, id[XLM_SPECIAL_TOKENS];
    int32_t ids[XLM_SPECIAL_TOKENS];
    g_autoptr(GError) why = NULL;
    *specials = xlm_own_special_tokens;
    if (!xlm_store_get_int(store, path, "specials", &number, error))
        return false;
    if (version > 1 || xlm_store_get_int(store, path, xlm_special_name(XLM_BOS), id, NULL)) {
        for (xlm_special i = 0; i < XLM_SPECIAL_TOKENS; i++) {
            if (!xlm_store_get_int(store, path, xlm_special_name(i), &id[i], error))
                return false;
            ids[i] = (int32_t)CLAMP(id[i], -1, INT32_MAX);
        }
        if (!xlm_special_tokens_set(specials, ids, &why)) {
            xlm_word_store_refuse(store, path, why->message, error);
            return false;
        }
    }
    return number == specials->distinct ||
           xlm_word_store_refuse(store, path, "attribute specials is not the number of special tokens", error);
}

static bool load_settings(const xlm_store *store, const char *path, xlm_vocabulary_settings *settings,
                          xlm_special_tokens *specials, GError **error)
{
    int64_t version, lowercase;
    if (!xlm_store_get_int(store, path, "format_version", &version, error) ||
        !xlm_store_get_int(store, path, "lowercase", &lowercase, error))
        return false;
    if (xlm_store_is_newer(store, path, version, FORMAT_VERSION, error))
        return false;
    if (version < 1)
        return xlm_word_store_refuse(store, path, "attribute format_version is less than 1", error);
    if (!load_specials(store, path, version, specials, error))
        return false;
    settings->specials = specials;
    g_autofree char *words = xlm_store_get_text(store, path, "words", error);
    if (words == NULL)
        return false;
    settings->lowercase = lowercase != 0;
    return xlm_word_mode_find(words, &settings->words) || xlm_word_store_refuse(store, path, "attribute words is neither `icu` nor `space`", error);
}

/* ---- synthetic languages ---- */

/* [out] made->originals: g_free. */
static bool load_twins(const xlm_store *store, const char *path, const xlm_special_tokens *specials, xlm_vocabulary_made *made,
                       GError **error)
{
    xlm_array array = {XLM_I32, XLM_UP_TO(INT32_MAX), 2};
    g_autofree int32_t *rows = xlm_store_read_all(store, path, &array, error);
    if (rows == NULL)
        return false;
    int32_t *originals = g_new(int32_t, array.rows + 1);
    bool good = true;
    for (uint64_t k = 0; good && k < array.rows; k++) {
        originals[k] = rows[2 * k];
        if (originals[k] < 0 || xlm_is_special(specials, originals[k]) || (k > 0 && originals[k] <= originals[k - 1]))
            good = xlm_word_store_refuse(store, path, "ids are not in their order", error);
    }
    made->twins = (int32_t)array.rows;
    made->originals = originals;
    return good;
}

static int find_name(char **names, const char *name)
{
    for (int i = 0; name != NULL && names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool load_made(const xlm_store *store, const char *group, const char *name, char **languages,
                      const xlm_special_tokens *specials, xlm_vocabulary_made *made, GError **error)
{
    g_autofree char *base = xlm_store_get_text(store, group, "base", error);
    made->language = find_name(languages, name);
    made->base = find_name(languages, base);
    made->weights = xlm_store_get_text(store, group, "weights", NULL);
    if (made->weights == NULL)
        made->weights = g_strdup("");
    bool good = base != NULL && (made->steps = xlm_store_get_text(store, group, "steps", error)) != NULL &&
                xlm_store_get_real(store, group, "shared", &made->shared, error) &&
                xlm_store_get_int(store, group, "seed", &made->seed, error);
    if (good && (made->language < 0 || made->base < 0 || made->language == made->base))
        return xlm_word_store_refuse(store, group, "is of no language of this file", error);
    if (good && !(made->shared >= 0 && made->shared <= 1))
        return xlm_word_store_refuse(store, group, "attribute shared is not from 0 to 1", error);
    g_autofree char *twins = xlm_word_store_member(group, "twins");
    if (good && xlm_store_has(store, twins))
        good = load_twins(store, twins, specials, made, error);
    return good;
}

static int by_language(const void *a, const void *b)
{
    return ((const xlm_vocabulary_made *)a)->language - ((const xlm_vocabulary_made *)b)->language;
}

/* [out] settings->made, by id of the language, and their number; the caller must free them also on failure. */
static bool load_all_made(const xlm_store *store, const char *path, char **languages, xlm_vocabulary_settings *settings,
                          GError **error)
{
    g_autofree char *root = xlm_word_store_member(path, "made");
    g_auto(GStrv) names = NULL;
    bool good = !xlm_store_has(store, root) || (names = xlm_store_list(store, root, error)) != NULL;
    const int n = names != NULL ? (int)g_strv_length(names) : 0;
    xlm_vocabulary_made *made = g_new0(xlm_vocabulary_made, n);
    for (int i = 0; i < n && good; i++) {
        g_autofree char *group = xlm_word_store_member(root, names[i]);
        good = load_made(store, group, names[i], languages, settings->specials, &made[i], error);
    }
    if (n > 1)
        qsort(made, (size_t)n, sizeof *made, by_language);
    settings->made = made;
    settings->made_languages = n;
    return good;
}

static uint64_t count_twins(const xlm_vocabulary_settings *settings)
{
    uint64_t twins = 0;
    for (int i = 0; i < settings->made_languages; i++)
        twins += (uint64_t)settings->made[i].twins;
    return twins;
}

/* Is an id of a twin's original beyond the subwords? */
static bool has_strange_twins(const xlm_vocabulary_settings *settings, const xlm_word_counts *subwords)
{
    for (int i = 0; i < settings->made_languages; i++) {
        const xlm_vocabulary_made *made = &settings->made[i];
        if (made->twins > 0 && (uint32_t)xlm_ordinary_number(settings->specials, made->originals[made->twins - 1]) >=
                                   xlm_word_counts_size(subwords))
            return true;
    }
    return false;
}

static char **load_languages(const xlm_store *store, const char *path, uint64_t *n, GError **error)
{
    g_autofree char *whole = languages_path(path);
    return xlm_store_read_strings(store, whole, XLM_MAX_LANGUAGES, n, error);
}

/* Names of languages, distinct and not empty. */
static bool check_languages(const xlm_store *store, char **names, uint64_t n, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    bool good = true;
    for (uint64_t i = 0; i < n && good; i++)
        good = *names[i] != '\0' && strchr(names[i], '/') == NULL && g_utf8_validate(names[i], -1, NULL) &&
               g_hash_table_add(seen, names[i]);
    return good || xlm_word_store_refuse(store, "/languages", "are not names of different languages, or too many", error);
}

/* The ids of twins follow from the originals; the file must agree. */
static bool check_twins(const xlm_store *store, const char *path, const xlm_vocabulary *v, GError **error)
{
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(v, &n);
    bool good = true;
    for (int i = 0; i < n && good; i++) {
        const int32_t *twin = xlm_vocabulary_twins(v, made[i].language);
        g_autofree char *group = g_strconcat(path, "/made/", xlm_vocabulary_language_names(v)[made[i].language], NULL);
        g_autofree char *twins = xlm_word_store_member(group, "twins");
        xlm_array array = {XLM_I32, (uint64_t)made[i].twins, 2};
        g_autofree int32_t *rows = made[i].twins > 0 ? xlm_store_read_all(store, twins, &array, error) : NULL;
        good = made[i].twins == 0 || rows != NULL;
        for (int32_t k = 0; k < made[i].twins && good; k++)
            if (rows[2 * k + 1] != twin[made[i].originals[k]])
                good = xlm_word_store_refuse(store, twins, "ids of twins are not those after the subwords", error);
    }
    return good;
}

/* [out] settings->second: unref it. */
static bool load_second(const xlm_store *store, const char *path, xlm_vocabulary_settings *settings, GError **error)
{
    int64_t language;
    g_autofree char *group = xlm_word_store_member(path, SECOND);
    if (!xlm_store_has(store, group))
        return true;
    if (!xlm_store_get_int(store, path, SECOND_LANGUAGE, &language, error))
        return false;
    settings->second_language = (int)CLAMP(language, -1, INT32_MAX);
    return (settings->second = xlm_segmenter_load(store, group, error)) != NULL;
}

xlm_vocabulary *xlm_vocabulary_load(const xlm_store *store, const char *path, GError **error)
{
    xlm_vocabulary_settings settings = {.in_order = true};
    xlm_special_tokens specials;
    char *special_names[XLM_SPECIAL_TOKENS] = {NULL};
    if (!load_settings(store, path, &settings, &specials, error))
        return NULL;
    uint64_t n = 0;
    g_autoptr(GError) why = NULL;
    g_autofree char *form = xlm_store_get_text(store, path, LANGUAGE_FORM, NULL);
    xlm_vocabulary *v = NULL;
    xlm_segmenter *segmenter = NULL;
    g_autoptr(xlm_word_counts) subwords = NULL;
    g_auto(GStrv) languages = load_languages(store, path, &n, error);
    if (languages != NULL && check_languages(store, languages, n, error) &&
        load_all_made(store, path, languages, &settings, error))
        subwords = load_subwords(store, path, &specials, count_twins(&settings), special_names, error);
    if (subwords != NULL && has_strange_twins(&settings, subwords))
        xlm_word_store_refuse(store, path, "a twin has no original", error);
    else if (subwords != NULL && load_second(store, path, &settings, error) &&
             (segmenter = xlm_segmenter_load(store, path, error)) != NULL) {
        settings.special_names = (const char *const *)special_names;
        settings.languages = (int)n;
        settings.language_form = form;
        settings.language_names = (const char *const *)languages;
        v = xlm_vocabulary_new(subwords, segmenter, &settings, &why);
    }
    if (why != NULL)
        xlm_word_store_refuse(store, path, why->message, error);
    xlm_vocabulary_made_free((xlm_vocabulary_made *)(uintptr_t)settings.made, settings.made_languages);
    xlm_segmenter_unref((xlm_segmenter *)(uintptr_t)settings.second);
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        g_free(special_names[i]);
    if (v != NULL && !check_twins(store, path, v, error))
        g_clear_pointer(&v, xlm_vocabulary_free);
    return v;
}
