/* xlm-mpi: how often each word occurs in a text. SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "text/strings.h"
#include "text/word_counts.h"

struct xlm_word_counts {
    xlm_strings *words;
    int64_t *counts; /* [capacity], by number of the word */
    uint32_t capacity;
    GArray *numbers; /* uint32_t, of the words of a line */
};

xlm_word_counts *xlm_word_counts_new(void)
{
    xlm_word_counts *c = g_new0(xlm_word_counts, 1);
    c->words = xlm_strings_new();
    c->numbers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return c;
}

void xlm_word_counts_free(xlm_word_counts *c)
{
    if (c == NULL)
        return;
    xlm_strings_free(c->words);
    free(c->counts);
    g_array_unref(c->numbers);
    g_free(c);
}

void xlm_word_counts_clear(xlm_word_counts *c)
{
    xlm_strings_clear(c->words);
    g_clear_pointer(&c->counts, free);
    c->capacity = 0;
}

size_t xlm_word_counts_memory(const xlm_word_counts *c)
{
    return xlm_strings_memory(c->words) + c->capacity * sizeof(int64_t);
}

/* Counts of 0. */
static int64_t *take_counts(uint32_t capacity)
{
    const size_t bytes = capacity * sizeof(int64_t);
    return memset(xlm_pages_take(bytes, "a table of words"), 0, bytes);
}

static void set_capacity(xlm_word_counts *c, uint32_t capacity)
{
    int64_t *counts = take_counts(capacity);
    if (c->capacity > 0)
        memcpy(counts, c->counts, c->capacity * sizeof(int64_t));
    free(c->counts);
    c->counts = counts;
    c->capacity = capacity;
}

static void grow(xlm_word_counts *c) { set_capacity(c, MAX(2 * c->capacity, 1024)); }

void xlm_word_counts_reserve(xlm_word_counts *c, uint32_t n)
{
    xlm_strings_reserve(c->words, n);
    if (n > c->capacity)
        set_capacity(c, n);
}

void xlm_word_counts_add(xlm_word_counts *c, const char *word, size_t size, int64_t times)
{
    uint32_t i = xlm_strings_add(c->words, word, size);
    if (i >= c->capacity)
        grow(c);
    c->counts[i] = times < INT64_MAX - c->counts[i] ? c->counts[i] + times : INT64_MAX;
}

void xlm_word_counts_add_words(xlm_word_counts *c, const char *line, const xlm_word *words, size_t n)
{
    g_array_set_size(c->numbers, (guint)n);
    uint32_t *numbers = (uint32_t *)(void *)c->numbers->data;
    xlm_strings_add_words(c->words, line, words, n, numbers);
    while (c->capacity < xlm_strings_count(c->words))
        grow(c);
    for (size_t i = 0; i < n; i++)
        c->counts[numbers[i]]++;
}

void xlm_word_counts_add_text(xlm_word_counts *c, const char *text, size_t size, int64_t times)
{
    size_t start = 0;
    for (size_t i = 0; i <= size; i++) {
        if (i < size && text[i] != ' ' && text[i] != '\n')
            continue;
        if (i > start)
            xlm_word_counts_add(c, text + start, i - start, times);
        start = i + 1;
    }
}

void xlm_word_counts_add_all(xlm_word_counts *c, const xlm_word_counts *more, int64_t times)
{
    const uint32_t n = xlm_word_counts_size(more);
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        const char *word = xlm_strings_get(more->words, i, &size);
        xlm_word_counts_add(c, word, size, more->counts[i] * times);
    }
}

/* What the order of a word depends on, so that most words are compared without reading them. */
typedef struct rank {
    int64_t count;
    uint64_t head;   /* the first 8 bytes of the word, the first of them the highest, and zeros for those that it does not have */
    uint32_t number;
} rank;

static uint64_t head_of(const char *word, size_t size)
{
    uint64_t head = 0;
    for (size_t i = 0; i < sizeof head; i++)
        head = head << 8 | (i < size ? (unsigned char)word[i] : 0);
    return head;
}

static int compare_ranks(gconstpointer a, gconstpointer b, gpointer table)
{
    const xlm_word_counts *c = table;
    const rank *i = a, *j = b;
    if (i->count != j->count)
        return i->count > j->count ? -1 : 1;
    if (i->head != j->head)
        return i->head < j->head ? -1 : 1;
    size_t m, n;
    const char *x = xlm_strings_get(c->words, i->number, &m), *y = xlm_strings_get(c->words, j->number, &n);
    int order = memcmp(x, y, MIN(m, n));
    return order != 0 ? order : (m > n) - (m < n);
}

void xlm_word_counts_sort(xlm_word_counts *c)
{
    const uint32_t n = xlm_strings_count(c->words);
    g_autofree rank *ranks = g_new(rank, n);
    g_autofree uint32_t *order = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        const char *word = xlm_strings_get(c->words, i, &size);
        ranks[i] = (rank){c->counts[i], head_of(word, size), i};
    }
    g_qsort_with_data(ranks, (gint)n, sizeof(rank), compare_ranks, c);
    int64_t *counts = take_counts(c->capacity);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = ranks[i].number;
        counts[i] = ranks[i].count;
    }
    free(c->counts);
    c->counts = counts;
    xlm_strings_reorder(c->words, order, n);
}

void xlm_word_counts_cut(xlm_word_counts *c, uint32_t n)
{
    if (n >= xlm_strings_count(c->words))
        return;
    g_autofree uint32_t *order = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    memset(c->counts + n, 0, (xlm_strings_count(c->words) - n) * sizeof(int64_t));
    xlm_strings_reorder(c->words, order, n);
}

uint32_t xlm_word_counts_size(const xlm_word_counts *c) { return xlm_strings_count(c->words); }

int64_t xlm_word_counts_total(const xlm_word_counts *c)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < xlm_strings_count(c->words); i++)
        total += c->counts[i];
    return total;
}

const char *xlm_word_counts_word(const xlm_word_counts *c, uint32_t i, size_t *size)
{
    return xlm_strings_get(c->words, i, size);
}

int64_t xlm_word_counts_count(const xlm_word_counts *c, uint32_t i) { return c->counts[i]; }

uint32_t xlm_word_counts_index(const xlm_word_counts *c, const char *word, size_t size)
{
    return xlm_strings_find(c->words, word, size);
}

int64_t xlm_word_counts_find(const xlm_word_counts *c, const char *word, size_t size)
{
    uint32_t i = xlm_strings_find(c->words, word, size);
    return i == XLM_NO_STRING ? -1 : c->counts[i];
}

/* Packed form: for each word its count (8 bytes), its size (4 bytes) and its bytes. All ranks run on machines of the same kind,
 * so the byte order is the machine's. */
enum { PACKED_HEAD = sizeof(int64_t) + sizeof(uint32_t) };

void *xlm_word_counts_pack(const xlm_word_counts *c, size_t *packed)
{
    const uint32_t n = xlm_strings_count(c->words);
    size_t size;
    *packed = 0;
    for (uint32_t i = 0; i < n; i++, *packed += PACKED_HEAD + size)
        xlm_strings_get(c->words, i, &size);
    char *bytes = g_malloc(*packed + 1), *at = bytes;
    for (uint32_t i = 0; i < n; i++, at += size) {
        const char *word = xlm_strings_get(c->words, i, &size);
        const uint32_t size32 = (uint32_t)size; /* at most XLM_STRING_MAX */
        memcpy(at, &c->counts[i], sizeof(int64_t));
        memcpy(at + sizeof(int64_t), &size32, sizeof size32);
        at += PACKED_HEAD;
        memcpy(at, word, size);
    }
    return bytes;
}

bool xlm_word_counts_unpack(xlm_word_counts *c, const void *bytes, size_t size, GError **error)
{
    const char *at = bytes, *end = at + size;
    while (at < end) {
        int64_t count;
        uint32_t length = 0;
        if (end - at >= PACKED_HEAD) {
            memcpy(&count, at, sizeof count);
            memcpy(&length, at + sizeof count, sizeof length);
        }
        if (end - at < PACKED_HEAD || (size_t)(end - at) - PACKED_HEAD < length)
            return xlm_error_set(error, EX_SOFTWARE, "word counts of another rank are damaged at byte %zu of %zu",
                                 (size_t)(at - (const char *)bytes), size);
        xlm_word_counts_add(c, at + PACKED_HEAD, length, count);
        at += PACKED_HEAD + length;
    }
    return true;
}
