/* xlm-mpi: denormals, threads, cores and BLIS's kernels. SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What the module sets holds for the rest of a process, so each test is one of its own. */
#define _GNU_SOURCE /* sched_setaffinity */
#include <blis.h>
#include <glib.h>
#include <math.h>
#include <omp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gemm/crowding.h"
#include "gemm/hardware.h"
#include "kernels/processor.h"

/* The check's line where it failed, or 0. */
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            return __LINE__;                                                                                           \
    } while (0)

static void in_child(int (*check)(void))
{
    int line[2];
    assert_int_equal(pipe(line), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int failed = check();
        _exit(write(line[1], &failed, sizeof failed) == sizeof failed ? 0 : 1);
    }
    close(line[1]);
    int failed = -1, status = 0;
    const ssize_t got = read(line[0], &failed, sizeof failed);
    close(line[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(got == sizeof failed && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (failed != 0)
        fail_msg("line %d", failed);
}

static bool keeps_denormals(void)
{
    volatile float smallest = 1.17549435e-38f, denormal = 1e-40f;
    return smallest * 0.5f != 0 || denormal * 1e10f != 0;
}

static int denormals(void)
{
    EXPECT(keeps_denormals());
    xlm_hardware h;
    xlm_hardware_open(&h, 3, 1);
    int keep = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(3) reduction(+ : keep)
    keep += keeps_denormals();
#if defined __x86_64__ || defined __aarch64__
    EXPECT(keep == 0);
#else
    EXPECT(keep == 3); /* xlm_processor_flush_denormals has no effect */
#endif
    return 0;
}

static int requested_threads(void)
{
    xlm_hardware h;
    xlm_hardware_open(&h, 3, 1);
    EXPECT(h.threads == 3 && omp_get_max_threads() == 3);
    EXPECT(h.cores >= 1 && h.blis != NULL && h.choice[0] != '\0');
    return 0;
}

static int running_threads(void)
{
    int n = 0;
    GDir *tasks = g_dir_open("/proc/self/task", 0, NULL);
    while (tasks != NULL && g_dir_read_name(tasks) != NULL)
        n++;
    if (tasks != NULL)
        g_dir_close(tasks);
    return n;
}

/* Products that others ask BLIS for, as ScaLAPACK does, have one thread, whatever the environment says. */
static int threads_of_others(void)
{
    enum { N = 600 };
    static double a[N * N], c[N * N];
    double one = 1;
    f77_int n = N;
    setenv("OMP_NUM_THREADS", "3", 1);
    setenv("BLIS_IC_NT", "3", 1);
    xlm_hardware h;
    xlm_hardware_open(&h, 1, 1);
    const int before = running_threads();
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, a, &n, &one, c, &n);
    EXPECT(before > 0 && running_threads() == before);
    return 0;
}

/* OpenMP reads the variable when the process starts, so it cannot be changed here; but omp_get_max_threads returns its
 * value. */
static int threads_of_environment(void)
{
    xlm_hardware h;
    g_setenv("OMP_NUM_THREADS", "5", TRUE);
    omp_set_num_threads(5);
    xlm_hardware_open(&h, 0, 1);
    EXPECT(h.threads == 5);
    return 0;
}

/* This process is bound to one processor; whatever other ranks there are, that is its own. */
static int bound(void)
{
    cpu_set_t all, one;
    EXPECT(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all))
            CPU_SET(cpu, &one);
    EXPECT(sched_setaffinity(0, sizeof one, &one) == 0);
    g_unsetenv("OMP_NUM_THREADS");
    xlm_hardware h;
    xlm_hardware_open(&h, 0, 2);
    EXPECT(h.cores == 1 && h.threads == 1);
    return 0;
}

/* The counts of this program run anew with these settings, "PROCESSORS CORES THREADS"; NULL: it failed. g_free. */
static char *counts_with(char *bind)
{
    char *self = g_file_read_link("/proc/self/exe", NULL), *arguments[] = {self, "counts", NULL}, *text = NULL;
    char **environment = g_environ_setenv(g_get_environ(), "OMP_PROC_BIND", bind, TRUE);
    environment = g_environ_unsetenv(environment, "OMP_NUM_THREADS");
    int status = 0;
    if (!g_spawn_sync(NULL, arguments, environment, G_SPAWN_DEFAULT, NULL, NULL, &text, NULL, &status, NULL) || status != 0)
        g_clear_pointer(&text, g_free);
    g_strfreev(environment);
    g_free(self);
    return text;
}

static int print_counts(void)
{
    xlm_hardware h;
    xlm_hardware_open(&h, 0, 1);
    return printf("%d %d %d\n", xlm_crowding_own_processors(), h.cores, h.threads) > 0 ? 0 : 1;
}

/* OpenMP binds the main thread to one place before the program begins: the process still has all its processors. */
static int bound_by_openmp(void)
{
    char *unbound = counts_with("false"), *bound_threads = counts_with("close");
    EXPECT(unbound != NULL && bound_threads != NULL && strcmp(unbound, bound_threads) == 0);
    g_free(unbound);
    g_free(bound_threads);
    return 0;
}

static int shared(void)
{
    g_unsetenv("OMP_NUM_THREADS");
    xlm_hardware alone, many;
    xlm_hardware_open(&alone, 0, 1);
    EXPECT(alone.threads == alone.cores && alone.cores >= 1);
    /* More ranks than cores on a node: one thread each. */
    xlm_hardware_open(&many, 0, 100000);
    EXPECT(many.threads == 1);
    if (alone.cores % 2 == 0) {
        xlm_hardware_open(&many, 0, 2);
        EXPECT(many.threads == alone.cores / 2);
    }
    return 0;
}

/* More threads of others than processors are noticed. */
static int crowded(void)
{
    enum { MAX_CHILDREN = 256 };
    const int n = (int)sysconf(_SC_NPROCESSORS_ONLN) + 1;
    pid_t child[MAX_CHILDREN];
    xlm_processor_set set;
    xlm_processors_with_parent(&set);
    EXPECT(xlm_crowding_own_processors() >= 1 && xlm_crowding_node_processors(&set) >= xlm_crowding_own_processors());
    for (int i = 0; i < MIN(n, MAX_CHILDREN); i++)
        if ((child[i] = fork()) == 0)
            for (volatile unsigned turns = 0;; turns++)
                ;
    g_usleep(50000);
    const int others = xlm_crowding_others(1, xlm_crowding_node_processors(&set));
    for (int i = 0; i < MIN(n, MAX_CHILDREN); i++) {
        kill(child[i], SIGKILL);
        waitpid(child[i], NULL, 0);
    }
    EXPECT(n > MAX_CHILDREN || others >= 1);
    EXPECT(xlm_crowding_others(1 << 20, xlm_crowding_node_processors(&set)) == 0);
    return 0;
}

static int fewer_threads(void)
{
    xlm_hardware h;
    xlm_hardware_open(&h, 2, 1);
    EXPECT(!h.chosen);
    EXPECT(xlm_hardware_rate(&h, 1) > 0.01 && h.threads == 2 && omp_get_max_threads() == 2);
    xlm_hardware_set_threads(&h, 1);
    EXPECT(h.threads == 1 && omp_get_max_threads() == 1);
    return 0;
}

/* Kernels that every build of BLIS for this processor has. */
#ifdef __aarch64__
static const arch_t any_kernels = BLIS_ARCH_CORTEXA57;
static const char any_name[] = "cortexa57";
#else
static const arch_t any_kernels = BLIS_ARCH_GENERIC;
static const char any_name[] = "generic";
#endif

static int users_kernels(void)
{
    char number[16];
    g_snprintf(number, sizeof number, "%d", (int)any_kernels);
    g_setenv("BLIS_ARCH_TYPE", number, TRUE);
    xlm_hardware h;
    xlm_hardware_open(&h, 1, 1);
    EXPECT(strcmp(h.blis, any_name) == 0 && strstr(h.choice, "BLIS_ARCH_TYPE") != NULL);
    EXPECT(strcmp(g_getenv("BLIS_ARCH_TYPE"), number) == 0);
    return 0;
}

/* skx is asked for by what the processor is alone. */
static int chosen_kernels(void)
{
    xlm_hardware h;
    xlm_hardware_open(&h, 1, 1);
    const bool asked = g_getenv("BLIS_ARCH_TYPE") != NULL;
    EXPECT(asked == xlm_processor_has_whole_avx512());
    EXPECT(!asked || xlm_processor_has_avx512());
    EXPECT(asked == (strstr(h.choice, "asked for skx") != NULL));
    EXPECT(!asked || strcmp(h.blis, "skx") == 0);
    EXPECT(strstr(h.choice, "BLIS_ARCH_TYPE") == NULL);
    const double operations[] = {0, 1e9, HUGE_VAL}; /* of runs without products, of a small one, of any */
    for (size_t i = 0; i < G_N_ELEMENTS(operations); i++) {
        h.gemm_gflops = 0;
        xlm_hardware_measure(&h, false, XLM_FLOAT32, operations[i]);
        EXPECT(h.gemm_gflops > 0.01 && h.gemm_gflops < 1e6);
    }
    return 0;
}

/* Compare with what the operating system shows of the processor, if it does. */
static int whole_avx512(void)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents("/proc/cpuinfo", &text, NULL, NULL) || strstr(text, "cpu family") == NULL)
        return 0;
    const bool amd = strstr(text, "AuthenticAMD") != NULL;
    const int family = atoi(strchr(strstr(text, "cpu family"), ':') + 1);
    EXPECT(xlm_processor_has_whole_avx512() == (xlm_processor_has_avx512() && (!amd || family >= 26)));
    return 0;
}

static void test_denormals(void **state) { (void)state; in_child(denormals); }
static void test_requested_threads(void **state) { (void)state; in_child(requested_threads); }
static void test_threads_of_others(void **state) { (void)state; in_child(threads_of_others); }
static void test_threads_of_environment(void **state) { (void)state; in_child(threads_of_environment); }
static void test_bound(void **state) { (void)state; in_child(bound); }
static void test_bound_by_openmp(void **state) { (void)state; in_child(bound_by_openmp); }
static void test_shared(void **state) { (void)state; in_child(shared); }
static void test_crowded(void **state) { (void)state; in_child(crowded); }
static void test_fewer_threads(void **state) { (void)state; in_child(fewer_threads); }
static void test_users_kernels(void **state) { (void)state; in_child(users_kernels); }
static void test_chosen_kernels(void **state) { (void)state; in_child(chosen_kernels); }
static void test_whole_avx512(void **state) { (void)state; in_child(whole_avx512); }

int main(int argc, char **argv)
{
    g_unsetenv("BLIS_ARCH_TYPE");
    if (argc > 1 && strcmp(argv[1], "counts") == 0)
        return print_counts();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_denormals), cmocka_unit_test(test_requested_threads),
        cmocka_unit_test(test_threads_of_others),
        cmocka_unit_test(test_threads_of_environment), cmocka_unit_test(test_bound),
        cmocka_unit_test(test_bound_by_openmp), cmocka_unit_test(test_shared),
        cmocka_unit_test(test_crowded), cmocka_unit_test(test_fewer_threads), cmocka_unit_test(test_users_kernels),
        cmocka_unit_test(test_chosen_kernels), cmocka_unit_test(test_whole_avx512),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
