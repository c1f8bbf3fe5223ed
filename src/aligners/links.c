/* xlm-mpi: word alignments as text, and measures of their quality. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/links.h"

#include <math.h>

#include "base/log.h"

/* ---- reading ---- */

/* A link as it is in the file. */
struct entry {
    int64_t sentence;
    xlm_link link;
};

struct reading {
    xlm_lines *lines;
    GArray *entries;        /* struct entry */
    GArray *line;           /* xlm_link: of a sentence of the form `lines` */
    int64_t sentence_lines; /* of the form `lines` */
    bool numbered, any;     /* the form, once a line has shown it */
    bool from_1;            /* the caller says that words are counted from 1 */
    int64_t min_word, min_sentence;
    int64_t unlinked, first_unlinked; /* lines of words without a link, and the number of the first */
};

/* The number at *at, which moves past it; -1 if there is none, or it is greater than `max`. */
static int64_t take_number(const char **at, const char *end, int64_t max)
{
    int64_t number = 0;
    const char *begin = *at;
    for (; *at < end && g_ascii_isdigit(**at); ++*at)
        if ((number = 10 * number + (**at - '0')) > max)
            return -1;
    return *at > begin ? number : -1;
}

static void skip_spaces(const char **at, const char *end)
{
    while (*at < end && xlm_is_blank(**at))
        ++*at;
}

static void keep(struct reading *r, int64_t sentence, int64_t source, int64_t target, bool possible)
{
    const struct entry entry = {sentence, {(int32_t)source, (int32_t)target, possible}};
    g_array_append_val(r->entries, entry);
    r->min_word = MIN(r->min_word, MIN(source, target));
    r->min_sentence = MIN(r->min_sentence, sentence);
}

bool xlm_links_read_line(const xlm_lines *lines, const char *text, size_t size, GArray *links, GError **error)
{
    const char *at = text, *end = text + size;
    for (skip_spaces(&at, end); at < end; skip_spaces(&at, end)) {
        const int64_t source = take_number(&at, end, XLM_LINK_MAX_WORD);
        const char mark = source >= 0 && at < end ? *at++ : '\0';
        const int64_t target = mark == '-' || mark == '?' || mark == 'p' ? take_number(&at, end, XLM_LINK_MAX_WORD) : -1;
        if (target < 0 || (at < end && !xlm_is_blank(*at)))
            return XLM_LINES_REFUSE(lines, error, "not a line of links like `0-0 1-2`, or in gold alignments `3?4` and `3p4`");
        const xlm_link link = {(int32_t)source, (int32_t)target, mark != '-'};
        g_array_append_val(links, link);
    }
    return true;
}

static bool read_sentence(struct reading *r, const char *text, size_t size, GError **error)
{
    g_array_set_size(r->line, 0);
    if (!xlm_links_read_line(r->lines, text, size, r->line, error))
        return false;
    for (guint i = 0; i < r->line->len; i++) {
        const xlm_link *link = &g_array_index(r->line, xlm_link, i);
        keep(r, r->sentence_lines, link->source, link->target, link->possible);
    }
    r->sentence_lines++;
    return true;
}

/* `sentence source target [S|P]`. Published files say with a negative number, -99, or with 0 where words are counted from 1, that
 * a word is linked to nothing. */
static bool read_numbered(struct reading *r, const char *at, const char *end, GError **error)
{
    int64_t number[3];
    bool unlinked = false;
    skip_spaces(&at, end);
    if (at == end)
        return true;
    for (int i = 0; i < 3; i++) {
        if (i > 0 && at < end && *at == '-') {
            at++;
            unlinked = true;
        }
        number[i] = take_number(&at, end, i == 0 ? XLM_LINK_MAX_SENTENCE : XLM_LINK_MAX_WORD);
        if (number[i] < 0 || (at < end && !xlm_is_blank(*at)))
            return XLM_LINES_REFUSE(r->lines, error, "not a line `sentence source target [S|P]`");
        skip_spaces(&at, end);
    }
    const char letter = at < end ? *at++ : 'S';
    skip_spaces(&at, end);
    /* A probability may follow, which is not used. */
    if ((letter != 'S' && letter != 'P') || (at < end && !g_ascii_isdigit(*at)))
        return XLM_LINES_REFUSE(r->lines, error, "not a line `sentence source target [S|P]`");
    unlinked |= r->from_1 && (number[1] == 0 || number[2] == 0);
    r->min_sentence = MIN(r->min_sentence, number[0]);
    if (!unlinked)
        keep(r, number[0], number[1], number[2], letter == 'P');
    else if (r->unlinked++ == 0)
        r->first_unlinked = xlm_lines_number(r->lines);
    return true;
}

/* Numbers separated by blanks, with nothing that joins two of them. */
static bool looks_numbered(const char *at, const char *end)
{
    const char *begin = at;
    while (at < end && (g_ascii_isdigit(*at) || xlm_is_blank(*at) || (*at == '-' && at > begin && xlm_is_blank(at[-1]))))
        at++;
    return at == end || *at == 'S' || *at == 'P';
}

static bool read_lines(struct reading *r, GError **error)
{
    const char *text;
    size_t size;
    int got;
    while ((got = xlm_lines_next(r->lines, &text, &size, error)) > 0) {
        const char *at = text, *end = text + size;
        skip_spaces(&at, end);
        if (!r->any && at < end) {
            r->any = true;
            r->numbered = looks_numbered(at, end);
        }
        if (!(r->numbered ? read_numbered(r, at, end, error) : read_sentence(r, text, size, error)))
            return false;
    }
    return got == 0;
}

/* How a file counts, by the smallest number in it. */
static bool settle(const struct reading *r, const char *what, xlm_count_from asked, int64_t min, xlm_count_from *from,
                   GError **error)
{
    *from = asked != XLM_COUNT_FOUND ? asked : min == 0 ? XLM_COUNT_FROM_0 : XLM_COUNT_FROM_1;
    return *from == XLM_COUNT_FROM_0 || min > 0 ||
           xlm_error_set(error, EX_DATAERR, "%s: has %s 0, so they are not counted from 1", xlm_lines_path(r->lines), what);
}

gint xlm_links_compare(gconstpointer a, gconstpointer b)
{
    const xlm_link *x = a, *y = b;
    return x->source != y->source ? (x->source < y->source ? -1 : 1) : (x->target > y->target) - (x->target < y->target);
}

static gint by_place(gconstpointer a, gconstpointer b)
{
    const struct entry *x = a, *y = b;
    if (x->sentence != y->sentence)
        return x->sentence < y->sentence ? -1 : 1;
    const int order = xlm_links_compare(&x->link, &y->link);
    return order != 0 ? order : x->link.possible - y->link.possible;
}

/* Sort the entries, and keep each link of a sentence once; a sure link sorts before a possible one. */
static xlm_links *make_links(struct reading *r, xlm_count_from words, xlm_count_from first_sentence)
{
    const guint n = r->entries->len;
    struct entry *entries = (struct entry *)(void *)r->entries->data;
    g_array_sort(r->entries, by_place);
    xlm_links *links = g_new0(xlm_links, 1);
    *links = (xlm_links){.sentences = r->sentence_lines, .words = words,
                         .first_sentence = r->numbered ? first_sentence : XLM_COUNT_FOUND,
                         .unlinked = r->unlinked, .first_unlinked = r->first_unlinked};
    if (r->numbered)
        links->sentences = n > 0 ? entries[n - 1].sentence - first_sentence + 1 : 0;
    links->offsets = g_new0(int64_t, links->sentences + 1);
    links->links = g_new(xlm_link, n + 1);
    int64_t count = 0, sentence = 0;
    for (guint i = 0; i < n; i++) {
        xlm_link link = entries[i].link;
        link.source -= (int32_t)words;
        link.target -= (int32_t)words;
        const int64_t own = entries[i].sentence - (r->numbered ? (int64_t)first_sentence : 0);
        while (sentence < own)
            links->offsets[++sentence] = count;
        if (count == links->offsets[sentence] || xlm_links_compare(&links->links[count - 1], &link) != 0)
            links->links[count++] = link;
    }
    while (sentence < links->sentences)
        links->offsets[++sentence] = count;
    return links;
}

xlm_links *xlm_links_read(const char *path, xlm_count_from words, xlm_count_from sentences, GError **error)
{
    struct reading r = {.lines = xlm_lines_open(path, error), .from_1 = words == XLM_COUNT_FROM_1, .min_word = G_MAXINT64,
                        .min_sentence = G_MAXINT64};
    if (r.lines == NULL)
        return NULL;
    r.entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    r.line = g_array_new(FALSE, FALSE, sizeof(xlm_link));
    xlm_count_from word, sentence = XLM_COUNT_FROM_0;
    xlm_links *links = NULL;
    if (read_lines(&r, error) && settle(&r, "word", words, r.min_word, &word, error) &&
        (!r.numbered || settle(&r, "sentence", sentences, r.min_sentence, &sentence, error)))
        links = make_links(&r, word, sentence);
    g_array_unref(r.entries);
    g_array_unref(r.line);
    xlm_lines_close(r.lines);
    return links;
}

static gint by_words(gconstpointer a, gconstpointer b, gpointer data)
{
    (void)data;
    return xlm_links_compare(a, b);
}

void xlm_links_sort(xlm_link *links, int64_t n) { g_qsort_with_data(links, (gint)n, sizeof *links, by_words, NULL); }

void xlm_links_close_gaps(xlm_links *gold, const char *path, int64_t sentences)
{
    int64_t linked = 0;
    for (int64_t s = 0; s < gold->sentences; s++)
        linked += gold->offsets[s + 1] > gold->offsets[s];
    if (gold->sentences <= sentences || linked != sentences)
        return;
    xlm_log_info("%s: numbers up to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " sentences, taken as those of the lines in "
                 "their order", path, gold->sentences - 1 + (int64_t)gold->first_sentence, sentences);
    linked = 0;
    for (int64_t s = 0; s < gold->sentences; s++)
        if (gold->offsets[s + 1] > gold->offsets[s])
            gold->offsets[++linked] = gold->offsets[s + 1];
    gold->sentences = linked;
}

void xlm_links_free(xlm_links *links)
{
    if (links == NULL)
        return;
    g_free(links->offsets);
    g_free(links->links);
    g_free(links);
}

/* ---- scores ---- */

void xlm_link_score_add(xlm_link_score *score, const xlm_links *links, int64_t sentence, const xlm_links *gold,
                        int64_t gold_sentence)
{
    const xlm_link *a = links->links + links->offsets[sentence], *a_end = links->links + links->offsets[sentence + 1];
    const xlm_link *g = gold->links + gold->offsets[gold_sentence], *g_end = gold->links + gold->offsets[gold_sentence + 1];
    score->links += a_end - a;
    score->possible += g_end - g;
    while (a < a_end || g < g_end) {
        const int order = a == a_end ? 1 : g == g_end ? -1 : xlm_links_compare(a, g);
        if (order >= 0)
            score->sure += !g->possible;
        if (order == 0) {
            score->links_possible++;
            score->links_sure += !g->possible;
        }
        a += order <= 0;
        g += order >= 0;
    }
}

static double ratio(int64_t a, int64_t b) { return b > 0 ? (double)a / (double)b : NAN; }

double xlm_link_precision(const xlm_link_score *score) { return ratio(score->links_possible, score->links); }

double xlm_link_recall(const xlm_link_score *score) { return ratio(score->links_sure, score->sure); }

double xlm_link_f1(const xlm_link_score *score)
{
    const double precision = xlm_link_precision(score), recall = xlm_link_recall(score);
    return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : precision + recall;
}

double xlm_link_error_rate(const xlm_link_score *score)
{
    return 1 - ratio(score->links_sure + score->links_possible, score->links + score->sure);
}
