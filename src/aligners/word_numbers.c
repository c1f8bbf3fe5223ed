/* xlm-mpi: one numbering of the words of all ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/word_numbers.h"

#include <string.h>

#include "base/rng.h"

/* A word as it is sent to its owner: this, then its bytes. */
struct header {
    uint64_t digest;
    uint64_t size;
};

struct entry {
    uint64_t digest;
    char *text;
};

static uint64_t digest_of(const char *text) { return xlm_digest(text, strlen(text), 0); }

/* The top of the range of digests belongs to the last rank. */
static int owner_of(uint64_t digest, int ranks) { return (int)((digest >> 32) * (uint64_t)ranks >> 32); }

static gint by_digest(gconstpointer a, gconstpointer b)
{
    const struct entry *x = a, *y = b;
    return x->digest != y->digest ? (x->digest < y->digest ? -1 : 1) : strcmp(x->text, y->text);
}

int xlm_word_numbers_compare(const char *a, const char *b)
{
    return by_digest(&(struct entry){digest_of(a), (char *)a}, &(struct entry){digest_of(b), (char *)b});
}

/* The words of this rank as bytes for each owner. order[n]: they go in this order. */
static GByteArray *pack(char *const *texts, int64_t n, int ranks, int64_t *order, int64_t *bytes)
{
    GByteArray *all = g_byte_array_new();
    g_autofree uint64_t *digest = g_new(uint64_t, n);
    g_autofree int64_t *first = g_new0(int64_t, ranks + 1);
    for (int64_t i = 0; i < n; i++) {
        digest[i] = digest_of(texts[i]);
        first[owner_of(digest[i], ranks) + 1]++;
    }
    for (int r = 0; r < ranks; r++)
        first[r + 1] += first[r];
    for (int64_t i = 0; i < n; i++)
        order[first[owner_of(digest[i], ranks)]++] = i;
    for (int64_t k = 0; k < n; k++) {
        const int64_t i = order[k];
        const struct header header = {digest[i], strlen(texts[i])};
        g_byte_array_append(all, (const guint8 *)&header, sizeof header);
        g_byte_array_append(all, (const guint8 *)texts[i], (guint)header.size);
        bytes[owner_of(digest[i], ranks)] += (int64_t)(sizeof header + header.size);
    }
    return all;
}

/* What was received, as entries, and the number from each rank. */
static GArray *unpack(const char *bytes, const int64_t *received, int ranks, int64_t *entries)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct entry));
    for (int r = 0; r < ranks; r++)
        for (const char *end = bytes + received[r]; bytes < end; entries[r]++) {
            struct header header;
            memcpy(&header, bytes, sizeof header);
            const struct entry entry = {header.digest, g_strndup(bytes + sizeof header, header.size)};
            g_array_append_val(all, entry);
            bytes += sizeof header + header.size;
        }
    return all;
}

/* Different entries in order. */
static GArray *sort_entries(const GArray *all)
{
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(struct entry), all->len);
    g_array_append_vals(sorted, all->data, all->len);
    g_array_sort(sorted, by_digest);
    guint n = 0;
    struct entry *e = (struct entry *)(void *)sorted->data;
    for (guint i = 0; i < sorted->len; i++)
        if (n == 0 || by_digest(&e[n - 1], &e[i]) != 0)
            e[n++] = e[i];
    g_array_set_size(sorted, n);
    return sorted;
}

/* The place of an entry among the sorted ones. */
static int64_t find(const GArray *sorted, const struct entry *entry)
{
    guint at = 0;
    const gboolean there = g_array_binary_search((GArray *)sorted, entry, by_digest, &at);
    g_assert(there);
    return at;
}

xlm_word_numbers *xlm_word_numbers_new(const xlm_comm *comm, char *const *texts, int64_t n)
{
    const int ranks = comm->ranks;
    xlm_word_numbers *w = g_new0(xlm_word_numbers, 1);
    g_autofree int64_t *order = g_new(int64_t, n), *sent = g_new0(int64_t, ranks), *received = g_new(int64_t, ranks);
    g_autofree int64_t *entries = g_new0(int64_t, ranks), *answers = g_new(int64_t, ranks);
    GByteArray *packed = pack(texts, n, ranks, order, sent);
    char *bytes = xlm_comm_exchange(comm, packed->data, sent, 1, received);
    g_byte_array_unref(packed);
    g_autoptr(GArray) all = unpack(bytes, received, ranks, entries), sorted = sort_entries(all);
    g_free(bytes);

    const int64_t base = xlm_comm_sum_below(comm, sorted->len);
    w->owned = g_new0(int64_t, ranks + 1);
    w->owned[comm->rank + 1] = base + sorted->len;
    xlm_comm_max_int64(comm, w->owned, ranks + 1);
    w->all = w->owned[ranks];

    /* Each rank gets the numbers of its words in the order in which it sent them. */
    g_autofree int64_t *number = g_new(int64_t, all->len);
    for (guint i = 0; i < all->len; i++)
        number[i] = base + find(sorted, &g_array_index(all, struct entry, i));
    g_autofree int64_t *back = xlm_comm_exchange(comm, number, entries, sizeof *number, answers);
    w->numbers = g_new(int64_t, n);
    for (int64_t k = 0; k < n; k++)
        w->numbers[order[k]] = back[k];

    w->texts = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < sorted->len; i++)
        g_ptr_array_add(w->texts, g_strdup(g_array_index(sorted, struct entry, i).text));
    for (guint i = 0; i < all->len; i++)
        g_free(g_array_index(all, struct entry, i).text);
    return w;
}

void xlm_word_numbers_free(xlm_word_numbers *w)
{
    if (w == NULL)
        return;
    g_free(w->numbers);
    g_free(w->owned);
    g_ptr_array_unref(w->texts);
    g_free(w);
}
