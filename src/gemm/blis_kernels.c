/* xlm-mpi: which of BLIS's kernels can be asked for here. SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/blis_kernels.h"

#include <blis.h>
#include <glib.h>

#include "kernels/processor.h"

#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

/* ---- instructions that only BLIS's kernels use; each build of BLIS has some of the kernels ---- */

#if defined __x86_64__ && defined __GNUC__
#include <cpuid.h>

/* Leaf 7, bits 26 and 27 of EBX: prefetching and reciprocals of the Xeon Phi, whose names newer compilers do not know. */
G_GNUC_UNUSED static bool has_avx512_of_phi(void)
{
    unsigned a, b, c, d;
    return __builtin_cpu_supports("avx512f") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 26 & 3) == 3;
}

G_GNUC_UNUSED static bool has_avx(void) { return __builtin_cpu_supports("avx"); }
G_GNUC_UNUSED static bool has_avx_and_fma(void) { return has_avx() && __builtin_cpu_supports("fma"); }
G_GNUC_UNUSED static bool has_fma4(void) { return __builtin_cpu_supports("fma4"); }
G_GNUC_UNUSED static bool has_ssse3(void) { return __builtin_cpu_supports("ssse3"); }
#else
G_GNUC_UNUSED static bool has_avx512_of_phi(void) { return false; }
G_GNUC_UNUSED static bool has_avx(void) { return false; }
G_GNUC_UNUSED static bool has_avx_and_fma(void) { return false; }
G_GNUC_UNUSED static bool has_fma4(void) { return false; }
G_GNUC_UNUSED static bool has_ssse3(void) { return false; }
#endif

G_GNUC_UNUSED static bool has_sve(void)
{
#if defined __aarch64__ && defined __linux__
    const unsigned long sve = 1ul << 22; /* HWCAP_SVE */
    return (getauxval(AT_HWCAP) & sve) != 0;
#else
    return false;
#endif
}

G_GNUC_UNUSED static bool has_all(void) { return true; }
static bool has_none(void) { return false; }

/* ---- the kernels ---- */

/* Only those that BLIS was built with: it ends the program when it is asked for others. Names of arch_t that a version of BLIS
 * does not have are not defined in its header either. */
static const struct {
    int64_t number;
    const char *name;
    bool (*runs)(void); /* does the processor have the instructions? */
} kernels[] = {
#ifdef BLIS_CONFIG_SKX
    {BLIS_ARCH_SKX, "skx", xlm_processor_has_avx512},
#endif
#ifdef BLIS_CONFIG_KNL
    {BLIS_ARCH_KNL, "knl", has_avx512_of_phi},
#endif
#ifdef BLIS_CONFIG_HASWELL
    {BLIS_ARCH_HASWELL, "haswell", xlm_processor_has_avx2},
#endif
#ifdef BLIS_CONFIG_SANDYBRIDGE
    {BLIS_ARCH_SANDYBRIDGE, "sandybridge", has_avx},
#endif
#ifdef BLIS_CONFIG_PENRYN
    {BLIS_ARCH_PENRYN, "penryn", has_ssse3},
#endif
#ifdef BLIS_CONFIG_ZEN5
    {BLIS_ARCH_ZEN5, "zen5", xlm_processor_has_avx512},
#endif
#ifdef BLIS_CONFIG_ZEN4
    {BLIS_ARCH_ZEN4, "zen4", xlm_processor_has_avx512},
#endif
#ifdef BLIS_CONFIG_ZEN3
    {BLIS_ARCH_ZEN3, "zen3", xlm_processor_has_avx2},
#endif
#ifdef BLIS_CONFIG_ZEN2
    {BLIS_ARCH_ZEN2, "zen2", xlm_processor_has_avx2},
#endif
#ifdef BLIS_CONFIG_ZEN
    {BLIS_ARCH_ZEN, "zen", xlm_processor_has_avx2},
#endif
#ifdef BLIS_CONFIG_EXCAVATOR
    {BLIS_ARCH_EXCAVATOR, "excavator", xlm_processor_has_avx2},
#endif
#ifdef BLIS_CONFIG_STEAMROLLER
    {BLIS_ARCH_STEAMROLLER, "steamroller", has_avx_and_fma},
#endif
#ifdef BLIS_CONFIG_PILEDRIVER
    {BLIS_ARCH_PILEDRIVER, "piledriver", has_avx_and_fma},
#endif
#ifdef BLIS_CONFIG_BULLDOZER
    {BLIS_ARCH_BULLDOZER, "bulldozer", has_fma4},
#endif
#ifdef BLIS_CONFIG_ARMSVE
    {BLIS_ARCH_ARMSVE, "armsve", has_sve},
#endif
#ifdef BLIS_CONFIG_A64FX
    {BLIS_ARCH_A64FX, "a64fx", has_sve},
#endif
#ifdef BLIS_CONFIG_ALTRAMAX
    {BLIS_ARCH_ALTRAMAX, "altramax", has_all},
#endif
#ifdef BLIS_CONFIG_ALTRA
    {BLIS_ARCH_ALTRA, "altra", has_all},
#endif
#ifdef BLIS_CONFIG_FIRESTORM
    {BLIS_ARCH_FIRESTORM, "firestorm", has_all},
#endif
#ifdef BLIS_CONFIG_THUNDERX2
    {BLIS_ARCH_THUNDERX2, "thunderx2", has_all},
#endif
#ifdef BLIS_CONFIG_CORTEXA57
    {BLIS_ARCH_CORTEXA57, "cortexa57", has_all},
#endif
#ifdef BLIS_CONFIG_CORTEXA53
    {BLIS_ARCH_CORTEXA53, "cortexa53", has_all},
#endif
#ifdef BLIS_CONFIG_CORTEXA15
    {BLIS_ARCH_CORTEXA15, "cortexa15", has_all},
#endif
#ifdef BLIS_CONFIG_CORTEXA9
    {BLIS_ARCH_CORTEXA9, "cortexa9", has_all},
#endif
#ifdef BLIS_CONFIG_POWER10
    {BLIS_ARCH_POWER10, "power10", has_all},
#endif
#ifdef BLIS_CONFIG_POWER9
    {BLIS_ARCH_POWER9, "power9", has_all},
#endif
#ifdef BLIS_CONFIG_POWER7
    {BLIS_ARCH_POWER7, "power7", has_all},
#endif
#ifdef BLIS_CONFIG_BGQ
    {BLIS_ARCH_BGQ, "bgq", has_all},
#endif
#ifdef BLIS_CONFIG_RV32I
    {BLIS_ARCH_RV32I, "rv32i", has_all},
#endif
#ifdef BLIS_CONFIG_RV64I
    {BLIS_ARCH_RV64I, "rv64i", has_all},
#endif
#ifdef BLIS_CONFIG_RV32IV
    {BLIS_ARCH_RV32IV, "rv32iv", has_all},
#endif
#ifdef BLIS_CONFIG_RV64IV
    {BLIS_ARCH_RV64IV, "rv64iv", has_all},
#endif
#ifdef BLIS_CONFIG_SIFIVE_RVV
    {BLIS_ARCH_SIFIVE_RVV, "sifive_rvv", has_all},
#endif
#ifdef BLIS_CONFIG_SIFIVE_X280
    {BLIS_ARCH_SIFIVE_X280, "sifive_x280", has_all},
#endif
#ifdef BLIS_CONFIG_GENERIC
    {BLIS_ARCH_GENERIC, "generic", has_all},
#endif
    {-1, "", has_none}, /* where BLIS has only others, which no one can ask for then */
};

bool xlm_blis_kernels_run(int64_t number)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++)
        if (kernels[i].number == number)
            return kernels[i].runs();
    return false;
}

char *xlm_blis_kernels_list(void)
{
    GString *list = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(kernels); i++)
        if (kernels[i].runs())
            g_string_append_printf(list, "%s%" G_GINT64_FORMAT " (%s)", list->len > 0 ? ", " : "", kernels[i].number,
                                   kernels[i].name);
    return g_string_free(list, FALSE);
}
