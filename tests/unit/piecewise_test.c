/* xlm-mpi: tests of numbers that are piecewise linear in the step, and of the weights of objectives.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "objective/loss_weight.h"
#include "options/options.h"
#include "options/piecewise.h"

typedef struct settings {
    xlm_piecewise *weight, *batch;
} settings;

static const xlm_option table[] = {
    {"weight", XLM_OPTION_PIECEWISE, "1", -10, 10, NULL, "a factor", offsetof(settings, weight)},
    {"batch", XLM_OPTION_PIECEWISE_INT, "32", 0, 16777216, NULL, "a number of instances", offsetof(settings, batch)},
    XLM_OPTION_END};

static settings read(const char *text)
{
    settings s = {0};
    GError *error = NULL;
    if (!xlm_option_set(&table[0], text, &s, &error))
        fail_msg("refused: %s", error->message);
    return s;
}

static void expect_text(const char *text, const char *wanted)
{
    settings s = read(text);
    g_autofree char *printed = xlm_option_print(&table[0], &s);
    assert_string_equal(printed, wanted);
    xlm_options_free(table, &s);
    assert_null(s.weight);
}

static void text_is_printed_as_it_is_read(void **state)
{
    (void)state;
    expect_text("0.50", "0.5");
    expect_text("-2 # as a number", "-2");
    expect_text("0:1,100000:0.1,300000:0", "0:1,100000:0.1,300000:0");
    expect_text(" 0 : 1.0 , 100_000:1e-1 # XLM's", "0:1,100000:0.1");
    expect_text("0:0.3,100=0.15,200 = 0.05", "0:0.3,99:0.3,100:0.15,199:0.15,200:0.05");
    expect_text("0:1,1=2,5:3", "0:1,1:2,5:3"); /* there is no step between these */
    expect_text("5=2", "2");
    expect_text("7:0.25", "0.25"); /* the same at all steps */
    expect_text("0:0.30000000000000004,1:3", "0:0.30000000000000004,1:3");
}

static void bad_lists_are_refused(void **state)
{
    (void)state;
    static const struct { const char *text, *pattern; } cases[] = {
        {"", "weight = : must be a number from -10 to 10"},
        {"nan", "weight = nan: must be a number*"},
        {"11", "weight = 11: must be a number from -10 to 10"},
        {"0:1,5:nan", "weight = 0:1,5:nan: number = nan: must be a number*STEP:NUMBER*"},
        {"0:1,5:inf", "*number = inf: must be*"},
        {"0:1,5:11", "*number = 11: must be a number from -10 to 10*"},
        {"0:1,5:", "*number = : must be*"},
        {"0:1,:2", "*step = : must be*"},
        {"0:1,-5:2", "*step = -5: must be an integer from 0*"},
        {"0:1,2.5:2", "*step = 2.5: must be an integer*"},
        {"0:1,9999999999999:2", "*step = 9999999999999: must be an integer*"},
        {"0:1,5:2,5:3", "*step 5 is not after step 5*"},
        {"0:1,5=2,5=3", "*step 5 is not after step 5*"},
        {"0:1,5=", "*number = : must be*"},
        {"=1", "*step = : must be*"},
        {"0:1,5=11", "*number = 11: must be a number from -10 to 10*"},
        {"0:1,5:2,4:3", "*step 4 is not after step 5*"},
        {"0:1,", "*\"\" is not of the form STEP:NUMBER*"},
        {",", "*\"\" is not of the form STEP:NUMBER*"},
        {"0:1,,5:2", "*\"\" is not of the form STEP:NUMBER*"},
        {"1,2", "*\"1\" is not of the form STEP:NUMBER*"},
        {"0:1:2", "*number = 1:2: must be a number*"},
        {"0:1;5:2", "*number = 1;5:2: must be a number*"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        settings s = read("3"); /* which stays */
        g_autoptr(GError) error = NULL;
        if (xlm_option_set(&table[0], cases[i].text, &s, &error))
            fail_msg("\"%s\" was read", cases[i].text);
        if (!g_pattern_match_simple(cases[i].pattern, error->message))
            fail_msg("\"%s\" is not of the form \"%s\"", error->message, cases[i].pattern);
        assert_int_equal(xlm_error_exit_code(error), EX_CONFIG);
        assert_true(xlm_piecewise_at(s.weight, 0) == 3);
        xlm_options_free(table, &s);
    }
}

static void whole_numbers_stay_whole(void **state)
{
    (void)state;
    static const struct { const char *text, *printed; } good[] = {
        {"64", "64"}, {"1_000_000", "1000000"}, {"0:0,2_000:0,4000:64", "0:0,2000:0,4000:64"}, {"0:256,10=1", "0:256,9:256,10:1"},
        {"0:10000000", "10000000"}, {"0", "0"},
    };
    static const struct { const char *text, *pattern; } bad[] = {
        {"-1", "batch = -1: must be an integer from 0 to 16777216"},
        {"2.5", "batch = 2.5: must be an integer*"},
        {"1e3", "batch = 1e3: must be an integer*"},
        {"0:8,5:-1", "batch = 0:8,5:-1: number = -1: must be an integer from 0*STEP:NUMBER*"},
        {"0:8,5:0.5", "*number = 0.5: must be an integer*"},
        {"0:8,5:16777217", "*number = 16777217: must be an integer*"},
        {"0:8,5=", "*number = : must be an integer*"},
        {"5:8,4:8", "*step 4 is not after step 5*"},
    };
    settings s = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
        assert_true(xlm_option_set(&table[1], good[i].text, &s, NULL));
        g_autofree char *printed = xlm_option_print(&table[1], &s);
        assert_string_equal(printed, good[i].printed);
        assert_true(xlm_option_set(&table[1], printed, &s, NULL));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        assert_false(xlm_option_set(&table[1], bad[i].text, &s, &error));
        if (!g_pattern_match_simple(bad[i].pattern, error->message))
            fail_msg("\"%s\" is not of the form \"%s\"", error->message, bad[i].pattern);
    }
    xlm_options_free(table, &s);
    assert_null(s.batch);
}

static void a_job_file_s_line_is_named(void **state)
{
    (void)state;
    static const xlm_jobfile_kind kinds[] = {{"objective", true, NULL}, {NULL, false, NULL}};
    static const char text[] = "[objective a]\n\nweight = 0:1,0:2\n";
    xlm_jobfile *job = xlm_jobfile_parse("job.conf", text, strlen(text), kinds, NULL, NULL);
    settings s;
    g_autoptr(GError) error = NULL;
    assert_false(xlm_options_parse(table, job, "objective a", &s, &error));
    assert_true(g_str_has_prefix(error->message, "job.conf:3: [objective a]: weight = 0:1,0:2: "));
    xlm_jobfile_free(job);
}

static void it_is_linear_between_the_points(void **state)
{
    (void)state;
    settings s = read("10:1,20:0.5,22:0,30:0,34:-2");
    static const struct { int64_t step; double value; } wanted[] = {
        {0, 1}, {10, 1}, {11, 0.95}, {15, 0.75}, {20, 0.5}, {21, 0.25}, {22, 0}, {25, 0}, {30, 0}, {31, -0.5}, {33, -1.5},
        {34, -2}, {35, -2}, {INT64_C(1000000000000), -2},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
        assert_true(ABS(xlm_piecewise_at(s.weight, wanted[i].step) - wanted[i].value) < 1e-15);
    for (int64_t i = 0; i < s.weight->points; i++) /* with no rounding at the points */
        assert_true(xlm_piecewise_at(s.weight, s.weight->point[i].step) == s.weight->point[i].value);
    xlm_options_free(table, &s);
}

/* The objective takes part in these steps of the first 16, "x" each. */
static void expect_parts(const char *text, int64_t begin, const char *wanted)
{
    enum { STEPS = 16 };
    settings s = read(text);
    const xlm_loss_weight weight = {s.weight, begin};
    char parts[STEPS + 1] = "";
    int64_t first = STEPS;
    for (int64_t step = STEPS - 1; step >= 0; step--) {
        const bool part = xlm_loss_weight_takes_part(&weight, step);
        parts[step] = part ? 'x' : '.';
        first = part ? step : first;
    }
    assert_string_equal(parts, wanted);
    assert_int_equal(xlm_loss_weight_first_step(&weight, STEPS), first);
    xlm_options_free(table, &s);
}

static void a_weight_of_0_takes_no_part(void **state)
{
    (void)state;
    expect_parts("1", 0, "xxxxxxxxxxxxxxxx");
    expect_parts("0", 0, "xxxxxxxxxxxxxxxx"); /* observed */
    expect_parts("0", 3, "...xxxxxxxxxxxxx");
    expect_parts("0:1,4:0", 0, "xxxx............");
    expect_parts("0:1,4:0", 3, "...x............");
    expect_parts("0:1,4:0", 4, "................");
    expect_parts("2:0,4:1", 0, "...xxxxxxxxxxxxx");
    expect_parts("2:0,4:1", 9, ".........xxxxxxx");
    expect_parts("2:1,3:0,6:0,8:1,9:0", 0, "xxx....xx.......");
    expect_parts("2:1,3:0,6:0,8:1,9:0", 4, ".......xx.......");
    expect_parts("4:-1,8:1", 6, ".......xxxxxxxxx");
    expect_parts("4:0,40:0", 0, "................");
    expect_parts("4:0,40:1", 0, ".....xxxxxxxxxxx");
    expect_parts("0:0,20:0,21:1", 0, "................");
    const xlm_loss_weight one = {0};
    assert_true(xlm_loss_weight_at(&one, 5) == 1 && xlm_loss_weight_takes_part(&one, 0) && !xlm_loss_weight_changes(&one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_printed_as_it_is_read),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(whole_numbers_stay_whole),
        cmocka_unit_test(a_job_file_s_line_is_named),
        cmocka_unit_test(it_is_linear_between_the_points),
        cmocka_unit_test(a_weight_of_0_takes_no_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
