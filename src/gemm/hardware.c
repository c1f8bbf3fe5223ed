/* xlm-mpi: the processor: denormals, threads, BLIS's kernels, and the speed of matrix products.
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "gemm/hardware.h"

#include <blis.h>
#include <glib.h>
#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/pages.h"
#include "gemm/blis_kernels.h"
#include "gemm/gemm.h"
#include "gemm/processors.h"
#include "kernels/processor.h"

/* ---- cores ---- */

/* The number of cores for this rank. A launcher that binds ranks gives each of them fewer cores than it has itself: it divides
 * its own cores into domains of equal size (cores, sockets, ...) and distributes the ranks evenly over them. */
static int own_cores(int local_ranks)
{
    const int own = MAX(xlm_processors_own().cores, 1), launcher = MAX(xlm_processors_of(getppid()).cores, own);
    const int sharing = (local_ranks * own + launcher - 1) / launcher;
    return MAX(own / MAX(sharing, 1), 1);
}

static int choose_threads(int wanted, int cores)
{
    if (wanted > 0)
        return wanted;
    return g_getenv("OMP_NUM_THREADS") != NULL ? omp_get_max_threads() : cores;
}

/* ---- BLIS's kernels ---- */

/* BLIS_ARCH_TYPE, or NULL if it is not set or empty, which BLIS would take for 0, the kernels skx. */
static const char *users_kernels(void)
{
    const char *given = g_getenv("BLIS_ARCH_TYPE");
    return given != NULL && *given != '\0' ? given : NULL;
}

bool xlm_hardware_check(GError **error)
{
    const char *given = users_kernels();
    gint64 number;
    if (given == NULL)
        return true;
    if (g_ascii_string_to_signed(given, 10, 0, BLIS_NUM_ARCHS - 1, &number, NULL) && xlm_blis_kernels_run(number))
        return true;
    g_autofree char *list = xlm_blis_kernels_list();
    return xlm_error_set(error, EX_USAGE, "BLIS_ARCH_TYPE=%s: must be one of BLIS's numbers of the kernels that it has and the "
                         "processor of %s can run: %s; leave it unset for those that suit the processor", given, g_get_host_name(),
                         list);
}

/* BLIS distinguishes processors with two 512-bit units from those with one by the name of the model, which a hypervisor may
 * hide; then it takes the kernels for AVX2, which are half as fast where there are two. The choice depends on the processor's
 * own identification and never on a timing: other kernels add up in another order, and runs of one job must have the same
 * bits. */
static void choose_kernels(xlm_hardware *hardware)
{
    hardware->choice = "BLIS's own choice";
    if (users_kernels() == NULL)
        g_unsetenv("BLIS_ARCH_TYPE");
    if (users_kernels() != NULL)
        hardware->choice = "the user's BLIS_ARCH_TYPE";
#ifdef BLIS_CONFIG_SKX
    else if (xlm_processor_has_whole_avx512()) {
        char number[16];
        g_snprintf(number, sizeof number, "%d", (int)BLIS_ARCH_SKX);
        g_setenv("BLIS_ARCH_TYPE", number, TRUE);
        hardware->choice = "asked for skx: AVX-512";
    }
#endif
    /* Only an initialised BLIS knows which kernels it has. */
    bli_init();
    /* xlm_gemm says at each product on how many threads. Those of ScaLAPACK are many and small: with the threads of
     * OMP_NUM_THREADS or of its own variables, which BLIS would take, nearly all time is spent waiting for one another. */
    bli_thread_set_ways(1, 1, 1, 1, 1);
    hardware->blis = bli_arch_string(bli_arch_query_id());
}

void xlm_hardware_prepare(xlm_hardware *hardware, int threads, int local_ranks)
{
    *hardware = (xlm_hardware){.cores = own_cores(local_ranks)};
    hardware->threads = choose_threads(threads, hardware->cores);
    hardware->chosen = threads <= 0 && g_getenv("OMP_NUM_THREADS") == NULL;
    omp_set_num_threads(hardware->threads);
    choose_kernels(hardware);
}

void xlm_hardware_start(void)
{
    /* Threads yet to be created inherit this one's setting; those that exist set it themselves. */
    xlm_processor_flush_denormals();
#pragma omp parallel
    xlm_processor_flush_denormals();
}

void xlm_hardware_open(xlm_hardware *hardware, int threads, int local_ranks)
{
    xlm_hardware_prepare(hardware, threads, local_ranks);
    xlm_hardware_start();
}

void xlm_hardware_set_threads(xlm_hardware *hardware, int threads)
{
    hardware->threads = threads;
    omp_set_num_threads(threads);
}

/* Products of n x n matrices, timed. */
struct timing {
    int n;
    double duration;   /* seconds to go on for */
    int64_t products;  /* but no more than so many */
    double best, mean; /* GFLOP/s of the fastest product, and of all together */
};

/* Compute products on all threads, at least two, with `packed`, or by BLIS if that is NULL. */
static void time_products(struct timing *t, xlm_packed *packed, xlm_precision precision)
{
    const int n = t->n;
    xlm_real *memory = xlm_pages_take(sizeof(xlm_real) * 3 * (size_t)n * (size_t)n, "the measurement of GEMM");
    xlm_real *a = memory, *b = a + n * n, *c = b + n * n;
    for (int i = 0; i < 2 * n * n; i++)
        memory[i] = (xlm_real)1 / (xlm_real)(1 + i % 7);
    if (packed != NULL)
        xlm_packed_set(packed, precision, true, n, n, b);
    const double begin = xlm_clock(), operations = 2e-9 * n * n * n;
    double best = G_MAXDOUBLE, now = begin;
    int64_t products = 0;
    for (; products < 2 || (products < t->products && now - begin < t->duration); products++) {
        if (packed != NULL)
            xlm_packed_multiply(packed, n, false, xlm_floats(a), NULL, false, c);
        else
            xlm_gemm(false, true, n, n, n, 1, a, n, b, n, 0, c, n);
        const double end = xlm_clock();
        best = MIN(best, end - now);
        now = end;
    }
    free(memory);
    t->best = operations / best;
    t->mean = operations * (double)products / (now - begin);
}

enum { SIDE = 1024, SMALL_SIDE = 256 };
static const double DURATION = 0.25;

void xlm_hardware_measure(xlm_hardware *hardware, bool packs, xlm_precision precision, double operations)
{
    enum { SHARE = 100, FEW = 4, LEAST = 8 }; /* of fewer large or small products nothing is learned */
    const double cubes = operations / SHARE / 2, side = SIDE, small = SMALL_SIDE;
    struct timing t = {.n = SIDE, .duration = DURATION, .products = INT64_MAX};
    if (cubes < FEW * side * side * side)
        t = (struct timing){.n = SMALL_SIDE, .duration = DURATION,
                            .products = MAX((int64_t)(cubes / (small * small * small)), LEAST)};
    xlm_packed *packed = packs ? xlm_packed_new() : NULL;
    time_products(&t, packed, precision);
    hardware->gemm_gflops = t.best;
    xlm_packed_free(packed);
}

double xlm_hardware_rate(const xlm_hardware *hardware, int threads)
{
    xlm_hardware other = *hardware;
    struct timing t = {.n = SIDE, .duration = DURATION, .products = INT64_MAX};
    xlm_hardware_set_threads(&other, threads);
    time_products(&t, NULL, XLM_FLOAT32);
    xlm_hardware_set_threads(&other, hardware->threads);
    return t.mean;
}
