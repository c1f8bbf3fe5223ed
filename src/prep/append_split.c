/* xlm-mpi: the split of a corpus with text added to it (xlm_prep --append). SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/append_split.h"

#include "aligners/corpus_walk.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/signals.h"
#include "prep/ascending.h"

/* Sentences, unless they are long, or links that are read at a time. */
enum { BLOCK = 16384 };

/* What the old sentences are compared with. */
struct search {
    const xlm_comm *comm;
    xlm_appended *append;
    xlm_assignments *assignments;
    xlm_normaliser *normaliser; /* of the segmenter's own form of text, which digests are of; NULL: decoded text has that form */
    GString *text;   /* scratch: a decoded sentence */
    GArray *offsets; /* uint64_t, scratch */
    GArray *ids;     /* int32_t, scratch */
};

static struct search begin(const xlm_comm *comm, xlm_appended *append, const xlm_sentence_reader *reader)
{
    xlm_normaliser *normaliser = reader->normaliser[0];
    return (struct search){comm, append, reader->assignments, xlm_normaliser_keeps_space(normaliser) ? normaliser : NULL,
                           g_string_new(NULL), g_array_new(FALSE, FALSE, sizeof(uint64_t)),
                           g_array_new(FALSE, FALSE, sizeof(int32_t))};
}

static void end(struct search *s)
{
    g_string_free(s->text, TRUE);
    g_array_free(s->offsets, TRUE);
    g_array_free(s->ids, TRUE);
}

static const xlm_vocabulary *vocabulary_of(const struct search *s) { return xlm_corpus_vocabulary(s->append->corpus); }

/* The digest of a sentence. False when it has an unknown subword, and so is not known. */
static bool identify(struct search *s, const int32_t *ids, int64_t n, uint64_t *digest)
{
    const int32_t unknown = xlm_vocabulary_special(vocabulary_of(s), XLM_UNK);
    for (int64_t i = 0; i < n; i++)
        if (ids[i] == unknown)
            return false;
    g_string_truncate(s->text, 0);
    xlm_vocabulary_decode(vocabulary_of(s), ids, (size_t)n, s->text);
    const char *text = s->text->str;
    size_t size = s->text->len;
    if (s->normaliser != NULL && !xlm_normaliser_run(s->normaliser, text, size, &text, &size, NULL))
        return false;
    *digest = xlm_assignments_digest(s->assignments, text, size);
    return true;
}

/* Where the part of a rank begins, of n things that ranks share. */
static int64_t share(const xlm_comm *comm, int64_t n, int rank) { return n / comm->ranks * rank + MIN(n % comm->ranks, rank); }

/* ---- pairs ---- */

static bool add_pairs(struct search *s, const xlm_corpus_pairs *pairs, GError **error)
{
    const int64_t last = share(s->comm, pairs->pairs, s->comm->rank + 1);
    xlm_corpus_walk *walk = xlm_corpus_walk_new(s->append->corpus, pairs, false);
    int64_t at = share(s->comm, pairs->pairs, s->comm->rank), n[2];
    const int32_t *ids[2];
    bool good = true;
    xlm_progress progress = xlm_progress_begin("reading earlier pairs", (double)(last - at), "pairs");
    xlm_corpus_walk_to(walk, at);
    for (const int64_t first = at; at < last && good; at++) {
        uint64_t digest[2];
        good = xlm_corpus_walk_next(walk, ids, n, error) == 1 && (at % BLOCK != 0 || xlm_signals_none(error));
        if (good && identify(s, ids[0], n[0], &digest[0]) && identify(s, ids[1], n[1], &digest[1]))
            xlm_assignments_add_pair(s->assignments, digest[0], digest[1]);
        xlm_progress_show(&progress, (double)(at - first));
    }
    xlm_progress_end(&progress);
    xlm_corpus_walk_free(walk);
    return good;
}

bool xlm_prep_append_pairs(const xlm_comm *comm, const xlm_appended *append, const xlm_sentence_reader *reader, GError **error)
{
    int n;
    const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(append->corpus, XLM_TRAIN, &n);
    struct search s = begin(comm, (xlm_appended *)append, reader);
    GError *failure = NULL;
    for (int i = 0; i < n && failure == NULL; i++)
        if (!xlm_appended_is_made(append, &pairs[i]))
            add_pairs(&s, &pairs[i], &failure);
    end(&s);
    return xlm_comm_agree_on(comm, failure, error);
}

/* ---- sentences that are not for training any more ---- */

/* Read the offsets and ids of n sentences. [in, out] n: fewer if these have more tokens than are read at a time. */
static bool read_sentences(struct search *s, const xlm_corpus_text *text, int64_t first, int64_t *n, GError **error)
{
    g_array_set_size(s->offsets, (guint)*n + 1);
    uint64_t *offsets = (uint64_t *)(void *)s->offsets->data;
    if (!xlm_corpus_read_offsets(text, first, *n + 1, offsets, error))
        return false;
    while (*n > 1 && offsets[*n] - offsets[0] > XLM_CORPUS_TOKENS_AT_ONCE)
        *n /= 2;
    const int64_t tokens = (int64_t)(offsets[*n] - offsets[0]);
    if (!xlm_corpus_fits(s->append->corpus, text, first, tokens, error))
        return false;
    g_array_set_size(s->ids, (guint)tokens);
    return xlm_corpus_read_tokens(text, (int64_t)offsets[0], tokens, (int32_t *)(void *)s->ids->data, error);
}

/* Find sentences of a text, in this rank's part, that are held out or in neither split. */
static bool find_sentences(struct search *s, const xlm_corpus_text *text, GArray *found, GError **error)
{
    const int64_t first = share(s->comm, text->sentences, s->comm->rank);
    const int64_t last = share(s->comm, text->sentences, s->comm->rank + 1);
    xlm_progress progress = xlm_progress_begin("looking for held-out sentences", (double)(last - first), "sentences");
    for (int64_t at = first, n; at < last; at += n) {
        n = MIN(last - at, BLOCK);
        if (!read_sentences(s, text, at, &n, error) || !xlm_signals_none(error))
            return false;
        const uint64_t *offsets = (const uint64_t *)(void *)s->offsets->data;
        const int32_t *ids = (const int32_t *)(void *)s->ids->data;
        for (int64_t i = 0; i < n; i++) {
            const int64_t sentence = at + i;
            uint64_t digest;
            if (identify(s, ids + (offsets[i] - offsets[0]), (int64_t)(offsets[i + 1] - offsets[i]), &digest) &&
                xlm_assignments_is_listed(s->assignments, digest))
                g_array_append_val(found, sentence);
        }
        xlm_progress_show(&progress, (double)(at - first));
    }
    xlm_progress_end(&progress);
    return true;
}

/* Is it in the text only because of the sentence that it is linked with? */
static bool depends(const struct search *s, const xlm_corpus_text *text, int64_t sentence)
{
    return sentence >= text->monolingual_sentences || xlm_appended_is_made_language(s->append, text->language_id);
}

/* Find sentences, in this rank's part of the pairs, that are linked with a dropped one and go with it. */
static bool find_linked(struct search *s, const xlm_corpus_pairs *pairs, GArray *const *found, GError **error)
{
    const int64_t first = share(s->comm, pairs->pairs, s->comm->rank);
    const int64_t last = share(s->comm, pairs->pairs, s->comm->rank + 1);
    const xlm_corpus_text *text[2] = {pairs->source, pairs->target};
    g_autofree int64_t *links = g_new(int64_t, 2 * BLOCK);
    xlm_progress progress = xlm_progress_begin("looking for their translations", (double)(last - first), "pairs");
    for (int64_t at = first, n; at < last; at += n) {
        n = MIN(last - at, BLOCK);
        if (!xlm_corpus_read_links(s->append->corpus, pairs, at, n, links, error))
            return false;
        for (int64_t i = 0; i < 2 * n; i++) {
            const xlm_corpus_text *other = text[(i ^ 1) % 2];
            if (xlm_appended_is_dropped(s->append, text[i % 2]->language_id, links[i]) && depends(s, other, links[i ^ 1]))
                g_array_append_val(found[other->language_id], links[i ^ 1]);
        }
        xlm_progress_show(&progress, (double)(at - first));
    }
    xlm_progress_end(&progress);
    return true;
}

/* Count the subwords of the dropped sentences of a text, in this rank's part. */
static bool count_dropped(struct search *s, const xlm_corpus_text *text, GError **error)
{
    const GArray *dropped = s->append->dropped[text->language_id];
    xlm_progress progress = xlm_progress_begin("counting what is left out", (double)dropped->len, "sentences");
    for (guint i = (guint)s->comm->rank; i < dropped->len; i += (guint)s->comm->ranks) {
        int64_t one = 1;
        if (!read_sentences(s, text, g_array_index(dropped, int64_t, i), &one, error))
            return false;
        for (guint k = 0; k < s->ids->len; k++)
            s->append->dropped_counts[g_array_index(s->ids, int32_t, k)]++;
        xlm_progress_show(&progress, (double)i);
    }
    xlm_progress_end(&progress);
    return true;
}

/* Add what ranks have found in each language to append->dropped; collective. found: emptied. */
static void take_found(struct search *s, GArray **found, int languages)
{
    for (int i = 0; i < languages; i++)
        xlm_ascending_unite(s->append->dropped[i], found[i], s->comm);
}

static bool find_all(struct search *s, GArray **found, int languages, GError **error)
{
    int n, pair_count;
    const xlm_corpus_text *texts = xlm_corpus_texts(s->append->corpus, XLM_TRAIN, &n);
    const xlm_corpus_pairs *pairs = xlm_corpus_all_pairs(s->append->corpus, XLM_TRAIN, &pair_count);
    GError *failure = NULL;
    for (int i = 0; i < n && failure == NULL; i++)
        if (!xlm_appended_is_made_language(s->append, texts[i].language_id))
            find_sentences(s, &texts[i], found[texts[i].language_id], &failure);
    if (!xlm_comm_agree_on(s->comm, failure, error))
        return false;
    take_found(s, found, languages);
    for (int i = 0; i < pair_count && failure == NULL; i++)
        find_linked(s, &pairs[i], found, &failure);
    if (!xlm_comm_agree_on(s->comm, failure, error))
        return false;
    take_found(s, found, languages);
    for (int i = 0; i < n && failure == NULL; i++)
        if (!xlm_appended_is_made_language(s->append, texts[i].language_id))
            count_dropped(s, &texts[i], &failure);
    return xlm_comm_agree_on(s->comm, failure, error);
}

bool xlm_prep_find_dropped(const xlm_comm *comm, xlm_appended *append, const xlm_sentence_reader *reader, GError **error)
{
    if (xlm_assignments_listed(reader->assignments) == append->split.counts[0] + append->split.counts[1])
        return true; /* the new pairs hold out nothing else */
    struct search s = begin(comm, append, reader);
    const xlm_vocabulary *vocabulary = vocabulary_of(&s);
    const int languages = xlm_vocabulary_languages(vocabulary), size = (int)xlm_vocabulary_size(vocabulary);
    g_autofree GArray **found = g_new(GArray *, languages);
    int64_t dropped = 0;
    append->dropped = g_new(GArray *, languages);
    append->dropped_counts = g_new0(int64_t, size);
    for (int i = 0; i < languages; i++) {
        append->dropped[i] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        found[i] = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    }
    const bool good = find_all(&s, found, languages, error);
    if (good)
        xlm_comm_sum_int64(comm, append->dropped_counts, size);
    for (int i = 0; i < languages; i++) {
        dropped += append->dropped[i]->len;
        g_array_free(found[i], TRUE);
    }
    if (good && dropped > 0)
        xlm_log_info("%s: %" G_GINT64_FORMAT " sentences of its training text are left out: the new pairs hold them out, or "
                     "make them translations of held-out sentences", xlm_corpus_path(append->corpus), dropped);
    end(&s);
    return good;
}
