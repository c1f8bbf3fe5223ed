/* xlm-mpi: word alignments of a stream's pairs as links between rows of its batches. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include "aligners/alignment_file.h"

enum { EN, DE, FR, CS };
enum { SEED = 77 };

/* As in stream_test.c: pairs of de and en of (2,3) (3,1) (1,1) (7,1) (0,2) (6,6) (1,2) subwords; en is in another order in its
 * file. */
static const int pair_de[] = {2, 3, 1, 7, 0, 6, 1};
static const int pair_en[] = {1, 3, 1, 6, 1, 2, 2};
static const int64_t pair_links[] = {0, 1, 1, 0, 2, 2, 3, 4, 4, 5, 5, 3, 6, 6};
static const corpus_plan plan = {
    .text = {{[DE] = {7, 7, pair_de}, [EN] = {7, 0, pair_en}}, {[DE] = {7, 0, pair_de}, [EN] = {7, 0, pair_en}}},
    .pairs = {{{DE, EN, 7, pair_links}}, {{DE, EN, 7, pair_links}}}};

enum { LINKS = 10 };
static const uint64_t offsets[] = {0, 2, 4, 4, 5, 5, 8, 10};
static const uint16_t source[LINKS] = {0, 1, 0, 2, 6, 0, 3, 3, 0, 0}, target[LINKS] = {2, 0, 0, 0, 0, 5, 2, 3, 0, 1};

/* Which alignment is written. */
struct written {
    xlm_split split;
    int links;              /* LINKS, or 0: none */
    const uint16_t *target; /* NULL: as above */
    bool other;             /* of other sentences */
};

static void write_alignment(const char *path, const xlm_corpus *corpus, const struct written *w)
{
    GError *error = NULL;
    xlm_store *store = xlm_store_create(NULL, path, &error);
    must(store != NULL, error);
    const xlm_corpus_pairs *pairs = xlm_corpus_find_pairs(corpus, w->split, "de-en", NULL);
    char *group = xlm_alignment_path("de-en", w->split), digest[17], sample[17];
    static const uint64_t none[8] = {0};
    uint64_t number;
    must(xlm_alignment_sample(corpus, pairs, &number, &error), error);
    g_snprintf(sample, sizeof sample, "%016" G_GINT64_MODIFIER "x", number + w->other);
    g_snprintf(digest, sizeof digest, "%016" G_GINT64_MODIFIER "x", xlm_corpus_digest(corpus));
    static const char *const texts[] = {"command", "corpus", "method", "model", "symmetrisation"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        must(xlm_store_set_text(store, "/", texts[i], "", &error), error);
    char *paths[] = {g_strconcat(group, "/offsets", NULL), g_strconcat(group, "/source", NULL), g_strconcat(group, "/target", NULL)};
    write_numbers(store, paths[0], XLM_U64, 8, 1, w->links > 0 ? offsets : none);
    write_numbers(store, paths[1], XLM_U16, (uint64_t)w->links, 1, source);
    write_numbers(store, paths[2], XLM_U16, (uint64_t)w->links, 1, w->target != NULL ? w->target : target);
    must(xlm_store_set_text(store, "/", "format", XLM_ALIGNMENT_FORMAT, &error) &&
         xlm_store_set_int(store, "/", "format_version", XLM_ALIGNMENT_VERSION, &error) &&
         xlm_store_set_text(store, "/", "program_version", "test", &error) &&
         xlm_store_set_text(store, "/", "corpus_digest", digest, &error) && xlm_store_set_int(store, "/", "layer", -1, &error) &&
         xlm_store_set_int(store, "/", "seed", 0, &error) && xlm_store_set_text(store, group, "source", "de", &error) &&
         xlm_store_set_text(store, group, "target", "en", &error) && xlm_store_set_int(store, group, "pairs", 7, &error) &&
         xlm_store_set_int(store, group, "source_sentences", pairs->source->sentences, &error) &&
         xlm_store_set_int(store, group, "target_sentences", pairs->target->sentences, &error) &&
         xlm_store_set_int(store, group, "source_tokens", pairs->source->tokens, &error) &&
         xlm_store_set_int(store, group, "target_tokens", pairs->target->tokens, &error) &&
         xlm_store_set_text(store, group, "sample_digest", sample, &error) && xlm_store_commit(store, &error), error);
    for (int i = 0; i < 3; i++)
        g_free(paths[i]);
    g_free(group);
}

static struct fixture {
    xlm_corpus *corpus;
    char *directory, *path; /* of the alignment */
} fixture;

static int set_up(void **state)
{
    (void)state;
    fixture.corpus = make_corpus(&plan);
    fixture.directory = g_dir_make_tmp("xlm-links-XXXXXX", NULL);
    fixture.path = g_build_filename(fixture.directory, "a.h5", NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    g_unlink(fixture.path);
    g_rmdir(fixture.directory);
    g_free(fixture.path);
    g_free(fixture.directory);
    xlm_corpus_close(fixture.corpus);
    return 0;
}

static xlm_stream *open_stream(xlm_split split, const char *settings, GError **error)
{
    char *all = g_strdup_printf("%salignments=%s\n", settings, fixture.path);
    xlm_stream *stream = try_open(fixture.corpus, split, 0, all, SEED, error);
    g_free(all);
    return stream;
}

/* Links of a sequence as text: "de0-en3 de1-en1". */
static char *spell(const xlm_batch *b, int32_t s)
{
    GString *out = g_string_new(NULL);
    const xlm_annotation *links = xlm_batch_find_annotation(b, "links");
    assert_true(links != NULL && links->axis == XLM_AXIS_OWN && links->width == 2);
    for (int32_t l = 0; l < links->length; l++)
        if (links->values[2 * l] >= b->corrupted.offsets[s] && links->values[2 * l] < b->corrupted.offsets[s + 1])
            for (int side = 0; side < 2; side++) {
                const int32_t row = links->values[2 * l + side], language = b->corrupted.unswitched[row];
                assert_true(row >= b->corrupted.offsets[s] && row < b->corrupted.offsets[s + 1] && b->corrupted.types[row] == side);
                g_string_append_printf(out, "%s%d%s", languages[language],
                                       (b->corrupted.unmasked[row] - token_at(language, 0) + SUBWORDS) % SUBWORDS, side == 0 ? "-" : " ");
            }
    return g_strchomp(g_string_free(out, FALSE));
}

static void expect_links(const xlm_batch *b, int32_t s, const char *expected)
{
    char *text = spell(b, s);
    assert_string_equal(text, expected);
    g_free(text);
}

static void links_are_rows_of_the_batch(void **state)
{
    (void)state;
    static const char *const forms[][2] = {
        {"type=parallel\nlength=8\n", ""}, {"type=parallel\nlength=8\nlanguages=en-de\n", "turned"}};
    static const char *const wanted[][4] = {
        {"de0-en3 de1-en1 de2-en0 de4-en0", "", "de13-en10 de16-en7 de16-en8", "de19-en14 de19-en15"},
        {"en1-de1 en3-de0 en0-de2 en0-de4", "", "en7-de16 en8-de16 en10-de13", "en14-de19 en15-de19"}};
    for (xlm_split split = XLM_TRAIN; split <= XLM_HELD_OUT; split++) {
        write_alignment(fixture.path, fixture.corpus, &(struct written){.split = split, .links = LINKS});
        for (size_t f = 0; f < G_N_ELEMENTS(forms); f++) {
            GError *error = NULL;
            xlm_stream *stream = open_stream(split, forms[f][0], &error);
            must(stream != NULL, error);
            assert_true(g_strv_contains(xlm_stream_annotations(stream), "links") &&
                        !g_strv_contains(xlm_stream_annotations(stream), "translations"));
            xlm_arena *arena = xlm_arena_new();
            const xlm_batch b = read_in_order(stream, 0, 4, arena);
            for (int32_t s = 0; s < 4; s++)
                expect_links(&b, s, wanted[f][s]);
            const xlm_annotation *links = xlm_batch_find_annotation(&b, "links");
            assert_int_equal(links->length, 9); /* all but the one of the pair that is too long */
            for (int32_t l = 1; l < links->length; l++)
                assert_true(links->values[2 * l] > links->values[2 * l - 2] ||
                            (links->values[2 * l] == links->values[2 * l - 2] &&
                             links->values[2 * l + 1] > links->values[2 * l - 1]));
            const xlm_batch second = read_in_order(stream, 1, 1, arena); /* a pair without any */
            assert_int_equal(xlm_batch_find_annotation(&second, "links")->length, 0);
            xlm_arena_free(arena);
            xlm_stream_close(stream);
        }
    }
}

static void sides_are_shuffled(void **state)
{
    (void)state;
    GError *error = NULL;
    write_alignment(fixture.path, fixture.corpus, &(struct written){.links = LINKS});
    xlm_stream *stream = open_stream(XLM_TRAIN, "type=parallel\nform=bert\nlength=16\nshuffle_sides=true\nbatch=60\n", &error);
    must(stream != NULL, error);
    xlm_arena *arena = xlm_arena_new();
    const xlm_batch b = read_step(stream, 3, 0, 60, arena);
    int seen[2] = {0};
    for (int32_t s = 0; s < b.corrupted.sequences; s++) {
        const int32_t first = b.corrupted.offsets[s];
        const bool turned = b.corrupted.unswitched[first] == EN;
        if (b.corrupted.offsets[s + 1] - first != 8 || b.corrupted.unmasked[first + 1] != token_at(turned ? EN : DE, turned ? 1 : 0))
            continue; /* of the pair of 2 and 3 subwords alone */
        seen[turned]++;
        expect_links(&b, s, turned ? "en1-de1 en3-de0" : "de0-en3 de1-en1");
    }
    assert_true(seen[0] > 0 && seen[1] > 0);
    xlm_arena_free(arena);
    xlm_stream_close(stream);
}

static void refuse(xlm_split split, const char *settings, int code, const char *message)
{
    GError *error = NULL;
    assert_null(open_stream(split, settings, &error));
    must_say(error, code, message);
}

static void wrong_alignments(void **state)
{
    (void)state;
    static const char pairs[] = "type=parallel\nform=bert\nlength=16\n";
    refuse(XLM_TRAIN, pairs, EX_NOINPUT, "[stream s]: alignments: ");
    write_alignment(fixture.path, fixture.corpus, &(struct written){.links = LINKS});
    refuse(XLM_TRAIN, "languages=de\n", EX_CONFIG, "[stream s]: alignments are of pairs; set type = parallel");
    refuse(XLM_HELD_OUT, pairs, EX_CONFIG, "no file has links of the held_out pairs \"de-en\"; there are ");
    write_alignment(fixture.path, fixture.corpus, &(struct written){.links = 0});
    refuse(XLM_TRAIN, pairs, EX_CONFIG, "has no link at all between the 7 train pairs \"de-en\"");
    write_alignment(fixture.path, fixture.corpus, &(struct written){.links = LINKS, .other = true});
    refuse(XLM_TRAIN, pairs, EX_DATAERR, "but of another corpus");
}

/* A link to a subword that is not there is found when its pair is read. */
static void damaged_links(void **state)
{
    (void)state;
    static const uint16_t damaged[LINKS] = {2, 0, 0, 0, 0, 6, 2, 3, 0, 1};
    GError *error = NULL;
    write_alignment(fixture.path, fixture.corpus, &(struct written){.links = LINKS, .target = damaged});
    xlm_stream *stream = open_stream(XLM_TRAIN, "type=parallel\nform=bert\nlength=16\n", &error);
    must(stream != NULL, error);
    xlm_arena *arena = xlm_arena_new();
    xlm_batch b;
    const int64_t n = xlm_stream_instances(stream);
    assert_true(xlm_stream_read_in_order(stream, 0, 2, arena, &b, &error));
    assert_false(xlm_stream_read_in_order(stream, 0, n, arena, &b, &error));
    must_say(error, EX_DATAERR, "a.h5:/pairs/de-en/train: pair 5 has a link to a subword that its sentences have not");
    xlm_arena_free(arena);
    xlm_stream_close(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(links_are_rows_of_the_batch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sides_are_shuffled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_alignments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_links, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
