/* xlm-mpi: pairs and words of all text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include "base/log.h"
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
    int languages;
    xlm_cutter *cutter; /* if a segmenter of lines is given, to count its subwords instead of words; else NULL */
    xlm_splitter **splitter; /* [languages] */
    uint64_t seed, limit; /* of the sample: digests of digests below the limit */
    xlm_prep_words *words;
};

static void free_counting(struct counting *counting)
{
    for (int i = 0; i < counting->languages; i++)
        xlm_splitter_free(counting->splitter[i]);
    xlm_cutter_free(counting->cutter);
    g_free(counting->splitter);
    g_free(counting);
}

static struct counting *new_counting(const xlm_prep_options *options, xlm_prep_words *words, GError **error)
{
    struct counting *counting = g_new0(struct counting, 1);
    counting->words = words;
    counting->languages = (int)options->languages->len;
    counting->splitter = g_new0(xlm_splitter *, counting->languages);
    counting->seed = xlm_digest("sample", 6, (uint64_t)options->seed);
    counting->limit = options->sample < 1 ? (uint64_t)(options->sample * 18446744073709551616.0) : UINT64_MAX;
    const xlm_segmenter *given = options->like != NULL ? xlm_vocabulary_segmenter(options->like) : NULL;
    if (given != NULL && xlm_segmenter_class_of(given)->input == XLM_SEGMENTS_LINES)
        counting->cutter = xlm_cutter_new(given, xlm_vocabulary_subwords(options->like));
    bool good = true;
    for (int i = 0; i < counting->languages && good; i++) {
        counting->splitter[i] = xlm_splitter_new(options->words, options->languages->pdata[i], error);
        good = counting->splitter[i] != NULL;
    }
    if (!good)
        g_clear_pointer(&counting, free_counting);
    return counting;
}

/* Count the words of a text, or its subwords. */
static void count_text(struct counting *counting, xlm_shared_words *words, int language, const char *text, size_t size)
{
    size_t n;
    xlm_word_counts *table = xlm_shared_words_table(words, language);
    if (counting->cutter != NULL) {
        const char *subwords = xlm_cutter_word(counting->cutter, text, size, &n);
        xlm_word_counts_add_text(table, subwords, n, 1);
    } else {
        const xlm_word *word = xlm_splitter_split(counting->splitter[language], text, size, &n);
        xlm_word_counts_add_words(table, text, word, n);
    }
    xlm_shared_words_bound(words, language);
}

static void count_sentence(void *data, const xlm_prep_source *source, const xlm_sentence *sentence)
{
    struct counting *counting = data;
    const xlm_prep_words *words = counting->words;
    for (int side = 0; side < source->sides && sentence->assignment == XLM_ASSIGNED_TRAIN; side++) {
        const uint64_t *digest = &sentence->digest[side];
        count_text(counting, words->all, source->language[side], sentence->text[side], sentence->size[side]);
        if (words->sampled != words->all && xlm_digest(digest, sizeof *digest, counting->seed) < counting->limit)
            count_text(counting, words->sampled, source->language[side], sentence->text[side], sentence->size[side]);
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
    GError *failure = NULL;
    struct counting *counting = new_counting(options, words, &failure);
    const bool good = xlm_comm_agree_on(comm, failure, error) &&
                      xlm_scan_sources(comm, options, 0, -1, "counting words", reader, count_sentence, counting, error);
    if (counting != NULL)
        free_counting(counting);
    return good && settle(comm, words, error) && has_words(words, languages, error);
}
