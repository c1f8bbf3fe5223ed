/* xlm-mpi: pairs and words of all text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include <string.h>

#include "base/log.h"
#include "base/number_digest.h"
#include "base/rng.h"

/* ---- pairs ---- */

static void add_pair(void *assignments, const xlm_prep_source *source G_GNUC_UNUSED, const xlm_sentence *sentence)
{
    xlm_assignments_add_pair(assignments, sentence->digest[0], sentence->digest[1]);
}

bool xlm_prep_pairs(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                    GError **error)
{
    if (!xlm_scan_sources(comm, options, (guint)options->monolingual_sources, -1, "looking for held-out pairs", reader, add_pair,
                          reader->assignments, error))
        return false;
    xlm_assignments_finish(reader->assignments, comm);
    return true;
}

/* ---- words ---- */

struct counting {
    const xlm_vocabulary *given; /* if its segmenter takes lines, whose subwords are counted instead of words; else NULL */
    xlm_cutter *cutter, *second; /* of the given segmenters. second: of one language; NULL: the first is of all */
    int second_language;
    xlm_splitter *const *splitter; /* [languages] */
    uint64_t seed, limit; /* of the sample: digests of digests below the limit */
    xlm_prep_words *words;
};

static struct counting new_counting(const xlm_prep_options *options, const xlm_sentence_reader *reader, xlm_prep_words *words)
{
    struct counting counting = {.splitter = reader->splitter, .seed = xlm_digest("sample", 6, (uint64_t)options->seed),
                                .limit = options->sample < 1 ? (uint64_t)(options->sample * 18446744073709551616.0) : UINT64_MAX,
                                .words = words};
    const xlm_vocabulary *like = options->like;
    if (like == NULL || xlm_segmenter_class_of(xlm_vocabulary_segmenter(like))->input != XLM_SEGMENTS_LINES)
        return counting;
    const xlm_segmenter *second = xlm_vocabulary_second_segmenter(like, &counting.second_language);
    counting.given = like;
    counting.cutter = xlm_cutter_new(xlm_vocabulary_segmenter(like), xlm_vocabulary_subwords(like));
    if (second != NULL)
        counting.second = xlm_cutter_new(second, xlm_vocabulary_subwords(like));
    return counting;
}

/* The token of the language, with which its sentences begin; NULL: there is none. */
static const char *token_of(const xlm_vocabulary *given, int language)
{
    const int32_t id = given != NULL ? xlm_language_token(xlm_vocabulary_specials(given), language) : -1;
    return id >= 0 ? xlm_vocabulary_words(given)[id] : NULL;
}

/* Count the words of a text, or its subwords, in each of the tables. */
static void count_text(const struct counting *counting, xlm_shared_words *const *words, int tables, int language,
                       const char *text, size_t size)
{
    size_t n;
    xlm_cutter *cutter = counting->second != NULL && language == counting->second_language ? counting->second : counting->cutter;
    const char *subwords = cutter != NULL ? xlm_cutter_word(cutter, text, size, &n) : NULL;
    const char *token = size > 0 ? token_of(counting->given, language) : NULL;
    const xlm_word *word = subwords == NULL ? xlm_splitter_split(counting->splitter[language], text, size, &n) : NULL;
    for (int i = 0; i < tables; i++) {
        xlm_word_counts *table = xlm_shared_words_table(words[i], language);
        if (subwords != NULL)
            xlm_word_counts_add_text(table, subwords, n, 1);
        else
            xlm_word_counts_add_words(table, text, word, n);
        if (token != NULL)
            xlm_word_counts_add(table, token, strlen(token), 1);
        xlm_shared_words_bound(words[i], language);
    }
}

static void count_sentence(void *data, const xlm_prep_source *source, const xlm_sentence *sentence)
{
    const struct counting *counting = data;
    xlm_shared_words *const words[] = {counting->words->all, counting->words->sampled};
    for (int side = 0; side < source->sides && sentence->assignment == XLM_ASSIGNED_TRAIN; side++) {
        const int64_t digest = (int64_t)sentence->digest[side];
        const bool sampled = words[0] != words[1] && xlm_digest_int64(&digest, 1, counting->seed) < counting->limit;
        count_text(counting, words, 1 + sampled, source->language[side], sentence->text[side], sentence->size[side]);
    }
}

void xlm_prep_words_free(xlm_prep_words *words)
{
    if (words->sampled != words->all)
        xlm_shared_words_free(words->sampled);
    xlm_shared_words_free(words->all);
}

static bool settle(const xlm_comm *comm, const xlm_prep_words *words, GError **error)
{
    if (!xlm_shared_words_settle(words->all, comm, error) ||
        (words->sampled != words->all && !xlm_shared_words_settle(words->sampled, comm, error)))
        return false;
    const int64_t spilled = xlm_shared_words_spilled(words->all) +
                            (words->sampled != words->all ? xlm_shared_words_spilled(words->sampled) : 0);
    if (spilled > 0)
        xlm_log_info("%.1f MB of word counts are in scratch files, as they take more than --memory", (double)spilled / 1e6);
    return true;
}

static bool has_words(const xlm_prep_words *words, int languages, GError **error)
{
    for (int i = 0; i < languages; i++)
        if (xlm_shared_words_total(words->all, i) > 0)
            return true;
    return xlm_error_set(error, EX_DATAERR, "no sentence to train on: all that have text are held out, or left out by a "
                         "rule such as --max-words; lower --held-out, or loosen the rules");
}

bool xlm_prep_count(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                    xlm_prep_words *words, GError **error)
{
    const int languages = (int)options->languages->len, tables = options->sample < 1 ? 2 : 1;
    const int64_t memory = xlm_prep_memory(options) / tables;
    g_autofree char *scratch = xlm_prep_scratch(options);
    words->all = words->sampled = xlm_shared_words_new(languages, memory, scratch);
    if (tables == 2)
        words->sampled = xlm_shared_words_new(languages, memory, scratch);
    struct counting counting = new_counting(options, reader, words);
    const bool good = xlm_scan_sources(comm, options, 0, -1, "counting words", reader, count_sentence, &counting, error);
    xlm_cutter_free(counting.cutter);
    xlm_cutter_free(counting.second);
    return good && settle(comm, words, error) && has_words(words, languages, error);
}
