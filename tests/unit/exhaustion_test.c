/* xlm-mpi: a program that gets no memory ends with a message, not with a signal. SPDX-License-Identifier: GPL-3.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/exhaustion.h"
#include "base/pages.h"
#include "files_fixture.h"

/* A child without core file that does what ends it; its wait status, and what it prints in text. */
static int status_of(void (*work)(void), char *text, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(const struct rlimit){0});
        dup2(ends[1], STDERR_FILENO);
        xlm_exhaustion_watch("xlm_test");
        work();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n; used < size - 1 && (n = read(ends[0], text + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void ask_for_too_much(void)
{
    void *volatile memory = g_malloc(G_MAXSIZE / 4);
    g_free(memory);
}

static void ask_for_too_many_pages(void) { g_assert_null(xlm_pages_take(G_MAXSIZE / 4, "a test")); }

static void fail_otherwise(void) { g_error("something else"); }

static void check_no_memory(void (*work)(void))
{
    char text[1000];
    const int status = status_of(work, text, sizeof text);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), EX_OSERR);
    /* AddressSanitizer warns before. */
    const char *message = strstr(text, "xlm_test: the system gives no more memory (");
    assert_non_null(message);
    assert_true(message == text || message[-1] == '\n');
    assert_non_null(strstr(text, "ulimit -v"));
    assert_true(g_str_has_suffix(text, "\n"));
}

static void test_no_memory(void **state)
{
    (void)state;
    check_no_memory(ask_for_too_much);
    check_no_memory(ask_for_too_many_pages);
}

/* Errors of a program itself are still GLib's. */
static void test_other_errors(void **state)
{
    (void)state;
    char text[1000];
    const int status = status_of(fail_otherwise, text, sizeof text);
    assert_true(WIFSIGNALED(status));
    assert_non_null(strstr(text, "something else"));
}

/* Write the files of a control group of that name; of version 1 those have other names. */
static void write_files(const char *group, const char *const names[3], const char *const texts[3])
{
    g_autofree char *folder = g_strconcat(directory, group, NULL);
    assert_int_equal(g_mkdir_with_parents(folder, 0700), 0);
    for (size_t i = 0; i < 3; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        assert_true(texts[i] == NULL || g_file_set_contents(path, texts[i], -1, NULL));
    }
}

static void write_group(const char *group, const char *max, const char *current, const char *stat)
{
    write_files(group, (const char *const[]){"memory.max", "memory.current", "memory.stat"},
                (const char *const[]){max, current, stat});
}

static void write_first(const char *group, const char *limit, const char *usage, const char *stat)
{
    write_files(group, (const char *const[]){"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"},
                (const char *const[]){limit, usage, stat});
}

/* The least of all levels; files that the kernel keeps in memory are not used up. */
static void test_group_memory(void **state)
{
    (void)state;
    const char *root = directory;
    write_group("/job/step", NULL, NULL, NULL);
    assert_true(xlm_group_memory_left(root, "/job/step") == UINT64_MAX);
    write_group("/job/step", "max\n", "500\n", "anon 500\n");
    assert_true(xlm_group_memory_left(root, "/job/step") == UINT64_MAX);
    write_group("/job/step", "1000\n", "700\n", NULL);
    assert_int_equal(xlm_group_memory_left(root, "/job/step"), 300);
    write_group("/job/step", "1000\n", "990\n", "anon 90\nfile 840\ninactive_file 500\nactive_file 300\nslab_reclaimable 40\n"
               "workingset_refault_file 5\n");
    assert_int_equal(xlm_group_memory_left(root, "/job/step"), 1000 - 150);
    write_group("/job", "800\n", "750\n", "inactive_file 100\n");
    assert_int_equal(xlm_group_memory_left(root, "/job/step"), 150);
    write_group("/job", "800\n", "801\n", "inactive_file 0\n");
    assert_int_equal(xlm_group_memory_left(root, "/job/step"), 0);
    assert_int_equal(xlm_group_memory_left(root, "/job"), 0);
    assert_true(xlm_group_memory_left(root, "/") == UINT64_MAX);
    write_group("", "100\n", "60\n", "active_file 60\n");
    assert_int_equal(xlm_group_memory_left(root, "/"), 100);
}

/* Version 1 has a hierarchy of its own for memory. */
static void test_first_groups(void **state)
{
    (void)state;
    g_autofree char *root = g_build_filename(directory, "first", NULL);
    static const char groups[] = "12:pids:/elsewhere\n9:cpuset,memory:/slurm/job_1/step_0\n1:name=systemd:/memory\n0::/system\n";
    assert_true(xlm_groups_memory_left(root, groups) == UINT64_MAX);
    write_first("/first/memory/slurm/job_1/step_0", "9223372036854771712\n", "700\n", "inactive_file 1\n");
    assert_true(xlm_groups_memory_left(root, groups) == UINT64_MAX);
    write_first("/first/memory/slurm/job_1", "1000\n", "990\n", "cache 900\ninactive_file 7\nactive_file 7\n"
                "total_inactive_file 500\ntotal_active_file 300\n");
    assert_int_equal(xlm_groups_memory_left(root, groups), 1000 - 190);
    write_first("/first/memory/elsewhere", "10\n", "0\n", NULL);
    assert_int_equal(xlm_groups_memory_left(root, groups), 1000 - 190);
    /* As in a container, whose root is the group that the host calls docker/ID. */
    write_first("/first/memory", "900\n", "200\n", NULL);
    assert_int_equal(xlm_groups_memory_left(root, "9:memory:/docker/0a1b\n"), 700);
    /* Both at once. */
    write_group("/first/system", "600\n", "90\n", NULL);
    assert_int_equal(xlm_groups_memory_left(root, groups), 510);
    assert_true(xlm_groups_memory_left(root, "") == UINT64_MAX);
    assert_true(xlm_groups_memory_left(root, "9:memory\n") == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_memory), cmocka_unit_test(test_other_errors),
                                       cmocka_unit_test(test_group_memory), cmocka_unit_test(test_first_groups)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
