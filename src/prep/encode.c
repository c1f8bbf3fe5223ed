/* xlm-mpi: text encoded and written in the order of its files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/steps.h"

#include "base/signals.h"
#include "prep/append.h"
#include "prep/synthetic_text.h"
#include "subwords/tokenizer.h"

enum { SPLITS = 2 };

/* The text of one block: both sides of pairs, or monolingual text and the synthetic languages made from it. */
struct parts {
    int n;
    int *language;                    /* [n] */
    int *pair;                        /* [n] the pair of languages that this part makes with part 0, -1 for none */
    xlm_encoded_text (*text)[SPLITS]; /* [n][split] */
    int64_t *first;                   /* [n] index in the corpus of this rank's first sentence */
};

struct encoder {
    const xlm_comm *comm;
    xlm_tokenizer *tokenizer;
    const xlm_prep_options *options;
    struct parts parts;
    GArray *ordered; /* xlm_word */
    GArray *links;   /* int64_t x 2 */
    xlm_corpus_writer *writer;
    xlm_prep_copy *copy; /* of the corpus to which text is added; NULL: none */
    xlm_prep_counts *counts;
    int source; /* number of the present one */
};

/* ---- parts ---- */

static void add_part(struct parts *parts, int language, int pair)
{
    const int i = parts->n++;
    parts->language[i] = language;
    parts->pair[i] = pair;
}

/* Make room for the maximum number of parts of a source. */
static void init_parts(struct parts *parts, const xlm_prep_options *options)
{
    const int max_parts = 2 + (int)options->synthetic->len;
    parts->language = g_new(int, max_parts);
    parts->pair = g_new(int, max_parts);
    parts->first = g_new(int64_t, max_parts);
    parts->text = g_malloc0((gsize)max_parts * sizeof *parts->text);
    for (int i = 0; i < max_parts; i++)
        for (int split = 0; split < SPLITS; split++)
            parts->text[i][split] = (xlm_encoded_text){g_array_new(FALSE, FALSE, sizeof(int32_t)),
                                                       g_array_new(FALSE, FALSE, sizeof(uint32_t))};
}

static void clear_parts(struct parts *parts, const xlm_prep_options *options)
{
    for (int i = 0; i < 2 + (int)options->synthetic->len; i++)
        for (int split = 0; split < SPLITS; split++) {
            g_array_free(parts->text[i][split].tokens, TRUE);
            g_array_free(parts->text[i][split].lengths, TRUE);
        }
    g_free(parts->language);
    g_free(parts->pair);
    g_free(parts->first);
    g_free(parts->text);
}

static void forget_text(struct parts *parts)
{
    for (int i = 0; i < parts->n; i++)
        for (int split = 0; split < SPLITS; split++) {
            g_array_set_size(parts->text[i][split].tokens, 0);
            g_array_set_size(parts->text[i][split].lengths, 0);
        }
}

/* Set the parts into which source i will be read. */
static void plan_parts(struct parts *parts, const xlm_prep_options *options, int i)
{
    const xlm_prep_source *source = options->sources->pdata[i];
    const int given = (int)options->sources->len - options->monolingual_sources;
    parts->n = 0;
    add_part(parts, source->language[0], -1);
    if (source->sides == 2)
        add_part(parts, source->language[1], i - options->monolingual_sources);
    for (guint k = 0; source->sides == 1 && k < options->synthetic->len; k++) {
        const xlm_synthetic *made = options->synthetic->pdata[k];
        if (made->base == source->language[0])
            add_part(parts, made->language, given + (int)k);
    }
}

/* ---- encoding ---- */

static void free_encoder(struct encoder *encoder)
{
    clear_parts(&encoder->parts, encoder->options);
    g_array_free(encoder->links, TRUE);
    g_array_free(encoder->ordered, TRUE);
    xlm_tokenizer_free(encoder->tokenizer);
    xlm_prep_copy_free(encoder->copy);
    g_free(encoder);
}

static struct encoder *new_encoder(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                                   const xlm_vocabulary *vocabulary, xlm_corpus_writer *writer, xlm_prep_counts *counts,
                                   GError **error)
{
    xlm_tokenizer *tokenizer = xlm_tokenizer_new(vocabulary, error);
    if (tokenizer == NULL)
        return NULL;
    xlm_tokenizer_lend_splitters(tokenizer, reader->splitter, (int)options->languages->len);
    struct encoder *encoder = g_new0(struct encoder, 1);
    encoder->comm = comm;
    encoder->tokenizer = tokenizer;
    encoder->options = options;
    encoder->writer = writer;
    encoder->copy = options->append != NULL ? xlm_prep_copy_new(comm, options, writer) : NULL;
    encoder->counts = counts;
    encoder->ordered = g_array_new(FALSE, FALSE, sizeof(xlm_word));
    encoder->links = g_array_new(FALSE, FALSE, sizeof(int64_t));
    init_parts(&encoder->parts, options);
    return encoder;
}

/* Encode n words of a line as a sentence of part i. */
static void encode_words(struct encoder *encoder, int i, xlm_split split, const char *line, const xlm_word *words, size_t n)
{
    const int language = encoder->parts.language[i];
    xlm_encoded_text *out = &encoder->parts.text[i][split];
    const guint first = out->tokens->len;
    if (n > 0)
        xlm_tokenizer_begin(encoder->tokenizer, language, out->tokens);
    xlm_tokenizer_encode_words(encoder->tokenizer, language, line, words, n, out->tokens);
    const uint32_t length = out->tokens->len - first;
    g_array_append_val(out->lengths, length);

    xlm_language_counts *counts = &encoder->counts->language[language];
    counts->words +=
        (int64_t)xlm_tokenizer_count_words(encoder->tokenizer, &g_array_index(out->tokens, int32_t, first), length, n);
    counts->tokens += length;
    const int32_t unknown = xlm_vocabulary_special(xlm_tokenizer_vocabulary(encoder->tokenizer), XLM_UNK);
    for (guint k = first; k < out->tokens->len; k++)
        counts->unknown += g_array_index(out->tokens, int32_t, k) == unknown;
}

/* Encode a sentence of monolingual text, and the same in the synthetic languages made from it. */
static bool encode_with_made(struct encoder *encoder, const xlm_sentence_reader *reader, const xlm_sentence *sentence,
                             xlm_split split, GError **error)
{
    const struct parts *parts = &encoder->parts;
    const int given = (int)encoder->options->sources->len - encoder->options->monolingual_sources;
    const xlm_word *words;
    size_t n;
    if (!xlm_tokenizer_words(encoder->tokenizer, parts->language[0], sentence->text[0], sentence->size[0], &words, &n, error))
        return false;
    encode_words(encoder, 0, split, sentence->text[0], words, n);
    for (int i = 1; i < parts->n; i++) {
        xlm_word_order_apply(reader->orders[parts->pair[i] - given], sentence, words, n, encoder->ordered);
        encode_words(encoder, i, split, sentence->text[0], (const xlm_word *)(void *)encoder->ordered->data, n);
    }
    return true;
}

static bool encode_pair(struct encoder *encoder, const xlm_sentence *sentence, xlm_split split, GError **error)
{
    for (int side = 0; side < 2; side++) {
        const xlm_word *words;
        size_t n;
        if (!xlm_tokenizer_words(encoder->tokenizer, encoder->parts.language[side], sentence->text[side], sentence->size[side],
                                 &words, &n, error))
            return false;
        encode_words(encoder, side, split, sentence->text[side], words, n);
    }
    return true;
}

static void count_bad(xlm_bad_counts *counts, const xlm_sentence *sentence)
{
    if (!sentence->skipped && !sentence->repaired)
        return;
    counts->skipped += sentence->skipped;
    counts->repaired += !sentence->skipped;
    counts->first = counts->first > 0 ? MIN(counts->first, sentence->line) : sentence->line;
}

static void count_sentence(xlm_split_counts *counts, const xlm_sentence *sentence)
{
    if (sentence->skipped || sentence->rule != XLM_RULES)
        return;
    if (sentence->empty)
        counts->empty++;
    else if (sentence->assignment == XLM_ASSIGNED_TRAIN)
        counts->train++;
    else if (sentence->assignment == XLM_ASSIGNED_HELD_OUT)
        counts->held_out++;
    else
        counts->aside++;
}

static bool encode_sentence(struct encoder *encoder, const xlm_prep_source *source, const xlm_sentence_reader *reader,
                            const xlm_sentence *sentence, GError **error)
{
    const struct parts *parts = &encoder->parts;
    count_bad(&encoder->counts->bad[encoder->source], sentence);
    if (sentence->rule != XLM_RULES)
        encoder->counts->left_out[encoder->source][sentence->rule]++;
    for (int i = 0; i < parts->n; i++) {
        xlm_language_counts *counts = &encoder->counts->language[parts->language[i]];
        count_sentence(source->sides == 1 ? &counts->monolingual : &counts->parallel, sentence);
        if (parts->pair[i] >= 0)
            count_sentence(&encoder->counts->pair[parts->pair[i]], sentence);
    }
    if (sentence->empty || sentence->assignment == XLM_ASSIGNED_NEITHER)
        return true;
    const xlm_split split = sentence->assignment == XLM_ASSIGNED_TRAIN ? XLM_TRAIN : XLM_HELD_OUT;
    return source->sides == 1 ? encode_with_made(encoder, reader, sentence, split, error)
                              : encode_pair(encoder, sentence, split, error);
}

/* Link the sentences of part i with those of part 0. */
static bool write_links(struct encoder *encoder, xlm_split split, int i, GError **error)
{
    const struct parts *parts = &encoder->parts;
    const guint n = parts->text[i][split].lengths->len;
    g_array_set_size(encoder->links, 2 * n);
    int64_t *link = (int64_t *)(void *)encoder->links->data;
    for (guint k = 0; k < n; k++) {
        link[2 * k] = parts->first[0] + k;
        link[2 * k + 1] = parts->first[i] + k;
    }
    return xlm_corpus_writer_links(encoder->writer, split, parts->pair[i], n, link, error);
}

/* Append every rank's block to the corpus; collective. */
static bool write_block(struct encoder *encoder, GError **error)
{
    struct parts *parts = &encoder->parts;
    for (int split = 0; split < SPLITS; split++) {
        for (int i = 0; i < parts->n; i++)
            if (!xlm_corpus_writer_text(encoder->writer, split, parts->language[i], &parts->text[i][split], &parts->first[i],
                                        error))
                return false;
        for (int i = 0; i < parts->n; i++)
            if (parts->pair[i] >= 0 && !write_links(encoder, split, i, error))
                return false;
    }
    return true;
}

/* In each round, every rank encodes its next block, and all are written together, until no rank has more. A rank that fails to
 * read continues with empty blocks, so that at the end the error that is earliest in the file is reported. Collective. */
static bool encode_source(struct encoder *encoder, const xlm_prep_source *source, xlm_scan *scan,
                          const xlm_sentence_reader *reader, xlm_prep_progress *progress, GError **error)
{
    for (int64_t more = 1; more > 0;) {
        GError *failure = NULL;
        xlm_sentence sentence;
        forget_text(&encoder->parts);
        xlm_scan_block(scan);
        while (failure == NULL && xlm_scan_sentence(scan, reader, &sentence))
            encode_sentence(encoder, source, reader, &sentence, &failure);
        if (failure == NULL)
            xlm_signals_none(&failure);
        xlm_prep_progress_show(progress, xlm_scan_position(scan));
        if (!xlm_comm_agree_on(encoder->comm, failure, error))
            return false;
        if (!write_block(encoder, error))
            return false;
        more = !xlm_scan_ended(scan);
        xlm_comm_sum_int64(encoder->comm, &more, 1);
    }
    return true;
}

/* All monolingual text is written; what follows comes from pairs. */
static bool end_monolingual(struct encoder *encoder, GError **error)
{
    xlm_corpus_writer_end_monolingual(encoder->writer);
    return encoder->copy == NULL || xlm_prep_copy_parallel(encoder->copy, error);
}

static bool encode_all(struct encoder *encoder, const xlm_sentence_reader *reader, int64_t *lines, GError **error)
{
    const xlm_prep_options *options = encoder->options;
    if (encoder->copy != NULL && !xlm_prep_copy_monolingual(encoder->copy, error))
        return false;
    xlm_prep_progress progress = xlm_prep_progress_begin(options, 0, "encoding");
    for (int i = 0; i < (int)options->sources->len; i++) {
        const xlm_prep_source *source = options->sources->pdata[i];
        if (i == options->monolingual_sources && !end_monolingual(encoder, error))
            return false;
        encoder->source = i;
        plan_parts(&encoder->parts, options, i);
        xlm_scan *scan = xlm_scan_open(encoder->comm, source);
        if (!encode_source(encoder, source, scan, reader, &progress, error)) {
            xlm_scan_close(scan);
            return false;
        }
        if (!xlm_scan_finish(scan, encoder->comm, &lines[i], error))
            return false;
        xlm_prep_progress_next(&progress, source);
    }
    return options->monolingual_sources < (int)options->sources->len || end_monolingual(encoder, error);
}

bool xlm_prep_encode(const xlm_comm *comm, const xlm_prep_options *options, const xlm_sentence_reader *reader,
                     const xlm_vocabulary *vocabulary, xlm_corpus_writer *writer, xlm_prep_counts *counts,
                     int64_t *lines, GError **error)
{
    GError *failure = NULL;
    struct encoder *encoder = new_encoder(comm, options, reader, vocabulary, writer, counts, &failure);
    const bool good = xlm_comm_agree_on(comm, failure, error) && encode_all(encoder, reader, lines, error);
    if (encoder != NULL)
        free_encoder(encoder);
    if (good)
        xlm_prep_counts_sum(counts, comm);
    return good;
}
