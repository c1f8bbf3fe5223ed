/* xlm-mpi: the sentences of a corpus copied into a new one (xlm_prep --append). SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/append.h"

#include <string.h>

#include "base/progress.h"
#include "base/signals.h"
#include "comm/comm.h"

/* Sentences of a rank that are copied at a time, unless they are long, and links. */
enum { BLOCK = 16384 };

struct xlm_prep_copy {
    const xlm_comm *comm;
    const xlm_prep_options *options;
    xlm_corpus_writer *writer;
    int64_t *first_parallel[XLM_SPLITS]; /* [languages] the new number of the first sentence that is only in pairs */
    xlm_encoded_text text;
    GArray *numbers; /* uint64_t or int64_t, scratch: offsets, links */
};

xlm_prep_copy *xlm_prep_copy_new(const xlm_comm *comm, const xlm_prep_options *options, xlm_corpus_writer *writer)
{
    xlm_prep_copy *copy = g_new0(xlm_prep_copy, 1);
    copy->comm = comm;
    copy->options = options;
    copy->writer = writer;
    for (int split = 0; split < XLM_SPLITS; split++)
        copy->first_parallel[split] = g_new0(int64_t, options->languages->len);
    copy->text = (xlm_encoded_text){g_array_new(FALSE, FALSE, sizeof(int32_t)), g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    copy->numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    return copy;
}

void xlm_prep_copy_free(xlm_prep_copy *copy)
{
    if (copy == NULL)
        return;
    for (int split = 0; split < XLM_SPLITS; split++)
        g_free(copy->first_parallel[split]);
    g_array_free(copy->text.tokens, TRUE);
    g_array_free(copy->text.lengths, TRUE);
    g_array_free(copy->numbers, TRUE);
    g_free(copy);
}

static const xlm_corpus *corpus_of(const xlm_prep_copy *copy) { return copy->options->append->corpus; }

/* ---- text ---- */

/* Is the sentence of the old corpus copied? */
static bool is_kept(const xlm_prep_copy *copy, xlm_split split, const xlm_corpus_text *text, int64_t sentence)
{
    return split != XLM_TRAIN || !xlm_appended_is_dropped(copy->options->append, text->language_id, sentence);
}

/* Read the offsets of this rank's n sentences from `first` on into copy->numbers. Returns how many tokens they have; -1 with an
 * error. */
static int64_t read_offsets(xlm_prep_copy *copy, const xlm_corpus_text *text, int64_t first, int64_t n, GError **error)
{
    if (n == 0)
        return 0;
    g_array_set_size(copy->numbers, (guint)n + 1);
    uint64_t *offsets = (uint64_t *)(void *)copy->numbers->data;
    return xlm_corpus_read_offsets(text, first, n + 1, offsets, error) ? (int64_t)(offsets[n] - offsets[0]) : -1;
}

/* Read the same n sentences, whose offsets are in copy->numbers, into copy->text. */
static bool read_block(xlm_prep_copy *copy, xlm_split split, const xlm_corpus_text *text, int64_t first, int64_t n,
                       GError **error)
{
    g_array_set_size(copy->text.tokens, 0);
    g_array_set_size(copy->text.lengths, 0);
    if (n == 0)
        return true;
    const uint64_t *offsets = (const uint64_t *)(const void *)copy->numbers->data;
    const int64_t tokens = (int64_t)(offsets[n] - offsets[0]);
    if (!xlm_corpus_fits(corpus_of(copy), text, first, tokens, error))
        return false;
    g_array_set_size(copy->text.tokens, (guint)tokens);
    int32_t *ids = (int32_t *)(void *)copy->text.tokens->data;
    if (!xlm_corpus_read_tokens(text, (int64_t)offsets[0], tokens, ids, error))
        return false;
    guint kept = 0;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t length = (uint32_t)(offsets[i + 1] - offsets[i]);
        if (!is_kept(copy, split, text, first + i))
            continue;
        memmove(ids + kept, ids + (offsets[i] - offsets[0]), length * sizeof *ids);
        kept += length;
        g_array_append_val(copy->text.lengths, length);
    }
    g_array_set_size(copy->text.tokens, kept);
    return true;
}

/* Read the next sentences from `first` to `to` into copy->text, *block of each rank, one rank's after another's. [in, out] *block:
 * it is halved, on all ranks, until no rank has more tokens than are read at a time, or one sentence. */
static bool read_round(xlm_prep_copy *copy, xlm_split split, const xlm_corpus_text *text, int64_t first, int64_t to,
                       int64_t *block, GError **error)
{
    const xlm_comm *comm = copy->comm;
    for (;; *block /= 2) {
        const int64_t begin = first + *block * comm->rank, n = CLAMP(to - begin, 0, *block);
        GError *failure = NULL;
        int64_t tokens = read_offsets(copy, text, begin, n, &failure);
        if (!xlm_comm_agree_on(comm, failure, error))
            return false;
        xlm_comm_max_int64(comm, &tokens, 1);
        if (tokens > XLM_CORPUS_TOKENS_AT_ONCE && *block > 1)
            continue;
        if (read_block(copy, split, text, begin, n, &failure))
            xlm_signals_none(&failure);
        return xlm_comm_agree_on(comm, failure, error);
    }
}

/* Copy the sentences [from, to); [out] *first: the new number of the first one. */
static bool copy_sentences(xlm_prep_copy *copy, xlm_split split, const xlm_corpus_text *text, int64_t from, int64_t to,
                           int64_t *first, GError **error)
{
    const xlm_comm *comm = copy->comm;
    int64_t block = BLOCK;
    xlm_progress progress = xlm_progress_begin("copying sentences", (double)(to - from), "sentences");
    for (int64_t next = from; next < to; next += block * comm->ranks) {
        int64_t number;
        block = MIN(2 * block, BLOCK);
        if (!read_round(copy, split, text, next, to, &block, error) ||
            !xlm_corpus_writer_text(copy->writer, split, text->language_id, &copy->text, &number, error))
            return false;
        if (next == from) {
            xlm_comm_broadcast(comm, 0, &number, sizeof number);
            *first = number;
        }
        xlm_progress_show(&progress, (double)(next - from));
    }
    xlm_progress_end(&progress);
    return true;
}

/* Copy the monolingual or the other sentences of all languages. */
static bool copy_texts(xlm_prep_copy *copy, bool monolingual, GError **error)
{
    for (int split = 0; split < XLM_SPLITS; split++) {
        int n;
        const xlm_corpus_text *texts = xlm_corpus_texts(corpus_of(copy), split, &n);
        for (int i = 0; i < n; i++) {
            int64_t begins = 0, *first = monolingual ? &begins : &copy->first_parallel[split][texts[i].language_id];
            if (!copy_sentences(copy, split, &texts[i], monolingual ? 0 : texts[i].monolingual_sentences,
                                monolingual ? texts[i].monolingual_sentences : texts[i].sentences, first, error))
                return false;
        }
    }
    return true;
}

/* ---- links ---- */

/* The new number of a sentence of the old corpus, which was copied. */
static int64_t renumber(const xlm_prep_copy *copy, xlm_split split, const xlm_corpus_text *text, int64_t sentence)
{
    const xlm_appended *append = copy->options->append;
    const int64_t middle = text->monolingual_sentences, language = text->language_id;
    const bool train = split == XLM_TRAIN;
    const int64_t kept = sentence - (train ? xlm_appended_dropped_below(append, (int)language, sentence) : 0);
    if (sentence < middle)
        return kept;
    return kept - (middle - (train ? xlm_appended_dropped_below(append, (int)language, middle) : 0)) +
           copy->first_parallel[split][language];
}

/* Read this rank's n links from `first` on into copy->numbers, as they are in the new corpus. [out] *kept: how many there are. */
static bool read_links(xlm_prep_copy *copy, xlm_split split, const xlm_corpus_pairs *pairs, int64_t first, int64_t n,
                       int64_t *kept, GError **error)
{
    *kept = 0;
    g_array_set_size(copy->numbers, 2 * (guint)MAX(n, 0));
    int64_t *links = (int64_t *)(void *)copy->numbers->data;
    if (n > 0 && !xlm_corpus_read_links(corpus_of(copy), pairs, first, n, links, error))
        return false;
    for (int64_t i = 0; i < n; i++) {
        const int64_t source = links[2 * i], target = links[2 * i + 1];
        if (!is_kept(copy, split, pairs->source, source) || !is_kept(copy, split, pairs->target, target))
            continue;
        links[2 * *kept] = renumber(copy, split, pairs->source, source);
        links[2 * *kept + 1] = renumber(copy, split, pairs->target, target);
        ++*kept;
    }
    return true;
}

static bool copy_links(xlm_prep_copy *copy, xlm_split split, const xlm_corpus_pairs *pairs, GError **error)
{
    const xlm_comm *comm = copy->comm;
    const int pair = xlm_prep_pair_of(copy->options, pairs);
    xlm_progress progress = xlm_progress_begin("copying links", (double)pairs->pairs, "pairs");
    for (int64_t round = 0; round < pairs->pairs; round += (int64_t)BLOCK * comm->ranks) {
        const int64_t begin = round + (int64_t)BLOCK * comm->rank;
        GError *failure = NULL;
        int64_t kept;
        read_links(copy, split, pairs, begin, CLAMP(pairs->pairs - begin, 0, BLOCK), &kept, &failure);
        if (!xlm_comm_agree_on(comm, failure, error) ||
            !xlm_corpus_writer_links(copy->writer, split, pair, kept, (const int64_t *)(void *)copy->numbers->data, error))
            return false;
        xlm_progress_show(&progress, (double)round);
    }
    xlm_progress_end(&progress);
    return true;
}

/* Copy the links of pairs of synthetic languages, which are of monolingual text, or of the others. */
static bool copy_pairs(xlm_prep_copy *copy, bool made, GError **error)
{
    for (int split = 0; split < XLM_SPLITS; split++) {
        int n;
        const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(corpus_of(copy), split, &n);
        for (int i = 0; i < n; i++)
            if (xlm_appended_is_made(copy->options->append, &pairs[i]) == made && !copy_links(copy, split, &pairs[i], error))
                return false;
    }
    return true;
}

bool xlm_prep_copy_monolingual(xlm_prep_copy *copy, GError **error)
{
    return copy_texts(copy, true, error) && copy_pairs(copy, true, error);
}

bool xlm_prep_copy_parallel(xlm_prep_copy *copy, GError **error)
{
    return copy_texts(copy, false, error) && copy_pairs(copy, false, error);
}
