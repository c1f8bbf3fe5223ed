/* xlm-mpi: a batch annotated with translations of its tokens. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream/translations.h"

#include <stddef.h>

#include "lexicon/dictionary.h"
#include "stream/stage.h"

void xlm_annotate_translations(const xlm_translations *translations, const xlm_draws *draws, xlm_batch_layout *batch)
{
    const xlm_rng_key key = xlm_draws_key(draws, XLM_RNG_SWITCH);
    int32_t *language = xlm_batch_layout_annotate(batch, "translation_languages", XLM_AXIS_TOKENS);
    int32_t *translation = xlm_batch_layout_annotate(batch, "translations", XLM_AXIS_TOKENS);
    for (int32_t s = 0; s < batch->sequences; s++)
        for (int32_t first = batch->offsets[s], row = first; row < batch->offsets[s + 1]; row++) {
            const int32_t *list;
            int32_t other;
            const int32_t n = xlm_translations_find(translations, batch->unmasked[row], batch->unswitched[row], &list,
                                                    &other);
            translation[row] = language[row] = -1;
            if (n > 0) { /* word 0 of the draw decides whether the token is switched (switching.c) */
                translation[row] = list[xlm_rng_below(xlm_draws_of_token(draws, key, s, row - first).v[1], (uint64_t)n)];
                language[row] = other;
            }
        }
}

/* ---- the stage ---- */

typedef struct options {
    char *dictionary; /* NULL: none */
} options;

static const xlm_option translation_options[] = {
    {"dictionary", XLM_OPTION_TEXT, "", 0, 0, NULL,
     "file of xlm_dict with the dictionary by which tokens are switched to the other language (DICT-MLM)",
     offsetof(options, dictionary)},
    XLM_OPTION_END,
};

typedef struct annotator {
    xlm_dictionary *dictionary;
    xlm_translations *translations;
} annotator;

static void close_annotator(void *stage)
{
    annotator *a = stage;
    xlm_translations_free(a->translations);
    xlm_dictionary_free(a->dictionary);
    g_free(a);
}

/* Is `language` the language, or one of the pair of languages, that a stream reads under this name? */
static bool reads(const char *name, const char *language)
{
    g_auto(GStrv) sides = g_strsplit(name, "-", 2); /* no language has a "-" in its name */
    return g_strv_contains((const char *const *)sides, language);
}

/* Checks that the stream reads a language of its dictionary. If no language is named, it reads all. */
static bool check_languages(const xlm_opening *opening, const char *path, const xlm_dictionary *dictionary, GError **error)
{
    const char *const *known = xlm_vocabulary_language_names(opening->vocabulary);
    bool found = opening->languages == NULL;
    for (char *const *language = opening->languages; !found && *language != NULL; language++)
        for (int side = 0; side < 2; side++)
            found |= reads(*language, known[dictionary->language[side]]);
    return found || xlm_error_set(error, EX_CONFIG, "[stream %s]: %s is of %s and %s, and the stream reads neither",
                                  opening->stream, path, known[dictionary->language[0]], known[dictionary->language[1]]);
}

static bool open_annotator(xlm_opening *opening, const void *pointer, void **stage, GError **error)
{
    const options *o = pointer;
    if (o->dictionary == NULL)
        return true;
    xlm_dictionary *dictionary = xlm_dictionary_read(o->dictionary, XLM_DICTIONARY_PAIRS, opening->vocabulary, opening->digest,
                                                     error);
    if (dictionary == NULL) {
        g_prefix_error(error, "[stream %s]: ", opening->stream);
        return false;
    }
    annotator *a = g_new(annotator, 1);
    a->dictionary = dictionary;
    a->translations = xlm_translations_new(dictionary, xlm_vocabulary_size(opening->vocabulary));
    if (check_languages(opening, o->dictionary, dictionary, error)) {
        *stage = a;
        return true;
    }
    close_annotator(a);
    return false;
}

static bool annotate(const void *stage, const xlm_draws *draws, const xlm_sequences *sequences, xlm_batch_layout *batch,
                     GError **error)
{
    (void)sequences, (void)error;
    const annotator *a = stage;
    xlm_annotate_translations(a->translations, draws, batch);
    return true;
}

static const xlm_dictionary *dictionary_of(const void *stage)
{
    const annotator *a = stage;
    return a->dictionary;
}

const xlm_stage_class xlm_stage_translations = {
    .kind = XLM_STAGE_ANNOTATE,
    .options = translation_options,
    .options_size = sizeof(options),
    .open = open_annotator,
    .close = close_annotator,
    .annotate = {.names = (const char *const[]){"translations", "translation_languages", NULL}, .annotate = annotate,
                 .dictionary = dictionary_of},
};
