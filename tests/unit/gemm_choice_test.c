/* xlm-mpi: which library multiplies in float32, by the processor. SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gemm/gemm_choice.h"
#include "gemm/packed.h"
#include "train/gemm_trial.h"

static const xlm_gemm_row *row_of(const char *vendor, int family, int model, bool avx512)
{
    xlm_processor p = {.family = family, .model = model, .avx512 = avx512};
    g_strlcpy(p.vendor, vendor, sizeof p.vendor);
    return xlm_gemm_row_of(&p);
}

static void test_table(void **state)
{
    (void)state;
    static const struct {
        const char *vendor;
        int family, model;
        bool avx512, known, packs, packs_in_search;
    } processors[] = {
        {"GenuineIntel", 6, 106, true, true, true, true},   /* Ice Lake */
        {"GenuineIntel", 6, 143, true, true, true, true},   /* Sapphire Rapids */
        {"GenuineIntel", 6, 151, false, false, false, false}, /* Alder Lake, without AVX-512 */
        {"AuthenticAMD", 26, 2, true, true, true, true},    /* Zen 5 */
        {"AuthenticAMD", 25, 17, true, true, false, true},  /* Zen 4 */
        {"AuthenticAMD", 25, 1, false, false, false, false}, /* Zen 3 */
        {"HygonGenuine", 24, 7, true, false, false, false},
        {"CentaurHauls", 7, 91, true, false, false, false},
        {"", 0, 0, false, false, false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(processors); i++) {
        const xlm_gemm_row *row = row_of(processors[i].vendor, processors[i].family, processors[i].model, processors[i].avx512);
        assert_int_equal(row != NULL, processors[i].known);
        if (row != NULL) {
            assert_int_equal(row->packs, processors[i].packs);
            assert_int_equal(row->packs_in_search, processors[i].packs_in_search);
            assert_true(strpbrk(row->measured, "0123456789") != NULL);
        }
    }
}

/* As the operating system reads it, where it shows it. Other architectures have no such numbers, but the file shows those of the
 * host where they are emulated on x86. */
static void test_identity(void **state)
{
    (void)state;
#ifndef __x86_64__
    skip();
#endif
    g_autofree char *text = NULL;
    const xlm_processor p = xlm_processor_identify();
    if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL) || strstr(text, "cpu family") == NULL)
        skip();
    assert_non_null(strstr(text, p.vendor));
    assert_int_equal(p.family, atoi(strchr(strstr(text, "cpu family"), ':') + 1));
    assert_int_equal(p.model, atoi(strchr(strstr(text, "model\t"), ':') + 1));
    assert_int_equal(p.avx512, xlm_processor_has_avx512());
}

/* The line names the processor, both rates, and what chooses. */
static void test_trial(void **state)
{
    (void)state;
    xlm_gemm_trial trial = {.rows = 128, .hidden = 64, .inner = 256, .blis = 34, .onednn = 41};
    if (xlm_packed_lacks(XLM_FLOAT32) == NULL) {
        const gint64 begin = g_get_monotonic_time();
        xlm_gemm_trial_run(&trial);
        assert_true(trial.blis > 0.001 && trial.blis < 1e6 && trial.onednn > 0.001 && trial.onednn < 1e6);
        assert_true(g_get_monotonic_time() - begin >= G_USEC_PER_SEC / 2);
    }
    const xlm_processor p = {.vendor = "HygonGenuine", .family = 24, .model = 7, .avx512 = true};
    g_autofree char *text = xlm_gemm_trial_text(&trial, &p), *rates = g_strdup_printf("%.0f GFLOP/s by BLIS and %.0f by oneDNN",
                                                                                     trial.blis, trial.onednn);
    assert_true(g_str_has_prefix(text, "gemm = auto: BLIS"));
    assert_non_null(strstr(text, "HygonGenuine, family 24, model 7"));
    assert_non_null(strstr(text, rates));
    assert_non_null(strstr(text, "gemm = onednn or blis"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_identity),
                                       cmocka_unit_test(test_trial)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
