/* xlm-mpi: vocabularies that are made from others. SPDX-License-Identifier: GPL-3.0-or-later */
#include "subwords/vocabulary_change.h"

#include <string.h>

#include "subwords/tokenizer.h"
#include "text/lines.h"

/* Settings of a new vocabulary that are copied from the old one, synthetic languages included. names: [XLM_SPECIAL_TOKENS]. */
static xlm_vocabulary_settings settings_of(const xlm_vocabulary *v, const char **names)
{
    xlm_vocabulary_settings settings = xlm_vocabulary_settings_of(v, names);
    settings.made = xlm_vocabulary_made_languages(v, &settings.made_languages);
    return settings;
}

/* what: the option for messages. */
static bool check_alone(const xlm_vocabulary *v, const char *what, GError **error)
{
    int language;
    return xlm_vocabulary_second_segmenter(v, &language) == NULL ||
           xlm_error_set(error, EX_DATAERR, "%s is for a vocabulary with one segmenter, and this one has two (text of %s has its "
                         "own)", what, xlm_vocabulary_language_names(v)[language]);
}

/* ---- fewer subwords ---- */

/* If a twin is used, so is its original. */
static void use_originals(const xlm_vocabulary *v, uint8_t *used)
{
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(v, &n);
    for (int i = 0; i < n; i++) {
        const int32_t *twins = xlm_vocabulary_twins(v, made[i].language);
        for (int32_t k = 0; k < made[i].twins; k++)
            used[made[i].originals[k]] |= used[twins[made[i].originals[k]]];
    }
}

/* Used subwords, with all tokens of languages, in no particular order. */
static xlm_word_counts *find_used(const xlm_vocabulary *v, const uint8_t *used)
{
    const xlm_special_tokens *specials = xlm_vocabulary_specials(v);
    const xlm_word_counts *subwords = xlm_vocabulary_subwords(v);
    xlm_word_counts *kept = xlm_word_counts_new();
    for (uint32_t i = 0; i < xlm_word_counts_size(subwords); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(subwords, i, &size);
        const int32_t id = xlm_ordinary_id(specials, (int32_t)i);
        if (used[id] || xlm_is_language_token(specials, id))
            xlm_word_counts_add(kept, subword, size, 0);
    }
    return kept;
}

/* Ids in the reduced vocabulary, [size], -1 for removed ones; and the subwords that are kept, in their order. */
static int32_t *renumber(const xlm_vocabulary *v, const xlm_word_counts *kept, xlm_word_counts *ordered)
{
    const int32_t size = (int32_t)xlm_vocabulary_size(v);
    const xlm_word_counts *subwords = xlm_vocabulary_subwords(v);
    g_autofree uint8_t *stays = g_new0(uint8_t, size);
    int n;
    const xlm_vocabulary_made *made = xlm_vocabulary_made_languages(v, &n);
    for (int32_t id = 0; id < size; id++)
        stays[id] = xlm_vocabulary_is_special(v, id);
    for (uint32_t i = 0; i < xlm_word_counts_size(subwords); i++) {
        size_t length;
        const char *subword = xlm_word_counts_word(subwords, i, &length);
        if (xlm_word_counts_index(kept, subword, length) == UINT32_MAX)
            continue;
        stays[xlm_ordinary_id(xlm_vocabulary_specials(v), (int32_t)i)] = 1;
        xlm_word_counts_add(ordered, subword, length, xlm_word_counts_count(subwords, i));
    }
    for (int i = 0; i < n; i++)
        for (int32_t k = 0; k < made[i].twins; k++)
            stays[xlm_vocabulary_twins(v, made[i].language)[made[i].originals[k]]] = stays[made[i].originals[k]];
    int32_t *ids = g_new(int32_t, size);
    for (int32_t id = 0, next = 0; id < size; id++)
        ids[id] = stays[id] ? next++ : -1;
    return ids;
}

/* The synthetic languages with their twins by new ids. g_free each list of originals, and the array. */
static xlm_vocabulary_made *renumber_made(const xlm_vocabulary *v, const int32_t *ids, int *n)
{
    const xlm_vocabulary_made *old = xlm_vocabulary_made_languages(v, n);
    xlm_vocabulary_made *made = g_new0(xlm_vocabulary_made, *n);
    for (int i = 0; i < *n; i++) {
        int32_t *originals = g_new(int32_t, old[i].twins);
        made[i] = old[i];
        made[i].originals = originals;
        made[i].twins = 0;
        for (int32_t k = 0; k < old[i].twins; k++)
            if (ids[old[i].originals[k]] >= 0)
                originals[made[i].twins++] = ids[old[i].originals[k]];
    }
    return made;
}

/* kept: the used subwords; appends the subwords that they need. */
static xlm_vocabulary *make_reduced(const xlm_vocabulary *v, xlm_word_counts *kept, GError **error)
{
    xlm_segmenter *segmenter = xlm_segmenter_reduce(xlm_vocabulary_segmenter(v), xlm_vocabulary_subwords(v), kept, error);
    if (segmenter == NULL)
        return NULL;
    g_autoptr(xlm_word_counts) ordered = xlm_word_counts_new();
    g_autofree int32_t *ids = renumber(v, kept, ordered);
    int32_t special[XLM_SPECIAL_TOKENS];
    xlm_special_tokens specials;
    const char *names[XLM_SPECIAL_TOKENS];
    xlm_vocabulary_settings settings = settings_of(v, names);
    for (int i = 0; i < XLM_SPECIAL_TOKENS; i++)
        special[i] = ids[xlm_vocabulary_special(v, (xlm_special)i)];
    xlm_special_tokens_set(&specials, special, NULL); /* they are still distinct */
    g_autofree xlm_vocabulary_made *made = renumber_made(v, ids, &settings.made_languages);
    settings.made = made;
    settings.specials = &specials;
    xlm_vocabulary *reduced = xlm_vocabulary_new(ordered, segmenter, &settings, error);
    for (int i = 0; i < settings.made_languages; i++)
        g_free((int32_t *)(uintptr_t)made[i].originals);
    return reduced;
}

xlm_vocabulary *xlm_vocabulary_reduce(const xlm_vocabulary *v, const uint8_t *used, const char *what, GError **error)
{
    if (!check_alone(v, what, error))
        return NULL;
    if (!xlm_segmenter_can_change(xlm_vocabulary_segmenter(v), what, error))
        return NULL;
    g_autofree uint8_t *all = g_memdup2(used, (gsize)xlm_vocabulary_size(v));
    use_originals(v, all);
    g_autoptr(xlm_word_counts) kept = find_used(v, all);
    return make_reduced(v, kept, error);
}

/* ---- words of a file ---- */

typedef struct word_reader {
    const xlm_segmenter *segmenter;
    xlm_tokenizer *tokenizer; /* splits lines */
    xlm_normaliser *normaliser;
    xlm_word_counts *words;
} word_reader;

/* Read one line. Empty lines are ignored. */
static bool read_word(word_reader *r, const char *line, size_t size, GError **error)
{
    const char *normal;
    size_t length, n;
    const xlm_word *words;
    if (!xlm_normaliser_run(r->normaliser, line, size, &normal, &length, error))
        return false;
    if (length == 0)
        return true;
    if (!xlm_tokenizer_words(r->tokenizer, -1, normal, length, &words, &n, error))
        return false;
    g_autofree char *word = n == 1 ? g_strndup(normal + words[0].start, words[0].size) : NULL;
    g_autofree char *whole = word != NULL ? xlm_segmenter_whole(r->segmenter, word) : NULL;
    if (whole != NULL)
        xlm_word_counts_add(r->words, whole, strlen(whole), 0);
    else
        xlm_error_set(error, EX_DATAERR, "`%s` is not one word to the segmenter; give a word a line", normal);
    return whole != NULL;
}

static bool read_words(word_reader *r, xlm_lines *lines, GError **error)
{
    const char *line;
    size_t size;
    int got;
    while ((got = xlm_lines_next(lines, &line, &size, error)) == 1) {
        GError *why = NULL;
        if (!read_word(r, line, size, &why)) {
            g_prefix_error(&why, "%s:%" G_GINT64_FORMAT ": ", xlm_lines_path(lines), xlm_lines_number(lines));
            g_propagate_error(error, why);
            return false;
        }
    }
    return got == 0;
}

xlm_word_counts *xlm_vocabulary_read_words(const xlm_vocabulary *v, const char *path, GError **error)
{
    if (!xlm_segmenter_can_change(xlm_vocabulary_segmenter(v), path, error))
        return NULL;
    xlm_lines *lines = xlm_lines_open(path, error);
    if (lines == NULL)
        return NULL;
    word_reader r = {.segmenter = xlm_vocabulary_segmenter(v), .words = xlm_word_counts_new()};
    const bool good = (r.tokenizer = xlm_tokenizer_new(v, error)) != NULL &&
                      (r.normaliser = xlm_segmenter_normaliser(r.segmenter, xlm_vocabulary_lowercase(v), error)) != NULL &&
                      read_words(&r, lines, error) &&
                      (xlm_word_counts_size(r.words) > 0 || xlm_error_set(error, EX_DATAERR, "%s: has no words", path));
    xlm_normaliser_free(r.normaliser);
    xlm_tokenizer_free(r.tokenizer);
    xlm_lines_close(lines);
    if (!good)
        g_clear_pointer(&r.words, xlm_word_counts_free);
    return r.words;
}

/* ---- more subwords ---- */

/* Does the new segmenter make one subword of each of these? If it merged parts differently within a word, adding them would be
 * useless. */
static bool check_whole(const xlm_segmenter *segmenter, const xlm_word_counts *subwords, const xlm_word_counts *wanted,
                        GError **error)
{
    xlm_cutter *cutter = xlm_cutter_new(segmenter, subwords);
    bool good = true;
    for (uint32_t i = 0; i < xlm_word_counts_size(wanted) && good; i++) {
        size_t size, n;
        const char *subword = xlm_word_counts_word(wanted, i, &size), *cut = xlm_cutter_subword(cutter, subword, &n);
        good = (n == size && memcmp(cut, subword, n) == 0) ||
               xlm_error_set(error, EX_DATAERR, "`%s` cannot be added: it is still cut into `%.*s`", subword, (int)n, cut);
    }
    xlm_cutter_free(cutter);
    return good;
}

static char **all_languages(const xlm_vocabulary *v, const char *const *languages)
{
    GPtrArray *names = g_ptr_array_new();
    for (const char *const *name = xlm_vocabulary_language_names(v); *name != NULL; name++)
        g_ptr_array_add(names, g_strdup(*name));
    for (; languages != NULL && *languages != NULL; languages++)
        if (xlm_vocabulary_find_language(v, *languages) < 0)
            g_ptr_array_add(names, g_strdup(*languages));
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(names, FALSE);
}

xlm_vocabulary *xlm_vocabulary_enlarge(const xlm_vocabulary *v, const xlm_word_counts *wanted, const char *const *languages,
                                       const char *what, GError **error)
{
    g_autoptr(xlm_word_counts) subwords = xlm_word_counts_new(), added = xlm_word_counts_new();
    xlm_word_counts_add_all(subwords, xlm_vocabulary_subwords(v), 1);
    xlm_segmenter *segmenter = NULL;
    if (xlm_word_counts_size(wanted) > 0 && !check_alone(v, what, error))
        return NULL;
    if (xlm_word_counts_size(wanted) == 0)
        segmenter = xlm_segmenter_ref(xlm_vocabulary_segmenter(v));
    else if (xlm_segmenter_can_change(xlm_vocabulary_segmenter(v), what, error))
        segmenter = xlm_segmenter_enlarge(xlm_vocabulary_segmenter(v), subwords, wanted, added, error);
    xlm_vocabulary *enlarged = NULL;
    xlm_word_counts_add_all(subwords, added, 1);
    if (segmenter != NULL && check_whole(segmenter, subwords, wanted, error)) {
        const char *names[XLM_SPECIAL_TOKENS];
        g_auto(GStrv) all = all_languages(v, languages);
        xlm_vocabulary_settings settings = settings_of(v, names);
        settings.languages = (int)g_strv_length(all);
        settings.language_names = (const char *const *)all;
        enlarged = xlm_vocabulary_new(subwords, xlm_segmenter_ref(segmenter), &settings, error);
    }
    xlm_segmenter_unref(segmenter);
    return enlarged;
}

xlm_vocabulary *xlm_vocabulary_unite(const xlm_vocabulary *v, const xlm_vocabulary *other, const char *what, GError **error)
{
    const xlm_word_counts *there = xlm_vocabulary_subwords(v), *here = xlm_vocabulary_subwords(other);
    g_autoptr(xlm_word_counts) wanted = xlm_word_counts_new();
    for (uint32_t i = 0; i < xlm_word_counts_size(here); i++) {
        size_t size;
        const char *subword = xlm_word_counts_word(here, i, &size);
        xlm_segmenter_add_missing(there, subword, size, wanted);
    }
    return xlm_vocabulary_enlarge(v, wanted, xlm_vocabulary_language_names(other), what, error);
}
