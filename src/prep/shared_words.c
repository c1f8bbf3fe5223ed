/* xlm-mpi: words of all text, counted by all ranks in bounded memory. SPDX-License-Identifier: GPL-3.0-or-later */
#include "prep/shared_words.h"

#include <string.h>

#include "text/word_runs.h"

struct xlm_shared_words {
    int languages;
    int64_t memory;
    char *scratch;
    xlm_word_counts **tables; /* [languages] */
    int64_t *held;            /* [languages] bytes of each table when it was last looked at */
    xlm_word_runs *runs;      /* what was in the tables; later, the words that this rank owns */
    int64_t *totals;          /* [languages] */
    int64_t spilled;
    GError *failure;
};

/* Tables are full at this memory, and when they have so many words, because tables number words in 32 bits. */
static const int64_t SMALLEST_TABLES = 1 << 20;
static const uint32_t MOST_WORDS = UINT32_C(1) << 28;

/* Shares of the memory. A table doubles when it is full, and is copied to a run: so tables take at most three quarters of it. */
static int64_t table_share(const xlm_shared_words *words) { return MAX(words->memory / 4, SMALLEST_TABLES); }
static int64_t run_share(const xlm_shared_words *words) { return words->memory / 4; }

xlm_shared_words *xlm_shared_words_new(int languages, int64_t memory, const char *scratch)
{
    xlm_shared_words *words = g_new0(xlm_shared_words, 1);
    *words = (xlm_shared_words){.languages = languages, .memory = memory, .scratch = g_strdup(scratch)};
    words->held = g_new0(int64_t, languages);
    words->totals = g_new0(int64_t, languages);
    words->tables = g_new(xlm_word_counts *, languages);
    words->runs = xlm_word_runs_new(words->scratch);
    for (int i = 0; i < languages; i++)
        words->tables[i] = xlm_word_counts_new();
    return words;
}

void xlm_shared_words_free(xlm_shared_words *words)
{
    if (words == NULL)
        return;
    for (int i = 0; i < words->languages; i++)
        xlm_word_counts_free(words->tables[i]);
    g_free(words->tables);
    g_free(words->held);
    xlm_word_runs_free(words->runs);
    g_free(words->scratch);
    g_free(words->totals);
    g_clear_error(&words->failure);
    g_free(words);
}

xlm_word_counts *xlm_shared_words_table(xlm_shared_words *words, int language) { return words->tables[language]; }

/* Make a run of all tables, which are empty then. */
static void empty_tables(xlm_shared_words *words)
{
    xlm_word_runs_add_tables(words->runs, words->tables, words->languages);
    for (int i = 0; i < words->languages; i++) {
        words->totals[i] += xlm_word_counts_total(words->tables[i]);
        xlm_word_counts_clear(words->tables[i]);
        words->held[i] = 0;
    }
}

static bool spill(xlm_shared_words *words, GError **error)
{
    words->spilled += xlm_word_runs_memory(words->runs);
    return xlm_word_runs_spill(words->runs, error);
}

void xlm_shared_words_bound(xlm_shared_words *words, int language)
{
    int64_t held = 0;
    words->held[language] = (int64_t)xlm_word_counts_memory(words->tables[language]);
    for (int i = 0; i < words->languages; i++)
        held += words->held[i];
    if (held < table_share(words) && xlm_word_counts_size(words->tables[language]) < MOST_WORDS)
        return;
    if (words->failure != NULL) { /* counting has failed, but it only ends with the text */
        for (int i = 0; i < words->languages; i++)
            xlm_word_counts_clear(words->tables[i]);
        return;
    }
    empty_tables(words);
    spill(words, &words->failure);
}

/* ---- from all ranks to the owners ---- */

/* A word goes to its owner in the round that its digest says. Digests ascend from round to round, and the low bits of a digest
 * choose the owner. */
static int64_t round_of(uint64_t digest, int64_t rounds) { return (int64_t)((digest >> 32) * (uint64_t)rounds >> 32); }
static int owner_of(uint64_t digest, int ranks) { return (int)((digest & UINT32_MAX) % (uint64_t)ranks); }

static void append(GString *records, const xlm_word_record *record)
{
    g_string_append_len(records, (const char *)record, (gssize)xlm_word_record_bytes(record));
}

/* The number of rounds: what a rank sends and receives at once takes about a sixteenth of the memory; at times there are four
 * copies. Collective, the same on all ranks. */
static int64_t count_rounds(const xlm_shared_words *words, const xlm_comm *comm)
{
    static const int64_t SMALLEST = 1 << 18, LARGEST = 1 << 27, MAX_ROUNDS = 1 << 20; /* bytes, rounds */
    int64_t rounds = xlm_word_runs_bytes(words->runs) / CLAMP(words->memory / 16, SMALLEST, LARGEST) + 1;
    xlm_comm_max_int64(comm, &rounds, 1);
    return MIN(rounds, MAX_ROUNDS);
}

/* Exchange the records of a round, send[ranks], which are in ascending order, and add up what comes in as a run of `owned`.
 * Collective. */
static void exchange(const xlm_comm *comm, GString *const *send, xlm_word_runs *owned)
{
    enum { UNIT = 8 }; /* bytes; records are multiples of it */
    g_autofree int64_t *numbers = g_new(int64_t, comm->ranks), *received = g_new(int64_t, comm->ranks);
    g_autoptr(GString) all = g_string_new(NULL);
    for (int r = 0; r < comm->ranks; r++) {
        numbers[r] = (int64_t)(send[r]->len / UNIT);
        g_string_append_len(all, send[r]->str, (gssize)send[r]->len);
        g_string_truncate(send[r], 0);
    }
    g_autofree char *in = xlm_comm_exchange(comm, all->str, numbers, UNIT, received);
    xlm_word_runs *parts = xlm_word_runs_new(NULL);
    const char *at = in;
    for (int r = 0; r < comm->ranks; at += (size_t)received[r++] * UNIT)
        xlm_word_runs_add(parts, g_memdup2(at, (size_t)received[r] * UNIT), (size_t)received[r] * UNIT);
    g_string_truncate(all, 0);
    const xlm_word_record *record;
    xlm_word_merge *merge = xlm_word_merge_new(parts);
    while ((record = xlm_word_merge_next(merge)) != NULL)
        append(all, record);
    xlm_word_merge_free(merge);
    xlm_word_runs_free(parts);
    xlm_word_runs_add(owned, g_memdup2(all->str, all->len), all->len);
}

/* Replace the runs of this rank's text by the words that it owns. Collective. */
static bool send_to_owners(xlm_shared_words *words, const xlm_comm *comm, GError **error)
{
    const int64_t rounds = count_rounds(words, comm);
    GString **send = g_new(GString *, comm->ranks);
    for (int r = 0; r < comm->ranks; r++)
        send[r] = g_string_new(NULL);
    xlm_word_runs *owned = xlm_word_runs_new(words->scratch);
    xlm_word_merge *merge = xlm_word_merge_new(words->runs);
    const xlm_word_record *record = xlm_word_merge_next(merge);
    bool good = true;
    for (int64_t round = 0; round < rounds && good; round++) {
        for (; record != NULL && round_of(record->digest, rounds) == round; record = xlm_word_merge_next(merge))
            append(send[owner_of(record->digest, comm->ranks)], record);
        exchange(comm, send, owned);
        GError *failure = NULL;
        if (xlm_word_runs_memory(owned) > run_share(words))
            xlm_word_runs_spill(owned, &failure);
        good = xlm_comm_agree_on(comm, failure, error);
    }
    xlm_word_merge_free(merge);
    xlm_word_runs_free(words->runs);
    words->runs = owned;
    for (int r = 0; r < comm->ranks; r++)
        g_string_free(send[r], TRUE);
    g_free(send);
    return good;
}

bool xlm_shared_words_settle(xlm_shared_words *words, const xlm_comm *comm, GError **error)
{
    empty_tables(words);
    if (words->failure == NULL && xlm_word_runs_memory(words->runs) > run_share(words))
        spill(words, &words->failure);
    if (!xlm_comm_agree_on(comm, g_steal_pointer(&words->failure), error))
        return false;
    xlm_comm_sum_int64(comm, words->totals, words->languages);
    xlm_comm_sum_int64(comm, &words->spilled, 1);
    return comm->ranks == 1 || send_to_owners(words, comm, error);
}

/* ---- then ---- */

int64_t xlm_shared_words_total(const xlm_shared_words *words, int language) { return words->totals[language]; }
int64_t xlm_shared_words_spilled(const xlm_shared_words *words) { return words->spilled; }

void xlm_shared_words_each(const xlm_shared_words *words, xlm_shared_words_visit *visit, void *data)
{
    g_autofree int64_t *counts = g_new0(int64_t, words->languages);
    g_autoptr(GString) word = g_string_new(NULL); /* the record of the present word */
    xlm_word_merge *merge = xlm_word_merge_new(words->runs);
    for (bool more = true; more;) {
        const xlm_word_record *next = xlm_word_merge_next(merge), *present = (const xlm_word_record *)(const void *)word->str;
        more = next != NULL;
        if (word->len > 0 && (!more || !xlm_word_record_same(next, present))) {
            visit(data, xlm_word_record_text(present), present->size, counts);
            memset(counts, 0, sizeof *counts * (size_t)words->languages);
            g_string_truncate(word, 0);
        }
        if (more && word->len == 0)
            append(word, next);
        if (more)
            counts[next->group] = next->count;
    }
    xlm_word_merge_free(merge);
}
