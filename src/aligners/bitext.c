/* xlm-mpi: the words of a rank's sentence pairs, as numbers. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/bitext.h"

#include "aligners/subword_links.h"
#include "base/progress.h"
#include "text/normalise.h"

/* A word of a sentence that was read, and that may be left out. It is not in the tables yet if its number is −1. */
typedef struct new_word {
    int32_t number;
    xlm_word given, normal; /* where `line` has it, as it is in the text (of words between blanks alone) and normalised */
} new_word;

/* Reads the words of one side. */
struct xlm_word_reader {
    const xlm_bitext_options *options;
    xlm_normaliser *normaliser;
    xlm_splitter *splitter;
    xlm_word_counts *words;    /* normalised */
    xlm_word_counts *as_given; /* words between blanks, as they are in the text */
    GArray *normal;            /* int32_t: the number in `words` of each word in `as_given` */
    GArray *ids;               /* int32_t: the words of all pairs so far */
    GArray *offsets;           /* int64_t */
    const xlm_vocabulary *vocabulary; /* of a corpus; NULL: text */
    GArray *word;              /* int32_t: of each subword of a sentence of a corpus */
    GString *text;             /* of one word of it */
    GArray *sentence;          /* new_word: the words of the sentence that was read last */
    GString *line;             /* of those that are not in the tables yet */
};

static xlm_word_reader open_reader(const xlm_bitext_options *options, const xlm_corpus *corpus, GError **error)
{
    xlm_word_reader r = {.options = options, .words = xlm_word_counts_new(), .as_given = xlm_word_counts_new(),
                       .vocabulary = corpus != NULL ? xlm_corpus_vocabulary(corpus) : NULL};
    r.word = g_array_new(FALSE, FALSE, sizeof(int32_t));
    r.text = g_string_new(NULL);
    r.sentence = g_array_new(FALSE, FALSE, sizeof(new_word));
    r.line = g_string_new(NULL);
    r.normal = g_array_new(FALSE, FALSE, sizeof(int32_t));
    r.ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
    r.offsets = g_array_new(FALSE, TRUE, sizeof(int64_t));
    g_array_set_size(r.offsets, 1);
    r.normaliser = xlm_normaliser_new(options->lower, error);
    r.splitter = r.normaliser != NULL ? xlm_splitter_new(options->words, NULL, error) : NULL;
    return r;
}

static void close_reader(xlm_word_reader *r)
{
    xlm_normaliser_free(r->normaliser);
    xlm_splitter_free(r->splitter);
    xlm_word_counts_free(r->words);
    xlm_word_counts_free(r->as_given);
    g_array_unref(r->normal);
    g_array_unref(r->word);
    g_string_free(r->text, TRUE);
    g_array_unref(r->sentence);
    g_string_free(r->line, TRUE);
    if (r->ids != NULL)
        g_array_unref(r->ids);
    if (r->offsets != NULL)
        g_array_unref(r->offsets);
}

static int32_t number_of(xlm_word_counts *words, const char *text, size_t size)
{
    const uint32_t found = xlm_word_counts_index(words, text, size);
    if (found != UINT32_MAX)
        return (int32_t)found;
    xlm_word_counts_add(words, text, size, 1);
    return (int32_t)xlm_word_counts_size(words) - 1;
}

static xlm_word append(GString *line, const char *text, size_t size)
{
    const xlm_word word = {line->len, size};
    g_string_append_len(line, text, (gssize)size);
    return word;
}

/* A word between blanks counts as one word, whatever normalisation makes of it. */
static bool add_as_given(xlm_word_reader *r, const char *text, size_t size, GError **error)
{
    const uint32_t known = xlm_word_counts_index(r->as_given, text, size);
    new_word word = {.number = -1};
    if (known != UINT32_MAX) {
        word.number = g_array_index(r->normal, int32_t, known);
    } else {
        const char *normal;
        size_t normal_size;
        if (!xlm_normaliser_run(r->normaliser, text, size, &normal, &normal_size, error))
            return false;
        word.given = append(r->line, text, size);
        word.normal = normal_size > 0 ? append(r->line, normal, normal_size) : append(r->line, "\xEF\xBF\xBD", 3);
    }
    g_array_append_val(r->sentence, word);
    return true;
}

static bool add_between_blanks(xlm_word_reader *r, const char *text, size_t size, GError **error)
{
    const char *word;
    for (size_t at = 0, n; (n = xlm_word_between_blanks(text, size, &at, &word)) > 0;)
        if (!add_as_given(r, word, n, error)) {
            /* Normalise the whole line, so that the error says at which of its bytes. */
            const char *normal;
            size_t normal_size;
            g_clear_error(error);
            return xlm_normaliser_run(r->normaliser, text, size, &normal, &normal_size, error);
        }
    return true;
}

static bool add_by_rules(xlm_word_reader *r, const char *text, size_t size, GError **error)
{
    const char *normal;
    size_t normal_size, n;
    if (!xlm_normaliser_run(r->normaliser, text, size, &normal, &normal_size, error))
        return false;
    const xlm_word *words = xlm_splitter_split(r->splitter, normal, normal_size, &n);
    for (size_t i = 0; i < n; i++) {
        const new_word word = {.number = -1, .normal = append(r->line, normal + words[i].start, words[i].size)};
        g_array_append_val(r->sentence, word);
    }
    return true;
}

/* The words of a corpus, whatever characters they have. */
static bool add_subwords(xlm_word_reader *r, const int32_t *ids, int64_t n, GError **error)
{
    g_array_set_size(r->word, (guint)n + 1);
    const int32_t *word = &g_array_index(r->word, int32_t, 0);
    xlm_subword_words(r->vocabulary, ids, n, &g_array_index(r->word, int32_t, 0));
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && word[end] == word[i];)
            end++;
        g_string_truncate(r->text, 0);
        xlm_vocabulary_decode(r->vocabulary, ids + i, (size_t)(end - i), r->text);
        if (!add_as_given(r, r->text->str, r->text->len, error))
            return false;
    }
    return true;
}

static bool add_text(xlm_word_reader *r, const char *text, size_t size, GError **error)
{
    return r->options->words == XLM_WORDS_SPACE ? add_between_blanks(r, text, size, error) : add_by_rules(r, text, size, error);
}

static void begin_sentence(xlm_word_reader *r)
{
    g_array_set_size(r->sentence, 0);
    g_string_truncate(r->line, 0);
}

/* Append the words of the sentence of up to `longest` bytes to those of all pairs. */
static void keep_sentence(xlm_word_reader *r, size_t longest)
{
    for (guint i = 0; i < r->sentence->len; i++) {
        const new_word *word = &g_array_index(r->sentence, new_word, i);
        const char *given = r->line->str + word->given.start;
        int32_t id = word->number;
        if (word->normal.size > longest)
            continue;
        if (id < 0)
            id = number_of(r->words, r->line->str + word->normal.start, word->normal.size);
        if (word->given.size > 0 && xlm_word_counts_index(r->as_given, given, word->given.size) == UINT32_MAX) {
            xlm_word_counts_add(r->as_given, given, word->given.size, 1);
            g_array_append_val(r->normal, id);
        }
        g_array_append_val(r->ids, id);
    }
}

/* Words that are in the tables already are not too long. */
static bool has_long_word(const xlm_word_reader *r)
{
    for (guint i = 0; i < r->sentence->len; i++)
        if (g_array_index(r->sentence, new_word, i).normal.size > XLM_BITEXT_WORD_BYTES)
            return true;
    return false;
}

/* Read a side of the pair that was read last into `sentence`; how many words, or -1. text: of a file. */
static int64_t read_sentence(xlm_word_reader *r, const xlm_sentence_pairs *pairs, int side, const char *text, size_t size,
                             GError **error)
{
    int64_t n;
    const int32_t *ids = xlm_sentence_pairs_subwords(pairs, side, &n);
    begin_sentence(r);
    const bool good = r->vocabulary != NULL ? add_subwords(r, ids, n, error) : add_text(r, text, size, error);
    return good ? (int64_t)r->sentence->len : -1;
}

xlm_word_reader *xlm_word_reader_new(const xlm_bitext_options *options, GError **error)
{
    GError *failure = NULL;
    xlm_word_reader *r = g_new(xlm_word_reader, 1);
    *r = open_reader(options, NULL, &failure);
    if (failure == NULL)
        return r;
    g_propagate_error(error, failure);
    xlm_word_reader_free(r);
    return NULL;
}

void xlm_word_reader_free(xlm_word_reader *r)
{
    if (r != NULL)
        close_reader(r);
    g_free(r);
}

int64_t xlm_word_reader_read(xlm_word_reader *r, const char *text, size_t size, const int32_t **words, GError **error)
{
    g_array_set_size(r->ids, 0);
    begin_sentence(r);
    if (!add_text(r, text, size, error))
        return -1;
    keep_sentence(r, SIZE_MAX);
    *words = (const int32_t *)(const void *)r->ids->data;
    return r->ids->len;
}

const xlm_word_counts *xlm_word_reader_words(const xlm_word_reader *r) { return r->words; }

/* Append both sides of a pair, or nothing if it is not aligned. */
static bool add_pair(xlm_bitext *b, xlm_word_reader reader[2], xlm_sentence_pairs *pairs, int64_t number, const char *text[2],
                     const size_t size[2], GError **error)
{
    int64_t n[2];
    for (int s = 0; s < 2; s++)
        if ((n[s] = read_sentence(&reader[s], pairs, s, text[s], size[s], error)) < 0) {
            g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", xlm_sentence_pairs_path(pairs, s), number + 1);
            return false;
        }
    const bool empty = n[0] == 0 || n[1] == 0, long_one = !empty && MAX(n[0], n[1]) > reader[0].options->longest;
    const bool long_word = !empty && !long_one && (has_long_word(&reader[0]) || has_long_word(&reader[1]));
    if (empty && b->empty++ == 0)
        b->first_empty = number;
    if (long_one && b->long_ones++ == 0)
        b->first_long = number;
    if (long_word && b->long_words++ == 0)
        b->first_long_word = number;
    for (int s = 0; s < 2; s++) {
        const guint before = reader[s].ids->len;
        if (!long_word)
            keep_sentence(&reader[s], XLM_BITEXT_WORD_BYTES);
        if (empty || long_one) /* its words stay in the tables: how many there are smooths probabilities */
            g_array_set_size(reader[s].ids, before);
        const int64_t end = reader[s].ids->len;
        g_array_append_val(reader[s].offsets, end);
    }
    return true;
}

static bool read_pairs(xlm_bitext *b, xlm_word_reader reader[2], xlm_sentence_pairs *pairs, GError **error)
{
    const char *text[2];
    size_t size[2];
    int64_t number;
    int got;
    xlm_progress progress = xlm_progress_begin("reading", (double)b->pairs, "pairs");
    for (int64_t done = 0; (got = xlm_sentence_pairs_next(pairs, text, size, &number, error)) > 0; done++) {
        if (!add_pair(b, reader, pairs, number, text, size, error))
            return false;
        if (reader[0].ids->len > G_MAXINT32 || reader[1].ids->len > G_MAXINT32)
            return xlm_error_set(error, EX_UNAVAILABLE, "%s: a rank's part has more than 2^31 words; give more ranks",
                                 xlm_sentence_pairs_path(pairs, 0));
        xlm_progress_show(&progress, (double)done);
    }
    xlm_progress_end(&progress);
    return got == 0;
}

/* Move the words from the reader to the bitext. */
static void take_side(xlm_bitext_side *side, xlm_word_reader *r)
{
    side->types = (int32_t)xlm_word_counts_size(r->words);
    side->texts = g_new0(char *, side->types + 1);
    for (int32_t i = 0; i < side->types; i++)
        side->texts[i] = g_strdup(xlm_word_counts_word(r->words, (uint32_t)i, NULL));
    side->words = (int32_t *)(void *)g_array_free(g_steal_pointer(&r->ids), FALSE);
    side->offsets = (int64_t *)(void *)g_array_free(g_steal_pointer(&r->offsets), FALSE);
}

/* Over all ranks: the number of such pairs, and the first of them. */
static void sum_unaligned(const xlm_comm *comm, int64_t *n, int64_t *first)
{
    int64_t negated_first = *n > 0 ? -*first : -G_MAXINT64;
    xlm_comm_max_int64(comm, &negated_first, 1);
    xlm_comm_sum_int64(comm, n, 1);
    *first = *n > 0 ? -negated_first : -1;
}

xlm_bitext *xlm_bitext_read(const xlm_comm *comm, xlm_sentence_pairs *pairs, const xlm_bitext_options *options, GError **error)
{
    xlm_bitext *b = g_new0(xlm_bitext, 1);
    *b = (xlm_bitext){.comm = comm, .first = xlm_sentence_pairs_first(pairs), .pairs = xlm_sentence_pairs_count(pairs),
                      .total = xlm_sentence_pairs_total(pairs), .first_empty = -1, .first_long = -1,
                      .first_long_word = -1};
    GError *failure = NULL;
    xlm_word_reader reader[2];
    for (int s = 0; s < 2; s++)
        reader[s] = open_reader(options, xlm_sentence_pairs_corpus(pairs), failure == NULL ? &failure : NULL);
    if (failure == NULL && read_pairs(b, reader, pairs, &failure))
        for (int s = 0; s < 2; s++)
            take_side(&b->side[s], &reader[s]);
    for (int s = 0; s < 2; s++)
        close_reader(&reader[s]);
    if (!xlm_comm_agree_on(comm, failure, error)) {
        xlm_bitext_free(b);
        return NULL;
    }
    sum_unaligned(comm, &b->empty, &b->first_empty);
    sum_unaligned(comm, &b->long_ones, &b->first_long);
    sum_unaligned(comm, &b->long_words, &b->first_long_word);
    return b;
}

void xlm_bitext_free(xlm_bitext *b)
{
    if (b == NULL)
        return;
    for (int s = 0; s < 2; s++) {
        g_free(b->side[s].offsets);
        g_free(b->side[s].words);
        g_strfreev(b->side[s].texts);
    }
    g_free(b);
}
