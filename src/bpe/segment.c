/* xlm-mpi: segmentation of words by byte-pair codes. SPDX-License-Identifier: GPL-3.0-or-later */

#include "bpe/codes.h"

enum { CHARACTERS = 0x800 }; /* those of one or two bytes in UTF-8 */

/* A symbol of the current word. links[0] is the first symbol of the word; `next` of the last is 0. */
typedef struct symbol_link {
    uint32_t symbol; /* a symbol of the codes, or BPE_NONE for a character that they do not have */
    uint32_t start;  /* byte in the word */
    uint32_t previous, next;
    uint32_t rank;   /* of the code for this symbol and the next; BPE_NONE: there is none, or the symbol was merged */
} symbol_link;

struct xlm_bpe_cutter {
    const xlm_bpe *bpe;
    uint8_t *allowed; /* by symbol: INNER, FINAL; NULL: all are allowed */
    uint8_t *used;    /* by rank: set where a code is applied; borrowed; NULL: not needed */
    uint32_t characters[2][CHARACTERS]; /* symbol of a character within a word and at its end */

    GArray *links;   /* symbol_link */
    GArray *heap;    /* uint64_t: rank << 32 | link; the smallest first */
    GArray *pending; /* the same: inserted when the present rank is done */
    GArray *stack;   /* symbols to be split */
    GString *word;   /* the segmented form of the current word */
};

enum { INNER = 1, FINAL = 2 }; /* allowed before another subword; allowed at the end of a word */

/* ---- making ---- */

static uint8_t *look_up_allowed(const xlm_bpe *bpe, const xlm_word_counts *allowed)
{
    const uint32_t n = xlm_strings_count(bpe->symbols);
    uint8_t *flags = g_new0(uint8_t, MAX(n, 1));
    g_autoptr(GString) inner = g_string_new(NULL);
    for (uint32_t i = 0; i < n; i++) {
        size_t size;
        const char *symbol = xlm_strings_get(bpe->symbols, i, &size);
        g_string_truncate(inner, 0);
        g_string_append_len(inner, symbol, (gssize)size);
        g_string_append_len(inner, BPE_CONTINUED, BPE_CONTINUED_SIZE);
        if (xlm_word_counts_find(allowed, inner->str, inner->len) >= 0)
            flags[i] |= INNER;
        if (bpe_ends_word(symbol, size) && xlm_word_counts_find(allowed, symbol, size - BPE_END_SIZE) >= 0)
            flags[i] |= FINAL;
    }
    return flags;
}

xlm_bpe_cutter *xlm_bpe_cutter_new(const xlm_bpe *bpe, const xlm_word_counts *allowed)
{
    xlm_bpe_cutter *s = g_new0(xlm_bpe_cutter, 1);
    s->bpe = bpe;
    if (allowed != NULL)
        s->allowed = look_up_allowed(bpe, allowed);
    for (gunichar c = 0; c < CHARACTERS; c++) {
        char text[8];
        const size_t n = (size_t)g_unichar_to_utf8(c, text);
        memcpy(text + n, BPE_END, BPE_END_SIZE);
        s->characters[0][c] = xlm_strings_find(bpe->symbols, text, n);
        s->characters[1][c] = xlm_strings_find(bpe->symbols, text, n + BPE_END_SIZE);
    }
    s->links = g_array_new(FALSE, FALSE, sizeof(symbol_link));
    s->heap = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    s->pending = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    s->stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    s->word = g_string_new(NULL);
    return s;
}

void xlm_bpe_cutter_free(xlm_bpe_cutter *s)
{
    if (s == NULL)
        return;
    g_free(s->allowed);
    g_array_free(s->links, TRUE);
    g_array_free(s->heap, TRUE);
    g_array_free(s->pending, TRUE);
    g_array_free(s->stack, TRUE);
    g_string_free(s->word, TRUE);
    g_free(s);
}

void xlm_bpe_cutter_record(xlm_bpe_cutter *s, uint8_t *used) { s->used = used; }

/* ---- merging ---- */

static symbol_link *get_links(const xlm_bpe_cutter *s) { return (symbol_link *)(void *)s->links->data; }

static uint32_t find_character(xlm_bpe_cutter *s, const char *at, size_t size, bool last)
{
    const unsigned char first = (unsigned char)at[0];
    if (size == 1 && first < 0x80)
        return s->characters[last][first];
    if (size == 2 && first >= 0xC2 && first < 0xE0 && ((unsigned char)at[1] & 0xC0) == 0x80)
        return s->characters[last][(first & 0x1Fu) << 6 | ((unsigned char)at[1] & 0x3Fu)];
    if (!last)
        return xlm_strings_find(s->bpe->symbols, at, size);
    g_string_truncate(s->word, 0);
    g_string_append_len(s->word, at, (gssize)size);
    g_string_append_len(s->word, BPE_END, BPE_END_SIZE);
    return xlm_strings_find(s->bpe->symbols, s->word->str, s->word->len);
}

static void read_characters(xlm_bpe_cutter *s, const char *word, size_t size, bool marked)
{
    g_array_set_size(s->links, 0);
    for (size_t at = 0; at < size;) {
        const size_t n = bpe_character(word + at, size - at);
        const uint32_t i = s->links->len;
        const uint32_t symbol = find_character(s, word + at, n, marked && at + n == size);
        const symbol_link character = {symbol, (uint32_t)at, i - 1, i + 1, BPE_NONE};
        g_array_append_val(s->links, character);
        at += n;
    }
    get_links(s)[s->links->len - 1].next = 0;
}

/* Insert into a heap of numbers, the smallest first. */
static void put_key(GArray *heap, uint64_t key)
{
    g_array_append_val(heap, key);
    uint64_t *keys = (uint64_t *)(void *)heap->data;
    size_t at = heap->len - 1;
    for (; at > 0 && key < keys[(at - 1) / 2]; at = (at - 1) / 2)
        keys[at] = keys[(at - 1) / 2];
    keys[at] = key;
}

/* Remove the smallest number of a heap that is not empty. */
static uint64_t take_key(GArray *heap)
{
    uint64_t *keys = (uint64_t *)(void *)heap->data;
    const uint64_t first = keys[0], last = keys[heap->len - 1];
    const size_t n = heap->len - 1;
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && keys[child + 1] < keys[child])
            child++;
        if (keys[child] >= last)
            break;
        keys[at] = keys[child];
    }
    keys[at] = last;
    g_array_set_size(heap, (guint)n);
    return first;
}

/* Find the code for symbol i and the next one. */
static void rank_pair(xlm_bpe_cutter *s, symbol_link *links, uint32_t i, GArray *into)
{
    const uint32_t next = links[i].next;
    links[i].rank = next == 0 ? BPE_NONE : bpe_rank(s->bpe, links[i].symbol, links[next].symbol);
    if (links[i].rank == BPE_NONE)
        return;
    const uint64_t key = (uint64_t)links[i].rank << 32 | i;
    if (into == s->heap)
        put_key(into, key);
    else
        g_array_append_val(into, key);
}

static void merge_link(xlm_bpe_cutter *s, symbol_link *links, uint32_t i)
{
    const uint32_t gone = links[i].next, next = links[gone].next;
    if (s->used != NULL)
        s->used[links[i].rank] = 1;
    links[i].symbol = bpe_get(s->bpe, links[i].rank)->result;
    links[i].next = next;
    if (next != 0)
        links[next].previous = i;
    links[gone].rank = BPE_NONE;
    rank_pair(s, links, i, s->pending);
    if (i > 0)
        rank_pair(s, links, links[i].previous, s->pending);
}

/* Up to this number of characters, looking at all links for each code takes less time than a heap. */
enum { FEW = 32 };

/* The links of a word of few characters in a row. */
typedef struct link_row {
    uint32_t n;
    uint32_t symbol[FEW], start[FEW];
    uint32_t rank[FEW]; /* of the code for this symbol and the next; BPE_NONE: there is none */
} link_row;

/* The first link with the lowest rank. */
static uint32_t find_lowest(const link_row *row)
{
    uint32_t lowest = 0;
    for (uint32_t i = 1; i < row->n; i++)
        lowest = row->rank[i] < row->rank[lowest] ? i : lowest;
    return lowest;
}

/* Apply the code of a rank in all places, from left to right; the first is `first`. */
static void apply(const xlm_bpe *bpe, link_row *row, uint32_t first, uint32_t rank)
{
    const uint32_t result = bpe_get(bpe, rank)->result, n = row->n;
    uint32_t kept = first;
    bool merged = false; /* the link before was */
    for (uint32_t i = first; i < n; i++, kept++) {
        const bool merges = row->rank[i] == rank;
        row->start[kept] = row->start[i];
        row->symbol[kept] = merges ? result : row->symbol[i];
        i += merges;
        row->rank[kept] = row->rank[i];
        if (kept > 0 && (merged || merges))
            row->rank[kept - 1] = bpe_rank(bpe, row->symbol[kept - 1], row->symbol[kept]);
        merged = merges;
    }
    row->rank[kept - 1] = BPE_NONE;
    row->n = kept;
}

/* The same as merge_all for a word of few characters, faster without a heap. */
static void merge_few(xlm_bpe_cutter *s)
{
    symbol_link *links = get_links(s);
    link_row row = {.n = s->links->len};
    for (uint32_t i = 0; i < row.n; i++) {
        row.symbol[i] = links[i].symbol;
        row.start[i] = links[i].start;
        row.rank[i] = i + 1 < row.n ? bpe_rank(s->bpe, links[i].symbol, links[i + 1].symbol) : BPE_NONE;
    }
    for (uint32_t first; row.rank[first = find_lowest(&row)] != BPE_NONE;) {
        const uint32_t rank = row.rank[first];
        if (s->used != NULL)
            s->used[rank] = 1;
        apply(s->bpe, &row, first, rank);
    }
    for (uint32_t i = 0; i < row.n; i++) {
        links[i].symbol = row.symbol[i];
        links[i].start = row.start[i];
        links[i].next = i + 1 < row.n ? i + 1 : 0;
    }
}

static void merge_all(xlm_bpe_cutter *s)
{
    if (s->links->len <= FEW) {
        merge_few(s);
        return;
    }
    symbol_link *links = get_links(s);
    for (uint32_t i = 0; i + 1 < s->links->len; i++)
        rank_pair(s, links, i, s->heap);
    while (s->heap->len > 0) {
        const uint64_t key = take_key(s->heap);
        const uint32_t rank = (uint32_t)(key >> 32), i = (uint32_t)key;
        if (links[i].rank == rank)
            merge_link(s, links, i);
        /* Apply a code in all places before any other code, even if one of a lower rank has just become possible. */
        if (s->heap->len == 0 || g_array_index(s->heap, uint64_t, 0) >> 32 != rank) {
            for (guint k = 0; k < s->pending->len; k++)
                put_key(s->heap, g_array_index(s->pending, uint64_t, k));
            g_array_set_size(s->pending, 0);
        }
    }
}

/* ---- writing ---- */

/* Are all symbols of the word allowed where they are? */
static bool is_all_allowed(const xlm_bpe_cutter *s)
{
    const symbol_link *links = get_links(s);
    if (s->allowed == NULL)
        return true;
    for (uint32_t i = 0;; i = links[i].next) {
        const uint32_t symbol = links[i].symbol;
        if (symbol != BPE_NONE && !(s->allowed[symbol] & (links[i].next == 0 ? FINAL : INNER)))
            return false;
        if (links[i].next == 0)
            return true;
    }
}

/* Write the symbols of a word, none of which has to be split. */
static void write_all(xlm_bpe_cutter *s, const char *word, size_t size)
{
    static const char between[] = BPE_CONTINUED " ";
    const symbol_link *links = get_links(s);
    g_string_set_size(s->word, size + s->links->len * (sizeof between - 1));
    char *out = s->word->str;
    uint32_t at = 0;
    for (uint32_t next; (next = links[at].next) != 0; at = next) {
        const size_t n = links[next].start - links[at].start;
        memcpy(out, word + links[at].start, n);
        memcpy(out + n, between, sizeof between - 1);
        out += n + sizeof between - 1;
    }
    memcpy(out, word + links[at].start, size - links[at].start);
    out += size - links[at].start;
    g_string_truncate(s->word, (gsize)(out - s->word->str));
}

/* Append a symbol of a word, `size` bytes, split as far as needed. last: it is the end of the word. */
static void write_symbol(xlm_bpe_cutter *s, uint32_t symbol, const char *at, size_t size, bool last)
{
    g_array_set_size(s->stack, 0);
    for (;;) {
        uint32_t maker = BPE_NONE;
        const bool ends = last && s->stack->len == 0; /* the rest of the symbol is its end */
        if (s->allowed != NULL && symbol != BPE_NONE && !(s->allowed[symbol] & (ends ? FINAL : INNER)))
            maker = g_array_index(s->bpe->made_by, uint32_t, symbol);
        if (maker != BPE_NONE) {
            const bpe_code *code = bpe_get(s->bpe, maker);
            size_t right_size;
            const char *right = xlm_strings_get(s->bpe->symbols, code->right, &right_size);
            if (!ends || bpe_ends_word(right, right_size)) {
                g_array_append_val(s->stack, code->right);
                symbol = code->left;
                continue;
            }
        }
        size_t n = size;
        if (s->stack->len > 0)
            xlm_strings_get(s->bpe->symbols, symbol, &n);
        g_string_append_len(s->word, at, (gssize)n);
        if (ends)
            return;
        g_string_append_len(s->word, BPE_CONTINUED " ", BPE_CONTINUED_SIZE + 1);
        if (s->stack->len == 0)
            return;
        at += n;
        size -= n;
        symbol = g_array_index(s->stack, uint32_t, s->stack->len - 1);
        g_array_set_size(s->stack, s->stack->len - 1);
    }
}

const char *xlm_bpe_cutter_word(xlm_bpe_cutter *s, const char *word, size_t size, size_t *n)
{
    if (size > XLM_STRING_MAX)
        g_error("a word of %zu bytes; at most %d are possible", size, XLM_STRING_MAX);
    read_characters(s, word, size, true);
    merge_all(s);
    const bool whole = is_all_allowed(s);
    if (whole)
        write_all(s, word, size);
    else
        g_string_truncate(s->word, 0);
    const symbol_link *links = get_links(s);
    for (uint32_t i = 0; !whole;) {
        const uint32_t next = links[i].next;
        const size_t end = next == 0 ? size : links[next].start;
        write_symbol(s, links[i].symbol, word + links[i].start, end - links[i].start, next == 0);
        if (next == 0)
            break;
        i = next;
    }
    *n = s->word->len;
    return s->word->str;
}

void xlm_bpe_cutter_unmarked(xlm_bpe_cutter *s, const char *word, size_t size, GArray *ends)
{
    g_array_set_size(ends, 0);
    if (size == 0)
        return;
    read_characters(s, word, size, false);
    merge_all(s);
    const symbol_link *links = get_links(s);
    for (uint32_t i = 0, next;; i = next) {
        next = links[i].next;
        const uint32_t end = next == 0 ? (uint32_t)size : links[next].start;
        g_array_append_val(ends, end);
        if (next == 0)
            break;
    }
}
