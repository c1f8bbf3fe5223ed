/* xlm-mpi: alignments of a corpus, written by all ranks; run on 1, 2, 3 and 4. SPDX-License-Identifier: GPL-3.0-or-later
 *
 *   alignment_file_test                            tests
 *   alignment_file_test CORPUS PAIR ALIGNMENT.h5   for tests of programs: the alignment of a corpus's training pairs in which
 *                                                  words i and n - 2 - i are translations, and the last words, as in
 *                                                  tests/small.sh */
#include <hdf5.h>

#include "../unit/corpus_fixture.h"
#include "check.h"

#include "aligners/alignment_write.h"
#include "aligners/subword_links.h"

static const xlm_alignment_origin origin = {.command = "xlm_align ...", .corpus = "c.h5", .method = "ot", .model = "m.h5",
                                            .layer = 8, .symmetrisation = "", .seed = 5};

enum { SENTENCES = 300, PAIRS = 200, WIDE = 70000 };
static int lengths[2][SENTENCES];
static int64_t pair_links[2 * PAIRS];

static int32_t other_token(int language, int64_t index) { return token_at(language, index + 1); }

/* wide: a sentence has more subwords than 16 bits count. */
static corpus_plan make_plan(bool wide)
{
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < SENTENCES; i++)
            lengths[s][i] = 1 + (i * (3 + s)) % 9;
    if (wide)
        lengths[1][7] = WIDE;
    for (int p = 0; p < PAIRS; p++) {
        pair_links[2 * p] = (p * 7 + 1) % SENTENCES;
        pair_links[2 * p + 1] = p;
    }
    return (corpus_plan){.text = {[XLM_TRAIN] = {{SENTENCES, 0, lengths[0]}, {SENTENCES, 0, lengths[1]}},
                                  [XLM_HELD_OUT] = {{SENTENCES, 0, lengths[0]}, {SENTENCES, 0, lengths[1]}}},
                         .pairs = {[XLM_TRAIN] = {{0, 1, PAIRS, pair_links}}, [XLM_HELD_OUT] = {{0, 1, 1, pair_links}}}};
}

/* Subwords of pair p on a side. */
static int64_t size_of(int p, int side) { return lengths[side][pair_links[2 * p + side]]; }

/* Links of pair p: none of each third; else of each source subword one or two. Returns how many. */
static int links_of(int p, xlm_link links[18])
{
    int n = 0;
    for (int32_t i = 0; i < size_of(p, 0) && p % 3 != 0; i++) {
        const int32_t target = (int32_t)((i * 5 + p) % size_of(p, 1));
        links[n++] = (xlm_link){.source = i, .target = target};
        if (target + 1 < size_of(p, 1))
            links[n++] = (xlm_link){.source = i, .target = (int32_t)size_of(p, 1) - 1};
    }
    return n;
}

static float score_of(const xlm_link *link) { return 1 / (float)(1 + link->source + 2 * link->target); }

/* Links of pairs [first, last), with offsets and scores. */
static void gather(int first, int last, GArray *offsets, GArray *links, GArray *scores)
{
    uint64_t end = 0;
    g_array_append_val(offsets, end);
    for (int p = first; p < last; p++) {
        xlm_link own[18];
        const int n = links_of(p, own);
        g_array_append_vals(links, own, (guint)n);
        for (int l = 0; l < n; l++) {
            const float score = score_of(&own[l]);
            g_array_append_val(scores, score);
        }
        end += (uint64_t)n;
        g_array_append_val(offsets, end);
    }
}

static void write_pairs_of(const xlm_comm *comm, xlm_store *store, const xlm_corpus *corpus, xlm_split split,
                           bool scored)
{
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(corpus, split, "en-de", NULL);
    /* Parts of different sizes; with four ranks the first is empty. */
    const int first = (int)pairs->pairs * (comm->rank * comm->rank / 2) / (comm->ranks * comm->ranks / 2 + (comm->ranks == 1));
    const int next = comm->rank + 1;
    const int last = next == comm->ranks ? (int)pairs->pairs
                                         : (int)pairs->pairs * (next * next / 2) / (comm->ranks * comm->ranks / 2);
    GArray *offsets = g_array_new(FALSE, FALSE, sizeof(uint64_t)), *links = g_array_new(FALSE, FALSE, sizeof(xlm_link));
    GArray *scores = g_array_new(FALSE, FALSE, sizeof(float));
    gather(first, last, offsets, links, scores);
    const xlm_found_links found = {offsets, links, scored ? scores : NULL};
    GOOD(xlm_alignment_write(comm, store, corpus, split, pairs, &found, &error));
    g_array_unref(offsets);
    g_array_unref(links);
    g_array_unref(scores);
}

/* Pairs [first, first + n) are as written; by this rank alone. */
static void check_range(const xlm_comm *comm, const xlm_alignment_file *file, const xlm_alignment_pairs *p, int first, int n,
                        bool scored)
{
    int64_t (*sizes)[2] = g_malloc(sizeof *sizes * (size_t)(n + 1));
    uint64_t *offsets = g_new(uint64_t, n + 1);
    for (int i = 0; i < 2 * n; i++)
        sizes[i / 2][i % 2] = size_of(first + i / 2, i % 2);
    xlm_link *links;
    float *scores;
    GOOD(xlm_alignment_file_read(file, p, first, n, (const int64_t (*)[2])sizes, offsets, &links, &scores, &error));
    CHECK((scores != NULL) == scored && offsets[0] == 0);
    for (int i = 0; i < n; i++) {
        xlm_link own[18];
        const int expected = links_of(first + i, own);
        CHECK(offsets[i + 1] - offsets[i] == (uint64_t)expected);
        for (int l = 0; l < expected; l++) {
            const xlm_link *link = &links[offsets[i] + (uint64_t)l];
            CHECK(link->source == own[l].source && link->target == own[l].target && !link->possible);
            CHECK(!scored || scores[offsets[i] + (uint64_t)l] == score_of(link));
        }
    }
    g_free(links);
    g_free(scores);
    g_free(sizes);
    g_free(offsets);
}

static void check_file(const xlm_comm *comm, const char *path, const xlm_corpus *corpus, bool scored, bool wide)
{
    xlm_alignment_file *file = NULL;
    GOOD((file = xlm_alignment_file_open(path, corpus, &error)) != NULL);
    const xlm_alignment_pairs *p = xlm_alignment_file_find(file, XLM_TRAIN, "de-en");
    CHECK(p != NULL && p == xlm_alignment_file_find(file, XLM_TRAIN, "en-de") && file->n == 2);
    CHECK(xlm_alignment_file_find(file, XLM_TRAIN, "en-fr") == NULL);
    CHECK(p->pairs == PAIRS && p->scored == scored && strcmp(p->source, "en") == 0 && file->origin.layer == 8 &&
          file->origin.seed == 5 && strcmp(file->origin.method, "ot") == 0 && strcmp(file->origin.model, "m.h5") == 0);
    check_range(comm, file, p, 0, PAIRS, scored);
    for (int i = 0; i < PAIRS; i += 13)
        check_range(comm, file, p, i, i % 3, scored);
    check_range(comm, file, xlm_alignment_file_find(file, XLM_HELD_OUT, "en-de"), 0, 1, scored); /* no links */

    /* A sentence has a subword less than links lead to. */
    const int64_t sizes[1][2] = {{size_of(4, 0), size_of(4, 1) - 1}};
    uint64_t offsets[2];
    xlm_link *links;
    BAD(xlm_alignment_file_read(file, p, 4, 1, sizes, offsets, &links, NULL, &error), EX_DATAERR, path, "pair 4 has a link");
    xlm_alignment_file_close(file);

    const hid_t h5 = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), target = H5Dopen2(h5, "/pairs/en-de/train/target", H5P_DEFAULT);
    const hid_t type = H5Dget_type(target);
    CHECK(H5Tequal(type, wide ? H5T_STD_U32LE : H5T_STD_U16LE) > 0);
    H5Tclose(type);
    H5Dclose(target);
    H5Fclose(h5);
}

/* Written by all ranks under a name that is the same on all. */
static char *share(const xlm_comm *comm, char *name)
{
    size_t size = name != NULL ? strlen(name) + 1 : 0;
    void *shared = name;
    xlm_comm_broadcast_bytes(comm, 0, &shared, &size);
    return shared;
}

static xlm_corpus *share_corpus(const xlm_comm *comm, const corpus_plan *plan, char **path)
{
    *path = share(comm, comm->rank == 0 ? write_corpus(plan) : NULL);
    xlm_corpus *corpus = NULL;
    GOOD((corpus = xlm_corpus_open(*path, &error)) != NULL);
    return corpus;
}

static void drop(const xlm_comm *comm, xlm_corpus *corpus, char *path)
{
    xlm_corpus_close(corpus);
    xlm_comm_barrier(comm);
    if (comm->rank == 0)
        remove_corpus(path);
    else
        g_free(path);
}

static bool opens(const char *path, const xlm_corpus *corpus, GError **error)
{
    xlm_alignment_file *file = xlm_alignment_file_open(path, corpus, error);
    xlm_alignment_file_close(file);
    return file != NULL;
}

static void check_written(const xlm_comm *comm, bool wide, bool scored)
{
    corpus_plan plan = make_plan(wide);
    char *path, *other_path;
    xlm_corpus *corpus = share_corpus(comm, &plan, &path);
    char *alignment = g_strconcat(path, ".alignment", NULL);
    xlm_store *store = NULL;
    GOOD((store = xlm_alignment_create(comm, alignment, corpus, &origin, &error)) != NULL);
    write_pairs_of(comm, store, corpus, XLM_TRAIN, scored);
    write_pairs_of(comm, store, corpus, XLM_HELD_OUT, scored);
    GOOD(xlm_store_commit(store, &error));
    check_file(comm, alignment, corpus, scored, wide);
    GOOD(opens(alignment, NULL, &error));

    plan.token = other_token;
    xlm_corpus *other = share_corpus(comm, &plan, &other_path);
    BAD(opens(alignment, other, &error), EX_DATAERR, alignment, "other sentences");
    drop(comm, other, other_path);
    plan.pairs[XLM_TRAIN][0].pairs--;
    other = share_corpus(comm, &plan, &other_path);
    BAD(opens(alignment, other, &error), EX_DATAERR, other_path, "pairs of /pairs/en-de/train are 200, in the corpus 199");
    drop(comm, other, other_path);
    plan.pairs[XLM_TRAIN][0].target = 2;
    plan.text[XLM_TRAIN][2] = plan.text[XLM_TRAIN][1];
    other = share_corpus(comm, &plan, &other_path);
    BAD(opens(alignment, other, &error), EX_DATAERR, alignment, "other pairs");
    drop(comm, other, other_path);
    BAD(opens(path, NULL, &error), EX_DATAERR, path, "not an alignment");

    store = NULL;
    GOOD((store = xlm_alignment_create(comm, alignment, corpus, &origin, &error)) != NULL);
    xlm_store_discard(store);
    BAD(xlm_alignment_create(comm, "/nowhere/a.h5", corpus, &origin, &error) != NULL, EX_CANTCREAT, "/nowhere/a.h5", "");
    xlm_comm_barrier(comm);
    if (comm->rank == 0)
        g_unlink(alignment);
    g_free(alignment);
    drop(comm, corpus, path);
}

/* ---- reading pairs ---- */

static int64_t start_of(int side, int64_t sentence)
{
    int64_t start = 0;
    for (int64_t i = 0; i < sentence; i++)
        start += lengths[side][i];
    return start;
}

/* A rank's pairs of a corpus, of n splits, once and again: text and subwords are those of their sentences. */
static void check_corpus_pairs(const xlm_comm *comm, int n)
{
    const corpus_plan plan = make_plan(false);
    char *path;
    xlm_corpus *corpus = share_corpus(comm, &plan, &path);
    const xlm_corpus_part parts[] = {{XLM_TRAIN, xlm_corpus_find_pairs(corpus, XLM_TRAIN, "en-de", NULL)},
                                     {XLM_HELD_OUT, xlm_corpus_find_pairs(corpus, XLM_HELD_OUT, "en-de", NULL)}};
    xlm_sentence_pairs *pairs = NULL;
    GOOD((pairs = xlm_sentence_pairs_open_corpus(comm, corpus, parts, n, XLM_PAIR_WORK_PRODUCT, 1, &error)) != NULL);
    int64_t read = 0, number;
    const int64_t total = PAIRS + (n - 1);
    CHECK(xlm_sentence_pairs_total(pairs) == total);
    CHECK(strcmp(xlm_sentence_pairs_path(pairs, 1), path) == 0);
    char *place = xlm_sentence_pairs_place(pairs, total - 1);
    CHECK(strcmp(place, n == 1 ? "pair 199 of train" : "pair 0 of held_out") == 0);
    g_free(place);
    for (int again = 0; again < 2; again++) {
        const char *text[2];
        size_t size[2];
        while (xlm_sentence_pairs_next(pairs, text, size, &number, NULL) == 1) {
            CHECK(number == xlm_sentence_pairs_first(pairs) + read++);
            for (int side = 0; side < 2; side++) {
                int64_t own;
                const int32_t *ids = xlm_sentence_pairs_subwords(pairs, side, &own);
                const int64_t sentence = pair_links[2 * (number % PAIRS) + side];
                CHECK(own == lengths[side][sentence] && size[side] == (size_t)(6 * own - 1));
                for (int64_t k = 0; k < own; k++) {
                    char word[16];
                    const int32_t id = token_at(side, start_of(side, sentence) + k);
                    g_snprintf(word, sizeof word, "w%04d", id - XLM_SPECIALS);
                    CHECK(ids[k] == id && memcmp(text[side] + 6 * k, word, 5) == 0 && (k == 0 || text[side][6 * k - 1] == ' '));
                }
            }
        }
        CHECK(read == xlm_sentence_pairs_count(pairs));
        read = 0;
        GOOD(xlm_sentence_pairs_rewind(pairs, &error));
    }
    int64_t all = xlm_sentence_pairs_count(pairs);
    xlm_comm_sum_int64(comm, &all, 1);
    CHECK(all == total);
    xlm_sentence_pairs_close(pairs);
    drop(comm, corpus, path);
}

/* In the source, word 0 has subwords 0 and 1, and word 1 has 2; in the target, word 0 has 0, word 1 has 1 and 2, and word 2 has
 * 3. */
static void check_subwords(const xlm_comm *comm)
{
    static const int32_t source[] = {0, 0, 1}, target[] = {0, 1, 1, 2};
    static const xlm_link words[] = {{0, 0, false}, {0, 1, true}, {1, 2, false}};
    static const float scores[] = {0.5f, 0.25f, 1};
    static const struct {
        int source, target;
        float score;
    } expected[] = {{0, 0, 0.5f}, {0, 1, 0.25f}, {0, 2, 0.25f}, {1, 0, 0.5f}, {1, 1, 0.25f}, {1, 2, 0.25f}, {2, 3, 1}};
    GArray *links = g_array_new(FALSE, FALSE, sizeof(xlm_link)), *link_scores = g_array_new(FALSE, FALSE, sizeof(float));
    xlm_subword_links(words, scores, 3, source, 3, target, 4, links, link_scores);
    CHECK(links->len == G_N_ELEMENTS(expected) && link_scores->len == links->len);
    for (guint l = 0; l < links->len && l < G_N_ELEMENTS(expected); l++) {
        const xlm_link *link = &g_array_index(links, xlm_link, l);
        CHECK(link->source == expected[l].source && link->target == expected[l].target &&
              g_array_index(link_scores, float, l) == expected[l].score);
        CHECK(link->possible == (expected[l].score == 0.25f));
    }
    g_array_set_size(links, 0);
    xlm_subword_links(words, NULL, 0, source, 3, target, 4, links, NULL);
    CHECK(links->len == 0);
    g_array_unref(links);
    g_array_unref(link_scores);
}

/* ---- for tests of programs ---- */

static int words_in(const char *text, size_t size)
{
    int n = size > 0;
    for (size_t i = 0; i < size; i++)
        n += text[i] == ' ';
    return n;
}

static void align_corpus(const xlm_comm *comm, const char *corpus_path, const char *name, const char *path)
{
    xlm_corpus *corpus = NULL;
    GOOD((corpus = xlm_corpus_open(corpus_path, &error)) != NULL);
    const xlm_corpus_part part = {XLM_TRAIN, xlm_corpus_find_pairs(corpus, XLM_TRAIN, name, NULL)};
    xlm_sentence_pairs *pairs = NULL;
    GOOD((pairs = xlm_sentence_pairs_open_corpus(comm, corpus, &part, 1, XLM_PAIR_WORK_PRODUCT, 1, &error)) != NULL);
    xlm_found_links *found = xlm_found_links_new();
    const char *text[2];
    size_t size[2];
    int got = 0;
    while (got >= 0) {
        GOOD((got = xlm_sentence_pairs_next(pairs, text, size, NULL, &error)) >= 0);
        if (got == 0)
            break;
        const int n = words_in(text[0], size[0]);
        CHECK(words_in(text[1], size[1]) == n);
        g_autofree xlm_link *links = g_new0(xlm_link, n);
        g_autofree float *scores = g_new(float, n);
        for (int i = 0; i < n; i++) {
            links[i] = (xlm_link){.source = i, .target = i == n - 1 ? i : n - 2 - i};
            scores[i] = 1 / (float)(1 + i);
        }
        xlm_found_links_append(found, links, scores, n);
    }
    GOOD(xlm_alignment_write_words(comm, path, pairs, found, &origin, &error));
    xlm_found_links_free(found);
    xlm_sentence_pairs_close(pairs);
    xlm_corpus_close(corpus);
}

int main(int argc, char **argv)
{
    xlm_comm mine;
    xlm_comm_open(&mine, "alignment_file_test", &argc, &argv);
    const xlm_comm *comm = &mine;
    if (argc == 4)
        align_corpus(comm, argv[1], argv[2], argv[3]);
    else {
        check_written(comm, false, true);
        check_written(comm, true, false);
        check_corpus_pairs(comm, 1);
        check_corpus_pairs(comm, 2);
        check_subwords(comm);
    }
    int64_t all = failures;
    xlm_comm_sum_int64(comm, &all, 1);
    return xlm_comm_close(&mine, NULL) != 0 || all > 0;
}
