/* xlm-mpi: text encoded and written in the order in which it stands in its files. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus/prepare_encode.h"

#include "base/signals.h"
#include "text/tokenizer.h"

enum { SPLITS = 2 };

struct encoder {
    const xlm_comm *comm;
    xlm_tokenizer *tokenizer;
    xlm_encoded_text text[SPLITS][2]; /* of one block: [split][side] */
    GArray *links;                    /* int64_t x 2 */
    xlm_corpus_writer *writer;
    xlm_prepare_counts *counts;
};

static struct encoder *new_encoder(const xlm_comm *comm, const xlm_vocabulary *vocabulary, xlm_corpus_writer *writer,
                                   xlm_prepare_counts *counts, GError **error)
{
    xlm_tokenizer *tokenizer = xlm_tokenizer_new(vocabulary, error);
    if (tokenizer == NULL)
        return NULL;
    struct encoder *encoder = g_new0(struct encoder, 1);
    encoder->comm = comm;
    encoder->tokenizer = tokenizer;
    encoder->writer = writer;
    encoder->counts = counts;
    encoder->links = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int split = 0; split < SPLITS; split++)
        for (int side = 0; side < 2; side++)
            encoder->text[split][side] = (xlm_encoded_text){g_array_new(FALSE, FALSE, sizeof(int32_t)),
                                                            g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    return encoder;
}

static void free_encoder(struct encoder *encoder)
{
    for (int split = 0; split < SPLITS; split++)
        for (int side = 0; side < 2; side++) {
            g_array_free(encoder->text[split][side].tokens, TRUE);
            g_array_free(encoder->text[split][side].lengths, TRUE);
        }
    g_array_free(encoder->links, TRUE);
    xlm_tokenizer_free(encoder->tokenizer);
    g_free(encoder);
}

static bool encode_side(struct encoder *encoder, int language, const char *text, size_t size, xlm_encoded_text *out,
                        GError **error)
{
    const guint first = out->tokens->len;
    size_t words;
    if (!xlm_tokenizer_encode_normalised(encoder->tokenizer, language, text, size, out->tokens, &words, error))
        return false;
    const uint32_t length = out->tokens->len - first;
    g_array_append_val(out->lengths, length);

    xlm_language_counts *counts = &encoder->counts->language[language];
    counts->words += (int64_t)words;
    counts->tokens += length;
    for (guint i = first; i < out->tokens->len; i++)
        counts->unknown += g_array_index(out->tokens, int32_t, i) == XLM_ID_UNK;
    return true;
}

static void count_fate(xlm_fate_counts *counts, const xlm_sentence *sentence)
{
    if (sentence->empty)
        counts->empty++;
    else if (sentence->fate == XLM_FATE_TRAIN)
        counts->train++;
    else if (sentence->fate == XLM_FATE_HELD_OUT)
        counts->held_out++;
    else
        counts->aside++;
}

/* pair: index of the pair, -1 for monolingual text. */
static bool encode_sentence(struct encoder *encoder, const xlm_prepare_source *source, int pair,
                            const xlm_sentence *sentence, GError **error)
{
    for (int side = 0; side < source->sides; side++) {
        xlm_language_counts *counts = &encoder->counts->language[source->language[side]];
        count_fate(pair < 0 ? &counts->monolingual : &counts->parallel, sentence);
    }
    if (pair >= 0)
        count_fate(&encoder->counts->pair[pair], sentence);
    if (sentence->empty || sentence->fate == XLM_FATE_ASIDE)
        return true;
    const xlm_split split = sentence->fate == XLM_FATE_TRAIN ? XLM_TRAIN : XLM_HELD_OUT;
    for (int side = 0; side < source->sides; side++)
        if (!encode_side(encoder, source->language[side], sentence->text[side], sentence->size[side],
                         &encoder->text[split][side], error))
            return false;
    return true;
}

/* Append every rank's block to the file; collective. */
static bool write_block(struct encoder *encoder, const xlm_prepare_source *source, int pair, GError **error)
{
    for (int split = 0; split < SPLITS; split++) {
        int64_t first[2];
        for (int side = 0; side < source->sides; side++)
            if (!xlm_corpus_writer_text(encoder->writer, split, source->language[side], &encoder->text[split][side],
                                        &first[side], error))
                return false;
        if (pair < 0)
            continue;
        const guint n = encoder->text[split][0].lengths->len;
        g_array_set_size(encoder->links, 2 * n);
        int64_t *link = (int64_t *)(void *)encoder->links->data;
        for (guint i = 0; i < n; i++) {
            link[2 * i] = first[0] + i;
            link[2 * i + 1] = first[1] + i;
        }
        if (!xlm_corpus_writer_links(encoder->writer, split, pair, n, link, error))
            return false;
    }
    return true;
}

static void forget_block(struct encoder *encoder)
{
    for (int split = 0; split < SPLITS; split++)
        for (int side = 0; side < 2; side++) {
            g_array_set_size(encoder->text[split][side].tokens, 0);
            g_array_set_size(encoder->text[split][side].lengths, 0);
        }
}

/* Rounds: each rank encodes its next block, and all are written together, until no rank has more. A rank whose reading
 * failed goes on with empty blocks, so that the error found earliest in the file can be told from the others. */
static bool encode_source(struct encoder *encoder, const xlm_prepare_source *source, int pair, xlm_scan *scan,
                          const xlm_sentence_maker *maker, xlm_prepare_progress *progress, GError **error)
{
    for (int64_t more = 1; more > 0;) {
        GError *failure = NULL;
        xlm_sentence sentence;
        forget_block(encoder);
        xlm_scan_block(scan);
        while (failure == NULL && xlm_scan_sentence(scan, maker, &sentence))
            encode_sentence(encoder, source, pair, &sentence, &failure);
        if (failure == NULL)
            xlm_signals_none(&failure);
        xlm_prepare_progress_show(progress, xlm_scan_position(scan));
        if (!xlm_comm_agree(encoder->comm, &failure)) {
            g_propagate_error(error, failure);
            return false;
        }
        if (!write_block(encoder, source, pair, error))
            return false;
        more = !xlm_scan_ended(scan);
        xlm_comm_sum_int64(encoder->comm, &more, 1);
    }
    return true;
}

static bool encode_all(struct encoder *encoder, const xlm_prepare_options *options, const xlm_sentence_maker *maker,
                       int64_t *lines, GError **error)
{
    xlm_prepare_progress progress = xlm_prepare_progress_begin(options, 0, "encoding");
    for (int i = 0; i < (int)options->sources->len; i++) {
        const xlm_prepare_source *source = options->sources->pdata[i];
        if (i == options->monolingual_sources)
            xlm_corpus_writer_end_monolingual(encoder->writer);
        xlm_scan *scan = xlm_scan_open(encoder->comm, source);
        if (!encode_source(encoder, source, i - options->monolingual_sources, scan, maker, &progress, error)) {
            xlm_scan_close(scan);
            return false;
        }
        if (!xlm_scan_finish(scan, encoder->comm, &lines[i], error))
            return false;
        xlm_prepare_progress_next(&progress, source);
    }
    if (options->monolingual_sources == (int)options->sources->len)
        xlm_corpus_writer_end_monolingual(encoder->writer);
    return true;
}

bool xlm_prepare_encode(const xlm_comm *comm, const xlm_prepare_options *options, const xlm_sentence_maker *maker,
                        const xlm_vocabulary *vocabulary, xlm_corpus_writer *writer, xlm_prepare_counts *counts,
                        int64_t *lines, GError **error)
{
    GError *failure = NULL;
    struct encoder *encoder = new_encoder(comm, vocabulary, writer, counts, &failure);
    const bool good = xlm_comm_agree(comm, &failure) && encode_all(encoder, options, maker, lines, &failure);
    if (encoder != NULL)
        free_encoder(encoder);
    if (good)
        xlm_prepare_counts_sum(counts, comm);
    else
        g_propagate_error(error, failure);
    return good;
}
