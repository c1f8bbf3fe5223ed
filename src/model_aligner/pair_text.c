/* xlm-mpi: pairs of sentences as subwords of a model. SPDX-License-Identifier: GPL-3.0-or-later */
#include "model_aligner/pair_text.h"

#include "aligners/subword_links.h"
#include "base/progress.h"
#include "subwords/tokenizer.h"

struct reading {
    xlm_tokenizer *tokenizer;
    xlm_normaliser *normaliser; /* of lines whose words ICU finds; NULL: words are between blanks */
    xlm_splitter *splitter;     /* of these, by the rules of no language, as in aligners/bitext.c */
    bool own_words; /* the segmenter finds words by itself, within those of ICU */
};

/* ---- a line ---- */

/* The subwords from number `before` on belong to this word. */
static void number_word(xlm_pair_side *side, guint before, int32_t word)
{
    for (guint i = before; i < side->ids->len; i++)
        g_array_append_val(side->words, word);
}

static bool add_between_blanks(const struct reading *r, xlm_pair_side *side, const char *text, size_t size, GError **error)
{
    const char *word;
    int32_t number = 0;
    for (size_t at = 0, n; (n = xlm_word_between_blanks(text, size, &at, &word)) > 0;) {
        const guint before = side->ids->len;
        if (!xlm_tokenizer_encode_word(r->tokenizer, side->language, number > 0, word, n, side->ids, NULL, error))
            return false;
        number_word(side, before, number++);
    }
    return true;
}

static bool add_by_icu(const struct reading *r, xlm_pair_side *side, const char *text, size_t size, GError **error)
{
    const char *normal;
    size_t normal_size, n;
    if (!xlm_normaliser_run(r->normaliser, text, size, &normal, &normal_size, error))
        return false;
    const xlm_word *words = xlm_splitter_split(r->splitter, normal, normal_size, &n);
    for (size_t i = 0; i < n; i++) {
        const guint before = side->ids->len;
        const bool inside = words[i].start > 0 && normal[words[i].start - 1] == ' ';
        if (r->own_words && !xlm_tokenizer_encode_word(r->tokenizer, side->language, inside, normal + words[i].start,
                                                       words[i].size, side->ids, NULL, error))
            return false;
        if (!r->own_words)
            xlm_tokenizer_encode_words(r->tokenizer, side->language, normal, &words[i], 1, side->ids);
        number_word(side, before, (int32_t)i);
    }
    return true;
}

static bool add_line(const struct reading *r, xlm_pair_side *side, const char *text, size_t size, GError **error)
{
    const size_t valid = xlm_utf8_check(text, size);
    if (valid < size)
        return xlm_error_set(error, EX_DATAERR, "byte %zu: not UTF-8 (0x%02x); convert the file, for example with iconv",
                             valid + 1, (unsigned char)text[valid]);
    if (!(r->normaliser != NULL ? add_by_icu(r, side, text, size, error) : add_between_blanks(r, side, text, size, error)))
        return false;
    const int64_t end = side->ids->len;
    g_array_append_val(side->offsets, end);
    return true;
}

/* The sentence of a corpus, without the token of the language with which it may begin: that is no word, and batches have it. */
static void add_subwords(xlm_pair_side *side, const xlm_corpus *corpus, const int32_t *ids, int64_t n)
{
    const guint before = side->words->len;
    if (n > 0 && xlm_is_language_token(xlm_vocabulary_specials(xlm_corpus_vocabulary(corpus)), ids[0])) {
        ids++;
        n--;
    }
    g_array_append_vals(side->ids, ids, (guint)n);
    g_array_set_size(side->words, before + (guint)n);
    if (n > 0)
        xlm_subword_words(xlm_corpus_vocabulary(corpus), ids, n, &g_array_index(side->words, int32_t, before));
    const int64_t end = side->ids->len;
    g_array_append_val(side->offsets, end);
}

/* ---- all lines ---- */

static bool open_reading(struct reading *r, const xlm_vocabulary *vocabulary, xlm_word_mode words, GError **error)
{
    if ((r->tokenizer = xlm_tokenizer_new(vocabulary, error)) == NULL)
        return false;
    if (words == XLM_WORDS_SPACE)
        return true;
    r->own_words = xlm_segmenter_class_of(xlm_vocabulary_segmenter(vocabulary))->normaliser != NULL;
    return (r->normaliser = xlm_normaliser_new(xlm_vocabulary_lowercase(vocabulary), error)) != NULL &&
           (r->splitter = xlm_splitter_new(XLM_WORDS_ICU, NULL, error)) != NULL;
}

static void close_reading(struct reading *r)
{
    xlm_splitter_free(r->splitter);
    xlm_normaliser_free(r->normaliser);
    xlm_tokenizer_free(r->tokenizer);
}

static bool read_pairs(const struct reading *r, xlm_sentence_pairs *pairs, xlm_pair_text *t, GError **error)
{
    const char *line[2];
    size_t size[2];
    const xlm_corpus *corpus = xlm_sentence_pairs_corpus(pairs);
    int64_t number;
    int got;
    xlm_progress progress = xlm_progress_begin("reading", (double)xlm_sentence_pairs_count(pairs), "pairs");
    while ((got = xlm_sentence_pairs_next(pairs, line, size, &number, error)) > 0) {
        int64_t n;
        for (int s = 0; s < 2; s++)
            if (corpus != NULL) {
                const int32_t *ids = xlm_sentence_pairs_subwords(pairs, s, &n);
                add_subwords(&t->side[s], corpus, ids, n);
            } else if (!add_line(r, &t->side[s], line[s], size[s], error)) {
                g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", xlm_sentence_pairs_path(pairs, s), number + 1);
                return false;
            }
        if (t->side[0].ids->len > G_MAXINT32 || t->side[1].ids->len > G_MAXINT32)
            return xlm_error_set(error, EX_UNAVAILABLE, "%s: a rank's part has more than 2^31 subwords; give more ranks",
                                 xlm_sentence_pairs_path(pairs, 0));
        xlm_progress_show(&progress, (double)++t->pairs);
    }
    xlm_progress_end(&progress);
    return got == 0;
}

static xlm_pair_text *new_text(const xlm_sentence_pairs *pairs, const int languages[2])
{
    xlm_pair_text *t = g_new0(xlm_pair_text, 1);
    const int64_t zero = 0;
    t->first = xlm_sentence_pairs_first(pairs);
    t->all = xlm_sentence_pairs_total(pairs);
    for (int s = 0; s < 2; s++) {
        t->side[s] = (xlm_pair_side){.language = languages[s], .offsets = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                                     .ids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
                                     .words = g_array_new(FALSE, FALSE, sizeof(int32_t))};
        g_array_append_val(t->side[s].offsets, zero);
    }
    return t;
}

/* Collective. Lines whose subwords are largely unknown are of another script; a corpus has its own subwords. */
static void warn_unknown(const xlm_comm *comm, const xlm_sentence_pairs *pairs, const xlm_vocabulary *vocabulary,
                         const xlm_pair_text *t)
{
    const int32_t unknown = xlm_vocabulary_special(vocabulary, XLM_UNK);
    for (int s = 0; s < 2; s++) {
        const GArray *ids = t->side[s].ids;
        int64_t counts[2] = {ids->len, 0};
        for (guint i = 0; i < ids->len; i++)
            counts[1] += g_array_index(ids, int32_t, i) == unknown;
        xlm_comm_sum_int64(comm, counts, 2);
        xlm_warn_unknown(xlm_sentence_pairs_path(pairs, s), counts[0], counts[1]);
    }
}

xlm_pair_text *xlm_pair_text_read(const xlm_comm *comm, xlm_sentence_pairs *pairs, const xlm_vocabulary *vocabulary,
                                  const int languages[2], xlm_word_mode words, GError **error)
{
    struct reading r = {0};
    xlm_pair_text *t = new_text(pairs, languages);
    GError *failure = NULL;
    if (xlm_sentence_pairs_corpus(pairs) != NULL || open_reading(&r, vocabulary, words, &failure))
        read_pairs(&r, pairs, t, &failure);
    close_reading(&r);
    if (!xlm_comm_agree_on(comm, failure, error))
        g_clear_pointer(&t, xlm_pair_text_free);
    else if (xlm_sentence_pairs_corpus(pairs) == NULL)
        warn_unknown(comm, pairs, vocabulary, t);
    return t;
}

void xlm_pair_text_free(xlm_pair_text *text)
{
    if (text == NULL)
        return;
    for (int s = 0; s < 2; s++) {
        g_array_unref(text->side[s].offsets);
        g_array_unref(text->side[s].ids);
        g_array_unref(text->side[s].words);
    }
    g_free(text);
}

int64_t xlm_pair_start(const xlm_pair_text *text, int64_t pair, int side)
{
    return g_array_index(text->side[side].offsets, int64_t, pair);
}

int64_t xlm_pair_size(const xlm_pair_text *text, int64_t pair, int side)
{
    return xlm_pair_start(text, pair + 1, side) - xlm_pair_start(text, pair, side);
}
