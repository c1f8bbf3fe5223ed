/* xlm-mpi: tests of dictionary files, of tables beside a corpus and of looking translations up. SPDX-License-Identifier: GPL-3.0-or-later */
#include "stream_fixture.h"

#include "hostile.h"
#include "lexicon/cooccurrence.h"
#include "lexicon/dictionary.h"
#include "lexicon/translations.h"

enum { EN, DE, FR };

static const int lengths[] = {60, 90, 80, 70, 50, 40}; /* en counts from id 5 on, de from 405, fr from 805 */
static const corpus_plan plan = {.text = {{[EN] = {6, 6, lengths}, [DE] = {6, 6, lengths}, [FR] = {6, 6, lengths}}}};
static char *const inputs[] = {(char *)"words.txt: 3 bytes", NULL};

struct file {
    char *directory, *path;
    xlm_corpus *corpus;
};

static struct file open_file(void)
{
    struct file f = {.directory = g_dir_make_tmp("xlm-dictionary-XXXXXX", NULL), .corpus = make_corpus(&plan)};
    f.path = g_build_filename(f.directory, "d.h5", NULL);
    return f;
}

static void close_file(struct file *f)
{
    g_unlink(f->path);
    g_rmdir(f->directory);
    g_free(f->path);
    g_free(f->directory);
    xlm_corpus_close(f->corpus);
}

/* Write n pairs, the first `within` of them into the dictionary. */
static void write_file(const struct file *f, const xlm_dictionary_pair *pairs, guint n, guint within)
{
    GArray *in = g_array_new(FALSE, FALSE, sizeof *pairs), *out = g_array_new(FALSE, FALSE, sizeof *pairs);
    g_array_append_vals(in, pairs, within);
    g_array_append_vals(out, pairs + within, n - within);
    const xlm_dictionary_record record = {
        .pairs = in, .left_out = out, .language = {"de", "en"}, .subwords = "one", .command = "test", .share = 0.5, .seed = 3,
        .corpus_digest = xlm_corpus_digest(f->corpus), .vocabulary = VOCABULARY, .inputs = (char **)inputs,
    };
    GError *error = NULL;
    must(xlm_dictionary_write(f->path, &record, &error), error);
    g_array_unref(in);
    g_array_unref(out);
}

static xlm_dictionary *read_file(const struct file *f, const char *part, uint64_t digest, GError **error)
{
    return xlm_dictionary_read(f->path, part, xlm_corpus_vocabulary(f->corpus), digest, error);
}

static void refused(const struct file *f, uint64_t digest, const char *message)
{
    GError *error = NULL;
    assert_null(read_file(f, XLM_DICTIONARY_PAIRS, digest, &error));
    must_say(error, EX_DATAERR, message);
}

static const xlm_dictionary_pair some[] = {{{5, 9}}, {{5, 12}}, {{7, 9}}, {{8, 1004}}};

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct file f = open_file();
    GError *error = NULL;
    write_file(&f, some, G_N_ELEMENTS(some), 3);
    const uint64_t digest = xlm_corpus_digest(f.corpus);
    xlm_dictionary *in = read_file(&f, XLM_DICTIONARY_PAIRS, digest, &error);
    must(in != NULL, error);
    xlm_dictionary *out = read_file(&f, XLM_DICTIONARY_LEFT_OUT, digest, &error);
    must(out != NULL, error);
    assert_int_equal(in->pairs, 3);
    assert_int_equal(out->pairs, 1);
    assert_int_equal(in->language[0], DE);
    assert_int_equal(in->language[1], EN);
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < 3; i++)
            assert_int_equal(in->token[side][i], some[i].token[side]);
        assert_int_equal(out->token[side][0], some[3].token[side]);
    }
    xlm_dictionary_free(in);
    xlm_dictionary_free(out);
    xlm_dictionary_free(NULL);
    write_file(&f, some, 0, 0); /* an empty one is a file too */
    in = read_file(&f, XLM_DICTIONARY_PAIRS, digest, &error);
    must(in != NULL, error);
    assert_int_equal(in->pairs, 0);
    xlm_dictionary_free(in);
    close_file(&f);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    struct file f = open_file();
    GError *error = NULL;
    const uint64_t digest = xlm_corpus_digest(f.corpus);
    assert_null(read_file(&f, XLM_DICTIONARY_PAIRS, digest, &error));
    assert_int_equal(xlm_error_exit_code(error), EX_NOINPUT);
    g_clear_error(&error);
    write_file(&f, some, G_N_ELEMENTS(some), 4);
    refused(&f, digest + 1, "other subwords or languages");
    const xlm_dictionary_pair special = {{XLM_ID_MASK, 9}}, other = {{9, XLM_ID_EOS}}, high = {{9, VOCABULARY}}, low = {{-1, 9}};
    write_file(&f, &special, 1, 1);
    refused(&f, digest, "/dictionary/pairs: pair 0 has the special token <mask>");
    write_file(&f, &other, 1, 1);
    refused(&f, digest, "pair 0 has the special token </s>");
    write_file(&f, &high, 1, 1);
    refused(&f, digest, "has id 1005, which is not in the vocabulary of 1005");
    write_file(&f, &low, 1, 1);
    refused(&f, digest, "has id -1, which");
    char *corpus = write_corpus(&plan);
    assert_null(xlm_dictionary_read(corpus, XLM_DICTIONARY_PAIRS, xlm_corpus_vocabulary(f.corpus), digest, &error));
    assert_non_null(strstr(error->message, "not a dictionary of xlm_dict"));
    g_clear_error(&error);
    remove_corpus(corpus);
    close_file(&f);
}

static void hostile_files_are_refused(void **state)
{
    (void)state;
    static const change changes[] = {
        {"/", "vocabulary", SET_INT, VOCABULARY + 1, .expected = "vocabulary = 1006, but the corpus has 1005"},
        {"/", "vocabulary", SET_REAL, .r = VOCABULARY, .expected = "'vocabulary' is not a whole number"},
        {"/", "corpus_digest", SET_INT, 0, .expected = "'corpus_digest' is not a text"},
        {"/", "source", SET_TEXT, .text = "tlh", .expected = "source = tlh"},
        {XLM_DICTIONARY_PAIRS, NULL, RESHAPE, 2, 3, .expected = "/dictionary/pairs: its shape is"},
        {XLM_DICTIONARY_PAIRS, NULL, RESHAPE, 8, .expected = "/dictionary/pairs: its shape is"},
        {XLM_DICTIONARY_PAIRS, NULL, RETYPE_REAL, .r = 9, .expected = "/dictionary/pairs: its elements are not integers"},
        {XLM_DICTIONARY_PAIRS, NULL, RETYPE_INT, (int64_t)1 << 40, .expected = "/dictionary/pairs: holds values that are too "
         "large"},
        {XLM_DICTIONARY_PAIRS, NULL, ELEMENT_INT, VOCABULARY, .r = 5, .expected = "pair 2 has id 1005"},
        {XLM_DICTIONARY_PAIRS, NULL, ELEMENT_INT, 5, .r = 1, .expected = "/dictionary/pairs: pair 0 has id 5 on both sides"},
        {XLM_DICTIONARY_PAIRS, NULL, ELEMENT_INT, 9, .r = 3, .expected = "/dictionary/pairs: pair 1, 5 and 9, is not after the "
         "pair before it, 5 and 9"},
        {XLM_DICTIONARY_PAIRS, NULL, ELEMENT_INT, 8, .r = 3, .expected = "pair 1, 5 and 8, is not after the pair before it, 5 "
         "and 9"},
        {XLM_DICTIONARY_PAIRS, NULL, ELEMENT_INT, 8, .r = 2, .expected = "pair 2, 7 and 9, is not after the pair before it, 8 "
         "and 12"},
        {XLM_DICTIONARY_PAIRS, NULL, UNALLOCATED, (int64_t)1 << 40, 2, .expected = "/dictionary/pairs: has chunks that are "
         "larger than the file"},
        {XLM_DICTIONARY_PAIRS, NULL, REMOVE, .expected = "has no /dictionary/pairs"},
    };
    struct file f = open_file();
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        write_file(&f, some, G_N_ELEMENTS(some), 4);
        if (!make_change(f.path, &changes[i]))
            fail_msg("%s: the change was not made", changes[i].expected);
        refused(&f, xlm_corpus_digest(f.corpus), changes[i].expected);
    }
    close_file(&f);
}

/* ---- co-occurrences ---- */

/* Whoever makes a table also gives it a digest; counts are read by the sizes of the corpus. */
static void tables_have_the_size_of_the_corpus(void **state)
{
    (void)state;
    struct file f = open_file();
    write_file(&f, some, G_N_ELEMENTS(some), 4);
    const xlm_vocabulary *v = xlm_corpus_vocabulary(f.corpus);
    GError *error = NULL;
    xlm_cooccurrence table = {.store = xlm_store_open(f.path, &error), .corpus_digest = xlm_corpus_digest(f.corpus),
                              .vocabulary = VOCABULARY, .languages = LANGUAGES};
    assert_true(xlm_cooccurrence_fits(&table, v));
    must(xlm_cooccurrence_check_size(&table, v, &error), error);
    table.languages = 1;
    assert_false(xlm_cooccurrence_check_size(&table, v, &error));
    must_say(error, EX_DATAERR, "d.h5: has 1005 subwords and 1 languages, but the corpus has 1005 and 4; the file is damaged");
    error = NULL;
    table.languages = LANGUAGES, table.vocabulary--;
    assert_false(xlm_cooccurrence_check_size(&table, v, &error));
    must_say(error, EX_DATAERR, "has 1004 subwords");
    xlm_store_close(table.store);
    close_file(&f);
}

/* ---- translations ---- */

static void translations_are_found_both_ways(void **state)
{
    (void)state;
    static const int32_t source[] = {5, 5, 7, 8}, target[] = {9, 12, 9, 1004};
    const xlm_dictionary dictionary = {.pairs = 4, .token = {source, target}, .language = {DE, EN}};
    xlm_translations *t = xlm_translations_new(&dictionary, VOCABULARY);
    const int32_t *list;
    int32_t other;
    assert_int_equal(xlm_translations_find(t, 5, DE, &list, &other), 2);
    assert_int_equal(other, EN);
    assert_true(list[0] == 9 && list[1] == 12);
    assert_int_equal(xlm_translations_find(t, 9, EN, &list, &other), 2);
    assert_int_equal(other, DE);
    assert_true(list[0] == 5 && list[1] == 7);
    assert_int_equal(xlm_translations_find(t, 1004, EN, &list, &other), 1);
    assert_int_equal(list[0], 8);
    assert_int_equal(xlm_translations_find(t, 5, EN, &list, &other), 0);
    assert_int_equal(xlm_translations_find(t, 9, DE, &list, &other), 0);
    assert_int_equal(xlm_translations_find(t, 5, FR, &list, &other), 0);
    assert_int_equal(xlm_translations_find(t, 0, DE, &list, &other), 0);
    xlm_translations_free(t);
    xlm_translations_free(NULL);
}

/* ---- streams that switch ---- */

enum { BATCH = 24 };

/* Every other id of de's text has its translation in en. */
static void write_dictionary(const struct file *f)
{
    xlm_dictionary_pair pairs[200];
    for (int i = 0; i < 200; i++)
        pairs[i] = (xlm_dictionary_pair){{405 + 2 * i, 5 + 2 * i}};
    write_file(f, pairs, 200, 200);
}

/* Settings of a stream of the file's corpus, with the dictionary and whatever else. g_free. */
static char *with_dictionary(const struct file *f, const char *settings)
{
    return g_strdup_printf("alpha=1\nbatch=%d\nlength=64\ndictionary=%s\n%s", BATCH, f->path, settings);
}

static xlm_stream *open_switching(const struct file *f, const char *settings)
{
    char *all = with_dictionary(f, settings);
    xlm_stream *stream = open_training(f->corpus, 3, all, 99);
    g_free(all);
    return stream;
}

struct switching {
    struct file file;
    xlm_stream *stream;
    xlm_arena *arena;
};

static int set_up(void **state)
{
    struct switching *s = g_new0(struct switching, 1);
    s->file = open_file();
    write_dictionary(&s->file);
    s->stream = open_switching(&s->file, "switching=0.5\n");
    s->arena = xlm_arena_new();
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct switching *s = *state;
    xlm_arena_free(s->arena);
    xlm_stream_close(s->stream);
    close_file(&s->file);
    g_free(s);
    return 0;
}

static bool close_to(int64_t part, int64_t all, double share)
{
    const double p = (double)part / (double)all, deviation = p - share;
    return all > 100 && deviation * deviation < 16 * share * (1 - share) / (double)all;
}

static void streams_switch(void **state)
{
    const struct switching *s = *state;
    int64_t ordinary = 0, masked = 0, known[3] = {0}, switched[3] = {0};
    for (int step = 0; step < 200; step++) {
        xlm_arena_reset(s->arena);
        const xlm_batch b = read_step(s->stream, step, 0, BATCH, s->arena);
        const int32_t *translations = xlm_batch_annotation(&b, "translations");
        const int32_t *others = xlm_batch_annotation(&b, "translation_languages");
        int32_t k = 0;
        for (int32_t i = 0; i < b.corrupted.tokens; i++) {
            const int32_t language = b.corrupted.unswitched[i];
            /* By the dictionary above. */
            const bool has = b.corrupted.unmasked[i] >= XLM_SPECIALS && b.corrupted.unmasked[i] % 2 == 1 && language != FR;
            ordinary += b.corrupted.unmasked[i] >= XLM_SPECIALS;
            assert_int_equal(translations[i], !has ? -1 : language == DE ? b.corrupted.unmasked[i] - 400 : b.corrupted.unmasked[i] + 400);
            assert_int_equal(others[i], !has ? -1 : DE + EN - language);
            if (k == b.predicted || b.predicted_rows[k] != i) {
                assert_int_equal(b.corrupted.ids[i], b.corrupted.unmasked[i]);
                assert_int_equal(b.corrupted.languages[i], language);
                continue;
            }
            assert_int_equal(b.targets[k], b.corrupted.unmasked[i]);
            assert_true(b.corrupted.languages[i] == language || (has && b.corrupted.languages[i] == DE + EN - language));
            if (b.corrupted.languages[i] != language)
                assert_int_equal(b.corrupted.ids[i], translations[i]);
            known[language] += has;
            switched[language] += b.corrupted.languages[i] != language;
            k++;
        }
        assert_int_equal(k, b.predicted);
        masked += b.predicted;
    }
    assert_true(close_to(masked, ordinary, 0.15));
    assert_true(close_to(switched[EN], known[EN], 0.5));
    assert_true(close_to(switched[DE], known[DE], 0.5));
    assert_int_equal(switched[FR], 0);
}

static void same(const int32_t *whole, const int32_t *part, int32_t n)
{
    assert_memory_equal(whole, part, sizeof *whole * (size_t)n);
}

/* Ranks read slices of a step. */
static void slices_are_the_whole(void **state)
{
    const struct switching *s = *state;
    const xlm_batch whole = read_step(s->stream, 7, 0, BATCH, s->arena);
    for (int slices = 2; slices <= 4; slices++) {
        int32_t row = 0, masked = 0;
        for (int slice = 0; slice < slices; slice++) {
            const int64_t first = BATCH * slice / slices;
            const xlm_batch b = read_step(s->stream, 7, first, BATCH * (slice + 1) / slices - first, s->arena);
            same(whole.corrupted.ids + row, b.corrupted.ids, b.corrupted.tokens);
            same(whole.corrupted.languages + row, b.corrupted.languages, b.corrupted.tokens);
            same(whole.corrupted.unswitched + row, b.corrupted.unswitched, b.corrupted.tokens);
            same(whole.targets + masked, b.targets, b.predicted);
            same(xlm_batch_annotation(&whole, "translations") + row, xlm_batch_annotation(&b, "translations"), b.corrupted.tokens);
            row += b.corrupted.tokens;
            masked += b.predicted;
        }
        assert_int_equal(row, whole.corrupted.tokens);
        assert_int_equal(masked, whole.predicted);
    }
}

/* Without a dictionary there is one array of languages; with one and no switching the input is the same. */
static void without_switching_nothing_changes(void **state)
{
    const struct switching *s = *state;
    xlm_stream *annotated = open_switching(&s->file, "");
    xlm_stream *plain = open_training(s->file.corpus, 3, "alpha=1\nbatch=24\nlength=64\n", 99);
    assert_null(xlm_stream_dictionary(plain));
    assert_int_equal(xlm_stream_dictionary(annotated)->pairs, 200);
    const xlm_batch a = read_step(plain, 1, 0, BATCH, s->arena), b = read_step(annotated, 1, 0, BATCH, s->arena);
    assert_ptr_equal(a.corrupted.languages, a.corrupted.unswitched);
    assert_null(a.annotations);
    assert_int_equal(a.predicted, b.predicted);
    same(a.corrupted.ids, b.corrupted.ids, a.corrupted.tokens);
    same(a.corrupted.languages, b.corrupted.languages, a.corrupted.tokens);
    xlm_stream_close(plain);
    xlm_stream_close(annotated);
}

static void stream_refused(const struct file *f, const char *settings, int code, const char *message)
{
    GError *error = NULL;
    assert_null(try_open(f->corpus, XLM_TRAIN, 0, settings, 1, &error));
    must_say(error, code, message);
}

static void wrong_streams_are_refused(void **state)
{
    (void)state;
    struct file f = open_file();
    char *all = with_dictionary(&f, "switching=0.5\n"), *french = with_dictionary(&f, "languages=fr\n");
    stream_refused(&f, all, EX_NOINPUT, "[stream s]: ");
    write_dictionary(&f);
    stream_refused(&f, french, EX_CONFIG, "d.h5 is of de and en, and the stream reads neither");
    xlm_stream_close(open_switching(&f, "languages=fr,en\n"));
    stream_refused(&f, "switching=0.5\n", EX_CONFIG, "switching needs a dictionary");
    g_free(all);
    g_free(french);
    close_file(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(wrong_files_are_refused), cmocka_unit_test(hostile_files_are_refused),
        cmocka_unit_test(tables_have_the_size_of_the_corpus),
        cmocka_unit_test(translations_are_found_both_ways),
        cmocka_unit_test_setup_teardown(streams_switch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slices_are_the_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_switching_nothing_changes, set_up, tear_down),
        cmocka_unit_test(wrong_streams_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
