/* xlm-mpi: learning byte-pair codes. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * All distinct words are in one array of places, with one place per character (per symbol of the given codes when codes are
 * extended) and an empty place between words. A symbol covers as many places as it has characters. Its number is at its first and
 * at its last place, so both its neighbours are found without links.
 *
 * Every pair of neighbours has a count and a list of the places where its left symbol begins. A merge visits only the list of its
 * pair. It makes a new symbol, so there are two kinds of pairs: pairs with the new symbol, which get their whole lists in this
 * merge, and older pairs, whose counts can only fall. Hence
 *   - a list is written once, in order of place (so a visit to it goes from left to right), and entries that are no longer
 *     true are recognised when their place is read;
 *   - a heap of pairs by count needs no updates: a pair whose count has fallen since it was put in is put in again. */
#include <string.h>

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

typedef struct learner {
    xlm_bpe_cutter *cutter; /* segments words by the codes that are extended; NULL: words begin as characters */
    GString *initial;       /* the symbols of a word, a line end after each */
    xlm_strings *texts; /* of symbols; the index is the symbol */
    GArray *lengths;    /* uint32_t by symbol: characters in it */
    uint32_t *symbols;  /* [places] */
    uint32_t *word;     /* [places] the word that a place is in */
    size_t places;
    int64_t *counts; /* by word */

    GArray *pairs;   /* pair */
    uint32_t *slots; /* open addressing over pairs, at most half full; BPE_NONE: empty */
    uint64_t mask;
    GArray *heap;      /* candidate */
    GArray *sightings; /* sighting: of one merge, from left to right */
    GPtrArray *lists;  /* memory of all lists of places */
} learner;

static pair *get_pair(const learner *l, uint32_t i) { return &g_array_index(l->pairs, pair, i); }
static uint32_t length_of(const learner *l, uint32_t symbol) { return g_array_index(l->lengths, uint32_t, symbol); }

/* ---- words into places ---- */

static bool is_learnt_from(const char *word, size_t size, int64_t count)
{
    return count > 0 && size > 0 && memchr(word, '\0', size) == NULL && memchr(word, ' ', size) == NULL &&
           memchr(word, '\n', size) == NULL && strstr(word, BPE_END) == NULL;
}

/* initial <- the characters of a word. */
static void cut_into_characters(const char *word, size_t size, GString *initial)
{
    for (size_t at = 0, n; at < size; at += n) {
        n = bpe_character(word + at, size - at);
        g_string_append_len(initial, word + at, (gssize)n);
        if (at + n == size)
            g_string_append_len(initial, BPE_END, BPE_END_SIZE);
        g_string_append_c(initial, '\n');
    }
}

/* initial <- the symbols of a word that the codes make. All its subwords but the last have a mark of two bytes after them. */
static void cut_by_codes(xlm_bpe_cutter *cutter, const char *word, size_t size, GString *initial)
{
    size_t n;
    const char *subwords = xlm_bpe_cutter_word(cutter, word, size, &n), *end = subwords + n, *space;
    for (; (space = memchr(subwords, ' ', (size_t)(end - subwords))) != NULL; subwords = space + 1) {
        g_string_append_len(initial, subwords, space - subwords - BPE_CONTINUED_SIZE);
        g_string_append_c(initial, '\n');
    }
    g_string_append_len(initial, subwords, end - subwords);
    g_string_append(initial, BPE_END "\n");
}

/* The initial symbols of a word, a line end after each. */
static const char *cut(learner *l, const char *word, size_t size)
{
    g_string_truncate(l->initial, 0);
    if (l->cutter != NULL)
        cut_by_codes(l->cutter, word, size, l->initial);
    else
        cut_into_characters(word, size, l->initial);
    return l->initial->str;
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

/* Number the initial symbols of words, in the order of their bytes. */
static void collect_symbols(learner *l, const xlm_word_counts *words)
{
    size_t size;
    for (uint32_t i = 0; i < xlm_word_counts_size(words); i++) {
        const char *word = xlm_word_counts_word(words, i, &size);
        if (!is_learnt_from(word, size, xlm_word_counts_count(words, i)))
            continue;
        const char *at = cut(l, word, size), *symbol;
        for (; (symbol = next_symbol(&at, &size)) != NULL; l->places++)
            xlm_strings_add(l->texts, symbol, size);
        l->places++; /* the gap after it */
    }

    const uint32_t n = xlm_strings_count(l->texts), one = 1;
    g_autofree uint32_t *order = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof(uint32_t), compare_texts, l->texts);
    xlm_strings_reorder(l->texts, order, n);
    for (uint32_t i = 0; i < n; i++)
        g_array_append_val(l->lengths, one);
}

static void fill_places(learner *l, const xlm_word_counts *words)
{
    if (l->places >= INSIDE)
        g_error("codes cannot be learned from words that have %zu characters in total; learn from a part of the text",
                l->places);
    l->places++; /* a gap before the first word */
    l->symbols = g_new(uint32_t, l->places);
    l->word = g_new(uint32_t, l->places);
    l->counts = g_new(int64_t, xlm_word_counts_size(words));
    size_t place = 0, size;
    l->symbols[place++] = GAP;
    for (uint32_t i = 0; i < xlm_word_counts_size(words); i++) {
        const char *word = xlm_word_counts_word(words, i, &size);
        l->counts[i] = xlm_word_counts_count(words, i);
        if (!is_learnt_from(word, size, l->counts[i]))
            continue;
        const char *at = cut(l, word, size), *symbol;
        for (; (symbol = next_symbol(&at, &size)) != NULL; place++) {
            l->symbols[place] = xlm_strings_find(l->texts, symbol, size);
            l->word[place] = i;
        }
        l->symbols[place++] = GAP;
    }
}

/* ---- pairs ---- */

static uint64_t find_pair_slot(const learner *l, uint32_t left, uint32_t right)
{
    uint64_t at = bpe_hash(bpe_key(left, right)) & l->mask;
    for (; l->slots[at] != BPE_NONE; at = (at + 1) & l->mask) {
        const pair *p = get_pair(l, l->slots[at]);
        if (p->left == left && p->right == right)
            break;
    }
    return at;
}

static void make_pair_slots(learner *l, uint64_t size)
{
    g_free(l->slots);
    l->slots = g_new(uint32_t, size);
    l->mask = size - 1;
    memset(l->slots, 0xff, size * sizeof(uint32_t));
    for (uint32_t i = 0; i < l->pairs->len; i++)
        l->slots[find_pair_slot(l, get_pair(l, i)->left, get_pair(l, i)->right)] = i;
}

/* A new pair of count 0. */
static uint32_t make_pair(learner *l, uint32_t left, uint32_t right)
{
    const pair p = {left, right, 0, NULL, 0};
    const uint32_t i = l->pairs->len;
    g_array_append_val(l->pairs, p);
    if (2 * (uint64_t)l->pairs->len > l->mask)
        make_pair_slots(l, 2 * (l->mask + 1));
    else
        l->slots[find_pair_slot(l, left, right)] = i;
    return i;
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
    const guint n = l->sightings->len;
    uint32_t *list = g_new(uint32_t, MAX(n, 1));
    g_ptr_array_add(l->lists, list);
    for (uint32_t i = first; i < l->pairs->len; i++) {
        pair *p = get_pair(l, i);
        p->places = list;
        list += p->listed;
        p->listed = 0;
        if (p->count > 0)
            put_candidate(l, i);
    }
    for (guint k = 0; k < n; k++) {
        const sighting *s = &g_array_index(l->sightings, sighting, k);
        pair *p = get_pair(l, s->pair);
        p->places[p->listed++] = s->place;
    }
    g_array_set_size(l->sightings, 0);
}

/* ---- merges ---- */

/* Count the pair (left, right) at a place. */
static void gain_pair(learner *l, uint32_t left, uint32_t right, size_t place)
{
    uint32_t i = l->slots[find_pair_slot(l, left, right)];
    if (i == BPE_NONE)
        i = make_pair(l, left, right);
    const sighting s = {i, (uint32_t)place};
    get_pair(l, i)->count += l->counts[l->word[place]];
    get_pair(l, i)->listed++;
    g_array_append_val(l->sightings, s);
}

/* Remove one place of the pair (left, right) from its count. */
static void lose_pair(learner *l, uint32_t left, uint32_t right, int64_t count)
{
    get_pair(l, l->slots[find_pair_slot(l, left, right)])->count -= count;
}

static void find_pairs(learner *l)
{
    for (size_t place = 0; place + 1 < l->places; place++)
        if (l->symbols[place] != GAP && l->symbols[place + 1] != GAP)
            gain_pair(l, l->symbols[place], l->symbols[place + 1], place);
    make_lists(l, 0);
}

/* Merge the symbols (a, b) that begin at `place` into n. The neighbours x and y may themselves be n, from the left. */
static void merge_at(learner *l, size_t place, uint32_t a, uint32_t b, uint32_t n)
{
    const size_t second = place + length_of(l, a), end = second + length_of(l, b);
    const int64_t count = l->counts[l->word[place]];
    const uint32_t x = l->symbols[place - 1], y = l->symbols[end];

    l->symbols[second] = INSIDE;
    l->symbols[place] = l->symbols[end - 1] = n;
    if (x != GAP) {
        lose_pair(l, x, a, count);
        gain_pair(l, x, n, place - length_of(l, x));
    }
    if (y != GAP) {
        lose_pair(l, b, y, count);
        gain_pair(l, n, y, place);
    }
}

static void merge_pair(learner *l, uint32_t i)
{
    const pair p = *get_pair(l, i);
    const uint32_t n = l->lengths->len, first = l->pairs->len;
    const uint32_t length = length_of(l, p.left) + length_of(l, p.right);
    g_array_append_val(l->lengths, length);

    for (uint32_t k = 0; k < p.listed; k++) {
        const size_t place = p.places[k];
        if (l->symbols[place] == p.left && l->symbols[place + length_of(l, p.left)] == p.right)
            merge_at(l, place, p.left, p.right, n);
    }
    get_pair(l, i)->count = 0; /* no such neighbours are left, although some were counted twice (a a a) */
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
    l->pairs = g_array_new(FALSE, FALSE, sizeof(pair));
    l->heap = g_array_new(FALSE, FALSE, sizeof(candidate));
    l->sightings = g_array_new(FALSE, FALSE, sizeof(sighting));
    l->lists = g_ptr_array_new_with_free_func(g_free);
    make_pair_slots(l, 1024);
    collect_symbols(l, words);
    fill_places(l, words);
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
    g_array_free(l->sightings, TRUE);
    g_ptr_array_free(l->lists, TRUE);
    g_free(l->symbols);
    g_free(l->word);
    g_free(l->counts);
    g_free(l->slots);
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
