/* xlm-mpi: the vocabulary, made from the words of all text. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include <math.h>

#include "base/log.h"
#include "prep/like.h"
#include "prep/segmenter_options.h"

struct making {
    const xlm_comm *comm;
    const xlm_prep_options *options;
    xlm_prep_words words;
    int languages;
    int64_t learning_memory; /* bytes that rank 0 may take to learn */
};

/* ---- tables of all ranks ---- */

/* Add up all ranks' tables on rank 0; the others are left with an empty table. Ranks send one after another, so that no rank has
 * more than one table besides its own in memory. Collective. */
static bool gather_counts(const xlm_comm *comm, xlm_word_counts *counts, bool sorted, GError **error)
{
    GError *failure = NULL;
    for (int r = 1; r < comm->ranks; r++) {
        size_t size = 0;
        void *bytes = comm->rank == r ? xlm_word_counts_pack(counts, &size) : NULL;
        xlm_comm_bytes_to_first(comm, r, &bytes, &size);
        if (comm->rank == 0 && failure == NULL)
            xlm_word_counts_unpack(counts, bytes, size, &failure);
        g_free(bytes);
    }
    if (comm->rank > 0)
        xlm_word_counts_clear(counts);
    else if (sorted)
        xlm_word_counts_sort(counts);
    return xlm_comm_agree_on(comm, failure, error);
}

/* Rank 0's table, or NULL, to all ranks. The others' *counts is NULL before. Collective. */
static bool share_counts(const xlm_comm *comm, xlm_word_counts **counts, GError **error)
{
    size_t size = 0;
    void *bytes = comm->rank == 0 && *counts != NULL ? xlm_word_counts_pack(*counts, &size) : NULL;
    int64_t there = *counts != NULL;
    xlm_comm_broadcast(comm, 0, &there, sizeof there);
    xlm_comm_broadcast_bytes(comm, 0, &bytes, &size);
    GError *failure = NULL;
    if (comm->rank > 0 && there) {
        *counts = xlm_word_counts_new();
        xlm_word_counts_unpack(*counts, bytes, size, &failure);
    }
    g_free(bytes);
    return xlm_comm_agree_on(comm, failure, error);
}

/* Rank 0's segmenter to all ranks. The others' *segmenter is NULL before. Collective. */
static bool share_segmenter(const xlm_comm *comm, const xlm_prep_options *options, xlm_segmenter **segmenter, GError **error)
{
    const xlm_segmenter_class *cls;
    xlm_prep_segmenter(options, &cls);
    g_autoptr(GString) learned = *segmenter != NULL ? xlm_segmenter_print(*segmenter) : NULL;
    void *bytes = learned != NULL ? learned->str : NULL;
    size_t size = learned != NULL ? learned->len : 0;
    GError *failure = NULL;
    xlm_comm_broadcast_bytes(comm, 0, &bytes, &size);
    if (comm->rank > 0) {
        *segmenter = xlm_segmenter_parse(cls, "segmenter of rank 0", bytes, size, &failure);
        g_free(bytes);
    }
    return xlm_comm_agree_on(comm, failure, error);
}

/* ---- the words to learn from ---- */

/* The words of languages from `first` on with the counts from which a segmenter learns. Language i has the share p_i of all
 * words, and shall have a weight in proportion to p_i^alpha. So its counts are multiplied by (p_i / p_max)^(alpha − 1), which is 1
 * for the largest language and more for the others, and rounded. */
struct weighing {
    int first, languages;
    double *weight;         /* [languages] */
    int64_t words, bytes;   /* those that this rank owns */
    xlm_word_counts *table; /* they are added to it; NULL: only counted */
};

static void weigh_word(void *data, const char *word, size_t size, const int64_t *counts)
{
    struct weighing *w = data;
    int64_t sum = 0;
    for (int i = w->first; i < w->languages; i++)
        sum += counts[i] > 0 ? llround(w->weight[i] * (double)counts[i]) : 0;
    if (sum == 0)
        return;
    w->words++;
    w->bytes += (int64_t)size;
    if (w->table != NULL)
        xlm_word_counts_add(w->table, word, size, sum);
}

static void set_weights(const struct making *m, struct weighing *w)
{
    int64_t largest = 1;
    for (int i = w->first; i < w->languages; i++)
        largest = MAX(largest, xlm_shared_words_total(m->words.sampled, i));
    for (int i = w->first; i < w->languages; i++)
        w->weight[i] = pow((double)xlm_shared_words_total(m->words.sampled, i) / (double)largest, m->options->alpha - 1);
}

/* Learners number the letters of all words in 31 bits. */
static const int64_t MOST_LETTERS = INT32_MAX;

/* Can a segmenter of the class be learned from so many words? The same on every rank. */
static bool check_learning(const struct making *m, int64_t words, int64_t bytes, GError **error)
{
    const xlm_segmenter_class *cls;
    xlm_prep_segmenter(m->options, &cls);
    if (words == 0)
        return xlm_error_set(error, EX_USAGE, "--sample=%g: no sentence with words is in the sample; give a larger share",
                             m->options->sample);
    if (words + bytes > MOST_LETTERS)
        return xlm_error_set(error, EX_USAGE, "%" G_GINT64_FORMAT " different words with %" G_GINT64_FORMAT " letters are too "
                             "many to learn from; learn from a part of the sentences with --sample", words, bytes);
    const int64_t needed = xlm_segmenter_class_learning_bytes(cls, words, bytes);
    return needed <= m->learning_memory ||
           xlm_error_set(error, EX_USAGE, "learning from %" G_GINT64_FORMAT " different words takes about %" G_GINT64_FORMAT " MB "
                         "on rank 0, which has %" G_GINT64_FORMAT " MB for it; learn from a part of the sentences with --sample, or "
                         "give it more with --memory", words, needed >> 20, m->learning_memory >> 20);
}

/* Gather the words to learn from on rank 0, in the order that learning needs. Collective. *learn_from: empty on other ranks; NULL
 * on failure. */
static bool gather_words(const struct making *m, int first, xlm_word_counts **learn_from, GError **error)
{
    g_autofree double *weight = g_new0(double, m->languages);
    struct weighing w = {.first = first, .languages = m->languages, .weight = weight};
    set_weights(m, &w);
    xlm_shared_words_each(m->words.sampled, weigh_word, &w);
    int64_t sums[2] = {w.words, w.bytes};
    xlm_comm_sum_int64(m->comm, sums, 2);
    if (!check_learning(m, sums[0], sums[1], error))
        return false;
    w.table = *learn_from = xlm_word_counts_new();
    xlm_word_counts_reserve(w.table, (uint32_t)(m->comm->rank == 0 ? sums[0] : w.words));
    xlm_shared_words_each(m->words.sampled, weigh_word, &w);
    const xlm_segmenter_class *cls;
    xlm_prep_segmenter(m->options, &cls);
    return gather_counts(m->comm, *learn_from, m->options->like != NULL || !cls->learning->any_order, error);
}

/* The first language to learn from: more is learned from new languages, or from all if none is new. */
static int first_language(const struct making *m)
{
    const int first = m->options->like != NULL ? xlm_vocabulary_languages(m->options->like) : 0;
    for (int i = first; i < m->languages; i++)
        if (xlm_shared_words_total(m->words.all, i) > 0)
            return first;
    return 0;
}

/* ---- the segmenter ---- */

static xlm_segmenter *learn_segmenter(const xlm_prep_options *options, const xlm_word_counts *words, GError **error)
{
    const double begin = xlm_clock();
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(options, &cls);
    xlm_segmenter *segmenter = xlm_segmenter_learn(cls, asked, words, error);
    if (segmenter == NULL)
        return NULL;
    const uint32_t learned = xlm_segmenter_size(segmenter);
    char duration[16];
    xlm_log_info("%u %s learned from %u different words in %s", learned, cls->unit, xlm_word_counts_size(words),
                 xlm_log_duration(xlm_clock() - begin, duration));
    if (learned < asked->amount)
        xlm_log_warn("the text has only %u %s, not %" G_GINT64_FORMAT, learned, cls->unit, asked->amount);
    return segmenter;
}

/* Is nothing to be learned? */
static bool is_given(const xlm_prep_options *options)
{
    const xlm_segmenter_class *cls;
    return options->like != NULL ? options->add_subwords == 0 : xlm_prep_segmenter(options, &cls)->file != NULL;
}

/* Make the segmenter on all ranks, unless it was given (on rank 0). Collective. [out] allowed, on rank 0: with a given
 * vocabulary, the subwords that it may have; else NULL. */
static bool make_segmenter(const struct making *m, xlm_segmenter **segmenter, xlm_word_counts **allowed, GError **error)
{
    const xlm_prep_options *o = m->options;
    const bool given = is_given(o);
    g_autoptr(xlm_word_counts) learn_from = NULL;
    GError *failure = NULL;
    if (!given && !gather_words(m, first_language(m), &learn_from, error))
        return false;
    if (m->comm->rank == 0 && o->like != NULL)
        *segmenter = xlm_prep_like_segmenter(o, learn_from, allowed);
    else if (m->comm->rank == 0 && !given)
        *segmenter = learn_segmenter(o, learn_from, &failure);
    return xlm_comm_agree_on(m->comm, failure, error) && share_segmenter(m->comm, o, segmenter, error);
}

/* ---- the subwords ---- */

struct cutting {
    int languages;
    xlm_cutter *cutter; /* NULL: words are subwords */
    xlm_word_counts *subwords;
};

static void cut_word(void *data, const char *word, size_t size, const int64_t *counts)
{
    const struct cutting *c = data;
    int64_t sum = 0;
    size_t n = size;
    for (int i = 0; i < c->languages; i++)
        sum += counts[i];
    if (size == 0)
        return;
    if (c->cutter == NULL)
        xlm_word_counts_add(c->subwords, word, size, sum);
    else if ((word = xlm_cutter_word(c->cutter, word, size, &n)) != NULL)
        xlm_word_counts_add_text(c->subwords, word, n, sum);
}

/* All subwords of all words with their counts: each rank cuts the words that it owns. allowed: on all ranks, or NULL. Collective.
 * Returns a sorted table on rank 0, an empty one on others; NULL on failure. */
static xlm_word_counts *count_subwords(const struct making *m, const xlm_segmenter *segmenter, const xlm_word_counts *allowed,
                                       GError **error)
{
    const bool are_subwords = m->options->like != NULL && xlm_segmenter_class_of(segmenter)->input == XLM_SEGMENTS_LINES;
    g_autoptr(xlm_word_counts) subwords = xlm_word_counts_new();
    struct cutting c = {m->languages, are_subwords ? NULL : xlm_cutter_new(segmenter, allowed), subwords};
    xlm_shared_words_each(m->words.all, cut_word, &c);
    xlm_cutter_free(c.cutter);
    return gather_counts(m->comm, subwords, true, error) ? g_steal_pointer(&subwords) : NULL;
}

/* The subwords of `allowed` in their order, with their counts in the text. The same on all ranks before; on rank 0 after. */
static xlm_word_counts *recount(const struct making *m, const xlm_segmenter *segmenter, const xlm_word_counts *allowed,
                                GError **error)
{
    g_autoptr(xlm_word_counts) parts = count_subwords(m, segmenter, allowed, error);
    return parts != NULL ? xlm_segmenter_recount(allowed, parts) : NULL;
}

/* Choose the most frequent subwords; those that are left out are taken apart. Collective. */
static xlm_word_counts *choose_subwords(const struct making *m, const xlm_segmenter *segmenter, GError **error)
{
    const xlm_prep_options *o = m->options;
    xlm_word_counts *chosen = count_subwords(m, segmenter, NULL, error);
    if (chosen == NULL)
        return NULL;
    int64_t cut = m->comm->rank == 0 && xlm_vocabulary_cut(chosen, o->min_count, o->max_vocabulary) &&
                  xlm_word_counts_size(chosen) > 0;
    xlm_comm_broadcast(m->comm, 0, &cut, sizeof cut);
    if (!cut)
        return chosen;
    g_autoptr(xlm_word_counts) allowed = chosen;
    if (m->comm->rank > 0)
        g_clear_pointer(&allowed, xlm_word_counts_free);
    xlm_word_counts *counted = share_counts(m->comm, &allowed, error) ? recount(m, segmenter, allowed, error) : NULL;
    if (counted != NULL)
        xlm_word_counts_sort(counted);
    return counted;
}

/* The subwords of the vocabulary, on rank 0. allowed: of make_segmenter; freed. Collective. NULL on failure, with an error on
 * every rank. */
static xlm_word_counts *make_subwords(const struct making *m, const xlm_segmenter *segmenter, xlm_word_counts *allowed,
                                      GError **error)
{
    g_autoptr(xlm_word_counts) all = allowed, subwords = NULL;
    const bool lists = m->options->like == NULL && xlm_segmenter_class_lists(xlm_segmenter_class_of(segmenter));
    if (lists)
        all = xlm_segmenter_list(segmenter);
    else if (!share_counts(m->comm, &all, error))
        return NULL;
    if (m->options->like != NULL) {
        g_autoptr(xlm_word_counts) counted = count_subwords(m, segmenter, all, error);
        subwords = counted != NULL ? xlm_prep_like_subwords(m->options, all, counted) : NULL;
    } else {
        subwords = lists ? recount(m, segmenter, all, error) : choose_subwords(m, segmenter, error);
    }
    if (subwords == NULL)
        return NULL;
    GError *failure = NULL;
    if (m->comm->rank == 0 && xlm_word_counts_size(subwords) == 0)
        xlm_error_set(&failure, EX_USAGE, "--min-count=%" G_GINT64_FORMAT ": no subword occurs so often", m->options->min_count);
    return xlm_comm_agree_on(m->comm, failure, error) ? g_steal_pointer(&subwords) : NULL;
}

/* ---- synthetic languages ---- */

/* Choose the subwords that get twins in a synthetic language, among those that text of its base uses. Collective. [out] made:
 * originals and twins. */
static bool choose_twins(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                         const xlm_segmenter *segmenter, const xlm_word_counts *subwords, xlm_vocabulary_made *made,
                         GError **error)
{
    const uint32_t n = xlm_word_counts_size(subwords);
    g_autofree int64_t *used = xlm_prep_used_subwords(comm, options, reader, made->base, segmenter, subwords, error);
    if (used == NULL)
        return false;
    g_autofree int32_t *ids = g_new(int32_t, (size_t)n + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++)
        if (used[i])
            ids[count++] = xlm_ordinary_id(&xlm_own_special_tokens, (int32_t)i);
    made->originals = xlm_synthetic_twins(ids, count, options->shared, (uint64_t)options->seed, &made->twins);
    xlm_log_info("%s: twins of %d subwords; text of %s uses %u of %u", (const char *)options->languages->pdata[made->language],
                 made->twins, (const char *)options->languages->pdata[made->base], count, n);
    return true;
}

/* Describe the synthetic languages for the vocabulary; collective. [out] settings->made: to be freed by free_made. */
static bool describe_made(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                          const xlm_segmenter *segmenter, const xlm_word_counts *subwords, xlm_vocabulary_settings *settings,
                          GError **error)
{
    bool good = true;
    int n = 0;
    const xlm_vocabulary_made *given = options->like != NULL ? xlm_vocabulary_made_languages(options->like, &n) : NULL;
    xlm_vocabulary_made *made = g_new0(xlm_vocabulary_made, n + (int)options->synthetic->len);
    for (int i = 0; i < n; i++) {
        made[i] = given[i];
        made[i].weights = g_strdup(given[i].weights);
        made[i].originals = g_memdup2(given[i].originals, sizeof(int32_t) * (size_t)given[i].twins);
    }
    for (guint k = 0; k < options->synthetic->len && good; k++) {
        const xlm_synthetic *asked = options->synthetic->pdata[k];
        if (options->like != NULL && asked->language < xlm_vocabulary_languages(options->like))
            continue;
        const int i = n++;
        made[i] = (xlm_vocabulary_made){.language = asked->language, .base = asked->base, .steps = asked->steps,
                                        .shared = asked->transliterates ? options->shared : 1, .seed = options->seed,
                                        .weights = xlm_synthetic_weights(asked, error)};
        good = xlm_comm_agree(comm, error) &&
               (!asked->transliterates || choose_twins(comm, options, reader, segmenter, subwords, &made[i], error));
    }
    settings->made_languages = n;
    settings->made = made;
    return good;
}

static void free_made(const xlm_vocabulary_settings *settings)
{
    for (int i = 0; i < settings->made_languages; i++) {
        g_free((char *)settings->made[i].weights);
        g_free((int32_t *)settings->made[i].originals);
    }
    g_free((xlm_vocabulary_made *)settings->made);
}

/* ---- all ---- */

/* Make the vocabulary from what all ranks have. Takes ownership of the segmenter. Collective. */
static xlm_vocabulary *make_vocabulary(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                                       xlm_segmenter *segmenter, const xlm_word_counts *subwords, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(options, &cls);
    xlm_vocabulary_settings settings = {.in_order = options->like != NULL || xlm_segmenter_class_lists(cls),
                                        .words = options->words, .lowercase = options->lower,
                                        .languages = (int)options->languages->len,
                                        .language_names = (const char *const *)options->languages->pdata};
    const char *names[XLM_SPECIAL_TOKENS];
    if (options->like != NULL) {
        settings.specials = xlm_vocabulary_specials(options->like);
        for (xlm_special i = 0; i < XLM_SPECIAL_TOKENS; i++)
            names[i] = xlm_vocabulary_words(options->like)[settings.specials->id[i]];
        settings.special_names = names;
        settings.second = xlm_vocabulary_second_segmenter(options->like, &settings.second_language);
        settings.language_form = xlm_vocabulary_language_form(options->like);
    }
    GError *failure = NULL;
    xlm_vocabulary *vocabulary = NULL;
    if (describe_made(comm, options, reader, segmenter, subwords, &settings, &failure))
        vocabulary = xlm_vocabulary_new(subwords, segmenter, &settings, &failure); /* takes the segmenter, also on failure */
    else
        xlm_segmenter_unref(segmenter);
    free_made(&settings);
    if (xlm_comm_agree(comm, &failure))
        return vocabulary;
    if (options->vocabulary != NULL)
        g_prefix_error(&failure, "%s or %s: ", asked->file, options->vocabulary);
    g_propagate_error(error, failure);
    xlm_vocabulary_free(vocabulary);
    return NULL;
}

/* On rank 0, read the segmenter and the subwords from the given files. Collective. */
static bool read_given(const xlm_comm *comm, const xlm_prep_options *options, xlm_segmenter **segmenter,
                       xlm_word_counts **subwords, GError **error)
{
    GError *failure = NULL;
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(options, &cls);
    if (comm->rank == 0 && asked->file != NULL)
        *segmenter = xlm_segmenter_read(cls, asked->file, &failure);
    if (comm->rank == 0 && options->vocabulary != NULL && failure == NULL)
        *subwords = xlm_word_counts_read(options->vocabulary, &failure);
    if (*subwords != NULL)
        xlm_word_counts_sort(*subwords); /* their order is that of ids, in which twins are chosen */
    return xlm_comm_agree_on(comm, failure, error);
}

/* Count words, and make the segmenter, on all ranks, and the subwords, on rank 0, that were not given. Collective. */
static bool make_missing(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                         xlm_segmenter **segmenter, xlm_word_counts **subwords, GError **error)
{
    struct making m = {.comm = comm, .options = options, .languages = (int)options->languages->len,
                       .learning_memory = xlm_prep_learning_memory(options)};
    xlm_comm_broadcast(comm, 0, &m.learning_memory, sizeof m.learning_memory);
    xlm_word_counts *allowed = NULL;
    if (xlm_prep_count(comm, options, reader, &m.words, error)) {
        if (make_segmenter(&m, segmenter, &allowed, error))
            *subwords = make_subwords(&m, *segmenter, allowed, error);
        else
            xlm_word_counts_free(allowed);
    }
    xlm_prep_words_free(&m.words);
    return *subwords != NULL;
}

xlm_vocabulary *xlm_prep_vocabulary(const xlm_comm *comm, const xlm_prep_options *options,
                                    const xlm_sentence_reader *reader, GError **error)
{
    xlm_segmenter *segmenter = NULL;
    g_autoptr(xlm_word_counts) subwords = NULL;
    if (read_given(comm, options, &segmenter, &subwords, error) &&
        (options->vocabulary != NULL ? share_segmenter(comm, options, &segmenter, error)
                                     : make_missing(comm, options, reader, &segmenter, &subwords, error))) {
        if (comm->rank > 0)
            g_clear_pointer(&subwords, xlm_word_counts_free);
        if (share_counts(comm, &subwords, error))
            return make_vocabulary(comm, options, reader, segmenter, subwords, error);
    }
    xlm_segmenter_unref(segmenter);
    return NULL;
}
