/* xlm-mpi: tests of reading lines and of who is held out. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "text/lines.h"
#include "prep/options.h"
#include "prep/split.h"

/* ---- lines ---- */

static char *write_file(const char *bytes, gssize size, bool compressed)
{
    char *path;
    GError *error = NULL;
    const int descriptor = g_file_open_tmp("xlm-lines-XXXXXX", &path, &error);
    assert_true(descriptor >= 0);
    close(descriptor);
    if (compressed) {
        gzFile file = gzopen(path, "wb1");
        assert_int_equal(gzwrite(file, bytes, (unsigned)size), size);
        assert_int_equal(gzclose(file), Z_OK);
    } else {
        assert_true(g_file_set_contents(path, bytes, size, &error));
    }
    return path;
}

static xlm_lines *open_lines(const char *path)
{
    GError *error = NULL;
    xlm_lines *lines = xlm_lines_open(path, &error);
    if (lines == NULL)
        fail_msg("%s", error->message);
    return lines;
}

static void remove_file(char *path)
{
    g_unlink(path);
    g_free(path);
}

/* The next line is this one, or the file is at its end (NULL). */
static void reads(xlm_lines *lines, const char *expected)
{
    const char *text;
    size_t length;
    GError *error = NULL;
    const int got = xlm_lines_next(lines, &text, &length, &error);
    assert_null(error);
    assert_int_equal(got, expected != NULL);
    if (expected != NULL) {
        assert_int_equal(length, strlen(expected));
        assert_memory_equal(text, expected, length);
    }
}

/* Line ends and the byte order mark of the file are no text; a mark within it is. */
static void lines_are_unchanged(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbfone\n\n\xef\xbb\xbftwo\r\n thr\ree";
    char *path = write_file(text, -1, false);
    xlm_lines *lines = open_lines(path);
    xlm_lines_keep_bytes(lines);
    reads(lines, "\xef\xbb\xbfone");
    reads(lines, "");
    reads(lines, "\xef\xbb\xbftwo\r");
    xlm_lines_close(lines);
    lines = open_lines(path);
    reads(lines, "one");
    assert_true(xlm_lines_terminated(lines));
    reads(lines, "");
    assert_int_equal(xlm_lines_number(lines), 2);
    reads(lines, "\xef\xbb\xbftwo");
    reads(lines, " thr\ree");
    assert_false(xlm_lines_terminated(lines));
    assert_int_equal(xlm_lines_number(lines), 4);
    reads(lines, NULL);
    reads(lines, NULL);
    assert_int_equal(xlm_lines_number(lines), 4);
    xlm_lines_close(lines);
    remove_file(path);
}

/* More lines than fit into a buffer, of all lengths, plain and compressed; some are passed over. */
static void lines_cross_buffers(void **state)
{
    (void)state;
    enum { LINES = 20000 };
    GString *text = g_string_new("");
    for (int i = 0; i < LINES; i++) {
        g_string_append_printf(text, "%d ", i);
        for (int k = 0; k < i % 211; k++)
            g_string_append_c(text, (char)('a' + i % 26));
        g_string_append_c(text, '\n');
    }
    assert_true(text->len > 2 << 20);
    for (int compressed = 0; compressed < 2; compressed++) {
        char *path = write_file(text->str, (gssize)text->len, compressed);
        xlm_lines *lines = open_lines(path);
        const char *line;
        size_t length;
        for (int i = 0; i < LINES; i++) {
            if (i % 100 == 50) {
                assert_int_equal(xlm_lines_skip(lines, 40, NULL), 40);
                i += 40;
            }
            assert_int_equal(xlm_lines_next(lines, &line, &length, NULL), 1);
            char number[16];
            const size_t n = (size_t)g_snprintf(number, sizeof number, "%d ", i);
            assert_int_equal(length, n + (size_t)(i % 211));
            assert_memory_equal(line, number, n);
            assert_true(length == n || line[length - 1] == 'a' + i % 26);
            assert_int_equal(xlm_lines_number(lines), i + 1);
        }
        assert_int_equal(xlm_lines_skip(lines, 10, NULL), 0);
        xlm_lines_close(lines);
        remove_file(path);
    }
    g_string_free(text, TRUE);
}

static void skipping_ends_at_the_end(void **state)
{
    (void)state;
    char *path = write_file("a\nb\nc", -1, false);
    xlm_lines *lines = open_lines(path);
    assert_int_equal(xlm_lines_skip(lines, 1, NULL), 1);
    assert_int_equal(xlm_lines_skip(lines, INT64_MAX, NULL), 2);
    assert_int_equal(xlm_lines_number(lines), 3);
    xlm_lines_close(lines);
    remove_file(path);
}

/* ---- held out ---- */

/* A digest that is drawn, or not, under a share of one half. */
enum { LOW = 0, HIGH = 1 };
static uint64_t digest(int high, uint64_t n) { return (high ? UINT64_C(1) << 63 : 0) + n; }

static void translations_of_drawn_sentences_are_held_out(void **state)
{
    xlm_comm *comm = *state;
    xlm_assignments *assignments = xlm_assignments_new(0.5, 7);
    const uint64_t drawn = digest(LOW, 1), partner = digest(HIGH, 2), ring = digest(HIGH, 3), far = digest(HIGH, 4),
                   train_a = digest(HIGH, 5), train_b = digest(HIGH, 6);
    xlm_assignments_add_pair(assignments, partner, drawn);
    xlm_assignments_add_pair(assignments, ring, partner);
    xlm_assignments_add_pair(assignments, ring, far);
    xlm_assignments_add_pair(assignments, train_a, train_b);
    xlm_assignments_finish(assignments, comm);
    assert_int_equal(xlm_assignments_of_sentence(assignments, drawn), XLM_ASSIGNED_HELD_OUT);
    assert_int_equal(xlm_assignments_of_sentence(assignments, partner), XLM_ASSIGNED_HELD_OUT);
    assert_int_equal(xlm_assignments_of_sentence(assignments, ring), XLM_ASSIGNED_NEITHER);
    assert_int_equal(xlm_assignments_of_sentence(assignments, far), XLM_ASSIGNED_TRAIN);
    assert_int_equal(xlm_assignments_of_sentence(assignments, digest(LOW, 9)), XLM_ASSIGNED_HELD_OUT);
    assert_int_equal(xlm_assignments_of_pair(assignments, drawn, partner), XLM_ASSIGNED_HELD_OUT);
    assert_int_equal(xlm_assignments_of_pair(assignments, partner, ring), XLM_ASSIGNED_NEITHER);
    assert_int_equal(xlm_assignments_of_pair(assignments, ring, far), XLM_ASSIGNED_NEITHER);
    assert_int_equal(xlm_assignments_of_pair(assignments, train_a, train_b), XLM_ASSIGNED_TRAIN);
    xlm_assignments_free(assignments);
}

/* Splitting into words takes spaces away, so they decide on nothing; all else does. */
static void the_same_words_have_the_same_fate(void **state)
{
    (void)state;
    static const char *const same[] = {"Ctrl+ Plus", "Ctrl+Plus", "Ctrl + Plus", "Ctrl +Plus"};
    xlm_assignments *assignments = xlm_assignments_new(0.5, 3);
    const uint64_t wanted = xlm_assignments_digest(assignments, same[0], strlen(same[0]));
    for (size_t i = 0; i < G_N_ELEMENTS(same); i++)
        assert_true(xlm_assignments_digest(assignments, same[i], strlen(same[i])) == wanted);
    assert_true(xlm_assignments_digest(assignments, "Ctrl+Plug", 9) != wanted);
    assert_true(xlm_assignments_digest(assignments, "Ctrl+Plus", 8) != wanted);
    xlm_assignments_free(assignments);
}

static void share_and_seed_decide(void **state)
{
    (void)state;
    enum { SENTENCES = 20000 };
    int drawn[2] = {0, 0}, both = 0;
    xlm_assignments *assignments[2] = {xlm_assignments_new(0.05, 0), xlm_assignments_new(0.05, 1)};
    xlm_assignments *none = xlm_assignments_new(0, 0);
    for (int i = 0; i < SENTENCES; i++) {
        char text[32];
        const size_t n = (size_t)g_snprintf(text, sizeof text, "sentence %d", i);
        int held[2];
        for (int k = 0; k < 2; k++) {
            const uint64_t text_digest = xlm_assignments_digest(assignments[k], text, n);
            held[k] = xlm_assignments_of_sentence(assignments[k], text_digest) == XLM_ASSIGNED_HELD_OUT;
            drawn[k] += held[k];
        }
        both += held[0] && held[1];
        assert_int_equal(xlm_assignments_of_sentence(none, xlm_assignments_digest(none, text, n)), XLM_ASSIGNED_TRAIN);
    }
    /* 1,000 expected, standard deviation 31; 50 by both seeds, 7. */
    assert_in_range(drawn[0], 850, 1150);
    assert_in_range(drawn[1], 850, 1150);
    assert_in_range(both, 15, 85);
    xlm_assignments_free(assignments[0]);
    xlm_assignments_free(assignments[1]);
    xlm_assignments_free(none);
}

/* ---- options ---- */

static void languages_and_sources_in_order(void **state)
{
    (void)state;
    xlm_prep_options *options = xlm_prep_options_new();
    GError *error = NULL;
    assert_true(xlm_prep_add_parallel(options, "fr-en=a.fr,a.en", &error));
    assert_true(xlm_prep_add_monolingual(options, "en=b,c=1", &error));
    assert_true(xlm_prep_add_monolingual(options, "zh_cn=d", &error));
    assert_int_equal(options->languages->len, 3);
    assert_string_equal(options->languages->pdata[0], "fr");
    assert_string_equal(options->languages->pdata[1], "en");
    assert_string_equal(options->languages->pdata[2], "zh_cn");
    static const char *const paths[] = {"b", "c=1", "d", "a.fr"};
    assert_int_equal(options->sources->len, 4);
    assert_int_equal(options->monolingual_sources, 3);
    for (guint i = 0; i < 4; i++)
        assert_string_equal(((xlm_prep_source *)options->sources->pdata[i])->path[0], paths[i]);
    assert_true(xlm_prep_add_synthetic(options, "xx=en:invert", &error));
    assert_int_equal(xlm_prep_pairs_count(options), 2);
    static const char *const pairs[] = {"fr-en", "en-xx"};
    for (int i = 0; i < 2; i++) {
        char *name = xlm_prep_pair_name(options, i);
        assert_string_equal(name, pairs[i]);
        g_free(name);
    }
    assert_false(xlm_prep_add_parallel(options, "en-fr=x,y", &error));
    assert_int_equal(error->code, EX_USAGE);
    g_error_free(error);
    xlm_prep_options_free(options);
}

int main(int argc, char **argv)
{
    xlm_comm comm;
    xlm_comm_open(&comm, "prepare_test", &argc, &argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_unchanged),
        cmocka_unit_test(lines_cross_buffers),
        cmocka_unit_test(skipping_ends_at_the_end),
        cmocka_unit_test_prestate(translations_of_drawn_sentences_are_held_out, &comm),
        cmocka_unit_test(the_same_words_have_the_same_fate),
        cmocka_unit_test(share_and_seed_decide),
        cmocka_unit_test(languages_and_sources_in_order),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    const int code = xlm_comm_close(&comm, NULL);
    return failed != 0 ? failed : code;
}
