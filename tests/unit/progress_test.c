/* xlm-mpi: tests of how progress and times are written. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "options/piecewise.h"
#include "run/time_left.h"

static void times_in_the_unit_of_a_person(void **state)
{
    (void)state;
    static const struct { double seconds; const char *text; } cases[] = {
        {0, "0.0 s"},          {4.24, "4.2 s"},         {45, "45 s"},           {89.4, "89 s"},          {252, "4.2 min"},
        {3600, "60 min"},      {5400, "1.5 h"},         {8280, "2.3 h"},        {100000, "28 h"},        {12 * 86400, "12 days"},
        {3.55 * 86400, "3.5 days"}, {9.96 * 86400, "10 days"}, {4100.8 * 86400, "4101 days"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16];
        assert_string_equal(xlm_log_time(cases[i].seconds, text), cases[i].text);
    }
}

static void lines_cut_between_fields(void **state)
{
    (void)state;
    static const struct { const char *line; int width; const char *cut; } cases[] = {
        {"step 1/2  loss 3.1415  9 left", 80, "step 1/2  loss 3.1415  9 left"},
        {"step 1/2  loss 3.1415  9 left", 29, "step 1/2  loss 3.1415  9 left"},
        {"step 1/2  loss 3.1415  9 left", 28, "step 1/2  loss 3.1415"},
        {"step 1/2  loss 3.1415  9 left", 21, "step 1/2  loss 3.1415"},
        {"step 1/2  loss 3.1415  9 left", 20, "step 1/2"},
        {"step 1/2  loss 3.1415  9 left", 5, "step "},
        {"step 1/2  loss 3.1415  9 left", 0, ""},
        {"z\xc3\xa4hlt  \xc3\xa4\xc3\xa4", 9, "z\xc3\xa4hlt  \xc3\xa4\xc3\xa4"}, /* characters, not bytes */
        {"z\xc3\xa4hlt  \xc3\xa4\xc3\xa4", 8, "z\xc3\xa4hlt"},
        {"z\xc3\xa4hlt", 2, "z\xc3\xa4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *cut = xlm_terminal_cut(cases[i].line, cases[i].width);
        assert_string_equal(cut, cases[i].cut);
        g_free(cut);
    }
}

static void rate_and_time_left(void **state)
{
    (void)state;
    static const struct { const char *unit; double total, done, seconds; const char *line; } cases[] = {
        {"examples", 1000, 250, 10, "work: 25 %  25 examples/s  0:30 left"},
        {"B", 4e6, 1e6, 2, "work: 25 %  500kB/s  0:06 left"},
        {"pages", 0, 1200, 10, "work: 1.2k pages  120 pages/s"},
        {"B", 100, 0, 5, "work: 0 %  0B/s  ? left"},
        {"B", 100, 120, 5, "work: 100 %  24B/s  0:00 left"}, /* a file that grew */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const xlm_progress p = xlm_progress_begin("work", cases[i].total, cases[i].unit);
        char *line = xlm_progress_line(&p, cases[i].done, cases[i].seconds);
        assert_string_equal(line, cases[i].line);
        g_free(line);
    }
}

/* Of a run in which tlm begins with step 8 and ends with step 12, and from step 15 on a stream is read. Only the steps since then
 * are counted, until the next change. */
static void time_left_where_objectives_begin_and_end(void **state)
{
    (void)state;
    const xlm_piecewise_point ends[] = {{0, 1}, {11, 1}, {12, 0}}, read[] = {{14, 0}, {15, 4}, {16, 8}};
    g_autofree xlm_piecewise *weight = xlm_piecewise_new(ends, 3), *batches = xlm_piecewise_new(read, 3);
    xlm_job_stream stream[] = {{.config = {.batch = 8}}, {.config = {.batch = 8, .batches = batches}}};
    xlm_job_objective objective[] = {{.stream = 0}, {.stream = -1, .weight = {weight, 8}}, {.stream = 1}};
    const xlm_job job = {.train = {.steps = 20}, .streams = 2, .stream = stream, .objectives = 3, .objective = objective};
    static const struct { double seconds; const char *text; } steps[] = {
        {2, "0:14 left to step 8"}, {4, "0:18 left to step 8"}, {3, "0:15 left to step 8"}, {3, "0:12 left to step 8"},
        {3, "0:09 left to step 8"}, {3, "0:06 left to step 8"}, {3, "0:03 left to step 8"}, {3, "? left"},
        {30, "1:30 left to step 12"}, {30, "1:00 left to step 12"}, {30, "0:30 left to step 12"}, {30, "? left"},
        {3, "0:06 left to step 15"}, {3, "0:03 left to step 15"}, {3, "? left"},
        {20, "1:20 left"}, {40, "1:30 left"}, {30, "1:00 left"}, {30, "0:30 left"}, {30, "0:00 left"},
    };
    xlm_time_left left = {0}, resumed = {0};
    for (int64_t i = 0; i < 20; i++) {
        xlm_time_left_count(&left, &job, i, steps[i].seconds);
        g_autofree char *text = xlm_time_left_text(&left, i + 1, job.train.steps);
        assert_string_equal(text, steps[i].text);
    }
    /* A run that goes on within a part of the run, and one of the same objectives in every step. */
    xlm_time_left_count(&resumed, &job, 9, 7);
    g_autofree char *part = xlm_time_left_text(&resumed, 10, job.train.steps);
    assert_string_equal(part, "0:14 left to step 12");
    const xlm_job constant = {.train = {.steps = 20}, .streams = 1, .stream = stream, .objectives = 1, .objective = objective};
    assert_int_equal(xlm_next_change(&constant, 0), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_in_the_unit_of_a_person),
        cmocka_unit_test(lines_cut_between_fields),
        cmocka_unit_test(rate_and_time_left),
        cmocka_unit_test(time_left_where_objectives_begin_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
