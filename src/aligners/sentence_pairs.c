/* xlm-mpi: pairs of sentences for alignment. SPDX-License-Identifier: GPL-3.0-or-later */
#include "aligners/sentence_pairs.h"

#include <string.h>

#include "aligners/corpus_walk.h"
#include "text/lines.h"

/* Where a rank's part begins. */
struct part {
    int64_t first;     /* pair */
    int64_t offset[2]; /* in the text of each file */
};

struct xlm_sentence_pairs {
    int files;           /* 0: a corpus */
    xlm_lines *lines[2]; /* [files] */
    const xlm_corpus *corpus;
    int parts; /* of the corpus */
    xlm_corpus_part of[XLM_CORPUS_PARTS];
    xlm_corpus_walk *walk[XLM_CORPUS_PARTS];
    const int32_t *ids[2]; /* of the pair last returned */
    int64_t subwords[2];
    GString *text[2];
    int64_t total;
    struct part part;
    int64_t count, at; /* of this rank's pairs */
};

/* ---- a pair ---- */

/* The token `|||` at or after `at`. */
static const char *find_separator(const char *at, const char *begin, const char *end)
{
    while (end - at >= 3 && (at = memchr(at, '|', (size_t)(end - at - 2))) != NULL) {
        if (at[1] == '|' && at[2] == '|' && (at == begin || xlm_is_blank(at[-1])) && (at + 3 == end || xlm_is_blank(at[3])))
            return at;
        at++;
    }
    return NULL;
}

static bool split(const xlm_lines *lines, const char *line, size_t length, const char *text[2], size_t size[2], GError **error)
{
    const char *end = line + length, *separator = find_separator(line, line, end);
    if (separator == NULL || find_separator(separator + 3, line, end) != NULL)
        return XLM_LINES_REFUSE(lines, error, "has %s ` ||| `; lines have the form `source ||| target`",
                                separator == NULL ? "no" : "more than one");
    text[0] = line;
    size[0] = (size_t)(separator - line) - (separator > line);
    text[1] = MIN(separator + 4, end);
    size[1] = (size_t)(end - text[1]);
    return true;
}

/* Returns 1, 0 at the end of a file, or -1. *longer: the file that still has a line if only one has, else -1. */
static int read_pair(xlm_lines *const *lines, int files, const char *text[2], size_t size[2], int *longer, GError **error)
{
    int got[2] = {0};
    *longer = -1;
    for (int f = 0; f < files; f++)
        if ((got[f] = xlm_lines_next(lines[f], &text[f], &size[f], error)) < 0)
            return -1;
    if (files == 1)
        return got[0] == 1 && !split(lines[0], text[0], size[0], text, size, error) ? -1 : got[0];
    if (got[0] != got[1])
        *longer = got[0] == 1 ? 0 : 1;
    return got[0] & got[1];
}

/* ---- sharing out, on rank 0 ---- */

/* Blocks of `pairs` pairs each, except the last. If there are too many blocks, each two become one. */
struct blocks {
    GArray *begin; /* struct part */
    GArray *work;  /* double */
    int64_t pairs;
    xlm_pair_work kind;
};

enum { MAX_BLOCKS = 1 << 18 };

static void join_blocks(struct blocks *blocks)
{
    struct part *begin = (struct part *)(void *)blocks->begin->data;
    double *work = (double *)(void *)blocks->work->data;
    const guint n = blocks->begin->len / 2;
    for (guint b = 0; b < n; b++) {
        begin[b] = begin[2 * b];
        work[b] = work[2 * b] + work[2 * b + 1];
    }
    g_array_set_size(blocks->begin, n);
    g_array_set_size(blocks->work, n);
    blocks->pairs *= 2;
}

/* Count a pair of these sizes that begins at these offsets of the files. */
static void note_pair(xlm_sentence_pairs *pairs, struct blocks *blocks, const int64_t offset[2], int64_t source, int64_t target)
{
    const double a = (double)source + 1, b = (double)target + 1;
    if (pairs->total % blocks->pairs == 0) {
        if (blocks->begin->len == MAX_BLOCKS)
            join_blocks(blocks);
        const double none = 0;
        const struct part here = {pairs->total, {offset[0], offset[1]}};
        g_array_append_val(blocks->begin, here);
        g_array_append_val(blocks->work, none);
    }
    g_array_index(blocks->work, double, blocks->work->len - 1) += blocks->kind == XLM_PAIR_WORK_PRODUCT ? a * b : a + b;
    pairs->total++;
}

static bool look_through_corpus(xlm_sentence_pairs *pairs, struct blocks *blocks, GError **error)
{
    const int32_t *ids[2];
    int64_t n[2];
    int got = 0;
    for (int p = 0; p < pairs->parts && got == 0; p++) {
        xlm_corpus_walk *walk = xlm_corpus_walk_new(pairs->corpus, pairs->of[p].pairs, true);
        while ((got = xlm_corpus_walk_next(walk, ids, n, error)) > 0)
            note_pair(pairs, blocks, (const int64_t[2]){0}, n[0], n[1]);
        xlm_corpus_walk_free(walk);
    }
    return got == 0;
}

static bool look_through_files(xlm_sentence_pairs *pairs, struct blocks *blocks, GError **error)
{
    xlm_lines *const *lines = pairs->lines;
    int64_t offset[2] = {0};
    const char *text[2];
    size_t size[2];
    int got, longer;
    while ((got = read_pair(lines, pairs->files, text, size, &longer, error)) > 0) {
        note_pair(pairs, blocks, offset, (int64_t)size[0], (int64_t)size[1]);
        for (int f = 0; f < pairs->files; f++)
            offset[f] = xlm_lines_offset(lines[f]);
    }
    if (got < 0)
        return false;
    if (longer >= 0)
        return xlm_lines_skip(lines[longer], G_MAXINT64, error) >= 0 &&
               xlm_error_set(error, EX_DATAERR, "%s has %" G_GINT64_FORMAT " lines, %s %" G_GINT64_FORMAT
                             "; each line of one must be the translation of that line of the other",
                             xlm_lines_path(lines[0]), xlm_lines_number(lines[0]), xlm_lines_path(lines[1]),
                             xlm_lines_number(lines[1]));
    return pairs->total > 0 ||
           xlm_error_set(error, EX_DATAERR, "%s: is empty; give pairs of sentences", xlm_lines_path(lines[0]));
}

/* parts[ranks + 1]: a rank begins with the block before which the work is nearest to the share of the ranks below it. */
static void share_out(const struct blocks *blocks, int64_t total, int ranks, struct part *parts)
{
    const struct part *begin = (const struct part *)(const void *)blocks->begin->data;
    const double *work = (const double *)(const void *)blocks->work->data;
    double all = 0, before = 0;
    for (guint b = 0; b < blocks->work->len; b++)
        all += work[b];
    guint b = 0;
    for (int r = 0; r < ranks; r++) {
        const double share = all * r / ranks;
        while (b < blocks->work->len && before + work[b] / 2 < share)
            before += work[b++];
        parts[r] = b < blocks->work->len ? begin[b] : (struct part){.first = total};
    }
    parts[ranks].first = total;
}

static bool open_files(xlm_sentence_pairs *pairs, const char *const *files, GError **error)
{
    for (int f = 0; f < pairs->files; f++) {
        if (strcmp(files[f], "-") == 0)
            return xlm_error_set(error, EX_NOINPUT, "-: text is read more than once, so standard input will not do; give files");
        if ((pairs->lines[f] = xlm_lines_open(files[f], error)) == NULL)
            return false;
    }
    return true;
}

static struct part *find_parts(const xlm_comm *comm, xlm_sentence_pairs *pairs, xlm_pair_work work, int64_t unit,
                               GError **error)
{
    struct blocks blocks = {g_array_new(FALSE, FALSE, sizeof(struct part)), g_array_new(FALSE, FALSE, sizeof(double)), unit,
                            work};
    g_autofree struct part *parts = g_new0(struct part, comm->ranks + 1);
    GError *failure = NULL;
    if (comm->rank == 0 && (pairs->files == 0 ? look_through_corpus : look_through_files)(pairs, &blocks, &failure))
        share_out(&blocks, pairs->total, comm->ranks, parts);
    g_array_unref(blocks.begin);
    g_array_unref(blocks.work);
    return xlm_comm_agree_on(comm, failure, error) ? g_steal_pointer(&parts) : NULL;
}

/* Find this rank's part, and go to its beginning. */
static bool take_part(const xlm_comm *comm, xlm_sentence_pairs *pairs, xlm_pair_work work, int64_t unit, GError **error)
{
    g_autofree struct part *parts = find_parts(comm, pairs, work, unit, error);
    bool good = parts != NULL;
    if (good) {
        xlm_comm_broadcast(comm, 0, &pairs->total, sizeof pairs->total);
        xlm_comm_broadcast(comm, 0, parts, (size_t)(comm->ranks + 1) * sizeof *parts);
        pairs->part = parts[comm->rank];
        pairs->count = parts[comm->rank + 1].first - pairs->part.first;
        GError *failure = NULL;
        xlm_sentence_pairs_rewind(pairs, &failure);
        good = xlm_comm_agree_on(comm, failure, error);
    }
    return good;
}

xlm_sentence_pairs *xlm_sentence_pairs_open(const xlm_comm *comm, const char *const *files, int n, xlm_pair_work work,
                                                int64_t unit, GError **error)
{
    xlm_sentence_pairs *pairs = g_new0(xlm_sentence_pairs, 1);
    pairs->files = n;
    GError *failure = NULL;
    open_files(pairs, files, &failure);
    if (xlm_comm_agree_on(comm, failure, error) && take_part(comm, pairs, work, unit, error))
        return pairs;
    xlm_sentence_pairs_close(pairs);
    return NULL;
}

xlm_sentence_pairs *xlm_sentence_pairs_open_corpus(const xlm_comm *comm, const xlm_corpus *corpus, const xlm_corpus_part *parts,
                                                   int n, xlm_pair_work work, int64_t unit, GError **error)
{
    xlm_sentence_pairs *pairs = g_new0(xlm_sentence_pairs, 1);
    pairs->corpus = corpus;
    pairs->parts = n;
    for (int p = 0; p < n; p++) {
        pairs->of[p] = parts[p];
        pairs->walk[p] = xlm_corpus_walk_new(corpus, parts[p].pairs, false);
    }
    for (int side = 0; side < 2; side++)
        pairs->text[side] = g_string_new("");
    if (take_part(comm, pairs, work, unit, error))
        return pairs;
    xlm_sentence_pairs_close(pairs);
    return NULL;
}

void xlm_sentence_pairs_close(xlm_sentence_pairs *pairs)
{
    if (pairs == NULL)
        return;
    for (int f = 0; f < pairs->files; f++)
        xlm_lines_close(pairs->lines[f]);
    for (int p = 0; p < pairs->parts; p++)
        xlm_corpus_walk_free(pairs->walk[p]);
    for (int side = 0; side < 2; side++)
        if (pairs->text[side] != NULL)
            g_string_free(pairs->text[side], TRUE);
    g_free(pairs);
}

/* ---- this rank's ---- */

int64_t xlm_sentence_pairs_total(const xlm_sentence_pairs *pairs) { return pairs->total; }

int64_t xlm_sentence_pairs_first(const xlm_sentence_pairs *pairs) { return pairs->part.first; }
int64_t xlm_sentence_pairs_count(const xlm_sentence_pairs *pairs) { return pairs->count; }

const char *xlm_sentence_pairs_path(const xlm_sentence_pairs *pairs, int side)
{
    return pairs->files == 0 ? xlm_corpus_path(pairs->corpus) : xlm_lines_path(pairs->lines[pairs->files == 1 ? 0 : side]);
}

/* The part of the corpus that a pair is in. [in,out] *number: of the pair among all, then in this part. */
static int find_part(const xlm_sentence_pairs *pairs, int64_t *number)
{
    int p = 0;
    for (; p < pairs->parts - 1 && *number >= pairs->of[p].pairs->pairs; p++)
        *number -= pairs->of[p].pairs->pairs;
    return p;
}

char *xlm_sentence_pairs_place(const xlm_sentence_pairs *pairs, int64_t number)
{
    if (pairs->files > 0)
        return g_strdup_printf("line %" G_GINT64_FORMAT, number + 1);
    const int p = find_part(pairs, &number);
    return g_strdup_printf("pair %" G_GINT64_FORMAT " of %s", number, xlm_split_name(pairs->of[p].split));
}

const xlm_corpus *xlm_sentence_pairs_corpus(const xlm_sentence_pairs *pairs) { return pairs->corpus; }

const xlm_corpus_part *xlm_sentence_pairs_parts(const xlm_sentence_pairs *pairs, int *n)
{
    *n = pairs->parts;
    return pairs->of;
}

const int32_t *xlm_sentence_pairs_subwords(const xlm_sentence_pairs *pairs, int side, int64_t *n)
{
    *n = pairs->subwords[side];
    return pairs->ids[side];
}

static int read_corpus_pair(xlm_sentence_pairs *pairs, const char *text[2], size_t size[2], GError **error)
{
    int64_t number = pairs->part.first + pairs->at;
    const int got = xlm_corpus_walk_next(pairs->walk[find_part(pairs, &number)], pairs->ids, pairs->subwords, error);
    for (int side = 0; side < 2 && got == 1; side++) {
        g_string_truncate(pairs->text[side], 0);
        xlm_vocabulary_decode(xlm_corpus_vocabulary(pairs->corpus), pairs->ids[side], (size_t)pairs->subwords[side],
                              pairs->text[side]);
        text[side] = pairs->text[side]->str;
        size[side] = pairs->text[side]->len;
    }
    return got;
}

int xlm_sentence_pairs_next(xlm_sentence_pairs *pairs, const char *text[2], size_t size[2], int64_t *number, GError **error)
{
    int longer = -1;
    if (pairs->at == pairs->count)
        return 0;
    const int got = pairs->files == 0 ? read_corpus_pair(pairs, text, size, error)
                                      : read_pair(pairs->lines, pairs->files, text, size, &longer, error);
    if (got == 0)
        xlm_error_set(error, EX_DATAERR, "%s: has become shorter while it was read",
                      xlm_sentence_pairs_path(pairs, longer == 0 ? 1 : 0));
    if (got <= 0)
        return -1;
    if (number != NULL)
        *number = pairs->part.first + pairs->at;
    pairs->at++;
    return 1;
}

bool xlm_sentence_pairs_rewind(xlm_sentence_pairs *pairs, GError **error)
{
    pairs->at = 0;
    int64_t from = pairs->part.first;
    for (int p = 0; p < pairs->parts; p++) {
        const int64_t n = pairs->of[p].pairs->pairs;
        xlm_corpus_walk_to(pairs->walk[p], CLAMP(from, 0, n));
        from -= n;
    }
    for (int f = 0; f < pairs->files && pairs->count > 0; f++)
        if (!xlm_lines_seek(pairs->lines[f], pairs->part.offset[f], pairs->part.first, error))
            return false;
    return true;
}
