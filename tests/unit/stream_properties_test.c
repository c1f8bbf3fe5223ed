/* xlm-mpi: tests of what holds for streams on any corpus. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include <math.h>

#include "base/rng.h"
#include "stream/monolingual.h"
#include "stream/parallel.h"

extern const xlm_stage_class xlm_stage_xlm_layout, xlm_stage_bert_layout;
#define XLM (&xlm_stage_xlm_layout)
#define BERT (&xlm_stage_bert_layout)

enum { EN, DE };

/* Sentence lengths 0 .. 29, now and then one of hundreds; a stretch of thousands of empty ones. */
enum { SENTENCES = 30000, EMPTY_FROM = 12000, EMPTY_TO = 21000 };

static int *draw_lengths(int language)
{
    const xlm_rng_key key = xlm_rng_make_key(5, XLM_RNG_SAMPLE, (uint64_t)language);
    int *lengths = g_new(int, SENTENCES);
    for (int i = 0; i < SENTENCES; i++) {
        const xlm_rng_block chance = xlm_rng_draw(key, (uint32_t)i, 0, 0, 0);
        lengths[i] = (int)xlm_rng_below(chance.v[0], chance.v[1] < 40000000u ? 400 : 30);
        if (i >= EMPTY_FROM && i < EMPTY_TO)
            lengths[i] = 0;
    }
    return lengths;
}

typedef struct fixture {
    int *lengths[2];
    int64_t *starts[2];
    int64_t *links;
    int64_t pairs;
    corpus_plan plan;
    xlm_corpus *corpus;
    xlm_arena *arena;
} fixture;

/* Links in which the target wanders: neighbours are near one another, whole stretches of sentences far away. */
static int set_up(void **state)
{
    fixture *f = g_new0(fixture, 1);
    for (int l = 0; l < 2; l++) {
        f->lengths[l] = draw_lengths(l);
        f->starts[l] = g_new0(int64_t, SENTENCES + 1);
        for (int i = 0; i < SENTENCES; i++)
            f->starts[l][i + 1] = f->starts[l][i] + f->lengths[l][i];
    }
    f->pairs = SENTENCES - 10;
    f->links = g_new(int64_t, 2 * f->pairs);
    for (int64_t i = 0; i < f->pairs; i++) {
        f->links[2 * i] = i;
        f->links[2 * i + 1] = (i * 7 + i / 1000 * 9973) % SENTENCES;
    }
    f->plan = (corpus_plan){
        .text = {{[EN] = {SENTENCES, SENTENCES - 7, f->lengths[EN]}, [DE] = {SENTENCES, 9000, f->lengths[DE]}}},
        .pairs = {{{EN, DE, f->pairs, f->links}}}};
    f->corpus = make_corpus(&f->plan);
    f->arena = xlm_arena_new();
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    xlm_corpus_close(f->corpus);
    xlm_arena_free(f->arena);
    for (int l = 0; l < 2; l++) {
        g_free(f->lengths[l]);
        g_free(f->starts[l]);
    }
    g_free(f->links);
    g_free(f);
    return 0;
}

/* ---- instances ---- */

/* Instances, one after another, hold the whole text in its order, each as full as it can be. */
static void monolingual_instances(void **state)
{
    const fixture *f = *state;
    const int64_t limits[] = {4, 31, 128, 5000};
    for (size_t c = 0; c < G_N_ELEMENTS(limits); c++) {
        xlm_monolingual m;
        GError *error = NULL;
        must(xlm_monolingual_open(&m, xlm_corpus_find_text(f->corpus, XLM_TRAIN, "en"), limits[c], true, false, &error),
             error);
        const int64_t tokens = f->starts[EN][SENTENCES - 7];
        assert_int_equal(m.tokens, tokens);
        GArray *spans = g_array_new(FALSE, FALSE, sizeof(xlm_span));
        int64_t next = 0, sentence = 0, used = limits[c];
        for (int64_t i = 0; i < m.instances.count; i++) {
            g_array_set_size(spans, 0);
            must(xlm_monolingual_find(&m, i, spans, &error), error);
            assert_true(spans->len > 0);
            /* the sentence (or what is left of it) that comes next has not fitted into the instance before */
            while (f->starts[EN][sentence + 1] <= next)
                sentence++;
            assert_true(used + f->starts[EN][sentence + 1] - next + 1 > limits[c]);
            used = 1;
            for (guint k = 0; k < spans->len; k++) {
                const xlm_span *span = &g_array_index(spans, xlm_span, k);
                assert_int_equal(span->start, next);
                assert_true(span->tokens > 0);
                assert_int_equal(span->pair, -1);
                next += span->tokens;
                used += span->tokens + 1;
                while (f->starts[EN][sentence + 1] < next)
                    sentence++;
                /* a span ends with its sentence, unless that is being cut */
                assert_true(f->starts[EN][sentence + 1] == next || (spans->len == 1 && used == limits[c]));
            }
            assert_true(used <= limits[c]);
        }
        assert_int_equal(next, tokens);
        g_array_free(spans, TRUE);
        xlm_monolingual_close(&m);
    }
}

/* Where only the first part of a cut sentence is taken, every span begins with a sentence, and each sentence is taken once. */
static void first_parts(void **state)
{
    const fixture *f = *state;
    GError *error = NULL;
    xlm_monolingual m;
    const int64_t limit = 31;
    must(xlm_monolingual_open(&m, xlm_corpus_find_text(f->corpus, XLM_TRAIN, "en"), limit, true, true, &error), error);
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(xlm_span));
    int64_t sentence = 0, cut = 0;
    for (int64_t i = 0; i < m.instances.count; i++) {
        g_array_set_size(spans, 0);
        must(xlm_monolingual_find(&m, i, spans, &error), error);
        for (guint k = 0; k < spans->len; k++, sentence++) {
            const xlm_span *span = &g_array_index(spans, xlm_span, k);
            while (f->starts[EN][sentence + 1] == f->starts[EN][sentence]) /* without tokens */
                sentence++;
            const int64_t words = f->starts[EN][sentence + 1] - f->starts[EN][sentence];
            assert_int_equal(span->start, f->starts[EN][sentence]);
            assert_int_equal(span->tokens, MIN(words, limit - 2));
            cut += words > limit - 2;
        }
    }
    while (sentence < SENTENCES - 7 && f->starts[EN][sentence + 1] == f->starts[EN][sentence])
        sentence++;
    assert_int_equal(sentence, SENTENCES - 7);
    assert_true(cut > 0);
    assert_int_equal(m.cut, cut);
    g_array_free(spans, TRUE);
    xlm_monolingual_close(&m);
}

/* The lengths of pair p's sides with `source` first. */
static void lengths_of_pair(const fixture *f, int64_t p, int source, int64_t length[2])
{
    for (int side = 0; side < 2; side++) {
        const int language = side == 0 ? source : 1 - source;
        length[side] = f->lengths[language][f->links[2 * p + language]];
    }
}

/* The first pair from p on that the rules let in. */
static int64_t next_pair(const fixture *f, const xlm_parallel_rules *rules, int64_t p, int64_t length[2])
{
    for (; p < f->pairs; p++) {
        lengths_of_pair(f, p, EN, length);
        const int64_t sum = length[0] + length[1];
        const bool fits = rules->layout == BERT
                              ? sum + 3 <= rules->length
                              : length[0] + 2 <= rules->length && length[1] + 2 <= rules->length;
        if (fits && MIN(length[0], length[1]) >= MAX(rules->least_side, 1) &&
            (rules->most_pair == 0 || sum <= rules->most_pair))
            break;
    }
    return p;
}

static void check_span(const fixture *f, const xlm_span *span, int language, int64_t pair, int side)
{
    const int64_t sentence = f->links[2 * pair + language];
    assert_int_equal(span->language, language);
    assert_int_equal(span->start, f->starts[language][sentence]);
    assert_int_equal(span->tokens, f->lengths[language][sentence]);
    assert_int_equal(span->side, side);
    assert_int_equal(span->pair, pair);
}

/* Each instance has the pairs that packing them in order, done here by hand, gives it. */
static void parallel_instances(void **state)
{
    const fixture *f = *state;
    const xlm_parallel_rules cases[] = {
        {XLM, 30, 0, 0, 1, 0},     {XLM, 256, 5, 40, 1, 0},  {XLM, 4000, 0, 0, 1, 0},
        {BERT, 128, 10, 60, 1, 0}, {BERT, 20, 0, 0, 1, 0},   {BERT, 700, 100, 0, 1, 0},
    };
    for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
        const xlm_parallel_rules *rules = &cases[c];
        const bool swapped = c % 2 == 1; /* the target comes first, as if "de-en" had been asked for */
        xlm_parallel parallel;
        GError *error = NULL;
        must(xlm_parallel_open(&parallel, f->corpus, xlm_corpus_find_pairs(f->corpus, XLM_TRAIN, "en-de", NULL),
                               swapped, rules, &error), error);
        GArray *spans = g_array_new(FALSE, FALSE, sizeof(xlm_span));
        int64_t length[2], kept = 0, p = next_pair(f, rules, 0, length);
        for (int64_t i = 0; i < parallel.instances.count; i++) {
            const bool turn = i % 3 == 0;
            const int first = swapped != turn ? DE : EN;
            g_array_set_size(spans, 0);
            must(xlm_parallel_find(&parallel, i, turn, spans, &error), error);
            const guint n = spans->len / 2;
            assert_true(n > 0 && spans->len == 2 * n && (n == 1 || rules->layout == XLM));
            int64_t used[2] = {1, 1};
            for (guint k = 0; k < n; k++) {
                assert_true(p < f->pairs);
                check_span(f, &g_array_index(spans, xlm_span, k), first, p, 0);
                check_span(f, &g_array_index(spans, xlm_span, n + k), 1 - first, p, 1);
                for (int side = 0; side < 2; side++)
                    used[side] += length[side] + 1;
                p = next_pair(f, rules, p + 1, length);
                kept++;
            }
            if (rules->layout == XLM) {
                assert_true(MAX(used[0], used[1]) <= rules->length);
                assert_true(p == f->pairs || used[0] + length[0] + 1 > rules->length ||
                            used[1] + length[1] + 1 > rules->length);
            }
        }
        assert_int_equal(p, f->pairs);
        assert_int_equal(parallel.taken, kept);
        assert_int_equal(parallel.taken + parallel.too_long + parallel.excluded, f->pairs);
        assert_int_equal(parallel.undrawn, 0);
        assert_true(kept > 0 && kept < f->pairs);
        g_array_free(spans, TRUE);
        xlm_parallel_close(&parallel);
    }
}

/* Sentences of the source side that a share of the pairs has, as flags by pair; each pair is an instance. */
static bool *pairs_of_share(const fixture *f, double share, uint64_t seed, bool swapped, int64_t *kept)
{
    const xlm_parallel_rules rules = {.layout = BERT, .length = 1 << 16, .share = share, .seed = seed};
    xlm_parallel parallel;
    GError *error = NULL;
    must(xlm_parallel_open(&parallel, f->corpus, xlm_corpus_find_pairs(f->corpus, XLM_TRAIN, "en-de", NULL), swapped, &rules,
                           &error), error);
    bool *in = g_new0(bool, f->pairs);
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(xlm_span));
    for (int64_t i = 0; i < parallel.instances.count; i++) {
        g_array_set_size(spans, 0);
        must(xlm_parallel_find(&parallel, i, swapped, spans, &error), error); /* English first */
        const xlm_span *span = &g_array_index(spans, xlm_span, 0);
        int64_t p = 0;
        while (in[p] || f->starts[EN][f->links[2 * p + EN]] != span->start)
            p++;
        in[p] = true;
    }
    assert_int_equal(parallel.taken, parallel.instances.count);
    assert_int_equal(parallel.taken + parallel.undrawn + parallel.excluded, f->pairs);
    *kept = parallel.taken;
    g_array_free(spans, TRUE);
    xlm_parallel_close(&parallel);
    return in;
}

/* About so many, part of any larger share with the seed, the same whichever side comes first; others with another seed. */
static void parallel_shares(void **state)
{
    const fixture *f = *state;
    static const double shares[] = {0.05, 0.25, 0.6, 1};
    bool *larger = NULL;
    double all = 0; /* some pairs have an empty side */
    for (int s = 3; s >= 0; s--) {
        int64_t kept, turned, other;
        bool *in = pairs_of_share(f, shares[s], 7, false, &kept), *same = pairs_of_share(f, shares[s], 7, true, &turned);
        bool *different = pairs_of_share(f, shares[s], 8, false, &other);
        assert_memory_equal(in, same, (size_t)f->pairs);
        assert_int_equal(memcmp(in, different, (size_t)f->pairs) == 0, shares[s] == 1);
        for (int64_t p = 0; larger != NULL && p < f->pairs; p++)
            assert_true(!in[p] || larger[p]);
        all = shares[s] == 1 ? (double)kept : all;
        assert_true(fabs((double)kept - all * shares[s]) <= 5 * sqrt(all * shares[s] * (1 - shares[s])));
        g_free(larger);
        g_free(same);
        g_free(different);
        larger = in;
    }
    g_free(larger);
}

/* ---- reading ---- */

static const char *const monolingual = "alpha=0.5\nbatch=8\n";
static const char *const kinds[] = {"alpha=0.5\nbatch=8\n", "type=parallel\nshuffle_sides=true\nalpha=0.5\nbatch=8\n",
                                    "type=parallel\nform=bert\nshuffle_sides=true\nalpha=0.5\nbatch=8\n"};

static xlm_stream *open_stream(const fixture *f, const char *settings, int number)
{
    return open_training(f->corpus, number, settings, 77);
}

static xlm_batch read_part(const fixture *f, xlm_stream *stream, int64_t step, int64_t first, int64_t n)
{
    return step >= 0 ? read_step(stream, step, first, n, f->arena) : read_in_order(stream, first, n, f->arena);
}

/* Is `part` the sequences first, first + 1, ... of `whole`? Returns where its predicted rows end. */
static int32_t same_part(const xlm_batch *whole, const xlm_batch *part, int32_t first, int32_t masked)
{
    const int32_t row = whole->corrupted.offsets[first];
    const size_t tokens = (size_t)part->corrupted.tokens;
    for (int32_t s = 0; s <= part->corrupted.sequences; s++)
        assert_int_equal(part->corrupted.offsets[s] + row, whole->corrupted.offsets[first + s]);
    assert_memory_equal(part->corrupted.ids, whole->corrupted.ids + row, tokens * sizeof *part->corrupted.ids);
    assert_memory_equal(part->corrupted.unmasked, whole->corrupted.unmasked + row, tokens * sizeof *part->corrupted.unmasked);
    assert_memory_equal(part->corrupted.positions, whole->corrupted.positions + row, tokens * sizeof *part->corrupted.positions);
    assert_memory_equal(part->corrupted.languages, whole->corrupted.languages + row, tokens * sizeof *part->corrupted.languages);
    assert_memory_equal(part->corrupted.types, whole->corrupted.types + row, tokens * sizeof *part->corrupted.types);
    assert_memory_equal(part->corrupted.keys, whole->corrupted.keys + row, tokens * sizeof *part->corrupted.keys);
    for (int32_t k = 0; k < part->predicted; k++) {
        assert_int_equal(part->predicted_rows[k] + row, whole->predicted_rows[masked + k]);
        assert_int_equal(part->targets[k], whole->targets[masked + k]);
    }
    return masked + part->predicted;
}

/* However a step (or, step = -1, the held-out pass) is cut into calls, on whichever stream that was opened alike. */
static void cuts_do_not_matter(void **state)
{
    const fixture *f = *state;
    const int64_t steps[] = {0, 3, 8191, -1}; /* 65536 / 8: the last step of a run */
    for (size_t c = 0; c < G_N_ELEMENTS(kinds); c++)
        for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
            xlm_stream *stream = open_stream(f, kinds[c], 2);
            xlm_stream *other = open_stream(f, kinds[c], 2);
            const xlm_batch whole = read_part(f, stream, steps[i], 0, 8);
            read_part(f, other, 70000, 0, 8);
            int32_t masked = 0;
            for (int64_t first = 0, n = 3; first < 8; first += n, n = 5) {
                const xlm_batch part = read_part(f, other, steps[i], first, n);
                masked = same_part(&whole, &part, (int32_t)first, masked);
            }
            assert_int_equal(masked, whole.predicted);
            xlm_stream_close(stream);
            xlm_stream_close(other);
            xlm_arena_reset(f->arena);
        }
}

/* A run across the border of two runs of 65,536 draws, in one step. */
static void step_across_runs(void **state)
{
    const fixture *f = *state;
    xlm_stream *stream = open_stream(f, "alpha=0.5\nbatch=7\n", 0);
    const int64_t step = 65536 / 7; /* 65534 ... 65540 */
    const xlm_batch whole = read_part(f, stream, step, 0, 7);
    int32_t masked = 0;
    for (int64_t i = 0; i < 7; i++) {
        const xlm_batch part = read_part(f, stream, step, i, 1);
        masked = same_part(&whole, &part, (int32_t)i, masked);
    }
    xlm_stream_close(stream);
    xlm_arena_reset(f->arena);
}

static bool same_ids(const xlm_batch *a, const xlm_batch *b)
{
    return a->corrupted.tokens == b->corrupted.tokens && memcmp(a->corrupted.ids, b->corrupted.ids, sizeof *a->corrupted.ids * (size_t)a->corrupted.tokens) == 0;
}

static void what_draws_depend_on(void **state)
{
    const fixture *f = *state;
    xlm_stream *a = open_stream(f, monolingual, 0);
    xlm_stream *b = open_stream(f, monolingual, 1);
    const xlm_batch base = read_part(f, a, 1, 0, 8), next = read_part(f, a, 2, 0, 8);
    const xlm_batch other = read_part(f, b, 1, 0, 8);
    assert_false(same_ids(&base, &next));
    assert_false(same_ids(&base, &other));
    assert_int_equal(other.corrupted.keys[0].instance, 1u << 24);
    const xlm_batch order = read_part(f, a, -1, 0, 8), again = read_part(f, a, -1, 0, 8);
    assert_true(same_ids(&order, &again));
    xlm_stream_close(a);
    xlm_stream_close(b);
    xlm_arena_reset(f->arena);
}

/* Steps bring every instance once an epoch: the tokens of an epoch's steps are those of the pass in order. */
static void an_epoch_is_the_whole_corpus(void **state)
{
    const fixture *f = *state;
    xlm_stream *stream = open_stream(f, "alpha=1\nbatch=8\nlength=512\nmask=0\nlanguages=en\n", 0);
    const int64_t n = xlm_stream_instances(stream);
    GHashTable *seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (int64_t pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i++) {
            const xlm_batch b = pass == 0 ? read_part(f, stream, -1, i, 1)
                                          : read_part(f, stream, (n + i) / 8, (n + i) % 8, 1);
            uint64_t *digest = g_new(uint64_t, 1);
            *digest = xlm_digest(b.corrupted.ids, sizeof *b.corrupted.ids * (size_t)b.corrupted.tokens, 0);
            if (pass == 0)
                g_hash_table_add(seen, digest);
            else {
                assert_true(g_hash_table_remove(seen, digest));
                g_free(digest);
            }
            xlm_arena_reset(f->arena);
        }
    assert_int_equal(g_hash_table_size(seen), 0);
    g_hash_table_unref(seen);
    xlm_stream_close(stream);
}

/* ---- damage ---- */

static const int four_lengths[] = {3, 2, 4, 1};
static const int64_t four_links[] = {0, 0, 1, 1, 2, 2, 3, 3};
static const int64_t wrong_links[] = {0, 0, 1, 4, 2, 2, 3, 3};

static int32_t token_beyond(int language, int64_t index)
{
    return language == DE && index == 5 ? VOCABULARY : token_at(language, index);
}

/* Opening or reading a stream on the corpus must fail, saying `what`. */
static void is_damaged(xlm_corpus *corpus, const char *type, const char *what)
{
    GError *error = NULL;
    xlm_arena *arena = xlm_arena_new();
    char *settings = g_strdup_printf("type=%s\nalpha=1\nbatch=4\nlength=64\n", type);
    xlm_stream *stream = try_open(corpus, XLM_TRAIN, 0, settings, 1, &error);
    g_free(settings);
    xlm_batch batch;
    if (stream != NULL) {
        const int64_t n = xlm_stream_instances(stream);
        assert_false(xlm_stream_read_in_order(stream, 0, n, arena, &batch, &error));
    }
    must_say(error, EX_DATAERR, what);
    xlm_stream_close(stream);
    xlm_arena_free(arena);
}

static void damaged_corpora(void **state)
{
    (void)state;
    corpus_plan plan = {.text = {{[EN] = {4, 4, four_lengths}, [DE] = {4, 4, four_lengths}}},
                        .pairs = {{{EN, DE, 4, wrong_links}}}};
    xlm_corpus *corpus = make_corpus(&plan);
    is_damaged(corpus, "parallel", "a link leads to sentence 4 of de, which has 4");
    xlm_corpus_close(corpus);

    plan.pairs[0][0].links = four_links;
    plan.token = token_beyond;
    corpus = make_corpus(&plan);
    is_damaged(corpus, "monolingual",
               "/train/text/de/tokens: token 5 is 1005, which is not in the vocabulary of 1005");
    is_damaged(corpus, "parallel", "token 5 is 1005");
    xlm_corpus_close(corpus);

    const int backward[] = {3, 2, -1, 4}; /* offsets 0 3 5 4 8 */
    plan.token = NULL;
    plan.text[0][DE].lengths = backward;
    corpus = make_corpus(&plan);
    is_damaged(corpus, "monolingual", "/train/text/de/offsets: offset 2 is greater than the next one");
    is_damaged(corpus, "parallel", "/train/text/de/offsets: offset 2 is greater than the next one");
    xlm_corpus_close(corpus);
}

/* Bytes of a text's tokens that have changed on the disk are found by their checksum. */
static void changed_bytes(void **state)
{
    (void)state;
    const corpus_plan plan = {.text = {{[EN] = {4, 4, four_lengths}}}};
    char *path = write_corpus(&plan), *bytes;
    gsize size;
    assert_true(g_file_get_contents(path, &bytes, &size, NULL));
    uint16_t tokens[10];
    for (int i = 0; i < 10; i++)
        tokens[i] = (uint16_t)token_at(EN, i);
    int found = 0;
    for (gsize i = 0; i + sizeof tokens <= size; i++)
        if (memcmp(bytes + i, tokens, sizeof tokens) == 0) {
            bytes[i + 2] ^= 1;
            found++;
        }
    assert_int_equal(found, 1);
    assert_true(g_file_set_contents(path, bytes, (gssize)size, NULL));
    g_free(bytes);
    GError *error = NULL;
    xlm_corpus *corpus = xlm_corpus_open(path, &error);
    must(corpus != NULL, error);
    is_damaged(corpus, "monolingual", "/train/text/en/tokens");
    xlm_corpus_close(corpus);
    remove_corpus(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monolingual_instances), cmocka_unit_test(parallel_instances), cmocka_unit_test(parallel_shares),
        cmocka_unit_test(first_parts),
        cmocka_unit_test(cuts_do_not_matter),    cmocka_unit_test(step_across_runs),
        cmocka_unit_test(what_draws_depend_on),  cmocka_unit_test(an_epoch_is_the_whole_corpus),
        cmocka_unit_test(damaged_corpora),       cmocka_unit_test(changed_bytes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
