/* xlm-mpi: the corpus to which xlm_prep --append adds text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/appended.h"

#include <string.h>

bool xlm_appended_is_made_language(const xlm_appended *appended, int language)
{
    return xlm_vocabulary_find_made(xlm_corpus_vocabulary(appended->corpus), language) != NULL;
}

bool xlm_appended_is_made(const xlm_appended *appended, const xlm_corpus_pairs *pairs)
{
    return xlm_appended_is_made_language(appended, pairs->source->language_id) ||
           xlm_appended_is_made_language(appended, pairs->target->language_id);
}

int64_t xlm_appended_dropped_below(const xlm_appended *appended, int language, int64_t sentence)
{
    const GArray *list = appended->dropped != NULL ? appended->dropped[language] : NULL;
    guint low = 0, high = list != NULL ? list->len : 0;
    while (low < high) {
        const guint middle = low + (high - low) / 2;
        if ((int64_t)g_array_index(list, uint64_t, middle) < sentence)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool xlm_appended_is_dropped(const xlm_appended *appended, int language, int64_t sentence)
{
    const int64_t below = xlm_appended_dropped_below(appended, language, sentence);
    const GArray *list = appended->dropped != NULL ? appended->dropped[language] : NULL;
    return list != NULL && below < list->len && (int64_t)g_array_index(list, uint64_t, below) == sentence;
}

/* Does it have pairs that were given as text? */
static bool has_pairs(const xlm_appended *appended)
{
    bool found = false;
    for (int split = 0; split < XLM_SPLITS; split++) {
        int n;
        const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(appended->corpus, split, &n);
        for (int i = 0; i < n; i++)
            found = found || !xlm_appended_is_made(appended, &pairs[i]);
    }
    return found;
}

static bool read_origin(xlm_appended *appended, const char *path, GError **error)
{
    g_autoptr(xlm_store) store = xlm_store_open(path, error);
    if (store == NULL || (appended->command = xlm_store_get_text(store, "/", "command", error)) == NULL ||
        (appended->inputs = xlm_store_read_strings(store, "/inputs", G_MAXINT32, NULL, error)) == NULL ||
        !xlm_earlier_split_read(&appended->split, store, error))
        return false;
    if (appended->split.assigned[0] == NULL && appended->split.held_out > 0 && has_pairs(appended))
        return xlm_error_set(error, EX_DATAERR, "%s: was made by an earlier version of xlm_prep, which did not list the "
                             "sentences that are held out or left out as translations; prepare its text again, or use --like and read "
                             "both corpora", path);
    return true;
}

xlm_appended *xlm_appended_open(const char *path, GError **error)
{
    if (strchr(path, ',') != NULL) {
        xlm_error_set(error, EX_USAGE, "--append=%s: text is added to one corpus; names of corpora have no commas", path);
        return NULL;
    }
    xlm_appended *appended = g_new0(xlm_appended, 1);
    if ((appended->corpus = xlm_corpus_open(path, error)) != NULL && read_origin(appended, path, error))
        return appended;
    xlm_appended_close(appended);
    return NULL;
}

void xlm_appended_close(xlm_appended *appended)
{
    if (appended == NULL)
        return;
    const int languages = appended->corpus != NULL ? xlm_vocabulary_languages(xlm_corpus_vocabulary(appended->corpus)) : 0;
    for (int i = 0; i < languages && appended->dropped != NULL; i++)
        g_array_free(appended->dropped[i], TRUE);
    g_free(appended->dropped);
    g_free(appended->dropped_counts);
    xlm_corpus_close(appended->corpus);
    g_free(appended->command);
    g_strfreev(appended->inputs);
    xlm_earlier_split_clear(&appended->split);
    g_free(appended);
}
