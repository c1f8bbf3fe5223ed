/* xlm-mpi: numbers of words and counts that ranks share, beside those of all ranks' words in one place; on 1, 2, 3 and 4 ranks.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include "aligners/shared_counts.h"

enum { WORDS = 400, KEYS = 900 };

static const xlm_count_key none = {G_MAXUINT32, 0};

/* Word w of all; with blanks, letters of other scripts, one that begins another. */
static void spell(char text[32], int w) { g_snprintf(text, 32, w % 3 == 0 ? "w%d" : w % 3 == 1 ? "\xc3\xa9%d t" : "%d", w); }

/* The text is dealt out to the ranks, in an order of theirs; a third of the words goes to two, some twice to one. The last of
 * several ranks has none. */
static bool has(const xlm_comm *comm, int rank, int w)
{
    const int ranks = MAX(comm->ranks - 1, 1);
    return rank < ranks && (w % ranks == rank || (w % 3 == 0 && w / 3 % ranks == rank));
}

static char **deal_words(const xlm_comm *comm, int64_t *n)
{
    GPtrArray *words = g_ptr_array_new();
    for (int k = 0; k < WORDS; k++) {
        const int w = comm->rank % 2 == 0 ? k : WORDS - 1 - k;
        char text[32];
        spell(text, w);
        for (int times = has(comm, comm->rank, w) ? 1 + (w % 7 == 0) : 0; times > 0; times--)
            g_ptr_array_add(words, g_strdup(text));
    }
    *n = words->len;
    g_ptr_array_add(words, NULL);
    return (char **)g_ptr_array_free(words, FALSE);
}

/* Numbers of all words, as one rank alone finds them. */
static int64_t *find_numbers(void)
{
    xlm_comm alone = {.mpi = MPI_COMM_SELF, .node = MPI_COMM_SELF, .rank = 0, .ranks = 1, .local_ranks = 1};
    char *texts[WORDS], text[32];
    for (int w = 0; w < WORDS; w++) {
        spell(text, w);
        texts[w] = g_strdup(text);
    }
    xlm_word_numbers *words = xlm_word_numbers_new(&alone, texts, WORDS);
    int64_t *numbers = g_memdup2(words->numbers, sizeof *numbers * WORDS);
    xlm_word_numbers_free(words);
    for (int w = 0; w < WORDS; w++)
        g_free(texts[w]);
    return numbers;
}

static int word_of(const char *text)
{
    char other[32];
    for (int w = 0; w < WORDS; w++) {
        spell(other, w);
        if (strcmp(text, other) == 0)
            return w;
    }
    return -1;
}

static xlm_word_numbers *check_numbers(const xlm_comm *comm)
{
    int64_t n, seen[WORDS] = {0}, *expected = find_numbers();
    char **texts = deal_words(comm, &n);
    xlm_word_numbers *words = xlm_word_numbers_new(comm, texts, n);
    CHECK(words->all == WORDS && words->owned[0] == 0 && words->owned[comm->ranks] == WORDS);
    for (int64_t i = 0; i < n; i++)
        CHECK(words->numbers[i] == expected[word_of(texts[i])]);
    CHECK(words->texts->len == words->owned[comm->rank + 1] - words->owned[comm->rank]);
    for (guint i = 0; i < words->texts->len; i++) {
        const int w = word_of(g_ptr_array_index(words->texts, i));
        CHECK(expected[w] == words->owned[comm->rank] + i);
        seen[w]++;
    }
    xlm_comm_sum_int64(comm, seen, WORDS);
    for (int w = 0; w < WORDS; w++)
        CHECK(seen[w] == 1);
    /* Each has a share of about the same size. */
    CHECK((int)words->texts->len > WORDS / comm->ranks / 2);
    g_strfreev(texts);
    g_free(expected);
    return words;
}

/* Key k of all: some of the same first word, all different. */
static xlm_count_key key_of(int k) { return (xlm_count_key){(uint32_t)(k * 7 % WORDS), (uint32_t)(k / 3)}; }
static int64_t value_of(int rank, int k, int column) { return k + 1000 * (int64_t)column + ((int64_t)1 << 40) * rank; }

/* Rank r has key k once for each of these. The last of several ranks has none. */
static int times_of(const xlm_comm *comm, int rank, int k)
{
    if (rank == comm->ranks - 1 && comm->ranks > 1)
        return 0;
    return (k + rank) % 3 == 0 ? 2 : k % (rank + 1) == 0;
}

static void check_owned(const xlm_comm *comm, const xlm_shared_counts *shared, const int64_t *owned, const int64_t *sums)
{
    int64_t n, all;
    xlm_count_key before = none;
    const xlm_count_key *keys = xlm_shared_counts_owned(shared, &n);
    for (int64_t i = 0; i < n; before = keys[i++]) {
        CHECK(keys[i].first >= owned[comm->rank] && keys[i].first < owned[comm->rank + 1]);
        CHECK(i == 0 || keys[i].first > before.first || (keys[i].first == before.first && keys[i].second > before.second));
        for (int k = 0; k < KEYS; k++)
            if (key_of(k).first == keys[i].first && key_of(k).second == keys[i].second)
                for (int column = 0; column < 2; column++) {
                    int64_t expected = 0;
                    for (int r = 0; r < comm->ranks; r++)
                        expected += times_of(comm, r, k) * value_of(r, k, column);
                    CHECK(sums[2 * i + column] == expected);
                }
    }
    all = n;
    xlm_comm_sum_int64(comm, &all, 1);
    int different = 0;
    for (int k = 0; k < KEYS; k++)
        for (int r = 0; r < comm->ranks; r++)
            if (times_of(comm, r, k) > 0) {
                different++;
                break;
            }
    CHECK(all == different);
}

static void check_counts(const xlm_comm *comm, const int64_t *owned, bool with_first)
{
    xlm_count_key keys[2 * KEYS];
    int which[2 * KEYS], n = 0;
    for (int i = 0; i < KEYS; i++) {
        const int k = comm->rank % 2 == 0 ? KEYS - 1 - i : i;
        for (int times = times_of(comm, comm->rank, k); times > 0; times--) {
            which[n] = k;
            keys[n++] = key_of(k);
        }
    }
    bool first[2 * KEYS + 1];
    int64_t values[4 * KEYS], marked[KEYS] = {0}, there[KEYS] = {0}, owned_keys;
    xlm_shared_counts *shared = xlm_shared_counts_new(comm, owned, keys, n, with_first ? first : NULL);
    xlm_shared_counts_owned(shared, &owned_keys);
    int64_t *sums = g_new(int64_t, 2 * owned_keys + 1);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2 * n; i++)
            values[i] = value_of(comm->rank, which[i / 2], i % 2);
        xlm_shared_counts_sum(shared, values, 2, round == 0 ? sums : NULL);
        for (int i = 0; i < 2 * n; i++) {
            int64_t expected = 0;
            for (int r = 0; r < comm->ranks; r++)
                expected += times_of(comm, r, which[i / 2]) * value_of(r, which[i / 2], i % 2);
            CHECK(values[i] == expected);
        }
    }
    check_owned(comm, shared, owned, sums);
    for (int i = 0; i < n; i++) {
        there[which[i]] = 1;
        marked[which[i]] += with_first && first[i];
    }
    xlm_comm_max_int64(comm, there, KEYS);
    xlm_comm_sum_int64(comm, marked, KEYS);
    for (int k = 0; k < KEYS; k++)
        CHECK(marked[k] == (with_first ? there[k] : 0));
    g_free(sums);
    xlm_shared_counts_free(shared);
}

/* No rank has anything. */
static void check_nothing(const xlm_comm *comm)
{
    bool first[1];
    int64_t n;
    xlm_word_numbers *words = xlm_word_numbers_new(comm, NULL, 0);
    CHECK(words->all == 0);
    xlm_shared_counts *shared = xlm_shared_counts_new(comm, words->owned, NULL, 0, first);
    xlm_shared_counts_sum(shared, NULL, 3, NULL);
    xlm_shared_counts_owned(shared, &n);
    CHECK(n == 0);
    xlm_shared_counts_free(shared);
    xlm_word_numbers_free(words);
}

int main(int argc, char **argv)
{
    xlm_comm opened;
    xlm_comm_open(&opened, "word_counts_test", &argc, &argv);
    const xlm_comm *const comm = &opened;
    xlm_word_numbers *words = check_numbers(comm);
    check_counts(comm, words->owned, true);
    check_counts(comm, words->owned, false);
    check_nothing(comm);
    xlm_word_numbers_free(words);
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    return xlm_comm_close(&opened, NULL) != 0 || all > 0;
}
