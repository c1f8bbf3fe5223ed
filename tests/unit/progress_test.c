/* xlm-mpi: tests of how progress and times are written. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/progress.h"
#include "base/terminal.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_in_the_unit_of_a_person),
        cmocka_unit_test(lines_cut_between_fields),
        cmocka_unit_test(rate_and_time_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
