/* xlm-mpi: word counts of all text, and the vocabulary made from them. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include <math.h>

#include "base/log.h"
#include "prep/like.h"
#include "prep/segmenter_options.h"

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

/* ---- counting ---- */

struct counting {
    int languages;
    xlm_cutter *cutter; /* if a segmenter of lines is given, to count its subwords instead of words; else NULL */
    xlm_splitter **splitter;  /* [languages] */
    xlm_word_counts **counts; /* [languages] words of this rank's lines; on rank 0, after gathering, words of all lines */
};

static void free_counting(struct counting *counting)
{
    for (int i = 0; i < counting->languages; i++) {
        xlm_splitter_free(counting->splitter[i]);
        xlm_word_counts_free(counting->counts[i]);
    }
    xlm_cutter_free(counting->cutter);
    g_free(counting->splitter);
    g_free(counting->counts);
    g_free(counting);
}

static struct counting *new_counting(const xlm_prep_options *options, GError **error)
{
    struct counting *counting = g_new0(struct counting, 1);
    counting->languages = (int)options->languages->len;
    counting->splitter = g_new0(xlm_splitter *, counting->languages);
    counting->counts = g_new0(xlm_word_counts *, counting->languages);
    const xlm_segmenter *given = options->like != NULL ? xlm_vocabulary_segmenter(options->like) : NULL;
    if (given != NULL && xlm_segmenter_class_of(given)->input == XLM_SEGMENTS_LINES)
        counting->cutter = xlm_cutter_new(given, xlm_vocabulary_subwords(options->like));
    bool good = true;
    for (int i = 0; i < counting->languages && good; i++) {
        counting->counts[i] = xlm_word_counts_new();
        counting->splitter[i] = xlm_splitter_new(options->words, options->languages->pdata[i], error);
        good = counting->splitter[i] != NULL;
    }
    if (!good)
        g_clear_pointer(&counting, free_counting);
    return counting;
}

static void count_sentence(void *data, const xlm_prep_source *source, const xlm_sentence *sentence)
{
    struct counting *counting = data;
    for (int side = 0; side < source->sides && sentence->assignment == XLM_ASSIGNED_TRAIN; side++) {
        const int language = source->language[side];
        size_t n;
        if (counting->cutter != NULL) {
            const char *subwords = xlm_cutter_word(counting->cutter, sentence->text[side], sentence->size[side], &n);
            xlm_word_counts_add_text(counting->counts[language], subwords, n, 1);
            continue;
        }
        const xlm_word *word = xlm_splitter_split(counting->splitter[language], sentence->text[side],
                                                  sentence->size[side], &n);
        for (size_t i = 0; i < n; i++)
            xlm_word_counts_add(counting->counts[language], sentence->text[side] + word[i].start, word[i].size, 1);
    }
}

/* Gather all ranks' counts of one language on rank 0; the others are left with an empty table. Ranks send one after another, so
 * that no rank has more than one table besides its own in memory. Collective. */
static bool gather_counts(const xlm_comm *comm, xlm_word_counts **counts, GError **error)
{
    GError *failure = NULL;
    for (int r = 1; r < comm->ranks; r++) {
        GByteArray *packed = comm->rank == r ? xlm_word_counts_pack(*counts) : NULL;
        void *bytes = packed != NULL ? packed->data : NULL;
        size_t size = packed != NULL ? packed->len : 0;
        xlm_comm_broadcast_bytes(comm, r, &bytes, &size);
        if (comm->rank == 0 && failure == NULL)
            xlm_word_counts_unpack(*counts, bytes, size, &failure);
        if (packed != NULL)
            g_byte_array_unref(packed);
        else
            g_free(bytes);
    }
    if (comm->rank == 0) {
        xlm_word_counts_sort(*counts);
    } else {
        xlm_word_counts_free(*counts);
        *counts = xlm_word_counts_new();
    }
    return xlm_comm_agree_on(comm, failure, error);
}

/* ---- learning, on rank 0 ---- */

/* The words of n languages with the counts from which a segmenter learns. Language i has the share p_i of all words, and shall
 * have a weight in proportion to p_i^alpha. So its counts are multiplied by (p_i / p_max)^(alpha − 1), which is 1 for the largest
 * language and more for the others, and rounded. */
static xlm_word_counts *weigh_words(xlm_word_counts *const *counts, int n, double alpha)
{
    int64_t largest = 1;
    for (int i = 0; i < n; i++)
        largest = MAX(largest, xlm_word_counts_total(counts[i]));
    xlm_word_counts *joint = xlm_word_counts_new();
    for (int i = 0; i < n; i++) {
        const xlm_word_counts *words = counts[i];
        const double weight = pow((double)xlm_word_counts_total(words) / (double)largest, alpha - 1);
        for (uint32_t k = 0; k < xlm_word_counts_size(words); k++) {
            size_t size;
            const char *word = xlm_word_counts_word(words, k, &size);
            xlm_word_counts_add(joint, word, size, llround(weight * (double)xlm_word_counts_count(words, k)));
        }
    }
    xlm_word_counts_sort(joint);
    return joint;
}

static xlm_segmenter *learn_segmenter(const xlm_prep_options *options, const struct counting *counting, GError **error)
{
    const double begin = xlm_clock();
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(options, &cls);
    g_autoptr(xlm_word_counts) joint = weigh_words(counting->counts, counting->languages, options->alpha);
    xlm_segmenter *segmenter = xlm_segmenter_learn(cls, asked, joint, error);
    if (segmenter == NULL)
        return NULL;
    const uint32_t learned = xlm_segmenter_size(segmenter);
    char duration[16];
    xlm_log_info("%u %s learned from %u different words in %s", learned, cls->unit, xlm_word_counts_size(joint),
                 xlm_log_duration(xlm_clock() - begin, duration));
    if (learned < asked->amount)
        xlm_log_warn("the text has only %u %s, not %" G_GINT64_FORMAT, learned, cls->unit, asked->amount);
    return segmenter;
}

/* The words of all languages, with their counts added up. */
static xlm_word_counts *join_words(const struct counting *counting)
{
    xlm_word_counts *words = xlm_word_counts_new();
    for (int i = 0; i < counting->languages; i++)
        xlm_word_counts_add_all(words, counting->counts[i], 1);
    xlm_word_counts_sort(words);
    return words;
}

/* Take segmenter and subwords from the given vocabulary; more are learned from new languages, or from all if none is new. */
static void take_like(const xlm_prep_options *options, const struct counting *counting, xlm_segmenter **segmenter,
                      xlm_word_counts **subwords)
{
    int first = xlm_vocabulary_languages(options->like), with_text = 0;
    for (int i = first; i < counting->languages; i++)
        with_text += xlm_word_counts_size(counting->counts[i]) > 0;
    if (with_text == 0)
        first = 0;
    g_autoptr(xlm_word_counts) words = join_words(counting);
    g_autoptr(xlm_word_counts) learn_from = weigh_words(counting->counts + first, counting->languages - first, options->alpha);
    xlm_prep_like(options, words, learn_from, segmenter, subwords);
}

static xlm_word_counts *choose_subwords(const xlm_prep_options *options, const xlm_segmenter *segmenter,
                                        const struct counting *counting, GError **error)
{
    g_autoptr(xlm_word_counts) words = join_words(counting);
    g_autoptr(xlm_word_counts) subwords =
        xlm_segmenter_class_lists(xlm_segmenter_class_of(segmenter))
            ? xlm_segmenter_list(segmenter, words)
            : xlm_vocabulary_choose(segmenter, words, options->min_count, options->max_vocabulary);
    if (xlm_word_counts_size(subwords) > 0)
        return g_steal_pointer(&subwords);
    xlm_error_set(error, EX_USAGE, "--min-count=%" G_GINT64_FORMAT ": no subword occurs so often", options->min_count);
    return NULL;
}

static bool has_words(const struct counting *counting, GError **error)
{
    for (int i = 0; i < counting->languages; i++)
        if (xlm_word_counts_size(counting->counts[i]) > 0)
            return true;
    return xlm_error_set(error, EX_DATAERR, "no sentence to train on: all that have text are held out, or left out by a "
                         "rule such as --max-words; lower --held-out, or loosen the rules");
}

/* ---- from rank 0 to all ---- */

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

/* Make a vocabulary on every rank from the subwords and the segmenter of rank 0 (NULL on other ranks). Frees both. Collective. */
static xlm_vocabulary *share(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                             xlm_segmenter *segmenter, xlm_word_counts *subwords, GError **error)
{
    const xlm_segmenter_class *cls;
    const xlm_segmenter_options *asked = xlm_prep_segmenter(options, &cls);
    GString *learned = segmenter != NULL ? xlm_segmenter_print(segmenter) : NULL;
    GByteArray *packed = subwords != NULL ? xlm_word_counts_pack(subwords) : NULL;
    void *bytes[2] = {learned != NULL ? learned->str : NULL, packed != NULL ? packed->data : NULL};
    size_t size[2] = {learned != NULL ? learned->len : 0, packed != NULL ? packed->len : 0};
    xlm_comm_broadcast_bytes(comm, 0, &bytes[0], &size[0]);
    xlm_comm_broadcast_bytes(comm, 0, &bytes[1], &size[1]);

    GError *failure = NULL;
    if (comm->rank == 0) {
        g_string_free(learned, TRUE);
        g_byte_array_unref(packed);
    } else {
        subwords = xlm_word_counts_new();
        segmenter = xlm_segmenter_parse(cls, "segmenter of rank 0", bytes[0], size[0], &failure);
        if (segmenter != NULL)
            xlm_word_counts_unpack(subwords, bytes[1], size[1], &failure);
        g_free(bytes[0]);
        g_free(bytes[1]);
    }
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
    }
    xlm_vocabulary *vocabulary = NULL;
    if (xlm_comm_agree(comm, &failure) && describe_made(comm, options, reader, segmenter, subwords, &settings, &failure))
        vocabulary = xlm_vocabulary_new(subwords, segmenter, &settings, &failure); /* takes the segmenter, also on failure */
    else
        xlm_segmenter_unref(segmenter);
    free_made(&settings);
    xlm_word_counts_free(subwords);
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
    return xlm_comm_agree_on(comm, failure, error);
}

/* Count and gather words, and on rank 0 make the segmenter and subwords that were not given. Collective. */
static bool make_missing(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                         xlm_segmenter **segmenter, xlm_word_counts **subwords, GError **error)
{
    GError *failure = NULL;
    struct counting *counting = new_counting(options, &failure);
    bool good = xlm_comm_agree(comm, &failure) &&
                xlm_scan_sources(comm, options, 0, -1, "counting words", reader, count_sentence, counting, &failure);
    for (int i = 0; good && i < counting->languages; i++)
        good = gather_counts(comm, &counting->counts[i], &failure);
    if (good && comm->rank == 0 && has_words(counting, &failure)) {
        if (options->like != NULL)
            take_like(options, counting, segmenter, subwords);
        else if (*segmenter == NULL)
            *segmenter = learn_segmenter(options, counting, &failure);
        if (options->like == NULL && failure == NULL)
            *subwords = choose_subwords(options, *segmenter, counting, &failure);
    }
    if (counting != NULL)
        free_counting(counting);
    return xlm_comm_agree_on(comm, failure, error);
}

xlm_vocabulary *xlm_prep_vocabulary(const xlm_comm *comm, const xlm_prep_options *options,
                                    const xlm_sentence_reader *reader, GError **error)
{
    xlm_segmenter *segmenter = NULL;
    xlm_word_counts *subwords = NULL;
    if (read_given(comm, options, &segmenter, &subwords, error) &&
        (options->vocabulary != NULL || make_missing(comm, options, reader, &segmenter, &subwords, error)))
        return share(comm, options, reader, segmenter, subwords, error);
    xlm_segmenter_unref(segmenter);
    xlm_word_counts_free(subwords);
    return NULL;
}
