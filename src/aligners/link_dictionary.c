/* xlm-mpi: a bilingual dictionary of the words that links join. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/link_dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "aligners/link_file.h"
#include "aligners/shared_counts.h"
#include "base/log.h"
#include "base/progress.h"

/* ---- this rank's links ---- */

struct counting {
    const xlm_link_dictionary_options *options;
    xlm_sentence_pairs *pairs;
    xlm_word_reader *reader[2];
    xlm_lines *links;
    GArray *line;       /* xlm_link: of the sentence pair that was read last */
    GHashTable *counts; /* int64_t source << 32 | target: int64_t */
};

/* The upper half of a product with an odd number, on which all bits of both words have an effect. */
static guint hash_pair(gconstpointer key)
{
    return (guint)((uint64_t)*(const int64_t *)key * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static void close_counting(struct counting *c)
{
    for (int side = 0; side < 2; side++)
        xlm_word_reader_free(c->reader[side]);
    xlm_sentence_pairs_close(c->pairs);
    xlm_lines_close(c->links);
    g_array_unref(c->line);
    g_hash_table_unref(c->counts);
}

static void count_link(struct counting *c, int32_t source, int32_t target)
{
    const int64_t key = (int64_t)source << 32 | target;
    int64_t *count = g_hash_table_lookup(c->counts, &key);
    if (count == NULL) {
        int64_t *entry = g_new(int64_t, 2); /* the key, then the count */
        entry[0] = key;
        entry[1] = 0;
        count = entry + 1;
        g_hash_table_insert(c->counts, entry, count);
    }
    ++*count;
}

/* There are fewer or more lines of links than sentence pairs. Finds out how many there are. */
static bool refuse_lengths(struct counting *c, GError **error)
{
    return xlm_lines_skip(c->links, G_MAXINT64, error) >= 0 &&
           xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " lines, %s %" G_GINT64_FORMAT
                         "; give one line of links for each sentence pair", xlm_lines_path(c->links),
                         xlm_lines_number(c->links), xlm_sentence_pairs_path(c->pairs, 0), xlm_sentence_pairs_total(c->pairs));
}

static bool check_link(const struct counting *c, const xlm_link *link, const int64_t n[2], GError **error)
{
    const int32_t word[2] = {link->source, link->target};
    for (int side = 0; side < 2; side++)
        if (word[side] >= n[side])
            return XLM_LINES_REFUSE(c->links, error, "link %d-%d: the sentence in %s has %" G_GINT64_FORMAT
                                    " words, which are counted from 0", link->source, link->target,
                                    xlm_sentence_pairs_path(c->pairs, side), n[side]);
    return true;
}

/* Count the links of a sentence pair, each once. */
static bool count_pair(struct counting *c, const char *const text[2], const size_t size[2], GError **error)
{
    const int32_t *words[2];
    int64_t n[2];
    const char *line;
    size_t length;
    for (int side = 0; side < 2; side++)
        if ((n[side] = xlm_word_reader_read(c->reader[side], text[side], size[side], &words[side], error)) < 0) {
            g_prefix_error(error, "%s:%" G_GINT64_FORMAT ": ", xlm_sentence_pairs_path(c->pairs, side),
                           xlm_lines_number(c->links) + 1);
            return false;
        }
    const int got = xlm_lines_next(c->links, &line, &length, error);
    if (got <= 0)
        return got == 0 && refuse_lengths(c, error);
    g_array_set_size(c->line, 0);
    if (!xlm_links_read_line(c->links, line, length, c->line, error))
        return false;
    xlm_link *links = (xlm_link *)(void *)c->line->data;
    xlm_links_sort(links, c->line->len);
    for (guint i = 0; i < c->line->len; i++) {
        if (!check_link(c, &links[i], n, error))
            return false;
        if (i == 0 || xlm_links_compare(&links[i - 1], &links[i]) != 0)
            count_link(c, words[0][links[i].source], words[1][links[i].target]);
    }
    return true;
}

static bool count_links(struct counting *c, GError **error)
{
    const char *text[2];
    size_t size[2];
    int got;
    const int64_t first = xlm_sentence_pairs_first(c->pairs), count = xlm_sentence_pairs_count(c->pairs);
    const int64_t skipped = xlm_lines_skip(c->links, first, error);
    if (skipped < first)
        return skipped >= 0 && refuse_lengths(c, error);
    xlm_progress progress = xlm_progress_begin("reading", (double)count, "pairs");
    for (int64_t done = 0; (got = xlm_sentence_pairs_next(c->pairs, text, size, NULL, error)) > 0; done++) {
        if (!count_pair(c, text, size, error))
            return false;
        xlm_progress_show(&progress, (double)done);
    }
    xlm_progress_end(&progress);
    if (got < 0 || first + count < xlm_sentence_pairs_total(c->pairs))
        return got == 0;
    got = xlm_lines_next(c->links, text, size, error);
    return got == 0 || (got > 0 && refuse_lengths(c, error));
}

static bool open_counting(struct counting *c, GError **error)
{
    for (int side = 0; side < 2; side++)
        if ((c->reader[side] = xlm_word_reader_new(&c->options->text, error)) == NULL)
            return false;
    return (c->links = xlm_lines_open(c->options->links, error)) != NULL;
}

/* ---- all links, on rank 0 ---- */

struct entry {
    uint32_t word[2]; /* source, target; first their numbers, later their places in the order of bytes */
    int64_t count;
};

struct dictionary {
    struct entry *entries;
    int64_t n;
    char **texts[2]; /* of the words, which are parts of `bytes` */
    int64_t types[2];
    char *bytes[2];
    int64_t *links[2]; /* [types] of each word */
};

static void free_dictionary(struct dictionary *d)
{
    g_free(d->entries);
    for (int side = 0; side < 2; side++) {
        g_free(d->texts[side]);
        g_free(d->bytes[side]);
        g_free(d->links[side]);
    }
}

/* Send everything to rank 0, which gets it in the order of ranks; *all: how many records these are there. */
static void *collect(const xlm_comm *comm, const void *own, int64_t n, size_t size, int64_t *all)
{
    g_autofree int64_t *numbers = g_new0(int64_t, comm->ranks), *received = g_new0(int64_t, comm->ranks);
    numbers[0] = n;
    void *records = xlm_comm_exchange(comm, own, numbers, size, received);
    *all = 0;
    for (int r = 0; r < comm->ranks; r++)
        *all += received[r];
    return records;
}

static xlm_word_numbers *number_words(const xlm_comm *comm, const xlm_word_counts *words)
{
    const uint32_t n = xlm_word_counts_size(words);
    g_autofree char **texts = g_new(char *, n + 1);
    for (uint32_t w = 0; w < n; w++)
        texts[w] = (char *)xlm_word_counts_word(words, w, NULL);
    return xlm_word_numbers_new(comm, texts, n);
}

static void collect_words(const xlm_comm *comm, const xlm_word_numbers *numbers, struct dictionary *d, int side)
{
    g_autoptr(GByteArray) own = g_byte_array_new();
    int64_t size;
    for (guint w = 0; w < numbers->texts->len; w++) {
        const char *text = numbers->texts->pdata[w];
        g_byte_array_append(own, (const guint8 *)text, (guint)strlen(text) + 1);
    }
    d->bytes[side] = collect(comm, own->data, own->len, 1, &size);
    d->types[side] = comm->rank == 0 ? numbers->all : 0;
    d->texts[side] = g_new(char *, d->types[side] + 1);
    char *at = d->bytes[side];
    for (int64_t w = 0; w < d->types[side]; w++, at += strlen(at) + 1)
        d->texts[side][w] = at;
}

/* Add up the counts of all ranks. */
static void collect_entries(const xlm_comm *comm, const struct counting *c, struct dictionary *d)
{
    xlm_word_numbers *numbers[2];
    for (int side = 0; side < 2; side++) {
        numbers[side] = number_words(comm, xlm_word_reader_words(c->reader[side]));
        collect_words(comm, numbers[side], d, side);
    }
    const int64_t n = g_hash_table_size(c->counts);
    g_autofree xlm_count_key *keys = g_new(xlm_count_key, n + 1);
    g_autofree int64_t *counts = g_new(int64_t, n + 1);
    GHashTableIter at;
    gpointer key, count;
    g_hash_table_iter_init(&at, c->counts);
    for (int64_t k = 0; g_hash_table_iter_next(&at, &key, &count); k++) {
        const int64_t pair = *(const int64_t *)key;
        keys[k] = (xlm_count_key){(uint32_t)numbers[0]->numbers[pair >> 32], (uint32_t)numbers[1]->numbers[pair & UINT32_MAX]};
        counts[k] = *(const int64_t *)count;
    }
    xlm_shared_counts *shared = xlm_shared_counts_new(comm, numbers[0]->owned, keys, n, NULL);
    int64_t owned;
    const xlm_count_key *own = xlm_shared_counts_owned(shared, &owned);
    g_autofree int64_t *sums = g_new(int64_t, owned + 1);
    xlm_shared_counts_sum(shared, counts, 1, sums);
    g_autofree struct entry *entries = g_new(struct entry, owned + 1);
    for (int64_t k = 0; k < owned; k++)
        entries[k] = (struct entry){{own[k].first, own[k].second}, sums[k]};
    d->entries = collect(comm, entries, owned, sizeof *entries, &d->n);
    xlm_shared_counts_free(shared);
    for (int side = 0; side < 2; side++)
        xlm_word_numbers_free(numbers[side]);
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static int compare_numbers(const void *a, const void *b, void *texts)
{
    char *const *text = texts;
    return strcmp(text[*(const uint32_t *)a], text[*(const uint32_t *)b]);
}

/* Number the words in the order of their bytes, and count the links of each. */
static void order_words(struct dictionary *d, int side)
{
    const int64_t types = d->types[side];
    g_autofree uint32_t *order = g_new(uint32_t, types + 1), *place = g_new(uint32_t, types + 1);
    for (int64_t w = 0; w < types; w++)
        order[w] = (uint32_t)w;
    g_qsort_with_data(order, (gint)types, sizeof *order, compare_numbers, d->texts[side]);
    for (int64_t w = 0; w < types; w++)
        place[order[w]] = (uint32_t)w;
    if (types > 0)
        qsort(d->texts[side], (size_t)types, sizeof *d->texts[side], compare_texts);
    d->links[side] = g_new0(int64_t, types + 1);
    for (int64_t k = 0; k < d->n; k++) {
        d->entries[k].word[side] = place[d->entries[k].word[side]];
        d->links[side][d->entries[k].word[side]] += d->entries[k].count;
    }
}

/* ---- choosing ---- */

/* < 0 if a is the better translation of two of the same word, which is on this side. */
static int compare_translations(const struct dictionary *d, int side, const struct entry *a, const struct entry *b)
{
    const uint32_t x = a->word[1 - side], y = b->word[1 - side];
    const int64_t links[2] = {d->links[1 - side][x], d->links[1 - side][y]};
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return links[0] != links[1] ? (links[0] < links[1] ? -1 : 1) : (x > y) - (x < y);
}

static int compare_entries(const void *a, const void *b, void *data)
{
    const struct entry *x = a, *y = b;
    return x->word[0] != y->word[0] ? (x->word[0] < y->word[0] ? -1 : 1) : compare_translations(data, 0, x, y);
}

/* [target words] the entry that is its best. */
static int64_t *find_best_sources(const struct dictionary *d)
{
    int64_t *best = g_new(int64_t, d->types[1] + 1);
    for (int64_t w = 0; w < d->types[1]; w++)
        best[w] = -1;
    for (int64_t k = 0; k < d->n; k++) {
        int64_t *of_word = &best[d->entries[k].word[1]];
        if (*of_word < 0 || compare_translations(d, 1, &d->entries[k], &d->entries[*of_word]) < 0)
            *of_word = k;
    }
    return best;
}

/* Append the entries that the options ask for. Returns their number. */
static int64_t print_entries(const struct dictionary *d, const xlm_link_dictionary_options *o, GString *lines, GString *scores)
{
    g_autofree int64_t *best = find_best_sources(d);
    int64_t printed = 0, of_word = 0;
    for (int64_t k = 0; k < d->n; k++) {
        const struct entry *e = &d->entries[k];
        const bool first = k == 0 || e->word[0] != e[-1].word[0];
        const double forward = (double)e->count / (double)d->links[0][e->word[0]];
        const double reverse = (double)e->count / (double)d->links[1][e->word[1]];
        if (first)
            of_word = 0;
        if (e->count < o->min_count || forward < o->min_probability || (o->mutual && (!first || best[e->word[1]] != k)) ||
            (o->top > 0 && of_word == o->top))
            continue;
        of_word++;
        printed++;
        g_string_append_printf(lines, "%s\t%s\n", d->texts[0][e->word[0]], d->texts[1][e->word[1]]);
        g_string_append_printf(scores, "%s\t%s\t%" G_GINT64_FORMAT "\t%.6g\t%.6g\n", d->texts[0][e->word[0]],
                               d->texts[1][e->word[1]], e->count, forward, reverse);
    }
    return printed;
}

static bool choose(struct dictionary *d, const xlm_link_dictionary_options *o, GString *lines, GString *scores, GError **error)
{
    int64_t links = 0;
    if (d->n > G_MAXINT32)
        return xlm_error_set(error, EX_UNAVAILABLE, "%s: links more than 2^31 different pairs of words; divide the text",
                             o->links);
    for (int side = 0; side < 2; side++)
        order_words(d, side);
    for (int64_t k = 0; k < d->n; k++)
        links += d->entries[k].count;
    if (d->n > 0)
        g_qsort_with_data(d->entries, (gint)d->n, sizeof *d->entries, compare_entries, d);
    const int64_t printed = print_entries(d, o, lines, scores);
    if (printed == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: %" G_GINT64_FORMAT " links of %" G_GINT64_FORMAT
                             " pairs of words, of which none is left", o->links, links, d->n);
    xlm_log_info("%" G_GINT64_FORMAT " entries of %" G_GINT64_FORMAT " pairs of words with %" G_GINT64_FORMAT " links", printed,
                 d->n, links);
    return true;
}

static bool write_dictionary(const xlm_comm *comm, struct dictionary *d, const xlm_link_dictionary_options *o, GError **error)
{
    g_autoptr(GString) lines = g_string_new(NULL), scores = g_string_new(NULL);
    GError *failure = NULL;
    if (comm->rank == 0)
        choose(d, o, lines, scores, &failure);
    return xlm_comm_agree_on(comm, failure, error) &&
           (o->scores == NULL || xlm_link_file_write(comm, o->scores, scores->str, scores->len, error)) &&
           xlm_link_file_write(comm, o->output, lines->str, lines->len, error);
}

bool xlm_link_dictionary_make(const xlm_comm *comm, const xlm_link_dictionary_options *options, GError **error)
{
    struct counting c = {.options = options};
    GError *failure = NULL;
    c.line = g_array_new(FALSE, FALSE, sizeof(xlm_link));
    c.counts = g_hash_table_new_full(hash_pair, g_int64_equal, g_free, NULL);
    c.pairs = xlm_sentence_pairs_open(comm, options->texts, options->texts[1] != NULL ? 2 : 1, XLM_PAIR_WORK_SUM, 1, error);
    bool good = c.pairs != NULL;
    if (good) {
        if (open_counting(&c, &failure))
            count_links(&c, &failure);
        good = xlm_comm_agree_on(comm, failure, error);
    }
    if (good) {
        struct dictionary d = {.n = 0};
        collect_entries(comm, &c, &d);
        good = write_dictionary(comm, &d, options, error);
        free_dictionary(&d);
    }
    close_counting(&c);
    return good;
}
