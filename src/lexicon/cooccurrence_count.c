/* xlm-mpi: counting co-occurrence in a corpus, over all ranks. SPDX-License-Identifier: GPL-3.0-or-later */
#include "lexicon/cooccurrence_count.h"

#include <string.h>

#include "base/log.h"
#include "base/progress.h"
#include "files/path.h"
#include "lexicon/cooccurrence_write.h"
#include "lexicon/frequency.h"
#include "lexicon/pair_counter.h"

struct counting {
    const xlm_comm *comm;
    const xlm_cooccurrence_options *options;
    xlm_cooccurrence_rule rule;
    xlm_corpus *corpus;
    xlm_cooccurrence *table; /* an earlier one that is added; NULL: none */
    const xlm_vocabulary *vocabulary;
    int64_t size; /* of the vocabulary */
    int languages;
    uint8_t *counted;      /* [size] 1: pairs with this subword are counted */
    double *weight;        /* [size] of each row: about how many records it has */
    int64_t *owner_row;    /* [ranks + 1] rank r owns rows owner_row[r] … owner_row[r + 1] */
    int64_t *occurrences;  /* [size x languages], of this rank, then of all */
    xlm_pair_runs **results; /* [languages] records of own rows; NULL: no text */
    char *scratch;
    xlm_progress progress;
    int64_t tokens_read;
};

/* ---- which subwords, which rows ---- */

/* By the counts in the vocabulary, which are those of the corpus. */
static void choose_by_counts(struct counting *c)
{
    const int64_t *counts = xlm_vocabulary_counts(c->vocabulary);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(xlm_frequency));
    for (int32_t id = 0; id < c->size; id++)
        if (xlm_is_text(xlm_vocabulary_specials(c->vocabulary), id) && counts[id] >= c->rule.min_count) {
            const xlm_frequency entry = {id, counts[id]};
            g_array_append_val(list, entry);
        }
    xlm_frequency_sort(list);
    const guint n = c->rule.max_vocabulary > 0 && c->rule.max_vocabulary < list->len ? (guint)c->rule.max_vocabulary : list->len;
    for (guint i = 0; i < n; i++)
        c->counted[g_array_index(list, xlm_frequency, i).id] = 1;
}

/* Another corpus has other counts, by which other subwords would be left in: those that the table left out would have only the
 * pairs of the new text, and those that it has would lose them. So the subwords are the table's. */
static bool choose_as_table(struct counting *c, GError **error)
{
    const xlm_cooccurrence *t = c->table;
    GError *failure = NULL;
    g_autofree uint8_t *counted = xlm_cooccurrence_read_counted(t, &failure);
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    /* An older table does not say which they are: without bounds all, and by the counts of the same corpus the same ones. */
    const bool known = counted != NULL || (t->rule.min_count == 0 && t->rule.max_vocabulary == 0) ||
                       t->corpus_digest == xlm_corpus_digest_of(c->vocabulary);
    if (!known)
        return xlm_error_set(error, EX_DATAERR, "%s: an earlier version made this table with --min-count or --max-vocab, and it "
                             "does not say which subwords these left in; count its text again", c->options->add);
    if (counted == NULL)
        choose_by_counts(c);
    for (int32_t id = 0; id < c->size && counted != NULL; id++)
        c->counted[id] = counted[id] && xlm_is_text(xlm_vocabulary_specials(c->vocabulary), id);
    return true;
}

static bool choose_subwords(struct counting *c, GError **error)
{
    c->counted = g_new0(uint8_t, c->size);
    if (c->table != NULL)
        return choose_as_table(c, error);
    choose_by_counts(c);
    return true;
}

/* Estimate the number of records of each row: an occurrence has a subword with a larger id, which is the column, near it as often
 * as such subwords occur, and a row has at most one record for each of them. */
static void weigh_rows(struct counting *c)
{
    const int64_t *counts = xlm_vocabulary_counts(c->vocabulary);
    double followers = 0, all = 0, ids = 0;
    for (int64_t i = 0; i < c->size; i++)
        all += c->counted[i] ? (double)counts[i] + 1 : 0;
    for (int64_t i = c->size; i-- > 0;) {
        if (c->counted[i]) {
            followers += (double)counts[i] + 1;
            ids++;
        }
        c->weight[i] = c->counted[i] ? MIN(2 * (double)c->rule.window * ((double)counts[i] + 1) * followers / all, ids) : 0;
    }
}

/* Divide rows [first, last) into parts of about the same weight: cuts[parts + 1]. */
static void cut_rows(const struct counting *c, int64_t first, int64_t last, int parts, int64_t *cuts)
{
    double all = 0, sum = 0;
    for (int64_t i = first; i < last; i++)
        all += c->weight[i];
    cuts[0] = first;
    int64_t row = first;
    for (int part = 1; part < parts; part++) {
        while (row < last && sum < all * part / parts)
            sum += c->weight[row++];
        cuts[part] = row;
    }
    cuts[parts] = last;
}

/* ---- counting this rank's part of a text ---- */

/* The first sentence that begins at or after token `token`. -1 with an error. */
static int64_t find_sentence(const xlm_corpus_text *text, int64_t token, GError **error)
{
    int64_t low = 0, high = text->sentences;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        uint64_t offset;
        if (!xlm_corpus_read_offsets(text, middle, 1, &offset, error))
            return -1;
        if ((int64_t)offset < token)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Ids for the counter: sentences, with `window` uncounted places between them. */
enum { LINE = 1 << 20 };
struct line_of_ids {
    xlm_pair_counter *counter;
    int32_t ids[LINE];
    int64_t first, n; /* ids before `first` were counted */
    int64_t max_bytes; /* bytes of runs in memory */
};

static bool count_line(struct line_of_ids *line, int window, GError **error)
{
    if (!xlm_pair_counter_add(line->counter, line->ids, line->first, line->n, line->max_bytes, error))
        return false;
    const int64_t keep = MIN(window, line->n);
    memmove(line->ids, line->ids + line->n - keep, sizeof(int32_t) * (size_t)keep);
    line->first = line->n = keep;
    return true;
}

static bool count_sentences(struct counting *c, const xlm_corpus_text *text, int64_t sentence, int64_t last,
                            struct line_of_ids *line, GError **error)
{
    enum { SENTENCES = 1 << 16, TOKENS = 1 << 18 };
    const int window = (int)c->rule.window;
    g_autofree uint64_t *offsets = g_new(uint64_t, SENTENCES + 1);
    g_autofree int32_t *tokens = g_new(int32_t, TOKENS);
    int64_t *occurrences = c->occurrences + text->language_id;
    bool good = true;
    for (int64_t block = sentence; block < last && good; block += SENTENCES) {
        const int64_t n = MIN(SENTENCES, last - block);
        good = xlm_corpus_read_offsets(text, block, n + 1, offsets, error);
        int64_t s = 0; /* the next sentence to begin */
        for (uint64_t at = offsets[0], end; good && at < offsets[n]; at = end) {
            end = MIN(at + TOKENS, offsets[n]);
            good = xlm_corpus_read_tokens(text, (int64_t)at, (int64_t)(end - at), tokens, error);
            for (uint64_t t = at; t < end && good; t++) {
                if (line->n + window + 1 > LINE)
                    good = count_line(line, window, error);
                if (s <= n && t >= offsets[s]) {
                    while (s <= n && t >= offsets[s])
                        s++;
                    for (int i = 0; i < window; i++)
                        line->ids[line->n++] = XLM_PAIR_NONE;
                }
                const int32_t id = tokens[t - at];
                line->ids[line->n++] = c->counted[id] ? id : XLM_PAIR_NONE;
                occurrences[(int64_t)id * c->languages]++;
            }
            c->tokens_read += (int64_t)(end - at);
            xlm_progress_show(&c->progress, (double)c->tokens_read);
        }
    }
    return good;
}

/* This rank's part of a text: the sentences that begin in its part of the tokens. */
static bool count_text(struct counting *c, const xlm_corpus_text *text, struct line_of_ids *line, GError **error)
{
    const int rank = c->comm->rank, ranks = c->comm->ranks;
    const int64_t share = text->tokens / ranks;
    const int64_t first = rank == 0 ? 0 : find_sentence(text, share * rank, error);
    const int64_t last = first < 0 || rank == ranks - 1 ? text->sentences : find_sentence(text, share * (rank + 1), error);
    if (first < 0 || last < 0 || !count_sentences(c, text, first, last, line, error))
        return false;
    /* Another text follows. */
    for (int i = 0; i < c->rule.window; i++) {
        if (line->n == LINE && !count_line(line, (int)c->rule.window, error))
            return false;
        line->ids[line->n++] = XLM_PAIR_NONE;
    }
    return true;
}

/* Texts of a language in the splits that are counted: at most two. */
static int texts_of(const struct counting *c, int language, const xlm_corpus_text *texts[2])
{
    const char *name = xlm_vocabulary_language_names(c->vocabulary)[language];
    int n = 0;
    for (int split = XLM_TRAIN; split <= XLM_HELD_OUT; split++) {
        const xlm_corpus_text *text = xlm_corpus_find_text(c->corpus, split, name);
        if (text != NULL && text->tokens > 0 && (split == XLM_TRAIN ? c->options->train : c->options->held_out))
            texts[n++] = text;
    }
    return n;
}

static bool count_language(struct counting *c, int language, xlm_pair_runs *runs, GError **error)
{
    const xlm_corpus_text *texts[2];
    const int n = texts_of(c, language, texts);
    int64_t tokens = 0;
    for (int i = 0; i < n; i++)
        tokens += texts[i]->tokens / c->comm->ranks + 1;
    if (n == 0)
        return true;
    /* Half of the memory for counting, a quarter for runs; a quarter is left for what was gathered before. */
    struct line_of_ids *line = g_new(struct line_of_ids, 1);
    line->first = line->n = 0;
    line->max_bytes = c->options->memory / 4;
    line->counter = xlm_pair_counter_new(c->size, (int)c->rule.window, tokens * c->rule.window, c->options->memory / 2, runs);
    bool good = true;
    for (int i = 0; i < n && good; i++)
        good = count_text(c, texts[i], line, error);
    if (good && line->n > line->first)
        good = xlm_pair_counter_add(line->counter, line->ids, line->first, line->n, line->max_bytes, error);
    if (good)
        xlm_pair_counter_flush(line->counter);
    xlm_pair_counter_free(line->counter);
    g_free(line);
    return good && (xlm_pair_runs_bytes(runs) <= c->options->memory / 4 || xlm_pair_runs_spill(runs, error));
}

/* ---- from all ranks to the owners of rows ---- */

/* Append this rank's records of rows [first, last) to `send`. Returns their number. */
static int64_t take_rows(const struct counting *c, const xlm_pair_runs *runs, int64_t first, int64_t last, GByteArray *send)
{
    const guint size = (guint)(sizeof(uint64_t) * (size_t)(1 + c->rule.window));
    g_autofree uint64_t *record = g_malloc(size);
    int64_t n = 0;
    xlm_pair_merge *merge = xlm_pair_merge_new((int)c->rule.window);
    xlm_pair_merge_add(merge, runs, 0, first, last);
    for (; xlm_pair_merge_sum(merge, record); n++)
        g_byte_array_append(send, (const guint8 *)record, size);
    xlm_pair_merge_free(merge);
    return n;
}

/* Move the results to disk if those of all languages take more than an eighth of the memory. */
static bool spill_results(struct counting *c, GError **error)
{
    int64_t bytes = 0;
    for (int l = 0; l < c->languages; l++)
        bytes += c->results[l] != NULL ? xlm_pair_runs_bytes(c->results[l]) : 0;
    bool good = true;
    for (int l = 0; l < c->languages && bytes > c->options->memory / 8 && good; l++)
        good = c->results[l] == NULL || xlm_pair_runs_spill(c->results[l], error);
    return good;
}

/* Add up the records received, each sender's in order, and those of the table, as a run of the results. */
static bool add_up(struct counting *c, int language, const uint64_t *in, const int64_t *received, int64_t first, int64_t last,
                   GError **error)
{
    const int width = (int)c->rule.window;
    xlm_pair_runs *parts = xlm_pair_runs_new(width, c->scratch);
    int64_t max_records = 0;
    for (int r = 0; r < c->comm->ranks; r++) {
        xlm_pair_runs_lend(parts, in, received[r]);
        in += received[r] * (1 + width);
        max_records += received[r];
    }
    uint64_t *words = NULL;
    int64_t n = 0;
    bool good = c->table == NULL || xlm_cooccurrence_read_language(c->table, language, first, last, &words, &n, error);
    if (good) {
        xlm_pair_runs_add(parts, words, n);
        max_records += n;
        uint64_t *sums = g_new(uint64_t, max_records * (1 + width) + 1), *at = sums;
        xlm_pair_merge *merge = xlm_pair_merge_new(width);
        xlm_pair_merge_add(merge, parts, 0, first, last);
        while (xlm_pair_merge_sum(merge, at))
            at += 1 + width;
        xlm_pair_merge_free(merge);
        const int64_t records = (at - sums) / (1 + width);
        sums = g_renew(uint64_t, sums, records * (1 + width) + 1);
        xlm_pair_runs_add(c->results[language], sums, records);
        good = spill_results(c, error);
    }
    xlm_pair_runs_free(parts);
    return good;
}

/* The number of rounds in which a language is gathered: what a rank sends, receives and reads from the table at once takes about
 * a sixteenth of the memory; at times there are three copies. Collective, the same on all ranks. */
static int64_t count_rounds(const struct counting *c, int language, int64_t records)
{
    static const int64_t SMALLEST = 1 << 20, LARGEST = 1 << 27, MAX_ROUNDS = 1 << 16; /* bytes, rounds */
    if (c->table != NULL)
        records += c->table->language_entries[language] / c->comm->ranks;
    const int64_t share = CLAMP(c->options->memory / 16, SMALLEST, LARGEST);
    int64_t rounds = records / (share / (int64_t)(sizeof(uint64_t) * (size_t)(1 + c->rule.window))) + 1;
    xlm_comm_max_int64(c->comm, &rounds, 1);
    return MIN(rounds, MAX_ROUNDS);
}

/* Send all runs of a language to their owners. */
static bool gather(struct counting *c, int language, const xlm_pair_runs *runs, GError **error)
{
    const int ranks = c->comm->ranks;
    const size_t size = sizeof(uint64_t) * (size_t)(1 + c->rule.window);
    const int64_t rounds = count_rounds(c, language, xlm_pair_runs_records(runs));
    g_autofree int64_t *cuts = g_new(int64_t, (size_t)ranks * (size_t)(rounds + 1));
    g_autofree int64_t *numbers = g_new(int64_t, ranks), *received = g_new(int64_t, ranks);
    for (int r = 0; r < ranks; r++)
        cut_rows(c, c->owner_row[r], c->owner_row[r + 1], (int)rounds, cuts + r * (rounds + 1));
    bool good = true;
    xlm_progress progress = xlm_progress_begin("adding up pairs", (double)rounds, "parts");
    for (int64_t round = 0; round < rounds && good; round++) {
        g_autoptr(GByteArray) send = g_byte_array_new();
        for (int r = 0; r < ranks; r++) {
            const int64_t *cut = cuts + r * (rounds + 1) + round;
            numbers[r] = take_rows(c, runs, cut[0], cut[1], send);
        }
        g_autofree void *in = xlm_comm_exchange(c->comm, send->data, numbers, size, received);
        const int64_t *own = cuts + c->comm->rank * (rounds + 1) + round;
        GError *failure = NULL;
        add_up(c, language, in, received, own[0], own[1], &failure);
        good = xlm_comm_agree_on(c->comm, failure, error);
        xlm_progress_show(&progress, (double)(round + 1));
    }
    xlm_progress_end(&progress);
    return good;
}

/* ---- all ---- */

static bool check_table(struct counting *c, GError **error)
{
    const xlm_cooccurrence *t = c->table;
    const xlm_vocabulary *vocabulary = xlm_corpus_vocabulary(c->corpus);
    const xlm_cooccurrence_rule *given = &c->options->rule;
    if (!xlm_cooccurrence_fits(t, vocabulary))
        return xlm_error_set(error, EX_DATAERR, "%s: counted with other subwords or languages than %s has; make the corpus with "
                             "xlm_prep --like", c->options->add, c->options->corpus);
    if (!xlm_cooccurrence_check_size(t, vocabulary, error))
        return false;
    if ((given->window > 0 && given->window != t->rule.window) ||
        (given->min_count >= 0 && given->min_count != t->rule.min_count) ||
        (given->max_vocabulary >= 0 && given->max_vocabulary != t->rule.max_vocabulary))
        return xlm_error_set(error, EX_USAGE, "%s: was counted with --window %" G_GINT64_FORMAT " --min-count %" G_GINT64_FORMAT
                             " --max-vocab %" G_GINT64_FORMAT "; only text that is counted in the same way can be added",
                             c->options->add, t->rule.window, t->rule.min_count, t->rule.max_vocabulary);
    return true;
}

/* The rule: what was given, else the table's, else the default. */
static void settle_rule(struct counting *c)
{
    static const xlm_cooccurrence_rule defaults = {2, "inverse", "largest", 0, 0};
    const xlm_cooccurrence_rule *given = &c->options->rule, *other = c->table != NULL ? &c->table->rule : &defaults;
    c->rule = (xlm_cooccurrence_rule){given->window > 0 ? given->window : other->window,
                                      given->weights != NULL ? given->weights : other->weights,
                                      given->factors != NULL ? given->factors : other->factors,
                                      given->min_count >= 0 ? given->min_count : other->min_count,
                                      given->max_vocabulary >= 0 ? given->max_vocabulary : other->max_vocabulary};
}

/* Refuse now what would fail after hours of counting. */
static bool check_places(const struct counting *c, GError **error)
{
    const xlm_cooccurrence_options *o = c->options;
    return xlm_path_check_outputs(&o->output, 1, &o->corpus, 1, error) &&
           (o->scratch == NULL || xlm_path_check_directory(o->scratch, "scratch files", error));
}

static bool open_files(struct counting *c, GError **error)
{
    const char *add = c->options->add;
    if (!check_places(c, error) || (c->corpus = xlm_corpus_open(c->options->corpus, error)) == NULL)
        return false;
    if (add != NULL && ((c->table = xlm_cooccurrence_open(add, error)) == NULL || !check_table(c, error)))
        return false;
    settle_rule(c);
    c->vocabulary = xlm_corpus_vocabulary(c->corpus);
    c->size = xlm_vocabulary_size(c->vocabulary);
    c->languages = xlm_vocabulary_languages(c->vocabulary);
    return xlm_pair_counter_bits(c->size, (int)c->rule.window) <= 64 ||
           xlm_error_set(error, EX_DATAERR, "%s: a vocabulary of %" G_GINT64_FORMAT " is too large to count pairs in a window of "
                         "%" G_GINT64_FORMAT, c->options->corpus, c->size, c->rule.window);
}

static int64_t tokens_to_count(const struct counting *c)
{
    int64_t tokens = 0;
    for (int l = 0; l < c->languages; l++) {
        const xlm_corpus_text *texts[2];
        for (int n = texts_of(c, l, texts); n-- > 0;)
            tokens += texts[n]->tokens;
    }
    return tokens;
}

static void sum_occurrences(struct counting *c, const int64_t *earlier)
{
    const int64_t n = c->size * c->languages;
    xlm_comm_sum_int64(c->comm, c->occurrences, n);
    for (int64_t i = 0; i < n && earlier != NULL; i++)
        c->occurrences[i] += earlier[i];
}

/* /inputs: those of the table, and this corpus. */
static char **list_inputs(const struct counting *c, int64_t tokens)
{
    GPtrArray *list = g_ptr_array_new();
    for (char **i = c->table != NULL ? c->table->inputs : NULL; i != NULL && *i != NULL; i++)
        g_ptr_array_add(list, g_strdup(*i));
    const xlm_cooccurrence_options *o = c->options;
    char *input = g_strdup_printf("%s split=%s tokens=%" G_GINT64_FORMAT, o->corpus,
                                  o->train ? (o->held_out ? "all" : "train") : "held_out", tokens);
    for (guint i = 0; i < list->len; i++)
        if (strcmp(list->pdata[i], input) == 0)
            xlm_log_warn("%s: this text was counted before: %s has it", o->corpus, o->add);
    g_ptr_array_add(list, input);
    g_ptr_array_add(list, NULL);
    return (char **)g_ptr_array_free(list, FALSE);
}

static bool count_all(struct counting *c, GError **error)
{
    const int64_t tokens = tokens_to_count(c);
    if (tokens == 0)
        return xlm_error_set(error, EX_DATAERR, "%s: there is no text of this split to count", c->options->corpus);
    g_auto(GStrv) inputs = list_inputs(c, tokens);
    c->progress = xlm_progress_begin("counting pairs", (double)tokens / c->comm->ranks, "tokens");
    bool good = true;
    for (int l = 0; l < c->languages && good; l++) {
        const xlm_corpus_text *texts[2];
        if (texts_of(c, l, texts) == 0 && (c->table == NULL || c->table->language_tokens[l] == 0))
            continue;
        xlm_pair_runs *runs = xlm_pair_runs_new((int)c->rule.window, c->scratch);
        c->results[l] = xlm_pair_runs_new((int)c->rule.window, c->scratch);
        GError *failure = NULL;
        count_language(c, l, runs, &failure);
        good = xlm_comm_agree_on(c->comm, failure, error) && gather(c, l, runs, error);
        xlm_pair_runs_free(runs);
    }
    xlm_progress_end(&c->progress);
    GError *failure = NULL;
    g_autofree int64_t *earlier = good && c->table != NULL ? xlm_cooccurrence_read_occurrences(c->table, &failure) : NULL;
    good = good && xlm_comm_agree_on(c->comm, failure, error);
    if (good) {
        sum_occurrences(c, earlier);
        const xlm_cooccurrence_record record = {c->vocabulary, xlm_corpus_digest(c->corpus),
                                                xlm_corpus_subwords_digest_of(c->vocabulary), c->rule, c->options->command, inputs,
                                                c->occurrences, c->counted, c->owner_row[c->comm->rank],
                                                c->owner_row[c->comm->rank + 1], c->results};
        int64_t entries;
        good = xlm_cooccurrence_write(c->comm, c->options->output, &record, &entries, error);
        if (good)
            xlm_log_info("%s: %" G_GINT64_FORMAT " pairs of subwords in %" G_GINT64_FORMAT " tokens, window %" G_GINT64_FORMAT,
                         c->options->output, entries, tokens + (c->table != NULL ? c->table->tokens : 0), c->rule.window);
    }
    return good;
}

bool xlm_cooccurrence_count(const xlm_comm *comm, const xlm_cooccurrence_options *options, GError **error)
{
    struct counting c = {.comm = comm, .options = options};
    GError *failure = NULL;
    if (open_files(&c, &failure))
        choose_subwords(&c, &failure);
    bool good = xlm_comm_agree_on(comm, failure, error);
    if (good) {
        c.weight = g_new0(double, c.size);
        c.owner_row = g_new0(int64_t, comm->ranks + 1);
        c.occurrences = g_new0(int64_t, c.size * c.languages);
        c.results = g_new0(xlm_pair_runs *, c.languages);
        c.scratch = options->scratch != NULL ? g_strdup(options->scratch) : g_path_get_dirname(options->output);
        weigh_rows(&c);
        cut_rows(&c, 0, c.size, comm->ranks, c.owner_row);
        good = count_all(&c, error);
    }
    for (int l = 0; l < c.languages && c.results != NULL; l++)
        xlm_pair_runs_free(c.results[l]);
    g_free(c.results);
    g_free(c.counted);
    g_free(c.weight);
    g_free(c.owner_row);
    g_free(c.occurrences);
    g_free(c.scratch);
    xlm_cooccurrence_close(c.table);
    xlm_corpus_close(c.corpus);
    return good;
}
