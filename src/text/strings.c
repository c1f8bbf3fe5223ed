/* xlm-mpi: byte strings, each stored once and numbered. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "text/strings.h"

typedef struct entry {
    const char *bytes;
    uint64_t key;
    uint32_t size;
} entry;

/* Open addressing with linear probing, at most half full. A string of up to 8 bytes is determined by its key and size, so that
 * short words, which are most words of a text, are found by reading their slot alone. */
typedef struct slot {
    uint64_t key;
    uint32_t size, index; /* index XLM_NO_STRING: empty */
} slot;

struct xlm_strings {
    entry *entries;
    uint32_t count, capacity;
    slot *slots;
    uint32_t mask;
    GPtrArray *blocks; /* memory into which strings are copied */
    char *free;        /* the free part of the last block, */
    size_t room, memory; /* its bytes, and the bytes of all blocks */
};

/* Words are looked up all over the table, so a large one is on large pages. */
static const char PURPOSE[] = "a table of words";
static const size_t BLOCK_SIZE = (size_t)1 << 18;
static const uint32_t FIRST_CAPACITY = 1 << 9, LARGEST_CAPACITY = UINT32_C(1) << 30;

static const uint64_t ODD = UINT64_C(0x9E3779B97F4A7C15);

/* Different strings of the same size up to 8 have different keys. The numbers of strings do not depend on keys, which differ
 * between machines of different byte order. */
static inline uint64_t make_key(const char *bytes, size_t size)
{
    uint64_t word, hash = 0;
    for (; size > 8; bytes += 8, size -= 8) {
        memcpy(&word, bytes, 8);
        hash = (hash ^ word) * ODD;
        hash ^= hash >> 29;
    }
    if (size == 8) {
        memcpy(&word, bytes, 8);
    } else if (size >= 4) {
        uint32_t head, tail;
        memcpy(&head, bytes, 4);
        memcpy(&tail, bytes + size - 4, 4);
        word = (uint64_t)head << 32 | tail;
    } else if (size > 0) {
        word = (uint64_t)(uint8_t)bytes[0] << 16 | (uint64_t)(uint8_t)bytes[size >> 1] << 8 | (uint8_t)bytes[size - 1];
    } else {
        word = 0;
    }
    return hash ^ word;
}

static inline uint32_t first_slot(const xlm_strings *s, uint64_t key, size_t size)
{
    const uint64_t hash = (key ^ (uint64_t)size << 56) * ODD;
    return (uint32_t)(hash >> 32) & s->mask;
}

static void make_slots(xlm_strings *s)
{
    free(s->slots);
    s->slots = xlm_pages_take(2 * (size_t)s->capacity * sizeof(slot), PURPOSE);
    s->mask = 2 * s->capacity - 1;
    memset(s->slots, 0xff, 2 * (size_t)s->capacity * sizeof(slot));
    for (uint32_t i = 0; i < s->count; i++) {
        const entry *e = &s->entries[i];
        uint32_t at = first_slot(s, e->key, e->size);
        while (s->slots[at].index != XLM_NO_STRING)
            at = (at + 1) & s->mask;
        s->slots[at] = (slot){e->key, e->size, i};
    }
}

static void set_capacity(xlm_strings *s, uint32_t capacity)
{
    g_clear_pointer(&s->slots, free); /* they are made again; so there is no more memory in use than afterwards */
    entry *entries = xlm_pages_take(capacity * sizeof(entry), PURPOSE);
    if (s->count > 0)
        memcpy(entries, s->entries, s->count * sizeof(entry));
    free(s->entries);
    s->entries = entries;
    s->capacity = capacity;
    make_slots(s);
}

void xlm_strings_reserve(xlm_strings *s, uint32_t n)
{
    uint32_t capacity = s->capacity;
    while (capacity < MIN(n, LARGEST_CAPACITY))
        capacity *= 2;
    if (capacity > s->capacity)
        set_capacity(s, capacity);
}

xlm_strings *xlm_strings_new(void)
{
    xlm_strings *s = g_new0(xlm_strings, 1);
    s->blocks = g_ptr_array_new_with_free_func(g_free);
    set_capacity(s, FIRST_CAPACITY);
    return s;
}

void xlm_strings_free(xlm_strings *s)
{
    if (s == NULL)
        return;
    g_ptr_array_free(s->blocks, TRUE);
    free(s->entries);
    free(s->slots);
    g_free(s);
}

void xlm_strings_clear(xlm_strings *s)
{
    g_ptr_array_set_size(s->blocks, 0);
    s->free = NULL;
    s->room = s->memory = 0;
    s->count = 0;
    set_capacity(s, FIRST_CAPACITY);
}

uint32_t xlm_strings_count(const xlm_strings *s) { return s->count; }

size_t xlm_strings_memory(const xlm_strings *s)
{
    return s->memory + s->capacity * (sizeof(entry) + 2 * sizeof(slot));
}

const char *xlm_strings_get(const xlm_strings *s, uint32_t i, size_t *size)
{
    if (size != NULL)
        *size = s->entries[i].size;
    return s->entries[i].bytes;
}

/* The slot of the string, or else the empty slot to which it belongs. */
static inline uint32_t find_slot(const xlm_strings *s, const char *bytes, size_t size, uint64_t key)
{
    uint32_t at = first_slot(s, key, size);
    for (; s->slots[at].index != XLM_NO_STRING; at = (at + 1) & s->mask)
        if (s->slots[at].key == key && s->slots[at].size == size &&
            (size <= 8 || memcmp(s->entries[s->slots[at].index].bytes, bytes, size) == 0))
            break;
    return at;
}

uint32_t xlm_strings_find(const xlm_strings *s, const char *bytes, size_t size)
{
    return s->slots[find_slot(s, bytes, size, make_key(bytes, size))].index;
}

static const char *copy_bytes(xlm_strings *s, const char *bytes, size_t size)
{
    if (size + 1 > s->room) {
        const size_t block = MAX(BLOCK_SIZE, size + 1);
        s->free = g_malloc(block);
        s->room = block;
        s->memory += block;
        g_ptr_array_add(s->blocks, s->free);
    }
    char *copy = s->free;
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    s->free += size + 1;
    s->room -= size + 1;
    return copy;
}

/* Number of the string with this key, which is added if it is new. */
static uint32_t add(xlm_strings *s, const char *bytes, size_t size, uint64_t key)
{
    uint32_t at = find_slot(s, bytes, size, key);
    if (s->slots[at].index != XLM_NO_STRING)
        return s->slots[at].index;
    if (size > XLM_STRING_MAX)
        g_error("a word of %zu bytes; at most %d are possible", size, XLM_STRING_MAX);
    if (s->count == s->capacity) {
        if (s->capacity >= LARGEST_CAPACITY)
            g_error("more than %u different words; the text is too large", s->capacity);
        set_capacity(s, 2 * s->capacity);
        at = find_slot(s, bytes, size, key);
    }
    s->entries[s->count] = (entry){copy_bytes(s, bytes, size), key, (uint32_t)size};
    s->slots[at] = (slot){key, (uint32_t)size, s->count};
    return s->count++;
}

uint32_t xlm_strings_add(xlm_strings *s, const char *bytes, size_t size) { return add(s, bytes, size, make_key(bytes, size)); }

enum { PART = 32 }; /* words */

/* The first bytes of a string of more than 8 bytes. */
static inline uint64_t read_head(const char *bytes)
{
    uint64_t head;
    memcpy(&head, bytes, sizeof head);
    return head;
}

/* Memory answers slowly, but to several questions at once: so the first slots of all words of a part of the line are read before
 * any of them is needed, then where the long strings there are, and then their first bytes. */
static void add_part(xlm_strings *s, const char *line, const xlm_word *words, size_t n, uint32_t *numbers)
{
    uint64_t keys[PART];
    uint64_t heads[PART];
    const char *found[PART];
    for (size_t i = 0; i < n; i++) {
        keys[i] = make_key(line + words[i].start, words[i].size);
        const slot *first = &s->slots[first_slot(s, keys[i], words[i].size)];
        numbers[i] = first->key == keys[i] && first->size == words[i].size ? first->index : XLM_NO_STRING;
    }
    for (size_t i = 0; i < n; i++)
        found[i] = numbers[i] != XLM_NO_STRING && words[i].size > 8 ? s->entries[numbers[i]].bytes : NULL;
    for (size_t i = 0; i < n; i++)
        heads[i] = found[i] != NULL ? read_head(found[i]) : 0;
    for (size_t i = 0; i < n; i++) {
        const char *word = line + words[i].start;
        if (numbers[i] == XLM_NO_STRING ||
            (found[i] != NULL && (heads[i] != read_head(word) || memcmp(found[i] + 8, word + 8, words[i].size - 8) != 0)))
            numbers[i] = add(s, word, words[i].size, keys[i]);
    }
}

void xlm_strings_add_words(xlm_strings *s, const char *line, const xlm_word *words, size_t n, uint32_t *numbers)
{
    for (size_t i = 0; i < n; i += PART)
        add_part(s, line, words + i, MIN(PART, n - i), numbers + i);
}

void xlm_strings_reorder(xlm_strings *s, const uint32_t *order, uint32_t n)
{
    entry *entries = xlm_pages_take(s->capacity * sizeof(entry), PURPOSE);
    for (uint32_t i = 0; i < n; i++)
        entries[i] = s->entries[order[i]];
    free(s->entries);
    s->entries = entries;
    s->count = n;
    make_slots(s);
}
