/* xlm-mpi: learning byte-pair codes. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All distinct words are in one array of places, with one place per character (per symbol of the given codes when codes are
 * extended) and an empty place between words. A symbol covers as many places as it has characters. Its number is at its first and
 * at its last place, so both its neighbours are found without links.
 *
 * Every pair of neighbours has a count and a list of the places where its left symbol begins. A merge visits only the list of its
 * pair. It makes a new symbol, so there are two kinds of pairs: pairs with the new symbol, which get their whole lists in this
 * merge, and older pairs, whose counts can only fall. Hence
 *   - the pairs of a merge are found by the symbol beside the new one; older pairs by their places, which have their numbers
 *   - a list is written once, in order of place (so a visit to it goes from left to right), and entries that are no longer
 *     true are recognised when their place is read;
 *   - a heap of pairs by count needs no updates: a pair whose count has fallen since it was put in is put in again. */
#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/progress.h"
#include "bpe/codes.h"

/* Symbols: characters by bytes, then merges by rank. In places also: */
enum { GAP = UINT32_MAX, INSIDE = UINT32_MAX - 1 }; /* a place between words; a former first place that is now inside a symbol */

typedef struct pair {
    uint32_t left, right;
    int64_t count;
    uint32_t *places; /* [listed] from left to right; some of them no longer have the pair */
    uint32_t listed;
} pair;

typedef struct candidate { /* of the heap; it has the pair's symbols, to break ties without looking up the pair */
    int64_t count;
    uint32_t left, right, pair;
} candidate;

/* A place where a pair of the newest symbol begins. */
typedef struct sighting {
    uint32_t pair, place;
} sighting;

typedef struct place {
    uint32_t symbol, word; /* word: the word that it is in */
    uint32_t pair;         /* if a symbol with a neighbour on its right begins here: their pair */
} place;

enum { CHARACTERS = 0x800 }; /* those of one or two bytes in UTF-8 */

typedef struct learner {
    xlm_bpe_cutter *cutter; /* segments words by the codes that are extended; NULL: words begin as characters */
    GString *initial;       /* the symbols of a word, or one of them */
    xlm_strings *texts; /* of symbols; the index is the symbol */
    uint32_t characters[2][CHARACTERS]; /* symbols of characters within a word and at its end; BPE_NONE: not met yet */
    GArray *lengths;    /* uint32_t by symbol: characters in it */
    place *text;        /* [places] */
    size_t places;
    int64_t *counts; /* by word */

    GArray *pairs;     /* pair */
    GArray *beside[2]; /* uint32_t by symbol: the pairs of the newest symbol with one to its left and to its right, or BPE_NONE */
    GArray *heap;      /* candidate */
    sighting *sightings; /* of one merge, from left to right */
    size_t seen, room;   /* number of sightings, and how many there is memory for */
    GPtrArray *lists;  /* memory of all lists of places */
} learner;

static pair *get_pair(const learner *l, uint32_t i) { return &g_array_index(l->pairs, pair, i); }
static uint32_t length_of(const learner *l, uint32_t symbol) { return g_array_index(l->lengths, uint32_t, symbol); }

/* ---- words into places ---- */

/* A byte that continues a character in UTF-8. */
static bool is_continued(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

/* Is a word learned from? [out] characters: how many it has (bpe_character). */
static bool is_learnt_from(const char *word, size_t size, int64_t count, size_t *characters)
{
    *characters = size > 0 && is_continued(word[0]);
    for (size_t i = 0; i < size; i++) {
        if (word[i] == '\0' || word[i] == ' ' || word[i] == '\n' || (word[i] == BPE_END[0] && g_str_has_prefix(word + i, BPE_END)))
            return false;
        *characters += !is_continued(word[i]);
    }
    return count > 0 && size > 0;
}

/* initial <- the symbols of a word that the codes make, a line end after each. All its subwords but the last have a mark of two
 * bytes after them. */
static void cut_by_codes(xlm_bpe_cutter *cutter, const char *word, size_t size, GString *initial)
{
    g_string_truncate(initial, 0);
    size_t n;
    const char *subwords = xlm_bpe_cutter_word(cutter, word, size, &n), *end = subwords + n, *space;
    for (; (space = memchr(subwords, ' ', (size_t)(end - subwords))) != NULL; subwords = space + 1) {
        g_string_append_len(initial, subwords, space - subwords - BPE_CONTINUED_SIZE);
        g_string_append_c(initial, '\n');
    }
    g_string_append_len(initial, subwords, end - subwords);
    g_string_append(initial, BPE_END "\n");
}

/* The text of the next symbol, of *size bytes; NULL after the last. */
static const char *next_symbol(const char **at, size_t *size)
{
    const char *symbol = *at, *end = strchr(symbol, '\n');
    if (end == NULL)
        return NULL;
    *size = (size_t)(end - symbol);
    *at = end + 1;
    return symbol;
}

static int compare_texts(gconstpointer a, gconstpointer b, gpointer strings)
{
    size_t m, n;
    const char *x = xlm_strings_get(strings, *(const uint32_t *)a, &m);
    const char *y = xlm_strings_get(strings, *(const uint32_t *)b, &n);
    int order = memcmp(x, y, MIN(m, n));
    return order != 0 ? order : (m > n) - (m < n);
}

/* A symbol of so many characters, which has no pairs yet. */
static void add_symbol(learner *l, uint32_t length)
{
    const uint32_t none = BPE_NONE;
    g_array_append_val(l->lengths, length);
    for (int side = 0; side < 2; side++)
        g_array_append_val(l->beside[side], none);
}

static void add_place(learner *l, uint32_t symbol, uint32_t word)
{
    l->text[l->places++] = (place){.symbol = symbol, .word = word, .pair = BPE_NONE};
}

/* Number of the symbol of a character at word[at], of n bytes. last: it ends the word. */
static uint32_t find_character(learner *l, const char *character, size_t n, bool last)
{
    const unsigned char first = (unsigned char)character[0];
    uint32_t *known = NULL;
    if (n == 1 && first < 0x80)
        known = &l->characters[last][first];
    else if (n == 2 && first >= 0xC2 && first < 0xE0)
        known = &l->characters[last][(first & 0x1Fu) << 6 | ((unsigned char)character[1] & 0x3Fu)];
    if (known != NULL && *known != BPE_NONE)
        return *known;
    g_string_truncate(l->initial, 0);
    g_string_append_len(l->initial, character, (gssize)n);
    if (last)
        g_string_append_len(l->initial, BPE_END, BPE_END_SIZE);
    const uint32_t symbol = xlm_strings_add(l->texts, l->initial->str, l->initial->len);
    if (known != NULL)
        *known = symbol;
    return symbol;
}

/* Add the places of a word. */
static void add_word(learner *l, const char *word, size_t size, uint32_t number)
{
    if (l->cutter != NULL) {
        cut_by_codes(l->cutter, word, size, l->initial);
        const char *at = l->initial->str, *symbol;
        while ((symbol = next_symbol(&at, &size)) != NULL)
            add_place(l, xlm_strings_add(l->texts, symbol, size), number);
    } else {
        for (size_t at = 0, n; at < size; at += n) {
            n = bpe_character(word + at, size - at);
            add_place(l, find_character(l, word + at, n, at + n == size), number);
        }
    }
    add_place(l, GAP, 0);
}

/* Number the initial symbols in the order of their bytes. */
static void sort_symbols(learner *l)
{
    const uint32_t n = xlm_strings_count(l->texts);
    g_autofree uint32_t *order = g_new(uint32_t, n), *place_in_order = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof(uint32_t), compare_texts, l->texts);
    xlm_strings_reorder(l->texts, order, n);
    for (uint32_t i = 0; i < n; i++) {
        place_in_order[order[i]] = i;
        add_symbol(l, 1);
    }
    for (size_t at = 0; at < l->places; at++)
        if (l->text[at].symbol != GAP)
            l->text[at].symbol = place_in_order[l->text[at].symbol];
}

static void read_words(learner *l, const xlm_word_counts *words)
{
    const uint32_t n = xlm_word_counts_size(words);
    size_t most = 1, size, characters; /* most: places that are needed; fewer if symbols have several characters */
    l->counts = g_new(int64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        const char *word = xlm_word_counts_word(words, i, &size);
        l->counts[i] = xlm_word_counts_count(words, i);
        if (is_learnt_from(word, size, l->counts[i], &characters))
            most += characters + 1; /* and the gap after it */
        else
            l->counts[i] = 0;
    }
    if (most > INSIDE)
        g_error("codes cannot be learned from words that have %zu characters in total; learn from a part of the text", most);
    l->text = xlm_pages_take(most * sizeof(place), "learning BPE");
    add_place(l, GAP, 0);
    for (uint32_t i = 0; i < n; i++) {
        const char *word = xlm_word_counts_word(words, i, &size);
        if (l->counts[i] > 0)
            add_word(l, word, size, i);
    }
    sort_symbols(l);
}

/* ---- pairs ---- */

/* A new pair of count 0. */
static uint32_t make_pair(learner *l, uint32_t left, uint32_t right)
{
    const pair p = {left, right, 0, NULL, 0};
    g_array_append_val(l->pairs, p);
    return l->pairs->len - 1;
}

static int64_t count_at(const learner *l, size_t at) { return l->counts[l->text[at].word]; }

/* Count a pair that begins at a place. count: of the word there. */
static void see_pair(learner *l, uint32_t i, size_t at, int64_t count)
{
    pair *p = get_pair(l, i);
    p->count += count;
    p->listed++;
    l->text[at].pair = i;
    if (l->seen == l->room) {
        l->room = MAX(2 * l->room, 1024);
        l->sightings = g_renew(sighting, l->sightings, l->room);
    }
    l->sightings[l->seen++] = (sighting){i, (uint32_t)at};
}

/* ---- heap of candidates: the best one first ---- */

static bool is_better(const candidate *a, const candidate *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    return a->left != b->left ? a->left < b->left : a->right < b->right;
}

static void sink(candidate *heap, size_t n, size_t at)
{
    const candidate c = heap[at];
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && is_better(&heap[child + 1], &heap[child]))
            child++;
        if (!is_better(&heap[child], &c))
            break;
        heap[at] = heap[child];
    }
    heap[at] = c;
}

static void put_candidate(learner *l, uint32_t i)
{
    const pair *p = get_pair(l, i);
    const candidate c = {p->count, p->left, p->right, i};
    g_array_append_val(l->heap, c);
    candidate *heap = (candidate *)(void *)l->heap->data;
    size_t at = l->heap->len - 1;
    for (; at > 0 && is_better(&c, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = c;
}

/* The pair with the highest count, or BPE_NONE when all counts are 0. */
static uint32_t take_best(learner *l)
{
    candidate *heap = (candidate *)(void *)l->heap->data;
    while (l->heap->len > 0) {
        const candidate best = heap[0];
        const int64_t count = get_pair(l, best.pair)->count;
        if (count == best.count)
            return best.pair; /* it stays in the heap: merging leaves it with a count of 0, so it sinks when it is seen again */
        if (count > 0) {
            heap[0].count = count;
        } else {
            heap[0] = heap[l->heap->len - 1];
            g_array_set_size(l->heap, l->heap->len - 1);
        }
        if (l->heap->len > 0)
            sink(heap, l->heap->len, 0);
    }
    return BPE_NONE;
}

/* Move the sightings, which are in order of place, into the lists of their pairs, all of which were made since pair `first`.
 * These pairs become candidates. */
static void make_lists(learner *l, uint32_t first)
{
    uint32_t *list = g_new(uint32_t, MAX(l->seen, 1));
    g_ptr_array_add(l->lists, list);
    for (uint32_t i = first; i < l->pairs->len; i++) {
        pair *p = get_pair(l, i);
        p->places = list;
        list += p->listed;
        p->listed = 0;
        if (p->count > 0)
            put_candidate(l, i);
    }
    for (size_t k = 0; k < l->seen; k++) {
        pair *p = get_pair(l, l->sightings[k].pair);
        p->places[p->listed++] = l->sightings[k].place;
    }
    l->seen = 0;
}

/* ---- the pairs of the words as they are at first ---- */

typedef struct pair_table {
    uint32_t *slots; /* open addressing over pairs, at most half full; BPE_NONE: empty */
    uint64_t mask;
} pair_table;

static uint32_t *find_slot(const learner *l, const pair_table *table, uint32_t left, uint32_t right)
{
    uint64_t at = bpe_hash(bpe_key(left, right)) & table->mask;
    for (; table->slots[at] != BPE_NONE; at = (at + 1) & table->mask) {
        const pair *p = get_pair(l, table->slots[at]);
        if (p->left == left && p->right == right)
            break;
    }
    return &table->slots[at];
}

static void make_slots(const learner *l, pair_table *table, uint64_t size)
{
    g_free(table->slots);
    table->slots = g_new(uint32_t, size);
    table->mask = size - 1;
    memset(table->slots, 0xff, size * sizeof(uint32_t));
    for (uint32_t i = 0; i < l->pairs->len; i++)
        *find_slot(l, table, get_pair(l, i)->left, get_pair(l, i)->right) = i;
}

static void find_pairs(learner *l)
{
    pair_table table = {NULL, 0};
    make_slots(l, &table, 1024);
    for (size_t at = 0; at + 1 < l->places; at++) {
        const uint32_t left = l->text[at].symbol, right = l->text[at + 1].symbol;
        if (left == GAP || right == GAP)
            continue;
        uint32_t *slot = find_slot(l, &table, left, right), i = *slot;
        if (i == BPE_NONE) {
            i = *slot = make_pair(l, left, right);
            if (2 * (uint64_t)l->pairs->len > table.mask)
                make_slots(l, &table, 2 * (table.mask + 1));
        }
        see_pair(l, i, at, count_at(l, at));
    }
    g_free(table.slots);
    make_lists(l, 0);
}

/* ---- merges ---- */

/* The pair of the newest symbol with another one, which is to its left or to its right; a pair of two newest symbols is found by
 * the one to the right. */
static uint32_t *beside(const learner *l, uint32_t left, uint32_t right, uint32_t newest)
{
    const int side = left == newest;
    return &g_array_index(l->beside[side], uint32_t, side == 0 ? left : right);
}

/* Count a pair with the newest symbol, which begins at a place in a word of this count. */
static void gain_pair(learner *l, uint32_t left, uint32_t right, uint32_t newest, size_t at, int64_t count)
{
    uint32_t *i = beside(l, left, right, newest);
    if (*i == BPE_NONE)
        *i = make_pair(l, left, right);
    see_pair(l, *i, at, count);
}

/* Remove the place of a pair from its count. */
static void lose_pair(learner *l, size_t at, int64_t count) { get_pair(l, l->text[at].pair)->count -= count; }

/* Merge the symbols (a, b) that begin at `first`, in a word of this count, into n. The neighbours x and y may themselves be n,
 * from the left. */
static void merge_at(learner *l, size_t first, uint32_t a, uint32_t b, uint32_t n, int64_t count)
{
    const size_t second = first + length_of(l, a), end = second + length_of(l, b);
    const uint32_t x = l->text[first - 1].symbol, y = l->text[end].symbol;

    l->text[second].symbol = INSIDE;
    l->text[first].symbol = l->text[end - 1].symbol = n;
    if (x != GAP) {
        const size_t before = first - length_of(l, x);
        lose_pair(l, before, count);
        gain_pair(l, x, n, n, before, count);
    }
    if (y != GAP) {
        lose_pair(l, second, count);
        gain_pair(l, n, y, n, first, count);
    }
}

enum { PART = 32 }; /* places */

/* Merge a pair into n at some of its places. Memory answers slowly, but to several questions at once: so all of these places are
 * read before any of them is needed, and then the counts of their words. A place that no longer begins with the left symbol never
 * will again. */
static void merge_part(learner *l, const pair *p, uint32_t n, const uint32_t *places, size_t size)
{
    uint32_t begin[PART];
    int64_t counts[PART];
    const size_t length = length_of(l, p->left);
    for (size_t k = 0; k < size; k++)
        begin[k] = l->text[places[k]].symbol;
    for (size_t k = 0; k < size; k++)
        counts[k] = begin[k] == p->left ? count_at(l, places[k]) : 0;
    for (size_t k = 0; k < size; k++)
        if (begin[k] == p->left && l->text[places[k]].symbol == p->left && l->text[places[k] + length].symbol == p->right)
            merge_at(l, places[k], p->left, p->right, n, counts[k]);
}

static void merge_pair(learner *l, uint32_t i)
{
    const pair p = *get_pair(l, i);
    const uint32_t n = l->lengths->len, first = l->pairs->len;
    add_symbol(l, length_of(l, p.left) + length_of(l, p.right));

    for (uint32_t k = 0; k < p.listed; k += PART)
        merge_part(l, &p, n, p.places + k, MIN(PART, p.listed - k));
    get_pair(l, i)->count = 0; /* no such neighbours are left, although some were counted twice (a a a) */
    for (uint32_t k = first; k < l->pairs->len; k++)
        *beside(l, get_pair(l, k)->left, get_pair(l, k)->right, n) = BPE_NONE;
    make_lists(l, first);
}

/* base: NULL, or the codes to extend. */
static learner *open_learner(const xlm_word_counts *words, const xlm_bpe *base)
{
    learner *l = g_new0(learner, 1);
    l->cutter = base != NULL ? xlm_bpe_cutter_new(base, NULL) : NULL;
    l->initial = g_string_new(NULL);
    l->texts = xlm_strings_new();
    l->lengths = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (int side = 0; side < 2; side++)
        l->beside[side] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    l->pairs = g_array_new(FALSE, FALSE, sizeof(pair));
    l->heap = g_array_new(FALSE, FALSE, sizeof(candidate));
    l->lists = g_ptr_array_new_with_free_func(g_free);
    memset(l->characters, 0xff, sizeof l->characters);
    read_words(l, words);
    find_pairs(l);
    return l;
}

static void close_learner(learner *l)
{
    xlm_bpe_cutter_free(l->cutter);
    g_string_free(l->initial, TRUE);
    xlm_strings_free(l->texts);
    g_array_free(l->lengths, TRUE);
    g_array_free(l->pairs, TRUE);
    g_array_free(l->heap, TRUE);
    for (int side = 0; side < 2; side++)
        g_array_free(l->beside[side], TRUE);
    g_free(l->sightings);
    g_ptr_array_free(l->lists, TRUE);
    free(l->text);
    g_free(l->counts);
    g_free(l);
}

/* Add the next code and the text of its symbol. No earlier symbol has this text, because the same characters are merged in the
 * same way everywhere unless a merge crosses their ends. Returns false when a given code has this text. */
static bool add_code(learner *l, xlm_bpe *bpe, const pair *p)
{
    size_t left_size, right_size;
    const char *left = xlm_strings_get(l->texts, p->left, &left_size);
    const char *right = xlm_strings_get(l->texts, p->right, &right_size);
    if (!bpe_add(bpe, left, left_size, right, right_size, p->count)) {
        if (l->cutter == NULL)
            g_error("BPE: `%s%s` is made twice", left, right);
        return false;
    }
    g_autofree char *both = g_strconcat(left, right, NULL);
    xlm_strings_add(l->texts, both, left_size + right_size);
    return true;
}

/* Learn up to `merges` more codes. */
static void learn(learner *l, xlm_bpe *bpe, uint32_t merges)
{
    xlm_progress progress = xlm_progress_begin("learning merges", merges, "merges");
    const uint32_t first = xlm_bpe_size(bpe);
    uint32_t best;
    while (xlm_bpe_size(bpe) - first < merges && (best = take_best(l)) != BPE_NONE) {
        if (add_code(l, bpe, get_pair(l, best)))
            merge_pair(l, best);
        else
            get_pair(l, best)->count = 0;
        xlm_progress_show(&progress, xlm_bpe_size(bpe) - first);
    }
    xlm_progress_end(&progress);
}

xlm_bpe *xlm_bpe_learn(const xlm_word_counts *words, uint32_t merges)
{
    learner *l = open_learner(words, NULL);
    xlm_bpe *bpe = bpe_new();
    learn(l, bpe, merges);
    close_learner(l);
    return bpe;
}

xlm_bpe *xlm_bpe_extend(const xlm_bpe *base, const xlm_word_counts *words, uint32_t merges)
{
    xlm_bpe *bpe = bpe_copy(base, NULL);
    learner *l = open_learner(words, base);
    learn(l, bpe, merges);
    close_learner(l);
    return bpe;
}
