/* xlm-mpi: tests of dictionary files and of looking translations up. SPDX-License-Identifier: GPL-3.0-or-later */
#include "corpus_fixture.h"

#include "lexicon/dictionary.h"

enum { EN, DE };

static const int lengths[] = {3};
static const corpus_plan plan = {.text = {{[EN] = {1, 1, lengths}, [DE] = {1, 1, lengths}}}};
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

/* Write n pairs, `kept` of them into the dictionary. */
static void write_file(const struct file *f, const xlm_dictionary_pair *pairs, guint n, guint kept)
{
    GArray *in = g_array_new(FALSE, FALSE, sizeof *pairs), *out = g_array_new(FALSE, FALSE, sizeof *pairs);
    g_array_append_vals(in, pairs, kept);
    g_array_append_vals(out, pairs + kept, n - kept);
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
    if (strstr(error->message, message) == NULL)
        fail_msg("no '%s' in: %s", message, error->message);
    assert_int_equal(xlm_error_exit_code(error), EX_DATAERR);
    g_error_free(error);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(wrong_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
